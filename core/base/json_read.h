// Typed reads of a JSON tree with a sticky error: after the first failure every further call does
// nothing and gives zero, an empty text or NULL, so a loader reads all its fields and checks once.
//
//   const JsonNode *root = …;
//   JsonError error = {0};
//   const char *name = json_read_text(json_read_member(root, "name", &error), 64, &error);
//   const JsonNode *item = json_read_array(json_read_member(root, "parts", &error), 0, 9, &error);
//   for (; item != NULL; item = item->next) { … }
//   if (error.status != STATUS_OK) { json_error_text(&error, text); … }
//
// A node may be NULL only after a failure. An optional member is asked for with json_find.
#pragma once

#include "core/base/json.h"
#include "core/base/math.h"

// The member of that name; NULL if there is none, or if the node is NULL or no object.
const JsonNode *json_find(const JsonNode *object, const char *name);
// The child at an index; NULL past the end. Walks there: a loop uses first and next instead.
const JsonNode *json_at(const JsonNode *container, uint32_t index);
bool json_text_equal(const JsonNode *string, const char *text);

// The member, which must be there.
const JsonNode *json_read_member(const JsonNode *object, const char *name, JsonError *error);
// Rejects members that are not in the list: a misspelt name is an error and not ignored.
void json_read_only(const JsonNode *object, const char *const *names, uint32_t name_count,
                    JsonError *error);

bool json_read_bool(const JsonNode *node, JsonError *error);
// low <= number <= high.
double json_read_number(const JsonNode *node, double low, double high, JsonError *error);
float json_read_f32(const JsonNode *node, float low, float high, JsonError *error);
int64_t json_read_integer(const JsonNode *node, int64_t low, int64_t high, JsonError *error);
// Terminated, without zero bytes, at most bytes_max before the terminator; lives in the arena.
const char *json_read_text(const JsonNode *node, uint32_t bytes_max, JsonError *error);
// The index of the text in the list.
uint32_t json_read_choice(const JsonNode *node, const char *const *names, uint32_t name_count,
                          JsonError *error);
// The first item of an array whose length is in range; NULL for an empty one.
const JsonNode *json_read_array(const JsonNode *node, uint32_t count_min, uint32_t count_max,
                                JsonError *error);
// The first member; NULL for an empty object.
const JsonNode *json_read_object(const JsonNode *node, JsonError *error);
// [x, y, z], each in low..high.
Vec3 json_read_vec3(const JsonNode *node, float low, float high, JsonError *error);
