// TypeScript to Lua: the pinned compilers in a Node process of their own, in a looser jail than the
// worker's (it must read its own files and generate code at run time): no sockets, no exec, no
// writes, nothing readable but Node and our compiler's files. A place's sources exist for it in
// memory only. Started at first use and kept, because later compiles take a fiftieth of the first.
#pragma once

#include "core/wire/script_path.h"
#include "server/build/ask/worker.h"
#include "server/build/base/diagnostic.h"
#include "server/build/place/soul.h"

#define TYPESCRIPT_LIBRARY SCRIPT_TYPESCRIPT_LIBRARY

// Progress: `total` is the number of TypeScript scripts, `done` the part of the work in the same
// unit, which never falls; `file` is the current one ("": none). Called whenever that changes, and
// otherwise once a second.
typedef void TypeScriptProgress(void *user, uint32_t done, uint32_t total, const char *file);

typedef struct TypeScriptConfig {
    bool allow_weak_jail;
    const char *node;             // NULL: SANDLOT_NODE, or the pinned one of this program's tree
    const char *compiler;         // folder with compiler.mjs; NULL: that of this program's tree
    uint64_t memory_bytes_max;    // resident, watched; 1 GB
    uint32_t quiet_ms;            // without a sign of life, also during the start; 10 s
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
// What is missing for a config by default, and in `reason` where it was looked for. A few looks at
// the disk.
typedef enum TypeScriptLack {
    TYPESCRIPT_LACKS_NOTHING,
    TYPESCRIPT_LACKS_PACKAGES, // the compilers; Node may be missing too
    TYPESCRIPT_LACKS_NODE
} TypeScriptLack;
TypeScriptLack typescript_lack(char reason[WORKER_REASON_BYTES]);
MUST_USE Status typescript_create(const TypeScriptConfig *config, TypeScript **out);
void typescript_destroy(TypeScript *typescript); // NULL is allowed
// For the next calls: the cancel flag and the progress callback. Both may be NULL.
void typescript_watch(TypeScript *typescript, const atomic_bool *cancel,
                      TypeScriptProgress *progress, void *user);
// Compiles the place's TypeScript souls together, because they import each other, and returns the
// Lua of those in `wanted` (one flag per soul; NULL: all), and the library if any of them needs it.
// STATUS_MALFORMED: errors, in `diagnostics`, with TypeScript's own codes and lines; the traps
// (docs/SCRIPTING.md) are warnings. STATUS_BLOCKED, STATUS_DENIED: as worker_call.
MUST_USE Status typescript_compile(TypeScript *typescript, const SoulList *souls,
                                   const bool *wanted, TypeScriptResult *out,
                                   DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES]);
void typescript_result_free(TypeScriptResult *result);
pid_t typescript_pid(const TypeScript *typescript); // 0: none runs
void typescript_set_quiet(TypeScript *typescript,
                          uint32_t quiet_ms); // for the next calls; for tests
// Everything the output depends on besides the sources, for cache keys: the versions of the
// compilers, of our declarations and of this code. A constant string.
const char *typescript_version(void);
