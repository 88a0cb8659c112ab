// See store_account.h.
#define _GNU_SOURCE
#include "server/store/people/store_account.h"

#include "core/base/check.h"
#include "server/store/store_inside.h"

#include <string.h>

// --- rows ---------------------------------------------------------------------------------------

// Names are ASCII: no other letters have two cases here.
static void name_key(const char *name, char out[STORE_NAME_BYTES])
{
    size_t at = 0;
    for (; name[at] != '\0' && at + 1 < STORE_NAME_BYTES; at++) {
        out[at] = name[at] >= 'A' && name[at] <= 'Z' ? (char)(name[at] + ('a' - 'A')) : name[at];
    }
    out[at] = '\0';
}

static bool take_account(SqlRow *row, StoreAccount *out)
{
    char key[STORE_NAME_BYTES];
    StoreAccount account;
    memset(&account, 0, sizeof account);
    sql_take_table(row, TABLE_ACCOUNTS);
    account.account_id = sql_take_u64(row);
    world_take_string(row, account.name, sizeof account.name);
    world_take_string(row, key, sizeof key);
    world_take_string(row, account.shown_name, sizeof account.shown_name);
    account.roles = (uint32_t)sql_take_u64(row);
    world_take_string(row, account.password, sizeof account.password);
    account.created_unix_ms = sql_take_u64(row);
    account.seen_unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row)) {
        return false;
    }
    *out = account;
    return true;
}

static bool take_sign_in(SqlRow *row, StoreSignIn *out)
{
    StoreSignIn sign_in;
    size_t bytes = 0;
    memset(&sign_in, 0, sizeof sign_in);
    sql_take_table(row, TABLE_SIGN_INS);
    const uint8_t *hash = sql_take_bytes(row, sizeof sign_in.token_hash, &bytes);
    memcpy(sign_in.token_hash, hash, bytes);
    sign_in.account_id = sql_take_u64(row);
    sign_in.kind = (uint32_t)sql_take_u64(row);
    sign_in.scope = (uint32_t)sql_take_u64(row);
    world_take_string(row, sign_in.name, sizeof sign_in.name);
    sign_in.created_unix_ms = sql_take_u64(row);
    sign_in.used_unix_ms = sql_take_u64(row);
    sign_in.expires_unix_ms = sql_take_u64(row);
    if (!sql_take_checksum(row) || bytes != sizeof sign_in.token_hash) {
        return false;
    }
    *out = sign_in;
    return true;
}

void account_write(Sql *sql, const StoreAccount *account)
{
    char key[STORE_NAME_BYTES];
    ASSERT(account->account_id != 0); // 0 is nobody
    name_key(account->name, key);
    SqlRow row = sql_open(sql, SQL_ACCOUNT_PUT, TABLE_ACCOUNTS);
    sql_put_u64(&row, account->account_id);
    sql_put_string(&row, account->name);
    sql_put_string(&row, key);
    sql_put_string(&row, account->shown_name);
    sql_put_u64(&row, account->roles);
    sql_put_string(&row, account->password);
    sql_put_u64(&row, account->created_unix_ms);
    sql_put_u64(&row, account->seen_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// By SQL_SIGN_IN_PUT or SQL_SIGN_IN_USED.
void account_write_sign_in(Sql *sql, SqlName name, const StoreSignIn *sign_in)
{
    ASSERT(sign_in->account_id != 0); // whoever has the token would be nobody
    SqlRow row = sql_open(sql, name, TABLE_SIGN_INS);
    sql_put_bytes(&row, sign_in->token_hash, sizeof sign_in->token_hash);
    sql_put_u64(&row, sign_in->account_id);
    sql_put_u64(&row, sign_in->kind);
    sql_put_u64(&row, sign_in->scope);
    sql_put_string(&row, sign_in->name);
    sql_put_u64(&row, sign_in->created_unix_ms);
    sql_put_u64(&row, sign_in->used_unix_ms);
    sql_put_u64(&row, sign_in->expires_unix_ms);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

// The row's parameters are there. STATUS_NOT_FOUND; STATUS_MALFORMED: damaged.
static Status take_only_account(SqlRow *row, StoreAccount *out)
{
    Status status = STATUS_NOT_FOUND;
    if (sql_next(row)) {
        status = take_account(row, out) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(row);
    }
    return sql_status(row->sql) != STATUS_OK ? sql_status(row->sql) : status;
}

Status account_by_name(Sql *sql, const char *name, StoreAccount *out)
{
    char key[STORE_NAME_BYTES];
    name_key(name, key);
    SqlRow row = sql_open(sql, SQL_ACCOUNT_BY_NAME, TABLE_NONE);
    sql_put_string(&row, key);
    return take_only_account(&row, out);
}

// --- accounts -----------------------------------------------------------------------------------

typedef struct AccountCall {
    const StoreAccount *account;
    const StoreSignIn *sign_in;
} AccountCall;

static Status account_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const AccountCall *call = user;
    StoreAccount other;
    if (call->account->name[0] != '\0') {
        const Status status = account_by_name(sql, call->account->name, &other);
        if (status == STATUS_OK && other.account_id != call->account->account_id) {
            return STATUS_EXISTS;
        }
        if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
            return status;
        }
    }
    const uint32_t notes = sql->note_count;
    account_write(sql, call->account);
    if (call->sign_in != NULL) {
        sql->note_count = notes; // it is new: nobody has it in memory
        account_write_sign_in(sql, SQL_SIGN_IN_PUT, call->sign_in);
    }
    return STATUS_OK;
}

Status store_account_put(Store *store, const StoreAccount *account, const StoreSignIn *sign_in)
{
    AccountCall call = {account, sign_in};
    return account->account_id != 0 ? store_call(store, account_put, &call) : STATUS_MALFORMED;
}

Status account_by_id(Sql *sql, uint64_t account_id, StoreAccount *out)
{
    SqlRow row = sql_open(sql, SQL_ACCOUNT_FIND, TABLE_NONE);
    sql_put_u64(&row, account_id);
    return take_only_account(&row, out);
}

Status store_account_find(Store *store, uint64_t account_id, StoreAccount *out)
{
    if (account_id == 0) {
        return STATUS_NOT_FOUND;
    }
    store_read_begin(store);
    const Status status = account_by_id(store->reader, account_id, out);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

Status store_account_by_name(Store *store, const char *name, StoreAccount *out)
{
    if (name[0] == '\0' || strlen(name) >= STORE_NAME_BYTES) {
        return STATUS_NOT_FOUND;
    }
    store_read_begin(store);
    const Status status = account_by_name(store->reader, name, out);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

Status store_accounts(Store *store, const char *after, StoreAccount *out, uint32_t max,
                      uint32_t *count)
{
    char key[STORE_NAME_BYTES];
    uint64_t damaged = 0;
    *count = 0;
    name_key(after, key);
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_ACCOUNT_LIST, TABLE_NONE);
    sql_put_string(&row, key);
    sql_put_u64(&row, max);
    while (*count < max && sql_next(&row)) {
        if (take_account(&row, &out[*count])) {
            *count += 1;
        } else {
            damaged += 1;
        }
    }
    sql_close(&row);
    return store_read_end(store, STATUS_OK, damaged);
}

// --- sign-ins -----------------------------------------------------------------------------------

typedef struct SignInCall {
    SqlName name;
    const StoreSignIn *sign_ins;
    const uint8_t (*hashes)[STORE_TOKEN_BYTES];
    uint32_t count;
    uint64_t now;
} SignInCall;

static Status sign_in_put(Store *store, Sql *sql, void *user)
{
    (void)store;
    const SignInCall *call = user;
    for (uint32_t i = 0; i < call->count; i++) {
        account_write_sign_in(sql, call->name, &call->sign_ins[i]);
    }
    return STATUS_OK;
}

Status store_sign_in_put(Store *store, const StoreSignIn *sign_ins, uint32_t count)
{
    SignInCall call = {.name = SQL_SIGN_IN_PUT, .sign_ins = sign_ins, .count = count};
    return store_call(store, sign_in_put, &call);
}

Status store_sign_in_used(Store *store, const StoreSignIn *sign_ins, uint32_t count)
{
    SignInCall call = {.name = SQL_SIGN_IN_USED, .sign_ins = sign_ins, .count = count};
    return store_call(store, sign_in_put, &call);
}

static Status sign_in_delete(Store *store, Sql *sql, void *user)
{
    (void)store;
    const SignInCall *call = user;
    for (uint32_t i = 0; i < call->count; i++) {
        SqlRow row = sql_open(sql, SQL_SIGN_IN_DELETE, TABLE_NONE);
        sql_put_bytes(&row, call->hashes[i], STORE_TOKEN_BYTES);
        (void)sql_run(&row);
    }
    return STATUS_OK;
}

Status store_sign_in_delete(Store *store, const uint8_t (*hashes)[STORE_TOKEN_BYTES],
                            uint32_t count)
{
    SignInCall call = {.hashes = hashes, .count = count};
    return store_call(store, sign_in_delete, &call);
}

static Status sign_in_expire(Store *store, Sql *sql, void *user)
{
    (void)store;
    const SignInCall *call = user;
    SqlRow row = sql_open(sql, SQL_SIGN_IN_EXPIRE, TABLE_NONE);
    sql_put_u64(&row, call->now);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_sign_in_expire(Store *store, uint64_t now_unix_ms)
{
    SignInCall call = {.now = now_unix_ms};
    return store_call(store, sign_in_expire, &call);
}

Status store_sign_ins(Store *store, uint64_t now_unix_ms, StoreSignInSink sink, void *user)
{
    uint64_t damaged = 0;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_SIGN_IN_ALL, TABLE_NONE);
    sql_put_u64(&row, now_unix_ms);
    while (sql_next(&row)) {
        StoreSignIn sign_in;
        StoreAccount account;
        if (take_sign_in(&row, &sign_in) && take_account(&row, &account)) {
            sink(user, &sign_in, &account);
        } else {
            damaged += 1; // whoever it was signs in again
        }
    }
    return store_read_end(store, STATUS_OK, damaged);
}

Status store_sign_in_find(Store *store, const uint8_t hash[STORE_TOKEN_BYTES], StoreSignIn *sign_in,
                          StoreAccount *account)
{
    Status status = STATUS_NOT_FOUND;
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, SQL_SIGN_IN_FIND, TABLE_NONE);
    sql_put_bytes(&row, hash, STORE_TOKEN_BYTES);
    if (sql_next(&row)) {
        const bool is_whole = take_sign_in(&row, sign_in) && take_account(&row, account);
        status = is_whole ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return store_read_end(store, status, 0);
}
