// Many characters at once: on uneven ground, and pushing each other softly apart.
#include "tests/scenario/scenario.h"

// Pairs that stand in each other.
static uint32_t count_overlaps(const Stage *stage)
{
    const CharacterTuning *tuning = &stage->config.character;
    uint32_t overlaps = 0;
    for (uint32_t i = 0; i < stage->player_count; i++) {
        for (uint32_t k = i + 1; k < stage->player_count; k++) {
            const Vec3 a = stage_feet(stage, stage->players[i]);
            const Vec3 b = stage_feet(stage, stage->players[k]);
            overlaps += stage_distance_flat(a, b) < 1.6f * tuning->radius &&
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

static void crowd_build(Stage *stage)
{
    crowd.overlaps_at_meeting = crowd.grounded_count = 0;
    crowd.travelled = 0;
    stage_hills(stage, 32, 11);
    stage_open(stage);
    for (int i = 0; i < 64; i++) {
        const float x = (float)(i % 8) * 6.0f - 21.0f;
        const float z = (float)(i / 8) * 6.0f - 21.0f;
        (void)stage_player(stage, vec3(x, 6, z));
    }
}

static void crowd_drive(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        const Handle player = stage->players[i];
        const Entity *entity = stage_at(stage, player);
        crowd.grounded_count += entity->character.grounded;
        crowd.travelled += vec3_length(vec3(entity->velocity.x, 0, entity->velocity.z)) *
                           sim_tick_seconds(stage->sim);
        if (stage->tick < CROWD_WANDERS_UNTIL) {
            stage_wander(stage, player, 20);
        } else if (stage->tick < CROWD_MEETS_UNTIL) {
            const bool jumps = rng_below(&stage->rng, 20) == 0;
            stage_walk(stage, player, vec3_neg(entity->position),
                       INPUT_RUN | (jumps ? INPUT_JUMP : 0u));
        } else {
            stage_stand(stage, player);
        }
    }
    if (stage->tick == CROWD_MEETS_UNTIL) {
        crowd.overlaps_at_meeting = count_overlaps(stage);
    }
}

static void crowd_finish(Stage *stage)
{
    const uint32_t left = count_overlaps(stage);
    stage_expect(stage, crowd.overlaps_at_meeting >= 20, "only %u pairs met",
                 crowd.overlaps_at_meeting);
    stage_expect(stage, left * 4 <= crowd.overlaps_at_meeting, "%u of %u pairs still overlap", left,
                 crowd.overlaps_at_meeting);
    stage_expect(stage, crowd.travelled > 64 * 15, "walked only %.0f m in all",
                 (double)crowd.travelled);
    stage_expect(stage, crowd.grounded_count > 64 * CROWD_TICKS / 3, "on the ground only %u times",
                 crowd.grounded_count);
    stage_expect(stage, stage_total(stage, SIM_EVENT_JUMPED) > 64, "few jumps");
}

// --- push ---------------------------------------------------------------------------------------
static void push_build(Stage *stage)
{
    stage_ground(stage, 16);
    stage_open(stage);
    // Two on one spot, a row that overlaps, one alone, and one above another's head.
    (void)stage_player(stage, vec3(0, 0, 0));
    (void)stage_player(stage, vec3(0, 0, 0));
    for (int i = 0; i < 5; i++) {
        (void)stage_player(stage, vec3((float)i * 0.3f, 0, 8));
    }
    (void)stage_player(stage, vec3(-8, 0, -8));
    (void)stage_player(stage, vec3(8, 0, -8));
    (void)stage_player(stage, vec3(8, stage->config.character.height + 4, -8.2f));
    // A dead character pushes nobody and is not pushed.
    const Handle dead = stage_player(stage, vec3(-8, 0, 8));
    (void)stage_player(stage, vec3(-8.2f, 0, 8));
    (void)sim_damage(stage->sim, dead, 1e6f, 0);
    // A heap of twenty: all push at once, and nobody flies away.
    for (int i = 0; i < 20; i++) {
        (void)stage_player(stage,
                           vec3(-2 + 0.05f * (float)(i % 5), 0, -4 + 0.05f * (float)(i / 5)));
    }
}

static void push_drive(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_stand(stage, stage->players[i]);
    }
    // One in the row keeps walking into the others.
    stage_walk(stage, stage->players[2], vec3(1, 0, 0), 0);
}

static void push_finish(Stage *stage)
{
    const float apart = 2 * stage->config.character.radius;
    const float d = stage_distance_flat(stage_feet(stage, stage->players[0]),
                                        stage_feet(stage, stage->players[1]));
    stage_expect(stage, d > apart * 0.8f, "two on one spot are %.3f m apart", (double)d);
    stage_expect(stage, d < apart * 1.5f, "two on one spot flew %.3f m apart", (double)d);
    const Vec3 alone = stage_feet(stage, stage->players[7]);
    stage_expect(stage, alone.x == -8 && alone.z == -8, "the one alone moved to %.3f %.3f",
                 (double)alone.x, (double)alone.z);
    const float stacked = stage_distance_flat(stage_feet(stage, stage->players[8]),
                                              stage_feet(stage, stage->players[9]));
    stage_expect(stage, stacked > apart * 0.7f, "the one who fell on another is %.3f m from him",
                 (double)stacked);
    const Vec3 dead = stage_feet(stage, stage->players[10]);
    const Vec3 beside_dead = stage_feet(stage, stage->players[11]);
    stage_expect(stage, dead.x == -8 && beside_dead.x == -8.2f, "the dead one pushes or is pushed");
    for (uint32_t i = 12; i < 32; i++) {
        const float way =
            stage_distance_flat(stage_feet(stage, stage->players[i]), vec3(-2, 0, -4));
        stage_expect(stage, way < 4, "one of the heap flew %.3f m", (double)way);
    }
    const Vec3 walker = stage_feet(stage, stage->players[2]);
    stage_expect(stage, walker.x > 6, "others block the walker at %.3f", (double)walker.x);
}

// --- packed -------------------------------------------------------------------------------------
// A crowd that arrives at one spot, on a lift that was there after all of them.
#define PACKED_COUNT 150

static Handle packed_lift;

static void packed_build(Stage *stage)
{
    stage_ground(stage, 24);
    stage_open(stage);
    for (int i = 0; i < PACKED_COUNT; i++) {
        const Vec3 offset = vec3(0.01f * (float)(i % 12), 0, 0.01f * (float)(i / 12));
        (void)stage_player(stage, vec3_add(vec3(0, 6, 0), offset));
    }
    packed_lift = stage_spawn(stage, part_box(vec3(0, 4, 0), vec3(10, 0.25f, 10)));
    stage_move(stage, packed_lift, VEC3_ZERO, VEC3_ZERO, 60);
    stage_move(stage, packed_lift, vec3(0, 1.5f, 0), VEC3_ZERO, 120);
}

static void packed_drive(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_stand(stage, stage->players[i]);
    }
}

static void packed_finish(Stage *stage)
{
    const float top = stage_feet(stage, packed_lift).y + 0.25f;
    stage_expect_near(stage, "the lift's top", top, 7.25f, 0.01f);
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_expect_near(stage, "a height in the crowd", stage_feet(stage, stage->players[i]).y,
                          top, 0.02f);
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
