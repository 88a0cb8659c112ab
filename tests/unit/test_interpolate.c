// Others are shown where they were: a walker of the real sim, sent as curves, is shown within
// centimetres of its true position at every tick.
#include "core/client/interpolate.h"

#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

#include <stdio.h>
#include <stdlib.h>

#define TOLERANCE 3 // of 256 to the metre: 1.2 cm

static NetState state_at(Vec3 position, Vec3 velocity, float gravity, uint64_t tick)
{
    return (NetState){.paint = paint_default,
                      .version = 1,
                      .motion = net_motion_quantise(position, velocity, gravity, tick),
                      .health = 100};
}

// Where the error of a run went.
typedef struct Errors {
    float all[20000];
    uint32_t count;
    uint32_t states;
} Errors;

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return (x > y) - (x < y);
}

static float percentile(Errors *errors, float part)
{
    qsort(errors->all, errors->count, sizeof errors->all[0], by_size);
    return errors->all[(uint32_t)((float)(errors->count - 1) * part)];
}

typedef struct WalkOptions {
    uint64_t seed;
    uint32_t ticks;
    uint32_t snapshot_ticks;
    uint32_t jump_in;   // one in so many decisions is a jump; 0: never
    uint32_t decide_in; // one tick in so many is a decision
} WalkOptions;

// What the server does: a new state only when the truth left the curve.
static bool capture(NetState *state, const Entity *entity, uint64_t tick, uint32_t rate)
{
    if (net_motion_holds(&state->motion, entity->position, tick, rate, TOLERANCE)) {
        return false;
    }
    const bool falls = !entity->character.grounded;
    const uint32_t version = state->version;
    *state = state_at(entity->position, entity->velocity, falls ? 25.0f : 0, tick);
    state->version = version + 1;
    return true;
}

static void walk(const WalkOptions *options, Errors *errors)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle walker = walk_player(world.sim, vec3(0, 0, 0));
    Rng rng = rng_make(options->seed, 1);
    InterpolateLine line = {.count = 0};
    Vec3 truth[64] = {{0, 0, 0}};
    NetState state = state_at(VEC3_ZERO, VEC3_ZERO, 0, 0);
    interpolate_push(&line, &state, 0, 0);
    SimInput input = {.move_z = 1};
    uint64_t frame = 0;
    for (uint32_t i = 0; i < options->ticks; i++) {
        if (rng_below(&rng, options->decide_in) == 0) {
            input.yaw = rng_range(&rng, -3.1f, 3.1f);
            input.move_z = rng_below(&rng, 4) == 0 ? 0.0f : 1.0f;
            const bool jumps = options->jump_in != 0 && rng_below(&rng, options->jump_in) == 0;
            input.buttons = jumps ? INPUT_JUMP : 0;
        }
        const Entity *entity = sim_entity(world.sim, walker);
        if (vec3_length(entity->position) > 30) {
            input.yaw = math_atan2(-entity->position.x, -entity->position.z);
        }
        sim_set_input(world.sim, walker, &input);
        sim_step(world.sim);
        const uint64_t tick = sim_tick(world.sim);
        truth[tick % 64] = entity->position;
        if (tick % options->snapshot_ticks == 0) {
            if (capture(&state, entity, tick, 60)) {
                interpolate_push(&line, &state, tick, frame);
                errors->states += 1;
            }
            frame = tick;
        }
        const uint32_t delay = 2 * options->snapshot_ticks;
        if (tick > delay + 4) {
            const uint64_t then = tick - delay;
            const InterpolatePose pose = interpolate_at(&line, (double)then, frame, 60);
            errors->all[errors->count++] = vec3_length(vec3_sub(pose.position, truth[then % 64]));
        }
    }
    walk_world_close(&world);
}

TEST(a_walker_is_shown_within_three_centimetres)
{
    static Errors errors;
    for (uint64_t seed = 0; seed < 3; seed++) {
        errors.count = 0;
        errors.states = 0;
        walk(&(WalkOptions){test_seed() + seed, 6000, 3, 0, 30}, &errors);
        const float p99 = percentile(&errors, 0.99f);
        printf("walking: p99 %.1f mm, most %.1f mm, %.1f states a second\n", (double)p99 * 1000,
               (double)percentile(&errors, 1) * 1000, errors.states / 100.0);
        CHECK(p99 <= 0.03f);
        CHECK(percentile(&errors, 1) <= 0.06f);
    }
}

TEST(jumps_are_shown_within_three_centimetres)
{
    static Errors errors;
    for (uint64_t seed = 0; seed < 3; seed++) {
        errors.count = 0;
        errors.states = 0;
        walk(&(WalkOptions){test_seed() + 50 + seed, 6000, 3, 2, 30}, &errors);
        const float p99 = percentile(&errors, 0.99f);
        printf("jumping: p99 %.1f mm, most %.1f mm, %.1f states a second\n", (double)p99 * 1000,
               (double)percentile(&errors, 1) * 1000, errors.states / 100.0);
        CHECK(p99 <= 0.03f);
        CHECK(percentile(&errors, 1) <= 0.05f);
    }
}

TEST(ten_snapshots_a_second_are_enough_for_twelve_centimetres)
{
    static Errors errors;
    walk(&(WalkOptions){test_seed() + 90, 6000, 6, 3, 30}, &errors);
    const float p99 = percentile(&errors, 0.99f);
    printf("10 Hz: p99 %.1f mm, most %.1f mm\n", (double)p99 * 1000,
           (double)percentile(&errors, 1) * 1000);
    CHECK(p99 <= 0.12f);
}

TEST(a_curve_goes_on_as_long_as_frames_come)
{
    InterpolateLine line = {.count = 0};
    const NetState state = state_at(vec3(1, 2, 3), vec3(6, 0, 0), 0, 100);
    interpolate_push(&line, &state, 100, 97);
    CHECK_NEAR(interpolate_at(&line, 90, 100, 60).position.x, 1, 1e-4);
    CHECK_NEAR(interpolate_at(&line, 100, 100, 60).position.x, 1, 1e-4);
    CHECK_NEAR(interpolate_at(&line, 105.5, 106, 60).position.x, 1.55, 1e-4);
    CHECK_NEAR(interpolate_at(&line, 160, 160, 60).position.x, 7, 1e-4);
    // Beyond the newest frame for a quarter of a second.
    CHECK_NEAR(interpolate_at(&line, 112, 103, 60).position.x, 2.2, 1e-4);
    CHECK_NEAR(interpolate_at(&line, 200, 103, 60).position.x, 2.8, 1e-4);
    CHECK_NEAR(interpolate_at(&(InterpolateLine){.count = 0}, 5, 5, 60).position.x, 0, 0);
}

TEST(yaw_turns_the_shorter_way)
{
    InterpolateLine line = {.count = 0};
    NetState state = state_at(VEC3_ZERO, VEC3_ZERO, 0, 100);
    state.yaw = 250;
    state.pitch = -10;
    interpolate_push(&line, &state, 100, 97);
    state.yaw = 6; // 12 further, over zero
    state.pitch = 10;
    interpolate_push(&line, &state, 106, 103); // the curve is the same
    CHECK_INT(line.count, 2);
    const float unit = MATH_PI / 128;
    CHECK_NEAR(interpolate_at(&line, 103, 106, 60).yaw, -6 * unit, 1e-4);
    CHECK_NEAR(interpolate_at(&line, 104.5, 106, 60).yaw, 0, 1e-4);
    CHECK_NEAR(interpolate_at(&line, 104.5, 106, 60).pitch, 0, 1e-4);
    CHECK_NEAR(interpolate_at(&line, 106, 106, 60).yaw, 6 * unit, 1e-4);
    state.yaw = 250; // and back
    interpolate_push(&line, &state, 109, 106);
    CHECK_NEAR(interpolate_at(&line, 107.5, 109, 60).yaw, 0, 1e-4);
}

TEST(a_teleport_is_not_flown)
{
    InterpolateLine line = {.count = 0};
    const NetState here = state_at(VEC3_ZERO, VEC3_ZERO, 0, 100);
    const NetState there = state_at(vec3(40, 0, 0), VEC3_ZERO, 0, 103);
    interpolate_push(&line, &here, 100, 97);
    interpolate_push(&line, &there, 103, 100);
    CHECK_NEAR(interpolate_at(&line, 102.9, 103, 60).position.x, 0, 1e-4);
    CHECK_NEAR(interpolate_at(&line, 103, 103, 60).position.x, 40, 1e-4);
}

TEST(health_and_flags_change_when_they_are_true)
{
    InterpolateLine line = {.count = 0};
    NetState state = state_at(VEC3_ZERO, VEC3_ZERO, 0, 100);
    state.flags = NET_GROUNDED;
    interpolate_push(&line, &state, 100, 97);
    state.health = 0;
    state.flags = NET_DEAD;
    interpolate_push(&line, &state, 112, 109);
    CHECK_INT(interpolate_at(&line, 111.5, 112, 60).health, 100);
    CHECK_INT(interpolate_at(&line, 111.5, 112, 60).flags, NET_GROUNDED);
    CHECK_INT(interpolate_at(&line, 112, 112, 60).health, 0);
    CHECK_INT(interpolate_at(&line, 112, 112, 60).flags, NET_DEAD);
}

// Whatever is pushed, in whatever order: ticks ascend, poses are numbers, and they do not leap.
TEST(any_pushes_give_a_line)
{
    Rng rng = rng_make(test_seed(), 5);
    for (uint32_t run = 0; run < 200; run++) {
        InterpolateLine line = {.count = 0};
        uint64_t frame = 100;
        for (uint32_t i = 0; i < 60; i++) {
            const uint64_t before = frame;
            frame += rng_below(&rng, 8);
            const float x = rng_range(&rng, -1, 1);
            const uint32_t late = rng_below(&rng, 10);
            NetState state = state_at(vec3(x, 0, 0), vec3(x, x, 0), 25, frame - late);
            state.yaw = (uint8_t)rng_below(&rng, 256);
            interpolate_push(&line, &state, frame, before);
            for (uint32_t k = 1; k < line.count; k++) {
                CHECK(line.true_tick[k] > line.true_tick[k - 1]);
                CHECK(line.known_tick[k] >= line.true_tick[k - 1]);
                CHECK(line.known_tick[k] < line.true_tick[k]);
            }
            const double at = (double)frame + (double)rng_range(&rng, -40, 40);
            const InterpolatePose pose = interpolate_at(&line, at, frame, 60);
            CHECK(vec3_is_finite(pose.position) && vec3_is_finite(pose.velocity));
            CHECK(pose.yaw >= -MATH_PI && pose.yaw < MATH_PI);
        }
        CHECK_INT(line.count, INTERPOLATE_STATES);
    }
}
