// The worker, together with what it has answered before: the same question to the same program has
// the same answer, so an unchanged place need not start a process to ask again.
#pragma once

#include "server/build/ask/worker.h"
#include "server/build/cache/cache.h"

typedef struct WorkerCache {
    Worker *worker;
    BuildCache *cache; // NULL: nothing is kept
    bool force;        // ask again, whatever is kept
} WorkerCache;

// Looks at an answer, which may be any bytes, and takes what it needs of it. STATUS_MALFORMED: it
// is no answer to this question, and nothing was taken.
typedef Status (*WorkerReplyRead)(void *user, const Buffer *reply);

// STATUS_OK: an answer was taken, which is kept for the next time. Otherwise as worker_call.
MUST_USE Status worker_cache_call(const WorkerCache *worker_cache, WorkerOp op, const void *request,
                                  size_t bytes, WorkerReplyRead take, void *user,
                                  char reason[WORKER_REASON_BYTES]);
