// A connection to a database engine with its statements, and rows that carry a checksum. Whatever
// is put into a row or taken from one is hashed on the way, together with the number of its table;
// the last column is that hash. So a row that reads back is one that was written, or it is told
// apart.
//
// The statements are those of statement.def, the tables those of schema.def; what an engine does is
// in its driver (sql_driver.h), which nothing but sql.c and store_move.c calls.
//
// Errors stick: after the first one every call does nothing until sql_clear, and the caller looks
// once at the end. A connection belongs to one thread at a time.
#pragma once

#include "core/base/hash.h"
#include "core/base/status.h"

#include <stdbool.h>

typedef enum SqlName {
#define PUT(name, table)             SQL_##name,
#define STATEMENT(name, types, text) SQL_##name,
#include "server/store/statement.def"
#undef PUT
#undef STATEMENT
    SQL_COUNT
} SqlName;

// Part of every checksum.
typedef enum SqlTable {
    TABLE_NONE = 0,
#define TABLE(enumerator, number, name, key, columns) TABLE_##enumerator = (number),
#define INDEX(name, text)
#include "server/store/schema.def"
#undef TABLE
#undef INDEX
} SqlTable;

typedef enum SqlError {
    SQL_NO_ERROR,
    SQL_ERROR_FULL,       // the disk is full
    SQL_ERROR_READ_ONLY,  // it is read-only
    SQL_ERROR_DISK,       // it fails, or the engine is busy or out of memory
    SQL_ERROR_UNKNOWN,    // the answer to a COMMIT was lost: see sql_resolve
    SQL_ERROR_NOT_RAISED, // an optimistic sql_raise_heads missed: the transaction is undone
    SQL_ERROR_DAMAGED,    // what is stored is not what was written
    SQL_ERROR_MISFIT      // a statement does not fit the tables
} SqlError;

#define SQL_TYPES_BYTES 32

// What begins and ends transactions.
typedef enum SqlControl {
    SQL_BEGIN,
    SQL_BEGIN_READ,
    SQL_COMMIT,
    SQL_SAVEPOINT,
    SQL_SAVEPOINT_UNDO,
    SQL_SAVEPOINT_END,
    SQL_CONTROL_COUNT
} SqlControl;

// What a transaction has changed that other processes keep in memory (store_event.h).
#define SQL_NOTES_MAX     32
#define SQL_SUBJECT_BYTES 160
typedef struct SqlNote {
    uint32_t kind, bytes;
    uint8_t subject[SQL_SUBJECT_BYTES];
} SqlNote;

typedef struct SqlDriver SqlDriver;
typedef struct Sql {
    const SqlDriver *driver;
    void *connection;
    void *statements[SQL_COUNT];
    char types[SQL_COUNT][SQL_TYPES_BYTES]; // of their parameters
    void *controls[SQL_CONTROL_COUNT];
    SqlError error;     // the first one since sql_clear
    uint32_t log_pages; // of the write-ahead log, after the last commit
    // For whoever writes rows that follow others: the time of the transaction, and whether it
    // changes what the listing shows.
    uint64_t unix_ms;
    bool touches_listing;
    // A statement that changed something is noted with its first parameter if it has a kind here.
    const uint8_t *note_kinds; // by SqlName; 0: it is not noted; NULL: none is
    SqlNote notes[SQL_NOTES_MAX];
    uint32_t note_count;
} Sql;

// A URL of a PostgreSQL server; everything else is a file, or ":memory:", of SQLite.
bool sql_is_url(const char *path);
// STATUS_BLOCKED or STATUS_MALFORMED with a reason.
MUST_USE Status sql_connect(Sql *sql, const char *path, char *reason, size_t reason_bytes);
void sql_disconnect(Sql *sql);
void sql_abandon(Sql *sql); // the same, and leaves log and file as they are
// Prepares every statement: false if the schema is not ours.
bool sql_prepare(Sql *sql);
void sql_clear(Sql *sql);
void sql_fail(Sql *sql, SqlError error); // unless there is an error already
// The whole text, without results.
void sql_exec(Sql *sql, const char *text);
// The first column of the first row; a text only if it fits.
int64_t sql_number(Sql *sql, const char *text);
bool sql_text(Sql *sql, const char *text, char *out, size_t out_bytes);
// STATUS_BLOCKED: the disk refuses. STATUS_MALFORMED: the file is damaged. STATUS_RANGE: a
// statement does not fit the tables.
Status sql_status(const Sql *sql);
const char *sql_error_text(const Sql *sql); // what the engine says of its last error

// --- transactions -------------------------------------------------------------------------------
void sql_begin(Sql *sql);      // one that writes
void sql_begin_read(Sql *sql); // one that only reads
void sql_commit(Sql *sql);
void sql_roll_back(Sql *sql); // also after an error, and if the engine has done so itself
bool sql_in_transaction(const Sql *sql);
void sql_savepoint(Sql *sql);
void sql_savepoint_undo(Sql *sql); // everything since; the savepoint stays
void sql_savepoint_end(Sql *sql);
uint64_t sql_change_count(const Sql *sql); // rows changed since the connection was made
// Of a transaction whose COMMIT had no answer. It can be asked again while that is not known.
typedef enum SqlOutcome {
    SQL_OUTCOME_UNKNOWN,
    SQL_OUTCOME_STORED,
    SQL_OUTCOME_NOT_STORED
} SqlOutcome;
SqlOutcome sql_resolve(Sql *sql);
// Some engines send statements later; this finds out what became of those.
void sql_settle(Sql *sql);
// On an engine with several writers: until the end of the transaction nobody else writes anything
// but rows of worlds, or DataStores of the places of those worlds. SQLite has one writer anyway.
void sql_lock_all(Sql *sql);
void sql_lock_places(Sql *sql, const char *const *world_ids, uint32_t count);
// Or the heads of those worlds, in the order of their ids: two who take several worlds at the same
// time, in different orders, would wait for each other.
void sql_lock_worlds(Sql *sql, const char *const *world_ids, uint32_t count);
// The fence of many worlds in one statement, while the row of the host that holds them is valid.
typedef struct SqlHolder {
    const char *host_id;
    const uint8_t *boot;
    size_t boot_bytes;
    uint64_t now;
} SqlHolder;
typedef struct SqlHeadRaise {
    const char *world_id;
    uint64_t epoch, old_seq, old_checksum, seq, checksum;
    bool is_raised;
} SqlHeadRaise;
bool sql_raises_heads(const Sql *sql); // false: the engine has no such statement
// Optimistic: all of them count as raised before the server has answered, and if one was not, the
// transaction fails with SQL_ERROR_NOT_RAISED. Such a transaction can be one round trip.
void sql_raise_heads(Sql *sql, const SqlHolder *holder, SqlHeadRaise *raises, uint32_t count,
                     bool is_optimistic);
// Writes the log back into the file and empties it; nobody reads meanwhile.
MUST_USE bool sql_empty_log(Sql *sql);

// --- one statement ------------------------------------------------------------------------------
typedef struct SqlRow {
    Sql *sql;
    void *statement;
    const char *types; // of its parameters
    int at;            // the next parameter or column
    Hash64 hash;
    bool ok; // every column taken had its type and size
    // What is noted once it has changed something.
    uint8_t note_kind; // 0: nothing
    uint32_t subject_bytes;
    const void *subject; // NULL: the number
    uint64_t subject_number;
} SqlRow;

SqlRow sql_open(Sql *sql, SqlName name, SqlTable table);
// Parameters, in order; the bytes must stay until sql_run or the last sql_next.
void sql_put_u64(SqlRow *row, uint64_t value);
void sql_put_f32(SqlRow *row, float value);
void sql_put_bytes(SqlRow *row, const void *data, size_t bytes);
void sql_put_unhashed(SqlRow *row, const void *data, size_t bytes); // not part of the checksum
void sql_put_string(SqlRow *row, const char *text);                 // up to its terminator
void sql_put_null(SqlRow *row);
void sql_put_checksum(SqlRow *row);
// For a checksum without a row.
Hash64 sql_checksum_begin(SqlTable table);
// What happened is to be told to other processes (store_event.h). Too many: kind 0, everything.
void sql_note(Sql *sql, uint32_t kind, const void *subject, size_t bytes);
// Runs a statement without results; true if it changed a row.
bool sql_run(SqlRow *row);
// True: there is a row, and its columns can be taken. What they point to is valid until the next
// call.
bool sql_next(SqlRow *row);
void sql_close(SqlRow *row); // before sql_next said false

void sql_take_table(SqlRow *row, SqlTable table); // a new checksum begins with the next column
uint64_t sql_take_u64(SqlRow *row);
float sql_take_f32(SqlRow *row);
const uint8_t *sql_take_bytes(SqlRow *row, size_t bytes_max, size_t *bytes);
const char *sql_take_text(SqlRow *row, size_t bytes_max, size_t *bytes); // bytes too
bool sql_take_null(SqlRow *row); // takes the column only if it is null
// The checksum: true if everything since sql_take_table is what was written.
bool sql_take_checksum(SqlRow *row);
// Runs a statement that gives no rows, with a number, or with a text and a number.
void sql_run_with_u64(Sql *sql, SqlName name, uint64_t number);
void sql_run_with_key(Sql *sql, SqlName name, const char *text, uint64_t number);
