// What runes look like, known to both ends before one is sent. Runes are small, and small things
// shrink little by themselves; so they are packed with a dictionary of the names that scripts can
// call and of what our compiler makes of usual Lua (rune_samples.h). It is made when it is needed,
// natively and in WebAssembly, and depends on the sources of this program alone.
//
//   dictionary   a byte for the form of all this, constants of the API and the standard library,
//                some bytecode; behind it the path of the rune at hand
//   packed       a zstd frame with that dictionary over the bytecode of the rune, without the
//                frame's header
//
// A packed rune has nothing that its manifest says already (path and size), or that follows from
// the rest (the header of the rune and of the frame). Programs of different sources may have
// different dictionaries; each has a number, both ends name theirs, and what is not the same is not
// used. A number is no proof: who unpacks compares the hash of the whole rune with the manifest's.
#pragma once

#include "core/base/heap.h"
#include "core/base/status.h"
#include "core/script/rune/rune.h"

#include <stddef.h>
#include <stdint.h>

#define RUNE_DICTIONARY_BYTES_MAX (32u << 10)
#define RUNE_FRAME_HEAD_BYTES_MAX 9

typedef struct RuneDictionary {
    uint8_t bytes[RUNE_DICTIONARY_BYTES_MAX + RUNE_PATH_BYTES_MAX];
    size_t count;    // without a path
    uint32_t number; // what SCRIPT_REQUEST and SCRIPT_CHUNK have as their encoding; never 0
} RuneDictionary;

// Compiles the samples; uses 6 MiB of the heap meanwhile. STATUS_LIMIT if there is not enough.
MUST_USE Status rune_dictionary_init(Heap *heap, RuneDictionary *out);
// Appends the path; returns the size of the dictionary for a rune of that path.
size_t rune_dictionary_begin(RuneDictionary *dictionary, const char *path);
// The beginning of every frame over that many bytes; returns its size.
size_t rune_dictionary_frame_head(size_t bytecode_bytes, uint8_t out[RUNE_FRAME_HEAD_BYTES_MAX]);
