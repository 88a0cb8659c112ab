// Reads and writes one file of a place's folder as a whole. A path is relative, with slashes; none
// of its names may be a link, begin with a dot, or lead out. A write appears under the name
// completely or not at all, and is synced.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACE_FILE_PATH_BYTES 160

// STATUS_MALFORMED: not a path of a place. STATUS_DENIED: a link is in the way, or it is not a
// regular file. STATUS_NOT_FOUND; STATUS_LIMIT above bytes_max; STATUS_BLOCKED: the system refuses.
// Free with free(); a zero follows the last byte.
MUST_USE Status place_file_read(const char *place, const char *path, size_t bytes_max,
                                uint8_t **out, size_t *bytes);
// Opens the file for reading; the caller closes it. It is a regular file.
MUST_USE Status place_file_open(const char *place, const char *path, int *out);
// `is_new`: folders are created as needed, and STATUS_EXISTS if the name is taken, even by somebody
// who was only a moment earlier. Otherwise the file must exist and keeps its permissions.
MUST_USE Status place_file_write(const char *place, const char *path, const void *data,
                                 size_t bytes, bool is_new);
// With the folders that are empty then. Gone for good when it returns STATUS_OK.
MUST_USE Status place_file_delete(const char *place, const char *path);
// Whether it is the name of a temporary file of this process. So a watcher can tell our own writes
// from those of others.
bool place_file_is_aside(const char *name);
