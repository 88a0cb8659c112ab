// A small world for the fuzz targets of the sim: hills of a few voxels, parts of every kind and
// with every kind of data, a catalogue, and a config that makes a sim of little memory.
#pragma once

#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "core/sim/sim.h"
#include "core/sim/structure.h"

typedef struct SmallWorld {
    Heap heap;
    ChunkStore *chunks;
    Scene *scene;
    SimConfig config;
} SmallWorld;

// Made on the first call, and kept: a fuzz target runs for millions of inputs.
SmallWorld *small_world(void);

// Dies if a state is not sane: numbers that are not finite, counts that do not agree, and, with
// `free`, a living character inside something by more than a millimetre.
void small_world_check(const Sim *sim, bool free);

// A restored copy of the sim, which must hash alike; NULL if the bytes do not fit.
Sim *small_world_copy(SmallWorld *world, const Sim *sim);
