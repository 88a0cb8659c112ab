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

MUST_USE Status rune_set_make(const BuildResult *built, RuneSet *out);
void rune_set_free(RuneSet *set);
