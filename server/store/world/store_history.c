// What keys of DataStores held before: when a value is replaced or removed, it is kept under its
// version, so that scripts can read it again (GetVersionAsync). A key has at most
// STORE_VERSIONS_MAX versions, the newest included. The values of a place have room of their own,
// counted in datastore_values_use in the same transaction: one that does not fit takes the place of
// those that were replaced first, at most STORE_DROPS_MAX of them, so that no write takes long. So
// old values never keep a script from storing something new. After HISTORY_DAYS they are swept.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <string.h>

typedef struct Use {
    uint64_t values, bytes;
} Use;

void data_put_key(SqlRow *row, const DataKey *key)
{
    sql_put_string(row, key->place_id);
    sql_put_u64(row, key->ordered);
    sql_put_bytes(row, key->store.data, key->store.bytes);
    sql_put_bytes(row, key->key.data, key->key.bytes);
}

// --- how much is kept ---------------------------------------------------------------------------

static Use count_use(Sql *sql, const char *place_id)
{
    Use use = {0, 0};
    SqlRow count = sql_open(sql, SQL_VALUE_COUNT, TABLE_NONE);
    sql_put_string(&count, place_id);
    if (sql_next(&count)) {
        use.values = sql_take_u64(&count);
        use.bytes = sql_take_u64(&count);
        sql_close(&count);
    }
    return use;
}

// If the count is damaged or missing, it is made again.
static Use load_use(Sql *sql, const char *place_id)
{
    Use use = {0, 0};
    bool ok = false;
    SqlRow row = sql_open(sql, SQL_VALUE_USE_FIND, TABLE_NONE);
    sql_put_string(&row, place_id);
    if (sql_next(&row)) {
        size_t bytes = 0;
        sql_take_table(&row, TABLE_DATA_VALUES_USE);
        (void)sql_take_text(&row, STORE_ID_BYTES, &bytes);
        use.values = sql_take_u64(&row);
        use.bytes = sql_take_u64(&row);
        ok = sql_take_checksum(&row);
        sql_close(&row);
    }
    return ok ? use : count_use(sql, place_id);
}

static void write_use(Sql *sql, const char *place_id, Use use)
{
    SqlRow row = sql_open(sql, SQL_VALUE_USE_PUT, TABLE_DATA_VALUES_USE);
    sql_put_string(&row, place_id);
    sql_put_u64(&row, use.values);
    sql_put_u64(&row, use.bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

void history_recount(Sql *sql, const char *place_id)
{
    write_use(sql, place_id, count_use(sql, place_id));
}

static void take_off(Use *use, uint64_t values, uint64_t bytes)
{
    use->values -= values < use->values ? values : use->values;
    use->bytes -= bytes < use->bytes ? bytes : use->bytes;
}

// --- dropping -----------------------------------------------------------------------------------

static void delete_through(Sql *sql, const DataKey *key, uint64_t version)
{
    SqlRow row = sql_open(sql, SQL_VALUE_DELETE, TABLE_NONE);
    data_put_key(&row, key);
    sql_put_u64(&row, version);
    (void)sql_run(&row);
}

static void drop_through(Sql *sql, const DataKey *key, uint64_t version, Use *use)
{
    uint64_t values = 0, bytes = 0;
    SqlRow row = sql_open(sql, SQL_VALUE_SIZES, TABLE_NONE);
    data_put_key(&row, key);
    sql_put_u64(&row, version);
    if (sql_next(&row)) {
        values = sql_take_u64(&row);
        bytes = sql_take_u64(&row);
        sql_close(&row);
    }
    if (values > 0) {
        delete_through(sql, key, version);
        take_off(use, values, bytes);
    }
}

void history_forget(Sql *sql, const DataKey *key)
{
    Use use = load_use(sql, key->place_id);
    const Use before = use;
    drop_through(sql, key, INT64_MAX, &use);
    if (use.values != before.values) {
        write_use(sql, key->place_id, use);
    }
}

static void copy_text(SqlRow *row, char *out, size_t bytes_max, size_t *bytes)
{
    const char *text = sql_take_text(row, bytes_max, bytes);
    if (*bytes > 0) {
        memcpy(out, text, *bytes);
    }
}

// The value that was replaced first; false if there is none.
static bool drop_oldest(Sql *sql, const char *place_id, Use *use)
{
    char store[WORLD_NAME_BYTES_MAX], name[STORE_KEY_BYTES_MAX];
    DataKey key = {.place_id = place_id, .store.data = store, .key.data = name};
    SqlRow row = sql_open(sql, SQL_VALUE_OLDEST, TABLE_NONE);
    sql_put_string(&row, place_id);
    if (!sql_next(&row)) {
        return false;
    }
    key.ordered = sql_take_u64(&row) == 1;
    copy_text(&row, store, sizeof store, &key.store.bytes);
    copy_text(&row, name, sizeof name, &key.key.bytes);
    const uint64_t version = sql_take_u64(&row);
    const uint64_t bytes = sql_take_u64(&row);
    sql_close(&row);
    SqlRow gone = sql_open(sql, SQL_VALUE_DROP, TABLE_NONE);
    data_put_key(&gone, &key);
    sql_put_u64(&gone, version);
    if (!sql_run(&gone)) {
        return false;
    }
    take_off(use, 1, bytes);
    return true;
}

static bool make_room(Store *store, Sql *sql, const char *place_id, size_t bytes, Use *use)
{
    const uint64_t max = store->config.data_old_bytes_max;
    if (bytes > max) {
        return false;
    }
    for (uint32_t i = 0; i < STORE_DROPS_MAX && use->bytes > max - bytes; i++) {
        if (!drop_oldest(sql, place_id, use)) {
            break;
        }
    }
    return use->bytes <= max - bytes;
}

// --- keeping and reading ------------------------------------------------------------------------

static void put_value(Store *store, Sql *sql, const DataKey *key, const OldValue *old)
{
    SqlRow row = sql_open(sql, SQL_VALUE_PUT, TABLE_DATA_VALUES);
    data_put_key(&row, key);
    sql_put_u64(&row, old->version);
    sql_put_u64(&row, store_unix_ms(store) / 1000);
    sql_put_bytes(&row, old->value, old->bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

void history_add(Store *store, Sql *sql, const DataKey *key, const OldValue *old)
{
    Use use = load_use(sql, key->place_id);
    const Use before = use;
    if (old->version >= STORE_VERSIONS_MAX) { // the next version is the one that is written now
        drop_through(sql, key, old->version + 1 - STORE_VERSIONS_MAX, &use);
    }
    if (old->bytes > 0 && make_room(store, sql, key->place_id, old->bytes, &use)) {
        put_value(store, sql, key, old);
        use.values += 1;
        use.bytes += old->bytes;
    }
    if (use.values != before.values || use.bytes != before.bytes) {
        write_use(sql, key->place_id, use);
    }
}

bool history_find(Sql *sql, const DataKey *key, uint64_t version, ByteWriter *answer)
{
    SqlRow row = sql_open(sql, SQL_VALUE_FIND, TABLE_NONE);
    data_put_key(&row, key);
    sql_put_u64(&row, version);
    if (!sql_next(&row)) {
        byte_write_u8(answer, STORE_TAG_NIL);
        return true;
    }
    size_t bytes = 0;
    sql_take_table(&row, TABLE_DATA_VALUES);
    (void)sql_take_text(&row, STORE_ID_BYTES, &bytes);
    (void)sql_take_u64(&row);
    (void)sql_take_text(&row, WORLD_NAME_BYTES_MAX, &bytes);
    (void)sql_take_text(&row, STORE_KEY_BYTES_MAX, &bytes);
    (void)sql_take_u64(&row);
    (void)sql_take_u64(&row);
    const uint8_t *value = sql_take_bytes(&row, VALUE_BYTES_MAX, &bytes);
    const bool ok = sql_take_checksum(&row);
    if (ok) {
        byte_write_bytes(answer, value, bytes);
    }
    sql_close(&row);
    return ok;
}

uint32_t history_versions(Sql *sql, const DataKey *key, uint64_t versions[STORE_VERSIONS_MAX])
{
    uint32_t count = 0;
    SqlRow row = sql_open(sql, SQL_VALUE_LIST, TABLE_NONE);
    data_put_key(&row, key);
    while (count < STORE_VERSIONS_MAX && sql_next(&row)) {
        versions[count++] = sql_take_u64(&row);
    }
    sql_close(&row);
    return count;
}

// --- sweeping -----------------------------------------------------------------------------------

void history_sweep(Sql *sql, uint64_t now_unix_ms)
{
    const uint64_t keep_ms = HISTORY_DAYS * UINT64_C(86400000);
    const uint64_t before = now_unix_ms > keep_ms ? (now_unix_ms - keep_ms) / 1000 : 0;
    for (bool is_more = true; is_more && sql_status(sql) == STATUS_OK;) {
        char place_id[STORE_ID_BYTES + 1] = "";
        SqlRow row = sql_open(sql, SQL_VALUE_EXPIRED, TABLE_NONE);
        sql_put_u64(&row, before);
        is_more = sql_next(&row);
        if (is_more) {
            world_take_string(&row, place_id, sizeof place_id);
            sql_close(&row);
            SqlRow gone = sql_open(sql, SQL_VALUE_EXPIRE, TABLE_NONE);
            sql_put_string(&gone, place_id);
            sql_put_u64(&gone, before);
            is_more = sql_run(&gone);
            history_recount(sql, place_id);
        }
    }
}
