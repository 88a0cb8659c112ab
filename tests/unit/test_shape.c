// Placing, closest points and capsule contacts, against the reference in double precision. A
// contact is proved exact from both sides: its point lies on the shape and `distance` from the core
// (so the true distance is no more), and the plane through its normal separates shape and core by
// that much (so it is no less).
#include "core/base/hash.h"
#include "core/base/limits.h"
#include "core/sim/shape.h"
#include "tests/support/test.h"
#include "tests/unit/test_shape_reference.h"

#include <math.h>

// Checks one contact from both sides.
static void contact_check(const ShapeCase *c, Capsule capsule, double tolerance)
{
    const ShapeContact contact = shape_capsule_contact(&c->placed, capsule);
    const Double3 base = double3_from(capsule.base);
    const Double3 normal = double3_from(contact.normal);
    const Double3 point = double3_from(contact.point);
    const double height = (double)capsule.height;
    const double distance = (double)contact.distance + (double)capsule.radius;
    CHECK(vec3_is_finite(contact.normal) && vec3_is_finite(contact.point));
    CHECK_NEAR(double3_length(normal), 1, 1e-6);
    // No less: the plane separates them by this, or pushing along the normal gets the core out.
    const double depth = reference_depth(&c->reference, base, height, normal);
    // The shorter the distance, the fewer digits its direction has, and the plane is as long as the
    // shape and the core.
    const double size = c->reference.half.x + c->reference.half.y + c->reference.half.z + height;
    const double spread = distance > 1e-6 ? size / distance : 0;
    CHECK_NEAR(-depth, distance, tolerance * (1 + spread));
    // No more: the point is on the surface and that far from the core.
    CHECK_NEAR(reference_point(&c->reference, point), 0, tolerance);
    if (distance > 1e-6) {
        CHECK_NEAR(reference_core_to_point(base, height, point), distance, tolerance);
    } else {
        // Pushed out along the normal, the core touches the point; a core that is nearly parallel
        // to the face touches it almost everywhere.
        const Double3 out = double3_mad(base, normal, -distance);
        CHECK_NEAR(reference_core_to_point(out, height, point), 0, 40 * tolerance);
    }
}

TEST(a_shape_is_checked_by_the_extents_it_uses)
{
    const float least = PART_HALF_EXTENT_MIN_M;
    const float most = PART_HALF_EXTENT_MAX_M;
    CHECK_OK(shape_check((Shape){SHAPE_BOX, {least, most, 1}}));
    CHECK_OK(shape_check((Shape){SHAPE_SPHERE, {1, -1, NAN}}));
    CHECK_OK(shape_check((Shape){SHAPE_CYLINDER, {1, 2, INFINITY}}));
    CHECK_INT(shape_check((Shape){SHAPE_CYLINDER, {1, 0, 1}}), STATUS_RANGE);
    const float bad[] = {0, -1, least * 0.99f, most * 1.01f, NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(shape_check((Shape){SHAPE_SPHERE, {bad[i], 1, 1}}), STATUS_RANGE);
        CHECK_INT(shape_check((Shape){SHAPE_BOX, {bad[i], 1, 1}}), STATUS_RANGE);
        CHECK_INT(shape_check((Shape){SHAPE_BOX, {1, bad[i], 1}}), STATUS_RANGE);
        CHECK_INT(shape_check((Shape){SHAPE_WEDGE, {1, 1, bad[i]}}), STATUS_RANGE);
        CHECK_INT(shape_check((Shape){SHAPE_CYLINDER, {1, bad[i], 1}}), STATUS_RANGE);
    }
    CHECK_INT(shape_check((Shape){SHAPE_KIND_COUNT, {1, 1, 1}}), STATUS_UNSUPPORTED);
}

TEST(the_turn_is_the_cheapest_that_fits_the_solid)
{
    Dice dice = {1};
    for (int i = 0; i < 200; i++) {
        for (int k = 0; k < SHAPE_KIND_COUNT; k++) {
            const ShapeKind kind = (ShapeKind)k;
            const bool is_box = kind == SHAPE_BOX;
            const bool is_sphere = kind == SHAPE_SPHERE;
            CHECK_INT(shape_case_roll(&dice, kind, TURN_NONE, 8, 50).placed.turn, SHAPE_ALIGNED);
            const int yaw = shape_case_roll(&dice, kind, TURN_YAW, 8, 50).placed.turn;
            CHECK(yaw == (is_sphere ? SHAPE_ALIGNED : SHAPE_YAW));
            const int quarters = shape_case_roll(&dice, kind, TURN_QUARTERS, 8, 50).placed.turn;
            CHECK(!(is_box || is_sphere) || quarters == SHAPE_ALIGNED);
            const int stood = shape_case_roll(&dice, kind, TURN_STOOD_YAW, 8, 50).placed.turn;
            CHECK(!is_box || stood != SHAPE_FREE);
            const int free = shape_case_roll(&dice, kind, TURN_FREE, 8, 50).placed.turn;
            CHECK(is_sphere || free == SHAPE_FREE);
        }
    }
}

TEST(placed_axes_are_orthonormal_and_bounds_hold_the_shape)
{
    Dice dice = {test_seed()};
    for (int i = 0; i < 7000; i++) {
        const ShapeCase c = shape_case_roll(&dice, (ShapeKind)(i % SHAPE_KIND_COUNT),
                                            (TurnKind)dice_below(&dice, TURN_KIND_COUNT), 64, 4000);
        const PlacedShape *p = &c.placed;
        CHECK_NEAR(vec3_length(p->axis_x), 1, 3e-7);
        CHECK_NEAR(vec3_length(p->axis_y), 1, 3e-7);
        CHECK_NEAR(vec3_length(p->axis_z), 1, 3e-7);
        const Vec3 handed = vec3_sub(vec3_cross(p->axis_x, p->axis_y), p->axis_z);
        CHECK_NEAR(vec3_length(handed), 0, 6e-7);
        const Double3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        const double low[3] = {(double)p->bounds.min.x, (double)p->bounds.min.y,
                               (double)p->bounds.min.z};
        const double high[3] = {(double)p->bounds.max.x, (double)p->bounds.max.y,
                                (double)p->bounds.max.z};
        const bool is_plain = p->kind == SHAPE_BOX && p->turn == SHAPE_ALIGNED;
        for (int k = 0; k < 3; k++) {
            const Double3 n = axes[k];
            const Double3 back = {-n.x, -n.y, -n.z};
            const Double3 origin = {0, 0, 0};
            const double slack = is_plain ? 5e-4 : 0; // half a unit in the last place at 4,000 m
            CHECK(high[k] >= reference_depth(&c.reference, origin, 0, n) - slack);
            CHECK(-low[k] >= reference_depth(&c.reference, origin, 0, back) - slack);
            CHECK_NEAR(high[k], reference_depth(&c.reference, origin, 0, n), 5e-3);
            CHECK_NEAR(-low[k], reference_depth(&c.reference, origin, 0, back), 5e-3);
        }
        if (!test_is_passing()) {
            return;
        }
    }
}

TEST(a_wedge_rises_towards_plus_z)
{
    const PlacedShape wedge =
        shape_place((Shape){SHAPE_WEDGE, {1, 2, 3}}, (Pose){{10, 20, 30}, QUAT_IDENTITY});
    // The back is full, the front has no height, the bottom is full, the middle is half.
    CHECK(shape_closest(&wedge, (Vec3){10, 21.9f, 32.99f}).distance < 0);
    CHECK(shape_closest(&wedge, (Vec3){10, 18.2f, 27.1f}).distance > 0);
    CHECK(shape_closest(&wedge, (Vec3){10.9f, 18.01f, 27.1f}).distance < 0);
    CHECK(shape_closest(&wedge, (Vec3){10, 19.99f, 30}).distance < 0);
    CHECK(shape_closest(&wedge, (Vec3){10, 20.01f, 30}).distance > 0);
    const ShapeContact above = shape_closest(&wedge, (Vec3){10, 20 + 3, 30 - 2});
    CHECK_NEAR(above.distance, sqrt(13), 1e-5);
    CHECK_NEAR(above.normal.y, 3 / sqrt(13), 1e-6);
    CHECK_NEAR(above.normal.z, -2 / sqrt(13), 1e-6);
    CHECK_NEAR(above.point.y, 20, 1e-5);
    CHECK_NEAR(above.point.z, 30, 1e-5);
}

TEST(closest_points_equal_the_reference)
{
    Dice dice = {test_seed()};
    for (int i = 0; i < 28000 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        const Vec3 point = dice_point(&dice, &c.reference);
        const ShapeContact contact = shape_closest(&c.placed, point);
        CHECK_NEAR(contact.distance, reference_point(&c.reference, double3_from(point)), 2e-5);
        contact_check(&c, (Capsule){point, 0, 0}, 2e-5);
    }
}

TEST(contacts_are_exact_near_the_origin)
{
    Dice dice = {test_seed() + 1};
    for (int i = 0; i < 70000 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        contact_check(&c, dice_capsule(&dice, &c.reference), 5e-5);
    }
}

TEST(contacts_are_exact_for_the_largest_parts)
{
    Dice dice = {test_seed() + 2};
    for (int i = 0; i < 28000 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, PART_HALF_EXTENT_MAX_M, 100);
        contact_check(&c, dice_capsule(&dice, &c.reference), 1e-3);
    }
}

TEST(separated_cores_equal_a_search_along_the_core)
{
    Dice dice = {test_seed() + 3};
    for (int i = 0; i < 2800 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        const Capsule capsule = dice_capsule(&dice, &c.reference);
        const double core =
            reference_core(&c.reference, double3_from(capsule.base), (double)capsule.height);
        const float distance = shape_capsule_contact(&c.placed, capsule).distance;
        if (core > 0) {
            CHECK_NEAR(distance, core - (double)capsule.radius, 5e-5);
        } else {
            CHECK((double)distance <= -(double)capsule.radius + 5e-5);
        }
    }
}

TEST(no_way_out_is_shorter_than_the_one_reported)
{
    Dice dice = {test_seed() + 4};
    int deep_count = 0;
    for (int i = 0; i < 2800 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 4, 4);
        const Capsule capsule = dice_capsule(&dice, &c.reference);
        const ShapeContact contact = shape_capsule_contact(&c.placed, capsule);
        const double depth = -(double)contact.distance - (double)capsule.radius;
        if (depth > 0) {
            deep_count += 1;
            const double least = reference_depth_least(&c.reference, double3_from(capsule.base),
                                                       (double)capsule.height);
            CHECK(depth <= least + 2e-5);
        }
    }
    CHECK(deep_count > 150);
}

TEST(exact_centres_and_corners_have_unit_normals)
{
    for (int k = 0; k < SHAPE_KIND_COUNT; k++) {
        const Shape shape = {(ShapeKind)k, {1, 1, 1}};
        const Quat turns[3] = {QUAT_IDENTITY, {0, 0.6f, 0, 0.8f}, {0.5f, 0.5f, 0.1f, 0.7f}};
        for (int t = 0; t < 3; t++) {
            const Quat q = turns[t];
            const float norm = math_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
            const Quat turned = {q.x / norm, q.y / norm, q.z / norm, q.w / norm};
            const ShapeCase c = shape_case_make(shape, (Pose){VEC3_ZERO, turned});
            for (int i = 0; i < 27; i++) {
                const Vec3 p = {(float)(i % 3 - 1), (float)(i / 3 % 3 - 1), (float)(i / 9 - 1)};
                for (int h = 0; h < 3; h++) {
                    const float height = (float)h;
                    contact_check(&c, (Capsule){p, height, 0}, 1e-5);
                    contact_check(&c, (Capsule){{p.x, p.y - height / 2, p.z}, height, 0.3f}, 1e-5);
                }
            }
        }
    }
}

TEST(the_voxel_helper_equals_a_placed_box)
{
    Dice dice = {test_seed() + 5};
    for (int i = 0; i < 14000 && test_is_passing(); i++) {
        Vec3 min;
        min.x = (float)dice_below(&dice, 9) - 4;
        min.y = (float)dice_below(&dice, 9) - 4;
        min.z = (float)dice_below(&dice, 9) - 4;
        const Vec3 max = vec3_add(min, (Vec3){1, 1, 1});
        const Shape shape = {SHAPE_BOX, {0.5f, 0.5f, 0.5f}};
        const Pose pose = {vec3_add(min, shape.half), QUAT_IDENTITY};
        const PlacedShape placed = shape_place_box(min, max);
        const PlacedShape posed = shape_place(shape, pose);
        CHECK(vec3_equal(placed.position, posed.position) && placed.turn == SHAPE_ALIGNED);
        CHECK(vec3_equal(placed.half, posed.half) && placed.kind == SHAPE_BOX);
        CHECK(vec3_equal(placed.bounds.min, posed.bounds.min));
        CHECK(vec3_equal(placed.bounds.max, posed.bounds.max));
        const Reference reference = reference_make(shape, pose);
        const Capsule capsule = dice_capsule(&dice, &reference);
        const ShapeContact a = shape_box_contact(min, max, capsule);
        const ShapeContact b = shape_capsule_contact(&placed, capsule);
        CHECK_NEAR(a.distance, b.distance, 1e-5);
        CHECK_NEAR(vec3_length(vec3_sub(a.point, b.point)), 0, 2e-4);
    }
}

// Far from the world's origin coordinates are coarse but exact; the difference to the shape is what
// counts, so moving everything by a power of two changes nothing.
TEST(contacts_far_out_equal_contacts_at_home)
{
    Dice dice = {test_seed() + 6};
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
        const ShapeContact a = shape_capsule_contact(&home, (Capsule){offset, 1.2f, 0.3f});
        const ShapeContact b =
            shape_capsule_contact(&away, (Capsule){vec3_add(far, offset), 1.2f, 0.3f});
        CHECK(a.distance == b.distance && vec3_equal(a.normal, b.normal));
    }
}

// Between its ends a core is nearest where it is perpendicular to the distance, however long it is
// and however short the distance.
TEST(normals_at_long_cores_are_level)
{
    Dice dice = {test_seed() + 8};
    int count = 0;
    for (int i = 0; i < 28000 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_roll(&dice, (ShapeKind)(i % 2), TURN_FREE, 8, 4);
        Capsule capsule = {dice_point(&dice, &c.reference), 40, 0};
        capsule.base.y -= dice_range(&dice, 0, 40);
        const ShapeContact contact = shape_capsule_contact(&c.placed, capsule);
        const float along = contact.point.y - capsule.base.y;
        if (contact.distance > 1e-4f && along > 0.1f && along < 39.9f) {
            count += 1;
            CHECK_NEAR(contact.normal.y, 0, 4e-6);
        }
    }
    CHECK(count > 5000);
}

// Pushing out by what the contact says, a few times, ends outside.
TEST(push_out_converges)
{
    Dice dice = {test_seed() + 7};
    for (int i = 0; i < 14000 && test_is_passing(); i++) {
        const ShapeCase c = shape_case_at(&dice, i, 8, 4);
        Capsule capsule = dice_capsule(&dice, &c.reference);
        for (int k = 0; k < 2; k++) {
            const ShapeContact contact = shape_capsule_contact(&c.placed, capsule);
            if (contact.distance < 0) {
                capsule.base = vec3_mad(capsule.base, contact.normal, -contact.distance);
            }
        }
        CHECK(shape_capsule_contact(&c.placed, capsule).distance >= -2e-5f);
    }
}

static void hash_vec3(Hash64 *hash, Vec3 v)
{
    hash_f32(hash, v.x);
    hash_f32(hash, v.y);
    hash_f32(hash, v.z);
}

// The same bits from every compiler, at every optimisation, and in WebAssembly.
TEST(golden_hash)
{
    Dice dice = {42};
    Hash64 hash = HASH64_INIT;
    for (int i = 0; i < 56000; i++) {
        const ShapeCase c = shape_case_at(&dice, i, 16, 64);
        const Capsule capsule = dice_capsule(&dice, &c.reference);
        const ShapeContact contact = shape_capsule_contact(&c.placed, capsule);
        hash_vec3(&hash, c.placed.axis_x);
        hash_vec3(&hash, c.placed.bounds.min);
        hash_f32(&hash, contact.distance);
        hash_vec3(&hash, contact.normal);
        hash_vec3(&hash, contact.point);
        const float length = dice_range(&dice, 0, 8);
        const Vec3 way = vec3_scale(dice_direction(&dice), length);
        ShapeHit hit = {0, VEC3_ZERO, VEC3_ZERO};
        hash_u32(&hash, shape_ray(&c.placed, capsule.base, dice_direction(&dice), 100, &hit));
        hash_f32(&hash, hit.distance);
        hash_vec3(&hash, hit.normal);
        hash_u32(&hash, shape_sweep(&c.placed, capsule, way, &hit));
        hash_f32(&hash, hit.distance);
        hash_vec3(&hash, hit.normal);
    }
    CHECK_INT(hash.state, 0x3955431c8c0c45ceull);
}
