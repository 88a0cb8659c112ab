// In the worker: reads client/assets.json back.
#pragma once

#include "core/base/arena.h"
#include "core/base/json.h"
#include "server/build/asset/asset_list.h"

// Works for any bytes. Paths are valid, sorted and each there once, numbers are in range;
// everything points into the arena, stamps are zero. STATUS_OK only if the text is byte for byte
// what asset_list_write would write.
MUST_USE Status asset_list_read(Arena *arena, const char *text, size_t bytes, AssetList *out,
                                JsonError *error);
