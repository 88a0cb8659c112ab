// See places.h: from a revision in the store to a place that worlds can run with. The package was
// made by a stranger: a worker in a jail reads it, and the build reads what it unpacked.
#define _GNU_SOURCE
#include "server/build/package/package.h"
#include "server/build/pipeline/build_show.h"
#include "server/host/serve/places.h"
#include "server/store/blob.h"
#include "server/sys/file.h"

#include <stdio.h>
#include <sys/stat.h>

#define UNPACKED "unpacked"

// Two threads may want one folder; unpacking is done under one name for the whole process.
static pthread_mutex_t unpack_lock = PTHREAD_MUTEX_INITIALIZER;

static Status fail(char reason[WORKER_REASON_BYTES], Status status, const char *why)
{
    snprintf(reason, WORKER_REASON_BYTES, "%s", why);
    return status;
}

static bool is_folder(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static Status unpack(Serve *serve, const uint8_t *bytes, size_t count, const char *folder,
                     char reason[WORKER_REASON_BYTES])
{
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = serve->config.allow_weak_jail;
    Worker *worker = NULL;
    Status status = worker_create(&config, &worker);
    if (status != STATUS_OK) {
        return fail(reason, status, "the worker that reads packages cannot be made");
    }
    DiagnosticList warnings = {0};
    const BuildContext context = {.worker = worker, .diagnostics = &warnings, .reason = reason};
    PlaceFolder files = {0};
    status = package_read(&context, bytes, count, &files);
    if (status == STATUS_OK) {
        status = package_unpack(&files, folder, reason);
        place_folder_free(&files);
    }
    diagnostic_list_free(&warnings);
    worker_destroy(worker);
    return status;
}

static Status unpack_blob(Serve *serve, const StoreRevision *revision, const char *folder,
                          char reason[WORKER_REASON_BYTES])
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    Status status =
        blob_read(serve->blobs, revision->package_hash, PACKAGE_BYTES_MAX, &bytes, &count);
    if (status != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "the package of %s r%u: %s", revision->package_id,
                 revision->revision, status_text(status));
        // It is lost or damaged: trying again does not help.
        return status == STATUS_NOT_FOUND || status == STATUS_MISMATCH ? STATUS_MALFORMED : status;
    }
    status = unpack(serve, bytes, count, folder, reason);
    free(bytes);
    return status;
}

Status revision_folder_open(Serve *serve, const StoreRevision *revision, char out[SERVE_PATH_BYTES],
                            char reason[WORKER_REASON_BYTES])
{
    char all[SERVE_PATH_BYTES], hex[2 * SHA256_BYTES + 1];
    sha256_hex(revision->package_hash, hex);
    if (!serve_join_path(all, serve->data, UNPACKED) || !serve_join_path(out, all, hex)) {
        return fail(reason, STATUS_RANGE, "the path of the data folder is too long");
    }
    if (file_make_folders(all) != STATUS_OK) {
        return fail(reason, STATUS_BLOCKED, "the folder `" UNPACKED "` cannot be made");
    }
    pthread_mutex_lock(&unpack_lock);
    const Status status =
        is_folder(out) ? STATUS_OK : unpack_blob(serve, revision, out, reason);
    pthread_mutex_unlock(&unpack_lock);
    return status;
}

// The first error, for the log.
static void say_error(const BuildResult *built, char reason[WORKER_REASON_BYTES])
{
    for (uint32_t i = 0; i < built->diagnostics.count && reason[0] == '\0'; i++) {
        if (built->diagnostics.items[i].level == DIAGNOSTIC_ERROR) {
            diagnostic_text(&built->diagnostics.items[i], "", reason, WORKER_REASON_BYTES);
        }
    }
}

static Status build(const Serve *serve, const char *folder, const atomic_bool *cancel,
                    BuildResult *built, char reason[WORKER_REASON_BYTES])
{
    const BuildConfig config = serve_build_config(serve);
    const BuildRequest request = {.place = folder, .pack = true, .cancel = cancel};
    Builder *builder = NULL;
    Status status = builder_create(&config, &builder);
    if (status != STATUS_OK) {
        return fail(reason, status, "no builder can be made");
    }
    status = builder_build(builder, &request, built, reason);
    builder_destroy(builder);
    if (status == STATUS_MALFORMED) {
        say_error(built, reason);
    }
    return status;
}

Status place_open(Serve *serve, const StoreRevision *revision, const char *place_id,
                  const atomic_bool *cancel, ServePlace **out, char reason[WORKER_REASON_BYTES])
{
    char folder[SERVE_PATH_BYTES];
    BuildResult built = {0};
    HostPlace *place = NULL;
    reason[0] = '\0';
    Status status = revision_folder_open(serve, revision, folder, reason);
    if (status == STATUS_OK) {
        status = build(serve, folder, cancel, &built, reason);
    }
    if (status == STATUS_OK) {
        const HostPlaceConfig config = {.place_id = place_id,
                                        .folder = folder,
                                        .player_max = serve->config.player_max,
                                        .development = serve->development};
        status = host_place_create(&config, &built, &place, reason, WORKER_REASON_BYTES);
        // A rune that is too large stays so.
        status = status == STATUS_LIMIT && reason[0] != '\0' ? STATUS_MALFORMED : status;
    }
    build_result_free(&built);
    return status == STATUS_OK ? serve_place_create(serve, place, revision->revision, out) : status;
}
