// What a script can reach, by whitelist: Lua's own library without everything that leaves the Vm,
// reveals an address or an order that differs between machines, or outlives a fault. Only vm.c
// calls these two.
#pragma once

#include "core/script/vm/vm.h"

// Makes the shared library tables, once per Vm.
void sandbox_open(lua_State *thread);
// Pushes a fresh environment.
void sandbox_push_environment(lua_State *thread);
