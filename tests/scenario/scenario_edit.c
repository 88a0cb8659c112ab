// Terrain that changes under, around and inside characters.
#include "tests/scenario/scenario.h"

#include <string.h>

// --- digging ------------------------------------------------------------------------------------
static struct {
    Handle miner, in_shaft, walker, raised;
    uint32_t removed;
    float raised_top;
} dig;

static void dig_build(Stage *stage)
{
    memset(&dig, 0, sizeof dig);
    stage_terrain(stage, (VoxelCoord){-24, -20, -24}, (VoxelCoord){23, -1, 23}, 1);
    stage_open(stage);
    dig.miner = stage_player(stage, vec3(0.5f, 0, 0.5f));
    dig.in_shaft = stage_player(stage, vec3(10, 0, 10));
    dig.walker = stage_player(stage, vec3(-20.5f, 0, 0.5f));
    dig.raised = stage_player(stage, vec3(-10.5f, 0, -10.5f));
    for (int i = 0; i < 8; i++) {
        (void)stage_player(stage, vec3((float)i - 4, 0, -16));
    }
}

static void dig_drive(Stage *stage)
{
    Terrain *terrain = sim_terrain(stage->sim);
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_stand(stage, stage->players[i]);
    }
    stage_walk(stage, dig.walker, vec3(1, 0, 0), 0);
    uint32_t changed = 0;
    if (stage->tick % 30 == 20) {
        // The voxel under the miner's feet, again and again.
        const Vec3 feet = stage_feet(stage, dig.miner);
        const VoxelCoord under = voxel_at(vec3(feet.x, feet.y - 0.5f, feet.z));
        stage_expect_ok(stage, "dig", terrain_set(terrain, under, VOXEL_AIR, &changed));
        dig.removed += changed;
    }
    if (stage->tick == 100) {
        stage_expect_ok(stage, "shaft",
                        terrain_fill_sphere(terrain, vec3(10, -3, 10), 4.5f, VOXEL_AIR, NULL));
    }
    if (stage->tick % 15 == 7) {
        // A path appears in the air in front of the walker, and a wall of one voxel he must jump.
        const Vec3 feet = stage_feet(stage, dig.walker);
        const VoxelCoord ahead = voxel_at(vec3(feet.x + 1.2f, -1, feet.z));
        stage_expect_ok(stage, "path", terrain_set(terrain, ahead, 5, NULL));
    }
    if (stage->tick % 60 == 30) {
        // Ground appears inside the feet of one who stands.
        const Vec3 feet = stage_feet(stage, dig.raised);
        stage_expect_ok(
            stage, "raise",
            terrain_set(terrain, voxel_at(vec3(feet.x, feet.y + 0.1f, feet.z)), 6, NULL));
    }
    dig.raised_top = math_max(dig.raised_top, stage_feet(stage, dig.raised).y);
    if (stage->tick == 250) {
        // The whole ground goes from under eight players at once, and comes back later below.
        stage_expect_ok(stage, "trench",
                        terrain_fill_box(terrain, (VoxelCoord){-8, -6, -19},
                                         (VoxelCoord){7, -1, -13}, VOXEL_AIR, NULL));
    }
}

static void dig_finish(Stage *stage)
{
    const Vec3 miner = stage_feet(stage, dig.miner);
    stage_expect(stage, dig.removed >= 10, "dug only %u voxels", dig.removed);
    stage_expect_near(stage, "the miner's depth", miner.y, -(float)dig.removed, 1.05f);
    stage_expect(stage, stage_feet(stage, dig.in_shaft).y < -5, "did not fall into the shaft");
    stage_expect(stage, dig.raised_top > 3, "was raised only to %.3f", (double)dig.raised_top);
    for (uint32_t i = 4; i < stage->player_count; i++) {
        stage_expect_near(stage, "the height in the trench", stage_feet(stage, stage->players[i]).y,
                          -6, 0.05f);
    }
}

// --- walled in ----------------------------------------------------------------------------------
static struct {
    Handle buried, caged, late, runners[6];
} wall;

static void wall_build(Stage *stage)
{
    memset(&wall, 0, sizeof wall);
    stage_ground(stage, 24);
    stage_open(stage);
    wall.buried = stage_player(stage, vec3(0.4f, 0, 0.6f));
    wall.caged = stage_player(stage, vec3(10.5f, 0, 0.5f));
    wall.late = stage_player(stage, vec3(-15.5f, 0, 15.5f));
    for (int i = 0; i < 6; i++) {
        wall.runners[i] = stage_player(stage, vec3((float)i * 2 - 6, 0, -12));
    }
}

static void wall_drive(Stage *stage)
{
    Terrain *terrain = sim_terrain(stage->sim);
    stage_stand(stage, wall.buried);
    stage_walk(stage, wall.caged, stage->tick < 60 ? VEC3_ZERO : vec3(1, 0, 0.3f),
               stage->tick > 60 && stage->tick % 40 < 2 ? INPUT_JUMP : 0u);
    for (int i = 0; i < 6; i++) {
        stage_wander(stage, wall.runners[i], 20);
    }
    if (stage->tick == 60) {
        // A block of 5 x 6 x 5 all around one, with no air left where he was.
        stage_expect_ok(
            stage, "bury",
            terrain_fill_box(terrain, (VoxelCoord){-2, 0, -2}, (VoxelCoord){2, 5, 2}, 7, NULL));
        // A cage of one free voxel column, closed above.
        stage_expect_ok(
            stage, "cage",
            terrain_fill_box(terrain, (VoxelCoord){9, 0, -1}, (VoxelCoord){11, 3, 1}, 8, NULL));
        stage_expect_ok(stage, "hollow",
                        terrain_fill_box(terrain, (VoxelCoord){10, 0, 0}, (VoxelCoord){10, 2, 0},
                                         VOXEL_AIR, NULL));
    }
    stage_stand(stage, wall.late);
    if (stage->tick == stage->scenario->ticks / 2) {
        // Just when the sim is saved and restored: what it was about to notice is not lost.
        stage_expect_ok(stage, "late", terrain_set(terrain, (VoxelCoord){-16, 0, 15}, 3, NULL));
    }
    if (stage->tick > 60 && stage->tick % 5 == 0) {
        // Voxels flicker where the runners are.
        const Vec3 feet = stage_feet(stage, wall.runners[stage->tick / 5 % 6]);
        const float reach = rng_range(&stage->rng, -1.5f, 1.5f);
        const VoxelCoord at = voxel_at(vec3(feet.x + reach, feet.y + 0.5f, feet.z - reach));
        const VoxelKind kind = rng_below(&stage->rng, 3) == 0 ? VOXEL_AIR : 9;
        stage_expect_ok(stage, "flicker", terrain_set(terrain, at, kind, NULL));
    }
}

static void wall_finish(Stage *stage)
{
    const Vec3 buried = stage_feet(stage, wall.buried);
    stage_expect(stage, buried.y > 5.9f, "the buried one is at %.3f", (double)buried.y);
    const Vec3 caged = stage_feet(stage, wall.caged);
    stage_expect(stage, caged.x > 10 && caged.x < 11 && caged.z > 0 && caged.z < 1,
                 "got out of the cage to %.3f %.3f", (double)caged.x, (double)caged.z);
    stage_expect_near(stage, "the height of the late one", stage_feet(stage, wall.late).y, 1,
                      0.01f);
    stage_expect(stage, stage->counters.unstuck > 0, "nobody was ever lifted out");
}

const Scenario scenarios_edit[] = {
    {"digging", "voxels vanish under feet and appear before and inside them", 480, dig_build,
     dig_drive, dig_finish},
    {"walled", "one is buried and comes out on top, one is caged, six run among flicker", 480,
     wall_build, wall_drive, wall_finish},
    {0},
};
