// What players build: catalogue pieces on a grid of cells, in quarter turns, with an owner. A piece
// may not overlap anything that blocks, and must be held up by the ground or by its neighbours.
//
// Overlap: by more than 1 mm with terrain, a part that blocks, another structure or a living
// character. Tilted cylinders count as the eight-sided prism around them, at most a twelfth of
// their radius wider; everything else is exact.
//
// Support: a number of steps. 1 is a piece with a solid voxel directly under one of its cells, or
// with an anchored part at most 2 cm under its bottom. Another piece has one more than the least of
// the pieces that share a face with it, and at most STRUCTURE_SUPPORT_MAX. Whatever changes, the
// numbers follow within a few ticks, so many pieces a tick, in slot order; once they have settled,
// pieces without support collapse, so many a tick.
//
// A sim without authority is told what stands; it checks no overlap and no support, and nothing
// collapses there by itself.
#pragma once

#include "core/base/arena.h"
#include "core/sim/sim.h"
#include "core/sim/state.h"

#define STRUCTURE_SUPPORT_MAX     8
#define STRUCTURE_GROUND_M        0.02f // how far under the bottom an anchored part still holds it
#define STRUCTURE_OVERLAP_M       0.001f
#define STRUCTURE_GROUND_CHECKS   512 // per tick, after terrain or anchored parts changed
#define STRUCTURE_SUPPORT_UPDATES 256 // per tick
#define STRUCTURE_COLLAPSES       64  // per tick
// Both looks end for this tick after so much work (work.h): ten times what they usually take.
#define STRUCTURE_STEPS_MAX 500000
// Numbers that change all the time somewhere do not keep what is unsupported up for longer.
#define STRUCTURE_SETTLE_TICKS 120

typedef enum StructureEnd {
    STRUCTURE_REMOVED,
    STRUCTURE_DESTROYED,
    STRUCTURE_COLLAPSED
} StructureEnd;

typedef struct StructureDesc {
    uint64_t net_id;
    uint64_t owner_id; // 0: the server, which has no cap of its own
    uint32_t piece;    // index in the scene's catalogue
    VoxelCoord cell;   // the lowest corner
    uint32_t turn;     // quarter turns about +y: 1 and 3 swap the piece's x and z
} StructureDesc;

typedef struct Structures Structures;

size_t structure_bytes(const SimConfig *config);
MUST_USE Status structure_init(Arena *arena, const SimConfig *config, Structures **out);

// Whether structure_place would succeed. In this order: STATUS_NOT_FOUND no such piece;
// STATUS_RANGE turn, or outside the scene's bounds; STATUS_LIMIT the world or the owner has too
// many; STATUS_BLOCKED something is in the way; STATUS_DENIED nothing supports it. A structure that
// is being removed still blocks, but supports nothing. A sim without authority answers by what it
// was told: a client shows so where its player could build.
MUST_USE Status structure_check(const Sim *sim, const StructureDesc *desc);
// The space that a piece of the catalogue takes, whatever is there.
Aabb structure_box(const Sim *sim, const StructureDesc *desc);
// How far a point is from it; 0 inside.
float structure_distance(const Sim *sim, const StructureDesc *desc, Vec3 point);
// STATUS_EXISTS and STATUS_LIMIT also as for every entity.
MUST_USE Status structure_place(Sim *sim, const StructureDesc *desc, Handle *out);
// Restores a stored structure when a world starts, whatever is in its way now; if nothing supports
// it any more, it collapses within a few ticks. STATUS_NOT_FOUND, STATUS_RANGE, STATUS_LIMIT,
// STATUS_EXISTS as above.
MUST_USE Status structure_restore(Sim *sim, const StructureDesc *desc, Handle *out);
// Removed when the next step begins, which emits the event. owner_id 0 is the server and may remove
// every structure; others get STATUS_DENIED for structures of somebody else. STATUS_NOT_FOUND for a
// stale handle or something else.
MUST_USE Status structure_remove(Sim *sim, Handle structure, uint64_t owner_id);
// What sim_damage does to a structure, the event included: returns the health left. At zero the
// structure is being removed.
float structure_damaged(Sim *sim, uint32_t slot, float amount, uint64_t cause);

// Phase 8 of the step.
void structure_step(Sim *sim);
// sim_release calls this while the entity is still whole; emits SIM_EVENT_STRUCTURE_REMOVED.
void structure_forget(Sim *sim, uint32_t slot);

// The structure fields of a Part; and, once per sim, what is still to be done.
void structure_visit(Sim *sim, Part *part, StateIo *io);
void structure_visit_all(Sim *sim, StateIo *io);
// After all of a sim was read: places each structure by its cell, and counts anew. STATUS_RANGE
// when there are more than the config allows; then the sim is to be emptied.
MUST_USE Status structure_rebuild(Sim *sim);
void structure_clear(Sim *sim);
