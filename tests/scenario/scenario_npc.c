// Decisions of NPCs: patrols around walls, noticing, chasing, searching, and giving up.
#include "tests/scenario/scenario.h"

#include <string.h>

static Handle npc(ScenarioWorld *world, NpcDesc desc)
{
    Handle made = HANDLE_NONE;
    scenario_expect_ok(world, "npc", npc_spawn(world->sim, &desc, &made));
    return made;
}

// How often an NPC changed into a state in the last step.
static uint32_t changes_to(const ScenarioWorld *world, Handle who, NpcState state)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        seen += events[i].type == SIM_EVENT_NPC_STATE &&
                events[i].subject == scenario_net_id(world, who) &&
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

static void patrol_build(ScenarioWorld *world)
{
    memset(&patrol, 0, sizeof patrol);
    scenario_ground(world, 24);
    // Walls across each side of the square with one gap each, of voxels and of parts.
    scenario_terrain(world, (VoxelCoord){0, 0, -20}, (VoxelCoord){0, 2, -7}, 2);
    scenario_terrain(world, (VoxelCoord){0, 0, 7}, (VoxelCoord){0, 2, 20}, 2);
    scenario_terrain(world, (VoxelCoord){0, 0, -14}, (VoxelCoord){0, 2, -13}, VOXEL_AIR);
    scenario_terrain(world, (VoxelCoord){0, 0, 15}, (VoxelCoord){0, 2, 16}, VOXEL_AIR);
    (void)scenario_part(world, part_box(vec3(13, 1.5f, 0.5f), vec3(6, 1.5f, 0.5f)));
    (void)scenario_part(world, part_box(vec3(-10, 1.5f, 0.5f), vec3(6, 1.5f, 0.5f)));
    scenario_open(world);
    for (int i = 0; i < PATROL_GUARDS; i++) {
        NpcDesc desc = npc_desc_default();
        desc.position = PATROL_POINTS[i % 4];
        desc.position.x += i >= 4 ? 1.0f : 0.0f;
        desc.tuning.pause_ms = 200;
        desc.patrol_count = 4;
        for (int k = 0; k < 4; k++) {
            desc.patrol[k] = PATROL_POINTS[(i % 2 == 0 ? i + 1 + k : i + 7 - k) % 4];
        }
        patrol.guards[i] = npc(world, desc);
        patrol.before[i] = scenario_feet(world, patrol.guards[i]);
    }
}

static void patrol_drive(ScenarioWorld *world)
{
    for (int i = 0; i < PATROL_GUARDS; i++) {
        const Vec3 feet = scenario_feet(world, patrol.guards[i]);
        patrol.travelled[i] += scenario_distance_flat(feet, patrol.before[i]);
        patrol.before[i] = feet;
        for (int k = 0; k < 4; k++) {
            if (scenario_distance_flat(feet, PATROL_POINTS[k]) < 1.5f) {
                patrol.visited[i] |= 1u << k;
            }
        }
    }
}

static void patrol_finish(ScenarioWorld *world)
{
    for (int i = 0; i < PATROL_GUARDS; i++) {
        scenario_expect(world, patrol.visited[i] == 0xf, "guard %d saw only the points %x", i,
                        patrol.visited[i]);
        scenario_expect(world, patrol.travelled[i] > 60, "guard %d walked only %.1f m", i,
                        (double)patrol.travelled[i]);
    }
    scenario_expect(world, scenario_total(world, SIM_EVENT_NPC_STATE) == 0,
                    "a guard saw something");
}

// --- chase --------------------------------------------------------------------------------------
static struct {
    Handle guard, blind, behind_wall, thief, ordered, bait;
    uint32_t suspicious, alert, searching, idle;
    uint32_t blind_changes, wall_changes;
    float nearest;
    float ordered_nearest;
} chase;

static void chase_build(ScenarioWorld *world)
{
    memset(&chase, 0, sizeof chase);
    chase.nearest = chase.ordered_nearest = 1000;
    scenario_ground(world, 40);
    (void)scenario_part(world, part_box(vec3(0, 2, 8), vec3(8, 2, 0.5f)));
    // A closed room for the one who must not be seen through walls.
    scenario_terrain(world, (VoxelCoord){20, 0, -6}, (VoxelCoord){26, 3, 0}, 3);
    scenario_terrain(world, (VoxelCoord){21, 0, -5}, (VoxelCoord){25, 3, -1}, VOXEL_AIR);
    scenario_open(world);
    NpcDesc desc = npc_desc_default();
    desc.tuning.sight_m = 25;
    desc.tuning.lose_ms = 1000;
    desc.tuning.search_ms = 2000;
    desc.position = vec3(0, 0, -10);
    chase.guard = npc(world, desc);
    desc.position = vec3(23, 0, -3);
    desc.tuning.sight_cos = -1;
    chase.behind_wall = npc(world, desc);
    // Looks the other way, and feels nothing.
    desc.position = vec3(-20, 0, -10);
    desc.yaw = MATH_PI;
    desc.tuning.sight_cos = 0.5f;
    desc.tuning.feel_m = 0;
    chase.blind = npc(world, desc);
    // A script sets its target.
    desc.position = vec3(-35, 0, 30);
    desc.tuning.sight_m = 1;
    chase.ordered = npc(world, desc);
    chase.thief = scenario_player(world, vec3(0, 0, 0));
    chase.bait = scenario_player(world, vec3(-20, 0, 30));
    scenario_expect_ok(world, "order", npc_set_target(world->sim, chase.ordered, chase.bait));
}

static void chase_drive(ScenarioWorld *world)
{
    // Stands in sight, runs behind the wall once seen, and far away behind it.
    if (world->tick < 150) {
        scenario_stand(world, chase.thief);
    } else if (world->tick < 240) {
        scenario_walk(world, chase.thief, vec3(1, 0, 0.2f), INPUT_RUN);
    } else if (world->tick == 240) {
        scenario_expect_ok(world, "hide",
                           sim_set_position(world->sim, chase.thief, vec3(0, 0, 38)));
        scenario_stand(world, chase.thief);
    }
    scenario_stand(world, chase.bait);
    chase.suspicious += changes_to(world, chase.guard, NPC_SUSPICIOUS);
    chase.alert += changes_to(world, chase.guard, NPC_ALERT);
    chase.searching += changes_to(world, chase.guard, NPC_SEARCHING);
    chase.idle += changes_to(world, chase.guard, NPC_IDLE);
    chase.blind_changes +=
        scenario_seen(world, SIM_EVENT_NPC_STATE, scenario_net_id(world, chase.blind), 0);
    chase.wall_changes +=
        scenario_seen(world, SIM_EVENT_NPC_STATE, scenario_net_id(world, chase.behind_wall), 0);
    const float near = scenario_distance_flat(scenario_feet(world, chase.guard),
                                              scenario_feet(world, chase.thief));
    chase.nearest = math_min(chase.nearest, near);
    const float ordered = scenario_distance_flat(scenario_feet(world, chase.ordered),
                                                 scenario_feet(world, chase.bait));
    chase.ordered_nearest = math_min(chase.ordered_nearest, ordered);
}

static void chase_finish(ScenarioWorld *world)
{
    scenario_expect(
        world, chase.suspicious >= 1 && chase.alert >= 1 && chase.searching >= 1 && chase.idle >= 1,
        "suspicious %u, alert %u, searching %u, idle %u times", chase.suspicious, chase.alert,
        chase.searching, chase.idle);
    scenario_expect(world, chase.nearest < 4, "never came nearer than %.1f m",
                    (double)chase.nearest);
    scenario_expect(world, chase.blind_changes == 0, "the one who looks away noticed something");
    scenario_expect(world, chase.wall_changes == 0, "the one in the room saw through the wall");
    scenario_expect(world, chase.ordered_nearest < 4, "the one who was ordered came to %.1f m",
                    (double)chase.ordered_nearest);
    const Vec3 post = vec3(0, 0, -10);
    const float off = scenario_distance_flat(scenario_feet(world, chase.guard), post);
    scenario_expect(world, off < 1.5f, "the guard is %.1f m from his post", (double)off);
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

static void maze_build(ScenarioWorld *world)
{
    memset(&maze, 0, sizeof maze);
    scenario_ground(world, 24);
    Rng rng = rng_make(77, 3);
    for (int i = 0; i < 120; i++) {
        const int32_t x = (int32_t)rng_below(&rng, 40) - 20;
        const int32_t z = (int32_t)rng_below(&rng, 40) - 20;
        if ((x - -16) % 4 != 0 || (z - -16) % 4 != 0) {
            scenario_terrain(world, (VoxelCoord){x, 0, z}, (VoxelCoord){x + (i & 1), 1, z}, 4);
        }
    }
    for (int i = 0; i < MAZE_NPCS; i++) {
        const Vec3 at = maze_goal(i);
        scenario_terrain(world, voxel_at(at), voxel_at(vec3(at.x, 2, at.z)), VOXEL_AIR);
    }
    scenario_open(world);
    for (int i = 0; i < MAZE_NPCS; i++) {
        NpcDesc desc = npc_desc_default();
        desc.position = maze_goal(i);
        maze.npcs[i] = npc(world, desc);
    }
}

static void maze_drive(ScenarioWorld *world)
{
    if (world->tick == 10) {
        for (int i = 0; i < MAZE_NPCS; i++) {
            // The last one is sent into the air above the world, where no way leads.
            const Vec3 goal = i == MAZE_NPCS - 1 ? vec3(200, 0, 200) : maze_goal(MAZE_NPCS - 1 - i);
            scenario_expect_ok(world, "move", npc_move_to(world->sim, maze.npcs[i], goal));
        }
    }
    if (world->tick == 300) {
        scenario_expect_ok(world, "stop", npc_stop(world->sim, maze.npcs[0]));
        // A wall grows across the whole maze, with a hole at one end.
        scenario_expect_ok(world, "wall",
                           terrain_fill_box(sim_terrain(world->sim), (VoxelCoord){-24, 0, 0},
                                            (VoxelCoord){20, 1, 0}, 5, NULL));
    }
    const uint32_t nodes = npc_stats(world->sim).nodes_last;
    maze.nodes_most = nodes > maze.nodes_most ? nodes : maze.nodes_most;
}

static void maze_finish(ScenarioWorld *world)
{
    for (int i = 1; i < MAZE_NPCS - 1; i++) {
        const float off = scenario_distance_flat(scenario_feet(world, maze.npcs[i]),
                                                 maze_goal(MAZE_NPCS - 1 - i));
        maze.arrived += off < 2;
    }
    scenario_expect(world, maze.arrived >= 15, "only %u arrived", maze.arrived);
    scenario_expect(world, maze.nodes_most <= world->config.path_nodes_per_tick,
                    "%u nodes in one tick, the budget is %u", maze.nodes_most,
                    world->config.path_nodes_per_tick);
    scenario_expect(world, maze.nodes_most > 0, "no path was searched");
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
