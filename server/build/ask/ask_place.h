// Asks the worker to compile the scene of a place (WORKER_PLACE): the JSON files of the place in,
// the compiled scene out, whole and stripped, and the few numbers that a host goes by. A host never
// parses a creator's JSON, nor the scene that was made of it.
//
//   request   u32 files; each: block path, block data (only what a scene is made of; of assets no
//   data) reply     diagnostics; when it compiled: block whole, its facts, block stripped, block
//   frame frame     32 bytes: what the place is without its scripts (place_frame); then each entity
//   and
//             prefab with a script: u64 net id · block prefab · block parameters
#pragma once

#include "server/build/ask/build_context.h"
#include "server/build/base/diagnostic.h"
#include "server/build/place/place_facts.h"
#include "server/build/place/place_folder.h"

typedef struct PlaceOutput {
    uint8_t *whole, *stripped, *frame; // free with place_output_free
    size_t whole_bytes, stripped_bytes, frame_bytes;
    PlaceFacts facts;
} PlaceOutput;

typedef struct PlaceAssetPaths {
    const char *const *paths; // "assets/door.png"
    uint32_t count;
} PlaceAssetPaths;

MUST_USE Status place_ask(const BuildContext *context, const PlaceFolder *folder,
                          PlaceAssetPaths assets, PlaceOutput *out);
// Checks the worker's reply, which may be any bytes; public for the fuzzer.
MUST_USE Status place_read_reply(const Buffer *reply, Status said, PlaceOutput *out,
                                 DiagnosticList *diagnostics);
void place_output_free(PlaceOutput *output);
