// See sql.h. Floats are kept in columns of the type ANY: SQLite writes a whole number in a column
// of the type REAL as an integer, and forgets the sign of zero with that.
#define _GNU_SOURCE
#include "server/store/sql.h"

#include "core/base/check.h"

#include <string.h>

#include <float.h>
#include <stdio.h>

#define BUSY_MS 2000

static const char *const texts[SQL_COUNT] = {
#define SQL(name, text) [SQL_##name] = text,
#include "server/store/store_sql.def"
#undef SQL
};

static void fail(Sql *sql, int code)
{
    if (sql->error == SQLITE_OK) {
        sql->error = code;
    }
}

static int on_commit(void *user, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    ((Sql *)user)->wal_pages = pages;
    return SQLITE_OK;
}

// --- connections --------------------------------------------------------------------------------

Status sql_connect(Sql *sql, const char *path, char *reason, size_t reason_bytes)
{
    *sql = (Sql){0};
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    fail(sql, sqlite3_open_v2(path, &sql->db, flags, NULL));
    if (sql->error == SQLITE_OK) {
        sqlite3_busy_timeout(sql->db, BUSY_MS);
        (void)sqlite3_db_config(sql->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        (void)sqlite3_db_config(sql->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        // Checkpoints are the owner's: see store_sqlite.c.
        (void)sqlite3_wal_hook(sql->db, on_commit, sql);
        sql_exec(sql, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                      "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON;"
                      "PRAGMA cache_size = -16384");
    }
    if (sql->error != SQLITE_OK) {
        const Status status = sql_status(sql);
        snprintf(reason, reason_bytes, "the database cannot be opened: %s",
                 sql->db != NULL ? sqlite3_errmsg(sql->db) : sqlite3_errstr(sql->error));
        sql_abandon(sql);
        return status;
    }
    return STATUS_OK;
}

void sql_abandon(Sql *sql)
{
    if (sql->db != NULL) {
        (void)sqlite3_db_config(sql->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
    sql_disconnect(sql);
}

void sql_disconnect(Sql *sql)
{
    for (int i = 0; i < SQL_COUNT; i++) {
        (void)sqlite3_finalize(sql->statements[i]);
        sql->statements[i] = NULL;
    }
    const int code = sqlite3_close(sql->db);
    ASSERT(code == SQLITE_OK); // else a statement is still open
    sql->db = NULL;
}

bool sql_prepare(Sql *sql)
{
    for (int i = 0; i < SQL_COUNT && sql->error == SQLITE_OK; i++) {
        if (sql->statements[i] == NULL) {
            fail(sql, sqlite3_prepare_v3(sql->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                         &sql->statements[i], NULL));
        }
    }
    return sql->error == SQLITE_OK;
}

void sql_clear(Sql *sql)
{
    sql->error = SQLITE_OK;
}

void sql_exec(Sql *sql, const char *text)
{
    if (sql->error == SQLITE_OK) {
        fail(sql, sqlite3_exec(sql->db, text, NULL, NULL, NULL));
    }
}

int64_t sql_number(Sql *sql, const char *text)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = 0;
    if (sql->error == SQLITE_OK) {
        fail(sql, sqlite3_prepare_v2(sql->db, text, -1, &statement, NULL));
    }
    if (sql->error == SQLITE_OK) {
        const int code = sqlite3_step(statement);
        if (code == SQLITE_ROW) {
            number = sqlite3_column_int64(statement, 0);
        } else if (code != SQLITE_DONE) {
            fail(sql, code);
        }
    }
    (void)sqlite3_finalize(statement);
    return number;
}

Status sql_status(const Sql *sql)
{
    switch (sql->error & 0xff) {
    case SQLITE_OK:
        return STATUS_OK;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return STATUS_MALFORMED;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT:
        return STATUS_BLOCKED;
    default:
        return STATUS_RANGE;
    }
}

// --- putting ------------------------------------------------------------------------------------

SqlRow sql_open(Sql *sql, SqlName name, SqlTable table)
{
    SqlRow row = {.sql = sql, .hash = HASH64_INIT, .ok = true};
    hash_u64(&row.hash, (uint64_t)table);
    if (sql->error == SQLITE_OK && sql->statements[name] == NULL) {
        fail(sql, sqlite3_prepare_v3(sql->db, texts[name], -1, SQLITE_PREPARE_PERSISTENT,
                                     &sql->statements[name], NULL));
    }
    row.statement = sql->error == SQLITE_OK ? sql->statements[name] : NULL;
    return row;
}

static void bound(SqlRow *row, int code)
{
    if (code != SQLITE_OK) {
        fail(row->sql, code);
    }
}

static int64_t as_signed(uint64_t value)
{
    int64_t result;
    memcpy(&result, &value, sizeof result);
    return result;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

void sql_put_u64(SqlRow *row, uint64_t value)
{
    hash_u64(&row->hash, value);
    if (row->statement != NULL) {
        bound(row, sqlite3_bind_int64(row->statement, ++row->at, as_signed(value)));
    }
}

void sql_put_f32(SqlRow *row, float value)
{
    hash_u64(&row->hash, double_bits((double)value));
    if (row->statement != NULL) {
        bound(row, sqlite3_bind_double(row->statement, ++row->at, (double)value));
    }
}

// A NULL pointer would become a null.
void sql_put_text(SqlRow *row, const char *text, size_t bytes)
{
    hash_bytes(&row->hash, text, bytes);
    if (row->statement != NULL) {
        bound(row, sqlite3_bind_text64(row->statement, ++row->at, bytes > 0 ? text : "", bytes,
                                       SQLITE_STATIC, SQLITE_UTF8));
    }
}

void sql_put_string(SqlRow *row, const char *text)
{
    sql_put_text(row, text, strlen(text));
}

void sql_put_blob(SqlRow *row, const void *data, size_t bytes)
{
    hash_bytes(&row->hash, data, bytes);
    if (row->statement != NULL) {
        bound(row, sqlite3_bind_blob64(row->statement, ++row->at, bytes > 0 ? data : "", bytes,
                                       SQLITE_STATIC));
    }
}

#define NULL_MARK 0x6e756c6cull

void sql_put_null(SqlRow *row)
{
    hash_u64(&row->hash, NULL_MARK);
    if (row->statement != NULL) {
        bound(row, sqlite3_bind_null(row->statement, ++row->at));
    }
}

Hash64 sql_checksum_begin(SqlTable table)
{
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, (uint64_t)table);
    return hash;
}

void sql_put_checksum(SqlRow *row)
{
    const uint64_t checksum = row->hash.state;
    sql_put_u64(row, checksum);
}

bool sql_run(SqlRow *row)
{
    bool changed = false;
    if (row->statement != NULL) {
        if (row->sql->error == SQLITE_OK) {
            const int code = sqlite3_step(row->statement);
            if (code != SQLITE_DONE) {
                fail(row->sql, code == SQLITE_ROW ? SQLITE_MISUSE : code);
            }
            changed = code == SQLITE_DONE && sqlite3_changes(row->sql->db) > 0;
        }
        sql_close(row);
    }
    return changed;
}

// --- taking -------------------------------------------------------------------------------------

bool sql_next(SqlRow *row)
{
    if (row->statement == NULL) {
        return false;
    }
    const int code = row->sql->error == SQLITE_OK ? sqlite3_step(row->statement) : SQLITE_DONE;
    if (code != SQLITE_ROW) {
        if (code != SQLITE_DONE) {
            fail(row->sql, code);
        }
        sql_close(row);
        return false;
    }
    row->at = 0;
    row->ok = true;
    return true;
}

void sql_close(SqlRow *row)
{
    if (row->statement != NULL) {
        (void)sqlite3_reset(row->statement);
        (void)sqlite3_clear_bindings(row->statement);
        row->statement = NULL;
    }
}

void sql_take_table(SqlRow *row, SqlTable table)
{
    row->hash = HASH64_INIT;
    row->ok = true;
    hash_u64(&row->hash, (uint64_t)table);
}

static bool column_is(SqlRow *row, int type)
{
    ASSERT(row->statement != NULL);
    if (sqlite3_column_type(row->statement, row->at) != type) {
        row->ok = false;
        row->at += 1;
        return false;
    }
    return true;
}

uint64_t sql_take_u64(SqlRow *row)
{
    if (!column_is(row, SQLITE_INTEGER)) {
        return 0;
    }
    const uint64_t value = (uint64_t)sqlite3_column_int64(row->statement, row->at++);
    hash_u64(&row->hash, value);
    return value;
}

float sql_take_f32(SqlRow *row)
{
    if (!column_is(row, SQLITE_FLOAT)) {
        return 0;
    }
    const double value = sqlite3_column_double(row->statement, row->at++);
    hash_u64(&row->hash, double_bits(value));
    if (!(value >= -(double)FLT_MAX && value <= (double)FLT_MAX)) {
        row->ok = false;
        return 0;
    }
    return (float)value;
}

static const void *take_data(SqlRow *row, const void *data, size_t bytes_max, size_t *bytes)
{
    const int count = sqlite3_column_bytes(row->statement, row->at++);
    if (count < 0 || (size_t)count > bytes_max || (count > 0 && data == NULL)) {
        row->ok = false;
        *bytes = 0;
        return "";
    }
    hash_bytes(&row->hash, data, (size_t)count);
    *bytes = (size_t)count;
    return count > 0 ? data : "";
}

const char *sql_take_text(SqlRow *row, size_t bytes_max, size_t *bytes)
{
    *bytes = 0;
    if (!column_is(row, SQLITE_TEXT)) {
        return "";
    }
    return take_data(row, sqlite3_column_text(row->statement, row->at), bytes_max, bytes);
}

const uint8_t *sql_take_blob(SqlRow *row, size_t bytes_max, size_t *bytes)
{
    *bytes = 0;
    if (!column_is(row, SQLITE_BLOB)) {
        return (const uint8_t *)"";
    }
    return take_data(row, sqlite3_column_blob(row->statement, row->at), bytes_max, bytes);
}

bool sql_take_null(SqlRow *row)
{
    ASSERT(row->statement != NULL);
    if (sqlite3_column_type(row->statement, row->at) != SQLITE_NULL) {
        return false;
    }
    row->at += 1;
    hash_u64(&row->hash, NULL_MARK);
    return true;
}

bool sql_take_checksum(SqlRow *row)
{
    const uint64_t expected = row->hash.state;
    const uint64_t stored = sql_take_u64(row);
    return row->ok && stored == expected;
}
