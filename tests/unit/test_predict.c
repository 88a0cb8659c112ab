// A predicting client and a server with a delay between them: on a clean link nothing is ever
// corrected, whatever moves; every correction has a cause, and afterwards both agree again.
#include "core/client/predict.h"

#include "core/sim/structure.h"
#include "tests/support/test.h"
#include "tests/unit/ride_world.h"

#include <stdio.h>

#define LINK_MAX 64 // ticks of delay at most, both ways together

// --- a server and a client ----------------------------------------------------------------------

typedef struct Frame {
    bool has_own;
    NetOwn own;
    bool moved[RIDE_MOVERS];
    NetShape shapes[RIDE_MOVERS];
    uint64_t tick;
} Frame;

typedef struct Duet {
    RideWorld world;
    Place place;
    Sim *server;
    Handle body;
    Predict *predict;
    RideWalker walker;
    RideSeen seen;
    uint32_t up, down; // delays in ticks
    WireInputFrame inputs[256];
    uint32_t hashes[256]; // what the client sent, by tick
    uint32_t truth[256];  // what the server had
    Frame frames[LINK_MAX];
    WireInputFrame last;
    uint32_t causes;
    uint64_t known_tick; // of the newest frame
    uint32_t deaths, wrong;
} Duet;

static NetShape shape_of(const Sim *sim, uint32_t index)
{
    const Part *part = &sim_entity(sim, sim_find(sim, RIDE_MOVER_FIRST + index))->part;
    return (NetShape){
        .shape = part->shape, .data = part->data, .rest = part->rest, .motion = part->motion};
}

static MergeSlot slot_of(NetKind kind, uint64_t net_id)
{
    return (MergeSlot){.net_id = net_id, .kind = kind, .state = {.version = 1, .health = 100}};
}

static void duet_open(Duet *duet, uint64_t seed, uint32_t up, uint32_t down, uint32_t tick_rate)
{
    *duet = (Duet){.walker = ride_walker(seed), .up = up, .down = down};
    ride_open(&duet->world, tick_rate);
    duet->place = (Place){.tick_rate = tick_rate,
                          .character = duet->world.config.character,
                          .scene = duet->world.scene};
    duet->server = ride_sim(&duet->world, true, (uint32_t)(seed % 4));
    const CharacterDesc desc = {.net_id = RIDE_PLAYER, .position = vec3(0, 0.2f, 3)};
    CHECK_OK(sim_spawn_player(duet->server, &desc, &duet->body));
    for (uint32_t i = 0; i < 100; i++) {
        for (uint32_t k = 0; k < RIDE_MOVERS; k++) {
            (void)ride_announce(duet->server, k);
        }
        sim_step(duet->server);
    }
    CHECK_OK(predict_create(&duet->world.heap, &duet->place, 64, &duet->predict));
    // The client begins so far ahead that its inputs come in time.
    predict_reset(duet->predict, sim_tick(duet->server) + up + down + 2);
    for (uint32_t i = 0; i < RIDE_MOVERS; i++) {
        const MergeSlot slot = slot_of(NET_PART, RIDE_MOVER_FIRST + (i * 3) % RIDE_MOVERS);
        const NetShape shape = shape_of(duet->server, (i * 3) % RIDE_MOVERS);
        predict_enter(duet->predict, &slot, &shape);
    }
    const NetOwn own = {.net_id = RIDE_PLAYER,
                        .tick = sim_tick(duet->server),
                        .causes = NET_CAUSE_SPAWN,
                        .state = character_state(duet->server, duet->body)};
    predict_own(duet->predict, &own);
    CHECK_INT(predict_tick(duet->predict), sim_tick(duet->server) + up + down + 2);
}

static void duet_close(Duet *duet)
{
    predict_destroy(&duet->world.heap, duet->predict);
    sim_destroy(&duet->world.heap, duet->server);
    ride_close(&duet->world);
}

static void client_step(Duet *duet)
{
    const PredictView view = predict_view(duet->predict, 1);
    const SimInput input = ride_steer(&duet->walker, view.position);
    WireInputFrame frame = predict_quantise(&input);
    predict_step(duet->predict, &frame);
    CHECK_INT(frame.tick, predict_tick(duet->predict));
    duet->inputs[frame.tick % 256] = frame;
    duet->hashes[frame.tick % 256] = predict_hash(duet->predict, (uint32_t)frame.seq);
}

// Whether the server has learnt that the client's state after that tick was another.
static bool hash_differs(const Duet *duet, uint64_t tick)
{
    const uint64_t judged = tick - 1 - duet->up; // a hash comes later than its input
    return duet->inputs[judged % 256].tick == judged &&
           duet->hashes[judged % 256] != duet->truth[judged % 256];
}

static void server_frame(Duet *duet, const bool moved[RIDE_MOVERS])
{
    const uint64_t tick = sim_tick(duet->server);
    Frame *frame = &duet->frames[tick % LINK_MAX];
    *frame = (Frame){.tick = tick};
    for (uint32_t i = 0; i < RIDE_MOVERS; i++) {
        frame->moved[i] = moved[i];
        frame->shapes[i] = shape_of(duet->server, i);
    }
    const bool periodic = tick % 60 == 0;
    if (periodic || duet->causes != 0 || hash_differs(duet, tick)) {
        frame->has_own = true;
        frame->own = (NetOwn){.net_id = RIDE_PLAYER,
                              .tick = tick,
                              .causes = duet->causes | (periodic ? NET_CAUSE_PERIODIC : 0u),
                              .state = character_state(duet->server, duet->body)};
        duet->causes = 0;
    }
}

// `late`: the input of this tick is not there.
static void server_step(Duet *duet, bool late)
{
    Sim *server = duet->server;
    const uint64_t tick = sim_tick(server) + 1;
    bool moved[RIDE_MOVERS];
    for (uint32_t i = 0; i < RIDE_MOVERS; i++) {
        moved[i] = ride_announce(server, i);
    }
    WireInputFrame frame = duet->inputs[tick % 256];
    if (frame.tick != tick || late) {
        frame = duet->last;
        duet->causes |= late ? NET_CAUSE_LATE_INPUT : 0u;
    }
    duet->last = frame;
    const SimInput input = predict_input(&frame);
    sim_set_input(server, duet->body, &input);
    sim_step(server);
    ride_look(&duet->seen, server, duet->body);
    if (sim_entity(server, duet->body)->character.health <= 0) {
        CHECK_OK(sim_revive(server, duet->body, vec3(0, 1, 3)));
        duet->causes |= NET_CAUSE_DAMAGE;
        duet->deaths += 1;
    }
    const CharacterState state = character_state(server, duet->body);
    duet->truth[tick % 256] = character_state_hash(&state);
    server_frame(duet, moved);
}

// The client gets what the server sent `down` ticks ago.
static void client_receive(Duet *duet)
{
    const uint64_t tick = sim_tick(duet->server) - duet->down;
    const Frame *frame = &duet->frames[tick % LINK_MAX];
    if (frame->tick != tick) {
        return;
    }
    if (frame->has_own) {
        predict_own(duet->predict, &frame->own);
    }
    for (uint32_t i = 0; i < RIDE_MOVERS; i++) {
        if (frame->moved[i]) {
            const MergeSlot slot = slot_of(NET_PART, RIDE_MOVER_FIRST + i);
            predict_update(duet->predict, &slot, NET_SHAPE, &frame->shapes[i]);
        }
    }
    predict_acknowledge(duet->predict, (uint32_t)tick);
}

static void duet_tick(Duet *duet, bool late)
{
    client_step(duet);
    server_step(duet, late);
    client_receive(duet);
    predict_smooth(duet->predict, 1.0f / 60);
    const uint64_t tick = sim_tick(duet->server);
    duet->wrong += duet->inputs[tick % 256].tick == tick &&
                   duet->hashes[tick % 256] != duet->truth[tick % 256];
}

TEST(nothing_is_corrected_on_a_clean_link)
{
    RideSeen sum = {0};
    for (uint64_t seed = 0; seed < 6 && test_is_passing(); seed++) {
        Duet duet;
        const uint32_t delay = 1 + (uint32_t)seed * 2;
        duet_open(&duet, test_seed() + seed, delay, delay, seed == 4 ? 30 : 60);
        for (uint32_t i = 0; i < 3000 && test_is_passing(); i++) {
            duet_tick(&duet, false);
        }
        const PredictStats *stats = predict_stats(duet.predict);
        CHECK_INT(stats->corrections_without_cause, 0);
        CHECK_INT(stats->corrections_by_cause[5], 1); // the spawn
        CHECK(stats->corrections <= 1 + 2 * duet.deaths);
        CHECK(duet.deaths != 0 || duet.wrong == 0);
        CHECK_INT(stats->inputs_dropped, 0);
        CHECK_INT(stats->things_dropped, 0);
        sum.grounded += duet.seen.grounded;
        sum.on_mover += duet.seen.on_mover;
        sum.on_conveyor += duet.seen.on_conveyor;
        sum.on_stairs += duet.seen.on_stairs;
        sum.climbing += duet.seen.climbing;
        sum.bounced += duet.seen.bounced;
        duet_close(&duet);
    }
    CHECK(sum.on_mover > 300);
    CHECK(sum.on_conveyor > 50);
    CHECK(sum.on_stairs > 20);
    CHECK(sum.climbing > 20);
    CHECK(sum.bounced > 5);
}

TEST(every_correction_has_its_cause_and_mends)
{
    for (uint64_t seed = 0; seed < 6 && test_is_passing(); seed++) {
        Duet duet;
        duet_open(&duet, test_seed() + 40 + seed, 3, 4, 60);
        Rng rng = rng_make(test_seed() + seed, 4);
        uint32_t disturbed = 0;
        uint64_t calm_from = 0;
        for (uint32_t i = 0; i < 3000; i++) {
            const bool late = rng_below(&rng, 60) == 0;
            if (rng_below(&rng, 120) == 0) {
                const float x = rng_range(&rng, -9, 9);
                const float y = rng_range(&rng, 0, 9);
                CHECK_OK(sim_set_velocity(duet.server, duet.body, vec3(x, y, 0)));
                duet.causes |= NET_CAUSE_SCRIPT;
                disturbed += 1;
            }
            if (rng_below(&rng, 400) == 0) {
                CHECK_OK(sim_set_position(duet.server, duet.body, vec3(1, 1, 3)));
                duet.causes |= NET_CAUSE_SCRIPT;
            }
            const uint32_t deaths = duet.deaths;
            if (duet.causes != 0 || late) {
                calm_from = predict_tick(duet.predict) + 20;
            }
            duet_tick(&duet, late);
            calm_from = duet.deaths != deaths ? predict_tick(duet.predict) + 20 : calm_from;
            const uint64_t tick = sim_tick(duet.server);
            if (tick > calm_from && duet.inputs[tick % 256].tick == tick) {
                // What was predicted after the news came agrees again.
                CHECK_INT(duet.hashes[tick % 256], duet.truth[tick % 256]);
            }
        }
        const PredictStats *stats = predict_stats(duet.predict);
        CHECK_INT(stats->corrections_without_cause, 0);
        CHECK(stats->corrections_by_cause[2] >= disturbed / 2);
        CHECK(stats->corrections_by_cause[0] > 3);
        CHECK(stats->replayed_ticks >= stats->corrections);
        CHECK(stats->correction_max_m > 0.1f);
        duet_close(&duet);
    }
}

// --- a body alone -------------------------------------------------------------------------------

typedef struct Alone {
    RideWorld world;
    Place place;
    Predict *predict;
} Alone;

static NetOwn own_at(Vec3 position, uint64_t tick, uint32_t causes)
{
    return (NetOwn){.net_id = RIDE_PLAYER,
                    .tick = tick,
                    .causes = causes,
                    .state = {.position = position, .health = 100}};
}

static void alone_open(Alone *alone, uint32_t visible_max)
{
    *alone = (Alone){.predict = NULL};
    ride_open(&alone->world, 60);
    alone->place = (Place){
        .tick_rate = 60, .character = alone->world.config.character, .scene = alone->world.scene};
    CHECK_OK(predict_create(&alone->world.heap, &alone->place, visible_max, &alone->predict));
    predict_reset(alone->predict, 1000);
}

static void alone_close(Alone *alone)
{
    predict_destroy(&alone->world.heap, alone->predict);
    ride_close(&alone->world);
}

static void steps(Predict *predict, uint32_t count, const SimInput *input)
{
    for (uint32_t i = 0; i < count; i++) {
        WireInputFrame frame = predict_quantise(input);
        predict_step(predict, &frame);
    }
}

TEST(time_goes_on_without_a_body)
{
    Alone alone;
    alone_open(&alone, 16);
    steps(alone.predict, 5, &(SimInput){.move_z = 1});
    CHECK_INT(predict_tick(alone.predict), 1005);
    CHECK_INT(predict_hash(alone.predict, 1003), 0);
    CHECK(!predict_view(alone.predict, 0.5f).present);
    CHECK_INT(predict_pending(alone.predict, 1000), 5);
    CHECK_INT(predict_pending(alone.predict, 0), 5);
    CHECK_INT(predict_pending(alone.predict, 1005), 0);
    const NetOwn own = own_at(vec3(0, 0, 3), 1002, NET_CAUSE_SPAWN);
    predict_own(alone.predict, &own);
    const PredictView view = predict_view(alone.predict, 1);
    CHECK(view.present && view.net_id == RIDE_PLAYER);
    CHECK(view.position.z > 3); // walked on since then
    CHECK(predict_hash(alone.predict, 1004) != 0);
    CHECK_INT(predict_stats(alone.predict)->replayed_ticks, 3);
    alone_close(&alone);
}

TEST(inputs_are_kept_in_order_until_they_are_answered)
{
    Alone alone;
    alone_open(&alone, 16);
    for (uint32_t i = 0; i < 10; i++) {
        const SimInput input = {.move_x = (float)i / 10, .buttons = i};
        steps(alone.predict, 1, &input);
    }
    WireInputFrame frames[8];
    CHECK_INT(predict_inputs(alone.predict, 1003, frames, 8), 7);
    CHECK_INT(frames[0].seq, 1004);
    CHECK_INT(frames[0].tick, 1004);
    CHECK_INT(frames[0].buttons, 3);
    CHECK_INT(frames[6].seq, 1010);
    CHECK_INT(predict_inputs(alone.predict, 1000, frames, 4), 4);
    CHECK_INT(frames[0].seq, 1001);
    CHECK_INT(predict_inputs(alone.predict, 1010, frames, 8), 0);
    CHECK_INT(predict_inputs(alone.predict, 2000, frames, 8), 0);
    predict_acknowledge(alone.predict, 1010);
    steps(alone.predict, PREDICT_INPUTS_MAX, &(SimInput){.move_z = 1});
    CHECK_INT(predict_stats(alone.predict)->inputs_dropped, 0);
    steps(alone.predict, 3, &(SimInput){.move_z = 1});
    CHECK_INT(predict_stats(alone.predict)->inputs_dropped, 3);
    CHECK_INT(predict_pending(alone.predict, 1010), PREDICT_INPUTS_MAX);
    predict_acknowledge(alone.predict, 5000); // it was never made
    predict_acknowledge(alone.predict, 0);
    steps(alone.predict, 1, &(SimInput){.move_z = 1});
    CHECK_INT(predict_stats(alone.predict)->inputs_dropped, 4);
    alone_close(&alone);
}

TEST(sequence_numbers_wrap)
{
    Alone alone;
    alone_open(&alone, 16);
    predict_reset(alone.predict, 0xfffffffaull);
    steps(alone.predict, 12, &(SimInput){.move_z = 1});
    WireInputFrame frames[16];
    CHECK_INT(predict_inputs(alone.predict, 0xfffffffeu, frames, 16), 8);
    CHECK_INT(frames[0].seq, 0xffffffffu);
    CHECK_INT(frames[1].seq, 0);
    CHECK_INT(frames[7].tick, 0x100000006ll);
    CHECK_INT(predict_pending(alone.predict, 2), 4);
    alone_close(&alone);
}

TEST(what_jumps_is_smoothed_away_but_no_teleport_is)
{
    Alone alone;
    alone_open(&alone, 16);
    NetOwn own = own_at(vec3(0, 0, 3), 1000, NET_CAUSE_SPAWN);
    predict_own(alone.predict, &own);
    steps(alone.predict, 10, &(SimInput){.move_z = 0});
    const Vec3 shown = predict_view(alone.predict, 1).position;
    own = own_at(vec3(0.5f, 0, 3), 1005, NET_CAUSE_PUSH);
    predict_own(alone.predict, &own);
    CHECK_NEAR(predict_view(alone.predict, 1).position.x, shown.x, 1e-4);
    CHECK_NEAR(
        sim_entity(predict_sim(alone.predict), sim_find(predict_sim(alone.predict), RIDE_PLAYER))
            ->position.x,
        0.5, 1e-4);
    CHECK_NEAR(predict_stats(alone.predict)->correction_last_m, 0.5, 0.1);
    for (uint32_t i = 0; i < 6; i++) {
        predict_smooth(alone.predict, 1.0f / 60); // 100 ms
    }
    CHECK_NEAR(predict_view(alone.predict, 1).position.x, 0.5 - 0.5 / 2.718, 0.02);
    for (uint32_t i = 0; i < 60; i++) {
        predict_smooth(alone.predict, 1.0f / 60);
    }
    CHECK_NEAR(predict_view(alone.predict, 1).position.x, 0.5, 1e-6);
    own = own_at(vec3(5, 0, -2), 1006, NET_CAUSE_SCRIPT);
    predict_own(alone.predict, &own);
    CHECK_NEAR(predict_view(alone.predict, 1).position.x, 5, 0.01);
    CHECK_NEAR(predict_view(alone.predict, 0).position.x, 5, 0.01); // no tick before it is shown
    alone_close(&alone);
}

TEST(health_is_taken_over_without_a_correction)
{
    Alone alone;
    alone_open(&alone, 16);
    NetOwn own = own_at(vec3(0, 0, 3), 1000, NET_CAUSE_SPAWN);
    predict_own(alone.predict, &own);
    steps(alone.predict, 4, &(SimInput){.move_z = 1});
    Sim *sim = predict_sim(alone.predict);
    own.state = character_state(sim, sim_find(sim, RIDE_PLAYER));
    own.tick = 1004;
    own.causes = NET_CAUSE_PERIODIC;
    own.state.health = 61;
    predict_own(alone.predict, &own);
    CHECK_NEAR(predict_view(alone.predict, 1).health, 61, 0);
    CHECK_INT(predict_stats(alone.predict)->corrections, 1); // the spawn
    own.state.health = 0;                                    // dead: that is another state
    own.causes = NET_CAUSE_DAMAGE;
    predict_own(alone.predict, &own);
    CHECK_NEAR(predict_view(alone.predict, 1).health, 0, 0);
    CHECK_INT(predict_stats(alone.predict)->corrections_by_cause[3], 1);
    CHECK_INT(predict_stats(alone.predict)->corrections_without_cause, 0);
    own.causes = NET_CAUSE_PERIODIC; // and this one has no cause
    own.state.health = 50;
    predict_own(alone.predict, &own);
    CHECK_INT(predict_stats(alone.predict)->corrections_without_cause, 1);
    alone_close(&alone);
}

TEST(a_new_body_replaces_the_old)
{
    Alone alone;
    alone_open(&alone, 16);
    NetOwn own = own_at(vec3(0, 0, 3), 1000, NET_CAUSE_SPAWN);
    predict_own(alone.predict, &own);
    Sim *sim = predict_sim(alone.predict);
    // Seen by others already, before it is one's own.
    MergeSlot other = slot_of(NET_PLAYER, 3000);
    predict_enter(alone.predict, &other, NULL);
    CHECK_INT(sim_count(sim, ENTITY_PLAYER), 2);
    own.net_id = 3000;
    predict_own(alone.predict, &own);
    CHECK_INT(sim_count(sim, ENTITY_PLAYER), 1);
    CHECK_INT(predict_view(alone.predict, 1).net_id, 3000);
    // Records of the own body from others are ignored.
    predict_enter(alone.predict, &other, NULL);
    predict_update(alone.predict, &other, NET_MOTION, NULL);
    predict_pose(alone.predict, 3000, vec3(9, 9, 9), VEC3_ZERO, 0, 0, 1);
    CHECK(predict_view(alone.predict, 1).position.x < 1);
    predict_leave(alone.predict, &other);
    CHECK(!predict_view(alone.predict, 1).present);
    CHECK_INT(sim_count(sim, ENTITY_PLAYER), 0);
    steps(alone.predict, 3, &(SimInput){.move_z = 1});
    alone_close(&alone);
}

TEST(a_client_that_is_behind_is_brought_forward)
{
    Alone alone;
    alone_open(&alone, 16);
    NetOwn own = own_at(vec3(0, 0, 3), 1200, NET_CAUSE_SPAWN);
    predict_own(alone.predict, &own);
    CHECK_INT(predict_tick(alone.predict), 1200);
    steps(alone.predict, 300, &(SimInput){.move_z = 0});
    own.tick = 1210; // older than the ring: taken as it is, without 290 steps
    own.causes = NET_CAUSE_LATE_INPUT;
    predict_own(alone.predict, &own);
    CHECK_INT(predict_tick(alone.predict), 1500);
    CHECK_INT(predict_stats(alone.predict)->replayed_ticks, 0);
    alone_close(&alone);
}

// --- what others did ----------------------------------------------------------------------------

TEST(a_part_of_the_scene_stays_where_its_entity_left_it)
{
    Alone alone;
    alone_open(&alone, 16);
    Sim *sim = predict_sim(alone.predict);
    const ScenePart *part = scene_part(alone.world.scene, 9);
    const float y = part->desc.pose.position.y;
    MergeSlot slot = slot_of(NET_PART, 10);
    NetShape shape = {.shape = part->desc.shape, .data = part->desc.data, .rest = part->desc.pose};
    shape.rest.position.y += 1;
    predict_enter(alone.predict, &slot, &shape);
    CHECK(sim_part_is_hidden(sim, 9));
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 10))->position.y, y + 1, 1e-6);
    predict_leave(alone.predict, &slot);
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 10))->position.y, y + 1, 1e-6);
    predict_reset(alone.predict, 5000); // a new session
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 10))->position.y, y + 1, 1e-6);
    predict_unpatch(alone.predict);
    CHECK(!sim_part_is_hidden(sim, 9));
    CHECK(handle_is_none(sim_find(sim, 10)));
    CHECK_INT(predict_stats(alone.predict)->things_dropped, 0);
    slot = slot_of(NET_PART, 500000);
    predict_enter(alone.predict, &slot, NULL); // a part without a shape
    CHECK_INT(predict_stats(alone.predict)->things_dropped, 1);
    alone_close(&alone);
}

TEST(rows_of_patches_change_parts_of_the_scene)
{
    Alone alone;
    alone_open(&alone, 1);
    Sim *sim = predict_sim(alone.predict);
    const uint32_t parts = scene_part_count(sim_scene(sim));
    PatchRow row = {.net_id = 10, .groups = PATCH_POSITION, .pose.position = {1, 2, 3}};
    CHECK_OK(predict_patch(alone.predict, &row));
    CHECK(vec3_equal(sim_entity(sim, sim_find(sim, 10))->position, vec3(1, 2, 3)));
    row.groups = PATCH_PART_DATA;
    row.data = (PartData){.flags = PART_BOUNCE, .bounce_speed = 4};
    CHECK_OK(predict_patch(alone.predict, &row));
    CHECK(vec3_equal(sim_entity(sim, sim_find(sim, 10))->position, vec3(1, 2, 3)));
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 10))->part.data.bounce_speed, 4, 0);
    row = (PatchRow){.net_id = 10, .groups = PATCH_GONE, .gone = true};
    CHECK_OK(predict_patch(alone.predict, &row));
    CHECK_OK(predict_patch(alone.predict, &row)); // twice is the same
    CHECK(handle_is_none(sim_find(sim, 10)) && sim_part_is_hidden(sim, 9));
    row = (PatchRow){.net_id = 10, .groups = PATCH_GONE | PATCH_POSITION};
    CHECK_OK(predict_patch(alone.predict, &row));
    CHECK(vec3_equal(sim_entity(sim, sim_find(sim, 10))->position, VEC3_ZERO));
    row = (PatchRow){.net_id = 11, .groups = PATCH_PAINT};
    CHECK_OK(predict_patch(alone.predict, &row));
    CHECK(handle_is_none(sim_find(sim, 11))); // paint needs no entity
    row.net_id = parts + 1ull;
    CHECK_INT(predict_patch(alone.predict, &row), STATUS_RANGE);
    row.net_id = 0;
    CHECK_INT(predict_patch(alone.predict, &row), STATUS_RANGE);
    alone_close(&alone);
}

TEST(shapes_change_as_they_are_told)
{
    Alone alone;
    alone_open(&alone, 16);
    Sim *sim = predict_sim(alone.predict);
    MergeSlot slot = slot_of(NET_PART, 4000);
    NetShape shape = {.shape = {SHAPE_BOX, {1, 0.5f, 1}}, .rest = {{0, 1, 0}, QUAT_IDENTITY}};
    predict_enter(alone.predict, &slot, &shape);
    const Handle first = sim_find(sim, 4000);
    shape.data = (PartData){.flags = PART_CONVEYOR, .conveyor_speed = {1, 0, 0}};
    predict_update(alone.predict, &slot, NET_SHAPE, &shape);
    CHECK(handle_equal(sim_find(sim, 4000), first)); // the same entity
    CHECK_INT(sim_entity(sim, first)->part.data.flags, PART_CONVEYOR);
    shape.motion.count = 1;
    shape.motion.segments[0] = (MotionSegment){
        .pose = shape.rest, .velocity = {1, 0, 0}, .tick_from = 990, .tick_to = 1100};
    predict_update(alone.predict, &slot, NET_SHAPE, &shape);
    CHECK_NEAR(sim_entity(sim, first)->position.x, 10.0 / 60, 1e-4);
    shape.shape.half.x = 2;
    predict_update(alone.predict, &slot, NET_SHAPE, &shape);
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 4000))->part.shape.half.x, 2, 0);
    predict_update(alone.predict, &slot, NET_ATTRIBUTES, NULL); // no shape in it
    // One that was not mentioned before.
    slot.net_id = 4001;
    predict_update(alone.predict, &slot, NET_SHAPE, &shape);
    CHECK(!handle_is_none(sim_find(sim, 4001)));
    // An invalid shape is rejected, and counted.
    shape.shape.half.x = -1;
    slot.net_id = 4002;
    predict_enter(alone.predict, &slot, &shape);
    predict_enter(alone.predict, &slot, NULL);
    CHECK(handle_is_none(sim_find(sim, 4002)));
    CHECK_INT(predict_stats(alone.predict)->things_dropped, 2);
    MergeSlot prop = slot_of(NET_PROP, 4003);
    shape = (NetShape){.shape = {SHAPE_SPHERE, {0.3f, 0, 0}}, .rest = {{0, 1, 0}, QUAT_IDENTITY}};
    predict_enter(alone.predict, &prop, &shape);
    CHECK_INT(sim_count(sim, ENTITY_PROP), 1);
    alone_close(&alone);
}

TEST(structures_stand_where_they_are_told_to)
{
    Alone alone;
    alone_open(&alone, 8);
    Sim *sim = predict_sim(alone.predict);
    MergeSlot slot = slot_of(NET_STRUCTURE, 6000);
    slot.owner_id = 9;
    NetShape shape = {.piece = 1, .turn = 1, .cell = {3, 5, 2}, .health = 60}; // in mid air
    predict_enter(alone.predict, &slot, &shape);
    const Entity *wall = sim_entity(sim, sim_find(sim, 6000));
    REQUIRE(wall != NULL);
    CHECK_INT(wall->owner_id, 9);
    CHECK_NEAR(wall->part.health, 60, 0);
    CHECK_NEAR(wall->position.z, 3, 1e-6); // two cells deep, turned
    shape.health = 20;
    predict_update(alone.predict, &slot, NET_SHAPE, &shape);
    CHECK(wall == sim_entity(sim, sim_find(sim, 6000)));
    CHECK_NEAR(wall->part.health, 20, 0);
    steps(alone.predict, 200, &(SimInput){.move_z = 0}); // nothing collapses here by itself
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 1);
    shape.cell.y = 6;
    predict_update(alone.predict, &slot, NET_SHAPE, &shape);
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 6000))->position.y, 6.5, 1e-6);
    shape.piece = 77;
    slot.net_id = 6001;
    predict_enter(alone.predict, &slot, &shape);
    CHECK_INT(predict_stats(alone.predict)->things_dropped, 1);
    slot.net_id = 6000;
    predict_leave(alone.predict, &slot);
    CHECK_INT(sim_count(sim, ENTITY_STRUCTURE), 0);
    alone_close(&alone);
}

static float odd_number(Rng *rng)
{
    const float odd[] = {0, -1, 1, 0.5f, 1e9f, -1e30f, 700, __builtin_nanf(""), __builtin_inff()};
    return rng_below(rng, 3) == 0 ? odd[rng_below(rng, 9)] : rng_range(rng, -8, 8);
}

static Vec3 odd_vector(Rng *rng)
{
    const float x = odd_number(rng);
    const float y = odd_number(rng);
    const float z = odd_number(rng);
    return vec3(x, y, z);
}

static NetShape odd_shape(Rng *rng)
{
    NetShape shape = {.shape = {(ShapeKind)rng_below(rng, 4), {1, 1, 1}},
                      .rest = {odd_vector(rng), QUAT_IDENTITY},
                      .piece = (uint16_t)rng_below(rng, 4),
                      .turn = (uint8_t)rng_below(rng, 5),
                      .cell = {(int32_t)rng_below(rng, 9), 1, 1}};
    shape.shape.half.x = math_abs(odd_number(rng));
    shape.data.flags = rng_below(rng, 80);
    shape.motion.count = rng_below(rng, 4);
    for (uint32_t i = 0; i < shape.motion.count; i++) {
        MotionSegment *segment = &shape.motion.segments[i];
        segment->pose = (Pose){odd_vector(rng), QUAT_IDENTITY};
        segment->velocity = odd_vector(rng);
        segment->tick_from = 900 + 60 * (uint64_t)i + rng_below(rng, 20);
        segment->tick_to = segment->tick_from + rng_below(rng, 60);
    }
    return shape;
}

// Anything a server can send, in any order.
TEST(nothing_that_is_said_breaks_it)
{
    for (uint64_t seed = 0; seed < 8; seed++) {
        Alone alone;
        alone_open(&alone, 12);
        Rng rng = rng_make(test_seed() + seed, 8);
        for (uint32_t i = 0; i < 4000; i++) {
            const uint64_t ids[] = {1, 5, 10, 22, 23, RIDE_PLAYER, 3000, 3001, 3002, 3003, 0};
            MergeSlot slot = slot_of((NetKind)rng_below(&rng, NET_KIND_COUNT),
                                     ids[rng_below(&rng, sizeof ids / sizeof ids[0])]);
            slot.state.flags = (uint8_t)rng_below(&rng, 32);
            const NetShape shape = odd_shape(&rng);
            const NetShape *given = rng_below(&rng, 5) == 0 ? NULL : &shape;
            const uint64_t now = predict_tick(alone.predict);
            switch (rng_below(&rng, 8)) {
            case 0:
            case 1:
                predict_enter(alone.predict, &slot, given);
                break;
            case 2:
                predict_update(alone.predict, &slot, rng_below(&rng, 64), given);
                break;
            case 3:
                predict_leave(alone.predict, &slot);
                break;
            case 4: {
                NetOwn own =
                    own_at(odd_vector(&rng), now - 90 + rng_below(&rng, 100), rng_below(&rng, 256));
                own.net_id = slot.net_id;
                own.state.ground_net_id = rng_below(&rng, 30);
                own.state.grounded = rng_below(&rng, 2) != 0;
                predict_own(alone.predict, &own);
                break;
            }
            case 5: {
                const Vec3 position = odd_vector(&rng);
                const Vec3 velocity = odd_vector(&rng);
                predict_pose(alone.predict, slot.net_id, position, velocity, odd_number(&rng), 0,
                             5);
                break;
            }
            case 6:
                predict_acknowledge(alone.predict, (uint32_t)now - rng_below(&rng, 200));
                break;
            default:
                steps(alone.predict, 1 + rng_below(&rng, 5), &(SimInput){.move_z = 1});
                break;
            }
            predict_smooth(alone.predict, odd_number(&rng));
            const PredictView view = predict_view(alone.predict, odd_number(&rng));
            CHECK(vec3_is_finite(view.position) && vec3_is_finite(view.velocity));
        }
        predict_reset(alone.predict, 10);
        CHECK(!predict_view(alone.predict, 1).present);
        alone_close(&alone);
    }
}

TEST(movers_are_puppets)
{
    Alone alone;
    alone_open(&alone, 4);
    Sim *sim = predict_sim(alone.predict);
    MergeSlot slot = slot_of(NET_PROJECTILE, 5000);
    slot.state.motion = net_motion_quantise(vec3(1, 2, 3), vec3(30, 0, 0), 10, 990);
    slot.state.projectile_radius = 13;
    slot.state.projectile_kind = 7;
    predict_enter(alone.predict, &slot, NULL);
    const Entity *shot = sim_entity(sim, sim_find(sim, 5000));
    REQUIRE(shot != NULL);
    CHECK_NEAR(shot->position.x, 1, 1e-6);
    CHECK_INT(shot->projectile.kind, 7);
    steps(alone.predict, 20, &(SimInput){.move_z = 1});
    CHECK_NEAR(shot->position.x, 1, 1e-6); // only the interpolation moves it
    predict_pose(alone.predict, 5000, vec3(4, 5, 6), vec3(1, 0, 0), 0, 0, 0);
    CHECK_NEAR(shot->position.x, 4, 1e-6);
    slot = slot_of(NET_NPC, 5001);
    slot.state.health = 40;
    predict_enter(alone.predict, &slot, NULL);
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 5001))->character.health, 40, 0);
    predict_pose(alone.predict, 5001, vec3(0, 0, 1), VEC3_ZERO, 1, 0.5f, 20);
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 5001))->character.health, 20, 0);
    CHECK_NEAR(sim_entity(sim, sim_find(sim, 5001))->character.input.yaw, 1, 0);
    // No more room: counted, nothing else.
    for (uint64_t i = 0; i < 6; i++) {
        slot.net_id = 5002 + i;
        predict_enter(alone.predict, &slot, NULL);
    }
    CHECK_INT(predict_stats(alone.predict)->things_dropped, 2);
    predict_leave(alone.predict, &slot); // one that was dropped
    predict_reset(alone.predict, 50);
    CHECK_INT(sim_count(sim, ENTITY_NPC), 0);
    CHECK_INT(predict_tick(alone.predict), 50);
    alone_close(&alone);
}

// A part that rides carries its rider through being left and entered again.
TEST(a_platform_that_is_told_anew_still_carries)
{
    Duet duet;
    duet_open(&duet, test_seed(), 2, 2, 60);
    for (uint32_t i = 0; i < 1500 && test_is_passing(); i++) {
        if (i % 50 == 0) {
            for (uint32_t k = 0; k < RIDE_MOVERS; k++) {
                const MergeSlot slot = slot_of(NET_PART, RIDE_MOVER_FIRST + k);
                const NetShape shape = shape_of(duet.server, k);
                predict_leave(duet.predict, &slot);
                predict_enter(duet.predict, &slot, &shape);
            }
        }
        duet_tick(&duet, false);
    }
    CHECK(duet.wrong <= 20 * duet.deaths);
    CHECK_INT(predict_stats(duet.predict)->corrections_without_cause, 0);
    duet_close(&duet);
}

TEST(a_step_takes_nothing_from_the_heap)
{
    Duet duet;
    duet_open(&duet, test_seed(), 2, 2, 60);
    const uint64_t bytes = duet.world.heap.bytes_now;
    for (uint32_t i = 0; i < 300; i++) {
        duet_tick(&duet, i % 50 == 0);
    }
    CHECK_INT(duet.world.heap.bytes_now, bytes);
    duet_close(&duet);
}

TEST(a_place_that_makes_no_sense_is_refused)
{
    Heap heap = heap_make(64u << 20);
    Predict *predict = NULL;
    Place place = {.tick_rate = 60, .character = sim_config_default().character};
    CHECK_INT(predict_create(&heap, &place, 0, &predict), STATUS_RANGE);
    CHECK_INT(predict_create(&heap, &place, NET_SLOTS_MAX + 1, &predict), STATUS_RANGE);
    place.tick_rate = 59;
    CHECK_INT(predict_create(&heap, &place, 16, &predict), STATUS_RANGE);
    place.tick_rate = 30;
    CHECK_OK(predict_create(&heap, &place, NET_SLOTS_MAX, &predict)); // without a scene
    predict_reset(predict, 5);
    predict_destroy(&heap, predict);
    predict_destroy(&heap, NULL);
    CHECK_INT(heap.bytes_now, 0);
}
