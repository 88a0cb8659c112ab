// What a creator changes in the scene while it is played: ENTRY_EDIT. Poses, looks and part data
// are rows of patches (wire/patch.h); attributes and tags come as the entity that has them. All of
// it does what a script could do to that entity, without a script that pays for it. So what follows
// is the same too: the part becomes an entity of the sim if it does not only look different,
// clients get it with the patch of its cell, and scripts hear of attributes and tags.
//
// Scripts often look for names and tags once, when they start, and a world that is made anew would
// have found there what was added since (edit_made.c). So what a script has asked for is refused,
// unless it listens for tags that come and go.
//
// What an entry has is all checked before the first of it is applied.
#include "core/world/edit_inside.h"

#include "core/script/runtime/value.h"
#include "core/wire/patch.h"
#include "core/wire/visual.h"

#include <stdio.h>

typedef Status (*RowVisitor)(World *world, const PatchRow *row);

// --- attributes and tags ------------------------------------------------------------------------

// Scripts do not rely on what has this tag, or hear of the change.
bool edit_tag_may_change(World *world, Text tag, bool on)
{
    char key[WORLD_NAME_BYTES_MAX + 32];
    const char *any = on ? "World.TagAdded" : "World.TagRemoved";
    ScriptSystem *system = world_scripts(world);
    if (system == NULL || !authority_was_asked(world->authority, AUTHORITY_ASKED_TAG, tag)) {
        return true;
    }
    snprintf(key, sizeof key, "%s:%.*s", any, (int)tag.bytes, tag.data);
    return script_listens(system, any) || script_listens(system, key);
}

bool edit_value(World *world, const PlaceAttribute *attribute, ScriptValue *out)
{
    static const ScriptValueType types[PLACE_VALUE_TYPE_COUNT] = {
        SCRIPT_BOOL, SCRIPT_NUMBER, SCRIPT_TEXT, SCRIPT_VECTOR, SCRIPT_ENTITY};
    const bool is_entity = attribute->type == PLACE_VALUE_ENTITY;
    *out = (ScriptValue){.type = types[attribute->type],
                         .boolean = attribute->boolean,
                         .number = attribute->number,
                         .text = attribute->text,
                         .vector = attribute->vector,
                         .entity = is_entity ? world_scene_entity(world, attribute->entity) : 0};
    return !is_entity || out->entity != 0;
}

static Status check_details(World *world, const PlaceEntityDoc *doc, uint64_t net_id, bool is_lost)
{
    const AttributeTable *table = authority_attributes(world->authority);
    const PlaceAttribute *attributes = doc->body.attributes.items;
    const Text *tags = doc->body.tags.items;
    ScriptEntityInfo info;
    ScriptWorld *face = authority_world(world->authority);
    if (net_id == 0 || !face->methods->entity(face, net_id, &info)) {
        return STATUS_NOT_FOUND;
    }
    for (uint32_t i = 0; i < doc->body.attributes.count && !is_lost; i++) {
        ScriptValue value;
        const bool is_stored = (attributes[i].flags & PLACE_ATTRIBUTE_PERSISTENT) != 0;
        // What was added has no number of the scene by which its row would be found again.
        if (!edit_value(world, &attributes[i], &value) ||
            (is_stored && edit_is_made(world, net_id) &&
             attribute_table_name(table, net_id).bytes == 0)) {
            return STATUS_UNSUPPORTED;
        }
    }
    for (uint32_t i = 0; i < doc->body.tags.count; i++) {
        if (attribute_table_has_tag(table, net_id, tags[i]) == is_lost &&
            !edit_tag_may_change(world, tags[i], !is_lost)) {
            return STATUS_UNSUPPORTED;
        }
    }
    return STATUS_OK;
}

// `flags` are all that it has from now on.
static Status set_attribute(World *world, uint64_t net_id, Text name, const ScriptValue *now,
                            uint32_t flags)
{
    ScriptWorld *face = authority_world(world->authority);
    const ScriptValue nil = {0};
    ScriptValue before = nil;
    uint32_t flags_before = 0;
    uint8_t bytes[VALUE_ATTRIBUTES_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    (void)attribute_table_attribute(authority_attributes(world->authority), net_id, name, &before,
                                    &flags_before);
    const bool is_same = script_value_equal(&before, now);
    if (is_same && (flags_before == flags || now->type == SCRIPT_NIL)) {
        return STATUS_OK;
    }
    value_write_attributes((const ScriptValue[]){*now, before}, 2, &writer); // before it is gone
    ASSERT(writer.status == STATUS_OK);
    Status status = STATUS_OK;
    if ((flags_before & ~flags & ATTRIBUTE_PERSISTENT) != 0) { // only nil ends that
        status = face->methods->set_attribute(face, net_id, name, &nil, 0);
    }
    if (status == STATUS_OK) {
        status =
            face->methods->set_attribute(face, net_id, name, now, flags | ATTRIBUTE_VISIBILITY);
    }
    if (status == STATUS_OK && !is_same && world_scripts(world) != NULL &&
        !visual_is_reserved(name)) {
        const ScriptEvent event = {.type = SCRIPT_EVENT_ATTRIBUTE,
                                   .entity = net_id,
                                   .name = name,
                                   .payload = bytes,
                                   .payload_bytes = writer.at};
        (void)!script_event(world_scripts(world), &event); // a full queue is counted there
    }
    return status;
}

void edit_tell_tag(World *world, uint64_t net_id, Text tag, bool on)
{
    const ScriptEvent event = {
        .type = SCRIPT_EVENT_TAG, .entity = net_id, .name = tag, .value = on ? 1 : 0};
    if (world_scripts(world) != NULL) {
        (void)!script_event(world_scripts(world), &event);
    }
}

static Status set_tag(World *world, uint64_t net_id, Text tag, bool on)
{
    ScriptWorld *face = authority_world(world->authority);
    if (attribute_table_has_tag(authority_attributes(world->authority), net_id, tag) == on) {
        return STATUS_OK;
    }
    const Status status = face->methods->set_tag(face, net_id, tag, on);
    if (status == STATUS_OK) {
        edit_tell_tag(world, net_id, tag, on);
    }
    return status;
}

static Status apply_details(World *world, const PlaceEntityDoc *doc, uint64_t net_id, bool is_lost)
{
    const PlaceAttribute *attributes = doc->body.attributes.items;
    const Text *tags = doc->body.tags.items;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < doc->body.attributes.count && status == STATUS_OK; i++) {
        ScriptValue now = {0};
        const bool is_known = is_lost || edit_value(world, &attributes[i], &now);
        ASSERT(is_known);
        status = set_attribute(world, net_id, attributes[i].name, &now,
                               is_lost ? 0 : attributes[i].flags);
    }
    for (uint32_t i = 0; i < doc->body.tags.count && status == STATUS_OK; i++) {
        status = set_tag(world, net_id, tags[i], !is_lost);
    }
    return status;
}

static Status enter_details(World *world, const Entry *entry)
{
    const bool is_lost = entry->number == ENTRY_EDIT_LOST;
    PlaceScratch scratch = {.heap = world->heap};
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    PlaceEntityDoc doc;
    Status status = edit_read_entity(&reader, &scratch, &doc);
    const uint64_t net_id = status == STATUS_OK ? world_scene_entity(world, doc.id) : 0;
    if (status == STATUS_OK) {
        status = check_details(world, &doc, net_id, is_lost);
    }
    if (status == STATUS_OK) {
        status = apply_details(world, &doc, net_id, is_lost);
    }
    place_scratch_free(&scratch);
    return status;
}

// --- rows ---------------------------------------------------------------------------------------

// What was removed does not come back, but can be added: it is another entity then. What is no part
// of the scene (what moves or acts by itself) can go and look otherwise, and stands nowhere else.
static Status check_row(World *world, const PatchRow *row)
{
    ScriptEntityInfo info;
    PartData data;
    ScriptWorld *face = authority_world(world->authority);
    const uint64_t parts = scene_part_count(world->config.place->scene);
    const uint64_t own = parts + world->config.place->entity_count;
    const bool stays = (row->groups & (PATCH_POSITION | PATCH_ROTATION)) == 0;
    const bool comes_back = (row->groups & PATCH_GONE) != 0 && !row->gone;
    if ((row->groups & PATCH_ATTRIBUTES) != 0) {
        return STATUS_UNSUPPORTED; // they have flags, which a row has not
    }
    if ((row->net_id > (stays ? own : parts) && !edit_is_made(world, row->net_id)) || comes_back ||
        !face->methods->entity(face, row->net_id, &info)) {
        return STATUS_NOT_FOUND;
    }
    return (row->groups & PATCH_PART_DATA) != 0 ? face->methods->part_data(face, row->net_id, &data)
                                                : STATUS_OK;
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
    if (status == STATUS_OK && (row->groups & PATCH_POSITION) != 0 &&
        !vec3_equal(info.position, row->pose.position)) {
        status = methods->set_position(face, net_id, row->pose.position);
    }
    if (status == STATUS_OK && (row->groups & PATCH_ROTATION) != 0 &&
        !quat_equal(info.rotation, row->pose.rotation)) {
        status = methods->set_rotation(face, net_id, row->pose.rotation);
    }
    if (status == STATUS_OK && (row->groups & PATCH_PART_DATA) != 0) {
        status = methods->part_data(face, net_id, &data);
        if (status == STATUS_OK && !part_data_equal(&data, &row->data)) {
            status = methods->set_part_data(face, net_id, &row->data);
        }
    }
    if (status == STATUS_OK && (row->groups & PATCH_PAINT) != 0) {
        status = methods->set_paint(face, net_id, &row->paint, PAINT_MEMBERS_ALL);
    }
    if (status == STATUS_OK && (row->groups & PATCH_GONE) != 0) {
        status = methods->destroy(face, net_id);
        edit_forget_made(world, net_id);
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
    Status status = STATUS_MALFORMED;
    switch (entry->number) {
    case ENTRY_EDIT_ROWS:
        status = visit_rows(world, entry, check_row);
        return status == STATUS_OK ? visit_rows(world, entry, apply_row) : status;
    case ENTRY_EDIT_GIVEN:
    case ENTRY_EDIT_LOST:
        return enter_details(world, entry);
    case ENTRY_EDIT_CREATED:
        return edit_enter_made(world, entry);
    case ENTRY_EDIT_SPAWN:
    case ENTRY_EDIT_SPAWN_GONE:
        return edit_enter_spawn(world, entry);
    default:
        return status;
    }
}
