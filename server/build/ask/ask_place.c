// See ask_place.h.
#include "server/build/ask/ask_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_request(const PlaceFolder *folder, PlaceAssetPaths assets, Buffer *out)
{
    uint32_t count = assets.count;
    for (uint32_t i = 0; i < folder->file_count; i++) {
        count += place_folder_is_scene(&folder->files[i]);
    }
    buffer_put_u32(out, count);
    for (uint32_t i = 0; i < folder->file_count; i++) {
        const PlaceFile *file = &folder->files[i];
        if (place_folder_is_scene(file)) {
            buffer_put_block(out, file->path, strlen(file->path));
            buffer_put_block(out, file->data, file->bytes);
        }
    }
    for (uint32_t i = 0; i < assets.count; i++) {
        buffer_put_block(out, assets.paths[i], strlen(assets.paths[i]));
        buffer_put_block(out, "", 0);
    }
}

static bool copy_block(ByteReader *reader, uint8_t **out, size_t *bytes)
{
    const uint8_t *data = byte_read_block(reader, bytes);
    if (data == NULL) {
        return false;
    }
    *out = malloc(*bytes + 1);
    if (*out != NULL) {
        memcpy(*out, data, *bytes);
    }
    return *out != NULL;
}

static bool read_facts(ByteReader *reader, PlaceFacts *out)
{
    place_facts_read(reader, out);
    return reader->status == STATUS_OK;
}

Status place_read_reply(const Buffer *reply, Status said, PlaceOutput *out,
                        DiagnosticList *diagnostics)
{
    size_t used = 0;
    DiagnosticList list = {0};
    PlaceOutput output = {0};
    Status status = diagnostic_list_read(reply->data, reply->bytes, &used, &list);
    if (status == STATUS_OK && said == STATUS_OK) {
        ByteReader reader = byte_reader(reply->data + used, reply->bytes - used);
        const bool is_whole = copy_block(&reader, &output.whole, &output.whole_bytes) &&
                              read_facts(&reader, &output.facts) &&
                              copy_block(&reader, &output.stripped, &output.stripped_bytes) &&
                              copy_block(&reader, &output.frame, &output.frame_bytes) &&
                              byte_reader_finish(&reader) == STATUS_OK;
        status = is_whole ? STATUS_OK : STATUS_MALFORMED;
    }
    if (status == STATUS_OK) {
        diagnostic_list_append(diagnostics, &list);
        *out = output;
    } else {
        place_output_free(&output);
    }
    diagnostic_list_free(&list);
    return status;
}

typedef struct Asked {
    const PlaceFolder *folder;
    PlaceAssetPaths assets;
    PlaceOutput *out;
    DiagnosticList *diagnostics;
} Asked;

static Status write_question(void *user, Buffer *request)
{
    const Asked *asked = user;
    write_request(asked->folder, asked->assets, request);
    return STATUS_OK;
}

static Status read_answer(void *user, Status said, const Buffer *reply)
{
    const Asked *asked = user;
    return place_read_reply(reply, said, asked->out, asked->diagnostics);
}

Status place_ask(const BuildContext *context, const PlaceFolder *folder, PlaceAssetPaths assets,
                 PlaceOutput *out)
{
    *out = (PlaceOutput){0};
    Asked asked = {folder, assets, out, context->diagnostics};
    WorkerQuestion question = {.op = WORKER_PLACE,
                               .write = write_question,
                               .read = read_answer,
                               .user = &asked,
                               .answers_failure = true};
    return context_ask(context, &question);
}

void place_output_free(PlaceOutput *output)
{
    free(output->whole);
    free(output->stripped);
    free(output->frame);
    *output = (PlaceOutput){0};
}
