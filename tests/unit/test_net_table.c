// Versions of entities: when a new one is created, and that old ones are kept unchanged.
#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "core/world/replicate/net_table.h"
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

static WalkWorld walk;
static NetTable table;
static void *block;

static void open_table(const WalkWorldDesc *desc)
{
    walk = walk_world_open(desc);
    const NetTableConfig config = {.sim = walk.sim, .tolerance_m = 0.012f};
    const size_t bytes = net_table_bytes(&config);
    block = heap_alloc(&walk.heap, bytes);
    Arena arena;
    arena_init(&arena, block, bytes);
    CHECK_OK(net_table_init(&table, &arena, &config));
    CHECK(arena.used <= bytes);
    heap_freeze(&walk.heap);
}

static void open_default(void)
{
    const WalkWorldDesc desc = walk_world_default();
    open_table(&desc);
}

static void close_table(void)
{
    heap_thaw(&walk.heap);
    heap_free(&walk.heap, block);
    walk_world_close(&walk);
}

static void capture(uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        walk_steps_run(walk.sim, 3);
        net_table_capture(&table);
    }
}

static const NetState *state_of(Handle entity)
{
    return &table.details[entity.index].now;
}

TEST(entries_follow_entities)
{
    open_default();
    const Handle a = walk_player(walk.sim, vec3(0, 0, 0));
    const uint64_t id = sim_entity(walk.sim, a)->net_id;
    capture(1);
    CHECK_INT(net_table_find(&table, id), a.index);
    CHECK_INT(table.active_count, 1);
    CHECK_INT(table.offer_count, 1);
    const uint32_t serial = table.entries[a.index].serial;
    capture(1);
    CHECK_INT(table.offer_count, 0);
    sim_remove(walk.sim, a);
    net_table_capture(&table); // marked: gone for clients already
    CHECK_INT(net_table_find(&table, id), 0);
    CHECK_INT(table.active_count, 0);
    walk_steps_run(walk.sim, 1);
    const Handle b = walk_player(walk.sim, vec3(0, 0, 0)); // the same slot
    CHECK_INT(b.index, a.index);
    capture(1);
    CHECK(table.entries[b.index].serial != serial);
    CHECK_INT(net_table_find(&table, id), 0);
    close_table();
}

TEST(a_slot_in_use_again_between_captures_is_another_entity)
{
    open_default();
    const Handle a = walk_player(walk.sim, vec3(0, 0, 0));
    capture(1);
    const uint32_t serial = table.entries[a.index].serial;
    sim_remove(walk.sim, a);
    walk_steps_run(walk.sim, 1);
    const Handle b = walk_player(walk.sim, vec3(5, 0, 0));
    capture(1);
    CHECK_INT(b.index, a.index);
    CHECK(table.entries[b.index].serial != serial);
    CHECK_INT(state_of(b)->version, 1);
    CHECK_INT(net_table_find(&table, sim_entity(walk.sim, b)->net_id), b.index);
    close_table();
}

TEST(past_versions_are_kept_as_they_were_until_the_ring_comes_round)
{
    open_default();
    const Handle walker = walk_player(walk.sim, vec3(0, 0, 0));
    static NetState seen[200];
    uint32_t newest = 0;
    for (uint32_t i = 0; i < 150; i++) {
        SimInput input = {.move_z = 1, .yaw = (float)(i % 7) - 3};
        sim_set_input(walk.sim, walker, &input);
        capture(1);
        newest = state_of(walker)->version;
        seen[newest] = *state_of(walker);
    }
    CHECK(newest > 2 * NET_RING);
    for (uint32_t version = 1; version <= newest; version++) {
        const NetState *past = net_table_past(&table, walker.index, version);
        CHECK_INT(past != NULL, newest - version < NET_RING);
        CHECK(past == NULL || net_state_equal(past, &seen[version]));
    }
    CHECK(net_table_past(&table, walker.index, 0) == NULL);
    CHECK(net_table_past(&table, walker.index, newest + 1) == NULL);
    close_table();
}

TEST(a_projectile_needs_one_version)
{
    open_default();
    const ProjectileDesc desc = {.position = {-40, 20, 0},
                                 .velocity = {30, 10, 0},
                                 .gravity = 9.8f,
                                 .radius = 0.25f,
                                 .kind = 7,
                                 .lifetime_ticks = 100};
    Handle fired;
    CHECK_OK(projectile_fire(walk.sim, &desc, &fired));
    capture(20);
    CHECK_INT(state_of(fired)->version, 1);
    CHECK_INT(state_of(fired)->projectile_kind, 7);
    CHECK_INT(state_of(fired)->projectile_radius, 32);
    CHECK(net_table_past(&table, fired.index, 1) == NULL); // no ring
    close_table();
}

TEST(a_jump_is_a_parabola)
{
    open_default();
    const Handle jumper = walk_player(walk.sim, vec3(0, 0, 0));
    capture(4);
    const uint32_t before = state_of(jumper)->version;
    const SimInput input = {.buttons = INPUT_JUMP};
    sim_set_input(walk.sim, jumper, &input);
    capture(1);
    sim_set_input(walk.sim, jumper, &(SimInput){0});
    capture(10); // 0.55 s of 0.63 s in the air
    CHECK(state_of(jumper)->version - before <= 2);
    CHECK((state_of(jumper)->flags & NET_GROUNDED) == 0);
    capture(10);
    CHECK((state_of(jumper)->flags & NET_GROUNDED) != 0);
    close_table();
}

TEST(who_rides_needs_no_version_at_every_capture)
{
    open_default();
    const ShapeDesc desc = {.part = walk_box(vec3(-2, 0, -2), vec3(2, 0.5f, 2))};
    Handle lift;
    CHECK_OK(sim_spawn_part(walk.sim, &desc, &lift));
    walk_steps_run(walk.sim, 2);
    const Handle rider = walk_player(walk.sim, vec3(0, 0.6f, 0));
    capture(20);
    CHECK_OK(sim_drift_part(walk.sim, lift, vec3(1.5f, 0, 0)));
    capture(3);
    const uint32_t before = state_of(rider)->version;
    capture(40);
    CHECK(sim_entity(walk.sim, rider)->position.x > 2); // it is carried
    CHECK(state_of(rider)->version - before <= 8);
    close_table();
}

TEST(health_is_rounded_up_and_the_dead_do_not_move)
{
    open_default();
    const Handle victim = walk_player(walk.sim, vec3(0, 0, 0));
    capture(2);
    const float full = sim_entity(walk.sim, victim)->character.health;
    (void)sim_damage(walk.sim, victim, full - 0.25f, 0);
    capture(1);
    CHECK_INT(state_of(victim)->health, 1);
    CHECK((state_of(victim)->flags & NET_DEAD) == 0);
    (void)sim_damage(walk.sim, victim, 1, 0);
    capture(1);
    CHECK_INT(state_of(victim)->health, 0);
    CHECK((state_of(victim)->flags & NET_DEAD) != 0);
    const uint32_t version = state_of(victim)->version;
    capture(20);
    CHECK(state_of(victim)->version - version <= 1);
    close_table();
}

TEST(npcs_say_what_they_think)
{
    open_default();
    NpcDesc desc = npc_desc_default();
    Handle npc;
    CHECK_OK(npc_spawn(walk.sim, &desc, &npc));
    const Handle player = walk_player(walk.sim, vec3(0, 0, 8));
    CHECK_OK(npc_set_target(walk.sim, npc, player));
    capture(1);
    CHECK_INT(state_of(npc)->npc_state, NPC_ALERT);
    CHECK_INT(table.details[npc.index].kind, NET_NPC);
    close_table();
}

TEST(teleports_are_offered_again)
{
    open_default();
    const Handle player = walk_player(walk.sim, vec3(0, 0, 0));
    capture(3);
    CHECK_INT(table.offer_count, 0);
    CHECK_OK(sim_set_position(walk.sim, player, vec3(30, 0, 0)));
    capture(1);
    CHECK_INT(table.offer_count, 1);
    capture(1);
    CHECK_INT(table.offer_count, 0);
    close_table();
}

TEST(records_stay_within_their_bounds)
{
    open_default();
    const ProjectileDesc projectile = {.position = {-40, 20, 0},
                                       .velocity = {-700, 300, 0.3f},
                                       .gravity = 900,
                                       .lifetime_ticks = 100};
    const ShapeDesc shape = {.part = walk_box(vec3(-2, 0, -2), vec3(2, 0.5f, 2))};
    Handle entities[3];
    CHECK_OK(projectile_fire(walk.sim, &projectile, &entities[0]));
    CHECK_OK(sim_spawn_part(walk.sim, &shape, &entities[1]));
    for (uint64_t i = 0; i < MOTION_SEGMENTS_MAX; i++) {
        const MotionSegment segment = {.pose = shape.part.pose,
                                       .angular_velocity = {0, 0.1f, 0},
                                       .tick_from = 10 + 100000 * i,
                                       .tick_to = 10 + 100000 * i + 99999};
        CHECK_OK(sim_move_part(walk.sim, entities[1], &segment));
    }
    entities[2] = walk_player(walk.sim, vec3(40, 3, 40));
    net_table_capture(&table);
    for (uint32_t i = 0; i < 3; i++) {
        uint8_t bytes[1024];
        BitWriter writer = bit_writer(bytes, sizeof bytes);
        net_table_encode(&table, entities[i].index, 0, false, &writer);
        CHECK_OK(writer.status);
        CHECK(bit_writer_bytes(&writer) <= net_table_bound(&table, entities[i].index, 0));
    }
    close_table();
}
