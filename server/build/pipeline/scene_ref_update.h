// Updates the references in the files of a place (place/scene_ref.h): asks the worker where they
// are, edits copies of the files, and writes those after everything else is written.
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/place/scene_ref.h"

// A file with its other text, and what the worker would say of that: the same, without an edit.
typedef struct SceneRefChange {
    const PlaceFile *file; // as it is on disk
    uint8_t *data;
    size_t bytes;
    CacheKey key;
    Buffer answer; // empty: nobody knows
} SceneRefChange;

typedef struct SceneRefChanges {
    SceneRefChange *items; // free with scene_ref_changes_free, before the folder
    uint32_t count;
    PlaceFolder edited; // the whole folder as it will be; the texts are the folder's or the items'
} SceneRefChanges;

// Of scene.json and prefabs/*.json; what cannot be read is left as it is. *out is always to be
// freed. `used` has a byte for each script, which becomes 1 if something names it.
MUST_USE Status scene_ref_update(const BuildContext *context, const PlaceFolder *folder,
                                 const SceneRefScript *scripts, uint32_t script_count,
                                 uint8_t *used, SceneRefChanges *out);
// On disk: each file whole, and only if it is still what was read (an editor may have saved
// meanwhile; the next build comes to it). The next build need not ask about what was written.
MUST_USE Status scene_ref_write(const BuildContext *context, const char *place,
                                const SceneRefChanges *changes);
void scene_ref_changes_free(SceneRefChanges *changes);
