// See interpolate.h. Between the last tick at which the older state was still true (known) and the
// anchor of the newer one, something happened. What it was shows in the velocities, axis by axis:
//
//   the velocity changed no faster than bodies accelerate: it did so evenly. A curve with both
//   places and both velocities goes through (a cubic, which is the exact parabola if it was even)
//
//   it changed faster: a jump, a landing, a wall. Then the older curve was true until the moment
//   where the newer one, followed back, meets it, and the newer one from there on
//
//        older ───────╲ known          ╱ anchor ──── newer
//                      ╲______________╱
#include "core/client/interpolate.h"

#include "core/base/check.h"

#define JUMP_M            3.0f  // a body that moved further was teleported: shown at the anchor
#define ACCELERATION_MPS2 75.0f // more than that is a jump or a landing
#define EXTRAPOLATE_S     0.25
#define CROSSING_STEPS    12
#define MEET_M            0.05 // closer than this counts as met: the tolerance of the curves

// One axis of a curve; it may be evaluated before its anchor, too.
typedef struct Axis {
    double position, velocity, gravity; // m, m/s, m/s^2 downwards
    double anchor;                      // tick
} Axis;

static Axis axis_of(const NetMotion *motion, uint32_t i)
{
    return (Axis){.position = (double)motion->position[i] / NET_POSITION_PER_M,
                  .velocity = (double)motion->velocity[i] / NET_VELOCITY_PER_MPS,
                  .gravity = i == 1 ? (double)motion->gravity / NET_GRAVITY_PER_MPS2 : 0,
                  .anchor = (double)motion->tick};
}

static double axis_position(const Axis *axis, double tick, double step)
{
    double n = tick - axis->anchor;
    n = n < NET_MOTION_TICKS_MAX ? n : NET_MOTION_TICKS_MAX;
    return axis->position + axis->velocity * (n * step) -
           axis->gravity * (step * step) * n * (n + 1) / 2;
}

// The slope of that curve, which is the body's velocity half a tick later.
static double axis_velocity(const Axis *axis, double tick, double step)
{
    double n = tick - axis->anchor;
    n = n < NET_MOTION_TICKS_MAX ? n : NET_MOTION_TICKS_MAX;
    return axis->velocity - axis->gravity * (n + 0.5) * step;
}

// The last tick between the two at which both curves are (nearly) at the same position.
static bool axis_crossing(const Axis *older, const Axis *newer, double from, double to, double step,
                          double *at)
{
    double after = axis_position(newer, to, step) - axis_position(older, to, step);
    for (uint32_t i = 1; i <= CROSSING_STEPS; i++) {
        const double tick = to - (to - from) * i / CROSSING_STEPS;
        const double apart = axis_position(newer, tick, step) - axis_position(older, tick, step);
        if ((apart <= 0) != (after <= 0)) {
            const double part = apart / (apart - after); // of the way back towards `to`
            *at = tick + (to - from) / CROSSING_STEPS * part;
            return true;
        }
        after = apart;
    }
    // They may have met just outside the range, because positions are rounded.
    const double at_from = axis_position(newer, from, step) - axis_position(older, from, step);
    const double at_to = axis_position(newer, to, step) - axis_position(older, to, step);
    const bool met_before = at_from < MEET_M && at_from > -MEET_M;
    const bool met_after = at_to < MEET_M && at_to > -MEET_M;
    *at = met_before ? from : to;
    return met_before || met_after;
}

typedef struct AxisPose {
    double position, velocity;
} AxisPose;

// A curve through both positions with both velocities; from and to are ticks.
static AxisPose axis_bend(const Axis *older, const Axis *newer, double from, double to, double tick,
                          double step)
{
    const double seconds = (to - from) * step;
    const double u = (tick - from) / (to - from);
    const double p0 = axis_position(older, from, step);
    const double p1 = axis_position(newer, to, step);
    const double v0 = axis_velocity(older, from, step);
    const double v1 = axis_velocity(newer, to, step);
    const double a = 2 * (p0 - p1) + (v0 + v1) * seconds;
    const double b = 3 * (p1 - p0) - (2 * v0 + v1) * seconds;
    return (AxisPose){p0 + u * (v0 * seconds + u * (b + u * a)),
                      v0 + u * (2 * b + 3 * a * u) / seconds};
}

static AxisPose axis_between(const Axis *older, const Axis *newer, double from, double to,
                             double tick, double step)
{
    const double change =
        axis_velocity(newer, to, step) - axis_velocity(older, to, step); // beyond gravity
    const double most = (double)ACCELERATION_MPS2 * (to - from) * step;
    double crossing = 0;
    if ((change > most || change < -most) &&
        axis_crossing(older, newer, from, to, step, &crossing)) {
        const Axis *true_then = tick < crossing ? older : newer;
        return (AxisPose){axis_position(true_then, tick, step),
                          axis_velocity(true_then, tick, step)};
    }
    return axis_bend(older, newer, from, to, tick, step);
}

static float shown_yaw(uint8_t yaw)
{
    return math_wrap_angle((float)yaw * (MATH_PI / 128));
}

static InterpolatePose pose_of(const NetState *state, double tick, uint32_t tick_rate)
{
    return (InterpolatePose){.position = net_motion_position(&state->motion, tick, tick_rate),
                             .velocity = net_motion_velocity(&state->motion, tick, tick_rate),
                             .yaw = shown_yaw(state->yaw),
                             .pitch = (float)state->pitch * (MATH_PI / 128),
                             .flags = state->flags,
                             .npc_state = state->npc_state,
                             .health = state->health};
}

static bool was_put(const NetState *older, const NetState *newer, double tick, uint32_t tick_rate)
{
    const Vec3 was = net_motion_position(&older->motion, tick, tick_rate);
    const Vec3 is = net_motion_position(&newer->motion, tick, tick_rate);
    return vec3_length(vec3_sub(is, was)) > JUMP_M;
}

// Between the last tick of the older state and the first of the newer.
static InterpolatePose pose_between(const NetState *older, const NetState *newer, double from,
                                    double to, double tick, uint32_t tick_rate)
{
    InterpolatePose pose = pose_of(older, tick, tick_rate);
    if (!was_put(older, newer, to, tick_rate)) {
        AxisPose axes[3];
        for (uint32_t i = 0; i < 3; i++) {
            const Axis a = axis_of(&older->motion, i);
            const Axis b = axis_of(&newer->motion, i);
            axes[i] = axis_between(&a, &b, from, to, tick, 1.0 / tick_rate);
        }
        pose.position =
            vec3((float)axes[0].position, (float)axes[1].position, (float)axes[2].position);
        pose.velocity =
            vec3((float)axes[0].velocity, (float)axes[1].velocity, (float)axes[2].velocity);
    }
    const float part = (float)((tick - from) / (to - from));
    const int32_t right = (newer->yaw - older->yaw) & 0xff;
    const int32_t turn = right < 128 ? right : right - 256; // the shorter way
    pose.yaw = math_wrap_angle(((float)older->yaw + (float)turn * part) * (MATH_PI / 128));
    const float tilt = (float)(newer->pitch - older->pitch);
    pose.pitch = ((float)older->pitch + tilt * part) * (MATH_PI / 128);
    return pose;
}

// --- the line -----------------------------------------------------------------------------------

static void append(InterpolateLine *line, const NetState *state, uint64_t from, uint64_t known)
{
    if (line->count == INTERPOLATE_STATES) {
        for (uint32_t i = 1; i < INTERPOLATE_STATES; i++) {
            line->states[i - 1] = line->states[i];
            line->true_tick[i - 1] = line->true_tick[i];
            line->known_tick[i - 1] = line->known_tick[i];
        }
        line->count -= 1;
    }
    line->states[line->count] = *state;
    line->true_tick[line->count] = from;
    line->known_tick[line->count] = known;
    line->count += 1;
}

void interpolate_push(InterpolateLine *line, const NetState *state, uint64_t frame_tick,
                      uint64_t frame_before)
{
    ASSERT(line->count <= INTERPOLATE_STATES);
    if (line->count == 0) {
        append(line, state, state->motion.tick, state->motion.tick);
        return;
    }
    const uint64_t last = line->true_tick[line->count - 1];
    // If the curve is unchanged something else is new, and valid from this frame on.
    const uint64_t from = state->motion.tick > last ? state->motion.tick : frame_tick;
    if (from <= last) {
        line->states[line->count - 1] = *state; // the same moment again
        return;
    }
    uint64_t known = frame_before;
    if (known >= from) {
        // It waited for room in a frame: it may have begun up to one frame interval earlier.
        const uint64_t apart = frame_tick > frame_before ? frame_tick - frame_before : 1;
        known = from > apart ? from - apart : 0;
    }
    append(line, state, from, known > last ? known : last);
}

InterpolatePose interpolate_at(const InterpolateLine *line, double tick, uint64_t frame_tick,
                               uint32_t tick_rate)
{
    ASSERT(tick_rate >= 1);
    if (line->count == 0) {
        return (InterpolatePose){.yaw = 0};
    }
    uint32_t i = line->count - 1;
    while (i > 0 && (double)line->known_tick[i] > tick) {
        i -= 1;
    }
    const double from = (double)line->known_tick[i];
    const double to = (double)line->true_tick[i];
    if (i > 0 && tick < to) {
        return pose_between(&line->states[i - 1], &line->states[i], from, to, tick, tick_rate);
    }
    if (i + 1 == line->count) {
        const double newest = (double)frame_tick > to ? (double)frame_tick : to;
        const double last = newest + EXTRAPOLATE_S * tick_rate;
        tick = tick < last ? tick : last;
    }
    return pose_of(&line->states[i], tick, tick_rate);
}
