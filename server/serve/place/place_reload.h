// What brings a place that was built anew to the worlds that run with an older form of it: `sandlot
// dev` after a file was saved, a draft that somebody tries out, and a channel that names another
// revision.
//
//   only scripts and parameters differ   running worlds go on with the new scripts (host_reload.h)
//   anything else                        named, private and test worlds start again, with all that
//                                        is stored of them; players are told and come back.
//                                        Others end once they are empty, and joins get new ones
//
// A set of scripts that fails on the server is replaced by the one before; why is shown to those
// who work on the place.
#pragma once

#include "server/build/job/job.h"
#include "server/serve/place/places.h"

// From any thread: the queue built a folder (JobBuilt). What it is for is found by the folder.
JobReload place_reload_built(void *user, const char *folder, const JobStatus *status,
                             BuildResult *result);
// From any thread that may wait: a file of a draft was written. If somebody tries the draft out, it
// is built by this job; "": nobody does, or too many builds wait.
void place_reload_draft(Serve *serve, const char *package_id, uint64_t account,
                        char job_id[JOB_ID_BYTES]);
// Takes what was built; on the main thread, in every look.
void place_reload_step(Serve *serve);
void place_reload_end(Serve *serve); // of places_destroy

// On the main thread, after the Host has it. `job_id`: whose status says what becomes of it, or "".
// since_ns: when somebody changed it. Gives the tag that place_reload_result takes.
uint64_t place_reload_begin(Serve *serve, HostPlace *place, const char *job_id, uint64_t since_ns);
// The same for the new form of a place that is open: the registry and the Host get it first. Takes
// over the reference. 0: it was closed meanwhile.
uint64_t place_reload_take(Serve *serve, ServePlace *fresh, const char *job_id, uint64_t since_ns);
// It could not be opened: its job says why, and nothing of the worlds has changed.
void place_reload_broken(Serve *serve, const char *job_id, const char *reason);
// A world on another machine that was told of it has begun again with it.
void place_reload_restarted(Serve *serve, uint64_t tag, const char *world_id);
// A world that somebody comes back to by its name, or that its creators try something in: it starts
// again at once when more than scripts has changed.
bool place_reload_starts_again(const Serve *serve, const StoreWorld *row);
// What has become of it until now; false: it is forgotten.
bool place_reload_result(const Serve *serve, uint64_t tag, JobReload *out);

// HostOutside.
void serve_reloaded(void *user, uint64_t tag, const HostWorld *world, HostReloadResult result,
                    uint32_t version, const char *reason);

// The last one of each channel of a place, for those who work on it: a member `reloads`. Gives a
// number that changes with them.
uint64_t place_reload_write(Serve *serve, const char *package_id, JsonWriter *json);
