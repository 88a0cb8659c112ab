// In the air: long falls onto thin floors, and jumps that are pressed too early and too late.
#include "tests/scenario/scenario.h"

#include <string.h>

// --- falls --------------------------------------------------------------------------------------
#define FALL_COUNT 8

static struct {
    float fastest;
    float landed_speed;
} falls;

static void falls_build(ScenarioWorld *world)
{
    memset(&falls, 0, sizeof falls);
    scenario_terrain(world, (VoxelCoord){-40, 0, -4}, (VoxelCoord){-32, 0, 4},
                     1); // one voxel thick
    for (int i = 1; i < FALL_COUNT; i++) {
        const Vec3 at = vec3((float)i * 12 - 36, 1, 0);
        PartDesc floor = part_box(at, vec3(4, 0.01f, 4));
        if (i % 3 == 1) {
            floor = part_turned(floor, vec3(1, 0, 0.3f), 0.3f);
        } else if (i % 3 == 2) {
            floor = part_cylinder(at, 4, 0.01f);
        }
        (void)scenario_part(world, floor);
    }
    scenario_open(world);
    for (int i = 0; i < FALL_COUNT; i++) {
        const float x = (float)i * 12 - 36 + 0.37f * (float)(i % 3);
        (void)scenario_player(world, vec3(x, 100.0f + 13.7f * (float)i, 0.2f));
    }
}

static void falls_drive(ScenarioWorld *world)
{
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_stand(world, world->players[i]);
        falls.fastest = math_max(falls.fastest, -scenario_at(world, world->players[i])->velocity.y);
    }
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type == SIM_EVENT_LANDED) {
            falls.landed_speed = math_max(falls.landed_speed, events[i].value);
        }
    }
}

static void falls_finish(ScenarioWorld *world)
{
    const float limit = world->config.character.fall_speed_max;
    scenario_expect_near(world, "the fastest fall", falls.fastest, limit, 1.0f);
    scenario_expect_near(world, "the hardest landing", falls.landed_speed, limit, 1.0f);
    for (uint32_t i = 0; i < world->player_count; i++) {
        const Entity *entity = scenario_at(world, world->players[i]);
        scenario_expect(world,
                        entity->character.grounded && entity->position.y > -0.5f &&
                            entity->position.y < 2.5f,
                        "player %u fell through to %.3f", i, (double)entity->position.y);
    }
    scenario_expect(world, scenario_total(world, SIM_EVENT_LANDED) == FALL_COUNT, "%llu landings",
                    (unsigned long long)scenario_total(world, SIM_EVENT_LANDED));
}

// --- jumps --------------------------------------------------------------------------------------
// Each jumper leaves a ledge and presses a given number of ticks later (coyote), or drops onto
// the ground and presses a given number of ticks before touching it (buffer).
#define JUMP_COUNT 6

static struct {
    Handle high, holder, coyote[JUMP_COUNT], buffer[JUMP_COUNT];
    float high_top;
    uint32_t holder_jumps, high_jumps;
    int32_t left_tick[JUMP_COUNT];   // when it left the ledge
    int32_t landed_tick[JUMP_COUNT]; // when the one without a press landed
    bool coyote_jumped[JUMP_COUNT], buffer_jumped[JUMP_COUNT];
    Handle plain; // lands without pressing: the others fall the same way
    int32_t plain_landed;
} jumps;

static uint32_t window_ticks(const ScenarioWorld *world, uint32_t ms)
{
    return ms * world->config.tick_rate / 1000;
}

// 0: at once; then inside, at the edge of, and beyond the window.
static uint32_t jump_delay(const ScenarioWorld *world, uint32_t ms, int i)
{
    const uint32_t window = window_ticks(world, ms);
    const uint32_t delays[JUMP_COUNT] = {1,          window / 2, window - 1,
                                         window + 2, window + 4, window * 2};
    return delays[i];
}

static void jumps_build(ScenarioWorld *world)
{
    memset(&jumps, 0, sizeof jumps);
    scenario_ground(world, 32);
    (void)scenario_part(world, part_box(vec3(-14, 2, 0), vec3(14, 2, 3)));
    scenario_open(world);
    for (int i = 0; i < JUMP_COUNT; i++) {
        jumps.coyote[i] = scenario_player(world, vec3(-4.0f * (float)i - 2, 4, 2));
        jumps.left_tick[i] = -1;
        jumps.buffer[i] = scenario_player(world, vec3(4.0f * (float)i, 8, 20));
    }
    jumps.plain = scenario_player(world, vec3(-8, 8, 20));
    jumps.high = scenario_player(world, vec3(20, 0, 10));
    jumps.holder = scenario_player(world, vec3(24, 0, 10));
    jumps.plain_landed = -1;
}

static void jumps_drive(ScenarioWorld *world)
{
    const int32_t now = (int32_t)world->tick;
    for (int i = 0; i < JUMP_COUNT; i++) {
        const Handle player = jumps.coyote[i];
        if (jumps.left_tick[i] < 0 && world->tick > 5 &&
            !scenario_at(world, player)->character.grounded) {
            jumps.left_tick[i] = now;
        }
        const int32_t delay = (int32_t)jump_delay(world, world->config.character.coyote_ms, i);
        const bool presses = jumps.left_tick[i] >= 0 && now == jumps.left_tick[i] + delay - 1;
        scenario_walk(world, player, vec3(0, 0, 1), presses ? INPUT_JUMP : 0u);
        jumps.coyote_jumped[i] |=
            scenario_seen(world, SIM_EVENT_JUMPED, scenario_net_id(world, player), 0) != 0;
    }
    // They all fall alike, so when to press follows from heights alone.
    const float g = world->config.character.gravity;
    const float fall_s = math_sqrt(2 * 8 / g);
    const int32_t touch = (int32_t)(fall_s * (float)world->config.tick_rate);
    for (int i = 0; i < JUMP_COUNT; i++) {
        const int32_t delay = (int32_t)jump_delay(world, world->config.character.jump_buffer_ms, i);
        scenario_walk(world, jumps.buffer[i], VEC3_ZERO, now == touch - delay ? INPUT_JUMP : 0u);
        jumps.buffer_jumped[i] |=
            scenario_seen(world, SIM_EVENT_JUMPED, scenario_net_id(world, jumps.buffer[i]), 0) != 0;
    }
    scenario_walk(world, jumps.high, VEC3_ZERO, world->tick == 30 ? INPUT_JUMP : 0u);
    jumps.high_top = math_max(jumps.high_top, scenario_feet(world, jumps.high).y);
    scenario_walk(world, jumps.holder, VEC3_ZERO, world->tick >= 30 ? INPUT_JUMP : 0u);
    jumps.holder_jumps +=
        scenario_seen(world, SIM_EVENT_JUMPED, scenario_net_id(world, jumps.holder), 0);
    if (jumps.plain_landed < 0 && scenario_at(world, jumps.plain)->character.grounded) {
        jumps.plain_landed = now;
    }
}

static void jumps_finish(ScenarioWorld *world)
{
    const CharacterTuning *tuning = &world->config.character;
    const float height = tuning->jump_speed * tuning->jump_speed / (2 * tuning->gravity);
    scenario_expect_near(world, "the height of a jump", jumps.high_top, height, height * 0.08f);
    scenario_expect(world, jumps.holder_jumps == 1, "a held button jumped %u times",
                    jumps.holder_jumps);
    for (int i = 0; i < JUMP_COUNT; i++) {
        const uint32_t coyote = jump_delay(world, tuning->coyote_ms, i);
        scenario_expect(world, jumps.left_tick[i] >= 0, "jumper %d never left the ledge", i);
        scenario_expect(world, jumps.coyote_jumped[i] == (i < 3),
                        "pressing %u ticks after the ledge %s", coyote,
                        jumps.coyote_jumped[i] ? "jumped" : "did not jump");
        const uint32_t buffer = jump_delay(world, tuning->jump_buffer_ms, i);
        scenario_expect(world, jumps.buffer_jumped[i] == (i < 3),
                        "pressing %u ticks before the ground %s", buffer,
                        jumps.buffer_jumped[i] ? "jumped" : "did not jump");
    }
}

const Scenario scenarios_fall[] = {
    {"falls", "falls of 100 to 200 m end on floors two centimetres thin", 480, falls_build,
     falls_drive, falls_finish},
    {"jumps", "coyote time and jump buffer, inside and outside their windows", 300, jumps_build,
     jumps_drive, jumps_finish},
    {0},
};
