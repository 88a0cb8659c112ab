// See store_draft.h.
#define _GNU_SOURCE
#include "server/store/place/store_draft.h"

#include "core/base/limits.h"
#include "server/store/store_inside.h"

#include <string.h>

// --- rows ---------------------------------------------------------------------------------------

static bool take_file(SqlRow *row, StoreDraftFile *out)
{
    char package_id[STORE_ID_BYTES + 1];
    size_t bytes = 0;
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_DRAFT_FILES);
    world_take_string(row, package_id, sizeof package_id);
    world_take_string(row, out->path, sizeof out->path);
    out->version = (uint32_t)sql_take_u64(row);
    const uint8_t *hash = sql_take_bytes(row, sizeof out->hash, &bytes);
    memcpy(out->hash, hash, bytes);
    out->bytes = sql_take_u64(row);
    out->changed_ns = sql_take_u64(row);
    return sql_take_checksum(row) && bytes == sizeof out->hash;
}

static void write_file(Sql *sql, const StoreDraftChange *change, uint32_t version)
{
    SqlRow row = sql_open(sql, SQL_DRAFT_FILE_PUT, TABLE_DRAFT_FILES);
    sql_put_string(&row, change->package_id);
    sql_put_string(&row, change->path);
    sql_put_u64(&row, version);
    sql_put_bytes(&row, change->hash, 32);
    sql_put_u64(&row, change->bytes);
    sql_put_u64(&row, change->changed_ns);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

typedef struct VersionRow {
    char package_id[STORE_ID_BYTES + 1], path[STORE_DRAFT_PATH_BYTES];
    StoreDraftVersion version;
} VersionRow;

static bool take_version(SqlRow *row, VersionRow *out)
{
    size_t bytes = 0;
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_DRAFT_HISTORY);
    world_take_string(row, out->package_id, sizeof out->package_id);
    world_take_string(row, out->path, sizeof out->path);
    out->version.version = (uint32_t)sql_take_u64(row);
    const uint8_t *hash = sql_take_bytes(row, sizeof out->version.hash, &bytes);
    memcpy(out->version.hash, hash, bytes);
    out->version.bytes = sql_take_u64(row);
    out->version.maker_id = sql_take_u64(row);
    out->version.unix_ms = sql_take_u64(row);
    out->version.is_deleted = bytes == 0;
    return sql_take_checksum(row) && (bytes == 0 || bytes == sizeof out->version.hash);
}

static void write_version(Sql *sql, const char *package_id, const char *path,
                          const StoreDraftVersion *version)
{
    SqlRow row = sql_open(sql, SQL_DRAFT_VERSION_PUT, TABLE_DRAFT_HISTORY);
    sql_put_string(&row, package_id);
    sql_put_string(&row, path);
    sql_put_u64(&row, version->version);
    sql_put_bytes(&row, version->hash, version->is_deleted ? 0 : sizeof version->hash);
    sql_put_u64(&row, version->bytes);
    sql_put_u64(&row, version->maker_id);
    sql_put_u64(&row, version->unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static Status find_file(Sql *sql, const char *package_id, const char *path, StoreDraftFile *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_DRAFT_FILE_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_string(&row, path);
    if (sql_next(&row)) {
        status = take_file(&row, out) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

// Newest first. Gives how many there are of at most max; what is damaged is left out.
static uint32_t list_versions(Sql *sql, const char *package_id, const char *path, uint32_t below,
                              VersionRow *out, uint32_t max)
{
    uint32_t count = 0;
    SqlRow row = sql_open(sql, SQL_DRAFT_VERSION_LIST, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_string(&row, path);
    sql_put_u64(&row, below);
    sql_put_u64(&row, max);
    while (sql_next(&row)) {
        count += take_version(&row, &out[count]);
    }
    return count;
}

// --- a change -----------------------------------------------------------------------------------

// How long a version was what the file is, until the next newer one that is kept.
static uint64_t stood_ms(const StoreDraftVersion *version, const StoreDraftVersion *next)
{
    return next->unix_ms > version->unix_ms ? next->unix_ms - version->unix_ms : 0;
}

// The newest versions stay, so that the last steps can be taken back. Of the others the one that
// stood shortest goes, and its blob, unless another version has it: many writes within a minute,
// whoever makes them, push each other out and never what stood for an hour.
static void drop_one(Sql *sql, const char *package_id, const char *path, uint32_t newest)
{
    VersionRow rows[STORE_DRAFT_VERSIONS + 1];
    if (newest <= STORE_DRAFT_VERSIONS ||
        list_versions(sql, package_id, path, STORE_VERSION_ALL, rows, STORE_DRAFT_VERSIONS + 1) <=
            STORE_DRAFT_VERSIONS) {
        return;
    }
    uint32_t drop = STORE_DRAFT_VERSIONS; // the oldest, unless another one stood shorter
    for (uint32_t i = STORE_DRAFT_VERSIONS; i >= STORE_DRAFT_NEWEST; i--) {
        if (stood_ms(&rows[i].version, &rows[i - 1].version) <
            stood_ms(&rows[drop].version, &rows[drop - 1].version)) {
            drop = i;
        }
    }
    const StoreDraftVersion *old = &rows[drop].version;
    SqlRow row = sql_open(sql, SQL_DRAFT_VERSION_DELETE, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_string(&row, path);
    sql_put_u64(&row, old->version);
    (void)sql_run(&row);
    SqlRow blob = sql_open(sql, SQL_DRAFT_BLOB_END, TABLE_NONE);
    sql_put_string(&blob, package_id);
    sql_put_bytes(&blob, old->hash, old->is_deleted ? 0 : sizeof old->hash);
    (void)sql_run(&blob);
}

typedef struct ChangeCall {
    const StoreDraftChange *change;
    uint32_t version;
} ChangeCall;

// Of the other files. An account pays for equal contents once, but each file of the folder has its
// own room on the disk.
static uint64_t bytes_beside(Sql *sql, const StoreDraftChange *change)
{
    uint64_t bytes = 0;
    SqlRow row = sql_open(sql, SQL_DRAFT_BYTES_BESIDE, TABLE_NONE);
    sql_put_string(&row, change->package_id);
    sql_put_string(&row, change->path);
    if (sql_next(&row)) {
        bytes = sql_take_u64(&row);
        sql_close(&row);
    }
    return bytes;
}

static Status draft_change(Store *store, Sql *sql, void *user)
{
    (void)store;
    ChangeCall *call = user;
    const StoreDraftChange *change = call->change;
    StorePackage package;
    StoreDraftFile file;
    VersionRow last;
    Status status = package_by_id(sql, change->package_id, &package);
    if (status != STATUS_OK || package.trashed_unix_ms != 0) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    status = find_file(sql, change->package_id, change->path, &file);
    const bool is_there = status == STATUS_OK;
    if (change->hash == NULL && !is_there) {
        return status == STATUS_MALFORMED ? status : STATUS_NOT_FOUND;
    }
    if (is_there && change->hash != NULL && memcmp(file.hash, change->hash, 32) == 0) {
        call->version = file.version;
        write_file(sql, change, file.version);
        return STATUS_OK;
    }
    if (change->hash != NULL &&
        (package_bytes_of(sql, package.owner_id) + change->bytes + 2 * ROW_CHARGE_BYTES >
             change->bytes_max ||
         bytes_beside(sql, change) + change->bytes > DRAFT_BYTES_MAX)) {
        return STATUS_LIMIT;
    }
    const bool has_last =
        list_versions(sql, change->package_id, change->path, STORE_VERSION_ALL, &last, 1) == 1;
    StoreDraftVersion version = {.version = has_last ? last.version.version + 1 : 1,
                                 .is_deleted = change->hash == NULL,
                                 .bytes = change->hash != NULL ? change->bytes : 0,
                                 .maker_id = change->maker_id,
                                 .unix_ms = change->unix_ms};
    call->version = version.version;
    if (change->hash != NULL) {
        memcpy(version.hash, change->hash, sizeof version.hash);
        package_write_use(sql, change->hash, change->package_id, STORE_BLOB_DRAFT, 0,
                          change->bytes);
        write_file(sql, change, version.version);
    } else {
        SqlRow row = sql_open(sql, SQL_DRAFT_FILE_DELETE, TABLE_NONE);
        sql_put_string(&row, change->package_id);
        sql_put_string(&row, change->path);
        (void)sql_run(&row);
    }
    write_version(sql, change->package_id, change->path, &version);
    drop_one(sql, change->package_id, change->path, version.version);
    return STATUS_OK;
}

Status store_draft_change(Store *store, const StoreDraftChange *change, uint32_t *version)
{
    ChangeCall call = {change, 0};
    const bool is_good = store_id_is_valid(change->package_id) && change->path[0] != '\0' &&
                         strlen(change->path) < STORE_DRAFT_PATH_BYTES;
    const Status status = is_good ? store_call(store, draft_change, &call) : STATUS_MALFORMED;
    if (status == STATUS_OK && version != NULL) {
        *version = call.version;
    }
    return status;
}

void draft_delete(Sql *sql, const char *package_id)
{
    static const SqlName names[] = {SQL_DRAFT_FILES_DELETE, SQL_DRAFT_HISTORY_DELETE};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SqlRow row = sql_open(sql, names[i], TABLE_NONE);
        sql_put_string(&row, package_id);
        (void)sql_run(&row);
    }
    edit_log_delete(sql, package_id);
}

void draft_forget_maker(Sql *sql, uint64_t account)
{
    for (bool is_more = true; is_more;) {
        VersionRow found;
        SqlRow row = sql_open(sql, SQL_DRAFT_MAKER_END, TABLE_NONE);
        sql_put_u64(&row, account);
        is_more = sql_next(&row);
        if (!is_more) {
            break;
        }
        (void)take_version(&row, &found);
        sql_close(&row);
        found.version.maker_id = 0;
        write_version(sql, found.package_id, found.path, &found.version);
        is_more = sql_status(sql) == STATUS_OK;
    }
}

// --- asking -------------------------------------------------------------------------------------

Status store_draft_file(Store *store, const char *package_id, const char *path, StoreDraftFile *out)
{
    store_read_begin(store);
    return store_read_end(store, find_file(store->reader, package_id, path, out), 0);
}

Status store_draft_files(Store *store, const char *package_id, StoreDraftFile *out, uint32_t max,
                         uint32_t *count)
{
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_DRAFT_FILE_LIST, TABLE_NONE);
    sql_put_string(&row, package_id);
    while (*count < max && sql_next(&row)) {
        *count += take_file(&row, &out[*count]);
    }
    if (*count == max && max > 0) {
        sql_close(&row);
    }
    return store_read_end(store, STATUS_OK, 0);
}

Status store_draft_versions(Store *store, const char *package_id, const char *path, uint32_t below,
                            StoreDraftVersion *out, uint32_t max, uint32_t *count)
{
    VersionRow rows[STORE_DRAFT_VERSIONS];
    max = max < STORE_DRAFT_VERSIONS ? max : STORE_DRAFT_VERSIONS;
    store_read_begin(store);
    *count = list_versions(store->reader, package_id, path, below, rows, max);
    for (uint32_t i = 0; i < *count; i++) {
        out[i] = rows[i].version;
    }
    return store_read_end(store, STATUS_OK, 0);
}

Status store_draft_version(Store *store, const char *package_id, const char *path, uint32_t version,
                           StoreDraftVersion *out)
{
    VersionRow found;
    Status status = STATUS_NOT_FOUND;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_DRAFT_VERSION_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_string(&row, path);
    sql_put_u64(&row, version);
    if (sql_next(&row)) {
        status = take_version(&row, &found) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    status = store_read_end(store, status, 0);
    if (status == STATUS_OK) {
        *out = found.version;
    }
    return status;
}
