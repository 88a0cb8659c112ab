// Drafts: files that are replaced only by who knew them, their history, and what somebody changes
// in the folder by other means.
#define _GNU_SOURCE
#include "server/draft/draft.h"

#include "server/store/place/store_upload.h"
#include "server/sys/file.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM (1u << 20)

typedef struct DraftFixture {
    StoreFixture store;
    BlobStore *blobs;
    Drafts *drafts;
    char folder[64]; // the data folder
    char reason[WORKER_REASON_BYTES];
    StoreDraftFile now;
} DraftFixture;

static Status fill(void *user, const char *folder, char reason[WORKER_REASON_BYTES])
{
    char path[4200];
    (void)user, (void)reason;
    snprintf(path, sizeof path, "%s/place.json", folder);
    const Status status = file_make_folders(folder);
    return status == STATUS_OK ? file_write_shared(path, "{}", 2) : status;
}

static bool draft_begin(DraftFixture *fixture)
{
    StorePackage package = {.package_id = "obby", .kind = STORE_PLACE, .owner_id = 7};
    memset(fixture, 0, sizeof *fixture);
    snprintf(fixture->folder, sizeof fixture->folder, "/tmp/test_draft_XXXXXX");
    if (!(fixture_begin(&fixture->store))) {
        return false;
    }
    if (!(mkdtemp(fixture->folder) != NULL)) {
        return false;
    }
    CHECK_OK(store_package_make(fixture->store.store, &package, 9));
    CHECK_OK(blob_open(fixture->folder, &fixture->blobs));
    CHECK_OK(
        drafts_open(fixture->folder, fixture->store.store, fixture->blobs, ROOM, &fixture->drafts));
    CHECK_OK(draft_make(fixture->drafts, "obby", 7, fill, NULL, fixture->reason));
    return true;
}

static void draft_end(DraftFixture *fixture)
{
    char command[128];
    drafts_close(fixture->drafts);
    blob_close(fixture->blobs);
    snprintf(command, sizeof command, "rm -rf '%s'", fixture->folder);
    CHECK_INT(system(command), 0);
    fixture_end(&fixture->store);
}

static Status put(DraftFixture *fixture, const char *path, const char *text, const uint8_t *known)
{
    const DraftWrite write = {.place_id = "obby",
                              .path = path,
                              .data = text,
                              .bytes = strlen(text),
                              .known = known,
                              .maker = 8};
    return draft_write(fixture->drafts, &write, &fixture->now, fixture->reason);
}

static void check_text(DraftFixture *fixture, const char *path, const char *wanted)
{
    uint8_t *data = NULL;
    size_t bytes = 0;
    StoreDraftFile about;
    CHECK_OK(draft_read(fixture->drafts, "obby", path, &data, &bytes, &about, fixture->reason));
    CHECK_INT(bytes, strlen(wanted));
    CHECK(data != NULL && bytes == strlen(wanted) && memcmp(data, wanted, bytes) == 0);
    free(data);
}

TEST(a_file_is_replaced_only_by_who_knew_it)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    CHECK_OK(put(&fixture, "Workspace/Door.lua", "print(1)", NULL));
    CHECK_INT(fixture.now.version, 1);
    const StoreDraftFile first = fixture.now;
    CHECK_INT(put(&fixture, "Workspace/Door.lua", "print(9)", NULL), STATUS_MISMATCH);
    CHECK(memcmp(fixture.now.hash, first.hash, 32) == 0);
    CHECK_OK(put(&fixture, "Workspace/Door.lua", "print(2)", first.hash));
    CHECK_INT(put(&fixture, "Workspace/Door.lua", "print(3)", first.hash), STATUS_MISMATCH);
    check_text(&fixture, "Workspace/Door.lua", "print(2)");
    uint8_t none[32] = {0};
    CHECK_INT(put(&fixture, "Workspace/Gone.lua", "x", none), STATUS_MISMATCH);
    draft_end(&fixture);
}

TEST(names_that_a_package_could_not_hold_are_refused)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    static const char *const bad[] = {"../x.lua",   "/etc/x.lua", ".hidden.lua",
                                      "a/../b.lua", "x.exe",      "a\\b.lua",
                                      "",           "a//b.lua",   ".sandlot/data/ticket.key"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const Status status = put(&fixture, bad[i], "x", NULL);
        CHECK(status == STATUS_MALFORMED);
        if (status != STATUS_MALFORMED) {
            printf("%s: %s\n", bad[i], status_text(status));
        }
    }
    CHECK_OK(put(&fixture, "Workspace/Door.lua", "x", NULL));
    CHECK_INT(put(&fixture, "Workspace/door.lua", "x", NULL), STATUS_MALFORMED);
    CHECK_INT(put(&fixture, "Workspace/Door.lua/Inner.lua", "x", NULL), STATUS_MALFORMED);
    draft_end(&fixture);
}

TEST(history_has_every_version_and_gives_it_back)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    uint8_t known[32];
    for (uint32_t i = 1; i <= 3; i++) {
        char text[32];
        snprintf(text, sizeof text, "print(%u)", i);
        CHECK_OK(put(&fixture, "Workspace/Door.lua", text, i > 1 ? known : NULL));
        memcpy(known, fixture.now.hash, sizeof known);
    }
    CHECK_OK(put(&fixture, "Workspace/Door.lua", "print(3)", known)); // the same again
    CHECK_INT(fixture.now.version, 3);
    const DraftWrite gone = {
        .place_id = "obby", .path = "Workspace/Door.lua", .known = known, .maker = 8};
    CHECK_OK(draft_delete_file(fixture.drafts, &gone, &fixture.now, fixture.reason));
    char path[128];
    snprintf(path, sizeof path, "%s/drafts/obby/Workspace", fixture.folder);
    CHECK(access(path, F_OK) != 0); // nothing is left in it
    StoreDraftVersion versions[8];
    uint32_t count = 0;
    CHECK_OK(store_draft_versions(fixture.store.store, "obby", "Workspace/Door.lua",
                                  STORE_VERSION_ALL, versions, 8, &count));
    CHECK_INT(count, 4);
    CHECK(versions[0].is_deleted);
    CHECK_INT(versions[1].maker_id, 8);
    uint8_t *data = NULL;
    size_t bytes = 0;
    CHECK_OK(draft_read_version(fixture.drafts, "obby", "Workspace/Door.lua", 2, &data, &bytes));
    CHECK(bytes == 8 && memcmp(data, "print(2)", 8) == 0);
    free(data);
    CHECK_INT(draft_read_version(fixture.drafts, "obby", "Workspace/Door.lua", 4, &data, &bytes),
              STATUS_NOT_FOUND);
    draft_end(&fixture);
}

// One more version of a file at that time.
static void write_at(DraftFixture *fixture, uint64_t unix_ms)
{
    static uint32_t written;
    uint8_t hash[32] = {0};
    written += 1;
    memcpy(hash, &written, sizeof written);
    CHECK_OK(store_draft_change(fixture->store.store,
                                &(StoreDraftChange){.package_id = "obby",
                                                    .path = "Workspace/Door.lua",
                                                    .hash = hash,
                                                    .bytes = 8,
                                                    .maker_id = 8,
                                                    .unix_ms = unix_ms,
                                                    .bytes_max = ROOM},
                                NULL));
}

TEST(many_writes_at_once_push_out_no_version_that_stood)
{
    enum { MINUTE_MS = 60000, GOOD = 90, BURST = 300 };
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    const uint64_t begin = 1700000000000;
    StoreDraftVersion version, versions[STORE_DRAFT_VERSIONS];
    uint32_t count = 0;
    for (uint32_t i = 0; i < GOOD; i++) { // 80 are more than a minute old
        write_at(&fixture, begin + i * MINUTE_MS);
    }
    for (uint32_t i = 0; i < BURST; i++) {
        write_at(&fixture, begin + (GOOD + 60) * MINUTE_MS + i * 7);
    }
    CHECK_OK(store_draft_versions(fixture.store.store, "obby", "Workspace/Door.lua",
                                  STORE_VERSION_ALL, versions, STORE_DRAFT_VERSIONS, &count));
    CHECK_INT(count, STORE_DRAFT_VERSIONS);
    for (uint32_t i = 0; i < STORE_DRAFT_NEWEST; i++) {
        CHECK_INT(versions[i].version, GOOD + BURST - i); // the last steps
    }
    // As many of the good ones as there is room for, the last one, which stood for an hour, first.
    for (uint32_t i = STORE_DRAFT_NEWEST; i < count; i++) {
        CHECK_INT(versions[i].version, GOOD + STORE_DRAFT_NEWEST - i);
    }
    CHECK_INT(store_draft_version(fixture.store.store, "obby", "Workspace/Door.lua", 1, &version),
              STATUS_NOT_FOUND); // all stood as long, and it is the oldest
    draft_end(&fixture);
}

TEST(what_somebody_else_writes_is_a_version_too)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    CHECK_OK(put(&fixture, "Workspace/Door.lua", "print(1)", NULL));
    const StoreDraftFile first = fixture.now;
    char path[128];
    snprintf(path, sizeof path, "%s/drafts/obby/Workspace/Door.lua", fixture.folder);
    CHECK_OK(file_write_shared(path, "print(77)", 9));
    CHECK_INT(put(&fixture, "Workspace/Door.lua", "print(2)", first.hash), STATUS_MISMATCH);
    const StoreDraftFile other = fixture.now;
    CHECK_OK(put(&fixture, "Workspace/Door.lua", "print(2)", other.hash));
    CHECK_INT(fixture.now.version, 3); // the other one's is between them
    snprintf(path, sizeof path, "%s/drafts/obby/readme.md", fixture.folder);
    CHECK_OK(file_write_shared(path, "hello", 5));
    StoreDraftFile *files = NULL;
    uint32_t count = 0;
    CHECK_OK(draft_list(fixture.drafts, "obby", &files, &count));
    CHECK_INT(count, 3);
    CHECK_TEXT(files[0].path, "Workspace/Door.lua");
    CHECK_TEXT(files[2].path, "readme.md");
    CHECK_INT(files[2].version, 1);
    free(files);
    CHECK_INT(unlink(path), 0);
    CHECK_OK(draft_list(fixture.drafts, "obby", &files, &count));
    CHECK_INT(count, 2);
    free(files);
    StoreDraftFile gone;
    CHECK_INT(store_draft_file(fixture.store.store, "obby", "readme.md", &gone), STATUS_NOT_FOUND);
    draft_end(&fixture);
}

TEST(moving_keeps_the_content_and_takes_no_others_name)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    CHECK_OK(put(&fixture, "Workspace/Door.lua", "print(1)", NULL));
    const StoreDraftFile first = fixture.now;
    CHECK_OK(put(&fixture, "Workspace/Gate.lua", "print(2)", NULL));
    const DraftWrite move = {.place_id = "obby", .path = "Workspace/Door.lua", .known = first.hash};
    CHECK_INT(draft_move(fixture.drafts, &move, "Workspace/Gate.lua", &fixture.now, fixture.reason),
              STATUS_EXISTS);
    CHECK_OK(draft_move(fixture.drafts, &move, "ServerScriptService/Door.lua", &fixture.now,
                        fixture.reason));
    check_text(&fixture, "ServerScriptService/Door.lua", "print(1)");
    uint8_t *data = NULL;
    size_t bytes = 0;
    StoreDraftFile about;
    CHECK_INT(draft_read(fixture.drafts, "obby", "Workspace/Door.lua", &data, &bytes, &about,
                         fixture.reason),
              STATUS_NOT_FOUND);
    draft_end(&fixture);
}

TEST(the_owners_room_bounds_a_draft_and_its_history)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    char *text = malloc(ROOM / 4 + 1);
    REQUIRE(text != NULL);
    uint8_t known[32];
    uint32_t written = 0;
    for (uint32_t i = 0; i < 8; i++) {
        memset(text, 'a' + (int)i, ROOM / 4);
        text[ROOM / 4] = '\0';
        const Status status = put(&fixture, "notes.txt", text, i > 0 ? known : NULL);
        if (status != STATUS_OK) {
            CHECK_INT(status, STATUS_LIMIT);
            CHECK(strstr(fixture.reason, "uses") != NULL);
            break;
        }
        memcpy(known, fixture.now.hash, sizeof known);
        written += 1;
    }
    CHECK_INT(written, 3); // and two bytes of place.json
    free(text);
    draft_end(&fixture);
}

static uint64_t used_bytes(DraftFixture *fixture)
{
    uint64_t used = 0;
    CHECK_OK(store_account_bytes(fixture->store.store, 7, &used));
    return used;
}

// The row is counted when it is written. What finds no room then is not in the folder either.
TEST(a_file_without_room_for_its_version_is_put_back)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    CHECK_OK(put(&fixture, "notes.txt", "small", NULL));
    uint8_t known[32];
    memcpy(known, fixture.now.hash, sizeof known);
    // Room for the content and one row, but not for two.
    const size_t bytes = (size_t)(ROOM - used_bytes(&fixture)) - ROW_CHARGE_BYTES;
    char *text = calloc(1, bytes + 1);
    REQUIRE(text != NULL);
    memset(text, 'x', bytes);
    CHECK_INT(put(&fixture, "notes.txt", text, known), STATUS_LIMIT);
    CHECK(strstr(fixture.reason, "uses") != NULL);
    check_text(&fixture, "notes.txt", "small");
    CHECK_INT(put(&fixture, "more.txt", text, NULL), STATUS_LIMIT);
    char path[128];
    snprintf(path, sizeof path, "%s/drafts/obby/more.txt", fixture.folder);
    CHECK(access(path, F_OK) != 0);
    CHECK_OK(put(&fixture, "more.txt", "fits", NULL));
    free(text);
    draft_end(&fixture);
}

// Somebody else uses up the room while a file is changed, and this is noticed afterwards.
static Status change_and_fill(void *user)
{
    DraftFixture *fixture = user;
    static const uint8_t hash[32] = {1};
    char path[128];
    const uint64_t bytes = ROOM - used_bytes(fixture) - ROW_CHARGE_BYTES;
    CHECK_OK(store_upload_put(fixture->store.store, "obby", hash, bytes, 1, ROOM));
    snprintf(path, sizeof path, "%s/drafts/obby/notes.txt", fixture->folder);
    return file_write_shared(path, "changed", 7);
}

TEST(a_change_that_finds_no_room_is_put_back)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    CHECK_OK(put(&fixture, "notes.txt", "small", NULL));
    CHECK_INT(draft_change(fixture.drafts, "obby", "notes.txt", 7, change_and_fill, &fixture),
              STATUS_LIMIT);
    check_text(&fixture, "notes.txt", "small");
    CHECK_INT(used_bytes(&fixture), ROOM);
    draft_end(&fixture);
}

#define MAKERS 4

typedef struct Making {
    DraftFixture *fixture;
    pthread_t thread;
    char place[16], reason[WORKER_REASON_BYTES];
    Status status;
} Making;

static atomic_uint makers_ready;

// All are ready before one is counted, if the machine lets them.
static Status fill_half(void *user, const char *folder, char reason[WORKER_REASON_BYTES])
{
    char path[4200];
    char *text = malloc(ROOM / 2);
    (void)user, (void)reason;
    if (text == NULL) {
        return STATUS_LIMIT;
    }
    memset(text, 'a' + (int)atomic_fetch_add(&makers_ready, 1), ROOM / 2);
    snprintf(path, sizeof path, "%s/notes.txt", folder);
    Status status = file_make_folders(folder);
    status = status == STATUS_OK ? file_write_shared(path, text, ROOM / 2) : status;
    free(text);
    for (int i = 0; i < 200 && atomic_load(&makers_ready) < MAKERS; i++) {
        usleep(10000);
    }
    return status;
}

static void *make_one(void *user)
{
    Making *making = user;
    making->status =
        draft_make(making->fixture->drafts, making->place, 7, fill_half, NULL, making->reason);
    return NULL;
}

TEST(of_drafts_that_are_made_at_once_only_those_stay_for_which_there_is_room)
{
    DraftFixture fixture;
    Making makings[MAKERS];
    uint32_t made = 0;
    REQUIRE(draft_begin(&fixture));
    makers_ready = 0;
    for (uint32_t i = 0; i < MAKERS; i++) {
        StorePackage package = {.kind = STORE_PLACE, .owner_id = 7};
        makings[i] = (Making){.fixture = &fixture};
        snprintf(makings[i].place, sizeof makings[i].place, "half%u", i);
        snprintf(package.package_id, sizeof package.package_id, "%s", makings[i].place);
        CHECK_OK(store_package_make(fixture.store.store, &package, 9));
    }
    for (uint32_t i = 0; i < MAKERS; i++) {
        CHECK_INT(pthread_create(&makings[i].thread, NULL, make_one, &makings[i]), 0);
    }
    for (uint32_t i = 0; i < MAKERS; i++) {
        pthread_join(makings[i].thread, NULL);
        made += makings[i].status == STATUS_OK;
        CHECK(makings[i].status == STATUS_OK || makings[i].status == STATUS_LIMIT);
        CHECK(draft_exists(fixture.drafts, makings[i].place) == (makings[i].status == STATUS_OK));
    }
    CHECK_INT(made, 1);
    CHECK(used_bytes(&fixture) <= ROOM);
    draft_end(&fixture);
}

static Status fill_too_much(void *user, const char *folder, char reason[WORKER_REASON_BYTES])
{
    char path[4200];
    static char text[ROOM];
    (void)user, (void)reason;
    memset(text, 'x', sizeof text);
    snprintf(path, sizeof path, "%s/notes.txt", folder);
    const Status status = file_make_folders(folder);
    return status == STATUS_OK ? file_write_shared(path, text, sizeof text) : status;
}

TEST(a_draft_that_does_not_fit_is_not_made)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    StorePackage package = {.package_id = "large", .kind = STORE_PLACE, .owner_id = 7};
    CHECK_OK(store_package_make(fixture.store.store, &package, 9));
    CHECK_INT(draft_make(fixture.drafts, "large", 7, fill_too_much, NULL, fixture.reason),
              STATUS_LIMIT);
    CHECK(strstr(fixture.reason, "do not fit") != NULL);
    CHECK(!draft_exists(fixture.drafts, "large"));
    char path[128];
    snprintf(path, sizeof path, "%s/drafts/.new-large", fixture.folder);
    CHECK(access(path, F_OK) != 0);
    draft_end(&fixture);
}

static Status copy_to(DraftFixture *fixture, const char *path)
{
    const uint8_t hash[32] = {1}; // always the same content, for which the owner pays once
    const StoreDraftChange change = {.package_id = "obby",
                                     .path = path,
                                     .hash = hash,
                                     .bytes = DRAFT_FILE_BYTES_MAX,
                                     .maker_id = 8,
                                     .unix_ms = 1700000000000,
                                     .bytes_max = 1ull << 40};
    return store_draft_change(fixture->store.store, &change, NULL);
}

TEST(equal_contents_do_not_fill_the_disk)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    CHECK_OK(copy_to(&fixture, "assets/1.wav"));
    CHECK_OK(copy_to(&fixture, "assets/2.wav"));
    CHECK_OK(copy_to(&fixture, "assets/3.wav"));
    CHECK_INT(copy_to(&fixture, "assets/4.wav"), STATUS_LIMIT); // place.json is there too
    CHECK_OK(copy_to(&fixture, "assets/3.wav"));
    draft_end(&fixture);
}

TEST(a_link_leads_nowhere)
{
    DraftFixture fixture;
    REQUIRE(draft_begin(&fixture));
    char path[128];
    snprintf(path, sizeof path, "%s/drafts/obby/Workspace", fixture.folder);
    CHECK_INT(symlink("/tmp", path), 0);
    CHECK(put(&fixture, "Workspace/Door.lua", "print(1)", NULL) != STATUS_OK);
    StoreDraftFile *files = NULL;
    uint32_t count = 0;
    CHECK_OK(draft_list(fixture.drafts, "obby", &files, &count));
    CHECK_INT(count, 1);
    free(files);
    CHECK_OK(draft_remove(fixture.drafts, "obby"));
    CHECK(!draft_exists(fixture.drafts, "obby"));
    CHECK(access("/tmp", F_OK) == 0);
    CHECK_INT(draft_list(fixture.drafts, "obby", &files, &count), STATUS_NOT_FOUND);
    draft_end(&fixture);
}
