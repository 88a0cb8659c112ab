// client/assets.json: what a client is told of a place's assets. One line, members in the order of
// their names, assets in that of their paths: the same folder gives the same bytes, and only those
// bytes are read. It is not signed: each file is known by its hash, and none of them runs.
#pragma once

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/json.h"
#include "server/build/pipeline/build.h"

#define ASSET_LIST_COUNT_MAX PLACE_FOLDER_FILES_MAX
#define ASSET_LIST_BYTES_MAX (4u << 20) // 1,000 bytes each, of which a path takes at most 762
// What reading the largest takes: its tree (8 values an asset), its texts and its rows.
#define ASSET_LIST_ARENA_BYTES (16u << 20)

typedef struct AssetList {
    const BuildAsset *assets; // sorted by path
    uint32_t count;
    const uint8_t *thumbnail; // SHA256_BYTES; NULL: the place has no picture
} AssetList;

MUST_USE Status asset_list_write(const AssetList *list, ByteWriter *out);
// Total: the text may be a stranger's. What is read are names that a place's assets may have, each
// once, and numbers in range; everything points into the arena, stamps are zero. STATUS_OK only if
// the text is byte for byte what asset_list_write makes of it.
MUST_USE Status asset_list_read(Arena *arena, const char *text, size_t bytes, AssetList *out,
                                JsonError *error);
