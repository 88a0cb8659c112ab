// Text printed for people never contains control characters for the terminal, whatever a stranger
// wrote.
#define _GNU_SOURCE
#include "core/base/utf8.h"
#include "server/build/base/diagnostic.h"
#include "server/build/typescript/typescript_frame.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_clean(const char *text, const char *expected)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%s", text);
    utf8_clean(copy);
    CHECK_TEXT(copy, expected);
}

TEST(what_speaks_to_a_terminal_becomes_visible)
{
    check_clean("", "");
    check_clean("gr\xc3\xbc\xc3\x9f \xe2\x80\x94 \xf0\x9f\x98\x80",
                "gr\xc3\xbc\xc3\x9f \xe2\x80\x94 \xf0\x9f\x98\x80");
    check_clean("\x1b]0;title\x07x", "?]0;title?x");
    check_clean("a\nb\tc\rd", "a b c?d");
    check_clean("\xc2\x9b"
                "31m\x7f",
                "?31m?");
    check_clean("\xe2\x80\xae"
                "abc\xe2\x80\x8b",
                "?abc?");
    check_clean("\x9b\xff"
                "a\xc3",
                "??a?"); // not UTF-8: an old terminal would take 9B for CSI
}

TEST(a_line_is_cleaned_as_a_whole)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(out != NULL);
    diagnostic_print(out, "%s: %s", "\x1b[2J", "no\nluck \xc2\x9b");
    static char long_text[20000];
    memset(long_text, 'x', sizeof long_text - 1);
    diagnostic_print(out, "%s", long_text);
    CHECK_INT(fclose(out), 0);
    const char *second = strchr(text, '\n');
    CHECK(second != NULL && strncmp(text, "?[2J: no luck ?\n", 16) == 0);
    CHECK(strlen(second) < sizeof long_text && text[bytes - 1] == '\n');
    free(text);
}

TEST(a_name_that_is_too_long_is_seen_to_be_cut)
{
    DiagnosticList list = {0};
    char name[DIAGNOSTIC_FILE_BYTES + 8];
    for (size_t bytes = DIAGNOSTIC_FILE_BYTES - 2; bytes < sizeof name; bytes++) {
        memset(name, 'x', bytes);
        name[bytes] = '\0';
        diagnostic_addf(&list, DIAGNOSTIC_ERROR, name, 0, 0, "", "no");
        const char *file = list.items[list.count - 1].file;
        const bool fits = bytes < DIAGNOSTIC_FILE_BYTES;
        CHECK((strcmp(file, name) == 0) == fits);
        CHECK((strstr(file, "…") == NULL) == fits);
        CHECK(strlen(file) < DIAGNOSTIC_FILE_BYTES);
    }
    for (size_t i = 0; i + 2 < sizeof name; i += 2) { // never in the middle of a character
        memcpy(name + i, "é", 3);
    }
    diagnostic_addf(&list, DIAGNOSTIC_ERROR, name, 0, 0, "", "no");
    const char *file = list.items[list.count - 1].file;
    CHECK(utf8_is_valid(file, strlen(file)) && strstr(file, "…") != NULL);
    diagnostic_list_free(&list);
}

TEST(a_compilers_words_have_no_controls)
{
    static const uint8_t said[] = "a\x1b[31m\xc2\x9b"
                                  "31m\xff\n\xc3\xa9";
    char out[64];
    typescript_plain_text(said, sizeof said - 1, out, sizeof out);
    CHECK(!utf8_has_control(out, strlen(out)) && utf8_is_valid(out, strlen(out)));
    CHECK_TEXT(out, "a [31m 31m  \xc3\xa9");
}

TEST(a_workers_diagnostics_have_no_controls)
{
    DiagnosticList list = {0}, read = {0};
    diagnostic_addf(&list, DIAGNOSTIC_ERROR, "a\xc2\x9b.lua", 1, 2, "x\x1b", "\xc2\x80z\x7f\xe9");
    Buffer bytes = buffer_of(4096);
    diagnostic_list_write(&list, &bytes);
    size_t used = 0;
    CHECK_OK(diagnostic_list_read(bytes.data, bytes.bytes, &used, &read));
    CHECK_INT(read.count, 1);
    CHECK_TEXT(read.items[0].file, "a  .lua");
    CHECK_TEXT(read.items[0].code, "x ");
    CHECK_TEXT(read.items[0].message, "  z ?");
    diagnostic_list_free(&list);
    diagnostic_list_free(&read);
    buffer_free(&bytes);
}
