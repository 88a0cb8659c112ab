// The obstacles around a character. The mover collects everything around the whole path of a tick
// once, and then queries only that short list.
#pragma once

#include "core/sim/sim_internal.h"

#define COLLIDE_BOXES_MAX 160
#define COLLIDE_PARTS_MAX 96
#define COLLIDE_ZONES_MAX 32

typedef struct ColliderPart {
    const PlacedShape *placed; // at this tick, or in Colliders.between while it is on its way
    const PartData *data;
    Vec3 conveyor; // m/s in world axes
    uint64_t net_id;
    uint32_t slot; // 0: an anchored part
    bool moving;
} ColliderPart;

typedef struct Colliders {
    Aabb boxes[COLLIDE_BOXES_MAX]; // solid voxels, joined into boxes
    uint32_t box_count;
    ColliderPart parts[COLLIDE_PARTS_MAX]; // what blocks
    uint32_t part_count;
    PlacedShape between[COLLIDE_PARTS_MAX]; // moving parts between two ticks
    ColliderPart zones[COLLIDE_ZONES_MAX];  // ghosts that act, and blocking triggers
    uint32_t zone_count;
    bool any_moving; // among parts
} Colliders;

// Anchored parts first, then entities, each by net id. What does not fit is counted.
void collide_gather(Sim *sim, Aabb region, Colliders *out);
// Puts the moving parts at a fraction of their way from the last tick's pose to this one's.
void collide_set_fraction(const Sim *sim, Colliders *colliders, float fraction);

typedef struct CollideContact {
    ShapeContact contact;
    const ColliderPart *part; // NULL: terrain
} CollideContact;

// The deepest overlap among contacts whose normal rises less than normal_y_max (ground is left out
// that way; COLLIDE_ALL leaves nothing out). Its distance is 0 when nothing overlaps.
#define COLLIDE_ALL 2.0f
CollideContact collide_deepest(const Colliders *colliders, Capsule capsule, float normal_y_max);
