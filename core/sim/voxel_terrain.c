// What one sim sees: its own chunks before those of the base. Here are creation, the bookkeeping of
// owned chunks, and the look-ups; edits, bytes and rays have files of their own.
#include "core/sim/voxel_inside.h"

#include <string.h>

static size_t head_bytes(void)
{
    return (sizeof(Terrain) + 15) & ~(size_t)15;
}

size_t terrain_bytes(const TerrainConfig *config)
{
    return chunk_size_add(head_bytes(), chunk_table_bytes(config->chunk_max, config->page_max));
}

Status terrain_create(Heap *heap, const TerrainConfig *config, const ChunkStore *base,
                      Terrain **out)
{
    uint8_t *block = heap_alloc(heap, terrain_bytes(config));
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Terrain *terrain = (Terrain *)(void *)block;
    chunk_table_init(&terrain->own, block + head_bytes(), config->chunk_max, config->page_max);
    terrain->base = base;
    terrain->kinds = voxel_kinds_default();
    if (base != NULL) {
        terrain->grid = base->grid;
        terrain->kinds = base->kinds;
    }
    *out = terrain;
    return STATUS_OK;
}

void terrain_destroy(Heap *heap, Terrain *terrain)
{
    heap_free(heap, terrain);
}

// --- owned chunks --------------------------------------------------------------------------------

static void filter_set(Terrain *terrain, uint32_t key)
{
    const uint32_t bit = terrain_filter_bit(chunk_coord(key));
    terrain->filter[bit / 64] |= 1ull << (bit % 64);
}

Chunk *terrain_own_insert(Terrain *terrain, uint32_t key)
{
    filter_set(terrain, key);
    return chunk_table_insert(&terrain->own, key);
}

void terrain_own_remove(Terrain *terrain, Chunk *chunk)
{
    chunk_table_remove(&terrain->own, chunk);
    memset(terrain->filter, 0, sizeof terrain->filter);
    for (uint32_t i = 0; i < terrain->own.chunk_count; i++) {
        filter_set(terrain, chunk_table_at(&terrain->own, i)->key);
    }
}

void terrain_own_clear(Terrain *terrain)
{
    chunk_table_clear(&terrain->own);
    memset(terrain->filter, 0, sizeof terrain->filter);
}

const Chunk *terrain_base_chunk(const Terrain *terrain, ChunkCoord at)
{
    return terrain->base != NULL ? chunk_store_chunk(terrain->base, at) : &chunk_air;
}

__attribute__((noinline)) const Chunk *terrain_chunk_elsewhere(const Terrain *terrain,
                                                               ChunkCoord at)
{
    if (!chunk_coord_is_inside(at)) {
        return &chunk_air;
    }
    const Chunk *chunk = chunk_table_find(&terrain->own, chunk_key(at));
    return chunk != NULL ? chunk : terrain_base_chunk(terrain, at);
}

// --- look-ups ------------------------------------------------------------------------------------

VoxelKind terrain_voxel(const Terrain *terrain, VoxelCoord at)
{
    const Chunk *chunk = terrain_chunk(terrain, voxel_chunk(at));
    return chunk_voxel(chunk, chunk_column(at.x, at.z), (uint32_t)at.y & 31);
}

bool terrain_is_solid(const Terrain *terrain, VoxelCoord at)
{
    const Chunk *chunk = terrain_chunk(terrain, voxel_chunk(at));
    return (chunk->solid[chunk_column(at.x, at.z)] >> ((uint32_t)at.y & 31) & 1) != 0;
}

uint64_t terrain_column(const Terrain *terrain, int32_t x, int32_t z, int32_t y, uint32_t count)
{
    ASSERT(count - 1 < 64);
    const uint32_t column = chunk_column(x, z);
    const uint32_t shift = (uint32_t)y & 31;
    ChunkCoord at = {x >> 5, y >> 5, z >> 5};
    uint64_t bits = terrain_chunk(terrain, at)->solid[column] >> shift;
    if (shift + count > 32) {
        at.y += 1;
        bits |= (uint64_t)terrain_chunk(terrain, at)->solid[column] << (32 - shift);
        if (shift + count > 64) {
            at.y += 1;
            bits |= (uint64_t)terrain_chunk(terrain, at)->solid[column] << (64 - shift);
        }
    }
    return bits & UINT64_MAX >> (64 - count);
}

// --- counters ------------------------------------------------------------------------------------

uint32_t terrain_chunk_version(const Terrain *terrain, ChunkCoord at)
{
    if (!chunk_coord_is_inside(at)) {
        return 0;
    }
    const Chunk *chunk = chunk_table_find(&terrain->own, chunk_key(at));
    return chunk != NULL ? chunk->version : 0;
}

uint32_t terrain_edit_count(const Terrain *terrain)
{
    return terrain->edit_count;
}

uint32_t terrain_changed_chunk_count(const Terrain *terrain)
{
    return terrain->own.chunk_count;
}

ChunkCoord terrain_changed_chunk(const Terrain *terrain, uint32_t index)
{
    return chunk_coord(chunk_table_at(&terrain->own, index)->key);
}

TerrainUse terrain_use(const Terrain *terrain)
{
    return (TerrainUse){.chunk_count = terrain->own.chunk_count,
                        .chunk_max = terrain->own.chunk_max,
                        .page_count = terrain->own.pool.page_count,
                        .page_max = terrain->own.pool.page_max,
                        .limit_count = terrain->limit_count};
}

void terrain_clear(Terrain *terrain)
{
    terrain_own_clear(terrain);
    terrain->edit_count = 0;
}
