// Rays compared with the sign of the reference's signed distance, which is convex along a ray: its
// minimum says whether there is a hit, and the position of the hit is where it first becomes zero.
#include "core/base/limits.h"
#include "core/sim/shape.h"
#include "tests/support/test.h"
#include "tests/unit/test_shape_reference.h"

#include <math.h>

// Within this of the surface a ray may hit or miss, as rounding has it.
#define GRAZE 2e-5

static double distance_at(const ShapeCase *c, Vec3 origin, Vec3 direction, double along)
{
    return reference_point(&c->reference,
                           double3_mad(double3_from(origin), double3_from(direction), along));
}

// Where along the ray the signed distance is least.
static double deepest_along(const ShapeCase *c, Vec3 origin, Vec3 direction, double high)
{
    double low = 0;
    while (high - low > 1e-6) {
        const double third = (high - low) / 3;
        if (distance_at(c, origin, direction, low + third) <
            distance_at(c, origin, direction, high - third)) {
            high -= third;
        } else {
            low += third;
        }
    }
    return (low + high) / 2;
}

// At the edge of a wedge as thin as a knife, a little aside is a lot along.
static double knife_of(const ShapeCase *c)
{
    const double y = c->reference.half.y;
    const double z = c->reference.half.z;
    return c->shape.kind == SHAPE_WEDGE ? fmax(y / z, z / y) : 1;
}

static void hit_check(const ShapeCase *c, Vec3 origin, Vec3 direction, ShapeHit hit)
{
    const double graze = GRAZE * knife_of(c);
    const Double3 point = double3_from(hit.point);
    const Double3 normal = double3_from(hit.normal);
    CHECK_NEAR(double3_length(normal), 1, 1e-6);
    CHECK_NEAR(distance_at(c, origin, direction, (double)hit.distance), 0, graze);
    CHECK_NEAR(reference_point(&c->reference, point), 0, graze);
    CHECK(vec3_dot(hit.normal, direction) <= 1e-5f);
    // The plane through the point holds the whole shape behind it.
    CHECK(reference_depth(&c->reference, point, 0, normal) <= 5 * graze);
}

static void ray_check(const ShapeCase *c, Vec3 origin, Vec3 direction, float distance_max)
{
    ShapeHit hit = {-1, VEC3_ZERO, VEC3_ZERO};
    const bool is_hit = shape_ray(&c->placed, origin, direction, distance_max, &hit);
    const double start = distance_at(c, origin, direction, 0);
    const double deepest = deepest_along(c, origin, direction, (double)distance_max);
    const double least = distance_at(c, origin, direction, deepest);
    const double graze = GRAZE * knife_of(c);
    if (start < -graze) {
        CHECK(is_hit && hit.distance == 0);
        CHECK(vec3_equal(hit.normal, vec3_neg(direction)));
    } else if (least > graze) {
        CHECK(!is_hit);
    } else if (start > graze && least < -graze) {
        CHECK(is_hit);
        CHECK((double)hit.distance <= deepest); // and on the surface: the way in, not out
        hit_check(c, origin, direction, hit);
    } else if (is_hit && hit.distance > 0) {
        CHECK_NEAR(distance_at(c, origin, direction, (double)hit.distance), 0, graze);
    }
}

static Vec3 towards(Vec3 from, Vec3 to, Vec3 otherwise)
{
    const Vec3 way = vec3_sub(to, from);
    const float length = vec3_length(way);
    return length > 1e-3f ? vec3_scale(way, 1 / length) : otherwise;
}

TEST(rays_hit_where_the_sign_changes)
{
    Dice dice = {test_seed()};
    const Vec3 axes[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (int i = 0; i < 3500 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        const Vec3 origin = dice_point(&dice, &c.reference);
        const Vec3 any = dice_direction(&dice);
        const float distance_max = dice_range(&dice, 0.1f, 60);
        ray_check(&c, origin, any, distance_max);
        ray_check(&c, origin, axes[dice_below(&dice, 6)], distance_max);
        // At corners, edges, faces and the centre.
        ray_check(&c, origin, towards(origin, dice_point(&dice, &c.reference), any), distance_max);
    }
}

// Textbook quadratics lose everything here.
TEST(rays_from_half_a_kilometre)
{
    Dice dice = {test_seed() + 1};
    for (int i = 0; i < 3500 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 2, 4);
        const Vec3 aim = dice_point(&dice, &c.reference);
        const Vec3 way = dice_direction(&dice);
        const Vec3 origin = vec3_mad(aim, way, -500);
        ShapeHit hit;
        const bool is_hit = shape_ray(&c.placed, origin, way, 1000, &hit);
        const double least = distance_at(&c, origin, way, deepest_along(&c, origin, way, 1000));
        const double knife = knife_of(&c);
        if (fabs(least) > 2e-4 * knife) {
            CHECK_INT(is_hit, least < 0);
        }
        if (is_hit) {
            CHECK_NEAR(distance_at(&c, origin, way, (double)hit.distance), 0, 2e-4 * knife);
        }
    }
}

TEST(a_ray_ends_at_its_distance)
{
    const PlacedShape box = shape_place_box((Vec3){-1, -1, -1}, (Vec3){1, 1, 1});
    ShapeHit hit = {-1, VEC3_ZERO, VEC3_ZERO};
    CHECK(!shape_ray(&box, (Vec3){0, 5, 0}, (Vec3){0, -1, 0}, 3.99f, &hit));
    CHECK(hit.distance == -1);
    CHECK(shape_ray(&box, (Vec3){0, 5, 0}, (Vec3){0, -1, 0}, 4, &hit));
    CHECK(hit.distance == 4 && vec3_equal(hit.normal, (Vec3){0, 1, 0}));
    CHECK(vec3_equal(hit.point, (Vec3){0, 1, 0}));
    CHECK(!shape_ray(&box, (Vec3){0, 5, 0}, (Vec3){0, 1, 0}, 100, &hit));
}

TEST(surfaces_belong_to_the_shape_but_leaving_is_free)
{
    for (int k = 0; k < SHAPE_KIND_COUNT; k++) {
        const PlacedShape s =
            shape_place((Shape){(ShapeKind)k, {1, 1, 1}}, (Pose){VEC3_ZERO, QUAT_IDENTITY});
        ShapeHit hit;
        CHECK(!shape_ray(&s, (Vec3){0, -1, 0}, (Vec3){0, -1, 0}, 100, &hit));
        CHECK(shape_ray(&s, (Vec3){0, -1, 0}, (Vec3){0, 1, 0}, 100, &hit));
        CHECK(hit.distance == 0 && vec3_equal(hit.normal, (Vec3){0, -1, 0}));
    }
    // Along the seam of two boxes there is no gap to look through.
    const PlacedShape left = shape_place_box((Vec3){0, 0, 0}, (Vec3){1, 1, 1});
    const PlacedShape right = shape_place_box((Vec3){1, 0, 0}, (Vec3){2, 1, 1});
    ShapeHit hit;
    CHECK(shape_ray(&left, (Vec3){1, 0.5f, -5}, (Vec3){0, 0, 1}, 100, &hit));
    CHECK(hit.distance == 5 && vec3_equal(hit.normal, (Vec3){0, 0, -1}));
    CHECK(shape_ray(&right, (Vec3){1, 0.5f, -5}, (Vec3){0, 0, 1}, 100, &hit));
}

TEST(the_slope_of_a_wedge_has_its_normal)
{
    const PlacedShape wedge =
        shape_place((Shape){SHAPE_WEDGE, {1, 1, 1}}, (Pose){VEC3_ZERO, QUAT_IDENTITY});
    ShapeHit hit;
    CHECK(shape_ray(&wedge, (Vec3){0, 5, 0.5f}, (Vec3){0, -1, 0}, 100, &hit));
    CHECK_NEAR(hit.distance, 4.5, 1e-6);
    CHECK_NEAR(hit.normal.y, sqrt(0.5), 1e-6);
    CHECK_NEAR(hit.normal.z, -sqrt(0.5), 1e-6);
    CHECK(shape_ray(&wedge, (Vec3){0, 0, 5}, (Vec3){0, 0, -1}, 100, &hit));
    CHECK(hit.distance == 4 && vec3_equal(hit.normal, (Vec3){0, 0, 1}));
    CHECK(shape_ray(&wedge, (Vec3){0, 0.5f, -5}, (Vec3){0, 0, 1}, 100, &hit));
    CHECK_NEAR(hit.distance, 5.5, 1e-6);
}
