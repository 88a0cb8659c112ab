// Log events: what reaches the sink, how long text is cut off, what is counted.
#include "core/base/log.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

typedef struct Seen {
    uint32_t count;
    LogEvent last;
} Seen;

static void keep(void *user, const LogEvent *event)
{
    Seen *seen = user;
    seen->count += 1;
    seen->last = *event;
}

TEST(log_event_carries_what_was_given)
{
    Seen seen = {0};
    LogSink sink = {.write = keep, .user = &seen};
    log_write(&sink, 77, LOG_WARN, "sim", "%d of %s", 3, "five");
    CHECK_INT(seen.count, 1);
    CHECK_INT(seen.last.tick, 77);
    CHECK_INT(seen.last.level, LOG_WARN);
    CHECK_TEXT(seen.last.area, "sim");
    CHECK_TEXT(seen.last.text, "3 of five");
    CHECK_INT(sink.written_count[LOG_WARN], 1);
    CHECK_INT(sink.written_count[LOG_ERROR], 0);
}

TEST(log_below_the_minimum_is_not_written_or_counted)
{
    Seen seen = {0};
    LogSink sink = {.write = keep, .user = &seen, .level_min = LOG_WARN};
    log_write(&sink, 1, LOG_INFO, "sim", "quiet");
    log_write(&sink, 1, LOG_WARN, "sim", "loud");
    log_write(&sink, 1, LOG_ERROR, "sim", "louder");
    CHECK_INT(seen.count, 2);
    CHECK_INT(sink.written_count[LOG_INFO], 0);
    CHECK_INT(sink.written_count[LOG_WARN], 1);
    CHECK_INT(sink.written_count[LOG_ERROR], 1);
}

TEST(log_without_a_writer_is_dropped_and_counted)
{
    LogSink sink = {0};
    log_write(&sink, 1, LOG_ERROR, "sim", "nobody hears");
    CHECK_INT(sink.written_count[LOG_ERROR], 1);
}

TEST(log_text_is_cut_between_characters)
{
    static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t c = 0; c < sizeof characters / sizeof characters[0]; c++) {
        const size_t width = strlen(characters[c]);
        for (size_t lead = 0; lead < 6; lead++) {
            char text[600];
            size_t at = 0;
            for (; at < lead; at++) {
                text[at] = '.';
            }
            while (at + width < sizeof text) {
                memcpy(text + at, characters[c], width);
                at += width;
            }
            text[at] = '\0';
            Seen seen = {0};
            LogSink sink = {.write = keep, .user = &seen};
            log_write(&sink, 1, LOG_INFO, "test", "%s", text);
            const size_t want = lead + (LOG_TEXT_BYTES - 1 - lead) / width * width;
            CHECK_INT(strlen(seen.last.text), want);
            CHECK(memcmp(seen.last.text, text, want) == 0);
        }
    }
}

TEST(log_text_that_just_fits_is_whole)
{
    char text[LOG_TEXT_BYTES + 1];
    memset(text, 'x', sizeof text);
    // Ends in a whole character of two bytes, at the very end.
    memcpy(text + LOG_TEXT_BYTES - 3, "\xc3\xa9", 3);
    Seen seen = {0};
    LogSink sink = {.write = keep, .user = &seen};
    log_write(&sink, 1, LOG_INFO, "test", "%s", text);
    CHECK_TEXT(seen.last.text, text);
    // Text that is no UTF-8 at all is cut somewhere, and safely.
    memset(text, 0x80, LOG_TEXT_BYTES);
    text[LOG_TEXT_BYTES] = '\0';
    log_write(&sink, 1, LOG_INFO, "test", "%s", text);
    CHECK(strlen(seen.last.text) >= LOG_TEXT_BYTES - 4);
}

TEST(log_levels_have_names)
{
    CHECK_TEXT(log_level_name(LOG_DEBUG), "debug");
    CHECK_TEXT(log_level_name(LOG_ERROR), "error");
    CHECK_TEXT(log_level_name(LOG_LEVEL_COUNT), "?");
}

static void write_bad_level(void *user)
{
    log_write(user, 1, LOG_LEVEL_COUNT, "test", "x");
}

TEST(log_with_no_such_level_dies)
{
    LogSink sink = {0};
    CHECK(test_dies(write_bad_level, &sink));
}

TEST(log_text_is_valid_whatever_it_quotes)
{
    Seen seen = {0};
    LogSink sink = {.write = keep, .user = &seen};
    log_write(&sink, 1, LOG_INFO, "script", "%s", "a\xff\xc3z");
    CHECK_TEXT(seen.last.text, "a??z");
}
