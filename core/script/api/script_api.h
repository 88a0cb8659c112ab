// The room core/script/api: everything that scripts can call. Each row of core/script/api.def is a
// function in one of the api_*.c; api.c checks side and arguments before it is called, and
// api_reference.c writes the rows as a page, as TypeScript and as Lua annotations. It always holds
// that a function begins with arguments of the right types, that what a call makes the world do is
// charged to the script, and that the API reaches a world only through script_world.h.
//
// This header is for whoever creates a ScriptSystem: the value of ScriptConfig.api.
#pragma once

#include "core/script/runtime/script.h"

extern const ScriptApi script_api;
