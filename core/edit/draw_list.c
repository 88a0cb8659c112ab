// See draw_list.h. The list mirrors the slots of the document. Looking for what changed compares
// two numbers for each slot; only what differs is read.
#include "core/edit/draw_list.h"

#include "core/base/hash.h"
#include "core/edit/doc_inside.h"

#include <string.h>

_Static_assert(sizeof(EditDrawRow) == 84, "a page reads them so");

typedef struct Seen {
    uint32_t id, version, before;
    bool is_changed; // in this update
    Pose own;        // relative to its parent
} Seen;

struct EditDrawList {
    Heap *heap;
    Seen *seen;        // by slot
    EditSolid *solids; // by slot
    EditDrawRow *rows;
    uint32_t *gone;
    uint32_t room, count; // slots
    uint64_t assets;      // hash of the paths, in their order: rows have numbers of them
};

Status edit_draw_list_create(Heap *heap, EditDrawList **out)
{
    EditDrawList *list = heap_alloc(heap, sizeof *list);
    if (list == NULL) {
        return STATUS_LIMIT;
    }
    list->heap = heap;
    *out = list;
    return STATUS_OK;
}

static void free_arrays(EditDrawList *list)
{
    heap_free(list->heap, list->seen);
    heap_free(list->heap, list->solids);
    heap_free(list->heap, list->rows);
    heap_free(list->heap, list->gone);
}

void edit_draw_list_destroy(EditDrawList *list)
{
    if (list != NULL) {
        free_arrays(list);
        heap_free(list->heap, list);
    }
}

void edit_draw_list_forget(EditDrawList *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        list->seen[i].version = 0;
    }
}

static Status make_room(EditDrawList *list, uint32_t slots)
{
    if (slots <= list->room) {
        return STATUS_OK;
    }
    const uint32_t room = slots < 256 ? 256 : slots + slots / 2;
    EditDrawList next = {
        .heap = list->heap, .room = room, .count = list->count, .assets = list->assets};
    next.seen = heap_alloc(list->heap, heap_array_bytes(room, sizeof *next.seen));
    next.solids = heap_alloc(list->heap, heap_array_bytes(room, sizeof *next.solids));
    next.rows = heap_alloc(list->heap, heap_array_bytes(room, sizeof *next.rows));
    next.gone = heap_alloc(list->heap, heap_array_bytes(room, sizeof *next.gone));
    if (next.seen == NULL || next.solids == NULL || next.rows == NULL || next.gone == NULL) {
        free_arrays(&next);
        return STATUS_LIMIT;
    }
    if (list->count != 0) {
        memcpy(next.seen, list->seen, list->count * sizeof *next.seen);
        memcpy(next.solids, list->solids, list->count * sizeof *next.solids);
    }
    free_arrays(list);
    *list = next;
    return STATUS_OK;
}

// --- what differs -------------------------------------------------------------------------------

typedef struct Update {
    EditDrawList *list;
    EditDoc *doc;
    EditList *items;
    PlaceScratch scratch;
    Text *assets;
    uint32_t asset_count;
    EditDrawChanges changes;
    bool moves_children;
} Update;

static void compare(Update *update, uint32_t slot)
{
    EditDrawList *list = update->list;
    const EditItem *item = &update->items->items[slot];
    Seen *seen = &list->seen[slot];
    if (slot >= list->count) {
        *seen = (Seen){0};
    }
    if (seen->id != 0 && seen->id != item->id) {
        list->solids[slot].id = 0;
        if (!edit_doc_has(update->doc, EDIT_ENTITY, seen->id)) {
            list->gone[update->changes.gone_count++] = seen->id;
        }
    }
    seen->is_changed = item->id != 0 && (seen->id != item->id || seen->version != item->version);
    update->changes.has_order |= seen->id != item->id || seen->before != item->before;
    update->moves_children |= seen->is_changed && item->child_count != 0;
    seen->id = item->id;
    seen->version = item->version;
    seen->before = item->before;
}

static bool is_below_changed(const Update *update, const EditItem *item)
{
    uint32_t parent = item->parent;
    for (uint32_t depth = 0; parent != 0 && depth <= PLACE_PARENTS_MAX; depth++) {
        const uint32_t slot = edit_slot_find(update->doc, EDIT_ENTITY, parent);
        if (update->list->seen[slot].is_changed) {
            return true;
        }
        parent = update->items->items[slot].parent;
    }
    return false;
}

// --- rows ---------------------------------------------------------------------------------------

static Status list_assets(Update *update)
{
    const uint32_t count = edit_doc_file_count(update->doc);
    update->assets = place_scratch_take(&update->scratch, count + 1u, sizeof update->assets[0]);
    for (uint32_t i = 0; i < count && update->assets != NULL; i++) {
        const EditFile *file = edit_doc_file_at(update->doc, i);
        if (asset_name_is_asset(file->path) && update->asset_count < PAINT_ASSETS_MAX) {
            update->assets[update->asset_count++] = file->path;
        }
    }
    return update->assets == NULL ? STATUS_LIMIT : STATUS_OK;
}

// Another list of assets gives them other numbers, so everything is told again.
static void compare_assets(Update *update)
{
    Hash64 hash = HASH64_INIT;
    for (uint32_t i = 0; i < update->asset_count; i++) {
        hash_u64(&hash, update->assets[i].bytes);
        hash_bytes(&hash, update->assets[i].data, update->assets[i].bytes);
    }
    if (hash.state != update->list->assets) {
        update->list->assets = hash.state;
        edit_draw_list_forget(update->list);
    }
}

static Pose frame_of(const Update *update, const EditItem *item)
{
    Pose chain[PLACE_PARENTS_MAX + 1];
    uint32_t count = 0;
    for (uint32_t parent = item->parent; parent != 0 && count <= PLACE_PARENTS_MAX;) {
        const uint32_t slot = edit_slot_find(update->doc, EDIT_ENTITY, parent);
        chain[count++] = update->list->seen[slot].own;
        parent = update->items->items[slot].parent;
    }
    Pose frame = {VEC3_ZERO, QUAT_IDENTITY};
    while (count > 0) {
        const Pose own = chain[--count];
        frame = (Pose){vec3_add(frame.position, quat_rotate(frame.rotation, own.position)),
                       quat_normalise(quat_multiply(frame.rotation, own.rotation))};
    }
    return frame;
}

static uint32_t flags_of(const PlaceEntityDoc *entity, const PartDesc *part)
{
    const PlaceMotionDoc *motion = &entity->motion;
    return part->data.flags | (entity->body.look.visible ? (uint32_t)EDIT_DRAW_VISIBLE : 0) |
           (entity->anchored ? (uint32_t)EDIT_DRAW_ANCHORED : 0) |
           (place_script(&entity->body).bytes != 0 ? (uint32_t)EDIT_DRAW_SCRIPT : 0) |
           (motion->waypoints.count + motion->segments.count != 0 ? (uint32_t)EDIT_DRAW_MOTION : 0);
}

// What has no shape of its own is as large as what stands for it.
static Shape shape_of(const PlaceEntityDoc *entity)
{
    if (entity->type == PLACE_TYPE_SPAWN) {
        return (Shape){SHAPE_BOX, vec3(0.5f, 0.15f, 0.5f)};
    }
    if (entity->type == PLACE_TYPE_NPC) {
        return (Shape){SHAPE_BOX, vec3(0.45f, 0.9f, 0.45f)};
    }
    return place_part(&entity->body, (Pose){VEC3_ZERO, QUAT_IDENTITY}).shape;
}

// Spawns and characters stand on their position; the middle is above it.
static Pose middle_of(const PlaceEntityDoc *entity, Pose pose, Shape shape)
{
    if (entity->type == PLACE_TYPE_SPAWN || entity->type == PLACE_TYPE_NPC) {
        pose.position.y += shape.half.y;
    }
    return pose;
}

static void write_row(Update *update, const EditItem *item, uint32_t slot,
                      const PlaceEntityDoc *entity)
{
    EditDrawList *list = update->list;
    const AssetNames assets = {update->assets, update->asset_count};
    const Pose frame = frame_of(update, item);
    const Pose pose = place_pose(frame, entity->transform.position, &entity->transform.rotation);
    const PartDesc part = place_part(&entity->body, pose);
    const PlaceLookDoc *look = &entity->body.look;
    const Shape shape = shape_of(entity);
    const Pose middle = middle_of(entity, pose, shape);
    list->solids[slot] =
        (EditSolid){entity->type == PLACE_TYPE_GROUP ? 0 : item->id, shape, middle};
    list->rows[update->changes.row_count++] = (EditDrawRow){
        .id = item->id,
        .parent = item->parent,
        .type = entity->type,
        .shape = (uint32_t)shape.kind,
        .flags = flags_of(entity, &part),
        .colour = look->colour,
        .material = look->material,
        .texture = asset_name_find(&assets, PAINT_TEXTURE, look->texture),
        .model = asset_name_find(&assets, PAINT_MODEL, look->model),
        .transparency = look->transparency,
        .glow = look->glow,
        .position = {middle.position.x, middle.position.y, middle.position.z},
        .rotation = {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w},
        .half = {shape.half.x, shape.half.y, shape.half.z},
    };
}

static Status read_entity(Update *update, const EditItem *item, PlaceScratch *scratch,
                          EditObject *object)
{
    return edit_doc_read(update->doc, EDIT_ENTITY, item->id, scratch, object);
}

// Own poses first: those below need them, whatever slot they are in.
static Status read_poses(Update *update)
{
    Status status = STATUS_OK;
    for (uint32_t slot = 1; slot < update->items->slot_count && status == STATUS_OK; slot++) {
        Seen *seen = &update->list->seen[slot];
        if (seen->is_changed) {
            PlaceScratch scratch = {.heap = update->list->heap};
            EditObject object;
            status = read_entity(update, &update->items->items[slot], &scratch, &object);
            if (status == STATUS_OK) {
                const PlaceTransformDoc *transform = &object.entity.transform;
                seen->own = (Pose){transform->position, place_rotation(&transform->rotation)};
            }
            place_scratch_free(&scratch);
        }
    }
    return status;
}

static Status write_rows(Update *update)
{
    Status status = STATUS_OK;
    for (uint32_t slot = 1; slot < update->items->slot_count && status == STATUS_OK; slot++) {
        const EditItem *item = &update->items->items[slot];
        const bool is_moved = update->moves_children && item->id != 0 && item->parent != 0 &&
                              is_below_changed(update, item);
        if (update->list->seen[slot].is_changed || is_moved) {
            PlaceScratch scratch = {.heap = update->list->heap};
            EditObject object;
            status = read_entity(update, item, &scratch, &object);
            if (status == STATUS_OK) {
                write_row(update, item, slot, &object.entity);
            }
            place_scratch_free(&scratch);
        }
    }
    return status;
}

Status edit_draw_list_update(EditDrawList *list, EditDoc *doc, EditDrawChanges *out)
{
    Update update = {.list = list,
                     .doc = doc,
                     .items = edit_list(doc, EDIT_ENTITY),
                     .scratch = {.heap = list->heap}};
    const uint32_t slots =
        update.items->slot_count > list->count ? update.items->slot_count : list->count;
    Status status = make_room(list, slots + 1);
    if (status == STATUS_OK) {
        status = list_assets(&update);
    }
    if (status != STATUS_OK) {
        place_scratch_free(&update.scratch);
        return status;
    }
    compare_assets(&update);
    for (uint32_t slot = 1; slot < update.items->slot_count; slot++) {
        compare(&update, slot);
    }
    // Another document may have fewer slots.
    for (uint32_t slot = update.items->slot_count; slot < list->count; slot++) {
        if (list->seen[slot].id != 0 && !edit_doc_has(doc, EDIT_ENTITY, list->seen[slot].id)) {
            list->gone[update.changes.gone_count++] = list->seen[slot].id;
        }
        list->seen[slot] = (Seen){0};
        list->solids[slot] = (EditSolid){0};
        update.changes.has_order = true;
    }
    list->count = update.items->slot_count;
    status = read_poses(&update);
    if (status == STATUS_OK) {
        status = write_rows(&update);
    }
    place_scratch_free(&update.scratch);
    if (status != STATUS_OK) {
        edit_draw_list_forget(list);
        return status;
    }
    update.changes.rows = list->rows;
    update.changes.gone = list->gone;
    *out = update.changes;
    return STATUS_OK;
}

const EditSolid *edit_draw_list_solids(const EditDrawList *list, uint32_t *count)
{
    *count = list->count;
    return list->solids;
}
