// See worker_cache.h.
#include "server/build/ask/worker_cache.h"

static CacheKey key_of(WorkerOp op, const void *request, size_t bytes)
{
    CacheKeyMaker maker = cache_key_begin("worker");
    cache_key_add_u32(&maker, op);
    cache_key_add(&maker, request, bytes);
    return cache_key_end(&maker);
}

static bool is_known(const WorkerCache *worker_cache, const CacheKey *key, WorkerReplyRead take,
                     void *user)
{
    Buffer reply = buffer_of(CACHE_VALUE_BYTES_MAX);
    const bool found = !worker_cache->force && cache_find(worker_cache->cache, key, &reply) &&
                       take(user, &reply) == STATUS_OK;
    buffer_free(&reply);
    return found;
}

Status worker_cache_call(const WorkerCache *worker_cache, WorkerOp op, const void *request,
                         size_t bytes, WorkerReplyRead take, void *user,
                         char reason[WORKER_REASON_BYTES])
{
    CacheKey key;
    if (worker_cache->cache != NULL) {
        key = key_of(op, request, bytes);
        if (is_known(worker_cache, &key, take, user)) {
            return STATUS_OK;
        }
    }
    Buffer reply = {0};
    Status status = worker_call(worker_cache->worker, op, request, bytes, &reply, reason);
    if (status == STATUS_OK && take(user, &reply) != STATUS_OK) {
        status = worker_reply_invalid(worker_cache->worker, reason);
    }
    if (status == STATUS_OK && worker_cache->cache != NULL) {
        cache_keep(worker_cache->cache, &key, reply.data, reply.bytes);
    }
    buffer_free(&reply);
    return status;
}
