// Decisions of NPCs: patrols around walls, noticing, chasing, searching, and giving up.
#include "tests/scenario/scenario.h"

#include <string.h>

static Handle npc(Stage *stage, NpcDesc desc)
{
    Handle made = HANDLE_NONE;
    stage_expect_ok(stage, "npc", npc_spawn(stage->sim, &desc, &made));
    return made;
}

// How often an NPC changed into a state in the last step.
static uint32_t changes_to(const Stage *stage, Handle who, NpcState state)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(stage->sim, &count);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        seen += events[i].type == SIM_EVENT_NPC_STATE &&
                events[i].subject == stage_net_id(stage, who) &&
                (events[i].detail & 0xff) == (uint32_t)state;
    }
    return seen;
}

// --- patrol -------------------------------------------------------------------------------------
#define PATROL_GUARDS 6

static struct {
    Handle guards[PATROL_GUARDS];
    uint32_t visited[PATROL_GUARDS]; // bits of the points it came to
    float travelled[PATROL_GUARDS];
    Vec3 before[PATROL_GUARDS];
} patrol;

static const Vec3 PATROL_POINTS[4] = {
    {-10.5f, 0, -10.5f}, {10.5f, 0, -10.5f}, {10.5f, 0, 10.5f}, {-10.5f, 0, 10.5f}};

static void patrol_build(Stage *stage)
{
    memset(&patrol, 0, sizeof patrol);
    stage_ground(stage, 24);
    // Walls across each side of the square with one gap each, of voxels and of parts.
    stage_terrain(stage, (VoxelCoord){0, 0, -20}, (VoxelCoord){0, 2, -7}, 2);
    stage_terrain(stage, (VoxelCoord){0, 0, 7}, (VoxelCoord){0, 2, 20}, 2);
    stage_terrain(stage, (VoxelCoord){0, 0, -14}, (VoxelCoord){0, 2, -13}, VOXEL_AIR);
    stage_terrain(stage, (VoxelCoord){0, 0, 15}, (VoxelCoord){0, 2, 16}, VOXEL_AIR);
    (void)stage_part(stage, part_box(vec3(13, 1.5f, 0.5f), vec3(6, 1.5f, 0.5f)));
    (void)stage_part(stage, part_box(vec3(-10, 1.5f, 0.5f), vec3(6, 1.5f, 0.5f)));
    stage_open(stage);
    for (int i = 0; i < PATROL_GUARDS; i++) {
        NpcDesc desc = npc_desc_default();
        desc.position = PATROL_POINTS[i % 4];
        desc.position.x += i >= 4 ? 1.0f : 0.0f;
        desc.tuning.pause_ms = 200;
        desc.patrol_count = 4;
        for (int k = 0; k < 4; k++) {
            desc.patrol[k] = PATROL_POINTS[(i % 2 == 0 ? i + 1 + k : i + 7 - k) % 4];
        }
        patrol.guards[i] = npc(stage, desc);
        patrol.before[i] = stage_feet(stage, patrol.guards[i]);
    }
}

static void patrol_drive(Stage *stage)
{
    for (int i = 0; i < PATROL_GUARDS; i++) {
        const Vec3 feet = stage_feet(stage, patrol.guards[i]);
        patrol.travelled[i] += stage_distance_flat(feet, patrol.before[i]);
        patrol.before[i] = feet;
        for (int k = 0; k < 4; k++) {
            if (stage_distance_flat(feet, PATROL_POINTS[k]) < 1.5f) {
                patrol.visited[i] |= 1u << k;
            }
        }
    }
}

static void patrol_finish(Stage *stage)
{
    for (int i = 0; i < PATROL_GUARDS; i++) {
        stage_expect(stage, patrol.visited[i] == 0xf, "guard %d saw only the points %x", i,
                     patrol.visited[i]);
        stage_expect(stage, patrol.travelled[i] > 60, "guard %d walked only %.1f m", i,
                     (double)patrol.travelled[i]);
    }
    stage_expect(stage, stage_total(stage, SIM_EVENT_NPC_STATE) == 0, "a guard saw something");
}

// --- chase --------------------------------------------------------------------------------------
static struct {
    Handle guard, blind, behind_wall, thief, ordered, bait;
    uint32_t suspicious, alert, searching, idle;
    uint32_t blind_changes, wall_changes;
    float nearest;
    float ordered_nearest;
} chase;

static void chase_build(Stage *stage)
{
    memset(&chase, 0, sizeof chase);
    chase.nearest = chase.ordered_nearest = 1000;
    stage_ground(stage, 40);
    (void)stage_part(stage, part_box(vec3(0, 2, 8), vec3(8, 2, 0.5f)));
    // A closed room for the one who must not be seen through walls.
    stage_terrain(stage, (VoxelCoord){20, 0, -6}, (VoxelCoord){26, 3, 0}, 3);
    stage_terrain(stage, (VoxelCoord){21, 0, -5}, (VoxelCoord){25, 3, -1}, VOXEL_AIR);
    stage_open(stage);
    NpcDesc desc = npc_desc_default();
    desc.tuning.sight_m = 25;
    desc.tuning.lose_ms = 1000;
    desc.tuning.search_ms = 2000;
    desc.position = vec3(0, 0, -10);
    chase.guard = npc(stage, desc);
    desc.position = vec3(23, 0, -3);
    desc.tuning.sight_cos = -1;
    chase.behind_wall = npc(stage, desc);
    // Looks the other way, and feels nothing.
    desc.position = vec3(-20, 0, -10);
    desc.yaw = MATH_PI;
    desc.tuning.sight_cos = 0.5f;
    desc.tuning.feel_m = 0;
    chase.blind = npc(stage, desc);
    // A script sets its target.
    desc.position = vec3(-35, 0, 30);
    desc.tuning.sight_m = 1;
    chase.ordered = npc(stage, desc);
    chase.thief = stage_player(stage, vec3(0, 0, 0));
    chase.bait = stage_player(stage, vec3(-20, 0, 30));
    stage_expect_ok(stage, "order", npc_set_target(stage->sim, chase.ordered, chase.bait));
}

static void chase_drive(Stage *stage)
{
    // Stands in sight, runs behind the wall once seen, and far away behind it.
    if (stage->tick < 150) {
        stage_stand(stage, chase.thief);
    } else if (stage->tick < 240) {
        stage_walk(stage, chase.thief, vec3(1, 0, 0.2f), INPUT_RUN);
    } else if (stage->tick == 240) {
        stage_expect_ok(stage, "hide", sim_set_position(stage->sim, chase.thief, vec3(0, 0, 38)));
        stage_stand(stage, chase.thief);
    }
    stage_stand(stage, chase.bait);
    chase.suspicious += changes_to(stage, chase.guard, NPC_SUSPICIOUS);
    chase.alert += changes_to(stage, chase.guard, NPC_ALERT);
    chase.searching += changes_to(stage, chase.guard, NPC_SEARCHING);
    chase.idle += changes_to(stage, chase.guard, NPC_IDLE);
    chase.blind_changes +=
        stage_seen(stage, SIM_EVENT_NPC_STATE, stage_net_id(stage, chase.blind), 0);
    chase.wall_changes +=
        stage_seen(stage, SIM_EVENT_NPC_STATE, stage_net_id(stage, chase.behind_wall), 0);
    const float near =
        stage_distance_flat(stage_feet(stage, chase.guard), stage_feet(stage, chase.thief));
    chase.nearest = math_min(chase.nearest, near);
    const float ordered =
        stage_distance_flat(stage_feet(stage, chase.ordered), stage_feet(stage, chase.bait));
    chase.ordered_nearest = math_min(chase.ordered_nearest, ordered);
}

static void chase_finish(Stage *stage)
{
    stage_expect(
        stage, chase.suspicious >= 1 && chase.alert >= 1 && chase.searching >= 1 && chase.idle >= 1,
        "suspicious %u, alert %u, searching %u, idle %u times", chase.suspicious, chase.alert,
        chase.searching, chase.idle);
    stage_expect(stage, chase.nearest < 4, "never came nearer than %.1f m", (double)chase.nearest);
    stage_expect(stage, chase.blind_changes == 0, "the one who looks away noticed something");
    stage_expect(stage, chase.wall_changes == 0, "the one in the room saw through the wall");
    stage_expect(stage, chase.ordered_nearest < 4, "the one who was ordered came to %.1f m",
                 (double)chase.ordered_nearest);
    const Vec3 post = vec3(0, 0, -10);
    const float off = stage_distance_flat(stage_feet(stage, chase.guard), post);
    stage_expect(stage, off < 1.5f, "the guard is %.1f m from his post", (double)off);
}

// --- maze ---------------------------------------------------------------------------------------
// Many minds want ways at once; the budget per tick is shared. Some goals cannot be reached.
#define MAZE_NPCS 24

static struct {
    Handle npcs[MAZE_NPCS];
    uint32_t arrived;
    uint32_t nodes_most;
} maze;

static Vec3 maze_goal(int i)
{
    return vec3((float)(i % 5) * 8 - 15.5f, 0, (float)(i / 5) * 8 - 15.5f);
}

static void maze_build(Stage *stage)
{
    memset(&maze, 0, sizeof maze);
    stage_ground(stage, 24);
    Rng rng = rng_make(77, 3);
    for (int i = 0; i < 120; i++) {
        const int32_t x = (int32_t)rng_below(&rng, 40) - 20;
        const int32_t z = (int32_t)rng_below(&rng, 40) - 20;
        if ((x - -16) % 4 != 0 || (z - -16) % 4 != 0) {
            stage_terrain(stage, (VoxelCoord){x, 0, z}, (VoxelCoord){x + (i & 1), 1, z}, 4);
        }
    }
    for (int i = 0; i < MAZE_NPCS; i++) {
        const Vec3 at = maze_goal(i);
        stage_terrain(stage, voxel_at(at), voxel_at(vec3(at.x, 2, at.z)), VOXEL_AIR);
    }
    stage_open(stage);
    for (int i = 0; i < MAZE_NPCS; i++) {
        NpcDesc desc = npc_desc_default();
        desc.position = maze_goal(i);
        maze.npcs[i] = npc(stage, desc);
    }
}

static void maze_drive(Stage *stage)
{
    if (stage->tick == 10) {
        for (int i = 0; i < MAZE_NPCS; i++) {
            // The last one is sent into the air above the world, where no way leads.
            const Vec3 goal = i == MAZE_NPCS - 1 ? vec3(200, 0, 200) : maze_goal(MAZE_NPCS - 1 - i);
            stage_expect_ok(stage, "move", npc_move_to(stage->sim, maze.npcs[i], goal));
        }
    }
    if (stage->tick == 300) {
        stage_expect_ok(stage, "stop", npc_stop(stage->sim, maze.npcs[0]));
        // A wall grows across the whole maze, with a hole at one end.
        stage_expect_ok(stage, "wall",
                        terrain_fill_box(sim_terrain(stage->sim), (VoxelCoord){-24, 0, 0},
                                         (VoxelCoord){20, 1, 0}, 5, NULL));
    }
    const uint32_t nodes = npc_stats(stage->sim).nodes_last;
    maze.nodes_most = nodes > maze.nodes_most ? nodes : maze.nodes_most;
}

static void maze_finish(Stage *stage)
{
    for (int i = 1; i < MAZE_NPCS - 1; i++) {
        const float off =
            stage_distance_flat(stage_feet(stage, maze.npcs[i]), maze_goal(MAZE_NPCS - 1 - i));
        maze.arrived += off < 2;
    }
    stage_expect(stage, maze.arrived >= 15, "only %u arrived", maze.arrived);
    stage_expect(stage, maze.nodes_most <= stage->config.path_nodes_per_tick,
                 "%u nodes in one tick, the budget is %u", maze.nodes_most,
                 stage->config.path_nodes_per_tick);
    stage_expect(stage, maze.nodes_most > 0, "no path was searched");
}

const Scenario scenarios_npc[] = {
    {"patrol", "six guards walk their rounds through gaps in walls", 1200, patrol_build,
     patrol_drive, patrol_finish},
    {"chase", "a guard notices a thief, chases, loses and searches him, and goes back", 1200,
     chase_build, chase_drive, chase_finish},
    {"maze", "24 minds share the path budget in a maze that changes", 1200, maze_build, maze_drive,
     maze_finish},
    {0},
};
