// See ask_place.h.
#include "server/build/ask/ask_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_request(const PlaceFolder *folder, Buffer *out)
{
    uint32_t count = 0;
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
    Status status = diagnostic_list_read(reply->data, reply->bytes, &used, diagnostics);
    if (status != STATUS_OK || said != STATUS_OK) {
        return status;
    }
    ByteReader reader = byte_reader(reply->data + used, reply->bytes - used);
    PlaceOutput output = {0};
    const bool whole = copy_block(&reader, &output.whole, &output.whole_bytes) &&
                       read_facts(&reader, &output.facts) &&
                       copy_block(&reader, &output.stripped, &output.stripped_bytes) &&
                       byte_reader_finish(&reader) == STATUS_OK;
    if (!whole) {
        place_output_free(&output);
        return STATUS_MALFORMED;
    }
    *out = output;
    return STATUS_OK;
}

Status place_call(Worker *worker, const PlaceFolder *folder, PlaceOutput *out,
                  DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES])
{
    Buffer request = buffer_of(WORKER_REQUEST_MAX), reply;
    *out = (PlaceOutput){0};
    write_request(folder, &request);
    if (request.status != STATUS_OK) {
        buffer_free(&request);
        snprintf(reason, WORKER_REASON_BYTES, "the place's JSON and chunks are too large");
        return STATUS_LIMIT;
    }
    const Status status =
        worker_call(worker, WORKER_PLACE, request.data, request.bytes, &reply, reason);
    buffer_free(&request);
    const bool answered = status == STATUS_OK || (status == STATUS_MALFORMED && reply.bytes > 0);
    if (answered && place_read_reply(&reply, status, out, diagnostics) != STATUS_OK) {
        buffer_free(&reply);
        return worker_reply_invalid(worker, reason);
    }
    buffer_free(&reply);
    return status;
}

void place_output_free(PlaceOutput *output)
{
    free(output->whole);
    free(output->stripped);
    *output = (PlaceOutput){0};
}
