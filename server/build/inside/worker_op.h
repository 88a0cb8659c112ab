// Inside the build worker: the functions that answer requests. An op reads its request, which may
// be any bytes, and writes its reply. It runs in the jail and may take long as long as it reports
// progress. It must not keep anything: the next request comes to the same process.
#pragma once

#include "core/base/bytes.h"
#include "server/build/ask/worker.h"
#include "server/build/base/buffer.h"

typedef struct WorkerCall {
    ByteReader request;
    Buffer reply;
    char reason[WORKER_REASON_BYTES]; // when it fails: for people, names file and rule
} WorkerCall;

// STATUS_BLOCKED and STATUS_DENIED reach the caller as STATUS_MALFORMED, because those two are
// about the worker itself.
typedef Status (*WorkerFunction)(WorkerCall *call);
// Writes the reason and returns the status.
Status worker_refuse(WorkerCall *call, Status status, const char *why);
// Reports progress to the other side; cheap enough for any loop (it sends at most every 50 ms).
void worker_progress(uint32_t done, uint32_t total);

// Answers a request as the process does: any op, any bytes. Fills `call`; free its reply.
Status worker_answer(uint32_t op, const uint8_t *request, size_t bytes, WorkerCall *call);

// The process itself, called by `sandlot build-worker`. Descriptor 3 is the stream.
int worker_main(void);

#define WORKER_OP(name, function, rank) Status function(WorkerCall *call);
#include "server/build/ask/worker_op.def"
#undef WORKER_OP
