// Changes to accounts that are one transaction, and what they use up: names, links, recovery codes.
// See store_account.h.
#define _GNU_SOURCE
#include "server/store/people/store_account.h"

#include "server/store/store_inside.h"

#include <string.h>

// --- rows ---------------------------------------------------------------------------------------

// The row's parameters are there; STATUS_OK: there is such a row, still open.
static Status open_only(SqlRow *row)
{
    const bool is_there = sql_next(row);
    if (sql_status(row->sql) != STATUS_OK) {
        return sql_status(row->sql);
    }
    return is_there ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status close_only(SqlRow *row, bool is_whole)
{
    sql_close(row);
    return is_whole ? STATUS_OK : STATUS_MALFORMED;
}

static Status name_find(Sql *sql, const char *folded, uint64_t *account)
{
    size_t bytes;
    SqlRow row = sql_open(sql, SQL_NAME_FIND, TABLE_NONE);
    sql_put_string(&row, folded);
    const Status status = open_only(&row);
    if (status != STATUS_OK) {
        *account = 0;
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    sql_take_table(&row, TABLE_NAMES);
    (void)sql_take_bytes(&row, STORE_SHOWN_BYTES, &bytes);
    const uint64_t found = sql_take_u64(&row);
    const Status closed = close_only(&row, sql_take_checksum(&row));
    if (closed == STATUS_OK) {
        *account = found;
    }
    return closed;
}

static void name_put(Sql *sql, const char *folded, uint64_t account)
{
    SqlRow row = sql_open(sql, SQL_NAME_PUT, TABLE_NAMES);
    sql_put_string(&row, folded);
    sql_put_u64(&row, account);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

static Status link_find(Sql *sql, const uint8_t hash[STORE_TOKEN_BYTES], StoreLink *out)
{
    StoreLink link = {0};
    size_t bytes = 0;
    SqlRow row = sql_open(sql, SQL_LINK_FIND, TABLE_NONE);
    sql_put_bytes(&row, hash, STORE_TOKEN_BYTES);
    const Status status = open_only(&row);
    if (status != STATUS_OK) {
        return status;
    }
    sql_take_table(&row, TABLE_LINKS);
    const uint8_t *found = sql_take_bytes(&row, sizeof link.token_hash, &bytes);
    memcpy(link.token_hash, found, bytes);
    link.purpose = (uint32_t)sql_take_u64(&row);
    link.account_id = sql_take_u64(&row);
    link.roles = (uint32_t)sql_take_u64(&row);
    link.maker_id = sql_take_u64(&row);
    link.created_unix_ms = sql_take_u64(&row);
    link.expires_unix_ms = sql_take_u64(&row);
    const Status closed = close_only(&row, sql_take_checksum(&row));
    if (closed == STATUS_OK) {
        *out = link;
    }
    return closed;
}

static Status recovery_find(Sql *sql, uint64_t account, const uint8_t hash[STORE_TOKEN_BYTES])
{
    size_t bytes;
    SqlRow row = sql_open(sql, SQL_RECOVERY_FIND, TABLE_NONE);
    sql_put_u64(&row, account);
    sql_put_bytes(&row, hash, STORE_TOKEN_BYTES);
    const Status status = open_only(&row);
    if (status != STATUS_OK) {
        return status;
    }
    sql_take_table(&row, TABLE_RECOVERY);
    (void)sql_take_u64(&row);
    (void)sql_take_bytes(&row, STORE_TOKEN_BYTES, &bytes);
    (void)sql_take_u64(&row);
    return close_only(&row, sql_take_checksum(&row));
}

static void run_with_hash(Sql *sql, SqlName name, const uint8_t hash[STORE_TOKEN_BYTES])
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_bytes(&row, hash, STORE_TOKEN_BYTES);
    (void)sql_run(&row);
}

static void run_with_both(Sql *sql, SqlName name, uint64_t number,
                          const uint8_t hash[STORE_TOKEN_BYTES])
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_u64(&row, number);
    sql_put_bytes(&row, hash, STORE_TOKEN_BYTES);
    (void)sql_run(&row);
}

// --- identities at issuers ----------------------------------------------------------------------

static bool identity_take(SqlRow *row, StoreIdentity *out)
{
    sql_take_table(row, TABLE_IDENTITIES);
    world_take_string(row, out->issuer, sizeof out->issuer);
    world_take_string(row, out->subject, sizeof out->subject);
    out->account_id = sql_take_u64(row);
    out->created_unix_ms = sql_take_u64(row);
    return sql_take_checksum(row);
}

static Status identity_find(Sql *sql, const char *issuer, const char *subject, StoreIdentity *out)
{
    StoreIdentity found = {0};
    SqlRow row = sql_open(sql, SQL_IDENTITY_FIND, TABLE_NONE);
    sql_put_string(&row, issuer);
    sql_put_string(&row, subject);
    Status status = open_only(&row);
    if (status == STATUS_OK) {
        const bool is_whole = identity_take(&row, &found);
        status = close_only(&row, is_whole);
    }
    if (status == STATUS_OK) {
        *out = found;
    }
    return status;
}

static Status check_identity(Sql *sql, const StoreAccountChange *change)
{
    StoreIdentity found;
    if (change->identity == NULL) {
        return STATUS_OK;
    }
    const Status status =
        identity_find(sql, change->identity->issuer, change->identity->subject, &found);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status == STATUS_OK ? STATUS_EXISTS : status;
}

static void write_identity(Sql *sql, const StoreAccountChange *change)
{
    if (change->ends_identities) {
        sql_run_with_u64(sql, SQL_IDENTITY_CLEAR, change->account->account_id);
    }
    if (change->identity != NULL) {
        SqlRow row = sql_open(sql, SQL_IDENTITY_PUT, TABLE_IDENTITIES);
        sql_put_string(&row, change->identity->issuer);
        sql_put_string(&row, change->identity->subject);
        sql_put_u64(&row, change->account->account_id);
        sql_put_u64(&row, change->now_unix_ms);
        sql_put_checksum(&row);
        (void)sql_run(&row);
    }
}

// --- the change ---------------------------------------------------------------------------------

static Status check_row(Sql *sql, const StoreAccountChange *change)
{
    StoreAccount now;
    const Status status = account_by_id(sql, change->account->account_id, &now);
    if (change->was == NULL) {
        return status == STATUS_NOT_FOUND ? STATUS_OK
               : status == STATUS_OK      ? STATUS_EXISTS
                                          : status;
    }
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_MISMATCH : status;
    }
    return strcmp(now.password, change->was->password) == 0 &&
                   strcmp(now.name, change->was->name) == 0
               ? STATUS_OK
               : STATUS_MISMATCH;
}

// In the transaction, so that of two who give up a role at once one keeps it.
static Status check_last(Sql *sql, const StoreAccountChange *change)
{
    StoreAccount now;
    uint64_t count = 0;
    const Status status = change->last_keeps != 0
                              ? account_by_id(sql, change->account->account_id, &now)
                              : STATUS_NOT_FOUND;
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    if ((now.roles & change->last_keeps & ~change->account->roles) == 0) {
        return STATUS_OK;
    }
    SqlRow row = sql_open(sql, SQL_ACCOUNT_OPERATORS, TABLE_NONE);
    sql_put_u64(&row, change->last_keeps);
    if (sql_next(&row)) {
        count = sql_take_u64(&row);
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : count <= 1 ? STATUS_DENIED : STATUS_OK;
}

static Status check_names(Sql *sql, const StoreAccountChange *change)
{
    const uint64_t account = change->account->account_id;
    StoreAccount other;
    Status status = change->account->name[0] != '\0'
                        ? account_by_name(sql, change->account->name, &other)
                        : STATUS_NOT_FOUND;
    if (status == STATUS_OK && other.account_id != account) {
        return STATUS_EXISTS;
    }
    status = status == STATUS_NOT_FOUND ? STATUS_OK : status;
    for (uint32_t i = 0; i < 2 && status == STATUS_OK; i++) {
        uint64_t owner = 0;
        if (change->names[i] != NULL) {
            status = name_find(sql, change->names[i], &owner);
        }
        if (status == STATUS_OK && owner != 0 && owner != account) {
            status = STATUS_EXISTS;
        }
    }
    return status;
}

static Status check_used_up(Sql *sql, const StoreAccountChange *change)
{
    StoreLink link = {0};
    Status status = STATUS_OK;
    if (change->link != NULL) {
        status = link_find(sql, change->link, &link);
        if (status == STATUS_OK && link.expires_unix_ms <= change->now_unix_ms) {
            status = STATUS_NOT_FOUND;
        }
    }
    if (change->code != NULL && status == STATUS_OK) {
        status = recovery_find(sql, change->account->account_id, change->code);
    }
    return status;
}

static void write_names(Sql *sql, const StoreAccountChange *change)
{
    if (change->names[0] == NULL && change->names[1] == NULL) {
        return;
    }
    sql_run_with_u64(sql, SQL_NAME_CLEAR, change->account->account_id);
    for (uint32_t i = 0; i < 2; i++) {
        if (change->names[i] != NULL) {
            name_put(sql, change->names[i], change->account->account_id);
        }
    }
}

static void write_codes(Sql *sql, const StoreAccountChange *change)
{
    const uint64_t account = change->account->account_id;
    if (change->code != NULL) {
        run_with_both(sql, SQL_RECOVERY_DELETE, account, change->code);
    }
    if (change->codes == NULL) {
        return;
    }
    sql_run_with_u64(sql, SQL_RECOVERY_CLEAR, account);
    for (uint32_t i = 0; i < STORE_RECOVERY_CODES; i++) {
        SqlRow row = sql_open(sql, SQL_RECOVERY_PUT, TABLE_RECOVERY);
        sql_put_u64(&row, account);
        sql_put_bytes(&row, change->codes[i], STORE_TOKEN_BYTES);
        sql_put_u64(&row, change->now_unix_ms);
        sql_put_checksum(&row);
        (void)sql_run(&row);
    }
}

static void write_sign_ins(Sql *sql, const StoreAccountChange *change)
{
    static const uint8_t none[STORE_TOKEN_BYTES];
    if (change->ends != NULL) {
        run_with_hash(sql, SQL_SIGN_IN_DELETE, change->ends);
    }
    if (change->ends_all) {
        run_with_both(sql, SQL_SIGN_IN_CLEAR, change->account->account_id,
                      change->keeps != NULL ? change->keeps : none);
    }
    if (change->sign_in != NULL) {
        account_write_sign_in(sql, SQL_SIGN_IN_PUT, change->sign_in);
    }
}

static void clear_links(Sql *sql, uint32_t purpose, uint64_t account)
{
    SqlRow clear = sql_open(sql, SQL_LINK_CLEAR, TABLE_NONE);
    sql_put_u64(&clear, purpose);
    sql_put_u64(&clear, account);
    (void)sql_run(&clear);
}

static Status account_change(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreAccountChange *change = user;
    Status status = check_row(sql, change);
    status = status == STATUS_OK ? check_names(sql, change) : status;
    status = status == STATUS_OK ? check_used_up(sql, change) : status;
    status = status == STATUS_OK ? check_identity(sql, change) : status;
    status = status == STATUS_OK ? check_last(sql, change) : status;
    if (status != STATUS_OK) {
        return status;
    }
    account_write(sql, change->account);
    write_names(sql, change);
    write_codes(sql, change);
    write_sign_ins(sql, change);
    write_identity(sql, change);
    if (change->pupil != NULL) {
        class_write_pupil(sql, change->pupil);
    }
    if (change->link != NULL) {
        run_with_hash(sql, SQL_LINK_DELETE, change->link);
    }
    if (change->link_purpose != 0) {
        clear_links(sql, change->link_purpose, 0);
    }
    // A link for a new password is worth nothing once there is one.
    if (change->was != NULL && strcmp(change->was->password, change->account->password) != 0) {
        sql_run_with_u64(sql, SQL_LINK_OF_ACCOUNT, change->account->account_id);
    }
    if (change->was != NULL && strcmp(change->was->shown_name, change->account->shown_name) != 0) {
        listing_renamed(sql, change->account->account_id);
        sql_run_with_u64(sql, SQL_PERSON_CLASS_NAMES_END, change->account->account_id);
    }
    return STATUS_OK;
}

Status store_account_change(Store *store, const StoreAccountChange *change)
{
    StoreAccountChange call = *change;
    return change->account->account_id != 0 ? store_call(store, account_change, &call)
                                            : STATUS_MALFORMED;
}

// --- asking -------------------------------------------------------------------------------------

Status store_name_find(Store *store, const char *folded, uint64_t *account)
{
    store_read_begin(store);
    const Status status = name_find(store->reader, folded, account);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

Status store_identity_find(Store *store, const char *issuer, const char *subject,
                           StoreIdentity *out)
{
    store_read_begin(store);
    const Status status = identity_find(store->reader, issuer, subject, out);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

Status store_identities(Store *store, uint64_t account, StoreIdentity *out, uint32_t max,
                        uint32_t *count)
{
    StoreIdentity found = {0};
    *count = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_IDENTITY_OF, TABLE_NONE);
    sql_put_u64(&row, account);
    while (sql_next(&row)) {
        if (identity_take(&row, &found) && *count < max) {
            out[(*count)++] = found;
        }
    }
    const Status status = sql_status(store->reader);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

Status store_account_count(Store *store, uint32_t roles, uint64_t *count)
{
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_ACCOUNT_OPERATORS, TABLE_NONE);
    sql_put_u64(&row, roles);
    const Status status = open_only(&row);
    if (status == STATUS_OK) {
        *count = sql_take_u64(&row);
        sql_close(&row);
    }
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

Status store_link_find(Store *store, const uint8_t hash[STORE_TOKEN_BYTES], StoreLink *out)
{
    store_read_begin(store);
    const Status status = link_find(store->reader, hash, out);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

Status store_recovery_find(Store *store, uint64_t account, const uint8_t hash[STORE_TOKEN_BYTES])
{
    store_read_begin(store);
    const Status status = recovery_find(store->reader, account, hash);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

// --- links and settings -------------------------------------------------------------------------

typedef struct LinkCall {
    const StoreLink *link;
    bool is_only;
} LinkCall;

static Status link_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const LinkCall *call = user;
    const StoreLink *link = call->link;
    sql_run_with_u64(sql, SQL_LINK_EXPIRE, link->created_unix_ms);
    if (call->is_only) {
        clear_links(sql, link->purpose, link->account_id);
    }
    SqlRow row = sql_open(sql, SQL_LINK_PUT, TABLE_LINKS);
    sql_put_bytes(&row, link->token_hash, sizeof link->token_hash);
    sql_put_u64(&row, link->purpose);
    sql_put_u64(&row, link->account_id);
    sql_put_u64(&row, link->roles);
    sql_put_u64(&row, link->maker_id);
    sql_put_u64(&row, link->created_unix_ms);
    sql_put_u64(&row, link->expires_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_link_put(Store *store, const StoreLink *link, bool is_only)
{
    LinkCall call = {link, is_only};
    return store_call(store, link_put, &call);
}
