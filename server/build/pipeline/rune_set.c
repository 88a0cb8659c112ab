// See rune_set.h.
#include "server/build/pipeline/rune_set.h"

#include "core/base/sha256.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES ((size_t)2 * SHA256_BYTES + 1)

static int compare_runes(const void *a, const void *b)
{
    const BuildRune *const *first = a, *const *second = b;
    return memcmp((*first)->hash, (*second)->hash, SHA256_BYTES);
}

static uint32_t collect(const BuildResult *built, const BuildRune **runes)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < built->rune_count; i++) {
        if (built->runes[i].replicate) {
            runes[count++] = &built->runes[i];
        }
    }
    qsort(runes, count, sizeof *runes, compare_runes);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || compare_runes(&runes[i], &runes[kept - 1]) != 0) {
            runes[kept++] = runes[i]; // scripts of equal bytes are one rune
        }
    }
    return kept;
}

Status rune_set_make(const BuildResult *built, RuneSet *out)
{
    RuneSet set = {.runes = calloc((size_t)built->rune_count + 1, sizeof *set.runes)};
    char *lines = malloc(LINE_BYTES * ((size_t)built->rune_count + 1));
    if (set.runes == NULL || lines == NULL) {
        free(set.runes);
        free(lines);
        return STATUS_LIMIT;
    }
    set.count = collect(built, set.runes);
    for (uint32_t i = 0; i < set.count; i++) {
        char *line = lines + i * LINE_BYTES;
        sha256_hex(set.runes[i]->hash, line);
        line[LINE_BYTES - 1] = '\n'; // in place of the zero
    }
    sha256_of(lines, set.count * LINE_BYTES, set.hash);
    free(lines);
    *out = set;
    return STATUS_OK;
}

void rune_set_free(RuneSet *set)
{
    free(set->runes);
    *set = (RuneSet){0};
}
