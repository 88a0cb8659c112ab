// Everything together: all features at once, saved and restored repeatedly; the lower tick rate; a
// client's sim; and invalid inputs.
#include "tests/scenario/scenario.h"

#include <string.h>

// --- festival -----------------------------------------------------------------------------------
static struct {
    Handle platforms[4];
    Handle npcs[8];
    uint32_t restores;
    uint32_t next_cell;
} festival;

static void festival_parts(ScenarioWorld *world)
{
    Rng rng = rng_make(99, 1);
    for (int i = 0; i < 40; i++) {
        const Vec3 at = scenario_random(&rng, vec3(-22, 0, -22), vec3(22, 3, 22));
        PartDesc part = part_box(at, vec3(rng_range(&rng, 0.3f, 1.5f), 0.4f, 1));
        part.shape.kind = (ShapeKind)rng_below(&rng, SHAPE_KIND_COUNT);
        part.data.flags = i % 5 == 0   ? PART_BOUNCE
                          : i % 5 == 1 ? PART_CONVEYOR
                          : i % 5 == 2 ? PART_DAMAGE
                          : i % 5 == 3 ? PART_TRIGGER | PART_GHOST
                                       : 0u;
        part.data.bounce_speed = 9;
        part.data.damage = 7;
        part.data.conveyor_speed = vec3(1, 0, 1);
        (void)scenario_part(world, part_turned(part, vec3(1, 2, 0), rng_range(&rng, -1, 1)));
    }
}

static void festival_build(ScenarioWorld *world)
{
    memset(&festival, 0, sizeof festival);
    scenario_hills(world, 32, 21);
    festival_parts(world);
    world->pieces[0] = (PieceDesc){2, 1, 2, 0, 40};
    world->piece_count = 1;
    scenario_open(world);
    for (int i = 0; i < 20; i++) {
        (void)scenario_player(world, vec3((float)(i % 5) * 7 - 14, 7, (float)(i / 5) * 7 - 12));
    }
    for (int i = 0; i < 8; i++) {
        NpcDesc desc = npc_desc_default();
        desc.position = vec3((float)i * 6 - 20, 7, 20);
        desc.patrol_count = 2;
        desc.patrol[0] = vec3((float)i * 6 - 20, 0, -20);
        desc.patrol[1] = vec3(20 - (float)i * 6, 0, 20);
        scenario_expect_ok(world, "npc", npc_spawn(world->sim, &desc, &festival.npcs[i]));
    }
    for (int i = 0; i < 4; i++) {
        festival.platforms[i] =
            scenario_spawn(world, part_box(vec3((float)i * 10 - 15, 4, -5), vec3(2, 0.3f, 2)));
    }
}

static void festival_platforms(ScenarioWorld *world)
{
    for (int i = 0; i < 4; i++) {
        const float way = world->tick / 120 % 2 == 0 ? 1.0f : -1.0f;
        scenario_move(world, festival.platforms[i], vec3(0, way, way * 2), vec3(0, 0.5f, 0), 120);
    }
}

static void festival_events(ScenarioWorld *world)
{
    Rng *rng = &world->rng;
    const Vec3 at = scenario_random(rng, vec3(-25, -3, -25), vec3(25, 3, 25));
    if (world->tick % 17 == 0) {
        const VoxelKind kind = rng_below(rng, 2) == 0 ? VOXEL_AIR : 12;
        const float radius = rng_range(rng, 0.5f, 2.5f);
        scenario_expect_ok(world, "crater",
                           terrain_fill_sphere(sim_terrain(world->sim), at, radius, kind, NULL));
    }
    if (world->tick % 90 == 89) {
        // The server takes the oldest structure away; what it held falls.
        const Handle oldest = sim_next(world->sim, HANDLE_NONE, ENTITY_MASK(ENTITY_STRUCTURE));
        (void)!structure_remove(world->sim, oldest, 0); // there may be none yet
    }
    if (world->tick % 7 == 0) {
        const StructureDesc desc = {
            .owner_id = 5, .cell = voxel_at(vec3(at.x, at.y + 3, at.z)), .turn = rng_below(rng, 4)};
        Handle made;
        (void)!structure_place(world->sim, &desc, &made); // most places will do
    }
    const Handle shooter = world->players[rng_below(rng, world->player_count)];
    ProjectileDesc shot = {
        .shooter = shooter,
        .position = vec3_add(scenario_feet(world, shooter), vec3(0, 1.5f, 0)),
        .radius = 0.1f,
        .gravity = 9,
        .damage = 60,
        .lifetime_ticks = 120,
    };
    shot.velocity = scenario_random(rng, vec3(-40, -5, -40), vec3(40, 20, 40));
    shot.rewind_ticks = rng_below(rng, 20);
    Handle made;
    scenario_expect_ok(world, "shot", projectile_fire(world->sim, &shot, &made));
}

static void festival_drive(ScenarioWorld *world)
{
    if (world->tick % 120 == 0) {
        festival_platforms(world);
    }
    for (uint32_t i = 0; i < world->player_count; i++) {
        const Handle player = world->players[i];
        scenario_wander(world, player, 20);
        if (scenario_at(world, player)->character.health <= 0 && world->tick % 60 == 0) {
            scenario_expect_ok(world, "revive",
                               sim_revive(world->sim, player, vec3(0, 6, (float)i - 10)));
        }
    }
    festival_events(world);
    if (world->tick % 100 == 50) {
        scenario_restore(world);
        festival.restores += 1;
    }
}

static void festival_finish(ScenarioWorld *world)
{
    const SimEventType wanted[] = {
        SIM_EVENT_LANDED,       SIM_EVENT_JUMPED,
        SIM_EVENT_BOUNCED,      SIM_EVENT_DAMAGED,
        SIM_EVENT_DIED,         SIM_EVENT_TRIGGER_ENTERED,
        SIM_EVENT_TRIGGER_LEFT, SIM_EVENT_PROJECTILE_HIT,
        SIM_EVENT_NPC_STATE,    SIM_EVENT_STRUCTURE_REMOVED,
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        scenario_expect(world, scenario_total(world, wanted[i]) > 0, "no event of type %d",
                        (int)wanted[i]);
    }
    scenario_expect(world, festival.restores == 6, "%u restores", festival.restores);
    scenario_expect(world, sim_count(world->sim, ENTITY_STRUCTURE) > 0, "no structure stands");
}

// --- scrum --------------------------------------------------------------------------------------
// Many shapes that move and turn through a crowd, which is kicked about between them.
#define SCRUM_MOVERS 30

static struct {
    Handle movers[SCRUM_MOVERS];
    Vec3 homes[SCRUM_MOVERS];
    uint32_t on_movers;
} scrum;

static PartDesc scrum_part(Rng *rng, Vec3 at)
{
    PartDesc part =
        part_box(at, scenario_random(rng, vec3(0.1f, 0.05f, 0.1f), vec3(2.2f, 1, 2.2f)));
    part.shape.kind = (ShapeKind)rng_below(rng, SHAPE_KIND_COUNT);
    const Vec3 axis = scenario_random(rng, vec3(-1, -1, -0.99f), vec3(1, 1, 1.01f));
    return part_turned(part, axis, rng_range(rng, -3, 3));
}

static void scrum_build(ScenarioWorld *world)
{
    memset(&scrum, 0, sizeof scrum);
    Rng rng = rng_make(123, 4);
    scenario_hills(world, 16, 8);
    for (int i = 0; i < 90; i++) {
        const Vec3 at = scenario_random(&rng, vec3(-13, -1, -13), vec3(13, 4, 13));
        (void)scenario_part(world, scrum_part(&rng, at));
    }
    scenario_open(world);
    for (int i = 0; i < SCRUM_MOVERS; i++) {
        scrum.homes[i] = scenario_random(&rng, vec3(-12, 0, -12), vec3(12, 3, 12));
        scrum.movers[i] = scenario_spawn(world, scrum_part(&rng, scrum.homes[i]));
    }
    for (int i = 0; i < 40; i++) {
        (void)scenario_player(world, scenario_random(&rng, vec3(-12, 4, -12), vec3(12, 8, 12)));
    }
}

static void scrum_move(ScenarioWorld *world, int i)
{
    Rng *rng = &world->rng;
    const Vec3 goal =
        vec3_add(scrum.homes[i], scenario_random(rng, vec3(-3, -1, -3), vec3(3, 2, 3)));
    const Vec3 way = vec3_sub(goal, scenario_feet(world, scrum.movers[i]));
    const uint32_t ticks = 40 + rng_below(rng, 60);
    const float rate = 1 / ((float)ticks * sim_tick_seconds(world->sim));
    const Vec3 turning = scenario_random(rng, vec3(-0.5f, -1.5f, -0.5f), vec3(0.5f, 1.5f, 0.5f));
    scenario_move(world, scrum.movers[i], vec3_scale(way, rate), turning, ticks);
}

static void scrum_drive(ScenarioWorld *world)
{
    Rng *rng = &world->rng;
    for (int i = 0; i < SCRUM_MOVERS; i++) {
        if (scenario_at(world, scrum.movers[i])->part.motion.count == 0) {
            scrum_move(world, i);
        }
    }
    for (uint32_t i = 0; i < world->player_count; i++) {
        const Handle player = world->players[i];
        const Entity *entity = scenario_at(world, player);
        scrum.on_movers += !handle_is_none(entity->character.platform);
        if (entity->character.health <= 0 || entity->position.y < -12) {
            const Vec3 at = scenario_random(rng, vec3(-10, 4, -10), vec3(10, 8, 10));
            scenario_expect_ok(world, "revive", sim_revive(world->sim, player, at));
        }
        scenario_wander(world, player, 15);
        if (rng_below(rng, 200) == 0) {
            const Vec3 kick = scenario_random(rng, vec3(-30, -30, -30), vec3(30, 30, 30));
            scenario_expect_ok(world, "kick", sim_set_velocity(world->sim, player, kick));
        }
    }
}

static void scrum_finish(ScenarioWorld *world)
{
    scenario_expect(world, scrum.on_movers > 300, "only %u ticks on moving parts", scrum.on_movers);
    scenario_expect(world, scenario_total(world, SIM_EVENT_CRUSHED) > 0, "nobody was crushed");
    scenario_expect(world, world->counters.colliders_dropped == 0, "colliders were dropped");
}

// --- half rate ----------------------------------------------------------------------------------
static struct {
    Handle platform, rider, walker, faller, jumper;
    float rider_top, jumper_top;
    Vec3 walker_from;
} half;

static void half_build(ScenarioWorld *world)
{
    memset(&half, 0, sizeof half);
    world->config.tick_rate = 30;
    scenario_ground(world, 32);
    (void)scenario_part(world, part_wedge(vec3(10, 1, 0), vec3(2, 1, 3), 0));
    scenario_open(world);
    half.platform = scenario_spawn(world, part_box(vec3(0, 0.25f, 0), vec3(2, 0.25f, 2)));
    half.rider = scenario_player(world, vec3(0, 0.5f, 0));
    half.walker = scenario_player(world, half.walker_from = vec3(-20, 0, 20));
    half.faller = scenario_player(world, vec3(20, 60, 20));
    half.jumper = scenario_player(world, vec3(-20, 0, -20));
    (void)scenario_player(world, vec3(10, 0, -5)); // up the wedge
    scenario_move(world, half.platform, vec3(0, 2, 0), VEC3_ZERO, 90);
    scenario_move(world, half.platform, vec3(2, -2, 0), VEC3_ZERO, 90);
}

static void half_drive(ScenarioWorld *world)
{
    scenario_stand(world, half.rider);
    scenario_stand(world, half.faller);
    scenario_walk(world, half.walker, vec3(1, 0, 0), 0);
    scenario_walk(world, half.jumper, VEC3_ZERO, world->tick == 10 ? INPUT_JUMP : 0u);
    scenario_walk(world, world->players[4], vec3(0, 0, 1), INPUT_RUN);
    half.rider_top = math_max(half.rider_top, scenario_feet(world, half.rider).y);
    half.jumper_top = math_max(half.jumper_top, scenario_feet(world, half.jumper).y);
    if (world->tick == 120) {
        half.walker_from = scenario_feet(world, half.walker);
    } else if (world->tick == 150) { // a second later
        const float way = scenario_distance(scenario_feet(world, half.walker), half.walker_from);
        scenario_expect_near(world, "the way walked in a second", way,
                             world->config.character.walk_speed, 0.05f);
    }
}

static void half_finish(ScenarioWorld *world)
{
    const CharacterTuning *tuning = &world->config.character;
    scenario_expect_near(world, "the rider's top", half.rider_top, 6.5f, 0.1f);
    const Vec3 rider = scenario_feet(world, half.rider);
    scenario_expect_near(world, "the rider's end, x", rider.x, 6, 0.2f);
    scenario_expect_near(world, "the rider's end, y", rider.y, 0.5f, 0.1f);
    scenario_expect_near(world, "the faller's height", scenario_feet(world, half.faller).y, 0,
                         0.02f);
    const float height = tuning->jump_speed * tuning->jump_speed / (2 * tuning->gravity);
    scenario_expect_near(world, "the height of a jump", half.jumper_top, height, height * 0.15f);
    scenario_expect(world, scenario_feet(world, world->players[4]).z > 2.5f, "not over the wedge");
}

// --- client -------------------------------------------------------------------------------------
// A client's sim predicts movement and platforms, and decides nothing that the server decides.
static struct {
    Handle me, other, platform, rider;
    uint64_t zone;
} client;

static void client_build(ScenarioWorld *world)
{
    memset(&client, 0, sizeof client);
    world->config = sim_config_client();
    scenario_ground(world, 16);
    client.zone = scenario_part(world, part_zone(vec3(3, 1, 0), vec3(1, 1, 1)));
    PartDesc lava = part_flagged(part_box(vec3(0, 0.05f, 6), vec3(3, 0.05f, 1)), PART_DAMAGE);
    lava.data.damage = 50;
    (void)scenario_part(world, lava);
    PartDesc pad = part_flagged(part_box(vec3(-6, 0.1f, 0), vec3(1, 0.1f, 1)), PART_BOUNCE);
    pad.data.bounce_speed = 10;
    (void)scenario_part(world, pad);
    scenario_open(world);
    client.me = scenario_player(world, vec3(0, 0, 0));
    client.other = scenario_player(world, vec3(0.2f, 0, 0)); // inside me: no push here
    client.platform = scenario_spawn(world, part_box(vec3(0, 0.25f, -8), vec3(2, 0.25f, 2)));
    client.rider = scenario_player(world, vec3(0, 0.5f, -8));
    (void)scenario_player(world, vec3(0, 0.1f, 6)); // in the lava
    (void)scenario_player(world, vec3(-6, 2, 0));   // over the pad
    scenario_move(world, client.platform, vec3(0, 1, 0), vec3(0, 0.5f, 0), 240);
}

static void client_drive(ScenarioWorld *world)
{
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_stand(world, world->players[i]);
    }
    if (world->tick > 60) {
        scenario_walk(world, client.me, vec3(1, 0, 0), 0); // through the zone
    }
}

static void client_finish(ScenarioWorld *world)
{
    const SimEventType never[] = {SIM_EVENT_DAMAGED, SIM_EVENT_DIED, SIM_EVENT_TRIGGER_ENTERED,
                                  SIM_EVENT_TRIGGER_LEFT};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        scenario_expect(world, scenario_total(world, never[i]) == 0, "the client decided event %d",
                        (int)never[i]);
    }
    const Vec3 other = scenario_feet(world, client.other);
    scenario_expect(world, other.x == 0.2f && other.z == 0, "the client pushed somebody");
    scenario_expect(world, scenario_feet(world, client.me).x > 5, "I did not walk");
    scenario_expect_near(world, "the rider's height", scenario_feet(world, client.rider).y, 4.5f,
                         0.05f);
    scenario_expect(world, scenario_total(world, SIM_EVENT_BOUNCED) > 0, "no bounce was predicted");
    scenario_expect(world, sim_bytes(&world->config, world->scene) <= 256 * 1024, "costs %zu bytes",
                    sim_bytes(&world->config, world->scene));
}

// --- hostile ------------------------------------------------------------------------------------
static float hostile_number(Rng *rng)
{
    static const float NUMBERS[] = {0.0f,   -0.0f,   1.0f,     -1.0f, 1e30f,    -1e30f,
                                    1e-40f, 3.4e38f, -3.4e38f, 1e10f, 12345.6f, 0.5f};
    const uint32_t pick = rng_below(rng, 16);
    const uint32_t count = sizeof NUMBERS / sizeof NUMBERS[0];
    if (pick < count) {
        return NUMBERS[pick];
    }
    // Any bits at all: infinities and every NaN among them.
    const uint32_t bits = pick == 12   ? 0x7f800000u
                          : pick == 13 ? 0xff800000u
                          : pick == 14 ? 0x7fc00000u
                                       : rng_u32(rng);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void hostile_build(ScenarioWorld *world)
{
    scenario_hills(world, 16, 5);
    (void)scenario_part(world, part_box(vec3(0, 3, 0), vec3(3, 0.2f, 3)));
    scenario_open(world);
    for (int i = 0; i < 24; i++) {
        (void)scenario_player(world, vec3((float)(i % 6) * 4 - 10, 5, (float)(i / 6) * 5 - 8));
    }
}

static void hostile_call(ScenarioWorld *world, Handle player)
{
    Rng *rng = &world->rng;
    Vec3 v;
    v.x = hostile_number(rng);
    v.y = hostile_number(rng);
    v.z = hostile_number(rng);
    Handle made;
    switch (rng_below(rng, 6)) {
    case 0:
        (void)!sim_set_velocity(world->sim, player, v);
        break;
    case 1:
        (void)!sim_spawn_player(world->sim, &(CharacterDesc){.position = v, .yaw = v.x}, &made);
        break;
    case 2: {
        ProjectileDesc desc = {
            .position = v, .velocity = v, .radius = v.x, .gravity = v.y, .damage = v.z};
        desc.lifetime_ticks = rng_u32(rng);
        desc.rewind_ticks = rng_u32(rng);
        (void)!projectile_fire(world->sim, &desc, &made);
        break;
    }
    case 3:
        (void)!terrain_fill_sphere(sim_terrain(world->sim), v, hostile_number(rng), 3, NULL);
        break;
    case 4:
        (void)!sim_spawn_part(world->sim,
                              &(ShapeDesc){.part = part_turned(part_box(v, v), vec3(0, 1, 0), v.x)},
                              &made);
        break;
    default:
        made.index = rng_u32(rng);
        made.generation = rng_u32(rng);
        sim_remove(world->sim, made);
        break;
    }
}

static void hostile_drive(ScenarioWorld *world)
{
    Rng *rng = &world->rng;
    for (uint32_t i = 0; i < world->player_count; i++) {
        SimInput input = {.buttons = rng_u32(rng)};
        input.move_x = hostile_number(rng);
        input.move_z = hostile_number(rng);
        input.yaw = hostile_number(rng);
        input.pitch = hostile_number(rng);
        scenario_input(world, world->players[i], input);
    }
    hostile_call(world, world->players[rng_below(rng, world->player_count)]);
}

static void hostile_finish(ScenarioWorld *world)
{
    scenario_expect(world, world->counters.inputs_sanitised > 1000, "only %llu inputs were refused",
                    (unsigned long long)world->counters.inputs_sanitised);
    uint32_t alive = 0;
    for (uint32_t i = 0; i < world->player_count; i++) {
        const Entity *entity = scenario_at(world, world->players[i]);
        alive += entity->character.health > 0;
        scenario_expect(world, math_abs(entity->position.x) <= WORLD_EXTENT_M, "left the world");
    }
    scenario_expect(world, alive > 0, "nobody survived");
}

const Scenario scenarios_whole[] = {
    {"festival", "all features at once, saved and restored six times on the way", 600,
     festival_build, festival_drive, festival_finish},
    {"scrum", "40 players kicked about among 90 parts and 30 that move and turn", 600, scrum_build,
     scrum_drive, scrum_finish},
    {"half_rate", "30 ticks a second: the same speeds, heights and rides", 300, half_build,
     half_drive, half_finish},
    {"client", "a client's sim moves and carries, but decides nothing", 240, client_build,
     client_drive, client_finish},
    {"hostile", "inputs and calls with NaN, infinities and huge numbers", 400, hostile_build,
     hostile_drive, hostile_finish},
    {0},
};
