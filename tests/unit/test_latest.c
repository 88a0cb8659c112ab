#include "tests/support/test.h"
#include "core/script/bridge/latest.h"

#include <stdio.h>
#include <string.h>

static Latest latest;

static LatestResult put(const char *name, const char *payload)
{
    const LatestMessage message = {.name = text_from(name),
                                   .payload = (const uint8_t *)payload,
                                   .payload_bytes = (uint32_t)strlen(payload),
                                   .maker = 7};
    return latest_put(&latest, &message);
}

static void check_next(const char *name, const char *payload)
{
    LatestMessage first;
    REQUIRE(latest_first(&latest, &first));
    CHECK(text_equal(first.name, text_from(name)));
    CHECK_INT(first.payload_bytes, strlen(payload));
    CHECK_BYTES(first.payload, payload, first.payload_bytes);
    CHECK_INT(first.maker, 7);
    CHECK(latest_remove(&latest, text_from(name)));
}

TEST(the_newest_of_each_name)
{
    latest_clear(&latest);
    CHECK_INT(put("aim", "1"), LATEST_KEPT);
    CHECK_INT(put("look", "22"), LATEST_KEPT);
    CHECK_INT(put("ai", ""), LATEST_KEPT); // a beginning is another name
    CHECK_INT(put("aim", "333"), LATEST_REPLACED);
    CHECK_INT(put("look", "4"), LATEST_REPLACED);
    CHECK_INT(latest.count, 3);
    CHECK(!latest_remove(&latest, text_from("never")));
    check_next("ai", "");
    check_next("aim", "333");
    check_next("look", "4");
    LatestMessage none;
    CHECK(!latest_first(&latest, &none));
    CHECK_INT(latest.used, 0);
}

TEST(names_and_bytes_are_bounded)
{
    static char large[REMOTE_LATEST_BYTES + 1];
    memset(large, 'x', REMOTE_LATEST_BYTES);
    latest_clear(&latest);
    CHECK_INT(put("large", large), LATEST_NO_ROOM);
    char name[16];
    for (uint32_t i = 0; i < 2 * REMOTE_LATEST_NAMES; i++) {
        snprintf(name, sizeof name, "n%u", i);
        CHECK_INT(put(name, "x"), i < REMOTE_LATEST_NAMES ? LATEST_KEPT : LATEST_NO_ROOM);
    }
    CHECK_INT(put("n3", large), LATEST_NO_ROOM); // the older one stays
    CHECK_INT(latest.count, REMOTE_LATEST_NAMES);
    CHECK_INT(put("n3", "y"), LATEST_REPLACED);
    large[REMOTE_LATEST_BYTES / 2] = 0;
    CHECK_INT(put("n4", large), LATEST_REPLACED);
    CHECK_INT(put("n5", large), LATEST_NO_ROOM);
    CHECK_INT(put("n4", "small again"), LATEST_REPLACED);
    CHECK_INT(put("n5", large), LATEST_REPLACED);
    CHECK(latest.used <= REMOTE_LATEST_BYTES);
}
