// Entities and their life: net ids, handles, limits, removal, anchored parts, damage,
// configuration.
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

static ShapeDesc box_at(Vec3 centre)
{
    return (ShapeDesc){
        .part = {.shape = {SHAPE_BOX, {0.5f, 0.5f, 0.5f}}, .pose = {centre, QUAT_IDENTITY}}};
}

TEST(net_ids_rise_are_unique_and_found)
{
    const PartDesc anchored = walk_box(vec3(5, 0, 5), vec3(6, 1, 6));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &anchored;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    Handle first = HANDLE_NONE;
    Handle second = HANDLE_NONE;
    ShapeDesc shape = box_at(vec3(0, 5, 0));
    CHECK_OK(sim_spawn_part(sim, &shape, &first));
    CHECK_INT(sim_entity(sim, first)->net_id, 2); // 1 is the anchored part
    shape.net_id = 2;
    CHECK_INT(sim_spawn_part(sim, &shape, &second), STATUS_EXISTS);
    shape.net_id = 1;
    CHECK_INT(sim_spawn_part(sim, &shape, &second), STATUS_EXISTS);
    shape.net_id = 100;
    CHECK_OK(sim_spawn_part(sim, &shape, &second));
    CHECK(handle_equal(sim_find(sim, 100), second));
    shape.net_id = 0;
    Handle third = HANDLE_NONE;
    CHECK_OK(sim_spawn_part(sim, &shape, &third));
    CHECK_INT(sim_entity(sim, third)->net_id, 101);
    shape.net_id = SIM_NET_ID_MAX + 1;
    CHECK_INT(sim_spawn_part(sim, &shape, &third), STATUS_RANGE);
    // A net id is never given out twice, whatever became of its entity.
    sim_remove(sim, third);
    sim_step(sim);
    CHECK(handle_is_none(sim_find(sim, 101)));
    shape.net_id = 0;
    CHECK_OK(sim_spawn_part(sim, &shape, &third));
    CHECK_INT(sim_entity(sim, third)->net_id, 102);
    walk_world_close(&world);
}

TEST(finding_survives_many_comings_and_goings)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    Rng rng = rng_make(test_seed(), 4);
    Handle held[100] = {0};
    for (uint32_t i = 0; i < 20000 && test_is_passing(); i++) {
        const uint32_t at = rng_below(&rng, 100);
        if (sim_entity(sim, held[at]) == NULL) {
            ShapeDesc shape = box_at(vec3((float)at, 50, 0));
            CHECK_OK(sim_spawn_prop(sim, &shape, &held[at]));
        } else {
            sim_remove(sim, held[at]);
        }
        if (i % 50 == 0) {
            sim_step(sim);
        }
    }
    for (uint32_t i = 0; i < 100; i++) {
        const Entity *entity = sim_entity(sim, held[i]);
        CHECK(entity == NULL || handle_equal(sim_find(sim, entity->net_id), held[i]));
    }
    walk_world_close(&world);
}

TEST(removal_takes_effect_when_the_step_begins)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 0, 0));
    sim_remove(world.sim, player);
    CHECK(sim_entity(world.sim, player) != NULL);
    sim_step(world.sim);
    CHECK(sim_entity(world.sim, player) == NULL);
    CHECK_INT(sim_count(world.sim, ENTITY_PLAYER), 0);
    sim_remove(world.sim, player); // stale: harmless
    sim_set_input(world.sim, player, &(SimInput){.move_z = 1});
    CHECK_INT(sim_set_position(world.sim, player, VEC3_ZERO), STATUS_NOT_FOUND);
    CHECK_NEAR(sim_damage(world.sim, player, 10, 0), 0, 0);
    walk_world_close(&world);
}

TEST(limits_are_said)
{
    WalkWorldDesc desc = walk_world_default();
    desc.config.entity_max = 4;
    desc.config.character_max = 2;
    desc.config.npc_max = 0;
    desc.config.structures_max = 0;
    WalkWorld world = walk_world_open(&desc);
    Handle handle = HANDLE_NONE;
    const CharacterDesc character = {.position = {0, 0, 0}};
    CHECK_OK(sim_spawn_player(world.sim, &character, &handle));
    CHECK_OK(sim_spawn_player(world.sim, &character, &handle));
    CHECK_INT(sim_spawn_player(world.sim, &character, &handle), STATUS_LIMIT);
    const ShapeDesc shape = box_at(vec3(0, 9, 0));
    CHECK_OK(sim_spawn_part(world.sim, &shape, &handle));
    CHECK_OK(sim_spawn_part(world.sim, &shape, &handle));
    CHECK_INT(sim_spawn_part(world.sim, &shape, &handle), STATUS_LIMIT);
    const CharacterDesc nowhere = {.position = {__builtin_nanf(""), 0, 0}};
    CHECK_INT(sim_spawn_player(world.sim, &nowhere, &handle), STATUS_RANGE);
    walk_world_close(&world);
}

TEST(walking_the_entities_by_type)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Handle handle = HANDLE_NONE;
    const ShapeDesc shape = box_at(vec3(0, 9, 0));
    (void)walk_player(world.sim, vec3(0, 0, 0));
    CHECK_OK(sim_spawn_part(world.sim, &shape, &handle));
    (void)walk_player(world.sim, vec3(3, 0, 0));
    CHECK_OK(sim_spawn_prop(world.sim, &shape, &handle));
    uint32_t players = 0;
    uint32_t all = 0;
    const uint32_t player_mask = ENTITY_MASK(ENTITY_PLAYER);
    for (Handle h = sim_next(world.sim, HANDLE_NONE, player_mask); !handle_is_none(h);
         h = sim_next(world.sim, h, player_mask)) {
        players += 1;
    }
    for (Handle h = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_ALL); !handle_is_none(h);
         h = sim_next(world.sim, h, ENTITY_MASK_ALL)) {
        all += 1;
    }
    CHECK_INT(players, 2);
    CHECK_INT(all, 4);
    CHECK_INT(sim_count(world.sim, ENTITY_PROP), 1);
    walk_world_close(&world);
}

TEST(an_anchored_part_thaws_and_hides)
{
    const PartDesc anchored[] = {walk_box(vec3(-2, 0, 3), vec3(2, 3, 4)),
                                 walk_box(vec3(8, 0, 3), vec3(12, 3, 4))};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = anchored;
    desc.part_count = 2;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    Sim *twin = walk_world_twin(&world);
    Handle wall = HANDLE_NONE;
    CHECK_OK(sim_thaw_part(sim, 1, &wall));
    CHECK_INT(sim_entity(sim, wall)->net_id, 1);
    CHECK(sim_part_is_hidden(sim, 0));
    CHECK_INT(sim_thaw_part(sim, 1, &wall), STATUS_NOT_FOUND);
    CHECK_INT(sim_thaw_part(sim, 77, &wall), STATUS_NOT_FOUND);
    CHECK_NEAR(sim_penetration(sim, vec3(0, 0, 3.5f)), sim_penetration(twin, vec3(0, 0, 3.5f)),
               1e-5);
    CHECK_OK(sim_set_position(sim, wall, vec3(0, 30, 0)));
    CHECK_NEAR(sim_penetration(sim, vec3(0, 0, 3.5f)), 0, 0);
    CHECK_OK(sim_hide_part(sim, 2));
    CHECK_NEAR(sim_penetration(sim, vec3(10, 0, 3.5f)), 0, 0);
    // The scene is shared: the other sim still has both.
    CHECK(sim_penetration(twin, vec3(0, 0, 3.5f)) > 0.5f);
    CHECK(sim_penetration(twin, vec3(10, 0, 3.5f)) > 0.5f);
    sim_destroy(&world.heap, twin);
    walk_world_close(&world);
}

TEST(a_failed_thaw_leaves_the_part)
{
    const PartDesc anchored = walk_box(vec3(-2, 0, 3), vec3(2, 3, 4));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &anchored;
    desc.part_count = 1;
    desc.config.entity_max = 1;
    desc.config.character_max = 1;
    desc.config.npc_max = 0;
    desc.config.structures_max = 0;
    WalkWorld world = walk_world_open(&desc);
    (void)walk_player(world.sim, vec3(0, 0, 0));
    Handle wall = HANDLE_NONE;
    CHECK_INT(sim_thaw_part(world.sim, 1, &wall), STATUS_LIMIT);
    CHECK(!sim_part_is_hidden(world.sim, 0));
    walk_world_close(&world);
}

TEST(spawns_and_teleports_end_in_free_space)
{
    const PartDesc anchored = walk_box(vec3(-3, 0, -3), vec3(3, 4, 3));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &anchored;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 1, 0));
    CHECK(sim_penetration(world.sim, sim_entity(world.sim, player)->position) <= 0.001f);
    CHECK(sim_entity(world.sim, player)->position.y >= 4);
    CHECK_OK(sim_set_position(world.sim, player, vec3(1, 2, 1)));
    CHECK(sim_entity(world.sim, player)->position.y >= 4);
    CHECK_INT(sim_set_position(world.sim, player, vec3(0, 1e9f, 0)), STATUS_RANGE);
    walk_world_close(&world);
}

TEST(damage_heals_kills_and_is_over_at_death)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 0, 0));
    CHECK_NEAR(sim_damage(world.sim, player, 30, 7), 70, 0);
    CHECK_NEAR(sim_damage(world.sim, player, -50, 7), 100, 0);
    CHECK_NEAR(sim_damage(world.sim, player, __builtin_nanf(""), 7), 0, 0);
    CHECK_NEAR(sim_entity(world.sim, player)->character.health, 100, 0);
    CHECK_NEAR(sim_damage(world.sim, player, 1000, 7), 0, 0);
    CHECK_NEAR(sim_damage(world.sim, player, -1000, 7), 0, 0); // the dead are revived, not healed
    uint32_t count = 0;
    const SimEvent *events = sim_events(world.sim, &count);
    REQUIRE(count == 4);
    CHECK_INT(events[3].type, SIM_EVENT_DIED);
    CHECK_INT(events[3].other, 7);
    const Vec3 where = sim_entity(world.sim, player)->position;
    sim_set_input(world.sim, player, &(SimInput){.move_z = 1});
    walk_steps_run(world.sim, 30);
    CHECK(vec3_equal(sim_entity(world.sim, player)->position, where));
    walk_world_close(&world);
}

TEST(a_full_event_array_counts_what_it_drops)
{
    WalkWorldDesc desc = walk_world_default();
    desc.config.event_max = 2;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 0, 0));
    for (uint32_t i = 0; i < 5; i++) {
        (void)sim_damage(world.sim, player, 1, 0);
    }
    uint32_t count = 0;
    (void)sim_events(world.sim, &count);
    CHECK_INT(count, 2);
    CHECK_INT(sim_counters(world.sim)->events_dropped, 3);
    walk_world_close(&world);
}

TEST(configurations_outside_the_limits_are_refused)
{
    CHECK_OK(sim_config_check(&(SimConfig[]){sim_config_default()}[0]));
    CHECK_OK(sim_config_check(&(SimConfig[]){sim_config_client()}[0]));
    SimConfig config = sim_config_default();
    config.tick_rate = 50;
    CHECK_INT(sim_config_check(&config), STATUS_RANGE);
    config = sim_config_default();
    config.entity_max = WORLD_ENTITIES_MAX + 1;
    CHECK_INT(sim_config_check(&config), STATUS_RANGE);
    config = sim_config_default();
    config.character.radius = __builtin_nanf("");
    CHECK_INT(sim_config_check(&config), STATUS_RANGE);
    config = sim_config_default();
    config.character.step_height = 1.7f; // no body left above the leg
    CHECK_INT(sim_config_check(&config), STATUS_RANGE);
    Heap heap = heap_make(1 << 30);
    Sim *sim = NULL;
    CHECK_INT(sim_create(&heap, &config, NULL, &sim), STATUS_RANGE);
    CHECK_INT(heap.bytes_now, 0);
}

TEST(creation_takes_what_it_says_and_fails_clean)
{
    const SimConfig config = sim_config_client();
    const size_t bytes = sim_bytes(&config, NULL);
    CHECK(bytes <= 256 << 10);
    Heap heap = heap_make(bytes);
    Sim *sim = NULL;
    REQUIRE(sim_create(&heap, &config, NULL, &sim) == STATUS_OK);
    CHECK_INT(heap.bytes_now, bytes);
    sim_destroy(&heap, sim);
    CHECK_INT(heap.bytes_now, 0);
    for (uint64_t cap = 0; cap < bytes; cap += bytes / 16 + 1) {
        heap = heap_make(cap);
        CHECK_INT(sim_create(&heap, &config, NULL, &sim), STATUS_LIMIT);
        CHECK_INT(heap.bytes_now, 0);
    }
}
