// The visible faces of a chunk of terrain, as rectangles for a page to draw. Adjacent faces of one
// kind are one rectangle; a face is visible if the voxel in front of it is transparent (air, or a
// kind that does not block while this one does).
#pragma once

#include "core/sim/voxel.h"

// Towards +x, -x, +y, -y, +z, -z.
typedef struct TerrainQuad {
    uint8_t x, y, z; // lowest voxel of the rectangle, within the chunk
    uint8_t face;    // 0..5
    uint8_t width;   // voxels along the first of the two other axes (x before y before z)
    uint8_t height;  // along the second
    VoxelKind kind;
} TerrainQuad;

// The maximum for a chunk: half of its voxels, six faces each.
#define TERRAIN_QUADS_MAX (CHUNK_VOXELS / 2 * 6)
// Writes the first `max`; returns how many there are.
uint32_t terrain_mesh(const Terrain *terrain, const VoxelKinds *kinds, ChunkCoord at,
                      TerrainQuad *out, uint32_t max);
