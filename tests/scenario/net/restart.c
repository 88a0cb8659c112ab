// The world is killed and restarted from stored data: nothing that was reported as durable may be
// missing, nothing that had existed for a second may be missing, and nothing that was removed may
// be there again.
#include "tests/scenario/net/net_inside.h"

#include <string.h>

uint64_t restart_chunk_hash(const Terrain *terrain, ChunkCoord at)
{
    static uint8_t bytes[CHUNK_BYTES_MAX];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    terrain_write_difference(terrain, at, &writer);
    ASSERT(writer.status == STATUS_OK);
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, bytes, writer.at);
    return hash.state;
}

static void note(Net *net, Kept *kept)
{
    const Sim *sim = world_sim(net->world);
    const Terrain *terrain = sim_terrain_view(sim);
    const uint32_t mask = ENTITY_MASK(ENTITY_STRUCTURE);
    kept->structure_count = kept->chunk_count = 0;
    for (Handle handle = sim_next(sim, HANDLE_NONE, mask); !handle_is_none(handle);
         handle = sim_next(sim, handle, mask)) {
        const Entity *entity = sim_entity(sim, handle);
        kept->structures[kept->structure_count++] = (KeptStructure){.net_id = entity->net_id,
                                                                    .piece = entity->part.piece,
                                                                    .turn = entity->part.turn,
                                                                    .cell = entity->part.cell};
    }
    for (uint32_t i = 0; i < terrain_changed_chunk_count(terrain) && i < KEPT_CHUNKS; i++) {
        const ChunkCoord at = terrain_changed_chunk(terrain, i);
        kept->chunks[kept->chunk_count++] =
            (KeptChunk){at, terrain_chunk_version(terrain, at), restart_chunk_hash(terrain, at)};
    }
}

void restart_stepped(Net *net)
{
    const Sim *sim = world_sim(net->world);
    const uint32_t mask = ENTITY_MASK(ENTITY_STRUCTURE);
    for (Handle handle = sim_next(sim, HANDLE_NONE, mask); !handle_is_none(handle);
         handle = sim_next(sim, handle, mask)) {
        const uint64_t net_id = sim_entity(sim, handle)->net_id;
        Stood *stood = &net->stood[net_id % STOOD_MAX];
        if (stood->net_id != net_id) {
            *stood = (Stood){.net_id = net_id, .first_us = net->now_us};
        }
        stood->last_us = net->now_us;
    }
}

void restart_note(Net *net)
{
    net->kept[1] = net->kept[0];
    note(net, &net->kept[0]);
}

static const KeptStructure *find_structure(const Kept *kept, uint64_t net_id)
{
    for (uint32_t i = 0; i < kept->structure_count; i++) {
        if (kept->structures[i].net_id == net_id) {
            return &kept->structures[i];
        }
    }
    return NULL;
}

static const KeptChunk *find_chunk(const Kept *kept, ChunkCoord at)
{
    for (uint32_t i = 0; i < kept->chunk_count; i++) {
        const ChunkCoord other = kept->chunks[i].at;
        if (other.x == at.x && other.y == at.y && other.z == at.z) {
            return &kept->chunks[i];
        }
    }
    return NULL;
}

static bool is_same(const KeptStructure *kept, const Entity *entity)
{
    return entity != NULL && entity->type == ENTITY_STRUCTURE &&
           entity->part.piece == kept->piece && entity->part.turn == kept->turn &&
           entity->part.cell.x == kept->cell.x && entity->part.cell.y == kept->cell.y &&
           entity->part.cell.z == kept->cell.z;
}

// What is known to be durable, by the word of the world.
static void check_durable(Net *net)
{
    const Sim *sim = world_sim(net->world);
    for (uint32_t c = 0; c < net->client_count; c++) {
        const NetClient *client = &net->clients[c];
        for (uint32_t i = 0; i < client->durable_count; i++) {
            const DurableThing *thing = &client->durable[i];
            if (thing->is_chunk && terrain_chunk_version(sim_terrain_view(sim), thing->at) == 0) {
                net_fail(net, "an edit that was durable is gone");
            }
            if (!thing->is_chunk && find_structure(&net->kept[2], thing->net_id) != NULL &&
                handle_is_none(sim_find(sim, thing->net_id))) {
                net_fail(net, "structure %llu was durable and is gone",
                         (unsigned long long)thing->net_id);
            }
        }
    }
}

// What was there a second before the end, and at the end.
static void check_kept(Net *net)
{
    const Sim *sim = world_sim(net->world);
    const Terrain *terrain = sim_terrain_view(sim);
    const Kept *before = &net->kept[1];
    const Kept *at_end = &net->kept[2];
    for (uint32_t i = 0; i < before->structure_count; i++) {
        const KeptStructure *kept = &before->structures[i];
        if (find_structure(at_end, kept->net_id) != NULL &&
            !is_same(kept, sim_entity(sim, sim_find(sim, kept->net_id)))) {
            net_fail(net, "structure %llu stood for a second and is not the same after a restart",
                     (unsigned long long)kept->net_id);
        }
    }
    for (uint32_t i = 0; i < before->chunk_count; i++) {
        const KeptChunk *kept = &before->chunks[i];
        const KeptChunk *last = find_chunk(at_end, kept->at);
        if (last != NULL && last->version == kept->version &&
            restart_chunk_hash(terrain, kept->at) != kept->hash) {
            net_fail(net, "a chunk at version %u is another one after a restart", kept->version);
        }
    }
}

static void check_gone(Net *net, const Stood *before)
{
    const Sim *sim = world_sim(net->world);
    const uint32_t mask = ENTITY_MASK(ENTITY_STRUCTURE);
    for (Handle handle = sim_next(sim, HANDLE_NONE, mask); !handle_is_none(handle);
         handle = sim_next(sim, handle, mask)) {
        const uint64_t net_id = sim_entity(sim, handle)->net_id;
        const Stood *stood = &before[net_id % STOOD_MAX];
        if (stood->net_id != net_id || stood->last_us + 1000000 < net->now_us) {
            net_fail(net, "structure %llu was gone for a second and stands again",
                     (unsigned long long)net_id);
        }
    }
}

void restart_world(Net *net)
{
    static Stood before[STOOD_MAX];
    memcpy(before, net->stood, sizeof before);
    const uint64_t next_net_id = sim_next_net_id(world_sim(net->world));
    note(net, &net->kept[2]);
    net_replay_journal(net);
    for (uint32_t i = 0; i < net->client_count; i++) {
        watch_killed(net, &net->clients[i]);
        net_link_down(net, &net->clients[i], 200000 + rng_below(&net->rng, 1000000));
        net->clients[i].watch.player = 0;
    }
    heap_thaw(&net->world_heap);
    world_destroy(&net->world_heap, net->world);
    store_lose(net);
    net_open_world(net);
    net_step_world(net);
    if (sim_next_net_id(world_sim(net->world)) < next_net_id) {
        net_fail(net, "net ids are given out again after a restart: %llu was next, now %llu",
                 (unsigned long long)next_net_id,
                 (unsigned long long)sim_next_net_id(world_sim(net->world)));
    }
    check_durable(net);
    check_kept(net);
    check_gone(net, before);
}
