// New places: the folders of templates/ and places/obby are compiled into the program, and are
// written with the API declarations for editors.
#pragma once

#include "core/base/status.h"
#include "server/build/ask/worker.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One file of templates/<set>/<path> or places/<set>/<path>. Sets: `every` and `every-typescript`
// go into each place, `types` beside sandlot.d.ts; `<name>` is a place, `<name>-typescript` has its
// scripts in TypeScript.
typedef struct TemplateFile {
    const char *set, *path;
    const uint8_t *data;
    size_t bytes;
} TemplateFile;
extern const TemplateFile template_files[]; // made by CMake; ends with a set of NULL

// The names, in order; NULL after the last.
const char *template_name(uint32_t index);
bool template_exists(const char *name);

// Writes a place into a folder that does not exist, is empty, or contains only the files of a new
// repository (.git…, README…, LICENSE…, none of which is overwritten). STATUS_EXISTS: there is more
// in it; STATUS_NOT_FOUND: no such template; STATUS_DENIED: `cancel` (may be NULL) became true.
// `reason` says what and where; *file_count: files written. On failure everything created is
// removed again. If the process is killed, a marker file stays, and the next call completes the
// place.
MUST_USE Status template_write(const char *folder, const char *name, bool typescript,
                               const atomic_bool *cancel, uint32_t *file_count,
                               char reason[WORKER_REASON_BYTES]);
// Writes .sandlot/types, which editors read, into an existing place.
MUST_USE Status template_write_types(const char *folder, uint32_t *file_count,
                                     char reason[WORKER_REASON_BYTES]);
