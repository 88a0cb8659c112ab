// The input buffer: one input per tick, whatever the order and speed in which inputs arrive.
#include "core/world/session/input.h"

#include "core/base/rng.h"
#include "core/wire/input_frame.h"
#include "tests/support/test.h"

#include <string.h>

static void put(WorldStats *stats, InputBuffer *buffer, uint64_t tick, uint32_t seq, uint64_t now)
{
    const WireInputFrame frame = {
        .seq = seq, .tick = tick, .move_z = 127, .buttons = INPUT_FIRE | INPUT_RUN};
    input_put(stats, buffer, &frame, now);
}

TEST(each_is_taken_at_its_tick)
{
    WorldStats stats = {0};
    InputBuffer buffer;
    WireInputFrame out;
    input_reset(&buffer);
    put(&stats, &buffer, 12, 12, 10);
    put(&stats, &buffer, 11, 11, 10);
    put(&stats, &buffer, 12, 99, 10); // a double
    CHECK_INT(buffer.waiting, 2);
    CHECK_INT(input_take(&buffer, 11, 30, &out), INPUT_TAKEN);
    CHECK_INT(out.seq, 11);
    CHECK_INT(input_take(&buffer, 12, 30, &out), INPUT_TAKEN);
    CHECK_INT(out.seq, 12);
    CHECK_INT(buffer.ack_seq, 12);
    CHECK_INT(buffer.waiting, 0);
    CHECK_INT(stats.inputs_duplicate, 1);
    CHECK_INT(stats.inputs, 3);
}

TEST(late_and_early_ones_are_dropped)
{
    WorldStats stats = {0};
    InputBuffer buffer;
    input_reset(&buffer);
    put(&stats, &buffer, 10, 10, 10);
    put(&stats, &buffer, 3, 3, 10);
    put(&stats, &buffer, 10 + INPUT_BUFFER, 1, 10); // just fits
    put(&stats, &buffer, 11 + INPUT_BUFFER, 2, 10);
    put(&stats, &buffer, SIM_NET_ID_MAX, 2, 10);
    CHECK_INT(stats.inputs_late, 2);
    CHECK_INT(stats.inputs_early, 2);
    CHECK_INT(buffer.waiting, 1);
}

TEST(who_is_too_early_is_told_so)
{
    WorldStats stats = {0};
    InputBuffer buffer;
    input_reset(&buffer);
    CHECK_INT(input_waiting(&buffer, 10, 3), 0);
    put(&stats, &buffer, 12, 12, 10);
    CHECK_INT(input_waiting(&buffer, 11, 3), 1);
    put(&stats, &buffer, 11 + INPUT_BUFFER, 2, 10);
    CHECK_INT(input_waiting(&buffer, 11, 3), INPUT_BUFFER);
    CHECK_INT(input_waiting(&buffer, 16, 3), INPUT_BUFFER);
    CHECK_INT(input_waiting(&buffer, 17, 3), 1); // two snapshots ago: it holds back by now
}

TEST(a_missing_one_is_repeated_without_fire)
{
    WorldStats stats = {0};
    InputBuffer buffer;
    WireInputFrame out;
    input_reset(&buffer);
    CHECK_INT(input_take(&buffer, 1, 30, &out), INPUT_NONE);
    put(&stats, &buffer, 2, 2, 1);
    CHECK_INT(input_take(&buffer, 2, 30, &out), INPUT_TAKEN);
    CHECK_INT(out.buttons, INPUT_FIRE | INPUT_RUN);
    for (uint64_t tick = 3; tick < 33; tick++) {
        CHECK_INT(input_take(&buffer, tick, 30, &out), INPUT_REPEATED);
        CHECK_INT(out.buttons, INPUT_RUN);
        CHECK_INT(out.move_z, 127);
    }
    CHECK_INT(input_take(&buffer, 33, 30, &out), INPUT_NONE);
    CHECK_INT(out.move_z, 0);
    CHECK_INT(out.buttons, 0);
    CHECK_INT(buffer.ack_seq, 2);
    put(&stats, &buffer, 34, 34, 33);
    CHECK_INT(input_take(&buffer, 34, 30, &out), INPUT_TAKEN);
}

TEST(without_a_tick_they_queue)
{
    WorldStats stats = {0};
    InputBuffer buffer;
    WireInputFrame out;
    input_reset(&buffer);
    for (uint32_t i = 0; i < INPUT_QUEUE_MAX; i++) {
        put(&stats, &buffer, 0, 100 + i, 5);
    }
    CHECK_INT(buffer.waiting, INPUT_QUEUE_MAX);
    CHECK_INT(stats.inputs_early, 0);
    for (uint32_t i = 0; i < INPUT_QUEUE_MAX; i++) {
        CHECK_INT(input_take(&buffer, 6 + i, 30, &out), INPUT_TAKEN);
        CHECK_INT(out.seq, 100 + i);
    }
    CHECK_INT(input_take(&buffer, 6 + INPUT_QUEUE_MAX, 30, &out), INPUT_REPEATED);
}

TEST(a_queue_that_grows_gives_up_the_oldest)
{
    WorldStats stats = {0};
    InputBuffer buffer;
    WireInputFrame out;
    input_reset(&buffer);
    const WireInputFrame jump = {.seq = 100, .buttons = INPUT_JUMP};
    input_put(&stats, &buffer, &jump, 5);
    for (uint32_t i = 1; i < INPUT_QUEUE_MAX + 3; i++) {
        const WireInputFrame frame = {.seq = 100 + i, .move_z = 127};
        input_put(&stats, &buffer, &frame, 5);
    }
    CHECK_INT(buffer.waiting, INPUT_QUEUE_MAX);
    CHECK_INT(stats.inputs_early, 3);
    for (uint32_t i = 0; i < INPUT_QUEUE_MAX; i++) {
        CHECK_INT(input_take(&buffer, 6 + i, 30, &out), INPUT_TAKEN);
        CHECK_INT(out.seq, 103 + i);
        CHECK_INT(out.buttons, i == 0 ? INPUT_JUMP : 0); // the press was not lost
        CHECK_INT(out.move_z, 127);
    }
    CHECK_INT(buffer.waiting, 0);
}

// One for every tick, and now and then the world skips some of its own: it never falls behind.
TEST(who_sends_at_the_pace_is_never_far_behind)
{
    WorldStats stats = {0};
    InputBuffer buffer;
    WireInputFrame out;
    input_reset(&buffer);
    uint64_t now = 5;
    uint32_t seq = 0;
    for (uint32_t i = 0; i < 2000; i++) {
        put(&stats, &buffer, 0, ++seq, now);
        if (i % 50 < 10) {
            continue; // a tick that was skipped
        }
        now += 1;
        CHECK_INT(input_take(&buffer, now, 30, &out), INPUT_TAKEN);
        CHECK(seq - out.seq <= INPUT_QUEUE_MAX);
    }
    CHECK(stats.inputs_early > 300);
}

// Both kinds at once is nothing that a client of ours does; it must be sound all the same.
TEST(with_and_without_a_tick_in_any_order)
{
    WorldStats stats = {0};
    Rng rng = rng_make(test_seed(), 2);
    InputBuffer buffer;
    WireInputFrame out;
    input_reset(&buffer);
    uint64_t now = 5;
    for (uint32_t i = 0; i < 20000; i++) {
        const bool free_tick = rng_u32(&rng) % 2 == 0;
        const uint64_t ahead = rng_u32(&rng) % (INPUT_BUFFER + 4);
        put(&stats, &buffer, free_tick ? 0 : now + ahead, i, now);
        if (rng_u32(&rng) % 3 == 0) {
            now += 1;
            (void)input_take(&buffer, now, 30, &out); // asserts what it finds
        }
        uint32_t present = 0;
        for (uint32_t slot = 0; slot < INPUT_BUFFER; slot++) {
            present += buffer.present[slot];
        }
        CHECK_INT(buffer.waiting, present);
    }
}

TEST(quantised_inputs_come_back)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t i = 0; i < 5000; i++) {
        const WireInputFrame frame = {.seq = i,
                                      .move_x = (int32_t)(rng_u32(&rng) % 255) - 127,
                                      .move_z = (int32_t)(rng_u32(&rng) % 255) - 127,
                                      .yaw = rng_u32(&rng) & 0xffff,
                                      .pitch = (int32_t)(rng_u32(&rng) % 32769) - 16384,
                                      .buttons = rng_u32(&rng) & 0xffff};
        const SimInput input = input_frame_sim(&frame);
        const WireInputFrame again = input_frame_quantise(&input);
        CHECK_INT(again.move_x, frame.move_x);
        CHECK_INT(again.move_z, frame.move_z);
        CHECK_INT(again.yaw, frame.yaw);
        CHECK_INT(again.pitch, frame.pitch);
        CHECK_INT(again.buttons, frame.buttons);
    }
    const float nan = __builtin_nanf("");
    const SimInput odd = {.move_x = nan, .move_z = 1e30f, .yaw = nan, .pitch = -1e30f};
    const WireInputFrame frame = input_frame_quantise(&odd);
    CHECK_INT(frame.move_x, 0);
    CHECK_INT(frame.move_z, 127);
    CHECK_INT(frame.pitch, -16384);
}
