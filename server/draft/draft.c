// See draft.h.
#define _GNU_SOURCE
#include "server/draft/draft.h"

#include "core/base/hash.h"
#include "core/base/limits.h"
#include "server/build/package/package_rules.h"
#include "server/build/place/place_file.h"
#include "server/draft/draft_walk.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCKS       64 // drafts share them by a hash of their ids
#define NEW_FOLDER  ".new-"
#define GONE_FOLDER ".gone-"

struct Drafts {
    char folder[DRAFT_PATH_BYTES]; // <data>/drafts
    Store *store;
    BlobStore *blobs;
    uint64_t account_bytes_max;
    pthread_mutex_t locks[LOCKS];
};

// --- all of them --------------------------------------------------------------------------------

Status drafts_open(const char *data_folder, Store *store, BlobStore *blobs,
                   uint64_t account_bytes_max, Drafts **out)
{
    Drafts *drafts = calloc(1, sizeof *drafts);
    if (drafts == NULL) {
        return STATUS_LIMIT;
    }
    const int bytes = snprintf(drafts->folder, sizeof drafts->folder, "%s/drafts", data_folder);
    const Status status =
        bytes < (int)sizeof drafts->folder - 128 ? file_make_folders(drafts->folder) : STATUS_RANGE;
    if (status != STATUS_OK) {
        free(drafts);
        return status;
    }
    draft_walk_sweep(drafts->folder, NEW_FOLDER);
    draft_walk_sweep(drafts->folder, GONE_FOLDER);
    drafts->store = store;
    drafts->blobs = blobs;
    drafts->account_bytes_max = account_bytes_max;
    for (uint32_t i = 0; i < LOCKS; i++) {
        pthread_mutex_init(&drafts->locks[i], NULL);
    }
    *out = drafts;
    return STATUS_OK;
}

void drafts_close(Drafts *drafts)
{
    for (uint32_t i = 0; drafts != NULL && i < LOCKS; i++) {
        pthread_mutex_destroy(&drafts->locks[i]);
    }
    free(drafts);
}

static pthread_mutex_t *lock_of(Drafts *drafts, const char *place_id)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, place_id, strlen(place_id));
    pthread_mutex_t *lock = &drafts->locks[hash.state % LOCKS];
    pthread_mutex_lock(lock);
    return lock;
}

// An id has no dot and no slash, so it is never one of our own names.
static bool is_id(const char *id)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const size_t bytes = strlen(id);
    return bytes > 0 && bytes <= 64 && strspn(id, letters) == bytes;
}

static Status folder_of(const Drafts *drafts, const char *before, const char *place_id,
                        char out[DRAFT_PATH_BYTES])
{
    if (!is_id(place_id)) {
        return STATUS_MALFORMED;
    }
    const int bytes = snprintf(out, DRAFT_PATH_BYTES, "%s/%s%s", drafts->folder, before, place_id);
    return bytes < DRAFT_PATH_BYTES ? STATUS_OK : STATUS_RANGE;
}

Status draft_folder(const Drafts *drafts, const char *place_id, char out[DRAFT_PATH_BYTES])
{
    return folder_of(drafts, "", place_id, out);
}

bool draft_exists(const Drafts *drafts, const char *place_id)
{
    char folder[DRAFT_PATH_BYTES];
    struct stat about;
    return draft_folder(drafts, place_id, folder) == STATUS_OK && lstat(folder, &about) == 0 &&
           S_ISDIR(about.st_mode);
}

// --- one file as it is ---------------------------------------------------------------------------

// False: it is not a file of ours to read.
static bool stat_file(const char *folder, const char *path, uint64_t *bytes, uint64_t *changed_ns)
{
    int file = -1;
    struct stat about;
    if (place_file_open(folder, path, &file) != STATUS_OK) {
        return false;
    }
    const bool is_good = fstat(file, &about) == 0;
    close(file);
    *bytes = (uint64_t)about.st_size;
    *changed_ns = (uint64_t)about.st_mtim.tv_sec * 1000000000ull + (uint64_t)about.st_mtim.tv_nsec;
    return is_good;
}

typedef struct Content {
    uint8_t *data; // NULL: there is no such file
    size_t bytes;
    uint8_t hash[SHA256_BYTES];
} Content;

static bool is_same(const Content *a, const Content *b)
{
    return (a->data == NULL) == (b->data == NULL) &&
           (a->data == NULL || memcmp(a->hash, b->hash, sizeof a->hash) == 0);
}

static Status read_content(const char *folder, const char *path, Content *out,
                           char reason[WORKER_REASON_BYTES])
{
    PackageKind kind;
    *out = (Content){0};
    Status status = package_name_check(path, &kind, reason);
    if (status != STATUS_OK) {
        return status;
    }
    status = place_file_read(folder, path, package_kind_bytes_max(kind), &out->data, &out->bytes);
    if (status == STATUS_OK) {
        sha256_of(out->data, out->bytes, out->hash);
    } else if (status != STATUS_NOT_FOUND) {
        snprintf(reason, WORKER_REASON_BYTES, "%s cannot be read: %s", path, status_text(status));
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static Status record(Drafts *drafts, const char *place_id, const char *path, const Content *content,
                     uint64_t maker, StoreDraftFile *out)
{
    char folder[DRAFT_PATH_BYTES];
    StoreDraftChange change = {.package_id = place_id,
                               .path = path,
                               .hash = content->data != NULL ? content->hash : NULL,
                               .bytes = content->bytes,
                               .maker_id = maker,
                               .unix_ms = clock_unix_ms(),
                               .bytes_max = drafts->account_bytes_max};
    uint64_t bytes;
    uint8_t hash[SHA256_BYTES];
    uint32_t version = 0;
    Status status = draft_folder(drafts, place_id, folder);
    if (status == STATUS_OK && content->data != NULL) {
        (void)stat_file(folder, path, &bytes, &change.changed_ns);
        status = blob_put(drafts->blobs, content->data, content->bytes, hash);
    }
    status = status == STATUS_OK ? store_draft_change(drafts->store, &change, &version) : status;
    if (status == STATUS_OK && out != NULL) {
        *out = (StoreDraftFile){.version = version, .bytes = content->bytes};
        snprintf(out->path, sizeof out->path, "%s", path);
        memcpy(out->hash, content->hash, sizeof out->hash);
    }
    return status;
}

// What is there, if somebody else has written it since it was last seen, becomes a version first:
// whoever replaces it now can have it back.
static Status record_as(Drafts *drafts, const char *place_id, const char *path,
                        const Content *content, uint64_t maker)
{
    StoreDraftFile seen;
    const Status status = store_draft_file(drafts->store, place_id, path, &seen);
    const bool is_known = status == STATUS_OK && content->data != NULL &&
                          memcmp(seen.hash, content->hash, SHA256_BYTES) == 0;
    return !is_known && (content->data != NULL || status == STATUS_OK)
               ? record(drafts, place_id, path, content, maker, NULL)
               : STATUS_OK;
}

static void record_outside(Drafts *drafts, const char *place_id, const char *path,
                           const Content *content)
{
    status_ignore(record_as(drafts, place_id, path, content, 0)); // then it is just not kept
}

static void put_back(const char *folder, const char *path, const Content *before)
{
    status_ignore(before->data != NULL
                      ? place_file_write(folder, path, before->data, before->bytes, false)
                      : place_file_delete(folder, path)); // what stays then is found later
}

Status draft_change(Drafts *drafts, const char *place_id, const char *path, uint64_t maker,
                    DraftChange change, void *user)
{
    char folder[DRAFT_PATH_BYTES], reason[WORKER_REASON_BYTES];
    Content before = {0}, after = {0};
    const bool has_folder = draft_folder(drafts, place_id, folder) == STATUS_OK;
    pthread_mutex_t *lock = lock_of(drafts, place_id);
    const bool is_known = has_folder && read_content(folder, path, &before, reason) == STATUS_OK;
    if (is_known) {
        record_outside(drafts, place_id, path, &before);
    }
    Status status = change(user);
    if (has_folder && read_content(folder, path, &after, reason) == STATUS_OK &&
        record_as(drafts, place_id, path, &after, maker) == STATUS_LIMIT && is_known &&
        status == STATUS_OK && !is_same(&before, &after)) {
        put_back(folder, path, &before);
        status = STATUS_LIMIT;
    }
    pthread_mutex_unlock(lock);
    free(before.data);
    free(after.data);
    return status;
}

// --- lists --------------------------------------------------------------------------------------

typedef struct Listing {
    Drafts *drafts;
    const char *place_id, *folder;
    uint64_t maker;        // of what was not seen before
    StoreDraftFile *files; // as seen before, by path
    uint32_t file_count;
    StoreDraftFile *out;
    uint32_t count;
    bool is_full;
    bool has_no_room; // for a version of one of them
} Listing;

static int by_path(const void *a, const void *b)
{
    return strcmp(((const StoreDraftFile *)a)->path, ((const StoreDraftFile *)b)->path);
}

static const StoreDraftFile *find_seen(const Listing *list, const char *path)
{
    StoreDraftFile wanted;
    snprintf(wanted.path, sizeof wanted.path, "%s", path);
    return bsearch(&wanted, list->files, list->file_count, sizeof wanted, by_path);
}

// One that looks as it did when it was last seen is not read.
static void list_file(void *user, const char *path)
{
    Listing *list = user;
    char reason[WORKER_REASON_BYTES];
    Content content;
    uint64_t bytes = 0, changed_ns = 0;
    if (list->count == PLACE_FILES_MAX) {
        list->is_full = true;
        return;
    }
    const StoreDraftFile *seen = find_seen(list, path);
    if (!stat_file(list->folder, path, &bytes, &changed_ns)) {
        return;
    }
    if (seen != NULL && seen->bytes == bytes && seen->changed_ns == changed_ns) {
        list->out[list->count++] = *seen;
    } else if (read_content(list->folder, path, &content, reason) == STATUS_OK &&
               content.data != NULL) {
        StoreDraftFile *file = &list->out[list->count];
        const Status status =
            record(list->drafts, list->place_id, path, &content, list->maker, file);
        list->has_no_room = list->has_no_room || status == STATUS_LIMIT;
        if (status != STATUS_OK) {
            *file = (StoreDraftFile){.bytes = content.bytes}; // without a version
            snprintf(file->path, sizeof file->path, "%s", path);
            memcpy(file->hash, content.hash, sizeof file->hash);
        }
        list->count += 1;
        free(content.data);
    }
}

// Those that were seen before and are gone.
static void record_gone(const Listing *list)
{
    for (uint32_t i = 0; i < list->file_count; i++) {
        uint64_t bytes, changed_ns;
        const Content none = {0};
        if (!stat_file(list->folder, list->files[i].path, &bytes, &changed_ns)) {
            status_ignore(
                record(list->drafts, list->place_id, list->files[i].path, &none, 0, NULL));
        }
    }
}

static Status list_files(Listing *list)
{
    Status status = store_draft_files(list->drafts->store, list->place_id, list->files,
                                      PLACE_FILES_MAX, &list->file_count);
    if (status == STATUS_OK) {
        status = draft_walk(list->folder, list_file, list);
    }
    if (status != STATUS_OK) {
        return status;
    }
    record_gone(list);
    qsort(list->out, list->count, sizeof *list->out, by_path);
    return list->is_full ? STATUS_LIMIT : STATUS_OK;
}

// The files are list->out, for free(). With the draft's lock held.
static Status list_as(Drafts *drafts, const char *place_id, const char *folder, uint64_t maker,
                      Listing *list)
{
    *list = (Listing){.drafts = drafts,
                      .place_id = place_id,
                      .folder = folder,
                      .maker = maker,
                      .files = calloc(PLACE_FILES_MAX, sizeof *list->files),
                      .out = calloc(PLACE_FILES_MAX, sizeof *list->out)};
    const Status status =
        list->files != NULL && list->out != NULL ? list_files(list) : STATUS_LIMIT;
    free(list->files);
    list->files = NULL;
    return status;
}

Status draft_list(Drafts *drafts, const char *place_id, StoreDraftFile **out, uint32_t *count)
{
    char folder[DRAFT_PATH_BYTES];
    Listing list;
    if (!draft_exists(drafts, place_id)) {
        return STATUS_NOT_FOUND;
    }
    status_ignore(draft_folder(drafts, place_id, folder)); // it exists
    pthread_mutex_t *lock = lock_of(drafts, place_id);
    const Status status = list_as(drafts, place_id, folder, 0, &list);
    pthread_mutex_unlock(lock);
    if (status != STATUS_OK) {
        free(list.out);
        return status;
    }
    *out = list.out;
    *count = list.count;
    return STATUS_OK;
}

// --- reading ------------------------------------------------------------------------------------

Status draft_read(Drafts *drafts, const char *place_id, const char *path, uint8_t **out,
                  size_t *bytes, StoreDraftFile *about, char reason[WORKER_REASON_BYTES])
{
    char folder[DRAFT_PATH_BYTES];
    Content content = {0};
    Status status = draft_folder(drafts, place_id, folder);
    if (status != STATUS_OK) {
        return STATUS_NOT_FOUND;
    }
    pthread_mutex_t *lock = lock_of(drafts, place_id);
    status = read_content(folder, path, &content, reason);
    if (status == STATUS_OK && content.data != NULL) {
        record_outside(drafts, place_id, path, &content);
        if (store_draft_file(drafts->store, place_id, path, about) != STATUS_OK) {
            *about = (StoreDraftFile){.bytes = content.bytes};
            snprintf(about->path, sizeof about->path, "%s", path);
        }
        memcpy(about->hash, content.hash, sizeof about->hash);
    }
    pthread_mutex_unlock(lock);
    if (status == STATUS_OK && content.data == NULL) {
        snprintf(reason, WORKER_REASON_BYTES, "there is no file %s in this draft", path);
        return STATUS_NOT_FOUND;
    }
    *out = content.data;
    *bytes = content.bytes;
    return status;
}

Status draft_read_version(Drafts *drafts, const char *place_id, const char *path, uint32_t version,
                          uint8_t **out, size_t *bytes)
{
    StoreDraftVersion found;
    const Status status = store_draft_version(drafts->store, place_id, path, version, &found);
    if (status != STATUS_OK || found.is_deleted) {
        return status == STATUS_OK ? STATUS_NOT_FOUND : status;
    }
    return blob_read(drafts->blobs, found.hash, BLOB_BYTES_MAX, out, bytes);
}

// --- writing ------------------------------------------------------------------------------------

static bool is_what_was_known(const Content *content, const uint8_t *known)
{
    return known == NULL
               ? content->data == NULL
               : content->data != NULL && memcmp(content->hash, known, sizeof content->hash) == 0;
}

static void tell_now(const Content *content, const char *path, StoreDraftFile *now)
{
    *now = (StoreDraftFile){.bytes = content->bytes};
    if (content->data != NULL) {
        snprintf(now->path, sizeof now->path, "%s", path);
        memcpy(now->hash, content->hash, sizeof now->hash);
    }
}

// The draft's folder, with what is there now, which is what the writer knew. Holds no lock.
static Status check_known(Drafts *drafts, const DraftWrite *write, const char *folder,
                          Content *before, StoreDraftFile *now, char reason[WORKER_REASON_BYTES])
{
    const Status status = read_content(folder, write->path, before, reason);
    if (status != STATUS_OK) {
        return status;
    }
    record_outside(drafts, write->place_id, write->path, before);
    if (!is_what_was_known(before, write->known)) {
        tell_now(before, write->path, now);
        snprintf(reason, WORKER_REASON_BYTES, "%s %s; nothing was written", write->path,
                 before->data == NULL   ? "is not there any more"
                 : write->known == NULL ? "is there already"
                                        : "has been changed meanwhile");
        return STATUS_MISMATCH;
    }
    return STATUS_OK;
}

// Another file whose path is the same but for case, or a file where a folder is needed.
static Status check_others(Drafts *drafts, const DraftWrite *write, const char *path,
                           char reason[WORKER_REASON_BYTES])
{
    StoreDraftFile *files = calloc(PLACE_FILES_MAX, sizeof *files);
    const char **paths = calloc(PLACE_FILES_MAX + 1, sizeof *paths);
    uint32_t count = 0;
    Status status = files != NULL && paths != NULL ? STATUS_OK : STATUS_LIMIT;
    if (status == STATUS_OK) {
        status = store_draft_files(drafts->store, write->place_id, files, PLACE_FILES_MAX, &count);
    }
    if (status == STATUS_OK && count >= PLACE_FILES_MAX) {
        snprintf(reason, WORKER_REASON_BYTES, "a place has at most %u files", PLACE_FILES_MAX);
        status = STATUS_LIMIT;
    }
    if (status == STATUS_OK) {
        uint32_t path_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(files[i].path, path) != 0 && strcmp(files[i].path, write->path) != 0) {
                paths[path_count++] = files[i].path;
            }
        }
        paths[path_count++] = path;
        status = package_paths_differ(paths, path_count, reason);
    }
    free(files);
    free(paths);
    return status;
}

static Status check_size(const DraftWrite *write, const char *path,
                         char reason[WORKER_REASON_BYTES])
{
    PackageKind kind;
    const Status status = package_name_check(path, &kind, reason);
    return status == STATUS_OK ? package_size_check(path, kind, write->bytes, reason) : status;
}

static Status owner_bytes(Drafts *drafts, const char *place_id, uint64_t *used)
{
    StorePackage package;
    const Status status = store_package_find(drafts->store, place_id, &package);
    *used = 0;
    return status == STATUS_OK ? store_account_bytes(drafts->store, package.owner_id, used)
                               : status;
}

static void tell_room(const Drafts *drafts, uint64_t used, char reason[WORKER_REASON_BYTES])
{
    snprintf(reason, WORKER_REASON_BYTES,
             "the owner of this place uses %llu of %llu bytes; the owner can delete revisions, "
             "what is in the trash, or a draft with its history, where also what editors have "
             "uploaded counts that no file uses, or ask the operator for more",
             (unsigned long long)used, (unsigned long long)drafts->account_bytes_max);
}

void draft_tell_no_room(Drafts *drafts, const char *place_id, char reason[WORKER_REASON_BYTES])
{
    uint64_t used;
    status_ignore(owner_bytes(drafts, place_id, &used)); // then it says 0
    tell_room(drafts, used, reason);
}

Status draft_has_room(Drafts *drafts, const char *place_id, uint64_t bytes,
                      char reason[WORKER_REASON_BYTES])
{
    uint64_t used;
    Status status = owner_bytes(drafts, place_id, &used);
    if (status == STATUS_OK && used + bytes + ROW_CHARGE_BYTES > drafts->account_bytes_max) {
        tell_room(drafts, used, reason);
        status = STATUS_LIMIT;
    }
    return status;
}

// First the blob, then the file, then the row: a version that is listed can be read. Without room
// for the row the file is put back.
static Status write_content(Drafts *drafts, const DraftWrite *write, const char *folder,
                            const Content *before, StoreDraftFile *now,
                            char reason[WORKER_REASON_BYTES])
{
    // Never NULL: an empty file is a file.
    const Content after = {.data = write->bytes > 0 ? (uint8_t *)(uintptr_t)write->data
                                                    : (uint8_t *)(uintptr_t) "",
                           .bytes = write->bytes};
    Content content = after;
    sha256_of(content.data, content.bytes, content.hash);
    Status status = draft_has_room(drafts, write->place_id, write->bytes, reason);
    if (status == STATUS_LIMIT) {
        return status;
    }
    if (status == STATUS_OK) {
        status = place_file_write(folder, write->path, content.data, content.bytes,
                                  before->data == NULL);
    }
    status = status == STATUS_OK
                 ? record(drafts, write->place_id, write->path, &content, write->maker, now)
                 : status;
    if (status == STATUS_LIMIT) {
        put_back(folder, write->path, before);
        draft_tell_no_room(drafts, write->place_id, reason);
    }
    if (status != STATUS_OK && reason[0] == '\0') {
        snprintf(reason, WORKER_REASON_BYTES, "%s cannot be written: %s", write->path,
                 status == STATUS_DENIED ? "a link is in the way" : status_text(status));
    }
    return status;
}

Status draft_write(Drafts *drafts, const DraftWrite *write, StoreDraftFile *now,
                   char reason[WORKER_REASON_BYTES])
{
    char folder[DRAFT_PATH_BYTES];
    Content before = {0};
    reason[0] = '\0';
    if (!draft_exists(drafts, write->place_id) ||
        draft_folder(drafts, write->place_id, folder) != STATUS_OK) {
        snprintf(reason, WORKER_REASON_BYTES, "this place has no draft");
        return STATUS_NOT_FOUND;
    }
    Status status = check_size(write, write->path, reason);
    if (status != STATUS_OK) {
        return status;
    }
    pthread_mutex_t *lock = lock_of(drafts, write->place_id);
    status = check_known(drafts, write, folder, &before, now, reason);
    if (status == STATUS_OK && before.data == NULL) {
        status = check_others(drafts, write, write->path, reason);
    }
    if (status == STATUS_OK) {
        status = write_content(drafts, write, folder, &before, now, reason);
    }
    pthread_mutex_unlock(lock);
    free(before.data);
    return status;
}

Status draft_delete_file(Drafts *drafts, const DraftWrite *write, StoreDraftFile *now,
                         char reason[WORKER_REASON_BYTES])
{
    char folder[DRAFT_PATH_BYTES];
    Content before = {0};
    const Content none = {0};
    reason[0] = '\0';
    if (draft_folder(drafts, write->place_id, folder) != STATUS_OK) {
        return STATUS_NOT_FOUND;
    }
    pthread_mutex_t *lock = lock_of(drafts, write->place_id);
    Status status = check_known(drafts, write, folder, &before, now, reason);
    if (status == STATUS_OK) {
        status = place_file_delete(folder, write->path);
    }
    if (status == STATUS_OK) {
        status = record(drafts, write->place_id, write->path, &none, write->maker, NULL);
    }
    pthread_mutex_unlock(lock);
    free(before.data);
    return status;
}

Status draft_move(Drafts *drafts, const DraftWrite *write, const char *to, StoreDraftFile *now,
                  char reason[WORKER_REASON_BYTES])
{
    char folder[DRAFT_PATH_BYTES];
    Content before = {0};
    const Content none = {0};
    reason[0] = '\0';
    if (draft_folder(drafts, write->place_id, folder) != STATUS_OK) {
        return STATUS_NOT_FOUND;
    }
    pthread_mutex_t *lock = lock_of(drafts, write->place_id);
    Status status = check_known(drafts, write, folder, &before, now, reason);
    if (status == STATUS_OK) {
        const DraftWrite sized = {.bytes = before.bytes};
        status = check_size(&sized, to, reason);
    }
    status = status == STATUS_OK ? check_others(drafts, write, to, reason) : status;
    if (status == STATUS_OK) { // the new name first: at no moment is the content nowhere
        status = place_file_write(folder, to, before.data, before.bytes, true);
    }
    if (status == STATUS_EXISTS) {
        snprintf(reason, WORKER_REASON_BYTES, "%s is there already; nothing was moved", to);
    }
    if (status == STATUS_OK) {
        status = record(drafts, write->place_id, to, &before, write->maker, now);
    }
    status = status == STATUS_OK ? place_file_delete(folder, write->path) : status;
    if (status == STATUS_OK) {
        status = record(drafts, write->place_id, write->path, &none, write->maker, NULL);
    }
    pthread_mutex_unlock(lock);
    free(before.data);
    return status;
}

// --- a whole draft ------------------------------------------------------------------------------

typedef struct Size {
    const char *folder;
    uint64_t bytes;
} Size;

static void add_size(void *user, const char *path)
{
    Size *size = user;
    uint64_t bytes = 0, changed_ns;
    (void)stat_file(size->folder, path, &bytes, &changed_ns);
    size->bytes += bytes + 2 * ROW_CHARGE_BYTES; // the file, and its first version
}

// All files of a new draft have to fit beside what the owner has: each is the first version of its
// history, and without room for that somebody's next change would be for good.
static Status check_room(Drafts *drafts, const char *place_id, const char *folder,
                         char reason[WORKER_REASON_BYTES])
{
    StorePackage package;
    uint64_t used = 0;
    Size size = {.folder = folder};
    Status status = store_package_find(drafts->store, place_id, &package);
    status =
        status == STATUS_OK ? store_account_bytes(drafts->store, package.owner_id, &used) : status;
    status = status == STATUS_OK ? draft_walk(folder, add_size, &size) : status;
    if (status == STATUS_OK && used + size.bytes > drafts->account_bytes_max) {
        snprintf(reason, WORKER_REASON_BYTES,
                 "%llu bytes of files do not fit: the owner of this place uses %llu of %llu",
                 (unsigned long long)size.bytes, (unsigned long long)used,
                 (unsigned long long)drafts->account_bytes_max);
        status = STATUS_LIMIT;
    }
    return status;
}

// The first versions. Somebody else may have used the room up since check_room: then the draft is
// taken back, or is again what it was, which is in the folder aside.
static Status keep_first(Drafts *drafts, const char *place_id, const char *folder,
                         const char *aside, uint64_t maker, bool replaces,
                         char reason[WORKER_REASON_BYTES])
{
    Listing list, before;
    Status status = list_as(drafts, place_id, folder, maker, &list);
    free(list.out);
    if (status != STATUS_OK || !list.has_no_room) {
        return status;
    }
    draft_tell_no_room(drafts, place_id, reason);
    if (!replaces) {
        draft_walk_remove(folder);
        status_ignore(store_draft_discard(drafts->store, place_id));
    } else if (renameat2(AT_FDCWD, aside, AT_FDCWD, folder, RENAME_EXCHANGE) == 0) {
        status_ignore(list_as(drafts, place_id, folder, 0, &before));
        free(before.out);
    }
    return STATUS_LIMIT;
}

static Status make_draft(Drafts *drafts, const char *place_id, uint64_t maker, bool replaces,
                         DraftFill fill, void *user, char reason[WORKER_REASON_BYTES])
{
    char folder[DRAFT_PATH_BYTES], aside[DRAFT_PATH_BYTES];
    if (draft_folder(drafts, place_id, folder) != STATUS_OK ||
        folder_of(drafts, NEW_FOLDER, place_id, aside) != STATUS_OK) {
        return STATUS_MALFORMED;
    }
    if (!replaces && draft_exists(drafts, place_id)) {
        snprintf(reason, WORKER_REASON_BYTES, "this place has a draft already");
        return STATUS_EXISTS;
    }
    pthread_mutex_t *lock = lock_of(drafts, place_id);
    draft_walk_remove(aside);
    Status status = fill(user, aside, reason);
    status = status == STATUS_OK ? check_room(drafts, place_id, aside, reason) : status;
    if (status == STATUS_OK && renameat2(AT_FDCWD, aside, AT_FDCWD, folder,
                                         replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0) {
        status = errno == EEXIST   ? STATUS_EXISTS
                 : errno == ENOENT ? STATUS_NOT_FOUND
                                   : STATUS_BLOCKED;
        snprintf(reason, WORKER_REASON_BYTES, "the draft cannot be made: %s", strerror(errno));
    }
    status = status == STATUS_OK
                 ? keep_first(drafts, place_id, folder, aside, maker, replaces, reason)
                 : status;
    draft_walk_remove(aside);
    pthread_mutex_unlock(lock);
    return status;
}

Status draft_make(Drafts *drafts, const char *place_id, uint64_t maker, DraftFill fill, void *user,
                  char reason[WORKER_REASON_BYTES])
{
    return make_draft(drafts, place_id, maker, false, fill, user, reason);
}

Status draft_replace(Drafts *drafts, const char *place_id, uint64_t maker, DraftFill fill,
                     void *user, char reason[WORKER_REASON_BYTES])
{
    return make_draft(drafts, place_id, maker, true, fill, user, reason);
}

// The folder first: what is not listed any more is in no folder, wherever the process dies.
Status draft_discard(Drafts *drafts, const char *place_id)
{
    const Status removed = draft_remove(drafts, place_id);
    if (removed != STATUS_OK && removed != STATUS_NOT_FOUND) {
        return removed;
    }
    const Status status = store_draft_discard(drafts->store, place_id);
    return status == STATUS_OK ? removed : status;
}

void drafts_sweep(Drafts *drafts)
{
    StorePackage package;
    const struct dirent *entry;
    DIR *list = opendir(drafts->folder);
    while (list != NULL && (entry = readdir(list)) != NULL) {
        char id[sizeof entry->d_name];
        memcpy(id, entry->d_name, sizeof id);
        if (is_id(id) && store_package_find(drafts->store, id, &package) == STATUS_NOT_FOUND) {
            status_ignore(draft_remove(drafts, id)); // or the next time
        }
    }
    if (list != NULL) {
        closedir(list);
    }
}

Status draft_remove(Drafts *drafts, const char *place_id)
{
    char folder[DRAFT_PATH_BYTES], aside[DRAFT_PATH_BYTES];
    if (draft_folder(drafts, place_id, folder) != STATUS_OK ||
        folder_of(drafts, GONE_FOLDER, place_id, aside) != STATUS_OK) {
        return STATUS_NOT_FOUND;
    }
    pthread_mutex_t *lock = lock_of(drafts, place_id);
    draft_walk_remove(aside);
    const Status status = rename(folder, aside) == 0 ? STATUS_OK
                          : errno == ENOENT          ? STATUS_NOT_FOUND
                                                     : STATUS_BLOCKED;
    draft_walk_remove(aside);
    pthread_mutex_unlock(lock);
    return status;
}
