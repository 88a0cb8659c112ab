// In the worker: finds the references to scripts in a scene or prefab (place/scene_ref.h).
#pragma once

#include "server/build/place/scene_ref.h"

typedef struct SceneRefFile {
    const char *path; // "prefabs/Gate.json": what diagnostics name
    SceneRefKind kind;
    const char *text;
    size_t bytes;
} SceneRefFile;

// The edits that bring a text's references up to date, appended to `edits` in the order of the
// text: each u32 at, u32 script, u8 field. Scripts are sorted by path. Total over any
// bytes: what is no JSON is STATUS_MALFORMED or STATUS_LIMIT, and a member of another form than
// ours is left alone, because others say what is wrong with it. An entity whose script is not among
// them is an error, one whose reference names none a warning. `used` has a byte for each script: 1
// for those that are named.
MUST_USE Status scene_ref_find(const SceneRefFile *file, const SceneRefScript *scripts,
                               uint32_t script_count, uint8_t *used, DiagnosticList *diagnostics,
                               Buffer *edits);
