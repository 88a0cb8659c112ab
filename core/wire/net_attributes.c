// Name, attributes and tags of an entity as bytes.
//
//   varint length, name (may be empty)
//   attributes: u8 type + 1 · varint length, name · value            then u8 0
//   tags: varint length, tag                                         then u8 0
//
// Attributes stand in the order of their names, byte by byte, so that no name comes twice.
// A value is u8 0 or 1, f64, varint length and text, three f32, or a varint net id. The whole is
// walked once when it is opened, so the calls that follow cannot fail.
#include "core/wire/net_attributes.h"

#include "core/base/check.h"
#include "core/base/limits.h"

#include <string.h>

enum { STAGE_ATTRIBUTES, STAGE_TAGS, STAGE_DONE };

static void write_text(ByteWriter *writer, Text text)
{
    CHECK_SLOW(text_is_valid(text.data, text.bytes));
    byte_write_varint(writer, text.bytes);
    byte_write_bytes(writer, text.data, text.bytes);
}

void net_attributes_write_name(ByteWriter *writer, Text name)
{
    ASSERT(name.bytes <= WORLD_NAME_BYTES_MAX);
    write_text(writer, name);
}

void net_attributes_write_one(ByteWriter *writer, Text name, const NetValue *value)
{
    ASSERT(name.bytes >= 1 && name.bytes <= WORLD_NAME_BYTES_MAX);
    ASSERT(value->type < NET_VALUE_TYPE_COUNT);
    byte_write_u8(writer, (uint8_t)(value->type + 1));
    write_text(writer, name);
    switch (value->type) {
    case NET_VALUE_BOOL:
        byte_write_bool(writer, value->boolean);
        break;
    case NET_VALUE_NUMBER: {
        ASSERT(value->number - value->number == 0);
        uint64_t bits = 0;
        memcpy(&bits, &value->number, sizeof bits);
        byte_write_u64(writer, bits);
        break;
    }
    case NET_VALUE_TEXT:
        ASSERT(value->text.bytes <= ATTRIBUTE_TEXT_BYTES_MAX);
        write_text(writer, value->text);
        break;
    case NET_VALUE_VECTOR:
        byte_write_f32(writer, value->vector.x);
        byte_write_f32(writer, value->vector.y);
        byte_write_f32(writer, value->vector.z);
        break;
    default:
        ASSERT(value->entity <= SIM_NET_ID_MAX);
        byte_write_varint(writer, value->entity);
        break;
    }
}

void net_attributes_write_end(ByteWriter *writer)
{
    byte_write_u8(writer, 0);
}

void net_attributes_write_tag(ByteWriter *writer, Text tag)
{
    ASSERT(tag.bytes >= 1 && tag.bytes <= WORLD_NAME_BYTES_MAX);
    write_text(writer, tag);
}

static Text read_text(ByteReader *reader, uint32_t bytes_max)
{
    Text text = {"", 0};
    const uint32_t bytes = byte_read_count(reader, bytes_max);
    const uint8_t *data = byte_read_bytes(reader, bytes);
    if (data == NULL || bytes == 0) {
        return text;
    }
    if (!text_is_valid(data, bytes)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return text;
    }
    text.data = (const char *)data;
    text.bytes = bytes;
    return text;
}

static void read_value(ByteReader *reader, NetValue *value)
{
    switch (value->type) {
    case NET_VALUE_BOOL:
        value->boolean = byte_read_bool(reader);
        break;
    case NET_VALUE_NUMBER: {
        const uint64_t bits = byte_read_u64(reader);
        memcpy(&value->number, &bits, sizeof bits);
        if (!(value->number - value->number == 0)) {
            byte_reader_fail(reader, STATUS_RANGE);
        }
        break;
    }
    case NET_VALUE_TEXT:
        value->text = read_text(reader, ATTRIBUTE_TEXT_BYTES_MAX);
        break;
    case NET_VALUE_VECTOR:
        value->vector.x = byte_read_f32(reader);
        value->vector.y = byte_read_f32(reader);
        value->vector.z = byte_read_f32(reader);
        break;
    default:
        value->entity = byte_read_varint(reader);
        if (value->entity > SIM_NET_ID_MAX) {
            byte_reader_fail(reader, STATUS_RANGE);
        }
        break;
    }
}

// False at the end and after a failure, which is in the reader.
static bool read_attribute(ByteReader *reader, Text *name, NetValue *value)
{
    const uint8_t type = byte_read_u8(reader);
    if (type > NET_VALUE_TYPE_COUNT) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    if (type == 0 || reader->status != STATUS_OK) {
        return false;
    }
    *value = (NetValue){.type = (NetValueType)(type - 1), .text = {"", 0}};
    *name = read_text(reader, WORLD_NAME_BYTES_MAX);
    if (name->bytes == 0) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    read_value(reader, value);
    return reader->status == STATUS_OK;
}

static bool read_tag(ByteReader *reader, Text *tag)
{
    *tag = read_text(reader, WORLD_NAME_BYTES_MAX);
    return reader->status == STATUS_OK && tag->bytes != 0;
}

static bool is_before(Text a, Text b)
{
    const int order = memcmp(a.data, b.data, a.bytes < b.bytes ? a.bytes : b.bytes);
    return order < 0 || (order == 0 && a.bytes < b.bytes);
}

Status net_attributes_open(NetAttributesReader *reader, const uint8_t *bytes, size_t count,
                           Text *name)
{
    if (count > NET_ATTRIBUTES_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    ByteReader all = byte_reader(bytes, count);
    const Text own = read_text(&all, WORLD_NAME_BYTES_MAX);
    const ByteReader first = all;
    Text before = {"", 0};
    Text text;
    NetValue value;
    while (read_attribute(&all, &text, &value)) {
        if (!is_before(before, text)) {
            return STATUS_MALFORMED;
        }
        before = text;
    }
    while (read_tag(&all, &text)) {
    }
    const Status status = byte_reader_finish(&all);
    if (status == STATUS_OK) {
        *reader = (NetAttributesReader){first, STAGE_ATTRIBUTES};
        *name = own;
    }
    return status;
}

bool net_attributes_next(NetAttributesReader *reader, Text *name, NetValue *value)
{
    ASSERT(reader->bytes.status == STATUS_OK);
    if (reader->stage != STAGE_ATTRIBUTES) {
        return false;
    }
    if (read_attribute(&reader->bytes, name, value)) {
        return true;
    }
    reader->stage = STAGE_TAGS;
    return false;
}

bool net_attributes_next_tag(NetAttributesReader *reader, Text *tag)
{
    Text name;
    NetValue value;
    while (net_attributes_next(reader, &name, &value)) {
    }
    if (reader->stage == STAGE_DONE) {
        return false;
    }
    if (read_tag(&reader->bytes, tag)) {
        return true;
    }
    reader->stage = STAGE_DONE;
    return false;
}
