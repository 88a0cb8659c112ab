// The outside of the build worker: starts it, sends it requests, and checks everything it answers.
// After anything but a valid answer the process is ended.
#define _GNU_SOURCE
#include "server/build/ask/worker.h"

#include "core/base/byte_values.h"
#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/ask/worker_frame.h"
#include "server/sys/child.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true // the sanitizers need the whole address space
#else
#define SANITIZED false
#endif

typedef enum WorkerRank { RANK_FIRST, RANK_TEXT, RANK_MEDIA } WorkerRank; // worker_op.def

static const WorkerRank ranks[WORKER_OP_COUNT] = {
#define WORKER_OP(name, function, rank) RANK_##rank,
#include "server/build/ask/worker_op.def"
#undef WORKER_OP
};

struct Worker {
    WorkerRank rank; // of the requests this process has had
    bool was_asked;
    WorkerConfig config;
    Child child;
    uint32_t layers;
    bool archives; // libarchive is loaded in it, so it can read tars
};

// --- create and destroy -------------------------------------------------------------------------

WorkerConfig worker_config_default(void)
{
    return (WorkerConfig){.memory_bytes_max = SANITIZED ? 0 : WORKER_MEMORY_BYTES,
                          .quiet_ms = WORKER_QUIET_MS};
}

Status worker_create(const WorkerConfig *config, Worker **out)
{
    Worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL) {
        return STATUS_LIMIT;
    }
    worker->config = *config;
    worker->child = child_none();
    *out = worker;
    return STATUS_OK;
}

// Ends the process and returns its exit status.
static int end_process(Worker *worker)
{
    worker->layers = 0;
    worker->rank = RANK_FIRST;
    worker->was_asked = false;
    return child_end(&worker->child);
}

void worker_destroy(Worker *worker)
{
    if (worker != NULL) {
        (void)end_process(worker);
        free(worker);
    }
}

void worker_watch(Worker *worker, const atomic_bool *cancel,
                  void (*progress)(void *user, uint32_t done, uint32_t total), void *user)
{
    worker->config.cancel = cancel;
    worker->config.progress = progress;
    worker->config.user = user;
}

pid_t worker_pid(const Worker *worker)
{
    return child_runs(&worker->child) ? worker->child.process.pid : 0;
}

uint32_t worker_layers(const Worker *worker)
{
    return worker->layers;
}

// --- failing ------------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static Status fail_call(Worker *worker, char *reason,
                                                              const char *format, ...)
{
    (void)end_process(worker);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return STATUS_BLOCKED;
}

// The stream has ended.
static Status explain_death(Worker *worker, char *reason)
{
    const int code = end_process(worker);
    if (code == 128 + SIGKILL) {
        return fail_call(worker, reason,
                         "the build worker was killed, by hand or because memory ran out");
    }
    if (code > 128) {
        return fail_call(worker, reason, "the build worker crashed (%s)", strsignal(code - 128));
    }
    if (code == 127) {
        return fail_call(worker, reason, "the build worker could not be started");
    }
    return fail_call(worker, reason, "the build worker ended by itself (exit code %d)", code);
}

static Status answered(Worker *worker, char *reason, const char *what)
{
    return fail_call(worker, reason, "the build worker answered %s and was ended", what);
}

Status worker_reply_invalid(Worker *worker, char reason[WORKER_REASON_BYTES])
{
    return answered(worker, reason, "nonsense");
}

// --- starting -----------------------------------------------------------------------------------

static void put_u64(uint8_t *out, uint64_t value)
{
    bytes_put_u32(out, (uint32_t)value);
    bytes_put_u32(out + 4, (uint32_t)(value >> 32));
}

static Status start(Worker *worker, char *reason)
{
    static const char *const arguments[] = {"sandlot", "build-worker", NULL};
    const ProcessConfig config = {
        .program = worker->config.program, .arguments = arguments, .outlives_thread = true};
    const Status status = child_start(&worker->child, config, false);
    if (status != STATUS_OK) {
        return fail_call(worker, reason, "the build worker could not be started: %s",
                         status == STATUS_BLOCKED ? strerror(errno) : status_text(status));
    }
    uint8_t hello[WORKER_HELLO_BYTES];
    hello[0] = (uint8_t)((worker->config.allow_weak_jail ? WORKER_HELLO_WEAK : 0) |
                         (worker->archives ? WORKER_HELLO_ARCHIVES : 0));
    put_u64(hello + 1, worker->config.memory_bytes_max);
    // So few bytes always fit into a new stream. If the process is gone already, the call notices.
    (void)!send(worker->child.stream, hello, sizeof hello, MSG_NOSIGNAL | MSG_DONTWAIT);
    return STATUS_OK;
}

// --- what comes in ------------------------------------------------------------------------------

typedef struct Call {
    Worker *worker;
    ChildMessage result;
    char refusal[WORKER_REASON_BYTES]; // why it cannot lock itself in
} Call;

// The first message, and only the first, is READY or REFUSED.
static uint64_t body_max(void *user, uint8_t kind, uint64_t bytes)
{
    const Call *call = user;
    const bool is_first = kind == WORKER_READY || kind == WORKER_REFUSED;
    if (is_first != (call->worker->layers == 0)) {
        return 0;
    }
    switch (kind) {
    case WORKER_READY:
        return bytes == 4 ? 4 : 0;
    case WORKER_PROGRESS:
        return bytes == 8 ? 8 : 0;
    case WORKER_REFUSED:
        return WORKER_REASON_BYTES - 1;
    case WORKER_RESULT:
        return WORKER_RESULT_HEAD_MAX + (uint64_t)WORKER_REPLY_MAX;
    default:
        return 0;
    }
}

// The worker's text for people: one line of UTF-8.
static void take_text(const uint8_t *bytes, size_t count, char *reason)
{
    size_t at = 0;
    while (at < count) {
        const size_t length = utf8_length(bytes + at, count - at);
        if (length > 0 && !utf8_has_control(bytes + at, length)) {
            memcpy(reason + at, bytes + at, length);
            at += length;
        } else {
            reason[at++] = ' ';
        }
    }
    reason[count] = '\0';
}

static ChildStep take_message(void *user, ChildMessage *message)
{
    Call *call = user;
    const WorkerConfig *config = &call->worker->config;
    ByteReader reader = byte_reader(message->body, message->bytes);
    uint32_t done;
    switch (message->kind) {
    case WORKER_READY:
        call->worker->layers = byte_read_u32(&reader);
        return call->worker->layers != 0 ? CHILD_GO_ON : CHILD_NONSENSE;
    case WORKER_REFUSED:
        take_text(message->body, message->bytes, call->refusal);
        return CHILD_STOP;
    case WORKER_PROGRESS:
        done = byte_read_u32(&reader);
        if (config->progress != NULL) {
            config->progress(config->user, done, byte_read_u32(&reader));
        }
        return CHILD_GO_ON;
    default:
        call->result = *message;
        message->body = NULL;
        return CHILD_DONE;
    }
}

// --- a call -------------------------------------------------------------------------------------

static Status explain(Worker *worker, const Call *call, const ChildCall *child, ChildResult result,
                      char *reason)
{
    switch (result) {
    case CHILD_ANSWERED:
        return STATUS_OK;
    case CHILD_DIED:
        return explain_death(worker, reason);
    case CHILD_CANCELLED:
        (void)fail_call(worker, reason, "cancelled");
        return STATUS_DENIED;
    case CHILD_QUIET:
        return fail_call(worker, reason,
                         "the build worker gave no sign of progress for %g s and was ended",
                         worker->config.quiet_ms / 1000.0);
    case CHILD_LATE:
        return fail_call(worker, reason, "the build worker took more than %d minutes and was ended",
                         WORKER_CALL_MS / 60000);
    case CHILD_INVALID:
        return answered(worker, reason, child->invalid);
    case CHILD_STOPPED:
        return fail_call(worker, reason, "the build worker cannot lock itself in: %.400s",
                         call->refusal);
    case CHILD_NO_MEMORY:
        break;
    }
    return fail_call(worker, reason, "no memory is left for the build worker's answer");
}

// u32 status, block reason; the rest is moved to the front and is the op's.
static Status open_result(Worker *worker, Buffer *result, char *reason)
{
    ByteReader reader = byte_reader(result->data, result->bytes);
    const uint32_t status = byte_read_u32(&reader);
    const uint32_t text_bytes = byte_read_u32(&reader);
    const uint8_t *text =
        text_bytes < WORKER_REASON_BYTES ? byte_read_bytes(&reader, text_bytes) : NULL;
    if (reader.status != STATUS_OK || text_bytes >= WORKER_REASON_BYTES || status >= STATUS_COUNT) {
        return answered(worker, reason, "nonsense");
    }
    take_text(text, text_bytes, reason);
    result->bytes -= reader.at;
    memmove(result->data, result->data + reader.at, result->bytes);
    const bool is_ours = status == STATUS_BLOCKED || status == STATUS_DENIED;
    return is_ours ? STATUS_MALFORMED : (Status)status;
}

Status worker_call(Worker *worker, WorkerOp op, const void *request, size_t bytes, Buffer *reply,
                   char reason[WORKER_REASON_BYTES])
{
    ASSERT(op < WORKER_OP_COUNT);
    *reply = buffer_of(WORKER_RESULT_HEAD_MAX + (size_t)WORKER_REPLY_MAX);
    reason[0] = '\0';
    if (bytes > WORKER_REQUEST_MAX) {
        snprintf(reason, WORKER_REASON_BYTES, "more than %u MB are too much for the build worker",
                 WORKER_REQUEST_MAX >> 20);
        return STATUS_LIMIT;
    }
    child_drop_stale(&worker->child);
    if (!child_runs(&worker->child) || ranks[op] < worker->rank ||
        (ranks[op] == RANK_FIRST && worker->was_asked)) {
        (void)end_process(worker);
    }
    if (op == WORKER_UNPACK && !worker->archives) {
        (void)end_process(
            worker); // most workers never unpack anything and start faster without libarchive
        worker->archives = true;
    }
    Status status = child_runs(&worker->child) ? STATUS_OK : start(worker, reason);
    if (status != STATUS_OK) {
        return status;
    }
    worker->rank = ranks[op];
    worker->was_asked = true;
    uint8_t head[WORKER_REQUEST_HEAD_BYTES];
    bytes_put_u32(head, (uint32_t)op);
    put_u64(head + 4, bytes);
    Call call = {.worker = worker};
    ChildCall child = {.parts = {head, request},
                       .part_bytes = {sizeof head, bytes},
                       .quiet_ms = worker->config.quiet_ms,
                       .call_ms = WORKER_CALL_MS,
                       .cancel = worker->config.cancel,
                       .body_max = body_max,
                       .take = take_message,
                       .user = &call};
    const ChildResult result = child_call(&worker->child, &child);
    reply->data = call.result.body;
    reply->bytes = reply->capacity = call.result.body != NULL ? call.result.bytes : 0;
    status = explain(worker, &call, &child, result, reason);
    if (status == STATUS_OK) {
        status = open_result(worker, reply, reason);
    }
    if (status == STATUS_BLOCKED || status == STATUS_DENIED) {
        buffer_free(reply);
    }
    return status;
}
