// Ground that is not level: stairs, wedges that characters can walk up, and slopes that they
// cannot.
#include "tests/scenario/scenario.h"

#include <string.h>

// --- stairs -------------------------------------------------------------------------------------
#define STEP_COUNT 12
#define STEP_DEPTH 0.5f

static struct {
    float rise;
    Handle walker, runner, turned, blocked, coming_down;
    float walker_top, runner_top, turned_top, blocked_top;
    uint32_t down_airborne;
} stairs;

static void stairs_flight(ScenarioWorld *world, Vec3 foot, float rise, float yaw)
{
    const Quat turn = quat_from_yaw(yaw);
    for (int i = 0; i < STEP_COUNT; i++) {
        const float height = rise * (float)(i + 1);
        const float depth = i == STEP_COUNT - 1 ? 4.0f : STEP_DEPTH; // a landing at the top
        const Vec3 middle = vec3(0, height * 0.5f, STEP_DEPTH * (float)i + depth * 0.5f);
        PartDesc step = part_box(vec3_add(foot, quat_rotate(turn, middle)),
                                 vec3(1.5f, height * 0.5f, depth * 0.5f));
        step.pose.rotation = turn;
        (void)scenario_part(world, step);
    }
}

static void stairs_build(ScenarioWorld *world)
{
    memset(&stairs, 0, sizeof stairs);
    scenario_ground(world, 32);
    stairs.rise = world->config.character.step_height * 0.8f;
    stairs_flight(world, vec3(0, 0, 0), stairs.rise, 0);
    stairs_flight(world, vec3(6, 0, 0), stairs.rise, 0);
    stairs_flight(world, vec3(14, 0, 0), stairs.rise, 0.6f);
    stairs_flight(world, vec3(-6, 0, 0), world->config.character.step_height * 1.3f, 0);
    stairs_flight(world, vec3(-12, 0, 0), stairs.rise, 0);
    scenario_open(world);
    stairs.walker = scenario_player(world, vec3(0, 0, -2));
    stairs.runner = scenario_player(world, vec3(6, 0, -2));
    stairs.turned = scenario_player(world, vec3(14 - 1.1f, 0, -1.7f));
    stairs.blocked = scenario_player(world, vec3(-6, 0, -2));
    stairs.coming_down = scenario_player(world, vec3(-12, stairs.rise * STEP_COUNT, 8));
}

static void stairs_drive(ScenarioWorld *world)
{
    const Vec3 up = vec3(0, 0, 1);
    const bool climbs = world->tick < 200;
    scenario_walk(world, stairs.walker, climbs ? up : vec3_neg(up), 0);
    scenario_walk(world, stairs.runner, climbs ? up : vec3_neg(up), INPUT_RUN);
    scenario_walk(world, stairs.turned, climbs ? quat_rotate(quat_from_yaw(0.6f), up) : VEC3_ZERO,
                  0);
    scenario_walk(world, stairs.blocked, up, 0);
    scenario_walk(world, stairs.coming_down, vec3_neg(up), 0);
    stairs.walker_top = math_max(stairs.walker_top, scenario_feet(world, stairs.walker).y);
    stairs.runner_top = math_max(stairs.runner_top, scenario_feet(world, stairs.runner).y);
    stairs.turned_top = math_max(stairs.turned_top, scenario_feet(world, stairs.turned).y);
    stairs.blocked_top = math_max(stairs.blocked_top, scenario_feet(world, stairs.blocked).y);
    stairs.down_airborne +=
        world->tick > 10 && !scenario_at(world, stairs.coming_down)->character.grounded;
}

static void stairs_finish(ScenarioWorld *world)
{
    const float top = stairs.rise * STEP_COUNT;
    scenario_expect_near(world, "the walker's top", stairs.walker_top, top, 0.05f);
    scenario_expect_near(world, "the runner's top", stairs.runner_top, top, 0.05f);
    scenario_expect_near(world, "the top of the turned flight", stairs.turned_top, top, 0.05f);
    scenario_expect_near(world, "the walker's end", scenario_feet(world, stairs.walker).y, 0,
                         0.05f);
    scenario_expect_near(world, "the end of who came down",
                         scenario_feet(world, stairs.coming_down).y, 0, 0.05f);
    scenario_expect(world, stairs.blocked_top < 0.1f, "steps too high were climbed to %.3f m",
                    (double)stairs.blocked_top);
    scenario_expect(world, stairs.down_airborne == 0, "lost the ground %u times on the way down",
                    stairs.down_airborne);
}

// --- wedges -------------------------------------------------------------------------------------
#define WEDGE_COUNT 4

static struct {
    Handle walkers[WEDGE_COUNT];
    Handle standers[WEDGE_COUNT];
    Vec3 stood[WEDGE_COUNT];
    float top[WEDGE_COUNT];
    uint32_t airborne[WEDGE_COUNT];
} wedges;

// Rise over run: about 14, 27, 35 and 42 degrees.
static const float WEDGE_RISE[WEDGE_COUNT] = {1.5f, 3.0f, 4.2f, 5.4f};

static void wedges_build(ScenarioWorld *world)
{
    memset(&wedges, 0, sizeof wedges);
    scenario_ground(world, 32);
    for (int i = 0; i < WEDGE_COUNT; i++) {
        const float x = (float)i * 8 - 12;
        const float h = WEDGE_RISE[i] * 0.5f;
        (void)scenario_part(world, part_wedge(vec3(x, h, 0), vec3(2, h, 3), 0));
        // A level top, and a wedge down again on the other side.
        (void)scenario_part(world, part_box(vec3(x, h, 5), vec3(2, h, 2)));
        (void)scenario_part(world, part_wedge(vec3(x, h, 10), vec3(2, h, 3), MATH_PI));
    }
    scenario_open(world);
    for (int i = 0; i < WEDGE_COUNT; i++) {
        const float x = (float)i * 8 - 12;
        wedges.walkers[i] = scenario_player(world, vec3(x - 0.5f, 0, -5));
        wedges.standers[i] = scenario_player(world, vec3(x + 1, WEDGE_RISE[i] * 0.5f + 0.4f, 0));
    }
}

static void wedges_drive(ScenarioWorld *world)
{
    for (int i = 0; i < WEDGE_COUNT; i++) {
        const Entity *walker = scenario_at(world, wedges.walkers[i]);
        const bool there = walker->position.z > 16;
        scenario_walk(world, wedges.walkers[i], there ? VEC3_ZERO : vec3(0, 0, 1),
                      i % 2 == 0 ? 0u : INPUT_RUN);
        scenario_stand(world, wedges.standers[i]);
        wedges.top[i] = math_max(wedges.top[i], walker->position.y);
        wedges.airborne[i] += world->tick > 10 && !walker->character.grounded;
        if (world->tick == 60) {
            wedges.stood[i] = scenario_feet(world, wedges.standers[i]);
        }
    }
}

static void wedges_finish(ScenarioWorld *world)
{
    for (int i = 0; i < WEDGE_COUNT; i++) {
        scenario_expect_near(world, "the top of a wedge", wedges.top[i], WEDGE_RISE[i], 0.08f);
        const Vec3 end = scenario_feet(world, wedges.walkers[i]);
        scenario_expect_near(world, "the far side's height", end.y, 0, 0.05f);
        scenario_expect(world, end.z > 13, "walker %d got only to z %.3f", i, (double)end.z);
        scenario_expect(world, i % 2 != 0 || wedges.airborne[i] == 0,
                        "walker %d lost the ground %u times", i, wedges.airborne[i]);
        const float slid =
            scenario_distance(scenario_feet(world, wedges.standers[i]), wedges.stood[i]);
        scenario_expect(world, slid < 0.01f, "stander %d slid %.4f m", i, (double)slid);
        scenario_expect(world, wedges.stood[i].y > WEDGE_RISE[i] * 0.25f, "stander %d fell off", i);
    }
}

// --- steep --------------------------------------------------------------------------------------
static struct {
    Handle climber, jumper, dropped, diagonal;
    float climber_top, jumper_top;
    uint32_t dropped_grounded;
} steep;

static void steep_build(ScenarioWorld *world)
{
    memset(&steep, 0, sizeof steep);
    scenario_ground(world, 32);
    // 60 degrees, and a rotated box leaning at 65.
    (void)scenario_part(world, part_wedge(vec3(0, 4, 0), vec3(8, 4, 2.31f), 0));
    (void)scenario_part(
        world, part_turned(part_box(vec3(20, 0, 0), vec3(4, 0.3f, 8)), vec3(1, 0, 0), -1.134f));
    scenario_open(world);
    steep.climber = scenario_player(world, vec3(-4, 0, -5));
    steep.jumper = scenario_player(world, vec3(0, 0, -5));
    steep.dropped = scenario_player(world, vec3(4, 7, 0.5f));
    steep.diagonal = scenario_player(world, vec3(20, 0, -6));
}

static void steep_drive(ScenarioWorld *world)
{
    scenario_walk(world, steep.climber, vec3(0, 0, 1), INPUT_RUN);
    scenario_walk(world, steep.jumper, vec3(0, 0, 1),
                  INPUT_RUN | (world->tick % 30 < 2 ? INPUT_JUMP : 0u));
    scenario_stand(world, steep.dropped);
    scenario_walk(world, steep.diagonal, vec3(0.7f, 0, 1), 0);
    steep.climber_top = math_max(steep.climber_top, scenario_feet(world, steep.climber).y);
    steep.jumper_top = math_max(steep.jumper_top, scenario_feet(world, steep.jumper).y);
    const Entity *dropped = scenario_at(world, steep.dropped);
    steep.dropped_grounded += dropped->character.grounded && dropped->position.y > 0.5f;
}

static void steep_finish(ScenarioWorld *world)
{
    scenario_expect(world, steep.climber_top < 0.6f, "the steep slope was walked up to %.3f m",
                    (double)steep.climber_top);
    scenario_expect(world, steep.jumper_top < 4.0f, "the steep slope was jumped up to %.3f m",
                    (double)steep.jumper_top);
    scenario_expect(world, steep.dropped_grounded == 0, "stood %u ticks on the steep slope",
                    steep.dropped_grounded);
    const Vec3 end = scenario_feet(world, steep.dropped);
    scenario_expect(world, end.y < 0.05f && end.z < -2, "did not slide down: %.3f %.3f",
                    (double)end.y, (double)end.z);
}

const Scenario scenarios_slope[] = {
    {"stairs", "flights of steps up and down, one turned, one too high", 420, stairs_build,
     stairs_drive, stairs_finish},
    {"wedges", "four wedges that can be walked over; who stands on one stays there", 420,
     wedges_build, wedges_drive, wedges_finish},
    {"steep", "slopes too steep to walk or stand on throw everybody off", 360, steep_build,
     steep_drive, steep_finish},
    {0},
};
