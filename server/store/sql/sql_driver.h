// What a database engine does for sql.c, and what its dialect calls things. An engine is one such
// table; SQLite's is sql_sqlite.c, PostgreSQL's sql_postgres.c.
#pragma once

#include "server/store/sql/sql.h"

typedef struct SqlDialect {
    const char *bytes, *integer, *floating; // types of columns
    const char *table_end;                  // after the columns of a table
    const char *begin, *begin_read;
} SqlDialect;
extern const SqlDialect sql_dialect_sqlite, sql_dialect_postgresql;

typedef enum SqlType { SQL_NULL, SQL_INTEGER, SQL_FLOAT, SQL_BYTES, SQL_OTHER } SqlType;

struct SqlDriver {
    const SqlDialect *dialect;
    SqlError (*open)(Sql *sql, const char *path);
    void (*close)(Sql *sql, bool keep_log); // its statements are finalized
    SqlError (*exec)(Sql *sql, const char *text);
    // Types of the parameters: b, i, f. The name is SQL_COUNT for a text that is not in
    // statement.def.
    SqlError (*prepare)(Sql *sql, const char *text, const char *types, SqlName name,
                        void **statement);
    void (*finalize)(void *statement);
    // Parameters count from 1; the bytes stay where they are until reset.
    SqlError (*bind_integer)(void *statement, int at, int64_t value);
    SqlError (*bind_float)(void *statement, int at, double value);
    SqlError (*bind_bytes)(void *statement, int at, const void *data, size_t bytes);
    SqlError (*bind_null)(void *statement, int at);
    SqlError (*step)(Sql *sql, void *statement, bool *is_row);
    bool (*has_changed)(Sql *sql); // the statement that ran last
    void (*reset)(void *statement);
    // Columns count from 0, and are valid until the next step or reset.
    SqlType (*column_type)(void *statement, int at);
    int64_t (*column_integer)(void *statement, int at);
    double (*column_float)(void *statement, int at);
    const void *(*column_bytes)(void *statement, int at, size_t *bytes);
    const char *(*error_text)(const Sql *sql);
    bool (*in_transaction)(const Sql *sql);
    uint64_t (*change_count)(const Sql *sql);
    bool (*empty_log)(Sql *sql);
    // What an engine with several writers does; NULL: nothing.
    SqlError (*settle)(Sql *sql);
    SqlOutcome (*resolve)(Sql *sql);
    SqlError (*lock_all)(Sql *sql);
    SqlError (*lock_places)(Sql *sql, const char *const *world_ids, uint32_t count);
    SqlError (*lock_worlds)(Sql *sql, const char *const *world_ids, uint32_t count);
    SqlError (*raise_heads)(Sql *sql, const SqlHolder *holder, SqlHeadRaise *raises, uint32_t count,
                            bool is_optimistic);
};
extern const SqlDriver sql_driver_sqlite, sql_driver_postgres;

// --- sql_postgres.c -----------------------------------------------------------------------------
// From now on the connection writes, under this random id; the tables are there.
SqlError sql_postgres_writer(Sql *sql, const uint8_t writer_id[16]);
// How often the connection waited for the server, and how often it was made.
typedef struct SqlTraffic {
    uint64_t flights, connects;
} SqlTraffic;
SqlTraffic sql_postgres_traffic(const Sql *sql);

// --- sql_text.c: texts made from schema.def and statement.def -----------------------------------
#define SQL_TEXT_BYTES 1536

typedef struct SqlColumn {
    char name[32];
    SqlType type;
    bool is_key;
} SqlColumn;
#define SQL_COLUMNS_MAX 20

typedef struct SqlTableInfo {
    SqlTable table;
    const char *name, *key, *columns;
} SqlTableInfo;
typedef struct SqlIndexInfo {
    const char *name, *text;
} SqlIndexInfo;

uint32_t sql_table_count(void);
const SqlTableInfo *sql_table_at(uint32_t number);
uint32_t sql_index_count(void);
const SqlIndexInfo *sql_index_at(uint32_t number);
// Its columns in order, with the checksum; returns how many.
uint32_t sql_table_columns(const SqlTableInfo *table, SqlColumn columns[SQL_COLUMNS_MAX]);
void sql_table_text(const SqlTableInfo *table, const SqlDialect *dialect, char out[SQL_TEXT_BYTES]);
// Puts a whole row: as PUT of statement.def.
void sql_put_text(const SqlTableInfo *table, char out[SQL_TEXT_BYTES]);
const char *sql_type_text(const SqlDialect *dialect, SqlType type);
// The text of a statement and the types of its parameters: b, i, f.
void sql_statement_text(SqlName name, char out[SQL_TEXT_BYTES]);
const char *sql_statement_types(SqlName name, char out[SQL_TYPES_BYTES]);
const char *sql_statement_name(SqlName name);
