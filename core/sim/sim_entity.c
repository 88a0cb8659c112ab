// Slots and their content: net ids, spawning, and every change that scripts and players may make to
// an entity. Each function here keeps grid, masks and net map up to date.
#include "core/sim/npc.h"
#include "core/sim/sim_internal.h"
#include "core/sim/trigger.h"

#define CHARACTER_SPEED_MAX 120.0f // m/s

// --- net ids ------------------------------------------------------------------------------------

static uint32_t net_home(const NetMap *map, uint64_t net_id)
{
    return (uint32_t)hash_mix(net_id) & map->mask;
}

// The place of a net id, or the empty place where it would go.
static uint32_t net_place(const NetMap *map, uint64_t net_id)
{
    uint32_t at = net_home(map, net_id);
    while (map->net_ids[at] != 0 && map->net_ids[at] != net_id) {
        at = (at + 1) & map->mask;
    }
    return at;
}

static void net_put(NetMap *map, uint64_t net_id, uint32_t slot)
{
    const uint32_t at = net_place(map, net_id);
    map->net_ids[at] = net_id;
    map->slots[at] = slot;
}

// Takes one out and closes the gap, so that no search ends too early.
static void net_remove(NetMap *map, uint64_t net_id)
{
    uint32_t gap = net_place(map, net_id);
    ASSERT(map->net_ids[gap] == net_id);
    uint32_t at = gap;
    for (;;) {
        at = (at + 1) & map->mask;
        if (map->net_ids[at] == 0) {
            break;
        }
        const uint32_t home = net_home(map, map->net_ids[at]);
        if (((at - home) & map->mask) >= ((at - gap) & map->mask)) {
            map->net_ids[gap] = map->net_ids[at];
            map->slots[gap] = map->slots[at];
            gap = at;
        }
    }
    map->net_ids[gap] = 0;
}

Handle sim_find(const Sim *sim, uint64_t net_id)
{
    if (net_id == 0) {
        return HANDLE_NONE;
    }
    const uint32_t at = net_place(&sim->net_map, net_id);
    return sim->net_map.net_ids[at] == 0 ? HANDLE_NONE
                                         : pool_handle(&sim->entities, sim->net_map.slots[at]);
}

// --- slots --------------------------------------------------------------------------------------

static uint32_t next_in(const Sim *sim, const uint64_t *a, const uint64_t *b, uint32_t from)
{
    const uint32_t words = (sim->entities.slot_count + 63) / 64;
    uint32_t word = from / 64;
    if (word >= words) {
        return 0;
    }
    uint64_t bits = (a[word] | b[word]) & (~0ull << (from % 64));
    while (bits == 0) {
        word += 1;
        if (word == words) {
            return 0;
        }
        bits = a[word] | b[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

uint32_t sim_next_slot(const Sim *sim, EntityType type, uint32_t from)
{
    return next_in(sim, sim->type_masks[type], sim->type_masks[type], from);
}

uint32_t sim_next_character(const Sim *sim, uint32_t from)
{
    return next_in(sim, sim->type_masks[ENTITY_PLAYER], sim->type_masks[ENTITY_NPC], from);
}

Handle sim_next(const Sim *sim, Handle after, uint32_t type_mask)
{
    uint32_t slot = pool_next(&sim->entities, after.index + 1);
    while (slot != 0 && (type_mask & ENTITY_MASK(sim_at(sim, slot)->type)) == 0) {
        slot = pool_next(&sim->entities, slot + 1);
    }
    return slot == 0 ? HANDLE_NONE : pool_handle(&sim->entities, slot);
}

void sim_index_slot(Sim *sim, uint32_t slot)
{
    const Entity *entity = sim_at(sim, slot);
    sim->type_masks[entity->type][slot / 64] |= 1ull << (slot % 64);
    sim->type_counts[entity->type] += 1;
    net_put(&sim->net_map, entity->net_id, slot);
    work_count(sim, entity, true);
}

static bool net_id_is_anchored(const Sim *sim, uint64_t net_id)
{
    return sim->scene != NULL && net_id >= 1 && net_id <= scene_part_count(sim->scene);
}

Status sim_acquire(Sim *sim, EntityType type, uint64_t net_id, uint64_t owner_id, uint32_t *slot)
{
    if (net_id != 0 && !handle_is_none(sim_find(sim, net_id))) {
        return STATUS_EXISTS;
    }
    if (net_id_is_anchored(sim, net_id) && !sim_part_is_hidden(sim, (uint32_t)net_id - 1)) {
        return STATUS_EXISTS;
    }
    if (net_id > SIM_NET_ID_MAX) {
        return STATUS_RANGE;
    }
    const Handle handle = pool_acquire(&sim->entities);
    if (handle_is_none(handle)) {
        return STATUS_LIMIT;
    }
    Entity *entity = sim_at(sim, handle.index);
    entity->net_id = net_id != 0 ? net_id : sim->next_net_id;
    entity->owner_id = owner_id;
    entity->type = type;
    entity->rotation = QUAT_IDENTITY;
    if (entity->net_id >= sim->next_net_id) {
        sim->next_net_id = entity->net_id + 1;
    }
    sim_index_slot(sim, handle.index);
    *slot = handle.index;
    return STATUS_OK;
}

void sim_release(Sim *sim, uint32_t slot)
{
    Entity *entity = sim_at(sim, slot);
    if (entity_is_character(entity)) {
        trigger_leave_all(sim, slot);
        if (sim->history != NULL && entity->character.history_slot != 0) {
            history_release(sim->history, entity->character.history_slot);
        }
        if (entity->character.npc_slot != 0) {
            npc_forget(sim, entity->character.npc_slot);
        }
    } else if (entity->type == ENTITY_STRUCTURE) {
        structure_forget(sim, slot);
    }
    sim->type_masks[entity->type][slot / 64] &= ~(1ull << (slot % 64));
    sim->type_counts[entity->type] -= 1;
    work_count(sim, entity, false);
    net_remove(&sim->net_map, entity->net_id);
    grid_remove(&sim->grid, slot);
    (void)pool_release(&sim->entities, pool_handle(&sim->entities, slot));
}

static Aabb entity_bounds(const Sim *sim, const Entity *entity)
{
    if (entity_is_character(entity)) {
        return capsule_bounds(sim_capsule(sim, entity->position));
    }
    if (entity->type == ENTITY_PROJECTILE) {
        return aabb_grow((Aabb){entity->position, entity->position}, entity->projectile.radius);
    }
    const Part *part = &entity->part;
    if (!part->moving) {
        return part->placed.bounds;
    }
    // A moving part is found anywhere on its way of this tick.
    const PlacedShape before = shape_place(part->shape, part->pose_previous);
    return aabb_union(part->placed.bounds, before.bounds);
}

void sim_place(Sim *sim, uint32_t slot)
{
    const Entity *entity = sim_at(sim, slot);
    const GridLayer layer = entity_is_character(entity)         ? GRID_CHARACTERS
                            : entity->type == ENTITY_PROJECTILE ? GRID_PROJECTILES
                                                                : GRID_SHAPES;
    grid_put(&sim->grid, slot, layer, entity_bounds(sim, entity));
}

// --- characters ---------------------------------------------------------------------------------

void sim_character_init(Sim *sim, uint32_t slot, Vec3 position, float yaw)
{
    Entity *entity = sim_at(sim, slot);
    entity->position = position;
    entity->character.health = sim->config.character.health_max;
    entity->character.input.yaw = math_wrap_angle(yaw);
    if (sim->history != NULL) {
        entity->character.history_slot = history_acquire(sim->history);
    }
    sim_place(sim, slot);
}

static bool position_is_sane(Vec3 p)
{
    const float extent = (float)WORLD_EXTENT_M;
    return math_abs(p.x) <= extent && math_abs(p.y) <= extent && math_abs(p.z) <= extent;
}

Status sim_spawn_player(Sim *sim, const CharacterDesc *desc, Handle *out)
{
    if (!position_is_sane(desc->position) || !math_is_finite(desc->yaw)) {
        return STATUS_RANGE;
    }
    if (sim->type_counts[ENTITY_PLAYER] + sim->type_counts[ENTITY_NPC] >=
        sim->config.character_max) {
        return STATUS_LIMIT;
    }
    uint32_t slot = 0;
    const Status status = sim_acquire(sim, ENTITY_PLAYER, desc->net_id, desc->owner_id, &slot);
    if (status != STATUS_OK) {
        return status;
    }
    sim_character_init(sim, slot, sim_free_position(sim, desc->position), desc->yaw);
    *out = pool_handle(&sim->entities, slot);
    return STATUS_OK;
}

static float finite_or_zero(float x, bool *sane)
{
    if (math_is_finite(x)) {
        return x;
    }
    *sane = false;
    return 0;
}

SimInput sim_input_sanitise(const SimInput *input, bool *sane)
{
    SimInput out = {.seq = input->seq, .buttons = input->buttons & INPUT_BUTTONS_ALL};
    out.move_x = math_clamp(finite_or_zero(input->move_x, sane), -1, 1);
    out.move_z = math_clamp(finite_or_zero(input->move_z, sane), -1, 1);
    const float size = math_sqrt(out.move_x * out.move_x + out.move_z * out.move_z);
    if (size > 1) {
        out.move_x /= size;
        out.move_z /= size;
    }
    out.yaw = math_wrap_angle(finite_or_zero(input->yaw, sane));
    out.pitch = math_clamp(finite_or_zero(input->pitch, sane), -MATH_PI / 2, MATH_PI / 2);
    return out;
}

void sim_set_input(Sim *sim, Handle character, const SimInput *input)
{
    Entity *entity = pool_find(&sim->entities, character);
    if (entity == NULL || !entity_is_character(entity)) {
        return;
    }
    bool sane = true;
    entity->character.input = sim_input_sanitise(input, &sane);
    sim->counters.inputs_sanitised += !sane;
}

float sim_damage(Sim *sim, Handle target, float amount, uint64_t cause_net_id)
{
    Entity *entity = pool_find(&sim->entities, target);
    if (entity == NULL || !math_is_finite(amount)) {
        return 0;
    }
    if (entity->type == ENTITY_STRUCTURE) {
        structure_damaged(sim, target.index, amount, cause_net_id);
        return entity->part.health;
    }
    if (!entity_is_character(entity) || entity->character.health <= 0) {
        return 0;
    }
    Character *character = &entity->character;
    character->health = math_clamp(character->health - amount, 0, sim->config.character.health_max);
    sim_emit(sim, (SimEvent){.type = SIM_EVENT_DAMAGED,
                             .subject = entity->net_id,
                             .other = cause_net_id,
                             .position = entity->position,
                             .value = amount});
    if (character->health <= 0) {
        character->grounded = false;
        character->climbing = false;
        character->platform = HANDLE_NONE;
        character->ground_net_id = 0;
        sim_emit(sim, (SimEvent){.type = SIM_EVENT_DIED,
                                 .subject = entity->net_id,
                                 .other = cause_net_id,
                                 .position = entity->position});
    }
    return character->health;
}

// Teleports a character: nothing carries over from its old place.
static void character_teleport(Sim *sim, uint32_t slot, Vec3 position)
{
    Entity *entity = sim_at(sim, slot);
    entity->position = sim_free_position(sim, position);
    entity->character.grounded = false;
    entity->character.climbing = false;
    entity->character.platform = HANDLE_NONE;
    entity->character.ground_net_id = 0;
    entity->character.push = VEC3_ZERO;
    if (sim->history != NULL && entity->character.history_slot != 0) {
        history_break(sim->history, entity->character.history_slot);
    }
    sim_place(sim, slot);
}

Status sim_revive(Sim *sim, Handle character, Vec3 position)
{
    Entity *entity = pool_find(&sim->entities, character);
    if (entity == NULL || !entity_is_character(entity)) {
        return STATUS_NOT_FOUND;
    }
    if (!position_is_sane(position)) {
        return STATUS_RANGE;
    }
    entity->character.health = sim->config.character.health_max;
    entity->velocity = VEC3_ZERO;
    character_teleport(sim, character.index, position);
    return STATUS_OK;
}

// --- shapes -------------------------------------------------------------------------------------

void sim_shape_place(Sim *sim, uint32_t slot, Pose pose)
{
    Entity *entity = sim_at(sim, slot);
    entity->position = pose.position;
    entity->rotation = pose.rotation;
    entity->part.placed = shape_place(entity->part.shape, pose);
    sim_place(sim, slot);
}

// Teleports a shape between two steps: it does not sweep anything on its way there.
static void shape_teleport(Sim *sim, uint32_t slot, Pose pose)
{
    Part *part = &sim_at(sim, slot)->part;
    part->motion.count = 0;
    part->rest = pose;
    part->pose_previous = pose;
    part->moving = false;
    sim_shape_place(sim, slot, pose);
    sim->geometry_changed = true;
}

static Status spawn_shape(Sim *sim, EntityType type, const ShapeDesc *desc, Handle *out)
{
    const Status checked = part_desc_check(&desc->part);
    if (checked != STATUS_OK) {
        return checked;
    }
    uint32_t slot = 0;
    const Status status = sim_acquire(sim, type, desc->net_id, desc->owner_id, &slot);
    if (status != STATUS_OK) {
        return status;
    }
    Part *part = &sim_at(sim, slot)->part;
    part->shape = shape_tidy(desc->part.shape);
    part->data = desc->part.data;
    if (type == ENTITY_PROP) {
        part->data.flags |= PART_GHOST;
    }
    shape_teleport(sim, slot, desc->part.pose);
    *out = pool_handle(&sim->entities, slot);
    return STATUS_OK;
}

Status sim_spawn_part(Sim *sim, const ShapeDesc *desc, Handle *out)
{
    return spawn_shape(sim, ENTITY_PART, desc, out);
}

Status sim_spawn_prop(Sim *sim, const ShapeDesc *desc, Handle *out)
{
    return spawn_shape(sim, ENTITY_PROP, desc, out);
}

bool sim_part_is_hidden(const Sim *sim, uint32_t scene_index)
{
    return (sim->hidden[scene_index / 64] >> (scene_index % 64) & 1) != 0;
}

uint32_t sim_next_hidden(const Sim *sim, uint32_t scene_index)
{
    const uint32_t count = sim->scene == NULL ? 0 : scene_part_count(sim->scene);
    uint64_t above = ~0ull << (scene_index % 64);
    for (uint32_t word = scene_index / 64; word < (count + 63) / 64; word++, above = ~0ull) {
        const uint64_t bits = sim->hidden[word] & above;
        if (bits != 0) {
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
        }
    }
    return UINT32_MAX;
}

static void set_hidden(Sim *sim, uint32_t scene_index, bool hidden)
{
    const uint64_t bit = 1ull << (scene_index % 64);
    if (sim_part_is_hidden(sim, scene_index) == hidden) {
        return;
    }
    sim->hidden[scene_index / 64] ^= bit;
    sim->hidden_count += hidden ? 1 : (uint32_t)-1;
}

Status sim_hide_part(Sim *sim, uint64_t net_id)
{
    if (!net_id_is_anchored(sim, net_id) || sim_part_is_hidden(sim, (uint32_t)net_id - 1)) {
        return STATUS_NOT_FOUND;
    }
    set_hidden(sim, (uint32_t)net_id - 1, true);
    sim->geometry_changed = true;
    return STATUS_OK;
}

Status sim_thaw_part(Sim *sim, uint64_t net_id, Handle *out)
{
    const Status status = sim_hide_part(sim, net_id);
    if (status != STATUS_OK) {
        return status;
    }
    const ScenePart *part = scene_part(sim->scene, (uint32_t)net_id - 1);
    const ShapeDesc desc = {.net_id = net_id, .part = part->desc};
    Handle thawed = HANDLE_NONE;
    const Status spawned = sim_spawn_part(sim, &desc, &thawed);
    if (spawned != STATUS_OK) {
        set_hidden(sim, (uint32_t)net_id - 1, false);
        return spawned;
    }
    // A character that stands on it rides along from its first tick.
    for (uint32_t i = sim_next_character(sim, 1); i != 0; i = sim_next_character(sim, i + 1)) {
        Character *character = &sim_at(sim, i)->character;
        if (character->grounded && character->ground_net_id == net_id) {
            character->platform = thawed;
        }
    }
    *out = thawed;
    return STATUS_OK;
}

Status sim_set_part_data(Sim *sim, Handle shape, const PartData *data)
{
    Entity *entity = pool_find(&sim->entities, shape);
    if (entity == NULL || !entity_has_shape(entity) || entity->type == ENTITY_STRUCTURE) {
        return STATUS_NOT_FOUND;
    }
    const Status status = part_data_check(data);
    if (status != STATUS_OK) {
        return status;
    }
    entity->part.data = *data;
    if (entity->type == ENTITY_PROP) {
        entity->part.data.flags |= PART_GHOST;
    }
    sim->geometry_changed = true; // it may block now
    return STATUS_OK;
}

Status sim_move_part(Sim *sim, Handle part, const MotionSegment *segment)
{
    Entity *entity = pool_find(&sim->entities, part);
    if (entity == NULL || !entity_has_shape(entity) || entity->type == ENTITY_STRUCTURE) {
        return STATUS_NOT_FOUND;
    }
    Part *changed = &entity->part;
    if (!sim->config.authority && changed->motion.count == MOTION_SEGMENTS_MAX) {
        // Segments kept for replays are dropped if room is needed.
        motion_forget(&changed->motion, &changed->rest, sim->tick, sim->tick_seconds);
    }
    return motion_append(&changed->motion, segment, vec3_length(changed->shape.half), sim->tick);
}

static Entity *find_mover(const Sim *sim, Handle part)
{
    Entity *entity = pool_find(&sim->entities, part);
    const bool moves =
        entity != NULL && entity_has_shape(entity) && entity->type != ENTITY_STRUCTURE;
    return moves ? entity : NULL;
}

// Sets a new motion from the present pose on. The last step's movement stays swept by that step.
static void take_motion(Entity *entity, const Motion *motion, Vec3 velocity)
{
    entity->part.rest = (Pose){entity->position, entity->rotation};
    entity->part.motion = *motion;
    entity->velocity = velocity;
}

Status sim_stop_part(Sim *sim, Handle part)
{
    Entity *entity = find_mover(sim, part);
    if (entity == NULL) {
        return STATUS_NOT_FOUND;
    }
    take_motion(entity, &(Motion){0}, VEC3_ZERO);
    return STATUS_OK;
}

Status sim_glide_part(Sim *sim, Handle part, Pose target, uint64_t ticks)
{
    Entity *entity = find_mover(sim, part);
    if (entity == NULL) {
        return STATUS_NOT_FOUND;
    }
    if (!position_is_sane(target.position)) {
        return STATUS_RANGE;
    }
    Motion motion;
    const Status status =
        motion_glide(&motion, (Pose){entity->position, entity->rotation}, target,
                     vec3_length(entity->part.shape.half), sim->tick, ticks, sim->tick_seconds);
    if (status == STATUS_OK) {
        take_motion(entity, &motion, motion.segments[0].velocity);
    }
    return status;
}

Status sim_drift_part(Sim *sim, Handle part, Vec3 velocity)
{
    Entity *entity = find_mover(sim, part);
    if (entity == NULL) {
        return STATUS_NOT_FOUND;
    }
    const float speed = vec3_length(velocity);
    if (!(speed <= MOTION_SPEED_MAX)) {
        return STATUS_RANGE;
    }
    Motion motion = {0};
    if (speed > 0) {
        // Segments are checked as if they ran at the lower tick rate.
        const float room = 2 * (float)WORLD_EXTENT_M - vec3_length(entity->position);
        const float ticks = math_clamp(room / speed * (float)TICK_RATE_LOW, 1, MOTION_TICKS_MAX);
        const MotionSegment way = {.pose = {entity->position, entity->rotation},
                                   .velocity = velocity,
                                   .tick_from = sim->tick,
                                   .tick_to = sim->tick + (uint64_t)ticks};
        const Status status =
            motion_append(&motion, &way, vec3_length(entity->part.shape.half), sim->tick);
        if (status != STATUS_OK) {
            return status;
        }
    }
    take_motion(entity, &motion, velocity);
    return STATUS_OK;
}

// --- changes that scripts make ------------------------------------------------------------------

void sim_remove(Sim *sim, Handle entity)
{
    Entity *found = pool_find(&sim->entities, entity);
    if (found != NULL) {
        found->removing = true;
    }
}

Status sim_set_position(Sim *sim, Handle handle, Vec3 position)
{
    Entity *entity = pool_find(&sim->entities, handle);
    if (entity == NULL || entity->type == ENTITY_STRUCTURE) {
        return STATUS_NOT_FOUND;
    }
    if (!position_is_sane(position)) {
        return STATUS_RANGE;
    }
    if (entity_is_character(entity)) {
        character_teleport(sim, handle.index, position);
    } else if (entity_has_shape(entity)) {
        shape_teleport(sim, handle.index, (Pose){position, entity->rotation});
    } else {
        entity->position = position;
        sim_place(sim, handle.index);
    }
    return STATUS_OK;
}

Vec3 sim_eye(const Sim *sim, const Entity *character)
{
    const float height = sim->config.character.height;
    return vec3_add(character->position, vec3(0, height * NPC_EYE_FRACTION, 0));
}

Status sim_set_velocity(Sim *sim, Handle handle, Vec3 velocity)
{
    Entity *entity = pool_find(&sim->entities, handle);
    if (entity == NULL || entity_has_shape(entity)) {
        return STATUS_NOT_FOUND;
    }
    if (!vec3_is_finite(velocity) || !(vec3_length(velocity) <= PROJECTILE_SPEED_MAX)) {
        return STATUS_RANGE;
    }
    entity->velocity = velocity;
    if (entity_is_character(entity)) {
        const float speed = vec3_length(velocity);
        if (speed > CHARACTER_SPEED_MAX) {
            entity->velocity = vec3_scale(velocity, CHARACTER_SPEED_MAX / speed);
        }
        if (velocity.y > 0) {
            entity->character.grounded = false;
        }
    }
    return STATUS_OK;
}

// What was on its way along one segment goes on from where it is now.
static void go_on(Sim *sim, Entity *entity, const Motion *before)
{
    if (before->count != 1 || before->segments[0].tick_from > sim->tick ||
        before->segments[0].tick_to <= sim->tick) {
        return;
    }
    MotionSegment way = before->segments[0];
    way.pose = (Pose){entity->position, entity->rotation};
    way.tick_from = sim->tick;
    Motion motion = {0};
    if (motion_append(&motion, &way, vec3_length(entity->part.shape.half), sim->tick) ==
        STATUS_OK) {
        take_motion(entity, &motion, way.velocity);
    }
}

Status sim_set_rotation(Sim *sim, Handle shape, Quat rotation)
{
    Entity *entity = pool_find(&sim->entities, shape);
    const bool is_character = entity != NULL && entity_is_character(entity);
    if (entity == NULL || entity->type == ENTITY_STRUCTURE ||
        (!is_character && !entity_has_shape(entity))) {
        return STATUS_NOT_FOUND;
    }
    if (!quat_is_finite(rotation)) {
        return STATUS_RANGE;
    }
    if (is_character) { // it stands upright: only where it looks changes
        const Vec3 forward = quat_rotate(quat_normalise(rotation), vec3(0, 0, 1));
        if (forward.x != 0 || forward.z != 0) {
            entity->character.input.yaw = math_wrap_angle(math_atan2(forward.x, forward.z));
        }
        return STATUS_OK;
    }
    const Motion before = entity->part.motion;
    shape_teleport(sim, shape.index, (Pose){entity->position, quat_normalise(rotation)});
    go_on(sim, entity, &before);
    return STATUS_OK;
}
