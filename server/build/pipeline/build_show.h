// What a person sees of a build, on standard error: how far it is, and what it has to say about
// which file. On a terminal progress is one line that changes; elsewhere it is a line a second,
// once it has taken that long.
#pragma once

#include "server/build/base/diagnostic.h"
#include "server/build/pipeline/build.h"

typedef struct BuildShow {
    bool is_terminal;
    bool has_line; // on a terminal: something to wipe
    uint64_t told_ns;
} BuildShow;

BuildShow build_show_begin(void);
// For BuildRequest.progress, with a BuildShow as its user.
void build_show_progress(void *user, const BuildProgress *progress);
void build_show_end(BuildShow *show);
// What there is and what was done for it: "6 scripts, 1 compiled, 2 assets; 1 warning (61 ms)".
#define BUILD_SHOW_BYTES 200
void build_show_counts(const BuildResult *result, char out[BUILD_SHOW_BYTES]);
// A line each, with the file as it is reached from here: `place` is the folder as it was named.
void build_show_diagnostics(const DiagnosticList *list, const char *place);
