// A compiled scene (wire/place.h) loaded into memory: what a world or a client is made from. Made
// once, read-only, shared by every world and client of the process; everything points into it.
#pragma once

#include "core/base/heap.h"
#include "core/place/prefab.h"
#include "core/sim/npc.h"
#include "core/sim/sim.h"
#include "core/wire/asset_names.h"

typedef struct PlaceSpawn {
    Text name; // "": none
    Vec3 position;
    float yaw;
    Text team;    // "": for everybody
    uint32_t id;  // in scene.json
    bool is_gone; // a creator took it away while the place is played; never so in a Place
} PlaceSpawn;

// What the fire button does.
typedef struct PlaceWeapon {
    Text name;
    uint32_t interval_ms; // between two shots
    float speed;          // m/s
    float damage;
    float gravity;
    float radius;
    uint32_t lifetime_ms;
    uint32_t kind; // of its projectiles
} PlaceWeapon;

// A script bound to an entity or to an anchored part.
typedef struct PlaceBinding {
    uint64_t net_id; // of an anchored part; 0: the entity it stands with
    Text script_path;
    Text parameters; // JSON; "": none
    bool enabled;
} PlaceBinding;

// Something that moves or acts and is spawned when the world starts: net ids follow the anchored
// parts, in this order. A client spawns none of them: they come by replication.
typedef struct PlaceEntity {
    uint64_t net_id;
    Text name;
    bool server_only; // clients must never learn of it
    PrefabKind kind;  // PREFAB_PART, PREFAB_PROP or PREFAB_NPC
    PartDesc part;
    MotionSegment segments[MOTION_SEGMENTS_MAX]; // ticks counted from the start of the world
    uint32_t segment_count;
    uint32_t loop_ticks; // 0: once; else the segments begin again after so many ticks
    NpcDesc npc;
    const PrefabAttribute *attributes;
    uint32_t attribute_count;
    const Text *tags;
    uint32_t tag_count;
    PlaceBinding binding; // script_path "": none
} PlaceEntity;

// Attributes and tags of an anchored part.
typedef struct PlaceExtra {
    uint64_t net_id;
    const PrefabAttribute *attributes;
    uint32_t attribute_count;
    const Text *tags;
    uint32_t tag_count;
} PlaceExtra;

// How things of the place look as long as no script changes it.
typedef struct PlacePaints {
    const Paint *scene; // by net id - 1: anchored parts, then what is spawned at the start
    uint32_t scene_count;
    const Paint *pieces; // of the catalogue
    uint32_t piece_count;
} PlacePaints;
// Of something in the world; entity NULL: an anchored part of the scene.
Paint place_paint(const PlacePaints *paints, uint64_t net_id, const Entity *entity);

typedef struct PlaceVoxelLook {
    Text material;
    uint32_t colour; // red, green, blue
} PlaceVoxelLook;

typedef struct Place {
    Text name;
    bool stripped;
    uint32_t tick_rate, snapshot_rate;
    uint32_t player_max;
    float view_radius;
    float reach_m;      // how far a player may build, dig or use
    bool players_build; // whether players may build and dig at all
    bool players_terraform;
    uint32_t respawn_ms; // after a death
    CharacterTuning character;
    const Scene *scene;
    const ChunkStore *chunks; // NULL: no base terrain
    const Text *scene_names;  // by scene index, "" for none
    // By net id - 1, anchored parts and then entities: the id in scene.json. Net ids follow the
    // order of the scene; these stay the same when something is put before. NULL: not known.
    const uint32_t *scene_ids;
    const Text *piece_names;
    PrefabTable prefabs;
    PlacePaints paints;
    AssetNames assets;
    const PlaceSpawn *spawns; // at least one
    uint32_t spawn_count;
    const PlaceWeapon *weapons;
    uint32_t weapon_count;
    const PlaceEntity *entities;
    uint32_t entity_count;
    // Of anchored parts; in the stripped form also of entities that are spawned at the start, by
    // net id, if they run on both sides.
    const PlaceBinding *bindings;
    uint32_t binding_count;
    const PlaceExtra *extras;
    uint32_t extra_count;
    const Text *actions; // the place's own buttons, from the fifth bit on
    uint32_t action_count;
    uint32_t entity_max;          // entities beside the anchored parts, players included
    const Text *voxel_kind_names; // of kind 1 and up
    const PlaceVoxelLook *voxel_kind_looks;
    uint32_t voxel_kind_count;
    bool has_secrets; // an entity or a prefab exists on the server only
    // Of a stripped scene that a running world made (wire/patch.h): what changed up to this tick is
    // in it; 0: it is as the creator made it. A bit for each part: it is not there any more.
    // The rows hold attributes of parts too, which belong to scripts and not to the scene.
    uint64_t patch_tick;
    const uint64_t *scene_gone;
    const uint8_t *patch_rows; // each of them can be read
    size_t patch_row_bytes;
    uint8_t hash[32]; // SHA-256 of the bytes it was loaded from (place_load)
} Place;

// The id in scene.json of what has that net id; 0: it is not of the scene.
uint32_t place_scene_id(const Place *place, uint64_t net_id);

// Any bytes give a place or a status.
MUST_USE Status place_load(Heap *heap, const uint8_t *bytes, size_t count, Place **out);
// The same of the whole form without its hash, and what place_strip makes of it: for a world that
// is made while somebody waits. The bytes are read once.
MUST_USE Status place_load_whole(Heap *heap, const uint8_t *whole, size_t count,
                                 ByteWriter *stripped, Place **out);
void place_unload(Heap *heap, Place *place); // NULL is allowed
