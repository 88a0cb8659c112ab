// How one chunk is packed; inside of the voxel code, nobody else includes this.
//
// A chunk is a palette of the kinds in it and, per voxel, an index into the palette. The index is
// stored in bit planes: plane p holds bit p of every index, one 32-bit word per column, 1,024
// columns, which is exactly one page of 4 KiB. The solid mask has the same shape. So everything a
// chunk owns is whole pages, pages come from one fixed pool and nothing fragments; a column of 32
// voxels is painted with one masked write per plane; a wider index is one more page and moves
// nothing.
//
//   kinds in the chunk    1   2   3-4   5-8   9-16   17-32   ...   513-1,024
//   planes                0   1    2     3      4      5                 10
//   palette page          -   -    -     -      -      1                  1     (else in the
//   record) mask page             1 if some of its voxels are solid and some are not, else 0
//
// What always holds (chunk_is_sound walks it): plane_count is the least that the number of kinds
// needs, so the pages a chunk uses depend on its content alone, never on its past; a sim restored
// from bytes reaches a page limit in the same edit as the original. Which kind has which palette
// index does depend on the past, and must not reach bytes or hashes.
#pragma once

#include "core/base/check.h"
#include "core/sim/voxel.h"

#define CHUNK_COLUMNS      (CHUNK_EDGE * CHUNK_EDGE)
#define CHUNK_PLANES_MAX   10
#define CHUNK_KINDS_INLINE 16
#define CHUNK_PAGE_NONE    UINT32_MAX

_Static_assert(CHUNK_EDGE == 32, "a column is one 32-bit word");
_Static_assert(VOXEL_KINDS_MAX == 1 << CHUNK_PLANES_MAX, "the widest index names every kind");
_Static_assert(CHUNK_COORD_MAX == 512, "a chunk key has ten bits per axis");

typedef union ChunkPage {
    uint32_t words[CHUNK_COLUMNS]; // a plane or a mask; word (z * 32 + x), bit y
    struct {
        VoxelKind kinds[VOXEL_KINDS_MAX];
        uint16_t counts[VOXEL_KINDS_MAX];
    } palette;
    uint32_t next_free; // while in the pool
} ChunkPage;
_Static_assert(sizeof(ChunkPage) == 4096, "pages are 4 KiB");

// Pages that were never used are not touched: an idle pool costs address space only.
typedef struct ChunkPool {
    ChunkPage *pages;
    uint32_t page_max;
    uint32_t page_count;   // in use
    uint32_t page_touched; // pages below were used at least once
    uint32_t free_first;   // list of those given back; CHUNK_PAGE_NONE ends it
} ChunkPool;

typedef struct Chunk {
    const uint32_t *solid; // 1,024 words: the mask page, or one of the two below
    ChunkPage *mask;       // NULL when all voxels are alike to movement
    ChunkPage *palette;    // NULL when the kinds are in the record
    ChunkPage *planes[CHUNK_PLANES_MAX];
    VoxelKind kinds[CHUNK_KINDS_INLINE]; // by palette index
    uint16_t counts[CHUNK_KINDS_INLINE]; // voxels of each; 0 is a free index
    uint32_t key;
    uint32_t version;
    uint32_t next_free; // while the record is not in use
    uint16_t kind_count;
    uint16_t solid_count;
    uint8_t plane_count;
} Chunk;

// The masks of chunks that are all open or all solid, and a chunk of nothing but air.
extern const uint32_t chunk_solid_none[CHUNK_COLUMNS];
extern const uint32_t chunk_solid_all[CHUNK_COLUMNS];
extern const Chunk chunk_air;

// The part of a chunk that an edit covers: a rectangle of columns and a mask for each of them.
// Masks outside the rectangle are not set.
typedef struct ChunkRegion {
    uint32_t x_min, x_max, z_min, z_max; // inclusive, 0..31
    uint32_t masks[CHUNK_COLUMNS];
} ChunkRegion;

// What painting a region would do, computed without doing it.
typedef struct ChunkPlan {
    uint32_t changed;                  // voxels that differ afterwards
    uint32_t kind_count;               // kinds afterwards
    uint32_t solid_count;              // solid voxels afterwards
    uint16_t removed[VOXEL_KINDS_MAX]; // by palette index: voxels that lose that kind
} ChunkPlan;

// Voxels of one column that share a palette index.
typedef struct ChunkPart {
    uint32_t mask;
    uint32_t index;
} ChunkPart;

void chunk_pool_init(ChunkPool *pool, ChunkPage *pages, uint32_t page_max);
static inline uint32_t chunk_pool_left(const ChunkPool *pool)
{
    return pool->page_max - pool->page_count;
}

// Pages a chunk with that content takes.
uint32_t chunk_pages_for(uint32_t kind_count, uint32_t solid_count);
uint32_t chunk_page_count(const Chunk *chunk);
uint32_t chunk_planes_for(uint32_t kind_count);

void chunk_init(Chunk *chunk); // all air, no page
// Frees its pages and makes it all air; key and version stay.
void chunk_clear(Chunk *chunk, ChunkPool *pool);

VoxelKind chunk_voxel(const Chunk *chunk, uint32_t column, uint32_t y);
// The palette index of a kind, or VOXEL_KINDS_MAX when the chunk has none of it.
uint32_t chunk_index_of(const Chunk *chunk, VoxelKind kind);

void chunk_plan(const Chunk *chunk, const VoxelKinds *kinds, const ChunkRegion *region,
                VoxelKind kind, ChunkPlan *plan);
// Makes `chunk` equal to `source` with the region painted. Either source == chunk, which then grows
// or shrinks in place, or chunk is fresh from chunk_init and source is not changed. The plan is
// that of the source. The pool must have enough pages: at no time are more in use than before or
// after.
void chunk_paint(Chunk *chunk, const Chunk *source, ChunkPool *pool, const VoxelKinds *kinds,
                 const ChunkRegion *region, VoxelKind kind, const ChunkPlan *plan);

// Building a chunk column by column, for readers of bytes. counts[kind] is the number of voxels of
// that kind and must come true; indices are given in ascending order of kind.
void chunk_build_begin(Chunk *chunk, ChunkPool *pool, const VoxelKinds *kinds,
                       const uint16_t counts[VOXEL_KINDS_MAX]);
static inline void chunk_build_part(Chunk *chunk, uint32_t column, uint32_t index, uint32_t mask)
{
    for (uint32_t plane = 0; plane < chunk->plane_count; plane++) {
        chunk->planes[plane]->words[column] |= (index >> plane & 1) != 0 ? mask : 0;
    }
}
static inline void chunk_build_solid(Chunk *chunk, uint32_t column, uint32_t mask)
{
    if (chunk->mask != NULL) {
        chunk->mask->words[column] |= mask;
    }
}

// For each palette index its place among the chunk's kinds in ascending order; sorted gets the
// kinds in that order. Free indices get 0. This is what makes bytes and hashes independent of the
// palette's past.
void chunk_rank(const Chunk *chunk, uint16_t rank[VOXEL_KINDS_MAX],
                VoxelKind sorted[VOXEL_KINDS_MAX]);

// Checks everything: counts, widths and masks match the planes. For CHECK_SLOW.
bool chunk_is_sound(const Chunk *chunk, const VoxelKinds *kinds);

static inline const VoxelKind *chunk_kinds(const Chunk *chunk)
{
    return chunk->palette != NULL ? chunk->palette->palette.kinds : chunk->kinds;
}
static inline const uint16_t *chunk_counts(const Chunk *chunk)
{
    return chunk->palette != NULL ? chunk->palette->palette.counts : chunk->counts;
}

// Which voxels under the mask have that palette index.
static inline uint32_t chunk_match(const Chunk *chunk, uint32_t column, uint32_t index,
                                   uint32_t mask)
{
    for (uint32_t plane = 0; plane < chunk->plane_count; plane++) {
        // The word itself where the index has this bit, its complement where it has not.
        mask &= chunk->planes[plane]->words[column] ^ ((index >> plane & 1) - 1);
    }
    return mask;
}

static inline uint32_t chunk_index(const Chunk *chunk, uint32_t column, uint32_t y)
{
    uint32_t index = 0;
    for (uint32_t plane = 0; plane < chunk->plane_count; plane++) {
        index |= (chunk->planes[plane]->words[column] >> y & 1) << plane;
    }
    return index;
}

// The lowest voxel under the mask, which must not be empty, with all others of its index. A column
// is walked part by part:
//   for (uint32_t left = mask; left != 0; left &= ~part.mask) { part = chunk_part(…, left); … }
static inline ChunkPart chunk_part(const Chunk *chunk, uint32_t column, uint32_t mask)
{
    const uint32_t index = chunk_index(chunk, column, (uint32_t)__builtin_ctz(mask));
    return (ChunkPart){chunk_match(chunk, column, index, mask), index};
}

// Ten bits per axis; ascending keys are ascending (z, y, x).
static inline uint32_t chunk_key(ChunkCoord at)
{
    return (uint32_t)(at.z + CHUNK_COORD_MAX) << 20 | (uint32_t)(at.y + CHUNK_COORD_MAX) << 10 |
           (uint32_t)(at.x + CHUNK_COORD_MAX);
}
static inline ChunkCoord chunk_coord(uint32_t key)
{
    return (ChunkCoord){(int32_t)(key & 1023) - CHUNK_COORD_MAX,
                        (int32_t)(key >> 10 & 1023) - CHUNK_COORD_MAX,
                        (int32_t)(key >> 20 & 1023) - CHUNK_COORD_MAX};
}
static inline bool chunk_coord_is_inside(ChunkCoord at)
{
    return (uint32_t)at.x + CHUNK_COORD_MAX < 2 * CHUNK_COORD_MAX &&
           (uint32_t)at.y + CHUNK_COORD_MAX < 2 * CHUNK_COORD_MAX &&
           (uint32_t)at.z + CHUNK_COORD_MAX < 2 * CHUNK_COORD_MAX;
}
// The word of a plane or mask in which voxel (x, ·, z) is.
static inline uint32_t chunk_column(int32_t x, int32_t z)
{
    return ((uint32_t)z & 31) << 5 | ((uint32_t)x & 31);
}
