// The inside of a Sim, for the files of core/sim alone. Every module keeps its own state in a
// struct of its own, sized from the config at create (x_bytes, x_init) and walked by its own visit
// function.
#pragma once

#include "core/base/arena.h"
#include "core/base/check.h"
#include "core/base/pool.h"
#include "core/sim/grid.h"
#include "core/sim/history.h"
#include "core/sim/npc.h"
#include "core/sim/projectile.h"
#include "core/sim/puppet.h"
#include "core/sim/push.h"
#include "core/sim/sim.h"
#include "core/sim/structure.h"
#include "core/sim/work.h"

// net id → slot, open addressing, power-of-two size, at most half full.
typedef struct NetMap {
    uint64_t *net_ids;
    uint32_t *slots;
    uint32_t mask;
} NetMap;

#define SIM_PATH_POINTS_MAX 32 // corners of one character's way in one tick

// The way a character took in this tick, for triggers: straight pieces between points.
typedef struct MovePath {
    Vec3 points[SIM_PATH_POINTS_MAX]; // feet
    uint32_t count;
} MovePath;

struct Sim {
    SimConfig config;
    const Scene *scene; // may be NULL
    Terrain *terrain;
    void *block; // one heap block under the arena
    Arena arena;

    float tick_seconds;
    uint64_t tick;
    uint64_t tick_latest; // the highest so far: without authority the tick can be set back
    uint64_t next_net_id;
    Rng rng;

    Pool entities;                           // of Entity
    uint64_t *type_masks[ENTITY_TYPE_COUNT]; // live slots by type
    uint32_t type_counts[ENTITY_TYPE_COUNT];
    Grid grid;
    NetMap net_map;
    uint64_t *hidden; // one bit per anchored part
    uint32_t hidden_count;

    SimEvent *events;
    uint32_t event_count;
    SimCounters counters;

    // Something blocking was added or moved outside the step since the last one, or a voxel was
    // edited: characters check whether they are inside something.
    bool geometry_changed;
    uint32_t edit_count_seen;
    uint64_t unstuck_steps; // used in this step for looking for free places

    PushCells *push_cells; // NULL when the config is not authority
    History *history;      // NULL when the config is not authority
    Work *work;            // NULL when the config is not authority
    struct Npcs *npcs;
    struct Structures *structures;

    SimHitFilter hit_filter; // NULL: everybody may be hit
    void *hit_filter_user;
};

// The entity in a live slot.
static inline Entity *sim_at(const Sim *sim, uint32_t slot)
{
    return (Entity *)pool_at(&sim->entities, slot);
}
static inline bool sim_is_type(const Sim *sim, uint32_t slot, EntityType type)
{
    return (sim->type_masks[type][slot / 64] >> (slot % 64) & 1) != 0;
}
// Where characters, projectiles and structures may be: never beyond the extent, whatever the scene
// says.
static inline Aabb sim_bounds(const Sim *sim)
{
    const float extent = (float)WORLD_EXTENT_M;
    const Aabb all = {{-extent, -extent, -extent}, {extent, extent, extent}};
    if (sim->scene == NULL) {
        return all;
    }
    const Aabb bounds = scene_bounds(sim->scene);
    return (Aabb){vec3_max(bounds.min, all.min), vec3_min(bounds.max, all.max)};
}
// The next live slot of a type at or after `from`, or 0.
uint32_t sim_next_slot(const Sim *sim, EntityType type, uint32_t from);

// The next player or NPC at or after `from`, or 0.
uint32_t sim_next_character(const Sim *sim, uint32_t from);

// A slot with net id, owner, type and place in the masks; the caller fills the rest and calls
// sim_place. STATUS_EXISTS, STATUS_LIMIT.
MUST_USE Status sim_acquire(Sim *sim, EntityType type, uint64_t net_id, uint64_t owner_id,
                            uint32_t *slot);
// Enters a filled slot into the masks and the net map: restoring does this, and sim_acquire.
void sim_index_slot(Sim *sim, uint32_t slot);
// Puts the slot into the grid at its current bounds; call after every change of position or shape.
void sim_place(Sim *sim, uint32_t slot);
// Frees the slot at once: only inside a step, where no caller holds it.
void sim_release(Sim *sim, uint32_t slot);

// Adds an event of this tick; counts it when the array is full.
void sim_emit(Sim *sim, SimEvent event);

// The feet position moved up to the first place where a character's capsule is free.
Vec3 sim_free_position(Sim *sim, Vec3 feet);

// The checked input of sim_set_input; *sane becomes false if a number was invalid.
SimInput sim_input_sanitise(const SimInput *input, bool *sane);
// Empties the sim, as just created.
void sim_clear(Sim *sim);

// A ray against an upright capsule; direction unit.
bool capsule_ray(Capsule capsule, Vec3 origin, Vec3 direction, float distance_max, ShapeHit *hit);

// A character with full health in a slot that sim_acquire gave; the position is used as it is.
void sim_character_init(Sim *sim, uint32_t slot, Vec3 position, float yaw);
// Sets the pose of a shape's slot, its placed shape and its place in the grid.
void sim_shape_place(Sim *sim, uint32_t slot, Pose pose);
// True if a part that moves so far in one tick was teleported: then it carries nobody.
bool sim_part_jumps(const Part *part, Pose from, Pose to);

// Segments that ended before this tick are dropped. A sim whose tick can be set back keeps more.
static inline uint64_t sim_motion_kept_from(const Sim *sim)
{
    if (sim->config.authority) {
        return sim->tick;
    }
    const uint64_t latest = sim->tick_latest;
    return latest > MOTION_KEEP_TICKS ? latest - MOTION_KEEP_TICKS : 0;
}

// Phases, in the order of sim.h; the other modules' headers have theirs.
void motion_step(Sim *sim);
void character_step(Sim *sim);
