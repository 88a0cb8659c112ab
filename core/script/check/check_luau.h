// Luau in a file that is Lua: creators bring scripts from Roblox, whose dialect Lua's parser
// rejects with messages that name none of it ("syntax error near '+'"). Reads the text again, token
// by token, and finds the form that Lua stumbled over.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The first form of Luau up to `line`, where Lua gave up (0: anywhere): a sentence that says what
// to write instead, and its line in *at. NULL: there is none.
const char *check_luau_find(const char *source, size_t bytes, uint32_t line, uint32_t *at);
