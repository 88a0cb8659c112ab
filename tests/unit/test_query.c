// Queries of a sim by radius, box and ray; what counts, what is ignored, and ties.
#include "core/sim/projectile.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

static SimRay ray_from(Vec3 origin, Vec3 direction)
{
    return (SimRay){.origin = origin,
                    .direction = direction,
                    .distance_max = 100,
                    .type_mask = ENTITY_MASK_ALL,
                    .terrain = true};
}

TEST(radius_and_box_find_entities_then_anchored_parts)
{
    const PartDesc anchored[] = {walk_box(vec3(2, 0, 0), vec3(3, 1, 1)),
                                 walk_box(vec3(20, 0, 0), vec3(21, 1, 1))};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = anchored;
    desc.part_count = 2;
    WalkWorld world = walk_world_open(&desc);
    const Handle near = walk_player(world.sim, vec3(0, 0, 0));
    (void)walk_player(world.sim, vec3(15, 0, 0));
    SimRef found[8];
    const Vec3 centre = {0, 1, 0};
    REQUIRE(sim_query_radius(world.sim, centre, 5, ENTITY_MASK_ALL, found, 8) == 2);
    CHECK(handle_equal(found[0].entity, near));
    CHECK_INT(found[1].net_id, 1);
    CHECK(handle_is_none(found[1].entity));
    CHECK_INT(sim_query_radius(world.sim, centre, 5, ENTITY_MASK(ENTITY_PLAYER), found, 8), 1);
    CHECK_INT(sim_query_radius(world.sim, centre, 50, ENTITY_MASK_ALL, found, 1), 4);
    CHECK_INT(sim_query_radius(world.sim, centre, -1, ENTITY_MASK_ALL, found, 8), 0);
    CHECK_INT(sim_query_radius(world.sim, centre, __builtin_nanf(""), ENTITY_MASK_ALL, found, 8),
              0);
    CHECK_OK(sim_hide_part(world.sim, 1));
    CHECK_INT(sim_query_radius(world.sim, centre, 5, ENTITY_MASK_ALL, found, 8), 1);
    // A radius is round: the corner of its box is not in it.
    const Aabb box = {{-5, -5, -5}, {5, 5, 5}};
    (void)walk_player(world.sim, vec3(4.6f, 0, 4.6f));
    CHECK_INT(sim_query_box(world.sim, box, ENTITY_MASK_ALL, found, 8), 2);
    CHECK_INT(sim_query_radius(world.sim, VEC3_ZERO, 5, ENTITY_MASK_ALL, found, 8), 1);
    walk_world_close(&world);
}

TEST(more_than_a_list_holds_is_still_counted)
{
    WalkWorldDesc desc = walk_world_default();
    desc.config.entity_max = 1500;
    WalkWorld world = walk_world_open(&desc);
    for (uint32_t i = 0; i < 1000; i++) {
        Handle prop = HANDLE_NONE;
        const ShapeDesc shape = {.part = walk_box(vec3(0, 3, 0), vec3(1, 4, 1))};
        CHECK_OK(sim_spawn_prop(world.sim, &shape, &prop));
    }
    SimRef found[4];
    CHECK_INT(sim_query_radius(world.sim, VEC3_ZERO, 9, ENTITY_MASK_ALL, found, 4), 1000);
    SimRay ray = ray_from(vec3(-5, 3.5f, 0.5f), vec3(1, 0, 0));
    ray.ghosts = true;
    SimRayHit hit;
    REQUIRE(sim_ray(world.sim, &ray, &hit));
    CHECK_INT(hit.entity.index, 1); // the lowest slot of many equal ones
    walk_world_close(&world);
}

TEST(a_ray_meets_the_nearest_thing)
{
    PartDesc ghost = walk_box(vec3(-1, 0, 2), vec3(1, 3, 2.5f));
    ghost.data.flags = PART_GHOST;
    const PartDesc anchored[] = {ghost, walk_box(vec3(-1, 0, 20), vec3(1, 3, 21))};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = anchored;
    desc.part_count = 2;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const Handle target = walk_player(sim, vec3(0, 0, 10));
    SimRay ray = ray_from(vec3(0, 1, 0), vec3(0, 0, 1));
    SimRayHit hit;
    REQUIRE(sim_ray(sim, &ray, &hit));
    CHECK(handle_equal(hit.entity, target));
    CHECK_NEAR(hit.distance, 9.6, 1e-4);
    CHECK_NEAR(hit.normal.z, -1, 1e-4);
    ray.ignore = target;
    REQUIRE(sim_ray(sim, &ray, &hit));
    CHECK_INT(hit.net_id, 2);
    CHECK_NEAR(hit.distance, 20, 1e-4);
    ray.ignore = HANDLE_NONE;
    uint64_t ignored[2] = {2, 0};
    ray.ignored = ignored;
    ray.ignored_count = 1;
    REQUIRE(sim_ray(sim, &ray, &hit));
    CHECK(handle_equal(hit.entity, target));
    ray.ignore = target;
    CHECK(!sim_ray(sim, &ray, &hit)); // anchored parts by net id
    ray.ignore = HANDLE_NONE;
    ignored[1] = sim_entity(sim, target)->net_id;
    ray.ignored = &ignored[1];
    REQUIRE(sim_ray(sim, &ray, &hit));
    CHECK_INT(hit.net_id, 2);
    ray.ignored = ignored;
    ray.ignored_count = 2;
    CHECK(!sim_ray(sim, &ray, &hit)); // both
    ray.ignored = &ignored[1];
    ray.ignored_count = 1;
    ray.ghosts = true;
    REQUIRE(sim_ray(sim, &ray, &hit));
    CHECK_INT(hit.net_id, 1);
    ray.type_mask = 0;
    CHECK(!sim_ray(sim, &ray, &hit)); // nothing but terrain, and none in the way
    ray.direction = vec3(0, -1, 0);
    REQUIRE(sim_ray(sim, &ray, &hit));
    CHECK_INT(hit.net_id, 0);
    CHECK_NEAR(hit.distance, 1, 1e-5);
    CHECK_INT(hit.voxel.y, -1);
    ray.terrain = false;
    CHECK(!sim_ray(sim, &ray, &hit));
    // The dead are no obstacle.
    (void)sim_damage(sim, target, 1000, 0);
    ray = ray_from(vec3(0, 1, 0), vec3(0, 0, 1));
    REQUIRE(sim_ray(sim, &ray, &hit));
    CHECK_INT(hit.net_id, 2);
    walk_world_close(&world);
}

TEST(a_ray_hits_the_round_ends_of_a_capsule)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle target = walk_player(world.sim, vec3(0, 0, 0));
    SimRay ray = ray_from(vec3(0, 5, 0), vec3(0, -1, 0));
    SimRayHit hit;
    REQUIRE(sim_ray(world.sim, &ray, &hit));
    CHECK_NEAR(hit.distance, 5 - 1.8, 1e-4);
    CHECK(handle_equal(hit.entity, target));
    ray.origin = vec3(0.35f, 5, 0);
    REQUIRE(sim_ray(world.sim, &ray, &hit));
    CHECK_NEAR(hit.distance, 5 - 1.4 - __builtin_sqrt(0.4 * 0.4 - 0.35 * 0.35), 1e-3);
    walk_world_close(&world);
}

TEST(penetration_is_the_depth)
{
    const PartDesc anchored = walk_box(vec3(1, 0, -5), vec3(2, 3, 5));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &anchored;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    CHECK_NEAR(sim_penetration(world.sim, vec3(0, 0, 0)), 0, 1e-6);
    CHECK_NEAR(sim_penetration(world.sim, vec3(0.7f, 0.01f, 0)), 0.1, 1e-5);
    CHECK_NEAR(sim_penetration(world.sim, vec3(-5, -0.25f, 0)), 0.25, 1e-5);
    walk_world_close(&world);
}

TEST(of_equal_distances_the_anchored_part_counts)
{
    // The entity is wide and begins in an earlier stretch of the ray; both are met at the same
    // place.
    const PartDesc anchored = walk_box(vec3(-1, 0, 20), vec3(1, 3, 21));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &anchored;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    Handle twin = HANDLE_NONE;
    const ShapeDesc shape = {.part = walk_box(vec3(-1, 0, 20), vec3(1, 3, 60))};
    CHECK_OK(sim_spawn_part(world.sim, &shape, &twin));
    const SimRay ray = ray_from(vec3(0, 1, 0), vec3(0, 0, 1));
    SimRayHit hit;
    REQUIRE(sim_ray(world.sim, &ray, &hit));
    CHECK_NEAR(hit.distance, 20, 1e-4);
    CHECK_INT(hit.net_id, 1);
    walk_world_close(&world);
}
