// See draft_walk.h.
#define _GNU_SOURCE
#include "server/draft/draft_walk.h"

#include "server/build/package/package_rules.h"
#include "server/build/place/place_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Walk {
    DraftWalkFile each;
    void *user;
    char path[PACKAGE_PATH_BYTES];
} Walk;

static DIR *open_folder(int parent, const char *name)
{
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
    if (list == NULL && folder >= 0) {
        close(folder);
    }
    return list;
}

static void walk(Walk *state, DIR *list, size_t path_bytes, uint32_t depth)
{
    const struct dirent *entry;
    while ((entry = readdir(list)) != NULL) {
        struct stat about;
        const size_t bytes = strlen(entry->d_name);
        if (place_name_is_skipped(entry->d_name) || path_bytes + bytes + 2 > sizeof state->path ||
            fstatat(dirfd(list), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) {
            continue;
        }
        memcpy(state->path + path_bytes, entry->d_name, bytes + 1);
        if (S_ISREG(about.st_mode)) {
            state->each(state->user, state->path);
        } else if (S_ISDIR(about.st_mode) && depth < PLACE_FOLDER_DEPTH_MAX) {
            DIR *inner = open_folder(dirfd(list), entry->d_name);
            if (inner != NULL) {
                memcpy(state->path + path_bytes + bytes, "/", 2);
                walk(state, inner, path_bytes + bytes + 1, depth + 1);
                closedir(inner);
            }
        }
    }
}

Status draft_walk(const char *folder, DraftWalkFile each, void *user)
{
    Walk state = {.each = each, .user = user};
    DIR *list = open_folder(AT_FDCWD, folder);
    if (list == NULL) {
        return STATUS_NOT_FOUND;
    }
    walk(&state, list, 0, 0);
    closedir(list);
    return STATUS_OK;
}

static void remove_inside(int parent, const char *name, uint32_t depth)
{
    DIR *list = depth < 2 * PLACE_FOLDER_DEPTH_MAX ? open_folder(parent, name) : NULL;
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (unlinkat(dirfd(list), entry->d_name, 0) != 0) {
            remove_inside(dirfd(list), entry->d_name, depth + 1);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
    (void)unlinkat(parent, name, AT_REMOVEDIR); // stays if something in it does
}

void draft_walk_remove(const char *folder)
{
    remove_inside(AT_FDCWD, folder, 0);
}

void draft_walk_sweep(const char *folder, const char *beginning)
{
    DIR *list = open_folder(AT_FDCWD, folder);
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (strncmp(entry->d_name, beginning, strlen(beginning)) == 0) {
            remove_inside(dirfd(list), entry->d_name, 0);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
}
