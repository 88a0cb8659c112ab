// Deterministic float32 mathematics: only + - * /, sqrt and floor, in a fixed order, so that every
// compiler and WebAssembly give the same bits. No libm call beyond sqrtf and floorf reaches state.
// y is up; rotations are unit quaternions; angles are radians.
//
// Sine, cosine, arc tangent, wrapping, normalising, integrating and interpolating are total: NaN,
// infinity and whatever overflows on the way give something finite, because the bits of a NaN are
// not the same everywhere.
//
// Error bounds (tests/unit/test_math.c measures them against libm in double precision):
//   math_sin, math_cos           1e-7 for |x| < 2^30; any other x counts as 0
//   math_atan2                   3.5e-7; 0 for (0, 0) and where an argument is not finite
//   math_wrap_angle              2.5e-7 for |x| < 2^30; any other x gives 0
//   vec3_normalise               |length - 1| <= 2.5e-7 from length 1.1e-18 up; below 0.9e-18, and
//                                where a component is not finite, it gives zero
//   quat_normalise               the same, with the identity in place of zero
//   quat_rotate                  6e-7 |v| for unit q
//   quat_multiply                3e-7 a component for unit quaternions
//   quat_from_axis_angle, _yaw   1.5e-7 a component for |radians| < 2^30
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MATH_PI 3.14159265358979f
// How far the squared length of a quaternion in a file may be from 1 to be kept as it is written.
#define QUAT_UNIT_TOLERANCE 1e-6f

typedef struct Vec3 {
    float x, y, z;
} Vec3;

typedef struct Quat {
    float x, y, z, w;
} Quat;

#define QUAT_IDENTITY ((Quat){0, 0, 0, 1})
#define VEC3_ZERO     ((Vec3){0, 0, 0})

typedef struct Aabb {
    Vec3 min, max;
} Aabb;

float math_sin(float radians);
float math_cos(float radians);
float math_atan2(float y, float x);
// Into [-MATH_PI, MATH_PI); what is in there already stays as it is.
float math_wrap_angle(float radians);

static inline float math_sqrt(float x)
{
    return __builtin_sqrtf(x);
}
static inline float math_floor(float x)
{
    return __builtin_floorf(x);
}
static inline float math_abs(float x)
{
    return x < 0 ? -x : x;
}
static inline float math_min(float a, float b)
{
    return a < b ? a : b;
}
static inline float math_max(float a, float b)
{
    return a > b ? a : b;
}
static inline float math_clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}
static inline bool math_is_finite(float x)
{
    return x - x == 0;
}
// floor(x) as an integer, clamped to ±2^30 so that native and WASM agree; NaN gives -2^30.
static inline int32_t math_floor_i32(float x)
{
    if (!(x >= -1073741824.0f)) {
        return -1073741824;
    }
    if (x >= 1073741824.0f) {
        return 1073741824;
    }
    const int32_t truncated = (int32_t)x;
    return truncated - (x < (float)truncated);
}

static inline Vec3 vec3(float x, float y, float z)
{
    return (Vec3){x, y, z};
}
static inline Vec3 vec3_add(Vec3 a, Vec3 b)
{
    return (Vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline Vec3 vec3_sub(Vec3 a, Vec3 b)
{
    return (Vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline Vec3 vec3_scale(Vec3 a, float s)
{
    return (Vec3){a.x * s, a.y * s, a.z * s};
}
// a + b * s
static inline Vec3 vec3_mad(Vec3 a, Vec3 b, float s)
{
    return (Vec3){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
}
static inline Vec3 vec3_neg(Vec3 a)
{
    return (Vec3){-a.x, -a.y, -a.z};
}
static inline float vec3_dot(Vec3 a, Vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline Vec3 vec3_cross(Vec3 a, Vec3 b)
{
    return (Vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float vec3_length_squared(Vec3 a)
{
    return vec3_dot(a, a);
}
static inline float vec3_length(Vec3 a)
{
    return math_sqrt(vec3_dot(a, a));
}
static inline Vec3 vec3_min(Vec3 a, Vec3 b)
{
    return (Vec3){math_min(a.x, b.x), math_min(a.y, b.y), math_min(a.z, b.z)};
}
static inline Vec3 vec3_max(Vec3 a, Vec3 b)
{
    return (Vec3){math_max(a.x, b.x), math_max(a.y, b.y), math_max(a.z, b.z)};
}
static inline Vec3 vec3_lerp(Vec3 a, Vec3 b, float t)
{
    return vec3_mad(a, vec3_sub(b, a), t);
}
static inline bool vec3_equal(Vec3 a, Vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
static inline bool vec3_is_finite(Vec3 a)
{
    return math_is_finite(a.x) && math_is_finite(a.y) && math_is_finite(a.z);
}
// Zero for a vector too short to have a direction.
Vec3 vec3_normalise(Vec3 a);

static inline Quat quat_conjugate(Quat q)
{
    return (Quat){-q.x, -q.y, -q.z, q.w};
}
Quat quat_multiply(Quat a, Quat b); // first b, then a
Vec3 quat_rotate(Quat q, Vec3 v);
Quat quat_normalise(Quat q); // identity for one too short
Quat quat_from_axis_angle(Vec3 unit_axis, float radians);
Quat quat_from_yaw(float radians); // about +y
// Advances q by an angular velocity (radians/s, world axes) over seconds; the result is unit.
Quat quat_integrate(Quat q, Vec3 angular_velocity, float seconds);
// Normalised linear interpolation along the shorter arc.
Quat quat_nlerp(Quat a, Quat b, float t);
static inline bool quat_is_finite(Quat q)
{
    return math_is_finite(q.x) && math_is_finite(q.y) && math_is_finite(q.z) && math_is_finite(q.w);
}

static inline bool aabb_overlaps(Aabb a, Aabb b)
{
    return a.min.x <= b.max.x && a.max.x >= b.min.x && a.min.y <= b.max.y && a.max.y >= b.min.y &&
           a.min.z <= b.max.z && a.max.z >= b.min.z;
}
static inline Aabb aabb_grow(Aabb a, float by)
{
    const Vec3 d = {by, by, by};
    return (Aabb){vec3_sub(a.min, d), vec3_add(a.max, d)};
}
static inline Aabb aabb_union(Aabb a, Aabb b)
{
    return (Aabb){vec3_min(a.min, b.min), vec3_max(a.max, b.max)};
}
static inline bool aabb_contains(Aabb a, Vec3 p)
{
    return p.x >= a.min.x && p.x <= a.max.x && p.y >= a.min.y && p.y <= a.max.y && p.z >= a.min.z &&
           p.z <= a.max.z;
}
