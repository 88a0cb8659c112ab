// What players build: catalogue pieces on a grid of cells, in quarter turns, with an owner. A piece
// may not overlap anything that blocks, and must be held up by the ground or by its neighbours.
#pragma once

#include "core/base/arena.h"
#include "core/sim/sim.h"
#include "core/sim/state.h"

typedef enum StructureEnd {
    STRUCTURE_REMOVED,
    STRUCTURE_DESTROYED,
    STRUCTURE_COLLAPSED
} StructureEnd;
