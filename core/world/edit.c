// What a creator changes in the scene while it is played: ENTRY_EDIT, rows of patches
// (wire/patch.h). A row does what a script could do to that part, without a script that pays for
// it. So what follows is the same too: the part becomes an entity of the sim if it does not only
// look different, and clients get it with the patch of its cell.
//
// They are all checked before the first is applied.
#include "core/world/world_inside.h"

#include "core/wire/patch.h"

typedef Status (*RowVisitor)(World *world, const PatchRow *row);

// What was removed does not come back: the world is made anew for that.
static Status check_row(World *world, const PatchRow *row)
{
    ScriptEntityInfo info;
    ScriptWorld *face = authority_world(world->authority);
    const bool is_there = row->net_id <= scene_part_count(world->config.place->scene) &&
                          face->methods->entity(face, row->net_id, &info);
    const bool comes_back = (row->groups & PATCH_GONE) != 0 && !row->gone;
    if ((row->groups & PATCH_ATTRIBUTES) != 0) {
        return STATUS_UNSUPPORTED; // they belong to the scripts of the running world
    }
    return is_there && !comes_back ? STATUS_OK : STATUS_NOT_FOUND;
}

static bool quat_equal(Quat a, Quat b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

// What is so already is left alone: a part that only looks different does not become an entity.
static Status apply_row(World *world, const PatchRow *row)
{
    ScriptWorld *face = authority_world(world->authority);
    const ScriptWorldMethods *methods = face->methods;
    const uint64_t net_id = row->net_id;
    ScriptEntityInfo info;
    PartData data;
    Status status = methods->entity(face, net_id, &info) ? STATUS_OK : STATUS_NOT_FOUND;
    if (status == STATUS_OK) {
        status = methods->part_data(face, net_id, &data);
    }
    if (status == STATUS_OK && (row->groups & PATCH_POSITION) != 0 &&
        !vec3_equal(info.position, row->pose.position)) {
        status = methods->set_position(face, net_id, row->pose.position);
    }
    if (status == STATUS_OK && (row->groups & PATCH_ROTATION) != 0 &&
        !quat_equal(info.rotation, row->pose.rotation)) {
        status = methods->set_rotation(face, net_id, row->pose.rotation);
    }
    if (status == STATUS_OK && (row->groups & PATCH_PART_DATA) != 0 &&
        !part_data_equal(&data, &row->data)) {
        status = methods->set_part_data(face, net_id, &row->data);
    }
    if (status == STATUS_OK && (row->groups & PATCH_PAINT) != 0) {
        status = methods->set_paint(face, net_id, &row->paint, PAINT_MEMBERS_ALL);
    }
    if (status == STATUS_OK && (row->groups & PATCH_GONE) != 0) {
        status = methods->destroy(face, net_id);
    }
    return status;
}

static Status visit_rows(World *world, const Entry *entry, RowVisitor visit)
{
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    uint64_t before = 0;
    Status status = STATUS_OK;
    while (status == STATUS_OK && byte_reader_left(&reader) > 0) {
        PatchRow row;
        status = patch_row_read(&reader, before, &row) ? visit(world, &row) : reader.status;
        before = row.net_id;
    }
    return status;
}

Status edit_enter(World *world, const Entry *entry)
{
    const Status status = visit_rows(world, entry, check_row);
    return status == STATUS_OK ? visit_rows(world, entry, apply_row) : status;
}
