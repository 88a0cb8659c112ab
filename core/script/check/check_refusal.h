// What Lua says when it refuses a script, in words for its creator. Lua's limits are named by what
// its parser runs out of; and of Lua that was made of TypeScript nobody has written the line that
// it complains about, so there the message says what to write instead.
#pragma once

#include "core/script/check/check_tell.h"

#include <stdbool.h>
#include <stddef.h>

// `is_made`: of another language.
void check_refusal_explain(const char *said, bool is_made, char out[CHECK_MESSAGE_BYTES]);
// Whether a source is short enough; if not, it is told.
bool check_refusal_fits(const char *file, size_t source_bytes, const CheckSink *sink);
