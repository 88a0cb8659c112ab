// See journal_file.h.
#define _GNU_SOURCE
#include "server/channel/journal_file.h"

#include "server/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

Status journal_file_open(JournalFile *file, const char *path, uint64_t bytes_max)
{
    char before[PATH_BYTES];
    const int length = snprintf(before, sizeof before, "%s.before", path);
    if (length < 0 || (size_t)length >= sizeof before) {
        return STATUS_RANGE;
    }
    if (rename(path, before) != 0 && errno != ENOENT) {
        return STATUS_BLOCKED;
    }
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) {
        return STATUS_BLOCKED;
    }
    *file = (JournalFile){.descriptor = descriptor, .bytes_max = bytes_max};
    return STATUS_OK;
}

Status journal_file_append(JournalFile *file, const void *bytes, size_t count)
{
    if (file->descriptor < 0 || file->ended) {
        return STATUS_OK;
    }
    if (count > file->bytes_max - file->bytes) {
        file->ended = true;
        return STATUS_LIMIT;
    }
    if (!file_write_whole(file->descriptor, bytes, count)) {
        file->ended = true;
        return STATUS_BLOCKED;
    }
    file->bytes += count;
    return STATUS_OK;
}

void journal_file_end(JournalFile *file)
{
    file->ended = true;
}

void journal_file_close(JournalFile *file)
{
    if (file->descriptor >= 0) {
        close(file->descriptor);
    }
    *file = (JournalFile){.descriptor = -1};
}
