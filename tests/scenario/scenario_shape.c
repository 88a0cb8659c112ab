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
    const Vec3 half = stage_random(rng, vec3(0.3f, 0.2f, 0.3f), vec3(1.8f, 1.0f, 1.8f));
    PartDesc part = part_box(at, half);
    part.shape.kind = (ShapeKind)rng_below(rng, SHAPE_KIND_COUNT);
    const Vec3 axis = stage_random(rng, vec3(-1, -1, -0.99f), vec3(1, 1, 1.01f));
    return part_turned(part, axis, rng_range(rng, -3, 3));
}

static void rotated_build(Stage *stage)
{
    memset(&rotated, 0, sizeof rotated);
    Rng rng = rng_make(31, 1);
    stage_ground(stage, 24);
    for (int i = 0; i < 150; i++) {
        const float x = (float)(i % 13) * 3.2f - 19.0f + rng_range(&rng, -1, 1);
        const float z = (float)(i / 13) * 3.2f - 19.0f + rng_range(&rng, -1, 1);
        (void)stage_part(stage, random_part(&rng, vec3(x, rng_range(&rng, 0, 1.2f), z)));
    }
    stage_open(stage);
    for (int i = 0; i < 30; i++) {
        (void)stage_player(stage, vec3((float)(i % 6) * 6 - 15, 5, (float)(i / 6) * 6 - 12));
    }
}

static void rotated_drive(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_wander(stage, stage->players[i], 25);
        const Character *c = &stage_at(stage, stage->players[i])->character;
        rotated.on_part += c->grounded && c->ground_net_id != 0;
        rotated.on_ground += c->grounded && c->ground_net_id == 0;
    }
}

static void rotated_finish(Stage *stage)
{
    stage_expect(stage, rotated.on_part > 1000, "stood on parts only %u times", rotated.on_part);
    stage_expect(stage, rotated.on_ground > 1500, "stood on the ground only %u times",
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

static void wall(Stage *stage, Vec3 apex, float yaw)
{
    // Six metres long, starting a little behind the apex so that both walls close it.
    const Vec3 along = vec3(math_sin(yaw), 0, math_cos(yaw));
    PartDesc part = part_box(vec3_mad(apex, along, -2.8f), vec3(0.2f, 1.5f, 3));
    part.pose.position.y = 1.5f;
    part.pose.rotation = quat_from_yaw(yaw);
    (void)stage_part(stage, part);
}

static void corners_build(Stage *stage)
{
    memset(&corners, 0, sizeof corners);
    const float diameter = 2 * stage->config.character.radius;
    stage_ground(stage, 40);
    for (int i = 0; i < CORNER_COUNT; i++) {
        const Vec3 apex = vec3((float)i * 12 - 24, 0, 10);
        wall(stage, apex, CORNER_ANGLE[i] * 0.5f);
        wall(stage, apex, -CORNER_ANGLE[i] * 0.5f);
    }
    // A box to walk around, and two gates.
    (void)stage_part(stage, part_box(vec3(0, 1.5f, -10), vec3(1.5f, 1.5f, 1.5f)));
    (void)stage_part(stage, part_box(vec3(10, 1.5f, -10), vec3(2, 1.5f, 0.5f)));
    (void)stage_part(stage, part_box(vec3(14 + diameter + 0.04f, 1.5f, -10), vec3(2, 1.5f, 0.5f)));
    (void)stage_part(stage, part_box(vec3(-20, 1.5f, -10), vec3(2, 1.5f, 0.5f)));
    (void)stage_part(stage, part_box(vec3(-16 + diameter - 0.04f, 1.5f, -10), vec3(2, 1.5f, 0.5f)));
    stage_open(stage);
    for (int i = 0; i < CORNER_COUNT; i++) {
        corners.inner[i] = stage_player(stage, vec3((float)i * 12 - 23.7f, 0, 2));
    }
    corners.outer = stage_player(stage, vec3(1.4f, 0, -15));
    corners.fits = stage_player(stage, vec3(12 + diameter * 0.5f + 0.02f, 0, -14));
    corners.too_wide = stage_player(stage, vec3(-18 + diameter * 0.5f - 0.02f, 0, -14));
}

static void corners_drive(Stage *stage)
{
    for (int i = 0; i < CORNER_COUNT; i++) {
        stage_walk(stage, corners.inner[i], vec3(0, 0, 1), i % 2 == 0 ? INPUT_RUN : 0u);
        const Vec3 feet = stage_feet(stage, corners.inner[i]);
        if (stage->tick == 300) {
            corners.settled[i] = feet;
        } else if (stage->tick > 300) {
            corners.wobble = math_max(corners.wobble, stage_distance(feet, corners.settled[i]));
        }
    }
    stage_walk(stage, corners.outer, vec3(0, 0, 1), 0);
    const bool through = stage_feet(stage, corners.fits).z > -4;
    stage_walk(stage, corners.fits, through ? VEC3_ZERO : vec3(0, 0, 1), 0);
    stage_walk(stage, corners.too_wide, vec3(0, 0, 1), INPUT_RUN);
}

static void corners_finish(Stage *stage)
{
    stage_expect(stage, corners.wobble < 0.01f, "somebody in a corner wobbles by %.4f m",
                 (double)corners.wobble);
    for (int i = 0; i < CORNER_COUNT; i++) {
        stage_expect(stage, stage_feet(stage, corners.inner[i]).z < 10.5f, "corner %d was passed",
                     i);
        stage_expect(stage, stage_feet(stage, corners.inner[i]).z > 4, "corner %d not reached", i);
    }
    stage_expect(stage, stage_feet(stage, corners.fits).z > -5, "the wide gate does not let pass");
    stage_expect(stage, stage_feet(stage, corners.too_wide).z < -10.5f,
                 "the narrow gate lets pass");
    stage_expect(stage, stage_feet(stage, corners.outer).z < -11.5f, "walked through the box");
}

// --- around -------------------------------------------------------------------------------------
// Walking at walls at an angle: slides along them and past their outer edges.
static struct {
    Handle boxes, cylinder, voxels;
} around;

static void around_build(Stage *stage)
{
    stage_ground(stage, 32);
    stage_terrain(stage, (VoxelCoord){-16, 0, 0}, (VoxelCoord){-12, 3, 2}, 2);
    (void)stage_part(stage, part_box(vec3(0, 1.5f, 0), vec3(2, 1.5f, 2)));
    (void)stage_part(stage, part_cylinder(vec3(12, 1.5f, 0), 2, 1.5f));
    stage_open(stage);
    around.boxes = stage_player(stage, vec3(0.5f, 0, -5));
    around.cylinder = stage_player(stage, vec3(12.3f, 0, -5));
    around.voxels = stage_player(stage, vec3(-13, 0, -5));
}

static void around_drive(Stage *stage)
{
    stage_walk(stage, around.boxes, vec3(0.5f, 0, 1), 0);
    stage_walk(stage, around.cylinder, vec3(0.1f, 0, 1), 0);
    stage_walk(stage, around.voxels, vec3(0.7f, 0, 1), INPUT_RUN);
}

static void around_finish(Stage *stage)
{
    const float box = stage_feet(stage, around.boxes).z;
    const float cylinder = stage_feet(stage, around.cylinder).z;
    const float voxels = stage_feet(stage, around.voxels).z;
    stage_expect(stage, box > 4, "got round the box only to %.3f", (double)box);
    stage_expect(stage, cylinder > 4, "got round the cylinder only to %.3f", (double)cylinder);
    stage_expect(stage, voxels > 4, "got round the voxels only to %.3f", (double)voxels);
}

// --- round --------------------------------------------------------------------------------------
static struct {
    Handle on_ball, over_log, on_drum, past_ball, on_lying;
    float log_top;
} round_;

static void round_build(Stage *stage)
{
    memset(&round_, 0, sizeof round_);
    stage_ground(stage, 32);
    (void)stage_part(stage, part_sphere(vec3(0, 1, 0), 2));
    const float log = stage->config.character.step_height * 0.45f;
    (void)stage_part(stage,
                     part_turned(part_cylinder(vec3(8, log, 0), log, 3), vec3(0, 0, 1), 1.5708f));
    (void)stage_part(stage, part_cylinder(vec3(16, 1, 0), 2, 1));
    (void)stage_part(stage, part_sphere(vec3(-8, 1, 0), 1));
    (void)stage_part(stage,
                     part_turned(part_cylinder(vec3(-16, 1, 0), 1.5f, 4), vec3(0, 0, 1), 1.5708f));
    (void)stage_part(stage, part_turned(part_cylinder(vec3(-16, 1, 8), 1, 3), vec3(1, 0, 1), 0.5f));
    stage_open(stage);
    round_.on_ball = stage_player(stage, vec3(0.4f, 6, 0.2f));
    round_.over_log = stage_player(stage, vec3(8, 0, -5));
    round_.on_drum = stage_player(stage, vec3(16, 5, 0));
    round_.past_ball = stage_player(stage, vec3(-8.3f, 0, -5));
    round_.on_lying = stage_player(stage, vec3(-16, 5, 1.2f));
}

static void round_drive(Stage *stage)
{
    stage_stand(stage, round_.on_ball);
    stage_walk(stage, round_.over_log, vec3(0, 0, 1), 0);
    stage_walk(stage, round_.on_drum,
               stage->tick < 120 || stage->tick > 220 ? VEC3_ZERO : vec3(1, 0, 0), 0);
    stage_walk(stage, round_.past_ball, vec3(0, 0, 1), 0);
    stage_stand(stage, round_.on_lying);
    round_.log_top = math_max(round_.log_top, stage_feet(stage, round_.over_log).y);
    if (stage->tick == 119) {
        stage_expect_near(stage, "the height on the drum", stage_feet(stage, round_.on_drum).y, 2,
                          0.02f);
    }
}

static void round_finish(Stage *stage)
{
    const float log = stage->config.character.step_height * 0.9f;
    stage_expect_near(stage, "the highest point over the log", round_.log_top, log, 0.06f);
    stage_expect(stage, stage_feet(stage, round_.over_log).z > 3, "the log was not crossed");
    stage_expect_near(stage, "the height after the drum", stage_feet(stage, round_.on_drum).y, 0,
                      0.02f);
    stage_expect(stage, stage_feet(stage, round_.past_ball).z > 3, "the ball was not passed");
    const Vec3 ball = stage_feet(stage, round_.on_ball);
    stage_expect_near(stage, "the top of the ball", ball.y, 3, 0.15f);
    const Vec3 lying = stage_feet(stage, round_.on_lying);
    stage_expect_near(stage, "the height after sliding off", lying.y, 0, 0.02f);
}

// --- ceilings -----------------------------------------------------------------------------------
static struct {
    Handle jumper, crawler, too_tall, wedged, voxel_jumper;
    float jumper_top, voxel_top;
} ceilings;

#define CEILING_GAP 0.5f

static void ceilings_build(Stage *stage)
{
    memset(&ceilings, 0, sizeof ceilings);
    const float tall = stage->config.character.height;
    stage_ground(stage, 32);
    (void)stage_part(stage, part_box(vec3(0, tall + CEILING_GAP + 0.25f, 0), vec3(3, 0.25f, 3)));
    (void)stage_part(stage, part_box(vec3(10, tall + 0.52f, 0), vec3(3, 0.5f, 3)));
    (void)stage_part(stage, part_box(vec3(20, tall + 0.45f, 0), vec3(3, 0.5f, 3)));
    // The slope of a wedge turned upside down comes lower and lower.
    (void)stage_part(
        stage, part_turned(part_wedge(vec3(-10, 2, 0), vec3(3, 1, 4), 0), vec3(0, 0, 1), MATH_PI));
    stage_terrain(stage, (VoxelCoord){-22, 2, -2}, (VoxelCoord){-18, 2, 2}, 3);
    stage_open(stage);
    ceilings.jumper = stage_player(stage, vec3(0, 0, 0));
    ceilings.crawler = stage_player(stage, vec3(10, 0, -6));
    ceilings.too_tall = stage_player(stage, vec3(20, 0, -6));
    ceilings.wedged = stage_player(stage, vec3(-10, 0, -8));
    ceilings.voxel_jumper = stage_player(stage, vec3(-20, 0, 0));
}

static void ceilings_drive(Stage *stage)
{
    const uint32_t jump = stage->tick % 40 < 2 ? INPUT_JUMP : 0u;
    stage_walk(stage, ceilings.jumper, VEC3_ZERO, jump);
    stage_walk(stage, ceilings.crawler, vec3(0, 0, 1), jump);
    stage_walk(stage, ceilings.too_tall, vec3(0, 0, 1), INPUT_RUN);
    stage_walk(stage, ceilings.wedged, vec3(0, 0, 1), jump | INPUT_RUN);
    stage_walk(stage, ceilings.voxel_jumper, VEC3_ZERO, jump);
    ceilings.jumper_top = math_max(ceilings.jumper_top, stage_feet(stage, ceilings.jumper).y);
    ceilings.voxel_top = math_max(ceilings.voxel_top, stage_feet(stage, ceilings.voxel_jumper).y);
}

static void ceilings_finish(Stage *stage)
{
    const float tall = stage->config.character.height;
    stage_expect_near(stage, "the jump under a part", ceilings.jumper_top, CEILING_GAP, 0.03f);
    stage_expect_near(stage, "the jump under voxels", ceilings.voxel_top, 2 - tall, 0.03f);
    stage_expect(stage, stage_feet(stage, ceilings.crawler).z > 4, "the low passage is closed");
    stage_expect(stage, stage_feet(stage, ceilings.too_tall).z < -2.9f,
                 "the passage that is too low is open");
    stage_expect(stage, stage_feet(stage, ceilings.wedged).z < 3, "went through the wedge");
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

static void funnel_build(Stage *stage)
{
    memset(&funnel, 0, sizeof funnel);
    stage_ground(stage, 24);
    (void)stage_part(
        stage, part_turned(part_box(vec3(0, 3.2f, 0), vec3(8, 0.5f, 16)), vec3(0, 0, 1), -0.6f));
    stage_open(stage);
    for (int i = 0; i < FUNNEL_FLYERS; i++) {
        funnel.flyers[i] = stage_player(stage, vec3(-12, 0, 3 * (float)i - 14));
    }
}

static void funnel_drive(Stage *stage)
{
    for (int i = 0; i < FUNNEL_FLYERS; i++) {
        stage_stand(stage, funnel.flyers[i]);
        const Vec3 feet = stage_feet(stage, funnel.flyers[i]);
        funnel.farthest = math_max(funnel.farthest, feet.x);
        if (stage->tick % FUNNEL_ROUND == 10) {
            // Just off the ground, and just before the ceiling.
            const float height = 0.08f + 0.02f * (float)i;
            const float gap = 0.3f + 0.0005f * (float)stage->tick;
            const float ceiling = 2.5f - stage->config.character.height - height;
            const float speed = 50 + 0.02f * (float)stage->tick;
            const Vec3 at = vec3(ceiling / 0.684f - gap, height, 3 * (float)i - 14);
            stage_expect_ok(stage, "place", sim_set_position(stage->sim, funnel.flyers[i], at));
            stage_expect_ok(stage, "launch",
                            sim_set_velocity(stage->sim, funnel.flyers[i], vec3(speed, 1, 0)));
        }
    }
}

static void funnel_finish(Stage *stage)
{
    stage_expect(stage, funnel.farthest > 0 && funnel.farthest < 5, "got to %.3f",
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
