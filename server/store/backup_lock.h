// backup.lock in the data folder: what a running host leaves alone while `sandlot backup` reads.
//
//   held for writing   the database is being copied: the write-ahead log is not written back. The
//                      copy reads an old state, and writing the log back would wait for it.
//   held for reading   blobs and other files are being copied: no blob may be removed. Whoever
//                      removes blobs takes the lock for writing first.
//
// It is a lock of the open file (F_OFD_SETLK), so it ends with the process that holds it.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>

#define BACKUP_LOCK_NAME "backup.lock"

// For writing. STATUS_EXISTS: another backup of the same folder runs.
MUST_USE Status backup_lock_take(const char *path, int *lock);
// From writing to reading, without a gap.
MUST_USE Status backup_lock_share(int lock);
void backup_lock_release(int lock);

// The host's side. False: a database is being copied, leave the log alone. Else the log may be
// written back until backup_lock_leave; a backup that begins meanwhile waits for that.
bool backup_lock_enter(const char *path, int *lock);
void backup_lock_leave(int lock);
