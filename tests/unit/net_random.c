// Random content for the tests of snapshots.
#include "tests/unit/net_random.h"

#include "core/base/check.h"

#include <string.h>

int32_t net_random_integer(Rng *rng, int32_t low, int32_t high)
{
    const uint32_t choice = rng_below(rng, 16);
    if (choice == 0) {
        return low;
    }
    if (choice == 1) {
        return high;
    }
    // Any width up to the whole range, so that every class of widths is met.
    const uint32_t width = rng_below(rng, 32);
    const int64_t value = (int64_t)(rng_u32(rng) >> (31 - width)) - (1ll << width);
    return value < low ? low : value > high ? high : (int32_t)value;
}

NetMotion net_random_motion(Rng *rng, uint64_t frame_tick)
{
    NetMotion motion = {.tick = frame_tick};
    const uint32_t age = rng_below(rng, 3) == 0 ? rng_below(rng, NET_MOTION_TICKS_MAX + 1) : 0;
    motion.tick -= age < frame_tick ? age : 0;
    for (uint32_t i = 0; i < 3; i++) {
        motion.position[i] = net_random_integer(rng, -(1 << 22), (1 << 22) - 1);
        motion.velocity[i] = net_random_integer(rng, -(1 << 17), (1 << 17) - 1);
    }
    motion.gravity = (uint16_t)net_random_integer(rng, 0, UINT16_MAX);
    return motion;
}

// A step as movers make it: near the curve, with a little more or less speed.
static void bend(Rng *rng, NetMotion *motion, uint64_t frame_tick)
{
    *motion = net_motion_move(motion, frame_tick, 60);
    const int32_t reach = 1 << rng_below(rng, 10);
    for (uint32_t i = 0; i < 3; i++) {
        const int32_t position = motion->position[i] + net_random_integer(rng, -reach, reach);
        const int32_t velocity = motion->velocity[i] + net_random_integer(rng, -reach, reach);
        motion->position[i] = position < -(1 << 22)      ? -(1 << 22)
                              : position > (1 << 22) - 1 ? (1 << 22) - 1
                                                         : position;
        motion->velocity[i] = velocity < -(1 << 17)      ? -(1 << 17)
                              : velocity > (1 << 17) - 1 ? (1 << 17) - 1
                                                         : velocity;
    }
}

NetState net_random_state(Rng *rng, NetKind kind, const NetState *before, uint64_t frame_tick)
{
    NetState state = *before;
    const bool is_new = before->version == 0;
    const uint32_t choice = is_new ? UINT32_MAX : rng_u32(rng);
    state.version++;
    if (net_kind_moves(kind) && (choice & 1) != 0) {
        if (is_new || (choice & 0x700) == 0) {
            state.motion = net_random_motion(rng, frame_tick);
        } else {
            bend(rng, &state.motion, frame_tick);
        }
    }
    if ((choice & 2) != 0) {
        state.yaw = (uint8_t)(state.yaw + net_random_integer(rng, -128, 127));
        state.pitch = (int8_t)net_random_integer(rng, -128, 127);
    }
    if ((choice & 4) != 0) {
        state.flags = (uint8_t)rng_below(rng, NET_STATUS_ALL + 1);
        state.npc_state = (uint8_t)net_random_integer(rng, 0, 255);
        state.health = (uint16_t)net_random_integer(rng, 0, UINT16_MAX);
    }
    if (!net_kind_moves(kind) && (choice & 8) != 0) {
        state.shape_version++;
    }
    if (kind != NET_PROJECTILE && (choice & 32) != 0) {
        const PaintMember member = (PaintMember)rng_below(rng, PAINT_MEMBER_COUNT);
        paint_set(&state.paint, member, rng_below(rng, paint_row(member)->most + 1));
    }
    if ((choice & 16) != 0) {
        state.attributes_version += 1 + rng_below(rng, 20);
    }
    if (is_new && kind == NET_PROJECTILE) {
        state.projectile_kind = (uint16_t)rng_u32(rng);
        state.projectile_radius = (uint8_t)rng_u32(rng);
    }
    return state;
}

static Quat random_rotation(Rng *rng)
{
    if (rng_below(rng, 2) == 0) {
        return QUAT_IDENTITY;
    }
    const float angle = rng_range(rng, -3, 3);
    return quat_from_yaw(angle);
}

static Vec3 random_vector(Rng *rng, float reach)
{
    Vec3 v;
    v.x = rng_range(rng, -reach, reach);
    v.y = rng_range(rng, -reach, reach);
    v.z = rng_range(rng, -reach, reach);
    return v;
}

NetShape net_random_shape(Rng *rng)
{
    NetShape shape = {.shape.kind = (ShapeKind)rng_below(rng, SHAPE_KIND_COUNT)};
    shape.shape.half.x = rng_range(rng, 0.1f, 2);
    shape.shape.half.y = rng_range(rng, 0.1f, 2);
    shape.shape.half.z = rng_range(rng, 0.1f, 2);
    shape.shape = shape_tidy(shape.shape);
    shape.rest.position = random_vector(rng, 1000);
    shape.rest.rotation = random_rotation(rng);
    shape.data.flags = rng_below(rng, PART_FLAGS_ALL + 1);
    if (rng_below(rng, 2) == 0) {
        shape.data.bounce_speed = rng_range(rng, 0, 50);
    }
    if (rng_below(rng, 2) == 0) {
        shape.data.conveyor_speed = random_vector(rng, 10);
    }
    if (rng_below(rng, 3) == 0) {
        shape.piece = (uint16_t)rng_below(rng, STRUCTURE_CATALOGUE_MAX);
        shape.turn = (uint8_t)rng_below(rng, 4);
        shape.cell.x = (int32_t)rng_below(rng, 2000) - 1000;
        shape.cell.y = (int32_t)rng_below(rng, 2000) - 1000;
        shape.cell.z = (int32_t)rng_below(rng, 2000) - 1000;
        shape.health = (uint16_t)rng_u32(rng);
    }
    uint64_t tick = rng_u32(rng);
    for (uint32_t i = rng_below(rng, MOTION_SEGMENTS_MAX + 1); i > 0; i--) {
        MotionSegment segment = {.tick_from = tick};
        segment.pose.position = random_vector(rng, 1000);
        segment.pose.rotation = random_rotation(rng);
        segment.velocity = random_vector(rng, 10);
        if (rng_below(rng, 2) == 0) {
            segment.angular_velocity = random_vector(rng, 2);
        }
        segment.tick_to = tick + 1 + rng_below(rng, 1000);
        tick = segment.tick_to + rng_below(rng, 2);
        ASSERT(motion_append(&shape.motion, &segment, vec3_length(shape.shape.half), 0) ==
               STATUS_OK);
    }
    return shape;
}

static Text random_text(Rng *rng, char *room, uint32_t bytes_min, uint32_t bytes_max)
{
    const uint32_t bytes = bytes_min + rng_below(rng, bytes_max - bytes_min + 1);
    for (uint32_t i = 0; i < bytes; i++) {
        room[i] = (char)('a' + rng_below(rng, 26));
    }
    return (Text){room, bytes};
}

size_t net_random_attributes(Rng *rng, uint8_t *out, size_t capacity)
{
    ByteWriter writer = byte_writer(out, capacity);
    char name[64];
    char text[64];
    net_attributes_write_name(&writer, random_text(rng, name, 0, 64));
    const uint32_t attribute_count = rng_below(rng, 6);
    for (uint32_t i = 0; i < attribute_count; i++) {
        NetValue value = {.type = (NetValueType)rng_below(rng, NET_VALUE_TYPE_COUNT)};
        value.boolean = rng_below(rng, 2) == 0;
        value.number = rng_range(rng, -1000, 1000);
        value.vector = random_vector(rng, 10);
        value.entity = rng_u32(rng);
        value.text = random_text(rng, text, 0, 64);
        const Text key = random_text(rng, name, 1, 20);
        name[0] = (char)('a' + i); // in order
        net_attributes_write_one(&writer, key, &value);
    }
    net_attributes_write_end(&writer);
    for (uint32_t i = rng_below(rng, 4); i > 0; i--) {
        net_attributes_write_tag(&writer, random_text(rng, name, 1, 20));
    }
    net_attributes_write_end(&writer);
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

bool net_shape_same(const NetShape *a, const NetShape *b)
{
    // Written again they are the same bytes.
    uint8_t bytes[2][NET_SHAPE_BYTES_MAX];
    ByteWriter writers[2] = {byte_writer(bytes[0], sizeof bytes[0]),
                             byte_writer(bytes[1], sizeof bytes[1])};
    net_shape_write(a, &writers[0]);
    net_shape_write(b, &writers[1]);
    return writers[0].at == writers[1].at && memcmp(bytes[0], bytes[1], writers[0].at) == 0 &&
           a->motion.count == b->motion.count && a->shape.kind == b->shape.kind &&
           vec3_equal(a->rest.position, b->rest.position);
}
