// The path by which a script is known everywhere, "Workspace/Door", from what a scene or a file may
// call it: with `SoulService/` or `.sandlot/server/soul/` (where a build puts the Lua it made)
// before it, and `.lua`, `.ts`, `.soul` or `.soul.lua` after it. And the services, the folders that
// scripts are in; what a service means is where it is used.
#pragma once

#include <stddef.h>

typedef enum ScriptService {
    SERVICE_SERVER_SCRIPT, // ServerScriptService
    SERVICE_REPLICATED_STORAGE,
    SERVICE_WORKSPACE,
    SERVICE_STARTER_GUI,
    SERVICE_STARTER_PLAYER,
    SERVICE_REPLICATED_FIRST,
    SERVICE_COUNT
} ScriptService;

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
