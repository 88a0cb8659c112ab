// Edits of a place while it is played, as the studio's document has them: entities as JSON become
// rows of patches and enter the world one by one. A row has everything that can be changed so; the
// world leaves alone what is as it was.
#include "core/world/local/local_host.h"

#include "core/base/json_read.h"
#include "core/wire/patch.h"
#include "core/wire/place_doc.h"

#define EDIT_ITEMS_MAX    65536
#define EDIT_ENTITY_BYTES 16384

// 0: it is nothing of this world.
static uint64_t net_id_of(LocalHost *host, uint32_t scene_id)
{
    const Place *place = local_host_place(host);
    const uint32_t count = scene_part_count(place->scene) + place->entity_count;
    const uint64_t made = world_made_part(local_host_world(host), scene_id);
    for (uint32_t i = 0; made == 0 && place->scene_ids != NULL && scene_id != 0 && i < count; i++) {
        if (place->scene_ids[i] == scene_id) {
            return (uint64_t)i + 1;
        }
    }
    return made;
}

static Status enter_row(LocalHost *host, const PatchRow *row, EntryEdit kind)
{
    uint8_t bytes[PATCH_ROW_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    if (row->net_id == 0) {
        return STATUS_NOT_FOUND;
    }
    patch_row_write(&writer, 0, row);
    const Entry entry = {
        .type = ENTRY_EDIT, .number = kind, .bytes = bytes, .byte_count = writer.at};
    return writer.status == STATUS_OK ? local_host_enter(host, &entry) : writer.status;
}

static void read_entity(const JsonNode *node, PlaceScratch *scratch, PlaceEntityDoc *out,
                        JsonError *error)
{
    place_table_default(&place_table_entity, out);
    place_table_from_json(&place_table_entity, node, scratch, out, error);
}

static void edit_entity(LocalHost *host, PlaceScratch *scratch, const JsonNode *node,
                        JsonError *error)
{
    const Place *place = local_host_place(host);
    const Pose world = {VEC3_ZERO, QUAT_IDENTITY};
    PlaceEntityDoc doc;
    read_entity(node, scratch, &doc, error);
    if (error->status != STATUS_OK) {
        return;
    }
    const PartDesc part =
        place_part(&doc.body, place_pose(world, doc.transform.position, &doc.transform.rotation));
    const PatchRow row = {
        .net_id = doc.type == PLACE_TYPE_PART ? net_id_of(host, doc.id) : 0,
        .groups = PATCH_PART_DATA | PATCH_PAINT |
                  (doc.parent == 0 ? PATCH_POSITION | PATCH_ROTATION : 0u),
        .pose = doc.parent == 0 ? part.pose : world,
        .data = part.data,
        .paint = place_look_paint(&doc.body.look, place->assets),
    };
    error->status = enter_row(host, &row, ENTRY_EDIT_ROWS);
}

static void created_entity(LocalHost *host, PlaceScratch *scratch, const JsonNode *node,
                           JsonError *error)
{
    PlaceEntityDoc doc;
    uint8_t *bytes = place_scratch_take(scratch, EDIT_ENTITY_BYTES, 1);
    ByteWriter writer = byte_writer(bytes, bytes != NULL ? EDIT_ENTITY_BYTES : 0);
    read_entity(node, scratch, &doc, error);
    if (error->status != STATUS_OK) {
        return;
    }
    place_table_write(&place_table_entity, &doc, false, &writer);
    const Entry entry = {
        .type = ENTRY_EDIT, .number = ENTRY_EDIT_CREATED, .bytes = bytes, .byte_count = writer.at};
    error->status = writer.status == STATUS_OK ? local_host_enter(host, &entry) : writer.status;
}

// The attributes and tags of an entity are written; false: one is stored, not for everybody, or
// names another entity.
static bool write_attributes(const PlaceBodyDoc *body, ByteWriter *writer)
{
    static const NetValueType types[] = {[PLACE_VALUE_BOOL] = NET_VALUE_BOOL,
                                         [PLACE_VALUE_NUMBER] = NET_VALUE_NUMBER,
                                         [PLACE_VALUE_TEXT] = NET_VALUE_TEXT,
                                         [PLACE_VALUE_VECTOR] = NET_VALUE_VECTOR};
    const PlaceAttribute *attribute = body->attributes.items;
    const Text *tags = body->tags.items;
    net_attributes_write_name(writer, (Text){"", 0});
    for (uint32_t i = 0; i < body->attributes.count; i++, attribute++) {
        if (attribute->flags != 0 || attribute->type == PLACE_VALUE_ENTITY) {
            return false;
        }
        const NetValue value = {.type = types[attribute->type],
                                .boolean = attribute->boolean,
                                .number = attribute->number,
                                .text = attribute->text,
                                .vector = attribute->vector};
        net_attributes_write_one(writer, attribute->name, &value);
    }
    net_attributes_write_end(writer);
    for (uint32_t i = 0; i < body->tags.count; i++) {
        net_attributes_write_tag(writer, tags[i]);
    }
    net_attributes_write_end(writer);
    return true;
}

static void edit_attributes(LocalHost *host, PlaceScratch *scratch, const JsonNode *node,
                            EntryEdit kind, JsonError *error)
{
    PlaceEntityDoc doc;
    uint8_t bytes[NET_ATTRIBUTES_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    read_entity(node, scratch, &doc, error);
    if (error->status != STATUS_OK) {
        return;
    }
    const bool is_plain = write_attributes(&doc.body, &writer);
    const PatchRow row = {.net_id = net_id_of(host, doc.id),
                          .groups = PATCH_ATTRIBUTES,
                          .attributes = bytes,
                          .attributes_bytes = (uint32_t)writer.at};
    error->status = !is_plain                    ? STATUS_UNSUPPORTED
                    : writer.status != STATUS_OK ? writer.status
                                                 : enter_row(host, &row, kind);
}

static const JsonNode *list_of(const JsonNode *root, const char *name, JsonError *error)
{
    const JsonNode *list = json_find(root, name);
    return list != NULL && error->status == STATUS_OK
               ? json_read_array(list, 0, EDIT_ITEMS_MAX, error)
               : NULL;
}

static void edit_all(LocalHost *host, PlaceScratch *scratch, const JsonNode *root, JsonError *error)
{
    const JsonNode *item = list_of(root, "removed", error);
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        PatchRow row = {.groups = PATCH_GONE, .gone = true};
        row.net_id = net_id_of(host, (uint32_t)json_read_integer(item, 1, UINT32_MAX, error));
        if (error->status == STATUS_OK) {
            error->status = enter_row(host, &row, ENTRY_EDIT_ROWS);
        }
    }
    item = list_of(root, "entities", error);
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        edit_entity(host, scratch, item, error);
    }
    item = list_of(root, "lost", error);
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        edit_attributes(host, scratch, item, ENTRY_EDIT_LOST, error);
    }
    item = list_of(root, "given", error);
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        edit_attributes(host, scratch, item, ENTRY_EDIT_ROWS, error);
    }
    item = list_of(root, "created", error);
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        created_entity(host, scratch, item, error);
    }
}

Status local_host_edit(LocalHost *host, const char *json, size_t bytes, PlaceError *error)
{
    PlaceScratch scratch = {.heap = local_host_heap(host)};
    const JsonNode *root = NULL;
    *error = (PlaceError){0};
    Status status = place_json_parse(&scratch, json, bytes, &root, &error->where);
    if (status == STATUS_OK && json_read_object(root, &error->where) != NULL) {
        edit_all(host, &scratch, root, &error->where);
    }
    status = status == STATUS_OK ? error->where.status : status;
    place_scratch_free(&scratch);
    error->status = status;
    return status;
}
