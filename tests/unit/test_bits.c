// Bit readers and writers against the definition: bit n is bit n % 8 of byte n / 8.
#include "core/base/bits.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

static bool bit_at(const uint8_t *data, size_t bit)
{
    return (data[bit / 8] >> (bit % 8) & 1) != 0;
}

static void set_bit(uint8_t *data, size_t bit, bool value)
{
    const uint8_t mask = (uint8_t)(1u << (bit % 8));
    data[bit / 8] = (uint8_t)(value ? data[bit / 8] | mask : data[bit / 8] & ~mask);
}

static void fill_random(Rng *rng, uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)rng_u32(rng);
    }
}

static uint64_t random_bits(Rng *rng, uint32_t count)
{
    return count == 0 ? 0 : rng_u64(rng) >> (64 - count);
}

TEST(bits_come_lowest_first)
{
    uint8_t data[3] = {0xff, 0xff, 0xff};
    BitWriter writer = bit_writer(data, sizeof data);
    bit_write_bool(&writer, true);
    bit_write(&writer, 0x5, 4);
    bit_write(&writer, 0x1ff, 9);
    bit_write_bool(&writer, false);
    CHECK_OK(writer.status);
    CHECK_INT(bit_writer_bytes(&writer), 2);
    static const uint8_t want[] = {0xeb, 0x3f};
    CHECK_BYTES(data, want, 2);
    BitReader reader = bit_reader(data, 2);
    CHECK(bit_read_bool(&reader));
    CHECK_INT(bit_read(&reader, 4), 5);
    CHECK_INT(bit_read(&reader, 9), 0x1ff);
    CHECK(!bit_read_bool(&reader));
    CHECK_OK(bit_reader_finish(&reader));
}

TEST(bits_every_count_at_every_offset_round_trips)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t offset = 0; offset < 16; offset++) {
        for (uint32_t count = 0; count <= 64 && test_is_passing(); count++) {
            // Exactly as many bytes as needed, so that a sanitiser sees a touch outside.
            const size_t bytes = (offset + count + 7) / 8;
            uint8_t data[16];
            memset(data, 0xa5, sizeof data);
            BitWriter writer = bit_writer(data, bytes);
            const uint64_t lead = random_bits(&rng, offset);
            const uint64_t value = random_bits(&rng, count);
            bit_write(&writer, lead, offset);
            bit_write(&writer, value, count);
            CHECK_OK(writer.status);
            CHECK_INT(writer.at, offset + count);
            CHECK_INT(bit_writer_bytes(&writer), bytes);
            for (uint32_t i = 0; i < count; i++) {
                CHECK_INT(bit_at(data, offset + i), value >> i & 1);
            }
            for (size_t i = bytes; i < sizeof data; i++) {
                CHECK_INT(data[i], 0xa5);
            }
            BitReader reader = bit_reader(data, bytes);
            CHECK(bit_read(&reader, offset) == lead);
            CHECK(bit_read(&reader, count) == value);
            CHECK_OK(bit_reader_finish(&reader));
        }
    }
}

TEST(bits_random_sequences_round_trip)
{
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t round = 0; round < 200 && test_is_passing(); round++) {
        uint8_t data[256];
        fill_random(&rng, data, sizeof data);
        const Rng start = rng;
        BitWriter writer = bit_writer(data, sizeof data);
        uint32_t field_count = 0;
        for (; field_count < 60; field_count++) {
            const uint32_t count = rng_below(&rng, 34);
            bit_write(&writer, random_bits(&rng, count), count);
        }
        REQUIRE(writer.status == STATUS_OK);
        rng = start;
        BitReader reader = bit_reader(data, bit_writer_bytes(&writer));
        for (uint32_t i = 0; i < field_count; i++) {
            const uint32_t count = rng_below(&rng, 34);
            CHECK(bit_read(&reader, count) == random_bits(&rng, count));
        }
        CHECK_OK(bit_reader_finish(&reader));
    }
}

TEST(bits_append_equals_bit_by_bit)
{
    Rng rng = rng_make(test_seed(), 3);
    for (uint32_t round = 0; round < 4000 && test_is_passing(); round++) {
        uint8_t source[64];
        fill_random(&rng, source, sizeof source);
        const uint32_t offset = round % 8;
        const size_t bit_count = rng_below(&rng, 8 * sizeof source + 1);
        uint8_t fast[72];
        fill_random(&rng, fast, sizeof fast);
        uint8_t slow[72] = {0};
        const uint64_t lead = random_bits(&rng, offset);
        const uint64_t trail = random_bits(&rng, 5);

        BitWriter writer = bit_writer(fast, sizeof fast);
        bit_write(&writer, lead, offset);
        bit_write_bits(&writer, source, bit_count);
        bit_write(&writer, trail, 5);
        CHECK_OK(writer.status);
        REQUIRE(writer.at == offset + bit_count + 5);

        size_t at = 0;
        for (uint32_t i = 0; i < offset; i++) {
            set_bit(slow, at++, lead >> i & 1);
        }
        for (size_t i = 0; i < bit_count; i++) {
            set_bit(slow, at++, bit_at(source, i));
        }
        for (uint32_t i = 0; i < 5; i++) {
            set_bit(slow, at++, trail >> i & 1);
        }
        CHECK_BYTES(fast, slow, bit_writer_bytes(&writer));
    }
}

TEST(bits_append_that_does_not_fit_leaves_nothing)
{
    static const uint8_t source[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t data[8] = {0};
    BitWriter writer = bit_writer(data, 4);
    bit_write(&writer, 1, 3);
    bit_write_bits(&writer, source, 30);
    CHECK_INT(writer.status, STATUS_LIMIT);
    CHECK_INT(writer.at, 3);
    CHECK_INT(data[0], 1);
    CHECK_INT(data[1], 0);
    bit_write_bits(&writer, source, 0);
    bit_write(&writer, 1, 1);
    CHECK_INT(writer.at, 3);

    writer = bit_writer(data, 4);
    bit_write(&writer, 1, 3);
    bit_write_bits(&writer, source, 29);
    CHECK_OK(writer.status);
    CHECK_INT(data[4], 0);
}

TEST(bits_signed_numbers_round_trip)
{
    uint8_t data[8];
    for (uint32_t count = 1; count <= 64; count++) {
        const int64_t high = (int64_t)((1ull << (count - 1)) - 1);
        const int64_t values[] = {0, high, -high - 1, high / 3, -(high / 3)};
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            BitWriter writer = bit_writer(data, sizeof data);
            bit_write_signed(&writer, values[i], count);
            CHECK_OK(writer.status);
            BitReader reader = bit_reader(data, bit_writer_bytes(&writer));
            CHECK(bit_read_signed(&reader, count) == values[i]);
            CHECK_OK(bit_reader_finish(&reader));
        }
    }
    BitReader reader = bit_reader(data, 1);
    CHECK_INT(bit_read_signed(&reader, 0), 0);
    CHECK_INT(reader.at, 0);
}

TEST(bits_grouped_numbers_round_trip)
{
    Rng rng = rng_make(test_seed(), 4);
    for (uint32_t round = 0; round < 20000 && test_is_passing(); round++) {
        const uint32_t group = 1 + rng_below(&rng, 32);
        const uint64_t value = rng_u64(&rng) >> rng_below(&rng, 64);
        uint8_t data[16];
        BitWriter writer = bit_writer(data, sizeof data);
        bit_write_grouped(&writer, value, group);
        CHECK_OK(writer.status);
        uint32_t groups = 1;
        while (groups * group < 64 && value >> (groups * group) != 0) {
            groups += 1;
        }
        CHECK_INT(writer.at, groups * (group + 1));
        BitReader reader = bit_reader(data, bit_writer_bytes(&writer));
        CHECK(bit_read_grouped(&reader, group) == value);
        CHECK_OK(bit_reader_finish(&reader));
    }
}

TEST(bits_grouped_has_one_form_and_64_bits)
{
    uint8_t data[32];
    // 5, then a group of zeros.
    BitWriter writer = bit_writer(data, sizeof data);
    bit_write(&writer, 5, 4);
    bit_write_bool(&writer, true);
    bit_write(&writer, 0, 4);
    bit_write_bool(&writer, false);
    BitReader reader = bit_reader(data, bit_writer_bytes(&writer));
    CHECK_INT(bit_read_grouped(&reader, 4), 0);
    CHECK_INT(reader.status, STATUS_MALFORMED);

    // Twenty-two groups of three are 66 bits; the last one may hold one bit only.
    for (uint32_t last = 1; last < 8; last++) {
        writer = bit_writer(data, sizeof data);
        for (uint32_t i = 0; i < 21; i++) {
            bit_write(&writer, 7, 3);
            bit_write_bool(&writer, true);
        }
        bit_write(&writer, last, 3);
        bit_write_bool(&writer, false);
        reader = bit_reader(data, bit_writer_bytes(&writer));
        CHECK(bit_read_grouped(&reader, 3) == (last == 1 ? UINT64_MAX : 0));
        CHECK_INT(reader.status, last == 1 ? STATUS_OK : STATUS_MALFORMED);
    }

    // Groups without end.
    memset(data, 0xff, sizeof data);
    reader = bit_reader(data, sizeof data);
    CHECK(bit_read_grouped(&reader, 1) == 0);
    CHECK_INT(reader.status, STATUS_MALFORMED);
    memset(data, 0xaa, sizeof data);
    reader = bit_reader(data, sizeof data);
    CHECK(bit_read_grouped(&reader, 1) == 0);
    CHECK_INT(reader.status, STATUS_MALFORMED);
    reader = bit_reader(data, 2);
    CHECK(bit_read_grouped(&reader, 1) == 0);
    CHECK_INT(reader.status, STATUS_TRUNCATED);
}

TEST(bits_reader_status_is_sticky)
{
    static const uint8_t data[2] = {0xff, 0xff};
    BitReader reader = bit_reader(data, 2);
    CHECK_INT(bit_read(&reader, 10), 0x3ff);
    CHECK_INT(bit_read(&reader, 7), 0);
    CHECK_INT(reader.status, STATUS_TRUNCATED);
    CHECK_INT(reader.at, 10);
    CHECK_INT(bit_read(&reader, 1), 0);
    CHECK(!bit_read_bool(&reader));
    CHECK_INT(bit_read_signed(&reader, 4), 0);
    CHECK_INT(bit_read_grouped(&reader, 4), 0);
    CHECK_INT(reader.at, 10);
    CHECK_INT(bit_reader_finish(&reader), STATUS_TRUNCATED);
}

TEST(bits_finish_checks_what_is_left)
{
    static const uint8_t data[2] = {0x00, 0x80};
    BitReader reader = bit_reader(data, 2);
    (void)bit_read(&reader, 8);
    CHECK_INT(bit_reader_finish(&reader), STATUS_MALFORMED); // a whole byte
    (void)bit_read(&reader, 1);
    CHECK_INT(bit_reader_finish(&reader), STATUS_MALFORMED); // a set padding bit
    (void)bit_read(&reader, 7);
    CHECK_OK(bit_reader_finish(&reader));
    static const uint8_t zeros[2] = {0, 0};
    BitReader early = bit_reader(zeros, 2);
    (void)bit_read(&early, 8);
    CHECK_INT(bit_reader_finish(&early), STATUS_MALFORMED); // a whole byte of zeros
    (void)bit_read(&early, 1);
    CHECK_OK(bit_reader_finish(&early));
    BitReader empty = bit_reader(NULL, 0);
    CHECK_OK(bit_reader_finish(&empty));
    CHECK_INT(bit_read(&empty, 1), 0);
    CHECK_INT(empty.status, STATUS_TRUNCATED);
}

TEST(bits_writer_status_is_sticky)
{
    uint8_t data[3] = {0, 0, 0x77};
    BitWriter writer = bit_writer(data, 2);
    bit_write(&writer, 0x3ff, 10);
    bit_write(&writer, 0, 7);
    CHECK_INT(writer.status, STATUS_LIMIT);
    CHECK_INT(writer.at, 10);
    bit_write(&writer, 1, 1);
    CHECK_INT(writer.at, 10);
    CHECK_INT(data[1], 3);
    CHECK_INT(data[2], 0x77);
}

TEST(bits_rewind_drops_bits_and_the_limit)
{
    uint8_t data[2];
    BitWriter writer = bit_writer(data, 2);
    bit_write(&writer, 0x2, 3);
    const size_t mark = writer.at;
    bit_write(&writer, 0x1fff, 13);
    bit_write(&writer, 1, 1);
    CHECK_INT(writer.status, STATUS_LIMIT);
    bit_writer_rewind(&writer, mark);
    CHECK_OK(writer.status);
    CHECK_INT(bit_writer_bytes(&writer), 1);
    CHECK_INT(data[0], 2);
    bit_write(&writer, 0, 2);
    CHECK_INT(data[0], 2);
    bit_writer_rewind(&writer, 0);
    CHECK_INT(bit_writer_bytes(&writer), 0);
}

static void write_too_wide(void *user)
{
    bit_write(user, 4, 2);
}

static void write_signed_too_wide(void *user)
{
    bit_write_signed(user, -3, 2);
}

static void write_65(void *user)
{
    bit_write(user, 0, 65);
}

TEST(bits_values_that_do_not_fit_die)
{
    uint8_t data[8];
    BitWriter writer = bit_writer(data, 8);
    CHECK(test_dies(write_too_wide, &writer));
    CHECK(test_dies(write_signed_too_wide, &writer));
    CHECK(test_dies(write_65, &writer));
}
