// Runes in fewer bytes, for those who get them: packed for clients that can unpack that
// (rune_pack.h), and as a plain zstd frame for others over HTTP. Whoever unpacks compares the rune
// with its hash, so a lie costs its own place the rune and nobody anything else.
//
//   request   u32 runes; each: block
//   reply     u32 the dictionary's number; each: block packed, block zstd; empty: it gets no
//   smaller
#pragma once

#include "server/build/ask/worker.h"
#include "server/build/pipeline/build.h"

// Fills in what is packed of each, and the number. STATUS_BLOCKED and others as worker_call.
MUST_USE Status rune_pack_ask(Worker *worker, BuildRune *const *runes, uint32_t count,
                              uint32_t *number, char reason[WORKER_REASON_BYTES]);
// The reply for `count` runes, which may be any bytes. STATUS_MALFORMED: no such reply; what was
// filled in of it is the rune's to free.
MUST_USE Status rune_pack_read_reply(const Buffer *reply, BuildRune *const *runes, uint32_t count,
                                     uint32_t *number);
