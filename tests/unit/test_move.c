// Characters: walking, stairs, slopes, jumps, ladders, platforms, part data, and that nobody ends
// inside geometry.
#include "tests/support/test.h"
#include "tests/unit/walk_world.h"

static const Entity *at(const Sim *sim, Handle handle)
{
    const Entity *entity = sim_entity(sim, handle);
    CHECK(entity != NULL);
    return entity;
}

static void walk(Sim *sim, Handle player, float yaw, float forward, uint32_t buttons,
                 uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++) {
        sim_set_input(sim, player, &(SimInput){.move_z = forward, .yaw = yaw, .buttons = buttons});
        sim_step(sim);
        CHECK(at(sim, player)->character.health <= 0 ||
              sim_penetration(sim, at(sim, player)->position) <= 0.001f);
    }
}

static uint32_t count_events(const Sim *sim, SimEventType type)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(sim, &count);
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        found += events[i].type == type;
    }
    return found;
}

static PartDesc tilted(ShapeKind kind, Vec3 centre, Vec3 half, Quat rotation)
{
    return (PartDesc){.shape = {kind, half}, .pose = {centre, rotation}};
}

TEST(walks_at_its_speed_in_the_direction_of_yaw)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 0, 0));
    walk(world.sim, player, 0, 1, 0, 30);
    const Vec3 start = at(world.sim, player)->position;
    walk(world.sim, player, 0, 1, 0, 60);
    Vec3 moved = vec3_sub(at(world.sim, player)->position, start);
    CHECK_NEAR(moved.z, 5, 0.01); // yaw 0 looks along +z
    CHECK_NEAR(moved.x, 0, 0.001);
    CHECK_NEAR(at(world.sim, player)->position.y, 0, 0.001);
    CHECK(at(world.sim, player)->character.grounded);

    walk(world.sim, player, MATH_PI / 2, 1, INPUT_RUN, 30);
    const Vec3 again = at(world.sim, player)->position;
    walk(world.sim, player, MATH_PI / 2, 1, INPUT_RUN, 60);
    moved = vec3_sub(at(world.sim, player)->position, again);
    CHECK_NEAR(moved.x, 8, 0.01); // and turns towards +x
    walk_world_close(&world);
}

TEST(right_is_right_of_forward)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 0, 0));
    for (uint32_t i = 0; i < 60; i++) {
        sim_set_input(world.sim, player, &(SimInput){.move_x = 1});
        sim_step(world.sim);
    }
    // Looking along +z with y up, the right hand points to -x.
    CHECK(at(world.sim, player)->position.x < -4);
    CHECK_NEAR(at(world.sim, player)->position.z, 0, 0.01);
    walk_world_close(&world);
}

TEST(steps_up_stairs_but_not_onto_a_high_ledge)
{
    PartDesc parts[8];
    for (uint32_t i = 0; i < 6; i++) {
        const float top = 0.5f * (float)(i + 1);
        parts[i] = walk_box(vec3(-2, 0, 2 + (float)i), vec3(2, top, 3 + (float)i));
    }
    parts[6] = walk_box(vec3(-2, 0, -10), vec3(2, 0.7f, -4)); // higher than a step
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 7;
    WalkWorld world = walk_world_open(&desc);
    const Handle climber = walk_player(world.sim, vec3(0, 0, 0));
    walk(world.sim, climber, 0, 1, 0, 90);
    CHECK_NEAR(at(world.sim, climber)->position.y, 3, 0.01);
    CHECK(at(world.sim, climber)->character.grounded);
    // Down again, without ever leaving the ground.
    bool always_grounded = true;
    for (uint32_t i = 0; i < 90; i++) {
        walk(world.sim, climber, MATH_PI, 1, 0, 1);
        always_grounded = always_grounded && at(world.sim, climber)->character.grounded;
    }
    CHECK(always_grounded);
    CHECK_NEAR(at(world.sim, climber)->position.y, 0, 0.01);
    walk(world.sim, climber, MATH_PI, 1, 0, 200);
    CHECK_NEAR(at(world.sim, climber)->position.z, -4 + 0.4f, 0.01);
    CHECK_NEAR(at(world.sim, climber)->position.y, 0, 0.01);
    walk_world_close(&world);
}

TEST(walks_up_a_gentle_slope_and_not_up_a_steep_one)
{
    // The slope of a wedge rises towards its +z: 4 m over 8 m, and 8 m over 4 m.
    const PartDesc parts[] = {
        tilted(SHAPE_WEDGE, vec3(0, 2, 6), vec3(3, 2, 4), QUAT_IDENTITY),
        tilted(SHAPE_WEDGE, vec3(20, 4, 4), vec3(3, 4, 2), QUAT_IDENTITY),
    };
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 2;
    WalkWorld world = walk_world_open(&desc);
    const Handle gentle = walk_player(world.sim, vec3(0, 0, 0));
    const Handle steep = walk_player(world.sim, vec3(20, 0, 0));
    walk(world.sim, gentle, 0, 1, 0, 110);
    CHECK(at(world.sim, gentle)->position.y > 3);
    CHECK(at(world.sim, gentle)->character.grounded);
    float highest = 0;
    for (uint32_t i = 0; i < 300; i++) {
        walk(world.sim, steep, 0, 1, 0, 1);
        highest = math_max(highest, at(world.sim, steep)->position.y);
    }
    CHECK(highest < 0.3f);
    walk_world_close(&world);
}

TEST(slides_along_walls_and_stops_in_corners)
{
    const PartDesc parts[] = {
        walk_box(vec3(-20, 0, 5), vec3(20, 3, 6)),
        tilted(SHAPE_BOX, vec3(12, 1.5f, 2), vec3(0.5f, 1.5f, 6), quat_from_yaw(0.3f)),
    };
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 2;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(-5, 0, 3));
    walk(world.sim, player, 0.7f, 1, 0, 120); // forward and towards +x
    CHECK_NEAR(at(world.sim, player)->position.z, 5 - 0.4f, 0.01);
    CHECK(at(world.sim, player)->position.x > 0);
    walk(world.sim, player, 0.7f, 1, 0, 400);
    const Vec3 corner = at(world.sim, player)->position;
    walk(world.sim, player, 0.7f, 1, 0, 60);
    CHECK_NEAR(vec3_length(vec3_sub(at(world.sim, player)->position, corner)), 0, 0.02);
    walk_world_close(&world);
}

TEST(jumps_onto_one_voxel_and_not_onto_two)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    walk_fill(world.sim, (VoxelCoord){-3, 0, 2}, (VoxelCoord){3, 0, 6}, 1);
    walk_fill(world.sim, (VoxelCoord){17, 0, 2}, (VoxelCoord){23, 1, 6}, 1);
    const Handle low = walk_player(world.sim, vec3(0, 0, 1));
    const Handle high = walk_player(world.sim, vec3(20, 0, 1));
    sim_step(world.sim);
    float apex = 0;
    for (uint32_t i = 0; i < 60; i++) {
        const SimInput input = {.move_z = 1, .buttons = INPUT_JUMP};
        sim_set_input(world.sim, high, &input);
        walk(world.sim, low, 0, 1, INPUT_JUMP, 1);
        apex = math_max(apex, at(world.sim, low)->position.y);
    }
    CHECK_NEAR(apex, 1.3f, 0.06);
    CHECK_NEAR(at(world.sim, low)->position.y, 1, 0.01);
    CHECK_NEAR(at(world.sim, high)->position.y, 0, 0.01);
    walk_world_close(&world);
}

TEST(coyote_time_and_jump_buffer)
{
    const PartDesc ledge = walk_box(vec3(-3, 3, -3), vec3(3, 4, 3));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &ledge;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 4, 0));
    uint32_t ticks = 0;
    while (at(world.sim, player)->position.z < 3.3f && ticks++ < 200) {
        walk(world.sim, player, 0, 1, 0, 1);
    }
    while (at(world.sim, player)->character.grounded && ticks++ < 300) {
        walk(world.sim, player, 0, 1, 0, 1);
    }
    walk(world.sim, player, 0, 1, 0, 3); // in the air, but only just
    walk(world.sim, player, 0, 1, INPUT_JUMP, 1);
    CHECK_INT(count_events(world.sim, SIM_EVENT_JUMPED), 1);
    CHECK(at(world.sim, player)->velocity.y > 5);

    // Pressing shortly before landing jumps on landing; holding the button does not jump again.
    uint32_t jumps = 0;
    bool pressed = false;
    for (uint32_t i = 0; i < 240; i++) {
        const Entity *entity = at(world.sim, player);
        pressed = pressed || (entity->velocity.y < 0 && entity->position.y < 0.4f);
        walk(world.sim, player, 0, 0, pressed ? INPUT_JUMP : 0, 1);
        jumps += count_events(world.sim, SIM_EVENT_JUMPED);
    }
    CHECK(pressed);
    CHECK_INT(jumps, 1);
    walk_world_close(&world);
}

TEST(low_ceilings_stop_the_head)
{
    const PartDesc parts[] = {
        walk_box(vec3(-3, 1.5f, 2), vec3(3, 2.5f, 8)), // too low to go under
        walk_box(vec3(17, 1.85f, 2), vec3(23, 3, 8)),  // just high enough
        walk_box(vec3(17, 0, 4), vec3(23, 0.3f, 5)),   // a step with no room above it
    };
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 3;
    WalkWorld world = walk_world_open(&desc);
    const Handle tall = walk_player(world.sim, vec3(0, 0, 0));
    const Handle fits = walk_player(world.sim, vec3(20, 0, 0));
    walk(world.sim, tall, 0, 1, 0, 90);
    walk(world.sim, fits, 0, 1, 0, 90);
    CHECK(at(world.sim, tall)->position.z < 2);
    CHECK(at(world.sim, fits)->position.z > 3);
    CHECK(at(world.sim, fits)->position.z < 4);
    walk_world_close(&world);
}

TEST(falls_fast_without_passing_a_thin_floor)
{
    const PartDesc floor = walk_box(vec3(-4, 10, -4), vec3(4, 10.02f, 4));
    WalkWorldDesc desc = walk_world_default();
    desc.parts = &floor;
    desc.part_count = 1;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 400, 0));
    float fastest = 0;
    bool landed = false;
    for (uint32_t i = 0; i < 700; i++) {
        walk(world.sim, player, 0, 0, 0, 1);
        fastest = math_max(fastest, -at(world.sim, player)->velocity.y);
        landed = landed || count_events(world.sim, SIM_EVENT_LANDED) != 0;
    }
    CHECK_NEAR(fastest, 60, 0.001);
    CHECK(landed);
    CHECK_NEAR(at(world.sim, player)->position.y, 10.02f, 0.005);
    walk_world_close(&world);
}

static void shuttle(Sim *sim, Handle part, Vec3 from, Vec3 velocity, Vec3 turn, uint32_t ticks)
{
    const MotionSegment segment = {.pose = {from, QUAT_IDENTITY},
                                   .velocity = velocity,
                                   .angular_velocity = turn,
                                   .tick_from = sim_tick(sim),
                                   .tick_to = sim_tick(sim) + ticks};
    CHECK_OK(sim_move_part(sim, part, &segment));
}

static Handle spawn(Sim *sim, PartDesc part)
{
    Handle handle = HANDLE_NONE;
    CHECK_OK(sim_spawn_part(sim, &(ShapeDesc){.part = part}, &handle));
    return handle;
}

TEST(platforms_carry_up_along_and_around)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const Handle lift = spawn(sim, walk_box(vec3(-2, 0, -2), vec3(2, 0.4f, 2)));
    const Handle disc =
        spawn(sim, tilted(SHAPE_CYLINDER, vec3(20, 0.2f, 0), vec3(4, 0.2f, 4), QUAT_IDENTITY));
    const Handle rider = walk_player(sim, vec3(0.5f, 0.4f, 0));
    const Handle turner = walk_player(sim, vec3(23, 0.4f, 0));
    walk_steps_run(sim, 10);
    CHECK(at(sim, rider)->character.grounded);
    shuttle(sim, lift, vec3(0, 0.2f, 0), vec3(1, 2, 0), VEC3_ZERO, 120);
    shuttle(sim, disc, vec3(20, 0.2f, 0), VEC3_ZERO, vec3(0, MATH_PI / 4, 0), 120);
    for (uint32_t i = 0; i < 120; i++) {
        sim_step(sim);
        CHECK(at(sim, rider)->character.grounded);
        CHECK(sim_penetration(sim, at(sim, rider)->position) <= 0.001f);
    }
    CHECK_NEAR(at(sim, rider)->position.x, 2.5f, 0.01);
    CHECK_NEAR(at(sim, rider)->position.y, 4.4f, 0.01);
    // A quarter turn about +y takes +x to -z.
    CHECK_NEAR(at(sim, turner)->position.x, 20, 0.1);
    CHECK_NEAR(at(sim, turner)->position.z, -3, 0.1);
    // Who jumps off takes the platform's speed along.
    shuttle(sim, lift, vec3(2, 4.2f, 0), vec3(6, 0, 0), VEC3_ZERO, 60);
    walk_steps_run(sim, 30);
    sim_set_input(sim, rider, &(SimInput){.buttons = INPUT_JUMP});
    sim_step(sim);
    CHECK_NEAR(at(sim, rider)->velocity.x, 6, 0.05);
    walk_world_close(&world);
}

// Slowly, down stairs, and along the edge of a ledge that is as high as a house, never over it.
TEST(who_crouches_stays_on_the_ledge)
{
    const PartDesc parts[] = {
        walk_box(vec3(-3, 3, -3), vec3(3, 4, 3)),
        walk_box(vec3(-3, 3, -4), vec3(3, 3.8f, -3)), // a stair below it
    };
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 2;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 4, 0));
    walk(world.sim, player, 0, 1, INPUT_CROUCH | INPUT_RUN, 30);
    const float from = at(world.sim, player)->position.z;
    walk(world.sim, player, 0, 1, INPUT_CROUCH | INPUT_RUN, 30);
    CHECK_NEAR(at(world.sim, player)->position.z - from, 1, 0.01); // 2 m/s, whoever runs too
    walk(world.sim, player, 0, 1, 0, 12);                          // fast, up to the edge
    walk(world.sim, player, 0.6f, 1, INPUT_CROUCH, 600);
    const Entity *entity = at(world.sim, player);
    CHECK(entity->character.grounded);
    CHECK_NEAR(entity->position.y, 4, 0.15); // on the rim the round end is a little lower
    CHECK(entity->position.z > 2.9f && entity->position.z < 3.4f);
    CHECK(entity->position.x > 2.9f && entity->position.x < 3.4f); // along it, to the corner
    CHECK_NEAR(vec3_length(entity->velocity), 0, 0.001);
    walk(world.sim, player, MATH_PI, 1, INPUT_CROUCH, 600);
    CHECK_NEAR(at(world.sim, player)->position.y, 3.8f, 0.15);
    CHECK(at(world.sim, player)->position.z < -3.9f);
    // A lift takes them along, and a jump leads over the edge.
    walk(world.sim, player, MATH_PI, 1, INPUT_CROUCH | INPUT_JUMP, 40);
    walk(world.sim, player, MATH_PI, 1, INPUT_CROUCH, 90);
    CHECK_NEAR(at(world.sim, player)->position.y, 0, 0.001);
    const Handle lift = spawn(world.sim, walk_box(vec3(10, 0, 10), vec3(12, 1, 12)));
    const Handle rider = walk_player(world.sim, vec3(11, 1, 11));
    walk(world.sim, rider, 0, 1, INPUT_CROUCH, 60);
    shuttle(world.sim, lift, vec3(11, 0.5f, 11), vec3(0, 1, 2), VEC3_ZERO, 120);
    walk(world.sim, rider, 0, 1, INPUT_CROUCH, 120);
    CHECK(at(world.sim, rider)->character.grounded);
    CHECK_NEAR(at(world.sim, rider)->position.y, 3, 0.15);
    CHECK(at(world.sim, rider)->position.z < 12 + 4 + 0.4f);
    walk_world_close(&world);
}

TEST(a_glide_begins_where_the_part_is_and_ends_exactly)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const Handle lift = spawn(sim, walk_box(vec3(-2, 0, -2), vec3(2, 0.4f, 2)));
    const Handle rider = walk_player(sim, vec3(0.5f, 0.4f, 0));
    walk_steps_run(sim, 10);
    const Pose there = {{3, 3.1f, 0.7f}, quat_from_yaw(MATH_PI / 2)};
    CHECK_OK(sim_glide_part(sim, lift, there, 90));
    CHECK_NEAR(at(sim, lift)->velocity.x, 2, 1e-5); // reads back at once
    sim_step(sim);
    CHECK_NEAR(at(sim, lift)->position.x, 3.0 / 90, 1e-5); // moves in the very next tick
    for (uint32_t i = 1; i < 90; i++) {
        sim_step(sim);
        CHECK(at(sim, rider)->character.grounded);
        CHECK(sim_penetration(sim, at(sim, rider)->position) <= 0.001f);
    }
    CHECK(vec3_equal(at(sim, lift)->position, there.position));
    CHECK(at(sim, lift)->rotation.y == there.rotation.y);
    CHECK_NEAR(at(sim, rider)->position.x, 3, 0.02);
    CHECK_NEAR(at(sim, rider)->position.z, 0.7f - 0.5f, 0.02); // turned with it
    walk_steps_run(sim, 3);
    CHECK_INT(at(sim, lift)->part.motion.count, 0);
    CHECK_NEAR(vec3_length(at(sim, lift)->velocity), 0, 0);

    // A new order half way replaces the old one; so does a stop.
    CHECK_OK(sim_glide_part(sim, lift, (Pose){{9, 3.1f, 0.7f}, there.rotation}, 60));
    walk_steps_run(sim, 30);
    CHECK_NEAR(at(sim, lift)->position.x, 6, 1e-4);
    CHECK_OK(sim_glide_part(sim, lift, there, 30));
    walk_steps_run(sim, 15);
    CHECK_NEAR(at(sim, lift)->position.x, 4.5, 1e-4);
    CHECK_OK(sim_stop_part(sim, lift));
    walk_steps_run(sim, 30);
    CHECK_NEAR(at(sim, lift)->position.x, 4.5, 1e-4);
    CHECK(!at(sim, lift)->part.moving);
    CHECK_NEAR(at(sim, rider)->velocity.x, 0, 1e-3);
    walk_world_close(&world);
}

TEST(motions_that_make_no_sense_leave_the_old_one)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const Handle lift = spawn(sim, walk_box(vec3(-1, 0, -1), vec3(1, 1, 1)));
    const Handle player = walk_player(sim, vec3(5, 0, 5));
    const Pose there = {{10, 0.5f, 0}, QUAT_IDENTITY};
    CHECK_OK(sim_glide_part(sim, lift, there, 60));
    const float nan = __builtin_nanf("");
    CHECK_INT(sim_glide_part(sim, lift, there, 0), STATUS_RANGE);
    CHECK_INT(sim_glide_part(sim, lift, there, MOTION_TICKS_MAX + 1), STATUS_RANGE);
    CHECK_INT(sim_glide_part(sim, lift, there, 1), STATUS_RANGE); // 600 m/s
    CHECK_INT(sim_glide_part(sim, lift, (Pose){{nan, 0, 0}, QUAT_IDENTITY}, 60), STATUS_RANGE);
    CHECK_INT(sim_glide_part(sim, lift, (Pose){{0, 0, 0}, {nan, 0, 0, 1}}, 60), STATUS_RANGE);
    CHECK_INT(sim_glide_part(sim, lift, (Pose){{0, 2e4f, 0}, QUAT_IDENTITY}, 60), STATUS_RANGE);
    CHECK_INT(sim_drift_part(sim, lift, vec3(0, 61, 0)), STATUS_RANGE);
    CHECK_INT(sim_drift_part(sim, lift, vec3(nan, 0, 0)), STATUS_RANGE);
    CHECK_INT(sim_glide_part(sim, player, there, 60), STATUS_NOT_FOUND);
    CHECK_INT(sim_drift_part(sim, player, VEC3_ZERO), STATUS_NOT_FOUND);
    CHECK_INT(sim_stop_part(sim, player), STATUS_NOT_FOUND);
    CHECK_INT(sim_stop_part(sim, HANDLE_NONE), STATUS_NOT_FOUND);
    walk_steps_run(sim, 30);
    CHECK_NEAR(at(sim, lift)->position.x, 5, 1e-4);
    CHECK_OK(sim_drift_part(sim, lift, vec3(0, 60, 0)));
    CHECK_NEAR(at(sim, lift)->velocity.y, 60, 0);
    walk_steps_run(sim, 60);
    CHECK_NEAR(at(sim, lift)->position.y, 60.5f, 1e-3);
    CHECK_OK(sim_drift_part(sim, lift, VEC3_ZERO));
    walk_steps_run(sim, 5);
    CHECK_NEAR(at(sim, lift)->position.y, 60.5f, 1e-3);
    CHECK_OK(sim_set_position(sim, lift, vec3(16384, 16384, 16384)));
    CHECK_OK(sim_drift_part(sim, lift, vec3(34, 34, 34)));
    walk_world_close(&world);
}

TEST(a_door_pushes_and_a_press_crushes)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const Handle door = spawn(sim, walk_box(vec3(-3, 0, -2), vec3(-2.8f, 3, 2)));
    const Handle pushed = walk_player(sim, vec3(0, 0, 0));
    const Handle press = spawn(sim, walk_box(vec3(18, 4, -2), vec3(22, 5, 2)));
    const Handle under = walk_player(sim, vec3(20, 0, 0));
    walk_steps_run(sim, 10);
    shuttle(sim, door, vec3(-2.9f, 1.5f, 0), vec3(4, 0, 0), VEC3_ZERO, 120);
    shuttle(sim, press, vec3(20, 4.5f, 0), vec3(0, -2, 0), VEC3_ZERO, 120);
    uint32_t crushed = 0;
    for (uint32_t i = 0; i < 130; i++) {
        sim_step(sim);
        crushed += count_events(sim, SIM_EVENT_CRUSHED);
        CHECK(sim_penetration(sim, at(sim, pushed)->position) <= 0.001f);
    }
    CHECK_NEAR(at(sim, pushed)->position.x, -2.9f + 8 + 0.1f + 0.4f, 0.02);
    CHECK_INT(crushed, 1);
    CHECK(at(sim, under)->character.health <= 0);
    CHECK_OK(sim_revive(sim, under, vec3(0, 0, 30)));
    CHECK(at(sim, under)->character.health > 0);
    walk_world_close(&world);
}

TEST(part_data_acts_without_a_script)
{
    PartDesc belt = walk_box(vec3(-2, 0, -10), vec3(2, 0.2f, 10));
    belt.data = (PartData){.flags = PART_CONVEYOR, .conveyor_speed = vec3(0, 0, 2)};
    PartDesc trampoline = walk_box(vec3(18, 0, -2), vec3(22, 0.2f, 2));
    trampoline.data = (PartData){.flags = PART_BOUNCE, .bounce_speed = 15};
    PartDesc lava = walk_box(vec3(-22, -1, -2), vec3(-18, 0.1f, 2));
    lava.data = (PartData){.flags = PART_DAMAGE | PART_GHOST, .damage = 30};
    PartDesc ladder = walk_box(vec3(-1, 0, 20), vec3(1, 5, 20.5f));
    ladder.data = (PartData){.flags = PART_LADDER};
    const PartDesc parts[] = {belt, trampoline, lava, ladder};
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 4;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    const Handle carried = walk_player(sim, vec3(0, 0.2f, -5));
    const Handle bouncer = walk_player(sim, vec3(20, 1, 0));
    const Handle burnt = walk_player(sim, vec3(-20, 0, 0));
    const Handle climber = walk_player(sim, vec3(0, 0, 18));
    float apex = 0;
    uint32_t damaged = 0;
    uint32_t died = 0;
    for (uint32_t i = 0; i < 120; i++) {
        sim_set_input(sim, climber, &(SimInput){.move_z = 1});
        sim_step(sim);
        apex = math_max(apex, at(sim, bouncer)->position.y);
        damaged += count_events(sim, SIM_EVENT_DAMAGED);
        died += count_events(sim, SIM_EVENT_DIED);
    }
    CHECK_NEAR(at(sim, carried)->position.z, -5 + 4, 0.1);
    CHECK(apex > 4);
    CHECK_INT(damaged, 4); // 30 of 100, twice a second
    CHECK_INT(died, 1);
    CHECK(at(sim, burnt)->character.health <= 0);
    CHECK(at(sim, climber)->position.y > 4);
    walk_world_close(&world);
}

// Who walks onto a trampoline, or jumps at its rim, goes up and on, not back.
TEST(a_trampoline_throws_up_who_walks_onto_it)
{
    PartDesc box = walk_box(vec3(-2, 0, 3), vec3(2, 0.2f, 7));
    PartDesc high = walk_box(vec3(8, 0, 3), vec3(12, 0.5f, 7));
    PartDesc round = {.shape = {SHAPE_CYLINDER, {1.5f, 0.1f, 1.5f}},
                      .pose = {{20, 0.1f, 5}, QUAT_IDENTITY}};
    PartDesc wall = walk_box(vec3(28, 0, 3), vec3(32, 3, 7)); // a bumper is one from all sides
    PartDesc parts[] = {box, high, round, wall};
    for (uint32_t i = 0; i < 4; i++) {
        parts[i].data = (PartData){.flags = PART_BOUNCE, .bounce_speed = 14};
    }
    WalkWorldDesc desc = walk_world_default();
    desc.parts = parts;
    desc.part_count = 4;
    WalkWorld world = walk_world_open(&desc);
    Sim *sim = world.sim;
    for (uint32_t jumps = 0; jumps < 2; jumps++) {
        for (uint32_t i = 0; i < 4; i++) {
            const Handle player = walk_player(sim, vec3((float)i * 10, 0, 0));
            float apex = 0;
            float furthest = 0;
            bool went_back = false;
            for (uint32_t tick = 0; tick < 80; tick++) {
                const bool jump = jumps == 1 && at(sim, player)->position.z > 1.5f;
                sim_set_input(sim, player,
                              &(SimInput){.move_z = 1, .buttons = jump ? INPUT_JUMP : 0});
                sim_step(sim);
                apex = math_max(apex, at(sim, player)->position.y);
                furthest = math_max(furthest, at(sim, player)->position.z);
                went_back = went_back || at(sim, player)->position.z < furthest - 0.05f;
            }
            CHECK_INT(went_back, i == 3);
            CHECK_INT(apex > 3, i != 3);
            sim_remove(sim, player);
            sim_step(sim);
        }
    }
    walk_world_close(&world);
}

TEST(voxels_set_onto_a_character_lift_it_out)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0.5f, 0, 0.5f));
    walk_steps_run(world.sim, 5);
    walk_fill(world.sim, (VoxelCoord){-2, 0, -2}, (VoxelCoord){2, 3, 2}, 1);
    walk(world.sim, player, 0, 0, 0, 60);
    CHECK_NEAR(at(world.sim, player)->position.y, 4, 0.01);
    CHECK_INT(sim_counters(world.sim)->unstuck, 1);
    // And taken away from under it, they let it fall.
    walk_fill(world.sim, (VoxelCoord){-2, 0, -2}, (VoxelCoord){2, 3, 2}, VOXEL_AIR);
    walk(world.sim, player, 0, 0, 0, 90);
    CHECK_NEAR(at(world.sim, player)->position.y, 0, 0.01);
    walk_world_close(&world);
}

TEST(inputs_that_make_no_sense_are_read_as_zero)
{
    WalkWorldDesc desc = walk_world_default();
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 0, 0));
    const float bad = __builtin_nanf("");
    const float huge = __builtin_inff();
    walk_steps_run(world.sim, 5);
    sim_set_input(world.sim, player,
                  &(SimInput){.move_x = bad, .move_z = huge, .yaw = bad, .pitch = -huge});
    sim_step(world.sim);
    const Character *character = &at(world.sim, player)->character;
    CHECK_NEAR(character->input.move_x, 0, 0);
    CHECK_NEAR(character->input.yaw, 0, 0);
    CHECK_INT(sim_counters(world.sim)->inputs_sanitised, 1);
    // Too much of a good thing is cut to length one.
    sim_set_input(world.sim, player, &(SimInput){.move_x = 1, .move_z = 1});
    const SimInput cut = at(world.sim, player)->character.input;
    CHECK_NEAR(cut.move_x * cut.move_x + cut.move_z * cut.move_z, 1, 1e-5);
    walk_world_close(&world);
}

TEST(who_falls_out_of_the_world_dies)
{
    WalkWorldDesc desc = walk_world_default();
    desc.floor = false;
    desc.config.character.fall_speed_max = 100;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 100 - WORLD_EXTENT_M, 0));
    walk_steps_run(world.sim, 300);
    CHECK(at(world.sim, player)->character.health <= 0);
    CHECK(at(world.sim, player)->position.y >= -WORLD_EXTENT_M);
    walk_world_close(&world);
}

TEST(thirty_ticks_a_second_move_as_far)
{
    WalkWorldDesc desc = walk_world_default();
    desc.config.tick_rate = 30;
    WalkWorld world = walk_world_open(&desc);
    const Handle player = walk_player(world.sim, vec3(0, 0, 0));
    walk(world.sim, player, 0, 1, 0, 15);
    const float start = at(world.sim, player)->position.z;
    walk(world.sim, player, 0, 1, 0, 30);
    CHECK_NEAR(at(world.sim, player)->position.z - start, 5, 0.01);
    walk_world_close(&world);
}
