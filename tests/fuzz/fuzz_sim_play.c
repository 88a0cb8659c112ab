// Any sequence of calls, with any handles and numbers: each returns an error status or does what it
// should, no step ever fails, and no living character ends inside anything.
//
// The input is read as operations: one byte that chooses the call, then its arguments. A number is
// a byte that says how: small and ordinary in most cases, any four bytes as a float in some.
#include "tests/fuzz/small_world.h"

#include "core/base/check.h"

#include <string.h>

#define STEPS_MAX   240
#define HANDLES_MAX 32

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

typedef struct Play {
    SmallWorld *world;
    Sim *sim;
    ByteReader reader;
    Handle handles[HANDLES_MAX]; // of what was made, round and round
    uint32_t made_count;
    uint32_t step_count;
    uint32_t seq;
} Play;

static uint32_t small(Play *play, uint32_t bound)
{
    return byte_read_u8(&play->reader) % bound;
}

static float number(Play *play)
{
    const uint8_t how = byte_read_u8(&play->reader);
    if (how < 200) {
        // -12.5 .. 12.4
        return ((float)how - 100) / 8;
    }
    if (how < 240) {
        return (float)(int16_t)byte_read_u16(&play->reader) / 64;
    }
    const uint32_t bits = byte_read_u32(&play->reader);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static Vec3 vector(Play *play)
{
    Vec3 v;
    v.x = number(play);
    v.y = number(play);
    v.z = number(play);
    return v;
}

static Handle handle(Play *play)
{
    const uint8_t pick = byte_read_u8(&play->reader);
    if (pick < 250) {
        return play->handles[pick % HANDLES_MAX];
    }
    const uint32_t index = byte_read_u8(&play->reader);
    return (Handle){index, byte_read_u8(&play->reader)};
}

static void made(Play *play, Status status, Handle h)
{
    if (status == STATUS_OK) {
        play->handles[play->made_count++ % HANDLES_MAX] = h;
    }
}

static PartDesc part(Play *play)
{
    PartDesc desc = {0};
    desc.shape.kind = (ShapeKind)small(play, SHAPE_KIND_COUNT);
    desc.shape.half = vector(play);
    desc.pose.position = vector(play);
    const Quat turn = {number(play), number(play), number(play), number(play)};
    // Most rotations are unit, as callers promise; some are what came.
    desc.pose.rotation = small(play, 8) == 0 ? turn : quat_normalise(turn);
    desc.data.flags = byte_read_u8(&play->reader);
    desc.data.bounce_speed = number(play);
    desc.data.damage = number(play);
    desc.data.conveyor_speed = vector(play);
    return desc;
}

static VoxelCoord voxel(Play *play)
{
    if (small(play, 16) == 0) {
        VoxelCoord any;
        any.x = (int32_t)byte_read_u32(&play->reader);
        any.y = (int32_t)byte_read_u32(&play->reader);
        any.z = (int32_t)byte_read_u32(&play->reader);
        return any;
    }
    VoxelCoord near;
    near.x = (int32_t)small(play, 24) - 12;
    near.y = (int32_t)small(play, 8) - 3;
    near.z = (int32_t)small(play, 24) - 12;
    return near;
}

static void step(Play *play, uint32_t count)
{
    for (uint32_t i = 0; i < count && play->step_count < STEPS_MAX; i++) {
        sim_step(play->sim);
        play->step_count += 1;
        // What was dropped for want of room cannot stop anybody.
        small_world_check(play->sim, sim_counters(play->sim)->colliders_dropped == 0);
    }
}

static void play_character(Play *play)
{
    Handle h = HANDLE_NONE;
    switch (small(play, 6)) {
    case 0: {
        const CharacterDesc desc = {.net_id = small(play, 4) == 0 ? small(play, 64) : 0,
                                    .position = vector(play),
                                    .yaw = number(play)};
        made(play, sim_spawn_player(play->sim, &desc, &h), h);
        break;
    }
    case 1: {
        const Handle who = handle(play);
        const SimInput input = {.seq = ++play->seq,
                                .move_x = number(play),
                                .move_z = number(play),
                                .yaw = number(play),
                                .pitch = number(play),
                                .buttons = byte_read_u8(&play->reader)};
        sim_set_input(play->sim, who, &input);
        break;
    }
    case 2: {
        const Handle who = handle(play);
        (void)!sim_set_velocity(play->sim, who, vector(play));
        break;
    }
    case 3: {
        const Handle who = handle(play);
        const float amount = number(play);
        (void)sim_damage(play->sim, who, amount, small(play, 64));
        break;
    }
    case 4: {
        const Handle who = handle(play);
        (void)!sim_revive(play->sim, who, vector(play));
        break;
    }
    default: {
        const Handle who = handle(play);
        (void)!sim_set_position(play->sim, who, vector(play));
        break;
    }
    }
}

static void play_part(Play *play)
{
    Handle h = HANDLE_NONE;
    switch (small(play, 11)) {
    case 0:
    case 1: {
        const ShapeDesc desc = {.part = part(play)};
        made(play, sim_spawn_part(play->sim, &desc, &h), h);
        break;
    }
    case 2: {
        const ShapeDesc desc = {.part = part(play)};
        made(play, sim_spawn_prop(play->sim, &desc, &h), h);
        break;
    }
    case 3: {
        const Handle which = handle(play);
        const Entity *entity = sim_entity(play->sim, which);
        MotionSegment segment = {.velocity = vector(play), .angular_velocity = vector(play)};
        // From where it is, or from anywhere.
        segment.pose = entity != NULL && small(play, 8) != 0
                           ? (Pose){entity->position, entity->rotation}
                           : part(play).pose;
        segment.tick_from = sim_tick(play->sim) + small(play, 4);
        segment.tick_to = segment.tick_from + small(play, 120);
        (void)!sim_move_part(play->sim, which, &segment);
        break;
    }
    case 4: {
        const Handle which = handle(play);
        (void)!sim_set_rotation(play->sim, which, part(play).pose.rotation);
        break;
    }
    case 5: {
        const Handle which = handle(play);
        const PartData data = part(play).data;
        (void)!sim_set_part_data(play->sim, which, &data);
        break;
    }
    case 6:
        made(play, sim_thaw_part(play->sim, small(play, 20), &h), h);
        break;
    case 7:
        (void)!sim_hide_part(play->sim, small(play, 20));
        break;
    case 8: {
        const Handle which = handle(play);
        const Pose target = part(play).pose;
        (void)!sim_glide_part(play->sim, which, target, small(play, 250));
        break;
    }
    case 9: {
        const Handle which = handle(play);
        (void)!sim_drift_part(play->sim, which, vector(play));
        break;
    }
    default:
        (void)!sim_stop_part(play->sim, handle(play));
        break;
    }
}

static void play_world(Play *play)
{
    Terrain *terrain = sim_terrain(play->sim);
    Handle h = HANDLE_NONE;
    switch (small(play, 6)) {
    case 0:
        (void)!terrain_set(terrain, voxel(play), (VoxelKind)small(play, 6), NULL);
        break;
    case 1: {
        const VoxelCoord min = voxel(play);
        const VoxelCoord max = voxel(play);
        (void)!terrain_fill_box(terrain, min, max, (VoxelKind)small(play, 6), NULL);
        break;
    }
    case 2: {
        const Vec3 centre = vector(play);
        const float radius = number(play);
        (void)!terrain_fill_sphere(terrain, centre, radius, (VoxelKind)small(play, 6), NULL);
        break;
    }
    case 3: {
        const StructureDesc desc = {.owner_id = small(play, 3),
                                    .piece = small(play, 4),
                                    .cell = voxel(play),
                                    .turn = small(play, 5)};
        made(play, structure_place(play->sim, &desc, &h), h);
        break;
    }
    case 4: {
        const Handle which = handle(play);
        (void)!structure_remove(play->sim, which, small(play, 3));
        break;
    }
    default:
        sim_remove(play->sim, handle(play));
        break;
    }
}

static void play_fight(Play *play)
{
    Handle h = HANDLE_NONE;
    switch (small(play, 7)) {
    case 0:
    case 1: {
        const ProjectileDesc desc = {.shooter = handle(play),
                                     .position = vector(play),
                                     .velocity = vector(play),
                                     .radius = number(play) / 8,
                                     .gravity = number(play),
                                     .damage = number(play),
                                     .lifetime_ticks = small(play, 200),
                                     .rewind_ticks = small(play, 40),
                                     .kind = small(play, 4)};
        made(play, projectile_fire(play->sim, &desc, &h), h);
        break;
    }
    case 2: {
        NpcDesc desc = npc_desc_default();
        desc.position = vector(play);
        desc.yaw = number(play);
        desc.patrol_count = small(play, 4);
        for (uint32_t i = 0; i < desc.patrol_count; i++) {
            desc.patrol[i] = vector(play);
        }
        made(play, npc_spawn(play->sim, &desc, &h), h);
        break;
    }
    case 3: {
        const Handle who = handle(play);
        (void)!npc_set_target(play->sim, who, handle(play));
        break;
    }
    case 4:
        (void)!npc_stop(play->sim, handle(play));
        break;
    default: {
        const Handle who = handle(play);
        (void)!npc_move_to(play->sim, who, vector(play));
        break;
    }
    }
}

static void play_look(Play *play)
{
    SimRef found[16];
    const Vec3 a = vector(play);
    const Vec3 b = vector(play);
    const uint32_t mask = byte_read_u8(&play->reader);
    (void)sim_query_box(play->sim, (Aabb){vec3_min(a, b), vec3_max(a, b)}, mask, found, 16);
    (void)sim_query_radius(play->sim, a, number(play), mask, found, 16);
    const Vec3 direction = vec3_normalise(b);
    const float reach = number(play);
    if (!vec3_is_finite(a) || !(vec3_length(direction) > 0.9f) || !(reach >= 0)) {
        return; // a ray has a direction and a length
    }
    SimRayHit hit = {0};
    const SimRay ray = {.origin = a,
                        .direction = direction,
                        .distance_max = math_min(reach, 100),
                        .type_mask = mask,
                        .terrain = true,
                        .ghosts = (mask & 1) != 0};
    if (sim_ray(play->sim, &ray, &hit)) {
        ASSERT(hit.distance >= 0 && hit.distance <= ray.distance_max + 0.01f);
        ASSERT(vec3_is_finite(hit.point) && vec3_is_finite(hit.normal));
    }
}

static void play_one(Play *play)
{
    switch (small(play, 10)) {
    case 0:
        step(play, 1);
        break;
    case 1:
        step(play, small(play, 20));
        break;
    case 2:
    case 3:
        play_character(play);
        break;
    case 4:
    case 5:
        play_part(play);
        break;
    case 6:
        play_world(play);
        break;
    case 7:
        play_fight(play);
        break;
    case 8:
        play_look(play);
        break;
    default: {
        Sim *copy = small_world_copy(play->world, play->sim);
        if (copy != NULL) {
            sim_destroy(&play->world->heap, play->sim);
            play->sim = copy;
        }
        break;
    }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    Play play = {.world = small_world(), .reader = byte_reader(bytes, count)};
    const SmallWorld *world = play.world;
    ASSERT(sim_create(&play.world->heap, &world->config, world->scene, &play.sim) == STATUS_OK);
    while (byte_reader_left(&play.reader) > 0 && play.step_count < STEPS_MAX) {
        play.reader.status = STATUS_OK; // an argument may have been cut off; the rest is zero
        play_one(&play);
    }
    step(&play, 20);
    sim_destroy(&play.world->heap, play.sim);
    return 0;
}
