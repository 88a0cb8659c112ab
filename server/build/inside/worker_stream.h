// The worker's end of its stream. Apart from worker_main.c so that an op can report progress
// without being linked with the table of all ops.
#pragma once

#include "server/build/ask/worker_frame.h"

// From now on this process is the worker: progress is sent.
void stream_enable_progress(void);
MUST_USE bool stream_read(void *out, size_t bytes); // false at the end of the stream
void stream_write(WorkerKind kind, const void *head, size_t head_bytes, const void *body,
                  size_t body_bytes);
