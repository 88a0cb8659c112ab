// Any text as client/assets.json. Only texts that our writer would produce are accepted, and all
// values are in range.
#include "core/base/check.h"
#include "server/build/inside/asset_list_read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *blocks[2];
    for (uint32_t i = 0; i < 2; i++) {
        blocks[i] = blocks[i] != NULL ? blocks[i] : malloc(ASSET_LIST_ARENA_BYTES);
        ASSERT(blocks[i] != NULL);
    }
    Arena arena;
    arena_init(&arena, blocks[0], ASSET_LIST_ARENA_BYTES);
    AssetList list = {0};
    JsonError error;
    const Status status = asset_list_read(&arena, (const char *)data, size, &list, &error);
    ASSERT(status == error.status);
    if (status != STATUS_OK) {
        ASSERT(arena.used == 0 && list.assets == NULL);
        return 0;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        const BuildAsset *asset = &list.assets[i];
        ASSERT(package_kind_is_asset(asset->info.kind));
        ASSERT(asset->bytes <= package_kind_bytes_max(asset->info.kind));
        ASSERT(strncmp(asset->path, "assets/", 7) == 0 && strstr(asset->path, "..") == NULL);
        ASSERT(i == 0 || strcmp(list.assets[i - 1].path, asset->path) < 0);
    }
    ByteWriter writer = byte_writer(blocks[1], ASSET_LIST_ARENA_BYTES);
    ASSERT(asset_list_write(&list, &writer) == STATUS_OK);
    ASSERT(writer.at == size && memcmp(blocks[1], data, size) == 0);
    return 0;
}
