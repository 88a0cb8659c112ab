// See worker_stream.h, and worker_op.h for what ops call.
#define _GNU_SOURCE
#include "server/build/inside/worker_stream.h"

#include "core/base/byte_values.h"
#include "server/build/inside/worker_op.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROGRESS_NS 50000000ull

static bool is_process; // worker_progress sends only in the worker process
static uint64_t progress_ns;

void stream_enable_progress(void)
{
    is_process = true;
}

// False at the end of the stream.
bool stream_read(void *out, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        const ssize_t got = read(WORKER_DESCRIPTOR, (uint8_t *)out + at, bytes - at);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        at += got > 0 ? (size_t)got : 0;
    }
    return true;
}

// If the other side is gone there is nothing left to do.
static void write_all(const void *data, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        const ssize_t sent =
            send(WORKER_DESCRIPTOR, (const uint8_t *)data + at, bytes - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            _exit(1);
        }
        at += sent > 0 ? (size_t)sent : 0;
    }
}

void stream_write(WorkerKind kind, const void *head, size_t head_bytes, const void *body,
                  size_t body_bytes)
{
    uint8_t header[WORKER_HEADER_BYTES];
    const uint64_t bytes = head_bytes + body_bytes;
    header[0] = (uint8_t)kind;
    bytes_put_u32(header + 1, (uint32_t)bytes);
    bytes_put_u32(header + 5, (uint32_t)(bytes >> 32));
    write_all(header, sizeof header);
    write_all(head, head_bytes);
    write_all(body, body_bytes);
}

Status worker_refuse(WorkerCall *call, Status status, const char *why)
{
    snprintf(call->reason, sizeof call->reason, "%s", why);
    return status;
}

void worker_progress(uint32_t done, uint32_t total)
{
    const uint64_t now = clock_ns();
    if (!is_process || now - progress_ns < PROGRESS_NS) {
        return;
    }
    progress_ns = now;
    uint8_t body[8];
    bytes_put_u32(body, done);
    bytes_put_u32(body + 4, total);
    stream_write(WORKER_PROGRESS, body, sizeof body, NULL, 0);
}
