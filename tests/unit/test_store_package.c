// Packages in the store: rows, numbers of revisions, channels, teams, what they take; and who may
// do what with them.
#include "core/base/limits.h"
#include "server/control/order/rights.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_package.h"

#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <string.h>

#define MIB (1ull << 20)

static StorePackage package_of(const char *id, uint64_t owner)
{
    StorePackage package = {.kind = STORE_PLACE,
                            .owner_id = owner,
                            .visibility = STORE_LISTED,
                            .created_unix_ms = 5,
                            .updated_unix_ms = 6};
    snprintf(package.package_id, sizeof package.package_id, "%s", id);
    snprintf(package.title, sizeof package.title, "The %s", id);
    return package;
}

static StoreRevision revision_of(const char *id, uint8_t first_byte, uint64_t bytes)
{
    StoreRevision revision = {.maker_id = 7,
                              .state = STORE_REVISION_BUILDING,
                              .package_bytes = bytes,
                              .package_hash = {first_byte},
                              .created_unix_ms = 9};
    snprintf(revision.package_id, sizeof revision.package_id, "%s", id);
    snprintf(revision.notes, sizeof revision.notes, "more lava");
    snprintf(revision.job_id, sizeof revision.job_id, "job-%s-%u", id, first_byte);
    return revision;
}

TEST(a_package_is_made_once_and_changed_by_one_at_a_time)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage first = package_of("obby", 7), second = package_of("obby", 8), found;
    CHECK_OK(store_package_make(fixture.store, &first, 2));
    CHECK_INT(store_package_make(fixture.store, &second, 2), STATUS_EXISTS);
    StorePackage other = package_of("maze", 7), third = package_of("race", 7);
    CHECK_OK(store_package_make(fixture.store, &other, 2));
    CHECK_INT(store_package_make(fixture.store, &third, 2), STATUS_LIMIT);
    snprintf(first.title, sizeof first.title, "Lava");
    StorePackage late = first;
    CHECK_OK(store_package_change(fixture.store, &first));
    CHECK_INT(store_package_change(fixture.store, &late), STATUS_MISMATCH);
    CHECK_OK(store_package_find(fixture.store, "obby", &found));
    CHECK_TEXT(found.title, "Lava");
    CHECK_INT(found.version, 2);
    CHECK_INT(found.owner_id, 7);
    CHECK_INT(store_package_find(fixture.store, "none", &found), STATUS_NOT_FOUND);
    StorePackage bad = package_of("../x", 7);
    CHECK_INT(store_package_make(fixture.store, &bad, 9), STATUS_MALFORMED);
    fixture_end(&fixture);
}

TEST(revisions_are_numbered_and_only_ready_ones_get_a_channel)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7), found;
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    for (uint8_t i = 1; i <= 3; i++) {
        StoreRevision revision = revision_of("obby", i, MIB);
        CHECK_OK(store_revision_add(fixture.store, &revision, 10 * MIB));
        CHECK_INT(revision.revision, i);
    }
    CHECK_INT(store_channel_set(fixture.store, "obby", STORE_LIVE, 2, 50, NULL), STATUS_DENIED);
    CHECK_OK(store_revision_end(fixture.store, "obby", 2, STORE_REVISION_READY, ""));
    CHECK_INT(store_revision_end(fixture.store, "obby", 2, STORE_REVISION_FAILED, "late"),
              STATUS_MISMATCH);
    CHECK_OK(store_revision_end(fixture.store, "obby", 3, STORE_REVISION_FAILED, "line 3: no"));
    uint32_t before = 99;
    CHECK_OK(store_channel_set(fixture.store, "obby", STORE_LIVE, 2, 50, &before));
    CHECK_INT(before, 0);
    CHECK_INT(store_channel_set(fixture.store, "obby", STORE_LIVE, 3, 50, NULL), STATUS_DENIED);
    CHECK_INT(store_channel_set(fixture.store, "obby", STORE_BETA, 9, 50, NULL), STATUS_NOT_FOUND);
    CHECK_OK(store_package_find(fixture.store, "obby", &found));
    CHECK_INT(found.live, 2);
    CHECK_INT(found.beta, 0);
    CHECK_INT(found.last_revision, 3);
    CHECK_INT(found.updated_unix_ms, 50);
    // A change of the page that was begun before does not take the channel back.
    package.version = found.version;
    CHECK_OK(store_package_change(fixture.store, &package));
    CHECK_INT(package.live, 2);
    static StoreRevision page[2];
    uint32_t count = 0;
    CHECK_OK(store_revisions(fixture.store, "obby", STORE_REVISION_ALL, page, 2, &count));
    CHECK_INT(count, 2);
    CHECK_INT(page[0].revision, 3);
    CHECK_TEXT(page[0].reason, "line 3: no");
    CHECK_OK(store_revisions(fixture.store, "obby", 2, page, 2, &count));
    CHECK_INT(count, 1);
    CHECK_OK(store_revision_by_job(fixture.store, "job-obby-1", &page[0]));
    CHECK_INT(page[0].revision, 1);
    CHECK_INT(page[0].state, STORE_REVISION_BUILDING);
    fixture_end(&fixture);
}

TEST(revisions_that_were_live_stay_known)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7);
    static StoreRevision live[4];
    uint32_t count = 9;
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    for (uint8_t i = 1; i <= 3; i++) {
        StoreRevision revision = revision_of("obby", i, MIB);
        CHECK_OK(store_revision_add(fixture.store, &revision, 10 * MIB));
        CHECK_OK(store_revision_end(fixture.store, "obby", i, STORE_REVISION_READY, "kept"));
    }
    CHECK_OK(store_channel_set(fixture.store, "obby", STORE_LIVE, 3, 50, NULL));
    CHECK_OK(store_channel_set(fixture.store, "obby", STORE_BETA, 1, 50, NULL));
    CHECK_OK(store_revisions_live(fixture.store, "obby", 3, STORE_REVISION_ALL, live, 4, &count));
    CHECK(count == 1 && live[0].revision == 3 && live[0].was_live);
    CHECK_TEXT(live[0].reason, "");
    // The beta was not live, until it is. What was is known of also when nothing is.
    CHECK_OK(store_channel_set(fixture.store, "obby", STORE_LIVE, 1, 50, NULL));
    CHECK_OK(store_channel_set(fixture.store, "obby", STORE_LIVE, 0, 50, NULL));
    CHECK_OK(store_revisions_live(fixture.store, "obby", 0, STORE_REVISION_ALL, live, 4, &count));
    CHECK(count == 2 && live[0].revision == 3 && live[1].revision == 1);
    CHECK_OK(store_revisions_live(fixture.store, "obby", 0, 3, live, 4, &count));
    CHECK(count == 1 && live[0].revision == 1 && live[0].was_live);
    // The one that is live is there even if a program made it live that did not note that.
    CHECK_OK(store_revisions_live(fixture.store, "obby", 2, STORE_REVISION_ALL, live, 4, &count));
    CHECK(count == 3 && live[1].revision == 2 && !live[1].was_live);
    CHECK_TEXT(live[1].reason, "kept");
    fixture_end(&fixture);
}

TEST(an_account_pays_for_each_blob_of_a_package_once)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7);
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    StoreRevision revision = revision_of("obby", 1, 6 * MIB);
    CHECK_OK(store_revision_add(fixture.store, &revision, 10 * MIB));
    CHECK_OK(
        store_blob_use(fixture.store, revision.package_hash, "obby", STORE_BLOB_DRAFT, 1, 6 * MIB));
    uint64_t bytes = 0;
    CHECK_OK(store_account_bytes(fixture.store, 7, &bytes));
    CHECK_INT(bytes, 6 * MIB + REVISION_CHARGE_BYTES);
    StoreRevision more = revision_of("obby", 2, 5 * MIB);
    CHECK_INT(store_revision_add(fixture.store, &more, 10 * MIB), STATUS_LIMIT);
    StorePackage found;
    CHECK_OK(store_package_find(fixture.store, "obby", &found));
    CHECK_INT(found.last_revision, 1);
    CHECK_OK(store_package_delete(fixture.store, "obby"));
    CHECK_OK(store_account_bytes(fixture.store, 7, &bytes));
    CHECK_INT(bytes, 0);
    CHECK_INT(store_package_delete(fixture.store, "obby"), STATUS_NOT_FOUND);
    fixture_end(&fixture);
}

TEST(what_is_listed_of_who_leaves_goes_to_the_trash_and_the_rest_with_them)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = package_of("obby", 7), found;
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    StorePackagePerson person = {.package_id = "obby", .account_id = 9, .role = STORE_EDITOR};
    CHECK_OK(store_package_person_put(fixture.store, &person, 1));
    person.account_id = 10;
    CHECK_INT(store_package_person_put(fixture.store, &person, 1), STATUS_LIMIT);
    StorePackageRole role = STORE_NOBODY;
    CHECK_OK(store_package_role(fixture.store, "obby", 9, &role));
    CHECK_INT(role, STORE_EDITOR);
    uint32_t count = 0;
    CHECK_OK(store_packages_of(fixture.store, 9, "", &found, 1, &count));
    CHECK_INT(count, 1);
    CHECK_OK(store_person_delete(fixture.store, 9));
    CHECK_OK(store_package_role(fixture.store, "obby", 9, &role));
    CHECK_INT(role, STORE_NOBODY);
    StorePackage shown = package_of("shown", 7), thrown = package_of("thrown", 7);
    uint64_t bytes = 1;
    for (uint32_t i = 0; i < 2; i++) {
        StorePackage *listed = i == 0 ? &shown : &thrown;
        StoreRevision revision = revision_of(listed->package_id, (uint8_t)(1 + i), MIB);
        listed->visibility = STORE_LISTED;
        CHECK_OK(store_package_make(fixture.store, listed, 9));
        CHECK_OK(store_revision_add(fixture.store, &revision, 10 * MIB));
        CHECK_OK(
            store_revision_end(fixture.store, listed->package_id, 1, STORE_REVISION_READY, ""));
        CHECK_OK(store_channel_set(fixture.store, listed->package_id, STORE_LIVE, 1, 50, NULL));
        CHECK_OK(store_package_find(fixture.store, listed->package_id, listed));
    }
    thrown.trashed_unix_ms = 1000;
    CHECK_OK(store_package_change(fixture.store, &thrown));
    CHECK_OK(store_person_delete(fixture.store, 7));
    CHECK_INT(store_package_find(fixture.store, "obby", &found), STATUS_NOT_FOUND); // private
    CHECK_INT(store_package_find(fixture.store, "thrown", &found), STATUS_NOT_FOUND);
    CHECK_OK(store_package_find(fixture.store, "shown", &found));
    CHECK(found.owner_id == STORE_BUILT_IN_ACCOUNT && found.trashed_unix_ms != 0);
    CHECK_OK(store_account_bytes(fixture.store, 7, &bytes));
    CHECK_INT(bytes, 0);
    CHECK_OK(store_person_delete(fixture.store, 7)); // again: nothing more goes
    CHECK_OK(store_package_find(fixture.store, "shown", &found));
    fixture_end(&fixture);
}

TEST(rights_follow_from_owner_team_and_visibility)
{
    const Identity owner = {.account = 7}, other = {.account = 8};
    const Identity operator= {.account = 9, .roles = ROLE_OPERATOR};
    const Identity tool = {
        .account = 9, .roles = ROLE_OPERATOR, .kind = SIGN_IN_TOKEN, .scope = SCOPE_PLAY};
    StorePackage package = package_of("obby", 7);
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &owner), RIGHTS_ALL);
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &operator), RIGHTS_ALL);
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &tool), RIGHT_SEE | RIGHT_PLAY);
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, NULL), RIGHT_SEE | RIGHT_PLAY);
    CHECK_INT(rights_of(&package, STORE_EDITOR, CLASS_NOBODY, &other), RIGHTS_ALL & ~RIGHT_OWN);
    CHECK_INT(rights_of(&package, STORE_BLOCKED, CLASS_NOBODY, &other), RIGHT_SEE);
    package.flags = STORE_PACKAGE_OPEN;
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &other),
              RIGHT_SEE | RIGHT_PLAY | RIGHT_READ);
    package.visibility = STORE_PRIVATE;
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &other), 0);
    CHECK_INT(rights_of(&package, STORE_TESTER, CLASS_NOBODY, &other),
              RIGHT_SEE | RIGHT_PLAY | RIGHT_TEST);
    package.visibility = STORE_LISTED;
    package.flags = STORE_PACKAGE_REMOVED;
    CHECK_INT(rights_of(&package, STORE_EDITOR, CLASS_NOBODY, &other), 0);
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &owner), RIGHT_SEE | RIGHT_READ);
    package.flags = 0;
    package.trashed_unix_ms = 1;
    CHECK_INT(rights_of(&package, STORE_EDITOR, CLASS_NOBODY, &other), 0);
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &owner),
              RIGHT_SEE | RIGHT_READ | RIGHT_OWN);
}
