// What scripts of the server bring into the world and take out of it: the limits of one script, the
// records of what it made, thawing of anchored parts, and removal.
#include "core/script/bridge/authority_inside.h"

#include "core/base/check.h"
#include "core/base/fair_share.h"
#include "core/script/bridge/world_limit.h"

#define THAW_STEPS 500

static Authority *of(ScriptWorld *world)
{
    return (Authority *)world;
}

// STATUS_LIMIT if the caller has as many as one script may have; the world's error text says so.
Status authority_check_room(Authority *authority, EntityType type)
{
    ScriptWorld *world = &authority->world;
    const SimConfig *config = sim_config(authority->sim);
    const SimMaker maker = sim_maker(authority->sim, world->caller);
    const SimMaker all = sim_maker(authority->sim, 0);
    world->refusal = NULL;
    if (world->caller == 0) {
        return STATUS_OK;
    }
    if (type == ENTITY_PROJECTILE && maker.counts[type] >= SCRIPT_PROJECTILES_MAX) {
        return world_limit(world, STATUS_LIMIT,
                           "a script has at most %d projectiles in the air; wait until some have "
                           "ended",
                           SCRIPT_PROJECTILES_MAX);
    }
    if (type == ENTITY_NPC && maker.counts[type] >= SCRIPT_NPCS_MAX) {
        return world_limit(world, STATUS_LIMIT, "a script has at most %d NPCs; destroy some first",
                           SCRIPT_NPCS_MAX);
    }
    if (maker.things >= SCRIPT_ENTITIES_MAX) {
        return world_limit(world, STATUS_LIMIT,
                           "a script has at most %d entities that it made or moved; destroy some "
                           "first",
                           SCRIPT_ENTITIES_MAX);
    }
    if (!authority_has_room(authority, maker.things)) {
        return world_limit(world, STATUS_LIMIT, PART_TEXT("%u entities"),
                           (unsigned)config->entity_max);
    }
    if (type == ENTITY_NPC &&
        !fair_share_allows(maker.counts[type], all.counts[type], config->npc_max)) {
        return world_limit(world, STATUS_LIMIT, PART_TEXT("%u NPCs"), (unsigned)config->npc_max);
    }
    return STATUS_OK;
}

// Sets the error text if the world has no room for one more of a type, whoever made the others.
Status authority_name_full(Authority *authority, Status status, EntityType type)
{
    ScriptWorld *world = &authority->world;
    const SimConfig *config = sim_config(authority->sim);
    if (type == ENTITY_STRUCTURE) {
        return world_limit(
            world, status, "this world has room for %u structures, and for %u of one player",
            (unsigned)config->structures_max, (unsigned)config->structures_per_player_max);
    }
    if (type == ENTITY_NPC || type == ENTITY_PLAYER) {
        return world_limit(world, status, "this world has room for %u players and NPCs together",
                           (unsigned)config->character_max);
    }
    const uint32_t records = authority->attributes.config.record_max;
    return world_limit(world, status, "this world has room for %u entities; destroy some first",
                       (unsigned)(config->entity_max < records ? config->entity_max : records));
}

// Sets the error text if there is no room for a name, an attribute or a tag.
Status authority_name_attributes_full(Authority *authority, Status status)
{
    const AttributeTableConfig *config = &authority->attributes.config;
    return world_limit(
        &authority->world, status,
        "an entity has at most %u attributes, all together %u, %u texts in them (%u longer than 64 "
        "bytes) and %u different tags; one script has at most half",
        (unsigned)config->attributes_per_entity_max, (unsigned)config->attribute_max,
        (unsigned)(config->text_small_max + config->text_large_max),
        (unsigned)config->text_large_max, (unsigned)config->tag_max);
}

static EntityType prefab_type(const Prefab *prefab)
{
    static const EntityType types[] = {[PREFAB_PART] = ENTITY_PART,
                                       [PREFAB_PROP] = ENTITY_PROP,
                                       [PREFAB_NPC] = ENTITY_NPC,
                                       [PREFAB_PROJECTILE] = ENTITY_PROJECTILE};
    return types[prefab->kind];
}

static Status spawn_thing(Sim *sim, const AuthorityThing *thing, Handle *out)
{
    switch (thing->type) {
    case ENTITY_NPC:
        return npc_spawn(sim, &thing->npc, out);
    case ENTITY_PROJECTILE:
        return projectile_fire(sim, &thing->projectile, out);
    case ENTITY_PART:
        return sim_spawn_part(sim, &thing->shape, out);
    default:
        return sim_spawn_prop(sim, &thing->shape, out);
    }
}

AuthorityThing authority_thing(const Prefab *prefab, Vec3 position, uint64_t owner_id)
{
    AuthorityThing thing = {.type = prefab_type(prefab)};
    if (prefab->kind == PREFAB_NPC) {
        thing.npc = prefab->npc;
        thing.npc.net_id = 0;
        thing.npc.owner_id = owner_id;
        thing.npc.position = position;
    } else if (prefab->kind == PREFAB_PROJECTILE) {
        thing.projectile = prefab->projectile;
        thing.projectile.net_id = 0;
        thing.projectile.owner_id = owner_id;
        thing.projectile.shooter = HANDLE_NONE;
        thing.projectile.position = position;
        thing.projectile.velocity = VEC3_ZERO;
    } else {
        thing.shape = (ShapeDesc){.owner_id = owner_id, .part = prefab->part};
        thing.shape.part.pose.position = position;
    }
    return thing;
}

// Creates the record of a new entity, which belongs to the caller; without one the entity is
// removed again.
Status authority_keep_record(Authority *authority, Handle handle, Record **out)
{
    sim_set_maker(authority->sim, handle, authority->world.caller);
    const Status status = attribute_table_open(&authority->attributes,
                                               sim_entity(authority->sim, handle)->net_id, out);
    if (status != STATUS_OK) {
        sim_remove(authority->sim, handle);
        return status;
    }
    (*out)->entity = handle;
    return STATUS_OK;
}

static Status keep_prefab(Authority *authority, const Prefab *prefab, uint64_t net_id)
{
    Status status = prefab->name.bytes > 0
                        ? attribute_table_set_name(&authority->attributes, net_id, prefab->name)
                        : STATUS_OK; // a part that a creator adds may have none
    if (status == STATUS_OK) {
        status = attribute_table_set_paint(&authority->attributes, net_id, &prefab->paint,
                                           prefab->painted);
    }
    for (uint32_t i = 0; i < prefab->attribute_count && status == STATUS_OK; i++) {
        const PrefabAttribute *attribute = &prefab->attributes[i];
        status = attribute_table_set_attribute(&authority->attributes, net_id, attribute->name,
                                               &attribute->value, attribute->flags);
    }
    for (uint32_t i = 0; i < prefab->tag_count && status == STATUS_OK; i++) {
        status = attribute_table_set_tag(&authority->attributes, net_id, prefab->tags[i], true);
    }
    if (status == STATUS_OK && prefab->script_path != NULL) {
        if (authority->bind_count == authority->config.bind_max) {
            authority->counters.binds_dropped += 1;
            return world_limit(&authority->world, STATUS_LIMIT,
                               "at most %u entities with a script of their own are made in a tick",
                               (unsigned)authority->config.bind_max);
        }
        authority->binds[authority->bind_count++] = (AuthorityBind){net_id, prefab};
    }
    return status;
}

Status authority_make(Authority *authority, const AuthorityThing *thing, const Prefab *prefab,
                      uint64_t *out)
{
    Handle handle = HANDLE_NONE;
    Record *record = NULL;
    Status status = authority_check_room(authority, thing->type);
    if (status == STATUS_OK) {
        status = spawn_thing(authority->sim, thing, &handle);
    }
    if (status == STATUS_OK) {
        status = authority_keep_record(authority, handle, &record);
    }
    if (status != STATUS_OK) {
        return authority_name_full(authority, status, thing->type);
    }
    const uint64_t net_id = record->net_id;
    status = prefab != NULL ? keep_prefab(authority, prefab, net_id) : STATUS_OK;
    if (status != STATUS_OK) {
        sim_remove(authority->sim, handle);
        attribute_table_remove(&authority->attributes, net_id);
        return authority_name_attributes_full(authority, status);
    }
    *out = net_id;
    return STATUS_OK;
}

Status authority_spawn(ScriptWorld *world, Text name, Vec3 position, bool local, uint64_t *out)
{
    Authority *authority = of(world);
    if (local) {
        return STATUS_DENIED; // only a client has entities of its own
    }
    const Prefab *prefab = prefab_find(&authority->config.prefabs, name);
    if (prefab == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (!vec3_is_finite(position)) {
        return STATUS_RANGE;
    }
    const AuthorityThing thing = authority_thing(prefab, position, 0);
    return authority_make(authority, &thing, prefab, out);
}

Status authority_spawn_own(Authority *authority, const Prefab *prefab, Vec3 position, uint64_t *out)
{
    ASSERT(prefab->script_path == NULL); // it would be kept until the next script phase
    const AuthorityThing thing = authority_thing(prefab, position, 0);
    return authority_make(authority, &thing, prefab, out);
}

// An anchored part becomes an entity, and has a record so that its end is reported.
static Status thaw(Authority *authority, uint64_t net_id, WorldThing *thing)
{
    if (thing->entity != NULL) {
        return STATUS_OK;
    }
    Record *record = NULL;
    sim_add_work(authority->sim, THAW_STEPS);
    Status status = authority_check_room(authority, ENTITY_PART);
    if (status == STATUS_OK) {
        status = attribute_table_open(&authority->attributes, net_id, &record);
    }
    if (status != STATUS_OK) {
        return authority_name_full(authority, status, ENTITY_PART);
    }
    status = sim_thaw_part(authority->sim, net_id, &thing->handle);
    if (status != STATUS_OK) {
        if (record->attribute_count == 0 && record->tag_count == 0 && record->painted == 0) {
            attribute_table_remove(&authority->attributes, net_id);
        }
        return authority_name_full(authority, status, ENTITY_PART);
    }
    thing->entity = sim_entity(authority->sim, thing->handle);
    record->entity = thing->handle;
    sim_set_maker(authority->sim, thing->handle, authority->world.caller);
    authority->counters.thawed_count += 1;
    return STATUS_OK;
}

// Finds an entity by net id for writing.
Status authority_find_for_writing(Authority *authority, uint64_t net_id, WorldThing *out)
{
    sim_add_work(authority->sim, AUTHORITY_CHANGE_STEPS);
    return authority_find(authority, net_id, out) ? thaw(authority, net_id, out) : STATUS_NOT_FOUND;
}

// Keeps an entity that was marked for removal readable until the script phase is over.
void authority_note_removed(Authority *authority, uint64_t net_id)
{
    Record *record = NULL;
    if (attribute_table_open(&authority->attributes, net_id, &record) == STATUS_OK) {
        record->removed_tick = sim_tick(authority->sim);
        record->entity = sim_find(authority->sim, net_id);
    }
}

Status authority_destroy_entity(ScriptWorld *world, uint64_t net_id)
{
    Authority *authority = of(world);
    WorldThing thing;
    const Status status = authority_find_for_writing(authority, net_id, &thing);
    if (status != STATUS_OK) {
        return status;
    }
    sim_remove(authority->sim, thing.handle);
    sim_add_work(authority->sim, AUTHORITY_REMOVE_STEPS);
    authority_note_removed(authority, net_id);
    return STATUS_OK;
}
