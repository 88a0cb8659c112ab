// See asset_list.h. The reader takes what the writer needs and leaves the rest (which members there
// are, their order, the kind that a name says) to the comparison with what the writer makes of it.
#include "server/build/asset/asset_list.h"

#include "core/base/json_read.h"
#include "core/base/json_write.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define MS_PER_S      1000.0
#define HASH_PREFIX   "sha256:"
#define HASH_TEXT_MAX (sizeof HASH_PREFIX - 1 + (size_t)2 * SHA256_BYTES)
#define ASSET_MEMBERS 8 // and the asset itself
#define NODES_MAX     (8 + ASSET_LIST_COUNT_MAX * ASSET_MEMBERS)
#define DEPTH_MAX     3
#define FOLDER        ASSET_FOLDER "/"

static bool is_picture(PackageKind kind)
{
    return kind == KIND_PNG || kind == KIND_JPEG;
}

static bool is_sound(PackageKind kind)
{
    return kind == KIND_OGG || kind == KIND_WAV;
}

static bool is_model(PackageKind kind)
{
    return kind == KIND_GLB || kind == KIND_GLTF;
}

// --- writing ------------------------------------------------------------------------------------

static void write_hash(JsonWriter *json, const char *name, const uint8_t hash[SHA256_BYTES])
{
    char text[HASH_TEXT_MAX + 1] = HASH_PREFIX;
    sha256_hex(hash, text + sizeof HASH_PREFIX - 1);
    json_write_name(json, name);
    json_write_text(json, text);
}

static void write_number(JsonWriter *json, const char *name, uint64_t value)
{
    json_write_name(json, name);
    json_write_integer(json, (int64_t)value);
}

static void write_asset(JsonWriter *json, const BuildAsset *asset)
{
    const AssetInfo *info = &asset->info;
    json_write_object_begin(json);
    write_hash(json, "hash", asset->hash);
    if (is_picture(info->kind)) {
        write_number(json, "height", info->height);
    }
    json_write_name(json, "kind");
    json_write_text(json, package_kind_name(info->kind));
    json_write_name(json, "path");
    json_write_text(json, asset->path);
    if (is_sound(info->kind)) {
        json_write_name(json, "seconds");
        json_write_number(json, info->duration_ms / MS_PER_S);
    }
    write_number(json, "size_bytes", asset->bytes);
    if (is_model(info->kind)) {
        write_number(json, "triangles", info->triangle_count);
    }
    if (is_picture(info->kind)) {
        write_number(json, "width", info->width);
    }
    json_write_object_end(json);
}

Status asset_list_write(const AssetList *list, ByteWriter *out)
{
    JsonWriter json = json_writer(out, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "assets");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < list->count; i++) {
        write_asset(&json, &list->assets[i]);
    }
    json_write_array_end(&json);
    if (list->thumbnail != NULL) {
        write_hash(&json, "thumbnail", list->thumbnail);
    } else {
        json_write_name(&json, "thumbnail");
        json_write_null(&json);
    }
    json_write_object_end(&json);
    return json_writer_finish(&json);
}

// --- reading ------------------------------------------------------------------------------------

static void read_hash(const JsonNode *node, uint8_t out[SHA256_BYTES], JsonError *error)
{
    const char *text = json_read_text(node, HASH_TEXT_MAX, error);
    const size_t start = sizeof HASH_PREFIX - 1;
    if (error->status == STATUS_OK &&
        (strlen(text) != HASH_TEXT_MAX || memcmp(text, HASH_PREFIX, start) != 0 ||
         sodium_hex2bin(out, SHA256_BYTES, text + start, (size_t)2 * SHA256_BYTES, NULL, NULL,
                        NULL) != 0)) {
        json_fail(error, STATUS_MALFORMED, node, "must be \"sha256:\" and 64 hex digits");
    }
}

static uint32_t read_u32(const JsonNode *object, const char *name, uint32_t max, JsonError *error)
{
    return (uint32_t)json_read_integer(json_read_member(object, name, error), 0, max, error);
}

// A name that the folder of a place could have, and what it says.
static void read_path(const JsonNode *node, BuildAsset *asset, JsonError *error)
{
    char reason[WORKER_REASON_BYTES];
    const char *path = json_read_text(node, PACKAGE_PATH_BYTES - 1, error);
    if (error->status != STATUS_OK) {
        return;
    }
    if (strncmp(path, FOLDER, sizeof FOLDER - 1) != 0 ||
        package_path_check(path, strlen(path), reason) != STATUS_OK ||
        package_path_fits(path, reason) != STATUS_OK || package_path_is_skipped(path) ||
        package_kind_of(path, &asset->info.kind, reason) != STATUS_OK ||
        !package_kind_is_asset(asset->info.kind)) {
        json_fail(error, STATUS_MALFORMED, node, "is no path of an asset");
        return;
    }
    memcpy(asset->path, path, strlen(path) + 1);
}

static void read_asset(const JsonNode *node, BuildAsset *asset, JsonError *error)
{
    AssetInfo *info = &asset->info;
    read_path(json_read_member(node, "path", error), asset, error);
    read_hash(json_read_member(node, "hash", error), asset->hash, error);
    if (error->status != STATUS_OK) {
        return;
    }
    asset->bytes = (uint64_t)json_read_integer(json_read_member(node, "size_bytes", error), 0,
                                               (int64_t)package_kind_bytes_max(info->kind), error);
    if (is_picture(info->kind)) {
        info->width = read_u32(node, "width", ASSET_EDGE_PX_MAX, error);
        info->height = read_u32(node, "height", ASSET_EDGE_PX_MAX, error);
    } else if (is_sound(info->kind)) {
        const double seconds =
            json_read_number(json_read_member(node, "seconds", error), 0, ASSET_SECONDS_MAX, error);
        info->duration_ms = (uint32_t)(seconds * MS_PER_S + 0.5);
    } else if (is_model(info->kind)) {
        info->triangle_count = read_u32(node, "triangles", ASSET_TRIANGLES_MAX, error);
    }
}

static void read_all(Arena *arena, const JsonNode *root, AssetList *out, JsonError *error)
{
    const JsonNode *list = json_read_member(root, "assets", error);
    const JsonNode *node = json_read_array(list, 0, ASSET_LIST_COUNT_MAX, error);
    const uint32_t count = error->status == STATUS_OK ? list->count : 0;
    BuildAsset *assets = arena_array(arena, count + 1u, sizeof *assets);
    uint8_t *thumbnail = arena_alloc(arena, SHA256_BYTES);
    if (assets == NULL || thumbnail == NULL) {
        json_fail(error, STATUS_LIMIT, root, "does not fit into memory");
        return;
    }
    memset(assets, 0, (count + 1u) * sizeof *assets);
    for (uint32_t i = 0; i < count && error->status == STATUS_OK; i++, node = node->next) {
        read_asset(node, &assets[i], error);
        if (i > 0 && strcmp(assets[i - 1].path, assets[i].path) >= 0) {
            json_fail(error, STATUS_MALFORMED, node, "must come after the one before it");
        }
    }
    const JsonNode *picture = json_read_member(root, "thumbnail", error);
    const bool has_thumbnail = error->status == STATUS_OK && picture->kind != JSON_NULL;
    if (has_thumbnail) {
        read_hash(picture, thumbnail, error);
    }
    *out = (AssetList){
        .assets = assets, .count = count, .thumbnail = has_thumbnail ? thumbnail : NULL};
}

// Is the text what we would write?
static bool is_own_form(Arena *arena, const AssetList *list, const char *text, size_t bytes)
{
    uint8_t *block = arena_alloc(arena, bytes + 1);
    if (block == NULL) {
        return false;
    }
    ByteWriter writer = byte_writer(block, bytes);
    return asset_list_write(list, &writer) == STATUS_OK && writer.at == bytes &&
           memcmp(block, text, bytes) == 0;
}

Status asset_list_read(Arena *arena, const char *text, size_t bytes, AssetList *out,
                       JsonError *error)
{
    const size_t mark = arena_mark(arena);
    const JsonConfig config = {.arena = arena,
                               .bytes_max = ASSET_LIST_BYTES_MAX,
                               .node_count_max = NODES_MAX,
                               .depth_max = DEPTH_MAX};
    *error = (JsonError){0};
    AssetList list = {0};
    const JsonNode *root = NULL;
    if (json_parse(&config, text, bytes, &root, error) == STATUS_OK) {
        read_all(arena, root, &list, error);
    }
    if (error->status == STATUS_OK && !is_own_form(arena, &list, text, bytes)) {
        json_fail(error, STATUS_MALFORMED, root, "is not in the form in which a build writes it");
    }
    if (error->status != STATUS_OK) {
        arena_rewind(arena, mark);
        return error->status;
    }
    *out = list;
    return STATUS_OK;
}
