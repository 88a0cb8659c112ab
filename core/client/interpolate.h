// Where others are shown: a moment in the past, so that what comes next is usually known already.
// Each entity has a short line of its last states; between two of them the curve of the older one
// bends into the newer (a body that accelerates leaves its curve with the square of the time).
#pragma once

#include "core/wire/merge.h"

#define INTERPOLATE_STATES 32 // a second and a half for one that changes in every frame

typedef struct InterpolateLine {
    NetState states[INTERPOLATE_STATES];     // oldest first
    uint64_t true_tick[INTERPOLATE_STATES];  // ascending: the state is valid from this tick on
    uint64_t known_tick[INTERPOLATE_STATES]; // until this tick the state before was still valid
    uint32_t count;
} InterpolateLine;

typedef struct InterpolatePose {
    Vec3 position, velocity;
    float yaw, pitch;
    uint8_t flags, npc_state;
    uint16_t health;
} InterpolatePose;

// frame_tick is that of its frame; frame_before that of the frame before: until then the older
// state was valid.
void interpolate_push(InterpolateLine *line, const NetState *state, uint64_t frame_tick,
                      uint64_t frame_before);
// interp_target of the UGC document: the pose at a tick, which may have a fraction. Until
// `frame_tick` the newest state is valid; after it the curve is continued for at most a quarter of
// a second.
InterpolatePose interpolate_at(const InterpolateLine *line, double tick, uint64_t frame_tick,
                               uint32_t tick_rate);
