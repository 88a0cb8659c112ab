// See store_host_key.h.
#define _GNU_SOURCE
#include "server/store/people/store_host_key.h"

#include "server/store/store_inside.h"

#include <stdio.h>
#include <string.h>

void store_host_key_id(const uint8_t key_hash[STORE_TOKEN_BYTES], char out[STORE_HOST_KEY_ID_BYTES])
{
    for (uint32_t i = 0; i < (STORE_HOST_KEY_ID_BYTES - 1) / 2; i++) {
        snprintf(out + (size_t)2 * i, 3, "%02x", key_hash[i]);
    }
}

static Status key_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreHostKey *key = user;
    SqlRow row = sql_open(sql, SQL_HOST_KEY_PUT, TABLE_HOST_KEYS);
    sql_put_bytes(&row, key->key_hash, sizeof key->key_hash);
    sql_put_string(&row, key->name);
    sql_put_u64(&row, key->maker_id);
    sql_put_u64(&row, key->created_unix_ms);
    sql_put_u64(&row, key->used_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_host_key_put(Store *store, const StoreHostKey *key)
{
    StoreHostKey copy = *key;
    return store_call(store, key_put, &copy);
}

static Status key_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreHostKey *key = user;
    char id[STORE_HOST_KEY_ID_BYTES];
    store_host_key_id(key->key_hash, id);
    SqlRow row = sql_open(sql, SQL_HOST_KEY_DELETE, TABLE_NONE);
    sql_put_bytes(&row, key->key_hash, sizeof key->key_hash);
    const bool was_there = sql_run(&row);
    SqlRow hosts = sql_open(sql, SQL_HOSTS_END, TABLE_NONE);
    sql_put_string(&hosts, id);
    (void)sql_run(&hosts);
    return was_there ? STATUS_OK : STATUS_NOT_FOUND;
}

Status store_host_key_delete(Store *store, const uint8_t key_hash[STORE_TOKEN_BYTES])
{
    StoreHostKey key = {.maker_id = 0};
    memcpy(key.key_hash, key_hash, sizeof key.key_hash);
    return store_call(store, key_delete, &key);
}

static bool take_key(SqlRow *row, StoreHostKey *out)
{
    StoreHostKey key;
    size_t bytes = 0;
    memset(&key, 0, sizeof key);
    sql_take_table(row, TABLE_HOST_KEYS);
    const uint8_t *hash = sql_take_bytes(row, sizeof key.key_hash, &bytes);
    memcpy(key.key_hash, hash, bytes);
    world_take_string(row, key.name, sizeof key.name);
    key.maker_id = sql_take_u64(row);
    key.created_unix_ms = sql_take_u64(row);
    key.used_unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row) || bytes != sizeof key.key_hash) {
        return false;
    }
    *out = key;
    return true;
}

Status store_host_keys(Store *store, StoreHostKeySink sink, void *user)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_HOST_KEY_ALL, TABLE_NONE);
    while (sql_next(&row)) {
        StoreHostKey key;
        if (take_key(&row, &key)) {
            sink(user, &key);
        } else {
            damaged += 1; // an operator makes a new one
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}
