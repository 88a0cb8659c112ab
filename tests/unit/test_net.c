// Curves compared with their formula in exact arithmetic, round trips of shapes and attribute
// attributes, and every kind of invalid bytes.
#include "core/wire/net.h"
#include "tests/support/test.h"
#include "tests/unit/net_random.h"

#include <math.h>
#include <string.h>

TEST(net_quantise_rounds_and_clamps)
{
    NetMotion motion =
        net_motion_quantise((Vec3){1.0f / 512, -1.0f / 512, 2}, (Vec3){5, -5, 0.5f}, 20, 77);
    CHECK_INT(motion.tick, 77);
    CHECK_INT(motion.position[0], 1); // halves go up
    CHECK_INT(motion.position[1], 0);
    CHECK_INT(motion.position[2], 512);
    CHECK_INT(motion.velocity[0], 320);
    CHECK_INT(motion.velocity[1], -320);
    CHECK_INT(motion.gravity, 640);
    motion =
        net_motion_quantise((Vec3){NAN, INFINITY, -INFINITY}, (Vec3){1e30f, -1e30f, NAN}, -5, 0);
    CHECK_INT(motion.position[0], 0);
    CHECK_INT(motion.position[1], (1 << 22) - 1);
    CHECK_INT(motion.position[2], -(1 << 22));
    CHECK_INT(motion.velocity[0], (1 << 17) - 1);
    CHECK_INT(motion.velocity[1], -(1 << 17));
    CHECK_INT(motion.velocity[2], 0);
    CHECK_INT(motion.gravity, 0);
    CHECK(net_motion_is_sane(&motion));
    CHECK_INT(net_motion_quantise(VEC3_ZERO, VEC3_ZERO, 1e9f, 0).gravity, UINT16_MAX);
}

TEST(net_motion_is_the_formula_rounded)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 20000 && test_is_passing(); round++) {
        const NetMotion motion = net_random_motion(&rng, 100000);
        const uint32_t rate = rng_below(&rng, 2) == 0 ? 60 : 30;
        const uint64_t ticks = rng_below(&rng, 4000);
        int32_t at[3];
        net_motion_at(&motion, motion.tick + ticks, rate, at);
        const double n = ticks < NET_MOTION_TICKS_MAX ? (double)ticks : NET_MOTION_TICKS_MAX;
        for (uint32_t i = 0; i < 3; i++) {
            double want = motion.position[i] + motion.velocity[i] * 4.0 * n / rate;
            want -= i == 1 ? motion.gravity * 4.0 * n * (n + 1) / rate / rate : 0;
            want = want < -(1 << 22) ? -(1 << 22) : want > (1 << 22) - 1 ? (1 << 22) - 1 : want;
            CHECK_NEAR(at[i], want, 0.5001);
        }
        const NetMotion moved = net_motion_move(&motion, motion.tick + ticks, rate);
        CHECK(net_motion_is_sane(&moved));
        CHECK_INT(moved.tick, motion.tick + ticks);
        CHECK_INT(moved.position[1], at[1]);
        // Drawing agrees with it where nothing was clamped.
        const double tick = (double)motion.tick + n;
        const Vec3 drawn = net_motion_position(&motion, tick, rate);
        if (moved.position[0] > -(1 << 22) && moved.position[0] < (1 << 22) - 1) {
            CHECK_NEAR(drawn.x, at[0] / 256.0, 0.004);
        }
        const Vec3 velocity = net_motion_velocity(&motion, tick, rate);
        if (moved.velocity[1] > -(1 << 17)) {
            CHECK_NEAR(velocity.y, moved.velocity[1] / 64.0, 0.009);
        }
    }
}

// What the sim's own stepping gives: v -= g·h, then p += v·h.
TEST(net_motion_follows_a_fall_step_by_step)
{
    const float gravity = 20;
    const float h = 1.0f / 60;
    double height = 40;
    double speed = 8;
    const NetMotion motion = net_motion_quantise((Vec3){0, 40, 0}, (Vec3){0, 8, 0}, gravity, 10);
    for (uint32_t n = 1; n <= 90; n++) {
        speed -= (double)gravity * (double)h;
        height += speed * (double)h;
        const Vec3 truth = {0, (float)height, 0};
        CHECK(net_motion_holds(&motion, truth, 10 + n, 60, 1));
    }
    CHECK(!net_motion_holds(&motion, (Vec3){0, (float)height + 0.02f, 0}, 100, 60, 3));
    CHECK(!net_motion_holds(&motion, (Vec3){NAN, (float)height, 0}, 100, 60, 3));
    int32_t at[3];
    net_motion_at(&motion, 3, 60, at);
    CHECK_INT(at[1], 40 * 256); // before the anchor it is the anchor
    CHECK_NEAR(net_motion_position(&motion, (double)NAN, 60).y, 40, 0);
}

TEST(net_state_difference_names_what_changed)
{
    const NetState a = {.version = 3, .motion.tick = 7};
    NetState b = a;
    CHECK_INT(net_state_difference(&a, &b), 0);
    b.version = 4;
    CHECK(net_state_equal(&a, &b));
    b.motion.tick = 8;
    CHECK_INT(net_state_difference(&a, &b), NET_MOTION);
    b = a;
    b.motion.velocity[2] = 1;
    b.pitch = -1;
    CHECK_INT(net_state_difference(&a, &b), NET_MOTION | NET_LOOK);
    b = a;
    b.health = 1;
    b.shape_version = 1;
    b.attributes_version = 1;
    CHECK_INT(net_state_difference(&a, &b), NET_STATUS | NET_SHAPE | NET_ATTRIBUTES);
    b = a;
    b.projectile_kind = 1;
    CHECK(!net_state_equal(&a, &b));
}

TEST(net_shapes_round_trip_exactly)
{
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t round = 0; round < 2000 && test_is_passing(); round++) {
        const NetShape shape = net_random_shape(&rng);
        uint8_t bytes[NET_SHAPE_BYTES_MAX];
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        net_shape_write(&shape, &writer);
        REQUIRE(writer.status == STATUS_OK);
        ByteReader reader = byte_reader(bytes, writer.at);
        NetShape read;
        REQUIRE(net_shape_read(&reader, &read) == STATUS_OK);
        CHECK_OK(byte_reader_finish(&reader));
        CHECK(net_shape_same(&shape, &read));
        CHECK_INT(read.cell.y, shape.cell.y);
        CHECK_INT(read.health, shape.health);
        CHECK(read.data.bounce_speed == shape.data.bounce_speed);
        if (round < 100) {
            for (size_t cut = 0; cut < writer.at; cut++) {
                reader = byte_reader(bytes, cut);
                CHECK(net_shape_read(&reader, &read) != STATUS_OK);
            }
        }
    }
}

TEST(net_shapes_that_the_sim_refuses_are_refused)
{
    Rng rng = rng_make(test_seed(), 3);
    uint32_t refused = 0;
    for (uint32_t round = 0; round < 20000 && test_is_passing(); round++) {
        const NetShape shape = net_random_shape(&rng);
        uint8_t bytes[NET_SHAPE_BYTES_MAX];
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        net_shape_write(&shape, &writer);
        const uint32_t bit = rng_below(&rng, (uint32_t)writer.at * 8);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        ByteReader reader = byte_reader(bytes, writer.at);
        NetShape read;
        if (net_shape_read(&reader, &read) != STATUS_OK) {
            refused++;
            continue;
        }
        const PartDesc desc = {read.shape, read.rest, read.data};
        CHECK_OK(part_desc_check(&desc));
        CHECK(read.turn <= 3 && read.piece < STRUCTURE_CATALOGUE_MAX);
        Motion motion = {0};
        for (uint32_t i = 0; i < read.motion.count; i++) {
            CHECK_OK(
                motion_append(&motion, &read.motion.segments[i], vec3_length(read.shape.half), 0));
        }
    }
    CHECK(refused > 1000);
    // A motion that begins after the end of time.
    NetShape late = {.shape = {SHAPE_BOX, {1, 1, 1}}, .rest.rotation = QUAT_IDENTITY};
    late.motion.segments[0] = (MotionSegment){.pose.rotation = QUAT_IDENTITY,
                                              .tick_from = SIM_NET_ID_MAX + 1,
                                              .tick_to = SIM_NET_ID_MAX + 2};
    late.motion.count = 1;
    uint8_t late_bytes[NET_SHAPE_BYTES_MAX];
    ByteWriter late_writer = byte_writer(late_bytes, sizeof late_bytes);
    net_shape_write(&late, &late_writer);
    ByteReader late_reader = byte_reader(late_bytes, late_writer.at);
    NetShape late_read;
    CHECK_INT(net_shape_read(&late_reader, &late_read), STATUS_RANGE);
    // A part that came to rest past the edge is put at the edge.
    NetShape far = net_random_shape(&rng);
    far.rest.position.x = 20000;
    uint8_t bytes[NET_SHAPE_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    net_shape_write(&far, &writer);
    ByteReader reader = byte_reader(bytes, writer.at);
    NetShape read;
    CHECK_OK(net_shape_read(&reader, &read));
    CHECK(read.rest.position.x == 16384);
}

static size_t write_sample_attributes(uint8_t *out, size_t capacity)
{
    ByteWriter writer = byte_writer(out, capacity);
    net_attributes_write_name(&writer, text_from("T\xc3\xbcr"));
    net_attributes_write_one(&writer, text_from("a_open"),
                             &(NetValue){.type = NET_VALUE_BOOL, .boolean = true});
    net_attributes_write_one(&writer, text_from("b_price"),
                             &(NetValue){.type = NET_VALUE_NUMBER, .number = -0.1});
    net_attributes_write_one(&writer, text_from("c_label"),
                             &(NetValue){.type = NET_VALUE_TEXT, .text = text_from("hello")});
    net_attributes_write_one(&writer, text_from("d_at"),
                             &(NetValue){.type = NET_VALUE_VECTOR, .vector = {1, 2, 3}});
    net_attributes_write_one(&writer, text_from("e_friend"),
                             &(NetValue){.type = NET_VALUE_ENTITY, .entity = SIM_NET_ID_MAX});
    net_attributes_write_end(&writer);
    net_attributes_write_tag(&writer, text_from("Door"));
    net_attributes_write_tag(&writer, text_from("Wood"));
    net_attributes_write_end(&writer);
    CHECK_OK(writer.status);
    return writer.at;
}

TEST(net_attributes_round_trip)
{
    uint8_t bytes[256];
    const size_t count = write_sample_attributes(bytes, sizeof bytes);
    NetAttributesReader reader;
    Text name;
    NetValue value;
    REQUIRE(net_attributes_open(&reader, bytes, count, &name) == STATUS_OK);
    CHECK(text_is(name, "T\xc3\xbcr"));
    CHECK(net_attributes_next(&reader, &name, &value));
    CHECK(text_is(name, "a_open") && value.type == NET_VALUE_BOOL && value.boolean);
    CHECK(net_attributes_next(&reader, &name, &value));
    CHECK(text_is(name, "b_price") && value.number == -0.1);
    CHECK(net_attributes_next(&reader, &name, &value));
    CHECK(text_is(name, "c_label") && text_is(value.text, "hello"));
    CHECK(net_attributes_next(&reader, &name, &value));
    CHECK(text_is(name, "d_at") && value.vector.z == 3);
    CHECK(net_attributes_next(&reader, &name, &value));
    CHECK(text_is(name, "e_friend") && value.entity == SIM_NET_ID_MAX);
    CHECK(!net_attributes_next(&reader, &name, &value));
    CHECK(net_attributes_next_tag(&reader, &name) && text_is(name, "Door"));
    CHECK(net_attributes_next_tag(&reader, &name) && text_is(name, "Wood"));
    CHECK(!net_attributes_next_tag(&reader, &name));
    CHECK(!net_attributes_next_tag(&reader, &name));
    // Tags without asking for the attributes first.
    REQUIRE(net_attributes_open(&reader, bytes, count, &name) == STATUS_OK);
    CHECK(net_attributes_next_tag(&reader, &name) && text_is(name, "Door"));
}

TEST(net_attributes_bad_bytes_are_refused)
{
    uint8_t bytes[256];
    const size_t count = write_sample_attributes(bytes, sizeof bytes);
    NetAttributesReader reader;
    Text name;
    NetValue value;
    for (size_t cut = 0; cut < count; cut++) {
        CHECK(net_attributes_open(&reader, bytes, cut, &name) != STATUS_OK);
    }
    bytes[count] = 0;
    CHECK_INT(net_attributes_open(&reader, bytes, count + 1, &name), STATUS_MALFORMED);
    for (size_t bit = 0; bit < count * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        if (net_attributes_open(&reader, bytes, count, &name) == STATUS_OK) {
            while (net_attributes_next(&reader, &name, &value)) {
                CHECK(name.bytes >= 1 && name.bytes <= WORLD_NAME_BYTES_MAX);
                CHECK(value.type < NET_VALUE_TYPE_COUNT);
                CHECK(value.number - value.number == 0);
            }
            while (net_attributes_next_tag(&reader, &name)) {
                CHECK(name.bytes >= 1);
            }
            CHECK_OK(byte_reader_finish(&reader.bytes));
        }
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    static const uint8_t infinite[] = {0, 2, 1, 'a', 0, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0, 0};
    CHECK_INT(net_attributes_open(&reader, infinite, sizeof infinite, &name), STATUS_RANGE);
    static const uint8_t nameless[] = {0, 1, 0, 1, 0, 0};
    CHECK_INT(net_attributes_open(&reader, nameless, sizeof nameless, &name), STATUS_RANGE);
    static const uint8_t twice[] = {0, 1, 1, 'a', 0, 1, 1, 'a', 0, 0, 0};
    CHECK_INT(net_attributes_open(&reader, twice, sizeof twice, &name), STATUS_MALFORMED);
    static const uint8_t in_order[] = {0, 1, 1, 'a', 0, 1, 2, 'a', 'a', 0, 0, 0};
    CHECK_OK(net_attributes_open(&reader, in_order, sizeof in_order, &name));
    static const uint8_t not_text[] = {1, 0xff, 0, 0};
    CHECK_INT(net_attributes_open(&reader, not_text, sizeof not_text, &name), STATUS_MALFORMED);
    static uint8_t large[NET_ATTRIBUTES_BYTES_MAX + 1];
    CHECK_INT(net_attributes_open(&reader, large, sizeof large, &name), STATUS_LIMIT);
}
