// UTF-8. The lead byte decides the length and the range of the second byte, which is what rules
// out overlong forms, surrogates and code points past the end; all further bytes are 80..BF.
#include "core/base/utf8.h"

#include "core/base/check.h"

#include <string.h>

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t utf8_length(const uint8_t *text, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    const uint8_t lead = text[0];
    if (lead < 0x80) {
        return 1;
    }
    // 80..C1: a continuation byte, or an overlong form of ASCII. F5..FF: past U+10FFFF.
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (bytes < length || !is_continuation(text[1])) {
        return 0;
    }
    const bool is_overlong = (lead == 0xe0 && text[1] < 0xa0) || (lead == 0xf0 && text[1] < 0x90);
    const bool is_outside = (lead == 0xed && text[1] > 0x9f) || (lead == 0xf4 && text[1] > 0x8f);
    if (is_overlong || is_outside) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if (!is_continuation(text[i])) {
            return 0;
        }
    }
    return length;
}

bool utf8_is_valid(const void *text, size_t bytes)
{
    const uint8_t *at = text;
    while (bytes != 0) {
        uint64_t eight;
        if (bytes >= sizeof eight) { // most texts are ASCII
            memcpy(&eight, at, sizeof eight);
            if ((eight & 0x8080808080808080ull) == 0) {
                at += sizeof eight;
                bytes -= sizeof eight;
                continue;
            }
        }
        const size_t length = utf8_length(at, bytes);
        if (length == 0) {
            return false;
        }
        at += length;
        bytes -= length;
    }
    return true;
}

bool utf8_has_control(const void *text, size_t bytes)
{
    const uint8_t *at = text;
    for (size_t i = 0; i < bytes; i++) {
        const bool is_c1 = at[i] == 0xc2 && i + 1 < bytes && at[i + 1] < 0xa0;
        if (at[i] < 0x20 || at[i] == 0x7f || is_c1) {
            return true;
        }
    }
    return false;
}

uint32_t utf8_code_point(const uint8_t *text, size_t length)
{
    ASSERT(length >= 1 && length <= 4);
    static const uint8_t first_bits[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code_point = text[0] & first_bits[length];
    for (size_t i = 1; i < length; i++) {
        code_point = code_point << 6 | (text[i] & 0x3fu);
    }
    return code_point;
}

bool utf8_is_hidden(uint32_t code_point)
{
    static const uint32_t ranges[][2] = {
        {0, 0x1f},          {0x7f, 0x9f},      {0xad, 0xad},     {0x34f, 0x34f},
        {0x61c, 0x61c},     {0x115f, 0x1160},  {0x17b4, 0x17b5}, {0x180b, 0x180f},
        {0x200b, 0x200f},   {0x2028, 0x202e},  {0x2060, 0x206f}, {0x3164, 0x3164},
        {0xfeff, 0xfeff},   {0xffa0, 0xffa0},  {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3},
        {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (code_point <= ranges[i][1]) {
            return code_point >= ranges[i][0];
        }
    }
    return false;
}

bool utf8_has_hidden(const void *text, size_t bytes)
{
    const uint8_t *at = text;
    for (size_t i = 0, length; i < bytes; i += length) {
        length = utf8_length(at + i, bytes - i);
        if (length == 0 || utf8_is_hidden(utf8_code_point(at + i, length))) {
            return true;
        }
    }
    return false;
}

void utf8_clean(char *text)
{
    const size_t bytes = strlen(text);
    size_t to = 0;
    for (size_t at = 0; at < bytes;) {
        const uint8_t *from = (const uint8_t *)text + at;
        const size_t length = utf8_length(from, bytes - at);
        if (length == 0 || utf8_is_hidden(utf8_code_point(from, length))) {
            text[to++] = *from == '\n' || *from == '\t' ? ' ' : '?';
        } else {
            memmove(text + to, from, length);
            to += length;
        }
        at += length > 0 ? length : 1;
    }
    text[to] = '\0';
}

size_t utf8_encode(uint32_t code_point, uint8_t out[4])
{
    ASSERT(code_point <= 0x10ffff);
    ASSERT(code_point < 0xd800 || code_point > 0xdfff);
    if (code_point < 0x80) {
        out[0] = (uint8_t)code_point;
        return 1;
    }
    const size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (uint8_t)(0x80 | (code_point & 0x3f));
        code_point >>= 6;
    }
    const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (uint8_t)(marks[length] | code_point);
    return length;
}

size_t utf8_cut(const char *text, size_t bytes, size_t bytes_max)
{
    if (bytes <= bytes_max) {
        return bytes;
    }
    // The character that the cut would split begins at most three bytes before it.
    size_t cut = bytes_max;
    for (size_t back = 0; back < 3 && cut > 0 && is_continuation((uint8_t)text[cut]); back++) {
        cut -= 1;
    }
    return cut;
}
