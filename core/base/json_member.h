// Members of JSON objects in one call: a name and its value are written, or a text is read.
#pragma once

#include "core/base/json.h"
#include "core/base/json_write.h"
#include "core/base/math.h"
#include "core/base/text.h"

void json_member_bool(JsonWriter *writer, const char *name, bool value);
void json_member_integer(JsonWriter *writer, const char *name, int64_t value);
void json_member_count(JsonWriter *writer, const char *name, uint64_t value);
void json_member_number(JsonWriter *writer, const char *name, double value);
void json_member_f32(JsonWriter *writer, const char *name, float value);
void json_member_floats(JsonWriter *writer, const char *name, const float *values, uint32_t count);
void json_member_vec3(JsonWriter *writer, const char *name, Vec3 value);
void json_member_string(JsonWriter *writer, const char *name, const char *value);
void json_member_text(JsonWriter *writer, const char *name, Text value);

// Copies the member, which must be a text without a zero byte of fewer than `capacity` bytes.
// False: it is missing or is no such text, and `out` is as it was.
bool json_member_copy(const JsonNode *object, const char *name, char *out, size_t capacity);
// The same of a member that may be missing or null; then `out` is as it was, too, and it is true.
bool json_member_copy_optional(const JsonNode *object, const char *name, char *out,
                               size_t capacity);
