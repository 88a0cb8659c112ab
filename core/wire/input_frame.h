// One tick of a player's intent, between the numbers on the wire and those of the sim. Client and
// server both step from what this gives, so a prediction never knows more than was sent.
#pragma once

#include "core/sim/sim.h"
#include "core/wire/message.h"

// Ticks ahead of the last step for which a world keeps inputs. One that comes earlier still is
// dropped; snapshots then say that this many wait, so that the client knows to hold back.
#define INPUT_FRAMES_AHEAD 64

static inline SimInput input_frame_sim(const WireInputFrame *frame)
{
    const uint16_t turn = (uint16_t)frame->yaw;
    const int32_t yaw = turn < 32768 ? (int32_t)turn : (int32_t)turn - 65536;
    return (SimInput){.seq = (uint32_t)frame->seq,
                      .move_x = (float)frame->move_x / 127.0f,
                      .move_z = (float)frame->move_z / 127.0f,
                      .yaw = (float)yaw * (MATH_PI / 32768.0f),
                      .pitch = (float)frame->pitch * (MATH_PI / 32768.0f),
                      .buttons = (uint32_t)frame->buttons};
}

static inline int32_t input_frame_round(float value, float scale, int32_t limit)
{
    const float scaled = math_is_finite(value) ? value * scale : 0;
    const int32_t rounded = math_floor_i32(math_clamp(scaled, -(float)limit, (float)limit) + 0.5f);
    return rounded < -limit ? -limit : rounded > limit ? limit : rounded;
}

// seq and tick are left to the caller.
static inline WireInputFrame input_frame_quantise(const SimInput *input)
{
    const float yaw = math_wrap_angle(input->yaw);
    return (WireInputFrame){
        .seq = input->seq,
        .move_x = input_frame_round(input->move_x, 127.0f, 127),
        .move_z = input_frame_round(input->move_z, 127.0f, 127),
        .yaw = (uint64_t)(input_frame_round(yaw, 32768.0f / MATH_PI, 32768) & 0xffff),
        .pitch = input_frame_round(input->pitch, 32768.0f / MATH_PI, 16384),
        .buttons = input->buttons & INPUT_BUTTONS_ALL};
}
