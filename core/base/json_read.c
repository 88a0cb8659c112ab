// Typed reads. Each begins with `is_usable`: it stops after a failure and checks the kind.
#include "core/base/json_read.h"

#include "core/base/check.h"
#include "core/base/text.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

static bool name_equal(const JsonNode *node, const char *name, size_t name_bytes)
{
    return node->name_bytes == name_bytes && memcmp(node->name, name, name_bytes) == 0;
}

const JsonNode *json_find(const JsonNode *object, const char *name)
{
    if (object == NULL || object->kind != JSON_OBJECT) {
        return NULL;
    }
    const size_t name_bytes = strlen(name);
    const JsonNode *member = object->first;
    while (member != NULL && !name_equal(member, name, name_bytes)) {
        member = member->next;
    }
    return member;
}

const JsonNode *json_at(const JsonNode *container, uint32_t index)
{
    if (container == NULL || (container->kind != JSON_ARRAY && container->kind != JSON_OBJECT)) {
        return NULL;
    }
    const JsonNode *child = container->first;
    for (uint32_t i = 0; child != NULL && i < index; i++) {
        child = child->next;
    }
    return child;
}

bool json_text_equal(const JsonNode *string, const char *text)
{
    const size_t bytes = strlen(text);
    return string != NULL && string->kind == JSON_STRING && string->count == bytes &&
           memcmp(string->text, text, bytes) == 0;
}

// False after a failure, and when the node is of another kind, which fails.
static bool is_usable(const JsonNode *node, JsonKind kind, JsonError *error)
{
    if (error->status != STATUS_OK) {
        return false;
    }
    ASSERT(node != NULL);
    if (node->kind != kind) {
        json_fail(error, STATUS_MALFORMED, node, "must be %s, not %s", json_kind_text(kind),
                  json_kind_text((JsonKind)node->kind));
        return false;
    }
    return true;
}

const JsonNode *json_read_member(const JsonNode *object, const char *name, JsonError *error)
{
    if (!is_usable(object, JSON_OBJECT, error)) {
        return NULL;
    }
    const JsonNode *member = json_find(object, name);
    if (member == NULL) {
        json_fail_member(error, STATUS_NOT_FOUND, object, name, "is missing");
    }
    return member;
}

void json_read_only(const JsonNode *object, const char *const *names, uint32_t name_count,
                    JsonError *error)
{
    if (!is_usable(object, JSON_OBJECT, error)) {
        return;
    }
    for (const JsonNode *member = object->first; member != NULL; member = member->next) {
        bool is_known = false;
        for (uint32_t i = 0; i < name_count && !is_known; i++) {
            is_known = name_equal(member, names[i], strlen(names[i]));
        }
        if (!is_known) {
            json_fail(error, STATUS_UNSUPPORTED, member, "is not a member that is known here");
            return;
        }
    }
}

bool json_read_bool(const JsonNode *node, JsonError *error)
{
    return is_usable(node, JSON_BOOL, error) && node->boolean;
}

double json_read_number(const JsonNode *node, double low, double high, JsonError *error)
{
    ASSERT(low <= high);
    if (!is_usable(node, JSON_NUMBER, error)) {
        return 0;
    }
    if (!(node->number >= low && node->number <= high)) {
        json_fail(error, STATUS_RANGE, node, "must be a number between %.9g and %.9g", low, high);
        return 0;
    }
    return node->number;
}

float json_read_f32(const JsonNode *node, float low, float high, JsonError *error)
{
    // In range as a double, so rounding to float stays in range: low and high are floats.
    return (float)json_read_number(node, low, high, error);
}

int64_t json_read_integer(const JsonNode *node, int64_t low, int64_t high, JsonError *error)
{
    ASSERT(low <= high);
    if (!is_usable(node, JSON_NUMBER, error)) {
        return 0;
    }
    if (!node->is_integer || node->integer < low || node->integer > high) {
        json_fail(error, STATUS_RANGE, node, "must be a whole number between %lld and %lld",
                  (long long)low, (long long)high);
        return 0;
    }
    return node->integer;
}

const char *json_read_text(const JsonNode *node, uint32_t bytes_max, JsonError *error)
{
    if (!is_usable(node, JSON_STRING, error)) {
        return "";
    }
    if (node->count > bytes_max) {
        json_fail(error, STATUS_RANGE, node, "must have at most %u bytes", (unsigned)bytes_max);
        return "";
    }
    const char *problem = text_error(node->text, node->count);
    if (problem != NULL) {
        json_fail(error, STATUS_MALFORMED, node, "%s", problem);
        return "";
    }
    return node->text;
}

uint32_t json_read_choice(const JsonNode *node, const char *const *names, uint32_t name_count,
                          JsonError *error)
{
    if (!is_usable(node, JSON_STRING, error)) {
        return 0;
    }
    for (uint32_t i = 0; i < name_count; i++) {
        if (json_text_equal(node, names[i])) {
            return i;
        }
    }
    char list[JSON_MESSAGE_BYTES] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < name_count && at < sizeof list; i++) {
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i == 0 ? "" : ", ", names[i]);
    }
    json_fail(error, STATUS_RANGE, node, "must be one of %s", list);
    return 0;
}

const JsonNode *json_read_array(const JsonNode *node, uint32_t count_min, uint32_t count_max,
                                JsonError *error)
{
    ASSERT(count_min <= count_max);
    if (!is_usable(node, JSON_ARRAY, error)) {
        return NULL;
    }
    if (node->count < count_min || node->count > count_max) {
        if (count_min == count_max) {
            json_fail(error, STATUS_RANGE, node, "must have %u items, not %u", (unsigned)count_min,
                      (unsigned)node->count);
        } else {
            json_fail(error, STATUS_RANGE, node, "must have %u to %u items, not %u",
                      (unsigned)count_min, (unsigned)count_max, (unsigned)node->count);
        }
        return NULL;
    }
    return node->first;
}

const JsonNode *json_read_object(const JsonNode *node, JsonError *error)
{
    return is_usable(node, JSON_OBJECT, error) ? node->first : NULL;
}

Vec3 json_read_vec3(const JsonNode *node, float low, float high, JsonError *error)
{
    float values[3] = {0};
    const JsonNode *item = json_read_array(node, 3, 3, error);
    for (uint32_t i = 0; i < 3 && item != NULL; i++, item = item->next) {
        values[i] = json_read_f32(item, low, high, error);
    }
    return error->status == STATUS_OK ? vec3(values[0], values[1], values[2]) : VEC3_ZERO;
}
