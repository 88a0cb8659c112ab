// What ChunkStore and Terrain are made of; inside of the voxel code, nobody else includes this.
//
// A look-up must find, in a few nanoseconds, either this sim's own copy of a chunk or the shared
// one. Two small structures stand in front of the two hash tables, and neither is written by a
// look-up, so that a store can be read by many threads:
//
//   grid     in the store: a dense box of chunk pointers around all its chunks, as long as that
//            box is not much larger than their number (a typical place is 7 x 3 x 7).
//   filter   in the terrain: one bit for each chunk coordinate modulo 16 x 8 x 16; clear means
//            that this sim surely owns no such chunk.
//
//   terrain_chunk:  inside the grid, filter bit clear  →  the grid's cell      (the usual way)
//                   else own table, else the grid's cell or the store's table, else chunk_air
#pragma once

#include "core/sim/chunk_table.h"

typedef struct ChunkGrid {
    const Chunk **cells; // (z * size.y + y) * size.x + x; chunk_air where there is none
    ChunkCoord min;
    uint32_t size_x, size_y, size_z; // all 0 when there is no grid
} ChunkGrid;

struct ChunkStore {
    ChunkTable table;
    ChunkGrid grid;
    uint32_t cell_max;
    VoxelKinds kinds;
};

#define TERRAIN_FILTER_BITS (16 * 8 * 16)

struct Terrain {
    ChunkGrid grid; // the store's, here so that the usual way touches one structure less
    uint64_t filter[TERRAIN_FILTER_BITS / 64];
    ChunkTable own;
    const ChunkStore *base; // may be NULL
    VoxelKinds kinds;
    uint32_t edit_count;
    uint32_t limit_count;
};

// A chunk of the store, or chunk_air.
const Chunk *chunk_store_chunk(const ChunkStore *store, ChunkCoord at);
// Puts a chunk that was just inserted where look-ups find it.
void chunk_store_added(ChunkStore *store, const Chunk *chunk);

// The base under one chunk of a terrain, or chunk_air.
const Chunk *terrain_base_chunk(const Terrain *terrain, ChunkCoord at);
Chunk *terrain_own_insert(Terrain *terrain, uint32_t key);
void terrain_own_remove(Terrain *terrain, Chunk *chunk);
void terrain_own_clear(Terrain *terrain);
// What terrain_chunk does when the usual way does not apply.
const Chunk *terrain_chunk_elsewhere(const Terrain *terrain, ChunkCoord at);

static inline uint32_t terrain_filter_bit(ChunkCoord at)
{
    return ((uint32_t)at.z & 15) << 7 | ((uint32_t)at.y & 7) << 4 | ((uint32_t)at.x & 15);
}

// What this sim sees at a chunk coordinate; outside the extent chunk_air.
static inline const Chunk *terrain_chunk(const Terrain *terrain, ChunkCoord at)
{
    const ChunkGrid *grid = &terrain->grid;
    const uint32_t x = (uint32_t)at.x - (uint32_t)grid->min.x;
    const uint32_t y = (uint32_t)at.y - (uint32_t)grid->min.y;
    const uint32_t z = (uint32_t)at.z - (uint32_t)grid->min.z;
    const uint32_t bit = terrain_filter_bit(at);
    if (__builtin_expect((x < grid->size_x) & (y < grid->size_y) & (z < grid->size_z), 1) &&
        __builtin_expect((terrain->filter[bit / 64] >> (bit % 64) & 1) == 0, 1)) {
        return grid->cells[((size_t)z * grid->size_y + y) * grid->size_x + x];
    }
    return terrain_chunk_elsewhere(terrain, at);
}

static inline bool voxel_is_inside(VoxelCoord at)
{
    return (uint32_t)at.x + WORLD_EXTENT_M < 2 * WORLD_EXTENT_M &&
           (uint32_t)at.y + WORLD_EXTENT_M < 2 * WORLD_EXTENT_M &&
           (uint32_t)at.z + WORLD_EXTENT_M < 2 * WORLD_EXTENT_M;
}
