// Convex shapes with any rotation, and the three questions movement asks of them: how far is this
// capsule, what does this ray hit, how far can this capsule go.
//
// Capsules in Sandlot stand upright: a core segment from `base` straight up by `height`, and a
// radius around it. A sphere is a capsule of height 0. Because the core is vertical, its distance
// to a shape that is only turned about y separates into a horizontal and a vertical part; that is
// the fast path which most parts and every voxel take.
//
// Shapes are closed: their surface belongs to them. The signed distance is exact on both sides of
// the surface (inside it is the length of the shortest way out), so it is a convex function of the
// capsule's position; sweeping relies on that. Distances err by at most 1e-5 m where extents and
// separation are below 10 m, 1e-4 m below 100 m, 5e-4 m for the largest parts. Where in the world
// this happens does not matter: everything works from differences. Nothing here allocates.
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

// How a placed shape stands; the fast paths look at this.
typedef enum ShapeTurn { SHAPE_ALIGNED, SHAPE_YAW, SHAPE_FREE } ShapeTurn;

typedef struct Shape {
    ShapeKind kind;
    Vec3 half;
} Shape;

typedef struct Pose {
    Vec3 position;
    Quat rotation;
} Pose;

// A shape put somewhere, with everything the queries need worked out once. The axes describe the
// solid, not the pose: symmetric shapes are relabelled so that they take the cheapest path (a box
// tipped by quarter turns becomes SHAPE_ALIGNED with its extents exchanged, a cylinder upside down
// is SHAPE_YAW, a sphere is always SHAPE_ALIGNED). Whoever needs a direction of the part, such as a
// conveyor, asks the pose.
typedef struct PlacedShape {
    Vec3 position;
    Vec3 axis_x, axis_y, axis_z; // local axes in world coordinates, orthonormal, right-handed
    Vec3 half;                   // unused extents repeat the radius
    float slope_y, slope_z;      // wedges: the slope's unit normal is (0, slope_y, slope_z)
    Aabb bounds;                 // world; contains the shape: aligned boxes to rounding, the rest
                                 // with a margin for rounding
    uint8_t kind;                // ShapeKind
    uint8_t turn;                // ShapeTurn
} PlacedShape;
_Static_assert(sizeof(PlacedShape) == 96, "a scene holds up to 262,144 of these");

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

// The same shape with its unused extents set from the used ones, so that all of them are numbers
// and the length of `half` is at least its bounding radius.
static inline Shape shape_tidy(Shape shape)
{
    if (shape.kind == SHAPE_SPHERE) {
        shape.half = (Vec3){shape.half.x, shape.half.x, shape.half.x};
    } else if (shape.kind == SHAPE_CYLINDER) {
        shape.half.z = shape.half.x;
    }
    return shape;
}

// STATUS_RANGE unless every extent used is finite and within PART_HALF_EXTENT_MIN_M..MAX_M;
// STATUS_UNSUPPORTED for a kind that does not exist.
MUST_USE Status shape_check(Shape shape);
// The rotation must be unit, the extents positive. Axes within 1e-6 of upright (or of the world's
// axes) are made exactly so.
PlacedShape shape_place(Shape shape, Pose pose);
// Places an axis-aligned box without a quaternion: voxels are this.
PlacedShape shape_place_box(Vec3 min, Vec3 max);

// The nearest point of the surface; distance is negative inside. This is the contact of a capsule
// without height and radius.
ShapeContact shape_closest(const PlacedShape *shape, Vec3 point);
// The nearest point to an upright capsule. Total: also when the core runs through the shape, where
// the normal is the cheapest way out and the distance -(way out of the core + radius).
static inline ShapeContact shape_capsule_contact(const PlacedShape *shape, Capsule capsule);
// The same for an axis-aligned box that nobody placed: a voxel.
static inline ShapeContact shape_box_contact(Vec3 min, Vec3 max, Capsule capsule);
// direction must be unit. A ray that starts inside hits at distance 0 with the normal -direction;
// one that starts on the surface and leaves does not hit.
bool shape_ray(const PlacedShape *shape, Vec3 origin, Vec3 direction, float distance_max,
               ShapeHit *hit);
// The first touch of a capsule moved by `motion` (straight, no rotation). Conservative: it never
// goes past the shape, and stops about SHAPE_SWEEP_GAP_M before it (at most twice that). A capsule
// that overlaps at the start hits at fraction 0 only if it moves deeper; moving out or along is
// free. "Along" means that it approaches by less than SHAPE_SWEEP_ALONG of its way.
#define SHAPE_SWEEP_GAP_M 1e-4f
#define SHAPE_SWEEP_ALONG 1e-5f
bool shape_sweep(const PlacedShape *shape, Capsule capsule, Vec3 motion, ShapeHit *hit);

static inline Aabb capsule_bounds(Capsule c)
{
    return (Aabb){{c.base.x - c.radius, c.base.y - c.radius, c.base.z - c.radius},
                  {c.base.x + c.radius, c.base.y + c.height + c.radius, c.base.z + c.radius}};
}

// --- inline -------------------------------------------------------------------------------------
// Aligned boxes are most of what characters meet, so their contact is worked out at the caller.

// A core nearer than this counts as running through: no direction can be had from less.
#define SHAPE_CORE_NEAR_M 1e-6f

ShapeContact shape_box_way_out(Vec3 min, Vec3 max, Capsule capsule);
void shape_turned_contact(const PlacedShape *shape, const Capsule *capsule, ShapeContact *contact);

__attribute__((always_inline)) static inline ShapeContact shape_box_contact(Vec3 min, Vec3 max,
                                                                            Capsule capsule)
{
    const Vec3 base = capsule.base;
    const float top = base.y + capsule.height;
    const Vec3 point = {math_clamp(base.x, min.x, max.x), math_clamp(base.y, min.y, max.y),
                        math_clamp(base.z, min.z, max.z)};
    const float x = base.x - point.x;
    const float z = base.z - point.z;
    const float y = base.y > max.y ? base.y - max.y : top < min.y ? top - min.y : 0;
    const float squared = x * x + y * y + z * z;
    if (!(squared > SHAPE_CORE_NEAR_M * SHAPE_CORE_NEAR_M)) {
        return shape_box_way_out(min, max, capsule);
    }
    const float distance = math_sqrt(squared);
    const float scale = 1 / distance;
    return (ShapeContact){distance - capsule.radius, {x * scale, y * scale, z * scale}, point};
}

static inline ShapeContact shape_capsule_contact(const PlacedShape *shape, Capsule capsule)
{
    if (shape->kind == SHAPE_BOX && shape->turn == SHAPE_ALIGNED) {
        const Capsule local = {vec3_sub(capsule.base, shape->position), capsule.height,
                               capsule.radius};
        const ShapeContact contact = shape_box_contact(vec3_neg(shape->half), shape->half, local);
        return (ShapeContact){contact.distance, contact.normal,
                              vec3_add(shape->position, contact.point)};
    }
    ShapeContact contact;
    shape_turned_contact(shape, &capsule, &contact);
    return contact;
}
