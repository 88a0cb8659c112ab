// Sine, cosine, arc tangent, normalising and quaternions from additions, multiplications, divisions
// and square roots in a fixed order. Where math.h says total, what comes out is finite whatever
// goes in: the bits of a NaN differ between machines and would end up in a state hash.
//
// The polynomials are minimax fits (Remez) of the quotients named beside them; the coefficients are
// written as the floats they are.
#include "core/base/math.h"

// Larger angles are taken as zero: a float of that size is not a meaningful angle, and below it the
// quadrant fits an int32_t.
#define ANGLE_MAX 1073741824.0f

// pi/2 = HALF_PI_HIGH + HALF_PI_LOW. The high part has 22 bits, so its product with a quadrant
// number below 2^30 is exact in a double.
#define HALF_PI_HIGH      0x1.921fbp+0
#define HALF_PI_LOW       0x1.5110b4611a626p-22
#define QUADRANTS_PER_RAD 0x1.45f306dc9c883p-1 // 2/pi

#define HALF_PI       0x1.921fb6p+0f
#define TWO_PI_DOUBLE 0x1.921fb54442d18p+2

// (sin(r)/r - 1) / r^2 and (cos(r) - 1 + r^2/2) / r^4, both in z = r^2, for |r| <= pi/4.
static float sin_polynomial(float r)
{
    const float z = r * r;
    const float p = (-0x1.98da08p-13f * z + 0x1.1105b2p-7f) * z - 0x1.55554p-3f;
    return r + r * (z * p);
}

static float cos_polynomial(float r)
{
    const float z = r * r;
    const float p = (0x1.9a020ap-16f * z - 0x1.6c0c8ap-10f) * z + 0x1.55554ap-5f;
    return 1.0f - (0.5f * z - z * z * p);
}

// sin(radians + turn * pi/2)
static float sin_turned(float radians, uint32_t turn)
{
    if (!(radians > -ANGLE_MAX && radians < ANGLE_MAX)) {
        radians = 0;
    }
    const double quadrants = (double)radians * QUADRANTS_PER_RAD;
    const int32_t nearest = (int32_t)(quadrants + (quadrants < 0 ? -0.5 : 0.5));
    const double rest = (double)radians - nearest * HALF_PI_HIGH - nearest * HALF_PI_LOW;
    const float r = (float)rest;
    const uint32_t quadrant = ((uint32_t)nearest + turn) & 3;
    const float value = (quadrant & 1) != 0 ? cos_polynomial(r) : sin_polynomial(r);
    return (quadrant & 2) != 0 ? -value : value;
}

float math_sin(float radians)
{
    return sin_turned(radians, 0);
}

float math_cos(float radians)
{
    return sin_turned(radians, 1);
}

// (atan(a)/a - 1) / a^2 in s = a^2, for 0 <= a <= 1.
static float atan_polynomial(float a)
{
    const float s = a * a;
    float p = 0x1.57b3f2p-9f;
    p = p * s - 0x1.efdceep-7f;
    p = p * s + 0x1.50deccp-5f;
    p = p * s - 0x1.2dbd84p-4f;
    p = p * s + 0x1.b11bb8p-4f;
    p = p * s - 0x1.22875ep-3f;
    p = p * s + 0x1.99674p-3f;
    p = p * s - 0x1.55546cp-2f;
    return a + a * (s * p);
}

float math_atan2(float y, float x)
{
    const float ax = math_abs(x);
    const float ay = math_abs(y);
    const float larger = math_max(ax, ay);
    if (!math_is_finite(ax) || !math_is_finite(ay) || larger == 0) {
        return 0;
    }
    float angle = atan_polynomial(math_min(ax, ay) / larger);
    if (ay > ax) {
        angle = HALF_PI - angle;
    }
    if (x < 0) {
        angle = MATH_PI - angle;
    }
    return y < 0 ? -angle : angle;
}

float math_wrap_angle(float radians)
{
    if (radians >= -MATH_PI && radians < MATH_PI) {
        return radians;
    }
    if (!(radians > -ANGLE_MAX && radians < ANGLE_MAX)) {
        return 0;
    }
    const double turns = (double)radians / TWO_PI_DOUBLE;
    const int32_t nearest = (int32_t)(turns + (turns < 0 ? -0.5 : 0.5));
    const double rest =
        (double)radians - 4.0 * nearest * HALF_PI_HIGH - 4.0 * nearest * HALF_PI_LOW;
    const float wrapped = (float)rest;
    return wrapped >= MATH_PI || wrapped < -MATH_PI ? -MATH_PI : wrapped;
}

// Between these the sum of squares neither underflows to something inexact nor overflows.
#define SQUARE_MIN 1e-36f
#define SQUARE_MAX 1e36f
// Brings the longest finite vector (5.9e38) and the shortest that has to come here (1e18) between
// them.
#define SHRINK 1e-21f

Vec3 vec3_normalise(Vec3 a)
{
    float square = vec3_dot(a, a);
    if (square > SQUARE_MAX && vec3_is_finite(a)) {
        a = vec3_scale(a, SHRINK);
        square = vec3_dot(a, a);
    }
    if (!(square >= SQUARE_MIN && square <= SQUARE_MAX)) {
        return VEC3_ZERO;
    }
    return vec3_scale(a, 1.0f / math_sqrt(square));
}

static float quat_dot(Quat a, Quat b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

static Quat quat_scale(Quat q, float s)
{
    return (Quat){q.x * s, q.y * s, q.z * s, q.w * s};
}

Quat quat_normalise(Quat q)
{
    float square = quat_dot(q, q);
    if (square > SQUARE_MAX && quat_is_finite(q)) {
        q = quat_scale(q, SHRINK);
        square = quat_dot(q, q);
    }
    if (!(square >= SQUARE_MIN && square <= SQUARE_MAX)) {
        return QUAT_IDENTITY;
    }
    return quat_scale(q, 1.0f / math_sqrt(square));
}

Quat quat_multiply(Quat a, Quat b)
{
    return (Quat){
        a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    };
}

// v + w·t + u × t with t = 2 (u × v), u the vector part.
Vec3 quat_rotate(Quat q, Vec3 v)
{
    const Vec3 u = {q.x, q.y, q.z};
    const Vec3 t = vec3_scale(vec3_cross(u, v), 2.0f);
    return vec3_add(vec3_mad(v, t, q.w), vec3_cross(u, t));
}

Quat quat_from_axis_angle(Vec3 unit_axis, float radians)
{
    const float half = radians * 0.5f;
    const Vec3 v = vec3_scale(unit_axis, math_sin(half));
    return (Quat){v.x, v.y, v.z, math_cos(half)};
}

Quat quat_from_yaw(float radians)
{
    const float half = radians * 0.5f;
    return (Quat){0, math_sin(half), 0, math_cos(half)};
}

Quat quat_integrate(Quat q, Vec3 angular_velocity, float seconds)
{
    const float speed = vec3_length(angular_velocity);
    const Vec3 axis = vec3_normalise(angular_velocity);
    const Quat turn = quat_from_axis_angle(axis, speed * seconds);
    return quat_normalise(quat_multiply(turn, q));
}

Quat quat_nlerp(Quat a, Quat b, float t)
{
    const float side = quat_dot(a, b) < 0 ? -t : t;
    const float rest = 1.0f - t;
    return quat_normalise((Quat){a.x * rest + b.x * side, a.y * rest + b.y * side,
                                 a.z * rest + b.z * side, a.w * rest + b.w * side});
}
