// Differences of texts, compared with the output of diff -u, and random edits that are applied
// again.
#include "core/base/rng.h"
#include "server/build/soul/soul_diff.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *diff_of(const char *before, const char *after)
{
    const SoulDiffText a = {"a", before, strlen(before)}, b = {"b", after, strlen(after)};
    Buffer out = buffer_of(SOUL_DIFF_OUTPUT_MAX);
    CHECK_OK(soul_diff_write(&a, &b, &out));
    char *text = malloc(out.bytes + 1);
    if (text != NULL) {
        memcpy(text, out.data != NULL ? (const char *)out.data : "", out.bytes);
        text[out.bytes] = '\0';
    }
    buffer_free(&out);
    return text;
}

static void check_diff(const char *before, const char *after, const char *want)
{
    char *got = diff_of(before, after);
    CHECK_TEXT(got, want);
    free(got);
}

TEST(equal_texts_have_none)
{
    check_diff("", "", "");
    check_diff("a\nb\n", "a\nb\n", "");
    check_diff("a\r\nb", "a\nb\n", ""); // ends of lines do not count
}

TEST(as_diff_prints_it)
{
    check_diff("a\nb\nc\n", "a\nx\nc\n", "--- a\n+++ b\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
    check_diff("", "a\nb\n", "--- a\n+++ b\n@@ -0,0 +1,2 @@\n+a\n+b\n");
    check_diff("a\nb\n", "", "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-a\n-b\n");
    check_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n",
               "--- a\n+++ b\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+nine\n");
    // Two changes far apart are two hunks; near ones share one.
    check_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n",
               "--- a\n+++ b\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n"
               "@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+nine\n");
    check_diff("1\n2\n3\n4\n5\n6\n7\n", "one\n2\n3\n4\n5\n6\nseven\n",
               "--- a\n+++ b\n@@ -1,7 +1,7 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n-7\n+seven\n");
}

TEST(nothing_speaks_to_a_terminal)
{
    check_diff("", "\x1b[31mred\xc2\x9b\xe2\x80\xae\xff\tx\xc3\xbc",
               "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+?[31mred???\tx\xc3\xbc\n");
}

TEST(texts_that_have_nothing_in_common)
{
    Buffer before = buffer_of(1 << 20), after = buffer_of(1 << 20);
    for (uint32_t i = 0; i < 5000; i++) {
        buffer_print(&before, "before %u\n", i);
        buffer_print(&after, "after %u\n", i);
    }
    const SoulDiffText a = {"a", (const char *)before.data, before.bytes};
    const SoulDiffText b = {"b", (const char *)after.data, after.bytes};
    Buffer out = buffer_of(SOUL_DIFF_OUTPUT_MAX);
    CHECK_OK(soul_diff_write(&a, &b, &out));
    buffer_put_u8(&out, 0);
    CHECK(strstr((const char *)out.data, "@@ -1,5000 +1,5000 @@\n-before 0\n") != NULL);
    CHECK(strstr((const char *)out.data, "(and 6000 more lines)\n") != NULL);
    buffer_free(&out);
    buffer_free(&before);
    buffer_free(&after);
}

// Takes the diff (of short texts, so one that shows every line that changed) and makes the second
// text from the first.
static void patch(const char *before, const char *diff, Buffer *out)
{
    uint32_t line = 1;
    while (*diff != '\0') {
        const char *end = strchr(diff, '\n');
        unsigned from = 0, count = 0;
        if (strncmp(diff, "@@ -", 4) == 0) {
            REQUIRE(sscanf(diff, "@@ -%u,%u", &from, &count) == 2);
            from += count == 0;
            for (; line < from; line++) {
                const char *stop = strchr(before, '\n');
                buffer_put(out, before, (size_t)(stop + 1 - before));
                before = stop + 1;
            }
        } else if (strncmp(diff, "--- ", 4) != 0 && strncmp(diff, "+++ ", 4) != 0) {
            if (*diff != '-') {
                buffer_put(out, diff + 1, (size_t)(end - diff));
            }
            if (*diff != '+') {
                before = strchr(before, '\n') + 1;
                line += 1;
            }
        }
        diff = end + 1;
    }
    buffer_put(out, before, strlen(before));
}

TEST(a_diff_leads_from_one_to_the_other)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 300 && test_is_passing(); round++) {
        Buffer texts[2] = {buffer_of(4096), buffer_of(4096)};
        for (uint32_t t = 0; t < 2; t++) {
            const uint32_t lines = rng_below(&rng, 30);
            for (uint32_t i = 0; i < lines; i++) {
                buffer_print(&texts[t], "%c\n", (char)('a' + (int)rng_below(&rng, 5)));
            }
            buffer_put_u8(&texts[t], 0);
        }
        char *diff = diff_of((const char *)texts[0].data, (const char *)texts[1].data);
        Buffer made = buffer_of(8192);
        patch((const char *)texts[0].data, diff, &made);
        buffer_put_u8(&made, 0);
        CHECK_TEXT((const char *)made.data, (const char *)texts[1].data);
        free(diff);
        buffer_free(&made);
        buffer_free(&texts[0]);
        buffer_free(&texts[1]);
    }
}

TEST(nothing_in_it_speaks_to_a_terminal)
{
    char *diff = diff_of("", "a\t\x1b[2Jb\r\n\xff\xe2\x80\xae\n");
    CHECK(strstr(diff, "+a\t?[2Jb\n+??\n") != NULL);
    free(diff);
}

TEST(a_difference_that_does_not_fit)
{
    const SoulDiffText before = {"a", "", 0}, after = {"b", "print(1)\n", 9};
    Buffer out = buffer_of(3);
    CHECK_INT(soul_diff_write(&before, &after, &out), STATUS_LIMIT);
    buffer_free(&out);
}
