// See op_json.h.
#include "core/edit/op_json.h"

#include "core/base/byte_values.h"
#include "core/base/json_read.h"
#include "core/base/limits.h"

#include <string.h>

typedef struct Reader {
    PlaceScratch scratch;
    EditBuffer *out;
    JsonError *error;
} Reader;

static EditKind read_kind(const JsonNode *op, JsonError *error)
{
    static const char *const names[EDIT_KIND_COUNT] = {[EDIT_SETTINGS] = "settings",
                                                       [EDIT_SCENE] = "scene",
                                                       [EDIT_TERRAIN] = "terrain",
                                                       [EDIT_ENTITY] = "entity"};
    const JsonNode *kind = json_find(op, "kind");
    return kind == NULL ? EDIT_ENTITY
                        : (EditKind)json_read_choice(kind, names, EDIT_KIND_COUNT, error);
}

static uint32_t read_id(const JsonNode *node, uint32_t low, JsonError *error)
{
    return (uint32_t)json_read_integer(node, low, UINT32_MAX, error);
}

// NULL after a failure.
static uint32_t *read_ids(Reader *reader, const JsonNode *op, uint32_t low, uint32_t *count)
{
    const JsonNode *list = json_read_member(op, "ids", reader->error);
    const JsonNode *item = json_read_array(list, 1, EDIT_TARGETS_MAX, reader->error);
    uint32_t *ids =
        item == NULL ? NULL : place_scratch_take(&reader->scratch, list->count, sizeof *ids);
    if (ids == NULL) {
        json_fail(reader->error, STATUS_LIMIT, op, "is too much at once");
        return NULL;
    }
    *count = list->count;
    for (uint32_t i = 0; item != NULL; item = item->next, i++) {
        ids[i] = read_id(item, low, reader->error);
    }
    return reader->error->status == STATUS_OK ? ids : NULL;
}

static EditWhere read_where(const JsonNode *op, JsonError *error)
{
    const JsonNode *after = json_find(op, "after");
    if (after == NULL) {
        return (EditWhere){.spot = EDIT_AT_END};
    }
    const uint32_t id = read_id(after, 0, error);
    return (EditWhere){.spot = id == 0 ? EDIT_AT_BEGIN : EDIT_AFTER, .id = id};
}

// 64 hexadecimal digits. False: the member is null or not there.
static bool read_content_hash(const JsonNode *op, const char *name, uint8_t hash[SHA256_BYTES],
                              JsonError *error)
{
    const JsonNode *node = json_find(op, name);
    if (node == NULL || node->kind == JSON_NULL) {
        return false;
    }
    const char *text = json_read_text(node, 2 * SHA256_BYTES, error);
    if (text == NULL || !bytes_from_hex(text, strlen(text), hash, SHA256_BYTES)) {
        json_fail(error, STATUS_MALFORMED, node, "must be a hash of 64 hexadecimal digits");
        return false;
    }
    return true;
}

static Text read_path(const JsonNode *op, const char *name, JsonError *error)
{
    const char *path =
        json_read_text(json_read_member(op, name, error), EDIT_PATH_BYTES_MAX, error);
    return text_from(path != NULL ? path : "");
}

// --- each of them -------------------------------------------------------------------------------

static void write_object(Reader *reader, EditKind kind, const JsonNode *node, EditBuffer *record)
{
    EditObject object;
    memset(&object, 0, sizeof object);
    place_table_from_json(edit_kind_table(kind), node, &reader->scratch, &object, reader->error);
    if (reader->error->status == STATUS_OK) {
        edit_record_write(kind, &object, record);
    }
}

static void read_create(Reader *reader, const JsonNode *op, EditBuffer *work)
{
    write_object(reader, EDIT_ENTITY, json_read_member(op, "entity", reader->error), work);
    const EditWhere where = read_where(op, reader->error);
    edit_op_create(reader->out, where, work->data, work->bytes);
}

static void read_fill(Reader *reader, const JsonNode *op, EditBuffer *work)
{
    const uint32_t id = read_id(json_read_member(op, "id", reader->error), 1, reader->error);
    write_object(reader, EDIT_TERRAIN, json_read_member(op, "box", reader->error), work);
    const EditWhere where = read_where(op, reader->error);
    edit_op_fill(reader->out, id, where, work->data, work->bytes);
}

static void read_delete(Reader *reader, const JsonNode *op, EditBuffer *work)
{
    (void)work;
    uint32_t count = 0;
    const uint32_t *ids = read_ids(reader, op, 1, &count);
    const EditKind kind = read_kind(op, reader->error);
    if (ids != NULL) {
        edit_op_delete(reader->out, kind, ids, count);
    }
}

static void write_value(Reader *reader, const EditMember *member, const JsonNode *node,
                        EditBuffer *work)
{
    edit_buffer_clear(work);
    EditObject object;
    memset(&object, 0, sizeof object);
    uint8_t *at = (uint8_t *)&object + member->offset;
    place_field_default(member->field, at);
    if (node != NULL && node->kind != JSON_NULL) {
        place_field_from_json(member->field, node, &reader->scratch, at, reader->error);
    }
    if (reader->error->status == STATUS_OK) {
        edit_value_write(member, &object, work);
    }
}

static void read_values(Reader *reader, const JsonNode *values, const EditMember *member,
                        EditBuffer *work)
{
    const JsonNode *pair = json_read_array(values, 1, EDIT_TARGETS_MAX, reader->error);
    for (; pair != NULL && reader->error->status == STATUS_OK; pair = pair->next) {
        const JsonNode *id = json_read_array(pair, 2, 2, reader->error);
        const uint32_t target = read_id(id, 0, reader->error);
        write_value(reader, member, id != NULL ? id->next : NULL, work);
        edit_op_set_target(reader->out, target, work->data, work->bytes);
    }
}

static void read_set(Reader *reader, const JsonNode *op, EditBuffer *work)
{
    const EditKind kind = read_kind(op, reader->error);
    const JsonNode *named = json_read_member(op, "member", reader->error);
    const char *name = json_read_text(named, EDIT_MEMBER_NAME_BYTES - 1, reader->error);
    if (reader->error->status != STATUS_OK) {
        return;
    }
    const PlaceTable *table = edit_kind_table(kind);
    EditMember member;
    uint32_t number;
    if (!edit_member_named(table, name, &number) || !edit_member_at(table, number, &member)) {
        json_fail(reader->error, STATUS_NOT_FOUND, named, "is not a member of that");
        return;
    }
    const JsonNode *values = json_find(op, "values");
    if (values != NULL && values->kind == JSON_ARRAY) {
        edit_op_set(reader->out, kind, number, values->count);
        read_values(reader, values, &member, work);
        return;
    }
    uint32_t count = 0;
    const uint32_t *ids = read_ids(reader, op, 0, &count);
    write_value(reader, &member, json_read_member(op, "value", reader->error), work);
    if (ids != NULL) {
        edit_op_set_all(reader->out, kind, number, ids, count, work->data, work->bytes);
    }
}

static void read_move(Reader *reader, const JsonNode *op, EditBuffer *work)
{
    (void)work;
    uint32_t count = 0;
    const uint32_t *ids = read_ids(reader, op, 1, &count);
    const JsonNode *above = json_find(op, "parent");
    const uint32_t parent = above != NULL ? read_id(above, 0, reader->error) : 0;
    const EditWhere where = read_where(op, reader->error);
    const bool has_where = json_find(op, "after") != NULL;
    if (ids != NULL) {
        edit_op_move(reader->out, above != NULL ? &parent : NULL, has_where ? &where : NULL, ids,
                     count);
    }
}

static void read_file(Reader *reader, const JsonNode *op, EditBuffer *work)
{
    (void)work;
    uint8_t hash[SHA256_BYTES], known[SHA256_BYTES];
    const Text path = read_path(op, "path", reader->error);
    const bool has_hash = read_content_hash(op, "hash", hash, reader->error);
    const bool has_known = read_content_hash(op, "known", known, reader->error);
    edit_op_file(reader->out, path, has_hash ? hash : NULL, has_known ? known : NULL);
}

static void read_rename(Reader *reader, const JsonNode *op, EditBuffer *work)
{
    (void)work;
    uint8_t known[SHA256_BYTES] = {0};
    const Text from = read_path(op, "from", reader->error);
    const Text to = read_path(op, "to", reader->error);
    if (!read_content_hash(op, "known", known, reader->error)) {
        json_fail(reader->error, STATUS_MALFORMED, op, "must have the known hash of the file");
    }
    edit_op_rename(reader->out, from, to, known);
}

static void read_op(Reader *reader, const JsonNode *op, EditBuffer *work)
{
    static const char *const names[] = {"create", "delete", "set",   "move",
                                        "fill",   "file",   "rename"};
    static void (*const readers[])(Reader *, const JsonNode *, EditBuffer *) = {
        read_create, read_delete, read_set, read_move, read_fill, read_file, read_rename};
    const uint32_t which = json_read_choice(json_read_member(op, "op", reader->error), names,
                                            sizeof names / sizeof names[0], reader->error);
    if (reader->error->status == STATUS_OK) {
        edit_buffer_clear(work);
        readers[which](reader, op, work);
    }
}

Status edit_ops_from_json(Heap *heap, const char *text, size_t bytes, EditBuffer *out,
                          JsonError *error)
{
    Reader reader = {.scratch = {.heap = heap}, .out = out, .error = error};
    EditBuffer work = edit_buffer(heap, EDIT_TRANSACTION_BYTES_MAX);
    const JsonNode *root = NULL;
    *error = (JsonError){0};
    const Status status = place_json_parse(&reader.scratch, text, bytes, &root, error);
    if (status == STATUS_OK) {
        edit_ops_begin(out);
        const JsonNode *op = json_read_array(root, 1, EDIT_TARGETS_MAX, error);
        for (; op != NULL && error->status == STATUS_OK; op = op->next) {
            read_op(&reader, op, &work);
        }
        if (out->status != STATUS_OK || work.status != STATUS_OK) {
            json_fail(error, STATUS_LIMIT, root, "is too much at once; do it in smaller steps");
        }
    }
    edit_buffer_free(&work);
    place_scratch_free(&reader.scratch);
    return status != STATUS_OK ? status : error->status;
}
