// For the JSON reader only: fails at a position that has no node yet. Other code uses json_fail of
// json.h.
#pragma once

#include "core/base/json.h"

#include <stdarg.h>

typedef struct JsonPlace {
    const JsonNode *parent; // the array or object around it, NULL at the root
    const char *name;       // of a member, or NULL
    uint32_t name_bytes;
    bool is_item; // the next item of the parent
    uint32_t line;
    uint32_t column;
} JsonPlace;

void json_fail_at(JsonError *error, Status status, const JsonPlace *place, const char *format,
                  va_list arguments) __attribute__((format(printf, 4, 0)));
