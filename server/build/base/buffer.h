// A growing byte buffer with a maximum size, on the system's heap, because the size of a build's
// results is not known beforehand. The status is sticky: write everything, then check once.
#pragma once

#include "core/base/bytes.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Buffer {
    uint8_t *data; // free with buffer_free; NULL while empty
    size_t bytes, capacity, bytes_max;
    Status status; // STATUS_LIMIT: the cap, or out of memory
} Buffer;

Buffer buffer_of(size_t bytes_max);
void buffer_free(Buffer *buffer);
void buffer_put(Buffer *buffer, const void *data, size_t bytes);
void buffer_put_u8(Buffer *buffer, uint8_t value);
void buffer_put_u32(Buffer *buffer, uint32_t value);     // little-endian, as ByteReader reads it
void buffer_put_u32_big(Buffer *buffer, uint32_t value); // big-endian, as pictures have it
void buffer_put_u64(Buffer *buffer, uint64_t value);
// u32 length, then the bytes.
void buffer_put_block(Buffer *buffer, const void *data, size_t bytes);
void buffer_print(Buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Reads the next block as a name of 1 to capacity - 1 bytes without zero bytes, and terminates it.
// False: it is not one, and the reader has failed.
MUST_USE bool buffer_read_name(ByteReader *reader, char *out, size_t capacity);
// The same for one that messages may show: without control characters.
MUST_USE bool buffer_read_plain_name(ByteReader *reader, char *out, size_t capacity);
