// See artifact.h. Everything is relative to descriptors that were opened without following links.
#define _GNU_SOURCE
#include "server/build/pipeline/artifact.h"

#include "core/base/check.h"
#include "server/build/place/place_home.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HOME          ".sandlot"
#define LOCK          "build.lock"
#define ASIDE         "aside"
#define NAME          "soul"
#define LIST          "assets.json"
#define DEPTH_MAX     32
#define LOCK_POLL_MS  20
#define PATH_BYTES    4096
#define FOLDER_FLAGS  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define SEGMENT_BYTES 256
#define SYNC_EACH_MAX 32 // files that are synced one by one

static const char *const side_names[ARTIFACT_SIDES] = {"server", "client"};
static const char *const side_homes[ARTIFACT_SIDES] = {HOME "/server", HOME "/client"};
static const char *const side_folders[ARTIFACT_SIDES] = {HOME "/server/" NAME,
                                                         HOME "/client/" NAME};

struct Artifacts {
    int home, lock, aside; // .sandlot, .sandlot/build.lock, .sandlot/aside
    int fresh;             // a new folder in there, once something is prepared
    int sides[ARTIFACT_SIDES];
    bool is_prepared[ARTIFACT_SIDES];
    bool has_list; // prepared
    char place[PATH_BYTES];
};

const char *artifact_folder(ArtifactSide side)
{
    return side_folders[side];
}

const PlaceFile *artifact_named(const PlaceFolder *folder, const char *path)
{
    for (uint32_t i = 0; i < folder->file_count; i++) {
        if (strcmp(folder->files[i].path, path) == 0) {
            return &folder->files[i];
        }
    }
    return NULL;
}

static Status fail_to_write(char reason[WORKER_REASON_BYTES], Status status, const char *what)
{
    snprintf(reason, WORKER_REASON_BYTES, "%.340s: %.160s", what,
             errno == ELOOP || errno == ENOTDIR ? "is no folder, or a link"
                                                : place_home_refusal(errno));
    return status;
}

// Reports that something on the way to the artifacts is not a folder.
static Status refuse_folder(char reason[WORKER_REASON_BYTES], const char *what)
{
    const bool is_other = errno == ELOOP || errno == ENOTDIR;
    const Status status = fail_to_write(reason, STATUS_BLOCKED, what);
    const size_t used = strlen(reason);
    snprintf(reason + used, WORKER_REASON_BYTES - used, "%s", is_other ? "; remove it" : "");
    return status;
}

// --- removing -----------------------------------------------------------------------------------

static void remove_inside(int folder, uint32_t depth);

static void remove_entry(int folder, const char *name, uint32_t depth)
{
    if (unlinkat(folder, name, 0) == 0 || depth == DEPTH_MAX) {
        return;
    }
    const int inner = openat(folder, name, FOLDER_FLAGS);
    if (inner >= 0) {
        remove_inside(inner, depth + 1);
        (void)unlinkat(folder, name, AT_REMOVEDIR);
    }
}

// Closes the descriptor. At most DEPTH_MAX deep.
static void remove_inside(int folder, uint32_t depth)
{
    DIR *list = fdopendir(folder);
    if (list == NULL) {
        close(folder);
        return;
    }
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            remove_entry(dirfd(list), entry->d_name, depth);
        }
    }
    closedir(list);
}

// Removes everything in .sandlot/aside; we hold the lock, so no other build uses it. What is nested
// too deeply stays and is harmless.
static void remove_leftovers(const Artifacts *artifacts)
{
    const int folder = openat(artifacts->home, ASIDE, FOLDER_FLAGS);
    if (folder >= 0) {
        remove_inside(folder, 0);
    }
}

// --- opening ------------------------------------------------------------------------------------

static Status take_lock(int home, const atomic_bool *cancel, int *out)
{
    const int file =
        openat(home, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) {
        return STATUS_BLOCKED;
    }
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            close(file);
            return STATUS_BLOCKED;
        }
        if (cancel != NULL && atomic_load(cancel)) {
            close(file);
            return STATUS_DENIED;
        }
        const struct timespec pause = {.tv_nsec = LOCK_POLL_MS * 1000000L};
        (void)nanosleep(&pause, NULL);
    }
    *out = file;
    return STATUS_OK;
}

static Status open_all(Artifacts *artifacts, const atomic_bool *cancel,
                       char reason[WORKER_REASON_BYTES])
{
    const int place = open(artifacts->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) {
        return fail_to_write(reason, STATUS_BLOCKED, artifacts->place);
    }
    artifacts->home = file_make_folder_in(place, HOME);
    close(place);
    if (artifacts->home < 0) {
        return refuse_folder(reason, HOME);
    }
    const Status status = take_lock(artifacts->home, cancel, &artifacts->lock);
    if (status != STATUS_OK) {
        return status == STATUS_DENIED ? status : fail_to_write(reason, status, HOME "/" LOCK);
    }
    artifacts->aside = file_make_folder_in(artifacts->home, ASIDE);
    if (artifacts->aside < 0) {
        return refuse_folder(reason, HOME "/" ASIDE);
    }
    for (uint32_t i = 0; i < ARTIFACT_SIDES; i++) {
        artifacts->sides[i] = file_make_folder_in(artifacts->home, side_names[i]);
        if (artifacts->sides[i] < 0) {
            return refuse_folder(reason, side_homes[i]);
        }
    }
    remove_leftovers(artifacts); // of an interrupted build
    return STATUS_OK;
}

// Creates nothing and waits for nothing; a missing folder is -1.
static void look_at_all(Artifacts *artifacts)
{
    const int place = open(artifacts->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    artifacts->home = place >= 0 ? openat(place, HOME, FOLDER_FLAGS) : -1;
    for (uint32_t i = 0; artifacts->home >= 0 && i < ARTIFACT_SIDES; i++) {
        artifacts->sides[i] = openat(artifacts->home, side_names[i], FOLDER_FLAGS);
    }
    file_close(place);
}

static Status create(const char *place, Artifacts **out, char reason[WORKER_REASON_BYTES])
{
    Artifacts *artifacts = malloc(sizeof *artifacts);
    if (artifacts == NULL) {
        snprintf(reason, WORKER_REASON_BYTES, "out of memory");
        return STATUS_LIMIT;
    }
    *artifacts = (Artifacts){.home = -1, .lock = -1, .aside = -1, .fresh = -1, .sides = {-1, -1}};
    const int length = snprintf(artifacts->place, sizeof artifacts->place, "%s", place);
    if (length < 0 || (size_t)length >= sizeof artifacts->place) {
        free(artifacts);
        return STATUS_RANGE;
    }
    *out = artifacts;
    return STATUS_OK;
}

Status artifacts_open(const char *place, const atomic_bool *cancel, Artifacts **out,
                      char reason[WORKER_REASON_BYTES])
{
    Artifacts *artifacts = NULL;
    Status status = create(place, &artifacts, reason);
    if (status != STATUS_OK) {
        return status;
    }
    status = open_all(artifacts, cancel, reason);
    if (status != STATUS_OK) {
        artifacts_close(artifacts);
        return status;
    }
    *out = artifacts;
    return STATUS_OK;
}

Status artifacts_open_read(const char *place, Artifacts **out, char reason[WORKER_REASON_BYTES])
{
    const Status status = create(place, out, reason);
    if (status == STATUS_OK) {
        look_at_all(*out);
    }
    return status;
}

void artifacts_close(Artifacts *artifacts)
{
    if (artifacts == NULL) {
        return;
    }
    if (artifacts->aside >= 0) {
        remove_leftovers(artifacts); // if the disk was full, for example
    }
    file_close(artifacts->aside);
    file_close(artifacts->fresh);
    for (uint32_t i = 0; i < ARTIFACT_SIDES; i++) {
        file_close(artifacts->sides[i]);
    }
    file_close(artifacts->home);
    file_close(artifacts->lock); // last: then the next build may begin
    free(artifacts);
}

Status artifacts_read(const Artifacts *artifacts, ArtifactSide side, PlaceFolder *out,
                      char reason[WORKER_REASON_BYTES])
{
    struct stat about;
    if (fstatat(artifacts->sides[side], NAME, &about, AT_SYMLINK_NOFOLLOW) != 0) {
        return STATUS_NOT_FOUND;
    }
    if (!S_ISDIR(about.st_mode)) {
        snprintf(reason, WORKER_REASON_BYTES, "%s: is no folder", side_folders[side]);
        return STATUS_BLOCKED;
    }
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", artifacts->place, side_folders[side]);
    return place_folder_read_built(path, out, NULL, reason);
}

// --- replacing ----------------------------------------------------------------------------------

// Opens the folder of "Workspace/Doors/Front.rune" below another, creating it; *name is the rest.
static int make_parents(int root, const char *path, const char **name)
{
    int folder = dup(root);
    for (const char *slash = strchr(path, '/'); folder >= 0 && slash != NULL;
         slash = strchr(path, '/')) {
        char segment[SEGMENT_BYTES];
        const size_t bytes = (size_t)(slash - path);
        ASSERT(bytes > 0 && bytes < sizeof segment && path[0] != '.');
        memcpy(segment, path, bytes);
        segment[bytes] = '\0';
        const int inner = file_make_folder_in(folder, segment);
        close(folder);
        folder = inner;
        path = slash + 1;
    }
    *name = path;
    return folder;
}

// Creates a folder that is certainly empty. Otherwise files that came in .sandlot/aside and could
// not be removed would become artifacts.
static bool open_fresh(Artifacts *artifacts)
{
    if (artifacts->fresh < 0) {
        char name[SEGMENT_BYTES];
        snprintf(name, sizeof name, "%016" PRIx64, entropy_u64());
        if (mkdirat(artifacts->aside, name, 0700) == 0) {
            artifacts->fresh = openat(artifacts->aside, name, FOLDER_FLAGS);
        }
    }
    return artifacts->fresh >= 0;
}

static bool write_file(int root, const PlaceFile *file)
{
    const char *name = NULL;
    const int folder = make_parents(root, file->path, &name);
    if (folder < 0) {
        return false;
    }
    const int made =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    close(folder);
    if (made < 0) {
        return false;
    }
    const bool written = file_write_whole(made, file->data, file->bytes);
    // Starts writing it to disk now, so that the wait at the end is one wait and not a thousand.
    (void)sync_file_range(made, 0, 0, SYNC_FILE_RANGE_WRITE);
    return close(made) == 0 && written;
}

// An unchanged file is linked instead of written.
static bool link_file(int old_root, int root, const PlaceFile *file)
{
    const char *name = NULL;
    const int folder = make_parents(root, file->path, &name);
    if (folder < 0) {
        return false;
    }
    const bool linked = linkat(old_root, file->path, folder, name, 0) == 0;
    close(folder);
    return linked;
}

static bool sync_path(int root, const char *path, int flags)
{
    const int opened = openat(root, path, flags | O_NOFOLLOW | O_CLOEXEC);
    if (opened < 0) {
        return false;
    }
    const bool synced = fsync(opened) == 0;
    close(opened);
    return synced;
}

// Syncs every folder on the way to a file that was not on the way to the previous file.
static bool sync_parents(int root, const char *path, const char *before)
{
    char folder[SEGMENT_BYTES];
    bool synced = true;
    for (const char *slash = strchr(path, '/'); synced && slash != NULL;
         slash = strchr(slash + 1, '/')) {
        const size_t bytes = (size_t)(slash - path);
        ASSERT(bytes < sizeof folder);
        if (strncmp(path, before, bytes + 1) != 0) {
            memcpy(folder, path, bytes);
            folder[bytes] = '\0';
            synced = sync_path(root, folder, O_RDONLY | O_DIRECTORY);
        }
    }
    return synced;
}

static bool is_same_file(const PlaceFolder *before, const PlaceFile *file)
{
    uint32_t low = 0, high = before->file_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const PlaceFile *old = &before->files[middle];
        const int order = strcmp(old->path, file->path);
        if (order == 0) {
            return old->bytes == file->bytes && memcmp(old->data, file->data, file->bytes) == 0;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

// In one step if the file system can exchange two folders, as all of Linux's own can; otherwise in
// two. In between there is no folder ("not built"), but never half of one.
static bool take_place(Artifacts *artifacts, ArtifactSide side, const char *fresh)
{
    const int folder = artifacts->sides[side];
    if (renameat(artifacts->fresh, fresh, folder, NAME) == 0) {
        return true; // there was none
    }
    if (renameat2(artifacts->fresh, fresh, folder, NAME, RENAME_EXCHANGE) == 0) {
        return true; // the old one is in the temporary folder now
    }
    char old[SEGMENT_BYTES];
    snprintf(old, sizeof old, "old %s", fresh);
    return renameat(folder, NAME, artifacts->fresh, old) == 0 &&
           renameat(artifacts->fresh, fresh, folder, NAME) == 0;
}

// Both return the path that failed, or NULL.
static const char *fill(int root, int old_root, const PlaceFolder *before, const PlaceFile *files,
                        uint32_t file_count, bool *is_new)
{
    for (uint32_t i = 0; i < file_count; i++) {
        is_new[i] = old_root < 0 || !is_same_file(before, &files[i]) ||
                    !link_file(old_root, root, &files[i]);
        if (is_new[i] && !write_file(root, &files[i])) {
            return files[i].path;
        }
    }
    return NULL;
}

// Each file that is synced alone waits for the disk. Many together are on disk sooner when the
// whole file system is synced once, though that waits for what others have written too.
static bool sync_many(int root, uint32_t file_count, const bool *is_new)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < file_count; i++) {
        count += is_new[i];
    }
    return count > SYNC_EACH_MAX && syncfs(root) == 0;
}

static const char *sync_all(int root, const PlaceFile *files, uint32_t file_count,
                            const bool *is_new)
{
    const char *last = "";
    if (sync_many(root, file_count, is_new)) {
        return NULL;
    }
    for (uint32_t i = 0; i < file_count; i++) {
        if ((is_new[i] && !sync_path(root, files[i].path, O_RDONLY)) ||
            !sync_parents(root, files[i].path, last)) {
            return files[i].path;
        }
        last = files[i].path;
    }
    return fsync(root) == 0 ? NULL : HOME "/" ASIDE;
}

Status artifacts_prepare(Artifacts *artifacts, ArtifactSide side, const PlaceFolder *before,
                         const PlaceFile *files, uint32_t file_count,
                         char reason[WORKER_REASON_BYTES])
{
    ASSERT(artifacts->aside >= 0 && !artifacts->is_prepared[side]);
    for (uint32_t i = 0; i < file_count; i++) {
        ASSERT(files[i].path[0] != '/' &&
               strstr(files[i].path, "..") == NULL); // it cannot lead out of the folder
        ASSERT(i == 0 || strcmp(files[i - 1].path, files[i].path) <= 0);
    }
    const int root =
        open_fresh(artifacts) ? file_make_folder_in(artifacts->fresh, side_names[side]) : -1;
    const int old_root = openat(artifacts->sides[side], NAME, FOLDER_FLAGS);
    bool *is_new = calloc(file_count + 1u, sizeof *is_new);
    const char *failed = HOME "/" ASIDE;
    if (root >= 0 && is_new != NULL) {
        failed = fill(root, old_root, before, files, file_count, is_new);
        failed = failed == NULL ? sync_all(root, files, file_count, is_new) : failed;
    }
    const Status status =
        failed == NULL ? STATUS_OK : fail_to_write(reason, STATUS_BLOCKED, failed);
    free(is_new);
    file_close(root);
    file_close(old_root);
    artifacts->is_prepared[side] = status == STATUS_OK;
    return status;
}

bool artifacts_has_list(const Artifacts *artifacts, const void *data, size_t bytes)
{
    const int file = openat(artifacts->sides[ARTIFACT_CLIENT], LIST,
                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    bool is_same = file >= 0 && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
                   (uint64_t)about.st_size == bytes;
    uint8_t *have = is_same ? malloc(bytes + 1) : NULL;
    is_same =
        have != NULL && read(file, have, bytes) == (ssize_t)bytes && memcmp(have, data, bytes) == 0;
    free(have);
    file_close(file);
    return is_same;
}

Status artifacts_prepare_list(Artifacts *artifacts, const void *data, size_t bytes,
                              char reason[WORKER_REASON_BYTES])
{
    const PlaceFile file = {.path = LIST, .data = data, .bytes = bytes};
    ASSERT(artifacts->aside >= 0 && !artifacts->has_list);
    if (!open_fresh(artifacts) || !write_file(artifacts->fresh, &file) ||
        !sync_path(artifacts->fresh, LIST, O_RDONLY)) {
        return fail_to_write(reason, STATUS_BLOCKED, ARTIFACT_LIST);
    }
    artifacts->has_list = true;
    return STATUS_OK;
}

static bool take_list(Artifacts *artifacts)
{
    const int folder = artifacts->sides[ARTIFACT_CLIENT];
    const bool taken = !artifacts->has_list ||
                       (renameat(artifacts->fresh, LIST, folder, LIST) == 0 && fsync(folder) == 0);
    artifacts->has_list = false;
    return taken;
}

Status artifacts_switch(Artifacts *artifacts, char reason[WORKER_REASON_BYTES])
{
    for (uint32_t side = 0; side < ARTIFACT_SIDES; side++) {
        if (artifacts->is_prepared[side] &&
            !take_place(artifacts, (ArtifactSide)side, side_names[side])) {
            return fail_to_write(reason, STATUS_BLOCKED, side_folders[side]);
        }
    }
    for (uint32_t side = 0; side < ARTIFACT_SIDES; side++) {
        if (artifacts->is_prepared[side] && fsync(artifacts->sides[side]) != 0) {
            return fail_to_write(reason, STATUS_BLOCKED, side_folders[side]);
        }
        artifacts->is_prepared[side] = false;
    }
    if (!take_list(artifacts)) {
        return fail_to_write(reason, STATUS_BLOCKED, ARTIFACT_LIST);
    }
    remove_leftovers(artifacts);  // the old ones
    file_close(artifacts->fresh); // it was removed with them
    artifacts->fresh = -1;
    return STATUS_OK;
}
