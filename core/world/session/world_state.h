// State that all rooms of a world may read: its clock, the numbers of this run, and the counters
// for operators. The top of core/world owns it; a room gets pointers at create.
#pragma once

#include "core/world/replicate/replicate.h"

#include <stdbool.h>
#include <stdint.h>

// Changed by the tick only (world.c, step.c).
typedef struct WorldClock {
    uint64_t tick;           // of the sim
    uint64_t unix_ms;        // of the last ENTRY_TICK
    uint32_t tick_rate;      // ticks in a second
    uint32_t snapshot_ticks; // between two snapshots
} WorldClock;

// Milliseconds as ticks, rounded up.
static inline uint32_t world_ticks(const WorldClock *clock, uint64_t ms)
{
    const uint64_t ticks = (ms * clock->tick_rate + 999) / 1000;
    return ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

// Numbers are never given twice: a stored world goes on where the last run stopped (save_start.c).
#define LEAVING_MAX 256

typedef struct WorldRun {
    bool started;       // the first tick came
    bool stopping;      // nobody is let in any more, and nothing is saved any more
    uint64_t busy_tick; // the last tick with a session, or in which an operator or a reload came
    uint64_t next_player;
    uint32_t manifest_version;
    uint32_t effect_maker; // the script whose effect is passed on now; 0: none
    struct {
        uint64_t account, tick; // who was told to leave, and when
    } leaving[LEAVING_MAX];
    uint32_t leaving_count;
    bool ending; // told to stop: COMMAND_STOP follows once scripts have seen everybody leave
    uint64_t end_tick;
    char end_reason[128];
} WorldRun;

typedef struct WorldStats {
    uint64_t tick;
    uint32_t sessions, players, json_sessions;
    uint64_t messages, messages_refused, messages_malformed, inputs, inputs_late, inputs_early,
        inputs_duplicate, inputs_repeated, corrections, corrections_without_cause, snapshots,
        snapshots_skipped, scenes_folded, sessions_behind, rate_limited, resumes, saves, bytes_down,
        bytes_up, journal_dropped, commands_denied, bodies_gave_way;
    ReplicatorStats replication;
} WorldStats;
