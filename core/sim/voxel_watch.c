// Compares a small box of voxels before and after an edit; see voxel_watch.h.
#include "core/sim/voxel_watch.h"

static uint64_t edge(int32_t min, int32_t max)
{
    return max < min ? 0 : (uint64_t)((int64_t)max - min + 1);
}

static VoxelCoord coord_at(const VoxelWatch *watch, uint32_t index)
{
    const uint32_t x = (uint32_t)edge(watch->min.x, watch->max.x);
    const uint32_t y = (uint32_t)edge(watch->min.y, watch->max.y);
    return (VoxelCoord){watch->min.x + (int32_t)(index % x),
                        watch->min.y + (int32_t)(index / x % y),
                        watch->min.z + (int32_t)(index / x / y)};
}

void voxel_watch_begin(VoxelWatch *watch, VoxelCoord min, VoxelCoord max, VoxelReader read,
                       void *user)
{
    watch->min = min;
    watch->max = max;
    watch->next = 0;
    const uint64_t x = edge(min.x, max.x);
    const uint64_t y = edge(min.y, max.y);
    const uint64_t z = edge(min.z, max.z);
    const uint64_t most = VOXEL_WATCH_MAX;
    // One after the other, so that the product of huge edges is never made.
    const bool is_small = x <= most && y <= most && z <= most && x * y * z <= most;
    watch->count = is_small ? (uint32_t)(x * y * z) : 0;
    for (uint32_t i = 0; i < watch->count; i++) {
        watch->before[i] = read(user, coord_at(watch, i));
    }
}

bool voxel_watch_next(VoxelWatch *watch, VoxelReader read, void *user, VoxelChange *out)
{
    while (watch->next < watch->count) {
        const uint32_t i = watch->next++;
        const VoxelCoord at = coord_at(watch, i);
        const VoxelKind now = read(user, at);
        if (now != watch->before[i]) {
            *out = (VoxelChange){at, watch->before[i], now};
            return true;
        }
    }
    return false;
}
