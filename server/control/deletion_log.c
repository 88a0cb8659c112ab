// See deletion_log.h.
#define _GNU_SOURCE
#include "server/control/deletion_log.h"

#include "server/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LOG_BYTES_MAX (64u << 20) // a million and more
#define LINE_BYTES    48          // two numbers of 20 digits, tab, newlines

// --- writing ------------------------------------------------------------------------------------

// A line that was cut off must not become the beginning of this one.
static bool ends_in_line(int file)
{
    char last = '\n';
    const off_t end = lseek(file, 0, SEEK_END);
    return end <= 0 || (pread(file, &last, 1, end - 1) == 1 && last == '\n');
}

static bool append(int file, uint64_t account, uint64_t unix_ms)
{
    char line[LINE_BYTES];
    if (flock(file, LOCK_EX) != 0) {
        return false;
    }
    const int bytes = snprintf(line, sizeof line, "%s%" PRIu64 "\t%" PRIu64 "\n",
                               ends_in_line(file) ? "" : "\n", account, unix_ms);
    return file_write_whole(file, line, (size_t)bytes) && fsync(file) == 0;
}

Status deletion_log_append(const char *data, uint64_t account, uint64_t unix_ms)
{
    const int folder = open(data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return STATUS_BLOCKED;
    }
    const int file = openat(folder, DELETION_LOG_NAME,
                            O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    // The name too: it may be the first line.
    const bool done = file >= 0 && append(file, account, unix_ms) && fsync(folder) == 0;
    if (file >= 0) {
        close(file);
    }
    close(folder);
    return done ? STATUS_OK : STATUS_BLOCKED;
}

// --- reading ------------------------------------------------------------------------------------

static bool read_number(const char **at, uint64_t *out)
{
    char *end = NULL;
    if (**at < '0' || **at > '9') {
        return false;
    }
    errno = 0;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return errno == 0;
}

// Whether these bytes could be the beginning of a line.
static bool is_cut_line(const char *line, size_t bytes)
{
    const size_t account = strspn(line, "0123456789");
    const size_t time = account < bytes ? strspn(line + account + 1, "0123456789") : 0;
    return account == bytes || (line[account] == '\t' && account + 1 + time == bytes);
}

static bool read_line(const char *line, size_t bytes, Deletion *out)
{
    const char *at = line;
    return read_number(&at, &out->account) && *at == '\t' && (at += 1, true) &&
           read_number(&at, &out->unix_ms) && at == line + bytes;
}

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (const char *at = strchr(text, '\n'); at != NULL; at = strchr(at + 1, '\n')) {
        count += 1;
    }
    return count;
}

static Status read_lines(char *text, size_t bytes, DeletionLog *out)
{
    DeletionLog log = {.entries = calloc(count_lines(text) + 1, sizeof *log.entries)};
    if (log.entries == NULL) {
        return STATUS_LIMIT;
    }
    Status status = strlen(text) == bytes ? STATUS_OK : STATUS_MALFORMED;
    for (char *at = text; *at != '\0' && status == STATUS_OK;) {
        const size_t length = strcspn(at, "\n");
        const bool is_ended = at[length] == '\n';
        at[length] = '\0';
        if (is_ended && read_line(at, length, &log.entries[log.count])) {
            log.count += 1;
        } else if (is_cut_line(at, length)) {
            log.cut_count += 1;
        } else {
            status = STATUS_MALFORMED;
        }
        at += length + (is_ended ? 1 : 0);
    }
    if (status != STATUS_OK) {
        free(log.entries);
        return status;
    }
    *out = log;
    return STATUS_OK;
}

Status deletion_log_read(const char *path, DeletionLog *out)
{
    uint8_t *text = NULL;
    size_t bytes = 0;
    Status status = file_read(path, LOG_BYTES_MAX, &text, &bytes);
    if (status == STATUS_OK) {
        status = read_lines((char *)text, bytes, out);
        free(text);
    }
    return status;
}
