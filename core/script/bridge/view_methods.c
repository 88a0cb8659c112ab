// The functions for scripts on a client: read the view, change the client's own things, and
// STATUS_DENIED for the rest.
#include "core/script/bridge/view_inside.h"

#include "core/base/check.h"
#include "core/script/bridge/world_limit.h"

#include <string.h>

#define LOCAL_SPEED_MAX 1000.0f // m/s

#define PLAYER_STEPS 5 // one player in a list

static View *of(ScriptWorld *world)
{
    return (View *)world;
}

static Status deny(ScriptWorld *world)
{
    of(world)->denied_count += 1;
    return STATUS_DENIED;
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

static Vec3 local_size(const ViewLocal *local)
{
    const Vec3 half = local->shape.half;
    const bool round = local->shape.kind == SHAPE_SPHERE || local->shape.kind == SHAPE_CYLINDER;
    return vec3(2 * half.x, 2 * (local->shape.kind == SHAPE_SPHERE ? half.x : half.y),
                2 * (round ? half.x : half.z));
}

static EntityType local_type(const ViewLocal *local)
{
    switch (local->prefab->kind) {
    case PREFAB_PART:
        return ENTITY_PART;
    case PREFAB_PROJECTILE:
        return ENTITY_PROJECTILE;
    default:
        return ENTITY_PROP;
    }
}

static bool method_entity(ScriptWorld *world, uint64_t net_id, ScriptEntityInfo *out)
{
    const View *view = of(world);
    const ViewLocal *local = view_local_find(view, net_id);
    if (local != NULL) {
        *out = (ScriptEntityInfo){.net_id = net_id,
                                  .owner_id = view->config.local_player,
                                  .type = local_type(local),
                                  .position = local->pose.position,
                                  .velocity = local->velocity,
                                  .rotation = local->pose.rotation,
                                  .size = local_size(local),
                                  .is_local = true};
        return true;
    }
    WorldThing thing;
    if (!view_find(view, net_id, &thing)) {
        return spawn_points_info(&view->config.spawns, net_id, out);
    }
    *out = world_read_info(view->sim, net_id, &thing);
    return true;
}

static bool exists(const View *view, uint64_t net_id)
{
    WorldThing thing;
    return view_local_find(view, net_id) != NULL || view_find(view, net_id, &thing);
}

static uint64_t method_find(ScriptWorld *world, Text name)
{
    const View *view = of(world);
    uint64_t net_id = scene_names_find(&view->scene_names, name, 0);
    while (net_id != 0 && !exists(view, net_id)) {
        net_id = scene_names_find(&view->scene_names, name, net_id);
    }
    if (net_id != 0) {
        return net_id;
    }
    const Record *record = attribute_table_named(&view->attributes, name, NULL);
    while (record != NULL && !exists(view, record->net_id)) {
        record = attribute_table_named(&view->attributes, name, record);
    }
    return record == NULL ? spawn_points_find(&view->config.spawns, name) : record->net_id;
}

static uint32_t method_find_all(ScriptWorld *world, Text name, uint64_t *out, uint32_t max)
{
    const View *view = of(world);
    uint32_t count = 0;
    uint64_t net_id = scene_names_find(&view->scene_names, name, 0);
    for (; net_id != 0 && count < max;
         net_id = scene_names_find(&view->scene_names, name, net_id)) {
        if (exists(view, net_id)) {
            out[count++] = net_id;
        }
    }
    const Record *record = attribute_table_named(&view->attributes, name, NULL);
    for (; record != NULL && count < max;
         record = attribute_table_named(&view->attributes, name, record)) {
        if (exists(view, record->net_id)) {
            out[count++] = record->net_id;
        }
    }
    return count;
}

static Text method_name(ScriptWorld *world, uint64_t net_id)
{
    const PlaceSpawn *spawn = spawn_points_at(&of(world)->config.spawns, net_id);
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

// Of what a query has found, what scripts know; returns how many.
static uint32_t take_found(const View *view, uint32_t found, uint64_t *out, uint32_t max)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < found && i < VIEW_RADIUS_MAX && count < max; i++) {
        if (exists(view, view->refs[i].net_id)) {
            out[count++] = view->refs[i].net_id;
        }
    }
    return count;
}

static uint32_t method_in_radius(ScriptWorld *world, Vec3 centre, float radius, uint32_t type_mask,
                                 uint64_t *out, uint32_t max)
{
    View *view = of(world);
    if (!vec3_is_finite(centre) || !(radius >= 0)) {
        return 0;
    }
    const uint32_t found =
        sim_query_radius(view->sim, centre, radius, type_mask, view->refs, VIEW_RADIUS_MAX);
    uint32_t count = take_found(view, found, out, max);
    uint32_t slot = view_local_next(view, 0);
    for (; slot != 0 && count < max; slot = view_local_next(view, slot)) {
        const ViewLocal *local = view_local_at(view, slot);
        const float apart = vec3_length(vec3_sub(local->pose.position, centre));
        if ((type_mask & ENTITY_MASK(local_type(local))) != 0 && apart <= radius) {
            out[count++] = local->net_id;
        }
    }
    return count;
}

static uint32_t method_in_box(ScriptWorld *world, Aabb box, uint32_t type_mask, uint64_t *out,
                              uint32_t max)
{
    View *view = of(world);
    if (!vec3_is_finite(box.min) || !vec3_is_finite(box.max)) {
        return 0;
    }
    const uint32_t found = sim_query_box(view->sim, box, type_mask, view->refs, VIEW_RADIUS_MAX);
    uint32_t count = take_found(view, found, out, max);
    uint32_t slot = view_local_next(view, 0);
    for (; slot != 0 && count < max; slot = view_local_next(view, slot)) {
        const ViewLocal *local = view_local_at(view, slot);
        if ((type_mask & ENTITY_MASK(local_type(local))) != 0 &&
            aabb_overlaps(box, (Aabb){local->pose.position, local->pose.position})) {
            out[count++] = local->net_id;
        }
    }
    return count;
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

static AssetNames method_assets(ScriptWorld *world)
{
    return of(world)->config.assets;
}

static uint32_t method_players(ScriptWorld *world, ScriptPlayerInfo *out, uint32_t max)
{
    sim_add_work(of(world)->sim, (uint64_t)PLAYER_STEPS * roster_count(&of(world)->roster));
    return roster_list(&of(world)->roster, out, max);
}

static bool method_attribute(ScriptWorld *world, uint64_t net_id, Text name, ScriptValue *out)
{
    return exists(of(world), net_id) &&
           attribute_table_attribute(&of(world)->attributes, net_id, name, out, NULL);
}

static bool method_has_tag(ScriptWorld *world, uint64_t net_id, Text tag)
{
    return exists(of(world), net_id) &&
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
    const View *view = of(world);
    uint32_t count = 0;
    uint32_t slot = attribute_table_tagged(&view->attributes, tag, 0);
    for (; slot != 0 && count < max; slot = attribute_table_tagged(&view->attributes, tag, slot)) {
        const uint64_t net_id = attribute_table_at(&view->attributes, slot)->net_id;
        if (exists(view, net_id)) {
            out[count++] = net_id;
        }
    }
    return count;
}

static Status method_part_data(ScriptWorld *world, uint64_t net_id, PartData *out)
{
    const ViewLocal *local = view_local_find(of(world), net_id);
    if (local != NULL && local->prefab->kind != PREFAB_PROJECTILE) {
        *out = local->data;
        return STATUS_OK;
    }
    WorldThing thing;
    const bool found = view_find(of(world), net_id, &thing) && world_read_part_data(&thing, out);
    return found ? STATUS_OK : STATUS_NOT_FOUND;
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

// --- local entities -----------------------------------------------------------------------------

static bool position_is_sane(Vec3 p)
{
    const float extent = (float)WORLD_EXTENT_M;
    return math_abs(p.x) <= extent && math_abs(p.y) <= extent && math_abs(p.z) <= extent;
}

static ViewLocal local_make(const Prefab *prefab, Vec3 position, uint64_t net_id)
{
    ViewLocal local = {.net_id = net_id,
                       .prefab = prefab,
                       .paint = paint_merge(&paint_default, &prefab->paint, prefab->painted)};
    if (prefab->kind == PREFAB_PROJECTILE) {
        const float radius = prefab->projectile.radius;
        local.shape = (Shape){SHAPE_SPHERE, {radius, radius, radius}};
        local.pose = (Pose){position, QUAT_IDENTITY};
        local.gravity = prefab->projectile.gravity;
        local.ticks_left = prefab->projectile.lifetime_ticks;
    } else {
        local.shape = prefab->part.shape;
        local.data = prefab->part.data;
        local.pose = (Pose){position, prefab->part.pose.rotation};
    }
    return local;
}

static Status keep_prefab(View *view, const Prefab *prefab, uint64_t net_id, Handle handle)
{
    Status status = attribute_table_set_name(&view->attributes, net_id, prefab->name);
    if (status == STATUS_OK) {
        // The handle marks this record as local, not a copy of the server's.
        attribute_table_find(&view->attributes, net_id)->entity = handle;
    }
    for (uint32_t i = 0; i < prefab->attribute_count && status == STATUS_OK; i++) {
        const PrefabAttribute *attribute = &prefab->attributes[i];
        if (attribute_is_owners(attribute->flags)) { // it is this client's own
            status = attribute_table_set_attribute(&view->attributes, net_id, attribute->name,
                                                   &attribute->value, attribute->flags);
        }
    }
    for (uint32_t i = 0; i < prefab->tag_count && status == STATUS_OK; i++) {
        status = attribute_table_set_tag(&view->attributes, net_id, prefab->tags[i], true);
    }
    return status;
}

static Status method_spawn(ScriptWorld *world, Text name, Vec3 position, bool local, uint64_t *out)
{
    View *view = of(world);
    if (!local) {
        return deny(world);
    }
    const Prefab *prefab = prefab_find(&view->config.prefabs, name);
    if (prefab == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (prefab->kind == PREFAB_NPC) {
        return STATUS_UNSUPPORTED; // only the server runs NPCs
    }
    if (!position_is_sane(position)) {
        return STATUS_RANGE;
    }
    const Handle handle = pool_acquire(&view->locals);
    if (handle_is_none(handle)) {
        view->locals_refused += 1;
        return world_limit(world, STATUS_LIMIT,
                           "a client has at most %u entities of its own; destroy some first",
                           (unsigned)view->config.local_max);
    }
    const uint64_t net_id = view->next_local;
    const Status status = keep_prefab(view, prefab, net_id, handle);
    if (status != STATUS_OK) {
        attribute_table_remove(&view->attributes, net_id);
        (void)pool_release(&view->locals, handle);
        return status;
    }
    view->next_local += 1;
    *(ViewLocal *)pool_at(&view->locals, handle.index) = local_make(prefab, position, net_id);
    id_map_put(&view->local_map, net_id, handle.index);
    view->paint_version += 1;
    *out = net_id;
    return STATUS_OK;
}

// Finds a local entity for writing. An id in the local range that is not found is gone; other ids
// are the server's.
static Status find_local(ScriptWorld *world, uint64_t net_id, ViewLocal **out)
{
    ViewLocal *local = view_local_find(of(world), net_id);
    if (local == NULL) {
        return net_id >= VIEW_LOCAL_FIRST ? STATUS_NOT_FOUND : deny(world);
    }
    *out = local;
    return STATUS_OK;
}

static Status method_destroy(ScriptWorld *world, uint64_t net_id)
{
    ViewLocal *local = NULL;
    const Status status = find_local(world, net_id, &local);
    if (status == STATUS_OK) {
        local->removing = true;
    }
    return status;
}

static Status method_set_position(ScriptWorld *world, uint64_t net_id, Vec3 position)
{
    ViewLocal *local = NULL;
    const Status status = find_local(world, net_id, &local);
    if (status != STATUS_OK) {
        return status;
    }
    if (!position_is_sane(position)) {
        return STATUS_RANGE;
    }
    local->pose.position = position;
    if (local->motion.count > 0) { // a teleport ends a motion, as in the sim
        local->motion.count = 0;
        local->velocity = VEC3_ZERO;
    }
    return STATUS_OK;
}

static Status method_set_velocity(ScriptWorld *world, uint64_t net_id, Vec3 velocity)
{
    ViewLocal *local = NULL;
    const Status status = find_local(world, net_id, &local);
    if (status != STATUS_OK) {
        return status;
    }
    if (!(vec3_length(velocity) <= LOCAL_SPEED_MAX)) {
        return STATUS_RANGE;
    }
    local->velocity = velocity;
    local->motion.count = 0;
    return STATUS_OK;
}

static Status method_set_rotation(ScriptWorld *world, uint64_t net_id, Quat rotation)
{
    ViewLocal *local = NULL;
    const Status status = find_local(world, net_id, &local);
    if (status != STATUS_OK) {
        return status;
    }
    if (!quat_is_finite(rotation)) {
        return STATUS_RANGE;
    }
    local->pose.rotation = quat_normalise(rotation);
    local->motion.count = 0;
    return STATUS_OK;
}

static Status method_set_part_data(ScriptWorld *world, uint64_t net_id, const PartData *data)
{
    ViewLocal *local = NULL;
    Status status = find_local(world, net_id, &local);
    if (status == STATUS_OK) {
        status = part_data_check(data);
    }
    if (status == STATUS_OK) {
        local->data = *data;
    }
    return status;
}

static Status method_move_to(ScriptWorld *world, uint64_t net_id, Pose pose, float seconds)
{
    ViewLocal *local = NULL;
    const Status status = find_local(world, net_id, &local);
    if (status != STATUS_OK) {
        return status;
    }
    const View *view = of(world);
    const float ticks = math_floor(seconds * (float)sim_config(view->sim)->tick_rate + 0.5f);
    if (!(seconds > 0) || !(ticks <= MOTION_TICKS_MAX) || !position_is_sane(pose.position) ||
        !quat_is_finite(pose.rotation)) {
        return STATUS_RANGE;
    }
    Motion motion;
    const Status planned = motion_glide(&motion, local->pose, pose, vec3_length(local->shape.half),
                                        sim_tick(view->sim), ticks >= 1 ? (uint64_t)ticks : 1,
                                        sim_tick_seconds(view->sim));
    if (planned == STATUS_OK) {
        local->motion = motion;
        local->velocity = motion.segments[0].velocity;
    }
    return planned;
}

static Status method_set_attribute(ScriptWorld *world, uint64_t net_id, Text name,
                                   const ScriptValue *value, uint32_t flags)
{
    ViewLocal *local = NULL;
    const Status status = find_local(world, net_id, &local);
    return status != STATUS_OK
               ? status
               : attribute_table_set_attribute(&of(world)->attributes, net_id, name, value, flags);
}

static Status method_set_tag(ScriptWorld *world, uint64_t net_id, Text tag, bool on)
{
    ViewLocal *local = NULL;
    const Status status = find_local(world, net_id, &local);
    return status != STATUS_OK ? status
                               : attribute_table_set_tag(&of(world)->attributes, net_id, tag, on);
}

// --- the server's alone -------------------------------------------------------------------------

static Status method_set_voxel(ScriptWorld *world, VoxelCoord at, VoxelKind kind)
{
    (void)at;
    (void)kind;
    return deny(world);
}

static Status method_fill_box(ScriptWorld *world, VoxelCoord min, VoxelCoord max, VoxelKind kind)
{
    (void)min;
    (void)max;
    (void)kind;
    return deny(world);
}

static Status method_fill_sphere(ScriptWorld *world, Vec3 centre, float radius, VoxelKind kind)
{
    (void)centre;
    (void)radius;
    (void)kind;
    return deny(world);
}

static Status method_damage(ScriptWorld *world, uint64_t net_id, float amount, uint64_t cause)
{
    (void)net_id;
    (void)amount;
    (void)cause;
    return deny(world);
}

static Status method_player_spawn(ScriptWorld *world, uint64_t player_id, const Vec3 *position)
{
    (void)player_id;
    (void)position;
    return deny(world);
}

static Status method_player_kick(ScriptWorld *world, uint64_t player_id, Text reason)
{
    (void)player_id;
    (void)reason;
    return deny(world);
}

static Status method_player_team(ScriptWorld *world, uint64_t player_id, Text team)
{
    (void)player_id;
    (void)team;
    return deny(world);
}

static Status method_player_stat(ScriptWorld *world, uint64_t player_id, Text name, double value)
{
    (void)player_id;
    (void)name;
    (void)value;
    return deny(world);
}

static Status method_spawn_for_actor(ScriptWorld *world, Text prefab, uint64_t *out)
{
    (void)prefab;
    (void)out;
    return deny(world);
}

static Status method_fire(ScriptWorld *world, const ScriptShot *shot, uint64_t *out)
{
    (void)shot;
    (void)out;
    return deny(world);
}

static Status method_npc_move_to(ScriptWorld *world, uint64_t net_id, Vec3 position)
{
    (void)net_id;
    (void)position;
    return deny(world);
}

static Status method_npc_target(ScriptWorld *world, uint64_t net_id, uint64_t target)
{
    (void)net_id;
    (void)target;
    return deny(world);
}

static Status method_npc_patrol(ScriptWorld *world, uint64_t net_id, const Vec3 *points,
                                uint32_t count)
{
    (void)net_id;
    (void)points;
    (void)count;
    return deny(world);
}

static Status method_npc_spawn(ScriptWorld *world, Vec3 position, uint64_t *out)
{
    (void)position;
    (void)out;
    return deny(world);
}

static Status method_npc_state(ScriptWorld *world, uint64_t net_id, uint32_t *state,
                               float *suspicion)
{
    (void)net_id;
    (void)state;
    (void)suspicion;
    return deny(world);
}

static Status method_structure_place(ScriptWorld *world, uint32_t piece, VoxelCoord cell,
                                     uint32_t turn, uint64_t owner_id, uint64_t *out)
{
    (void)piece;
    (void)cell;
    (void)turn;
    (void)owner_id;
    (void)out;
    return deny(world);
}

static Status method_structure_remove(ScriptWorld *world, uint64_t net_id)
{
    (void)net_id;
    return deny(world);
}

static Status method_store(ScriptWorld *world, const StoreRequest *request)
{
    (void)request;
    return deny(world);
}

// --- the client's own ---------------------------------------------------------------------------

static bool method_key_is_down(ScriptWorld *world, Text name)
{
    return view_key_is_down(of(world), name);
}

static bool method_camera(ScriptWorld *world, Vec3 *position, Vec3 *forward)
{
    const View *view = of(world);
    if (!view->has_camera) {
        return false;
    }
    *position = view->camera_position;
    *forward = view->camera_forward;
    return true;
}

static uint32_t method_tick_rate(ScriptWorld *world)
{
    return sim_config(of(world)->sim)->tick_rate;
}

static Status method_set_sky(ScriptWorld *world, const Sky *sky)
{
    (void)sky;
    return deny(world);
}

static uint64_t method_local_player(ScriptWorld *world)
{
    return of(world)->config.local_player;
}

// Sets the error text if the queue of effects is full.
static Status name_queue_full(ScriptWorld *world, Status status)
{
    const ViewConfig *config = &of(world)->config;
    return world_limit(world, status,
                       "all scripts of a client together send at most %u messages, sounds and "
                       "texts in a tick, and %zu bytes in them; slow down",
                       (unsigned)config->effect_max, config->effect_bytes_max);
}

// The error of a full queue, or of a full table.
static Status name_sound_refusal(ScriptWorld *world, const ScriptSound *sound, Status status)
{
    return sound->loop ? sound_table_refusal(world, status) : name_queue_full(world, status);
}

// A client can play a sound for its own player only.
static Status method_sound(ScriptWorld *world, ScriptSound *sound)
{
    View *view = of(world);
    ScriptEntityInfo info;
    if (sound->player_id != 0 && sound->player_id != view->config.local_player) {
        return deny(world);
    }
    sound->is_own = true;
    sound->since_tick = sim_tick(view->sim);
    if (sound->act == SCRIPT_SOUND_PLAY) {
        if (sound->entity != 0 && !method_entity(world, sound->entity, &info)) {
            return STATUS_NOT_FOUND;
        }
        if (sound->entity != 0) {
            sound->has_position = true;
            sound->position = info.position;
        }
        sound->id = sound_table_id(&view->own_sounds);
    }
    return name_sound_refusal(world, sound, view_sound(view, sound, world->caller));
}

static Status method_chat(ScriptWorld *world, Text text, uint64_t player_id)
{
    const uint64_t own = of(world)->config.local_player;
    return player_id != 0 ? deny(world)
                          : name_queue_full(world, effect_chat(&of(world)->effects, text, own));
}

static Status method_send(ScriptWorld *world, const ScriptMessage *message)
{
    ScriptMessage sent = *message;
    sent.player_id = of(world)->config.local_player;
    return name_queue_full(world, effect_message(&of(world)->effects, &sent));
}

static const ScriptWorldMethods methods = {
    .side = SCRIPT_CLIENT,
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
    .paint = view_paint_read,
    .assets = method_assets,
    .players = method_players,
    .attribute = method_attribute,
    .has_tag = method_has_tag,
    .tagged = method_tagged,
    .tag_next = method_tag_next,
    .spawn = method_spawn,
    .spawn_for_actor = method_spawn_for_actor,
    .destroy = method_destroy,
    .set_position = method_set_position,
    .set_velocity = method_set_velocity,
    .set_rotation = method_set_rotation,
    .set_part_data = method_set_part_data,
    .part_data = method_part_data,
    .move_to = method_move_to,
    .set_attribute = method_set_attribute,
    .set_tag = method_set_tag,
    .set_paint = view_paint_set,
    .set_voxel = method_set_voxel,
    .fill_box = method_fill_box,
    .fill_sphere = method_fill_sphere,
    .damage = method_damage,
    .player_spawn = method_player_spawn,
    .player_set_spawn = method_player_spawn,
    .player_kick = method_player_kick,
    .player_team = method_player_team,
    .player_stat = method_player_stat,
    .player_stat_read = method_player_stat_read,
    .player_stat_at = method_player_stat_at,
    .fire = method_fire,
    .npc_move_to = method_npc_move_to,
    .npc_target = method_npc_target,
    .npc_patrol = method_npc_patrol,
    .npc_spawn = method_npc_spawn,
    .npc_state = method_npc_state,
    .structure_place = method_structure_place,
    .structure_remove = method_structure_remove,
    .set_sky = method_set_sky,
    .key_is_down = method_key_is_down,
    .camera = method_camera,
    .local_player = method_local_player,
    .camera_wanted = view_camera_wanted,
    .set_camera = view_want_camera,
    .forget = view_forget,
    .show = view_show,
    .sound = method_sound,
    .sky = view_read_sky,
    .tick_rate = method_tick_rate,
    .moment = view_moment,
    .set_visual = view_set_visual,
    .chat = method_chat,
    .send = method_send,
    .store = method_store,
};

const ScriptWorldMethods *view_methods(void)
{
    return &methods;
}
