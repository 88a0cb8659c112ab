// The inside of a World, for the files at the top of core/world alone. They join the rooms: a room
// knows nothing of World, and of other rooms only those below it.
//
//   world.c     create, the door, the tick         dispatch.c     messages to their handlers
//   join.c      handshake, resume, welcome         step.c         inputs, sim, events
//   fold.c      a new scene after many changes     edit.c         changes by a creator
//                                                  edit_made.c    what a creator adds
//                                                  edit_spawn.c   where players start
//   life.c      bodies that stay, go, go on        place_spawn.c  what the place spawns
//
//   entry, replicate ◀── session ◀── save ◀─┬─ script ◀─┬─ the files here ◀── local
//                                           └─ act ◀────┘
#pragma once

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/id_map.h"
#include "core/base/limits.h"
#include "core/world/act/act.h"
#include "core/world/place_spawn.h"
#include "core/world/script/script_host.h"
#include "core/world/world.h"

// Something that a creator added while the world runs.
typedef struct EditMade {
    uint32_t scene_id;
    uint64_t net_id;
} EditMade;
#define EDIT_MADE_MAX 64 // each needs a slot of every client that sees it

struct World {
    WorldConfig config;
    Heap *heap;
    Sim *sim;
    Authority *authority;
    Replicator *replicator;
    Geometry *geometry;
    SpawnedPlace *spawned;
    Sessions *sessions;
    Saves *saves;
    ScriptHost *script_host;
    Acts *acts;
    WorldClock clock;
    WorldRun run;
    WorldStats stats;
    LogSink no_log;       // if the owner gives no log
    Arena scratch;        // of one message
    uint32_t player_max;  // bodies; there are more sessions, for those who come in
    uint64_t token_count; // resume tokens given
    uint32_t events_seen; // of the sim's, in this tick
    HostScene scene;      // that clients who come in are named
    struct Fold *fold;    // fold.c
    EditMade made[EDIT_MADE_MAX];
    uint32_t made_count;
    IdMap scene_index;          // from the id in scene.json to the net id
    uint8_t *scene_index_block; // NULL: nothing was edited yet
    PlaceSpawn *spawns;         // edit_spawn.c; NULL: those of the place
    uint32_t spawn_count;
};

// --- fold.c -------------------------------------------------------------------------------------
MUST_USE Status fold_create(World *world); // after the scripts
void fold_destroy(World *world);
void fold_snapshot(World *world); // after a capture: a new scene if very much has changed

// --- edit.c -------------------------------------------------------------------------------------
// ENTRY_EDIT. STATUS_NOT_FOUND: what is not of the scene, or was removed; nothing changed.
// STATUS_LIMIT: there is no room for one more thing that differs. STATUS_UNSUPPORTED: a world that
// is made anew could differ from this one if it were done. STATUS_EXISTS: it is there already.
MUST_USE Status edit_enter(World *world, const Entry *entry);

// --- join.c -------------------------------------------------------------------------------------
void join_handshake(World *world, Session *session, uint32_t seq, const MessageHandshake *command);
MUST_USE Status join_auth(World *world, const Entry *entry);
void join_tick(World *world, Session *session); // waits for a body, or for the list of players
// Stores the row of its resume token.
void join_keep_token(World *world, Session *session);

// --- life.c -------------------------------------------------------------------------------------
MUST_USE Status life_disconnect(World *world, uint64_t connection);
void life_leave(World *world, Session *session); // its player goes at once
void life_kicks(World *world);                   // those whom scripts want to go
void life_tick(World *world);                    // timeouts, bodies whose time is over, respawns
// Another session takes over the body: a resume, or a second connection of an account.
void life_take_over(World *world, Session *from, Session *to);
// SessionsConfig.client_gone; user is the World.
void life_client_gone(void *user, Session *session);

// --- dispatch.c ---------------------------------------------------------------------------------
void dispatch_tick(World *world); // every message of the last tick

// --- step.c -------------------------------------------------------------------------------------
void step_inputs(World *world);
void step_sim(World *world); // the step, with the comparisons before and after it
