// The path by which a script is known everywhere, "Workspace/Door", from what a scene or a file may
// call it: with `SoulService/` or `.sandlot/server/soul/` (where a build puts the Lua it made)
// before it, and `.lua`, `.ts`, `.soul` or `.soul.lua` after it.
#pragma once

#include <stddef.h>

typedef struct ScriptPath {
    const char *data; // into the text; not terminated
    size_t bytes;
} ScriptPath;

// Total; what has no more than an ending or a folder stays as it is.
ScriptPath script_path_trim(const char *text, size_t bytes);
