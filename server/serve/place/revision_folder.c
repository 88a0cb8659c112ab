// See revision_folder.h.
#define _GNU_SOURCE
#include "server/serve/place/revision_folder.h"

#include "server/build/package/package.h"
#include "server/sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAKING_MAX 16

// What is being made now. Two threads that want the same folder must not both write it; one whose
// package takes long must not hold up those that want others.
static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    uint8_t hashes[MAKING_MAX][SHA256_BYTES];
    bool is_used[MAKING_MAX];
} making = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

// With the lock: a free slot, unless somebody makes this one already.
static uint32_t find_slot(const uint8_t hash[SHA256_BYTES])
{
    uint32_t slot = MAKING_MAX;
    for (uint32_t i = 0; i < MAKING_MAX; i++) {
        if (making.is_used[i] && memcmp(making.hashes[i], hash, SHA256_BYTES) == 0) {
            return MAKING_MAX;
        }
        slot = making.is_used[i] ? slot : i;
    }
    return slot;
}

static uint32_t begin_making(const uint8_t hash[SHA256_BYTES])
{
    pthread_mutex_lock(&making.lock);
    uint32_t slot;
    while ((slot = find_slot(hash)) == MAKING_MAX) {
        pthread_cond_wait(&making.ended, &making.lock);
    }
    making.is_used[slot] = true;
    memcpy(making.hashes[slot], hash, SHA256_BYTES);
    pthread_mutex_unlock(&making.lock);
    return slot;
}

static void end_making(uint32_t slot)
{
    pthread_mutex_lock(&making.lock);
    making.is_used[slot] = false;
    pthread_cond_broadcast(&making.ended);
    pthread_mutex_unlock(&making.lock);
}

static bool is_folder(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static Status unpack(const Serve *serve, const uint8_t *bytes, size_t count,
                     const atomic_bool *cancel, const char *path, char reason[WORKER_REASON_BYTES])
{
    WorkerConfig config = worker_config_default();
    Worker *worker = NULL;
    PlaceFolder files = {0};
    DiagnosticList warnings = {0};
    config.allow_weak_jail = serve->config.allow_weak_jail;
    config.cancel = cancel;
    Status status = worker_create(&config, &worker);
    if (status == STATUS_OK) {
        const BuildContext context = {.worker = worker, .diagnostics = &warnings, .reason = reason};
        status = package_read(&context, bytes, count, &files);
    }
    if (status == STATUS_OK) {
        status = package_unpack(&files, path, reason);
        place_folder_free(&files);
    }
    worker_destroy(worker);
    diagnostic_list_free(&warnings);
    return status;
}

static Status make_folder(Serve *serve, const StoreRevision *revision, const atomic_bool *cancel,
                          const char *path, char reason[WORKER_REASON_BYTES])
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    if (is_folder(path)) {
        return STATUS_OK;
    }
    Status status =
        blob_read(serve->blobs, revision->package_hash, PACKAGE_BYTES_MAX, &bytes, &count);
    if (status != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "the package cannot be read%s%s",
                 status == STATUS_BLOCKED ? " where it is kept; it is tried again" : ": ",
                 status == STATUS_BLOCKED ? "" : status_text(status));
        return status == STATUS_MALFORMED ? STATUS_BLOCKED : status;
    }
    status = unpack(serve, bytes, count, cancel, path, reason);
    free(bytes);
    return status;
}

static Status name_folder(const Serve *serve, const uint8_t hash[SHA256_BYTES],
                          char path[SERVE_PATH_BYTES], char reason[WORKER_REASON_BYTES])
{
    char name[96] = "unpacked/";
    if (!serve_join_path(path, serve->data, "unpacked") || file_make_folders(path) != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "the folder of unpacked places cannot be made");
        return STATUS_BLOCKED;
    }
    sha256_hex(hash, name + strlen(name));
    return serve_join_path(path, serve->data, name) ? STATUS_OK : STATUS_RANGE;
}

Status revision_folder_fill(Serve *serve, const uint8_t hash[SHA256_BYTES],
                            const PlaceFolder *files, char out[SERVE_PATH_BYTES],
                            char reason[WORKER_REASON_BYTES])
{
    Status status = name_folder(serve, hash, out, reason);
    if (status == STATUS_OK) {
        const uint32_t slot = begin_making(hash);
        status = is_folder(out) ? STATUS_OK : package_unpack(files, out, reason);
        end_making(slot);
    }
    return status;
}

Status revision_folder_make(Serve *serve, const StoreRevision *revision, const atomic_bool *cancel,
                            char out[SERVE_PATH_BYTES], char reason[WORKER_REASON_BYTES])
{
    char path[SERVE_PATH_BYTES];
    const Status named = name_folder(serve, revision->package_hash, path, reason);
    if (named != STATUS_OK) {
        return named;
    }
    const uint32_t slot = begin_making(revision->package_hash);
    const Status status = make_folder(serve, revision, cancel, path, reason);
    end_making(slot);
    if (status == STATUS_OK) {
        memcpy(out, path, sizeof path);
    }
    return status;
}

Status revision_folder_open(Serve *serve, const StoreRevision *revision, char out[SERVE_PATH_BYTES],
                            char reason[WORKER_REASON_BYTES])
{
    return revision_folder_make(serve, revision, NULL, out, reason);
}
