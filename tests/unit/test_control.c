// Guests and sign-ins of the control plane: in memory, on disk, and when they end.
#include "server/control/control.h"

#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>

#define HOUR_MS 3600000ull

static uint64_t now_ms;

static uint64_t test_now(void *user)
{
    (void)user;
    return now_ms;
}

static Control *open_control(StoreFixture *fixture)
{
    ControlConfig config = {.store = fixture->store, .secret = {7}, .unix_ms = test_now};
    Control *control = NULL;
    CHECK_OK(control_create(&config, &control));
    return control;
}

TEST(a_guest_is_known_by_its_token_alone)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    Identity bo, again;
    char token[TOKEN_TEXT_BYTES];
    CHECK_OK(control_make_guest(control, "bo", &bo, token));
    CHECK_TEXT(bo.shown_name, "~bo");
    CHECK(bo.is_guest && bo.account != 0 && bo.roles == 0);
    CHECK_OK(identity_of_token(control, token, &again));
    CHECK_INT(again.account, bo.account);
    token[5] = token[5] == 'x' ? 'y' : 'x';
    CHECK_INT(identity_of_token(control, token, &again), STATUS_DENIED);
    CHECK_INT(identity_of_token(control, "", &again), STATUS_DENIED);
    CHECK_INT(control_stats(control).refused, 2);
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(sign_ins_outlive_the_process_and_end)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    static char tokens[2000][TOKEN_TEXT_BYTES];
    Identity who;
    for (uint32_t i = 0; i < 2000; i++) { // the table grows
        CHECK_OK(control_make_guest(control, "", &who, tokens[i]));
    }
    control_destroy(control);
    fixture_close(&fixture);
    CHECK_OK(fixture_open(&fixture));
    control = open_control(&fixture);
    REQUIRE(control != NULL);
    CHECK_INT(control_stats(control).sign_ins, 2000);
    for (uint32_t i = 0; i < 2000; i++) {
        CHECK_OK(identity_of_token(control, tokens[i], &who));
    }
    // Four hours after the last use; the first one is used in between.
    now_ms += 3 * HOUR_MS;
    CHECK_OK(identity_of_token(control, tokens[0], &who));
    now_ms += 2 * HOUR_MS;
    CHECK_OK(identity_of_token(control, tokens[0], &who));
    CHECK_INT(identity_of_token(control, tokens[1], &who), STATUS_DENIED);
    CHECK(control_step(control));
    control_write(control);
    CHECK_INT(control_stats(control).sign_ins, 1);
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM sign_ins WHERE account_id <> 0"), 1);
    // Seven days at most, however often it is used.
    for (uint32_t i = 0; i < 60; i++) {
        now_ms += 3 * HOUR_MS;
        status_ignore(identity_of_token(control, tokens[0], &who));
    }
    CHECK_INT(identity_of_token(control, tokens[0], &who), STATUS_DENIED);
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(the_database_holds_no_token)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    Identity who;
    char token[TOKEN_TEXT_BYTES], query[256];
    CHECK_OK(control_make_guest(control, "bo", &who, token));
    snprintf(query, sizeof query,
             "SELECT count(*) FROM sign_ins WHERE instr(token_hash, '%s') > 0 OR name = '%s'",
             token, token);
    CHECK_INT(fixture_number(&fixture, query), 0);
    // Another secret knows none of them.
    control_destroy(control);
    ControlConfig config = {.store = fixture.store, .secret = {8}, .unix_ms = test_now};
    CHECK_OK(control_create(&config, &control));
    CHECK_INT(identity_of_token(control, token, &who), STATUS_DENIED);
    control_destroy(control);
    fixture_end(&fixture);
}
TEST(bans_hold_until_their_time_is_over_and_after_a_restart)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    StoreBan found;
    StoreBan ban = {.account_id = 7,
                    .kind = BAN_ENTER,
                    .until_unix_ms = now_ms + HOUR_MS,
                    .reason = "spam",
                    .maker_id = 1};
    CHECK_OK(control_ban(control, &ban));
    snprintf(ban.world_id, sizeof ban.world_id, "world_a");
    ban.kind = BAN_CHAT;
    ban.until_unix_ms = STORE_BAN_FOREVER;
    CHECK_OK(control_ban(control, &ban));
    CHECK(control_find_ban(control, 7, "world_b", BAN_ENTER, &found));
    CHECK_TEXT(found.reason, "spam");
    CHECK(control_find_ban(control, 7, "world_a", BAN_CHAT, &found));
    CHECK(!control_find_ban(control, 7, "world_b", BAN_CHAT, &found));
    CHECK(!control_find_ban(control, 8, "world_a", BAN_ENTER, &found));
    CHECK_INT(control_bans(control, &found, 1), 2);
    CHECK(control_take_ban_change(control, &found) && found.kind == BAN_ENTER);
    CHECK(control_take_ban_change(control, &found) && found.kind == BAN_CHAT);
    CHECK(!control_take_ban_change(control, &found));
    control_destroy(control);
    control = open_control(&fixture);
    REQUIRE(control != NULL);
    CHECK(control_find_ban(control, 7, "", BAN_ENTER, &found));
    now_ms += HOUR_MS;
    CHECK(!control_find_ban(control, 7, "", BAN_ENTER, &found));
    CHECK_OK(control_unban(control, 7, "world_a", BAN_CHAT));
    CHECK_INT(control_unban(control, 7, "world_a", BAN_CHAT), STATUS_NOT_FOUND);
    CHECK(!control_find_ban(control, 7, "world_a", BAN_CHAT, &found));
    CHECK(control_take_ban_change(control, &found) && found.until_unix_ms == 0);
    ban.account_id = 0;
    CHECK_INT(control_ban(control, &ban), STATUS_MALFORMED);
    control_destroy(control);
    fixture_end(&fixture);
}
