// Files: reading and writing whole ones, folders, and memory that another process can map. A write
// is on disk when the function returns: temporary file, fsync, rename, fsync of the folder.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Reads into a block that the caller frees, with a zero after the last byte. STATUS_NOT_FOUND;
// STATUS_LIMIT if it is larger than `bytes_max`; STATUS_BLOCKED if the system refuses. A symbolic
// link is not followed.
MUST_USE Status file_read(const char *path, size_t bytes_max, uint8_t **out, size_t *bytes);
// The same for a file that must belong to our user and must not have the permissions in
// `forbidden`. Otherwise STATUS_DENIED.
MUST_USE Status file_read_own(const char *path, uint32_t forbidden, size_t bytes_max, uint8_t **out,
                              size_t *bytes);
// The same for an open descriptor.
MUST_USE Status file_read_open(int file, size_t bytes_max, uint8_t **out, size_t *bytes);
// Reads exactly so many bytes; false: errno says why, or the file is shorter.
bool file_read_whole(int file, void *data, size_t bytes);
bool file_write_whole(int file, const void *data, size_t bytes);
// Writes a file that only its owner can read, completely or not at all. Replaces a regular file or
// a link, nothing else (no device, no pipe); errno says what was in the way.
MUST_USE Status file_write_private(const char *path, const void *data, size_t bytes);
// The same with the permissions of the process's umask.
MUST_USE Status file_write_shared(const char *path, const void *data, size_t bytes);
// Why nothing can be written in a folder: "the disk is full", "the disk is read-only"; NULL if it
// is neither. For messages: it checks the disk, not the write that failed.
const char *file_disk_problem(const char *folder);
MUST_USE Status
file_make_folders(const char *path); // for the owner alone; existing ones are not changed
// Makes a folder in an open one, for the owner alone, unless it is there, and opens it; -1: it is
// no folder, or cannot be made. A symbolic link is not followed.
int file_make_folder_in(int folder, const char *name);
void file_close(int file); // -1: there is nothing to close
// Where the last name of a path begins; returns its length, without slashes at its end.
size_t file_last_name(const char *path, size_t *begin);
// Locks a file as long as the descriptor is open. STATUS_EXISTS: another process holds the lock.
MUST_USE Status file_lock(const char *path, int *descriptor);
// The same in an open folder.
MUST_USE Status file_lock_in(int folder, const char *name, int *descriptor);

// Memory as a sealed descriptor that nobody can change. In two parts; either may be empty.
MUST_USE Status file_memory(const char *name, const void *first, size_t first_bytes,
                            const void *second, size_t second_bytes, int *descriptor);
// Maps all of a descriptor that file_memory made; read only, for the life of the process.
MUST_USE Status file_map(int descriptor, const uint8_t **out, size_t *bytes);
