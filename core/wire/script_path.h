// The path that identifies a script everywhere, "Workspace/Door", from the forms that scenes and
// files use: with `SoulService/` or `.sandlot/server/soul/` (where a build puts generated Lua)
// before it, and `.lua`, `.luau`, `.ts`, `.soul` or `.soul.lua` after it. And the services, the
// folders that scripts are in; their meaning is defined where they are used.
#pragma once

#include <stddef.h>

// In the order in which a client loads them; the last one is never sent to clients.
typedef enum ScriptService {
    SERVICE_REPLICATED_FIRST,   // runs before the rest is there
    SERVICE_REPLICATED_STORAGE, // modules: they run by require alone
    SERVICE_WORKSPACE,
    SERVICE_STARTER_PLAYER,
    SERVICE_STARTER_GUI,
    SERVICE_SERVER_SCRIPT, // ServerScriptService
    SERVICE_COUNT
} ScriptService;

// Where a script runs. A place may restrict its service's context, never widen it.
typedef enum RunContext { CONTEXT_SERVER, CONTEXT_CLIENT, CONTEXT_BOTH, CONTEXT_COUNT } RunContext;

extern const char *const run_context_names[CONTEXT_COUNT]; // as manifests have them

extern const char *const script_service_names[SERVICE_COUNT];
#define SCRIPT_SERVICES_TEXT                                                           \
    "ServerScriptService, ReplicatedStorage, Workspace, StarterGui, StarterPlayer or " \
    "ReplicatedFirst"
#define SCRIPT_SOUL_FOLDER "SoulService/" // may stand before a service
// What Lua that was made from TypeScript requires; nobody of the place has written it.
#define SCRIPT_TYPESCRIPT_LIBRARY "ReplicatedStorage/lualib_bundle"

typedef struct ScriptPath {
    const char *data; // into the text; not terminated
    size_t bytes;
} ScriptPath;

// Accepts any text; a text that is only an ending or a folder is not changed.
ScriptPath script_path_trim(const char *text, size_t bytes);
// The bytes of SCRIPT_SOUL_FOLDER, if the path begins with it and goes on, or 0.
size_t script_path_soul_bytes(const char *text, size_t bytes);
// The service of "Workspace/Door"; SERVICE_COUNT: none, or nothing is behind it.
ScriptService script_path_service(const char *path, size_t bytes);
// "@fire/part" names a module of a spell: "ReplicatedStorage/spells/fire/part". Gives its bytes; 0:
// it names none, or does not fit.
#define SCRIPT_SPELL_FOLDER "ReplicatedStorage/spells/"
size_t script_path_spell(const char *text, size_t bytes, char *out, size_t capacity);
