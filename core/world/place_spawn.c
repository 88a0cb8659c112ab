// What the place spawns; see place_spawn.h.
//
// Motions that repeat are queued as far ahead as a part can hold, so that clients know each segment
// long before it begins. A script that moves such a part itself ends its round for good.
#include "core/world/place_spawn.h"

#include "core/base/check.h"
#include "core/sim/npc.h"

#include <string.h>

typedef struct Round {
    Handle part;
    const MotionSegment *segments;
    uint32_t segment_count, loop_ticks;
    uint64_t from; // the tick from which theirs are counted
    uint32_t next; // segment
    uint64_t cycle;
    uint64_t last_to; // of the last one queued; 0: none
    bool is_over;
} Round;

// Of something that the place does not have.
typedef struct AddedRound {
    Round round;
    MotionSegment segments[MOTION_SEGMENTS_MAX];
} AddedRound;

struct SpawnedPlace {
    PlaceSpawnConfig config;
    Round *rounds;
    uint32_t count;
    AddedRound *added[PLACE_SPAWN_ADDED_MAX];
    uint32_t added_count;
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
    while (!round->is_over) {
        MotionSegment segment = round->segments[round->next];
        const uint64_t begin = round->from + round->cycle * round->loop_ticks;
        segment.tick_from += begin;
        segment.tick_to += begin;
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
        if (round->next == round->segment_count) {
            round->next = 0;
            round->cycle += 1;
            round->is_over = round->loop_ticks == 0;
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
        *round = (Round){.part = handle,
                         .segments = entity->segments,
                         .segment_count = entity->segment_count,
                         .loop_ticks = entity->loop_ticks};
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
        for (uint32_t i = 0; i < spawned->added_count; i++) {
            heap_free(heap, spawned->added[i]);
        }
        heap_free(heap, spawned->rounds);
        heap_free(heap, spawned);
    }
}

// One whose motion is over gives its room away.
static AddedRound *take_added(SpawnedPlace *spawned)
{
    for (uint32_t i = 0; i < spawned->added_count; i++) {
        if (spawned->added[i]->round.is_over) {
            return spawned->added[i];
        }
    }
    AddedRound *added = spawned->added_count < PLACE_SPAWN_ADDED_MAX
                            ? heap_alloc(spawned->config.heap, sizeof *added)
                            : NULL;
    if (added != NULL) {
        spawned->added[spawned->added_count++] = added;
    }
    return added;
}

Status place_spawn_move(SpawnedPlace *spawned, Handle part, const PlaceEntity *entity,
                        uint64_t from)
{
    AddedRound *added = take_added(spawned);
    if (added == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(added->segments, entity->segments, sizeof added->segments);
    added->round = (Round){.part = part,
                           .segments = added->segments,
                           .segment_count = entity->segment_count,
                           .loop_ticks = entity->loop_ticks,
                           .from = from};
    queue_segments(&spawned->config, &added->round);
    return STATUS_OK;
}

static void round_tick(const PlaceSpawnConfig *config, Round *round)
{
    if (round->is_over) {
        return;
    }
    const Entity *entity = sim_entity(config->sim, round->part);
    const Motion *motion = entity != NULL ? &entity->part.motion : NULL;
    if (motion == NULL || motion->count == 0 ||
        motion->segments[motion->count - 1].tick_to != round->last_to) {
        round->is_over = true; // gone, or moved by a script
        return;
    }
    if (motion->count < MOTION_SEGMENTS_MAX) {
        queue_segments(config, round);
        if (entity->type == ENTITY_PART) {
            geometry_accept(config->geometry, round->part);
        }
    }
}

void place_spawn_tick(SpawnedPlace *spawned)
{
    for (uint32_t i = 0; i < spawned->count; i++) {
        round_tick(&spawned->config, &spawned->rounds[i]);
    }
    for (uint32_t i = 0; i < spawned->added_count; i++) {
        round_tick(&spawned->config, &spawned->added[i]->round);
    }
}

static void round_hash(const Round *round, Hash64 *hash)
{
    hash_u64(hash, (uint64_t)round->next << 1 | round->is_over);
    hash_u64(hash, round->cycle);
}

void place_spawn_hash(const SpawnedPlace *spawned, Hash64 *hash)
{
    for (uint32_t i = 0; i < spawned->count; i++) {
        round_hash(&spawned->rounds[i], hash);
    }
    for (uint32_t i = 0; i < spawned->added_count; i++) {
        round_hash(&spawned->added[i]->round, hash);
    }
}
