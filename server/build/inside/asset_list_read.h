// In the worker: reads client/assets.json back.
#pragma once

#include "core/base/arena.h"
#include "core/base/json.h"
#include "server/build/asset/asset_list.h"

// Total: the text may be a stranger's. What is read are names that a place's assets may have, each
// once, and numbers in range; everything points into the arena, stamps are zero. STATUS_OK only if
// the text is byte for byte what asset_list_write makes of it.
MUST_USE Status asset_list_read(Arena *arena, const char *text, size_t bytes, AssetList *out,
                                JsonError *error);
