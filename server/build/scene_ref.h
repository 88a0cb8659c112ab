// What a scene says about its scripts, kept true after a build: an entity (or prefab) that names
// its source by `scriptRef{path, codeHash}` gets the hash of the source's bytes, and `scriptPath`
// the Lua that runs: the source itself, or what was made of it under .sandlot/server/soul.
//
// Only those values change, as edits in the text: a creator's order, spaces and line ends stay. The
// JSON is a stranger's and is read in the worker (WORKER_SCENE_REF); outside it only bytes are
// compared and files replaced whole.
#pragma once

#include "server/build/build.h"

#define SCENE_REF_MADE_FOLDER ".sandlot/server/soul/" // then <Service>/<Name>.lua

typedef struct SceneRefScript {
    const char *path; // "Workspace/Door"
    SoulLanguage language;
    uint8_t code_hash[32];
} SceneRefScript;

// Where references may be: in the items of `entities`, or in the file's own object.
typedef enum SceneRefKind { SCENE_REF_SCENE, SCENE_REF_PREFAB } SceneRefKind;

// The text with its references brought up to date, appended to `out` (all of it, also when nothing
// changed). Scripts are sorted by path. Total over any bytes: what is no JSON is
// STATUS_MALFORMED or STATUS_LIMIT, and a member of another form than ours is left alone, because
// others say what is wrong with it.
MUST_USE Status scene_ref_edit(const char *text, size_t bytes, SceneRefKind kind,
                               const SceneRefScript *scripts, uint32_t script_count, Buffer *out,
                               bool *changed);

// For the builder, once its runes are there and before it compiles the scene: edits scene.json and
// prefabs/*.json of the folder in memory, and with `write` on disk too, each whole and only if it
// is still what was read (an editor may have saved meanwhile; the next build comes to it).
// *changed_count: files that are different now. Anything that cannot be read is left as it is.
MUST_USE Status scene_ref_update(Worker *worker, const char *place, PlaceFolder *folder,
                                 const BuildRune *runes, uint32_t rune_count, bool write,
                                 uint32_t *changed_count, char reason[WORKER_REASON_BYTES]);
