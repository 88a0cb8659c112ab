// The folders that `sandlot up` is given become packages of the built-in account, so that they are
// played, listed and forked as any other. A folder is looked at by its stamp alone (names, sizes
// and times of its files); one that has changed is packed, built, and becomes the next revision,
// live at once. One that cannot be built changes nothing: what is live stays so.
#define _GNU_SOURCE
#include "server/build/package/package.h"
#include "server/build/place/place_stamp.h"
#include "server/serve/place/places.h"
#include "server/store/people/store_person.h"
#include "server/store/place/blob.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define NOTES           "from the folder at start"
#define DESCRIPTION     "DESCRIPTION.md"
#define STAMP_BYTES_MAX 96

// --- stamps: <data>/stamps/<place id> -----------------------------------------------------------

// The folder as it was packed last, and the revision that it is. A store that has no such revision
// (an old copy was put back) does not count as having it.
typedef struct Stamp {
    char text[2 * SHA256_BYTES + 1];
    uint32_t number;
} Stamp;

static bool stamp_path(const Serve *serve, const char *place_id, char out[SERVE_PATH_BYTES])
{
    char folder[SERVE_PATH_BYTES];
    return serve_join_path(folder, serve->data, "stamps") &&
           file_make_folders(folder) == STATUS_OK && serve_join_path(out, folder, place_id);
}

static bool has_stamp(const Serve *serve, const StorePackage *package, const Stamp *now)
{
    char path[SERVE_PATH_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    Stamp kept = {.number = 0};
    if (!stamp_path(serve, package->package_id, path) ||
        file_read(path, STAMP_BYTES_MAX, &bytes, &count) != STATUS_OK) {
        return false;
    }
    const bool is_read =
        sscanf((const char *)bytes, "%64s r%" SCNu32, kept.text, &kept.number) == 2;
    free(bytes);
    return is_read && strcmp(kept.text, now->text) == 0 && kept.number != 0 &&
           kept.number <= package->last_revision;
}

// Without it, the folder is packed at the next start too, and found to be the same.
static void keep_stamp(const Serve *serve, const char *place_id, const Stamp *stamp)
{
    char path[SERVE_PATH_BYTES], text[STAMP_BYTES_MAX];
    const int bytes = snprintf(text, sizeof text, "%s r%" PRIu32 "\n", stamp->text, stamp->number);
    if (stamp_path(serve, place_id, path)) {
        status_ignore(file_write_private(path, text, (size_t)bytes));
    }
}

// --- one folder ---------------------------------------------------------------------------------

typedef struct Folder {
    Serve *serve;
    const char *path;
    char place_id[65];
    StorePackage package;
    bool is_known; // the package is in the store
    Buffer game;
    char title[PACKAGE_PLACE_NAME_BYTES];
    char description[STORE_DESCRIPTION_BYTES];
    char reason[WORKER_REASON_BYTES];
} Folder;

// What its page says. It was checked to be text when the folder was packed; without the file, or
// with a longer one, the page says nothing.
static void read_description(Folder *folder)
{
    char path[SERVE_PATH_BYTES];
    uint8_t *bytes = NULL;
    size_t count = 0;
    folder->description[0] = '\0';
    if (serve_join_path(path, folder->path, DESCRIPTION) &&
        file_read(path, STORE_DESCRIPTION_BYTES - 1, &bytes, &count) == STATUS_OK) {
        memcpy(folder->description, bytes, count);
        folder->description[count] = '\0';
    }
    free(bytes);
}

static Status pack(Folder *folder)
{
    WorkerConfig config = worker_config_default();
    config.allow_weak_jail = folder->serve->config.allow_weak_jail;
    config.cancel = folder->serve->cancel;
    Worker *worker = NULL;
    Status status = worker_create(&config, &worker);
    if (status != STATUS_OK) {
        return status;
    }
    DiagnosticList warnings = {0};
    PackageInfo info = {0};
    const BuildContext context = {
        .worker = worker, .diagnostics = &warnings, .reason = folder->reason};
    status = package_pack(&context, folder->path, &folder->game, &info);
    if (status == STATUS_OK) {
        snprintf(folder->title, sizeof folder->title, "%s", info.name);
        package_info_free(&info);
        read_description(folder);
    }
    diagnostic_list_free(&warnings);
    worker_destroy(worker);
    return status;
}

// Is it what the newest revision has?
static bool is_newest(const Folder *folder, const uint8_t hash[32])
{
    StoreRevision newest;
    return folder->is_known && folder->package.last_revision > 0 &&
           store_revision_find(folder->serve->store, folder->place_id,
                               folder->package.last_revision, &newest) == STATUS_OK &&
           memcmp(newest.package_hash, hash, sizeof newest.package_hash) == 0;
}

static Status put_package(Folder *folder)
{
    StorePackage *package = &folder->package;
    Store *store = folder->serve->store;
    if (folder->is_known) {
        const bool is_same = strcmp(package->title, folder->title) == 0 &&
                             strcmp(package->description, folder->description) == 0;
        snprintf(package->title, sizeof package->title, "%s", folder->title);
        memcpy(package->description, folder->description, sizeof package->description);
        return is_same ? STATUS_OK : store_package_change(store, package);
    }
    *package = (StorePackage){.kind = STORE_PLACE,
                              .owner_id = STORE_BUILT_IN_ACCOUNT,
                              .visibility = STORE_LISTED,
                              .flags = STORE_PACKAGE_OPEN | STORE_PACKAGE_APPROVED,
                              .created_unix_ms = clock_unix_ms(),
                              .updated_unix_ms = clock_unix_ms()};
    memcpy(package->package_id, folder->place_id, sizeof package->package_id);
    snprintf(package->title, sizeof package->title, "%s", folder->title);
    memcpy(package->description, folder->description, sizeof package->description);
    return store_package_make(store, package, UINT32_MAX);
}

// It is built before it is a revision: only what can be played becomes live.
static Status try_build(Folder *folder, const StoreRevision *revision)
{
    ServePlace *place = NULL;
    const Status status = place_open(folder->serve, revision, folder->place_id,
                                     folder->serve->cancel, &place, folder->reason);
    serve_place_release(place);
    return status;
}

static Status set_live(Folder *folder, uint32_t number)
{
    const Status status = store_channel_set(folder->serve->store, folder->place_id, STORE_LIVE,
                                            number, clock_unix_ms(), NULL);
    folder->package.live = status == STATUS_OK ? number : folder->package.live;
    return status;
}

static Status add_revision(Folder *folder, StoreRevision *revision)
{
    Store *store = folder->serve->store;
    Status status = put_package(folder);
    if (status == STATUS_OK) {
        status = store_revision_add(store, revision, UINT64_MAX);
    }
    if (status == STATUS_OK) {
        status = set_live(folder, revision->revision);
    }
    if (status != STATUS_OK) {
        snprintf(folder->reason, sizeof folder->reason, "its revision cannot be stored: %s",
                 status_text(status));
        return status;
    }
    folder->package.last_revision = revision->revision;
    serve_log(LOG_INFO, "places", "%s: revision %u, from %s", folder->place_id, revision->revision,
              folder->path);
    return STATUS_OK;
}

static Status publish(Folder *folder, Stamp *stamp)
{
    Status status = pack(folder);
    StoreRevision revision = {.maker_id = STORE_BUILT_IN_ACCOUNT,
                              .state = STORE_REVISION_READY,
                              .notes = NOTES,
                              .package_bytes = folder->game.bytes,
                              .created_unix_ms = clock_unix_ms()};
    memcpy(revision.package_id, folder->place_id, sizeof revision.package_id);
    if (status == STATUS_OK) {
        sha256_of(folder->game.data, folder->game.bytes, revision.package_hash);
    }
    const bool is_same = status == STATUS_OK && is_newest(folder, revision.package_hash);
    if (is_same && folder->package.live == 0) { // its folder was gone, and is back
        status = set_live(folder, folder->package.last_revision);
    } else if (status == STATUS_OK && !is_same) {
        status = blob_put(folder->serve->blobs, folder->game.data, folder->game.bytes,
                          revision.package_hash);
        status = status == STATUS_OK ? try_build(folder, &revision) : status;
        status = status == STATUS_OK ? add_revision(folder, &revision) : status;
    }
    if (status == STATUS_OK) {
        stamp->number = folder->package.last_revision;
        keep_stamp(folder->serve, folder->place_id, stamp);
    }
    return status;
}

static Status open_folder(Folder *folder)
{
    uint8_t hash[SHA256_BYTES];
    Stamp stamp = {.number = 0};
    Status status = store_package_find(folder->serve->store, folder->place_id, &folder->package);
    folder->is_known = status == STATUS_OK;
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return status;
    }
    if (folder->is_known && folder->package.trashed_unix_ms != 0) {
        return STATUS_OK; // somebody has thrown it away, and it stays there
    }
    status = place_stamp(folder->path, hash);
    if (status != STATUS_OK) {
        return status;
    }
    sha256_hex(hash, stamp.text);
    const bool is_same = folder->is_known && has_stamp(folder->serve, &folder->package, &stamp);
    return is_same ? STATUS_OK : publish(folder, &stamp);
}

// --- all of them --------------------------------------------------------------------------------

static bool is_taken(const Serve *serve, const char *place_id)
{
    for (uint32_t i = 0; i < serve->built_in_count; i++) {
        if (strcmp(serve->built_in[i].place_id, place_id) == 0) {
            return true;
        }
    }
    return false;
}

static void note_served(Serve *serve, const StorePackage *package)
{
    ServeBuiltIn *served = &serve->built_in[serve->built_in_count++];
    memcpy(served->place_id, package->package_id, sizeof served->place_id);
    memcpy(served->title, package->title, sizeof served->title);
}

static Status open_one(Serve *serve, const char *path)
{
    Folder folder = {.serve = serve, .path = path, .game = buffer_of(PACKAGE_BYTES_MAX)};
    serve_place_id(path, folder.place_id);
    if (is_taken(serve, folder.place_id)) {
        serve_log_failure(serve->command, "%s: another place has the same folder name; rename one",
                          path);
        return STATUS_EXISTS;
    }
    Status status = STATUS_MALFORMED;
    const PlaceChannel channel = place_id_channel(folder.place_id);
    if (channel != PLACE_LIVE) {
        snprintf(folder.reason, sizeof folder.reason, "the name of a place must not end with %s",
                 place_channel_ending(channel));
    } else {
        status = open_folder(&folder);
        if (status == STATUS_EXISTS && serve->config.store != NULL) { // another host was quicker
            buffer_free(&folder.game);
            folder.game = buffer_of(PACKAGE_BYTES_MAX);
            folder.reason[0] = '\0';
            status = open_folder(&folder);
        }
    }
    if (status != STATUS_OK) {
        serve_log(LOG_ERROR, "build", "%s is not served, because it cannot be built: %s", path,
                  folder.reason[0] != '\0' ? folder.reason : status_text(status));
    }
    const bool is_gone =
        folder.package.trashed_unix_ms != 0 || (folder.package.flags & STORE_PACKAGE_REMOVED) != 0;
    if (folder.package.live != 0 && !is_gone) {
        note_served(serve, &folder.package);
    }
    buffer_free(&folder.game);
    return status;
}

// The first one that can be opened is the default place.
static Status open_default(Serve *serve)
{
    char reason[WORKER_REASON_BYTES];
    for (uint32_t i = 0; i < serve->built_in_count; i++) {
        const char *place_id = serve->built_in[i].place_id;
        StorePackage package;
        StoreRevision revision;
        ServePlace *place = NULL;
        Status status = store_package_find(serve->store, place_id, &package);
        status = status == STATUS_OK
                     ? store_revision_find(serve->store, place_id, package.live, &revision)
                     : status;
        reason[0] = '\0';
        status = status == STATUS_OK
                     ? place_open(serve, &revision, place_id, serve->cancel, &place, reason)
                     : status;
        if (status == STATUS_OK) {
            place->place->needs_ticket = package.visibility == STORE_PRIVATE;
            atomic_store(&place->is_private, package.visibility == STORE_PRIVATE);
            place->place->is_hidden = package.visibility != STORE_LISTED;
            places_put(serve, place);
            serve_place_changed(serve, place_id); // who is kept out is looked at too
            memcpy(serve->default_place, place_id, sizeof serve->default_place);
            return STATUS_OK;
        }
        serve_log(LOG_ERROR, "build", "%s cannot be opened: %s", place_id,
                  reason[0] != '\0' ? reason : status_text(status));
    }
    return STATUS_MALFORMED;
}

static bool is_given(const Serve *serve, const char *place_id)
{
    char given[65];
    for (uint32_t i = 0; serve->config.places[i] != NULL; i++) {
        serve_place_id(serve->config.places[i], given);
        if (strcmp(given, place_id) == 0) {
            return true;
        }
    }
    return false;
}

// A place whose folder is gone is not played any more. Its worlds and revisions stay, and it is
// played again when the folder is back.
static void take_back(Serve *serve, const char *place_id)
{
    char path[SERVE_PATH_BYTES];
    const Status status =
        store_channel_set(serve->store, place_id, STORE_LIVE, 0, clock_unix_ms(), NULL);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        return; // at the next start
    }
    serve_log(LOG_INFO, "places", "%s is not played any more: its folder is gone", place_id);
    if (stamp_path(serve, place_id, path)) {
        (void)unlink(path);
    }
}

static void take_back_gone(Serve *serve)
{
    char folder[SERVE_PATH_BYTES];
    DIR *list = serve_join_path(folder, serve->data, "stamps") ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (entry->d_name[0] != '.' && strlen(entry->d_name) < 65 &&
            !is_given(serve, entry->d_name)) {
            take_back(serve, entry->d_name);
        }
    }
    if (list != NULL) {
        closedir(list);
    }
}

Status serve_built_in_open(Serve *serve)
{
    if (!serve_build_paths(serve)) {
        return STATUS_RANGE;
    }
    for (uint32_t i = 0; serve->config.places[i] != NULL; i++) {
        const Status status = open_one(serve, serve->config.places[i]);
        // Of many places one may be broken. What is wrong with this machine ends the start.
        if (status == STATUS_EXISTS ||
            (status != STATUS_OK &&
             (atomic_load(serve->cancel) || file_disk_problem(serve->data) != NULL))) {
            return status;
        }
    }
    take_back_gone(serve);
    return open_default(serve);
}
