// Inside the build worker: what a request is answered with. An op reads its request, which may be
// any bytes at all, and writes its reply; it runs locked in and may take as long as it shows
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

// A status of STATUS_BLOCKED or STATUS_DENIED reaches the caller as STATUS_MALFORMED: those two say
// something about the worker.
typedef Status (*WorkerFunction)(WorkerCall *call);
// Fills the reason and gives the status.
Status worker_refuse(WorkerCall *call, Status status, const char *why);
// Tells the other side; quick enough to call in any loop (it says nothing more often than every
// 50 ms).
void worker_progress(uint32_t done, uint32_t total);

// Answers a request as the process does: any op, any bytes. `call` is filled; free its reply.
Status worker_answer(uint32_t op, const uint8_t *request, size_t bytes, WorkerCall *call);

// The process itself: `sandlot build-worker` calls it. Descriptor 3 is the stream.
int worker_main(void);

#define WORKER_OP(name, function, rank) Status function(WorkerCall *call);
#include "server/build/ask/worker_op.def"
#undef WORKER_OP
