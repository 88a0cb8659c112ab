// A data folder as one file, and back. The file is a tar, so everybody can look into it:
//
//   sandlot.db        one state of the database, copied while a host may be writing
//   blobs/ab/cdef…    then what rows of that state name; files of this kind never change
//   ticket.key, …     then everything else that is kept: keys, host identity, settings
//   manifest.txt      at the end: when, by which program, and the SHA-256 of every file before it
//
// The database is first: a blob is stored before the row that names it, so every row of the copy
// finds its blob. Left out is what can be made again (cache) or belongs to one run (journal,
// locks). A file that this program does not know is included: forgetting one would lose it.
//
// A backup appears whole or not at all, readable by its owner alone: it holds the keys. A restored
// folder appears whole or not at all too, after every file was compared with the manifest.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKUP_REASON_BYTES  512
#define BACKUP_PATH_BYTES    4096
#define BACKUP_VERSION_BYTES 32
#define BACKUP_TIME_BYTES    24 // 2026-11-16T05:30:00Z

typedef struct BackupFacts {
    char time[BACKUP_TIME_BYTES]; // when the backup began, UTC
    char program[BACKUP_VERSION_BYTES];
    uint32_t schema; // of the database in it
    uint64_t file_count, bytes;
    uint32_t deletion_count; // that were made again
    uint32_t skipped_count;  // links and other things that are no files or folders
} BackupFacts;

// On failure `reason` says what happened and what to do; the file is as it was before.
// `is_cancelled` may be NULL.
MUST_USE Status backup_write(const char *data, const char *file, const char *program,
                             bool (*is_cancelled)(void), BackupFacts *facts,
                             char reason[BACKUP_REASON_BYTES]);
// Into a folder that must not exist or be empty. `deletions` may be NULL.
MUST_USE Status backup_restore(const char *file, const char *data, const char *deletions,
                               bool (*is_cancelled)(void), BackupFacts *facts,
                               char reason[BACKUP_REASON_BYTES]);
