// Every number that bounds something, in one place, with its arithmetic. These are compile-time
// maxima: a world, place or operator may configure less, never more. A cap that is reached is
// STATUS_LIMIT plus a counter, never silence.
#pragma once

// Time. A tick is 1/60 s by default, 1/30 s allowed; a snapshot every third tick.
#define TICK_RATE_DEFAULT 60
#define TICK_RATE_LOW     30
#define TICK_CATCH_UP_MAX 5

// A world.
#define WORLD_PLAYERS_DEFAULT 100
#define WORLD_PLAYERS_MAX     4000
#define WORLD_ENTITIES_MAX    65536
// Anchored parts of a scene; they live in shared read-only storage, not in entity slots.
#define SCENE_PARTS_MAX 262144
// Half the edge of the playable cube, in metres. float32 keeps 1/256 m at 65,536 m; 16,384 m keeps
// 1 mm, which is the penetration that collision promises.
#define WORLD_EXTENT_M 16384
// A single part's half extent, in metres.
#define PART_HALF_EXTENT_MAX_M 512.0f
#define PART_HALF_EXTENT_MIN_M 0.01f

// Voxels: 32 x 32 x 32 per chunk, one metre each. 2 * 16,384 / 32 = 1,024 chunks along an axis.
#define CHUNK_EDGE      32
#define CHUNK_VOXELS    (CHUNK_EDGE * CHUNK_EDGE * CHUNK_EDGE)
#define CHUNK_COORD_MAX (WORLD_EXTENT_M / CHUNK_EDGE) // coordinates are in [-512, 511]
#define VOXEL_KINDS_MAX 1024                          // kinds 0..1023, 0 is air
// One edit: a box of at most 64 x 64 x 64, a sphere of at most radius 24 (57,906 voxels).
#define VOXEL_EDIT_BOX_EDGE_MAX      64
#define VOXEL_EDIT_SPHERE_RADIUS_MAX 24.0f

// Lag compensation: a shot is tested where its shooter saw the target, at most this long ago.
// 350 ms at 60 Hz are 21 ticks; one more to interpolate between, two spare.
#define HISTORY_REWIND_MS 350
#define HISTORY_TICKS     24

// Events of one tick; a full array sets STATUS_LIMIT and counts what was dropped.
#define SIM_EVENTS_MAX 8192

// Net ids stay below 2^53, so that JSON readers keep them exact.
#define SIM_NET_ID_MAX ((1ull << 53) - 1)

// Path finding: 12 bytes a cell, one search at a time.
#define PATH_NODES_PER_TICK_MAX 65536
#define PATH_CELLS_MAX          65536

// Structures a player or a world may have standing.
#define STRUCTURES_PER_PLAYER_MAX 2000
#define STRUCTURE_CATALOGUE_MAX   256

// JSON that core reads: place files and script parameters.
#define JSON_DEPTH_MAX 32
#define JSON_NODES_MAX (1 << 20)
#define JSON_BYTES_MAX (32 << 20)

// A script: its source, and compiled. A rune enters a world as one entry (core/world/entry.h), and
// a client gets it in pieces; what is larger is an error of the build.
#define SCRIPT_SOURCE_BYTES_MAX (256 << 10)
#define RUNE_BYTES_MAX          (512u << 10)
