// Unpacks with zstd, and restores the headers of the frame and of the rune; see rune_unpack.h. The
// decoder uses our memory, so that it is counted by the heap.
#define ZSTD_STATIC_LINKING_ONLY // for ZSTD_initStaticDCtx; every zstd since 1.3 has it
#include "core/script/rune/rune_unpack.h"

#include "core/base/check.h"
#include "core/script/rune/rune_dictionary.h"

#include <string.h>
#include <zstd.h>

struct RuneUnpack {
    Heap *heap;
    ZSTD_DCtx *decoder; // in `memory`
    void *memory;
    RuneDictionary dictionary;
};

Status rune_unpack_create(Heap *heap, RuneUnpack **out)
{
    RuneUnpack *unpack = heap_alloc(heap, sizeof *unpack);
    if (unpack == NULL) {
        return STATUS_LIMIT;
    }
    const size_t bytes = ZSTD_estimateDCtxSize();
    unpack->heap = heap;
    Status status = rune_dictionary_init(heap, &unpack->dictionary);
    if (status == STATUS_OK) {
        unpack->memory = heap_alloc(heap, bytes);
        status = unpack->memory != NULL ? STATUS_OK : STATUS_LIMIT;
    }
    if (status != STATUS_OK) {
        rune_unpack_destroy(unpack);
        return status;
    }
    unpack->decoder = ZSTD_initStaticDCtx(unpack->memory, bytes);
    ASSERT(unpack->decoder != NULL);
    *out = unpack;
    return STATUS_OK;
}

void rune_unpack_destroy(RuneUnpack *unpack)
{
    if (unpack != NULL) {
        heap_free(unpack->heap, unpack->memory);
        heap_free(unpack->heap, unpack);
    }
}

uint32_t rune_unpack_number(const RuneUnpack *unpack)
{
    return unpack->dictionary.number;
}

// The bytecode alone: one frame that fills it. After it only empty frames could follow.
static Status decode(RuneUnpack *unpack, const char *path, const uint8_t *frame, size_t frame_bytes,
                     uint8_t *out, size_t bytes)
{
    RuneDictionary *dictionary = &unpack->dictionary;
    const size_t made =
        ZSTD_decompress_usingDict(unpack->decoder, out, bytes, frame, frame_bytes,
                                  dictionary->bytes, rune_dictionary_begin(dictionary, path));
    return made == bytes ? STATUS_OK : STATUS_MALFORMED; // an error is larger than any size
}

Status rune_unpack(RuneUnpack *unpack, const char *path, const uint8_t *packed, size_t packed_bytes,
                   uint8_t *out, size_t rune_bytes)
{
    const size_t head = RUNE_HEADER_BYTES + strlen(path);
    if (strlen(path) > RUNE_PATH_BYTES_MAX || rune_bytes < head || rune_bytes > RUNE_BYTES_MAX ||
        packed_bytes >= rune_bytes) {
        return STATUS_MALFORMED;
    }
    uint8_t *frame = heap_alloc(unpack->heap, RUNE_FRAME_HEAD_BYTES_MAX + packed_bytes);
    if (frame == NULL) {
        return STATUS_LIMIT;
    }
    const size_t frame_head = rune_dictionary_frame_head(rune_bytes - head, frame);
    memcpy(frame + frame_head, packed, packed_bytes);
    const Status status =
        decode(unpack, path, frame, frame_head + packed_bytes, out + head, rune_bytes - head);
    heap_free(unpack->heap, frame);
    if (status == STATUS_OK) {
        rune_put_header(path, out, rune_bytes);
    }
    return status;
}
