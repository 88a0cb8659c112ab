// A small world for the tests of paths and NPCs: terrain, parts and a sim, created from one
// description and freed as a whole.
#pragma once

#include "core/base/heap.h"
#include "core/sim/sim.h"

#define WALK_WORLD_HALF 48 // the floor reaches from -48 to 47 along x and z

typedef struct WalkWorldDesc {
    SimConfig config;
    bool floor;                       // solid voxels at y = -1
    void (*build)(ChunkStore *store); // may be NULL
    const PartDesc *parts;
    uint32_t part_count;
    const PieceDesc *pieces;
    uint32_t piece_count;
} WalkWorldDesc;

typedef struct WalkWorld {
    Heap heap;
    ChunkStore *store;
    Scene *scene;
    Sim *sim;
} WalkWorld;

// A floor, nothing on it, and a config of a size that a test can afford.
WalkWorldDesc walk_world_default(void);
// Ends the program with a message when it cannot be made.
WalkWorld walk_world_open(const WalkWorldDesc *desc);
// A second sim of the same world.
Sim *walk_world_twin(WalkWorld *world);
// Copies the state of one sim into another through bytes; false when reading fails.
bool walk_world_copy(WalkWorld *world, const Sim *from, Sim *to);
void walk_world_close(WalkWorld *world);

// An upright box from corner to corner.
PartDesc walk_box(Vec3 min, Vec3 max);
Handle walk_player(Sim *sim, Vec3 position);
void walk_steps_run(Sim *sim, uint32_t count);
// Fills voxels of the sim's own terrain, both corners included.
void walk_fill(Sim *sim, VoxelCoord min, VoxelCoord max, VoxelKind kind);
