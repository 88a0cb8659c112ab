// Bytes that grow up to a maximum, from a heap. The status is sticky, as in bytes.h: after the
// first failure nothing more is appended, and the owner checks once.
#pragma once

#include "core/base/bytes.h"
#include "core/base/heap.h"

typedef struct EditBuffer {
    Heap *heap;
    uint8_t *data;
    size_t bytes;
    size_t capacity;
    size_t bytes_max;
    Status status; // STATUS_LIMIT: past the maximum, or no memory
} EditBuffer;

EditBuffer edit_buffer(Heap *heap, size_t bytes_max);
void edit_buffer_free(EditBuffer *buffer);  // empty and usable afterwards
void edit_buffer_clear(EditBuffer *buffer); // keeps its memory
// Room for so many bytes more at least; false: there is none.
bool edit_buffer_reserve(EditBuffer *buffer, size_t bytes);
void edit_buffer_append(EditBuffer *buffer, const void *data, size_t bytes);
void edit_buffer_text(EditBuffer *buffer, const char *terminated);
void edit_buffer_u8(EditBuffer *buffer, uint8_t value);
void edit_buffer_u64(EditBuffer *buffer, uint64_t value);
void edit_buffer_varint(EditBuffer *buffer, uint64_t value);
// A varint of length, then that many bytes.
void edit_buffer_block(EditBuffer *buffer, const void *data, size_t bytes);
// Bytes that a function writes; it may be called twice and must write the same again.
typedef void (*EditWrite)(const void *user, ByteWriter *writer);
void edit_buffer_write(EditBuffer *buffer, EditWrite write, const void *user);

// A varint of length, then a view of that many bytes; NULL on failure.
const uint8_t *edit_read_block(ByteReader *reader, size_t *bytes);
