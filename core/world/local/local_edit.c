// Edits of a place while it is played, as the studio's document has them: entities as JSON become
// rows of patches, or bytes of their table, and enter the world one by one. A row has everything
// that can be changed so; the world leaves alone what is as it was.
#include "core/world/local/local_host.h"

#include "core/base/byte_values.h"
#include "core/base/json_read.h"
#include "core/wire/patch.h"
#include "core/wire/place_doc.h"

#define EDIT_ITEMS_MAX    65536
#define EDIT_ENTITY_BYTES 16384

static Status enter_row(LocalHost *host, const PatchRow *row)
{
    uint8_t bytes[PATCH_ROW_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    if (row->net_id == 0) {
        return STATUS_NOT_FOUND;
    }
    patch_row_write(&writer, 0, row);
    const Entry entry = {
        .type = ENTRY_EDIT, .number = ENTRY_EDIT_ROWS, .bytes = bytes, .byte_count = writer.at};
    return writer.status == STATUS_OK ? local_host_enter(host, &entry) : writer.status;
}

static void read_entity(const JsonNode *node, PlaceScratch *scratch, PlaceEntityDoc *out,
                        JsonError *error)
{
    place_table_default(&place_table_entity, out);
    place_table_from_json(&place_table_entity, node, scratch, out, error);
}

// An entity, or {"entity": …, "above": […]} with everything that it stands on, the lowest first,
// from which it has its frame as place_check would work it out.
static void read_item(const JsonNode *item, PlaceScratch *scratch, PlaceEntityDoc *out,
                      JsonError *error)
{
    static const char *const names[] = {"entity", "above"};
    const JsonNode *entity = json_find(item, "entity");
    const JsonNode *above = entity != NULL ? json_find(item, "above") : NULL;
    Pose frame = {VEC3_ZERO, QUAT_IDENTITY};
    if (entity != NULL) {
        json_read_only(item, names, 2, error);
    }
    const JsonNode *one =
        above != NULL ? json_read_array(above, 0, PLACE_PARENTS_MAX, error) : NULL;
    for (; one != NULL && error->status == STATUS_OK; one = one->next) {
        PlaceEntityDoc doc;
        read_entity(one, scratch, &doc, error);
        frame = place_pose(frame, doc.transform.position, &doc.transform.rotation);
    }
    read_entity(entity != NULL ? entity : item, scratch, out, error);
    if (out->parent != 0 && above == NULL && error->status == STATUS_OK) {
        error->status = STATUS_UNSUPPORTED; // nobody says where that is
    }
    out->frame = frame;
    out->pose = place_pose(frame, out->transform.position, &out->transform.rotation);
}

// What is no part, or moves by itself, stays where it is: it only looks otherwise.
static uint32_t groups_of(const PlaceEntityDoc *doc)
{
    const bool moves = doc->motion.waypoints.count + doc->motion.segments.count != 0;
    if (doc->type != PLACE_TYPE_PART) {
        return PATCH_PAINT;
    }
    return PATCH_PAINT | PATCH_PART_DATA | (moves ? 0u : PATCH_POSITION | PATCH_ROTATION);
}

static void edit_entity(LocalHost *host, PlaceScratch *scratch, const JsonNode *node,
                        JsonError *error)
{
    PlaceEntityDoc doc;
    read_item(node, scratch, &doc, error);
    if (error->status != STATUS_OK) {
        return;
    }
    const PartDesc part = place_part(&doc.body, doc.pose);
    PatchRow row = {.net_id = world_scene_entity(local_host_world(host), doc.id),
                    .groups = groups_of(&doc),
                    .paint = place_look_paint(&doc.body.look, local_host_place(host)->assets)};
    if ((row.groups & PATCH_POSITION) != 0) {
        row.pose = part.pose;
    }
    if ((row.groups & PATCH_PART_DATA) != 0) {
        row.data = part.data;
    }
    error->status = enter_row(host, &row);
}

// The entity as its table writes it, for the entries that have one.
static void enter_entity(LocalHost *host, PlaceScratch *scratch, const JsonNode *node,
                         EntryEdit kind, JsonError *error)
{
    PlaceEntityDoc doc;
    uint8_t *bytes = place_scratch_take(scratch, EDIT_ENTITY_BYTES, 1);
    ByteWriter writer = byte_writer(bytes, bytes != NULL ? EDIT_ENTITY_BYTES : 0);
    read_item(node, scratch, &doc, error);
    if (error->status != STATUS_OK) {
        return;
    }
    if (kind == ENTRY_EDIT_CREATED || kind == ENTRY_EDIT_SPAWN) {
        byte_write_vec3(&writer, doc.frame.position);
        byte_write_f32(&writer, doc.frame.rotation.x);
        byte_write_f32(&writer, doc.frame.rotation.y);
        byte_write_f32(&writer, doc.frame.rotation.z);
        byte_write_f32(&writer, doc.frame.rotation.w);
    }
    place_table_write(&place_table_entity, &doc, false, &writer);
    const Entry entry = {
        .type = ENTRY_EDIT, .number = kind, .bytes = bytes, .byte_count = writer.at};
    error->status = writer.status == STATUS_OK ? local_host_enter(host, &entry) : writer.status;
}

static const JsonNode *list_of(const JsonNode *root, const char *name, JsonError *error)
{
    const JsonNode *list = json_find(root, name);
    return list != NULL && error->status == STATUS_OK
               ? json_read_array(list, 0, EDIT_ITEMS_MAX, error)
               : NULL;
}

static void remove_all(LocalHost *host, const JsonNode *root, JsonError *error)
{
    const JsonNode *item = list_of(root, "removed", error);
    for (; item != NULL && error->status == STATUS_OK; item = item->next) {
        PatchRow row = {.groups = PATCH_GONE, .gone = true};
        row.net_id = world_scene_entity(local_host_world(host),
                                        (uint32_t)json_read_integer(item, 1, UINT32_MAX, error));
        if (error->status == STATUS_OK) {
            error->status = enter_row(host, &row);
        }
    }
}

static void edit_all(LocalHost *host, PlaceScratch *scratch, const JsonNode *root, JsonError *error)
{
    static const struct {
        const char *name;
        EntryEdit kind;
    } lists[] = {{"entities", ENTRY_EDIT_ROWS},
                 {"lost", ENTRY_EDIT_LOST},
                 {"created", ENTRY_EDIT_CREATED},
                 {"spawns", ENTRY_EDIT_SPAWN},
                 {"spawnsGone", ENTRY_EDIT_SPAWN_GONE}, // after those that come: one must be left
                 {"given", ENTRY_EDIT_GIVEN}};          // may name what was just created
    remove_all(host, root, error);
    for (uint32_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const JsonNode *item = list_of(root, lists[i].name, error);
        for (; item != NULL && error->status == STATUS_OK; item = item->next) {
            if (lists[i].kind == ENTRY_EDIT_ROWS) {
                edit_entity(host, scratch, item, error);
            } else {
                enter_entity(host, scratch, item, lists[i].kind, error);
            }
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
