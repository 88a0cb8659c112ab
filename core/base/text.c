// Texts; see text.h.
#include "core/base/text.h"

#include "core/base/utf8.h"

#include <string.h>

#define ZWNJ 0x200cu // zero-width non-joiner
#define ZWJ  0x200du // zero-width joiner

Text text_from(const char *terminated)
{
    return (Text){terminated, strlen(terminated)};
}

bool text_equal(Text a, Text b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.data, b.data, a.bytes) == 0);
}

bool text_is(Text text, const char *terminated)
{
    return text_equal(text, text_from(terminated));
}

int text_compare(Text a, Text b)
{
    const size_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    const int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    return order != 0 ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

Text text_copy(char *to, Text from)
{
    if (from.bytes > 0) {
        memcpy(to, from.data, from.bytes);
    }
    return (Text){to, from.bytes};
}

const char *text_error(const void *text, size_t bytes)
{
    if (bytes > 0 && memchr(text, 0, bytes) != NULL) {
        return "must not contain a zero byte";
    }
    return utf8_is_valid(text, bytes) ? NULL : "must be valid UTF-8";
}

bool text_is_valid(const void *text, size_t bytes)
{
    return text_error(text, bytes) == NULL;
}

// Characters that show nothing could turn the order of the letters around, or hide words. Joiners
// stay: some scripts and pictures are written with them.
static bool is_left_out(const uint8_t *text, size_t length)
{
    const uint32_t code_point = utf8_code_point(text, length);
    return utf8_is_hidden(code_point) && code_point != ZWNJ && code_point != ZWJ;
}

size_t text_clean(const void *from, size_t bytes, char *out, size_t capacity)
{
    const uint8_t *text = from;
    size_t count = 0;
    for (size_t at = 0; at < bytes;) {
        const size_t length = utf8_length(text + at, bytes - at);
        const uint8_t *shown = length > 0 ? text + at : (const uint8_t *)"?";
        size_t shown_bytes = length > 0 ? length : 1;
        if (*shown == '\n' || *shown == '\r' || *shown == '\t') {
            shown = (const uint8_t *)" ";
        }
        if (is_left_out(shown, shown_bytes) || (*shown == ' ' && count == 0)) {
            shown_bytes = 0;
        }
        if (shown_bytes > capacity - count) {
            break;
        }
        memcpy(out + count, shown, shown_bytes);
        count += shown_bytes;
        at += length > 0 ? length : 1;
    }
    while (count > 0 && out[count - 1] == ' ') {
        count -= 1;
    }
    return count;
}

void text_repair(char *text, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t length = utf8_length((const uint8_t *)text + at, bytes - at);
        if (length == 0 || text[at] == 0) {
            text[at] = '?';
        }
        at += length > 0 ? length : 1;
    }
}
