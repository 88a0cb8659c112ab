// Shapes as bytes: floats as they are, because clients predict with them. What is usually zero is
// left out. A reader lets through only what the sim itself would take, by the sim's own checks;
// what is written is always read again.
//
//   u8   0..1 kind, 2..7 part flags
//   u8   bit 0 bounce and damage, 1 conveyor, 2 rotation, 3 structure, 4..7 number of segments
//   (0..4) f32  half x, y, z · rest position x, y, z f32  rest rotation x, y, z, w if bit 2 f32
//   bounce speed, damage                                             if bit 0 f32  conveyor x, y, z
//   if bit 1 u16  piece · u8 turn · u32 cell x, y, z (two's complement) · u16 health  if bit 3
//   segments: u8 bit 0 rotation, 1 turning · f32 position, velocity · f32 rotation (bit 0; else
//        that of the rest) · f32 angular velocity (bit 1) · varint tick from · varint ticks
#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/wire/net.h"
#include "core/wire/patch.h"

#include <string.h>

enum {
    HAS_SPEEDS = 1 << 0,
    HAS_CONVEYOR = 1 << 1,
    HAS_ROTATION = 1 << 2,
    HAS_STRUCTURE = 1 << 3,
    SEGMENTS_SHIFT = 4,
    SEGMENT_ROTATION = 1 << 0,
    SEGMENT_TURNING = 1 << 1
};

#define SEGMENT_BYTES (1 + 12 + 12 + 16 + 12 + 10 + 10)
_Static_assert(2 + 24 + 16 + 8 + 12 + 17 + MOTION_SEGMENTS_MAX * SEGMENT_BYTES <=
                   NET_SHAPE_BYTES_MAX,
               "every shape fits");
_Static_assert(SHAPE_KIND_COUNT <= 4 && PART_FLAGS_ALL < 64, "they share a byte");
_Static_assert(MOTION_SEGMENTS_MAX < 8, "three bits");

// By their bits: minus zero is not left out, because what is left out is read as zero.
static bool is_zero(const void *floats, size_t bytes)
{
    static const uint8_t zero[sizeof(Quat)] = {0};
    ASSERT(bytes <= sizeof zero);
    return memcmp(floats, zero, bytes) == 0;
}

static bool quat_same(Quat a, Quat b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void write_quat(ByteWriter *writer, Quat q)
{
    byte_write_vec3(writer, (Vec3){q.x, q.y, q.z});
    byte_write_f32(writer, q.w);
}

static Quat read_quat(ByteReader *reader)
{
    const Vec3 v = byte_read_vec3(reader);
    return (Quat){v.x, v.y, v.z, byte_read_f32(reader)};
}

static void write_segment(ByteWriter *writer, const MotionSegment *segment, Quat rest)
{
    const bool turned = !quat_same(segment->pose.rotation, rest);
    const bool turning = !is_zero(&segment->angular_velocity, sizeof(Vec3));
    byte_write_u8(writer,
                  (uint8_t)((turned ? SEGMENT_ROTATION : 0) | (turning ? SEGMENT_TURNING : 0)));
    byte_write_vec3(writer, segment->pose.position);
    byte_write_vec3(writer, segment->velocity);
    if (turned) {
        write_quat(writer, segment->pose.rotation);
    }
    if (turning) {
        byte_write_vec3(writer, segment->angular_velocity);
    }
    byte_write_varint(writer, segment->tick_from);
    byte_write_varint(writer, segment->tick_to - segment->tick_from);
}

static bool has_structure(const NetShape *shape)
{
    return shape->piece != 0 || shape->turn != 0 || shape->health != 0 || shape->cell.x != 0 ||
           shape->cell.y != 0 || shape->cell.z != 0;
}

static void write_structure(ByteWriter *writer, const NetShape *shape)
{
    byte_write_u16(writer, shape->piece);
    byte_write_u8(writer, shape->turn);
    byte_write_u32(writer, (uint32_t)shape->cell.x);
    byte_write_u32(writer, (uint32_t)shape->cell.y);
    byte_write_u32(writer, (uint32_t)shape->cell.z);
    byte_write_u16(writer, shape->health);
}

void net_shape_write(const NetShape *shape, ByteWriter *writer)
{
    ASSERT(shape->motion.count <= MOTION_SEGMENTS_MAX);
    const float speeds[2] = {shape->data.bounce_speed, shape->data.damage};
    const Quat rotation = shape->rest.rotation;
    uint32_t has = shape->motion.count << SEGMENTS_SHIFT;
    has |= is_zero(speeds, sizeof speeds) ? 0 : HAS_SPEEDS;
    has |= is_zero(&shape->data.conveyor_speed, sizeof(Vec3)) ? 0 : HAS_CONVEYOR;
    has |= quat_same(rotation, QUAT_IDENTITY) ? 0 : HAS_ROTATION;
    has |= has_structure(shape) ? HAS_STRUCTURE : 0;
    byte_write_u8(writer, (uint8_t)((uint32_t)shape->shape.kind | shape->data.flags << 2));
    byte_write_u8(writer, (uint8_t)has);
    byte_write_vec3(writer, shape_tidy(shape->shape).half);
    byte_write_vec3(writer, patch_inside_world(shape->rest.position));
    if ((has & HAS_ROTATION) != 0) {
        write_quat(writer, rotation);
    }
    if ((has & HAS_SPEEDS) != 0) {
        byte_write_f32(writer, speeds[0]);
        byte_write_f32(writer, speeds[1]);
    }
    if ((has & HAS_CONVEYOR) != 0) {
        byte_write_vec3(writer, shape->data.conveyor_speed);
    }
    if ((has & HAS_STRUCTURE) != 0) {
        write_structure(writer, shape);
    }
    for (uint32_t i = 0; i < shape->motion.count; i++) {
        write_segment(writer, &shape->motion.segments[i], rotation);
    }
}

static bool cell_is_sane(VoxelCoord cell)
{
    return cell.x >= -WORLD_EXTENT_M && cell.x <= WORLD_EXTENT_M && cell.y >= -WORLD_EXTENT_M &&
           cell.y <= WORLD_EXTENT_M && cell.z >= -WORLD_EXTENT_M && cell.z <= WORLD_EXTENT_M;
}

static void read_structure(ByteReader *reader, NetShape *shape)
{
    shape->piece = byte_read_u16(reader);
    shape->turn = byte_read_u8(reader);
    shape->cell.x = (int32_t)byte_read_u32(reader);
    shape->cell.y = (int32_t)byte_read_u32(reader);
    shape->cell.z = (int32_t)byte_read_u32(reader);
    shape->health = byte_read_u16(reader);
    if (shape->piece >= STRUCTURE_CATALOGUE_MAX || shape->turn > 3 || !cell_is_sane(shape->cell)) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
}

static void read_segment(ByteReader *reader, NetShape *shape)
{
    const uint8_t has = byte_read_u8(reader);
    if ((has & ~(SEGMENT_ROTATION | SEGMENT_TURNING)) != 0) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    MotionSegment segment = {.pose.rotation = shape->rest.rotation};
    segment.pose.position = byte_read_vec3(reader);
    segment.velocity = byte_read_vec3(reader);
    if ((has & SEGMENT_ROTATION) != 0) {
        segment.pose.rotation = read_quat(reader);
    }
    if ((has & SEGMENT_TURNING) != 0) {
        segment.angular_velocity = byte_read_vec3(reader);
    }
    segment.tick_from = byte_read_varint(reader);
    const uint64_t ticks = byte_read_varint(reader);
    if (segment.tick_from > SIM_NET_ID_MAX || ticks > MOTION_TICKS_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    if (reader->status != STATUS_OK) {
        return;
    }
    segment.tick_to = segment.tick_from + ticks;
    const Status status =
        motion_append(&shape->motion, &segment, vec3_length(shape->shape.half), 0);
    if (status != STATUS_OK) {
        byte_reader_fail(reader, status);
    }
}

Status net_shape_read(ByteReader *reader, NetShape *out)
{
    NetShape shape = {.rest.rotation = QUAT_IDENTITY};
    const uint8_t kind = byte_read_u8(reader);
    const uint8_t has = byte_read_u8(reader);
    const uint32_t segment_count = has >> SEGMENTS_SHIFT;
    if (segment_count > MOTION_SEGMENTS_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    shape.shape.kind = (ShapeKind)(kind & 3);
    shape.data.flags = kind >> 2;
    shape.shape.half = byte_read_vec3(reader);
    shape.rest.position = byte_read_vec3(reader);
    if ((has & HAS_ROTATION) != 0) {
        shape.rest.rotation = read_quat(reader);
    }
    if ((has & HAS_SPEEDS) != 0) {
        shape.data.bounce_speed = byte_read_f32(reader);
        shape.data.damage = byte_read_f32(reader);
    }
    if ((has & HAS_CONVEYOR) != 0) {
        shape.data.conveyor_speed = byte_read_vec3(reader);
    }
    if ((has & HAS_STRUCTURE) != 0) {
        read_structure(reader, &shape);
    }
    shape.shape = shape_tidy(shape.shape);
    const PartDesc desc = {shape.shape, shape.rest, shape.data};
    if (reader->status == STATUS_OK) {
        const Status status = part_desc_check(&desc);
        if (status != STATUS_OK) {
            byte_reader_fail(reader, status);
        }
    }
    for (uint32_t i = 0; i < segment_count && reader->status == STATUS_OK; i++) {
        read_segment(reader, &shape);
    }
    if (reader->status == STATUS_OK) {
        *out = shape;
    }
    return reader->status;
}
