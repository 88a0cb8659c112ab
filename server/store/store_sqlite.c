// The store on SQLite: opening, the writer thread, and what goes in and out. The thread sleeps
// until there is work, waits until commit_ms have passed since the last transaction began (not at
// all if somebody waits for an answer), takes everything there is, and makes one transaction of it.
// Answers are given out after its fsync, never before.
//
// The write-ahead log is written back as a whole and emptied by the writer alone, while nobody
// reads. So the database file is never half ahead of a log that could lose its end: whatever is
// torn off the log leaves the state after some transaction.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "server/store/log_check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_BYTES_MAX (1u << 20) // of one request; what it says is checked when it runs
#define PAGE_BYTES_MIN    512        // the smallest that SQLite has

StoreConfig store_config_default(void)
{
    return (StoreConfig){.commit_ms = 50,
                         .bytes_waiting_max = 64u << 20,
                         .data_keys_max = 100000,
                         .data_bytes_max = 256u << 20};
}

// --- lists of jobs ------------------------------------------------------------------------------

static void list_add(JobList *list, Job *job)
{
    job->next = NULL;
    if (list->last != NULL) {
        list->last->next = job;
    } else {
        list->first = job;
    }
    list->last = job;
}

static Job *list_take(JobList *list)
{
    Job *job = list->first;
    if (job != NULL) {
        list->first = job->next;
        list->last = list->first != NULL ? list->last : NULL;
    }
    return job;
}

static void job_free(Job *job)
{
    if (job != NULL) {
        free(job->answer_bytes);
        free(job);
    }
}

// --- running ------------------------------------------------------------------------------------

static void exec(Sql *sql, SqlName name)
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    (void)sql_run(&row);
}

static Status run_save(Store *store, Sql *sql, Job *job)
{
    const Status status = head_advance(store, sql, job->answer.world_id, job->epoch, job->seq);
    if (status == STATUS_OK) {
        rows_apply(sql, job->answer.world_id, job->rows, job->row_bytes);
    }
    return status;
}

static Status run_request(Store *store, Sql *sql, Job *job)
{
    if (!head_epoch_is(sql, job->answer.world_id, job->epoch)) {
        return STATUS_DENIED;
    }
    ByteWriter writer = byte_writer(store->answer, sizeof store->answer);
    const uint64_t damaged_before = store->damaged;
    job->answer.ok = data_run(store, sql, job->answer.world_id, &job->request, &writer);
    ASSERT(writer.status == STATUS_OK);
    uint8_t *bytes = malloc(writer.at + 1);
    if (bytes == NULL) {
        sql->error = SQLITE_NOMEM;
        return STATUS_BLOCKED;
    }
    memcpy(bytes, store->answer, writer.at);
    free(job->answer_bytes);
    job->answer_bytes = bytes;
    job->answer.damaged = store->damaged > damaged_before;
    job->answer.bytes = bytes;
    job->answer.byte_count = writer.at;
    return STATUS_OK;
}

static Status run_job(Store *store, Sql *sql, Job *job)
{
    switch (job->type) {
    case JOB_SAVE:
        return run_save(store, sql, job);
    case JOB_REQUEST:
        return run_request(store, sql, job);
    case JOB_CALL:
        return job->call(store, sql, job->user);
    }
    return STATUS_UNSUPPORTED;
}

// Without an answer of its own: fenced, or refused by the disk.
static void job_refuse(Job *job, Status status)
{
    job->answer.status = status;
    job->answer.ok = job->answer.damaged = false;
    job->answer.bytes = NULL;
    job->answer.byte_count = 0;
}

// Runs one job inside the transaction. False: the disk refuses, and the transaction is lost.
static bool run_in_batch(Store *store, Sql *sql, Job *job)
{
    exec(sql, SQL_JOB_BEGIN);
    Status status = run_job(store, sql, job);
    const Status error = sql_status(sql);
    if (error == STATUS_BLOCKED || sqlite3_get_autocommit(sql->db) != 0) {
        return false;
    }
    if (error != STATUS_OK) {
        // A damaged page, or a row that the tables do not take: this job alone is undone.
        store->damaged += error == STATUS_MALFORMED;
        status = error == STATUS_MALFORMED ? STATUS_BLOCKED : STATUS_MALFORMED;
        sql_clear(sql);
    }
    if (status != STATUS_OK) {
        exec(sql, SQL_JOB_UNDO);
        job_refuse(job, status);
    } else {
        job->answer.status = STATUS_OK;
    }
    exec(sql, SQL_JOB_KEEP);
    return sql_status(sql) == STATUS_OK;
}

// What an error says of the disk.
static StoreDisk disk_of(const Sql *sql)
{
    const int code = sql->error & 0xff;
    const int problem = sqlite3_system_errno(sql->db);
    if (code == SQLITE_FULL || problem == ENOSPC || problem == EDQUOT || problem == EFBIG) {
        return STORE_DISK_FULL;
    }
    return code == SQLITE_READONLY || problem == EROFS ? STORE_DISK_READ_ONLY : STORE_DISK_FAILED;
}

static bool run_transaction(Store *store, Sql *sql, const JobList *batch)
{
    sql_clear(sql);
    exec(sql, SQL_BEGIN);
    bool ok = sql->error == SQLITE_OK;
    for (Job *job = batch->first; job != NULL && ok; job = job->next) {
        ok = run_in_batch(store, sql, job);
    }
    if (ok) {
        exec(sql, SQL_COMMIT);
        ok = sql->error == SQLITE_OK;
    }
    if (!ok) {
        store->disk_errors += 1;
        store->disk = disk_of(sql);
        sql_clear(sql);
        if (sqlite3_get_autocommit(sql->db) == 0) {
            exec(sql, SQL_ROLLBACK);
            sql_clear(sql);
        }
    }
    return ok;
}

// Nothing of the batch is stored. What only reads gets its answer all the same.
static void refuse_batch(Store *store, Sql *sql, const JobList *batch)
{
    for (Job *job = batch->first; job != NULL; job = job->next) {
        job_refuse(job, STATUS_BLOCKED);
        if (job->type == JOB_SAVE) {
            head_blocked(store, job->answer.world_id, job->epoch, job->seq);
        } else if (job->type == JOB_REQUEST && data_is_read(&job->request)) {
            const Status status = run_request(store, sql, job);
            const Status error = sql_status(sql);
            if (status != STATUS_OK || error != STATUS_OK) {
                job_refuse(job, error != STATUS_OK ? STATUS_BLOCKED : status);
            } else {
                job->answer.status = STATUS_OK;
            }
            sql_clear(sql);
        }
    }
}

// Empties the log when it is long. A reader is not waited for: the next commit tries again.
static void checkpoint(Store *store, Sql *sql)
{
    if (sql->wal_pages < store->checkpoint_pages || pthread_mutex_trylock(&store->read_lock) != 0) {
        return;
    }
    const int code =
        sqlite3_wal_checkpoint_v2(sql->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    pthread_mutex_unlock(&store->read_lock);
    if (code == SQLITE_OK) {
        sql->wal_pages = 0;
        store->checkpoint_pages = STORE_WAL_PAGES_MAX;
    } else {
        // Everything is still in the log; not every commit has to find out again.
        store->disk_errors += 1;
        store->checkpoint_pages = sql->wal_pages < INT_MAX - STORE_WAL_PAGES_MAX
                                      ? sql->wal_pages + STORE_WAL_PAGES_MAX
                                      : INT_MAX;
    }
}

// --- the thread ---------------------------------------------------------------------------------

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static struct timespec timespec_of(double ms)
{
    const double seconds = ms / 1e3;
    const time_t whole = (time_t)seconds;
    return (struct timespec){whole, (long)((seconds - (double)whole) * 1e9)};
}

// Waits until there is a batch; false: there is none and there will be none. The lock is held.
static bool wait_for_batch(Store *store, double due)
{
    while (store->waiting.first == NULL && !store->closing) {
        pthread_cond_wait(&store->work, &store->lock);
    }
    const struct timespec until = timespec_of(due);
    while (!store->urgent && !store->closing && now_ms() < due) {
        if (pthread_cond_timedwait(&store->work, &store->lock, &until) == ETIMEDOUT) {
            break;
        }
    }
    return store->waiting.first != NULL;
}

static void signal_completion(Store *store)
{
    const uint64_t one = 1;
    // It can only fail when the counter is full, and then it is readable.
    (void)!write(store->event, &one, sizeof one);
}

// Gives the answers out. The lock is held.
static void complete_batch(Store *store, JobList *batch)
{
    bool any = false;
    bool called = false;
    for (Job *job = list_take(batch); job != NULL; job = list_take(batch)) {
        store->stats.refused += job->answer.status != STATUS_OK;
        if (job->type == JOB_CALL) {
            job->done = true; // it is gone as soon as the lock is
            called = true;
            continue;
        }
        if (job->type == JOB_SAVE && job->answer.status == STATUS_OK) {
            store->stats.rows += job->row_count;
            store->stats.bytes += job->row_bytes;
        }
        store->bytes_waiting += job->answer.byte_count;
        job->cost += job->answer.byte_count;
        list_add(&store->completed, job);
        any = true;
    }
    if (any) {
        signal_completion(store);
    }
    if (called) {
        pthread_cond_broadcast(&store->called);
    }
}

static void run_batch(Store *store, JobList *batch)
{
    Sql *sql = &store->writer;
    const double began = now_ms();
    const int changes = sqlite3_total_changes(sql->db);
    const bool ok = run_transaction(store, sql, batch);
    const double took = now_ms() - began;
    const bool wrote = ok && sqlite3_total_changes(sql->db) != changes;
    if (!ok) {
        refuse_batch(store, sql, batch);
    }
    pthread_mutex_lock(&store->lock);
    StoreStats *stats = &store->stats;
    if (wrote) {
        stats->commits += 1;
        stats->commit_ms_last = took;
        stats->commit_ms_max = took > stats->commit_ms_max ? took : stats->commit_ms_max;
    }
    stats->disk_refuses = ok ? stats->disk_refuses && !wrote : true;
    if (!ok || wrote) {
        stats->disk = ok ? STORE_DISK_FINE : store->disk;
    }
    stats->disk_errors += store->disk_errors;
    stats->damaged += store->damaged;
    store->disk_errors = 0;
    store->damaged = 0;
    complete_batch(store, batch);
    pthread_mutex_unlock(&store->lock);
    if (wrote) {
        checkpoint(store, sql);
    }
}

static void *run_thread(void *user)
{
    Store *store = user;
    double due = 0;
    pthread_mutex_lock(&store->lock);
    while (wait_for_batch(store, due)) {
        JobList batch = store->waiting;
        store->waiting = (JobList){NULL, NULL};
        store->urgent = false;
        pthread_mutex_unlock(&store->lock);
        due = now_ms() + store->config.commit_ms;
        run_batch(store, &batch);
        pthread_mutex_lock(&store->lock);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

// --- going in -----------------------------------------------------------------------------------

Status store_call(Store *store, JobCall call, void *user)
{
    Job job = {.type = JOB_CALL, .call = call, .user = user};
    pthread_mutex_lock(&store->lock);
    ASSERT(!store->closing);
    list_add(&store->waiting, &job);
    store->urgent = true;
    pthread_cond_signal(&store->work);
    while (!job.done) {
        pthread_cond_wait(&store->called, &store->lock);
    }
    pthread_mutex_unlock(&store->lock);
    return job.answer.status;
}

static Job *job_make(JobType type, const char *world_id, uint64_t epoch, uint64_t tag, size_t bytes)
{
    ASSERT(store_id_is_valid(world_id)); // it goes into a fixed array and into SQL
    Job *job = malloc(sizeof *job + bytes);
    if (job != NULL) {
        memset(job, 0, sizeof *job);
        job->type = type;
        job->epoch = epoch;
        job->cost = sizeof *job + bytes;
        job->answer.tag = tag;
        memcpy(job->answer.world_id, world_id, strlen(world_id) + 1);
    }
    return job;
}

static Status job_submit(Store *store, Job *job)
{
    pthread_mutex_lock(&store->lock);
    ASSERT(!store->closing);
    const size_t max = store->config.bytes_waiting_max;
    if (job->cost > max || store->bytes_waiting > max - job->cost) {
        store->stats.refused += 1;
        pthread_mutex_unlock(&store->lock);
        job_free(job);
        return STATUS_LIMIT;
    }
    store->bytes_waiting += job->cost;
    list_add(&store->waiting, job);
    pthread_cond_signal(&store->work);
    pthread_mutex_unlock(&store->lock);
    return STATUS_OK;
}

static void count_refused(Store *store)
{
    pthread_mutex_lock(&store->lock);
    store->stats.refused += 1;
    pthread_mutex_unlock(&store->lock);
}

Status store_save(Store *store, const char *world_id, uint64_t epoch, uint64_t seq,
                  const uint8_t *rows, size_t bytes, uint64_t tag)
{
    uint32_t count = 0;
    if (!store_id_is_valid(world_id) || rows_check(rows, bytes, &count) != STATUS_OK) {
        count_refused(store);
        return STATUS_MALFORMED;
    }
    Job *job = job_make(JOB_SAVE, world_id, epoch, tag, bytes);
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    if (bytes > 0) {
        memcpy(job->bytes, rows, bytes);
    }
    job->seq = seq;
    job->rows = job->bytes;
    job->row_bytes = bytes;
    job->row_count = count;
    return job_submit(store, job);
}

static const void *copy_piece(Job *job, size_t *at, const void *data, size_t bytes)
{
    uint8_t *to = job->bytes + *at;
    if (bytes > 0) {
        memcpy(to, data, bytes);
    }
    *at += bytes;
    return to;
}

Status store_request(Store *store, const char *world_id, uint64_t epoch,
                     const StoreRequest *request, uint64_t tag)
{
    if (!store_id_is_valid(world_id)) {
        count_refused(store);
        return STATUS_MALFORMED;
    }
    const size_t sizes[] = {request->store.bytes, request->key.bytes, request->value_bytes};
    size_t bytes = 0;
    for (size_t i = 0; i < 3; i++) {
        if (sizes[i] > REQUEST_BYTES_MAX) {
            count_refused(store);
            return STATUS_LIMIT;
        }
        bytes += sizes[i];
    }
    Job *job = job_make(JOB_REQUEST, world_id, epoch, tag, bytes);
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    size_t at = 0;
    job->request = *request;
    job->request.store.data = copy_piece(job, &at, request->store.data, sizes[0]);
    job->request.key.data = copy_piece(job, &at, request->key.data, sizes[1]);
    job->request.value = copy_piece(job, &at, request->value, sizes[2]);
    return job_submit(store, job);
}

// --- coming out ---------------------------------------------------------------------------------

bool store_poll(Store *store, StoreCompletion *out)
{
    pthread_mutex_lock(&store->lock);
    Job *before = store->taken;
    Job *job = list_take(&store->completed);
    store->taken = job;
    ASSERT(before == NULL || before->cost <= store->bytes_waiting);
    store->bytes_waiting -= before != NULL ? before->cost : 0;
    if (store->completed.first == NULL) {
        uint64_t count;
        (void)!read(store->event, &count, sizeof count); // does not wait
    }
    pthread_mutex_unlock(&store->lock);
    job_free(before);
    if (job != NULL) {
        *out = job->answer;
    }
    return job != NULL;
}

int store_descriptor(const Store *store)
{
    return store->event;
}

const char *store_disk_text(StoreDisk disk)
{
    switch (disk) {
    case STORE_DISK_FINE:
        break;
    case STORE_DISK_FULL:
        return "the disk is full";
    case STORE_DISK_READ_ONLY:
        return "the disk is read-only";
    case STORE_DISK_FAILED:
        return "the disk fails to write";
    }
    return "the disk takes writes";
}

StoreStats store_stats(Store *store)
{
    pthread_mutex_lock(&store->lock);
    StoreStats stats = store->stats;
    stats.bytes_waiting = store->bytes_waiting;
    pthread_mutex_unlock(&store->lock);
    return stats;
}

// --- blobs --------------------------------------------------------------------------------------

typedef struct BlobCall {
    const uint8_t *hash;
    uint64_t bytes;
} BlobCall;

static Status blob_put_row(Store *store, Sql *sql, void *user)
{
    (void)store;
    const BlobCall *call = user;
    SqlRow row = sql_open(sql, SQL_BLOB_PUT, TABLE_BLOBS);
    sql_put_blob(&row, call->hash, 32);
    sql_put_u64(&row, call->bytes);
    sql_put_checksum(&row);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_blob_put(Store *store, const uint8_t hash[32], uint64_t bytes)
{
    BlobCall call = {hash, bytes};
    return store_call(store, blob_put_row, &call);
}

Status store_blob_find(Store *store, const uint8_t hash[32], uint64_t *bytes)
{
    Status status = STATUS_NOT_FOUND;
    pthread_mutex_lock(&store->read_lock);
    Sql *sql = &store->reader;
    SqlRow row = sql_open(sql, SQL_BLOB_FIND, TABLE_NONE);
    sql_put_blob(&row, hash, 32);
    if (sql_next(&row)) {
        size_t hash_bytes_read = 0;
        sql_take_table(&row, TABLE_BLOBS);
        (void)sql_take_blob(&row, 32, &hash_bytes_read);
        const uint64_t count = sql_take_u64(&row);
        status = sql_take_checksum(&row) ? STATUS_OK : STATUS_MALFORMED;
        *bytes = status == STATUS_OK ? count : *bytes;
        sql_close(&row);
    }
    status = sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
    sql_clear(sql);
    pthread_mutex_unlock(&store->read_lock);
    return status;
}

// --- opening and closing ------------------------------------------------------------------------

static Status sync_folder(const char *path)
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
    status = schema_open(&sql, true, &unused, reason, reason_bytes);
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
    status = sync_folder(path);
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

static Status open_database(Store *store, char *reason, size_t reason_bytes)
{
    const char *path = store->config.path;
    Status status = find_database(path, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status;
    }
    const LogDamage damage = log_check(path);
    status = sql_connect(&store->writer, path, reason, reason_bytes);
    if (status != STATUS_OK) {
        return status == STATUS_RANGE ? STATUS_MALFORMED : status;
    }
    status = schema_open(&store->writer, false, &store->stats, reason, reason_bytes);
    if (status == STATUS_OK) {
        char unused[STORE_REASON_BYTES];
        status = sql_connect(&store->reader, path, unused, sizeof unused);
        if (status != STATUS_OK) {
            snprintf(reason, reason_bytes, "%s", unused);
        }
    }
    if (status != STATUS_OK) {
        sql_abandon(&store->writer);
    } else if (damage.commit_lost > 0) {
        snprintf(reason, reason_bytes,
                 "the log (-wal) was damaged at byte %llu; commits lost: %llu",
                 (unsigned long long)damage.at, (unsigned long long)damage.commit_lost);
    }
    return status;
}

static Status start_thread(Store *store)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&store->lock, NULL);
    pthread_mutex_init(&store->read_lock, NULL);
    pthread_cond_init(&store->work, &monotonic);
    pthread_cond_init(&store->called, NULL);
    pthread_condattr_destroy(&monotonic);
    store->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (store->event < 0) {
        return STATUS_LIMIT;
    }
    if (pthread_create(&store->thread, NULL, run_thread, store) != 0) {
        close(store->event);
        return STATUS_LIMIT;
    }
    return STATUS_OK;
}

Status store_open(const StoreConfig *config, Store **out, char *reason, size_t bytes)
{
    char text[STORE_REASON_BYTES] = "";
    Store *store = calloc(1, sizeof *store);
    BlockedWorld *blocked = calloc(STORE_BLOCKED_MAX, sizeof *blocked);
    Status status = store != NULL && blocked != NULL ? STATUS_OK : STATUS_LIMIT;
    if (status == STATUS_OK) {
        store->config = *config;
        store->blocked = blocked;
        store->checkpoint_pages = STORE_WAL_PAGES_MAX;
        status = open_database(store, text, sizeof text);
    }
    if (status == STATUS_OK) {
        store->config.path = NULL; // the caller's
        status = start_thread(store);
        if (status != STATUS_OK) {
            snprintf(text, sizeof text, "the writer thread cannot be started");
            sql_disconnect(&store->reader);
            sql_disconnect(&store->writer);
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

void store_close(Store *store)
{
    if (store == NULL) {
        return;
    }
    pthread_mutex_lock(&store->lock);
    store->closing = true;
    pthread_cond_signal(&store->work);
    pthread_mutex_unlock(&store->lock);
    pthread_join(store->thread, NULL);
    sql_disconnect(&store->reader);
    sql_disconnect(&store->writer); // the last one writes the log back and removes it
    job_free(store->taken);
    for (Job *job = list_take(&store->completed); job != NULL; job = list_take(&store->completed)) {
        job_free(job);
    }
    pthread_cond_destroy(&store->work);
    pthread_cond_destroy(&store->called);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->read_lock);
    close(store->event);
    free(store->blocked);
    free(store);
}
