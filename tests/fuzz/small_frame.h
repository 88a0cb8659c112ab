// Frames with one entity of every kind, from which fuzz_snapshot and its seeds begin.
#pragma once

#include "core/wire/snapshot.h"

// A first frame; gives its length.
size_t small_frame_first(uint8_t *out, size_t capacity);
// The frame after it: a leave, an enter, updates, an own state, events.
size_t small_frame_second(uint8_t *out, size_t capacity);
// A shape with motion, and attributes with a value of every type.
size_t small_frame_shape(uint8_t *out, size_t capacity);
size_t small_frame_attributes(uint8_t *out, size_t capacity);
