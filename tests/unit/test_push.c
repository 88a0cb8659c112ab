// The soft push: overlapping characters drift apart, evenly, and only on the server.
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

static float apart(const Sim *sim, Handle a, Handle b)
{
    return vec3_length(vec3_sub(sim_entity(sim, a)->position, sim_entity(sim, b)->position));
}

TEST(two_in_one_place_part_evenly)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle a = walk_player(world.sim, vec3(3, 0, 3));
    const Handle b = walk_player(world.sim, vec3(3, 0, 3));
    walk_steps_run(world.sim, 300);
    CHECK(apart(world.sim, a, b) > 0.75f);
    CHECK(apart(world.sim, a, b) < 0.85f);
    const Vec3 middle = vec3_scale(
        vec3_add(sim_entity(world.sim, a)->position, sim_entity(world.sim, b)->position), 0.5f);
    CHECK_NEAR(middle.x, 3, 0.01);
    CHECK_NEAR(middle.z, 3, 0.01);
    walk_world_close(&world);
}

TEST(one_above_the_other_is_not_pushed)
{
    const PartDesc floor = walk_box(vec3(-2, 2, -2), vec3(2, 2.2f, 2));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &floor;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    const Handle below = walk_player(world.sim, vec3(0, 0, 0));
    const Handle above = walk_player(world.sim, vec3(0, 2.2f, 0));
    walk_steps_run(world.sim, 60);
    CHECK_NEAR(sim_entity(world.sim, below)->position.x, 0, 0);
    CHECK_NEAR(sim_entity(world.sim, above)->position.x, 0, 0);
    walk_world_close(&world);
}

TEST(clients_do_not_push)
{
    WalkWorldDesc desc = walk_world_default();
    desc.config.authority = false;
    desc.config.npc_max = 0;
    WalkWorld world = walk_world_open(&desc);
    const Handle a = walk_player(world.sim, vec3(3, 0, 3));
    const Handle b = walk_player(world.sim, vec3(3.2f, 0, 3));
    walk_steps_run(world.sim, 60);
    CHECK_NEAR(apart(world.sim, a, b), 0.2, 1e-4);
    walk_world_close(&world);
}

TEST(a_crowd_spreads_and_is_found_across_cells)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Handle crowd[16];
    Rng rng = rng_make(test_seed(), 5);
    for (uint32_t i = 0; i < 16; i++) {
        crowd[i] = walk_player(world.sim,
                               vec3(rng_range(&rng, -0.5f, 0.5f), 0, rng_range(&rng, -0.5f, 0.5f)));
    }
    walk_steps_run(world.sim, 900);
    for (uint32_t i = 0; i < 16; i++) {
        for (uint32_t j = i + 1; j < 16; j++) {
            CHECK(apart(world.sim, crowd[i], crowd[j]) > 0.6f);
        }
    }
    walk_world_close(&world);
}
