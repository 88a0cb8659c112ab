// See store_setting.h.
#include "server/store/people/store_setting.h"

#include "server/store/store_inside.h"

#include <stdio.h>
#include <string.h>

#define SECRET_NAME "secret_check" // no setting has this name

typedef struct Setting {
    const char *name;
    uint8_t value[STORE_SETTING_BYTES];
    size_t bytes;
    uint64_t unix_ms;
} Setting;

static void put_setting(Sql *sql, SqlName statement, const Setting *setting)
{
    SqlRow row = sql_open(sql, statement, TABLE_SHARED_SETTINGS);
    sql_put_string(&row, setting->name);
    sql_put_bytes(&row, setting->value, setting->bytes);
    sql_put_u64(&row, setting->unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// False: there is none, or it is damaged.
static bool find_setting(Sql *sql, Setting *setting)
{
    char unused[STORE_ID_BYTES + 1];
    bool is_whole = false;
    SqlRow row = sql_open(sql, SQL_SETTING_FIND, TABLE_NONE);
    sql_put_string(&row, setting->name);
    if (sql_next(&row)) {
        sql_take_table(&row, TABLE_SHARED_SETTINGS);
        world_take_string(&row, unused, sizeof unused);
        const uint8_t *value = sql_take_bytes(&row, sizeof setting->value, &setting->bytes);
        memcpy(setting->value, value, setting->bytes);
        setting->unix_ms = sql_take_u64(&row);
        is_whole = sql_take_checksum(&row);
        sql_close(&row);
    }
    return is_whole;
}

// --- what operators change ----------------------------------------------------------------------

static Status setting_put(Store *store, Sql *sql, void *user)
{
    Setting *setting = user;
    setting->unix_ms = store->now;
    put_setting(sql, SQL_SETTING_PUT, setting);
    return STATUS_OK;
}

Status store_setting_put(Store *store, const char *name, const char *value)
{
    Setting setting = {.name = name, .bytes = strlen(value)};
    if (setting.bytes >= sizeof setting.value || strlen(name) > STORE_ID_BYTES) {
        return STATUS_LIMIT;
    }
    memcpy(setting.value, value, setting.bytes);
    return store_call(store, setting_put, &setting);
}

Status store_setting_find(Store *store, const char *name, char out[STORE_SETTING_BYTES])
{
    Setting setting = {.name = name};
    store_read_begin(store);
    const bool is_there = find_setting(store->reader, &setting) &&
                          setting.bytes < STORE_SETTING_BYTES &&
                          memchr(setting.value, '\0', setting.bytes) == NULL;
    const Status status = store_read_end(store, STATUS_OK, 0);
    if (status == STATUS_OK && is_there) {
        memcpy(out, setting.value, setting.bytes);
        out[setting.bytes] = '\0';
    }
    return status != STATUS_OK ? status : is_there ? STATUS_OK : STATUS_NOT_FOUND;
}

// --- the secret ---------------------------------------------------------------------------------

typedef struct Agreement {
    const uint8_t *check;
    bool is_shared;
    uint64_t now;
    bool was_changed;
} Agreement;

static bool has_host(Sql *sql, uint64_t now)
{
    SqlRow row = sql_open(sql, SQL_HOST_PEERS, TABLE_NONE);
    sql_put_u64(&row, now);
    const bool is_any = sql_next(&row);
    sql_close(&row);
    return is_any;
}

// Transactions of this kind follow each other: of two hosts that begin with different secrets one
// is the first.
static Status secret_agree(Store *store, Sql *sql, void *user)
{
    (void)store;
    Agreement *agreement = user;
    Setting setting = {.name = SECRET_NAME};
    const bool is_there = find_setting(sql, &setting);
    const bool is_same = is_there && setting.bytes == STORE_TOKEN_BYTES &&
                         memcmp(setting.value, agreement->check, STORE_TOKEN_BYTES) == 0;
    if (is_there && !is_same) {
        if (agreement->is_shared && (has_host(sql, agreement->now) ||
                                     agreement->now < setting.unix_ms + STORE_SECRET_REST_MS)) {
            return STATUS_MISMATCH;
        }
        agreement->was_changed = true;
    }
    memcpy(setting.value, agreement->check, STORE_TOKEN_BYTES);
    setting.bytes = STORE_TOKEN_BYTES;
    setting.unix_ms = agreement->now;
    put_setting(sql, SQL_SECRET_CHECK_PUT, &setting);
    return STATUS_OK;
}

Status store_secret_agree(Store *store, const uint8_t check[STORE_TOKEN_BYTES], bool is_shared,
                          uint64_t now_unix_ms, bool *was_changed)
{
    Agreement agreement = {.check = check, .is_shared = is_shared, .now = now_unix_ms};
    const Status status = store_call(store, secret_agree, &agreement);
    *was_changed = status == STATUS_OK && agreement.was_changed;
    return status;
}
