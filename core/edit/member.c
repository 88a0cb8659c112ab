// See member.h.
#include "core/edit/member.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/limits.h"

#include <stdio.h>
#include <string.h>

const PlaceTable *edit_kind_table(EditKind kind)
{
    static const PlaceTable *const tables[EDIT_KIND_COUNT] = {
        [EDIT_SETTINGS] = &place_table_settings,
        [EDIT_SCENE] = &place_table_scene,
        [EDIT_TERRAIN] = &place_table_fill,
        [EDIT_ENTITY] = &place_table_entity,
    };
    ASSERT(kind < EDIT_KIND_COUNT);
    return tables[kind];
}

// --- numbers and names --------------------------------------------------------------------------

static uint32_t parts_of(const PlaceField *field)
{
    return field->type == PLACE_OBJECT ? field->table->field_count : 1;
}

uint32_t edit_member_count(const PlaceTable *table)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->field_count; i++) {
        count += parts_of(&table->fields[i]);
    }
    return count;
}

bool edit_member_at(const PlaceTable *table, uint32_t number, EditMember *out)
{
    for (uint32_t i = 0; i < table->field_count; i++) {
        const PlaceField *field = &table->fields[i];
        const uint32_t parts = parts_of(field);
        if (number >= parts) {
            number -= parts;
            continue;
        }
        if (field->type != PLACE_OBJECT) {
            *out = (EditMember){NULL, field, field->offset};
        } else {
            const PlaceField *inner = &field->table->fields[number];
            *out = (EditMember){field, inner, field->offset + inner->offset};
        }
        return true;
    }
    return false;
}

void edit_member_name(const EditMember *member, char name[EDIT_MEMBER_NAME_BYTES])
{
    (void)snprintf(name, EDIT_MEMBER_NAME_BYTES, "%s%s%s",
                   member->outer != NULL ? member->outer->name : "",
                   member->outer != NULL ? "." : "", member->field->name);
}

bool edit_member_named(const PlaceTable *table, const char *name, uint32_t *number)
{
    EditMember member;
    for (uint32_t i = 0; edit_member_at(table, i, &member); i++) {
        char own[EDIT_MEMBER_NAME_BYTES];
        edit_member_name(&member, own);
        if (strcmp(own, name) == 0) {
            *number = i;
            return true;
        }
    }
    return false;
}

bool edit_member_can_set(EditKind kind, const EditMember *member)
{
    const char *name = member->field->name;
    if (member->outer != NULL) {
        return true;
    }
    if (kind == EDIT_ENTITY) {
        return strcmp(name, "id") != 0 && strcmp(name, "parent") != 0;
    }
    return strcmp(name, "format") != 0 && kind != EDIT_SCENE;
}

static void mark_table(Hash64 *hash, const PlaceTable *table)
{
    for (uint32_t i = 0; i < table->field_count; i++) {
        const PlaceField *field = &table->fields[i];
        hash_bytes(hash, field->name, strlen(field->name));
        hash_u32(hash, (uint32_t)field->type);
    }
}

uint32_t edit_member_mark(void)
{
    Hash64 hash = HASH64_INIT;
    for (uint32_t i = 0; place_tables[i] != NULL; i++) {
        mark_table(&hash, place_tables[i]);
    }
    return (uint32_t)hash.state;
}

// --- one form of each value ---------------------------------------------------------------------

static Status tidy_rotation(PlaceRotation *rotation)
{
    float *v = rotation->values;
    if (rotation->form == PLACE_ROTATION_DEGREES && v[0] == 0 && v[1] == 0 && v[2] == 0) {
        *rotation = (PlaceRotation){0};
    }
    if (rotation->form != PLACE_ROTATION_QUATERNION) {
        return STATUS_OK;
    }
    Quat q = {v[0], v[1], v[2], v[3]};
    if (math_abs(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1) > QUAT_UNIT_TOLERANCE) {
        q = quat_normalise(q);
    }
    const float values[4] = {q.x, q.y, q.z, q.w};
    memcpy(rotation->values, values, sizeof values);
    if (q.x == 0 && q.y == 0 && q.z == 0 && q.w == 1) {
        *rotation = (PlaceRotation){0};
    }
    return STATUS_OK;
}

typedef struct FieldJson {
    const PlaceField *field;
    const void *at;
    PlaceScratch *scratch;
} FieldJson;

static void write_json(const void *user, ByteWriter *out)
{
    const FieldJson *json = user;
    JsonWriter writer = json_writer(out, 0);
    place_field_to_json(json->field, json->at, json->scratch, &writer);
}

// Prints the value and reads it again. What JSON cannot say (a control character in a name) fails
// here.
static Status tidy_by_json(const PlaceField *field, PlaceScratch *scratch, void *at)
{
    const FieldJson json = {field, at, scratch};
    ByteWriter counter = byte_counter();
    write_json(&json, &counter);
    if (counter.status != STATUS_OK) {
        return counter.status;
    }
    char *text = place_scratch_take(scratch, counter.at + 1, 1);
    if (text == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(text, counter.at);
    write_json(&json, &writer);
    const JsonNode *root = NULL;
    JsonError error = {0};
    const Status status = place_json_parse(scratch, text, writer.at, &root, &error);
    if (status != STATUS_OK) {
        return status;
    }
    place_field_default(field, at);
    place_field_from_json(field, root, scratch, at, &error);
    return error.status;
}

static bool is_plain_text(Text text)
{
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.data[i] < ' ' || text.data[i] > '~') {
            return false;
        }
    }
    return true;
}

static Status tidy_table(const PlaceTable *table, PlaceScratch *scratch, void *object);

static Status tidy_value(const PlaceField *field, PlaceScratch *scratch, void *at)
{
    switch (field->type) {
    case PLACE_ROTATION:
        return tidy_rotation(at);
    case PLACE_TEXT:
        return is_plain_text(*(const Text *)at) ? STATUS_OK : tidy_by_json(field, scratch, at);
    case PLACE_OBJECT:
        return tidy_table(field->table, scratch, at);
    case PLACE_JSON:
    case PLACE_LIST:
    case PLACE_TEXTS:
    case PLACE_ATTRIBUTES:
        return place_field_is_default(field, at) ? STATUS_OK : tidy_by_json(field, scratch, at);
    default:
        return STATUS_OK;
    }
}

static Status tidy_table(const PlaceTable *table, PlaceScratch *scratch, void *object)
{
    for (uint32_t i = 0; i < table->field_count; i++) {
        const PlaceField *field = &table->fields[i];
        const Status status = tidy_value(field, scratch, (uint8_t *)object + field->offset);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

Status edit_object_tidy(EditKind kind, PlaceScratch *scratch, EditObject *object)
{
    return tidy_table(edit_kind_table(kind), scratch, object);
}

// --- values -------------------------------------------------------------------------------------

typedef struct ValueBytes {
    const EditMember *member;
    const void *object;
} ValueBytes;

static void write_value(const void *user, ByteWriter *writer)
{
    const ValueBytes *value = user;
    const PlaceField *field = value->member->field;
    const uint8_t *at = (const uint8_t *)value->object + value->member->offset;
    const bool is_default =
        place_field_is_default(field, at) && (field->flags & PLACE_REQUIRED) == 0;
    byte_write_bool(writer, !is_default);
    if (!is_default) {
        place_field_write(field, at, false, writer);
    }
}

void edit_value_write(const EditMember *member, const void *object, EditBuffer *out)
{
    const ValueBytes value = {member, object};
    edit_buffer_write(out, write_value, &value);
}

Status edit_value_read(const EditMember *member, const uint8_t *bytes, size_t count,
                       PlaceScratch *scratch, void *object)
{
    ByteReader reader = byte_reader(bytes, count);
    uint8_t *at = (uint8_t *)object + member->offset;
    if (byte_read_bool(&reader)) {
        place_field_read(member->field, &reader, scratch, at);
    } else if ((member->field->flags & PLACE_REQUIRED) != 0) {
        byte_reader_fail(&reader, STATUS_RANGE);
    } else {
        place_field_default(member->field, at);
    }
    const Status status = byte_reader_finish(&reader);
    return status != STATUS_OK ? status : tidy_value(member->field, scratch, at);
}

Status edit_value_from_json(const EditMember *member, const char *text, size_t bytes,
                            PlaceScratch *scratch, EditBuffer *out, JsonError *error)
{
    EditObject object;
    memset(&object, 0, sizeof object);
    const JsonNode *root = NULL;
    Status status = place_json_parse(scratch, text, bytes, &root, error);
    if (status == STATUS_OK) {
        uint8_t *at = (uint8_t *)&object + member->offset;
        place_field_default(member->field, at);
        place_field_from_json(member->field, root, scratch, at, error);
        status = error->status;
    }
    if (status == STATUS_OK) {
        edit_value_write(member, &object, out);
        status = out->status;
    }
    return status;
}

// --- records ------------------------------------------------------------------------------------

typedef struct RecordBytes {
    const PlaceTable *table;
    const void *object;
} RecordBytes;

static void write_record(const void *user, ByteWriter *writer)
{
    const RecordBytes *record = user;
    place_table_write(record->table, record->object, false, writer);
}

void edit_record_write(EditKind kind, const EditObject *object, EditBuffer *out)
{
    const RecordBytes record = {edit_kind_table(kind), object};
    edit_buffer_write(out, write_record, &record);
}

Status edit_record_read(EditKind kind, const uint8_t *bytes, size_t count, PlaceScratch *scratch,
                        EditObject *out)
{
    ByteReader reader = byte_reader(bytes, count);
    memset(out, 0, sizeof *out);
    place_table_read(edit_kind_table(kind), &reader, scratch, out);
    return byte_reader_finish(&reader);
}
