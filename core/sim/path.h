// Paths on foot: A* over the spots of walk.h, one search at a time, spread over as many ticks as
// the caller likes. A search is begun, advanced by a number of nodes in each tick, and read when it
// has ended. It sees the world as it is at each moment, so a path may be outdated when it is found:
// a follower must expect to get stuck.
// Costs are whole numbers: 10 a straight step, 14 a diagonal one, 6 more for a jump, 2 more for a
// drop. The cheapest path is found; of several equally cheap ones always the same, because open
// nodes are ordered by (cost + estimate, nearer to the goal, first seen). That order is total, so a
// search restored from bytes continues exactly like the saved one.
#pragma once

#include "core/base/arena.h"
#include "core/sim/sim.h"
#include "core/sim/state.h"

#define PATH_POINTS_MAX    64
#define PATH_COST_STRAIGHT 10
#define PATH_COST_DIAGONAL 14
#define PATH_COST_JUMP     6
#define PATH_COST_DROP     2

typedef enum PathEnd {
    PATH_AT_GOAL,
    PATH_CUT,     // the way goes on, but has more turns than fit: ask again from its end
    PATH_NEAREST, // there is no way, or it was not found: the end is the nearest place to the goal
    PATH_END_COUNT
} PathEnd;

// The turns of a way, as feet positions. Between two of them it is straight and level, or one
// single jump or drop.
typedef struct Path {
    Vec3 points[PATH_POINTS_MAX];
    uint32_t count;
    uint8_t end; // PathEnd
} Path;

typedef enum PathProgress { PATH_SEARCHING, PATH_FOUND, PATH_GIVEN_UP } PathProgress;

typedef struct PathFinder PathFinder;

size_t path_bytes(uint32_t cells_max);
MUST_USE Status path_init(Arena *arena, uint32_t cells_max, PathFinder **out);

// False when there is nothing to stand on at one of the ends: then nothing was begun.
bool path_begin(PathFinder *finder, Sim *sim, Vec3 from, Vec3 to);
bool path_is_active(const PathFinder *finder);
// Looks at up to node_max more nodes; *node_count (may be NULL) gets how many it was.
PathProgress path_advance(PathFinder *finder, Sim *sim, uint32_t node_max, uint32_t *node_count);
// The outcome, after path_advance said FOUND or GIVEN_UP and before the next path_begin.
void path_read(const PathFinder *finder, const Sim *sim, Path *out);
uint32_t path_cost(const PathFinder *finder); // of the way that path_read gives, to its very end
void path_cancel(PathFinder *finder);

void path_visit(PathFinder *finder, StateIo *io);
