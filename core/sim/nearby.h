// The broad phase without a limit: what is near a box, one after the other, ascending. Usually
// these are the results of a query; if there are more than its buffer holds, everything is walked
// instead. So a crowd makes it slow, but never wrong.
#pragma once

#include "core/sim/sim_internal.h"

#define NEARBY_MAX 256

typedef struct Nearby {
    uint32_t count;
    uint32_t at;
    bool everything;
    uint32_t found[NEARBY_MAX]; // slots, or indices of anchored parts
} Nearby;

// Characters and shapes whose bounds touch the box, or all there is. Ends with 0.
void nearby_entities(Nearby *nearby, const Sim *sim, Aabb box);
uint32_t nearby_next_entity(Nearby *nearby, const Sim *sim);

// Anchored parts that block, are not hidden, and whose bounds touch the box, or all there are. Ends
// with NULL.
void nearby_parts(Nearby *nearby, const Sim *sim, Aabb box);
const ScenePart *nearby_next_part(Nearby *nearby, const Sim *sim, uint32_t *index);
