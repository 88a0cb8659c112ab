// Bounded little-endian readers and writers with a sticky status: after the first failure every
// further call does nothing (reads give zero), so a decoder reads all its fields and checks once.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ByteReader {
    const uint8_t *data;
    size_t size;
    size_t at;
    Status status;
} ByteReader;

ByteReader byte_reader(const void *data, size_t size);
uint8_t byte_read_u8(ByteReader *reader);
uint16_t byte_read_u16(ByteReader *reader);
uint32_t byte_read_u32(ByteReader *reader);
uint64_t byte_read_u64(ByteReader *reader);
// STATUS_RANGE for NaN and infinity: no float from outside enters state unless it is finite.
float byte_read_f32(ByteReader *reader);
// LEB128, at most 10 bytes, shortest form only (STATUS_MALFORMED otherwise).
uint64_t byte_read_varint(ByteReader *reader);
// A varint that drives a loop: STATUS_RANGE above max.
uint32_t byte_read_count(ByteReader *reader, uint32_t max);
// 0 or 1; anything else is STATUS_MALFORMED.
bool byte_read_bool(ByteReader *reader);
// A view into the data, NULL on failure.
const uint8_t *byte_read_bytes(ByteReader *reader, size_t count);
// A u32 of length, then that many bytes: a view, NULL and 0 bytes on failure.
const uint8_t *byte_read_block(ByteReader *reader, size_t *bytes);
// Keeps the first failure.
void byte_reader_fail(ByteReader *reader, Status status);
// 0 after a failure.
size_t byte_reader_left(const ByteReader *reader);
// The status, or STATUS_MALFORMED if bytes are left over.
MUST_USE Status byte_reader_finish(const ByteReader *reader);

typedef struct ByteWriter {
    uint8_t *data; // may be NULL with capacity SIZE_MAX: then it only counts
    size_t capacity;
    size_t at;
    Status status; // STATUS_LIMIT once something did not fit
} ByteWriter;

ByteWriter byte_writer(void *data, size_t capacity);
ByteWriter byte_counter(void);
void byte_write_u8(ByteWriter *writer, uint8_t value);
void byte_write_u16(ByteWriter *writer, uint16_t value);
void byte_write_u32(ByteWriter *writer, uint32_t value);
void byte_write_u64(ByteWriter *writer, uint64_t value);
void byte_write_f32(ByteWriter *writer, float value); // must be finite: nobody could read it back
void byte_write_varint(ByteWriter *writer, uint64_t value);
void byte_write_bool(ByteWriter *writer, bool value);
void byte_write_bytes(ByteWriter *writer, const void *data, size_t count);
