// Motion segments: closed form, queued, dropped when old, and rejected when invalid.
#include "core/sim/motion.h"
#include "tests/support/test.h"

#define DT (1.0f / 60)

static MotionSegment segment(uint64_t from, uint64_t to)
{
    return (MotionSegment){.pose = {{0, 0, 0}, QUAT_IDENTITY},
                           .velocity = {1, 2, 3},
                           .tick_from = from,
                           .tick_to = to};
}

TEST(poses_are_where_the_velocities_say)
{
    MotionSegment lift = segment(100, 160);
    lift.angular_velocity = vec3(0, MATH_PI / 2, 0);
    Pose pose = motion_segment_pose(&lift, 130, DT);
    CHECK_NEAR(pose.position.x, 0.5, 1e-6);
    CHECK_NEAR(pose.position.z, 1.5, 1e-6);
    const Vec3 turned = quat_rotate(pose.rotation, vec3(1, 0, 0)); // an eighth of a turn
    CHECK_NEAR(turned.x, 0.70710678, 1e-6);
    CHECK_NEAR(turned.z, -0.70710678, 1e-6);
    // Clamped at both ends.
    CHECK_NEAR(motion_segment_pose(&lift, 0, DT).position.y, 0, 0);
    CHECK_NEAR(motion_segment_pose(&lift, 1000, DT).position.y, 2, 1e-6);
}

TEST(a_queue_of_segments)
{
    Motion motion = {0};
    Pose rest = {{9, 9, 9}, QUAT_IDENTITY};
    CHECK_NEAR(motion_pose(&motion, rest, 5, DT).position.x, 9, 0);
    MotionSegment later = segment(200, 260);
    later.pose.position = vec3(1, 2, 3);
    later.velocity = vec3(-1, 0, 0);
    CHECK_OK(motion_append(&motion,
                           &(MotionSegment){.pose = {{0, 0, 0}, QUAT_IDENTITY},
                                            .velocity = {1, 2, 3},
                                            .tick_from = 100,
                                            .tick_to = 160},
                           1, 50));
    CHECK_OK(motion_append(&motion, &later, 1, 50));
    CHECK_NEAR(motion_pose(&motion, rest, 99, DT).position.x, 9, 0);
    CHECK_NEAR(motion_pose(&motion, rest, 130, DT).position.x, 0.5, 1e-6);
    CHECK_NEAR(motion_pose(&motion, rest, 180, DT).position.x, 1, 1e-6); // waits between the two
    CHECK_NEAR(motion_pose(&motion, rest, 230, DT).position.x, 0.5, 1e-6);
    motion_forget(&motion, &rest, 180, DT);
    CHECK_INT(motion.count, 1);
    CHECK_NEAR(rest.position.x, 1, 1e-6);
    motion_forget(&motion, &rest, 260, DT);
    CHECK_INT(motion.count, 1); // the last tick still belongs to it
    motion_forget(&motion, &rest, 261, DT);
    CHECK_INT(motion.count, 0);
    CHECK_NEAR(motion_pose(&motion, rest, 500, DT).position.x, 0, 1e-6);
}

TEST(what_makes_no_sense_is_refused)
{
    Motion motion = {0};
    MotionSegment bad = segment(10, 10);
    CHECK_INT(motion_append(&motion, &bad, 1, 0), STATUS_RANGE);
    bad = segment(10, 20);
    bad.velocity.x = __builtin_nanf("");
    CHECK_INT(motion_append(&motion, &bad, 1, 0), STATUS_RANGE);
    bad = segment(10, 20);
    bad.velocity.x = 61;
    CHECK_INT(motion_append(&motion, &bad, 1, 0), STATUS_RANGE);
    bad = segment(10, 20);
    bad.angular_velocity.y = 2;
    CHECK_OK(motion_append(&motion, &bad, 1, 0));
    motion.count = 0;
    CHECK_INT(motion_append(&motion, &bad, 100, 0), STATUS_RANGE); // its rim would be too fast
    bad = segment(10, 20);
    bad.pose.rotation = (Quat){0, 0, 0, 0};
    CHECK_INT(motion_append(&motion, &bad, 1, 0), STATUS_RANGE);
    bad = segment(0, MOTION_TICKS_MAX);
    bad.velocity = vec3(50, 0, 0); // leaves the world
    CHECK_INT(motion_append(&motion, &bad, 1, 0), STATUS_RANGE);
    bad = segment(10, 20);
    CHECK_INT(motion_append(&motion, &bad, 1, 21), STATUS_RANGE); // over already
    CHECK_INT(motion.count, 0);

    for (uint64_t i = 0; i < MOTION_SEGMENTS_MAX; i++) {
        const MotionSegment next = segment(i * 10, i * 10 + 10);
        CHECK_OK(motion_append(&motion, &next, 1, 0));
    }
    const MotionSegment more = segment(100, 110);
    CHECK_INT(motion_append(&motion, &more, 1, 0), STATUS_LIMIT);
    motion.count = 1;
    const MotionSegment early = segment(5, 15); // before the one in the queue ends
    CHECK_INT(motion_append(&motion, &early, 1, 0), STATUS_RANGE);
}
