// Whether files are valid text.
#include "server/build/place/place_text.h"
#include "tests/support/test.h"

#include <string.h>

TEST(what_is_a_text)
{
    static const struct {
        const char *bytes;
        size_t count;
        TextProblem want;
        uint32_t line;
    } cases[] = {
        {"", 0, TEXT_GOOD, 1},
        {"a\tb\r\n\f", 6, TEXT_GOOD, 2},
        {"\xef\xbb\xbfprint(1)", 11, TEXT_GOOD, 1}, // a mark of its order
        {"-- Stra\xc3\x9f"
         "e\n",
         11, TEXT_GOOD, 2},
        {"-- a\n-- Stra\xdf"
         "e\n",
         15, TEXT_NO_UTF8, 2},                  // Latin-1
        {"\xff\xfe-\0-\0", 6, TEXT_NO_UTF8, 1}, // UTF-16
        {"/\0/\0\n\0", 6, TEXT_NO_UTF8, 1},     // and without its mark
        {"\xed\xa0\x80", 3, TEXT_NO_UTF8, 1},   // half a pair
        {"\xc0\xaf", 2, TEXT_NO_UTF8, 1},       // too long
        {"a\xe2\x82", 3, TEXT_NO_UTF8, 1},      // cut off
        {"\x1bLua", 4, TEXT_CONTROL, 1},        // bytecode
        {"a\n\nb\001", 5, TEXT_CONTROL, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t line = 0;
        const TextProblem found =
            text_problem((const uint8_t *)cases[i].bytes, cases[i].count, &line);
        if (found != cases[i].want || line != cases[i].line) {
            test_fail(__FILE__, __LINE__, "case %zu: %d in line %u", i, (int)found, line);
        }
    }
}

static PlaceFile file_of(const char *path, const char *text)
{
    return (PlaceFile){.path = path, .data = (const uint8_t *)text, .bytes = strlen(text)};
}

TEST(the_texts_of_a_folder)
{
    PlaceFile files[] = {file_of("Workspace/A.lua", "print(1)"),
                         file_of("Workspace/B.lua", "a\n\xff"),
                         file_of("chunks/0.chunk", "\xff\x01"), // not a text
                         file_of("place.json", "{\x01}")};
    const PlaceFolder folder = {.files = files, .file_count = 4};
    DiagnosticList list = {0};
    CHECK_INT(place_text_check(&folder, &list), 2);
    REQUIRE(list.count == 2 && list.error_count == 2);
    CHECK_TEXT(list.items[0].file, "Workspace/B.lua");
    CHECK_INT(list.items[0].line, 2);
    CHECK_TEXT(list.items[0].message, "is no UTF-8; save it as UTF-8");
    CHECK_TEXT(list.items[1].file, "place.json");
    CHECK_TEXT(list.items[1].message, "a text has no control characters");
    diagnostic_list_free(&list);
}
