// A picture, sound, model or text from a stranger: the first byte chooses the kind, the rest is the
// file. Its package also contains a .bin and a picture that a model can name. A valid picture is
// also turned into a thumbnail, which must be valid too.
#include "core/base/check.h"
#include "server/build/inside/media/asset.h"

#include <string.h>

#define LARGE_PX 512 // larger ones are decoded once, not twice

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_thumbnail(const AssetJob *job, PackageKind kind)
{
    char reason[WORKER_REASON_BYTES];
    AssetInfo info;
    Buffer png = buffer_of(ASSET_THUMBNAIL_BYTES);
    const Status status = asset_thumbnail(job, kind, 16, &png);
    ASSERT(status == STATUS_OK);
    const AssetJob small = {
        .path = "small.png", .data = png.data, .bytes = png.bytes, .reason = reason};
    const Status again = asset_check(&small, KIND_PNG, &info);
    ASSERT(again == STATUS_OK && info.width <= 16 && info.height <= 16);
    buffer_free(&png);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static uint8_t bin[44];
    char bin_path[] = "assets/a.bin", picture_path[] = "assets/a.png";
    PackageItem items[] = {{.path = bin_path, .kind = KIND_BIN, .data = bin, .bytes = sizeof bin},
                           {.path = picture_path, .kind = KIND_PNG}};
    const PackageList list = {.items = items, .count = 2};
    bool used[2] = {0};
    char reason[WORKER_REASON_BYTES] = "";
    AssetPackage package = {.list = &list, .used = used};
    if (count == 0) {
        return 0;
    }
    const PackageKind kind = (PackageKind)(bytes[0] % KIND_COUNT);
    const AssetJob job = {.path = "assets/file",
                          .data = bytes + 1,
                          .bytes = count - 1,
                          .package = &package,
                          .reason = reason};
    AssetInfo info = {0};
    const Status status = asset_check(&job, kind, &info);
    if (status != STATUS_OK) {
        ASSERT(strncmp(reason, "assets/file: ", 13) == 0);
        return 0;
    }
    ASSERT(info.kind == kind && info.triangle_count <= ASSET_TRIANGLES_MAX);
    ASSERT(info.width <= ASSET_EDGE_PX_MAX && info.height <= ASSET_EDGE_PX_MAX);
    if ((kind == KIND_PNG || kind == KIND_JPEG) && info.width < LARGE_PX &&
        info.height < LARGE_PX) {
        check_thumbnail(&job, kind);
    }
    return 0;
}
