// See store_copy.h. The source is read in one transaction that begins with the first step and is
// kept until the end. So every step reads the same state, whatever is committed meanwhile: without
// it SQLite would begin again after each commit of another process, and never end on a busy host.
// Readers do not hinder the writer; only writing back the log does (backup_lock.h).
#define _GNU_SOURCE
#include "server/store/store_copy.h"

#include "server/store/store_inside.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STEP_PAGES  128 // 512 KiB
#define SYNC_STEPS  16  // then what was written goes to the disk, so that the last sync is short
#define REST_NS_MAX UINT64_C(20000000)
#define BUSY_MS     2000

typedef struct Copying {
    sqlite3 *from, *to;
    int file; // of the copy
} Copying;

static Status status_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_DONE:
        return STATUS_OK;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return STATUS_MALFORMED;
    default:
        return STATUS_BLOCKED;
    }
}

static Status explain(sqlite3 *db, int code, const char *what, char *reason, size_t bytes)
{
    snprintf(reason, bytes, "%s: %s", what, db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(code));
    return status_of(code);
}

// Opened for reading alone: a database that nobody uses is left as it is, with its log.
static Status open_both(const StoreCopy *copy, Copying *copying, char *reason, size_t bytes)
{
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int code = sqlite3_open_v2(copy->from, &copying->from, flags | SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) {
        (void)sqlite3_db_config(copying->from, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        (void)sqlite3_db_config(copying->from, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_busy_timeout(copying->from, BUSY_MS);
        code = sqlite3_exec(copying->from, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL,
                            NULL);
    }
    if (code != SQLITE_OK) {
        return explain(copying->from, code, "the database cannot be read", reason, bytes);
    }
    code = sqlite3_open_v2(copy->to, &copying->to, flags | SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) { // a copy that is cut off is removed: it needs no journal
        code = sqlite3_exec(copying->to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
                            NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? STATUS_OK
                             : explain(copying->to, code, "the copy cannot be made", reason, bytes);
}

// As long as the step took: half of the disk is left to the others.
static void rest(const StoreCopy *copy, uint64_t began_ns)
{
    const uint64_t now = clock_ns();
    const uint64_t took = now - began_ns;
    if (copy->is_paced) {
        clock_sleep_until(now + (took < REST_NS_MAX ? took : REST_NS_MAX));
    }
}

static Status copy_pages(const StoreCopy *copy, Copying *copying, char *reason, size_t bytes)
{
    sqlite3_backup *backup = sqlite3_backup_init(copying->to, "main", copying->from, "main");
    if (backup == NULL) {
        return explain(copying->to, SQLITE_ERROR, "the copy cannot be made", reason, bytes);
    }
    int code = SQLITE_OK;
    bool is_cancelled = false;
    for (uint32_t step = 1; code == SQLITE_OK && !is_cancelled; step++) {
        const uint64_t began = clock_ns();
        code = sqlite3_backup_step(backup, STEP_PAGES);
        if (step % SYNC_STEPS == 0) {
            (void)fdatasync(copying->file); // the last sync decides
        }
        is_cancelled = copy->is_cancelled != NULL && copy->is_cancelled();
        rest(copy, began);
    }
    (void)sqlite3_backup_finish(backup); // its error is that of the last step
    if (code != SQLITE_DONE) {
        snprintf(reason, bytes, "%s", is_cancelled ? "cancelled" : sqlite3_errmsg(copying->to));
        return is_cancelled ? STATUS_LIMIT : status_of(code);
    }
    return STATUS_OK;
}

static int take_text(void *user, int count, char **values, char **names)
{
    (void)names;
    snprintf(user, STORE_REASON_BYTES, "%s", count > 0 && values[0] != NULL ? values[0] : "");
    return 0;
}

static Status check_copy(Copying *copying, uint32_t *schema, char *reason, size_t bytes)
{
    char application[STORE_REASON_BYTES] = "", version[STORE_REASON_BYTES] = "";
    char whole[STORE_REASON_BYTES] = "";
    int code = sqlite3_exec(copying->to, "PRAGMA application_id", take_text, application, NULL);
    code = code == SQLITE_OK
               ? sqlite3_exec(copying->to, "PRAGMA user_version", take_text, version, NULL)
               : code;
    code = code == SQLITE_OK
               ? sqlite3_exec(copying->to, "PRAGMA integrity_check(1)", take_text, whole, NULL)
               : code;
    unsigned number = 0;
    char expected[16];
    snprintf(expected, sizeof expected, "%d", STORE_APPLICATION);
    if (code != SQLITE_OK) {
        return explain(copying->to, code, "the database is damaged", reason, bytes);
    }
    if (strcmp(application, expected) != 0 || sscanf(version, "%u", &number) != 1) {
        snprintf(reason, bytes, "this is no database of ours");
        return STATUS_MALFORMED;
    }
    if (strcmp(whole, "ok") != 0) {
        snprintf(reason, bytes, "the database is damaged: %s", whole);
        return STATUS_MALFORMED;
    }
    *schema = number;
    return STATUS_OK;
}

static Status run(const StoreCopy *copy, Copying *copying, uint32_t *schema, char *reason,
                  size_t bytes)
{
    Status status = open_both(copy, copying, reason, bytes);
    if (status == STATUS_OK) {
        status = copy_pages(copy, copying, reason, bytes);
    }
    if (status == STATUS_OK) {
        status = check_copy(copying, schema, reason, bytes);
    }
    (void)sqlite3_close(copying->from);
    (void)sqlite3_close(copying->to); // removes the empty log that the check made
    if (status == STATUS_OK && fsync(copying->file) != 0) {
        snprintf(reason, bytes, "the copy cannot be written: %s", strerror(errno));
        status = STATUS_BLOCKED;
    }
    return status;
}

Status store_copy(const StoreCopy *copy, uint32_t *schema, char *reason, size_t bytes)
{
    if (access(copy->from, F_OK) != 0) {
        snprintf(reason, bytes, "%s", strerror(errno));
        return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_BLOCKED;
    }
    Copying copying = {
        .file = open(copy->to, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
    if (copying.file < 0) {
        snprintf(reason, bytes, "the copy cannot be made: %s", strerror(errno));
        return STATUS_BLOCKED;
    }
    const Status status = run(copy, &copying, schema, reason, bytes);
    close(copying.file);
    if (status != STATUS_OK) {
        (void)unlink(copy->to);
    }
    return status;
}
