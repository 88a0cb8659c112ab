// Byte readers and writers. Every read first asks for its bytes: `take` is the one place that
// compares with the end, and it never forms `at + count`, which could wrap.
#include "core/base/bytes.h"

#include "core/base/check.h"
#include "core/base/math.h"

#include <string.h>

#define VARINT_BYTES_MAX 10

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

ByteReader byte_reader(const void *data, size_t size)
{
    ASSERT(data != NULL || size == 0);
    return (ByteReader){.data = data, .size = size};
}

void byte_reader_fail(ByteReader *reader, Status status)
{
    ASSERT(status != STATUS_OK);
    if (reader->status == STATUS_OK) {
        reader->status = status;
    }
}

size_t byte_reader_left(const ByteReader *reader)
{
    return reader->status == STATUS_OK ? reader->size - reader->at : 0;
}

Status byte_reader_finish(const ByteReader *reader)
{
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    return reader->at == reader->size ? STATUS_OK : STATUS_MALFORMED;
}

static const uint8_t *take(ByteReader *reader, size_t count)
{
    ASSERT(reader->at <= reader->size);
    if (reader->status != STATUS_OK) {
        return NULL;
    }
    if (count > reader->size - reader->at) {
        reader->status = STATUS_TRUNCATED;
        return NULL;
    }
    const uint8_t *bytes = reader->data + reader->at;
    reader->at += count;
    return bytes;
}

static uint64_t read_little_endian(ByteReader *reader, size_t count)
{
    const uint8_t *bytes = take(reader, count);
    uint64_t value = 0;
    if (bytes != NULL) {
        memcpy(&value, bytes, count);
    }
    return value;
}

uint8_t byte_read_u8(ByteReader *reader)
{
    return (uint8_t)read_little_endian(reader, 1);
}

uint16_t byte_read_u16(ByteReader *reader)
{
    return (uint16_t)read_little_endian(reader, 2);
}

uint32_t byte_read_u32(ByteReader *reader)
{
    return (uint32_t)read_little_endian(reader, 4);
}

uint64_t byte_read_u64(ByteReader *reader)
{
    return read_little_endian(reader, 8);
}

float byte_read_f32(ByteReader *reader)
{
    const uint32_t bits = byte_read_u32(reader);
    if ((bits & 0x7f800000u) == 0x7f800000u) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t byte_read_varint(ByteReader *reader)
{
    // Nearly all of them have one byte.
    if (reader->status == STATUS_OK && reader->at < reader->size &&
        reader->data[reader->at] < 0x80) {
        return reader->data[reader->at++];
    }
    uint64_t value = 0;
    for (uint32_t i = 0; i < VARINT_BYTES_MAX; i++) {
        const uint8_t byte = byte_read_u8(reader);
        if (reader->status != STATUS_OK) {
            return 0;
        }
        // The tenth byte has room for one bit, and a last byte of zero adds nothing.
        const bool overflows = i == VARINT_BYTES_MAX - 1 && byte > 1;
        const bool is_padded = i > 0 && byte == 0;
        if (overflows || is_padded) {
            byte_reader_fail(reader, STATUS_MALFORMED);
            return 0;
        }
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0) {
            break;
        }
    }
    return value;
}

uint32_t byte_read_count(ByteReader *reader, uint32_t max)
{
    const uint64_t count = byte_read_varint(reader);
    if (count > max) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return (uint32_t)count;
}

bool byte_read_bool(ByteReader *reader)
{
    const uint8_t value = byte_read_u8(reader);
    if (value > 1) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return false;
    }
    return value == 1;
}

const uint8_t *byte_read_bytes(ByteReader *reader, size_t count)
{
    return take(reader, count);
}

const uint8_t *byte_read_block(ByteReader *reader, size_t *bytes)
{
    const uint32_t count = byte_read_u32(reader);
    const uint8_t *block = take(reader, count);
    *bytes = block == NULL ? 0 : count;
    return block;
}

ByteWriter byte_writer(void *data, size_t capacity)
{
    ASSERT(data != NULL || capacity == 0);
    return (ByteWriter){.data = data, .capacity = capacity};
}

ByteWriter byte_counter(void)
{
    return (ByteWriter){.capacity = SIZE_MAX};
}

// Advances by count if there is room; whether the bytes are to be stored is data != NULL.
static bool reserve(ByteWriter *writer, size_t count)
{
    ASSERT(writer->at <= writer->capacity);
    if (writer->status != STATUS_OK) {
        return false;
    }
    if (count > writer->capacity - writer->at) {
        writer->status = STATUS_LIMIT;
        return false;
    }
    writer->at += count;
    return true;
}

static void write_little_endian(ByteWriter *writer, uint64_t value, size_t count)
{
    if (reserve(writer, count) && writer->data != NULL) {
        memcpy(writer->data + writer->at - count, &value, count);
    }
}

void byte_write_u8(ByteWriter *writer, uint8_t value)
{
    write_little_endian(writer, value, 1);
}

void byte_write_u16(ByteWriter *writer, uint16_t value)
{
    write_little_endian(writer, value, 2);
}

void byte_write_u32(ByteWriter *writer, uint32_t value)
{
    write_little_endian(writer, value, 4);
}

void byte_write_u64(ByteWriter *writer, uint64_t value)
{
    write_little_endian(writer, value, 8);
}

void byte_write_f32(ByteWriter *writer, float value)
{
    ASSERT(math_is_finite(value));
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    byte_write_u32(writer, bits);
}

void byte_write_varint(ByteWriter *writer, uint64_t value)
{
    uint8_t bytes[VARINT_BYTES_MAX];
    size_t count = 0;
    while (value >= 0x80) {
        bytes[count++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[count++] = (uint8_t)value;
    byte_write_bytes(writer, bytes, count);
}

void byte_write_bool(ByteWriter *writer, bool value)
{
    write_little_endian(writer, value, 1);
}

void byte_write_bytes(ByteWriter *writer, const void *data, size_t count)
{
    ASSERT(data != NULL || count == 0);
    if (reserve(writer, count) && writer->data != NULL && count != 0) {
        memcpy(writer->data + writer->at - count, data, count);
    }
}
