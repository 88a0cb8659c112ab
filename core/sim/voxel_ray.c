// A ray through the voxels, one boundary at a time, in the order in which it crosses them.
//
// The time (distance along the ray) of each crossing is computed from the boundary itself, as
// (boundary - origin) * (1 / direction), never added up: it does not drift, and since rounding
// keeps order it rises along each axis. Of boundaries crossed at the same time x
// comes before y before z, so a ray through an edge or corner visits a fixed chain of voxels that
// share faces and cannot slip between two solid ones.
//
// A chunk without anything solid is left in one step. That must end in the very voxel the single
// steps would have ended in, or a hit would depend on chunk borders: so the other two coordinates
// are estimated and then put right by comparing crossing times, by the same rule.
#include "core/sim/voxel_inside.h"

// Along an axis on which a ray moves less than this it does not move: the reciprocal stays finite,
// and no ray of RAY_DISTANCE_MAX would get anywhere.
#define RAY_DIRECTION_MIN 1e-30f
// An axis along which the ray does not move is crossed at infinity: no ray may be that long.
#define RAY_DISTANCE_MAX 1e18f

typedef struct Ray {
    float origin[3];
    float direction[3];
    float reciprocal[3];
    int32_t step[3];  // -1, 0, 1
    int32_t far[3];   // 1 if a voxel is left at its upper boundary, 0 if at its lower
    int32_t start[3]; // the voxel of the origin, never passed backwards
    int32_t voxel[3];
    float next[3]; // when the ray leaves the voxel along each axis
    float time;    // when it entered the voxel
    int axis;      // across which boundary; -1 at the start
} Ray;

// When the ray crosses an integer boundary of an axis; never, if it does not move along that axis.
static inline float crossing(const Ray *ray, int axis, int32_t boundary)
{
    if (ray->step[axis] == 0) {
        return __builtin_inff();
    }
    return ((float)boundary - ray->origin[axis]) * ray->reciprocal[axis];
}

// When it leaves a voxel.
static inline float crossing_out(const Ray *ray, int axis, int32_t voxel)
{
    return crossing(ray, axis, voxel + ray->far[axis]);
}

static bool is_before(float time, int axis, float other_time, int other_axis)
{
    return time < other_time || (time == other_time && axis < other_axis);
}

// The voxel coordinate along one axis at the moment the ray has crossed a boundary of another.
static int32_t voxel_when(const Ray *ray, int axis, float time, int crossed_axis)
{
    const int32_t step = ray->step[axis];
    if (step == 0) {
        return ray->start[axis];
    }
    const int32_t low = -WORLD_EXTENT_M - 1;
    const int32_t high = WORLD_EXTENT_M;
    int32_t voxel = math_floor_i32(ray->origin[axis] + ray->direction[axis] * time);
    voxel = voxel < low ? low : voxel > high ? high : voxel;
    while (voxel >= low && voxel <= high &&
           is_before(crossing_out(ray, axis, voxel), axis, time, crossed_axis)) {
        voxel += step;
    }
    while (voxel >= low && voxel <= high && voxel != ray->start[axis] &&
           !is_before(crossing_out(ray, axis, voxel - step), axis, time, crossed_axis)) {
        voxel -= step;
    }
    return voxel;
}

// Moves the ray across one boundary to the voxel it is in then.
static void ray_cross(Ray *ray, int axis, float time, int32_t voxel)
{
    int32_t to[3];
    for (int other = 0; other < 3; other++) {
        to[other] = other == axis ? voxel : voxel_when(ray, other, time, axis);
    }
    for (int other = 0; other < 3; other++) {
        ray->voxel[other] = to[other];
        ray->next[other] = crossing_out(ray, other, to[other]);
    }
    ray->axis = axis;
    ray->time = time;
}

static bool ray_is_inside(const Ray *ray)
{
    return voxel_is_inside((VoxelCoord){ray->voxel[0], ray->voxel[1], ray->voxel[2]});
}

// From outside to the first voxel inside the extent; false if there is none.
static bool ray_enter(Ray *ray)
{
    float time = -1;
    int last = -1;
    for (int axis = 0; axis < 3; axis++) {
        const int32_t at = ray->start[axis];
        if (at >= -WORLD_EXTENT_M && at < WORLD_EXTENT_M) {
            continue;
        }
        if (ray->step[axis] != (at < 0 ? 1 : -1)) {
            return false;
        }
        const float crossed = crossing(ray, axis, at < 0 ? -WORLD_EXTENT_M : WORLD_EXTENT_M);
        if (last < 0 || crossed >= time) {
            time = crossed;
            last = axis;
        }
    }
    ray_cross(ray, last, time, ray->step[last] > 0 ? -WORLD_EXTENT_M : WORLD_EXTENT_M - 1);
    return ray_is_inside(ray);
}

static int axis_of_least(const float time[3])
{
    if (time[0] <= time[1]) {
        return time[0] <= time[2] ? 0 : 2;
    }
    return time[1] <= time[2] ? 1 : 2;
}

// Out of the chunk the ray is in, which has nothing solid, into the next.
static void ray_skip_chunk(Ray *ray)
{
    float time[3];
    int32_t last[3]; // the last voxel inside the chunk along each axis
    for (int axis = 0; axis < 3; axis++) {
        last[axis] = (ray->voxel[axis] & ~31) + (ray->step[axis] > 0 ? 31 : 0);
        time[axis] = crossing_out(ray, axis, last[axis]);
    }
    const int axis = axis_of_least(time);
    ray_cross(ray, axis, time[axis], last[axis] + ray->step[axis]);
}

// One step along an axis that must be a constant, so that the ray stays in registers. False when it
// leaves the chunk.
static inline __attribute__((always_inline)) bool ray_step(Ray *ray, int axis)
{
    const int32_t before = ray->voxel[axis];
    ray->axis = axis;
    ray->time = ray->next[axis];
    ray->voxel[axis] = before + ray->step[axis];
    ray->next[axis] = crossing_out(ray, axis, ray->voxel[axis]);
    return (before ^ ray->voxel[axis]) >> 5 == 0;
}

// Steps until a solid voxel (true) or until the ray has left the chunk or gone too far.
static bool ray_search_chunk(Ray *out, const uint32_t *solid, float distance_max)
{
    Ray ray = *out;
    bool is_inside = true;
    bool is_hit = false;
    while (is_inside && ray.time <= distance_max) {
        const uint32_t word = solid[chunk_column(ray.voxel[0], ray.voxel[2])];
        is_hit = (word >> ((uint32_t)ray.voxel[1] & 31) & 1) != 0;
        if (is_hit) {
            break;
        }
        if (ray.next[0] <= ray.next[1] && ray.next[0] <= ray.next[2]) {
            is_inside = ray_step(&ray, 0);
        } else if (ray.next[1] <= ray.next[2]) {
            is_inside = ray_step(&ray, 1);
        } else {
            is_inside = ray_step(&ray, 2);
        }
    }
    *out = ray;
    return is_hit;
}

static Ray ray_make(Vec3 origin, Vec3 direction)
{
    const VoxelCoord at = voxel_at(origin);
    Ray ray = {.origin = {origin.x, origin.y, origin.z},
               .direction = {direction.x, direction.y, direction.z},
               .start = {at.x, at.y, at.z},
               .voxel = {at.x, at.y, at.z},
               .axis = -1};
    for (int axis = 0; axis < 3; axis++) {
        if (math_abs(ray.direction[axis]) >= RAY_DIRECTION_MIN) {
            ray.step[axis] = ray.direction[axis] > 0 ? 1 : -1;
            ray.far[axis] = ray.direction[axis] > 0;
            ray.reciprocal[axis] = 1.0f / ray.direction[axis];
        }
        ray.next[axis] = crossing_out(&ray, axis, ray.voxel[axis]);
    }
    return ray;
}

// The point lies on the voxel exactly, whatever origin + direction * time rounds to.
static TerrainHit ray_hit(const Ray *ray, VoxelKind kind)
{
    float point[3];
    float normal[3] = {0, 0, 0};
    const float time = ray->time > 0 ? ray->time : 0; // also turns -0 into 0
    for (int axis = 0; axis < 3; axis++) {
        const float low = (float)ray->voxel[axis];
        point[axis] = math_clamp(ray->origin[axis] + ray->direction[axis] * time, low, low + 1.0f);
        if (axis == ray->axis) {
            point[axis] = ray->step[axis] > 0 ? low : low + 1.0f;
            normal[axis] = (float)-ray->step[axis];
        }
    }
    return (TerrainHit){.voxel = {ray->voxel[0], ray->voxel[1], ray->voxel[2]},
                        .kind = kind,
                        .distance = time,
                        .point = {point[0], point[1], point[2]},
                        .normal = {normal[0], normal[1], normal[2]}};
}

bool terrain_ray(const Terrain *terrain, Vec3 origin, Vec3 direction, float distance_max,
                 TerrainHit *hit)
{
    if (!vec3_is_finite(origin) || !vec3_is_finite(direction) || !(distance_max >= 0) ||
        !(vec3_length_squared(direction) > 0)) {
        return false;
    }
    distance_max = math_min(distance_max, RAY_DISTANCE_MAX);
    Ray ray = ray_make(origin, direction);
    if (!ray_is_inside(&ray) && !ray_enter(&ray)) {
        return false;
    }
    while (ray.time <= distance_max && ray_is_inside(&ray)) {
        const Chunk *chunk =
            terrain_chunk(terrain, ray.voxel[0] >> 5, ray.voxel[1] >> 5, ray.voxel[2] >> 5);
        if (chunk->solid_count == 0) {
            ray_skip_chunk(&ray);
        } else if (ray_search_chunk(&ray, chunk->solid, distance_max)) {
            *hit = ray_hit(&ray, terrain_voxel(terrain, (VoxelCoord){ray.voxel[0], ray.voxel[1],
                                                                     ray.voxel[2]}));
            if (ray.axis < 0) {
                hit->point = origin;
                hit->normal = vec3_neg(direction);
            }
            return true;
        }
    }
    return false;
}
