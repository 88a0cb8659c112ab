// See asker.h.
#include "server/build/ask/worker_cache.h"

static CacheKey key_of(WorkerOp op, const void *request, size_t bytes)
{
    CacheKeyMaker maker = cache_key_begin("worker");
    cache_key_add_u32(&maker, op);
    cache_key_add(&maker, request, bytes);
    return cache_key_end(&maker);
}

static bool is_known(const Asker *asker, const CacheKey *key, AskerTake take, void *user)
{
    Buffer reply = buffer_of(CACHE_VALUE_BYTES_MAX);
    const bool found =
        !asker->force && cache_find(asker->cache, key, &reply) && take(user, &reply) == STATUS_OK;
    buffer_free(&reply);
    return found;
}

Status asker_call(const Asker *asker, WorkerOp op, const void *request, size_t bytes,
                  AskerTake take, void *user, char reason[WORKER_REASON_BYTES])
{
    CacheKey key;
    if (asker->cache != NULL) {
        key = key_of(op, request, bytes);
        if (is_known(asker, &key, take, user)) {
            return STATUS_OK;
        }
    }
    Buffer reply = {0};
    Status status = worker_call(asker->worker, op, request, bytes, &reply, reason);
    if (status == STATUS_OK && take(user, &reply) != STATUS_OK) {
        status = worker_distrust(asker->worker, reason);
    }
    if (status == STATUS_OK && asker->cache != NULL) {
        cache_keep(asker->cache, &key, reply.data, reply.bytes);
    }
    buffer_free(&reply);
    return status;
}
