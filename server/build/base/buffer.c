// See buffer.h.
#include "server/build/base/buffer.h"

#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 256

Buffer buffer_of(size_t bytes_max)
{
    return (Buffer){.bytes_max = bytes_max};
}

void buffer_free(Buffer *buffer)
{
    free(buffer->data);
    *buffer = (Buffer){.bytes_max = buffer->bytes_max};
}

static uint8_t *more(Buffer *buffer, size_t bytes)
{
    if (buffer->status != STATUS_OK || bytes > buffer->bytes_max - buffer->bytes) {
        buffer->status = STATUS_LIMIT;
        return NULL;
    }
    const size_t needed = buffer->bytes + bytes;
    if (needed > buffer->capacity) {
        size_t capacity = buffer->capacity < FIRST_BYTES ? FIRST_BYTES : buffer->capacity;
        while (capacity < needed) {
            capacity = capacity > buffer->bytes_max / 2 ? buffer->bytes_max : capacity * 2;
        }
        uint8_t *data = realloc(buffer->data, capacity);
        if (data == NULL) {
            buffer->status = STATUS_LIMIT;
            return NULL;
        }
        buffer->data = data;
        buffer->capacity = capacity;
    }
    uint8_t *at = buffer->data + buffer->bytes;
    buffer->bytes = needed;
    return at;
}

void buffer_put(Buffer *buffer, const void *data, size_t bytes)
{
    if (bytes == 0) {
        return;
    }
    uint8_t *at = more(buffer, bytes);
    if (at != NULL) {
        memcpy(at, data, bytes);
    }
}

void buffer_put_u8(Buffer *buffer, uint8_t value)
{
    buffer_put(buffer, &value, 1);
}

static void put_little(Buffer *buffer, uint64_t value, size_t bytes)
{
    uint8_t *at = more(buffer, bytes);
    for (size_t i = 0; at != NULL && i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

void buffer_put_u32(Buffer *buffer, uint32_t value)
{
    put_little(buffer, value, 4);
}

void buffer_put_u32_big(Buffer *buffer, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value};
    buffer_put(buffer, bytes, sizeof bytes);
}

void buffer_put_u64(Buffer *buffer, uint64_t value)
{
    put_little(buffer, value, 8);
}

void buffer_put_block(Buffer *buffer, const void *data, size_t bytes)
{
    if (bytes > UINT32_MAX) {
        buffer->status = STATUS_LIMIT;
        return;
    }
    buffer_put_u32(buffer, (uint32_t)bytes);
    buffer_put(buffer, data, bytes);
}

void buffer_print(Buffer *buffer, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int bytes = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    // One byte more for the zero that vsnprintf writes; it is dropped afterwards.
    char *at = bytes >= 0 ? (char *)more(buffer, (size_t)bytes + 1) : NULL;
    if (at != NULL) {
        vsnprintf(at, (size_t)bytes + 1, format, again);
        buffer->bytes -= 1;
    }
    va_end(again);
}

bool buffer_read_name(ByteReader *reader, char *out, size_t capacity)
{
    size_t bytes = 0;
    const uint8_t *name = byte_read_block(reader, &bytes);
    if (name == NULL || bytes == 0 || bytes >= capacity || memchr(name, 0, bytes) != NULL) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return false;
    }
    memcpy(out, name, bytes);
    out[bytes] = '\0';
    return true;
}

bool buffer_read_plain_name(ByteReader *reader, char *out, size_t capacity)
{
    return buffer_read_name(reader, out, capacity) && !utf8_has_control(out, strlen(out));
}
