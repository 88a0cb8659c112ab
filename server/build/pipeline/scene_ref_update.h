// Brings the references in the files of a place up to date (place/scene_ref.h): asks the worker
// where they are, edits the folder in memory, and writes the files once everything else is written.
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/place/scene_ref.h"

// Files of a folder with their other text: the creator's, while the folder has the edited one.
typedef struct SceneRefChange {
    PlaceFile *file;
    const uint8_t *data;
    size_t bytes;
} SceneRefChange;

typedef struct SceneRefChanges {
    SceneRefChange *items; // free with scene_ref_changes_free, before the folder
    uint32_t count;
} SceneRefChanges;

// Edits scene.json and prefabs/*.json of the folder in memory; what cannot be read is left as it
// is. *out is empty before, and always to be freed. `used` has a byte for each script, which
// becomes 1 if something names it.
MUST_USE Status scene_ref_update(const BuildContext *context, PlaceFolder *folder,
                                 const SceneRefScript *scripts, uint32_t script_count,
                                 uint8_t *used, SceneRefChanges *out);
// The folder gets the creator's texts back, and *changes is empty.
void scene_ref_undo(PlaceFolder *folder, SceneRefChanges *changes);
// On disk: each file whole, and only if it is still what was read (an editor may have saved
// meanwhile; the next build comes to it).
MUST_USE Status scene_ref_write(const char *place, const SceneRefChanges *changes,
                                char reason[WORKER_REASON_BYTES]);
void scene_ref_changes_free(SceneRefChanges *changes);
