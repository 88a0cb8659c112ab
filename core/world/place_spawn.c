// What the place puts on the stage when the world starts: parts that move, props, NPCs, with their
// names, attributes and tags. Their net ids follow those of the anchored parts, in the order of the
// place, so they are the same after every restart.
//
// Motions that go round and round are queued as far ahead as a part can hold, so that clients know
// each segment long before it begins. A script that moves such a part itself takes it out of its
// round for good.
#include "core/world/world_inside.h"

typedef struct Round {
    Handle part;
    uint32_t entity; // of the place
    uint32_t next;   // segment
    uint64_t cycle;
    uint64_t last_to; // of the last one queued; 0: none
    bool is_over;
} Round;

struct Stage {
    Round *rounds;
    uint32_t count;
};

static Status keep_details(World *world, uint64_t net_id, Text name,
                           const PrefabAttribute *attributes, uint32_t attribute_count,
                           const Text *tags, uint32_t tag_count)
{
    ScriptWorld *face = authority_world(world->authority);
    Status status = STATUS_OK;
    if (name.bytes > 0) {
        status = authority_set_name(world->authority, net_id, name);
    }
    for (uint32_t i = 0; i < attribute_count && status == STATUS_OK; i++) {
        status = face->face->set_attribute(face, net_id, attributes[i].name, &attributes[i].value,
                                           attributes[i].flags);
    }
    for (uint32_t i = 0; i < tag_count && status == STATUS_OK; i++) {
        status = face->face->set_tag(face, net_id, tags[i], true);
    }
    return status;
}

static Status spawn(World *world, const PlaceEntity *entity, uint64_t net_id, Handle *out)
{
    if (entity->kind == PREFAB_NPC) {
        NpcDesc desc = entity->npc;
        desc.net_id = net_id;
        desc.owner_id = 0;
        return npc_spawn(world->sim, &desc, out);
    }
    const ShapeDesc desc = {.net_id = net_id, .part = entity->part};
    return entity->kind == PREFAB_PROP ? sim_spawn_prop(world->sim, &desc, out)
                                       : sim_spawn_part(world->sim, &desc, out);
}

// Queues what fits.
static void queue_segments(World *world, Round *round)
{
    const PlaceEntity *entity = &world->config.place->entities[round->entity];
    while (!round->is_over) {
        MotionSegment segment = entity->segments[round->next];
        segment.tick_from += round->cycle * entity->loop_ticks;
        segment.tick_to += round->cycle * entity->loop_ticks;
        const Status status = sim_move_part(world->sim, round->part, &segment);
        if (status == STATUS_LIMIT) {
            return;
        }
        if (status != STATUS_OK) {
            round->is_over = true; // our place is broken, or a script has other plans
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

static Status put_on_stage(World *world, uint32_t index)
{
    const PlaceEntity *entity = &world->config.place->entities[index];
    const uint64_t net_id = (uint64_t)scene_part_count(world->config.place->scene) + 1 + index;
    Handle handle = HANDLE_NONE;
    Status status = spawn(world, entity, net_id, &handle);
    if (status == STATUS_OK) {
        status = keep_details(world, net_id, entity->name, entity->attributes,
                              entity->attribute_count, entity->tags, entity->tag_count);
    }
    if (status == STATUS_OK && entity->segment_count > 0 && entity->kind != PREFAB_NPC) {
        Round *round = &world->stage->rounds[world->stage->count++];
        *round = (Round){.part = handle, .entity = index};
        queue_segments(world, round);
    }
    return status;
}

Status stage_create(World *world)
{
    const Place *place = world->config.place;
    struct Stage *stage = heap_alloc(world->heap, sizeof *stage);
    if (stage == NULL) {
        return STATUS_LIMIT;
    }
    world->stage = stage;
    stage->rounds =
        heap_alloc(world->heap, heap_array_bytes((size_t)place->entity_count + 1, sizeof(Round)));
    if (stage->rounds == NULL) {
        return STATUS_LIMIT;
    }
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < place->entity_count && status == STATUS_OK; i++) {
        status = put_on_stage(world, i);
    }
    for (uint32_t i = 0; i < place->extra_count && status == STATUS_OK; i++) {
        const PlaceExtra *extra = &place->extras[i];
        status = keep_details(world, extra->net_id, (Text){0}, extra->attributes,
                              extra->attribute_count, extra->tags, extra->tag_count);
    }
    return status;
}

void stage_destroy(World *world)
{
    if (world->stage != NULL) {
        heap_free(world->heap, world->stage->rounds);
        heap_free(world->heap, world->stage);
        world->stage = NULL;
    }
}

void stage_tick(World *world)
{
    for (uint32_t i = 0; i < world->stage->count; i++) {
        Round *round = &world->stage->rounds[i];
        if (round->is_over) {
            continue;
        }
        const Entity *entity = sim_entity(world->sim, round->part);
        const Motion *motion = entity != NULL ? &entity->part.motion : NULL;
        if (motion == NULL || motion->count == 0 ||
            motion->segments[motion->count - 1].tick_to != round->last_to) {
            round->is_over = true; // gone, or moved by somebody else
            continue;
        }
        if (motion->count < MOTION_SEGMENTS_MAX) {
            queue_segments(world, round);
            if (entity->type == ENTITY_PART) {
                geometry_accept(world, round->part);
            }
        }
    }
}

void stage_hash(const World *world, Hash64 *hash)
{
    for (uint32_t i = 0; i < world->stage->count; i++) {
        const Round *round = &world->stage->rounds[i];
        hash_u64(hash, (uint64_t)round->next << 1 | round->is_over);
        hash_u64(hash, round->cycle);
    }
}
