// What only a client's sim has: puppets, setting the tick, motions from the server, parts that come
// back; and a server's filter of hits.
#include "core/sim/puppet.h"

#include "core/sim/projectile.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

static WalkWorldDesc client_desc(void)
{
    WalkWorldDesc desc = walk_world_default();
    desc.config.authority = false;
    return desc;
}

static Handle puppet(Sim *sim, EntityType type, uint64_t net_id, Vec3 position)
{
    Handle handle = HANDLE_NONE;
    const PuppetDesc desc = {.type = type,
                             .net_id = net_id,
                             .position = position,
                             .velocity = {5, 5, 5},
                             .radius = 0.2f};
    CHECK_OK(puppet_spawn(sim, &desc, &handle));
    return handle;
}

static Handle platform(Sim *sim, uint64_t net_id, Vec3 centre)
{
    Handle handle = HANDLE_NONE;
    const ShapeDesc desc = {
        .net_id = net_id,
        .part = {.shape = {SHAPE_BOX, {1, 0.25f, 1}}, .pose = {centre, QUAT_IDENTITY}}};
    CHECK_OK(sim_spawn_part(sim, &desc, &handle));
    return handle;
}

static MotionSegment way(Vec3 from, Vec3 velocity, uint64_t tick_from, uint64_t tick_to)
{
    return (MotionSegment){.pose = {from, QUAT_IDENTITY},
                           .velocity = velocity,
                           .tick_from = tick_from,
                           .tick_to = tick_to};
}

TEST(puppets_are_found_but_not_stepped)
{
    const WalkWorldDesc desc = client_desc();
    WalkWorld world = walk_world_open(&desc);
    const Handle player = puppet(world.sim, ENTITY_PLAYER, 10, vec3(0, 5, 0));
    const Handle npc = puppet(world.sim, ENTITY_NPC, 11, vec3(3, 5, 0));
    const Handle shot = puppet(world.sim, ENTITY_PROJECTILE, 12, vec3(6, 5, 0));
    walk_steps_run(world.sim, 30);
    CHECK(vec3_equal(sim_entity(world.sim, player)->position, vec3(0, 5, 0)));
    CHECK(vec3_equal(sim_entity(world.sim, npc)->position, vec3(3, 5, 0)));
    CHECK(vec3_equal(sim_entity(world.sim, shot)->position, vec3(6, 5, 0)));
    CHECK(vec3_equal(sim_entity(world.sim, player)->velocity, vec3(5, 5, 5)));

    puppet_pose(world.sim, player, vec3(20, 0, 1), vec3(1, 0, 0), 7, 3);
    SimRef found[4];
    CHECK_INT(sim_query_radius(world.sim, vec3(20, 0, 0), 2, ENTITY_MASK_CHARACTERS, found, 4), 1);
    CHECK_INT(found[0].net_id, 10);
    CHECK_INT(sim_query_radius(world.sim, vec3(0, 5, 0), 2, ENTITY_MASK_CHARACTERS, found, 4), 0);
    SimRayHit hit;
    const SimRay ray = {.origin = {20, 1, -5},
                        .direction = {0, 0, 1},
                        .distance_max = 20,
                        .type_mask = ENTITY_MASK_CHARACTERS};
    CHECK(sim_ray(world.sim, &ray, &hit) && hit.net_id == 10);
    const Entity *entity = sim_entity(world.sim, player);
    CHECK_NEAR(entity->character.input.yaw, 7 - 2 * MATH_PI, 1e-5);
    CHECK_NEAR(entity->character.input.pitch, MATH_PI / 2, 1e-5);

    // Invalid numbers change nothing.
    puppet_pose(world.sim, player, vec3(__builtin_nanf(""), 0, 0), VEC3_ZERO, 0, 0);
    puppet_pose(world.sim, player, vec3(1e9f, 0, 0), VEC3_ZERO, 0, 0);
    CHECK_NEAR(entity->position.x, 20, 0);
    puppet_pose(world.sim, player, vec3(21, 0, 1), VEC3_ZERO, __builtin_nanf(""), 0);
    CHECK_NEAR(entity->character.input.yaw, 7 - 2 * MATH_PI, 1e-5);
    puppet_set_health(world.sim, player, 30);
    CHECK_NEAR(entity->character.health, 30, 0);
    puppet_set_health(world.sim, player, 1e9f);
    CHECK_NEAR(entity->character.health, 100, 0);
    puppet_set_health(world.sim, player, __builtin_inff());
    CHECK_NEAR(entity->character.health, 100, 0);
    puppet_set_health(world.sim, shot, 3); // has none
    puppet_set_health(world.sim, HANDLE_NONE, 3);

    // Other entities stay where they are.
    const Handle own = walk_player(world.sim, vec3(0, 0, 0));
    puppet_pose(world.sim, own, vec3(9, 9, 9), VEC3_ZERO, 0, 0);
    puppet_set_health(world.sim, own, 1);
    CHECK_NEAR(sim_entity(world.sim, own)->position.x, 0, 0);
    CHECK_NEAR(sim_entity(world.sim, own)->character.health, 100, 0);
    walk_world_close(&world);
}

TEST(puppets_are_checked_and_only_for_clients)
{
    const WalkWorldDesc desc = client_desc();
    WalkWorld world = walk_world_open(&desc);
    PuppetDesc bad = {.type = ENTITY_PART, .net_id = 5};
    Handle handle = HANDLE_NONE;
    CHECK_INT(puppet_spawn(world.sim, &bad, &handle), STATUS_RANGE);
    bad = (PuppetDesc){.type = ENTITY_PLAYER, .net_id = 5, .yaw = __builtin_nanf("")};
    CHECK_INT(puppet_spawn(world.sim, &bad, &handle), STATUS_RANGE);
    bad = (PuppetDesc){.type = ENTITY_PLAYER, .net_id = 5, .position = {1e6f, 0, 0}};
    CHECK_INT(puppet_spawn(world.sim, &bad, &handle), STATUS_RANGE);
    bad = (PuppetDesc){.type = ENTITY_PROJECTILE, .net_id = 5, .radius = 2};
    CHECK_INT(puppet_spawn(world.sim, &bad, &handle), STATUS_RANGE);
    (void)puppet(world.sim, ENTITY_PLAYER, 5, VEC3_ZERO);
    bad = (PuppetDesc){.type = ENTITY_NPC, .net_id = 5};
    CHECK_INT(puppet_spawn(world.sim, &bad, &handle), STATUS_EXISTS);
    walk_world_close(&world);

    WalkWorldDesc server = walk_world_default();
    world = walk_world_open(&server);
    const PuppetDesc good = {.type = ENTITY_PLAYER, .net_id = 5};
    CHECK_INT(puppet_spawn(world.sim, &good, &handle), STATUS_DENIED);
    const Handle part = platform(world.sim, 6, vec3(0, 1, 0));
    const Pose rest = {{0, 1, 0}, QUAT_IDENTITY};
    CHECK_INT(sim_replace_motion(world.sim, part, rest, &(Motion){.count = 0}), STATUS_DENIED);
    walk_world_close(&world);
}

TEST(puppets_are_saved)
{
    const WalkWorldDesc desc = client_desc();
    WalkWorld world = walk_world_open(&desc);
    (void)puppet(world.sim, ENTITY_NPC, 11, vec3(3, 5, 0));
    (void)puppet(world.sim, ENTITY_PROJECTILE, 12, vec3(6, 5, 0));
    Sim *twin = walk_world_twin(&world);
    CHECK(walk_world_copy(&world, world.sim, twin));
    CHECK(sim_hash(world.sim) == sim_hash(twin));
    walk_steps_run(twin, 5);
    CHECK(vec3_equal(sim_entity(twin, sim_find(twin, 11))->position, vec3(3, 5, 0)));
    sim_destroy(&world.heap, twin);
    walk_world_close(&world);
}

// --- the tick -----------------------------------------------------------------------------------

TEST(parts_follow_the_tick_both_ways)
{
    const WalkWorldDesc desc = client_desc();
    WalkWorld world = walk_world_open(&desc);
    const Handle part = platform(world.sim, 7, vec3(0, 1, 0));
    const MotionSegment out = way(vec3(0, 1, 0), vec3(6, 0, 0), 10, 70);
    const MotionSegment back = way(vec3(6, 1, 0), vec3(-6, 0, 0), 70, 130);
    CHECK_OK(sim_move_part(world.sim, part, &out));
    CHECK_OK(sim_move_part(world.sim, part, &back));
    Vec3 were[160];
    for (uint32_t i = 1; i < 160; i++) {
        sim_step(world.sim);
        were[i] = sim_entity(world.sim, part)->position;
    }
    // Both segments ended less than a second ago, so any of their ticks can be gone back to.
    for (uint64_t tick = 159; tick >= 95; tick -= 4) {
        sim_set_tick(world.sim, tick);
        const Entity *entity = sim_entity(world.sim, part);
        CHECK_INT(sim_tick(world.sim), tick);
        CHECK(vec3_equal(entity->position, were[tick]));
        CHECK(vec3_equal(entity->part.pose_previous.position, were[tick - 1]));
        CHECK(entity->part.moving == !vec3_equal(were[tick], were[tick - 1]));
        sim_step(world.sim);
        CHECK(tick == 159 || vec3_equal(sim_entity(world.sim, part)->position, were[tick + 1]));
        SimRef found[4]; // and the grid knows
        CHECK_INT(sim_query_radius(world.sim, sim_entity(world.sim, part)->position, 0.1f,
                                   ENTITY_MASK(ENTITY_PART), found, 4),
                  1);
    }
    sim_set_tick(world.sim, 220);
    sim_step(world.sim);
    CHECK_INT(sim_entity(world.sim, part)->part.motion.count, 0); // long over
    CHECK_NEAR(sim_entity(world.sim, part)->position.x, 0, 1e-5);
    walk_world_close(&world);
}

TEST(segments_are_kept_for_a_while_and_make_room)
{
    const WalkWorldDesc desc = client_desc();
    WalkWorld world = walk_world_open(&desc);
    const Handle part = platform(world.sim, 7, vec3(0, 1, 0));
    for (uint64_t i = 0; i < 4; i++) {
        const float x = i % 2 == 0 ? 0.0f : 1.0f;
        const MotionSegment segment =
            way(vec3(x, 1, 0), vec3(x == 0 ? 6.0f : -6.0f, 0, 0), 10 * i, 10 * i + 10);
        CHECK_OK(sim_move_part(world.sim, part, &segment));
    }
    walk_steps_run(world.sim, 15);
    CHECK_INT(sim_entity(world.sim, part)->part.motion.count, 4);
    const MotionSegment fifth = way(vec3(0, 1, 0), vec3(6, 0, 0), 40, 50);
    CHECK_OK(sim_move_part(world.sim, part, &fifth)); // the first one is over
    CHECK_INT(sim_entity(world.sim, part)->part.motion.count, 4);
    walk_steps_run(world.sim, 200);
    CHECK_INT(sim_entity(world.sim, part)->part.motion.count, 0);
    walk_world_close(&world);
}

// --- motions that are told ----------------------------------------------------------------------

// A server that does anything with a part, and a client that is informed some ticks later: from
// then on both have it at the same place at every tick.
TEST(a_told_motion_is_the_servers_motion)
{
    for (uint64_t seed = 0; seed < 40 && test_is_passing(); seed++) {
        const WalkWorldDesc desc = walk_world_default();
        WalkWorld world = walk_world_open(&desc);
        SimConfig config = desc.config;
        config.authority = false;
        Sim *client = NULL;
        REQUIRE(sim_create(&world.heap, &config, world.scene, &client) == STATUS_OK);
        const Handle part = platform(world.sim, 7, vec3(0, 1, 0));
        const Handle told = platform(client, 7, vec3(0, 1, 0));
        Rng rng = rng_make(test_seed() + seed, 3);
        sim_set_tick(client, 12);
        for (uint32_t i = 0; i < 400; i++) {
            const uint32_t what = rng_below(&rng, 40);
            const float x = rng_range(&rng, -5, 5);
            const float z = rng_range(&rng, -5, 5);
            const Vec3 goal = {x, 2, z};
            if (what == 0) {
                const uint64_t ticks = 60 + rng_below(&rng, 60);
                CHECK_OK(sim_glide_part(world.sim, part, (Pose){goal, QUAT_IDENTITY}, ticks));
            } else if (what == 1) {
                CHECK_OK(sim_stop_part(world.sim, part));
            } else if (what == 2) {
                CHECK_OK(sim_set_position(world.sim, part, goal));
            }
            sim_step(world.sim);
            sim_step(client);
            const Entity *entity = sim_entity(world.sim, part);
            CHECK_OK(sim_replace_motion(client, told, entity->part.rest, &entity->part.motion));
            // The client is ahead; set back to the server's tick it has the server's pose.
            const uint64_t ahead = sim_tick(client);
            sim_set_tick(client, sim_tick(world.sim));
            CHECK(vec3_equal(sim_entity(client, told)->position, entity->position));
            sim_set_tick(client, ahead);
        }
        sim_destroy(&world.heap, client);
        walk_world_close(&world);
    }
}

TEST(the_past_of_a_part_stays)
{
    const WalkWorldDesc desc = client_desc();
    WalkWorld world = walk_world_open(&desc);
    const Handle part = platform(world.sim, 7, vec3(0, 1, 0));
    const Pose rest = {{0, 1, 0}, QUAT_IDENTITY};
    Motion motion = {.count = 1, .segments = {way(vec3(0, 1, 0), vec3(6, 0, 0), 0, 100)}};
    CHECK_OK(sim_replace_motion(world.sim, part, rest, &motion));
    sim_set_tick(world.sim, 60);
    // The server turned it round at tick 50, and sends only the new segment.
    const Pose turned = {{5, 1, 0}, QUAT_IDENTITY};
    motion.segments[0] = way(vec3(5, 1, 0), vec3(-6, 0, 0), 50, 100);
    CHECK_OK(sim_replace_motion(world.sim, part, turned, &motion));
    CHECK_NEAR(sim_entity(world.sim, part)->position.x, 4, 1e-5);
    sim_set_tick(world.sim, 45);
    CHECK_NEAR(sim_entity(world.sim, part)->position.x, 4.5, 1e-5);
    sim_set_tick(world.sim, 50);
    CHECK_NEAR(sim_entity(world.sim, part)->position.x, 5, 1e-5);
    // It stopped it at tick 60, at a place where it was before.
    sim_set_tick(world.sim, 70);
    const Pose stopped = {{4, 1, 0}, QUAT_IDENTITY};
    CHECK_OK(sim_replace_motion(world.sim, part, stopped, &(Motion){.count = 0}));
    CHECK_NEAR(sim_entity(world.sim, part)->position.x, 4, 1e-5);
    sim_set_tick(world.sim, 55);
    CHECK_NEAR(sim_entity(world.sim, part)->position.x, 4.5, 1e-5);
    // It was put somewhere else: there is no past to that.
    const Pose far = {{-9, 1, 0}, QUAT_IDENTITY};
    CHECK_OK(sim_replace_motion(world.sim, part, far, &(Motion){.count = 0}));
    sim_set_tick(world.sim, 45);
    CHECK_NEAR(sim_entity(world.sim, part)->position.x, -9, 1e-5);
    walk_world_close(&world);
}

TEST(a_motion_that_makes_no_sense_changes_nothing)
{
    const WalkWorldDesc desc = client_desc();
    WalkWorld world = walk_world_open(&desc);
    const Handle part = platform(world.sim, 7, vec3(0, 1, 0));
    const Pose rest = {{0, 1, 0}, QUAT_IDENTITY};
    const uint64_t before = sim_hash(world.sim);
    Motion bad = {.count = 1, .segments = {way(vec3(0, 1, 0), vec3(600, 0, 0), 0, 100)}};
    CHECK_INT(sim_replace_motion(world.sim, part, rest, &bad), STATUS_RANGE);
    bad = (Motion){.count = 2,
                   .segments = {way(vec3(0, 1, 0), vec3(6, 0, 0), 0, 100),
                                way(vec3(0, 1, 0), vec3(6, 0, 0), 50, 100)}};
    CHECK_INT(sim_replace_motion(world.sim, part, rest, &bad), STATUS_RANGE);
    bad.count = 77;
    CHECK_INT(sim_replace_motion(world.sim, part, rest, &bad), STATUS_RANGE);
    const Pose nowhere = {{__builtin_nanf(""), 1, 0}, QUAT_IDENTITY};
    CHECK_INT(sim_replace_motion(world.sim, part, nowhere, &(Motion){.count = 0}), STATUS_RANGE);
    CHECK_INT(sim_replace_motion(world.sim, HANDLE_NONE, rest, &(Motion){.count = 0}),
              STATUS_NOT_FOUND);
    CHECK(sim_hash(world.sim) == before);
    const Handle body = puppet(world.sim, ENTITY_PLAYER, 9, VEC3_ZERO);
    CHECK_INT(sim_replace_motion(world.sim, body, rest, &(Motion){.count = 0}), STATUS_NOT_FOUND);
    sim_remove_now(world.sim, body);
    sim_remove_now(world.sim, body);
    CHECK_INT(sim_count(world.sim, ENTITY_PLAYER), 0);
    CHECK_INT(sim_entity(world.sim, part)->part.motion.count, 0);
    walk_world_close(&world);
}

TEST(hidden_parts_come_back)
{
    WalkWorldDesc desc = client_desc();
    const PartDesc parts[2] = {walk_box(vec3(0, 0, 0), vec3(2, 1, 2)),
                               walk_box(vec3(5, 0, 0), vec3(7, 1, 2))};
    desc.parts = parts;
    desc.part_count = 2;
    WalkWorld world = walk_world_open(&desc);
    CHECK_OK(sim_hide_part(world.sim, 2));
    sim_show_part(world.sim, 1); // not hidden
    sim_show_part(world.sim, 77);
    sim_show_part(world.sim, 0);
    CHECK(sim_part_is_hidden(world.sim, 1));
    CHECK(sim_penetration(world.sim, vec3(6, 0.5f, 1)) == 0);
    sim_show_part(world.sim, 2);
    CHECK(!sim_part_is_hidden(world.sim, 1));
    CHECK(sim_penetration(world.sim, vec3(6, 0.5f, 1)) > 0.3f);
    Handle thawed = HANDLE_NONE;
    CHECK_OK(sim_thaw_part(world.sim, 2, &thawed));
    sim_remove_now(world.sim, thawed);
    sim_show_part(world.sim, 2);
    CHECK(sim_penetration(world.sim, vec3(6, 0.5f, 1)) > 0.3f);
    walk_world_close(&world);
}

// --- for servers --------------------------------------------------------------------------------

TEST(net_ids_go_on_above_what_was_given)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const uint64_t next = sim_next_net_id(world.sim);
    const Handle first = walk_player(world.sim, VEC3_ZERO);
    CHECK_INT(sim_entity(world.sim, first)->net_id, next);
    sim_raise_next_net_id(world.sim, 5000);
    sim_raise_next_net_id(world.sim, 20); // never lower
    const Handle second = walk_player(world.sim, VEC3_ZERO);
    CHECK_INT(sim_entity(world.sim, second)->net_id, 5000);
    CHECK_INT(sim_next_net_id(world.sim), 5001);
    walk_world_close(&world);
}

typedef struct Filter {
    uint64_t shooter, spared;
    uint32_t asked;
} Filter;

static bool spare(void *user, uint64_t shooter_net_id, uint64_t target_net_id)
{
    Filter *filter = user;
    filter->asked += 1;
    CHECK_INT(shooter_net_id, filter->shooter);
    return target_net_id != filter->spared;
}

static uint64_t shoot(Sim *sim, Handle shooter)
{
    const ProjectileDesc desc = {.shooter = shooter,
                                 .position = {0, 1, 1},
                                 .velocity = {0, 0, 100},
                                 .damage = 10,
                                 .lifetime_ticks = 60};
    Handle shot = HANDLE_NONE;
    CHECK_OK(projectile_fire(sim, &desc, &shot));
    for (uint32_t i = 0; i < 60; i++) {
        sim_step(sim);
        uint32_t count = 0;
        const SimEvent *events = sim_events(sim, &count);
        for (uint32_t e = 0; e < count; e++) {
            if (events[e].type == SIM_EVENT_PROJECTILE_HIT) {
                return events[e].other;
            }
        }
    }
    return 0;
}

TEST(a_filter_spares_whom_it_says)
{
    const WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle shooter = walk_player(world.sim, vec3(0, 0, 0));
    const Handle near = walk_player(world.sim, vec3(0, 0, 8));
    const Handle far = walk_player(world.sim, vec3(0, 0, 16));
    (void)walk_player(world.sim, vec3(9, 0, 9)); // beside the way: never asked for
    const uint64_t near_id = sim_entity(world.sim, near)->net_id;
    const uint64_t far_id = sim_entity(world.sim, far)->net_id;
    CHECK_INT(shoot(world.sim, shooter), near_id);
    Filter filter = {.shooter = sim_entity(world.sim, shooter)->net_id, .spared = near_id};
    sim_set_hit_filter(world.sim, spare, &filter);
    CHECK_INT(shoot(world.sim, shooter), far_id);
    CHECK(filter.asked >= 2 && filter.asked <= 4);
    CHECK_NEAR(sim_entity(world.sim, near)->character.health, 90, 0); // of the first shot
    filter.spared = 0;
    CHECK_INT(shoot(world.sim, shooter), near_id);
    filter = (Filter){.shooter = 0, .spared = near_id}; // nobody's
    CHECK_INT(shoot(world.sim, HANDLE_NONE), far_id);
    sim_set_hit_filter(world.sim, NULL, NULL);
    CHECK_INT(shoot(world.sim, shooter), near_id);
    walk_world_close(&world);
}
