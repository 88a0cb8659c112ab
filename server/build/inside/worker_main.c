// The build worker's own process. It locks itself in before it reads a byte that a stranger could
// have written, then answers one request after another and keeps nothing between them. It ends when
// the other side is gone: at once while it waits, and within a quarter of a second while it works,
// because a timer checks.
#define _GNU_SOURCE
#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "server/build/ask/worker_frame.h"
#include "server/build/inside/media/package_list.h"
#include "server/build/inside/worker_op.h"
#include "server/build/inside/worker_stream.h"
#include "server/sys/jail.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define LOOK_US        200000
#define DESCRIPTOR_MAX 64
#define DISCARD_BYTES  4096
#define LARGE_BYTES    (256 << 10)

// --- answering ----------------------------------------------------------------------------------

static const WorkerFunction functions[WORKER_OP_COUNT] = {
#define WORKER_OP(name, function, rank) function,
#include "server/build/ask/worker_op.def"
#undef WORKER_OP
};

Status worker_answer(uint32_t op, const uint8_t *request, size_t bytes, WorkerCall *call)
{
    *call =
        (WorkerCall){.request = byte_reader(request, bytes), .reply = buffer_of(WORKER_REPLY_MAX)};
    if (op >= WORKER_OP_COUNT) {
        snprintf(call->reason, sizeof call->reason, "the build worker has no request %u", op);
        return STATUS_UNSUPPORTED;
    }
    Status status = functions[op](call);
    ASSERT(status < STATUS_COUNT);
    if (call->reply.status != STATUS_OK) {
        buffer_free(&call->reply);
        if (status == STATUS_OK) {
            status = STATUS_LIMIT;
        }
        if (call->reason[0] == '\0') {
            snprintf(call->reason, sizeof call->reason,
                     "the result is too large, or the build worker has no more memory");
        }
    }
    if (status != STATUS_OK && call->reason[0] == '\0') {
        snprintf(call->reason, sizeof call->reason, "%s", status_text(status));
    }
    return status;
}

static void write_result(Status status, const char *reason, const Buffer *reply)
{
    uint8_t head[WORKER_RESULT_HEAD_MAX];
    const size_t text = strnlen(reason, WORKER_REASON_BYTES - 1);
    bytes_put_u32(head, (uint32_t)status);
    bytes_put_u32(head + 4, (uint32_t)text);
    memcpy(head + 8, reason, text);
    stream_write(WORKER_RESULT, head, 8 + text, reply->data, reply->bytes);
}

static bool discard(uint64_t bytes)
{
    uint8_t piece[DISCARD_BYTES];
    while (bytes > 0) {
        const size_t count = bytes < sizeof piece ? (size_t)bytes : sizeof piece;
        if (!stream_read(piece, count)) {
            return false;
        }
        bytes -= count;
    }
    return true;
}

// False when the other side is gone.
static bool serve(void)
{
    uint8_t head[WORKER_REQUEST_HEAD_BYTES];
    if (!stream_read(head, sizeof head)) {
        return false;
    }
    ByteReader reader = byte_reader(head, sizeof head);
    const uint32_t op = byte_read_u32(&reader);
    const uint64_t bytes = byte_read_u64(&reader);
    if (bytes > WORKER_REQUEST_MAX) {
        return false;
    }
    uint8_t *request = malloc((size_t)bytes + 1); // one more: malloc(0) may be NULL
    if (request == NULL) {
        const Buffer nothing = {0};
        if (!discard(bytes)) {
            return false;
        }
        write_result(STATUS_LIMIT, "the build worker has too little memory for this", &nothing);
        return true;
    }
    bool there = stream_read(request, (size_t)bytes);
    if (there) {
        WorkerCall call;
        const Status status = worker_answer(op, request, (size_t)bytes, &call);
        write_result(status, call.reason, &call.reply);
        buffer_free(&call.reply);
    }
    free(request);
    return there;
}

// --- the process --------------------------------------------------------------------------------

static void look(int number)
{
    (void)number;
    const int error = errno;
    struct pollfd end = {.fd = WORKER_DESCRIPTOR};
    if (poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLNVAL)) != 0) {
        _exit(1);
    }
    errno = error;
}

// The parent death signal that our other processes use does not work here: the jail's change of
// identity clears it, and it would come from a thread, not from the process.
static bool watch_other_side(void)
{
    struct sigaction action = {.sa_handler = look, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    const struct itimerval timer = {{0, LOOK_US}, {0, LOOK_US}};
    return sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0;
}

static Status lock_in(uint32_t *layers, char *reason, size_t bytes)
{
    uint8_t hello[WORKER_HELLO_BYTES];
    if (!stream_read(hello, sizeof hello)) {
        snprintf(reason, bytes, "the first message of the build is missing");
        return STATUS_TRUNCATED;
    }
    ByteReader reader = byte_reader(hello, sizeof hello);
    JailConfig jail = jail_config_default();
    const uint8_t flags = byte_read_u8(&reader);
    jail.allow_weak = (flags & WORKER_HELLO_WEAK) != 0;
    jail.memory_bytes_max = byte_read_u64(&reader);
    jail.descriptor_max = DESCRIPTOR_MAX;
    if ((flags & WORKER_HELLO_ARCHIVES) != 0) {
        (void)package_tar_open(); // must be before the jail; without it a tar is rejected with a
                                  // message
    }
    return jail_enter(&jail, layers, reason, bytes);
}

int worker_main(void)
{
    // Ctrl-C goes to every process of the terminal; the other side decides when the worker ends.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    int kind = 0;
    socklen_t kind_bytes = sizeof kind;
    if (getsockopt(WORKER_DESCRIPTOR, SOL_SOCKET, SO_TYPE, &kind, &kind_bytes) != 0 ||
        kind != SOCK_STREAM || !watch_other_side()) {
        fprintf(stderr, "sandlot: a build worker is started by a build, not by hand\n");
        return 1;
    }
    uint32_t layers = 0;
    char reason[WORKER_REASON_BYTES] = "";
    if (lock_in(&layers, reason, sizeof reason) != STATUS_OK) {
        stream_write(WORKER_REFUSED, reason, strlen(reason), NULL, 0);
        return 1;
    }
    uint8_t ready[4];
    bytes_put_u32(ready, layers);
    stream_write(WORKER_READY, ready, sizeof ready, NULL, 0);
    // Large blocks are mapped anew each time and unmapped after use. Otherwise the C library keeps
    // them and has to clear the many megabytes of each Vm, of which little is ever used.
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    stream_enable_progress();
    while (serve()) {
    }
    return 0;
}
