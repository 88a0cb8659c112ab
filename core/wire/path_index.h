// Finds a script by its path among many: a hash table of numbers over an array that the caller
// owns. The first member of each item is its path (SCRIPT_PATH_BYTES, terminated). When items move,
// the table is filled again; that takes time in proportion to their number.
#pragma once

#include "core/base/text.h"
#include "core/wire/net.h"

#define PATH_INDEX_NONE UINT32_MAX

typedef struct PathIndex {
    uint32_t *slots;     // number + 1; 0: free
    uint32_t slot_count; // a power of two, at least twice the number of items
    const char *items;
    size_t item_bytes;
} PathIndex;

// How many slots that many items need. The caller gives an array of so many uint32_t.
uint32_t path_index_slots(uint32_t item_max);
// Empty. Both pointers are kept.
void path_index_init(PathIndex *index, uint32_t *slots, uint32_t slot_count, const void *items,
                     size_t item_bytes);
void path_index_clear(PathIndex *index);
// False: an item of the same path is there already.
bool path_index_put(PathIndex *index, uint32_t number);
// Empties it and puts the items [first, first + count), of which no two have the same path.
void path_index_fill(PathIndex *index, uint32_t first, uint32_t count);
uint32_t path_index_find(const PathIndex *index, Text path); // PATH_INDEX_NONE: there is none
