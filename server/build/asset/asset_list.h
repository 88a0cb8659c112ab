// client/assets.json: the list of a place's assets that clients get. One line, members sorted by
// name, assets sorted by path: the same folder gives the same bytes, and no other bytes are
// accepted. It is not signed: each file is checked against its hash, and none of them is executed.
#pragma once

#include "core/base/bytes.h"
#include "core/base/limits.h"
#include "server/build/asset/asset_file.h"
#include "server/build/asset/asset_info.h"
#include "server/build/place/place_folder.h"

#define ASSET_LIST_COUNT_MAX PLACE_FILES_MAX
#define ASSET_LIST_BYTES_MAX (4u << 20) // 1,000 bytes each, of which a path takes at most 762
// Enough to read the largest list: its tree (8 values an asset), its texts and its rows.
#define ASSET_LIST_ARENA_BYTES (16u << 20)

// A picture, sound or model of the place; its bytes stay on disk. All of them are for players.
typedef struct BuildAsset {
    char path[PACKAGE_PATH_BYTES]; // "assets/door.png"
    AssetInfo info;
    uint64_t bytes;
    uint8_t hash[SHA256_BYTES];
    AssetStamp stamp; // of the file when it had that hash
    bool was_settled; // then the file is unchanged as long as the stamp is
} BuildAsset;

typedef struct AssetList {
    const BuildAsset *assets; // sorted by path
    uint32_t count;
    const uint8_t *thumbnail; // SHA256_BYTES; NULL: the place has no picture
} AssetList;

#define ASSET_MS_PER_S      1000.0
#define ASSET_HASH_PREFIX   "sha256:"
#define ASSET_HASH_TEXT_MAX (sizeof ASSET_HASH_PREFIX - 1 + (size_t)2 * SHA256_BYTES)

bool asset_is_picture(PackageKind kind);
bool asset_is_sound(PackageKind kind);
bool asset_is_model(PackageKind kind);
MUST_USE Status asset_list_write(const AssetList *list, ByteWriter *out);
