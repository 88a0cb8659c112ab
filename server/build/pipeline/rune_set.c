// See rune_set.h.
#include "server/build/pipeline/rune_set.h"

#include "core/base/sha256.h"
#include "core/wire/manifest.h"

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

// --- the rows -----------------------------------------------------------------------------------

static Status write_rows(const ManifestList *list, ClientRows *out)
{
    ByteWriter counter = byte_counter();
    Status status = manifest_write_rows(list->rows, list->row_count, &counter);
    uint8_t *text = status == STATUS_OK ? malloc(counter.at) : NULL;
    if (text == NULL) {
        return status == STATUS_OK ? STATUS_LIMIT : status;
    }
    ByteWriter writer = byte_writer(text, counter.at);
    status = manifest_write_rows(list->rows, list->row_count, &writer);
    *out = (ClientRows){.text = text, .bytes = writer.at};
    sha256_of(text, writer.at, out->hash);
    return status;
}

Status client_rows_make(const BuildResult *built, ClientRows *out)
{
    *out = (ClientRows){0};
    if (built->client_manifest == NULL) {
        return STATUS_OK;
    }
    void *block = malloc(MANIFEST_ARENA_BYTES);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init(&arena, block, MANIFEST_ARENA_BYTES);
    ManifestList list;
    uint8_t signature[MANIFEST_SIGNATURE_BYTES];
    bool has_signature = false;
    JsonError error = {0};
    Status status = manifest_read(&arena, built->client_manifest, built->client_manifest_bytes,
                                  &list, signature, &has_signature, &error);
    status = status == STATUS_OK ? write_rows(&list, out) : status;
    free(block);
    return status;
}

void client_rows_free(ClientRows *rows)
{
    free(rows->text);
    *rows = (ClientRows){0};
}
