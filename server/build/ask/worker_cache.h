// The worker, together with what it has answered before: the same question to the same program has
// the same answer, so an unchanged place need not start a process to ask again.
#pragma once

#include "server/build/cache/cache.h"
#include "server/build/ask/worker.h"

typedef struct Asker {
    Worker *worker;
    BuildCache *cache; // NULL: nothing is kept
    bool force;        // ask again, whatever is kept
} Asker;

// Looks at an answer, which may be any bytes, and takes what it needs of it. STATUS_MALFORMED: it
// is no answer to this question, and nothing was taken.
typedef Status (*AskerTake)(void *user, const Buffer *reply);

// STATUS_OK: an answer was taken, which is kept for the next time. Otherwise as worker_call.
MUST_USE Status asker_call(const Asker *asker, WorkerOp op, const void *request, size_t bytes,
                           AskerTake take, void *user, char reason[WORKER_REASON_BYTES]);
