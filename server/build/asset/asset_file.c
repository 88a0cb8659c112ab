// See asset_file.h. Folders are opened one inside the other, each without following a link.
#define _GNU_SOURCE
#include "server/build/asset/asset_file.h"

#include "core/base/limits.h"
#include "server/build/place/place_folder.h"
#include "server/sys/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTLED_MS  3000 // FAT counts in steps of two seconds
#define BLOCK_BYTES (64u << 10)

typedef struct Walk {
    AssetFileList *list;
    DiagnosticList *diagnostics;
    uint32_t file_max;
    uint64_t bytes_max;
    bool is_full; // reported once
    Status status;
} Walk;

// --- stamps -------------------------------------------------------------------------------------

static AssetStamp stamp_of(const struct stat *about)
{
    return (AssetStamp){
        .device = (uint64_t)about->st_dev,
        .inode = (uint64_t)about->st_ino,
        .bytes = (uint64_t)about->st_size,
        .modified_ns = about->st_mtim.tv_sec * (int64_t)NS_PER_S + about->st_mtim.tv_nsec,
        .changed_ns = about->st_ctim.tv_sec * (int64_t)NS_PER_S + about->st_ctim.tv_nsec};
}

Status asset_stamp_of(int file, AssetStamp *out)
{
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return STATUS_DENIED;
    }
    *out = stamp_of(&about);
    return STATUS_OK;
}

bool asset_stamp_equal(const AssetStamp *a, const AssetStamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
           a->modified_ns == b->modified_ns && a->changed_ns == b->changed_ns;
}

// The change time (ctime): unlike the modification time, no program can set it.
bool asset_stamp_is_settled(const AssetStamp *stamp)
{
    return stamp->changed_ns / (int64_t)NS_PER_MS + SETTLED_MS < (int64_t)clock_unix_ms();
}

Status asset_file_hash(int file, const AssetStamp *stamp, uint8_t hash[SHA256_BYTES])
{
    uint8_t *block = malloc(BLOCK_BYTES);
    if (block == NULL) {
        return STATUS_LIMIT;
    }
    Sha256 sha;
    sha256_init(&sha);
    uint64_t at = 0;
    while (at < stamp->bytes) {
        const uint64_t left = stamp->bytes - at;
        const ssize_t got =
            pread(file, block, left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES, (off_t)at);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            break;
        }
        sha256_update(&sha, block, got > 0 ? (size_t)got : 0);
        at += got > 0 ? (uint64_t)got : 0;
    }
    free(block);
    AssetStamp after;
    if (at < stamp->bytes || asset_stamp_of(file, &after) != STATUS_OK ||
        !asset_stamp_equal(&after, stamp)) {
        return STATUS_MISMATCH;
    }
    sha256_final(&sha, hash);
    return STATUS_OK;
}

// --- what is wrong ------------------------------------------------------------------------------

void asset_file_refused(DiagnosticList *diagnostics, const char *path, const char *reason)
{
    const size_t bytes = strlen(path);
    char code[DIAGNOSTIC_CODE_BYTES] = "asset";
    if (strncmp(reason, path, bytes) == 0 && strncmp(reason + bytes, ": ", 2) == 0) {
        reason += bytes + 2;
        const size_t rule = strcspn(reason, ": ");
        if (rule > 0 && rule < sizeof code && strncmp(reason + rule, ": ", 2) == 0) {
            snprintf(code, sizeof code, "%.*s", (int)rule, reason);
            reason += rule + 2;
        }
    }
    diagnostic_addf(diagnostics, DIAGNOSTIC_ERROR, path, 0, 0, code, "%s", reason);
}

static void tell_refused(Walk *walk, const char *path, PackageRule rule, const char *why)
{
    diagnostic_addf(walk->diagnostics, DIAGNOSTIC_ERROR, path, 0, 0, package_rule_name(rule), "%s",
                    why);
}

// --- walking ------------------------------------------------------------------------------------

static AssetFile *append(Walk *walk)
{
    AssetFileList *list = walk->list;
    if (list->count == list->capacity) {
        const uint32_t more = list->capacity == 0 ? 64 : list->capacity * 2;
        AssetFile *items = realloc(list->items, more * sizeof *items);
        if (items == NULL) {
            walk->status = STATUS_LIMIT;
            return NULL;
        }
        list->items = items;
        list->capacity = more;
    }
    return &list->items[list->count++];
}

// Whether there is room for one more. Only the first file that does not fit is reported.
static bool has_room(Walk *walk, const char *path, uint64_t bytes)
{
    char why[96];
    if (walk->is_full) {
        return false;
    }
    if (walk->list->count >= walk->file_max) {
        snprintf(why, sizeof why, "with it the place has more than %d files", PLACE_FILES_MAX);
        tell_refused(walk, path, RULE_FILES, why);
        walk->is_full = true;
    } else if (bytes > walk->bytes_max - walk->list->bytes) {
        snprintf(why, sizeof why, "with it the place is larger than %u MiB",
                 PLACE_FOLDER_BYTES_MAX >> 20);
        tell_refused(walk, path, RULE_SIZE, why);
        walk->is_full = true;
    }
    return !walk->is_full;
}

static void take_file(Walk *walk, const char *path, const struct stat *about)
{
    char reason[WORKER_REASON_BYTES] = "";
    PackageKind kind = KIND_COUNT;
    const uint64_t bytes = (uint64_t)about->st_size;
    Status status = package_path_check(path, strlen(path), reason);
    status = status == STATUS_OK ? package_path_fits(path, reason) : status;
    status = status == STATUS_OK ? package_kind_of(path, &kind, reason) : status;
    status = status == STATUS_OK ? package_size_check(path, kind, bytes, reason) : status;
    if (status != STATUS_OK) {
        asset_file_refused(walk->diagnostics, path, reason);
        return;
    }
    if (!package_kind_is_asset(kind) || !has_room(walk, path, bytes)) {
        return;
    }
    AssetFile *file = append(walk);
    if (file != NULL) {
        *file = (AssetFile){.kind = kind, .stamp = stamp_of(about)};
        snprintf(file->path, sizeof file->path, "%s", path);
        walk->list->bytes += bytes;
    }
}

static void walk_folder(Walk *walk, int folder, const char *path, uint32_t depth);

static void walk_entry(Walk *walk, int folder, const char *parent, const char *name, uint32_t depth)
{
    char path[PACKAGE_PATH_BYTES];
    struct stat about;
    const int length = snprintf(path, sizeof path, "%s/%s", parent, name);
    const bool fits = length >= 0 && (size_t)length < sizeof path;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || package_path_is_skipped(name) ||
        fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return;
    }
    if (!fits) {
        tell_refused(walk, parent, RULE_LONG,
                     "holds a name with which the path has more than 127 bytes");
    } else if (S_ISLNK(about.st_mode)) {
        tell_refused(walk, path, RULE_LINK, "is a link; links are not followed");
    } else if (S_ISDIR(about.st_mode) && depth == PLACE_FOLDER_DEPTH_MAX) {
        tell_refused(walk, path, RULE_DEPTH, "folders are nested too deep");
    } else if (S_ISDIR(about.st_mode)) {
        const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (inner < 0) {
            tell_refused(walk, path, RULE_SPECIAL, strerror(errno));
        } else {
            walk_folder(walk, inner, path, depth + 1);
        }
    } else if (!S_ISREG(about.st_mode)) {
        tell_refused(walk, path, RULE_SPECIAL, "is no plain file");
    } else {
        take_file(walk, path, &about);
    }
}

// Closes the descriptor. Bounded by PLACE_FOLDER_DEPTH_MAX.
static void walk_folder(Walk *walk, int folder, const char *path, uint32_t depth)
{
    DIR *entries = fdopendir(folder);
    if (entries == NULL) {
        close(folder);
        walk->status = STATUS_LIMIT;
        return;
    }
    const struct dirent *entry;
    while (walk->status == STATUS_OK && (entry = readdir(entries)) != NULL) {
        walk_entry(walk, dirfd(entries), path, entry->d_name, depth);
    }
    closedir(entries);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const AssetFile *)a)->path, ((const AssetFile *)b)->path);
}

// Finds two paths that are the same file on some systems.
static Status check_paths(const AssetFileList *list, DiagnosticList *diagnostics)
{
    char reason[WORKER_REASON_BYTES] = "";
    const char **paths = calloc((size_t)list->count + 1, sizeof *paths);
    if (paths == NULL) {
        return STATUS_LIMIT;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        paths[i] = list->items[i].path;
    }
    if (package_paths_differ(paths, list->count, reason) != STATUS_OK) {
        // The diagnostic names a file, or the folder whose name is written in two ways.
        char named[PACKAGE_PATH_BYTES] = "";
        const char *rule = strstr(reason, ": case: ");
        rule = rule != NULL ? rule : strstr(reason, ": duplicate: ");
        if (rule != NULL && (size_t)(rule - reason) < sizeof named) {
            memcpy(named, reason, (size_t)(rule - reason));
        }
        asset_file_refused(diagnostics, named, reason);
    }
    free(paths);
    return STATUS_OK;
}

static void walk_place(Walk *walk, int place)
{
    struct stat about;
    if (fstatat(place, ASSET_FOLDER, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return; // a place need not have assets
    }
    if (S_ISLNK(about.st_mode)) {
        tell_refused(walk, ASSET_FOLDER, RULE_LINK, "is a link; links are not followed");
        return;
    }
    const int folder = openat(place, ASSET_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0) {
        tell_refused(walk, ASSET_FOLDER, RULE_SPECIAL, "is no folder, or closed to us");
        return;
    }
    walk_folder(walk, folder, ASSET_FOLDER, 1);
}

Status asset_files_list(const char *place, uint32_t file_max, uint64_t bytes_max,
                        AssetFileList *out, DiagnosticList *diagnostics)
{
    AssetFileList list = {0};
    Walk walk = {
        .list = &list, .diagnostics = diagnostics, .file_max = file_max, .bytes_max = bytes_max};
    const int descriptor = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        walk_place(&walk, descriptor);
        close(descriptor);
    }
    if (list.count > 0) {
        qsort(list.items, list.count, sizeof *list.items, by_path);
    }
    Status status = walk.status;
    status = status == STATUS_OK ? check_paths(&list, diagnostics) : status;
    if (status != STATUS_OK) {
        asset_files_free(&list);
        return status;
    }
    *out = list;
    return STATUS_OK;
}

void asset_files_free(AssetFileList *list)
{
    free(list->items);
    *list = (AssetFileList){0};
}
