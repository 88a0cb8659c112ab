// Journals of worlds, written by a thread of their own: a slow disk delays no world. What waits is
// bounded; a journal for which there is no room ends, and says so in the log.
#pragma once

#include "server/channel/journal_file.h"

typedef struct JournalWriter JournalWriter;
typedef struct Journal Journal;

// The log is called on the writer's thread.
typedef void (*JournalLog)(const char *text);
MUST_USE Status journal_writer_create(JournalLog log, JournalWriter **out);
void journal_writer_destroy(JournalWriter *writer); // writes what waits; NULL is allowed

// Begins a new file with these bytes. NULL: no memory.
Journal *journal_begin(JournalWriter *writer, const char *path, uint64_t bytes_max,
                       const void *header, size_t header_bytes, const void *entries,
                       size_t entry_bytes);
// `gap`: something is missing before these bytes, so the file ends here.
void journal_append(Journal *journal, const void *bytes, size_t count, bool gap);
void journal_close(Journal *journal); // NULL is allowed; it is freed once everything is written
