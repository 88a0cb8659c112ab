// Reports when a place's folder changes: inotify on it and all folders inside, except hidden ones
// and node_modules. It is opened again for every build, so it follows new and removed folders. A
// file that this process itself renames into the place (place_file.h) does not count, because a
// build writes into the place too; who else does says so (`told`).
#pragma once

#include "core/base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct BuildWatch {
    int descriptor;
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
