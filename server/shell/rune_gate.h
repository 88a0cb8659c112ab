// Which scripts a world process accepts. Lua trusts bytecode, so a rune is loaded only if the
// manifest names it, and the manifest is valid only with the signature of the host's key. The runes
// must be exactly those that the manifest names, none missing and none more.
//
// Used before the first tick: open it with the manifest, check every entry before the world gets
// it, finish after the last one.
#pragma once

#include "core/wire/manifest.h"
#include "core/world/entry/entry.h"
#include "server/build/sign/signing_key.h"

typedef struct RuneGate {
    uint8_t key[SIGNING_PUBLIC_BYTES];
    void *block;
    ManifestList list;
    bool *received; // by row: its rune has come
    uint32_t received_count;
    bool reload_received; // the manifest for clients has come
} RuneGate;

// STATUS_DENIED: not signed by that key. On failure `reason` says what is wrong, for people.
MUST_USE Status rune_gate_open(RuneGate *gate, const uint8_t key[SIGNING_PUBLIC_BYTES],
                               const uint8_t *text, size_t bytes, char *reason,
                               size_t reason_bytes);
// Checks an entry before it enters the world. STATUS_DENIED: it is not allowed.
MUST_USE Status rune_gate_check(RuneGate *gate, const Entry *entry, char *reason,
                                size_t reason_bytes);
// STATUS_NOT_FOUND: something that the manifest names has not come.
MUST_USE Status rune_gate_finish(const RuneGate *gate, char *reason, size_t reason_bytes);
void rune_gate_close(RuneGate *gate);
