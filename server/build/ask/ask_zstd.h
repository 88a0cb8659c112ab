// What WORKER_ZSTD and WORKER_UNZSTD are asked: to pack a few bytes, and to unpack what anybody may
// have packed.
//
//   WORKER_ZSTD     request: the bytes                        reply: one zstd frame
//   WORKER_UNZSTD   request: u32 most bytes, then the frame   reply: the bytes
#pragma once

#include "server/build/ask/worker.h"

#define ASK_ZSTD_BYTES_MAX (1u << 20)

// STATUS_MALFORMED: it is no frame, or more than fits. STATUS_BLOCKED: the worker failed.
MUST_USE Status zstd_ask(Worker *worker, const uint8_t *bytes, size_t count, uint8_t *out,
                         size_t capacity, size_t *made);
MUST_USE Status unzstd_ask(Worker *worker, const uint8_t *bytes, size_t count, uint8_t *out,
                           size_t capacity, size_t *made);
