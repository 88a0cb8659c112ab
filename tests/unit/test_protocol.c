// docs/PROTOCOL.md and tests/vectors/messages.json compared with the code. Both are compiled in.
#include "core/base/json_read.h"
#include "core/wire/message.h"
#include "tests/support/protocol_text.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

extern const char protocol_page[];
extern const char message_vectors[];

#define HOW_TO_UPDATE                                                                    \
    "if that is meant: cmake --build build/dev --target protocol && build/dev/protocol " \
    "update docs/PROTOCOL.md && build/dev/protocol vectors > tests/vectors/messages.json"

#define TEXT_BYTES (1u << 20)
#define NAME_BYTES 64

static char text[TEXT_BYTES];
static _Alignas(16) uint8_t tree_block[4u << 20];
static _Alignas(16) uint8_t message_block[MESSAGE_JSON_ARENA_BYTES];

// --- the page -----------------------------------------------------------------------------------
TEST(the_tables_are_those_of_the_schema)
{
    const char *begin = strstr(protocol_page, PROTOCOL_TABLES_BEGIN);
    const char *end = strstr(protocol_page, PROTOCOL_TABLES_END);
    REQUIRE(begin != NULL && end != NULL && begin < end);
    begin += strlen(PROTOCOL_TABLES_BEGIN);
    ByteWriter writer = byte_writer(text, sizeof text);
    protocol_tables_write(&writer);
    CHECK_OK(writer.status);
    if (writer.at != (size_t)(end - begin) || memcmp(text, begin, writer.at) != 0) {
        test_fail(__FILE__, __LINE__, "docs/PROTOCOL.md differs from core/wire/schema.def; %s",
                  HOW_TO_UPDATE);
    }
}

// Cell `index` of a table row, without spaces and backticks around it.
static void cell_of(const char *line, uint32_t index, char out[NAME_BYTES])
{
    for (uint32_t i = 0; i <= index; i++) {
        line = strchr(line, '|') + 1;
    }
    size_t bytes = strcspn(line, "|");
    while (bytes != 0 && (*line == ' ' || *line == '`')) {
        line++;
        bytes--;
    }
    while (bytes != 0 && (line[bytes - 1] == ' ' || line[bytes - 1] == '`')) {
        bytes--;
    }
    snprintf(out, NAME_BYTES, "%.*s", (int)bytes, line);
}

static uint32_t number_of(const char *digits)
{
    uint32_t number = 0;
    for (; *digits >= '0' && *digits <= '9'; digits++) {
        number = number * 10 + (uint32_t)(*digits - '0');
    }
    return number;
}

static void check_name(const char *line, char name[NAME_BYTES])
{
    char kind[NAME_BYTES];
    char feature[NAME_BYTES];
    char number[NAME_BYTES];
    cell_of(line, 1, name);
    cell_of(line, 2, kind);
    cell_of(line, 3, feature);
    cell_of(line, 4, number);
    if (strcmp(kind, "snapshot") == 0) {
        CHECK_TEXT(feature, "");
        CHECK_INT(number_of(number), MESSAGE_SNAPSHOT);
        return;
    }
    char *action = strchr(feature, '.');
    if (action == NULL) {
        test_fail(__FILE__, __LINE__, "%s: no feature.action", name);
        return;
    }
    *action++ = 0;
    const MessageRow *row = message_row_find(kind, feature, action);
    if (row == NULL || row->number != number_of(number)) {
        test_fail(__FILE__, __LINE__, "%s: %s %s.%s is not %s", name, kind, feature, action,
                  number);
    }
}

TEST(the_names_of_the_documents_lead_to_messages)
{
    static const char *const wanted[] = {"HANDSHAKE",
                                         "HANDSHAKE_RESPONSE",
                                         "INPUT_FRAME",
                                         "STATE_SNAPSHOT",
                                         "NPC_EVENT",
                                         "PROJECTILE_HIT",
                                         "TERRAFORM_REQUEST",
                                         "TERRAFORM_APPLIED",
                                         "CHUNK_DATA",
                                         "request for chunk data",
                                         "welcome",
                                         "ack",
                                         "snapshot",
                                         "pong",
                                         "error",
                                         "event",
                                         "ping",
                                         "ScriptManifest",
                                         "ScriptRequest",
                                         "ScriptChunk",
                                         "ScriptVerify",
                                         "ExecuteScript"};
    enum { WANTED = sizeof wanted / sizeof wanted[0] };
    bool found[WANTED] = {0};
    const char *line = strstr(protocol_page, "<!-- names: begin -->\n");
    const char *end = strstr(protocol_page, "<!-- names: end -->\n");
    REQUIRE(line != NULL && end != NULL && line < end);
    for (uint32_t skip = 0; skip < 3; skip++) { // the marker and the head of the table
        line = strchr(line, '\n') + 1;
    }
    for (; line < end; line = strchr(line, '\n') + 1) {
        char name[NAME_BYTES];
        check_name(line, name);
        for (uint32_t i = 0; i < WANTED; i++) {
            found[i] = found[i] || strcmp(name, wanted[i]) == 0;
        }
    }
    for (uint32_t i = 0; i < WANTED; i++) {
        if (!found[i]) {
            test_fail(__FILE__, __LINE__, "%s is not in the table", wanted[i]);
        }
    }
}

TEST(the_page_has_its_parts)
{
    static const char *const parts[] = {"## The envelope\n",
                                        "## Two encodings\n",
                                        "## Versions\n",
                                        "## Joining\n",
                                        "## Errors\n",
                                        "## Limits\n",
                                        "## Snapshot frames\n",
                                        "## How far off a client may be\n",
                                        "`sandlot.v2.bin`",
                                        "`sandlot.v2.json`",
                                        "`unsupported_version`",
                                        "`unknown_action`",
                                        "`malformed`"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(protocol_page, parts[i]) == NULL) {
            test_fail(__FILE__, __LINE__, "%s is not in the page", parts[i]);
        }
    }
}

// --- the vectors --------------------------------------------------------------------------------
static size_t from_hex(const JsonNode *hex, uint8_t *out, size_t capacity)
{
    static const char digits[] = "0123456789abcdef";
    size_t count = 0;
    for (; count < hex->count / 2 && count < capacity; count++) {
        const char *high = strchr(digits, hex->text[2 * count]);
        const char *low = strchr(digits, hex->text[2 * count + 1]);
        CHECK(high != NULL && low != NULL);
        out[count] = (uint8_t)((high - digits) * 16 + (low - digits));
    }
    CHECK_INT(count * 2, hex->count);
    return count;
}

static void check_hex_to_json(const MessageRow *row, const uint8_t *bytes, size_t count,
                              const char *json)
{
    Arena arena;
    arena_init(&arena, message_block, sizeof message_block);
    Message message = {0};
    CHECK_OK(row->direction == MESSAGE_EVENT
                 ? message_decode_event(bytes, count, &arena, &message)
                 : message_decode(bytes, count, row->direction, &arena, &message));
    if (message.body == NULL) {
        return;
    }
    CHECK_INT(message.number, row->number);
    static char got[1 << 16];
    ByteWriter writer = byte_writer(got, sizeof got - 1);
    message_to_json(&message, &writer);
    CHECK_OK(writer.status);
    got[writer.at] = 0;
    CHECK_TEXT(got, json);
}

static void check_json_to_hex(const MessageRow *row, const uint8_t *bytes, size_t count,
                              const char *json)
{
    Arena arena;
    arena_init(&arena, message_block, sizeof message_block);
    Message message = {0};
    MessageJsonError error;
    CHECK_OK(message_from_json(json, strlen(json), row->direction, &arena, &message, &error));
    if (message.body == NULL) {
        return;
    }
    uint8_t got[4096];
    ByteWriter writer = byte_writer(got, sizeof got);
    if (row->direction == MESSAGE_EVENT) {
        message_encode_event(row->number, message.body, &writer);
    } else {
        message_encode(&message, &writer);
    }
    CHECK_INT(writer.at, count);
    CHECK_BYTES(got, bytes, count);
}

static void check_vector(const JsonNode *vector, uint32_t seen[256])
{
    JsonError error = {0};
    const JsonNode *number = json_read_member(vector, "number", &error);
    const JsonNode *hex = json_read_member(vector, "hex", &error);
    const JsonNode *json = json_read_member(vector, "json", &error);
    const JsonNode *name = json_read_member(vector, "name", &error);
    CHECK_OK(error.status);
    const MessageRow *row = message_row((uint32_t)number->integer);
    if (row == NULL) {
        test_fail(__FILE__, __LINE__, "%s has no row", name->text);
        return;
    }
    CHECK_TEXT(name->text, row->name);
    seen[row->number] += 1;
    ByteWriter writer = byte_writer(text, sizeof text - 1);
    JsonWriter plain = json_writer(&writer, 0);
    json_write_node(&plain, json);
    CHECK_OK(json_writer_finish(&plain));
    text[writer.at] = 0;
    uint8_t bytes[4096];
    const size_t count = from_hex(hex, bytes, sizeof bytes);
    check_hex_to_json(row, bytes, count, text);
    check_json_to_hex(row, bytes, count, text);
    if (!test_is_passing()) {
        test_fail(__FILE__, __LINE__, "%s, vector %u; %s", row->name, (unsigned)vector->index,
                  HOW_TO_UPDATE);
    }
}

TEST(the_vectors_hold_in_both_directions)
{
    Arena arena;
    arena_init(&arena, tree_block, sizeof tree_block);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    JsonError error = {0};
    const Status status =
        json_parse(&config, message_vectors, strlen(message_vectors), &root, &error);
    REQUIRE(status == STATUS_OK);
    const JsonNode *vector =
        json_read_array(json_read_member(root, "vectors", &error), 1, 10000, &error);
    uint32_t seen[256] = {0};
    for (; vector != NULL && test_is_passing(); vector = vector->next) {
        check_vector(vector, seen);
    }
    for (uint32_t i = 0; message_row_at(i) != NULL && test_is_passing(); i++) {
        if (seen[message_row_at(i)->number] != 3) {
            test_fail(__FILE__, __LINE__, "%s has not three vectors; %s", message_row_at(i)->name,
                      HOW_TO_UPDATE);
        }
    }
}
