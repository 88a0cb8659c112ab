// Many rows in one statement, for PostgreSQL. The statements that put or delete one row of a world
// by its key are not sent: their rows are collected by table, the last one of each key, and before
// the next flight one INSERT … SELECT FROM unnest(…) writes all that were put into a table, and one
// DELETE … USING unnest(…) all that were deleted. Rows of different keys do not depend on each
// other, so their order does not matter.
#define _GNU_SOURCE
#include "server/store/sql/postgres_inside.h"

#include "core/base/check.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- which statements ---------------------------------------------------------------------------

typedef struct RowStatement {
    SqlTable table; // TABLE_NONE: it is sent as it is
    bool is_deletion;
    uint8_t order[4]; // which parameter each column is, + 1; 0: in the order of the columns
} RowStatement;

static const RowStatement row_statements[SQL_COUNT] = {
    [SQL_META_PUT] = {TABLE_META, false, {0}},
    [SQL_META_DELETE] = {TABLE_META, true, {0}},
    [SQL_STRUCTURE_PUT] = {TABLE_STRUCTURES, false, {0}},
    [SQL_STRUCTURE_DELETE] = {TABLE_STRUCTURES, true, {0}},
    [SQL_CHUNK_PUT] = {TABLE_CHUNKS, false, {0}},
    [SQL_CHUNK_DELETE] = {TABLE_CHUNKS, true, {0}},
    [SQL_ATTRIBUTE_PUT] = {TABLE_ATTRIBUTES, false, {0}},
    [SQL_ATTRIBUTE_DELETE] = {TABLE_ATTRIBUTES, true, {0}},
    [SQL_RESUME_PUT] = {TABLE_RESUMES, false, {0}},
    [SQL_RESUME_DELETE] = {TABLE_RESUMES, true, {0}},
    [SQL_PLAYERS_PUT] = {TABLE_PLAYERS, false, {0}},
    [SQL_PLAYERS_CHANGE] = {TABLE_PLAYERS, false, {3, 1, 2}},
    [SQL_CHECKPOINT_PUT] = {TABLE_CHECKPOINTS, false, {0}},
    [SQL_CHECKPOINT_DELETE] = {TABLE_CHECKPOINTS, true, {0}},
    [SQL_PRESENCE_PUT] = {TABLE_PRESENCE, false, {0}},
    [SQL_PRESENCE_DELETE] = {TABLE_PRESENCE, true, {0}},
    [SQL_PROFILE_PUT] = {TABLE_PROFILES, false, {0}},
    [SQL_ACTIVE_PUT] = {TABLE_ACTIVE, false, {0}},
};

// --- buffers ------------------------------------------------------------------------------------

static bool reserve(PgBuffer *buffer, size_t bytes)
{
    if (bytes <= buffer->max - buffer->count) {
        return true;
    }
    const size_t max = (buffer->count + bytes) * 2 + 256;
    uint8_t *data = realloc(buffer->data, max);
    if (data == NULL) {
        return false;
    }
    buffer->data = data;
    buffer->max = max;
    return true;
}

static void add(PgBuffer *buffer, const void *data, size_t bytes)
{
    memcpy(buffer->data + buffer->count, data, bytes);
    buffer->count += bytes;
}

static void add_u32(PgBuffer *buffer, uint32_t value)
{
    const uint32_t bits = htobe32(value);
    add(buffer, &bits, sizeof bits);
}

// An array in PostgreSQL's binary form: dimensions, has nulls, type, count, first index, elements.
#define ARRAY_HEAD_BYTES 20
static bool array_begin(PgBuffer *buffer, char type, uint32_t count)
{
    buffer->count = 0;
    if (!reserve(buffer, ARRAY_HEAD_BYTES)) {
        return false;
    }
    add_u32(buffer, 1);
    add_u32(buffer, 0);
    add_u32(buffer, pg_oid(type));
    add_u32(buffer, count);
    add_u32(buffer, 1);
    return true;
}

static bool array_add(PgBuffer *buffer, const void *data, size_t bytes)
{
    if (!reserve(buffer, bytes + 4)) {
        return false;
    }
    add_u32(buffer, (uint32_t)bytes);
    add(buffer, data, bytes);
    return true;
}

static bool array_add_u64(PgBuffer *buffer, uint64_t value)
{
    const uint64_t bits = htobe64(value);
    return array_add(buffer, &bits, sizeof bits);
}

// --- tables -------------------------------------------------------------------------------------

static PgTable *find_table(Pg *pg, SqlTable table)
{
    for (uint32_t i = 0; i < pg->table_count; i++) {
        if (pg->tables[i].info->table == table) {
            return &pg->tables[i];
        }
    }
    ASSERT(pg->table_count < PG_TABLES_MAX);
    PgTable *made = &pg->tables[pg->table_count++];
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        if (sql_table_at(i)->table == table) {
            made->info = sql_table_at(i);
        }
    }
    ASSERT(made->info != NULL);
    made->column_count = sql_table_columns(made->info, made->columns);
    while (made->columns[made->key_count].is_key) {
        made->key_count += 1;
    }
    return made;
}

static char letter_of(SqlType type)
{
    return type == SQL_BYTES ? 'b' : type == SQL_INTEGER ? 'i' : 'f';
}

static const char *array_text(SqlType type)
{
    return type == SQL_BYTES ? "bytea[]" : type == SQL_INTEGER ? "bigint[]" : "float8[]";
}

typedef struct TextBuilder {
    char text[2 * SQL_TEXT_BYTES];
    size_t at;
} TextBuilder;

static void put(TextBuilder *builder, const char *format, const char *a, const char *b)
{
    builder->at += (size_t)snprintf(builder->text + builder->at, sizeof builder->text - builder->at,
                                    format, a, b);
    ASSERT(builder->at < sizeof builder->text);
}

static void put_names(TextBuilder *builder, const PgTable *table, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put(builder, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
    }
}

static void put_arrays(TextBuilder *builder, const PgTable *table, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%s$%u", i > 0 ? ", " : "", i + 1);
        put(builder, "%s::%s", number, array_text(table->columns[i].type));
    }
}

static void array_types(const PgTable *table, uint32_t count, char out[SQL_COLUMNS_MAX + 1])
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (char)(letter_of(table->columns[i].type) - 'a' + 'A');
    }
    out[count] = '\0';
}

static PgStatement *make_put(Pg *pg, const PgTable *table)
{
    TextBuilder builder = {.at = 0};
    char types[SQL_COLUMNS_MAX + 1];
    put(&builder, "INSERT INTO %s(%s", table->info->name, "");
    put_names(&builder, table, table->column_count);
    put(&builder, ") SELECT * FROM unnest(%s%s", "", "");
    put_arrays(&builder, table, table->column_count);
    put(&builder, ") ON CONFLICT(%s%s", "", "");
    put_names(&builder, table, table->key_count);
    put(&builder, ") DO UPDATE SET %s%s", "", "");
    for (uint32_t i = table->key_count; i < table->column_count; i++) {
        put(&builder, "%s%s = ", i > table->key_count ? ", " : "", table->columns[i].name);
        put(&builder, "excluded.%s%s", table->columns[i].name, "");
    }
    array_types(table, table->column_count, types);
    return pg_statement(pg, builder.text, types);
}

static PgStatement *make_deletion(Pg *pg, const PgTable *table)
{
    TextBuilder builder = {.at = 0};
    char types[SQL_COLUMNS_MAX + 1];
    put(&builder, "DELETE FROM %s t USING unnest(%s", table->info->name, "");
    put_arrays(&builder, table, table->key_count);
    put(&builder, ") AS u(%s%s", "", "");
    put_names(&builder, table, table->key_count);
    put(&builder, ") WHERE %s%s", "", "");
    for (uint32_t i = 0; i < table->key_count; i++) {
        put(&builder, "%st.%s = ", i > 0 ? " AND " : "", table->columns[i].name);
        put(&builder, "u.%s%s", table->columns[i].name, "");
    }
    array_types(table, table->key_count, types);
    return pg_statement(pg, builder.text, types);
}

// --- rows that wait -----------------------------------------------------------------------------

static uint32_t *find_slot(PgTable *table, const uint8_t *key, size_t key_bytes)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, key, key_bytes);
    const uint32_t mask = table->slot_count - 1;
    for (uint32_t at = (uint32_t)hash.state & mask;; at = (at + 1) & mask) {
        if (table->slots[at] == 0) {
            return &table->slots[at];
        }
        const PgRow *row = &table->rows[table->slots[at] - 1];
        if (row->key_bytes == key_bytes &&
            memcmp(table->bytes.data + row->at, key, key_bytes) == 0) {
            return &table->slots[at];
        }
    }
}

static bool grow_rows(PgTable *table)
{
    if (table->row_count < table->row_max) {
        return true;
    }
    const uint32_t max = table->row_max == 0 ? 64 : table->row_max * 2;
    PgRow *rows = realloc(table->rows, max * sizeof *rows);
    uint32_t *slots = calloc((size_t)max * 2, sizeof *slots);
    if (rows != NULL) {
        table->rows = rows;
    }
    if (rows == NULL || slots == NULL) {
        free(slots);
        return false;
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = max * 2;
    table->row_max = max;
    for (uint32_t i = 0; i < table->row_count; i++) {
        const PgRow *row = &table->rows[i];
        *find_slot(table, table->bytes.data + row->at, row->key_bytes) = i + 1;
    }
    return true;
}

static bool add_value(PgBuffer *buffer, const PgStatement *statement, uint32_t at)
{
    ASSERT(statement->values[at] != NULL); // no column of such a table is null
    return array_add(buffer, statement->values[at], (size_t)statement->lengths[at]);
}

static bool add_row(PgTable *table, const PgStatement *statement, const RowStatement *kind)
{
    PgBuffer *bytes = &table->bytes;
    const size_t start = bytes->count;
    const uint32_t count = kind->is_deletion ? table->key_count : table->column_count;
    uint32_t key_bytes = 0;
    ASSERT(statement->parameter_count == count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = kind->order[0] != 0 ? kind->order[i] - 1u : i;
        if (!add_value(bytes, statement, at)) {
            return false;
        }
        key_bytes = i + 1 == table->key_count ? (uint32_t)(bytes->count - start) : key_bytes;
    }
    if (!grow_rows(table)) {
        return false;
    }
    uint32_t *slot = find_slot(table, bytes->data + start, key_bytes);
    if (*slot == 0) {
        table->row_count += 1;
        *slot = table->row_count;
    }
    table->rows[*slot - 1] = (PgRow){start, key_bytes, kind->is_deletion};
    return true;
}

bool rows_take(Pg *pg, const PgStatement *statement)
{
    if (statement->sql_name >= SQL_COUNT) {
        return false;
    }
    const RowStatement *kind = &row_statements[statement->sql_name];
    if (kind->table == TABLE_NONE) {
        return false;
    }
    if (!add_row(find_table(pg, kind->table), statement, kind)) {
        pg->rows_error = SQL_ERROR_DISK;
    }
    pg->rows_waiting += 1;
    return true;
}

SqlError rows_error(Pg *pg)
{
    return pg->rows_error;
}

bool rows_are_waiting(const Pg *pg)
{
    return pg->rows_waiting > 0;
}

// --- writing them -------------------------------------------------------------------------------

// The columns of the rows that are put, or the keys of those that are deleted, one array each.
static bool fill_arrays(Pg *pg, const PgTable *table, bool deletions, uint32_t row_count)
{
    const uint32_t columns = deletions ? table->key_count : table->column_count;
    for (uint32_t i = 0; i < columns; i++) {
        if (!array_begin(&pg->arrays[i], letter_of(table->columns[i].type), row_count)) {
            return false;
        }
    }
    for (uint32_t r = 0; r < table->row_count; r++) {
        if (table->rows[r].is_deletion != deletions) {
            continue;
        }
        const uint8_t *at = table->bytes.data + table->rows[r].at;
        for (uint32_t i = 0; i < columns; i++) {
            uint32_t bits;
            memcpy(&bits, at, sizeof bits);
            const size_t bytes = 4 + (size_t)be32toh(bits);
            if (!reserve(&pg->arrays[i], bytes)) {
                return false;
            }
            add(&pg->arrays[i], at, bytes);
            at += bytes;
        }
    }
    return true;
}

static SqlError queue_arrays(Pg *pg, PgStatement *statement)
{
    for (uint32_t i = 0; i < statement->parameter_count; i++) {
        pg_set_bytes(statement, i, pg->arrays[i].data, pg->arrays[i].count);
    }
    return pg_queue(pg, statement); // libpq copies them
}

static SqlError write_rows(Pg *pg, PgTable *table, bool deletions)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->row_count; i++) {
        count += table->rows[i].is_deletion == deletions;
    }
    if (count == 0) {
        return SQL_NO_ERROR;
    }
    PgStatement **statement = deletions ? &table->deletion : &table->put;
    if (*statement == NULL) {
        *statement = deletions ? make_deletion(pg, table) : make_put(pg, table);
    }
    if (*statement == NULL || !fill_arrays(pg, table, deletions, count)) {
        return SQL_ERROR_DISK;
    }
    (*statement)->is_counted = false; // they were when they came
    return queue_arrays(pg, *statement);
}

static void clear_table(PgTable *table)
{
    table->bytes.count = 0;
    if (table->row_count > 0) {
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    }
    table->row_count = 0;
}

SqlError rows_flush(Pg *pg)
{
    SqlError error = pg->rows_error;
    if (pg->rows_waiting == 0) {
        return error;
    }
    for (uint32_t i = 0; i < pg->table_count; i++) {
        PgTable *table = &pg->tables[i];
        if (error == SQL_NO_ERROR) {
            error = write_rows(pg, table, false);
        }
        if (error == SQL_NO_ERROR) {
            error = write_rows(pg, table, true);
        }
        clear_table(table);
    }
    pg->rows_waiting = 0;
    return error;
}

void rows_drop(Pg *pg)
{
    for (uint32_t i = 0; i < pg->table_count; i++) {
        clear_table(&pg->tables[i]);
    }
    pg->rows_waiting = 0;
    pg->rows_error = SQL_NO_ERROR;
}

void rows_free(Pg *pg)
{
    for (uint32_t i = 0; i < pg->table_count; i++) {
        PgTable *table = &pg->tables[i];
        pg_statement_free(table->put);
        pg_statement_free(table->deletion);
        free(table->bytes.data);
        free(table->rows);
        free(table->slots);
    }
    for (uint32_t i = 0; i < SQL_COLUMNS_MAX; i++) {
        free(pg->arrays[i].data);
    }
}

// --- the fence of many worlds -------------------------------------------------------------------

#define RAISE_TEXT                                                                            \
    "UPDATE world_head h SET seq = u.seq, checksum = u.checksum FROM unnest($1::bytea[], "    \
    "$2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) WITH ORDINALITY "  \
    "AS u(world_id, epoch, old_seq, old_checksum, seq, checksum, number) "                    \
    "WHERE h.world_id = u.world_id AND h.epoch = u.epoch AND h.seq = u.old_seq "              \
    "AND h.checksum = u.old_checksum AND EXISTS (SELECT 1 FROM hosts o WHERE o.host_id = $7 " \
    "AND o.boot = $8 AND o.expires_unix_ms > $9) RETURNING u.number"

static bool fill_raises(Pg *pg, const SqlHeadRaise *raises, uint32_t count)
{
    bool ok = array_begin(&pg->arrays[0], 'b', count);
    for (uint32_t i = 1; i < 6; i++) {
        ok = ok && array_begin(&pg->arrays[i], 'i', count);
    }
    for (uint32_t i = 0; i < count && ok; i++) {
        const SqlHeadRaise *raise = &raises[i];
        ok = array_add(&pg->arrays[0], raise->world_id, strlen(raise->world_id)) &&
             array_add_u64(&pg->arrays[1], raise->epoch) &&
             array_add_u64(&pg->arrays[2], raise->old_seq) &&
             array_add_u64(&pg->arrays[3], raise->old_checksum) &&
             array_add_u64(&pg->arrays[4], raise->seq) &&
             array_add_u64(&pg->arrays[5], raise->checksum);
    }
    return ok;
}

SqlError rows_raise_heads(Sql *sql, const SqlHolder *holder, SqlHeadRaise *raises, uint32_t count)
{
    Pg *pg = sql->connection;
    if (pg->raise == NULL) {
        pg->raise = pg_statement(pg, RAISE_TEXT, "BIIIIIbbi");
    }
    if (pg->raise == NULL || !fill_raises(pg, raises, count)) {
        return SQL_ERROR_DISK;
    }
    PgStatement *statement = pg->raise;
    for (uint32_t i = 0; i < 6; i++) {
        pg_set_bytes(statement, i, pg->arrays[i].data, pg->arrays[i].count);
    }
    pg_set_bytes(statement, 6, holder->host_id, strlen(holder->host_id));
    pg_set_bytes(statement, 7, holder->boot, holder->boot_bytes);
    pg_set_integer(statement, 8, (int64_t)holder->now);
    bool is_row = false;
    SqlError error = sql->driver->step(sql, statement, &is_row);
    while (error == SQL_NO_ERROR && is_row) {
        const int64_t number = sql->driver->column_integer(statement, 0);
        ASSERT(number >= 1 && number <= (int64_t)count);
        raises[number - 1].is_raised = true;
        pg->changes += 1;
        error = sql->driver->step(sql, statement, &is_row);
    }
    sql->driver->reset(statement);
    return error;
}

// --- locks --------------------------------------------------------------------------------------

// In the order of the places' ids, so that two who lock the same ones do not wait for each other.
#define LOCK_PLACES_TEXT                                                                 \
    "SELECT pg_advisory_xact_lock(hashtextextended(encode(p.place_id, 'hex'), 0)) FROM " \
    "(SELECT DISTINCT place_id FROM worlds WHERE world_id = ANY($1::bytea[]) "           \
    "ORDER BY place_id) AS p"

#define LOCK_WORLDS_TEXT                                                            \
    "SELECT 1 FROM world_head WHERE world_id = ANY($1::bytea[]) ORDER BY world_id " \
    "FOR UPDATE"

static SqlError queue_lock(Pg *pg, PgStatement **statement, const char *text,
                           const char *const *world_ids, uint32_t count)
{
    if (*statement == NULL) {
        *statement = pg_statement(pg, text, "B");
    }
    bool ok = *statement != NULL && array_begin(&pg->arrays[0], 'b', count);
    for (uint32_t i = 0; i < count && ok; i++) {
        ok = array_add(&pg->arrays[0], world_ids[i], strlen(world_ids[i]));
    }
    return ok ? queue_arrays(pg, *statement) : SQL_ERROR_DISK;
}

SqlError rows_lock_places(Sql *sql, const char *const *world_ids, uint32_t count)
{
    Pg *pg = sql->connection;
    return queue_lock(pg, &pg->lock_places, LOCK_PLACES_TEXT, world_ids, count);
}

SqlError rows_lock_worlds(Sql *sql, const char *const *world_ids, uint32_t count)
{
    Pg *pg = sql->connection;
    return queue_lock(pg, &pg->lock_worlds, LOCK_WORLDS_TEXT, world_ids, count);
}
