// Opening and closing. A new database is made whole under another name; one that is there is
// checked before anything in it is believed.
//
// The write-ahead log is written back as a whole and emptied by the writer alone, while nobody
// reads. So the database file is never half ahead of a log that could lose its end: whatever is
// torn off the log leaves the state after some transaction.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "server/store/backup_lock.h"
#include "server/store/log_check.h"
#include "server/sys/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE_BYTES_MIN 512 // the smallest that SQLite has

StoreConfig store_config_default(void)
{
    return (StoreConfig){.commit_ms = 50,
                         .bytes_waiting_max = 64u << 20,
                         .data_keys_max = 100000,
                         .data_bytes_max = 256u << 20,
                         .data_old_bytes_max = 64u << 20};
}

// --- the file -----------------------------------------------------------------------------------

Status store_sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const int bytes = slash != NULL ? (int)(slash - path) + 1 : 1;
    if (bytes >= (int)sizeof folder) {
        return STATUS_RANGE;
    }
    snprintf(folder, sizeof folder, "%.*s", bytes, slash != NULL ? path : ".");
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return STATUS_BLOCKED;
    }
    const int result = fsync(descriptor);
    close(descriptor);
    return result == 0 ? STATUS_OK : STATUS_BLOCKED;
}

// Beside the database; "" if it does not fit, and then there is no backup either. It is made now,
// so that it is ours even if root makes the first backup.
static void find_backup_lock(const char *path, char out[STORE_PATH_BYTES])
{
    const char *slash = strrchr(path, '/');
    const int folder_bytes = slash != NULL ? (int)(slash - path) + 1 : 0;
    if (snprintf(out, STORE_PATH_BYTES, "%.*s" BACKUP_LOCK_NAME, folder_bytes, path) >=
        STORE_PATH_BYTES) {
        out[0] = '\0';
    }
    int lock = -1;
    if (backup_lock_enter(out, &lock)) {
        backup_lock_leave(lock);
    }
}

static bool log_is_there(const char *path)
{
    char log[PATH_MAX];
    struct stat file;
    const int length = snprintf(log, sizeof log, "%s-wal", path);
    return length < (int)sizeof log && stat(log, &file) == 0 && file.st_size > 0;
}

// The database, its log and its index, under the name at which a new one is made.
static void remove_fresh(const char *fresh)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s%s", fresh, endings[i]) < (int)sizeof path) {
            (void)unlink(path);
        }
    }
}

// The tables, with nothing in the log: the file is all there is.
static Status fill_fresh(const char *fresh, char *reason, size_t reason_bytes)
{
    Sql sql;
    StoreStats unused;
    Status status = sql_connect(&sql, fresh, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    status = schema_open(&sql, fresh, true, &unused, reason, reason_bytes);
    sql_disconnect(&sql);
    if (status == STATUS_OK && log_is_there(fresh)) {
        snprintf(reason, reason_bytes, "the new database cannot be written whole");
        return STATUS_BLOCKED;
    }
    return status;
}

// Under another name until it is whole: whenever a process is killed here, there is no database or
// a good one. Readable by us alone before SQLite sees it; its log gets the same mode.
static Status make_database(const char *path, char *reason, size_t reason_bytes)
{
    char fresh[PATH_MAX];
    if (snprintf(fresh, sizeof fresh, "%s.new", path) >= (int)sizeof fresh - 8) {
        snprintf(reason, reason_bytes, "the path of the database is too long");
        return STATUS_RANGE;
    }
    remove_fresh(fresh); // of a start that was cut off
    const int descriptor = open(fresh, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0) {
        snprintf(reason, reason_bytes, "the database cannot be made: %s", strerror(errno));
        return STATUS_BLOCKED;
    }
    close(descriptor);
    Status status = fill_fresh(fresh, reason, reason_bytes);
    if (status == STATUS_OK && rename(fresh, path) != 0) {
        snprintf(reason, reason_bytes, "the database cannot be made: %s", strerror(errno));
        status = STATUS_BLOCKED;
    }
    if (status != STATUS_OK) {
        remove_fresh(fresh);
        return status;
    }
    status = store_sync_folder_of(path);
    if (status != STATUS_OK) {
        snprintf(reason, reason_bytes, "the folder of the database cannot be written");
    }
    return status;
}

// SQLite takes a file without one whole page for a new database, and removes the log that it finds
// with it. Here a new one is whole from the beginning, so such a file was cut off.
static Status find_database(const char *path, char *reason, size_t reason_bytes)
{
    const int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0 && errno == ENOENT) {
        if (!log_is_there(path)) {
            return make_database(path, reason, reason_bytes);
        }
        snprintf(reason, reason_bytes,
                 "the database is damaged: the file is gone, and its log (-wal) is still there");
        return STATUS_MALFORMED;
    }
    if (descriptor < 0) {
        snprintf(reason, reason_bytes, "the database cannot be opened: %s", strerror(errno));
        return STATUS_BLOCKED;
    }
    struct stat file;
    const bool is_cut = fstat(descriptor, &file) == 0 && file.st_size < PAGE_BYTES_MIN;
    close(descriptor);
    if (is_cut) {
        snprintf(reason, reason_bytes, "the database is damaged: the file is %s",
                 file.st_size == 0 ? "empty" : "cut off");
    }
    return is_cut ? STATUS_MALFORMED : STATUS_OK;
}

// --- databases ----------------------------------------------------------------------------------

static Status open_file(StoreDatabase *database, const char *path, StoreStats *stats, char *reason,
                        size_t reason_bytes)
{
    if (sql_is_url(path)) {
        return postgres_open(database, path, reason, reason_bytes);
    }
    Status status = find_database(path, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    find_backup_lock(path, database->backup_lock);
    const LogDamage damage = log_check(path);
    status = sql_connect(&database->writer, path, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status == STATUS_RANGE ? STATUS_MALFORMED : status;
    }
    status = schema_open(&database->writer, path, false, stats, reason, reason_bytes);
    if (status == STATUS_OK) {
        char unused[STORE_REASON_BYTES];
        status = sql_connect(&database->second, path, unused, sizeof unused);
        database->reader = &database->second;
        if (status != STATUS_OK) {
            snprintf(reason, reason_bytes, "%s", unused);
        }
    }
    if (status != STATUS_OK) {
        sql_abandon(&database->writer);
    } else if (damage.commit_lost > 0) {
        snprintf(reason, reason_bytes,
                 "the log (-wal) was damaged at byte %llu; commits lost: %llu",
                 (unsigned long long)damage.at, (unsigned long long)damage.commit_lost);
    }
    return status;
}

Status store_database_open(StoreDatabase **out)
{
    char reason[STORE_REASON_BYTES];
    StoreStats unused;
    StoreDatabase *database = calloc(1, sizeof *database);
    if (database == NULL) {
        return STATUS_LIMIT;
    }
    Status status = sql_connect(&database->writer, ":memory:", reason, sizeof reason);
    if (status == STATUS_OK) {
        status = schema_open(&database->writer, NULL, true, &unused, reason, sizeof reason);
        if (status != STATUS_OK) {
            sql_disconnect(&database->writer);
        }
    }
    if (status != STATUS_OK) {
        free(database);
        return status;
    }
    database->reader = &database->writer;
    *out = database;
    return STATUS_OK;
}

void store_database_close(StoreDatabase *database)
{
    if (database == NULL) {
        return;
    }
    ASSERT(database->store_count == 0);
    if (database->reader == &database->second) {
        sql_disconnect(&database->second);
    }
    sql_disconnect(&database->writer); // the last one writes the log back and removes it
    free(database);
}

static Status open_database(Store *store, char *reason, size_t reason_bytes)
{
    if (store->config.database != NULL) {
        store->database = store->config.database;
        store->config.manual = true;
    } else {
        StoreDatabase *database = calloc(1, sizeof *database);
        if (database == NULL) {
            return STATUS_LIMIT;
        }
        const Status status =
            open_file(database, store->config.path, &store->stats, reason, reason_bytes);
        if (status != STATUS_OK) {
            free(database);
            return status;
        }
        store->database = database;
    }
    store->database->store_count += 1;
    store->writer = &store->database->writer;
    store->reader = store->database->reader;
    store->config.path = NULL; // the caller's
    return STATUS_OK;
}

static void leave_database(Store *store)
{
    store->database->store_count -= 1;
    if (store->config.database == NULL) {
        store_database_close(store->database);
    }
}

// --- stores -------------------------------------------------------------------------------------

Status store_open(const StoreConfig *config, Store **out, char *reason, size_t bytes)
{
    char text[STORE_REASON_BYTES] = "";
    Store *store = calloc(1, sizeof *store);
    BlockedWorld *blocked = calloc(STORE_BLOCKED_MAX, sizeof *blocked);
    Status status = store != NULL && blocked != NULL ? STATUS_OK : STATUS_LIMIT;
    if (status == STATUS_OK) {
        store->config = *config;
        if (config->shared) {
            entropy_fill(store->origin, sizeof store->origin);
        }
        store->run = batch_run;
        store->blocked = blocked;
        store->checkpoint_pages = STORE_WAL_PAGES_MAX;
        status = open_database(store, text, sizeof text);
    }
    if (status == STATUS_OK) {
        status = queue_start(store);
        if (status != STATUS_OK) {
            snprintf(text, sizeof text, "the writer thread cannot be started");
            leave_database(store);
        }
    }
    if (reason != NULL && bytes > 0) {
        snprintf(reason, bytes, "%s", text);
    }
    if (status != STATUS_OK) {
        free(blocked);
        free(store);
        return status;
    }
    *out = store;
    return STATUS_OK;
}

static void destroy(Store *store)
{
    queue_free(store);
    if (store->remote != NULL) {
        remote_free(store);
    } else {
        leave_database(store);
    }
    batch_free(store);
    free(store->blocked);
    free(store);
}

void store_close(Store *store)
{
    if (store != NULL) {
        queue_finish(store);
        destroy(store);
    }
}

void store_crash(Store *store)
{
    ASSERT(store->config.manual);
    destroy(store);
}
