// The store: rows are read back as they were written, leases fence, hostile saves leave nothing
// behind, and old or damaged character profiles become valid ones.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/store/place/store_publish.h"
#include "server/store/sql/sql.h"
#include "tests/unit/store_fixture.h"

#include "tests/support/test.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint8_t buffer[1 << 20];

static ByteWriter writer_make(void)
{
    return byte_writer(buffer, sizeof buffer);
}

static void put_meta(ByteWriter *writer, uint64_t tick)
{
    const RowMeta meta = {.next_net_id = 7, .next_player = 3, .tick = tick};
    row_put_meta(&meta, writer);
}

// --- rows ---------------------------------------------------------------------------------------

static void copy_to_model(RowList *model, const ByteWriter *writer)
{
    ByteReader reader = byte_reader(writer->data, writer->at);
    while (byte_reader_left(&reader) > 0) {
        const size_t start = reader.at;
        Row row;
        REQUIRE(row_read(&reader, &row) == STATUS_OK);
        row_list_put(model, writer->data + start, reader.at - start);
    }
}

// The deletion of whatever row begins there.
static void write_deletion(ByteWriter *writer, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    REQUIRE(row_read(&reader, &row) == STATUS_OK);
    row.value_bytes = 0;
    row_write(&row, writer);
}

TEST(random_rows_of_every_kind_come_back_as_they_were)
{
    StoreFixture fixture;
    RowList model, got;
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&model);
    row_list_init(&got);
    Rng rng = rng_make(test_seed(), 1);
    const uint64_t epoch = fixture_world(&fixture, "w1");
    CHECK_INT(fixture_world(&fixture, "w2"), 1);
    for (uint32_t seq = 1; seq <= 60 && test_is_passing(); seq++) {
        ByteWriter writer = writer_make();
        const uint32_t count = rng_below(&rng, 20);
        for (uint32_t i = 0; i < count; i++) {
            const size_t start = writer.at;
            fixture_row(&rng, &writer);
            if (rng_below(&rng, 4) == 0) {
                uint8_t row[8000];
                const size_t bytes = writer.at - start;
                memcpy(row, buffer + start, bytes);
                writer.at = start;
                write_deletion(&writer, row, bytes);
            }
        }
        CHECK_INT(fixture_save(&fixture, "w1", epoch, seq, &writer), STATUS_OK);
        copy_to_model(&model, &writer);
        CHECK_OK(row_list_read(&got, fixture.store, "w1"));
        row_list_drop_profiles(&model);
        row_list_drop_profiles(&got);
        CHECK(row_list_equal(&model, &got));
        if (seq % 20 == 0) {
            fixture_close(&fixture);
            CHECK_OK(fixture_open(&fixture));
            // Players who never had profiles have them now.
            CHECK_OK(row_list_read(&model, fixture.store, "w1"));
        }
    }
    CHECK(model.count > 30);
    CHECK_OK(row_list_read(&got, fixture.store, "w2"));
    CHECK_INT(got.count, 0);
    row_list_free(&model);
    row_list_free(&got);
    fixture_end(&fixture);
}

// What must be refused as a whole, each after a good row.
static void write_bad(ByteWriter *writer, uint32_t which)
{
    Row row = {
        .type = ROW_META, .value = (const uint8_t *)"\x01\x01\x01\x01\x01", .value_bytes = 5};
    switch (which) {
    case 0:
        byte_write_u8(writer, 99); // no such type
        byte_write_u8(writer, 0);
        byte_write_u8(writer, 0);
        return;
    case 1:
        byte_write_u8(writer, ROW_META); // cut off
        return;
    case 2:
        row.value = (const uint8_t *)"\x02\x01\x01\x01\x01"; // another format
        break;
    case 3:
        row.key_bytes = 1; // a key that meta has not
        break;
    case 4:
        row.value_bytes = 4; // too short
        break;
    case 5:
        row.type = ROW_STRUCTURE; // deletion with a bad key
        row.key_bytes = 7;
        row.value_bytes = 0;
        break;
    case 6:
        row.type = ROW_RESUME;
        row.key_bytes = 31;
        row.value_bytes = 0;
        break;
    case 7:
        row.type = ROW_ATTRIBUTE;
        row.key[0] = 'x';
        row.key_bytes = 9;
        row.value_bytes = 0;
        break;
    case 8: {
        RowProfiles profiles = {.account = 5, .active = {"default", 7}, .count = 2};
        profiles.profiles[0] = (WireProfile){.character_id = ROW_DEFAULT_PROFILE, .name = {"a", 1}};
        profiles.profiles[1] = profiles.profiles[0]; // two of one id
        row_put_profiles(&profiles, writer);
        return;
    }
    default: {
        RowProfiles profiles = {.account = 5, .active = {"nobody", 6}, .count = 1};
        profiles.profiles[0] = (WireProfile){.character_id = ROW_DEFAULT_PROFILE, .name = {"a", 1}};
        row_put_profiles(&profiles, writer);
        return;
    }
    }
    row_write(&row, writer);
}

TEST(a_save_with_one_bad_row_writes_nothing)
{
    StoreFixture fixture;
    RowList got;
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&got);
    const uint64_t epoch = fixture_world(&fixture, "w1");
    for (uint32_t which = 0; which < 10; which++) {
        ByteWriter writer = writer_make();
        put_meta(&writer, 5);
        write_bad(&writer, which);
        if (fixture_save(&fixture, "w1", epoch, 1, &writer) != STATUS_MALFORMED) {
            test_fail(__FILE__, __LINE__, "bad row %u was taken", which);
        }
    }
    ByteWriter writer = writer_make();
    put_meta(&writer, 5);
    CHECK_INT(fixture_save(&fixture, "../w1", epoch, 1, &writer), STATUS_MALFORMED);
    CHECK_INT(fixture_save(&fixture, "", epoch, 1, &writer), STATUS_MALFORMED);
    CHECK_OK(row_list_read(&got, fixture.store, "w1"));
    CHECK_INT(got.count, 0);
    CHECK_INT(store_stats(fixture.store).refused, 12);
    // Random bytes: never a crash, and what is taken is only what rows could say.
    Rng rng = rng_make(test_seed(), 2);
    for (uint32_t i = 0; i < 3000; i++) {
        uint8_t bytes[64];
        const size_t count = rng_below(&rng, sizeof bytes);
        for (size_t k = 0; k < count; k++) {
            bytes[k] = (uint8_t)rng_below(&rng, k == 0 ? ROW_TYPE_COUNT : 24);
        }
        const Status status = store_save(fixture.store, "w1", 0, 1, bytes, count, i);
        CHECK(status == STATUS_OK || status == STATUS_MALFORMED);
    }
    row_list_free(&got);
    fixture_end(&fixture);
}

// --- leases -------------------------------------------------------------------------------------

TEST(a_save_is_the_next_of_the_current_epoch_or_nothing)
{
    StoreFixture fixture;
    RowList got;
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&got);
    const uint64_t first = fixture_world(&fixture, "w1");
    CHECK_INT(first, 1);
    ByteWriter writer = writer_make();
    put_meta(&writer, 1);
    CHECK_INT(fixture_save(&fixture, "w1", first, 2, &writer), STATUS_DENIED);
    CHECK_INT(fixture_save(&fixture, "w1", first, 0, &writer), STATUS_DENIED);
    CHECK_INT(fixture_save(&fixture, "w1", first + 1, 1, &writer), STATUS_DENIED);
    CHECK_INT(fixture_save(&fixture, "w2", first, 1, &writer), STATUS_DENIED);
    CHECK_OK(row_list_read(&got, fixture.store, "w1"));
    CHECK_INT(got.count, 0);
    CHECK_INT(fixture_save(&fixture, "w1", first, 1, &writer), STATUS_OK);
    CHECK_INT(fixture_save(&fixture, "w1", first, 1, &writer), STATUS_DENIED);
    CHECK_INT(fixture_save(&fixture, "w1", first, 2, &writer), STATUS_OK);
    // The same host takes it at once, another one only when the row of its host has run out.
    uint64_t epoch = 0;
    CHECK_INT(fixture_renew(&fixture, "host", 1, 2000, 10000), STATUS_OK);
    CHECK_INT(fixture_take(&fixture, "w1", "host", 1, 2000, &epoch), STATUS_OK);
    CHECK_INT(epoch, 2);
    CHECK_INT(fixture_save(&fixture, "w1", first, 3, &writer), STATUS_DENIED);
    CHECK_INT(fixture_renew(&fixture, "other", 2, 3000, 100000), STATUS_OK);
    CHECK_INT(fixture_take(&fixture, "w1", "other", 2, 11999, &epoch), STATUS_EXISTS);
    CHECK_INT(epoch, 2);
    CHECK_INT(fixture_renew(&fixture, "host", 1, 9000, 10000), STATUS_OK);
    CHECK_INT(fixture_take(&fixture, "w1", "other", 2, 12001, &epoch), STATUS_EXISTS);
    CHECK_INT(fixture_take(&fixture, "w1", "other", 2, 19000, &epoch), STATUS_OK);
    CHECK_INT(epoch, 3);
    CHECK_INT(fixture_renew(&fixture, "other", 2, FIXTURE_FOREVER, 100000), STATUS_OK);
    CHECK_INT(fixture_save(&fixture, "w1", 2, 1, &writer), STATUS_DENIED);
    CHECK_INT(fixture_save(&fixture, "w1", 3, 1, &writer), STATUS_OK);
    CHECK_INT(fixture_release(&fixture, "w1", 2), STATUS_DENIED); // not its lease
    CHECK_INT(fixture_renew(&fixture, "host", 1, 19001, 10000), STATUS_OK);
    CHECK_INT(fixture_take(&fixture, "w1", "host", 1, 19001, &epoch), STATUS_EXISTS);
    CHECK_INT(fixture_release(&fixture, "w1", 3), STATUS_OK);
    CHECK_INT(fixture_save(&fixture, "w1", 3, 2, &writer), STATUS_DENIED);
    CHECK_INT(fixture_take(&fixture, "w1", "host", 1, 19001, &epoch), STATUS_OK);
    CHECK_INT(epoch, 4);
    CHECK_INT(fixture_take(&fixture, "none", "host", 1, 1, &epoch), STATUS_NOT_FOUND);
    CHECK_INT(fixture_take(&fixture, "w1", "a b", 1, 1, &epoch), STATUS_MALFORMED);
    CHECK_INT(fixture_take(&fixture, "w 1", "host", 1, 1, &epoch), STATUS_MALFORMED);
    CHECK_INT(fixture_renew(&fixture, "a b", 1, 1, 1), STATUS_MALFORMED);
    // Without a row of its own, or when that belongs to another boot, a host takes nothing.
    CHECK_INT(fixture_take(&fixture, "w1", "third", 1, 1, &epoch), STATUS_BLOCKED);
    CHECK_INT(fixture_take(&fixture, "w1", "host", 1, 29002, &epoch), STATUS_BLOCKED);
    CHECK_INT(fixture_take(&fixture, "w1", "host", 9, 19001, &epoch), STATUS_DENIED);
    row_list_free(&got);
    fixture_end(&fixture);
}

TEST(one_fenced_save_does_not_stop_the_others_of_its_batch)
{
    StoreFixture fixture;
    RowList got;
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&got);
    fixture_close(&fixture);
    fixture.config.commit_ms = 200;
    CHECK_OK(fixture_open(&fixture));
    const uint64_t epoch = fixture_world(&fixture, "w1");
    (void)fixture_world(&fixture, "w2");
    const StoreStats before = store_stats(fixture.store);
    ByteWriter writer = writer_make();
    put_meta(&writer, 1);
    for (uint64_t seq = 1; seq <= 20; seq++) {
        const uint64_t of = seq % 5 == 0 ? epoch + 9 : epoch;
        CHECK_OK(store_save(fixture.store, "w2", of, seq - seq / 5, buffer, writer.at, seq));
    }
    for (uint64_t seq = 1; seq <= 20; seq++) {
        StoreCompletion completion;
        REQUIRE(fixture_wait(&fixture, &completion));
        CHECK_INT(completion.tag, seq); // in order
        CHECK_INT(completion.status, seq % 5 == 0 ? STATUS_DENIED : STATUS_OK);
    }
    const StoreStats after = store_stats(fixture.store);
    CHECK_INT(after.commits - before.commits, 1);
    CHECK_INT(after.rows - before.rows, 16);
    CHECK_INT(after.refused - before.refused, 4);
    StoreCompletion none;
    CHECK(!store_poll(fixture.store, &none));
    struct pollfd wait = {.fd = store_descriptor(fixture.store), .events = POLLIN};
    CHECK_INT(poll(&wait, 1, 0), 0);
    CHECK_INT(store_stats(fixture.store).bytes_waiting, 0);
    row_list_free(&got);
    fixture_end(&fixture);
}

TEST(too_much_waiting_is_a_limit)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    fixture_close(&fixture);
    fixture.config.bytes_waiting_max = 4000;
    CHECK_OK(fixture_open(&fixture));
    const uint64_t epoch = fixture_world(&fixture, "w1");
    ByteWriter writer = writer_make();
    put_meta(&writer, 1);
    uint64_t seq = 0;
    while (seq < 100 &&
           store_save(fixture.store, "w1", epoch, seq + 1, buffer, writer.at, 0) == STATUS_OK) {
        seq += 1;
    }
    CHECK(seq > 2 && seq < 100);
    for (uint64_t i = 0; i < seq; i++) {
        StoreCompletion completion;
        REQUIRE(fixture_wait(&fixture, &completion));
        CHECK_OK(completion.status);
    }
    CHECK_INT(fixture_save(&fixture, "w1", epoch, seq + 1, &writer), STATUS_OK);
    fixture_end(&fixture);
}

// --- worlds -------------------------------------------------------------------------------------

TEST(worlds_are_found_by_id_and_code)
{
    StoreFixture fixture;
    RowList got;
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&got);
    StoreWorld world = {.created_unix_ms = 77}, found;
    memcpy(world.world_id, "world_a", 8);
    memcpy(world.room_code, "ABCD", 5);
    memcpy(world.name, "Zoë's", 7);
    world.place_hash[31] = 9;
    CHECK_OK(store_world_put(fixture.store, &world));
    CHECK_OK(store_world_put(fixture.store, &world));
    CHECK_OK(store_world_find(fixture.store, "ABCD", &found));
    memcpy(world.place_id, "world_a", 8); // without a place it has its own
    CHECK(memcmp(&found, &world, sizeof world) == 0);
    CHECK_OK(store_world_find(fixture.store, "world_a", &found));
    CHECK_INT(store_world_find(fixture.store, "nobody", &found), STATUS_NOT_FOUND);
    CHECK_INT(store_world_find(fixture.store, "", &found), STATUS_NOT_FOUND);
    CHECK_INT(store_world_find(fixture.store, "' OR 1=1", &found), STATUS_NOT_FOUND);
    StoreWorld other = world;
    memcpy(other.world_id, "world_b", 8);
    CHECK_INT(store_world_put(fixture.store, &other), STATUS_EXISTS);
    other.room_code[0] = '\0';
    CHECK_OK(store_world_put(fixture.store, &other));
    memcpy(other.world_id, "world b", 8);
    CHECK_INT(store_world_put(fixture.store, &other), STATUS_MALFORMED);
    memcpy(other.world_id, "world_c", 8);
    memset(other.name, 'x', sizeof other.name);
    CHECK_INT(store_world_put(fixture.store, &other), STATUS_MALFORMED);
    memcpy(other.name, "\xff", 2);
    CHECK_INT(store_world_put(fixture.store, &other), STATUS_MALFORMED);
    StoreWorld list[4];
    CHECK_INT(store_worlds(fixture.store, list, 4), 2);
    CHECK_INT(store_worlds(fixture.store, list, 1), 1);
    CHECK_TEXT(list[0].world_id, "world_a");
    // Deleting takes everything, and fences who runs it.
    uint64_t epoch = 0;
    CHECK_INT(fixture_renew(&fixture, "host", 1, FIXTURE_FOREVER, FIXTURE_FOREVER), STATUS_OK);
    CHECK_INT(fixture_take(&fixture, "world_a", "host", 1, 1, &epoch), STATUS_OK);
    ByteWriter writer = writer_make();
    put_meta(&writer, 1);
    CHECK_INT(fixture_save(&fixture, "world_a", epoch, 1, &writer), STATUS_OK);
    CHECK_OK(store_world_delete(fixture.store, "world_a"));
    CHECK_INT(store_world_delete(fixture.store, "world_a"), STATUS_NOT_FOUND);
    CHECK_INT(fixture_save(&fixture, "world_a", epoch, 2, &writer), STATUS_DENIED);
    CHECK_OK(row_list_read(&got, fixture.store, "world_a"));
    CHECK_INT(got.count, 0);
    CHECK_OK(store_world_put(fixture.store, &world));
    CHECK_INT(fixture_take(&fixture, "world_a", "host", 1, 1, &epoch), STATUS_OK);
    CHECK_INT(epoch, 3);
    const uint8_t hash[32] = {1, 2, 3};
    uint64_t bytes = 0;
    CHECK_INT(store_blob_find(fixture.store, hash, &bytes), STATUS_NOT_FOUND);
    CHECK_OK(store_blob_put(fixture.store, hash, 1234));
    CHECK_OK(store_blob_find(fixture.store, hash, &bytes));
    CHECK_INT(bytes, 1234);
    struct stat info;
    CHECK(fixture_is_server() || (stat(fixture.path, &info) == 0 && (info.st_mode & 0777) == 0600));
    row_list_free(&got);
    fixture_end(&fixture);
}

// --- profiles -----------------------------------------------------------------------------------

static bool profiles_of(StoreFixture *fixture, uint64_t account, RowList *list, RowProfiles *out)
{
    if (row_list_read(list, fixture->store, "w1") != STATUS_OK) {
        return false;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        ByteReader reader =
            byte_reader(list->bytes + list->starts[i], list->byte_count - list->starts[i]);
        static Row row; // the key that names point to
        if (row_read(&reader, &row) == STATUS_OK && row_profiles(&row, out) == STATUS_OK &&
            out->account == account) {
            return true;
        }
    }
    return false;
}

// Two users of an old room: known by their presence, nothing else.
static void make_legacy(StoreFixture *fixture)
{
    const uint64_t epoch = fixture_world(fixture, "w1");
    ByteWriter writer = writer_make();
    RowPlayer player = {.account = 11, .player = 1, .name = {"Ann", 3}};
    row_put_player(&player, &writer);
    player.account = 12;
    player.player = 2;
    player.name = (Text){"\x01", 1}; // no name that people could see
    row_put_player(&player, &writer);
    CHECK_INT(fixture_save(fixture, "w1", epoch, 1, &writer), STATUS_OK);
}

static void check_default(StoreFixture *fixture, uint64_t account, const char *name)
{
    RowList list;
    RowProfiles profiles;
    row_list_init(&list);
    if (!profiles_of(fixture, account, &list, &profiles)) {
        test_fail(__FILE__, __LINE__, "user %llu has no profiles", (unsigned long long)account);
    } else {
        CHECK_INT(profiles.count, 1);
        CHECK(text_equal(profiles.active, ROW_DEFAULT_PROFILE));
        CHECK(text_equal(profiles.profiles[0].character_id, ROW_DEFAULT_PROFILE));
        CHECK(text_equal(profiles.profiles[0].name, (Text){name, (uint32_t)strlen(name)}));
    }
    row_list_free(&list);
}

static void reopen(StoreFixture *fixture, const char *sql, uint64_t repaired, uint64_t backfilled)
{
    fixture_close(fixture);
    if (sql != NULL) {
        (void)fixture_sql(fixture, sql);
    }
    const Status status = fixture_open(fixture);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s: %s", status_name(status), fixture->reason);
        return;
    }
    CHECK_INT(store_stats(fixture->store).repaired, repaired);
    CHECK_INT(store_stats(fixture->store).backfilled, backfilled);
}

static void put_two_profiles(ByteWriter *writer, uint64_t account, const char *name)
{
    RowProfiles row = {.account = account, .active = {"knight", 6}, .count = 2};
    row.profiles[0] = (WireProfile){.character_id = {"default", 7}, .name = text_from(name)};
    row.profiles[1] = (WireProfile){.character_id = {"knight", 6}, .name = text_from(name)};
    row_put_profiles(&row, writer);
}

TEST(characters_of_the_newest_world_become_the_accounts)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture;
    RowList list;
    RowProfiles got;
    REQUIRE(fixture_begin(&fixture));
    row_list_init(&list);
    ByteWriter writer = writer_make();
    const RowPlayer player = {.account = 11, .player = 1, .name = {"Ann", 3}};
    row_put_player(&player, &writer);
    put_two_profiles(&writer, 11, "Of the newest");
    const uint64_t epoch = fixture_world(&fixture, "w1");
    CHECK_INT(fixture_save(&fixture, "w1", epoch, 1, &writer), STATUS_OK);
    fixture_close(&fixture);
    // As version 4 had it: w1 is newer than w0, and w0 has another set.
    Sql sql;
    char reason[256];
    REQUIRE(sql_connect(&sql, fixture.path, reason, sizeof reason) == STATUS_OK);
    sql_exec(
        &sql,
        "UPDATE character_profiles SET world_id = CAST('w1' AS BLOB), checksum = row_checksum(10, "
        "CAST('w1' AS BLOB), user_id, character_id, position, name, body, colour_skin, "
        "colour_shirt, colour_legs);"
        "UPDATE active_character_profiles SET world_id = CAST('w1' AS BLOB), checksum = "
        "row_checksum(11, CAST('w1' AS BLOB), user_id, character_id);"
        "INSERT INTO character_profiles SELECT CAST('w0' AS BLOB), user_id, character_id, "
        "position, CAST('Old' AS BLOB), body, colour_skin, colour_shirt, colour_legs, "
        "row_checksum(10, CAST('w0' AS BLOB), user_id, character_id, position, "
        "CAST('Old' AS BLOB), body, colour_skin, colour_shirt, colour_legs) "
        "FROM character_profiles;"
        "PRAGMA user_version = 4");
    CHECK_OK(sql_status(&sql));
    sql_disconnect(&sql);
    CHECK_OK(fixture_open(&fixture));
    REQUIRE(profiles_of(&fixture, 11, &list, &got));
    CHECK_INT(got.count, 2);
    CHECK(text_equal(got.active, (Text){"knight", 6}));
    CHECK(text_equal(got.profiles[1].name, text_from("Of the newest")));
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM character_profiles"), 2);
    row_list_free(&list);
    fixture_end(&fixture);
}

TEST(offers_of_version_6_are_no_part_of_the_team_any_more)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture;
    REQUIRE(fixture_begin(&fixture));
    StorePackage package = {.package_id = "obby", .kind = STORE_PLACE, .owner_id = 7};
    StorePackagePerson person = {.package_id = "obby", .account_id = 8, .role = STORE_EDITOR};
    StorePackageRole role = STORE_EDITOR;
    StoreOffer offer;
    Sql sql;
    char reason[256];
    CHECK_OK(store_package_make(fixture.store, &package, 2));
    CHECK_OK(store_package_person_put(fixture.store, &person, 9));
    fixture_close(&fixture);
    REQUIRE(sql_connect(&sql, fixture.path, reason, sizeof reason) == STATUS_OK);
    sql_exec(&sql, "UPDATE package_people SET role = 4, created_unix_ms = 1000, "
                   "checksum = row_checksum(43, package_id, account_id, 4, 1000);"
                   "DROP TABLE package_offers; DROP TABLE play_times; PRAGMA user_version = 6");
    CHECK_OK(sql_status(&sql));
    sql_disconnect(&sql);
    CHECK_OK(fixture_open(&fixture));
    CHECK_OK(store_package_role(fixture.store, "obby", 8, &role));
    CHECK_INT(role, STORE_NOBODY);
    CHECK_OK(store_offer_find(fixture.store, "obby", &offer));
    CHECK(offer.account_id == 8 && offer.expires_unix_ms == 1000 + OFFER_DAYS * 86400000ull);
    fixture_end(&fixture);
}

TEST(users_of_an_old_room_get_a_default_profile)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    make_legacy(&fixture);
    reopen(&fixture, NULL, 0, 2);
    REQUIRE(fixture.store != NULL);
    CHECK_TEXT(fixture.reason, ""); // no damage, nothing to warn of
    check_default(&fixture, 11, "Ann");
    check_default(&fixture, 12, "Player");
    reopen(&fixture, NULL, 0, 0); // opened twice: nothing more to do
    CHECK_TEXT(fixture.reason, "");
    check_default(&fixture, 11, "Ann");
    // Presence alone, in a database of today.
    reopen(&fixture, "DELETE FROM character_profiles; DELETE FROM active_character_profiles", 0, 2);
    CHECK_TEXT(fixture.reason, "");
    check_default(&fixture, 11, "Ann");
    // No active row.
    reopen(&fixture, "DELETE FROM active_character_profiles WHERE user_id = 11", 1, 0);
    CHECK_TEXT(fixture.reason, "the character profiles of 1 user were repaired");
    check_default(&fixture, 11, "Ann");
    // No profile but an active one: somebody chose it.
    reopen(&fixture, "DELETE FROM character_profiles WHERE user_id = 11", 1, 0);
    check_default(&fixture, 11, "Ann");
    // The only row that a user has is damaged.
    reopen(&fixture,
           "DELETE FROM active_character_profiles; UPDATE character_profiles SET body = 999", 2, 0);
    CHECK_TEXT(fixture.reason, "the character profiles of 2 users were repaired");
    // An active one that does not exist, and one whose checksum is wrong.
    reopen(&fixture, "UPDATE active_character_profiles SET character_id = CAST('nobody' AS BLOB)",
           2, 0);
    check_default(&fixture, 11, "Ann");
    fixture_end(&fixture);
}

TEST(a_corrupt_profile_is_replaced_and_the_others_stay)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture;
    RowList list;
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&list);
    make_legacy(&fixture);
    RowProfiles profiles = {.account = 11, .active = {"knight", 6}, .count = 2};
    profiles.profiles[0] = (WireProfile){.character_id = ROW_DEFAULT_PROFILE, .name = {"A", 1}};
    profiles.profiles[1] = (WireProfile){.character_id = {"knight", 6}, .name = {"Sir", 3}};
    ByteWriter writer = writer_make();
    row_put_profiles(&profiles, &writer);
    CHECK_INT(fixture_save(&fixture, "w1", 1, 2, &writer), STATUS_OK);
    reopen(&fixture, NULL, 0, 1); // user 12 has none
    reopen(&fixture,
           "UPDATE character_profiles SET name = x'42' "
           "WHERE character_id = CAST('default' AS BLOB)",
           2, 0);
    RowProfiles got;
    REQUIRE(profiles_of(&fixture, 11, &list, &got));
    CHECK_INT(got.count, 2);
    CHECK(text_equal(got.active, (Text){"knight", 6}));
    CHECK(text_equal(got.profiles[0].name, (Text){"Ann", 3}));
    CHECK(text_equal(got.profiles[1].name, (Text){"Sir", 3}));
    // The active one is the corrupt one.
    reopen(&fixture,
           "UPDATE character_profiles SET body = 999 "
           "WHERE character_id = CAST('knight' AS BLOB)",
           1, 0);
    REQUIRE(profiles_of(&fixture, 11, &list, &got));
    CHECK_INT(got.count, 1);
    CHECK(text_equal(got.active, ROW_DEFAULT_PROFILE));
    // Broken while it is open: what is read is valid, and counted.
    (void)fixture_sql(&fixture, "UPDATE character_profiles SET position = 5 WHERE user_id = 11");
    REQUIRE(profiles_of(&fixture, 11, &list, &got));
    CHECK_INT(got.count, 1);
    CHECK_INT(store_stats(fixture.store).repaired, 2);
    // Any other row is not repaired but refused.
    reopen(&fixture, "UPDATE player_checkpoints SET x = 1.0", 1, 0);
    CHECK_INT(row_list_read(&list, fixture.store, "w1"), STATUS_MALFORMED);
    CHECK(store_stats(fixture.store).damaged > 0);
    row_list_free(&list);
    fixture_end(&fixture);
}

TEST(only_a_database_of_ours_is_opened)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    fixture_close(&fixture);
    static const struct {
        const char *sql;
        Status status;
        const char *reason;
    } cases[] = {
        {"PRAGMA user_version = 13", STATUS_UNSUPPORTED, "a later version of sandlot"},
        {"PRAGMA user_version = 0", STATUS_MALFORMED, "the version of the database"},
        {"PRAGMA user_version = 12; PRAGMA application_id = 1", STATUS_MALFORMED, "of ours"},
        {"PRAGMA application_id = 0x534c4f54; ALTER TABLE chunks RENAME TO chunkz",
         STATUS_MALFORMED, "column world_id of table chunks"},
        {"ALTER TABLE chunkz RENAME TO chunks; ALTER TABLE worlds RENAME place_id TO place_ie",
         STATUS_MALFORMED, "column place_id of table worlds"},
        {"ALTER TABLE worlds RENAME place_ie TO place_id; DROP INDEX datastore_removed",
         STATUS_MALFORMED, "an index"},
        {"CREATE INDEX datastore_removed ON datastore(place_id) WHERE value IS NULL; "
         "CREATE TRIGGER t AFTER INSERT ON hosts BEGIN SELECT 1; END",
         STATUS_MALFORMED, "a trigger"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        REQUIRE(fixture_sql(&fixture, cases[i].sql));
        CHECK_INT(fixture_open(&fixture), cases[i].status);
        if (fixture.store != NULL || strstr(fixture.reason, cases[i].reason) == NULL) {
            test_fail(__FILE__, __LINE__, "%s: %s", cases[i].sql, fixture.reason);
        }
    }
    fixture.config.path = "no_such_folder/file.db";
    CHECK_INT(fixture_open(&fixture), STATUS_BLOCKED);
    fixture.config.path = fixture.folder;
    CHECK_INT(fixture_open(&fixture), STATUS_BLOCKED);
    FILE *file = fopen(fixture.path, "w");
    REQUIRE(file != NULL);
    for (int i = 0; i < 500; i++) {
        fputs("this is no database ", file);
    }
    fclose(file);
    fixture.config.path = fixture.path;
    CHECK_INT(fixture_open(&fixture), STATUS_MALFORMED);
    CHECK_INT(store_open(&fixture.config, &fixture.store, NULL, 0), STATUS_MALFORMED);
    fixture_end(&fixture);
}

// A later program may have added to it: that is no damage, and nothing of it is lost.
TEST(unknown_tables_and_columns_are_left_alone)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    fixture_close(&fixture);
    REQUIRE(fixture_sql(&fixture, "CREATE TABLE more(a); INSERT INTO more VALUES(7);"
                                  "ALTER TABLE worlds ADD COLUMN colour INTEGER;"
                                  "ALTER TABLE structures ADD COLUMN age INTEGER DEFAULT 3"));
    CHECK_OK(fixture_open(&fixture));
    REQUIRE(fixture.store != NULL);
    CHECK_TEXT(fixture.reason, "");
    const uint64_t epoch = fixture_world(&fixture, "w1");
    ByteWriter writer = writer_make();
    const RowStructure structure = {.desc = {.net_id = 4}, .health = 1};
    row_put_structure(&structure, &writer);
    CHECK_INT(fixture_save(&fixture, "w1", epoch, 1, &writer), STATUS_OK);
    RowList got;
    row_list_init(&got);
    CHECK_OK(row_list_read(&got, fixture.store, "w1"));
    CHECK_INT(got.count, 1);
    StoreWorld found;
    CHECK_OK(store_world_find(fixture.store, "w1", &found));
    CHECK(fixture_sql(&fixture, "UPDATE structures SET age = age + 1; DROP TABLE more"));
    row_list_free(&got);
    fixture_end(&fixture);
}

// --- players ------------------------------------------------------------------------------------

// Players first..last-1, each where it is in that round.
static ByteWriter player_rows(uint64_t first, uint64_t last, float round, bool present)
{
    ByteWriter writer = writer_make();
    for (uint64_t account = first; account < last; account++) {
        const RowPlayer player = {.account = account,
                                  .player = account,
                                  .position = {round, 0, 1},
                                  .health = 100,
                                  .name = {"A name of a player", 18},
                                  .present = present};
        row_put_player(&player, &writer);
    }
    return writer;
}

// How many players there are, all of them where that round left them.
static uint32_t count_players(StoreFixture *fixture, float round)
{
    RowList list;
    uint32_t count = 0;
    row_list_init(&list);
    CHECK_OK(row_list_read(&list, fixture->store, "w1"));
    for (uint32_t i = 0; i < list.count; i++) {
        ByteReader reader =
            byte_reader(list.bytes + list.starts[i], list.byte_count - list.starts[i]);
        Row row;
        RowPlayer player;
        CHECK_OK(row_read(&reader, &row));
        if (row_player(&row, &player) == STATUS_OK) {
            CHECK(player.position.x == round);
            count += 1;
        }
    }
    row_list_free(&list);
    return count;
}

typedef struct Counted {
    uint32_t players;
} Counted;

static void count_row(void *user, const uint8_t *row, size_t bytes)
{
    Counted *counted = user;
    counted->players += bytes > 0 && row[0] == ROW_PLAYER;
}

TEST(players_who_are_there_stand_in_one_row)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    const uint64_t epoch = fixture_world(&fixture, "w1");
    // Every write of a name is counted.
    REQUIRE(fixture_sql(&fixture, "CREATE TABLE names(n); "
                                  "CREATE TRIGGER t1 AFTER INSERT ON presence_players "
                                  "BEGIN INSERT INTO names VALUES(1); END; "
                                  "CREATE TRIGGER t2 AFTER UPDATE ON presence_players "
                                  "BEGIN INSERT INTO names VALUES(1); END"));
    uint64_t seq = 0;
    for (uint32_t round = 1; round <= 8; round++) {
        ByteWriter writer = player_rows(1, 31, (float)round, true);
        CHECK_INT(fixture_save(&fixture, "w1", epoch, ++seq, &writer), STATUS_OK);
    }
    CHECK_INT(count_players(&fixture, 8), 30);
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM names"), 30);
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM world_players"), 2); // and the guard
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM player_checkpoints"), 1);
    // Ten leave, and one of them comes back under another name.
    ByteWriter writer = player_rows(1, 11, 8, false);
    CHECK_INT(fixture_save(&fixture, "w1", epoch, ++seq, &writer), STATUS_OK);
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM player_checkpoints"), 11);
    const RowPlayer back = {
        .account = 4, .player = 4, .position = {8, 0, 1}, .name = {"Another", 7}, .present = true};
    writer = writer_make();
    row_put_player(&back, &writer);
    CHECK_INT(fixture_save(&fixture, "w1", epoch, ++seq, &writer), STATUS_OK);
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM player_checkpoints"), 10);
    CHECK_INT(fixture_number(&fixture, "SELECT count(*) FROM names"), 41);
    CHECK_INT(count_players(&fixture, 8), 30);
    // The row is damaged: whoever takes the world is told, and a world that runs writes it again.
    REQUIRE(fixture_sql(&fixture, "UPDATE world_players SET players = zeroblob(9) "
                                  "WHERE length(world_id) > 0"));
    uint64_t unused = 0;
    CHECK_INT(fixture_take(&fixture, "w1", "host", 0, FIXTURE_FOREVER, &unused), STATUS_MALFORMED);
    writer = player_rows(1, 31, 9, true);
    CHECK_INT(fixture_save(&fixture, "w1", epoch, ++seq, &writer), STATUS_OK);
    CHECK_INT(store_stats(fixture.store).damaged, 2);
    CHECK_INT(count_players(&fixture, 9), 30);
    fixture_end(&fixture);
}

// Worlds that are killed leave players behind as if they were still there.
TEST(a_row_with_too_many_players_is_emptied)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    const uint64_t epoch = fixture_world(&fixture, "w1");
    for (uint64_t seq = 1; seq <= 4; seq++) {
        ByteWriter writer = player_rows(seq * 10000, seq * 10000 + 9000, 1, true);
        REQUIRE(writer.status == STATUS_OK);
        CHECK_INT(fixture_save(&fixture, "w1", epoch, seq, &writer), STATUS_OK);
    }
    CHECK(fixture_number(&fixture, "SELECT max(length(players)) FROM world_players") < 2 << 20);
    CHECK(fixture_number(&fixture, "SELECT count(*) FROM player_checkpoints") > 9000);
    Counted counted = {0};
    CHECK_OK(store_rows(fixture.store, "w1", count_row, &counted));
    CHECK_INT(counted.players, 36000);
    fixture_end(&fixture);
}

// --- older versions -----------------------------------------------------------------------------

extern const char store_v3[];

static void write_v3(StoreFixture *fixture, const char *more)
{
    fixture_close(fixture);
    REQUIRE(remove(fixture->path) == 0);
    REQUIRE(fixture_sql(fixture, store_v3));
    REQUIRE(more == NULL || fixture_sql(fixture, more));
}

static void load_v3(StoreFixture *fixture, const char *more)
{
    write_v3(fixture, more);
    const Status status = fixture_open(fixture);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "%s: %s", status_name(status), fixture->reason);
    }
    REQUIRE(status == STATUS_OK);
}

// The value of a key of the store "s", as an integer; -1: none, -2: an error.
static int64_t value_of(StoreFixture *fixture, const char *world_id, uint64_t epoch,
                        const char *key, bool ordered)
{
    StoreCompletion done;
    const StoreRequest get = {
        .operation = STORE_GET, .ordered = ordered, .store = {"s", 1}, .key = {key, strlen(key)}};
    if (store_request(fixture->store, world_id, epoch, &get, 3) != STATUS_OK ||
        !fixture_wait(fixture, &done) || done.status != STATUS_OK || !done.ok) {
        return -2;
    }
    // A list of two: a value (nil, or an integer as a zigzag varint), and a version.
    return done.bytes[2] == 0 ? -1 : done.bytes[3] / 2;
}

static void check_v3(StoreFixture *fixture)
{
    StoreWorld world;
    CHECK_OK(store_world_find(fixture->store, "ABCD", &world));
    CHECK_TEXT(world.world_id, "w1");
    CHECK_TEXT(world.place_id, "w1");
    CHECK_TEXT(world.name, "Zoë's");
    CHECK_OK(store_world_find(fixture->store, "w2", &world));
    const uint8_t hash[32] = {1, 2, 3};
    uint64_t epoch = 0, bytes = 0;
    CHECK_OK(store_blob_find(fixture->store, hash, &bytes));
    CHECK_INT(bytes, 1234);
    CHECK_INT(fixture_renew(fixture, "new", 1, FIXTURE_FOREVER, FIXTURE_FOREVER), STATUS_OK);
    CHECK_INT(fixture_take(fixture, "w1", "new", 1, FIXTURE_FOREVER, &epoch), STATUS_OK);
    CHECK_INT(epoch, 2); // epochs go on
    CHECK_INT(value_of(fixture, "w1", epoch, "kept", false), 5);
    CHECK_INT(value_of(fixture, "w1", epoch, "gone", false), -1);
    CHECK_INT(value_of(fixture, "w1", epoch, "high", true), 5);
    CHECK_INT(store_stats(fixture->store).damaged, 0);
}

TEST(a_database_of_version_3_is_migrated)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture;
    RowList list;
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&list);
    load_v3(&fixture, NULL);
    CHECK_TEXT(fixture.reason, "");
    check_v3(&fixture);
    CHECK_OK(row_list_read(&list, fixture.store, "w1"));
    CHECK_INT(list.count, 8); // meta, structure, chunk, two players, two sets of profiles, resume
    RowProfiles profiles;
    REQUIRE(profiles_of(&fixture, 11, &list, &profiles));
    CHECK(text_equal(profiles.active, (Text){"knight", 6}));
    reopen(&fixture, NULL, 0, 0);
    CHECK_OK(row_list_read(&list, fixture.store, "w1"));
    CHECK_INT(list.count, 8);
    // What was damaged before is not made whole by it.
    load_v3(&fixture, "UPDATE worlds SET name = 'Another' WHERE world_id = 'w2'; "
                      "UPDATE structures SET owner_id = 3 WHERE world_id = 'w1'; "
                      "UPDATE datastore SET value = x'030c' WHERE key = 'kept'");
    StoreWorld world;
    CHECK_INT(store_world_find(fixture.store, "w2", &world), STATUS_MALFORMED);
    CHECK_INT(row_list_read(&list, fixture.store, "w1"), STATUS_MALFORMED);
    CHECK_INT(fixture_renew(&fixture, "new", 1, FIXTURE_FOREVER, FIXTURE_FOREVER), STATUS_OK);
    uint64_t epoch = 0;
    CHECK_INT(fixture_take(&fixture, "w1", "new", 1, 1, &epoch), STATUS_MALFORMED);
    row_list_free(&list);
    fixture_end(&fixture);
}

// The copy is what the older program left, with its log, and the older program could go on with it.
TEST(an_older_database_is_copied_before_it_is_migrated)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    StoreFixture fixture, copy;
    if (!fixture_begin(&fixture)) {
        return;
    }
    struct stat about;
    copy = fixture;
    snprintf(copy.path, sizeof copy.path, "%.80s.v3", fixture.path);
    CHECK(stat(copy.path, &about) != 0); // a new one needs none
    load_v3(&fixture, NULL);
    REQUIRE(stat(copy.path, &about) == 0);
    CHECK_INT(about.st_mode & 07777, 0600);
    CHECK_INT(fixture_number(&copy, "PRAGMA user_version"), 3);
    CHECK_INT(fixture_number(&copy, "SELECT count(*) FROM worlds WHERE world_id = 'w1'"), 1);
    // One of an interrupted migration is replaced; where no copy can be made, nothing is migrated.
    CHECK(truncate(copy.path, 5) == 0);
    load_v3(&fixture, NULL);
    CHECK_INT(fixture_number(&copy, "PRAGMA user_version"), 3);
    CHECK(unlink(copy.path) == 0 && mkdir(copy.path, 0700) == 0);
    char inner[sizeof copy.path + 4];
    snprintf(inner, sizeof inner, "%s/x", copy.path);
    CHECK(mkdir(inner, 0700) == 0);
    write_v3(&fixture, NULL);
    CHECK_INT(fixture_open(&fixture), STATUS_BLOCKED);
    CHECK(strstr(fixture.reason, "must be copied before it is migrated") != NULL);
    CHECK_INT(fixture_number(&fixture, "PRAGMA user_version"), 3);
    fixture_end(&fixture);
}

// Version 2 had other resume tokens, and version 1 no tables for profiles either.
TEST(a_database_of_version_1_or_2_is_migrated)
{
    if (fixture_is_server()) {
        return; // it is about SQLite's file
    }
    static const char before_3[] =
        "DROP TABLE resume_sessions; CREATE TABLE resume_tokens(world_id TEXT, token_hash BLOB, "
        "user_id INTEGER, player INTEGER, expires_unix_ms INTEGER, checksum INTEGER, "
        "PRIMARY KEY(world_id, token_hash)) STRICT, WITHOUT ROWID; PRAGMA user_version = 2";
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    load_v3(&fixture, before_3);
    check_v3(&fixture);
    CHECK_INT(store_stats(fixture.store).backfilled, 0);
    char before_2[600];
    snprintf(before_2, sizeof before_2,
             "%s; DROP TABLE character_profiles; DROP TABLE active_character_profiles; "
             "PRAGMA user_version = 1",
             before_3);
    load_v3(&fixture, before_2);
    CHECK_INT(store_stats(fixture.store).backfilled, 2);
    check_default(&fixture, 11, "Ann");
    check_default(&fixture, 12, "Bo");
    check_v3(&fixture);
    fixture_end(&fixture);
}

// --- places -------------------------------------------------------------------------------------

static Status set_value(StoreFixture *fixture, const char *world_id, uint64_t epoch,
                        const char *key)
{
    static const uint8_t five[] = {6, 1, 3, 10};
    StoreCompletion done;
    const StoreRequest set = {.operation = STORE_SET,
                              .store = {"s", 1},
                              .key = {key, strlen(key)},
                              .value = five,
                              .value_bytes = sizeof five};
    if (store_request(fixture->store, world_id, epoch, &set, 4) != STATUS_OK ||
        !fixture_wait(fixture, &done) || done.status != STATUS_OK) {
        return STATUS_COUNT;
    }
    return done.ok ? STATUS_OK : STATUS_LIMIT;
}

TEST(worlds_of_one_place_share_its_datastores_and_their_quota)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    fixture_close(&fixture);
    fixture.config.data_keys_max = 3;
    CHECK_OK(fixture_open(&fixture));
    static const char *const ids[] = {"a1", "a2", "b1"};
    for (size_t i = 0; i < 3; i++) {
        StoreWorld world = {.place_id = "place_a"};
        world.place_id[6] = ids[i][0];
        memcpy(world.world_id, ids[i], 3);
        CHECK_OK(store_world_put(fixture.store, &world));
        uint64_t epoch = 0;
        CHECK_INT(fixture_renew(&fixture, "host", 1, FIXTURE_FOREVER, FIXTURE_FOREVER), STATUS_OK);
        CHECK_INT(fixture_take(&fixture, ids[i], "host", 1, FIXTURE_FOREVER, &epoch), STATUS_OK);
        CHECK_INT(epoch, 1);
    }
    CHECK_INT(set_value(&fixture, "a1", 1, "k1"), STATUS_OK);
    CHECK_INT(value_of(&fixture, "a2", 1, "k1", false), 5);
    CHECK_INT(value_of(&fixture, "b1", 1, "k1", false), -1);
    CHECK_INT(set_value(&fixture, "a2", 1, "k2"), STATUS_OK);
    CHECK_INT(set_value(&fixture, "a1", 1, "k3"), STATUS_OK);
    CHECK_INT(set_value(&fixture, "a2", 1, "k4"), STATUS_LIMIT); // of both together
    CHECK_INT(set_value(&fixture, "b1", 1, "k4"), STATUS_OK);
    // A world goes, the place stays.
    CHECK_OK(store_world_delete(fixture.store, "a1"));
    CHECK_INT(value_of(&fixture, "a1", 1, "k1", false), -2);
    CHECK_INT(value_of(&fixture, "a2", 1, "k3", false), 5);
    StoreWorld bad = {.world_id = "c1", .place_id = "../c"};
    CHECK_INT(store_world_put(fixture.store, &bad), STATUS_MALFORMED);
    fixture_end(&fixture);
}
