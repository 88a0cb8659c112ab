// Sweeps: they never pass the shape, stop within the gap, agree with rays where the capsule is a
// point, and with stepping along the way. Steps use shape_capsule_contact, which test_shape proves;
// where a sweep stops is measured again by the reference in double precision.
#include "core/base/limits.h"
#include "core/sim/shape.h"
#include "tests/support/test.h"
#include "tests/unit/test_shape_reference.h"

#include <math.h>

#define GAP ((double)SHAPE_SWEEP_GAP_M)
// What float32 makes of distances here.
#define ROUNDING 2e-5

static Capsule moved(Capsule capsule, Vec3 motion, float fraction)
{
    capsule.base = vec3_mad(capsule.base, motion, fraction);
    return capsule;
}

static double distance_at(const ShapeCase *c, Capsule capsule, Vec3 motion, float fraction)
{
    return (double)shape_capsule_contact(&c->placed, moved(capsule, motion, fraction)).distance;
}

// The distance is convex along the way.
static double least_distance(const ShapeCase *c, Capsule capsule, Vec3 motion)
{
    float low = 0;
    float high = 1;
    for (int i = 0; i < 40; i++) {
        const float third = (high - low) / 3;
        if (distance_at(c, capsule, motion, low + third) <
            distance_at(c, capsule, motion, high - third)) {
            high -= third;
        } else {
            low += third;
        }
    }
    return fmin(distance_at(c, capsule, motion, (low + high) / 2),
                fmin(distance_at(c, capsule, motion, 0), distance_at(c, capsule, motion, 1)));
}

// A sweep that starts outside and beyond the gap, and hits: it stopped in time and not too early.
static void stop_check(const ShapeCase *c, Capsule capsule, Vec3 motion, ShapeHit hit)
{
    // Coordinates along a way of hundreds of metres have fewer digits.
    const double rounding = 2 * ROUNDING + 2e-7 * (double)vec3_length(motion);
    const Double3 way = double3_from(motion);
    const Double3 base = double3_mad(double3_from(capsule.base), way, (double)hit.distance);
    const double distance =
        reference_core(&c->reference, base, (double)capsule.height) - (double)capsule.radius;
    CHECK(distance >= GAP / 4 - rounding);
    CHECK(distance <= 2 * GAP + rounding);
    CHECK_NEAR(reference_point(&c->reference, double3_from(hit.point)), 0, ROUNDING);
    CHECK_NEAR(vec3_length(hit.normal), 1, 1e-6);
    CHECK(vec3_dot(hit.normal, motion) < 0);
    for (int i = 0; i < 16; i++) {
        CHECK(distance_at(c, capsule, motion, hit.distance * (float)i / 16) >= GAP / 4 - rounding);
    }
}

static bool sweep_check(const ShapeCase *c, Capsule capsule, Vec3 motion)
{
    ShapeHit hit = {-1, VEC3_ZERO, VEC3_ZERO};
    const bool is_hit = shape_sweep(&c->placed, capsule, motion, &hit);
    const ShapeContact start = shape_capsule_contact(&c->placed, capsule);
    const double along = (double)(SHAPE_SWEEP_ALONG * vec3_length(motion));
    // Where the core itself all but touches a corner, its direction has few digits.
    const double core = (double)start.distance + (double)capsule.radius;
    const bool is_vague = core > 0 && core < 1e-4;
    const double least = least_distance(c, capsule, motion);
    if (is_hit) {
        CHECK(hit.distance >= 0 && hit.distance < 1);
        CHECK(least < 2 * GAP + ROUNDING);
        if ((double)start.distance > 2 * GAP) {
            stop_check(c, capsule, motion, hit);
        } else {
            CHECK(hit.distance == 0 && vec3_dot(hit.normal, motion) < 0);
        }
    } else {
        CHECK(hit.distance == -1);
        CHECK(is_vague || least >= fmin((double)start.distance, 0) - along - ROUNDING);
    }
    return is_hit;
}

TEST(sweeps_stop_before_the_shape_and_close_to_it)
{
    Dice dice = {test_seed()};
    int hit_count = 0;
    const int count = 14000;
    for (int i = 0; i < count && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        const Capsule capsule = dice_capsule(&dice, &c.reference);
        const float length = dice_range(&dice, 0, 1) * dice_range(&dice, 0, 30);
        Vec3 way = dice_direction(&dice);
        if (i % 2 == 0) {
            const Vec3 aim = vec3_sub(dice_point(&dice, &c.reference), capsule.base);
            way = vec3_scale(aim, 1 / math_max(vec3_length(aim), 1e-3f));
        }
        hit_count += sweep_check(&c, capsule, vec3_scale(way, length));
    }
    CHECK(hit_count > count / 5 && hit_count < count * 4 / 5);
}

// Half a kilometre of extents leaves float32 a tenth of a millimetre.
TEST(sweeps_against_the_largest_parts)
{
    Dice dice = {test_seed() + 6};
    int hit_count = 0;
    for (int i = 0; i < 14000 && test_is_passing(); i++) {
        const TurnKind turn = i % 2 == 0 ? TURN_NEARLY_YAW : TURN_FREE;
        const ShapeKind kind = (ShapeKind)(i / 2 % SHAPE_KIND_COUNT);
        const ShapeCase c = shape_case_roll(&dice, kind, turn, PART_HALF_EXTENT_MAX_M, 100);
        const Capsule capsule = dice_capsule(&dice, &c.reference);
        const Vec3 motion = vec3_sub(dice_point(&dice, &c.reference), capsule.base);
        ShapeHit hit;
        if (shape_capsule_contact(&c.placed, capsule).distance < 1e-3f ||
            !shape_sweep(&c.placed, capsule, motion, &hit)) {
            continue;
        }
        hit_count += 1;
        const Double3 base =
            double3_mad(double3_from(capsule.base), double3_from(motion), (double)hit.distance);
        const double distance =
            reference_core(&c.reference, base, (double)capsule.height) - (double)capsule.radius;
        CHECK_NEAR(distance, GAP, 1e-3);
    }
    CHECK(hit_count > 3000);
}

// Long cores beside large turned cylinders have the roughest normals: a step across hundreds of
// metres may land inside, and must be taken back.
TEST(a_step_too_far_is_taken_back)
{
    Dice dice = {test_seed() + 7};
    for (int i = 0; i < 40000 && test_is_passing(); i++) {
        const ShapeCase c =
            shape_case_roll(&dice, SHAPE_CYLINDER, TURN_FREE, PART_HALF_EXTENT_MAX_M, 4);
        const Capsule capsule = {dice_point(&dice, &c.reference), 40, (float)(i % 2) * 0.05f};
        const Vec3 motion = vec3_sub(dice_point(&dice, &c.reference), capsule.base);
        ShapeHit hit;
        if (shape_capsule_contact(&c.placed, capsule).distance > 1e-3f &&
            shape_sweep(&c.placed, capsule, motion, &hit)) {
            CHECK(distance_at(&c, capsule, motion, hit.distance) >= -2e-4);
        }
    }
}

TEST(a_swept_point_is_a_ray)
{
    Dice dice = {test_seed() + 1};
    int both_count = 0;
    for (int i = 0; i < 14000 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        const Vec3 origin = dice_point(&dice, &c.reference);
        const Vec3 aim = vec3_sub(dice_point(&dice, &c.reference), origin);
        if (vec3_length(aim) < 1e-2f) {
            continue;
        }
        const Vec3 way = vec3_scale(aim, 1 / vec3_length(aim));
        const Capsule point = {origin, (float)(i % 2) * 1e-6f, 0};
        if ((double)shape_closest(&c.placed, origin).distance <= 3 * GAP) {
            continue;
        }
        ShapeHit ray;
        ShapeHit sweep;
        const bool is_ray = shape_ray(&c.placed, origin, way, 20, &ray);
        const bool is_sweep = shape_sweep(&c.placed, point, vec3_scale(way, 20), &sweep);
        const double least = least_distance(&c, point, vec3_scale(way, 20));
        if (fabs(least) > 3 * GAP) {
            CHECK_INT(is_ray, is_sweep);
        }
        if (is_ray && is_sweep) {
            both_count += 1;
            // The sweep stops before the ray's hit, by what the gap is along the way.
            CHECK(sweep.distance * 20 <= ray.distance);
            const float slope = -vec3_dot(ray.normal, way);
            if (slope > 0.1f && least < -0.01) {
                CHECK_NEAR(sweep.distance * 20, ray.distance, 2.5 * GAP / (double)slope);
            }
        }
    }
    CHECK(both_count > 3000);
}

TEST(nothing_is_too_thin_or_too_fast)
{
    Dice dice = {test_seed() + 2};
    for (int i = 0; i < 7000 && test_is_passing(); i++) {
        ShapeCase c = shape_case_at(&dice, i, 4, 4);
        const Vec3 thin = {c.shape.half.x, PART_HALF_EXTENT_MIN_M, c.shape.half.z};
        c = shape_case_make((Shape){c.shape.kind, thin}, c.pose);
        Capsule capsule = {c.pose.position, 1.2f, 0.3f};
        const Vec3 way = dice_direction(&dice);
        capsule.base = vec3_mad(capsule.base, way, -200);
        CHECK(sweep_check(&c, capsule, vec3_scale(way, 400)));
    }
}

TEST(out_of_an_overlap_is_free_and_deeper_is_not)
{
    Dice dice = {test_seed() + 3};
    int overlap_count = 0;
    for (int i = 0; i < 14000 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        const Capsule capsule = dice_capsule(&dice, &c.reference);
        const ShapeContact contact = shape_capsule_contact(&c.placed, capsule);
        if (contact.distance > 0) {
            continue;
        }
        overlap_count += 1;
        const float length = dice_range(&dice, 0.001f, 5);
        ShapeHit hit = {-1, VEC3_ZERO, VEC3_ZERO};
        CHECK(!shape_sweep(&c.placed, capsule, vec3_scale(contact.normal, length), &hit));
        CHECK(!shape_sweep(&c.placed, capsule, VEC3_ZERO, &hit));
        CHECK(shape_sweep(&c.placed, capsule, vec3_scale(contact.normal, -length), &hit));
        CHECK(hit.distance == 0 && vec3_equal(hit.normal, contact.normal));
    }
    CHECK(overlap_count > 2000);
}

// Walking along a wall or a floor that one touches.
TEST(along_a_surface_is_free)
{
    Dice dice = {test_seed() + 4};
    for (int i = 0; i < 14000 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        Capsule capsule = dice_capsule(&dice, &c.reference);
        capsule.radius = math_max(capsule.radius, 0.05f);
        const float gaps[4] = {0, SHAPE_SWEEP_GAP_M, 5e-5f, -5e-4f};
        const ShapeContact far = shape_capsule_contact(&c.placed, capsule);
        if (far.distance < -capsule.radius) {
            continue;
        }
        const float move = gaps[i / 4 % 4] - far.distance;
        capsule.base = vec3_mad(capsule.base, far.normal, move);
        const ShapeContact contact = shape_capsule_contact(&c.placed, capsule);
        Vec3 along = vec3_cross(contact.normal, dice_direction(&dice));
        along = vec3_scale(along, dice_range(&dice, 0.01f, 0.3f));
        ShapeHit hit;
        CHECK(!shape_sweep(&c.placed, capsule, along, &hit));
    }
}

TEST(a_fall_on_each_kind_stops_at_its_top)
{
    const float heights[SHAPE_KIND_COUNT] = {2, 0, 1, 2};
    for (int k = 0; k < SHAPE_KIND_COUNT; k++) {
        const Shape shape = {(ShapeKind)k, {1, 2, 1}};
        const PlacedShape placed = shape_place(shape, (Pose){{5, 5, 5}, QUAT_IDENTITY});
        const Capsule capsule = {{5, 15, 5}, 1.2f, 0.25f};
        ShapeHit hit;
        CHECK(shape_sweep(&placed, capsule, (Vec3){0, -20, 0}, &hit));
        // A round foot meets a slope of two in one before its lowest point would.
        const double early = k == SHAPE_WEDGE ? 0.25 * (sqrt(5) - 1) : 0;
        CHECK_NEAR(20 * hit.distance, 10 - 0.25 - (double)heights[k] - early, 5e-4);
        CHECK_NEAR(hit.normal.y, k == SHAPE_WEDGE ? 1 / sqrt(5) : 1, 1e-4);
    }
}

// World coordinates are coarse far out, but a sweep works from the difference.
TEST(sweeps_far_out_equal_sweeps_at_home)
{
    Dice dice = {test_seed() + 5};
    for (int i = 0; i < 7000 && test_is_passing(); i++) {
        const Shape shape = dice_shape(&dice, (ShapeKind)(i % SHAPE_KIND_COUNT), 0.1f, 4);
        const Quat q = dice_rotation(&dice, (TurnKind)dice_below(&dice, TURN_KIND_COUNT));
        const Vec3 far = {8192, -8192, 8192};
        Vec3 offset; // in steps of 1/512 m, which both places can hold
        offset.x = (float)dice_below(&dice, 4096) / 512 - 4;
        offset.y = (float)dice_below(&dice, 4096) / 512 - 4;
        offset.z = (float)dice_below(&dice, 4096) / 512 - 4;
        const PlacedShape home = shape_place(shape, (Pose){VEC3_ZERO, q});
        const PlacedShape away = shape_place(shape, (Pose){far, q});
        const Vec3 motion = vec3_scale(dice_direction(&dice), 3);
        ShapeHit a = {0, VEC3_ZERO, VEC3_ZERO};
        ShapeHit b = {0, VEC3_ZERO, VEC3_ZERO};
        const Capsule near_capsule = {offset, 1.2f, 0.3f};
        const Capsule far_capsule = {vec3_add(far, offset), 1.2f, 0.3f};
        const bool is_a = shape_sweep(&home, near_capsule, motion, &a);
        const bool is_b = shape_sweep(&away, far_capsule, motion, &b);
        CHECK_INT(is_a, is_b);
        CHECK(a.distance == b.distance && vec3_equal(a.normal, b.normal));
    }
}
