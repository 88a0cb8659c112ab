// The files of a place as a page hands them over: one after the other, u32 length, path, u32
// length, content.
#pragma once

#include "core/base/limits.h"
#include "core/wire/place.h"

typedef struct PackedFiles {
    PlaceFile files[PLACE_FILES_MAX]; // contents point into the packed bytes
    char paths[PLACE_FILES_MAX][128];
    uint32_t count;
} PackedFiles;

// NULL: read; otherwise what is wrong, for people.
const char *packed_files_read(const uint8_t *packed, size_t bytes, PackedFiles *out);
