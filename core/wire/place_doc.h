// A place as its creator describes it, in memory: what place.json, scene.json and the prefabs say,
// member by member. place.c reads and writes it as JSON and as bytes; core/place/place.c makes a
// Place of it; core/edit fills one; server/build/inside/op_soul_context.c describes it to a model.
// Nothing else includes this.
//
// Two passes make a doc usable: the tables check every member alone (place_table.h), and
// place_check what members mean together. After place_check every entity has a pose, a role and a
// net id.
#pragma once

#include "core/sim/sim.h"
#include "core/wire/asset_names.h"
#include "core/wire/place.h"
#include "core/wire/place_table.h"

#define PLACE_ENTITIES_MAX         (SCENE_PARTS_MAX + WORLD_ENTITIES_MAX)
#define PLACE_PREFABS_MAX          1024
#define PLACE_SPAWNS_MAX           1024
#define PLACE_TERRAIN_MAX          4096  // fills and chunks
#define PLACE_TOUCHED_MAX          16384 // chunks that fills touch, counted once for each fill
#define PLACE_PARENTS_MAX          32    // parents above each other
#define PLACE_ATTRIBUTES_BYTES_MAX 3840  // name, attributes and tags of an entity, as they travel
#define PLACE_ACTIONS_MAX          11    // 16 buttons, of which five are taken

typedef struct PlaceLimitsDoc {
    uint32_t players, entities;
    float view_radius, reach;
} PlaceLimitsDoc;

typedef struct PlacePermissionsDoc {
    bool build, terraform;
} PlacePermissionsDoc;

// How something looks, as its creator wrote it: the rows of look.def.
#define PLACE_LOOK_COLOUR uint32_t
#define PLACE_LOOK_SHARE  float
#define PLACE_LOOK_WORD   uint32_t
#define PLACE_LOOK_BOOL   bool
#define PLACE_LOOK_ASSET  Text // as in asset_name_find; "": none
typedef struct PlaceLookDoc {
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    PLACE_LOOK_##kind member;
#include "core/wire/look.def"
} PlaceLookDoc;

typedef struct PlacePieceDoc {
    Text name;
    int32_t cells[3];
    float health;
    bool ground_only;
    PlaceLookDoc look;
} PlacePieceDoc;

typedef struct PlaceWeaponDoc {
    Text name;
    float rate; // shots per second; 0: see interval_ms
    uint32_t interval_ms;
    float speed, damage, gravity, radius;
    uint32_t lifetime_ms, kind;
} PlaceWeaponDoc;
#define PLACE_WEAPON_INTERVAL_MS 200 // without rate and intervalMs

typedef struct PlaceVoxelDoc {
    Text name;
    bool solid;
    uint32_t material; // PaintMaterial
    uint32_t colour;
} PlaceVoxelDoc;

typedef enum PlaceSource { PLACE_SOURCE_CLOSED, PLACE_SOURCE_OPEN } PlaceSource;

typedef struct PlaceSettingsDoc {
    uint32_t format;
    Text name;
    uint32_t tick_rate, snapshot_rate;
    PlaceLimitsDoc limits;
    PlacePermissionsDoc permissions;
    uint32_t respawn_ms;
    CharacterTuning character;
    PlaceList actions;     // Text
    PlaceList catalogue;   // PlacePieceDoc
    PlaceList weapons;     // PlaceWeaponDoc
    PlaceList voxel_kinds; // PlaceVoxelDoc; kind 1 is the first
    Text spells;
    uint32_t source; // PlaceSource
    Text contexts;   // of scripts; a build reads them (server/build/place/soul.h), a world does not
} PlaceSettingsDoc;

typedef struct PlaceTransformDoc {
    Vec3 position;
    PlaceRotation rotation;
} PlaceTransformDoc;

typedef struct PlaceShapeDoc {
    uint32_t kind; // ShapeKind
    Vec3 size;
} PlaceShapeDoc;

typedef struct PlaceWaypointDoc {
    Vec3 position;
    PlaceRotation turn; // on top of the rotation in its transform
    float seconds;      // on the way to it
    float wait;         // seconds there
} PlaceWaypointDoc;

typedef struct PlaceSegmentDoc {
    float start; // seconds after the world's start
    float seconds;
    Vec3 position;
    PlaceRotation turn; // on top of the rotation in its transform
    Vec3 velocity;
    Vec3 angular_velocity;
} PlaceSegmentDoc;

typedef struct PlaceMotionDoc {
    PlaceList waypoints; // PlaceWaypointDoc
    PlaceList segments;  // PlaceSegmentDoc
    bool loop;
} PlaceMotionDoc;

typedef struct PlaceNpcDoc {
    float sight, sight_cos, feel, rise, decay, suspicious_at, alert_at, calm_at, stop, turn_speed;
    uint32_t interval_ticks, lose_ms, search_ms, travel_ms, pause_ms;
    PlaceList patrol; // Vec3
} PlaceNpcDoc;

typedef struct PlaceProjectileDoc {
    float radius, gravity, damage;
    uint32_t lifetime_ms, kind;
} PlaceProjectileDoc;

typedef struct PlaceScriptDoc {
    Text path, code_hash;
} PlaceScriptDoc;

// What scene entities and prefabs have in common.
typedef struct PlaceBodyDoc {
    PlaceShapeDoc shape;
    PlaceLookDoc look;
    PlaceList attributes; // PlaceAttribute
    PlaceList tags;       // Text
    bool trigger, ghost, ladder;
    float bounce, damage;
    Vec3 conveyor;
    PlaceNpcDoc npc;
    PlaceScriptDoc script_ref;
    Text script_path;
    Text parameters;
    bool server_only;
} PlaceBodyDoc;

typedef enum PlaceType {
    PLACE_TYPE_PART,
    PLACE_TYPE_PROP,
    PLACE_TYPE_NPC,
    PLACE_TYPE_SPAWN,
    PLACE_TYPE_GROUP
} PlaceType;

typedef enum PlaceRole {
    PLACE_ROLE_NONE, // groups
    PLACE_ROLE_SCENE_PART,
    PLACE_ROLE_ENTITY, // spawned when the world starts
    PLACE_ROLE_SPAWN
} PlaceRole;

typedef struct PlaceEntityDoc {
    uint32_t id;
    Text name;
    uint32_t type;   // PlaceType
    uint32_t parent; // id; 0: none
    PlaceTransformDoc transform;
    PlaceBodyDoc body;
    bool anchored;
    PlaceMotionDoc motion;
    Text team;
    bool enabled;
    // Worked out by place_check.
    PlaceRole role;
    Pose frame; // of its parent, in the world
    Pose pose;  // its own, in the world
    uint64_t net_id;
} PlaceEntityDoc;

typedef struct PlaceFillDoc {
    int32_t min[3], max[3]; // inclusive
    Text kind;              // its name; "air" empties
    Text chunk;             // "chunks/0_0_0.chunk": instead of all that
    // Worked out: the number of the kind, and the chunk's file.
    uint32_t kind_number;
    ChunkCoord at;
    const uint8_t *data;
    uint32_t data_bytes;
} PlaceFillDoc;

typedef struct PlaceBoundsDoc {
    Vec3 min, max;
} PlaceBoundsDoc;

typedef struct PlaceSceneDoc {
    uint32_t format;
    PlaceBoundsDoc bounds;
    PlaceList terrain;  // PlaceFillDoc
    PlaceList entities; // PlaceEntityDoc
} PlaceSceneDoc;

typedef enum PlacePrefabKind { // as PrefabKind of core/place/prefab.h
    PLACE_PREFAB_PART,
    PLACE_PREFAB_PROP,
    PLACE_PREFAB_NPC,
    PLACE_PREFAB_PROJECTILE
} PlacePrefabKind;

typedef struct PlacePrefabDoc {
    Text name; // of its file
    uint32_t format;
    uint32_t kind; // PlacePrefabKind
    PlaceRotation rotation;
    PlaceBodyDoc body;
    PlaceProjectileDoc projectile;
} PlacePrefabDoc;

// Of the stripped form only: what clients know of an entity before they see it. The rest comes by
// replication.
typedef struct PlaceSpawnedDoc {
    uint32_t net_id;
    Text script_path; // in Workspace
    Text parameters;
    bool enabled;
} PlaceSpawnedDoc;

typedef struct PlaceDoc {
    bool stripped;
    PlaceSettingsDoc settings;
    PlaceSceneDoc scene;
    PlacePrefabDoc *prefabs; // by ascending name
    uint32_t prefab_count;
    PlaceSpawnedDoc *spawned; // by ascending net id; none in the whole form
    uint32_t spawned_count;
    Text *assets; // paths, by bytes
    uint32_t asset_count;
    // Worked out by place_check.
    uint32_t part_count, entity_count, spawn_count;
    uint32_t touched_count; // chunks touched by fills
    uint32_t chunk_page_count;
} PlaceDoc;

extern const PlaceTable place_table_settings;
extern const PlaceTable place_table_scene;
extern const PlaceTable place_table_fill;
extern const PlaceTable place_table_entity;
extern const PlaceTable place_table_prefab;
extern const PlaceTable place_table_spawned; // bytes only
// Every table there is, for the test of docs/FORMATS.md; NULL ends it.
extern const PlaceTable *const place_tables[];

static inline PlaceEntityDoc *place_entity(const PlaceDoc *doc, uint32_t index)
{
    return (PlaceEntityDoc *)doc->scene.entities.items + index;
}
static inline PlaceFillDoc *place_fill(const PlaceDoc *doc, uint32_t index)
{
    return (PlaceFillDoc *)doc->scene.terrain.items + index;
}

// --- what is wrong, and where -------------------------------------------------------------------
typedef enum PlacePart { PLACE_PART_SETTINGS, PLACE_PART_SCENE, PLACE_PART_PREFAB } PlacePart;
typedef struct PlaceFault {
    Status status;
    PlacePart part;
    uint32_t prefab;    // PLACE_PART_PREFAB
    const char *list;   // "entities", …; NULL: the file's root
    uint32_t index;     // in the list
    uint32_t entity;    // the id of an entity of the scene; 0: it is about something else
    const char *member; // NULL: the object itself
    char message[JSON_MESSAGE_BYTES];
} PlaceFault;
MUST_USE Status place_check(PlaceDoc *doc, PlaceScratch *scratch, PlaceFault *fault);
// All faults, in the order in which place_check looks for them, so the first is the one that it
// gives. A doc with faults must not be used further. STATUS_LIMIT: memory ended the search.
typedef void (*PlaceFaultSink)(void *user, const PlaceFault *fault);
MUST_USE Status place_check_all(PlaceDoc *doc, PlaceScratch *scratch, PlaceFaultSink sink,
                                void *user);

static inline AssetNames place_assets(const PlaceDoc *doc)
{
    return (AssetNames){doc->assets, doc->asset_count};
}

// --- meaning ------------------------------------------------------------------------------------
Quat place_rotation(const PlaceRotation *rotation);
Pose place_pose(Pose frame, Vec3 position, const PlaceRotation *rotation);
PartDesc place_part(const PlaceBodyDoc *body, Pose pose);
Paint place_look_paint(const PlaceLookDoc *look, AssetNames assets);
float place_yaw(Quat rotation); // where +z points
bool place_is_in_world(Vec3 p);
// What an entity's motion is in ticks. loop_ticks 0: once.
MUST_USE Status place_motion(const PlaceEntityDoc *entity, uint32_t tick_rate,
                             MotionSegment segments[MOTION_SEGMENTS_MAX], uint32_t *count,
                             uint32_t *loop_ticks);
// The script that runs: scriptPath, or the path of scriptRef. "": none.
Text place_script(const PlaceBodyDoc *body);
// The same as it is known everywhere (script_path.h); not terminated.
Text place_script_plain(Text path);
bool place_script_is_server_only(Text path);
bool place_script_has_entity(Text path); // in one of the services whose scripts may
// Where a chunk is, by the name of its file ("chunks/0_0_0.chunk"); false: it has another name.
bool place_chunk_path(Text path, ChunkCoord *at);
// The base terrain of a checked doc; *out is NULL when it has none and every kind is solid.
MUST_USE Status place_terrain(Heap *heap, const PlaceDoc *doc, ChunkStore **out,
                              uint32_t *bad_fill);

// --- bytes --------------------------------------------------------------------------------------
// Texts point into the bytes. Checked: place_check is over when it returns STATUS_OK.
MUST_USE Status place_doc_read(const uint8_t *bytes, size_t count, PlaceScratch *scratch,
                               PlaceDoc *doc);
void place_doc_write(const PlaceDoc *doc, ByteWriter *writer);
// Makes a doc that has settings and a scene, but not from JSON, what place_compile would make of
// their text: with prefabs, chunks and the names of assets from the files, and checked. Then
// place_doc_write gives the same bytes.
MUST_USE Status place_doc_finish(PlaceDoc *doc, PlaceScratch *scratch, const PlaceFile *files,
                                 uint32_t file_count, PlaceError *error);
// place_strip of a doc that place_doc_read gave, which must not be used afterwards.
MUST_USE Status place_doc_strip(PlaceDoc *doc, PlaceScratch *scratch, ByteWriter *stripped);
