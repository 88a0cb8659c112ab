// See store_upload.h. The bytes of a log are core/edit's, but hashes stand in them as they are: so
// whatever has the 32 bytes of a hash anywhere is taken to name it.
#define _GNU_SOURCE
#include "server/store/place/store_upload.h"

#include "server/store/place/store_edit.h"
#include "server/store/store_inside.h"

#include <stdlib.h>
#include <string.h>

#define MS_PER_DAY 86400000ull

static uint64_t day_of(uint64_t unix_ms)
{
    return unix_ms / MS_PER_DAY;
}

// Uploads before this day are looked at; also those of day 0, which a program put that noted none.
static uint64_t first_kept_day(uint64_t now_unix_ms)
{
    const uint64_t today = day_of(now_unix_ms);
    return today > UPLOAD_KEPT_DAYS ? today - UPLOAD_KEPT_DAYS : 1;
}

typedef struct Upload {
    uint8_t hash[32];
    uint64_t day, bytes;
    bool is_named;
} Upload;

// --- one more -----------------------------------------------------------------------------------

typedef struct PutCall {
    const char *package_id;
    const uint8_t *hash;
    uint64_t bytes, today, bytes_max;
} PutCall;

static void end_before(Sql *sql, const char *package_id, const uint8_t hash[32], uint64_t day)
{
    SqlRow row = sql_open(sql, SQL_UPLOAD_BEFORE, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_bytes(&row, hash, 32);
    sql_put_u64(&row, day);
    (void)sql_run(&row);
}

static Status upload_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const PutCall *call = user;
    StorePackage package;
    const Status status = package_by_id(sql, call->package_id, &package);
    if (status != STATUS_OK || package.trashed_unix_ms != 0) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    end_before(sql, call->package_id, call->hash, call->today);
    package_write_use(sql, call->hash, call->package_id, STORE_BLOB_EDIT, (uint32_t)call->today,
                      call->bytes);
    return package_bytes_of(sql, package.owner_id) <= call->bytes_max ? STATUS_OK : STATUS_LIMIT;
}

Status store_upload_put(Store *store, const char *package_id, const uint8_t hash[32],
                        uint64_t bytes, uint64_t now_unix_ms, uint64_t bytes_max)
{
    PutCall call = {package_id, hash, bytes, day_of(now_unix_ms), bytes_max};
    return store_id_is_valid(package_id) ? store_call(store, upload_put, &call) : STATUS_MALFORMED;
}

// --- which are old ------------------------------------------------------------------------------

Status store_upload_next(Store *store, const char *after, uint64_t now_unix_ms, char package_id[65])
{
    Status status = STATUS_NOT_FOUND;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_UPLOAD_PACKAGE, TABLE_NONE);
    sql_put_string(&row, after);
    sql_put_u64(&row, first_kept_day(now_unix_ms));
    if (sql_next(&row)) {
        world_take_string(&row, package_id, 65);
        status = row.ok ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return store_read_end(store, status, 0);
}

static bool take_upload(SqlRow *row, Upload *out)
{
    char id[STORE_ID_BYTES + 1];
    size_t bytes = 0;
    sql_take_table(row, TABLE_BLOB_USES);
    const uint8_t *hash = sql_take_bytes(row, sizeof out->hash, &bytes);
    memcpy(out->hash, hash, bytes);
    world_take_string(row, id, sizeof id);
    (void)sql_take_u64(row); // its purpose
    out->day = sql_take_u64(row);
    out->bytes = sql_take_u64(row);
    out->is_named = false;
    return sql_take_checksum(row) && bytes == sizeof out->hash;
}

// --- which are named ----------------------------------------------------------------------------

typedef struct Sweep {
    const char *package_id;
    uint64_t now;
    StoreEditHead head; // before the log was read; zero: there was none
    Upload *uploads;
    uint32_t count, removed;
} Sweep;

static void look_in(Sweep *sweep, const uint8_t *bytes, size_t count)
{
    for (uint32_t i = 0; i < sweep->count; i++) {
        Upload *upload = &sweep->uploads[i];
        upload->is_named =
            upload->is_named || memmem(bytes, count, upload->hash, sizeof upload->hash) != NULL;
    }
}

static void look_in_checkpoint(void *user, uint64_t seq, uint64_t newest, const uint8_t *document,
                               size_t bytes)
{
    (void)seq, (void)newest;
    look_in(user, document, bytes);
}

static void look_in_row(void *user, const StoreEditRow *row)
{
    look_in(user, row->told, row->bytes);
}

static StoreEditHead head_of(Sql *sql, const char *package_id)
{
    StoreEditHead head = {0};
    status_ignore(edit_head_find(sql, package_id, &head)); // a damaged one is not that of a session
    return head;
}

static Status find_old(Store *store, Sweep *sweep)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    sweep->head = head_of(store->reader, sweep->package_id);
    SqlRow row = sql_open(store->reader, SQL_UPLOAD_LIST, TABLE_NONE);
    sql_put_string(&row, sweep->package_id);
    sql_put_u64(&row, first_kept_day(sweep->now));
    sql_put_u64(&row, UPLOADS_SWEPT_MAX);
    while (sql_next(&row)) {
        if (sweep->count < UPLOADS_SWEPT_MAX && take_upload(&row, &sweep->uploads[sweep->count])) {
            sweep->count += 1;
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

// --- the end of the others ----------------------------------------------------------------------

// Those that are named, and those whose day nobody noted, are looked at again after as many days.
static Status upload_end(Store *store, Sql *sql, void *user)
{
    (void)store;
    Sweep *sweep = user;
    const uint64_t today = day_of(sweep->now);
    sweep->removed = 0;
    const StoreEditHead head = head_of(sql, sweep->package_id);
    if (head.epoch != sweep->head.epoch || head.seq != sweep->head.seq) {
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < sweep->count; i++) {
        const Upload *upload = &sweep->uploads[i];
        end_before(sql, sweep->package_id, upload->hash, upload->day + 1);
        if (upload->is_named || upload->day == 0) {
            package_write_use(sql, upload->hash, sweep->package_id, STORE_BLOB_EDIT,
                              (uint32_t)today, upload->bytes);
        } else {
            sweep->removed += 1;
        }
    }
    return STATUS_OK;
}

Status store_upload_sweep(Store *store, const char *package_id, uint64_t now_unix_ms,
                          uint32_t *removed)
{
    Sweep sweep = {.package_id = package_id,
                   .now = now_unix_ms,
                   .uploads = calloc(UPLOADS_SWEPT_MAX, sizeof *sweep.uploads)};
    const StoreEditLoad load = {
        .user = &sweep, .checkpoint = look_in_checkpoint, .row = look_in_row};
    *removed = 0;
    Status status = sweep.uploads != NULL ? find_old(store, &sweep) : STATUS_LIMIT;
    if (status == STATUS_OK && sweep.count > 0) {
        status = store_edit_load(store, package_id, &load);
        status = status == STATUS_NOT_FOUND ? STATUS_OK : status; // a damaged log may name any
    }
    if (status == STATUS_OK && sweep.count > 0) {
        status = store_call(store, upload_end, &sweep);
    }
    free(sweep.uploads);
    *removed = status == STATUS_OK ? sweep.removed : 0;
    return status;
}
