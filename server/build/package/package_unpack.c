// Writes files into a folder, all or nothing: into a temporary folder beside it with a hidden name,
// which is synced and then renamed once. If this is interrupted there is nothing under the final
// name; what is left beside it is removed the next time.
// Every folder is opened inside the one before, without following links, so a change on disk in the
// meantime cannot lead elsewhere.
#define _GNU_SOURCE
#include "server/build/package/package.h"

#include "core/base/check.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASIDE           ".unpacking-" // .<name>.unpacking-<pid>
#define REMOVE_DEPTH    (PLACE_FOLDER_DEPTH_MAX + 2)
#define NAME_BYTES      256
#define FOLDER_AS_GIVEN (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define FOLDER_OF_OURS  (FOLDER_AS_GIVEN | O_NOFOLLOW)

// The target: its parent folder, its name there, and the temporary name while it is being written.
typedef struct Target {
    int parent;
    char name[NAME_BYTES], aside[NAME_BYTES];
} Target;

static Status fail_at(char reason[WORKER_REASON_BYTES], Status status, const char *path,
                      const char *why)
{
    snprintf(reason, WORKER_REASON_BYTES, "%.300s: %.128s", path, why);
    return status;
}

// --- removing -----------------------------------------------------------------------------------

// At most REMOVE_DEPTH deep: anything deeper was not written by this code.
static void remove_tree(int parent, const char *name, uint32_t depth)
{
    const int folder = openat(parent, name, FOLDER_OF_OURS);
    DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
    if (list == NULL) {
        if (folder >= 0) {
            close(folder);
        }
        return;
    }
    const struct dirent *entry;
    while (depth < REMOVE_DEPTH && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(folder, entry->d_name, 0) != 0) {
            remove_tree(folder, entry->d_name, depth + 1);
        }
    }
    closedir(list);
    (void)unlinkat(parent, name, AT_REMOVEDIR); // if it stays, it is harmless
}

// Removes temporary folders of processes that were killed.
static void remove_left_over(const Target *target)
{
    const int again = openat(target->parent, ".", FOLDER_AS_GIVEN);
    DIR *list = again >= 0 ? fdopendir(again) : NULL;
    if (list == NULL) {
        if (again >= 0) {
            close(again);
        }
        return;
    }
    const size_t prefix = strlen(target->name) + 1 + strlen(ASIDE);
    const struct dirent *entry;
    while ((entry = readdir(list)) != NULL) {
        if (strncmp(entry->d_name, target->aside, prefix) != 0) {
            continue;
        }
        char *end;
        const long pid = strtol(entry->d_name + prefix, &end, 10);
        if (*end == '\0' && pid > 0 &&
            (pid == getpid() || (kill((pid_t)pid, 0) != 0 && errno == ESRCH))) {
            remove_tree(target->parent, entry->d_name, 0);
        }
    }
    closedir(list);
}

// --- the target ---------------------------------------------------------------------------------

static bool is_empty(int parent, const char *name)
{
    const int folder = openat(parent, name, FOLDER_OF_OURS);
    DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
    if (list == NULL) {
        if (folder >= 0) {
            close(folder);
        }
        return false;
    }
    bool empty = true;
    const struct dirent *entry;
    while (empty && (entry = readdir(list)) != NULL) {
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    closedir(list);
    return empty;
}

static Status check_free(const Target *target, const char *path, char reason[WORKER_REASON_BYTES])
{
    struct stat about, here;
    if (fstatat(target->parent, target->name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? STATUS_OK : fail_at(reason, STATUS_BLOCKED, path, strerror(errno));
    }
    if (!S_ISDIR(about.st_mode)) {
        return fail_at(reason, STATUS_EXISTS, path, "exists already and is not a folder");
    }
    if (stat(".", &here) == 0 && here.st_dev == about.st_dev && here.st_ino == about.st_ino) {
        return fail_at(reason, STATUS_BLOCKED, path, "is the folder you are in; name another one");
    }
    if (!is_empty(target->parent, target->name)) {
        return fail_at(reason, STATUS_EXISTS, path,
                       "is there already and not empty; name another folder, or remove it");
    }
    return STATUS_OK;
}

static Status open_target(const char *path, Target *out, char reason[WORKER_REASON_BYTES])
{
    char parent[4096];
    size_t begin = 0;
    const size_t bytes = file_last_name(path, &begin);
    const int name = snprintf(out->name, sizeof out->name, "%.*s", (int)bytes, path + begin);
    const int aside =
        snprintf(out->aside, sizeof out->aside, ".%s" ASIDE "%d", out->name, (int)getpid());
    if (bytes == 0 || begin + bytes >= sizeof parent || name >= (int)sizeof out->name ||
        aside >= (int)sizeof out->aside || strcmp(out->name, ".") == 0 ||
        strcmp(out->name, "..") == 0) {
        return fail_at(reason, STATUS_RANGE, path, "is not a valid name for a new folder");
    }
    memcpy(parent, path, begin);
    parent[begin] = '\0';
    out->parent = open(begin == 0 ? "." : parent, FOLDER_AS_GIVEN);
    if (out->parent < 0) {
        return fail_at(reason, STATUS_NOT_FOUND, begin == 0 ? "." : parent, strerror(errno));
    }
    return STATUS_OK;
}

// --- writing ------------------------------------------------------------------------------------

// Opens the folder of a path, creating missing ones; *name is the rest of the path. Negative: the
// system refused.
static int open_folders(int root, const char *path, const char **name)
{
    int folder = openat(root, ".", FOLDER_OF_OURS);
    const char *slash;
    while (folder >= 0 && (slash = strchr(path, '/')) != NULL) {
        char part[PACKAGE_PATH_BYTES];
        const size_t bytes = (size_t)(slash - path);
        ASSERT(bytes > 0 && bytes < sizeof part); // the paths were checked
        memcpy(part, path, bytes);
        part[bytes] = '\0';
        const bool is_there = mkdirat(folder, part, 0777) == 0 || errno == EEXIST;
        const int inside = is_there ? openat(folder, part, FOLDER_OF_OURS) : -1;
        close(folder);
        folder = inside;
        path = slash + 1;
    }
    *name = path;
    return folder;
}

static bool write_file(int root, const PlaceFile *from)
{
    const char *name;
    const int folder = open_folders(root, from->path, &name);
    if (folder < 0) {
        return false;
    }
    const int file =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    close(folder);
    if (file < 0) {
        return false;
    }
    const bool written = file_write_whole(file, from->data, from->bytes);
    return close(file) == 0 && written;
}

static Status write_files(const PlaceFolder *files, const Target *target,
                          char reason[WORKER_REASON_BYTES])
{
    const int root = mkdirat(target->parent, target->aside, 0777) == 0
                         ? openat(target->parent, target->aside, FOLDER_OF_OURS)
                         : -1;
    if (root < 0) {
        return fail_at(reason, STATUS_BLOCKED, target->name, strerror(errno));
    }
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < files->file_count && status == STATUS_OK; i++) {
        if (!write_file(root, &files->files[i])) {
            status = fail_at(reason, STATUS_BLOCKED, files->files[i].path, strerror(errno));
        }
    }
    // One call instead of an fsync for each file and folder.
    if (status == STATUS_OK && syncfs(root) != 0) {
        status = fail_at(reason, STATUS_BLOCKED, target->name, strerror(errno));
    }
    close(root);
    return status;
}

// Checks the paths again, because the caller may have got them from anywhere.
static Status check_paths(const PlaceFolder *files, char reason[WORKER_REASON_BYTES])
{
    const char **paths = calloc((size_t)files->file_count + 1, sizeof *paths);
    Status status =
        paths == NULL ? fail_at(reason, STATUS_LIMIT, "unpack", "out of memory") : STATUS_OK;
    for (uint32_t i = 0; i < files->file_count && status == STATUS_OK; i++) {
        paths[i] = files->files[i].path;
        status = package_path_check(paths[i], strlen(paths[i]), reason);
        status = status == STATUS_OK ? package_path_fits(paths[i], reason) : status;
    }
    if (status == STATUS_OK) {
        status = package_paths_differ(paths, files->file_count, reason);
    }
    free(paths);
    return status;
}

Status package_unpack(const PlaceFolder *files, const char *folder,
                      char reason[WORKER_REASON_BYTES])
{
    Target target;
    Status status = check_paths(files, reason);
    status = status == STATUS_OK ? open_target(folder, &target, reason) : status;
    if (status != STATUS_OK) {
        return status;
    }
    status = check_free(&target, folder, reason);
    if (status == STATUS_OK) {
        remove_left_over(&target);
        status = write_files(files, &target, reason);
        // An empty folder of that name is replaced; a non-empty one makes this fail.
        if (status == STATUS_OK &&
            renameat(target.parent, target.aside, target.parent, target.name) != 0) {
            status = fail_at(reason, STATUS_BLOCKED, folder, strerror(errno));
        }
        if (status == STATUS_OK && fsync(target.parent) != 0) {
            status = fail_at(reason, STATUS_BLOCKED, folder, strerror(errno));
        } else if (status != STATUS_OK) {
            remove_tree(target.parent, target.aside, 0);
        }
    }
    close(target.parent);
    return status;
}
