// See store_fixture.h.
#define _GNU_SOURCE
#include "tests/unit/store_fixture.h"

#include "core/base/check.h"
#include "tests/support/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- the store ----------------------------------------------------------------------------------

Status fixture_open(StoreFixture *fixture)
{
    return store_open(&fixture->config, &fixture->store, fixture->reason, sizeof fixture->reason);
}

void fixture_close(StoreFixture *fixture)
{
    store_close(fixture->store);
    fixture->store = NULL;
}

// --- PostgreSQL ---------------------------------------------------------------------------------
// With SANDLOT_TEST_STORE every fixture has a schema of its own on that server.

bool fixture_is_server(void)
{
    const char *url = getenv("SANDLOT_TEST_STORE");
    return url != NULL && url[0] != '\0';
}

static PGconn *server_connect(const StoreFixture *fixture)
{
    char text[96];
    PGconn *server = PQconnectdb(getenv("SANDLOT_TEST_STORE"));
    if (PQstatus(server) != CONNECTION_OK) {
        test_fail(__FILE__, __LINE__, "%s", PQerrorMessage(server));
    } else if (fixture->schema[0] != '\0') {
        snprintf(text, sizeof text, "SET search_path = %s", fixture->schema);
        PQclear(PQexec(server, text));
    }
    return server;
}

static bool server_exec(PGconn *server, const char *text)
{
    PGresult *result = PQexec(server, text);
    const ExecStatusType status = PQresultStatus(result);
    const bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!ok) {
        test_fail(__FILE__, __LINE__, "%s: %s", text, PQerrorMessage(server));
    }
    PQclear(result);
    return ok;
}

bool fixture_server_begin(StoreFixture *fixture)
{
    static uint32_t count;
    char text[128], schema[48];
    snprintf(schema, sizeof schema, "t%d_%u", (int)getpid(), ++count);
    PGconn *server = server_connect(fixture);
    snprintf(text, sizeof text, "CREATE SCHEMA %s", schema);
    const bool ok = server_exec(server, text);
    PQfinish(server);
    memcpy(fixture->schema, schema, sizeof schema);
    snprintf(fixture->path, sizeof fixture->path, "%s?options=-csearch_path%%3D%s",
             getenv("SANDLOT_TEST_STORE"), schema);
    return ok;
}

void fixture_server_end(StoreFixture *fixture)
{
    if (fixture->schema[0] == '\0') {
        return;
    }
    char text[128];
    PGconn *server = server_connect(fixture);
    snprintf(text, sizeof text, "SET client_min_messages = error; DROP SCHEMA %s CASCADE",
             fixture->schema);
    (void)server_exec(server, text);
    PQfinish(server);
}

// SQLite writes bytes as x'00ff', PostgreSQL as '\x00ff'; and their type has another name.
static char *server_text(const char *text)
{
    char *out = malloc(2 * strlen(text) + 1), *to = out;
    ASSERT(out != NULL);
    for (const char *at = text; *at != '\0'; at++) {
        const bool is_bytes = (*at == 'x' || *at == 'X') && at[1] == '\'' &&
                              (at == text || strchr(" (,=", at[-1]) != NULL);
        if (is_bytes) {
            *to++ = '\'';
            *to++ = '\\';
            *to++ = 'x';
            at += 1;
        } else if (strncmp(at, "AS BLOB", 7) == 0) {
            memcpy(to, "AS BYTEA", 8);
            to += 8;
            at += 6;
        } else {
            *to++ = *at;
        }
    }
    *to = '\0';
    return out;
}

bool fixture_begin(StoreFixture *fixture)
{
    memset(fixture, 0, sizeof *fixture);
    snprintf(fixture->folder, sizeof fixture->folder, "store_test_XXXXXX");
    if (mkdtemp(fixture->folder) == NULL) {
        test_fail(__FILE__, __LINE__, "no folder");
        return false;
    }
    snprintf(fixture->path, sizeof fixture->path, "%s/sandlot.db", fixture->folder);
    if (fixture_is_server() && !fixture_server_begin(fixture)) {
        return false;
    }
    fixture->config = store_config_default();
    fixture->config.path = fixture->path;
    fixture->config.commit_ms = 1;
    Status status = fixture_open(fixture);
    // A server on a busy machine may not answer in time; whoever starts a program tries again too.
    for (int i = 0; i < 4 && status == STATUS_BLOCKED && fixture_is_server(); i++) {
        status = fixture_open(fixture);
    }
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "store_open: %s: %s", status_name(status), fixture->reason);
        fixture_end(fixture);
        return false;
    }
    return true;
}

// Folders of folders too: blobs.
static void remove_all(int at, const char *name)
{
    const int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
    if (entries == NULL) {
        (void)unlinkat(at, name, 0);
        return;
    }
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            remove_all(folder, entry->d_name);
        }
    }
    closedir(entries);
    (void)unlinkat(at, name, AT_REMOVEDIR);
}

void fixture_remove(const char *folder)
{
    remove_all(AT_FDCWD, folder);
}

void fixture_end(StoreFixture *fixture)
{
    store_close(fixture->store);
    fixture->store = NULL;
    fixture_server_end(fixture);
    remove_all(AT_FDCWD, fixture->folder);
}

bool fixture_sql(StoreFixture *fixture, const char *text)
{
    if (fixture->schema[0] != '\0') {
        PGconn *server = server_connect(fixture);
        char *translated = server_text(text);
        const bool done = server_exec(server, translated);
        free(translated);
        PQfinish(server);
        return done;
    }
    sqlite3 *db = NULL;
    char *error = NULL;
    bool ok = sqlite3_open(fixture->path, &db) == SQLITE_OK;
    ok = ok && sqlite3_exec(db, text, NULL, NULL, &error) == SQLITE_OK;
    if (!ok) {
        test_fail(__FILE__, __LINE__, "%s: %s", text, error != NULL ? error : "not opened");
    }
    sqlite3_free(error);
    sqlite3_close(db);
    return ok;
}

static int64_t server_number(StoreFixture *fixture, const char *text)
{
    int64_t number = INT64_MIN;
    PGconn *server = server_connect(fixture);
    char *translated = server_text(text);
    PGresult *result = PQexec(server, translated);
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0) {
        number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    } else {
        test_fail(__FILE__, __LINE__, "%s: %s", translated, PQerrorMessage(server));
    }
    PQclear(result);
    free(translated);
    PQfinish(server);
    return number;
}

int64_t fixture_number(StoreFixture *fixture, const char *text)
{
    if (fixture->schema[0] != '\0') {
        return server_number(fixture, text);
    }
    sqlite3 *db = NULL;
    sqlite3_stmt *query = NULL;
    int64_t number = INT64_MIN;
    if (sqlite3_open(fixture->path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, text, -1, &query, NULL) == SQLITE_OK &&
        sqlite3_step(query) == SQLITE_ROW) {
        number = sqlite3_column_int64(query, 0);
    }
    sqlite3_finalize(query);
    sqlite3_close(db);
    return number;
}

bool fixture_wait(StoreFixture *fixture, StoreCompletion *out)
{
    for (int tries = 0; tries < 600; tries++) { // a minute: a busy machine passes too
        if (store_poll(fixture->store, out)) {
            return true;
        }
        struct pollfd wait = {.fd = store_descriptor(fixture->store), .events = POLLIN};
        (void)poll(&wait, 1, 100);
    }
    test_fail(__FILE__, __LINE__, "no completion");
    return false;
}

Status fixture_renew(StoreFixture *fixture, const char *host_id, uint8_t boot, uint64_t now,
                     uint64_t duration)
{
    StoreCompletion completion;
    StoreHost host = {.boot = {boot}, .address = "127.0.0.1:7777"};
    snprintf(host.host_id, sizeof host.host_id, "%s", host_id);
    const Status status = store_host_renew(fixture->store, &host, now, duration, 77);
    if (status != STATUS_OK) {
        return status;
    }
    if (!fixture_wait(fixture, &completion)) {
        return STATUS_COUNT;
    }
    CHECK_INT(completion.type, STORE_HOST_RENEWED);
    CHECK_INT(completion.tag, 77);
    return completion.status;
}

Status fixture_take(StoreFixture *fixture, const char *world_id, const char *host_id, uint8_t boot,
                    uint64_t now, uint64_t *epoch)
{
    StoreCompletion completion;
    const uint8_t boots[STORE_BOOT_BYTES] = {boot};
    const Status status = store_world_take(fixture->store, world_id, host_id, boots, now, 78);
    if (status != STATUS_OK) {
        return status;
    }
    if (!fixture_wait(fixture, &completion)) {
        return STATUS_COUNT;
    }
    CHECK_INT(completion.type, STORE_WORLD_TAKEN);
    CHECK_INT(completion.tag, 78);
    CHECK_TEXT(completion.world_id, world_id);
    if (completion.status == STATUS_OK) {
        *epoch = completion.epoch;
    } else {
        CHECK(completion.rows == NULL && completion.epoch == 0);
    }
    free(completion.rows);
    return completion.status;
}

Status fixture_release(StoreFixture *fixture, const char *world_id, uint64_t epoch)
{
    StoreCompletion completion;
    const Status status = store_world_release(fixture->store, world_id, epoch, 79);
    if (status != STATUS_OK) {
        return status;
    }
    return fixture_wait(fixture, &completion) ? completion.status : STATUS_COUNT;
}

uint64_t fixture_world(StoreFixture *fixture, const char *world_id)
{
    StoreWorld world = {.created_unix_ms = 1};
    uint64_t epoch = 0;
    snprintf(world.world_id, sizeof world.world_id, "%s", world_id);
    snprintf(world.name, sizeof world.name, "The world %s", world_id);
    Status status = store_world_put(fixture->store, &world);
    if (status == STATUS_OK) {
        status = fixture_renew(fixture, "host", 0, FIXTURE_FOREVER, FIXTURE_FOREVER);
    }
    if (status == STATUS_OK) {
        status = fixture_take(fixture, world_id, "host", 0, FIXTURE_FOREVER, &epoch);
    }
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "world %s: %s", world_id, status_name(status));
    }
    return epoch;
}

Status fixture_save(StoreFixture *fixture, const char *world_id, uint64_t epoch, uint64_t seq,
                    const ByteWriter *rows)
{
    StoreCompletion completion;
    const Status status =
        store_save(fixture->store, world_id, epoch, seq, rows->data, rows->at, seq);
    if (status != STATUS_OK) {
        return status;
    }
    if (!fixture_wait(fixture, &completion)) {
        return STATUS_COUNT;
    }
    CHECK_INT(completion.tag, seq);
    CHECK_TEXT(completion.world_id, world_id);
    return completion.status;
}

// --- random rows --------------------------------------------------------------------------------

static float random_float(Rng *rng)
{
    static const float special[] = {0, -0.0f, 1, -1, 1e-38f, 16384, -16384, 0.1f};
    const uint32_t which = rng_below(rng, 16);
    return which < 8 ? special[which] : rng_range(rng, -1000, 1000);
}

static Vec3 random_vec3(Rng *rng)
{
    Vec3 v;
    v.x = random_float(rng);
    v.y = random_float(rng);
    v.z = random_float(rng);
    return v;
}

static Text random_text(Rng *rng)
{
    static const char *const texts[] = {
        "",        "a",         "Ann", "Zoë", "'; DROP TABLE worlds; --", "\xf0\x9f\x98\x80",
        "default", "\"quoted\""};
    const char *text = texts[rng_below(rng, 8)];
    return (Text){text, (uint32_t)strlen(text)};
}

static void random_player(Rng *rng, ByteWriter *writer)
{
    RowPlayer player;
    player.account =
        rng_below(rng, 4) == 0 ? UINT64_MAX - rng_below(rng, 3) : 1 + rng_below(rng, 9);
    player.player = 1 + rng_below(rng, 100);
    player.entity = rng_u64(rng) >> 11;
    player.position = random_vec3(rng);
    player.velocity = random_vec3(rng);
    player.yaw = rng_range(rng, -3, 3);
    player.health = rng_range(rng, 0, 100);
    player.name = random_text(rng);
    player.team = random_text(rng);
    player.present = rng_below(rng, 2) == 0;
    row_put_player(&player, writer);
}

static void random_profiles(Rng *rng, ByteWriter *writer)
{
    static const char *const ids[] = {"default", "zebra", "ant", "_-9"};
    RowProfiles profiles = {.account = 1 + rng_below(rng, 9), .count = 1 + rng_below(rng, 4)};
    // Not in the order of their ids: the order is part of the row.
    for (uint32_t i = 0; i < profiles.count; i++) {
        WireProfile *profile = &profiles.profiles[i];
        const char *id = ids[i];
        profile->character_id = (Text){id, (uint32_t)strlen(id)};
        profile->name = (Text){"Zoë", 4};
        profile->body = rng_below(rng, 256);
        profile->colour_skin = rng_below(rng, 1 << 24);
        profile->colour_shirt = rng_below(rng, 1 << 24);
        profile->colour_legs = rng_below(rng, 1 << 24);
    }
    profiles.active = profiles.profiles[rng_below(rng, profiles.count)].character_id;
    row_put_profiles(&profiles, writer);
}

static void random_structure(Rng *rng, ByteWriter *writer)
{
    RowStructure structure;
    structure.desc.net_id = 1 + rng_below(rng, 40);
    structure.desc.owner_id = rng_u64(rng) >> 11;
    structure.desc.piece = rng_below(rng, 256);
    structure.desc.cell.x = (int32_t)rng_below(rng, 32768) - 16384;
    structure.desc.cell.y = -(int32_t)rng_below(rng, 3);
    structure.desc.cell.z = (int32_t)rng_below(rng, 7);
    structure.desc.turn = rng_below(rng, 4);
    structure.health = rng_range(rng, 0.5f, 100);
    row_put_structure(&structure, writer);
}

static void random_bytes(Rng *rng, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)rng_below(rng, 256);
    }
}

static void random_chunk(Rng *rng, ByteWriter *writer)
{
    static uint8_t bytes[6000];
    const size_t count = rng_below(rng, 8) == 0 ? sizeof bytes : rng_below(rng, 60);
    ChunkCoord at;
    at.x = (int32_t)rng_below(rng, 4) - 2;
    at.y = (int32_t)rng_below(rng, 3) - 1;
    at.z = rng_below(rng, 2) == 0 ? -512 : 511;
    random_bytes(rng, bytes, count);
    row_put_chunk(at, bytes, count, writer);
}

static void random_attributes(Rng *rng, ByteWriter *writer)
{
    uint8_t bytes[512];
    ByteWriter book = byte_writer(bytes, sizeof bytes);
    net_attributes_write_name(&book, (Text){"", 0});
    const NetValue number = {.type = NET_VALUE_NUMBER, .number = (double)random_float(rng)};
    net_attributes_write_one(&book, (Text){"level", 5}, &number);
    net_attributes_write_end(&book);
    net_attributes_write_end(&book);
    const bool named = rng_below(rng, 2) == 0;
    const Text name = named ? (Text){"Tür", 4} : (Text){"", 0};
    const uint64_t entity = 1 + rng_below(rng, 5);
    row_put_attributes(name, rng_below(rng, 2) == 0 ? entity : ROW_SCENE_ID | entity, bytes,
                       book.at, writer);
}

void fixture_row(Rng *rng, ByteWriter *writer)
{
    switch (rng_below(rng, 7)) {
    case 0: {
        RowMeta meta;
        meta.next_net_id = rng_u64(rng) >> 11;
        meta.next_player = rng_below(rng, 1000);
        meta.tick = rng_u64(rng) >> 12;
        meta.manifest_version = rng_u32(rng);
        row_put_meta(&meta, writer);
        return;
    }
    case 1:
        random_player(rng, writer);
        return;
    case 2:
        random_profiles(rng, writer);
        return;
    case 3:
        random_structure(rng, writer);
        return;
    case 4:
        random_chunk(rng, writer);
        return;
    case 5:
        random_attributes(rng, writer);
        return;
    default: {
        RowResume resume = {.account = rng_u64(rng), .player = rng_below(rng, 100)};
        resume.token_hash[31] = (uint8_t)rng_below(rng, 12);
        resume.expires_unix_ms = rng_u64(rng) >> 12;
        resume.roles = rng_below(rng, ROW_ROLES_ALL + 1);
        row_put_resume(&resume, writer);
        return;
    }
    }
}

// --- lists of rows ------------------------------------------------------------------------------

void row_list_init(RowList *list)
{
    memset(list, 0, sizeof *list);
    list->byte_max = 8u << 20;
    list->bytes = malloc(list->byte_max);
    ASSERT(list->bytes != NULL);
}

void row_list_free(RowList *list)
{
    free(list->bytes);
}

void row_list_clear(RowList *list)
{
    list->byte_count = 0;
    list->count = 0;
}

static Row row_at(const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    Row row = {0};
    const Status status = row_read(&reader, &row);
    ASSERT(status == STATUS_OK);
    return row;
}

static int compare_keys(const Row *a, const Row *b)
{
    if (a->type != b->type) {
        return a->type < b->type ? -1 : 1;
    }
    if (a->key_bytes != b->key_bytes) {
        return a->key_bytes < b->key_bytes ? -1 : 1;
    }
    return memcmp(a->key, b->key, a->key_bytes);
}

static size_t size_at(const RowList *list, uint32_t i)
{
    const size_t end = i + 1 < list->count ? list->starts[i + 1] : list->byte_count;
    return end - list->starts[i];
}

static void cut(RowList *list, uint32_t at, const uint8_t *row, size_t bytes, bool replaces)
{
    const size_t start = at < list->count ? list->starts[at] : list->byte_count;
    const size_t old = replaces ? size_at(list, at) : 0;
    ASSERT(list->byte_count + bytes <= list->byte_max && list->count < FIXTURE_ROWS_MAX);
    memmove(list->bytes + start + bytes, list->bytes + start + old, list->byte_count - start - old);
    if (bytes > 0) {
        memcpy(list->bytes + start, row, bytes);
    }
    list->byte_count = list->byte_count - old + bytes;
    const uint32_t from = replaces ? at + 1 : at;
    const uint32_t to = bytes > 0 ? at + 1 : at;
    memmove(&list->starts[to], &list->starts[from], (list->count - from) * sizeof list->starts[0]);
    list->count = list->count - from + to;
    if (bytes > 0) {
        list->starts[at] = start;
    }
    for (uint32_t i = to; i < list->count; i++) {
        list->starts[i] = list->starts[i] - old + bytes;
    }
}

void row_list_put(RowList *list, const uint8_t *row, size_t bytes)
{
    const Row given = row_at(row, bytes);
    uint32_t at = 0;
    int order = 1;
    for (; at < list->count; at++) {
        const Row other = row_at(list->bytes + list->starts[at], size_at(list, at));
        order = compare_keys(&given, &other);
        if (order <= 0) {
            break;
        }
    }
    const bool replaces = at < list->count && order == 0;
    if (given.value_bytes > 0) {
        cut(list, at, row, bytes, replaces);
    } else if (replaces) {
        cut(list, at, NULL, 0, true);
    }
}

static void sink(void *user, const uint8_t *row, size_t bytes)
{
    row_list_put(user, row, bytes);
}

Status row_list_read(RowList *list, Store *store, const char *world_id)
{
    row_list_clear(list);
    return store_rows(store, world_id, sink, list);
}

bool row_list_equal(const RowList *a, const RowList *b)
{
    return a->count == b->count && a->byte_count == b->byte_count &&
           memcmp(a->bytes, b->bytes, a->byte_count) == 0;
}

// Characters are the account's: a world's rows have those of whoever has been in it. Other tests
// look at them.
void row_list_drop_profiles(RowList *list)
{
    for (uint32_t i = 0; i < list->count;) {
        uint8_t bytes[128];
        ByteReader reader =
            byte_reader(list->bytes + list->starts[i], list->byte_count - list->starts[i]);
        Row row;
        REQUIRE(row_read(&reader, &row) == STATUS_OK);
        if (row.type != ROW_PROFILES) {
            i += 1;
            continue;
        }
        row.value_bytes = 0;
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        row_write(&row, &writer);
        row_list_put(list, bytes, writer.at);
    }
}
