// See asset_info.h.
#include "server/build/asset/asset_info.h"

void asset_info_write(const AssetInfo *info, Buffer *out)
{
    buffer_put_u32(out, (uint32_t)info->kind);
    buffer_put_u32(out, info->width);
    buffer_put_u32(out, info->height);
    buffer_put_u32(out, info->triangle_count);
    buffer_put_u32(out, info->rate);
    buffer_put_u32(out, info->channel_count);
    buffer_put_u32(out, info->duration_ms);
    buffer_put_u8(out, info->has_place_data);
}

AssetInfo asset_info_read(ByteReader *reader)
{
    AssetInfo info = {0};
    const uint32_t kind = byte_read_u32(reader);
    if (kind >= KIND_COUNT) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    info.kind = kind < KIND_COUNT ? (PackageKind)kind : KIND_TEXT;
    info.width = byte_read_u32(reader);
    info.height = byte_read_u32(reader);
    info.triangle_count = byte_read_u32(reader);
    info.rate = byte_read_u32(reader);
    info.channel_count = byte_read_u32(reader);
    info.duration_ms = byte_read_u32(reader);
    info.has_place_data = byte_read_bool(reader);
    return info;
}

bool asset_info_fits(const AssetInfo *info, PackageKind kind)
{
    return info->kind == kind && info->width <= ASSET_EDGE_PX_MAX &&
           info->height <= ASSET_EDGE_PX_MAX && info->triangle_count <= ASSET_TRIANGLES_MAX &&
           info->duration_ms <= ASSET_SECONDS_MAX * 1000;
}
