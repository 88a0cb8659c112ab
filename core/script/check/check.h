// The room core/script/check: what a build says about a script, wherever it is asked. The build
// worker, the local world and a page call the same functions, so the same text gives the same
// diagnostics and the same rune on every side. It always holds that no script runs here, that any
// bytes are answered, and that memory is bounded: a Lua of its own for each script, with a world's
// limits, and what is kept from it.
//
//   check_name.h      the name of a file: service, context, language
//   check_contexts    which side place.json takes away from a script
//   check_script      one Lua or Luau text: compiled, linted, its lines mapped, made a rune
//   check_require.h   is what it requires there?
//   check_place_…     all of it, for whoever has the files of a place
//
// What needs more than this is the build's alone: TypeScript, plain language, trying a script out,
// modules that require each other, two files for one script.
#pragma once

#include "core/base/heap.h"
#include "core/base/limits.h"
#include "core/base/status.h"
#include "core/script/check/check_require.h"

#include <stddef.h>

typedef struct CheckScript {
    const char *path; // "Workspace/Door"
    const char *file; // what diagnostics name: "Workspace/Door.lua"; .luau is translated first
    RunContext context;
    const void *source; // Lua, or Luau
    size_t source_bytes;
    bool is_generated;     // made from TypeScript or by a model: no lints about style
    const uint32_t *lines; // by line of the Lua (from 0): the line to show instead, which goes into
    uint32_t line_count;   // the rune too; NULL: the Lua is what the creator wrote
} CheckScript;

// What was made of a script. Free with check_output_free.
typedef struct CheckOutput {
    uint8_t *rune; // NULL: it does not compile
    size_t rune_bytes;
    char (*requires)[CHECK_PATH_BYTES]; // by a constant path; sorted, each once
    uint32_t *require_lines;            // of each, the first line, as shown
    uint32_t require_count;
    struct LintAsset *assets; // of assets/, by constant names
    uint32_t asset_count;
    bool asks_world;      // what it does depends on a place
    bool asks_modules;    // it reads require
    uint32_t error_count; // what was told; with one or more of them no world takes the script
} CheckOutput;

// STATUS_OK: there is a rune, and maybe errors of lints. STATUS_MALFORMED: it does not compile; an
// error was told. STATUS_LIMIT: too little memory.
MUST_USE Status check_script(Heap *heap, const CheckScript *script, const CheckSink *sink,
                             CheckOutput *out);
void check_output_free(Heap *heap, CheckOutput *output);
// "Workspace/Door.lua:12: what" → what, and the line if there is one: diagnostics have those apart.
const char *check_split_message(const char *name, const char *message, uint32_t *line);

#define CHECK_CONTEXTS_FILE "place.json"

// Narrows the contexts of `modules` as the text of a place.json says. A text that is not
// understood, names no script or would widen a context is told, because a narrowing that is
// overlooked would send a secret to every client; what else it takes away is taken all the same.
// STATUS_LIMIT: too little memory.
MUST_USE Status check_contexts(Heap *heap, const char *text, size_t bytes, CheckModule *modules,
                               uint32_t module_count, const CheckSink *sink);
