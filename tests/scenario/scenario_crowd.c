// Many characters at once: on uneven ground, and pushing each other softly apart.
#include "tests/scenario/scenario.h"

// Pairs that stand in each other.
static uint32_t count_overlaps(const ScenarioWorld *world)
{
    const CharacterTuning *tuning = &world->config.character;
    uint32_t overlaps = 0;
    for (uint32_t i = 0; i < world->player_count; i++) {
        for (uint32_t k = i + 1; k < world->player_count; k++) {
            const Vec3 a = scenario_feet(world, world->players[i]);
            const Vec3 b = scenario_feet(world, world->players[k]);
            overlaps += scenario_distance_flat(a, b) < 1.6f * tuning->radius &&
                        math_abs(a.y - b.y) < tuning->height;
        }
    }
    return overlaps;
}

// --- crowd --------------------------------------------------------------------------------------
#define CROWD_WANDERS_UNTIL 260
#define CROWD_MEETS_UNTIL   520
#define CROWD_TICKS         720

static struct {
    uint32_t overlaps_at_meeting;
    uint32_t grounded_count;
    float travelled;
} crowd;

static void crowd_build(ScenarioWorld *world)
{
    crowd.overlaps_at_meeting = crowd.grounded_count = 0;
    crowd.travelled = 0;
    scenario_hills(world, 32, 11);
    scenario_open(world);
    for (int i = 0; i < 64; i++) {
        const float x = (float)(i % 8) * 6.0f - 21.0f;
        const float z = (float)(i / 8) * 6.0f - 21.0f;
        (void)scenario_player(world, vec3(x, 6, z));
    }
}

static void crowd_drive(ScenarioWorld *world)
{
    for (uint32_t i = 0; i < world->player_count; i++) {
        const Handle player = world->players[i];
        const Entity *entity = scenario_at(world, player);
        crowd.grounded_count += entity->character.grounded;
        crowd.travelled += vec3_length(vec3(entity->velocity.x, 0, entity->velocity.z)) *
                           sim_tick_seconds(world->sim);
        if (world->tick < CROWD_WANDERS_UNTIL) {
            scenario_wander(world, player, 20);
        } else if (world->tick < CROWD_MEETS_UNTIL) {
            const bool jumps = rng_below(&world->rng, 20) == 0;
            scenario_walk(world, player, vec3_neg(entity->position),
                          INPUT_RUN | (jumps ? INPUT_JUMP : 0u));
        } else {
            scenario_stand(world, player);
        }
    }
    if (world->tick == CROWD_MEETS_UNTIL) {
        crowd.overlaps_at_meeting = count_overlaps(world);
    }
}

static void crowd_finish(ScenarioWorld *world)
{
    const uint32_t left = count_overlaps(world);
    scenario_expect(world, crowd.overlaps_at_meeting >= 20, "only %u pairs met",
                    crowd.overlaps_at_meeting);
    scenario_expect(world, left * 4 <= crowd.overlaps_at_meeting, "%u of %u pairs still overlap",
                    left, crowd.overlaps_at_meeting);
    scenario_expect(world, crowd.travelled > 64 * 15, "walked only %.0f m in all",
                    (double)crowd.travelled);
    scenario_expect(world, crowd.grounded_count > 64 * CROWD_TICKS / 3,
                    "on the ground only %u times", crowd.grounded_count);
    scenario_expect(world, scenario_total(world, SIM_EVENT_JUMPED) > 64, "few jumps");
}

// --- push ---------------------------------------------------------------------------------------
static void push_build(ScenarioWorld *world)
{
    scenario_ground(world, 16);
    scenario_open(world);
    // Two on one spot, a row that overlaps, one alone, and one above another's head.
    (void)scenario_player(world, vec3(0, 0, 0));
    (void)scenario_player(world, vec3(0, 0, 0));
    for (int i = 0; i < 5; i++) {
        (void)scenario_player(world, vec3((float)i * 0.3f, 0, 8));
    }
    (void)scenario_player(world, vec3(-8, 0, -8));
    (void)scenario_player(world, vec3(8, 0, -8));
    (void)scenario_player(world, vec3(8, world->config.character.height + 4, -8.2f));
    // A dead character pushes nobody and is not pushed.
    const Handle dead = scenario_player(world, vec3(-8, 0, 8));
    (void)scenario_player(world, vec3(-8.2f, 0, 8));
    (void)sim_damage(world->sim, dead, 1e6f, 0);
    // A heap of twenty: all push at once, and nobody flies away.
    for (int i = 0; i < 20; i++) {
        (void)scenario_player(world,
                              vec3(-2 + 0.05f * (float)(i % 5), 0, -4 + 0.05f * (float)(i / 5)));
    }
}

static void push_drive(ScenarioWorld *world)
{
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_stand(world, world->players[i]);
    }
    // One in the row keeps walking into the others.
    scenario_walk(world, world->players[2], vec3(1, 0, 0), 0);
}

static void push_finish(ScenarioWorld *world)
{
    const float apart = 2 * world->config.character.radius;
    const float d = scenario_distance_flat(scenario_feet(world, world->players[0]),
                                           scenario_feet(world, world->players[1]));
    scenario_expect(world, d > apart * 0.8f, "two on one spot are %.3f m apart", (double)d);
    scenario_expect(world, d < apart * 1.5f, "two on one spot flew %.3f m apart", (double)d);
    const Vec3 alone = scenario_feet(world, world->players[7]);
    scenario_expect(world, alone.x == -8 && alone.z == -8, "the one alone moved to %.3f %.3f",
                    (double)alone.x, (double)alone.z);
    const float stacked = scenario_distance_flat(scenario_feet(world, world->players[8]),
                                                 scenario_feet(world, world->players[9]));
    scenario_expect(world, stacked > apart * 0.7f, "the one who fell on another is %.3f m from him",
                    (double)stacked);
    const Vec3 dead = scenario_feet(world, world->players[10]);
    const Vec3 beside_dead = scenario_feet(world, world->players[11]);
    scenario_expect(world, dead.x == -8 && beside_dead.x == -8.2f,
                    "the dead one pushes or is pushed");
    for (uint32_t i = 12; i < 32; i++) {
        const float way =
            scenario_distance_flat(scenario_feet(world, world->players[i]), vec3(-2, 0, -4));
        scenario_expect(world, way < 4, "one of the heap flew %.3f m", (double)way);
    }
    const Vec3 walker = scenario_feet(world, world->players[2]);
    scenario_expect(world, walker.x > 6, "others block the walker at %.3f", (double)walker.x);
}

// --- packed -------------------------------------------------------------------------------------
// A crowd that arrives at one spot, on a lift that was there after all of them.
#define PACKED_COUNT 150

static Handle packed_lift;

static void packed_build(ScenarioWorld *world)
{
    scenario_ground(world, 24);
    scenario_open(world);
    for (int i = 0; i < PACKED_COUNT; i++) {
        const Vec3 offset = vec3(0.01f * (float)(i % 12), 0, 0.01f * (float)(i / 12));
        (void)scenario_player(world, vec3_add(vec3(0, 6, 0), offset));
    }
    packed_lift = scenario_spawn(world, part_box(vec3(0, 4, 0), vec3(10, 0.25f, 10)));
    scenario_move(world, packed_lift, VEC3_ZERO, VEC3_ZERO, 60);
    scenario_move(world, packed_lift, vec3(0, 1.5f, 0), VEC3_ZERO, 120);
}

static void packed_drive(ScenarioWorld *world)
{
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_stand(world, world->players[i]);
    }
}

static void packed_finish(ScenarioWorld *world)
{
    const float top = scenario_feet(world, packed_lift).y + 0.25f;
    scenario_expect_near(world, "the lift's top", top, 7.25f, 0.01f);
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_expect_near(world, "a height in the crowd",
                             scenario_feet(world, world->players[i]).y, top, 0.02f);
    }
}

const Scenario scenarios_crowd[] = {
    {"crowd", "64 players wander over hills, meet in the middle, and are pushed apart", CROWD_TICKS,
     crowd_build, crowd_drive, crowd_finish},
    {"push", "players who overlap are pushed apart softly; nobody else moves", 300, push_build,
     push_drive, push_finish},
    {"packed", "150 players arrive on one spot of a lift; none falls through", 240, packed_build,
     packed_drive, packed_finish},
    {0},
};
