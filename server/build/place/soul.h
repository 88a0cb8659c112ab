// The souls (sources of scripts) of a place: which files they are, in which service, where they
// run. Only names are looked at; what is inside a file is the worker's to read.
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
    RunContext context; // the service's, until place.json narrows it (ask_contexts.h)
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

// Everything wrong is a diagnostic: a script in no service (names the services), two sources for
// one name, a name that cannot be one, too many. `Door.soul.lua` is what was made of `Door.soul`,
// no soul of its own. STATUS_LIMIT: out of memory.
MUST_USE Status soul_scan(const PlaceFolder *folder, SoulList *out, DiagnosticList *diagnostics);
// Takes a side away, or leaves it as it is; false, and nothing is changed: that would widen it.
bool soul_narrow(Soul *soul, RunContext context);
// Too many for clients is a diagnostic; once it is known which they are.
void soul_check_counts(const SoulList *list, DiagnosticList *diagnostics);
void soul_list_free(SoulList *list);
// A file that is none of those a build reads: one of a service that only looks like a script is a
// warning.
void soul_check_skipped(const char *path, DiagnosticList *diagnostics);
