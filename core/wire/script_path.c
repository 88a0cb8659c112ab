// See script_path.h. One function, because every side must come to the same name: a script that is
// known by two names is loaded twice, or not found, or not recognised as the server's own.
#include "core/wire/script_path.h"

#include <stdbool.h>
#include <string.h>

static bool trim_begin(ScriptPath *path, const char *folder)
{
    const size_t bytes = strlen(folder);
    if (path->bytes <= bytes || memcmp(path->data, folder, bytes) != 0) {
        return false;
    }
    path->data += bytes;
    path->bytes -= bytes;
    return true;
}

static bool trim_end(ScriptPath *path, const char *ending)
{
    const size_t bytes = strlen(ending);
    if (path->bytes <= bytes || memcmp(path->data + path->bytes - bytes, ending, bytes) != 0) {
        return false;
    }
    path->bytes -= bytes;
    return true;
}

ScriptPath script_path_trim(const char *text, size_t bytes)
{
    ScriptPath path = {text, bytes};
    if (!trim_begin(&path, ".sandlot/server/soul/")) {
        (void)trim_begin(&path, "SoulService/");
    }
    // Door.soul.lua is the Lua of Door.soul.
    const bool is_lua = trim_end(&path, ".lua");
    if (!trim_end(&path, ".soul") && !is_lua) {
        (void)trim_end(&path, ".ts");
    }
    return path;
}
