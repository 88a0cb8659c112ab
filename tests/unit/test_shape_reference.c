// See test_shape_reference.h.
#include "tests/unit/test_shape_reference.h"

#include "core/base/hash.h"
#include "core/base/limits.h"

#include <math.h>

Double3 double3_from(Vec3 v)
{
    return (Double3){(double)v.x, (double)v.y, (double)v.z};
}

Double3 double3_mad(Double3 a, Double3 b, double s)
{
    return (Double3){a.x + b.x * s, a.y + b.y * s, a.z + b.z * s};
}

double double3_dot(Double3 a, Double3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

double double3_length(Double3 a)
{
    return sqrt(double3_dot(a, a));
}

static Double3 cross(Double3 a, Double3 b)
{
    return (Double3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static Double3 sub(Double3 a, Double3 b)
{
    return double3_mad(a, b, -1);
}

static Double3 unit(Double3 a)
{
    const double length = double3_length(a);
    return (Double3){a.x / length, a.y / length, a.z / length};
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static void face_add(Reference *r, int a, int b, int c, int d)
{
    const int indices[2][3] = {{a, b, c}, {a, c, d}};
    for (int i = 0; i < (d < 0 ? 1 : 2); i++) {
        for (int k = 0; k < 3; k++) {
            r->triangles[r->triangle_count][k] = indices[i][k];
        }
        r->triangle_count += 1;
    }
}

static void mesh_make(Reference *r)
{
    const Double3 h = r->half;
    if (r->kind == SHAPE_BOX) {
        for (int i = 0; i < 8; i++) {
            r->vertices[r->vertex_count++] =
                (Double3){i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z};
        }
        face_add(r, 0, 4, 6, 2);
        face_add(r, 1, 3, 7, 5);
        face_add(r, 0, 1, 5, 4);
        face_add(r, 2, 6, 7, 3);
        face_add(r, 0, 2, 3, 1);
        face_add(r, 4, 5, 7, 6);
    } else if (r->kind == SHAPE_WEDGE) {
        // Even: x = -h, odd: x = +h. Front edge low, back edge low, back edge high.
        for (int i = 0; i < 6; i++) {
            r->vertices[r->vertex_count++] = (Double3){
                i % 2 != 0 ? h.x : -h.x, i / 2 == 2 ? h.y : -h.y, i / 2 == 0 ? -h.z : h.z};
        }
        face_add(r, 0, 1, 3, 2);
        face_add(r, 2, 3, 5, 4);
        face_add(r, 0, 4, 5, 1);
        face_add(r, 0, 2, 4, -1);
        face_add(r, 1, 5, 3, -1);
    }
}

Reference reference_make(Shape shape, Pose pose)
{
    Reference r = {.kind = shape.kind,
                   .half = double3_from(shape.half),
                   .position = double3_from(pose.position)};
    const Double3 v = double3_from((Vec3){pose.rotation.x, pose.rotation.y, pose.rotation.z});
    const double w = (double)pose.rotation.w;
    const double norm = double3_dot(v, v) + w * w;
    const Double3 local[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++) {
        // a + 2 w (v x a) + 2 v x (v x a), over the norm for a quaternion that is nearly unit.
        const Double3 once = cross(v, local[i]);
        const Double3 turned =
            double3_mad(double3_mad(local[i], once, 2 * w / norm), cross(v, once), 2 / norm);
        r.axes[i] = unit(turned);
    }
    mesh_make(&r);
    return r;
}

static Double3 to_local(const Reference *r, Double3 p)
{
    const Double3 v = sub(p, r->position);
    return (Double3){double3_dot(v, r->axes[0]), double3_dot(v, r->axes[1]),
                     double3_dot(v, r->axes[2])};
}

static Double3 local_direction(const Reference *r, Double3 v)
{
    return (Double3){double3_dot(v, r->axes[0]), double3_dot(v, r->axes[1]),
                     double3_dot(v, r->axes[2])};
}

static double segment_distance(Double3 a, Double3 b, Double3 p)
{
    const Double3 d = sub(b, a);
    const double square = double3_dot(d, d);
    const double t = square > 0 ? clamp(double3_dot(sub(p, a), d) / square, 0, 1) : 0;
    return double3_length(sub(p, double3_mad(a, d, t)));
}

// Signed distance to the triangle's plane in *height; returns the distance to the triangle itself.
static double triangle_distance(Double3 a, Double3 b, Double3 c, Double3 p, double *height)
{
    const Double3 n = unit(cross(sub(b, a), sub(c, a)));
    *height = double3_dot(n, sub(p, a));
    const Double3 foot = double3_mad(p, n, -*height);
    if (double3_dot(n, cross(sub(b, a), sub(foot, a))) >= 0 &&
        double3_dot(n, cross(sub(c, b), sub(foot, b))) >= 0 &&
        double3_dot(n, cross(sub(a, c), sub(foot, c))) >= 0) {
        return fabs(*height);
    }
    return fmin(segment_distance(a, b, p),
                fmin(segment_distance(b, c, p), segment_distance(c, a, p)));
}

static double mesh_distance(const Reference *r, Double3 p)
{
    double least = INFINITY;
    double height_most = -INFINITY;
    for (int i = 0; i < r->triangle_count; i++) {
        const int *t = r->triangles[i];
        double height;
        const double distance =
            triangle_distance(r->vertices[t[0]], r->vertices[t[1]], r->vertices[t[2]], p, &height);
        least = fmin(least, distance);
        height_most = fmax(height_most, height);
    }
    return height_most < 0 ? height_most : least;
}

double reference_point(const Reference *r, Double3 point)
{
    const Double3 p = to_local(r, point);
    if (r->kind == SHAPE_SPHERE) {
        return double3_length(p) - r->half.x;
    }
    if (r->kind == SHAPE_CYLINDER) {
        const double radial = sqrt(p.x * p.x + p.z * p.z) - r->half.x;
        const double axial = fabs(p.y) - r->half.y;
        if (radial <= 0 || axial <= 0) {
            return fmax(radial, axial);
        }
        return sqrt(radial * radial + axial * axial);
    }
    return mesh_distance(r, p);
}

// The signed distance is convex along the core, so thirds find its least.
double reference_core(const Reference *r, Double3 base, double height)
{
    const Double3 up = {0, 1, 0};
    double low = 0;
    double high = height;
    while (high - low > 1e-8) {
        const double third = (high - low) / 3;
        if (reference_point(r, double3_mad(base, up, low + third)) <
            reference_point(r, double3_mad(base, up, high - third))) {
            high -= third;
        } else {
            low += third;
        }
    }
    return fmin(reference_point(r, double3_mad(base, up, (low + high) / 2)),
                fmin(reference_point(r, base), reference_point(r, double3_mad(base, up, height))));
}

static double support(const Reference *r, Double3 n)
{
    if (r->kind == SHAPE_SPHERE) {
        return r->half.x;
    }
    if (r->kind == SHAPE_CYLINDER) {
        return r->half.x * sqrt(n.x * n.x + n.z * n.z) + r->half.y * fabs(n.y);
    }
    double most = -INFINITY;
    for (int i = 0; i < r->vertex_count; i++) {
        most = fmax(most, double3_dot(n, r->vertices[i]));
    }
    return most;
}

double reference_depth(const Reference *r, Double3 base, double height, Double3 n)
{
    return support(r, local_direction(r, n)) - double3_dot(n, sub(base, r->position)) -
           fmin(height * n.y, 0);
}

double reference_depth_least(const Reference *r, Double3 base, double height)
{
    enum { SAMPLES = 4000 };
    const double golden = 2.399963229728653;
    double least = INFINITY;
    Double3 best = {0, 1, 0};
    for (int i = 0; i < SAMPLES; i++) {
        const double y = 1 - (2 * i + 1) / (double)SAMPLES;
        const double ring = sqrt(1 - y * y);
        const Double3 n = {ring * cos(golden * i), y, ring * sin(golden * i)};
        const double depth = reference_depth(r, base, height, n);
        if (depth < least) {
            least = depth;
            best = n;
        }
    }
    for (double step = 0.05; step > 1e-8; step *= 0.7) {
        for (int i = 0; i < 12; i++) {
            const Double3 aside = {cos(golden * i), sin(5.0 * i), sin(golden * i)};
            const Double3 n = unit(double3_mad(best, aside, step));
            const double depth = reference_depth(r, base, height, n);
            if (depth < least) {
                least = depth;
                best = n;
            }
        }
    }
    return least;
}

double reference_core_to_point(Double3 base, double height, Double3 point)
{
    return segment_distance(base, (Double3){base.x, base.y + height, base.z}, point);
}

// --- random content -----------------------------------------------------------------------------

static uint32_t dice_u32(Dice *dice)
{
    dice->state += 0x9e3779b97f4a7c15ull;
    return (uint32_t)(hash_mix(dice->state) >> 32);
}

uint32_t dice_below(Dice *dice, uint32_t bound)
{
    return dice_u32(dice) % bound;
}

float dice_range(Dice *dice, float low, float high)
{
    return low + (high - low) * ((float)(dice_u32(dice) >> 8) / 16777216.0f);
}

Vec3 dice_direction(Dice *dice)
{
    for (;;) {
        Vec3 v;
        v.x = dice_range(dice, -1, 1);
        v.y = dice_range(dice, -1, 1);
        v.z = dice_range(dice, -1, 1);
        const float squared = vec3_length_squared(v);
        if (squared > 0.01f && squared <= 1) {
            return vec3_scale(v, 1 / math_sqrt(squared));
        }
    }
}

static Quat quat_unit(Quat q)
{
    const float s = 1 / math_sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return (Quat){q.x * s, q.y * s, q.z * s, q.w * s};
}

static Quat quat_after(Quat a, Quat b)
{
    return quat_unit((Quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                            a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
                            a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x,
                            a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z});
}

static Quat dice_yaw(Dice *dice)
{
    const float y = dice_range(dice, -1, 1);
    return quat_unit((Quat){0, y, 0, dice_range(dice, 0.01f, 1)});
}

static Quat dice_quarters(Dice *dice)
{
    const float half = 0.70710678f;
    const Quat about[3] = {{half, 0, 0, half}, {0, half, 0, half}, {0, 0, half, half}};
    Quat q = QUAT_IDENTITY;
    for (uint32_t i = dice_below(dice, 6); i > 0; i--) {
        q = quat_after(about[dice_below(dice, 3)], q);
    }
    return q;
}

Quat dice_rotation(Dice *dice, TurnKind turn)
{
    const float half = 0.70710678f;
    const Quat quarters[4] = {{0, 0, 0, 1}, {0, half, 0, half}, {0, 1, 0, 0}, {0, -half, 0, half}};
    Quat q = QUAT_IDENTITY;
    switch (turn) {
    case TURN_NONE:
    case TURN_KIND_COUNT:
        break;
    case TURN_QUARTER_YAW:
        q = quarters[dice_below(dice, 4)];
        break;
    case TURN_YAW:
        q = dice_yaw(dice);
        break;
    case TURN_QUARTERS:
        q = dice_quarters(dice);
        break;
    case TURN_NEARLY_YAW: {
        float tilt = 1e-3f;
        for (uint32_t i = dice_below(dice, 6); i > 0; i--) {
            tilt *= 0.1f;
        }
        q = dice_yaw(dice);
        q.x += dice_range(dice, -tilt, tilt);
        q.z += dice_range(dice, -tilt, tilt);
        q = quat_unit(q);
        break;
    }
    case TURN_STOOD_YAW:
        q = dice_quarters(dice);
        q = quat_after(dice_yaw(dice), q);
        break;
    case TURN_FREE: {
        const Vec3 v = dice_direction(dice);
        q = quat_unit((Quat){v.x, v.y, v.z, dice_range(dice, -1, 1)});
        break;
    }
    }
    return q;
}

static float dice_extent(Dice *dice, float low, float high)
{
    // Log-uniform by squares: every doubling from low is as likely as the others.
    float extent = low;
    uint32_t doublings = 0;
    while (extent * 2 <= high) {
        extent *= 2;
        doublings += 1;
    }
    extent = low;
    for (uint32_t i = dice_below(dice, doublings + 1); i > 0; i--) {
        extent *= 2;
    }
    return math_min(extent * dice_range(dice, 1, 2), high);
}

Shape dice_shape(Dice *dice, ShapeKind kind, float low, float high)
{
    const float x = dice_extent(dice, low, high);
    const float y = dice_extent(dice, low, high);
    return (Shape){kind, {x, y, dice_extent(dice, low, high)}};
}

static double dice_place(Dice *dice, double half)
{
    switch (dice_below(dice, 8)) {
    case 0:
        return 0;
    case 1:
        return half;
    case 2:
        return -half;
    case 3:
        return half * (double)dice_range(dice, -1, 1);
    case 4:
        return half + (double)dice_range(dice, -1e-4f, 1e-4f);
    default:
        return (half + 1) * (double)dice_range(dice, -2, 2);
    }
}

Vec3 dice_point(Dice *dice, const Reference *r)
{
    const double x = dice_place(dice, r->half.x);
    const double y = dice_place(dice, r->kind == SHAPE_SPHERE ? r->half.x : r->half.y);
    const double z = dice_place(
        dice, r->kind == SHAPE_SPHERE || r->kind == SHAPE_CYLINDER ? r->half.x : r->half.z);
    const Double3 p = double3_mad(
        double3_mad(double3_mad(r->position, r->axes[0], x), r->axes[1], y), r->axes[2], z);
    return (Vec3){(float)p.x, (float)p.y, (float)p.z};
}

Capsule dice_capsule(Dice *dice, const Reference *r)
{
    const float heights[8] = {0, 0, 1e-5f, 1e-2f, 1.2f, 1.2f, 3, 40};
    const float radii[4] = {0, 0.05f, 0.3f, 0.5f};
    Capsule c;
    c.base = dice_point(dice, r);
    c.height = heights[dice_below(dice, 8)];
    c.radius = radii[dice_below(dice, 4)];
    // The interesting point of the shape may meet the core anywhere.
    const float share = dice_range(dice, 0, 1);
    c.base.y -= c.height * share * (float)dice_below(dice, 2);
    return c;
}

ShapeCase shape_case_make(Shape shape, Pose pose)
{
    return (ShapeCase){shape, pose, shape_place(shape, pose), reference_make(shape, pose)};
}

ShapeCase shape_case_roll(Dice *dice, ShapeKind kind, TurnKind turn, float extent_max, float world)
{
    const Shape shape = dice_shape(dice, kind, PART_HALF_EXTENT_MIN_M, extent_max);
    Pose pose;
    pose.position.x = dice_range(dice, -world, world);
    pose.position.y = dice_range(dice, -world, world);
    pose.position.z = dice_range(dice, -world, world);
    pose.rotation = dice_rotation(dice, turn);
    return shape_case_make(shape, pose);
}

ShapeCase shape_case_at(Dice *dice, int i, float extent_max, float world)
{
    return shape_case_roll(dice, (ShapeKind)(i % SHAPE_KIND_COUNT),
                           (TurnKind)(i / SHAPE_KIND_COUNT % TURN_KIND_COUNT), extent_max, world);
}
