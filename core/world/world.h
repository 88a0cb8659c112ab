// A world: the authority over one running instance of a place. A state machine without I/O: entries
// go in (entry.h), messages for connections and commands for the owner come out. It takes all its
// memory at create; every queue has a cap; nothing a client sends can do more than end that
// client's own session.
//
// A tick (ENTRY_TICK), in this order:
//   inbox     every session's messages of the last tick, in session order
//   inputs    each player's input of this tick is taken from its buffer
//   scripts   script_tick
//   sim       sim_step
//   events    what happened goes to scripts and to clients' event queues
//   frames    every snapshot_ticks: capture, and a frame for each session that is not behind
//   saves     checkpoints and whatever became durable-worthy, as commands
//
// A session:  CONNECTED ──handshake──▶ (waits for ENTRY_AUTH) ──▶ AUTHENTICATED ──body──▶ PLAYING
//                 │ 10 s, or anything else                              │ cut           │ cut
//                 ▼                                                     ▼               ▼
//                GONE ◀───────── 60 s without a resume, or leave ──── GONE           DROPPED
#pragma once

#include "core/base/hash.h"
#include "core/base/heap.h"
#include "core/base/log.h"
#include "core/place/place.h"
#include "core/script/runtime/script.h"
#include "core/world/entry/entry.h"
#include "core/world/replicate/replicate.h"
#include "core/world/save/save.h"
#include "core/world/script/client_cost.h"
#include "core/world/script/client_verdict.h"
#include "core/world/session/world_state.h"

typedef struct World World;

typedef struct WorldConfig {
    const Place *place;      // the whole form; kept
    const uint8_t *stripped; // the stripped form that clients fetch; kept
    size_t stripped_bytes;
    char world_id[65];
    char room_code[17];
    uint64_t epoch;      // of the lease: every save carries it
    uint8_t secret[32];  // for resume tokens; the owner's randomness
    uint64_t seed;       // of the sim
    bool development;    // no secret is configured: the playerId of a handshake is trusted
    uint32_t player_max; // sessions, and bodies kept after a drop
    uint32_t entity_max;
    uint32_t visible_max; // per client
    uint32_t json_session_max;
    uint32_t snapshot_budget_bytes;
    uint32_t body_kept_ms;  // after a drop: 60 s
    uint32_t resume_ms;     // a token is good for: 10 min
    uint32_t checkpoint_ms; // 500
    bool scripts;           // false: no script system at all (benchmarks, plain rooms)
    ScriptConfig script;    // world and tick rate in it are not used
    LogSink *log;           // kept; may be NULL
} WorldConfig;

WorldConfig world_config_default(void);
MUST_USE Status world_create(Heap *heap, const WorldConfig *config, World **out);
void world_destroy(Heap *heap, World *world);

// ENTRY_ADMIN, by name: "kick" (player id), "say" (text), "stop" (reason: says goodbye, saves,
// COMMAND_STOP), "move" (the same, and everybody shall join again at once), "shut" (the same, and
// nobody shall join again by itself), "save", "leave" (account: who has joined another world of the
// place; COMMAND_LEFT), "remove" (account, space, reason: ends the session, and no token resumes
// it), "mute" (account, space, unix ms until when, space, reason; 0: they may chat again),
// "profiles" (ROW_PROFILES: somebody's characters were changed outside), "chat" (account, space,
// ChatRule; account 0: everybody here), "phrases" and "words" (lines: what may be said by rule, and
// what may not be said at all), "blocks" (account and those whose chat they do not see, separated
// by spaces). The connection of "mute", "chat" and "blocks" may name a session before its
// ENTRY_AUTH, so that nothing is said in between.
//
// The only door. STATUS_NOT_FOUND for a connection that is not (or no longer) there, STATUS_LIMIT
// when there is no room, STATUS_MALFORMED and the like for what makes no sense: the entry then has
// had no effect, or that of ending its session.
MUST_USE Status world_enter(World *world, const Entry *entry);

// Nobody has been here for WORLD_EMPTY_MS, and the last state is in commands: the owner enters no
// more ticks until this is false again, so time stands still for everything but the wall clock.
// Every other entry is allowed meanwhile. A CONNECT ends the pause, and so do a RELOAD and an
// ADMIN, which the world then has WORLD_EMPTY_MS to act on; a STORED is kept for the next tick. It
// depends on entries alone, so a replay, which has no ticks either, comes to the same state.
bool world_is_paused(const World *world);
bool world_is_ending(const World *world); // it was told to stop, or wants to

// --- what comes out: messages -------------------------------------------------------------------
// The oldest message for a connection that was not taken yet; valid until the next entry. False
// when there is none. Binary messages, or JSON text for a JSON connection. Taking is no entry and
// decides nothing: a connection whose output overflows comes out of world_closing, and its session
// goes on until the owner enters its DISCONNECT.
bool world_output(const World *world, uint64_t connection, const uint8_t **bytes, size_t *count);
void world_output_take(World *world, uint64_t connection);
// Connections that the world is done with, once their output has been taken; the owner closes them
// and enters their DISCONNECT. Each is given once. 0: no more.
uint64_t world_closing(World *world);

// --- what comes out: commands (save/command.h) ---------------------------------------------------
// Since the last clear, oldest first. Not clearing them is the owner's way to say that it is
// behind: when the queue is full, saves wait and are merged, and DataStore requests fail.
const Command *world_commands(const World *world, uint32_t *count);
void world_commands_clear(World *world);

// --- looking ------------------------------------------------------------------------------------
WorldStats world_stats(const World *world);

// What did not fit or made no sense, since the world began.
typedef struct WorldCounters {
    SimCounters sim;
    AuthorityCounters authority;
    SaveCounters saves;
} WorldCounters;
WorldCounters world_counters(const World *world);

Sim *world_sim(World *world);                           // to look; entries alone change a world
Paint world_paint(const World *world, uint64_t net_id); // how something looks now
const Replicator *world_replicator(const World *world);
ScriptSystem *world_scripts(World *world); // NULL without scripts
// The net id of an entity by its id in scene.json, also if a creator added it while it runs. It may
// be gone; 0: there never was one.
uint64_t world_scene_entity(World *world, uint32_t scene_id);
const ClientCosts *world_client_costs(const World *world);
uint32_t world_client_verdicts(const World *world, ClientVerdicts *out, uint32_t most);
// The player of a connection: its number and its body. False if it has none.
bool world_player(const World *world, uint64_t connection, uint64_t *player, uint64_t *entity);
// Its session number at the replicator.
bool world_session(const World *world, uint64_t connection, uint32_t *session);
// Everything that determines the future, except the memory of scripts.
uint64_t world_hash(const World *world);
