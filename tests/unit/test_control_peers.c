// Two control planes on one database: what one changes, the other knows once it has read the
// events.
#include "server/control/account.h"
#include "server/control/control.h"
#include "server/control/order/bans.h"
#include "server/control/order/chat.h"
#include "server/store/people/store_setting.h"
#include "server/store/world/store_event.h"

#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#define NOW 1700000000000ull

static uint64_t test_now(void *user)
{
    (void)user;
    return NOW;
}

typedef struct Pair {
    StoreDatabase *database;
    Store *stores[2];
    Control *controls[2];
    uint64_t last[2];
} Pair;

static void pair_begin(Pair *pair)
{
    *pair = (Pair){.database = NULL};
    REQUIRE(store_database_open(&pair->database) == STATUS_OK);
    for (uint32_t i = 0; i < 2; i++) {
        StoreConfig config = store_config_default();
        config.database = pair->database;
        config.shared = true;
        config.unix_ms = test_now;
        REQUIRE(store_open(&config, &pair->stores[i], NULL, 0) == STATUS_OK);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const ControlConfig config = {
            .store = pair->stores[i], .secret = {7}, .unix_ms = test_now, .is_shared = true};
        REQUIRE(control_create(&config, &pair->controls[i]) == STATUS_OK);
    }
}

static void pair_end(Pair *pair)
{
    for (uint32_t i = 0; i < 2; i++) {
        control_destroy(pair->controls[i]);
        store_close(pair->stores[i]);
    }
    store_database_close(pair->database);
}

// The second one reads what the first one did; gives how many events there were.
static uint32_t hear(Pair *pair, uint32_t who)
{
    StoreEvent events[32];
    uint32_t count = 0;
    CHECK_OK(store_events_since(pair->stores[who], pair->last[who], &pair->last[who], events, 32,
                                &count));
    for (uint32_t i = 0; i < count; i++) {
        control_hear(pair->controls[who], &events[i]);
    }
    return count;
}

TEST(settings_that_an_operator_changes_are_those_of_all)
{
    Pair pair;
    pair_begin(&pair);
    CHECK(!control_registration_is_open(pair.controls[1]));
    CHECK_OK(control_set_registration(pair.controls[0], true));
    CHECK_OK(control_set_chat(pair.controls[0], CHAT_PHRASES));
    CHECK_OK(control_set_guest_chat(pair.controls[0], CHAT_OFF));
    CHECK_OK(control_set_approves(pair.controls[0], true));
    CHECK(!control_registration_is_open(pair.controls[1])); // not heard yet
    CHECK(hear(&pair, 1) >= 4);
    CHECK(control_registration_is_open(pair.controls[1]));
    CHECK_INT(control_chat(pair.controls[1]), CHAT_PHRASES);
    CHECK_INT(control_guest_chat(pair.controls[1]), CHAT_OFF);
    CHECK(control_approves(pair.controls[1]));
    // One that begins later, with other settings of its own.
    control_destroy(pair.controls[1]);
    const ControlConfig config = {
        .store = pair.stores[1], .secret = {7}, .unix_ms = test_now, .is_shared = true};
    REQUIRE(control_create(&config, &pair.controls[1]) == STATUS_OK);
    CHECK(control_registration_is_open(pair.controls[1]) && control_approves(pair.controls[1]));
    CHECK_INT(control_chat(pair.controls[1]), CHAT_PHRASES);
    pair_end(&pair);
}

TEST(the_link_of_each_host_is_good_until_there_is_an_operator)
{
    Pair pair;
    pair_begin(&pair);
    char links[3][TOKEN_TEXT_BYTES];
    StoreLink found;
    AccountGiven given;
    const AccountAsk nobody = {.address = 1, .is_local = true};
    for (uint32_t i = 0; i < 3; i++) { // the second one was started twice
        CHECK_OK(control_operator_link(pair.controls[i > 0], links[i]));
    }
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_INT(account_link(pair.controls[0], links[i], &found), ACCOUNT_OK);
    }
    const AccountNew made = {
        .name = "boss", .password = "a fine password", .shown_name = "", .link = links[0]};
    CHECK_INT(account_register(pair.controls[1], &made, &nobody, &given), ACCOUNT_OK);
    CHECK_INT(given.who.roles, ROLE_OPERATOR | ROLE_CREATOR);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_INT(account_link(pair.controls[0], links[i], &found), ACCOUNT_LINK_GONE);
    }
    StoreLink left; // and will not be good again when there is no operator any more
    CHECK_INT(store_link_find(pair.stores[0], found.token_hash, &left), STATUS_NOT_FOUND);
    pair_end(&pair);
}

TEST(hosts_on_one_database_have_one_secret)
{
    Pair pair;
    pair_begin(&pair);
    const uint8_t one[STORE_TOKEN_BYTES] = {1}, other[STORE_TOKEN_BYTES] = {2};
    bool was_changed = true;
    CHECK_OK(store_secret_agree(pair.stores[0], one, true, NOW, &was_changed));
    CHECK(!was_changed);
    CHECK_OK(store_secret_agree(pair.stores[1], one, true, NOW + 1000, &was_changed));
    CHECK(!was_changed);
    CHECK_INT(store_secret_agree(pair.stores[1], other, true, NOW + 60000, &was_changed),
              STATUS_MISMATCH);
    // Nobody has begun for a minute, but a host still runs.
    const StoreHost host = {.host_id = "host_a", .address = "a", .is_peer = true, .boot = {3}};
    CHECK_OK(store_host_renew(pair.stores[0], &host, NOW, 90000, 1));
    store_step(pair.stores[0]);
    CHECK_INT(store_secret_agree(pair.stores[1], other, true, NOW + 62000, &was_changed),
              STATUS_MISMATCH);
    CHECK_OK(store_secret_agree(pair.stores[1], other, true, NOW + 91000, &was_changed));
    CHECK(was_changed);
    CHECK_INT(store_secret_agree(pair.stores[0], one, true, NOW + 92000, &was_changed),
              STATUS_MISMATCH);
    pair_end(&pair);
}

TEST(a_sign_in_made_here_is_known_there_and_ends_there)
{
    Pair pair;
    pair_begin(&pair);
    Identity made, found;
    char token[TOKEN_TEXT_BYTES];
    CHECK_OK(control_make_guest(pair.controls[0], "bo", &made, token));
    CHECK_OK(identity_of_token(pair.controls[1], token, &found)); // before any event
    CHECK_INT(found.account, made.account);
    CHECK_INT(hear(&pair, 1), 0); // somebody new is no event
    CHECK_OK(
        store_sign_in_delete(pair.stores[0], (const uint8_t(*)[STORE_TOKEN_BYTES])made.sign_in, 1));
    CHECK_OK(identity_of_token(pair.controls[1], token, &found)); // not heard yet
    CHECK_INT(hear(&pair, 1), 1);
    CHECK_INT(identity_of_token(pair.controls[1], token, &found), STATUS_DENIED);
    pair_end(&pair);
}

TEST(bans_ranges_and_lists_follow)
{
    Pair pair;
    StoreBan ban = {.account_id = 77, .kind = BAN_ENTER, .until_unix_ms = NOW + 1000}, found;
    pair_begin(&pair);
    CHECK_OK(control_ban(pair.controls[0], &ban));
    CHECK(!control_find_ban(pair.controls[1], 77, "w", BAN_ENTER, &found));
    CHECK_INT(hear(&pair, 1), 1);
    CHECK(control_find_ban(pair.controls[1], 77, "w", BAN_ENTER, &found));
    REQUIRE(control_take_ban_change(pair.controls[1], &found)); // running worlds hear of it
    CHECK_INT(found.account_id, 77);
    CHECK_OK(control_unban(pair.controls[1], 77, "", BAN_ENTER));
    CHECK_INT(hear(&pair, 0), 1);
    CHECK(!control_find_ban(pair.controls[0], 77, "w", BAN_ENTER, &found));
    // Who was away for too long reads everything again.
    CHECK_OK(control_ban(pair.controls[0], &ban));
    control_hear(pair.controls[1], &(StoreEvent){.kind = EVENT_ALL});
    CHECK(control_find_ban(pair.controls[1], 77, "w", BAN_ENTER, &found));
    // What makes no sense changes nothing.
    for (uint32_t kind = 0; kind < EVENT_KIND_COUNT; kind++) {
        control_hear(pair.controls[1], &(StoreEvent){.kind = (StoreEventKind)kind, .bytes = 3});
    }
    CHECK(control_find_ban(pair.controls[1], 77, "w", BAN_ENTER, &found));
    pair_end(&pair);
}
