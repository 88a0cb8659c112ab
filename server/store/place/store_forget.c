// What goes away of packages: revisions that their team deletes, failed ones that are old, drafts
// that are thrown away, and the packages of people who leave. Blobs are collected later, when
// nothing uses them any more.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_draft.h"
#include "server/store/place/store_package_inside.h"

#include <string.h>

// --- revisions ----------------------------------------------------------------------------------

static void drop_revision(Sql *sql, const char *package_id, uint32_t number)
{
    sql_run_with_key(sql, SQL_REVISION_DELETE, package_id, number);
    sql_run_with_key(sql, SQL_REVISION_BLOBS_END, package_id, number);
}

void revision_drop_failed(Sql *sql, const char *package_id)
{
    for (bool is_more = true; is_more && sql_status(sql) == STATUS_OK;) {
        uint32_t number = 0;
        SqlRow row = sql_open(sql, SQL_REVISION_FAILED, TABLE_NONE);
        sql_put_string(&row, package_id);
        sql_put_u64(&row, REVISIONS_FAILED_MAX);
        is_more = sql_next(&row);
        if (is_more) {
            number = (uint32_t)sql_take_u64(&row);
            sql_close(&row);
            drop_revision(sql, package_id, number);
        }
    }
}

typedef struct DeleteCall {
    const char *package_id;
    uint32_t number;
} DeleteCall;

static Status revision_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    const DeleteCall *call = user;
    StorePackage package;
    StoreRevision revision;
    Status status = package_by_id(sql, call->package_id, &package);
    if (status == STATUS_OK) {
        status = revision_row_find(sql, call->package_id, call->number, &revision);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (call->number == package.live || call->number == package.beta) {
        return STATUS_DENIED;
    }
    if (revision.state == STORE_REVISION_BUILDING) {
        return STATUS_BLOCKED;
    }
    drop_revision(sql, call->package_id, call->number);
    package.version += 1;
    package_row_write(sql, &package);
    return STATUS_OK;
}

Status store_revision_delete(Store *store, const char *package_id, uint32_t number)
{
    DeleteCall call = {package_id, number};
    return store_call(store, revision_delete, &call);
}

// --- drafts -------------------------------------------------------------------------------------

static Status draft_discard(Store *store, Sql *sql, void *user)
{
    (void)store;
    const char *package_id = user;
    StorePackage package;
    const Status status = package_by_id(sql, package_id, &package);
    if (status == STATUS_OK) {
        draft_delete(sql, package_id);
        SqlRow row = sql_open(sql, SQL_BLOB_USE_END, TABLE_NONE);
        sql_put_string(&row, package_id);
        sql_put_u64(&row, STORE_BLOB_DRAFT);
        sql_put_u64(&row, 0);
        (void)sql_run(&row);
        SqlRow uploads = sql_open(sql, SQL_UPLOADS_DELETE, TABLE_NONE);
        sql_put_string(&uploads, package_id);
        (void)sql_run(&uploads);
    }
    return status;
}

Status store_draft_discard(Store *store, const char *package_id)
{
    char copy[STORE_ID_BYTES + 1];
    if (!store_id_is_valid(package_id)) {
        return STATUS_NOT_FOUND;
    }
    memcpy(copy, package_id, strlen(package_id) + 1);
    return store_call(store, draft_discard, copy);
}

// --- people who leave ---------------------------------------------------------------------------

// What everybody finds is kept in the trash for a while: an operator may want to keep it for its
// players. The rest is theirs alone.
static bool is_kept(const StorePackage *package)
{
    const uint32_t hidden = STORE_PACKAGE_REMOVED | STORE_PACKAGE_CLASS;
    return package->visibility == STORE_LISTED && package->live != 0 &&
           package->trashed_unix_ms == 0 && (package->flags & hidden) == 0;
}

void package_leave(Sql *sql, uint64_t account)
{
    for (bool is_more = true; is_more;) {
        StorePackage package;
        SqlRow row = sql_open(sql, SQL_PACKAGE_OWNED, TABLE_NONE);
        sql_put_u64(&row, account);
        is_more = sql_next(&row);
        if (!is_more) {
            break;
        }
        const bool is_whole = package_take(&row, &package);
        sql_close(&row);
        if (is_whole && is_kept(&package)) {
            package.owner_id = STORE_BUILT_IN_ACCOUNT;
            package.trashed_unix_ms = sql->unix_ms;
            package.version += 1;
            package_row_write(sql, &package);
        } else { // of a damaged one nothing can be believed
            (void)package_remove(sql, package.package_id);
        }
        is_more = sql_status(sql) == STATUS_OK;
    }
}
