// A fixed number of chunks, found by coordinate: the inside of both ChunkStore and Terrain.
// Open addressing with linear probing, at most half full. Records never move, so a pointer to a
// chunk stays valid until that chunk is removed. `order` lists the records by ascending key, and
// every walk over chunks uses it: neither the order of the hash table nor the history of the free
// list affects a result.
#pragma once

#include "core/sim/chunk.h"

#include <stddef.h>

// A table of this many chunks would need 3 GiB of records; the heap's limit is reached long before.
#define CHUNK_TABLE_CHUNKS_MAX (1u << 24)

typedef struct ChunkEntry {
    uint32_t key;
    uint32_t place; // record + 1; 0 is an empty entry
} ChunkEntry;

typedef struct ChunkTable {
    Chunk *chunks;
    ChunkEntry *entries;
    uint32_t *order; // records by ascending key
    uint32_t entry_mask;
    uint32_t entry_shift;
    uint32_t chunk_max;
    uint32_t chunk_count;
    uint32_t chunk_touched; // records below were used at least once
    uint32_t free_first;    // list of those given back; CHUNK_PAGE_NONE ends it
    ChunkPool pool;
} ChunkTable;

// What a table takes; SIZE_MAX when it is more than can be addressed.
size_t chunk_table_bytes(uint32_t chunk_max, uint32_t page_max);
// The block must be zeroed, 16-byte aligned, and that large. The table keeps it.
void chunk_table_init(ChunkTable *table, void *block, uint32_t chunk_max, uint32_t page_max);

// The key must be absent and the table not full. The chunk is all air, version 0.
Chunk *chunk_table_insert(ChunkTable *table, uint32_t key);
// Frees the chunk and its pages.
void chunk_table_remove(ChunkTable *table, Chunk *chunk);
void chunk_table_clear(ChunkTable *table);

// The sum of two sizes, SIZE_MAX when that overflows or one of them is SIZE_MAX already.
size_t chunk_size_add(size_t a, size_t b);

static inline Chunk *chunk_table_at(const ChunkTable *table, uint32_t index)
{
    ASSERT(index < table->chunk_count);
    return &table->chunks[table->order[index]];
}

static inline uint32_t chunk_table_slot(const ChunkTable *table, uint32_t key)
{
    return key * 0x9e3779b1u >> table->entry_shift;
}

// NULL when there is none.
static inline Chunk *chunk_table_find(const ChunkTable *table, uint32_t key)
{
    for (uint32_t slot = chunk_table_slot(table, key);; slot = (slot + 1) & table->entry_mask) {
        const ChunkEntry entry = table->entries[slot];
        if (entry.place == 0) {
            return NULL;
        }
        if (entry.key == key) {
            return &table->chunks[entry.place - 1];
        }
    }
}
