// Ids to slots; see id_map.h.
#include "core/base/id_map.h"

#include "core/base/check.h"
#include "core/base/hash.h"

static uint32_t map_size(uint32_t id_max)
{
    uint32_t size = 16;
    while (size < (uint64_t)id_max * 2) {
        size *= 2;
    }
    return size;
}

size_t id_map_bytes(uint32_t id_max)
{
    const size_t size = map_size(id_max);
    return arena_need(size * sizeof(uint64_t)) + arena_need(size * sizeof(uint32_t));
}

Status id_map_init(IdMap *map, Arena *arena, uint32_t id_max)
{
    const uint32_t size = map_size(id_max);
    map->mask = size - 1;
    map->ids = arena_array(arena, size, sizeof(uint64_t));
    map->slots = arena_array(arena, size, sizeof(uint32_t));
    return map->ids == NULL || map->slots == NULL ? STATUS_LIMIT : STATUS_OK;
}

static uint32_t home_of(const IdMap *map, uint64_t id)
{
    return (uint32_t)hash_mix(id) & map->mask;
}

// The place of an id, or the empty place where it would go.
static uint32_t place_of(const IdMap *map, uint64_t id)
{
    uint32_t at = home_of(map, id);
    while (map->ids[at] != 0 && map->ids[at] != id) {
        at = (at + 1) & map->mask;
    }
    return at;
}

uint32_t id_map_find(const IdMap *map, uint64_t id)
{
    if (id == 0) {
        return 0;
    }
    const uint32_t at = place_of(map, id);
    return map->ids[at] == 0 ? 0 : map->slots[at];
}

void id_map_put(IdMap *map, uint64_t id, uint32_t slot)
{
    ASSERT(id != 0);
    ASSERT(slot != 0);
    const uint32_t at = place_of(map, id);
    map->ids[at] = id;
    map->slots[at] = slot;
}

// Closes the gap, so that no search ends too early.
void id_map_remove(IdMap *map, uint64_t id)
{
    uint32_t gap = place_of(map, id);
    ASSERT(map->ids[gap] == id);
    uint32_t at = gap;
    for (;;) {
        at = (at + 1) & map->mask;
        if (map->ids[at] == 0) {
            break;
        }
        const uint32_t home = home_of(map, map->ids[at]);
        if (((at - home) & map->mask) >= ((at - gap) & map->mask)) {
            map->ids[gap] = map->ids[at];
            map->slots[gap] = map->slots[at];
            gap = at;
        }
    }
    map->ids[gap] = 0;
}
