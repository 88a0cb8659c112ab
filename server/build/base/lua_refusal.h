// Rewrites Lua's compile errors in words for a creator. Lua names its limits by internal resources
// of the parser. And in Lua that was generated from TypeScript nobody wrote the line that Lua
// complains about, so there the message says what to write instead.
#pragma once

#include "server/build/base/diagnostic.h"

// Changes the messages of Lua's own errors ("syntax") in the list. `is_made`: it was generated.
void lua_refusal_explain(DiagnosticList *list, bool is_made);
