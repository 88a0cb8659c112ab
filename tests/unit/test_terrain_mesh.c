// Rectangles of terrain: every visible face is covered exactly once, and nothing else is.
#include "core/client/terrain_mesh.h"

#include "core/base/rng.h"
#include "tests/support/test.h"

#include <string.h>

static TerrainQuad quads[TERRAIN_QUADS_MAX];
static uint8_t covered[6][CHUNK_EDGE][CHUNK_EDGE][CHUNK_EDGE];

static Terrain *make(Heap *heap)
{
    const TerrainConfig config = {.chunk_max = 16, .page_max = 256};
    Terrain *terrain = NULL;
    CHECK_INT(terrain_create(heap, &config, NULL, &terrain), STATUS_OK);
    return terrain;
}

static void cover(const TerrainQuad *quad, const Terrain *terrain, ChunkCoord at)
{
    for (uint32_t v = 0; v < quad->height; v++) {
        for (uint32_t u = 0; u < quad->width; u++) {
            uint32_t p[3] = {quad->x, quad->y, quad->z};
            const uint32_t axis = quad->face / 2;
            p[axis == 0 ? 1 : 0] += u;
            p[axis == 2 ? 1 : 2] += v;
            REQUIRE(p[0] < 32 && p[1] < 32 && p[2] < 32);
            covered[quad->face][p[0]][p[1]][p[2]] += 1;
            const VoxelCoord voxel = {at.x * 32 + (int32_t)p[0], at.y * 32 + (int32_t)p[1],
                                      at.z * 32 + (int32_t)p[2]};
            REQUIRE(terrain_voxel(terrain, voxel) == quad->kind);
        }
    }
}

TEST(a_cube_has_six_faces)
{
    Heap heap = heap_make(1 << 24);
    Terrain *terrain = make(&heap);
    const VoxelKinds kinds = voxel_kinds_default();
    CHECK_INT(terrain_fill_box(terrain, (VoxelCoord){2, 3, 4}, (VoxelCoord){5, 7, 9}, 3, NULL),
              STATUS_OK);
    const ChunkCoord at = {0, 0, 0};
    CHECK_INT(terrain_mesh(terrain, &kinds, at, quads, TERRAIN_QUADS_MAX), 6);
    CHECK(quads[0].face == 0 && quads[0].x == 5 && quads[0].width == 5 && quads[0].height == 6);
    CHECK(quads[2].face == 2 && quads[2].y == 7 && quads[2].width == 4 && quads[2].height == 6);
    CHECK_INT(terrain_mesh(terrain, &kinds, at, quads, 2), 6); // says how many there would be
    terrain_destroy(&heap, terrain);
}

TEST(water_shows_towards_air_and_ground_through_water)
{
    Heap heap = heap_make(1 << 24);
    Terrain *terrain = make(&heap);
    VoxelKinds kinds = voxel_kinds_default();
    kinds.solid[0] &= ~(1ull << 5); // kind 5 does not block
    CHECK_INT(terrain_set(terrain, (VoxelCoord){1, 1, 1}, 1, NULL), STATUS_OK);
    CHECK_INT(terrain_set(terrain, (VoxelCoord){2, 1, 1}, 5, NULL), STATUS_OK);
    const uint32_t count =
        terrain_mesh(terrain, &kinds, (ChunkCoord){0, 0, 0}, quads, TERRAIN_QUADS_MAX);
    CHECK_INT(count, 11); // all of the ground, and of the water all but where the ground is
    terrain_destroy(&heap, terrain);
}

TEST(every_face_once)
{
    Rng rng = rng_make(test_seed(), 3);
    Heap heap = heap_make(1 << 26);
    const VoxelKinds kinds = voxel_kinds_default();
    for (uint32_t round = 0; round < 4; round++) {
        Terrain *terrain = make(&heap);
        for (uint32_t i = 0; i < 60; i++) {
            const int32_t x = (int32_t)rng_below(&rng, 40) - 4;
            const int32_t y = (int32_t)rng_below(&rng, 40) - 4;
            const int32_t z = (int32_t)rng_below(&rng, 40) - 4;
            const int32_t size = (int32_t)rng_below(&rng, 9);
            const VoxelKind kind = (VoxelKind)rng_below(&rng, 4);
            CHECK_INT(terrain_fill_box(terrain, (VoxelCoord){x, y, z},
                                       (VoxelCoord){x + size, y + size / 2, z + size}, kind, NULL),
                      STATUS_OK);
        }
        const ChunkCoord at = {0, 0, 0};
        memset(covered, 0, sizeof covered);
        const uint32_t count = terrain_mesh(terrain, &kinds, at, quads, TERRAIN_QUADS_MAX);
        for (uint32_t i = 0; i < count; i++) {
            cover(&quads[i], terrain, at);
        }
        static const int32_t steps[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                            {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
        for (int32_t x = 0; x < 32; x++) {
            for (int32_t y = 0; y < 32; y++) {
                for (int32_t z = 0; z < 32; z++) {
                    for (uint32_t face = 0; face < 6; face++) {
                        const VoxelCoord front = {x + steps[face][0], y + steps[face][1],
                                                  z + steps[face][2]};
                        const bool want =
                            terrain_voxel(terrain, (VoxelCoord){x, y, z}) != VOXEL_AIR &&
                            terrain_voxel(terrain, front) == VOXEL_AIR;
                        REQUIRE(covered[face][x][y][z] == (want ? 1 : 0));
                    }
                }
            }
        }
        terrain_destroy(&heap, terrain);
    }
}
