// See ask_soul_context.h.
#include "server/build/ask/ask_soul_context.h"

#include "core/base/utf8.h"

#include <string.h>

static bool is_wanted(const PlaceFile *file)
{
    return strcmp(file->path, "scene.json") == 0 || place_path_is_prefab(file->path);
}

void soul_context_request(const PlaceFile *files, uint32_t file_count, const SoulContextAsk *ask,
                          Buffer *out)
{
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        wanted += is_wanted(&files[i]);
    }
    buffer_put_block(out, ask->path, strlen(ask->path));
    buffer_put_u8(out, ask->replicate);
    buffer_put_block(out, ask->text, ask->text_bytes);
    buffer_put_u32(out, wanted);
    for (uint32_t i = 0; i < file_count; i++) {
        if (is_wanted(&files[i])) {
            buffer_put_block(out, files[i].path, strlen(files[i].path));
            buffer_put_block(out, files[i].data, files[i].bytes);
        }
    }
}

typedef struct Asked {
    const PlaceFolder *folder;
    const SoulContextAsk *ask;
    Buffer *out;
} Asked;

static Status write_question(void *user, Buffer *request)
{
    const Asked *asked = user;
    soul_context_request(asked->folder->files, asked->folder->file_count, asked->ask, request);
    return STATUS_OK;
}

static Status read_answer(void *user, Status said, const Buffer *reply)
{
    (void)said;
    const Asked *asked = user;
    if (reply->bytes > SOUL_CONTEXT_BYTES_MAX || !utf8_is_valid(reply->data, reply->bytes)) {
        return STATUS_MALFORMED;
    }
    buffer_put(asked->out, reply->data, reply->bytes);
    return asked->out->status;
}

Status soul_context_ask(const BuildContext *context, const PlaceFolder *folder,
                        const SoulContextAsk *ask, Buffer *out)
{
    Asked asked = {folder, ask, out};
    WorkerQuestion question = {
        .op = WORKER_SOUL_CONTEXT, .write = write_question, .read = read_answer, .user = &asked};
    return context_ask(context, &question);
}
