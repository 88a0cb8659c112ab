// Which voxels an edit has changed: their kinds are read before it and compared after it. An edit
// of more than VOXEL_WATCH_MAX voxels is not watched one by one.
#pragma once

#include "core/base/limits.h"
#include "core/sim/voxel.h"

typedef VoxelKind (*VoxelReader)(void *user, VoxelCoord at);

typedef struct VoxelWatch {
    VoxelCoord min, max; // both included
    uint32_t count;      // of the box; 0: too many
    uint32_t next;
    VoxelKind before[VOXEL_WATCH_MAX];
} VoxelWatch;

typedef struct VoxelChange {
    VoxelCoord at;
    VoxelKind before, now;
} VoxelChange;

void voxel_watch_begin(VoxelWatch *watch, VoxelCoord min, VoxelCoord max, VoxelReader read,
                       void *user);
// The next changed voxel, by x, then y, then z; false after the last.
bool voxel_watch_next(VoxelWatch *watch, VoxelReader read, void *user, VoxelChange *out);
