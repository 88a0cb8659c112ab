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

static void festival_parts(Stage *stage)
{
    Rng rng = rng_make(99, 1);
    for (int i = 0; i < 40; i++) {
        const Vec3 at = stage_random(&rng, vec3(-22, 0, -22), vec3(22, 3, 22));
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
        (void)stage_part(stage, part_turned(part, vec3(1, 2, 0), rng_range(&rng, -1, 1)));
    }
}

static void festival_build(Stage *stage)
{
    memset(&festival, 0, sizeof festival);
    stage_hills(stage, 32, 21);
    festival_parts(stage);
    stage->pieces[0] = (PieceDesc){2, 1, 2, 0, 40};
    stage->piece_count = 1;
    stage_open(stage);
    for (int i = 0; i < 20; i++) {
        (void)stage_player(stage, vec3((float)(i % 5) * 7 - 14, 7, (float)(i / 5) * 7 - 12));
    }
    for (int i = 0; i < 8; i++) {
        NpcDesc desc = npc_desc_default();
        desc.position = vec3((float)i * 6 - 20, 7, 20);
        desc.patrol_count = 2;
        desc.patrol[0] = vec3((float)i * 6 - 20, 0, -20);
        desc.patrol[1] = vec3(20 - (float)i * 6, 0, 20);
        stage_expect_ok(stage, "npc", npc_spawn(stage->sim, &desc, &festival.npcs[i]));
    }
    for (int i = 0; i < 4; i++) {
        festival.platforms[i] =
            stage_spawn(stage, part_box(vec3((float)i * 10 - 15, 4, -5), vec3(2, 0.3f, 2)));
    }
}

static void festival_platforms(Stage *stage)
{
    for (int i = 0; i < 4; i++) {
        const float way = stage->tick / 120 % 2 == 0 ? 1.0f : -1.0f;
        stage_move(stage, festival.platforms[i], vec3(0, way, way * 2), vec3(0, 0.5f, 0), 120);
    }
}

static void festival_events(Stage *stage)
{
    Rng *rng = &stage->rng;
    const Vec3 at = stage_random(rng, vec3(-25, -3, -25), vec3(25, 3, 25));
    if (stage->tick % 17 == 0) {
        const VoxelKind kind = rng_below(rng, 2) == 0 ? VOXEL_AIR : 12;
        const float radius = rng_range(rng, 0.5f, 2.5f);
        stage_expect_ok(stage, "crater",
                        terrain_fill_sphere(sim_terrain(stage->sim), at, radius, kind, NULL));
    }
    if (stage->tick % 90 == 89) {
        // The server takes the oldest structure away; what it held falls.
        const Handle oldest = sim_next(stage->sim, HANDLE_NONE, ENTITY_MASK(ENTITY_STRUCTURE));
        (void)!structure_remove(stage->sim, oldest, 0); // there may be none yet
    }
    if (stage->tick % 7 == 0) {
        const StructureDesc desc = {
            .owner_id = 5, .cell = voxel_at(vec3(at.x, at.y + 3, at.z)), .turn = rng_below(rng, 4)};
        Handle made;
        (void)!structure_place(stage->sim, &desc, &made); // most places will do
    }
    const Handle shooter = stage->players[rng_below(rng, stage->player_count)];
    ProjectileDesc shot = {
        .shooter = shooter,
        .position = vec3_add(stage_feet(stage, shooter), vec3(0, 1.5f, 0)),
        .radius = 0.1f,
        .gravity = 9,
        .damage = 60,
        .lifetime_ticks = 120,
    };
    shot.velocity = stage_random(rng, vec3(-40, -5, -40), vec3(40, 20, 40));
    shot.rewind_ticks = rng_below(rng, 20);
    Handle made;
    stage_expect_ok(stage, "shot", projectile_fire(stage->sim, &shot, &made));
}

static void festival_drive(Stage *stage)
{
    if (stage->tick % 120 == 0) {
        festival_platforms(stage);
    }
    for (uint32_t i = 0; i < stage->player_count; i++) {
        const Handle player = stage->players[i];
        stage_wander(stage, player, 20);
        if (stage_at(stage, player)->character.health <= 0 && stage->tick % 60 == 0) {
            stage_expect_ok(stage, "revive",
                            sim_revive(stage->sim, player, vec3(0, 6, (float)i - 10)));
        }
    }
    festival_events(stage);
    if (stage->tick % 100 == 50) {
        stage_restore(stage);
        festival.restores += 1;
    }
}

static void festival_finish(Stage *stage)
{
    const SimEventType wanted[] = {
        SIM_EVENT_LANDED,       SIM_EVENT_JUMPED,
        SIM_EVENT_BOUNCED,      SIM_EVENT_DAMAGED,
        SIM_EVENT_DIED,         SIM_EVENT_TRIGGER_ENTERED,
        SIM_EVENT_TRIGGER_LEFT, SIM_EVENT_PROJECTILE_HIT,
        SIM_EVENT_NPC_STATE,    SIM_EVENT_STRUCTURE_REMOVED,
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        stage_expect(stage, stage_total(stage, wanted[i]) > 0, "no event of type %d",
                     (int)wanted[i]);
    }
    stage_expect(stage, festival.restores == 6, "%u restores", festival.restores);
    stage_expect(stage, sim_count(stage->sim, ENTITY_STRUCTURE) > 0, "no structure stands");
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
    PartDesc part = part_box(at, stage_random(rng, vec3(0.1f, 0.05f, 0.1f), vec3(2.2f, 1, 2.2f)));
    part.shape.kind = (ShapeKind)rng_below(rng, SHAPE_KIND_COUNT);
    const Vec3 axis = stage_random(rng, vec3(-1, -1, -0.99f), vec3(1, 1, 1.01f));
    return part_turned(part, axis, rng_range(rng, -3, 3));
}

static void scrum_build(Stage *stage)
{
    memset(&scrum, 0, sizeof scrum);
    Rng rng = rng_make(123, 4);
    stage_hills(stage, 16, 8);
    for (int i = 0; i < 90; i++) {
        const Vec3 at = stage_random(&rng, vec3(-13, -1, -13), vec3(13, 4, 13));
        (void)stage_part(stage, scrum_part(&rng, at));
    }
    stage_open(stage);
    for (int i = 0; i < SCRUM_MOVERS; i++) {
        scrum.homes[i] = stage_random(&rng, vec3(-12, 0, -12), vec3(12, 3, 12));
        scrum.movers[i] = stage_spawn(stage, scrum_part(&rng, scrum.homes[i]));
    }
    for (int i = 0; i < 40; i++) {
        (void)stage_player(stage, stage_random(&rng, vec3(-12, 4, -12), vec3(12, 8, 12)));
    }
}

static void scrum_move(Stage *stage, int i)
{
    Rng *rng = &stage->rng;
    const Vec3 goal = vec3_add(scrum.homes[i], stage_random(rng, vec3(-3, -1, -3), vec3(3, 2, 3)));
    const Vec3 way = vec3_sub(goal, stage_feet(stage, scrum.movers[i]));
    const uint32_t ticks = 40 + rng_below(rng, 60);
    const float rate = 1 / ((float)ticks * sim_tick_seconds(stage->sim));
    const Vec3 turning = stage_random(rng, vec3(-0.5f, -1.5f, -0.5f), vec3(0.5f, 1.5f, 0.5f));
    stage_move(stage, scrum.movers[i], vec3_scale(way, rate), turning, ticks);
}

static void scrum_drive(Stage *stage)
{
    Rng *rng = &stage->rng;
    for (int i = 0; i < SCRUM_MOVERS; i++) {
        if (stage_at(stage, scrum.movers[i])->part.motion.count == 0) {
            scrum_move(stage, i);
        }
    }
    for (uint32_t i = 0; i < stage->player_count; i++) {
        const Handle player = stage->players[i];
        const Entity *entity = stage_at(stage, player);
        scrum.on_movers += !handle_is_none(entity->character.platform);
        if (entity->character.health <= 0 || entity->position.y < -12) {
            const Vec3 at = stage_random(rng, vec3(-10, 4, -10), vec3(10, 8, 10));
            stage_expect_ok(stage, "revive", sim_revive(stage->sim, player, at));
        }
        stage_wander(stage, player, 15);
        if (rng_below(rng, 200) == 0) {
            const Vec3 kick = stage_random(rng, vec3(-30, -30, -30), vec3(30, 30, 30));
            stage_expect_ok(stage, "kick", sim_set_velocity(stage->sim, player, kick));
        }
    }
}

static void scrum_finish(Stage *stage)
{
    stage_expect(stage, scrum.on_movers > 300, "only %u ticks on moving parts", scrum.on_movers);
    stage_expect(stage, stage_total(stage, SIM_EVENT_CRUSHED) > 0, "nobody was crushed");
    stage_expect(stage, stage->counters.colliders_dropped == 0, "colliders were dropped");
}

// --- half rate ----------------------------------------------------------------------------------
static struct {
    Handle platform, rider, walker, faller, jumper;
    float rider_top, jumper_top;
    Vec3 walker_from;
} half;

static void half_build(Stage *stage)
{
    memset(&half, 0, sizeof half);
    stage->config.tick_rate = 30;
    stage_ground(stage, 32);
    (void)stage_part(stage, part_wedge(vec3(10, 1, 0), vec3(2, 1, 3), 0));
    stage_open(stage);
    half.platform = stage_spawn(stage, part_box(vec3(0, 0.25f, 0), vec3(2, 0.25f, 2)));
    half.rider = stage_player(stage, vec3(0, 0.5f, 0));
    half.walker = stage_player(stage, half.walker_from = vec3(-20, 0, 20));
    half.faller = stage_player(stage, vec3(20, 60, 20));
    half.jumper = stage_player(stage, vec3(-20, 0, -20));
    (void)stage_player(stage, vec3(10, 0, -5)); // up the wedge
    stage_move(stage, half.platform, vec3(0, 2, 0), VEC3_ZERO, 90);
    stage_move(stage, half.platform, vec3(2, -2, 0), VEC3_ZERO, 90);
}

static void half_drive(Stage *stage)
{
    stage_stand(stage, half.rider);
    stage_stand(stage, half.faller);
    stage_walk(stage, half.walker, vec3(1, 0, 0), 0);
    stage_walk(stage, half.jumper, VEC3_ZERO, stage->tick == 10 ? INPUT_JUMP : 0u);
    stage_walk(stage, stage->players[4], vec3(0, 0, 1), INPUT_RUN);
    half.rider_top = math_max(half.rider_top, stage_feet(stage, half.rider).y);
    half.jumper_top = math_max(half.jumper_top, stage_feet(stage, half.jumper).y);
    if (stage->tick == 120) {
        half.walker_from = stage_feet(stage, half.walker);
    } else if (stage->tick == 150) { // a second later
        const float way = stage_distance(stage_feet(stage, half.walker), half.walker_from);
        stage_expect_near(stage, "the way walked in a second", way,
                          stage->config.character.walk_speed, 0.05f);
    }
}

static void half_finish(Stage *stage)
{
    const CharacterTuning *tuning = &stage->config.character;
    stage_expect_near(stage, "the rider's top", half.rider_top, 6.5f, 0.1f);
    const Vec3 rider = stage_feet(stage, half.rider);
    stage_expect_near(stage, "the rider's end, x", rider.x, 6, 0.2f);
    stage_expect_near(stage, "the rider's end, y", rider.y, 0.5f, 0.1f);
    stage_expect_near(stage, "the faller's height", stage_feet(stage, half.faller).y, 0, 0.02f);
    const float height = tuning->jump_speed * tuning->jump_speed / (2 * tuning->gravity);
    stage_expect_near(stage, "the height of a jump", half.jumper_top, height, height * 0.15f);
    stage_expect(stage, stage_feet(stage, stage->players[4]).z > 2.5f, "not over the wedge");
}

// --- client -------------------------------------------------------------------------------------
// A client's sim predicts movement and platforms, and decides nothing that the server decides.
static struct {
    Handle me, other, platform, rider;
    uint64_t zone;
} client;

static void client_build(Stage *stage)
{
    memset(&client, 0, sizeof client);
    stage->config = sim_config_client();
    stage_ground(stage, 16);
    client.zone = stage_part(stage, part_zone(vec3(3, 1, 0), vec3(1, 1, 1)));
    PartDesc lava = part_flagged(part_box(vec3(0, 0.05f, 6), vec3(3, 0.05f, 1)), PART_DAMAGE);
    lava.data.damage = 50;
    (void)stage_part(stage, lava);
    PartDesc pad = part_flagged(part_box(vec3(-6, 0.1f, 0), vec3(1, 0.1f, 1)), PART_BOUNCE);
    pad.data.bounce_speed = 10;
    (void)stage_part(stage, pad);
    stage_open(stage);
    client.me = stage_player(stage, vec3(0, 0, 0));
    client.other = stage_player(stage, vec3(0.2f, 0, 0)); // inside me: no push here
    client.platform = stage_spawn(stage, part_box(vec3(0, 0.25f, -8), vec3(2, 0.25f, 2)));
    client.rider = stage_player(stage, vec3(0, 0.5f, -8));
    (void)stage_player(stage, vec3(0, 0.1f, 6)); // in the lava
    (void)stage_player(stage, vec3(-6, 2, 0));   // over the pad
    stage_move(stage, client.platform, vec3(0, 1, 0), vec3(0, 0.5f, 0), 240);
}

static void client_drive(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_stand(stage, stage->players[i]);
    }
    if (stage->tick > 60) {
        stage_walk(stage, client.me, vec3(1, 0, 0), 0); // through the zone
    }
}

static void client_finish(Stage *stage)
{
    const SimEventType never[] = {SIM_EVENT_DAMAGED, SIM_EVENT_DIED, SIM_EVENT_TRIGGER_ENTERED,
                                  SIM_EVENT_TRIGGER_LEFT};
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        stage_expect(stage, stage_total(stage, never[i]) == 0, "the client decided event %d",
                     (int)never[i]);
    }
    const Vec3 other = stage_feet(stage, client.other);
    stage_expect(stage, other.x == 0.2f && other.z == 0, "the client pushed somebody");
    stage_expect(stage, stage_feet(stage, client.me).x > 5, "I did not walk");
    stage_expect_near(stage, "the rider's height", stage_feet(stage, client.rider).y, 4.5f, 0.05f);
    stage_expect(stage, stage_total(stage, SIM_EVENT_BOUNCED) > 0, "no bounce was predicted");
    stage_expect(stage, sim_bytes(&stage->config, stage->scene) <= 256 * 1024, "costs %zu bytes",
                 sim_bytes(&stage->config, stage->scene));
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

static void hostile_build(Stage *stage)
{
    stage_hills(stage, 16, 5);
    (void)stage_part(stage, part_box(vec3(0, 3, 0), vec3(3, 0.2f, 3)));
    stage_open(stage);
    for (int i = 0; i < 24; i++) {
        (void)stage_player(stage, vec3((float)(i % 6) * 4 - 10, 5, (float)(i / 6) * 5 - 8));
    }
}

static void hostile_call(Stage *stage, Handle player)
{
    Rng *rng = &stage->rng;
    Vec3 v;
    v.x = hostile_number(rng);
    v.y = hostile_number(rng);
    v.z = hostile_number(rng);
    Handle made;
    switch (rng_below(rng, 6)) {
    case 0:
        (void)!sim_set_velocity(stage->sim, player, v);
        break;
    case 1:
        (void)!sim_spawn_player(stage->sim, &(CharacterDesc){.position = v, .yaw = v.x}, &made);
        break;
    case 2: {
        ProjectileDesc desc = {
            .position = v, .velocity = v, .radius = v.x, .gravity = v.y, .damage = v.z};
        desc.lifetime_ticks = rng_u32(rng);
        desc.rewind_ticks = rng_u32(rng);
        (void)!projectile_fire(stage->sim, &desc, &made);
        break;
    }
    case 3:
        (void)!terrain_fill_sphere(sim_terrain(stage->sim), v, hostile_number(rng), 3, NULL);
        break;
    case 4:
        (void)!sim_spawn_part(stage->sim,
                              &(ShapeDesc){.part = part_turned(part_box(v, v), vec3(0, 1, 0), v.x)},
                              &made);
        break;
    default:
        made.index = rng_u32(rng);
        made.generation = rng_u32(rng);
        sim_remove(stage->sim, made);
        break;
    }
}

static void hostile_drive(Stage *stage)
{
    Rng *rng = &stage->rng;
    for (uint32_t i = 0; i < stage->player_count; i++) {
        SimInput input = {.buttons = rng_u32(rng)};
        input.move_x = hostile_number(rng);
        input.move_z = hostile_number(rng);
        input.yaw = hostile_number(rng);
        input.pitch = hostile_number(rng);
        stage_input(stage, stage->players[i], input);
    }
    hostile_call(stage, stage->players[rng_below(rng, stage->player_count)]);
}

static void hostile_finish(Stage *stage)
{
    stage_expect(stage, stage->counters.inputs_sanitised > 1000, "only %llu inputs were refused",
                 (unsigned long long)stage->counters.inputs_sanitised);
    uint32_t alive = 0;
    for (uint32_t i = 0; i < stage->player_count; i++) {
        const Entity *entity = stage_at(stage, stage->players[i]);
        alive += entity->character.health > 0;
        stage_expect(stage, math_abs(entity->position.x) <= WORLD_EXTENT_M, "left the world");
    }
    stage_expect(stage, alive > 0, "nobody survived");
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
