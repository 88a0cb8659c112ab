// The rings of history.h. All lines are written in the same tick, so one ring index, tick modulo
// HISTORY_TICKS, serves them all, and the positions of a tick lie side by side: recording writes
// memory in order, and the shots of a tick, which look mostly at the same past tick, read it in
// order too.
//
// For the broad phase each tick keeps the longest way that a character went in it. A teleport, or a
// character fast enough to widen every query, is left out of that maximum and marked in the line's
// far_mask instead; as long as such an entry is in the ring, the character is in the far list.
#include "core/sim/history.h"

#include "core/base/check.h"
#include "core/sim/sim_internal.h"

#include <string.h>

#define RING_MASK ((1u << HISTORY_TICKS) - 1)
_Static_assert(HISTORY_TICKS < 32, "a bit of a mask for each entry");
_Static_assert(HISTORY_REWIND_MS *TICK_RATE_DEFAULT / 1000 + 1 < HISTORY_TICKS,
               "the ring holds the whole window at the highest tick rate");

typedef struct HistoryLine {
    uint64_t tick_first;  // its first entry, if `recorded`
    uint32_t entity_slot; // whose line it is, if `recorded`
    uint32_t broken_mask; // by ring index: this entry does not continue the one before
    uint32_t far_mask;    // by ring index: too far from the one before for the broad phase
    bool used;
    bool recorded;     // has an entry
    bool break_before; // a teleport since the last entry
} HistoryLine;

struct History {
    HistoryLine *lines; // by slot
    Vec3 *positions;    // [ring index][slot]
    uint32_t *far;      // entity slots
    uint32_t far_count;
    uint32_t slot_count;
    uint32_t free_from; // no free slot below this one
    bool started;       // `tick` means something
    uint64_t tick;      // of the newest entries
    // Derived from the positions: not saved, not hashed.
    float moved[HISTORY_TICKS];     // by ring index: the longest way since the tick before
    float reach[HISTORY_TICKS + 1]; // by number of ticks back: the sum of those ways
};

static uint32_t ring_index(uint64_t tick)
{
    return (uint32_t)(tick % HISTORY_TICKS);
}

static Vec3 *entry_at(const History *history, uint64_t tick, uint32_t slot)
{
    return &history->positions[(size_t)ring_index(tick) * history->slot_count + slot];
}

static uint64_t tick_oldest(const History *history, const HistoryLine *line)
{
    const uint64_t kept =
        history->tick >= HISTORY_TICKS - 1 ? history->tick - (HISTORY_TICKS - 1) : 0;
    return line->tick_first > kept ? line->tick_first : kept;
}

size_t history_bytes(uint32_t character_max)
{
    const size_t slot_count = (size_t)character_max + 1;
    return arena_need(sizeof(History)) + arena_need(slot_count * sizeof(HistoryLine)) +
           arena_need(slot_count * HISTORY_TICKS * sizeof(Vec3)) +
           arena_need(slot_count * sizeof(uint32_t));
}

Status history_init(Arena *arena, uint32_t character_max, History **out)
{
    ASSERT(character_max <= WORLD_ENTITIES_MAX);
    const size_t mark = arena_mark(arena);
    const size_t slot_count = (size_t)character_max + 1;
    History *history = arena_alloc(arena, sizeof *history);
    HistoryLine *lines = arena_array(arena, slot_count, sizeof(HistoryLine));
    Vec3 *positions = arena_array(arena, slot_count * HISTORY_TICKS, sizeof(Vec3));
    uint32_t *far = arena_array(arena, slot_count, sizeof(uint32_t));
    if (history == NULL || lines == NULL || positions == NULL || far == NULL) {
        arena_rewind(arena, mark);
        return STATUS_LIMIT;
    }
    *history = (History){.lines = lines,
                         .positions = positions,
                         .far = far,
                         .slot_count = (uint32_t)slot_count,
                         .free_from = 1};
    *out = history;
    return STATUS_OK;
}

void history_clear(History *history)
{
    memset(history->lines, 0, history->slot_count * sizeof *history->lines);
    memset(history->moved, 0, sizeof history->moved);
    memset(history->reach, 0, sizeof history->reach);
    history->far_count = 0;
    history->free_from = 1;
    history->started = false;
    history->tick = 0;
}

uint32_t history_acquire(History *history)
{
    uint32_t slot = history->free_from;
    while (slot < history->slot_count && history->lines[slot].used) {
        slot += 1;
    }
    history->free_from = slot;
    if (slot == history->slot_count) {
        return 0;
    }
    history->lines[slot] = (HistoryLine){.used = true};
    return slot;
}

void history_release(History *history, uint32_t slot)
{
    ASSERT(slot < history->slot_count);
    if (slot == 0 || !history->lines[slot].used) {
        return;
    }
    history->lines[slot] = (HistoryLine){.used = false};
    if (slot < history->free_from) {
        history->free_from = slot;
    }
}

void history_break(History *history, uint32_t slot)
{
    ASSERT(slot < history->slot_count);
    if (history->lines[slot].recorded) {
        history->lines[slot].break_before = true;
    }
}

// Adds the entry of `tick`; returns the way from the entry before, 0 if they are not comparable.
static float record_line(History *history, uint32_t slot, uint64_t tick, Vec3 position,
                         float far_step)
{
    HistoryLine *line = &history->lines[slot];
    const uint32_t bit = 1u << ring_index(tick);
    float way = 0;
    line->broken_mask &= ~bit;
    line->far_mask &= ~bit;
    if (!line->recorded) {
        line->recorded = true;
        line->tick_first = tick;
    } else if (line->break_before) {
        line->broken_mask |= bit;
        line->far_mask |= bit;
    } else {
        way = vec3_length(vec3_sub(position, *entry_at(history, tick - 1, slot)));
        if (!(way <= far_step)) {
            line->far_mask |= bit;
            way = 0;
        }
    }
    line->break_before = false;
    *entry_at(history, tick, slot) = position;
    return way;
}

static void record_type(Sim *sim, EntityType type, float far_step, float *way_max)
{
    History *history = sim->history;
    for (uint32_t i = sim_next_slot(sim, type, 1); i != 0; i = sim_next_slot(sim, type, i + 1)) {
        const Entity *entity = sim_at(sim, i);
        const uint32_t slot = entity->character.history_slot;
        if (slot == 0 || slot >= history->slot_count || !history->lines[slot].used) {
            continue;
        }
        const float way = record_line(history, slot, sim->tick, entity->position, far_step);
        *way_max = math_max(*way_max, way);
        history->lines[slot].entity_slot = i;
        if (history->lines[slot].far_mask != 0 && history->far_count < history->slot_count) {
            history->far[history->far_count++] = i;
        }
    }
}

static void sum_reach(History *history)
{
    history->reach[0] = 0;
    for (uint32_t i = 0; i < HISTORY_TICKS; i++) {
        // The entry `i` ticks ago says how far it is to the one `i + 1` ticks ago.
        const uint64_t ago = i <= history->tick ? i : history->tick;
        history->reach[i + 1] = history->reach[i] + history->moved[ring_index(history->tick - ago)];
    }
}

void history_record(Sim *sim)
{
    History *history = sim->history;
    if (history == NULL || (history->started && history->tick == sim->tick)) {
        return;
    }
    if (history->started && history->tick + 1 != sim->tick) {
        // Only an inconsistent restored state gets here: there is no past to continue.
        for (uint32_t slot = 1; slot < history->slot_count; slot++) {
            history->lines[slot] = (HistoryLine){.used = history->lines[slot].used};
        }
        memset(history->moved, 0, sizeof history->moved);
    }
    float way_max = 0;
    history->far_count = 0;
    const float far_step = HISTORY_FAR_SPEED * sim->tick_seconds;
    record_type(sim, ENTITY_PLAYER, far_step, &way_max);
    record_type(sim, ENTITY_NPC, far_step, &way_max);
    history->started = true;
    history->tick = sim->tick;
    history->moved[ring_index(sim->tick)] = way_max;
    sum_reach(history);
}

void history_step(Sim *sim)
{
    history_record(sim);
}

bool history_position(const History *history, uint32_t slot, uint64_t tick, Vec3 *out)
{
    return history_position_between(history, slot, tick, 0, out);
}

bool history_position_between(const History *history, uint32_t slot, uint64_t tick, float fraction,
                              Vec3 *out)
{
    if (slot == 0 || slot >= history->slot_count || !history->lines[slot].recorded) {
        return false;
    }
    const HistoryLine *line = &history->lines[slot];
    const uint64_t oldest = tick_oldest(history, line);
    if (tick < oldest) {
        *out = *entry_at(history, oldest, slot);
        return true;
    }
    if (tick >= history->tick) {
        *out = *entry_at(history, history->tick, slot);
        return true;
    }
    *out = *entry_at(history, tick, slot);
    if (fraction > 0 && (line->broken_mask >> ring_index(tick + 1) & 1) == 0) {
        *out = vec3_lerp(*out, *entry_at(history, tick + 1, slot), math_min(fraction, 1));
    }
    return true;
}

float history_reach(const History *history, uint32_t rewind_ticks)
{
    return history->reach[rewind_ticks < HISTORY_TICKS ? rewind_ticks : HISTORY_TICKS];
}

const uint32_t *history_far(const History *history, uint32_t *count)
{
    *count = history->far_count;
    return history->far;
}

// Takes the ways between the entries of a line that was read into the maxima of their ticks.
static void measure_line(History *history, uint32_t slot)
{
    const HistoryLine *line = &history->lines[slot];
    for (uint64_t tick = tick_oldest(history, line); tick < history->tick; tick++) {
        const uint32_t index = ring_index(tick + 1);
        if ((line->far_mask >> index & 1) == 0) {
            const Vec3 way =
                vec3_sub(*entry_at(history, tick + 1, slot), *entry_at(history, tick, slot));
            history->moved[index] = math_max(history->moved[index], vec3_length(way));
        }
    }
}

static void visit_line(History *history, uint32_t slot, StateIo *io)
{
    HistoryLine *line = &history->lines[slot];
    state_bool(io, &line->recorded);
    if (!line->recorded) {
        return;
    }
    // A first tick below the ring is the same as the oldest entry.
    uint64_t first = tick_oldest(history, line);
    state_u64(io, &first);
    state_bool(io, &line->break_before);
    state_u32(io, &line->entity_slot, WORLD_ENTITIES_MAX);
    state_u32(io, &line->broken_mask, RING_MASK);
    state_u32(io, &line->far_mask, RING_MASK);
    if (io->mode == STATE_READ) {
        line->tick_first = first;
        if (!history->started || first > history->tick || tick_oldest(history, line) != first) {
            state_fail(io, STATUS_RANGE);
            line->recorded = false;
            return;
        }
    }
    const uint64_t entry_count = history->tick - first + 1;
    ASSERT(entry_count >= 1 && entry_count <= HISTORY_TICKS);
    for (uint64_t i = 0; i < entry_count && state_ok(io); i++) {
        state_vec3(io, entry_at(history, first + i, slot));
    }
}

void history_visit(History *history, StateIo *io)
{
    if (io->mode == STATE_READ) {
        history_clear(history);
    }
    state_bool(io, &history->started);
    state_u64(io, &history->tick);
    for (uint32_t slot = 1; slot < history->slot_count && state_ok(io); slot++) {
        state_bool(io, &history->lines[slot].used);
        if (history->lines[slot].used) {
            visit_line(history, slot, io);
        }
    }
    if (io->mode != STATE_READ) {
        return;
    }
    if (!state_ok(io)) {
        history_clear(history);
        return;
    }
    for (uint32_t slot = 1; slot < history->slot_count; slot++) {
        if (history->lines[slot].recorded) {
            measure_line(history, slot);
            if (history->lines[slot].far_mask != 0) {
                history->far[history->far_count++] = history->lines[slot].entity_slot;
            }
        }
    }
    sum_reach(history);
}

bool history_belongs(const History *history, uint32_t slot, uint32_t entity_slot)
{
    if (slot == 0 || slot >= history->slot_count || !history->lines[slot].used) {
        return false;
    }
    const HistoryLine *line = &history->lines[slot];
    return !line->recorded || line->entity_slot == entity_slot;
}

uint32_t history_used_count(const History *history)
{
    uint32_t count = 0;
    for (uint32_t slot = 1; slot < history->slot_count; slot++) {
        count += history->lines[slot].used;
    }
    return count;
}
