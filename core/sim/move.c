// Character movement: an upright capsule that walks, jumps, climbs, rides, and never ends a tick
// inside geometry.
//
// The way of a tick is cut into substeps of at most half a radius. From a free position such a
// substep cannot put the capsule's core on the far side of anything, however thin, so the nearest
// way out of an overlap is always the way back. If the ways out contradict each other the substep
// is not made.
//
// In the air the whole capsule is pushed out of what it overlaps, deepest first. On the ground the
// character stands on a leg that is as long as the step height: only the capsule above the leg is
// pushed, sideways, and then the leg is let down to the highest support below it. That one
// mechanism walks stairs, slopes, kerbs and voxel seams, up and down.
//
//        head  ( )           upper capsule: stopped by walls
//              | |
//   feet+step  ( )           from here the lower end is dropped
//               :  leg
//        feet  _:_____       to the highest support, or to the air below feet-step
#include "core/sim/collide.h"
#include "core/sim/trigger.h"

#define SUBSTEPS_MAX     24
#define PUSH_OUT_MAX     8       // pushes per substep
#define OVERLAP_OK_M     0.0005f // what is left as rounding
#define LOW_STEP_M       0.12f   // the leg while sliding: a tick of walking up the steepest ground
#define TOUCH_M          0.02f   // near enough to touch a part
#define LADDER_REACH_M   0.05f
#define LADDER_JUMP_MPS  3.0f
#define LANDED_EVENT_MPS 2.0f
#define SPEED_MAX_MPS    120.0f
#define EDGE_PROBE_M     0.02f
#define FLAT_MIN         0.2f // of a normal: below it a surface is no wall
#define UPRIGHT_Y_MIN    0.999f
#define BUMPER_M         1.0f // above the feet: what bounces and is lower throws only from its top
#define RIM_Y_MIN        0.3f // of a normal: above it a foot is on a top, or on its rim
#define CROUCH_SPEED     0.4f // of the speed of walking

typedef struct Mover {
    Sim *sim;
    Entity *entity;
    Character *character;
    uint32_t slot;
    const CharacterTuning *tuning;
    Colliders colliders;
    Aabb region;    // where they were gathered
    float fraction; // of the tick, at which moving parts are
    MovePath path;
    Vec3 feet;
    Vec3 velocity; // relative to the ground while grounded
    Vec3 wish;     // unit or shorter, world, horizontal
    bool grounded;
    const ColliderPart *ground; // NULL: terrain or none
    Vec3 ground_normal;
    bool bounced;
} Mover;

// Where the lower end comes to rest.
typedef struct Support {
    float feet_y;
    float touch_y; // height of the touched point: a round end touches a rim below it
    Vec3 normal;
    const ColliderPart *part; // NULL: terrain
    bool walkable;            // its surface is ground
    bool gentle_only;         // asked for: pass over what is steep
    bool steep; // the touch itself is steeper than ground: an edge to climb or slip off
} Support;

Capsule sim_capsule(const Sim *sim, Vec3 feet)
{
    const CharacterTuning *tuning = &sim->config.character;
    return (Capsule){{feet.x, feet.y + tuning->radius, feet.z},
                     tuning->height - 2 * tuning->radius,
                     tuning->radius};
}

// The capsule without the lowest `leg` metres.
static Capsule upper_capsule(const Mover *mover, Vec3 feet, float leg)
{
    Capsule capsule = sim_capsule(mover->sim, feet);
    capsule.base.y += leg;
    capsule.height = math_max(capsule.height - leg, 0);
    return capsule;
}

static Vec3 clip(Vec3 velocity, Vec3 normal)
{
    const float into = vec3_dot(velocity, normal);
    return into < 0 ? vec3_mad(velocity, normal, -into) : velocity;
}

static bool has_flat_top(const PlacedShape *shape)
{
    return (shape->kind == SHAPE_BOX || shape->kind == SHAPE_CYLINDER) &&
           shape->axis_y.y > UPRIGHT_Y_MIN;
}

// Whether a part that is touched throws the character away, and in which direction. A trampoline
// throws upwards: a foot on its rim is on its top, and its side is a step in the way. Something
// higher is a bumper, which throws from all sides.
static bool bounces(const Mover *mover, const ColliderPart *part, Vec3 normal, Vec3 *away)
{
    if (part == NULL || (part->data->flags & PART_BOUNCE) == 0 || mover->bounced) {
        return false;
    }
    const bool is_flat = has_flat_top(part->placed);
    const bool on_top = normal.y > RIM_Y_MIN;
    *away = is_flat && on_top ? vec3(0, 1, 0) : normal;
    return !is_flat || on_top || part->placed->bounds.max.y > mover->feet.y + BUMPER_M;
}

// The effects of a part on a character that runs into it.
static void touch(Mover *mover, const ColliderPart *part, Vec3 normal)
{
    Vec3 away;
    if (!bounces(mover, part, normal, &away)) {
        mover->velocity = clip(mover->velocity, normal);
        return;
    }
    mover->velocity = vec3_mad(clip(mover->velocity, away), away, part->data->bounce_speed);
    mover->bounced = true;
    sim_emit(mover->sim, (SimEvent){.type = SIM_EVENT_BOUNCED,
                                    .subject = mover->entity->net_id,
                                    .other = part->net_id,
                                    .position = mover->feet,
                                    .normal = normal,
                                    .value = part->data->bounce_speed});
}

// A push may lead outside the gathered region: then it is gathered again, so that nothing is
// missed.
static void reach_out(Mover *mover, Vec3 feet)
{
    Aabb needed = capsule_bounds(sim_capsule(mover->sim, feet));
    if (mover->grounded) {
        needed.min.y -= mover->tuning->step_height;
        needed.max.y += mover->tuning->step_height;
    }
    if (aabb_contains(mover->region, needed.min) && aabb_contains(mover->region, needed.max)) {
        return;
    }
    const uint64_t ground = mover->ground != NULL ? mover->ground->net_id : 0;
    mover->region = aabb_union(mover->region, aabb_grow(needed, mover->tuning->radius));
    collide_gather(mover->sim, mover->region, &mover->colliders);
    collide_set_fraction(mover->sim, &mover->colliders, mover->fraction);
    mover->ground = NULL;
    for (uint32_t i = 0; i < mover->colliders.part_count && ground != 0; i++) {
        if (mover->colliders.parts[i].net_id == ground) {
            mover->ground = &mover->colliders.parts[i];
        }
    }
}

// --- in the air ---------------------------------------------------------------------------------

// Pushes the whole capsule out of everything. False when no place was found near.
static bool push_out(Mover *mover, Vec3 *feet, bool *landed)
{
    for (uint32_t i = 0; i < PUSH_OUT_MAX; i++) {
        reach_out(mover, *feet);
        const CollideContact hit =
            collide_deepest(&mover->colliders, sim_capsule(mover->sim, *feet), COLLIDE_ALL);
        if (hit.contact.distance >= -OVERLAP_OK_M * 0.5f) {
            return true;
        }
        const Vec3 normal = hit.contact.normal;
        *feet = vec3_mad(*feet, normal, -hit.contact.distance);
        if (normal.y >= mover->tuning->slope_cos) {
            *landed = true;
            mover->ground = hit.part;
            mover->ground_normal = normal;
        }
        touch(mover, hit.part, normal);
    }
    reach_out(mover, *feet);
    const CollideContact left =
        collide_deepest(&mover->colliders, sim_capsule(mover->sim, *feet), COLLIDE_ALL);
    return left.contact.distance >= -OVERLAP_OK_M;
}

static void air_substep(Mover *mover, Vec3 motion)
{
    const Vec3 start = mover->feet;
    const float falling = mover->velocity.y;
    bool landed = false;
    Vec3 feet = vec3_add(start, motion);
    if (!push_out(mover, &feet, &landed)) {
        // Wedged between surfaces that push against each other: stay there.
        mover->sim->counters.moves_refused += 1;
        feet = start;
        landed = true;
        mover->velocity = VEC3_ZERO;
        mover->ground = NULL;
        mover->ground_normal = vec3(0, 1, 0);
    }
    mover->feet = feet;
    if (!landed || mover->bounced || falling > 0 || mover->character->climbing) {
        return;
    }
    mover->grounded = true;
    if (-falling >= LANDED_EVENT_MPS) {
        sim_emit(mover->sim, (SimEvent){.type = SIM_EVENT_LANDED,
                                        .subject = mover->entity->net_id,
                                        .other = mover->ground != NULL ? mover->ground->net_id : 0,
                                        .position = feet,
                                        .normal = mover->ground_normal,
                                        .value = -falling});
    }
    mover->velocity.y = 0;
}

// --- on the ground ------------------------------------------------------------------------------

// Pushes the capsule above the leg sideways out of what rises less than normal_y_max. False when
// that does not free it.
static bool push_aside(Mover *mover, Vec3 *feet, float leg, float normal_y_max)
{
    for (uint32_t i = 0; i < PUSH_OUT_MAX; i++) {
        reach_out(mover, *feet);
        const CollideContact hit =
            collide_deepest(&mover->colliders, upper_capsule(mover, *feet, leg), normal_y_max);
        if (hit.contact.distance >= -OVERLAP_OK_M * 0.5f) {
            return true;
        }
        const Vec3 normal = hit.contact.normal;
        const float flat = math_sqrt(normal.x * normal.x + normal.z * normal.z);
        if (flat < FLAT_MIN) {
            return false; // a floor or a ceiling: going sideways does not help
        }
        const Vec3 side = {normal.x / flat, 0, normal.z / flat};
        *feet =
            vec3_mad(*feet, side, math_min(-hit.contact.distance / flat, mover->tuning->radius));
        touch(mover, hit.part, side);
    }
    reach_out(mover, *feet);
    return collide_deepest(&mover->colliders, upper_capsule(mover, *feet, leg), normal_y_max)
               .contact.distance >= -OVERLAP_OK_M;
}

// The height at which the round lower end rests on the rim or top of something flat: `flat` is the
// horizontal distance from the axis to it.
static float rest_height(float top, float flat_squared, float radius)
{
    return flat_squared <= 0 ? top : top + math_sqrt(radius * radius - flat_squared) - radius;
}

static void consider_top(const Mover *mover, Support *best, float top, float dx, float dz,
                         float highest, const ColliderPart *part)
{
    const float radius = mover->tuning->radius;
    const float flat_squared = dx * dx + dz * dz;
    if (flat_squared >= radius * radius) {
        return;
    }
    if (top >= highest + radius) {
        return; // beside the upper capsule, which was pushed out of it: a wall
    }
    // Rounding may have left the upper capsule a little inside the rim: then it rests right there.
    const float feet_y = math_min(rest_height(top, flat_squared, radius), highest);
    if (feet_y <= best->feet_y) {
        return;
    }
    // The normal runs from the touched point to the centre of the lower end.
    const float up = feet_y + radius - top;
    const bool steep = up < mover->tuning->slope_cos * radius;
    if (steep && best->gentle_only) {
        return;
    }
    best->feet_y = feet_y;
    best->touch_y = top;
    best->normal = vec3(dx / radius, up / radius, dz / radius);
    best->part = part;
    best->walkable = true;
    best->steep = steep;
}

static float outside(float x, float low, float high)
{
    return x < low ? x - low : x > high ? x - high : 0;
}

// A box turned about y only is a top at a height, with a rectangle around it.
static bool consider_upright_box(const Mover *mover, Support *best, Vec3 feet, float highest,
                                 const ColliderPart *part)
{
    const PlacedShape *shape = part->placed;
    if (shape->kind != SHAPE_BOX || shape->turn == SHAPE_FREE) {
        return false;
    }
    const Vec3 offset = vec3_sub(feet, shape->position);
    const float x = offset.x * shape->axis_x.x + offset.z * shape->axis_x.z;
    const float z = offset.x * shape->axis_z.x + offset.z * shape->axis_z.z;
    const float dx = outside(x, -shape->half.x, shape->half.x);
    const float dz = outside(z, -shape->half.z, shape->half.z);
    const float world_dx = dx * shape->axis_x.x + dz * shape->axis_z.x;
    const float world_dz = dx * shape->axis_x.z + dz * shape->axis_z.z;
    consider_top(mover, best, shape->position.y + shape->half.y, world_dx, world_dz, highest, part);
    return true;
}

// Whether there is ground `in` metres behind the touched point, at most `up` metres above it.
static bool ground_behind(const Mover *mover, const PlacedShape *shape, Vec3 point, Vec3 side,
                          float in, float up)
{
    const Vec3 origin = {point.x - side.x * in, point.y + up, point.z - side.z * in};
    ShapeHit hit;
    // A probe that starts inside has no surface below it: what is behind rises more than that.
    return shape_ray(shape, origin, vec3(0, -1, 0), up + 2 * EDGE_PROBE_M, &hit) &&
           hit.distance > 0 && hit.normal.y >= mover->tuning->slope_cos;
}

// An edge is walkable when the surface just behind it is; a round flank, when its top is.
static bool edge_is_walkable(const Mover *mover, const PlacedShape *shape, Vec3 point, Vec3 normal)
{
    const float flat = math_sqrt(normal.x * normal.x + normal.z * normal.z);
    if (flat <= 0) {
        return true;
    }
    const Vec3 side = {normal.x / flat, 0, normal.z / flat};
    return ground_behind(mover, shape, point, side, EDGE_PROBE_M, EDGE_PROBE_M) ||
           ground_behind(mover, shape, point, side, mover->tuning->radius * 0.5f,
                         mover->tuning->step_height);
}

static void consider_shape(const Mover *mover, Support *best, Vec3 feet, float leg, float drop,
                           const ColliderPart *part)
{
    const Vec3 motion = {0, -(leg + drop), 0};
    ShapeHit hit;
    if (!shape_sweep(part->placed, upper_capsule(mover, feet, leg), motion, &hit)) {
        return;
    }
    const float feet_y = feet.y + leg + motion.y * hit.distance;
    const bool steep = hit.normal.y < mover->tuning->slope_cos;
    if (feet_y <= best->feet_y || (steep && best->gentle_only)) {
        return;
    }
    best->feet_y = feet_y;
    best->touch_y = hit.point.y;
    best->normal = hit.normal;
    best->part = part;
    best->steep = steep;
    best->walkable = !best->steep || edge_is_walkable(mover, part->placed, hit.point, hit.normal);
}

// Lets the lower end down from feet + leg; false when nothing is met within a step below the feet.
static bool find_support(const Mover *mover, Vec3 feet, float leg, bool gentle_only, Support *out)
{
    const float drop = mover->tuning->step_height;
    const float radius = mover->tuning->radius;
    const float highest = feet.y + leg + OVERLAP_OK_M;
    Support best = {.feet_y = feet.y - drop, .gentle_only = gentle_only};
    const float lowest = best.feet_y;
    for (uint32_t i = 0; i < mover->colliders.box_count; i++) {
        const Aabb *box = &mover->colliders.boxes[i];
        consider_top(mover, &best, box->max.y, outside(feet.x, box->min.x, box->max.x),
                     outside(feet.z, box->min.z, box->max.z), highest, NULL);
    }
    for (uint32_t i = 0; i < mover->colliders.part_count; i++) {
        const ColliderPart *part = &mover->colliders.parts[i];
        const Aabb *bounds = &part->placed->bounds;
        if (bounds->min.x > feet.x + radius || bounds->max.x < feet.x - radius ||
            bounds->min.z > feet.z + radius || bounds->max.z < feet.z - radius ||
            bounds->max.y < lowest || bounds->min.y > highest + radius) {
            continue;
        }
        if (!consider_upright_box(mover, &best, feet, highest, part)) {
            consider_shape(mover, &best, feet, leg, drop, part);
        }
    }
    if (best.feet_y <= lowest) {
        return false;
    }
    *out = best;
    return true;
}

static bool is_free(const Mover *mover, Vec3 feet)
{
    return collide_deepest(&mover->colliders, sim_capsule(mover->sim, feet), COLLIDE_ALL)
               .contact.distance >= -OVERLAP_OK_M;
}

static void stand(Mover *mover, Vec3 feet, const Support *support)
{
    mover->feet = vec3(feet.x, support->feet_y, feet.z);
    mover->ground = support->part;
    mover->ground_normal = support->normal;
    if (support->part != NULL && (support->part->data->flags & PART_BOUNCE) != 0) {
        // A step onto a rim is a step onto the top, however steep the first touch is.
        touch(mover, support->part,
              has_flat_top(support->part->placed) ? vec3(0, 1, 0) : support->normal);
        mover->grounded = false;
    }
}

static void leave_ground(Mover *mover, Vec3 feet)
{
    mover->feet = feet;
    mover->grounded = false;
    mover->ground = NULL;
}

// Walks: anything up to the step height is stepped on. False: no way there; only the velocity has
// changed.
static bool ground_walk(Mover *mover, Vec3 target)
{
    const float leg = mover->tuning->step_height;
    Vec3 feet = target;
    if (!push_aside(mover, &feet, leg, COLLIDE_ALL)) {
        return false;
    }
    Support support;
    if (!find_support(mover, feet, leg, false, &support)) {
        leave_ground(mover, feet);
        return true;
    }
    const bool rises = support.feet_y > target.y + OVERLAP_OK_M;
    const float highest_step = target.y + leg + OVERLAP_OK_M;
    if (rises && (!support.walkable || support.touch_y > highest_step)) {
        return false; // too steep to walk up, or the rim of something too high to step on
    }
    if (rises && !is_free(mover, vec3(feet.x, support.feet_y, feet.z))) {
        return false; // no room for the head up there
    }
    // The character slips off steep ground and off the edge of a drop, but not off the edge of a
    // stair.
    const bool descends = support.feet_y < target.y - OVERLAP_OK_M;
    Support below;
    if (!support.walkable ||
        (support.steep && descends && !find_support(mover, feet, leg, true, &below))) {
        leave_ground(mover, feet);
        return true;
    }
    stand(mover, feet, &support);
    return true;
}

// Slides: everything that is not ground right here is a wall.
static bool ground_slide(Mover *mover, Vec3 target)
{
    Vec3 feet = target;
    if (!push_aside(mover, &feet, 0, mover->tuning->slope_cos)) {
        return false;
    }
    Support support;
    if (find_support(mover, feet, LOW_STEP_M, true, &support) &&
        is_free(mover, vec3(feet.x, support.feet_y, feet.z))) {
        stand(mover, feet, &support);
        return true;
    }
    if (!is_free(mover, feet)) {
        return false;
    }
    leave_ground(mover, feet); // held by something steep only: slips off it
    return true;
}

static void ground_substep(Mover *mover, Vec3 motion)
{
    const Vec3 start = mover->feet;
    const Vec3 target = vec3_add(start, motion);
    if (ground_walk(mover, target) || ground_slide(mover, target)) {
        return;
    }
    mover->sim->counters.moves_refused += 1;
    if (!mover->colliders.any_moving) {
        return;
    }
    // Something moves here, so the start may no longer be free: go wherever the whole capsule fits.
    bool landed = false;
    Vec3 feet = target;
    if (push_out(mover, &feet, &landed)) {
        mover->feet = feet;
    }
}

// --- the tick -----------------------------------------------------------------------------------

static bool is_crouching(const Mover *mover)
{
    return (mover->character->input.buttons & INPUT_CROUCH) != 0;
}

static float character_speed(const Mover *mover)
{
    if (is_crouching(mover)) {
        return mover->tuning->walk_speed * CROUCH_SPEED;
    }
    const bool run = (mover->character->input.buttons & INPUT_RUN) != 0;
    return run ? mover->tuning->run_speed : mover->tuning->walk_speed;
}

// Changes the horizontal velocity towards the wish, by at most the acceleration.
static void accelerate(Mover *mover, float speed, float acceleration)
{
    const Vec3 wanted = vec3_scale(mover->wish, speed);
    const Vec3 change = {wanted.x - mover->velocity.x, 0, wanted.z - mover->velocity.z};
    const float size = vec3_length(change);
    const float most = acceleration * mover->sim->tick_seconds;
    if (size <= most) {
        mover->velocity.x = wanted.x;
        mover->velocity.z = wanted.z;
    } else {
        mover->velocity = vec3_mad(mover->velocity, change, most / size);
    }
}

// How far the ground carries the feet in this tick.
static Vec3 ground_carry(const Sim *sim, const Character *character, Vec3 feet)
{
    Vec3 carry = VEC3_ZERO;
    if (!character->grounded || character->ground_net_id == 0) {
        return carry;
    }
    const PartData *data = NULL;
    Quat rotation = QUAT_IDENTITY;
    const Entity *platform = sim_entity(sim, character->platform);
    if (platform != NULL && entity_has_shape(platform)) {
        data = &platform->part.data;
        rotation = platform->rotation;
        if (platform->part.moving) {
            const Pose from = platform->part.pose_previous;
            const Vec3 arm = vec3_sub(feet, from.position);
            const Quat turn = quat_multiply(platform->rotation, quat_conjugate(from.rotation));
            const Vec3 now = vec3_add(platform->position, quat_rotate(turn, arm));
            carry = vec3_sub(now, feet);
        }
    } else if (sim->scene != NULL && character->ground_net_id <= scene_part_count(sim->scene)) {
        const uint32_t index = (uint32_t)character->ground_net_id - 1;
        if (!sim_part_is_hidden(sim, index)) {
            const ScenePart *part = scene_part(sim->scene, index);
            data = &part->desc.data;
            rotation = part->desc.pose.rotation;
        }
    }
    if (data != NULL && (data->flags & PART_CONVEYOR) != 0) {
        const Vec3 speed = quat_rotate(rotation, data->conveyor_speed);
        carry = vec3_mad(carry, speed, sim->tick_seconds);
    }
    return carry;
}

static void read_timers(Mover *mover)
{
    Character *character = mover->character;
    const SimConfig *config = &mover->sim->config;
    const bool jump_down = (character->input.buttons & INPUT_JUMP) != 0;
    if (jump_down && !character->jump_held) {
        character->jump_buffer_ticks =
            (uint8_t)(config->character.jump_buffer_ms * config->tick_rate / 1000 + 1);
    }
    character->jump_held = jump_down;
    if (character->grounded) {
        character->coyote_ticks =
            (uint8_t)(config->character.coyote_ms * config->tick_rate / 1000 + 1);
    }
}

static void count_down(uint8_t *ticks)
{
    if (*ticks > 0) {
        *ticks -= 1;
    }
}

static void count_timers(Character *character)
{
    count_down(&character->jump_buffer_ticks);
    count_down(&character->coyote_ticks);
    count_down(&character->damage_pause_ticks);
}

static bool jump(Mover *mover, Vec3 carry_velocity)
{
    Character *character = mover->character;
    if (character->jump_buffer_ticks == 0 ||
        (character->coyote_ticks == 0 && !character->climbing)) {
        return false;
    }
    if (mover->grounded) {
        mover->velocity.x += carry_velocity.x;
        mover->velocity.z += carry_velocity.z;
    }
    mover->velocity.y = mover->tuning->jump_speed + math_max(carry_velocity.y, 0);
    mover->grounded = false;
    mover->ground = NULL;
    character->climbing = false;
    character->jump_buffer_ticks = 0;
    character->coyote_ticks = 0;
    sim_emit(mover->sim, (SimEvent){.type = SIM_EVENT_JUMPED,
                                    .subject = mover->entity->net_id,
                                    .position = mover->feet});
    return true;
}

// The ladder in reach, if any: the nearest part or zone marked as one.
static bool find_ladder(const Mover *mover, Vec3 *normal)
{
    const Capsule capsule = sim_capsule(mover->sim, mover->feet);
    float nearest = LADDER_REACH_M;
    bool found = false;
    for (uint32_t list = 0; list < 2; list++) {
        const ColliderPart *parts = list == 0 ? mover->colliders.parts : mover->colliders.zones;
        const uint32_t count =
            list == 0 ? mover->colliders.part_count : mover->colliders.zone_count;
        for (uint32_t i = 0; i < count; i++) {
            if ((parts[i].data->flags & PART_LADDER) == 0) {
                continue;
            }
            const ShapeContact contact = shape_capsule_contact(parts[i].placed, capsule);
            if (contact.distance < nearest) {
                nearest = contact.distance;
                *normal = contact.normal;
                found = true;
            }
        }
    }
    return found;
}

// On a ladder, walking towards it climbs, walking away from it descends.
static void climb(Mover *mover)
{
    Character *character = mover->character;
    Vec3 normal = VEC3_ZERO;
    character->climbing = false;
    if (!find_ladder(mover, &normal)) {
        return;
    }
    const float flat = math_sqrt(normal.x * normal.x + normal.z * normal.z);
    if (flat < 0.5f) {
        return; // on top of it, or under it
    }
    const Vec3 off = {normal.x / flat, 0, normal.z / flat};
    const float towards = -vec3_dot(mover->wish, off);
    if (mover->grounded && towards < 0.3f) {
        return;
    }
    character->climbing = true;
    mover->grounded = false;
    mover->ground = NULL;
    if (character->jump_buffer_ticks > 0) {
        mover->velocity = vec3_scale(off, LADDER_JUMP_MPS);
        return; // jump() does the rest
    }
    const float climb_speed = mover->tuning->climb_speed;
    const Vec3 sideways = vec3_scale(vec3_mad(mover->wish, off, towards), climb_speed);
    mover->velocity = vec3(sideways.x - off.x, towards * climb_speed, sideways.z - off.z);
}

static void choose_velocity(Mover *mover, Vec3 carry_velocity)
{
    const CharacterTuning *tuning = mover->tuning;
    const float speed = character_speed(mover);
    climb(mover);
    const bool jumped = jump(mover, carry_velocity);
    if (mover->character->climbing) {
        return;
    }
    if (mover->grounded) {
        accelerate(mover, speed, tuning->ground_acceleration);
        mover->velocity.y = 0;
        return;
    }
    if (vec3_length_squared(mover->wish) > 0) {
        accelerate(mover, speed, tuning->air_acceleration);
    }
    if (!jumped) {
        mover->velocity.y = math_max(mover->velocity.y - tuning->gravity * mover->sim->tick_seconds,
                                     -tuning->fall_speed_max);
    }
}

// Whoever crouches does not walk over an edge: what would lead there is taken from the velocity, so
// that one goes along the edge instead. `carried` is what the ground and others add in this tick.
static void stay_on_ground(Mover *mover, Vec3 carried)
{
    const float leg = mover->tuning->step_height;
    const float seconds = mover->sim->tick_seconds;
    const Vec3 feet = vec3_add(mover->feet, carried);
    const Vec3 velocity = mover->velocity;
    Support support;
    if (!mover->grounded || !is_crouching(mover) ||
        !find_support(mover, feet, leg, true, &support)) {
        return;
    }
    const Vec3 ways[] = {velocity, {velocity.x, 0, 0}, {0, 0, velocity.z}, {0, 0, 0}};
    for (uint32_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (find_support(mover, vec3_mad(feet, ways[i], seconds), leg, true, &support)) {
            mover->velocity = ways[i];
            return;
        }
    }
}

static Vec3 wish_of(const SimInput *input)
{
    if (input->move_x == 0 && input->move_z == 0) {
        return VEC3_ZERO;
    }
    const float s = math_sin(input->yaw);
    const float c = math_cos(input->yaw);
    // Forward is (s, 0, c); right of it, seen from above, is (-c, 0, s).
    return vec3(s * input->move_z - c * input->move_x, 0, c * input->move_z + s * input->move_x);
}

// Everything the character could touch in this tick, whatever it does: the velocity after
// choose_velocity is not known yet, because ladders must be found first.
static Aabb way_bounds(const Mover *mover, Vec3 carried)
{
    const CharacterTuning *tuning = mover->tuning;
    const Vec3 velocity = mover->velocity;
    const float seconds = mover->sim->tick_seconds;
    const float speed = math_sqrt(velocity.x * velocity.x + velocity.z * velocity.z);
    const float wished = mover->wish.x == 0 && mover->wish.z == 0 ? 0 : character_speed(mover);
    const float side =
        tuning->radius + TOUCH_M + math_max(math_max(speed, wished), LADDER_JUMP_MPS) * seconds;
    float up = TOUCH_M + math_max(velocity.y, tuning->climb_speed) * seconds;
    float down =
        TOUCH_M + math_max(tuning->gravity * seconds - velocity.y, tuning->climb_speed) * seconds;
    if (mover->character->jump_buffer_ticks != 0) {
        up += tuning->jump_speed * seconds;
    }
    if (mover->grounded) {
        up = math_max(up, tuning->step_height + TOUCH_M);
        down = math_max(down, tuning->step_height + TOUCH_M);
    }
    const Vec3 feet = mover->feet;
    const Aabb box = {{feet.x - side, feet.y - down, feet.z - side},
                      {feet.x + side, feet.y + tuning->height + up, feet.z + side}};
    return (Aabb){vec3_add(box.min, vec3_min(carried, VEC3_ZERO)),
                  vec3_add(box.max, vec3_max(carried, VEC3_ZERO))};
}

// How far the nearby moving parts go in this tick.
static float fastest_part(const Mover *mover)
{
    float fastest = 0;
    for (uint32_t i = 0; i < mover->colliders.part_count; i++) {
        const ColliderPart *part = &mover->colliders.parts[i];
        if (!part->moving) {
            continue;
        }
        const Entity *entity = sim_at(mover->sim, part->slot);
        const Pose from = entity->part.pose_previous;
        const float moved = vec3_length(vec3_sub(entity->position, from.position));
        const Quat q = quat_multiply(entity->rotation, quat_conjugate(from.rotation));
        // Twice the sine of half the angle, at the farthest point of the shape.
        const float turned =
            2 * math_sqrt(q.x * q.x + q.y * q.y + q.z * q.z) * vec3_length(entity->part.shape.half);
        fastest = math_max(fastest, moved + turned);
    }
    return fastest;
}

static void crush(Mover *mover)
{
    Sim *sim = mover->sim;
    const CollideContact hit =
        collide_deepest(&mover->colliders, sim_capsule(sim, mover->feet), COLLIDE_ALL);
    if (hit.contact.distance >= -OVERLAP_OK_M) {
        return;
    }
    bool landed = false;
    Vec3 feet = mover->feet;
    if (push_out(mover, &feet, &landed)) {
        mover->feet = feet;
        return;
    }
    if (!sim->config.authority) {
        return; // the server decides what happens
    }
    const uint64_t part = hit.part != NULL ? hit.part->net_id : 0;
    sim_emit(sim, (SimEvent){.type = SIM_EVENT_CRUSHED,
                             .subject = mover->entity->net_id,
                             .other = part,
                             .position = mover->feet});
    (void)sim_damage(sim, pool_handle(&sim->entities, mover->slot), mover->character->health, part);
}

static void run_substeps(Mover *mover, Vec3 way, Vec3 carry_velocity)
{
    const float stride = mover->tuning->radius * 0.5f;
    float longest = vec3_length(way);
    if (longest > stride * SUBSTEPS_MAX) {
        way = vec3_scale(way, stride * SUBSTEPS_MAX / longest);
        longest = stride * SUBSTEPS_MAX;
    }
    if (mover->colliders.any_moving) {
        longest = math_min(longest + fastest_part(mover), stride * SUBSTEPS_MAX);
    }
    const uint32_t count = longest <= stride ? 1 : (uint32_t)math_floor_i32(longest / stride) + 1;
    const uint32_t substeps = count > SUBSTEPS_MAX ? SUBSTEPS_MAX : count;
    const Vec3 motion = vec3_scale(way, 1 / (float)substeps);
    for (uint32_t i = 0; i < substeps; i++) {
        mover->fraction = (float)(i + 1) / (float)substeps;
        if (mover->colliders.any_moving) {
            collide_set_fraction(mover->sim, &mover->colliders, mover->fraction);
        }
        if (mover->bounced) {
            continue; // what a bounce gives begins with the next tick; the colliders are for this
                      // way
        }
        if (mover->grounded) {
            ground_substep(mover, motion);
            if (!mover->grounded && !mover->bounced) {
                mover->velocity = vec3_add(mover->velocity, carry_velocity);
            }
        } else {
            air_substep(mover, motion);
        }
        mover->path.points[mover->path.count++] = mover->feet;
    }
    if (mover->colliders.any_moving) {
        crush(mover);
        mover->path.points[mover->path.count - 1] = mover->feet;
    }
}

// Writes the result back; landing on something that moves makes the velocity relative to it.
static void finish_move(Mover *mover)
{
    Sim *sim = mover->sim;
    Entity *entity = mover->entity;
    Character *character = mover->character;
    const bool was_grounded = character->grounded;
    const Aabb bounds = sim->scene != NULL
                            ? scene_bounds(sim->scene)
                            : (Aabb){{-WORLD_EXTENT_M, -WORLD_EXTENT_M, -WORLD_EXTENT_M},
                                     {WORLD_EXTENT_M, WORLD_EXTENT_M, WORLD_EXTENT_M}};
    character->grounded = mover->grounded;
    character->ground_normal = mover->grounded ? mover->ground_normal : VEC3_ZERO;
    character->ground_net_id = 0;
    character->platform = HANDLE_NONE;
    if (mover->grounded && mover->ground != NULL) {
        character->ground_net_id = mover->ground->net_id;
        if (mover->ground->slot != 0) {
            character->platform = pool_handle(&sim->entities, mover->ground->slot);
        }
    }
    entity->position = mover->feet;
    entity->velocity = mover->velocity;
    if (mover->grounded && !was_grounded) {
        const Vec3 carry = ground_carry(sim, character, mover->feet);
        const float rate = 1 / sim->tick_seconds;
        entity->velocity.x -= carry.x * rate;
        entity->velocity.z -= carry.z * rate;
    }
    if (!aabb_contains(bounds, entity->position)) {
        entity->position = vec3_min(vec3_max(entity->position, bounds.min), bounds.max);
        if (sim->config.authority) {
            (void)sim_damage(sim, pool_handle(&sim->entities, mover->slot), character->health, 0);
        }
    }
}

static void touch_damage(Mover *mover, const ColliderPart *parts, uint32_t count)
{
    Character *character = mover->character;
    for (uint32_t i = 0; i < count; i++) {
        if ((parts[i].data->flags & PART_DAMAGE) == 0 || character->damage_pause_ticks != 0 ||
            character->health <= 0) {
            continue;
        }
        const Capsule capsule = sim_capsule(mover->sim, mover->feet);
        if (shape_capsule_contact(parts[i].placed, capsule).distance > TOUCH_M) {
            continue;
        }
        const SimConfig *config = &mover->sim->config;
        character->damage_pause_ticks =
            (uint8_t)(config->character.damage_pause_ms * config->tick_rate / 1000);
        (void)sim_damage(mover->sim, pool_handle(&mover->sim->entities, mover->slot),
                         parts[i].data->damage, parts[i].net_id);
    }
}

// Whether a change of the world put the character inside something. Moving parts are taken at their
// previous pose: the floor of a lift has risen already, and carrying its riders is handled
// elsewhere.
static bool is_stuck(Mover *mover)
{
    const Capsule capsule = sim_capsule(mover->sim, mover->feet);
    collide_gather(mover->sim, capsule_bounds(capsule), &mover->colliders);
    collide_set_fraction(mover->sim, &mover->colliders, 0);
    return collide_deepest(&mover->colliders, capsule, COLLIDE_ALL).contact.distance <
           -OVERLAP_OK_M;
}

static void move_one(Sim *sim, uint32_t slot, Mover *mover)
{
    Entity *entity = sim_at(sim, slot);
    Character *character = &entity->character;
    count_timers(character);
    mover->path.count = 0;
    if (character->health <= 0) {
        entity->velocity = VEC3_ZERO;
        character->push = VEC3_ZERO;
        trigger_leave_all(sim, slot);
        return;
    }
    mover->sim = sim;
    mover->entity = entity;
    mover->character = character;
    mover->slot = slot;
    mover->tuning = &sim->config.character;
    mover->feet = entity->position;
    mover->velocity = entity->velocity;
    mover->wish = wish_of(&character->input);
    mover->grounded = character->grounded;
    mover->ground = NULL;
    mover->ground_normal = character->ground_normal;
    mover->bounced = false;
    read_timers(mover);

    if (sim->geometry_changed && sim->unstuck_steps <= SIM_UNSTUCK_STEPS_PER_TICK &&
        is_stuck(mover)) {
        const uint64_t since = sim_work(sim);
        sim->counters.unstuck += 1;
        mover->feet = sim_free_position(sim, mover->feet);
        mover->grounded = false;
        sim->unstuck_steps += sim_work(sim) - since;
    }
    const Vec3 carry = ground_carry(sim, character, mover->feet);
    const Vec3 carry_velocity = vec3_scale(carry, 1 / sim->tick_seconds);
    mover->path.points[mover->path.count++] = mover->feet;

    const Vec3 carried = vec3_mad(carry, character->push, sim->tick_seconds);
    mover->region = way_bounds(mover, carried);
    mover->fraction = 1;
    collide_gather(sim, mover->region, &mover->colliders);

    choose_velocity(mover, carry_velocity);
    stay_on_ground(mover, carried);
    Vec3 way = vec3_scale(vec3_add(mover->velocity, character->push), sim->tick_seconds);
    if (mover->grounded) {
        way = vec3_add(way, carry);
    }
    character->push = VEC3_ZERO;
    run_substeps(mover, way, carry_velocity);
    finish_move(mover);
    sim_place(sim, slot);
    if (sim->config.authority) {
        touch_damage(mover, mover->colliders.parts, mover->colliders.part_count);
        touch_damage(mover, mover->colliders.zones, mover->colliders.zone_count);
        trigger_update(sim, slot, &mover->path, &mover->colliders);
    }
}

// The cost of a player's move is shared equally by the makers of the parts around it.
static void charge_parts(Sim *sim, const Colliders *colliders, uint64_t steps)
{
    const uint32_t count = colliders->part_count + colliders->zone_count;
    for (uint32_t i = 0; i < count; i++) {
        const ColliderPart *part = i < colliders->part_count
                                       ? &colliders->parts[i]
                                       : &colliders->zones[i - colliders->part_count];
        if (part->slot != 0) {
            work_charge(sim, sim_at(sim, part->slot)->maker, sim_work(sim) - steps / count);
        }
    }
}

// Entities of scripts wait if their maker has used up its part of the tick.
static void step_one(Sim *sim, uint32_t slot, Mover *mover)
{
    const uint32_t maker = sim_at(sim, slot)->maker;
    const uint64_t since = sim_work(sim);
    if (!work_allows(sim, maker)) {
        work_skip(sim, maker);
        return;
    }
    mover->colliders.part_count = 0;
    mover->colliders.zone_count = 0;
    sim_add_work(sim, WORK_CHARACTER_STEPS);
    move_one(sim, slot, mover);
    work_charge(sim, maker, since);
    if (maker == 0 && sim_maker_highest(sim) > 0) {
        charge_parts(sim, &mover->colliders, sim_work(sim) - since);
    }
}

void character_step(Sim *sim)
{
    Mover mover;
    sim->unstuck_steps = 0;
    for (uint32_t slot = sim_next_character(sim, 1); slot != 0;
         slot = sim_next_character(sim, slot + 1)) {
        if (!sim_at(sim, slot)->puppet) {
            step_one(sim, slot, &mover);
        }
    }
}
