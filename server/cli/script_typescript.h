// TypeScript for `sandlot script run`: one file, made into runes as a build makes them, so that
// what is said of it, and every fault, names its own lines. It can import nothing, being alone.
#pragma once

#include "core/script/script.h"
#include "server/build/diagnostic.h"
#include "server/build/worker.h"

#include <stdbool.h>

typedef struct ScriptTypeScript {
    const char *name; // what the script is called, without .ts
    const char *file; // what is said of it names this
    const char *source;
    size_t bytes;
    ScriptSide side;
    bool allow_weak_jail;
} ScriptTypeScript;

// Loads the script, and the library it may need, into a side's system. STATUS_MALFORMED: errors, in
// `diagnostics`. Others: `reason` says why.
MUST_USE Status script_typescript_load(const ScriptTypeScript *script, ScriptSystem *system,
                                       DiagnosticList *diagnostics,
                                       char reason[WORKER_REASON_BYTES]);
