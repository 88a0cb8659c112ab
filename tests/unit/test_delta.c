// Records: for every state the reader gets exactly that state; for any bits it gets a state inside
// the ranges, or an error status.
#include "core/wire/delta.h"
#include "tests/support/test.h"
#include "tests/unit/net_random.h"

#include <string.h>

#define RECORD_BYTES (NET_SHAPE_BYTES_MAX + NET_ATTRIBUTES_BYTES_MAX + 128)

static uint8_t scratch[NET_SHAPE_BYTES_MAX + NET_ATTRIBUTES_BYTES_MAX];

static size_t encode(NetKind kind, const NetState *base, const NetState *now,
                     const DeltaDetail *detail, uint64_t tick, uint8_t *out)
{
    BitWriter writer = bit_writer(out, RECORD_BYTES);
    delta_encode(kind, base, now, detail, tick, 60, &writer);
    CHECK_OK(writer.status);
    return writer.at;
}

TEST(delta_random_states_round_trip)
{
    Rng rng = rng_make(test_seed(), 1);
    static uint8_t record[RECORD_BYTES];
    static uint8_t shape[NET_SHAPE_BYTES_MAX];
    static uint8_t attributes[NET_ATTRIBUTES_BYTES_MAX];
    for (uint32_t round = 0; round < 4000 && test_is_passing(); round++) {
        const NetKind kind = (NetKind)(1 + rng_below(&rng, NET_KIND_COUNT - 1));
        uint64_t tick = 5000 + rng_below(&rng, 100000);
        const NetState none = net_state_none;
        NetState base = none;
        for (uint32_t step = 0; step < 8 && test_is_passing(); step++) {
            const NetState now = net_random_state(&rng, kind, &base, tick);
            const DeltaDetail detail = {shape, rng_below(&rng, 100), attributes,
                                        rng_below(&rng, 100)};
            for (uint32_t i = 0; i < 100; i++) {
                shape[i] = (uint8_t)rng_u32(&rng);
                attributes[i] = (uint8_t)rng_u32(&rng);
            }
            const bool is_full = step == 0 || rng_below(&rng, 8) == 0;
            const size_t bits = encode(kind, is_full ? NULL : &base, &now, &detail, tick, record);
            BitReader reader = bit_reader(record, (bits + 7) / 8);
            DeltaRead read;
            REQUIRE(delta_decode(kind, is_full ? NULL : &base, tick, 60, &reader, scratch, &read) ==
                    STATUS_OK);
            CHECK_INT(reader.at, bits);
            CHECK(net_state_equal(&read.state, &now));
            CHECK(is_full ? read.state.version == now.version : true);
            if (!is_full) {
                CHECK_INT(read.components, net_state_difference(&base, &now));
            }
            if ((read.components & NET_SHAPE) != 0 && now.shape_version != 0) {
                CHECK_INT(read.detail.shape_bytes, detail.shape_bytes);
                CHECK_BYTES(read.detail.shape, shape, detail.shape_bytes);
            }
            if ((read.components & NET_ATTRIBUTES) != 0) {
                CHECK_INT(read.detail.attributes_bytes, detail.attributes_bytes);
                CHECK_BYTES(read.detail.attributes, attributes, detail.attributes_bytes);
            }
            base = now;
            tick += rng_below(&rng, 10);
            if (tick - base.motion.tick > NET_MOTION_TICKS_MAX) {
                break; // see below for curves that are older than that
            }
        }
    }
}

// The reader's base began later than the writer's when the curve was too old for the wire. From
// then on they still agree.
TEST(delta_curves_older_than_the_wire_can_say_stay_the_same)
{
    static uint8_t record[RECORD_BYTES];
    NetState first = {
        .version = 1,
        .motion = {.tick = 100, .position = {5, -7, 11}, .velocity = {3, 40, -9}, .gravity = 2}};
    const uint64_t frame = 100 + NET_MOTION_TICKS_MAX + 777;
    const DeltaDetail none = {0};
    size_t bits = encode(NET_NPC, NULL, &first, &none, frame, record);
    BitReader reader = bit_reader(record, (bits + 7) / 8);
    DeltaRead read;
    REQUIRE(delta_decode(NET_NPC, NULL, frame, 60, &reader, scratch, &read) == STATUS_OK);
    CHECK_INT(read.state.motion.tick, frame - NET_MOTION_TICKS_MAX);
    const NetState theirs = read.state;
    NetState next = first;
    next.version = 2;
    next.motion.tick = frame + 3;
    next.motion.position[0] = 99;
    bits = encode(NET_NPC, &first, &next, &none, frame + 3, record);
    reader = bit_reader(record, (bits + 7) / 8);
    REQUIRE(delta_decode(NET_NPC, &theirs, frame + 3, 60, &reader, scratch, &read) == STATUS_OK);
    CHECK(net_state_equal(&read.state, &next));
}

TEST(delta_typical_records_are_short)
{
    static uint8_t record[RECORD_BYTES];
    const DeltaDetail none = {0};
    NetState base = {.version = 1, .motion = {.tick = 997, .velocity = {320, 0, 0}}};
    NetState now = base;
    now.version = 2;
    now.motion = net_motion_move(&base.motion, 1000, 60);
    // In the middle of a turn: 60 m/s^2 sideways for three ticks.
    now.motion.velocity[2] = 192;
    now.motion.position[2] += 26;
    CHECK(encode(NET_PLAYER, &base, &now, &none, 1000, record) <= 33);
    now.yaw = 64;
    CHECK(encode(NET_PLAYER, &base, &now, &none, 1000, record) <= 44);
    // Nothing but a look around.
    now = base;
    now.yaw = 3;
    CHECK(encode(NET_PLAYER, &base, &now, &none, 1000, record) <= 9);
    // To a stop.
    now = base;
    now.motion = net_motion_move(&base.motion, 1000, 60);
    now.motion.velocity[0] = 0;
    now.motion.position[0] -= 40;
    CHECK(encode(NET_PLAYER, &base, &now, &none, 1000, record) <= 21);
}

TEST(delta_any_bits_give_a_state_in_range_or_a_status)
{
    Rng rng = rng_make(test_seed(), 2);
    static uint8_t bytes[256];
    static uint8_t again[RECORD_BYTES];
    uint32_t good = 0;
    for (uint32_t round = 0; round < 40000 && test_is_passing(); round++) {
        const NetKind kind = (NetKind)(1 + rng_below(&rng, NET_KIND_COUNT - 1));
        const uint64_t tick = rng_below(&rng, 9000);
        const NetState none = net_state_none;
        const NetState base = net_random_state(&rng, kind, &none, tick);
        const size_t count = rng_below(&rng, sizeof bytes);
        for (size_t i = 0; i < count; i++) {
            bytes[i] = (uint8_t)(rng_u32(&rng) & rng_u32(&rng));
        }
        const NetState *from = rng_below(&rng, 2) == 0 ? NULL : &base;
        BitReader reader = bit_reader(bytes, count);
        DeltaRead read;
        if (delta_decode(kind, from, tick, 60, &reader, scratch, &read) != STATUS_OK) {
            CHECK(reader.status != STATUS_OK);
            continue;
        }
        good++;
        CHECK(net_motion_is_sane(&read.state.motion));
        CHECK(read.state.motion.tick <= tick);
        CHECK(!net_kind_moves(kind) || tick - read.state.motion.tick <= NET_MOTION_TICKS_MAX);
        // What was read can be written, and is then read as the same.
        if (from != NULL) {
            read.state.version = base.version + 1;
        }
        const size_t bits = encode(kind, from, &read.state, &read.detail, tick, again);
        static uint8_t scratch_again[sizeof scratch];
        BitReader second = bit_reader(again, (bits + 7) / 8);
        DeltaRead same;
        REQUIRE(delta_decode(kind, from, tick, 60, &second, scratch_again, &same) == STATUS_OK);
        CHECK(net_state_equal(&same.state, &read.state));
    }
    CHECK(good > 1000);
}

TEST(delta_unknown_components_are_refused)
{
    uint8_t bytes[64] = {0};
    BitWriter writer = bit_writer(bytes, sizeof bytes);
    bit_write(&writer, 3, 2); // shapes: none of the short masks
    bit_write(&writer, NET_PRIVATE, 8);
    BitReader reader = bit_reader(bytes, sizeof bytes);
    const NetState base = {.version = 1};
    DeltaRead read;
    CHECK_INT(delta_decode(NET_PART, &base, 10, 60, &reader, scratch, &read), STATUS_RANGE);
}

// A client that has any earlier version of a part gets its paint alone.
TEST(delta_a_paint_is_the_same_for_every_base)
{
    static uint8_t record[RECORD_BYTES], other[RECORD_BYTES];
    const DeltaDetail none = {0};
    NetState base = {.paint = PAINT_NONE, .version = 1, .shape_version = 3};
    NetState now = base;
    now.paint.colour = 0x112233;
    const size_t bits = encode(NET_PART, &base, &now, &none, 10, record);
    CHECK_INT(bits, 2 + PAINT_MEMBER_COUNT + 24);
    base.paint = (Paint){.colour = 5, .glow = 9, .model = 77};
    CHECK_INT(encode(NET_PART, &base, &now, &none, 10, other), bits);
    CHECK_BYTES(other, record, (bits + 7) / 8);
    BitReader reader = bit_reader(record, sizeof record);
    DeltaRead read;
    CHECK_OK(delta_decode(NET_PART, &base, 10, 60, &reader, scratch, &read));
    CHECK(net_state_equal(&read.state, &now));
    CHECK_INT(read.components, NET_PAINT);
}

// The widths of docs/PROTOCOL.md, bit by bit: a change here is another protocol version.
TEST(delta_the_bits_are_those_of_the_document)
{
    static uint8_t record[RECORD_BYTES];
    static uint8_t want[64];
    const DeltaDetail none = {0};
    const NetState base = {.version = 1, .motion = {.tick = 900, .velocity = {320, 0, 0}}};
    NetState now = base;
    now.version = 2;
    now.motion = net_motion_move(&base.motion, 1000, 60);
    now.motion.velocity[2] = 192;
    now.motion.position[2] += 26;
    now.yaw = 64;
    size_t bits = encode(NET_PLAYER, &base, &now, &none, 1000, record);
    BitWriter writer = bit_writer(want, sizeof want);
    bit_write(&writer, 1, 2);          // motion and look
    bit_write(&writer, 0, 1);          // at the frame's tick
    bit_write(&writer, 0, 1);          // the height as the curve says
    bit_write(&writer, 2, 2);          // velocity: 9 bits each
    bit_write_signed(&writer, 0, 9);   // x
    bit_write_signed(&writer, 192, 9); // z
    bit_write(&writer, 0, 2);          // position: 2 bits each
    bit_write_signed(&writer, 0, 2);   // x
    bit_write_signed(&writer, 1, 2);   // z: 26 of which 192 * 2 * 4 / 60 = 25 were expected
    bit_write(&writer, 0, 1);          // yaw: whole
    bit_write(&writer, 64, 8);
    bit_write(&writer, 0, 1); // the same pitch
    CHECK_INT(bits, writer.at);
    CHECK_BYTES(record, want, (writer.at + 7) / 8);

    const NetState arrow = {.paint = PAINT_NONE,
                            .version = 300,
                            .motion = {.tick = 980,
                                       .position = {-1, 2, 3},
                                       .velocity = {5000, -700, 0},
                                       .gravity = 320},
                            .pitch = -5,
                            .flags = NET_RUNNING,
                            .health = 1000,
                            .projectile_kind = 6,
                            .projectile_radius = 64};
    bits = encode(NET_PROJECTILE, NULL, &arrow, &none, 1000, record);
    memset(want, 0, sizeof want);
    writer = bit_writer(want, sizeof want);
    bit_write_grouped(&writer, 300, 8);
    bit_write(&writer, NET_MOTION | NET_LOOK | NET_STATUS, 8);
    bit_write(&writer, 1, 1);          // an older anchor
    bit_write_grouped(&writer, 19, 4); // by 20 ticks
    bit_write(&writer, 1, 1);          // the height has something to say
    bit_write(&writer, 3, 2);          // another gravity, not zero
    bit_write(&writer, 320, 16);
    bit_write(&writer, 3, 3); // velocity: 12 bits
    bit_write_signed(&writer, -700, 12);
    bit_write(&writer, 7, 3); // velocity: 19 bits each
    bit_write_signed(&writer, 5000, 19);
    bit_write_signed(&writer, 0, 19);
    bit_write_signed(&writer, -1, 23);
    bit_write_signed(&writer, 2, 23);
    bit_write_signed(&writer, 3, 23);
    bit_write(&writer, 1, 1); // yaw: 4 bits
    bit_write_signed(&writer, 0, 4);
    bit_write(&writer, 1, 1); // another pitch
    bit_write_signed(&writer, -5, 8);
    bit_write(&writer, 1, 1); // other flags
    bit_write(&writer, NET_RUNNING, 5);
    bit_write(&writer, 0, 1); // the same NPC state
    bit_write(&writer, 1, 1); // another health: 16 bits
    bit_write(&writer, 0, 1);
    bit_write(&writer, 1000, 16);
    bit_write(&writer, 6, 16);
    bit_write(&writer, 64, 8);
    CHECK_INT(bits, writer.at);
    CHECK_BYTES(record, want, (writer.at + 7) / 8);
}
