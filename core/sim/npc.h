// NPC minds: what they perceive, how suspicious they are, where they go. An NPC is a character that
// gives itself inputs, so it moves by the same rules as a player.
//
//            suspicion rises               suspicion is full
//     IDLE ──────────────────▶ SUSPICIOUS ──────────────────▶ ALERT ◀──┐
//      ▲  ◀── it has decayed ──┘                                │      │ sees somebody again
//      │                                 has not seen its target│      │
//      └─────── nothing found ──────── SEARCHING ◀──────────────┴──────┘
//
// Idle, it walks its patrol or stands at its post. Suspicious, it stops and turns to what it
// noticed. Alert, it chases. Searching, it goes to where it last saw its target and looks around;
// then it goes back. Each change of state is a SIM_EVENT_NPC_STATE.
//
// A mind perceives and decides every few ticks, staggered by its slot so that every tick has the
// same work; it steers in every tick. Ways are searched one at a time with a budget of nodes per
// tick for all; the minds that wait for one stand in a queue, and who has been served goes to its
// end.
#pragma once

#include "core/base/arena.h"
#include "core/base/limits.h"
#include "core/sim/path.h"
#include "core/sim/sim.h"
#include "core/sim/state.h"

#define NPC_SIGHT_MAX_M  200.0f
#define NPC_INTERVAL_MAX 250    // ticks between two perceptions
#define NPC_TIME_MAX_MS  600000 // of any pause or patience
#define NPC_LOOKS_MAX    8      // lines of sight tested in one perception, nearest players first
#define NPC_EYE_FRACTION 0.9f   // of a character's height, for NPCs and players
#define NPC_FAILURES_MAX 4 // after failures in a row it waits 1, 2, 4, 8, 8, … s to ask again

typedef enum NpcState {
    NPC_IDLE,
    NPC_SUSPICIOUS,
    NPC_ALERT,
    NPC_SEARCHING,
    NPC_STATE_COUNT
} NpcState;

// How an NPC sees and behaves. Suspicion is a number from 0 to 1.
typedef struct NpcTuning {
    float sight_m;           // how far it sees
    float sight_cos;         // cosine of half its field of view; -1 sees all around
    float feel_m;            // notices anybody this near, all around, if nothing is between
    float rise;              // of suspicion per second at full visibility: near, and straight ahead
    float decay;             // per second while it sees nobody
    float suspicious_at;     // idle → suspicious; searching → alert
    float alert_at;          // suspicious → alert
    float calm_at;           // suspicious → idle, below suspicious_at
    float stop_m;            // keeps this distance from its target
    float turn_speed;        // rad/s
    uint32_t interval_ticks; // between perceptions; 0: six times a second
    uint32_t lose_ms;        // alert → searching after not seeing its target for this long
    uint32_t search_ms;      // looks around for this long
    uint32_t travel_ms;      // gives up walking to the last known place after this long
    uint32_t pause_ms;       // at each patrol point
} NpcTuning;

NpcTuning npc_tuning_default(void);

typedef struct NpcDesc {
    uint64_t net_id;
    uint64_t owner_id;
    Vec3 position;
    float yaw;
    NpcTuning tuning;
    Vec3 patrol[NPC_PATROL_MAX]; // walked in a loop; none: stands at its post
    uint32_t patrol_count;
} NpcDesc;

// Default tuning, no patrol, at the origin.
NpcDesc npc_desc_default(void);

typedef enum NpcTravel {
    NPC_STANDS,
    NPC_GOES, // to its goal: along its path, or waiting for one
    NPC_ARRIVED,
    NPC_STRANDED, // at the nearest place it could get to; asks again after a while
    NPC_TRAVEL_COUNT
} NpcTravel;

typedef struct Npc {
    uint32_t entity_slot;
    NpcTuning tuning;

    NpcState state;
    uint64_t state_tick; // when it began
    float suspicion;
    Handle target;          // who it chases, or noticed last
    uint64_t target_net_id; // 0: nobody
    Vec3 known;             // where it last saw, or was told of, its target
    uint64_t seen_tick;     // when
    bool sees;              // its target, at the last perception
    bool ordered;           // onto its target by a script: knows where it is without seeing it
    bool looks;             // searching: has stopped walking and looks around
    uint64_t looks_tick;    // since when
    float looks_yaw;        // from where

    Vec3 post; // where it stands when it has no patrol
    float post_yaw;
    Vec3 patrol[NPC_PATROL_MAX];
    uint32_t patrol_count;
    uint32_t patrol_at;
    uint64_t pause_until_tick; // 0: not pausing

    NpcTravel travel;
    bool runs;
    Vec3 goal;
    Path path;
    uint32_t path_at;     // the next point
    Vec3 path_goal;       // what the goal was when the path was asked for
    bool queued;          // waits for a search, or is being searched for
    uint32_t failures;    // in a row
    uint64_t ask_tick;    // may ask for a path from this tick on
    uint64_t trust_tick;  // believes in straight lines from this tick on
    float face_yaw;       // where it looks while it stands
    float progress_m;     // the nearest it came to the next point
    uint32_t stuck_ticks; // since it came nearer
} Npc;

MUST_USE Status npc_spawn(Sim *sim, const NpcDesc *desc, Handle *out);

const Npc *npc_at(const Sim *sim, Handle npc); // NULL when stale or no NPC with a mind

// For scripts; STATUS_NOT_FOUND if the handle is not an NPC with a mind, STATUS_RANGE for invalid
// numbers.
MUST_USE Status npc_set_patrol(Sim *sim, Handle npc, const Vec3 *points, uint32_t count);
// Goes there and makes it its post; ends its patrol. It still notices players on the way.
MUST_USE Status npc_move_to(Sim *sim, Handle npc, Vec3 position);
// Becomes alert and follows that character until it is dead or gone; HANDLE_NONE: drops its target.
MUST_USE Status npc_set_target(Sim *sim, Handle npc, Handle target);
// Idle, without suspicion, and stays where it is: its post is here, its patrol is over.
MUST_USE Status npc_stop(Sim *sim, Handle npc);

// What the minds cost; not part of the state.
typedef struct NpcStats {
    uint32_t queue_count;    // minds that wait for a way, now
    uint32_t nodes_last;     // path nodes of the last step
    uint64_t nodes_total;    // since create
    uint64_t searches_ended; // found or given up
    uint64_t sight_rays;
} NpcStats;
NpcStats npc_stats(const Sim *sim);

// --- for sim.c ----------------------------------------------------------------------------------
// npc_max 0 allocates nothing and leaves *out NULL: every function here handles that.
typedef struct Npcs Npcs;
size_t npc_bytes(const SimConfig *config);
MUST_USE Status npc_init(Arena *arena, const SimConfig *config, Npcs **out);
void npc_clear(Npcs *npcs);
// Phase 3 of the step.
void npc_step(Sim *sim);
// The entity goes: called with its character's npc_slot; 0 is harmless.
void npc_forget(Sim *sim, uint32_t npc_slot);
// After the entities: reading checks that minds and NPC entities belong together.
void npc_visit(Sim *sim, StateIo *io);
