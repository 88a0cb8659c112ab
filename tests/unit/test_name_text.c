// Names that may be shown, and those that may not.
#include "core/base/name_text.h"
#include "tests/support/test.h"

#include <string.h>

static bool valid(const char *text)
{
    return name_text_is_valid(text, strlen(text));
}

TEST(names_of_the_world_are_fine)
{
    static const char *const good[] = {
        "bo",
        "Player 7",
        "x",
        "Zoë",
        "Zoe\u0308", // the same with a combining mark
        "Nguyễn Thị Ánh",
        "Владимир",
        "محمد",
        "李小龍",
        "さくら",
        "नेहा",
        "😀 cat",
        "a-b_c.d!",
        "12345678901234567890123456789012",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (!valid(good[i])) {
            CHECK_TEXT(good[i], "a valid name");
        }
    }
}

TEST(names_that_hide_something_are_refused)
{
    static const char *const bad[] = {
        "",
        " ",
        " bo",
        "bo ",
        "b  o",
        "bo\u00a0x",
        "bo\u3000x",
        "bo\n",
        "b\to",
        "bo\x7f",
        "bo\xc2\x85",
        "bo\u200b", // zero width
        "bo\u200d",
        "bo\u2060",
        "bo\ufeff",
        "\u202eob", // bidirectional
        "\u2066bo\u2069",
        "bo\u200e",
        "bo\u061c",
        "bo\u00ad",
        "bo\u034f",
        "bo\u3164",
        "bo\u2800",
        "bo\ufe0f",
        "bo\u06dd",
        "bo\U000e0041", // a tag
        "bo\ue000",     // private
        "bo\U000f0000",
        "bo\ufdd0",
        "bo\U0001fffe",
        "bo\ufffd",
        "\u0301bo",
        "bo \u0301",
        "bo\u0301\u0302\u0303",
        "123456789012345678901234567890123",
        "\xff\xfe",
        "bo\xc3",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (valid(bad[i])) {
            CHECK_TEXT(bad[i], "a refused name");
        }
    }
    CHECK(!name_text_is_valid("a\0b", 3));
    char longest[NAME_TEXT_BYTES + 3];
    for (size_t i = 0; i < sizeof longest / 2; i++) {
        memcpy(longest + 2 * i, "é", 2);
    }
    CHECK(name_text_is_valid(longest, NAME_TEXT_BYTES));
    CHECK(!name_text_is_valid(longest, NAME_TEXT_BYTES + 2));
}
