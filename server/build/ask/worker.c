// The outside of the build worker: starts it, talks to it, and trusts nothing it says. Every call
// is one loop around poll, so that a worker which is silent, dead, stopped or talks too much is
// noticed wherever it is; after anything but a good answer the process is ended.
#define _GNU_SOURCE
#include "server/build/ask/worker.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/ask/worker_frame.h"
#include "server/sys/clock.h"
#include "server/sys/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_MS     50 // how often the flag that cancels is looked at
#define PIECE_BYTES (64u << 10)
#define NS_PER_MS   1000000ull

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true // wants the whole address space
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
    WorkerRank rank; // of what the process has been asked
    bool was_asked;
    WorkerConfig config;
    Process process;
    int end; // our end of the stream; -1: none runs
    uint32_t layers;
    bool archives; // it has what tars are read with
};

// What goes out: the parts one after another.
typedef struct Outgoing {
    const uint8_t *parts[2];
    size_t bytes[2];
    uint32_t part;
    size_t at;
    bool is_done; // or nobody reads any more
} Outgoing;

// What comes in: one message after another.
typedef struct Incoming {
    uint8_t header[WORKER_HEADER_BYTES];
    uint32_t header_at;
    uint64_t left; // of the message's body
    uint8_t kind;  // 0: the header is not whole yet
    uint8_t small[WORKER_REASON_BYTES];
    size_t small_at;
    Buffer result;
    bool has_result;
} Incoming;

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
    worker->process = (Process){.pid_descriptor = -1};
    worker->end = -1;
    *out = worker;
    return STATUS_OK;
}

// Ends it, and gives how it ended: one that is dead already keeps its own code.
static int end(Worker *worker)
{
    int code = 0;
    process_kill(&worker->process, SIGKILL);
    process_wait(&worker->process, &code);
    if (worker->end >= 0) {
        close(worker->end);
    }
    worker->end = -1;
    worker->layers = 0;
    worker->rank = RANK_FIRST;
    worker->was_asked = false;
    return code;
}

void worker_end(Worker *worker)
{
    (void)end(worker); // it was alive and well: nobody asks how it ended
}

void worker_destroy(Worker *worker)
{
    if (worker != NULL) {
        worker_end(worker);
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
    return worker->end >= 0 ? worker->process.pid : 0;
}

uint32_t worker_layers(const Worker *worker)
{
    return worker->layers;
}

// --- failing ------------------------------------------------------------------------------------

__attribute__((format(printf, 3, 4))) static Status fail(Worker *worker, char *reason,
                                                         const char *format, ...)
{
    worker_end(worker);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return STATUS_BLOCKED;
}

// The stream has ended.
static Status died(Worker *worker, char *reason)
{
    const int code = end(worker);
    if (code == 128 + SIGKILL) {
        return fail(worker, reason,
                    "the build worker was killed, by hand or because memory ran out");
    }
    if (code > 128) {
        return fail(worker, reason, "the build worker crashed (%s)", strsignal(code - 128));
    }
    if (code == 127) {
        return fail(worker, reason, "the build worker could not be started");
    }
    return fail(worker, reason, "the build worker ended by itself (exit code %d)", code);
}

static Status rubbish(Worker *worker, char *reason, const char *what)
{
    return fail(worker, reason, "the build worker answered %s and was ended", what);
}

Status worker_reply_invalid(Worker *worker, char reason[WORKER_REASON_BYTES])
{
    return rubbish(worker, reason, "nonsense");
}

// --- starting -----------------------------------------------------------------------------------

static void put_u32(uint8_t *out, uint32_t value)
{
    for (uint32_t i = 0; i < 4; i++) {
        out[i] = (uint8_t)(value >> (8 * i));
    }
}

static void put_u64(uint8_t *out, uint64_t value)
{
    put_u32(out, (uint32_t)value);
    put_u32(out + 4, (uint32_t)(value >> 32));
}

static Status start(Worker *worker, char *reason)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail(worker, reason, "the build worker could not be started: %s", strerror(errno));
    }
    static const char *const arguments[] = {"sandlot", "build-worker", NULL};
    const ProcessConfig config = {.program = worker->config.program,
                                  .arguments = arguments,
                                  .descriptors = {ends[1]},
                                  .descriptor_count = 1,
                                  .outlives_thread = true};
    const Status status = process_start(&config, &worker->process);
    close(ends[1]);
    worker->end = ends[0];
    if (status != STATUS_OK) {
        return fail(worker, reason, "the build worker could not be started: %s",
                    status_text(status));
    }
    uint8_t hello[WORKER_HELLO_BYTES];
    hello[0] = (uint8_t)((worker->config.allow_weak_jail ? WORKER_HELLO_WEAK : 0) |
                         (worker->archives ? WORKER_HELLO_ARCHIVES : 0));
    put_u64(hello + 1, worker->config.memory_bytes_max);
    // So few bytes always fit into a fresh stream; if it is gone already the call sees it.
    (void)!send(worker->end, hello, sizeof hello, MSG_NOSIGNAL | MSG_DONTWAIT);
    return STATUS_OK;
}

// One that died or spoke without being asked since the last call is replaced; nobody need know.
static void drop_stale(Worker *worker)
{
    struct pollfd look = {.fd = worker->end, .events = POLLIN};
    if (worker->end >= 0 && poll(&look, 1, 0) != 0) {
        worker_end(worker);
    }
}

// --- what comes in ------------------------------------------------------------------------------

static uint64_t body_max(uint8_t kind)
{
    switch (kind) {
    case WORKER_READY:
        return 4;
    case WORKER_PROGRESS:
        return 8;
    case WORKER_REFUSED:
        return WORKER_REASON_BYTES - 1;
    case WORKER_RESULT:
        return WORKER_RESULT_HEAD_MAX + (uint64_t)WORKER_REPLY_MAX;
    default:
        return 0;
    }
}

static Status begin_message(Worker *worker, Incoming *in, char *reason)
{
    ByteReader reader = byte_reader(in->header, sizeof in->header);
    in->kind = byte_read_u8(&reader);
    in->left = byte_read_u64(&reader);
    in->header_at = 0;
    in->small_at = 0;
    const bool is_first = in->kind == WORKER_READY || in->kind == WORKER_REFUSED;
    const bool is_fixed = in->kind == WORKER_READY || in->kind == WORKER_PROGRESS;
    const uint64_t max = body_max(in->kind);
    if (max == 0 || is_first != (worker->layers == 0) || (is_fixed && in->left != max)) {
        return rubbish(worker, reason, "nonsense");
    }
    if (in->left > max) {
        return rubbish(worker, reason, "too much");
    }
    if (in->left == 0) {
        return rubbish(worker, reason, "nothing");
    }
    return STATUS_OK;
}

// The worker's words, for people: one line of UTF-8.
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

static Status end_message(Worker *worker, Incoming *in, char *reason)
{
    ByteReader reader = byte_reader(in->small, in->small_at);
    const uint8_t kind = in->kind;
    in->kind = 0;
    if (kind == WORKER_READY) {
        worker->layers = byte_read_u32(&reader);
        return worker->layers != 0 ? STATUS_OK : rubbish(worker, reason, "nonsense");
    }
    if (kind == WORKER_REFUSED) {
        char why[WORKER_REASON_BYTES];
        take_text(in->small, in->small_at, why);
        return fail(worker, reason, "the build worker cannot lock itself in: %.400s", why);
    }
    if (kind == WORKER_PROGRESS && worker->config.progress != NULL) {
        const uint32_t done = byte_read_u32(&reader);
        worker->config.progress(worker->config.user, done, byte_read_u32(&reader));
    }
    in->has_result = kind == WORKER_RESULT;
    return STATUS_OK;
}

static Status take_body(Worker *worker, Incoming *in, const uint8_t *bytes, size_t count,
                        char *reason)
{
    if (in->kind == WORKER_RESULT) {
        buffer_put(&in->result, bytes, count);
        if (in->result.status != STATUS_OK) {
            return fail(worker, reason, "no memory is left for the build worker's answer");
        }
    } else {
        memcpy(in->small + in->small_at, bytes, count); // fits: body_max
        in->small_at += count;
    }
    in->left -= count;
    return in->left == 0 ? end_message(worker, in, reason) : STATUS_OK;
}

static Status take(Worker *worker, Incoming *in, const uint8_t *bytes, size_t count, char *reason)
{
    Status status = STATUS_OK;
    size_t at = 0;
    while (status == STATUS_OK && at < count) {
        if (in->has_result) {
            return rubbish(worker, reason, "more than it was asked");
        }
        if (in->kind == 0) {
            in->header[in->header_at++] = bytes[at++];
            if (in->header_at == sizeof in->header) {
                status = begin_message(worker, in, reason);
            }
            continue;
        }
        const size_t piece = in->left < count - at ? (size_t)in->left : count - at;
        status = take_body(worker, in, bytes + at, piece, reason);
        at += piece;
    }
    return status;
}

// --- a call -------------------------------------------------------------------------------------

// True if something went out.
static bool send_some(const Worker *worker, Outgoing *out)
{
    const size_t left = out->bytes[out->part] - out->at;
    const ssize_t sent =
        send(worker->end, out->parts[out->part] + out->at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        // Gone: why, the reading side learns.
        out->is_done = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
        return false;
    }
    out->at += (size_t)sent;
    while (!out->is_done && out->at == out->bytes[out->part]) {
        out->at = 0;
        out->is_done = ++out->part == 2;
    }
    return true;
}

static Status exchange(Worker *worker, Outgoing *out, Incoming *in, uint8_t *piece, char *reason)
{
    const uint64_t began = clock_ns();
    uint64_t sign = began;
    while (!in->has_result) {
        const uint64_t now = clock_ns();
        if (worker->config.cancel != NULL && atomic_load(worker->config.cancel)) {
            worker_end(worker);
            snprintf(reason, WORKER_REASON_BYTES, "cancelled");
            return STATUS_DENIED;
        }
        if (now - sign > worker->config.quiet_ms * NS_PER_MS) {
            return fail(worker, reason,
                        "the build worker gave no sign of progress for %g s and was ended",
                        worker->config.quiet_ms / 1000.0);
        }
        if (now - began > WORKER_CALL_MS * NS_PER_MS) {
            return fail(worker, reason, "the build worker took more than %d minutes and was ended",
                        WORKER_CALL_MS / 60000);
        }
        struct pollfd look = {.fd = worker->end,
                              .events = (short)(POLLIN | (out->is_done ? 0 : POLLOUT))};
        if (poll(&look, 1, LOOK_MS) <= 0) {
            continue;
        }
        if ((look.revents & POLLOUT) != 0 && !out->is_done && send_some(worker, out)) {
            sign = clock_ns();
        }
        if ((look.revents & (POLLIN | POLLHUP | POLLERR)) == 0) {
            continue;
        }
        const ssize_t got = recv(worker->end, piece, PIECE_BYTES, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            return died(worker, reason);
        }
        if (got > 0) {
            sign = clock_ns();
            const Status status = take(worker, in, piece, (size_t)got, reason);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return out->is_done ? STATUS_OK : rubbish(worker, reason, "before it was asked");
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
        return rubbish(worker, reason, "nonsense");
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
    drop_stale(worker);
    if (ranks[op] < worker->rank || (ranks[op] == RANK_FIRST && worker->was_asked)) {
        worker_end(worker);
    }
    if (op == WORKER_UNPACK && !worker->archives) {
        worker_end(worker); // most never unpack anything, and start more quickly without
        worker->archives = true;
    }
    Status status = worker->end < 0 ? start(worker, reason) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    worker->rank = ranks[op];
    worker->was_asked = true;
    uint8_t head[WORKER_REQUEST_HEAD_BYTES];
    put_u32(head, (uint32_t)op);
    put_u64(head + 4, bytes);
    Outgoing out = {.parts = {head, request}, .bytes = {sizeof head, bytes}};
    Incoming in = {.result = *reply};
    uint8_t *piece = malloc(PIECE_BYTES);
    status = piece != NULL ? exchange(worker, &out, &in, piece, reason)
                           : fail(worker, reason, "out of memory");
    free(piece);
    if (status == STATUS_OK) {
        status = open_result(worker, &in.result, reason);
    }
    if (status == STATUS_BLOCKED || status == STATUS_DENIED) {
        buffer_free(&in.result);
    }
    *reply = in.result;
    return status;
}
