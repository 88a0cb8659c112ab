// What goes between typescript.c and the Node process (typescript/compiler.mjs), on a stream pair.
// Numbers are little-endian, a block is a u32 length and its bytes, texts are UTF-8.
//
//   to Node      u64 bytes, then:  block declarations (empty: as before)
//                                  u32 scripts, each: block path, block file,
//                                  u8 is TypeScript, u8 wanted, u8 goes to players,
//                                  block text (empty if it is not TypeScript)
//   from Node    u8 kind, u64 bytes, then
//     0 progress  u32 script: which of those that were sent is looked at next (all ones: none),
//                 u32 done: how many of the TypeScript ones the work so far is worth
//     1 result    u32 status (0 fine, 1 errors, 2 the compiler gave up), block reason,
//                 u32 diagnostics, each: u8 level, block file, u32 line, u32 column, block code,
//                 block message
//                 u32 outputs, each: block path, block Lua, block source map,
//                 u32 lines, each u32
//     2 refused   a text: it could not be locked in or started; from the launcher, before Node
//
// What comes from Node is taken for hostile: a creator's types have run in there.
#pragma once

#include "server/build/typescript/typescript.h"

#define TYPESCRIPT_DESCRIPTOR     3
#define TYPESCRIPT_HEADER_BYTES   9
#define TYPESCRIPT_REPLY_MAX      (96u << 20)
#define TYPESCRIPT_REQUEST_MAX    (400u << 20)
#define TYPESCRIPT_PROGRESS_BYTES 8
#define TYPESCRIPT_NO_SCRIPT      UINT32_MAX

typedef enum TypeScriptKind {
    TYPESCRIPT_PROGRESS = 0,
    TYPESCRIPT_RESULT = 1,
    TYPESCRIPT_REFUSED = 2
} TypeScriptKind;

// The number of TypeScript souls, and their size.
uint32_t typescript_count(const SoulList *souls, uint64_t *bytes);
// Writes into an empty buffer, with the length in front.
void typescript_write_request(Buffer *out, const char *declarations, size_t declarations_bytes,
                              const SoulList *souls, const bool *wanted);
// Works for any bytes. STATUS_OK: *script is an index into the list or TYPESCRIPT_NO_SCRIPT, and
// *done is at most the number of scripts.
MUST_USE Status typescript_read_progress(const uint8_t *bytes, size_t count, const SoulList *souls,
                                         uint32_t *script, uint32_t *done);
// Works for any bytes. STATUS_OK: *out holds exactly the wanted scripts, sorted, and perhaps the
// library. STATUS_MALFORMED: errors, all in `diagnostics`, and *out is empty. STATUS_LIMIT: the
// compiler gave up, or memory ran out; see `reason`. STATUS_MISMATCH: not a valid answer, and
// nothing was taken from it.
MUST_USE Status typescript_read_result(const uint8_t *bytes, size_t count, const SoulList *souls,
                                       const bool *wanted, TypeScriptResult *out,
                                       DiagnosticList *diagnostics,
                                       char reason[WORKER_REASON_BYTES]);
// One line of plain UTF-8 for people, cut if it is too long.
void typescript_plain_text(const uint8_t *bytes, size_t count, char *out, size_t out_bytes);
