// The size and the exact bytes of frames; what happens when they do not fit.
#include "core/wire/merge.h"
#include "core/wire/snapshot.h"
#include "tests/support/test.h"

#include <string.h>

static const SnapshotHeader previous = {false, 6, 9009, 9009, 2};
static const SnapshotHeader header = {false, 7, 9012, 9012, 2};

static size_t write_frame(const SnapshotPlan *plan, uint8_t *out, size_t capacity)
{
    size_t bytes = 0;
    CHECK_OK(snapshot_write(plan, out, capacity, &bytes));
    return bytes;
}

TEST(snapshot_a_frame_without_news_is_four_bytes)
{
    uint8_t out[64];
    SnapshotPlan plan = {.header = header, .previous = previous, .tick_rate = 60};
    CHECK_INT(write_frame(&plan, out, sizeof out), 4);
    // 68 · not full · 7 · +3 ticks · ack is the tick · as many waiting · no own, no changes · 0
    static const uint8_t want[] = {68, 7 << 1, 3 << 1, 0};
    CHECK_BYTES(out, want, 4);
}

TEST(snapshot_four_records_among_thirty_two_cost_little_more_than_themselves)
{
    uint8_t out[128];
    const uint8_t record[8] = {0xff, 0xff, 0xff, 0xff, 0xff};
    SnapshotUpdate updates[32];
    static const uint8_t slots[] = {2, 9, 17, 30};
    for (uint32_t i = 0; i < 4; i++) {
        updates[i] = (SnapshotUpdate){slots[i], 1, {record, 36}};
    }
    SnapshotPlan plan = {.header = header,
                         .previous = previous,
                         .tick_rate = 60,
                         .updates = updates,
                         .update_count = 4};
    const size_t bytes = write_frame(&plan, out, sizeof out);
    // Header 23 bits, 4 + 3 + 20 for the slots, 4 ages, 4 records.
    CHECK(bytes <= (25 + 4 + 3 + 20 + 4 + 4 * 36 + 7) / 8);
    // All of them: a mask.
    for (uint32_t i = 0; i < 32; i++) {
        updates[i] = (SnapshotUpdate){i, 1, {record, 8}};
    }
    plan.update_count = 32;
    CHECK(write_frame(&plan, out, sizeof out) <= (25 + 8 + 3 + 32 + 32 + 32 * 8 + 7) / 8);
}

TEST(snapshot_that_does_not_fit_is_a_limit)
{
    uint8_t out[256];
    const uint8_t record[64] = {0};
    const SnapshotUpdate update = {200, 9, {record, 500}};
    uint8_t events[32];
    ByteWriter writer = byte_writer(events, sizeof events);
    snapshot_event(&writer, 300, (const uint8_t *)"\x70x", 2);
    SnapshotPlan plan = {.header = header,
                         .previous = previous,
                         .tick_rate = 60,
                         .updates = &update,
                         .update_count = 1,
                         .events = events,
                         .event_bytes = writer.at};
    const size_t whole = write_frame(&plan, out, sizeof out);
    for (size_t capacity = 0; capacity < whole; capacity++) {
        size_t bytes = 12345;
        CHECK_INT(snapshot_write(&plan, out, capacity, &bytes), STATUS_LIMIT);
        CHECK_INT(bytes, 12345);
    }
    CHECK_INT(write_frame(&plan, out, whole), whole);
    const NetOwn own = {.net_id = 5, .tick = 9012, .state = {.health = 1}};
    plan.own = &own;
    const size_t more = write_frame(&plan, out, sizeof out);
    CHECK(more > whole + 50 && more < whole + 80);
    size_t bytes = 0;
    CHECK_INT(snapshot_write(&plan, out, whole, &bytes), STATUS_LIMIT);
}

TEST(snapshot_events_stand_at_the_end)
{
    uint8_t out[64];
    uint8_t events[32];
    ByteWriter writer = byte_writer(events, sizeof events);
    snapshot_event(&writer, 1, (const uint8_t *)"\x6b\x09", 2);
    snapshot_event(&writer, 0, (const uint8_t *)"\x70", 1);
    static const uint8_t want[] = {1, 2, 0x6b, 9, 0, 1, 0x70};
    CHECK_INT(writer.at, sizeof want);
    SnapshotPlan plan = {.header = header,
                         .previous = previous,
                         .tick_rate = 60,
                         .events = events,
                         .event_bytes = writer.at};
    CHECK_INT(write_frame(&plan, out, sizeof out), 4 + sizeof want);
    CHECK_BYTES(out + 4, want, sizeof want);
}

TEST(snapshot_header_numbers_survive)
{
    static Merge merge;
    static const MergeSink deaf = {0};
    uint8_t out[128];
    static const SnapshotHeader headers[] = {
        {true, 1, 0, 0, 0},
        {false, 2, 0, 0, 0},
        {false, 3, 1ull << 40, 17, 300},
        {false, 4, (1ull << 40) + 1, 16, 300}, // the ack went back
        {false, 5, (1ull << 40) + 1000000, 0xffffffff, 0xffffffff},
        {true, 6, 5, 0xffffffff, 0xffffffff},
        {true, 1, (1ull << 53) - 1, 5, 1},
        {false, 2, (1ull << 53) - 1, 5, 1},
    };
    merge_reset(&merge, 30);
    SnapshotHeader last = {0};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        const SnapshotPlan plan = {.header = headers[i], .previous = last, .tick_rate = 30};
        const size_t bytes = write_frame(&plan, out, sizeof out);
        CHECK_OK(merge_apply(&merge, out, bytes, &deaf));
        CHECK_INT(merge.last.full, headers[i].full);
        CHECK_INT(merge.last.seq, headers[i].seq);
        CHECK_INT(merge.last.tick, headers[i].tick);
        CHECK_INT(merge.last.ack_seq, headers[i].ack_seq);
        CHECK_INT(merge.last.inputs_waiting, headers[i].inputs_waiting);
        last = headers[i];
    }
}

static void write_out_of_order(void *user)
{
    SnapshotPlan *plan = user;
    uint8_t out[64];
    size_t bytes = 0;
    (void)!snapshot_write(plan, out, sizeof out, &bytes);
}

TEST(snapshot_plans_that_make_no_sense_die)
{
    const uint8_t record[8] = {0};
    const SnapshotUpdate updates[2] = {{5, 1, {record, 8}}, {5, 1, {record, 8}}};
    SnapshotPlan plan = {.header = header,
                         .previous = previous,
                         .tick_rate = 60,
                         .updates = updates,
                         .update_count = 2};
    CHECK(test_dies(write_out_of_order, &plan));
    plan.update_count = 0;
    plan.previous.seq = 3;
    CHECK(test_dies(write_out_of_order, &plan));
}
