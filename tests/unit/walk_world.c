// The test world of walk_world.h. A failure here is a bug in the test, so it ends the program.
#include "tests/unit/walk_world.h"

#include "core/base/check.h"

WalkWorldDesc walk_world_default(void)
{
    WalkWorldDesc desc = {.config = sim_config_default(), .floor = true};
    desc.config.entity_max = 512;
    desc.config.character_max = 512;
    desc.config.npc_max = 256;
    desc.config.structures_max = 64;
    desc.config.path_cells_max = 8192;
    desc.config.terrain = (TerrainConfig){.chunk_max = 64, .page_max = 512};
    return desc;
}

WalkWorld walk_world_open(const WalkWorldDesc *desc)
{
    WalkWorld world = {.heap = heap_make(256u << 20)};
    const ChunkStoreConfig store_config = {
        .chunk_max = 256, .page_max = 2048, .kinds = voxel_kinds_default()};
    ASSERT(chunk_store_create(&world.heap, &store_config, &world.store) == STATUS_OK);
    if (desc->floor) {
        const VoxelCoord min = {-WALK_WORLD_HALF, -1, -WALK_WORLD_HALF};
        const VoxelCoord max = {WALK_WORLD_HALF - 1, -1, WALK_WORLD_HALF - 1};
        ASSERT(chunk_store_fill(world.store, min, max, 1) == STATUS_OK);
    }
    if (desc->build != NULL) {
        desc->build(world.store);
    }
    const SceneDesc scene = {
        .chunks = world.store,
        .parts = desc->parts,
        .part_count = desc->part_count,
        .pieces = desc->pieces,
        .piece_count = desc->piece_count,
    };
    uint32_t bad = 0;
    ASSERT(scene_create(&world.heap, &scene, &world.scene, &bad) == STATUS_OK);
    ASSERT(sim_create(&world.heap, &desc->config, world.scene, &world.sim) == STATUS_OK);
    return world;
}

Sim *walk_world_twin(WalkWorld *world)
{
    Sim *twin = NULL;
    ASSERT(sim_create(&world->heap, sim_config(world->sim), world->scene, &twin) == STATUS_OK);
    return twin;
}

bool walk_world_copy(WalkWorld *world, const Sim *from, Sim *to)
{
    ByteWriter counter = byte_counter();
    sim_write(from, &counter);
    uint8_t *bytes = heap_alloc(&world->heap, counter.at);
    ASSERT(bytes != NULL);
    ByteWriter writer = byte_writer(bytes, counter.at);
    sim_write(from, &writer);
    ByteReader reader = byte_reader(bytes, writer.at);
    const bool ok = sim_read(to, &reader) == STATUS_OK && byte_reader_finish(&reader) == STATUS_OK;
    heap_free(&world->heap, bytes);
    return ok;
}

void walk_world_close(WalkWorld *world)
{
    sim_destroy(&world->heap, world->sim);
    scene_destroy(&world->heap, world->scene);
    chunk_store_destroy(&world->heap, world->store);
    ASSERT(world->heap.bytes_now == 0);
}

PartDesc walk_box(Vec3 min, Vec3 max)
{
    return (PartDesc){
        .shape = {SHAPE_BOX, vec3_scale(vec3_sub(max, min), 0.5f)},
        .pose = {vec3_lerp(min, max, 0.5f), QUAT_IDENTITY},
    };
}

Handle walk_player(Sim *sim, Vec3 position)
{
    Handle player = HANDLE_NONE;
    ASSERT(sim_spawn_player(sim, &(CharacterDesc){.position = position}, &player) == STATUS_OK);
    return player;
}

void walk_steps_run(Sim *sim, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_step(sim);
    }
}

void walk_fill(Sim *sim, VoxelCoord min, VoxelCoord max, VoxelKind kind)
{
    ASSERT(terrain_fill_box(sim_terrain(sim), min, max, kind, NULL) == STATUS_OK);
}
