// A connection to SQLite with its statements, and rows that carry a checksum. Whatever is put into
// a row or taken from one is hashed on the way, together with the number of its table; the last
// column is that hash. So a row that reads back is one that was written, or it is told apart.
//
// Errors stick: after the first one every call does nothing until sql_clear, and the caller looks
// once at the end. A connection belongs to one thread at a time.
#pragma once

#include "core/base/hash.h"
#include "core/base/status.h"

#include <sqlite3.h>
#include <stdbool.h>

typedef enum SqlName {
#define SQL(name, text) SQL_##name,
#include "server/store/store_sql.def"
#undef SQL
    SQL_COUNT
} SqlName;

// Part of every checksum: never renumbered.
typedef enum SqlTable {
    TABLE_NONE = 0,
    TABLE_WORLDS = 1,
    TABLE_HEAD = 3,
    TABLE_META = 4,
    TABLE_STRUCTURES = 5,
    TABLE_CHUNKS = 6,
    TABLE_ATTRIBUTES = 7,
    TABLE_CHECKPOINTS = 8,
    TABLE_PRESENCE = 9,
    TABLE_PROFILES = 10,
    TABLE_ACTIVE = 11,
    TABLE_RESUMES = 12,
    TABLE_DATA = 13,
    TABLE_DATA_USE = 14,
    TABLE_DATA_VERSIONS = 15,
    TABLE_BLOBS = 16,
    TABLE_HOSTS = 17,
    TABLE_LEASES = 18
} SqlTable;

typedef struct Sql {
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT];
    int error;     // the first of SQLite's codes since sql_clear; SQLITE_OK
    int wal_pages; // after the last commit
} Sql;

// STATUS_BLOCKED or STATUS_MALFORMED with a reason.
MUST_USE Status sql_connect(Sql *sql, const char *path, char *reason, size_t reason_bytes);
void sql_disconnect(Sql *sql);
void sql_abandon(Sql *sql); // the same, and leaves log and file as they are
// Prepares every statement: false if the schema is not ours.
bool sql_prepare(Sql *sql);
void sql_clear(Sql *sql);
// The whole text, without results.
void sql_exec(Sql *sql, const char *text);
// The first column of the first row.
int64_t sql_number(Sql *sql, const char *text);
// STATUS_BLOCKED: the disk refuses. STATUS_MALFORMED: the file is damaged. STATUS_RANGE: a
// statement does not fit the tables.
Status sql_status(const Sql *sql);

// --- one statement ------------------------------------------------------------------------------
typedef struct SqlRow {
    Sql *sql;
    sqlite3_stmt *statement;
    int at; // the next parameter or column
    Hash64 hash;
    bool ok; // every column taken had its type and size
} SqlRow;

SqlRow sql_open(Sql *sql, SqlName name, SqlTable table);
// Parameters, in order; the bytes must stay until sql_run or the last sql_next.
void sql_put_u64(SqlRow *row, uint64_t value);
void sql_put_f32(SqlRow *row, float value);
void sql_put_text(SqlRow *row, const char *text, size_t bytes);
void sql_put_string(SqlRow *row, const char *text); // up to its terminator
void sql_put_blob(SqlRow *row, const void *data, size_t bytes);
void sql_put_null(SqlRow *row);
void sql_put_checksum(SqlRow *row);
// For a checksum without a row.
Hash64 sql_checksum_begin(SqlTable table);
// Runs a statement without results; true if it changed a row.
bool sql_run(SqlRow *row);
// True: there is a row, and its columns can be taken. What they point to is valid until the next
// call.
bool sql_next(SqlRow *row);
void sql_close(SqlRow *row); // before sql_next said false

void sql_take_table(SqlRow *row, SqlTable table); // a new checksum begins with the next column
uint64_t sql_take_u64(SqlRow *row);
float sql_take_f32(SqlRow *row);
const char *sql_take_text(SqlRow *row, size_t bytes_max, size_t *bytes);
const uint8_t *sql_take_blob(SqlRow *row, size_t bytes_max, size_t *bytes);
bool sql_take_null(SqlRow *row); // takes the column only if it is null
// The checksum: true if everything since sql_take_table is what was written.
bool sql_take_checksum(SqlRow *row);
