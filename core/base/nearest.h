// Finds the name that was probably meant, for "did you mean": the one with the fewest letters
// changed, added or removed, ignoring case. A name that differs too much is not suggested.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEAREST_BYTES_MAX 128 // longer names are near nothing

typedef struct Nearest {
    const char *name; // the given name; must outlive this
    size_t bytes;
    uint32_t steps;    // to `found`; before one is found: one more than allowed
    const char *found; // the first of the nearest, as it was given; NULL: none
    size_t found_bytes;
} Nearest;

// About a third of the letters may be wrong, at most three; in very short names only their case.
Nearest nearest_begin(const char *name, size_t bytes);
// The same for a path: only the letters after its last '/' count, so that short names in one folder
// are not all near each other.
Nearest nearest_begin_path(const char *path, size_t bytes);
// True: it is nearer than all before it.
bool nearest_consider(Nearest *nearest, const char *name, size_t bytes);

// The number of different letters; `most` or more: at least that many.
uint32_t nearest_steps(const char *a, size_t a_bytes, const char *b, size_t b_bytes, uint32_t most);
