// From the other languages to Lua. TypeScript is one program: what a file becomes depends on the
// types in all others, so the result of all of them together is one entry of the cache. Whether the
// Lua of one script changed decides later whether it is compiled again.
#define _GNU_SOURCE
#include "core/base/bytes.h"
#include "server/build/pipeline/build_stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES_MAX CACHE_VALUE_BYTES_MAX
#define LUA_BYTES_MAX   (4u << 20)

void generated_lua_free(GeneratedLua *made)
{
    free(made->lua);
    free(made->lines);
    *made = (GeneratedLua){0};
}

static BuildItem *item_named(Build *build, const char *path)
{
    for (uint32_t i = 0; i < build->item_count; i++) {
        if (strcmp(build->items[i].path, path) == 0) {
            return &build->items[i];
        }
    }
    return NULL;
}

// The output of one script; points into the compiler's or the cache's memory.
typedef struct Output {
    const char *path;
    const void *lua;
    size_t lua_bytes;
    const uint32_t *lines;
    uint32_t line_count;
    const uint8_t *map_hash; // NULL: there is no map
} Output;

static Status set_generated(BuildItem *item, const Output *output)
{
    char tail[2 * SHA256_BYTES + 64] = "", hex[2 * SHA256_BYTES + 1];
    if (output->map_hash != NULL) {
        sha256_hex(output->map_hash, hex);
        snprintf(tail, sizeof tail, "\n-- source map: %s in .sandlot/cache/blobs\n", hex);
    }
    const size_t bytes = output->lua_bytes, tail_bytes = strlen(tail);
    const uint32_t line_count = output->line_count;
    GeneratedLua made = {
        .lua_bytes = bytes, .file_bytes = bytes + tail_bytes, .line_count = line_count};
    made.lua = malloc(bytes + tail_bytes + 1);
    made.lines = line_count == 0 ? NULL : calloc(line_count, sizeof *made.lines);
    if (made.lua == NULL || (line_count != 0 && made.lines == NULL)) {
        generated_lua_free(&made);
        return STATUS_LIMIT;
    }
    memcpy(made.lua, output->lua, bytes);
    memcpy(made.lua + bytes, tail, tail_bytes + 1);
    if (line_count != 0) {
        memcpy(made.lines, output->lines, line_count * sizeof *made.lines);
    }
    generated_lua_free(&item->generated);
    item->generated = made;
    item->is_ready = true;
    return STATUS_OK;
}

// --- plain language -----------------------------------------------------------------------------

static uint32_t count_language(const Build *build, SoulLanguage language)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < build->item_count; i++) {
        count += build->items[i].language == language && build->items[i].soul != NULL;
    }
    return count;
}

Status build_translate_souls(Build *build)
{
    const uint32_t total = count_language(build, SOUL_PLAIN);
    uint32_t done = 0, questions_left = SOUL_QUESTIONS_MAX;
    ModelConfig model = build->model;
    model.questions_left = &questions_left;
    Status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < build->item_count; i++) {
        BuildItem *item = &build->items[i];
        if (item->language != SOUL_PLAIN) {
            continue;
        }
        if (build_is_cancelled(build)) {
            return STATUS_DENIED;
        }
        build_progress(build, BUILD_TRANSLATE, done++, total, item->file);
        SoulLua lua = {0};
        status = soul_lua(&build->context, &model, build->request->place, &build->folder,
                          item->soul, &lua);
        if (status == STATUS_MALFORMED) {
            status = STATUS_OK; // a diagnostic says why; the other souls go on
        } else if (status == STATUS_OK) {
            status = set_generated(item, &(Output){.lua = lua.lua, .lua_bytes = lua.lua_bytes});
            // Line numbers refer to the Lua that is kept beside the soul.
            snprintf(item->file, sizeof item->file, "%.*s.lua", (int)sizeof item->file - 5,
                     item->soul->file->path);
            soul_lua_free(&lua);
        }
    }
    return status;
}

// --- TypeScript ---------------------------------------------------------------------------------

static CacheKey typescript_key(const Build *build)
{
    CacheKeyMaker maker = cache_key_begin("typescript");
    cache_key_add_text(&maker, typescript_version());
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        cache_key_add_text(&maker, item->file); // scripts in other languages count only by name,
                                                // because they can be imported
        cache_key_add_text(&maker, item->path);
        cache_key_add_u32(&maker, item->context);
        if (item->language == SOUL_TYPESCRIPT) {
            cache_key_add(&maker, item->source, item->source_bytes);
        }
    }
    return cache_key_end(&maker);
}

// Adds TypeScript's library as a script without a soul.
static Status add_library(Build *build, const Output *output)
{
    BuildItem *item = item_named(build, TYPESCRIPT_LIBRARY);
    if (item == NULL) {
        // There is room for one more item than souls. The list stays sorted.
        uint32_t at = build->item_count++;
        for (; at > 0 && strcmp(build->items[at - 1].path, TYPESCRIPT_LIBRARY) > 0; at--) {
            build->items[at] = build->items[at - 1];
        }
        item = &build->items[at];
        *item = (BuildItem){.language = SOUL_LUA, .service = SERVICE_REPLICATED_STORAGE};
        snprintf(item->path, sizeof item->path, "%s", TYPESCRIPT_LIBRARY);
        snprintf(item->file, sizeof item->file, "%s.lua", TYPESCRIPT_LIBRARY);
        item->context = CONTEXT_SERVER; // until something replicated requires it
    }
    return set_generated(item, output);
}

static Status take_output(Build *build, const Output *output)
{
    if (strcmp(output->path, TYPESCRIPT_LIBRARY) == 0) {
        return add_library(build, output);
    }
    BuildItem *item = item_named(build, output->path);
    if (item == NULL || item->language != SOUL_TYPESCRIPT || output->lua_bytes > LUA_BYTES_MAX) {
        return STATUS_MALFORMED; // a script that was not requested, or too large
    }
    return set_generated(item, output);
}

static void write_entry(Buffer *entry, const Output *outputs, uint32_t count,
                        const DiagnosticList *list)
{
    buffer_put_u32(entry, count);
    for (uint32_t i = 0; i < count; i++) {
        const Output *output = &outputs[i];
        buffer_put_block(entry, output->path, strlen(output->path));
        buffer_put_block(entry, output->lua, output->lua_bytes);
        buffer_put_block(entry, output->map_hash, output->map_hash == NULL ? 0 : SHA256_BYTES);
        buffer_put_u32(entry, output->line_count);
        for (uint32_t line = 0; line < output->line_count; line++) {
            buffer_put_u32(entry, output->lines[line]);
        }
    }
    diagnostic_list_write(list, entry);
}

// The Lua refers to the map: if it is lost or damaged it must be made again.
static bool has_map(const Build *build, const uint8_t hash[SHA256_BYTES])
{
    Buffer map = buffer_of(CACHE_VALUE_BYTES_MAX);
    const bool found = cache_find_blob(build->context.cache, hash, CACHE_VALUE_BYTES_MAX, &map);
    buffer_free(&map);
    return found;
}

static Status read_output(Build *build, ByteReader *reader)
{
    char path[SCRIPT_PATH_BYTES];
    size_t hash_bytes = 0;
    Output output = {.path = path};
    const bool has_path = buffer_read_name(reader, path, sizeof path);
    output.lua = byte_read_block(reader, &output.lua_bytes);
    const uint8_t *hash = byte_read_block(reader, &hash_bytes);
    output.map_hash = hash_bytes == SHA256_BYTES ? hash : NULL;
    output.line_count = byte_read_u32(reader);
    if (!has_path || reader->status != STATUS_OK ||
        output.line_count > byte_reader_left(reader) / 4) {
        return STATUS_MALFORMED;
    }
    if (output.map_hash != NULL && !has_map(build, output.map_hash)) {
        return STATUS_NOT_FOUND;
    }
    uint32_t *lines = calloc(output.line_count + 1u, sizeof *lines);
    if (lines == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < output.line_count; i++) {
        lines[i] = byte_read_u32(reader);
    }
    output.lines = lines;
    const Status status = take_output(build, &output);
    free(lines);
    return status;
}

static Status read_entry(Build *build, const Buffer *entry)
{
    ByteReader reader = byte_reader(entry->data, entry->bytes);
    const uint32_t count = byte_read_u32(&reader);
    Status status = count <= SOULS_MAX + 1 ? reader.status : STATUS_MALFORMED;
    for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
        status = read_output(build, &reader);
    }
    if (status != STATUS_OK) {
        return status;
    }
    size_t used = 0;
    return diagnostic_list_read(entry->data + reader.at, entry->bytes - reader.at, &used,
                                &build->result->diagnostics);
}

typedef struct MapHash {
    uint8_t bytes[SHA256_BYTES];
} MapHash;

// Source maps are cached for debugging on the server; clients never get them.
static Status take_outputs(Build *build, const TypeScriptResult *made, Output *outputs,
                           MapHash *hashes)
{
    for (uint32_t i = 0; i < made->count; i++) {
        const TypeScriptOutput *from = &made->items[i];
        outputs[i] = (Output){.path = from->path,
                              .lua = from->lua,
                              .lua_bytes = from->lua_bytes,
                              .lines = from->lines,
                              .line_count = from->line_count};
        if (from->source_map_bytes > 0) {
            cache_keep_blob(build->context.cache, from->source_map, from->source_map_bytes,
                            hashes[i].bytes);
            outputs[i].map_hash = hashes[i].bytes;
        }
        if (take_output(build, &outputs[i]) != STATUS_OK) {
            snprintf(build->context.reason, WORKER_REASON_BYTES,
                     "the TypeScript compiler answered with something else than asked");
            return STATUS_BLOCKED;
        }
    }
    return STATUS_OK;
}

static Status keep_result(Build *build, const CacheKey *key, const TypeScriptResult *made,
                          const DiagnosticList *list)
{
    Output *outputs = calloc(made->count + 1u, sizeof *outputs);
    MapHash *hashes = calloc(made->count + 1u, sizeof *hashes);
    Status status = STATUS_LIMIT;
    if (outputs != NULL && hashes != NULL) {
        status = take_outputs(build, made, outputs, hashes);
    } else {
        snprintf(build->context.reason, WORKER_REASON_BYTES, "out of memory");
    }
    if (status == STATUS_OK) {
        Buffer entry = buffer_of(ENTRY_BYTES_MAX);
        write_entry(&entry, outputs, made->count, list);
        if (entry.status == STATUS_OK) {
            cache_keep(build->context.cache, key, entry.data, entry.bytes);
        }
        buffer_free(&entry);
    }
    free(outputs);
    free(hashes);
    return status;
}

static void on_progress(void *user, uint32_t done, uint32_t total, const char *file)
{
    build_progress(user, BUILD_TYPESCRIPT, done, total, file);
}

static Status run_typescript(Build *build, const CacheKey *key)
{
    TypeScript *typescript = NULL;
    Status status = build_typescript(build, &typescript);
    if (status != STATUS_OK) {
        return status;
    }
    TypeScriptResult made = {0};
    DiagnosticList list = {0};
    typescript_watch(typescript, build->request->cancel, on_progress, build);
    status =
        typescript_compile(typescript, &build->souls, NULL, &made, &list, build->context.reason);
    diagnostic_list_append(&build->result->diagnostics, &list);
    if (status == STATUS_OK) {
        status = keep_result(build, key, &made, &list);
        typescript_result_free(&made);
    }
    const bool said_why = list.error_count > 0;
    diagnostic_list_free(&list);
    return status == STATUS_MALFORMED && said_why ? STATUS_OK : status;
}

// Does no compiler run yet? A compile of the whole place makes the next one quick.
static bool is_cold(Build *build)
{
    TypeScript *typescript = NULL;
    return build_typescript(build, &typescript) == STATUS_OK && typescript_pid(typescript) == 0;
}

Status build_translate_typescript(Build *build)
{
    const uint32_t total = count_language(build, SOUL_TYPESCRIPT);
    if (total == 0) {
        return STATUS_OK;
    }
    build_progress(build, BUILD_TYPESCRIPT, 0, total, "");
    const CacheKey key = typescript_key(build);
    Buffer entry = buffer_of(ENTRY_BYTES_MAX);
    Status status = STATUS_NOT_FOUND;
    const bool is_cached = !build->request->force && !(build->request->warm && is_cold(build));
    if (is_cached && cache_find(build->context.cache, &key, &entry)) {
        status = read_entry(build, &entry);
    }
    buffer_free(&entry);
    return status == STATUS_OK ? STATUS_OK : run_typescript(build, &key);
}
