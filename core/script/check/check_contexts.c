// Reads where the scripts of a place run. That the rest of place.json is right is for the compiler
// of scenes to say.
#include "core/base/arena.h"
#include "core/base/json_read.h"
#include "core/base/nearest.h"
#include "core/script/check/check.h"

#include <string.h>

#define SETTINGS_BYTES (2u << 20)
#define SETTINGS_NODES (1u << 16)
#define ARENA_BYTES    (12u << 20)

typedef struct Settings {
    CheckModule *modules;
    uint32_t module_count;
    const CheckSink *sink;
} Settings;

static CheckModule *module_named(const Settings *settings, const char *path, size_t bytes)
{
    for (uint32_t i = 0; i < settings->module_count; i++) {
        CheckModule *module = &settings->modules[i];
        if (strlen(module->path) == bytes && memcmp(module->path, path, bytes) == 0) {
            return module;
        }
    }
    return NULL;
}

static void fail_unknown(const Settings *settings, const JsonNode *member, JsonError *error)
{
    Nearest nearest = nearest_begin_path(member->name, member->name_bytes);
    for (uint32_t i = 0; i < settings->module_count; i++) {
        const char *path = settings->modules[i].path;
        (void)nearest_consider(&nearest, path, strlen(path));
    }
    if (nearest.found != NULL) {
        json_fail(error, STATUS_NOT_FOUND, member, "names no script; did you mean %s?",
                  nearest.found);
    } else {
        json_fail(error, STATUS_NOT_FOUND, member,
                  "names no script; write it as \"Workspace/Door\", without an ending");
    }
}

static void narrow_one(const Settings *settings, const JsonNode *member, JsonError *error)
{
    const RunContext context =
        (RunContext)json_read_choice(member, run_context_names, CONTEXT_COUNT, error);
    if (error->status != STATUS_OK) {
        return;
    }
    CheckModule *module = module_named(settings, member->name, member->name_bytes);
    if (module == NULL) {
        fail_unknown(settings, member, error);
    } else if (!check_narrow(&module->context, context)) {
        json_fail(error, STATUS_DENIED, member,
                  "cannot be %s: %s runs on the %s alone; place.json can only take a side away",
                  run_context_names[context], script_service_names[module->service],
                  module->context == CONTEXT_SERVER ? "server" : "client");
    }
}

static void tell_json_error(const CheckSink *sink, const JsonError *error)
{
    char words[JSON_ERROR_TEXT_BYTES];
    json_error_words(error, words);
    const CheckDiagnostic diagnostic = {.level = CHECK_ERROR,
                                        .file = CHECK_CONTEXTS_FILE,
                                        .line = error->line,
                                        .column = error->column,
                                        .code = "place",
                                        .message = words};
    check_tell_copy(sink, &diagnostic);
}

// Every member that is wrong is told of; what the others take away is taken all the same.
static void narrow_all(const Settings *settings, const char *text, size_t bytes, Arena *arena)
{
    JsonConfig config = json_config_default(arena);
    config.bytes_max = SETTINGS_BYTES;
    config.node_count_max = SETTINGS_NODES;
    JsonError whole = {0};
    const JsonNode *root = NULL, *member = NULL;
    // What cannot be read fails here, or a narrowing in it would be lost.
    if (json_parse(&config, text, bytes, &root, &whole) == STATUS_OK) {
        const JsonNode *contexts = json_find(root, "contexts");
        member = contexts == NULL ? NULL : json_read_object(contexts, &whole);
    }
    if (whole.status != STATUS_OK) {
        tell_json_error(settings->sink, &whole);
        return;
    }
    for (; member != NULL; member = member->next) {
        JsonError error = {0};
        narrow_one(settings, member, &error);
        if (error.status != STATUS_OK) {
            tell_json_error(settings->sink, &error);
        }
    }
}

static size_t arena_bytes_for(size_t text_bytes)
{
    // A value of a tree takes 64 bytes or so, and at least two of the text.
    const size_t wanted = 4096 + (text_bytes < SETTINGS_BYTES ? text_bytes : SETTINGS_BYTES) * 80;
    return wanted < ARENA_BYTES ? wanted : ARENA_BYTES;
}

Status check_contexts(Heap *heap, const char *text, size_t bytes, CheckModule *modules,
                      uint32_t module_count, const CheckSink *sink)
{
    const size_t block_bytes = arena_bytes_for(bytes);
    void *block = heap_alloc(heap, block_bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, block_bytes);
    const Settings settings = {modules, module_count, sink};
    narrow_all(&settings, text, bytes, &arena);
    heap_free(heap, block);
    return STATUS_OK;
}
