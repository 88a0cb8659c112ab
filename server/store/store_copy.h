// A copy of a database file, whether or not a host is writing to it at the same time.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct StoreCopy {
    const char *from, *to; // `to` must not exist; it is made readable by its owner alone
    bool is_paced; // rest after each step, so that commits of a running host are not delayed
    bool (*is_cancelled)(void); // NULL: never
} StoreCopy;

// The copy is one state of the database, checked by SQLite, and on disk (its name is not: sync the
// folder). STATUS_NOT_FOUND: there is no such file. STATUS_MALFORMED: it is damaged or none of
// ours. STATUS_BLOCKED: the disk refuses. STATUS_LIMIT: cancelled. On failure nothing is left.
MUST_USE Status store_copy(const StoreCopy *copy, uint32_t *schema, char *reason, size_t bytes);
