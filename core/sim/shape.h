// Convex shapes with any rotation, and the three questions movement asks of them: how far is this
// capsule, what does this ray hit, how far can this capsule go.
//
// Capsules in Sandlot stand upright: a core segment from `base` straight up by `height`, and a
// radius around it. A sphere is a capsule of height 0. Because the core is vertical, its distance
// to a box that is only turned about y separates into a horizontal and a vertical part; that is the
// fast path which most parts and every voxel take.
//
// Distances are exact to 1e-4 m for coordinates within 1,000 m of the shape; nothing here
// allocates.
#pragma once

#include "core/base/math.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum ShapeKind {
    SHAPE_BOX,      // half.x, half.y, half.z
    SHAPE_WEDGE,    // a box cut by the plane from its lower -z edge to its upper +z edge: the slope
                    // rises towards +z; the full back face is at +z, the bottom is full
    SHAPE_SPHERE,   // half.x is the radius
    SHAPE_CYLINDER, // half.x is the radius, half.y half the length; the axis is local y
    SHAPE_KIND_COUNT
} ShapeKind;

// How a placed shape is turned; the fast paths look at this.
typedef enum ShapeTurn { SHAPE_ALIGNED, SHAPE_YAW, SHAPE_FREE } ShapeTurn;

typedef struct Shape {
    ShapeKind kind;
    Vec3 half;
} Shape;

typedef struct Pose {
    Vec3 position;
    Quat rotation;
} Pose;

// A shape put somewhere, with everything the queries need worked out once.
typedef struct PlacedShape {
    Vec3 position;
    Vec3 axis_x, axis_y, axis_z; // local axes in world coordinates, orthonormal
    Vec3 half;
    Aabb bounds;  // world, exact for boxes to rounding, conservative for the rest
    uint8_t kind; // ShapeKind
    uint8_t turn; // ShapeTurn
} PlacedShape;

typedef struct Capsule {
    Vec3 base; // lower end of the core segment
    float height;
    float radius;
} Capsule;

typedef struct ShapeContact {
    float distance; // between the surfaces; negative when they overlap
    Vec3 normal;    // unit, from the shape towards the capsule (or point)
    Vec3 point;     // on the shape's surface
} ShapeContact;

typedef struct ShapeHit {
    float distance; // along the ray, or the fraction 0..1 of a sweep
    Vec3 normal;    // unit, out of the shape
    Vec3 point;     // on the shape's surface
} ShapeHit;

// STATUS_RANGE unless every extent used is finite and within PART_HALF_EXTENT_MIN_M..MAX_M.
MUST_USE Status shape_check(Shape shape);
// The rotation must be unit. A rotation that is about y alone to 1e-6 counts as SHAPE_YAW, none as
// SHAPE_ALIGNED.
PlacedShape shape_place(Shape shape, Pose pose);
// Places an axis-aligned box without a quaternion: voxels are this.
PlacedShape shape_place_box(Vec3 min, Vec3 max);

// The nearest point of the surface; distance is negative inside.
ShapeContact shape_closest(const PlacedShape *shape, Vec3 point);
// The nearest point to an upright capsule. Total: also when the core runs through the shape, where
// the normal is the cheapest way out.
ShapeContact shape_capsule_contact(const PlacedShape *shape, Capsule capsule);
// direction must be unit. A ray that starts inside hits at distance 0 with the normal -direction.
bool shape_ray(const PlacedShape *shape, Vec3 origin, Vec3 direction, float distance_max,
               ShapeHit *hit);
// The first touch of a capsule moved by `motion` (straight, no rotation). Conservative: it never
// goes past the shape. A capsule that overlaps at the start hits at fraction 0 only if it moves
// deeper; moving out is free.
bool shape_sweep(const PlacedShape *shape, Capsule capsule, Vec3 motion, ShapeHit *hit);

static inline Aabb capsule_bounds(Capsule c)
{
    return (Aabb){{c.base.x - c.radius, c.base.y - c.radius, c.base.z - c.radius},
                  {c.base.x + c.radius, c.base.y + c.height + c.radius, c.base.z + c.radius}};
}
