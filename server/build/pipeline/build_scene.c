// The scene: what it says about its scripts is brought up to date, then it is compiled, both in the
// worker. Either is found in the cache when nothing changed, so that an unchanged place starts no
// process at all.
#define _GNU_SOURCE
#include "core/base/bytes.h"
#include "server/build/pipeline/build_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES_MAX CACHE_VALUE_BYTES_MAX

static void add_files(CacheKeyMaker *maker, const PlaceFolder *folder)
{
    for (uint32_t i = 0; i < folder->file_count; i++) {
        const PlaceFile *file = &folder->files[i];
        if (place_folder_is_scene(file)) {
            cache_key_add_text(maker, file->path);
            cache_key_add(maker, file->data, file->bytes);
        }
    }
}

// --- references ---------------------------------------------------------------------------------

static bool is_script(const BuildItem *item)
{
    return item->soul != NULL; // TypeScript's library is no creator's
}

static Status ask_references(Build *build)
{
    SceneRefScript *scripts = calloc(build->item_count + 1u, sizeof *scripts);
    if (scripts == NULL) {
        return STATUS_LIMIT;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        if (is_script(item)) {
            scripts[count] = (SceneRefScript){
                .path = item->path,
                .language = item->language,
                .in_soul = script_path_soul_bytes(item->file, strlen(item->file)) > 0};
            sha256_of(item->source, item->source_bytes, scripts[count].code_hash);
            count += 1;
        }
    }
    const Status status =
        scene_ref_update(&build->worker_cache, &build->folder, scripts, count, build->is_named,
                         &build->references, &build->result->diagnostics, build->reason);
    free(scripts);
    return status;
}

// Those that name no script are errors, also when there are others.
static Status update_references(Build *build)
{
    build->is_named = calloc(SOULS_MAX + 1, 1);
    if (build->is_named == NULL) {
        snprintf(build->reason, WORKER_REASON_BYTES, "out of memory");
        return STATUS_LIMIT;
    }
    const Status status = ask_references(build);
    if (build->result->diagnostics.error_count > 0) {
        scene_ref_undo(&build->folder, &build->references);
    }
    return status;
}

Status build_write_references(Build *build)
{
    const bool is_wanted = build->request->write || build->request->update;
    return build->references.count == 0 || !is_wanted
               ? STATUS_OK
               : scene_ref_write(build->request->place, &build->references, build->reason);
}

void build_ask_ahead(Build *build)
{
    DiagnosticList said = build->result->diagnostics;
    build->result->diagnostics = (DiagnosticList){0};
    scene_ref_changes_free(&build->references);
    status_ignore(ask_references(build));
    diagnostic_list_free(&build->result->diagnostics);
    build->result->diagnostics = said;
}

static bool is_required(const Build *build, const char *path)
{
    for (uint32_t i = 0; i < build->item_count; i++) {
        const CompileOutput *output = &build->items[i].output;
        for (uint32_t r = 0; r < output->require_count; r++) {
            if (strcmp(output->requires[r], path) == 0) {
                return true;
            }
        }
    }
    return false;
}

// Elsewhere scripts of a Workspace run by being there.
static void warn_of_unnamed(Build *build)
{
    uint32_t script = 0;
    for (uint32_t i = 0; i < build->item_count; i++) {
        const BuildItem *item = &build->items[i];
        if (!is_script(item)) {
            continue;
        }
        if (item->service == SERVICE_WORKSPACE && build->is_named[script] == 0 &&
            !is_required(build, item->path)) {
            diagnostic_addf(&build->result->diagnostics, DIAGNOSTIC_WARNING, item->soul->file->path,
                            0, 0, "unused",
                            "never runs: nothing in the scene has it. Give an entity or a prefab "
                            "\"scriptRef\": {\"path\": \"%s\"}, or move it to another service",
                            item->soul->file->path);
        }
        script += 1;
    }
}

// --- the scene ----------------------------------------------------------------------------------

static CacheKey scene_key(const Build *build)
{
    CacheKeyMaker maker = cache_key_begin("scene");
    add_files(&maker, &build->folder);
    return cache_key_end(&maker);
}

static uint8_t *copy(const uint8_t *data, size_t bytes)
{
    uint8_t *block = data == NULL ? NULL : malloc(bytes + 1);
    if (block != NULL && bytes > 0) {
        memcpy(block, data, bytes);
    }
    return block;
}

static bool find(Build *build, const CacheKey *key, DiagnosticList *list)
{
    Buffer entry = buffer_of(ENTRY_BYTES_MAX);
    bool found = !build->request->force && cache_find(build->cache, key, &entry);
    if (found) {
        BuildResult *result = build->result;
        ByteReader reader = byte_reader(entry.data, entry.bytes);
        const uint8_t *whole = byte_read_block(&reader, &result->whole_bytes);
        place_facts_read(&reader, &result->facts);
        const uint8_t *stripped = byte_read_block(&reader, &result->stripped_bytes);
        size_t used = 0;
        found = reader.status == STATUS_OK &&
                diagnostic_list_read(entry.data + reader.at, entry.bytes - reader.at, &used,
                                     list) == STATUS_OK;
        result->whole = found ? copy(whole, result->whole_bytes) : NULL;
        result->stripped = found ? copy(stripped, result->stripped_bytes) : NULL;
        found = result->whole != NULL && result->stripped != NULL;
    }
    buffer_free(&entry);
    return found;
}

static Status compile(Build *build, const CacheKey *key, DiagnosticList *list)
{
    BuildResult *result = build->result;
    free(result->whole);
    free(result->stripped);
    result->whole = result->stripped = NULL;
    PlaceOutput output = {0};
    const Status status = place_call(build->worker, &build->folder, &output, list, build->reason);
    if (status == STATUS_OK) {
        Buffer entry = buffer_of(ENTRY_BYTES_MAX);
        buffer_put_block(&entry, output.whole, output.whole_bytes);
        place_facts_write(&output.facts, &entry);
        buffer_put_block(&entry, output.stripped, output.stripped_bytes);
        diagnostic_list_write(list, &entry);
        if (entry.status == STATUS_OK) {
            cache_keep(build->cache, key, entry.data, entry.bytes);
        }
        buffer_free(&entry);
        result->whole = output.whole;
        result->whole_bytes = output.whole_bytes;
        result->facts = output.facts;
        result->stripped = output.stripped;
        result->stripped_bytes = output.stripped_bytes;
    }
    return status == STATUS_MALFORMED && list->error_count > 0 ? STATUS_OK : status;
}

static Status find_or_compile(Build *build, DiagnosticList *list)
{
    const CacheKey key = scene_key(build);
    return find(build, &key, list) ? STATUS_OK : compile(build, &key, list);
}

// What does not compile is not written, so that what is wrong is told of the text that is on disk.
static Status compile_scene(Build *build)
{
    DiagnosticList list = {0};
    Status status = find_or_compile(build, &list);
    if (list.error_count > 0 && build->references.count > 0) {
        scene_ref_undo(&build->folder, &build->references);
        diagnostic_list_free(&list);
        status = find_or_compile(build, &list);
    }
    diagnostic_list_append(&build->result->diagnostics, &list);
    diagnostic_list_free(&list);
    return status;
}

Status build_scene(Build *build)
{
    build_progress(build, BUILD_SCENE, 0, 1, "scene.json");
    Status status = update_references(build);
    status = status == STATUS_OK ? compile_scene(build) : status;
    if (status == STATUS_OK && build->result->diagnostics.error_count == 0) {
        warn_of_unnamed(build);
    }
    return status;
}
