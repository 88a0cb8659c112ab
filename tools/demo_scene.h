// The world of the demo: an island in a sea, with everything that the simulation can do going on at
// once: people on stairs, a turntable, lifts and belts, guards on patrol, gunners who shoot a wall
// to pieces, builders whose gate collapses and is built again. The demo controls the sim only
// through core/sim/sim.h, as a server does; only the colours are its own.
#pragma once

#include "core/base/heap.h"
#include "core/base/rng.h"
#include "core/sim/sim.h"

#define DEMO_SEA_Y 0.65f // the sea is only drawn; it does not exist in the sim

enum {
    DEMO_KIND_STONE = 1,
    DEMO_KIND_EARTH,
    DEMO_KIND_GRASS,
    DEMO_KIND_SAND,
    DEMO_KIND_SNOW,
    DEMO_KIND_COBBLE,
    DEMO_KIND_TRUNK,
    DEMO_KIND_LEAVES,
    DEMO_KIND_BRICK,
    DEMO_KIND_COUNT
};

typedef enum DemoPaint {
    PAINT_STONE,
    PAINT_MARBLE,
    PAINT_WOOD,
    PAINT_RED,
    PAINT_GOLD,
    PAINT_TEAL,
    PAINT_BOUNCE,
    PAINT_BELT,
    PAINT_LADDER,
    PAINT_LIFT,
    PAINT_COUNT
} DemoPaint;

enum { DEMO_SHOT_BALL = 1, DEMO_SHOT_DEBRIS = 2 };

// A light that fades: a shot that hit, a piece that fell.
typedef struct DemoFlash {
    Vec3 position;
    float radius;
    uint64_t tick; // when it lit up
} DemoFlash;

#define DEMO_PARTS_MAX   512
#define DEMO_MOVERS_MAX  8
#define DEMO_WALKERS_MAX 48
#define DEMO_NPCS_MAX    8
#define DEMO_FLASHES     24

// Somebody who walks from point to point, or stays near one.
typedef struct DemoWalker {
    Handle entity;
    const struct DemoRoute *route;
    uint32_t next_point;
    uint32_t stopped_ticks;
    SimInput input;
} DemoWalker;

// A part that goes back and forth between two poses, or turns.
typedef struct DemoMover {
    Handle entity;
    DemoPaint paint;
    Vec3 ends[2];
    Vec3 turn; // rad/s
    uint32_t leg_ticks;
    uint32_t next_end;
    uint64_t announced_until;
    Pose pose; // at announced_until
} DemoMover;

typedef struct Demo {
    Heap heap;
    ChunkStore *chunks;
    Scene *scene;
    Sim *sim;
    Rng rng;
    DemoPaint paints[DEMO_PARTS_MAX]; // by index of the anchored part
    DemoMover movers[DEMO_MOVERS_MAX];
    uint32_t mover_count;
    DemoWalker walkers[DEMO_WALKERS_MAX];
    uint32_t walker_count;
    Handle npcs[DEMO_NPCS_MAX];
    uint32_t npc_count;
    Handle gunners[4];
    uint32_t gunner_count;
    Handle pieces[64]; // of the gate, in the order built
    uint32_t piece_count;
    uint32_t build_phase_ticks;
    bool gate_falls;
    DemoFlash flashes[DEMO_FLASHES];
    uint32_t flash_next;
    uint64_t event_count; // since the start
} Demo;

// STATUS_OK, or what was refused and by whom in *what.
MUST_USE Status demo_create(Demo *demo, const char **what);
void demo_destroy(Demo *demo);

// One tick: gives the inputs, runs what scripts would do.
void demo_drive(Demo *demo);
// After sim_step: looks at the events.
void demo_react(Demo *demo);

DemoPaint demo_paint(const Demo *demo, uint64_t net_id);
