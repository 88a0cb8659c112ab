// The files of a place (place.json, scene.json, prefabs/<Name>.json, voxel chunks) turned into one
// block of bytes, the compiled scene, and back. Bytes in, bytes out; docs/FORMATS.md describes
// every field. Two forms:
//
//   whole      what a world runs from: everything
//   stripped   what a client fetches by hash: no server-only prefabs, parameters, NPC minds,
//              weapons' damage, or attributes marked private; anchored parts, base terrain, shapes
//              and looks, exactly as in the whole form, so that prediction is exact
//
// Equal places give equal bytes. scene.json → compiled → scene.json gives the same JSON again, but
// for the order of members and for defaults that were left out.
#pragma once

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/heap.h"
#include "core/base/json.h"
#include "core/base/text.h"

#define PLACE_FORMAT 1 // "format" in place.json and scene.json

// One file of a place folder, by its path in it ("prefabs/Crate.json").
typedef struct PlaceFile {
    const char *path;
    const uint8_t *data;
    size_t bytes;
} PlaceFile;

typedef struct PlaceError {
    Status status;
    char path[128];  // the file
    JsonError where; // in a JSON file: line, column, JSON path, message
} PlaceError;
// "scene.json line 3, column 14: $.entities[3].half[1] must be a number"
void place_error_text(const PlaceError *error, char *text, size_t bytes);

// The heap is for scratch and is as it was afterwards. Unknown files are skipped: scripts and
// assets are not part of the scene. Of assets only the paths are kept (asset_names.h); their data
// may be NULL.
MUST_USE Status place_compile(Heap *heap, const PlaceFile *files, uint32_t file_count,
                              ByteWriter *whole, PlaceError *error);
MUST_USE Status place_strip(Heap *heap, const uint8_t *whole, size_t bytes, ByteWriter *stripped);
// What a place is without its scripts: the hash of all of it but for parameters, scriptRef.codeHash
// and spells. Worlds of two places with the same frame differ in scripts and parameters alone. The
// sink gets each entity and each prefab that has a script, always in the same order: an entity by
// its net id, a prefab by its name.
typedef struct PlaceScripted {
    uint64_t net_id; // 0: a prefab
    Text prefab;
    Text parameters; // JSON; "": none
} PlaceScripted;
typedef void (*PlaceScriptedSink)(void *user, const PlaceScripted *scripted);
MUST_USE Status place_frame(Heap *heap, const uint8_t *whole, size_t bytes, uint8_t hash[32],
                            PlaceScriptedSink sink, void *user);
// The files again: place.json, scene.json, each prefab and each chunk, by its path, and the paths
// of the assets with no data. Called once for each; the data is valid during the call.
typedef void (*PlaceFileSink)(void *user, const PlaceFile *file);
MUST_USE Status place_decompile(Heap *heap, const uint8_t *whole, size_t bytes, PlaceFileSink sink,
                                void *user);
