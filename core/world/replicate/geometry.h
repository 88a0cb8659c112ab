// What changed in this tick among the things that characters can collide with. A client learns of
// it a little later and may have predicted without it (session/prediction_check.c). Conservative:
// if too much changed to list, everything counts as changed. Motion that was announced in time
// never counts.
#pragma once

#include "core/base/heap.h"
#include "core/sim/sim.h"

#define GEOMETRY_CHANGES_MAX 32 // changes of one tick that are listed

typedef struct Geometry {
    Heap *heap;
    const Sim *sim;
    struct KnownPart *parts; // by slot
    uint32_t slot_high;
    uint32_t part_count;
    uint32_t terrain_edits;
    uint64_t next_net_id;
    // Of this tick. At GEOMETRY_CHANGES_MAX everything counts as changed.
    Vec3 changes[GEOMETRY_CHANGES_MAX];
    uint32_t change_count;
} Geometry;

MUST_USE Status geometry_create(Heap *heap, const Sim *sim, Geometry **out); // keeps both
void geometry_destroy(Geometry *geometry);                                   // NULL is allowed
void geometry_tick(Geometry *geometry);                                      // after the step
// We moved the part, and clients were informed in time: it does not count as a change.
void geometry_accept(Geometry *geometry, Handle part);
static inline bool geometry_changed_everywhere(const Geometry *geometry)
{
    return geometry->change_count == GEOMETRY_CHANGES_MAX;
}
