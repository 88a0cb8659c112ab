// What a creator changes in the scene while it is played: ENTRY_EDIT. Most of it are rows of
// patches (wire/patch.h). A row does what a script could do to that part, without a script that
// pays for it. So what follows is the same too: the part becomes an entity of the sim if it does
// not only look different, clients get it with the patch of its cell, and scripts hear of
// attributes and tags.
//
// A part that is added is spawned as one of a prefab. Scripts often look for names and tags once,
// when they start, and a world that is made anew would have found the new ones there. So what a
// script has asked for is refused, unless it listens for tags that come and go.
//
// They are all checked before the first is applied.
#include "core/world/world_inside.h"

#include "core/script/runtime/value.h"
#include "core/wire/patch.h"
#include "core/wire/place_doc.h"
#include "core/wire/visual.h"

#include <stdio.h>

typedef Status (*RowVisitor)(World *world, const PatchRow *row, bool is_lost);

// --- parts that were added ----------------------------------------------------------------------

uint64_t world_made_part(const World *world, uint32_t scene_id)
{
    for (uint32_t i = 0; i < world->made_count; i++) {
        if (world->made[i].scene_id == scene_id) {
            return world->made[i].net_id;
        }
    }
    return 0;
}

static bool is_made(const World *world, uint64_t net_id)
{
    for (uint32_t i = 0; i < world->made_count; i++) {
        if (world->made[i].net_id == net_id) {
            return true;
        }
    }
    return false;
}

static void forget_made(World *world, uint64_t net_id)
{
    for (uint32_t i = 0; i < world->made_count; i++) {
        if (world->made[i].net_id == net_id) {
            world->made[i] = world->made[--world->made_count];
            return;
        }
    }
}

// --- attributes and tags ------------------------------------------------------------------------

static ScriptValue value_of(const NetValue *value)
{
    static const ScriptValueType types[NET_VALUE_TYPE_COUNT] = {
        SCRIPT_BOOL, SCRIPT_NUMBER, SCRIPT_TEXT, SCRIPT_VECTOR, SCRIPT_ENTITY};
    return (ScriptValue){.type = types[value->type],
                         .boolean = value->boolean,
                         .number = value->number,
                         .text = value->text,
                         .vector = value->vector,
                         .entity = value->entity};
}

// Scripts do not rely on what has this tag, or hear of the change.
static bool tag_may_change(World *world, Text tag, bool on)
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

// An attribute with flags is one that is stored, or that not everybody sees.
static Status check_attributes(World *world, const PatchRow *row, bool is_lost)
{
    const AttributeTable *table = authority_attributes(world->authority);
    NetAttributesReader reader;
    Text name;
    NetValue value;
    const Status status =
        net_attributes_open(&reader, row->attributes, row->attributes_bytes, &name);
    if (status != STATUS_OK) {
        return status;
    }
    while (net_attributes_next(&reader, &name, &value)) {
        ScriptValue before;
        uint32_t flags = 0;
        if (attribute_table_attribute(table, row->net_id, name, &before, &flags) && flags != 0) {
            return STATUS_UNSUPPORTED;
        }
    }
    while (net_attributes_next_tag(&reader, &name)) {
        if (attribute_table_has_tag(table, row->net_id, name) == is_lost &&
            !tag_may_change(world, name, !is_lost)) {
            return STATUS_UNSUPPORTED;
        }
    }
    return STATUS_OK;
}

static Status set_attribute(World *world, uint64_t net_id, Text name, const ScriptValue *now)
{
    ScriptWorld *face = authority_world(world->authority);
    ScriptValue before = {0};
    uint8_t bytes[VALUE_ATTRIBUTES_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    (void)attribute_table_attribute(authority_attributes(world->authority), net_id, name, &before,
                                    NULL);
    if (script_value_equal(&before, now)) {
        return STATUS_OK;
    }
    value_write_attributes((const ScriptValue[]){*now, before}, 2, &writer); // before it is gone
    ASSERT(writer.status == STATUS_OK);
    const Status status = face->methods->set_attribute(face, net_id, name, now, 0);
    if (status == STATUS_OK && world_scripts(world) != NULL && !visual_is_reserved(name)) {
        const ScriptEvent event = {.type = SCRIPT_EVENT_ATTRIBUTE,
                                   .entity = net_id,
                                   .name = name,
                                   .payload = bytes,
                                   .payload_bytes = writer.at};
        (void)!script_event(world_scripts(world), &event); // a full queue is counted there
    }
    return status;
}

static void tell_tag(World *world, uint64_t net_id, Text tag, bool on)
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
        tell_tag(world, net_id, tag, on);
    }
    return status;
}

static Status apply_attributes(World *world, const PatchRow *row, bool is_lost)
{
    const ScriptValue nil = {0};
    NetAttributesReader reader;
    Text name;
    NetValue value;
    Status status = net_attributes_open(&reader, row->attributes, row->attributes_bytes, &name);
    while (status == STATUS_OK && net_attributes_next(&reader, &name, &value)) {
        const ScriptValue now = is_lost ? nil : value_of(&value);
        status = set_attribute(world, row->net_id, name, &now);
    }
    while (status == STATUS_OK && net_attributes_next_tag(&reader, &name)) {
        status = set_tag(world, row->net_id, name, !is_lost);
    }
    return status;
}

// --- rows ---------------------------------------------------------------------------------------

// What was removed does not come back, but can be added: it is another entity then.
static Status check_row(World *world, const PatchRow *row, bool is_lost)
{
    ScriptEntityInfo info;
    ScriptWorld *face = authority_world(world->authority);
    const uint64_t parts = scene_part_count(world->config.place->scene);
    const uint64_t own = parts + world->config.place->entity_count;
    const bool is_attributes = row->groups == PATCH_ATTRIBUTES;
    const bool may_change = row->net_id <= (is_attributes ? own : parts);
    const bool comes_back = (row->groups & PATCH_GONE) != 0 && !row->gone;
    if (is_lost && !is_attributes) {
        return STATUS_MALFORMED;
    }
    if ((!may_change && !is_made(world, row->net_id)) || comes_back ||
        !face->methods->entity(face, row->net_id, &info)) {
        return STATUS_NOT_FOUND;
    }
    return (row->groups & PATCH_ATTRIBUTES) != 0 ? check_attributes(world, row, is_lost)
                                                 : STATUS_OK;
}

static bool quat_equal(Quat a, Quat b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

// What is so already is left alone: a part that only looks different does not become an entity.
static Status apply_part(World *world, const PatchRow *row)
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
        forget_made(world, net_id);
    }
    return status;
}

static Status apply_row(World *world, const PatchRow *row, bool is_lost)
{
    const bool is_part = (row->groups & ~(uint32_t)PATCH_ATTRIBUTES) != 0;
    const Status status = is_part ? apply_part(world, row) : STATUS_OK;
    return status == STATUS_OK && (row->groups & PATCH_ATTRIBUTES) != 0
               ? apply_attributes(world, row, is_lost)
               : status;
}

static Status visit_rows(World *world, const Entry *entry, RowVisitor visit)
{
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    uint64_t before = 0;
    Status status = STATUS_OK;
    while (status == STATUS_OK && byte_reader_left(&reader) > 0) {
        PatchRow row;
        status = patch_row_read(&reader, before, &row)
                     ? visit(world, &row, entry->number == ENTRY_EDIT_LOST)
                     : reader.status;
        before = row.net_id;
    }
    return status;
}

// --- a new part ---------------------------------------------------------------------------------

// It is alone: an anchored part, on nothing, without a script, and with nothing that is stored.
static bool is_plain(const PlaceEntityDoc *doc)
{
    const PlaceBodyDoc *body = &doc->body;
    const PlaceAttribute *attributes = body->attributes.items;
    for (uint32_t i = 0; i < body->attributes.count; i++) {
        if (attributes[i].flags != 0 || attributes[i].type == PLACE_VALUE_ENTITY) {
            return false;
        }
    }
    return doc->id != 0 && doc->type == PLACE_TYPE_PART && doc->parent == 0 && doc->anchored &&
           doc->motion.waypoints.count + doc->motion.segments.count == 0 &&
           place_script(body).bytes == 0 && !body->server_only;
}

static Status check_created(World *world, const PlaceEntityDoc *doc)
{
    const Place *place = world->config.place;
    ScriptEntityInfo info;
    ScriptWorld *face = authority_world(world->authority);
    const Text *tags = doc->body.tags.items;
    if (!is_plain(doc) ||
        (doc->name.bytes > 0 &&
         authority_was_asked(world->authority, AUTHORITY_ASKED_NAME, doc->name))) {
        return STATUS_UNSUPPORTED;
    }
    for (uint32_t i = 0; i < doc->body.tags.count; i++) {
        if (!tag_may_change(world, tags[i], true)) {
            return STATUS_UNSUPPORTED;
        }
    }
    const uint32_t count = scene_part_count(place->scene) + place->entity_count;
    for (uint32_t i = 0; place->scene_ids != NULL && i < count; i++) {
        if (place->scene_ids[i] == doc->id && face->methods->entity(face, i + 1u, &info)) {
            return STATUS_EXISTS;
        }
    }
    if (world_made_part(world, doc->id) != 0) {
        return STATUS_EXISTS;
    }
    return world->made_count < EDIT_MADE_MAX ? STATUS_OK : STATUS_LIMIT;
}

static ScriptValue plain_value(const PlaceAttribute *attribute)
{
    static const ScriptValueType types[] = {[PLACE_VALUE_BOOL] = SCRIPT_BOOL,
                                            [PLACE_VALUE_NUMBER] = SCRIPT_NUMBER,
                                            [PLACE_VALUE_TEXT] = SCRIPT_TEXT,
                                            [PLACE_VALUE_VECTOR] = SCRIPT_VECTOR};
    return (ScriptValue){.type = types[attribute->type],
                         .boolean = attribute->boolean,
                         .number = attribute->number,
                         .text = attribute->text,
                         .vector = attribute->vector};
}

static Status create_part(World *world, PlaceScratch *scratch, const PlaceEntityDoc *doc)
{
    const PlaceBodyDoc *body = &doc->body;
    const PlaceAttribute *from = body->attributes.items;
    const Pose frame = {VEC3_ZERO, QUAT_IDENTITY};
    const Pose pose = place_pose(frame, doc->transform.position, &doc->transform.rotation);
    const Paint paint = place_look_paint(&body->look, world->config.place->assets);
    PrefabAttribute *attributes =
        place_scratch_take(scratch, body->attributes.count + 1, sizeof *attributes);
    uint64_t net_id = 0;
    if (attributes == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < body->attributes.count; i++) {
        attributes[i] = (PrefabAttribute){from[i].name, plain_value(&from[i]), 0};
    }
    const Prefab prefab = {.name = doc->name,
                           .kind = PREFAB_PART,
                           .part = place_part(body, pose),
                           .paint = paint,
                           .painted = paint_difference(&paint_default, &paint),
                           .attributes = attributes,
                           .attribute_count = body->attributes.count,
                           .tags = body->tags.items,
                           .tag_count = body->tags.count};
    const Status status = authority_spawn_own(world->authority, &prefab, pose.position, &net_id);
    if (status != STATUS_OK) {
        return status;
    }
    world->made[world->made_count++] = (EditMade){doc->id, net_id};
    for (uint32_t i = 0; i < prefab.tag_count; i++) {
        tell_tag(world, net_id, prefab.tags[i], true);
    }
    return STATUS_OK;
}

static Status enter_created(World *world, const Entry *entry)
{
    PlaceScratch scratch = {.heap = world->heap};
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    PlaceEntityDoc doc;
    place_table_default(&place_table_entity, &doc);
    place_table_read(&place_table_entity, &reader, &scratch, &doc);
    Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        status = check_created(world, &doc);
    }
    if (status == STATUS_OK) {
        status = create_part(world, &scratch, &doc);
    }
    place_scratch_free(&scratch);
    return status;
}

Status edit_enter(World *world, const Entry *entry)
{
    if (entry->number == ENTRY_EDIT_CREATED) {
        return enter_created(world, entry);
    }
    if (entry->number > ENTRY_EDIT_CREATED) {
        return STATUS_MALFORMED;
    }
    const Status status = visit_rows(world, entry, check_row);
    return status == STATUS_OK ? visit_rows(world, entry, apply_row) : status;
}
