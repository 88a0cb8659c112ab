// See scene_ref.h: finds the edits, in the worker. The JSON tree says where members are; nodes are
// visited in the order of the text, so the edits are in that order too.
#include "server/build/inside/op_scene_ref.h"

#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"
#include "core/base/nearest.h"
#include "core/base/sha256.h"
#include "core/wire/place_doc.h"
#include "core/wire/script_path.h"
#include "server/build/inside/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_BYTES     48 // what a short text takes of the arena, rounded up
#define NODES_PER_KEY    2  // a member has a name and a value
#define ENTITY_EDITS_MAX 3  // path, hash, Lua

typedef struct Search {
    const char *file, *text;
    size_t bytes;
    DiagnosticList *diagnostics;
    Buffer *edits;

    const SceneRefScript *scripts;
    uint32_t script_count;
    uint8_t *used;
} Search;

// The edits of one entity: all of them are made, or none.
typedef struct EntityEdits {
    SceneRefEdit items[ENTITY_EDITS_MAX];
    uint32_t count;
} EntityEdits;

// --- one entity ---------------------------------------------------------------------------------

static bool find_script(const Search *search, const JsonNode *path, uint32_t *index)
{
    const ScriptPath plain = script_path_trim(path->text, path->count);
    uint32_t low = 0, high = search->script_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const SceneRefScript *script = &search->scripts[middle];
        const size_t bytes = strlen(script->path);
        const size_t common = bytes < plain.bytes ? bytes : plain.bytes;
        int order = memcmp(script->path, plain.data, common);
        order = order != 0 ? order : (bytes > plain.bytes) - (bytes < plain.bytes);
        if (order == 0) {
            *index = middle;
            return true;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

static bool is_text(const JsonNode *node)
{
    return node != NULL && node->kind == JSON_STRING;
}

static void add_edit(EntityEdits *edits, SceneRefEdit like, uint32_t at, SceneRefField field)
{
    ASSERT(edits->count < ENTITY_EDITS_MAX);
    like.at = at;
    like.field = field;
    edits->items[edits->count++] = like;
}

// Adds an edit for the value of a member, unless it is right already.
static void set_value(Search *search, EntityEdits *edits, SceneRefEdit like, const JsonNode *member,
                      SceneRefField field)
{
    char value[SCENE_REF_VALUE_BYTES];
    scene_ref_value(&search->scripts[like.script], field, value);
    if (!json_text_equal(member, value)) {
        add_edit(edits, like, member->name_at, field);
    }
}

static void look_at_ref(Search *search, EntityEdits *edits, SceneRefEdit like, const JsonNode *ref,
                        bool has_lua)
{
    const bool has_hash = json_find(ref, "codeHash") != NULL;
    for (const JsonNode *member = ref->first; member != NULL; member = member->next) {
        if (strcmp(member->name, "path") == 0) {
            set_value(search, edits, like, member, SCENE_REF_PATH);
            if (!has_hash) {
                add_edit(edits, like, member->name_at, SCENE_REF_NEW_HASH);
            }
        } else if (strcmp(member->name, "codeHash") == 0) {
            set_value(search, edits, like, member, SCENE_REF_HASH);
        }
    }
    if (!has_lua) {
        add_edit(edits, like, ref->name_at, SCENE_REF_NEW_LUA);
    }
}

// A member with escapes in its name, or a very long one, is left alone.
static void keep_edits(Search *search, const EntityEdits *edits)
{
    size_t begin, end;
    for (uint32_t i = 0; i < edits->count; i++) {
        if (!scene_ref_find_value(search->text, search->bytes, &edits->items[i], &begin, &end)) {
            return;
        }
    }
    for (uint32_t i = 0; i < edits->count; i++) {
        buffer_put_u32(search->edits, edits->items[i].at);
        buffer_put_u32(search->edits, edits->items[i].script);
        buffer_put_u8(search->edits, (uint8_t)edits->items[i].field);
    }
}

// A script outside the services for entities is reported by the scene compiler.
static void tell_missing(const Search *search, const JsonNode *node)
{
    const ScriptPath plain = script_path_trim(node->text, node->count);
    if (!place_script_has_entity((Text){plain.data, (uint32_t)plain.bytes})) {
        return;
    }
    Nearest nearest = nearest_begin_path(plain.data, plain.bytes);
    for (uint32_t i = 0; i < search->script_count; i++) {
        (void)nearest_consider(&nearest, search->scripts[i].path, strlen(search->scripts[i].path));
    }
    JsonError error = {0};
    json_fail(&error, STATUS_NOT_FOUND, node, "names no script");
    if (nearest.found != NULL) {
        diagnostic_addf(search->diagnostics, DIAGNOSTIC_ERROR, search->file, node->line,
                        node->column, "place", "%s names no script; did you mean %s?", error.path,
                        nearest.found);
    } else {
        diagnostic_addf(search->diagnostics, DIAGNOSTIC_ERROR, search->file, node->line,
                        node->column, "place",
                        "%s names no script: there is no %.*s.lua, .luau, .ts or .soul", error.path,
                        (int)plain.bytes, plain.data);
    }
}

static void look_at_entity(Search *search, const JsonNode *entity)
{
    const JsonNode *ref = json_find(entity, "scriptRef");
    const JsonNode *path = json_find(ref, "path");
    const JsonNode *hash = json_find(ref, "codeHash");
    const JsonNode *lua = json_find(entity, "scriptPath");
    SceneRefEdit like = {0};
    const JsonNode *named = is_text(path) && path->count > 0 ? path : lua;
    if (is_text(named) && named->count > 0 && !find_script(search, named, &like.script)) {
        tell_missing(search, named);
    } else if (is_text(named) && named->count > 0) {
        search->used[like.script] = 1;
    } else if (ref != NULL && ref->kind == JSON_OBJECT) {
        diagnostic_addf(search->diagnostics, DIAGNOSTIC_WARNING, search->file, ref->line,
                        ref->column, "place",
                        "this scriptRef names no script: give it a \"path\", or remove it");
    }
    if (!is_text(path) || (hash != NULL && !is_text(hash)) || (lua != NULL && !is_text(lua)) ||
        !find_script(search, path, &like.script)) {
        return;
    }
    EntityEdits edits = {0};
    for (const JsonNode *member = entity->first; member != NULL; member = member->next) {
        if (member == ref) {
            look_at_ref(search, &edits, like, ref, lua != NULL);
        } else if (member == lua) {
            set_value(search, &edits, like, lua, SCENE_REF_LUA);
        }
    }
    keep_edits(search, &edits);
}

// --- a file -------------------------------------------------------------------------------------

static void look_at_all(Search *search, const JsonNode *root, SceneRefKind kind)
{
    if (kind == SCENE_REF_PREFAB) {
        look_at_entity(search, root);
        return;
    }
    const JsonNode *entities = json_find(root, "entities");
    if (entities == NULL || entities->kind != JSON_ARRAY) {
        return;
    }
    for (const JsonNode *entity = entities->first; entity != NULL; entity = entity->next) {
        look_at_entity(search, entity);
    }
}

// A value has at least one byte and a comma; each may have a name and a text.
static size_t tree_bytes(size_t bytes)
{
    const size_t values = bytes / 2 + 2;
    const size_t count = values < JSON_NODES_MAX ? values : JSON_NODES_MAX;
    return count * (arena_need(sizeof(JsonNode)) + NODES_PER_KEY * STRING_BYTES) + bytes;
}

Status scene_ref_find(const SceneRefFile *file, const SceneRefScript *scripts,
                      uint32_t script_count, uint8_t *used, DiagnosticList *diagnostics,
                      Buffer *edits)
{
    if (file->bytes > JSON_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    const size_t capacity = tree_bytes(file->bytes);
    void *block = calloc(1, capacity); // pages that are not touched take no memory
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Arena arena;
    arena_init_zeroed(&arena, block, capacity);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    Status status = json_parse(&config, file->text, file->bytes, &root, NULL);
    if (status == STATUS_OK) {
        Search search = {.file = file->path,
                         .text = file->text,
                         .bytes = file->bytes,
                         .diagnostics = diagnostics,
                         .edits = edits,
                         .scripts = scripts,
                         .script_count = script_count,
                         .used = used};
        look_at_all(&search, root, file->kind);
        status = edits->status;
    }
    free(block);
    return status;
}

// --- the request --------------------------------------------------------------------------------

// Request: u32 kind, block file's path, u32 scripts, for each block path, u32 language, u32
// in_soul, 32 bytes; block text. Reply: diagnostics, a bool for each script (is it named?), edits.
static bool read_script(ByteReader *reader, SceneRefScript *out, char path[SCRIPT_PATH_BYTES])
{
    const bool has_path = buffer_read_name(reader, path, SCRIPT_PATH_BYTES);
    const uint32_t language = byte_read_u32(reader);
    const uint32_t in_soul = byte_read_u32(reader);
    const uint8_t *hash = byte_read_bytes(reader, SHA256_BYTES);
    if (!has_path || hash == NULL || language >= SOUL_LANGUAGE_COUNT || in_soul > 1) {
        return false;
    }
    *out =
        (SceneRefScript){.path = path, .language = (SoulLanguage)language, .in_soul = in_soul != 0};
    memcpy(out->code_hash, hash, SHA256_BYTES);
    return true;
}

typedef struct Scripts {
    SceneRefScript scripts[SOULS_MAX];
    char paths[SOULS_MAX][SCRIPT_PATH_BYTES];
    uint8_t used[SOULS_MAX];
} Scripts;

static Status find_in_request(WorkerCall *call, Scripts *scripts)
{
    ByteReader *reader = &call->request;
    char path[SCRIPT_PATH_BYTES];
    const uint32_t kind = byte_read_u32(reader);
    const bool has_path = buffer_read_name(reader, path, SCRIPT_PATH_BYTES);
    const uint32_t count = byte_read_u32(reader);
    if (kind > SCENE_REF_PREFAB || !has_path || count > SOULS_MAX) {
        return STATUS_MALFORMED;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!read_script(reader, &scripts->scripts[i], scripts->paths[i])) {
            return STATUS_MALFORMED;
        }
    }
    size_t bytes;
    const uint8_t *text = byte_read_block(reader, &bytes);
    if (text == NULL || byte_reader_finish(reader) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    const SceneRefFile file = {path, (SceneRefKind)kind, (const char *)text, bytes};
    DiagnosticList diagnostics = {0};
    Buffer edits = buffer_of(call->reply.bytes_max);
    const Status status =
        scene_ref_find(&file, scripts->scripts, count, scripts->used, &diagnostics, &edits);
    if (status == STATUS_OK) {
        diagnostic_list_write(&diagnostics, &call->reply);
        buffer_put(&call->reply, scripts->used, count);
        buffer_put(&call->reply, edits.data, edits.bytes);
    }
    diagnostic_list_free(&diagnostics);
    buffer_free(&edits);
    return status == STATUS_OK ? call->reply.status : status;
}

Status worker_scene_ref(WorkerCall *call)
{
    Scripts *scripts = calloc(1, sizeof *scripts);
    const Status status = scripts == NULL ? STATUS_LIMIT : find_in_request(call, scripts);
    free(scripts);
    if (status != STATUS_OK) {
        snprintf(call->reason, sizeof call->reason, "script references: %s", status_text(status));
    }
    return status;
}
