// See place_file.h. Folders are opened one inside the other without following links, and the last
// step is a rename within the open folder: whatever changes on disk in the meantime, nothing
// outside the place is reached.
#define _GNU_SOURCE
#include "server/build/place/place_file.h"

#include "core/base/check.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 160
#define ASIDE      ".sandlot-%ld-" // with the process

static Status status_of(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return STATUS_NOT_FOUND;
    case ELOOP:
        return STATUS_DENIED;
    case EEXIST:
        return STATUS_EXISTS;
    default:
        return STATUS_BLOCKED;
    }
}

// --- the way there ------------------------------------------------------------------------------

// Takes the next name of the path; false: it is not valid.
static bool take_name(const char **path, char name[NAME_BYTES])
{
    const size_t bytes = strcspn(*path, "/");
    if (bytes == 0 || bytes >= NAME_BYTES || (*path)[0] == '.' ||
        memchr(*path, '\\', bytes) != NULL) {
        return false;
    }
    memcpy(name, *path, bytes);
    name[bytes] = '\0';
    *path += bytes;
    return true;
}

static bool is_path(const char *path)
{
    char name[NAME_BYTES];
    if (strlen(path) >= PLACE_FILE_PATH_BYTES) {
        return false;
    }
    while (take_name(&path, name)) {
        if (*path == '\0') {
            return true;
        }
        path += 1; // the slash
    }
    return false;
}

static int open_folder(int parent, const char *name, bool make)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    int folder = openat(parent, name, flags);
    if (folder < 0 && errno == ENOENT && make &&
        (mkdirat(parent, name, 0777) == 0 || errno == EEXIST)) {
        folder = openat(parent, name, flags);
    }
    if (folder < 0 && errno == ENOTDIR) {
        // A link to something that is not a folder looks like a file here; report which it is.
        struct stat about;
        const bool is_link =
            fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode);
        errno = is_link ? ELOOP : ENOTDIR;
    }
    return folder;
}

// Opens the folder that holds the file, and returns the file's name in it.
static Status open_parent(const char *place, const char *path, bool make, int *out,
                          char name[NAME_BYTES])
{
    if (!is_path(path)) {
        return STATUS_MALFORMED;
    }
    int folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return status_of(errno);
    }
    for (;;) {
        const bool more = take_name(&path, name);
        ASSERT(more);
        if (*path == '\0') {
            *out = folder;
            return STATUS_OK;
        }
        path += 1;
        const int inner = open_folder(folder, name, make);
        const int error = errno;
        close(folder);
        if (inner < 0) {
            return status_of(error);
        }
        folder = inner;
    }
}

// --- reading ------------------------------------------------------------------------------------

Status place_file_open(const char *place, const char *path, int *out)
{
    char name[NAME_BYTES];
    struct stat about;
    int folder;
    const Status status = open_parent(place, path, false, &folder, name);
    if (status != STATUS_OK) {
        return status;
    }
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const int error = errno;
    close(folder);
    if (file < 0) {
        return status_of(error);
    }
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        close(file);
        return STATUS_DENIED;
    }
    *out = file;
    return STATUS_OK;
}

Status place_file_read(const char *place, const char *path, size_t bytes_max, uint8_t **out,
                       size_t *bytes)
{
    int file = -1;
    Status status = place_file_open(place, path, &file);
    if (status == STATUS_OK) {
        status = file_read_open(file, bytes_max, out, bytes);
        close(file);
    }
    return status;
}

// --- writing ------------------------------------------------------------------------------------

static Status write_aside(int folder, const char *aside, mode_t mode, const void *data,
                          size_t bytes)
{
    const int file = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        return STATUS_BLOCKED;
    }
    const bool done = (mode == 0 || fchmod(file, mode) == 0) &&
                      file_write_whole(file, data, bytes) && fsync(file) == 0;
    close(file);
    return done ? STATUS_OK : STATUS_BLOCKED;
}

// Renames to a name that is not taken. Where the file system cannot do that, a second link does the
// same.
static Status rename_new(int folder, const char *aside, const char *name)
{
    if (renameat2(folder, aside, folder, name, RENAME_NOREPLACE) == 0) {
        return STATUS_OK;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return status_of(errno);
    }
    if (linkat(folder, aside, folder, name, 0) != 0) {
        return status_of(errno);
    }
    return unlinkat(folder, aside, 0) == 0 ? STATUS_OK : STATUS_BLOCKED;
}

static Status write_in(int folder, const char *name, const void *data, size_t bytes, bool is_new)
{
    struct stat about = {0};
    const bool exists = fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && S_ISLNK(about.st_mode)) {
        return STATUS_DENIED;
    }
    if (exists == is_new) {
        return is_new ? STATUS_EXISTS : STATUS_NOT_FOUND;
    }
    if (exists && !S_ISREG(about.st_mode)) {
        return STATUS_DENIED;
    }
    char aside[NAME_BYTES];
    snprintf(aside, sizeof aside, ASIDE "%016" PRIx64, (long)getpid(), entropy_u64());
    Status status = write_aside(folder, aside, is_new ? 0 : about.st_mode & 0777, data, bytes);
    if (status == STATUS_OK && is_new) {
        status = rename_new(folder, aside, name);
    } else if (status == STATUS_OK && renameat(folder, aside, folder, name) != 0) {
        status = status_of(errno);
    }
    if (status != STATUS_OK) {
        (void)unlinkat(folder, aside, 0);
        return status;
    }
    return fsync(folder) == 0 ? STATUS_OK : STATUS_BLOCKED;
}

Status place_file_write(const char *place, const char *path, const void *data, size_t bytes,
                        bool is_new)
{
    char name[NAME_BYTES];
    int folder;
    Status status = open_parent(place, path, is_new, &folder, name);
    if (status == STATUS_OK) {
        status = write_in(folder, name, data, bytes, is_new);
        close(folder);
    }
    return status;
}

// The folders above it that are empty now go too: a package knows of none.
static void delete_empty_folders(const char *place, const char *path)
{
    char above[PLACE_FILE_PATH_BYTES], name[NAME_BYTES];
    snprintf(above, sizeof above, "%s", path);
    for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
        int folder;
        *slash = '\0';
        if (open_parent(place, above, false, &folder, name) != STATUS_OK) {
            return;
        }
        const bool is_gone = unlinkat(folder, name, AT_REMOVEDIR) == 0;
        close(folder);
        if (!is_gone) {
            return;
        }
    }
}

Status place_file_delete(const char *place, const char *path)
{
    char name[NAME_BYTES];
    struct stat about;
    int folder;
    Status status = open_parent(place, path, false, &folder, name);
    if (status != STATUS_OK) {
        return status;
    }
    if (fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        status = status_of(errno);
    } else if (!S_ISREG(about.st_mode)) {
        status = STATUS_DENIED;
    } else if (unlinkat(folder, name, 0) != 0 || fsync(folder) != 0) {
        status = STATUS_BLOCKED;
    }
    close(folder);
    if (status == STATUS_OK) {
        delete_empty_folders(place, path);
    }
    return status;
}

bool place_file_is_aside(const char *name)
{
    char ours[NAME_BYTES];
    snprintf(ours, sizeof ours, ASIDE, (long)getpid());
    return strncmp(name, ours, strlen(ours)) == 0;
}
