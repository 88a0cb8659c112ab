// Values that many kinds of bytes have, in one form: numbers with their bits, vectors, texts.
#pragma once

#include "core/base/bytes.h"
#include "core/base/math.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// A vector is three floats; its reader checks the range.
static inline void byte_write_vec3(ByteWriter *writer, Vec3 v)
{
    byte_write_f32(writer, v.x);
    byte_write_f32(writer, v.y);
    byte_write_f32(writer, v.z);
}

static inline Vec3 byte_read_vec3(ByteReader *reader)
{
    Vec3 v;
    v.x = byte_read_f32(reader);
    v.y = byte_read_f32(reader);
    v.z = byte_read_f32(reader);
    return v;
}

static inline void byte_write_double(ByteWriter *writer, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    byte_write_u64(writer, bits);
}

// The reader fails with STATUS_RANGE if it is infinite or no number, and this is 0.
double byte_read_finite(ByteReader *reader);
// Exactly `count` bytes; if there are fewer, the reader fails and `out` is as it was.
void byte_read_exact(ByteReader *reader, uint8_t *out, size_t count);
// Its bytes alone.
void byte_write_chars(ByteWriter *writer, const char *text);
// A varint length and the bytes.
void byte_write_string(ByteWriter *writer, const char *text);
// Without a writer: four bytes, the lowest first; of four bytes, the highest first.
void bytes_put_u32(uint8_t out[4], uint32_t value);
uint32_t bytes_big_u32(const uint8_t at[4]);
// Two lower-case hex digits for each byte. False: the text has another length or other characters,
// and `out` is as it was.
bool bytes_from_hex(const char *text, size_t bytes, uint8_t *out, size_t count);
