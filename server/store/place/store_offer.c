// Packages that somebody wants to give away. See store_publish.h.
#define _GNU_SOURCE
#include "server/store/place/store_package_inside.h"
#include "server/store/place/store_publish.h"

#include <string.h>

static bool take_offer(SqlRow *row, StoreOffer *out)
{
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_PACKAGE_OFFERS);
    world_take_string(row, out->package_id, sizeof out->package_id);
    out->account_id = sql_take_u64(row);
    out->created_unix_ms = sql_take_u64(row);
    out->expires_unix_ms = sql_take_u64(row);
    return sql_take_checksum(row);
}

static Status find_offer(Sql *sql, const char *package_id, StoreOffer *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_OFFER_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        status = take_offer(&row, out) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

bool offer_holds(Sql *sql, const char *package_id, uint64_t account)
{
    StoreOffer offer;
    return find_offer(sql, package_id, &offer) == STATUS_OK && offer.account_id == account &&
           offer.expires_unix_ms > sql->unix_ms;
}

void offer_end(Sql *sql, const char *package_id)
{
    SqlRow row = sql_open(sql, SQL_OFFER_DELETE, TABLE_NONE);
    sql_put_string(&row, package_id);
    (void)sql_run(&row);
}

static Status offer_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreOffer *offer = user;
    StorePackage package;
    const Status status = package_by_id(sql, offer->package_id, &package);
    if (status != STATUS_OK || package.trashed_unix_ms != 0) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    SqlRow row = sql_open(sql, SQL_OFFER_PUT, TABLE_PACKAGE_OFFERS);
    sql_put_string(&row, offer->package_id);
    sql_put_u64(&row, offer->account_id);
    sql_put_u64(&row, offer->created_unix_ms);
    sql_put_u64(&row, offer->expires_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_offer_put(Store *store, const StoreOffer *offer)
{
    StoreOffer copy = *offer;
    return store_id_is_valid(offer->package_id) && offer->account_id != 0
               ? store_call(store, offer_put, &copy)
               : STATUS_MALFORMED;
}

typedef struct EndCall {
    const char *package_id;
    uint64_t account; // 0: whoever it is for
} EndCall;

static Status end_call(Store *store, Sql *sql, void *user)
{
    (void)store;
    const EndCall *call = user;
    StoreOffer offer;
    const Status status = find_offer(sql, call->package_id, &offer);
    if (status == STATUS_OK && call->account != 0 && offer.account_id != call->account) {
        return STATUS_NOT_FOUND;
    }
    if (status == STATUS_OK || status == STATUS_MALFORMED) {
        offer_end(sql, call->package_id);
        return STATUS_OK;
    }
    return status;
}

Status store_offer_end(Store *store, const char *package_id, uint64_t account)
{
    EndCall call = {package_id, account};
    return store_call(store, end_call, &call);
}

Status store_offer_find(Store *store, const char *package_id, StoreOffer *out)
{
    store_read_begin(store);
    return store_read_end(store, find_offer(store->reader, package_id, out), 0);
}

Status store_offers(Store *store, uint64_t account, uint64_t now_unix_ms, const char *after,
                    StoreOffer *out, uint32_t max, uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_OFFER_LIST, TABLE_NONE);
    sql_put_u64(&row, account);
    sql_put_u64(&row, now_unix_ms);
    sql_put_string(&row, after);
    sql_put_u64(&row, max);
    while (sql_next(&row)) {
        if (take_offer(&row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}
