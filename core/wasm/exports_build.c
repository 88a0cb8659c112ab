// Build mode: what a page shows before its player builds, digs or fills. See exports.c for how
// results are given back.
#include "core/client/build_aim.h"
#include "core/wasm/exports_inside.h"

#include <string.h>

static bool wish_ray(double x, double y, double z, double dx, double dy, double dz, BuildWish *wish)
{
    wish->origin = vec3((float)x, (float)y, (float)z);
    const Vec3 direction = vec3((float)dx, (float)dy, (float)dz);
    const float length = vec3_length(direction);
    wish->direction = vec3_scale(direction, 1 / length);
    return vec3_is_finite(wish->origin) && length > 0.5f && length < 2;
}

// 11 doubles: reason (BuildReason), lowest and highest cell, net id of the structure that is aimed
// at (0: none), its piece, whether it is the player's own, and 0.
static const void *give_aim(const BuildAim *aim)
{
    if (!aim->hit) {
        return NULL;
    }
    double *numbers = exports_numbers();
    const double row[11] = {aim->reason,       aim->min.x,         aim->min.y, aim->min.z,
                            aim->max.x,        aim->max.y,         aim->max.z, (double)aim->target,
                            aim->target_piece, aim->target_is_own, 0};
    memcpy(numbers, row, sizeof row);
    return exports_result(numbers, sizeof row);
}

// A piece of the catalogue where a ray ends; a piece that is not in it: only what is aimed at.
// NULL: nothing is in reach there.
EXPORT("clientBuildAim")
const void *export_client_build_aim(const Client *client, double x, double y, double z, double dx,
                                    double dy, double dz, uint32_t piece, uint32_t turn)
{
    BuildWish wish = {.piece = piece, .turn = turn % 4};
    if (!wish_ray(x, y, z, dx, dy, dz, &wish)) {
        return NULL;
    }
    const BuildAim aim = build_aim(client, &wish);
    return give_aim(&aim);
}

// A cube of voxels of that edge, made of that kind; 0 digs.
EXPORT("clientDigAim")
const void *export_client_dig_aim(const Client *client, double x, double y, double z, double dx,
                                  double dy, double dz, uint32_t edge, uint32_t kind)
{
    BuildWish wish = {.terrain = true,
                      .edge = edge == 0 || edge > VOXEL_EDIT_BOX_EDGE_MAX ? 1 : edge,
                      .voxel_kind = (VoxelKind)(kind & 1023)};
    if (!wish_ray(x, y, z, dx, dy, dz, &wish)) {
        return NULL;
    }
    const BuildAim aim = build_aim(client, &wish);
    return give_aim(&aim);
}
