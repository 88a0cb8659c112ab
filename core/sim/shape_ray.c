// Rays, exactly: a convex shape is what is left after cutting by a few planes, and by a round wall.
// Each cut leaves of the ray an interval; what all of them leave is the part inside the shape, and
// the cut that came last on the way in gives the normal.
#include "core/sim/shape_local.h"

#include "core/base/check.h"

// A ray this close to parallel with a cylinder's axis (sine squared) never reaches its wall.
#define PARALLEL_SQUARED 1e-14f

typedef struct Clip {
    float enter, leave; // along the ray; the ray is inside in between
    Vec3 normal;        // of the cut at `enter`
    bool is_missed;
} Clip;

// Cuts away what is beyond a plane: inside is where `height` + t * `rate` <= 0.
static void clip_plane(Clip *clip, float height, float rate, Vec3 normal)
{
    if (rate == 0) {
        clip->is_missed = clip->is_missed || height > 0;
        return;
    }
    const float t = -height / rate;
    if (rate < 0) {
        if (t > clip->enter) {
            clip->enter = t;
            clip->normal = normal;
        }
    } else if (t < clip->leave) {
        clip->leave = t;
    }
}

// Inside is from `enter` to `leave`.
static void clip_interval(Clip *clip, float enter, float leave, Vec3 normal)
{
    if (enter > clip->enter) {
        clip->enter = enter;
        clip->normal = normal;
    }
    clip->leave = math_min(clip->leave, leave);
}

static void clip_slab(Clip *clip, float half, float p, float d, Vec3 axis)
{
    clip_plane(clip, p - half, d, axis);
    clip_plane(clip, -p - half, -d, vec3_neg(axis));
}

// Measured from where the ray comes nearest: the textbook quadratic cancels for far origins.
static void clip_sphere(Clip *clip, float radius, Vec3 p, Vec3 d)
{
    const float middle = -vec3_dot(p, d);
    const Vec3 q = vec3_mad(p, d, middle);
    const float squared = vec3_length_squared(q);
    if (squared > radius * radius) {
        clip->is_missed = true;
        return;
    }
    const float chord = math_sqrt(radius * radius - squared);
    const Vec3 entry = vec3_mad(q, d, -chord);
    clip_interval(clip, middle - chord, middle + chord, vec3_scale(entry, 1 / vec3_length(entry)));
}

static void clip_wall(Clip *clip, float radius, Vec3 p, Vec3 d)
{
    const float run_squared = d.x * d.x + d.z * d.z;
    if (run_squared <= PARALLEL_SQUARED) {
        clip->is_missed = clip->is_missed || p.x * p.x + p.z * p.z > radius * radius;
        return;
    }
    const float middle = -(p.x * d.x + p.z * d.z) / run_squared;
    const float x = p.x + d.x * middle;
    const float z = p.z + d.z * middle;
    const float squared = x * x + z * z;
    if (squared > radius * radius) {
        clip->is_missed = true;
        return;
    }
    const float chord = math_sqrt((radius * radius - squared) / run_squared);
    const Vec3 entry = {x - d.x * chord, 0, z - d.z * chord};
    clip_interval(clip, middle - chord, middle + chord, vec3_scale(entry, 1 / vec3_length(entry)));
}

static Clip clip_shape(const PlacedShape *shape, Vec3 p, Vec3 d)
{
    const Vec3 x = {1, 0, 0};
    const Vec3 y = {0, 1, 0};
    const Vec3 z = {0, 0, 1};
    Clip clip = {-1e30f, 1e30f, y, false};
    switch ((ShapeKind)shape->kind) {
    case SHAPE_SPHERE:
        clip_sphere(&clip, shape->half.x, p, d);
        break;
    case SHAPE_CYLINDER:
        clip_slab(&clip, shape->half.y, p.y, d.y, y);
        clip_wall(&clip, shape->half.x, p, d);
        break;
    case SHAPE_WEDGE:
        clip_slab(&clip, shape->half.x, p.x, d.x, x);
        clip_plane(&clip, -p.y - shape->half.y, -d.y, vec3_neg(y));
        clip_plane(&clip, p.z - shape->half.z, d.z, z);
        clip_plane(&clip, shape->slope_y * p.y + shape->slope_z * p.z,
                   shape->slope_y * d.y + shape->slope_z * d.z,
                   (Vec3){0, shape->slope_y, shape->slope_z});
        break;
    case SHAPE_BOX:
    case SHAPE_KIND_COUNT:
        clip_slab(&clip, shape->half.x, p.x, d.x, x);
        clip_slab(&clip, shape->half.y, p.y, d.y, y);
        clip_slab(&clip, shape->half.z, p.z, d.z, z);
        break;
    }
    return clip;
}

bool shape_ray(const PlacedShape *shape, Vec3 origin, Vec3 direction, float distance_max,
               ShapeHit *hit)
{
    CHECK_SLOW(math_abs(vec3_length_squared(direction) - 1) < 1e-3f);
    const Clip clip = clip_shape(shape, shape_local_point(shape, origin),
                                 shape_local_direction(shape, direction));
    if (clip.is_missed || clip.enter > clip.leave || clip.leave <= 0 || clip.enter > distance_max) {
        return false;
    }
    if (clip.enter < 0) {
        *hit = (ShapeHit){0, vec3_neg(direction), origin};
        return true;
    }
    *hit = (ShapeHit){clip.enter, shape_world_direction(shape, clip.normal),
                      vec3_mad(origin, direction, clip.enter)};
    return true;
}
