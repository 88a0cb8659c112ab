// See script_table.h.
#include "server/channel/script_table.h"

#include "core/base/byte_values.h"
#include "core/base/json_member.h"
#include "core/base/limits.h"
#include "server/channel/printable.h"

#include <string.h>

// A number takes at most 8 bytes (write_number), the length of a text 2.
enum {
    ROW_BYTES = SCRIPT_PATH_BYTES + 2 + 16 * 8,
    FAULT_BYTES = SCRIPT_PATH_BYTES + SCRIPT_FILE_BYTES + SCRIPT_MESSAGE_BYTES + 4 * 8 + 6,
    LINE_BYTES = LOG_TEXT_BYTES + 2 + 2 * 8,
    REMOTE_BYTES = WORLD_NAME_BYTES_MAX + 2 + 5 * 8,
    CLIENT_BYTES = SCRIPT_PATH_BYTES + 2 + 9 * 8,
    CLIENT_FAULT_BYTES = SCRIPT_PATH_BYTES + SCRIPT_MESSAGE_BYTES + 2 * 8 + 4
};
_Static_assert((SCRIPT_STATS_ROWS + SCRIPT_STATS_ENTITIES) * ROW_BYTES +
                       SCRIPT_TABLE_FAULTS * FAULT_BYTES + SCRIPT_TABLE_LINES * LINE_BYTES +
                       SCRIPT_TABLE_REMOTES * REMOTE_BYTES + CLIENT_COST_ROWS * CLIENT_BYTES +
                       CLIENT_FAULT_ROWS * CLIENT_FAULT_BYTES + 128 <=
                   SCRIPT_TABLE_BYTES,
               "a table fits");

static const char *const state_names[] = {
    [SCRIPT_RUNNING] = "running", [SCRIPT_THROTTLED] = "throttled", [SCRIPT_OFF] = "off"};
static const char *const kind_names[FAULT_KIND_COUNT] = {[FAULT_ERROR] = "error",
                                                         [FAULT_BUDGET] = "budget",
                                                         [FAULT_MEMORY] = "memory",
                                                         [FAULT_CAPABILITY] = "capability"};

// --- in the world -------------------------------------------------------------------------------

uint64_t script_microseconds(double ms)
{
    return ms > 0 && ms < 1e15 ? (uint64_t)(ms * 1000) : 0;
}

static ScriptRow row_of(const ScriptAccount *account)
{
    ScriptRow row = {.entity = account->entity,
                     .state = account->state,
                     .calls = account->call_count,
                     .steps = account->step_count,
                     .time_us = script_microseconds(account->time_ms),
                     .time_p99_us = script_microseconds(account->time_p99_ms),
                     .compile_us = script_microseconds(account->compile_ms),
                     .memory_bytes = account->memory_bytes,
                     .faults = account->fault_count,
                     .throttles = account->throttle_count,
                     .debt_steps = account->debt_steps > 0 ? (uint64_t)account->debt_steps : 0,
                     .waiting = account->waiting_count,
                     .dropped = account->dropped_count,
                     .ignored_writes = account->ignored_write_count,
                     .work_steps = account->work_step_count,
                     .work_skipped = account->work_skipped_count};
    memcpy(row.path, account->path, sizeof row.path);
    return row;
}

void script_table_fill(ScriptTable *table, const ScriptStats *stats, uint64_t tick)
{
    table->tick = tick;
    table->all_count = stats->script_count;
    table->script_count = stats->scripts_listed;
    table->entity_count = stats->entities_listed;
    for (uint32_t i = 0; i < stats->scripts_listed; i++) {
        table->scripts[i] = row_of(&stats->scripts[i]);
    }
    for (uint32_t i = 0; i < stats->entities_listed; i++) {
        table->entities[i] = row_of(&stats->entities[i]);
    }
}

void script_table_add_fault(ScriptTable *table, const ScriptFault *fault)
{
    if (table->fault_count == SCRIPT_TABLE_FAULTS) {
        memmove(table->faults, table->faults + 1,
                (SCRIPT_TABLE_FAULTS - 1) * sizeof table->faults[0]);
        table->fault_count -= 1;
    }
    ScriptTableFault *kept = &table->faults[table->fault_count++];
    *kept = (ScriptTableFault){
        .kind = fault->kind, .tick = fault->tick, .entity = fault->entity, .line = fault->line};
    table->fault_total += 1;
    memcpy(kept->path, fault->path, sizeof kept->path);
    memcpy(kept->file, fault->file, sizeof kept->file);
    memcpy(kept->message, fault->message, sizeof kept->message);
}

void script_table_add_line(ScriptTable *table, const LogEvent *event)
{
    if (table->line_count == SCRIPT_TABLE_LINES) {
        memmove(table->lines, table->lines + 1, (SCRIPT_TABLE_LINES - 1) * sizeof table->lines[0]);
        table->line_count -= 1;
    }
    ScriptTableLine *kept = &table->lines[table->line_count++];
    *kept = (ScriptTableLine){.level = event->level, .tick = event->tick};
    memcpy(kept->text, event->text, sizeof kept->text);
    table->line_total += 1;
}

// --- bytes --------------------------------------------------------------------------------------

// Numbers that JSON keeps exactly; a sum that is larger stays there.
#define NUMBER_MAX SIM_NET_ID_MAX

static void write_number(ByteWriter *writer, uint64_t number)
{
    byte_write_varint(writer, number < NUMBER_MAX ? number : NUMBER_MAX);
}

static uint64_t read_number(ByteReader *reader)
{
    const uint64_t number = byte_read_varint(reader);
    if (number > NUMBER_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return number;
}

static void write_row(const ScriptRow *row, ByteWriter *writer)
{
    byte_write_string(writer, row->path);
    write_number(writer, row->entity);
    byte_write_varint(writer, row->state);
#define ROW_WRITE(field, name, help) write_number(writer, row->field);
    SCRIPT_ROW_NUMBERS(ROW_WRITE)
#undef ROW_WRITE
}

static void read_row(ByteReader *reader, ScriptRow *row)
{
    printable_read(reader, row->path, sizeof row->path);
    row->entity = read_number(reader);
    row->state = byte_read_count(reader, SCRIPT_OFF);
#define ROW_READ(field, name, help) row->field = read_number(reader);
    SCRIPT_ROW_NUMBERS(ROW_READ)
#undef ROW_READ
}

static void write_fault(const ScriptTableFault *fault, ByteWriter *writer)
{
    byte_write_varint(writer, fault->kind);
    write_number(writer, fault->tick);
    write_number(writer, fault->entity);
    byte_write_varint(writer, fault->line);
    byte_write_string(writer, fault->path);
    byte_write_string(writer, fault->file);
    byte_write_string(writer, fault->message);
}

static void read_fault(ByteReader *reader, ScriptTableFault *fault)
{
    fault->kind = byte_read_count(reader, FAULT_KIND_COUNT - 1);
    fault->tick = read_number(reader);
    fault->entity = read_number(reader);
    fault->line = byte_read_count(reader, UINT32_MAX);
    printable_read(reader, fault->path, sizeof fault->path);
    printable_read(reader, fault->file, sizeof fault->file);
    printable_read(reader, fault->message, sizeof fault->message);
}

static void write_lines(const ScriptTable *table, ByteWriter *writer)
{
    write_number(writer, table->line_total);
    byte_write_varint(writer, table->line_count);
    for (uint32_t i = 0; i < table->line_count; i++) {
        byte_write_varint(writer, table->lines[i].level);
        write_number(writer, table->lines[i].tick);
        byte_write_string(writer, table->lines[i].text);
    }
}

static void read_lines(ByteReader *reader, ScriptTable *table)
{
    table->line_total = read_number(reader);
    table->line_count = byte_read_count(reader, SCRIPT_TABLE_LINES);
    for (uint32_t i = 0; i < table->line_count && reader->status == STATUS_OK; i++) {
        ScriptTableLine *line = &table->lines[i];
        line->level = byte_read_count(reader, LOG_LEVEL_COUNT - 1);
        line->tick = read_number(reader);
        printable_read(reader, line->text, sizeof line->text);
    }
}

static void write_remotes(const ScriptTable *table, ByteWriter *writer)
{
    byte_write_varint(writer, table->remote_count);
    for (uint32_t i = 0; i < table->remote_count; i++) {
        const RemoteCost *row = &table->remotes[i];
        byte_write_string(writer, row->name);
#define REMOTE_WRITE(field, name, help) write_number(writer, row->field);
        REMOTE_ROW_NUMBERS(REMOTE_WRITE)
#undef REMOTE_WRITE
    }
}

static void read_remotes(ByteReader *reader, ScriptTable *table)
{
    table->remote_count = byte_read_count(reader, SCRIPT_TABLE_REMOTES);
    for (uint32_t i = 0; i < table->remote_count && reader->status == STATUS_OK; i++) {
        RemoteCost *row = &table->remotes[i];
        printable_read(reader, row->name, sizeof row->name);
#define REMOTE_READ(field, name, help) row->field = read_number(reader);
        REMOTE_ROW_NUMBERS(REMOTE_READ)
#undef REMOTE_READ
    }
}

static void write_clients(const ClientCosts *costs, ByteWriter *writer)
{
    write_number(writer, costs->reports);
    write_number(writer, costs->refused);
    byte_write_varint(writer, costs->row_count);
    for (uint32_t i = 0; i < costs->row_count; i++) {
        const ClientCost *row = &costs->rows[i];
        byte_write_string(writer, row->path);
        write_number(writer, row->reports);
#define CLIENT_WRITE(field, name, most, way, help) write_number(writer, row->field);
        CLIENT_COST_NUMBERS(CLIENT_WRITE)
#undef CLIENT_WRITE
    }
    byte_write_varint(writer, costs->fault_count);
    for (uint32_t i = 0; i < costs->fault_count; i++) {
        const ClientFault *fault = &costs->faults[i];
        byte_write_string(writer, fault->path);
        byte_write_varint(writer, fault->line);
        byte_write_string(writer, fault->message);
        write_number(writer, fault->count);
    }
}

static void read_client_faults(ByteReader *reader, ClientCosts *costs)
{
    costs->fault_count = byte_read_count(reader, CLIENT_FAULT_ROWS);
    for (uint32_t i = 0; i < costs->fault_count && reader->status == STATUS_OK; i++) {
        ClientFault *fault = &costs->faults[i];
        printable_read(reader, fault->path, sizeof fault->path);
        fault->line = byte_read_count(reader, UINT32_MAX);
        printable_read(reader, fault->message, sizeof fault->message);
        fault->count = read_number(reader);
    }
}

static void read_clients(ByteReader *reader, ClientCosts *costs)
{
    costs->reports = read_number(reader);
    costs->refused = read_number(reader);
    costs->row_count = byte_read_count(reader, CLIENT_COST_ROWS);
    for (uint32_t i = 0; i < costs->row_count && reader->status == STATUS_OK; i++) {
        ClientCost *row = &costs->rows[i];
        printable_read(reader, row->path, sizeof row->path);
        row->reports = read_number(reader);
#define CLIENT_READ(field, name, most, way, help) row->field = read_number(reader);
        CLIENT_COST_NUMBERS(CLIENT_READ)
#undef CLIENT_READ
    }
    read_client_faults(reader, costs);
}

static void write_rows(const ScriptRow *rows, uint32_t count, ByteWriter *writer)
{
    byte_write_varint(writer, count);
    for (uint32_t i = 0; i < count; i++) {
        write_row(&rows[i], writer);
    }
}

static uint32_t read_rows(ByteReader *reader, ScriptRow *rows, uint32_t max)
{
    const uint32_t count = byte_read_count(reader, max);
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        read_row(reader, &rows[i]);
    }
    return count;
}

void script_table_write(const ScriptTable *table, ByteWriter *writer)
{
    write_number(writer, table->tick);
    write_rows(table->scripts, table->script_count, writer);
    write_rows(table->entities, table->entity_count, writer);
    byte_write_varint(writer, table->fault_count);
    for (uint32_t i = 0; i < table->fault_count; i++) {
        write_fault(&table->faults[i], writer);
    }
    write_number(writer, table->all_count);
    write_number(writer, table->fault_total);
    write_remotes(table, writer);
    write_lines(table, writer);
    write_clients(&table->clients, writer);
}

Status script_table_read(const uint8_t *bytes, size_t count, ScriptTable *out)
{
    ByteReader reader = byte_reader(bytes, count);
    ScriptTable table = {.tick = read_number(&reader)};
    table.script_count = read_rows(&reader, table.scripts, SCRIPT_STATS_ROWS);
    table.entity_count = read_rows(&reader, table.entities, SCRIPT_STATS_ENTITIES);
    table.fault_count = byte_read_count(&reader, SCRIPT_TABLE_FAULTS);
    for (uint32_t i = 0; i < table.fault_count && reader.status == STATUS_OK; i++) {
        read_fault(&reader, &table.faults[i]);
    }
    table.all_count = read_number(&reader);
    table.fault_total = read_number(&reader);
    read_remotes(&reader, &table);
    read_lines(&reader, &table);
    read_clients(&reader, &table.clients);
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = table;
    }
    return status;
}

// --- JSON ---------------------------------------------------------------------------------------

static void json_rows(JsonWriter *json, const char *name, const ScriptRow *rows, uint32_t count)
{
    json_write_name(json, name);
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        const ScriptRow *row = &rows[i];
        json_write_object_begin(json);
        json_member_string(json, "path", row->path);
        if (row->entity != 0) {
            json_member_count(json, "entity", row->entity);
        }
        json_member_string(json, "state", state_names[row->state]);
        json_member_count(json, "timeMeanUs", row->calls > 0 ? row->time_us / row->calls : 0);
#define ROW_JSON(field, member, help) json_member_count(json, member, row->field);
        SCRIPT_ROW_NUMBERS(ROW_JSON)
#undef ROW_JSON
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void json_faults(JsonWriter *json, const ScriptTable *table)
{
    json_write_name(json, "faults");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < table->fault_count; i++) {
        const ScriptTableFault *fault = &table->faults[i];
        const uint64_t before = table->fault_count - i - 1; // those that came after it
        json_write_object_begin(json);
        json_member_count(json, "number",
                          table->fault_total > before ? table->fault_total - before : 0);
        json_member_string(json, "path", fault->path);
        json_member_string(json, "file", fault->file);
        json_member_string(json, "kind", kind_names[fault->kind]);
        json_member_count(json, "line", fault->line);
        json_member_count(json, "tick", fault->tick);
        if (fault->entity != 0) {
            json_member_count(json, "entity", fault->entity);
        }
        json_member_string(json, "message", fault->message);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void json_remotes(JsonWriter *json, const ScriptTable *table)
{
    json_write_name(json, "remotes");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < table->remote_count; i++) {
        const RemoteCost *row = &table->remotes[i];
        json_write_object_begin(json);
        json_member_string(json, "name", row->name);
#define REMOTE_JSON(field, member, help) json_member_count(json, member, row->field);
        REMOTE_ROW_NUMBERS(REMOTE_JSON)
#undef REMOTE_JSON
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void json_client_faults(JsonWriter *json, const ClientCosts *costs)
{
    json_write_name(json, "faults");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < costs->fault_count; i++) {
        const ClientFault *fault = &costs->faults[i];
        json_write_object_begin(json);
        json_member_string(json, "path", fault->path);
        json_member_count(json, "line", fault->line);
        json_member_string(json, "message", fault->message);
        json_member_count(json, "count", fault->count);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void json_lines(JsonWriter *json, const ScriptTable *table)
{
    json_write_name(json, "lines");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < table->line_count; i++) {
        const ScriptTableLine *line = &table->lines[i];
        json_write_object_begin(json);
        json_member_count(json, "number", table->line_total - table->line_count + i + 1);
        json_member_string(json, "level", log_level_name(line->level));
        json_member_count(json, "tick", line->tick);
        json_member_string(json, "text", line->text);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void json_clients(JsonWriter *json, const ClientCosts *costs)
{
    json_write_name(json, "clients");
    json_write_object_begin(json);
    json_member_count(json, "reports", costs->reports);
    json_member_count(json, "refused", costs->refused);
    json_write_name(json, "scripts");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < costs->row_count; i++) {
        const ClientCost *row = &costs->rows[i];
        json_write_object_begin(json);
        json_member_string(json, "path", row->path);
        json_member_count(json, "reports", row->reports);
        json_member_count(json, "timeMeanUs", row->calls > 0 ? row->time_us / row->calls : 0);
#define CLIENT_JSON(field, member, most, way, help) json_member_count(json, member, row->field);
        CLIENT_COST_NUMBERS(CLIENT_JSON)
#undef CLIENT_JSON
        json_write_object_end(json);
    }
    json_write_array_end(json);
    json_client_faults(json, costs);
    json_write_object_end(json);
}

void script_table_brief(const ScriptTable *table, JsonWriter *json)
{
    const uint32_t count =
        table->script_count < SCRIPT_BRIEF_ROWS ? table->script_count : SCRIPT_BRIEF_ROWS;
    json_member_count(json, "scriptCount", table->all_count);
    json_rows(json, "scripts", table->scripts, count);
    json_member_count(json, "faultTotal", table->fault_total);
    json_faults(json, table);
}

void script_table_json(const ScriptTable *table, JsonWriter *json)
{
    json_member_count(json, "tick", table->tick);
    json_member_count(json, "scriptCount", table->all_count);
    json_rows(json, "scripts", table->scripts, table->script_count);
    json_rows(json, "entities", table->entities, table->entity_count);
    json_remotes(json, table);
    json_faults(json, table);
    json_lines(json, table);
    json_clients(json, &table->clients);
}
