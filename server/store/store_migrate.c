// How a database file of an older version becomes one of today, in one transaction. Every
// version before 4 kept texts as TEXT and had one lease for each world; version 1 had no character
// profiles, and version 2 other resume tokens, which are good for minutes and not carried over.
// Version 4 had no accounts, and characters belonged to worlds; version 5 had no packages; version
// 6 had no offers of them, and one teacher for each class; version 9 had no load in the rows of
// hosts.
//
// Rows are copied with their checksums, which do not depend on whether a column was TEXT. So a row
// that was damaged before is still told apart afterwards.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/store/sql/sql_driver.h"

#include <stdio.h>
#include <string.h>

#define VERSION_OF_BYTES 4 // from which on tables only gained others beside them

static bool table_exists(Sql *sql, const char *name)
{
    char text[160];
    snprintf(text, sizeof text,
             "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '%s'", name);
    return sql_number(sql, text) == 1;
}

// What a column of today is in terms of the old table. A world of before has a place of its own,
// with the world's id: that is whose DataStores the old ones are.
static void old_expression(const SqlTableInfo *table, const SqlColumn *column, char *out,
                           size_t out_bytes)
{
    const bool is_place = strcmp(column->name, "place_id") == 0;
    if (table->table == TABLE_WORLDS && strcmp(column->name, "checksum") == 0) {
        snprintf(out, out_bytes,
                 "CASE checksum WHEN row_checksum(%d, world_id, room_code, name, place_hash, "
                 "created_unix_ms) THEN row_checksum(%d, world_id, room_code, name, place_hash, "
                 "created_unix_ms, world_id) ELSE checksum END",
                 TABLE_WORLDS, TABLE_WORLDS);
    } else if (column->type == SQL_BYTES) {
        snprintf(out, out_bytes, "CAST(%.31s AS BLOB)", is_place ? "world_id" : column->name);
    } else {
        snprintf(out, out_bytes, "%.31s", column->name);
    }
}

static void copy_rows(Sql *sql, const SqlTableInfo *table)
{
    char names[512] = "", values[1024] = "", text[2048];
    size_t names_at = 0, values_at = 0;
    SqlColumn columns[SQL_COLUMNS_MAX];
    const uint32_t count = sql_table_columns(table, columns);
    for (uint32_t i = 0; i < count; i++) {
        char value[512];
        const char *comma = i > 0 ? ", " : "";
        old_expression(table, &columns[i], value, sizeof value);
        names_at += (size_t)snprintf(names + names_at, sizeof names - names_at, "%s%s", comma,
                                     columns[i].name);
        values_at +=
            (size_t)snprintf(values + values_at, sizeof values - values_at, "%s%s", comma, value);
        ASSERT(names_at < sizeof names && values_at < sizeof values);
    }
    const int bytes = snprintf(text, sizeof text, "INSERT INTO %s(%s) SELECT %s FROM old_%s",
                               table->name, names, values, table->name);
    ASSERT(bytes > 0 && bytes < (int)sizeof text);
    sql_exec(sql, text);
}

// Rows of hosts have been without a load until version 10. Nobody reads their checksums.
static void add_columns(Sql *sql, const SqlTableInfo *table, int64_t version)
{
    static const char *const columns[] = {"is_peer", "memory", "tick", "worlds", "players"};
    char text[128];
    for (size_t i = 0;
         table->table == TABLE_HOSTS && version < 10 && i < sizeof columns / sizeof columns[0];
         i++) {
        snprintf(text, sizeof text,
                 "SELECT count(*) FROM pragma_table_info('hosts') WHERE name = '%s'", columns[i]);
        if (sql_number(sql, text) != 0) {
            continue; // a later version was here before
        }
        snprintf(text, sizeof text, "ALTER TABLE hosts ADD COLUMN %s INTEGER DEFAULT 0",
                 columns[i]);
        sql_exec(sql, text);
    }
}

static void make_table(Sql *sql, const SqlTableInfo *table, int64_t version)
{
    char text[SQL_TEXT_BYTES];
    const bool is_old = table_exists(sql, table->name);
    if (is_old && version >= VERSION_OF_BYTES) {
        add_columns(sql, table, version);
        return;
    }
    if (is_old) {
        snprintf(text, sizeof text, "ALTER TABLE %s RENAME TO old_%s", table->name, table->name);
        sql_exec(sql, text);
    }
    sql_table_text(table, &sql_dialect_sqlite, text);
    sql_exec(sql, text);
    if (is_old) {
        copy_rows(sql, table);
        snprintf(text, sizeof text, "DROP TABLE old_%s", table->name);
        sql_exec(sql, text);
    }
}

// Each world had the characters of its players. What the newest of an account's worlds had becomes
// the account's; damaged rows stay behind, and the set is repaired later.
#define PROFILE_COLUMNS \
    "user_id, character_id, position, name, body, colour_skin, colour_shirt, colour_legs"
static void merge_profiles(Sql *sql)
{
    char text[1600];
    sql_exec(sql, "CREATE TEMP TABLE newest AS SELECT user_id, world_id FROM ("
                  "SELECT u.user_id, u.world_id, row_number() OVER (PARTITION BY u.user_id "
                  "ORDER BY w.created_unix_ms DESC, u.world_id DESC) AS place FROM ("
                  "SELECT user_id, world_id FROM character_profiles UNION "
                  "SELECT user_id, world_id FROM active_character_profiles) u "
                  "LEFT JOIN worlds w ON w.world_id = u.world_id "
                  "WHERE length(u.world_id) > 0) WHERE place = 1");
    snprintf(text, sizeof text,
             "INSERT INTO character_profiles(world_id, " PROFILE_COLUMNS ", checksum) "
             "SELECT x'', " PROFILE_COLUMNS ", row_checksum(%d, x'', " PROFILE_COLUMNS ") "
             "FROM character_profiles JOIN newest USING (user_id, world_id) "
             "WHERE checksum = row_checksum(%d, world_id, " PROFILE_COLUMNS ")",
             TABLE_PROFILES, TABLE_PROFILES);
    sql_exec(sql, text);
    snprintf(text, sizeof text,
             "INSERT INTO active_character_profiles(world_id, user_id, character_id, checksum) "
             "SELECT x'', user_id, character_id, row_checksum(%d, x'', user_id, character_id) "
             "FROM active_character_profiles JOIN newest USING (user_id, world_id) "
             "WHERE checksum = row_checksum(%d, world_id, user_id, character_id)",
             TABLE_ACTIVE, TABLE_ACTIVE);
    sql_exec(sql, text);
    sql_exec(sql, "DELETE FROM character_profiles WHERE length(world_id) > 0; "
                  "DELETE FROM active_character_profiles WHERE length(world_id) > 0; "
                  "DROP TABLE newest");
}

// In version 6 somebody to whom a package was offered had a role of its team in place of theirs.
static void move_offers(Sql *sql)
{
    char text[800];
    snprintf(text, sizeof text,
             "INSERT OR IGNORE INTO package_offers(package_id, account_id, created_unix_ms, "
             "expires_unix_ms, checksum) SELECT package_id, account_id, created_unix_ms, "
             "created_unix_ms + %llu, row_checksum(%d, package_id, account_id, created_unix_ms, "
             "created_unix_ms + %llu) FROM package_people WHERE role = 4 AND checksum = "
             "row_checksum(%d, package_id, account_id, role, created_unix_ms); "
             "DELETE FROM package_people WHERE role = 4",
             OFFER_DAYS * 86400000ull, TABLE_PACKAGE_OFFERS, OFFER_DAYS * 86400000ull,
             TABLE_PACKAGE_PEOPLE);
    sql_exec(sql, text);
}

void schema_make(Sql *sql, int64_t version)
{
    char text[96];
    for (uint32_t i = 0; i < sql_index_count(); i++) {
        snprintf(text, sizeof text, "DROP INDEX IF EXISTS %s", sql_index_at(i)->name);
        sql_exec(sql, text);
    }
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        make_table(sql, sql_table_at(i), version);
    }
    for (uint32_t i = 0; i < sql_index_count(); i++) {
        sql_exec(sql, sql_index_at(i)->text);
    }
    if (version > 0 && version < 5) {
        merge_profiles(sql);
    }
    if (version == 6) {
        move_offers(sql);
    }
    sql_exec(sql, "DROP TABLE IF EXISTS leases; DROP TABLE IF EXISTS resume_tokens; "
                  "DROP TABLE IF EXISTS places");
    snprintf(text, sizeof text, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             STORE_APPLICATION, STORE_SCHEMA);
    sql_exec(sql, text);
}
