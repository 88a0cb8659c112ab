// Packed runes back into runes (rune_dictionary.h), for every client: natively with the system's
// zstd, in browsers with the same version's decoder built for WebAssembly. All memory is taken at
// create but a copy of what is unpacked.
#pragma once

#include "core/base/heap.h"
#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct RuneUnpack RuneUnpack;

// Keeps the heap. STATUS_LIMIT: out of memory.
MUST_USE Status rune_unpack_create(Heap *heap, RuneUnpack **out);
void rune_unpack_destroy(RuneUnpack *unpack); // may be NULL
uint32_t rune_unpack_number(const RuneUnpack *unpack);

// Accepts any bytes. `rune_bytes` is the size in the manifest: exactly as many are written, or the
// status is STATUS_MALFORMED (STATUS_LIMIT without memory) and `out` must not be used. The result
// has the form of a rune of that path; the hash is not checked here. Not thread-safe.
MUST_USE Status rune_unpack(RuneUnpack *unpack, const char *path, const uint8_t *packed,
                            size_t packed_bytes, uint8_t *out, size_t rune_bytes);
