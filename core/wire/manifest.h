// The signed list of a world's runes as JSON, exactly as in the script-distribution document plus
// `requires`, `cdn_base` and `signature`:
//
//   {"scripts":[{"path":"Workspace/Door.lua","replicate":true,"requires":["ReplicatedStorage/Tools"],
//    "run_context":"Both","rune_hash":"sha256:…","service":"Workspace","size_bytes":412}],
//    "server_tick":0,"signature":"…","version":3}
//
// The signature (Ed25519, as 128 hex digits) is over the same text without it: members sorted by
// name, no spaces, scripts sorted by path. One function writes those bytes for whoever signs and
// for whoever verifies, on every side.
#pragma once

#include "core/base/arena.h"
#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/wire/net.h"

#define MANIFEST_SIGNATURE_BYTES 64
#define MANIFEST_ROWS_MAX        (2 * MANIFEST_SCRIPTS_MAX)
#define MANIFEST_REQUIRES_MAX    64
#define MANIFEST_PATH_BYTES_MAX  127
#define MANIFEST_RUNE_BYTES_MAX  RUNE_BYTES_MAX
#define MANIFEST_TICK_MAX        ((UINT64_C(1) << 53) - 1) // JSON readers keep these exact
// What reading the largest takes from an arena; of an ordinary one about ten times its text.
#define MANIFEST_ARENA_BYTES (16u << 20)

typedef struct ManifestRow {
    Text path; // with the ending of its source: .lua, .luau, .ts, .soul
    uint8_t rune_hash[32];
    uint32_t size_bytes;
    Text run_context; // Server, Client, Both
    Text service;
    bool replicate;
    const Text *requires; // paths without an ending, sorted
    uint32_t require_count;
} ManifestRow;

typedef struct ManifestList {
    uint32_t version;     // only rises
    uint64_t server_tick; // 0 from a build; of the load or reload when a host signs
    Text cdn_base;        // "": none
    const ManifestRow *rows;
    uint32_t row_count;
} ManifestList;

// The order of rows, byte by byte: below zero if a comes first.
int manifest_path_order(Text a, Text b);
// The rows alone, as a text that is the same for every world of a place and in every life of one:
// the canonical text with version and tick 0 and no cdn_base. A client that has it, and version,
// tick, cdn_base and signature from a message, has the whole manifest.
MUST_USE Status manifest_write_rows(const ManifestRow *rows, uint32_t count, ByteWriter *out);
// With a signature (64 bytes) the whole file; with NULL the bytes that are signed. Rows must be
// sorted by path. STATUS_LIMIT: it does not fit.
MUST_USE Status manifest_write(const ManifestList *list, const uint8_t *signature, ByteWriter *out);
// Total; everything points into the arena. A member that is unknown, missing or of another form is
// an error that names its JSON path: rows and requires must be sorted, each once, a path must begin
// with its service, and what runs on the server alone is not replicated. *has_signature false:
// there is none.
MUST_USE Status manifest_read(Arena *arena, const char *text, size_t bytes, ManifestList *out,
                              uint8_t signature[MANIFEST_SIGNATURE_BYTES], bool *has_signature,
                              JsonError *error);
