// The output of --json: one object on one line of standard output, whether the command succeeded or
// failed. Text may contain any bytes (a file's name, a quoted source): invalid UTF-8 becomes "?".
#pragma once

#include "core/base/json_write.h"
#include "core/base/sha256.h"
#include "server/build/base/diagnostic.h"

// Members of an object.
void command_json_text(JsonWriter *json, const char *name, const char *text);
void command_json_hash(JsonWriter *json, const char *name, const uint8_t hash[SHA256_BYTES]);
// `diagnostics`, and the numbers of `errors` and `warnings`.
void command_json_diagnostics(JsonWriter *json, const DiagnosticList *list);

// Writes the members; called twice, first to compute the size.
typedef void (*CommandJsonWrite)(JsonWriter *json, const void *what);
// False: the object did not fit, and a failure was printed instead.
bool command_json_print(CommandJsonWrite write, const void *what);
