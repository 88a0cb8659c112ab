// The tables, and how a database of any age becomes one of today. Every item of store_schema.def
// that is later than the file's version is made, in one transaction, and may be made again without
// harm. After that the schema must be, word for word, what a fresh database gets: a flipped letter
// in it is damage too.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"

#include <stdio.h>
#include <string.h>

#define APPLICATION_ID 0x534c4f54 // "SLOT"
#define GUARD_BYTES    128

typedef struct SchemaItem {
    int version;
    const char *table, *key, *columns; // or
    const char *index;
} SchemaItem;

static const SchemaItem items[] = {
#define TABLE(version, name, key, columns) {version, name, key, columns, NULL},
#define INDEX(version, text)               {version, NULL, NULL, NULL, text},
#include "server/store/store_schema.def"
#undef TABLE
#undef INDEX
};

// The names of key columns: every second word.
static void make_table(Sql *sql, const SchemaItem *item)
{
    char names[128] = "";
    size_t at = 0;
    for (const char *word = item->key; word != NULL && at < sizeof names;) {
        const char *end = strchr(word, ' ');
        const char *comma = strchr(word, ',');
        ASSERT(end != NULL);
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%.*s", at > 0 ? ", " : "",
                               (int)(end - word), word);
        word = comma != NULL ? comma + 2 : NULL;
    }
    char text[1024];
    const int bytes = snprintf(text, sizeof text,
                               "CREATE TABLE IF NOT EXISTS %s(%s, %s, checksum INTEGER, "
                               "PRIMARY KEY(%s)) STRICT, WITHOUT ROWID",
                               item->table, item->key, item->columns, names);
    ASSERT(at < sizeof names && bytes < (int)sizeof text);
    sql_exec(sql, text);
}

static Status explain(const Sql *sql, Status status, const char *what, char *reason,
                      size_t reason_bytes)
{
    snprintf(reason, reason_bytes, "%s: %s", what,
             sql->error != SQLITE_OK ? sqlite3_errmsg(sql->db) : status_text(status));
    return status;
}

static void migrate(Sql *sql, int64_t from)
{
    char text[96];
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (items[i].version > from && items[i].table != NULL) {
            make_table(sql, &items[i]);
        } else if (items[i].version > from) {
            sql_exec(sql, items[i].index);
        }
    }
    snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             APPLICATION_ID, STORE_SCHEMA);
    sql_exec(sql, text);
}

// --- guards -------------------------------------------------------------------------------------
// A row that is nobody's stands in every table, under the smallest key. A page that was replaced by
// an empty one takes it along; SQLite's own check finds nothing wrong with an empty table. The
// tables of profiles have none: what is missing there is made again.

static bool is_guarded(const SchemaItem *item)
{
    return item->table != NULL && strcmp(item->table, "character_profiles") != 0 &&
           strcmp(item->table, "active_character_profiles") != 0 &&
           strcmp(item->table, "resume_tokens") != 0 && // of before version 3
           strcmp(item->table, "leases") != 0;          // of before version 4
}

// The empty value of each key column, which is TEXT, INTEGER or BLOB.
static void guard_key(const SchemaItem *item, char names[GUARD_BYTES], char values[GUARD_BYTES])
{
    size_t name_at = 0, value_at = 0;
    for (const char *word = item->key; word != NULL;) {
        const char *type = strchr(word, ' ');
        const char *comma = strchr(word, ',');
        ASSERT(type != NULL);
        name_at += (size_t)snprintf(names + name_at, GUARD_BYTES - name_at, "%s%.*s",
                                    name_at > 0 ? ", " : "", (int)(type - word), word);
        value_at += (size_t)snprintf(values + value_at, GUARD_BYTES - value_at, "%s%s",
                                     value_at > 0 ? ", " : "",
                                     type[1] == 'T'   ? "''"
                                     : type[1] == 'B' ? "x''"
                                                      : "0");
        ASSERT(name_at < GUARD_BYTES && value_at < GUARD_BYTES);
        word = comma != NULL ? comma + 2 : NULL;
    }
}

static void put_guards(Sql *sql)
{
    char names[GUARD_BYTES], values[GUARD_BYTES], text[512];
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (is_guarded(&items[i])) {
            guard_key(&items[i], names, values);
            snprintf(text, sizeof text, "INSERT OR IGNORE INTO %s(%s) VALUES(%s)", items[i].table,
                     names, values);
            sql_exec(sql, text);
        }
    }
}

static Status check_guards(Sql *sql, char *reason, size_t reason_bytes)
{
    char names[GUARD_BYTES], values[GUARD_BYTES], text[512];
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (!is_guarded(&items[i])) {
            continue;
        }
        guard_key(&items[i], names, values);
        snprintf(text, sizeof text, "SELECT count(*) FROM %s WHERE (%s) = (%s)", items[i].table,
                 names, values);
        if (sql_number(sql, text) != 1) {
            snprintf(reason, reason_bytes, "the database is damaged: rows of %s are lost",
                     items[i].table);
            return sql_status(sql) == STATUS_BLOCKED ? STATUS_BLOCKED : STATUS_MALFORMED;
        }
    }
    return STATUS_OK;
}

// --- opening ------------------------------------------------------------------------------------

// The first finding of SQLite's own check, or nothing.
static bool is_whole(Sql *sql, char *reason, size_t reason_bytes)
{
    sqlite3_stmt *statement = NULL;
    bool whole = false;
    int code = sqlite3_prepare_v2(sql->db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    if (code == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        whole = text != NULL && strcmp(text, "ok") == 0;
        snprintf(reason, reason_bytes, "the database is damaged: %s", text != NULL ? text : "?");
    } else {
        sql->error = code;
        snprintf(reason, reason_bytes, "the database is damaged: %s", sqlite3_errmsg(sql->db));
    }
    (void)sqlite3_finalize(statement);
    return whole;
}

static Hash64 schema_hash(Sql *sql)
{
    Hash64 hash = HASH64_INIT;
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        sql->db, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name", -1,
        &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < 4; i++) {
            const void *text = sqlite3_column_text(statement, i);
            hash_bytes(&hash, text, (size_t)sqlite3_column_bytes(statement, i));
        }
        code = SQLITE_OK;
    }
    if (code != SQLITE_DONE) {
        sql->error = sql->error == SQLITE_OK ? code : sql->error;
    }
    (void)sqlite3_finalize(statement);
    return hash;
}

// A fresh database in memory says what the schema should be.
static Status check_schema(Sql *sql, char *reason, size_t reason_bytes)
{
    Sql fresh;
    const Status status = sql_connect(&fresh, ":memory:", reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    migrate(&fresh, 0);
    const Hash64 want = schema_hash(&fresh);
    const Status fresh_status = sql_status(&fresh);
    sql_disconnect(&fresh);
    const Hash64 got = schema_hash(sql);
    if (fresh_status != STATUS_OK || sql_status(sql) != STATUS_OK || want.state != got.state) {
        return explain(sql, fresh_status == STATUS_OK ? STATUS_MALFORMED : fresh_status,
                       "the tables are not those of this version", reason, reason_bytes);
    }
    return STATUS_OK;
}

// What the file says it is, before anything in it is believed.
static Status check_kind(Sql *sql, bool is_new, int64_t *version, char *reason, size_t reason_bytes)
{
    const int64_t application = sql_number(sql, "PRAGMA application_id");
    *version = sql_number(sql, "PRAGMA user_version");
    const int64_t tables = sql_number(sql, "SELECT count(*) FROM sqlite_schema");
    if (sql->error != SQLITE_OK) {
        return explain(sql, sql_status(sql), "the database cannot be read", reason, reason_bytes);
    }
    if (is_new && tables == 0 && application == 0 && *version == 0) {
        return STATUS_OK;
    }
    if (application != APPLICATION_ID) {
        return explain(sql, STATUS_MALFORMED, "this is no database of ours, or a damaged one",
                       reason, reason_bytes);
    }
    if (*version < 1 || *version > STORE_SCHEMA) {
        return explain(sql, *version < 1 ? STATUS_MALFORMED : STATUS_UNSUPPORTED,
                       "the database is of another version", reason, reason_bytes);
    }
    return STATUS_OK;
}

Status schema_open(Sql *sql, bool is_new, StoreStats *stats, char *reason, size_t reason_bytes)
{
    int64_t version = 0;
    Status status = check_kind(sql, is_new, &version, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    if (!is_whole(sql, reason, reason_bytes)) {
        return sql_status(sql) == STATUS_BLOCKED ? STATUS_BLOCKED : STATUS_MALFORMED;
    }
    sql_exec(sql, "BEGIN IMMEDIATE");
    if (version < STORE_SCHEMA) {
        migrate(sql, version);
        put_guards(sql);
    }
    if (sql->error == SQLITE_OK) {
        status = check_schema(sql, reason, reason_bytes);
    }
    if (status == STATUS_OK && sql->error == SQLITE_OK) {
        status = check_guards(sql, reason, reason_bytes);
    }
    RowsFound found = {0};
    if (status == STATUS_OK && sql_prepare(sql)) {
        profiles_repair_all(sql, &found);
    }
    if (status == STATUS_OK) {
        sql_exec(sql, "COMMIT");
        status = sql_status(sql);
        if (status != STATUS_OK) {
            (void)explain(sql, status, "the database cannot be prepared", reason, reason_bytes);
        }
    }
    if (status != STATUS_OK) {
        sql_clear(sql);
        sql_exec(sql, "ROLLBACK");
        return status == STATUS_RANGE ? STATUS_MALFORMED : status;
    }
    stats->repaired = found.repaired;
    stats->backfilled = found.backfilled; // in the ordinary course: nothing to speak of
    reason[0] = '\0';
    if (found.repaired > 0) {
        snprintf(reason, reason_bytes, "the character profiles of %llu user%s were repaired",
                 (unsigned long long)found.repaired, found.repaired == 1 ? "" : "s");
    }
    return STATUS_OK;
}
