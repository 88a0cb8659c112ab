// What parts do by themselves: carry, can be climbed, bounce, damage, and report who is inside.
#include "tests/scenario/scenario.h"

#include <string.h>

static PartDesc conveyor(PartDesc part, Vec3 speed)
{
    part.data.conveyor_speed = speed;
    return part_flagged(part, PART_CONVEYOR);
}

// --- conveyors ----------------------------------------------------------------------------------
static struct {
    Handle stander, against, turned, sloped, moving;
    Vec3 stander_at, against_at, turned_at;
} belts;

static void belts_build(ScenarioWorld *world)
{
    memset(&belts, 0, sizeof belts);
    scenario_ground(world, 40);
    const Vec3 half = vec3(12, 0.1f, 1.5f);
    (void)scenario_part(world, conveyor(part_box(vec3(0, 0.1f, 0), half), vec3(2, 0, 0)));
    (void)scenario_part(world, conveyor(part_box(vec3(0, 0.1f, 6), half),
                                        vec3(-world->config.character.walk_speed, 0, 0)));
    (void)scenario_part(world,
                        part_turned(conveyor(part_box(vec3(0, 0.1f, -12), half), vec3(3, 0, 0)),
                                    vec3(0, 1, 0), 0.5f));
    (void)scenario_part(world,
                        conveyor(part_wedge(vec3(20, 1, 12), vec3(2, 1, 4), 0), vec3(0, 0, 2)));
    scenario_open(world);
    belts.stander = scenario_player(world, vec3(-3, 0.2f, 0));
    belts.against = scenario_player(world, vec3(0, 0.2f, 6));
    belts.turned = scenario_player(world, vec3(0, 0.2f, -12));
    belts.sloped = scenario_player(world, vec3(20, 1, 10));
    const Handle belt = scenario_spawn(
        world, conveyor(part_box(vec3(0, 0.1f, 16), vec3(3, 0.1f, 3)), vec3(0, 0, 1)));
    belts.moving = scenario_player(world, vec3(0, 0.2f, 14));
    scenario_move(world, belt, vec3(1, 0, 0), VEC3_ZERO, 300);
}

static void belts_drive(ScenarioWorld *world)
{
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_stand(world, world->players[i]);
    }
    scenario_walk(world, belts.against, vec3(1, 0, 0), 0);
    if (world->tick == 60) {
        belts.stander_at = scenario_feet(world, belts.stander);
        belts.against_at = scenario_feet(world, belts.against);
        belts.turned_at = scenario_feet(world, belts.turned);
    } else if (world->tick == 120) {
        const float drift =
            scenario_distance(scenario_feet(world, belts.stander), belts.stander_at);
        scenario_expect_near(world, "the way of who stands, in a second", drift, 2, 0.1f);
        const float held = scenario_distance(scenario_feet(world, belts.against), belts.against_at);
        scenario_expect_near(world, "the way of who walks against it", held, 0, 0.1f);
        const Vec3 way = vec3_sub(scenario_feet(world, belts.turned), belts.turned_at);
        scenario_expect_near(world, "the turned belt, along x", way.x, 3 * math_cos(0.5f), 0.15f);
        scenario_expect_near(world, "the turned belt, along z", way.z, -3 * math_sin(0.5f), 0.15f);
        const Vec3 carried = scenario_feet(world, belts.moving);
        scenario_expect_near(world, "the moving belt, along x", carried.x, 2, 0.15f);
        scenario_expect(world, carried.z > 15, "the moving belt does not run: %.3f",
                        (double)carried.z);
    }
}

static void belts_finish(ScenarioWorld *world)
{
    const Vec3 stander = scenario_feet(world, belts.stander);
    scenario_expect(world, stander.x > 11 && stander.y < 0.05f,
                    "not carried off the end: %.3f %.3f", (double)stander.x, (double)stander.y);
    const Vec3 sloped = scenario_feet(world, belts.sloped);
    scenario_expect(world, sloped.z > 15.5f, "the sloped belt carried only to %.3f",
                    (double)sloped.z);
}

// --- ladders ------------------------------------------------------------------------------------
static struct {
    Handle climber, down, jumper, turned;
    float climber_top, turned_top;
    uint32_t climbing_count;
} ladder;

static void ladder_build(ScenarioWorld *world)
{
    memset(&ladder, 0, sizeof ladder);
    scenario_ground(world, 32);
    // A house of 5 m with a ladder on its front, one that ghosts through, one turned.
    (void)scenario_part(world, part_box(vec3(0, 2.5f, 4), vec3(4, 2.5f, 2)));
    (void)scenario_part(
        world, part_flagged(part_box(vec3(0, 2.5f, 1.9f), vec3(0.5f, 2.5f, 0.1f)), PART_LADDER));
    (void)scenario_part(world,
                        part_flagged(part_box(vec3(2.5f, 2.5f, 1.8f), vec3(0.5f, 2.5f, 0.2f)),
                                     PART_LADDER | PART_GHOST));
    (void)scenario_part(
        world, part_turned(part_flagged(part_box(vec3(14, 3, 0), vec3(0.5f, 3, 0.1f)), PART_LADDER),
                           vec3(0, 1, 0), 0.8f));
    scenario_open(world);
    ladder.climber = scenario_player(world, vec3(0, 0, -1));
    ladder.down = scenario_player(world, vec3(2.5f, 0, 0.5f));
    ladder.jumper = scenario_player(world, vec3(-0.2f, 0, 0.8f));
    ladder.turned = scenario_player(world, vec3(14 - 1.4f, 0, -1.4f));
}

static void ladder_drive(ScenarioWorld *world)
{
    const Vec3 on = vec3(0, 0, 1);
    scenario_walk(world, ladder.climber, on, 0);
    // Up for a while, then lets go.
    scenario_walk(world, ladder.down, world->tick < 90 ? on : vec3(0, 0, -1), 0);
    scenario_walk(world, ladder.jumper, on, world->tick == 120 ? INPUT_JUMP : 0u);
    scenario_walk(world, ladder.turned, vec3(1, 0, 1), 0);
    ladder.climber_top = math_max(ladder.climber_top, scenario_feet(world, ladder.climber).y);
    ladder.turned_top = math_max(ladder.turned_top, scenario_feet(world, ladder.turned).y);
    ladder.climbing_count += scenario_at(world, ladder.climber)->character.climbing;
}

static void ladder_finish(ScenarioWorld *world)
{
    scenario_expect(world, ladder.climbing_count > 30, "climbed only %u ticks",
                    ladder.climbing_count);
    scenario_expect(world, ladder.climber_top > 4.95f, "climbed only to %.3f",
                    (double)ladder.climber_top);
    const Vec3 end = scenario_feet(world, ladder.climber);
    scenario_expect(world, end.z > 3, "did not get onto the roof: %.3f", (double)end.z);
    scenario_expect(world, ladder.turned_top > 4, "the turned ladder was climbed only to %.3f",
                    (double)ladder.turned_top);
    scenario_expect_near(world, "the height of who let go", scenario_feet(world, ladder.down).y, 0,
                         0.05f);
}

// --- bounce -------------------------------------------------------------------------------------
#define BOUNCE_SPEED 12.0f

static struct {
    Handle straight, tilted, walker;
    float top;
} bounce;

static PartDesc pad(PartDesc part)
{
    part.data.bounce_speed = BOUNCE_SPEED;
    return part_flagged(part, PART_BOUNCE);
}

static void bounce_build(ScenarioWorld *world)
{
    memset(&bounce, 0, sizeof bounce);
    scenario_ground(world, 40);
    (void)scenario_part(world, pad(part_box(vec3(0, 0.25f, 0), vec3(2, 0.25f, 2))));
    (void)scenario_part(world, part_turned(pad(part_box(vec3(12, 0.5f, 0), vec3(2, 0.25f, 2))),
                                           vec3(0, 0, 1), -0.5f));
    (void)scenario_part(world, pad(part_box(vec3(-12, 1.5f, 0), vec3(0.5f, 1.5f, 2))));
    scenario_open(world);
    bounce.straight = scenario_player(world, vec3(0, 3, 0));
    bounce.tilted = scenario_player(world, vec3(12, 4, 0));
    bounce.walker = scenario_player(world, vec3(-16, 0, 0));
}

static void bounce_drive(ScenarioWorld *world)
{
    scenario_stand(world, bounce.straight);
    scenario_stand(world, bounce.tilted);
    scenario_walk(world, bounce.walker, vec3(1, 0, 0), 0); // a wall that throws back
    if (scenario_total(world, SIM_EVENT_BOUNCED) > 0) {
        bounce.top = math_max(bounce.top, scenario_feet(world, bounce.straight).y);
    }
}

static void bounce_finish(ScenarioWorld *world)
{
    const float height = BOUNCE_SPEED * BOUNCE_SPEED / (2 * world->config.character.gravity);
    scenario_expect_near(world, "the height thrown to", bounce.top, 0.5f + height, height * 0.1f);
    scenario_expect(world, scenario_total(world, SIM_EVENT_BOUNCED) >= 6, "%llu bounces",
                    (unsigned long long)scenario_total(world, SIM_EVENT_BOUNCED));
    const Vec3 tilted = scenario_feet(world, bounce.tilted);
    scenario_expect(world, tilted.x > 15, "the tilted pad threw only to %.3f", (double)tilted.x);
    scenario_expect(world, scenario_feet(world, bounce.walker).x < -12.5f,
                    "walked through the pad");
}

// --- damage -------------------------------------------------------------------------------------
#define LAVA_DAMAGE 30.0f

static struct {
    Handle standing, jumping, healed, scripted;
    uint64_t lava;
    uint32_t died_tick, hurt_count;
    float health_low;
    Vec3 dead_at;
    bool dead_moved, revived;
} damage;

static void damage_build(ScenarioWorld *world)
{
    memset(&damage, 0, sizeof damage);
    scenario_ground(world, 24);
    PartDesc lava = part_flagged(part_box(vec3(0, 0.1f, 0), vec3(6, 0.1f, 3)), PART_DAMAGE);
    lava.data.damage = LAVA_DAMAGE;
    damage.lava = scenario_part(world, lava);
    // The same as a ghost: hurts inside.
    lava.pose.position = vec3(0, 1, 12);
    lava.shape.half = vec3(2, 1, 2);
    lava.data.damage = 5;
    (void)scenario_part(world, part_flagged(lava, PART_GHOST));
    scenario_open(world);
    damage.standing = scenario_player(world, vec3(0, 0.2f, 0));
    damage.jumping = scenario_player(world, vec3(3, 0.2f, 0));
    damage.healed = scenario_player(world, vec3(0, 0, 12));
    damage.scripted = scenario_player(world, vec3(12, 0, 12));
    damage.health_low = 1000;
}

static void damage_standing_watch(ScenarioWorld *world)
{
    const Entity *standing = scenario_at(world, damage.standing);
    const uint64_t id = standing->net_id;
    if (!damage.revived) {
        damage.hurt_count += scenario_seen(world, SIM_EVENT_DAMAGED, id, damage.lava);
    }
    if (damage.died_tick == 0 && scenario_seen(world, SIM_EVENT_DIED, id, 0) != 0) {
        damage.died_tick = world->tick;
        damage.dead_at = standing->position;
        scenario_expect(world, standing->character.health == 0, "died with %.1f health",
                        (double)standing->character.health);
    }
    if (damage.died_tick != 0 && !damage.revived) {
        damage.dead_moved |= !vec3_equal(standing->position, damage.dead_at);
        if (world->tick == damage.died_tick + 60) {
            scenario_expect_ok(world, "revive",
                               sim_revive(world->sim, damage.standing, vec3(-12, 0, 0)));
            damage.revived = true;
        }
    }
}

static void damage_drive(ScenarioWorld *world)
{
    damage_standing_watch(world);
    // Walks only once it is dead, and after it lives again.
    scenario_walk(world, damage.standing, damage.died_tick != 0 ? vec3(-1, 0, 0) : VEC3_ZERO, 0);
    scenario_walk(world, damage.jumping, VEC3_ZERO, world->tick % 20 < 2 ? INPUT_JUMP : 0u);
    scenario_stand(world, damage.healed);
    damage.health_low =
        math_min(damage.health_low, scenario_at(world, damage.healed)->character.health);
    if (world->tick % 100 == 99) {
        (void)sim_damage(world->sim, damage.healed, -1000, 0);
    }
    if (world->tick == 50) {
        const float left = sim_damage(world->sim, damage.scripted, 40, damage.lava);
        scenario_expect_near(world, "the health left", left,
                             world->config.character.health_max - 40, 0);
    }
}

static void damage_finish(ScenarioWorld *world)
{
    const float full = world->config.character.health_max;
    const uint32_t touches = (uint32_t)((full + LAVA_DAMAGE - 1) / LAVA_DAMAGE);
    scenario_expect(world, damage.hurt_count == touches, "hurt %u times, not %u", damage.hurt_count,
                    touches);
    const uint32_t pause = world->config.character.damage_pause_ms * world->config.tick_rate / 1000;
    scenario_expect(world, damage.died_tick >= (touches - 1) * pause, "died at tick %u",
                    damage.died_tick);
    scenario_expect(world, damage.died_tick <= touches * pause + 10, "died at tick %u",
                    damage.died_tick);
    scenario_expect(world, !damage.dead_moved, "the dead one moved");
    const Entity *standing = scenario_at(world, damage.standing);
    scenario_expect_near(world, "the health after reviving", standing->character.health, full, 0);
    scenario_expect(world, standing->position.x < -13, "the revived one does not walk");
    scenario_expect(world, damage.health_low < full && damage.health_low > full - 30,
                    "the healed one went down to %.1f", (double)damage.health_low);
    scenario_expect(world, scenario_total(world, SIM_EVENT_DIED) == 2, "%llu deaths",
                    (unsigned long long)scenario_total(world, SIM_EVENT_DIED));
}

// --- triggers -----------------------------------------------------------------------------------
static struct {
    Handle faller, runner, swept, sitter, launched, overwhelmed;
    Handle moving_zone, removed_zone;
    uint64_t thin_zone, line_zone, sphere_zone;
    uint32_t thin_enter, thin_leave, line_enter, line_leave, swept_enter, swept_leave;
    uint32_t sitter_enter, sitter_leave, launched_enter, launched_leave;
    uint32_t overwhelmed_enter, overwhelmed_leave;
} zones;

static void zones_build(ScenarioWorld *world)
{
    memset(&zones, 0, sizeof zones);
    scenario_ground(world, 40);
    zones.thin_zone = scenario_part(world, part_zone(vec3(0, 10, 0), vec3(2, 0.02f, 2)));
    zones.line_zone = scenario_part(world, part_zone(vec3(10, 1, 0), vec3(0.01f, 1, 3)));
    zones.sphere_zone = scenario_part(
        world, part_flagged(part_sphere(vec3(-20, 2, -20), 0.3f), PART_GHOST | PART_TRIGGER));
    // Ten zones in one place, two more than a character can store.
    for (int i = 0; i < 10; i++) {
        (void)scenario_part(world, part_zone(vec3(30, 1, 30), vec3(1 + 0.1f * (float)i, 1, 1)));
    }
    scenario_open(world);
    zones.overwhelmed = scenario_player(world, vec3(26, 0, 30));
    zones.faller = scenario_player(world, vec3(0, 120, 0));
    zones.runner = scenario_player(world, vec3(6, 0, 0));
    zones.swept = scenario_player(world, vec3(-10, 0, 10));
    zones.sitter = scenario_player(world, vec3(20, 0, 20));
    zones.launched = scenario_player(world, vec3(-30, 2, -20));
    // A metre a tick: half a metre before him in one tick, half a metre behind him in the next.
    zones.moving_zone = scenario_spawn(world, part_zone(vec3(-30.5f, 1, 10), vec3(0.01f, 1, 2)));
    zones.removed_zone = scenario_spawn(world, part_zone(vec3(20, 1, 20), vec3(2, 1, 2)));
    scenario_move(world, zones.moving_zone, vec3(60, 0, 0), VEC3_ZERO, 40);
    scenario_expect_ok(world, "velocity",
                       sim_set_velocity(world->sim, zones.launched, vec3(45, 2, 0)));
}

static void zones_drive(ScenarioWorld *world)
{
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_stand(world, world->players[i]);
    }
    scenario_walk(world, zones.runner, world->tick / 120 % 2 == 0 ? vec3(1, 0, 0) : vec3(-1, 0, 0),
                  INPUT_RUN);
    // Into the ten zones, a stay, and out again.
    const Vec3 way = world->tick < 40    ? vec3(1, 0, 0)
                     : world->tick < 200 ? VEC3_ZERO
                                         : vec3(-1, 0, 0);
    scenario_walk(world, zones.overwhelmed, way, INPUT_RUN);
    const SimEventType enter = SIM_EVENT_TRIGGER_ENTERED;
    const SimEventType leave = SIM_EVENT_TRIGGER_LEFT;
    const uint64_t faller = scenario_net_id(world, zones.faller);
    const uint64_t runner = scenario_net_id(world, zones.runner);
    const uint64_t swept = scenario_net_id(world, zones.swept);
    const uint64_t sitter = scenario_net_id(world, zones.sitter);
    const uint64_t launched = scenario_net_id(world, zones.launched);
    zones.thin_enter += scenario_seen(world, enter, zones.thin_zone, faller);
    zones.thin_leave += scenario_seen(world, leave, zones.thin_zone, faller);
    zones.line_enter += scenario_seen(world, enter, zones.line_zone, runner);
    zones.line_leave += scenario_seen(world, leave, zones.line_zone, runner);
    zones.swept_enter += scenario_seen(world, enter, 0, swept);
    zones.swept_leave += scenario_seen(world, leave, 0, swept);
    zones.sitter_enter += scenario_seen(world, enter, 0, sitter);
    zones.sitter_leave += scenario_seen(world, leave, 0, sitter);
    zones.launched_enter += scenario_seen(world, enter, zones.sphere_zone, launched);
    zones.launched_leave += scenario_seen(world, leave, zones.sphere_zone, launched);
    const uint64_t overwhelmed = scenario_net_id(world, zones.overwhelmed);
    zones.overwhelmed_enter += scenario_seen(world, enter, 0, overwhelmed);
    zones.overwhelmed_leave += scenario_seen(world, leave, 0, overwhelmed);
    if (world->tick == 200) {
        sim_remove(world->sim, zones.removed_zone);
    }
}

static void zones_finish(ScenarioWorld *world)
{
    scenario_expect(world, zones.thin_enter == 1 && zones.thin_leave == 1,
                    "the faller entered %u times and left %u times", zones.thin_enter,
                    zones.thin_leave);
    scenario_expect(world, zones.line_enter >= 3 && zones.line_enter == zones.line_leave,
                    "the runner entered %u times and left %u times", zones.line_enter,
                    zones.line_leave);
    scenario_expect(world, zones.swept_enter == 1 && zones.swept_leave == 1,
                    "the moving zone was entered %u times and left %u times", zones.swept_enter,
                    zones.swept_leave);
    scenario_expect(world, zones.sitter_enter == 1, "who sits in a zone entered it %u times",
                    zones.sitter_enter);
    scenario_expect(world, zones.launched_enter == 1 && zones.launched_leave == 1,
                    "the launched one entered %u times and left %u times", zones.launched_enter,
                    zones.launched_leave);
    scenario_expect(world, zones.overwhelmed_enter == 8 && zones.overwhelmed_leave == 8,
                    "of ten zones %u were entered and %u left, not 8", zones.overwhelmed_enter,
                    zones.overwhelmed_leave);
    scenario_expect(world, world->counters.triggers_dropped > 0, "no zone was too many");
    for (uint32_t i = 0; i < world->player_count; i++) {
        scenario_expect(world, scenario_at(world, world->players[i])->character.trigger_count == 0,
                        "player %u is still in a zone", i);
    }
}

const Scenario scenarios_part_data[] = {
    {"conveyors", "belts carry who stands on them: straight, turned, sloped, moving", 540,
     belts_build, belts_drive, belts_finish},
    {"ladders", "ladders on a wall, free standing and as ghosts are climbed", 300, ladder_build,
     ladder_drive, ladder_finish},
    {"bounce", "pads throw characters off along their normal", 420, bounce_build, bounce_drive,
     bounce_finish},
    {"damage", "lava kills in so many touches; the dead lie still until revived", 420, damage_build,
     damage_drive, damage_finish},
    {"triggers", "thin zones crossed at full speed, moving and removed zones", 480, zones_build,
     zones_drive, zones_finish},
    {0},
};
