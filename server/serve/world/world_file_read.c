// Reading a world's file, which may come from anybody. The text is cut into its parts by a scanner
// that knows nothing but brackets and strings; each part is then read as JSON of its own, so that
// memory is bounded by the largest of them.
#define _GNU_SOURCE
#include "core/base/base64.h"
#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/base/name_text.h"
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/world/save/row.h"
#include "server/build/ask/ask_zstd.h"
#include "server/serve/world/world_file.h"
#include "server/store/store_import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ITEM_ARENA_BYTES (WORLD_ITEM_BYTES_MAX + (64u << 10))
#define ROW_BYTES_MAX    (ROW_VALUE_BYTES + ROW_KEY_BYTES + 16)
#define NUMBER_MAX       ((int64_t)SIM_NET_ID_MAX)
#define FAR              1e9f

typedef struct Reading {
    Worker *worker;
    const char *text;
    size_t at, bytes;
    const char *part; // "chunks"
    uint32_t number;  // of the item in it
    uint8_t *arena;
    uint8_t *data; // ROW_VALUE_BYTES, twice: packed and unpacked
    WorldFile *out;
    size_t capacity; // of its rows
    char *reason;
    Status status;
} Reading;

static void reading_fail(Reading *reading, Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void reading_fail(Reading *reading, Status status, const char *format, ...)
{
    if (reading->status != STATUS_OK) {
        return; // the first one is told
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reading->reason, WORLD_FILE_REASON_BYTES, format, arguments);
    va_end(arguments);
    reading->status = status;
}

// --- the scanner --------------------------------------------------------------------------------

static void skip_space(Reading *reading)
{
    while (reading->at < reading->bytes && strchr(" \t\r\n", reading->text[reading->at]) != NULL &&
           reading->text[reading->at] != '\0') {
        reading->at += 1;
    }
}

static char peek(Reading *reading)
{
    skip_space(reading);
    return reading->at < reading->bytes ? reading->text[reading->at] : '\0';
}

static bool take_char(Reading *reading, char wanted)
{
    if (reading->status == STATUS_OK && peek(reading) == wanted) {
        reading->at += 1;
        return true;
    }
    reading_fail(reading, STATUS_MALFORMED, "byte %zu: there should be %c", reading->at, wanted);
    return false;
}

static void skip_string(Reading *reading)
{
    for (reading->at += 1; reading->at < reading->bytes; reading->at++) {
        if (reading->text[reading->at] == '\\') {
            reading->at += 1;
        } else if (reading->text[reading->at] == '"') {
            reading->at += 1;
            return;
        }
    }
    reading->at = reading->bytes; // past an escape at the end
    reading_fail(reading, STATUS_MALFORMED, "the file ends inside a text");
}

// From here to the end of one value; whether it is one, json_parse says.
static size_t skip_value(Reading *reading)
{
    skip_space(reading);
    const size_t begin = reading->at;
    uint32_t depth = 0;
    while (reading->at < reading->bytes && reading->status == STATUS_OK) {
        const char letter = reading->text[reading->at];
        if (depth == 0 && reading->at > begin && strchr(",]}", letter) != NULL) {
            break;
        }
        if (letter == '"') {
            skip_string(reading);
            continue;
        }
        depth += letter == '{' || letter == '[';
        if (letter == '}' || letter == ']') {
            if (depth == 0) {
                break;
            }
            depth -= 1;
        }
        reading->at += 1;
    }
    return reading->at - begin;
}

// The next value as a tree, until the next call; NULL after a failure.
static const JsonNode *take_value(Reading *reading)
{
    const size_t bytes = skip_value(reading);
    if (reading->status != STATUS_OK) {
        return NULL;
    }
    Arena arena;
    arena_init(&arena, reading->arena, ITEM_ARENA_BYTES);
    const JsonConfig config = {
        .arena = &arena, .bytes_max = WORLD_ITEM_BYTES_MAX, .node_count_max = 128, .depth_max = 8};
    const JsonNode *root = NULL;
    JsonError error = {0};
    const Status status =
        json_parse(&config, reading->text + reading->at - bytes, bytes, &root, &error);
    if (status != STATUS_OK) {
        reading_fail(reading, STATUS_MALFORMED, "%s[%u]: is no valid JSON: %s", reading->part,
                     reading->number, error.message);
        return NULL;
    }
    return root;
}

// A name of the file itself, without escapes.
static bool take_name(Reading *reading, char out[32])
{
    if (!take_char(reading, '"')) {
        return false;
    }
    const size_t begin = reading->at;
    while (reading->at < reading->bytes && reading->text[reading->at] != '"') {
        reading->at += 1;
    }
    const size_t bytes = reading->at - begin;
    snprintf(out, 32, "%.*s", (int)(bytes < 31 ? bytes : 31), reading->text + begin);
    return take_char(reading, '"') && take_char(reading, ':');
}

// --- rows ---------------------------------------------------------------------------------------

static ByteWriter begin_row(Reading *reading)
{
    WorldFile *out = reading->out;
    if (reading->capacity - out->bytes < ROW_BYTES_MAX) {
        const size_t more = 2 * reading->capacity + ROW_BYTES_MAX;
        uint8_t *grown = more <= WORLD_FILE_BYTES_MAX ? realloc(out->rows, more) : NULL;
        if (grown == NULL) {
            reading_fail(reading, STATUS_LIMIT, "the world is too large");
            return byte_counter();
        }
        out->rows = grown;
        reading->capacity = more;
    }
    return byte_writer(out->rows + out->bytes, ROW_BYTES_MAX);
}

static void end_row(Reading *reading, const ByteWriter *writer)
{
    WorldFile *out = reading->out;
    if (reading->status != STATUS_OK) {
        return;
    }
    if (writer->status != STATUS_OK ||
        store_rows_check(out->rows + out->bytes, writer->at) != STATUS_OK) {
        reading_fail(reading, STATUS_MALFORMED, "%s[%u]: a value is out of range", reading->part,
                     reading->number);
        return;
    }
    out->bytes += writer->at;
}

// The bytes of "data", at most ROW_VALUE_BYTES of them.
static size_t take_data(Reading *reading, const JsonNode *item, JsonError *error)
{
    const JsonNode *node = json_read_member(item, "data", error);
    size_t bytes = 0;
    if (error->status == STATUS_OK &&
        (node->kind != JSON_STRING || base64_decode(node->text, node->count, reading->data,
                                                    ROW_VALUE_BYTES, &bytes) != STATUS_OK)) {
        reading_fail(reading, STATUS_MALFORMED, "%s[%u].data: is no base64, or too long",
                     reading->part, reading->number);
    }
    return bytes;
}

static Text member_text(const JsonNode *item, const char *name, uint32_t bytes_max,
                        JsonError *error)
{
    const char *text = json_read_text(json_read_member(item, name, error), bytes_max, error);
    return text != NULL ? text_from(text) : (Text){"", 0};
}

static uint64_t member_number(const JsonNode *item, const char *name, JsonError *error)
{
    return (uint64_t)json_read_integer(json_read_member(item, name, error), 0, NUMBER_MAX, error);
}

static int32_t member_i32(const JsonNode *item, const char *name, JsonError *error)
{
    return (int32_t)json_read_integer(json_read_member(item, name, error), INT32_MIN, INT32_MAX,
                                      error);
}

static void only(const JsonNode *item, const char *const *names, JsonError *error)
{
    uint32_t count = 0;
    while (names[count] != NULL) {
        count += 1;
    }
    json_read_only(item, names, count, error);
}

static void read_chunk(Reading *reading, const JsonNode *item, JsonError *error)
{
    static const char *const names[] = {"x", "y", "z", "data", NULL};
    only(item, names, error);
    const ChunkCoord at = {member_i32(item, "x", error), member_i32(item, "y", error),
                           member_i32(item, "z", error)};
    const size_t packed = take_data(reading, item, error);
    if (error->status != STATUS_OK || reading->status != STATUS_OK) {
        return;
    }
    uint8_t *unpacked = reading->data + ROW_VALUE_BYTES;
    size_t bytes = 0;
    const Status status =
        unzstd_ask(reading->worker, reading->data, packed, unpacked, ROW_VALUE_BYTES, &bytes);
    if (status != STATUS_OK || bytes == 0) {
        reading_fail(reading, status == STATUS_BLOCKED ? STATUS_BLOCKED : STATUS_MALFORMED,
                     "chunks[%u].data: is no zstd, or too large", reading->number);
        return;
    }
    ByteWriter writer = begin_row(reading);
    row_put_chunk(at, unpacked, bytes, &writer);
    end_row(reading, &writer);
}

static void read_structure(Reading *reading, const JsonNode *item, JsonError *error)
{
    static const char *const names[] = {"type", "net_id", "owner", "piece",  "x",
                                        "y",    "z",      "turn",  "health", NULL};
    only(item, names, error);
    RowStructure row = {
        .desc = {.net_id = member_number(item, "net_id", error),
                 .owner_id = member_number(item, "owner", error),
                 .piece = (uint32_t)(member_number(item, "piece", error) & UINT32_MAX),
                 .cell = {member_i32(item, "x", error), member_i32(item, "y", error),
                          member_i32(item, "z", error)},
                 .turn = (uint32_t)(member_number(item, "turn", error) & UINT32_MAX)},
        .health = json_read_f32(json_read_member(item, "health", error), -FAR, FAR, error)};
    if (error->status == STATUS_OK) {
        ByteWriter writer = begin_row(reading);
        row_put_structure(&row, &writer);
        end_row(reading, &writer);
    }
}

static void read_player(Reading *reading, const JsonNode *item, JsonError *error)
{
    static const char *const names[] = {"type",     "user_id",  "player", "entity",
                                        "position", "velocity", "yaw",    "health",
                                        "name",     "team",     NULL};
    only(item, names, error);
    const RowPlayer row = {
        .account = member_number(item, "user_id", error),
        .player = member_number(item, "player", error),
        .entity = member_number(item, "entity", error),
        .position = json_read_vec3(json_read_member(item, "position", error), -FAR, FAR, error),
        .velocity = json_read_vec3(json_read_member(item, "velocity", error), -FAR, FAR, error),
        .yaw = json_read_f32(json_read_member(item, "yaw", error), -FAR, FAR, error),
        .health = json_read_f32(json_read_member(item, "health", error), -FAR, FAR, error),
        .name = member_text(item, "name", 64, error),
        .team = member_text(item, "team", 64, error)};
    if (error->status == STATUS_OK && row.name.bytes > 0 &&
        !name_text_is_valid(row.name.data, row.name.bytes)) {
        reading_fail(reading, STATUS_MALFORMED, "%s[%u].name: " NAME_TEXT_RULE, reading->part,
                     reading->number);
    } else if (error->status == STATUS_OK) {
        ByteWriter writer = begin_row(reading);
        row_put_player(&row, &writer);
        end_row(reading, &writer);
    }
}

static void read_attributes(Reading *reading, const JsonNode *item, JsonError *error)
{
    static const char *const names[] = {"type", "name", "scene_id", "net_id", "data", NULL};
    only(item, names, error);
    const bool has_name = json_find(item, "name") != NULL;
    const bool is_scene = json_find(item, "scene_id") != NULL;
    const Text name =
        has_name ? member_text(item, "name", WORLD_NAME_BYTES_MAX, error) : (Text){"", 0};
    const uint64_t number = has_name   ? 0
                            : is_scene ? member_number(item, "scene_id", error) | ROW_SCENE_ID
                                       : member_number(item, "net_id", error);
    const size_t bytes = take_data(reading, item, error);
    if (error->status == STATUS_OK && reading->status == STATUS_OK) {
        ByteWriter writer = begin_row(reading);
        row_put_attributes(name, number, reading->data, bytes, &writer);
        end_row(reading, &writer);
    }
}

static void read_entity(Reading *reading, const JsonNode *item, JsonError *error)
{
    static const char *const types[] = {"structure", "player", "attributes"};
    static void (*const read[])(Reading *, const JsonNode *,
                                JsonError *) = {read_structure, read_player, read_attributes};
    const uint32_t type = json_read_choice(json_read_member(item, "type", error), types, 3, error);
    if (error->status == STATUS_OK) {
        read[type](reading, item, error);
    }
}

// --- the file -----------------------------------------------------------------------------------

static void say_error(Reading *reading, const JsonError *error)
{
    if (error->status != STATUS_OK) {
        char text[JSON_ERROR_TEXT_BYTES];
        json_error_words(error, text);
        reading_fail(reading, STATUS_MALFORMED, "%s[%u]: %.140s", reading->part, reading->number,
                     text);
    }
}

static void read_items(Reading *reading, const char *part,
                       void (*read)(Reading *, const JsonNode *, JsonError *))
{
    reading->part = part;
    if (!take_char(reading, '[')) {
        return;
    }
    for (reading->number = 0; peek(reading) != ']' && reading->status == STATUS_OK;
         reading->number++) {
        if (reading->number > 0 && !take_char(reading, ',')) {
            return;
        }
        const JsonNode *item = take_value(reading);
        if (item != NULL) {
            JsonError error = {0};
            read(reading, item, &error);
            say_error(reading, &error);
        }
    }
    (void)take_char(reading, ']');
}

// RFC 3339 in UTC, with milliseconds or without.
static bool read_time(const char *text, uint64_t *unix_ms)
{
    struct tm parts = {0};
    int end = 0;
    uint64_t ms = 0;
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
               &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &end) != 6) {
        return false;
    }
    if (text[end] == '.') {
        end += 1;
        for (uint64_t unit = 100; text[end] >= '0' && text[end] <= '9'; end++, unit /= 10) {
            ms += (uint64_t)(text[end] - '0') * unit;
        }
    }
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    const time_t seconds = timegm(&parts);
    *unix_ms = seconds >= 0 ? (uint64_t)seconds * 1000 + ms : 0;
    return strcmp(text + end, "Z") == 0 && seconds >= 0;
}

static void read_metadata(Reading *reading)
{
    static const char *const names[] = {"name", "created_at",  "place_id",    "place_hash",
                                        "tick", "next_net_id", "next_player", "manifest_version",
                                        NULL};
    reading->part = "metadata";
    const JsonNode *item = take_value(reading);
    JsonError error = {0};
    StoreWorld *world = &reading->out->world;
    if (item == NULL) {
        return;
    }
    only(item, names, &error);
    const Text name = member_text(item, "name", sizeof world->name - 1, &error);
    const Text place = member_text(item, "place_id", sizeof world->place_id - 1, &error);
    const Text created = member_text(item, "created_at", 40, &error);
    const Text hash = member_text(item, "place_hash", 64, &error);
    const RowMeta meta = {.next_net_id = member_number(item, "next_net_id", &error),
                          .next_player = member_number(item, "next_player", &error),
                          .tick = member_number(item, "tick", &error),
                          .manifest_version = member_number(item, "manifest_version", &error)};
    say_error(reading, &error);
    if (reading->status != STATUS_OK) {
        return;
    }
    snprintf(world->name, sizeof world->name, "%s", name.data);
    snprintf(world->place_id, sizeof world->place_id, "%s", place.data);
    if (!bytes_from_hex(hash.data, hash.bytes, world->place_hash, sizeof world->place_hash) ||
        !read_time(created.data, &world->created_unix_ms) ||
        !text_is_valid(name.data, name.bytes)) {
        reading_fail(
            reading, STATUS_MALFORMED,
            "metadata: name, created_at (like 2026-01-31T12:00:00Z) or place_hash is invalid");
        return;
    }
    ByteWriter writer = begin_row(reading);
    row_put_meta(&meta, &writer);
    end_row(reading, &writer);
}

static void read_version(Reading *reading)
{
    reading->part = "version";
    const JsonNode *node = take_value(reading);
    if (node != NULL && (node->kind != JSON_NUMBER || node->number != WORLD_FILE_VERSION)) {
        reading_fail(reading, STATUS_MALFORMED, "version: this program reads version %d",
                     WORLD_FILE_VERSION);
    }
}

static void read_world_id(Reading *reading)
{
    reading->part = "world_id";
    const JsonNode *node = take_value(reading);
    JsonError error = {0};
    const char *text = json_read_text(node, sizeof reading->out->world.world_id - 1, &error);
    if (error.status == STATUS_OK && text != NULL) {
        snprintf(reading->out->world.world_id, sizeof reading->out->world.world_id, "%s", text);
    }
    say_error(reading, &error);
}

typedef enum Member {
    MEMBER_VERSION,
    MEMBER_WORLD_ID,
    MEMBER_METADATA,
    MEMBER_CHUNKS,
    MEMBER_ENTITIES,
    MEMBER_COUNT
} Member;

static void read_member(Reading *reading, uint32_t *seen)
{
    static const char *const names[MEMBER_COUNT] = {"version", "world_id", "metadata", "chunks",
                                                    "entities"};
    char name[32];
    if (!take_name(reading, name)) {
        return;
    }
    uint32_t member = 0;
    while (member < MEMBER_COUNT && strcmp(names[member], name) != 0) {
        member += 1;
    }
    if (member == MEMBER_COUNT || (*seen & 1u << member) != 0) {
        reading_fail(reading, STATUS_MALFORMED, "%s: is %s", name,
                     member == MEMBER_COUNT ? "no member of a world's file" : "there twice");
        return;
    }
    *seen |= 1u << member;
    switch ((Member)member) {
    case MEMBER_VERSION:
        read_version(reading);
        break;
    case MEMBER_WORLD_ID:
        read_world_id(reading);
        break;
    case MEMBER_METADATA:
        read_metadata(reading);
        break;
    case MEMBER_CHUNKS:
        read_items(reading, "chunks", read_chunk);
        break;
    default:
        read_items(reading, "entities", read_entity);
        break;
    }
}

static void read_file(Reading *reading)
{
    uint32_t seen = 0;
    if (!take_char(reading, '{')) {
        return;
    }
    for (bool first = true; peek(reading) != '}' && reading->status == STATUS_OK; first = false) {
        if (first || take_char(reading, ',')) {
            read_member(reading, &seen);
        }
    }
    if (take_char(reading, '}') && peek(reading) != '\0') {
        reading_fail(reading, STATUS_MALFORMED, "something follows the end of the file's object");
    }
    const uint32_t needed = 1u << MEMBER_METADATA | 1u << MEMBER_CHUNKS | 1u << MEMBER_ENTITIES;
    if ((seen & needed) != needed) {
        reading_fail(reading, STATUS_MALFORMED, "metadata, chunks or entities are missing");
    }
}

Status world_file_read(Worker *worker, const char *text, size_t bytes, WorldFile *out,
                       char reason[WORLD_FILE_REASON_BYTES])
{
    *out = (WorldFile){.rows = NULL};
    reason[0] = '\0';
    Reading reading = {.worker = worker,
                       .text = text,
                       .bytes = bytes,
                       .part = "",
                       .arena = malloc(ITEM_ARENA_BYTES),
                       .data = malloc(2 * (size_t)ROW_VALUE_BYTES),
                       .out = out,
                       .reason = reason};
    if (reading.arena == NULL || reading.data == NULL) {
        reading_fail(&reading, STATUS_LIMIT, "there is not enough memory");
    } else {
        read_file(&reading);
    }
    free(reading.arena);
    free(reading.data);
    if (reading.status != STATUS_OK) {
        utf8_clean(reason); // it may have a name from the file in it
        world_file_free(out);
    }
    return reading.status;
}

void world_file_free(WorldFile *file)
{
    free(file->rows);
    *file = (WorldFile){.rows = NULL};
}
