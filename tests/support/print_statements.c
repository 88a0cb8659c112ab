// Prints the store's tables, indexes and statements for PostgreSQL: CREATE TABLE, CREATE INDEX, and
// PREPARE with the types of the parameters. test_postgresql.py gives them to a real server.
#include "server/store/sql/sql_driver.h"

#include <stdio.h>

static void print_types(SqlName name)
{
    char types[SQL_TYPES_BYTES];
    const char *separator = "(";
    for (const char *type = sql_statement_types(name, types); *type != '\0'; type++) {
        const SqlType kind = *type == 'b' ? SQL_BYTES : *type == 'i' ? SQL_INTEGER : SQL_FLOAT;
        printf("%s%s", separator, sql_type_text(&sql_dialect_postgresql, kind));
        separator = ", ";
    }
    printf("%s", separator[0] == ',' ? ")" : "");
}

int main(void)
{
    char text[SQL_TEXT_BYTES];
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        sql_table_text(sql_table_at(i), &sql_dialect_postgresql, text);
        printf("%s;\n", text);
    }
    for (uint32_t i = 0; i < sql_index_count(); i++) {
        printf("%s;\n", sql_index_at(i)->text);
    }
    for (int i = 0; i < SQL_COUNT; i++) {
        sql_statement_text((SqlName)i, text);
        printf("PREPARE %s", sql_statement_name((SqlName)i));
        print_types((SqlName)i);
        printf(" AS %s;\n", text);
    }
    return 0;
}
