#include "tests/fuzz/small_world.h"

#include "core/base/check.h"

#include <stdlib.h>

#define STATE_BYTES_MAX (4u << 20)
#define PENETRATION_MAX 0.001f
#define EDGE            12

static void build_terrain(ChunkStore *chunks)
{
    for (int32_t z = -EDGE; z < EDGE; z++) {
        for (int32_t x = -EDGE; x < EDGE; x++) {
            const int32_t top = (x * x + 3 * z + 40) % 5 == 0 ? 1 : 0;
            const VoxelCoord min = {x, -3, z};
            const VoxelCoord max = {x, top - 1, z};
            ASSERT(chunk_store_fill(chunks, min, max, 1) == STATUS_OK);
        }
    }
}

#define PART_COUNT 14

static void build_parts(PartDesc parts[PART_COUNT])
{
    for (uint32_t i = 0; i < PART_COUNT; i++) {
        const float angle = (float)i * 0.7f;
        parts[i] = (PartDesc){
            .shape = {(ShapeKind)(i % SHAPE_KIND_COUNT), {0.8f, 0.3f + 0.1f * (float)(i % 4), 1}},
            .pose = {vec3((float)(i % 4) * 5 - 8, 1 + 0.3f * (float)(i % 3),
                          (float)(i / 4) * 5 - 8),
                     quat_from_axis_angle(vec3_normalise(vec3(1, 2, 0.5f)), angle)},
            .data = {.bounce_speed = 8, .damage = 4, .conveyor_speed = {1, 0, 0.5f}},
        };
        parts[i].data.flags = i < 6 ? 1u << i : 0;
    }
}

SmallWorld *small_world(void)
{
    static SmallWorld world;
    if (world.scene != NULL) {
        return &world;
    }
    world.heap = heap_make(1u << 30);
    const ChunkStoreConfig store = {
        .chunk_max = 16, .page_max = 64, .kinds = voxel_kinds_default()};
    ASSERT(chunk_store_create(&world.heap, &store, &world.chunks) == STATUS_OK);
    build_terrain(world.chunks);
    static PartDesc parts[PART_COUNT];
    build_parts(parts);
    static const PieceDesc pieces[] = {
        {1, 1, 1, 0, 20}, {3, 2, 1, 0, 40}, {2, 1, 2, PIECE_GROUND_ONLY, 30}};
    const SceneDesc desc = {
        .chunks = world.chunks,
        .parts = parts,
        .part_count = PART_COUNT,
        .pieces = pieces,
        .piece_count = 3,
        .bounds = {{-64, -64, -64}, {64, 64, 64}},
    };
    uint32_t bad = 0;
    ASSERT(scene_create(&world.heap, &desc, &world.scene, &bad) == STATUS_OK);
    world.config = sim_config_default();
    world.config.entity_max = 48;
    world.config.character_max = 12;
    world.config.npc_max = 4;
    world.config.event_max = 64;
    world.config.structures_per_player_max = 8;
    world.config.structures_max = 16;
    world.config.path_nodes_per_tick = 64;
    world.config.path_cells_max = 512;
    world.config.terrain = (TerrainConfig){.chunk_max = 8, .page_max = 24};
    return &world;
}

void small_world_check(const Sim *sim, bool is_free)
{
    uint32_t total = 0;
    for (Handle h = sim_next(sim, HANDLE_NONE, ENTITY_MASK_ALL); !handle_is_none(h);
         h = sim_next(sim, h, ENTITY_MASK_ALL)) {
        const Entity *entity = sim_entity(sim, h);
        total += 1;
        ASSERT(vec3_is_finite(entity->position));
        ASSERT(vec3_is_finite(entity->velocity));
        ASSERT(quat_is_finite(entity->rotation));
        ASSERT(handle_equal(sim_find(sim, entity->net_id), h));
        if (is_free && entity_is_character(entity) && entity->character.health > 0) {
            ASSERT(sim_penetration(sim, entity->position) <= PENETRATION_MAX);
        }
    }
    uint32_t counted = 0;
    for (int type = 1; type < ENTITY_TYPE_COUNT; type++) {
        counted += sim_count(sim, (EntityType)type);
    }
    ASSERT(counted == total);
    uint32_t event_count = 0;
    (void)sim_events(sim, &event_count);
    ASSERT(event_count <= sim_config(sim)->event_max);
}

Sim *small_world_copy(SmallWorld *world, const Sim *sim)
{
    uint8_t *bytes = malloc(STATE_BYTES_MAX);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, STATE_BYTES_MAX);
    sim_write(sim, &writer);
    Sim *copy = NULL;
    if (writer.status == STATUS_OK) {
        ASSERT(sim_create(&world->heap, &world->config, world->scene, &copy) == STATUS_OK);
        ByteReader reader = byte_reader(bytes, writer.at);
        ASSERT(sim_read(copy, &reader) == STATUS_OK);
        ASSERT(byte_reader_finish(&reader) == STATUS_OK);
        ASSERT(sim_hash(copy) == sim_hash(sim));
    }
    free(bytes);
    return copy;
}
