// deletions.log in the data folder: which accounts were deleted, and when. A backup is older than
// the deletions that follow it; when it is restored, they are made again from this file
// (`sandlot restore --deletions`).
//
// One line for each: the account's number, a tab, the time in milliseconds since 1970, a newline;
// both decimal. Lines are only ever added. The line comes first, then the deletion: whoever is
// killed in between leaves a line too many, which does no harm, because deleting twice is deleting
// once. So a number must never be given to another account.
#pragma once

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

#define DELETION_LOG_NAME "deletions.log"

// On disk when it returns STATUS_OK. STATUS_BLOCKED: the disk refuses.
MUST_USE Status deletion_log_append(const char *data, uint64_t account, uint64_t unix_ms);

typedef struct Deletion {
    uint64_t account, unix_ms;
} Deletion;

typedef struct DeletionLog {
    Deletion *entries; // in the order of the file; free with free()
    size_t count;
    size_t cut_count; // lines that were never finished: a write that was cut off
} DeletionLog;

// STATUS_NOT_FOUND; STATUS_BLOCKED; STATUS_MALFORMED: this is no such file. A line that is only the
// beginning of one is skipped and counted: nobody was told that it is stored.
MUST_USE Status deletion_log_read(const char *path, DeletionLog *out);
