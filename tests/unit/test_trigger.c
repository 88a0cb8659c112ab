// Zones: entering and leaving are each reported once, for walking, falling through in one tick,
// dying, leaving the world, and a zone that moves or is removed.
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

typedef struct Tally {
    uint32_t entered, left;
} Tally;

static void tally(const Sim *sim, uint64_t zone, Tally *tally)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].subject == zone) {
            tally->entered += events[i].type == SIM_EVENT_TRIGGER_ENTERED;
            tally->left += events[i].type == SIM_EVENT_TRIGGER_LEFT;
        }
    }
}

static PartDesc zone(Vec3 min, Vec3 max)
{
    PartDesc part = walk_box(min, max);
    part.data.flags = PART_GHOST | PART_TRIGGER;
    return part;
}

TEST(walking_through_enters_and_leaves_once)
{
    const PartDesc part = zone(vec3(-2, 0, 4), vec3(2, 2, 6));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &part;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 0, 0));
    Tally seen = {0};
    for (uint32_t i = 0; i < 120; i++) {
        sim_set_input(world.sim, player, &(SimInput){.move_z = 1});
        sim_step(world.sim);
        tally(world.sim, 1, &seen);
        const float z = sim_entity(world.sim, player)->position.z;
        CHECK_INT(seen.entered, z >= 3.6f);
        CHECK_INT(seen.left, z > 6.4f);
    }
    CHECK_INT(seen.left, 1);
    walk_world_close(&world);
}

TEST(a_thin_zone_is_noticed_at_full_fall)
{
    const PartDesc part = zone(vec3(-2, 100, -2), vec3(2, 100.03f, 2));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &part;
    desc.part_count = 1;
    desc.config.character.height = 0.8f; // a ball: more than its own length in one tick
    desc.config.character.radius = 0.4f;
    desc.config.character.step_height = 0.06f;
    bool both_in_one_tick = false;
    for (uint32_t start = 0; start < 5; start++) {
        WalkWorld world = walk_world_open(&desc);
        (void)walk_player(world.sim, vec3(0, 300 + 0.2f * (float)start, 0));
        Tally seen = {0};
        for (uint32_t i = 0; i < 400; i++) {
            const Tally before = seen;
            sim_step(world.sim);
            tally(world.sim, 1, &seen);
            both_in_one_tick =
                both_in_one_tick || (seen.entered > before.entered && seen.left > before.left);
        }
        CHECK_INT(seen.entered, 1);
        CHECK_INT(seen.left, 1);
        walk_world_close(&world);
    }
    CHECK(both_in_one_tick); // from some of the heights no tick ends inside
}

TEST(a_moving_zone_meets_standing_characters)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Handle sweeper = HANDLE_NONE;
    const ShapeDesc shape = {.part = zone(vec3(-10.05f, 0, -2), vec3(-9.95f, 2, 2))};
    CHECK_OK(sim_spawn_part(world.sim, &shape, &sweeper));
    const uint64_t net_id = sim_entity(world.sim, sweeper)->net_id;
    (void)walk_player(world.sim, vec3(0, 0, 0));
    walk_steps_run(world.sim, 5);
    const MotionSegment segment = {.pose = {vec3(-10, 1, 0), QUAT_IDENTITY},
                                   .velocity = vec3(59, 0, 0),
                                   .tick_from = sim_tick(world.sim),
                                   .tick_to = sim_tick(world.sim) + 20};
    CHECK_OK(sim_move_part(world.sim, sweeper, &segment));
    Tally seen = {0};
    for (uint32_t i = 0; i < 30; i++) {
        sim_step(world.sim);
        tally(world.sim, net_id, &seen);
    }
    CHECK_INT(seen.entered, 1);
    CHECK_INT(seen.left, 1);
    walk_world_close(&world);
}

TEST(dying_leaving_and_removal_leave_the_zone)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    Handle area = HANDLE_NONE;
    const ShapeDesc shape = {.part = zone(vec3(-5, 0, -5), vec3(5, 3, 5))};
    CHECK_OK(sim_spawn_part(sim, &shape, &area));
    const uint64_t net_id = sim_entity(sim, area)->net_id;
    const Handle dies = walk_player(sim, vec3(-2, 0, 0));
    const Handle goes = walk_player(sim, vec3(0, 0, 0));
    (void)walk_player(sim, vec3(2, 0, 0));
    Tally seen = {0};
    sim_step(sim);
    tally(sim, net_id, &seen);
    CHECK_INT(seen.entered, 3);
    (void)sim_damage(sim, dies, 1000, 0);
    sim_step(sim);
    tally(sim, net_id, &seen);
    CHECK_INT(seen.left, 1);
    sim_remove(sim, goes);
    sim_step(sim);
    tally(sim, net_id, &seen);
    CHECK_INT(seen.left, 2);
    sim_remove(sim, area);
    sim_step(sim);
    tally(sim, net_id, &seen);
    CHECK_INT(seen.left, 3);
    CHECK_INT(seen.entered, 3);
    walk_world_close(&world);
}

TEST(a_client_leaves_zones_to_the_server)
{
    const PartDesc part = zone(vec3(-2, 0, -2), vec3(2, 2, 2));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &part;
    desc.part_count = 1;
    desc.config.authority = false;
    desc.config.npc_max = 0;
    WalkWorld world = walk_world_open(&desc);
    (void)walk_player(world.sim, vec3(0, 0, 0));
    Tally seen = {0};
    for (uint32_t i = 0; i < 10; i++) {
        sim_step(world.sim);
        tally(world.sim, 1, &seen);
    }
    CHECK_INT(seen.entered, 0);
    walk_world_close(&world);
}
