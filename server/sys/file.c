// See file.h.
#define _GNU_SOURCE
#include "server/sys/file.h"

#include "core/base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PATH_BYTES       4096
#define DISK_LEAST_BYTES (64u << 10) // with less than that a database cannot work

// --- reading ------------------------------------------------------------------------------------

bool file_read_whole(int file, void *data, size_t bytes)
{
    uint8_t *to = data;
    size_t at = 0;
    while (at < bytes) {
        const ssize_t got = read(file, to + at, bytes - at);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        at += got > 0 ? (size_t)got : 0;
    }
    return true;
}

Status file_read_open(int file, size_t bytes_max, uint8_t **out, size_t *bytes)
{
    struct stat about;
    if (fstat(file, &about) != 0) {
        return STATUS_BLOCKED;
    }
    if (!S_ISREG(about.st_mode)) {
        errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
        return STATUS_BLOCKED;
    }
    if (about.st_size < 0 || (uint64_t)about.st_size > bytes_max) {
        return STATUS_LIMIT;
    }
    const size_t size = (size_t)about.st_size;
    uint8_t *block = malloc(size + 1);
    if (block == NULL || !file_read_whole(file, block, size)) {
        free(block);
        return STATUS_BLOCKED;
    }
    block[size] = 0;
    *out = block;
    *bytes = size;
    return STATUS_OK;
}

Status file_read(const char *path, size_t bytes_max, uint8_t **out, size_t *bytes)
{
    // A pipe without a writer is opened, too, and then rejected, instead of blocking.
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        return errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND : STATUS_BLOCKED;
    }
    const Status status = file_read_open(file, bytes_max, out, bytes);
    close(file);
    return status;
}

Status file_read_own(const char *path, uint32_t forbidden, size_t bytes_max, uint8_t **out,
                     size_t *bytes)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) {
        return errno == ENOENT || errno == ENOTDIR ? STATUS_NOT_FOUND : STATUS_BLOCKED;
    }
    // Checked on the open file itself.
    const bool is_own =
        fstat(file, &about) == 0 && about.st_uid == geteuid() && (about.st_mode & forbidden) == 0;
    const Status status = is_own ? file_read_open(file, bytes_max, out, bytes) : STATUS_DENIED;
    close(file);
    return status;
}

size_t file_last_name(const char *path, size_t *begin)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') {
        end -= 1;
    }
    *begin = end;
    while (*begin > 0 && path[*begin - 1] != '/') {
        *begin -= 1;
    }
    return end - *begin;
}

// --- writing ------------------------------------------------------------------------------------

bool file_write_whole(int file, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    while (bytes > 0) {
        const ssize_t put = write(file, at, bytes);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        at += put > 0 ? put : 0;
        bytes -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

// Syncs the folder, so that the name is on disk too.
static bool sync_folder_of(const char *path)
{
    char folder[PATH_BYTES];
    const char *slash = strrchr(path, '/');
    const size_t bytes = slash == NULL ? 0 : (size_t)(slash - path);
    if (bytes >= sizeof folder) {
        return false;
    }
    memcpy(folder, path, bytes);
    folder[bytes] = '\0';
    const char *name = slash == NULL ? "." : bytes == 0 ? "/" : folder;
    const int open_folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (open_folder < 0) {
        return false;
    }
    const bool done = fsync(open_folder) == 0;
    close(open_folder);
    return done;
}

// Replacing a device or a pipe would remove it for everybody: root's `-o /dev/null`, for example.
static bool may_replace(const char *path)
{
    struct stat about;
    if (lstat(path, &about) != 0) {
        return errno == ENOENT;
    }
    if (S_ISREG(about.st_mode) || S_ISLNK(about.st_mode)) {
        return true;
    }
    errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    return false;
}

static Status write_whole(const char *path, const void *data, size_t bytes, mode_t mode)
{
    char temporary[PATH_BYTES];
    if (!may_replace(path)) {
        return STATUS_BLOCKED;
    }
    // By thread: two builds of the same package write the same file at once.
    const int length = snprintf(temporary, sizeof temporary, "%s.%d", path, (int)gettid());
    if (length < 0 || (size_t)length >= sizeof temporary) {
        return STATUS_RANGE;
    }
    (void)unlink(temporary); // of an earlier process that was interrupted
    const int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0) {
        return STATUS_BLOCKED;
    }
    const bool written = file_write_whole(file, data, bytes) && fsync(file) == 0;
    close(file);
    if (!written || rename(temporary, path) != 0 || !sync_folder_of(path)) {
        const int error = errno;
        (void)unlink(temporary);
        errno = error; // callers print it
        return STATUS_BLOCKED;
    }
    return STATUS_OK;
}

Status file_write_private(const char *path, const void *data, size_t bytes)
{
    return write_whole(path, data, bytes, 0600);
}

Status file_write_shared(const char *path, const void *data, size_t bytes)
{
    return write_whole(path, data, bytes, 0666);
}

const char *file_disk_problem(const char *folder)
{
    struct statvfs about;
    if (statvfs(folder, &about) != 0) {
        return NULL;
    }
    if ((about.f_flag & ST_RDONLY) != 0) {
        return "the disk is read-only";
    }
    const uint64_t blocks = geteuid() == 0 ? about.f_bfree : about.f_bavail;
    return blocks * about.f_frsize < DISK_LEAST_BYTES ? "the disk is full" : NULL;
}

Status file_make_folders(const char *path)
{
    char part[PATH_BYTES];
    const size_t bytes = strlen(path);
    if (bytes == 0 || bytes >= sizeof part) {
        return STATUS_RANGE;
    }
    for (size_t i = 1; i <= bytes; i++) {
        if (path[i] != '/' && path[i] != '\0') {
            continue;
        }
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0700) != 0 && errno != EEXIST) {
            return STATUS_BLOCKED;
        }
    }
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode) ? STATUS_OK : STATUS_BLOCKED;
}

Status file_lock(const char *path, int *descriptor)
{
    return file_lock_in(AT_FDCWD, path, descriptor);
}

Status file_lock_in(int folder, const char *name, int *descriptor)
{
    const int file =
        openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) {
        return STATUS_BLOCKED;
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        close(file);
        return STATUS_EXISTS;
    }
    *descriptor = file;
    return STATUS_OK;
}

// --- memory -------------------------------------------------------------------------------------

Status file_memory(const char *name, const void *first, size_t first_bytes, const void *second,
                   size_t second_bytes, int *descriptor)
{
    const int memory = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0) {
        return STATUS_LIMIT;
    }
    const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (!file_write_whole(memory, first, first_bytes) ||
        !file_write_whole(memory, second, second_bytes) || fcntl(memory, F_ADD_SEALS, seals) != 0) {
        close(memory);
        return STATUS_LIMIT;
    }
    *descriptor = memory;
    return STATUS_OK;
}

Status file_map(int descriptor, const uint8_t **out, size_t *bytes)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0 || about.st_size < 0) {
        return STATUS_MALFORMED;
    }
    *bytes = (size_t)about.st_size;
    if (*bytes == 0) {
        *out = (const uint8_t *)"";
        return STATUS_OK;
    }
    const void *mapped = mmap(NULL, *bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapped == MAP_FAILED) {
        return STATUS_LIMIT;
    }
    *out = mapped;
    return STATUS_OK;
}

int file_make_folder_in(int folder, const char *name)
{
    (void)mkdirat(folder, name, 0700); // may exist already; openat checks that it is a folder
    return openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

void file_close(int file)
{
    if (file >= 0) {
        close(file);
    }
}
