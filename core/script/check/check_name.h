// What the name of a file says about a script: its service, where it runs, and whether it can be a
// script's name at all. Nothing is read.
#pragma once

#include "core/script/check/check_tell.h"
#include "core/wire/script_path.h"

#include <stdbool.h>

#define CHECK_PATH_BYTES 128 // SCRIPT_PATH_BYTES

typedef enum SoulLanguage {
    SOUL_LUA,        // .lua
    SOUL_TYPESCRIPT, // .ts
    SOUL_PLAIN,      // .soul
    SOUL_LUAU,       // .luau, which becomes Lua while it is compiled (core/script/luau)
    SOUL_LANGUAGE_COUNT
} SoulLanguage;

typedef struct CheckModule {
    char path[CHECK_PATH_BYTES]; // "Workspace/Door"
    SoulLanguage language;
    ScriptService service;
    RunContext context; // the service's, until place.json narrows it
} CheckModule;

// Of a file that is too large: its bytes (unsigned long long), and how many it may have (size_t).
#define CHECK_NAME_LARGE_TEXT "has %llu bytes, a file of its kind may have %zu"

extern const char *const check_language_endings[SOUL_LANGUAGE_COUNT];

// Whether the build makes a file of Lua of it: TypeScript and plain language.
bool check_language_is_made(SoulLanguage language);
RunContext check_service_context(ScriptService service);
// Takes a side away, or leaves it as it is; false, and nothing is changed: that would widen it.
bool check_narrow(RunContext *context, RunContext wanted);
// "SoulService/Workspace/Door.lua" → "Workspace/Door" and the rest. False: it is no script (what
// was made of a plain soul, Door.soul.lua, is none), or it cannot be one, and why is told.
bool check_name_read(const char *file, const CheckSink *sink, CheckModule *out);
