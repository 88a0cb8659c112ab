// `sandlot dev`: one folder on a loopback address, watched. What is saved there is built off the
// main thread and brought to the world that runs (place_reload.h); what happens is printed as it
// comes: errors with file and line, reloads, roll-backs, faults of server scripts, costs.
//
// All of these do nothing in the other commands.
#pragma once

#include "server/serve/place/places_inside.h"

MUST_USE Status dev_open(Serve *serve); // once HTTP runs
void dev_close(Serve *serve);           // before the queue of builds ends
// Waits until the folder changes, because it cannot be built as it is. False: cancelled.
bool dev_wait(const Serve *serve);
// From any thread: this process itself has changed a file of the folder, which it does not watch
// for.
void dev_changed(Serve *serve);
// On the build thread: files have changed while this was built, so it may be half of a save. It is
// built again at once, and this one counts for nothing.
bool dev_is_stale(const JobStatus *status);
// On the build thread: it was built, or why not.
void dev_built(Serve *serve, const JobStatus *status, const BuildResult *result);
// On the main thread: what became of a change.
void dev_reloaded(Serve *serve, const PlaceReload *reload);
void dev_step(Serve *serve); // costs
