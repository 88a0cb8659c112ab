// A terrain as one dense array, written for being obviously right and not for speed: what the
// voxel tests compare with. It covers chunks (-2, -1, -2) to (1, 1, 1) and knows nothing of the
// world's extent, which other tests look at.
#pragma once

#include "core/base/rng.h"
#include "core/sim/voxel.h"

#define REFERENCE_CHUNKS_X 4
#define REFERENCE_CHUNKS_Y 3
#define REFERENCE_CHUNKS_Z 4
#define REFERENCE_CHUNKS   (REFERENCE_CHUNKS_X * REFERENCE_CHUNKS_Y * REFERENCE_CHUNKS_Z)
#define REFERENCE_X        (REFERENCE_CHUNKS_X * CHUNK_EDGE)
#define REFERENCE_Y        (REFERENCE_CHUNKS_Y * CHUNK_EDGE)
#define REFERENCE_Z        (REFERENCE_CHUNKS_Z * CHUNK_EDGE)
#define REFERENCE_MIN      ((VoxelCoord){-2 * CHUNK_EDGE, -CHUNK_EDGE, -2 * CHUNK_EDGE})

typedef struct Reference {
    VoxelKind voxels[REFERENCE_Z][REFERENCE_Y][REFERENCE_X];
    VoxelKinds kinds;
    uint32_t versions[REFERENCE_CHUNKS]; // by reference_chunk
    uint32_t edit_count;
} Reference;

typedef enum EditKind { EDIT_SET, EDIT_BOX, EDIT_SPHERE, EDIT_KIND_COUNT } EditKind;

// An edit as a value, so that it can be given to the terrain and to the reference.
typedef struct Edit {
    EditKind edit;
    VoxelCoord min, max;
    Vec3 centre;
    float radius;
    VoxelKind kind;
} Edit;

void reference_clear(Reference *reference);
bool reference_contains(VoxelCoord at);
VoxelKind reference_voxel(const Reference *reference, VoxelCoord at); // air outside
bool reference_is_solid(const Reference *reference, VoxelCoord at);
uint32_t reference_chunk(ChunkCoord at);
ChunkCoord reference_chunk_coord(uint32_t index);
// The number of voxels that differ; versions and edit_count are raised as a terrain's.
uint32_t reference_edit(Reference *reference, const Edit *edit);
// Pages that the chunk's content takes: the arithmetic of voxel.h, counted out.
uint32_t reference_pages(const Reference *reference, uint32_t chunk);

// A random edit that lies wholly within the reference. Centres and radii are eighths, so that
// sums of squares are exact in float32 and the sphere's edge is not a matter of rounding.
Edit edit_random(Rng *rng, uint32_t kind_count);
Status edit_terrain(Terrain *terrain, const Edit *edit, uint32_t *changed);

// Checks every voxel, every column and every counter.
void reference_check(const Reference *reference, const Terrain *terrain);
// A store with the same content; dies if that fails.
ChunkStore *reference_store(const Reference *reference, Heap *heap);
// Some hills with a few kinds in them, the upper chunks left out.
void reference_hills(Reference *reference, uint32_t kind_count);

VoxelCoord voxel_random(Rng *rng, VoxelCoord low, VoxelCoord high); // both inclusive
// Both die instead of failing.
Terrain *terrain_make(Heap *heap, const ChunkStore *base, uint32_t chunk_max, uint32_t page_max);
ChunkStore *store_make(Heap *heap, uint32_t chunk_max, uint32_t page_max);
uint64_t terrain_hash_of(const Terrain *terrain);
