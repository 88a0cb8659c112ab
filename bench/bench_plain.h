// The walk of the netcode benchmarks, and the measurement of its errors. N characters walk on a
// plain; its size is chosen so that each sees about 32 others within 64 m. Each walks straight at
// 5 m/s for 1 to 3 seconds (uniformly drawn), turns to a random direction, and continues; at the
// edge it turns back. 60 ticks and 20 snapshots per second.
//
// A few sessions have a client's merge and interpolation. Their errors are measured at every tick:
// the position they show, 100 ms in the past, against the true one.
#pragma once

#include "core/base/rng.h"
#include "core/client/interpolate.h"
#include "core/sim/sim.h"
#include "core/wire/merge.h"

#define PLAIN_TICK_RATE      60
#define PLAIN_SNAPSHOT_TICKS 3
#define PLAIN_RADIUS_M       64.0f
#define PLAIN_VISIBLE        32
#define PLAIN_WALKERS_MAX    2000
#define PLAIN_HALF_M         512.0f // of the floor
#define PLAIN_HISTORY        16

typedef struct PlainWalker {
    SimInput input;
    uint32_t ticks_left;
    Vec3 history[PLAIN_HISTORY]; // by tick
} PlainWalker;

// The largest edge on which nearly everybody sees as many as there is room for.
float plain_edge(uint32_t count);
Vec3 plain_place(Rng *rng, float edge);
PartDesc plain_floor(void);
void plain_walker_start(PlainWalker *walker, Rng *rng);
// The input of the next tick for a walker who is there.
void plain_walker_drive(PlainWalker *walker, Vec3 at, float edge, Rng *rng);

#define PLAIN_ERRORS_MAX (1u << 21)
typedef struct PlainErrors {
    float metres[PLAIN_ERRORS_MAX];
    uint32_t count;
} PlainErrors;
double plain_errors_p99(PlainErrors *errors); // sorts

typedef struct PlainViewer {
    Merge merge;
    uint64_t frame_tick, frame_before;
    InterpolateLine lines[NET_SLOTS_MAX];
    uint64_t entered[NET_SLOTS_MAX]; // tick of the enter
} PlainViewer;
void plain_viewer_reset(PlainViewer *viewer);
void plain_viewer_merge(PlainViewer *viewer, const uint8_t *frame, size_t bytes);
// Errors of the ticks that the last frame brought into view. A walker's owner is its index + 1.
void plain_viewer_measure(const PlainViewer *viewer, const PlainWalker *walkers,
                          PlainErrors *errors);
uint32_t plain_viewer_visible(const PlainViewer *viewer);

void plain_require(Status status, const char *what); // ends the program
