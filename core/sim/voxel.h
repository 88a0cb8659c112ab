// Terrain as 32 x 32 x 32 chunks of one-metre voxels. Three layers, each with one job:
//
//   ChunkStore   the place's own terrain: built once, read-only afterwards, shared by every sim of
//                the process (thousands of clients look at one).
//   Terrain      what one sim sees: a store plus that sim's own changed chunks, copied on the first
//                write. So "differences over the base" is simply: the chunks a Terrain owns.
//   chunk bytes  the two serialised forms, whole and difference; both readers are total.
//
// A chunk is a palette of kinds plus one index per voxel, 0 to 10 bits wide, stored as bit planes
// of 4 KiB; a chunk of one kind has no indices at all. Beside them stands a solid mask, one 32-bit
// word per column (bit y), which is what movement, rays and path finding read. Voxel (x, y, z)
// covers [x, x+1) x [y, y+1) x [z, z+1); its number within a chunk is (z * 32 + x) * 32 + y, so a
// column is consecutive.
//
// Memory is taken at create: fixed 4 KiB pages, of which a chunk uses one per plane, one for the
// mask unless its voxels are all solid or all open, and one for a palette of more than 16 kinds.
// That depends on its content alone, not on how it came about. No edit allocates from the heap; one
// that runs out of pages or chunks changes nothing and says STATUS_LIMIT.
//
// Look-ups write nothing. A store that is built may be read from many threads; a Terrain belongs to
// one.
#pragma once

#include "core/base/bytes.h"
#include "core/base/hash.h"
#include "core/base/heap.h"
#include "core/base/limits.h"
#include "core/base/math.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef uint16_t VoxelKind; // 0 is air
#define VOXEL_AIR ((VoxelKind)0)

typedef struct VoxelCoord {
    int32_t x, y, z;
} VoxelCoord;

typedef struct ChunkCoord {
    int32_t x, y, z; // voxel coordinate divided by 32, rounded down
} ChunkCoord;

// Which kinds there are: 0 to count - 1. No edit and no chunk that is read may have another. Which
// of them block movement and rays: kind 0 never does; every other does unless its bit is cleared.
typedef struct VoxelKinds {
    uint64_t solid[VOXEL_KINDS_MAX / 64];
    uint32_t count;
} VoxelKinds;
VoxelKinds voxel_kinds_default(void); // all that a chunk can hold
static inline bool voxel_kind_is_solid(const VoxelKinds *kinds, VoxelKind kind)
{
    return (kinds->solid[kind / 64] >> (kind % 64) & 1) != 0;
}

// --- the shared base ----------------------------------------------------------------------------
typedef struct ChunkStore ChunkStore;

typedef struct ChunkStoreConfig {
    uint32_t chunk_max;
    uint32_t page_max; // 4 KiB each
    VoxelKinds kinds;
} ChunkStoreConfig;

MUST_USE Status chunk_store_create(Heap *heap, const ChunkStoreConfig *config, ChunkStore **out);
void chunk_store_destroy(Heap *heap, ChunkStore *store);
// Building: later calls win; not after the first Terrain was made on it. STATUS_RANGE for a voxel
// outside the extent, min above max, or a kind that there is not. A box may have any size and is
// cut at the extent. All or nothing, as for a Terrain.
MUST_USE Status chunk_store_set(ChunkStore *store, VoxelCoord at, VoxelKind kind);
MUST_USE Status chunk_store_fill(ChunkStore *store, VoxelCoord min, VoxelCoord max,
                                 VoxelKind kind); // max inclusive
// Whole form; the version in it is not kept. Leaves what follows the chunk in the reader.
MUST_USE Status chunk_store_parse(ChunkStore *store, ChunkCoord at, ByteReader *reader);
const VoxelKinds *chunk_store_kinds(const ChunkStore *store);
// Its chunks in ascending (z, y, x) order; index below the count.
uint32_t chunk_store_chunk_count(const ChunkStore *store);
ChunkCoord chunk_store_coord(const ChunkStore *store, uint32_t index);
// All chunks by content, and which kinds are solid.
void chunk_store_hash(const ChunkStore *store, Hash64 *hash);

// --- what one sim sees --------------------------------------------------------------------------
typedef struct Terrain Terrain;

typedef struct TerrainConfig {
    uint32_t chunk_max; // changed chunks this sim may own
    uint32_t page_max;
} TerrainConfig;

// What terrain_create takes from the heap.
size_t terrain_bytes(const TerrainConfig *config);
// base may be NULL: all air. The Terrain keeps the pointer; the store must outlive it.
MUST_USE Status terrain_create(Heap *heap, const TerrainConfig *config, const ChunkStore *base,
                               Terrain **out);
void terrain_destroy(Heap *heap, Terrain *terrain);
// Drops every change: only the base is left. Versions start again.
void terrain_clear(Terrain *terrain);

uint32_t terrain_kind_count(const Terrain *terrain); // kinds 0 to that less one, air included
// Outside the world's extent everything is air.
VoxelKind terrain_voxel(const Terrain *terrain, VoxelCoord at);
bool terrain_is_solid(const Terrain *terrain, VoxelCoord at);
// Bit i says whether (x, y + i, z) is solid; count 1..64. The hot query of movement.
uint64_t terrain_column(const Terrain *terrain, int32_t x, int32_t z, int32_t y, uint32_t count);

typedef struct TerrainHit {
    VoxelCoord voxel;
    VoxelKind kind;
    float distance;
    Vec3 point;
    Vec3 normal; // the face entered; -direction when the ray starts inside
} TerrainHit;
// direction must be unit. Walks voxel by voxel; exact at chunk borders. Of boundaries crossed at
// once (an edge, a corner) x goes before y before z. A ray may start outside the extent. False for
// one that is not finite, has no direction, or a distance_max below 0; hit is then untouched.
bool terrain_ray(const Terrain *terrain, Vec3 origin, Vec3 direction, float distance_max,
                 TerrainHit *hit);

// Edits are all or nothing. `changed` (may be NULL) gets the number of voxels that now differ;
// every chunk in which one differs has its version raised by one. STATUS_RANGE for a kind that
// there is not, a voxel outside the extent, min above max, anything larger than limits.h allows or
// not finite; a box or sphere that is partly outside is cut at the extent. STATUS_LIMIT
// when pages or chunks do not suffice (or a version cannot rise beyond 2^32 - 1).
MUST_USE Status terrain_set(Terrain *terrain, VoxelCoord at, VoxelKind kind, uint32_t *changed);
// Until it is cleared an edit may take at most so many more chunks and pages; otherwise
// STATUS_LIMIT.
void terrain_set_room(Terrain *terrain, uint32_t chunks, uint32_t pages);
void terrain_clear_room(Terrain *terrain);
MUST_USE Status terrain_fill_box(Terrain *terrain, VoxelCoord min, VoxelCoord max, VoxelKind kind,
                                 uint32_t *changed); // max inclusive
MUST_USE Status terrain_fill_sphere(Terrain *terrain, Vec3 centre, float radius, VoxelKind kind,
                                    uint32_t *changed); // voxels whose centre is within

// 0 for a chunk never edited. Rises with each edit that changes it, across save and restore.
uint32_t terrain_chunk_version(const Terrain *terrain, ChunkCoord at);
// Rises with every edit that changes something and with every chunk read: "did anything change
// since". It wraps: compare for equality. Saved and restored with the terrain.
uint32_t terrain_edit_count(const Terrain *terrain);
uint32_t terrain_changed_chunk_count(const Terrain *terrain);
// Changed chunks in ascending (z, y, x) order; index below the count.
ChunkCoord terrain_changed_chunk(const Terrain *terrain, uint32_t index);

typedef struct TerrainUse {
    uint32_t chunk_count, chunk_max;
    uint32_t page_count, page_max;
    uint32_t limit_count; // edits and reads refused with STATUS_LIMIT so far
} TerrainUse;
TerrainUse terrain_use(const Terrain *terrain);

// --- bytes --------------------------------------------------------------------------------------
// Whole: format, version, palette, packed indices. Difference: format, version, base-relative runs;
// it falls back to whole when that is smaller. Equal chunks give equal bytes, whatever edits led
// there. The layout is in voxel_bytes.c; no chunk takes more than CHUNK_BYTES_MAX.
#define CHUNK_BYTES_MAX (5 + 2 + 2 * VOXEL_KINDS_MAX + 10 * 4096)
void terrain_write_chunk(const Terrain *terrain, ChunkCoord at, ByteWriter *writer);
void terrain_write_difference(const Terrain *terrain, ChunkCoord at, ByteWriter *writer);
// Either form; replaces what this sim owns of that chunk and takes the version found. Version 0
// says that the chunk was never edited: it must equal the base (STATUS_MISMATCH otherwise) and is
// then no longer owned. On failure the terrain is as before. A kind that there is not is
// STATUS_RANGE. Leaves what follows the chunk in the reader.
MUST_USE Status terrain_read_chunk(Terrain *terrain, ChunkCoord at, ByteReader *reader);

// Everything this sim owns, for save and restore; the base is not included and must be the same one
// when it is read back. Reading replaces all that was owned, or on failure nothing.
void terrain_write(const Terrain *terrain, ByteWriter *writer);
MUST_USE Status terrain_read(Terrain *terrain, ByteReader *reader);
// The changed chunks, by coordinate, version and content (not by packing).
void terrain_hash(const Terrain *terrain, Hash64 *hash);

static inline ChunkCoord voxel_chunk(VoxelCoord v)
{
    return (ChunkCoord){v.x >> 5, v.y >> 5, v.z >> 5};
}
static inline VoxelCoord voxel_at(Vec3 p)
{
    return (VoxelCoord){math_floor_i32(p.x), math_floor_i32(p.y), math_floor_i32(p.z)};
}
