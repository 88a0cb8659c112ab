// What the files of this room share: the owner of a local world from inside. local_host.c keeps the
// files, the world and its rows; local_scripts.c makes runes of the scripts; local_diff.c changes
// the files and what was made of them.
#pragma once

#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/base/sha256.h"
#include "core/world/local/local_host.h"
#include "core/world/save/row.h"

#define LOCAL_PATH_BYTES 128

typedef struct LocalFile {
    char path[LOCAL_PATH_BYTES];
    uint8_t *data;
    size_t bytes;
} LocalFile;

typedef struct LocalRow {
    RowType type;
    uint8_t key[ROW_KEY_BYTES];
    uint32_t key_bytes;
    uint8_t *bytes; // as row_write wrote it
    size_t byte_count;
} LocalRow;

// What a set of files was compiled into.
typedef struct LocalBuilt {
    uint8_t *stripped;
    size_t stripped_bytes;
    Place *place;
} LocalBuilt;

typedef struct LocalScript {
    char path[SCRIPT_PATH_BYTES];
    RunContext context;
    uint8_t *rune; // NULL: its file is empty
    size_t rune_bytes;
} LocalScript;

// What the scripts among them were compiled into.
typedef struct LocalScripts {
    LocalScript items[PLACE_FILES_MAX];
    uint32_t count;
} LocalScripts;

// A script that was compiled without a warning. The key is a hash of all that its check depends on:
// names, contexts and languages of the place's scripts, its own name, and its source.
typedef struct LocalRune {
    uint8_t key[SHA256_BYTES];
    uint8_t *rune;
    size_t bytes;
    bool is_used; // by the scripts that are being compiled
} LocalRune;

struct LocalHost {
    Heap *heap;
    LocalHostConfig config;
    LocalFile files[PLACE_FILES_MAX];
    uint32_t file_count;
    LocalBuilt built;
    World *world;
    uint64_t epoch;
    bool reload_waits; // for the next tick
    LocalRow *rows;
    uint32_t row_count, row_max;
    MemoryStore *store;
    uint64_t unix_ms;
    LocalRune *known; // of the scripts as they are now
    uint32_t known_count, known_max, known_next;
    uint32_t checked;
    uint8_t answer[STORE_ANSWER_MAX];
};

// --- files (local_host.c) -----------------------------------------------------------------------

LocalFile *local_file_find(LocalHost *host, const char *path);
void local_file_drop(LocalHost *host, LocalFile *file);
MUST_USE Status local_file_put(LocalHost *host, const char *path, const void *data, size_t bytes);
PlaceFile *local_files_list(LocalHost *host); // for heap_free; NULL: no memory
bool local_file_is_script(const char *path);

// --- places and worlds (local_host.c) ------------------------------------------------------------

void local_built_free(LocalHost *host, LocalBuilt *built);
MUST_USE Status local_built_compile(LocalHost *host, PlaceError *error, LocalBuilt *out);
// A world over a built place, with the rows there are and the scripts.
MUST_USE Status local_world_open(LocalHost *host, const LocalBuilt *built,
                                 const LocalScripts *scripts, World **out, PlaceError *error);

// --- scripts (local_scripts.c) -------------------------------------------------------------------

// The scripts of all files, or of those that `wanted` names; free with local_scripts_free.
MUST_USE Status local_scripts_compile(LocalHost *host, const JsonNode *wanted, LocalScripts **out,
                                      PlaceError *error);
MUST_USE Status local_scripts_enter(World *world, const LocalScripts *scripts, PlaceError *error);
void local_scripts_free(LocalHost *host, LocalScripts *scripts); // NULL is allowed
// The runes that are kept of scripts as they are now; what local_host_runes wrote.
MUST_USE Status local_runes_read(LocalHost *host, const uint8_t *bytes, size_t count);
void local_runes_free(LocalHost *host);
