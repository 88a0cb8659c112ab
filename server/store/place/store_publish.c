// See store_publish.h. Every function here is one call of the store, which is undone whole when it
// does not give STATUS_OK.
#define _GNU_SOURCE
#include "server/store/place/store_publish.h"

#include "server/store/people/store_person.h"
#include "server/store/place/store_package_inside.h"

#include <string.h>

// --- a new package ------------------------------------------------------------------------------

typedef struct PublishCall {
    const StorePublish *publish;
    bool is_bytes;
} PublishCall;

static Status check_source(Sql *sql, const StoreRevision *source)
{
    StorePackage package;
    StoreRevision revision;
    Status status = package_by_id(sql, source->package_id, &package);
    if (status == STATUS_OK) {
        status = revision_row_find(sql, source->package_id, source->revision, &revision);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const bool is_there =
        package.trashed_unix_ms == 0 && revision.state == STORE_REVISION_READY &&
        memcmp(revision.package_hash, source->package_hash, sizeof revision.package_hash) == 0;
    return is_there ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status publish(Store *store, Sql *sql, void *user)
{
    (void)store;
    PublishCall *call = user;
    const StorePublish *wish = call->publish;
    Status status = wish->source != NULL ? check_source(sql, wish->source) : STATUS_OK;
    if (status == STATUS_OK) {
        status = package_make_in(sql, wish->package, wish->count_max);
    }
    if (status == STATUS_OK) {
        status = revision_add_in(sql, wish->revision, wish->bytes_max);
        call->is_bytes = status == STATUS_LIMIT;
        wish->package->version += 1;
        wish->package->last_revision = wish->revision->revision;
    }
    return status;
}

Status store_package_publish(Store *store, const StorePublish *wish, bool *is_bytes)
{
    PublishCall call = {.publish = wish};
    if (!package_is_valid(wish->package) || !revision_is_valid(wish->revision) ||
        strcmp(wish->package->package_id, wish->revision->package_id) != 0) {
        return STATUS_MALFORMED;
    }
    const Status status = store_call(store, publish, &call);
    *is_bytes = call.is_bytes;
    return status;
}

// --- the end of a build -------------------------------------------------------------------------

static void end_use(Sql *sql, const char *package_id, StoreBlobPurpose purpose, uint32_t number)
{
    SqlRow row = sql_open(sql, SQL_BLOB_USE_END, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, purpose);
    sql_put_u64(&row, number);
    (void)sql_run(&row);
}

static Status find_use(Sql *sql, const char *package_id, StoreBlobPurpose purpose, uint32_t number,
                       StoreBlobRef *out)
{
    SqlRow row = sql_open(sql, SQL_BLOB_USE_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, purpose);
    sql_put_u64(&row, number);
    Status status = STATUS_NOT_FOUND;
    if (sql_next(&row)) {
        char id[65];
        size_t bytes = 0;
        sql_take_table(&row, TABLE_BLOB_USES);
        const uint8_t *hash = sql_take_bytes(&row, sizeof out->hash, &bytes);
        memcpy(out->hash, hash, bytes);
        world_take_string(&row, id, sizeof id);
        out->purpose = (StoreBlobPurpose)sql_take_u64(&row);
        (void)sql_take_u64(&row);
        out->bytes = sql_take_u64(&row);
        status =
            sql_take_checksum(&row) && bytes == sizeof out->hash ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

void package_show_thumbnail(Sql *sql, const char *package_id, uint32_t number)
{
    StoreBlobRef blob;
    end_use(sql, package_id, STORE_BLOB_PICTURE, 0);
    if (find_use(sql, package_id, STORE_BLOB_OWN_THUMBNAIL, 0, &blob) == STATUS_OK ||
        find_use(sql, package_id, STORE_BLOB_THUMBNAIL, number, &blob) == STATUS_OK) {
        package_write_use(sql, blob.hash, package_id, STORE_BLOB_PICTURE, 0, blob.bytes);
    }
}

// The package, once a revision of it is ready.
static Status renew_package(Sql *sql, StoreBuilt *built, const char *channel)
{
    StorePackage package;
    const Status status = package_by_id(sql, built->package_id, &package);
    if (status != STATUS_OK) {
        return status;
    }
    if (package.title[0] == '\0' && built->title != NULL) {
        memset(package.title, 0, sizeof package.title);
        memcpy(package.title, built->title, strnlen(built->title, sizeof package.title - 1));
    }
    // A later revision whose build was quicker stays.
    built->is_live = strcmp(channel, "live") == 0 && package.trashed_unix_ms == 0 &&
                     built->number > package.live;
    if (built->is_live) {
        revision_note_live(sql, built->package_id, package.live);
        revision_note_live(sql, built->package_id, built->number);
        package.live = built->number;
        package_unapprove(sql, &package);
        memcpy(built->channel, "live", sizeof "live");
        package_show_thumbnail(sql, built->package_id, built->number);
    } else if (strcmp(channel, "beta") == 0 && built->number > package.beta) {
        package.beta = built->number;
        memcpy(built->channel, "beta", sizeof "beta");
    }
    package.version += 1;
    package.updated_unix_ms = built->now_unix_ms;
    package_row_write(sql, &package);
    return STATUS_OK;
}

static Status end_build(Store *store, Sql *sql, void *user)
{
    (void)store;
    StoreBuilt *built = user;
    StoreRevision revision;
    char channel[8] = "";
    const Status status = revision_row_find(sql, built->package_id, built->number, &revision);
    if (status != STATUS_OK || revision.state != STORE_REVISION_BUILDING) {
        return status != STATUS_OK ? status : STATUS_MISMATCH;
    }
    memcpy(channel, revision.reason, strnlen(revision.reason, sizeof channel - 1));
    revision.state = built->state;
    const size_t bytes = strnlen(built->reason, sizeof revision.reason - 1);
    memset(revision.reason, 0, sizeof revision.reason);
    memcpy(revision.reason, built->reason, bytes);
    revision_row_write(sql, &revision);
    for (uint32_t i = 0; i < built->blob_count; i++) {
        const StoreBlobRef *blob = &built->blobs[i];
        package_write_use(sql, blob->hash, built->package_id, blob->purpose, built->number,
                          blob->bytes);
    }
    if (built->drops_package) {
        end_use(sql, built->package_id, STORE_BLOB_PACKAGE, built->number);
    }
    if (built->state == STORE_REVISION_READY) {
        return renew_package(sql, built, built->keeps_channels ? "" : channel);
    }
    revision_drop_failed(sql, built->package_id);
    return STATUS_OK;
}

Status store_revision_built(Store *store, StoreBuilt *built)
{
    return store_call(store, end_build, built);
}

// --- pictures -----------------------------------------------------------------------------------

typedef struct PictureCall {
    const char *package_id;
    const uint8_t *hash;
    uint32_t number;
    uint64_t bytes, bytes_max;
} PictureCall;

static Status set_picture(Store *store, Sql *sql, void *user)
{
    (void)store;
    const PictureCall *call = user;
    const StoreBlobPurpose purpose =
        call->number == 0 ? STORE_BLOB_OWN_THUMBNAIL : STORE_BLOB_PICTURE;
    StorePackage package;
    StoreBlobRef before;
    Status status = package_by_id(sql, call->package_id, &package);
    if (status == STATUS_OK && call->hash == NULL) {
        status = find_use(sql, call->package_id, purpose, call->number, &before);
    }
    if (status != STATUS_OK) {
        return status;
    }
    end_use(sql, call->package_id, purpose, call->number);
    if (call->hash != NULL) {
        if (package_bytes_of(sql, package.owner_id) + call->bytes > call->bytes_max) {
            return STATUS_LIMIT;
        }
        package_write_use(sql, call->hash, call->package_id, purpose, call->number, call->bytes);
    }
    if (call->number == 0) {
        package_show_thumbnail(sql, call->package_id, package.live);
    }
    package.version += 1;
    package_unapprove(sql, &package);
    package_row_write(sql, &package);
    return STATUS_OK;
}

Status store_picture_set(Store *store, const char *package_id, uint32_t number, const uint8_t *hash,
                         uint64_t bytes, uint64_t bytes_max)
{
    PictureCall call = {package_id, hash, number, bytes, bytes_max};
    return store_call(store, set_picture, &call);
}

// --- reading ------------------------------------------------------------------------------------

Status store_blob_used(Store *store, const char *package_id, StoreBlobPurpose purpose,
                       uint32_t number, StoreBlobRef *out)
{
    StoreBlobRef found;
    store_read_begin(store);
    const Status status =
        store_read_end(store, find_use(store->reader, package_id, purpose, number, &found), 0);
    if (status == STATUS_OK) {
        *out = found;
    }
    return status;
}

Status store_pictures(Store *store, const char *package_id, uint32_t *numbers, uint32_t max,
                      uint32_t *count)
{
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_PICTURE_NUMBERS, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, max);
    while (sql_next(&row)) {
        numbers[(*count)++] = (uint32_t)sql_take_u64(&row);
    }
    return store_read_end(store, STATUS_OK, 0);
}

Status store_package_bytes(Store *store, const char *package_id, uint64_t *bytes)
{
    store_read_begin(store);
    *bytes = package_bytes(store->reader, package_id);
    return store_read_end(store, STATUS_OK, 0);
}

Status store_place_data(Store *store, const char *place_id, uint64_t *keys, uint64_t *bytes)
{
    *keys = *bytes = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_USE_FIND, TABLE_NONE);
    sql_put_string(&row, place_id);
    Status status = STATUS_OK;
    if (sql_next(&row)) {
        char id[65];
        sql_take_table(&row, TABLE_DATA_USE);
        world_take_string(&row, id, sizeof id);
        *keys = sql_take_u64(&row);
        *bytes = sql_take_u64(&row);
        status = sql_take_checksum(&row) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return store_read_end(store, status, 0);
}

// --- giving it away -----------------------------------------------------------------------------

typedef struct GiveCall {
    const char *package_id;
    uint64_t to, bytes_max;
    uint32_t count_max;
    bool is_forced;
} GiveCall;

static void write_role(Sql *sql, const StorePackage *package, uint64_t account,
                       StorePackageRole role)
{
    SqlRow gone = sql_open(sql, SQL_PACKAGE_PERSON_DELETE, TABLE_NONE);
    sql_put_string(&gone, package->package_id);
    sql_put_u64(&gone, account);
    (void)sql_run(&gone);
    if (role == STORE_NOBODY) {
        return;
    }
    SqlRow row = sql_open(sql, SQL_PACKAGE_PERSON_PUT, TABLE_PACKAGE_PEOPLE);
    sql_put_string(&row, package->package_id);
    sql_put_u64(&row, account);
    sql_put_u64(&row, role);
    sql_put_u64(&row, package->updated_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static Status give_package(Store *store, Sql *sql, void *user)
{
    (void)store;
    const GiveCall *call = user;
    StorePackage package;
    const Status status = package_by_id(sql, call->package_id, &package);
    if (status != STATUS_OK || package.trashed_unix_ms != 0) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    if (!call->is_forced && !offer_holds(sql, call->package_id, call->to)) {
        return STATUS_DENIED;
    }
    const uint64_t before = package.owner_id;
    if (before == call->to) {
        return STATUS_OK;
    }
    SqlRow row = sql_open(sql, SQL_PACKAGE_COUNT, TABLE_NONE);
    sql_put_u64(&row, call->to);
    sql_put_u64(&row, package.kind);
    uint64_t count = 0;
    if (sql_next(&row)) {
        count = sql_take_u64(&row);
        sql_close(&row);
    }
    const uint64_t bytes = package_bytes_of(sql, call->to) + package_bytes(sql, call->package_id);
    if (count >= call->count_max || bytes > call->bytes_max) {
        return STATUS_LIMIT;
    }
    package.owner_id = call->to;
    package.version += 1;
    package_unapprove(sql, &package);
    package_row_write(sql, &package);
    offer_end(sql, call->package_id);
    write_role(sql, &package, call->to, STORE_NOBODY);
    if (before != STORE_BUILT_IN_ACCOUNT) {
        write_role(sql, &package, before, STORE_EDITOR);
    }
    return STATUS_OK;
}

Status store_package_give(Store *store, const char *package_id, uint64_t to, bool is_forced,
                          uint32_t count_max, uint64_t bytes_max)
{
    GiveCall call = {package_id, to, bytes_max, count_max, is_forced};
    return store_call(store, give_package, &call);
}
