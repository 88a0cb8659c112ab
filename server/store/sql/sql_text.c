// The texts of tables and statements, made from schema.def and statement.def. What they are made
// from is compiled in, so a text that does not fit is a bug.
#define _GNU_SOURCE
#include "server/store/sql/sql_driver.h"

#include "core/base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const SqlDialect sql_dialect_sqlite = {
    .bytes = "BLOB",
    .integer = "INTEGER",
    // SQLite writes a whole number in a column of the type REAL as an integer, and forgets the sign
    // of zero with that.
    .floating = "ANY",
    .table_end = " STRICT, WITHOUT ROWID",
    .begin = "BEGIN IMMEDIATE",
    .begin_read = "BEGIN",
};

const SqlDialect sql_dialect_postgresql = {
    .bytes = "BYTEA",
    .integer = "BIGINT",
    .floating = "DOUBLE PRECISION",
    .table_end = "",
    .begin = "BEGIN",
    .begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
};

// Two tables of one number do not compile: their rows would pass for each other's.
__attribute__((unused)) static void numbers_differ(SqlTable table)
{
    switch (table) {
#define TABLE(enumerator, number, name, key, columns) case TABLE_##enumerator:
#define INDEX(name, text)
#include "server/store/schema.def"
#undef TABLE
#undef INDEX
    case TABLE_NONE:
        break;
    }
}

static const SqlTableInfo tables[] = {
#define TABLE(enumerator, number, name, key, columns) {TABLE_##enumerator, name, key, columns},
#define INDEX(name, text)
#include "server/store/schema.def"
#undef TABLE
#undef INDEX
};

static const SqlIndexInfo indexes[] = {
#define TABLE(enumerator, number, name, key, columns)
#define INDEX(name, text) {name, text},
#include "server/store/schema.def"
#undef TABLE
#undef INDEX
};

typedef struct StatementInfo {
    const char *name;
    SqlTable table; // of a whole row that is put; or
    const char *types, *text;
} StatementInfo;

static const StatementInfo statements[SQL_COUNT] = {
#define PUT(name, table)             [SQL_##name] = {#name, TABLE_##table, NULL, NULL},
#define STATEMENT(name, types, text) [SQL_##name] = {#name, TABLE_NONE, types, text},
#include "server/store/statement.def"
#undef PUT
#undef STATEMENT
};

// --- tables -------------------------------------------------------------------------------------

uint32_t sql_table_count(void)
{
    return sizeof tables / sizeof tables[0];
}

const SqlTableInfo *sql_table_at(uint32_t number)
{
    ASSERT(number < sql_table_count());
    return &tables[number];
}

uint32_t sql_index_count(void)
{
    return sizeof indexes / sizeof indexes[0];
}

const SqlIndexInfo *sql_index_at(uint32_t number)
{
    ASSERT(number < sql_index_count());
    return &indexes[number];
}

static uint32_t read_columns(const char *text, bool is_key, SqlColumn *out, uint32_t count)
{
    for (const char *word = text; word != NULL;) {
        char type[16];
        const char *comma = strchr(word, ',');
        ASSERT(count < SQL_COLUMNS_MAX);
        SqlColumn *column = &out[count++];
        const int read = sscanf(word, "%31s %15[A-Z]", column->name, type);
        ASSERT(read == 2);
        column->is_key = is_key;
        column->type = type[0] == 'B' ? SQL_BYTES : type[0] == 'I' ? SQL_INTEGER : SQL_FLOAT;
        word = comma != NULL ? comma + 2 : NULL;
    }
    return count;
}

uint32_t sql_table_columns(const SqlTableInfo *table, SqlColumn columns[SQL_COLUMNS_MAX])
{
    const uint32_t keys = read_columns(table->key, true, columns, 0);
    return read_columns("checksum INTEGER", false, columns,
                        read_columns(table->columns, false, columns, keys));
}

static const SqlTableInfo *find_table(const char *name, size_t bytes)
{
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        if (strlen(tables[i].name) == bytes && memcmp(tables[i].name, name, bytes) == 0) {
            return &tables[i];
        }
    }
    ASSERT(false);
    return NULL;
}

const char *sql_type_text(const SqlDialect *dialect, SqlType type)
{
    return type == SQL_BYTES     ? dialect->bytes
           : type == SQL_INTEGER ? dialect->integer
                                 : dialect->floating;
}

// --- texts --------------------------------------------------------------------------------------

typedef struct Builder {
    char *out;
    size_t at;
} Builder;

static void append(Builder *builder, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(Builder *builder, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int bytes =
        vsnprintf(builder->out + builder->at, SQL_TEXT_BYTES - builder->at, format, values);
    va_end(values);
    ASSERT(bytes >= 0 && (size_t)bytes < SQL_TEXT_BYTES - builder->at);
    builder->at += (size_t)bytes;
}

// "a, b": all columns, or the key's.
static void add_columns(Builder *builder, const SqlTableInfo *table, const char *alias,
                        bool keys_only)
{
    SqlColumn columns[SQL_COLUMNS_MAX];
    const uint32_t count = sql_table_columns(table, columns);
    for (uint32_t i = 0; i < count && (!keys_only || columns[i].is_key); i++) {
        append(builder, "%s%s%s", i > 0 ? ", " : "", alias, columns[i].name);
    }
}

void sql_table_text(const SqlTableInfo *table, const SqlDialect *dialect, char out[SQL_TEXT_BYTES])
{
    SqlColumn columns[SQL_COLUMNS_MAX];
    const uint32_t count = sql_table_columns(table, columns);
    Builder builder = {out, 0};
    append(&builder, "CREATE TABLE %s(", table->name);
    for (uint32_t i = 0; i < count; i++) {
        append(&builder, "%s %s, ", columns[i].name, sql_type_text(dialect, columns[i].type));
    }
    append(&builder, "PRIMARY KEY(");
    add_columns(&builder, table, "", true);
    append(&builder, "))%s", dialect->table_end);
}

static void add_put(Builder *builder, const SqlTableInfo *table)
{
    SqlColumn columns[SQL_COLUMNS_MAX];
    const uint32_t count = sql_table_columns(table, columns);
    append(builder, "INSERT INTO %s(", table->name);
    add_columns(builder, table, "", false);
    append(builder, ") VALUES(");
    for (uint32_t i = 0; i < count; i++) {
        append(builder, "%s$%u", i > 0 ? ", " : "", i + 1);
    }
    append(builder, ") ON CONFLICT(");
    add_columns(builder, table, "", true);
    append(builder, ") DO UPDATE SET ");
    bool is_first = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!columns[i].is_key) {
            append(builder, "%s%s = excluded.%s", is_first ? "" : ", ", columns[i].name,
                   columns[i].name);
            is_first = false;
        }
    }
}

void sql_put_text(const SqlTableInfo *table, char out[SQL_TEXT_BYTES])
{
    Builder builder = {out, 0};
    add_put(&builder, table);
}

static const SqlTableInfo *table_of(SqlTable table)
{
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        if (tables[i].table == table) {
            return &tables[i];
        }
    }
    ASSERT(false);
    return NULL;
}

// What stands between braces: table, or alias.table.
static void add_braces(Builder *builder, const char *text, size_t bytes)
{
    char alias[8] = "";
    const char *dot = memchr(text, '.', bytes);
    if (dot != NULL) {
        const size_t alias_bytes = (size_t)(dot - text) + 1;
        ASSERT(alias_bytes < sizeof alias);
        memcpy(alias, text, alias_bytes);
        alias[alias_bytes] = '\0';
        text += alias_bytes;
        bytes -= alias_bytes;
    }
    add_columns(builder, find_table(text, bytes), alias, false);
}

void sql_statement_text(SqlName name, char out[SQL_TEXT_BYTES])
{
    const StatementInfo *info = &statements[name];
    Builder builder = {out, 0};
    if (info->text == NULL) {
        add_put(&builder, table_of(info->table));
        return;
    }
    const char *at = info->text;
    for (const char *open = strchr(at, '{'); open != NULL; open = strchr(at, '{')) {
        const char *close = strchr(open, '}');
        ASSERT(close != NULL);
        append(&builder, "%.*s", (int)(open - at), at);
        add_braces(&builder, open + 1, (size_t)(close - open) - 1);
        at = close + 1;
    }
    append(&builder, "%s", at);
}

const char *sql_statement_types(SqlName name, char out[SQL_TYPES_BYTES])
{
    const StatementInfo *info = &statements[name];
    if (info->types != NULL) {
        ASSERT(strlen(info->types) < SQL_TYPES_BYTES);
        memcpy(out, info->types, strlen(info->types) + 1);
        return out;
    }
    SqlColumn columns[SQL_COLUMNS_MAX];
    const uint32_t count = sql_table_columns(table_of(info->table), columns);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = columns[i].type == SQL_BYTES ? 'b' : columns[i].type == SQL_INTEGER ? 'i' : 'f';
    }
    out[count] = '\0';
    return out;
}

const char *sql_statement_name(SqlName name)
{
    return statements[name].name;
}
