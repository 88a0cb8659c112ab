// See op_soul_context.h. One pass over the scene decides what is shown; everything is in the order
// of the file, or nearest first with the file's order between equals, so that the same place gives
// the same bytes on every machine.
#include "server/build/inside/op_soul_context.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/json_member.h"
#include "core/base/json_write.h"
#include "core/base/limits.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/wire/place_doc.h"
#include "core/wire/script_path.h"
#include "server/build/inside/worker_op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAP_BYTES_MAX       (512ull << 20)
#define LINE_BYTES           2048 // of one entity
#define ATTRIBUTE_TEXT_BYTES 128
#define PARAMETERS_BYTES     1024
#define PHRASE_BYTES_MAX     PLACE_NAME_BYTES
#define HEADING_BYTES        256 // room that lines leave for the headings after them
#define FILES_MAX            (PLACE_PREFABS_MAX + 1)

typedef struct Phrases {
    uint64_t *hashes; // sorted
    uint32_t count, capacity;
} Phrases;

typedef struct EntityId {
    uint32_t id, index;
} EntityId;

typedef struct Near {
    float square; // of the distance
    uint32_t index;
} Near;

typedef struct Look {
    const SoulContextAsk *ask;
    PlaceScratch scratch;
    PlaceSceneDoc scene;
    const PlaceEntityDoc *entities;
    uint32_t entity_count;
    EntityId *ids; // by id
    Phrases phrases;
    uint32_t self[SOUL_CONTEXT_SELF_MAX], self_count;
    uint32_t named[SOUL_CONTEXT_NAMED_MAX], named_count;
    Near near[SOUL_CONTEXT_NEAR_MAX];
    uint32_t near_count;
    Buffer *out;
    char *reason;
} Look;

// --- which names the text says ------------------------------------------------------------------

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (c & 0x80) != 0;
}

static uint64_t hash_lower(const char *text, size_t bytes)
{
    Hash64 hash = HASH64_INIT;
    char lower[PHRASE_BYTES_MAX];
    ASSERT(bytes <= sizeof lower);
    for (size_t i = 0; i < bytes; i++) {
        const char c = text[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
    }
    hash_bytes(&hash, lower, bytes);
    return hash.state;
}

static void add_phrase(Phrases *phrases, const char *text, size_t bytes)
{
    if (phrases->count < phrases->capacity) {
        phrases->hashes[phrases->count++] = hash_lower(text, bytes);
    }
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t one = *(const uint64_t *)a, two = *(const uint64_t *)b;
    return (one > two) - (one < two);
}

// Adds every run of words that could be a name, with and without a plural s.
static void add_phrases_from(Phrases *phrases, const char *text, size_t bytes)
{
    const size_t end = bytes < PHRASE_BYTES_MAX ? bytes : PHRASE_BYTES_MAX;
    for (size_t at = 2; at <= end; at++) {
        if (is_word(text[at - 1]) && (at == bytes || !is_word(text[at]))) {
            add_phrase(phrases, text, at);
            if (at > 2 && (text[at - 1] == 's' || text[at - 1] == 'S')) {
                add_phrase(phrases, text, at - 1);
            }
        }
    }
}

static Status find_phrases(Look *look)
{
    const char *text = look->ask->text;
    const size_t bytes = look->ask->text_bytes;
    // A word and its separator take two characters, so a text has at most half as many words as
    // bytes; each counts twice for its plural.
    const size_t most = (bytes / 2 + 1) * PHRASE_BYTES_MAX;
    look->phrases.hashes = place_scratch_take(&look->scratch, most, sizeof(uint64_t));
    if (look->phrases.hashes == NULL) {
        return STATUS_LIMIT;
    }
    look->phrases.capacity = (uint32_t)most;
    for (size_t i = 0; i < bytes; i++) {
        if (is_word(text[i]) && (i == 0 || !is_word(text[i - 1]))) {
            add_phrases_from(&look->phrases, text + i, bytes - i);
        }
    }
    qsort(look->phrases.hashes, look->phrases.count, sizeof(uint64_t), by_hash);
    return STATUS_OK;
}

static bool is_said(const Look *look, Text name)
{
    if (name.bytes < 2 || name.bytes > PHRASE_BYTES_MAX) {
        return false;
    }
    const uint64_t hash = hash_lower(name.data, name.bytes);
    return bsearch(&hash, look->phrases.hashes, look->phrases.count, sizeof hash, by_hash) != NULL;
}

// --- the scene ----------------------------------------------------------------------------------

static int by_id(const void *a, const void *b)
{
    const EntityId *one = a, *two = b;
    return one->id != two->id ? (one->id > two->id) - (one->id < two->id)
                              : (one->index > two->index) - (one->index < two->index);
}

static const PlaceEntityDoc *find_id(const Look *look, uint32_t id)
{
    uint32_t low = 0, high = look->entity_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (look->ids[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < look->entity_count && look->ids[low].id == id;
    return found ? &look->entities[look->ids[low].index] : NULL;
}

// The position in the world, through its parents; the scene compiler rejects chains that are too
// long.
static Vec3 world_position(const Look *look, const PlaceEntityDoc *entity)
{
    const PlaceEntityDoc *chain[PLACE_PARENTS_MAX + 1];
    uint32_t count = 0;
    while (entity != NULL && count <= PLACE_PARENTS_MAX) {
        chain[count++] = entity;
        entity = entity->parent != 0 ? find_id(look, entity->parent) : NULL;
    }
    Pose pose = {VEC3_ZERO, QUAT_IDENTITY};
    while (count > 0) {
        const PlaceTransformDoc *own = &chain[--count]->transform;
        pose = place_pose(pose, own->position, &own->rotation);
    }
    return pose.position;
}

static bool runs(const PlaceBodyDoc *body, const char *path)
{
    const Text script = place_script(body);
    const ScriptPath plain = script_path_trim(script.data, script.bytes);
    return plain.bytes == strlen(path) && memcmp(plain.data, path, plain.bytes) == 0;
}

static bool is_hidden(const Look *look, const PlaceBodyDoc *body)
{
    return look->ask->replicate && body->server_only;
}

static bool is_shown(const Look *look, uint32_t index)
{
    for (uint32_t i = 0; i < look->self_count; i++) {
        if (look->self[i] == index) {
            return true;
        }
    }
    for (uint32_t i = 0; i < look->named_count; i++) {
        if (look->named[i] == index) {
            return true;
        }
    }
    return false;
}

static void find_self_and_named(Look *look)
{
    for (uint32_t i = 0; i < look->entity_count; i++) {
        const PlaceEntityDoc *entity = &look->entities[i];
        if (runs(&entity->body, look->ask->path)) {
            if (look->self_count < SOUL_CONTEXT_SELF_MAX) {
                look->self[look->self_count++] = i;
            }
        } else if (look->named_count < SOUL_CONTEXT_NAMED_MAX && is_said(look, entity->name) &&
                   !is_hidden(look, &entity->body)) {
            look->named[look->named_count++] = i;
        }
    }
}

// Nearest first; of equals the first of the file.
static void keep_near(Look *look, Near candidate)
{
    uint32_t at = look->near_count;
    while (at > 0 && look->near[at - 1].square > candidate.square) {
        at -= 1;
    }
    if (at == SOUL_CONTEXT_NEAR_MAX) {
        return;
    }
    const uint32_t last =
        look->near_count < SOUL_CONTEXT_NEAR_MAX ? look->near_count++ : SOUL_CONTEXT_NEAR_MAX - 1;
    memmove(&look->near[at + 1], &look->near[at], (last - at) * sizeof look->near[0]);
    look->near[at] = candidate;
}

static void find_near(Look *look)
{
    Vec3 centres[SOUL_CONTEXT_SELF_MAX];
    for (uint32_t i = 0; i < look->self_count; i++) {
        centres[i] = world_position(look, &look->entities[look->self[i]]);
    }
    for (uint32_t i = 0; i < look->entity_count && look->self_count > 0; i++) {
        const PlaceEntityDoc *entity = &look->entities[i];
        if (entity->type == PLACE_TYPE_GROUP || is_hidden(look, &entity->body) ||
            is_shown(look, i) || runs(&entity->body, look->ask->path)) {
            continue;
        }
        const Vec3 position = world_position(look, entity);
        float nearest = SOUL_CONTEXT_NEAR_M * SOUL_CONTEXT_NEAR_M;
        bool is_near = false;
        for (uint32_t j = 0; j < look->self_count; j++) {
            const Vec3 way = vec3_sub(position, centres[j]);
            const float square = vec3_dot(way, way);
            if (square <= nearest) {
                nearest = square;
                is_near = true;
            }
        }
        if (is_near) {
            keep_near(look, (Near){nearest, i});
        }
    }
}

// --- as text ------------------------------------------------------------------------------------

static void write_flag(JsonWriter *json, const char *name, bool value)
{
    if (value) {
        json_write_name(json, name);
        json_write_bool(json, true);
    }
}

static void write_number(JsonWriter *json, const char *name, float value)
{
    if (value != 0) {
        json_write_name(json, name);
        json_write_f32(json, value);
    }
}

static void write_cut(JsonWriter *json, Text text, size_t bytes_max)
{
    json_write_text_bytes(json, text.data, utf8_cut(text.data, text.bytes, bytes_max));
}

static void write_value(const Look *look, JsonWriter *json, const PlaceAttribute *attribute)
{
    if ((attribute->flags & (PLACE_ATTRIBUTE_PRIVATE | PLACE_ATTRIBUTE_OWNER)) != 0) {
        json_write_text(json, "(private: not shown)");
        return;
    }
    switch (attribute->type) {
    case PLACE_VALUE_BOOL:
        json_write_bool(json, attribute->boolean);
        break;
    case PLACE_VALUE_NUMBER:
        json_write_number(json, attribute->number);
        break;
    case PLACE_VALUE_TEXT:
        write_cut(json, attribute->text, ATTRIBUTE_TEXT_BYTES);
        break;
    case PLACE_VALUE_VECTOR:
        json_write_array_begin(json);
        json_write_f32(json, attribute->vector.x);
        json_write_f32(json, attribute->vector.y);
        json_write_f32(json, attribute->vector.z);
        json_write_array_end(json);
        break;
    default: {
        const PlaceEntityDoc *other = find_id(look, attribute->entity);
        const bool is_known = other != NULL && !is_hidden(look, &other->body);
        json_write_object_begin(json);
        json_write_name(json, "entity");
        json_write_text_bytes(json, is_known ? other->name.data : "",
                              is_known ? other->name.bytes : 0);
        json_write_object_end(json);
        break;
    }
    }
}

static void write_attributes(const Look *look, JsonWriter *json, const PlaceList *list)
{
    const PlaceAttribute *items = list->items;
    json_write_name(json, "attributes");
    json_write_object_begin(json);
    for (uint32_t i = 0; i < list->count; i++) {
        if (look->ask->replicate && (items[i].flags & PLACE_ATTRIBUTE_PRIVATE) != 0) {
            continue;
        }
        json_write_name_bytes(json, items[i].name.data, items[i].name.bytes);
        write_value(look, json, &items[i]);
    }
    json_write_object_end(json);
}

static void write_tags(JsonWriter *json, const PlaceList *list)
{
    const Text *tags = list->items;
    json_write_name(json, "tags");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < list->count; i++) {
        json_write_text_bytes(json, tags[i].data, tags[i].bytes);
    }
    json_write_array_end(json);
}

static void write_body(const Look *look, JsonWriter *json, const PlaceBodyDoc *body, bool is_self,
                       bool is_brief)
{
    static const char *const shapes[] = {"box", "wedge", "sphere", "cylinder"};
    json_write_name(json, "shape");
    json_write_text(json, body->shape.kind < 4 ? shapes[body->shape.kind] : "box");
    json_member_vec3(json, "size", body->shape.size);
    write_flag(json, "trigger", body->trigger);
    write_flag(json, "ghost", body->ghost);
    write_flag(json, "ladder", body->ladder);
    write_number(json, "bounce", body->bounce);
    write_number(json, "damage", body->damage);
    if (is_brief) {
        return;
    }
    if (body->tags.count > 0) {
        write_tags(json, &body->tags);
    }
    if (body->attributes.count > 0) {
        write_attributes(look, json, &body->attributes);
    }
    if (is_self && body->parameters.bytes > 0) {
        json_write_name(json, "parameters");
        write_cut(json, body->parameters, PARAMETERS_BYTES);
    }
}

static void write_entity(const Look *look, JsonWriter *json, const PlaceEntityDoc *entity,
                         bool is_self, bool is_brief)
{
    static const char *const types[] = {"part", "prop", "npc", "spawn", "group"};
    json_write_object_begin(json);
    json_write_name(json, "name");
    json_write_text_bytes(json, entity->name.data, entity->name.bytes);
    json_write_name(json, "type");
    json_write_text(json, entity->type < 5 ? types[entity->type] : "part");
    json_member_vec3(json, "position", world_position(look, entity));
    if (entity->type != PLACE_TYPE_GROUP && entity->type != PLACE_TYPE_SPAWN) {
        write_flag(json, "movable", !entity->anchored);
        write_flag(json, "movesByItself",
                   entity->motion.waypoints.count + entity->motion.segments.count > 0);
        write_body(look, json, &entity->body, is_self, is_brief);
    }
    json_write_object_end(json);
}

static void write_prefab(const Look *look, JsonWriter *json, const PlacePrefabDoc *prefab,
                         bool is_self, bool is_brief)
{
    static const char *const kinds[] = {"part", "prop", "npc", "projectile"};
    json_write_object_begin(json);
    json_write_name(json, "prefab");
    json_write_text_bytes(json, prefab->name.data, prefab->name.bytes);
    json_write_name(json, "kind");
    json_write_text(json, prefab->kind < 4 ? kinds[prefab->kind] : "part");
    write_body(look, json, &prefab->body, is_self, is_brief);
    json_write_object_end(json);
}

// Writes one line; if it is too long, again without its long members.
static void put_line(Look *look, const PlaceEntityDoc *entity, const PlacePrefabDoc *prefab,
                     bool is_self)
{
    for (uint32_t round = 0; round < 2; round++) {
        uint8_t line[LINE_BYTES];
        ByteWriter writer = byte_writer(line, sizeof line);
        JsonWriter json = json_writer(&writer, 0);
        if (entity != NULL) {
            write_entity(look, &json, entity, is_self, round > 0);
        } else {
            write_prefab(look, &json, prefab, is_self, round > 0);
        }
        if (json_writer_finish(&json) == STATUS_OK) {
            if (writer.at + 1 + HEADING_BYTES <= look->out->bytes_max - look->out->bytes) {
                buffer_put(look->out, line, writer.at);
                buffer_put_u8(look->out, '\n');
            }
            return;
        }
    }
}

static void put_entities(Look *look)
{
    if (look->self_count > 0) {
        buffer_print(look->out, "Entities this script is bound to (self):\n");
    }
    for (uint32_t i = 0; i < look->self_count; i++) {
        put_line(look, &look->entities[look->self[i]], NULL, true);
    }
    if (look->named_count > 0) {
        buffer_print(look->out, "Entities that the request names:\n");
    }
    for (uint32_t i = 0; i < look->named_count; i++) {
        put_line(look, &look->entities[look->named[i]], NULL, false);
    }
    if (look->near_count > 0) {
        buffer_print(look->out, "Entities near self, the nearest first:\n");
    }
    for (uint32_t i = 0; i < look->near_count; i++) {
        put_line(look, &look->entities[look->near[i].index], NULL, false);
    }
}

// --- reading ------------------------------------------------------------------------------------

static Status parse_file(Look *look, const PlaceFile *file, const PlaceTable *table, void *out)
{
    JsonError error = {0};
    const JsonNode *root = NULL;
    Status status =
        place_json_parse(&look->scratch, (const char *)file->data, file->bytes, &root, &error);
    if (status == STATUS_OK) {
        place_table_default(table, out);
        place_table_from_json(table, root, &look->scratch, out, &error);
        status = error.status;
    }
    if (status != STATUS_OK) {
        char where[JSON_ERROR_TEXT_BYTES];
        json_error_text(&error, where);
        (void)snprintf(look->reason, WORKER_REASON_BYTES, "%.127s %s", file->path, where);
    }
    return status;
}

static Status read_scene(Look *look, const PlaceFile *file)
{
    const Status status = parse_file(look, file, &place_table_scene, &look->scene);
    if (status != STATUS_OK) {
        return status;
    }
    look->entities = look->scene.entities.items;
    look->entity_count = look->scene.entities.count;
    if (look->entity_count == 0) {
        return STATUS_OK;
    }
    look->ids = place_scratch_take(&look->scratch, look->entity_count, sizeof *look->ids);
    if (look->ids == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < look->entity_count; i++) {
        look->ids[i] = (EntityId){look->entities[i].id, i};
    }
    qsort(look->ids, look->entity_count, sizeof *look->ids, by_id);
    find_self_and_named(look);
    find_near(look);
    put_entities(look);
    return STATUS_OK;
}

static bool is_prefab(const char *path, Text *name)
{
    const size_t bytes = strlen(path);
    if (bytes < 14 || strncmp(path, "prefabs/", 8) != 0 || strcmp(path + bytes - 5, ".json") != 0) {
        return false;
    }
    *name = (Text){path + 8, (uint32_t)(bytes - 13)};
    return true;
}

static Status read_prefabs(Look *look, const PlaceFile *files, uint32_t file_count)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < file_count && shown < SOUL_CONTEXT_NAMED_MAX; i++) {
        PlacePrefabDoc prefab = {0};
        Text name;
        if (!is_prefab(files[i].path, &name)) {
            continue;
        }
        const Status status = parse_file(look, &files[i], &place_table_prefab, &prefab);
        if (status != STATUS_OK) {
            return status;
        }
        prefab.name = name;
        const bool is_self = runs(&prefab.body, look->ask->path);
        if (is_self || (is_said(look, name) && !is_hidden(look, &prefab.body))) {
            buffer_print(look->out, "%s",
                         shown == 0 ? "Prefabs it is bound to or that the request names:\n" : "");
            put_line(look, NULL, &prefab, is_self);
            shown += 1;
        }
    }
    return STATUS_OK;
}

Status soul_context_write(const PlaceFile *files, uint32_t file_count, const SoulContextAsk *ask,
                          Buffer *out, char reason[WORKER_REASON_BYTES])
{
    Heap heap = heap_make(HEAP_BYTES_MAX);
    Look look = {.ask = ask, .scratch = {.heap = &heap}, .out = out, .reason = reason};
    reason[0] = '\0';
    Status status = ask->text_bytes <= SOUL_TEXT_BYTES_MAX + 1 ? find_phrases(&look) : STATUS_LIMIT;
    for (uint32_t i = 0; i < file_count && status == STATUS_OK; i++) {
        if (strcmp(files[i].path, "scene.json") == 0) {
            status = read_scene(&look, &files[i]);
            break;
        }
    }
    if (status == STATUS_OK) {
        status = read_prefabs(&look, files, file_count);
    }
    if (status == STATUS_OK) {
        status = out->status;
    }
    if (status != STATUS_OK && reason[0] == '\0') {
        (void)snprintf(reason, WORKER_REASON_BYTES, "the scene is too large to be described");
    }
    place_scratch_free(&look.scratch);
    return status;
}

// --- the worker's op ----------------------------------------------------------------------------

Status worker_soul_context(WorkerCall *call)
{
    enum { PATH_BYTES = 128 };
    ByteReader *reader = &call->request;
    char path[PATH_BYTES];
    SoulContextAsk ask = {.path = path};
    bool is_good = buffer_read_name(reader, path, sizeof path);
    ask.replicate = byte_read_bool(reader);
    ask.text = (const char *)byte_read_block(reader, &ask.text_bytes);
    const uint32_t count = byte_read_u32(reader);
    if (!is_good || reader->status != STATUS_OK || count > FILES_MAX) {
        return STATUS_MALFORMED;
    }
    PlaceFile *files = calloc((size_t)count + 1, sizeof *files);
    char(*paths)[PATH_BYTES] = calloc((size_t)count + 1, sizeof *paths);
    Status status = files != NULL && paths != NULL ? STATUS_OK : STATUS_LIMIT;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        is_good = buffer_read_name(reader, paths[i], PATH_BYTES);
        files[i].path = paths[i];
        files[i].data = byte_read_block(reader, &files[i].bytes);
        status = is_good ? reader->status : STATUS_MALFORMED;
    }
    if (status == STATUS_OK) {
        status = byte_reader_finish(reader);
    }
    if (status == STATUS_OK) {
        Buffer text = buffer_of(SOUL_CONTEXT_BYTES_MAX);
        status = soul_context_write(files, count, &ask, &text, call->reason);
        buffer_put(&call->reply, text.data, text.bytes);
        buffer_free(&text);
    }
    free(files);
    free(paths);
    return status;
}
