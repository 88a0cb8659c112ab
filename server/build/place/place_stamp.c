// See place_stamp.h. Folders list their files in any order, so each entry is hashed by itself and
// the hashes are added.
#define _GNU_SOURCE
#include "server/build/place/place_stamp.h"

#include "core/base/limits.h"
#include "server/build/place/place_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX (4 * PLACE_FILES_MAX)

typedef struct Walk {
    uint64_t sum[4];
    uint32_t count; // including folders
    PlaceSize size;
} Walk;

static void add_file(Walk *walk, const uint8_t folder[SHA256_BYTES], const char *name,
                     const struct stat *about, uint8_t hash[SHA256_BYTES])
{
    const int64_t numbers[] = {(int64_t)about->st_ino,          (int64_t)about->st_size,
                               (int64_t)about->st_mode,         (int64_t)about->st_mtim.tv_sec,
                               (int64_t)about->st_mtim.tv_nsec, (int64_t)about->st_ctim.tv_sec,
                               (int64_t)about->st_ctim.tv_nsec};
    Sha256 sha;
    // A folder's own times also change when a dot file comes or goes; the times of the files are
    // enough.
    const bool is_folder = S_ISDIR(about->st_mode);
    sha256_init(&sha);
    sha256_update(&sha, folder, SHA256_BYTES);
    sha256_update(&sha, numbers, is_folder ? sizeof numbers[0] : sizeof numbers);
    sha256_update(&sha, name, strlen(name));
    sha256_final(&sha, hash);
    uint64_t parts[4];
    memcpy(parts, hash, sizeof parts);
    for (uint32_t i = 0; i < 4; i++) {
        walk->sum[i] += parts[i];
    }
}

// At most PLACE_FOLDER_DEPTH_MAX deep; closes the descriptor.
static Status walk_folder(Walk *walk, int descriptor, const uint8_t hash[SHA256_BYTES],
                          uint32_t depth)
{
    DIR *list = fdopendir(descriptor);
    if (list == NULL) {
        close(descriptor);
        return STATUS_BLOCKED;
    }
    Status status = STATUS_OK;
    const struct dirent *entry;
    while (status == STATUS_OK && (entry = readdir(list)) != NULL) {
        struct stat about;
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "node_modules") == 0 ||
            fstatat(dirfd(list), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
            S_ISLNK(about.st_mode)) {
            continue;
        }
        uint8_t own[SHA256_BYTES];
        add_file(walk, hash, entry->d_name, &about, own);
        if (!S_ISDIR(about.st_mode)) {
            walk->size.file_count += 1;
            walk->size.bytes += (uint64_t)about.st_size;
        }
        if (++walk->count > ENTRIES_MAX || depth == PLACE_FOLDER_DEPTH_MAX) {
            status = STATUS_LIMIT;
        } else if (S_ISDIR(about.st_mode)) {
            const int inner =
                openat(dirfd(list), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
            // If it is gone or unreadable, the build will report it.
            status = inner < 0 ? STATUS_OK : walk_folder(walk, inner, own, depth + 1);
        }
    }
    closedir(list);
    return status;
}

static Status walk_place(const char *place, Walk *walk)
{
    const uint8_t root[SHA256_BYTES] = {0};
    const int descriptor = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *walk = (Walk){0};
    return descriptor < 0 ? STATUS_NOT_FOUND : walk_folder(walk, descriptor, root, 0);
}

Status place_stamp(const char *place, uint8_t out[SHA256_BYTES])
{
    Walk walk;
    const Status status = walk_place(place, &walk);
    if (status == STATUS_OK) {
        sha256_of(walk.sum, sizeof walk.sum, out);
    }
    return status;
}

Status place_stamp_size(const char *place, PlaceSize *out)
{
    Walk walk;
    const Status status = walk_place(place, &walk);
    if (status == STATUS_OK) {
        *out = walk.size;
    }
    return status;
}
