// See puppet.h. Nothing here keeps state of its own: a puppet is an entity with one bit, and where
// a moving part is at a tick follows from its segments alone.
#include "core/sim/puppet.h"

#include "core/sim/sim_internal.h"

static bool place_is_sane(Vec3 position, Vec3 velocity)
{
    // Written so that a NaN fails every comparison.
    return vec3_length(position) <= 2 * (float)WORLD_EXTENT_M &&
           vec3_length(velocity) <= 2 * PROJECTILE_SPEED_MAX;
}

static bool desc_is_sane(const PuppetDesc *desc)
{
    const bool has_radius = desc->type == ENTITY_PROJECTILE;
    return place_is_sane(desc->position, desc->velocity) && math_is_finite(desc->yaw) &&
           (!has_radius || (desc->radius >= 0 && desc->radius <= PROJECTILE_RADIUS_MAX));
}

Status puppet_spawn(Sim *sim, const PuppetDesc *desc, Handle *out)
{
    const bool is_character = desc->type == ENTITY_PLAYER || desc->type == ENTITY_NPC;
    if (sim->config.authority) {
        return STATUS_DENIED;
    }
    if ((!is_character && desc->type != ENTITY_PROJECTILE) || !desc_is_sane(desc)) {
        return STATUS_RANGE;
    }
    if (is_character && sim->type_counts[ENTITY_PLAYER] + sim->type_counts[ENTITY_NPC] >=
                            sim->config.character_max) {
        return STATUS_LIMIT;
    }
    uint32_t slot = 0;
    const Status status = sim_acquire(sim, desc->type, desc->net_id, desc->owner_id, &slot);
    if (status != STATUS_OK) {
        return status;
    }
    Entity *entity = sim_at(sim, slot);
    entity->puppet = true;
    entity->position = desc->position;
    entity->velocity = desc->velocity;
    if (is_character) {
        sim_character_init(sim, slot, desc->position, desc->yaw);
    } else {
        entity->projectile = (Projectile){.radius = desc->radius, .kind = desc->kind};
        sim_place(sim, slot);
    }
    *out = pool_handle(&sim->entities, slot);
    return STATUS_OK;
}

static Entity *find_puppet(const Sim *sim, Handle handle)
{
    Entity *entity = pool_find(&sim->entities, handle);
    return entity != NULL && entity->puppet ? entity : NULL;
}

void puppet_pose(Sim *sim, Handle puppet, Vec3 position, Vec3 velocity, float yaw, float pitch)
{
    Entity *entity = find_puppet(sim, puppet);
    if (entity == NULL || !place_is_sane(position, velocity)) {
        return;
    }
    entity->position = position;
    entity->velocity = velocity;
    if (entity_is_character(entity) && math_is_finite(yaw) && math_is_finite(pitch)) {
        entity->character.input.yaw = math_wrap_angle(yaw);
        entity->character.input.pitch = math_clamp(pitch, -MATH_PI / 2, MATH_PI / 2);
    }
    sim_place(sim, puppet.index);
}

void puppet_set_health(Sim *sim, Handle puppet, float health)
{
    Entity *entity = pool_find(&sim->entities, puppet);
    if (entity == NULL || sim->config.authority || !math_is_finite(health)) {
        return;
    }
    if (entity->type == ENTITY_STRUCTURE) {
        const float full = scene_piece(sim->scene, entity->part.piece)->health;
        entity->part.health = math_clamp(health, 0, full);
    } else if (entity->puppet && entity_is_character(entity)) {
        entity->character.health = math_clamp(health, 0, sim->config.character.health_max);
    }
}

void sim_remove_now(Sim *sim, Handle handle)
{
    ASSERT(!sim->config.authority);
    const Entity *entity = pool_find(&sim->entities, handle);
    if (entity == NULL) {
        return;
    }
    sim->geometry_changed = sim->geometry_changed || entity_has_shape(entity);
    sim_release(sim, handle.index);
}

// --- the tick -----------------------------------------------------------------------------------

static bool pose_equal(Pose a, Pose b)
{
    return vec3_equal(a.position, b.position) && a.rotation.x == b.rotation.x &&
           a.rotation.y == b.rotation.y && a.rotation.z == b.rotation.z &&
           a.rotation.w == b.rotation.w;
}

// Puts a part where its segments say it is at this tick, as if the step to it had just been made.
static void pose_part(Sim *sim, uint32_t slot)
{
    Entity *entity = sim_at(sim, slot);
    Part *part = &entity->part;
    const uint64_t before = sim->tick != 0 ? sim->tick - 1 : 0;
    const Pose from = motion_pose(&part->motion, part->rest, before, sim->tick_seconds);
    const Pose to = motion_pose(&part->motion, part->rest, sim->tick, sim->tick_seconds);
    const bool jumps = sim_part_jumps(part, from, to);
    part->pose_previous = jumps ? to : from;
    part->moving = !jumps && !pose_equal(from, to);
    entity->velocity = part->moving ? vec3_scale(vec3_sub(to.position, from.position),
                                                 (float)sim->config.tick_rate)
                                    : VEC3_ZERO;
    sim_shape_place(sim, slot, to);
}

void sim_set_tick(Sim *sim, uint64_t tick)
{
    ASSERT(!sim->config.authority);
    sim->tick = tick;
    bool any = false;
    const EntityType types[] = {ENTITY_PART, ENTITY_PROP};
    for (uint32_t t = 0; t < 2; t++) {
        for (uint32_t i = sim_next_slot(sim, types[t], 1); i != 0;
             i = sim_next_slot(sim, types[t], i + 1)) {
            const Part *part = &sim_at(sim, i)->part;
            if (part->motion.count != 0 || part->moving) {
                pose_part(sim, i);
                any = true;
            }
        }
    }
    // Without a motion there is nothing to keep: a new session may begin at a lower tick.
    sim->tick_latest = !any || tick > sim->tick_latest ? tick : sim->tick_latest;
}

// The last tick at which the previous motion was where the new one rests, if there was one
// recently: there it was stopped, or its end was dropped.
static bool find_rest(const Part *part, Pose rest, uint64_t now, float tick_seconds, uint64_t *at)
{
    for (uint64_t back = 0; back <= MOTION_KEEP_TICKS && back <= now; back++) {
        const uint64_t tick = now - back;
        if (pose_equal(motion_pose(&part->motion, part->rest, tick, tick_seconds), rest)) {
            *at = tick;
            return true;
        }
    }
    return false;
}

// The part of the previous motion that came before the new one, unless a jump replaced it.
static Motion past_of(const Part *part, Pose rest, const Motion *next, uint64_t now,
                      float tick_seconds)
{
    Motion past = {.count = 0};
    uint64_t end = next->count != 0 ? next->segments[0].tick_from : UINT64_MAX;
    uint64_t rested = 0;
    const bool begins_later = next->count == 0 || end > now;
    if (begins_later) {
        if (!find_rest(part, rest, now, tick_seconds, &rested)) {
            return past; // it was teleported: as if it had always been there
        }
        end = rested < end ? rested : end;
    }
    for (uint32_t i = 0; i < part->motion.count && part->motion.segments[i].tick_from < end; i++) {
        MotionSegment segment = part->motion.segments[i];
        segment.tick_to = segment.tick_to < end ? segment.tick_to : end;
        past.segments[past.count++] = segment;
    }
    return past;
}

static Status check_motion(const Part *part, const Motion *motion)
{
    Motion checked = {.count = 0};
    if (motion->count > MOTION_SEGMENTS_MAX) {
        return STATUS_RANGE;
    }
    for (uint32_t i = 0; i < motion->count; i++) {
        const Status status =
            motion_append(&checked, &motion->segments[i], vec3_length(part->shape.half), 0);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

Status sim_replace_motion(Sim *sim, Handle handle, Pose rest, const Motion *motion)
{
    Entity *entity = pool_find(&sim->entities, handle);
    if (sim->config.authority) {
        return STATUS_DENIED;
    }
    if (entity == NULL || (entity->type != ENTITY_PART && entity->type != ENTITY_PROP)) {
        return STATUS_NOT_FOUND;
    }
    Part *part = &entity->part;
    const PartDesc desc = {part->shape, rest, part->data};
    Status status = part_desc_check(&desc);
    if (status == STATUS_OK) {
        status = check_motion(part, motion);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const Motion past = past_of(part, rest, motion, sim->tick, sim->tick_seconds);
    const uint32_t room = MOTION_SEGMENTS_MAX - motion->count;
    const uint32_t skipped = past.count > room ? past.count - room : 0;
    if (skipped != 0) {
        const MotionSegment *last = &past.segments[skipped - 1];
        part->rest = motion_segment_pose(last, last->tick_to, sim->tick_seconds);
    } else if (past.count == 0) {
        part->rest = rest;
    }
    Motion joined = {.count = 0};
    for (uint32_t i = skipped; i < past.count; i++) {
        joined.segments[joined.count++] = past.segments[i];
    }
    for (uint32_t i = 0; i < motion->count; i++) {
        joined.segments[joined.count++] = motion->segments[i];
    }
    part->motion = joined;
    const Pose before = {entity->position, entity->rotation};
    pose_part(sim, handle.index);
    const Pose now = {entity->position, entity->rotation};
    sim->geometry_changed = sim->geometry_changed || !pose_equal(before, now);
    return STATUS_OK;
}

void sim_show_part(Sim *sim, uint64_t net_id)
{
    ASSERT(!sim->config.authority);
    if (sim->scene == NULL || net_id < 1 || net_id > scene_part_count(sim->scene) ||
        !sim_part_is_hidden(sim, (uint32_t)net_id - 1)) {
        return;
    }
    ASSERT(handle_is_none(sim_find(sim, net_id)));
    const uint32_t index = (uint32_t)net_id - 1;
    sim->hidden[index / 64] &= ~(1ull << (index % 64));
    sim->hidden_count -= 1;
    sim->geometry_changed = true;
}

// --- for servers --------------------------------------------------------------------------------

uint64_t sim_next_net_id(const Sim *sim)
{
    return sim->next_net_id;
}

void sim_raise_next_net_id(Sim *sim, uint64_t next)
{
    ASSERT(next <= SIM_NET_ID_MAX);
    sim->next_net_id = next > sim->next_net_id ? next : sim->next_net_id;
}

void sim_set_hit_filter(Sim *sim, SimHitFilter filter, void *user)
{
    sim->hit_filter = filter;
    sim->hit_filter_user = user;
}
