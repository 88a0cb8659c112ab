// See manifest.h. One order of members for both directions: whoever verifies reads the text, writes
// what it understood, and checks the signature over that, so that nothing unread is ever signed
// for.
#include "core/wire/manifest.h"

#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/base/json_read.h"
#include "core/base/json_write.h"
#include "core/wire/script_path.h"

#include <string.h>

#define HASH_PREFIX       "sha256:"
#define HASH_PREFIX_BYTES (sizeof HASH_PREFIX - 1)
#define NODES_MAX         (1u << 17)
#define DEPTH_MAX         4
#define CDN_BYTES_MAX     512

static const char hex_digits[] = "0123456789abcdef";

// --- writing ------------------------------------------------------------------------------------

static void write_hex(JsonWriter *json, const char *prefix, const uint8_t *bytes, size_t count)
{
    char text[HASH_PREFIX_BYTES + 2 * MANIFEST_SIGNATURE_BYTES];
    const size_t start = strlen(prefix);
    ASSERT(start <= HASH_PREFIX_BYTES && count <= MANIFEST_SIGNATURE_BYTES);
    memcpy(text, prefix, start);
    for (size_t i = 0; i < count; i++) {
        text[start + 2 * i] = hex_digits[bytes[i] >> 4];
        text[start + 2 * i + 1] = hex_digits[bytes[i] & 15];
    }
    json_write_text_bytes(json, text, start + 2 * count);
}

static void write_row(JsonWriter *json, const ManifestRow *row)
{
    json_write_object_begin(json);
    json_member_text(json, "path", row->path);
    json_write_name(json, "replicate");
    json_write_bool(json, row->replicate);
    json_write_name(json, "requires");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < row->require_count; i++) {
        json_write_text_bytes(json, row->requires[i].data, row->requires[i].bytes);
    }
    json_write_array_end(json);
    json_member_text(json, "run_context", row->run_context);
    json_write_name(json, "rune_hash");
    write_hex(json, HASH_PREFIX, row->rune_hash, sizeof row->rune_hash);
    json_member_text(json, "service", row->service);
    json_write_name(json, "size_bytes");
    json_write_integer(json, row->size_bytes);
    json_write_object_end(json);
}

int manifest_path_order(Text a, Text b)
{
    const size_t common = a.bytes < b.bytes ? a.bytes : b.bytes;
    const int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    return order != 0 ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

Status manifest_write(const ManifestList *list, const uint8_t *signature, ByteWriter *out)
{
    ASSERT(list->row_count <= MANIFEST_ROWS_MAX && list->server_tick <= MANIFEST_TICK_MAX);
    JsonWriter json = json_writer(out, 0);
    json_write_object_begin(&json);
    if (list->cdn_base.bytes > 0) {
        json_member_text(&json, "cdn_base", list->cdn_base);
    }
    json_write_name(&json, "scripts");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < list->row_count; i++) {
        ASSERT(i == 0 || manifest_path_order(list->rows[i - 1].path, list->rows[i].path) < 0);
        ASSERT(list->rows[i].require_count <= MANIFEST_REQUIRES_MAX);
        write_row(&json, &list->rows[i]);
    }
    json_write_array_end(&json);
    json_write_name(&json, "server_tick");
    json_write_integer(&json, (int64_t)list->server_tick);
    if (signature != NULL) {
        json_write_name(&json, "signature");
        write_hex(&json, "", signature, MANIFEST_SIGNATURE_BYTES);
    }
    json_write_name(&json, "version");
    json_write_integer(&json, list->version);
    json_write_object_end(&json);
    return json_writer_finish(&json);
}

Status manifest_write_rows(const ManifestRow *rows, uint32_t count, ByteWriter *out)
{
    return manifest_write(&(ManifestList){.rows = rows, .row_count = count}, NULL, out);
}

// --- reading ------------------------------------------------------------------------------------

static const char *const top_names[] = {"cdn_base", "scripts", "server_tick", "signature",
                                        "version"};
static const char *const row_names[] = {"path",      "replicate", "requires",  "run_context",
                                        "rune_hash", "service",   "size_bytes"};
static const char *const endings[] = {".lua", ".luau", ".ts", ".soul"};
#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static Text read_text_member(const JsonNode *object, const char *name, uint32_t bytes_max,
                             JsonError *error)
{
    const JsonNode *node = json_read_member(object, name, error);
    const char *text = json_read_text(node, bytes_max, error);
    return error->status == STATUS_OK ? (Text){text, node->count} : (Text){"", 0};
}

static Text read_choice(const JsonNode *object, const char *name, const char *const *names,
                        uint32_t count, JsonError *error)
{
    const JsonNode *node = json_read_member(object, name, error);
    const char *text = names[json_read_choice(node, names, count, error)];
    return text_from(text);
}

static int digit_of(char character)
{
    const char *at = character == '\0' ? NULL : strchr(hex_digits, character);
    return at == NULL ? -1 : (int)(at - hex_digits);
}

static void read_hex(const JsonNode *object, const char *name, const char *prefix, uint8_t *out,
                     uint32_t bytes, JsonError *error)
{
    const JsonNode *node = json_read_member(object, name, error);
    const size_t start = strlen(prefix);
    const char *text = json_read_text(node, (uint32_t)start + 2 * bytes, error);
    if (error->status != STATUS_OK) {
        return;
    }
    bool is_right = node->count == start + 2 * bytes && memcmp(text, prefix, start) == 0;
    for (uint32_t i = 0; is_right && i < bytes; i++) {
        const int high = digit_of(text[start + 2 * i]), low = digit_of(text[start + 2 * i + 1]);
        is_right = high >= 0 && low >= 0;
        out[i] = is_right ? (uint8_t)(high * 16 + low) : 0;
    }
    if (!is_right) {
        json_fail(error, STATUS_MALFORMED, node, "must be \"%s\" and %u lower-case hex digits",
                  prefix, 2 * bytes);
    }
}

static void read_requires(Arena *arena, const JsonNode *object, ManifestRow *row, JsonError *error)
{
    const JsonNode *list = json_read_member(object, "requires", error);
    const JsonNode *item = json_read_array(list, 0, MANIFEST_REQUIRES_MAX, error);
    if (error->status != STATUS_OK || item == NULL) {
        return;
    }
    Text *requires = arena_array(arena, list->count, sizeof *requires);
    if (requires == NULL) {
        json_fail(error, STATUS_LIMIT, list, "does not fit into memory");
        return;
    }
    for (uint32_t i = 0; item != NULL && error->status == STATUS_OK; item = item->next, i++) {
        requires[i] = (Text){json_read_text(item, MANIFEST_PATH_BYTES_MAX, error), item->count};
        if (error->status == STATUS_OK && i > 0 &&
            manifest_path_order(requires[i - 1], requires[i]) >= 0) {
            json_fail(error, STATUS_MALFORMED, item, "must come after the one before it");
        }
    }
    row->requires = requires;
    row->require_count = list->count;
}

// <service>/<name><ending>, printable, without a step up.
static bool is_path(Text path, Text service)
{
    if (path.bytes <= service.bytes + 1 || memcmp(path.data, service.data, service.bytes) != 0 ||
        path.data[service.bytes] != '/') {
        return false;
    }
    const char *name = path.data + service.bytes + 1;
    bool has_ending = false;
    for (uint32_t i = 0; i < COUNT(endings); i++) {
        const size_t bytes = strlen(endings[i]), have = path.bytes - service.bytes - 1;
        has_ending =
            has_ending || (have > bytes && memcmp(name + have - bytes, endings[i], bytes) == 0);
    }
    bool is_start = true; // of a segment; one that begins with a dot could lead elsewhere
    for (const char *at = name; has_ending && at < path.data + path.bytes; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f || *at == '\\' ||
            (is_start && (*at == '.' || *at == '/'))) {
            return false;
        }
        is_start = *at == '/';
    }
    return has_ending;
}

static void read_row(Arena *arena, const JsonNode *node, ManifestRow *row, JsonError *error)
{
    json_read_only(node, row_names, COUNT(row_names), error);
    row->path = read_text_member(node, "path", MANIFEST_PATH_BYTES_MAX, error);
    row->replicate = json_read_bool(json_read_member(node, "replicate", error), error);
    read_requires(arena, node, row, error);
    row->run_context = read_choice(node, "run_context", run_context_names, CONTEXT_COUNT, error);
    read_hex(node, "rune_hash", HASH_PREFIX, row->rune_hash, sizeof row->rune_hash, error);
    row->service = read_choice(node, "service", script_service_names, SERVICE_COUNT, error);
    row->size_bytes = (uint32_t)json_read_integer(json_read_member(node, "size_bytes", error), 1,
                                                  MANIFEST_RUNE_BYTES_MAX, error);
    if (error->status != STATUS_OK) {
        return;
    }
    if (!is_path(row->path, row->service)) {
        json_fail(error, STATUS_MALFORMED, json_find(node, "path"),
                  "must be %s/<name>.lua, .luau, .ts or .soul", row->service.data);
    } else if (row->replicate &&
               strcmp(row->run_context.data, run_context_names[CONTEXT_SERVER]) == 0) {
        json_fail(error, STATUS_DENIED, json_find(node, "replicate"),
                  "must be false for what runs on the server alone");
    }
}

static void read_rows(Arena *arena, const JsonNode *root, ManifestList *out, JsonError *error)
{
    const JsonNode *list = json_read_member(root, "scripts", error);
    const JsonNode *node = json_read_array(list, 0, MANIFEST_ROWS_MAX, error);
    if (error->status != STATUS_OK || node == NULL) {
        return;
    }
    ManifestRow *rows = arena_array(arena, list->count, sizeof *rows);
    if (rows == NULL) {
        json_fail(error, STATUS_LIMIT, list, "does not fit into memory");
        return;
    }
    for (uint32_t i = 0; node != NULL && error->status == STATUS_OK; node = node->next, i++) {
        read_row(arena, node, &rows[i], error);
        if (error->status == STATUS_OK && i > 0 &&
            manifest_path_order(rows[i - 1].path, rows[i].path) >= 0) {
            json_fail(error, STATUS_MALFORMED, json_find(node, "path"),
                      "must come after the one before it");
        }
    }
    out->rows = rows;
    out->row_count = list->count;
}

Status manifest_read(Arena *arena, const char *text, size_t bytes, ManifestList *out,
                     uint8_t signature[MANIFEST_SIGNATURE_BYTES], bool *has_signature,
                     JsonError *error)
{
    const size_t mark = arena_mark(arena);
    const JsonConfig config = {.arena = arena,
                               .bytes_max = MANIFEST_BYTES_MAX,
                               .node_count_max = NODES_MAX,
                               .depth_max = DEPTH_MAX};
    *error = (JsonError){0};
    ManifestList list = {0};
    uint8_t read_signature[MANIFEST_SIGNATURE_BYTES] = {0};
    bool is_signed = false;
    const JsonNode *root = NULL;
    if (json_parse(&config, text, bytes, &root, error) == STATUS_OK) {
        json_read_only(root, top_names, COUNT(top_names), error);
        list.version = (uint32_t)json_read_integer(json_read_member(root, "version", error), 0,
                                                   UINT32_MAX, error);
        list.server_tick = (uint64_t)json_read_integer(json_read_member(root, "server_tick", error),
                                                       0, MANIFEST_TICK_MAX, error);
        if (json_find(root, "cdn_base") != NULL) {
            list.cdn_base = read_text_member(root, "cdn_base", CDN_BYTES_MAX, error);
        }
        is_signed = json_find(root, "signature") != NULL;
        if (is_signed) {
            read_hex(root, "signature", "", read_signature, sizeof read_signature, error);
        }
        read_rows(arena, root, &list, error);
    }
    if (error->status != STATUS_OK) {
        arena_rewind(arena, mark);
        return error->status;
    }
    *out = list;
    *has_signature = is_signed;
    if (is_signed) {
        memcpy(signature, read_signature, sizeof read_signature);
    }
    return STATUS_OK;
}
