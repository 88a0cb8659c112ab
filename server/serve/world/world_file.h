// A world as one JSON file, in the shape of the server document: metadata, the chunks of its
// terrain (base64 of zstd, which the jailed worker packs and unpacks), and entities. It is written
// and read piece by piece, so that its size costs no memory for a tree.
//
//   {"version":1, "world_id":"world_…",
//    "metadata":{"name","created_at","place_id","place_hash","tick",…},
//    "chunks":[{"x","y","z","data"}, …],
//    "entities":[{"type":"structure",…}, {"type":"player",…}, {"type":"attributes",…}, …]}
//
// What belongs to people and not to the world (characters, sign-ins, resume tokens) is not in it,
// and neither are DataStores, which belong to the place.
#pragma once

#include "server/build/ask/worker.h"
#include "server/store/store.h"

#define WORLD_FILE_VERSION      1
#define WORLD_FILE_REASON_BYTES 192

// Writes what the store has of the world to a file that is open for writing; waits for the disk.
// STATUS_MALFORMED: what is stored is damaged. STATUS_BLOCKED: the disk refuses.
MUST_USE Status world_file_write(Store *store, Worker *worker, const StoreWorld *world, int file);

typedef struct WorldFile {
    StoreWorld world; // name, created_unix_ms, place_id, place_hash; world_id may be ""
    uint8_t *rows;    // as store_rows gives them; world_file_free frees them
    size_t bytes;
} WorldFile;
// STATUS_MALFORMED with a reason that says where; STATUS_LIMIT: too large, or no memory;
// STATUS_BLOCKED: the worker, which unpacks the chunks, failed.
MUST_USE Status world_file_read(Worker *worker, const char *text, size_t bytes, WorldFile *out,
                                char reason[WORLD_FILE_REASON_BYTES]);
void world_file_free(WorldFile *file);
