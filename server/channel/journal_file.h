// The file that a host appends a world's journal to, without reading it (journal_replay.h says what
// is in it). A world can only be rebuilt from its beginning, so a file begins with one; the file of
// the run before is kept beside it.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct JournalFile {
    int descriptor; // -1: none
    uint64_t bytes, bytes_max;
    bool ended; // full, or something is missing: nothing more is written
} JournalFile;

// Begins a new file; the one that is there becomes `<path>.before`.
MUST_USE Status journal_file_open(JournalFile *file, const char *path, uint64_t bytes_max);
// STATUS_LIMIT once, when the file is full; STATUS_BLOCKED once, when the disk refuses. What is
// there already stays good.
MUST_USE Status journal_file_append(JournalFile *file, const void *bytes, size_t count);
void journal_file_end(JournalFile *file); // there is a gap: what follows would lead astray
void journal_file_close(JournalFile *file);
