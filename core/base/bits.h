// Bounded bit readers and writers with a sticky status, least significant bit first. The writer can
// append another writer's bits with one shift per word: that is how memoised records are sent.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct BitReader {
    const uint8_t *data;
    size_t bit_count; // bits available
    size_t at;        // next bit
    Status status;
} BitReader;

BitReader bit_reader(const void *data, size_t byte_count);
// count 0..64
uint64_t bit_read(BitReader *reader, uint32_t count);
int64_t bit_read_signed(BitReader *reader, uint32_t count); // two's complement in count bits
bool bit_read_bool(BitReader *reader);
// Numbers that are usually small: groups of `group` bits (1..32), lowest first, each followed by
// one "more" bit. Shortest form only (STATUS_MALFORMED otherwise).
uint64_t bit_read_grouped(BitReader *reader, uint32_t group);
// The status; STATUS_MALFORMED if a whole byte or a set padding bit is left over.
MUST_USE Status bit_reader_finish(const BitReader *reader);

typedef struct BitWriter {
    uint8_t *data;
    size_t bit_capacity;
    size_t at;
    Status status;
} BitWriter;

// The buffer need not be zeroed: the bits past `at` in the last byte are always zero. Up to seven
// further bytes inside the capacity are scratch.
BitWriter bit_writer(void *data, size_t byte_capacity);
void bit_write(BitWriter *writer, uint64_t value, uint32_t count); // value must fit in count bits
void bit_write_signed(BitWriter *writer, int64_t value, uint32_t count);
void bit_write_bool(BitWriter *writer, bool value);
void bit_write_grouped(BitWriter *writer, uint64_t value, uint32_t group);
// Appends the first bit_count bits of data, or nothing and STATUS_LIMIT.
void bit_write_bits(BitWriter *writer, const uint8_t *data, size_t bit_count);
// Back to an earlier `at`: what was written since is dropped, and a STATUS_LIMIT it ran into too.
void bit_writer_rewind(BitWriter *writer, size_t at);
size_t bit_writer_bytes(const BitWriter *writer); // rounded up
