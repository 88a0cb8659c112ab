// The log of an edit session in the store: rows that follow each other, checkpoints of which two
// stay, and sessions that fence each other.
#define _GNU_SOURCE
#include "server/store/place/store_edit.h"

#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <string.h>

#define PLACE "place_a"

typedef struct Loaded {
    uint64_t checkpoint, newest;
    char document[32];
    uint64_t first, last;
    uint32_t count;
} Loaded;

static void on_checkpoint(void *user, uint64_t seq, uint64_t newest, const uint8_t *document,
                          size_t bytes)
{
    Loaded *loaded = user;
    loaded->checkpoint = seq;
    loaded->newest = newest;
    memcpy(loaded->document, document, bytes < 31 ? bytes : 31);
}

static void on_row(void *user, const StoreEditRow *row)
{
    Loaded *loaded = user;
    loaded->first = loaded->count == 0 ? row->seq : loaded->first;
    loaded->last = row->seq;
    loaded->count += 1;
    CHECK(row->bytes == 4 && memcmp(row->told, "told", 4) == 0);
}

static Status load(StoreFixture *fixture, Loaded *out)
{
    *out = (Loaded){0};
    const StoreEditLoad face = {.user = out, .checkpoint = on_checkpoint, .row = on_row};
    return store_edit_load(fixture->store, PLACE, &face);
}

static Status commit(StoreFixture *fixture, uint64_t epoch, uint64_t seq, uint32_t count)
{
    StoreEditRow rows[8];
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (StoreEditRow){.seq = seq + i,
                                 .editor = 3,
                                 .maker_id = 7,
                                 .unix_ms = 1000 + seq + i,
                                 .label = "Move",
                                 .told = (const uint8_t *)"told",
                                 .bytes = 4};
    }
    return store_edit_commit(fixture->store, PLACE, epoch, rows, count);
}

static void begin_log(StoreFixture *fixture, StoreEditHead *head)
{
    CHECK_OK(store_edit_take(fixture->store, PLACE, 5000, head));
    CHECK_INT(head->log, 0);
    head->log = head->epoch;
    CHECK_OK(store_edit_begin(fixture->store, PLACE, head, "zero", 4));
}

TEST(rows_follow_each_other_and_survive)
{
    StoreFixture fixture;
    StoreEditHead head;
    Loaded loaded;
    StoreEditRow rows[4];
    uint32_t count = 0;
    REQUIRE(fixture_begin(&fixture));
    CHECK_INT(load(&fixture, &loaded), STATUS_NOT_FOUND);
    begin_log(&fixture, &head);
    CHECK_OK(commit(&fixture, head.epoch, 1, 3));
    CHECK_INT(commit(&fixture, head.epoch, 3, 1), STATUS_MISMATCH);
    CHECK_INT(commit(&fixture, head.epoch, 5, 1), STATUS_MISMATCH);
    CHECK_OK(commit(&fixture, head.epoch, 4, 1));
    const uint8_t one[32] = {1}, two[32] = {2};
    CHECK_OK(store_edit_written(fixture.store, PLACE, head.epoch, 3, one, two));
    fixture_close(&fixture);
    CHECK_OK(fixture_open(&fixture));
    CHECK_OK(load(&fixture, &loaded));
    CHECK(loaded.checkpoint == 0 && loaded.first == 1 && loaded.last == 4);
    CHECK_TEXT(loaded.document, "zero");
    CHECK_OK(store_edit_rows(fixture.store, PLACE, 1, rows, 2, &count));
    CHECK(count == 2 && rows[0].seq == 2 && rows[1].editor == 3 && rows[1].maker_id == 7);
    CHECK_TEXT(rows[0].label, "Move");
    CHECK(rows[0].told == NULL && rows[0].begin_bytes == rows[0].bytes);
    fixture_end(&fixture);
}

TEST(a_later_session_fences_the_one_before)
{
    StoreFixture fixture;
    StoreEditHead first, second;
    const uint8_t none[32] = {0};
    REQUIRE(fixture_begin(&fixture));
    begin_log(&fixture, &first);
    CHECK_OK(commit(&fixture, first.epoch, 1, 1));
    CHECK_OK(store_edit_take(fixture.store, PLACE, 1, &second));
    CHECK(second.epoch == first.epoch + 1 && second.log == first.log && second.seq == 1);
    CHECK_INT(commit(&fixture, first.epoch, 2, 1), STATUS_DENIED);
    CHECK_INT(store_edit_checkpoint(fixture.store, PLACE, first.epoch, 1, "x", 1), STATUS_DENIED);
    CHECK_INT(store_edit_written(fixture.store, PLACE, first.epoch, 1, none, none), STATUS_DENIED);
    CHECK_INT(store_edit_begin(fixture.store, PLACE, &first, "x", 1), STATUS_DENIED);
    CHECK_OK(commit(&fixture, second.epoch, 2, 1));
    fixture_end(&fixture);
}

TEST(two_checkpoints_stay_and_the_rows_after_the_older)
{
    StoreFixture fixture;
    StoreEditHead head;
    Loaded loaded;
    REQUIRE(fixture_begin(&fixture));
    begin_log(&fixture, &head);
    CHECK_OK(commit(&fixture, head.epoch, 1, 4));
    CHECK_INT(store_edit_checkpoint(fixture.store, PLACE, head.epoch, 3, "x", 1), STATUS_MISMATCH);
    CHECK_OK(store_edit_checkpoint(fixture.store, PLACE, head.epoch, 4, "four", 4));
    CHECK_OK(load(&fixture, &loaded)); // still from the first
    CHECK(loaded.checkpoint == 0 && loaded.count == 4);
    CHECK_OK(commit(&fixture, head.epoch, 5, 2));
    CHECK_OK(store_edit_checkpoint(fixture.store, PLACE, head.epoch, 6, "six", 3));
    CHECK_OK(commit(&fixture, head.epoch, 7, 1));
    CHECK_OK(load(&fixture, &loaded));
    CHECK(loaded.checkpoint == 4 && loaded.newest == 6);
    CHECK(loaded.first == 5 && loaded.last == 7);
    CHECK_TEXT(loaded.document, "four");
    CHECK_INT(
        fixture_number(&fixture, "SELECT count(*) FROM edit_rows WHERE length(package_id) > 0"), 3);
    fixture_end(&fixture);
}

static void note_id(void *user, const char *package_id)
{
    snprintf(user, 65, "%s", package_id);
}

TEST(what_is_not_written_is_found_and_damage_is_noticed)
{
    StoreFixture fixture;
    StoreEditHead head;
    Loaded loaded;
    const uint8_t none[32] = {0};
    char found[65] = "";
    REQUIRE(fixture_begin(&fixture));
    begin_log(&fixture, &head);
    CHECK_OK(store_edit_unwritten(fixture.store, note_id, found));
    CHECK_TEXT(found, "");
    CHECK_OK(commit(&fixture, head.epoch, 1, 2));
    CHECK_OK(store_edit_unwritten(fixture.store, note_id, found));
    CHECK_TEXT(found, PLACE);
    found[0] = '\0';
    CHECK_OK(store_edit_written(fixture.store, PLACE, head.epoch, 2, none, none));
    CHECK_OK(store_edit_unwritten(fixture.store, note_id, found));
    CHECK_TEXT(found, "");
    CHECK(fixture_sql(&fixture, "UPDATE edit_rows SET told = x'00' WHERE seq = 2"));
    CHECK_INT(load(&fixture, &loaded), STATUS_MALFORMED);
    CHECK(fixture_sql(&fixture, "DELETE FROM edit_rows WHERE seq = 1"));
    CHECK_INT(load(&fixture, &loaded), STATUS_MALFORMED);
    CHECK_INT(store_edit_take(fixture.store, "no place", 1, &head), STATUS_MALFORMED);
    fixture_end(&fixture);
}
