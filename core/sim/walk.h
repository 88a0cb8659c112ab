// Where a character can stand and step, read off the world as it is now: the ground under A*, and
// the straight-line test that saves most searches.
//
// The world is seen in columns of one square metre. A spot is a cell (a voxel coordinate) with the
// height of the floor in it: the top of a solid voxel, or whatever part or structure a ray from
// above finds there, if it is not too steep and does not hurt. A character whose capsule is at the
// cell's centre must fit on it. Steps between neighbouring spots go level, up by at most
// WALK_RISE_M (a jump, when it is more than the character's step height) and down by at most
// WALK_DROP_M; both ends and the way between them must be free of voxels, parts and structures.
//
// Characters wider than a cell are not provided for: they will scrape along walls.
#pragma once

#include "core/sim/sim.h"

#define WALK_LEVEL_MIN_M 1e-3f // two floors this close are one, whatever the step height
#define WALK_RISE_M      1.05f
#define WALK_DROP_M      3.05f
#define WALK_LINE_MAX_M  24.0f // longer lines are not looked at: they are "not clear"
#define WALK_STEPS       8
#define WALK_DIAGONALS   4  // the first of them
#define WALK_SHAPES_MAX  64 // around one place; more are counted in query_overflow

typedef struct WalkSpot {
    VoxelCoord cell; // whose centre it is at
    float height;    // of the floor, within the cell
} WalkSpot;

// What blocks around a place, collected once and asked many times. Valid until the sim changes.
typedef struct WalkArea {
    const Sim *sim;
    const PlacedShape *shapes[WALK_SHAPES_MAX];
    bool hurts[WALK_SHAPES_MAX]; // touching it costs health
    uint32_t count;
    bool overflow;
    Aabb bounds; // where characters may be
    // The character, from the sim's tuning.
    float radius, height, step, rise, slope_cos;
} WalkArea;

// Everything that can matter to spots within a metre and a half of `centre`, steps included.
void walk_area_around(WalkArea *area, Sim *sim, Vec3 centre);

// The feet of a character standing there.
Vec3 walk_feet(WalkSpot spot);

// The spots that one step leads to, as a mask of what is written in `out`: +x, -x, +z, -z, then the
// diagonals +x+z, +x-z, -x+z, -x-z. Diagonal steps are level, and only go where both steps beside
// them are level too: no corner is cut.
uint32_t walk_steps(const WalkArea *area, WalkSpot from, WalkSpot out[WALK_STEPS]);
// True if a character goes from one floor to the other without a jump or a drop.
bool walk_is_level(const WalkArea *area, float from, float to);

// The spot nearest to where a character is or wants to be: under its feet, or beside them when it
// stands over an edge. Looks 3 m down, for feet in the air.
bool walk_find(Sim *sim, Vec3 feet, WalkSpot *out);

// True if a character can go straight from one point to the other without a jump or a drop. With
// `wide`, its whole width is on solid floor all the way; without, only its middle.
bool walk_line(Sim *sim, Vec3 from, Vec3 to, bool wide);
