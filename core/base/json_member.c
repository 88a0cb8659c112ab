// See json_member.h.
#include "core/base/json_member.h"

#include "core/base/json_read.h"

#include <string.h>

void json_member_bool(JsonWriter *writer, const char *name, bool value)
{
    json_write_name(writer, name);
    json_write_bool(writer, value);
}

void json_member_integer(JsonWriter *writer, const char *name, int64_t value)
{
    json_write_name(writer, name);
    json_write_integer(writer, value);
}

void json_member_count(JsonWriter *writer, const char *name, uint64_t value)
{
    json_member_integer(writer, name, (int64_t)value);
}

void json_member_number(JsonWriter *writer, const char *name, double value)
{
    json_write_name(writer, name);
    json_write_number(writer, value);
}

void json_member_f32(JsonWriter *writer, const char *name, float value)
{
    json_write_name(writer, name);
    json_write_f32(writer, value);
}

void json_member_floats(JsonWriter *writer, const char *name, const float *values, uint32_t count)
{
    json_write_name(writer, name);
    json_write_array_begin(writer);
    for (uint32_t i = 0; i < count; i++) {
        json_write_f32(writer, values[i]);
    }
    json_write_array_end(writer);
}

void json_member_vec3(JsonWriter *writer, const char *name, Vec3 value)
{
    const float values[] = {value.x, value.y, value.z};
    json_member_floats(writer, name, values, 3);
}

void json_member_string(JsonWriter *writer, const char *name, const char *value)
{
    json_write_name(writer, name);
    json_write_text(writer, value);
}

void json_member_text(JsonWriter *writer, const char *name, Text value)
{
    json_write_name(writer, name);
    json_write_text_bytes(writer, value.data, value.bytes);
}

bool json_member_copy(const JsonNode *object, const char *name, char *out, size_t capacity)
{
    const JsonNode *node = json_find(object, name);
    if (node == NULL || node->kind != JSON_STRING || node->count >= capacity ||
        strlen(node->text) != node->count) {
        return false;
    }
    memcpy(out, node->text, node->count + 1);
    return true;
}

bool json_member_copy_optional(const JsonNode *object, const char *name, char *out, size_t capacity)
{
    const JsonNode *node = json_find(object, name);
    return node == NULL || node->kind == JSON_NULL || json_member_copy(object, name, out, capacity);
}
