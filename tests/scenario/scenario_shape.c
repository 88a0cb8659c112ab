// Shapes of every kind and rotation, the corners between them, and gaps that are just too low or
// narrow.
#include "tests/scenario/scenario.h"

#include <string.h>

// --- rotated ------------------------------------------------------------------------------------
static struct {
    uint32_t on_part, on_ground;
} rotated;

static PartDesc random_part(Rng *rng, Vec3 at)
{
    const Vec3 half = scenario_random(rng, vec3(0.3f, 0.2f, 0.3f), vec3(1.8f, 1.0f, 1.8f));
    PartDesc part = part_box(at, half);
    part.shape.kind = (ShapeKind)rng_below(rng, SHAPE_KIND_COUNT);
    const Vec3 axis = scenario_random(rng, vec3(-1, -1, -0.99f), vec3(1, 1, 1.01f));
    return part_turned(part, axis, rng_range(rng, -3, 3));
}

static void rotated_build(ScenarioWorld *world)
{
    memset(&rotated, 0, sizeof rotated);
    Rng rng = rng_make(31, 1);
    scenario_ground(world, 24);
    for (int i = 0; i < 150; i++) {
        const float x = (float)(i % 13) * 3.2f - 19.0f + rng_range(&rng, -1, 1);
        const float z = (float)(i / 13) * 3.2f - 19.0f + rng_range(&rng, -1, 1);
        (void)scenario_part(world, random_part(&rng, vec3(x, rng_range(&rng, 0, 1.2f), z)));
    }
    scenario_open(world);
    for (int i = 0; i < 30; i++) {
        (void)scenario_player(world, vec3((float)(i % 6) * 6 - 15, 5, (float)(i / 6) * 6 - 12));
    }
}

static void rotated_drive(ScenarioWorld *world)
{
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_wander(world, world->players[i], 25);
        const Character *c = &scenario_at(world, world->players[i])->character;
        rotated.on_part += c->grounded && c->ground_net_id != 0;
        rotated.on_ground += c->grounded && c->ground_net_id == 0;
    }
}

static void rotated_finish(ScenarioWorld *world)
{
    scenario_expect(world, rotated.on_part > 1000, "stood on parts only %u times", rotated.on_part);
    scenario_expect(world, rotated.on_ground > 1500, "stood on the ground only %u times",
                    rotated.on_ground);
}

// --- corners ------------------------------------------------------------------------------------
#define CORNER_COUNT 5

static struct {
    Handle inner[CORNER_COUNT], outer, fits, too_wide;
    Vec3 settled[CORNER_COUNT];
    float wobble;
} corners;

// Opening angles of the inner corners, in radians: 20, 45, 90, 120 and 170 degrees.
static const float CORNER_ANGLE[CORNER_COUNT] = {0.349f, 0.785f, 1.571f, 2.094f, 2.967f};

static void wall(ScenarioWorld *world, Vec3 apex, float yaw)
{
    // Six metres long, starting a little behind the apex so that both walls close it.
    const Vec3 along = vec3(math_sin(yaw), 0, math_cos(yaw));
    PartDesc part = part_box(vec3_mad(apex, along, -2.8f), vec3(0.2f, 1.5f, 3));
    part.pose.position.y = 1.5f;
    part.pose.rotation = quat_from_yaw(yaw);
    (void)scenario_part(world, part);
}

static void corners_build(ScenarioWorld *world)
{
    memset(&corners, 0, sizeof corners);
    const float diameter = 2 * world->config.character.radius;
    scenario_ground(world, 40);
    for (int i = 0; i < CORNER_COUNT; i++) {
        const Vec3 apex = vec3((float)i * 12 - 24, 0, 10);
        wall(world, apex, CORNER_ANGLE[i] * 0.5f);
        wall(world, apex, -CORNER_ANGLE[i] * 0.5f);
    }
    // A box to walk around, and two gates.
    (void)scenario_part(world, part_box(vec3(0, 1.5f, -10), vec3(1.5f, 1.5f, 1.5f)));
    (void)scenario_part(world, part_box(vec3(10, 1.5f, -10), vec3(2, 1.5f, 0.5f)));
    (void)scenario_part(world,
                        part_box(vec3(14 + diameter + 0.04f, 1.5f, -10), vec3(2, 1.5f, 0.5f)));
    (void)scenario_part(world, part_box(vec3(-20, 1.5f, -10), vec3(2, 1.5f, 0.5f)));
    (void)scenario_part(world,
                        part_box(vec3(-16 + diameter - 0.04f, 1.5f, -10), vec3(2, 1.5f, 0.5f)));
    scenario_open(world);
    for (int i = 0; i < CORNER_COUNT; i++) {
        corners.inner[i] = scenario_player(world, vec3((float)i * 12 - 23.7f, 0, 2));
    }
    corners.outer = scenario_player(world, vec3(1.4f, 0, -15));
    corners.fits = scenario_player(world, vec3(12 + diameter * 0.5f + 0.02f, 0, -14));
    corners.too_wide = scenario_player(world, vec3(-18 + diameter * 0.5f - 0.02f, 0, -14));
}

static void corners_drive(ScenarioWorld *world)
{
    for (int i = 0; i < CORNER_COUNT; i++) {
        scenario_walk(world, corners.inner[i], vec3(0, 0, 1), i % 2 == 0 ? INPUT_RUN : 0u);
        const Vec3 feet = scenario_feet(world, corners.inner[i]);
        if (world->tick == 300) {
            corners.settled[i] = feet;
        } else if (world->tick > 300) {
            corners.wobble = math_max(corners.wobble, scenario_distance(feet, corners.settled[i]));
        }
    }
    scenario_walk(world, corners.outer, vec3(0, 0, 1), 0);
    const bool through = scenario_feet(world, corners.fits).z > -4;
    scenario_walk(world, corners.fits, through ? VEC3_ZERO : vec3(0, 0, 1), 0);
    scenario_walk(world, corners.too_wide, vec3(0, 0, 1), INPUT_RUN);
}

static void corners_finish(ScenarioWorld *world)
{
    scenario_expect(world, corners.wobble < 0.01f, "somebody in a corner wobbles by %.4f m",
                    (double)corners.wobble);
    for (int i = 0; i < CORNER_COUNT; i++) {
        scenario_expect(world, scenario_feet(world, corners.inner[i]).z < 10.5f,
                        "corner %d was passed", i);
        scenario_expect(world, scenario_feet(world, corners.inner[i]).z > 4,
                        "corner %d not reached", i);
    }
    scenario_expect(world, scenario_feet(world, corners.fits).z > -5,
                    "the wide gate does not let pass");
    scenario_expect(world, scenario_feet(world, corners.too_wide).z < -10.5f,
                    "the narrow gate lets pass");
    scenario_expect(world, scenario_feet(world, corners.outer).z < -11.5f,
                    "walked through the box");
}

// --- around -------------------------------------------------------------------------------------
// Walking at walls at an angle: slides along them and past their outer edges.
static struct {
    Handle boxes, cylinder, voxels;
} around;

static void around_build(ScenarioWorld *world)
{
    scenario_ground(world, 32);
    scenario_terrain(world, (VoxelCoord){-16, 0, 0}, (VoxelCoord){-12, 3, 2}, 2);
    (void)scenario_part(world, part_box(vec3(0, 1.5f, 0), vec3(2, 1.5f, 2)));
    (void)scenario_part(world, part_cylinder(vec3(12, 1.5f, 0), 2, 1.5f));
    scenario_open(world);
    around.boxes = scenario_player(world, vec3(0.5f, 0, -5));
    around.cylinder = scenario_player(world, vec3(12.3f, 0, -5));
    around.voxels = scenario_player(world, vec3(-13, 0, -5));
}

static void around_drive(ScenarioWorld *world)
{
    scenario_walk(world, around.boxes, vec3(0.5f, 0, 1), 0);
    scenario_walk(world, around.cylinder, vec3(0.1f, 0, 1), 0);
    scenario_walk(world, around.voxels, vec3(0.7f, 0, 1), INPUT_RUN);
}

static void around_finish(ScenarioWorld *world)
{
    const float box = scenario_feet(world, around.boxes).z;
    const float cylinder = scenario_feet(world, around.cylinder).z;
    const float voxels = scenario_feet(world, around.voxels).z;
    scenario_expect(world, box > 4, "got round the box only to %.3f", (double)box);
    scenario_expect(world, cylinder > 4, "got round the cylinder only to %.3f", (double)cylinder);
    scenario_expect(world, voxels > 4, "got round the voxels only to %.3f", (double)voxels);
}

// --- round --------------------------------------------------------------------------------------
static struct {
    Handle on_ball, over_log, on_drum, past_ball, on_lying;
    float log_top;
} round_;

static void round_build(ScenarioWorld *world)
{
    memset(&round_, 0, sizeof round_);
    scenario_ground(world, 32);
    (void)scenario_part(world, part_sphere(vec3(0, 1, 0), 2));
    const float log = world->config.character.step_height * 0.45f;
    (void)scenario_part(
        world, part_turned(part_cylinder(vec3(8, log, 0), log, 3), vec3(0, 0, 1), 1.5708f));
    (void)scenario_part(world, part_cylinder(vec3(16, 1, 0), 2, 1));
    (void)scenario_part(world, part_sphere(vec3(-8, 1, 0), 1));
    (void)scenario_part(
        world, part_turned(part_cylinder(vec3(-16, 1, 0), 1.5f, 4), vec3(0, 0, 1), 1.5708f));
    (void)scenario_part(world,
                        part_turned(part_cylinder(vec3(-16, 1, 8), 1, 3), vec3(1, 0, 1), 0.5f));
    scenario_open(world);
    round_.on_ball = scenario_player(world, vec3(0.4f, 6, 0.2f));
    round_.over_log = scenario_player(world, vec3(8, 0, -5));
    round_.on_drum = scenario_player(world, vec3(16, 5, 0));
    round_.past_ball = scenario_player(world, vec3(-8.3f, 0, -5));
    round_.on_lying = scenario_player(world, vec3(-16, 5, 1.2f));
}

static void round_drive(ScenarioWorld *world)
{
    scenario_stand(world, round_.on_ball);
    scenario_walk(world, round_.over_log, vec3(0, 0, 1), 0);
    scenario_walk(world, round_.on_drum,
                  world->tick < 120 || world->tick > 220 ? VEC3_ZERO : vec3(1, 0, 0), 0);
    scenario_walk(world, round_.past_ball, vec3(0, 0, 1), 0);
    scenario_stand(world, round_.on_lying);
    round_.log_top = math_max(round_.log_top, scenario_feet(world, round_.over_log).y);
    if (world->tick == 119) {
        scenario_expect_near(world, "the height on the drum",
                             scenario_feet(world, round_.on_drum).y, 2, 0.02f);
    }
}

static void round_finish(ScenarioWorld *world)
{
    const float log = world->config.character.step_height * 0.9f;
    scenario_expect_near(world, "the highest point over the log", round_.log_top, log, 0.06f);
    scenario_expect(world, scenario_feet(world, round_.over_log).z > 3, "the log was not crossed");
    scenario_expect_near(world, "the height after the drum", scenario_feet(world, round_.on_drum).y,
                         0, 0.02f);
    scenario_expect(world, scenario_feet(world, round_.past_ball).z > 3, "the ball was not passed");
    const Vec3 ball = scenario_feet(world, round_.on_ball);
    scenario_expect_near(world, "the top of the ball", ball.y, 3, 0.15f);
    const Vec3 lying = scenario_feet(world, round_.on_lying);
    scenario_expect_near(world, "the height after sliding off", lying.y, 0, 0.02f);
}

// --- ceilings -----------------------------------------------------------------------------------
static struct {
    Handle jumper, crawler, too_tall, wedged, voxel_jumper;
    float jumper_top, voxel_top;
} ceilings;

#define CEILING_GAP 0.5f

static void ceilings_build(ScenarioWorld *world)
{
    memset(&ceilings, 0, sizeof ceilings);
    const float tall = world->config.character.height;
    scenario_ground(world, 32);
    (void)scenario_part(world, part_box(vec3(0, tall + CEILING_GAP + 0.25f, 0), vec3(3, 0.25f, 3)));
    (void)scenario_part(world, part_box(vec3(10, tall + 0.52f, 0), vec3(3, 0.5f, 3)));
    (void)scenario_part(world, part_box(vec3(20, tall + 0.45f, 0), vec3(3, 0.5f, 3)));
    // The slope of a wedge turned upside down comes lower and lower.
    (void)scenario_part(
        world, part_turned(part_wedge(vec3(-10, 2, 0), vec3(3, 1, 4), 0), vec3(0, 0, 1), MATH_PI));
    scenario_terrain(world, (VoxelCoord){-22, 2, -2}, (VoxelCoord){-18, 2, 2}, 3);
    scenario_open(world);
    ceilings.jumper = scenario_player(world, vec3(0, 0, 0));
    ceilings.crawler = scenario_player(world, vec3(10, 0, -6));
    ceilings.too_tall = scenario_player(world, vec3(20, 0, -6));
    ceilings.wedged = scenario_player(world, vec3(-10, 0, -8));
    ceilings.voxel_jumper = scenario_player(world, vec3(-20, 0, 0));
}

static void ceilings_drive(ScenarioWorld *world)
{
    const uint32_t jump = world->tick % 40 < 2 ? INPUT_JUMP : 0u;
    scenario_walk(world, ceilings.jumper, VEC3_ZERO, jump);
    scenario_walk(world, ceilings.crawler, vec3(0, 0, 1), jump);
    scenario_walk(world, ceilings.too_tall, vec3(0, 0, 1), INPUT_RUN);
    scenario_walk(world, ceilings.wedged, vec3(0, 0, 1), jump | INPUT_RUN);
    scenario_walk(world, ceilings.voxel_jumper, VEC3_ZERO, jump);
    ceilings.jumper_top = math_max(ceilings.jumper_top, scenario_feet(world, ceilings.jumper).y);
    ceilings.voxel_top =
        math_max(ceilings.voxel_top, scenario_feet(world, ceilings.voxel_jumper).y);
}

static void ceilings_finish(ScenarioWorld *world)
{
    const float tall = world->config.character.height;
    scenario_expect_near(world, "the jump under a part", ceilings.jumper_top, CEILING_GAP, 0.03f);
    scenario_expect_near(world, "the jump under voxels", ceilings.voxel_top, 2 - tall, 0.03f);
    scenario_expect(world, scenario_feet(world, ceilings.crawler).z > 4,
                    "the low passage is closed");
    scenario_expect(world, scenario_feet(world, ceilings.too_tall).z < -2.9f,
                    "the passage that is too low is open");
    scenario_expect(world, scenario_feet(world, ceilings.wedged).z < 3, "went through the wedge");
}

// --- funnel -------------------------------------------------------------------------------------
// Flyers are launched under a ceiling that comes lower and lower: it presses them to the ground,
// farther than their own speed would ever take them down.
#define FUNNEL_FLYERS 10
#define FUNNEL_ROUND  60

static struct {
    Handle flyers[FUNNEL_FLYERS];
    float farthest;
} funnel;

static void funnel_build(ScenarioWorld *world)
{
    memset(&funnel, 0, sizeof funnel);
    scenario_ground(world, 24);
    (void)scenario_part(
        world, part_turned(part_box(vec3(0, 3.2f, 0), vec3(8, 0.5f, 16)), vec3(0, 0, 1), -0.6f));
    scenario_open(world);
    for (int i = 0; i < FUNNEL_FLYERS; i++) {
        funnel.flyers[i] = scenario_player(world, vec3(-12, 0, 3 * (float)i - 14));
    }
}

static void funnel_drive(ScenarioWorld *world)
{
    for (int i = 0; i < FUNNEL_FLYERS; i++) {
        scenario_stand(world, funnel.flyers[i]);
        const Vec3 feet = scenario_feet(world, funnel.flyers[i]);
        funnel.farthest = math_max(funnel.farthest, feet.x);
        if (world->tick % FUNNEL_ROUND == 10) {
            // Just off the ground, and just before the ceiling.
            const float height = 0.08f + 0.02f * (float)i;
            const float gap = 0.3f + 0.0005f * (float)world->tick;
            const float ceiling = 2.5f - world->config.character.height - height;
            const float speed = 50 + 0.02f * (float)world->tick;
            const Vec3 at = vec3(ceiling / 0.684f - gap, height, 3 * (float)i - 14);
            scenario_expect_ok(world, "place", sim_set_position(world->sim, funnel.flyers[i], at));
            scenario_expect_ok(world, "launch",
                               sim_set_velocity(world->sim, funnel.flyers[i], vec3(speed, 1, 0)));
        }
    }
}

static void funnel_finish(ScenarioWorld *world)
{
    scenario_expect(world, funnel.farthest > 0 && funnel.farthest < 5, "got to %.3f",
                    (double)funnel.farthest);
}

const Scenario scenarios_shape[] = {
    {"rotated", "30 players wander among 150 parts of every kind and rotation", 600, rotated_build,
     rotated_drive, rotated_finish},
    {"corners", "inner corners hold without wobble; gates let pass by centimetres", 360,
     corners_build, corners_drive, corners_finish},
    {"around", "walls are slid along, and past their outer edges", 300, around_build, around_drive,
     around_finish},
    {"round", "spheres and cylinders are stood on, slid off and stepped over", 360, round_build,
     round_drive, round_finish},
    {"ceilings", "low ceilings stop jumps; passages open or closed by centimetres", 300,
     ceilings_build, ceilings_drive, ceilings_finish},
    {"funnel", "a ceiling that comes lower presses flyers to the ground, not into it", 360,
     funnel_build, funnel_drive, funnel_finish},
    {0},
};
