// The part of a place that never changes while it is played: base terrain, anchored parts and the
// catalogue of pieces that may be built. A Scene is made once, read-only afterwards, and shared by
// every sim of the process, server or client.
//
// Anchored parts are not entities. Part i has the net id i + 1; a sim that must change one hides it
// and puts an entity with the same net id in its place (sim_thaw_part).
#pragma once

#include "core/base/heap.h"
#include "core/base/limits.h"
#include "core/sim/shape.h"
#include "core/sim/voxel.h"

// Effects of a part in the simulation itself; no script is involved, so clients predict them.
typedef enum PartFlag {
    PART_GHOST = 1 << 0,    // does not block; zones are ghosts
    PART_BOUNCE = 1 << 1,   // throws characters off along the contact normal
    PART_CONVEYOR = 1 << 2, // carries what stands on it
    PART_LADDER = 1 << 3,   // can be climbed
    PART_DAMAGE = 1 << 4,   // hurts what touches it
    PART_TRIGGER = 1 << 5,  // reports characters that enter and leave
    PART_FLAGS_ALL = (1 << 6) - 1
} PartFlag;

typedef struct PartData {
    uint32_t flags;      // PartFlag
    float bounce_speed;  // m/s along the normal
    float damage;        // per touch, at most twice a second
    Vec3 conveyor_speed; // m/s, in the part's own axes
} PartData;

// A part as its creator describes it.
typedef struct PartDesc {
    Shape shape;
    Pose pose;
    PartData data;
} PartDesc;

// A piece of the building catalogue: a box of whole cells.
typedef struct PieceDesc {
    uint8_t cells_x, cells_y, cells_z; // 1..8 at turn 0
    uint8_t flags;                     // PIECE_…
    float health;
} PieceDesc;

enum {
    PIECE_GROUND_ONLY = 1 << 0, // must stand on terrain or an anchored part
    PIECE_FLAGS_ALL = (1 << 1) - 1
};

// Structures are snapped to cells of this edge; the cell (0,0,0) starts at the origin.
#define STRUCTURE_CELL_M 1.0f

typedef struct ScenePart {
    PlacedShape placed;
    PartDesc desc;
} ScenePart;

typedef struct SceneDesc {
    const ChunkStore *chunks; // may be NULL; kept, must outlive the scene
    const PartDesc *parts;
    uint32_t part_count;
    const PieceDesc *pieces;
    uint32_t piece_count;
    Aabb bounds; // where characters and projectiles may be; all zero means the whole extent
} SceneDesc;

typedef struct Scene Scene;

// STATUS_RANGE for numbers that are not finite or outside limits.h.
MUST_USE Status part_data_check(const PartData *data);
bool part_data_equal(const PartData *a, const PartData *b);
MUST_USE Status part_desc_check(const PartDesc *desc);

// STATUS_RANGE for a part or piece outside its limits, with its index in *bad_index, and for bounds
// that are no box inside the world.
MUST_USE Status scene_create(Heap *heap, const SceneDesc *desc, Scene **out, uint32_t *bad_index);
void scene_destroy(Heap *heap, Scene *scene);

const ChunkStore *scene_chunks(const Scene *scene); // NULL: no base terrain
Aabb scene_bounds(const Scene *scene);
uint32_t scene_part_count(const Scene *scene);
const ScenePart *scene_part(const Scene *scene, uint32_t index);
uint32_t scene_piece_count(const Scene *scene);
const PieceDesc *scene_piece(const Scene *scene, uint32_t index);
// The same for equal content: names the scene in saves.
uint64_t scene_hash(const Scene *scene);

// Indices of the parts whose bounds overlap the box, ascending, each once. Returns how many there
// are; only the first `max` are written. What was looked at is added to *work, as in grid.h.
uint32_t scene_query(const Scene *scene, Aabb box, uint32_t *out, uint32_t max, uint64_t *work);
