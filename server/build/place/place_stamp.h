// Has a place's folder changed? A hash over the names, sizes and times of its files, without
// reading one: equal stamps mean that nothing was written in between.
#pragma once

#include "core/base/sha256.h"
#include "core/base/status.h"

#include <stdint.h>

typedef struct PlaceSize {
    uint32_t file_count; // notes and assets, too
    uint64_t bytes;
} PlaceSize;

// Dot files (and so .sandlot, which builds write), links and node_modules are not looked at, as
// place_folder_read does not. STATUS_NOT_FOUND: no such folder; STATUS_LIMIT: too many files or too
// deep.
MUST_USE Status place_stamp(const char *place, uint8_t out[SHA256_BYTES]);
// How large it is, by the same walk.
MUST_USE Status place_stamp_size(const char *place, PlaceSize *out);
