// The framing between the two sides of the build worker (worker.h draws it). Only worker.c and
// worker_main.c include it.
#pragma once

#include "server/build/ask/worker.h"

#define WORKER_DESCRIPTOR         3
#define WORKER_HELLO_BYTES        9                         // u8 flags, u64 memory_bytes_max
#define WORKER_HELLO_WEAK         1                         // a flag: go on with a weak jail
#define WORKER_HELLO_ARCHIVES     2                         // and: will read tars
#define WORKER_REQUEST_HEAD_BYTES 12                        // u32 op, u64 bytes
#define WORKER_HEADER_BYTES       9                         // u8 kind, u64 bytes
#define WORKER_RESULT_HEAD_MAX    (8 + WORKER_REASON_BYTES) // u32 status, block reason

typedef enum WorkerKind {
    WORKER_READY = 1,
    WORKER_PROGRESS,
    WORKER_RESULT,
    WORKER_REFUSED,
} WorkerKind;
