// A map from ids (never 0) to slots: open addressing, at most half full, no heap. It cannot be
// iterated, so nothing depends on its order.
#pragma once

#include "core/base/arena.h"
#include "core/base/status.h"

#include <stdint.h>

typedef struct IdMap {
    uint64_t *ids;
    uint32_t *slots;
    uint32_t mask;
} IdMap;

size_t id_map_bytes(uint32_t id_max);
MUST_USE Status id_map_init(IdMap *map, Arena *arena, uint32_t id_max);
// 0 when the id is not there; slots are never 0.
uint32_t id_map_find(const IdMap *map, uint64_t id);
// The caller must keep the count at most id_max.
void id_map_put(IdMap *map, uint64_t id, uint32_t slot);
void id_map_remove(IdMap *map, uint64_t id);
