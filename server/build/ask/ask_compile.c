// See ask_compile.h.
#include "server/build/ask/ask_compile.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/script/check/check_refusal.h"
#include "core/script/rune/rune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_request(const CompileJob *job, Buffer *out);

static void write_modules(const CompileJob *job, Buffer *out)
{
    buffer_put_u32(out, job->module_count);
    for (uint32_t i = 0; i < job->module_count; i++) {
        ASSERT(job->modules[i].module_count ==
               0); // no modules of modules, so the recursion ends here
        Buffer module = buffer_of(WORKER_REQUEST_MAX);
        write_request(&job->modules[i], &module);
        buffer_put_block(out, module.data, module.bytes);
        out->status = module.status != STATUS_OK ? module.status : out->status;
        buffer_free(&module);
    }
}

static void write_request(const CompileJob *job, Buffer *out)
{
    buffer_put_block(out, job->path, strlen(job->path));
    buffer_put_block(out, job->file, strlen(job->file));
    buffer_put_u8(out, (uint8_t)job->context);
    buffer_put_u8(out, (uint8_t)((job->dry_run ? COMPILE_FLAG_DRY_RUN : 0) |
                                 (job->is_generated ? COMPILE_FLAG_GENERATED : 0) |
                                 (job->module_count > 0 ? COMPILE_FLAG_MODULES : 0)));
    const uint32_t lines = job->lines != NULL ? job->line_count : 0;
    buffer_put_u32(out, lines);
    for (uint32_t i = 0; i < lines; i++) {
        buffer_put_u32(out, job->lines[i]);
    }
    buffer_put_block(out, job->source, job->source_bytes);
    if (job->module_count > 0) {
        write_modules(job, out);
    }
}

static bool read_requires(ByteReader *reader, CompileOutput *out)
{
    const uint32_t count = byte_read_u32(reader);
    if (reader->status != STATUS_OK || count > COMPILE_REQUIRES_MAX) {
        return false;
    }
    out->requires = calloc(count + 1, sizeof *out->requires);
    out->require_lines = calloc(count + 1, sizeof *out->require_lines);
    const bool has_room = out->requires != NULL && out->require_lines != NULL;
    for (uint32_t i = 0; has_room && i < count; i++) {
        out->require_lines[i] = byte_read_u32(reader);
        char *path = out->requires[i];
        // In order and each once, as they go into a signed manifest.
        if (!buffer_read_plain_name(reader, path, SCRIPT_PATH_BYTES) ||
            (i > 0 && strcmp(out->requires[i - 1], path) >= 0)) {
            return false;
        }
        out->require_count += 1;
    }
    out->asks_world = byte_read_u8(reader) != 0;
    return has_room;
}

static bool read_assets(ByteReader *reader, CompileOutput *out)
{
    const uint32_t count = byte_read_u32(reader);
    if (reader->status != STATUS_OK || count > CHECK_ASSETS_MAX) {
        return false;
    }
    out->assets = calloc(count + 1, sizeof *out->assets);
    for (uint32_t i = 0; out->assets != NULL && i < count; i++) {
        LintAsset *asset = &out->assets[i];
        const uint8_t kind = byte_read_u8(reader);
        asset->line = byte_read_u32(reader);
        if (kind >= LINT_ASSET_COUNT ||
            !buffer_read_plain_name(reader, asset->name, sizeof asset->name)) {
            return false;
        }
        asset->kind = (LintAssetKind)kind;
        out->asset_count += 1;
    }
    return out->assets != NULL;
}

static bool read_rune(ByteReader *reader, const CompileJob *job, CompileOutput *out)
{
    Rune rune;
    const uint8_t *data = byte_read_block(reader, &out->rune_bytes);
    if (data == NULL || rune_check(data, out->rune_bytes, &rune) != STATUS_OK ||
        strcmp(rune.path, job->path) != 0) {
        return false;
    }
    out->rune = malloc(out->rune_bytes);
    if (out->rune == NULL) {
        return false;
    }
    memcpy(out->rune, data, out->rune_bytes);
    sha256_of(out->rune, out->rune_bytes, out->rune_hash);
    return true;
}

Status compile_read_reply(const Buffer *reply, Status said, const CompileJob *job,
                          CompileOutput *out, DiagnosticList *diagnostics)
{
    size_t used = 0;
    DiagnosticList list = {0};
    const Status status = diagnostic_list_read(reply->data, reply->bytes, &used, &list);
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        snprintf(list.items[i].file, sizeof list.items[i].file, "%s", job->file);
    }
    ByteReader reader = byte_reader(reply->data + used, reply->bytes - used);
    CompileOutput output = {0};
    // Either an error without a rune, or a rune without an error; anything else is invalid.
    const bool has_rune = said == STATUS_OK && job->module_count == 0;
    const bool is_sound =
        (list.error_count > 0) == (said != STATUS_OK) &&
        (!has_rune || (read_rune(&reader, job, &output) && read_requires(&reader, &output) &&
                       read_assets(&reader, &output)));
    if (!is_sound || byte_reader_finish(&reader) != STATUS_OK) {
        compile_output_free(&output);
        diagnostic_list_free(&list);
        return STATUS_MALFORMED;
    }
    diagnostic_list_append(diagnostics, &list);
    diagnostic_list_free(&list);
    *out = output;
    return STATUS_OK;
}

typedef struct Asked {
    const CompileJob *job;
    CompileOutput *out;
    DiagnosticList *diagnostics;
} Asked;

static Status write_question(void *user, Buffer *request)
{
    const Asked *asked = user;
    write_request(asked->job, request);
    return STATUS_OK;
}

static Status read_answer(void *user, Status said, const Buffer *reply)
{
    const Asked *asked = user;
    return compile_read_reply(reply, said, asked->job, asked->out, asked->diagnostics);
}

Status compile_ask(const BuildContext *context, const CompileJob *job, const CacheKey *key,
                   CompileOutput *out, bool *was_cached)
{
    *out = (CompileOutput){0};
    const CheckSink sink = diagnostic_list_sink(context->diagnostics);
    if (!check_refusal_fits(job->file, job->source_bytes, &sink)) { // it need not be sent
        return context_fail(context, STATUS_MALFORMED, "%s does not compile", job->file);
    }
    Asked asked = {job, out, context->diagnostics};
    WorkerQuestion question = {.op = WORKER_COMPILE,
                               .key = key,
                               .write = write_question,
                               .read = read_answer,
                               .user = &asked,
                               .answers_failure = true};
    const Status status = context_ask(context, &question);
    if (was_cached != NULL) {
        *was_cached = question.was_cached;
    }
    return status;
}

void compile_output_free(CompileOutput *output)
{
    free(output->rune);
    free(output->requires);
    free(output->require_lines);
    free(output->assets);
    *output = (CompileOutput){0};
}
