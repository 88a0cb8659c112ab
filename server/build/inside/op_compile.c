// Compiles one Lua source into a rune. ask_compile.h describes the request and the reply; what is
// said about the source comes from core/script/check, as in a page.
#include "server/build/ask/ask_compile.h"

#include "core/script/check/check.h"
#include "server/build/inside/dry_run.h"
#include "server/build/inside/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX        (VM_SOURCE_BYTES_MAX + 1)
#define CHECK_HEAP_BYTES (64u << 20)

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
    Heap heap;
    CheckOutput output;
} Work;

// --- the request --------------------------------------------------------------------------------

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
    if (!buffer_read_plain_name(reader, out->path, sizeof out->path) ||
        !buffer_read_plain_name(reader, out->file, sizeof out->file)) {
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

static Status compile_source(Work *work, char *reason)
{
    const Request *request = &work->request;
    const CheckScript script = {.path = request->path,
                                .file = request->file,
                                .context = request->context,
                                .source = request->source,
                                .source_bytes = request->source_bytes,
                                .is_generated = request->is_generated,
                                .lines = request->lines,
                                .line_count = request->line_count};
    const CheckSink sink = diagnostic_list_sink(&work->diagnostics);
    const Status status = check_script(&work->heap, &script, &sink, &work->output);
    if (status != STATUS_OK && status != STATUS_MALFORMED) {
        snprintf(reason, WORKER_REASON_BYTES, "%s: the build worker ran out of memory",
                 request->file);
    }
    return status;
}

static Status begin_work(Work *work, ByteReader *request)
{
    *work = (Work){.heap = heap_make(CHECK_HEAP_BYTES)};
    return read_request(request, &work->request);
}

static void free_work(Work *work)
{
    free(work->request.lines);
    check_output_free(&work->heap, &work->output);
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
                         compile_source(&work, ignored) == STATUS_OK && !work.output.asks_world;
    out->rune = is_made ? malloc(work.output.rune_bytes) : NULL;
    if (out->rune != NULL) {
        snprintf(out->path, sizeof out->path, "%s", work.request.path);
        memcpy(out->rune, work.output.rune, work.output.rune_bytes);
        out->rune_bytes = work.output.rune_bytes;
    }
    free_work(&work);
    return out->rune != NULL;
}

static void try_out(Work *work)
{
    const Request *request = &work->request;
    DryRunModule *modules = calloc(request->module_count + 1u, sizeof *modules);
    DryRun run = {.path = request->path,
                  .file = request->file,
                  .context = request->context,
                  .rune = work->output.rune,
                  .rune_bytes = work->output.rune_bytes,
                  .modules = modules};
    bool has_all = modules != NULL;
    while (has_all && run.module_count < request->module_count) {
        const uint32_t i = run.module_count;
        has_all = make_module(request->modules[i].data, request->modules[i].bytes, &modules[i]);
        run.module_count += has_all;
    }
    run.asks_place = work->output.asks_world || !has_all ||
                     (work->output.asks_modules && request->module_count == 0);
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
    buffer_put_block(reply, work->output.rune, work->output.rune_bytes);
    buffer_put_u32(reply, work->output.require_count);
    for (uint32_t i = 0; i < work->output.require_count; i++) {
        buffer_put_u32(reply, work->output.require_lines[i]);
        buffer_put_block(reply, work->output.requires[i], strlen(work->output.requires[i]));
    }
    buffer_put_u8(reply, work->output.asks_world);
    buffer_put_u32(reply, work->output.asset_count);
    for (uint32_t i = 0; i < work->output.asset_count; i++) {
        const LintAsset *asset = &work->output.assets[i];
        buffer_put_u8(reply, (uint8_t)asset->kind);
        buffer_put_u32(reply, asset->line);
        buffer_put_block(reply, asset->name, strlen(asset->name));
    }
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
