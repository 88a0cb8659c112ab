// Steps of publishing: each is done whole or not at all.
#include "server/store/people/store_person.h"
#include "server/store/place/store_draft.h"
#include "server/store/place/store_publish.h"

#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <string.h>

#define MIB (1ull << 20)

static StorePackage package_of(const char *id, uint64_t owner)
{
    StorePackage package = {.kind = STORE_PLACE, .owner_id = owner, .visibility = STORE_LISTED};
    snprintf(package.package_id, sizeof package.package_id, "%s", id);
    return package;
}

static StoreRevision revision_of(const char *id, uint8_t first_byte, const char *channel)
{
    StoreRevision revision = {.maker_id = 7,
                              .state = STORE_REVISION_BUILDING,
                              .package_bytes = MIB,
                              .package_hash = {first_byte}};
    snprintf(revision.package_id, sizeof revision.package_id, "%s", id);
    snprintf(revision.notes, sizeof revision.notes, "more lava");
    snprintf(revision.reason, sizeof revision.reason, "%s", channel);
    return revision;
}

static Status publish(Store *store, StorePackage *package, StoreRevision *revision,
                      uint64_t bytes_max, const StoreRevision *source, bool *is_bytes)
{
    const StorePublish wish = {.package = package,
                               .revision = revision,
                               .count_max = 2,
                               .bytes_max = bytes_max,
                               .source = source};
    return store_package_publish(store, &wish, is_bytes);
}

static Status end_build(Store *store, const char *id, uint32_t number, StoreRevisionState state,
                        bool *is_live)
{
    StoreBuilt built = {.package_id = id,
                        .number = number,
                        .state = state,
                        .reason = state == STORE_REVISION_FAILED ? "it is wrong" : "",
                        .title = "From its file",
                        .drops_package = state == STORE_REVISION_FAILED,
                        .blobs = {{STORE_BLOB_THUMBNAIL, {(uint8_t)(100 + number)}, 10}},
                        .blob_count = state == STORE_REVISION_READY ? 1 : 0,
                        .now_unix_ms = 99};
    const Status status = store_revision_built(store, &built);
    *is_live = built.is_live;
    return status;
}

TEST(a_place_and_its_first_revision_are_written_together)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7), found;
    StoreRevision revision = revision_of("obby", 1, "live"), kept;
    bool is_bytes = false;
    CHECK_INT(publish(fixture.store, &package, &revision, MIB, NULL, &is_bytes), STATUS_LIMIT);
    CHECK(is_bytes);
    CHECK_INT(store_package_find(fixture.store, "obby", &found), STATUS_NOT_FOUND);
    CHECK_OK(
        publish(fixture.store, &package, &revision, MIB + REVISION_CHARGE_BYTES, NULL, &is_bytes));
    CHECK_OK(store_package_find(fixture.store, "obby", &found));
    CHECK(found.last_revision == 1 && found.version == package.version);
    CHECK_OK(store_revision_find(fixture.store, "obby", 1, &kept));
    CHECK_INT(publish(fixture.store, &package, &revision, 9 * MIB, NULL, &is_bytes), STATUS_EXISTS);
    StorePackage second = package_of("maze", 7), third = package_of("race", 7);
    StoreRevision of_second = revision_of("maze", 2, ""), of_third = revision_of("race", 3, "");
    CHECK_OK(publish(fixture.store, &second, &of_second, 9 * MIB, NULL, &is_bytes));
    CHECK_INT(publish(fixture.store, &third, &of_third, 9 * MIB, NULL, &is_bytes), STATUS_LIMIT);
    CHECK(!is_bytes);
    StoreRevision of_other = revision_of("maze", 3, "");
    CHECK_INT(publish(fixture.store, &third, &of_other, 9 * MIB, NULL, &is_bytes),
              STATUS_MALFORMED);
    fixture_end(&fixture);
}

TEST(a_build_that_ends_goes_to_its_channel)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7), found;
    StoreRevision revision = revision_of("obby", 1, "live"), kept;
    StoreBlobRef blob;
    bool is_bytes, is_live;
    uint64_t bytes = 0;
    CHECK_OK(publish(fixture.store, &package, &revision, 9 * MIB, NULL, &is_bytes));
    CHECK_OK(end_build(fixture.store, "obby", 1, STORE_REVISION_READY, &is_live));
    CHECK(is_live);
    CHECK_INT(end_build(fixture.store, "obby", 1, STORE_REVISION_READY, &is_live), STATUS_MISMATCH);
    CHECK_OK(store_package_find(fixture.store, "obby", &found));
    CHECK(found.live == 1 && found.beta == 0 && found.updated_unix_ms == 99);
    CHECK_TEXT(found.title, "From its file");
    CHECK_OK(store_revision_find(fixture.store, "obby", 1, &kept));
    CHECK_TEXT(kept.reason, ""); // not the channel any more
    CHECK_OK(store_blob_used(fixture.store, "obby", STORE_BLOB_PICTURE, 0, &blob));
    CHECK_INT(blob.hash[0], 101);
    // Of two that are on their way to live the later one stays, whichever is built first.
    for (uint8_t i = 2; i <= 3; i++) {
        StoreRevision next = revision_of("obby", i, "live");
        CHECK_OK(store_revision_add(fixture.store, &next, 9 * MIB));
    }
    CHECK_OK(end_build(fixture.store, "obby", 3, STORE_REVISION_READY, &is_live));
    CHECK(is_live);
    CHECK_OK(end_build(fixture.store, "obby", 2, STORE_REVISION_READY, &is_live));
    CHECK(!is_live);
    CHECK_OK(store_package_find(fixture.store, "obby", &found));
    CHECK_INT(found.live, 3);
    CHECK_OK(store_blob_used(fixture.store, "obby", STORE_BLOB_PICTURE, 0, &blob));
    CHECK_INT(blob.hash[0], 103);
    for (uint32_t i = 1; i <= 3; i++) { // the second one never was
        CHECK_OK(store_revision_find(fixture.store, "obby", i, &kept));
        CHECK(kept.was_live == (i != 2));
    }
    // Rolling back shows the old picture again.
    CHECK_OK(store_channel_set(fixture.store, "obby", STORE_LIVE, 1, 100, NULL));
    CHECK_OK(store_blob_used(fixture.store, "obby", STORE_BLOB_PICTURE, 0, &blob));
    CHECK_INT(blob.hash[0], 101);
    // A package that was refused is not kept, and not paid for.
    StoreRevision bad = revision_of("obby", 4, "live");
    CHECK_OK(store_revision_add(fixture.store, &bad, 9 * MIB));
    CHECK_OK(end_build(fixture.store, "obby", 4, STORE_REVISION_FAILED, &is_live));
    CHECK(!is_live);
    CHECK_INT(store_blob_used(fixture.store, "obby", STORE_BLOB_PACKAGE, 4, &blob),
              STATUS_NOT_FOUND);
    CHECK_OK(store_package_bytes(fixture.store, "obby", &bytes));
    CHECK_INT(bytes, 3 * MIB + 30 + 4 * REVISION_CHARGE_BYTES);
    CHECK_INT(end_build(fixture.store, "obby", 9, STORE_REVISION_READY, &is_live),
              STATUS_NOT_FOUND);
    fixture_end(&fixture);
}

TEST(a_fork_needs_its_source)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7);
    StoreRevision revision = revision_of("obby", 1, "");
    bool is_bytes, is_live;
    CHECK_OK(publish(fixture.store, &package, &revision, 9 * MIB, NULL, &is_bytes));
    StorePackage fork = package_of("fork", 8);
    StoreRevision of_fork = revision_of("fork", 1, "");
    CHECK_INT(publish(fixture.store, &fork, &of_fork, 9 * MIB, &revision, &is_bytes),
              STATUS_NOT_FOUND); // it is not built yet
    CHECK_OK(end_build(fixture.store, "obby", 1, STORE_REVISION_READY, &is_live));
    CHECK_OK(publish(fixture.store, &fork, &of_fork, 9 * MIB, &revision, &is_bytes));
    CHECK_OK(store_package_find(fixture.store, "obby", &package));
    package.trashed_unix_ms = 5;
    CHECK_OK(store_package_change(fixture.store, &package));
    StorePackage late = package_of("late", 9);
    StoreRevision of_late = revision_of("late", 1, "");
    CHECK_INT(publish(fixture.store, &late, &of_late, 9 * MIB, &revision, &is_bytes),
              STATUS_NOT_FOUND);
    CHECK_INT(store_package_find(fixture.store, "late", &late), STATUS_NOT_FOUND);
    fixture_end(&fixture);
}

TEST(pictures_take_the_place_of_others_and_count)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7);
    StoreBlobRef blob;
    uint32_t numbers[4], count = 0;
    uint64_t bytes = 0;
    const uint8_t first[32] = {1}, second[32] = {2};
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    CHECK_OK(store_picture_set(fixture.store, "obby", 2, first, 100, 150));
    CHECK_INT(store_picture_set(fixture.store, "obby", 3, second, 51, 150), STATUS_LIMIT);
    CHECK_OK(store_picture_set(fixture.store, "obby", 2, second, 60, 150));
    CHECK_OK(store_blob_used(fixture.store, "obby", STORE_BLOB_PICTURE, 2, &blob));
    CHECK(blob.hash[0] == 2 && blob.bytes == 60);
    CHECK_OK(store_package_bytes(fixture.store, "obby", &bytes));
    CHECK_INT(bytes, 60); // without revisions
    CHECK_OK(store_pictures(fixture.store, "obby", numbers, 4, &count));
    CHECK(count == 1 && numbers[0] == 2);
    CHECK_OK(store_picture_set(fixture.store, "obby", 2, NULL, 0, 0));
    CHECK_INT(store_picture_set(fixture.store, "obby", 2, NULL, 0, 0), STATUS_NOT_FOUND);
    CHECK_INT(store_picture_set(fixture.store, "none", 2, first, 1, 9), STATUS_NOT_FOUND);
    fixture_end(&fixture);
}

TEST(a_place_is_given_to_who_accepts_it)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7), found;
    StorePackageRole role = STORE_NOBODY;
    const StorePackagePerson tester = {.package_id = "obby", .account_id = 8, .role = STORE_TESTER};
    StoreOffer offer = {.package_id = "obby", .account_id = 8, .expires_unix_ms = 1}, list[2];
    uint32_t count = 9;
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    CHECK_OK(store_package_person_put(fixture.store, &tester, 9));
    CHECK_INT(store_package_give(fixture.store, "obby", 8, false, 2, MIB), STATUS_DENIED);
    CHECK_OK(store_offer_put(fixture.store, &offer)); // it is over already
    CHECK_INT(store_package_give(fixture.store, "obby", 8, false, 2, MIB), STATUS_DENIED);
    CHECK_OK(store_offers(fixture.store, 8, 1, "", list, 2, &count));
    CHECK_INT(count, 0);
    offer.expires_unix_ms = INT64_MAX;
    CHECK_OK(store_offer_put(fixture.store, &offer));
    CHECK_OK(store_offers(fixture.store, 8, 1, "", list, 2, &count));
    CHECK_INT(count, 1);
    CHECK_OK(store_package_role(fixture.store, "obby", 8, &role));
    CHECK_INT(role, STORE_TESTER); // until it is accepted
    CHECK_INT(store_package_give(fixture.store, "obby", 9, false, 2, MIB), STATUS_DENIED);
    CHECK_INT(store_offer_end(fixture.store, "obby", 9), STATUS_NOT_FOUND);
    CHECK_OK(store_offer_end(fixture.store, "obby", 8));
    CHECK_INT(store_package_give(fixture.store, "obby", 8, false, 2, MIB), STATUS_DENIED);
    CHECK_OK(store_offer_put(fixture.store, &offer));
    CHECK_INT(store_package_give(fixture.store, "obby", 8, false, 0, MIB), STATUS_LIMIT);
    CHECK_OK(store_package_give(fixture.store, "obby", 8, false, 2, MIB));
    CHECK_OK(store_package_find(fixture.store, "obby", &found));
    CHECK_INT(found.owner_id, 8);
    CHECK_OK(store_package_role(fixture.store, "obby", 7, &role));
    CHECK_INT(role, STORE_EDITOR);
    CHECK_OK(store_package_role(fixture.store, "obby", 8, &role));
    CHECK_INT(role, STORE_NOBODY);
    CHECK_INT(store_offer_find(fixture.store, "obby", &offer), STATUS_NOT_FOUND);
    CHECK_OK(store_package_give(fixture.store, "obby", 7, true, 2, MIB));
    CHECK_INT(store_package_give(fixture.store, "none", 7, true, 2, MIB), STATUS_NOT_FOUND);
    fixture_end(&fixture);
}

static Status save_empty(Store *store, const char *path, uint64_t bytes_max)
{
    static const uint8_t nothing[32] = {9};
    return store_draft_change(
        store,
        &(StoreDraftChange){
            .package_id = "obby", .path = path, .hash = nothing, .bytes_max = bytes_max},
        NULL);
}

TEST(rows_cost_room)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7);
    StoreRevision revision = revision_of("obby", 1, "");
    const uint64_t room = 20 * 2 * ROW_CHARGE_BYTES;
    uint64_t bytes = 0;
    char path[32];
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    for (uint32_t i = 0; i < 20; i++) { // files without a byte
        snprintf(path, sizeof path, "Workspace/Empty%u.lua", i);
        CHECK_OK(save_empty(fixture.store, path, room));
    }
    CHECK_INT(save_empty(fixture.store, "Workspace/More.lua", room), STATUS_LIMIT);
    CHECK_OK(store_package_bytes(fixture.store, "obby", &bytes));
    CHECK_INT(bytes, room);
    CHECK_OK(store_draft_discard(fixture.store, "obby"));
    CHECK_OK(store_account_bytes(fixture.store, 7, &bytes));
    CHECK_INT(bytes, 0);
    revision.package_bytes = 0;
    CHECK_INT(store_revision_add(fixture.store, &revision, REVISION_CHARGE_BYTES - 1),
              STATUS_LIMIT);
    CHECK_OK(store_revision_add(fixture.store, &revision, REVISION_CHARGE_BYTES));
    fixture_end(&fixture);
}

TEST(revisions_are_deleted_and_failed_ones_do_not_pile_up)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7);
    static StoreRevision list[REVISIONS_FAILED_MAX + 9];
    uint64_t bytes = 0;
    uint32_t count = 0;
    bool is_live, is_used = true;
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    for (uint8_t i = 1; i <= 3; i++) {
        StoreRevision revision = revision_of("obby", i, i == 2 ? "live" : "");
        CHECK_OK(store_revision_add(fixture.store, &revision, 10 * MIB));
        CHECK_INT(store_revision_delete(fixture.store, "obby", i), STATUS_BLOCKED);
        CHECK_OK(end_build(fixture.store, "obby", i, STORE_REVISION_READY, &is_live));
    }
    CHECK_INT(store_revision_delete(fixture.store, "obby", 2), STATUS_DENIED);
    CHECK_INT(store_revision_delete(fixture.store, "obby", 4), STATUS_NOT_FOUND);
    CHECK_OK(store_revision_delete(fixture.store, "obby", 1));
    CHECK_INT(store_revision_delete(fixture.store, "obby", 1), STATUS_NOT_FOUND);
    CHECK_OK(store_package_bytes(fixture.store, "obby", &bytes));
    CHECK_INT(bytes, 2 * (MIB + 10 + REVISION_CHARGE_BYTES));
    CHECK_OK(store_blob_forget(fixture.store, (uint8_t[32]){1}, &is_used));
    CHECK(!is_used);
    for (uint32_t i = 0; i < REVISIONS_FAILED_MAX + 5; i++) {
        StoreRevision revision = revision_of("obby", 99, "");
        CHECK_OK(store_revision_add(fixture.store, &revision, 10 * MIB));
        CHECK_OK(
            end_build(fixture.store, "obby", revision.revision, STORE_REVISION_FAILED, &is_live));
    }
    CHECK_OK(store_revisions(fixture.store, "obby", STORE_REVISION_ALL, list,
                             REVISIONS_FAILED_MAX + 9, &count));
    CHECK_INT(count, REVISIONS_FAILED_MAX + 2);
    CHECK_INT(list[count - 1].revision, 2); // those that can be played stay
    CHECK_INT(list[count - 3].revision, 9);
    fixture_end(&fixture);
}

TEST(a_place_has_so_many_revisions)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7);
    StoreRevision revision = revision_of("obby", 1, "");
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    for (uint32_t i = 0; i < REVISIONS_PER_PACKAGE_MAX; i++) {
        REQUIRE(store_revision_add(fixture.store, &revision, 99 * MIB) == STATUS_OK);
    }
    CHECK_INT(store_revision_add(fixture.store, &revision, 99 * MIB), STATUS_DENIED);
    CHECK_OK(store_revision_end(fixture.store, "obby", 5, STORE_REVISION_READY, ""));
    CHECK_OK(store_revision_delete(fixture.store, "obby", 5));
    CHECK_OK(store_revision_add(fixture.store, &revision, 99 * MIB));
    CHECK_INT(revision.revision, REVISIONS_PER_PACKAGE_MAX + 1);
    fixture_end(&fixture);
}

TEST(what_is_long_in_the_trash_is_found)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7), found;
    StoreRevision revision = revision_of("obby", 1, "");
    bool is_bytes;
    uint64_t bytes = 9;
    CHECK_OK(publish(fixture.store, &package, &revision, 9 * MIB, NULL, &is_bytes));
    CHECK_OK(store_package_find(fixture.store, "obby", &package));
    package.trashed_unix_ms = 1000;
    CHECK_OK(store_package_change(fixture.store, &package));
    CHECK_INT(store_package_trashed(fixture.store, 1000, &found), STATUS_NOT_FOUND);
    CHECK_OK(store_package_trashed(fixture.store, 1001, &found));
    CHECK_OK(store_package_delete(fixture.store, found.package_id));
    CHECK_INT(store_package_trashed(fixture.store, 1001, &found), STATUS_NOT_FOUND);
    CHECK_OK(store_account_bytes(fixture.store, 7, &bytes));
    CHECK_INT(bytes, 0);
    fixture_end(&fixture);
}
