// Runes, and rows of manifests, that a native client keeps from one run to the next: a folder of
// the user's cache with a file for each, named by its hash. Any number of programs may use the
// folder at once: a file appears whole, by a rename, and whatever is read is hashed again, so a
// damaged file is removed and counts as missing. The folder is bounded (limits.h); the least
// recently used go first.
//
// A program that runs client scripts is locked in and has no files. So it has a keeper: a process
// that it starts before it is locked in, which has the folder and nothing else to do. The two speak
// over a socket pair, and the keeper believes nothing: a name is 32 bytes, a length is bounded, and
// only bytes with the right hash become a file.
#pragma once

#include "core/base/sha256.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct RuneStore {
    int folder;
    uint64_t bytes_max;
    uint32_t file_max;
    uint32_t written; // since it was last trimmed
} RuneStore;

// The folder of the user: $XDG_CACHE_HOME/sandlot/runes, or in ~/.cache. False: there is none, or
// its name is too long.
bool rune_store_default(char *out, size_t bytes);
// Makes the folder, for its owner alone, if it is missing. STATUS_DENIED: it is a link, or somebody
// else could write there.
MUST_USE Status rune_store_open(const char *folder, RuneStore *out);
void rune_store_close(RuneStore *store);
// STATUS_NOT_FOUND; STATUS_MISMATCH: it was damaged and is gone. Free with free().
MUST_USE Status rune_store_read(RuneStore *store, const uint8_t hash[SHA256_BYTES], uint8_t **out,
                                size_t *bytes);
// STATUS_MISMATCH: these bytes have another hash. A file that is there already stays.
MUST_USE Status rune_store_write(RuneStore *store, const uint8_t hash[SHA256_BYTES],
                                 const uint8_t *data, size_t bytes);
// Removes the least recently used, and what a program that was killed left half written.
void rune_store_trim(RuneStore *store);

// --- the keeper ---------------------------------------------------------------------------------
// Starts it; before there is a second thread. It ends when the descriptor is closed.
MUST_USE Status rune_keeper_start(const char *folder, int *out);
// As rune_store_read, through the keeper. STATUS_BLOCKED: there is none any more.
MUST_USE Status rune_keeper_read(int keeper, const uint8_t hash[SHA256_BYTES], uint8_t **out,
                                 size_t *bytes);
MUST_USE Status rune_keeper_write(int keeper, const uint8_t hash[SHA256_BYTES], const uint8_t *data,
                                  size_t bytes);
