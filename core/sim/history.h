// Where every character was in the last ticks, so that a shot can be tested against what its
// shooter saw. One ring per character; a teleport breaks the line between two entries.
#pragma once

#include "core/base/arena.h"
#include "core/base/limits.h"
#include "core/sim/sim.h"
#include "core/sim/state.h"

typedef struct History History;
