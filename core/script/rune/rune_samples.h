// Typical Lua of games, for the dictionary of rune_dictionary.h. None of it runs. A change here
// changes the dictionary's number, and nothing else.
#pragma once

typedef struct RuneSample {
    const char *path; // as a rune has it
    const char *source;
} RuneSample;

// The most usual ones last: zstd encodes near matches cheaper. Ends with a NULL path.
extern const RuneSample rune_samples[];
