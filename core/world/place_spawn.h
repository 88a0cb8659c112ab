// What the place spawns when the world starts: parts that move, props, NPCs, with their names,
// attributes and tags. Their net ids follow those of the anchored parts, in the order of the place,
// so they are the same after every restart.
#pragma once

#include "core/base/hash.h"
#include "core/place/place.h"
#include "core/script/bridge/authority.h"
#include "core/world/replicate/geometry.h"

typedef struct SpawnedPlace SpawnedPlace;

typedef struct PlaceSpawnConfig {
    Heap *heap; // all of these are kept
    const Place *place;
    Sim *sim;
    Authority *authority;
    Geometry *geometry;
} PlaceSpawnConfig;

MUST_USE Status place_spawn_create(const PlaceSpawnConfig *config, SpawnedPlace **out);
void place_spawn_destroy(SpawnedPlace *spawned); // NULL is allowed
// Something that was spawned later moves as that entity of a place says; its ticks are counted from
// `from`. STATUS_LIMIT: so many added ones move already.
#define PLACE_SPAWN_ADDED_MAX 64
MUST_USE Status place_spawn_move(SpawnedPlace *spawned, Handle part, const PlaceEntity *entity,
                                 uint64_t from);
void place_spawn_tick(SpawnedPlace *spawned); // queues repeating motions
void place_spawn_hash(const SpawnedPlace *spawned, Hash64 *hash);
