// Deterministic mathematics: the error bounds stated in math.h, measured against libm in double
// precision; the behaviour at and beyond the limits; and one expected hash over many values of
// every function, which is the same in every build.
#include "core/base/hash.h"
#include "core/base/math.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#define SIN_COS_BOUND   1e-7
#define ATAN2_BOUND     3.5e-7
#define WRAP_BOUND      2.5e-7
#define NORMALISE_BOUND 2.5e-7
#define ROTATE_BOUND    6e-7
#define MULTIPLY_BOUND  3e-7
#define AXIS_BOUND      1.5e-7

// Changes only when a function is meant to give other bits; then every scenario changes too.
#define GOLDEN 0xd35599e38fd772d5ull

#define ANGLE_BITS_END 0x4e800000u // 2^30

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool is_finite3(Vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static double length3(Vec3 v)
{
    return sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
}

static double length4(Quat q)
{
    return sqrt((double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z + (double)q.w * q.w);
}

static Vec3 random_vec3(Rng *rng, float extent)
{
    const float x = rng_range(rng, -extent, extent);
    const float y = rng_range(rng, -extent, extent);
    return vec3(x, y, rng_range(rng, -extent, extent));
}

// Any bits at all: huge, tiny, infinite, NaN.
static Vec3 wild_vec3(Rng *rng)
{
    const float x = from_bits(rng_u32(rng));
    const float y = from_bits(rng_u32(rng));
    return vec3(x, y, from_bits(rng_u32(rng)));
}

static Quat random_quat(Rng *rng)
{
    const Vec3 v = random_vec3(rng, 1);
    return quat_normalise((Quat){v.x, v.y, v.z, rng_range(rng, -1, 1)});
}

// Larger of the two and of what was seen; keeps the argument for the message.
typedef struct Worst {
    double error;
    double at;
} Worst;

static void worst_add(Worst *worst, double error, double at)
{
    if (!(error <= worst->error)) {
        worst->error = error;
        worst->at = at;
    }
}

static void worst_check(const char *what, Worst worst, double bound)
{
    if (!(worst.error <= bound)) {
        test_fail(__FILE__, __LINE__, "%s is off by %g at %.9g, bound %g", what, worst.error,
                  worst.at, bound);
    }
}

static void sin_cos_add(Worst *sine, Worst *cosine, float x)
{
    worst_add(sine, fabs((double)math_sin(x) - sin((double)x)), x);
    worst_add(cosine, fabs((double)math_cos(x) - cos((double)x)), x);
}

TEST(math_sin_cos_keep_their_bound_over_all_magnitudes)
{
    Worst sine = {0};
    Worst cosine = {0};
    // Every 4,001st float below 2^30, of either sign.
    for (uint32_t bits = 0; bits < ANGLE_BITS_END; bits += 4001) {
        sin_cos_add(&sine, &cosine, from_bits(bits));
        sin_cos_add(&sine, &cosine, from_bits(bits | 0x80000000u));
    }
    worst_check("sine", sine, SIN_COS_BOUND);
    worst_check("cosine", cosine, SIN_COS_BOUND);
}

TEST(math_sin_cos_keep_their_bound_in_a_dense_sweep)
{
    Worst sine = {0};
    Worst cosine = {0};
    for (int32_t i = -400000; i <= 400000; i++) {
        sin_cos_add(&sine, &cosine, (float)i * 0.000031f);
    }
    // Around the seams of the reduction, float by float.
    for (int32_t quadrant = -41; quadrant <= 41; quadrant++) {
        const float seam = (float)(quadrant * 0.78539816339744830962);
        uint32_t bits;
        memcpy(&bits, &seam, sizeof bits);
        for (uint32_t i = 0; i < 400; i++) {
            sin_cos_add(&sine, &cosine, from_bits(bits + i - 200));
        }
    }
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t i = 0; i < 300000; i++) {
        sin_cos_add(&sine, &cosine, rng_range(&rng, -10000, 10000));
    }
    worst_check("sine", sine, SIN_COS_BOUND);
    worst_check("cosine", cosine, SIN_COS_BOUND);
}

TEST(math_sin_cos_are_odd_even_and_inside_one)
{
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t i = 0; i < 300000 && test_is_passing(); i++) {
        const float x = from_bits(rng_u32(&rng) & 0x7fffffffu);
        const float s = math_sin(x);
        const float c = math_cos(x);
        CHECK(s >= -1 && s <= 1 && c >= -1 && c <= 1);
        CHECK(math_sin(-x) == -s);
        CHECK(math_cos(-x) == c);
    }
    CHECK(math_sin(0) == 0);
    CHECK(math_cos(0) == 1);
}

TEST(math_angles_out_of_range_count_as_zero)
{
    static const float angles[] = {0x1p30f, 3.4e38f, INFINITY, NAN};
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; i++) {
        CHECK(math_sin(angles[i]) == 0);
        CHECK(math_cos(angles[i]) == 1);
        CHECK(math_wrap_angle(angles[i]) == 0);
        CHECK(math_sin(-angles[i]) == 0);
        CHECK(math_cos(-angles[i]) == 1);
        CHECK(math_wrap_angle(-angles[i]) == 0);
    }
    CHECK_NEAR(math_sin(0x1.fffffep29f), sin((double)0x1.fffffep29f), SIN_COS_BOUND);
}

static void atan2_add(Worst *worst, float y, float x)
{
    worst_add(worst, fabs((double)math_atan2(y, x) - atan2((double)y, (double)x)), (double)y / x);
}

TEST(math_atan2_keeps_its_bound)
{
    Worst worst = {0};
    for (int32_t i = 1; i <= 400000; i++) {
        const float a = (float)i * (1.0f / 400000.0f);
        atan2_add(&worst, a, 1);
        atan2_add(&worst, 1, -a);
        atan2_add(&worst, -a, -1);
    }
    Rng rng = rng_make(test_seed(), 3);
    for (uint32_t i = 0; i < 300000; i++) {
        const Vec3 wild = wild_vec3(&rng);
        // Minus zero counts as zero here, and libm returns -pi.
        if (isfinite(wild.x) && isfinite(wild.y) && wild.y != 0) {
            atan2_add(&worst, wild.y, wild.x);
        }
        const Vec3 tame = random_vec3(&rng, 1);
        atan2_add(&worst, tame.y, tame.x);
    }
    worst_check("atan2", worst, ATAN2_BOUND);
}

TEST(math_atan2_on_the_axes_and_outside)
{
    CHECK(math_atan2(0, 1) == 0);
    CHECK(math_atan2(0, -1) == MATH_PI);
    CHECK_NEAR(math_atan2(1, 0), 1.5707963267948966, 1e-7);
    CHECK_NEAR(math_atan2(-1, 0), -1.5707963267948966, 1e-7);
    CHECK(math_atan2(0, 0) == 0);
    CHECK(math_atan2(-0.0f, -0.0f) == 0);
    CHECK(math_atan2(NAN, 1) == 0);
    CHECK(math_atan2(1, NAN) == 0);
    CHECK(math_atan2(INFINITY, 1) == 0);
    CHECK(math_atan2(1, -INFINITY) == 0);
    CHECK_NEAR(math_atan2(3.4e38f, -3.4e38f), 2.356194490192345, ATAN2_BOUND);
    CHECK_NEAR(math_atan2(1e-45f, 1e-45f), 0.7853981633974483, ATAN2_BOUND);
}

TEST(math_wrap_angle_is_in_range_and_congruent)
{
    Worst worst = {0};
    Rng rng = rng_make(test_seed(), 4);
    for (uint32_t i = 0; i < 300000 && test_is_passing(); i++) {
        const float x =
            i % 2 == 0 ? rng_range(&rng, -1000, 1000)
                       : from_bits(rng_below(&rng, ANGLE_BITS_END) | (rng_u32(&rng) & 0x80000000u));
        const float wrapped = math_wrap_angle(x);
        CHECK(wrapped >= -MATH_PI && wrapped < MATH_PI);
        CHECK(math_wrap_angle(wrapped) == wrapped);
        const double chord =
            hypot(sin((double)wrapped) - sin((double)x), cos((double)wrapped) - cos((double)x));
        worst_add(&worst, chord, x);
    }
    worst_check("wrap", worst, WRAP_BOUND);
    // MATH_PI is a little more than pi.
    CHECK(math_wrap_angle(MATH_PI) == -0x1.921fb4p+1f);
    CHECK(math_wrap_angle(0x1.921fb4p+1f) == 0x1.921fb4p+1f);
    CHECK(math_wrap_angle(-MATH_PI) == -MATH_PI);
    CHECK(math_wrap_angle(1.25f) == 1.25f);
}

TEST(math_floor_i32_never_leaves_its_range)
{
    CHECK_INT(math_floor_i32(2.5f), 2);
    CHECK_INT(math_floor_i32(-2.5f), -3);
    CHECK_INT(math_floor_i32(-2.0f), -2);
    CHECK_INT(math_floor_i32(-0.0f), 0);
    CHECK_INT(math_floor_i32(1e30f), 1073741824);
    CHECK_INT(math_floor_i32(INFINITY), 1073741824);
    CHECK_INT(math_floor_i32(-1e30f), -1073741824);
    CHECK_INT(math_floor_i32(-INFINITY), -1073741824);
    CHECK_INT(math_floor_i32(NAN), -1073741824);
    Rng rng = rng_make(test_seed(), 5);
    for (uint32_t i = 0; i < 100000 && test_is_passing(); i++) {
        const float x = rng_range(&rng, -1e6f, 1e6f);
        CHECK_INT(math_floor_i32(x), (int32_t)floor((double)x));
        CHECK(math_floor(x) == (float)floor((double)x));
    }
}

TEST(math_small_helpers)
{
    CHECK(math_is_finite(3.4e38f) && math_is_finite(0) && math_is_finite(-1e-45f));
    CHECK(!math_is_finite(INFINITY) && !math_is_finite(-INFINITY) && !math_is_finite(NAN));
    CHECK(math_clamp(5, 0, 1) == 1 && math_clamp(-5, 0, 1) == 0 && math_clamp(0.5f, 0, 1) == 0.5f);
    CHECK(math_min(1, 2) == 1 && math_max(1, 2) == 2 && math_abs(-3) == 3);
    const Vec3 a = {1, 2, 3};
    const Vec3 b = {4, -5, 6};
    CHECK(vec3_equal(vec3_cross(a, b), vec3(27, 6, -13)));
    CHECK(vec3_dot(a, b) == 12);
    CHECK(vec3_equal(vec3_mad(a, b, 2), vec3(9, -8, 15)));
    CHECK(vec3_equal(vec3_lerp(a, b, 0.5f), vec3(2.5f, -1.5f, 4.5f)));
    CHECK(vec3_equal(vec3_min(a, b), vec3(1, -5, 3)));
    CHECK(vec3_equal(vec3_max(a, b), vec3(4, 2, 6)));
    const Aabb box = {{0, 0, 0}, {1, 1, 1}};
    CHECK(aabb_contains(box, vec3(1, 0, 1)) && !aabb_contains(box, vec3(1, 0, 1.1f)));
    CHECK(aabb_overlaps(box, (Aabb){{1, 1, 1}, {2, 2, 2}}));
    CHECK(!aabb_overlaps(box, (Aabb){{1.1f, 0, 0}, {2, 2, 2}}));
    const Aabb grown = aabb_grow(box, 1);
    CHECK(vec3_equal(grown.min, vec3(-1, -1, -1)) && vec3_equal(grown.max, vec3(2, 2, 2)));
    const Aabb both = aabb_union(box, (Aabb){{2, -1, 0}, {3, 0, 0.5f}});
    CHECK(vec3_equal(both.min, vec3(0, -1, 0)) && vec3_equal(both.max, vec3(3, 1, 1)));
}

TEST(vec3_normalise_is_unit_in_the_right_direction)
{
    Worst length = {0};
    Worst direction = {0};
    Rng rng = rng_make(test_seed(), 6);
    for (uint32_t i = 0; i < 300000; i++) {
        const float size = i % 2 == 0 ? 1.0f : ldexpf(1.0f, (int)rng_below(&rng, 180) - 57);
        const Vec3 v = random_vec3(&rng, size);
        const double want = length3(v);
        if (want < 1.1e-18) {
            continue;
        }
        const Vec3 n = vec3_normalise(v);
        worst_add(&length, fabs(length3(n) - 1), want);
        worst_add(&direction, fabs(n.x - v.x / want) + fabs(n.y - v.y / want), want);
    }
    worst_check("length", length, NORMALISE_BOUND);
    worst_check("direction", direction, 2 * NORMALISE_BOUND);
}

TEST(vec3_normalise_is_total)
{
    CHECK(vec3_equal(vec3_normalise(vec3(0, 0, 0)), VEC3_ZERO));
    CHECK(vec3_equal(vec3_normalise(vec3(1e-19f, 0, 0)), VEC3_ZERO));
    CHECK(vec3_equal(vec3_normalise(vec3(1e-45f, -1e-45f, 0)), VEC3_ZERO));
    CHECK_NEAR(vec3_normalise(vec3(0, -2e-18f, 0)).y, -1, NORMALISE_BOUND);
    CHECK_NEAR(length3(vec3_normalise(vec3(3.4e38f, -3.4e38f, 3.4e38f))), 1, NORMALISE_BOUND);
    CHECK_NEAR(vec3_normalise(vec3(0, 0, -1e30f)).z, -1, NORMALISE_BOUND);
    CHECK_NEAR(length3(vec3_normalise(vec3(1e18f, 1e18f, 1e-18f))), 1, NORMALISE_BOUND);
    CHECK(vec3_equal(vec3_normalise(vec3(INFINITY, 1, 1)), VEC3_ZERO));
    CHECK(vec3_equal(vec3_normalise(vec3(1, NAN, 1)), VEC3_ZERO));
    Rng rng = rng_make(test_seed(), 7);
    for (uint32_t i = 0; i < 100000 && test_is_passing(); i++) {
        const Vec3 v = wild_vec3(&rng);
        const Vec3 n = vec3_normalise(v);
        CHECK(is_finite3(n));
        CHECK(vec3_equal(n, VEC3_ZERO) || fabs(length3(n) - 1) <= NORMALISE_BOUND);
    }
}

TEST(quat_normalise_is_total)
{
    Worst worst = {0};
    Rng rng = rng_make(test_seed(), 8);
    for (uint32_t i = 0; i < 300000; i++) {
        const Vec3 v = i % 2 == 0 ? wild_vec3(&rng) : random_vec3(&rng, 1);
        const float w = i % 4 == 0 ? from_bits(rng_u32(&rng)) : rng_range(&rng, -1, 1);
        const Quat q = {v.x, v.y, v.z, w};
        worst_add(&worst, fabs(length4(quat_normalise(q)) - 1), i);
    }
    worst_check("quat_normalise", worst, NORMALISE_BOUND);
    const Quat none = quat_normalise((Quat){0, 0, 1e-20f, 0});
    CHECK(none.x == 0 && none.y == 0 && none.z == 0 && none.w == 1);
    const Quat bad = quat_normalise((Quat){0, NAN, 1, 0});
    CHECK(bad.x == 0 && bad.y == 0 && bad.z == 0 && bad.w == 1);
    CHECK_NEAR(quat_normalise((Quat){0, 3.4e38f, 0, 0}).y, 1, NORMALISE_BOUND);
}

typedef struct Matrix {
    double m[3][3];
} Matrix;

// The rotation matrix of q, in double precision.
static Matrix matrix_of(Quat q)
{
    const double x = q.x, y = q.y, z = q.z, w = q.w;
    return (Matrix){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                     {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                     {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

static double apply_error(Matrix m, Vec3 v, Vec3 got)
{
    const double in[3] = {v.x, v.y, v.z};
    const double out[3] = {got.x, got.y, got.z};
    double sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const double want = m.m[i][0] * in[0] + m.m[i][1] * in[1] + m.m[i][2] * in[2];
        sum += (out[i] - want) * (out[i] - want);
    }
    return sqrt(sum);
}

TEST(quat_rotate_equals_its_matrix)
{
    Worst worst = {0};
    Rng rng = rng_make(test_seed(), 9);
    for (uint32_t i = 0; i < 200000; i++) {
        const Quat q = random_quat(&rng);
        const Vec3 v = random_vec3(&rng, 100);
        worst_add(&worst, apply_error(matrix_of(q), v, quat_rotate(q, v)) / length3(v), i);
    }
    worst_check("quat_rotate", worst, ROTATE_BOUND);
}

TEST(quat_multiply_turns_first_by_b_then_by_a)
{
    Worst worst = {0};
    Worst product = {0};
    Rng rng = rng_make(test_seed(), 10);
    for (uint32_t i = 0; i < 100000; i++) {
        const Quat a = random_quat(&rng);
        const Quat b = random_quat(&rng);
        const Quat got = quat_multiply(a, b);
        const Vec3 v = random_vec3(&rng, 1);
        const Vec3 one = quat_rotate(got, v);
        const Vec3 two = quat_rotate(a, quat_rotate(b, v));
        worst_add(&worst, length3(vec3_sub(one, two)), i);
        const double w =
            (double)a.w * b.w - (double)a.x * b.x - (double)a.y * b.y - (double)a.z * b.z;
        worst_add(&product, fabs(got.w - w), i);
    }
    worst_check("rotation by the product", worst, 4 * ROTATE_BOUND);
    worst_check("product", product, MULTIPLY_BOUND);
    const Quat back = quat_multiply(quat_from_yaw(1), quat_conjugate(quat_from_yaw(1)));
    CHECK_NEAR(back.w, 1, MULTIPLY_BOUND);
    CHECK_NEAR(back.y, 0, MULTIPLY_BOUND);
}

TEST(quat_axis_angle_and_yaw_have_the_right_sense)
{
    Worst worst = {0};
    for (int32_t i = -20000; i <= 20000; i++) {
        const float angle = (float)i * 0.001f;
        const Quat q = quat_from_axis_angle(vec3(0, 1, 0), angle);
        worst_add(&worst, fabs(q.y - sin((double)angle / 2)), angle);
        worst_add(&worst, fabs(q.w - cos((double)angle / 2)), angle);
        const Quat yaw = quat_from_yaw(angle);
        CHECK(yaw.x == 0 && yaw.y == q.y && yaw.z == 0 && yaw.w == q.w);
    }
    worst_check("axis angle", worst, AXIS_BOUND);
    // Right-handed: +z turns to +x about +y, +x to +y about +z.
    const Vec3 x = quat_rotate(quat_from_yaw(MATH_PI / 2), vec3(0, 0, 1));
    CHECK_NEAR(x.x, 1, 1e-6);
    const Vec3 y = quat_rotate(quat_from_axis_angle(vec3(0, 0, 1), MATH_PI / 2), vec3(1, 0, 0));
    CHECK_NEAR(y.y, 1, 1e-6);
}

TEST(quat_integrate_equals_the_turn_and_stays_unit)
{
    // A full turn about a slanted axis in 600 steps comes back.
    const Vec3 axis = vec3_normalise(vec3(1, 2, -3));
    const Vec3 speed = vec3_scale(axis, 2 * MATH_PI / 10);
    const Quat start = quat_normalise((Quat){0.1f, 0.2f, 0.3f, 0.9f});
    Quat q = start;
    for (uint32_t i = 0; i < 600; i++) {
        q = quat_integrate(q, speed, 1.0f / 60.0f);
        CHECK_NEAR(length4(q), 1, NORMALISE_BOUND);
    }
    // One turn is minus one as a quaternion.
    CHECK_NEAR(q.x, -start.x, 2e-5);
    CHECK_NEAR(q.y, -start.y, 2e-5);
    CHECK_NEAR(q.z, -start.z, 2e-5);
    CHECK_NEAR(q.w, -start.w, 2e-5);
    // One step equals the turn about a world axis, applied after.
    const Quat want = quat_multiply(quat_from_axis_angle(axis, 0.5f), start);
    const Quat got = quat_integrate(start, vec3_scale(axis, 5), 0.1f);
    CHECK_NEAR(got.x, want.x, 1e-6);
    CHECK_NEAR(got.w, want.w, 1e-6);
    // No speed, no turn; nonsense in, unit out.
    const Quat still = quat_integrate(start, VEC3_ZERO, 1);
    CHECK_NEAR(still.x, start.x, 2e-7);
    static const float odd[] = {3.4e38f, INFINITY, NAN, 1e-30f};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        CHECK_NEAR(length4(quat_integrate(start, vec3(odd[i], 1, odd[i]), 1)), 1, NORMALISE_BOUND);
        CHECK_NEAR(length4(quat_integrate(start, vec3(1, 0, 0), odd[i])), 1, NORMALISE_BOUND);
    }
}

TEST(quat_nlerp_takes_the_shorter_arc)
{
    const Quat a = quat_from_yaw(0.2f);
    const Quat b = quat_from_yaw(1.2f);
    const Quat minus_b = {-b.x, -b.y, -b.z, -b.w};
    const Quat half = quat_nlerp(a, b, 0.5f);
    const Quat other = quat_nlerp(a, minus_b, 0.5f);
    CHECK_NEAR(half.y, sin(0.35), 1e-6);
    CHECK_NEAR(other.y, half.y, 1e-6);
    CHECK_NEAR(quat_nlerp(a, b, 0).y, a.y, 2e-7);
    CHECK_NEAR(quat_nlerp(a, b, 1).y, b.y, 2e-7);
    Rng rng = rng_make(test_seed(), 11);
    for (uint32_t i = 0; i < 10000 && test_is_passing(); i++) {
        const Quat q = quat_nlerp(random_quat(&rng), random_quat(&rng), rng_unit(&rng));
        CHECK_NEAR(length4(q), 1, NORMALISE_BOUND);
    }
    CHECK_NEAR(length4(quat_nlerp(a, b, NAN)), 1, NORMALISE_BOUND);
}

static void hash_vec3(Hash64 *hash, Vec3 v)
{
    hash_f32(hash, v.x);
    hash_f32(hash, v.y);
    hash_f32(hash, v.z);
}

static void hash_quat(Hash64 *hash, Quat q)
{
    hash_vec3(hash, vec3(q.x, q.y, q.z));
    hash_f32(hash, q.w);
}

static void hash_rotations(Hash64 *hash, Rng *rng)
{
    const Vec3 v = random_vec3(rng, 50);
    const Quat a = random_quat(rng);
    const Quat b = quat_from_axis_angle(vec3_normalise(v), rng_range(rng, -7, 7));
    hash_quat(hash, a);
    hash_quat(hash, b);
    hash_quat(hash, quat_multiply(a, b));
    hash_vec3(hash, quat_rotate(a, v));
    hash_quat(hash, quat_from_yaw(v.x));
    hash_quat(hash, quat_integrate(a, v, 1.0f / 60.0f));
    hash_quat(hash, quat_nlerp(a, b, rng_unit(rng)));
    hash_vec3(hash, vec3_cross(v, quat_rotate(b, v)));
    hash_f32(hash, vec3_length(v));
    hash_vec3(hash, vec3_lerp(v, vec3_cross(v, vec3(1, 2, 3)), 0.3f));
}

TEST(math_gives_the_same_bits_in_every_build)
{
    Hash64 hash = HASH64_INIT;
    for (uint32_t bits = 0; bits < ANGLE_BITS_END; bits += 10007) {
        const float x = from_bits(bits);
        hash_f32(&hash, math_sin(x));
        hash_f32(&hash, math_cos(-x));
        hash_f32(&hash, math_wrap_angle(-x));
        hash_f32(&hash, math_sqrt(x));
        hash_f32(&hash, math_floor(-x));
        hash_u32(&hash, (uint32_t)math_floor_i32(-x));
    }
    Rng rng = rng_make(20240229, 12);
    for (uint32_t i = 0; i < 200000; i++) {
        // Wild bits: everything total, from the whole range of floats, NaN and infinity included.
        const Vec3 wild = wild_vec3(&rng);
        const Vec3 tame = random_vec3(&rng, 1);
        hash_f32(&hash, math_sin(wild.x));
        hash_f32(&hash, math_cos(wild.x));
        hash_f32(&hash, math_atan2(wild.x, wild.y));
        hash_f32(&hash, math_atan2(tame.x, tame.y));
        hash_vec3(&hash, vec3_normalise(wild));
        hash_quat(&hash, quat_normalise((Quat){wild.x, wild.y, wild.z, wild.x}));
        hash_rotations(&hash, &rng);
    }
    if (hash.state != GOLDEN) {
        test_fail(__FILE__, __LINE__, "the hash is 0x%016llx", (unsigned long long)hash.state);
    }
}
