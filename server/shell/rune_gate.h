// Which scripts a world process accepts. Lua trusts bytecode, so a rune is loaded only if the
// manifest names it, and the manifest is valid only with the signature of the host's key.
//
// Before the first tick: open it with the manifest, check every entry before the world gets it,
// finish after the last one. The runes must be exactly those that the manifest names, none missing
// and none more.
//
// While the world runs, a second set may replace the first (CHANNEL_RELOAD): its manifest comes in
// pieces and must have a higher version; then exactly the runes that start again
// (manifest_restart.h), and an entry without bytes for each script that is no more. Scripts that do
// not start again keep the runes that were checked when they came. The set is refused whole, or
// taken whole.
#pragma once

#include "core/wire/manifest.h"
#include "core/world/entry/entry.h"
#include "server/build/sign/signing_key.h"

typedef struct RuneSet {
    void *block; // of the manifest
    ManifestList list;
    bool *received; // by row: its rune has come
} RuneSet;

typedef struct RuneGate {
    uint8_t key[SIGNING_PUBLIC_BYTES];
    RuneSet now, next;
    bool is_running; // `now` is what the world runs
    bool has_next;   // its manifest has come
    bool *restarts;  // by row of `next`
    bool *removed;   // by row of `now`: the entry that ends it has come
    void *scratch;   // MANIFEST_ARENA_BYTES
    uint8_t *text;   // the manifest of `next`, while it comes
    size_t text_bytes, text_at;
    bool reload_received; // the manifest for clients has come
} RuneGate;

// STATUS_DENIED: not signed by that key. On failure `reason` says what is wrong, for people. All
// memory that the gate will ever need is taken here.
MUST_USE Status rune_gate_open(RuneGate *gate, const uint8_t key[SIGNING_PUBLIC_BYTES],
                               const uint8_t *text, size_t bytes, char *reason,
                               size_t reason_bytes);
// Checks an entry before it enters the world. STATUS_DENIED: it is not allowed.
MUST_USE Status rune_gate_check(RuneGate *gate, const Entry *entry, char *reason,
                                size_t reason_bytes);
// STATUS_NOT_FOUND: something that the manifest names has not come.
MUST_USE Status rune_gate_finish(const RuneGate *gate, char *reason, size_t reason_bytes);
// The set is complete and the world has it.
void rune_gate_take(RuneGate *gate);
void rune_gate_close(RuneGate *gate);

// --- a second set -------------------------------------------------------------------------------
typedef struct RunePiece {
    uint32_t version;
    size_t whole_bytes, at; // of the manifest; where this piece begins
    const uint8_t *bytes;
    size_t count;
} RunePiece;
// A piece of its manifest; the first one begins a set. The last one makes the gate check it.
MUST_USE Status rune_gate_piece(RuneGate *gate, const RunePiece *piece, char *reason,
                                size_t reason_bytes);
void rune_gate_drop(RuneGate *gate); // the second set, whatever there is of it
