// DataStore requests of a world's scripts, kept for its place: the same operations and answers as
// core/script/trial/memory_store.c, kept in tables. A removed key stays without a value, so that
// its versions go on, until the place has no room for a new one. How much a place keeps is counted
// in datastore_use, in the same transaction.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"

#include <stdio.h>
#include <string.h>

typedef struct Entry {
    bool used;   // there is a row
    bool exists; // with a value
    uint64_t version;
    const uint8_t *value; // without the list around it; in Store.value
    size_t bytes;
} Entry;

typedef struct Use {
    uint64_t keys, bytes;
} Use;

// One request and all it needs.
typedef struct Run {
    Store *store;
    Sql *sql;
    const char *place_id;
    const StoreRequest *request;
    ByteWriter *answer;
} Run;

static DataKey key_of(const Run *run)
{
    const StoreRequest *request = run->request;
    return (DataKey){run->place_id, request->ordered, request->store, request->key};
}

// --- answers ------------------------------------------------------------------------------------

static void write_value(const Entry *entry, ByteWriter *answer)
{
    if (entry->exists) {
        byte_write_bytes(answer, entry->value, entry->bytes);
    } else {
        byte_write_u8(answer, STORE_TAG_NIL);
    }
}

// Names the store and the key: the error goes to the script and to the log.
static bool fail_damaged(const Run *run)
{
    char text[WORLD_NAME_BYTES_MAX + STORE_KEY_BYTES_MAX + 80];
    const Text store = run->request->store, key = run->request->key;
    snprintf(text, sizeof text, "what is stored there is damaged (store \"%.*s\"%s%.*s%s)",
             (int)store.bytes, store.data, key.bytes > 0 ? ", key \"" : "", (int)key.bytes,
             key.bytes > 0 ? key.data : "", key.bytes > 0 ? "\"" : "");
    run->store->found.damaged += 1;
    return store_answer_fail(run->answer, text);
}

// --- rows ---------------------------------------------------------------------------------------

static void put_entry_key(SqlRow *row, const Run *run)
{
    const DataKey key = key_of(run);
    data_put_key(row, &key);
}

static Text take_text(SqlRow *row, size_t bytes_max)
{
    size_t bytes = 0;
    const char *data = sql_take_text(row, bytes_max, &bytes);
    return (Text){data, bytes};
}

// A whole row of datastore; key and value are valid until the next row. An integer beside a value
// that is another one would sort wrongly: damage as well.
static bool take_entry(SqlRow *row, Text *key, Entry *out)
{
    Entry entry = {.used = true, .exists = true};
    sql_take_table(row, TABLE_DATA);
    (void)take_text(row, STORE_ID_BYTES);
    (void)sql_take_u64(row);
    (void)take_text(row, WORLD_NAME_BYTES_MAX);
    *key = take_text(row, STORE_KEY_BYTES_MAX);
    entry.version = sql_take_u64(row);
    if (!sql_take_null(row)) {
        (void)sql_take_u64(row);
    }
    if (sql_take_null(row)) {
        entry.exists = false;
    } else {
        entry.value = sql_take_bytes(row, VALUE_BYTES_MAX, &entry.bytes);
    }
    if (!sql_take_checksum(row)) {
        return false;
    }
    *out = entry;
    return true;
}

// False if what is there is damaged. The value is copied, so that the statement can be closed.
static bool find_entry(const Run *run, Entry *out)
{
    bool ok = true;
    *out = (Entry){0};
    SqlRow row = sql_open(run->sql, SQL_DATA_FIND, TABLE_NONE);
    put_entry_key(&row, run);
    if (sql_next(&row)) {
        Text key;
        ok = take_entry(&row, &key, out);
        if (ok && out->exists) {
            ASSERT(out->bytes <= sizeof run->store->value);
            memcpy(run->store->value, out->value, out->bytes);
            out->value = run->store->value;
        }
        sql_close(&row);
    }
    return ok;
}

// A value of NULL removes it.
static void write_entry(const Run *run, uint64_t version, const uint8_t *value, size_t bytes)
{
    int64_t number = 0;
    SqlRow row = sql_open(run->sql, SQL_DATA_PUT, TABLE_DATA);
    put_entry_key(&row, run);
    sql_put_u64(&row, version);
    if (value != NULL && run->request->ordered &&
        store_answer_read_integer(value, bytes, &number)) {
        sql_put_u64(&row, (uint64_t)number);
    } else {
        sql_put_null(&row);
    }
    if (value != NULL) {
        sql_put_bytes(&row, value, bytes);
    } else {
        sql_put_null(&row);
    }
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// The version that follows on what an entry has, whose value becomes an old one.
static void write_version(const Run *run, const Entry *entry)
{
    const uint64_t version = entry->version + 1;
    const DataKey key = key_of(run);
    const OldValue old = {entry->version, entry->value, entry->exists ? entry->bytes : 0};
    history_add(run->store, run->sql, &key, &old);
    SqlRow row = sql_open(run->sql, SQL_VERSION_PUT, TABLE_DATA_VERSIONS);
    put_entry_key(&row, run);
    sql_put_u64(&row, version);
    sql_put_u64(&row, store_unix_ms(run->store) / 1000);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    if (version > STORE_VERSIONS_MAX) {
        SqlRow oldest = sql_open(run->sql, SQL_VERSION_DELETE, TABLE_NONE);
        put_entry_key(&oldest, run);
        sql_put_u64(&oldest, version - STORE_VERSIONS_MAX);
        (void)sql_run(&oldest);
    }
}

// --- how much a place keeps ---------------------------------------------------------------------

static Use count_use(Sql *sql, const char *place_id)
{
    Use use = {0, 0};
    SqlRow count = sql_open(sql, SQL_DATA_COUNT, TABLE_NONE);
    sql_put_string(&count, place_id);
    if (sql_next(&count)) {
        use.keys = sql_take_u64(&count);
        use.bytes = sql_take_u64(&count);
        sql_close(&count);
    }
    return use;
}

// The count is kept beside; if it is damaged or missing, it is made again.
static Use load_use(const Run *run)
{
    Use use = {0, 0};
    bool ok = false;
    SqlRow row = sql_open(run->sql, SQL_USE_FIND, TABLE_NONE);
    sql_put_string(&row, run->place_id);
    if (sql_next(&row)) {
        sql_take_table(&row, TABLE_DATA_USE);
        (void)take_text(&row, STORE_ID_BYTES);
        use.keys = sql_take_u64(&row);
        use.bytes = sql_take_u64(&row);
        ok = sql_take_checksum(&row);
        sql_close(&row);
    }
    if (!ok) {
        use = count_use(run->sql, run->place_id);
    }
    return use;
}

static void write_use(const Run *run, Use use)
{
    SqlRow row = sql_open(run->sql, SQL_USE_PUT, TABLE_DATA_USE);
    sql_put_string(&row, run->place_id);
    sql_put_u64(&row, use.keys);
    sql_put_u64(&row, use.bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

void data_recount(Sql *sql, const char *place_id)
{
    const Run run = {.sql = sql, .place_id = place_id};
    write_use(&run, count_use(sql, place_id));
    history_recount(sql, place_id);
}

// Forgets one removed key and its versions; false if there is none.
static bool drop_removed(const Run *run)
{
    char store[WORLD_NAME_BYTES_MAX], key[STORE_KEY_BYTES_MAX];
    StoreRequest removed = {0};
    SqlRow row = sql_open(run->sql, SQL_DATA_REMOVED, TABLE_NONE);
    sql_put_string(&row, run->place_id);
    if (!sql_next(&row)) {
        return false;
    }
    removed.ordered = sql_take_u64(&row) == 1;
    removed.store = take_text(&row, sizeof store);
    removed.key = take_text(&row, sizeof key);
    memcpy(store, removed.store.data, removed.store.bytes);
    memcpy(key, removed.key.data, removed.key.bytes);
    removed.store.data = store;
    removed.key.data = key;
    sql_close(&row);
    const Run of_removed = {run->store, run->sql, run->place_id, &removed, run->answer};
    SqlRow gone = sql_open(run->sql, SQL_DATA_DELETE, TABLE_NONE);
    put_entry_key(&gone, &of_removed);
    (void)sql_run(&gone);
    SqlRow versions = sql_open(run->sql, SQL_VERSION_DELETE, TABLE_NONE);
    put_entry_key(&versions, &of_removed);
    sql_put_u64(&versions, INT64_MAX);
    (void)sql_run(&versions);
    const DataKey key_removed = key_of(&of_removed);
    history_forget(run->sql, &key_removed);
    return true;
}

// --- operations ---------------------------------------------------------------------------------

static bool run_get(const Run *run)
{
    Entry entry;
    if (!find_entry(run, &entry)) {
        return fail_damaged(run);
    }
    store_answer_list(run->answer, 2);
    write_value(&entry, run->answer);
    store_answer_integer(run->answer, (int64_t)entry.version);
    return true;
}

// Writes a value under the request's key; says what went wrong.
static bool put_value(const Run *run, Entry *entry, const uint8_t *value, size_t bytes)
{
    const StoreConfig *config = &run->store->config;
    Use use = load_use(run);
    if (!entry->used) {
        if (use.keys >= config->data_keys_max) {
            if (!drop_removed(run)) {
                return store_answer_fail(run->answer, STORE_HAS_TOO_MANY_KEYS);
            }
            use.keys -= 1;
        }
        use.keys += 1;
    }
    const uint64_t old_bytes = entry->exists ? entry->bytes : 0;
    use.bytes = use.bytes > old_bytes ? use.bytes - old_bytes : 0;
    if (bytes > config->data_bytes_max || use.bytes > config->data_bytes_max - bytes) {
        return store_answer_fail(run->answer, STORE_IS_FULL);
    }
    use.bytes += bytes;
    write_version(run, entry);
    entry->version += 1;
    write_entry(run, entry->version, value, bytes);
    write_use(run, use);
    return true;
}

static bool run_set(const Run *run)
{
    const uint8_t *value = NULL;
    size_t bytes = 0;
    Entry entry;
    if (!store_answer_value(run->request, &value, &bytes, run->answer)) {
        return false;
    }
    if (!find_entry(run, &entry)) {
        return fail_damaged(run);
    }
    if (!put_value(run, &entry, value, bytes)) {
        return false;
    }
    store_answer_list(run->answer, 0);
    return true;
}

static bool run_compare_and_set(const Run *run)
{
    const uint8_t *value = NULL;
    size_t bytes = 0;
    Entry entry;
    if (!store_answer_value(run->request, &value, &bytes, run->answer)) {
        return false;
    }
    if (!find_entry(run, &entry)) {
        return fail_damaged(run);
    }
    const bool same = entry.version == run->request->version;
    if (same && !put_value(run, &entry, value, bytes)) {
        return false;
    }
    store_answer_list(run->answer, 2);
    byte_write_u8(run->answer, same ? STORE_TAG_TRUE : STORE_TAG_FALSE);
    store_answer_integer(run->answer, (int64_t)entry.version);
    return true;
}

static bool run_increment(const Run *run)
{
    const double limit = 9007199254740992.0; // 2^53
    const double step = run->request->number;
    int64_t value = 0;
    Entry entry;
    if (!find_entry(run, &entry)) {
        return fail_damaged(run);
    }
    if (entry.exists && !store_answer_read_integer(entry.value, entry.bytes, &value)) {
        return store_answer_fail(run->answer, "what is stored there is not an integer");
    }
    const double sum = (double)value + step;
    if (!(step >= -limit && step <= limit) || step != (double)(int64_t)step ||
        !(sum >= -limit && sum <= limit)) {
        return store_answer_fail(run->answer, "an increment is an integer, and so is the sum");
    }
    value += (int64_t)step;
    uint8_t bytes[12];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    store_answer_integer(&writer, value);
    if (!put_value(run, &entry, bytes, writer.at)) {
        return false;
    }
    store_answer_list(run->answer, 1);
    store_answer_integer(run->answer, value);
    return true;
}

static bool run_remove(const Run *run)
{
    Entry entry;
    if (!find_entry(run, &entry)) {
        return fail_damaged(run);
    }
    store_answer_list(run->answer, 1);
    write_value(&entry, run->answer);
    if (entry.exists) {
        Use use = load_use(run);
        use.bytes = use.bytes > entry.bytes ? use.bytes - entry.bytes : 0;
        write_entry(run, entry.version + 1, NULL, 0);
        write_version(run, &entry);
        write_use(run, use);
    }
    return true;
}

static bool run_sorted(const Run *run)
{
    const StoreRequest *request = run->request;
    StoreRange range;
    if (!store_answer_range(request, &range, run->answer)) {
        return false;
    }
    // The count stands before the entries: they are written after a place for the longest count.
    uint8_t items[STORE_PAGE_MAX * (STORE_KEY_BYTES_MAX + 48)];
    ByteWriter writer = byte_writer(items, sizeof items);
    uint32_t count = 0;
    bool ok = true;
    SqlRow row = sql_open(run->sql, request->ascending ? SQL_DATA_UP : SQL_DATA_DOWN, TABLE_NONE);
    sql_put_string(&row, run->place_id);
    sql_put_bytes(&row, request->store.data, request->store.bytes);
    sql_put_u64(&row, (uint64_t)(request->ascending ? range.most : range.least));
    sql_put_u64(&row, (uint64_t)range.from);
    sql_put_bytes(&row, range.from_key.data, range.from_key.bytes);
    sql_put_u64(&row, range.count);
    while (sql_next(&row)) {
        Text key;
        Entry entry;
        ok = take_entry(&row, &key, &entry) && ok;
        if (ok) {
            byte_write_u8(&writer, STORE_TAG_MAP);
            byte_write_varint(&writer, 2);
            store_answer_text(&writer, "key", 3);
            store_answer_text(&writer, key.data, key.bytes);
            store_answer_text(&writer, "value", 5);
            write_value(&entry, &writer);
            count += 1;
        }
    }
    if (!ok || writer.status != STATUS_OK) {
        return fail_damaged(run);
    }
    store_answer_list(run->answer, 1);
    store_answer_list(run->answer, count);
    byte_write_bytes(run->answer, items, writer.at);
    return true;
}

typedef struct Version {
    uint64_t version, unix_seconds;
} Version;

static bool run_versions(const Run *run)
{
    Version versions[STORE_VERSIONS_MAX];
    uint32_t count = 0;
    bool ok = true;
    SqlRow row = sql_open(run->sql, SQL_VERSION_READ, TABLE_NONE);
    put_entry_key(&row, run);
    while (count < STORE_VERSIONS_MAX && sql_next(&row)) {
        Version *version = &versions[count++];
        sql_take_table(&row, TABLE_DATA_VERSIONS);
        (void)take_text(&row, STORE_ID_BYTES);
        (void)sql_take_u64(&row);
        (void)take_text(&row, WORLD_NAME_BYTES_MAX);
        (void)take_text(&row, STORE_KEY_BYTES_MAX);
        version->version = sql_take_u64(&row);
        version->unix_seconds = sql_take_u64(&row);
        ok = sql_take_checksum(&row) && ok;
    }
    sql_close(&row);
    if (!ok) {
        return fail_damaged(run);
    }
    Entry entry;
    if (!find_entry(run, &entry)) {
        return fail_damaged(run);
    }
    uint64_t kept[STORE_VERSIONS_MAX];
    const DataKey key = key_of(run);
    const uint32_t kept_count = history_versions(run->sql, &key, kept);
    store_answer_list(run->answer, 1);
    store_answer_list(run->answer, count);
    for (uint32_t i = 0, next = 0; i < count; i++) { // both lists are in the same order
        const uint64_t version = versions[i].version;
        const bool is_old = next < kept_count && kept[next] == version;
        next += is_old;
        store_answer_version(run->answer, version, versions[i].unix_seconds,
                             is_old || (entry.exists && entry.version == version));
    }
    return true;
}

static bool run_get_version(const Run *run)
{
    Entry entry;
    if (!find_entry(run, &entry)) {
        return fail_damaged(run);
    }
    const DataKey key = key_of(run);
    store_answer_list(run->answer, 1);
    if (entry.version == run->request->version) {
        write_value(&entry, run->answer);
        return true;
    }
    return history_find(run->sql, &key, run->request->version, run->answer) || fail_damaged(run);
}

bool data_is_read(const StoreRequest *request)
{
    return request->operation == STORE_GET || request->operation == STORE_SORTED ||
           request->operation == STORE_VERSIONS || request->operation == STORE_GET_VERSION;
}

bool data_run(Store *store, Sql *sql, const char *place_id, const StoreRequest *request,
              ByteWriter *answer)
{
    const Run run = {store, sql, place_id, request, answer};
    if (!store_answer_check(request, answer)) {
        return false;
    }
    switch (request->operation) {
    case STORE_GET:
        return run_get(&run);
    case STORE_SET:
        return run_set(&run);
    case STORE_INCREMENT:
        return run_increment(&run);
    case STORE_REMOVE:
        return run_remove(&run);
    case STORE_SORTED:
        return run_sorted(&run);
    case STORE_VERSIONS:
        return run_versions(&run);
    case STORE_COMPARE_AND_SET:
        return run_compare_and_set(&run);
    case STORE_GET_VERSION:
        return run_get_version(&run);
    default:
        return store_answer_fail(answer, "unknown operation");
    }
}
