// The API as text for people and editors, made from the same rows that check the calls.
#pragma once

#include "core/base/bytes.h"

typedef enum ApiFormat {
    API_FORMAT_MARKDOWN,   // the reference page
    API_FORMAT_TYPESCRIPT, // declarations, sandlot.d.ts
    API_FORMAT_LUA         // annotations for the Lua language server
} ApiFormat;

// Text, not terminated; the writer's status says whether it fitted.
void api_reference_write(ApiFormat format, ByteWriter *writer);
// The reference page with what can be called on these sides alone.
void api_reference_write_sides(bool server, bool client, ByteWriter *writer);
// What is said about an argument of a function (API_ARGUMENT): its unit, its limits, its default.
// NULL: nothing.
const char *api_reference_argument(const char *owner, const char *function, const char *argument);
