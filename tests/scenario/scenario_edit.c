// Terrain that changes under, around and inside characters.
#include "tests/scenario/scenario.h"

#include <string.h>

// --- digging ------------------------------------------------------------------------------------
static struct {
    Handle miner, in_shaft, walker, raised;
    uint32_t removed;
    float raised_top;
} dig;

static void dig_build(ScenarioWorld *world)
{
    memset(&dig, 0, sizeof dig);
    scenario_terrain(world, (VoxelCoord){-24, -20, -24}, (VoxelCoord){23, -1, 23}, 1);
    scenario_open(world);
    dig.miner = scenario_player(world, vec3(0.5f, 0, 0.5f));
    dig.in_shaft = scenario_player(world, vec3(10, 0, 10));
    dig.walker = scenario_player(world, vec3(-20.5f, 0, 0.5f));
    dig.raised = scenario_player(world, vec3(-10.5f, 0, -10.5f));
    for (int i = 0; i < 8; i++) {
        (void)scenario_player(world, vec3((float)i - 4, 0, -16));
    }
}

static void dig_drive(ScenarioWorld *world)
{
    Terrain *terrain = sim_terrain(world->sim);
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_stand(world, world->players[i]);
    }
    scenario_walk(world, dig.walker, vec3(1, 0, 0), 0);
    uint32_t changed = 0;
    if (world->tick % 30 == 20) {
        // The voxel under the miner's feet, again and again.
        const Vec3 feet = scenario_feet(world, dig.miner);
        const VoxelCoord under = voxel_at(vec3(feet.x, feet.y - 0.5f, feet.z));
        scenario_expect_ok(world, "dig", terrain_set(terrain, under, VOXEL_AIR, &changed));
        dig.removed += changed;
    }
    if (world->tick == 100) {
        scenario_expect_ok(world, "shaft",
                           terrain_fill_sphere(terrain, vec3(10, -3, 10), 4.5f, VOXEL_AIR, NULL));
    }
    if (world->tick % 15 == 7) {
        // A path appears in the air in front of the walker, and a wall of one voxel he must jump.
        const Vec3 feet = scenario_feet(world, dig.walker);
        const VoxelCoord ahead = voxel_at(vec3(feet.x + 1.2f, -1, feet.z));
        scenario_expect_ok(world, "path", terrain_set(terrain, ahead, 5, NULL));
    }
    if (world->tick % 60 == 30) {
        // Ground appears inside the feet of one who stands.
        const Vec3 feet = scenario_feet(world, dig.raised);
        scenario_expect_ok(
            world, "raise",
            terrain_set(terrain, voxel_at(vec3(feet.x, feet.y + 0.1f, feet.z)), 6, NULL));
    }
    dig.raised_top = math_max(dig.raised_top, scenario_feet(world, dig.raised).y);
    if (world->tick == 250) {
        // The whole ground goes from under eight players at once, and comes back later below.
        scenario_expect_ok(world, "trench",
                           terrain_fill_box(terrain, (VoxelCoord){-8, -6, -19},
                                            (VoxelCoord){7, -1, -13}, VOXEL_AIR, NULL));
    }
}

static void dig_finish(ScenarioWorld *world)
{
    const Vec3 miner = scenario_feet(world, dig.miner);
    scenario_expect(world, dig.removed >= 10, "dug only %u voxels", dig.removed);
    scenario_expect_near(world, "the miner's depth", miner.y, -(float)dig.removed, 1.05f);
    scenario_expect(world, scenario_feet(world, dig.in_shaft).y < -5,
                    "did not fall into the shaft");
    scenario_expect(world, dig.raised_top > 3, "was raised only to %.3f", (double)dig.raised_top);
    for (uint32_t i = 4; i < world->player_count; i++) {
        scenario_expect_near(world, "the height in the trench",
                             scenario_feet(world, world->players[i]).y, -6, 0.05f);
    }
}

// --- walled in ----------------------------------------------------------------------------------
static struct {
    Handle buried, caged, late, runners[6];
} wall;

static void wall_build(ScenarioWorld *world)
{
    memset(&wall, 0, sizeof wall);
    scenario_ground(world, 24);
    scenario_open(world);
    wall.buried = scenario_player(world, vec3(0.4f, 0, 0.6f));
    wall.caged = scenario_player(world, vec3(10.5f, 0, 0.5f));
    wall.late = scenario_player(world, vec3(-15.5f, 0, 15.5f));
    for (int i = 0; i < 6; i++) {
        wall.runners[i] = scenario_player(world, vec3((float)i * 2 - 6, 0, -12));
    }
}

static void wall_drive(ScenarioWorld *world)
{
    Terrain *terrain = sim_terrain(world->sim);
    scenario_stand(world, wall.buried);
    scenario_walk(world, wall.caged, world->tick < 60 ? VEC3_ZERO : vec3(1, 0, 0.3f),
                  world->tick > 60 && world->tick % 40 < 2 ? INPUT_JUMP : 0u);
    for (int i = 0; i < 6; i++) {
        scenario_wander(world, wall.runners[i], 20);
    }
    if (world->tick == 60) {
        // A block of 5 x 6 x 5 all around one, with no air left where he was.
        scenario_expect_ok(
            world, "bury",
            terrain_fill_box(terrain, (VoxelCoord){-2, 0, -2}, (VoxelCoord){2, 5, 2}, 7, NULL));
        // A cage of one free voxel column, closed above.
        scenario_expect_ok(
            world, "cage",
            terrain_fill_box(terrain, (VoxelCoord){9, 0, -1}, (VoxelCoord){11, 3, 1}, 8, NULL));
        scenario_expect_ok(world, "hollow",
                           terrain_fill_box(terrain, (VoxelCoord){10, 0, 0}, (VoxelCoord){10, 2, 0},
                                            VOXEL_AIR, NULL));
    }
    scenario_stand(world, wall.late);
    if (world->tick == world->scenario->ticks / 2) {
        // Just when the sim is saved and restored: what it was about to notice is not lost.
        scenario_expect_ok(world, "late", terrain_set(terrain, (VoxelCoord){-16, 0, 15}, 3, NULL));
    }
    if (world->tick > 60 && world->tick % 5 == 0) {
        // Voxels flicker where the runners are.
        const Vec3 feet = scenario_feet(world, wall.runners[world->tick / 5 % 6]);
        const float reach = rng_range(&world->rng, -1.5f, 1.5f);
        const VoxelCoord at = voxel_at(vec3(feet.x + reach, feet.y + 0.5f, feet.z - reach));
        const VoxelKind kind = rng_below(&world->rng, 3) == 0 ? VOXEL_AIR : 9;
        scenario_expect_ok(world, "flicker", terrain_set(terrain, at, kind, NULL));
    }
}

static void wall_finish(ScenarioWorld *world)
{
    const Vec3 buried = scenario_feet(world, wall.buried);
    scenario_expect(world, buried.y > 5.9f, "the buried one is at %.3f", (double)buried.y);
    const Vec3 caged = scenario_feet(world, wall.caged);
    scenario_expect(world, caged.x > 10 && caged.x < 11 && caged.z > 0 && caged.z < 1,
                    "got out of the cage to %.3f %.3f", (double)caged.x, (double)caged.z);
    scenario_expect_near(world, "the height of the late one", scenario_feet(world, wall.late).y, 1,
                         0.01f);
    scenario_expect(world, world->counters.unstuck > 0, "nobody was ever lifted out");
}

const Scenario scenarios_edit[] = {
    {"digging", "voxels vanish under feet and appear before and inside them", 480, dig_build,
     dig_drive, dig_finish},
    {"walled", "one is buried and comes out on top, one is caged, six run among flicker", 480,
     wall_build, wall_drive, wall_finish},
    {0},
};
