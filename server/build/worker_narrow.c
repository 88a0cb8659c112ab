// See worker_narrow.h; both sides of the pipe. A member that is not understood is an error, never
// ignored: a narrowing that is overlooked would send a secret to every client.
#include "server/build/worker_narrow.h"

#include "core/base/arena.h"
#include "core/base/json_read.h"
#include "core/base/nearest.h"
#include "server/build/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS       "place.json"
#define SETTINGS_BYTES (2u << 20)
#define SETTINGS_NODES (1u << 16)
#define ARENA_BYTES    (12u << 20)

// --- inside -------------------------------------------------------------------------------------

static Soul *soul_named(const SoulList *list, const char *path, size_t bytes)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (strlen(list->items[i].path) == bytes && memcmp(list->items[i].path, path, bytes) == 0) {
            return &list->items[i];
        }
    }
    return NULL;
}

static void narrow_one(const SoulList *list, const JsonNode *member, JsonError *error)
{
    const char *names[CONTEXT_COUNT];
    for (uint32_t i = 0; i < CONTEXT_COUNT; i++) {
        names[i] = soul_context_name((RunContext)i);
    }
    const RunContext context = (RunContext)json_read_choice(member, names, CONTEXT_COUNT, error);
    Soul *soul = soul_named(list, member->name, member->name_bytes);
    if (error->status != STATUS_OK) {
        return;
    }
    if (soul == NULL) {
        Nearest nearest = nearest_begin_path(member->name, member->name_bytes);
        for (uint32_t i = 0; i < list->count; i++) {
            (void)nearest_consider(&nearest, list->items[i].path, strlen(list->items[i].path));
        }
        if (nearest.found != NULL) {
            json_fail(error, STATUS_NOT_FOUND, member, "names no script; did you mean %s?",
                      nearest.found);
        } else {
            json_fail(error, STATUS_NOT_FOUND, member,
                      "names no script; write it as \"Workspace/Door\", without an ending");
        }
    } else if (!soul_narrow(soul, context)) {
        json_fail(error, STATUS_DENIED, member,
                  "cannot be %s: %s runs on the %s alone; contexts only narrow", names[context],
                  soul_service_name(soul->service),
                  soul->context == CONTEXT_SERVER ? "server" : "client");
    }
}

static void tell(DiagnosticList *diagnostics, const JsonError *error)
{
    char words[JSON_ERROR_TEXT_BYTES];
    json_error_words(error, words);
    diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, SETTINGS, error->line, error->column, "place",
                    "%s", words);
}

// Every member that is wrong is told of; what the others take away is taken all the same.
static void narrow_all(const char *text, size_t bytes, const SoulList *list, Arena *arena,
                       DiagnosticList *diagnostics)
{
    JsonConfig config = json_config_default(arena);
    config.bytes_max = SETTINGS_BYTES;
    config.node_count_max = SETTINGS_NODES;
    JsonError whole = {0};
    const JsonNode *root = NULL, *member = NULL;
    // That the rest of its members are right is WORKER_PLACE's to say; but what cannot be read here
    // fails here, or a narrowing in it would be lost.
    if (json_parse(&config, text, bytes, &root, &whole) == STATUS_OK) {
        const JsonNode *contexts = json_find(root, "contexts");
        member = contexts == NULL ? NULL : json_read_object(contexts, &whole);
    }
    if (whole.status != STATUS_OK) {
        tell(diagnostics, &whole);
        return;
    }
    for (; member != NULL; member = member->next) {
        JsonError error = {0};
        narrow_one(list, member, &error);
        if (error.status != STATUS_OK) {
            tell(diagnostics, &error);
        }
    }
}

static bool read_souls(ByteReader *reader, SoulList *list)
{
    const uint32_t count = byte_read_u32(reader);
    if (reader->status != STATUS_OK || count > SOULS_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        Soul *soul = &list->items[list->count++];
        size_t bytes;
        const uint8_t *path = byte_read_block(reader, &bytes);
        const uint8_t service = byte_read_u8(reader);
        if (path == NULL || bytes >= sizeof soul->path || service >= SERVICE_COUNT) {
            return false;
        }
        memcpy(soul->path, path, bytes);
        soul->service = (SoulService)service;
        soul->context = soul_service_context(soul->service);
    }
    return byte_reader_finish(reader) == STATUS_OK;
}

static void answer(WorkerCall *call, const SoulList *list, const DiagnosticList *diagnostics)
{
    diagnostic_list_write(diagnostics, &call->reply);
    buffer_put_u32(&call->reply, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        buffer_put_u8(&call->reply, (uint8_t)list->items[i].context);
    }
}

static size_t arena_bytes_for(size_t text_bytes)
{
    // A value of a tree takes 64 bytes or so, and at least two of the text.
    const size_t wanted = 4096 + (text_bytes < SETTINGS_BYTES ? text_bytes : SETTINGS_BYTES) * 80;
    return wanted < ARENA_BYTES ? wanted : ARENA_BYTES;
}

Status worker_narrow(WorkerCall *call)
{
    size_t bytes;
    const uint8_t *text = byte_read_block(&call->request, &bytes);
    SoulList list = {.items = calloc(SOULS_MAX, sizeof *list.items)};
    void *block = malloc(arena_bytes_for(bytes));
    Status status = STATUS_OK;
    if (list.items == NULL || block == NULL) {
        status = worker_refuse(call, STATUS_LIMIT, "out of memory");
    } else if (text == NULL || !read_souls(&call->request, &list)) {
        status = worker_refuse(call, STATUS_MALFORMED, "not a request for contexts");
    } else {
        Arena arena;
        DiagnosticList diagnostics = {0};
        arena_init(&arena, block, arena_bytes_for(bytes));
        narrow_all((const char *)text, bytes, &list, &arena, &diagnostics);
        answer(call, &list, &diagnostics);
        diagnostic_list_free(&diagnostics);
    }
    free(block);
    soul_list_free(&list);
    return status;
}

// --- outside ------------------------------------------------------------------------------------

void narrow_write_request(const PlaceFolder *folder, const SoulList *souls, Buffer *request)
{
    const PlaceFile none = {.path = SETTINGS, .data = (const uint8_t *)"{}", .bytes = 2};
    const PlaceFile *settings = &none; // that it is missing is WORKER_PLACE's to say
    for (uint32_t i = 0; i < folder->file_count; i++) {
        settings = strcmp(folder->files[i].path, SETTINGS) == 0 ? &folder->files[i] : settings;
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
        is_good = contexts[i] < CONTEXT_COUNT && soul_narrow(&tried, contexts[i]);
    }
    return is_good && byte_reader_finish(reader) == STATUS_OK ? STATUS_OK : STATUS_MALFORMED;
}

Status narrow_read_reply(const Buffer *reply, SoulList *souls, DiagnosticList *diagnostics)
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
            soul_narrow(&souls->items[i], contexts[i]);
        }
        diagnostic_list_append(diagnostics, &list);
    }
    diagnostic_list_free(&list);
    return status;
}

Status narrow_call(Worker *worker, const PlaceFolder *folder, SoulList *souls,
                   DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES])
{
    Buffer request = buffer_of(WORKER_REQUEST_MAX), reply = {0};
    narrow_write_request(folder, souls, &request);
    Status status = request.status;
    if (status != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "%s is too large", SETTINGS);
    } else {
        status = worker_call(worker, WORKER_NARROW, request.data, request.bytes, &reply, reason);
    }
    if (status == STATUS_OK && narrow_read_reply(&reply, souls, diagnostics) != STATUS_OK) {
        status = worker_distrust(worker, reason);
    }
    buffer_free(&request);
    buffer_free(&reply);
    return status;
}
