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

static void belts_build(Stage *stage)
{
    memset(&belts, 0, sizeof belts);
    stage_ground(stage, 40);
    const Vec3 half = vec3(12, 0.1f, 1.5f);
    (void)stage_part(stage, conveyor(part_box(vec3(0, 0.1f, 0), half), vec3(2, 0, 0)));
    (void)stage_part(stage, conveyor(part_box(vec3(0, 0.1f, 6), half),
                                     vec3(-stage->config.character.walk_speed, 0, 0)));
    (void)stage_part(stage, part_turned(conveyor(part_box(vec3(0, 0.1f, -12), half), vec3(3, 0, 0)),
                                        vec3(0, 1, 0), 0.5f));
    (void)stage_part(stage, conveyor(part_wedge(vec3(20, 1, 12), vec3(2, 1, 4), 0), vec3(0, 0, 2)));
    stage_open(stage);
    belts.stander = stage_player(stage, vec3(-3, 0.2f, 0));
    belts.against = stage_player(stage, vec3(0, 0.2f, 6));
    belts.turned = stage_player(stage, vec3(0, 0.2f, -12));
    belts.sloped = stage_player(stage, vec3(20, 1, 10));
    const Handle belt =
        stage_spawn(stage, conveyor(part_box(vec3(0, 0.1f, 16), vec3(3, 0.1f, 3)), vec3(0, 0, 1)));
    belts.moving = stage_player(stage, vec3(0, 0.2f, 14));
    stage_move(stage, belt, vec3(1, 0, 0), VEC3_ZERO, 300);
}

static void belts_drive(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_stand(stage, stage->players[i]);
    }
    stage_walk(stage, belts.against, vec3(1, 0, 0), 0);
    if (stage->tick == 60) {
        belts.stander_at = stage_feet(stage, belts.stander);
        belts.against_at = stage_feet(stage, belts.against);
        belts.turned_at = stage_feet(stage, belts.turned);
    } else if (stage->tick == 120) {
        const float drift = stage_distance(stage_feet(stage, belts.stander), belts.stander_at);
        stage_expect_near(stage, "the way of who stands, in a second", drift, 2, 0.1f);
        const float held = stage_distance(stage_feet(stage, belts.against), belts.against_at);
        stage_expect_near(stage, "the way of who walks against it", held, 0, 0.1f);
        const Vec3 way = vec3_sub(stage_feet(stage, belts.turned), belts.turned_at);
        stage_expect_near(stage, "the turned belt, along x", way.x, 3 * math_cos(0.5f), 0.15f);
        stage_expect_near(stage, "the turned belt, along z", way.z, -3 * math_sin(0.5f), 0.15f);
        const Vec3 carried = stage_feet(stage, belts.moving);
        stage_expect_near(stage, "the moving belt, along x", carried.x, 2, 0.15f);
        stage_expect(stage, carried.z > 15, "the moving belt does not run: %.3f",
                     (double)carried.z);
    }
}

static void belts_finish(Stage *stage)
{
    const Vec3 stander = stage_feet(stage, belts.stander);
    stage_expect(stage, stander.x > 11 && stander.y < 0.05f, "not carried off the end: %.3f %.3f",
                 (double)stander.x, (double)stander.y);
    const Vec3 sloped = stage_feet(stage, belts.sloped);
    stage_expect(stage, sloped.z > 15.5f, "the sloped belt carried only to %.3f", (double)sloped.z);
}

// --- ladders ------------------------------------------------------------------------------------
static struct {
    Handle climber, down, jumper, turned;
    float climber_top, turned_top;
    uint32_t climbing_count;
} ladder;

static void ladder_build(Stage *stage)
{
    memset(&ladder, 0, sizeof ladder);
    stage_ground(stage, 32);
    // A house of 5 m with a ladder on its front, one that ghosts through, one turned.
    (void)stage_part(stage, part_box(vec3(0, 2.5f, 4), vec3(4, 2.5f, 2)));
    (void)stage_part(
        stage, part_flagged(part_box(vec3(0, 2.5f, 1.9f), vec3(0.5f, 2.5f, 0.1f)), PART_LADDER));
    (void)stage_part(stage, part_flagged(part_box(vec3(2.5f, 2.5f, 1.8f), vec3(0.5f, 2.5f, 0.2f)),
                                         PART_LADDER | PART_GHOST));
    (void)stage_part(
        stage, part_turned(part_flagged(part_box(vec3(14, 3, 0), vec3(0.5f, 3, 0.1f)), PART_LADDER),
                           vec3(0, 1, 0), 0.8f));
    stage_open(stage);
    ladder.climber = stage_player(stage, vec3(0, 0, -1));
    ladder.down = stage_player(stage, vec3(2.5f, 0, 0.5f));
    ladder.jumper = stage_player(stage, vec3(-0.2f, 0, 0.8f));
    ladder.turned = stage_player(stage, vec3(14 - 1.4f, 0, -1.4f));
}

static void ladder_drive(Stage *stage)
{
    const Vec3 on = vec3(0, 0, 1);
    stage_walk(stage, ladder.climber, on, 0);
    // Up for a while, then lets go.
    stage_walk(stage, ladder.down, stage->tick < 90 ? on : vec3(0, 0, -1), 0);
    stage_walk(stage, ladder.jumper, on, stage->tick == 120 ? INPUT_JUMP : 0u);
    stage_walk(stage, ladder.turned, vec3(1, 0, 1), 0);
    ladder.climber_top = math_max(ladder.climber_top, stage_feet(stage, ladder.climber).y);
    ladder.turned_top = math_max(ladder.turned_top, stage_feet(stage, ladder.turned).y);
    ladder.climbing_count += stage_at(stage, ladder.climber)->character.climbing;
}

static void ladder_finish(Stage *stage)
{
    stage_expect(stage, ladder.climbing_count > 30, "climbed only %u ticks", ladder.climbing_count);
    stage_expect(stage, ladder.climber_top > 4.95f, "climbed only to %.3f",
                 (double)ladder.climber_top);
    const Vec3 end = stage_feet(stage, ladder.climber);
    stage_expect(stage, end.z > 3, "did not get onto the roof: %.3f", (double)end.z);
    stage_expect(stage, ladder.turned_top > 4, "the turned ladder was climbed only to %.3f",
                 (double)ladder.turned_top);
    stage_expect_near(stage, "the height of who let go", stage_feet(stage, ladder.down).y, 0,
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

static void bounce_build(Stage *stage)
{
    memset(&bounce, 0, sizeof bounce);
    stage_ground(stage, 40);
    (void)stage_part(stage, pad(part_box(vec3(0, 0.25f, 0), vec3(2, 0.25f, 2))));
    (void)stage_part(stage, part_turned(pad(part_box(vec3(12, 0.5f, 0), vec3(2, 0.25f, 2))),
                                        vec3(0, 0, 1), -0.5f));
    (void)stage_part(stage, pad(part_box(vec3(-12, 1.5f, 0), vec3(0.5f, 1.5f, 2))));
    stage_open(stage);
    bounce.straight = stage_player(stage, vec3(0, 3, 0));
    bounce.tilted = stage_player(stage, vec3(12, 4, 0));
    bounce.walker = stage_player(stage, vec3(-16, 0, 0));
}

static void bounce_drive(Stage *stage)
{
    stage_stand(stage, bounce.straight);
    stage_stand(stage, bounce.tilted);
    stage_walk(stage, bounce.walker, vec3(1, 0, 0), 0); // a wall that throws back
    if (stage_total(stage, SIM_EVENT_BOUNCED) > 0) {
        bounce.top = math_max(bounce.top, stage_feet(stage, bounce.straight).y);
    }
}

static void bounce_finish(Stage *stage)
{
    const float height = BOUNCE_SPEED * BOUNCE_SPEED / (2 * stage->config.character.gravity);
    stage_expect_near(stage, "the height thrown to", bounce.top, 0.5f + height, height * 0.1f);
    stage_expect(stage, stage_total(stage, SIM_EVENT_BOUNCED) >= 6, "%llu bounces",
                 (unsigned long long)stage_total(stage, SIM_EVENT_BOUNCED));
    const Vec3 tilted = stage_feet(stage, bounce.tilted);
    stage_expect(stage, tilted.x > 15, "the tilted pad threw only to %.3f", (double)tilted.x);
    stage_expect(stage, stage_feet(stage, bounce.walker).x < -12.5f, "walked through the pad");
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

static void damage_build(Stage *stage)
{
    memset(&damage, 0, sizeof damage);
    stage_ground(stage, 24);
    PartDesc lava = part_flagged(part_box(vec3(0, 0.1f, 0), vec3(6, 0.1f, 3)), PART_DAMAGE);
    lava.data.damage = LAVA_DAMAGE;
    damage.lava = stage_part(stage, lava);
    // The same as a ghost: hurts inside.
    lava.pose.position = vec3(0, 1, 12);
    lava.shape.half = vec3(2, 1, 2);
    lava.data.damage = 5;
    (void)stage_part(stage, part_flagged(lava, PART_GHOST));
    stage_open(stage);
    damage.standing = stage_player(stage, vec3(0, 0.2f, 0));
    damage.jumping = stage_player(stage, vec3(3, 0.2f, 0));
    damage.healed = stage_player(stage, vec3(0, 0, 12));
    damage.scripted = stage_player(stage, vec3(12, 0, 12));
    damage.health_low = 1000;
}

static void damage_standing_watch(Stage *stage)
{
    const Entity *standing = stage_at(stage, damage.standing);
    const uint64_t id = standing->net_id;
    if (!damage.revived) {
        damage.hurt_count += stage_seen(stage, SIM_EVENT_DAMAGED, id, damage.lava);
    }
    if (damage.died_tick == 0 && stage_seen(stage, SIM_EVENT_DIED, id, 0) != 0) {
        damage.died_tick = stage->tick;
        damage.dead_at = standing->position;
        stage_expect(stage, standing->character.health == 0, "died with %.1f health",
                     (double)standing->character.health);
    }
    if (damage.died_tick != 0 && !damage.revived) {
        damage.dead_moved |= !vec3_equal(standing->position, damage.dead_at);
        if (stage->tick == damage.died_tick + 60) {
            stage_expect_ok(stage, "revive",
                            sim_revive(stage->sim, damage.standing, vec3(-12, 0, 0)));
            damage.revived = true;
        }
    }
}

static void damage_drive(Stage *stage)
{
    damage_standing_watch(stage);
    // Walks only once it is dead, and after it lives again.
    stage_walk(stage, damage.standing, damage.died_tick != 0 ? vec3(-1, 0, 0) : VEC3_ZERO, 0);
    stage_walk(stage, damage.jumping, VEC3_ZERO, stage->tick % 20 < 2 ? INPUT_JUMP : 0u);
    stage_stand(stage, damage.healed);
    damage.health_low =
        math_min(damage.health_low, stage_at(stage, damage.healed)->character.health);
    if (stage->tick % 100 == 99) {
        (void)sim_damage(stage->sim, damage.healed, -1000, 0);
    }
    if (stage->tick == 50) {
        const float left = sim_damage(stage->sim, damage.scripted, 40, damage.lava);
        stage_expect_near(stage, "the health left", left, stage->config.character.health_max - 40,
                          0);
    }
}

static void damage_finish(Stage *stage)
{
    const float full = stage->config.character.health_max;
    const uint32_t touches = (uint32_t)((full + LAVA_DAMAGE - 1) / LAVA_DAMAGE);
    stage_expect(stage, damage.hurt_count == touches, "hurt %u times, not %u", damage.hurt_count,
                 touches);
    const uint32_t pause = stage->config.character.damage_pause_ms * stage->config.tick_rate / 1000;
    stage_expect(stage, damage.died_tick >= (touches - 1) * pause, "died at tick %u",
                 damage.died_tick);
    stage_expect(stage, damage.died_tick <= touches * pause + 10, "died at tick %u",
                 damage.died_tick);
    stage_expect(stage, !damage.dead_moved, "the dead one moved");
    const Entity *standing = stage_at(stage, damage.standing);
    stage_expect_near(stage, "the health after reviving", standing->character.health, full, 0);
    stage_expect(stage, standing->position.x < -13, "the revived one does not walk");
    stage_expect(stage, damage.health_low < full && damage.health_low > full - 30,
                 "the healed one went down to %.1f", (double)damage.health_low);
    stage_expect(stage, stage_total(stage, SIM_EVENT_DIED) == 2, "%llu deaths",
                 (unsigned long long)stage_total(stage, SIM_EVENT_DIED));
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

static void zones_build(Stage *stage)
{
    memset(&zones, 0, sizeof zones);
    stage_ground(stage, 40);
    zones.thin_zone = stage_part(stage, part_zone(vec3(0, 10, 0), vec3(2, 0.02f, 2)));
    zones.line_zone = stage_part(stage, part_zone(vec3(10, 1, 0), vec3(0.01f, 1, 3)));
    zones.sphere_zone = stage_part(
        stage, part_flagged(part_sphere(vec3(-20, 2, -20), 0.3f), PART_GHOST | PART_TRIGGER));
    // Ten zones in one place, two more than a character can store.
    for (int i = 0; i < 10; i++) {
        (void)stage_part(stage, part_zone(vec3(30, 1, 30), vec3(1 + 0.1f * (float)i, 1, 1)));
    }
    stage_open(stage);
    zones.overwhelmed = stage_player(stage, vec3(26, 0, 30));
    zones.faller = stage_player(stage, vec3(0, 120, 0));
    zones.runner = stage_player(stage, vec3(6, 0, 0));
    zones.swept = stage_player(stage, vec3(-10, 0, 10));
    zones.sitter = stage_player(stage, vec3(20, 0, 20));
    zones.launched = stage_player(stage, vec3(-30, 2, -20));
    // A metre a tick: half a metre before him in one tick, half a metre behind him in the next.
    zones.moving_zone = stage_spawn(stage, part_zone(vec3(-30.5f, 1, 10), vec3(0.01f, 1, 2)));
    zones.removed_zone = stage_spawn(stage, part_zone(vec3(20, 1, 20), vec3(2, 1, 2)));
    stage_move(stage, zones.moving_zone, vec3(60, 0, 0), VEC3_ZERO, 40);
    stage_expect_ok(stage, "velocity",
                    sim_set_velocity(stage->sim, zones.launched, vec3(45, 2, 0)));
}

static void zones_drive(Stage *stage)
{
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_stand(stage, stage->players[i]);
    }
    stage_walk(stage, zones.runner, stage->tick / 120 % 2 == 0 ? vec3(1, 0, 0) : vec3(-1, 0, 0),
               INPUT_RUN);
    // Into the ten zones, a stay, and out again.
    const Vec3 way = stage->tick < 40    ? vec3(1, 0, 0)
                     : stage->tick < 200 ? VEC3_ZERO
                                         : vec3(-1, 0, 0);
    stage_walk(stage, zones.overwhelmed, way, INPUT_RUN);
    const SimEventType enter = SIM_EVENT_TRIGGER_ENTERED;
    const SimEventType leave = SIM_EVENT_TRIGGER_LEFT;
    const uint64_t faller = stage_net_id(stage, zones.faller);
    const uint64_t runner = stage_net_id(stage, zones.runner);
    const uint64_t swept = stage_net_id(stage, zones.swept);
    const uint64_t sitter = stage_net_id(stage, zones.sitter);
    const uint64_t launched = stage_net_id(stage, zones.launched);
    zones.thin_enter += stage_seen(stage, enter, zones.thin_zone, faller);
    zones.thin_leave += stage_seen(stage, leave, zones.thin_zone, faller);
    zones.line_enter += stage_seen(stage, enter, zones.line_zone, runner);
    zones.line_leave += stage_seen(stage, leave, zones.line_zone, runner);
    zones.swept_enter += stage_seen(stage, enter, 0, swept);
    zones.swept_leave += stage_seen(stage, leave, 0, swept);
    zones.sitter_enter += stage_seen(stage, enter, 0, sitter);
    zones.sitter_leave += stage_seen(stage, leave, 0, sitter);
    zones.launched_enter += stage_seen(stage, enter, zones.sphere_zone, launched);
    zones.launched_leave += stage_seen(stage, leave, zones.sphere_zone, launched);
    const uint64_t overwhelmed = stage_net_id(stage, zones.overwhelmed);
    zones.overwhelmed_enter += stage_seen(stage, enter, 0, overwhelmed);
    zones.overwhelmed_leave += stage_seen(stage, leave, 0, overwhelmed);
    if (stage->tick == 200) {
        sim_remove(stage->sim, zones.removed_zone);
    }
}

static void zones_finish(Stage *stage)
{
    stage_expect(stage, zones.thin_enter == 1 && zones.thin_leave == 1,
                 "the faller entered %u times and left %u times", zones.thin_enter,
                 zones.thin_leave);
    stage_expect(stage, zones.line_enter >= 3 && zones.line_enter == zones.line_leave,
                 "the runner entered %u times and left %u times", zones.line_enter,
                 zones.line_leave);
    stage_expect(stage, zones.swept_enter == 1 && zones.swept_leave == 1,
                 "the moving zone was entered %u times and left %u times", zones.swept_enter,
                 zones.swept_leave);
    stage_expect(stage, zones.sitter_enter == 1, "who sits in a zone entered it %u times",
                 zones.sitter_enter);
    stage_expect(stage, zones.launched_enter == 1 && zones.launched_leave == 1,
                 "the launched one entered %u times and left %u times", zones.launched_enter,
                 zones.launched_leave);
    stage_expect(stage, zones.overwhelmed_enter == 8 && zones.overwhelmed_leave == 8,
                 "of ten zones %u were entered and %u left, not 8", zones.overwhelmed_enter,
                 zones.overwhelmed_leave);
    stage_expect(stage, stage->counters.triggers_dropped > 0, "no zone was too many");
    for (uint32_t i = 0; i < stage->player_count; i++) {
        stage_expect(stage, stage_at(stage, stage->players[i])->character.trigger_count == 0,
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
