// Texts: what is one, and what is made of bytes that are none.
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "tests/support/test.h"

#include <string.h>

TEST(a_text_is_utf8_without_a_zero_byte)
{
    CHECK(text_is_valid(NULL, 0));
    CHECK(text_is_valid("", 0));
    CHECK(text_is_valid("gr\xc3\xbc\xc3\x9f\n\x1b", 8));
    CHECK(!text_is_valid("a\0b", 3));
    CHECK(!text_is_valid("\0", 1));
    CHECK(!text_is_valid("gr\xc3", 3));
    CHECK(!text_is_valid("\xc0\x80", 2)); // zero in two bytes
    CHECK(!text_is_valid("\xed\xa0\x80", 3));
    CHECK_TEXT(text_error("a\0\xff", 3), "must not contain a zero byte");
    CHECK_TEXT(text_error("a\xff", 2), "must be valid UTF-8");
    CHECK(text_error("a", 1) == NULL);
}

typedef struct CleanCase {
    const char *from;
    size_t bytes;
    const char *want;
} CleanCase;

TEST(chat_becomes_one_clean_line)
{
    static const CleanCase cases[] = {
        {"hello", 5, "hello"},
        {"  two  words ", 13, "two  words"},
        {"a\0b", 3, "ab"},
        {"\0\1\x1b\x7f", 4, ""},
        {"", 0, ""},
        {"one\r\ntwo\tthree\n", 15, "one  two three"},
        {"\xc2\x85x\xc2\x9b\xc2\xa0", 7, "x\xc2\xa0"},
        // Controls that turn the order of letters around, and spaces of no width; joiners stay.
        {"\xe2\x80\xae x\xe2\x80\x8b\xc2\xad \xe2\x81\xa6", 14, "x"},
        {"\xd9\x85\xe2\x80\x8c\xd9\x86", 7, "\xd9\x85\xe2\x80\x8c\xd9\x86"},
        {"\xff\xc3z\xe2\x82", 5, "??z??"},
        {"\xf0\x9f\x98\x80 \xe2\x82\xac", 8, "\xf0\x9f\x98\x80 \xe2\x82\xac"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[64] = {0};
        const size_t bytes = text_clean(cases[i].from, cases[i].bytes, out, sizeof out - 1);
        CHECK_INT(bytes, strlen(cases[i].want));
        out[bytes] = 0;
        CHECK_TEXT(out, cases[i].want);
    }
}

TEST(chat_is_cut_between_characters)
{
    const char *text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (size_t capacity = 0; capacity < sizeof want / sizeof want[0]; capacity++) {
        char out[16];
        CHECK_INT(text_clean(text, strlen(text), out, capacity), want[capacity]);
    }
}

TEST(a_repaired_text_is_valid_and_as_long)
{
    char text[] = "a\0b\xff\xc3\xa9\xe2\x82\n";
    text_repair(text, sizeof text - 1);
    CHECK_TEXT(text, "a?b?\xc3\xa9??\n");
}

TEST(any_bytes_become_texts)
{
    Rng rng = rng_make(12, 1);
    for (uint32_t round = 0; round < 20000; round++) {
        char bytes[24];
        char out[16];
        const size_t count = rng_u64(&rng) % sizeof bytes;
        for (size_t i = 0; i < count; i++) {
            // Few values, so that characters of several bytes come up.
            static const uint8_t values[] = {0,    'a',  ' ',  '\n', 0x1b, 0x80, 0x9f, 0xa0,
                                             0xc2, 0xc3, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0xff};
            bytes[i] = (char)values[rng_u64(&rng) % sizeof values];
        }
        const size_t capacity = rng_u64(&rng) % (sizeof out + 1);
        const size_t cleaned = text_clean(bytes, count, out, capacity);
        CHECK(cleaned <= capacity && text_is_valid(out, cleaned));
        CHECK(!utf8_has_control(out, cleaned));
        CHECK(cleaned == 0 || (out[0] != ' ' && out[cleaned - 1] != ' '));
        const bool was_valid = text_is_valid(bytes, count);
        char repaired[sizeof bytes];
        memcpy(repaired, bytes, sizeof repaired);
        text_repair(repaired, count);
        CHECK(text_is_valid(repaired, count));
        CHECK(!was_valid || memcmp(repaired, bytes, count) == 0);
    }
}
