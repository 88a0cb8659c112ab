// Packages, their revisions and channels. See store_package.h.
#define _GNU_SOURCE
#include "server/store/place/store_package.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/text.h"
#include "server/store/people/store_account.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_package_inside.h"
#include "server/store/store_inside.h"

#include <string.h>

// --- rows ---------------------------------------------------------------------------------------

bool package_take(SqlRow *row, StorePackage *out)
{
    StorePackage *package = out;
    memset(package, 0, sizeof *package);
    sql_take_table(row, TABLE_PACKAGES);
    world_take_string(row, package->package_id, sizeof package->package_id);
    package->kind = (StorePackageKind)sql_take_u64(row);
    package->owner_id = sql_take_u64(row);
    world_take_string(row, package->title, sizeof package->title);
    world_take_string(row, package->description, sizeof package->description);
    package->visibility = (StoreVisibility)sql_take_u64(row);
    package->flags = (uint32_t)sql_take_u64(row);
    package->live = (uint32_t)sql_take_u64(row);
    package->beta = (uint32_t)sql_take_u64(row);
    package->last_revision = (uint32_t)sql_take_u64(row);
    package->version = sql_take_u64(row);
    world_take_string(row, package->forked_from, sizeof package->forked_from);
    package->created_unix_ms = sql_take_u64(row);
    package->updated_unix_ms = sql_take_u64(row);
    package->trashed_unix_ms = sql_take_u64(row);
    return sql_take_checksum(row) &&
           (package->kind == STORE_PLACE || package->kind == STORE_SPELL) &&
           package->visibility <= STORE_LISTED;
}

void package_row_write(Sql *sql, const StorePackage *package)
{
    ASSERT(package->live <= package->last_revision); // a channel names a revision that was made
    ASSERT(package->beta <= package->last_revision);
    ASSERT(package->visibility <= STORE_LISTED);
    SqlRow row = sql_open(sql, SQL_PACKAGE_PUT, TABLE_PACKAGES);
    sql_put_string(&row, package->package_id);
    sql_put_u64(&row, package->kind);
    sql_put_u64(&row, package->owner_id);
    sql_put_string(&row, package->title);
    sql_put_string(&row, package->description);
    sql_put_u64(&row, package->visibility);
    sql_put_u64(&row, package->flags);
    sql_put_u64(&row, package->live);
    sql_put_u64(&row, package->beta);
    sql_put_u64(&row, package->last_revision);
    sql_put_u64(&row, package->version);
    sql_put_string(&row, package->forked_from);
    sql_put_u64(&row, package->created_unix_ms);
    sql_put_u64(&row, package->updated_unix_ms);
    sql_put_u64(&row, package->trashed_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    listing_follow(sql, package);
}

// The reason of a ready revision that is or was live.
static const char live_reason[] = "live";

static bool take_revision(SqlRow *row, StoreRevision *out)
{
    StoreRevision *revision = out;
    size_t bytes = 0;
    memset(revision, 0, sizeof *revision);
    sql_take_table(row, TABLE_REVISIONS);
    world_take_string(row, revision->package_id, sizeof revision->package_id);
    revision->revision = (uint32_t)sql_take_u64(row);
    revision->maker_id = sql_take_u64(row);
    revision->state = (StoreRevisionState)sql_take_u64(row);
    world_take_string(row, revision->notes, sizeof revision->notes);
    const uint8_t *hash = sql_take_bytes(row, sizeof revision->package_hash, &bytes);
    memcpy(revision->package_hash, hash, bytes);
    revision->package_bytes = sql_take_u64(row);
    world_take_string(row, revision->job_id, sizeof revision->job_id);
    world_take_string(row, revision->reason, sizeof revision->reason);
    revision->created_unix_ms = sql_take_u64(row);
    revision->was_live =
        revision->state == STORE_REVISION_READY && strcmp(revision->reason, live_reason) == 0;
    if (revision->was_live) {
        memset(revision->reason, 0, sizeof revision->reason);
    }
    return sql_take_checksum(row) && bytes == sizeof revision->package_hash &&
           revision->state >= STORE_REVISION_BUILDING && revision->state <= STORE_REVISION_FAILED;
}

void revision_row_write(Sql *sql, const StoreRevision *revision)
{
    ASSERT(revision->revision > 0); // 0 in a channel means none
    ASSERT(revision->state >= STORE_REVISION_BUILDING && revision->state <= STORE_REVISION_FAILED);
    SqlRow row = sql_open(sql, SQL_REVISION_PUT, TABLE_REVISIONS);
    sql_put_string(&row, revision->package_id);
    sql_put_u64(&row, revision->revision);
    sql_put_u64(&row, revision->maker_id);
    sql_put_u64(&row, revision->state);
    sql_put_string(&row, revision->notes);
    sql_put_bytes(&row, revision->package_hash, sizeof revision->package_hash);
    sql_put_u64(&row, revision->package_bytes);
    sql_put_string(&row, revision->job_id);
    sql_put_string(&row, revision->was_live ? live_reason : revision->reason);
    sql_put_u64(&row, revision->created_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static bool take_person(SqlRow *row, StorePackagePerson *out)
{
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_PACKAGE_PEOPLE);
    world_take_string(row, out->package_id, sizeof out->package_id);
    out->account_id = sql_take_u64(row);
    out->role = (StorePackageRole)sql_take_u64(row);
    out->created_unix_ms = sql_take_u64(row);
    return sql_take_checksum(row) && out->role >= STORE_EDITOR && out->role <= STORE_BLOCKED;
}

// --- finding ------------------------------------------------------------------------------------

// Of a statement whose row is one package, revision or person.
#define FIND_ONE(row, take, out)                                   \
    Status status = STATUS_NOT_FOUND;                              \
    if (sql_next(&(row))) {                                        \
        status = take(&(row), out) ? STATUS_OK : STATUS_MALFORMED; \
        sql_close(&(row));                                         \
    }                                                              \
    return sql_status((row).sql) != STATUS_OK ? sql_status((row).sql) : status

Status package_by_id(Sql *sql, const char *package_id, StorePackage *out)
{
    SqlRow row = sql_open(sql, SQL_PACKAGE_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    FIND_ONE(row, package_take, out);
}

Status revision_row_find(Sql *sql, const char *package_id, uint32_t number, StoreRevision *out)
{
    SqlRow row = sql_open(sql, SQL_REVISION_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, number);
    FIND_ONE(row, take_revision, out);
}

void revision_note_live(Sql *sql, const char *package_id, uint32_t number)
{
    StoreRevision revision;
    if (number != 0 && revision_row_find(sql, package_id, number, &revision) == STATUS_OK &&
        revision.state == STORE_REVISION_READY && !revision.was_live) {
        revision.was_live = true;
        revision_row_write(sql, &revision);
    }
}

static Status find_by_job(Sql *sql, const char *job_id, StoreRevision *out)
{
    SqlRow row = sql_open(sql, SQL_REVISION_BY_JOB, TABLE_NONE);
    sql_put_string(&row, job_id);
    FIND_ONE(row, take_revision, out);
}

static Status find_trashed(Sql *sql, uint64_t before, StorePackage *out)
{
    SqlRow row = sql_open(sql, SQL_PACKAGE_TRASHED, TABLE_NONE);
    sql_put_u64(&row, before);
    FIND_ONE(row, package_take, out);
}

Status package_person_find(Sql *sql, const char *package_id, uint64_t account,
                           StorePackagePerson *out)
{
    SqlRow row = sql_open(sql, SQL_PACKAGE_PERSON_FIND, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, account);
    FIND_ONE(row, take_person, out);
}

Status store_package_find(Store *store, const char *package_id, StorePackage *out)
{
    store_read_begin(store);
    return store_read_end(store, package_by_id(store->reader, package_id, out), 0);
}

Status store_revision_find(Store *store, const char *package_id, uint32_t number,
                           StoreRevision *out)
{
    store_read_begin(store);
    return store_read_end(store, revision_row_find(store->reader, package_id, number, out), 0);
}

Status store_revision_by_job(Store *store, const char *job_id, StoreRevision *out)
{
    store_read_begin(store);
    return store_read_end(store, find_by_job(store->reader, job_id, out), 0);
}

Status store_package_trashed(Store *store, uint64_t before_unix_ms, StorePackage *out)
{
    store_read_begin(store);
    return store_read_end(store, find_trashed(store->reader, before_unix_ms, out), 0);
}

static Status list_packages(Store *store, SqlName statement, uint64_t account, const char *after,
                            StorePackage *out, uint32_t max, uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, statement, TABLE_NONE);
    sql_put_u64(&row, account);
    sql_put_string(&row, after);
    sql_put_u64(&row, max);
    while (sql_next(&row)) {
        if (package_take(&row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

Status store_packages_of(Store *store, uint64_t account, const char *after, StorePackage *out,
                         uint32_t max, uint32_t *count)
{
    return list_packages(store, SQL_PACKAGE_LIST, account, after, out, max, count);
}

static Status list_revisions(Store *store, SqlRow *row, StoreRevision *out, uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    while (sql_next(row)) {
        if (take_revision(row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

Status store_revisions(Store *store, const char *package_id, uint32_t below, StoreRevision *out,
                       uint32_t max, uint32_t *count)
{
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_REVISION_LIST, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, below);
    sql_put_u64(&row, max);
    return list_revisions(store, &row, out, count);
}

Status store_revisions_live(Store *store, const char *package_id, uint32_t live, uint32_t below,
                            StoreRevision *out, uint32_t max, uint32_t *count)
{
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_REVISION_LIST_LIVE, TABLE_NONE);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, below);
    sql_put_string(&row, live_reason);
    sql_put_u64(&row, live);
    sql_put_u64(&row, max);
    return list_revisions(store, &row, out, count);
}

Status store_revisions_building(Store *store, StoreRevisionSink sink, void *user)
{
    uint64_t damaged = 0;
    StoreRevision revision;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_REVISION_BUILDING, TABLE_NONE);
    while (sql_next(&row)) {
        if (take_revision(&row, &revision)) {
            sink(user, &revision);
        } else {
            damaged += 1;
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

// --- packages -----------------------------------------------------------------------------------

static uint64_t count_with(Sql *sql, SqlName name, uint64_t first, uint64_t second)
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_u64(&row, first);
    if (name == SQL_PACKAGE_COUNT) {
        sql_put_u64(&row, second);
    }
    uint64_t count = 0;
    if (sql_next(&row)) {
        count = sql_take_u64(&row);
        sql_close(&row);
    }
    return count;
}

// Of a statement that counts revisions and other rows.
static uint64_t take_charge(SqlRow *row)
{
    uint64_t bytes = 0;
    if (sql_next(row)) {
        bytes = sql_take_u64(row) * REVISION_CHARGE_BYTES;
        bytes += sql_take_u64(row) * ROW_CHARGE_BYTES;
        sql_close(row);
    }
    return bytes;
}

uint64_t package_bytes_of(Sql *sql, uint64_t account)
{
    const uint64_t bytes = count_with(sql, SQL_BLOB_BYTES_OF, account, 0);
    SqlRow row = sql_open(sql, SQL_ROWS_OF, TABLE_NONE);
    sql_put_u64(&row, account);
    return bytes + take_charge(&row);
}

static uint64_t count_of(Sql *sql, SqlName name, const char *package_id)
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    uint64_t count = 0;
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        count = sql_take_u64(&row);
        sql_close(&row);
    }
    return count;
}

uint64_t package_bytes(Sql *sql, const char *package_id)
{
    const uint64_t bytes = count_of(sql, SQL_BLOB_BYTES_PACKAGE, package_id);
    SqlRow row = sql_open(sql, SQL_ROWS_PACKAGE, TABLE_NONE);
    sql_put_string(&row, package_id);
    return bytes + take_charge(&row);
}

static bool text_fits(const char *text, size_t capacity)
{
    const size_t bytes = strnlen(text, capacity);
    return bytes < capacity && text_is_valid(text, bytes);
}

bool package_is_valid(const StorePackage *package)
{
    return store_id_is_valid(package->package_id) && package->owner_id != 0 &&
           (package->kind == STORE_PLACE || package->kind == STORE_SPELL) &&
           package->visibility <= STORE_LISTED &&
           text_fits(package->title, sizeof package->title) &&
           text_fits(package->description, sizeof package->description);
}

typedef struct MakeCall {
    StorePackage *package;
    uint32_t count_max;
} MakeCall;

Status package_make_in(Sql *sql, StorePackage *package, uint32_t count_max)
{
    StorePackage found;
    const Status status = package_by_id(sql, package->package_id, &found);
    if (status != STATUS_NOT_FOUND) {
        return status == STATUS_OK || status == STATUS_MALFORMED ? STATUS_EXISTS : status;
    }
    if (count_with(sql, SQL_PACKAGE_COUNT, package->owner_id, package->kind) >= count_max) {
        return STATUS_LIMIT;
    }
    package->version = 1;
    package->live = package->beta = package->last_revision = 0;
    package_row_write(sql, package);
    return STATUS_OK;
}

static Status package_make_call(Store *store, Sql *sql, void *user)
{
    (void)store;
    const MakeCall *call = user;
    return package_make_in(sql, call->package, call->count_max);
}

Status store_package_make(Store *store, StorePackage *package, uint32_t count_max)
{
    MakeCall call = {package, count_max};
    return package_is_valid(package) ? store_call(store, package_make_call, &call)
                                     : STATUS_MALFORMED;
}

void package_unapprove(Sql *sql, StorePackage *package)
{
    StoreAccount owner;
    const bool is_trusted = package->owner_id == STORE_BUILT_IN_ACCOUNT ||
                            (account_by_id(sql, package->owner_id, &owner) == STATUS_OK &&
                             (owner.roles & STORE_ROLES_TRUSTED) != 0);
    if (!is_trusted) {
        package->flags &= ~(uint32_t)STORE_PACKAGE_APPROVED;
    }
}

// What people see of it, and an operator has looked at.
static bool is_same_page(const StorePackage *a, const StorePackage *b)
{
    return a->owner_id == b->owner_id && strcmp(a->title, b->title) == 0 &&
           strcmp(a->description, b->description) == 0;
}

static Status package_change(Store *store, Sql *sql, void *user)
{
    (void)store;
    StorePackage *package = user, found;
    const Status status = package_by_id(sql, package->package_id, &found);
    if (status != STATUS_OK) {
        return status;
    }
    if (found.version != package->version) {
        return STATUS_MISMATCH;
    }
    package->version += 1;
    package->live = found.live;
    package->beta = found.beta;
    package->last_revision = found.last_revision;
    if (!is_same_page(package, &found)) {
        package_unapprove(sql, package);
    }
    package_row_write(sql, package);
    return STATUS_OK;
}

Status store_package_change(Store *store, StorePackage *package)
{
    return package_is_valid(package) ? store_call(store, package_change, package)
                                     : STATUS_MALFORMED;
}

Status package_remove(Sql *sql, const char *package_id)
{
    static const SqlName names[] = {SQL_REVISIONS_DELETE,   SQL_PACKAGE_PEOPLE_DELETE,
                                    SQL_PACKAGE_ACT_DELETE, SQL_BLOB_USES_DELETE,
                                    SQL_CLASS_PLACE_DELETE, SQL_OFFER_DELETE,
                                    SQL_PACKAGE_DELETE};
    bool was_there = false;
    draft_delete(sql, package_id);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        SqlRow row = sql_open(sql, names[i], TABLE_NONE);
        sql_put_string(&row, package_id);
        was_there = sql_run(&row);
    }
    listing_forget(sql, package_id);
    return was_there ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status package_delete(Store *store, Sql *sql, void *package_id)
{
    (void)store;
    return package_remove(sql, package_id);
}

Status store_package_delete(Store *store, const char *package_id)
{
    char copy[STORE_ID_BYTES + 1];
    if (!store_id_is_valid(package_id)) {
        return STATUS_NOT_FOUND;
    }
    memcpy(copy, package_id, strlen(package_id) + 1);
    return store_call(store, package_delete, copy);
}

// --- revisions ----------------------------------------------------------------------------------

void package_write_use(Sql *sql, const uint8_t hash[32], const char *package_id,
                       StoreBlobPurpose purpose, uint32_t number, uint64_t bytes)
{
    SqlRow blob = sql_open(sql, SQL_BLOB_PUT, TABLE_BLOBS);
    sql_put_bytes(&blob, hash, 32);
    sql_put_u64(&blob, bytes);
    sql_put_checksum(&blob);
    (void)sql_run(&blob);
    SqlRow row = sql_open(sql, SQL_BLOB_USE_PUT, TABLE_BLOB_USES);
    sql_put_bytes(&row, hash, 32);
    sql_put_string(&row, package_id);
    sql_put_u64(&row, purpose);
    sql_put_u64(&row, number);
    sql_put_u64(&row, bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static bool package_has_blob(Sql *sql, const char *package_id, const uint8_t hash[32])
{
    bool is_there = false;
    SqlRow row = sql_open(sql, SQL_BLOB_USE_OF_PACKAGE, TABLE_NONE);
    sql_put_bytes(&row, hash, 32);
    sql_put_string(&row, package_id);
    if (sql_next(&row)) {
        is_there = sql_take_u64(&row) != 0;
        sql_close(&row);
    }
    return is_there;
}

typedef struct AddCall {
    StoreRevision *revision;
    uint64_t bytes_max;
} AddCall;

Status revision_add_in(Sql *sql, StoreRevision *revision, uint64_t bytes_max)
{
    StorePackage package;
    const Status status = package_by_id(sql, revision->package_id, &package);
    if (status != STATUS_OK || package.trashed_unix_ms != 0) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    // A package that it has already costs nothing more.
    const bool is_there = package_has_blob(sql, revision->package_id, revision->package_hash);
    const uint64_t more = REVISION_CHARGE_BYTES + (is_there ? 0 : revision->package_bytes);
    if (package_bytes_of(sql, package.owner_id) + more > bytes_max) {
        return STATUS_LIMIT;
    }
    if (count_of(sql, SQL_REVISION_COUNT, revision->package_id) >= REVISIONS_PER_PACKAGE_MAX) {
        return STATUS_DENIED;
    }
    revision->revision = ++package.last_revision;
    revision_row_write(sql, revision);
    package_write_use(sql, revision->package_hash, revision->package_id, STORE_BLOB_PACKAGE,
                      revision->revision, revision->package_bytes);
    package.version += 1;
    package_row_write(sql, &package);
    return STATUS_OK;
}

static Status revision_add_call(Store *store, Sql *sql, void *user)
{
    (void)store;
    const AddCall *call = user;
    return revision_add_in(sql, call->revision, call->bytes_max);
}

bool revision_is_valid(const StoreRevision *revision)
{
    return store_id_is_valid(revision->package_id) &&
           text_fits(revision->notes, sizeof revision->notes) &&
           text_fits(revision->reason, sizeof revision->reason) &&
           revision->state >= STORE_REVISION_BUILDING && revision->state <= STORE_REVISION_FAILED;
}

Status store_revision_add(Store *store, StoreRevision *revision, uint64_t bytes_max)
{
    AddCall call = {revision, bytes_max};
    return revision_is_valid(revision) ? store_call(store, revision_add_call, &call)
                                       : STATUS_MALFORMED;
}

typedef struct EndCall {
    const char *package_id, *reason;
    uint32_t number;
    StoreRevisionState state;
} EndCall;

static Status revision_end(Store *store, Sql *sql, void *user)
{
    (void)store;
    const EndCall *call = user;
    StoreRevision revision;
    const Status status = revision_row_find(sql, call->package_id, call->number, &revision);
    if (status != STATUS_OK) {
        return status;
    }
    if (revision.state != STORE_REVISION_BUILDING) {
        return STATUS_MISMATCH;
    }
    revision.state = call->state;
    const size_t bytes = strnlen(call->reason, sizeof revision.reason - 1);
    memcpy(revision.reason, call->reason, bytes);
    revision.reason[bytes] = '\0';
    revision_row_write(sql, &revision);
    return STATUS_OK;
}

Status store_revision_end(Store *store, const char *package_id, uint32_t number,
                          StoreRevisionState state, const char *reason)
{
    EndCall call = {package_id, reason, number, state};
    return store_call(store, revision_end, &call);
}

typedef struct ChannelCall {
    const char *package_id;
    StoreChannel channel;
    uint32_t number, before;
    uint64_t now;
} ChannelCall;

static Status channel_set(Store *store, Sql *sql, void *user)
{
    (void)store;
    ChannelCall *call = user;
    StorePackage package;
    StoreRevision revision;
    Status status = package_by_id(sql, call->package_id, &package);
    if (status == STATUS_OK && package.trashed_unix_ms != 0) {
        status = STATUS_NOT_FOUND;
    }
    if (status == STATUS_OK && call->number != 0) {
        status = revision_row_find(sql, call->package_id, call->number, &revision);
        if (status == STATUS_OK && revision.state != STORE_REVISION_READY) {
            status = STATUS_DENIED;
        }
    }
    if (status != STATUS_OK) {
        return status;
    }
    uint32_t *named = call->channel == STORE_LIVE ? &package.live : &package.beta;
    call->before = *named;
    if (call->channel == STORE_LIVE && call->number != call->before) {
        package_unapprove(sql, &package);
    }
    *named = call->number;
    package.version += 1;
    package.updated_unix_ms = call->now;
    package_row_write(sql, &package);
    if (call->channel == STORE_LIVE) {
        revision_note_live(sql, call->package_id, call->before);
        revision_note_live(sql, call->package_id, call->number);
        package_show_thumbnail(sql, call->package_id, call->number);
    }
    return STATUS_OK;
}

Status store_channel_set(Store *store, const char *package_id, StoreChannel channel,
                         uint32_t number, uint64_t now_unix_ms, uint32_t *before)
{
    ChannelCall call = {package_id, channel, number, 0, now_unix_ms};
    const Status status = store_call(store, channel_set, &call);
    if (status == STATUS_OK && before != NULL) {
        *before = call.before;
    }
    return status;
}

// --- people -------------------------------------------------------------------------------------

static uint32_t read_people(Sql *sql, const char *package_id, StorePackagePerson *out, uint32_t max,
                            uint64_t *damaged)
{
    uint32_t count = 0;
    SqlRow row = sql_open(sql, SQL_PACKAGE_PEOPLE_LIST, TABLE_NONE);
    sql_put_string(&row, package_id);
    while (sql_next(&row)) {
        StorePackagePerson person;
        if (!take_person(&row, &person)) {
            *damaged += 1;
            continue;
        }
        if (out != NULL && count < max) {
            out[count] = person;
        }
        count += 1;
    }
    return count;
}

typedef struct PersonCall {
    const StorePackagePerson *person;
    uint32_t people_max;
} PersonCall;

static Status person_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const PersonCall *call = user;
    const StorePackagePerson *person = call->person;
    StorePackage package;
    StorePackagePerson found;
    uint64_t damaged = 0;
    Status status = package_by_id(sql, person->package_id, &package);
    if (status != STATUS_OK) {
        return status;
    }
    if (person->role == STORE_NOBODY) {
        SqlRow row = sql_open(sql, SQL_PACKAGE_PERSON_DELETE, TABLE_NONE);
        sql_put_string(&row, person->package_id);
        sql_put_u64(&row, person->account_id);
        return sql_run(&row) ? STATUS_OK : STATUS_NOT_FOUND;
    }
    status = package_person_find(sql, person->package_id, person->account_id, &found);
    if (status == STATUS_NOT_FOUND &&
        read_people(sql, person->package_id, NULL, 0, &damaged) >= call->people_max) {
        return STATUS_LIMIT;
    }
    SqlRow row = sql_open(sql, SQL_PACKAGE_PERSON_PUT, TABLE_PACKAGE_PEOPLE);
    sql_put_string(&row, person->package_id);
    sql_put_u64(&row, person->account_id);
    sql_put_u64(&row, person->role);
    sql_put_u64(&row, person->created_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_package_person_put(Store *store, const StorePackagePerson *person, uint32_t people_max)
{
    PersonCall call = {person, people_max};
    return person->account_id != 0 && person->role <= STORE_BLOCKED
               ? store_call(store, person_put, &call)
               : STATUS_MALFORMED;
}

Status store_package_role(Store *store, const char *package_id, uint64_t account,
                          StorePackageRole *role)
{
    StorePackagePerson person = {.role = STORE_NOBODY};
    store_read_begin(store);
    Status status = package_person_find(store->reader, package_id, account, &person);
    const bool is_none = status == STATUS_NOT_FOUND;
    status = store_read_end(store, is_none ? STATUS_OK : status, 0);
    if (status == STATUS_OK) {
        *role = is_none ? STORE_NOBODY : person.role;
    }
    return status;
}

Status store_package_people(Store *store, const char *package_id, StorePackagePerson *out,
                            uint32_t max, uint32_t *count)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    const uint32_t all = read_people(store->reader, package_id, out, max, &damaged);
    *count = all < max ? all : max;
    return store_read_end(store, STATUS_OK, damaged);
}

// --- what it takes ------------------------------------------------------------------------------

Status store_account_bytes(Store *store, uint64_t account, uint64_t *bytes)
{
    store_read_begin(store);
    *bytes = package_bytes_of(store->reader, account);
    return store_read_end(store, STATUS_OK, 0);
}

Status store_uses(Store *store, StoreUse *out, uint32_t max, uint32_t *count)
{
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_BLOB_BYTES_ALL, TABLE_NONE);
    sql_put_u64(&row, max);
    while (*count < max && sql_next(&row)) {
        StoreUse *use = &out[(*count)++];
        use->account_id = sql_take_u64(&row);
        use->packages = sql_take_u64(&row);
        use->bytes = sql_take_u64(&row);
    }
    sql_close(&row);
    return store_read_end(store, STATUS_OK, 0);
}

typedef struct UseCall {
    const uint8_t *hash;
    const char *package_id;
    StoreBlobPurpose purpose;
    uint32_t number;
    uint64_t bytes;
} UseCall;

static Status blob_use(Store *store, Sql *sql, void *user)
{
    (void)store;
    const UseCall *call = user;
    package_write_use(sql, call->hash, call->package_id, call->purpose, call->number, call->bytes);
    return STATUS_OK;
}

Status store_blob_use(Store *store, const uint8_t hash[32], const char *package_id,
                      StoreBlobPurpose purpose, uint32_t number, uint64_t bytes)
{
    UseCall call = {hash, package_id, purpose, number, bytes};
    return store_id_is_valid(package_id) ? store_call(store, blob_use, &call) : STATUS_MALFORMED;
}

static bool take_use(SqlRow *row, StoreBlobUse *out)
{
    size_t bytes = 0;
    memset(out, 0, sizeof *out);
    sql_take_table(row, TABLE_BLOB_USES);
    (void)sql_take_bytes(row, 32, &bytes);
    world_take_string(row, out->package_id, sizeof out->package_id);
    out->purpose = (StoreBlobPurpose)sql_take_u64(row);
    out->number = (uint32_t)sql_take_u64(row);
    (void)sql_take_u64(row);
    return sql_take_checksum(row);
}

Status store_blob_uses(Store *store, const uint8_t hash[32], StoreBlobUse *out, uint32_t max,
                       uint32_t *count)
{
    uint64_t damaged = 0;
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_BLOB_USES_OF, TABLE_NONE);
    sql_put_bytes(&row, hash, 32);
    bool is_more = sql_next(&row);
    for (; is_more && *count < max; is_more = sql_next(&row)) {
        if (take_use(&row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    if (is_more) {
        sql_close(&row);
    }
    return store_read_end(store, *count > 0 ? STATUS_OK : STATUS_NOT_FOUND, damaged);
}

typedef struct ForgetCall {
    const uint8_t *hash;
    bool is_used;
} ForgetCall;

static Status blob_forget(Store *store, Sql *sql, void *user)
{
    (void)store;
    ForgetCall *call = user;
    SqlRow gone = sql_open(sql, SQL_BLOB_FORGET, TABLE_NONE);
    sql_put_bytes(&gone, call->hash, 32);
    (void)sql_run(&gone);
    return STATUS_OK;
}

// Most blobs are used, so that is asked first, and nothing is written for them.
Status store_blob_forget(Store *store, const uint8_t hash[32], bool *is_used)
{
    ForgetCall call = {hash, true};
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_BLOB_USE_ANY, TABLE_NONE);
    sql_put_bytes(&row, hash, 32);
    if (sql_next(&row)) {
        call.is_used = sql_take_u64(&row) != 0;
        sql_close(&row);
    }
    Status status = store_read_end(store, STATUS_OK, 0);
    if (status == STATUS_OK && !call.is_used) {
        status = store_call(store, blob_forget, &call);
    }
    *is_used = call.is_used || status != STATUS_OK;
    return status;
}
