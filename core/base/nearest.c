// See nearest.h. One row of the table of differences is kept, and of each row only the part that
// could still be less than `most` is computed, because a script may call this with names of its
// choice.
#include "core/base/nearest.h"

#include <string.h>

#define LETTERS_MANY 9 // so many or more: three of them may be wrong

uint32_t nearest_steps(const char *a, size_t a_bytes, const char *b, size_t b_bytes, uint32_t most)
{
    uint32_t row[NEAREST_BYTES_MAX + 1];
    const size_t apart = a_bytes < b_bytes ? b_bytes - a_bytes : a_bytes - b_bytes;
    if (a_bytes > NEAREST_BYTES_MAX || b_bytes > NEAREST_BYTES_MAX || apart >= most) {
        return most;
    }
    for (uint32_t i = 0; i <= b_bytes; i++) {
        row[i] = i;
    }
    // The values beside the band are left from an earlier row and are at least `most`.
    for (uint32_t i = 1; i <= a_bytes; i++) {
        const uint32_t from = i > most ? i - most : 1;
        const uint32_t to = i + most < b_bytes ? i + most : (uint32_t)b_bytes;
        uint32_t diagonal = row[from - 1];
        row[from - 1] = from == 1 ? i : most;
        for (uint32_t j = from; j <= to; j++) {
            const uint32_t same = (a[i - 1] | 32) == (b[j - 1] | 32) ? 0 : 1;
            uint32_t best = diagonal + same;
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b_bytes] < most ? row[b_bytes] : most;
}

static Nearest begin_search(const char *name, size_t bytes, size_t letters)
{
    const uint32_t wrong = letters < 3 ? 0 : letters < 5 ? 1 : letters < LETTERS_MANY ? 2 : 3;
    return (Nearest){.name = name, .bytes = bytes, .steps = wrong + 1};
}

Nearest nearest_begin(const char *name, size_t bytes)
{
    return begin_search(name, bytes, bytes);
}

Nearest nearest_begin_path(const char *path, size_t bytes)
{
    size_t letters = 0;
    while (letters < bytes && letters < LETTERS_MANY && path[bytes - letters - 1] != '/') {
        letters += 1;
    }
    return begin_search(path, bytes, letters);
}

bool nearest_consider(Nearest *nearest, const char *name, size_t bytes)
{
    const uint32_t steps =
        nearest_steps(nearest->name, nearest->bytes, name, bytes, nearest->steps);
    if (steps >= nearest->steps) {
        return false;
    }
    nearest->steps = steps;
    nearest->found = name;
    nearest->found_bytes = bytes;
    return true;
}
