// See backup.h: restoring. Everything is unpacked into DIR.restoring and compared with the
// manifest; the database in it is opened, checked, migrated if it is older, and begins a new life;
// everything is synced; and only then the folder gets its name. A restore that was killed leaves
// DIR.restoring, which the next one removes.
#define _GNU_SOURCE
#include "server/backup/backup.h"

#include "server/backup/backup_list.h"
#include "server/backup/backup_tar.h"
#include "server/control/deletion_log.h"
#include "server/store/people/store_person.h"
#include "server/store/store.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES     (256u << 10)
#define REMOVE_OPEN    16 // descriptors for removing a folder
#define DATABASE_NAME  "sandlot.db"
#define HOST_LOCK_NAME "host.lock"

typedef struct Restoring {
    const char *file;
    char data[BACKUP_PATH_BYTES]; // without slashes at its end
    char part[BACKUP_PATH_BYTES];
    FILE *in;
    char *list; // the manifest as it stands in the file
    size_t list_bytes;
    BackupList found; // the lines of what was unpacked
    BackupFacts *facts;
    bool (*is_cancelled)(void);
    char *reason;
    uint8_t buffer[COPY_BYTES];
} Restoring;

static Status fail(Restoring *restoring, Status status, const char *what, const char *why)
{
    snprintf(restoring->reason, BACKUP_REASON_BYTES, "%.250s: %.230s", what, why);
    return status;
}

static Status fail_disk(Restoring *restoring, const char *what)
{
    return fail(restoring, STATUS_BLOCKED, what, strerror(errno));
}

// --- the folder ---------------------------------------------------------------------------------

static bool is_in_use(const char *data)
{
    char path[BACKUP_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/" HOST_LOCK_NAME, data);
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    const bool is_locked = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (file >= 0) {
        close(file);
    }
    return is_locked;
}

static Status check_folder(Restoring *restoring)
{
    struct stat about;
    const char *data = restoring->data;
    if (lstat(data, &about) != 0) {
        return errno == ENOENT ? STATUS_OK : fail_disk(restoring, data);
    }
    if (!S_ISDIR(about.st_mode)) {
        return fail(restoring, STATUS_EXISTS, data, "this is there already, and no folder");
    }
    if (is_in_use(data)) {
        return fail(restoring, STATUS_EXISTS, data,
                    "a sandlot is running on this folder; stop it, move the folder away, and "
                    "restore again");
    }
    struct dirent **entries = NULL;
    const int count = scandir(data, &entries, backup_is_listed, NULL);
    for (int i = 0; i < count; i++) {
        free(entries[i]);
    }
    free(entries);
    if (count < 0) {
        return fail_disk(restoring, data);
    }
    return count == 0 ? STATUS_OK
                      : fail(restoring, STATUS_EXISTS, data,
                             "the folder is not empty; move it away (`mv`), or name another one");
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

// Links are not followed, and it stays on its disk.
static void remove_part(const Restoring *restoring)
{
    (void)nftw(restoring->part, remove_one, REMOVE_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static Status make_part(Restoring *restoring)
{
    char parent[BACKUP_PATH_BYTES];
    size_t begin = 0;
    (void)file_last_name(restoring->data, &begin);
    if (begin > 1) {
        snprintf(parent, sizeof parent, "%.*s", (int)begin - 1, restoring->data);
        if (file_make_folders(parent) != STATUS_OK) {
            return fail_disk(restoring, parent);
        }
    }
    if (is_in_use(restoring->part)) {
        return fail(restoring, STATUS_EXISTS, restoring->part, "another restore runs there");
    }
    remove_part(restoring); // of one that was killed
    return mkdir(restoring->part, 0700) == 0 ? STATUS_OK : fail_disk(restoring, restoring->part);
}

// --- unpacking ----------------------------------------------------------------------------------

// Its bytes, each of which is hashed. `out` may be -1, and then they are kept as the manifest.
static Status take_contents(Restoring *restoring, const TarEntry *entry, int out, Sha256 *sha)
{
    for (uint64_t left = entry->bytes; left > 0;) {
        const size_t step = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
        if (fread(restoring->buffer, 1, step, restoring->in) != step) {
            return fail(restoring, STATUS_TRUNCATED, restoring->file, "the backup is cut off");
        }
        if (restoring->is_cancelled != NULL && restoring->is_cancelled()) {
            return fail(restoring, STATUS_LIMIT, restoring->file, "cancelled");
        }
        sha256_update(sha, restoring->buffer, step);
        if (out < 0) {
            memcpy(restoring->list + (entry->bytes - left), restoring->buffer, step);
        } else if (!file_write_whole(out, restoring->buffer, step)) {
            return fail_disk(restoring, entry->name);
        }
        left -= step;
    }
    return tar_read_padding(restoring->in, entry->bytes) == STATUS_OK
               ? STATUS_OK
               : fail(restoring, STATUS_TRUNCATED, restoring->file, "the backup is cut off");
}

static int make_file(Restoring *restoring, const TarEntry *entry)
{
    char path[BACKUP_PATH_BYTES + TAR_NAME_BYTES + 2];
    snprintf(path, sizeof path, "%s/%s", restoring->part, entry->name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    const Status status = file_make_folders(path);
    *slash = '/';
    return status == STATUS_OK
               ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)
               : -1;
}

static Status take_file(Restoring *restoring, const TarEntry *entry)
{
    Sha256 sha;
    uint8_t hash[SHA256_BYTES];
    if (!backup_name_is_valid(entry->name)) {
        return fail(restoring, STATUS_MALFORMED, restoring->file, "there is an invalid name in it");
    }
    const int file = make_file(restoring, entry);
    if (file < 0) {
        return fail_disk(restoring, entry->name);
    }
    sha256_init(&sha);
    Status status = take_contents(restoring, entry, file, &sha);
    sha256_final(&sha, hash);
    if (close(file) != 0 && status == STATUS_OK) {
        status = fail_disk(restoring, entry->name);
    }
    if (status == STATUS_OK && backup_list_add(&restoring->found, hash, entry->name) != STATUS_OK) {
        status = fail(restoring, STATUS_LIMIT, restoring->file, "there are too many files in it");
    }
    restoring->facts->file_count += 1;
    restoring->facts->bytes += entry->bytes;
    return status;
}

static Status take_list(Restoring *restoring, const TarEntry *entry)
{
    Sha256 unused;
    if (entry->bytes > BACKUP_LIST_BYTES_MAX) {
        return fail(restoring, STATUS_MALFORMED, restoring->file, "its manifest is too long");
    }
    restoring->list_bytes = (size_t)entry->bytes;
    restoring->list = malloc(restoring->list_bytes + 1);
    if (restoring->list == NULL) {
        return fail(restoring, STATUS_LIMIT, restoring->file, "out of memory");
    }
    sha256_init(&unused);
    return take_contents(restoring, entry, -1, &unused);
}

// Up to the manifest, which is the last.
static Status unpack(Restoring *restoring)
{
    static const char none_of_ours[] = "this is no backup of sandlot, or a damaged one";
    while (restoring->list == NULL) {
        TarEntry entry;
        Status status = tar_read_header(restoring->in, &entry);
        if (status == STATUS_TRUNCATED || status == STATUS_NOT_FOUND) {
            return fail(restoring, STATUS_TRUNCATED, restoring->file,
                        restoring->facts->file_count == 0 ? none_of_ours : "the backup is cut off");
        }
        const bool is_first = restoring->facts->file_count == 0;
        if (status != STATUS_OK || (is_first && strcmp(entry.name, DATABASE_NAME) != 0)) {
            return fail(restoring, STATUS_MALFORMED, restoring->file, none_of_ours);
        }
        status = strcmp(entry.name, BACKUP_LIST_NAME) == 0 ? take_list(restoring, &entry)
                                                           : take_file(restoring, &entry);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

// The line that differs says which file it is.
static Status fail_list(Restoring *restoring, const char *list, size_t list_bytes)
{
    char what[BACKUP_REASON_BYTES] = "";
    const BackupList *found = &restoring->found;
    size_t at = 0, line = 0;
    while (at < found->bytes && at < list_bytes && list[at] == found->text[at]) {
        line = list[at] == '\n' ? at + 1 : line;
        at += 1;
    }
    if (line + 2 * SHA256_BYTES + 2 < found->bytes) {
        const char *name = found->text + line + 2 * SHA256_BYTES + 2;
        snprintf(what, sizeof what, "%.*s is not what was backed up; use another backup",
                 (int)strcspn(name, "\n"), name);
    } else {
        snprintf(what, sizeof what, "files are missing in it; use another backup");
    }
    return fail(restoring, STATUS_MISMATCH, restoring->file, what);
}

static Status check_list(Restoring *restoring)
{
    BackupFacts *facts = restoring->facts;
    const Status status = backup_list_read(restoring->list, restoring->list_bytes, facts);
    if (status != STATUS_OK) {
        return fail(restoring, status, restoring->file,
                    status == STATUS_UNSUPPORTED
                        ? "a later version of sandlot made this backup; restore it with that one"
                        : "its manifest is damaged; use another backup");
    }
    BackupList whole;
    if (backup_list_begin(&whole, facts) != STATUS_OK) {
        return fail(restoring, STATUS_LIMIT, restoring->file, "out of memory");
    }
    const size_t head = whole.bytes < restoring->list_bytes ? whole.bytes : restoring->list_bytes;
    const char *lines = restoring->list + head;
    const size_t line_bytes = restoring->list_bytes - head;
    const bool is_head_same = memcmp(restoring->list, whole.text, head) == 0;
    const bool is_same = line_bytes == restoring->found.bytes &&
                         memcmp(lines, restoring->found.text, line_bytes) == 0;
    backup_list_free(&whole);
    return is_head_same && is_same ? STATUS_OK : fail_list(restoring, lines, line_bytes);
}

// --- the new life -------------------------------------------------------------------------------

static Status replay_deletions(Restoring *restoring, Store *store, const char *deletions)
{
    DeletionLog log;
    Status status = deletion_log_read(deletions, &log);
    if (status != STATUS_OK) {
        return fail(restoring, status, deletions,
                    status == STATUS_MALFORMED ? "this is no list of deletions"
                                               : status_text(status));
    }
    for (size_t i = 0; i < log.count && status == STATUS_OK; i++) {
        status = store_person_delete(store, log.entries[i].account);
        if (status == STATUS_OK) {
            status = deletion_log_append(restoring->part, log.entries[i].account,
                                         log.entries[i].unix_ms);
        }
        restoring->facts->deletion_count += 1;
    }
    free(log.entries);
    return status == STATUS_OK
               ? STATUS_OK
               : fail(restoring, status, deletions, "an account cannot be deleted again");
}

static Status begin_life(Restoring *restoring, const char *deletions)
{
    char path[BACKUP_PATH_BYTES + 16], why[256] = "";
    snprintf(path, sizeof path, "%s/" DATABASE_NAME, restoring->part);
    StoreConfig config = store_config_default();
    config.path = path;
    Store *store = NULL;
    Status status = store_open(&config, &store, why, sizeof why);
    if (status != STATUS_OK) {
        return fail(restoring, status, restoring->file, why[0] != '\0' ? why : status_text(status));
    }
    status = store_restored(store);
    if (status != STATUS_OK) {
        status = fail(restoring, status, DATABASE_NAME, status_text(status));
    } else if (deletions != NULL) {
        status = replay_deletions(restoring, store, deletions);
    }
    store_close(store);
    return status;
}

// --- the whole ----------------------------------------------------------------------------------

static Status name_folder(Restoring *restoring)
{
    const int part = open(restoring->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_synced = part >= 0 && syncfs(part) == 0;
    if (part >= 0) {
        close(part);
    }
    if (!is_synced) {
        return fail_disk(restoring, restoring->part);
    }
    if (rename(restoring->part, restoring->data) != 0) {
        return errno == EBUSY || errno == EXDEV
                   ? fail(restoring, STATUS_BLOCKED, restoring->data,
                          "this is where a disk is mounted; restore into a folder inside it")
                   : fail_disk(restoring, restoring->data);
    }
    const int data = open(restoring->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (data >= 0) {
        (void)syncfs(data); // its new name; until then it may have the old one after a power cut
        close(data);
    }
    return STATUS_OK;
}

static Status restore_into_part(Restoring *restoring, const char *deletions)
{
    int lock = -1;
    char path[BACKUP_PATH_BYTES + 16];
    snprintf(path, sizeof path, "%s/" HOST_LOCK_NAME, restoring->part);
    if (file_lock(path, &lock) != STATUS_OK) {
        return fail_disk(restoring, path);
    }
    Status status = unpack(restoring);
    status = status == STATUS_OK ? check_list(restoring) : status;
    status = status == STATUS_OK ? begin_life(restoring, deletions) : status;
    status = status == STATUS_OK ? name_folder(restoring) : status;
    close(lock);
    return status;
}

static Status find_names(Restoring *restoring, const char *data)
{
    size_t bytes = strlen(data);
    while (bytes > 1 && data[bytes - 1] == '/') {
        bytes -= 1;
    }
    if (bytes == 0 || bytes > BACKUP_PATH_BYTES - 600) {
        return fail(restoring, STATUS_RANGE, data, "this is no folder's name");
    }
    snprintf(restoring->data, sizeof restoring->data, "%.*s", (int)bytes, data);
    snprintf(restoring->part, sizeof restoring->part, "%.*s.restoring", (int)bytes, data);
    return check_folder(restoring);
}

static Status run(Restoring *restoring, const char *data, const char *deletions)
{
    Status status = find_names(restoring, data);
    if (status != STATUS_OK) {
        return status;
    }
    restoring->in = fopen(restoring->file, "rbe");
    if (restoring->in == NULL) {
        return fail_disk(restoring, restoring->file);
    }
    status = make_part(restoring);
    if (status == STATUS_OK) {
        status = restore_into_part(restoring, deletions);
        if (status != STATUS_OK) {
            remove_part(restoring);
        }
    }
    fclose(restoring->in);
    return status;
}

Status backup_restore(const char *file, const char *data, const char *deletions,
                      bool (*is_cancelled)(void), BackupFacts *facts,
                      char reason[BACKUP_REASON_BYTES])
{
    Restoring *restoring = calloc(1, sizeof *restoring);
    if (restoring == NULL) {
        snprintf(reason, BACKUP_REASON_BYTES, "out of memory");
        return STATUS_LIMIT;
    }
    *facts = (BackupFacts){0};
    restoring->file = file;
    restoring->facts = facts;
    restoring->is_cancelled = is_cancelled;
    restoring->reason = reason;
    const Status status = run(restoring, data, deletions);
    backup_list_free(&restoring->found);
    free(restoring->list);
    free(restoring);
    return status;
}
