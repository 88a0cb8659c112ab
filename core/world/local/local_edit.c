// Edits of a place while it is played, as the studio's document has them: entities as JSON become
// rows of patches and enter the world one by one. A row has everything that can be changed so; the
// world leaves alone what is as it was.
#include "core/world/local/local_host.h"

#include "core/base/json_read.h"
#include "core/wire/patch.h"
#include "core/wire/place_doc.h"

#define EDIT_ITEMS_MAX 65536

// 0: it is no anchored part of the scene.
static uint64_t net_id_of(const Place *place, uint32_t scene_id)
{
    const uint32_t count = scene_part_count(place->scene);
    for (uint32_t i = 0; place->scene_ids != NULL && scene_id != 0 && i < count; i++) {
        if (place->scene_ids[i] == scene_id) {
            return (uint64_t)i + 1;
        }
    }
    return 0;
}

static Status enter_row(LocalHost *host, const PatchRow *row)
{
    uint8_t bytes[PATCH_ROW_PLAIN_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    if (row->net_id == 0) {
        return STATUS_NOT_FOUND;
    }
    patch_row_write(&writer, 0, row);
    const Entry entry = {.type = ENTRY_EDIT, .bytes = bytes, .byte_count = writer.at};
    return writer.status == STATUS_OK ? local_host_enter(host, &entry) : writer.status;
}

static void edit_entity(LocalHost *host, PlaceScratch *scratch, const JsonNode *node,
                        JsonError *error)
{
    const Place *place = local_host_place(host);
    const Pose world = {VEC3_ZERO, QUAT_IDENTITY};
    PlaceEntityDoc doc;
    place_table_default(&place_table_entity, &doc);
    place_table_from_json(&place_table_entity, node, scratch, &doc, error);
    if (error->status != STATUS_OK) {
        return;
    }
    const PartDesc part =
        place_part(&doc.body, place_pose(world, doc.transform.position, &doc.transform.rotation));
    const PatchRow row = {
        .net_id = doc.type == PLACE_TYPE_PART ? net_id_of(place, doc.id) : 0,
        .groups = PATCH_PART_DATA | PATCH_PAINT |
                  (doc.parent == 0 ? PATCH_POSITION | PATCH_ROTATION : 0u),
        .pose = doc.parent == 0 ? part.pose : world,
        .data = part.data,
        .paint = place_look_paint(&doc.body.look, place->assets),
    };
    error->status = enter_row(host, &row);
}

static void edit_all(LocalHost *host, PlaceScratch *scratch, const JsonNode *root, JsonError *error)
{
    const JsonNode *entities = json_find(root, "entities"), *removed = json_find(root, "removed");
    const JsonNode *item =
        entities != NULL ? json_read_array(entities, 0, EDIT_ITEMS_MAX, error) : NULL;
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        edit_entity(host, scratch, item, error);
    }
    item = removed != NULL && error->status == STATUS_OK
               ? json_read_array(removed, 0, EDIT_ITEMS_MAX, error)
               : NULL;
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        PatchRow row = {.groups = PATCH_GONE, .gone = true};
        row.net_id = net_id_of(local_host_place(host),
                               (uint32_t)json_read_integer(item, 1, UINT32_MAX, error));
        if (error->status == STATUS_OK) {
            error->status = enter_row(host, &row);
        }
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
