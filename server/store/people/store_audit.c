// See store_audit.h.
#define _GNU_SOURCE
#include "server/store/people/store_audit.h"

#include "server/store/store_inside.h"

#include <string.h>

// --- the audit ----------------------------------------------------------------------------------

static bool take_audit(SqlRow *row, StoreAudit *out)
{
    StoreAudit audit;
    memset(&audit, 0, sizeof audit);
    sql_take_table(row, TABLE_AUDIT);
    audit.audit_id = sql_take_u64(row);
    audit.unix_ms = sql_take_u64(row);
    audit.account_id = sql_take_u64(row);
    world_take_string(row, audit.action, sizeof audit.action);
    world_take_string(row, audit.detail, sizeof audit.detail);
    if (!sql_take_checksum(row)) {
        return false;
    }
    *out = audit;
    return true;
}

// Also of a damaged row: its number must not be given again.
static uint64_t last_id(Sql *sql)
{
    uint64_t last = 0;
    SqlRow row = sql_open(sql, SQL_AUDIT_LAST, TABLE_NONE);
    sql_put_u64(&row, STORE_AUDIT_ALL);
    if (sql_next(&row)) {
        last = sql_take_u64(&row);
        sql_close(&row);
    }
    return last;
}

static Status audit_add(Store *store, Sql *sql, void *user)
{
    (void)store;
    StoreAudit *audit = user;
    const uint64_t last = last_id(sql);
    if (last >= STORE_AUDIT_ALL - 1) {
        return STATUS_LIMIT;
    }
    audit->audit_id = last + 1;
    SqlRow row = sql_open(sql, SQL_AUDIT_PUT, TABLE_AUDIT);
    sql_put_u64(&row, audit->audit_id);
    sql_put_u64(&row, audit->unix_ms);
    sql_put_u64(&row, audit->account_id);
    sql_put_string(&row, audit->action);
    sql_put_string(&row, audit->detail);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_audit_add(Store *store, StoreAudit *row)
{
    return store_call(store, audit_add, row);
}

Status store_audit_read(Store *store, uint64_t below, StoreAudit *out, uint32_t max,
                        uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_AUDIT_READ, TABLE_NONE);
    sql_put_u64(&row, below < STORE_AUDIT_ALL ? below : STORE_AUDIT_ALL);
    sql_put_u64(&row, max);
    while (*count < max && sql_next(&row)) {
        if (take_audit(&row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    sql_close(&row);
    return store_read_end(store, STATUS_OK, damaged);
}

// --- sweeping -----------------------------------------------------------------------------------

typedef struct SweepCall {
    uint64_t now, unseen_since;
    StoreSwept swept;
} SweepCall;

static uint64_t remove_before(Sql *sql, SqlName name, uint64_t time)
{
    const uint64_t before = sql_change_count(sql);
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_u64(&row, time);
    (void)sql_run(&row);
    return sql_change_count(sql) - before;
}

static Status sweep(Store *store, Sql *sql, void *user)
{
    (void)store;
    SweepCall *call = user;
    call->swept.sign_ins = remove_before(sql, SQL_SIGN_IN_EXPIRE, call->now);
    call->swept.links = remove_before(sql, SQL_SWEEP_LINKS, call->now);
    // Last: who is still signed in stays.
    call->swept.guests = remove_before(sql, SQL_SWEEP_GUESTS, call->unseen_since);
    (void)remove_before(sql, SQL_SWEEP_PLAYS, call->unseen_since);
    SqlRow times = sql_open(sql, SQL_SWEEP_PLAY_TIMES, TABLE_NONE);
    (void)sql_run(&times);
    history_sweep(sql, call->now);
    return STATUS_OK;
}

Status store_sweep(Store *store, uint64_t now_unix_ms, uint64_t unseen_since_unix_ms,
                   StoreSwept *out)
{
    SweepCall call = {.now = now_unix_ms, .unseen_since = unseen_since_unix_ms};
    const Status status = store_call(store, sweep, &call);
    if (status == STATUS_OK) {
        *out = call.swept;
    }
    return status;
}
