// Knowing when a place's folder changes: inotify on it and all folders inside, hidden ones and
// node_modules left out. Opened again for every build, so folders that come and go are no matter.
// What this process renames into it (place_file.h) is no change: a build writes into the place,
// too.
#pragma once

#include "core/base/status.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct BuildWatch {
    int descriptor;
    uint32_t own; // the rename of ours whose second half is still to come; 0: none
} BuildWatch;

MUST_USE Status build_watch_open(BuildWatch *watch, const char *place, char *reason,
                                 size_t reason_bytes);
void build_watch_close(BuildWatch *watch);
// Until something changed and then was quiet for a moment (editors write several times), or until
// cancelled.
void build_watch_wait(BuildWatch *watch, const atomic_bool *cancel);
