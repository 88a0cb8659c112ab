// See collect.h.
#define _GNU_SOURCE
#include "server/serve/collect.h"

#include "server/build/pipeline/build_version.h"
#include "server/draft/draft.h"
#include "server/draft/draft_walk.h"
#include "server/serve/edit/edit_drafts.h"
#include "server/serve/place/places.h"
#include "server/store/backup_lock.h"
#include "server/store/place/store_package.h"
#include "server/store/place/store_upload.h"
#include "server/sys/clock.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MS_PER_DAY    86400000ull
#define SWEEP_NS      3600000000000ull
#define SWEPT_AT_ONCE 1000

// --- the trash ----------------------------------------------------------------------------------

static uint32_t empty_trash(Serve *serve)
{
    StorePackage package;
    uint32_t count = 0;
    const uint64_t now = clock_unix_ms(), days = TRASH_DAYS * MS_PER_DAY;
    while (now > days && count < SWEPT_AT_ONCE &&
           store_package_trashed(serve->store, now - days, &package) == STATUS_OK &&
           store_package_delete(serve->store, package.package_id) == STATUS_OK) {
        edit_draft_end(serve, package.package_id);
        status_ignore(draft_remove(serve->drafts, package.package_id)); // it may have none
        serve_log(LOG_INFO, "places", "%s was in the trash for %u days and is deleted",
                  package.package_id, (unsigned)TRASH_DAYS);
        count += 1;
    }
    return count;
}

// --- blobs --------------------------------------------------------------------------------------

// What editors uploaded and no operation ever named. A draft is edited where its folder is, so the
// host that has it looks.
static void end_uploads(Serve *serve)
{
    char at[65] = "", next[65];
    const uint64_t now = clock_unix_ms();
    for (uint32_t count = 0;
         count < SWEPT_AT_ONCE && store_upload_next(serve->store, at, now, next) == STATUS_OK;
         count++) {
        uint32_t removed = 0;
        memcpy(at, next, sizeof at);
        if (draft_exists(serve->drafts, at) && !edit_draft_is_open(serve, at) &&
            store_upload_sweep(serve->store, at, now, &removed) != STATUS_OK) {
            serve_log(LOG_WARN, "store", "uploads to the draft of %s could not be looked at", at);
        } else if (removed > 0) {
            serve_log(LOG_INFO, "store", "%u uploads to the draft of %s were never used, and end",
                      removed, at);
        }
    }
}

static Status is_used(void *user, const uint8_t hash[SHA256_BYTES], bool *used)
{
    return store_blob_forget(user, hash, used);
}

static bool is_in_folder(void *user, const ServePlace *place)
{
    const size_t bytes = strlen(place->place->folder), wanted = strlen(user);
    return bytes >= wanted && strcmp(place->place->folder + bytes - wanted, user) == 0;
}

// The number that builds of the folder had; nothing is built there again.
static void remove_version(const Serve *serve, const char *folder)
{
    char path[BUILD_VERSION_PATH_BYTES];
    if (build_version_path(serve->build_key, folder, path) == STATUS_OK) {
        (void)unlink(path); // it may never have been built
    }
}

// Folders of packages that are gone, unless worlds still run with them.
static void remove_unpacked(const Serve *serve)
{
    char folder[SERVE_PATH_BYTES], path[SERVE_PATH_BYTES];
    uint8_t hash[SHA256_BYTES];
    DIR *list = serve_join_path(folder, serve->data, "unpacked") ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        char name[sizeof entry->d_name];
        memcpy(name, entry->d_name, sizeof name);
        if (blob_parse(name, strlen(name), hash) != STATUS_OK || blob_exists(serve->blobs, hash) ||
            !serve_join_path(path, folder, name)) {
            continue;
        }
        ServePlace *place = places_find(serve, is_in_folder, name);
        if (place == NULL) {
            remove_version(serve, path);
            draft_walk_remove(path);
        }
        serve_place_release(place);
    }
    if (list != NULL) {
        closedir(list);
    }
}

Status serve_collect(Serve *serve, Collected *out)
{
    char path[SERVE_PATH_BYTES];
    int lock = -1;
    *out = (Collected){0};
    if (serve->control == NULL) {
        return STATUS_OK;
    }
    out->places = empty_trash(serve);
    drafts_sweep(serve->drafts);
    end_uploads(serve);
    Status status = serve_join_path(path, serve->data, BACKUP_LOCK_NAME)
                        ? backup_lock_take(path, &lock)
                        : STATUS_RANGE;
    if (status != STATUS_OK) {
        return status;
    }
    status = blob_collect(serve->blobs, is_used, serve->store, BLOB_KEPT_MS, &out->blobs);
    backup_lock_release(lock);
    if (status == STATUS_OK) {
        remove_unpacked(serve);
    }
    return status;
}

// --- once an hour -------------------------------------------------------------------------------

static void collect(void *user, bool is_cancelled)
{
    Serve *serve = user;
    Collected collected;
    if (is_cancelled) {
        return;
    }
    const Status status = serve_collect(serve, &collected);
    if (status != STATUS_OK && status != STATUS_EXISTS) {
        serve_log(LOG_WARN, "store", "blobs that nobody uses could not be removed: %s",
                  status_text(status));
    } else if (collected.blobs.removed > 0) {
        serve_log(LOG_INFO, "store", "%u of %u blobs were not used any more and are removed",
                  collected.blobs.removed, collected.blobs.seen);
    }
}

void serve_collect_step(Serve *serve)
{
    const uint64_t now = clock_ns();
    if (serve->control != NULL && (serve->swept_ns == 0 || now - serve->swept_ns >= SWEEP_NS)) {
        serve->swept_ns = now;
        status_ignore(work_pool_submit(serve->pool, collect, serve)); // or an hour later
    }
}
