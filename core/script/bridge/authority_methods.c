// The functions of ScriptWorldMethods over a Sim, for scripts on the server. Each finds its entity
// anew, because it may be gone; see authority.h for when it is.
#include "core/script/bridge/authority_inside.h"

#include "core/base/check.h"
#include "core/base/fair_share.h"
#include "core/script/bridge/world_limit.h"
#include "core/sim/structure.h"

// Steps that calls cost here and afterwards, rounded up; a step is two nanoseconds.
#define NAME_STEPS       10  // one more entity of that name
#define SPAWN_NAME_STEPS 2   // the name of one spawn point
#define PLAYER_STEPS     5   // one player in a list
#define RECORD_STEPS     300 // an attribute, a tag or a paint, and sending it to clients

static Authority *of(ScriptWorld *world)
{
    return (Authority *)world;
}

// --- reading ------------------------------------------------------------------------------------

static uint64_t method_tick(ScriptWorld *world)
{
    return sim_tick(of(world)->sim);
}

static uint64_t method_work(ScriptWorld *world)
{
    return sim_work(of(world)->sim);
}

static bool method_entity(ScriptWorld *world, uint64_t net_id, ScriptEntityInfo *out)
{
    WorldThing thing;
    if (!authority_find(of(world), net_id, &thing)) {
        const SpawnPoints points = authority_spawns(of(world));
        return spawn_points_info(&points, net_id, out);
    }
    *out = world_read_info(of(world)->sim, net_id, &thing);
    return true;
}

// What scripts ask for is noted as one bit of few: to say yes too often does no harm. A script may
// ask for a text of any length, and no name is longer than this.
static uint64_t asked_bit(AuthorityAsked what, Text text)
{
    Hash64 hash = HASH64_INIT;
    hash_u32(&hash, (uint32_t)what);
    hash_bytes(&hash, text.data,
               text.bytes < WORLD_NAME_BYTES_MAX ? text.bytes : WORLD_NAME_BYTES_MAX);
    return hash.state % AUTHORITY_ASKED_BITS;
}

// The owner of the world looks for names too, when it stores and restores.
static void note_asked(Authority *authority, AuthorityAsked what, Text text)
{
    const uint64_t bit = asked_bit(what, text);
    if (authority->world.caller != 0) {
        authority->asked[bit / 64] |= 1ull << (bit % 64);
    }
}

bool authority_was_asked(const Authority *authority, AuthorityAsked what, Text text)
{
    const uint64_t bit = asked_bit(what, text);
    return (authority->asked[bit / 64] >> (bit % 64) & 1) != 0;
}

// Net ids of the scene are below all others.
static uint64_t method_find(ScriptWorld *world, Text name)
{
    note_asked(of(world), AUTHORITY_ASKED_NAME, name);
    const Authority *authority = of(world);
    WorldThing thing;
    uint64_t net_id = scene_names_find(&authority->scene_names, name, 0);
    while (net_id != 0 && !authority_find(authority, net_id, &thing)) {
        sim_add_work(authority->sim, NAME_STEPS);
        net_id = scene_names_find(&authority->scene_names, name, net_id);
    }
    if (net_id != 0) {
        return net_id;
    }
    const Record *record = attribute_table_named(&authority->attributes, name, NULL);
    while (record != NULL && !authority_find(authority, record->net_id, &thing)) {
        sim_add_work(authority->sim, NAME_STEPS);
        record = attribute_table_named(&authority->attributes, name, record);
    }
    if (record != NULL) {
        return record->net_id;
    }
    const SpawnPoints points = authority_spawns(authority);
    sim_add_work(authority->sim, (uint64_t)points.count * SPAWN_NAME_STEPS);
    return spawn_points_find(&points, name);
}

// Anchored parts first, as their net ids are the lowest.
static uint32_t method_find_all(ScriptWorld *world, Text name, uint64_t *out, uint32_t max)
{
    note_asked(of(world), AUTHORITY_ASKED_NAME, name);
    const Authority *authority = of(world);
    WorldThing thing;
    uint32_t count = 0;
    uint64_t net_id = scene_names_find(&authority->scene_names, name, 0);
    for (; net_id != 0 && count < max;
         net_id = scene_names_find(&authority->scene_names, name, net_id)) {
        sim_add_work(authority->sim, NAME_STEPS);
        if (authority_find(authority, net_id, &thing)) {
            out[count++] = net_id;
        }
    }
    const Record *record = attribute_table_named(&authority->attributes, name, NULL);
    for (; record != NULL && count < max;
         record = attribute_table_named(&authority->attributes, name, record)) {
        sim_add_work(authority->sim, NAME_STEPS);
        if (authority_find(authority, record->net_id, &thing)) {
            out[count++] = record->net_id;
        }
    }
    return count;
}

static Text method_name(ScriptWorld *world, uint64_t net_id)
{
    const SpawnPoints points = authority_spawns(of(world));
    const PlaceSpawn *spawn = spawn_points_at(&points, net_id);
    if (spawn != NULL) {
        return spawn->name;
    }
    const Text name = scene_names_at(&of(world)->scene_names, net_id);
    return name.bytes > 0 ? name : attribute_table_name(&of(world)->attributes, net_id);
}

static bool method_prefab(ScriptWorld *world, uint32_t index, Text *name)
{
    const PrefabTable *table = &of(world)->config.prefabs;
    if (index >= table->count) {
        return false;
    }
    *name = table->prefabs[index].name;
    return true;
}

// Of what a query has found: those that are still there.
static uint32_t keep_found(Authority *authority, uint32_t found, uint64_t *out, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < found && i < AUTHORITY_RADIUS_MAX && count < max; i++) {
        WorldThing thing;
        if (authority_find(authority, authority->refs[i].net_id, &thing)) {
            out[count++] = authority->refs[i].net_id;
        }
    }
    return count;
}

static uint32_t method_in_radius(ScriptWorld *world, Vec3 centre, float radius, uint32_t type_mask,
                                 uint64_t *out, uint32_t max)
{
    Authority *authority = of(world);
    if (!vec3_is_finite(centre)) {
        return 0;
    }
    const uint32_t found = sim_query_radius(authority->sim, centre, radius, type_mask,
                                            authority->refs, AUTHORITY_RADIUS_MAX);
    return keep_found(authority, found, out, max);
}

static uint32_t method_in_box(ScriptWorld *world, Aabb box, uint32_t type_mask, uint64_t *out,
                              uint32_t max)
{
    Authority *authority = of(world);
    if (!vec3_is_finite(box.min) || !vec3_is_finite(box.max)) {
        return 0;
    }
    const uint32_t found =
        sim_query_box(authority->sim, box, type_mask, authority->refs, AUTHORITY_RADIUS_MAX);
    return keep_found(authority, found, out, max);
}

static bool method_ray(ScriptWorld *world, Vec3 origin, Vec3 direction, float distance,
                       ScriptIgnored ignored, ScriptRayHit *out)
{
    return world_read_ray(of(world)->sim, origin, direction, distance, ignored, out);
}

static VoxelKind method_voxel(ScriptWorld *world, VoxelCoord at)
{
    return terrain_voxel(sim_terrain_view(of(world)->sim), at);
}

static uint32_t method_voxel_kinds(ScriptWorld *world, const Text **names)
{
    *names = of(world)->config.voxel_kind_names;
    return terrain_kind_count(sim_terrain_view(of(world)->sim));
}

static uint32_t method_players(ScriptWorld *world, ScriptPlayerInfo *out, uint32_t max)
{
    sim_add_work(of(world)->sim, (uint64_t)PLAYER_STEPS * roster_count(&of(world)->roster));
    return roster_list(&of(world)->roster, out, max);
}

static bool method_attribute(ScriptWorld *world, uint64_t net_id, Text name, ScriptValue *out)
{
    WorldThing thing;
    return authority_find(of(world), net_id, &thing) &&
           attribute_table_attribute(&of(world)->attributes, net_id, name, out, NULL);
}

static bool method_has_tag(ScriptWorld *world, uint64_t net_id, Text tag)
{
    WorldThing thing;
    return authority_find(of(world), net_id, &thing) &&
           attribute_table_has_tag(&of(world)->attributes, net_id, tag);
}

static bool method_tag_next(ScriptWorld *world, uint64_t net_id, uint32_t *index, Text *tag)
{
    const AttributeTable *attributes = &of(world)->attributes;
    const Record *record = attribute_table_find(attributes, net_id);
    return record != NULL && record->tag_count > 0 &&
           attribute_table_tag_of(attributes, record, index, tag);
}

static uint32_t method_tagged(ScriptWorld *world, Text tag, uint64_t *out, uint32_t max)
{
    note_asked(of(world), AUTHORITY_ASKED_TAG, tag);
    const Authority *authority = of(world);
    uint32_t count = 0;
    uint32_t slot = attribute_table_tagged(&authority->attributes, tag, 0);
    for (; slot != 0 && count < max;
         slot = attribute_table_tagged(&authority->attributes, tag, slot)) {
        const uint64_t net_id = attribute_table_at(&authority->attributes, slot)->net_id;
        WorldThing thing;
        if (authority_find(authority, net_id, &thing)) {
            out[count++] = net_id;
        }
    }
    return count;
}

static bool method_paint(ScriptWorld *world, uint64_t net_id, Paint *out)
{
    WorldThing thing;
    if (!authority_find(of(world), net_id, &thing)) {
        return false;
    }
    *out = authority_paint(of(world), net_id);
    return true;
}

static AssetNames method_assets(ScriptWorld *world)
{
    return of(world)->config.assets;
}

// --- changing what is there ---------------------------------------------------------------------

static Status name_tags_full(Authority *authority, Status status)
{
    const AttributeTableConfig *config = &authority->attributes.config;
    return world_limit(&authority->world, status,
                       "this world has room for %u different tags, and for %u entities that have "
                       "tags or attributes; one script has at most half",
                       (unsigned)config->tag_max, (unsigned)config->record_max);
}

static Status name_looks_full(Authority *authority, Status status)
{
    return world_limit(&authority->world, status,
                       PART_TEXT("%u entities that have looks, attributes or tags of their own"),
                       (unsigned)authority->attributes.config.record_max);
}

static Status method_set_position(ScriptWorld *world, uint64_t net_id, Vec3 position)
{
    WorldThing thing;
    if (!vec3_is_finite(position)) {
        return STATUS_RANGE;
    }
    const Status status = authority_find_for_writing(of(world), net_id, &thing);
    return status != STATUS_OK ? status : sim_set_position(of(world)->sim, thing.handle, position);
}

static Status method_set_velocity(ScriptWorld *world, uint64_t net_id, Vec3 velocity)
{
    WorldThing thing;
    const Status status = authority_find_for_writing(of(world), net_id, &thing);
    if (status != STATUS_OK) {
        return status;
    }
    return entity_has_shape(thing.entity)
               ? sim_drift_part(of(world)->sim, thing.handle, velocity)
               : sim_set_velocity(of(world)->sim, thing.handle, velocity);
}

static Status method_set_rotation(ScriptWorld *world, uint64_t net_id, Quat rotation)
{
    WorldThing thing;
    if (!quat_is_finite(rotation)) {
        return STATUS_RANGE;
    }
    const Status status = authority_find_for_writing(of(world), net_id, &thing);
    return status != STATUS_OK ? status : sim_set_rotation(of(world)->sim, thing.handle, rotation);
}

static Status method_set_part_data(ScriptWorld *world, uint64_t net_id, const PartData *data)
{
    WorldThing thing;
    const Status checked = part_data_check(data);
    if (checked != STATUS_OK) {
        return checked;
    }
    const Status status = authority_find_for_writing(of(world), net_id, &thing);
    return status != STATUS_OK ? status : sim_set_part_data(of(world)->sim, thing.handle, data);
}

static Status method_part_data(ScriptWorld *world, uint64_t net_id, PartData *out)
{
    WorldThing thing;
    const bool found =
        authority_find(of(world), net_id, &thing) && world_read_part_data(&thing, out);
    return found ? STATUS_OK : STATUS_NOT_FOUND;
}

static Status method_move_to(ScriptWorld *world, uint64_t net_id, Pose pose, float seconds)
{
    Authority *authority = of(world);
    WorldThing thing;
    const float ticks = math_floor(seconds * (float)sim_config(authority->sim)->tick_rate + 0.5f);
    if (!(seconds > 0) || !(ticks <= MOTION_TICKS_MAX) || !vec3_is_finite(pose.position) ||
        !quat_is_finite(pose.rotation)) {
        return STATUS_RANGE;
    }
    const Status status = authority_find_for_writing(authority, net_id, &thing);
    if (status != STATUS_OK) {
        return status;
    }
    return sim_glide_part(authority->sim, thing.handle, pose, ticks >= 1 ? (uint64_t)ticks : 1);
}

// No script changes attributes from now on.
static void release_attributes(ScriptWorld *world)
{
    of(world)->attributes.maker = 0;
    world->refusal = NULL;
}

static Status method_set_attribute(ScriptWorld *world, uint64_t net_id, Text name,
                                   const ScriptValue *value, uint32_t flags)
{
    WorldThing thing;
    sim_add_work(of(world)->sim, RECORD_STEPS);
    if (!authority_find(of(world), net_id, &thing)) {
        return STATUS_NOT_FOUND;
    }
    of(world)->attributes.maker = world->caller;
    const Status status =
        attribute_table_set_attribute(&of(world)->attributes, net_id, name, value, flags);
    release_attributes(world);
    Record *record =
        status == STATUS_OK ? attribute_table_find(&of(world)->attributes, net_id) : NULL;
    if (record != NULL) {
        record->entity = thing.handle;
    }
    return authority_name_attributes_full(of(world), status);
}

static Status method_set_tag(ScriptWorld *world, uint64_t net_id, Text tag, bool on)
{
    WorldThing thing;
    sim_add_work(of(world)->sim, RECORD_STEPS);
    if (!authority_find(of(world), net_id, &thing)) {
        return STATUS_NOT_FOUND;
    }
    of(world)->attributes.maker = world->caller;
    const Status status = attribute_table_set_tag(&of(world)->attributes, net_id, tag, on);
    release_attributes(world);
    Record *record =
        status == STATUS_OK ? attribute_table_find(&of(world)->attributes, net_id) : NULL;
    if (record != NULL) {
        record->entity = thing.handle;
    }
    return name_tags_full(of(world), status);
}

// Only what differs from the place's own looks is kept, so that painting something back costs
// nothing and follows when the place changes.
static Status method_set_paint(ScriptWorld *world, uint64_t net_id, const Paint *paint,
                               uint32_t members)
{
    Authority *authority = of(world);
    WorldThing thing;
    sim_add_work(authority->sim, RECORD_STEPS);
    if (!authority_find(authority, net_id, &thing)) {
        return STATUS_NOT_FOUND;
    }
    const Paint before = authority_paint(authority, net_id);
    const Paint now = paint_merge(&before, paint, members);
    const Paint own = place_paint(&authority->config.paints, net_id, thing.entity);
    authority->attributes.maker = world->caller;
    const Status status = attribute_table_set_paint(&authority->attributes, net_id, &now,
                                                    paint_difference(&own, &now));
    release_attributes(world);
    Record *record =
        status == STATUS_OK ? attribute_table_find(&authority->attributes, net_id) : NULL;
    if (record != NULL) {
        record->entity = thing.handle;
    }
    const Scene *scene = sim_scene(authority->sim);
    if (status == STATUS_OK && authority->painted != NULL && scene != NULL &&
        net_id <= scene_part_count(scene)) {
        authority->painted(authority->painted_user, net_id, &now);
    }
    return name_looks_full(authority, status);
}

static Status method_damage(ScriptWorld *world, uint64_t net_id, float amount, uint64_t cause)
{
    Authority *authority = of(world);
    WorldThing thing;
    if (!authority_find(authority, net_id, &thing) || thing.entity == NULL ||
        (!entity_is_character(thing.entity) && thing.entity->type != ENTITY_STRUCTURE)) {
        return STATUS_NOT_FOUND;
    }
    if (!math_is_finite(amount)) {
        return STATUS_RANGE;
    }
    const bool was_removing = thing.entity->removing;
    (void)sim_damage(authority->sim, thing.handle, amount, cause);
    if (thing.entity->removing && !was_removing) {
        authority_note_removed(authority, net_id);
    }
    authority_harvest(authority);
    return STATUS_OK;
}

// --- players ------------------------------------------------------------------------------------

static Status method_player_spawn(ScriptWorld *world, uint64_t player_id, const Vec3 *position)
{
    const Vec3 where = position != NULL ? *position : authority_spawn_point(of(world), player_id);
    return authority_name_full(of(world), authority_player_spawn(of(world), player_id, where),
                               ENTITY_PLAYER);
}

static Status method_player_set_spawn(ScriptWorld *world, uint64_t player_id, const Vec3 *position)
{
    RosterPlayer *player = roster_find(&of(world)->roster, player_id);
    if (player == NULL) {
        return STATUS_NOT_FOUND;
    }
    const Vec3 spawn = position != NULL ? *position : VEC3_ZERO;
    const float most = (float)WORLD_EXTENT_M;
    if (!(math_abs(spawn.x) < most && math_abs(spawn.y) < most && math_abs(spawn.z) < most)) {
        return STATUS_RANGE;
    }
    player->has_spawn = position != NULL;
    player->spawn = spawn;
    return STATUS_OK;
}

static Status method_player_team(ScriptWorld *world, uint64_t player_id, Text team)
{
    return roster_set_team(&of(world)->roster, player_id, team);
}

static Status method_player_stat(ScriptWorld *world, uint64_t player_id, Text name, double value)
{
    return world_limit(world, roster_set_stat(&of(world)->roster, player_id, name, value),
                       "a player has at most %d of them", ROSTER_STATS_MAX);
}

static bool method_player_stat_read(ScriptWorld *world, uint64_t player_id, Text name, double *out)
{
    return roster_stat(&of(world)->roster, player_id, name, out);
}

static bool method_player_stat_at(ScriptWorld *world, uint64_t player_id, uint32_t index,
                                  Text *name, double *out)
{
    return roster_stat_at(&of(world)->roster, player_id, index, name, out);
}

// --- things that fly, think and stand -----------------------------------------------------------

// HANDLE_NONE, which all NPC functions reject, if it is gone or anchored.
static Handle find_handle(const Authority *authority, uint64_t net_id)
{
    WorldThing thing;
    return authority_find(authority, net_id, &thing) ? thing.handle : HANDLE_NONE;
}

static Status method_npc_move_to(ScriptWorld *world, uint64_t net_id, Vec3 position)
{
    const Status status = npc_move_to(of(world)->sim, find_handle(of(world), net_id), position);
    authority_harvest(of(world));
    return status;
}

static Status method_npc_target(ScriptWorld *world, uint64_t net_id, uint64_t target)
{
    const Handle chased = find_handle(of(world), target);
    const Entity *entity = sim_entity(of(world)->sim, chased);
    if (target != 0 && (entity == NULL || !entity_is_character(entity))) {
        return STATUS_NOT_FOUND;
    }
    const Status status = npc_set_target(of(world)->sim, find_handle(of(world), net_id), chased);
    authority_harvest(of(world));
    return status;
}

static Status method_npc_patrol(ScriptWorld *world, uint64_t net_id, const Vec3 *points,
                                uint32_t count)
{
    const Status status =
        npc_set_patrol(of(world)->sim, find_handle(of(world), net_id), points, count);
    authority_harvest(of(world));
    return status;
}

static Status method_npc_spawn(ScriptWorld *world, Vec3 position, uint64_t *out)
{
    Authority *authority = of(world);
    NpcDesc desc = npc_desc_default();
    desc.position = position;
    Handle handle = HANDLE_NONE;
    Record *record = NULL;
    Status status = authority_check_room(authority, ENTITY_NPC);
    if (status == STATUS_OK) {
        status = npc_spawn(authority->sim, &desc, &handle);
    }
    if (status == STATUS_OK) {
        status = authority_keep_record(authority, handle, &record);
    }
    if (status == STATUS_OK) {
        *out = record->net_id;
    }
    return authority_name_full(authority, status, ENTITY_NPC);
}

static Status method_npc_state(ScriptWorld *world, uint64_t net_id, uint32_t *state,
                               float *suspicion)
{
    const Npc *npc = npc_at(of(world)->sim, find_handle(of(world), net_id));
    if (npc == NULL) {
        return STATUS_NOT_FOUND;
    }
    *state = (uint32_t)npc->state;
    *suspicion = npc->suspicion;
    return STATUS_OK;
}

static Status method_structure_place(ScriptWorld *world, uint32_t piece, VoxelCoord cell,
                                     uint32_t turn, uint64_t owner_id, uint64_t *out)
{
    Authority *authority = of(world);
    const StructureDesc desc = {.owner_id = owner_id, .piece = piece, .cell = cell, .turn = turn};
    Handle handle = HANDLE_NONE;
    Record *record = NULL;
    Status status = authority_check_room(authority, ENTITY_STRUCTURE);
    if (status == STATUS_OK) {
        status = structure_place(authority->sim, &desc, &handle);
    }
    if (status == STATUS_OK) {
        status = authority_keep_record(authority, handle, &record);
    }
    if (status == STATUS_OK) {
        *out = record->net_id;
        authority_structure_placed(authority, record->net_id, owner_id);
    }
    return authority_name_full(authority, status, ENTITY_STRUCTURE);
}

static Status method_structure_remove(ScriptWorld *world, uint64_t net_id)
{
    const Status status = structure_remove(of(world)->sim, find_handle(of(world), net_id), 0);
    sim_add_work(of(world)->sim, AUTHORITY_REMOVE_STEPS);
    if (status == STATUS_OK) {
        authority_note_removed(of(world), net_id);
    }
    return status;
}

// --- a client's alone ---------------------------------------------------------------------------

static bool method_key_is_down(ScriptWorld *world, Text key)
{
    (void)world;
    (void)key;
    return false;
}

static bool method_camera(ScriptWorld *world, Vec3 *position, Vec3 *forward)
{
    (void)world;
    (void)position;
    (void)forward;
    return false;
}

static uint64_t method_local_player(ScriptWorld *world)
{
    (void)world;
    return 0;
}

static ScriptCamera method_camera_wanted(ScriptWorld *world)
{
    (void)world;
    return (ScriptCamera){.field_of_view = CAMERA_FIELD_NORMAL};
}

static Status method_set_camera(ScriptWorld *world, uint64_t owner, const ScriptCamera *camera)
{
    (void)world;
    (void)owner;
    (void)camera;
    return STATUS_DENIED;
}

static void method_forget(ScriptWorld *world, uint64_t owner)
{
    (void)world;
    (void)owner;
}

static uint32_t method_tick_rate(ScriptWorld *world)
{
    return sim_config(of(world)->sim)->tick_rate;
}

static Status method_show(ScriptWorld *world, uint64_t owner, uint64_t entity, const uint8_t *tree,
                          size_t bytes)
{
    (void)world;
    (void)owner;
    (void)entity;
    (void)tree;
    (void)bytes;
    return STATUS_DENIED;
}

static const ScriptWorldMethods methods = {
    .side = SCRIPT_SERVER,
    .tick = method_tick,
    .work = method_work,
    .entity = method_entity,
    .find = method_find,
    .find_all = method_find_all,
    .name = method_name,
    .prefab = method_prefab,
    .in_radius = method_in_radius,
    .in_box = method_in_box,
    .ray = method_ray,
    .voxel = method_voxel,
    .voxel_kinds = method_voxel_kinds,
    .paint = method_paint,
    .assets = method_assets,
    .players = method_players,
    .attribute = method_attribute,
    .has_tag = method_has_tag,
    .tagged = method_tagged,
    .tag_next = method_tag_next,
    .spawn = authority_spawn,
    .spawn_for_actor = authority_spawn_for_actor,
    .destroy = authority_destroy_entity,
    .set_position = method_set_position,
    .set_velocity = method_set_velocity,
    .set_rotation = method_set_rotation,
    .set_part_data = method_set_part_data,
    .part_data = method_part_data,
    .move_to = method_move_to,
    .set_attribute = method_set_attribute,
    .set_tag = method_set_tag,
    .set_paint = method_set_paint,
    .set_voxel = authority_set_voxel,
    .fill_box = authority_fill_box,
    .fill_sphere = authority_fill_sphere,
    .damage = method_damage,
    .player_spawn = method_player_spawn,
    .player_set_spawn = method_player_set_spawn,
    .player_kick = authority_player_kick,
    .player_team = method_player_team,
    .player_stat = method_player_stat,
    .player_stat_read = method_player_stat_read,
    .player_stat_at = method_player_stat_at,
    .fire = authority_fire,
    .npc_move_to = method_npc_move_to,
    .npc_target = method_npc_target,
    .npc_patrol = method_npc_patrol,
    .npc_spawn = method_npc_spawn,
    .npc_state = method_npc_state,
    .structure_place = method_structure_place,
    .structure_remove = method_structure_remove,
    .set_sky = authority_set_sky,
    .key_is_down = method_key_is_down,
    .camera = method_camera,
    .local_player = method_local_player,
    .camera_wanted = method_camera_wanted,
    .set_camera = method_set_camera,
    .forget = method_forget,
    .show = method_show,
    .sound = authority_sound,
    .sky = authority_read_sky,
    .tick_rate = method_tick_rate,
    .moment = authority_moment,
    .set_visual = authority_set_visual,
    .chat = authority_chat,
    .send = authority_send,
    .store = authority_store,
};

const ScriptWorldMethods *authority_methods(void)
{
    return &methods;
}
