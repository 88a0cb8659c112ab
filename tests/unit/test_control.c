// Guests and sign-ins of the control plane: in memory, on disk, and when they end.
#include "server/control/account.h"
#include "server/control/attempt.h"
#include "server/control/control.h"
#include "server/control/name.h"
#include "server/control/order/bans.h"

#include "core/base/limits.h"
#include "core/base/rng.h"
#include "core/base/utf8.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

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

TEST(guests_without_accounts_are_bounded_and_outlive_the_process)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    const ControlConfig config = {
        .store = fixture.store, .secret = {7}, .unix_ms = test_now, .guests_only = true};
    Control *control = NULL;
    REQUIRE(control_create(&config, &control) == STATUS_OK);
    char bo[TOKEN_TEXT_BYTES], token[TOKEN_TEXT_BYTES];
    Identity who;
    ControlGuest guest;
    CHECK_OK(control_add_guest(control, "bo", &who, bo, &guest));
    CHECK_TEXT(who.shown_name, "bo");
    CHECK(who.is_guest && who.account != 0);
    control_write_guest(control, &guest);
    // The one that was used longest ago gives way, not the one that is used.
    for (uint32_t i = 0; i < GUEST_SIGN_INS_MAX + 2000; i++) {
        now_ms += 1;
        CHECK_OK(identity_of_token(control, bo, &who));
        CHECK_OK(control_add_guest(control, "", &who, token, &guest));
    }
    CHECK_INT(control_stats(control).sign_ins, GUEST_SIGN_INS_MAX);
    CHECK_OK(identity_of_token(control, bo, &who));
    CHECK_OK(identity_of_token(control, token, &who));
    control_destroy(control);
    fixture_close(&fixture);
    CHECK_OK(fixture_open(&fixture));
    ControlConfig next = config;
    next.store = fixture.store;
    REQUIRE(control_create(&next, &control) == STATUS_OK);
    CHECK_OK(identity_of_token(control, bo, &who));
    CHECK_TEXT(who.shown_name, "bo");
    CHECK_INT(identity_of_token(control, token, &who), STATUS_DENIED); // it was not written
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
             fixture_is_server()
                 ? "SELECT count(*) FROM sign_ins WHERE position('%s'::bytea IN token_hash) > 0 "
                   "OR name = '%s'"
                 : "SELECT count(*) FROM sign_ins WHERE instr(token_hash, '%s') > 0 OR name = '%s'",
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

// --- accounts -----------------------------------------------------------------------------------

static const AccountAsk nobody = {.address = 1, .is_local = true};

static AccountResult make_account(Control *control, const char *name, const AccountAsk *ask,
                                  AccountGiven *given)
{
    const AccountNew made = {
        .name = name, .password = "a fine password", .shown_name = "", .link = ""};
    return account_register(control, &made, ask, given);
}

static Control *open_people(StoreFixture *fixture)
{
    ControlConfig config = {
        .store = fixture->store, .secret = {7}, .unix_ms = test_now, .is_open = true};
    Control *control = NULL;
    CHECK_OK(control_create(&config, &control));
    return control;
}

TEST(a_plain_line_hides_nothing)
{
    static const char *const hidden[] = {
        "a\nb",          "a\tb",      "a\x1b[1m",        "a\xe2\x80\xae z",
        "a\xe2\x80\x8b", "a\xc2\xad", "\xef\xbb\xbf",    "a\xe2\x81\xa6",
        "\xe3\x85\xa4",  "a\xff",     "\xf3\xa0\x81\x81"};
    CHECK(name_is_plain_line("") && name_is_plain_line("Our town \xe2\x9d\xa4\xef\xb8\x8f"));
    CHECK(name_is_plain_line("\xce\xa9\xce\xbc\xce\xad\xce\xb3\xce\xb1 \xe6\x9d\x8e"));
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        CHECK(!name_is_plain_line(hidden[i]));
        CHECK(name_is_plain_text(hidden[i]) == (i < 2));
    }
}

TEST(what_looks_alike_is_the_same_name)
{
    static const char *const same[][2] = {
        {"bob", "BOB"},
        {"bob", "b0b"},
        {"bob", "Bo_b"},
        {"bob", "~b-o.b"},
        {"bob", "\xd0\x92\xd0\x9e\xd0\x92"},             // Cyrillic
        {"bob", "\xef\xbd\x82\xef\xbd\x8f\xef\xbd\x82"}, // wide
        {"bob", "b\xc3\xb6"
                "b"},
        {"bob", "bo\xcc\x88"
                "b"}, // the same, in two characters
        {"bill", "bi11"},
        {"bill", "BILL"},
        {"modern", "rnodem"},
        {"well", "vvell"},
        {"\xce\x91nna", "anna"}, // Greek
    };
    static const char *const others[][2] = {
        {"bob", "bobo"}, {"ann", "anne"}, {"a2", "a3"}, {"\xe4\xb8\xad", "\xe5\x9b\xbd"}};
    char a[NAME_FOLD_BYTES], b[NAME_FOLD_BYTES];
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        name_fold(same[i][0], a);
        name_fold(same[i][1], b);
        CHECK_TEXT(a, b);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        name_fold(others[i][0], a);
        name_fold(others[i][1], b);
        CHECK(strcmp(a, b) != 0);
    }
    name_fold("...", a);
    CHECK_TEXT(a, "..."); // nothing else is left of it
    CHECK(name_is_valid("a-B_9") && !name_is_valid("ab") && !name_is_valid("a~b"));
    CHECK(name_is_shown("Anna M\xc3\xbcller") && !name_is_shown("~anna"));
    CHECK(!name_is_shown("\xef\xbd\x9e"
                         "anna") &&
          !name_is_shown("anna "));
}

// Whatever bytes come: it fits, and a folded name folds to itself, so that equal stays equal.
TEST(any_bytes_fold)
{
    Rng rng = rng_make(test_seed(), 3);
    for (uint32_t round = 0; round < 20000; round++) {
        char name[80], once[NAME_FOLD_BYTES], twice[NAME_FOLD_BYTES];
        size_t bytes = 0;
        const size_t wanted = rng_below(&rng, 65);
        while (bytes + 4 < wanted) {
            const uint32_t kind = rng_below(&rng, 8);
            const uint32_t code_point = kind < 3   ? 1 + rng_below(&rng, 126)
                                        : kind < 6 ? 0x80 + rng_below(&rng, 0x700)
                                                   : 0xe000 + rng_below(&rng, 0x12000);
            bytes += utf8_encode(code_point, (uint8_t *)name + bytes);
        }
        if (bytes > 0 && rng_below(&rng, 8) == 0) {
            name[rng_below(&rng, (uint32_t)bytes)] = (char)(1 + rng_below(&rng, 255));
        }
        name[bytes] = '\0';
        name_fold(name, once);
        CHECK(strlen(once) <= bytes);
        name_fold(once, twice);
        CHECK_TEXT(twice, once);
        (void)name_is_shown(name);
    }
}

TEST(attempts_are_counted_and_forgotten)
{
    Attempts *attempts = NULL;
    REQUIRE(attempts_create(&attempts) == STATUS_OK);
    uint32_t wait_s = 0;
    const uint64_t begin = 1000 * HOUR_MS;
    for (uint32_t i = 0; i < FAILURES_PER_NAME_MAX; i++) {
        CHECK(attempts_take(attempts, ATTEMPT_NAME, "ann", 3, begin + i, &wait_s));
    }
    CHECK(!attempts_take(attempts, ATTEMPT_NAME, "ann", 3, begin + 60000, &wait_s));
    CHECK_INT(wait_s, 14 * 60 + 1);
    CHECK(attempts_take(attempts, ATTEMPT_NAME, "bob", 3, begin, &wait_s));
    CHECK(attempts_take(attempts, ATTEMPT_ADDRESS, "ann", 3, begin, &wait_s));
    attempts_give_back(attempts, ATTEMPT_NAME, "ann", 3);
    CHECK(attempts_take(attempts, ATTEMPT_NAME, "ann", 3, begin, &wait_s));
    CHECK(!attempts_take(attempts, ATTEMPT_NAME, "ann", 3, begin, &wait_s));
    // A quarter of the table in other names: who tried most is still known.
    for (uint32_t i = 0; i < ATTEMPTS_MAX / 4; i++) {
        (void)attempts_take(attempts, ATTEMPT_NAME, &i, sizeof i, begin, &wait_s);
    }
    CHECK(!attempts_take(attempts, ATTEMPT_NAME, "ann", 3, begin, &wait_s));
    // More names than there is memory for: the table takes them, and forgets.
    for (uint32_t i = 0; i < 2 * ATTEMPTS_MAX; i++) {
        CHECK(attempts_take(attempts, ATTEMPT_NAME, &i, sizeof i, begin, &wait_s));
    }
    CHECK(attempts_take(attempts, ATTEMPT_NAME, "ann", 3, begin + ATTEMPT_WINDOW_MS, &wait_s));
    attempts_destroy(attempts);
}

TEST(an_account_is_made_once_and_found_by_its_password)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_people(&fixture);
    REQUIRE(control != NULL);
    AccountGiven guest, made, again;
    CHECK_INT(account_guest(control, "ann", &nobody, &guest), ACCOUNT_OK);
    const AccountAsk as_guest = {.who = &guest.who, .is_local = true};
    CHECK_INT(make_account(control, "ann", &as_guest, &made), ACCOUNT_OK);
    CHECK_INT(made.who.account, guest.who.account);
    CHECK_INT(make_account(control, "Ann", &nobody, &again), ACCOUNT_NAME_TAKEN);
    CHECK_INT(make_account(control, "ann2", &as_guest, &again), ACCOUNT_HAS_ONE);
    const AccountAsk as_ann = {.who = &made.who, .is_local = true};
    CHECK_INT(make_account(control, "ann2", &as_ann, &again), ACCOUNT_HAS_ONE);
    Identity who;
    CHECK_INT(identity_of_token(control, guest.token, &who), STATUS_DENIED);
    CHECK_INT(account_sign_in(control, "ANN", "a fine password", &nobody, &again), ACCOUNT_OK);
    CHECK_INT(again.who.account, made.who.account);
    CHECK_INT(account_sign_in(control, "ann", "a fine passwore", &nobody, &again), ACCOUNT_WRONG);
    CHECK_INT(control_make_guest(control, "\xd0\x90nn", &who, again.token), STATUS_EXISTS);
    // The password is a hash of the strength that we promise.
    CHECK_INT(fixture_number(&fixture,
                             "SELECT count(*) FROM accounts WHERE substr(password, 1, 31) = "
                             "CAST('$argon2id$v=19$m=19456,t=2,p=1$' AS BLOB)"),
              1);
    control_destroy(control);
    fixture_end(&fixture);
}

// The uses of sign-ins are written later: one that ended meanwhile does not come back.
TEST(a_sign_in_that_ended_stays_so)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_people(&fixture);
    REQUIRE(control != NULL);
    AccountGiven guest;
    CHECK_INT(account_guest(control, "", &nobody, &guest), ACCOUNT_OK);
    SignInView view;
    CHECK_INT(account_sign_ins(control, guest.who.account, &view, 1), 1);
    CHECK_INT(account_sign_out(control, &guest.who), ACCOUNT_OK);
    CHECK_OK(store_sign_in_used(fixture.store, &view.row, 1));
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM sign_ins WHERE account_id <> 0"), 0);
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(sessions_of_an_account_are_bounded)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_people(&fixture);
    REQUIRE(control != NULL);
    AccountGiven first, next;
    Identity who;
    CHECK_INT(make_account(control, "ann", &nobody, &first), ACCOUNT_OK);
    for (uint32_t i = 0; i < SESSIONS_PER_ACCOUNT_MAX; i++) {
        AccountGiven guest;
        now_ms += 1;
        CHECK_INT(account_guest(control, "", &nobody, &guest), ACCOUNT_OK);
        const AccountAsk as_guest = {.who = &guest.who, .is_local = true};
        const AccountAsk *ask = i % 2 == 0 ? &nobody : &as_guest;
        CHECK_INT(account_sign_in(control, "ann", "a fine password", ask, &next), ACCOUNT_OK);
        CHECK_INT(identity_of_token(control, guest.token, &who),
                  i % 2 == 0 ? STATUS_OK : STATUS_DENIED);
        if (i % 2 == 0) {
            CHECK_INT(account_sign_out(control, &guest.who), ACCOUNT_OK);
        }
    }
    CHECK_INT(control_stats(control).sign_ins, SESSIONS_PER_ACCOUNT_MAX);
    CHECK_INT(identity_of_token(control, first.token, &who), STATUS_DENIED);
    CHECK_OK(identity_of_token(control, next.token, &who));
    char token[TOKEN_TEXT_BYTES];
    uint8_t hash[TOKEN_HASH_BYTES];
    for (uint32_t i = 0; i < TOKENS_PER_ACCOUNT_MAX; i++) {
        CHECK_INT(account_make_token(control, &who, "bot", SCOPE_PLAY, token, hash), ACCOUNT_OK);
    }
    CHECK_INT(account_make_token(control, &who, "bot", SCOPE_PLAY, token, hash), ACCOUNT_TOO_MANY);
    control_destroy(control);
    fixture_end(&fixture);
}

typedef struct Demotion {
    Control *control;
    const char *name;
    AccountResult result;
} Demotion;

static void *demote(void *user)
{
    Demotion *demotion = user;
    demotion->result = account_set_roles(demotion->control, demotion->name, 0);
    return NULL;
}

TEST(two_operators_who_demote_each_other_leave_one)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_people(&fixture);
    REQUIRE(control != NULL);
    AccountGiven given;
    CHECK_INT(make_account(control, "ann", &nobody, &given), ACCOUNT_OK);
    CHECK_INT(make_account(control, "bob", &nobody, &given), ACCOUNT_OK);
    for (uint32_t i = 0; i < 50; i++) {
        CHECK_INT(account_set_roles(control, "ann", ROLE_OPERATOR), ACCOUNT_OK);
        CHECK_INT(account_set_roles(control, "bob", ROLE_OPERATOR), ACCOUNT_OK);
        Demotion both[2] = {{control, "ann", ACCOUNT_OK}, {control, "bob", ACCOUNT_OK}};
        pthread_t threads[2];
        for (uint32_t k = 0; k < 2; k++) {
            REQUIRE(pthread_create(&threads[k], NULL, demote, &both[k]) == 0);
        }
        for (uint32_t k = 0; k < 2; k++) {
            (void)pthread_join(threads[k], NULL);
        }
        uint64_t count = 0;
        CHECK_OK(store_account_count(fixture.store, ROLE_OPERATOR, &count));
        CHECK_INT(count, 1);
        const bool is_first = both[0].result == ACCOUNT_OK;
        CHECK_INT(both[is_first ? 0 : 1].result, ACCOUNT_OK);
        CHECK_INT(both[is_first ? 1 : 0].result, ACCOUNT_LAST_OPERATOR);
    }
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(a_known_device_has_its_own_count)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_people(&fixture);
    REQUIRE(control != NULL);
    AccountGiven ann, bob, given;
    CHECK_INT(make_account(control, "ann", &nobody, &ann), ACCOUNT_OK);
    CHECK_INT(make_account(control, "bob", &nobody, &bob), ACCOUNT_OK);
    char device[DEVICE_TEXT_BYTES], other[DEVICE_TEXT_BYTES];
    account_device_make(control, ann.who.account, device);
    account_device_make(control, bob.who.account, other);
    const AccountAsk stranger = {.address = 1}, owner = {.address = 2, .device = device},
                     neighbour = {.address = 3, .device = other};
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_INT(account_sign_in(control, "ann", "guess", &stranger, &given), ACCOUNT_WRONG);
    }
    CHECK_INT(account_sign_in(control, "ann", "a fine password", &stranger, &given),
              ACCOUNT_LIMITED);
    CHECK_INT(account_sign_in(control, "ann", "a fine password", &neighbour, &given),
              ACCOUNT_LIMITED); // of another account
    CHECK_INT(account_sign_in(control, "ann", "a fine password", &owner, &given), ACCOUNT_OK);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_INT(account_sign_in(control, "ann", "guess", &owner, &given), ACCOUNT_WRONG);
    }
    CHECK_INT(account_sign_in(control, "ann", "a fine password", &owner, &given), ACCOUNT_LIMITED);
    control_destroy(control);
    fixture_end(&fixture);
}

// Between looking at the password and signing in, another request changed it.
TEST(a_password_that_was_changed_meanwhile_signs_nobody_in)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_people(&fixture);
    REQUIRE(control != NULL);
    AccountGiven made, changed;
    CHECK_INT(make_account(control, "ann", &nobody, &made), ACCOUNT_OK);
    StoreAccount was;
    CHECK_OK(store_account_by_name(fixture.store, "ann", &was));
    const AccountAsk as_ann = {.who = &made.who, .is_local = true};
    CHECK_INT(
        account_change_password(control, "a fine password", "another password", &as_ann, &changed),
        ACCOUNT_OK);
    const StoreSignIn sign_in = {.token_hash = {1}, .account_id = was.account_id, .kind = 1};
    const StoreAccountChange change = {.account = &was, .was = &was, .sign_in = &sign_in};
    CHECK_INT(store_account_change(fixture.store, &change), STATUS_MISMATCH);
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM sign_ins WHERE account_id <> 0"), 1);
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(links_are_good_once_and_not_for_ever)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_control(&fixture); // registration is closed
    REQUIRE(control != NULL);
    char first[TOKEN_TEXT_BYTES], second[TOKEN_TEXT_BYTES];
    AccountGiven given;
    CHECK_OK(control_operator_link(control, first));
    CHECK_OK(control_operator_link(control, second)); // of the next start
    AccountNew made = {
        .name = "boss", .password = "a fine password", .shown_name = "", .link = first};
    CHECK_INT(account_register(control, &made, &nobody, &given), ACCOUNT_LINK_GONE);
    made.link = second;
    CHECK_INT(account_register(control, &made, &nobody, &given), ACCOUNT_OK);
    CHECK_INT(given.who.roles, ROLE_OPERATOR | ROLE_CREATOR);
    CHECK_INT(control_operator_link(control, first), STATUS_EXISTS);
    CHECK_INT(make_account(control, "ann", &nobody, &given), ACCOUNT_CLOSED);
    // An invitation, and a new password, that came too late.
    CHECK_OK(control_invite(control, ROLE_TEACHER, HOUR_MS, 5, first));
    CHECK_OK(control_reset_link(control, "BOSS", 5, second));
    now_ms += HOUR_MS;
    made =
        (AccountNew){.name = "ann", .password = "a fine password", .shown_name = "", .link = first};
    CHECK_INT(account_register(control, &made, &nobody, &given), ACCOUNT_LINK_GONE);
    made.link = second; // it is for something else
    CHECK_INT(account_register(control, &made, &nobody, &given), ACCOUNT_LINK_GONE);
    now_ms += LINK_PASSWORD_MS - HOUR_MS;
    CHECK_INT(account_reset(control, second, "another password", &nobody, &given),
              ACCOUNT_LINK_GONE);
    CHECK_INT(control_reset_link(control, "nobody", 5, second), STATUS_NOT_FOUND);
    control_destroy(control);
    fixture_end(&fixture);
}

// A world that runs writes about somebody who leaves it, after the account was deleted.
TEST(what_was_deleted_is_deleted_again)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_people(&fixture);
    REQUIRE(control != NULL);
    AccountGiven guest;
    Identity who;
    StoreAccount row;
    CHECK_INT(account_guest(control, "ann", &nobody, &guest), ACCOUNT_OK);
    CHECK_OK(store_account_find(fixture.store, guest.who.account, &row));
    StoreBan ban = {.account_id = guest.who.account,
                    .kind = BAN_ENTER,
                    .until_unix_ms = STORE_BAN_FOREVER,
                    .reason = "was rude",
                    .maker_id = 1};
    CHECK_OK(control_ban(control, &ban));
    CHECK_OK(control_delete_person(control, guest.who.account));
    CHECK_INT(identity_of_token(control, guest.token, &who), STATUS_DENIED);
    CHECK(!control_find_ban(control, guest.who.account, "", BAN_ENTER, &ban));
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM bans WHERE account_id <> 0"), 0);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_OK(store_account_put(fixture.store, &row, NULL)); // stands for what a world writes
        control_write(control);
        CHECK_INT(store_account_find(fixture.store, row.account_id, &row), STATUS_NOT_FOUND);
        now_ms += 60000;
    }
    // After a restart it goes on, and some minutes later it is over.
    control_destroy(control);
    control = open_people(&fixture);
    control_note_deleted(control, row.account_id, now_ms - 60000);
    CHECK_OK(store_account_put(fixture.store, &row, NULL));
    control_write(control);
    CHECK_INT(store_account_find(fixture.store, row.account_id, &row), STATUS_NOT_FOUND);
    now_ms += HOUR_MS;
    CHECK_OK(store_account_put(fixture.store, &row, NULL));
    control_write(control);
    CHECK_OK(store_account_find(fixture.store, row.account_id, &row));
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(chat_rules_blocks_and_lists_outlive_a_restart)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    now_ms = 1000 * HOUR_MS;
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    uint32_t line = 0;
    StoreChatRule rule = {.scope = STORE_CHAT_PLACE, .subject = "place_a", .rule = CHAT_PHRASES};
    CHECK_OK(control_set_chat_rule(control, &rule));
    CHECK_INT(control_chat_in(control, "place_a"), CHAT_PHRASES);
    CHECK_INT(control_chat_in(control, "place_b"), CHAT_FREE);
    CHECK_OK(control_set_chat(control, CHAT_OFF));
    CHECK_INT(control_chat_in(control, "place_a"), CHAT_OFF); // the strictest
    CHECK_OK(control_block(control, 7, 8));
    CHECK_OK(control_block(control, 7, 8));
    CHECK_OK(control_block(control, 7, 5));
    CHECK_OK(control_set_list(control, STORE_LIST_WORDS, "troll\n", 6, 1, &line));
    CHECK(control_has_word(control, "Tr0ll") && !control_has_word(control, "trolley"));
    CHECK_INT(control_set_list(control, STORE_LIST_WORDS, "ok\nx\n", 5, 1, &line),
              STATUS_MALFORMED);
    CHECK_INT(line, 2);
    CHECK_INT(control_set_list(control, STORE_LIST_PHRASES, "a\n b\n", 5, 1, &line),
              STATUS_MALFORMED);
    ControlChatChange change;
    CHECK(control_take_chat_change(control, &change) && change.kind == CHAT_CHANGED_WORLDS);
    CHECK_TEXT(change.place_id, "place_a");
    uint32_t more = 0;
    while (control_take_chat_change(control, &change)) {
        more += 1;
    }
    CHECK_INT(more, 4);
    StoreAddressBan ban = {.range = "192.0.2.0/24", .until_unix_ms = STORE_BAN_FOREVER};
    CHECK_OK(control_ban_addresses(control, &ban));
    control_destroy(control);
    control = open_control(&fixture);
    REQUIRE(control != NULL);
    StoreBlock blocks[4];
    CHECK_INT(control_blocks(control, 7, blocks, 4), 2);
    CHECK(blocks[0].blocked_id == 5 && blocks[1].blocked_id == 8);
    CHECK_INT(control_chat_rule(control, STORE_CHAT_PLACE, 0, "place_a"), CHAT_PHRASES);
    CHECK(control_has_word(control, "troll"));
    HttpPeer peer = http_peer_v4(0xc0000205);
    CHECK(control_find_address_ban(control, &peer, &ban));
    peer = http_peer_v4(0xc0000305);
    CHECK(!control_find_address_ban(control, &peer, &ban));
    CHECK_OK(control_unban_addresses(control, "192.0.2.0/24"));
    CHECK_INT(control_unban_addresses(control, "192.0.2.0/24"), STATUS_NOT_FOUND);
    CHECK_OK(control_unblock(control, 7, 8));
    CHECK_INT(control_blocks(control, 7, blocks, 4), 1);
    control_forget_blocks(control, 5);
    CHECK_INT(control_blocks(control, 7, blocks, 4), 0);
    control_destroy(control);
    fixture_end(&fixture);
}
