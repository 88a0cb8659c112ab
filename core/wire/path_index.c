// See path_index.h. Open addressing with linear steps. Paths are chosen by creators, who could make
// them collide: then a lookup is as slow as a scan of all, and no slower.
#include "core/wire/path_index.h"

#include "core/base/check.h"

#include <string.h>

static uint32_t hash_of(Text path)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < path.bytes; i++) {
        hash = (hash ^ (uint8_t)path.data[i]) * 16777619u;
    }
    return hash ^ hash >> 15;
}

static const char *path_at(const PathIndex *index, uint32_t number)
{
    return index->items + (size_t)number * index->item_bytes;
}

// The slot of that path, or the free one where it would go.
static uint32_t slot_of(const PathIndex *index, Text path)
{
    uint32_t at = hash_of(path) & (index->slot_count - 1);
    for (uint32_t i = 0; i < index->slot_count; i++) {
        const uint32_t number = index->slots[at];
        if (number == 0 || text_is(path, path_at(index, number - 1))) {
            return at;
        }
        at = (at + 1) & (index->slot_count - 1);
    }
    ASSERT(false && "half of the slots are free");
    return 0;
}

uint32_t path_index_slots(uint32_t item_max)
{
    ASSERT(item_max <= UINT32_MAX / 4);
    uint32_t count = 16;
    while (count < 2 * item_max) {
        count *= 2;
    }
    return count;
}

void path_index_init(PathIndex *index, uint32_t *slots, uint32_t slot_count, const void *items,
                     size_t item_bytes)
{
    ASSERT(slot_count > 0 && (slot_count & (slot_count - 1)) == 0);
    *index = (PathIndex){
        .slots = slots, .slot_count = slot_count, .items = items, .item_bytes = item_bytes};
    path_index_clear(index);
}

void path_index_clear(PathIndex *index)
{
    memset(index->slots, 0, index->slot_count * sizeof *index->slots);
}

bool path_index_put(PathIndex *index, uint32_t number)
{
    const uint32_t slot = slot_of(index, text_from(path_at(index, number)));
    if (index->slots[slot] != 0) {
        return false;
    }
    index->slots[slot] = number + 1;
    return true;
}

void path_index_fill(PathIndex *index, uint32_t first, uint32_t count)
{
    path_index_clear(index);
    for (uint32_t i = 0; i < count; i++) {
        const bool is_new = path_index_put(index, first + i);
        ASSERT(is_new);
    }
}

uint32_t path_index_find(const PathIndex *index, Text path)
{
    if (index->slot_count == 0) {
        return PATH_INDEX_NONE;
    }
    const uint32_t number = index->slots[slot_of(index, path)];
    return number == 0 ? PATH_INDEX_NONE : number - 1;
}
