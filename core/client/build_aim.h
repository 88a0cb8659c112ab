// Where a player would build, dig or fill: what lies in front of the eye, the cells or voxels that
// follow from it, and whether the world would allow it. It asks the client's own sim by the rules
// of the world (act_build.c, act_voxel.c), so the answer is what the world will say, unless
// something changes on the way. It changes nothing.
#pragma once

#include "core/client/client.h"

// Why not. The page has a sentence for each.
typedef enum BuildReason {
    BUILD_OK,
    BUILD_FORBIDDEN,   // not in this place
    BUILD_FAR,         // out of reach
    BUILD_BLOCKED,     // something is in the way
    BUILD_UNSUPPORTED, // nothing would hold it up
    BUILD_FULL,        // there are as many as there may be
    BUILD_OUTSIDE,     // of the place
    BUILD_DEAD,        // only the living build
    BUILD_NO_CHANGE    // terrain that is so already
} BuildReason;

typedef struct BuildAim {
    bool hit; // something is in front of the eye; otherwise nothing else here counts
    BuildReason reason;
    VoxelCoord min, max; // cells or voxels, both ends included
    uint64_t target;     // net id of the structure that is aimed at, 0: none
    uint32_t target_piece;
    bool target_is_own;
} BuildAim;

// Exactly one of the two: a piece of the catalogue, or a cube of voxels.
typedef struct BuildWish {
    Vec3 origin;
    Vec3 direction; // unit
    bool terrain;
    uint32_t piece; // beyond the catalogue: only what is aimed at is wanted
    uint32_t turn;
    uint32_t edge;        // of the cube, in voxels
    VoxelKind voxel_kind; // 0 digs
} BuildWish;

BuildAim build_aim(const Client *client, const BuildWish *wish);
