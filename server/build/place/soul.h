// The souls (sources of scripts) of a place: which files they are, in which service, where they
// run. Only names are used here; the worker reads the contents.
#pragma once

#include "core/base/limits.h"
#include "core/script/check/check_name.h"
#include "core/script/runtime/script.h"
#include "core/wire/script_path.h"
#include "server/build/base/diagnostic.h"
#include "server/build/place/place_folder.h"

#define SOULS_MAX CHECK_MODULES_MAX

typedef ScriptService SoulService;

typedef struct Soul {
    char path[SCRIPT_PATH_BYTES]; // "Workspace/Door": the script's name everywhere
    const PlaceFile *file;        // "SoulService/Workspace/Door.ts"
    SoulLanguage language;
    SoulService service;
    RunContext context; // the service's, unless place.json restricts it (ask_contexts.h)
    bool replicate;     // never for CONTEXT_SERVER
} Soul;

typedef struct SoulList {
    Soul *items; // sorted by path; free with soul_list_free
    uint32_t count;
} SoulList;

const char *soul_service_name(SoulService service);
const char *soul_context_name(RunContext context);
const char *soul_language_ending(SoulLanguage language); // ".lua"
RunContext soul_service_context(SoulService service);

// Every problem is a diagnostic: a script in no service (lists the services), two sources for one
// name, an invalid name, too many. `Door.soul.lua` was generated from `Door.soul` and is not a soul
// itself. STATUS_LIMIT: out of memory.
MUST_USE Status soul_scan(const PlaceFolder *folder, SoulList *out, DiagnosticList *diagnostics);
// Removes a side, or leaves the context as it is. False, and nothing is changed: that would widen
// it.
bool soul_restrict_context(Soul *soul, RunContext context);
// Reports too many scripts for clients; call it when the contexts are final.
void soul_check_counts(const SoulList *list, DiagnosticList *diagnostics);
void soul_list_free(SoulList *list);
// For a file that builds do not read: if it is in a service and looks like a script, it is a
// warning.
void soul_check_skipped(const char *path, DiagnosticList *diagnostics);
