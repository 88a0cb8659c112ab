// No character is ever inside geometry by more than a millimetre: a million random steps in random
// worlds, looked at after each one. Builds with the slow checks take a tenth of the worlds.
#include "tests/support/test.h"
#include "tests/unit/property_world.h"

#include <stdio.h>

#define DEPTH_MAX 0.001f
#define TICKS     500
#ifdef SANDLOT_SLOW_CHECKS
#define WORLDS 3
#else
#define WORLDS 32
#endif
#define STEPS_WANTED (WORLDS * TICKS * 63)

static PropertyWorld world;

typedef struct Tally {
    uint64_t looked; // living characters looked at, one for each step
    uint64_t grounded;
    uint64_t on_parts;
    uint64_t on_movers;
    uint64_t crushed;
    float deepest;
} Tally;

static void look_at(Handle h, uint32_t number, Tally *tally)
{
    const Entity *entity = sim_entity(world.sim, h);
    if (entity->character.health <= 0) {
        return;
    }
    const float depth = sim_penetration(world.sim, entity->position);
    tally->looked += 1;
    tally->grounded += entity->character.grounded;
    tally->on_parts += entity->character.ground_net_id != 0;
    tally->on_movers += !handle_is_none(entity->character.platform);
    tally->deepest = math_max(tally->deepest, depth);
    if (!(depth <= DEPTH_MAX) || !vec3_is_finite(entity->velocity)) {
        test_fail(__FILE__, __LINE__,
                  "world %u tick %llu: character %u is %.4f m inside at (%.4f %.4f %.4f)", number,
                  (unsigned long long)sim_tick(world.sim), h.index, (double)depth,
                  (double)entity->position.x, (double)entity->position.y,
                  (double)entity->position.z);
    }
}

static void run_world(uint32_t number, Tally *tally)
{
    property_open(&world, property_options_default(test_seed() + number));
    for (uint32_t tick = 0; tick < TICKS && test_is_passing(); tick++) {
        property_drive(&world);
        sim_step(world.sim);
        uint32_t count = 0;
        const SimEvent *events = sim_events(world.sim, &count);
        for (uint32_t i = 0; i < count; i++) {
            tally->crushed += events[i].type == SIM_EVENT_CRUSHED;
        }
        for (Handle h = sim_next(world.sim, HANDLE_NONE, ENTITY_MASK_CHARACTERS);
             !handle_is_none(h); h = sim_next(world.sim, h, ENTITY_MASK_CHARACTERS)) {
            look_at(h, number, tally);
        }
    }
    CHECK_INT(sim_counters(world.sim)->colliders_dropped, 0);
    property_close(&world);
}

TEST(nobody_is_inside_anything)
{
    Tally tally = {0};
    for (uint32_t i = 0; i < WORLDS && test_is_passing(); i++) {
        run_world(i, &tally);
    }
    printf("%llu steps: %llu on the ground, %llu on parts, %llu on moving parts, %llu crushed, "
           "deepest %.6f m\n",
           (unsigned long long)tally.looked, (unsigned long long)tally.grounded,
           (unsigned long long)tally.on_parts, (unsigned long long)tally.on_movers,
           (unsigned long long)tally.crushed, (double)tally.deepest);
    CHECK(tally.looked >= STEPS_WANTED);
    // The worlds are worth looking at.
    CHECK(tally.grounded > tally.looked / 4);
    CHECK(tally.on_parts > tally.looked / 20);
    CHECK(tally.on_movers > tally.looked / 500);
}
