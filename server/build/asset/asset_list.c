// See asset_list.h.
#include "server/build/asset/asset_list.h"

#include "core/base/json_member.h"
#include "core/base/json_write.h"

#include <string.h>

bool asset_is_picture(PackageKind kind)
{
    return kind == KIND_PNG || kind == KIND_JPEG;
}

bool asset_is_sound(PackageKind kind)
{
    return kind == KIND_OGG || kind == KIND_WAV;
}

bool asset_is_model(PackageKind kind)
{
    return kind == KIND_GLB || kind == KIND_GLTF;
}

static void write_hash(JsonWriter *json, const char *name, const uint8_t hash[SHA256_BYTES])
{
    char text[ASSET_HASH_TEXT_MAX + 1] = ASSET_HASH_PREFIX;
    sha256_hex(hash, text + sizeof ASSET_HASH_PREFIX - 1);
    json_write_name(json, name);
    json_write_text(json, text);
}

static void write_asset(JsonWriter *json, const BuildAsset *asset)
{
    const AssetInfo *info = &asset->info;
    json_write_object_begin(json);
    write_hash(json, "hash", asset->hash);
    if (asset_is_picture(info->kind)) {
        json_member_count(json, "height", info->height);
    }
    json_write_name(json, "kind");
    json_write_text(json, package_kind_name(info->kind));
    json_write_name(json, "path");
    json_write_text(json, asset->path);
    if (asset_is_sound(info->kind)) {
        json_write_name(json, "seconds");
        json_write_number(json, info->duration_ms / ASSET_MS_PER_S);
    }
    json_member_count(json, "size_bytes", asset->bytes);
    if (asset_is_model(info->kind)) {
        json_member_count(json, "triangles", info->triangle_count);
    }
    if (asset_is_picture(info->kind)) {
        json_member_count(json, "width", info->width);
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
