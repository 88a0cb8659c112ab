// A playground for the tests of prediction: stairs, slopes, conveyors, ladders, bouncing pads,
// hills of voxels, and parts that ride, lift, turn and jump in endless loops, announced ahead. A
// walker is steered from one attraction to the next. Everything follows from one seed.
#pragma once

#include "core/base/heap.h"
#include "core/base/rng.h"
#include "core/sim/sim.h"

#define RIDE_MOVERS      8
#define RIDE_MOVER_FIRST 1000 // net id of the first
#define RIDE_PLAYER      2000 // net id of the walker
#define RIDE_ANNOUNCED   30   // ticks before a segment begins, it is known

typedef struct RideWorld {
    Heap heap;
    ChunkStore *chunks;
    Scene *scene;
    SimConfig config;
} RideWorld;

void ride_open(RideWorld *world, uint32_t tick_rate);
void ride_close(RideWorld *world);
// A sim of it, with the movers in some order of slots and no walker.
Sim *ride_sim(RideWorld *world, bool authority, uint32_t order);
// A mover as the description of a part, without its motion.
PartDesc ride_mover(uint32_t index);
// Appends what is to be announced at this tick of the sim; true if anything changed.
bool ride_announce(Sim *sim, uint32_t index);

typedef struct RideWalker {
    Rng rng;
    Vec3 goal;
    uint32_t ticks_left;
    SimInput input;
} RideWalker;
RideWalker ride_walker(uint64_t seed);
SimInput ride_steer(RideWalker *walker, Vec3 position);

// What happened to a walker, so that a test can say that it saw everything.
typedef struct RideSeen {
    uint32_t grounded, airborne, climbing, bounced, landed;
    uint32_t on_mover, on_conveyor, on_slope, on_stairs;
} RideSeen;
void ride_look(RideSeen *seen, const Sim *sim, Handle walker);
