// A place as a folder on disk, read whole into memory: what place_compile wants, and the souls.
// Nothing outside the folder is reached: links are not followed, names that begin with a dot and
// folders named node_modules are skipped, and files, sizes and depth are bounded.
#pragma once

#include "core/wire/place.h"
#include "server/build/base/diagnostic.h"
#include "server/build/base/reason.h"

#define PLACE_FOLDER_BYTES_MAX (256u << 20)
#define PLACE_FOLDER_DEPTH_MAX 12

typedef struct PlaceFolder {
    PlaceFile *files; // in the order of their paths; path and data are the folder's
    uint32_t file_count;
    size_t bytes;
} PlaceFolder;

// What a build looks at: souls (.lua, .luau, .ts, .soul; not .d.ts), .json and .chunk; other files
// are skipped. On failure `reason` says which file and why.
MUST_USE Status place_folder_read(const char *path, PlaceFolder *out,
                                  char reason[WORKER_REASON_BYTES]);
// The same for a build, which shows its creator all problems at once: each file that cannot be used
// is an error, and the status is STATUS_MALFORMED with the other files in *out. A file in a service
// that only looks like a script is a warning. Other failures have a `reason`.
MUST_USE Status place_folder_read_diagnosed(const char *path, PlaceFolder *out,
                                            DiagnosticList *diagnostics,
                                            char reason[WORKER_REASON_BYTES]);
// The same, and the modules of spells: the scripts in the folder `spells`, as if they were in
// PLACE_SPELLS of the place. That folder need not exist.
#define PLACE_SPELLS "ReplicatedStorage/spells"
MUST_USE Status place_folder_read_with_spells(const char *path, const char *spells,
                                              PlaceFolder *out, DiagnosticList *diagnostics,
                                              char reason[WORKER_REASON_BYTES]);
// Every file, assets and notes included, for packing. Anything but regular files and folders is
// rejected.
MUST_USE Status place_folder_read_all(const char *path, PlaceFolder *out,
                                      char reason[WORKER_REASON_BYTES]);
// The same including hidden files, for a folder that a build wrote and that must contain nothing
// else. With `diagnostics` (or NULL), every rejected file is reported there, and the status is
// STATUS_MALFORMED.
MUST_USE Status place_folder_read_built(const char *path, PlaceFolder *out,
                                        DiagnosticList *diagnostics,
                                        char reason[WORKER_REASON_BYTES]);
void place_folder_free(PlaceFolder *folder);
// The order of files, for qsort and bsearch: by path.
int place_file_compare(const void *a, const void *b);

// Whether a name ends so, with something before it ("Door.lua", ".lua").
bool place_path_ends(const char *path, const char *ending);
// Never part of a place: hidden files (our artifacts too) and an editor's packages.
bool place_name_is_skipped(const char *name);
// "prefabs/Door.json"?
bool place_path_is_prefab(const char *path);
// Whether it is one of the files of a scene (.json, .chunk).
bool place_folder_is_scene(const PlaceFile *file);
