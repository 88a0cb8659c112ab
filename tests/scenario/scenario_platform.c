// Moving parts: characters on them are carried, characters in their way are pushed or crushed.
#include "tests/scenario/scenario.h"

#include <string.h>

static const Vec3 STILL = {0, 0, 0};

// --- lift ---------------------------------------------------------------------------------------
#define LIFT_RISE  6.0f
#define LIFT_TOP   0.5f // of the platform at rest
#define LIFT_TICKS 660

static struct {
    Handle platform;
    Handle stander, walker, jumper, below;
    float stander_top;
    uint32_t airborne_count;
    float worst_offset; // of the stander's feet over the platform, after the first second
} lift;

static void lift_build(ScenarioWorld *world)
{
    memset(&lift, 0, sizeof lift);
    scenario_ground(world, 16);
    scenario_open(world);
    lift.platform =
        scenario_spawn(world, part_box(vec3(0, LIFT_TOP - 0.25f, 0), vec3(3, 0.25f, 3)));
    lift.stander = scenario_player(world, vec3(0, LIFT_TOP, 0));
    lift.walker = scenario_player(world, vec3(1, LIFT_TOP, 1));
    lift.jumper = scenario_player(world, vec3(-2, LIFT_TOP, -2));
    lift.below = scenario_player(world, vec3(6, 0, 0));
    scenario_move(world, lift.platform, STILL, STILL, 30);
    scenario_move(world, lift.platform, vec3(0, 2, 0), STILL, 180); // to 6 m
    scenario_move(world, lift.platform, STILL, STILL, 60);
    scenario_move(world, lift.platform, vec3(0, -3, 0), STILL, 120); // and back
}

static void lift_drive(ScenarioWorld *world)
{
    const float second = (float)world->tick * sim_tick_seconds(world->sim);
    scenario_stand(world, lift.stander);
    scenario_walk(world, lift.walker, vec3(math_cos(second * 5), 0, math_sin(second * 5)), 0);
    scenario_walk(world, lift.jumper, STILL, world->tick % 50 < 3 ? INPUT_JUMP : 0u);
    // Under the platform only while it is up, and out again before it comes down.
    const bool dares = world->tick > 120 && world->tick < 180;
    scenario_walk(world, lift.below, dares ? vec3(-1, 0, 0) : vec3(1, 0, 0), INPUT_RUN);

    if (world->tick % 40 == 0) {
        // The world changes somewhere else: that is nothing to those who ride.
        const VoxelCoord at = {15, 1, (int32_t)(world->tick / 40) - 15};
        scenario_expect_ok(world, "edit", terrain_set(sim_terrain(world->sim), at, 2, NULL));
    }
    const Entity *stander = scenario_at(world, lift.stander);
    lift.stander_top = math_max(lift.stander_top, stander->position.y);
    if (world->tick > 60) {
        lift.airborne_count += !stander->character.grounded;
        const float top = scenario_feet(world, lift.platform).y + 0.25f;
        lift.worst_offset = math_max(lift.worst_offset, math_abs(stander->position.y - top));
    }
}

static void lift_finish(ScenarioWorld *world)
{
    scenario_expect_near(world, "the stander's highest point", lift.stander_top,
                         LIFT_TOP + LIFT_RISE, 0.05f);
    scenario_expect_near(world, "the stander's last height", scenario_feet(world, lift.stander).y,
                         LIFT_TOP, 0.05f);
    scenario_expect(world, lift.airborne_count == 0, "the stander lost the ground %u times",
                    lift.airborne_count);
    scenario_expect(world, lift.worst_offset < 0.05f, "the stander was %.3f m off the platform",
                    (double)lift.worst_offset);
    const Vec3 stander = scenario_feet(world, lift.stander);
    scenario_expect(world, stander.x == 0 && stander.z == 0, "the stander drifted to %.4f %.4f",
                    (double)stander.x, (double)stander.z);
    scenario_expect_near(world, "the walker's height", scenario_feet(world, lift.walker).y,
                         LIFT_TOP, 0.05f);
    scenario_expect(world, scenario_total(world, SIM_EVENT_JUMPED) >= 8,
                    "the jumper jumped %llu times",
                    (unsigned long long)scenario_total(world, SIM_EVENT_JUMPED));
    scenario_expect(world, scenario_total(world, SIM_EVENT_CRUSHED) == 0, "somebody was crushed");
}

// --- shuttle ------------------------------------------------------------------------------------
#define SHUTTLE_SPEED 5.0f
#define SHUTTLE_TRIP  150

static struct {
    Handle platform;
    Handle stander, walker, jumper, left_behind;
    float worst_drift;
    float jumper_worst;
} shuttle;

static void shuttle_build(ScenarioWorld *world)
{
    memset(&shuttle, 0, sizeof shuttle);
    scenario_ground(world, 24);
    scenario_open(world);
    shuttle.platform = scenario_spawn(world, part_box(vec3(-6, 0.2f, 0), vec3(3, 0.2f, 3)));
    shuttle.stander = scenario_player(world, vec3(-6, 0.4f, 0));
    shuttle.walker = scenario_player(world, vec3(-6, 0.4f, 2));
    shuttle.jumper = scenario_player(world, vec3(-6, 0.4f, -2));
    shuttle.left_behind = scenario_player(world, vec3(-6, 0, -6));
    scenario_move(world, shuttle.platform, STILL, STILL, 10);
}

static void shuttle_drive(ScenarioWorld *world)
{
    // There and back without end, each trip announced one ahead.
    if (world->tick % SHUTTLE_TRIP == 0) {
        const float way = world->tick / SHUTTLE_TRIP % 2 == 0 ? 1.0f : -1.0f;
        scenario_move(world, shuttle.platform, vec3(SHUTTLE_SPEED * way, 0, way), STILL,
                      SHUTTLE_TRIP);
    }
    scenario_stand(world, shuttle.stander);
    scenario_walk(world, shuttle.walker, vec3(world->tick / 20 % 2 == 0 ? 1.0f : -1.0f, 0, 0), 0);
    scenario_walk(world, shuttle.jumper, STILL, world->tick == 60 ? INPUT_JUMP : 0u);
    const Vec3 centre = scenario_feet(world, shuttle.platform);
    const Vec3 stander = scenario_feet(world, shuttle.stander);
    shuttle.worst_drift = math_max(shuttle.worst_drift, scenario_distance_flat(stander, centre));
    if (world->tick <= 150) {
        const Vec3 seat = vec3_add(centre, vec3(0, 0, -2));
        shuttle.jumper_worst =
            math_max(shuttle.jumper_worst,
                     scenario_distance_flat(scenario_feet(world, shuttle.jumper), seat));
    }
}

static void shuttle_finish(ScenarioWorld *world)
{
    scenario_expect(world, shuttle.worst_drift < 0.1f, "the stander drifted %.3f m",
                    (double)shuttle.worst_drift);
    scenario_expect(world, shuttle.jumper_worst < 0.5f, "the jumper came down %.3f m off",
                    (double)shuttle.jumper_worst);
    scenario_expect(world, scenario_total(world, SIM_EVENT_JUMPED) == 1, "not one jump");
    const Vec3 behind = scenario_feet(world, shuttle.left_behind);
    scenario_expect(world, behind.x == -6 && behind.z == -6, "the one on the ground was moved");
    scenario_expect_near(world, "the walker's height", scenario_feet(world, shuttle.walker).y, 0.4f,
                         0.05f);
}

// --- turntable ----------------------------------------------------------------------------------
#define TURN_SPEED 0.8f // rad/s
#define TURN_TICKS 472  // a little more than once round

static struct {
    Handle table, seesaw;
    Handle riders[3];
    Handle tilted;
    float radius_worst;
    float tilted_low;
} turn;

static float turn_radius(int i)
{
    return 1.5f + (float)i * 1.7f;
}

static void turn_build(ScenarioWorld *world)
{
    memset(&turn, 0, sizeof turn);
    scenario_ground(world, 24);
    scenario_open(world);
    turn.table = scenario_spawn(world, part_cylinder(vec3(0, 0.25f, 0), 6, 0.25f));
    for (int i = 0; i < 3; i++) {
        turn.riders[i] = scenario_player(world, vec3(turn_radius(i), 0.5f, 0));
    }
    turn.seesaw = scenario_spawn(world, part_box(vec3(0, 3, 14), vec3(3, 0.2f, 2)));
    turn.tilted = scenario_player(world, vec3(2, 3.2f, 14));
    scenario_move(world, turn.table, STILL, vec3(0, TURN_SPEED, 0), TURN_TICKS);
    // Tips slowly until nobody can stand on it any more.
    scenario_move(world, turn.seesaw, STILL, STILL, 60);
    scenario_move(world, turn.seesaw, STILL, vec3(0, 0, 0.3f), 240);
    turn.tilted_low = 100;
}

static void turn_drive(ScenarioWorld *world)
{
    for (int i = 0; i < 3; i++) {
        scenario_stand(world, turn.riders[i]);
        const float r = scenario_distance_flat(scenario_feet(world, turn.riders[i]), STILL);
        turn.radius_worst = math_max(turn.radius_worst, math_abs(r - turn_radius(i)));
    }
    scenario_stand(world, turn.tilted);
    turn.tilted_low = math_min(turn.tilted_low, scenario_feet(world, turn.tilted).y);
}

static void turn_finish(ScenarioWorld *world)
{
    scenario_expect(world, turn.radius_worst < 0.1f, "a rider was %.3f m off his circle",
                    (double)turn.radius_worst);
    const float angle = math_wrap_angle(TURN_SPEED * TURN_TICKS * sim_tick_seconds(world->sim));
    for (int i = 0; i < 3; i++) {
        const Vec3 feet = scenario_feet(world, turn.riders[i]);
        const float found = math_atan2(-feet.z, feet.x);
        scenario_expect(world, math_abs(math_wrap_angle(found - angle)) < 0.08f,
                        "rider %d is at angle %.3f, the table at %.3f", i, (double)found,
                        (double)angle);
    }
    scenario_expect(world, turn.tilted_low < 0.5f, "the see-saw did not throw off its rider (%.3f)",
                    (double)turn.tilted_low);
}

// --- squeeze ------------------------------------------------------------------------------------
static struct {
    Handle press, hammer;
    Handle victim, lucky, flattened, beside;
    uint32_t crushed_victim, crushed_flattened;
} squeeze;

static void squeeze_build(ScenarioWorld *world)
{
    memset(&squeeze, 0, sizeof squeeze);
    world->may_overlap = true; // a crushed character has no free place
    scenario_ground(world, 24);
    (void)scenario_part(world, part_box(vec3(0, 1.5f, 4), vec3(4, 1.5f, 0.5f)));
    scenario_open(world);
    squeeze.press = scenario_spawn(world, part_box(vec3(0, 1.5f, -3), vec3(3, 1.5f, 0.5f)));
    squeeze.hammer = scenario_spawn(world, part_box(vec3(12, 6, 0), vec3(2, 0.5f, 2)));
    squeeze.victim = scenario_player(world, vec3(0, 0, 1));
    squeeze.lucky = scenario_player(world, vec3(2.5f, 0, 1));
    squeeze.flattened = scenario_player(world, vec3(12, 0, 0));
    squeeze.beside = scenario_player(world, vec3(12, 0, 5));
    scenario_move(world, squeeze.press, vec3(0, 0, 2), STILL, 180); // ends touching the wall
    scenario_move(world, squeeze.press, vec3(0, 0, -2), STILL, 120);
    scenario_move(world, squeeze.hammer, vec3(0, -4, 0), STILL, 75);
    scenario_move(world, squeeze.hammer, vec3(0, 4, 0), STILL, 75);
}

static void squeeze_drive(ScenarioWorld *world)
{
    scenario_stand(world, squeeze.victim);
    scenario_stand(world, squeeze.flattened);
    scenario_stand(world, squeeze.beside);
    scenario_walk(world, squeeze.lucky, vec3(1, 0, 0), world->tick < 160 ? INPUT_RUN : 0u);
    squeeze.crushed_victim +=
        scenario_seen(world, SIM_EVENT_CRUSHED, scenario_net_id(world, squeeze.victim), 0);
    squeeze.crushed_flattened +=
        scenario_seen(world, SIM_EVENT_CRUSHED, scenario_net_id(world, squeeze.flattened), 0);
}

static void squeeze_finish(ScenarioWorld *world)
{
    scenario_expect(world, squeeze.crushed_victim > 0, "nobody was crushed against the wall");
    scenario_expect(world, squeeze.crushed_flattened > 0, "nobody was crushed against the ground");
    const float depth = sim_penetration(world->sim, scenario_feet(world, squeeze.lucky));
    scenario_expect(world, depth < 0.001f, "the one who ran away is inside something");
    const Vec3 beside = scenario_feet(world, squeeze.beside);
    scenario_expect(world, beside.x == 12 && beside.z == 5, "the one beside was moved");
}

// --- doors --------------------------------------------------------------------------------------
static struct {
    Handle slider, revolving;
    Handle pushed, in_arm, passer;
    Vec3 pushed_from, in_arm_from;
    float in_arm_way;
} doors;

static void doors_build(ScenarioWorld *world)
{
    memset(&doors, 0, sizeof doors);
    scenario_ground(world, 24);
    (void)scenario_part(world, part_box(vec3(-6, 1.5f, 0.6f), vec3(4, 1.5f, 0.2f)));
    scenario_open(world);
    doors.slider = scenario_spawn(world, part_box(vec3(-14, 1.25f, 0), vec3(2, 1.25f, 0.15f)));
    doors.revolving = scenario_spawn(world, part_box(vec3(8, 1.25f, 0), vec3(3, 1.25f, 0.1f)));
    doors.pushed = scenario_player(world, doors.pushed_from = vec3(-11, 0, 0));
    doors.in_arm = scenario_player(world, doors.in_arm_from = vec3(10, 0, 1));
    doors.passer = scenario_player(world, vec3(4, 0, 4));
    scenario_move(world, doors.slider, STILL, STILL, 30);
    scenario_move(world, doors.slider, vec3(3, 0, 0), STILL, 200);
    scenario_move(world, doors.revolving, STILL, vec3(0, -1.2f, 0), 600);
}

static void doors_drive(ScenarioWorld *world)
{
    scenario_stand(world, doors.pushed);
    scenario_stand(world, doors.in_arm);
    // Walks through the revolving door and back, again and again.
    scenario_walk(world, doors.passer, world->tick / 90 % 2 == 0 ? vec3(1, 0, -1) : vec3(-1, 0, 1),
                  0);
    doors.in_arm_way += vec3_length(scenario_at(world, doors.in_arm)->velocity) > 0 ? 1.0f : 0.0f;
}

static void doors_finish(ScenarioWorld *world)
{
    const Vec3 pushed = scenario_feet(world, doors.pushed);
    scenario_expect(world, pushed.x > doors.pushed_from.x + 5 || math_abs(pushed.z) > 0.4f,
                    "the sliding door left the player at %.3f %.3f", (double)pushed.x,
                    (double)pushed.z);
    const float moved =
        scenario_distance_flat(scenario_feet(world, doors.in_arm), doors.in_arm_from);
    scenario_expect(world, moved > 0.5f, "the revolving door moved the player %.3f m",
                    (double)moved);
    scenario_expect_near(world, "the height of the pushed", pushed.y, 0, 0.05f);
}

// --- remodel ------------------------------------------------------------------------------------
// The scene is changed while it is played: anchored parts hidden, thawed, moved, turned, changed.
#define REMODEL_LANES 6

static struct {
    uint64_t walls[REMODEL_LANES];
    Handle walkers[REMODEL_LANES];
    Handle thawed, dropped, prop, buried;
} remodel;

static float remodel_x(int lane)
{
    return (float)lane * 6 - 15;
}

static void remodel_build(ScenarioWorld *world)
{
    memset(&remodel, 0, sizeof remodel);
    scenario_ground(world, 32);
    for (int i = 0; i < REMODEL_LANES; i++) {
        remodel.walls[i] =
            scenario_part(world, part_box(vec3(remodel_x(i), 1.5f, 0), vec3(2, 1.5f, 0.3f)));
    }
    scenario_open(world);
    for (int i = 0; i < REMODEL_LANES; i++) {
        remodel.walkers[i] = scenario_player(world, vec3(remodel_x(i), 0, -4));
    }
    remodel.dropped = scenario_spawn(world, part_box(vec3(20, 8, 0), vec3(1.5f, 0.5f, 1.5f)));
    remodel.buried = scenario_player(world, vec3(20, 0, 0));
    const ShapeDesc prop = {.part = part_box(vec3(remodel_x(5), 1, -2), vec3(2, 1, 0.3f))};
    scenario_expect_ok(world, "prop", sim_spawn_prop(world->sim, &prop, &remodel.prop));
}

// Lane 0 stays as it is. The wall of lane 1 is hidden, 2 becomes a lift gate, 3 a turnstile, 4 a
// ghost, 5 is taken away.
static void remodel_change(ScenarioWorld *world)
{
    Handle wall = HANDLE_NONE;
    scenario_expect_ok(world, "hide", sim_hide_part(world->sim, remodel.walls[1]));
    scenario_expect_ok(world, "thaw", sim_thaw_part(world->sim, remodel.walls[2], &remodel.thawed));
    scenario_move(world, remodel.thawed, vec3(0, 2, 0), STILL, 120);
    scenario_expect_ok(world, "thaw", sim_thaw_part(world->sim, remodel.walls[3], &wall));
    scenario_expect_ok(world, "turn",
                       sim_set_rotation(world->sim, wall, quat_from_yaw(MATH_PI * 0.5f)));
    scenario_expect_ok(world, "shift",
                       sim_set_position(world->sim, wall, vec3(remodel_x(3) + 2, 1.5f, 0)));
    scenario_expect_ok(world, "thaw", sim_thaw_part(world->sim, remodel.walls[4], &wall));
    const PartData ghost = {.flags = PART_GHOST};
    scenario_expect_ok(world, "ghost", sim_set_part_data(world->sim, wall, &ghost));
    scenario_expect_ok(world, "thaw", sim_thaw_part(world->sim, remodel.walls[5], &wall));
    sim_remove(world->sim, wall);
    // Onto somebody's head: he comes out on top.
    scenario_expect_ok(world, "drop",
                       sim_set_position(world->sim, remodel.dropped, vec3(20, 0.5f, 0)));
}

static void remodel_drive(ScenarioWorld *world)
{
    for (int i = 0; i < REMODEL_LANES; i++) {
        const bool through = scenario_feet(world, remodel.walkers[i]).z > 8;
        scenario_walk(world, remodel.walkers[i], through ? STILL : vec3(0, 0, 1), 0);
        if (world->tick == 149) {
            const float z = scenario_feet(world, remodel.walkers[i]).z;
            scenario_expect(world, z < -0.6f, "wall %d let somebody pass before: %.3f", i,
                            (double)z);
        }
    }
    scenario_stand(world, remodel.buried);
    if (world->tick == 150) {
        remodel_change(world);
    }
}

static void remodel_finish(ScenarioWorld *world)
{
    scenario_expect(world, scenario_feet(world, remodel.walkers[0]).z < -0.6f, "the wall is gone");
    for (int i = 1; i < REMODEL_LANES; i++) {
        const float z = scenario_feet(world, remodel.walkers[i]).z;
        scenario_expect(world, z > 8, "wall %d still blocks at %.3f", i, (double)z);
    }
    scenario_expect_near(world, "the height of who was buried",
                         scenario_feet(world, remodel.buried).y, 1, 0.01f);
    scenario_expect_near(world, "the height of the gate", scenario_feet(world, remodel.thawed).y,
                         5.5f, 0.01f);
    // What is left of the scene, seen by a ray along all walls.
    const SimRay ray = {.origin = vec3(-25, 1, 0),
                        .direction = vec3(1, 0, 0),
                        .distance_max = 60,
                        .type_mask = ENTITY_MASK(ENTITY_PART)};
    SimRayHit hit = {0};
    scenario_expect(world, sim_ray(world->sim, &ray, &hit) && hit.net_id == remodel.walls[0],
                    "the ray meets %llu", (unsigned long long)hit.net_id);
}

// --- glide --------------------------------------------------------------------------------------
// What scripts ask for: to be at a place after so many ticks, to drift, and to stop.
enum { GLIDES, TURNS, DRIFTS, STOPS, RETURNS, JUMPS, GLIDE_COUNT };

static struct {
    Handle parts[GLIDE_COUNT], riders[GLIDE_COUNT];
} glide;

static void glide_build(ScenarioWorld *world)
{
    memset(&glide, 0, sizeof glide);
    scenario_ground(world, 32);
    scenario_open(world);
    for (int i = 0; i < GLIDE_COUNT; i++) {
        const Vec3 at = vec3(0, 0.25f, (float)i * 8 - 16);
        glide.parts[i] = scenario_spawn(world, part_box(at, vec3(2, 0.25f, 2)));
        glide.riders[i] = scenario_player(world, vec3_add(at, vec3(1, 0.25f, 0)));
    }
}

static void glide_start(ScenarioWorld *world)
{
    const Quat straight = QUAT_IDENTITY;
    const Pose up = {vec3(7, 3, -16), straight};
    const Quat yaw = quat_from_yaw(2);
    // The same rotation has two names; either way it is the shorter turn.
    const Pose turned = {vec3(0, 0.25f, -8), {-yaw.x, -yaw.y, -yaw.z, -yaw.w}};
    const Pose away = {vec3(-9, 0.25f, 16), straight};
    scenario_expect_ok(world, "glide", sim_glide_part(world->sim, glide.parts[GLIDES], up, 123));
    scenario_expect_ok(world, "turn", sim_glide_part(world->sim, glide.parts[TURNS], turned, 100));
    scenario_expect_ok(world, "drift",
                       sim_drift_part(world->sim, glide.parts[DRIFTS], vec3(1, 0, 0)));
    scenario_expect_ok(world, "drift",
                       sim_drift_part(world->sim, glide.parts[STOPS], vec3(0, 1, 0)));
    scenario_expect_ok(world, "glide", sim_glide_part(world->sim, glide.parts[RETURNS], away, 200));
    // A segment that begins elsewhere puts the part there; nobody goes with it.
    const MotionSegment elsewhere = {.pose = {vec3(8, 0.25f, 24), QUAT_IDENTITY},
                                     .velocity = vec3(0, 1, 0),
                                     .tick_from = sim_tick(world->sim) + 20,
                                     .tick_to = sim_tick(world->sim) + 80};
    scenario_expect_ok(world, "jump", sim_move_part(world->sim, glide.parts[JUMPS], &elsewhere));
    const Status fast = sim_glide_part(world->sim, glide.parts[RETURNS], away, 1);
    scenario_expect(world, fast == STATUS_RANGE, "nine metres in one tick: %s", status_name(fast));
}

static void glide_drive(ScenarioWorld *world)
{
    for (int i = 0; i < GLIDE_COUNT; i++) {
        scenario_stand(world, glide.riders[i]);
    }
    if (world->tick == 30) {
        glide_start(world);
    } else if (world->tick == 100) {
        // In the middle of its way, another goal.
        const Pose back = {vec3(0, 0.25f, 16), QUAT_IDENTITY};
        scenario_expect_ok(world, "again",
                           sim_glide_part(world->sim, glide.parts[RETURNS], back, 60));
        scenario_expect_ok(world, "stop", sim_stop_part(world->sim, glide.parts[STOPS]));
    }
}

static void glide_finish(ScenarioWorld *world)
{
    const Vec3 at = scenario_feet(world, glide.parts[GLIDES]);
    scenario_expect(world, vec3_equal(at, vec3(7, 3, -16)), "glided to %.5f %.5f %.5f",
                    (double)at.x, (double)at.y, (double)at.z);
    const Quat rotation = scenario_at(world, glide.parts[TURNS])->rotation;
    const float over = math_wrap_angle(2 * math_atan2(rotation.y, rotation.w) - 2);
    scenario_expect_near(world, "the turn, beyond 2", over, 0, 0.0001f);
    const Vec3 stays = scenario_feet(world, glide.riders[JUMPS]);
    scenario_expect(world, stays.x == 1 && stays.y < 0.01f, "a jump took somebody to %.3f %.3f",
                    (double)stays.x, (double)stays.y);
    scenario_expect_near(world, "the drift", scenario_feet(world, glide.parts[DRIFTS]).x,
                         270.0f / 60, 0.05f);
    scenario_expect_near(world, "the height of the stop",
                         scenario_feet(world, glide.parts[STOPS]).y, 0.25f + 70.0f / 60, 0.05f);
    scenario_expect_near(world, "the replaced glide", scenario_feet(world, glide.parts[RETURNS]).x,
                         0, 0);
    for (int i = 0; i < JUMPS; i++) {
        const Vec3 part = scenario_feet(world, glide.parts[i]);
        const Vec3 rider = scenario_feet(world, glide.riders[i]);
        scenario_expect_near(world, "a rider's height", rider.y, part.y + 0.25f, 0.02f);
        scenario_expect_near(world, "a rider's place", scenario_distance_flat(rider, part), 1,
                             0.05f);
    }
}

const Scenario scenarios_platform[] = {
    {"lift", "a lift carries one who stands, one who walks and one who jumps 6 m up and back",
     LIFT_TICKS, lift_build, lift_drive, lift_finish},
    {"shuttle", "a platform goes there and back; its riders stay on it", 600, shuttle_build,
     shuttle_drive, shuttle_finish},
    {"turntable", "riders turn with a table; a see-saw tips until its rider slides off", 472,
     turn_build, turn_drive, turn_finish},
    {"squeeze", "a press against a wall and a hammer crush who stays; who runs away lives", 360,
     squeeze_build, squeeze_drive, squeeze_finish},
    {"doors", "a sliding and a revolving door push who stands in their way", 480, doors_build,
     doors_drive, doors_finish},
    {"remodel", "anchored parts are hidden, thawed, moved, turned and made ghosts", 480,
     remodel_build, remodel_drive, remodel_finish},
    {"glide", "parts glide to places, drift, stop and are sent elsewhere, with riders", 300,
     glide_build, glide_drive, glide_finish},
    {0},
};
