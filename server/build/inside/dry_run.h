// A script tried out in the worker before anybody meets it: its top level runs in the small world
// of `sandlot script`, with a budget.
#pragma once

#include "server/build/base/diagnostic.h"
#include "server/build/place/soul.h"

typedef struct DryRunModule {
    char path[SCRIPT_PATH_BYTES];
    uint8_t *rune;
    size_t rune_bytes;
} DryRunModule;

typedef struct DryRun {
    const char *path, *file;
    RunContext context;
    const uint8_t *rune;
    size_t rune_bytes;
    const DryRunModule *modules; // what it can require; they ask for nothing of a place either
    uint32_t module_count;
    bool asks_place; // it asks for things of its own place, or for modules that are not here
} DryRun;

// A fault becomes a warning. Modules are not tried out by themselves; of a script that asks for
// things of its own place only faults of the budget or memory count.
void worker_dry_run(const DryRun *run, DiagnosticList *diagnostics);
