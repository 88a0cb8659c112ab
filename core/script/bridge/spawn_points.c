// Spawn points for scripts; see spawn_points.h.
#include "core/script/bridge/spawn_points.h"

#include <string.h>

const PlaceSpawn *spawn_points_at(const SpawnPoints *points, uint64_t net_id)
{
    const bool is_one = net_id >= SPAWN_POINT_FIRST && net_id - SPAWN_POINT_FIRST < points->count;
    const PlaceSpawn *spawn = is_one ? &points->spawns[net_id - SPAWN_POINT_FIRST] : NULL;
    return spawn != NULL && !spawn->is_gone ? spawn : NULL;
}

uint64_t spawn_points_find(const SpawnPoints *points, Text name)
{
    for (uint32_t i = 0; i < points->count && name.bytes > 0; i++) {
        if (!points->spawns[i].is_gone && text_equal(points->spawns[i].name, name)) {
            return SPAWN_POINT_FIRST + i;
        }
    }
    return 0;
}

bool spawn_points_info(const SpawnPoints *points, uint64_t net_id, ScriptEntityInfo *out)
{
    const PlaceSpawn *spawn = spawn_points_at(points, net_id);
    if (spawn == NULL) {
        return false;
    }
    *out = (ScriptEntityInfo){.net_id = net_id,
                              .type = ENTITY_NONE,
                              .position = spawn->position,
                              .rotation = quat_from_axis_angle(vec3(0, 1, 0), spawn->yaw),
                              .team = spawn->team,
                              .is_anchored = true};
    return true;
}

// The one of that number among those of a team, or among all (NULL); `count` gets how many there
// are.
static const PlaceSpawn *nth_of(const SpawnPoints *points, const Text *team, uint64_t number,
                                uint32_t *count)
{
    const PlaceSpawn *found = NULL;
    *count = 0;
    for (uint32_t i = 0; i < points->count; i++) {
        const PlaceSpawn *spawn = &points->spawns[i];
        if (!spawn->is_gone && (team == NULL || text_equal(spawn->team, *team))) {
            found = *count == number ? spawn : found;
            *count += 1;
        }
    }
    return found;
}

const PlaceSpawn *spawn_points_choose(const SpawnPoints *points, Text team, uint64_t player_id)
{
    const Text everybody = {"", 0};
    const Text *const choices[] = {&team, &everybody, NULL};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t count = 0;
        (void)nth_of(points, choices[i], 0, &count);
        if (count > 0) {
            return nth_of(points, choices[i], player_id % count, &count);
        }
    }
    return NULL;
}
