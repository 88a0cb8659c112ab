// The soft push: characters do not block each other, but overlapping ones drift apart. Only the
// server decides it; clients see its effect as part of the state they are sent.
#include "core/sim/sim_internal.h"

#define NEIGHBOURS_MAX 64

static void push_apart(Sim *sim, Entity *a, Entity *b)
{
    const CharacterTuning *tuning = &sim->config.character;
    const float reach = 2 * tuning->radius;
    if (math_abs(a->position.y - b->position.y) >= tuning->height) {
        return;
    }
    const float dx = a->position.x - b->position.x;
    const float dz = a->position.z - b->position.z;
    const float squared = dx * dx + dz * dz;
    if (squared >= reach * reach) {
        return;
    }
    const float distance = math_sqrt(squared);
    // Exactly on top of each other: the lower net id goes towards +x.
    Vec3 away = {a->net_id < b->net_id ? 1.0f : -1.0f, 0, 0};
    if (distance > 1e-4f) {
        away = vec3(dx / distance, 0, dz / distance);
    }
    const float speed = tuning->push_speed * (1 - distance / reach);
    a->character.push = vec3_mad(a->character.push, away, speed);
    b->character.push = vec3_mad(b->character.push, away, -speed);
}

static void push_neighbours(Sim *sim, uint32_t slot)
{
    Entity *entity = sim_at(sim, slot);
    if (entity->character.health <= 0) {
        return;
    }
    const Aabb around = capsule_bounds(sim_capsule(sim, entity->position));
    uint32_t found[NEIGHBOURS_MAX];
    uint32_t count = grid_query(&sim->grid, around, found, NEIGHBOURS_MAX);
    if (count > NEIGHBOURS_MAX) {
        sim->counters.query_overflow += 1;
        count = NEIGHBOURS_MAX;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (found[i] <= slot) {
            continue; // each pair once
        }
        Entity *other = sim_at(sim, found[i]);
        if (entity_is_character(other) && other->character.health > 0) {
            push_apart(sim, entity, other);
        }
    }
}

// A crowd pushes no harder than one neighbour could.
static void limit_push(Sim *sim, uint32_t slot)
{
    Vec3 *push = &sim_at(sim, slot)->character.push;
    const float size = vec3_length(*push);
    const float most = sim->config.character.push_speed;
    if (size > most) {
        *push = vec3_scale(*push, most / size);
    }
}

void push_step(Sim *sim)
{
    if (!sim->config.authority) {
        return;
    }
    for (uint32_t i = sim_next_character(sim, 1); i != 0; i = sim_next_character(sim, i + 1)) {
        push_neighbours(sim, i);
    }
    for (uint32_t i = sim_next_character(sim, 1); i != 0; i = sim_next_character(sim, i + 1)) {
        limit_push(sim, i);
    }
}
