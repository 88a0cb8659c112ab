// The outside of the TypeScript compiler: starts Node in its jail, asks it, and watches it. Like
// the build worker it is one loop around poll: a compiler that is silent, dead, too large or talks
// nonsense is ended, that call fails with a reason for people, and the next one starts another.
#define _GNU_SOURCE
#include "server/build/typescript.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/script/api/api_reference.h"
#include "server/build/typescript_frame.h"
#include "server/build/typescript_node.h"
#include "server/sys/clock.h"
#include "server/sys/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_MS            50 // how often memory and the flag that cancels are looked at
#define PIECE_BYTES        (256u << 10)
#define NS_PER_MS          1000000ull
#define TELL_MS            1000 // how often is told that nothing has changed
#define CALL_MS_MAX        (10u * 60 * 1000)
#define DECLARATIONS_BYTES (1u << 20)
#define AT                 " at "
#define FITS_BYTES         (3u << 20) // of sources, in the memory it has by default
#define ADVICE_BYTES       256

struct TypeScript {
    TypeScriptConfig config;
    Process process;
    int end;                            // our end of the stream; -1: none runs
    int life;                           // the end of the pipe by which it knows that we are alive
    bool has_begun;                     // it has started, and looked at a script
    char at[DIAGNOSTIC_FILE_BYTES + 8]; // " at Workspace/Door.ts", as it says by itself; or ""
    uint32_t done, total;               // of the call that runs
    uint64_t source_bytes;              // and its TypeScript
    uint64_t told_ns;
};

typedef struct Incoming {
    uint8_t header[TYPESCRIPT_HEADER_BYTES];
    uint32_t header_at;
    uint64_t left; // of the message's body
    Buffer body;
    bool is_in_body, has_result;
    const SoulList *souls; // what it was asked about
} Incoming;

TypeScriptConfig typescript_config_default(void)
{
    return (TypeScriptConfig){.memory_bytes_max = WORKER_MEMORY_BYTES, .quiet_ms = WORKER_QUIET_MS};
}

const char *typescript_version(void)
{
    return SANDLOT_TYPESCRIPT_VERSION; // made from the pinned versions and the .mjs files
}

Status typescript_create(const TypeScriptConfig *config, TypeScript **out)
{
    TypeScript *typescript = calloc(1, sizeof *typescript);
    if (typescript == NULL) {
        return STATUS_LIMIT;
    }
    typescript->config = *config;
    typescript->process = (Process){.pid_descriptor = -1};
    typescript->end = -1;
    typescript->life = -1;
    *out = typescript;
    return STATUS_OK;
}

static void close_end(int *descriptor)
{
    if (*descriptor >= 0) {
        close(*descriptor);
    }
    *descriptor = -1;
}

// Ends it, and gives how it ended: one that is dead already keeps its own code.
static int end(TypeScript *typescript)
{
    int code = 0;
    process_kill(&typescript->process, SIGKILL);
    process_wait(&typescript->process, &code);
    close_end(&typescript->end);
    close_end(&typescript->life);
    typescript->has_begun = false;
    return code;
}

void typescript_destroy(TypeScript *typescript)
{
    if (typescript != NULL) {
        (void)end(typescript);
        free(typescript);
    }
}

void typescript_watch(TypeScript *typescript, const atomic_bool *cancel,
                      TypeScriptProgress *progress, void *user)
{
    typescript->config.cancel = cancel;
    typescript->config.progress = progress;
    typescript->config.user = user;
}

pid_t typescript_pid(const TypeScript *typescript)
{
    return typescript->end >= 0 ? typescript->process.pid : 0;
}

__attribute__((format(printf, 3, 4))) static Status fail(TypeScript *typescript, char *reason,
                                                         const char *format, ...)
{
    (void)end(typescript);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return STATUS_BLOCKED;
}

// What to do when memory ran out.
static void advise_smaller(const TypeScript *typescript, char out[ADVICE_BYTES])
{
    if (typescript->source_bytes < FITS_BYTES) {
        snprintf(out, ADVICE_BYTES, "make the types of this place simpler, or its scripts smaller");
        return;
    }
    snprintf(
        out, ADVICE_BYTES,
        "this place has %.1f MB of TypeScript, and about %u MB fit; write in Lua what is large "
        "and needs no types, such as tables of data",
        (double)typescript->source_bytes / (1u << 20), FITS_BYTES >> 20);
}

// The stream has ended.
static Status died(TypeScript *typescript, char *reason)
{
    const bool was_started = typescript->has_begun;
    const int code = end(typescript);
    if (code == 128 + SIGABRT) {
        char advice[ADVICE_BYTES];
        advise_smaller(typescript, advice);
        return fail(
            typescript, reason,
            "the TypeScript compiler gave up%s, most likely because it ran out of memory: %s",
            typescript->at, advice);
    }
    if (code > 128) {
        return fail(typescript, reason, "the TypeScript compiler %s%s (%s)",
                    code == 128 + SIGKILL ? "was killed" : "crashed", typescript->at,
                    strsignal(code - 128));
    }
    return fail(typescript, reason, "the TypeScript compiler %s (exit code %d)",
                was_started ? "ended by itself" : "could not be started", code);
}

// --- starting -----------------------------------------------------------------------------------

static Status start_process(TypeScript *typescript, const NodePaths *paths, int stream, int life)
{
    char heap_mb[32];
    // A quarter is for what is not on the heap of objects.
    snprintf(heap_mb, sizeof heap_mb, "%llu",
             (unsigned long long)(typescript->config.memory_bytes_max / 4 * 3 >> 20));
    const char *const arguments[] = {"sandlot",
                                     TYPESCRIPT_LAUNCHER,
                                     typescript->config.allow_weak_jail ? "weak" : "full",
                                     heap_mb,
                                     paths->node,
                                     paths->compiler,
                                     paths->modules,
                                     NULL};
    const ProcessConfig config = {.arguments = arguments,
                                  .descriptors = {stream, life},
                                  .descriptor_count = 2,
                                  .outlives_thread = true};
    return process_start(&config, &typescript->process);
}

static Status start(TypeScript *typescript, char *reason)
{
    NodePaths paths;
    const Status found =
        node_find(typescript->config.node, typescript->config.compiler, &paths, reason);
    if (found != STATUS_OK) {
        return STATUS_BLOCKED;
    }
    int ends[2];
    int life[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail(typescript, reason, "the TypeScript compiler could not be started: %s",
                    strerror(errno));
    }
    typescript->end = ends[0];
    if (pipe2(life, O_CLOEXEC) != 0) {
        close(ends[1]);
        return fail(typescript, reason, "the TypeScript compiler could not be started: %s",
                    strerror(errno));
    }
    typescript->life = life[1];
    const Status status = start_process(typescript, &paths, ends[1], life[0]);
    close(ends[1]);
    close(life[0]);
    return status == STATUS_OK
               ? STATUS_OK
               : fail(typescript, reason, "the TypeScript compiler could not be started: %s",
                      status_text(status));
}

// One that died or spoke without being asked since the last call is replaced; nobody need know.
static void drop_stale(TypeScript *typescript)
{
    struct pollfd look = {.fd = typescript->end, .events = POLLIN};
    if (typescript->end >= 0 && poll(&look, 1, 0) != 0) {
        (void)end(typescript);
    }
}

// --- what comes in ------------------------------------------------------------------------------

static uint64_t body_max(uint8_t kind)
{
    switch (kind) {
    case TYPESCRIPT_PROGRESS:
        return TYPESCRIPT_PROGRESS_BYTES;
    case TYPESCRIPT_RESULT:
        return TYPESCRIPT_REPLY_MAX;
    case TYPESCRIPT_REFUSED:
        return WORKER_REASON_BYTES;
    default:
        return 0;
    }
}

static void tell(TypeScript *typescript)
{
    const TypeScriptConfig *config = &typescript->config;
    typescript->told_ns = clock_ns();
    if (config->progress != NULL) {
        const char *file = typescript->at[0] != '\0' ? typescript->at + strlen(AT) : "";
        config->progress(config->user, typescript->done, typescript->total, file);
    }
}

// A sign of life, and what it says that it is at, for whoever has to find out why it was the last.
static Status note_progress(TypeScript *typescript, const Incoming *in, char *reason)
{
    uint32_t script = TYPESCRIPT_NO_SCRIPT, done = 0;
    if (typescript_read_progress(in->body.data, in->body.bytes, in->souls, &script, &done) !=
        STATUS_OK) {
        return fail(typescript, reason, "the TypeScript compiler answered nonsense and was ended");
    }
    if (script == TYPESCRIPT_NO_SCRIPT) {
        typescript->at[0] = '\0'; // no script is to blame for what comes now
        return STATUS_OK;
    }
    typescript->has_begun = true;
    typescript->done = done > typescript->done ? done : typescript->done;
    snprintf(typescript->at, sizeof typescript->at, AT "%.*s", DIAGNOSTIC_FILE_BYTES,
             in->souls->items[script].file->path);
    tell(typescript);
    return STATUS_OK;
}

static Status end_message(TypeScript *typescript, Incoming *in, char *reason)
{
    in->is_in_body = false;
    in->header_at = 0;
    if (in->header[0] == TYPESCRIPT_REFUSED) {
        char why[WORKER_REASON_BYTES];
        typescript_plain_text(in->body.data, in->body.bytes, why, sizeof why);
        return fail(typescript, reason, "the TypeScript compiler could not be started: %.400s",
                    why);
    }
    in->has_result = in->header[0] == TYPESCRIPT_RESULT;
    if (in->has_result) {
        typescript->has_begun = true;
        return STATUS_OK;
    }
    const Status status = note_progress(typescript, in, reason);
    in->body.bytes = 0;
    return status;
}

static Status begin_message(TypeScript *typescript, Incoming *in, char *reason)
{
    ByteReader reader = byte_reader(in->header, sizeof in->header);
    const uint64_t max = body_max(byte_read_u8(&reader));
    in->left = byte_read_u64(&reader);
    in->is_in_body = true;
    if (in->left == 0 || in->left > max) {
        return fail(typescript, reason, "the TypeScript compiler answered nonsense and was ended");
    }
    return STATUS_OK;
}

static Status take(TypeScript *typescript, Incoming *in, const uint8_t *bytes, size_t count,
                   char *reason)
{
    Status status = STATUS_OK;
    size_t at = 0;
    while (status == STATUS_OK && at < count) {
        if (in->has_result) {
            return fail(typescript, reason,
                        "the TypeScript compiler answered more than it was asked and was ended");
        }
        if (!in->is_in_body) {
            in->header[in->header_at++] = bytes[at++];
            if (in->header_at == sizeof in->header) {
                status = begin_message(typescript, in, reason);
            }
            continue;
        }
        const size_t piece = in->left < count - at ? (size_t)in->left : count - at;
        buffer_put(&in->body, bytes + at, piece);
        at += piece;
        in->left -= piece;
        if (in->body.status != STATUS_OK) {
            return fail(typescript, reason, "no memory is left for the compiler's answer");
        }
        if (in->left == 0) {
            status = end_message(typescript, in, reason);
        }
    }
    return status;
}

// --- watching -----------------------------------------------------------------------------------

// Resident bytes; 0 when they cannot be known.
static uint64_t memory_of(pid_t pid)
{
    char path[64];
    char text[128];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    const ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    if (bytes <= 0) {
        return 0;
    }
    text[bytes] = '\0';
    const char *resident = strchr(text, ' ');
    return resident != NULL ? strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static Status watch(TypeScript *typescript, uint64_t quiet_ns, uint64_t whole_ns, char *reason)
{
    const TypeScriptConfig *config = &typescript->config;
    if (config->cancel != NULL && atomic_load(config->cancel)) {
        (void)fail(typescript, reason, "cancelled");
        return STATUS_DENIED;
    }
    if (quiet_ns > config->quiet_ms * NS_PER_MS) {
        return fail(typescript, reason,
                    "the TypeScript compiler gave no sign of progress for %g s%s and was ended: %s",
                    config->quiet_ms / 1000.0, typescript->at,
                    typescript->has_begun
                        ? "a type or an expression of this place may be too hard to work out"
                        : "this machine may be too busy");
    }
    if (whole_ns > CALL_MS_MAX * NS_PER_MS) {
        return fail(typescript, reason,
                    "the TypeScript compiler took more than %u minutes and was ended",
                    CALL_MS_MAX / 60000);
    }
    if (config->memory_bytes_max != 0 &&
        memory_of(typescript->process.pid) > config->memory_bytes_max) {
        char advice[ADVICE_BYTES];
        advise_smaller(typescript, advice);
        return fail(typescript, reason,
                    "the TypeScript compiler took more than %llu MB%s and was ended: %s",
                    (unsigned long long)(config->memory_bytes_max >> 20), typescript->at, advice);
    }
    return STATUS_OK;
}

// True if something went out.
static bool send_some(const TypeScript *typescript, const Buffer *request, size_t *sent)
{
    const ssize_t went = send(typescript->end, request->data + *sent, request->bytes - *sent,
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (went < 0) {
        // Gone: why, the reading side learns.
        if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
            *sent = request->bytes;
        }
        return false;
    }
    *sent += (size_t)went;
    return true;
}

static Status exchange(TypeScript *typescript, const Buffer *request, Incoming *in, uint8_t *piece,
                       char *reason)
{
    const uint64_t began = clock_ns();
    uint64_t sign = began;
    uint64_t looked = 0;
    size_t sent = 0;
    while (!in->has_result) {
        const uint64_t now = clock_ns();
        if (now - looked > LOOK_MS * NS_PER_MS) {
            looked = now;
            const Status status = watch(typescript, now - sign, now - began, reason);
            if (status != STATUS_OK) {
                return status;
            }
            if (now - typescript->told_ns > TELL_MS * NS_PER_MS) {
                tell(typescript);
            }
        }
        const bool sends = sent < request->bytes;
        struct pollfd look = {.fd = typescript->end,
                              .events = (short)(POLLIN | (sends ? POLLOUT : 0))};
        if (poll(&look, 1, LOOK_MS) <= 0) {
            continue;
        }
        if (sends && (look.revents & POLLOUT) != 0 && send_some(typescript, request, &sent)) {
            sign = clock_ns();
        }
        if ((look.revents & (POLLIN | POLLHUP | POLLERR)) == 0) {
            continue;
        }
        const ssize_t got = recv(typescript->end, piece, PIECE_BYTES, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            return died(typescript, reason);
        }
        if (got > 0) {
            sign = clock_ns();
            const Status status = take(typescript, in, piece, (size_t)got, reason);
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

// --- a compile ----------------------------------------------------------------------------------

static Status ask(TypeScript *typescript, const Buffer *request, const SoulList *souls,
                  const bool *wanted, TypeScriptResult *out, DiagnosticList *diagnostics,
                  char *reason)
{
    Incoming in = {.body = buffer_of(TYPESCRIPT_REPLY_MAX), .souls = souls};
    typescript->at[0] = '\0';
    typescript->done = 0;
    typescript->total = typescript_count(souls, &typescript->source_bytes);
    tell(typescript);
    uint8_t *piece = malloc(PIECE_BYTES);
    Status status = piece != NULL ? exchange(typescript, request, &in, piece, reason)
                                  : fail(typescript, reason, "out of memory");
    if (status == STATUS_OK) {
        status = typescript_read_result(in.body.data, in.body.bytes, souls, wanted, out,
                                        diagnostics, reason);
        if (status == STATUS_MISMATCH) {
            status =
                fail(typescript, reason, "the TypeScript compiler answered nonsense and was ended");
        } else if (status == STATUS_LIMIT) {
            status = STATUS_BLOCKED; // it gave up by itself, and is still well
        }
    }
    free(piece);
    buffer_free(&in.body);
    return status;
}

// Our declarations, for a compiler that was just started.
static Status write_request(Buffer *request, bool is_first, const SoulList *souls,
                            const bool *wanted)
{
    uint8_t *text = NULL;
    ByteWriter writer = byte_writer(NULL, 0);
    if (is_first) {
        text = malloc(DECLARATIONS_BYTES);
        if (text == NULL) {
            return STATUS_LIMIT;
        }
        writer = byte_writer(text, DECLARATIONS_BYTES);
        api_reference_write(API_FORMAT_TYPESCRIPT, &writer);
        ASSERT(writer.status == STATUS_OK);
    }
    typescript_write_request(request, (const char *)text, writer.at, souls, wanted);
    free(text);
    return request->status;
}

Status typescript_compile(TypeScript *typescript, const SoulList *souls, const bool *wanted,
                          TypeScriptResult *out, DiagnosticList *diagnostics,
                          char reason[WORKER_REASON_BYTES])
{
    *out = (TypeScriptResult){0};
    reason[0] = '\0';
    drop_stale(typescript);
    const bool is_first = typescript->end < 0;
    Status status = is_first ? start(typescript, reason) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    Buffer request = buffer_of(TYPESCRIPT_REQUEST_MAX);
    status = write_request(&request, is_first, souls, wanted);
    if (status != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "the scripts of this place are too large together");
        (void)end(typescript);
    } else {
        status = ask(typescript, &request, souls, wanted, out, diagnostics, reason);
    }
    buffer_free(&request);
    return status;
}
