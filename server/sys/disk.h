// How much room a disk has.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

// Below this share uploads stop; worlds go on, and what is left is theirs.
#define DISK_LOW_PERCENT 5

typedef struct DiskSpace {
    uint64_t free_bytes;  // that this process may use
    uint64_t total_bytes; // those, and what is used
} DiskSpace;

// Of the disk that the folder is on. STATUS_BLOCKED: the system does not say.
MUST_USE Status disk_space(const char *folder, DiskSpace *out);
bool disk_space_is_low(const DiskSpace *space);
// Both; a disk that cannot be asked is not low.
bool disk_is_low(const char *folder);
