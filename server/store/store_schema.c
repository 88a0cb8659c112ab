// Is a database file ours, whole, and with every column that this program needs? One of an older
// version is migrated first (store_migrate.c). Tables and columns that this program does not know
// are left alone: a later program may have added them.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "server/store/sql/sql_driver.h"
#include "server/store/store_copy.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GUARD_BYTES 128

static Status explain(const Sql *sql, Status status, const char *what, char *reason,
                      size_t reason_bytes)
{
    snprintf(reason, reason_bytes, "%s: %s", what,
             sql->error != SQL_NO_ERROR ? sql_error_text(sql) : status_text(status));
    return status;
}

// --- guards -------------------------------------------------------------------------------------
// A row that is nobody's stands in every table, under the smallest key, with the table's number as
// its checksum. A page that was replaced by an empty one, or by one of another table, takes it
// along; SQLite's own check finds nothing wrong with either. The tables of profiles have none: what
// is missing there is made again.

static bool is_guarded(const SqlTableInfo *table)
{
    return table->table != TABLE_PROFILES && table->table != TABLE_ACTIVE;
}

// The empty value of each key column, which is bytes or an integer.
static void guard_key(const SqlTableInfo *table, char names[GUARD_BYTES], char values[GUARD_BYTES])
{
    SqlColumn columns[SQL_COLUMNS_MAX];
    const uint32_t count = sql_table_columns(table, columns);
    size_t name_at = 0, value_at = 0;
    for (uint32_t i = 0; i < count && columns[i].is_key; i++) {
        const char *comma = i > 0 ? ", " : "";
        name_at += (size_t)snprintf(names + name_at, GUARD_BYTES - name_at, "%s%.31s", comma,
                                    columns[i].name);
        value_at += (size_t)snprintf(values + value_at, GUARD_BYTES - value_at, "%s%.31s", comma,
                                     columns[i].type == SQL_BYTES ? "x''" : "0");
        ASSERT(name_at < GUARD_BYTES && value_at < GUARD_BYTES);
    }
}

static void put_guards(Sql *sql)
{
    char names[GUARD_BYTES], values[GUARD_BYTES], text[512];
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        const SqlTableInfo *table = sql_table_at(i);
        if (is_guarded(table)) {
            guard_key(table, names, values);
            snprintf(text, sizeof text,
                     "INSERT INTO %s(%s, checksum) VALUES(%s, %d) "
                     "ON CONFLICT(%s) DO UPDATE SET checksum = %d",
                     table->name, names, values, (int)table->table, names, (int)table->table);
            sql_exec(sql, text);
        }
    }
}

static Status check_guards(Sql *sql, char *reason, size_t reason_bytes)
{
    char names[GUARD_BYTES], values[GUARD_BYTES], text[512];
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        const SqlTableInfo *table = sql_table_at(i);
        if (!is_guarded(table)) {
            continue;
        }
        guard_key(table, names, values);
        snprintf(text, sizeof text, "SELECT count(*) FROM %s WHERE (%s) = (%s) AND checksum = %d",
                 table->name, names, values, (int)table->table);
        if (sql_number(sql, text) != 1) {
            snprintf(reason, reason_bytes, "the database is damaged: rows of %s are lost",
                     table->name);
            return sql_status(sql) == STATUS_BLOCKED ? STATUS_BLOCKED : STATUS_MALFORMED;
        }
    }
    return STATUS_OK;
}

// --- what is there ------------------------------------------------------------------------------

// The first finding of SQLite's own check, or nothing.
static bool is_whole(Sql *sql, char *reason, size_t reason_bytes)
{
    char text[STORE_REASON_BYTES] = "?";
    const bool is_said = sql_text(sql, "PRAGMA integrity_check(1)", text, sizeof text);
    if (is_said && strcmp(text, "ok") == 0) {
        return true;
    }
    snprintf(reason, reason_bytes, "the database is damaged: %s",
             sql->error != SQL_NO_ERROR ? sql_error_text(sql) : text);
    return false;
}

// Says what is missing. SQLite counts the columns of the key from 1.
static Status check_table(Sql *sql, const SqlTableInfo *table, char *reason, size_t reason_bytes)
{
    SqlColumn columns[SQL_COLUMNS_MAX];
    const uint32_t count = sql_table_columns(table, columns);
    for (uint32_t i = 0; i < count; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "SELECT count(*) FROM pragma_table_info('%s') "
                 "WHERE name = '%.31s' AND type = '%s' AND pk = %u",
                 table->name, columns[i].name, sql_type_text(&sql_dialect_sqlite, columns[i].type),
                 columns[i].is_key ? i + 1 : 0);
        if (sql_number(sql, text) != 1) {
            snprintf(reason, reason_bytes,
                     "the database is damaged: column %.31s of table %s is missing or another%s%s",
                     columns[i].name, table->name, sql->error != SQL_NO_ERROR ? ": " : "",
                     sql->error != SQL_NO_ERROR ? sql_error_text(sql) : "");
            return sql_status(sql) == STATUS_BLOCKED ? STATUS_BLOCKED : STATUS_MALFORMED;
        }
    }
    return STATUS_OK;
}

static Status check_schema(Sql *sql, char *reason, size_t reason_bytes)
{
    char text[256];
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < sql_table_count() && status == STATUS_OK; i++) {
        status = check_table(sql, sql_table_at(i), reason, reason_bytes);
    }
    for (uint32_t i = 0; i < sql_index_count() && status == STATUS_OK; i++) {
        const SqlIndexInfo *index = sql_index_at(i);
        snprintf(text, sizeof text, "SELECT count(*) FROM sqlite_schema WHERE sql = '%s'",
                 index->text);
        if (sql_number(sql, text) != 1) {
            status = explain(sql, STATUS_MALFORMED, "an index of the database is missing", reason,
                             reason_bytes);
        }
    }
    // A trigger would change what the statements do.
    if (status == STATUS_OK &&
        sql_number(sql, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'") != 0) {
        status = explain(sql, STATUS_MALFORMED, "there is a trigger in the database", reason,
                         reason_bytes);
    }
    return status;
}

// What the file says it is, before anything in it is believed.
static Status check_kind(Sql *sql, bool is_new, int64_t *version, char *reason, size_t reason_bytes)
{
    const int64_t application = sql_number(sql, "PRAGMA application_id");
    *version = sql_number(sql, "PRAGMA user_version");
    const int64_t tables = sql_number(sql, "SELECT count(*) FROM sqlite_schema");
    if (sql->error != SQL_NO_ERROR) {
        return explain(sql, sql_status(sql), "the database cannot be read", reason, reason_bytes);
    }
    if (is_new && tables == 0 && application == 0 && *version == 0) {
        return STATUS_OK;
    }
    if (application != STORE_APPLICATION) {
        return explain(sql, STATUS_MALFORMED, "this is no database of ours, or a damaged one",
                       reason, reason_bytes);
    }
    if (*version < 1) {
        return explain(sql, STATUS_MALFORMED, "the version of the database is invalid", reason,
                       reason_bytes);
    }
    if (*version > STORE_SCHEMA) {
        snprintf(reason, reason_bytes,
                 "a later version of sandlot wrote this database (schema %lld; this program knows "
                 "up to %d). Nothing was changed. Start that version again, or restore a backup "
                 "from before the upgrade",
                 (long long)*version, STORE_SCHEMA);
        return STATUS_UNSUPPORTED;
    }
    return STATUS_OK;
}

// Before a migration: what the older program can use again. It appears whole or not at all, and
// takes the place of one that an interrupted migration left.
static Status copy_first(const char *path, int64_t version, char *reason, size_t reason_bytes)
{
    char copy[PATH_MAX], aside[PATH_MAX], why[STORE_REASON_BYTES] = "";
    if (snprintf(copy, sizeof copy, "%s.v%lld", path, (long long)version) >= (int)sizeof copy ||
        snprintf(aside, sizeof aside, "%s.new", copy) >= (int)sizeof aside) {
        snprintf(reason, reason_bytes, "the path of the database is too long");
        return STATUS_RANGE;
    }
    uint32_t schema = 0;
    (void)unlink(aside);
    const StoreCopy wish = {.from = path, .to = aside};
    Status status = store_copy(&wish, &schema, why, sizeof why);
    if (status == STATUS_OK &&
        (rename(aside, copy) != 0 || store_sync_folder_of(copy) != STATUS_OK)) {
        snprintf(why, sizeof why, "%s", strerror(errno));
        status = STATUS_BLOCKED;
    }
    if (status != STATUS_OK) {
        (void)unlink(aside);
        snprintf(reason, reason_bytes,
                 "the database is of schema %lld and must be copied before it is migrated: %.120s",
                 (long long)version, why);
    }
    return status;
}

// Inside a transaction: makes what is missing, checks, prepares, repairs.
static Status make_ready(Sql *sql, int64_t version, RowsFound *found, char *reason,
                         size_t reason_bytes)
{
    Status status = STATUS_OK;
    if (version < STORE_SCHEMA) {
        schema_make(sql, version);
        put_guards(sql);
    }
    if (sql->error == SQL_NO_ERROR) {
        status = check_schema(sql, reason, reason_bytes);
    }
    if (status == STATUS_OK && sql->error == SQL_NO_ERROR) {
        status = check_guards(sql, reason, reason_bytes);
    }
    if (status == STATUS_OK && sql_prepare(sql)) {
        profiles_repair_all(sql, found);
    }
    if (status == STATUS_OK) {
        sql_commit(sql);
        status = sql_status(sql);
        if (status != STATUS_OK) {
            (void)explain(sql, status, "the database cannot be prepared", reason, reason_bytes);
        }
    }
    return status;
}

Status schema_open(Sql *sql, const char *path, bool is_new, StoreStats *stats, char *reason,
                   size_t reason_bytes)
{
    int64_t version = 0;
    RowsFound found = {0};
    Status status = check_kind(sql, is_new, &version, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    if (!is_whole(sql, reason, reason_bytes)) {
        return sql_status(sql) == STATUS_BLOCKED ? STATUS_BLOCKED : STATUS_MALFORMED;
    }
    if (version >= 1 && version < STORE_SCHEMA && path != NULL) {
        status = copy_first(path, version, reason, reason_bytes);
        if (status != STATUS_OK) {
            return status;
        }
    }
    sql_begin(sql);
    status = make_ready(sql, version, &found, reason, reason_bytes);
    if (status != STATUS_OK) {
        sql_roll_back(sql);
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
