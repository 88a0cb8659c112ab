// Kinematic movement of parts: doors, lifts, platforms. A segment says where a part is at every
// tick from tick_from to tick_to, in closed form: the pose at tick_from plus constant velocities.
// Segments are announced ahead, so a client that has them predicts a platform exactly, without
// integrating. After the last segment the part rests where that segment ends.
#pragma once

#include "core/base/status.h"
#include "core/sim/shape.h"

#include <stdbool.h>
#include <stdint.h>

#define MOTION_SEGMENTS_MAX 4
#define MOTION_SPEED_MAX    60.0f  // m/s at any point of the part, turning included
#define MOTION_TURN_MAX     31.0f  // rad/s
#define MOTION_TICKS_MAX    216000 // of one segment: an hour at 60 Hz

typedef struct MotionSegment {
    Pose pose;             // at tick_from
    Vec3 velocity;         // m/s
    Vec3 angular_velocity; // rad/s about world axes through the part's position
    uint64_t tick_from, tick_to;
} MotionSegment;

typedef struct Motion {
    MotionSegment segments[MOTION_SEGMENTS_MAX]; // ascending, not overlapping
    uint32_t count;
} Motion;

// The pose of one segment, at a tick that is clamped into it.
Pose motion_segment_pose(const MotionSegment *segment, uint64_t tick, float tick_seconds);
// The pose at a tick; `rest` before the first segment and without one.
Pose motion_pose(const Motion *motion, Pose rest, uint64_t tick, float tick_seconds);
// Appends a segment. STATUS_RANGE for non-finite numbers, tick_to <= tick_from, too fast for a
// shape of this bounding radius, or starting before the last one ends; STATUS_LIMIT when the queue
// is full.
MUST_USE Status motion_append(Motion *motion, const MotionSegment *segment, float bounding_radius,
                              uint64_t now);
// Plans a uniform motion from one pose to another, turning the shorter way, from tick `now` on:
// `to` is reached exactly after so many ticks (1..MOTION_TICKS_MAX). STATUS_RANGE as for
// motion_append; on success the plan replaces *motion, otherwise it is unchanged.
MUST_USE Status motion_glide(Motion *motion, Pose from, Pose to, float bounding_radius,
                             uint64_t now, uint64_t ticks, float tick_seconds);
// Drops segments that ended before now; *rest takes the end pose of the last one dropped.
void motion_forget(Motion *motion, Pose *rest, uint64_t now, float tick_seconds);
