// The terrain of a document, to draw and to aim at: its boxes and chunks painted in their order, as
// a world would have them. What a world would refuse (a kind that there is not, too much of it) is
// left out; problem.h says so. Made anew whenever terrain or the kinds of voxels change.
#pragma once

#include "core/edit/doc.h"
#include "core/sim/voxel.h"

typedef struct EditGround {
    ChunkStore *store;
    Terrain *terrain;
} EditGround;

// Contents of chunk files; NULL: not here.
typedef struct EditChunkFiles {
    void *user;
    const uint8_t *(*find)(void *user, Text path, size_t *bytes);
} EditChunkFiles;

MUST_USE Status edit_ground_make(Heap *heap, const EditDoc *doc, EditChunkFiles files,
                                 EditGround *out);
void edit_ground_free(Heap *heap, EditGround *ground);
