// The scene: what it says about its scripts is brought up to date, then it is compiled, both in the
// worker. Either is found in the cache when nothing changed, so that an unchanged place starts no
// process at all.
#define _GNU_SOURCE
#include "core/base/bytes.h"
#include "server/build/build_inside.h"
#include "server/build/scene_ref.h"

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

static CacheKey references_key(const Build *build)
{
    CacheKeyMaker maker = cache_key_begin("scene references");
    add_files(&maker, &build->folder);
    for (uint32_t i = 0; i < build->result->rune_count; i++) {
        const BuildRune *rune = &build->result->runes[i];
        cache_key_add_text(&maker, rune->path);
        cache_key_add_u32(&maker, rune->language);
        cache_key_add(&maker, rune->code_hash, sizeof rune->code_hash);
    }
    return cache_key_end(&maker);
}

static Status update_references(Build *build)
{
    const CacheKey key = references_key(build);
    Buffer none = buffer_of(16);
    const bool are_true = cache_find(build->cache, &key, &none);
    buffer_free(&none);
    if (are_true) {
        return STATUS_OK;
    }
    uint32_t changed = 0;
    const Status status =
        scene_ref_update(build->worker, build->request->place, &build->folder, build->result->runes,
                         build->result->rune_count, build->request->write || build->request->update,
                         &changed, build->reason);
    if (status == STATUS_OK && changed == 0) {
        cache_keep(build->cache, &key, "1", 1);
    }
    return status;
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

static bool find(Build *build, const CacheKey *key)
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
                                     &result->diagnostics) == STATUS_OK;
        result->whole = found ? copy(whole, result->whole_bytes) : NULL;
        result->stripped = found ? copy(stripped, result->stripped_bytes) : NULL;
        found = result->whole != NULL && result->stripped != NULL;
    }
    buffer_free(&entry);
    return found;
}

static Status compile(Build *build, const CacheKey *key)
{
    BuildResult *result = build->result;
    free(result->whole);
    free(result->stripped);
    result->whole = result->stripped = NULL;
    PlaceOutput output = {0};
    DiagnosticList list = {0};
    const Status status = place_call(build->worker, &build->folder, &output, &list, build->reason);
    diagnostic_list_append(&result->diagnostics, &list);
    if (status == STATUS_OK) {
        Buffer entry = buffer_of(ENTRY_BYTES_MAX);
        buffer_put_block(&entry, output.whole, output.whole_bytes);
        place_facts_write(&output.facts, &entry);
        buffer_put_block(&entry, output.stripped, output.stripped_bytes);
        diagnostic_list_write(&list, &entry);
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
    const bool said_why = list.error_count > 0;
    diagnostic_list_free(&list);
    return status == STATUS_MALFORMED && said_why ? STATUS_OK : status;
}

Status build_scene(Build *build)
{
    build_progress(build, BUILD_SCENE, 0, 1, "scene.json");
    // A scene is only told of scripts that are all there.
    Status status = STATUS_OK;
    if (build->result->diagnostics.error_count == 0) {
        status = update_references(build);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const CacheKey key = scene_key(build);
    return find(build, &key) ? STATUS_OK : compile(build, &key);
}
