// A rune as native clients get it over the socket. Runes are small, and small things shrink little
// by themselves; so both ends know beforehand what runes look like: a dictionary of the names that
// scripts can call and of what our compiler makes of usual Lua (rune_words.h). It is made when it
// is needed, and depends on the sources of this program alone.
//
//   dictionary   constants of the API and the standard library, then some runes without their hash
//   packed       a zstd frame with that dictionary, over the rune without bytes 12 to 43: the hash
//                of its bytecode, which cannot shrink and which who unpacks computes again
//
// Programs of different sources may have different dictionaries. Each has a number, client and
// server name theirs, and what is not the same is not used. A number is no proof: who unpacks
// compares the hash of the whole rune with the manifest's, as for every rune.
#pragma once

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

typedef struct RunePack RunePack;

MUST_USE Status rune_pack_create(RunePack **out);
void rune_pack_destroy(RunePack *pack); // may be NULL
// What SCRIPT_REQUEST and SCRIPT_CHUNK have as their encoding; never 0.
uint32_t rune_pack_number(const RunePack *pack);

// `out` has room for as many bytes as the rune has. STATUS_LIMIT: it would not be smaller. Bytes
// that are no rune are STATUS_MALFORMED. Not from two threads at once.
MUST_USE Status rune_pack_pack(RunePack *pack, const uint8_t *rune, size_t rune_bytes, uint8_t *out,
                               size_t *bytes);
// Total over any bytes, and from any thread; more than `capacity` is STATUS_MALFORMED. What comes
// out has the form of a rune, and is only that.
MUST_USE Status rune_pack_unpack(const RunePack *pack, const uint8_t *bytes, size_t count,
                                 uint8_t *out, size_t capacity, size_t *rune_bytes);
