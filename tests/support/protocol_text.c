// Prints the schema for people and for other programs. This code contains no knowledge of single
// messages.
#include "tests/support/protocol_text.h"

#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/script/runtime/value.h"
#include "core/wire/input_frame.h"
#include "core/world/save/row.h"
#include "tests/support/message_example.h"

#include <stdio.h>
#include <string.h>

// --- tables -------------------------------------------------------------------------------------
static void put(ByteWriter *writer, const char *text)
{
    byte_write_bytes(writer, text, strlen(text));
}

static void put_number(ByteWriter *writer, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    put(writer, text);
}

static const char *type_text(FieldType type)
{
    static const char *const texts[FIELD_TYPE_COUNT] = {
        [FIELD_UINT] = "uint",    [FIELD_SINT] = "sint", [FIELD_BOOL] = "bool",
        [FIELD_F32] = "f32",      [FIELD_TEXT] = "text", [FIELD_BYTES] = "bytes",
        [FIELD_HASH] = "hash",    [FIELD_VEC3] = "vec3", [FIELD_COORD] = "coord",
        [FIELD_LIST] = "list of "};
    return texts[type];
}

static void put_limit(const MessageField *field, ByteWriter *writer)
{
    char text[32];
    switch (field->type) {
    case FIELD_UINT:
        put_number(writer, field->limit);
        return;
    case FIELD_SINT:
    case FIELD_COORD:
        put(writer, "\xc2\xb1");
        put_number(writer, field->limit);
        return;
    case FIELD_F32:
    case FIELD_VEC3:
        snprintf(text, sizeof text, "\xc2\xb1%.6g", (double)field->magnitude);
        put(writer, text);
        return;
    case FIELD_TEXT:
    case FIELD_BYTES:
        put_number(writer, field->limit);
        put(writer, " bytes");
        return;
    case FIELD_LIST:
        put_number(writer, field->limit);
        put(writer, " items");
        return;
    case FIELD_BOOL:
    case FIELD_HASH:
    case FIELD_END:
    case FIELD_TYPE_COUNT:
        break;
    }
}

static void put_fields(MessageGroup group, ByteWriter *writer)
{
    const MessageField *field = message_fields(group);
    if (field->type == FIELD_END) {
        put(writer, "\nNo fields.\n");
        return;
    }
    put(writer, "\n| field | type | limit | what it is |\n| --- | --- | --- | --- |\n");
    for (; field->type != FIELD_END; field++) {
        put(writer, "| `");
        put(writer, field->json);
        put(writer, "` | ");
        put(writer, type_text(field->type));
        if (field->type == FIELD_LIST) {
            put(writer, message_group_name(field->item));
        }
        put(writer, " | ");
        put_limit(field, writer);
        put(writer, " | ");
        put(writer, field->text);
        put(writer, " |\n");
    }
}

static void put_message(const MessageRow *row, ByteWriter *writer)
{
    put(writer, "\n#### ");
    put_number(writer, row->number);
    put(writer, " ");
    put(writer, row->name);
    put(writer, "\n\n`");
    put(writer, row->kind);
    put(writer, "` `");
    put(writer, row->feature);
    put(writer, ".");
    put(writer, row->action);
    put(writer, "`. ");
    put(writer, row->text);
    put(writer, ".\n");
    put_fields(message_row_group(row), writer);
}

static void tables_write(ByteWriter *writer)
{
    static const char *const titles[] = {
        "Up: from the client", "Down: to the client",
        "Events: to the client, inside a snapshot frame, at a tick"};
    for (MessageDirection direction = MESSAGE_UP; direction <= MESSAGE_EVENT; direction++) {
        put(writer, "\n### ");
        put(writer, titles[direction]);
        put(writer, "\n");
        for (uint32_t i = 0; message_row_at(i) != NULL; i++) {
            if (message_row_at(i)->direction == direction) {
                put_message(message_row_at(i), writer);
            }
        }
    }
    put(writer, "\n### Structs: the items of lists\n");
    for (MessageGroup group = 0; group < MESSAGE_GROUP_COUNT; group++) {
        if (!message_group_is_struct(group)) {
            continue;
        }
        put(writer, "\n#### ");
        put(writer, message_group_name(group));
        put(writer, "\n");
        put_fields(group, writer);
    }
    put(writer, "\n");
}

// --- codes, limits, answers ---------------------------------------------------------------------
static void codes_write(ByteWriter *writer)
{
    static const char *const fatal[] = {"no", "sometimes", "yes"};
    put(writer, "| code | fatal | when it is sent | what a client does |\n"
                "| --- | --- | --- | --- |\n");
    for (ErrorCode code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++) {
        const ErrorRow *row = error_row(code);
        const char *const cells[] = {"| `", row->name, "` | ", fatal[row->fatal],
                                     " | ", row->when, " | ",  row->advice,
                                     " |\n"};
        for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
            put(writer, cells[i]);
        }
    }
}

static void put_limit_row(ByteWriter *writer, const char *name, uint64_t value, const char *unit,
                          const char *text)
{
    put(writer, "| `");
    put(writer, name);
    put(writer, "` | ");
    put_number(writer, value);
    put(writer, " | ");
    put(writer, unit);
    put(writer, " | ");
    put(writer, text);
    put(writer, " |\n");
}

static void limits_write(ByteWriter *writer)
{
    put(writer, "| name | value | unit | what it bounds |\n| --- | --- | --- | --- |\n");
#define LIMIT(NAME, unit, text) put_limit_row(writer, #NAME, (uint64_t)(NAME), unit, text);
#include "core/wire/limit.def"
}

static void put_rate_row(ByteWriter *writer, const char *name, uint32_t most, uint32_t per_second,
                         const char *text)
{
    put(writer, "| `");
    put(writer, name);
    put(writer, "` | ");
    put_number(writer, most);
    put(writer, " | ");
    put_number(writer, per_second);
    put(writer, " | ");
    put(writer, text);
    put(writer, " |\n");
}

static void rates_write(ByteWriter *writer)
{
    put(writer, "| name | at once | refilled in a second | what it counts |\n"
                "| --- | --- | --- | --- |\n");
#define RATE_ROW(NAME, most, per_second, text) \
    put_rate_row(writer, "RATE_" #NAME, most, per_second, text);
    RATE_LIST(RATE_ROW)
#undef RATE_ROW
}

typedef enum AnswerAck { ANSWER_NONE, ANSWER_NO, ANSWER_YES } AnswerAck;
static const struct {
    AnswerAck ack; // ANSWER_NONE: no row
    const char *text;
} answers[256] = {
#define ANSWER(NUMBER_NAME, ack, text) [MESSAGE_##NUMBER_NAME] = {ANSWER_##ack, text},
#include "core/wire/answer.def"
};

static void answers_write(ByteWriter *writer)
{
    put(writer, "| command | acknowledged | what else comes |\n| --- | --- | --- |\n");
    for (uint32_t i = 0; message_row_at(i) != NULL; i++) {
        const MessageRow *row = message_row_at(i);
        const bool is_up = row->direction == MESSAGE_UP;
        ASSERT(is_up == (answers[row->number].ack != ANSWER_NONE)); // answer.def lacks a row
        if (is_up) {
            put(writer, "| `");
            put(writer, row->feature);
            put(writer, ".");
            put(writer, row->action);
            put(writer, answers[row->number].ack == ANSWER_YES ? "` | yes | " : "` | no | ");
            put(writer, answers[row->number].text);
            put(writer, " |\n");
        }
    }
}

// --- regions ------------------------------------------------------------------------------------
static const ProtocolRegion regions[] = {
    {"answers", answers_write},
    {"error codes", codes_write},
    {"limits", limits_write},
    {"rates", rates_write},
    {"snapshots as JSON", protocol_snapshots_write},
    {"tables of the schema", tables_write},
};

const ProtocolRegion *protocol_region_at(uint32_t index)
{
    return index < sizeof regions / sizeof regions[0] ? &regions[index] : NULL;
}

bool protocol_region_find(const char *page, const ProtocolRegion *region, const char **begin,
                          const char **end)
{
    char first[64], last[64];
    snprintf(first, sizeof first, "<!-- %s: begin -->\n", region->name);
    snprintf(last, sizeof last, "<!-- %s: end -->\n", region->name);
    *begin = strstr(page, first);
    *end = strstr(page, last);
    if (*begin == NULL || *end == NULL || *end < *begin) {
        return false;
    }
    *begin += strlen(first);
    return true;
}

// --- vectors ------------------------------------------------------------------------------------
static const char *const direction_names[] = {"up", "down", "event"};
static const char *const kind_names[] = {"empty", "filled", "largest"};

static void put_hex(const uint8_t *bytes, size_t count, ByteWriter *writer)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        byte_write_u8(writer, (uint8_t)digits[bytes[i] >> 4]);
        byte_write_u8(writer, (uint8_t)digits[bytes[i] & 15]);
    }
}

static void put_vector(const MessageRow *row, ExampleKind kind, ByteWriter *writer, Arena *arena)
{
    const ExampleConfig config = {kind, 24, 2};
    Rng rng = rng_make(row->number, (uint64_t)kind);
    Message message = {.number = row->number};
    message.body = message_example(row, &config, &rng, arena);
    message.seq = kind == EXAMPLE_LARGEST ? UINT32_MAX : kind == EXAMPLE_FILLED ? 42 : 0;
    const bool is_up = row->direction == MESSAGE_UP;
    message.client_time_ms = is_up && kind != EXAMPLE_EMPTY ? 1234 : 0;
    if (row->direction == MESSAGE_EVENT) {
        message.seq = 0;
    }
    uint8_t bytes[4096];
    ByteWriter binary = byte_writer(bytes, sizeof bytes);
    if (row->direction == MESSAGE_EVENT) {
        message_encode_event(row->number, message.body, &binary);
    } else {
        message_encode(&message, &binary);
    }
    ASSERT(binary.status == STATUS_OK);
    put(writer, "  {\"name\": \"");
    put(writer, row->name);
    put(writer, "\", \"number\": ");
    put_number(writer, row->number);
    put(writer, ", \"direction\": \"");
    put(writer, direction_names[row->direction]);
    put(writer, "\", \"example\": \"");
    put(writer, kind_names[kind]);
    put(writer, "\",\n   \"hex\": \"");
    put_hex(bytes, binary.at, writer);
    put(writer, "\",\n   \"json\": ");
    message_to_json(&message, writer);
    put(writer, "}");
}

void protocol_vectors_write(ByteWriter *writer, Arena *arena)
{
    put(writer,
        "{\"about\": \"Every message in both encodings; docs/PROTOCOL.md says how this file "
        "is made.\",\n \"vectors\": [\n");
    for (uint32_t i = 0; message_row_at(i) != NULL; i++) {
        for (ExampleKind kind = EXAMPLE_EMPTY; kind <= EXAMPLE_LARGEST; kind++) {
            const size_t mark = arena_mark(arena);
            put(writer, i == 0 && kind == EXAMPLE_EMPTY ? "" : ",\n");
            put_vector(message_row_at(i), kind, writer, arena);
            arena_rewind(arena, mark);
        }
    }
    put(writer, "\n ]}\n");
}
