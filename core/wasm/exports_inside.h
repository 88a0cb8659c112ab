// Shared by the files of exports: the buffer that holds a result until the next call.
#pragma once

#include "core/base/json_write.h"
#include "core/client/client.h"

// The functions are called from outside by their exported names; no header declares them.
#pragma clang diagnostic ignored "-Wmissing-prototypes"

#define EXPORT(name) __attribute__((export_name(name), used))
// Rows of shapes, and of paints: what is seen, and moved parts of the scene.
#define EXPORTS_NUMBERS_MAX   (NET_SLOTS_MAX * (PATCH_PARTS_PER_VISIBLE + 2) * 16)
#define EXPORTS_SCRATCH_BYTES (MANIFEST_BYTES_MAX + 4096u) // a manifest to verify is the largest

double *exports_numbers(void); // room for EXPORTS_NUMBERS_MAX
void *exports_scratch(void);   // room for EXPORTS_SCRATCH_BYTES, aligned for anything
// Sets the length for resultBytes() and returns the address.
const void *exports_result(const void *data, size_t bytes);

// A result as JSON; NULL if it does not fit.
JsonWriter exports_begin_json(ByteWriter *writer);
const void *exports_end_json(JsonWriter *json, const ByteWriter *writer);
