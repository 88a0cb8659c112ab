// What changed in this tick; see geometry.h. A part is identified by its final pose and its data;
// segments that have passed do not change these.
#include "core/world/replicate/geometry.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/sim/puppet.h"

#define NEW_ENTITIES_MAX 256 // new entities of one tick that are compared one by one

typedef struct KnownPart {
    uint64_t net_id; // 0: nothing
    uint64_t seen_tick;
    uint64_t signature;
    uint64_t tick_to; // of its last segment; 0: none
    Vec3 position;
} KnownPart;

Status geometry_create(Heap *heap, const Sim *sim, Geometry **out)
{
    Geometry *geometry = heap_alloc(heap, sizeof *geometry);
    if (geometry == NULL) {
        return STATUS_LIMIT;
    }
    const size_t slots = (size_t)sim_config(sim)->entity_max + 1;
    geometry->heap = heap;
    geometry->sim = sim;
    geometry->parts = heap_alloc(heap, heap_array_bytes(slots, sizeof(KnownPart)));
    geometry->terrain_edits = terrain_edit_count(sim_terrain_view(sim));
    geometry->next_net_id = sim_next_net_id(sim);
    if (geometry->parts == NULL) {
        geometry_destroy(geometry);
        return STATUS_LIMIT;
    }
    *out = geometry;
    return STATUS_OK;
}

void geometry_destroy(Geometry *geometry)
{
    if (geometry != NULL) {
        Heap *heap = geometry->heap;
        heap_free(heap, geometry->parts);
        heap_free(heap, geometry);
    }
}

static void changed_everywhere(Geometry *geometry)
{
    geometry->change_count = GEOMETRY_CHANGES_MAX;
}

static void changed_at(Geometry *geometry, Vec3 position)
{
    if (geometry->change_count < GEOMETRY_CHANGES_MAX) {
        geometry->changes[geometry->change_count++] = position;
    }
}

static KnownPart known_of(const Sim *sim, const Entity *entity)
{
    const Part *part = &entity->part;
    KnownPart known = {
        .net_id = entity->net_id, .seen_tick = sim_tick(sim), .position = entity->position};
    Pose end = part->rest;
    if (part->motion.count > 0) {
        const MotionSegment *last = &part->motion.segments[part->motion.count - 1];
        end = motion_segment_pose(last, last->tick_to, sim_tick_seconds(sim));
        known.tick_to = last->tick_to;
    }
    Hash64 hash = HASH64_INIT;
    hash_f32(&hash, end.position.x);
    hash_f32(&hash, end.position.y);
    hash_f32(&hash, end.position.z);
    hash_f32(&hash, end.rotation.x);
    hash_f32(&hash, end.rotation.y);
    hash_f32(&hash, end.rotation.z);
    hash_f32(&hash, end.rotation.w);
    hash_u32(&hash, part->data.flags);
    hash_f32(&hash, part->data.bounce_speed);
    hash_f32(&hash, part->data.conveyor_speed.x);
    hash_f32(&hash, part->data.conveyor_speed.y);
    hash_f32(&hash, part->data.conveyor_speed.z);
    known.signature = hash.state;
    return known;
}

static bool is_as_known(const KnownPart *known, const KnownPart *now)
{
    return known->net_id == now->net_id && known->signature == now->signature &&
           (now->tick_to == 0 || now->tick_to == known->tick_to);
}

static void look_at_parts(Geometry *geometry)
{
    uint32_t count = 0;
    const uint32_t mask = ENTITY_MASK(ENTITY_PART);
    for (Handle h = sim_next(geometry->sim, HANDLE_NONE, mask); !handle_is_none(h);
         h = sim_next(geometry->sim, h, mask)) {
        KnownPart *known = &geometry->parts[h.index];
        const KnownPart now = known_of(geometry->sim, sim_entity(geometry->sim, h));
        geometry->part_count += known->net_id == 0;
        if (!is_as_known(known, &now)) {
            changed_at(geometry, now.position);
        }
        *known = now;
        count += 1;
        geometry->slot_high = h.index >= geometry->slot_high ? h.index + 1 : geometry->slot_high;
    }
    if (count == geometry->part_count) {
        return;
    }
    for (uint32_t i = 0; i < geometry->slot_high; i++) {
        KnownPart *known = &geometry->parts[i];
        if (known->net_id != 0 && known->seen_tick != sim_tick(geometry->sim)) {
            changed_at(geometry, known->position);
            known->net_id = 0;
            geometry->part_count -= 1;
        }
    }
}

// Structures never move: they come with a new net id, and go with an event.
static void look_at_structures(Geometry *geometry)
{
    const uint64_t next = sim_next_net_id(geometry->sim);
    const bool many = next - geometry->next_net_id > NEW_ENTITIES_MAX;
    for (uint64_t id = geometry->next_net_id; id < next && !many; id++) {
        const Entity *entity = sim_entity(geometry->sim, sim_find(geometry->sim, id));
        if (entity != NULL && entity->type == ENTITY_STRUCTURE) {
            changed_at(geometry, entity->position);
        }
    }
    if (many) {
        changed_everywhere(geometry);
    }
    geometry->next_net_id = next;
    uint32_t count = 0;
    const SimEvent *events = sim_events(geometry->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type == SIM_EVENT_STRUCTURE_REMOVED) {
            changed_at(geometry, events[i].position);
        }
    }
}

void geometry_tick(Geometry *geometry)
{
    geometry->change_count = 0;
    const uint32_t edits = terrain_edit_count(sim_terrain_view(geometry->sim));
    if (edits != geometry->terrain_edits) {
        geometry->terrain_edits = edits;
        changed_everywhere(geometry);
    }
    look_at_structures(geometry);
    look_at_parts(geometry);
}

void geometry_accept(Geometry *geometry, Handle part)
{
    const Entity *entity = sim_entity(geometry->sim, part);
    ASSERT(entity != NULL && entity->type == ENTITY_PART);
    KnownPart *known = &geometry->parts[part.index];
    if (known->net_id == entity->net_id) {
        const uint64_t seen = known->seen_tick;
        *known = known_of(geometry->sim, entity);
        known->seen_tick = seen;
    }
}
