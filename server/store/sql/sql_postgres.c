// PostgreSQL as an engine: see sql_driver.h. The connection is in libpq's pipeline mode all the
// time. A statement whose result is not needed yet is only queued; the next one whose result is
// needed, or the COMMIT, sends everything and waits once: a flight. A group commit of nothing but
// saves is one flight: it is optimistic, which means that its fence undoes everything unless it
// hits all worlds, and then the batch is run again. Any other commit is two flights or more: one
// that fences the worlds, and one that writes their rows and commits.
//
// Rows of worlds are not even queued one by one (postgres_rows.c): until the next flight they are
// collected by table, and one statement with arrays writes all rows of a table.
//
// Outages. A connection that fails is given up, and its transaction with it; the next transaction
// connects again, by turns to each host of the URL. The one thing that can be unknown is whether a
// COMMIT arrived whose answer did not. Every transaction that writes also puts a number of its own
// into a row of this writer alone (writer_marks). After a lost answer a new connection asks for
// that row by an UPDATE: that waits for a backend that still works on the old transaction, and the
// number then says whether it was stored. An optimistic transaction may not even have arrived yet,
// and arrive later. So if it is not stored, that UPDATE puts yet another number there, and the mark
// of an optimistic transaction undoes it unless it replaces the number that it was told.
#define _GNU_SOURCE
#include "server/store/sql/postgres_hosts.h"
#include "server/store/sql/postgres_inside.h"

#include "core/base/check.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define COMMIT_MS 3000 // then its result is unknown
#define WAIT_MS   5000 // of any other flight of a writer

// --- flights ------------------------------------------------------------------------------------

static double wait_ms(const Pg *pg)
{
    return pg->is_writer ? WAIT_MS : PG_READ_MS; // also when it asks what became of a COMMIT
}

SqlError pg_settle(Pg *pg)
{
    SqlError error = pg->conn == NULL || pg->is_broken ? SQL_ERROR_DISK : rows_flush(pg);
    if (error == SQL_NO_ERROR && pg->queued > 0) {
        error = pg_fly(pg, wait_ms(pg));
        pg->is_sent = true;
    }
    return error;
}

// --- statements ---------------------------------------------------------------------------------

PgStatement *pg_statement(Pg *pg, const char *text, const char *types)
{
    PgStatement *statement = calloc(1, sizeof *statement);
    if (statement != NULL) {
        statement->pg = pg;
        statement->text = strdup(text);
        statement->parameter_count = (uint32_t)strlen(types);
        ASSERT(statement->parameter_count <= PG_PARAMETERS_MAX);
        for (uint32_t i = 0; i < statement->parameter_count; i++) {
            statement->types[i] = pg_oid(types[i]);
            statement->formats[i] = 1;
        }
        statement->writes = strncmp(text, "SELECT", 6) != 0;
        statement->is_counted = true;
        statement->sql_name = SQL_COUNT;
        if (statement->text == NULL) {
            free(statement);
            return NULL;
        }
    }
    return statement;
}

Oid pg_oid(char type)
{
    switch (type) {
    case 'b':
        return 17;
    case 'f':
        return 701;
    case 'B':
        return 1001; // arrays
    case 'I':
        return 1016;
    case 'F':
        return 1022;
    default:
        return 20;
    }
}

void pg_statement_free(PgStatement *statement)
{
    if (statement != NULL) {
        PQclear(statement->result);
        free(statement->text);
        free(statement);
    }
}

static SqlError prepare(Sql *sql, const char *text, const char *types, SqlName name, void **out)
{
    Pg *pg = sql->connection;
    PgStatement *statement = pg_statement(pg, text, types);
    *out = statement;
    if (statement == NULL) {
        return SQL_ERROR_DISK;
    }
    statement->sql_name = name;
    statement->control = strcmp(text, sql_dialect_postgresql.begin) == 0        ? PG_BEGIN
                         : strcmp(text, sql_dialect_postgresql.begin_read) == 0 ? PG_BEGIN_READ
                         : strcmp(text, "COMMIT") == 0                          ? PG_COMMIT
                         : strncmp(text, "ROLLBACK TO", 11) == 0                ? PG_UNDO
                         : strstr(text, "SAVEPOINT") != NULL                    ? PG_SAVEPOINT
                                                                                : PG_PLAIN;
    return SQL_NO_ERROR;
}

static void finalize(void *statement)
{
    pg_statement_free(statement);
}

void pg_set_integer(PgStatement *statement, uint32_t at, int64_t value)
{
    const uint64_t bits = htobe64((uint64_t)value);
    memcpy(statement->numbers[at], &bits, sizeof bits);
    statement->values[at] = statement->numbers[at];
    statement->lengths[at] = sizeof bits;
}

void pg_set_bytes(PgStatement *statement, uint32_t at, const void *data, size_t bytes)
{
    statement->values[at] = bytes > 0 ? data : "";
    statement->lengths[at] = (int)bytes;
}

static SqlError bind_integer(void *statement, int at, int64_t value)
{
    pg_set_integer(statement, (uint32_t)at - 1, value);
    return SQL_NO_ERROR;
}

static SqlError bind_float(void *statement, int at, double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    pg_set_integer(statement, (uint32_t)at - 1, bits);
    return SQL_NO_ERROR;
}

static SqlError bind_bytes(void *statement, int at, const void *data, size_t bytes)
{
    pg_set_bytes(statement, (uint32_t)at - 1, data, bytes);
    return SQL_NO_ERROR;
}

static SqlError bind_null(void *of, int at)
{
    PgStatement *statement = of;
    statement->values[at - 1] = NULL;
    statement->lengths[at - 1] = 0;
    return SQL_NO_ERROR;
}

// --- transactions -------------------------------------------------------------------------------

#define MARK_TEXT                                                                                \
    "UPDATE writer_marks SET number = $2, unix_ms = (extract(epoch FROM now()) * 1000)::bigint " \
    "WHERE writer_id = $1"
// A division by zero, which undoes the transaction, if there is another number than $3.
#define MARK_NEXT_TEXT           \
    "WITH marked AS (" MARK_TEXT \
    " AND number = $3 RETURNING number) SELECT 1 / count(*) FROM marked"
// Of a lost COMMIT. If its number $3 is not there, $2 is put there, which whoever is late does not
// expect. One statement: a lost answer leaves no lock behind. A question can be late itself:
// numbers only rise, so it changes nothing that came after it.
#define MARK_ASK_TEXT                                                                              \
    "UPDATE writer_marks SET number = CASE WHEN number < $2 AND number <> $3 THEN $2 ELSE number " \
    "END WHERE writer_id = $1 RETURNING number"

static SqlError begin_query(Pg *pg, PgStatement *statement)
{
    SqlError error = pg_connect(pg);
    ASSERT(!pg->is_open);
    if (error == SQL_NO_ERROR) {
        error = pg_queue(pg, statement);
    }
    pg->is_open = error == SQL_NO_ERROR;
    pg->is_sent = pg->has_written = pg->is_undoable = pg->is_locked = pg->is_optimistic = false;
    return error;
}

static SqlError queue_mark(Pg *pg, PgStatement *statement, uint64_t number)
{
    pg_set_bytes(statement, 0, pg->writer_id, sizeof pg->writer_id);
    pg_set_integer(statement, 1, (int64_t)number);
    return pg_queue(pg, statement);
}

// A number is never used twice: a transaction before this one may be stored without our knowing
// it, and its number would be taken for this one's.
static uint64_t next_number(Pg *pg)
{
    pg->last_number += 1;
    return pg->last_number;
}

static void begin_writing(Pg *pg)
{
    pg->has_written = pg->is_undoable = true;
    pg->is_sent = false; // the mark has no answer yet
    pg->mark_number = next_number(pg);
}

// Before the first statement that writes: see the top.
static SqlError put_mark(Pg *pg)
{
    if (pg->has_written || !pg->is_writer || !pg->is_open) {
        return SQL_NO_ERROR;
    }
    begin_writing(pg);
    return queue_mark(pg, pg->mark, pg->mark_number);
}

bool pg_may_be_optimistic(const Pg *pg)
{
    return pg->is_open && pg->is_writer && pg->is_stored_known && !pg->has_written;
}

SqlError pg_be_optimistic(Pg *pg)
{
    ASSERT(pg_may_be_optimistic(pg));
    begin_writing(pg);
    pg->is_optimistic = true;
    pg_set_integer(pg->mark_next, 2, (int64_t)pg->stored_number);
    return queue_mark(pg, pg->mark_next, pg->mark_number);
}

// The row of the writer is locked before the COMMIT goes: what was sent so far has an answer. An
// optimistic transaction needs none.
static SqlError commit(Pg *pg, PgStatement *statement)
{
    SqlError error = rows_are_waiting(pg) ? put_mark(pg) : SQL_NO_ERROR;
    if (error == SQL_NO_ERROR && pg->has_written && !pg->is_sent && !pg->is_optimistic) {
        error = pg_fly(pg, wait_ms(pg));
    }
    if (error == SQL_NO_ERROR) {
        error = rows_flush(pg);
    }
    if (error == SQL_NO_ERROR) {
        error = pg_queue(pg, statement);
    }
    if (error != SQL_NO_ERROR) {
        return error;
    }
    error = pg_fly(pg, pg->is_optimistic && !pg->is_sent ? wait_ms(pg) : COMMIT_MS);
    if (error == SQL_NO_ERROR) {
        pg->is_open = false;
        if (pg->has_written) {
            pg->stored_number = pg->mark_number;
            pg->is_stored_known = true;
        }
    } else if (pg->is_broken && pg->has_written && pg->is_writer) {
        return SQL_ERROR_UNKNOWN;
    } else if (pg->is_broken && !pg->has_written) {
        pg->is_open = false; // it only read
        return SQL_NO_ERROR;
    }
    return error;
}

static SqlError run_control(Pg *pg, PgStatement *statement)
{
    SqlError error = SQL_NO_ERROR;
    switch (statement->control) {
    case PG_BEGIN:
    case PG_BEGIN_READ:
        return begin_query(pg, statement);
    case PG_COMMIT:
        return commit(pg, statement);
    case PG_UNDO: // what waits came after the savepoint
        rows_drop(pg);
        // The mark is undone with the rest: what is written after this needs another one.
        pg->has_written = pg->has_written && !pg->is_undoable;
        pg->is_undoable = false;
        return pg_queue(pg, statement);
    default: // a savepoint, or its end: everything before it is written before it
        pg->is_undoable = false;
        error = rows_flush(pg);
        return error == SQL_NO_ERROR ? pg_queue(pg, statement) : error;
    }
}

// The row that follows in what the statement has already given.
static bool next_row(PgStatement *statement)
{
    statement->row += 1;
    if (statement->row < PQntuples(statement->result)) {
        return true;
    }
    PQclear(statement->result);
    statement->result = NULL;
    return false;
}

static SqlError run_once(Pg *pg, PgStatement *statement)
{
    SqlError error = pg_queue(pg, statement);
    if (error == SQL_NO_ERROR) {
        pg->has_changed = false;
        error = pg_fly(pg, wait_ms(pg));
        pg->is_sent = true;
    }
    return error;
}

// What only reads, outside of a transaction, is asked again when the connection turns out to be
// lost.
static SqlError run_plain(Pg *pg, PgStatement *statement)
{
    SqlError error = run_once(pg, statement);
    if (error != SQL_NO_ERROR && pg->is_broken && !pg->is_open && !statement->writes) {
        error = pg_connect(pg);
        error = error == SQL_NO_ERROR ? run_once(pg, statement) : error;
    }
    return error;
}

static SqlError step(Sql *sql, void *of, bool *is_row)
{
    Pg *pg = sql->connection;
    PgStatement *statement = of;
    *is_row = false;
    if (statement->result != NULL) {
        *is_row = next_row(statement);
        return SQL_NO_ERROR;
    }
    if (statement->is_done) {
        return SQL_NO_ERROR;
    }
    if (statement->control != PG_PLAIN) {
        return run_control(pg, statement);
    }
    SqlError error = pg->is_open ? SQL_NO_ERROR : pg_connect(pg);
    if (error == SQL_NO_ERROR && statement->writes) {
        error = put_mark(pg);
    }
    if (error != SQL_NO_ERROR) {
        return error;
    }
    if (pg->is_open && rows_take(pg, statement)) { // written with the next flight
        pg->has_changed = true;
        pg->changes += 1;
        return rows_error(pg);
    }
    error = rows_flush(pg);
    if (error == SQL_NO_ERROR) {
        error = run_plain(pg, statement);
    }
    if (error != SQL_NO_ERROR) {
        return error;
    }
    statement->row = 0;
    statement->is_done = true;
    *is_row = statement->result != NULL && PQntuples(statement->result) > 0;
    if (!*is_row) {
        PQclear(statement->result);
        statement->result = NULL;
    }
    return SQL_NO_ERROR;
}

static bool has_changed(Sql *sql)
{
    return ((const Pg *)sql->connection)->has_changed;
}

static void reset(void *of)
{
    PgStatement *statement = of;
    PQclear(statement->result);
    statement->result = NULL;
    statement->is_done = false;
}

// Only what makes tables, and ROLLBACK: a text of several statements.
static SqlError exec(Sql *sql, const char *text)
{
    Pg *pg = sql->connection;
    if (strcmp(text, "ROLLBACK") == 0) {
        rows_drop(pg);
        pg->is_open = false;
        if (pg->conn == NULL || pg->is_broken || PQstatus(pg->conn) != CONNECTION_OK) {
            pg_hang_up(pg);
            return SQL_NO_ERROR;
        }
        SqlError error = pg->roll_back != NULL ? pg_queue(pg, pg->roll_back) : SQL_ERROR_DISK;
        if (error == SQL_NO_ERROR) {
            error = pg_fly(pg, WAIT_MS);
        }
        if (error != SQL_NO_ERROR) { // what is left of it ends with the connection
            pg_hang_up(pg);
        }
        return SQL_NO_ERROR;
    }
    SqlError error = pg->is_open ? pg_settle(pg) : pg_connect(pg);
    if (error != SQL_NO_ERROR) {
        return error;
    }
    return pg_run_text(pg, text);
}

// --- columns ------------------------------------------------------------------------------------

static SqlType column_type(void *of, int at)
{
    const PgStatement *statement = of;
    if (PQgetisnull(statement->result, statement->row, at)) {
        return SQL_NULL;
    }
    switch (PQftype(statement->result, at)) {
    case 16:
    case 20:
    case 21:
    case 23:
    case 1700:
        return SQL_INTEGER;
    case 701:
        return SQL_FLOAT;
    case 17:
        return SQL_BYTES;
    default:
        return SQL_OTHER;
    }
}

static uint64_t read_bits(const uint8_t *data, int bytes)
{
    uint64_t bits = 0;
    for (int i = 0; i < bytes; i++) {
        bits = bits << 8 | data[i];
    }
    return bits;
}

// A sum of integers: digits of base 10,000, of which the first counts 10,000 to the `weight`.
static int64_t read_numeric(const uint8_t *data, int bytes)
{
    const int count = bytes >= 8 ? (int)read_bits(data, 2) : 0;
    const int weight = (int16_t)read_bits(data + 2, 2);
    const bool is_negative = read_bits(data + 4, 2) == 0x4000;
    int64_t value = 0;
    for (int i = 0; i <= weight && bytes >= 8 + 2 * count; i++) {
        const int64_t digit = i < count ? (int64_t)read_bits(data + 8 + 2 * i, 2) : 0;
        if (__builtin_mul_overflow(value, 10000, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return INT64_MAX;
        }
    }
    return is_negative ? -value : value;
}

static int64_t column_integer(void *of, int at)
{
    const PgStatement *statement = of;
    const uint8_t *data = (const uint8_t *)PQgetvalue(statement->result, statement->row, at);
    const int bytes = PQgetlength(statement->result, statement->row, at);
    switch (PQftype(statement->result, at)) {
    case 1700:
        return read_numeric(data, bytes);
    case 23:
        return (int32_t)(uint32_t)read_bits(data, 4);
    case 21:
        return (int16_t)(uint16_t)read_bits(data, 2);
    default:
        return (int64_t)read_bits(data, bytes <= 8 ? bytes : 8);
    }
}

static double column_float(void *of, int at)
{
    const PgStatement *statement = of;
    const char *data = PQgetvalue(statement->result, statement->row, at);
    const uint64_t bits = read_bits((const uint8_t *)data, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const void *column_bytes(void *of, int at, size_t *bytes)
{
    const PgStatement *statement = of;
    *bytes = (size_t)PQgetlength(statement->result, statement->row, at);
    return PQgetvalue(statement->result, statement->row, at);
}

static const char *error_text(const Sql *sql)
{
    const Pg *pg = sql->connection;
    return pg != NULL ? pg->error_text : "out of memory";
}

static bool in_transaction(const Sql *sql)
{
    return ((const Pg *)sql->connection)->is_open;
}

static uint64_t change_count(const Sql *sql)
{
    return ((const Pg *)sql->connection)->changes;
}

static bool empty_log(Sql *sql)
{
    (void)sql;
    return true;
}

// --- the connection -----------------------------------------------------------------------------

static SqlError open_url(Sql *sql, const char *url)
{
    Pg *pg = calloc(1, sizeof *pg);
    sql->connection = pg;
    if (pg == NULL) {
        return SQL_ERROR_DISK;
    }
    pg->url = strdup(url);
    pg->roll_back = pg_statement(pg, "ROLLBACK", "");
    pg->mark = pg_statement(pg, MARK_TEXT, "bi");
    pg->mark_next = pg_statement(pg, MARK_NEXT_TEXT, "bii");
    pg->ask_mark = pg_statement(pg, MARK_ASK_TEXT, "bii");
    if (pg->url == NULL || pg->roll_back == NULL || pg->mark == NULL || pg->mark_next == NULL ||
        pg->ask_mark == NULL) {
        pg_note(pg, "out of memory");
        return SQL_ERROR_DISK;
    }
    pg->mark->is_counted = false;
    pg->host_count = postgres_host_count(pg->url);
    return pg_connect_first(pg);
}

static void close_url(Sql *sql, bool keep_log)
{
    Pg *pg = sql->connection;
    (void)keep_log;
    if (pg != NULL) {
        PQfinish(pg->conn);
        pg->conn = NULL;
        rows_free(pg);
        PgStatement *own[] = {pg->roll_back, pg->mark, pg->mark_next,   pg->ask_mark,   pg->raise,
                              pg->raise_all, pg->lock, pg->lock_places, pg->lock_worlds};
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
            pg_statement_free(own[i]);
        }
        free(pg->queue);
        free(pg->url);
        free(pg);
    }
    sql->connection = NULL;
}

SqlTraffic sql_postgres_traffic(const Sql *sql)
{
    const Pg *pg = sql->connection;
    return (SqlTraffic){pg->flights, pg->connects};
}

static SqlError settle(Sql *sql)
{
    return pg_settle(sql->connection);
}

// --- the writer ---------------------------------------------------------------------------------

SqlError sql_postgres_writer(Sql *sql, const uint8_t writer_id[16])
{
    Pg *pg = sql->connection;
    bool is_row = false;
    memcpy(pg->writer_id, writer_id, sizeof pg->writer_id);
    PgStatement *make =
        pg_statement(pg,
                     "INSERT INTO writer_marks(writer_id, number, unix_ms) VALUES($1, 0, "
                     "(extract(epoch FROM now()) * 1000)::bigint)",
                     "b");
    PgStatement *expire =
        pg_statement(pg,
                     "DELETE FROM writer_marks WHERE unix_ms < "
                     "(extract(epoch FROM now() - interval '30 days') * 1000)::bigint",
                     "");
    SqlError error = make != NULL && expire != NULL ? SQL_NO_ERROR : SQL_ERROR_DISK;
    if (error == SQL_NO_ERROR) {
        pg_set_bytes(make, 0, pg->writer_id, sizeof pg->writer_id);
        error = step(sql, expire, &is_row);
        error = error == SQL_NO_ERROR ? step(sql, make, &is_row) : error;
    }
    pg_statement_free(make);
    pg_statement_free(expire);
    pg->is_writer = error == SQL_NO_ERROR;
    return error;
}

static SqlOutcome resolve(Sql *sql)
{
    Pg *pg = sql->connection;
    PgStatement *ask = pg->ask_mark;
    const uint64_t number = next_number(pg);
    pg->is_open = pg->is_stored_known = false;
    if (pg_connect(pg) != SQL_NO_ERROR) {
        return SQL_OUTCOME_UNKNOWN;
    }
    // It stays so if a backend still has the row.
    SqlOutcome outcome = SQL_OUTCOME_UNKNOWN;
    pg_set_bytes(ask, 0, pg->writer_id, sizeof pg->writer_id);
    pg_set_integer(ask, 1, (int64_t)number);
    pg_set_integer(ask, 2, (int64_t)pg->mark_number);
    ask->row = 0;
    if (run_once(pg, ask) == SQL_NO_ERROR && PQntuples(ask->result) == 1) {
        pg->stored_number = (uint64_t)column_integer(ask, 0);
        pg->is_stored_known = true;
        outcome = pg->stored_number == number            ? SQL_OUTCOME_NOT_STORED
                  : pg->stored_number == pg->mark_number ? SQL_OUTCOME_STORED
                                                         : SQL_OUTCOME_UNKNOWN;
    }
    reset(ask);
    return outcome;
}

static SqlError lock_all(Sql *sql)
{
    Pg *pg = sql->connection;
    if (pg->is_locked) {
        return SQL_NO_ERROR;
    }
    if (pg->lock == NULL) {
        pg->lock = pg_statement(pg, "SELECT pg_advisory_xact_lock($1)", "i");
    }
    if (pg->lock == NULL) {
        return SQL_ERROR_DISK;
    }
    pg_set_integer(pg->lock, 0, PG_LOCK_CALLS);
    const SqlError error = pg_queue(pg, pg->lock);
    pg->is_locked = error == SQL_NO_ERROR;
    return error;
}

const SqlDriver sql_driver_postgres = {
    .dialect = &sql_dialect_postgresql,
    .open = open_url,
    .close = close_url,
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
    .settle = settle,
    .resolve = resolve,
    .lock_all = lock_all,
    .lock_places = rows_lock_places,
    .lock_worlds = rows_lock_worlds,
    .raise_heads = rows_raise_heads,
};
