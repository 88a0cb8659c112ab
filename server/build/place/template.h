// New places: the folders of templates/ are inside the program, and are written out with what an
// editor needs to know the API.
#pragma once

#include "core/base/status.h"
#include "server/build/ask/worker.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One file of templates/<set>/<path>. Sets: `every` and `every-typescript` go into each place,
// `types` besides sandlot.d.ts; `<name>` is a place, `<name>-typescript` has its scripts once more.
typedef struct TemplateFile {
    const char *set, *path;
    const uint8_t *data;
    size_t bytes;
} TemplateFile;
extern const TemplateFile template_files[]; // made by CMake; ends with a set of NULL

// The names, in order; NULL after the last.
const char *template_name(uint32_t index);
bool template_exists(const char *name);

// Writes a place into a folder that is not there yet, is empty, or holds no more than a fresh
// repository (.git…, README…, LICENSE…, but none that is written). STATUS_EXISTS: more is in it;
// STATUS_NOT_FOUND: no such template; STATUS_DENIED: `cancel` (may be NULL) became true. `reason`
// says what and where; *file_count: files written. On failure what was made is removed again. What
// a kill leaves is marked, and the next time completes it.
MUST_USE Status template_write(const char *folder, const char *name, bool typescript,
                               const atomic_bool *cancel, uint32_t *file_count,
                               char reason[WORKER_REASON_BYTES]);
// .sandlot/types in a place that is there: what editors read.
MUST_USE Status template_write_types(const char *folder, uint32_t *file_count,
                                     char reason[WORKER_REASON_BYTES]);
