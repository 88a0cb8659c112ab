// Chunks by coordinate; see chunk_table.h. Everything is carved from one block, which the heap has
// zeroed: it is not cleared again, so that pages no chunk ever used cost no memory.
#include "core/sim/chunk_table.h"

#include "core/base/heap.h"

#include <string.h>

size_t chunk_size_add(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

static size_t aligned(size_t bytes)
{
    return chunk_size_add(bytes, 15) == SIZE_MAX ? SIZE_MAX : (bytes + 15) & ~(size_t)15;
}

// The least power of two that leaves half of the entries empty, and one at least.
static uint32_t entry_count_for(uint32_t chunk_max)
{
    uint32_t count = 4;
    while (count < 2 * chunk_max) {
        count *= 2;
    }
    return count;
}

size_t chunk_table_bytes(uint32_t chunk_max, uint32_t page_max)
{
    if (chunk_max > CHUNK_TABLE_CHUNKS_MAX) {
        return SIZE_MAX;
    }
    size_t bytes = heap_array_bytes(page_max, sizeof(ChunkPage));
    bytes = chunk_size_add(bytes, aligned(heap_array_bytes(chunk_max, sizeof(Chunk))));
    bytes = chunk_size_add(
        bytes, aligned(heap_array_bytes(entry_count_for(chunk_max), sizeof(ChunkEntry))));
    return chunk_size_add(bytes, aligned(heap_array_bytes(chunk_max, sizeof(uint32_t))));
}

void chunk_table_init(ChunkTable *table, void *block, uint32_t chunk_max, uint32_t page_max)
{
    ASSERT(chunk_max <= CHUNK_TABLE_CHUNKS_MAX);
    const uint32_t entry_count = entry_count_for(chunk_max);
    uint8_t *at = block;
    ChunkPage *pages = (ChunkPage *)(void *)at;
    at += (size_t)page_max * sizeof(ChunkPage);
    *table = (ChunkTable){.chunk_max = chunk_max, .free_first = CHUNK_PAGE_NONE};
    table->chunks = (Chunk *)(void *)at;
    at += aligned((size_t)chunk_max * sizeof(Chunk));
    table->entries = (ChunkEntry *)(void *)at;
    at += aligned((size_t)entry_count * sizeof(ChunkEntry));
    table->order = (uint32_t *)(void *)at;
    table->entry_mask = entry_count - 1;
    table->entry_shift = (uint32_t)__builtin_clz(entry_count) + 1;
    chunk_pool_init(&table->pool, pages, page_max);
}

static void entry_put(ChunkTable *table, uint32_t key, uint32_t record)
{
    uint32_t slot = chunk_table_slot(table, key);
    while (table->entries[slot].place != 0) {
        ASSERT(table->entries[slot].key != key);
        slot = (slot + 1) & table->entry_mask;
    }
    table->entries[slot] = (ChunkEntry){key, record + 1};
}

// The first position in `order` whose key is not below the given one.
static uint32_t order_find(const ChunkTable *table, uint32_t key)
{
    uint32_t low = 0;
    uint32_t high = table->chunk_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (table->chunks[table->order[middle]].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

Chunk *chunk_table_insert(ChunkTable *table, uint32_t key)
{
    ASSERT(table->chunk_count < table->chunk_max);
    uint32_t record = table->free_first;
    if (record == CHUNK_PAGE_NONE) {
        record = table->chunk_touched++;
    } else {
        table->free_first = table->chunks[record].next_free;
    }
    Chunk *chunk = &table->chunks[record];
    chunk_init(chunk);
    chunk->key = key;
    entry_put(table, key, record);

    const uint32_t at = order_find(table, key);
    memmove(&table->order[at + 1], &table->order[at],
            (table->chunk_count - at) * sizeof table->order[0]);
    table->order[at] = record;
    table->chunk_count += 1;
    return chunk;
}

// Removing one entry of a probe sequence could cut it in two. Removal is rare (a chunk that equals
// its base again), so all entries are simply inserted again.
static void entries_rebuild(ChunkTable *table)
{
    memset(table->entries, 0, ((size_t)table->entry_mask + 1) * sizeof table->entries[0]);
    for (uint32_t i = 0; i < table->chunk_count; i++) {
        const uint32_t record = table->order[i];
        entry_put(table, table->chunks[record].key, record);
    }
}

void chunk_table_remove(ChunkTable *table, Chunk *chunk)
{
    const uint32_t at = order_find(table, chunk->key);
    const uint32_t record = (uint32_t)(chunk - table->chunks);
    ASSERT(at < table->chunk_count);
    ASSERT(table->order[at] == record);
    chunk_clear(chunk, &table->pool);
    memmove(&table->order[at], &table->order[at + 1],
            (table->chunk_count - at - 1) * sizeof table->order[0]);
    table->chunk_count -= 1;
    chunk->next_free = table->free_first;
    table->free_first = record;
    entries_rebuild(table);
}

void chunk_table_clear(ChunkTable *table)
{
    for (uint32_t i = 0; i < table->chunk_count; i++) {
        Chunk *chunk = chunk_table_at(table, i);
        chunk_clear(chunk, &table->pool);
        chunk->next_free = table->free_first;
        table->free_first = table->order[i];
    }
    table->chunk_count = 0;
    entries_rebuild(table);
    ASSERT(table->pool.page_count == 0);
}
