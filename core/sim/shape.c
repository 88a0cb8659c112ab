// Checking and placing shapes. Placing does once what every query would otherwise repeat: axes from
// the quaternion, the wedge's slope, bounds, and the decision which fast path the shape may take.
// Boxes and cylinders look the same after some turns; they are relabelled here so that a part which
// a creator tipped by quarter turns costs no more than one that was never touched.
#include "core/sim/shape_local.h"

#include "core/base/check.h"
#include "core/base/limits.h"

// Smaller components of axes are rounding errors and become zero.
#define AXIS_SNAP 1e-6f
// Bounds of turned shapes grow by this part of the coordinates, which covers all rounding.
#define BOUNDS_ROUNDING 5e-7f

static bool extent_is_valid(float extent)
{
    return extent >= PART_HALF_EXTENT_MIN_M && extent <= PART_HALF_EXTENT_MAX_M;
}

Status shape_check(Shape shape)
{
    bool valid = extent_is_valid(shape.half.x);
    switch (shape.kind) {
    case SHAPE_SPHERE:
        break;
    case SHAPE_CYLINDER:
        valid = valid && extent_is_valid(shape.half.y);
        break;
    case SHAPE_BOX:
    case SHAPE_WEDGE:
        valid = valid && extent_is_valid(shape.half.y) && extent_is_valid(shape.half.z);
        break;
    case SHAPE_KIND_COUNT:
    default:
        return STATUS_UNSUPPORTED;
    }
    return valid ? STATUS_OK : STATUS_RANGE;
}

static Vec3 unit(Vec3 v)
{
    return vec3_scale(v, 1 / vec3_length(v));
}

// Divides by the squared length, so that a quaternion which is unit only to rounding still gives
// axes at right angles.
static void axes_from_rotation(PlacedShape *placed, Quat q)
{
    const float s = 2 / (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    placed->axis_x = unit((Vec3){1 - s * (q.y * q.y + q.z * q.z), s * (q.x * q.y + q.w * q.z),
                                 s * (q.x * q.z - q.w * q.y)});
    placed->axis_y = unit((Vec3){s * (q.x * q.y - q.w * q.z), 1 - s * (q.x * q.x + q.z * q.z),
                                 s * (q.y * q.z + q.w * q.x)});
    placed->axis_z = unit((Vec3){s * (q.x * q.z + q.w * q.y), s * (q.y * q.z - q.w * q.x),
                                 1 - s * (q.x * q.x + q.y * q.y)});
}

static void axes_reset(PlacedShape *placed)
{
    placed->axis_x = (Vec3){1, 0, 0};
    placed->axis_y = (Vec3){0, 1, 0};
    placed->axis_z = (Vec3){0, 0, 1};
    placed->turn = SHAPE_ALIGNED;
}

static bool is_vertical(Vec3 axis)
{
    return math_abs(axis.x) <= AXIS_SNAP && math_abs(axis.z) <= AXIS_SNAP;
}

// Renames a box's axes so that a vertical one, if any, is y.
static void box_stand(PlacedShape *placed)
{
    const Vec3 x = placed->axis_x;
    const Vec3 y = placed->axis_y;
    const Vec3 z = placed->axis_z;
    const Vec3 half = placed->half;
    if (is_vertical(x)) {
        placed->axis_x = z;
        placed->axis_y = x;
        placed->axis_z = y;
        placed->half = (Vec3){half.z, half.x, half.y};
    } else if (is_vertical(z)) {
        placed->axis_x = y;
        placed->axis_y = z;
        placed->axis_z = x;
        placed->half = (Vec3){half.y, half.z, half.x};
    }
}

// Half a turn about local x, which boxes and cylinders do not show.
static void upend_if_down(PlacedShape *placed)
{
    if (placed->axis_y.y < 0) {
        placed->axis_y = vec3_neg(placed->axis_y);
        placed->axis_z = vec3_neg(placed->axis_z);
    }
}

// Finds the turn, and makes axes that are nearly upright or aligned exactly so.
static void turn_decide(PlacedShape *placed)
{
    if (!is_vertical(placed->axis_y) || placed->axis_y.y < 0) {
        placed->turn = SHAPE_FREE;
        return;
    }
    const float x = placed->axis_x.x;
    const float z = placed->axis_x.z;
    const bool is_box = placed->kind == SHAPE_BOX;
    if (math_abs(z) <= AXIS_SNAP && (x > 0 || is_box)) {
        axes_reset(placed);
    } else if (math_abs(x) <= AXIS_SNAP && is_box) {
        placed->half = (Vec3){placed->half.z, placed->half.y, placed->half.x};
        axes_reset(placed);
    } else {
        const float scale = 1 / math_sqrt(x * x + z * z);
        placed->axis_x = (Vec3){x * scale, 0, z * scale};
        placed->axis_y = (Vec3){0, 1, 0};
        placed->axis_z = (Vec3){-z * scale, 0, x * scale};
        placed->turn = SHAPE_YAW;
    }
}

// How far the shape reaches from its centre along a world axis and against it.
static void reach(const PlacedShape *placed, Vec3 axis, float *low, float *high)
{
    const Vec3 n = shape_local_direction(placed, axis);
    *low = shape_local_support(placed, vec3_neg(n));
    *high = shape_local_support(placed, n);
}

static void bounds_set(PlacedShape *placed)
{
    const Vec3 p = placed->position;
    Vec3 low;
    Vec3 high;
    reach(placed, (Vec3){1, 0, 0}, &low.x, &high.x);
    reach(placed, (Vec3){0, 1, 0}, &low.y, &high.y);
    reach(placed, (Vec3){0, 0, 1}, &low.z, &high.z);
    if (placed->kind != SHAPE_BOX || placed->turn != SHAPE_ALIGNED) {
        const float most = math_max(math_max(math_abs(p.x), math_abs(p.y)), math_abs(p.z));
        const float margin =
            BOUNDS_ROUNDING * (most + placed->half.x + placed->half.y + placed->half.z);
        const Vec3 grow = {margin, margin, margin};
        low = vec3_add(low, grow);
        high = vec3_add(high, grow);
    }
    placed->bounds = (Aabb){vec3_sub(p, low), vec3_add(p, high)};
}

PlacedShape shape_place(Shape shape, Pose pose)
{
    const Quat q = pose.rotation;
    const float squared = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    ASSERT(squared > 0.99f && squared < 1.01f);
    ASSERT(vec3_is_finite(pose.position));
    ASSERT(shape.kind < SHAPE_KIND_COUNT && shape.half.x > 0);

    PlacedShape placed = {.position = pose.position, .half = shape.half};
    placed.kind = (uint8_t)shape.kind;
    if (shape.kind == SHAPE_SPHERE) {
        placed.half = (Vec3){shape.half.x, shape.half.x, shape.half.x};
        axes_reset(&placed);
        bounds_set(&placed);
        return placed;
    }
    axes_from_rotation(&placed, q);
    if (shape.kind == SHAPE_BOX) {
        box_stand(&placed);
        upend_if_down(&placed);
    } else if (shape.kind == SHAPE_CYLINDER) {
        placed.half.z = shape.half.x;
        upend_if_down(&placed);
    } else {
        const float length = math_sqrt(shape.half.y * shape.half.y + shape.half.z * shape.half.z);
        placed.slope_y = shape.half.z / length;
        placed.slope_z = -shape.half.y / length;
    }
    turn_decide(&placed);
    bounds_set(&placed);
    return placed;
}

PlacedShape shape_place_box(Vec3 min, Vec3 max)
{
    ASSERT(min.x <= max.x && min.y <= max.y && min.z <= max.z);
    PlacedShape placed = {.bounds = {min, max}, .kind = SHAPE_BOX};
    placed.half = vec3_scale(vec3_sub(max, min), 0.5f);
    placed.position = vec3_add(min, placed.half);
    axes_reset(&placed);
    return placed;
}
