// See pick.h. A ray is turned into the space of the solid, where each shape is a few comparisons.
#include "core/edit/pick.h"

#define PARALLEL 1e-9f

typedef struct Hit {
    float distance;
    Vec3 normal;
} Hit;

typedef struct Slab {
    float near, far;
    Vec3 normal; // of the side that is entered
} Slab;

// Cuts the ray by one pair of planes; false: nothing is left of it.
static bool cut(Slab *slab, float at, float way, float half, Vec3 axis)
{
    if (math_abs(way) < PARALLEL) {
        return math_abs(at) <= half;
    }
    const float first = (-half - at) / way;
    const float second = (half - at) / way;
    const float enter = math_min(first, second);
    if (enter > slab->near) {
        slab->near = enter;
        slab->normal = way > 0 ? vec3_neg(axis) : axis;
    }
    slab->far = math_min(slab->far, math_max(first, second));
    return slab->near <= slab->far;
}

static bool cut_box(Slab *slab, Vec3 at, Vec3 way, Vec3 half)
{
    return cut(slab, at.x, way.x, half.x, vec3(1, 0, 0)) &&
           cut(slab, at.y, way.y, half.y, vec3(0, 1, 0)) &&
           cut(slab, at.z, way.z, half.z, vec3(0, 0, 1));
}

static bool hit_slab(const Slab *slab, Hit *hit)
{
    *hit = (Hit){slab->near, slab->normal};
    return slab->near >= 0;
}

static bool hit_box(Vec3 at, Vec3 way, Vec3 half, Hit *hit)
{
    Slab slab = {-1e30f, 1e30f, VEC3_ZERO};
    return cut_box(&slab, at, way, half) && hit_slab(&slab, hit);
}

// The box, and of it what lies below the slope from the lower -z edge to the upper +z edge.
static bool hit_wedge(Vec3 at, Vec3 way, Vec3 half, Hit *hit)
{
    Slab slab = {-1e30f, 1e30f, VEC3_ZERO};
    if (!cut_box(&slab, at, way, half)) {
        return false;
    }
    const Vec3 slope = vec3_normalise(vec3(0, half.z, -half.y));
    const float above = vec3_dot(slope, at);
    const float rise = vec3_dot(slope, way);
    if (math_abs(rise) < PARALLEL) {
        return above <= 0 && hit_slab(&slab, hit);
    }
    const float cross = -above / rise;
    if (rise < 0 && cross > slab.near) {
        slab.near = cross;
        slab.normal = slope;
    } else if (rise > 0) {
        slab.far = math_min(slab.far, cross);
    }
    return slab.near <= slab.far && hit_slab(&slab, hit);
}

// Where a ray enters a circle or a sphere: a t² + 2 b t + c = 0, the lower t.
static bool enter_round(float a, float b, float c, float *near, float *far)
{
    const float under = b * b - a * c;
    if (a < PARALLEL || under < 0) {
        return false;
    }
    const float root = math_sqrt(under);
    *near = (-b - root) / a;
    *far = (-b + root) / a;
    return true;
}

static bool hit_sphere(Vec3 at, Vec3 way, float radius, Hit *hit)
{
    float near, far;
    if (!enter_round(vec3_dot(way, way), vec3_dot(at, way), vec3_dot(at, at) - radius * radius,
                     &near, &far)) {
        return false;
    }
    *hit = (Hit){near, vec3_normalise(vec3_mad(at, way, near))};
    return near >= 0;
}

static bool hit_cylinder(Vec3 at, Vec3 way, Vec3 half, Hit *hit)
{
    Slab slab = {-1e30f, 1e30f, VEC3_ZERO};
    if (!cut(&slab, at.y, way.y, half.y, vec3(0, 1, 0))) {
        return false;
    }
    const float a = way.x * way.x + way.z * way.z;
    const float c = at.x * at.x + at.z * at.z - half.x * half.x;
    if (a < PARALLEL) {
        return c <= 0 && hit_slab(&slab, hit);
    }
    float near, far;
    if (!enter_round(a, at.x * way.x + at.z * way.z, c, &near, &far)) {
        return false;
    }
    if (near > slab.near) {
        slab.near = near;
        const Vec3 point = vec3_mad(at, way, near);
        slab.normal = vec3_normalise(vec3(point.x, 0, point.z));
    }
    slab.far = math_min(slab.far, far);
    return slab.near <= slab.far && hit_slab(&slab, hit);
}

static bool hit_solid(const EditSolid *solid, Vec3 origin, Vec3 direction, Hit *hit)
{
    const Quat back = quat_conjugate(solid->pose.rotation);
    const Vec3 at = quat_rotate(back, vec3_sub(origin, solid->pose.position));
    const Vec3 way = quat_rotate(back, direction);
    const Vec3 half = solid->shape.half;
    switch (solid->shape.kind) {
    case SHAPE_WEDGE:
        return hit_wedge(at, way, half, hit);
    case SHAPE_SPHERE:
        return hit_sphere(at, way, half.x, hit);
    case SHAPE_CYLINDER:
        return hit_cylinder(at, way, half, hit);
    default:
        return hit_box(at, way, half, hit);
    }
}

// Whether the ray can meet something of that size before `most`.
static bool comes_near(const EditSolid *solid, Vec3 origin, Vec3 direction, float most)
{
    const Vec3 half = solid->shape.half;
    const float radius = solid->shape.kind == SHAPE_CYLINDER
                             ? math_sqrt(half.x * half.x + half.y * half.y)
                             : vec3_length(half);
    const Vec3 away = vec3_sub(solid->pose.position, origin);
    const float along = vec3_dot(away, direction);
    return along + radius >= 0 && along - radius <= most &&
           vec3_length_squared(away) - along * along <= radius * radius * 1.0001f + 1e-4f;
}

static bool is_skipped(const EditRay *ray, uint32_t id)
{
    for (uint32_t i = 0; i < ray->skip_count; i++) {
        if (ray->skip[i] == id) {
            return true;
        }
    }
    return false;
}

bool edit_pick(const EditSolid *solids, uint32_t count, const EditRay *ray, EditPick *out)
{
    EditPick best = {.distance = 1e30f};
    if (!vec3_is_finite(ray->origin) || !vec3_is_finite(ray->direction)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        const EditSolid *solid = &solids[i];
        Hit hit;
        if (solid->id != 0 && comes_near(solid, ray->origin, ray->direction, best.distance) &&
            hit_solid(solid, ray->origin, ray->direction, &hit) && hit.distance < best.distance &&
            !is_skipped(ray, solid->id)) {
            best.id = solid->id;
            best.distance = hit.distance;
            best.normal = quat_rotate(solid->pose.rotation, hit.normal);
        }
    }
    best.point = vec3_mad(ray->origin, ray->direction, best.distance);
    if (best.id != 0) {
        *out = best;
    }
    return best.id != 0;
}

static bool is_inside(Vec3 point, const EditPlane *planes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (vec3_dot(planes[i].normal, point) + planes[i].offset < 0) {
            return false;
        }
    }
    return true;
}

uint32_t edit_pick_inside(const EditSolid *solids, uint32_t count, const EditPlane *planes,
                          uint32_t plane_count, uint32_t *ids, uint32_t max)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < max; i++) {
        if (solids[i].id != 0 && is_inside(solids[i].pose.position, planes, plane_count)) {
            ids[found++] = solids[i].id;
        }
    }
    return found;
}
