// The room core/script/lint: warnings for creators. It always holds that no script runs here, and
// that a lint never refuses a script: whoever asks decides what to do with what is found.
//
// What can be said about a script without running it: found in its bytecode, which cannot be fooled
// by how the source is laid out. Undefined globals, names of the API that are shadowed, calls that
// belong to the other side, and the modules it requires by a constant path.
#pragma once

#include "core/script/runtime/script.h"

typedef enum LintKind {
    LINT_UNDEFINED_GLOBAL, // read, and neither the API's nor set anywhere in the script
    LINT_SHADOWED,         // a local or global with the name of something of the API
    LINT_WRONG_SIDE,       // a call of the other side
    LINT_UNKNOWN_MEMBER,   // a call of something that a library or group does not have
    LINT_UNKNOWN_HOOK,     // a function that nobody calls, with nearly the name of a hook
    LINT_HOOK_PARAMETER,   // a hook that takes its first argument, the entity, for the time
    LINT_INVISIBLE,        // a character that a reviewer would not see
    LINT_KIND_COUNT
} LintKind;

typedef enum LintSide { LINT_SERVER, LINT_CLIENT, LINT_BOTH } LintSide;

typedef struct LintFinding {
    LintKind kind;
    uint32_t line;
    bool is_error; // it can only fail
    char message[SCRIPT_MESSAGE_BYTES];
} LintFinding;

typedef struct LintResult {
    LintFinding *findings; // the caller's
    uint32_t finding_max, finding_count;
    char (*requires)[SCRIPT_PATH_BYTES]; // the caller's; plain paths, sorted, each once
    uint32_t *require_lines; // the caller's, as many; the first line of each; NULL: not wanted
    uint32_t require_max, require_count;
    bool is_module;         // the caller's: what it returns is for those who require it, no hooks
    uint32_t dropped_count; // findings and requires that did not fit
    bool asks_world;        // it reads World and the like: what it does depends on a place
    bool asks_modules;      // it reads require
} LintResult;

const char *lint_kind_name(LintKind kind); // "undefined-global"
// The function (compiled by vm_compile) is at the top of the stack and stays there.
void lint_function(lua_State *thread, LintSide side, LintResult *result);
// Adds what the text itself shows, after lint_function: one finding a line.
void lint_text(const void *source, size_t bytes, LintResult *result);
// Every instruction of the function and those inside it gets the line that `lines` has for its own
// (from 0): faults then name the lines of the source that the Lua was made from.
MUST_USE Status lint_map_lines(lua_State *thread, const uint32_t *lines, uint32_t count);
