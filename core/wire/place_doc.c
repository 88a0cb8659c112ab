// The members of every file of a place, with their ranges and defaults. docs/FORMATS.md has the
// same tables for people, and a test compares the two.
#include "core/wire/place_doc.h"

#include "core/base/limits.h"
#include "core/sim/npc.h"
#include "core/sim/projectile.h"

#include <stddef.h>

#define ROW(record, json, kind, member, ...)                                            \
    {                                                                                   \
        .name = (json), .type = (kind), .offset = offsetof(record, member), __VA_ARGS__ \
    }
#define TABLE(table, heading, type, rows)                                      \
    const PlaceTable table = {.name = (heading),                               \
                              .fields = (rows),                                \
                              .field_count = sizeof(rows) / sizeof((rows)[0]), \
                              .bytes = sizeof(type)}

#define EXTENT     ((double)WORLD_EXTENT_M)
#define SIZE_MIN   (2 * (double)PART_HALF_EXTENT_MIN_M)
#define SIZE_MAX_M (2 * (double)PART_HALF_EXTENT_MAX_M)
#define TIME_MS    600000
#define SECONDS    3600

// --- place.json ---------------------------------------------------------------------------------

#define R(json, kind, member, ...) ROW(PlaceLimitsDoc, json, kind, member, __VA_ARGS__)
static const PlaceField limits_rows[] = {
    R("players", PLACE_U32, players, .low = 1, .high = WORLD_PLAYERS_MAX,
      .fallback = WORLD_PLAYERS_DEFAULT),
    R("entities", PLACE_U32, entities, .low = 1, .high = WORLD_ENTITIES_MAX, .fallback = 16384),
    R("viewRadius", PLACE_F32, view_radius, .low = 8, .high = 1024, .fallback = 128),
    R("reach", PLACE_F32, reach, .low = 0, .high = 64, .fallback = 8),
};
static TABLE(limits_table, "limits", PlaceLimitsDoc, limits_rows);
#undef R

#define R(json, kind, member, ...) ROW(PlacePermissionsDoc, json, kind, member, __VA_ARGS__)
static const PlaceField permissions_rows[] = {
    R("build", PLACE_BOOL, build, .fallback = 0),
    R("terraform", PLACE_BOOL, terraform, .fallback = 0),
};
static TABLE(permissions_table, "permissions", PlacePermissionsDoc, permissions_rows);
#undef R

// The defaults are those of sim_config_default, which a test compares.
#define R(json, kind, member, from, to, otherwise) \
    ROW(CharacterTuning, json, kind, member, .low = (from), .high = (to), .fallback = (otherwise))
static const PlaceField character_rows[] = {
    R("radius", PLACE_F32, radius, 0.1f, 1, 0.4f),
    R("height", PLACE_F32, height, 0.4f, 4, 1.8f),
    R("walkSpeed", PLACE_F32, walk_speed, 0, 30, 5),
    R("runSpeed", PLACE_F32, run_speed, 0, 30, 8),
    R("climbSpeed", PLACE_F32, climb_speed, 0, 30, 3),
    R("groundAcceleration", PLACE_F32, ground_acceleration, 0, 1000, 60),
    R("airAcceleration", PLACE_F32, air_acceleration, 0, 1000, 15),
    R("gravity", PLACE_F32, gravity, 0, 200, 25),
    R("fallSpeedMax", PLACE_F32, fall_speed_max, 1, 100, 60),
    R("jumpSpeed", PLACE_F32, jump_speed, 0, 50, 7.9f),
    R("stepHeight", PLACE_F32, step_height, 0.06f, 4, 0.6f),
    R("slopeCos", PLACE_F32, slope_cos, 0.1f, 1, 0.69f),
    R("pushSpeed", PLACE_F32, push_speed, 0, 20, 2),
    R("healthMax", PLACE_F32, health_max, 0.001f, 1e6f, 100),
    R("coyoteMs", PLACE_U32, coyote_ms, 0, 1000, 100),
    R("jumpBufferMs", PLACE_U32, jump_buffer_ms, 0, 1000, 100),
    R("damagePauseMs", PLACE_U32, damage_pause_ms, 0, 2000, 500),
};
static TABLE(character_table, "character", CharacterTuning, character_rows);
#undef R

#define NAME_ROW(type) \
    ROW(type, "name", PLACE_TEXT, name, .low = 1, .high = PLACE_NAME_BYTES, .flags = PLACE_REQUIRED)

// The rows of look.def in a table: whoever includes look.def defines LOOK as one of the two macros
// below. Both need LOOK_OWNER, the struct, and find the members in its `look` or `body.look`.
#define LOOK_COLOUR(type, json, at, otherwise) \
    ROW(type, json, PLACE_COLOUR, at, .fallback = (otherwise)),
#define LOOK_SHARE(type, json, at, otherwise)           \
    ROW(type, json, PLACE_F32, at, .low = 0, .high = 1, \
        .fallback = (double)(otherwise) / PAINT_SHARE_HUNDREDS),
#define LOOK_WORD(type, json, at, otherwise) \
    ROW(type, json, PLACE_CHOICE, at, .words = material_words, .fallback = (otherwise)),
#define LOOK_BOOL(type, json, at, otherwise) \
    ROW(type, json, PLACE_BOOL, at, .fallback = (otherwise)),
#define LOOK_ASSET(type, json, at, otherwise) \
    ROW(type, json, PLACE_TEXT, at, .low = 0, .high = ASSET_PATH_BYTES_MAX),
#define LOOK_FIELD(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    LOOK_##kind(LOOK_OWNER, scene, look.member, fallback)
#define LOOK_FIELD_OF_BODY(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    LOOK_##kind(LOOK_OWNER, scene, body.look.member, fallback)

static const char *const material_words[] = {
#define LOOK_MATERIAL(name) #name,
#include "core/wire/look.def"
    NULL};

static const PlaceField piece_rows[] = {
    NAME_ROW(PlacePieceDoc),
    ROW(PlacePieceDoc, "cells", PLACE_CELLS, cells, .low = 1, .high = 8, .fallback = 1),
    ROW(PlacePieceDoc, "health", PLACE_F32, health, .low = 0.001f, .high = 1e6f, .fallback = 100),
    ROW(PlacePieceDoc, "groundOnly", PLACE_BOOL, ground_only, .fallback = 0),
#define LOOK_OWNER PlacePieceDoc
#define LOOK       LOOK_FIELD
#include "core/wire/look.def"
#undef LOOK_OWNER
};
static TABLE(piece_table, "catalogue", PlacePieceDoc, piece_rows);

#define R(json, kind, member, ...) ROW(PlaceWeaponDoc, json, kind, member, __VA_ARGS__)
static const PlaceField weapon_rows[] = {
    NAME_ROW(PlaceWeaponDoc),
    R("rate", PLACE_F32, rate, .low = 0, .high = 60, .fallback = 0),
    R("intervalMs", PLACE_U32, interval_ms, .low = 0, .high = TIME_MS, .fallback = 0),
    R("speed", PLACE_F32, speed, .low = 0.1f, .high = PROJECTILE_SPEED_MAX, .fallback = 100),
    R("damage", PLACE_F32, damage, .low = -PROJECTILE_DAMAGE_MAX, .high = PROJECTILE_DAMAGE_MAX,
      .fallback = 10, .flags = PLACE_SERVER),
    R("gravity", PLACE_F32, gravity, .low = 0, .high = PROJECTILE_GRAVITY_MAX, .fallback = 0),
    R("radius", PLACE_F32, radius, .low = 0, .high = PROJECTILE_RADIUS_MAX, .fallback = 0.1f),
    R("lifetimeMs", PLACE_U32, lifetime_ms, .low = 1, .high = TIME_MS, .fallback = 3000),
    R("kind", PLACE_U32, kind, .low = 0, .high = UINT16_MAX, .fallback = 0),
};
static TABLE(weapon_table, "weapons", PlaceWeaponDoc, weapon_rows);
#undef R

static const PlaceField voxel_rows[] = {
    NAME_ROW(PlaceVoxelDoc),
    ROW(PlaceVoxelDoc, "solid", PLACE_BOOL, solid, .fallback = 1),
    ROW(PlaceVoxelDoc, "colour", PLACE_COLOUR, colour, .fallback = 0xa0a0a0),
    ROW(PlaceVoxelDoc, "material", PLACE_CHOICE, material, .words = material_words),
};
static TABLE(voxel_table, "voxelKinds", PlaceVoxelDoc, voxel_rows);

static const char *const source_words[] = {"closed", "open", NULL};

#define FORMAT_ROW(type)                                                              \
    ROW(type, "format", PLACE_U32, format, .low = PLACE_FORMAT, .high = PLACE_FORMAT, \
        .fallback = PLACE_FORMAT, .flags = PLACE_REQUIRED)
#define R(json, kind, member, ...) ROW(PlaceSettingsDoc, json, kind, member, __VA_ARGS__)
static const PlaceField settings_rows[] = {
    FORMAT_ROW(PlaceSettingsDoc),
    NAME_ROW(PlaceSettingsDoc),
    R("tickRate", PLACE_U32, tick_rate, .low = TICK_RATE_LOW, .high = TICK_RATE_DEFAULT,
      .fallback = TICK_RATE_DEFAULT),
    R("snapshotRate", PLACE_U32, snapshot_rate, .low = 10, .high = 30, .fallback = 20),
    R("limits", PLACE_OBJECT, limits, .table = &limits_table),
    R("permissions", PLACE_OBJECT, permissions, .table = &permissions_table),
    R("respawnMs", PLACE_U32, respawn_ms, .low = 0, .high = TIME_MS, .fallback = 3000),
    R("character", PLACE_OBJECT, character, .table = &character_table),
    R("actions", PLACE_TEXTS, actions, .low = 32, .high = PLACE_ACTIONS_MAX),
    R("catalogue", PLACE_LIST, catalogue, .high = STRUCTURE_CATALOGUE_MAX, .table = &piece_table),
    R("weapons", PLACE_LIST, weapons, .high = 64, .table = &weapon_table),
    R("voxelKinds", PLACE_LIST, voxel_kinds, .high = VOXEL_KINDS_MAX - 1, .table = &voxel_table),
    R("spells", PLACE_JSON, spells, .high = PLACE_PARAMETERS_BYTES, .flags = PLACE_SERVER),
    R("source", PLACE_CHOICE, source, .words = source_words, .flags = PLACE_SERVER),
    R("contexts", PLACE_JSON, contexts, .high = PLACE_CONTEXTS_BYTES, .flags = PLACE_SERVER),
};
TABLE(place_table_settings, "place.json", PlaceSettingsDoc, settings_rows);
#undef R

// --- what entities and prefabs share ------------------------------------------------------------

static const char *const shape_words[] = {"box", "wedge", "sphere", "cylinder", NULL};
static const PlaceField shape_rows[] = {
    ROW(PlaceShapeDoc, "kind", PLACE_CHOICE, kind, .words = shape_words),
    ROW(PlaceShapeDoc, "size", PLACE_VEC3, size, .low = SIZE_MIN, .high = SIZE_MAX_M,
        .fallback = 1),
};
static TABLE(shape_table, "shape", PlaceShapeDoc, shape_rows);

#define R(json, kind, member, from, to, otherwise)                                             \
    ROW(PlaceNpcDoc, json, kind, member, .low = (from), .high = (to), .fallback = (otherwise), \
        .flags = PLACE_SERVER)
static const PlaceField npc_rows[] = {
    R("sight", PLACE_F32, sight, 0, NPC_SIGHT_MAX_M, 20),
    R("sightCos", PLACE_F32, sight_cos, -1, 1, 0.5f),
    R("feel", PLACE_F32, feel, 0, NPC_SIGHT_MAX_M, 2),
    R("rise", PLACE_F32, rise, 0, 1000, 1.5f),
    R("decay", PLACE_F32, decay, 0, 1000, 0.25f),
    R("suspiciousAt", PLACE_F32, suspicious_at, 0, 1, 0.3f),
    R("alertAt", PLACE_F32, alert_at, 0, 1, 0.9f),
    R("calmAt", PLACE_F32, calm_at, 0, 1, 0.1f),
    R("stop", PLACE_F32, stop, 0, NPC_SIGHT_MAX_M, 1.5f),
    R("turnSpeed", PLACE_F32, turn_speed, 0.5f, 100, 2 * MATH_PI),
    R("intervalTicks", PLACE_U32, interval_ticks, 0, NPC_INTERVAL_MAX, 0),
    R("loseMs", PLACE_U32, lose_ms, 0, NPC_TIME_MAX_MS, 2000),
    R("searchMs", PLACE_U32, search_ms, 0, NPC_TIME_MAX_MS, 5000),
    R("travelMs", PLACE_U32, travel_ms, 0, NPC_TIME_MAX_MS, 15000),
    R("pauseMs", PLACE_U32, pause_ms, 0, NPC_TIME_MAX_MS, 1000),
    R("patrol", PLACE_VECTORS, patrol, 0, NPC_PATROL_MAX, 0),
};
static TABLE(npc_table, "npc", PlaceNpcDoc, npc_rows);
#undef R

static const PlaceField script_rows[] = {
    ROW(PlaceScriptDoc, "path", PLACE_TEXT, path, .low = 0, .high = 127),
    ROW(PlaceScriptDoc, "codeHash", PLACE_TEXT, code_hash, .low = 0, .high = 80),
};
static TABLE(script_table, "scriptRef", PlaceScriptDoc, script_rows);

#define BODY_ROWS(type)                                                                       \
    ROW(type, "attributes", PLACE_ATTRIBUTES, body.attributes, .high = 64),                   \
        ROW(type, "tags", PLACE_TEXTS, body.tags, .low = PLACE_NAME_BYTES, .high = 32),       \
        ROW(type, "trigger", PLACE_BOOL, body.trigger, .fallback = 0),                        \
        ROW(type, "ghost", PLACE_BOOL, body.ghost, .fallback = 0),                            \
        ROW(type, "ladder", PLACE_BOOL, body.ladder, .fallback = 0),                          \
        ROW(type, "bounce", PLACE_F32, body.bounce, .low = -100, .high = 100),                \
        ROW(type, "damage", PLACE_F32, body.damage, .low = -1e6f, .high = 1e6f),              \
        ROW(type, "conveyor", PLACE_VEC3, body.conveyor, .low = -50, .high = 50),             \
        ROW(type, "npc", PLACE_OBJECT, body.npc, .table = &npc_table, .flags = PLACE_SERVER), \
        ROW(type, "scriptRef", PLACE_OBJECT, body.script_ref, .table = &script_table,         \
            .flags = PLACE_SERVER),                                                           \
        ROW(type, "scriptPath", PLACE_TEXT, body.script_path, .low = 0, .high = 160),         \
        ROW(type, "parameters", PLACE_JSON, body.parameters, .high = PLACE_PARAMETERS_BYTES), \
        ROW(type, "serverOnly", PLACE_BOOL, body.server_only, .flags = PLACE_SERVER)

// --- scene.json ---------------------------------------------------------------------------------

static const PlaceField transform_rows[] = {
    ROW(PlaceTransformDoc, "position", PLACE_VEC3, position, .low = -EXTENT, .high = EXTENT),
    ROW(PlaceTransformDoc, "rotation", PLACE_ROTATION, rotation, .low = 0),
};
static TABLE(transform_table, "transform", PlaceTransformDoc, transform_rows);

static const PlaceField waypoint_rows[] = {
    ROW(PlaceWaypointDoc, "position", PLACE_VEC3, position, .low = -EXTENT, .high = EXTENT,
        .flags = PLACE_REQUIRED),
    ROW(PlaceWaypointDoc, "turn", PLACE_ROTATION, turn, .low = 0),
    ROW(PlaceWaypointDoc, "seconds", PLACE_F32, seconds, .low = 0.01f, .high = SECONDS,
        .fallback = 1, .flags = PLACE_REQUIRED),
    ROW(PlaceWaypointDoc, "wait", PLACE_F32, wait, .low = 0, .high = SECONDS),
};
static TABLE(waypoint_table, "waypoints", PlaceWaypointDoc, waypoint_rows);

static const PlaceField segment_rows[] = {
    ROW(PlaceSegmentDoc, "start", PLACE_F32, start, .low = 0, .high = SECONDS),
    ROW(PlaceSegmentDoc, "seconds", PLACE_F32, seconds, .low = 0.01f, .high = SECONDS,
        .fallback = 1, .flags = PLACE_REQUIRED),
    ROW(PlaceSegmentDoc, "position", PLACE_VEC3, position, .low = -EXTENT, .high = EXTENT,
        .flags = PLACE_REQUIRED),
    ROW(PlaceSegmentDoc, "turn", PLACE_ROTATION, turn, .low = 0),
    ROW(PlaceSegmentDoc, "velocity", PLACE_VEC3, velocity, .low = -60, .high = 60),
    ROW(PlaceSegmentDoc, "angularVelocity", PLACE_VEC3, angular_velocity, .low = -31, .high = 31),
};
static TABLE(segment_table, "segments", PlaceSegmentDoc, segment_rows);

static const PlaceField motion_rows[] = {
    ROW(PlaceMotionDoc, "waypoints", PLACE_LIST, waypoints, .high = MOTION_SEGMENTS_MAX,
        .table = &waypoint_table),
    ROW(PlaceMotionDoc, "segments", PLACE_LIST, segments, .high = MOTION_SEGMENTS_MAX,
        .table = &segment_table),
    ROW(PlaceMotionDoc, "loop", PLACE_BOOL, loop, .fallback = 0),
};
static TABLE(motion_table, "motion", PlaceMotionDoc, motion_rows);

static const char *const type_words[] = {"part", "prop", "npc", "spawn", "group", NULL};

#define R(json, kind, member, ...) ROW(PlaceEntityDoc, json, kind, member, __VA_ARGS__)
static const PlaceField entity_rows[] = {
    R("id", PLACE_U32, id, .low = 1, .high = UINT32_MAX, .flags = PLACE_REQUIRED),
    R("name", PLACE_TEXT, name, .low = 0, .high = PLACE_NAME_BYTES),
    R("type", PLACE_CHOICE, type, .words = type_words),
    R("parent", PLACE_U32, parent, .low = 1, .high = UINT32_MAX, .flags = PLACE_SERVER),
    R("transform", PLACE_OBJECT, transform, .table = &transform_table),
    R("shape", PLACE_OBJECT, body.shape, .table = &shape_table),
#define LOOK_OWNER PlaceEntityDoc
#define LOOK       LOOK_FIELD_OF_BODY
#include "core/wire/look.def"
#undef LOOK_OWNER
    BODY_ROWS(PlaceEntityDoc),
    R("anchored", PLACE_BOOL, anchored, .fallback = 1),
    R("motion", PLACE_OBJECT, motion, .table = &motion_table, .flags = PLACE_SERVER),
    R("team", PLACE_TEXT, team, .low = 0, .high = PLACE_NAME_BYTES),
    R("enabled", PLACE_BOOL, enabled, .fallback = 1),
};
TABLE(place_table_entity, "entities", PlaceEntityDoc, entity_rows);
#undef R

#define VOXEL_LOW  (-(double)WORLD_EXTENT_M)
#define VOXEL_HIGH ((double)WORLD_EXTENT_M - 1)
static const PlaceField fill_rows[] = {
    ROW(PlaceFillDoc, "min", PLACE_CELLS, min, .low = VOXEL_LOW, .high = VOXEL_HIGH),
    ROW(PlaceFillDoc, "max", PLACE_CELLS, max, .low = VOXEL_LOW, .high = VOXEL_HIGH),
    ROW(PlaceFillDoc, "kind", PLACE_TEXT, kind, .low = 0, .high = PLACE_NAME_BYTES),
    ROW(PlaceFillDoc, "chunk", PLACE_TEXT, chunk, .low = 0, .high = 40),
};
TABLE(place_table_fill, "terrain", PlaceFillDoc, fill_rows);

static const PlaceField bounds_rows[] = {
    ROW(PlaceBoundsDoc, "min", PLACE_VEC3, min, .low = -EXTENT, .high = EXTENT,
        .flags = PLACE_REQUIRED),
    ROW(PlaceBoundsDoc, "max", PLACE_VEC3, max, .low = -EXTENT, .high = EXTENT,
        .flags = PLACE_REQUIRED),
};
static TABLE(bounds_table, "bounds", PlaceBoundsDoc, bounds_rows);

static const PlaceField scene_rows[] = {
    FORMAT_ROW(PlaceSceneDoc),
    ROW(PlaceSceneDoc, "bounds", PLACE_OBJECT, bounds, .table = &bounds_table),
    ROW(PlaceSceneDoc, "terrain", PLACE_LIST, terrain, .high = PLACE_TERRAIN_MAX,
        .table = &place_table_fill),
    ROW(PlaceSceneDoc, "entities", PLACE_LIST, entities, .high = PLACE_ENTITIES_MAX,
        .table = &place_table_entity),
};
TABLE(place_table_scene, "scene.json", PlaceSceneDoc, scene_rows);

// --- prefabs/<Name>.json ------------------------------------------------------------------------

#define R(json, kind, member, ...) ROW(PlaceProjectileDoc, json, kind, member, __VA_ARGS__)
static const PlaceField projectile_rows[] = {
    R("radius", PLACE_F32, radius, .low = 0, .high = PROJECTILE_RADIUS_MAX, .fallback = 0.1f),
    R("gravity", PLACE_F32, gravity, .low = -PROJECTILE_GRAVITY_MAX,
      .high = PROJECTILE_GRAVITY_MAX),
    R("damage", PLACE_F32, damage, .low = -PROJECTILE_DAMAGE_MAX, .high = PROJECTILE_DAMAGE_MAX,
      .fallback = 10, .flags = PLACE_SERVER),
    R("lifetimeMs", PLACE_U32, lifetime_ms, .low = 1, .high = TIME_MS, .fallback = 10000),
    R("kind", PLACE_U32, kind, .low = 0, .high = UINT16_MAX),
};
static TABLE(projectile_table, "projectile", PlaceProjectileDoc, projectile_rows);
#undef R

static const char *const prefab_words[] = {"part", "prop", "npc", "projectile", NULL};
static const PlaceField prefab_rows[] = {
    FORMAT_ROW(PlacePrefabDoc),
    ROW(PlacePrefabDoc, "kind", PLACE_CHOICE, kind, .words = prefab_words, .flags = PLACE_REQUIRED),
    ROW(PlacePrefabDoc, "rotation", PLACE_ROTATION, rotation, .low = 0),
    ROW(PlacePrefabDoc, "shape", PLACE_OBJECT, body.shape, .table = &shape_table),
#define LOOK_OWNER PlacePrefabDoc
#define LOOK       LOOK_FIELD_OF_BODY
#include "core/wire/look.def"
#undef LOOK_OWNER
    BODY_ROWS(PlacePrefabDoc),
    ROW(PlacePrefabDoc, "projectile", PLACE_OBJECT, projectile, .table = &projectile_table),
};
TABLE(place_table_prefab, "prefabs", PlacePrefabDoc, prefab_rows);

// --- of the stripped form -----------------------------------------------------------------------

#define R(json, kind, member, ...) ROW(PlaceSpawnedDoc, json, kind, member, __VA_ARGS__)
static const PlaceField spawned_rows[] = {
    R("netId", PLACE_U32, net_id, .low = 1, .high = UINT32_MAX, .flags = PLACE_REQUIRED),
    R("scriptPath", PLACE_TEXT, script_path, .low = 0, .high = 127),
    R("parameters", PLACE_JSON, parameters, .high = PLACE_PARAMETERS_BYTES),
    R("enabled", PLACE_BOOL, enabled, .fallback = 1),
};
TABLE(place_table_spawned, "spawned", PlaceSpawnedDoc, spawned_rows);
#undef R

const PlaceTable *const place_tables[] = {
    &place_table_settings, &limits_table,       &permissions_table,
    &character_table,      &piece_table,        &weapon_table,
    &voxel_table,          &place_table_scene,  &bounds_table,
    &place_table_fill,     &place_table_entity, &transform_table,
    &shape_table,          &npc_table,          &script_table,
    &motion_table,         &waypoint_table,     &segment_table,
    &place_table_prefab,   &projectile_table,   NULL};
