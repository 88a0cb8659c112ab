// Poses of kinematic parts in closed form; see motion.h. Nothing is integrated from tick to tick,
// so a client that joins late computes the same pose as one that joined early.
#include "core/sim/motion.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#define MOTION_REACH_M ((float)(2 * WORLD_EXTENT_M))

static Pose segment_pose_at(const MotionSegment *segment, float seconds)
{
    Pose pose = segment->pose;
    if (!(seconds > 0)) {
        return pose; // to the last bit: a segment often begins where the part already is
    }
    pose.position = vec3_mad(pose.position, segment->velocity, seconds);
    const float turn_speed = vec3_length(segment->angular_velocity);
    if (turn_speed > 0) {
        const Vec3 axis = vec3_scale(segment->angular_velocity, 1 / turn_speed);
        const Quat turn = quat_from_axis_angle(axis, turn_speed * seconds);
        pose.rotation = quat_normalise(quat_multiply(turn, pose.rotation));
    }
    return pose;
}

Pose motion_segment_pose(const MotionSegment *segment, uint64_t tick, float tick_seconds)
{
    const uint64_t clamped = tick < segment->tick_from ? segment->tick_from
                             : tick > segment->tick_to ? segment->tick_to
                                                       : tick;
    return segment_pose_at(segment, (float)(clamped - segment->tick_from) * tick_seconds);
}

Pose motion_pose(const Motion *motion, Pose rest, uint64_t tick, float tick_seconds)
{
    Pose pose = rest;
    for (uint32_t i = 0; i < motion->count && motion->segments[i].tick_from <= tick; i++) {
        pose = motion_segment_pose(&motion->segments[i], tick, tick_seconds);
    }
    return pose;
}

static bool segment_is_sane(const MotionSegment *segment, float bounding_radius)
{
    const Pose pose = segment->pose;
    if (!vec3_is_finite(pose.position) || !quat_is_finite(pose.rotation) ||
        !vec3_is_finite(segment->velocity) || !vec3_is_finite(segment->angular_velocity)) {
        return false;
    }
    const Quat q = pose.rotation;
    const float unit = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (!(unit > 0.998f && unit < 1.002f) || segment->tick_to <= segment->tick_from ||
        segment->tick_to - segment->tick_from > MOTION_TICKS_MAX) {
        return false;
    }
    const float turn_speed = vec3_length(segment->angular_velocity);
    if (!(turn_speed <= MOTION_TURN_MAX)) {
        return false;
    }
    const float fastest_point = vec3_length(segment->velocity) + turn_speed * bounding_radius;
    if (!(fastest_point <= MOTION_SPEED_MAX)) {
        return false;
    }
    // At the lower tick rate a segment lasts longest; both ends must be inside the world.
    const float seconds = (float)(segment->tick_to - segment->tick_from) / (float)TICK_RATE_LOW;
    const Vec3 end = vec3_mad(pose.position, segment->velocity, seconds);
    return vec3_length(pose.position) <= MOTION_REACH_M && vec3_length(end) <= MOTION_REACH_M;
}

Status motion_append(Motion *motion, const MotionSegment *segment, float bounding_radius,
                     uint64_t now)
{
    ASSERT(motion->count <= MOTION_SEGMENTS_MAX);
    if (!segment_is_sane(segment, bounding_radius) || segment->tick_to < now) {
        return STATUS_RANGE;
    }
    if (motion->count > 0 && segment->tick_from < motion->segments[motion->count - 1].tick_to) {
        return STATUS_RANGE;
    }
    if (motion->count == MOTION_SEGMENTS_MAX) {
        return STATUS_LIMIT;
    }
    motion->segments[motion->count++] = *segment;
    return STATUS_OK;
}

// The constant turn that takes one rotation to another in one second, the shorter way.
static Vec3 turn_between(Quat from, Quat to)
{
    Quat turn = quat_multiply(to, quat_conjugate(from));
    if (turn.w < 0) {
        turn = (Quat){-turn.x, -turn.y, -turn.z, -turn.w};
    }
    const Vec3 axis = {turn.x, turn.y, turn.z};
    const float angle = 2 * math_atan2(vec3_length(axis), turn.w);
    return vec3_scale(vec3_normalise(axis), angle);
}

Status motion_glide(Motion *motion, Pose from, Pose to, float bounding_radius, uint64_t now,
                    uint64_t ticks, float tick_seconds)
{
    if (!vec3_is_finite(to.position) || !quat_is_finite(to.rotation) || ticks < 1 ||
        ticks > MOTION_TICKS_MAX) {
        return STATUS_RANGE;
    }
    const Pose end = {to.position, quat_normalise(to.rotation)};
    const float each = 1 / ((float)ticks * tick_seconds);
    const MotionSegment way = {.pose = from,
                               .velocity = vec3_scale(vec3_sub(end.position, from.position), each),
                               .angular_velocity =
                                   vec3_scale(turn_between(from.rotation, end.rotation), each),
                               .tick_from = now,
                               .tick_to = now + ticks};
    // Velocities are rounded; a last segment puts the shape exactly there.
    const MotionSegment arrived = {
        .pose = end, .tick_from = way.tick_to, .tick_to = way.tick_to + 1};
    Motion plan = {0};
    Status status = motion_append(&plan, &way, bounding_radius, now);
    if (status == STATUS_OK) {
        status = motion_append(&plan, &arrived, bounding_radius, now);
    }
    if (status == STATUS_OK) {
        *motion = plan;
    }
    return status;
}

void motion_forget(Motion *motion, Pose *rest, uint64_t now, float tick_seconds)
{
    uint32_t ended = 0;
    while (ended < motion->count && motion->segments[ended].tick_to < now) {
        *rest = motion_segment_pose(&motion->segments[ended], now, tick_seconds);
        ended += 1;
    }
    for (uint32_t i = ended; i < motion->count; i++) {
        motion->segments[i - ended] = motion->segments[i];
    }
    motion->count -= ended;
}
