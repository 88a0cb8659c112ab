// What operators did, in the store: numbered, read back page by page; and what a sweep removes.
#include "server/store/people/store_account.h"
#include "server/store/people/store_audit.h"

#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <string.h>

#define DAY_MS 86400000ull

TEST(what_operators_did_is_read_back_newest_first)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    for (uint32_t i = 1; i <= 25; i++) {
        StoreAudit row = {.unix_ms = i, .account_id = 7, .action = "kick"};
        snprintf(row.detail, sizeof row.detail, "detail %u", i);
        CHECK_OK(store_audit_add(fixture.store, &row));
        CHECK_INT(row.audit_id, i);
    }
    static StoreAudit page[10];
    uint64_t below = STORE_AUDIT_ALL;
    uint32_t count = 0, next = 25;
    for (uint32_t round = 0; round < 4; round++) {
        CHECK_OK(store_audit_read(fixture.store, below, page, 10, &count));
        CHECK_INT(count, round < 2 ? 10 : round == 2 ? 5 : 0);
        for (uint32_t i = 0; i < count; i++, next--) {
            char wanted[32];
            snprintf(wanted, sizeof wanted, "detail %u", next);
            CHECK_TEXT(page[i].detail, wanted);
            CHECK_INT(page[i].account_id, 7);
        }
        below = count > 0 ? page[count - 1].audit_id : 0;
    }
    CHECK_INT(next, 0);
    CHECK_INT(store_stats(fixture.store).damaged, 0);
    fixture_end(&fixture);
}

static void put_account(StoreFixture *fixture, uint64_t id, const char *name, uint64_t seen,
                        uint64_t expires)
{
    StoreAccount account = {.account_id = id, .created_unix_ms = 1, .seen_unix_ms = seen};
    snprintf(account.name, sizeof account.name, "%s", name);
    StoreSignIn sign_in = {.token_hash = {(uint8_t)id},
                           .account_id = id,
                           .kind = 1,
                           .created_unix_ms = 1,
                           .used_unix_ms = 1,
                           .expires_unix_ms = expires};
    CHECK_OK(store_account_put(fixture->store, &account, &sign_in));
}

TEST(a_sweep_takes_what_nobody_needs_and_nothing_else)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    const uint64_t now = 1000 * DAY_MS, old = now - 31 * DAY_MS;
    put_account(&fixture, 1, "", old, now - 1);        // swept
    put_account(&fixture, 2, "", old, now + DAY_MS);   // still signed in
    put_account(&fixture, 3, "", now - DAY_MS, now);   // seen lately; the sign-in has ended
    put_account(&fixture, 4, "bo", old, now - DAY_MS); // an account stays
    StoreSwept swept = {0};
    CHECK_OK(store_sweep(fixture.store, now, now - 30 * DAY_MS, &swept));
    CHECK_INT(swept.sign_ins, 3);
    CHECK_INT(swept.guests, 1);
    CHECK_INT(swept.links, 0);
    StoreAccount found;
    CHECK_INT(store_account_find(fixture.store, 1, &found), STATUS_NOT_FOUND);
    for (uint64_t id = 2; id <= 4; id++) {
        CHECK_OK(store_account_find(fixture.store, id, &found));
    }
    CHECK_OK(store_sweep(fixture.store, now, now - 30 * DAY_MS, &swept));
    CHECK_INT(swept.sign_ins + swept.guests + swept.links, 0);
    fixture_end(&fixture);
}
