// The world that the sim benchmarks run in: 200 x 200 m of hilly voxels with one anchored part in
// every 2 x 2 m on the ground and one in every 4 x 4 m overhead (12,500 in all; a fifth turned
// freely, the rest aligned or turned about y; all kinds), and a crowd whose inputs come from a
// seed. The scene is created once and shared; each benchmark creates its own sims.
#pragma once

#include "core/base/heap.h"
#include "core/base/rng.h"
#include "core/sim/sim.h"

#define BENCH_EDGE_M 200

typedef struct BenchScene {
    Heap heap;
    ChunkStore *chunks;
    Scene *scene;
} BenchScene;

typedef struct BenchCrowd {
    Sim *sim;
    Heap *heap;
    Handle *players;
    SimInput *inputs;
    uint32_t player_count;
    bool idle; // nobody is given an input
    Rng rng;
} BenchCrowd;

// These end the program with a message when something is refused: a benchmark has no second plan.
void bench_scene_create(BenchScene *scene);
void bench_scene_destroy(BenchScene *scene);

// A sim as a server runs it, with players at random places.
void bench_crowd_create(BenchCrowd *crowd, BenchScene *scene, uint32_t player_count, bool idle);
void bench_crowd_destroy(BenchCrowd *crowd);
// The inputs of one tick: now and then another direction, a jump, a run; a player that is stopped
// by something jumps or turns. Not part of what is measured.
void bench_crowd_drive(BenchCrowd *crowd);
// Drives and steps.
void bench_crowd_run(BenchCrowd *crowd, uint32_t ticks);

// Each coordinate between those of the two corners.
Vec3 bench_random_point(Rng *rng, Vec3 low, Vec3 high);
// The y of the ground's surface in the column of voxels at (x, z), before any edit.
int32_t bench_ground_y(int32_t x, int32_t z);
void bench_require(Status status, const char *what);
