// Projectiles fly straight within a tick. That way is cut into pieces, so that the boxes of the
// broad phase stay small, and the first piece in which something is met decides.
//
// Characters are looked for where they are now, in a box wider by what anybody moved since the tick
// the shooter saw (history_reach); the few who jumped further than that are tested one by one.
#include "core/sim/projectile.h"

#include "core/base/limits.h"
#include "core/sim/history.h"
#include "core/sim/nearby.h"

#define PIECE_M          8.0f
#define REACH_SLACK_M    0.01f // rounding in the sums of history_reach
#define VOXEL_DIAGONAL_M 0.87f // half of it: half the square root of 3, rounded up

// Which of several things at the same distance is hit: the lowest rank.
#define RANK_TERRAIN  0ull
#define RANK_ANCHORED (1ull << 32)
#define RANK_ENTITY   (2ull << 32)
#define RANK_NONE     UINT64_MAX

// One piece of a way, and the first thing met on it so far.
typedef struct Flight {
    Sim *sim;
    const Projectile *projectile;
    Vec3 origin;
    Vec3 direction; // unit
    float length;
    Aabb box; // of the whole piece, radius included

    float distance; // of the hit; as long as there is none, of the end
    uint64_t rank;  // RANK_NONE as long as nothing was hit
    Vec3 normal;
    Vec3 point;
} Flight;

static void flight_offer(Flight *flight, float distance, uint64_t rank, Vec3 normal, Vec3 point)
{
    if (distance < flight->distance || (distance == flight->distance && rank < flight->rank)) {
        flight->distance = distance;
        flight->rank = rank;
        flight->normal = normal;
        flight->point = point;
    }
}

static void test_shape(Flight *flight, const PlacedShape *shape, uint64_t rank)
{
    if (!aabb_overlaps(shape->bounds, flight->box)) {
        return;
    }
    sim_add_work(flight->sim, WORK_TEST_STEPS);
    ShapeHit hit;
    const float radius = flight->projectile->radius;
    if (radius == 0) {
        if (shape_ray(shape, flight->origin, flight->direction, flight->length, &hit)) {
            flight_offer(flight, hit.distance, rank, hit.normal, hit.point);
        }
        return;
    }
    const Capsule ball = {flight->origin, 0, radius};
    if (shape_sweep(shape, ball, vec3_scale(flight->direction, flight->length), &hit)) {
        flight_offer(flight, hit.distance * flight->length, rank, hit.normal, hit.point);
    }
}

// True if the way comes near enough to the voxel that its box must be asked.
static bool voxel_is_near(const Flight *flight, VoxelCoord voxel)
{
    const Vec3 centre = {(float)voxel.x + 0.5f, (float)voxel.y + 0.5f, (float)voxel.z + 0.5f};
    const Vec3 from = vec3_sub(centre, flight->origin);
    const float along = math_clamp(vec3_dot(from, flight->direction), 0, flight->distance);
    const float apart = vec3_length_squared(vec3_mad(from, flight->direction, -along));
    const float near = flight->projectile->radius + VOXEL_DIAGONAL_M;
    return apart <= near * near;
}

static void test_column(Flight *flight, int32_t x, int32_t z, int32_t y, uint64_t solid)
{
    for (; solid != 0; solid &= solid - 1) {
        const VoxelCoord voxel = {x, y + __builtin_ctzll(solid), z};
        if (voxel_is_near(flight, voxel)) {
            const Vec3 low = {(float)voxel.x, (float)voxel.y, (float)voxel.z};
            const PlacedShape box = shape_place_box(low, vec3_add(low, vec3(1, 1, 1)));
            test_shape(flight, &box, RANK_TERRAIN);
        }
    }
}

static void test_terrain(Flight *flight)
{
    const Terrain *terrain = flight->sim->terrain;
    if (flight->projectile->radius == 0) {
        sim_add_work(flight->sim, (uint64_t)PIECE_M * WORK_METRE_STEPS);
        TerrainHit hit;
        if (terrain_ray(terrain, flight->origin, flight->direction, flight->length, &hit)) {
            flight_offer(flight, hit.distance, RANK_TERRAIN, hit.normal, hit.point);
        }
        return;
    }
    const VoxelCoord low = voxel_at(flight->box.min);
    const VoxelCoord high = voxel_at(flight->box.max);
    const uint32_t rows = (uint32_t)(high.y - low.y + 1);
    ASSERT(rows <= 64);
    sim_add_work(flight->sim, (uint64_t)(high.x - low.x + 1) * (uint64_t)(high.z - low.z + 1) *
                                  WORK_COLUMN_STEPS);
    for (int32_t z = low.z; z <= high.z; z++) {
        for (int32_t x = low.x; x <= high.x; x++) {
            test_column(flight, x, z, low.y, terrain_column(terrain, x, z, low.y, rows));
        }
    }
}

static void test_anchored(Flight *flight)
{
    Nearby nearby;
    nearby_parts(&nearby, flight->sim, flight->box);
    uint32_t index = 0;
    const ScenePart *part;
    while ((part = nearby_next_part(&nearby, flight->sim, &index)) != NULL) {
        test_shape(flight, &part->placed, RANK_ANCHORED | index);
    }
}

// Where a line from outside enters a sphere around `centre`; false if it does not.
static bool ray_sphere(Vec3 origin, Vec3 direction, Vec3 centre, float radius, float *distance)
{
    const Vec3 from = vec3_sub(origin, centre);
    const float nearest = -vec3_dot(from, direction);
    const float apart = vec3_length_squared(vec3_mad(from, direction, nearest));
    if (apart > radius * radius) {
        return false;
    }
    *distance = nearest - math_sqrt(radius * radius - apart);
    return *distance >= 0;
}

// Where a line from outside enters the upright wall of the capsule; false if it does not.
static bool ray_wall(Vec3 origin, Vec3 direction, Capsule capsule, float *distance)
{
    const Vec3 from = vec3_sub(origin, capsule.base);
    const float speed = direction.x * direction.x + direction.z * direction.z;
    if (speed < 1e-12f) {
        return false;
    }
    const float nearest = -(from.x * direction.x + from.z * direction.z) / speed;
    const float x = from.x + direction.x * nearest;
    const float z = from.z + direction.z * nearest;
    const float inside = capsule.radius * capsule.radius - (x * x + z * z);
    if (inside < 0) {
        return false;
    }
    *distance = nearest - math_sqrt(inside / speed);
    const float y = from.y + direction.y * *distance;
    return *distance >= 0 && y >= 0 && y <= capsule.height;
}

static Vec3 core_nearest(Capsule capsule, Vec3 point)
{
    const float up = math_clamp(point.y - capsule.base.y, 0, capsule.height);
    return vec3(capsule.base.x, capsule.base.y + up, capsule.base.z);
}

// The capsule is the union of its wall and two spheres, so the first of three entries is its own.
static void test_capsule(Flight *flight, Capsule capsule, uint64_t rank)
{
    if (!aabb_overlaps(capsule_bounds(capsule), flight->box)) {
        return;
    }
    sim_add_work(flight->sim, WORK_TEST_STEPS);
    const float ball = flight->projectile->radius;
    const Vec3 origin = flight->origin;
    const Vec3 direction = flight->direction;
    capsule.radius += ball; // a ball against a capsule is a point against a thicker one
    const Vec3 apart = vec3_sub(origin, core_nearest(capsule, origin));
    if (vec3_length_squared(apart) <= capsule.radius * capsule.radius) {
        flight_offer(flight, 0, rank, vec3_neg(direction), origin);
        return;
    }
    const Vec3 top = vec3_add(capsule.base, vec3(0, capsule.height, 0));
    float first = flight->length;
    float distance;
    bool hit = false;
    if (ray_wall(origin, direction, capsule, &distance) && distance <= first) {
        first = distance;
        hit = true;
    }
    if (ray_sphere(origin, direction, capsule.base, capsule.radius, &distance) &&
        distance <= first) {
        first = distance;
        hit = true;
    }
    if (ray_sphere(origin, direction, top, capsule.radius, &distance) && distance <= first) {
        first = distance;
        hit = true;
    }
    if (hit) {
        const Vec3 centre = vec3_mad(origin, direction, first);
        const Vec3 out = vec3_normalise(vec3_sub(centre, core_nearest(capsule, centre)));
        flight_offer(flight, first, rank, out, vec3_mad(centre, out, -ball));
    }
}

static bool filter_allows(const Flight *flight, uint32_t slot)
{
    const Sim *sim = flight->sim;
    const Entity *shooter = pool_find(&sim->entities, flight->projectile->shooter);
    return sim->hit_filter(sim->hit_filter_user, shooter != NULL ? shooter->net_id : 0,
                           sim_at(sim, slot)->net_id);
}

// A character that this shooter may not hit is ignored. The filter is called only for an actual
// hit.
static void offer_capsule(Flight *flight, Capsule capsule, uint32_t slot)
{
    const uint64_t rank = RANK_ENTITY | slot;
    if (flight->sim->hit_filter == NULL) {
        test_capsule(flight, capsule, rank);
        return;
    }
    Flight tried = *flight;
    test_capsule(&tried, capsule, rank);
    const bool changed = tried.rank != flight->rank || tried.distance != flight->distance;
    if (changed && filter_allows(flight, slot)) {
        *flight = tried;
    }
}

static void test_character(Flight *flight, uint32_t slot)
{
    const Sim *sim = flight->sim;
    const Entity *entity = sim_at(sim, slot);
    if (!(entity->character.health > 0) || entity->removing) {
        return;
    }
    const uint32_t rewind = flight->projectile->rewind_ticks;
    Vec3 feet = entity->position;
    if (rewind != 0 && sim->history != NULL) {
        const uint64_t then = sim->tick >= rewind ? sim->tick - rewind : 0;
        (void)history_position(sim->history, entity->character.history_slot, then, &feet);
    }
    offer_capsule(flight, sim_capsule(sim, feet), slot);
}

static bool is_character(const Sim *sim, uint32_t slot)
{
    return sim_is_type(sim, slot, ENTITY_PLAYER) || sim_is_type(sim, slot, ENTITY_NPC);
}

static bool is_shooter(const Flight *flight, uint32_t slot)
{
    const Handle shooter = flight->projectile->shooter;
    return slot == shooter.index &&
           handle_equal(shooter, pool_handle(&flight->sim->entities, slot));
}

static void test_entity(Flight *flight, uint32_t slot)
{
    const Sim *sim = flight->sim;
    if (is_character(sim, slot)) {
        if (!is_shooter(flight, slot)) {
            test_character(flight, slot);
        }
    } else if (sim_is_type(sim, slot, ENTITY_PART) || sim_is_type(sim, slot, ENTITY_STRUCTURE)) {
        const Entity *entity = sim_at(sim, slot);
        if ((entity->part.data.flags & PART_GHOST) == 0 && !entity->removing &&
            !is_shooter(flight, slot)) {
            test_shape(flight, &entity->part.placed, RANK_ENTITY | slot);
        }
    }
}

// A rewound character may be offered twice, by the grid and by the list: that changes nothing.
static void test_entities(Flight *flight)
{
    const Sim *sim = flight->sim;
    const uint32_t rewind = sim->history != NULL ? flight->projectile->rewind_ticks : 0;
    Aabb box = flight->box;
    if (rewind != 0) {
        box = aabb_grow(box, history_reach(sim->history, rewind) + REACH_SLACK_M);
    }
    Nearby nearby;
    nearby_entities(&nearby, sim, box);
    for (uint32_t slot; (slot = nearby_next_entity(&nearby, sim)) != 0;) {
        test_entity(flight, slot);
    }
    if (rewind != 0) {
        uint32_t count = 0;
        const uint32_t *far = history_far(sim->history, &count);
        sim_add_work(sim, (uint64_t)count * GRID_ITEM_STEPS);
        for (uint32_t i = 0; i < count; i++) {
            if (pool_is_live(&sim->entities, far[i]) && is_character(sim, far[i])) {
                test_entity(flight, far[i]);
            }
        }
    }
}

static void hit_end(Sim *sim, uint32_t slot, const Flight *flight)
{
    const Entity *entity = sim_at(sim, slot);
    const Projectile projectile = entity->projectile;
    const Entity *shooter = pool_find(&sim->entities, projectile.shooter);
    const uint64_t shooter_id = shooter != NULL ? shooter->net_id : 0;
    SimEvent event = {.type = SIM_EVENT_PROJECTILE_HIT,
                      .detail = projectile.kind,
                      .subject = entity->net_id,
                      .shooter = shooter_id,
                      .position = flight->point,
                      .normal = flight->normal,
                      .value = (float)projectile.kind};
    Handle target = HANDLE_NONE;
    if (flight->rank >= RANK_ENTITY) {
        target = pool_handle(&sim->entities, (uint32_t)flight->rank);
        event.other = sim_at(sim, target.index)->net_id;
    } else if (flight->rank >= RANK_ANCHORED) {
        event.other = (flight->rank & UINT32_MAX) + 1; // net ids of anchored parts, see scene.h
    }
    sim_emit(sim, event);
    if (!handle_is_none(target) && sim->config.authority && projectile.damage != 0 &&
        !sim_is_type(sim, target.index, ENTITY_PART)) {
        (void)sim_damage(sim, target, projectile.damage, shooter_id);
    }
    sim_release(sim, slot);
}

static void end_of_life(Sim *sim, uint32_t slot)
{
    const Entity *entity = sim_at(sim, slot);
    sim_emit(sim, (SimEvent){.type = SIM_EVENT_PROJECTILE_ENDED,
                             .detail = entity->projectile.kind,
                             .subject = entity->net_id,
                             .position = entity->position,
                             .value = (float)entity->projectile.kind});
    sim_release(sim, slot);
}

// The velocity of this tick; false if it is not valid, because it was set from outside.
static bool accelerate(const Sim *sim, Entity *entity)
{
    Vec3 velocity = entity->velocity;
    velocity.y -= entity->projectile.gravity * sim->tick_seconds;
    const float speed = vec3_length(velocity);
    if (!math_is_finite(speed)) {
        return false;
    }
    if (speed > PROJECTILE_SPEED_MAX) {
        velocity = vec3_scale(velocity, PROJECTILE_SPEED_MAX / speed);
    }
    entity->velocity = velocity;
    return true;
}

static Aabb way_box(Vec3 from, Vec3 to, float radius)
{
    return aabb_grow((Aabb){vec3_min(from, to), vec3_max(from, to)}, radius);
}

// Tests one piece of the path; true if something was hit.
static bool fly(Flight *flight)
{
    flight->distance = flight->length;
    flight->rank = RANK_NONE;
    const float radius = flight->projectile->radius;
    const Vec3 end = vec3_mad(flight->origin, flight->direction, flight->length);
    flight->box = way_box(flight->origin, end, radius);
    test_terrain(flight);
    if (flight->rank != RANK_NONE) {
        // Nothing beyond it matters; what is just as far comes after terrain.
        const Vec3 hit = vec3_mad(flight->origin, flight->direction, flight->distance);
        flight->box = way_box(flight->origin, hit, radius);
    }
    test_anchored(flight);
    test_entities(flight);
    return flight->rank != RANK_NONE;
}

static void step_one(Sim *sim, uint32_t slot)
{
    Entity *entity = sim_at(sim, slot);
    // Only a script can have put it outside the bounds; so far out a box would lose its size.
    if (!aabb_contains(sim_bounds(sim), entity->position) || !accelerate(sim, entity)) {
        end_of_life(sim, slot);
        return;
    }
    const Vec3 motion = vec3_scale(entity->velocity, sim->tick_seconds);
    const float length = vec3_length(motion);
    const Vec3 direction = vec3_normalise(motion);
    Flight flight = {.sim = sim, .projectile = &entity->projectile};
    // One that does not move has no direction: up is as good as any for a path of no length.
    flight.direction = vec3_equal(direction, VEC3_ZERO) ? vec3(0, 1, 0) : direction;
    float done = 0;
    do {
        flight.origin = vec3_mad(entity->position, flight.direction, done);
        flight.length = math_min(length - done, PIECE_M);
        if (fly(&flight)) {
            hit_end(sim, slot, &flight);
            return;
        }
        done += PIECE_M;
    } while (done < length);

    entity->position = vec3_add(entity->position, motion);
    entity->projectile.ticks_left -= entity->projectile.ticks_left != 0;
    if (entity->projectile.ticks_left == 0 || !aabb_contains(sim_bounds(sim), entity->position)) {
        end_of_life(sim, slot);
        return;
    }
    sim_place(sim, slot);
}

// Its maker has used up its part of the tick: the projectile stays where it is, and its lifetime
// runs.
static void hold_one(Sim *sim, uint32_t slot, uint32_t maker)
{
    Projectile *projectile = &sim_at(sim, slot)->projectile;
    projectile->ticks_left -= projectile->ticks_left != 0;
    if (projectile->ticks_left == 0) {
        end_of_life(sim, slot);
    }
    work_skip(sim, maker);
}

void projectile_step(Sim *sim)
{
    if (sim->type_counts[ENTITY_PROJECTILE] == 0) {
        return;
    }
    history_record(sim);
    for (uint32_t i = sim_next_slot(sim, ENTITY_PROJECTILE, 1); i != 0;
         i = sim_next_slot(sim, ENTITY_PROJECTILE, i + 1)) {
        const uint32_t maker = sim_at(sim, i)->maker;
        const uint64_t since = sim_work(sim);
        if (!work_allows(sim, maker)) {
            hold_one(sim, i, maker);
        } else if (!sim_at(sim, i)->puppet) {
            sim_add_work(sim, WORK_PROJECTILE_STEPS);
            step_one(sim, i);
            work_charge(sim, maker, since);
        }
    }
}

static uint32_t rewind_max(const Sim *sim)
{
    const uint32_t ticks = HISTORY_REWIND_MS * sim->config.tick_rate / 1000;
    ASSERT(ticks < HISTORY_TICKS);
    return ticks;
}

static bool desc_is_sane(const Sim *sim, const ProjectileDesc *desc)
{
    return aabb_contains(sim_bounds(sim), desc->position) &&
           vec3_length(desc->velocity) <= PROJECTILE_SPEED_MAX && desc->radius >= 0 &&
           desc->radius <= PROJECTILE_RADIUS_MAX &&
           math_abs(desc->gravity) <= PROJECTILE_GRAVITY_MAX &&
           math_abs(desc->damage) <= PROJECTILE_DAMAGE_MAX && desc->lifetime_ticks >= 1 &&
           desc->lifetime_ticks <= PROJECTILE_LIFETIME_TICKS_MAX;
}

Status projectile_fire(Sim *sim, const ProjectileDesc *desc, Handle *out)
{
    if (!desc_is_sane(sim, desc)) {
        return STATUS_RANGE;
    }
    uint32_t slot = 0;
    const Status status = sim_acquire(sim, ENTITY_PROJECTILE, desc->net_id, desc->owner_id, &slot);
    if (status != STATUS_OK) {
        return status;
    }
    const uint32_t rewind = rewind_max(sim);
    Entity *entity = sim_at(sim, slot);
    entity->position = desc->position;
    entity->velocity = desc->velocity;
    entity->rotation = QUAT_IDENTITY;
    entity->projectile = (Projectile){
        .shooter = desc->shooter,
        .radius = desc->radius,
        .gravity = desc->gravity,
        .damage = desc->damage,
        .ticks_left = desc->lifetime_ticks,
        .rewind_ticks = desc->rewind_ticks < rewind ? desc->rewind_ticks : rewind,
        .kind = desc->kind,
    };
    sim_place(sim, slot);
    *out = pool_handle(&sim->entities, slot);
    return STATUS_OK;
}

void projectile_visit(Sim *sim, Projectile *projectile, StateIo *io)
{
    state_handle(io, &projectile->shooter);
    state_f32(io, &projectile->radius);
    state_f32(io, &projectile->gravity);
    state_f32(io, &projectile->damage);
    state_u32(io, &projectile->ticks_left, PROJECTILE_LIFETIME_TICKS_MAX);
    state_u32(io, &projectile->rewind_ticks, rewind_max(sim));
    state_u32(io, &projectile->kind, UINT32_MAX);
    if (io->mode == STATE_READ && state_ok(io) &&
        !(projectile->radius >= 0 && projectile->radius <= PROJECTILE_RADIUS_MAX &&
          math_abs(projectile->gravity) <= PROJECTILE_GRAVITY_MAX &&
          math_abs(projectile->damage) <= PROJECTILE_DAMAGE_MAX)) {
        state_fail(io, STATUS_RANGE);
    }
}
