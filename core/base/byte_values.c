// See byte_values.h.
#include "core/base/byte_values.h"

#include <string.h>

double byte_read_finite(ByteReader *reader)
{
    const uint64_t bits = byte_read_u64(reader);
    double number;
    memcpy(&number, &bits, sizeof number);
    if (number - number != 0) { // infinite, or no number
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return number;
}

void byte_read_exact(ByteReader *reader, uint8_t *out, size_t count)
{
    const uint8_t *bytes = byte_read_bytes(reader, count);
    if (bytes != NULL) {
        memcpy(out, bytes, count);
    }
}

void byte_write_chars(ByteWriter *writer, const char *text)
{
    byte_write_bytes(writer, text, strlen(text));
}

void byte_write_string(ByteWriter *writer, const char *text)
{
    const size_t bytes = strlen(text);
    byte_write_varint(writer, bytes);
    byte_write_bytes(writer, text, bytes);
}

void bytes_put_u32(uint8_t out[4], uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

uint32_t bytes_big_u32(const uint8_t at[4])
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool bytes_from_hex(const char *text, size_t bytes, uint8_t *out, size_t count)
{
    if (bytes != 2 * count) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (hex_digit(text[i]) < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < count; i++) {
        out[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    }
    return true;
}
