// Finding and pushing apart overlapping characters. The cells are built anew in every step, from
// the slots in order, so neither the pairs nor their order depend on anything but this tick's
// positions. Cells are as wide as a push reaches: a character meets its own cell and the half of
// the eight around it that comes later, and so each pair once.
#include "core/sim/push.h"

#include "core/sim/sim_internal.h"

// In one cell; in a denser crowd everybody is still pushed by somebody.
#define NEIGHBOURS_MAX 32

typedef struct PushEntry {
    Vec3 position;
    uint32_t slot;
    int32_t x, z;  // cell
    uint32_t next; // in the bucket, 1 + index; 0 ends
} PushEntry;

struct PushCells {
    PushEntry *entries;
    uint32_t *heads; // 1 + index; 0 is empty
    uint32_t entry_max;
    uint32_t mask;
};

static uint32_t bucket_count(uint32_t character_max)
{
    uint32_t count = 16;
    while (count < character_max) {
        count *= 2;
    }
    return count;
}

size_t push_bytes(uint32_t character_max)
{
    return arena_need(sizeof(PushCells)) + arena_need((size_t)character_max * sizeof(PushEntry)) +
           arena_need((size_t)bucket_count(character_max) * sizeof(uint32_t));
}

Status push_init(Arena *arena, uint32_t character_max, PushCells **out)
{
    PushCells *cells = arena_alloc(arena, sizeof *cells);
    PushEntry *entries = arena_array(arena, character_max, sizeof(PushEntry));
    uint32_t *heads = arena_array(arena, bucket_count(character_max), sizeof(uint32_t));
    if (cells == NULL || entries == NULL || heads == NULL) {
        return STATUS_LIMIT;
    }
    *cells = (PushCells){.entries = entries,
                         .heads = heads,
                         .entry_max = character_max,
                         .mask = bucket_count(character_max) - 1};
    *out = cells;
    return STATUS_OK;
}

static uint32_t *bucket(const PushCells *cells, int32_t x, int32_t z)
{
    const uint32_t mixed = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)z * 0x85ebca77u;
    return &cells->heads[(mixed ^ mixed >> 15) & cells->mask];
}

static void push_apart(const CharacterTuning *tuning, Entity *a, Entity *b)
{
    const float reach = 2 * tuning->radius;
    const float dx = a->position.x - b->position.x;
    const float dz = a->position.z - b->position.z;
    const float distance = math_sqrt(dx * dx + dz * dz);
    // Exactly on top of each other: the lower net id goes towards +x.
    Vec3 away = {a->net_id < b->net_id ? 1.0f : -1.0f, 0, 0};
    if (distance > 1e-4f) {
        away = vec3(dx / distance, 0, dz / distance);
    }
    const float speed = tuning->push_speed * (1 - distance / reach);
    a->character.push = vec3_mad(a->character.push, away, speed);
    b->character.push = vec3_mad(b->character.push, away, -speed);
}

static void push_cell(Sim *sim, const PushEntry *entry, uint32_t from, int32_t x, int32_t z)
{
    const CharacterTuning *tuning = &sim->config.character;
    const float reach = 2 * tuning->radius;
    const PushCells *cells = sim->push_cells;
    uint32_t met = 0;
    for (uint32_t at = from; at != 0; at = cells->entries[at - 1].next) {
        const PushEntry *other = &cells->entries[at - 1];
        if (other->x != x || other->z != z) {
            continue; // another cell in the same bucket
        }
        met += 1;
        if (met > NEIGHBOURS_MAX) {
            sim->counters.query_overflow += 1;
            return;
        }
        const Vec3 d = vec3_sub(entry->position, other->position);
        if (d.x * d.x + d.z * d.z < reach * reach && math_abs(d.y) < tuning->height) {
            push_apart(tuning, sim_at(sim, entry->slot), sim_at(sim, other->slot));
        }
    }
}

static uint32_t fill_cells(Sim *sim)
{
    PushCells *cells = sim->push_cells;
    const float inverse = 1 / (2 * sim->config.character.radius);
    uint32_t count = 0;
    for (uint32_t i = 0; i <= cells->mask; i++) {
        cells->heads[i] = 0;
    }
    for (uint32_t slot = sim_next_character(sim, 1); slot != 0;
         slot = sim_next_character(sim, slot + 1)) {
        const Entity *entity = sim_at(sim, slot);
        if (entity->character.health <= 0) {
            continue;
        }
        ASSERT(count < cells->entry_max);
        PushEntry *entry = &cells->entries[count++];
        *entry = (PushEntry){entity->position, slot, math_floor_i32(entity->position.x * inverse),
                             math_floor_i32(entity->position.z * inverse), 0};
        uint32_t *head = bucket(cells, entry->x, entry->z);
        entry->next = *head;
        *head = count;
    }
    return count;
}

// A crowd does not push harder than one neighbour.
static void limit_push(Sim *sim, uint32_t slot)
{
    Vec3 *push = &sim_at(sim, slot)->character.push;
    const float squared = vec3_length_squared(*push);
    const float most = sim->config.character.push_speed;
    if (squared > most * most) {
        *push = vec3_scale(*push, most / math_sqrt(squared));
    }
}

void push_step(Sim *sim)
{
    PushCells *cells = sim->push_cells;
    if (cells == NULL) {
        return;
    }
    const uint32_t count = fill_cells(sim);
    for (uint32_t i = 0; i < count; i++) {
        const PushEntry *entry = &cells->entries[i];
        const int32_t x = entry->x;
        const int32_t z = entry->z;
        push_cell(sim, entry, entry->next, x, z);
        push_cell(sim, entry, *bucket(cells, x + 1, z), x + 1, z);
        push_cell(sim, entry, *bucket(cells, x - 1, z + 1), x - 1, z + 1);
        push_cell(sim, entry, *bucket(cells, x, z + 1), x, z + 1);
        push_cell(sim, entry, *bucket(cells, x + 1, z + 1), x + 1, z + 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        limit_push(sim, cells->entries[i].slot);
    }
}
