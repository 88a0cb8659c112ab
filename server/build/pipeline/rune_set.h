// All runes that players get of a place, as one set with a name: so a static file can hold all of
// them, and a page finds it (cdn_base). The name is the SHA-256 of the hashes, sorted, as lines of
// hexadecimal digits.
#pragma once

#include "server/build/pipeline/build.h"

typedef struct RuneSet {
    const BuildRune **runes; // replicated, sorted by hash, each hash once; of the build
    uint32_t count;
    uint8_t hash[SHA256_BYTES];
} RuneSet;

// The rows of the clients' manifest as a blob (manifest_write_rows): what clients fetch if they do
// not fit a message.
typedef struct ClientRows {
    uint8_t *text; // NULL: the place has no manifest, because it came from another machine
    size_t bytes;
    uint8_t hash[SHA256_BYTES];
} ClientRows;

MUST_USE Status client_rows_make(const BuildResult *built, ClientRows *out);
void client_rows_free(ClientRows *rows);
MUST_USE Status rune_set_make(const BuildResult *built, RuneSet *out);
void rune_set_free(RuneSet *set);
