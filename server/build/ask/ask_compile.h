// Asks the worker to compile one Lua source into a rune (WORKER_COMPILE). Lints always run; a lint
// of level error fails the compile, as a syntax error does.
//
//   request   block path, block file, u8 context, u8 flags (1 dry run, 2 generated, 4 modules),
//             u32 lines, u32 each, block source; with modules: u32 modules, each: block request
//   reply     diagnostics; when it compiled, without modules: block rune, u32 requires, each:
//             u32 line, block path, u8 whether it asks for things of its place; u32 assets,
//             each: u8 kind, u32 line, block name
//
// What comes back may be any bytes: the rune's own header is checked and its hash is made here from
// the bytes that came, and the file that a diagnostic names is the one that was asked about.
#pragma once

#include "core/script/lint/lint.h"
#include "server/build/ask/build_context.h"
#include "server/build/place/soul.h"

#define COMPILE_MODULES_MAX    64
#define COMPILE_REQUIRES_MAX   CHECK_REQUIRES_MAX
#define COMPILE_FLAG_DRY_RUN   1
#define COMPILE_FLAG_GENERATED 2
#define COMPILE_FLAG_MODULES   4

typedef struct CompileJob {
    const char *path; // "Workspace/Door"
    const char *file; // what diagnostics name: "Workspace/Door.lua"
    RunContext context;
    const char *source; // Lua
    size_t source_bytes;
    bool dry_run; // also run its top level in a small world, with budgets; a fault is a warning
    bool is_generated;     // made from TypeScript or by a model: no lints about style
    const uint32_t *lines; // by line of the Lua (from 0): the line to show instead; may be NULL.
    uint32_t line_count;   // The rune itself carries these lines, so every fault on every side
                           // names the line of the source without a map.
    const struct CompileJob *modules; // for a dry run: what it requires, and what they require.
    uint32_t module_count;            // They have no modules of their own.
} CompileJob;

typedef struct CompileOutput {
    uint8_t *rune; // free with compile_output_free
    size_t rune_bytes;
    uint8_t rune_hash[32];               // made outside the jail, from the bytes that came out
    char (*requires)[SCRIPT_PATH_BYTES]; // static ones, sorted, each once
    uint32_t *require_lines;             // of each, the first line, as shown; 0: none
    uint32_t require_count;
    LintAsset *assets; // that it names by constants
    uint32_t asset_count;
    bool asks_world; // its behaviour depends on the place, so a dry run shows little
} CompileOutput;

// STATUS_MALFORMED: it does not compile; the context's diagnostics say why. Others: see
// worker_call. With modules there is no output, only the diagnostics of the dry run. `key` (may be
// NULL) as in WorkerQuestion; *was_cached may be NULL.
MUST_USE Status compile_ask(const BuildContext *context, const CompileJob *job, const CacheKey *key,
                            CompileOutput *out, bool *was_cached);
// Checks the worker's reply, which may be any bytes; public for the fuzzer.
MUST_USE Status compile_read_reply(const Buffer *reply, Status said, const CompileJob *job,
                                   CompileOutput *out, DiagnosticList *diagnostics);
void compile_output_free(CompileOutput *output);
