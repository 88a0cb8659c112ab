// What ChunkStore and Terrain are made of; inside of the voxel code, nobody else includes this.
//
// A look-up must find, in a few nanoseconds, either this sim's own copy of a chunk or the shared
// one. Behind it are two hash tables, own and base; in front stands a grid, a dense box of chunk
// pointers. No look-up writes anything, so that a store can be read by many threads.
//
//   The store keeps a grid around all its chunks as long as that box is not much larger than their
//   number (a typical place is 7 x 3 x 7). If it has at most TERRAIN_CELLS cells, each terrain has
//   a copy of its own, in which owned chunks take the place of the base's, and which grows while it
//   can with chunks made outside. Then every cell is the truth. If the store's grid has more cells,
//   the terrain looks into that one, and once it owns a chunk a filter says which cells not to
//   believe: one bit for each chunk coordinate modulo 16 x 8 x 16, set if such a chunk is owned.
//
//   terrain_chunk:  inside the grid, which is the truth  →  the cell      (the usual way)
//                   inside the grid, filter bit clear    →  the cell
//                   else own table, else the store, else chunk_air
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
#define TERRAIN_CELLS       512

struct Terrain {
    ChunkGrid grid;     // over `cells`, or the store's
    bool grid_is_truth; // no bit of the filter is set
    uint64_t filter[TERRAIN_FILTER_BITS / 64];
    ChunkTable own;
    const ChunkStore *base; // may be NULL
    VoxelKinds kinds;
    uint32_t edit_count;
    uint32_t limit_count;
    bool has_room; // the next edits may take at most so many
    uint32_t chunk_room, page_room;
    const Chunk *cells[TERRAIN_CELLS];
};

// Lays a grid over a box and fills it with chunk_air; false, and then it has no cell, if the box
// has more than cell_max cells.
bool chunk_grid_lay(ChunkGrid *grid, ChunkCoord min, ChunkCoord max, uint32_t cell_max);
// Grows a box to hold a coordinate.
void chunk_box_add(ChunkCoord *min, ChunkCoord *max, ChunkCoord at);

// Puts a chunk that was just inserted where look-ups find it.
void chunk_store_added(ChunkStore *store, const Chunk *chunk);

Chunk *terrain_own_insert(Terrain *terrain, uint32_t key);
void terrain_own_remove(Terrain *terrain, Chunk *chunk);
void terrain_own_clear(Terrain *terrain);
// The slow path of terrain_chunk.
const Chunk *terrain_chunk_elsewhere(const Terrain *terrain, int32_t x, int32_t y, int32_t z);

// NULL outside the grid.
static inline const Chunk **chunk_grid_cell(const ChunkGrid *grid, ChunkCoord at)
{
    const uint32_t x = (uint32_t)at.x - (uint32_t)grid->min.x;
    const uint32_t y = (uint32_t)at.y - (uint32_t)grid->min.y;
    const uint32_t z = (uint32_t)at.z - (uint32_t)grid->min.z;
    if (x < grid->size_x && y < grid->size_y && z < grid->size_z) {
        return &grid->cells[(z * grid->size_y + y) * grid->size_x + x];
    }
    return NULL;
}

// A chunk of the store, or chunk_air.
static inline const Chunk *chunk_store_chunk(const ChunkStore *store, ChunkCoord at)
{
    const Chunk **cell = chunk_grid_cell(&store->grid, at);
    if (cell != NULL) {
        return *cell;
    }
    // With a grid, there is nothing outside of it.
    if (store->grid.size_x != 0 || !chunk_coord_is_inside(at)) {
        return &chunk_air;
    }
    const Chunk *chunk = chunk_table_find(&store->table, chunk_key(at));
    return chunk != NULL ? chunk : &chunk_air;
}

// The base under one chunk of a terrain, or chunk_air.
static inline const Chunk *terrain_base_chunk(const Terrain *terrain, ChunkCoord at)
{
    return terrain->base != NULL ? chunk_store_chunk(terrain->base, at) : &chunk_air;
}

// The cell of a chunk coordinate, or NULL if the fast path does not apply. Three numbers instead of
// a ChunkCoord: a struct of twelve bytes is passed through memory, which costs as much as
// everything else here.
static inline const Chunk *terrain_cell(const Terrain *terrain, int32_t x, int32_t y, int32_t z)
{
    const Chunk **cell = chunk_grid_cell(&terrain->grid, (ChunkCoord){x, y, z});
    return __builtin_expect(cell != NULL && terrain->grid_is_truth, 1) ? *cell : NULL;
}

// What this sim sees at a chunk coordinate; outside the extent chunk_air.
static inline const Chunk *terrain_chunk(const Terrain *terrain, int32_t x, int32_t y, int32_t z)
{
    const Chunk *chunk = terrain_cell(terrain, x, y, z);
    return __builtin_expect(chunk != NULL, 1) ? chunk : terrain_chunk_elsewhere(terrain, x, y, z);
}

static inline bool voxel_is_inside(VoxelCoord at)
{
    return (uint32_t)at.x + WORLD_EXTENT_M < 2 * WORLD_EXTENT_M &&
           (uint32_t)at.y + WORLD_EXTENT_M < 2 * WORLD_EXTENT_M &&
           (uint32_t)at.z + WORLD_EXTENT_M < 2 * WORLD_EXTENT_M;
}
