// Which name was meant, for "did you mean": the one that takes the fewest letters changed, added or
// taken away, capitals or not. Nobody is offered a name that has little to do with what he wrote.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NEAREST_BYTES_MAX 128 // of a name; what is longer is near nothing

typedef struct Nearest {
    const char *name; // what was written; must outlive this
    size_t bytes;
    uint32_t steps;    // to `found`; before one is found: one more than would do
    const char *found; // the first of the nearest, as it was given; NULL: none
    size_t found_bytes;
} Nearest;

// About a third of the letters may be wrong, at most three; in very short names only the capitals.
Nearest nearest_begin(const char *name, size_t bytes);
// The same for a path: the letters behind its last '/' count for that, so that short names in one
// folder are not all near each other.
Nearest nearest_begin_path(const char *path, size_t bytes);
// True: it is nearer than all before it.
bool nearest_consider(Nearest *nearest, const char *name, size_t bytes);

// The letters between two names; `most` or more: that many at least.
uint32_t nearest_steps(const char *a, size_t a_bytes, const char *b, size_t b_bytes, uint32_t most);
