// What is stored about a person, as JSON: see store_person.h. Rows are written as the tables have
// them, column by column, so that a column that is added later is exported too.
#define _GNU_SOURCE
#include "server/store/people/store_person.h"

#include "core/base/json_write.h"
#include "core/base/utf8.h"
#include "server/store/people/store_person_inside.h"
#include "server/store/sql/sql_driver.h"

#include <stdlib.h>
#include <string.h>

#define ROW_BYTES (4 * VALUE_BYTES_MAX) // of JSON

typedef struct Export {
    FILE *out;
    uint8_t *bytes;
    bool has_failed;
} Export;

static const struct {
    const char *name;
    SqlName statement;
    SqlTable table;
} sections[] = {{"account", SQL_ACCOUNT_FIND, TABLE_ACCOUNTS},
                {"sign_ins", SQL_PERSON_SIGN_INS, TABLE_SIGN_INS},
                {"identities", SQL_IDENTITY_OF, TABLE_IDENTITIES},
                {"bans", SQL_PERSON_BANS, TABLE_BANS},
                {"presence", SQL_PERSON_PRESENCE, TABLE_PRESENCE},
                {"checkpoints", SQL_PERSON_CHECKPOINTS, TABLE_CHECKPOINTS},
                {"characters", SQL_PERSON_PROFILES, TABLE_PROFILES},
                {"active_characters", SQL_PERSON_ACTIVE, TABLE_ACTIVE},
                {"worlds", SQL_PERSON_ABOUT, TABLE_WORLD_ABOUT},
                {"invited_to", SQL_PERSON_GUESTS, TABLE_WORLD_GUESTS},
                {"packages", SQL_PACKAGE_OWNED, TABLE_PACKAGES},
                {"teams", SQL_PERSON_TEAMS, TABLE_PACKAGE_PEOPLE},
                {"offers", SQL_PERSON_OFFERS, TABLE_PACKAGE_OFFERS},
                {"drafts", SQL_PERSON_DRAFTS, TABLE_DRAFT_HISTORY},
                {"edits", SQL_PERSON_EDITS, TABLE_EDIT_ROWS},
                {"favourites", SQL_PERSON_FAVOURITES, TABLE_FAVOURITES},
                {"votes", SQL_PERSON_VOTES, TABLE_VOTES},
                {"played", SQL_PERSON_PLAYS, TABLE_PLAYS},
                {"play_times", SQL_PERSON_PLAY_TIMES, TABLE_PLAY_TIMES},
                {"reports", SQL_PERSON_REPORTS, TABLE_REPORTS},
                {"said", SQL_PERSON_LINES, TABLE_REPORT_LINES},
                {"chat_rule", SQL_PERSON_CHAT_RULE, TABLE_CHAT_RULES},
                {"classes", SQL_PERSON_CLASSES, TABLE_CLASSES},
                {"teaches", SQL_PERSON_TEACHES, TABLE_CLASS_TEACHERS},
                {"handouts", SQL_PERSON_HANDOUTS, TABLE_CLASS_HANDOUTS},
                {"pupil_of", SQL_PERSON_PUPIL, TABLE_CLASS_PUPILS},
                {"called_in_classes", SQL_PERSON_CLASS_NAMES, TABLE_CLASS_NAMES},
                {"blocks", SQL_PERSON_BLOCKS, TABLE_BLOCKS},
                {"audit", SQL_PERSON_AUDIT, TABLE_AUDIT}};

static const SqlTableInfo *info_of(SqlTable table)
{
    for (uint32_t i = 0; i < sql_table_count(); i++) {
        if (sql_table_at(i)->table == table) {
            return sql_table_at(i);
        }
    }
    return NULL;
}

// Hashes of secrets say nothing to anybody, and checksums are ours; what operators note about a
// report is theirs, and what an edit changed is in the draft.
static bool is_shown(const char *column)
{
    static const char *const hidden[] = {"password", "token_hash", "checksum",  "name_key",
                                         "note",     "handler_id", "code_hash", "told"};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (strcmp(column, hidden[i]) == 0) {
            return false;
        }
    }
    return true;
}

// Text as text, other bytes as base64.
static void write_bytes(JsonWriter *json, const uint8_t *bytes, size_t count)
{
    if (utf8_is_valid(bytes, count) && !utf8_has_control(bytes, count)) {
        json_write_text_bytes(json, (const char *)bytes, count);
    } else {
        json_write_base64(json, bytes, count);
    }
}

static void write_column(JsonWriter *json, SqlRow *row, const SqlColumn *column)
{
    const bool shown = is_shown(column->name);
    size_t bytes = 0;
    if (shown) {
        json_write_name(json, column->name);
    }
    if (sql_take_null(row)) {
        if (shown) {
            json_write_null(json);
        }
    } else if (column->type == SQL_BYTES) {
        const uint8_t *data = sql_take_bytes(row, VALUE_BYTES_MAX, &bytes);
        if (shown) {
            write_bytes(json, data, bytes);
        }
    } else if (column->type == SQL_FLOAT) {
        const float number = sql_take_f32(row);
        if (shown) {
            json_write_f32(json, number);
        }
    } else {
        const uint64_t number = sql_take_u64(row);
        if (shown) {
            json_write_integer(json, (int64_t)number);
        }
    }
}

static void put_text(Export *export, const char *text)
{
    export->has_failed = export->has_failed || fputs(text, export->out) < 0;
}

static void write_row(Export *export, SqlRow *row, SqlTable table, bool is_first)
{
    SqlColumn columns[SQL_COLUMNS_MAX];
    const uint32_t count = sql_table_columns(info_of(table), columns);
    ByteWriter writer = byte_writer(export->bytes, ROW_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    sql_take_table(row, table);
    for (uint32_t i = 0; i < count; i++) {
        write_column(&json, row, &columns[i]);
    }
    json_write_object_end(&json);
    put_text(export, is_first ? "\n" : ",\n");
    export->has_failed = export->has_failed || json_writer_finish(&json) != STATUS_OK ||
                         fwrite(export->bytes, writer.at, 1, export->out) != 1;
}

static void begin_section(Export *export, const char *name, bool is_first)
{
    put_text(export, is_first ? "{\"" : ",\n\"");
    put_text(export, name);
    put_text(export, "\":[");
}

static Status write_section(Store *store, Export *export, uint32_t number, uint64_t account)
{
    uint32_t rows = 0;
    begin_section(export, sections[number].name, number == 0);
    store_read_begin(store);
    SqlRow row = sql_open(store->reader, sections[number].statement, TABLE_NONE);
    sql_put_u64(&row, account);
    while (sql_next(&row)) {
        write_row(export, &row, sections[number].table, rows++ == 0);
    }
    const Status status = sql_status(store->reader);
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    put_text(export, "]");
    return status == STATUS_OK && number == 0 && rows == 0 ? STATUS_NOT_FOUND : status;
}

// All rows that a statement finds for each of the keys.
static Status write_rows_of(Store *store, Export *export, const PersonKeys *keys, SqlName name,
                            SqlTable table)
{
    Status status = STATUS_OK;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < keys->count && status == STATUS_OK; i++) {
        store_read_begin(store);
        SqlRow row = sql_open(store->reader, name, TABLE_NONE);
        person_put_key(&row, &keys->items[i]);
        while (sql_next(&row)) {
            write_row(export, &row, table, rows++ == 0);
        }
        status = sql_status(store->reader);
        sql_clear(store->reader);
        pthread_mutex_unlock(&store->read_lock);
    }
    put_text(export, "]");
    return status;
}

static Status write_data(Store *store, Export *export, uint64_t account)
{
    PersonKeys keys = {0};
    Status status = person_keys(store, account, &keys);
    begin_section(export, "datastore", false);
    if (status == STATUS_OK) {
        status = write_rows_of(store, export, &keys, SQL_DATA_FIND, TABLE_DATA);
    }
    begin_section(export, "datastore_values", false);
    if (status == STATUS_OK) {
        status = write_rows_of(store, export, &keys, SQL_VALUE_ALL, TABLE_DATA_VALUES);
    }
    put_text(export, "}\n");
    free(keys.items);
    return status;
}

Status store_person_export(Store *store, uint64_t account, FILE *out)
{
    if (account == 0) {
        return STATUS_NOT_FOUND; // tables have a row of nobody
    }
    Export export = {.out = out, .bytes = malloc(ROW_BYTES)};
    Status status = export.bytes != NULL ? STATUS_OK : STATUS_LIMIT;
    for (uint32_t i = 0; i < sizeof sections / sizeof sections[0] && status == STATUS_OK; i++) {
        status = write_section(store, &export, i, account);
    }
    status = status == STATUS_OK ? write_data(store, &export, account) : status;
    free(export.bytes);
    return status == STATUS_OK && export.has_failed ? STATUS_BLOCKED : status;
}
