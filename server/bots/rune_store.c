// See rune_store.h.
#define _GNU_SOURCE
#include "server/bots/rune_store.h"

#include "core/base/limits.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME_BYTES   (2 * SHA256_BYTES + 1)
#define TRIM_WRITES  256        // after so many the folder is looked at again
#define USED_STEP_S  (6 * 3600) // how exact the time of use is: a warm start writes nothing
#define ASIDE_OLD_S  3600       // a half-written file that nobody works on any more
#define ASIDE_PREFIX "new-"

bool rune_store_default(char *out, size_t bytes)
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    const bool has_cache = cache != NULL && cache[0] == '/';
    if (!has_cache && (home == NULL || home[0] != '/')) {
        return false;
    }
    const int length = snprintf(out, bytes, "%s%s/sandlot/runes", has_cache ? cache : home,
                                has_cache ? "" : "/.cache");
    return length > 0 && (size_t)length < bytes;
}

// Where others can write, they could swap or remove files between two looks at them.
static bool is_only_ours(int folder)
{
    struct stat about;
    return fstat(folder, &about) == 0 && about.st_uid == geteuid() &&
           (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Status rune_store_open(const char *folder, RuneStore *out)
{
    const Status status = file_make_folders(folder);
    if (status != STATUS_OK) {
        return status;
    }
    const int opened = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) {
        return errno == ELOOP || errno == ENOTDIR ? STATUS_DENIED : STATUS_BLOCKED;
    }
    if (!is_only_ours(opened)) {
        close(opened);
        return STATUS_DENIED;
    }
    *out = (RuneStore){
        .folder = opened, .bytes_max = RUNE_STORE_BYTES_MAX, .file_max = RUNE_STORE_FILES_MAX};
    rune_store_trim(out);
    return STATUS_OK;
}

void rune_store_close(RuneStore *store)
{
    close(store->folder);
    store->folder = -1;
}

// --- one file -----------------------------------------------------------------------------------

static void touch(int file)
{
    struct stat about;
    const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};
    if (fstat(file, &about) == 0 && time(NULL) - about.st_mtime > USED_STEP_S) {
        (void)futimens(file, now); // else it only looks older than it is
    }
}

Status rune_store_read(RuneStore *store, const uint8_t hash[SHA256_BYTES], uint8_t **out,
                       size_t *bytes)
{
    char name[NAME_BYTES];
    uint8_t *data = NULL, found[SHA256_BYTES];
    size_t count = 0;
    sha256_hex(hash, name);
    const int file = openat(store->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return STATUS_NOT_FOUND;
    }
    Status status = file_read_open(file, RUNE_STORE_FILE_BYTES, &data, &count);
    if (status == STATUS_OK) {
        sha256_of(data, count, found);
        status = memcmp(found, hash, sizeof found) == 0 ? STATUS_OK : STATUS_MISMATCH;
    }
    if (status == STATUS_OK) {
        touch(file);
        *out = data;
        *bytes = count;
    } else {
        free(data);
        (void)unlinkat(store->folder, name, 0);
        status = STATUS_MISMATCH;
    }
    close(file);
    return status;
}

// Two programs that write the same rune each have a file of their own aside, and the second rename
// replaces equal bytes. It is not synced: after a power failure the hash tells.
static Status write_aside(RuneStore *store, const char *name, const uint8_t *data, size_t bytes)
{
    char aside[NAME_BYTES + 32];
    snprintf(aside, sizeof aside, ASIDE_PREFIX "%d-%s", (int)getpid(), name);
    const int file =
        openat(store->folder, aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0) {
        return STATUS_BLOCKED;
    }
    const bool is_written = file_write_whole(file, data, bytes);
    const bool is_good =
        close(file) == 0 && is_written && renameat(store->folder, aside, store->folder, name) == 0;
    if (!is_good) {
        (void)unlinkat(store->folder, aside, 0);
    }
    return is_good ? STATUS_OK : STATUS_BLOCKED;
}

Status rune_store_write(RuneStore *store, const uint8_t hash[SHA256_BYTES], const uint8_t *data,
                        size_t bytes)
{
    char name[NAME_BYTES];
    uint8_t found[SHA256_BYTES];
    sha256_of(data, bytes, found);
    if (bytes > RUNE_STORE_FILE_BYTES || memcmp(found, hash, sizeof found) != 0) {
        return STATUS_MISMATCH;
    }
    sha256_hex(hash, name);
    if (faccessat(store->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
        return STATUS_OK;
    }
    const Status status = write_aside(store, name, data, bytes);
    store->written += 1;
    if (store->written >= TRIM_WRITES) {
        rune_store_trim(store);
    }
    return status;
}

// --- how much there is --------------------------------------------------------------------------

typedef struct Kept {
    char name[NAME_BYTES];
    time_t used;
    uint64_t bytes;
} Kept;

static int compare_used(const void *a, const void *b)
{
    const Kept *first = a, *second = b;
    return (first->used > second->used) - (first->used < second->used);
}

// False: it is none of ours, and stays.
static bool look_at(const RuneStore *store, const char *name, Kept *out)
{
    struct stat about;
    if (fstatat(store->folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(about.st_mode)) {
        return false;
    }
    if (strncmp(name, ASIDE_PREFIX, sizeof ASIDE_PREFIX - 1) == 0) {
        if (time(NULL) - about.st_mtime > ASIDE_OLD_S) {
            (void)unlinkat(store->folder, name, 0);
        }
        return false;
    }
    if (strlen(name) != NAME_BYTES - 1 || strspn(name, "0123456789abcdef") != NAME_BYTES - 1) {
        return false;
    }
    *out = (Kept){.used = about.st_mtime, .bytes = (uint64_t)about.st_size};
    memcpy(out->name, name, NAME_BYTES);
    return true;
}

static void drop_oldest(const RuneStore *store, Kept *kept, uint32_t count, uint64_t bytes)
{
    qsort(kept, count, sizeof *kept, compare_used);
    for (uint32_t i = 0; i < count && (bytes > store->bytes_max || count - i > store->file_max);
         i++) {
        (void)unlinkat(store->folder, kept[i].name, 0);
        bytes -= kept[i].bytes;
    }
}

// Of a folder that is fuller than it may be, as many as can be looked at; the rest next time.
void rune_store_trim(RuneStore *store)
{
    const uint32_t most = store->file_max + TRIM_WRITES;
    Kept *kept = malloc((size_t)most * sizeof *kept);
    const int again = openat(store->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = kept != NULL && again >= 0 ? fdopendir(again) : NULL;
    store->written = 0;
    uint32_t count = 0;
    uint64_t bytes = 0;
    for (struct dirent *entry = NULL;
         list != NULL && count < most && (entry = readdir(list)) != NULL;) {
        if (look_at(store, entry->d_name, &kept[count])) {
            bytes += kept[count++].bytes;
        }
    }
    if (list != NULL) {
        closedir(list);
    } else if (again >= 0) {
        close(again);
    }
    drop_oldest(store, kept, count, bytes);
    free(kept);
}
