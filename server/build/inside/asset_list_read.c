// See asset_list_read.h. The reader takes what the writer needs. Everything else (which members
// there are, their order, whether the kind fits the name) is checked by writing the list again and
// comparing.
#include "server/build/inside/asset_list_read.h"

#include "core/base/json_read.h"

#include <sodium.h>
#include <string.h>

#define ASSET_MEMBERS 8 // and the asset itself
#define NODES_MAX     (8 + ASSET_LIST_COUNT_MAX * ASSET_MEMBERS)
#define DEPTH_MAX     3
#define FOLDER        ASSET_FOLDER "/"

static void read_asset_hash(const JsonNode *node, uint8_t out[SHA256_BYTES], JsonError *error)
{
    const char *text = json_read_text(node, ASSET_HASH_TEXT_MAX, error);
    const size_t start = sizeof ASSET_HASH_PREFIX - 1;
    if (error->status == STATUS_OK &&
        (strlen(text) != ASSET_HASH_TEXT_MAX || memcmp(text, ASSET_HASH_PREFIX, start) != 0 ||
         sodium_hex2bin(out, SHA256_BYTES, text + start, (size_t)2 * SHA256_BYTES, NULL, NULL,
                        NULL) != 0)) {
        json_fail(error, STATUS_MALFORMED, node, "must be \"sha256:\" and 64 hex digits");
    }
}

static uint32_t read_u32(const JsonNode *object, const char *name, uint32_t max, JsonError *error)
{
    return (uint32_t)json_read_integer(json_read_member(object, name, error), 0, max, error);
}

// Reads a path that an asset of a place can have, and its kind.
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
    read_asset_hash(json_read_member(node, "hash", error), asset->hash, error);
    if (error->status != STATUS_OK) {
        return;
    }
    asset->bytes = (uint64_t)json_read_integer(json_read_member(node, "size_bytes", error), 0,
                                               (int64_t)package_kind_bytes_max(info->kind), error);
    if (asset_is_picture(info->kind)) {
        info->width = read_u32(node, "width", ASSET_EDGE_PX_MAX, error);
        info->height = read_u32(node, "height", ASSET_EDGE_PX_MAX, error);
    } else if (asset_is_sound(info->kind)) {
        const double seconds =
            json_read_number(json_read_member(node, "seconds", error), 0, ASSET_SECONDS_MAX, error);
        info->duration_ms = (uint32_t)(seconds * ASSET_MS_PER_S + 0.5);
    } else if (asset_is_model(info->kind)) {
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
        read_asset_hash(picture, thumbnail, error);
    }
    *out = (AssetList){
        .assets = assets, .count = count, .thumbnail = has_thumbnail ? thumbnail : NULL};
}

// Whether the text is what asset_list_write would write.
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
