// In the worker: finds the references to scripts in a scene or prefab (place/scene_ref.h).
#pragma once

#include "server/build/place/scene_ref.h"

typedef struct SceneRefFile {
    const char *path; // "prefabs/Gate.json": what diagnostics name
    SceneRefKind kind;
    const char *text;
    size_t bytes;
} SceneRefFile;

// Appends the edits that bring a text's references up to date to `edits`, in the order of the text:
// each u32 at, u32 script, u8 field. Scripts are sorted by path. Works for any bytes: text that is
// not JSON is STATUS_MALFORMED or STATUS_LIMIT, and a member of another form is left alone, because
// the scene compiler reports it. An entity whose script does not exist is an error, a reference
// without a script a warning. `used` has a byte for each script: 1 if it is named.
MUST_USE Status scene_ref_find(const SceneRefFile *file, const SceneRefScript *scripts,
                               uint32_t script_count, uint8_t *used, DiagnosticList *diagnostics,
                               Buffer *edits);
