// TypeScript for `sandlot script run`: one file, made into runes as a build makes them, so that
// what is said of it, and every fault, names its own lines. It can import nothing, being alone.
#pragma once

#include "core/script/runtime/script.h"
#include "server/build/diagnostic.h"
#include "server/build/worker_compile.h"

#include <stdbool.h>

typedef struct ScriptTypeScript {
    const char *name; // what the script is called, without .ts
    const char *file; // what is said of it names this
    const char *source;
    size_t bytes;
    ScriptSide side;
    bool allow_weak_jail;
} ScriptTypeScript;

// The script and the library it may need.
typedef struct ScriptRunes {
    CompileOutput items[2];
    char paths[2][SCRIPT_PATH_BYTES];
    uint32_t count;
} ScriptRunes;

// Starts processes that compile it. STATUS_MALFORMED: errors, in `diagnostics`. Others: `reason`
// says why. *out is to be freed whatever comes back.
MUST_USE Status script_typescript_make(const ScriptTypeScript *script, ScriptRunes *out,
                                       DiagnosticList *diagnostics,
                                       char reason[WORKER_REASON_BYTES]);
// Into a side's system. Nobody has signed them: for a process that is locked in.
MUST_USE Status script_runes_load(const ScriptRunes *runes, ScriptSystem *system);
void script_runes_free(ScriptRunes *runes);
