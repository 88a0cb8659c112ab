// Shared by the files of lint.h: lint.c walks the bytecode, lint_names.c has the API's names,
// lint_returned.c finds the table that a script returns.
#pragma once

#include "core/script/api/api.h"
#include "core/script/lint/lint.h"

// Pushes a table of the global environment before the script adds to it: name → its row of api.def,
// or the value in Lua.
void lint_push_known(lua_State *thread);
// The row of a global of the API (a group, a class that is a table, a function) or of a hook; NULL:
// there is none. `known` is the index of that table.
const ApiRow *lint_global_row(lua_State *thread, int known, const char *name);
// A function or event of a group; NULL: there is none.
const ApiRow *lint_member_row(const char *owner, const char *name);

// Whether the group or library has no such member; then a similar name, or "", goes to `nearest`.
bool lint_is_unknown(lua_State *thread, int known, const char *owner, const char *name,
                     char *nearest, size_t capacity);
// A similar name, or "". `written` is the index of a table of the script's own names.
void lint_suggest(lua_State *thread, int written, const char *name, char *out, size_t capacity);
// The hook with nearly this name, or NULL.
const char *lint_nearest_hook(const char *name);
// "Network.FireClient works on the server only, …"; false: it may be called there.
bool lint_side_text(const ApiRow *row, LintSide side, char *out, size_t capacity, bool *is_error);

// The table that the main function returns, from the instruction that makes it to the return.
typedef struct LintReturned {
    int reg; // its register all that time; below 0: unknown
    int32_t made, end;
    bool is_always; // no other path returns something else
    bool is_shared; // other code may have it, and call functions in it
} LintReturned;
struct Proto;
LintReturned lint_find_returned(const struct Proto *main);

// Adds a path to the required modules, unless it is there already or is not a valid path.
void lint_add_require(LintResult *result, uint32_t line, Text written);
// Adds a name of an asset, unless it cannot be one.
void lint_add_asset(LintResult *result, LintAssetKind kind, uint32_t line, Text name);
