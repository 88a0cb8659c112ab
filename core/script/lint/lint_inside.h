// What the files of lint.h share: lint.c walks the bytecode, lint_names.c knows the API's names,
// lint_returned.c what the script returns.
#pragma once

#include "core/script/api/api.h"
#include "core/script/lint/lint.h"

// What a script's global environment holds before the script adds to it: Lua's and the API's.
// Pushes a table: name → its row of api.def, or what Lua has there.
void lint_push_known(lua_State *thread);
// The row of something that stands in the environment by itself: a group, a class that is a table,
// a function; or of a hook. NULL: there is none. `known` is the index of that table.
const ApiRow *lint_global_row(lua_State *thread, int known, const char *name);
// A function or event of a group; NULL: there is none.
const ApiRow *lint_member_row(const char *owner, const char *name);

// Whether the group or library has no such member at all; then what might have been meant goes to
// `nearest`, or "".
bool lint_is_unknown(lua_State *thread, int known, const char *owner, const char *name,
                     char *nearest, size_t capacity);
// What might have been meant, or "". `written` is the index of a table of the script's own names.
void lint_suggest(lua_State *thread, int written, const char *name, char *out, size_t capacity);
// The hook whose name is nearly this one; NULL: there is none.
const char *lint_nearest_hook(const char *name);
// "Network.FireClient works on the server only, …"; false: it may be called there.
bool lint_side_text(const ApiRow *row, LintSide side, char *out, size_t capacity, bool *is_error);

// The table that the main function returns, from the instruction that makes it to the return.
typedef struct LintReturned {
    int reg; // where it is all that time; below 0: there is none that can be told
    int32_t made, end;
    bool is_always; // the script returns nothing else on another way
    bool is_shared; // others may have it, and call what is in it
} LintReturned;
struct Proto;
LintReturned lint_find_returned(const struct Proto *main);

// Adds a path to what the script requires, unless it is there or no module can have it.
void lint_add_require(LintResult *result, uint32_t line, Text written);
