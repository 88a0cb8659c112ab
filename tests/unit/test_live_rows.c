// Rows of which only the changes are told.
#include "server/serve/live/live_rows.h"

#include "core/base/limits.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

static char text[1 << 20];

static const char *told(const LiveRows *rows, uint64_t seen)
{
    ByteWriter writer = byte_writer(text, sizeof text - 1);
    live_rows_write(rows, seen, &writer);
    CHECK_INT(writer.status, STATUS_OK);
    text[writer.at] = '\0';
    return text;
}

static void put(LiveRows *rows, const char *key, const char *json)
{
    CHECK_INT(live_rows_put(rows, key, json, strlen(json)), STATUS_OK);
}

TEST(only_changes_are_told)
{
    LiveRows rows = {0};
    CHECK(!live_rows_has_news(&rows, 0)); // before the first look
    live_rows_begin(&rows);
    put(&rows, "b", "2");
    put(&rows, "a", "1");
    live_rows_end(&rows);
    CHECK(live_rows_has_news(&rows, 0));
    CHECK_TEXT(told(&rows, 0), "{\"full\":true,\"rows\":{\"a\":1,\"b\":2}}");
    const uint64_t first = rows.version;
    live_rows_begin(&rows);
    put(&rows, "a", "1");
    put(&rows, "b", "2");
    live_rows_end(&rows);
    CHECK(!live_rows_has_news(&rows, first));
    live_rows_begin(&rows);
    put(&rows, "a", "1");
    put(&rows, "c", "3");
    live_rows_end(&rows);
    CHECK_TEXT(told(&rows, first), "{\"full\":false,\"rows\":{\"b\":null,\"c\":3}}");
    CHECK_TEXT(told(&rows, 0), "{\"full\":true,\"rows\":{\"a\":1,\"c\":3}}");
    const uint64_t second = rows.version;
    live_rows_begin(&rows); // one that comes back is told
    put(&rows, "a", "1");
    put(&rows, "b", "2");
    put(&rows, "c", "3");
    live_rows_end(&rows);
    CHECK_TEXT(told(&rows, second), "{\"full\":false,\"rows\":{\"b\":2}}");
    live_rows_free(&rows);
}

// Rows that come and go for days take no more room than those that are there.
TEST(rows_that_are_gone_are_forgotten)
{
    LiveRows rows = {0};
    uint64_t seen = 0;
    for (int i = 0; i < 2000; i++) {
        char key[16];
        snprintf(key, sizeof key, "w%d", i);
        live_rows_begin(&rows);
        put(&rows, "stays", "1");
        put(&rows, key, "1");
        live_rows_end(&rows);
        CHECK(rows.count < 64);
        seen = i == 3 ? rows.version : seen;
    }
    // Who has missed what is forgotten is told everything.
    CHECK_TEXT(told(&rows, seen), "{\"full\":true,\"rows\":{\"stays\":1,\"w1999\":1}}");
    live_rows_free(&rows);
}

TEST(rows_are_bounded)
{
    LiveRows rows = {0};
    live_rows_begin(&rows);
    for (uint32_t i = 0; i < LIVE_ROWS_MAX; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", i);
        put(&rows, key, "1");
    }
    CHECK_INT(live_rows_put(&rows, "more", "1", 1), STATUS_LIMIT);
    put(&rows, "7", "2"); // one that is there still changes
    live_rows_end(&rows);
    CHECK_INT(rows.count, LIVE_ROWS_MAX);
    live_rows_free(&rows);
}
