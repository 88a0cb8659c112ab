// See name_text.h. The tables are Unicode's general categories Cf, Zs, Co and noncharacters, and
// the blocks of combining marks that go over any letter.
#include "core/base/name_text.h"

#include "core/base/utf8.h"

#define MARKS_MAX 2

typedef struct Range {
    uint32_t first, last;
} Range;

static bool is_among(const Range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return true;
        }
    }
    return false;
}

// Besides the characters of utf8_is_hidden.
static bool is_refused(uint32_t code)
{
    static const Range ranges[] = {
        {0xa0, 0xa0}, // spaces that are no U+0020
        {0x1680, 0x1680},    {0x2000, 0x200a},   {0x202f, 0x202f},
        {0x205f, 0x205f},    {0x2800, 0x2800}, // an empty Braille cell
        {0x3000, 0x3000},    {0x600, 0x605},   // format characters of scripts
        {0x6dd, 0x6dd},      {0x70f, 0x70f},     {0x890, 0x891},
        {0x8e2, 0x8e2},      {0x110bd, 0x110bd}, {0x110cd, 0x110cd},
        {0x13430, 0x1345f},  {0xfe00, 0xfe0f}, // variation selectors
        {0xfffc, 0xfffd},                      // stand for something that is not there
        {0xfdd0, 0xfdef},                      // never characters
        {0xe000, 0xf8ff},                      // private
        {0xe0000, 0x10ffff},
    };
    return utf8_is_hidden(code) || (code & 0xfffe) == 0xfffe ||
           is_among(ranges, sizeof ranges / sizeof ranges[0], code);
}

static bool is_mark(uint32_t code)
{
    static const Range ranges[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x1ab0, 0x1aff},
        {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f},
    };
    return is_among(ranges, sizeof ranges / sizeof ranges[0], code);
}

bool name_text_is_valid(const char *text, size_t bytes)
{
    if (bytes < 1 || bytes > NAME_TEXT_BYTES || !utf8_is_valid(text, bytes)) {
        return false;
    }
    const uint8_t *at = (const uint8_t *)text;
    const uint8_t *end = at + bytes;
    uint32_t characters = 0, marks = 0;
    uint32_t before = ' '; // so that a leading space is rejected
    while (at < end) {
        const size_t length = utf8_length(at, (size_t)(end - at));
        const uint32_t code = utf8_code_point(at, length);
        marks = is_mark(code) ? marks + 1 : 0;
        if (is_refused(code) || (before == ' ' && (code == ' ' || marks > 0)) ||
            marks > MARKS_MAX) {
            return false;
        }
        before = code;
        characters += 1;
        at += length;
    }
    return before != ' ' && characters <= NAME_TEXT_CHARACTERS;
}
