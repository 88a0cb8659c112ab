// Shared by the files of exports of studio.wasm: the heap, the buffer that holds a result until the
// next call, and the text of the last failure.
#pragma once

#include "core/edit/buffer.h"

// The functions are called from outside by their exported names; no header declares them.
#pragma clang diagnostic ignored "-Wmissing-prototypes"

#define EXPORT(name) __attribute__((export_name(name), used))

Heap *edit_exports_heap(void);
EditBuffer *edit_exports_result(void); // empty
// Sets the length for resultBytes() and returns an address that is not 0.
const void *edit_exports_give(const void *data, size_t bytes);
void edit_exports_fail(const char *text);
