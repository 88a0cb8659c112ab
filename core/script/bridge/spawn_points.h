// Where players start, as scripts see it: entities that only stand there. They are not in the sim;
// their net ids follow their order in the scene, above all ids of a server and below those of a
// client's own entities, so both sides agree on them.
#pragma once

#include "core/place/place.h"
#include "core/script/runtime/script_world.h"

#define SPAWN_POINT_FIRST (1ull << 51) // the net id of the first one

typedef struct SpawnPoints {
    const PlaceSpawn *spawns;
    uint32_t count;
} SpawnPoints;

const PlaceSpawn *spawn_points_at(const SpawnPoints *points, uint64_t net_id); // NULL: none
uint64_t spawn_points_find(const SpawnPoints *points, Text name);              // the first; 0: none
bool spawn_points_info(const SpawnPoints *points, uint64_t net_id, ScriptEntityInfo *out);
// One for a player of that team: of its team, if there are any; of those for everybody, if there
// are any; of all. Players are spread over them. NULL: there are none.
const PlaceSpawn *spawn_points_choose(const SpawnPoints *points, Text team, uint64_t player_id);
