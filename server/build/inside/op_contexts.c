// Reads where the scripts of a place run; see ask_contexts.h. A member that is not understood is an
// error and never ignored: an overlooked restriction would send a secret to every client.
#include "server/build/ask/ask_contexts.h"

#include "core/base/arena.h"
#include "core/base/json_read.h"
#include "core/base/nearest.h"
#include "server/build/inside/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_BYTES (2u << 20)
#define SETTINGS_NODES (1u << 16)
#define ARENA_BYTES    (12u << 20)

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
    } else if (!soul_restrict_context(soul, context)) {
        json_fail(error, STATUS_DENIED, member,
                  "cannot be %s: %s runs on the %s alone; contexts only narrow", names[context],
                  soul_service_name(soul->service),
                  soul->context == CONTEXT_SERVER ? "server" : "client");
    }
}

static void tell_json_error(DiagnosticList *diagnostics, const JsonError *error)
{
    char words[JSON_ERROR_TEXT_BYTES];
    json_error_words(error, words);
    diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, CONTEXTS_FILE, error->line, error->column,
                    "place", "%s", words);
}

// Every wrong member is reported; the restrictions of the others are applied all the same.
static void narrow_all(const char *text, size_t bytes, const SoulList *list, Arena *arena,
                       DiagnosticList *diagnostics)
{
    JsonConfig config = json_config_default(arena);
    config.bytes_max = SETTINGS_BYTES;
    config.node_count_max = SETTINGS_NODES;
    JsonError whole = {0};
    const JsonNode *root = NULL, *member = NULL;
    // WORKER_PLACE checks the other members. But text that cannot be parsed fails here, or a
    // restriction in it would be lost.
    if (json_parse(&config, text, bytes, &root, &whole) == STATUS_OK) {
        const JsonNode *contexts = json_find(root, "contexts");
        member = contexts == NULL ? NULL : json_read_object(contexts, &whole);
    }
    if (whole.status != STATUS_OK) {
        tell_json_error(diagnostics, &whole);
        return;
    }
    for (; member != NULL; member = member->next) {
        JsonError error = {0};
        narrow_one(list, member, &error);
        if (error.status != STATUS_OK) {
            tell_json_error(diagnostics, &error);
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
        const bool has_path = buffer_read_name(reader, soul->path, sizeof soul->path);
        const uint8_t service = byte_read_u8(reader);
        if (!has_path || service >= SERVICE_COUNT) {
            return false;
        }
        soul->service = (SoulService)service;
        soul->context = soul_service_context(soul->service);
    }
    return byte_reader_finish(reader) == STATUS_OK;
}

static void write_reply(WorkerCall *call, const SoulList *list, const DiagnosticList *diagnostics)
{
    diagnostic_list_write(diagnostics, &call->reply);
    buffer_put_u32(&call->reply, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        buffer_put_u8(&call->reply, (uint8_t)list->items[i].context);
    }
}

static size_t arena_bytes_for(size_t text_bytes)
{
    // A value of the tree takes about 64 bytes, and at least two of the text.
    const size_t wanted = 4096 + (text_bytes < SETTINGS_BYTES ? text_bytes : SETTINGS_BYTES) * 80;
    return wanted < ARENA_BYTES ? wanted : ARENA_BYTES;
}

Status worker_contexts(WorkerCall *call)
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
        write_reply(call, &list, &diagnostics);
        diagnostic_list_free(&diagnostics);
    }
    free(block);
    soul_list_free(&list);
    return status;
}
