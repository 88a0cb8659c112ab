// Packing runes with the dictionary that clients make for themselves; see rune_pack.h.
#include "server/build/inside/rune_pack.h"

#include "core/base/check.h"
#include "core/script/rune/rune_dictionary.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL      16 // above it runes get no smaller
#define HEAP_BYTES (16u << 20)

struct RunePack {
    ZSTD_CCtx *packing;
    RuneDictionary dictionary;
};

Status rune_pack_create(RunePack **out)
{
    RunePack *pack = calloc(1, sizeof *pack);
    if (pack == NULL) {
        return STATUS_LIMIT;
    }
    Heap heap = heap_make(HEAP_BYTES);
    Status status = rune_dictionary_init(&heap, &pack->dictionary);
    if (status == STATUS_OK) {
        pack->packing = ZSTD_createCCtx();
        status = pack->packing != NULL ? STATUS_OK : STATUS_LIMIT;
    }
    if (status != STATUS_OK) {
        rune_pack_destroy(pack);
        return status;
    }
    *out = pack;
    return STATUS_OK;
}

void rune_pack_destroy(RunePack *pack)
{
    if (pack != NULL) {
        ZSTD_freeCCtx(pack->packing);
        free(pack);
    }
}

uint32_t rune_pack_number(const RunePack *pack)
{
    return pack->dictionary.number;
}

Status rune_pack_pack(RunePack *pack, const uint8_t *rune, size_t rune_bytes, uint8_t *out,
                      size_t *bytes)
{
    Rune checked;
    if (rune_check(rune, rune_bytes, &checked) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    RuneDictionary *dictionary = &pack->dictionary;
    const size_t dictionary_bytes = rune_dictionary_begin(dictionary, checked.path);
    const size_t made =
        ZSTD_compress_usingDict(pack->packing, out, rune_bytes, checked.bytecode,
                                checked.bytecode_bytes, dictionary->bytes, dictionary_bytes, LEVEL);
    uint8_t head[RUNE_FRAME_HEAD_BYTES_MAX];
    const size_t head_bytes = rune_dictionary_frame_head(checked.bytecode_bytes, head);
    if (ZSTD_isError(made) != 0 || made < head_bytes || memcmp(out, head, head_bytes) != 0) {
        return STATUS_LIMIT; // too large, or another zstd version that writes another frame header
    }
    *bytes = made - head_bytes;
    memmove(out, out + head_bytes, *bytes);
    return STATUS_OK;
}
