// Where every character was in the last ticks, so that a shot can be tested against what its
// shooter saw. One line per character: a ring of the last HISTORY_TICKS feet positions. It contains
// only positions that a character really had at a whole tick. A teleport breaks the line between
// two entries: there is no position in between. Before its first entry a character has no past, and
// a query returns the first entry.
// A sim without authority keeps no history; then everything is tested at its current position.
#pragma once

#include "core/base/arena.h"
#include "core/base/limits.h"
#include "core/sim/sim.h"
#include "core/sim/state.h"

typedef struct History History;

// A character that moves faster than this in a tick is put into the list of history_far, so that it
// does not widen the broad phase for all others.
#define HISTORY_FAR_SPEED 16.0f

size_t history_bytes(uint32_t character_max);
MUST_USE Status history_init(Arena *arena, uint32_t character_max, History **out);
void history_clear(History *history);

// A line without entries: the lowest free slot, from 1; 0 when all are taken.
uint32_t history_acquire(History *history);
void history_release(History *history, uint32_t slot); // harmless when it is free
// A teleport: the next entry is not connected with the last one.
void history_break(History *history, uint32_t slot);

// Phase 9: adds an entry for every character. history_record does the same, once per tick whichever
// is called first: projectiles need the entry of this tick, and nothing moves characters after
// them.
void history_step(Sim *sim);
void history_record(Sim *sim);

// Where it was at a tick: the oldest entry for a tick before it, the newest for one after. False if
// the line has no entry.
bool history_position(const History *history, uint32_t slot, uint64_t tick, Vec3 *out);
// Between the entries of tick and tick + 1, fraction 0..1; across a break it is the one of tick.
bool history_position_between(const History *history, uint32_t slot, uint64_t tick, float fraction,
                              Vec3 *out);

// The broad phase of rewound tests, true after history_record. A character is no further from where
// it was rewind_ticks ago than history_reach, or its entity slot is in the list of history_far.
float history_reach(const History *history, uint32_t rewind_ticks);
const uint32_t *history_far(const History *history, uint32_t *count);

void history_visit(History *history, StateIo *io);
// To check a state that was read: whether this line is used by this entity slot; how many are in
// use.
bool history_belongs(const History *history, uint32_t slot, uint32_t entity_slot);
uint32_t history_used_count(const History *history);
