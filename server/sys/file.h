// Files: whole ones in and out, folders, and blocks of memory that another process can map. What is
// written is on disk when a function says so: temporary file, fsync, rename, fsync of the folder.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Into a block that the caller frees, with a zero after the last byte. STATUS_NOT_FOUND,
// STATUS_LIMIT when it is larger than `bytes_max`, STATUS_BLOCKED when the system refuses. A
// symbolic link is not followed.
MUST_USE Status file_read(const char *path, size_t bytes_max, uint8_t **out, size_t *bytes);
// The same of a file that must be our own user's, without these rights of others. STATUS_DENIED: it
// is not so.
MUST_USE Status file_read_own(const char *path, uint32_t forbidden, size_t bytes_max, uint8_t **out,
                              size_t *bytes);
// The same of an open descriptor.
MUST_USE Status file_read_open(int file, size_t bytes_max, uint8_t **out, size_t *bytes);
// Exactly so many bytes, however often it takes; false: errno says why, or the file is shorter.
bool file_read_whole(int file, void *data, size_t bytes);
bool file_write_whole(int file, const void *data, size_t bytes);
// Readable by its owner alone, whole or not at all. It takes the place of a plain file or a link,
// of nothing else (no device, no pipe); errno says what was in the way.
MUST_USE Status file_write_private(const char *path, const void *data, size_t bytes);
// The same for a file that is somebody's own: readable as the process's umask says.
MUST_USE Status file_write_shared(const char *path, const void *data, size_t bytes);
// Why nothing can be written in a folder: "the disk is full", "the disk is read-only"; NULL when it
// is neither. For messages: it looks at the disk, not at the write that failed.
const char *file_disk_problem(const char *folder);
MUST_USE Status
file_make_folders(const char *path); // for the owner alone; those that are there stay
// Holds a file locked as long as the descriptor is open. STATUS_EXISTS: somebody else holds it.
MUST_USE Status file_lock(const char *path, int *descriptor);
// The same in a folder that is open.
MUST_USE Status file_lock_in(int folder, const char *name, int *descriptor);

// Memory as a descriptor, sealed: nobody can change it any more. In two parts, either may be empty.
MUST_USE Status file_memory(const char *name, const void *first, size_t first_bytes,
                            const void *second, size_t second_bytes, int *descriptor);
// Maps all of a descriptor that file_memory made; read only, for the life of the process.
MUST_USE Status file_map(int descriptor, const uint8_t **out, size_t *bytes);
