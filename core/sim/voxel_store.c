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
    kinds.count = VOXEL_KINDS_MAX;
    return kinds;
}

// The box of a place is rarely filled: four cells for every chunk, and enough for a tiny place.
static uint32_t cell_max_for(uint32_t chunk_max)
{
    return chunk_max <= CHUNK_TABLE_CHUNKS_MAX ? 4 * chunk_max + 64 : 0;
}

Status chunk_store_create(Heap *heap, const ChunkStoreConfig *config, ChunkStore **out)
{
    ASSERT(config->kinds.count >= 1 && config->kinds.count <= VOXEL_KINDS_MAX);
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

// --- grids --------------------------------------------------------------------------------------

void chunk_box_add(ChunkCoord *min, ChunkCoord *max, ChunkCoord at)
{
    min->x = at.x < min->x ? at.x : min->x;
    min->y = at.y < min->y ? at.y : min->y;
    min->z = at.z < min->z ? at.z : min->z;
    max->x = at.x > max->x ? at.x : max->x;
    max->y = at.y > max->y ? at.y : max->y;
    max->z = at.z > max->z ? at.z : max->z;
}

bool chunk_grid_lay(ChunkGrid *grid, ChunkCoord min, ChunkCoord max, uint32_t cell_max)
{
    const uint32_t size_x = (uint32_t)(max.x - min.x + 1);
    const uint32_t size_y = (uint32_t)(max.y - min.y + 1);
    const uint32_t size_z = (uint32_t)(max.z - min.z + 1);
    const uint64_t cell_count = (uint64_t)size_x * size_y * size_z;
    if (cell_count > cell_max) {
        *grid = (ChunkGrid){.cells = grid->cells};
        return false;
    }
    *grid = (ChunkGrid){grid->cells, min, size_x, size_y, size_z};
    for (uint32_t i = 0; i < (uint32_t)cell_count; i++) {
        grid->cells[i] = &chunk_air;
    }
    return true;
}

// --- chunks -------------------------------------------------------------------------------------

// Lays the grid around all chunks anew, or gives it up when its box is too large.
static void grid_rebuild(ChunkStore *store)
{
    const ChunkTable *table = &store->table;
    ChunkCoord min = chunk_coord(chunk_table_at(table, 0)->key);
    ChunkCoord max = min;
    for (uint32_t i = 1; i < table->chunk_count; i++) {
        chunk_box_add(&min, &max, chunk_coord(chunk_table_at(table, i)->key));
    }
    if (!chunk_grid_lay(&store->grid, min, max, store->cell_max)) {
        return;
    }
    for (uint32_t i = 0; i < table->chunk_count; i++) {
        const Chunk *chunk = chunk_table_at(table, i);
        *chunk_grid_cell(&store->grid, chunk_coord(chunk->key)) = chunk;
    }
}

void chunk_store_added(ChunkStore *store, const Chunk *chunk)
{
    const Chunk **cell = chunk_grid_cell(&store->grid, chunk_coord(chunk->key));
    if (cell != NULL) {
        *cell = chunk;
    } else if (store->table.chunk_count == 1 || store->grid.size_x != 0) {
        grid_rebuild(store);
    }
}
