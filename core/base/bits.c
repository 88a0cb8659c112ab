// Bit readers and writers. Bit n of the stream is bit n % 8 of byte n / 8. A call touches at most
// nine bytes: a 64-bit word that starts at the current byte, and one more when the offset in that
// byte pushes the value past it.
#include "core/base/bits.h"

#include "core/base/check.h"

#include <string.h>

static uint64_t low_mask(uint32_t count)
{
    return count == 64 ? ~0ull : (1ull << count) - 1;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are copied as they are");

// Eight bytes as a word, or as many as there are.
static uint64_t load_word(const uint8_t *bytes, size_t count)
{
    uint64_t word = 0;
    if (count >= 8) {
        memcpy(&word, bytes, 8);
        return word;
    }
    for (size_t i = 0; i < count; i++) {
        word |= (uint64_t)bytes[i] << (8 * i);
    }
    return word;
}

BitReader bit_reader(const void *data, size_t byte_count)
{
    ASSERT(data != NULL || byte_count == 0);
    ASSERT(byte_count <= SIZE_MAX / 8);
    return (BitReader){.data = data, .bit_count = byte_count * 8};
}

static void reader_fail(BitReader *reader, Status status)
{
    if (reader->status == STATUS_OK) {
        reader->status = status;
    }
}

uint64_t bit_read(BitReader *reader, uint32_t count)
{
    ASSERT(count <= 64);
    ASSERT(reader->at <= reader->bit_count);
    if (count > reader->bit_count - reader->at) {
        reader_fail(reader, STATUS_TRUNCATED);
    }
    if (reader->status != STATUS_OK || count == 0) {
        return 0;
    }
    const size_t byte = reader->at / 8;
    const uint32_t shift = (uint32_t)(reader->at % 8);
    uint64_t value = load_word(reader->data + byte, (reader->bit_count + 7) / 8 - byte) >> shift;
    if (shift + count > 64) {
        value |= (uint64_t)reader->data[byte + 8] << (64 - shift);
    }
    reader->at += count;
    return value & low_mask(count);
}

int64_t bit_read_signed(BitReader *reader, uint32_t count)
{
    const uint64_t value = bit_read(reader, count);
    if (count == 0 || (value >> (count - 1) & 1) == 0) {
        return (int64_t)value;
    }
    return (int64_t)(value | ~low_mask(count));
}

bool bit_read_bool(BitReader *reader)
{
    return bit_read(reader, 1) != 0;
}

uint64_t bit_read_grouped(BitReader *reader, uint32_t group)
{
    ASSERT(group >= 1 && group <= 32);
    uint64_t value = 0;
    for (uint32_t shift = 0;; shift += group) {
        const uint64_t bits = bit_read(reader, group);
        const bool has_more = bit_read_bool(reader);
        if (reader->status != STATUS_OK) {
            return 0;
        }
        // No bit past the 64th, and no last group of zeros: one number has one form.
        const bool overflows = shift >= 64 || bits << shift >> shift != bits;
        const bool is_padded = shift > 0 && bits == 0 && !has_more;
        if (overflows || is_padded) {
            reader_fail(reader, STATUS_MALFORMED);
            return 0;
        }
        value |= bits << shift;
        if (!has_more) {
            return value;
        }
    }
}

Status bit_reader_finish(const BitReader *reader)
{
    if (reader->status != STATUS_OK) {
        return reader->status;
    }
    const size_t left = reader->bit_count - reader->at;
    if (left >= 8) {
        return STATUS_MALFORMED;
    }
    BitReader padding = *reader;
    return bit_read(&padding, (uint32_t)left) == 0 ? STATUS_OK : STATUS_MALFORMED;
}

BitWriter bit_writer(void *data, size_t byte_capacity)
{
    ASSERT(data != NULL || byte_capacity == 0);
    ASSERT(byte_capacity <= SIZE_MAX / 8);
    return (BitWriter){.data = data, .bit_capacity = byte_capacity * 8};
}

// The bits of the current byte below `at` are kept and all others up to the end of the word are
// overwritten, so what the buffer held before does not matter.
void bit_write(BitWriter *writer, uint64_t value, uint32_t count)
{
    ASSERT(count <= 64);
    ASSERT((value & ~low_mask(count)) == 0);
    ASSERT(writer->at <= writer->bit_capacity);
    if (count > writer->bit_capacity - writer->at && writer->status == STATUS_OK) {
        writer->status = STATUS_LIMIT;
    }
    if (writer->status != STATUS_OK || count == 0) {
        return;
    }
    const size_t byte = writer->at / 8;
    const uint32_t shift = (uint32_t)(writer->at % 8);
    uint8_t *bytes = writer->data + byte;
    const uint64_t kept = shift == 0 ? 0 : bytes[0] & low_mask(shift);
    const uint64_t word = kept | value << shift;
    const size_t room = (writer->bit_capacity + 7) / 8 - byte;
    if (room >= 8) {
        memcpy(bytes, &word, 8);
        if (shift + count > 64) {
            bytes[8] = (uint8_t)(value >> (64 - shift));
        }
    } else {
        for (size_t i = 0; i < room; i++) {
            bytes[i] = (uint8_t)(word >> (8 * i));
        }
    }
    writer->at += count;
}

void bit_write_signed(BitWriter *writer, int64_t value, uint32_t count)
{
    ASSERT(count <= 64);
    const uint64_t bits = (uint64_t)value & low_mask(count);
    ASSERT(count == 64 || value == 0 || (count > 0 && value >> (count - 1) == -(value < 0)));
    bit_write(writer, bits, count);
}

void bit_write_bool(BitWriter *writer, bool value)
{
    bit_write(writer, value, 1);
}

void bit_write_grouped(BitWriter *writer, uint64_t value, uint32_t group)
{
    ASSERT(group >= 1 && group <= 32);
    for (;;) {
        const uint64_t rest = value >> group;
        bit_write(writer, value & low_mask(group), group);
        bit_write_bool(writer, rest != 0);
        if (rest == 0) {
            return;
        }
        value = rest;
    }
}

void bit_write_bits(BitWriter *writer, const uint8_t *data, size_t bit_count)
{
    ASSERT(data != NULL || bit_count == 0);
    // Asked for as a whole, so that an append that does not fit leaves no part of itself.
    if (bit_count > writer->bit_capacity - writer->at && writer->status == STATUS_OK) {
        writer->status = STATUS_LIMIT;
    }
    if (writer->status != STATUS_OK || bit_count == 0) {
        return;
    }
    if (writer->at % 8 == 0) {
        memcpy(writer->data + writer->at / 8, data, bit_count / 8);
        writer->at += bit_count / 8 * 8;
        data += bit_count / 8;
        bit_count %= 8;
    }
    for (; bit_count >= 64; bit_count -= 64, data += 8) {
        bit_write(writer, load_word(data, 8), 64);
    }
    if (bit_count != 0) {
        const uint32_t left = (uint32_t)bit_count;
        bit_write(writer, load_word(data, (left + 7) / 8) & low_mask(left), left);
    }
}

void bit_writer_rewind(BitWriter *writer, size_t at)
{
    ASSERT(at <= writer->at);
    writer->at = at;
    writer->status = STATUS_OK;
    if (at % 8 != 0) {
        writer->data[at / 8] &= (uint8_t)low_mask((uint32_t)(at % 8));
    }
}

size_t bit_writer_bytes(const BitWriter *writer)
{
    return (writer->at + 7) / 8;
}
