// Everything that is stored about a person: what is found, given out and deleted, and what stays.
#define _GNU_SOURCE
#include "server/store/people/store_account.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_package.h"

#include "core/base/json.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANN 17171
#define BOB 171710 // the other number is in it

TEST(whole_numbers_in_keys)
{
    static const struct {
        const char *key;
        bool has;
    } rows[] = {{"17171", true},       {"score_17171", true}, {"17171:best", true},
                {"171710", false},     {"117171", false},     {"", false},
                {"1717", false},       {"a17171b", true},     {"171710 17171", true},
                {"1717117171", false}, {"17171.5", true},     {"-17171", true}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK_INT(store_key_has_number(rows[i].key, strlen(rows[i].key), ANN), rows[i].has);
    }
}

// --- a store with two people in it --------------------------------------------------------------

static void put_person(StoreFixture *fixture, uint64_t number, const char *name)
{
    StoreAccount account = {.account_id = number, .password = "$secret$"};
    StoreSignIn sign_in = {
        .account_id = number, .kind = 1, .name = "laptop", .expires_unix_ms = INT64_MAX};
    uint8_t codes[STORE_RECOVERY_CODES][STORE_TOKEN_BYTES] = {0};
    for (uint8_t i = 0; i < STORE_RECOVERY_CODES; i++) {
        codes[i][0] = i + 1;
    }
    memcpy(sign_in.token_hash, &number, sizeof number);
    snprintf(account.name, sizeof account.name, "%s", name);
    snprintf(account.shown_name, sizeof account.shown_name, "%s", name);
    const StoreAccountChange change = {
        .account = &account, .names = {name}, .sign_in = &sign_in, .codes = codes};
    CHECK_OK(store_account_change(fixture->store, &change));
    StoreLink link = {.purpose = 3, .account_id = number, .expires_unix_ms = INT64_MAX};
    memcpy(link.token_hash, &number, sizeof number);
    CHECK_OK(store_link_put(fixture->store, &link, true));
}

static void put_rows(StoreFixture *fixture, const char *world, bool present)
{
    uint8_t bytes[4096];
    ByteWriter rows = byte_writer(bytes, sizeof bytes);
    const uint64_t epoch = fixture_world(fixture, world);
    for (uint32_t i = 0; i < 2; i++) {
        const uint64_t number = i == 0 ? ANN : BOB;
        const RowPlayer player = {.account = number,
                                  .player = i + 1,
                                  .entity = 100 + i,
                                  .name = {i == 0 ? "ann" : "bob", 3},
                                  .present = present};
        RowProfiles profiles = {.account = number, .active = {"default", 7}, .count = 1};
        profiles.profiles[0].character_id = (Text){"default", 7};
        profiles.profiles[0].name = player.name;
        RowResume resume = {.account = number, .player = i + 1, .expires_unix_ms = 1};
        memcpy(resume.token_hash, &number, sizeof number);
        row_put_player(&player, &rows);
        row_put_profiles(&profiles, &rows);
        row_put_resume(&resume, &rows);
    }
    CHECK_OK(fixture_save(fixture, world, epoch, 1, &rows));
    static const char *const keys[] = {"17171", "score_17171", "171710", "top"};
    static const uint8_t five[] = {6, 1, 3, 10};
    const size_t count = sizeof keys / sizeof keys[0];
    for (size_t i = 0; i < 2 * count; i++) { // each twice: there is an old value
        const char *key = keys[i % count];
        const StoreRequest set = {.operation = STORE_SET,
                                  .ordered = i % 2 == 1,
                                  .store = {"best", 4},
                                  .key = {key, strlen(key)},
                                  .value = five,
                                  .value_bytes = sizeof five};
        StoreCompletion done;
        CHECK_OK(store_request(fixture->store, world, epoch, &set, i));
        CHECK(fixture_wait(fixture, &done) && done.ok);
    }
}

static bool begin_people(StoreFixture *fixture)
{
    if (!fixture_begin(fixture)) {
        return false;
    }
    put_person(fixture, ANN, "ann");
    put_person(fixture, BOB, "bob");
    put_rows(fixture, "w1", true);  // in the one row of those who are there
    put_rows(fixture, "w2", false); // with rows of their own
    return true;
}

// How many rows have the number in the column, in all tables that have people in them.
static int64_t count_rows(StoreFixture *fixture, uint64_t number)
{
    static const struct {
        const char *table, *column;
    } tables[] = {{"accounts", "account_id"},
                  {"sign_ins", "account_id"},
                  {"account_names", "account_id"},
                  {"links", "account_id"},
                  {"recovery_codes", "account_id"},
                  {"player_checkpoints", "user_id"},
                  {"presence_players", "user_id"},
                  {"character_profiles", "user_id"},
                  {"active_character_profiles", "user_id"},
                  {"resume_sessions", "user_id"}};
    int64_t count = 0;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char text[160];
        snprintf(text, sizeof text, "SELECT count(*) FROM %s WHERE %s = %llu", tables[i].table,
                 tables[i].column, (unsigned long long)number);
        count += fixture_number(fixture, text);
    }
    return count;
}

static int64_t count_players(StoreFixture *fixture, const char *world, const char *name)
{
    RowList list;
    int64_t count = 0;
    row_list_init(&list);
    CHECK_OK(row_list_read(&list, fixture->store, world));
    for (uint32_t i = 0; i < list.count; i++) {
        Row row;
        RowPlayer player;
        ByteReader reader =
            byte_reader(list.bytes + list.starts[i], list.starts[i + 1] - list.starts[i]);
        count += row_read(&reader, &row) == STATUS_OK && row.type == ROW_PLAYER &&
                 row_player(&row, &player) == STATUS_OK && memcmp(player.name.data, name, 3) == 0;
    }
    row_list_free(&list);
    return count;
}

TEST(a_person_is_deleted_and_nobody_else)
{
    StoreFixture fixture;
    REQUIRE(begin_people(&fixture));
    // Names, links, eight codes; one character, which is active; in two worlds presence and resume,
    // and a checkpoint in the second.
    const int64_t rows = count_rows(&fixture, ANN);
    CHECK_INT(rows, 12 + 2 + 2 + 3);
    CHECK_INT(count_players(&fixture, "w1", "ann"), 1);
    for (uint32_t i = 0; i < 2; i++) { // twice is once
        CHECK_OK(store_person_delete(fixture.store, ANN));
        CHECK_INT(count_rows(&fixture, ANN), 0);
        CHECK_INT(count_rows(&fixture, BOB), rows);
        CHECK_INT(count_players(&fixture, "w1", "ann"), 0);
        CHECK_INT(count_players(&fixture, "w1", "bob"), 1);
        CHECK_INT(count_players(&fixture, "w2", "ann"), 0);
        CHECK_INT(count_players(&fixture, "w2", "bob"), 1);
        CHECK_INT(
            fixture_number(&fixture, "SELECT count(*) FROM datastore WHERE value IS NOT NULL"), 4);
        CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM datastore WHERE key IN "
                                           "(CAST('171710' AS BLOB), CAST('top' AS BLOB))"),
                  4);
        CHECK_INT(fixture_number(&fixture, "SELECT sum(keys) FROM datastore_use"), 4);
        CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM datastore_versions "
                                           "WHERE key = CAST('17171' AS BLOB)"),
                  0);
        CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM datastore_values "
                                           "WHERE length(key) > 0"),
                  4);
        CHECK_INT(fixture_number(&fixture, "SELECT sum(count) FROM datastore_values_use"), 4);
    }
    StoreAccount account;
    CHECK_INT(store_account_by_name(fixture.store, "ann", &account), STATUS_NOT_FOUND);
    CHECK_INT(store_person_delete(fixture.store, STORE_BUILT_IN_ACCOUNT), STATUS_DENIED);
    CHECK_INT(store_person_delete(fixture.store, 0), STATUS_DENIED);
    // What is left is whole.
    fixture_close(&fixture);
    CHECK_OK(fixture_open(&fixture));
    fixture_end(&fixture);
}

TEST(worlds_that_a_person_owned_are_the_built_in_accounts)
{
    StoreFixture fixture;
    REQUIRE(begin_people(&fixture));
    StoreWorld world = {.world_id = "mine",
                        .room_code = "MINEMINE",
                        .name = "Mine",
                        .owner_id = ANN,
                        .maker_id = BOB,
                        .is_private = true};
    CHECK_OK(store_world_put(fixture.store, &world));
    StoreWorld other = {.world_id = "other",
                        .room_code = "OTHERONE",
                        .name = "o",
                        .owner_id = BOB,
                        .maker_id = ANN};
    CHECK_OK(store_world_put(fixture.store, &other));
    StorePackage anns = {.package_id = "anns", .kind = STORE_PLACE, .owner_id = ANN};
    StorePackage bobs = {.package_id = "bobs", .kind = STORE_PLACE, .owner_id = BOB};
    CHECK_OK(store_package_make(fixture.store, &anns, 9));
    CHECK_OK(store_package_make(fixture.store, &bobs, 9));
    CHECK_OK(store_person_delete(fixture.store, ANN));
    CHECK_OK(store_world_find(fixture.store, "mine", &world));
    CHECK(world.owner_id == STORE_BUILT_IN_ACCOUNT && world.maker_id == BOB && world.is_private);
    CHECK_OK(store_world_find(fixture.store, "other", &other));
    CHECK(other.owner_id == BOB && other.maker_id == 0 && !other.is_private);
    CHECK_INT(store_package_find(fixture.store, "anns", &anns), STATUS_NOT_FOUND); // private
    CHECK_OK(store_package_find(fixture.store, "bobs", &bobs));
    CHECK(bobs.owner_id == BOB);
    fixture_end(&fixture);
}

static char *export_of(StoreFixture *fixture, uint64_t number, Status *status)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    *status = store_person_export(fixture->store, number, out);
    fclose(out);
    return text;
}

TEST(an_export_has_everything_but_secrets)
{
    StoreFixture fixture;
    REQUIRE(begin_people(&fixture));
    Status status;
    char *text = export_of(&fixture, ANN, &status);
    CHECK_OK(status);
    static uint8_t memory[1 << 20];
    Arena arena;
    arena_init(&arena, memory, sizeof memory);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    CHECK_OK(json_parse(&config, text, strlen(text), &root, NULL));
    static const char *const there[] = {"\"name\":\"ann\"", "\"laptop\"", "\"score_17171\"",
                                        "\"world_id\":\"w1\"", "\"character_id\":\"default\""};
    for (size_t i = 0; i < sizeof there / sizeof there[0]; i++) {
        CHECK(strstr(text, there[i]) != NULL);
    }
    static const char *const absent[] = {"$secret$", "bob", "171710", "\"top\"", "hash"};
    for (size_t i = 0; i < sizeof absent / sizeof absent[0]; i++) {
        CHECK(strstr(text, absent[i]) == NULL);
    }
    free(text);
    CHECK_OK(store_person_delete(fixture.store, ANN));
    free(export_of(&fixture, ANN, &status));
    CHECK_INT(status, STATUS_NOT_FOUND);
    free(export_of(&fixture, 0, &status));
    CHECK_INT(status, STATUS_NOT_FOUND);
    fixture_end(&fixture);
}
