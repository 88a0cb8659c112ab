// Lua as scripts of games are written, for the dictionary of rune_dictionary.h. None of it ever
// runs. Whatever changes here changes the dictionary's number, and nothing else.
#pragma once

typedef struct RuneSample {
    const char *path; // as a rune has it
    const char *source;
} RuneSample;

// The most usual last: zstd finds near things cheaper. Ends with a NULL path.
extern const RuneSample rune_samples[];
