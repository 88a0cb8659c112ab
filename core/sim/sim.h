// The simulation of a world: one object that is created, told what players and scripts want,
// stepped, and read. It does no I/O, keeps no globals, never reads a clock, and takes all its
// memory at create. The same calls in the same order give the same state, bit for bit, in every
// build.
//
// A tick, in this order (it is part of the contract; changing it changes the game):
//   before sim_step   inputs are set, scripts run and call the functions below; they take effect at
//                     once, except sim_remove, which takes effect when the step begins
//   1 remove          entities marked by sim_remove
//   2 motion          kinematic parts take the pose of this tick
//   3 npc             perception, path finding, and the inputs NPCs give themselves
//   4 characters      in slot order: carried, moved, stopped; part data acts on them, and the
//                     zones that they crossed on the way report it
//   5 push            overlapping characters get a push for the next tick (server side)
//   6 projectiles     in slot order: swept, against terrain, parts and rewound characters
//   7 structures      what lost its support collapses
//   8 history         poses of this tick are recorded
// Events of the tick are then in sim_events until the next step begins.
#pragma once

#include "core/base/heap.h"
#include "core/base/rng.h"
#include "core/sim/entity.h"
#include "core/sim/scene.h"

typedef struct Sim Sim;

typedef struct CharacterTuning {
    float radius, height; // metres; height is the whole capsule
    float walk_speed, run_speed, climb_speed;
    float ground_acceleration, air_acceleration; // m/s^2
    float gravity, fall_speed_max;
    float jump_speed;
    float step_height; // highest ledge walked up without a jump
    float slope_cos;   // cosine of the steepest slope that is ground
    float push_speed;  // of the soft push at full overlap
    float health_max;
    uint32_t coyote_ms, jump_buffer_ms, damage_pause_ms;
} CharacterTuning;

typedef struct SimConfig {
    uint32_t tick_rate; // 60 or 30
    uint32_t entity_max;
    uint32_t character_max; // with history and mover scratch
    uint32_t npc_max;
    uint32_t event_max;
    uint32_t structures_per_player_max;
    uint32_t structures_max;
    uint32_t path_nodes_per_tick; // shared by all NPCs
    uint32_t path_cells_max;      // of one search
    TerrainConfig terrain;
    bool
        authority; // soft push, triggers, damage, NPC thinking, history: what clients do not decide
    CharacterTuning character;
    uint64_t seed;
} SimConfig;

SimConfig sim_config_default(void);
// 64 visible entities, no history, no NPC minds: sim_bytes is at most 256 KiB.
SimConfig sim_config_client(void);
// STATUS_RANGE if a number is outside limits.h.
MUST_USE Status sim_config_check(const SimConfig *config);
// What sim_create will take from the heap.
size_t sim_bytes(const SimConfig *config, const Scene *scene);

// scene may be NULL: an empty world. It is kept and must outlive the sim.
MUST_USE Status sim_create(Heap *heap, const SimConfig *config, const Scene *scene, Sim **out);
void sim_destroy(Heap *heap, Sim *sim);

void sim_step(Sim *sim);

uint64_t sim_tick(const Sim *sim);
float sim_tick_seconds(const Sim *sim);
const SimConfig *sim_config(const Sim *sim);
const Scene *sim_scene(const Sim *sim);
Terrain *sim_terrain(Sim *sim); // edits go through terrain_…
const Terrain *sim_terrain_view(const Sim *sim);
Rng *sim_rng(Sim *sim);

// --- events -------------------------------------------------------------------------------------
typedef enum SimEventType {
    SIM_EVENT_NONE,
    SIM_EVENT_LANDED,           // subject: character; value: speed
    SIM_EVENT_JUMPED,           // subject: character
    SIM_EVENT_BOUNCED,          // subject: character; other: part
    SIM_EVENT_DAMAGED,          // subject: character or structure; other: cause; value: amount
    SIM_EVENT_DIED,             // subject: character; other: cause or 0
    SIM_EVENT_CRUSHED,          // subject: character; other: part
    SIM_EVENT_TRIGGER_ENTERED,  // subject: trigger part; other: character
    SIM_EVENT_TRIGGER_LEFT,     // subject: trigger part; other: character
    SIM_EVENT_PROJECTILE_HIT,   // subject: projectile; other: what was hit, 0 for terrain; value:
                                // kind
    SIM_EVENT_PROJECTILE_ENDED, // subject: projectile, which hit nothing
    SIM_EVENT_NPC_STATE,        // subject: NPC; other: target or 0; detail: old << 8 | new NpcState
    SIM_EVENT_STRUCTURE_REMOVED, // subject: structure; detail: StructureEnd
    SIM_EVENT_TYPE_COUNT
} SimEventType;

typedef struct SimEvent {
    SimEventType type;
    uint32_t detail;
    uint64_t subject; // net ids: they stay meaningful when the entity is gone
    uint64_t other;
    uint64_t shooter; // of a projectile that hit; 0: none, or gone
    Vec3 position;
    Vec3 normal;
    float value;
} SimEvent;

const SimEvent *sim_events(const Sim *sim, uint32_t *count);

// Problems that are nobody's error; each counter only rises. Not part of the state hash.
typedef struct SimCounters {
    uint64_t events_dropped;    // the event array was full
    uint64_t colliders_dropped; // more shapes around one character than are looked at
    uint64_t query_overflow;    // a broad-phase query found more than it could hold
    uint64_t moves_refused;     // a move that would have ended inside geometry was not made
    uint64_t unstuck;           // a character was lifted out of geometry
    uint64_t inputs_sanitised;  // inputs with invalid numbers
    uint64_t triggers_dropped;  // a character in more zones than it can store
    uint64_t paths_given_up;    // searches that ended without a way
} SimCounters;
const SimCounters *sim_counters(const Sim *sim);

// --- entities -----------------------------------------------------------------------------------
// net_id 0 in a description means: take the next one. A net id in use is STATUS_EXISTS; no free
// slot is STATUS_LIMIT; an invalid number is STATUS_RANGE.
typedef struct CharacterDesc {
    uint64_t net_id;
    uint64_t owner_id;
    Vec3 position; // feet; moved up to free space if it is inside something
    float yaw;
} CharacterDesc;
MUST_USE Status sim_spawn_player(Sim *sim, const CharacterDesc *desc, Handle *out);
// Where a character looks from.
Vec3 sim_eye(const Sim *sim, const Entity *character);

typedef struct ShapeDesc {
    uint64_t net_id;
    uint64_t owner_id;
    PartDesc part;
} ShapeDesc;
MUST_USE Status sim_spawn_part(Sim *sim, const ShapeDesc *desc, Handle *out);
MUST_USE Status sim_spawn_prop(Sim *sim, const ShapeDesc *desc, Handle *out);
// Makes an anchored part of the scene an entity with the same net id, which can move and change.
MUST_USE Status sim_thaw_part(Sim *sim, uint64_t net_id, Handle *out);
// Hides an anchored part in this sim.
MUST_USE Status sim_hide_part(Sim *sim, uint64_t net_id);
bool sim_part_is_hidden(const Sim *sim, uint32_t scene_index);
// The first hidden part at or after a scene index; UINT32_MAX when there is none.
uint32_t sim_next_hidden(const Sim *sim, uint32_t scene_index);

void sim_remove(Sim *sim, Handle entity); // harmless when stale

const Entity *sim_entity(const Sim *sim, Handle entity); // NULL when stale
Handle sim_find(const Sim *sim, uint64_t net_id);        // HANDLE_NONE when there is none
uint32_t sim_count(const Sim *sim, EntityType type);
// Walks the entities of the masked types in slot order: start with HANDLE_NONE, ends with it.
Handle sim_next(const Sim *sim, Handle after, uint32_t type_mask);

void sim_set_input(Sim *sim, Handle character, const SimInput *input); // stays until the next one
MUST_USE Status sim_set_position(Sim *sim, Handle entity, Vec3 position); // a teleport
MUST_USE Status sim_set_velocity(Sim *sim, Handle entity, Vec3 velocity);
MUST_USE Status sim_set_rotation(Sim *sim, Handle shape, Quat rotation);
MUST_USE Status sim_set_part_data(Sim *sim, Handle shape, const PartData *data);
MUST_USE Status sim_move_part(Sim *sim, Handle part, const MotionSegment *segment);
// These three replace the queued motion, beginning at the shape's current pose. Stop: it stays
// there. Glide: moves uniformly to the target, which it reaches exactly after so many ticks
// (1..MOTION_TICKS_MAX), turning the shorter way. Drift: moves with that velocity to the edge of
// the world or for the longest segment. STATUS_RANGE if it would be too fast or leave the world;
// then its motion is unchanged.
MUST_USE Status sim_stop_part(Sim *sim, Handle part);
MUST_USE Status sim_glide_part(Sim *sim, Handle part, Pose target, uint64_t ticks);
MUST_USE Status sim_drift_part(Sim *sim, Handle part, Vec3 velocity);
// Damage below zero heals. Returns the health left; emits DAMAGED and DIED.
float sim_damage(Sim *sim, Handle target, float amount, uint64_t cause_net_id);
// Alive again with full health, at a place that is free.
MUST_USE Status sim_revive(Sim *sim, Handle character, Vec3 position);

// The capsule of a character standing at `feet`.
Capsule sim_capsule(const Sim *sim, Vec3 feet);

// --- what it costs ------------------------------------------------------------------------------
// See work.h. The maker is charged for the entity's work until it is removed; 0..SIM_MAKERS_MAX.
void sim_set_maker(Sim *sim, Handle entity, uint32_t maker);

typedef struct SimMaker {
    uint64_t steps;   // that the last step took for its things
    uint64_t share;   // that it could take in that step before its things had to stand still
    uint32_t skipped; // of them that stood still, because it had used up its part
    uint32_t things;  // that are there now
    uint32_t counts[ENTITY_TYPE_COUNT];
} SimMaker;
SimMaker sim_maker(const Sim *sim, uint32_t maker); // 0: the things of all makers together
uint32_t sim_maker_highest(const Sim *sim);         // none above this number has anything
// Steps of all work so far, including queries from outside. Only rises; not part of the state.
uint64_t sim_work(const Sim *sim);
// For work outside the sim on behalf of a caller.
void sim_add_work(const Sim *sim, uint64_t steps);

// --- queries ------------------------------------------------------------------------------------
// A thing found: an entity, or an anchored part of the scene (then entity is HANDLE_NONE).
typedef struct SimRef {
    uint64_t net_id;
    Handle entity;
} SimRef;

// Everything whose bounds touch the box, or come within the radius: entities of the masked types in
// slot order, then, if the mask has ENTITY_PART, anchored parts in scene order. Returns how many
// there are; the first `max` are written.
uint32_t sim_query_box(const Sim *sim, Aabb box, uint32_t type_mask, SimRef *out, uint32_t max);
uint32_t sim_query_radius(const Sim *sim, Vec3 centre, float radius, uint32_t type_mask,
                          SimRef *out, uint32_t max);

typedef struct SimRay {
    Vec3 origin;
    Vec3 direction; // unit
    float distance_max;
    uint32_t type_mask; // which entities count; ENTITY_PART covers anchored parts too
    bool terrain;
    bool ghosts; // also shapes that do not block
    Handle ignore;
    const uint64_t *ignored; // the same by net id, anchored parts included
    uint32_t ignored_count;
} SimRay;

typedef struct SimRayHit {
    float distance;
    Vec3 point;
    Vec3 normal;
    uint64_t net_id; // 0: terrain
    Handle entity;
    VoxelCoord voxel; // terrain only
} SimRayHit;
// The nearest hit. Equal distances: terrain first, then anchored parts, then entities, by index.
bool sim_ray(const Sim *sim, const SimRay *ray, SimRayHit *hit);

// How deep a character's capsule at `feet` is inside blocking things (terrain, parts, structures);
// 0 if it is free. Slow and exact, for tests and spawning.
float sim_penetration(const Sim *sim, Vec3 feet);

// --- the whole state ----------------------------------------------------------------------------
uint64_t sim_hash(const Sim *sim);
void sim_write(const Sim *sim, ByteWriter *writer);
// Reads into a sim created with the same config and scene (STATUS_MISMATCH otherwise). Accepts any
// bytes; on failure the sim is empty, as just created.
MUST_USE Status sim_read(Sim *sim, ByteReader *reader);
