// What --json prints: one object on one line of standard output, however it went. Text may be any
// bytes (a file's name, a source that is quoted): what is no UTF-8 in it becomes "?".
#pragma once

#include "core/base/json_write.h"
#include "core/base/sha256.h"
#include "server/build/base/diagnostic.h"

// Members of an object.
void command_json_text(JsonWriter *json, const char *name, const char *text);
void command_json_number(JsonWriter *json, const char *name, uint64_t value);
void command_json_bool(JsonWriter *json, const char *name, bool value);
void command_json_hash(JsonWriter *json, const char *name, const uint8_t hash[SHA256_BYTES]);
// `diagnostics`, and how many `errors` and `warnings` there are.
void command_json_diagnostics(JsonWriter *json, const DiagnosticList *list);

// Writes the members; called twice, first to know the size.
typedef void (*CommandJsonWrite)(JsonWriter *json, const void *what);
// False: there was no room for it, and a failure was printed in its place.
bool command_json_print(CommandJsonWrite write, const void *what);
