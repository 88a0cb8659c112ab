// Compiles the scene of a place; ask_place.h describes the request and the reply.
//
// The two forms are written straight into the reply, which may be large: the worker's memory holds
// the request, the reply and the compiler's scratch, and not one of them twice.
#include "server/build/ask/ask_place.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/place/place.h"
#include "server/build/inside/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRATCH_BYTES   (320u << 20)
#define ROOM_BYTES      (4u << 20)
#define ROOM_TIMES      8
#define FACTS_BYTES_MAX (PLACE_NAME_BYTES + 16)

// Paths have no zero after them on the wire: they are copied into one block.
static Status read_files(ByteReader *reader, PlaceFile *files, uint32_t count, char *paths)
{
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes;
        char *name = paths + (size_t)i * DIAGNOSTIC_FILE_BYTES;
        const bool has_name = buffer_read_name(reader, name, DIAGNOSTIC_FILE_BYTES);
        const uint8_t *data = byte_read_block(reader, &bytes);
        if (!has_name || reader->status != STATUS_OK) {
            return STATUS_MALFORMED;
        }
        files[i] = (PlaceFile){.path = name, .data = data, .bytes = bytes};
    }
    return byte_reader_finish(reader);
}

// Reports an error in the form that editors show.
static void tell_error(const PlaceError *error, DiagnosticList *list)
{
    const JsonError *where = &error->where;
    char words[JSON_ERROR_TEXT_BYTES];
    json_error_words(where, words);
    diagnostic_addf(list, DIAGNOSTIC_ERROR, error->path, where->line, where->column, "place", "%s",
                    where->message[0] != '\0' ? words : status_text(error->status));
}

// Begins a block whose length is only known at its end.
static ByteWriter block_begin(Buffer *reply)
{
    buffer_put_u32(reply, 0);
    return byte_writer(reply->data + reply->bytes, reply->capacity - reply->bytes);
}

static void block_end(Buffer *reply, size_t bytes)
{
    uint8_t *length = reply->data + reply->bytes - 4;
    for (uint32_t i = 0; i < 4; i++) {
        length[i] = (uint8_t)(bytes >> (8 * i));
    }
    reply->bytes += bytes;
}

static Status reserve(WorkerCall *call, size_t capacity)
{
    Buffer *reply = &call->reply;
    buffer_free(reply);
    reply->data = malloc(capacity);
    if (reply->data == NULL) {
        return worker_refuse(call, STATUS_LIMIT,
                             "the build worker has too little memory for a scene");
    }
    reply->capacity = capacity;
    buffer_put_u32(reply, 0); // no diagnostics
    return STATUS_OK;
}

static Status refuse_scene(WorkerCall *call, Status status, const PlaceError *error)
{
    DiagnosticList list = {0};
    PlaceError what = *error;
    what.status = status;
    tell_error(&what, &list);
    call->reply.bytes = 0;
    diagnostic_list_write(&list, &call->reply);
    diagnostic_list_free(&list);
    return worker_refuse(call, STATUS_MALFORMED, "the place's scene cannot be compiled");
}

// Loads the scene with the code that a world uses: what cannot be loaded is rejected.
static Status tell_facts(WorkerCall *call, Heap *heap, const uint8_t *whole, size_t bytes)
{
    Place *place = NULL;
    const Status status = place_load(heap, whole, bytes, &place);
    if (status != STATUS_OK) {
        call->reply.bytes = 0;
        return worker_refuse(call, status, "the compiled scene cannot be loaded");
    }
    PlaceFacts facts = {.tick_rate = place->tick_rate,
                        .player_max = place->player_max,
                        .entity_max = place->entity_max};
    ASSERT(place->name.bytes < sizeof facts.name);
    memcpy(facts.name, place->name.data, place->name.bytes);
    place_unload(heap, place);
    place_facts_write(&facts, &call->reply);
    return STATUS_OK;
}

static void put_scripted(void *user, const PlaceScripted *scripted)
{
    ByteWriter *writer = user;
    byte_write_u64(writer, scripted->net_id);
    byte_write_u32(writer, (uint32_t)scripted->prefab.bytes);
    byte_write_bytes(writer, scripted->prefab.data, scripted->prefab.bytes);
    byte_write_u32(writer, (uint32_t)scripted->parameters.bytes);
    byte_write_bytes(writer, scripted->parameters.data, scripted->parameters.bytes);
}

static Status tell_frame(WorkerCall *call, Heap *heap, const uint8_t *whole, size_t bytes)
{
    uint8_t hash[SHA256_BYTES] = {0};
    ByteWriter frame = block_begin(&call->reply);
    ByteWriter begin = frame;
    byte_write_bytes(&frame, hash, sizeof hash);
    Status status = place_frame(heap, whole, bytes, hash, put_scripted, &frame);
    status = status == STATUS_OK ? frame.status : status;
    if (status == STATUS_OK) {
        byte_write_bytes(&begin, hash, sizeof hash);
        block_end(&call->reply, frame.at);
    }
    return status;
}

// *is_full: memory ran out, so with more of it the answer may be another.
static Status compile_into(WorkerCall *call, const PlaceFile *files, uint32_t count, bool *is_full)
{
    Heap heap = heap_make(SCRATCH_BYTES);
    Buffer *reply = &call->reply;
    PlaceError error = {0};
    ByteWriter whole = block_begin(reply);
    worker_progress(0, 3);
    Status status = place_compile(&heap, files, count, &whole, &error);
    *is_full = whole.status == STATUS_LIMIT;
    if (status != STATUS_OK) {
        return refuse_scene(call, status, &error);
    }
    const uint8_t *bytes = reply->data + reply->bytes;
    block_end(reply, whole.at);
    if (reply->capacity - reply->bytes < FACTS_BYTES_MAX + 4) {
        *is_full = true;
        return worker_refuse(call, STATUS_LIMIT, "the compiled scene is too large");
    }
    worker_progress(1, 3);
    status = tell_facts(call, &heap, bytes, whole.at);
    if (status != STATUS_OK) {
        return status;
    }
    ByteWriter stripped = block_begin(reply);
    worker_progress(2, 3);
    status = place_strip(&heap, bytes, whole.at, &stripped);
    *is_full = stripped.status == STATUS_LIMIT;
    if (status != STATUS_OK) {
        reply->bytes = 0;
        return worker_refuse(call, status,
                             status == STATUS_LIMIT ? "the compiled scene is too large"
                                                    : "the compiled scene cannot be stripped");
    }
    block_end(reply, stripped.at);
    if (reply->capacity - reply->bytes < 4) {
        *is_full = true;
        return worker_refuse(call, STATUS_LIMIT, "the compiled scene is too large");
    }
    status = tell_frame(call, &heap, bytes, whole.at);
    if (status != STATUS_OK) {
        *is_full = status == STATUS_LIMIT;
        reply->bytes = 0;
        return worker_refuse(call, status, "the compiled scene is too large");
    }
    return STATUS_OK;
}

// First with memory for most places; the rare large one is compiled again with all there is.
static Status compile_with_room(WorkerCall *call, const PlaceFile *files, uint32_t count)
{
    const size_t most = call->reply.bytes_max;
    const size_t usual = ROOM_BYTES + ROOM_TIMES * call->request.size;
    bool is_full = false;
    Status status = reserve(call, usual < most ? usual : most);
    if (status == STATUS_OK) {
        status = compile_into(call, files, count, &is_full);
    }
    if (is_full && usual < most) {
        status = reserve(call, most);
        call->reason[0] = '\0';
        if (status == STATUS_OK) {
            status = compile_into(call, files, count, &is_full);
        } else {
            worker_refuse(call, status, "the build worker has too little memory for a scene");
        }
    }
    return status;
}

Status worker_place(WorkerCall *call)
{
    const uint32_t count = byte_read_u32(&call->request);
    if (call->request.status != STATUS_OK || count > 2 * PLACE_FILES_MAX) {
        return worker_refuse(call, STATUS_MALFORMED, "not a request for a scene");
    }
    PlaceFile *files = calloc(count + 1, sizeof *files);
    char *paths = calloc(count + 1, DIAGNOSTIC_FILE_BYTES);
    Status status = STATUS_LIMIT;
    if (files == NULL || paths == NULL) {
        worker_refuse(call, status, "out of memory");
    } else if ((status = read_files(&call->request, files, count, paths)) != STATUS_OK) {
        worker_refuse(call, status, "not a request for a scene");
    } else {
        status = compile_with_room(call, files, count);
    }
    free(files);
    free(paths);
    return status;
}
