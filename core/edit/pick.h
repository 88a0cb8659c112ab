// What a ray meets first among the solids of a place, and which of them lie in a part of the
// picture: selecting with a pointer. Every solid is tested, the nearest boundary first by a sphere
// around it: ten thousand take a fraction of a millisecond, and there is no structure to keep up to
// date.
#pragma once

#include "core/sim/shape.h"

typedef struct EditSolid {
    uint32_t id; // 0: none; it is skipped
    Shape shape;
    Pose pose; // in the world
} EditSolid;

typedef struct EditPick {
    uint32_t id;
    float distance;
    Vec3 point, normal; // in the world
} EditPick;

typedef struct EditRay {
    Vec3 origin;
    Vec3 direction;       // of length 1
    const uint32_t *skip; // ids that it goes through
    uint32_t skip_count;
} EditRay;

// False: nothing is there, or the ray is not finite. A ray that begins inside of a solid does not
// meet that one.
bool edit_pick(const EditSolid *solids, uint32_t count, const EditRay *ray, EditPick *out);

// A plane has what is inside on the side where dot(normal, p) + offset >= 0.
typedef struct EditPlane {
    Vec3 normal;
    float offset;
} EditPlane;
// Writes the ids of those whose middle is inside of all planes, up to `max`; returns how many.
uint32_t edit_pick_inside(const EditSolid *solids, uint32_t count, const EditPlane *planes,
                          uint32_t plane_count, uint32_t *ids, uint32_t max);
