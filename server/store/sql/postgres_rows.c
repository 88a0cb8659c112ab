// Many rows in one statement, for PostgreSQL. The statements that put or delete one row of a world
// by its key are not sent: their rows are collected by table, an array for each column, and before
// the next flight one statement with unnest(…) writes all that were put into a table, one all that
// were changed, and one all that were deleted. Rows of different keys do not depend on each
// other, so their order does not matter. A key that comes a second time must not be in the same
// statement: what waits for its table is queued before it.
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
    PgRowKind kind;
    uint8_t order[4]; // which parameter each column is; all 0: in the order of the columns
} RowStatement;

static const uint8_t in_order[SQL_COLUMNS_MAX] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
                                                  10, 11, 12, 13, 14, 15, 16, 17, 18, 19};

static const RowStatement row_statements[SQL_COUNT] = {
    [SQL_META_PUT] = {TABLE_META, PG_PUT, {0}},
    [SQL_META_DELETE] = {TABLE_META, PG_DELETION, {0}},
    [SQL_STRUCTURE_PUT] = {TABLE_STRUCTURES, PG_PUT, {0}},
    [SQL_STRUCTURE_DELETE] = {TABLE_STRUCTURES, PG_DELETION, {0}},
    [SQL_CHUNK_PUT] = {TABLE_CHUNKS, PG_PUT, {0}},
    [SQL_CHUNK_DELETE] = {TABLE_CHUNKS, PG_DELETION, {0}},
    [SQL_ATTRIBUTE_PUT] = {TABLE_ATTRIBUTES, PG_PUT, {0}},
    [SQL_ATTRIBUTE_DELETE] = {TABLE_ATTRIBUTES, PG_DELETION, {0}},
    [SQL_RESUME_PUT] = {TABLE_RESUMES, PG_PUT, {0}},
    [SQL_RESUME_DELETE] = {TABLE_RESUMES, PG_DELETION, {0}},
    [SQL_PLAYERS_PUT] = {TABLE_PLAYERS, PG_PUT, {0}},
    [SQL_PLAYERS_CHANGE] = {TABLE_PLAYERS, PG_CHANGE, {2, 0, 1}},
    [SQL_CHECKPOINT_PUT] = {TABLE_CHECKPOINTS, PG_PUT, {0}},
    [SQL_CHECKPOINT_DELETE] = {TABLE_CHECKPOINTS, PG_DELETION, {0}},
    [SQL_PRESENCE_PUT] = {TABLE_PRESENCE, PG_PUT, {0}},
    [SQL_PRESENCE_DELETE] = {TABLE_PRESENCE, PG_DELETION, {0}},
    [SQL_PROFILE_PUT] = {TABLE_PROFILES, PG_PUT, {0}},
    [SQL_ACTIVE_PUT] = {TABLE_ACTIVE, PG_PUT, {0}},
};

// --- arrays -------------------------------------------------------------------------------------

// In PostgreSQL's binary form: dimensions, has nulls, type, count, first index, elements.
#define ARRAY_HEAD_BYTES 20

static bool grow(PgBuffer *array, size_t bytes)
{
    const size_t max = (array->count + bytes) * 2 + 256;
    uint8_t *data = realloc(array->data, max);
    if (data == NULL) {
        return false;
    }
    array->data = data;
    array->max = max;
    return true;
}

// The head is written by bind_arrays.
static inline bool array_add(PgBuffer *array, const void *data, size_t bytes)
{
    if (array->count + bytes + 4 > array->max && !grow(array, bytes + 4)) {
        return false;
    }
    const uint32_t length = htobe32((uint32_t)bytes);
    uint8_t *at = array->data + array->count;
    memcpy(at, &length, sizeof length);
    if (bytes == 8) { // a number: without a call
        memcpy(at + 4, data, 8);
    } else {
        memcpy(at + 4, data, bytes);
    }
    array->count += 4 + bytes;
    return true;
}

static void write_head(PgBuffer *array, Oid type, uint32_t count)
{
    const uint32_t head[] = {htobe32(1), 0, htobe32(type), htobe32(count), htobe32(1)};
    _Static_assert(sizeof head == ARRAY_HEAD_BYTES, "before the first element");
    memcpy(array->data, head, sizeof head);
}

static Oid element_type(Oid array)
{
    return array == pg_oid('B') ? pg_oid('b') : array == pg_oid('I') ? pg_oid('i') : pg_oid('f');
}

// Also before it is used for the first time.
static void arrays_clear(PgArrays *arrays)
{
    for (uint32_t i = 0; i < SQL_COLUMNS_MAX; i++) {
        arrays->columns[i].count = ARRAY_HEAD_BYTES;
    }
    arrays->row_count = 0;
}

static void arrays_free(PgArrays *arrays)
{
    for (uint32_t i = 0; i < SQL_COLUMNS_MAX; i++) {
        free(arrays->columns[i].data);
    }
}

// The first parameters of the statement.
static void bind_arrays(PgStatement *statement, PgArrays *arrays, uint32_t count)
{
    ASSERT(arrays->row_count > 0);
    for (uint32_t i = 0; i < count; i++) {
        PgBuffer *array = &arrays->columns[i];
        write_head(array, element_type(statement->types[i]), arrays->row_count);
        pg_set_bytes(statement, i, array->data, array->count);
    }
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
    for (int kind = 0; kind < PG_ROW_KINDS; kind++) {
        arrays_clear(&made->rows[kind]);
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

static void append(TextBuilder *builder, const char *format, const char *a, const char *b)
{
    builder->at += (size_t)snprintf(builder->text + builder->at, sizeof builder->text - builder->at,
                                    format, a, b);
    ASSERT(builder->at < sizeof builder->text);
}

static void put_names(TextBuilder *builder, const PgTable *table, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        append(builder, "%s%s", i > 0 ? ", " : "", table->columns[i].name);
    }
}

static void put_arrays(TextBuilder *builder, const PgTable *table, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%s$%u", i > 0 ? ", " : "", i + 1);
        append(builder, "%s::%s", number, array_text(table->columns[i].type));
    }
}

static void array_types(const PgTable *table, uint32_t count, char out[SQL_COLUMNS_MAX + 1])
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (char)(letter_of(table->columns[i].type) - 'a' + 'A');
    }
    out[count] = '\0';
}

static void put_same_keys(TextBuilder *builder, const PgTable *table, const char *a, const char *b)
{
    for (uint32_t i = 0; i < table->key_count; i++) {
        append(builder, "%s%s.", i > 0 ? " AND " : "", a);
        append(builder, "%s = %s.", table->columns[i].name, b);
        append(builder, "%s%s", table->columns[i].name, "");
    }
}

static void put_changes(TextBuilder *builder, const PgTable *table, const char *from)
{
    for (uint32_t i = table->key_count; i < table->column_count; i++) {
        append(builder, "%s%s = ", i > table->key_count ? ", " : "", table->columns[i].name);
        append(builder, "%s.%s", from, table->columns[i].name);
    }
}

static PgStatement *make_put(Pg *pg, const PgTable *table)
{
    TextBuilder builder = {.at = 0};
    char types[SQL_COLUMNS_MAX + 1];
    append(&builder, "INSERT INTO %s(%s", table->info->name, "");
    put_names(&builder, table, table->column_count);
    append(&builder, ") SELECT * FROM unnest(%s%s", "", "");
    put_arrays(&builder, table, table->column_count);
    append(&builder, ") ON CONFLICT(%s%s", "", "");
    put_names(&builder, table, table->key_count);
    append(&builder, ") DO UPDATE SET %s%s", "", "");
    put_changes(&builder, table, "excluded");
    array_types(table, table->column_count, types);
    return pg_statement(pg, builder.text, types);
}

// Of rows that are there: costs two thirds of putting them.
static PgStatement *make_change(Pg *pg, const PgTable *table)
{
    TextBuilder builder = {.at = 0};
    char types[SQL_COLUMNS_MAX + 1];
    append(&builder, "UPDATE %s AS t SET %s", table->info->name, "");
    put_changes(&builder, table, "u");
    append(&builder, " FROM unnest(%s%s", "", "");
    put_arrays(&builder, table, table->column_count);
    append(&builder, ") AS u(%s%s", "", "");
    put_names(&builder, table, table->column_count);
    append(&builder, ") WHERE %s%s", "", "");
    put_same_keys(&builder, table, "t", "u");
    array_types(table, table->column_count, types);
    return pg_statement(pg, builder.text, types);
}

static PgStatement *make_deletion(Pg *pg, const PgTable *table)
{
    TextBuilder builder = {.at = 0};
    char types[SQL_COLUMNS_MAX + 1];
    append(&builder, "DELETE FROM %s t USING unnest(%s", table->info->name, "");
    put_arrays(&builder, table, table->key_count);
    append(&builder, ") AS u(%s%s", "", "");
    put_names(&builder, table, table->key_count);
    append(&builder, ") WHERE %s%s", "", "");
    put_same_keys(&builder, table, "t", "u");
    array_types(table, table->key_count, types);
    return pg_statement(pg, builder.text, types);
}

// --- rows that wait -----------------------------------------------------------------------------

static bool grow_keys(PgTable *table)
{
    if (table->key_hash_count * 2 < table->slot_count) {
        return true;
    }
    const uint32_t count = table->slot_count == 0 ? 128 : table->slot_count * 2;
    uint64_t *slots = calloc(count, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->slot_count; i++) {
        uint32_t at = (uint32_t)table->slots[i] & (count - 1);
        while (table->slots[i] != 0 && slots[at] != 0) {
            at = (at + 1) & (count - 1);
        }
        slots[at] = table->slots[i] != 0 ? table->slots[i] : slots[at];
    }
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    return true;
}

// False: a row of this key waits already, or, hardly ever, of another key with the same hash.
static bool note_key(PgTable *table, uint64_t hash)
{
    hash += hash == 0;
    uint32_t at = (uint32_t)hash & (table->slot_count - 1);
    while (table->slots[at] != 0 && table->slots[at] != hash) {
        at = (at + 1) & (table->slot_count - 1);
    }
    const bool is_new = table->slots[at] == 0;
    table->slots[at] = hash;
    table->key_hash_count += is_new;
    return is_new;
}

static uint64_t key_hash(const PgTable *table, const PgStatement *statement, const uint8_t *order)
{
    Hash64 hash = HASH64_INIT;
    for (uint32_t i = 0; i < table->key_count; i++) {
        hash_bytes(&hash, statement->values[order[i]], (size_t)statement->lengths[order[i]]);
    }
    return hash.state;
}

static void clear_table(PgTable *table)
{
    for (int kind = 0; kind < PG_ROW_KINDS; kind++) {
        arrays_clear(&table->rows[kind]);
    }
    if (table->key_hash_count > 0) {
        memset(table->slots, 0, table->slot_count * sizeof *table->slots);
    }
    table->key_hash_count = 0;
}

static SqlError write_arrays(Pg *pg, PgStatement *statement, PgArrays *arrays)
{
    if (statement == NULL) {
        return SQL_ERROR_DISK;
    }
    statement->is_counted = false; // they were when they came
    bind_arrays(statement, arrays, statement->parameter_count);
    return pg_queue(pg, statement); // libpq copies them
}

// Queues what waits for one table.
static SqlError write_table(Pg *pg, PgTable *table)
{
    static PgStatement *(*const make[PG_ROW_KINDS])(Pg *, const PgTable *) = {
        [PG_PUT] = make_put, [PG_CHANGE] = make_change, [PG_DELETION] = make_deletion};
    SqlError error = SQL_NO_ERROR;
    for (int kind = 0; kind < PG_ROW_KINDS && error == SQL_NO_ERROR; kind++) {
        if (table->rows[kind].row_count == 0) {
            continue;
        }
        if (table->statements[kind] == NULL) {
            table->statements[kind] = make[kind](pg, table);
        }
        error = write_arrays(pg, table->statements[kind], &table->rows[kind]);
    }
    clear_table(table);
    return error;
}

static SqlError add_row(Pg *pg, PgTable *table, const PgStatement *statement,
                        const RowStatement *kind)
{
    const uint8_t *order = kind->order[0] != kind->order[1] ? kind->order : in_order;
    const uint64_t hash = key_hash(table, statement, order);
    if (!grow_keys(table)) {
        return SQL_ERROR_DISK;
    }
    if (!note_key(table, hash)) {
        const SqlError error = write_table(pg, table);
        if (error != SQL_NO_ERROR) {
            return error;
        }
        (void)note_key(table, hash);
    }
    const uint32_t count = kind->kind == PG_DELETION ? table->key_count : table->column_count;
    PgArrays *arrays = &table->rows[kind->kind];
    ASSERT(statement->parameter_count == count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = order[i];
        ASSERT(statement->values[at] != NULL); // no column of such a table is null
        if (!array_add(&arrays->columns[i], statement->values[at],
                       (size_t)statement->lengths[at])) {
            return SQL_ERROR_DISK;
        }
    }
    arrays->row_count += 1;
    return SQL_NO_ERROR;
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
    if (pg->rows_error == SQL_NO_ERROR) {
        pg->rows_error = add_row(pg, find_table(pg, kind->table), statement, kind);
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

SqlError rows_flush(Pg *pg)
{
    SqlError error = pg->rows_error;
    if (pg->rows_waiting == 0) {
        return error;
    }
    for (uint32_t i = 0; i < pg->table_count; i++) {
        if (error == SQL_NO_ERROR) {
            error = write_table(pg, &pg->tables[i]);
        }
        clear_table(&pg->tables[i]);
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
        for (int kind = 0; kind < PG_ROW_KINDS; kind++) {
            pg_statement_free(table->statements[kind]);
            arrays_free(&table->rows[kind]);
        }
        free(table->slots);
    }
    arrays_free(&pg->heads);
}

// --- the fence of many worlds -------------------------------------------------------------------

#define RAISE_TEXT                                                                            \
    "WITH raised AS (UPDATE world_head h SET seq = u.seq, checksum = u.checksum FROM "        \
    "unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], "            \
    "$6::bigint[]) WITH ORDINALITY "                                                          \
    "AS u(world_id, epoch, old_seq, old_checksum, seq, checksum, number) "                    \
    "WHERE h.world_id = u.world_id AND h.epoch = u.epoch AND h.seq = u.old_seq "              \
    "AND h.checksum = u.old_checksum AND EXISTS (SELECT 1 FROM hosts o WHERE o.host_id = $7 " \
    "AND o.boot = $8 AND o.expires_unix_ms > $9) RETURNING u.number) "

// One row as the answer: for each world that was raised its number, eight bytes.
#define RAISE_EACH_TEXT RAISE_TEXT "SELECT string_agg(int8send(number), ''::bytea) FROM raised"
// A division by zero, which undoes the transaction, if one of them was not raised.
#define RAISE_ALL_TEXT RAISE_TEXT "SELECT 1 / (count(*) = $10)::integer FROM raised"

static bool fill_raises(PgArrays *arrays, const SqlHeadRaise *raises, uint32_t count)
{
    bool ok = true;
    arrays_clear(arrays);
    arrays->row_count = count;
    for (uint32_t i = 0; i < count && ok; i++) {
        const SqlHeadRaise *raise = &raises[i];
        const uint64_t numbers[] = {raise->epoch, raise->old_seq, raise->old_checksum, raise->seq,
                                    raise->checksum};
        ok = array_add(&arrays->columns[0], raise->world_id, strlen(raise->world_id));
        for (uint32_t n = 0; n < 5 && ok; n++) {
            const uint64_t bits = htobe64(numbers[n]);
            ok = array_add(&arrays->columns[1 + n], &bits, sizeof bits);
        }
    }
    return ok;
}

static void note_raised(Sql *sql, PgStatement *statement, SqlHeadRaise *raises, uint32_t count)
{
    Pg *pg = sql->connection;
    size_t bytes = 0;
    const uint8_t *at = sql->driver->column_bytes(statement, 0, &bytes);
    ASSERT(bytes % 8 == 0);
    for (const uint8_t *end = at + bytes; at < end; at += 8) {
        uint64_t bits;
        memcpy(&bits, at, sizeof bits);
        const uint64_t number = be64toh(bits);
        ASSERT(number >= 1 && number <= count);
        raises[number - 1].is_raised = true;
        pg->changes += 1;
    }
}

static bool bind_raises(PgStatement *statement, PgArrays *heads, const SqlHolder *holder,
                        const SqlHeadRaise *raises, uint32_t count)
{
    if (statement == NULL || !fill_raises(heads, raises, count)) {
        return false;
    }
    bind_arrays(statement, heads, 6);
    pg_set_bytes(statement, 6, holder->host_id, strlen(holder->host_id));
    pg_set_bytes(statement, 7, holder->boot, holder->boot_bytes);
    pg_set_integer(statement, 8, (int64_t)holder->now);
    return true;
}

static SqlError raise_each(Sql *sql, const SqlHolder *holder, SqlHeadRaise *raises, uint32_t count)
{
    Pg *pg = sql->connection;
    if (pg->raise == NULL) {
        pg->raise = pg_statement(pg, RAISE_EACH_TEXT, "BIIIIIbbi");
    }
    PgStatement *statement = pg->raise;
    if (!bind_raises(statement, &pg->heads, holder, raises, count)) {
        return SQL_ERROR_DISK;
    }
    bool is_row = false;
    const SqlError error = sql->driver->step(sql, statement, &is_row);
    if (error == SQL_NO_ERROR && is_row) {
        note_raised(sql, statement, raises, count);
    }
    sql->driver->reset(statement);
    return error;
}

static SqlError raise_all(Pg *pg, const SqlHolder *holder, SqlHeadRaise *raises, uint32_t count)
{
    if (pg->raise_all == NULL) {
        pg->raise_all = pg_statement(pg, RAISE_ALL_TEXT, "BIIIIIbbii");
    }
    SqlError error = bind_raises(pg->raise_all, &pg->heads, holder, raises, count)
                         ? pg_be_optimistic(pg)
                         : SQL_ERROR_DISK;
    if (error == SQL_NO_ERROR) {
        pg_set_integer(pg->raise_all, 9, count);
        error = pg_queue(pg, pg->raise_all);
    }
    for (uint32_t i = 0; i < count && error == SQL_NO_ERROR; i++) {
        raises[i].is_raised = true;
        pg->changes += 1;
    }
    return error;
}

SqlError rows_raise_heads(Sql *sql, const SqlHolder *holder, SqlHeadRaise *raises, uint32_t count,
                          bool is_optimistic)
{
    Pg *pg = sql->connection;
    return is_optimistic && pg_may_be_optimistic(pg) ? raise_all(pg, holder, raises, count)
                                                     : raise_each(sql, holder, raises, count);
}

// --- locks --------------------------------------------------------------------------------------

// In the order of the places' ids, so that two who lock the same ones do not wait for each other.
// `= ANY($1)` would compare each row with each element of the array.
#define LOCK_PLACES_TEXT                                                                      \
    "SELECT count(pg_advisory_xact_lock(hashtextextended(encode(p.place_id, 'hex'), 0))) "    \
    "FROM (SELECT DISTINCT w.place_id FROM worlds w JOIN unnest($1::bytea[]) AS u(world_id) " \
    "ON w.world_id = u.world_id ORDER BY w.place_id) AS p"

// So are heads. Without it an UPDATE of several would lock them in the order of its plan.
#define LOCK_WORLDS_TEXT                                                              \
    "SELECT count(*) FROM (SELECT 1 FROM world_head h JOIN unnest($1::bytea[]) "      \
    "AS u(world_id) ON h.world_id = u.world_id ORDER BY h.world_id FOR UPDATE OF h) " \
    "AS locked"

static SqlError queue_lock(Pg *pg, PgStatement **statement, const char *text,
                           const char *const *world_ids, uint32_t count)
{
    PgArrays *arrays = &pg->heads;
    if (*statement == NULL) {
        *statement = pg_statement(pg, text, "B");
    }
    bool ok = *statement != NULL;
    arrays_clear(arrays);
    arrays->row_count = count;
    for (uint32_t i = 0; i < count && ok; i++) {
        ok = array_add(&arrays->columns[0], world_ids[i], strlen(world_ids[i]));
    }
    if (!ok) {
        return SQL_ERROR_DISK;
    }
    bind_arrays(*statement, arrays, 1);
    return pg_queue(pg, *statement);
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
