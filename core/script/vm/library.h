// What is added to Lua's math, table and string.
#pragma once

#include <lauxlib.h>

extern const luaL_Reg library_math[], library_table[], library_string[];
