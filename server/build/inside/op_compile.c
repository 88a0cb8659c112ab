// Compiles one Lua source into a rune. ask_compile.h describes the request and the reply. Each
// request has a Vm of its own, with the settings of a world's, so what compiles here compiles and
// loads there.
#include "server/build/ask/ask_compile.h"

#include "core/base/check.h"
#include "core/base/utf8.h"
#include "core/script/lint/lint.h"
#include "core/script/rune/rune.h"
#include "server/build/inside/dry_run.h"
#include "server/build/inside/worker_op.h"

#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX     (VM_SOURCE_BYTES_MAX + 1)
#define FINDINGS_MAX  200
#define VM_HEAP_BYTES (64u << 20)

typedef struct Request {
    char path[SCRIPT_PATH_BYTES];
    char file[DIAGNOSTIC_FILE_BYTES];
    RunContext context;
    bool dry_run, is_generated;
    const uint8_t *source;
    size_t source_bytes;
    uint32_t *lines; // NULL: none
    uint32_t line_count;
    struct {
        const uint8_t *data; // a request
        size_t bytes;
    } modules[COMPILE_MODULES_MAX];
    uint32_t module_count;
} Request;

// The working state of one request.
typedef struct Work {
    Request request;
    DiagnosticList diagnostics;
    LintResult lint;
    uint8_t *rune;
    size_t rune_bytes;
} Work;

// --- the request --------------------------------------------------------------------------------

// A name that can be shown in messages.
static bool read_plain_name(ByteReader *reader, char *out, size_t capacity)
{
    return buffer_read_name(reader, out, capacity) && !utf8_has_control(out, strlen(out));
}

static bool read_modules(ByteReader *reader, Request *out)
{
    const uint32_t count = byte_read_u32(reader);
    if (count == 0 || count > COMPILE_MODULES_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        out->modules[i].data = byte_read_block(reader, &out->modules[i].bytes);
    }
    out->module_count = count;
    return reader->status == STATUS_OK;
}

// The line numbers are read only after everything else was checked.
static Status read_request(ByteReader *reader, Request *out)
{
    if (!read_plain_name(reader, out->path, sizeof out->path) ||
        !read_plain_name(reader, out->file, sizeof out->file)) {
        return STATUS_MALFORMED;
    }
    const uint8_t context = byte_read_u8(reader);
    const uint8_t flags = byte_read_u8(reader);
    out->line_count = byte_read_u32(reader);
    if (context > CONTEXT_BOTH ||
        flags > (COMPILE_FLAG_DRY_RUN | COMPILE_FLAG_GENERATED | COMPILE_FLAG_MODULES) ||
        out->line_count > LINES_MAX) {
        return STATUS_MALFORMED;
    }
    out->context = (RunContext)context;
    out->dry_run = (flags & COMPILE_FLAG_DRY_RUN) != 0;
    out->is_generated = (flags & COMPILE_FLAG_GENERATED) != 0;
    const uint8_t *lines = byte_read_bytes(reader, (size_t)out->line_count * 4);
    out->source = byte_read_block(reader, &out->source_bytes);
    if (lines == NULL || ((flags & COMPILE_FLAG_MODULES) != 0 && !read_modules(reader, out)) ||
        byte_reader_finish(reader) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    if (out->source_bytes >= 3 && memcmp(out->source, "\xef\xbb\xbf", 3) == 0) {
        out->source +=
            3; // skip the byte order mark that some editors write; line numbers stay the same
        out->source_bytes -= 3;
    }
    if (out->line_count == 0) {
        return STATUS_OK;
    }
    out->lines = malloc(out->line_count * sizeof *out->lines);
    if (out->lines == NULL) {
        return STATUS_LIMIT;
    }
    ByteReader numbers = byte_reader(lines, (size_t)out->line_count * 4);
    for (uint32_t i = 0; i < out->line_count; i++) {
        out->lines[i] = byte_read_u32(&numbers);
    }
    return STATUS_OK;
}

// --- compiling ----------------------------------------------------------------------------------

static uint32_t shown_line(const Request *request, uint32_t line)
{
    const bool is_mapped = line > 0 && line <= request->line_count;
    return is_mapped && request->lines[line - 1] > 0 ? request->lines[line - 1] : line;
}

// The chunk name in Lua, so that a fault names a file that a creator can open: its path with the
// ending of its source, or of the Lua that is kept beside a plain soul.
static void name_file(const Request *request, char out[SCRIPT_FILE_BYTES])
{
    const char *found = strstr(request->file, request->path);
    const char *ending = found != NULL ? found + strlen(request->path) : "";
    snprintf(out, SCRIPT_FILE_BYTES, "%s%s%s", request->path, ending,
             strcmp(ending, ".soul") == 0 ? ".lua" : "");
}

// "Workspace/Door.lua:12: unexpected symbol" → line 12 and the rest.
static void tell_syntax(Work *work, const char *name, const char *message)
{
    const Request *request = &work->request;
    uint32_t line = 0;
    message = worker_split_message(name, message, &line);
    diagnostic_addf(&work->diagnostics, DIAGNOSTIC_ERROR, request->file, shown_line(request, line),
                    0, "syntax", "%s", message);
}

static void tell_findings(Work *work)
{
    const LintResult *lint = &work->lint;
    for (uint32_t i = 0; i < lint->finding_count; i++) {
        const LintFinding *finding = &lint->findings[i];
        if (work->request.is_generated && finding->kind == LINT_SHADOWED) {
            continue; // generated names
        }
        if (work->request.lines != NULL && finding->kind == LINT_HOOK_PARAMETER) {
            continue; // the TypeScript compiler has reported it, with the column
        }
        diagnostic_addf(&work->diagnostics,
                        finding->is_error ? DIAGNOSTIC_ERROR : DIAGNOSTIC_WARNING,
                        work->request.file, finding->line, 0, lint_kind_name(finding->kind), "%s",
                        finding->message);
    }
    if (lint->dropped_count > 0) {
        diagnostic_addf(&work->diagnostics, DIAGNOSTIC_WARNING, work->request.file, 0, 0, "lint",
                        "there is more: %u findings did not fit", lint->dropped_count);
    }
}

static LintSide side_of(RunContext context)
{
    return context == CONTEXT_SERVER   ? LINT_SERVER
           : context == CONTEXT_CLIENT ? LINT_CLIENT
                                       : LINT_BOTH;
}

static int count_piece(lua_State *lua, const void *piece, size_t bytes, void *user)
{
    (void)lua;
    (void)piece;
    *(size_t *)user += bytes;
    return 0;
}

// The function is on top of the stack. A rune that is too large for a world is an error that names
// its size.
static Status write_rune(Work *work, lua_State *lua)
{
    const Request *request = &work->request;
    work->rune = malloc(RUNE_BYTES_MAX);
    if (work->rune == NULL) {
        return STATUS_LIMIT;
    }
    if (rune_write(lua, request->path, work->rune, RUNE_BYTES_MAX, &work->rune_bytes) ==
        STATUS_OK) {
        return STATUS_OK;
    }
    size_t bytes = RUNE_HEADER_BYTES + strlen(request->path);
    (void)lua_dump(lua, count_piece, &bytes, 0);
    diagnostic_addf(&work->diagnostics, DIAGNOSTIC_ERROR, request->file, 0, 0, "limit",
                    "compiles to %zu bytes, and a world takes at most %u: cut the script in two",
                    bytes, RUNE_BYTES_MAX);
    return STATUS_MALFORMED;
}

// The function is on top of the stack.
static Status finish(Work *work, lua_State *lua, char *reason)
{
    const Request *request = &work->request;
    Status status = STATUS_OK;
    if (request->lines != NULL) {
        status = lint_map_lines(lua, request->lines, request->line_count);
    }
    if (status == STATUS_OK) {
        work->lint.is_module = strncmp(request->path, "ReplicatedStorage/", 18) == 0;
        lint_function(lua, side_of(request->context), &work->lint);
        if (!request->is_generated) { // generated code is not checked for style
            lint_text(request->source, request->source_bytes, &work->lint);
        }
        tell_findings(work);
        status = write_rune(work, lua);
    }
    if (status != STATUS_OK && status != STATUS_MALFORMED) {
        snprintf(reason, WORKER_REASON_BYTES, "%s: the build worker ran out of memory",
                 request->file);
    }
    return status;
}

static Status compile_source(Work *work, char *reason)
{
    Heap heap = heap_make(VM_HEAP_BYTES);
    const VmConfig config = vm_config_default();
    Vm *vm = NULL;
    const Request *request = &work->request;
    if (vm_create(&heap, &config, &vm) != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "the build worker has too little memory for Lua");
        return STATUS_LIMIT;
    }
    lua_State *lua = vm_main(vm);
    vm_push_environment(lua);
    char name[SCRIPT_FILE_BYTES];
    name_file(request, name);
    Status status = vm_compile(lua, name, (const char *)request->source, request->source_bytes,
                               lua_gettop(lua));
    if (status == STATUS_OK) {
        status = finish(work, lua, reason);
    } else {
        tell_syntax(work, name, lua_tostring(lua, -1));
        status = STATUS_MALFORMED;
    }
    vm_destroy(&heap, vm);
    return status;
}

// Allocates the results. Free with free_work.
static Status begin_work(Work *work, ByteReader *request)
{
    *work = (Work){.lint = {.finding_max = FINDINGS_MAX, .require_max = COMPILE_REQUIRES_MAX}};
    LintResult *lint = &work->lint;
    const Status status = read_request(request, &work->request);
    lint->findings = calloc(FINDINGS_MAX, sizeof *lint->findings);
    lint->requires = calloc(COMPILE_REQUIRES_MAX, sizeof *lint->requires);
    lint->require_lines = calloc(COMPILE_REQUIRES_MAX, sizeof *lint->require_lines);
    const bool has_room =
        lint->findings != NULL && lint->requires != NULL && lint->require_lines != NULL;
    return status != STATUS_OK || has_room ? status : STATUS_LIMIT;
}

static void free_work(Work *work)
{
    free(work->request.lines);
    free(work->lint.findings);
    free(work->lint.requires);
    free(work->lint.require_lines);
    free(work->rune);
    diagnostic_list_free(&work->diagnostics);
}

// --- trying it out ------------------------------------------------------------------------------

// False: it does not compile, or uses things of its place.
static bool make_module(const uint8_t *data, size_t bytes, DryRunModule *out)
{
    ByteReader request = byte_reader(data, bytes);
    char ignored[WORKER_REASON_BYTES];
    Work work;
    const bool is_made = begin_work(&work, &request) == STATUS_OK &&
                         work.request.module_count == 0 &&
                         compile_source(&work, ignored) == STATUS_OK && !work.lint.asks_world;
    if (is_made) {
        snprintf(out->path, sizeof out->path, "%s", work.request.path);
        out->rune = work.rune;
        out->rune_bytes = work.rune_bytes;
        work.rune = NULL;
    }
    free_work(&work);
    return is_made;
}

static void try_out(Work *work)
{
    const Request *request = &work->request;
    DryRunModule *modules = calloc(request->module_count + 1u, sizeof *modules);
    DryRun run = {.path = request->path,
                  .file = request->file,
                  .context = request->context,
                  .rune = work->rune,
                  .rune_bytes = work->rune_bytes,
                  .modules = modules};
    bool has_all = modules != NULL;
    while (has_all && run.module_count < request->module_count) {
        const uint32_t i = run.module_count;
        has_all = make_module(request->modules[i].data, request->modules[i].bytes, &modules[i]);
        run.module_count += has_all;
    }
    run.asks_place = work->lint.asks_world || !has_all ||
                     (work->lint.asks_modules && request->module_count == 0);
    worker_dry_run(&run, &work->diagnostics);
    for (uint32_t i = 0; i < run.module_count; i++) {
        free(modules[i].rune);
    }
    free(modules);
}

// --- the op -------------------------------------------------------------------------------------

static void write_reply(const Work *work, Buffer *reply, bool has_rune)
{
    diagnostic_list_write(&work->diagnostics, reply);
    if (!has_rune) {
        return;
    }
    buffer_put_block(reply, work->rune, work->rune_bytes);
    buffer_put_u32(reply, work->lint.require_count);
    for (uint32_t i = 0; i < work->lint.require_count; i++) {
        buffer_put_u32(reply, work->lint.require_lines[i]);
        buffer_put_block(reply, work->lint.requires[i], strlen(work->lint.requires[i]));
    }
    buffer_put_u8(reply, work->lint.asks_world);
}

static Status compile_and_try(Work *work, WorkerCall *call)
{
    Status status = compile_source(work, call->reason);
    if (status == STATUS_OK && work->diagnostics.error_count > 0) {
        status = STATUS_MALFORMED;
    }
    if (status == STATUS_OK && work->request.dry_run) {
        try_out(work);
    }
    if (status == STATUS_MALFORMED) {
        snprintf(call->reason, sizeof call->reason, "%s does not compile", work->request.file);
    }
    if (status == STATUS_OK || status == STATUS_MALFORMED) {
        write_reply(work, &call->reply, status == STATUS_OK && work->request.module_count == 0);
    }
    return status;
}

Status worker_compile(WorkerCall *call)
{
    Work work;
    Status status = begin_work(&work, &call->request);
    if (status == STATUS_OK) {
        status = compile_and_try(&work, call);
    } else if (status == STATUS_MALFORMED) {
        snprintf(call->reason, sizeof call->reason, "not a request to compile");
    }
    free_work(&work);
    return status;
}
