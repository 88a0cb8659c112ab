// What the shape files share: the way into a shape's own coordinates and back, where the shape
// stands at the origin along the axes, and the capsule contact there. Sweeps stay in these
// coordinates for all their steps: far from the world's origin a world coordinate cannot hold the
// small advances. Not for other folders or files.
#pragma once

#include "core/sim/shape.h"

static inline Vec3 shape_yaw_local(const PlacedShape *shape, Vec3 v)
{
    return (Vec3){v.x * shape->axis_x.x + v.z * shape->axis_x.z, v.y,
                  v.x * shape->axis_z.x + v.z * shape->axis_z.z};
}

static inline Vec3 shape_local_direction(const PlacedShape *shape, Vec3 v)
{
    if (shape->turn == SHAPE_ALIGNED) {
        return v;
    }
    if (shape->turn == SHAPE_YAW) {
        return shape_yaw_local(shape, v);
    }
    return (Vec3){vec3_dot(v, shape->axis_x), vec3_dot(v, shape->axis_y),
                  vec3_dot(v, shape->axis_z)};
}

static inline Vec3 shape_local_point(const PlacedShape *shape, Vec3 point)
{
    return shape_local_direction(shape, vec3_sub(point, shape->position));
}

static inline Vec3 shape_yaw_world(const PlacedShape *shape, Vec3 v)
{
    return (Vec3){v.x * shape->axis_x.x + v.z * shape->axis_z.x, v.y,
                  v.x * shape->axis_x.z + v.z * shape->axis_z.z};
}

static inline Vec3 shape_world_direction(const PlacedShape *shape, Vec3 v)
{
    if (shape->turn == SHAPE_ALIGNED) {
        return v;
    }
    if (shape->turn == SHAPE_YAW) {
        return shape_yaw_world(shape, v);
    }
    return vec3_mad(vec3_mad(vec3_scale(shape->axis_x, v.x), shape->axis_y, v.y), shape->axis_z,
                    v.z);
}

static inline Vec3 shape_world_point(const PlacedShape *shape, Vec3 point)
{
    return vec3_add(shape->position, shape_world_direction(shape, point));
}

// A capsule's core in the shape's coordinates. Handed on by address: copies of small structs that
// were just written cost more than the arithmetic (the processor waits for the writes).
typedef struct ShapeCore {
    Vec3 base;
    Vec3 up; // the world's up, the direction of every core
    float height;
} ShapeCore;

static inline ShapeCore shape_local_core(const PlacedShape *shape, const Capsule *capsule)
{
    const Vec3 base = shape_local_point(shape, capsule->base);
    const Vec3 up = shape->turn == SHAPE_FREE
                        ? (Vec3){shape->axis_x.y, shape->axis_y.y, shape->axis_z.y}
                        : (Vec3){0, 1, 0};
    return (ShapeCore){base, up, capsule->height};
}

// How far the shape reaches from its centre along a unit vector.
static inline float shape_local_support(const PlacedShape *shape, Vec3 n)
{
    const Vec3 half = shape->half;
    if (shape->kind == SHAPE_SPHERE) {
        return half.x;
    }
    if (shape->kind == SHAPE_CYLINDER) {
        return half.x * math_sqrt(n.x * n.x + n.z * n.z) + half.y * math_abs(n.y);
    }
    const float y = half.y * n.y;
    const float z = half.z * n.z;
    if (shape->kind == SHAPE_WEDGE) {
        return half.x * math_abs(n.x) + math_max(math_max(y + z, z - y), -y - z);
    }
    return half.x * math_abs(n.x) + math_abs(y) + math_abs(z);
}

// The contact of a core without a radius, with everything in the shape's coordinates.
void shape_local_contact(const PlacedShape *shape, const ShapeCore *core, ShapeContact *contact);
