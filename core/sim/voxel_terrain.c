// What one sim sees: its own chunks before those of the base. Here are creation, the grid that
// finds chunks, and the look-ups; edits, bytes and rays have files of their own.
//
// The invariant to keep: whenever a chunk becomes owned or ceases to be, the grid or the filter
// says so at once (grid_place, grid_forget). They only make look-ups fast; which of them a chunk is
// in never changes an answer.
#include "core/sim/voxel_inside.h"

#include <string.h>

// --- the grid -----------------------------------------------------------------------------------

static bool grid_is_own(const Terrain *terrain)
{
    return terrain->grid.cells == terrain->cells;
}

// The grid of a terrain that owns no chunk.
static void grid_reset(Terrain *terrain)
{
    const ChunkStore *base = terrain->base;
    memset(terrain->filter, 0, sizeof terrain->filter);
    terrain->grid_is_truth = true;
    terrain->grid = (ChunkGrid){.cells = terrain->cells};
    if (base == NULL || base->table.chunk_count == 0) {
        return;
    }
    const uint32_t cell_count = base->grid.size_x * base->grid.size_y * base->grid.size_z;
    terrain->grid = base->grid;
    if (cell_count != 0 && cell_count <= TERRAIN_CELLS) {
        terrain->grid.cells = terrain->cells;
        memcpy(terrain->cells, base->grid.cells, cell_count * sizeof terrain->cells[0]);
    }
}

static uint32_t filter_bit(ChunkCoord at)
{
    return ((uint32_t)at.z & 15) << 7 | ((uint32_t)at.y & 7) << 4 | ((uint32_t)at.x & 15);
}

// Into its cell, if there is one of our own, else into the filter.
static void grid_put(Terrain *terrain, const Chunk *chunk)
{
    const ChunkCoord at = chunk_coord(chunk->key);
    const Chunk **cell = grid_is_own(terrain) ? chunk_grid_cell(&terrain->grid, at) : NULL;
    if (cell != NULL) {
        *cell = chunk;
        return;
    }
    const uint32_t bit = filter_bit(at);
    terrain->filter[bit / 64] |= 1ull << (bit % 64);
    terrain->grid_is_truth = false;
}

static void filter_rebuild(Terrain *terrain)
{
    memset(terrain->filter, 0, sizeof terrain->filter);
    terrain->grid_is_truth = true;
    for (uint32_t i = 0; i < terrain->own.chunk_count; i++) {
        grid_put(terrain, chunk_table_at(&terrain->own, i));
    }
}

// Tries to extend the grid to a coordinate. It may fail, which is harmless.
static void grid_extend(Terrain *terrain, ChunkCoord at)
{
    ChunkGrid grid = terrain->grid;
    ChunkCoord min = at;
    ChunkCoord max = at;
    if (grid.size_x != 0) {
        chunk_box_add(&min, &max, grid.min);
        chunk_box_add(&min, &max,
                      (ChunkCoord){grid.min.x + (int32_t)grid.size_x - 1,
                                   grid.min.y + (int32_t)grid.size_y - 1,
                                   grid.min.z + (int32_t)grid.size_z - 1});
    }
    if (!chunk_grid_lay(&grid, min, max, TERRAIN_CELLS)) {
        return;
    }
    terrain->grid = grid;
    for (at.z = min.z; at.z <= max.z; at.z++) {
        for (at.y = min.y; at.y <= max.y; at.y++) {
            for (at.x = min.x; at.x <= max.x; at.x++) {
                *chunk_grid_cell(&grid, at) = terrain_base_chunk(terrain, at);
            }
        }
    }
    filter_rebuild(terrain);
}

static void grid_place(Terrain *terrain, const Chunk *chunk)
{
    const ChunkCoord at = chunk_coord(chunk->key);
    if (grid_is_own(terrain) && chunk_grid_cell(&terrain->grid, at) == NULL) {
        grid_extend(terrain, at);
    }
    grid_put(terrain, chunk);
}

static void grid_forget(Terrain *terrain, ChunkCoord at)
{
    const Chunk **cell = grid_is_own(terrain) ? chunk_grid_cell(&terrain->grid, at) : NULL;
    if (cell != NULL) {
        *cell = terrain_base_chunk(terrain, at);
    } else {
        filter_rebuild(terrain);
    }
}

// --- a terrain and its chunks -------------------------------------------------------------------

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
    terrain->kinds = base != NULL ? base->kinds : voxel_kinds_default();
    grid_reset(terrain);
    *out = terrain;
    return STATUS_OK;
}

void terrain_destroy(Heap *heap, Terrain *terrain)
{
    heap_free(heap, terrain);
}

Chunk *terrain_own_insert(Terrain *terrain, uint32_t key)
{
    Chunk *chunk = chunk_table_insert(&terrain->own, key);
    grid_place(terrain, chunk);
    return chunk;
}

void terrain_own_remove(Terrain *terrain, Chunk *chunk)
{
    const ChunkCoord at = chunk_coord(chunk->key);
    chunk_table_remove(&terrain->own, chunk);
    grid_forget(terrain, at);
}

void terrain_own_clear(Terrain *terrain)
{
    chunk_table_clear(&terrain->own);
    grid_reset(terrain);
}

__attribute__((noinline)) const Chunk *terrain_chunk_elsewhere(const Terrain *terrain, int32_t x,
                                                               int32_t y, int32_t z)
{
    const ChunkCoord at = {x, y, z};
    const uint32_t bit = filter_bit(at);
    if ((terrain->filter[bit / 64] >> (bit % 64) & 1) == 0) {
        const Chunk **cell = chunk_grid_cell(&terrain->grid, at);
        return cell != NULL ? *cell : terrain_base_chunk(terrain, at);
    }
    if (!chunk_coord_is_inside(at)) {
        return &chunk_air;
    }
    const Chunk *chunk = chunk_table_find(&terrain->own, chunk_key(at));
    return chunk != NULL ? chunk : terrain_base_chunk(terrain, at);
}

// --- look-ups -----------------------------------------------------------------------------------

VoxelKind terrain_voxel(const Terrain *terrain, VoxelCoord at)
{
    const Chunk *chunk = terrain_chunk(terrain, at.x >> 5, at.y >> 5, at.z >> 5);
    return chunk_voxel(chunk, chunk_column(at.x, at.z), (uint32_t)at.y & 31);
}

bool terrain_is_solid(const Terrain *terrain, VoxelCoord at)
{
    const Chunk *chunk = terrain_chunk(terrain, at.x >> 5, at.y >> 5, at.z >> 5);
    return (chunk->solid[chunk_column(at.x, at.z)] >> ((uint32_t)at.y & 31) & 1) != 0;
}

// A column that reaches into a second or third chunk, or is not in the grid.
static __attribute__((noinline)) uint64_t column_elsewhere(const Terrain *terrain, int32_t x,
                                                           int32_t z, int32_t y, uint32_t count)
{
    ASSERT(count - 1 < 64);
    const uint32_t column = chunk_column(x, z);
    const uint32_t shift = (uint32_t)y & 31;
    uint64_t bits = 0;
    for (uint32_t from = 0; from < shift + count; from += 32) {
        const Chunk *chunk =
            terrain_chunk(terrain, x >> 5, (y >> 5) + (int32_t)(from >> 5), z >> 5);
        const uint64_t word = chunk->solid[column];
        bits |= from == 0 ? word >> shift : word << (from - shift);
    }
    return bits & UINT64_MAX >> (64 - count);
}

uint64_t terrain_column(const Terrain *terrain, int32_t x, int32_t z, int32_t y, uint32_t count)
{
    const uint32_t shift = (uint32_t)y & 31;
    const Chunk *chunk = terrain_cell(terrain, x >> 5, y >> 5, z >> 5);
    if (__builtin_expect(chunk != NULL && count - 1 < 32 - shift, 1)) {
        return chunk->solid[chunk_column(x, z)] >> shift & UINT32_MAX >> (32 - count);
    }
    return column_elsewhere(terrain, x, z, y, count);
}

// --- counters -----------------------------------------------------------------------------------

uint32_t terrain_chunk_version(const Terrain *terrain, ChunkCoord at)
{
    if (!chunk_coord_is_inside(at)) {
        return 0;
    }
    const Chunk *chunk = chunk_table_find(&terrain->own, chunk_key(at));
    return chunk != NULL ? chunk->version : 0;
}

uint32_t terrain_kind_count(const Terrain *terrain)
{
    return terrain->kinds.count;
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

void terrain_set_room(Terrain *terrain, uint32_t chunks, uint32_t pages)
{
    terrain->has_room = true;
    terrain->chunk_room = chunks;
    terrain->page_room = pages;
}

void terrain_clear_room(Terrain *terrain)
{
    terrain->has_room = false;
}

void terrain_clear(Terrain *terrain)
{
    terrain_own_clear(terrain);
    terrain->edit_count = 0;
}
