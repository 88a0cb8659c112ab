// The tables on PostgreSQL. Whoever opens the store makes what is missing, one at a time (an
// advisory lock), in one transaction. Tables and columns are only added: a host of the version
// before goes on with what it knows while the others are upgraded one by one. A column that is
// missing though the tables are of this version, or that has another type, is an error, and nothing
// is changed then.
//
// Three tables stand beside those of schema.def: what the schema is, which transaction of each
// writer was stored last (sql_postgres.c), and blobs in pieces (blob_chunks.c).
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "server/store/sql/sql_driver.h"
#include "server/sys/entropy.h"

#include <stdio.h>
#include <string.h>

// Which programs can work with the tables: those that know this version or a later one.
#define READABLE_FROM 9

static Status explain(const Sql *sql, Status status, const char *what, char *reason,
                      size_t reason_bytes)
{
    snprintf(reason, reason_bytes, "%s%s%s", what, sql->error != SQL_NO_ERROR ? ": " : "",
             sql->error != SQL_NO_ERROR ? sql_error_text(sql) : "");
    return status;
}

// Rows of these are written again and again. With half of each page left free the new version fits
// beside the old one, and no index has to be touched.
static bool is_rewritten(SqlTable table)
{
    static const SqlTable all[] = {
        TABLE_HEAD,       TABLE_META,     TABLE_PLAYERS,    TABLE_HOSTS,    TABLE_LEASES,
        TABLE_STRUCTURES, TABLE_CHUNKS,   TABLE_ATTRIBUTES, TABLE_PRESENCE, TABLE_CHECKPOINTS,
        TABLE_DATA,       TABLE_DATA_USE, TABLE_SIGN_INS,   TABLE_ACCOUNTS, TABLE_PLACE_COUNTS,
        TABLE_PLAYS,      TABLE_LISTING,  TABLE_PLACE_DAYS, TABLE_HOST_KEYS};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] == table) {
            return true;
        }
    }
    return false;
}

static bool table_exists(Sql *sql, const char *name)
{
    char text[128];
    snprintf(text, sizeof text, "SELECT CASE WHEN to_regclass('%s') IS NULL THEN 0 ELSE 1 END",
             name);
    return sql_number(sql, text) == 1;
}

// How many of its columns are there, with their types.
static int64_t count_columns(Sql *sql, const SqlTableInfo *table, uint32_t *wanted)
{
    SqlColumn columns[SQL_COLUMNS_MAX];
    char text[2048];
    *wanted = sql_table_columns(table, columns);
    int at = snprintf(text, sizeof text,
                      "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass('%s') "
                      "AND NOT attisdropped AND (attname, atttypid) IN (",
                      table->name);
    for (uint32_t i = 0; i < *wanted; i++) {
        const char *type = columns[i].type == SQL_BYTES     ? "bytea"
                           : columns[i].type == SQL_INTEGER ? "int8"
                                                            : "float8";
        at += snprintf(text + at, sizeof text - (size_t)at, "%s('%.31s', '%s'::regtype)",
                       i > 0 ? ", " : "", columns[i].name, type);
    }
    snprintf(text + at, sizeof text - (size_t)at, ")");
    return sql_number(sql, text);
}

// A table of an older version has fewer columns. Hosts of that version, which go on, name those
// that they know; the default is what their rows have in the others. Their checksums do not cover
// them: whoever adds a column to a table whose checksums are read has to take that into account.
static void add_columns(Sql *sql, const SqlTableInfo *table)
{
    SqlColumn columns[SQL_COLUMNS_MAX];
    uint32_t count = 0;
    if (count_columns(sql, table, &count) == count) {
        return;
    }
    count = sql_table_columns(table, columns);
    for (uint32_t i = 0; i < count; i++) {
        char text[160];
        snprintf(text, sizeof text, "ALTER TABLE %s ADD COLUMN IF NOT EXISTS %.31s %s DEFAULT %s",
                 table->name, columns[i].name,
                 sql_type_text(&sql_dialect_postgresql, columns[i].type),
                 columns[i].type == SQL_BYTES ? "''" : "0");
        if (!columns[i].is_key) {
            sql_exec(sql, text);
        }
    }
}

static void make_table(Sql *sql, const SqlTableInfo *table)
{
    char text[SQL_TEXT_BYTES + 32], create[SQL_TEXT_BYTES];
    if (table_exists(sql, table->name)) {
        add_columns(sql, table);
    } else {
        sql_table_text(table, &sql_dialect_postgresql, create);
        snprintf(text, sizeof text, "%s%s", create,
                 is_rewritten(table->table) ? " WITH (fillfactor = 50)" : "");
        sql_exec(sql, text);
    }
}

// CREATE [UNIQUE] INDEX name …
static void make_index(Sql *sql, const SqlIndexInfo *index)
{
    char text[SQL_TEXT_BYTES];
    const char *name = strstr(index->text, "INDEX ");
    ASSERT(name != NULL);
    name += strlen("INDEX ");
    snprintf(text, sizeof text, "%.*sIF NOT EXISTS %s", (int)(name - index->text), index->text,
             name);
    sql_exec(sql, text);
}

static void make_others(Sql *sql)
{
    char text[256];
    sql_exec(sql, "CREATE TABLE IF NOT EXISTS sandlot_schema(name TEXT PRIMARY KEY, "
                  "version BIGINT, readable_from BIGINT);"
                  "CREATE TABLE IF NOT EXISTS writer_marks(writer_id BYTEA PRIMARY KEY, "
                  "number BIGINT, unix_ms BIGINT) WITH (fillfactor = 50);"
                  "CREATE TABLE IF NOT EXISTS blob_chunks(hash BYTEA, number BIGINT, data BYTEA, "
                  "PRIMARY KEY(hash, number));"
                  "ALTER TABLE blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL;"
                  "CREATE TABLE IF NOT EXISTS blob_files(hash BYTEA PRIMARY KEY, bytes BIGINT, "
                  "chunks BIGINT, put_unix_ms BIGINT)");
    sql_exec(sql,
             "CREATE OR REPLACE FUNCTION sandlot_event_hint() RETURNS trigger LANGUAGE plpgsql "
             "AS $$BEGIN NOTIFY sandlot_events; RETURN NULL; END$$;"
             "CREATE OR REPLACE TRIGGER sandlot_event_hint AFTER INSERT ON events "
             "FOR EACH STATEMENT EXECUTE FUNCTION sandlot_event_hint()");
    snprintf(text, sizeof text,
             "INSERT INTO sandlot_schema VALUES('store', %d, %d) ON CONFLICT(name) DO UPDATE SET "
             "version = greatest(sandlot_schema.version, excluded.version), "
             "readable_from = greatest(sandlot_schema.readable_from, excluded.readable_from)",
             STORE_SCHEMA, READABLE_FROM);
    sql_exec(sql, text);
}

// What somebody else keeps in this database must not be mistaken for ours.
static Status check_kind(Sql *sql, char *reason, size_t reason_bytes)
{
    const bool is_ours = table_exists(sql, "sandlot_schema");
    if (sql->error != SQL_NO_ERROR) {
        return explain(sql, sql_status(sql), "the database cannot be read", reason, reason_bytes);
    }
    if (!is_ours && table_exists(sql, "worlds")) {
        snprintf(reason, reason_bytes,
                 "the database has a table `worlds` that is not ours; use a database of its own");
        return STATUS_MALFORMED;
    }
    const int64_t from =
        is_ours ? sql_number(sql, "SELECT readable_from FROM sandlot_schema WHERE name = 'store'")
                : 0;
    if (from > STORE_SCHEMA) {
        snprintf(reason, reason_bytes,
                 "a later version of sandlot has changed the tables (schema %lld; this program "
                 "knows up to %d). Nothing was changed. Start that version",
                 (long long)from, STORE_SCHEMA);
        return STATUS_UNSUPPORTED;
    }
    return STATUS_OK;
}

static Status check_columns(Sql *sql, char *reason, size_t reason_bytes)
{
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        const SqlTableInfo *table = sql_table_at(i);
        uint32_t count = 0;
        if (count_columns(sql, table, &count) != count) {
            snprintf(reason, reason_bytes,
                     "the database is damaged: a column of table %s is missing or another%s%s",
                     table->name, sql->error != SQL_NO_ERROR ? ": " : "",
                     sql->error != SQL_NO_ERROR ? sql_error_text(sql) : "");
            return sql_status(sql) == STATUS_BLOCKED ? STATUS_BLOCKED : STATUS_MALFORMED;
        }
    }
    return STATUS_OK;
}

static bool is_complete(Sql *sql)
{
    return table_exists(sql, "sandlot_schema") &&
           sql_number(sql, "SELECT count(*) FROM sandlot_schema WHERE name = 'store'") == 1 &&
           sql_number(sql, "SELECT version FROM sandlot_schema WHERE name = 'store'") >=
               STORE_SCHEMA;
}

static Status make_tables(Sql *sql, char *reason, size_t reason_bytes)
{
    char text[96];
    sql_begin(sql);
    snprintf(text, sizeof text, "SELECT pg_advisory_xact_lock(%d)", 0x53414e44);
    (void)sql_number(sql, text);
    Status status = check_kind(sql, reason, reason_bytes);
    if (status == STATUS_OK && !is_complete(sql)) {
        for (uint32_t i = 0; i < sql_table_count(); i++) {
            make_table(sql, sql_table_at(i));
        }
        for (uint32_t i = 0; i < sql_index_count(); i++) {
            make_index(sql, sql_index_at(i));
        }
        make_others(sql);
    }
    if (status == STATUS_OK && sql->error == SQL_NO_ERROR) {
        status = check_columns(sql, reason, reason_bytes);
    }
    if (status == STATUS_OK) {
        sql_commit(sql);
        status = sql_status(sql);
        if (status != STATUS_OK) {
            (void)explain(sql, status, "the tables cannot be made", reason, reason_bytes);
        }
    }
    if (status != STATUS_OK) {
        sql_roll_back(sql);
    }
    return status == STATUS_RANGE ? STATUS_MALFORMED : status;
}

Status postgres_open(StoreDatabase *database, const char *url, char *reason, size_t reason_bytes)
{
    uint8_t writer_id[16];
    Status status = sql_connect(&database->writer, url, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    status = make_tables(&database->writer, reason, reason_bytes);
    if (status == STATUS_OK) {
        entropy_fill(writer_id, sizeof writer_id);
        sql_fail(&database->writer, sql_postgres_writer(&database->writer, writer_id));
        status = sql_status(&database->writer);
        if (status != STATUS_OK) {
            (void)explain(&database->writer, status, "the database takes no writes", reason,
                          reason_bytes);
        }
    }
    if (status == STATUS_OK) {
        status = sql_connect(&database->second, url, reason, reason_bytes);
        database->reader = &database->second;
    }
    if (status != STATUS_OK) {
        sql_abandon(&database->writer);
    }
    return status;
}
