// Random states, shapes and attribute attributes inside their ranges, for the tests of snapshots.
// Small numbers and the ends of the ranges are more frequent, because encodings change their width
// there.
#pragma once

#include "core/base/rng.h"
#include "core/wire/delta.h"

// An integer in [low, high], often near zero or at an end.
int32_t net_random_integer(Rng *rng, int32_t low, int32_t high);
NetMotion net_random_motion(Rng *rng, uint64_t frame_tick);
// The next version of a state (or, from all zero, the first), at a frame's tick.
NetState net_random_state(Rng *rng, NetKind kind, const NetState *before, uint64_t frame_tick);
NetShape net_random_shape(Rng *rng);
// Random attributes as bytes; returns how many.
size_t net_random_attributes(Rng *rng, uint8_t *out, size_t capacity);
bool net_shape_same(const NetShape *a, const NetShape *b);
