// Reads where the scripts of a place run; see ask_contexts.h.
#include "core/script/check/check.h"
#include "server/build/ask/ask_contexts.h"
#include "server/build/inside/worker_op.h"

#include <stdlib.h>

#define HEAP_BYTES (16u << 20)

typedef struct Scripts {
    CheckModule *items;
    uint32_t count;
} Scripts;

static bool read_scripts(ByteReader *reader, Scripts *scripts)
{
    const uint32_t count = byte_read_u32(reader);
    if (reader->status != STATUS_OK || count > SOULS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        CheckModule *script = &scripts->items[scripts->count++];
        const bool has_path = buffer_read_name(reader, script->path, sizeof script->path);
        const uint8_t service = byte_read_u8(reader);
        if (!has_path || service >= SERVICE_COUNT) {
            return false;
        }
        script->service = (ScriptService)service;
        script->context = check_service_context(script->service);
    }
    return byte_reader_finish(reader) == STATUS_OK;
}

static void write_reply(WorkerCall *call, const Scripts *scripts, const DiagnosticList *diagnostics)
{
    diagnostic_list_write(diagnostics, &call->reply);
    buffer_put_u32(&call->reply, scripts->count);
    for (uint32_t i = 0; i < scripts->count; i++) {
        buffer_put_u8(&call->reply, (uint8_t)scripts->items[i].context);
    }
}

static Status answer_contexts(WorkerCall *call, const Scripts *scripts, const uint8_t *text,
                              size_t bytes)
{
    Heap heap = heap_make(HEAP_BYTES);
    DiagnosticList diagnostics = {0};
    const CheckSink sink = diagnostic_list_sink(&diagnostics);
    Status status =
        check_contexts(&heap, (const char *)text, bytes, scripts->items, scripts->count, &sink);
    if (status == STATUS_OK) {
        write_reply(call, scripts, &diagnostics);
    } else {
        status = worker_refuse(call, status, "out of memory");
    }
    diagnostic_list_free(&diagnostics);
    return status;
}

Status worker_contexts(WorkerCall *call)
{
    size_t bytes;
    const uint8_t *text = byte_read_block(&call->request, &bytes);
    Scripts scripts = {.items = calloc(SOULS_MAX, sizeof *scripts.items)};
    Status status;
    if (scripts.items == NULL) {
        status = worker_refuse(call, STATUS_LIMIT, "out of memory");
    } else if (text == NULL || !read_scripts(&call->request, &scripts)) {
        status = worker_refuse(call, STATUS_MALFORMED, "not a request for contexts");
    } else {
        status = answer_contexts(call, &scripts, text, bytes);
    }
    free(scripts.items);
    return status;
}
