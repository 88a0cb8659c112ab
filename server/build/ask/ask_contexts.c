// See ask_contexts.h.
#include "server/build/ask/ask_contexts.h"

#include "core/base/bytes.h"

#include <stdio.h>
#include <string.h>

void contexts_write_request(const PlaceFolder *folder, const SoulList *souls, Buffer *request)
{
    const PlaceFile none = {.path = CONTEXTS_FILE, .data = (const uint8_t *)"{}", .bytes = 2};
    const PlaceFile *settings = &none; // WORKER_PLACE reports a missing file
    for (uint32_t i = 0; i < folder->file_count; i++) {
        settings = strcmp(folder->files[i].path, CONTEXTS_FILE) == 0 ? &folder->files[i] : settings;
    }
    buffer_put_block(request, settings->data, settings->bytes);
    buffer_put_u32(request, souls->count);
    for (uint32_t i = 0; i < souls->count; i++) {
        buffer_put_block(request, souls->items[i].path, strlen(souls->items[i].path));
        buffer_put_u8(request, (uint8_t)souls->items[i].service);
    }
}

static Status read_contexts(ByteReader *reader, const SoulList *souls,
                            RunContext contexts[SOULS_MAX])
{
    bool is_good = byte_read_u32(reader) == souls->count;
    for (uint32_t i = 0; is_good && i < souls->count; i++) {
        Soul tried = souls->items[i];
        contexts[i] = (RunContext)byte_read_u8(reader);
        is_good = contexts[i] < CONTEXT_COUNT && soul_restrict_context(&tried, contexts[i]);
    }
    return is_good && byte_reader_finish(reader) == STATUS_OK ? STATUS_OK : STATUS_MALFORMED;
}

Status contexts_read_reply(const Buffer *reply, SoulList *souls, DiagnosticList *diagnostics)
{
    DiagnosticList list = {0};
    size_t used = 0;
    if (diagnostic_list_read(reply->data, reply->bytes, &used, &list) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    ByteReader reader = byte_reader(reply->data + used, reply->bytes - used);
    RunContext contexts[SOULS_MAX];
    const Status status = read_contexts(&reader, souls, contexts);
    if (status == STATUS_OK) {
        for (uint32_t i = 0; i < souls->count; i++) {
            soul_restrict_context(&souls->items[i], contexts[i]);
        }
        diagnostic_list_append(diagnostics, &list);
    }
    diagnostic_list_free(&list);
    return status;
}

typedef struct Asked {
    const PlaceFolder *folder;
    SoulList *souls;
    DiagnosticList *diagnostics;
} Asked;

static Status write_question(void *user, Buffer *request)
{
    const Asked *asked = user;
    contexts_write_request(asked->folder, asked->souls, request);
    return STATUS_OK;
}

static Status read_answer(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    return contexts_read_reply(reply, asked->souls, asked->diagnostics);
}

Status contexts_ask(const BuildContext *context, const PlaceFolder *folder, SoulList *souls)
{
    Asked asked = {folder, souls, context->diagnostics};
    WorkerQuestion question = {
        .op = WORKER_CONTEXTS, .write = write_question, .read = read_answer, .user = &asked};
    return context_ask(context, &question);
}
