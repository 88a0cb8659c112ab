// Questions about a sim: what is near, what does a ray meet, is this place free.
#include "core/sim/collide.h"

#define QUERY_MAX   512
#define RAY_MAX_M   (4.0f * WORLD_EXTENT_M)
#define FREE_M      0.0005f // standing on a surface overlaps it by rounding
#define RAY_PIECE_M 8.0f    // a long ray is looked up in pieces, so that its boxes stay small

typedef struct RefList {
    SimRef *out;
    uint32_t max;
    uint32_t count; // found, may be more than max
} RefList;

static void add_ref(RefList *list, SimRef ref)
{
    if (list->count < list->max) {
        list->out[list->count] = ref;
    }
    list->count += 1;
}

static float squared_distance(Aabb box, Vec3 point)
{
    const Vec3 nearest = vec3_min(vec3_max(point, box.min), box.max);
    return vec3_length_squared(vec3_sub(point, nearest));
}

static uint32_t layers_of(uint32_t type_mask)
{
    return ((type_mask & ENTITY_MASK_SHAPES) != 0 ? GRID_MASK(GRID_SHAPES) : 0) |
           ((type_mask & ENTITY_MASK_CHARACTERS) != 0 ? GRID_MASK(GRID_CHARACTERS) : 0) |
           ((type_mask & ENTITY_MASK(ENTITY_PROJECTILE)) != 0 ? GRID_MASK(GRID_PROJECTILES) : 0);
}

// A negative radius asks for the box alone.
static uint32_t query(const Sim *sim, Aabb box, Vec3 centre, float radius, uint32_t type_mask,
                      SimRef *out, uint32_t max)
{
    RefList list = {out, max, 0};
    uint32_t found[QUERY_MAX];
    uint32_t count = grid_query(&sim->grid, box, layers_of(type_mask), found, QUERY_MAX);
    if (count <= QUERY_MAX) {
        for (uint32_t i = 0; i < count; i++) {
            const Entity *entity = sim_at(sim, found[i]);
            const Aabb bounds = sim->grid.items[found[i]].bounds;
            if ((type_mask & ENTITY_MASK(entity->type)) != 0 &&
                (radius < 0 || squared_distance(bounds, centre) <= radius * radius)) {
                add_ref(&list, (SimRef){entity->net_id, pool_handle(&sim->entities, found[i])});
            }
        }
    } else {
        // More than fits a list: walk all slots instead.
        sim_add_work(sim, (uint64_t)sim->entities.count * GRID_ITEM_STEPS);
        for (uint32_t i = pool_next(&sim->entities, 1); i != 0;
             i = pool_next(&sim->entities, i + 1)) {
            const Entity *entity = sim_at(sim, i);
            const Aabb bounds = sim->grid.items[i].bounds;
            if ((type_mask & ENTITY_MASK(entity->type)) != 0 && aabb_overlaps(bounds, box) &&
                (radius < 0 || squared_distance(bounds, centre) <= radius * radius)) {
                add_ref(&list, (SimRef){entity->net_id, pool_handle(&sim->entities, i)});
            }
        }
    }
    if ((type_mask & ENTITY_MASK(ENTITY_PART)) == 0 || sim->scene == NULL) {
        return list.count;
    }
    count = scene_query(sim->scene, box, found, QUERY_MAX, sim->grid.work);
    const bool all = count > QUERY_MAX;
    const uint32_t candidates = all ? scene_part_count(sim->scene) : count;
    sim_add_work(sim, (uint64_t)candidates * GRID_ITEM_STEPS);
    for (uint32_t i = 0; i < candidates; i++) {
        const uint32_t part = all ? i : found[i];
        const Aabb bounds = scene_part(sim->scene, part)->placed.bounds;
        if (!sim_part_is_hidden(sim, part) && aabb_overlaps(bounds, box) &&
            (radius < 0 || squared_distance(bounds, centre) <= radius * radius)) {
            add_ref(&list, (SimRef){(uint64_t)part + 1, HANDLE_NONE});
        }
    }
    return list.count;
}

uint32_t sim_query_box(const Sim *sim, Aabb box, uint32_t type_mask, SimRef *out, uint32_t max)
{
    return query(sim, box, VEC3_ZERO, -1, type_mask, out, max);
}

uint32_t sim_query_radius(const Sim *sim, Vec3 centre, float radius, uint32_t type_mask,
                          SimRef *out, uint32_t max)
{
    if (!(radius >= 0)) {
        return 0;
    }
    return query(sim, aabb_grow((Aabb){centre, centre}, radius), centre, radius, type_mask, out,
                 max);
}

// --- rays ---------------------------------------------------------------------------------------

static PlacedShape capsule_middle(Capsule capsule)
{
    const Shape cylinder = {SHAPE_CYLINDER,
                            {capsule.radius, capsule.height * 0.5f, capsule.radius}};
    const Vec3 centre = {capsule.base.x, capsule.base.y + capsule.height * 0.5f, capsule.base.z};
    return shape_place(cylinder, (Pose){centre, QUAT_IDENTITY});
}

bool capsule_ray(Capsule capsule, Vec3 origin, Vec3 direction, float distance_max, ShapeHit *hit)
{
    const Shape ball = {SHAPE_SPHERE, {capsule.radius, capsule.radius, capsule.radius}};
    const Vec3 top = {capsule.base.x, capsule.base.y + capsule.height, capsule.base.z};
    const PlacedShape pieces[3] = {shape_place(ball, (Pose){capsule.base, QUAT_IDENTITY}),
                                   shape_place(ball, (Pose){top, QUAT_IDENTITY}),
                                   capsule_middle(capsule)};
    bool any = false;
    for (uint32_t i = 0; i < 3; i++) {
        ShapeHit piece;
        if (shape_ray(&pieces[i], origin, direction, distance_max, &piece) &&
            (!any || piece.distance < hit->distance)) {
            *hit = piece;
            any = true;
        }
    }
    return any;
}

static void keep_nearer(SimRayHit *best, bool *any, const ShapeHit *hit, uint64_t net_id,
                        Handle entity)
{
    if (*any && hit->distance >= best->distance) {
        return;
    }
    *any = true;
    *best = (SimRayHit){.distance = hit->distance,
                        .point = hit->point,
                        .normal = hit->normal,
                        .net_id = net_id,
                        .entity = entity};
}

// Asked only about what is nearer than everything before.
static bool is_ignored(const Sim *sim, const SimRay *ray, uint64_t net_id)
{
    sim_add_work(sim, ray->ignored_count / WORK_IGNORED_PER_STEP);
    for (uint32_t i = 0; i < ray->ignored_count; i++) {
        if (ray->ignored[i] == net_id) {
            return true;
        }
    }
    return false;
}

static void ray_scene(const Sim *sim, const SimRay *ray, Aabb box, SimRayHit *best, bool *any)
{
    uint32_t found[QUERY_MAX];
    const uint32_t count = scene_query(sim->scene, box, found, QUERY_MAX, sim->grid.work);
    const bool all = count > QUERY_MAX;
    const uint32_t candidates = all ? scene_part_count(sim->scene) : count;
    sim_add_work(sim, (uint64_t)candidates * WORK_TEST_STEPS);
    for (uint32_t i = 0; i < candidates; i++) {
        const uint32_t index = all ? i : found[i];
        const ScenePart *part = scene_part(sim->scene, index);
        if (sim_part_is_hidden(sim, index) ||
            (!ray->ghosts && (part->desc.data.flags & PART_GHOST) != 0)) {
            continue;
        }
        ShapeHit hit;
        const float reach = *any ? best->distance : ray->distance_max;
        if (shape_ray(&part->placed, ray->origin, ray->direction, reach, &hit) &&
            !is_ignored(sim, ray, (uint64_t)index + 1)) {
            keep_nearer(best, any, &hit, (uint64_t)index + 1, HANDLE_NONE);
        }
    }
}

static bool ray_entity(const Sim *sim, const SimRay *ray, const Entity *entity, float reach,
                       ShapeHit *hit)
{
    if (entity_has_shape(entity)) {
        const bool ghost =
            entity->type == ENTITY_PROP || (entity->part.data.flags & PART_GHOST) != 0;
        return (ray->ghosts || !ghost) &&
               shape_ray(&entity->part.placed, ray->origin, ray->direction, reach, hit);
    }
    return entity_is_character(entity) && entity->character.health > 0 &&
           capsule_ray(sim_capsule(sim, entity->position), ray->origin, ray->direction, reach, hit);
}

static void ray_entities(const Sim *sim, const SimRay *ray, Aabb box, SimRayHit *best, bool *any)
{
    uint32_t found[QUERY_MAX];
    // Rays go through what flies, whatever the mask says.
    const uint32_t layers = layers_of(ray->type_mask) & GRID_BLOCKING;
    const uint32_t count = grid_query(&sim->grid, box, layers, found, QUERY_MAX);
    const bool all = count > QUERY_MAX;
    sim_add_work(sim, (uint64_t)(all ? sim->entities.count : count) * WORK_TEST_STEPS);
    uint32_t i = 0;
    uint32_t slot = all ? pool_next(&sim->entities, 1) : count > 0 ? found[0] : 0;
    while (slot != 0) {
        const Entity *entity = sim_at(sim, slot);
        const Handle handle = pool_handle(&sim->entities, slot);
        ShapeHit hit;
        const float reach = *any ? best->distance : ray->distance_max;
        if ((ray->type_mask & ENTITY_MASK(entity->type)) != 0 &&
            !handle_equal(handle, ray->ignore) && ray_entity(sim, ray, entity, reach, &hit) &&
            !is_ignored(sim, ray, entity->net_id)) {
            keep_nearer(best, any, &hit, entity->net_id, handle);
        }
        i += 1;
        slot = all ? pool_next(&sim->entities, slot + 1) : i < count ? found[i] : 0;
    }
}

typedef void (*RayPiece)(const Sim *sim, const SimRay *ray, Aabb box, SimRayHit *best, bool *any);

static void ray_pieces(const Sim *sim, const SimRay *ray, RayPiece visit, SimRayHit *best,
                       bool *any)
{
    for (float from = 0; from < ray->distance_max; from += RAY_PIECE_M) {
        if (*any && best->distance <= from) {
            return;
        }
        const float to = math_min(from + RAY_PIECE_M, ray->distance_max);
        const Vec3 a = vec3_mad(ray->origin, ray->direction, from);
        const Vec3 b = vec3_mad(ray->origin, ray->direction, to);
        visit(sim, ray, (Aabb){vec3_min(a, b), vec3_max(a, b)}, best, any);
    }
}

bool sim_ray(const Sim *sim, const SimRay *asked, SimRayHit *hit)
{
    SimRay limited = *asked;
    limited.distance_max = math_min(limited.distance_max, RAY_MAX_M);
    const SimRay *ray = &limited;
    SimRayHit best = {0};
    bool any = false;
    TerrainHit ground;
    sim_add_work(sim, (uint64_t)math_max(ray->distance_max, 1) * WORK_METRE_STEPS);
    if (ray->terrain &&
        terrain_ray(sim->terrain, ray->origin, ray->direction, ray->distance_max, &ground)) {
        any = true;
        best = (SimRayHit){.distance = ground.distance,
                           .point = ground.point,
                           .normal = ground.normal,
                           .voxel = ground.voxel};
    }
    // All anchored parts before all entities: of equal distances the first one counts.
    if (sim->scene != NULL && (ray->type_mask & ENTITY_MASK(ENTITY_PART)) != 0) {
        ray_pieces(sim, ray, ray_scene, &best, &any);
    }
    if (ray->type_mask != 0) {
        ray_pieces(sim, ray, ray_entities, &best, &any);
    }
    if (any) {
        *hit = best;
    }
    return any;
}

// --- free places --------------------------------------------------------------------------------

float sim_penetration(const Sim *sim, Vec3 feet)
{
    const Capsule capsule = sim_capsule(sim, feet);
    Colliders colliders;
    // Gathering only increments counters; the state is not changed.
    collide_gather((Sim *)sim, capsule_bounds(capsule), &colliders);
    return math_max(-collide_deepest(&colliders, capsule, COLLIDE_ALL).contact.distance, 0);
}

Vec3 sim_free_position(Sim *sim, Vec3 feet)
{
    const float rise = 0.5f;
    const uint64_t since = sim_work(sim);
    Vec3 at = feet;
    for (uint32_t i = 0; i < 512 && sim_work(sim) - since < SIM_FREE_STEPS_MAX; i++) {
        if (sim_penetration(sim, at) <= FREE_M) {
            return at;
        }
        at.y = feet.y + rise * (float)(i + 1);
    }
    return at;
}
