// Tables and bytes; see place_table.h. The reader accepts any bytes and checks every range that the
// JSON reader checks, so a doc from bytes is as valid as one from JSON.
#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/base/text.h"
#include "core/wire/place_table.h"

#include <string.h>

// --- texts --------------------------------------------------------------------------------------

Text place_text_read(ByteReader *reader, uint32_t bytes_min, uint32_t bytes_max)
{
    const uint32_t count = byte_read_count(reader, bytes_max);
    const uint8_t *bytes = byte_read_bytes(reader, (size_t)count + 1);
    if (bytes == NULL) {
        return PLACE_TEXT_NONE;
    }
    if (count < bytes_min || bytes[count] != 0 || !text_is_valid(bytes, count)) {
        byte_reader_fail(reader, STATUS_MALFORMED);
        return PLACE_TEXT_NONE;
    }
    return (Text){(const char *)bytes, count};
}

void place_text_write(ByteWriter *writer, Text text)
{
    byte_write_varint(writer, text.bytes);
    byte_write_bytes(writer, text.data, text.bytes);
    byte_write_u8(writer, 0);
}

// --- reading ------------------------------------------------------------------------------------

static uint32_t read_u32(ByteReader *reader, double low, double high)
{
    const uint64_t value = byte_read_varint(reader);
    if (!((double)value >= low && (double)value <= high)) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return (uint32_t)value;
}

static int32_t read_i32(ByteReader *reader, double low, double high)
{
    const uint64_t folded = byte_read_varint(reader);
    if (folded > UINT32_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    const int64_t value = (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
    if (!((double)value >= low && (double)value <= high)) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return (int32_t)value;
}

static float read_f32(ByteReader *reader, double low, double high)
{
    const float value = byte_read_f32(reader);
    if (!(value >= (float)low && value <= (float)high)) {
        byte_reader_fail(reader, STATUS_RANGE);
        return (float)low;
    }
    return value;
}

static Vec3 read_vec3(ByteReader *reader, double low, double high)
{
    const float x = read_f32(reader, low, high);
    const float y = read_f32(reader, low, high);
    const float z = read_f32(reader, low, high);
    return vec3(x, y, z);
}

static PlaceRotation read_rotation(ByteReader *reader)
{
    PlaceRotation out = {.form = (PlaceRotationForm)read_u32(reader, PLACE_ROTATION_DEGREES,
                                                             PLACE_ROTATION_QUATERNION)};
    const bool is_quaternion = out.form == PLACE_ROTATION_QUATERNION;
    const double most = is_quaternion ? 2 : 3600;
    float squared = 0;
    for (uint32_t i = 0; i < (is_quaternion ? 4u : 3u); i++) {
        out.values[i] = read_f32(reader, -most, most);
        squared += out.values[i] * out.values[i];
    }
    if (is_quaternion && !(math_abs(squared - 1) < 1e-3f)) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    return out;
}

// Allocates as many items as announced, if the remaining bytes can contain them.
static PlaceList read_list(ByteReader *reader, double most, size_t item_bytes,
                           PlaceScratch *scratch)
{
    PlaceList list = {.count = byte_read_count(reader, (uint32_t)most)};
    if (list.count > byte_reader_left(reader)) {
        byte_reader_fail(reader, STATUS_TRUNCATED);
    }
    if (reader->status != STATUS_OK || list.count == 0) {
        return (PlaceList){0};
    }
    list.items = place_scratch_take(scratch, list.count, item_bytes);
    if (list.items == NULL) {
        byte_reader_fail(reader, STATUS_LIMIT);
        return (PlaceList){0};
    }
    return list;
}

static PlaceList read_structs(const PlaceField *field, ByteReader *reader, PlaceScratch *scratch)
{
    const PlaceList list = read_list(reader, field->high, field->table->bytes, scratch);
    uint8_t *item = list.items;
    for (uint32_t i = 0; i < list.count; i++, item += field->table->bytes) {
        place_table_read(field->table, reader, scratch, item);
    }
    return list;
}

static PlaceList read_texts(const PlaceField *field, ByteReader *reader, PlaceScratch *scratch)
{
    const PlaceList list = read_list(reader, field->high, sizeof(Text), scratch);
    Text *texts = list.items;
    for (uint32_t i = 0; i < list.count && reader->status == STATUS_OK; i++) {
        texts[i] = place_text_read(reader, 1, (uint32_t)field->low);
        for (uint32_t before = 0; before < i; before++) {
            if (text_equal(texts[before], texts[i])) {
                byte_reader_fail(reader, STATUS_EXISTS);
            }
        }
    }
    return list;
}

static PlaceList read_vectors(const PlaceField *field, ByteReader *reader, PlaceScratch *scratch)
{
    const PlaceList list = read_list(reader, field->high, sizeof(Vec3), scratch);
    Vec3 *vectors = list.items;
    for (uint32_t i = 0; i < list.count; i++) {
        vectors[i] = read_vec3(reader, -WORLD_EXTENT_M, WORLD_EXTENT_M);
    }
    return list;
}

static double read_number(ByteReader *reader)
{
    const uint64_t bits = byte_read_u64(reader);
    double number;
    memcpy(&number, &bits, sizeof number);
    if (!(number - number == 0)) {
        byte_reader_fail(reader, STATUS_RANGE);
        return 0;
    }
    return number;
}

static PlaceAttribute read_attribute(ByteReader *reader)
{
    PlaceAttribute out = {.text = PLACE_TEXT_NONE};
    out.name = place_text_read(reader, 1, PLACE_NAME_BYTES);
    out.flags = read_u32(reader, 0, PLACE_ATTRIBUTE_FLAGS_ALL);
    out.type = (PlaceValueType)read_u32(reader, 0, PLACE_VALUE_TYPE_COUNT - 1);
    switch (out.type) {
    case PLACE_VALUE_BOOL:
        out.boolean = byte_read_bool(reader);
        break;
    case PLACE_VALUE_NUMBER:
        out.number = read_number(reader);
        break;
    case PLACE_VALUE_TEXT:
        out.text = place_text_read(reader, 0, ATTRIBUTE_TEXT_BYTES_MAX);
        break;
    case PLACE_VALUE_VECTOR:
        out.vector = read_vec3(reader, -1e30, 1e30);
        break;
    case PLACE_VALUE_ENTITY:
    case PLACE_VALUE_TYPE_COUNT:
        out.entity = read_u32(reader, 1, UINT32_MAX);
        break;
    }
    return out;
}

static PlaceList read_attributes(const PlaceField *field, ByteReader *reader, PlaceScratch *scratch)
{
    const PlaceList list = read_list(reader, field->high, sizeof(PlaceAttribute), scratch);
    PlaceAttribute *attributes = list.items;
    for (uint32_t i = 0; i < list.count && reader->status == STATUS_OK; i++) {
        attributes[i] = read_attribute(reader);
        if (i > 0 && text_compare(attributes[i - 1].name, attributes[i].name) >= 0) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
    }
    return list;
}

static Text read_json(const PlaceField *field, ByteReader *reader, PlaceScratch *scratch)
{
    const Text text = place_text_read(reader, 1, (uint32_t)field->high);
    const JsonNode *root = NULL;
    JsonError error;
    if (reader->status == STATUS_OK &&
        place_json_parse(scratch, text.data, text.bytes, &root, &error) != STATUS_OK) {
        byte_reader_fail(reader, error.status);
    }
    return text;
}

static uint32_t last_word(const char *const *words)
{
    uint32_t count = 0;
    while (words[count + 1] != NULL) {
        count += 1;
    }
    return count;
}

void place_field_read(const PlaceField *field, ByteReader *reader, PlaceScratch *scratch, void *out)
{
    uint8_t *at = out;
    switch (field->type) {
    case PLACE_BOOL:
        *(bool *)at = byte_read_bool(reader);
        break;
    case PLACE_U32:
        *(uint32_t *)at = read_u32(reader, field->low, field->high);
        break;
    case PLACE_F32:
        *(float *)at = read_f32(reader, field->low, field->high);
        break;
    case PLACE_VEC3:
        *(Vec3 *)at = read_vec3(reader, field->low, field->high);
        break;
    case PLACE_CELLS:
        for (uint32_t i = 0; i < 3; i++) {
            ((int32_t *)at)[i] = read_i32(reader, field->low, field->high);
        }
        break;
    case PLACE_TEXT:
        *(Text *)at = place_text_read(reader, (uint32_t)field->low, (uint32_t)field->high);
        break;
    case PLACE_CHOICE:
        *(uint32_t *)at = read_u32(reader, 0, last_word(field->words));
        break;
    case PLACE_COLOUR:
        *(uint32_t *)at = read_u32(reader, 0, 0xffffff);
        break;
    case PLACE_ROTATION:
        *(PlaceRotation *)at = read_rotation(reader);
        break;
    case PLACE_OBJECT:
        place_table_read(field->table, reader, scratch, at);
        break;
    case PLACE_LIST:
        *(PlaceList *)at = read_structs(field, reader, scratch);
        break;
    case PLACE_TEXTS:
        *(PlaceList *)at = read_texts(field, reader, scratch);
        break;
    case PLACE_VECTORS:
        *(PlaceList *)at = read_vectors(field, reader, scratch);
        break;
    case PLACE_ATTRIBUTES:
        *(PlaceList *)at = read_attributes(field, reader, scratch);
        break;
    case PLACE_JSON:
        *(Text *)at = read_json(field, reader, scratch);
        break;
    }
}

void place_table_read(const PlaceTable *table, ByteReader *reader, PlaceScratch *scratch, void *out)
{
    place_table_default(table, out);
    const uint64_t mask = byte_read_varint(reader);
    if (mask >> table->field_count != 0) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    for (uint32_t i = 0; i < table->field_count && reader->status == STATUS_OK; i++) {
        const PlaceField *field = &table->fields[i];
        if ((mask >> i & 1) != 0) {
            place_field_read(field, reader, scratch, (uint8_t *)out + field->offset);
        } else if ((field->flags & PLACE_REQUIRED) != 0) {
            byte_reader_fail(reader, STATUS_MALFORMED);
        }
    }
}

// --- writing ------------------------------------------------------------------------------------

static void write_i32(ByteWriter *writer, int32_t value)
{
    const int64_t wide = value;
    byte_write_varint(writer, (uint64_t)wide << 1 ^ (uint64_t)(wide >> 63));
}

static void write_attribute(ByteWriter *writer, const PlaceAttribute *attribute)
{
    place_text_write(writer, attribute->name);
    byte_write_varint(writer, attribute->flags);
    byte_write_varint(writer, attribute->type);
    uint64_t bits;
    switch (attribute->type) {
    case PLACE_VALUE_BOOL:
        byte_write_bool(writer, attribute->boolean);
        break;
    case PLACE_VALUE_NUMBER:
        memcpy(&bits, &attribute->number, sizeof bits);
        byte_write_u64(writer, bits);
        break;
    case PLACE_VALUE_TEXT:
        place_text_write(writer, attribute->text);
        break;
    case PLACE_VALUE_VECTOR:
        byte_write_vec3(writer, attribute->vector);
        break;
    case PLACE_VALUE_ENTITY:
    case PLACE_VALUE_TYPE_COUNT:
        byte_write_varint(writer, attribute->entity);
        break;
    }
}

static void write_list(const PlaceField *field, const PlaceList *list, bool stripped,
                       ByteWriter *writer)
{
    byte_write_varint(writer, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        switch (field->type) {
        case PLACE_LIST:
            place_table_write(field->table, (const uint8_t *)list->items + i * field->table->bytes,
                              stripped, writer);
            break;
        case PLACE_TEXTS:
            place_text_write(writer, ((const Text *)list->items)[i]);
            break;
        case PLACE_ATTRIBUTES:
            write_attribute(writer, (const PlaceAttribute *)list->items + i);
            break;
        default:
            byte_write_vec3(writer, ((const Vec3 *)list->items)[i]);
            break;
        }
    }
}

static void write_rotation(ByteWriter *writer, const PlaceRotation *rotation)
{
    byte_write_varint(writer, rotation->form);
    for (uint32_t i = 0; i < (rotation->form == PLACE_ROTATION_QUATERNION ? 4u : 3u); i++) {
        byte_write_f32(writer, rotation->values[i]);
    }
}

void place_field_write(const PlaceField *field, const void *value, bool stripped,
                       ByteWriter *writer)
{
    const uint8_t *at = value;
    switch (field->type) {
    case PLACE_BOOL:
        byte_write_bool(writer, *(const bool *)at);
        break;
    case PLACE_U32:
    case PLACE_CHOICE:
    case PLACE_COLOUR:
        byte_write_varint(writer, *(const uint32_t *)at);
        break;
    case PLACE_F32:
        byte_write_f32(writer, *(const float *)at);
        break;
    case PLACE_VEC3:
        byte_write_vec3(writer, *(const Vec3 *)at);
        break;
    case PLACE_CELLS:
        for (uint32_t i = 0; i < 3; i++) {
            write_i32(writer, ((const int32_t *)at)[i]);
        }
        break;
    case PLACE_TEXT:
    case PLACE_JSON:
        place_text_write(writer, *(const Text *)at);
        break;
    case PLACE_ROTATION:
        write_rotation(writer, (const PlaceRotation *)at);
        break;
    case PLACE_OBJECT:
        place_table_write(field->table, at, stripped, writer);
        break;
    case PLACE_LIST:
    case PLACE_TEXTS:
    case PLACE_VECTORS:
    case PLACE_ATTRIBUTES:
        write_list(field, (const PlaceList *)at, stripped, writer);
        break;
    }
}

void place_table_write(const PlaceTable *table, const void *item, bool stripped, ByteWriter *writer)
{
    ASSERT(table->field_count < 64);
    uint64_t mask = 0;
    for (uint32_t i = 0; i < table->field_count; i++) {
        mask |= (uint64_t)!place_field_is_left_out(&table->fields[i], item, stripped) << i;
    }
    byte_write_varint(writer, mask);
    for (uint32_t i = 0; i < table->field_count; i++) {
        if ((mask >> i & 1) != 0) {
            const PlaceField *field = &table->fields[i];
            place_field_write(field, (const uint8_t *)item + field->offset, stripped, writer);
        }
    }
}
