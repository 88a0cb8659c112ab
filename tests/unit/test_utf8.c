// UTF-8: every code point round trips, and everything else is rejected.
#include "core/base/utf8.h"
#include "tests/support/test.h"

#include <string.h>

TEST(utf8_every_code_point_round_trips)
{
    size_t want = 1;
    for (uint32_t code_point = 0; code_point <= 0x10ffff && test_is_passing(); code_point++) {
        if (code_point >= 0xd800 && code_point <= 0xdfff) {
            continue;
        }
        want = code_point >= 0x10000 ? 4 : code_point >= 0x800 ? 3 : code_point >= 0x80 ? 2 : 1;
        uint8_t text[4] = {0};
        const size_t length = utf8_encode(code_point, text);
        CHECK_INT(length, want);
        CHECK_INT(utf8_length(text, length), want);
        CHECK_INT(utf8_length(text, length - 1), 0);
        CHECK(utf8_is_valid(text, length));
    }
}

TEST(utf8_three_byte_forms_are_valid_only_when_they_should_be)
{
    // All lead bytes with all second bytes: 256 × 256, against the definition.
    for (uint32_t lead = 0; lead < 256; lead++) {
        for (uint32_t second = 0; second < 256; second++) {
            const uint8_t text[4] = {(uint8_t)lead, (uint8_t)second, 0x80, 0x80};
            const uint32_t low = second & 0x3f;
            size_t want = 0;
            if (lead < 0x80) {
                want = 1;
            } else if (second >= 0x80 && second <= 0xbf) {
                const uint32_t two = (lead & 0x1f) << 6 | low;
                const uint32_t three = (lead & 0x0f) << 12 | low << 6;
                const uint32_t four = (lead & 0x07) << 18 | low << 12;
                if (lead >= 0xc0 && lead <= 0xdf && two >= 0x80) {
                    want = 2;
                } else if (lead >= 0xe0 && lead <= 0xef && three >= 0x800 &&
                           (three < 0xd800 || three > 0xdfff)) {
                    want = 3;
                } else if (lead >= 0xf0 && lead <= 0xf7 && four >= 0x10000 && four <= 0x10ffff) {
                    want = 4;
                }
            }
            CHECK_INT(utf8_length(text, 4), want);
        }
    }
}

TEST(utf8_broken_text_is_refused)
{
    CHECK(utf8_is_valid("", 0));
    CHECK(utf8_is_valid("gr\xc3\xbc\xc3\x9f", 6));
    CHECK(!utf8_is_valid("gr\xc3", 3));
    CHECK(!utf8_is_valid("\x80", 1));
    CHECK(!utf8_is_valid("\xe2\x82", 2));
    CHECK(!utf8_is_valid("\xe2\x28\xa1", 3));
    CHECK(!utf8_is_valid("\xe2\x82\x28", 3));
    CHECK(!utf8_is_valid("\xf0\x9f\x98\x28", 4));
    CHECK(!utf8_is_valid("\xed\xa0\x80", 3));     // a surrogate
    CHECK(!utf8_is_valid("\xc0\xaf", 2));         // an overlong slash
    CHECK(!utf8_is_valid("\xf4\x90\x80\x80", 4)); // past the end
    CHECK(!utf8_is_valid("\xff", 1));
}

TEST(utf8_cut_keeps_whole_characters)
{
    const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t max = 0; max < sizeof want / sizeof want[0]; max++) {
        CHECK_INT(utf8_cut(text, strlen(text), max), want[max]);
    }
}

static void encode_surrogate(void *user)
{
    (void)utf8_encode(0xd800, user);
}

TEST(utf8_encoding_no_character_dies)
{
    uint8_t text[4];
    CHECK(test_dies(encode_surrogate, text));
}

TEST(utf8_what_nobody_sees_is_hidden)
{
    static const uint32_t hidden[] = {0,      '\t',   '\n',   0x1b,   0x7f,   0x9b,    0xad,
                                      0x61c,  0x180e, 0x200b, 0x200d, 0x200f, 0x202a,  0x202e,
                                      0x2060, 0x2066, 0x2069, 0x206f, 0xfeff, 0xe0041, 0x3164};
    static const uint32_t shown[] = {' ',    'a',    '~',    0xa0,   0xe9,   0x20ac, 0x2014,
                                     0x2027, 0x2030, 0x2070, 0x4e2d, 0xfe0f, 0xfffd, 0x1f600};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        CHECK(utf8_is_hidden(hidden[i]));
    }
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        CHECK(!utf8_is_hidden(shown[i]));
    }
    for (uint32_t code_point = 0x202a; code_point <= 0x10ffff; code_point += 97) {
        uint8_t text[4];
        if (code_point < 0xd800 || code_point > 0xdfff) {
            const size_t length = utf8_encode(code_point, text);
            CHECK_INT(utf8_code_point(text, length), code_point);
        }
    }
}
