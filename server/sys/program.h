// Where this program is, and so which files belong to it: those of the source tree that it was
// built in, or of the installation that it is in. Only these: files in a folder above, or in the
// current one, may be anybody's.
#pragma once

#include <stdbool.h>

#define PROGRAM_PATH_BYTES 4096

// <root>/build/…/sandlot, with the nearest folder of that name. False: not in a source tree.
bool program_source_root(char out[PROGRAM_PATH_BYTES]);
// <prefix>/bin/sandlot.
bool program_prefix(char out[PROGRAM_PATH_BYTES]);
// <root>/<in_tree> or <prefix>/<shared>, whichever has a file `name` in it.
bool program_folder(const char *in_tree, const char *shared, const char *name,
                    char out[PROGRAM_PATH_BYTES]);
