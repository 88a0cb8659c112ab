// Facts about a picture, sound or model, and their limits. The worker determines them
// (inside/media/asset.h); everything else uses these numbers.
#pragma once

#include "core/base/bytes.h"
#include "server/build/base/buffer.h"
#include "server/build/package/package_rules.h"

#define ASSET_EDGE_PX_MAX     4096
#define ASSET_PIXELS_MAX      (1u << 30) // of a package: 64 pictures of the largest size
#define ASSET_TRIANGLES_MAX   200000
#define ASSET_SECONDS_MAX     1800
#define ASSET_MODEL_FILES_MAX 512 // that a .gltf names
#define ASSET_CHANNELS_MAX    8
#define ASSET_RATE_MIN        8000
#define ASSET_RATE_MAX        192000
#define ASSET_THUMBNAIL_PX    256
#define ASSET_CARD_PX         384 // of a thumbnail that a page was given
#define ASSET_THUMBNAIL_BYTES (640u << 10)

typedef struct AssetInfo {
    PackageKind kind;
    uint32_t width, height;  // px, of a picture
    uint32_t triangle_count; // of a model, each instance counted
    uint32_t rate, channel_count, duration_ms;
    bool has_place_data; // EXIF: may say where and when it was taken
} AssetInfo;

// How they are sent between the worker and the builder.
void asset_info_write(const AssetInfo *info, Buffer *out);
AssetInfo asset_info_read(ByteReader *reader); // a failure is in the reader
// Whether an asset of that kind can have these numbers. A worker that was taken over could answer
// anything, for example a picture of four billion pixels.
bool asset_info_fits(const AssetInfo *info, PackageKind kind);
