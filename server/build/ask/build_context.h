// What every question to the worker needs: the worker, the cache of its answers, and where to
// report what went wrong. The same question to the same program has the same answer, so an
// unchanged place need not start a process to ask again.
#pragma once

#include "server/build/ask/worker.h"
#include "server/build/base/diagnostic.h"
#include "server/build/cache/cache.h"

typedef struct BuildContext {
    Worker *worker;
    BuildCache *cache;           // NULL: answers are not cached
    bool force;                  // ask again even if the answer is cached
    DiagnosticList *diagnostics; // mistakes of the creator are added here
    char *reason;                // WORKER_REASON_BYTES: why something failed, for people
} BuildContext;

// Writes the reason and returns the status.
Status context_fail(const BuildContext *context, Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct WorkerQuestion {
    WorkerOp op;
    // Hash of everything the answer depends on; NULL: of the request's bytes. With a key, the
    // request is written only if the answer is not cached.
    const CacheKey *key;
    const void *request;
    size_t request_bytes;
    // Instead of `request`: writes it when it is needed. A status other than STATUS_OK ends the
    // question and is returned.
    Status (*write)(void *user, Buffer *request);
    // Checks an answer, which may be any bytes, and takes what it needs from it. `said` is
    // STATUS_OK; with `answers_failure` also STATUS_MALFORMED, if the op answered. Return
    // STATUS_MALFORMED if it does not answer this question; then nothing must be taken. Another
    // status (out of memory, say) ends the question and is returned.
    Status (*read)(void *user, Status said, const Buffer *reply);
    void *user;
    bool answers_failure;
    bool was_cached; // filled in
} WorkerQuestion;

// STATUS_OK: an answer was taken and is cached. Otherwise as worker_call. An invalid answer ends
// the worker process: STATUS_BLOCKED.
MUST_USE Status context_ask(const BuildContext *context, WorkerQuestion *question);
// The key under which an answer is to be cached that is known without asking. False: the request
// cannot be written.
MUST_USE bool context_key(const BuildContext *context, WorkerQuestion *question, CacheKey *out);
