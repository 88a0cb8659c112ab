// The inputs of one player that came before their tick: each is taken exactly once, by the step
// that leads to its tick.
#pragma once

#include "core/base/limits.h"
#include "core/wire/input_frame.h"
#include "core/world/session/world_state.h"

#define INPUT_BUFFER INPUT_FRAMES_AHEAD // ticks
typedef struct InputBuffer {
    WireInputFrame frames[INPUT_BUFFER]; // by tick % INPUT_BUFFER
    bool present[INPUT_BUFFER];
    WireInputFrame last; // repeated when one is missing, without fire
    bool started;        // there was one
    uint32_t repeated;   // ticks in a row; after half a second the player stands still
    uint32_t ack_seq;    // localAckSeq
    uint32_t waiting;    // buffered for coming ticks
    uint64_t early_tick; // when one last came that was too early to keep; 0: never
    uint64_t view_tick;
} InputBuffer;

typedef enum InputTaken { INPUT_TAKEN, INPUT_REPEATED, INPUT_NONE } InputTaken;
void input_reset(InputBuffer *buffer);
// Stores an input of a batch; `now` is the last tick stepped. Late, early and repeated ones are
// counted.
void input_put(WorldStats *stats, InputBuffer *buffer, const WireInputFrame *frame, uint64_t now);
// The number of waiting inputs, for the client's clock. A client that is too far ahead gets the
// full size, not zero.
uint32_t input_waiting(const InputBuffer *buffer, uint64_t now, uint32_t snapshot_ticks);
// The input for the step to `tick`; after `patience` ticks without one the player stands still.
InputTaken input_take(InputBuffer *buffer, uint64_t tick, uint32_t patience, WireInputFrame *out);
