// What the sim does for things, in steps: as much in one place as spread out, shared fairly between
// makers, never more than the budget, and the same after a restore.
#include "core/base/limits.h"
#include "core/sim/sim_internal.h"
#include "tests/support/test.h"

#include <stdlib.h>

#define BUDGET SIM_MAKER_STEPS_PER_TICK

static Heap heap;
static Sim *sim;

static Sim *make_sim(void)
{
    SimConfig config = sim_config_default();
    config.terrain = (TerrainConfig){.chunk_max = 16, .page_max = 64};
    Sim *made = NULL;
    CHECK_OK(sim_create(&heap, &config, NULL, &made));
    return made;
}

static void setup(void)
{
    heap = heap_make(1u << 30);
    sim = make_sim();
}

static void teardown(void)
{
    sim_destroy(&heap, sim);
    CHECK_INT(heap.bytes_now, 0);
}

static uint64_t step_work(void)
{
    const uint64_t before = sim_work(sim);
    sim_step(sim);
    return sim_work(sim) - before;
}

static Vec3 place_of(uint32_t i, bool spread)
{
    return spread ? vec3((float)(i % 64) * 10, 50 + (float)(i / 4096) * 10, (float)(i / 64) * 10)
                  : vec3(0, 50, 0);
}

static Handle fire(Vec3 at, Vec3 velocity, uint32_t maker)
{
    const ProjectileDesc desc = {
        .position = at, .velocity = velocity, .radius = 0.05f, .lifetime_ticks = 90};
    Handle made = HANDLE_NONE;
    CHECK_OK(projectile_fire(sim, &desc, &made));
    sim_set_maker(sim, made, maker);
    return made;
}

static Handle ghost(Vec3 at, uint32_t maker)
{
    const ShapeDesc desc = {.part = {.shape = {SHAPE_BOX, {0.5f, 0.5f, 0.5f}},
                                     .pose = {at, QUAT_IDENTITY},
                                     .data = {.flags = PART_GHOST}}};
    Handle made = HANDLE_NONE;
    CHECK_OK(sim_spawn_part(sim, &desc, &made));
    sim_set_maker(sim, made, maker);
    return made;
}

static Handle npc(Vec3 at, uint32_t maker)
{
    NpcDesc desc = npc_desc_default();
    desc.position = at;
    Handle made = HANDLE_NONE;
    CHECK_OK(npc_spawn(sim, &desc, &made));
    sim_set_maker(sim, made, maker);
    return made;
}

// --- one place, or spread out -------------------------------------------------------------------

static uint64_t projectiles_cost(uint32_t count, bool spread)
{
    setup();
    for (uint32_t i = 0; i < count; i++) {
        (void)fire(place_of(i, spread), vec3(0, 3, 0), 0);
    }
    const uint64_t work = step_work() + step_work();
    teardown();
    return work;
}

TEST(projectiles_in_one_place_cost_as_much_as_spread_out)
{
    const uint32_t counts[] = {1000, 4000};
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t spread = projectiles_cost(counts[i], true);
        const uint64_t piled = projectiles_cost(counts[i], false);
        CHECK(spread > 0);
        CHECK(piled <= spread + spread / 10);
    }
}

static uint64_t crowd_cost(uint32_t count, bool spread)
{
    setup();
    for (uint32_t i = 0; i < count; i++) {
        (void)npc(place_of(i, spread), 0);
    }
    const uint64_t work = step_work() + step_work();
    teardown();
    return work;
}

TEST(a_crowd_in_one_place_costs_as_much_as_spread_out)
{
    const uint64_t spread = crowd_cost(500, true);
    const uint64_t piled = crowd_cost(500, false);
    CHECK(piled <= spread + spread / 10);
}

TEST(what_flies_is_still_found)
{
    setup();
    const Handle flying = fire(vec3(3, 50, 0), VEC3_ZERO, 0);
    const Handle part = ghost(vec3(4, 50, 0), 0);
    const Handle body = npc(vec3(5, 50, 0), 0);
    SimRef refs[8];
    const uint32_t all = sim_query_radius(sim, vec3(4, 50, 0), 4, ENTITY_MASK_ALL, refs, 8);
    REQUIRE(all == 3);
    CHECK(handle_equal(refs[0].entity, flying));
    CHECK(handle_equal(refs[1].entity, part));
    CHECK(handle_equal(refs[2].entity, body));
    const uint32_t mask = ENTITY_MASK(ENTITY_PROJECTILE);
    CHECK_INT(sim_query_radius(sim, vec3(4, 50, 0), 4, mask, refs, 8), 1);
    teardown();
}

// --- sharing ------------------------------------------------------------------------------------

// A heap of parts of the maker, and shots that hang inside it.
static void overload(uint32_t maker, float x, uint32_t shots)
{
    for (uint32_t i = 0; i < 1000; i++) {
        (void)ghost(vec3(x, 50, 0), maker);
    }
    for (uint32_t i = 0; i < shots; i++) {
        (void)fire(vec3(x, 50, 0), VEC3_ZERO, maker);
    }
}

static uint64_t all_makers(void)
{
    uint64_t steps = 0;
    for (uint32_t i = 1; i <= sim_maker_highest(sim); i++) {
        steps += sim_maker(sim, i).steps;
    }
    return steps;
}

TEST(the_dearest_waits_and_the_others_do_not)
{
    setup();
    overload(7, 0, 2000);
    const Handle honest = fire(vec3(500, 50, 0), vec3(6, 0, 0), 3);
    const Handle unowned = fire(vec3(500, 60, 0), vec3(6, 0, 0), 0);
    for (uint32_t i = 0; i < 20; i++) {
        sim_step(sim);
        CHECK(sim_maker(sim, 7).skipped > 0);
        CHECK(sim_maker(sim, 7).steps >= sim_maker(sim, 7).share);
        CHECK_INT(sim_maker(sim, 3).skipped, 0);
        CHECK(all_makers() <= BUDGET + BUDGET / 10);
    }
    CHECK_NEAR(sim_entity(sim, honest)->position.x, 502, 0.01);
    CHECK_NEAR(sim_entity(sim, unowned)->position.x, 502, 0.01);
    teardown();
}

TEST(two_that_want_too_much_get_the_same)
{
    setup();
    overload(1, 0, 1500);
    overload(2, 300, 1500);
    sim_step(sim);
    CHECK(all_makers() <= 2 * BUDGET + BUDGET / 10); // it was not known yet
    for (uint32_t i = 0; i < 20; i++) {
        sim_step(sim);
        const uint64_t one = sim_maker(sim, 1).steps;
        const uint64_t two = sim_maker(sim, 2).steps;
        CHECK(one + two <= BUDGET + BUDGET / 10);
        CHECK(one > BUDGET / 3 && two > BUDGET / 3);
        CHECK(sim_maker(sim, 1).share == BUDGET / 2); // what each of them was promised
    }
    teardown();
}

TEST(who_stands_still_grows_older)
{
    setup();
    overload(5, 0, 2000);
    for (uint32_t i = 0; i < 90; i++) {
        sim_step(sim);
    }
    CHECK_INT(sim_count(sim, ENTITY_PROJECTILE), 0);
    CHECK_INT(sim_maker(sim, 5).counts[ENTITY_PROJECTILE], 0);
    CHECK_INT(sim_maker(sim, 5).things, 1000);
    sim_step(sim);
    CHECK_INT(sim_maker(sim, 5).skipped, 0);
    teardown();
}

TEST(things_are_counted_until_they_go)
{
    setup();
    const Handle part = ghost(vec3(0, 50, 0), 9);
    (void)npc(vec3(0, 50, 0), 9);
    CHECK_INT(sim_maker(sim, 9).things, 2);
    CHECK_INT(sim_maker(sim, 9).counts[ENTITY_NPC], 1);
    sim_set_maker(sim, part, 4);
    CHECK_INT(sim_maker(sim, 9).things, 1);
    CHECK_INT(sim_maker(sim, 4).things, 1);
    sim_remove(sim, part);
    sim_step(sim);
    CHECK_INT(sim_maker(sim, 4).things, 0);
    CHECK_INT(sim_maker(sim, 1000).things, 0);
    teardown();
}

// --- state --------------------------------------------------------------------------------------

TEST(a_restored_sim_cuts_the_same)
{
    setup();
    overload(1, 0, 800);
    overload(2, 300, 300);
    for (uint32_t i = 0; i < 40; i++) {
        (void)npc(vec3((float)i, 50, 100), 1 + i % 2);
    }
    for (uint32_t i = 0; i < 5; i++) {
        sim_step(sim);
    }
    const size_t room = 64u << 20;
    uint8_t *bytes = malloc(room);
    ByteWriter writer = byte_writer(bytes, room);
    sim_write(sim, &writer);
    CHECK_OK(writer.status);
    Sim *first = sim;
    Sim *second = make_sim();
    ByteReader reader = byte_reader(bytes, writer.at);
    CHECK_OK(sim_read(second, &reader));
    CHECK_INT(sim_maker(second, 1).things, sim_maker(first, 1).things);
    for (uint32_t i = 0; i < 10; i++) {
        sim_step(first);
        sim_step(second);
        CHECK(sim_hash(first) == sim_hash(second));
        CHECK(sim_maker(first, 1).steps == sim_maker(second, 1).steps);
        CHECK_INT(sim_maker(first, 2).skipped, sim_maker(second, 2).skipped);
    }
    sim_destroy(&heap, second);
    free(bytes);
    teardown();
}
