// The files of a place's assets/ by their names. A scene carries the sorted list of their paths, so
// that worlds, clients and scripts know each file by the same number: 1 + its place in the list.
#pragma once

#include "core/base/text.h"
#include "core/wire/paint.h"

#include <stdint.h>

#define ASSET_PATH_BYTES_MAX 127 // as a package allows
#define ASSET_NEAR_BYTES     400 // of asset_name_near

typedef struct AssetNames {
    const Text *paths; // "assets/door.png", by bytes
    uint32_t count;    // at most PAINT_ASSETS_MAX
} AssetNames;

// Whether a file of a place is an asset: a picture, sound or model below assets/.
bool asset_name_is_asset(Text path);
// The number of the file that is called so among those that the member can show: pictures for a
// texture, models for a model. "assets/door.png" may also be called "door.png" or "door"; of
// several the first by path. 0: there is none.
uint32_t asset_name_find(const AssetNames *names, PaintMember member, Text name);
// What to say if there is none: `did you mean "assets/door.png"?`, or which there are.
void asset_name_near(const AssetNames *names, PaintMember member, Text name,
                     char out[ASSET_NEAR_BYTES]);
