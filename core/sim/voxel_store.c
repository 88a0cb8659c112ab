// The place's own terrain, shared and read-only once built. Its hash table finds any chunk; its
// grid finds those of an ordinary, compact place without hashing. The grid follows the table while
// the store is built, never afterwards, so that reading needs no lock.
#include "core/sim/voxel_inside.h"

#include <string.h>

VoxelKinds voxel_kinds_default(void)
{
    VoxelKinds kinds;
    memset(&kinds, 0xff, sizeof kinds);
    kinds.solid[0] &= ~1ull;
    return kinds;
}

// The box of a place is rarely filled: four cells for every chunk, and enough for a tiny place.
static uint32_t cell_max_for(uint32_t chunk_max)
{
    return chunk_max <= CHUNK_TABLE_CHUNKS_MAX ? 4 * chunk_max + 64 : 0;
}

Status chunk_store_create(Heap *heap, const ChunkStoreConfig *config, ChunkStore **out)
{
    const uint32_t cell_max = cell_max_for(config->chunk_max);
    const size_t head_bytes = (sizeof(ChunkStore) + 15) & ~(size_t)15;
    const size_t table_bytes = chunk_table_bytes(config->chunk_max, config->page_max);
    size_t bytes = chunk_size_add(head_bytes, table_bytes);
    bytes = chunk_size_add(bytes, heap_array_bytes(cell_max, sizeof(Chunk *)));
    uint8_t *block = heap_alloc(heap, bytes);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    ChunkStore *store = (ChunkStore *)(void *)block;
    chunk_table_init(&store->table, block + head_bytes, config->chunk_max, config->page_max);
    store->grid.cells = (const Chunk **)(void *)(block + head_bytes + table_bytes);
    store->cell_max = cell_max;
    store->kinds = config->kinds;
    store->kinds.solid[0] &= ~1ull;
    *out = store;
    return STATUS_OK;
}

void chunk_store_destroy(Heap *heap, ChunkStore *store)
{
    heap_free(heap, store);
}

const VoxelKinds *chunk_store_kinds(const ChunkStore *store)
{
    return &store->kinds;
}

static const Chunk **grid_cell(const ChunkGrid *grid, ChunkCoord at)
{
    const uint32_t x = (uint32_t)at.x - (uint32_t)grid->min.x;
    const uint32_t y = (uint32_t)at.y - (uint32_t)grid->min.y;
    const uint32_t z = (uint32_t)at.z - (uint32_t)grid->min.z;
    if (x >= grid->size_x || y >= grid->size_y || z >= grid->size_z) {
        return NULL;
    }
    return &grid->cells[((size_t)z * grid->size_y + y) * grid->size_x + x];
}

const Chunk *chunk_store_chunk(const ChunkStore *store, ChunkCoord at)
{
    const Chunk **cell = grid_cell(&store->grid, at);
    if (cell != NULL) {
        return *cell;
    }
    if (!chunk_coord_is_inside(at)) {
        return &chunk_air;
    }
    const Chunk *chunk = chunk_table_find(&store->table, chunk_key(at));
    return chunk != NULL ? chunk : &chunk_air;
}

// Lays the grid around all chunks anew, or gives it up when its box is too large.
static void grid_rebuild(ChunkStore *store)
{
    const ChunkTable *table = &store->table;
    ChunkGrid *grid = &store->grid;
    ChunkCoord min = chunk_coord(chunk_table_at(table, 0)->key);
    ChunkCoord max = min;
    for (uint32_t i = 1; i < table->chunk_count; i++) {
        const ChunkCoord at = chunk_coord(chunk_table_at(table, i)->key);
        min.x = at.x < min.x ? at.x : min.x;
        min.y = at.y < min.y ? at.y : min.y;
        min.z = at.z < min.z ? at.z : min.z;
        max.x = at.x > max.x ? at.x : max.x;
        max.y = at.y > max.y ? at.y : max.y;
        max.z = at.z > max.z ? at.z : max.z;
    }
    grid->min = min;
    grid->size_x = (uint32_t)(max.x - min.x + 1);
    grid->size_y = (uint32_t)(max.y - min.y + 1);
    grid->size_z = (uint32_t)(max.z - min.z + 1);
    const uint64_t cell_count = (uint64_t)grid->size_x * grid->size_y * grid->size_z;
    if (cell_count > store->cell_max) {
        grid->size_x = 0;
        grid->size_y = 0;
        grid->size_z = 0;
        return;
    }
    for (uint32_t i = 0; i < (uint32_t)cell_count; i++) {
        grid->cells[i] = &chunk_air;
    }
    for (uint32_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = chunk_table_at(table, i);
        *grid_cell(grid, chunk_coord(chunk->key)) = chunk;
    }
}

void chunk_store_added(ChunkStore *store, const Chunk *chunk)
{
    const Chunk **cell = grid_cell(&store->grid, chunk_coord(chunk->key));
    if (cell != NULL) {
        *cell = chunk;
    } else if (store->table.chunk_count == 1 || store->grid.size_x != 0) {
        grid_rebuild(store);
    }
}
