// Classes of a school: what is stored, codes that pupils sign in with, who may do what with a place
// that is a class's, and what may be said there.
#define _GNU_SOURCE
#include "server/control/control.h"
#include "server/control/order/class.h"
#include "server/control/order/rights.h"
#include "server/store/people/store_handout.h"
#include "server/store/people/store_person.h"
#include "server/store/sql/sql.h"

#include "core/base/limits.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <string.h>

static uint64_t now_ms = 1000;

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

static StoreClass class_of(const char *id, uint64_t teacher)
{
    StoreClass class = {.teacher_id = teacher, .created_unix_ms = 5};
    snprintf(class.class_id, sizeof class.class_id, "%s", id);
    snprintf(class.name, sizeof class.name, "5b");
    return class;
}

static StorePackage place_of(const char *id, uint64_t owner)
{
    StorePackage package = {.kind = STORE_PLACE, .owner_id = owner};
    snprintf(package.package_id, sizeof package.package_id, "%s", id);
    snprintf(package.title, sizeof package.title, "The %s", id);
    return package;
}

TEST(classes_are_stored_and_given_away_with_their_teacher)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StoreClass first = class_of("class_a", 7), second = class_of("class_b", 7), found[4];
    uint32_t count = 0;
    CHECK_OK(store_class_make(fixture.store, &first, 2));
    CHECK_INT(store_class_make(fixture.store, &first, 2), STATUS_EXISTS);
    CHECK_OK(store_class_make(fixture.store, &second, 2));
    StoreClass third = class_of("class_c", 7), bad = class_of("../x", 8);
    CHECK_INT(store_class_make(fixture.store, &third, 2), STATUS_LIMIT);
    CHECK_INT(store_class_make(fixture.store, &bad, 2), STATUS_MALFORMED);
    CHECK_OK(store_class_pause(fixture.store, "class_b", true));
    CHECK_INT(store_class_pause(fixture.store, "class_none", true), STATUS_NOT_FOUND);
    CHECK_OK(store_classes(fixture.store, 7, "class_a", found, 4, &count));
    REQUIRE(count == 1);
    CHECK(found[0].is_paused && strcmp(found[0].class_id, "class_b") == 0);
    CHECK_OK(store_classes(fixture.store, 8, "", found, 4, &count));
    CHECK_INT(count, 0);
    CHECK_OK(store_person_delete(fixture.store, 7));
    CHECK_OK(store_class_find(fixture.store, "class_b", &found[0]));
    CHECK(found[0].teacher_id == STORE_BUILT_IN_ACCOUNT && found[0].is_paused);
    CHECK_OK(store_class_delete(fixture.store, "class_a"));
    CHECK_INT(store_class_delete(fixture.store, "class_a"), STATUS_NOT_FOUND);
    fixture_end(&fixture);
}

TEST(pupils_sign_in_by_their_code_and_nothing_else)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7);
    CHECK_OK(store_class_make(fixture.store, &class, 9));
    ClassPupil anna, other, again;
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &class, "Anna", &other), ACCOUNT_OK);
    CHECK_TEXT(anna.account.name, "5b-anna");
    CHECK_TEXT(anna.account.shown_name, "Anna");
    CHECK_TEXT(other.account.name, "5b-anna2");
    CHECK_TEXT(other.account.shown_name, "Anna 2");
    CHECK_INT(anna.account.roles, ROLE_PUPIL);
    CHECK_INT(account_add_pupil(control, &class, "~x", &again), ACCOUNT_BAD_SHOWN_NAME);
    CHECK_INT(account_add_pupil(control, &class, "Ömer Çelik", &again), ACCOUNT_OK);
    CHECK_TEXT(again.account.name, "5b-omercelik");
    CHECK_INT(account_add_pupil(control, &class, "Ωμέγα", &again), ACCOUNT_OK);
    CHECK_TEXT(again.account.name, "5b-pupil");

    const AccountAsk ask = {.address = 5};
    AccountGiven given;
    char typed[RECOVERY_TEXT_BYTES];
    for (size_t i = 0; i < sizeof typed; i++) { // as children type it
        const char letter = anna.code[i];
        typed[i] = letter == '-'                    ? ' '
                   : letter >= 'a' && letter <= 'z' ? (char)(letter - 32)
                                                    : letter;
    }
    CHECK_INT(account_sign_in_code(control, "", typed, &ask, &given), ACCOUNT_OK);
    CHECK_INT(given.who.account, anna.account.account_id);
    CHECK_INT(account_sign_in_code(control, "5B-Anna", anna.code, &ask, &given), ACCOUNT_OK);
    CHECK_INT(account_sign_in_code(control, "5b-anna2", anna.code, &ask, &given), ACCOUNT_WRONG);
    CHECK_INT(account_sign_in_code(control, "", "aaaa-aaaa-aaaa", &ask, &given), ACCOUNT_WRONG);
    CHECK_INT(account_sign_in_code(control, "nobody", "aaaa-aaaa-aaaa", &ask, &given),
              ACCOUNT_WRONG);

    // A new code ends the old one and every sign-in.
    Identity who;
    char token[TOKEN_TEXT_BYTES];
    CHECK_INT(account_sign_in_code(control, "", anna.code, &ask, &given), ACCOUNT_OK);
    memcpy(token, given.token, sizeof token);
    CHECK_INT(account_reset_pupil(control, "class_a", anna.account.account_id, &again), ACCOUNT_OK);
    CHECK_INT(identity_of_token(control, token, &who), STATUS_DENIED);
    CHECK_INT(account_sign_in_code(control, "", anna.code, &ask, &given), ACCOUNT_WRONG);
    CHECK_INT(account_sign_in_code(control, "", again.code, &ask, &given), ACCOUNT_OK);
    CHECK_INT(account_reset_pupil(control, "class_b", anna.account.account_id, &again),
              ACCOUNT_NOT_FOUND);
    CHECK_INT(account_remove_pupil(control, "class_a", anna.account.account_id), ACCOUNT_OK);
    CHECK_INT(account_sign_in_code(control, "", again.code, &ask, &given), ACCOUNT_WRONG);
    CHECK_INT(account_remove_pupil(control, "class_a", anna.account.account_id), ACCOUNT_NOT_FOUND);
    StoreAccount kept;
    CHECK_OK(store_account_find(fixture.store, anna.account.account_id, &kept));
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(guessing_codes_is_limited_like_guessing_passwords)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7);
    ClassPupil anna;
    AccountGiven given;
    CHECK_OK(store_class_make(fixture.store, &class, 9));
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    for (uint32_t i = 0; i < FAILURES_PER_NAME_MAX; i++) {
        const AccountAsk ask = {.address = 100 + i};
        CHECK_INT(account_sign_in_code(control, anna.account.name, "aaaa", &ask, &given),
                  ACCOUNT_WRONG);
    }
    const AccountAsk fresh = {.address = 50}, same = {.address = 60};
    CHECK_INT(account_sign_in_code(control, anna.account.name, anna.code, &fresh, &given),
              ACCOUNT_LIMITED);
    CHECK_INT(account_sign_in_code(control, "", anna.code, &fresh, &given), ACCOUNT_OK);
    for (uint32_t i = 0; i < FAILURES_PER_ADDRESS_MAX; i++) {
        CHECK_INT(account_sign_in_code(control, "", "aaaa", &same, &given), ACCOUNT_WRONG);
    }
    CHECK_INT(account_sign_in_code(control, "", anna.code, &same, &given), ACCOUNT_LIMITED);
    CHECK_INT(account_sign_in_code(control, "", anna.code, &fresh, &given), ACCOUNT_OK);
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(a_place_of_a_class_is_closed_to_people_outside)
{
    const Identity owner = {.account = 7}, other = {.account = 8};
    const Identity operator= {.account = 9, .roles = ROLE_OPERATOR};
    StorePackage package = place_of("place_a", 7);
    const uint32_t teacher = RIGHT_SEE | RIGHT_PLAY | RIGHT_TEST | RIGHT_READ | RIGHT_DRAFT;
    package.flags = STORE_PACKAGE_CLASS;
    for (StoreVisibility i = STORE_PRIVATE; i <= STORE_LISTED; i++) {
        package.visibility = i;
        CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &owner), RIGHTS_ALL);
        CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &operator), RIGHTS_ALL);
        CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_TEACHER, &other), teacher);
        CHECK_INT(rights_of(&package, STORE_BLOCKED, CLASS_TEACHER, &other), teacher);
        CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_PUPIL, &other),
                  i == STORE_PRIVATE ? 0 : RIGHT_SEE | RIGHT_PLAY);
        CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, &other), 0);
        CHECK_INT(rights_of(&package, STORE_EDITOR, CLASS_NOBODY, &other), 0);
        CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_NOBODY, NULL), 0);
    }
    package.flags |= STORE_PACKAGE_REMOVED;
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_TEACHER, &other), 0);
    package.flags = 0;
    CHECK_INT(rights_of(&package, STORE_NOBODY, CLASS_TEACHER, &other), RIGHT_SEE | RIGHT_PLAY);
    // Who is no teacher any more, or shows a token for playing, leads nothing.
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    const StoreClass class = class_of("class_a", 8);
    Identity leads = {.account = 8, .roles = ROLE_TEACHER};
    CHECK(rights_teaches(fixture.store, &class, &leads) &&
          rights_teaches(fixture.store, &class, &operator));
    leads.kind = SIGN_IN_TOKEN;
    leads.scope = SCOPE_PLAY | SCOPE_CREATE;
    CHECK(!rights_teaches(fixture.store, &class, &leads) &&
          !rights_teaches(fixture.store, &class, &other));
    CHECK(!rights_teaches(fixture.store, &class, NULL));
    fixture_end(&fixture);
}

TEST(a_class_has_several_teachers_and_never_none)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Store *store = fixture.store;
    const StoreClass class = class_of("class_a", 7), other = class_of("class_b", 9);
    StoreClass found[4];
    uint64_t others[4];
    uint32_t count = 0;
    const Identity eight = {.account = 8, .roles = ROLE_TEACHER};
    const Identity was = {.account = 8}; // a teacher no more
    CHECK_OK(store_class_make(store, &class, 9));
    CHECK_OK(store_class_make(store, &other, 9));
    CHECK(!rights_teaches(store, &class, &eight));
    CHECK_INT(store_teacher_remove(store, "class_a", 7), STATUS_LIMIT);
    CHECK_INT(store_teacher_remove(store, "class_a", 8), STATUS_NOT_FOUND);
    CHECK_INT(store_teacher_add(store, "class_none", 8, 5, 2), STATUS_NOT_FOUND);
    CHECK_OK(store_teacher_add(store, "class_a", 8, 5, 2));
    CHECK_OK(store_teacher_add(store, "class_a", 8, 6, 2)); // twice is once
    CHECK_OK(store_teacher_add(store, "class_a", 7, 6, 2)); // is one already
    CHECK_OK(store_teacher_add(store, "class_a", 9, 6, 2));
    CHECK_INT(store_teacher_add(store, "class_a", 10, 7, 2), STATUS_LIMIT);
    CHECK_OK(store_teachers(store, "class_a", others, 4, &count));
    CHECK(count == 2 && others[0] == 8 && others[1] == 9);
    CHECK(rights_teaches(store, &class, &eight) && !rights_teaches(store, &class, &was));
    CHECK(!rights_teaches(store, &other, &eight));
    CHECK_OK(store_classes(store, 9, "", found, 4, &count));
    CHECK_INT(count, 2);
    // The first one leaves: the oldest of the others takes the place.
    CHECK_OK(store_teacher_remove(store, "class_a", 7));
    CHECK_OK(store_class_find(store, "class_a", &found[0]));
    CHECK_INT(found[0].teacher_id, 8);
    CHECK_INT(store_teacher_remove(store, "class_a", 7), STATUS_NOT_FOUND);
    // So does the next one when a person is deleted, and the last class goes to nobody.
    CHECK_OK(store_person_delete(store, 8));
    CHECK_OK(store_class_find(store, "class_a", &found[0]));
    CHECK_INT(found[0].teacher_id, 9);
    CHECK_INT(store_teacher_remove(store, "class_a", 9), STATUS_LIMIT);
    CHECK_OK(store_teacher_add(store, "class_b", 10, 5, 2));
    CHECK_OK(store_person_delete(store, 10));
    CHECK_OK(store_teachers(store, "class_b", others, 4, &count));
    CHECK_INT(count, 0);
    fixture_end(&fixture);
}

TEST(a_handout_runs_once_and_ends_with_its_class)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Store *store = fixture.store;
    const StoreClass class = class_of("class_a", 7);
    StoreHandout row = {.state = STORE_HANDOUT_RUNNING, .maker_id = 7, .total = 30}, found[2];
    uint32_t count = 0;
    bool runs = true;
    snprintf(row.class_id, sizeof row.class_id, "class_a");
    snprintf(row.handout, sizeof row.handout, "k1");
    snprintf(row.title, sizeof row.title, "Our town");
    CHECK_INT(store_handout_begin(store, &row, &runs), STATUS_NOT_FOUND); // no such class
    CHECK_OK(store_class_make(store, &class, 9));
    CHECK_OK(store_handout_begin(store, &row, &runs));
    CHECK(!runs);
    row.given = 4;
    CHECK_OK(store_handout_save(store, &row));
    StoreHandout again = row;
    again.given = 0;
    CHECK_OK(store_handout_begin(store, &again, &runs));
    CHECK(runs && again.given == 4);
    CHECK_OK(store_handouts_in(store, STORE_HANDOUT_RUNNING, found, 2, &count));
    CHECK(count == 1 && strcmp(found[0].title, "Our town") == 0);
    // Cancelled, it still counts as running until its job has saved it, which learns it that way.
    CHECK_INT(store_handout_cancel(store, "class_a", "k2", &found[0]), STATUS_NOT_FOUND);
    CHECK_OK(store_handout_cancel(store, "class_a", "k1", &found[0]));
    CHECK_INT(found[0].state, STORE_HANDOUT_STOPPING);
    CHECK_OK(store_handout_begin(store, &again, &runs));
    CHECK(runs);
    CHECK_OK(store_handouts_in(store, STORE_HANDOUT_STOPPING, found, 2, &count));
    CHECK_INT(count, 1);
    row.given = 8;
    CHECK_OK(store_handout_save(store, &row));
    CHECK_INT(row.state, STORE_HANDOUT_CANCELLED);
    CHECK_OK(store_handout_cancel(store, "class_a", "k1", &found[0]));
    CHECK_INT(found[0].state, STORE_HANDOUT_CANCELLED);
    CHECK_INT(found[0].given, 8);
    row.state = STORE_HANDOUT_RUNNING;
    CHECK_OK(store_handout_begin(store, &row, &runs)); // once more
    CHECK(!runs);
    row.state = STORE_HANDOUT_DONE;
    CHECK_OK(store_handout_save(store, &row));
    CHECK_OK(store_handouts_in(store, STORE_HANDOUT_RUNNING, found, 2, &count));
    CHECK_INT(count, 0);
    CHECK_OK(store_person_delete(store, 7));
    CHECK_OK(store_handout_find(store, "class_a", "k1", &found[0]));
    CHECK(found[0].maker_id == 0 && found[0].given == 8);
    CHECK_OK(store_class_delete(store, "class_a"));
    CHECK_INT(store_handout_save(store, &row), STATUS_NOT_FOUND);
    CHECK_OK(store_handouts(store, "class_a", found, 2, &count));
    CHECK_INT(count, 0);
    fixture_end(&fixture);
}

TEST(rights_are_found_with_the_class_and_end_with_it)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7);
    ClassPupil anna, bert;
    CHECK_OK(store_class_make(fixture.store, &class, 9));
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &class, "Bert", &bert), ACCOUNT_OK);
    StorePackage place = place_of("place_a", anna.account.account_id), found;
    place.visibility = STORE_LISTED;
    CHECK_OK(store_class_place_make(fixture.store, &place, "class_a", "h1", 9));
    CHECK_INT(store_class_place_make(fixture.store, &place, "class_a", "h1", 9), STATUS_EXISTS);
    CHECK_OK(store_class_handed(fixture.store, "class_a", "h1", anna.account.account_id, &found));
    CHECK_INT(store_class_handed(fixture.store, "class_a", "h1", bert.account.account_id, &found),
              STATUS_NOT_FOUND);
    CHECK_INT(store_class_handed(fixture.store, "class_a", "h2", anna.account.account_id, &found),
              STATUS_NOT_FOUND);

    uint32_t rights = 0;
    const Identity teacher = {.account = 7, .roles = ROLE_TEACHER}, stranger = {.account = 99};
    const Identity other_teacher = {.account = 98, .roles = ROLE_TEACHER};
    const Identity pupil = {.account = bert.account.account_id};
    const Identity owner = {.account = anna.account.account_id};
    CHECK_OK(rights_find(fixture.store, "place_a", &teacher, &found, &rights));
    CHECK((rights & RIGHT_DRAFT) != 0 && (rights & RIGHT_EDIT) == 0);
    CHECK_OK(rights_find(fixture.store, "place_a", &pupil, &found, &rights));
    CHECK_INT(rights, RIGHT_SEE | RIGHT_PLAY);
    CHECK_INT(rights_find(fixture.store, "place_a", &stranger, &found, &rights), STATUS_NOT_FOUND);
    CHECK_INT(rights_find(fixture.store, "place_a", &other_teacher, &found, &rights),
              STATUS_NOT_FOUND);
    CHECK_INT(rights_find(fixture.store, "place_a", NULL, &found, &rights), STATUS_NOT_FOUND);
    CHECK_OK(store_class_pause(fixture.store, "class_a", true));
    CHECK_OK(rights_find(fixture.store, "place_a", &owner, &found, &rights));
    CHECK_INT(rights, RIGHTS_ALL & ~(RIGHT_PLAY | RIGHT_TEST));
    CHECK_OK(rights_find(fixture.store, "place_a", &pupil, &found, &rights));
    CHECK_INT(rights, RIGHT_SEE);
    CHECK_OK(store_class_pause(fixture.store, "class_a", false));

    // Without its class it stays closed.
    CHECK_OK(control_delete_class(control, "class_a"));
    CHECK_OK(rights_find(fixture.store, "place_a", &owner, &found, &rights));
    CHECK_INT(rights, RIGHTS_ALL);
    CHECK_INT(rights_find(fixture.store, "place_a", &teacher, &found, &rights), STATUS_NOT_FOUND);
    CHECK_INT(rights_find(fixture.store, "place_a", &pupil, &found, &rights), STATUS_NOT_FOUND);
    AccountGiven given;
    const AccountAsk ask = {.address = 5};
    CHECK_INT(account_sign_in_code(control, "", bert.code, &ask, &given), ACCOUNT_WRONG);
    CHECK_OK(store_package_delete(fixture.store, "place_a"));
    CHECK_INT(
        fixture_number(&fixture, "SELECT count(*) FROM class_places WHERE length(class_id) > 0"),
        0);
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(the_rule_of_a_class_holds_in_its_places_and_for_its_pupils)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7);
    ClassPupil anna;
    CHECK_OK(store_class_make(fixture.store, &class, 9));
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    const uint64_t account = anna.account.account_id;
    StorePackage place = place_of("place_a", account);
    CHECK_OK(store_class_place_make(fixture.store, &place, "class_a", "h1", 9));
    CHECK_OK(control_class_place(control, "class_a", "place_a"));
    StoreChatRule rule = {.scope = STORE_CHAT_CLASS, .subject = "class_a", .rule = CHAT_OFF};
    CHECK_INT(control_chat_in(control, "place_a"), CHAT_FREE);
    CHECK_OK(control_set_class_chat(control, &rule));
    for (uint32_t i = 0; i < 2; i++) { // the second time as it was read from the disk
        CHECK_INT(control_chat_in(control, "place_a"), CHAT_OFF);
        CHECK_INT(control_chat_in(control, "place_b"), CHAT_FREE);
        CHECK_INT(control_chat_of(control, account), CHAT_OFF);
        CHECK_INT(control_chat_of(control, 99), CHAT_FREE);
        control_destroy(control);
        control = open_control(&fixture);
        REQUIRE(control != NULL);
    }
    CHECK_OK(control_set_class_chat(control, &rule));
    ControlChatChange change;
    bool heard_worlds = false, heard_pupil = false;
    while (control_take_chat_change(control, &change)) {
        heard_worlds = heard_worlds || change.kind == CHAT_CHANGED_WORLDS;
        heard_pupil =
            heard_pupil || (change.kind == CHAT_CHANGED_RULE && change.account == account);
    }
    CHECK(heard_worlds && heard_pupil);
    CHECK_INT(account_remove_pupil(control, "class_a", account), ACCOUNT_OK);
    CHECK_INT(control_chat_of(control, account), CHAT_FREE);
    CHECK_OK(control_delete_class(control, "class_a"));
    CHECK_INT(control_chat_in(control, "place_a"), CHAT_FREE);
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(a_pupil_is_exported_without_the_code_and_deleted_with_it)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7);
    ClassPupil anna;
    CHECK_OK(store_class_make(fixture.store, &class, 9));
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    char text[16384] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    REQUIRE(out != NULL);
    CHECK_OK(store_person_export(fixture.store, anna.account.account_id, out));
    fclose(out);
    CHECK(strstr(text, "\"pupil_of\":[\n{\"class_id\":\"class_a\"") != NULL);
    CHECK(strstr(text, "code_hash") == NULL);
    CHECK_OK(control_delete_person(control, anna.account.account_id));
    CHECK_INT(
        fixture_number(&fixture, "SELECT count(*) FROM class_pupils WHERE length(class_id) > 0"),
        0);
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(a_new_class_does_not_chat_freely_until_its_teacher_says_so)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7), second = class_of("class_b", 7);
    ClassPupil anna;
    uint32_t line = 0;
    CHECK_OK(control_make_class(control, &class, 1));
    CHECK_INT(control_chat_rule(control, STORE_CHAT_CLASS, 0, "class_a"), CHAT_OFF);
    CHECK_INT(control_make_class(control, &second, 1), STATUS_LIMIT);
    CHECK_INT(control_chat_rule(control, STORE_CHAT_CLASS, 0, "class_b"),
              CHAT_FREE); // none is left
    CHECK_OK(control_set_list(control, STORE_LIST_PHRASES, "Hello!", 6, 7, &line));
    CHECK_OK(control_make_class(control, &second, 2));
    CHECK_INT(control_chat_rule(control, STORE_CHAT_CLASS, 0, "class_b"), CHAT_PHRASES);
    StoreChatRule rule = {.scope = STORE_CHAT_CLASS, .subject = "class_a", .rule = CHAT_FREE};
    CHECK_OK(control_set_class_chat(control, &rule));
    CHECK_INT(control_make_class(control, &class, 9), STATUS_EXISTS);
    CHECK_INT(control_chat_rule(control, STORE_CHAT_CLASS, 0, "class_a"), CHAT_FREE); // as it was

    const AccountAsk ask = {.address = 5};
    AccountGiven given;
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    CHECK_INT(account_sign_in_code(control, "", anna.code, &ask, &given), ACCOUNT_OK);
    CHECK_INT(control_chat_of(control, anna.account.account_id), CHAT_FREE); // the teacher said so
    control_destroy(control);
    fixture_end(&fixture);
}

static void check_called(Control *control, const char *class_id, uint64_t account, const char *name)
{
    char called[STORE_SHOWN_BYTES] = "(the shown name)";
    control_class_name(control, class_id, account, called);
    CHECK_TEXT(called, name);
}

TEST(a_class_calls_its_pupils_as_the_teacher_typed)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7), other = class_of("class_b", 7);
    ClassPupil anna, bert, second, third, lead;
    char name[STORE_SHOWN_BYTES] = "";
    CHECK_OK(control_make_class(control, &class, 9));
    CHECK_OK(control_make_class(control, &other, 9));
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &class, "Lee", &lead), ACCOUNT_OK);
    CHECK_INT(account_set_roles(control, "5b-lee", ROLE_TEACHER), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &other, "Anna", &second), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &other, "Ann\u0430", &bert), ACCOUNT_OK); // looks like it
    CHECK_INT(account_add_pupil(control, &other, "LEE", &third), ACCOUNT_OK);
    const uint64_t account = second.account.account_id;
    CHECK_TEXT(second.account.shown_name, "Anna 2");
    check_called(control, "class_a", anna.account.account_id, "(the shown name)");
    check_called(control, "class_b", account, "Anna");
    check_called(control, "class_a", account, "(the shown name)");
    check_called(control, "class_b", bert.account.account_id, "(the shown name)");
    CHECK_TEXT(bert.account.shown_name, "Ann\u0430 3"); // in the class too: there is an Anna
    CHECK_TEXT(third.account.shown_name, "LEE 2");      // and who teaches has that name everywhere
    check_called(control, "class_b", third.account.account_id, "(the shown name)");
    CHECK_OK(control_class_place(control, "class_b", "place_b"));
    CHECK(control_name_at(control, account, "place_b", name));
    CHECK_TEXT(name, "Anna");
    CHECK(!control_name_at(control, account, "place_a", name) &&
          !control_name_at(control, anna.account.account_id, "place_b", name) &&
          !control_name_at(control, account, "", name) && !control_name_at(control, 0, "", name));

    // A new code and a start leave it as it is; it goes when the pupil chooses a name.
    CHECK_INT(account_reset_pupil(control, "class_b", account, &second), ACCOUNT_OK);
    control_destroy(control);
    control = open_control(&fixture);
    REQUIRE(control != NULL);
    check_called(control, "class_b", account, "Anna");
    CHECK_OK(control_set_class_names(control, "class_b", true));
    CHECK_INT(account_show(control, account, "Anna"), ACCOUNT_OK); // that is what she reads
    check_called(control, "class_b", account, "Anna");
    CHECK_OK(
        store_person_delete(fixture.store, anna.account.account_id)); // nobody's shown name now
    CHECK_INT(account_show(control, third.account.account_id, "anna"), ACCOUNT_NAME_TAKEN);
    CHECK_INT(account_show(control, account, "Zoe"), ACCOUNT_OK);
    check_called(control, "class_b", account, "(the shown name)");
    CHECK_INT(account_show(control, third.account.account_id, "anna"), ACCOUNT_OK);
    control_destroy(control);
    control = open_control(&fixture);
    REQUIRE(control != NULL);
    check_called(control, "class_b", account, "(the shown name)");
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(pupils_of_version_11_keep_their_names_and_new_ones_have_theirs)
{
    StoreFixture fixture;
    Sql sql;
    char reason[256];
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    REQUIRE(fixture_begin(&fixture));
    const StoreClass class = class_of("class_a", 7), other = class_of("class_b", 7);
    ClassPupil anna, second, third;
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    CHECK_OK(control_make_class(control, &class, 9));
    CHECK_OK(control_make_class(control, &other, 9));
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &other, "Anna", &second), ACCOUNT_OK);
    control_destroy(control);
    fixture_close(&fixture);
    REQUIRE(sql_connect(&sql, fixture.path, reason, sizeof reason) == STATUS_OK);
    sql_exec(&sql, "DROP TABLE class_names; PRAGMA user_version = 11");
    CHECK_OK(sql_status(&sql));
    sql_disconnect(&sql);
    CHECK_OK(fixture_open(&fixture));
    control = open_control(&fixture);
    REQUIRE(control != NULL);
    check_called(control, "class_b", second.account.account_id, "(the shown name)");
    CHECK(control_is_pupil_of(control, "class_b", second.account.account_id));
    CHECK_INT(account_add_pupil(control, &class, "Bert", &anna), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &other, "Bert", &third), ACCOUNT_OK);
    check_called(control, "class_b", third.account.account_id, "Bert");
    control_destroy(control);
    fixture_end(&fixture);
}

// Has the store a name for what a class calls the pupil?
static bool is_named(Store *store, uint64_t account)
{
    char text[8192];
    FILE *out = fmemopen(text, sizeof text, "w");
    CHECK(out != NULL && store_person_export(store, account, out) == STATUS_OK);
    CHECK(out != NULL && fclose(out) == 0);
    const char *at = strstr(text, "\"called_in_classes\"");
    return at != NULL && strncmp(strchr(at, '['), "[]", 2) != 0;
}

TEST(what_a_class_calls_somebody_ends_with_the_class)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7), other = class_of("class_b", 7);
    ClassPupil first, anna, bert;
    CHECK_OK(control_make_class(control, &class, 9));
    CHECK_OK(control_make_class(control, &other, 9));
    CHECK_INT(account_add_pupil(control, &class, "Anna", &first), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &class, "Bert", &first), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &other, "Anna", &anna), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &other, "Bert", &bert), ACCOUNT_OK);
    const uint64_t out = anna.account.account_id, stays = bert.account.account_id;
    CHECK(!is_named(fixture.store, first.account.account_id)); // one name is enough
    CHECK(is_named(fixture.store, out) && is_named(fixture.store, stays));
    CHECK_INT(account_remove_pupil(control, "class_b", out), ACCOUNT_OK);
    CHECK(!is_named(fixture.store, out) && is_named(fixture.store, stays));
    check_called(control, "class_b", out, "(the shown name)");
    CHECK_OK(control_delete_class(control, "class_b"));
    CHECK(!is_named(fixture.store, stays));
    control_destroy(control);
    fixture_end(&fixture);
}

TEST(a_pupil_has_a_name_in_the_class_and_an_alias_outside)
{
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    Control *control = open_control(&fixture);
    REQUIRE(control != NULL);
    const StoreClass class = class_of("class_a", 7), other = class_of("class_b", 7);
    ClassPupil anna, bert, cyd;
    CHECK_OK(control_make_class(control, &class, 9));
    CHECK_OK(control_make_class(control, &other, 9));
    CHECK_INT(account_add_pupil(control, &class, "Anna", &anna), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &class, "Bert", &bert), ACCOUNT_OK);
    CHECK_INT(account_add_pupil(control, &other, "Cyd", &cyd), ACCOUNT_OK);
    const uint64_t account = anna.account.account_id;
    CHECK_OK(control_class_place(control, "class_a", "place_a"));
    CHECK_OK(control_class_place(control, "class_b", "place_b"));
    CHECK(!control_name_is_closed(control, 99, ROLE_CREATOR));
    CHECK(!control_name_is_closed(control, 0, 0));

    char alias[STORE_SHOWN_BYTES], again[STORE_SHOWN_BYTES];
    store_pupil_alias(account, alias);
    store_pupil_alias(account, again);
    CHECK_TEXT(alias, again);
    CHECK(strncmp(alias, "Pupil ", 6) == 0 && strlen(alias) == 11);

    // Closed, public, closed again; each time also as it was read from the disk. A pause changes
    // nothing of it.
    for (uint32_t i = 0; i < 6; i++) {
        const bool is_public = i / 2 == 1;
        CHECK_OK(control_set_class_names(control, "class_a", is_public));
        CHECK_OK(store_class_pause(fixture.store, "class_a", i % 2 == 0));
        if (i % 2 == 1) {
            control_destroy(control);
            control = open_control(&fixture);
            REQUIRE(control != NULL);
        }
        StoreClass found;
        CHECK_OK(store_class_find(fixture.store, "class_a", &found));
        CHECK_INT(found.has_public_names, is_public);
        CHECK_INT(found.is_paused, i % 2 == 0);
        CHECK_INT(control_name_is_closed(control, account, ROLE_PUPIL), !is_public);
        CHECK_INT(control_name_is_closed(control, account, 0), !is_public); // made by an older one
        CHECK_INT(account_show(control, account, "Anne"), is_public ? ACCOUNT_OK : ACCOUNT_PUPIL);
        CHECK(control_name_is_closed(control, cyd.account.account_id, ROLE_PUPIL));
    }
    // Who left stays a child, whatever an operator makes of the account.
    CHECK_OK(control_set_class_names(control, "class_a", true));
    CHECK_INT(account_remove_pupil(control, "class_a", account), ACCOUNT_OK);
    CHECK_INT(account_set_roles(control, "5b-anna", ROLE_CREATOR), ACCOUNT_OK);
    StoreAccount row;
    CHECK_OK(store_account_find(fixture.store, account, &row));
    CHECK_INT(row.roles, ROLE_PUPIL | ROLE_CREATOR);
    CHECK(control_name_is_closed(control, account, row.roles));
    control_destroy(control);
    fixture_end(&fixture);
}
