// The runes that players get, in fewer bytes: from the cache, or packed by the worker, all that are
// new in one request, because it begins with making the dictionary.
#include "server/build/ask/ask_rune_pack.h"
#include "server/build/pipeline/build_inside.h"

#include <stdio.h>
#include <stdlib.h>

static CacheKey key_of(const BuildRune *rune)
{
    CacheKeyMaker maker = cache_key_begin("pack");
    cache_key_add(&maker, rune->hash, sizeof rune->hash);
    return cache_key_end(&maker);
}

static void drop(BuildRune *rune)
{
    free(rune->packed);
    free(rune->zstd);
    rune->packed = rune->zstd = NULL;
    rune->packed_count = rune->zstd_count = 0;
}

static bool is_known(const Build *build, BuildRune *rune)
{
    const CacheKey key = key_of(rune);
    Buffer entry = buffer_of(CACHE_VALUE_BYTES_MAX);
    const bool found = !build->request->force && cache_find(build->cache, &key, &entry) &&
                       rune_pack_read_reply(&entry, &rune, 1, &build->result->packing) == STATUS_OK;
    buffer_free(&entry);
    if (!found) {
        drop(rune);
    }
    return found;
}

static void keep(const Build *build, const BuildRune *rune)
{
    const CacheKey key = key_of(rune);
    Buffer entry = buffer_of(CACHE_VALUE_BYTES_MAX);
    buffer_put_u32(&entry, build->result->packing);
    buffer_put_block(&entry, rune->packed, rune->packed_count);
    buffer_put_block(&entry, rune->zstd, rune->zstd_count);
    if (entry.status == STATUS_OK) {
        cache_keep(build->cache, &key, entry.data, entry.bytes);
    }
    buffer_free(&entry);
}

Status build_pack(Build *build)
{
    BuildResult *result = build->result;
    BuildRune **missing = calloc(result->rune_count + 1u, sizeof(BuildRune *));
    uint32_t count = 0;
    if (missing == NULL) {
        snprintf(build->reason, WORKER_REASON_BYTES, "out of memory");
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < result->rune_count; i++) {
        if (result->runes[i].replicate && !is_known(build, &result->runes[i])) {
            missing[count++] = &result->runes[i];
        }
    }
    const Status status =
        count == 0 ? STATUS_OK
                   : rune_pack_ask(build->worker, missing, count, &result->packing, build->reason);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        keep(build, missing[i]);
    }
    free(missing);
    return status;
}
