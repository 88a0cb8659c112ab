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

static void lift_build(Stage *stage)
{
    memset(&lift, 0, sizeof lift);
    stage_ground(stage, 16);
    stage_open(stage);
    lift.platform = stage_spawn(stage, part_box(vec3(0, LIFT_TOP - 0.25f, 0), vec3(3, 0.25f, 3)));
    lift.stander = stage_player(stage, vec3(0, LIFT_TOP, 0));
    lift.walker = stage_player(stage, vec3(1, LIFT_TOP, 1));
    lift.jumper = stage_player(stage, vec3(-2, LIFT_TOP, -2));
    lift.below = stage_player(stage, vec3(6, 0, 0));
    stage_move(stage, lift.platform, STILL, STILL, 30);
    stage_move(stage, lift.platform, vec3(0, 2, 0), STILL, 180); // to 6 m
    stage_move(stage, lift.platform, STILL, STILL, 60);
    stage_move(stage, lift.platform, vec3(0, -3, 0), STILL, 120); // and back
}

static void lift_drive(Stage *stage)
{
    const float second = (float)stage->tick * sim_tick_seconds(stage->sim);
    stage_stand(stage, lift.stander);
    stage_walk(stage, lift.walker, vec3(math_cos(second * 5), 0, math_sin(second * 5)), 0);
    stage_walk(stage, lift.jumper, STILL, stage->tick % 50 < 3 ? INPUT_JUMP : 0u);
    // Under the platform only while it is up, and out again before it comes down.
    const bool dares = stage->tick > 120 && stage->tick < 180;
    stage_walk(stage, lift.below, dares ? vec3(-1, 0, 0) : vec3(1, 0, 0), INPUT_RUN);

    if (stage->tick % 40 == 0) {
        // The world changes somewhere else: that is nothing to those who ride.
        const VoxelCoord at = {15, 1, (int32_t)(stage->tick / 40) - 15};
        stage_expect_ok(stage, "edit", terrain_set(sim_terrain(stage->sim), at, 2, NULL));
    }
    const Entity *stander = stage_at(stage, lift.stander);
    lift.stander_top = math_max(lift.stander_top, stander->position.y);
    if (stage->tick > 60) {
        lift.airborne_count += !stander->character.grounded;
        const float top = stage_feet(stage, lift.platform).y + 0.25f;
        lift.worst_offset = math_max(lift.worst_offset, math_abs(stander->position.y - top));
    }
}

static void lift_finish(Stage *stage)
{
    stage_expect_near(stage, "the stander's highest point", lift.stander_top, LIFT_TOP + LIFT_RISE,
                      0.05f);
    stage_expect_near(stage, "the stander's last height", stage_feet(stage, lift.stander).y,
                      LIFT_TOP, 0.05f);
    stage_expect(stage, lift.airborne_count == 0, "the stander lost the ground %u times",
                 lift.airborne_count);
    stage_expect(stage, lift.worst_offset < 0.05f, "the stander was %.3f m off the platform",
                 (double)lift.worst_offset);
    const Vec3 stander = stage_feet(stage, lift.stander);
    stage_expect(stage, stander.x == 0 && stander.z == 0, "the stander drifted to %.4f %.4f",
                 (double)stander.x, (double)stander.z);
    stage_expect_near(stage, "the walker's height", stage_feet(stage, lift.walker).y, LIFT_TOP,
                      0.05f);
    stage_expect(stage, stage_total(stage, SIM_EVENT_JUMPED) >= 8, "the jumper jumped %llu times",
                 (unsigned long long)stage_total(stage, SIM_EVENT_JUMPED));
    stage_expect(stage, stage_total(stage, SIM_EVENT_CRUSHED) == 0, "somebody was crushed");
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

static void shuttle_build(Stage *stage)
{
    memset(&shuttle, 0, sizeof shuttle);
    stage_ground(stage, 24);
    stage_open(stage);
    shuttle.platform = stage_spawn(stage, part_box(vec3(-6, 0.2f, 0), vec3(3, 0.2f, 3)));
    shuttle.stander = stage_player(stage, vec3(-6, 0.4f, 0));
    shuttle.walker = stage_player(stage, vec3(-6, 0.4f, 2));
    shuttle.jumper = stage_player(stage, vec3(-6, 0.4f, -2));
    shuttle.left_behind = stage_player(stage, vec3(-6, 0, -6));
    stage_move(stage, shuttle.platform, STILL, STILL, 10);
}

static void shuttle_drive(Stage *stage)
{
    // There and back without end, each trip announced one ahead.
    if (stage->tick % SHUTTLE_TRIP == 0) {
        const float way = stage->tick / SHUTTLE_TRIP % 2 == 0 ? 1.0f : -1.0f;
        stage_move(stage, shuttle.platform, vec3(SHUTTLE_SPEED * way, 0, way), STILL, SHUTTLE_TRIP);
    }
    stage_stand(stage, shuttle.stander);
    stage_walk(stage, shuttle.walker, vec3(stage->tick / 20 % 2 == 0 ? 1.0f : -1.0f, 0, 0), 0);
    stage_walk(stage, shuttle.jumper, STILL, stage->tick == 60 ? INPUT_JUMP : 0u);
    const Vec3 centre = stage_feet(stage, shuttle.platform);
    const Vec3 stander = stage_feet(stage, shuttle.stander);
    shuttle.worst_drift = math_max(shuttle.worst_drift, stage_distance_flat(stander, centre));
    if (stage->tick <= 150) {
        const Vec3 seat = vec3_add(centre, vec3(0, 0, -2));
        shuttle.jumper_worst = math_max(
            shuttle.jumper_worst, stage_distance_flat(stage_feet(stage, shuttle.jumper), seat));
    }
}

static void shuttle_finish(Stage *stage)
{
    stage_expect(stage, shuttle.worst_drift < 0.1f, "the stander drifted %.3f m",
                 (double)shuttle.worst_drift);
    stage_expect(stage, shuttle.jumper_worst < 0.5f, "the jumper came down %.3f m off",
                 (double)shuttle.jumper_worst);
    stage_expect(stage, stage_total(stage, SIM_EVENT_JUMPED) == 1, "not one jump");
    const Vec3 behind = stage_feet(stage, shuttle.left_behind);
    stage_expect(stage, behind.x == -6 && behind.z == -6, "the one on the ground was moved");
    stage_expect_near(stage, "the walker's height", stage_feet(stage, shuttle.walker).y, 0.4f,
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

static void turn_build(Stage *stage)
{
    memset(&turn, 0, sizeof turn);
    stage_ground(stage, 24);
    stage_open(stage);
    turn.table = stage_spawn(stage, part_cylinder(vec3(0, 0.25f, 0), 6, 0.25f));
    for (int i = 0; i < 3; i++) {
        turn.riders[i] = stage_player(stage, vec3(turn_radius(i), 0.5f, 0));
    }
    turn.seesaw = stage_spawn(stage, part_box(vec3(0, 3, 14), vec3(3, 0.2f, 2)));
    turn.tilted = stage_player(stage, vec3(2, 3.2f, 14));
    stage_move(stage, turn.table, STILL, vec3(0, TURN_SPEED, 0), TURN_TICKS);
    // Tips slowly until nobody can stand on it any more.
    stage_move(stage, turn.seesaw, STILL, STILL, 60);
    stage_move(stage, turn.seesaw, STILL, vec3(0, 0, 0.3f), 240);
    turn.tilted_low = 100;
}

static void turn_drive(Stage *stage)
{
    for (int i = 0; i < 3; i++) {
        stage_stand(stage, turn.riders[i]);
        const float r = stage_distance_flat(stage_feet(stage, turn.riders[i]), STILL);
        turn.radius_worst = math_max(turn.radius_worst, math_abs(r - turn_radius(i)));
    }
    stage_stand(stage, turn.tilted);
    turn.tilted_low = math_min(turn.tilted_low, stage_feet(stage, turn.tilted).y);
}

static void turn_finish(Stage *stage)
{
    stage_expect(stage, turn.radius_worst < 0.1f, "a rider was %.3f m off his circle",
                 (double)turn.radius_worst);
    const float angle = math_wrap_angle(TURN_SPEED * TURN_TICKS * sim_tick_seconds(stage->sim));
    for (int i = 0; i < 3; i++) {
        const Vec3 feet = stage_feet(stage, turn.riders[i]);
        const float found = math_atan2(-feet.z, feet.x);
        stage_expect(stage, math_abs(math_wrap_angle(found - angle)) < 0.08f,
                     "rider %d is at angle %.3f, the table at %.3f", i, (double)found,
                     (double)angle);
    }
    stage_expect(stage, turn.tilted_low < 0.5f, "the see-saw did not throw off its rider (%.3f)",
                 (double)turn.tilted_low);
}

// --- squeeze ------------------------------------------------------------------------------------
static struct {
    Handle press, hammer;
    Handle victim, lucky, flattened, beside;
    uint32_t crushed_victim, crushed_flattened;
} squeeze;

static void squeeze_build(Stage *stage)
{
    memset(&squeeze, 0, sizeof squeeze);
    stage->may_overlap = true; // a crushed character has no free place
    stage_ground(stage, 24);
    (void)stage_part(stage, part_box(vec3(0, 1.5f, 4), vec3(4, 1.5f, 0.5f)));
    stage_open(stage);
    squeeze.press = stage_spawn(stage, part_box(vec3(0, 1.5f, -3), vec3(3, 1.5f, 0.5f)));
    squeeze.hammer = stage_spawn(stage, part_box(vec3(12, 6, 0), vec3(2, 0.5f, 2)));
    squeeze.victim = stage_player(stage, vec3(0, 0, 1));
    squeeze.lucky = stage_player(stage, vec3(2.5f, 0, 1));
    squeeze.flattened = stage_player(stage, vec3(12, 0, 0));
    squeeze.beside = stage_player(stage, vec3(12, 0, 5));
    stage_move(stage, squeeze.press, vec3(0, 0, 2), STILL, 180); // ends touching the wall
    stage_move(stage, squeeze.press, vec3(0, 0, -2), STILL, 120);
    stage_move(stage, squeeze.hammer, vec3(0, -4, 0), STILL, 75);
    stage_move(stage, squeeze.hammer, vec3(0, 4, 0), STILL, 75);
}

static void squeeze_drive(Stage *stage)
{
    stage_stand(stage, squeeze.victim);
    stage_stand(stage, squeeze.flattened);
    stage_stand(stage, squeeze.beside);
    stage_walk(stage, squeeze.lucky, vec3(1, 0, 0), stage->tick < 160 ? INPUT_RUN : 0u);
    squeeze.crushed_victim +=
        stage_seen(stage, SIM_EVENT_CRUSHED, stage_net_id(stage, squeeze.victim), 0);
    squeeze.crushed_flattened +=
        stage_seen(stage, SIM_EVENT_CRUSHED, stage_net_id(stage, squeeze.flattened), 0);
}

static void squeeze_finish(Stage *stage)
{
    stage_expect(stage, squeeze.crushed_victim > 0, "nobody was crushed against the wall");
    stage_expect(stage, squeeze.crushed_flattened > 0, "nobody was crushed against the ground");
    const float depth = sim_penetration(stage->sim, stage_feet(stage, squeeze.lucky));
    stage_expect(stage, depth < 0.001f, "the one who ran away is inside something");
    const Vec3 beside = stage_feet(stage, squeeze.beside);
    stage_expect(stage, beside.x == 12 && beside.z == 5, "the one beside was moved");
}

// --- doors --------------------------------------------------------------------------------------
static struct {
    Handle slider, revolving;
    Handle pushed, in_arm, passer;
    Vec3 pushed_from, in_arm_from;
    float in_arm_way;
} doors;

static void doors_build(Stage *stage)
{
    memset(&doors, 0, sizeof doors);
    stage_ground(stage, 24);
    (void)stage_part(stage, part_box(vec3(-6, 1.5f, 0.6f), vec3(4, 1.5f, 0.2f)));
    stage_open(stage);
    doors.slider = stage_spawn(stage, part_box(vec3(-14, 1.25f, 0), vec3(2, 1.25f, 0.15f)));
    doors.revolving = stage_spawn(stage, part_box(vec3(8, 1.25f, 0), vec3(3, 1.25f, 0.1f)));
    doors.pushed = stage_player(stage, doors.pushed_from = vec3(-11, 0, 0));
    doors.in_arm = stage_player(stage, doors.in_arm_from = vec3(10, 0, 1));
    doors.passer = stage_player(stage, vec3(4, 0, 4));
    stage_move(stage, doors.slider, STILL, STILL, 30);
    stage_move(stage, doors.slider, vec3(3, 0, 0), STILL, 200);
    stage_move(stage, doors.revolving, STILL, vec3(0, -1.2f, 0), 600);
}

static void doors_drive(Stage *stage)
{
    stage_stand(stage, doors.pushed);
    stage_stand(stage, doors.in_arm);
    // Walks through the revolving door and back, again and again.
    stage_walk(stage, doors.passer, stage->tick / 90 % 2 == 0 ? vec3(1, 0, -1) : vec3(-1, 0, 1), 0);
    doors.in_arm_way += vec3_length(stage_at(stage, doors.in_arm)->velocity) > 0 ? 1.0f : 0.0f;
}

static void doors_finish(Stage *stage)
{
    const Vec3 pushed = stage_feet(stage, doors.pushed);
    stage_expect(stage, pushed.x > doors.pushed_from.x + 5 || math_abs(pushed.z) > 0.4f,
                 "the sliding door left the player at %.3f %.3f", (double)pushed.x,
                 (double)pushed.z);
    const float moved = stage_distance_flat(stage_feet(stage, doors.in_arm), doors.in_arm_from);
    stage_expect(stage, moved > 0.5f, "the revolving door moved the player %.3f m", (double)moved);
    stage_expect_near(stage, "the height of the pushed", pushed.y, 0, 0.05f);
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

static void remodel_build(Stage *stage)
{
    memset(&remodel, 0, sizeof remodel);
    stage_ground(stage, 32);
    for (int i = 0; i < REMODEL_LANES; i++) {
        remodel.walls[i] =
            stage_part(stage, part_box(vec3(remodel_x(i), 1.5f, 0), vec3(2, 1.5f, 0.3f)));
    }
    stage_open(stage);
    for (int i = 0; i < REMODEL_LANES; i++) {
        remodel.walkers[i] = stage_player(stage, vec3(remodel_x(i), 0, -4));
    }
    remodel.dropped = stage_spawn(stage, part_box(vec3(20, 8, 0), vec3(1.5f, 0.5f, 1.5f)));
    remodel.buried = stage_player(stage, vec3(20, 0, 0));
    const ShapeDesc prop = {.part = part_box(vec3(remodel_x(5), 1, -2), vec3(2, 1, 0.3f))};
    stage_expect_ok(stage, "prop", sim_spawn_prop(stage->sim, &prop, &remodel.prop));
}

// Lane 0 stays as it is. The wall of lane 1 is hidden, 2 becomes a lift gate, 3 a turnstile, 4 a
// ghost, 5 is taken away.
static void remodel_change(Stage *stage)
{
    Handle wall = HANDLE_NONE;
    stage_expect_ok(stage, "hide", sim_hide_part(stage->sim, remodel.walls[1]));
    stage_expect_ok(stage, "thaw", sim_thaw_part(stage->sim, remodel.walls[2], &remodel.thawed));
    stage_move(stage, remodel.thawed, vec3(0, 2, 0), STILL, 120);
    stage_expect_ok(stage, "thaw", sim_thaw_part(stage->sim, remodel.walls[3], &wall));
    stage_expect_ok(stage, "turn",
                    sim_set_rotation(stage->sim, wall, quat_from_yaw(MATH_PI * 0.5f)));
    stage_expect_ok(stage, "shift",
                    sim_set_position(stage->sim, wall, vec3(remodel_x(3) + 2, 1.5f, 0)));
    stage_expect_ok(stage, "thaw", sim_thaw_part(stage->sim, remodel.walls[4], &wall));
    const PartData ghost = {.flags = PART_GHOST};
    stage_expect_ok(stage, "ghost", sim_set_part_data(stage->sim, wall, &ghost));
    stage_expect_ok(stage, "thaw", sim_thaw_part(stage->sim, remodel.walls[5], &wall));
    sim_remove(stage->sim, wall);
    // Onto somebody's head: he comes out on top.
    stage_expect_ok(stage, "drop",
                    sim_set_position(stage->sim, remodel.dropped, vec3(20, 0.5f, 0)));
}

static void remodel_drive(Stage *stage)
{
    for (int i = 0; i < REMODEL_LANES; i++) {
        const bool through = stage_feet(stage, remodel.walkers[i]).z > 8;
        stage_walk(stage, remodel.walkers[i], through ? STILL : vec3(0, 0, 1), 0);
        if (stage->tick == 149) {
            const float z = stage_feet(stage, remodel.walkers[i]).z;
            stage_expect(stage, z < -0.6f, "wall %d let somebody pass before: %.3f", i, (double)z);
        }
    }
    stage_stand(stage, remodel.buried);
    if (stage->tick == 150) {
        remodel_change(stage);
    }
}

static void remodel_finish(Stage *stage)
{
    stage_expect(stage, stage_feet(stage, remodel.walkers[0]).z < -0.6f, "the wall is gone");
    for (int i = 1; i < REMODEL_LANES; i++) {
        const float z = stage_feet(stage, remodel.walkers[i]).z;
        stage_expect(stage, z > 8, "wall %d still blocks at %.3f", i, (double)z);
    }
    stage_expect_near(stage, "the height of who was buried", stage_feet(stage, remodel.buried).y, 1,
                      0.01f);
    stage_expect_near(stage, "the height of the gate", stage_feet(stage, remodel.thawed).y, 5.5f,
                      0.01f);
    // What is left of the scene, seen by a ray along all walls.
    const SimRay ray = {.origin = vec3(-25, 1, 0),
                        .direction = vec3(1, 0, 0),
                        .distance_max = 60,
                        .type_mask = ENTITY_MASK(ENTITY_PART)};
    SimRayHit hit = {0};
    stage_expect(stage, sim_ray(stage->sim, &ray, &hit) && hit.net_id == remodel.walls[0],
                 "the ray meets %llu", (unsigned long long)hit.net_id);
}

// --- glide --------------------------------------------------------------------------------------
// What scripts ask for: to be at a place after so many ticks, to drift, and to stop.
enum { GLIDES, TURNS, DRIFTS, STOPS, RETURNS, JUMPS, GLIDE_COUNT };

static struct {
    Handle parts[GLIDE_COUNT], riders[GLIDE_COUNT];
} glide;

static void glide_build(Stage *stage)
{
    memset(&glide, 0, sizeof glide);
    stage_ground(stage, 32);
    stage_open(stage);
    for (int i = 0; i < GLIDE_COUNT; i++) {
        const Vec3 at = vec3(0, 0.25f, (float)i * 8 - 16);
        glide.parts[i] = stage_spawn(stage, part_box(at, vec3(2, 0.25f, 2)));
        glide.riders[i] = stage_player(stage, vec3_add(at, vec3(1, 0.25f, 0)));
    }
}

static void glide_start(Stage *stage)
{
    const Quat straight = QUAT_IDENTITY;
    const Pose up = {vec3(7, 3, -16), straight};
    const Quat yaw = quat_from_yaw(2);
    // The same rotation has two names; either way it is the shorter turn.
    const Pose turned = {vec3(0, 0.25f, -8), {-yaw.x, -yaw.y, -yaw.z, -yaw.w}};
    const Pose away = {vec3(-9, 0.25f, 16), straight};
    stage_expect_ok(stage, "glide", sim_glide_part(stage->sim, glide.parts[GLIDES], up, 123));
    stage_expect_ok(stage, "turn", sim_glide_part(stage->sim, glide.parts[TURNS], turned, 100));
    stage_expect_ok(stage, "drift", sim_drift_part(stage->sim, glide.parts[DRIFTS], vec3(1, 0, 0)));
    stage_expect_ok(stage, "drift", sim_drift_part(stage->sim, glide.parts[STOPS], vec3(0, 1, 0)));
    stage_expect_ok(stage, "glide", sim_glide_part(stage->sim, glide.parts[RETURNS], away, 200));
    // A segment that begins elsewhere puts the part there; nobody goes with it.
    const MotionSegment elsewhere = {.pose = {vec3(8, 0.25f, 24), QUAT_IDENTITY},
                                     .velocity = vec3(0, 1, 0),
                                     .tick_from = sim_tick(stage->sim) + 20,
                                     .tick_to = sim_tick(stage->sim) + 80};
    stage_expect_ok(stage, "jump", sim_move_part(stage->sim, glide.parts[JUMPS], &elsewhere));
    const Status fast = sim_glide_part(stage->sim, glide.parts[RETURNS], away, 1);
    stage_expect(stage, fast == STATUS_RANGE, "nine metres in one tick: %s", status_name(fast));
}

static void glide_drive(Stage *stage)
{
    for (int i = 0; i < GLIDE_COUNT; i++) {
        stage_stand(stage, glide.riders[i]);
    }
    if (stage->tick == 30) {
        glide_start(stage);
    } else if (stage->tick == 100) {
        // In the middle of its way, another goal.
        const Pose back = {vec3(0, 0.25f, 16), QUAT_IDENTITY};
        stage_expect_ok(stage, "again", sim_glide_part(stage->sim, glide.parts[RETURNS], back, 60));
        stage_expect_ok(stage, "stop", sim_stop_part(stage->sim, glide.parts[STOPS]));
    }
}

static void glide_finish(Stage *stage)
{
    const Vec3 at = stage_feet(stage, glide.parts[GLIDES]);
    stage_expect(stage, vec3_equal(at, vec3(7, 3, -16)), "glided to %.5f %.5f %.5f", (double)at.x,
                 (double)at.y, (double)at.z);
    const Quat rotation = stage_at(stage, glide.parts[TURNS])->rotation;
    const float over = math_wrap_angle(2 * math_atan2(rotation.y, rotation.w) - 2);
    stage_expect_near(stage, "the turn, beyond 2", over, 0, 0.0001f);
    const Vec3 stays = stage_feet(stage, glide.riders[JUMPS]);
    stage_expect(stage, stays.x == 1 && stays.y < 0.01f, "a jump took somebody to %.3f %.3f",
                 (double)stays.x, (double)stays.y);
    stage_expect_near(stage, "the drift", stage_feet(stage, glide.parts[DRIFTS]).x, 270.0f / 60,
                      0.05f);
    stage_expect_near(stage, "the height of the stop", stage_feet(stage, glide.parts[STOPS]).y,
                      0.25f + 70.0f / 60, 0.05f);
    stage_expect_near(stage, "the replaced glide", stage_feet(stage, glide.parts[RETURNS]).x, 0, 0);
    for (int i = 0; i < JUMPS; i++) {
        const Vec3 part = stage_feet(stage, glide.parts[i]);
        const Vec3 rider = stage_feet(stage, glide.riders[i]);
        stage_expect_near(stage, "a rider's height", rider.y, part.y + 0.25f, 0.02f);
        stage_expect_near(stage, "a rider's place", stage_distance_flat(rider, part), 1, 0.05f);
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
