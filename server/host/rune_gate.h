// The gate before a world's scripts, in the world process: bytecode is trusted by Lua, so nothing
// is loaded that the manifest does not name, and the manifest counts only with the signature of the
// host's key. What is brought must be all of it and nothing else.
//
// Used before the first tick: open it with the manifest, show it every entry before the world gets
// it, finish when all have come.
#pragma once

#include "core/wire/manifest.h"
#include "core/world/entry/entry.h"
#include "server/build/signing_key.h"

typedef struct RuneGate {
    uint8_t key[SIGNING_PUBLIC_BYTES];
    void *block;
    ManifestList list;
    bool *here; // by row: its rune has come
    uint32_t here_count;
    bool reload_here; // the manifest for clients has come
} RuneGate;

// STATUS_DENIED: not signed by that key. On failure `reason` says what is wrong, for people.
MUST_USE Status rune_gate_open(RuneGate *gate, const uint8_t key[SIGNING_PUBLIC_BYTES],
                               const uint8_t *text, size_t bytes, char *reason,
                               size_t reason_bytes);
// An entry that is about to enter. STATUS_DENIED: it may not.
MUST_USE Status rune_gate_pass(RuneGate *gate, const Entry *entry, char *reason,
                               size_t reason_bytes);
// STATUS_NOT_FOUND: something that the manifest names has not come.
MUST_USE Status rune_gate_finish(const RuneGate *gate, char *reason, size_t reason_bytes);
void rune_gate_close(RuneGate *gate);
