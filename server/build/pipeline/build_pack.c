// Compresses the runes that players download.
#include "server/build/ask/ask_rune_pack.h"
#include "server/build/pipeline/build_stages.h"

Status build_pack(Build *build)
{
    BuildResult *result = build->result;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < result->rune_count && status == STATUS_OK; i++) {
        BuildRune *rune = &result->runes[i];
        PackedRune packed = {0};
        if (!rune->replicate) {
            continue;
        }
        status = rune_pack_ask(&build->context, rune->hash, rune->bytes, rune->count, &packed);
        if (status == STATUS_OK) {
            result->packing = packed.dictionary;
            rune->packed = packed.packed;
            rune->packed_count = packed.packed_bytes;
            rune->zstd = packed.zstd;
            rune->zstd_count = packed.zstd_bytes;
        }
    }
    return status;
}
