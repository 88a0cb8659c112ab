// Blobs of a data folder into the database server, or back: those that are missing there.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct BlobMoved {
    uint64_t seen, copied;
} BlobMoved;

// STATUS_LIMIT: cancelled. STATUS_MISMATCH: a blob is not what its name says.
MUST_USE Status blob_move(const char *data_folder, const char *url, bool is_back,
                          bool (*is_cancelled)(void), BlobMoved *out, char *reason, size_t bytes);
