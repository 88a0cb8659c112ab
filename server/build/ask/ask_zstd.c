// See ask_zstd.h.
#include "server/build/ask/ask_zstd.h"

#include "core/base/check.h"

#include <string.h>

static Status ask(Worker *worker, WorkerOp op, const Buffer *request, uint8_t *out, size_t capacity,
                  size_t *made)
{
    Buffer reply = {0};
    char reason[WORKER_REASON_BYTES];
    Status status = request->status != STATUS_OK
                        ? STATUS_LIMIT
                        : worker_call(worker, op, request->data, request->bytes, &reply, reason);
    if (status == STATUS_OK && reply.bytes > capacity) {
        status = worker_reply_invalid(worker, reason);
    }
    if (status == STATUS_OK) {
        memcpy(out, reply.data, reply.bytes);
        *made = reply.bytes;
    }
    buffer_free(&reply);
    return status;
}

Status zstd_ask(Worker *worker, const uint8_t *bytes, size_t count, uint8_t *out, size_t capacity,
                size_t *made)
{
    Buffer request = buffer_of(2 * ASK_ZSTD_BYTES_MAX);
    buffer_put(&request, bytes, count);
    const Status status = ask(worker, WORKER_ZSTD, &request, out, capacity, made);
    buffer_free(&request);
    return status;
}

Status unzstd_ask(Worker *worker, const uint8_t *bytes, size_t count, uint8_t *out, size_t capacity,
                  size_t *made)
{
    Buffer request = buffer_of(2 * ASK_ZSTD_BYTES_MAX);
    ASSERT(capacity <= ASK_ZSTD_BYTES_MAX);
    buffer_put_u32(&request, (uint32_t)capacity);
    buffer_put(&request, bytes, count);
    const Status status = ask(worker, WORKER_UNZSTD, &request, out, capacity, made);
    buffer_free(&request);
    return status;
}
