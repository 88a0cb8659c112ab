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
// Chunks that are written out in one tick, because they were edited or somebody asks for them; one
// takes about 30 us, so either is at most 2 ms. The rest waits for the next tick.
#define CHUNK_SAVES_PER_TICK 64
#define CHUNK_SENDS_PER_TICK 64
#define CHUNK_WRITE_STEPS    15000 // of 2 ns
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

// What scripts may make the sim do. A script's things are counted by the slot of the script, of
// which there are at most 1,024.
#define SIM_MAKERS_MAX 1024
// Steps of a tick for the things of all scripts together; at 2 ns a step this is 4 ms. With the 8
// ms that scripts may run themselves, 4.6 of the 16.6 ms of a tick stay for players and snapshots.
// 512 NPCs take about 1,000 steps each and 2,048 projectiles about 250: half of it each.
#define SIM_MAKER_STEPS_PER_TICK 2000000
// Free places are looked for so long in one tick, for all characters that something was built into
// (1 ms); the rest waits for the next tick.
#define SIM_UNSTUCK_STEPS_PER_TICK 500000
// For one character that is put somewhere; then it stays where the search has come to.
#define SIM_FREE_STEPS_MAX 100000
// What one script may have in a world of 16,384 entities: a quarter of all, an eighth as
// projectiles, and half of the 512 NPCs.
#define SCRIPT_ENTITIES_MAX    4096
#define SCRIPT_PROJECTILES_MAX 2048
#define SCRIPT_NPCS_MAX        256
// Messages, sounds, chat and requests to stores of one script in a tick: a quarter of what fits.
#define SCRIPT_EFFECTS_PER_TICK_MAX 1024

// Structures a player or a world may have standing.
#define STRUCTURES_PER_PLAYER_MAX 2000
#define STRUCTURE_CATALOGUE_MAX   256

// JSON that core reads: place files and script parameters.
#define JSON_DEPTH_MAX 32
#define JSON_NODES_MAX (1 << 20)
#define JSON_BYTES_MAX (32 << 20)
