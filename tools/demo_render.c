#include "tools/demo_render.h"

#include "core/base/hash.h"
#include "core/sim/npc.h"

#include <math.h>

#define VIEW_DISTANCE_M 260.0f
#define LAND_TOP_Y      40.0f // nothing stands or flies higher
#define LAND_BOTTOM_Y   (-7.0f)
#define LAND_HALF_M     66.0f
#define SHADOW_M        60.0f
#define FOG_PER_M       0.0035f
#define SURFACE_GAP_M   0.004f // between a surface and the rays that leave it
#define BALLS_MAX       256
#define FLASH_TICKS     22
#define RAY_TYPES       (ENTITY_MASK_CHARACTERS | ENTITY_MASK_SHAPES)

typedef Vec3 Colour; // linear light

typedef struct Ball {
    Vec3 position;
    float radius;
    bool glows;
} Ball;

// What stays the same for all rays of a picture.
typedef struct Frame {
    const Demo *demo;
    const Sim *sim;
    float seconds;
    Vec3 sun;
    Ball balls[BALLS_MAX];
    uint32_t ball_count;
} Frame;

typedef struct Ray {
    Vec3 origin, direction;
} Ray;

// A surface as the light sees it.
typedef struct Surface {
    Vec3 point, normal;
    Colour colour;
    float open;  // 0..1, how much of the sky it sees
    float glow;  // light of its own
    float shine; // strength of the sun's reflection
} Surface;

static Colour srgb(uint32_t hex)
{
    const float r = (float)(hex >> 16 & 255) / 255;
    const float g = (float)(hex >> 8 & 255) / 255;
    const float b = (float)(hex & 255) / 255;
    return vec3(powf(r, 2.2f), powf(g, 2.2f), powf(b, 2.2f));
}

static Colour multiply(Colour a, Colour b)
{
    return vec3(a.x * b.x, a.y * b.y, a.z * b.z);
}

static float saturate(float x)
{
    return math_clamp(x, 0, 1);
}

static float smooth(float low, float high, float x)
{
    const float t = saturate((x - low) / (high - low));
    return t * t * (3 - 2 * t);
}

static float hash_unit(int32_t x, int32_t y, int32_t z)
{
    const uint64_t key = (uint64_t)(uint32_t)x * 73856093u ^
                         (uint64_t)(uint32_t)y * 19349663u << 20 ^
                         (uint64_t)(uint32_t)z * 83492791u << 40;
    return (float)(hash_mix(key) >> 40) / 16777216.0f;
}

// --- sky ---------------------------------------------------------------------------------------
static float soft_noise(float x, float z)
{
    const int32_t cell_x = math_floor_i32(x);
    const int32_t cell_z = math_floor_i32(z);
    const float u = smooth(0, 1, x - (float)cell_x);
    const float v = smooth(0, 1, z - (float)cell_z);
    const float a = hash_unit(cell_x, 1, cell_z);
    const float b = hash_unit(cell_x + 1, 1, cell_z);
    const float c = hash_unit(cell_x, 1, cell_z + 1);
    const float d = hash_unit(cell_x + 1, 1, cell_z + 1);
    return (a + (b - a) * u) * (1 - v) + (c + (d - c) * u) * v;
}

static float cloud_cover(const Frame *frame, Vec3 direction)
{
    if (direction.y < 0.03f) {
        return 0;
    }
    const float x = direction.x / (direction.y + 0.1f) * 1.8f + frame->seconds * 0.03f;
    const float z = direction.z / (direction.y + 0.1f) * 1.8f;
    const float shape = 0.55f * soft_noise(x, z) + 0.28f * soft_noise(x * 2.3f, z * 2.3f) +
                        0.17f * soft_noise(x * 5.1f, z * 5.1f);
    return smooth(0.48f, 0.72f, shape) * smooth(0.03f, 0.12f, direction.y);
}

static Colour sky(const Frame *frame, Vec3 direction)
{
    const float up = saturate(direction.y);
    const Colour low = srgb(0xeaf1f5);
    const Colour middle = srgb(0xa9d6f7);
    const Colour high = srgb(0x2f74c8);
    Colour colour = vec3_lerp(low, middle, smooth(0, 0.09f, up));
    colour = vec3_lerp(colour, high, smooth(0.05f, 0.55f, up));
    colour = vec3_lerp(colour, srgb(0xfffaf2), 0.85f * cloud_cover(frame, direction));
    const float towards_sun = saturate(vec3_dot(direction, frame->sun));
    const float halo = powf(towards_sun, 14) * 0.35f + powf(towards_sun, 900) * 12;
    return vec3_mad(colour, srgb(0xffe0a8), halo);
}

static Colour fogged(const Frame *frame, Colour colour, Vec3 direction, float distance)
{
    const float fog = 1 - expf(-distance * FOG_PER_M);
    const Vec3 level = vec3_normalise(vec3(direction.x, 0.02f, direction.z));
    return vec3_lerp(colour, sky(frame, level), fog * fog);
}

// --- what things are painted with ----------------------------------------------------------------
static Colour voxel_colour(VoxelKind kind, VoxelCoord voxel, Vec3 point, Vec3 normal)
{
    static const uint32_t colours[DEMO_KIND_COUNT] = {
        [DEMO_KIND_STONE] = 0x8d8a86, [DEMO_KIND_EARTH] = 0x8a6242,  [DEMO_KIND_GRASS] = 0x6ba048,
        [DEMO_KIND_SAND] = 0xe8d5a0,  [DEMO_KIND_SNOW] = 0xf4f7fb,   [DEMO_KIND_COBBLE] = 0xc7b9a3,
        [DEMO_KIND_TRUNK] = 0x6f4d33, [DEMO_KIND_LEAVES] = 0x4b8f3c, [DEMO_KIND_BRICK] = 0xb5563f,
    };
    Colour colour = srgb(kind < DEMO_KIND_COUNT ? colours[kind] : 0xff00ff);
    if (kind == DEMO_KIND_GRASS && normal.y < 0.5f) {
        const float from_top = (float)voxel.y + 1 - point.y;
        colour = from_top < 0.3f ? srgb(0x5f9440) : srgb(colours[DEMO_KIND_EARTH]);
    } else if (kind == DEMO_KIND_GRASS) { // drier here, lusher there
        const float dry = soft_noise((float)voxel.x / 11, (float)voxel.z / 11);
        colour = vec3_lerp(srgb(0x5c9a45), srgb(0x93ad53), smooth(0.25f, 0.85f, dry));
    }
    if (kind == DEMO_KIND_BRICK && normal.y < 0.5f) {
        const float along = math_abs(normal.x) > 0.5f ? point.z : point.x;
        const float row = math_floor(point.y * 3);
        const float shifted = along * 1.5f + (fmodf(row, 2) != 0 ? 0.5f : 0.0f);
        const bool mortar = point.y * 3 - row < 0.14f || shifted - math_floor(shifted) < 0.07f;
        colour = mortar ? srgb(0xd9c8b4) : colour;
    }
    // Each voxel its own shade.
    return vec3_scale(colour, 0.88f + 0.24f * hash_unit(voxel.x, voxel.y, voxel.z));
}

// How much of the sky a point on a voxel's face sees: the eight neighbours in front of the face
// darken its edges and corners.
static float voxel_openness(const Terrain *terrain, VoxelCoord voxel, Vec3 point, Vec3 normal)
{
    const int32_t n[3] = {(int32_t)normal.x, (int32_t)normal.y, (int32_t)normal.z};
    const float local[3] = {point.x - (float)voxel.x, point.y - (float)voxel.y,
                            point.z - (float)voxel.z};
    const uint32_t axis = n[0] != 0 ? 0 : n[1] != 0 ? 1 : 2;
    const uint32_t u_axis = (axis + 1) % 3;
    const uint32_t v_axis = (axis + 2) % 3;
    float dark = 0;
    for (int32_t dv = -1; dv <= 1; dv++) {
        for (int32_t du = -1; du <= 1; du++) {
            int32_t at[3] = {voxel.x + n[0], voxel.y + n[1], voxel.z + n[2]};
            at[u_axis] += du;
            at[v_axis] += dv;
            if ((du == 0 && dv == 0) ||
                !terrain_is_solid(terrain, (VoxelCoord){at[0], at[1], at[2]})) {
                continue;
            }
            const float u = du == 0 ? 1 : du < 0 ? 1 - local[u_axis] : local[u_axis];
            const float v = dv == 0 ? 1 : dv < 0 ? 1 - local[v_axis] : local[v_axis];
            const float near = u * u * v * v * (du != 0 && dv != 0 ? 0.7f : 1.0f);
            dark = math_max(dark, near);
        }
    }
    return 1 - 0.55f * dark;
}

static Surface terrain_surface(const Frame *frame, const SimRayHit *hit)
{
    const Terrain *terrain = sim_terrain_view(frame->sim);
    const VoxelKind kind = terrain_voxel(terrain, hit->voxel);
    Surface surface = {hit->point, hit->normal, VEC3_ZERO, 1, 0, 0};
    surface.colour = voxel_colour(kind, hit->voxel, hit->point, hit->normal);
    surface.open = voxel_openness(terrain, hit->voxel, hit->point, hit->normal);
    return surface;
}

static Vec3 to_local(const PlacedShape *placed, Vec3 point)
{
    const Vec3 d = vec3_sub(point, placed->position);
    return vec3(vec3_dot(d, placed->axis_x), vec3_dot(d, placed->axis_y),
                vec3_dot(d, placed->axis_z));
}

static bool checker(float a, float b)
{
    return ((math_floor_i32(a) + math_floor_i32(b)) & 1) != 0;
}

static void paint_part(const Frame *frame, DemoPaint paint, Vec3 local, Surface *surface)
{
    static const uint32_t colours[PAINT_COUNT] = {
        [PAINT_STONE] = 0x9c978f,  [PAINT_MARBLE] = 0xe9e2d3, [PAINT_WOOD] = 0xa87645,
        [PAINT_RED] = 0xd83a34,    [PAINT_GOLD] = 0xe9b23c,   [PAINT_TEAL] = 0x2f9c95,
        [PAINT_BOUNCE] = 0xd64fb2, [PAINT_BELT] = 0x3b3f46,   [PAINT_LADDER] = 0x7a4f2a,
        [PAINT_LIFT] = 0x4a6fd0,
    };
    surface->colour = srgb(colours[paint]);
    const float radius = math_sqrt(local.x * local.x + local.z * local.z);
    switch (paint) {
    case PAINT_STONE: {
        const float row = math_floor(local.y * 1.6f);
        const float shade = hash_unit(math_floor_i32(local.x * 1.1f + row * 0.37f), (int32_t)row,
                                      math_floor_i32(local.z * 1.1f + row * 0.59f));
        surface->colour = vec3_scale(surface->colour, 0.82f + 0.32f * shade);
        break;
    }
    case PAINT_WOOD:
        surface->colour =
            vec3_scale(surface->colour, 0.85f + 0.25f * hash_unit(math_floor_i32(local.x * 3), 3,
                                                                  math_floor_i32(local.z * 1.1f)));
        break;
    case PAINT_TEAL:
        if (checker(math_atan2(local.z, local.x) * 12 / MATH_PI, radius * 0.8f)) {
            surface->colour = vec3_scale(surface->colour, 1.55f);
        }
        surface->shine = 0.4f;
        break;
    case PAINT_BOUNCE:
        surface->glow = fmodf(radius * 3 - frame->seconds * 2 + 60, 1) < 0.4f ? 0.9f : 0.25f;
        break;
    case PAINT_BELT:
        if (fmodf(local.x - frame->seconds * 1.8f + math_abs(local.z) * 0.8f + 3600, 1.2f) <
            0.35f) {
            surface->colour = srgb(0xf0c53f);
        }
        break;
    case PAINT_LADDER:
        if (fmodf(local.y + 60, 0.4f) < 0.12f || math_abs(local.z) > 0.38f) {
            surface->colour = srgb(0xc9985c);
        }
        break;
    case PAINT_LIFT:
        if (math_max(math_abs(local.x), math_abs(local.z)) > 1.35f) {
            surface->colour = checker((local.x + local.z) * 2, 0) ? srgb(0xf2c230) : srgb(0x2a2d33);
        }
        break;
    case PAINT_GOLD:
        surface->shine = 0.8f;
        break;
    case PAINT_MARBLE:
        surface->shine = 0.15f;
        break;
    case PAINT_RED:
    case PAINT_COUNT:
        break;
    }
}

// What was built is painted by the height it stands at.
static void paint_structure(const Entity *entity, Vec3 local, Surface *surface)
{
    static const uint32_t colours[] = {0xf2ede2, 0x5aa9e6, 0xf4a259};
    surface->colour = srgb(colours[entity->part.piece % 3]);
    const Vec3 half = entity->part.placed.half;
    const float edge = 0.06f;
    const int edges = (half.x - math_abs(local.x) < edge) + (half.y - math_abs(local.y) < edge) +
                      (half.z - math_abs(local.z) < edge);
    if (edges >= 2) {
        surface->colour = vec3_scale(surface->colour, 0.6f);
    }
}

// A person: shoes, trousers, shirt, head, and eyes that look where the input does.
static void paint_character(const Frame *frame, const Entity *entity, Surface *surface)
{
    static const uint32_t shirts[] = {0xe4572e, 0x2e86de, 0xf6c445, 0x8e5bd0,
                                      0x2bb673, 0xef6f9f, 0x14b8c4, 0xf08a24};
    static const uint32_t moods[NPC_STATE_COUNT] = {0x3fa66b, 0xf0b429, 0xe02f2f, 0x9b59b6};
    const float height = sim_config(frame->sim)->character.height;
    const float h = (surface->point.y - entity->position.y) / height;
    const float yaw = entity->character.input.yaw;
    const Vec3 front = {math_sin(yaw), 0, math_cos(yaw)};
    const Vec3 side = {front.z, 0, -front.x};
    const Vec3 level = vec3_normalise(vec3(surface->normal.x, 0, surface->normal.z));
    const float ahead = vec3_dot(level, front);
    const float across = vec3_dot(level, side);
    const bool npc = entity->type == ENTITY_NPC;
    uint32_t shirt = shirts[entity->owner_id % 8];
    if (npc) {
        const Npc *mind = npc_at(frame->sim, sim_find(frame->sim, entity->net_id));
        shirt = moods[mind != NULL ? mind->state : NPC_IDLE];
    }
    if (h > 0.7f) {
        surface->colour = npc ? srgb(0x4a4f57) : srgb(0xf0c9a0);
        if (h > 0.9f && !npc) {
            surface->colour = srgb(entity->owner_id % 3 == 0 ? 0x3a2618 : 0x7a4a22); // hair
        }
        if (npc && h < 0.88f && h > 0.78f && ahead > 0.5f) {
            surface->colour = srgb(shirt); // a visor lit by the mood
            surface->glow = 1.2f;
        } else if (h < 0.87f && h > 0.79f && ahead > 0.6f && math_abs(across) > 0.2f &&
                   math_abs(across) < 0.5f) {
            surface->colour = srgb(0x1c1c22);
        }
    } else {
        surface->colour = h > 0.36f ? srgb(shirt) : h > 0.08f ? srgb(0x3c4a63) : srgb(0x2a2320);
    }
}

static Surface part_surface(const Frame *frame, const SimRayHit *hit)
{
    Surface surface = {hit->point, hit->normal, srgb(0xff00ff), 1, 0, 0};
    const Entity *entity = sim_entity(frame->sim, hit->entity);
    if (entity != NULL && entity_is_character(entity)) {
        paint_character(frame, entity, &surface);
    } else if (entity != NULL && entity->type == ENTITY_STRUCTURE) {
        paint_structure(entity, to_local(&entity->part.placed, hit->point), &surface);
    } else {
        const PlacedShape *placed =
            entity != NULL ? &entity->part.placed
                           : &scene_part(frame->demo->scene, (uint32_t)hit->net_id - 1)->placed;
        paint_part(frame, demo_paint(frame->demo, hit->net_id), to_local(placed, hit->point),
                   &surface);
    }
    return surface;
}

// --- light -------------------------------------------------------------------------------------
// Cuts the ray to the box in which there is anything but sky and sea. False when it misses it.
static bool clip_to_land(const Ray *ray, float *from, float *to)
{
    const float o[3] = {ray->origin.x, ray->origin.y, ray->origin.z};
    const float d[3] = {ray->direction.x, ray->direction.y, ray->direction.z};
    const float low[3] = {-LAND_HALF_M, LAND_BOTTOM_Y, -LAND_HALF_M};
    const float high[3] = {LAND_HALF_M, LAND_TOP_Y, LAND_HALF_M};
    *from = 0;
    for (uint32_t i = 0; i < 3; i++) {
        if (math_abs(d[i]) < 1e-6f) {
            if (o[i] < low[i] || o[i] > high[i]) {
                return false;
            }
            continue;
        }
        const float a = (low[i] - o[i]) / d[i];
        const float b = (high[i] - o[i]) / d[i];
        *from = math_max(*from, math_min(a, b));
        *to = math_min(*to, math_max(a, b));
    }
    return *from < *to;
}

static bool cast(const Frame *frame, const Ray *ray, float distance_max, SimRayHit *hit)
{
    float from;
    float to = distance_max;
    if (!clip_to_land(ray, &from, &to)) {
        return false;
    }
    const SimRay query = {.origin = vec3_mad(ray->origin, ray->direction, from),
                          .direction = ray->direction,
                          .distance_max = to - from,
                          .type_mask = RAY_TYPES,
                          .terrain = true};
    if (!sim_ray(frame->sim, &query, hit)) {
        return false;
    }
    hit->distance += from;
    return true;
}

static float sunlight(const Frame *frame, const Surface *surface)
{
    const float facing = vec3_dot(surface->normal, frame->sun);
    if (facing <= 0) {
        return 0;
    }
    const Ray ray = {vec3_mad(surface->point, surface->normal, SURFACE_GAP_M), frame->sun};
    SimRayHit hit;
    return cast(frame, &ray, SHADOW_M, &hit) ? 0 : facing;
}

static Colour lit(const Frame *frame, const Surface *surface, Vec3 direction)
{
    const Colour sun_colour = vec3_scale(srgb(0xffe6bd), 2.2f);
    const Colour from_above = vec3_scale(srgb(0xa9cdf5), 0.75f);
    const Colour from_below = vec3_scale(srgb(0x8a7a5c), 0.35f);
    const float sun = sunlight(frame, surface);
    Colour light = vec3_lerp(from_below, from_above, surface->normal.y * 0.5f + 0.5f);
    light = vec3_scale(light, surface->open);
    light = vec3_mad(light, sun_colour, sun * (0.4f + 0.6f * surface->open));
    Colour colour = multiply(surface->colour, light);
    if (surface->shine > 0 && sun > 0) {
        const Vec3 half = vec3_normalise(vec3_sub(frame->sun, direction));
        const float spark = powf(saturate(vec3_dot(half, surface->normal)), 50);
        colour = vec3_mad(colour, sun_colour, spark * surface->shine);
    }
    return vec3_mad(colour, surface->colour, surface->glow);
}

// Balls in the air are not hit by rays of the sim; they are drawn here.
static bool nearest_ball(const Frame *frame, const Ray *ray, float *distance, Surface *surface)
{
    bool any = false;
    for (uint32_t i = 0; i < frame->ball_count; i++) {
        const Ball *ball = &frame->balls[i];
        const Vec3 to = vec3_sub(ball->position, ray->origin);
        const float along = vec3_dot(to, ray->direction);
        const float off = vec3_length_squared(to) - along * along;
        const float inside = ball->radius * ball->radius - off;
        if (inside < 0 || along < 0) {
            continue;
        }
        const float t = along - math_sqrt(inside);
        if (t < *distance) {
            *distance = t;
            const Vec3 point = vec3_mad(ray->origin, ray->direction, t);
            *surface = (Surface){.point = point,
                                 .normal = vec3_normalise(vec3_sub(point, ball->position)),
                                 .colour = ball->glows ? srgb(0xffb347) : srgb(0xb98a6a),
                                 .open = 1,
                                 .glow = ball->glows ? 1.6f : 0};
            any = true;
        }
    }
    return any;
}

// Light that hangs in the air in front of what is seen.
static Colour glow_along(const Frame *frame, const Ray *ray, float distance)
{
    Colour colour = VEC3_ZERO;
    const uint64_t now = sim_tick(frame->sim);
    for (uint32_t i = 0; i < DEMO_FLASHES; i++) {
        const DemoFlash *flash = &frame->demo->flashes[i];
        const uint64_t age = now - flash->tick;
        if (flash->radius <= 0 || age >= FLASH_TICKS) {
            continue;
        }
        const Vec3 to = vec3_sub(flash->position, ray->origin);
        const float along = math_clamp(vec3_dot(to, ray->direction), 0, distance);
        const Vec3 off = vec3_sub(vec3_mad(ray->origin, ray->direction, along), flash->position);
        const float fade = 1 - (float)age / FLASH_TICKS;
        const float radius = flash->radius * (1.5f - fade);
        const float near = expf(-vec3_length_squared(off) / (radius * radius));
        colour = vec3_mad(colour, srgb(0xffa83c), 2.5f * near * fade * fade);
    }
    return colour;
}

// What a ray sees short of the sea: land, things, people, sky.
static Colour see_dry(const Frame *frame, const Ray *ray, float *distance)
{
    SimRayHit hit;
    Surface surface;
    const bool found = cast(frame, ray, VIEW_DISTANCE_M, &hit);
    *distance = found ? hit.distance : VIEW_DISTANCE_M * 4;
    if (found) {
        surface = hit.net_id == 0 ? terrain_surface(frame, &hit) : part_surface(frame, &hit);
    }
    const bool ball = nearest_ball(frame, ray, distance, &surface);
    if (!found && !ball) {
        return sky(frame, ray->direction);
    }
    return fogged(frame, lit(frame, &surface, ray->direction), ray->direction, *distance);
}

static Vec3 wave_normal(const Frame *frame, Vec3 p, float distance)
{
    const float t = frame->seconds;
    const float calm = 1 / (1 + distance * distance * 0.0006f); // or they would flicker far off
    const float dx = 0.05f * sinf(p.x * 0.9f + t * 1.3f) +
                     0.04f * sinf(p.x * 1.7f + p.z * 1.1f - t) +
                     0.03f * sinf(p.z * 3.1f + p.x * 0.7f + t * 2.1f);
    const float dz = 0.05f * sinf(p.z * 0.8f - t * 1.1f) +
                     0.04f * sinf(p.z * 1.9f - p.x * 1.3f + t) +
                     0.03f * sinf(p.x * 2.7f - p.z * 0.9f - t * 1.7f);
    return vec3_normalise(vec3(dx * calm, 1, dz * calm));
}

// The sea: what is under it shows through where it is shallow, the sky and the shore are reflected
// the more the flatter one looks, and foam lies along the land.
static Colour see_sea(const Frame *frame, const Ray *ray, float distance, float bottom_distance,
                      Colour bottom)
{
    const Vec3 point = vec3_mad(ray->origin, ray->direction, distance);
    const Vec3 normal = wave_normal(frame, point, distance);
    const float facing = saturate(-vec3_dot(ray->direction, normal));
    const float mirror = 0.03f + 0.97f * powf(1 - facing, 5);
    Vec3 away = vec3_mad(ray->direction, normal, 2 * facing);
    away.y = math_max(away.y, 0.01f);
    const Ray reflected = {vec3_add(point, vec3(0, SURFACE_GAP_M, 0)), vec3_normalise(away)};
    float unused;
    const Colour reflection = see_dry(frame, &reflected, &unused);
    const float depth = math_max(bottom_distance - distance, 0);
    const Colour deep = srgb(0x12608a);
    const Colour shallow = multiply(bottom, srgb(0x9fe3dc));
    Colour water = vec3_lerp(shallow, deep, 1 - expf(-depth * 0.22f));
    const float foam_line = 0.5f + 0.25f * sinf(frame->seconds * 1.2f + (point.x + point.z) * 0.6f);
    if (depth < foam_line) {
        water = vec3_lerp(water, vec3(0.9f, 0.95f, 0.95f), 0.6f * (1 - depth / foam_line));
    }
    const Colour colour = vec3_lerp(water, reflection, mirror);
    return fogged(frame, colour, ray->direction, distance);
}

static Colour see(const Frame *frame, const Ray *ray)
{
    float distance;
    Colour colour = see_dry(frame, ray, &distance);
    if (ray->direction.y < -1e-4f && ray->origin.y > DEMO_SEA_Y) {
        const float sea = (DEMO_SEA_Y - ray->origin.y) / ray->direction.y;
        if (sea < distance) {
            colour = see_sea(frame, ray, sea, distance, colour);
            distance = sea;
        }
    }
    return vec3_add(colour, glow_along(frame, ray, distance));
}

// --- the picture -------------------------------------------------------------------------------
Camera camera_at(float seconds)
{
    // To and fro on the side from which the mountain hides nothing.
    const float angle = 0.75f + 0.95f * sinf(0.08f * seconds);
    const float height = 21.5f + 2.5f * sinf(seconds * 0.11f);
    return (Camera){.position = {50 * sinf(angle), height, 50 * cosf(angle)},
                    .target = {0, 6.5f, 0},
                    .view_angle = 0.8f};
}

// Film-like: bright light is compressed instead of cut off.
static uint8_t developed(float light)
{
    const float x = light * 0.66f;
    const float film = x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f);
    return (uint8_t)(powf(saturate(film), 1 / 2.2f) * 255 + 0.5f);
}

static void frame_begin(Frame *frame, const Demo *demo)
{
    *frame = (Frame){.demo = demo, .sim = demo->sim};
    frame->seconds = (float)sim_tick(demo->sim) * sim_tick_seconds(demo->sim);
    frame->sun = vec3_normalise(vec3(0.62f, 0.62f, -0.28f));
    const uint32_t mask = ENTITY_MASK(ENTITY_PROJECTILE);
    for (Handle h = sim_next(demo->sim, HANDLE_NONE, mask);
         !handle_is_none(h) && frame->ball_count < BALLS_MAX; h = sim_next(demo->sim, h, mask)) {
        const Entity *entity = sim_entity(demo->sim, h);
        const bool ball = entity->projectile.kind == DEMO_SHOT_BALL;
        frame->balls[frame->ball_count] = (Ball){entity->position, ball ? 0.32f : 0.17f, ball};
        frame->ball_count += 1;
    }
}

typedef struct Lens {
    Vec3 forward, right, up;
    float scale;
} Lens;

static Lens lens_of(const Camera *camera)
{
    const Vec3 forward = vec3_normalise(vec3_sub(camera->target, camera->position));
    const Vec3 right = vec3_normalise(vec3_cross(forward, vec3(0, 1, 0)));
    return (Lens){forward, right, vec3_cross(right, forward), tanf(camera->view_angle / 2)};
}

static Colour pixel(const Frame *frame, const Camera *camera, const Lens *lens, const Image *image,
                    uint32_t x, uint32_t y, uint32_t samples)
{
    Colour sum = VEC3_ZERO;
    for (uint32_t i = 0; i < samples * samples; i++) {
        const float dx = ((float)(i % samples) + 0.5f) / (float)samples;
        const float dy = ((float)(i / samples) + 0.5f) / (float)samples;
        const float across = (2 * ((float)x + dx) - (float)image->width) / (float)image->height;
        const float up = 1 - 2 * ((float)y + dy) / (float)image->height;
        Vec3 direction = vec3_mad(lens->forward, lens->right, across * lens->scale);
        direction = vec3_normalise(vec3_mad(direction, lens->up, up * lens->scale));
        const Ray ray = {camera->position, direction};
        const Colour seen = see(frame, &ray);
        // One glaring sample must not outshine its neighbours.
        sum = vec3_add(sum, vec3_min(seen, vec3(4, 4, 4)));
    }
    return vec3_scale(sum, 1 / (float)(samples * samples));
}

void render(const Demo *demo, const Camera *camera, uint32_t samples, Image *image)
{
    Frame frame;
    frame_begin(&frame, demo);
    const Lens lens = lens_of(camera);
    for (uint32_t y = 0; y < image->height; y++) {
        for (uint32_t x = 0; x < image->width; x++) {
            const Colour colour = pixel(&frame, camera, &lens, image, x, y, samples);
            uint8_t *rgb = image->rgb + ((size_t)y * image->width + x) * 3;
            rgb[0] = developed(colour.x);
            rgb[1] = developed(colour.y);
            rgb[2] = developed(colour.z);
        }
    }
}
