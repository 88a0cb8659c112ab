// The path by which a script is known everywhere, "Workspace/Door", from what a scene or a file may
// call it: with `SoulService/` or `.sandlot/server/soul/` (where a build puts the Lua it made)
// before it, and `.lua`, `.ts`, `.soul` or `.soul.lua` after it. And the services, the folders that
// scripts are in; what a service means is where it is used.
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

// Where a script runs. A place may narrow what the script's service says, never widen it.
typedef enum RunContext { CONTEXT_SERVER, CONTEXT_CLIENT, CONTEXT_BOTH, CONTEXT_COUNT } RunContext;

extern const char *const run_context_names[CONTEXT_COUNT]; // as manifests have them

extern const char *const script_service_names[SERVICE_COUNT];
#define SCRIPT_SERVICES_TEXT                                                           \
    "ServerScriptService, ReplicatedStorage, Workspace, StarterGui, StarterPlayer or " \
    "ReplicatedFirst"
#define SCRIPT_SOUL_FOLDER "SoulService/" // may stand before a service

typedef struct ScriptPath {
    const char *data; // into the text; not terminated
    size_t bytes;
} ScriptPath;

// Total; what has no more than an ending or a folder stays as it is.
ScriptPath script_path_trim(const char *text, size_t bytes);
// The bytes of SCRIPT_SOUL_FOLDER, if the path begins with it and goes on, or 0.
size_t script_path_soul_bytes(const char *text, size_t bytes);
// The service of "Workspace/Door"; SERVICE_COUNT: none, or nothing is behind it.
ScriptService script_path_service(const char *path, size_t bytes);
