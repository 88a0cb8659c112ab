// Which scripts start again when one set of scripts replaces another: those that are new, those
// whose rune or context has changed, and those that require one of them, over any number of steps.
// Nothing else does. The server and every client use this rule, so that both sides of a script
// start again together.
#pragma once

#include "core/wire/manifest.h"

// Who requires whom, by the numbers of scripts.
typedef struct RequireGraph {
    const void *user;
    uint32_t count; // of scripts
    // The numbers of what script `number` requires; how many there are.
    uint32_t (*requires)(const void *user, uint32_t number, const uint32_t **out);
} RequireGraph;

// Marks everything that requires something that is marked.
void restart_spread(const RequireGraph *graph, bool *restarts);

// The row of the script with that path, which has no ending: "Workspace/Door"; UINT32_MAX: none.
uint32_t manifest_find(const ManifestList *list, Text path);
// Without its ending: the path by which a world knows the script of a row.
Text manifest_row_path(const ManifestRow *row);
bool manifest_row_is_same(const ManifestRow *a, const ManifestRow *b);
// Marks the rows of `after` that start again. STATUS_LIMIT: the scratch memory does not suffice.
MUST_USE Status manifest_restarts(const ManifestList *before, const ManifestList *after,
                                  Arena *scratch, bool *restarts);
