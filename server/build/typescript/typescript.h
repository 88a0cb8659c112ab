// TypeScript to Lua: the pinned compiler in a Node process of its own, in a looser jail than the
// worker's (it needs to read its own files and to make code at run time): no sockets, no exec, no
// writes, nothing readable but Node and our compiler's files. It sees a place's sources as files in
// memory only. Started at first use and kept, because the second compile takes a fiftieth of the
// first.
#pragma once

#include "server/build/ask/worker.h"
#include "server/build/base/diagnostic.h"
#include "server/build/place/soul.h"

#define TYPESCRIPT_LIBRARY "ReplicatedStorage/lualib_bundle" // what its output requires

// How far it is: `total` is the number of TypeScript scripts, `done` the part of all the work in
// the same unit, never less than before; `file` is looked at now ("": none). Called whenever that
// changes, and once a second when it does not.
typedef void TypeScriptProgress(void *user, uint32_t done, uint32_t total, const char *file);

typedef struct TypeScriptConfig {
    bool allow_weak_jail;
    const char *node;             // NULL: SANDLOT_NODE, or the pinned one of this program's tree
    const char *compiler;         // folder with compiler.mjs; NULL: that of this program's tree
    uint64_t memory_bytes_max;    // resident, watched; 1 GB
    uint32_t quiet_ms;            // without a sign of life, from the start on; 10 s
    const atomic_bool *cancel;    // may be NULL
    TypeScriptProgress *progress; // may be NULL
    void *user;
} TypeScriptConfig;

typedef struct TypeScript TypeScript;

typedef struct TypeScriptOutput {
    char path[SCRIPT_PATH_BYTES]; // "Workspace/Door"; "ReplicatedStorage/lualib_bundle" for the lib
    char *lua;                    // zero after the last byte
    size_t lua_bytes;
    char *source_map; // JSON, version 3; empty for the lib
    size_t source_map_bytes;
    uint32_t *lines; // by line of the Lua, from 0: the line of the .ts
    uint32_t line_count;
} TypeScriptOutput;

typedef struct TypeScriptResult {
    TypeScriptOutput *items; // sorted by path; free with typescript_result_free
    uint32_t count;
} TypeScriptResult;

TypeScriptConfig typescript_config_default(void);
MUST_USE Status typescript_create(const TypeScriptConfig *config, TypeScript **out);
void typescript_destroy(TypeScript *typescript); // NULL is allowed
// For the next calls: what cancels them, and whom to tell. Both may be NULL.
void typescript_watch(TypeScript *typescript, const atomic_bool *cancel,
                      TypeScriptProgress *progress, void *user);
// Compiles the place's TypeScript souls together, because they import each other, and gives the Lua
// of those that `wanted` marks (one flag per soul; NULL: all), and the library if any needs it.
// STATUS_MALFORMED: errors, in `diagnostics`, with TypeScript's own codes and lines; the traps
// (docs/SCRIPTING.md) are warnings. STATUS_BLOCKED, STATUS_DENIED: as worker_call.
MUST_USE Status typescript_compile(TypeScript *typescript, const SoulList *souls,
                                   const bool *wanted, TypeScriptResult *out,
                                   DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES]);
void typescript_result_free(TypeScriptResult *result);
pid_t typescript_pid(const TypeScript *typescript); // 0: none runs; for tests
// What the output depends on besides the sources, for cache keys: versions of the compilers, of our
// declarations and of this glue. A text that lives as long as the program.
const char *typescript_version(void);
