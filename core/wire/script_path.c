// See script_path.h. One function, because every side must get the same name: a script with two
// names would be loaded twice, or not found, or not recognised as the server's own.
#include "core/wire/script_path.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

const char *const script_service_names[SERVICE_COUNT] = {
    [SERVICE_SERVER_SCRIPT] = "ServerScriptService",
    [SERVICE_REPLICATED_STORAGE] = "ReplicatedStorage",
    [SERVICE_WORKSPACE] = "Workspace",
    [SERVICE_STARTER_GUI] = "StarterGui",
    [SERVICE_STARTER_PLAYER] = "StarterPlayer",
    [SERVICE_REPLICATED_FIRST] = "ReplicatedFirst",
};

const char *const run_context_names[CONTEXT_COUNT] = {
    [CONTEXT_SERVER] = "Server", [CONTEXT_CLIENT] = "Client", [CONTEXT_BOTH] = "Both"};

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
        (void)trim_begin(&path, SCRIPT_SOUL_FOLDER);
    }
    // Door.soul.lua is the Lua of Door.soul.
    const bool is_lua = trim_end(&path, ".lua");
    if (!trim_end(&path, ".soul") && !is_lua) {
        (void)(trim_end(&path, ".ts") || trim_end(&path, ".luau"));
    }
    return path;
}

size_t script_path_soul_bytes(const char *text, size_t bytes)
{
    ScriptPath path = {text, bytes};
    (void)trim_begin(&path, SCRIPT_SOUL_FOLDER);
    return bytes - path.bytes;
}

ScriptService script_path_service(const char *path, size_t bytes)
{
    for (uint32_t i = 0; i < SERVICE_COUNT; i++) {
        const size_t name = strlen(script_service_names[i]);
        if (bytes > name + 1 && memcmp(path, script_service_names[i], name) == 0 &&
            path[name] == '/') {
            return (ScriptService)i;
        }
    }
    return SERVICE_COUNT;
}

size_t script_path_spell(const char *text, size_t bytes, char *out, size_t capacity)
{
    const size_t folder = sizeof SCRIPT_SPELL_FOLDER - 1;
    if (bytes < 2 || text[0] != '@' || folder + bytes - 1 >= capacity) {
        return 0;
    }
    memcpy(out, SCRIPT_SPELL_FOLDER, folder);
    memcpy(out + folder, text + 1, bytes - 1);
    out[folder + bytes - 1] = '\0';
    return folder + bytes - 1;
}
