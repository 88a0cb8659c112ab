// Compresses what players download: runes, and the rows of a manifest that fits no message.
#include "server/build/ask/ask_rune_pack.h"
#include "server/build/ask/ask_zstd.h"
#include "server/build/pipeline/build_stages.h"

#include <stdlib.h>
#include <string.h>

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

// --- rows ---------------------------------------------------------------------------------------

static Status take_frame(void *user, Status said, const Buffer *reply)
{
    BuildResult *result = user;
    (void)said;
    if (reply->bytes == 0 || reply->bytes > result->client_rows_bytes) {
        return STATUS_MALFORMED;
    }
    result->client_rows_zstd = malloc(reply->bytes);
    if (result->client_rows_zstd == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(result->client_rows_zstd, reply->data, reply->bytes);
    result->client_rows_zstd_bytes = reply->bytes;
    return STATUS_OK;
}

// Smaller ones are in a message, and nobody fetches them.
Status build_pack_rows(Build *build)
{
    BuildResult *result = build->result;
    if (result->client_rows_bytes <= MANIFEST_MESSAGE_BYTES ||
        result->client_rows_bytes > ASK_ZSTD_BYTES_MAX) {
        return STATUS_OK;
    }
    CacheKeyMaker maker = cache_key_begin("rows");
    cache_key_add(&maker, result->client_rows_hash, SHA256_BYTES);
    const CacheKey key = cache_key_end(&maker);
    WorkerQuestion question = {.op = WORKER_ZSTD,
                               .key = &key,
                               .request = result->client_rows,
                               .request_bytes = result->client_rows_bytes,
                               .read = take_frame,
                               .user = result};
    return context_ask(&build->context, &question);
}
