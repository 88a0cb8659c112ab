// Where the moving things are: a loose grid of several levels. A thing is in exactly one cell, by
// its centre, on the first level whose cells are at least as wide as the thing; so a move within a
// cell costs a comparison, and a query looks half a cell further than its box. Results are in
// ascending slot order, independent of earlier moves, so that restored sims give the same answers.
// Shapes, characters and projectiles are in layers of their own, and a query names the layers it
// wants: projectiles never collide with each other, and characters are not needed to find the
// floor. However many there are in one place, they cost nothing to a query that does not ask for
// them.
#pragma once

#include "core/base/arena.h"
#include "core/base/math.h"
#include "core/base/status.h"

#define GRID_SHAPE_LEVELS 5 // cells of 4, 16, 64, 256 and 1024 m: the largest part fits the last
#define GRID_LEVELS       7 // one more for characters, one for projectiles: none is wider than 4 m
#define GRID_CELL_MIN_M   4.0f // a power of two

typedef enum GridLayer { GRID_SHAPES, GRID_CHARACTERS, GRID_PROJECTILES, GRID_LAYERS } GridLayer;
#define GRID_MASK(layer) (1u << (layer))
#define GRID_BLOCKING    (GRID_MASK(GRID_SHAPES) | GRID_MASK(GRID_CHARACTERS))
#define GRID_ALL         ((1u << GRID_LAYERS) - 1)

// What a query costs, in steps of about two nanoseconds (see work.h).
#define GRID_CELL_STEPS 2
#define GRID_ITEM_STEPS 6

typedef struct GridItem {
    Aabb bounds;
    uint64_t cell;           // packed level and cell; 0 when the slot is not in the grid
    uint32_t next, previous; // in the bucket
    uint32_t level_next, level_previous;
} GridItem;

typedef struct Grid {
    GridItem *items; // by slot
    uint32_t *heads; // by layer, then by hash of the cell; 0 is empty
    uint64_t *work;  // steps of all queries so far; rises only
    uint32_t slot_count;
    uint32_t bucket_mask;
    uint32_t level_counts[GRID_LEVELS];
    uint32_t level_heads[GRID_LEVELS];
} Grid;

size_t grid_bytes(uint32_t slot_count);
MUST_USE Status grid_init(Grid *grid, Arena *arena, uint32_t slot_count);
void grid_clear(Grid *grid);

// Inserts the slot, or moves it. Slots are 1..slot_count - 1.
void grid_put(Grid *grid, uint32_t slot, GridLayer layer, Aabb bounds);
void grid_remove(Grid *grid, uint32_t slot); // harmless when it is not in the grid

// Slots of the masked layers whose bounds overlap the box, ascending. Returns how many there are;
// only the lowest `max` are written, so a caller must handle a larger count.
uint32_t grid_query(const Grid *grid, Aabb box, uint32_t layers, uint32_t *out, uint32_t max);

// The lowest `max` of any number of slots: add them in any order, then sort. Zero count and held.
typedef struct GridFound {
    uint32_t *out;
    uint32_t max;
    uint32_t held;
    uint32_t count; // of all that were added
} GridFound;
void grid_found_add(GridFound *found, uint32_t slot);
void grid_found_sort(GridFound *found); // ascending; nothing may be added afterwards
