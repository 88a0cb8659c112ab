// A rune in fewer bytes, for those who get it: packed for clients that can unpack that
// (inside/rune_pack.h), and as a plain zstd frame for others over HTTP. Whoever unpacks compares
// the rune with its hash, so a lie costs its own place the rune and nobody anything else.
//
//   request   the rune
//   reply     u32 the dictionary's number, block packed, block zstd; empty: it gets no smaller
#pragma once

#include "server/build/ask/build_context.h"

typedef struct PackedRune {
    uint32_t dictionary;    // the number of the dictionary it is packed with
    uint8_t *packed, *zstd; // free with packed_rune_free; NULL: it does not get smaller
    size_t packed_bytes, zstd_bytes;
} PackedRune;

MUST_USE Status rune_pack_ask(const BuildContext *context, const uint8_t hash[SHA256_BYTES],
                              const uint8_t *rune, size_t bytes, PackedRune *out);
// Reads the reply for a rune of that size; it may be any bytes. STATUS_MALFORMED: it is invalid,
// and *out is unchanged.
MUST_USE Status rune_pack_read_reply(const Buffer *reply, size_t rune_bytes, PackedRune *out);
void packed_rune_free(PackedRune *packed);
