// SQLite as an engine: see sql_driver.h. One file with a write-ahead log; every commit is synced.
#define _GNU_SOURCE
#include "server/store/sql/sql_driver.h"

#include "core/base/check.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

#define BUSY_MS 2000

static SqlError error_of(sqlite3 *db, int code)
{
    const int problem = db != NULL ? sqlite3_system_errno(db) : 0;
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return SQL_NO_ERROR;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return SQL_ERROR_DAMAGED;
    case SQLITE_FULL:
        return SQL_ERROR_FULL;
    case SQLITE_READONLY:
        return SQL_ERROR_READ_ONLY;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return problem == ENOSPC || problem == EDQUOT || problem == EFBIG ? SQL_ERROR_FULL
               : problem == EROFS                                         ? SQL_ERROR_READ_ONLY
                                                                          : SQL_ERROR_DISK;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_NOMEM:
    case SQLITE_PROTOCOL:
    case SQLITE_ABORT:
    case SQLITE_INTERRUPT:
        return SQL_ERROR_DISK;
    default:
        return SQL_ERROR_MISFIT;
    }
}

static int on_commit(void *user, sqlite3 *db, const char *name, int pages)
{
    (void)db;
    (void)name;
    ((Sql *)user)->log_pages = pages > 0 ? (uint32_t)pages : 0;
    return SQLITE_OK;
}

// The checksum of a row of that table, for migrations: row_checksum(number, column, …).
static void row_checksum(sqlite3_context *context, int count, sqlite3_value **values)
{
    Hash64 hash = sql_checksum_begin((SqlTable)sqlite3_value_int(values[0]));
    for (int i = 1; i < count; i++) {
        if (sqlite3_value_type(values[i]) == SQLITE_INTEGER) {
            hash_u64(&hash, (uint64_t)sqlite3_value_int64(values[i]));
        } else {
            const void *bytes = sqlite3_value_blob(values[i]);
            hash_bytes(&hash, bytes, (size_t)sqlite3_value_bytes(values[i]));
        }
    }
    sqlite3_result_int64(context, (sqlite3_int64)hash.state);
}

static SqlError exec(Sql *sql, const char *text)
{
    return error_of(sql->connection, sqlite3_exec(sql->connection, text, NULL, NULL, NULL));
}

static SqlError open_file(Sql *sql, const char *path)
{
    sqlite3 *db = NULL;
    // Without it SQLite takes a lock for each block of memory, to count them, which nobody asks
    // for. Refused once SQLite is in use, which changes nothing.
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(path, &db, flags, NULL);
    sql->connection = db;
    if (code != SQLITE_OK) {
        return error_of(db, code);
    }
    sqlite3_busy_timeout(db, BUSY_MS);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    // The log is written back by the owner alone: see store_open.c.
    (void)sqlite3_wal_hook(db, on_commit, sql);
    code = sqlite3_create_function(db, "row_checksum", -1,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                   row_checksum, NULL, NULL);
    if (code != SQLITE_OK) {
        return error_of(db, code);
    }
    return exec(sql, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                     "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON;"
                     "PRAGMA cache_size = -16384");
}

static void close_file(Sql *sql, bool keep_log)
{
    if (sql->connection != NULL && keep_log) {
        (void)sqlite3_db_config(sql->connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
    const int code = sqlite3_close(sql->connection);
    ASSERT(code == SQLITE_OK); // else a statement is still open
    sql->connection = NULL;
}

static SqlError prepare(Sql *sql, const char *text, const char *types, SqlName name,
                        void **statement)
{
    (void)types;
    (void)name;
    sqlite3_stmt *made = NULL;
    const int code =
        sqlite3_prepare_v3(sql->connection, text, -1, SQLITE_PREPARE_PERSISTENT, &made, NULL);
    *statement = made;
    return error_of(sql->connection, code);
}

static void finalize(void *statement)
{
    (void)sqlite3_finalize(statement);
}

static SqlError bound(int code)
{
    return error_of(NULL, code);
}

static SqlError bind_integer(void *statement, int at, int64_t value)
{
    return bound(sqlite3_bind_int64(statement, at, value));
}

static SqlError bind_float(void *statement, int at, double value)
{
    return bound(sqlite3_bind_double(statement, at, value));
}

// A NULL pointer would become a null.
static SqlError bind_bytes(void *statement, int at, const void *data, size_t bytes)
{
    return bound(sqlite3_bind_blob64(statement, at, bytes > 0 ? data : "", bytes, SQLITE_STATIC));
}

static SqlError bind_null(void *statement, int at)
{
    return bound(sqlite3_bind_null(statement, at));
}

static SqlError step(Sql *sql, void *statement, bool *is_row)
{
    const int code = sqlite3_step(statement);
    *is_row = code == SQLITE_ROW;
    return error_of(sql->connection, code);
}

static bool has_changed(Sql *sql)
{
    return sqlite3_changes(sql->connection) > 0;
}

static void reset(void *statement)
{
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
}

static SqlType column_type(void *statement, int at)
{
    switch (sqlite3_column_type(statement, at)) {
    case SQLITE_NULL:
        return SQL_NULL;
    case SQLITE_INTEGER:
        return SQL_INTEGER;
    case SQLITE_FLOAT:
        return SQL_FLOAT;
    case SQLITE_BLOB:
        return SQL_BYTES;
    default:
        return SQL_OTHER;
    }
}

static int64_t column_integer(void *statement, int at)
{
    return sqlite3_column_int64(statement, at);
}

static double column_float(void *statement, int at)
{
    return sqlite3_column_double(statement, at);
}

static const void *column_bytes(void *statement, int at, size_t *bytes)
{
    const void *data = sqlite3_column_blob(statement, at); // of a text too
    const int count = sqlite3_column_bytes(statement, at);
    *bytes = count > 0 ? (size_t)count : 0;
    return data;
}

static const char *error_text(const Sql *sql)
{
    return sql->connection != NULL ? sqlite3_errmsg(sql->connection) : "out of memory";
}

static bool in_transaction(const Sql *sql)
{
    return sqlite3_get_autocommit(sql->connection) == 0;
}

static uint64_t change_count(const Sql *sql)
{
    return (uint64_t)sqlite3_total_changes64(sql->connection);
}

static bool empty_log(Sql *sql)
{
    const int code =
        sqlite3_wal_checkpoint_v2(sql->connection, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    return code == SQLITE_OK;
}

const SqlDriver sql_driver_sqlite = {
    .dialect = &sql_dialect_sqlite,
    .open = open_file,
    .close = close_file,
    .exec = exec,
    .prepare = prepare,
    .finalize = finalize,
    .bind_integer = bind_integer,
    .bind_float = bind_float,
    .bind_bytes = bind_bytes,
    .bind_null = bind_null,
    .step = step,
    .has_changed = has_changed,
    .reset = reset,
    .column_type = column_type,
    .column_integer = column_integer,
    .column_float = column_float,
    .column_bytes = column_bytes,
    .error_text = error_text,
    .in_transaction = in_transaction,
    .change_count = change_count,
    .empty_log = empty_log,
};
