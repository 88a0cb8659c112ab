// Entering and leaving zones; see trigger.h. For a zone that moves, the way is taken relative to
// it; its turning within one tick is not.
#include "core/sim/trigger.h"

#define TOUCH_M 0.02f // a trigger that blocks is entered by touching it

static void emit(Sim *sim, SimEventType type, uint64_t trigger, const Entity *character)
{
    sim_emit(sim, (SimEvent){.type = type,
                             .subject = trigger,
                             .other = character->net_id,
                             .position = character->position});
}

static bool remembers(const Character *character, uint64_t net_id)
{
    for (uint32_t i = 0; i < character->trigger_count; i++) {
        if (character->triggers[i] == net_id) {
            return true;
        }
    }
    return false;
}

static void remember(Character *character, uint64_t net_id)
{
    ASSERT(character->trigger_count < CHARACTER_TRIGGERS_MAX);
    uint32_t at = character->trigger_count++;
    while (at > 0 && character->triggers[at - 1] > net_id) {
        character->triggers[at] = character->triggers[at - 1];
        at -= 1;
    }
    character->triggers[at] = net_id;
}

static void forget_trigger(Character *character, uint64_t net_id)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < character->trigger_count; i++) {
        if (character->triggers[i] != net_id) {
            character->triggers[kept++] = character->triggers[i];
        }
    }
    character->trigger_count = (uint8_t)kept;
}

static bool is_inside(const Sim *sim, const ColliderPart *zone, Vec3 feet)
{
    const float margin = (zone->data->flags & PART_GHOST) != 0 ? 0 : TOUCH_M;
    return shape_capsule_contact(zone->placed, sim_capsule(sim, feet)).distance <= margin;
}

static bool was_crossed(const Sim *sim, const ColliderPart *zone, const MovePath *path)
{
    Vec3 drift = VEC3_ZERO;
    if (zone->moving) {
        const Entity *entity = sim_at(sim, zone->slot);
        drift = vec3_sub(entity->position, entity->part.pose_previous.position);
    }
    for (uint32_t i = 0; i + 1 < path->count; i++) {
        const float pieces = (float)(path->count - 1);
        const Vec3 from = vec3_mad(path->points[i], drift, 1 - (float)i / pieces);
        const Vec3 to = vec3_mad(path->points[i + 1], drift, 1 - (float)(i + 1) / pieces);
        ShapeHit hit;
        if (shape_sweep(zone->placed, sim_capsule(sim, from), vec3_sub(to, from), &hit)) {
            return true;
        }
    }
    return false;
}

// Zones that the character is recorded in but that are no longer near it.
static void leave_absent(Sim *sim, Entity *entity, const Colliders *colliders)
{
    Character *character = &entity->character;
    for (uint32_t i = character->trigger_count; i > 0; i--) {
        const uint64_t net_id = character->triggers[i - 1];
        bool present = false;
        for (uint32_t z = 0; z < colliders->zone_count && !present; z++) {
            present = colliders->zones[z].net_id == net_id &&
                      (colliders->zones[z].data->flags & PART_TRIGGER) != 0;
        }
        if (!present) {
            forget_trigger(character, net_id);
            emit(sim, SIM_EVENT_TRIGGER_LEFT, net_id, entity);
        }
    }
}

void trigger_update(Sim *sim, uint32_t slot, const MovePath *path, const Colliders *colliders)
{
    Entity *entity = sim_at(sim, slot);
    Character *character = &entity->character;
    if (character->health <= 0) {
        trigger_leave_all(sim, slot);
        return;
    }
    if (character->trigger_count != 0) {
        leave_absent(sim, entity, colliders);
    }
    for (uint32_t i = 0; i < colliders->zone_count; i++) {
        const ColliderPart *zone = &colliders->zones[i];
        if ((zone->data->flags & PART_TRIGGER) == 0) {
            continue;
        }
        const bool was = remembers(character, zone->net_id);
        const bool now = is_inside(sim, zone, entity->position);
        if (!was && now && character->trigger_count == CHARACTER_TRIGGERS_MAX) {
            sim->counters.triggers_dropped += 1; // or it would enter anew in every tick
        } else if (!was && (now || was_crossed(sim, zone, path))) {
            emit(sim, SIM_EVENT_TRIGGER_ENTERED, zone->net_id, entity);
            if (now) {
                remember(character, zone->net_id);
            } else {
                emit(sim, SIM_EVENT_TRIGGER_LEFT, zone->net_id, entity);
            }
        } else if (was && !now) {
            forget_trigger(character, zone->net_id);
            emit(sim, SIM_EVENT_TRIGGER_LEFT, zone->net_id, entity);
        }
    }
}

void trigger_leave_all(Sim *sim, uint32_t slot)
{
    Entity *entity = sim_at(sim, slot);
    Character *character = &entity->character;
    for (uint32_t i = 0; i < character->trigger_count; i++) {
        emit(sim, SIM_EVENT_TRIGGER_LEFT, character->triggers[i], entity);
    }
    character->trigger_count = 0;
}
