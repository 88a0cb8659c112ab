// Coordinates of chunks as keys.
#pragma once

#include "core/base/limits.h"
#include "core/sim/voxel.h"

#include <stdbool.h>
#include <stdint.h>

static inline bool chunk_coord_equal(ChunkCoord a, ChunkCoord b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Another number for every chunk of the world, never 0.
static inline uint64_t chunk_coord_key(ChunkCoord at)
{
    return ((uint64_t)(at.x + CHUNK_COORD_MAX) << 40 | (uint64_t)(at.y + CHUNK_COORD_MAX) << 20 |
            (uint64_t)(at.z + CHUNK_COORD_MAX)) +
           1;
}
