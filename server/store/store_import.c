// See store_import.h. Whether a host runs the world is decided in the transaction that writes, and
// the world's epoch is raised in it: a host that takes the world has the rows of before or those of
// after.
#define _GNU_SOURCE
#include "server/store/store_import.h"

#include "server/store/store_inside.h"

#include <string.h>

typedef struct ImportCall {
    StoreWorld world;
    const uint8_t *rows;
    size_t bytes;
    uint32_t owned_max;
} ImportCall;

Status store_rows_check(const uint8_t *rows, size_t bytes)
{
    uint32_t count = 0;
    return rows_check(rows, bytes, &count);
}

static uint64_t take_count(SqlRow *row)
{
    uint64_t count = 0;
    if (sql_next(row)) {
        count = sql_take_u64(row);
        sql_close(row);
    }
    return count;
}

static bool is_held(Store *store, Sql *sql, const char *world_id)
{
    SqlRow row = sql_open(sql, SQL_LEASE_HELD, TABLE_NONE);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, store->now);
    return take_count(&row) > 0;
}

static bool has_too_many(Sql *sql, const ImportCall *call)
{
    SqlRow row = sql_open(sql, SQL_ABOUT_OWNED, TABLE_NONE);
    sql_put_u64(&row, call->world.owner_id);
    return call->owned_max != 0 && take_count(&row) >= call->owned_max;
}

static Status world_import(Store *store, Sql *sql, void *user)
{
    const ImportCall *call = user;
    StoreWorld before;
    Status status = world_find(sql, call->world.world_id, &before);
    if (status == STATUS_BLOCKED) {
        return status;
    }
    if (is_held(store, sql, call->world.world_id)) {
        return STATUS_EXISTS;
    }
    if (status == STATUS_NOT_FOUND && has_too_many(sql, call)) {
        return STATUS_LIMIT;
    }
    world_clear(sql, call->world.world_id);
    status = world_write(sql, &call->world);
    if (status == STATUS_OK) {
        rows_apply(store, sql,
                   &(Save){.world_id = call->world.world_id,
                           .rows = call->rows,
                           .row_bytes = call->bytes});
        players_forget(store);
        status = world_fence(sql, call->world.world_id);
    }
    return status;
}

Status store_world_import(Store *store, const StoreWorld *world, const uint8_t *rows, size_t bytes,
                          uint32_t owned_max)
{
    ImportCall call = {.world = *world, .rows = rows, .bytes = bytes, .owned_max = owned_max};
    if (!world_is_valid(world) || store_rows_check(rows, bytes) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    return store_call_world(store, call.world.world_id, world_import, &call);
}

static Status world_remove(Store *store, Sql *sql, void *user)
{
    return is_held(store, sql, user) ? STATUS_EXISTS : world_delete(store, sql, user);
}

Status store_world_remove(Store *store, const char *world_id)
{
    char copy[STORE_ID_BYTES + 1];
    if (!store_id_is_valid(world_id)) {
        return STATUS_NOT_FOUND;
    }
    memcpy(copy, world_id, strlen(world_id) + 1);
    return store_call_world(store, copy, world_remove, copy);
}
