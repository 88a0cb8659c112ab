// The index of blobs in the database; blob.h keeps the blobs themselves in files.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

typedef struct BlobCall {
    const uint8_t *hash;
    uint64_t bytes;
} BlobCall;

static Status blob_put_row(Store *store, Sql *sql, void *user)
{
    (void)store;
    const BlobCall *call = user;
    SqlRow row = sql_open(sql, SQL_BLOB_PUT, TABLE_BLOBS);
    sql_put_bytes(&row, call->hash, 32);
    sql_put_u64(&row, call->bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_blob_put(Store *store, const uint8_t hash[32], uint64_t bytes)
{
    BlobCall call = {hash, bytes};
    return store_call(store, blob_put_row, &call);
}

Status store_blob_find(Store *store, const uint8_t hash[32], uint64_t *bytes)
{
    Status status = STATUS_NOT_FOUND;
    store_read_begin(store);
    Sql *sql = store->reader;
    SqlRow row = sql_open(sql, SQL_BLOB_FIND, TABLE_NONE);
    sql_put_bytes(&row, hash, 32);
    if (sql_next(&row)) {
        size_t hash_bytes_read = 0;
        sql_take_table(&row, TABLE_BLOBS);
        (void)sql_take_bytes(&row, 32, &hash_bytes_read);
        const uint64_t count = sql_take_u64(&row);
        status = sql_take_checksum(&row) ? STATUS_OK : STATUS_MALFORMED;
        *bytes = status == STATUS_OK ? count : *bytes;
        sql_close(&row);
    }
    status = sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
    sql_clear(sql);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}
