// Requests to the TypeScript compiler and answers from it; the bytes are in typescript_frame.h. An
// answer is checked whole before anything of it is used: every count against the bytes that are
// left, every name against what was asked for.
#define _GNU_SOURCE
#include "server/build/typescript/typescript_frame.h"

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIAGNOSTIC_BYTES_MIN 21 // as it is on the wire, with all texts empty
#define OUTPUT_BYTES_MIN     16

enum { ANSWER_FINE, ANSWER_ERRORS, ANSWER_FAILED };

// --- requests -----------------------------------------------------------------------------------

static void put_text(Buffer *out, const char *text)
{
    buffer_put_block(out, text, strlen(text));
}

static bool is_wanted(const SoulList *souls, const bool *wanted, uint32_t i)
{
    return souls->items[i].language == SOUL_TYPESCRIPT && (wanted == NULL || wanted[i]);
}

uint32_t typescript_count(const SoulList *souls, uint64_t *bytes)
{
    uint32_t count = 0;
    *bytes = 0;
    for (uint32_t i = 0; i < souls->count; i++) {
        if (souls->items[i].language == SOUL_TYPESCRIPT) {
            count += 1;
            *bytes += souls->items[i].file->bytes;
        }
    }
    return count;
}

void typescript_write_request(Buffer *out, const char *declarations, size_t declarations_bytes,
                              const SoulList *souls, const bool *wanted)
{
    ASSERT(out->bytes == 0);
    buffer_put_u64(out, 0); // the length, filled in at the end
    buffer_put_block(out, declarations, declarations_bytes);
    buffer_put_u32(out, souls->count);
    for (uint32_t i = 0; i < souls->count; i++) {
        const Soul *soul = &souls->items[i];
        const bool is_typescript = soul->language == SOUL_TYPESCRIPT;
        put_text(out, soul->path);
        put_text(out, soul->file->path);
        buffer_put_u8(out, is_typescript);
        buffer_put_u8(out, is_wanted(souls, wanted, i));
        buffer_put_u8(out, soul->replicate);
        buffer_put_block(out, soul->file->data, is_typescript ? soul->file->bytes : 0);
    }
    if (out->status == STATUS_OK) {
        const uint64_t bytes = out->bytes - sizeof(uint64_t);
        for (uint32_t i = 0; i < sizeof bytes; i++) {
            out->data[i] = (uint8_t)(bytes >> (8 * i));
        }
    }
}

// --- texts --------------------------------------------------------------------------------------

void typescript_plain_text(const uint8_t *bytes, size_t count, char *out, size_t out_bytes)
{
    size_t at = 0;
    size_t used = 0;
    while (at < count) {
        const size_t length = utf8_length(bytes + at, count - at);
        const bool is_plain = length > 0 && !utf8_has_control(bytes + at, length);
        const size_t taken = is_plain ? length : 1;
        if (used + taken >= out_bytes) {
            break;
        }
        memcpy(out + used, is_plain ? (const char *)bytes + at : " ", taken);
        used += taken;
        at += length > 0 ? length : 1;
    }
    out[used] = '\0';
}

static void read_plain_text(ByteReader *reader, char *out, size_t out_bytes)
{
    size_t bytes;
    const uint8_t *text = byte_read_block(reader, &bytes);
    typescript_plain_text(text, text != NULL ? bytes : 0, out, out_bytes);
}

// --- progress -----------------------------------------------------------------------------------

Status typescript_read_progress(const uint8_t *bytes, size_t count, const SoulList *souls,
                                uint32_t *script, uint32_t *done)
{
    uint64_t source_bytes;
    ByteReader reader = byte_reader(bytes, count);
    const uint32_t said = byte_read_u32(&reader);
    const uint32_t said_done = byte_read_u32(&reader);
    if (byte_reader_finish(&reader) != STATUS_OK ||
        (said >= souls->count && said != TYPESCRIPT_NO_SCRIPT) ||
        said_done > typescript_count(souls, &source_bytes)) {
        return STATUS_MALFORMED;
    }
    *script = said;
    *done = said_done;
    return STATUS_OK;
}

// --- diagnostics --------------------------------------------------------------------------------

static bool is_file(const SoulList *souls, const char *name)
{
    for (uint32_t i = 0; i < souls->count; i++) {
        const char *path = souls->items[i].file->path;
        if (strncmp(path, name, DIAGNOSTIC_FILE_BYTES - 1) == 0) {
            return true;
        }
    }
    return name[0] == '\0';
}

static void read_diagnostics(ByteReader *reader, const SoulList *souls, DiagnosticList *list)
{
    const uint32_t count = byte_read_u32(reader);
    if (count > byte_reader_left(reader) / DIAGNOSTIC_BYTES_MIN) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        Diagnostic one = {.level = byte_read_bool(reader) ? DIAGNOSTIC_WARNING : DIAGNOSTIC_ERROR};
        read_plain_text(reader, one.file, sizeof one.file);
        one.line = byte_read_u32(reader);
        one.column = byte_read_u32(reader);
        read_plain_text(reader, one.code, sizeof one.code);
        read_plain_text(reader, one.message, sizeof one.message);
        if (!is_file(souls, one.file)) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
        if (reader->status == STATUS_OK) {
            diagnostic_add(list, &one);
        }
    }
}

// --- outputs ------------------------------------------------------------------------------------

static char *copy_block(ByteReader *reader, size_t *bytes)
{
    const uint8_t *block = byte_read_block(reader, bytes);
    char *copy = block != NULL ? malloc(*bytes + 1) : NULL;
    if (copy == NULL) {
        byte_reader_fail(reader, STATUS_LIMIT);
        return NULL;
    }
    memcpy(copy, block, *bytes);
    copy[*bytes] = '\0';
    return copy;
}

static void read_lines(ByteReader *reader, TypeScriptOutput *output)
{
    const uint32_t count = byte_read_u32(reader);
    if (count > byte_reader_left(reader) / sizeof(uint32_t)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    output->lines = calloc(count > 0 ? count : 1, sizeof(uint32_t));
    if (output->lines == NULL) {
        byte_reader_fail(reader, STATUS_LIMIT);
        return;
    }
    output->line_count = count;
    for (uint32_t i = 0; i < count; i++) {
        output->lines[i] = byte_read_u32(reader);
    }
}

static void read_output(ByteReader *reader, TypeScriptOutput *output)
{
    if (buffer_read_name(reader, output->path, SCRIPT_PATH_BYTES)) {
        output->lua = copy_block(reader, &output->lua_bytes);
        output->source_map = copy_block(reader, &output->source_map_bytes);
        read_lines(reader, output);
    }
}

static void read_outputs(ByteReader *reader, TypeScriptResult *out)
{
    const uint32_t count = byte_read_u32(reader);
    if (reader->status != STATUS_OK || count > SOULS_MAX + 1 ||
        count > byte_reader_left(reader) / OUTPUT_BYTES_MIN) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return;
    }
    out->items = calloc(count > 0 ? count : 1, sizeof *out->items);
    if (out->items == NULL) {
        byte_reader_fail(reader, STATUS_LIMIT);
        return;
    }
    for (uint32_t i = 0; i < count && reader->status == STATUS_OK; i++) {
        out->count = i + 1;
        read_output(reader, &out->items[i]);
    }
}

static int by_path(const void *left, const void *right)
{
    return strcmp(((const TypeScriptOutput *)left)->path, ((const TypeScriptOutput *)right)->path);
}

static const TypeScriptOutput *find_output(const TypeScriptResult *result, const char *path)
{
    TypeScriptOutput key;
    snprintf(key.path, sizeof key.path, "%s", path);
    return bsearch(&key, result->items, result->count, sizeof key, by_path);
}

// Checks that there is each wanted script once, perhaps the library, and nothing else. Sorted.
static bool is_what_was_asked(const TypeScriptResult *result, const SoulList *souls,
                              const bool *wanted)
{
    uint32_t count = find_output(result, TYPESCRIPT_LIBRARY) != NULL;
    for (uint32_t i = 0; i < souls->count; i++) {
        if (is_wanted(souls, wanted, i)) {
            count += 1;
            if (find_output(result, souls->items[i].path) == NULL) {
                return false;
            }
        }
    }
    return count == result->count;
}

void typescript_result_free(TypeScriptResult *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        free(result->items[i].lua);
        free(result->items[i].source_map);
        free(result->items[i].lines);
    }
    free(result->items);
    *result = (TypeScriptResult){0};
}

// --- the whole answer ---------------------------------------------------------------------------

static Status judge(uint32_t answer, const DiagnosticList *found, const TypeScriptResult *result,
                    const SoulList *souls, const bool *wanted)
{
    switch (answer) {
    case ANSWER_FINE:
        return found->error_count == 0 && is_what_was_asked(result, souls, wanted)
                   ? STATUS_OK
                   : STATUS_MISMATCH;
    case ANSWER_ERRORS:
        return found->error_count > 0 && result->count == 0 ? STATUS_MALFORMED : STATUS_MISMATCH;
    case ANSWER_FAILED:
        return result->count == 0 ? STATUS_LIMIT : STATUS_MISMATCH;
    default:
        return STATUS_MISMATCH;
    }
}

Status typescript_read_result(const uint8_t *bytes, size_t count, const SoulList *souls,
                              const bool *wanted, TypeScriptResult *out,
                              DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES])
{
    ByteReader reader = byte_reader(bytes, count);
    TypeScriptResult result = {0};
    DiagnosticList found = {0};
    char said[WORKER_REASON_BYTES];
    const uint32_t answer = byte_read_u32(&reader);
    read_plain_text(&reader, said, sizeof said);
    read_diagnostics(&reader, souls, &found);
    read_outputs(&reader, &result);
    Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        if (result.count > 0) {
            qsort(result.items, result.count, sizeof *result.items, by_path);
        }
        status = judge(answer, &found, &result, souls, wanted);
        snprintf(reason, WORKER_REASON_BYTES, "%s", status == STATUS_LIMIT ? said : "");
    } else if (status == STATUS_LIMIT) {
        snprintf(reason, WORKER_REASON_BYTES, "no memory is left for the compiler's answer");
    } else {
        status = STATUS_MISMATCH;
    }
    if (status != STATUS_MISMATCH) {
        diagnostic_list_append(diagnostics, &found);
    }
    if (status == STATUS_OK) {
        *out = result;
    } else {
        typescript_result_free(&result);
    }
    diagnostic_list_free(&found);
    return status;
}
