// The outside of the TypeScript compiler: starts Node in its jail, sends it requests, and watches
// it. A compiler that is silent, dead, too large or answers nonsense is ended; that call fails with
// a reason for people, and the next one starts another process.
#define _GNU_SOURCE
#include "server/build/typescript/typescript.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/script/api/api_reference.h"
#include "server/build/typescript/typescript_frame.h"
#include "server/build/typescript/typescript_node.h"
#include "server/sys/child.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TELL_MS            1000 // how often unchanged progress is reported
#define CALL_MS_MAX        (10u * 60 * 1000)
#define DECLARATIONS_BYTES (1u << 20)
#define AT                 " at "
#define FITS_BYTES         (3u << 20) // sources of this size fit into its memory by default
#define ADVICE_BYTES       256

struct TypeScript {
    TypeScriptConfig config;
    Child child;
    bool has_begun; // it has started, and is working on a script
    char at[DIAGNOSTIC_FILE_BYTES +
            8];            // " at Workspace/Door.ts", the last script it reported; or ""
    uint32_t done, total;  // of the call that runs
    uint64_t source_bytes; // of TypeScript sources
    uint64_t told_ns;
};

// One call while it runs.
typedef struct Call {
    TypeScript *typescript;
    const SoulList *souls; // the scripts of the request
    Buffer result;
    char *reason;
} Call;

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
    typescript->child = child_none();
    *out = typescript;
    return STATUS_OK;
}

// Ends the process and returns its exit status.
static int end_process(TypeScript *typescript)
{
    typescript->has_begun = false;
    return child_end(&typescript->child);
}

void typescript_destroy(TypeScript *typescript)
{
    if (typescript != NULL) {
        (void)end_process(typescript);
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

void typescript_set_quiet(TypeScript *typescript, uint32_t quiet_ms)
{
    typescript->config.quiet_ms = quiet_ms;
}

pid_t typescript_pid(const TypeScript *typescript)
{
    return child_runs(&typescript->child) ? typescript->child.process.pid : 0;
}

__attribute__((format(printf, 3, 4))) static Status fail_call(TypeScript *typescript, char *reason,
                                                              const char *format, ...)
{
    (void)end_process(typescript);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, WORKER_REASON_BYTES, format, arguments);
    va_end(arguments);
    return STATUS_BLOCKED;
}

// Advice for when memory ran out.
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
static Status explain_death(TypeScript *typescript, char *reason)
{
    const bool was_started = typescript->has_begun;
    const int code = end_process(typescript);
    if (code == 128 + SIGABRT) {
        char advice[ADVICE_BYTES];
        advise_smaller(typescript, advice);
        return fail_call(
            typescript, reason,
            "the TypeScript compiler gave up%s, most likely because it ran out of memory: %s",
            typescript->at, advice);
    }
    if (code > 128) {
        return fail_call(typescript, reason, "the TypeScript compiler %s%s (%s)",
                         code == 128 + SIGKILL ? "was killed" : "crashed", typescript->at,
                         strsignal(code - 128));
    }
    return fail_call(typescript, reason, "the TypeScript compiler %s (exit code %d)",
                     was_started ? "ended by itself" : "could not be started", code);
}

// --- starting -----------------------------------------------------------------------------------

static Status start(TypeScript *typescript, char *reason)
{
    NodePaths paths;
    const Status found =
        node_find(typescript->config.node, typescript->config.compiler, &paths, reason);
    if (found != STATUS_OK) {
        return STATUS_BLOCKED;
    }
    char heap_mb[32];
    // A quarter is reserved for memory outside the JavaScript heap.
    snprintf(heap_mb, sizeof heap_mb, "%llu",
             (unsigned long long)(typescript->config.memory_bytes_max / 4 * 3 >> 20));
    const char *const arguments[] = {"sandlot",
                                     TYPESCRIPT_LAUNCHER,
                                     typescript->config.allow_weak_jail ? "weak" : "full",
                                     heap_mb,
                                     paths.node,
                                     paths.compiler,
                                     paths.modules,
                                     NULL};
    const ProcessConfig config = {.arguments = arguments, .outlives_thread = true};
    const Status status = child_start(&typescript->child, config, true);
    return status == STATUS_OK
               ? STATUS_OK
               : fail_call(typescript, reason, "the TypeScript compiler could not be started: %s",
                           status == STATUS_BLOCKED ? strerror(errno) : status_text(status));
}

// --- what comes in ------------------------------------------------------------------------------

static uint64_t body_max(void *user, uint8_t kind, uint64_t bytes)
{
    (void)user;
    (void)bytes;
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

static void tell_progress(TypeScript *typescript)
{
    const TypeScriptConfig *config = &typescript->config;
    typescript->told_ns = clock_ns();
    if (config->progress != NULL) {
        const char *file = typescript->at[0] != '\0' ? typescript->at + strlen(AT) : "";
        config->progress(config->user, typescript->done, typescript->total, file);
    }
}

// It is alive; note the script it works on, for the message if it dies there.
static ChildStep note_progress(const Call *call, const ChildMessage *message)
{
    TypeScript *typescript = call->typescript;
    uint32_t script = TYPESCRIPT_NO_SCRIPT, done = 0;
    if (typescript_read_progress(message->body, message->bytes, call->souls, &script, &done) !=
        STATUS_OK) {
        return CHILD_NONSENSE;
    }
    if (script == TYPESCRIPT_NO_SCRIPT) {
        typescript->at[0] = '\0'; // from now on no script is at fault
        return CHILD_GO_ON;
    }
    typescript->has_begun = true;
    typescript->done = done > typescript->done ? done : typescript->done;
    snprintf(typescript->at, sizeof typescript->at, AT "%.*s", DIAGNOSTIC_FILE_BYTES,
             call->souls->items[script].file->path);
    tell_progress(typescript);
    return CHILD_GO_ON;
}

static ChildStep take_message(void *user, ChildMessage *message)
{
    Call *call = user;
    char why[WORKER_REASON_BYTES];
    switch (message->kind) {
    case TYPESCRIPT_REFUSED:
        typescript_plain_text(message->body, message->bytes, why, sizeof why);
        (void)fail_call(call->typescript, call->reason,
                        "the TypeScript compiler could not be started: %.400s", why);
        return CHILD_STOP;
    case TYPESCRIPT_RESULT:
        call->typescript->has_begun = true;
        call->result =
            (Buffer){.data = message->body, .bytes = message->bytes, .capacity = message->bytes};
        message->body = NULL;
        return CHILD_DONE;
    default:
        return note_progress(call, message);
    }
}

// --- watching -----------------------------------------------------------------------------------

// Resident bytes; 0: unknown.
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

// False: it used too much memory and was ended.
static bool watch_memory(void *user)
{
    const Call *call = user;
    TypeScript *typescript = call->typescript;
    const TypeScriptConfig *config = &typescript->config;
    if (clock_ns() - typescript->told_ns > TELL_MS * NS_PER_MS) {
        tell_progress(typescript);
    }
    if (config->memory_bytes_max == 0 ||
        memory_of(typescript->child.process.pid) <= config->memory_bytes_max) {
        return true;
    }
    char advice[ADVICE_BYTES];
    advise_smaller(typescript, advice);
    (void)fail_call(typescript, call->reason,
                    "the TypeScript compiler took more than %llu MB%s and was ended: %s",
                    (unsigned long long)(config->memory_bytes_max >> 20), typescript->at, advice);
    return false;
}

static Status explain(TypeScript *typescript, const ChildCall *child, ChildResult result,
                      char *reason)
{
    switch (result) {
    case CHILD_ANSWERED:
        return STATUS_OK;
    case CHILD_DIED:
        return explain_death(typescript, reason);
    case CHILD_CANCELLED:
        (void)fail_call(typescript, reason, "cancelled");
        return STATUS_DENIED;
    case CHILD_QUIET:
        return fail_call(
            typescript, reason,
            "the TypeScript compiler gave no sign of progress for %g s%s and was ended: %s",
            typescript->config.quiet_ms / 1000.0, typescript->at,
            typescript->has_begun
                ? "a type or an expression of this place may be too hard to work out"
                : "this machine may be too busy");
    case CHILD_LATE:
        return fail_call(typescript, reason,
                         "the TypeScript compiler took more than %u minutes and was ended",
                         CALL_MS_MAX / 60000);
    case CHILD_INVALID:
        return fail_call(typescript, reason, "the TypeScript compiler answered %s and was ended",
                         child->invalid);
    case CHILD_STOPPED:
        return STATUS_BLOCKED; // the reason is written already
    case CHILD_NO_MEMORY:
        break;
    }
    return fail_call(typescript, reason, "no memory is left for the compiler's answer");
}

// --- a compile ----------------------------------------------------------------------------------

static Status ask_node(TypeScript *typescript, const Buffer *request, const SoulList *souls,
                       const bool *wanted, TypeScriptResult *out, DiagnosticList *diagnostics,
                       char *reason)
{
    Call call = {.typescript = typescript, .souls = souls, .reason = reason};
    ChildCall child = {.parts = {request->data},
                       .part_bytes = {request->bytes},
                       .quiet_ms = typescript->config.quiet_ms,
                       .call_ms = CALL_MS_MAX,
                       .cancel = typescript->config.cancel,
                       .body_max = body_max,
                       .take = take_message,
                       .watch = watch_memory,
                       .user = &call};
    typescript->at[0] = '\0';
    typescript->done = 0;
    typescript->total = typescript_count(souls, &typescript->source_bytes);
    tell_progress(typescript);
    const ChildResult result = child_call(&typescript->child, &child);
    Status status = explain(typescript, &child, result, reason);
    if (status == STATUS_OK) {
        status = typescript_read_result(call.result.data, call.result.bytes, souls, wanted, out,
                                        diagnostics, reason);
        if (status == STATUS_MISMATCH) {
            status = fail_call(typescript, reason,
                               "the TypeScript compiler answered nonsense and was ended");
        } else if (status == STATUS_LIMIT) {
            status = STATUS_BLOCKED; // it gave up by itself and is still usable
        }
    }
    buffer_free(&call.result);
    return status;
}

// A newly started compiler needs our declarations.
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
    child_drop_stale(&typescript->child);
    const bool is_first = !child_runs(&typescript->child);
    Status status = is_first ? start(typescript, reason) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    Buffer request = buffer_of(TYPESCRIPT_REQUEST_MAX);
    status = write_request(&request, is_first, souls, wanted);
    if (status != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "the scripts of this place are too large together");
        (void)end_process(typescript);
    } else {
        status = ask_node(typescript, &request, souls, wanted, out, diagnostics, reason);
    }
    buffer_free(&request);
    return status;
}
