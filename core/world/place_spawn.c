// What the place spawns; see place_spawn.h.
//
// Motions that repeat are queued as far ahead as a part can hold, so that clients know each segment
// long before it begins. A script that moves such a part itself ends its round for good.
#include "core/world/place_spawn.h"

#include "core/base/check.h"
#include "core/sim/npc.h"

typedef struct Round {
    Handle part;
    uint32_t entity; // of the place
    uint32_t next;   // segment
    uint64_t cycle;
    uint64_t last_to; // of the last one queued; 0: none
    bool is_over;
} Round;

struct SpawnedPlace {
    PlaceSpawnConfig config;
    Round *rounds;
    uint32_t count;
};

static Status keep_details(Authority *authority, uint64_t net_id, Text name,
                           const PrefabAttribute *attributes, uint32_t attribute_count,
                           const Text *tags, uint32_t tag_count)
{
    ScriptWorld *face = authority_world(authority);
    Status status = STATUS_OK;
    if (name.bytes > 0) {
        status = authority_set_name(authority, net_id, name);
    }
    for (uint32_t i = 0; i < attribute_count && status == STATUS_OK; i++) {
        status = face->methods->set_attribute(face, net_id, attributes[i].name,
                                              &attributes[i].value, attributes[i].flags);
    }
    for (uint32_t i = 0; i < tag_count && status == STATUS_OK; i++) {
        status = face->methods->set_tag(face, net_id, tags[i], true);
    }
    return status;
}

static Status spawn(Sim *sim, const PlaceEntity *entity, uint64_t net_id, Handle *out)
{
    if (entity->kind == PREFAB_NPC) {
        NpcDesc desc = entity->npc;
        desc.net_id = net_id;
        desc.owner_id = 0;
        return npc_spawn(sim, &desc, out);
    }
    const ShapeDesc desc = {.net_id = net_id, .part = entity->part};
    return entity->kind == PREFAB_PROP ? sim_spawn_prop(sim, &desc, out)
                                       : sim_spawn_part(sim, &desc, out);
}

// Queues what fits.
static void queue_segments(const PlaceSpawnConfig *config, Round *round)
{
    const PlaceEntity *entity = &config->place->entities[round->entity];
    while (!round->is_over) {
        MotionSegment segment = entity->segments[round->next];
        segment.tick_from += round->cycle * entity->loop_ticks;
        segment.tick_to += round->cycle * entity->loop_ticks;
        const Status status = sim_move_part(config->sim, round->part, &segment);
        if (status == STATUS_LIMIT) {
            return;
        }
        if (status != STATUS_OK) {
            round->is_over = true; // the place is invalid, or a script moves it
            return;
        }
        round->last_to = segment.tick_to;
        round->next += 1;
        if (round->next == entity->segment_count) {
            round->next = 0;
            round->cycle += 1;
            round->is_over = entity->loop_ticks == 0;
        }
    }
}

static Status spawn_entity(SpawnedPlace *spawned, uint32_t index)
{
    const PlaceSpawnConfig *config = &spawned->config;
    const PlaceEntity *entity = &config->place->entities[index];
    const uint64_t net_id = (uint64_t)scene_part_count(config->place->scene) + 1 + index;
    Handle handle = HANDLE_NONE;
    Status status = spawn(config->sim, entity, net_id, &handle);
    if (status == STATUS_OK) {
        status = keep_details(config->authority, net_id, entity->name, entity->attributes,
                              entity->attribute_count, entity->tags, entity->tag_count);
    }
    if (status == STATUS_OK && entity->segment_count > 0 && entity->kind != PREFAB_NPC) {
        Round *round = &spawned->rounds[spawned->count++];
        *round = (Round){.part = handle, .entity = index};
        queue_segments(config, round);
    }
    return status;
}

Status place_spawn_create(const PlaceSpawnConfig *config, SpawnedPlace **out)
{
    const Place *place = config->place;
    SpawnedPlace *spawned = heap_alloc(config->heap, sizeof *spawned);
    if (spawned == NULL) {
        return STATUS_LIMIT;
    }
    spawned->config = *config;
    spawned->rounds =
        heap_alloc(config->heap, heap_array_bytes((size_t)place->entity_count + 1, sizeof(Round)));
    Status status = spawned->rounds != NULL ? STATUS_OK : STATUS_LIMIT;
    for (uint32_t i = 0; i < place->entity_count && status == STATUS_OK; i++) {
        status = spawn_entity(spawned, i);
    }
    for (uint32_t i = 0; i < place->extra_count && status == STATUS_OK; i++) {
        const PlaceExtra *extra = &place->extras[i];
        status = keep_details(config->authority, extra->net_id, (Text){0}, extra->attributes,
                              extra->attribute_count, extra->tags, extra->tag_count);
    }
    if (status != STATUS_OK) {
        place_spawn_destroy(spawned);
        return status;
    }
    *out = spawned;
    return STATUS_OK;
}

void place_spawn_destroy(SpawnedPlace *spawned)
{
    if (spawned != NULL) {
        Heap *heap = spawned->config.heap;
        heap_free(heap, spawned->rounds);
        heap_free(heap, spawned);
    }
}

void place_spawn_tick(SpawnedPlace *spawned)
{
    const PlaceSpawnConfig *config = &spawned->config;
    for (uint32_t i = 0; i < spawned->count; i++) {
        Round *round = &spawned->rounds[i];
        if (round->is_over) {
            continue;
        }
        const Entity *entity = sim_entity(config->sim, round->part);
        const Motion *motion = entity != NULL ? &entity->part.motion : NULL;
        if (motion == NULL || motion->count == 0 ||
            motion->segments[motion->count - 1].tick_to != round->last_to) {
            round->is_over = true; // gone, or moved by a script
            continue;
        }
        if (motion->count < MOTION_SEGMENTS_MAX) {
            queue_segments(config, round);
            if (entity->type == ENTITY_PART) {
                geometry_accept(config->geometry, round->part);
            }
        }
    }
}

void place_spawn_hash(const SpawnedPlace *spawned, Hash64 *hash)
{
    for (uint32_t i = 0; i < spawned->count; i++) {
        const Round *round = &spawned->rounds[i];
        hash_u64(hash, (uint64_t)round->next << 1 | round->is_over);
        hash_u64(hash, round->cycle);
    }
}
