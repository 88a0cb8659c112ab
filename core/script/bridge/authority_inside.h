// The inside of an Authority, for authority*.c alone.
#pragma once

#include "core/script/bridge/authority.h"
#include "core/script/bridge/scene_names.h"
#include "core/script/bridge/spawn_points.h"
#include "core/script/bridge/world_read.h"

#define TEXT_OF(number)    #number
#define LIMIT_TEXT(number) TEXT_OF(number)
// The error for a script that is over its share (fair_share.h); `things` is a format with their
// number.
#define PART_TEXT(things)                                                                  \
    "this world has room for " things "; a script has at most half, and the last quarter " \
    "is for those that have little"
// A shape or a voxel changed: characters check their ground.
#define AUTHORITY_CHANGE_STEPS 100
// A removal: neighbours, the record, and clients and scripts that are told.
#define AUTHORITY_REMOVE_STEPS 300
#define AUTHORITY_RADIUS_MAX   1024 // found by one query

typedef struct TerrainPart {
    uint32_t chunks, pages;
} TerrainPart;

struct Authority {
    ScriptWorld world; // first
    AuthorityConfig config;
    Sim *sim;
    AttributeTable attributes;
    Roster roster;
    EffectQueue effects;
    Sky sky;
    uint64_t sky_version; // rises when the sky is set; 0: never
    SoundTable sounds;

    SceneNames scene_names;
    uint64_t asked[AUTHORITY_ASKED_BITS / 64];

    ScriptEvent *events;
    uint32_t event_count;
    uint8_t *event_bytes;
    size_t event_bytes_used;
    AuthorityBind *binds;
    uint32_t bind_count;
    uint64_t collected_tick;
    uint64_t charged_tick; // the tick whose work the scripts have been charged for
    uint64_t noise_tick;
    uint32_t noise_count;                       // of this tick, see SCRIPT_NOISE_MAX
    uint64_t harvested_tick;                    // of this tick's sim events
    uint32_t harvested_count;                   // so many are translated
    SimRef *refs;                               // scratch
    uint16_t effect_counts[SIM_MAKERS_MAX + 1]; // of this tick, by caller
    TerrainPart terrain_parts[SIM_MAKERS_MAX + 1];
    AuthorityCounters counters;
    AuthorityRewind rewind; // may be NULL
    void *rewind_user;
    AuthorityPainted painted; // may be NULL
    void *painted_user;
};

// Finds what scripts may see by that net id.
bool authority_find(const Authority *authority, uint64_t net_id, WorldThing *out);
// Whether a script with so many entities may have one more (fair_share.h).
bool authority_has_room(const Authority *authority, uint32_t own);
// Queues an event; counted if there is no room.
bool authority_push(Authority *authority, const ScriptEvent *event);
// The same for what happens often, so that it leaves room for the rest.
void authority_push_noise(Authority *authority, const ScriptEvent *event);
// Translates the events that the sim has emitted since the last time.
void authority_harvest(Authority *authority);
// authority_terrain.c
MUST_USE Status authority_set_voxel(ScriptWorld *world, VoxelCoord at, VoxelKind kind);
MUST_USE Status authority_fill_box(ScriptWorld *world, VoxelCoord min, VoxelCoord max,
                                   VoxelKind kind);
MUST_USE Status authority_fill_sphere(ScriptWorld *world, Vec3 centre, float radius,
                                      VoxelKind kind);
// authority_visual.c
MUST_USE Status authority_set_sky(ScriptWorld *world, const Sky *sky);
Sky authority_read_sky(ScriptWorld *world);
MUST_USE Status authority_set_visual(ScriptWorld *world, uint64_t owner, uint64_t net_id,
                                     VisualKind kind, const Visual *visual);
// authority_shot.c
MUST_USE Status authority_spawn_for_actor(ScriptWorld *world, Text prefab, uint64_t *out);
MUST_USE Status authority_fire(ScriptWorld *world, const ScriptShot *shot, uint64_t *out);
// authority_sound.c
MUST_USE Status authority_sound(ScriptWorld *world, ScriptSound *sound);
// authority_effect.c
// Counts and charges one, and queues one, as all effects.
MUST_USE Status authority_count_sound(Authority *authority, const ScriptSound *sound);
MUST_USE Status authority_queue_sound(Authority *authority, const ScriptSound *sound);
MUST_USE Status authority_moment(ScriptWorld *world, const Moment *moment, uint64_t player_id);
MUST_USE Status authority_chat(ScriptWorld *world, Text text, uint64_t player_id);
MUST_USE Status authority_send(ScriptWorld *world, const ScriptMessage *message);
MUST_USE Status authority_player_kick(ScriptWorld *world, uint64_t player_id, Text reason);
MUST_USE Status authority_store(ScriptWorld *world, const StoreRequest *request);
// authority_spawn.c
MUST_USE Status authority_check_room(Authority *authority, EntityType type);
MUST_USE Status authority_name_full(Authority *authority, Status status, EntityType type);
MUST_USE Status authority_name_attributes_full(Authority *authority, Status status);
MUST_USE Status authority_keep_record(Authority *authority, Handle handle, Record **out);
MUST_USE Status authority_find_for_writing(Authority *authority, uint64_t net_id, WorldThing *out);
void authority_note_removed(Authority *authority, uint64_t net_id);
MUST_USE Status authority_spawn(ScriptWorld *world, Text name, Vec3 position, bool local,
                                uint64_t *out);
MUST_USE Status authority_destroy_entity(ScriptWorld *world, uint64_t net_id);
// What a prefab describes, without the things that the prefab itself adds (its name, tags, …).
typedef struct AuthorityThing {
    EntityType type;
    NpcDesc npc; // one of these, by type
    ProjectileDesc projectile;
    ShapeDesc shape;
} AuthorityThing;
AuthorityThing authority_thing(const Prefab *prefab, Vec3 position, uint64_t owner_id);
// Spawns it for the running script, with what the prefab adds; NULL: nothing. As method_spawn.
MUST_USE Status authority_make(Authority *authority, const AuthorityThing *thing,
                               const Prefab *prefab, uint64_t *out);
const ScriptWorldMethods *authority_methods(void);

static inline SpawnPoints authority_spawns(const Authority *authority)
{
    return (SpawnPoints){authority->config.spawns, authority->config.spawn_count};
}
