// TypeScript for `sandlot script run`: compiles one file into runes as a build does, so that
// messages and faults name the lines of the file. It is the only file, so it can import nothing.
#pragma once

#include "core/script/script.h"
#include "server/build/ask/ask_compile.h"
#include "server/build/base/diagnostic.h"

#include <stdbool.h>

typedef struct ScriptTypeScript {
    const char *name; // name of the script, without .ts
    const char *file; // the file name for messages
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

// Starts processes that compile it. STATUS_MALFORMED: the errors are in `diagnostics`. Other
// errors: `reason` says why. *out must be freed in every case.
MUST_USE Status script_typescript_make(const ScriptTypeScript *script, ScriptRunes *out,
                                       DiagnosticList *diagnostics,
                                       char reason[WORKER_REASON_BYTES]);
// Loads the runes into a side's script system. They are not signed, so call it only inside the
// jail.
MUST_USE Status script_runes_load(const ScriptRunes *runes, ScriptSystem *system);
