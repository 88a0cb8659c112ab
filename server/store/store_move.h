// What one database holds, made the same in another one, of any engine: SQLite to PostgreSQL and
// back. Both are walked in the order of their keys, table by table, and only what differs is
// written. So it can be stopped and run again at any time, and a run after another one is quick. At
// the end both are walked once more, and counts and hashes of all rows are compared.
//
// The source may be in use meanwhile: then what its host writes later is copied by the next run.
// The target must not be: each transaction looks for hosts that run on it, and keeps others from
// beginning. Which hosts run is not copied.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct StoreMove {
    const char *from, *to;      // database files, or URLs of servers
    bool overwrites;            // also what hosts have made on the target
    bool (*is_cancelled)(void); // NULL: never
    // After each table; may be NULL.
    void (*told)(void *user, const char *table, uint64_t rows, uint64_t written);
    void *user;
} StoreMove;

typedef struct StoreMoved {
    uint64_t rows, written, deleted;
    uint32_t tables_different; // when they were compared at the end
    uint64_t hash;             // of all rows of the source
    bool source_has_hosts;     // they run on it, or ran there less than a lease ago without an end
} StoreMoved;

// STATUS_DENIED: hosts run on the target, which was not touched.
MUST_USE Status store_move_check(const char *to, char *reason, size_t bytes);
// STATUS_LIMIT: cancelled, to be gone on with. STATUS_MISMATCH: it is not the same, because the
// source is in use. STATUS_DENIED: a host runs on the target, or has. Others as store_open.
MUST_USE Status store_move(const StoreMove *move, StoreMoved *out, char *reason, size_t bytes);
