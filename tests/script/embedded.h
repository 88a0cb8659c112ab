// Scripts that are compiled in; a table ends with an entry without a name.
#pragma once

#include <stddef.h>

typedef struct EmbeddedScript {
    const char *name;
    const char *text;
    size_t bytes;
} EmbeddedScript;

extern const EmbeddedScript hostile_scripts[];
extern const EmbeddedScript neighbour_scripts[];
extern const EmbeddedScript same_scripts[];
extern const EmbeddedScript api_scripts[];
// By their paths.
extern const EmbeddedScript check_files[];
extern const EmbeddedScript island_files[];
extern const EmbeddedScript luau_files[];
extern const EmbeddedScript task_files[];
