// What a creator adds to the scene while it is played: parts, props and NPCs, with a parent,
// motion, a script, attributes and tags. They are spawned as one of a prefab, so they have net ids
// above those of the scene and take slots of clients. When the world is made anew, they become
// entities of the scene. A parent is only a frame: the entry has its pose in the world.
//
// What is as nobody can tell whether it was added or was there from the start is done; everything
// else is refused, and the world is made anew.
#include "core/world/edit_inside.h"

#include "core/base/byte_values.h"
#include "core/place/place_entity.h"

// --- which entity is which ----------------------------------------------------------------------

static const EditMade *find_made(const World *world, uint32_t scene_id)
{
    for (uint32_t i = 0; i < world->made_count; i++) {
        if (world->made[i].scene_id == scene_id) {
            return &world->made[i];
        }
    }
    return NULL;
}

bool edit_is_made(const World *world, uint64_t net_id)
{
    for (uint32_t i = 0; i < world->made_count; i++) {
        if (world->made[i].net_id == net_id) {
            return true;
        }
    }
    return false;
}

void edit_forget_made(World *world, uint64_t net_id)
{
    for (uint32_t i = 0; i < world->made_count; i++) {
        if (world->made[i].net_id == net_id) {
            world->made[i] = world->made[--world->made_count];
            return;
        }
    }
}

// The scene's ids never change while a world lives: they are read once, for the first edit.
static bool index_scene(World *world)
{
    const Place *place = world->config.place;
    const uint32_t count = scene_part_count(place->scene) + place->entity_count;
    const size_t bytes = id_map_bytes(count + 1) + 64;
    if (world->scene_index_block != NULL || place->scene_ids == NULL) {
        return world->scene_index_block != NULL;
    }
    world->scene_index_block = heap_alloc(world->heap, bytes);
    if (world->scene_index_block == NULL) {
        return false;
    }
    Arena arena;
    arena_init(&arena, world->scene_index_block, bytes);
    const Status status = id_map_init(&world->scene_index, &arena, count + 1);
    ASSERT(status == STATUS_OK);
    for (uint32_t i = 0; i < count; i++) {
        if (place->scene_ids[i] != 0) {
            id_map_put(&world->scene_index, place->scene_ids[i], i + 1);
        }
    }
    return true;
}

uint64_t world_scene_entity(World *world, uint32_t scene_id)
{
    const EditMade *made = find_made(world, scene_id);
    if (made != NULL) {
        return made->net_id;
    }
    return scene_id != 0 && index_scene(world) ? id_map_find(&world->scene_index, scene_id) : 0;
}

Status edit_read_entity(ByteReader *reader, PlaceScratch *scratch, PlaceEntityDoc *out)
{
    place_table_default(&place_table_entity, out);
    place_table_read(&place_table_entity, reader, scratch, out);
    return byte_reader_finish(reader);
}

Status edit_read_framed(ByteReader *reader, PlaceScratch *scratch, PlaceEntityDoc *out)
{
    Pose frame = {.position = byte_read_vec3(reader)};
    frame.rotation.x = byte_read_f32(reader);
    frame.rotation.y = byte_read_f32(reader);
    frame.rotation.z = byte_read_f32(reader);
    frame.rotation.w = byte_read_f32(reader);
    const Status status = edit_read_entity(reader, scratch, out);
    if (status != STATUS_OK) {
        return status;
    }
    if (!vec3_is_finite(frame.position) || !quat_is_finite(frame.rotation)) {
        return STATUS_MALFORMED;
    }
    out->frame = frame;
    out->pose = place_pose(frame, out->transform.position, &out->transform.rotation);
    return STATUS_OK;
}

// --- whether it can be added --------------------------------------------------------------------

// A script that asked for the name may rely on what it found. A client would take what is called as
// a prefab for one of that prefab.
bool edit_name_is_free(World *world, Text name)
{
    return name.bytes == 0 || (!authority_was_asked(world->authority, AUTHORITY_ASKED_NAME, name) &&
                               prefab_find(&world->config.place->prefabs, name) == NULL);
}

// What is stored belongs to the first entity of a name; one without a name is known by its number
// in the scene, which this one has not yet.
static bool may_be_stored(World *world, Text name)
{
    ScriptWorld *face = authority_world(world->authority);
    return name.bytes > 0 && face->methods->find(face, name) == 0 &&
           !save_has_attributes(world->saves, name);
}

static Status check_details(World *world, const PlaceEntityDoc *doc)
{
    const PlaceAttribute *attributes = doc->body.attributes.items;
    const Text *tags = doc->body.tags.items;
    for (uint32_t i = 0; i < doc->body.attributes.count; i++) {
        ScriptValue value;
        const bool is_stored = (attributes[i].flags & PLACE_ATTRIBUTE_PERSISTENT) != 0;
        if (!edit_value(world, &attributes[i], &value) ||
            (is_stored && !may_be_stored(world, doc->name))) {
            return STATUS_UNSUPPORTED;
        }
    }
    for (uint32_t i = 0; i < doc->body.tags.count; i++) {
        if (!edit_tag_may_change(world, tags[i], true)) {
            return STATUS_UNSUPPORTED;
        }
    }
    return STATUS_OK;
}

// What was removed since the last step can still be read, but it is gone.
static bool is_there(World *world, uint64_t net_id)
{
    ScriptEntityInfo info;
    ScriptWorld *face = authority_world(world->authority);
    const Entity *entity = sim_entity(world->sim, sim_find(world->sim, net_id));
    return net_id != 0 && face->methods->entity(face, net_id, &info) &&
           (entity == NULL || !entity->removing);
}

static Status check_made(World *world, const PlaceEntityDoc *doc)
{
    const uint64_t net_id = world_scene_entity(world, doc->id);
    if (doc->id == 0 || doc->type > PLACE_TYPE_NPC || doc->body.server_only ||
        !edit_name_is_free(world, doc->name)) {
        return STATUS_UNSUPPORTED;
    }
    if (is_there(world, net_id)) {
        return STATUS_EXISTS;
    }
    if (world->made_count == EDIT_MADE_MAX) {
        return STATUS_LIMIT;
    }
    const Text script = place_script(&doc->body);
    const Status status =
        script.bytes > 0 ? script_bound_check(world->script_host, script) : STATUS_OK;
    return status == STATUS_OK ? check_details(world, doc) : status;
}

// --- adding it ----------------------------------------------------------------------------------

static bool list_attributes(World *world, PlaceScratch *scratch, const PlaceBodyDoc *body,
                            Prefab *prefab)
{
    const PlaceAttribute *from = body->attributes.items;
    PrefabAttribute *to = place_scratch_take(scratch, body->attributes.count + 1, sizeof *to);
    for (uint32_t i = 0; to != NULL && i < body->attributes.count; i++) {
        to[i] = (PrefabAttribute){.name = from[i].name, .flags = from[i].flags};
        const bool is_known = edit_value(world, &from[i], &to[i].value);
        ASSERT(is_known);
    }
    prefab->attributes = to;
    prefab->attribute_count = body->attributes.count;
    return to != NULL;
}

// What the entity does by itself once it is there.
static Status begin_made(World *world, const PlaceEntityDoc *doc, const PlaceEntity *entity,
                         uint64_t net_id)
{
    const Text script = place_script(&doc->body);
    Status status = STATUS_OK;
    if (entity->segment_count > 0) {
        status = place_spawn_move(world->spawned, sim_find(world->sim, net_id), entity,
                                  sim_tick(world->sim));
    }
    if (status == STATUS_OK && script.bytes > 0) {
        const PlaceBinding binding = {net_id, script, doc->body.parameters, doc->enabled};
        status = script_bound_add(world->script_host, &binding);
    }
    return status;
}

static Status make_entity(World *world, PlaceScratch *scratch, const PlaceEntityDoc *doc)
{
    const PlaceBodyDoc *body = &doc->body;
    const Paint paint = place_look_paint(&body->look, world->config.place->assets);
    ScriptWorld *face = authority_world(world->authority);
    PlaceEntity entity;
    uint64_t net_id = 0;
    if (place_entity_make(doc, world->clock.tick_rate, &entity) != STATUS_OK) {
        return STATUS_UNSUPPORTED; // a place with it has a fault, which whoever compiles it tells
    }
    Prefab prefab = {.name = doc->name,
                     .kind = entity.kind,
                     .part = entity.part,
                     .npc = entity.npc,
                     .paint = paint,
                     .painted = paint_difference(&paint_default, &paint),
                     .tags = body->tags.items,
                     .tag_count = body->tags.count};
    if (!list_attributes(world, scratch, body, &prefab)) {
        return STATUS_LIMIT;
    }
    Status status = authority_spawn_own(world->authority, &prefab, doc->pose.position, &net_id);
    if (status != STATUS_OK) {
        return status;
    }
    status = begin_made(world, doc, &entity, net_id);
    if (status != STATUS_OK) {
        status_ignore(face->methods->destroy(face, net_id));
        return status;
    }
    world->made[world->made_count++] = (EditMade){doc->id, net_id};
    for (uint32_t i = 0; i < prefab.tag_count; i++) {
        edit_tell_tag(world, net_id, prefab.tags[i], true);
    }
    return STATUS_OK;
}

Status edit_enter_made(World *world, const Entry *entry)
{
    PlaceScratch scratch = {.heap = world->heap};
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    PlaceEntityDoc doc;
    Status status = edit_read_framed(&reader, &scratch, &doc);
    if (status == STATUS_OK) {
        status = check_made(world, &doc);
    }
    if (status == STATUS_OK) {
        status = make_entity(world, &scratch, &doc);
    }
    place_scratch_free(&scratch);
    return status;
}
