// Projectiles: straight and in arcs, against all kinds of targets, and against past positions of
// characters.
#include "tests/scenario/scenario.h"

#include <string.h>

static Handle fire(ScenarioWorld *world, ProjectileDesc desc)
{
    Handle made = HANDLE_NONE;
    scenario_expect_ok(world, "fire", projectile_fire(world->sim, &desc, &made));
    return made;
}

// --- storm --------------------------------------------------------------------------------------
static struct {
    uint32_t fired, hit_terrain, hit_scene, hit_player, hit_part;
} storm;

static void storm_build(ScenarioWorld *world)
{
    memset(&storm, 0, sizeof storm);
    Rng rng = rng_make(5, 5);
    world->config.entity_max = 2048;
    scenario_hills(world, 32, 3);
    for (int i = 0; i < 40; i++) {
        const Vec3 at = scenario_random(&rng, vec3(-28, 1, -28), vec3(28, 8, 28));
        PartDesc part = part_box(at, vec3(1.5f, rng_range(&rng, 0.2f, 2), 1));
        part.shape.kind = (ShapeKind)(i % SHAPE_KIND_COUNT);
        (void)scenario_part(world, part_turned(part, vec3(1, 1, 0), rng_range(&rng, -2, 2)));
    }
    scenario_open(world);
    for (int i = 0; i < 24; i++) {
        (void)scenario_player(world, vec3((float)(i % 6) * 8 - 20, 6, (float)(i / 6) * 10 - 15));
    }
    for (int i = 0; i < 4; i++) {
        const Handle spinner =
            scenario_spawn(world, part_box(vec3((float)i * 10 - 15, 3.5f, -5), vec3(3, 1.5f, 1)));
        scenario_move(world, spinner, vec3(0, 0, 1), vec3(0, 2, 0), 600);
    }
}

static void storm_shoot(ScenarioWorld *world)
{
    Rng *rng = &world->rng;
    const uint32_t who = rng_below(rng, world->player_count);
    const Entity *shooter = scenario_at(world, world->players[who]);
    const Entity *target = scenario_at(world, world->players[rng_below(rng, world->player_count)]);
    const Vec3 from = vec3_add(shooter->position, vec3(0, 1.5f, 0));
    const Vec3 miss = scenario_random(rng, vec3(-2, 1, -2), vec3(2, 1, 2));
    const Vec3 aim = vec3_normalise(vec3_sub(vec3_add(target->position, miss), from));
    ProjectileDesc desc = {.shooter = world->players[who], .position = from, .damage = 1};
    desc.velocity = vec3_scale(aim, rng_range(rng, 10, 150));
    desc.radius = rng_below(rng, 3) == 0 ? 0 : rng_range(rng, 0.02f, 0.4f);
    desc.gravity = rng_below(rng, 2) == 0 ? 9.8f : 0.0f;
    desc.lifetime_ticks = 40 + rng_below(rng, 200);
    desc.rewind_ticks = rng_below(rng, 30);
    desc.kind = rng_below(rng, 9);
    (void)fire(world, desc);
    storm.fired += 1;
}

static void storm_count(ScenarioWorld *world)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type != SIM_EVENT_PROJECTILE_HIT) {
            continue;
        }
        const Handle hit = sim_find(world->sim, events[i].other);
        const Entity *entity = sim_entity(world->sim, hit);
        storm.hit_terrain += events[i].other == 0;
        storm.hit_scene += events[i].other != 0 && events[i].other <= world->part_count;
        storm.hit_player += entity != NULL && entity->type == ENTITY_PLAYER;
        storm.hit_part += entity != NULL && entity->type == ENTITY_PART;
    }
}

static void storm_drive(ScenarioWorld *world)
{
    storm_count(world);
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_wander(world, world->players[i], 30);
    }
    for (int i = 0; i < 4 && world->tick < 420; i++) {
        storm_shoot(world);
    }
}

static void storm_finish(ScenarioWorld *world)
{
    storm_count(world);
    const uint64_t ended = scenario_total(world, SIM_EVENT_PROJECTILE_HIT) +
                           scenario_total(world, SIM_EVENT_PROJECTILE_ENDED);
    scenario_expect(world, ended + sim_count(world->sim, ENTITY_PROJECTILE) >= storm.fired,
                    "%u fired, %llu ended", storm.fired, (unsigned long long)ended);
    scenario_expect(world, storm.hit_terrain > 100 && storm.hit_scene > 50 && storm.hit_player > 50,
                    "hit terrain %u, anchored parts %u, players %u times", storm.hit_terrain,
                    storm.hit_scene, storm.hit_player);
    scenario_expect(world, storm.hit_part > 0, "no moving part was hit");
    scenario_expect(world, scenario_total(world, SIM_EVENT_PROJECTILE_ENDED) > 10,
                    "hardly any ended in the air");
}

// --- arcs ---------------------------------------------------------------------------------------
#define ARC_COUNT 5

static struct {
    Handle flying[ARC_COUNT], straight, slow;
    uint64_t ids[ARC_COUNT], straight_id;
    float landed_x[ARC_COUNT];
    Vec3 straight_hit;
} arcs;

static void arcs_build(ScenarioWorld *world)
{
    memset(&arcs, 0, sizeof arcs);
    scenario_ground(world, 64);
    (void)scenario_part(world, part_box(vec3(50, 2, 20), vec3(0.01f, 2, 2))); // a sheet
    scenario_open(world);
    for (int i = 0; i < ARC_COUNT; i++) {
        arcs.flying[i] = fire(world, (ProjectileDesc){
                                         .position = vec3(-60, 1, (float)i * 2),
                                         .velocity = vec3(10 + 3 * (float)i, 10, 0),
                                         .radius = 0.1f * (float)i,
                                         .gravity = 10,
                                         .lifetime_ticks = 1000,
                                     });
        arcs.ids[i] = scenario_net_id(world, arcs.flying[i]);
    }
    // Fifteen metres in a tick, and the sheet is two centimetres thick.
    arcs.straight = fire(world, (ProjectileDesc){.position = vec3(-50, 2, 20.3f),
                                                 .velocity = vec3(900, 0, 0),
                                                 .lifetime_ticks = 100});
    arcs.straight_id = scenario_net_id(world, arcs.straight);
    arcs.slow = fire(world, (ProjectileDesc){.position = vec3(0, 30, 0),
                                             .velocity = vec3(1, 0, 0),
                                             .lifetime_ticks = 90});
}

static void arcs_drive(ScenarioWorld *world)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(world->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < ARC_COUNT; k++) {
            if (events[i].type == SIM_EVENT_PROJECTILE_HIT && events[i].subject == arcs.ids[k]) {
                arcs.landed_x[k] = events[i].position.x;
            }
        }
        if (events[i].type == SIM_EVENT_PROJECTILE_HIT && events[i].subject == arcs.straight_id) {
            arcs.straight_hit = events[i].position;
            scenario_expect(world, events[i].other == 1, "the sheet was not hit");
            scenario_expect_near(world, "the sheet's normal", events[i].normal.x, -1, 0.01f);
        }
    }
}

static void arcs_finish(ScenarioWorld *world)
{
    for (int i = 0; i < ARC_COUNT; i++) {
        const float drop = 1 - 0.1f * (float)i;
        const float seconds = (10 + math_sqrt(100 + 20 * drop)) / 10;
        const float want = -60 + (10 + 3 * (float)i) * seconds;
        scenario_expect_near(world, "where an arc ends", arcs.landed_x[i], want, 0.6f);
    }
    scenario_expect_near(world, "where the straight shot ends", arcs.straight_hit.x, 49.99f, 0.05f);
    scenario_expect(world, scenario_total(world, SIM_EVENT_PROJECTILE_ENDED) == 1,
                    "the slow one did not just end");
}

// --- rewound ------------------------------------------------------------------------------------
// Targets run sideways; shots are aimed at where they were some ticks ago.
#define REWIND_LANES 4

static struct {
    Handle targets[REWIND_LANES], shooter, dead, teleported;
    uint32_t hits[REWIND_LANES];
    uint32_t shots[REWIND_LANES];
    Vec3 past[64][REWIND_LANES];
} rewound;

// Lane 0 is rewound as long ago as it aims; the others too little, not at all, or beyond the cap.
static const uint32_t REWIND_AIM[REWIND_LANES] = {15, 15, 15, 40};
static const uint32_t REWIND_TICKS[REWIND_LANES] = {15, 4, 0, 40};

static void rewound_build(ScenarioWorld *world)
{
    memset(&rewound, 0, sizeof rewound);
    scenario_ground(world, 48);
    scenario_open(world);
    for (int i = 0; i < REWIND_LANES; i++) {
        rewound.targets[i] = scenario_player(world, vec3(-20, 0, 10 * (float)i));
    }
    rewound.shooter = scenario_player(world, vec3(0, 0, -20));
    rewound.dead = scenario_player(world, vec3(10, 0, -10));
    (void)sim_damage(world->sim, rewound.dead, 1e6f, 0);
}

static void rewound_drive(ScenarioWorld *world)
{
    const uint32_t now = world->tick % 64;
    for (int i = 0; i < REWIND_LANES; i++) {
        const Handle target = rewound.targets[i];
        const bool right = world->tick / 150 % 2 == 0;
        scenario_walk(world, target, vec3(right ? 1.0f : -1.0f, 0, 0), INPUT_RUN);
        rewound.past[now][i] = scenario_feet(world, target);
        rewound.hits[i] +=
            scenario_seen(world, SIM_EVENT_PROJECTILE_HIT, 0, scenario_net_id(world, target));
        // Not around the turn, where now and then are at the same place.
        if (world->tick % 150 < 60 || world->tick % 150 > 140 || world->tick % 6 != 0) {
            continue;
        }
        const Vec3 then = rewound.past[(now + 64 - REWIND_AIM[i]) % 64][i];
        (void)fire(world, (ProjectileDesc){
                              .shooter = rewound.shooter,
                              .position = vec3_add(then, vec3(0, 1, -3)),
                              .velocity = vec3(0, 0, 300),
                              .damage = 0.1f,
                              .lifetime_ticks = 1,
                              .rewind_ticks = REWIND_TICKS[i],
                          });
        rewound.shots[i] += 1;
    }
    scenario_stand(world, rewound.shooter);
    if (world->tick % 50 == 10) {
        (void)fire(world, (ProjectileDesc){.position = vec3(10, 1, -15),
                                           .velocity = vec3(0, 0, 300),
                                           .lifetime_ticks = 2,
                                           .rewind_ticks = 10});
    }
}

static void rewound_finish(ScenarioWorld *world)
{
    for (int i = 0; i < REWIND_LANES; i++) {
        scenario_expect(world, rewound.shots[i] > 20, "only %u shots", rewound.shots[i]);
    }
    scenario_expect(world, rewound.hits[0] == rewound.shots[0], "%u of %u rewound shots hit",
                    rewound.hits[0], rewound.shots[0]);
    for (int i = 1; i < REWIND_LANES; i++) {
        scenario_expect(world, rewound.hits[i] == 0, "%u shots hit in lane %d", rewound.hits[i], i);
    }
    scenario_expect(world, scenario_at(world, rewound.dead)->character.health == 0,
                    "the dead one lives");
}

const Scenario scenarios_projectile[] = {
    {"storm", "1680 projectiles, straight and falling, at players, parts and hills", 600,
     storm_build, storm_drive, storm_finish},
    {"arcs", "gravity bends flights as it should; a fast shot does not pass a thin sheet", 300,
     arcs_build, arcs_drive, arcs_finish},
    {"rewound", "shots hit where a runner was when they are rewound by as much, and only then", 600,
     rewound_build, rewound_drive, rewound_finish},
    {0},
};
