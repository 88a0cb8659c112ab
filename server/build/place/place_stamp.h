// Whether a place's folder has changed: a hash over the names, sizes and times of its files,
// without reading them. Equal stamps mean that nothing was written in between.
#pragma once

#include "core/base/sha256.h"
#include "core/base/status.h"

#include <stdint.h>

typedef struct PlaceSize {
    uint32_t file_count; // including notes and assets
    uint64_t bytes;
} PlaceSize;

// Dot files (and so .sandlot, which builds write), links and node_modules are skipped, as in
// place_folder_read. STATUS_NOT_FOUND: no such folder; STATUS_LIMIT: too many files or too deep.
MUST_USE Status place_stamp(const char *place, uint8_t out[SHA256_BYTES]);
// Its size, by the same walk.
MUST_USE Status place_stamp_size(const char *place, PlaceSize *out);
