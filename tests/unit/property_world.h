// Random worlds for the property tests: hills of voxels, anchored parts of every kind and rotation,
// parts that move and turn, players with random inputs, and, where asked for, NPCs, projectiles,
// edits under feet and structures. Everything follows from one seed.
#pragma once

#include "core/base/heap.h"
#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "core/sim/sim.h"
#include "core/sim/structure.h"

#define PROPERTY_PLAYERS_MAX 256
#define PROPERTY_MOVERS_MAX  64

typedef struct PropertyOptions {
    uint64_t seed;
    uint32_t player_count;
    uint32_t npc_count;
    uint32_t part_count;
    uint32_t mover_count;
    int32_t edge_m;   // half the side of the terrain
    uint32_t variant; // 1: 30 ticks a second; 2: small bodies; 3: large ones; else the default
    bool edits;
    bool projectiles;
    bool structures;
} PropertyOptions;

typedef struct PropertyWorld {
    PropertyOptions options;
    Heap heap;
    SimConfig config;
    ChunkStore *chunks;
    Scene *scene;
    Sim *sim;
    Rng rng;
    Handle players[PROPERTY_PLAYERS_MAX];
    Handle movers[PROPERTY_MOVERS_MAX];
    Vec3 mover_home[PROPERTY_MOVERS_MAX];
    uint32_t input_seq;
} PropertyWorld;

PropertyOptions property_options_default(uint64_t seed);
// Everything it says is busy.
PropertyOptions property_options_busy(uint64_t seed);

void property_open(PropertyWorld *world, PropertyOptions options);
// Before each step: inputs, motions, edits, shots, structures, and the dead revived.
void property_drive(PropertyWorld *world);
void property_close(PropertyWorld *world);

Vec3 property_place(PropertyWorld *world, float low, float high); // anywhere over the terrain
PartDesc property_part(Rng *rng, Vec3 at);
