// docs/PROTOCOL.md and tests/vectors/messages.json compared with the code. Both are compiled in.
#include "core/base/json_read.h"
#include "core/wire/message_inside.h"
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
TEST(what_is_printed_is_what_the_code_says)
{
    for (uint32_t i = 0; protocol_region_at(i) != NULL; i++) {
        const ProtocolRegion *region = protocol_region_at(i);
        const char *begin = NULL;
        const char *end = NULL;
        REQUIRE(protocol_region_find(protocol_page, region, &begin, &end));
        ByteWriter writer = byte_writer(text, sizeof text);
        region->write(&writer);
        CHECK_OK(writer.status);
        if (writer.at != (size_t)(end - begin) || memcmp(text, begin, writer.at) != 0) {
            test_fail(__FILE__, __LINE__, "docs/PROTOCOL.md, %s: differs from the code; %s",
                      region->name, HOW_TO_UPDATE);
        }
    }
}

// Names stay apart and fit into the message; a bar would end a cell of the table.
TEST(every_code_has_a_row_of_its_own)
{
    for (ErrorCode code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++) {
        const ErrorRow *row = error_row(code);
        CHECK(message_text_is_valid((Text){row->name, (uint32_t)strlen(row->name)}, 64));
        CHECK(row->when[0] != 0 && strchr(row->when, '|') == NULL);
        CHECK(row->advice[0] != 0 && strchr(row->advice, '|') == NULL);
        for (ErrorCode other = ERROR_NONE + 1; other < code; other++) {
            CHECK(strcmp(row->name, error_name(other)) != 0);
        }
    }
    for (Status status = STATUS_OK + 1; status < STATUS_COUNT; status++) {
        CHECK(error_row(error_of_status(status))->fatal != ERROR_FATAL_ALWAYS);
    }
}

// --- examples -----------------------------------------------------------------------------------

// The members of an example without the line breaks, as the server writes them.
static const char *plain_of(const JsonNode *root)
{
    ByteWriter writer = byte_writer(text, sizeof text - 1);
    JsonWriter plain = json_writer(&writer, 0);
    json_write_node(&plain, root);
    CHECK_OK(json_writer_finish(&plain));
    text[writer.at] = 0;
    return text;
}

static void check_down(const Message *message, const JsonNode *root)
{
    static char got[1 << 16];
    ByteWriter writer = byte_writer(got, sizeof got - 1);
    message_to_json(message, &writer);
    CHECK_OK(writer.status);
    got[writer.at] = 0;
    CHECK_TEXT(got, plain_of(root));
}

// A message of the page: what a client sends must be taken, what the server sends must be what it
// would print. Snapshots are printed by `protocol`, and nowhere else on the page.
static void check_example(const char *example, size_t bytes)
{
    Arena tree, arena;
    arena_init(&tree, tree_block, sizeof tree_block);
    arena_init(&arena, message_block, sizeof message_block);
    const JsonConfig config = json_config_default(&tree);
    const JsonNode *root = NULL;
    JsonError error = {0};
    REQUIRE(json_parse(&config, example, bytes, &root, &error) == STATUS_OK);
    const char *kind = json_read_text(json_read_member(root, "kind", &error), 64, &error);
    REQUIRE(error.status == STATUS_OK);
    const char *begin = NULL;
    const char *end = NULL;
    uint32_t i = 0;
    while (strcmp(protocol_region_at(i)->name, "snapshots as JSON") != 0) {
        i += 1;
    }
    REQUIRE(protocol_region_find(protocol_page, protocol_region_at(i), &begin, &end));
    if (strcmp(kind, "snapshot") == 0) {
        CHECK(example > begin && example < end);
        return;
    }
    const bool up = strcmp(kind, "command") == 0 || strcmp(kind, "ping") == 0;
    Message message = {0};
    MessageJsonError refused;
    const Status status = message_from_json(example, bytes, up ? MESSAGE_UP : MESSAGE_DOWN, &arena,
                                            &message, &refused);
    if (status != STATUS_OK) {
        test_fail(__FILE__, __LINE__, "an example is refused at %s: %.*s", refused.where.path,
                  (int)bytes, example);
    } else if (!up) {
        check_down(&message, root);
    }
}

// Blocks of ```json, in which every message begins with a line of its own; the other lines of a
// message begin with a space.
TEST(the_examples_are_messages)
{
    uint32_t count = 0;
    bool inside = false;
    const char *begin = NULL;
    for (const char *line = protocol_page; *line != 0 && test_is_passing();) {
        const char *next = line + strcspn(line, "\n");
        next += *next != 0;
        const bool ends = inside && *line != ' ';
        if (ends && begin != NULL) {
            check_example(begin, (size_t)(line - begin));
            count += 1;
            begin = NULL;
        }
        if (!inside) {
            inside = strncmp(line, "```json\n", 8) == 0;
        } else if (strncmp(line, "```", 3) == 0) {
            inside = false;
        } else if (ends) {
            CHECK(*line == '{');
            begin = line;
        }
        line = next;
    }
    CHECK(count >= 10);
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

// --- the schema number --------------------------------------------------------------------------

static void add_number(uint64_t *hash, uint64_t number)
{
    for (uint32_t i = 0; i < 8; i++) {
        *hash = (*hash ^ (number >> (8 * i) & 0xff)) * 1099511628211u;
    }
}

// What decides the bytes of a message: types, limits and order of its fields.
static uint64_t schema_print(void)
{
    uint64_t hash = 14695981039346656037u;
    for (MessageGroup group = 0; group < MESSAGE_GROUP_COUNT; group++) {
        const MessageField *field = message_fields(group);
        for (; field->type != FIELD_END; field++) {
            uint32_t magnitude = 0;
            memcpy(&magnitude, &field->magnitude, sizeof magnitude);
            add_number(&hash, field->type);
            add_number(&hash, field->limit);
            add_number(&hash, magnitude);
            add_number(&hash, field->type == FIELD_LIST ? (uint64_t)field->item + 1 : 0);
        }
        add_number(&hash, 0x656e64);
    }
    for (uint32_t i = 0; message_row_at(i) != NULL; i++) {
        add_number(&hash, message_row_at(i)->number);
        add_number(&hash, message_row_group(message_row_at(i)));
    }
    return hash;
}

// Two programs with the same schema number read each other's bytes. So whoever changes a row raises
// PROTOCOL_SCHEMA and writes the new print here, in one commit. A new message that older clients
// may skip needs the new print alone.
TEST(other_rows_are_another_schema)
{
    static const struct {
        uint32_t schema;
        uint64_t print;
    } known = {5, 0x12f6fcf83bbdff39};
    CHECK_INT(PROTOCOL_SCHEMA, known.schema);
    if (schema_print() != known.print) {
        test_fail(__FILE__, __LINE__,
                  "schema.def has changed: raise PROTOCOL_SCHEMA, and write 0x%016llx here",
                  (unsigned long long)schema_print());
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
