// The log of an edit session in the store: rows that follow each other, checkpoints of which two
// stay, and sessions that fence each other.
#define _GNU_SOURCE
#include "server/store/place/store_edit.h"

#include "server/store/place/store_upload.h"
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

// --- uploads ------------------------------------------------------------------------------------

#define DAY_MS 86400000ull
#define ROOM   (1u << 20)

static const uint8_t named[32] = {1, 2}, unnamed[32] = {2, 3}, in_checkpoint[32] = {3, 4},
                     undated[32] = {4, 5}; // by a program that noted no day

static bool has(StoreFixture *fixture, const uint8_t hash[32])
{
    return store_edit_has_blob(fixture->store, PLACE, hash);
}

static Status put(StoreFixture *fixture, const uint8_t hash[32], uint64_t day)
{
    return store_upload_put(fixture->store, PLACE, hash, 10, day * DAY_MS + 5, ROOM);
}

// How many end on that day; UINT32_MAX: no package is to be looked at.
static uint32_t sweep(StoreFixture *fixture, uint64_t day)
{
    char place[65] = "";
    uint32_t removed = 0;
    const Status status = store_upload_next(fixture->store, "", day * DAY_MS, place);
    if (status != STATUS_OK) {
        CHECK_INT(status, STATUS_NOT_FOUND);
        return UINT32_MAX;
    }
    CHECK_TEXT(place, PLACE);
    CHECK_OK(store_upload_sweep(fixture->store, PLACE, day * DAY_MS, &removed));
    return removed;
}

static bool begin_with_place(StoreFixture *fixture)
{
    StorePackage package = {.package_id = PLACE, .kind = STORE_PLACE, .owner_id = 7};
    if (!fixture_begin(fixture)) {
        return false;
    }
    CHECK_OK(store_package_make(fixture->store, &package, 9));
    return true;
}

static void begin_uploads(StoreFixture *fixture, StoreEditHead *head)
{
    uint8_t told[40] = "op ", document[40] = "doc";
    memcpy(told + 3, named, sizeof named);
    memcpy(document + 7, in_checkpoint, sizeof in_checkpoint);
    CHECK_OK(store_edit_take(fixture->store, PLACE, 5000, head));
    head->log = head->epoch;
    CHECK_OK(store_edit_begin(fixture->store, PLACE, head, document, sizeof document));
    const StoreEditRow row = {.seq = 1, .told = told, .bytes = sizeof told};
    CHECK_OK(store_edit_commit(fixture->store, PLACE, head->epoch, &row, 1));
}

TEST(uploads_that_no_log_names_end_after_a_while)
{
    StoreFixture fixture;
    StoreEditHead head;
    REQUIRE(begin_with_place(&fixture));
    begin_uploads(&fixture, &head);
    CHECK_OK(put(&fixture, named, 100));
    CHECK_OK(put(&fixture, unnamed, 100));
    CHECK_OK(put(&fixture, in_checkpoint, 100));
    CHECK_INT(sweep(&fixture, 100 + UPLOAD_KEPT_DAYS), UINT32_MAX); // a page may still name them
    CHECK_INT(sweep(&fixture, 101 + UPLOAD_KEPT_DAYS), 1);
    CHECK(has(&fixture, named) && has(&fixture, in_checkpoint) && !has(&fixture, unnamed));
    CHECK_INT(sweep(&fixture, 101 + UPLOAD_KEPT_DAYS), UINT32_MAX); // not again every hour
    // Uploaded again, it counts from then on, and once.
    CHECK_OK(put(&fixture, unnamed, 200));
    CHECK_OK(put(&fixture, unnamed, 205));
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM blob_uses WHERE purpose = 12"), 3);
    CHECK_INT(sweep(&fixture, 205 + UPLOAD_KEPT_DAYS), 0);
    CHECK(has(&fixture, unnamed));
    // What the log stops naming ends like the others.
    CHECK_OK(store_edit_checkpoint(fixture.store, PLACE, head.epoch, 1, "empty", 5));
    CHECK_OK(store_edit_checkpoint(fixture.store, PLACE, head.epoch, 1, "empty", 5));
    CHECK_INT(sweep(&fixture, 300), 3);
    CHECK(!has(&fixture, named) && !has(&fixture, in_checkpoint) && !has(&fixture, unnamed));
    fixture_end(&fixture);
}

TEST(uploads_without_a_day_get_one_and_a_damaged_log_may_name_all)
{
    StoreFixture fixture;
    StoreEditHead head;
    uint32_t removed = 9;
    REQUIRE(begin_with_place(&fixture));
    CHECK_OK(store_blob_use(fixture.store, undated, PLACE, STORE_BLOB_EDIT, 0, 10));
    CHECK_INT(sweep(&fixture, 100), 0);
    CHECK(has(&fixture, undated));
    CHECK_INT(sweep(&fixture, 100 + UPLOAD_KEPT_DAYS), UINT32_MAX);
    begin_uploads(&fixture, &head);
    CHECK(fixture_sql(&fixture, "UPDATE edit_rows SET told = x'00'"));
    CHECK_INT(store_upload_sweep(fixture.store, PLACE, 200 * DAY_MS, &removed), STATUS_MALFORMED);
    CHECK(removed == 0 && has(&fixture, undated));
    CHECK_OK(store_edit_forget(fixture.store, PLACE));
    CHECK_INT(sweep(&fixture, 200), 1);
    CHECK_OK(put(&fixture, undated, 200));
    CHECK_INT(store_upload_put(fixture.store, "no place", undated, 1, 1, ROOM), STATUS_MALFORMED);
    fixture_end(&fixture);
}

// Whoever asked whether there is room asked before: the row is what counts.
TEST(an_upload_that_does_not_fit_changes_nothing)
{
    StoreFixture fixture;
    uint64_t used = 0, now = 0;
    REQUIRE(begin_with_place(&fixture));
    CHECK_OK(put(&fixture, named, 100));
    CHECK_OK(store_account_bytes(fixture.store, 7, &used));
    const uint64_t enough = used + 20 + ROW_CHARGE_BYTES;
    CHECK_INT(store_upload_put(fixture.store, PLACE, unnamed, 20, DAY_MS, enough - 1),
              STATUS_LIMIT);
    CHECK_OK(store_account_bytes(fixture.store, 7, &now));
    CHECK(now == used && !has(&fixture, unnamed));
    CHECK_OK(store_upload_put(fixture.store, PLACE, unnamed, 20, DAY_MS, enough));
    // Nothing more than there is already.
    CHECK_OK(store_upload_put(fixture.store, PLACE, unnamed, 20, 2 * DAY_MS, enough));
    CHECK_OK(store_account_bytes(fixture.store, 7, &now));
    CHECK_INT(now, enough);
    fixture_end(&fixture);
}
