// The inside of PostgreSQL's driver: sql_postgres.c has statements and transactions,
// postgres_connection.c the connection and its flights, postgres_rows.c the statements that write
// many rows at once.
#pragma once

#include "server/store/sql/sql_driver.h"

#include <libpq-fe.h>

#define PG_PARAMETERS_MAX 24
#define PG_TABLES_MAX     12
#define PG_LOCK_SCHEMA    INT64_C(0x53414e44) // advisory locks: who makes or changes the tables
#define PG_LOCK_CALLS     INT64_C(0x53414e45) // who writes anything but rows of a world

typedef enum PgControl {
    PG_PLAIN,
    PG_BEGIN,
    PG_BEGIN_READ,
    PG_COMMIT,
    PG_SAVEPOINT,
    PG_UNDO
} PgControl;

typedef struct Pg Pg;
typedef struct PgStatement PgStatement;
struct PgStatement {
    Pg *pg;
    char *text;
    char name[16];
    uint32_t generation; // of the connection in which it is prepared; 0: none
    PgStatement *next_fresh;
    SqlName sql_name;
    PgControl control;
    bool writes, is_done;
    bool is_counted; // its changes are
    uint32_t parameter_count;
    Oid types[PG_PARAMETERS_MAX];
    const char *values[PG_PARAMETERS_MAX];
    int lengths[PG_PARAMETERS_MAX], formats[PG_PARAMETERS_MAX];
    char numbers[PG_PARAMETERS_MAX][8];
    PGresult *result;
    int row;
};

// Bytes that grow.
typedef struct PgBuffer {
    uint8_t *data;
    size_t count, max;
} PgBuffer;

// Rows of one statement: its parameters, an array for each column.
typedef struct PgArrays {
    PgBuffer columns[SQL_COLUMNS_MAX];
    uint32_t row_count;
} PgArrays;

typedef enum PgRowKind {
    PG_PUT,
    PG_CHANGE, // of a row that is there
    PG_DELETION
} PgRowKind;
#define PG_ROW_KINDS 3

// What waits to be written into one table. Each key is there once.
typedef struct PgTable {
    const SqlTableInfo *info;
    SqlColumn columns[SQL_COLUMNS_MAX];
    uint32_t column_count, key_count;
    PgStatement *statements[PG_ROW_KINDS];
    PgArrays rows[PG_ROW_KINDS];
    uint64_t *slots; // hashes of the keys that wait; 0: free
    uint32_t slot_count, key_hash_count;
} PgTable;

struct Pg {
    PGconn *conn;
    char *url;
    uint32_t host_count, host; // of the URL; the one that answered last
    double connect_after_ms;
    bool is_silent; // the last attempt failed because a server did not answer in time
    uint32_t generation, name_count;
    bool is_broken, is_writer;
    char error_text[256];
    // Statements that are queued, in their order; NULL: a PREPARE.
    PgStatement **queue;
    uint32_t queued, queue_max;
    PgStatement *fresh; // prepared in this flight
    uint32_t fresh_count;
    // The transaction.
    bool is_open;       // BEGIN is queued or sent
    bool is_sent;       // there was a flight since the mark was queued
    bool has_written;   // the mark is in it
    bool is_undoable;   // and came after the savepoint
    bool is_optimistic; // its fence and its mark have no answer before the COMMIT
    bool is_locked, has_changed;
    uint64_t changes, flights, connects;
    uint8_t writer_id[16];
    uint64_t last_number; // that was given to anything; none is given twice
    uint64_t mark_number; // of the last transaction that wrote
    uint64_t stored_number;
    bool is_stored_known; // what the row of this writer says
    PgStatement *roll_back, *mark, *mark_next, *ask_mark;
    PgStatement *raise, *raise_all, *lock, *lock_places, *lock_worlds;
    // Rows that wait (postgres_rows.c).
    PgTable tables[PG_TABLES_MAX];
    uint32_t table_count, rows_waiting;
    PgArrays heads; // of worlds that are locked or raised
    SqlError rows_error;
};

PgStatement *pg_statement(Pg *pg, const char *text, const char *types);
void pg_statement_free(PgStatement *statement);
Oid pg_oid(char type); // b, i, f; B, I, F: arrays of them
void pg_set_integer(PgStatement *statement, uint32_t at, int64_t value);
void pg_set_bytes(PgStatement *statement, uint32_t at, const void *data, size_t bytes);
SqlError pg_settle(Pg *pg); // a flight, if anything is queued
// Whether the transaction can be optimistic: the last mark is known, and there is none in it yet.
bool pg_may_be_optimistic(const Pg *pg);
// From now on it is: queues a mark that fails unless it replaces the last one.
SqlError pg_be_optimistic(Pg *pg);

// --- postgres_connection.c ----------------------------------------------------------------------
#define PG_READ_MS 20000 // of a connection that only reads, or makes the tables
// By turns, beginning with the host that answered last, or with the next one if it broke off.
SqlError pg_connect(Pg *pg);
SqlError
pg_connect_first(Pg *pg); // at the start: a server that is slow to answer is asked for 10 s
void pg_hang_up(Pg *pg);
void pg_note(Pg *pg, const char *text);               // for error_text
void pg_be_quiet(void *user, const PGresult *result); // takes notices
SqlError pg_queue(Pg *pg, PgStatement *statement);
// Sends what is queued and takes all results. The last statement's is kept in it.
SqlError pg_fly(Pg *pg, double wait_ms);
SqlError pg_run_text(Pg *pg, const char *text); // outside of the pipeline

// --- postgres_rows.c ----------------------------------------------------------------------------
// True: the statement puts or deletes one row of a world, and it was taken from it.
bool rows_take(Pg *pg, const PgStatement *statement);
SqlError rows_error(Pg *pg); // no memory
bool rows_are_waiting(const Pg *pg);
SqlError rows_flush(Pg *pg); // queues what waits
void rows_drop(Pg *pg);
void rows_free(Pg *pg);
SqlError rows_raise_heads(Sql *sql, const SqlHolder *holder, SqlHeadRaise *raises, uint32_t count,
                          bool is_optimistic);
SqlError rows_lock_places(Sql *sql, const char *const *world_ids, uint32_t count);
SqlError rows_lock_worlds(Sql *sql, const char *const *world_ids, uint32_t count);
