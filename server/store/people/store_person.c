// See store_person.h.
#define _GNU_SOURCE
#include "server/store/people/store_person.h"

#include "server/store/people/store_person_inside.h"
#include "server/store/store_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_AT_ONCE 4096 // that are looked at before others may read

// --- keys of DataStores -------------------------------------------------------------------------

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

bool store_key_has_number(const char *key, size_t bytes, uint64_t number)
{
    char digits[24];
    const size_t count = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number);
    for (size_t at = 0; at + count <= bytes; at++) {
        if (memcmp(key + at, digits, count) == 0 && (at == 0 || !is_digit(key[at - 1])) &&
            (at + count == bytes || !is_digit(key[at + count]))) {
            return true;
        }
    }
    return false;
}

static bool add_key(PersonKeys *keys, const PersonKey *key)
{
    if (keys->count == keys->capacity) {
        const uint32_t capacity = keys->capacity > 0 ? keys->capacity * 2 : 64;
        PersonKey *items = realloc(keys->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        keys->items = items;
        keys->capacity = capacity;
    }
    keys->items[keys->count++] = *key;
    return true;
}

static void take_key(SqlRow *row, PersonKey *out)
{
    memset(out, 0, sizeof *out);
    world_take_string(row, out->place_id, sizeof out->place_id);
    out->ordered = sql_take_u64(row);
    out->store_bytes = 0;
    const uint8_t *store = sql_take_bytes(row, sizeof out->store, &out->store_bytes);
    memcpy(out->store, store, out->store_bytes);
    const uint8_t *key = sql_take_bytes(row, sizeof out->key, &out->key_bytes);
    memcpy(out->key, key, out->key_bytes);
}

void person_put_key(SqlRow *row, const PersonKey *key)
{
    sql_put_string(row, key->place_id);
    sql_put_u64(row, key->ordered);
    sql_put_bytes(row, key->store, key->store_bytes);
    sql_put_bytes(row, key->key, key->key_bytes);
}

// Looks at the keys behind `last`, and makes it the last one looked at. False: there are no more,
// or the status says why.
static bool find_some(Store *store, uint64_t account, PersonKey *last, PersonKeys *keys,
                      Status *status)
{
    uint32_t seen = 0;
    bool has_memory = true;
    PersonKey from = *last, key;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_DATA_KEYS, TABLE_NONE);
    person_put_key(&row, &from);
    sql_put_u64(&row, KEYS_AT_ONCE);
    while (sql_next(&row)) {
        take_key(&row, &key);
        seen += 1;
        *last = key;
        if (has_memory && store_key_has_number(key.key, key.key_bytes, account)) {
            has_memory = add_key(keys, &key);
        }
    }
    *status = sql_status(store->reader);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    *status = *status == STATUS_OK && !has_memory ? STATUS_LIMIT : *status;
    return *status == STATUS_OK && seen == KEYS_AT_ONCE;
}

Status person_keys(Store *store, uint64_t account, PersonKeys *out)
{
    PersonKey last = {0};
    Status status;
    while (find_some(store, account, &last, out, &status)) {
    }
    return status;
}

// --- deleting -----------------------------------------------------------------------------------

static void delete_key(Sql *sql, const PersonKey *key)
{
    SqlRow gone = sql_open(sql, SQL_DATA_DELETE, TABLE_NONE);
    person_put_key(&gone, key);
    (void)sql_run(&gone);
    SqlRow versions = sql_open(sql, SQL_VERSION_DELETE, TABLE_NONE);
    person_put_key(&versions, key);
    sql_put_u64(&versions, INT64_MAX);
    (void)sql_run(&versions);
    SqlRow values = sql_open(sql, SQL_VALUE_DELETE, TABLE_NONE);
    person_put_key(&values, key);
    sql_put_u64(&values, INT64_MAX);
    (void)sql_run(&values);
}

static void delete_keys(Sql *sql, const PersonKeys *keys)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        delete_key(sql, &keys->items[i]);
        const bool is_last = i + 1 == keys->count ||
                             strcmp(keys->items[i].place_id, keys->items[i + 1].place_id) != 0;
        if (is_last) { // they come in the order of places
            data_recount(sql, keys->items[i].place_id);
        }
    }
}

// A row of the players who are in a world is one for all of them; the store's own way to write it
// takes somebody out of it.
static void delete_from_world(Store *store, Sql *sql, const char *world_id, uint64_t account)
{
    uint8_t bytes[64];
    Row row = {.type = ROW_PLAYER, .key_bytes = 8};
    ByteWriter key = byte_writer(row.key, sizeof row.key);
    byte_write_u64(&key, account);
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_write(&row, &writer);
    const Save save = {.world_id = world_id, .rows = bytes, .row_bytes = writer.at};
    rows_apply(store, sql, &save);
}

// They are written while they are read no more: first all worlds, then each of them.
static bool delete_from_worlds(Store *store, Sql *sql, uint64_t account)
{
    char(*worlds)[STORE_ID_BYTES + 1] = NULL;
    uint32_t count = 0, capacity = 0;
    bool has_memory = true;
    SqlRow row = sql_open(sql, SQL_PERSON_WORLDS, TABLE_NONE);
    sql_put_u64(&row, account);
    while (sql_next(&row)) {
        if (count == capacity) {
            capacity = capacity > 0 ? capacity * 2 : 16;
            void *more = realloc(worlds, capacity * sizeof *worlds);
            has_memory = more != NULL;
            if (!has_memory) {
                sql_close(&row);
                break;
            }
            worlds = more;
        }
        world_take_string(&row, worlds[count++], sizeof *worlds);
    }
    players_forget(store);
    for (uint32_t i = 0; i < count && has_memory; i++) {
        delete_from_world(store, sql, worlds[i], account);
    }
    players_forget(store);
    free(worlds);
    return has_memory;
}

// One after the other, because a row cannot be written while it is read.
static void give_worlds(Sql *sql, uint64_t account)
{
    for (bool is_more = true; is_more;) {
        char world_id[STORE_ID_BYTES + 1];
        SqlRow row = sql_open(sql, SQL_PERSON_ABOUT, TABLE_NONE);
        sql_put_u64(&row, account);
        is_more = sql_next(&row);
        if (!is_more) {
            break;
        }
        sql_take_table(&row, TABLE_WORLD_ABOUT);
        world_take_string(&row, world_id, sizeof world_id);
        const uint64_t owner = sql_take_u64(&row), maker = sql_take_u64(&row);
        const uint64_t is_private = sql_take_u64(&row), is_named = sql_take_u64(&row);
        const bool is_whole = sql_take_checksum(&row);
        sql_close(&row);
        SqlRow put = sql_open(sql, SQL_ABOUT_PUT, TABLE_WORLD_ABOUT);
        sql_put_string(&put, world_id);
        sql_put_u64(&put, owner == account || !is_whole ? STORE_BUILT_IN_ACCOUNT : owner);
        sql_put_u64(&put, maker == account || !is_whole ? 0 : maker);
        sql_put_u64(&put, is_private != 0 || !is_whole); // a damaged one lets nobody in
        sql_put_u64(&put, is_named != 0);
        sql_put_checksum(&put);
        (void)sql_run(&put);
        is_more = sql_status(sql) == STATUS_OK;
    }
}

typedef struct DeleteCall {
    uint64_t account;
    const PersonKeys *keys;
} DeleteCall;

static Status person_delete(Store *store, Sql *sql, void *user)
{
    static const SqlName names[] = {SQL_PERSON_CHECKPOINTS_END,
                                    SQL_PERSON_PRESENCE_END,
                                    SQL_PERSON_PROFILES_END,
                                    SQL_PERSON_ACTIVE_END,
                                    SQL_PERSON_RESUMES_END,
                                    SQL_PERSON_GUESTS_END,
                                    SQL_PERSON_BANS_END,
                                    SQL_PERSON_LINKS_END,
                                    SQL_RECOVERY_CLEAR,
                                    SQL_NAME_CLEAR,
                                    SQL_IDENTITY_CLEAR,
                                    SQL_PERSON_TEAMS_END,
                                    SQL_PERSON_OFFERS_END,
                                    SQL_PERSON_PLAY_TIMES_END,
                                    SQL_PERSON_LINES_END,
                                    SQL_PERSON_REPORTED_LINES_END,
                                    SQL_PERSON_REPORTED_HOSTS_END,
                                    SQL_PERSON_REPORTED_END,
                                    SQL_PERSON_BLOCKS_END,
                                    SQL_PERSON_CHAT_RULE_END,
                                    SQL_PERSON_PUPIL_END,
                                    SQL_PERSON_CLASS_NAMES_END,
                                    SQL_PERSON_TEACHES_END,
                                    SQL_ACCOUNT_DELETE};
    static const uint8_t none[32];
    const DeleteCall *call = user;
    if (!delete_from_worlds(store, sql, call->account)) {
        sql_fail(sql, SQL_ERROR_DISK); // the whole batch is tried again later
        return STATUS_LIMIT;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        sql_run_with_u64(sql, names[i], call->account);
    }
    SqlRow sign_ins = sql_open(sql, SQL_SIGN_IN_CLEAR, TABLE_NONE);
    sql_put_u64(&sign_ins, call->account);
    sql_put_bytes(&sign_ins, none, sizeof none);
    (void)sql_run(&sign_ins);
    give_worlds(sql, call->account);
    package_leave(sql, call->account);
    class_give(sql, call->account);
    handout_forget_maker(sql, call->account);
    draft_forget_maker(sql, call->account);
    edit_forget_maker(sql, call->account);
    play_forget_person(sql, call->account);
    report_forget_maker(sql, call->account);
    delete_keys(sql, call->keys);
    return STATUS_OK;
}

Status store_person_delete(Store *store, uint64_t account)
{
    if (account <= STORE_BUILT_IN_ACCOUNT) {
        return STATUS_DENIED;
    }
    PersonKeys keys = {0};
    Status status = person_keys(store, account, &keys);
    if (status == STATUS_OK) {
        DeleteCall call = {account, &keys};
        status = store_call(store, person_delete, &call);
    }
    free(keys.items);
    return status;
}
