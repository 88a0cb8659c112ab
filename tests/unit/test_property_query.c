// Every query gives the same result as a slow search over everything: grid, scene, boxes and radii
// of a sim in motion, rays; and rays agree with sweeps and with projectiles.
#include "tests/support/test.h"
#include "tests/unit/property_world.h"

#include "core/base/check.h"
#include "core/sim/grid.h"

#include <stdlib.h>

#define SLOTS     400
#define FOUND_MAX 2048

static Vec3 random_vec3(Rng *rng, float size)
{
    Vec3 v;
    v.x = rng_range(rng, -size, size);
    v.y = rng_range(rng, -size, size);
    v.z = rng_range(rng, -size, size);
    return v;
}

static Vec3 random_direction(Rng *rng)
{
    for (;;) {
        const Vec3 unit = vec3_normalise(random_vec3(rng, 1));
        if (vec3_length(unit) > 0.5f) {
            return unit;
        }
    }
}

static Aabb random_box(Rng *rng, float reach, float size)
{
    const Vec3 a = random_vec3(rng, reach);
    const float scale = rng_below(rng, 4) == 0 ? 1 : 0.05f;
    const Vec3 b = vec3_add(a, random_vec3(rng, size * scale));
    return (Aabb){vec3_min(a, b), vec3_max(a, b)};
}

// --- the grid alone -----------------------------------------------------------------------------
static Aabb boxes[SLOTS];
static bool is_in[SLOTS];

static void check_grid(const Grid *grid, Aabb box)
{
    uint32_t found[SLOTS];
    const uint32_t count = grid_query(grid, box, GRID_ALL, found, SLOTS);
    uint32_t want = 0;
    for (uint32_t slot = 1; slot < SLOTS; slot++) {
        if (is_in[slot] && aabb_overlaps(boxes[slot], box)) {
            if (want >= count || found[want] != slot) {
                test_fail(__FILE__, __LINE__, "the grid does not find slot %u in its place", slot);
                return;
            }
            want += 1;
        }
    }
    CHECK_INT(count, want);
    // The count is the same when only a few are written.
    uint32_t few[3];
    CHECK_INT(grid_query(grid, box, GRID_ALL, few, 3), want);
}

TEST(grid_equals_brute_force)
{
    static uint8_t block[1 << 20];
    Arena arena;
    arena_init(&arena, block, sizeof block);
    Grid grid;
    REQUIRE(grid_init(&grid, &arena, SLOTS) == STATUS_OK);
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 20000 && test_is_passing(); round++) {
        const uint32_t slot = 1 + rng_below(&rng, SLOTS - 1);
        switch (rng_below(&rng, 8)) {
        case 0:
            grid_remove(&grid, slot);
            is_in[slot] = false;
            break;
        case 1:
        case 2: // somewhere else, of another size, now and then huge
            boxes[slot] = random_box(&rng, 300, rng_below(&rng, 10) == 0 ? 900.0f : 20.0f);
            grid_put(&grid, slot, GRID_SHAPES, boxes[slot]);
            is_in[slot] = true;
            break;
        default: { // a step
            const Vec3 by = random_vec3(&rng, 2);
            boxes[slot] = (Aabb){vec3_add(boxes[slot].min, by), vec3_add(boxes[slot].max, by)};
            grid_put(&grid, slot, GRID_SHAPES, boxes[slot]);
            is_in[slot] = true;
            break;
        }
        }
        if (round % 7 == 0) {
            check_grid(&grid, random_box(&rng, 300, 200));
        }
    }
}

// --- a sim in motion ----------------------------------------------------------------------------
static PropertyWorld world;

static PlacedShape placed_before(const Entity *entity)
{
    return shape_place(entity->part.shape, entity->part.pose_previous);
}

static Aabb bounds_now(const Entity *entity)
{
    if (entity_is_character(entity)) {
        return capsule_bounds(sim_capsule(world.sim, entity->position));
    }
    if (entity->type == ENTITY_PROJECTILE) {
        return aabb_grow((Aabb){entity->position, entity->position}, entity->projectile.radius);
    }
    return entity->part.placed.bounds;
}

// A moving part may also be found where it was a tick ago.
static Aabb bounds_wide(const Entity *entity)
{
    const Aabb now = bounds_now(entity);
    return entity_has_shape(entity) && entity->part.moving
               ? aabb_union(now, placed_before(entity).bounds)
               : now;
}

static bool in_reach(Aabb box, Vec3 centre, float radius)
{
    const Vec3 nearest = vec3_min(vec3_max(centre, box.min), box.max);
    const float distance = vec3_length(vec3_sub(nearest, centre));
    return distance <= radius;
}

// radius below zero: the box alone.
static void check_query(Aabb box, Vec3 centre, float radius, uint32_t mask)
{
    static SimRef found[FOUND_MAX];
    const uint32_t count =
        radius < 0 ? sim_query_box(world.sim, box, mask, found, FOUND_MAX)
                   : sim_query_radius(world.sim, centre, radius, mask, found, FOUND_MAX);
    REQUIRE(count <= FOUND_MAX);
    uint32_t at = 0;
    for (Handle h = sim_next(world.sim, HANDLE_NONE, mask); !handle_is_none(h);
         h = sim_next(world.sim, h, mask)) {
        const Entity *entity = sim_entity(world.sim, h);
        const Aabb now = bounds_now(entity);
        const Aabb wide = bounds_wide(entity);
        const bool must = radius < 0 ? aabb_overlaps(now, box) : in_reach(now, centre, radius);
        const bool may = radius < 0 ? aabb_overlaps(wide, box) : in_reach(wide, centre, radius);
        const bool is = at < count && handle_equal(found[at].entity, h);
        if (is) {
            CHECK_INT(found[at].net_id, entity->net_id);
            at += 1;
        }
        if ((must && !is) || (is && !may)) {
            test_fail(__FILE__, __LINE__, "entity %u is %sfound", h.index, is ? "" : "not ");
            return;
        }
    }
    for (uint32_t i = 0; (mask & ENTITY_MASK(ENTITY_PART)) != 0 && i < world.options.part_count;
         i++) {
        const Aabb bounds = scene_part(world.scene, i)->placed.bounds;
        const bool must =
            !sim_part_is_hidden(world.sim, i) &&
            (radius < 0 ? aabb_overlaps(bounds, box) : in_reach(bounds, centre, radius));
        const bool is = at < count && handle_is_none(found[at].entity) && found[at].net_id == i + 1;
        at += is;
        if (must != is) {
            test_fail(__FILE__, __LINE__, "part %u is %sfound", i, is ? "" : "not ");
            return;
        }
    }
    CHECK_INT(at, count);
}

TEST(sim_queries_equal_brute_force)
{
    PropertyOptions options = property_options_busy(test_seed() + 7);
    options.player_count = 60;
    options.part_count = 300;
    property_open(&world, options);
    REQUIRE(sim_hide_part(world.sim, 5) == STATUS_OK);
    Handle thawed;
    REQUIRE(sim_thaw_part(world.sim, 6, &thawed) == STATUS_OK);
    Rng rng = rng_make(test_seed(), 2);
    // So many that a query of everything finds more than any list inside holds.
    for (uint32_t i = 0; i < 600; i++) {
        Handle prop;
        const ShapeDesc desc = {.part = property_part(&rng, property_place(&world, 0, 6))};
        REQUIRE(sim_spawn_prop(world.sim, &desc, &prop) == STATUS_OK);
    }
    const Aabb everywhere = {{-200, -200, -200}, {200, 200, 200}};
    for (uint32_t tick = 0; tick < 200 && test_is_passing(); tick++) {
        property_drive(&world);
        sim_step(world.sim);
        for (uint32_t i = 0; i < 6; i++) {
            const uint32_t mask =
                rng_below(&rng, 2) == 0 ? ENTITY_MASK_ALL : rng_u32(&rng) & ENTITY_MASK_ALL;
            const Aabb box = random_box(&rng, 28, 20);
            check_query(i == 0 ? everywhere : box, VEC3_ZERO, -1, mask);
            const Vec3 centre = property_place(&world, -2, 6);
            const float radius = rng_range(&rng, 0, 12);
            check_query(aabb_grow((Aabb){centre, centre}, radius), centre, radius, mask);
        }
    }
    property_close(&world);
}

TEST(scene_query_equals_brute_force)
{
    PropertyOptions options = property_options_default(test_seed() + 8);
    options.part_count = 1000;
    options.player_count = 1;
    property_open(&world, options);
    Rng rng = rng_make(test_seed(), 3);
    static uint32_t found[FOUND_MAX];
    for (uint32_t round = 0; round < 2000 && test_is_passing(); round++) {
        const Aabb box = random_box(&rng, 40, 60);
        uint64_t work = 0;
        const uint32_t count = scene_query(world.scene, box, found, FOUND_MAX, &work);
        uint32_t at = 0;
        for (uint32_t i = 0; i < options.part_count; i++) {
            if (aabb_overlaps(scene_part(world.scene, i)->placed.bounds, box)) {
                CHECK(at < count && found[at] == i);
                at += 1;
            }
        }
        CHECK_INT(count, at);
        uint32_t few[2];
        CHECK_INT(scene_query(world.scene, box, few, 2, &work), count);
    }
    property_close(&world);
}

// --- rays ---------------------------------------------------------------------------------------
#define RAY_STEP 0.004f

// The first step along the ray that is inside a solid voxel, or distance_max.
static float march_terrain(const SimRay *ray)
{
    for (float t = 0; t < ray->distance_max; t += RAY_STEP) {
        const Vec3 at = vec3_mad(ray->origin, ray->direction, t);
        if (terrain_is_solid(sim_terrain_view(world.sim), voxel_at(at))) {
            return t;
        }
    }
    return ray->distance_max;
}

static float nearest_shape(const SimRay *ray)
{
    float nearest = ray->distance_max;
    ShapeHit hit;
    for (uint32_t i = 0; i < world.options.part_count; i++) {
        const ScenePart *part = scene_part(world.scene, i);
        const bool ghost = (part->desc.data.flags & PART_GHOST) != 0;
        if (!sim_part_is_hidden(world.sim, i) && (ray->ghosts || !ghost) &&
            shape_ray(&part->placed, ray->origin, ray->direction, ray->distance_max, &hit)) {
            nearest = math_min(nearest, hit.distance);
        }
    }
    for (Handle h = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_SHAPES & ray->type_mask);
         !handle_is_none(h); h = sim_next(world.sim, h, ENTITY_MASK_SHAPES & ray->type_mask)) {
        const Entity *entity = sim_entity(world.sim, h);
        const bool ghost = (entity->part.data.flags & PART_GHOST) != 0;
        if ((ray->ghosts || !ghost) &&
            shape_ray(&entity->part.placed, ray->origin, ray->direction, ray->distance_max, &hit)) {
            nearest = math_min(nearest, hit.distance);
        }
    }
    return nearest;
}

// Steps along the ray in the same way for bodies, which are capsules.
static float march_characters(const SimRay *ray)
{
    float nearest = ray->distance_max;
    for (Handle h = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_CHARACTERS & ray->type_mask);
         !handle_is_none(h); h = sim_next(world.sim, h, ENTITY_MASK_CHARACTERS & ray->type_mask)) {
        const Entity *entity = sim_entity(world.sim, h);
        if (entity->character.health <= 0 || handle_equal(h, ray->ignore)) {
            continue;
        }
        const Capsule capsule = sim_capsule(world.sim, entity->position);
        const Aabb bounds = capsule_bounds(capsule);
        for (float t = 0; t < nearest; t += RAY_STEP) {
            const Vec3 at = vec3_mad(ray->origin, ray->direction, t);
            if (!aabb_contains(bounds, at)) {
                continue;
            }
            const float y = math_clamp(at.y, capsule.base.y, capsule.base.y + capsule.height);
            if (vec3_length(vec3_sub(at, vec3(capsule.base.x, y, capsule.base.z))) <
                capsule.radius) {
                nearest = t;
            }
        }
    }
    return nearest;
}

// A hit nearer than any step found must be real: a corner that lies between two steps.
static void check_early_hit(const SimRayHit *hit)
{
    if (hit->net_id == 0) {
        CHECK(terrain_is_solid(sim_terrain_view(world.sim), hit->voxel));
        const Vec3 low = vec3((float)hit->voxel.x, (float)hit->voxel.y, (float)hit->voxel.z);
        const Aabb voxel = {low, vec3_add(low, vec3(1, 1, 1))};
        CHECK(aabb_contains(aabb_grow(voxel, 0.001f), hit->point));
        return;
    }
    const Entity *entity = sim_entity(world.sim, hit->entity);
    REQUIRE(entity != NULL && entity_is_character(entity));
    const Capsule capsule = sim_capsule(world.sim, entity->position);
    const float y = math_clamp(hit->point.y, capsule.base.y, capsule.base.y + capsule.height);
    const Vec3 core = vec3(capsule.base.x, y, capsule.base.z);
    CHECK_NEAR(vec3_length(vec3_sub(hit->point, core)), capsule.radius, 0.002f);
}

static void check_ray(const SimRay *ray)
{
    SimRayHit hit = {.distance = ray->distance_max};
    const bool any = sim_ray(world.sim, ray, &hit);
    const float shape = nearest_shape(ray);
    const float march =
        math_min(ray->terrain ? march_terrain(ray) : ray->distance_max, march_characters(ray));
    const float want = math_min(shape, march);
    if (hit.distance > want + 0.001f) {
        test_fail(__FILE__, __LINE__, "the ray goes %.4f m, something is at %.4f (shape %.4f)",
                  (double)hit.distance, (double)want, (double)shape);
        return;
    }
    if (!any) {
        return;
    }
    CHECK_NEAR(vec3_length(hit.normal), 1, 0.001f);
    const Vec3 along = vec3_mad(ray->origin, ray->direction, hit.distance);
    CHECK_NEAR(vec3_length(vec3_sub(along, hit.point)), 0, 0.002f);
    CHECK(vec3_dot(hit.normal, ray->direction) <= 0.001f);
    if (hit.distance < want - RAY_STEP - 0.001f) {
        check_early_hit(&hit);
    }
}

TEST(rays_equal_brute_force)
{
    PropertyOptions options = property_options_busy(test_seed() + 9);
    options.part_count = 200;
    property_open(&world, options);
    REQUIRE(sim_hide_part(world.sim, 3) == STATUS_OK);
    Rng rng = rng_make(test_seed(), 4);
    uint32_t hits = 0;
    for (uint32_t tick = 0; tick < 60 && test_is_passing(); tick++) {
        property_drive(&world);
        sim_step(world.sim);
        for (uint32_t i = 0; i < 12; i++) {
            SimRay ray = {.origin = property_place(&world, -3, 8),
                          .direction = random_direction(&rng),
                          .distance_max = rng_range(&rng, 0.1f, 50),
                          .type_mask = rng_below(&rng, 2) == 0
                                           ? ENTITY_MASK_ALL
                                           : ENTITY_MASK(ENTITY_PART) | ENTITY_MASK_CHARACTERS,
                          .terrain = rng_below(&rng, 3) != 0,
                          .ghosts = rng_below(&rng, 2) == 0};
            if (rng_below(&rng, 4) == 0) { // along an axis, where grids have their edges
                ray.direction = vec3(0, rng_below(&rng, 2) == 0 ? 1.0f : -1.0f, 0);
            }
            SimRayHit hit;
            hits += sim_ray(world.sim, &ray, &hit);
            check_ray(&ray);
        }
    }
    CHECK(hits > 300);
    property_close(&world);
}

// --- rays and sweeps ----------------------------------------------------------------------------
TEST(rays_agree_with_sweeps)
{
    Rng rng = rng_make(test_seed(), 5);
    uint32_t both = 0;
    for (uint32_t round = 0; round < 40000 && test_is_passing(); round++) {
        const PartDesc part = property_part(&rng, random_vec3(&rng, 2));
        const PlacedShape placed = shape_place(part.shape, part.pose);
        const Vec3 origin = random_vec3(&rng, 8);
        // At the part, more or less.
        const Vec3 aim = vec3_add(part.pose.position, random_vec3(&rng, 2));
        const Vec3 direction = vec3_normalise(vec3_sub(aim, origin));
        const Vec3 way = vec3_scale(direction, 12);
        const float radius = rng_range(&rng, 0.01f, 0.5f);
        const Capsule ball = {origin, 0, radius};
        if (shape_capsule_contact(&placed, ball).distance <= 0) {
            continue;
        }
        ShapeHit ray;
        ShapeHit sweep;
        const bool ray_hits = shape_ray(&placed, origin, direction, 12, &ray);
        const bool sweep_hits = shape_sweep(&placed, ball, way, &sweep);
        if (!ray_hits) {
            continue;
        }
        // What a ray hits, a ball on the same way hits, and not later.
        CHECK(sweep_hits);
        CHECK(sweep.distance * 12 <= ray.distance + 0.001f);
        const Capsule stopped = {vec3_mad(origin, way, sweep.distance), 0, radius};
        CHECK_NEAR(shape_capsule_contact(&placed, stopped).distance, 0, 0.002f);
        both += 1;
    }
    CHECK(both > 2000);
}

// A projectile without radius hits what a ray along its way hits.
TEST(rays_agree_with_projectiles)
{
    PropertyOptions options = property_options_default(test_seed() + 10);
    options.player_count = 40;
    property_open(&world, options);
    Rng rng = rng_make(test_seed(), 6);
    const float speed = 900;
    const float reach = speed * sim_tick_seconds(world.sim);
    uint32_t hits = 0;
    for (uint32_t round = 0; round < 400 && test_is_passing(); round++) {
        property_drive(&world);
        sim_step(world.sim); // everything is where it is now: the next step moves nobody's history
        const Vec3 origin = property_place(&world, 1, 8);
        const Vec3 direction = random_direction(&rng);
        const ProjectileDesc desc = {
            .position = origin, .velocity = vec3_scale(direction, speed), .lifetime_ticks = 1};
        Handle shot;
        REQUIRE(projectile_fire(world.sim, &desc, &shot) == STATUS_OK);
        const uint64_t shot_id = sim_entity(world.sim, shot)->net_id;
        sim_step(world.sim);
        // Now the ray, in the world that the projectile flew through.
        const SimRay ray = {.origin = origin,
                            .direction = direction,
                            .distance_max = reach,
                            .type_mask = ENTITY_MASK_CHARACTERS | ENTITY_MASK(ENTITY_PART) |
                                         ENTITY_MASK(ENTITY_STRUCTURE),
                            .terrain = true};
        SimRayHit hit = {.distance = -1};
        const bool any = sim_ray(world.sim, &ray, &hit);
        uint32_t count = 0;
        const SimEvent *events = sim_events(world.sim, &count);
        bool found = false;
        for (uint32_t i = 0; i < count; i++) {
            if (events[i].type == SIM_EVENT_PROJECTILE_HIT && events[i].subject == shot_id) {
                found = true;
                CHECK(any);
                CHECK_NEAR(vec3_length(vec3_sub(events[i].position, hit.point)), 0, 0.02f);
            }
        }
        CHECK(found == any || (any && hit.distance > reach - 0.01f));
        hits += found;
    }
    CHECK(hits > 100);
    property_close(&world);
}
