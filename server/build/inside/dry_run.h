// Tries out a script in the worker before it is published: its top level runs in the small world of
// `sandlot script`, with a budget.
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
    const DryRunModule *modules; // what it can require; they do not use the place either
    uint32_t module_count;
    bool asks_place; // it uses things of its place, or modules that are not here
} DryRun;

// A fault becomes a warning. Modules are not tried out by themselves. If a script uses things of
// its place, only faults of the budget or of memory count.
void worker_dry_run(const DryRun *run, DiagnosticList *diagnostics);
