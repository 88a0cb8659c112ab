// Prints the schema for people and for other programs. This code contains no knowledge of single
// messages.
#include "tests/support/protocol_text.h"

#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/json_write.h"
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

void protocol_tables_write(ByteWriter *writer)
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
