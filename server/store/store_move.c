// See store_move.h. A page of rows of each side is in memory; rows are compared as bytes, with
// their checksums, which are part of what is copied.
#define _GNU_SOURCE
#include "server/store/store_move.h"

#include "core/base/check.h"
#include "server/store/sql/sql_driver.h"
#include "server/store/store_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COMMIT_ROWS 1000 // whoever is killed begins again there
#define PAGE_ROWS   64

typedef struct Value {
    SqlType type;
    int64_t integer;
    double floating;
    uint8_t *bytes;
    size_t byte_count;
} Value;

typedef struct MoveRow {
    Value values[SQL_COLUMNS_MAX];
} MoveRow;

typedef struct Side {
    Sql sql;
    bool is_open;
    MoveRow rows[PAGE_ROWS];
    uint32_t count, at;
    bool is_last; // no page follows
    void *first_page, *next_page, *put, *deletion;
    uint64_t row_count, hash;
} Side;

typedef struct Moving {
    const StoreMove *move;
    const SqlTableInfo *table;
    SqlColumn columns[SQL_COLUMNS_MAX];
    uint32_t column_count, key_count;
    Side from, to;
    StoreMoved *moved;
    bool is_lived_in; // a host began to run on the target
} Moving;

// --- rows ---------------------------------------------------------------------------------------

static void free_row(MoveRow *row)
{
    for (uint32_t i = 0; i < SQL_COLUMNS_MAX; i++) {
        free(row->values[i].bytes);
    }
    *row = (MoveRow){0};
}

static void free_page(Side *side)
{
    for (uint32_t i = 0; i < side->count; i++) {
        free_row(&side->rows[i]);
    }
    side->count = side->at = 0;
}

static int compare_values(const Value *a, const Value *b)
{
    if (a->type != SQL_BYTES) {
        return a->integer < b->integer ? -1 : a->integer > b->integer;
    }
    const size_t least = a->byte_count < b->byte_count ? a->byte_count : b->byte_count;
    const int order = least > 0 ? memcmp(a->bytes, b->bytes, least) : 0;
    return order != 0 ? order : a->byte_count < b->byte_count ? -1 : a->byte_count > b->byte_count;
}

static int compare_keys(const Moving *moving, const MoveRow *a, const MoveRow *b)
{
    int order = 0;
    for (uint32_t i = 0; i < moving->key_count && order == 0; i++) {
        order = compare_values(&a->values[i], &b->values[i]);
    }
    return order;
}

static uint64_t hash_row(const Moving *moving, const MoveRow *row)
{
    Hash64 hash = sql_checksum_begin(moving->table->table);
    for (uint32_t i = 0; i < moving->column_count; i++) {
        const Value *value = &row->values[i];
        uint64_t bits = (uint64_t)value->integer;
        if (value->type == SQL_FLOAT) {
            memcpy(&bits, &value->floating, sizeof bits);
        }
        hash_u64(&hash, (uint64_t)value->type);
        hash_u64(&hash, bits);
        hash_bytes(&hash, value->bytes, value->byte_count);
    }
    return hash.state;
}

// SQLite has such a row in most tables: it belongs to the file (store_schema.c).
static bool is_guard(const Moving *moving, const MoveRow *row)
{
    for (uint32_t i = 0; i < moving->key_count; i++) {
        if (row->values[i].integer != 0 || row->values[i].byte_count != 0) {
            return false;
        }
    }
    return true;
}

// --- reading ------------------------------------------------------------------------------------

static bool take_value(const Sql *sql, void *statement, int at, Value *out)
{
    const SqlDriver *driver = sql->driver;
    out->type = driver->column_type(statement, at);
    if (out->type == SQL_INTEGER) {
        out->integer = driver->column_integer(statement, at);
    } else if (out->type == SQL_FLOAT) {
        out->floating = driver->column_float(statement, at);
    } else if (out->type == SQL_BYTES) {
        const void *bytes = driver->column_bytes(statement, at, &out->byte_count);
        out->bytes = malloc(out->byte_count + 1);
        if (out->bytes == NULL) {
            return false;
        }
        memcpy(out->bytes, out->byte_count > 0 ? bytes : "", out->byte_count);
    }
    return out->type != SQL_OTHER;
}

static void bind(Sql *sql, void *statement, int at, const Value *value)
{
    const SqlDriver *driver = sql->driver;
    SqlError error = SQL_NO_ERROR;
    switch (value->type) {
    case SQL_INTEGER:
        error = driver->bind_integer(statement, at, value->integer);
        break;
    case SQL_FLOAT:
        error = driver->bind_float(statement, at, value->floating);
        break;
    case SQL_BYTES:
        error = driver->bind_bytes(statement, at, value->bytes, value->byte_count);
        break;
    default:
        error = driver->bind_null(statement, at);
    }
    sql_fail(sql, error);
}

// The page after the one that the side has.
static void read_page(Moving *moving, Side *side, bool is_first)
{
    Sql *sql = &side->sql;
    void *statement = is_first ? side->first_page : side->next_page;
    MoveRow last = {0};
    if (!is_first) {
        ASSERT(side->count > 0);
        last = side->rows[side->count - 1];
        side->rows[side->count - 1] = (MoveRow){0};
        for (uint32_t i = 0; i < moving->key_count; i++) {
            bind(sql, statement, (int)i + 1, &last.values[i]);
        }
    }
    free_page(side);
    bool is_row = sql->error == SQL_NO_ERROR;
    while (sql->error == SQL_NO_ERROR && is_row) {
        sql_fail(sql, sql->driver->step(sql, statement, &is_row));
        if (sql->error != SQL_NO_ERROR || !is_row) {
            break;
        }
        ASSERT(side->count < PAGE_ROWS);
        MoveRow *row = &side->rows[side->count++];
        for (uint32_t i = 0; i < moving->column_count; i++) {
            if (!take_value(sql, statement, (int)i, &row->values[i])) {
                sql_fail(sql, SQL_ERROR_DAMAGED);
            }
        }
    }
    sql->driver->reset(statement);
    free_row(&last);
    side->is_last = side->count < PAGE_ROWS;
}

// The row at which the side stands; NULL: there are no more.
static const MoveRow *row_at(Moving *moving, Side *side)
{
    while (side->sql.error == SQL_NO_ERROR) {
        if (side->at < side->count) {
            if (!is_guard(moving, &side->rows[side->at])) {
                return &side->rows[side->at];
            }
            side->at += 1;
        } else if (side->is_last) {
            return NULL;
        } else {
            read_page(moving, side, false);
        }
    }
    return NULL;
}

// --- texts --------------------------------------------------------------------------------------

typedef struct Text1 {
    char text[SQL_TEXT_BYTES];
    size_t at;
} Text1;

static void append(Text1 *out, const char *text)
{
    const size_t bytes = strlen(text);
    ASSERT(out->at + bytes < sizeof out->text);
    memcpy(out->text + out->at, text, bytes + 1);
    out->at += bytes;
}

static void add_columns(Text1 *out, const Moving *moving, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        append(out, i > 0 ? ", " : "");
        append(out, moving->columns[i].name);
    }
}

static void add_numbers(Text1 *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%s$%u", i > 0 ? ", " : "", i + 1);
        append(out, number);
    }
}

static void page_text(Text1 *out, const Moving *moving, bool is_first)
{
    char limit[32];
    *out = (Text1){.at = 0};
    append(out, "SELECT ");
    add_columns(out, moving, moving->column_count);
    append(out, " FROM ");
    append(out, moving->table->name);
    if (!is_first) {
        append(out, " WHERE (");
        add_columns(out, moving, moving->key_count);
        append(out, ") > (");
        add_numbers(out, moving->key_count);
        append(out, ")");
    }
    append(out, " ORDER BY ");
    add_columns(out, moving, moving->key_count);
    snprintf(limit, sizeof limit, " LIMIT %d", PAGE_ROWS);
    append(out, limit);
}

static void deletion_text(Text1 *out, const Moving *moving)
{
    *out = (Text1){.at = 0};
    append(out, "DELETE FROM ");
    append(out, moving->table->name);
    append(out, " WHERE (");
    add_columns(out, moving, moving->key_count);
    append(out, ") = (");
    add_numbers(out, moving->key_count);
    append(out, ")");
}

static void types_of(const Moving *moving, uint32_t count, char out[SQL_COLUMNS_MAX + 1])
{
    for (uint32_t i = 0; i < count; i++) {
        const SqlType type = moving->columns[i].type;
        out[i] = type == SQL_BYTES ? 'b' : type == SQL_INTEGER ? 'i' : 'f';
    }
    out[count] = '\0';
}

static void *make_statement(Sql *sql, const char *text, const char *types)
{
    void *statement = NULL;
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->prepare(sql, text, types, SQL_COUNT, &statement));
    }
    return statement;
}

static void open_table(Moving *moving, Side *side, bool writes)
{
    Text1 text;
    char keys[SQL_COLUMNS_MAX + 1], all[SQL_COLUMNS_MAX + 1], put[SQL_TEXT_BYTES];
    types_of(moving, moving->key_count, keys);
    types_of(moving, moving->column_count, all);
    page_text(&text, moving, true);
    side->first_page = make_statement(&side->sql, text.text, "");
    page_text(&text, moving, false);
    side->next_page = make_statement(&side->sql, text.text, keys);
    if (writes) {
        sql_put_text(moving->table, put);
        side->put = make_statement(&side->sql, put, all);
        deletion_text(&text, moving);
        side->deletion = make_statement(&side->sql, text.text, keys);
    }
}

static void close_table(Side *side)
{
    void **const all[] = {&side->first_page, &side->next_page, &side->put, &side->deletion};
    free_page(side);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        side->sql.driver->finalize(*all[i]);
        *all[i] = NULL;
    }
}

// --- hosts that run
// -------------------------------------------------------------------------------

static bool has_hosts(Sql *sql)
{
    return sql_number(sql, "SELECT CASE WHEN to_regclass('hosts') IS NULL THEN 0 ELSE 1 END") ==
               1 &&
           sql_number(sql, "SELECT count(*) FROM hosts WHERE expires_unix_ms > "
                           "(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT") > 0;
}

static Status refuse_hosts(char *reason, size_t reason_bytes)
{
    snprintf(reason, reason_bytes,
             "hosts run on the target: what they store would be set back. Is it the right one? "
             "Stop them first; one that has ended may count for some seconds more");
    return STATUS_DENIED;
}

// Hosts that share a database count their events and keep settings there; neither is ever taken
// back. What the target has of its own was made there, and the copy would delete it.
static bool is_newer(Moving *moving)
{
    static const char *const counts[] = {
        "SELECT max(last) FROM event_head",
        "SELECT count(*) FROM shared_settings WHERE length(name) > 0"};
    bool is = false;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        is =
            is || sql_number(&moving->to.sql, counts[i]) > sql_number(&moving->from.sql, counts[i]);
    }
    return is;
}

static Status check_age(Moving *moving, char *reason, size_t reason_bytes)
{
    const bool is_lost = !moving->move->overwrites && is_newer(moving);
    const Sql *bad = moving->from.sql.error != SQL_NO_ERROR ? &moving->from.sql : &moving->to.sql;
    const Status status = sql_status(bad);
    if (status != STATUS_OK) {
        snprintf(reason, reason_bytes, "%s", sql_error_text(bad));
        return status;
    }
    if (is_lost) {
        snprintf(
            reason, reason_bytes,
            "hosts have run on the target, and what they stored there would be deleted. Take a "
            "new database, or --overwrite if nobody needs that any more");
        return STATUS_DENIED;
    }
    return STATUS_OK;
}

// Hosts of the target cannot begin before the transaction ends, and none runs when it begins.
static void begin_writing(Moving *moving)
{
    Sql *sql = &moving->to.sql;
    sql_begin(sql);
    if (sql_is_url(moving->move->to)) {
        sql_exec(sql, "LOCK TABLE hosts IN SHARE MODE");
        moving->is_lived_in = has_hosts(sql);
    }
}

Status store_move_check(const char *to, char *reason, size_t reason_bytes)
{
    Sql sql = {0};
    if (!sql_is_url(to)) {
        return STATUS_OK; // its folder is locked
    }
    Status status = sql_connect(&sql, to, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    const bool is_lived_in = has_hosts(&sql);
    status = sql_status(&sql);
    if (status != STATUS_OK) {
        snprintf(reason, reason_bytes, "the target: %s", sql_error_text(&sql));
    } else if (is_lived_in) {
        status = refuse_hosts(reason, reason_bytes);
    }
    sql_disconnect(&sql);
    return status;
}

// --- one table ----------------------------------------------------------------------------------

static void write_row(Moving *moving, void *statement, const MoveRow *row, uint32_t count)
{
    Sql *sql = &moving->to.sql;
    bool is_row = false;
    for (uint32_t i = 0; i < count; i++) {
        bind(sql, statement, (int)i + 1, &row->values[i]);
    }
    if (sql->error == SQL_NO_ERROR) {
        sql_fail(sql, sql->driver->step(sql, statement, &is_row));
    }
    sql->driver->reset(statement);
}

static bool is_cancelled(const Moving *moving)
{
    return moving->move->is_cancelled != NULL && moving->move->is_cancelled();
}

// Walks both sides once. What differs is written, or only counted.
static uint64_t walk(Moving *moving, bool writes)
{
    Side *from = &moving->from, *to = &moving->to;
    uint64_t written = 0, commits = 1;
    from->row_count = from->hash = to->row_count = to->hash = 0;
    read_page(moving, from, true);
    read_page(moving, to, true);
    while (from->sql.error == SQL_NO_ERROR && to->sql.error == SQL_NO_ERROR) {
        const MoveRow *source = row_at(moving, from), *target = row_at(moving, to);
        if (source == NULL && target == NULL) {
            break;
        }
        const int order = source == NULL   ? 1
                          : target == NULL ? -1
                                           : compare_keys(moving, source, target);
        const uint64_t source_hash = order <= 0 ? hash_row(moving, source) : 0;
        const uint64_t target_hash = order >= 0 ? hash_row(moving, target) : 0;
        const bool differs = order != 0 || source_hash != target_hash;
        if (order <= 0) {
            from->row_count += 1;
            from->hash += source_hash;
            if (writes && differs) {
                write_row(moving, to->put, source, moving->column_count);
                written += 1;
            }
            from->at += 1;
        }
        if (order >= 0) {
            to->row_count += 1;
            to->hash += target_hash;
            if (writes && order > 0) {
                write_row(moving, to->deletion, target, moving->key_count);
                moving->moved->deleted += 1;
                written += 1;
            }
            to->at += 1;
        }
        if (writes && written >= COMMIT_ROWS * commits) { // what is stored is not copied again
            commits += 1;
            sql_commit(&to->sql);
            begin_writing(moving);
        }
        if (moving->is_lived_in || is_cancelled(moving)) {
            break;
        }
    }
    return written;
}

static Status side_status(const Moving *moving, char *reason, size_t reason_bytes)
{
    const Sql *const both[] = {&moving->from.sql, &moving->to.sql};
    for (size_t i = 0; i < 2; i++) {
        if (both[i]->error != SQL_NO_ERROR) {
            snprintf(reason, reason_bytes, "%s, table %s: %s", i == 0 ? "the source" : "the target",
                     moving->table->name, sql_error_text(both[i]));
            const Status status = sql_status(both[i]);
            return status == STATUS_RANGE ? STATUS_MALFORMED : status;
        }
    }
    if (moving->is_lived_in) {
        return refuse_hosts(reason, reason_bytes);
    }
    return is_cancelled(moving) ? STATUS_LIMIT : STATUS_OK;
}

static Status move_table(Moving *moving, char *reason, size_t reason_bytes)
{
    moving->column_count = sql_table_columns(moving->table, moving->columns);
    moving->key_count = 0;
    while (moving->columns[moving->key_count].is_key) {
        moving->key_count += 1;
    }
    open_table(moving, &moving->from, false);
    open_table(moving, &moving->to, true);
    // It is committed even when it was cancelled: what is there is not copied again.
    begin_writing(moving);
    const uint64_t written = moving->is_lived_in ? 0 : walk(moving, true);
    free_page(&moving->from);
    free_page(&moving->to);
    sql_commit(&moving->to.sql);
    Status status = side_status(moving, reason, reason_bytes);
    if (status == STATUS_OK) {
        (void)walk(moving, false);
        status = side_status(moving, reason, reason_bytes);
    }
    const bool is_same =
        moving->from.row_count == moving->to.row_count && moving->from.hash == moving->to.hash;
    moving->moved->rows += moving->from.row_count;
    moving->moved->written += written;
    moving->moved->tables_different += !is_same;
    moving->moved->hash += moving->from.hash;
    if (status == STATUS_OK && moving->move->told != NULL) {
        moving->move->told(moving->move->user, moving->table->name, moving->from.row_count,
                           written);
    }
    if (status != STATUS_OK) {
        sql_roll_back(&moving->to.sql);
    }
    close_table(&moving->from);
    close_table(&moving->to);
    return status;
}

// --- all ----------------------------------------------------------------------------------------

// The store makes and migrates its tables when it is opened.
static Status prepare(const char *path, char *reason, size_t reason_bytes)
{
    StoreConfig config = store_config_default();
    Store *store = NULL;
    config.path = path;
    config.manual = true;
    const Status status = store_open(&config, &store, reason, reason_bytes);
    if (status == STATUS_OK) {
        store_close(store);
    }
    return status;
}

static Status open_side(Side *side, const char *path, bool is_target, char *reason,
                        size_t reason_bytes)
{
    struct stat about;
    Status status = STATUS_OK;
    if (!is_target && !sql_is_url(path) && stat(path, &about) != 0) {
        snprintf(reason, reason_bytes, "%.150s: there is no database", path);
        return STATUS_NOT_FOUND;
    }
    if (is_target || sql_is_url(path)) {
        status = prepare(path, reason, reason_bytes);
    }
    if (status == STATUS_OK) {
        status = sql_connect(&side->sql, path, reason, reason_bytes);
        side->is_open = status == STATUS_OK;
    }
    return status;
}

Status store_move(const StoreMove *move, StoreMoved *out, char *reason, size_t bytes)
{
    Moving *moving = calloc(1, sizeof *moving);
    if (moving == NULL) {
        return STATUS_LIMIT;
    }
    *out = (StoreMoved){0};
    moving->move = move;
    moving->moved = out;
    reason[0] = '\0';
    Status status = open_side(&moving->from, move->from, false, reason, bytes);
    if (status == STATUS_OK) {
        status = open_side(&moving->to, move->to, true, reason, bytes);
    }
    status = status == STATUS_OK ? check_age(moving, reason, bytes) : status;
    const bool is_shared = status == STATUS_OK && sql_is_url(move->from);
    out->source_has_hosts = is_shared && has_hosts(&moving->from.sql);
    for (uint32_t i = 0; i < sql_table_count() && status == STATUS_OK; i++) {
        moving->table = sql_table_at(i);
        // Rows of hosts are of processes that run on that database.
        status =
            moving->table->table == TABLE_HOSTS ? STATUS_OK : move_table(moving, reason, bytes);
    }
    if (status == STATUS_OK && out->tables_different > 0) {
        snprintf(reason, bytes, "%u tables changed meanwhile", out->tables_different);
        status = STATUS_MISMATCH;
    }
    if (status == STATUS_OK && is_shared) { // also one that began meanwhile
        out->source_has_hosts = out->source_has_hosts || has_hosts(&moving->from.sql);
    }
    if (moving->from.is_open) {
        sql_abandon(&moving->from.sql); // its log is its host's
    }
    if (moving->to.is_open) {
        sql_disconnect(&moving->to.sql);
    }
    free(moving);
    return status;
}
