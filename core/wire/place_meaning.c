// Converts the members of a doc for a sim: poses, parts, motion, terrain. Pure functions of the
// doc, so the compiler and the loader get the same numbers.
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/wire/place_doc.h"
#include "core/wire/script_path.h"

#include <string.h>

#define LOOP_GAP_M   1e-3f   // how far the end of a loop may be from its begin
#define LOOP_DOT_MIN 0.9999f // of the two rotations

// --- poses --------------------------------------------------------------------------------------

Quat place_rotation(const PlaceRotation *rotation)
{
    const float *v = rotation->values;
    if (rotation->form == PLACE_ROTATION_QUATERNION) {
        return (Quat){v[0], v[1], v[2], v[3]};
    }
    if (rotation->form == PLACE_ROTATION_NONE) {
        return QUAT_IDENTITY;
    }
    const float to_radians = MATH_PI / 180;
    const Quat x = quat_from_axis_angle(vec3(1, 0, 0), v[0] * to_radians);
    const Quat y = quat_from_axis_angle(vec3(0, 1, 0), v[1] * to_radians);
    const Quat z = quat_from_axis_angle(vec3(0, 0, 1), v[2] * to_radians);
    return quat_normalise(quat_multiply(y, quat_multiply(x, z)));
}

static bool is_identity(Pose pose)
{
    return memcmp(&pose.rotation, &QUAT_IDENTITY, sizeof pose.rotation) == 0 &&
           vec3_equal(pose.position, VEC3_ZERO);
}

Pose place_pose(Pose frame, Vec3 position, const PlaceRotation *rotation)
{
    const Quat own = place_rotation(rotation);
    // Without a parent nothing is computed: the stripped form has the composed poses and must give
    // them back to the bit.
    if (is_identity(frame)) {
        return (Pose){position, own};
    }
    return (Pose){vec3_add(frame.position, quat_rotate(frame.rotation, position)),
                  quat_normalise(quat_multiply(frame.rotation, own))};
}

float place_yaw(Quat rotation)
{
    const Vec3 ahead = quat_rotate(rotation, vec3(0, 0, 1));
    return math_atan2(ahead.x, ahead.z);
}

// --- looks --------------------------------------------------------------------------------------

// One member of a Paint from what the creator wrote, by its kind in look.def.
#define PAINT_OF_COLOUR(NAME, value) (value)
#define PAINT_OF_SHARE(NAME, value)  paint_share((double)(value))
#define PAINT_OF_WORD(NAME, value)   (value)
#define PAINT_OF_BOOL(NAME, value)   ((value) ? 1u : 0u)
#define PAINT_OF_ASSET(NAME, value)  asset_name_find(&assets, PAINT_##NAME, value)

Paint place_look_paint(const PlaceLookDoc *look, AssetNames assets)
{
    Paint paint = paint_default;
#define LOOK(NAME, member, Property, kind, type, most, bits, fallback, scene, about) \
    paint_set(&paint, PAINT_##NAME, PAINT_OF_##kind(NAME, look->member));
#include "core/wire/look.def"
    return paint;
}

// --- parts --------------------------------------------------------------------------------------

PartDesc place_part(const PlaceBodyDoc *body, Pose pose)
{
    PartDesc part = {
        .shape = {(ShapeKind)body->shape.kind, vec3_scale(body->shape.size, 0.5f)},
        .pose = pose,
        .data = {.bounce_speed = body->bounce,
                 .damage = body->damage,
                 .conveyor_speed = body->conveyor},
    };
    part.shape = shape_tidy(part.shape);
    uint32_t flags = 0;
    flags |= body->ghost ? (uint32_t)PART_GHOST : 0;
    flags |= body->trigger ? (uint32_t)PART_TRIGGER : 0;
    flags |= body->ladder ? (uint32_t)PART_LADDER : 0;
    flags |= body->bounce != 0 ? (uint32_t)PART_BOUNCE : 0;
    flags |= body->damage != 0 ? (uint32_t)PART_DAMAGE : 0;
    flags |= !vec3_equal(body->conveyor, VEC3_ZERO) ? (uint32_t)PART_CONVEYOR : 0;
    part.data.flags = flags;
    return part;
}

// --- motion -------------------------------------------------------------------------------------

static uint32_t ticks_of(float seconds, uint32_t tick_rate)
{
    return (uint32_t)math_floor_i32(seconds * (float)tick_rate + 0.5f);
}

static uint32_t some_ticks_of(float seconds, uint32_t tick_rate)
{
    const uint32_t ticks = ticks_of(seconds, tick_rate);
    return ticks < 1 ? 1 : ticks > MOTION_TICKS_MAX ? MOTION_TICKS_MAX : ticks;
}

static Pose turned_pose(const PlaceEntityDoc *entity, Vec3 position, const PlaceRotation *turn)
{
    Pose pose = place_pose(entity->frame, position, &entity->transform.rotation);
    if (turn->form != PLACE_ROTATION_NONE) {
        const Quat whole =
            quat_multiply(place_rotation(turn), place_rotation(&entity->transform.rotation));
        pose.rotation = quat_normalise(quat_multiply(entity->frame.rotation, whole));
    }
    return pose;
}

// True if a part that jumps from one pose to the other seems to stay where it is.
static bool is_same_place(Pose a, Pose b)
{
    const Quat p = a.rotation;
    const Quat q = b.rotation;
    const float dot = p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
    return vec3_length(vec3_sub(a.position, b.position)) <= LOOP_GAP_M &&
           math_abs(dot) >= LOOP_DOT_MIN;
}

// Each leg begins exactly at its waypoint, so rounding never adds up, however long a loop runs.
static Status plan_waypoints(const PlaceEntityDoc *entity, uint32_t tick_rate, float radius,
                             Motion *plan, uint32_t *loop_ticks)
{
    const PlaceList *list = &entity->motion.waypoints;
    const PlaceWaypointDoc *waypoint = list->items;
    const float tick_seconds = 1.0f / (float)tick_rate;
    if (!entity->motion.loop && list->count >= MOTION_SEGMENTS_MAX) {
        return STATUS_LIMIT;
    }
    Pose from = entity->pose;
    uint32_t tick = 0;
    for (uint32_t i = 0; i < list->count; i++, waypoint++) {
        const Pose to = turned_pose(entity, waypoint->position, &waypoint->turn);
        const uint32_t ticks = some_ticks_of(waypoint->seconds, tick_rate);
        Motion leg = {0};
        Status status = motion_glide(&leg, from, to, radius, tick, ticks, tick_seconds);
        if (status == STATUS_OK) {
            status = motion_append(plan, &leg.segments[0], radius, 0);
        }
        if (status != STATUS_OK) {
            return status;
        }
        from = to;
        tick += ticks + ticks_of(waypoint->wait, tick_rate);
    }
    if (entity->motion.loop) {
        *loop_ticks = tick;
        return is_same_place(from, entity->pose) ? STATUS_OK : STATUS_MISMATCH;
    }
    const uint64_t end = plan->segments[plan->count - 1].tick_to;
    const MotionSegment arrived = {.pose = from, .tick_from = end, .tick_to = end + 1};
    return motion_append(plan, &arrived, radius, 0);
}

static Status plan_segments(const PlaceEntityDoc *entity, uint32_t tick_rate, float radius,
                            Motion *plan, uint32_t *loop_ticks)
{
    const PlaceList *list = &entity->motion.segments;
    const PlaceSegmentDoc *segment = list->items;
    uint64_t end = 0;
    for (uint32_t i = 0; i < list->count; i++, segment++) {
        const uint64_t start = ticks_of(segment->start, tick_rate);
        const Pose pose = turned_pose(entity, segment->position, &segment->turn);
        MotionSegment one = {.pose = pose,
                             .velocity = quat_rotate(entity->frame.rotation, segment->velocity),
                             .angular_velocity =
                                 quat_rotate(entity->frame.rotation, segment->angular_velocity),
                             .tick_from = segment->start == 0 ? end : start};
        one.tick_to = one.tick_from + some_ticks_of(segment->seconds, tick_rate);
        const Status status = motion_append(plan, &one, radius, 0);
        if (status != STATUS_OK) {
            return status;
        }
        end = one.tick_to;
    }
    if (!entity->motion.loop) {
        return STATUS_OK;
    }
    *loop_ticks = (uint32_t)end;
    const Pose last =
        motion_segment_pose(&plan->segments[plan->count - 1], end, 1.0f / (float)tick_rate);
    return is_same_place(last, plan->segments[0].pose) ? STATUS_OK : STATUS_MISMATCH;
}

Status place_motion(const PlaceEntityDoc *entity, uint32_t tick_rate,
                    MotionSegment segments[MOTION_SEGMENTS_MAX], uint32_t *count,
                    uint32_t *loop_ticks)
{
    const PlaceMotionDoc *motion = &entity->motion;
    Motion plan = {0};
    uint32_t ticks = 0;
    Status status = STATUS_OK;
    const float radius = vec3_length(place_part(&entity->body, entity->pose).shape.half);
    if (motion->waypoints.count != 0) {
        status = plan_waypoints(entity, tick_rate, radius, &plan, &ticks);
    } else if (motion->segments.count != 0) {
        status = plan_segments(entity, tick_rate, radius, &plan, &ticks);
    }
    if (status != STATUS_OK) {
        return status;
    }
    memcpy(segments, plan.segments, sizeof plan.segments);
    *count = plan.count;
    *loop_ticks = ticks;
    return STATUS_OK;
}

// --- scripts ------------------------------------------------------------------------------------

Text place_script(const PlaceBodyDoc *body)
{
    return body->script_path.bytes != 0 ? body->script_path : body->script_ref.path;
}

Text place_script_plain(Text path)
{
    if (path.bytes == 0) {
        return path;
    }
    const ScriptPath plain = script_path_trim(path.data, path.bytes);
    return (Text){plain.data, (uint32_t)plain.bytes};
}

static bool is_in(Text path, ScriptService service)
{
    const Text plain = place_script_plain(path);
    return script_path_service(plain.data, plain.bytes) == service;
}

bool place_script_is_server_only(Text path)
{
    return is_in(path, SERVICE_SERVER_SCRIPT);
}

bool place_script_has_entity(Text path)
{
    return is_in(path, SERVICE_WORKSPACE) || place_script_is_server_only(path);
}

// --- terrain ------------------------------------------------------------------------------------

static VoxelKinds kinds_of(const PlaceDoc *doc)
{
    VoxelKinds kinds = voxel_kinds_default();
    const PlaceVoxelDoc *voxel = doc->settings.voxel_kinds.items;
    kinds.count = doc->settings.voxel_kinds.count + 1;
    for (uint32_t i = 0; i < doc->settings.voxel_kinds.count; i++) {
        const uint32_t kind = i + 1;
        if (!voxel[i].solid) {
            kinds.solid[kind / 64] &= ~(1ull << (kind % 64));
        }
    }
    return kinds;
}

static Status paint(ChunkStore *store, const PlaceFillDoc *fill)
{
    if (fill->chunk.bytes == 0) {
        const VoxelCoord min = {fill->min[0], fill->min[1], fill->min[2]};
        const VoxelCoord max = {fill->max[0], fill->max[1], fill->max[2]};
        return chunk_store_fill(store, min, max, (VoxelKind)fill->kind_number);
    }
    ByteReader reader = byte_reader(fill->data, fill->data_bytes);
    const Status status = chunk_store_parse(store, fill->at, &reader);
    return status != STATUS_OK ? status : byte_reader_finish(&reader);
}

Status place_terrain(Heap *heap, const PlaceDoc *doc, ChunkStore **out, uint32_t *bad_fill)
{
    // Also for a place without terrain: the store says which kinds there are.
    ChunkStoreConfig config = {.kinds = kinds_of(doc)};
    const uint32_t count = doc->scene.terrain.count;
    *bad_fill = UINT32_MAX;
    // Each fill brings at most one kind into a chunk it touches, hence at most one more page, and
    // the first of them the mask as well.
    config.chunk_max = doc->touched_count + 1;
    config.page_max = 2 * doc->touched_count + doc->chunk_page_count + 1;
    ChunkStore *store = NULL;
    Status status = chunk_store_create(heap, &config, &store);
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        *bad_fill = i;
        status = paint(store, place_fill(doc, i));
    }
    if (status != STATUS_OK) {
        chunk_store_destroy(heap, store);
        return status;
    }
    *out = store;
    return STATUS_OK;
}
