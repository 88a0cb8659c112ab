// Base64, three bytes and four characters at a time.
#include "core/base/base64.h"

#include "core/base/check.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_text_bytes(size_t bytes)
{
    ASSERT(bytes <= SIZE_MAX / 4 * 3 - 3);
    return (bytes / 3 + (bytes % 3 != 0)) * 4;
}

void base64_write(const void *data, size_t bytes, ByteWriter *writer)
{
    ASSERT(data != NULL || bytes == 0);
    const uint8_t *in = data;
    for (size_t i = 0; i < bytes; i += 3) {
        const size_t left = bytes - i;
        const uint32_t bits = (uint32_t)in[i] << 16 | (left > 1 ? (uint32_t)in[i + 1] << 8 : 0) |
                              (left > 2 ? in[i + 2] : 0);
        const char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                              left > 1 ? digits[bits >> 6 & 63] : '=',
                              left > 2 ? digits[bits & 63] : '='};
        byte_write_bytes(writer, four, sizeof four);
    }
}

// 64 for a character that is no digit.
static uint32_t digit_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (uint32_t)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (uint32_t)(c - 'a') + 26;
    }
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0') + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

// How many bytes the last four characters stand for.
static size_t last_bytes(const char *four)
{
    return four[3] != '=' ? 3 : four[2] != '=' ? 2 : 1;
}

Status base64_decode(const char *text, size_t text_bytes, uint8_t *out, size_t capacity,
                     size_t *bytes)
{
    if (text_bytes % 4 != 0) {
        return STATUS_MALFORMED;
    }
    const size_t last = text_bytes == 0 ? 0 : last_bytes(text + text_bytes - 4);
    const size_t count = text_bytes == 0 ? 0 : text_bytes / 4 * 3 - 3 + last;
    if (count > capacity) {
        return STATUS_LIMIT;
    }
    for (size_t i = 0, at = 0; i < text_bytes; i += 4) {
        const size_t here = i + 4 == text_bytes ? last : 3;
        uint32_t bits = 0;
        for (size_t d = 0; d < 4; d++) {
            const uint32_t value = d <= here ? digit_value(text[i + d]) : 0;
            if (value == 64) {
                return STATUS_MALFORMED;
            }
            bits = bits << 6 | value;
        }
        for (size_t b = 0; b < here; b++) {
            out[at++] = (uint8_t)(bits >> (16 - 8 * b));
        }
        if (here < 3 && (bits & (here == 2 ? 0xffu : 0xffffu)) != 0) {
            return STATUS_MALFORMED;
        }
    }
    *bytes = count;
    return STATUS_OK;
}
