// Reports when a place's folder changes: inotify on it and all folders inside, except hidden ones
// and node_modules. It is opened again for every build, so it follows new and removed folders. A
// file that this process itself renames into the place (place_file.h) does not count, because a
// build writes into the place too; who else does says so (`told`).
#pragma once

#include "core/base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_WATCH_WRITTEN_MAX 16

typedef struct BuildWatch {
    int descriptor;
    bool has_pending; // build_watch_has_changed has seen a change that was not waited for yet
    // Sources that somebody has begun to write and has not closed, as hashes of their names: a file
    // is empty between the moment an editor opens it and the moment it writes. 0: a free one.
    uint64_t written[BUILD_WATCH_WRITTEN_MAX];
    uint64_t changed_ns; // when the first change was seen; 0: none yet
    uint32_t own;        // cookie of our own rename whose second event is still missing; 0: none
    atomic_bool *told;   // NULL, or set by whoever of this process changed something that counts
} BuildWatch;

MUST_USE Status build_watch_open(BuildWatch *watch, const char *place, char *reason,
                                 size_t reason_bytes);
void build_watch_close(BuildWatch *watch);
// Waits until something has changed and then nothing more for a moment (editors write several
// times), or until cancelled.
void build_watch_wait(BuildWatch *watch, const atomic_bool *cancel);
// Without waiting: something has changed since the watch was opened, or is being written. What was
// read meanwhile may be half of it. build_watch_wait does not wait for that change any more.
bool build_watch_has_changed(BuildWatch *watch);
