// See postgres_sim.h. Committed rows are in one SQLite database in memory. A transaction is a list
// of changed rows: to run a statement of it, the list is applied, the statement runs, what it
// changes is noted by SQLite's preupdate hook, and everything is rolled back again. COMMIT applies
// the list for good.
#define _GNU_SOURCE
#define SQLITE_ENABLE_PREUPDATE_HOOK
#include "tests/scenario/host/postgres_server.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "server/store/sql/sql_driver.h"
#include "server/store/store_inside.h"

#include <endian.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_MAX   160
#define TEXTS_MAX    1024
#define ARRAYS_MAX   20
#define LOCK_US      4000000u
#define DEADLOCK_US  1000000u
#define IDLE_US      10000000u
#define BACKENDS_MAX 256

typedef enum TextKind {
    TEXT_PLAIN,
    TEXT_BEGIN,
    TEXT_COMMIT,
    TEXT_ROLL_BACK,
    TEXT_SAVEPOINT,
    TEXT_UNDO,
    TEXT_RELEASE,
    TEXT_LOCK, // pg_advisory_xact_lock($1)
    TEXT_LOCK_PLACES,
    TEXT_LOCK_WORLDS,
    TEXT_NUMBER // of the catalogue
} TextKind;

struct ServerText {
    char *text;
    TextKind kind;
    int64_t number;
    bool has_arrays;
    sqlite3_stmt *select, *statement; // select: what is asked of rows that an UPDATE returns
    char wanted[64];                  // that
    bool divides;                     // no number is a division by zero
    uint32_t count;
    unsigned types[SERVER_PARAMETERS_MAX];
};

typedef struct Table {
    char name[48];
    uint32_t column_count, key_count;
    sqlite3_stmt *put, *deletion;
} Table;

typedef struct Change {
    uint32_t table;
    bool is_deletion;
    sqlite3_value **values; // all columns; the key comes first
} Change;

struct Backend {
    bool is_used, is_open, has_failed, is_committing;
    Change *changes;
    uint32_t change_count, change_max, savepoint;
    ServerFlight *flight, *answer;
    uint64_t wait_since_us, idle_since_us, commit_us;
    const Backend *waits_for; // NULL: nobody
};

typedef struct RowLock {
    uint64_t key;
    Backend *owner;
} RowLock;

static struct {
    sqlite3 *db;
    Table tables[TABLES_MAX];
    uint32_t table_count;
    ServerText *texts[TEXTS_MAX];
    uint32_t text_count;
    Backend backends[BACKENDS_MAX];
    RowLock *locks;
    uint32_t lock_count, lock_max;
    sqlite3_stmt *array_add, *array_clear, *head;
    // The statement that runs.
    Backend *runs; // NULL: changes are not noted
    bool has_conflict;
} server;

ServerCounts server_counts;

static void exec(const char *text)
{
    char *error = NULL;
    if (sqlite3_exec(server.db, text, NULL, NULL, &error) != SQLITE_OK) {
        printf("%s: %s\n", text, error);
        ASSERT(false);
    }
}

static sqlite3_stmt *prepare(const char *text)
{
    sqlite3_stmt *made = NULL;
    if (sqlite3_prepare_v2(server.db, text, -1, &made, NULL) != SQLITE_OK) {
        printf("%s: %s\n", text, sqlite3_errmsg(server.db));
        ASSERT(false);
    }
    return made;
}

// --- locks --------------------------------------------------------------------------------------

// True: it is ours now.
static bool lock_take(Backend *backend, uint64_t key)
{
    for (uint32_t i = 0; i < server.lock_count; i++) {
        if (server.locks[i].key == key) {
            backend->waits_for = server.locks[i].owner;
            return server.locks[i].owner == backend;
        }
    }
    if (server.lock_count == server.lock_max) {
        server.lock_max = server.lock_max * 2 + 64;
        server.locks = realloc(server.locks, server.lock_max * sizeof *server.locks);
        ASSERT(server.locks != NULL);
    }
    server.locks[server.lock_count++] = (RowLock){key, backend};
    return true;
}

static void locks_release(const Backend *backend)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < server.lock_count; i++) {
        if (server.locks[i].owner != backend) {
            server.locks[kept++] = server.locks[i];
        }
    }
    server.lock_count = kept;
}

static void hash_value(Hash64 *hash, sqlite3_value *value)
{
    if (sqlite3_value_type(value) == SQLITE_INTEGER) {
        hash_u64(hash, (uint64_t)sqlite3_value_int64(value));
    } else {
        const void *bytes = sqlite3_value_blob(value);
        hash_bytes(hash, bytes, (size_t)sqlite3_value_bytes(value));
    }
}

static uint64_t row_key(uint32_t table, sqlite3_value *const *values)
{
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, table);
    for (uint32_t i = 0; i < server.tables[table].key_count; i++) {
        hash_value(&hash, values[i]);
    }
    return hash.state;
}

// --- changes ------------------------------------------------------------------------------------

static void free_changes(Backend *backend, uint32_t from)
{
    for (uint32_t i = from; i < backend->change_count; i++) {
        Change *change = &backend->changes[i];
        for (uint32_t c = 0; c < server.tables[change->table].column_count; c++) {
            sqlite3_value_free(change->values[c]);
        }
        free(change->values);
    }
    backend->change_count = from < backend->change_count ? from : backend->change_count;
}

static void on_change(void *user, sqlite3 *db, int operation, const char *database,
                      const char *name, sqlite3_int64 old_id, sqlite3_int64 new_id)
{
    (void)user;
    (void)old_id;
    (void)new_id;
    Backend *backend = server.runs;
    if (backend == NULL || strcmp(database, "main") != 0) {
        return;
    }
    uint32_t at = 0;
    while (at < server.table_count && strcmp(server.tables[at].name, name) != 0) {
        at += 1;
    }
    ASSERT(at < server.table_count);
    if (backend->change_count == backend->change_max) {
        backend->change_max = backend->change_max * 2 + 64;
        backend->changes =
            realloc(backend->changes, backend->change_max * sizeof *backend->changes);
        ASSERT(backend->changes != NULL);
    }
    const uint32_t columns = server.tables[at].column_count;
    Change change = {.table = at, .is_deletion = operation == SQLITE_DELETE};
    change.values = calloc(columns, sizeof(sqlite3_value *));
    ASSERT(change.values != NULL);
    for (uint32_t i = 0; i < columns; i++) {
        sqlite3_value *value = NULL;
        const int code = change.is_deletion ? sqlite3_preupdate_old(db, (int)i, &value)
                                            : sqlite3_preupdate_new(db, (int)i, &value);
        ASSERT(code == SQLITE_OK);
        change.values[i] = sqlite3_value_dup(value);
        ASSERT(change.values[i] != NULL);
    }
    backend->changes[backend->change_count++] = change;
    if (!lock_take(backend, row_key(at, change.values))) {
        server.has_conflict = true;
    }
}

static void apply_changes(const Backend *backend)
{
    ASSERT(server.runs == NULL);
    for (uint32_t i = 0; i < backend->change_count; i++) {
        const Change *change = &backend->changes[i];
        const Table *table = &server.tables[change->table];
        sqlite3_stmt *statement = change->is_deletion ? table->deletion : table->put;
        const uint32_t count = change->is_deletion ? table->key_count : table->column_count;
        for (uint32_t c = 0; c < count; c++) {
            sqlite3_bind_value(statement, (int)c + 1, change->values[c]);
        }
        const int code = sqlite3_step(statement);
        ASSERT(code == SQLITE_DONE);
        sqlite3_reset(statement);
    }
}

static void end_transaction(Backend *backend, bool is_stored)
{
    if (is_stored) {
        apply_changes(backend);
        server_counts.commits += backend->change_count > 0;
    }
    free_changes(backend, 0);
    locks_release(backend);
    backend->is_open = backend->has_failed = backend->is_committing = false;
    backend->savepoint = UINT32_MAX;
}

// --- texts --------------------------------------------------------------------------------------

// Replaces the first `from`; false: it is not there.
static bool replace(char *text, size_t text_bytes, const char *from, const char *to)
{
    char rest[4096];
    char *at = strstr(text, from);
    if (at == NULL) {
        return false;
    }
    snprintf(rest, sizeof rest, "%s", at + strlen(from));
    const size_t left = text_bytes - (size_t)(at - text);
    ASSERT((size_t)snprintf(at, left, "%s%s", to, rest) < left);
    return true;
}

static TextKind kind_of(const char *text)
{
    static const struct {
        const char *begin;
        TextKind kind;
    } kinds[] = {
        {"BEGIN", TEXT_BEGIN},
        {"COMMIT", TEXT_COMMIT},
        {"ROLLBACK TO", TEXT_UNDO},
        {"ROLLBACK", TEXT_ROLL_BACK},
        {"SAVEPOINT", TEXT_SAVEPOINT},
        {"RELEASE", TEXT_RELEASE},
        {"SELECT count(pg_advisory_xact_lock(hash", TEXT_LOCK_PLACES},
        {"SELECT count(*) FROM (SELECT 1 FROM world_head h JOIN unnest(", TEXT_LOCK_WORLDS},
        {"SELECT pg_advisory_xact_lock(", TEXT_LOCK},
        {"SELECT CASE WHEN to_regclass", TEXT_NUMBER},
        {"SELECT count(*) FROM pg_attribute", TEXT_NUMBER}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(text, kinds[i].begin, strlen(kinds[i].begin)) == 0) {
            return kinds[i].kind;
        }
    }
    return TEXT_PLAIN;
}

static int64_t catalogue_number(const char *text)
{
    int64_t count = 0;
    for (const char *at = strstr(text, "'::regtype"); at != NULL;
         at = strstr(at + 1, "'::regtype")) {
        count += 1;
    }
    return count > 0 ? count : 1; // every table is there, with all its columns
}

// SQLite has no WITH name AS (UPDATE … RETURNING …) SELECT wanted FROM name: the UPDATE is left.
static void split_update(ServerText *out, char *text)
{
    char *update = strstr(text, " AS (UPDATE "), *select = NULL;
    for (char *at = text; (at = strstr(at, ") SELECT ")) != NULL; at += 1) {
        select = at;
    }
    if (strncmp(text, "WITH ", 5) != 0 || update == NULL || select == NULL) {
        return;
    }
    const char *wanted = select + strlen(") SELECT ");
    const char *end = strstr(wanted, " FROM ");
    ASSERT(end != NULL && (size_t)(end - wanted) < sizeof out->wanted);
    snprintf(out->wanted, sizeof out->wanted, "%.*s", (int)(end - wanted), wanted);
    update += strlen(" AS (");
    *select = '\0';
    *strstr(update, " RETURNING ") = '\0';
    memmove(text, update, strlen(update) + 1);
}

// What is asked of the rows, before they are changed.
static void prepare_select(ServerText *out, const char *text)
{
    char select[4096], target[64];
    const char *from = strstr(text, " FROM "), *where = strstr(text, " WHERE ");
    ASSERT(sscanf(text, "UPDATE %63[^=]", target) == 1 && strstr(target, " SET") != NULL);
    *strstr(target, " SET") = '\0';
    snprintf(select, sizeof select, "SELECT %s FROM %s%s%s", out->wanted, target,
             from != NULL ? ", " : "", from != NULL ? from + strlen(" FROM ") : where);
    out->select = prepare(select);
}

// "unnest($1::bytea[], …)", and what it is called: a table with columns c1, c2, … and number.
static void translate_arrays(ServerText *out, char *text, size_t bytes)
{
    char call[512], names[512] = "", source[1024] = "(SELECT ";
    char *begin = strstr(text, "unnest(");
    char *end = strchr(begin, ')');
    ASSERT(end != NULL && (size_t)(end - begin) + 2 < sizeof call);
    snprintf(call, sizeof call, "%.*s", (int)(end - begin) + 1, begin);
    ASSERT(replace(text, bytes, call, "@"));
    (void)replace(text, bytes, "@ WITH ORDINALITY", "@");
    char *as = strstr(text, "@ AS u(");
    size_t at = strlen(source);
    if (as != NULL) {
        end = strchr(as, ')');
        snprintf(names, sizeof names, "%.*s", (int)(end - as) - 7, as + 7);
        snprintf(call, sizeof call, "%.*s", (int)(end - as) + 1, as);
        ASSERT(replace(text, bytes, call, "@ AS u"));
    }
    uint32_t number = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        number += out->types[i] > 1000;
    }
    char *rest = names, *word = names[0] != '\0' ? strsep(&rest, ",") : NULL;
    for (uint32_t i = 0; i < number; i++) {
        at += (size_t)snprintf(source + at, sizeof source - at, "%sc%u%s%s", i > 0 ? ", " : "",
                               i + 1, word != NULL ? " AS " : "", word != NULL ? word : "");
        word = word != NULL ? strsep(&rest, ",") : NULL; // a blank before it does no harm
    }
    snprintf(source + at, sizeof source - at, "%s FROM temp.arrays)",
             word != NULL ? ", number" : "");
    if (strncmp(text, "DELETE", 6) == 0) { // DELETE FROM name t USING @ AS u WHERE …
        char target[64];
        ASSERT(sscanf(text, "DELETE FROM %63s t", target) == 1);
        for (uint32_t t = 0; t < sql_table_count(); t++) {
            SqlColumn columns[SQL_COLUMNS_MAX];
            if (strcmp(sql_table_at(t)->name, target) != 0) {
                continue;
            }
            const uint32_t count = sql_table_columns(sql_table_at(t), columns);
            int length = snprintf(text, bytes, "DELETE FROM %s WHERE (", target);
            for (uint32_t i = 0; i < count && columns[i].is_key; i++) {
                length += snprintf(text + length, bytes - (size_t)length, "%s%s", i > 0 ? ", " : "",
                                   columns[i].name);
            }
            snprintf(text + length, bytes - (size_t)length, ") IN @");
        }
    }
    ASSERT(replace(text, bytes, "@", source));
    if (strncmp(text, "INSERT", 6) == 0) { // else SQLite takes ON for a join
        ASSERT(replace(text, bytes, " ON CONFLICT", " WHERE true ON CONFLICT"));
    }
}

const ServerText *server_text(const char *text, int parameter_count, const unsigned *types)
{
    for (uint32_t i = 0; i < server.text_count; i++) {
        if (strcmp(server.texts[i]->text, text) == 0) {
            return server.texts[i];
        }
    }
    ASSERT(server.text_count < TEXTS_MAX);
    ServerText *made = calloc(1, sizeof *made);
    char own[4096];
    ASSERT(made != NULL);
    made->text = strdup(text);
    made->kind = kind_of(text);
    made->count = (uint32_t)parameter_count;
    memcpy(made->types, types, made->count * sizeof *types);
    snprintf(own, sizeof own, "%s", text);
    if (made->kind == TEXT_NUMBER) {
        made->number = catalogue_number(text);
    }
    if (made->kind == TEXT_PLAIN) {
        while (replace(own, sizeof own, "(extract(epoch FROM now()) * 1000)::bigint", "1")) {
        }
        (void)replace(own, sizeof own,
                      "(extract(epoch FROM now() - interval '30 days') * 1000)::bigint", "0");
        while (replace(own, sizeof own, "''::bytea", "''")) {
        }
        (void)replace(own, sizeof own, ")::integer", ")");
        made->divides = strstr(own, "SELECT 1 / ") != NULL;
        split_update(made, own);
        made->has_arrays = strstr(own, "unnest(") != NULL;
        if (made->has_arrays) {
            translate_arrays(made, own, sizeof own);
        }
        if (made->wanted[0] != '\0') {
            prepare_select(made, own);
            (void)replace(own, sizeof own, " h SET", " AS h SET");
        }
        made->statement = prepare(own);
    }
    server.texts[server.text_count++] = made;
    return made;
}

// --- results ------------------------------------------------------------------------------------

void server_result_free(ServerResult *result)
{
    if (result != NULL) {
        for (int i = 0; i < result->row_count * result->column_count; i++) {
            free(result->cells[i].data);
        }
        free(result->cells);
        free(result);
    }
}

static ServerResult *make_result(ServerStatus status, const char *state)
{
    ServerResult *result = calloc(1, sizeof *result);
    ASSERT(result != NULL);
    result->status = status;
    snprintf(result->state, sizeof result->state, "%s", state);
    snprintf(result->changed, sizeof result->changed, "0");
    return result;
}

static void add_cell(ServerCell *cell, sqlite3_stmt *statement, int column, unsigned *type)
{
    const int kind = sqlite3_column_type(statement, column);
    uint64_t bits = 0;
    const void *from = &bits;
    cell->is_null = kind == SQLITE_NULL;
    cell->bytes = kind == SQLITE_NULL ? 0 : sizeof bits;
    if (kind == SQLITE_INTEGER) {
        *type = 20;
        bits = htobe64((uint64_t)sqlite3_column_int64(statement, column));
    } else if (kind == SQLITE_FLOAT) {
        const double value = sqlite3_column_double(statement, column);
        *type = 701;
        memcpy(&bits, &value, sizeof bits);
        bits = htobe64(bits);
    } else if (kind != SQLITE_NULL) {
        *type = 17;
        from = sqlite3_column_blob(statement, column);
        cell->bytes = sqlite3_column_bytes(statement, column);
    }
    cell->data = malloc((size_t)cell->bytes + 1);
    ASSERT(cell->data != NULL);
    if (cell->bytes > 0) {
        memcpy(cell->data, from, (size_t)cell->bytes);
    }
    cell->data[cell->bytes] = '\0';
}

static void add_row(ServerResult *result, sqlite3_stmt *statement)
{
    result->column_count = sqlite3_column_count(statement);
    ASSERT(result->column_count <= 24);
    const size_t count = (size_t)(result->row_count + 1) * (size_t)result->column_count;
    result->cells = realloc(result->cells, count * sizeof *result->cells);
    ASSERT(result->cells != NULL);
    ServerCell *row = &result->cells[result->row_count++ * result->column_count];
    for (int i = 0; i < result->column_count; i++) {
        row[i] = (ServerCell){.is_null = true};
        add_cell(&row[i], statement, i, &result->types[i]);
    }
}

// --- running ------------------------------------------------------------------------------------

static void bind_value(sqlite3_stmt *statement, int at, unsigned type, const char *value, int bytes)
{
    uint64_t bits = 0;
    double number = 0;
    if (value == NULL) {
        sqlite3_bind_null(statement, at);
    } else if (type == 17) {
        sqlite3_bind_blob(statement, at, value, bytes, SQLITE_TRANSIENT);
    } else {
        ASSERT(bytes == 8);
        memcpy(&bits, value, sizeof bits);
        bits = be64toh(bits);
        memcpy(&number, &bits, sizeof number);
        if (type == 701) {
            sqlite3_bind_double(statement, at, number);
        } else {
            sqlite3_bind_int64(statement, at, (int64_t)bits);
        }
    }
}

static uint32_t read_u32(const char *data)
{
    uint32_t bits;
    memcpy(&bits, data, sizeof bits);
    return be32toh(bits);
}

static void fill_arrays(const ServerText *text, const ServerStatement *from)
{
    const char *at[ARRAYS_MAX] = {NULL};
    uint32_t columns = 0, rows = 0;
    sqlite3_step(server.array_clear);
    sqlite3_reset(server.array_clear);
    for (uint32_t i = 0; i < text->count && text->types[i] > 1000; i++) {
        rows = read_u32(from->values[i] + 12);
        at[columns++] = from->values[i] + 20;
    }
    for (uint32_t r = 0; r < rows; r++) {
        sqlite3_bind_int64(server.array_add, 1, r + 1);
        for (uint32_t i = 0; i < columns; i++) {
            const unsigned type = text->types[i] == 1001 ? 17 : text->types[i] == 1016 ? 20 : 701;
            const uint32_t bytes = read_u32(at[i]);
            bind_value(server.array_add, (int)i + 2, type, at[i] + 4, (int)bytes);
            at[i] += 4 + bytes;
        }
        sqlite3_step(server.array_add);
        sqlite3_reset(server.array_add);
        sqlite3_clear_bindings(server.array_add);
    }
}

static void bind_all(sqlite3_stmt *statement, const ServerText *text, const ServerStatement *from)
{
    for (uint32_t i = 0; i < text->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "$%u", i + 1);
        const int at = sqlite3_bind_parameter_index(statement, name);
        if (at > 0 && text->types[i] < 1000) {
            bind_value(statement, at, text->types[i], from->values[i], from->lengths[i]);
        }
    }
}

static void run_sqlite(Backend *backend, sqlite3_stmt *statement, const ServerText *text,
                       const ServerStatement *from, ServerResult *result)
{
    bind_all(statement, text, from);
    server.runs = backend;
    const int64_t before = sqlite3_total_changes64(server.db);
    int code = sqlite3_step(statement);
    for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
        result->status = SERVER_ROWS;
        add_row(result, statement);
    }
    server.runs = NULL;
    if (code != SQLITE_DONE) {
        result->status = SERVER_ERROR;
        snprintf(result->state, sizeof result->state, "23505");
    } else if (sqlite3_column_count(statement) > 0) {
        result->status = SERVER_ROWS;
    } else {
        snprintf(result->changed, sizeof result->changed, "%lld",
                 (long long)(sqlite3_total_changes64(server.db) - before));
    }
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

static bool take_named_lock(Backend *backend, const char *name, const void *data, size_t bytes)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, name, strlen(name));
    hash_bytes(&hash, data, bytes);
    return lock_take(backend, hash.state);
}

static uint32_t table_number(const char *name)
{
    uint32_t at = 0;
    while (at < server.table_count && strcmp(server.tables[at].name, name) != 0) {
        at += 1;
    }
    ASSERT(at < server.table_count);
    return at;
}

// NULL: it waits for a row of somebody else.
static ServerResult *run_plain(Backend *backend, const ServerStatement *from)
{
    const ServerText *text = from->text;
    ServerResult *result = make_result(SERVER_OK, "");
    const uint32_t changes = backend->change_count;
    server.has_conflict = false;
    if (text->has_arrays) {
        fill_arrays(text, from);
    }
    if (!server.has_conflict && text->select != NULL) {
        run_sqlite(backend, text->select, text, from, result);
        if (text->divides && result->row_count == 1 && result->cells[0].is_null) {
            server_counts.late_marks += !text->has_arrays;
            server_counts.missed_fences += text->has_arrays;
            result->status = SERVER_ERROR;
            snprintf(result->state, sizeof result->state, "22012");
            return result;
        }
        ServerResult *unused = make_result(SERVER_OK, "");
        run_sqlite(backend, text->statement, text, from, unused);
        server_result_free(unused);
        result->status = SERVER_ROWS;
    } else if (!server.has_conflict) {
        run_sqlite(backend, text->statement, text, from, result);
    }
    if (server.has_conflict) {
        free_changes(backend, changes);
        server_result_free(result);
        return NULL;
    }
    return result;
}

static ServerResult *number_result(int64_t number)
{
    ServerResult *result = make_result(SERVER_ROWS, "");
    const uint64_t bits = htobe64((uint64_t)number);
    result->row_count = result->column_count = 1;
    result->types[0] = 20;
    result->cells = calloc(1, sizeof *result->cells);
    ASSERT(result->cells != NULL);
    result->cells[0].bytes = sizeof bits;
    result->cells[0].data = malloc(sizeof bits);
    ASSERT(result->cells[0].data != NULL);
    memcpy(result->cells[0].data, &bits, sizeof bits);
    return result;
}

// In the order of their ids; those before the one that is waited for are held.
static bool lock_worlds(Backend *backend, const ServerStatement *from)
{
    const char *ids[1024], *at = from->values[0] + 20;
    const uint32_t count = read_u32(from->values[0] + 12);
    uint32_t sorted = 0;
    ASSERT(count <= 1024);
    for (; sorted < count; sorted++, at += 4 + read_u32(at)) {
        uint32_t to = sorted;
        for (; to > 0; to--) {
            const uint32_t a = read_u32(at), b = read_u32(ids[to - 1]);
            const int order = memcmp(at + 4, ids[to - 1] + 4, a < b ? a : b);
            if (order > 0 || (order == 0 && a >= b)) {
                break;
            }
            ids[to] = ids[to - 1];
        }
        ids[to] = at;
    }
    for (uint32_t i = 0; i < count; i++) {
        Hash64 hash = HASH64_INIT;
        hash_u64(&hash, table_number("world_head"));
        hash_bytes(&hash, ids[i] + 4, read_u32(ids[i]));
        if (!lock_take(backend, hash.state)) {
            return false;
        }
    }
    return true;
}

static void begin_work(const Backend *backend)
{
    exec("SAVEPOINT work");
    apply_changes(backend);
}

static void end_work(void)
{
    exec("ROLLBACK TO work; RELEASE work");
}

// NULL: it waits, or commits.
static ServerResult *run_statement(Backend *backend, const ServerStatement *from, uint64_t now_us,
                                   uint64_t commit_us)
{
    bool is_ours = true;
    switch (from->text->kind) {
    case TEXT_BEGIN:
        backend->is_open = true;
        return make_result(SERVER_OK, "");
    case TEXT_COMMIT:
        if (!backend->has_failed) {
            backend->commit_us = now_us + commit_us;
            backend->is_committing = true;
            return NULL;
        }
        end_transaction(backend, false);
        return make_result(SERVER_OK, "");
    case TEXT_ROLL_BACK:
        end_transaction(backend, false);
        end_work();
        begin_work(backend);
        return make_result(SERVER_OK, "");
    case TEXT_SAVEPOINT:
        backend->savepoint = backend->change_count;
        return make_result(SERVER_OK, "");
    case TEXT_UNDO:
        backend->has_failed = false;
        free_changes(backend, backend->savepoint);
        end_work();
        begin_work(backend);
        return make_result(SERVER_OK, "");
    case TEXT_RELEASE:
        backend->savepoint = UINT32_MAX;
        return make_result(SERVER_OK, "");
    case TEXT_LOCK:
        is_ours = take_named_lock(backend, "lock", from->values[0], (size_t)from->lengths[0]);
        return is_ours ? number_result(0) : NULL;
    case TEXT_LOCK_PLACES:
        is_ours = take_named_lock(backend, "places", "", 0);
        return is_ours ? number_result(0) : NULL;
    case TEXT_LOCK_WORLDS:
        return lock_worlds(backend, from) ? number_result(1) : NULL;
    case TEXT_NUMBER:
        return number_result(from->text->number);
    case TEXT_PLAIN:
        break;
    }
    return run_plain(backend, from);
}

static bool is_deadlock(const Backend *backend)
{
    const Backend *at = backend;
    for (uint32_t i = 0; i < BACKENDS_MAX && at != NULL && at->wait_since_us != 0; i++) {
        at = at->waits_for;
        if (at == backend) {
            return true;
        }
    }
    return false;
}

static void skip_rest(Backend *backend)
{
    ServerFlight *flight = backend->flight;
    backend->has_failed = backend->is_open;
    for (; flight->at < flight->count; flight->at++) {
        flight->results[flight->at] = make_result(SERVER_SKIPPED, "");
    }
}

static bool may_run_failed(const ServerStatement *statement)
{
    const TextKind kind = statement->text->kind;
    return kind == TEXT_ROLL_BACK || kind == TEXT_UNDO || kind == TEXT_COMMIT;
}

// False: it waits, or commits.
static bool run_next(Backend *backend, uint64_t now_us, uint64_t commit_us)
{
    ServerFlight *flight = backend->flight;
    const ServerStatement *statement = &flight->statements[flight->at];
    if (statement->text == NULL) {
        flight->results[flight->at++] = make_result(SERVER_OK, "");
        return true;
    }
    if (backend->has_failed && !may_run_failed(statement)) {
        flight->results[flight->at++] = make_result(SERVER_ERROR, "25P02");
        skip_rest(backend);
        return true;
    }
    ServerResult *result = run_statement(backend, statement, now_us, commit_us);
    if (result == NULL && !backend->is_committing) {
        server_counts.lock_waits += backend->wait_since_us == 0;
        backend->wait_since_us = backend->wait_since_us == 0 ? now_us : backend->wait_since_us;
        const uint64_t waited_us = now_us - backend->wait_since_us;
        const bool is_dead = waited_us >= DEADLOCK_US && is_deadlock(backend);
        if (waited_us < LOCK_US && !is_dead) {
            return false;
        }
        server_counts.lock_timeouts += !is_dead;
        server_counts.deadlocks += is_dead;
        result = make_result(SERVER_ERROR, is_dead ? "40P01" : "55P03");
    }
    if (result == NULL) {
        return false;
    }
    backend->wait_since_us = 0;
    flight->results[flight->at++] = result;
    if (result->status == SERVER_ERROR) {
        skip_rest(backend);
    } else if (!backend->is_open && (backend->change_count > 0 || server.lock_count > 0)) {
        end_work();
        end_transaction(backend, true); // a statement alone
        begin_work(backend);
    }
    return true;
}

BackendState backend_step(Backend *backend, uint64_t now_us, uint64_t commit_us)
{
    ServerFlight *flight = backend->flight;
    if (flight == NULL) {
        if (backend->is_open && now_us - backend->idle_since_us > IDLE_US) {
            server_counts.idle_ended += 1;
            return BACKEND_ENDED;
        }
        return BACKEND_IDLE;
    }
    if (backend->is_committing && backend->commit_us > now_us) {
        return BACKEND_BUSY;
    }
    if (backend->is_committing) {
        end_transaction(backend, true);
        flight->results[flight->at++] = make_result(SERVER_OK, "");
    }
    begin_work(backend);
    while (flight->at < flight->count && run_next(backend, now_us, commit_us)) {
    }
    end_work();
    if (backend->is_committing && commit_us == 0) { // at once
        return backend_step(backend, now_us, 0);
    }
    if (flight->at < flight->count) {
        return BACKEND_BUSY;
    }
    backend->answer = flight;
    backend->flight = NULL;
    backend->idle_since_us = now_us;
    return BACKEND_IDLE;
}

ServerFlight *backend_answer(Backend *backend)
{
    ServerFlight *flight = backend->answer;
    backend->answer = NULL;
    return flight;
}

void backend_take(Backend *backend, ServerFlight *flight, uint64_t now_us)
{
    ASSERT(backend->flight == NULL);
    flight->results = calloc(flight->count + 1, sizeof(ServerResult *));
    ASSERT(flight->results != NULL);
    backend->flight = flight;
    backend->idle_since_us = now_us;
    flight_free(backend_answer(backend));
}

Backend *backend_make(void)
{
    for (uint32_t i = 0; i < BACKENDS_MAX; i++) {
        Backend *backend = &server.backends[i];
        if (!backend->is_used) {
            *backend = (Backend){.is_used = true, .savepoint = UINT32_MAX};
            return backend;
        }
    }
    ASSERT(false);
    return NULL;
}

void backend_end(Backend *backend, bool keeps_commit)
{
    end_transaction(backend, keeps_commit && backend->is_committing);
    flight_free(backend->flight);
    flight_free(backend->answer);
    free(backend->changes);
    *backend = (Backend){.is_used = false};
}

// --- flights ------------------------------------------------------------------------------------

ServerFlight *flight_make(void)
{
    ServerFlight *flight = calloc(1, sizeof *flight);
    ASSERT(flight != NULL);
    return flight;
}

ServerStatement *flight_add(ServerFlight *flight, const ServerText *text)
{
    if (flight->count == flight->max) {
        flight->max = flight->max * 2 + 8;
        flight->statements = realloc(flight->statements, flight->max * sizeof *flight->statements);
        ASSERT(flight->statements != NULL);
    }
    ServerStatement *statement = &flight->statements[flight->count++];
    *statement = (ServerStatement){.text = text};
    return statement;
}

void flight_free(ServerFlight *flight)
{
    if (flight == NULL) {
        return;
    }
    for (uint32_t i = 0; i < flight->count; i++) {
        for (uint32_t v = 0; v < SERVER_PARAMETERS_MAX; v++) {
            free(flight->statements[i].values[v]);
        }
        if (flight->results != NULL) {
            server_result_free(flight->results[i]);
        }
    }
    free(flight->statements);
    free(flight->results);
    free(flight);
}

bool flight_commits(const ServerFlight *flight)
{
    return flight->count > 0 && flight->statements[flight->count - 1].text != NULL &&
           flight->statements[flight->count - 1].text->kind == TEXT_COMMIT;
}

// --- the tables ---------------------------------------------------------------------------------

bool server_head(const char *world_id, uint64_t *epoch)
{
    sqlite3_bind_blob(server.head, 1, world_id, (int)strlen(world_id), SQLITE_STATIC);
    const bool is_there = sqlite3_step(server.head) == SQLITE_ROW;
    *epoch = is_there ? (uint64_t)sqlite3_column_int64(server.head, 0) : 0;
    sqlite3_reset(server.head);
    return is_there;
}

static void add_table(const char *name, uint32_t keys, uint32_t columns, const char *key_where)
{
    ASSERT(server.table_count < TABLES_MAX);
    Table *table = &server.tables[server.table_count++];
    char text[512];
    *table = (Table){.key_count = keys, .column_count = columns};
    snprintf(table->name, sizeof table->name, "%s", name);
    int at = snprintf(text, sizeof text, "INSERT OR REPLACE INTO %s VALUES(", name);
    for (uint32_t i = 0; i < columns; i++) {
        at += snprintf(text + at, sizeof text - (size_t)at, "%s?", i > 0 ? ", " : "");
    }
    snprintf(text + at, sizeof text - (size_t)at, ")");
    table->put = prepare(text);
    snprintf(text, sizeof text, "DELETE FROM %s WHERE %s", name, key_where);
    table->deletion = prepare(text);
}

// --- functions that SQLite does not have --------------------------------------------------------

static void int8send(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    const uint64_t bits = htobe64((uint64_t)sqlite3_value_int64(values[0]));
    sqlite3_result_blob(context, &bits, sizeof bits, SQLITE_TRANSIENT);
}

typedef struct Joined {
    int bytes;
    char data[8192];
} Joined;

static void join_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    Joined *joined = sqlite3_aggregate_context(context, sizeof *joined);
    const int bytes = sqlite3_value_bytes(values[0]);
    ASSERT(joined != NULL && joined->bytes + bytes <= (int)sizeof joined->data);
    memcpy(joined->data + joined->bytes, sqlite3_value_blob(values[0]), (size_t)bytes);
    joined->bytes += bytes;
}

static void join_end(sqlite3_context *context)
{
    const Joined *joined = sqlite3_aggregate_context(context, 0);
    if (joined != NULL) { // else null
        sqlite3_result_blob(context, joined->data, joined->bytes, SQLITE_TRANSIENT);
    }
}

void server_open(void)
{
    memset(&server, 0, sizeof server);
    server_counts = (ServerCounts){0};
    int code = sqlite3_open(":memory:", &server.db);
    ASSERT(code == SQLITE_OK);
    exec("PRAGMA journal_mode = MEMORY; PRAGMA temp_store = MEMORY");
    code =
        sqlite3_create_function(server.db, "int8send", 1, SQLITE_UTF8, NULL, int8send, NULL, NULL);
    ASSERT(code == SQLITE_OK);
    code = sqlite3_create_function(server.db, "string_agg", 2, SQLITE_UTF8, NULL, NULL, join_step,
                                   join_end);
    ASSERT(code == SQLITE_OK);
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        const SqlTableInfo *info = sql_table_at(i);
        SqlColumn columns[SQL_COLUMNS_MAX];
        char text[SQL_TEXT_BYTES], where[256] = "";
        int at = 0;
        sql_table_text(info, &sql_dialect_sqlite, text);
        exec(text);
        const uint32_t count = sql_table_columns(info, columns);
        uint32_t keys = 0;
        for (; keys < count && columns[keys].is_key; keys++) {
            at += snprintf(where + at, sizeof where - (size_t)at, "%s%s = ?",
                           keys > 0 ? " AND " : "", columns[keys].name);
        }
        add_table(info->name, keys, count, where);
    }
    for (uint32_t i = 0; i < sql_index_count(); i++) {
        exec(sql_index_at(i)->text);
    }
    char text[160];
    exec("CREATE TABLE writer_marks(writer_id BLOB PRIMARY KEY, number INTEGER, unix_ms INTEGER) "
         "WITHOUT ROWID; CREATE TABLE sandlot_schema(name TEXT PRIMARY KEY, version INTEGER, "
         "readable_from INTEGER); CREATE TEMP TABLE arrays(number INTEGER, c1, c2, c3, c4, c5, c6, "
         "c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18, c19, c20)");
    add_table("writer_marks", 1, 3, "writer_id = ?");
    snprintf(text, sizeof text, "INSERT INTO sandlot_schema VALUES('store', %d, 1)", STORE_SCHEMA);
    exec(text);
    server.array_add = prepare("INSERT INTO temp.arrays VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                               "?, ?, ?, ?, ?, ?, ?, ?, ?)");
    server.array_clear = prepare("DELETE FROM temp.arrays");
    server.head = prepare("SELECT epoch FROM world_head WHERE world_id = ?");
    (void)sqlite3_preupdate_hook(server.db, on_change, NULL);
}

void server_close(void)
{
    for (uint32_t i = 0; i < BACKENDS_MAX; i++) {
        if (server.backends[i].is_used) {
            backend_end(&server.backends[i], false);
        }
    }
    for (uint32_t i = 0; i < server.text_count; i++) {
        sqlite3_finalize(server.texts[i]->select);
        sqlite3_finalize(server.texts[i]->statement);
        free(server.texts[i]->text);
        free(server.texts[i]);
    }
    for (uint32_t i = 0; i < server.table_count; i++) {
        sqlite3_finalize(server.tables[i].put);
        sqlite3_finalize(server.tables[i].deletion);
    }
    sqlite3_finalize(server.array_add);
    sqlite3_finalize(server.array_clear);
    sqlite3_finalize(server.head);
    free(server.locks);
    const int code = sqlite3_close(server.db);
    ASSERT(code == SQLITE_OK);
}
