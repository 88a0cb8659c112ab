// Shows a build to a person, on standard error: progress, and diagnostics with their files. On a
// terminal progress is one line that is rewritten; elsewhere it is a line per second, after the
// first second.
#pragma once

#include "server/build/base/diagnostic.h"
#include "server/build/pipeline/build.h"

typedef struct BuildShow {
    bool is_terminal;
    bool has_line; // on a terminal: there is a line to erase
    uint64_t told_ns;
} BuildShow;

BuildShow build_show_begin(void);
// For BuildRequest.progress, with a BuildShow as its user.
void build_show_progress(void *user, const BuildProgress *progress);
void build_show_end(BuildShow *show);
// What there is and what was done: "6 scripts, 1 compiled, 2 assets; 1 warning (61 ms)".
#define BUILD_SHOW_BYTES 200
void build_show_counts(const BuildResult *result, char out[BUILD_SHOW_BYTES]);
// One line each, with the file as it is reached from the current folder: `place` is the folder as
// the user named it.
void build_show_diagnostics(const DiagnosticList *list, const char *place);
