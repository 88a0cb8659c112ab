// What Lua says when it refuses a script, in words for its creator. Lua's limits are named by what
// its parser runs out of; and of Lua that was made of TypeScript nobody has written the line that
// it complains about, so there the message says what to write instead.
#pragma once

#include "server/build/base/diagnostic.h"

// Changes the messages of Lua's own errors ("syntax") in the list. `is_made`: of another language.
void lua_refusal_explain(DiagnosticList *list, bool is_made);
