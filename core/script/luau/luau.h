// The room core/script/luau: the source of a `.luau` script as Lua. Compound assignment, continue,
// strings with `{…}` in them, if expressions, loops over tables, types, and Luau's numbers and
// escapes are rewritten where they stand; everything else stays byte for byte. It always holds that
// line n of the Lua is line n of the source, so that every message has the creator's line, that any
// bytes are answered, that time grows with the length of the source, and that depth and memory are
// bounded (limits.h).
//
//   luau_lex.c         tokens, and the lines that Lua would count
//   luau_edit.c        what is replaced, in the order of the source; writes the Lua
//   luau_expression.c  expressions, calls, functions
//   luau_statement.c   statements, loops, assignments
//   luau_type.c        types, which are skipped
//
// What is valid Luau means the same in Lua, but for what the language's own library and numbers do:
// they are Lua's. What is invalid is either told here, or left for Lua to tell.
#pragma once

#include "core/base/heap.h"
#include "core/base/limits.h"
#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

#define LUAU_MESSAGE_BYTES 240

typedef struct LuauLua {
    char *lua; // of the heap; NULL: there is none
    size_t lua_bytes;
    uint32_t line; // of what is wrong
    char message[LUAU_MESSAGE_BYTES];
} LuauLua;

// STATUS_MALFORMED: `line` and `message` say what is wrong. STATUS_LIMIT: too little memory.
// Otherwise free it with luau_free.
MUST_USE Status luau_translate(Heap *heap, const char *source, size_t bytes, LuauLua *out);
void luau_free(Heap *heap, LuauLua *made);
