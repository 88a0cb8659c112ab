// Byte readers and writers: exact bytes, round trips, ends, sticky status.
#include "core/base/byte_values.h"
#include "core/base/rng.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

TEST(bytes_are_little_endian)
{
    uint8_t data[64];
    ByteWriter writer = byte_writer(data, sizeof data);
    byte_write_u8(&writer, 0x01);
    byte_write_u16(&writer, 0x0302);
    byte_write_u32(&writer, 0x07060504);
    byte_write_u64(&writer, 0x0f0e0d0c0b0a0908);
    byte_write_f32(&writer, 1.0f);
    byte_write_bool(&writer, true);
    byte_write_varint(&writer, 300);
    byte_write_bytes(&writer, "xyz", 3);
    CHECK_OK(writer.status);
    static const uint8_t want[] = {1,  2,  3, 4, 5,    6,    7, 8,    9, 10,  11,  12, 13,
                                   14, 15, 0, 0, 0x80, 0x3f, 1, 0xac, 2, 'x', 'y', 'z'};
    REQUIRE(writer.at == sizeof want);
    CHECK_BYTES(data, want, sizeof want);

    ByteReader reader = byte_reader(data, writer.at);
    CHECK_INT(byte_read_u8(&reader), 0x01);
    CHECK_INT(byte_read_u16(&reader), 0x0302);
    CHECK_INT(byte_read_u32(&reader), 0x07060504);
    CHECK(byte_read_u64(&reader) == 0x0f0e0d0c0b0a0908);
    CHECK(byte_read_f32(&reader) == 1.0f);
    CHECK(byte_read_bool(&reader));
    CHECK_INT(byte_read_count(&reader, 300), 300);
    CHECK_INT(byte_reader_left(&reader), 3);
    CHECK_INT(byte_reader_finish(&reader), STATUS_MALFORMED);
    const uint8_t *text = byte_read_bytes(&reader, 3);
    REQUIRE(text != NULL);
    CHECK_BYTES(text, "xyz", 3);
    CHECK_OK(byte_reader_finish(&reader));
}

TEST(bytes_reader_status_is_sticky)
{
    static const uint8_t data[] = {1, 2, 3};
    ByteReader reader = byte_reader(data, sizeof data);
    CHECK_INT(byte_read_u16(&reader), 0x0201);
    CHECK_INT(byte_read_u32(&reader), 0);
    CHECK_INT(reader.status, STATUS_TRUNCATED);
    CHECK_INT(reader.at, 2);
    // One byte would be there, and still nothing more is read.
    CHECK_INT(byte_read_u8(&reader), 0);
    CHECK_INT(byte_read_u64(&reader), 0);
    CHECK(byte_read_f32(&reader) == 0);
    CHECK_INT(byte_read_varint(&reader), 0);
    CHECK_INT(byte_read_count(&reader, 9), 0);
    CHECK(!byte_read_bool(&reader));
    CHECK(byte_read_bytes(&reader, 0) == NULL);
    CHECK_INT(byte_reader_left(&reader), 0);
    byte_reader_fail(&reader, STATUS_DENIED);
    CHECK_INT(byte_reader_finish(&reader), STATUS_TRUNCATED);
    CHECK_INT(reader.at, 2);
}

TEST(bytes_reader_fail_keeps_the_first)
{
    ByteReader reader = byte_reader("ab", 2);
    byte_reader_fail(&reader, STATUS_DENIED);
    byte_reader_fail(&reader, STATUS_RANGE);
    CHECK_INT(byte_read_u8(&reader), 0);
    CHECK_INT(byte_reader_finish(&reader), STATUS_DENIED);
}

TEST(bytes_reader_cannot_pass_its_end)
{
    for (size_t size = 0; size < 8; size++) {
        static const uint8_t data[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        ByteReader reader = byte_reader(data, size);
        (void)byte_read_u64(&reader);
        CHECK_INT(byte_reader_finish(&reader), STATUS_TRUNCATED);
        reader = byte_reader(data, size);
        CHECK(byte_read_bytes(&reader, size + 1) == NULL);
        CHECK_INT(reader.status, STATUS_TRUNCATED);
        reader = byte_reader(data, size);
        CHECK(byte_read_bytes(&reader, SIZE_MAX) == NULL);
        CHECK_INT(reader.status, STATUS_TRUNCATED);
    }
    ByteReader empty = byte_reader(NULL, 0);
    CHECK_OK(byte_reader_finish(&empty));
    CHECK_INT(byte_read_u8(&empty), 0);
    CHECK_INT(empty.status, STATUS_TRUNCATED);
}

TEST(bytes_floats_must_be_finite)
{
    static const uint32_t bad[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xff800001, 0x7f800001};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ByteReader reader = byte_reader(&bad[i], 4);
        CHECK(byte_read_f32(&reader) == 0);
        CHECK_INT(reader.status, STATUS_RANGE);
    }
    static const uint32_t good[] = {0, 0x80000000, 1, 0x807fffff, 0x7f7fffff, 0xff7fffff};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ByteReader reader = byte_reader(&good[i], 4);
        const float value = byte_read_f32(&reader);
        CHECK_OK(byte_reader_finish(&reader));
        CHECK_BYTES(&value, &good[i], 4);
    }
}

static void write_nan(void *user)
{
    byte_write_f32(user, __builtin_nanf(""));
}

static void write_infinity(void *user)
{
    byte_write_f32(user, -__builtin_inff());
}

TEST(bytes_writing_a_float_that_is_not_finite_dies)
{
    uint8_t data[4];
    ByteWriter writer = byte_writer(data, sizeof data);
    CHECK(test_dies(write_nan, &writer));
    CHECK(test_dies(write_infinity, &writer));
}

TEST(bytes_bool_is_zero_or_one)
{
    for (uint32_t value = 0; value < 256; value++) {
        const uint8_t byte = (uint8_t)value;
        ByteReader reader = byte_reader(&byte, 1);
        CHECK_INT(byte_read_bool(&reader), value == 1);
        CHECK_INT(reader.status, value <= 1 ? STATUS_OK : STATUS_MALFORMED);
    }
}

static void check_varint(uint64_t value)
{
    uint8_t data[10];
    ByteWriter writer = byte_writer(data, sizeof data);
    byte_write_varint(&writer, value);
    CHECK_OK(writer.status);
    size_t want_bytes = 1;
    while (want_bytes < 10 && value >> (7 * want_bytes) != 0) {
        want_bytes += 1;
    }
    CHECK_INT(writer.at, want_bytes);
    ByteReader reader = byte_reader(data, writer.at);
    CHECK(byte_read_varint(&reader) == value);
    CHECK_OK(byte_reader_finish(&reader));
    // Every shorter prefix is truncated; the value with one zero group more is refused.
    for (size_t size = 0; size < writer.at; size++) {
        reader = byte_reader(data, size);
        CHECK(byte_read_varint(&reader) == 0);
        CHECK_INT(reader.status, STATUS_TRUNCATED);
    }
    if (writer.at < 10) {
        uint8_t padded[10];
        memcpy(padded, data, writer.at);
        padded[writer.at - 1] |= 0x80;
        padded[writer.at] = 0;
        reader = byte_reader(padded, writer.at + 1);
        CHECK(byte_read_varint(&reader) == 0);
        CHECK_INT(reader.status, STATUS_MALFORMED);
    }
}

TEST(bytes_varint_round_trips_in_its_shortest_form)
{
    check_varint(0);
    check_varint(UINT64_MAX);
    for (uint32_t bit = 0; bit < 64; bit++) {
        check_varint(1ull << bit);
        check_varint((1ull << bit) - 1);
        check_varint(~0ull >> bit);
    }
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t i = 0; i < 10000 && test_is_passing(); i++) {
        check_varint(rng_u64(&rng) >> rng_below(&rng, 64));
    }
}

TEST(bytes_varint_past_64_bits_is_malformed)
{
    static const uint8_t cases[][11] = {
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0},
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0},
        {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0},
        {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
        {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ByteReader reader = byte_reader(cases[i], 11);
        CHECK(byte_read_varint(&reader) == 0);
        CHECK_INT(reader.status, STATUS_MALFORMED);
    }
}

TEST(bytes_count_is_bounded)
{
    uint8_t data[10];
    ByteWriter writer = byte_writer(data, sizeof data);
    byte_write_varint(&writer, 101);
    ByteReader reader = byte_reader(data, writer.at);
    CHECK_INT(byte_read_count(&reader, 100), 0);
    CHECK_INT(reader.status, STATUS_RANGE);
    // A count past 32 bits must not pass by being cut.
    writer = byte_writer(data, sizeof data);
    byte_write_varint(&writer, (1ull << 32) + 5);
    reader = byte_reader(data, writer.at);
    CHECK_INT(byte_read_count(&reader, UINT32_MAX), 0);
    CHECK_INT(reader.status, STATUS_RANGE);
}

TEST(bytes_block_that_is_cut_off_is_empty)
{
    static const uint8_t data[] = {2, 0, 0, 0, 'a', 'b', 3, 0, 0, 0, 'c', 'd'};
    ByteReader reader = byte_reader(data, sizeof data);
    size_t bytes = 9;
    CHECK(byte_read_block(&reader, &bytes) == data + 4);
    CHECK_INT(bytes, 2);
    CHECK(byte_read_block(&reader, &bytes) == NULL);
    CHECK_INT(bytes, 0);
    CHECK_INT(reader.status, STATUS_TRUNCATED);
}

TEST(bytes_writer_status_is_sticky)
{
    uint8_t data[4] = {9, 9, 9, 9};
    ByteWriter writer = byte_writer(data, 3);
    byte_write_u16(&writer, 0x0101);
    byte_write_u16(&writer, 0x0202);
    CHECK_INT(writer.status, STATUS_LIMIT);
    CHECK_INT(writer.at, 2);
    // One byte would fit, and still nothing more is written.
    byte_write_u8(&writer, 3);
    byte_write_bytes(&writer, NULL, 0);
    byte_write_varint(&writer, 1);
    CHECK_INT(writer.at, 2);
    static const uint8_t want[] = {1, 1, 9, 9};
    CHECK_BYTES(data, want, 4);
}

TEST(bytes_writer_fills_to_the_last_byte)
{
    uint8_t data[9] = {0};
    data[8] = 0x77;
    ByteWriter writer = byte_writer(data, 8);
    byte_write_u64(&writer, UINT64_MAX);
    CHECK_OK(writer.status);
    CHECK_INT(data[8], 0x77);
    byte_write_u8(&writer, 1);
    CHECK_INT(writer.status, STATUS_LIMIT);
    CHECK_INT(data[8], 0x77);
    ByteWriter nothing = byte_writer(NULL, 0);
    byte_write_u8(&nothing, 1);
    CHECK_INT(nothing.status, STATUS_LIMIT);
}

TEST(bytes_counter_counts_without_a_buffer)
{
    ByteWriter counter = byte_counter();
    byte_write_u8(&counter, 1);
    byte_write_u64(&counter, 1);
    byte_write_f32(&counter, 1);
    byte_write_varint(&counter, 128);
    byte_write_bytes(&counter, "abc", 3);
    CHECK_OK(counter.status);
    CHECK_INT(counter.at, 1 + 8 + 4 + 2 + 3);
    counter.at = SIZE_MAX - 1;
    byte_write_u16(&counter, 1);
    CHECK_INT(counter.status, STATUS_LIMIT);
}

TEST(numbers_vectors_and_strings_have_one_form)
{
    uint8_t data[64];
    ByteWriter writer = byte_writer(data, sizeof data);
    byte_write_vec3(&writer, (Vec3){1, -2, 0.5f});
    byte_write_double(&writer, -0.25);
    byte_write_double(&writer, INFINITY);
    byte_write_string(&writer, "ab");
    byte_write_chars(&writer, "cd");
    CHECK_OK(writer.status);
    ByteReader reader = byte_reader(data, writer.at);
    CHECK(vec3_equal(byte_read_vec3(&reader), (Vec3){1, -2, 0.5f}));
    CHECK(byte_read_finite(&reader) == -0.25);
    CHECK_OK(reader.status);
    CHECK(byte_read_finite(&reader) == 0);
    CHECK_INT(reader.status, STATUS_RANGE);
    CHECK_BYTES(data + 12 + 16, "\2abcd", 5);
    uint8_t out[5] = {9, 9, 9, 9, 9};
    reader = byte_reader("abcd", 4);
    byte_read_exact(&reader, out, 5);
    CHECK(reader.status != STATUS_OK);
    CHECK_INT(out[0], 9);
    reader = byte_reader("abcd", 4);
    byte_read_exact(&reader, out, 4);
    CHECK_BYTES(out, "abcd\x9", 5);
    bytes_put_u32(out, 0x04030201);
    CHECK_BYTES(out, "\1\2\3\4", 4);
    CHECK_INT(bytes_big_u32(out), 0x01020304);
}

TEST(hex_is_read_whole_or_not_at_all)
{
    uint8_t out[2] = {7, 7};
    CHECK(bytes_from_hex("0aff", 4, out, 2));
    CHECK_BYTES(out, "\x0a\xff", 2);
    static const char *const wrong[] = {"0af", "0aff0", "0AFF", "0ag0", "0a f", ""};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK(!bytes_from_hex(wrong[i], strlen(wrong[i]), out, 2));
        CHECK_BYTES(out, "\x0a\xff", 2);
    }
}
