// client/assets.json: what a client is told of a place's assets. One line, members in the order of
// their names, assets in that of their paths: the same folder gives the same bytes. It is not
// signed: each file is known by its hash, and none of them runs.
#include "core/base/json_write.h"
#include "server/build/build_inside.h"

#include <stdlib.h>
#include <string.h>

#define MS_PER_S 1000.0

static void write_hash(JsonWriter *json, const char *name, const uint8_t hash[SHA256_BYTES])
{
    char text[7 + 2 * SHA256_BYTES + 1] = "sha256:";
    sha256_hex(hash, text + 7);
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
    const bool is_picture = info->kind == KIND_PNG || info->kind == KIND_JPEG;
    json_write_object_begin(json);
    write_hash(json, "hash", asset->hash);
    if (is_picture) {
        write_number(json, "height", info->height);
    }
    json_write_name(json, "kind");
    json_write_text(json, package_kind_name(info->kind));
    json_write_name(json, "path");
    json_write_text(json, asset->path);
    if (info->kind == KIND_OGG || info->kind == KIND_WAV) {
        json_write_name(json, "seconds");
        json_write_number(json, info->duration_ms / MS_PER_S);
    }
    write_number(json, "size_bytes", asset->bytes);
    if (info->kind == KIND_GLB || info->kind == KIND_GLTF) {
        write_number(json, "triangles", info->triangle_count);
    }
    if (is_picture) {
        write_number(json, "width", info->width);
    }
    json_write_object_end(json);
}

static Status write_list(const BuildResult *result, ByteWriter *out)
{
    JsonWriter json = json_writer(out, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "assets");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < result->asset_count; i++) {
        write_asset(&json, &result->assets[i]);
    }
    json_write_array_end(&json);
    if (result->thumbnail != NULL) {
        write_hash(&json, "thumbnail", result->thumbnail_hash);
    } else {
        json_write_name(&json, "thumbnail");
        json_write_null(&json);
    }
    json_write_object_end(&json);
    return json_writer_finish(&json);
}

Status build_asset_list(Build *build)
{
    BuildResult *result = build->result;
    ByteWriter counter = byte_counter();
    Status status = write_list(result, &counter);
    char *text = status == STATUS_OK ? malloc(counter.at + 1) : NULL;
    if (text == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(text, counter.at);
    status = write_list(result, &writer);
    text[counter.at] = '\0';
    result->asset_list = text;
    result->asset_list_bytes = counter.at;
    return status;
}
