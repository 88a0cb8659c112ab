// See build_watch.h.
#define _GNU_SOURCE
#include "server/build/pipeline/build_watch.h"

#include "core/base/hash.h"
#include "server/build/place/place_file.h"
#include "server/build/place/place_folder.h"
#include "server/sys/clock.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define QUIET_MS   30   // what somebody waits for after every save; editors write within a few ms
#define BUSY_MS    1000 // a folder that keeps changing is built anyway
#define LOOK_MS    200
#define EVENTS                                                                          \
    (IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | \
     IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)

// Bounded by PLACE_FOLDER_DEPTH_MAX: deeper ones fail the build.
static Status watch_folder(int descriptor, const char *path, uint32_t depth)
{
    const uint32_t mask = EVENTS | (depth > 0 ? IN_DONT_FOLLOW : 0);
    if (inotify_add_watch(descriptor, path, mask) < 0) {
        return errno == ENOSPC ? STATUS_LIMIT : STATUS_NOT_FOUND;
    }
    DIR *list = depth > PLACE_FOLDER_DEPTH_MAX ? NULL : opendir(path);
    if (list == NULL) {
        return STATUS_OK;
    }
    Status status = STATUS_OK;
    const struct dirent *entry;
    while (status != STATUS_LIMIT && (entry = readdir(list)) != NULL) {
        char inner[PATH_BYTES];
        const int length = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR && !place_name_is_skipped(entry->d_name) && length > 0 &&
            (size_t)length < sizeof inner) {
            // A folder that was removed in the meantime is not an error.
            status = watch_folder(descriptor, inner, depth + 1);
        }
    }
    closedir(list);
    return status == STATUS_LIMIT ? status : STATUS_OK;
}

Status build_watch_open(BuildWatch *watch, const char *place, char *reason, size_t reason_bytes)
{
    *watch = (BuildWatch){.descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
    if (watch->descriptor < 0) {
        snprintf(reason, reason_bytes, "cannot watch: %s", strerror(errno));
        return STATUS_LIMIT;
    }
    const Status status = watch_folder(watch->descriptor, place, 0);
    if (status != STATUS_OK) {
        snprintf(reason, reason_bytes, "%.150s: %s", place,
                 status == STATUS_LIMIT
                     ? "too many folders to watch; raise fs.inotify.max_user_watches"
                     : strerror(errno));
        build_watch_close(watch);
    }
    return status;
}

void build_watch_close(BuildWatch *watch)
{
    if (watch->descriptor >= 0) {
        close(watch->descriptor);
        watch->descriptor = -1;
    }
}

// Hidden files (an editor's, ours) do not count, nor files that we renamed ourselves.
static bool does_matter(BuildWatch *watch, const struct inotify_event *event)
{
    if (event->len == 0) {
        return true;
    }
    if ((event->mask & IN_MOVED_FROM) != 0 && place_file_is_aside(event->name)) {
        watch->own = event->cookie;
    }
    const bool is_own = (event->mask & IN_MOVED_TO) != 0 && event->cookie == watch->own;
    return !is_own && !place_name_is_skipped(event->name);
}

static bool is_source(const char *name)
{
    static const char *const ends[] = {".lua", ".luau", ".ts", ".soul", ".json"};
    const char *dot = strrchr(name, '.');
    bool found = false;
    for (uint32_t i = 0; dot != NULL && i < sizeof ends / sizeof ends[0]; i++) {
        found = found || strcmp(dot, ends[i]) == 0;
    }
    return found;
}

// Begun, or over: closed, renamed or removed.
static void note_written(BuildWatch *watch, const struct inotify_event *event)
{
    if (event->len == 0 || !is_source(event->name)) {
        return;
    }
    Hash64 hash = HASH64_INIT;
    hash_u64(&hash, (uint64_t)event->wd);
    hash_bytes(&hash, event->name, strlen(event->name));
    const bool begins = (event->mask & IN_MODIFY) != 0;
    uint64_t *slot = NULL;
    for (uint32_t i = 0; i < BUILD_WATCH_WRITTEN_MAX; i++) {
        if (watch->written[i] == (hash.state | 1)) {
            slot = &watch->written[i];
            break;
        }
        slot = begins && watch->written[i] == 0 && slot == NULL ? &watch->written[i] : slot;
    }
    if (slot != NULL) {
        *slot = begins ? hash.state | 1 : 0;
    }
}

static bool is_being_written(const BuildWatch *watch)
{
    bool is = false;
    for (uint32_t i = 0; i < BUILD_WATCH_WRITTEN_MAX; i++) {
        is = is || watch->written[i] != 0;
    }
    return is;
}

// True if one of the events counts. A file that is being written does once it is closed.
static bool drain(BuildWatch *watch)
{
    _Alignas(struct inotify_event) char bytes[16384];
    bool matters = false;
    ssize_t got;
    while ((got = read(watch->descriptor, bytes, sizeof bytes)) > 0) {
        for (char *at = bytes; at < bytes + got;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            const bool counts = does_matter(watch, event);
            if (counts) {
                note_written(watch, event);
            }
            matters = (counts && (event->mask & IN_MODIFY) == 0) || matters;
            at += sizeof *event + event->len;
        }
    }
    return matters;
}

bool build_watch_has_changed(BuildWatch *watch)
{
    watch->has_pending = drain(watch) || watch->has_pending || is_being_written(watch);
    return watch->has_pending;
}

void build_watch_wait(BuildWatch *watch, const atomic_bool *cancel)
{
    struct pollfd waits = {.fd = watch->descriptor, .events = POLLIN};
    bool has_changed = watch->has_pending;
    while (!atomic_load(cancel)) {
        if (has_changed && watch->changed_ns == 0) {
            watch->changed_ns = clock_ns();
        }
        const int ready = poll(&waits, 1, has_changed ? QUIET_MS : LOOK_MS);
        if (ready > 0) {
            has_changed = drain(watch) || has_changed;
        } else if (ready == 0 && has_changed && !is_being_written(watch)) {
            return;
        } else if (watch->told != NULL && atomic_exchange(watch->told, false)) {
            has_changed = true;
        }
        if (has_changed && watch->changed_ns != 0 &&
            clock_ns() - watch->changed_ns > BUSY_MS * 1000000ull) {
            return;
        }
    }
}
