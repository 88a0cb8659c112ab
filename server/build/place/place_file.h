// One file of a place's folder, read and written whole. A path is relative, with slashes; nothing
// in it may be a link, begin with a dot, or lead out. What is written appears at once under its
// name or not at all, and is on disk then.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACE_FILE_PATH_BYTES 160

// STATUS_MALFORMED: no path of a place. STATUS_DENIED: a link is in the way, or no plain file.
// STATUS_NOT_FOUND; STATUS_LIMIT above bytes_max; STATUS_BLOCKED: the system refuses. Free with
// free(); a zero is after the last byte.
MUST_USE Status place_file_read(const char *place, const char *path, size_t bytes_max,
                                uint8_t **out, size_t *bytes);
// The same file, open for reading; the caller's to close. It is a plain one.
MUST_USE Status place_file_open(const char *place, const char *path, int *out);
// `is_new`: folders are made as needed, and STATUS_EXISTS if the name is taken, also by somebody
// who came a moment before. Otherwise the file must be there and keeps its permissions.
MUST_USE Status place_file_write(const char *place, const char *path, const void *data,
                                 size_t bytes, bool is_new);
// Is it a name under which this process writes, before it renames? So whoever watches a place tells
// what was written here from what somebody else saved.
bool place_file_is_aside(const char *name);
