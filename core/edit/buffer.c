// See buffer.h.
#include "core/edit/buffer.h"

#include "core/base/check.h"

#include <string.h>

#define BYTES_MIN 256

EditBuffer edit_buffer(Heap *heap, size_t bytes_max)
{
    return (EditBuffer){.heap = heap, .bytes_max = bytes_max};
}

void edit_buffer_free(EditBuffer *buffer)
{
    heap_free(buffer->heap, buffer->data);
    *buffer = edit_buffer(buffer->heap, buffer->bytes_max);
}

void edit_buffer_clear(EditBuffer *buffer)
{
    buffer->bytes = 0;
    buffer->status = STATUS_OK;
}

bool edit_buffer_reserve(EditBuffer *buffer, size_t bytes)
{
    if (buffer->status != STATUS_OK) {
        return false;
    }
    if (bytes <= buffer->capacity - buffer->bytes) {
        return true;
    }
    uint8_t *data = NULL;
    size_t capacity = buffer->capacity * 2 > BYTES_MIN ? buffer->capacity * 2 : BYTES_MIN;
    if (bytes <= buffer->bytes_max - buffer->bytes) {
        capacity = capacity > buffer->bytes + bytes ? capacity : buffer->bytes + bytes;
        capacity = capacity < buffer->bytes_max ? capacity : buffer->bytes_max;
        data = heap_alloc(buffer->heap, capacity);
    }
    if (data == NULL) {
        buffer->status = STATUS_LIMIT;
        return false;
    }
    if (buffer->bytes != 0) {
        memcpy(data, buffer->data, buffer->bytes);
    }
    heap_free(buffer->heap, buffer->data);
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void edit_buffer_append(EditBuffer *buffer, const void *data, size_t bytes)
{
    if (bytes != 0 && edit_buffer_reserve(buffer, bytes)) {
        memcpy(buffer->data + buffer->bytes, data, bytes);
        buffer->bytes += bytes;
    }
}

void edit_buffer_text(EditBuffer *buffer, const char *terminated)
{
    edit_buffer_append(buffer, terminated, strlen(terminated));
}

void edit_buffer_u8(EditBuffer *buffer, uint8_t value)
{
    edit_buffer_append(buffer, &value, 1);
}

void edit_buffer_u64(EditBuffer *buffer, uint64_t value)
{
    uint8_t bytes[8];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_u64(&writer, value);
    edit_buffer_append(buffer, bytes, writer.at);
}

void edit_buffer_varint(EditBuffer *buffer, uint64_t value)
{
    uint8_t bytes[10];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_varint(&writer, value);
    edit_buffer_append(buffer, bytes, writer.at);
}

void edit_buffer_block(EditBuffer *buffer, const void *data, size_t bytes)
{
    edit_buffer_varint(buffer, bytes);
    edit_buffer_append(buffer, data, bytes);
}

void edit_buffer_write(EditBuffer *buffer, EditWrite write, const void *user)
{
    if (!edit_buffer_reserve(buffer, 1)) {
        return;
    }
    const size_t room = buffer->capacity - buffer->bytes;
    ByteWriter writer = byte_writer(buffer->data + buffer->bytes, room);
    write(user, &writer);
    if (writer.status == STATUS_LIMIT) {
        ByteWriter counter = byte_counter();
        write(user, &counter);
        if (counter.status == STATUS_OK && edit_buffer_reserve(buffer, counter.at)) {
            writer = byte_writer(buffer->data + buffer->bytes, counter.at);
            write(user, &writer);
        }
    }
    if (writer.status == STATUS_OK) {
        buffer->bytes += writer.at;
    } else if (buffer->status == STATUS_OK) {
        buffer->status = writer.status;
    }
}

const uint8_t *edit_read_block(ByteReader *reader, size_t *bytes)
{
    const uint64_t length = byte_read_varint(reader);
    if (length > byte_reader_left(reader)) {
        byte_reader_fail(reader, STATUS_TRUNCATED);
    }
    *bytes = reader->status == STATUS_OK ? (size_t)length : 0;
    return reader->status == STATUS_OK ? byte_read_bytes(reader, (size_t)length) : NULL;
}
