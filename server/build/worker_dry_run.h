// A script tried out in the worker before anybody meets it: its top level runs in the small world
// of `sandlot script`, with a budget.
#pragma once

#include "core/script/lint.h"
#include "server/build/diagnostic.h"
#include "server/build/soul.h"

// A fault becomes a warning. Modules are left out, because nobody requires them here; so are faults
// of scripts that ask for things of their own place, unless the fault is of the budget or memory.
void worker_dry_run(const char *path, const char *file, RunContext context, const LintResult *lint,
                    const uint8_t *rune, size_t bytes, DiagnosticList *diagnostics);
// "Workspace/Door:12: what" → what, and the line if there is one: diagnostics have those apart.
const char *worker_split_message(const char *path, const char *message, uint32_t *line);
