// What every question to the worker needs: the worker, the cache of its answers, and where to
// report what went wrong. The same question to the same program has the same answer, so an
// unchanged place need not start a process to ask again.
#pragma once

#include "server/build/ask/worker.h"
#include "server/build/base/diagnostic.h"
#include "server/build/cache/cache.h"

typedef struct BuildContext {
    Worker *worker;
    BuildCache *cache;           // NULL: nothing is kept
    bool force;                  // ask again, whatever is kept
    DiagnosticList *diagnostics; // a creator's mistakes; where a question has any to tell
    char *reason;                // WORKER_REASON_BYTES: why something failed, for people
} BuildContext;

// Fills the reason and gives the status.
Status context_fail(const BuildContext *context, Status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct WorkerQuestion {
    WorkerOp op;
    // Of all that the answer depends on; NULL: the request's own bytes. With a key the request is
    // written only if the answer is not known.
    const CacheKey *key;
    const void *request;
    size_t request_bytes;
    // In place of `request`, where it has to be written first. STATUS_OK: it is. Others end the
    // question, with that status.
    Status (*write)(void *user, Buffer *request);
    // Looks at an answer, which may be any bytes, and takes what it needs of it. `said` is
    // STATUS_OK; with `answers_failure` also STATUS_MALFORMED, if the op answered.
    // STATUS_MALFORMED: it is no answer to this question, and nothing was taken. Others (for want
    // of memory, say) end the question with that status.
    Status (*read)(void *user, Status said, const Buffer *reply);
    void *user;
    bool answers_failure;
    bool was_cached; // filled in
} WorkerQuestion;

// STATUS_OK: an answer was taken, and is kept for the next time. Otherwise as worker_call. An
// answer of another form ends the process: STATUS_BLOCKED.
MUST_USE Status context_ask(const BuildContext *context, WorkerQuestion *question);
// For an answer that is known without asking: under which key it is to be kept. False: the question
// cannot be written.
MUST_USE bool context_key(const BuildContext *context, WorkerQuestion *question, CacheKey *out);
