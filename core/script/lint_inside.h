// What the files of lint.h share: lint.c walks the bytecode, lint_names.c knows the API's names.
#pragma once

#include "core/script/api.h"
#include "core/script/lint.h"

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
