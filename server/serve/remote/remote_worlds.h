// Worlds that run on other machines, as a control plane knows them: what their hosts report once a
// second (POST /api/hosts/report), and orders that wait for them. On the main thread.
//
// An order has a number, is sent until the host reports that number as done, and is gone when the
// world ends there, or another process runs it. A host does what it is told in the order of the
// numbers, so nothing is lost with an answer and nothing is done twice. Bans, mutes, chat rules and
// blocks are looked up for everybody whom a host reports as let in; a host that this process hears
// from for the first time reports all of them. The chat rule of the world is in every answer, and
// the version of the operator's lists (GET /api/hosts/lists): a host fetches them when it changes.
//
// A host may lie about its world. It speaks only of one whose lease it holds, everything it says is
// bounded, and whoever shows it says that it was reported.
#pragma once

#include "server/serve/serve_inside.h"

typedef struct RemoteWorlds RemoteWorlds;

// What a host said last of its world.
typedef struct RemoteReport {
    char host_id[65];
    HostWorldState state;
    uint32_t players;
    uint64_t tick, late_p99_us, work_max_us;
    uint64_t memory_bytes, uptime_s, crashes;
    // Of a peer alone (serve_fleet.h); else 0.
    uint32_t player_max;
    bool is_hidden; // its place is not for everybody to find
    uint64_t bytes_down, bytes_up;
    char place_hash[65]; // of the form of its place that it runs; "": it did not say
} RemoteReport;

MUST_USE Status remote_worlds_create(RemoteWorlds **out);
void remote_worlds_destroy(RemoteWorlds *worlds); // NULL is allowed

// NULL: no host on another machine has reported it lately, or it runs here.
const RemoteReport *remote_world_report(const Serve *serve, const HostWorld *world);
// All that were reported lately.
typedef void (*RemoteEach)(void *user, const char *world_id, const RemoteReport *report);
void remote_worlds_each(const Serve *serve, RemoteEach each, void *user);
// Was it told to stop just now? Its host may go on for so long, to save and to tell everybody.
bool remote_world_stops(const Serve *serve, const char *world_id);
// A host has taken it, with that form of its place; NULL: it is not known. What was reported before
// is over.
void remote_world_taken(Serve *serve, const char *world_id, const StoreHolder *holder,
                        const ServePlace *form);
// The host has given it back.
void remote_world_end(Serve *serve, const char *world_id);
// The world that a host said this account came into last; NULL: none said so.
const char *remote_world_of(const Serve *serve, uint64_t account);

// Those whom hosts said to have let into worlds of that place, at most max; returns how many.
uint32_t remote_accounts_in(const Serve *serve, const char *place_id, uint64_t *out, uint32_t max);

// To the worlds of this process and to those of other machines; `where` is an id or room code, "":
// all of them. How many were told.
typedef struct RemoteTold {
    uint32_t told;
    uint32_t busy; // too many orders wait for these, so they were not told
} RemoteTold;
RemoteTold serve_kick(Serve *serve, uint64_t account, const char *where, const char *reason);
void serve_kick_from_place(Serve *serve, uint64_t account, const char *place_id,
                           const char *reason);
RemoteTold serve_announce(Serve *serve, const char *where, const char *text);
void serve_rules_changed(Serve *serve, uint64_t account, const char *where);
void serve_blocks_changed(Serve *serve, uint64_t account);
// A host is asked for the evidence of a report that was made here.
void remote_world_ask_evidence(Serve *serve, const char *world_id, uint64_t report_id);
// 32 hex digits. False: it is something else.
bool remote_boot_read(const char *text, StoreHolder *holder);
// Somebody got a ticket for that world of another machine.
void remote_world_led(Serve *serve, const char *world_id, uint64_t account);
// Was that so, since this process began? From any thread.
bool remote_world_was_led(const Serve *serve, const char *world_id, uint64_t account);
bool remote_world_was_asked(const Serve *serve, const char *world_id, uint64_t report_id);
// remote_reload.c: the world shall run this place, which is the newest form of its own. If only
// scripts differ it goes on with them; else it starts again, at once or when nobody is in it
// (place_reload_starts_again). True: its answers come by serve_reloaded or place_reload_restarted
// with this tag, and one that never comes is given here after a while. False: there is nothing to
// wait for.
bool remote_world_reload(Serve *serve, const HostWorld *world, const ServePlace *place,
                         uint64_t tag);
void remote_reloads_step(Serve *serve);
// HostOutside.
bool remote_world_is_outdated(void *user, const HostWorld *world);
// What the scripts of a world on another machine cost; asking makes its host say it. NULL: it has
// not been heard lately. *version rises with each.
const struct ScriptTable *remote_world_scripts(Serve *serve, const char *world_id,
                                               uint64_t *version);
bool remote_world_is_elsewhere(const Serve *serve, const char *world_id);
// STATUS_NOT_FOUND: it runs on no other machine. STATUS_LIMIT: too many orders wait for it.
MUST_USE Status remote_world_stop(Serve *serve, const HostWorld *world, const char *reason);
