// Greedy rectangles: for each direction and each layer a mask of kinds whose face shows, from which
// the largest rectangles are taken row by row. See terrain_mesh.h.
#include "core/client/terrain_mesh.h"

#include "core/base/check.h"

#define EDGE CHUNK_EDGE

typedef struct Mesher {
    const Terrain *terrain;
    const VoxelKinds *kinds;
    VoxelCoord low; // of the chunk
    TerrainQuad *out;
    uint32_t max, count;
    VoxelKind mask[EDGE][EDGE]; // 0: no face
} Mesher;

// axis is the direction's, (u, v) the two others in the order x, y, z.
static VoxelCoord at_cell(const Mesher *mesher, uint32_t axis, int32_t layer, int32_t u, int32_t v)
{
    const VoxelCoord low = mesher->low;
    switch (axis) {
    case 0:
        return (VoxelCoord){low.x + layer, low.y + u, low.z + v};
    case 1:
        return (VoxelCoord){low.x + u, low.y + layer, low.z + v};
    default:
        return (VoxelCoord){low.x + u, low.y + v, low.z + layer};
    }
}

static bool shows(const Mesher *mesher, VoxelKind kind, VoxelKind front)
{
    if (kind == VOXEL_AIR || kind == front) {
        return false;
    }
    return front == VOXEL_AIR ||
           (voxel_kind_is_solid(mesher->kinds, kind) && !voxel_kind_is_solid(mesher->kinds, front));
}

static bool fill_mask(Mesher *mesher, uint32_t axis, int32_t layer, int32_t step)
{
    bool any = false;
    for (int32_t v = 0; v < EDGE; v++) {
        for (int32_t u = 0; u < EDGE; u++) {
            const VoxelKind kind =
                terrain_voxel(mesher->terrain, at_cell(mesher, axis, layer, u, v));
            const VoxelKind front =
                kind == VOXEL_AIR
                    ? VOXEL_AIR
                    : terrain_voxel(mesher->terrain, at_cell(mesher, axis, layer + step, u, v));
            mesher->mask[v][u] = shows(mesher, kind, front) ? kind : VOXEL_AIR;
            any = any || mesher->mask[v][u] != VOXEL_AIR;
        }
    }
    return any;
}

static bool row_is(const Mesher *mesher, int32_t v, int32_t u, int32_t width, VoxelKind kind)
{
    for (int32_t i = 0; i < width; i++) {
        if (mesher->mask[v][u + i] != kind) {
            return false;
        }
    }
    return true;
}

static void add_quad(Mesher *mesher, uint32_t face, int32_t layer, int32_t u, int32_t v,
                     int32_t width, int32_t height, VoxelKind kind)
{
    if (mesher->count < mesher->max) {
        const Mesher local = {.low = {0, 0, 0}};
        const VoxelCoord at = at_cell(&local, face / 2, layer, u, v);
        mesher->out[mesher->count] = (TerrainQuad){.x = (uint8_t)at.x,
                                                   .y = (uint8_t)at.y,
                                                   .z = (uint8_t)at.z,
                                                   .face = (uint8_t)face,
                                                   .width = (uint8_t)width,
                                                   .height = (uint8_t)height,
                                                   .kind = kind};
    }
    mesher->count += 1;
}

static void take_rectangles(Mesher *mesher, uint32_t face, int32_t layer)
{
    for (int32_t v = 0; v < EDGE; v++) {
        for (int32_t u = 0; u < EDGE; u++) {
            const VoxelKind kind = mesher->mask[v][u];
            if (kind == VOXEL_AIR) {
                continue;
            }
            int32_t width = 1, height = 1;
            while (u + width < EDGE && mesher->mask[v][u + width] == kind) {
                width += 1;
            }
            while (v + height < EDGE && row_is(mesher, v + height, u, width, kind)) {
                height += 1;
            }
            for (int32_t y = 0; y < height; y++) {
                for (int32_t x = 0; x < width; x++) {
                    mesher->mask[v + y][u + x] = VOXEL_AIR;
                }
            }
            add_quad(mesher, face, layer, u, v, width, height, kind);
        }
    }
}

uint32_t terrain_mesh(const Terrain *terrain, const VoxelKinds *kinds, ChunkCoord at,
                      TerrainQuad *out, uint32_t max)
{
    Mesher mesher = {.terrain = terrain,
                     .kinds = kinds,
                     .low = {at.x * EDGE, at.y * EDGE, at.z * EDGE},
                     .out = out,
                     .max = max};
    for (uint32_t face = 0; face < 6; face++) {
        for (int32_t layer = 0; layer < EDGE; layer++) {
            if (fill_mask(&mesher, face / 2, layer, face % 2 == 0 ? 1 : -1)) {
                take_rectangles(&mesher, face, layer);
            }
        }
    }
    return mesher.count;
}
