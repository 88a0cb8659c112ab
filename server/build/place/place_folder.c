// See place_folder.h. Folders are opened one inside the other, each without following links, so
// that no path can lead out, whatever changes on disk in the meantime.
#define _GNU_SOURCE
#include "server/build/place/place_folder.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/build/place/soul.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES        128
#define CHUNK_FILE_BYTES  (1u << 20)
#define FILES_GROW_FACTOR 2

typedef struct Walk {
    PlaceFolder *folder;
    bool takes_all, takes_hidden;
    DiagnosticList *diagnostics; // NULL: the first fault ends it
    const char *spells;          // a folder, or NULL
    uint32_t capacity;
    char *reason;
} Walk;

static Status refuse_folder(Walk *walk, Status status, const char *path, const char *why)
{
    snprintf(walk->reason, WORKER_REASON_BYTES, "%s: %s", path, why);
    return status;
}

// Reports a file or folder of the place that cannot be used.
static Status refuse_file(Walk *walk, Status status, const char *path, const char *why)
{
    if (walk->diagnostics == NULL) {
        return refuse_folder(walk, status, path, why);
    }
    diagnostic_addf(walk->diagnostics, DIAGNOSTIC_ERROR, path, 0, 0, "file", "%s", why);
    return STATUS_OK; // go on with the next one; the caller checks the diagnostics at the end
}

// One file too many: the walk ends, because all following ones would be reported too.
static Status refuse_more(Walk *walk, const char *path, const char *why)
{
    const Status status = refuse_file(walk, STATUS_LIMIT, path, why);
    return status == STATUS_OK ? STATUS_MALFORMED : status;
}

// --- which files --------------------------------------------------------------------------------

int place_file_compare(const void *a, const void *b)
{
    return strcmp(((const PlaceFile *)a)->path, ((const PlaceFile *)b)->path);
}

bool place_path_ends(const char *path, const char *ending)
{
    const size_t bytes = strlen(path), want = strlen(ending);
    return bytes > want && strcmp(path + bytes - want, ending) == 0;
}

bool place_path_is_prefab(const char *path)
{
    static const char folder[] = "prefabs/";
    const size_t bytes = sizeof folder - 1;
    return strncmp(path, folder, bytes) == 0 && place_path_ends(path + bytes, ".json");
}

bool place_folder_is_scene(const PlaceFile *file)
{
    return place_path_ends(file->path, ".json") || place_path_ends(file->path, ".chunk");
}

// The maximum size of a file of that name; 0: builds do not read it (assets, notes).
static size_t bytes_max_of(const char *path)
{
    if (place_path_ends(path, ".d.ts")) {
        return 0; // declarations for an editor
    }
    if (place_path_ends(path, ".lua") || place_path_ends(path, ".luau") ||
        place_path_ends(path, ".ts") || place_path_ends(path, ".soul")) {
        return VM_SOURCE_BYTES_MAX;
    }
    if (place_path_ends(path, ".json")) {
        return JSON_BYTES_MAX;
    }
    return place_path_ends(path, ".chunk") ? CHUNK_FILE_BYTES : 0;
}

bool place_name_is_skipped(const char *name)
{
    return name[0] == '.' || strcmp(name, "node_modules") == 0;
}

// --- reading ------------------------------------------------------------------------------------

static Status keep_file(Walk *walk, const char *path, uint8_t *data, size_t bytes)
{
    PlaceFolder *folder = walk->folder;
    if (folder->file_count == walk->capacity) {
        const uint32_t more = walk->capacity == 0 ? 64 : walk->capacity * FILES_GROW_FACTOR;
        PlaceFile *files = realloc(folder->files, more * sizeof *files);
        if (files == NULL) {
            return refuse_folder(walk, STATUS_LIMIT, path, "out of memory");
        }
        folder->files = files;
        walk->capacity = more;
    }
    char *name = strdup(path);
    if (name == NULL) {
        return refuse_folder(walk, STATUS_LIMIT, path, "out of memory");
    }
    folder->files[folder->file_count++] = (PlaceFile){.path = name, .data = data, .bytes = bytes};
    folder->bytes += bytes;
    return STATUS_OK;
}

static Status read_file(Walk *walk, int file, const char *path, size_t bytes_max)
{
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return refuse_file(walk, STATUS_BLOCKED, path, "is no plain file");
    }
    const uint64_t left = PLACE_FOLDER_BYTES_MAX - walk->folder->bytes;
    char why[96];
    if ((uint64_t)about.st_size > bytes_max) {
        snprintf(why, sizeof why, CHECK_NAME_LARGE_TEXT, (unsigned long long)about.st_size,
                 bytes_max);
        return refuse_file(walk, STATUS_LIMIT, path, why);
    }
    if ((uint64_t)about.st_size > left) {
        snprintf(why, sizeof why, "with it the place is larger than %u MiB",
                 PLACE_FOLDER_BYTES_MAX >> 20);
        return refuse_more(walk, path, why);
    }
    if (walk->folder->file_count == PLACE_FILES_MAX) {
        snprintf(why, sizeof why, "with it the place has more than %d files", PLACE_FILES_MAX);
        return refuse_more(walk, path, why);
    }
    const size_t size = (size_t)about.st_size;
    uint8_t *data = malloc(size + 1);
    if (data == NULL) {
        return refuse_folder(walk, STATUS_LIMIT, path, "out of memory");
    }
    if (!file_read_whole(file, data, size)) {
        free(data);
        return refuse_file(walk, STATUS_BLOCKED, path, "cannot be read");
    }
    const Status status = keep_file(walk, path, data, size);
    if (status != STATUS_OK) {
        free(data);
    }
    return status;
}

// Whether this could be a folder that a build reads: a service, one inside it, or the prefabs.
static bool is_read_folder(const char *path)
{
    char inside[PATH_BYTES + 8]; // as if it contained a file
    snprintf(inside, sizeof inside, "%s/x", path + script_path_soul_bytes(path, strlen(path)));
    return strcmp(path, "prefabs") == 0 || strncmp(path, "prefabs/", 8) == 0 ||
           strcmp(path, "SoulService") == 0 ||
           script_path_service(inside, strlen(inside)) != SERVICE_COUNT;
}

// If something is there instead of such a folder, it is reported, because its scripts would be
// missing.
static Status check_no_folder(Walk *walk, const char *path, const struct stat *about)
{
    const bool is_service = strchr(path, '/') == NULL;
    if (!is_read_folder(path) || (S_ISREG(about->st_mode) && !is_service)) {
        return STATUS_OK;
    }
    return refuse_file(walk, STATUS_BLOCKED, path,
                       S_ISLNK(about->st_mode) ? "is a link; links are not followed"
                                               : "is no folder");
}

static Status walk_folder(Walk *walk, int descriptor, const char *path, uint32_t depth);

static Status walk_entry(Walk *walk, int folder, const char *parent, const char *name,
                         uint32_t depth)
{
    char path[PATH_BYTES], why[96];
    const int length =
        snprintf(path, sizeof path, "%s%s%s", parent, parent[0] != '\0' ? "/" : "", name);
    struct stat about;
    const bool is_dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    if ((walk->takes_hidden ? is_dots : place_name_is_skipped(name)) ||
        fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return STATUS_OK;
    }
    const bool is_folder = S_ISDIR(about.st_mode);
    size_t bytes_max = bytes_max_of(name);
    bytes_max = bytes_max == 0 && walk->takes_all ? PLACE_FOLDER_BYTES_MAX : bytes_max;
    if (!is_folder && bytes_max == 0) {
        if (walk->diagnostics == NULL) {
            return STATUS_OK;
        }
        soul_check_skipped(path, walk->diagnostics);
        return check_no_folder(walk, path, &about);
    }
    if (length < 0 || (size_t)length >= sizeof path) {
        return refuse_file(walk, STATUS_RANGE, path, "its path is longer than 127 bytes");
    }
    if (is_folder && depth == PLACE_FOLDER_DEPTH_MAX) {
        snprintf(why, sizeof why, "folders are nested deeper than %d; move it up",
                 PLACE_FOLDER_DEPTH_MAX);
        return refuse_file(walk, STATUS_LIMIT, path, why);
    }
    const int opened = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (opened < 0) {
        return refuse_file(walk, STATUS_BLOCKED, path,
                           errno == ELOOP ? "is a link; links are not followed" : strerror(errno));
    }
    if (is_folder) {
        return walk_folder(walk, opened, path, depth + 1); // which closes it
    }
    const Status status = read_file(walk, opened, path, bytes_max);
    close(opened);
    return status;
}

// At most PLACE_FOLDER_DEPTH_MAX deep.
static Status walk_folder(Walk *walk, int descriptor, const char *path, uint32_t depth)
{
    DIR *list = fdopendir(descriptor);
    if (list == NULL) {
        close(descriptor);
        return refuse_file(walk, STATUS_BLOCKED, path, strerror(errno));
    }
    Status status = STATUS_OK;
    const struct dirent *entry;
    while (status == STATUS_OK && (entry = readdir(list)) != NULL) {
        status = walk_entry(walk, dirfd(list), path, entry->d_name, depth);
    }
    closedir(list);
    return status;
}

static Status walk_spells(Walk *walk)
{
    const int folder = walk->spells != NULL
                           ? open(walk->spells, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                           : -1;
    return folder >= 0 ? walk_folder(walk, folder, PLACE_SPELLS, 2) : STATUS_OK;
}

static Status read_folder(const char *path, Walk walk, PlaceFolder *out)
{
    PlaceFolder folder = {0};
    const uint32_t errors_before = walk.diagnostics != NULL ? walk.diagnostics->error_count : 0;
    walk.folder = &folder;
    const int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return refuse_folder(&walk, STATUS_NOT_FOUND, path, strerror(errno));
    }
    Status status = walk_folder(&walk, descriptor, "", 0);
    status = status == STATUS_OK ? walk_spells(&walk) : status;
    const bool is_told = walk.diagnostics != NULL && walk.diagnostics->error_count > errors_before;
    if (status == STATUS_OK && is_told) {
        status = STATUS_MALFORMED;
    }
    if (status != STATUS_OK && !(status == STATUS_MALFORMED && is_told)) {
        place_folder_free(&folder);
        return status;
    }
    if (folder.file_count > 0) {
        qsort(folder.files, folder.file_count, sizeof *folder.files, place_file_compare);
    }
    *out = folder;
    return status;
}

Status place_folder_read(const char *path, PlaceFolder *out, char reason[WORKER_REASON_BYTES])
{
    return read_folder(path, (Walk){.reason = reason}, out);
}

Status place_folder_read_diagnosed(const char *path, PlaceFolder *out, DiagnosticList *diagnostics,
                                   char reason[WORKER_REASON_BYTES])
{
    const Walk walk = {.diagnostics = diagnostics, .reason = reason};
    return read_folder(path, walk, out);
}

Status place_folder_read_with_spells(const char *path, const char *spells, PlaceFolder *out,
                                     DiagnosticList *diagnostics, char reason[WORKER_REASON_BYTES])
{
    const Walk walk = {.diagnostics = diagnostics, .spells = spells, .reason = reason};
    return read_folder(path, walk, out);
}

Status place_folder_read_all(const char *path, PlaceFolder *out, char reason[WORKER_REASON_BYTES])
{
    const Walk walk = {.takes_all = true, .reason = reason};
    return read_folder(path, walk, out);
}

Status place_folder_read_built(const char *path, PlaceFolder *out, DiagnosticList *diagnostics,
                               char reason[WORKER_REASON_BYTES])
{
    const Walk walk = {
        .diagnostics = diagnostics, .takes_all = true, .takes_hidden = true, .reason = reason};
    return read_folder(path, walk, out);
}

void place_folder_free(PlaceFolder *folder)
{
    for (uint32_t i = 0; i < folder->file_count; i++) {
        free((void *)(uintptr_t)folder->files[i].path);
        free((void *)(uintptr_t)folder->files[i].data);
    }
    free(folder->files);
    *folder = (PlaceFolder){0};
}
