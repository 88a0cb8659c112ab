// See backup.h: writing. Everything goes to FILE.part, which is renamed at the end; the copy of the
// database, whose size must be known before it is put into the tar, is FILE.part.db until then. A
// backup that was killed leaves those two, and the next one to the same file removes them.
#define _GNU_SOURCE
#include "server/backup/backup.h"

#include "server/backup/backup_list.h"
#include "server/backup/backup_tar.h"
#include "server/store/backup_lock.h"
#include "server/store/store_copy.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEPTH_MAX     12
#define COPY_BYTES    (256u << 10)
#define SYNC_BYTES    (8u << 20) // then what was written goes to the disk: many short waits
#define DATABASE_NAME "sandlot.db"

typedef struct Writing {
    const char *data;
    char part[BACKUP_PATH_BYTES], part_database[BACKUP_PATH_BYTES];
    FILE *out;
    BackupList list;
    BackupFacts *facts;
    uint64_t unix_s, unsynced;
    bool (*is_cancelled)(void);
    char *reason;
    uint8_t buffer[COPY_BYTES];
} Writing;

static Status fail(Writing *writing, Status status, const char *what, const char *why)
{
    snprintf(writing->reason, BACKUP_REASON_BYTES, "%.300s: %.180s", what, why);
    return status;
}

static Status fail_disk(Writing *writing, const char *what)
{
    return fail(writing, STATUS_BLOCKED, what, strerror(errno));
}

static bool is_cancelled(const Writing *writing)
{
    return writing->is_cancelled != NULL && writing->is_cancelled();
}

// --- one file -----------------------------------------------------------------------------------

// The disk is not asked to take everything at the end, when it would keep commits waiting.
static Status put_bytes(Writing *writing, const void *data, size_t bytes)
{
    if (fwrite(data, 1, bytes, writing->out) != bytes) {
        return fail_disk(writing, writing->part);
    }
    writing->unsynced += bytes;
    if (writing->unsynced >= SYNC_BYTES) {
        writing->unsynced = 0;
        if (fflush(writing->out) != 0 || fdatasync(fileno(writing->out)) != 0) {
            return fail_disk(writing, writing->part);
        }
    }
    return STATUS_OK;
}

// Exactly so many bytes: what is added to the file meanwhile is of later.
static Status put_contents(Writing *writing, int file, const char *name, uint64_t bytes,
                           Sha256 *sha)
{
    Status status = STATUS_OK;
    while (bytes > 0 && status == STATUS_OK) {
        const size_t step = bytes < COPY_BYTES ? (size_t)bytes : COPY_BYTES;
        if (!file_read_whole(file, writing->buffer, step)) {
            return fail(writing, STATUS_BLOCKED, name,
                        "it became shorter or cannot be read; try again");
        }
        if (is_cancelled(writing)) {
            return fail(writing, STATUS_LIMIT, name, "cancelled");
        }
        sha256_update(sha, writing->buffer, step);
        status = put_bytes(writing, writing->buffer, step);
        bytes -= step;
    }
    return status;
}

static Status put_file(Writing *writing, int file, const char *name, uint64_t bytes)
{
    TarEntry entry = {.bytes = bytes};
    Sha256 sha;
    uint8_t hash[SHA256_BYTES];
    if (!backup_name_is_valid(name) || strlen(name) >= sizeof entry.name) {
        return fail(writing, STATUS_RANGE, name,
                    "a backup cannot hold this name; rename or move the file");
    }
    memcpy(entry.name, name, strlen(name) + 1);
    Status status = tar_write_header(writing->out, &entry, writing->unix_s);
    if (status != STATUS_OK) {
        return status == STATUS_RANGE ? fail(writing, status, name, "the name is too long")
                                      : fail_disk(writing, writing->part);
    }
    sha256_init(&sha);
    status = put_contents(writing, file, name, bytes, &sha);
    sha256_final(&sha, hash);
    if (status == STATUS_OK && tar_write_padding(writing->out, bytes) != STATUS_OK) {
        status = fail_disk(writing, writing->part);
    }
    if (status == STATUS_OK && backup_list_add(&writing->list, hash, name) != STATUS_OK) {
        status = fail(writing, STATUS_LIMIT, name, "there are too many files");
    }
    writing->facts->file_count += 1;
    writing->facts->bytes += bytes;
    return status;
}

// --- folders ------------------------------------------------------------------------------------

static bool begins_with(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

// What can be made again, belongs to one run, or is in the backup already.
static bool is_left_out(const char *path)
{
    static const char *const names[] = {"cache",       "made-here",  "host.lock", BACKUP_LOCK_NAME,
                                        "blobs/aside", "blob-cache", "unpacked",  "stamps"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(path, names[i]) == 0) {
            return true;
        }
    }
    return begins_with(path, DATABASE_NAME) || begins_with(path, "journal");
}

static Status put_folder(Writing *writing, int folder, const char *path, int depth);

static Status put_named(Writing *writing, int folder, const char *path, const char *name, int depth)
{
    char inner[BACKUP_PATH_BYTES];
    struct stat about;
    snprintf(inner, sizeof inner, "%s%s%s", path, path[0] != '\0' ? "/" : "", name);
    if (is_left_out(inner) || (depth == 0 && strcmp(name, "blobs") == 0)) {
        return STATUS_OK;
    }
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        writing->facts->skipped_count += errno == ELOOP || errno == ENXIO;
        return errno == ENOENT || errno == ELOOP || errno == ENXIO ? STATUS_OK
                                                                   : fail_disk(writing, inner);
    }
    Status status = STATUS_OK;
    if (fstat(file, &about) != 0) {
        status = fail_disk(writing, inner);
    } else if (S_ISDIR(about.st_mode)) {
        return put_folder(writing, file, inner, depth + 1); // closes it
    } else if (S_ISREG(about.st_mode)) {
        status = put_file(writing, file, inner, (uint64_t)about.st_size);
    } else {
        writing->facts->skipped_count += 1;
    }
    close(file);
    return status;
}

// Closes the folder. The depth is bounded, and so is the recursion.
static Status put_folder(Writing *writing, int folder, const char *path, int depth)
{
    struct dirent **entries = NULL;
    if (depth > DEPTH_MAX) {
        close(folder);
        return fail(writing, STATUS_LIMIT, path, "there are too many folders inside each other");
    }
    const int count = scandirat(folder, ".", &entries, backup_is_listed, alphasort);
    Status status = count >= 0 ? STATUS_OK : fail_disk(writing, path);
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK) {
            status = put_named(writing, folder, path, entries[i]->d_name, depth);
        }
        free(entries[i]);
    }
    free(entries);
    close(folder);
    return status;
}

static Status put_blobs(Writing *writing, int data)
{
    const int blobs = openat(data, "blobs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (blobs < 0) {
        return errno == ENOENT ? STATUS_OK : fail_disk(writing, "blobs");
    }
    return put_folder(writing, blobs, "blobs", 1);
}

static Status put_rest(Writing *writing)
{
    const int data = open(writing->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (data < 0) {
        return fail_disk(writing, writing->data);
    }
    const Status status = put_blobs(writing, data);
    if (status != STATUS_OK) {
        close(data);
        return status;
    }
    return put_folder(writing, data, "", 0);
}

// --- the whole ----------------------------------------------------------------------------------

static Status copy_database(Writing *writing)
{
    char from[BACKUP_PATH_BYTES], why[256] = "";
    snprintf(from, sizeof from, "%s/" DATABASE_NAME, writing->data);
    const StoreCopy copy = {.from = from,
                            .to = writing->part_database,
                            .is_paced = true,
                            .is_cancelled = writing->is_cancelled};
    const Status status = store_copy(&copy, &writing->facts->schema, why, sizeof why);
    return status == STATUS_OK ? status : fail(writing, status, from, why);
}

static Status put_database(Writing *writing)
{
    const int file = open(writing->part_database, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) {
        return fail_disk(writing, writing->part_database);
    }
    const Status status = put_file(writing, file, DATABASE_NAME, (uint64_t)about.st_size);
    close(file);
    (void)unlink(writing->part_database); // its room can be used by the blobs
    return status;
}

static Status put_list(Writing *writing)
{
    const TarEntry entry = {.name = BACKUP_LIST_NAME, .bytes = writing->list.bytes};
    const bool done = tar_write_header(writing->out, &entry, writing->unix_s) == STATUS_OK &&
                      put_bytes(writing, writing->list.text, writing->list.bytes) == STATUS_OK &&
                      tar_write_padding(writing->out, writing->list.bytes) == STATUS_OK &&
                      tar_write_end(writing->out) == STATUS_OK && fflush(writing->out) == 0 &&
                      fsync(fileno(writing->out)) == 0;
    return done ? STATUS_OK : fail_disk(writing, writing->part);
}

static Status write_all(Writing *writing, int lock)
{
    Status status = copy_database(writing);
    if (status == STATUS_OK) {
        status = backup_lock_share(lock);
    }
    if (status == STATUS_OK) {
        status = backup_list_begin(&writing->list, writing->facts);
    }
    status = status == STATUS_OK ? put_database(writing) : status;
    status = status == STATUS_OK ? put_rest(writing) : status;
    return status == STATUS_OK ? put_list(writing) : status;
}

static Status open_part(Writing *writing)
{
    (void)unlink(writing->part); // of one that was killed
    (void)unlink(writing->part_database);
    const int file =
        open(writing->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    writing->out = file >= 0 ? fdopen(file, "wb") : NULL;
    return writing->out != NULL ? STATUS_OK : fail_disk(writing, writing->part);
}

// The folder that a path is in.
static void parent_of(const char *path, char out[BACKUP_PATH_BYTES])
{
    size_t begin = 0;
    (void)file_last_name(path, &begin);
    snprintf(out, BACKUP_PATH_BYTES, "%.*s", begin > 0 ? (int)begin : 1, begin > 0 ? path : ".");
}

// A backup inside the data folder would be part of the next one, and is lost with the folder.
static Status check_outside(Writing *writing, const char *file)
{
    char folder[PATH_MAX], data[PATH_MAX], outer[BACKUP_PATH_BYTES];
    parent_of(file, outer);
    if (realpath(writing->data, data) == NULL) {
        return fail(writing, STATUS_NOT_FOUND, writing->data, strerror(errno));
    }
    if (realpath(outer, folder) == NULL) {
        return fail_disk(writing, outer);
    }
    const size_t bytes = strlen(data);
    if (strncmp(folder, data, bytes) == 0 && (folder[bytes] == '/' || folder[bytes] == '\0')) {
        return fail(writing, STATUS_DENIED, file,
                    "this is inside the data folder; write the backup somewhere else");
    }
    return STATUS_OK;
}

static Status check_names(Writing *writing, const char *file)
{
    struct stat about;
    if (lstat(file, &about) == 0 && !S_ISREG(about.st_mode)) {
        return fail(writing, STATUS_EXISTS, file, "this is there already, and no file");
    }
    const bool fits =
        snprintf(writing->part, BACKUP_PATH_BYTES, "%s.part", file) < BACKUP_PATH_BYTES - 16 &&
        strlen(writing->data) < BACKUP_PATH_BYTES - 300;
    if (!fits) {
        return fail(writing, STATUS_RANGE, file, "the path is too long");
    }
    snprintf(writing->part_database, BACKUP_PATH_BYTES, "%.*s.db", BACKUP_PATH_BYTES - 16,
             writing->part);
    char database[BACKUP_PATH_BYTES];
    snprintf(database, sizeof database, "%s/" DATABASE_NAME, writing->data);
    if (access(database, F_OK) != 0) { // before anything is made in the wrong folder
        return fail(writing, STATUS_NOT_FOUND, writing->data,
                    "there is no sandlot.db in it; --data names the folder");
    }
    return check_outside(writing, file);
}

static Status name_file(Writing *writing, const char *file)
{
    char folder[BACKUP_PATH_BYTES];
    parent_of(file, folder);
    if (rename(writing->part, file) != 0) {
        return fail_disk(writing, file);
    }
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool is_synced = descriptor >= 0 && fsync(descriptor) == 0;
    if (descriptor >= 0) {
        close(descriptor);
    }
    return is_synced ? STATUS_OK : fail_disk(writing, folder);
}

static Status write_locked(Writing *writing, const char *file, int lock)
{
    Status status = open_part(writing);
    if (status != STATUS_OK) {
        return status;
    }
    status = write_all(writing, lock);
    const bool is_closed = fclose(writing->out) == 0;
    if (status == STATUS_OK) {
        status = is_closed ? name_file(writing, file) : fail_disk(writing, writing->part);
    }
    if (status != STATUS_OK) {
        (void)unlink(writing->part);
        (void)unlink(writing->part_database);
    }
    return status;
}

static void begin_facts(BackupFacts *facts, const char *program, uint64_t unix_s)
{
    const time_t now = (time_t)unix_s;
    struct tm parts;
    *facts = (BackupFacts){0};
    if (gmtime_r(&now, &parts) != NULL) {
        strftime(facts->time, sizeof facts->time, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    snprintf(facts->program, sizeof facts->program, "%s", program);
}

Status backup_write(const char *data, const char *file, const char *program,
                    bool (*cancelled)(void), BackupFacts *facts, char reason[BACKUP_REASON_BYTES])
{
    Writing *writing = calloc(1, sizeof *writing);
    int lock = -1;
    if (writing == NULL) {
        snprintf(reason, BACKUP_REASON_BYTES, "out of memory");
        return STATUS_LIMIT;
    }
    writing->data = data;
    writing->facts = facts;
    writing->reason = reason;
    writing->is_cancelled = cancelled;
    writing->unix_s = clock_unix_ms() / 1000;
    begin_facts(facts, program, writing->unix_s);
    Status status = check_names(writing, file);
    if (status == STATUS_OK) {
        char path[BACKUP_PATH_BYTES];
        snprintf(path, sizeof path, "%s/" BACKUP_LOCK_NAME, data);
        status = backup_lock_take(path, &lock);
        if (status != STATUS_OK) {
            status = fail(writing, status, path,
                          status == STATUS_EXISTS ? "another backup of this folder runs"
                                                  : strerror(errno));
        }
    }
    if (status == STATUS_OK) {
        status = write_locked(writing, file, lock);
        backup_lock_release(lock);
    }
    backup_list_free(&writing->list);
    free(writing);
    return status;
}
