// Packing runes for clients that can unpack them (core/script/rune/rune_unpack.h has the other end,
// core/script/rune/rune_dictionary.h the form). Done once for a rune, by whoever serves it.
#pragma once

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct RunePack RunePack;

MUST_USE Status rune_pack_create(RunePack **out);
void rune_pack_destroy(RunePack *pack); // may be NULL
// The dictionary's number; never 0.
uint32_t rune_pack_number(const RunePack *pack);

// `out` has as many bytes as the rune. STATUS_LIMIT: it would not be smaller. STATUS_MALFORMED: not
// a rune. Not thread-safe.
MUST_USE Status rune_pack_pack(RunePack *pack, const uint8_t *rune, size_t rune_bytes, uint8_t *out,
                               size_t *bytes);
