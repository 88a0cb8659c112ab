// See store_handout.h.
#define _GNU_SOURCE
#include "server/store/people/store_handout.h"

#include "server/store/people/store_person.h"
#include "server/store/store_inside.h"

#include <stdio.h>
#include <string.h>

static bool take_handout(SqlRow *row, StoreHandout *out)
{
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_CLASS_HANDOUTS);
    world_take_string(row, out->class_id, sizeof out->class_id);
    world_take_string(row, out->handout, sizeof out->handout);
    out->state = (StoreHandoutState)sql_take_u64(row);
    out->maker_id = sql_take_u64(row);
    world_take_string(row, out->title, sizeof out->title);
    world_take_string(row, out->template, sizeof out->template);
    world_take_string(row, out->place_id, sizeof out->place_id);
    out->total = (uint32_t)sql_take_u64(row);
    out->given = (uint32_t)sql_take_u64(row);
    out->had = (uint32_t)sql_take_u64(row);
    out->failed = (uint32_t)sql_take_u64(row);
    world_take_string(row, out->reason, sizeof out->reason);
    out->created_unix_ms = sql_take_u64(row);
    out->updated_unix_ms = sql_take_u64(row);
    return sql_take_checksum(row) && out->state >= STORE_HANDOUT_RUNNING &&
           out->state <= STORE_HANDOUT_CANCELLED;
}

static void write_handout(Sql *sql, const StoreHandout *handout)
{
    SqlRow row = sql_open(sql, SQL_HANDOUT_PUT, TABLE_CLASS_HANDOUTS);
    sql_put_string(&row, handout->class_id);
    sql_put_string(&row, handout->handout);
    sql_put_u64(&row, handout->state);
    sql_put_u64(&row, handout->maker_id);
    sql_put_string(&row, handout->title);
    sql_put_string(&row, handout->template);
    sql_put_string(&row, handout->place_id);
    sql_put_u64(&row, handout->total);
    sql_put_u64(&row, handout->given);
    sql_put_u64(&row, handout->had);
    sql_put_u64(&row, handout->failed);
    sql_put_string(&row, handout->reason);
    sql_put_u64(&row, handout->created_unix_ms);
    sql_put_u64(&row, handout->updated_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static Status find_handout(Sql *sql, const char *class_id, const char *key, StoreHandout *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_HANDOUT_FIND, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_string(&row, key);
    if (sql_next(&row)) {
        status = take_handout(&row, out) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

static bool class_exists(Sql *sql, const char *class_id)
{
    SqlRow row = sql_open(sql, SQL_CLASS_FIND, TABLE_NONE);
    sql_put_string(&row, class_id);
    const bool is_there = sql_next(&row);
    if (is_there) {
        sql_close(&row);
    }
    return is_there;
}

typedef struct BeginCall {
    StoreHandout *handout;
    bool *runs;
} BeginCall;

static Status handout_begin(Store *store, Sql *sql, void *user)
{
    (void)store;
    const BeginCall *call = user;
    StoreHandout found;
    const Status status =
        find_handout(sql, call->handout->class_id, call->handout->handout, &found);
    *call->runs = status == STATUS_OK &&
                  (found.state == STORE_HANDOUT_RUNNING || found.state == STORE_HANDOUT_STOPPING);
    if (*call->runs) {
        *call->handout = found;
        return STATUS_OK;
    }
    if (!class_exists(sql, call->handout->class_id)) {
        return STATUS_NOT_FOUND;
    }
    write_handout(sql, call->handout);
    return STATUS_OK;
}

Status store_handout_begin(Store *store, StoreHandout *handout, bool *runs)
{
    BeginCall call = {handout, runs};
    return store_call(store, handout_begin, &call);
}

static Status handout_save(Store *store, Sql *sql, void *user)
{
    (void)store;
    StoreHandout *handout = user;
    StoreHandout found;
    const Status status = find_handout(sql, handout->class_id, handout->handout, &found);
    if (status == STATUS_OK) {
        if (found.state == STORE_HANDOUT_STOPPING && handout->state == STORE_HANDOUT_RUNNING) {
            handout->state = STORE_HANDOUT_CANCELLED;
        }
        write_handout(sql, handout);
    }
    return status;
}

Status store_handout_save(Store *store, StoreHandout *handout)
{
    StoreHandout copy = *handout;
    const Status status = store_call(store, handout_save, &copy);
    if (status == STATUS_OK) {
        handout->state = copy.state;
    }
    return status;
}

static Status handout_cancel(Store *store, Sql *sql, void *user)
{
    (void)store;
    StoreHandout *handout = user;
    StoreHandout found;
    const Status status = find_handout(sql, handout->class_id, handout->handout, &found);
    if (status == STATUS_OK) {
        if (found.state == STORE_HANDOUT_RUNNING) {
            found.state = STORE_HANDOUT_STOPPING;
            write_handout(sql, &found);
        }
        *handout = found;
    }
    return status;
}

Status store_handout_cancel(Store *store, const char *class_id, const char *key, StoreHandout *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->class_id, sizeof out->class_id, "%s", class_id);
    snprintf(out->handout, sizeof out->handout, "%s", key);
    return store_call(store, handout_cancel, out);
}

Status store_handout_find(Store *store, const char *class_id, const char *key, StoreHandout *out)
{
    store_read_begin(store);
    return store_read_end(store, find_handout(store->reader, class_id, key, out), 0);
}

static Status read_all(Store *store, SqlRow *row, StoreHandout *out, uint32_t *count)
{
    uint64_t damaged = 0;
    while (sql_next(row)) {
        if (take_handout(row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

Status store_handouts(Store *store, const char *class_id, StoreHandout *out, uint32_t max,
                      uint32_t *count)
{
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_HANDOUT_LIST, TABLE_NONE);
    sql_put_string(&row, class_id);
    sql_put_u64(&row, max);
    return read_all(store, &row, out, count);
}

Status store_handouts_in(Store *store, StoreHandoutState state, StoreHandout *out, uint32_t max,
                         uint32_t *count)
{
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_HANDOUT_BY_STATE, TABLE_NONE);
    sql_put_u64(&row, state);
    sql_put_u64(&row, max);
    return read_all(store, &row, out, count);
}

// One after the other, because a row cannot be written while it is read.
void handout_forget_maker(Sql *sql, uint64_t account)
{
    for (bool is_more = true; is_more;) {
        StoreHandout handout;
        SqlRow row = sql_open(sql, SQL_PERSON_HANDOUTS, TABLE_NONE);
        sql_put_u64(&row, account);
        is_more = sql_next(&row);
        if (!is_more) {
            break;
        }
        const bool is_whole = take_handout(&row, &handout);
        sql_close(&row);
        handout.maker_id = 0;
        if (is_whole) {
            write_handout(sql, &handout);
        }
        is_more = is_whole && sql_status(sql) == STATUS_OK;
    }
}
