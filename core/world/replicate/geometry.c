// What changed lately near whom, of all that characters can bump into: a client learns of it a
// little later and may have predicted without it. Conservative: what cannot be told apart counts
// for everybody, but motion that was announced in time never counts.
//
// A part is known by where it will be in the end and by its data; segments that were forgotten on
// the way do not change that.
#include "core/world/world_inside.h"

#include <string.h>

#define NEAR_M           64.0f
#define CHANGES_MAX      32  // of one tick that are told apart
#define NEW_ENTITIES_MAX 256 // the same

typedef struct KnownPart {
    uint64_t net_id; // 0: nothing
    uint64_t seen_tick;
    uint64_t signature;
    uint64_t tick_to; // of its last segment; 0: none
    Vec3 position;
} KnownPart;

struct Geometry {
    KnownPart *parts; // by slot
    uint32_t slot_high;
    uint32_t part_count;
    uint32_t terrain_edits;
    uint64_t next_net_id;
    uint32_t change_count; // of this tick
};

Status geometry_create(World *world)
{
    struct Geometry *geometry = heap_alloc(world->heap, sizeof *geometry);
    if (geometry == NULL) {
        return STATUS_LIMIT;
    }
    world->geometry = geometry;
    const size_t slots = (size_t)sim_config(world->sim)->entity_max + 1;
    geometry->parts = heap_alloc(world->heap, heap_array_bytes(slots, sizeof(KnownPart)));
    geometry->terrain_edits = terrain_edit_count(sim_terrain_view(world->sim));
    geometry->next_net_id = sim_next_net_id(world->sim);
    return geometry->parts != NULL ? STATUS_OK : STATUS_LIMIT;
}

void geometry_destroy(World *world)
{
    if (world->geometry != NULL) {
        heap_free(world->heap, world->geometry->parts);
        heap_free(world->heap, world->geometry);
        world->geometry = NULL;
    }
}

static void changed_everywhere(World *world)
{
    world->geometry->change_count = CHANGES_MAX;
    for (uint32_t i = 0; i < world->session_high; i++) {
        world->sessions[i].geometry_tick = world->tick;
    }
}

static void changed_at(World *world, Vec3 position)
{
    struct Geometry *geometry = world->geometry;
    if (geometry->change_count >= CHANGES_MAX) {
        return; // everybody has been told
    }
    geometry->change_count += 1;
    if (geometry->change_count == CHANGES_MAX) {
        changed_everywhere(world);
        return;
    }
    for (uint32_t i = 0; i < world->session_high; i++) {
        Session *session = &world->sessions[i];
        const Entity *body = session_body(world, session);
        if (body != NULL &&
            vec3_length_squared(vec3_sub(body->position, position)) <= NEAR_M * NEAR_M) {
            session->geometry_tick = world->tick;
        }
    }
}

static KnownPart known_of(const World *world, const Entity *entity)
{
    const Part *part = &entity->part;
    KnownPart known = {
        .net_id = entity->net_id, .seen_tick = world->tick, .position = entity->position};
    Pose end = part->rest;
    if (part->motion.count > 0) {
        const MotionSegment *last = &part->motion.segments[part->motion.count - 1];
        end = motion_segment_pose(last, last->tick_to, sim_tick_seconds(world->sim));
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

static void look_at_parts(World *world)
{
    struct Geometry *geometry = world->geometry;
    uint32_t count = 0;
    const uint32_t mask = ENTITY_MASK(ENTITY_PART);
    for (Handle h = sim_next(world->sim, HANDLE_NONE, mask); !handle_is_none(h);
         h = sim_next(world->sim, h, mask)) {
        KnownPart *known = &geometry->parts[h.index];
        const KnownPart now = known_of(world, sim_entity(world->sim, h));
        geometry->part_count += known->net_id == 0;
        if (!is_as_known(known, &now)) {
            changed_at(world, now.position);
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
        if (known->net_id != 0 && known->seen_tick != world->tick) {
            changed_at(world, known->position);
            known->net_id = 0;
            geometry->part_count -= 1;
        }
    }
}

// Structures never move: they come with a new net id, and go with an event.
static void look_at_structures(World *world)
{
    struct Geometry *geometry = world->geometry;
    const uint64_t next = sim_next_net_id(world->sim);
    const bool many = next - geometry->next_net_id > NEW_ENTITIES_MAX;
    for (uint64_t id = geometry->next_net_id; id < next && !many; id++) {
        const Entity *entity = sim_entity(world->sim, sim_find(world->sim, id));
        if (entity != NULL && entity->type == ENTITY_STRUCTURE) {
            changed_at(world, entity->position);
        }
    }
    if (many) {
        changed_everywhere(world);
    }
    geometry->next_net_id = next;
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type == SIM_EVENT_STRUCTURE_REMOVED) {
            changed_at(world, events[i].position);
        }
    }
}

void geometry_tick(World *world)
{
    struct Geometry *geometry = world->geometry;
    geometry->change_count = 0;
    const uint32_t edits = terrain_edit_count(sim_terrain_view(world->sim));
    if (edits != geometry->terrain_edits) {
        geometry->terrain_edits = edits;
        changed_everywhere(world);
    }
    look_at_structures(world);
    look_at_parts(world);
}

void geometry_accept(World *world, Handle part)
{
    const Entity *entity = sim_entity(world->sim, part);
    ASSERT(entity != NULL && entity->type == ENTITY_PART);
    KnownPart *known = &world->geometry->parts[part.index];
    if (known->net_id == entity->net_id) {
        const uint64_t seen = known->seen_tick;
        *known = known_of(world, entity);
        known->seen_tick = seen;
    }
}
