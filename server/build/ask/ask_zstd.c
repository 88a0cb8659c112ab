// See ask_zstd.h.
#include "server/build/ask/ask_zstd.h"

#include "core/base/check.h"
#include "server/build/ask/build_context.h"

#include <string.h>

typedef struct Answer {
    uint8_t *out;
    size_t capacity, *made;
} Answer;

static Status read_answer(void *user, Status said, const Buffer *reply)
{
    const Answer *answer = user;
    (void)said;
    if (reply->bytes > answer->capacity) {
        return STATUS_MALFORMED;
    }
    if (reply->bytes > 0) {
        memcpy(answer->out, reply->data, reply->bytes);
    }
    *answer->made = reply->bytes;
    return STATUS_OK;
}

static Status ask(Worker *worker, WorkerOp op, const Buffer *request, Answer answer)
{
    char reason[WORKER_REASON_BYTES];
    const BuildContext context = {.worker = worker, .reason = reason};
    WorkerQuestion question = {.op = op,
                               .request = request->data,
                               .request_bytes = request->bytes,
                               .read = read_answer,
                               .user = &answer};
    return request->status != STATUS_OK ? STATUS_LIMIT : context_ask(&context, &question);
}

Status zstd_ask(Worker *worker, const uint8_t *bytes, size_t count, uint8_t *out, size_t capacity,
                size_t *made)
{
    Buffer request = buffer_of(2 * ASK_ZSTD_BYTES_MAX);
    buffer_put(&request, bytes, count);
    const Status status = ask(worker, WORKER_ZSTD, &request, (Answer){out, capacity, made});
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
    const Status status = ask(worker, WORKER_UNZSTD, &request, (Answer){out, capacity, made});
    buffer_free(&request);
    return status;
}
