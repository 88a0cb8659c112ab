// See sql.h.
#define _GNU_SOURCE
#include "server/store/sql/sql.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "server/store/sql/sql_driver.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

void sql_fail(Sql *sql, SqlError error)
{
    if (sql->error == SQL_NO_ERROR) {
        sql->error = error;
    }
}

// --- connections --------------------------------------------------------------------------------

bool sql_is_url(const char *path)
{
    return strncmp(path, "postgres://", 11) == 0 || strncmp(path, "postgresql://", 13) == 0;
}

Status sql_connect(Sql *sql, const char *path, char *reason, size_t reason_bytes)
{
    *sql = (Sql){.driver = sql_is_url(path) ? &sql_driver_postgres : &sql_driver_sqlite};
    for (int i = 0; i < SQL_COUNT; i++) {
        (void)sql_statement_types((SqlName)i, sql->types[i]);
    }
    sql_fail(sql, sql->driver->open(sql, path));
    if (sql->error != SQL_NO_ERROR) {
        const Status status = sql_status(sql);
        snprintf(reason, reason_bytes, "the database %s: %s",
                 status == STATUS_MALFORMED ? "is damaged" : "cannot be opened",
                 sql_error_text(sql));
        sql_abandon(sql);
        return status;
    }
    return STATUS_OK;
}

static void disconnect(Sql *sql, bool keep_log)
{
    for (int i = 0; i < SQL_COUNT; i++) {
        sql->driver->finalize(sql->statements[i]);
        sql->statements[i] = NULL;
    }
    for (int i = 0; i < SQL_CONTROL_COUNT; i++) {
        sql->driver->finalize(sql->controls[i]);
        sql->controls[i] = NULL;
    }
    sql->driver->close(sql, keep_log);
}

void sql_abandon(Sql *sql)
{
    disconnect(sql, true);
}

void sql_disconnect(Sql *sql)
{
    disconnect(sql, false);
}

static void prepare(Sql *sql, SqlName name)
{
    char text[SQL_TEXT_BYTES];
    if (sql->error == SQL_NO_ERROR && sql->statements[name] == NULL) {
        sql_statement_text(name, text);
        sql_fail(sql,
                 sql->driver->prepare(sql, text, sql->types[name], name, &sql->statements[name]));
    }
}

bool sql_prepare(Sql *sql)
{
    for (int i = 0; i < SQL_COUNT; i++) {
        prepare(sql, (SqlName)i);
    }
    return sql->error == SQL_NO_ERROR;
}

void sql_clear(Sql *sql)
{
    sql->error = SQL_NO_ERROR;
}

void sql_exec(Sql *sql, const char *text)
{
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->exec(sql, text));
    }
}

// The first row of a text that is not in the table of statements; NULL: none. The caller finalizes.
static void *first_row(Sql *sql, const char *text, bool *is_row)
{
    void *statement = NULL;
    *is_row = false;
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->prepare(sql, text, "", SQL_COUNT, &statement));
    }
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->step(sql, statement, is_row));
    }
    return statement;
}

int64_t sql_number(Sql *sql, const char *text)
{
    bool is_row;
    void *statement = first_row(sql, text, &is_row);
    const int64_t number = is_row ? sql->driver->column_integer(statement, 0) : 0;
    sql->driver->finalize(statement);
    return number;
}

bool sql_text(Sql *sql, const char *text, char *out, size_t out_bytes)
{
    bool is_row;
    size_t bytes = 0;
    void *statement = first_row(sql, text, &is_row);
    const void *data = is_row ? sql->driver->column_bytes(statement, 0, &bytes) : NULL;
    const bool fits = data != NULL && bytes < out_bytes;
    if (fits) {
        memcpy(out, data, bytes);
        out[bytes] = '\0';
    }
    sql->driver->finalize(statement);
    return fits;
}

Status sql_status(const Sql *sql)
{
    switch (sql->error) {
    case SQL_NO_ERROR:
        return STATUS_OK;
    case SQL_ERROR_DAMAGED:
        return STATUS_MALFORMED;
    case SQL_ERROR_FULL:
    case SQL_ERROR_READ_ONLY:
    case SQL_ERROR_DISK:
    case SQL_ERROR_UNKNOWN:
        return STATUS_BLOCKED;
    case SQL_ERROR_NOT_RAISED:
        return STATUS_MISMATCH;
    case SQL_ERROR_MISFIT:
        break;
    }
    return STATUS_RANGE;
}

const char *sql_error_text(const Sql *sql)
{
    return sql->driver->error_text(sql);
}

// --- transactions -------------------------------------------------------------------------------

// Kept once it was prepared: there is one in every commit.
static void control(Sql *sql, SqlControl name, const char *text)
{
    bool is_row;
    if (sql->error == SQL_NO_ERROR && sql->controls[name] == NULL) {
        sql_fail(sql, sql->driver->prepare(sql, text, "", SQL_COUNT, &sql->controls[name]));
    }
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->step(sql, sql->controls[name], &is_row));
        sql->driver->reset(sql->controls[name]);
    }
}

void sql_begin(Sql *sql)
{
    control(sql, SQL_BEGIN, sql->driver->dialect->begin);
}

void sql_begin_read(Sql *sql)
{
    control(sql, SQL_BEGIN_READ, sql->driver->dialect->begin_read);
}

void sql_commit(Sql *sql)
{
    control(sql, SQL_COMMIT, "COMMIT");
}

void sql_roll_back(Sql *sql)
{
    sql_clear(sql);
    if (sql_in_transaction(sql)) {
        sql_exec(sql, "ROLLBACK");
        sql_clear(sql);
    }
}

bool sql_in_transaction(const Sql *sql)
{
    return sql->driver->in_transaction(sql);
}

void sql_savepoint(Sql *sql)
{
    control(sql, SQL_SAVEPOINT, "SAVEPOINT job");
}

void sql_savepoint_undo(Sql *sql)
{
    control(sql, SQL_SAVEPOINT_UNDO, "ROLLBACK TO SAVEPOINT job");
}

void sql_savepoint_end(Sql *sql)
{
    control(sql, SQL_SAVEPOINT_END, "RELEASE SAVEPOINT job");
}

uint64_t sql_change_count(const Sql *sql)
{
    return sql->driver->change_count(sql);
}

SqlOutcome sql_resolve(Sql *sql)
{
    ASSERT(sql->driver->resolve != NULL);
    return sql->driver->resolve(sql);
}

void sql_settle(Sql *sql)
{
    if (sql->driver->settle != NULL && sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->settle(sql));
    }
}

void sql_lock_all(Sql *sql)
{
    if (sql->driver->lock_all != NULL && sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->lock_all(sql));
    }
}

void sql_lock_places(Sql *sql, const char *const *world_ids, uint32_t count)
{
    if (sql->driver->lock_places != NULL && sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->lock_places(sql, world_ids, count));
    }
}

void sql_lock_worlds(Sql *sql, const char *const *world_ids, uint32_t count)
{
    if (sql->driver->lock_worlds != NULL && sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->lock_worlds(sql, world_ids, count));
    }
}

bool sql_raises_heads(const Sql *sql)
{
    return sql->driver->raise_heads != NULL;
}

void sql_raise_heads(Sql *sql, const SqlHolder *holder, SqlHeadRaise *raises, uint32_t count,
                     bool is_optimistic)
{
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->raise_heads(sql, holder, raises, count, is_optimistic));
    }
}

bool sql_empty_log(Sql *sql)
{
    return sql->driver->empty_log(sql);
}

// --- putting ------------------------------------------------------------------------------------

Hash64 sql_checksum_begin(SqlTable table)
{
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, (uint64_t)table);
    return hash;
}

SqlRow sql_open(Sql *sql, SqlName name, SqlTable table)
{
    prepare(sql, name);
    return (SqlRow){.sql = sql,
                    .statement = sql->error == SQL_NO_ERROR ? sql->statements[name] : NULL,
                    .types = sql->types[name],
                    .hash = sql_checksum_begin(table),
                    .ok = true,
                    .note_kind = sql->note_kinds != NULL ? sql->note_kinds[name] : 0};
}

// The number of the next parameter, which has that type.
static int next_parameter(SqlRow *row, char type)
{
    ASSERT(type == 0 || row->types[row->at] == type);
    return ++row->at;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void bound(SqlRow *row, SqlError error)
{
    if (error != SQL_NO_ERROR) {
        sql_fail(row->sql, error);
    }
}

void sql_put_u64(SqlRow *row, uint64_t value)
{
    hash_u64(&row->hash, value);
    row->subject_number = row->at == 0 ? value : row->subject_number;
    if (row->statement != NULL) {
        int64_t bits;
        memcpy(&bits, &value, sizeof bits);
        bound(row, row->sql->driver->bind_integer(row->statement, next_parameter(row, 'i'), bits));
    }
}

void sql_put_f32(SqlRow *row, float value)
{
    hash_u64(&row->hash, double_bits((double)value));
    if (row->statement != NULL) {
        const int at = next_parameter(row, 'f');
        bound(row, row->sql->driver->bind_float(row->statement, at, (double)value));
    }
}

void sql_put_bytes(SqlRow *row, const void *data, size_t bytes)
{
    hash_bytes(&row->hash, data, bytes);
    sql_put_unhashed(row, data, bytes);
}

void sql_put_unhashed(SqlRow *row, const void *data, size_t bytes)
{
    if (row->note_kind != 0 && row->at == 0) {
        row->subject = data;
        row->subject_bytes = (uint32_t)bytes;
    }
    if (row->statement != NULL) {
        const int at = next_parameter(row, 'b');
        bound(row, row->sql->driver->bind_bytes(row->statement, at, data, bytes));
    }
}

void sql_put_string(SqlRow *row, const char *text)
{
    sql_put_bytes(row, text, strlen(text));
}

#define NULL_MARK 0x6e756c6cull

void sql_put_null(SqlRow *row)
{
    hash_u64(&row->hash, NULL_MARK);
    if (row->statement != NULL) {
        bound(row, row->sql->driver->bind_null(row->statement, next_parameter(row, 0)));
    }
}

void sql_put_checksum(SqlRow *row)
{
    const uint64_t checksum = row->hash.state;
    sql_put_u64(row, checksum);
}

void sql_note(Sql *sql, uint32_t kind, const void *subject, size_t bytes)
{
    SqlNote note = {.kind = kind, .bytes = (uint32_t)bytes};
    if (sql->note_count == SQL_NOTES_MAX || bytes > sizeof note.subject) {
        sql->notes[0] = (SqlNote){0};
        sql->note_count = sql->note_count == 0 ? 1 : sql->note_count;
        return;
    }
    if (bytes > 0) {
        memcpy(note.subject, subject, bytes);
    }
    for (uint32_t i = 0; i < sql->note_count; i++) {
        const SqlNote *known = &sql->notes[i];
        if (known->kind == kind && known->bytes == note.bytes &&
            memcmp(known->subject, note.subject, bytes) == 0) {
            return;
        }
    }
    sql->notes[sql->note_count++] = note;
}

static void note_row(const SqlRow *row)
{
    uint8_t number[8];
    ByteWriter writer = byte_writer(number, sizeof number);
    byte_write_u64(&writer, row->subject_number);
    const bool is_number = row->subject == NULL;
    sql_note(row->sql, row->note_kind, is_number ? number : row->subject,
             is_number ? sizeof number : row->subject_bytes);
}

bool sql_run(SqlRow *row)
{
    bool changed = false;
    if (row->statement != NULL) {
        ASSERT(row->types[row->at] == '\0');
        if (row->sql->error == SQL_NO_ERROR) {
            bool is_row = false;
            const SqlError error = row->sql->driver->step(row->sql, row->statement, &is_row);
            sql_fail(row->sql, error);
            ASSERT(!is_row);
            changed = error == SQL_NO_ERROR && row->sql->driver->has_changed(row->sql);
            if (changed && row->note_kind != 0) {
                note_row(row);
            }
        }
        sql_close(row);
    }
    return changed;
}

// --- taking -------------------------------------------------------------------------------------

bool sql_next(SqlRow *row)
{
    bool is_row = false;
    if (row->statement == NULL) {
        return false;
    }
    if (row->sql->error == SQL_NO_ERROR) {
        sql_fail(row->sql, row->sql->driver->step(row->sql, row->statement, &is_row));
    }
    if (!is_row) {
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
        row->sql->driver->reset(row->statement);
        row->statement = NULL;
    }
}

void sql_take_table(SqlRow *row, SqlTable table)
{
    row->hash = sql_checksum_begin(table);
    row->ok = true;
}

static bool column_is(SqlRow *row, SqlType type)
{
    ASSERT(row->statement != NULL);
    if (row->sql->driver->column_type(row->statement, row->at) != type) {
        row->ok = false;
        row->at += 1;
        return false;
    }
    return true;
}

uint64_t sql_take_u64(SqlRow *row)
{
    if (!column_is(row, SQL_INTEGER)) {
        return 0;
    }
    const uint64_t value = (uint64_t)row->sql->driver->column_integer(row->statement, row->at++);
    hash_u64(&row->hash, value);
    return value;
}

float sql_take_f32(SqlRow *row)
{
    if (!column_is(row, SQL_FLOAT)) {
        return 0;
    }
    const double value = row->sql->driver->column_float(row->statement, row->at++);
    hash_u64(&row->hash, double_bits(value));
    if (!(value >= -(double)FLT_MAX && value <= (double)FLT_MAX)) {
        row->ok = false;
        return 0;
    }
    return (float)value;
}

const uint8_t *sql_take_bytes(SqlRow *row, size_t bytes_max, size_t *bytes)
{
    *bytes = 0;
    if (!column_is(row, SQL_BYTES)) {
        return (const uint8_t *)"";
    }
    size_t count = 0;
    const void *data = row->sql->driver->column_bytes(row->statement, row->at++, &count);
    if (count > bytes_max || (count > 0 && data == NULL)) {
        row->ok = false;
        return (const uint8_t *)"";
    }
    hash_bytes(&row->hash, data, count);
    *bytes = count;
    return count > 0 ? data : (const uint8_t *)"";
}

const char *sql_take_text(SqlRow *row, size_t bytes_max, size_t *bytes)
{
    return (const char *)sql_take_bytes(row, bytes_max, bytes);
}

bool sql_take_null(SqlRow *row)
{
    ASSERT(row->statement != NULL);
    if (row->sql->driver->column_type(row->statement, row->at) != SQL_NULL) {
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

void sql_run_with_u64(Sql *sql, SqlName name, uint64_t number)
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_u64(&row, number);
    (void)sql_run(&row);
}

void sql_run_with_key(Sql *sql, SqlName name, const char *text, uint64_t number)
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    sql_put_string(&row, text);
    sql_put_u64(&row, number);
    (void)sql_run(&row);
}
