// See place_home.h.
#define _GNU_SOURCE
#include "server/build/place/place_home.h"

#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOME       ".sandlot"
#define NOTE       "made-here"
#define NOTE_BYTES 96
#define IGNORE     ".gitignore"

static const char too_long[] = "the path is too long";
static const char foreign[] =
    "was made elsewhere and came with the place: its key may be anybody's. Remove the folder "
    ".sandlot (git rm -r, if git has it); or, if you made it yourself and copied it, run `sandlot "
    "build DIR --adopt` once";
static const char not_ours[] =
    "it, or .sandlot, belongs to another user, who could exchange what is in it. Make it yours "
    "(chown -R), remove .sandlot, or keep the data elsewhere (sandlot world --data)";
static const char open_to_others[] =
    "others may write to it, or to .sandlot, and exchange what is in it: chmod go-w, or keep the "
    "data elsewhere (sandlot world --data)";

static const char read_only[] =
    "the file system is read-only: build a copy of the place, or keep what is made elsewhere "
    "(sandlot world DIR --data FOLDER)";

static bool join(char out[PLACE_HOME_PATH_BYTES], const char *folder, const char *name)
{
    const int length = snprintf(out, PLACE_HOME_PATH_BYTES, "%s/%s", folder, name);
    return length >= 0 && length < PLACE_HOME_PATH_BYTES;
}

const char *place_home_refusal(int error)
{
    return error == EROFS ? read_only : strerror(error);
}

// --- folders ------------------------------------------------------------------------------------

static bool is_no_folder(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

// The owner of a folder, or anybody who may write to it, can replace our files in it.
static Status check_own(const char *path, const char **why)
{
    struct stat about;
    if (lstat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        *why = "is no folder, or a link; remove it";
        return STATUS_BLOCKED;
    }
    if (about.st_uid != geteuid() || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        *why = about.st_uid != geteuid() ? not_ours : open_to_others;
        return STATUS_DENIED;
    }
    return STATUS_OK;
}

// Keys, caches and artifacts must not get into the place's repository.
static Status hide_from_git(const char *folder, const char **why)
{
    static const char all[] = "*\n";
    char path[PLACE_HOME_PATH_BYTES];
    uint8_t *text = NULL;
    size_t bytes = 0;
    if (!join(path, folder, IGNORE)) {
        *why = too_long;
        return STATUS_RANGE;
    }
    const bool is_hidden = file_read(path, sizeof all - 1, &text, &bytes) == STATUS_OK &&
                           bytes == sizeof all - 1 && memcmp(text, all, bytes) == 0;
    free(text);
    if (is_hidden || file_write_private(path, all, sizeof all - 1) == STATUS_OK) {
        return STATUS_OK;
    }
    const bool is_disk = errno == ENOSPC || errno == EDQUOT || errno == EROFS || errno == EIO;
    *why = is_disk ? place_home_refusal(errno)
                   : "the file " IGNORE " in it, or in .sandlot, cannot be written, and without it "
                     "git would take the key along; remove it";
    return STATUS_BLOCKED;
}

static Status make_folder(const char *path, const char **why)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        *why = place_home_refusal(errno);
        return STATUS_BLOCKED;
    }
    const Status status = check_own(path, why);
    return status == STATUS_OK ? hide_from_git(path, why) : status;
}

const char *place_home_at_fault(const char *place, const char *inside)
{
    char home[PLACE_HOME_PATH_BYTES];
    return join(home, place, HOME) && is_no_folder(home) ? HOME : inside;
}

Status place_home_folder(const char *place, const char *inside, char out[PLACE_HOME_PATH_BYTES],
                         const char **why)
{
    char home[PLACE_HOME_PATH_BYTES];
    if (!join(home, place, HOME) || !join(out, home, inside)) {
        *why = too_long;
        return STATUS_RANGE;
    }
    const Status status = make_folder(home, why);
    return status == STATUS_OK ? make_folder(out, why) : status;
}

// --- the note -----------------------------------------------------------------------------------

// Identifies the folder; a copy has other values. If the file system does not store the time of
// birth (0), only the inode is used.
static bool describe(const char *data, char note[NOTE_BYTES])
{
    struct statx about;
    if (statx(AT_FDCWD, data, AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &about) != 0) {
        return false;
    }
    const bool is_born = (about.stx_mask & STATX_BTIME) != 0;
    snprintf(note, NOTE_BYTES, "inode %llu born %lld.%09u\n", (unsigned long long)about.stx_ino,
             is_born ? (long long)about.stx_btime.tv_sec : 0,
             is_born ? about.stx_btime.tv_nsec : 0);
    return true;
}

static bool is_noted(const char *data)
{
    char path[PLACE_HOME_PATH_BYTES], note[NOTE_BYTES];
    uint8_t *text = NULL;
    size_t bytes = 0;
    if (!join(path, data, NOTE) || !describe(data, note) ||
        file_read(path, NOTE_BYTES, &text, &bytes) != STATUS_OK) {
        return false;
    }
    const bool is_equal = bytes == strlen(note) && memcmp(text, note, bytes) == 0;
    free(text);
    return is_equal;
}

static Status write_note(const char *data, const char **why)
{
    char path[PLACE_HOME_PATH_BYTES], note[NOTE_BYTES];
    const bool is_written = join(path, data, NOTE) && describe(data, note) &&
                            file_write_private(path, note, strlen(note)) == STATUS_OK;
    *why = is_written ? "" : place_home_refusal(errno);
    return is_written ? STATUS_OK : STATUS_BLOCKED;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

// The folder is empty, or contains only what we have just put there: then we may use it. Anything
// else would be used as if it were ours: a journal for a later database, links where blobs go.
static bool is_empty(const char *data)
{
    DIR *list = opendir(data);
    const struct dirent *entry;
    bool is_found = list == NULL;
    while (!is_found && (entry = readdir(list)) != NULL) {
        const char *name = entry->d_name;
        is_found = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !begins(name, IGNORE) &&
                   !begins(name, NOTE);
    }
    if (list != NULL) {
        closedir(list);
    }
    return !is_found;
}

static Status check(const char *data, const char **why)
{
    if (is_noted(data)) {
        return STATUS_OK;
    }
    if (is_empty(data)) {
        return write_note(data, why);
    }
    *why = foreign;
    return STATUS_DENIED;
}

Status place_home_data(const char *place, char out[PLACE_HOME_PATH_BYTES], const char **why)
{
    const Status status = place_home_folder(place, "data", out, why);
    return status == STATUS_OK ? check(out, why) : status;
}

Status place_home_check(const char *place, const char **why)
{
    char home[PLACE_HOME_PATH_BYTES], data[PLACE_HOME_PATH_BYTES];
    struct stat about;
    if (!join(home, place, HOME) || !join(data, home, "data")) {
        *why = too_long;
        return STATUS_RANGE;
    }
    if (!is_no_folder(home) && lstat(data, &about) != 0) {
        return STATUS_OK;
    }
    Status status = check_own(home, why);
    status = status == STATUS_OK ? check_own(data, why) : status;
    if (status != STATUS_OK || is_noted(data) || is_empty(data)) {
        return status;
    }
    *why = foreign;
    return STATUS_DENIED;
}

Status place_home_adopt(const char *place, const char **why)
{
    char data[PLACE_HOME_PATH_BYTES];
    const Status status = place_home_folder(place, "data", data, why);
    return status == STATUS_OK ? write_note(data, why) : status;
}
