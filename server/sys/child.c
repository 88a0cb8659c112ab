// See child.h.
#define _GNU_SOURCE
#include "server/sys/child.h"

#include "server/sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE_BYTES (64u << 10)

Child child_none(void)
{
    return (Child){.process = {.pid_descriptor = -1}, .stream = -1, .life = -1};
}

bool child_runs(const Child *child)
{
    return child->stream >= 0;
}

static void close_end(int *descriptor)
{
    if (*descriptor >= 0) {
        close(*descriptor);
    }
    *descriptor = -1;
}

Status child_start(Child *child, ProcessConfig config, bool has_life)
{
    int ends[2], life[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return STATUS_BLOCKED;
    }
    if (has_life && pipe2(life, O_CLOEXEC) != 0) {
        close(ends[0]);
        close(ends[1]);
        return STATUS_BLOCKED;
    }
    config.descriptors[0] = ends[1];
    config.descriptors[1] = life[0];
    config.descriptor_count = has_life ? 2 : 1;
    const Status status = process_start(&config, &child->process);
    close_end(&ends[1]);
    close_end(&life[0]);
    child->stream = ends[0];
    child->life = life[1];
    if (status != STATUS_OK) {
        const int error = errno;
        (void)child_end(child);
        errno = error;
    }
    return status;
}

int child_end(Child *child)
{
    int code = 0;
    process_kill(&child->process, SIGKILL);
    process_wait(&child->process, &code);
    close_end(&child->stream);
    close_end(&child->life);
    return code;
}

void child_drop_stale(Child *child)
{
    struct pollfd look = {.fd = child->stream, .events = POLLIN};
    if (child_runs(child) && poll(&look, 1, 0) != 0) {
        (void)child_end(child);
    }
}

// --- what comes in ------------------------------------------------------------------------------

// Received messages, one after another.
typedef struct Incoming {
    uint8_t header[CHILD_HEADER_BYTES];
    uint32_t header_at;
    bool has_header;
    uint64_t left; // of the message's body
    ChildMessage message;
    size_t capacity;
    ChildResult result; // once is_over
    bool is_over;
} Incoming;

static void finish_incoming(Incoming *in, ChildResult result)
{
    in->is_over = true;
    in->result = result;
}

static void refuse_answer(ChildCall *call, Incoming *in, const char *what)
{
    call->invalid = what;
    finish_incoming(in, CHILD_INVALID);
}

static void begin_message(ChildCall *call, Incoming *in)
{
    in->has_header = true;
    in->header_at = 0;
    in->left = 0;
    for (uint32_t i = 0; i < 8; i++) {
        in->left |= (uint64_t)in->header[1 + i] << (8 * i);
    }
    in->message.kind = in->header[0];
    in->message.bytes = 0;
    const uint64_t max = call->body_max(call->user, in->message.kind, in->left);
    if (max == 0) {
        refuse_answer(call, in, "nonsense");
    } else if (in->left > max) {
        refuse_answer(call, in, "too much");
    } else if (in->left == 0) {
        refuse_answer(call, in, "nothing");
    }
}

static void end_message(ChildCall *call, Incoming *in)
{
    in->has_header = false;
    const ChildStep step = call->take(call->user, &in->message);
    if (in->message.body == NULL) {
        in->capacity = 0; // the caller keeps it
    }
    if (step == CHILD_DONE) {
        finish_incoming(in, CHILD_ANSWERED);
    } else if (step == CHILD_STOP) {
        finish_incoming(in, CHILD_STOPPED);
    } else if (step == CHILD_NONSENSE) {
        refuse_answer(call, in, "nonsense");
    }
}

// It grows with the received bytes, never with the announced size.
static bool make_room(Incoming *in, size_t more)
{
    const size_t want = in->message.bytes + more;
    if (want <= in->capacity) {
        return true;
    }
    const size_t capacity = want > 2 * in->capacity ? want : 2 * in->capacity;
    uint8_t *body = realloc(in->message.body, capacity);
    if (body == NULL) {
        return false;
    }
    in->message.body = body;
    in->capacity = capacity;
    return true;
}

static void take_body(ChildCall *call, Incoming *in, const uint8_t *bytes, size_t count)
{
    if (!make_room(in, count)) {
        finish_incoming(in, CHILD_NO_MEMORY);
        return;
    }
    memcpy(in->message.body + in->message.bytes, bytes, count);
    in->message.bytes += count;
    in->left -= count;
    if (in->left == 0) {
        end_message(call, in);
    }
}

static void take_piece(ChildCall *call, Incoming *in, const uint8_t *bytes, size_t count)
{
    size_t at = 0;
    while (at < count) {
        if (in->is_over) {
            if (in->result == CHILD_ANSWERED) {
                refuse_answer(call, in, "more than it was asked");
            }
            return;
        }
        if (!in->has_header) {
            in->header[in->header_at++] = bytes[at++];
            if (in->header_at == sizeof in->header) {
                begin_message(call, in);
            }
            continue;
        }
        const size_t piece = in->left < count - at ? (size_t)in->left : count - at;
        take_body(call, in, bytes + at, piece);
        at += piece;
    }
}

// --- a call -------------------------------------------------------------------------------------

typedef struct Outgoing {
    uint32_t part;
    size_t at;
    bool is_done; // or nobody reads any more
} Outgoing;

static void skip_empty(const ChildCall *call, Outgoing *out)
{
    while (!out->is_done && out->at == call->part_bytes[out->part]) {
        out->at = 0;
        out->is_done = ++out->part == 2;
    }
}

// True if something was sent.
static bool send_some(const Child *child, const ChildCall *call, Outgoing *out)
{
    const uint8_t *data = call->parts[out->part];
    const ssize_t sent = send(child->stream, data + out->at, call->part_bytes[out->part] - out->at,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
        // The other side is gone: the reading side finds out why.
        out->is_done = errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
        return false;
    }
    out->at += (size_t)sent;
    skip_empty(call, out);
    return true;
}

// How long the child has waited for a processor since its last sign. On a busy machine a child that
// works may be unable to say so for a long time.
typedef struct Starving {
    ProcessWaits waits;
    uint64_t sign_ns; // in all, until the last sign
} Starving;

static uint64_t starved_ns(Starving *starving, const Child *child, uint64_t now, bool is_sign_new)
{
    const uint64_t waited = process_starved_ns(&starving->waits, child->process.pid, now);
    if (is_sign_new || waited < starving->sign_ns) {
        starving->sign_ns = waited;
    }
    return waited - starving->sign_ns;
}

static void look_at_time(ChildCall *call, Incoming *in, uint64_t quiet_ns, uint64_t whole_ns)
{
    if (call->cancel != NULL && atomic_load(call->cancel)) {
        finish_incoming(in, CHILD_CANCELLED);
    } else if (quiet_ns > call->quiet_ms * NS_PER_MS) {
        finish_incoming(in, CHILD_QUIET);
    } else if (whole_ns > call->call_ms * NS_PER_MS) {
        finish_incoming(in, CHILD_LATE);
    } else if (call->watch != NULL && !call->watch(call->user)) {
        finish_incoming(in, CHILD_STOPPED);
    }
}

// True if something was received.
static bool receive_some(const Child *child, ChildCall *call, Incoming *in, uint8_t *piece)
{
    const ssize_t got = recv(child->stream, piece, PIECE_BYTES, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        finish_incoming(in, CHILD_DIED);
    } else if (got > 0) {
        take_piece(call, in, piece, (size_t)got);
    }
    return got > 0;
}

static void exchange(const Child *child, ChildCall *call, Incoming *in, uint8_t *piece)
{
    Outgoing out = {0};
    const uint64_t began = clock_ns();
    uint64_t sign = began, looked = 0; // checked at once the first time
    Starving starving = {0};
    bool is_sign_new = true;
    skip_empty(call, &out);
    while (!in->is_over) {
        const uint64_t now = clock_ns();
        if (now - looked >= CHILD_LOOK_MS * NS_PER_MS) {
            looked = now;
            const uint64_t waited = starved_ns(&starving, child, now, is_sign_new);
            is_sign_new = false;
            look_at_time(call, in, now - sign > waited ? now - sign - waited : 0, now - began);
            if (in->is_over) {
                return;
            }
        }
        struct pollfd look = {.fd = child->stream,
                              .events = (short)(POLLIN | (out.is_done ? 0 : POLLOUT))};
        if (poll(&look, 1, CHILD_LOOK_MS) <= 0) {
            continue;
        }
        bool has_sign =
            (look.revents & POLLOUT) != 0 && !out.is_done && send_some(child, call, &out);
        if ((look.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            has_sign = receive_some(child, call, in, piece) || has_sign;
        }
        if (has_sign) {
            sign = clock_ns();
            is_sign_new = true;
        }
    }
    if (in->result == CHILD_ANSWERED && !out.is_done) {
        refuse_answer(call, in, "before it was asked");
    }
}

ChildResult child_call(Child *child, ChildCall *call)
{
    Incoming in = {0};
    uint8_t *piece = malloc(PIECE_BYTES);
    if (piece == NULL) {
        return CHILD_NO_MEMORY;
    }
    exchange(child, call, &in, piece);
    free(piece);
    free(in.message.body);
    return in.result;
}
