// The room core/script/lint: warnings for creators. It always holds that no script runs here, and
// that a lint never rejects a script: the caller decides what to do with the findings.
// Finds problems without running the script: in its bytecode, so that the layout of the source does
// not matter. Undefined globals, shadowed names of the API, calls that belong to the other side,
// and the modules it requires by a constant path.
#pragma once

#include "core/script/runtime/script.h"

typedef enum LintKind {
    LINT_UNDEFINED_GLOBAL, // read, but neither in the API nor assigned in the script
    LINT_SHADOWED,         // a local or global with the name of something of the API
    LINT_WRONG_SIDE,       // a call of the other side
    LINT_UNKNOWN_MEMBER,   // a call of something that a library or group does not have
    LINT_UNKNOWN_HOOK,     // a function that is never called, with nearly the name of a hook
    LINT_HOOK_PARAMETER,   // a hook that uses its first argument, the entity, as the time
    LINT_FOREIGN,          // a name or form of another engine
    LINT_INVISIBLE,        // an invisible character
    LINT_KIND_COUNT
} LintKind;

typedef enum LintSide { LINT_SERVER, LINT_CLIENT, LINT_BOTH } LintSide;

typedef struct LintFinding {
    LintKind kind;
    uint32_t line;
    bool is_error; // it always fails
    char message[SCRIPT_MESSAGE_BYTES];
} LintFinding;

// A file of assets/ that the script names by a constant: who has the list can say if there is none.
typedef enum LintAssetKind { LINT_SOUND, LINT_PICTURE, LINT_MODEL, LINT_ASSET_COUNT } LintAssetKind;

#define LINT_ASSET_BYTES 128

typedef struct LintAsset {
    LintAssetKind kind;
    uint32_t line;
    char name[LINT_ASSET_BYTES];
} LintAsset;

typedef struct LintResult {
    LintFinding *findings; // the caller's
    uint32_t finding_max, finding_count;
    char (*requires)[SCRIPT_PATH_BYTES]; // the caller's; plain paths, sorted, each once
    uint32_t *require_lines; // the caller's, as many; the first line of each; NULL: not wanted
    uint32_t require_max, require_count;
    LintAsset
        *assets; // the caller's, in the order of the bytecode; those that do not fit are left out
    uint32_t asset_max, asset_count;
    bool is_module;         // the caller's: it is used by require, so its result has no hooks
    uint32_t dropped_count; // findings and requires that did not fit
    bool asks_world;        // it reads World or others: its behaviour depends on the place
    bool asks_modules;      // it reads require
} LintResult;

const char *lint_kind_name(LintKind kind); // "undefined-global"
// The function (compiled by vm_compile) is at the top of the stack and stays there.
void lint_function(lua_State *thread, LintSide side, LintResult *result);
// Adds findings in the text itself, after lint_function: at most one per line.
void lint_text(const void *source, size_t bytes, LintResult *result);
// Replaces the line of every instruction, also in inner functions, by the one in `lines` (from 0):
// faults then name the lines of the source that the Lua was generated from.
MUST_USE Status lint_map_lines(lua_State *thread, const uint32_t *lines, uint32_t count);
