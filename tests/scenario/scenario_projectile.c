// Projectiles: straight and in arcs, against all kinds of targets, and against past positions of
// characters.
#include "tests/scenario/scenario.h"

#include <string.h>

static Handle fire(Stage *stage, ProjectileDesc desc)
{
    Handle made = HANDLE_NONE;
    stage_expect_ok(stage, "fire", projectile_fire(stage->sim, &desc, &made));
    return made;
}

// --- storm --------------------------------------------------------------------------------------
static struct {
    uint32_t fired, hit_terrain, hit_scene, hit_player, hit_part;
} storm;

static void storm_build(Stage *stage)
{
    memset(&storm, 0, sizeof storm);
    Rng rng = rng_make(5, 5);
    stage->config.entity_max = 2048;
    stage_hills(stage, 32, 3);
    for (int i = 0; i < 40; i++) {
        const Vec3 at = stage_random(&rng, vec3(-28, 1, -28), vec3(28, 8, 28));
        PartDesc part = part_box(at, vec3(1.5f, rng_range(&rng, 0.2f, 2), 1));
        part.shape.kind = (ShapeKind)(i % SHAPE_KIND_COUNT);
        (void)stage_part(stage, part_turned(part, vec3(1, 1, 0), rng_range(&rng, -2, 2)));
    }
    stage_open(stage);
    for (int i = 0; i < 24; i++) {
        (void)stage_player(stage, vec3((float)(i % 6) * 8 - 20, 6, (float)(i / 6) * 10 - 15));
    }
    for (int i = 0; i < 4; i++) {
        const Handle spinner =
            stage_spawn(stage, part_box(vec3((float)i * 10 - 15, 3.5f, -5), vec3(3, 1.5f, 1)));
        stage_move(stage, spinner, vec3(0, 0, 1), vec3(0, 2, 0), 600);
    }
}

static void storm_shoot(Stage *stage)
{
    Rng *rng = &stage->rng;
    const uint32_t who = rng_below(rng, stage->player_count);
    const Entity *shooter = stage_at(stage, stage->players[who]);
    const Entity *target = stage_at(stage, stage->players[rng_below(rng, stage->player_count)]);
    const Vec3 from = vec3_add(shooter->position, vec3(0, 1.5f, 0));
    const Vec3 miss = stage_random(rng, vec3(-2, 1, -2), vec3(2, 1, 2));
    const Vec3 aim = vec3_normalise(vec3_sub(vec3_add(target->position, miss), from));
    ProjectileDesc desc = {.shooter = stage->players[who], .position = from, .damage = 1};
    desc.velocity = vec3_scale(aim, rng_range(rng, 10, 150));
    desc.radius = rng_below(rng, 3) == 0 ? 0 : rng_range(rng, 0.02f, 0.4f);
    desc.gravity = rng_below(rng, 2) == 0 ? 9.8f : 0.0f;
    desc.lifetime_ticks = 40 + rng_below(rng, 200);
    desc.rewind_ticks = rng_below(rng, 30);
    desc.kind = rng_below(rng, 9);
    (void)fire(stage, desc);
    storm.fired += 1;
}

static void storm_count(Stage *stage)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(stage->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].type != SIM_EVENT_PROJECTILE_HIT) {
            continue;
        }
        const Handle hit = sim_find(stage->sim, events[i].other);
        const Entity *entity = sim_entity(stage->sim, hit);
        storm.hit_terrain += events[i].other == 0;
        storm.hit_scene += events[i].other != 0 && events[i].other <= stage->part_count;
        storm.hit_player += entity != NULL && entity->type == ENTITY_PLAYER;
        storm.hit_part += entity != NULL && entity->type == ENTITY_PART;
    }
}

static void storm_drive(Stage *stage)
{
    storm_count(stage);
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_wander(stage, stage->players[i], 30);
    }
    for (int i = 0; i < 4 && stage->tick < 420; i++) {
        storm_shoot(stage);
    }
}

static void storm_finish(Stage *stage)
{
    storm_count(stage);
    const uint64_t ended = stage_total(stage, SIM_EVENT_PROJECTILE_HIT) +
                           stage_total(stage, SIM_EVENT_PROJECTILE_ENDED);
    stage_expect(stage, ended + sim_count(stage->sim, ENTITY_PROJECTILE) >= storm.fired,
                 "%u fired, %llu ended", storm.fired, (unsigned long long)ended);
    stage_expect(stage, storm.hit_terrain > 100 && storm.hit_scene > 50 && storm.hit_player > 50,
                 "hit terrain %u, anchored parts %u, players %u times", storm.hit_terrain,
                 storm.hit_scene, storm.hit_player);
    stage_expect(stage, storm.hit_part > 0, "no moving part was hit");
    stage_expect(stage, stage_total(stage, SIM_EVENT_PROJECTILE_ENDED) > 10,
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

static void arcs_build(Stage *stage)
{
    memset(&arcs, 0, sizeof arcs);
    stage_ground(stage, 64);
    (void)stage_part(stage, part_box(vec3(50, 2, 20), vec3(0.01f, 2, 2))); // a sheet
    stage_open(stage);
    for (int i = 0; i < ARC_COUNT; i++) {
        arcs.flying[i] = fire(stage, (ProjectileDesc){
                                         .position = vec3(-60, 1, (float)i * 2),
                                         .velocity = vec3(10 + 3 * (float)i, 10, 0),
                                         .radius = 0.1f * (float)i,
                                         .gravity = 10,
                                         .lifetime_ticks = 1000,
                                     });
        arcs.ids[i] = stage_net_id(stage, arcs.flying[i]);
    }
    // Fifteen metres in a tick, and the sheet is two centimetres thick.
    arcs.straight = fire(stage, (ProjectileDesc){.position = vec3(-50, 2, 20.3f),
                                                 .velocity = vec3(900, 0, 0),
                                                 .lifetime_ticks = 100});
    arcs.straight_id = stage_net_id(stage, arcs.straight);
    arcs.slow = fire(stage, (ProjectileDesc){.position = vec3(0, 30, 0),
                                             .velocity = vec3(1, 0, 0),
                                             .lifetime_ticks = 90});
}

static void arcs_drive(Stage *stage)
{
    uint32_t count = 0;
    const SimEvent *events = sim_events(stage->sim, &count);
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < ARC_COUNT; k++) {
            if (events[i].type == SIM_EVENT_PROJECTILE_HIT && events[i].subject == arcs.ids[k]) {
                arcs.landed_x[k] = events[i].position.x;
            }
        }
        if (events[i].type == SIM_EVENT_PROJECTILE_HIT && events[i].subject == arcs.straight_id) {
            arcs.straight_hit = events[i].position;
            stage_expect(stage, events[i].other == 1, "the sheet was not hit");
            stage_expect_near(stage, "the sheet's normal", events[i].normal.x, -1, 0.01f);
        }
    }
}

static void arcs_finish(Stage *stage)
{
    for (int i = 0; i < ARC_COUNT; i++) {
        const float drop = 1 - 0.1f * (float)i;
        const float seconds = (10 + math_sqrt(100 + 20 * drop)) / 10;
        const float want = -60 + (10 + 3 * (float)i) * seconds;
        stage_expect_near(stage, "where an arc ends", arcs.landed_x[i], want, 0.6f);
    }
    stage_expect_near(stage, "where the straight shot ends", arcs.straight_hit.x, 49.99f, 0.05f);
    stage_expect(stage, stage_total(stage, SIM_EVENT_PROJECTILE_ENDED) == 1,
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

static void rewound_build(Stage *stage)
{
    memset(&rewound, 0, sizeof rewound);
    stage_ground(stage, 48);
    stage_open(stage);
    for (int i = 0; i < REWIND_LANES; i++) {
        rewound.targets[i] = stage_player(stage, vec3(-20, 0, 10 * (float)i));
    }
    rewound.shooter = stage_player(stage, vec3(0, 0, -20));
    rewound.dead = stage_player(stage, vec3(10, 0, -10));
    (void)sim_damage(stage->sim, rewound.dead, 1e6f, 0);
}

static void rewound_drive(Stage *stage)
{
    const uint32_t now = stage->tick % 64;
    for (int i = 0; i < REWIND_LANES; i++) {
        const Handle target = rewound.targets[i];
        const bool right = stage->tick / 150 % 2 == 0;
        stage_walk(stage, target, vec3(right ? 1.0f : -1.0f, 0, 0), INPUT_RUN);
        rewound.past[now][i] = stage_feet(stage, target);
        rewound.hits[i] +=
            stage_seen(stage, SIM_EVENT_PROJECTILE_HIT, 0, stage_net_id(stage, target));
        // Not around the turn, where now and then are at the same place.
        if (stage->tick % 150 < 60 || stage->tick % 150 > 140 || stage->tick % 6 != 0) {
            continue;
        }
        const Vec3 then = rewound.past[(now + 64 - REWIND_AIM[i]) % 64][i];
        (void)fire(stage, (ProjectileDesc){
                              .shooter = rewound.shooter,
                              .position = vec3_add(then, vec3(0, 1, -3)),
                              .velocity = vec3(0, 0, 300),
                              .damage = 0.1f,
                              .lifetime_ticks = 1,
                              .rewind_ticks = REWIND_TICKS[i],
                          });
        rewound.shots[i] += 1;
    }
    stage_stand(stage, rewound.shooter);
    if (stage->tick % 50 == 10) {
        (void)fire(stage, (ProjectileDesc){.position = vec3(10, 1, -15),
                                           .velocity = vec3(0, 0, 300),
                                           .lifetime_ticks = 2,
                                           .rewind_ticks = 10});
    }
}

static void rewound_finish(Stage *stage)
{
    for (int i = 0; i < REWIND_LANES; i++) {
        stage_expect(stage, rewound.shots[i] > 20, "only %u shots", rewound.shots[i]);
    }
    stage_expect(stage, rewound.hits[0] == rewound.shots[0], "%u of %u rewound shots hit",
                 rewound.hits[0], rewound.shots[0]);
    for (int i = 1; i < REWIND_LANES; i++) {
        stage_expect(stage, rewound.hits[i] == 0, "%u shots hit in lane %d", rewound.hits[i], i);
    }
    stage_expect(stage, stage_at(stage, rewound.dead)->character.health == 0, "the dead one lives");
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
