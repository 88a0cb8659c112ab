// Rows of changed scene parts as bytes; see patch.h.
#include "core/wire/patch.h"

#include "core/base/byte_values.h"
#include "core/base/check.h"

Vec3 patch_inside_world(Vec3 p)
{
    const float extent = (float)WORLD_EXTENT_M;
    return (Vec3){math_clamp(p.x, -extent, extent), math_clamp(p.y, -extent, extent),
                  math_clamp(p.z, -extent, extent)};
}

static void write_data(ByteWriter *writer, const PartData *data)
{
    byte_write_u8(writer, (uint8_t)data->flags);
    byte_write_f32(writer, data->bounce_speed);
    byte_write_f32(writer, data->damage);
    byte_write_vec3(writer, data->conveyor_speed);
}

static PartData read_data(ByteReader *reader)
{
    PartData data = {.flags = byte_read_u8(reader)};
    data.bounce_speed = byte_read_f32(reader);
    data.damage = byte_read_f32(reader);
    data.conveyor_speed = byte_read_vec3(reader);
    return data;
}

static void write_paint(ByteWriter *writer, const Paint *paint)
{
    uint8_t bytes[(PAINT_BITS_MAX + 7) / 8 + 8] = {0};
    BitWriter bits = bit_writer(bytes, sizeof bytes);
    paint_write(&bits, &paint_default, paint);
    ASSERT(bits.status == STATUS_OK);
    byte_write_bytes(writer, bytes, bit_writer_bytes(&bits));
}

static void read_paint(ByteReader *reader, Paint *out)
{
    const size_t left = byte_reader_left(reader);
    BitReader bits = bit_reader(reader->data + reader->at, left);
    paint_read(&bits, &paint_default, out);
    const size_t bytes = (bits.at + 7) / 8;
    if (bits.status == STATUS_OK && bits.at % 8 != 0 &&
        bit_read(&bits, (uint32_t)(8 - bits.at % 8)) != 0) {
        byte_reader_fail(reader, STATUS_MALFORMED); // one paint has one form
    }
    if (bits.status != STATUS_OK) {
        byte_reader_fail(reader, bits.status);
    }
    (void)byte_read_bytes(reader, bytes);
}

static void read_attributes(ByteReader *reader, PatchRow *row)
{
    const uint64_t bytes = byte_read_varint(reader);
    if (bytes > NET_ATTRIBUTES_BYTES_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    NetAttributesReader attributes;
    Text name;
    row->attributes = byte_read_bytes(reader, (size_t)bytes);
    row->attributes_bytes = (uint32_t)bytes;
    if (reader->status == STATUS_OK) {
        const Status status =
            net_attributes_open(&attributes, row->attributes, row->attributes_bytes, &name);
        if (status != STATUS_OK) {
            byte_reader_fail(reader, status);
        }
    }
}

void patch_row_write(ByteWriter *writer, uint64_t before, const PatchRow *row)
{
    ASSERT(row->net_id > before);
    ASSERT(row->groups != 0 && (row->groups & ~(uint32_t)PATCH_GROUPS_ALL) == 0);
    byte_write_varint(writer, row->net_id - before);
    byte_write_u8(writer, (uint8_t)row->groups);
    if ((row->groups & PATCH_POSITION) != 0) {
        byte_write_vec3(writer, patch_inside_world(row->pose.position));
    }
    if ((row->groups & PATCH_ROTATION) != 0) {
        const Quat q = row->pose.rotation;
        byte_write_vec3(writer, (Vec3){q.x, q.y, q.z});
        byte_write_f32(writer, q.w);
    }
    if ((row->groups & PATCH_PART_DATA) != 0) {
        write_data(writer, &row->data);
    }
    if ((row->groups & PATCH_GONE) != 0) {
        byte_write_bool(writer, row->gone);
    }
    if ((row->groups & PATCH_PAINT) != 0) {
        write_paint(writer, &row->paint);
    }
    if ((row->groups & PATCH_ATTRIBUTES) != 0) {
        ASSERT(row->attributes_bytes <= NET_ATTRIBUTES_BYTES_MAX);
        byte_write_varint(writer, row->attributes_bytes);
        byte_write_bytes(writer, row->attributes, row->attributes_bytes);
    }
}

// A pose and data that sim takes; what the row does not have counts as a part at the origin.
static bool is_sane(const PatchRow *row)
{
    PartDesc desc = {.shape = {.kind = SHAPE_BOX, .half = {1, 1, 1}}, .pose = row->pose};
    if ((row->groups & PATCH_ROTATION) == 0) {
        desc.pose.rotation = QUAT_IDENTITY;
    }
    desc.data = row->data;
    return part_desc_check(&desc) == STATUS_OK;
}

bool patch_row_read(ByteReader *reader, uint64_t before, PatchRow *out)
{
    const uint64_t step = byte_read_varint(reader);
    PatchRow row = {.groups = byte_read_u8(reader)};
    if (step == 0 || step > SIM_NET_ID_MAX - before || row.groups == 0 ||
        (row.groups & ~(uint32_t)PATCH_GROUPS_ALL) != 0) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return false;
    }
    row.net_id = before + step;
    if ((row.groups & PATCH_POSITION) != 0) {
        row.pose.position = byte_read_vec3(reader);
    }
    if ((row.groups & PATCH_ROTATION) != 0) {
        const Vec3 v = byte_read_vec3(reader);
        row.pose.rotation = (Quat){v.x, v.y, v.z, byte_read_f32(reader)};
    }
    if ((row.groups & PATCH_PART_DATA) != 0) {
        row.data = read_data(reader);
    }
    if ((row.groups & PATCH_GONE) != 0) {
        row.gone = byte_read_bool(reader);
    }
    if ((row.groups & PATCH_PAINT) != 0 && reader->status == STATUS_OK) {
        read_paint(reader, &row.paint);
    }
    if ((row.groups & PATCH_ATTRIBUTES) != 0 && reader->status == STATUS_OK) {
        read_attributes(reader, &row);
    }
    if (reader->status == STATUS_OK && !is_sane(&row)) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    if (reader->status != STATUS_OK) {
        return false;
    }
    *out = row;
    return true;
}

bool patch_scene_open(const uint8_t *bytes, size_t count, PatchScene *out)
{
    ByteReader reader = byte_reader(bytes, count);
    const uint32_t magic = byte_read_u32(&reader);
    const uint32_t stripped_bytes = byte_read_u32(&reader);
    PatchScene scene = {.stripped = byte_read_bytes(&reader, stripped_bytes),
                        .stripped_bytes = stripped_bytes};
    scene.tick = byte_read_u64(&reader);
    if (reader.status != STATUS_OK || magic != PATCH_SCENE_MAGIC || scene.tick > SIM_NET_ID_MAX) {
        return false;
    }
    scene.row_bytes = byte_reader_left(&reader);
    scene.rows = bytes + reader.at;
    *out = scene;
    return true;
}
