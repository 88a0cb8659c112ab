// Differences of a place while it is played: local_host_apply_diff merges them into the files, and
// reloads the scripts or makes the world anew. Until that has succeeded, files and world are as
// they were.
#include "core/world/local/local_inside.h"

#include "core/base/json_write.h"
#include "core/base/limits.h"

#include <stdio.h>
#include <string.h>

#define DIFF_TREE_MAX (64u << 20)

// 0: none; the compiler reports invalid ids.
static int64_t id_of(const JsonNode *entity)
{
    const JsonNode *id = entity->kind == JSON_OBJECT ? json_find(entity, "id") : entity;
    return id != NULL && id->kind == JSON_NUMBER && id->is_integer ? id->integer : 0;
}

// Finds an entity by id in a list of entities or of ids.
static const JsonNode *with_id(const JsonNode *list, int64_t id)
{
    if (list == NULL || list->kind != JSON_ARRAY || id == 0) {
        return NULL;
    }
    for (const JsonNode *item = list->first; item != NULL; item = item->next) {
        if (id_of(item) == id) {
            return item;
        }
    }
    return NULL;
}

static void write_entities(JsonWriter *json, const JsonNode *old, const JsonNode *diff)
{
    const JsonNode *changed = json_find(diff, "entities");
    const JsonNode *removed = json_find(diff, "removed");
    json_write_array_begin(json);
    for (const JsonNode *entity = old != NULL ? old->first : NULL; entity != NULL;
         entity = entity->next) {
        const int64_t id = id_of(entity);
        if (with_id(removed, id) != NULL) {
            continue;
        }
        const JsonNode *now = with_id(changed, id);
        json_write_node(json, now != NULL ? now : entity);
    }
    for (const JsonNode *entity = changed != NULL ? changed->first : NULL; entity != NULL;
         entity = entity->next) {
        if (with_id(old, id_of(entity)) == NULL) {
            json_write_node(json, entity);
        }
    }
    json_write_array_end(json);
}

static size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

// Merges the difference into scene.json.
static Status merge_scene(LocalHost *host, Arena *arena, const JsonNode *diff, size_t diff_bytes,
                          PlaceError *error)
{
    LocalFile *file = local_file_find(host, "scene.json");
    if (file == NULL) {
        snprintf(error->path, sizeof error->path, "scene.json");
        return STATUS_NOT_FOUND;
    }
    const JsonConfig config = json_config_default(arena);
    const JsonNode *scene;
    Status status =
        json_parse(&config, (const char *)file->data, file->bytes, &scene, &error->where);
    if (status != STATUS_OK) {
        snprintf(error->path, sizeof error->path, "scene.json");
        return status;
    }
    // A number may be written longer than it was ("1e9"), nothing else grows.
    const size_t capacity = size_min((file->bytes + diff_bytes) * 16 + 1024, JSON_BYTES_MAX);
    uint8_t *text = heap_alloc(host->heap, capacity);
    if (text == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(text, capacity);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    bool has_entities = false;
    for (const JsonNode *member = scene->kind == JSON_OBJECT ? scene->first : NULL; member != NULL;
         member = member->next) {
        json_write_name(&json, member->name);
        if (strcmp(member->name, "entities") == 0 && member->kind == JSON_ARRAY) {
            has_entities = true;
            write_entities(&json, member, diff);
        } else {
            json_write_node(&json, member);
        }
    }
    if (!has_entities) {
        json_write_name(&json, "entities");
        write_entities(&json, NULL, diff);
    }
    json_write_object_end(&json);
    status = json_writer_finish(&json);
    if (status == STATUS_OK) {
        status = local_file_put(host, "scene.json", text, writer.at);
    }
    heap_free(host->heap, text);
    return status;
}

// Merges "files"; *scripts and *others say which kinds there were.
static Status merge_files(LocalHost *host, const JsonNode *files, bool *scripts, bool *others,
                          PlaceError *error)
{
    const JsonNode *item = files != NULL ? json_read_object(files, &error->where) : NULL;
    for (; item != NULL; item = item->next) {
        Status status = STATUS_OK;
        if (item->kind == JSON_NULL) {
            LocalFile *file = local_file_find(host, item->name);
            if (file != NULL) {
                local_file_drop(host, file);
            }
            *others = true; // what was bound to it cannot be left over
        } else if (item->kind == JSON_STRING) {
            *scripts = *scripts || local_file_is_script(item->name);
            *others = *others || !local_file_is_script(item->name);
            status = local_file_put(host, item->name, item->text, item->count);
        } else {
            json_fail(&error->where, STATUS_MALFORMED, item, "must be a string or null");
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return error->where.status;
}

// Copies the files, to restore them after a failure.
static LocalFile *copy_files(LocalHost *host, uint32_t *count)
{
    LocalFile *copies = heap_alloc(host->heap, (host->file_count + 1) * sizeof *copies);
    if (copies == NULL) {
        return NULL;
    }
    *count = 0;
    for (uint32_t i = 0; i < host->file_count; i++) {
        copies[i] = host->files[i];
        copies[i].data = heap_alloc(host->heap, host->files[i].bytes + 1);
        if (copies[i].data == NULL) {
            for (uint32_t j = 0; j < i; j++) {
                heap_free(host->heap, copies[j].data);
            }
            heap_free(host->heap, copies);
            return NULL;
        }
        if (copies[i].bytes > 0) {
            memcpy(copies[i].data, host->files[i].data, copies[i].bytes);
        }
        *count += 1;
    }
    return copies;
}

static void end_copies(LocalHost *host, LocalFile *copies, uint32_t count, bool restore)
{
    if (restore) {
        while (host->file_count > 0) {
            local_file_drop(host, &host->files[0]);
        }
        memcpy(host->files, copies, count * sizeof *copies);
        host->file_count = count;
    } else {
        for (uint32_t i = 0; i < count; i++) {
            heap_free(host->heap, copies[i].data);
        }
    }
    heap_free(host->heap, copies);
}

// All of them must compile before the first is staged, because staging cannot be undone.
static Status reload_scripts(LocalHost *host, const JsonNode *files, PlaceError *error)
{
    LocalScripts *scripts = NULL;
    Status status = local_scripts_compile(host, files, &scripts, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (host->reload_waits) {
        // The last change has not taken over yet.
        const Entry tick = {.type = ENTRY_TICK, .number = host->unix_ms};
        status = local_host_enter(host, &tick);
    }
    if (status == STATUS_OK) {
        status = local_scripts_enter(host->world, scripts, error);
    }
    local_scripts_free(host, scripts);
    if (status != STATUS_OK) {
        return status;
    }
    const Entry entry = {.type = ENTRY_RELOAD}; // the world knows its next version
    status = local_host_enter(host, &entry);
    host->reload_waits = status == STATUS_OK;
    return status;
}

// The new world is created first: until that succeeds, the old one is not changed.
static Status remake(LocalHost *host, PlaceError *error)
{
    LocalBuilt built = {0};
    LocalScripts *scripts = NULL;
    Status status = local_built_compile(host, error, &built);
    World *world = NULL;
    host->epoch += 1;
    if (status == STATUS_OK) {
        status = local_scripts_compile(host, NULL, &scripts, error);
    }
    if (status == STATUS_OK) {
        status = local_world_open(host, &built, scripts, &world, error);
    }
    if (status == STATUS_OK) {
        world_destroy(host->heap, world);
        local_host_save(host);
        status = local_world_open(host, &built, scripts, &world, error);
    }
    local_scripts_free(host, scripts);
    if (status != STATUS_OK) {
        host->epoch -= 1;
        local_built_free(host, &built);
        return status;
    }
    world_destroy(host->heap, host->world);
    local_built_free(host, &host->built);
    host->world = world;
    host->built = built;
    host->reload_waits = false;
    return STATUS_OK;
}

// Merges the difference into the files and applies it.
static Status apply(LocalHost *host, Arena *arena, const char *text, size_t bytes, bool *remade,
                    PlaceError *error)
{
    static const char *const names[] = {"entities", "removed", "files"};
    const JsonConfig config = json_config_default(arena);
    const JsonNode *diff = NULL;
    Status status = json_parse(&config, text, bytes, &diff, &error->where);
    if (status == STATUS_OK) {
        json_read_only(diff, names, 3, &error->where);
        for (uint32_t i = 0; i < 2 && error->where.status == STATUS_OK; i++) {
            const JsonNode *list = json_find(diff, names[i]);
            if (list != NULL && list->kind != JSON_ARRAY) {
                json_fail(&error->where, STATUS_MALFORMED, list, "must be a list");
            }
        }
        status = error->where.status;
    }
    if (status != STATUS_OK) {
        return status;
    }
    bool scripts = false, others = false;
    const JsonNode *files = json_find(diff, "files");
    status = merge_files(host, files, &scripts, &others, error);
    if (status == STATUS_OK &&
        (json_find(diff, "entities") != NULL || json_find(diff, "removed") != NULL)) {
        others = true;
        status = merge_scene(host, arena, diff, bytes, error);
    }
    if (status == STATUS_OK && others) {
        status = remake(host, error);
    } else if (status == STATUS_OK && scripts) {
        status = reload_scripts(host, files, error);
    }
    *remade = others;
    return status;
}

Status local_host_apply_diff(LocalHost *host, const char *json, size_t bytes, bool *remade,
                             PlaceError *error)
{
    *error = (PlaceError){0};
    const LocalFile *scene = local_file_find(host, "scene.json");
    const size_t text_bytes = bytes + (scene != NULL ? scene->bytes : 0);
    const size_t tree_bytes = size_min(text_bytes * 64 + (64u << 10), DIFF_TREE_MAX);
    uint8_t *block = heap_alloc(host->heap, tree_bytes);
    uint32_t copy_count = 0;
    LocalFile *copies = copy_files(host, &copy_count);
    Status status = block == NULL || copies == NULL ? STATUS_LIMIT : STATUS_OK;
    bool made = false;
    if (status == STATUS_OK) {
        Arena arena;
        arena_init(&arena, block, tree_bytes);
        status = apply(host, &arena, json, bytes, &made, error);
    }
    if (copies != NULL) {
        end_copies(host, copies, copy_count, status != STATUS_OK);
    }
    heap_free(host->heap, block);
    error->status = status;
    if (status == STATUS_OK) {
        *remade = made;
    } else if (error->where.message[0] == 0) {
        snprintf(error->where.message, sizeof error->where.message, "%s", status_text(status));
    }
    return status;
}
