// See build_context.h.
#include "server/build/ask/build_context.h"

#include "core/base/check.h"

#include <stdarg.h>
#include <stdio.h>

Status context_fail(const BuildContext *context, Status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(context->reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return status;
}

// The request is in `written` if it had to be written.
static Status write_request(const BuildContext *context, WorkerQuestion *question, Buffer *written)
{
    if (question->write == NULL) {
        return STATUS_OK;
    }
    const Status status = question->write(question->user, written);
    question->request = written->data;
    question->request_bytes = written->bytes;
    if (status == STATUS_OK && written->status != STATUS_OK) {
        return context_fail(context, STATUS_LIMIT,
                            "more than %u MB are too much for the build worker, or memory ran out",
                            WORKER_REQUEST_MAX >> 20);
    }
    return status;
}

static CacheKey key_of(const WorkerQuestion *question)
{
    CacheKeyMaker maker = cache_key_begin("worker");
    cache_key_add_u32(&maker, question->op);
    cache_key_add(&maker, question->request, question->request_bytes);
    return cache_key_end(&maker);
}

static bool is_known(const BuildContext *context, const CacheKey *key, WorkerQuestion *question)
{
    Buffer reply = buffer_of(CACHE_VALUE_BYTES_MAX);
    question->was_cached = context->cache != NULL && !context->force &&
                           cache_find(context->cache, key, &reply) &&
                           question->read(question->user, STATUS_OK, &reply) == STATUS_OK;
    buffer_free(&reply);
    return question->was_cached;
}

static Status ask_worker(const BuildContext *context, const CacheKey *key,
                         const WorkerQuestion *question)
{
    Buffer reply = {0};
    Status status = worker_call(context->worker, question->op, question->request,
                                question->request_bytes, &reply, context->reason);
    const bool has_answer = status == STATUS_OK || (status == STATUS_MALFORMED &&
                                                    question->answers_failure && reply.bytes > 0);
    const Status taken = has_answer ? question->read(question->user, status, &reply) : STATUS_OK;
    if (taken == STATUS_MALFORMED) {
        status = worker_reply_invalid(context->worker, context->reason);
    } else if (taken != STATUS_OK) {
        status = taken;
    }
    if (status == STATUS_OK && context->cache != NULL) {
        cache_keep(context->cache, key, reply.data, reply.bytes);
    }
    buffer_free(&reply);
    return status;
}

Status context_ask(const BuildContext *context, WorkerQuestion *question)
{
    ASSERT(context->worker != NULL && question->op < WORKER_OP_COUNT);
    CacheKey key = {0};
    if (question->key != NULL) {
        key = *question->key;
        if (is_known(context, &key, question)) {
            return STATUS_OK;
        }
    }
    Buffer written = buffer_of(WORKER_REQUEST_MAX);
    Status status = write_request(context, question, &written);
    if (status == STATUS_OK && question->key == NULL && context->cache != NULL) {
        key = key_of(question);
    }
    if (status == STATUS_OK && (question->key != NULL || !is_known(context, &key, question))) {
        status = ask_worker(context, &key, question);
    }
    buffer_free(&written);
    return status;
}

bool context_key(const BuildContext *context, WorkerQuestion *question, CacheKey *out)
{
    Buffer written = buffer_of(WORKER_REQUEST_MAX);
    const bool is_written = write_request(context, question, &written) == STATUS_OK;
    if (is_written) {
        *out = key_of(question);
    }
    buffer_free(&written);
    return is_written;
}
