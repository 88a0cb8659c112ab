// What a scene says about its scripts, kept true after a build: an entity (or prefab) that names
// its source by `scriptRef{path, codeHash}` gets the hash of the source's bytes, and `scriptPath`
// the Lua that runs: the source itself, or what was made of it under .sandlot/server/soul.
//
// Only those values change, as edits in the text: a creator's order, spaces and line ends stay. The
// JSON is a stranger's and is read in the worker (WORKER_SCENE_REF), which answers with places in
// the text and numbers of scripts. What is written there comes from the builder's own list, and
// only where one of our four names stands: a worker that was taken over can do no more than make a
// reference name another script of the place.
#pragma once

#include "server/build/place/soul.h"

#define SCENE_REF_MADE_FOLDER ".sandlot/server/soul/" // then <Service>/<Name>.lua

typedef struct SceneRefScript {
    const char *path; // "Workspace/Door"
    SoulLanguage language;
    bool in_soul; // the source's path begins with SoulService/
    uint8_t code_hash[32];
} SceneRefScript;

// Where references may be: in the items of `entities`, or in the object itself.
typedef enum SceneRefKind { SCENE_REF_SCENE, SCENE_REF_PREFAB } SceneRefKind;

// An edit: the position of a member's name, and what to change.
typedef enum SceneRefField {
    SCENE_REF_PATH,     // the value of "path"
    SCENE_REF_HASH,     // of "codeHash"
    SCENE_REF_LUA,      // of "scriptPath"
    SCENE_REF_NEW_HASH, // add "codeHash" after "path", in the same layout
    SCENE_REF_NEW_LUA,  // add "scriptPath" after "scriptRef"
    SCENE_REF_FIELD_COUNT
} SceneRefField;

typedef struct SceneRefEdit {
    uint32_t at; // the byte where the name begins, with its quote
    uint32_t script;
    SceneRefField field;
} SceneRefEdit;

// Used on both sides of the pipe: what a member's value should be, and where it is.
#define SCENE_REF_VALUE_BYTES (SCRIPT_PATH_BYTES + 48)
void scene_ref_value(const SceneRefScript *script, SceneRefField field,
                     char out[SCENE_REF_VALUE_BYTES]);
// The value of the member that an edit names: a string, or for SCENE_REF_NEW_LUA a flat object.
// False: there is none, or none of a length that ours have.
bool scene_ref_find_value(const char *text, size_t bytes, const SceneRefEdit *edit, size_t *begin,
                          size_t *end);

// Appends the text with its edits to `out`; *changed: there is a difference. Edits may be any
// bytes: STATUS_MALFORMED if they are not in order, or do not point at a member of that name or at
// an existing script. STATUS_LIMIT: `out` is full.
MUST_USE Status scene_ref_apply(const char *text, size_t bytes, const SceneRefScript *scripts,
                                uint32_t script_count, const uint8_t *edits, size_t edit_bytes,
                                Buffer *out, bool *changed);
