// The room core/script/trial: scripts without a server, for `sandlot script run`, for the dry run
// of a build and for tests. loopback joins both sides in one process, memory_store keeps stored
// data, sample_world is a small world. It always holds that scripts find the same here as in a real
// world: the same API, the same limits, the same answers.
//
// One server's scripts and the scripts of some clients joined inside one process: what a network
// and a database would do, so that scripts and tests have the whole of Network and DataStore, and a
// server can take its place behind the same two queues (authority_effects, view_effects).
//
// It trusts clients no more than a server does: messages of a client are limited to 100 per second
// (a second's worth may come at once) and to VALUE_BYTES_MAX, must be well-formed values, and a
// call that gets no answer within ten seconds fails. Unreliable messages may be dropped by a chance
// from a seed. Whatever is refused is counted.
//
// Its place in a tick: after sim_step, before the next script_tick. Then clients know of players,
// names, attributes (never private ones) and tags what the server's scripts made of them, and each
// side's scripts get what the other side sent in this tick.
#pragma once

#include "core/script/bridge/authority.h"
#include "core/script/bridge/view.h"
#include "core/script/trial/memory_store.h"

#define LOOPBACK_MESSAGES_PER_SECOND 100
#define LOOPBACK_INVOKES_MAX         64 // unanswered, of one client
#define LOOPBACK_INVOKE_SECONDS      10

// Takes the events and answers of one side's scripts; loopback_port makes that of a ScriptSystem.
typedef struct ScriptPort {
    void *user;
    Status (*event)(void *user, const ScriptEvent *event);
    Status (*complete)(void *user, uint64_t request_id, bool ok, const uint8_t *bytes,
                       size_t count);
} ScriptPort;
ScriptPort loopback_port(ScriptSystem *system);

typedef struct Loopback Loopback;

typedef struct LoopbackConfig {
    Authority *authority; // kept
    ScriptPort server;
    uint32_t client_max;
    uint64_t seed;
    float drop_chance;    // of an unreliable message, 0..1
    uint32_t store_ticks; // until a store answers; at least 1
    uint32_t store_answer_max;
    size_t store_answer_bytes_max; // of all answers on their way
    MemoryStoreConfig store;
    // A sound that a client hears; may be NULL.
    void (*sound)(void *user, uint64_t player_id, const Effect *sound);
    void *sound_user;
} LoopbackConfig;

LoopbackConfig loopback_config_default(void);
MUST_USE Status loopback_create(Heap *heap, const LoopbackConfig *config, Loopback **out);
void loopback_destroy(Heap *heap, Loopback *loopback);

// A client and its scripts; the view is kept. The player itself joins and leaves the authority by
// authority_player_…. STATUS_EXISTS, STATUS_LIMIT.
MUST_USE Status loopback_join(Loopback *loopback, uint64_t player_id, View *view, ScriptPort port);
void loopback_leave(Loopback *loopback, uint64_t player_id);

void loopback_step(Loopback *loopback, double unix_seconds);

typedef struct LoopbackCounters {
    uint64_t messages_carried;
    uint64_t messages_over_rate;
    uint64_t messages_malformed; // bytes that are not values
    uint64_t messages_unsent;    // for a player who is not here
    uint64_t messages_lost;      // unreliable ones, by chance
    uint64_t events_refused;     // a script system had no room
    uint64_t invokes_refused;    // too many unanswered
    uint64_t invokes_unanswered;
    uint64_t answers_unasked;
    uint64_t store_requests;
    uint64_t store_refused; // too many answers under way
} LoopbackCounters;
LoopbackCounters loopback_counters(const Loopback *loopback);
