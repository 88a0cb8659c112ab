// What goes into the store and what comes out. The writer thread sleeps until there is work, waits
// until commit_ms have passed since the last transaction began (not at all if somebody waits for an
// answer), takes everything there is, and makes one transaction of it. Answers are given out after
// its fsync, never before.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"
#include "server/store/backup_lock.h"
#include "server/store/world/store_profile.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_BYTES_MAX (1u << 20) // of one request; what it says is checked when it runs

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
        free(job->answer.rows);
        free(job);
    }
}

static void list_free(JobList *list)
{
    for (Job *job = list_take(list); job != NULL; job = list_take(list)) {
        job_free(job);
    }
}

// --- running ------------------------------------------------------------------------------------

uint64_t store_unix_ms(const Store *store)
{
    if (store->config.unix_ms != NULL) {
        return store->config.unix_ms(store->config.unix_ms_user);
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > 0 ? (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000 : 0;
}

static void signal_completion(Store *store)
{
    const uint64_t one = 1;
    // It can only fail when the counter is full, and then it is readable.
    (void)!write(store->event, &one, sizeof one);
}

// Gives the answers out. The lock is held. True: somebody who polls has to be told.
static bool complete_batch(Store *store, JobList *batch)
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
        const size_t bytes = job->answer.byte_count + job->answer.row_bytes;
        store->bytes_waiting += bytes;
        job->cost += bytes;
        list_add(&store->completed, job);
        any = true;
    }
    if (called) {
        pthread_cond_broadcast(&store->called);
    }
    return any;
}

static void note_batch(Store *store, double took_ms, bool wrote)
{
    StoreStats *stats = &store->stats;
    const bool failed = store->disk != STORE_DISK_FINE;
    if (wrote) {
        stats->commits += 1;
        stats->commit_ms_last = took_ms;
        stats->commit_ms_max = took_ms > stats->commit_ms_max ? took_ms : stats->commit_ms_max;
    }
    stats->disk_refuses = failed || (stats->disk_refuses && !wrote);
    if (failed || wrote) {
        stats->disk = store->disk;
    }
    stats->disk_errors += store->disk_errors;
    stats->damaged += store->found.damaged;
    stats->repaired += store->found.repaired;
    stats->backfilled += store->found.backfilled;
    store->disk_errors = 0;
    store->found = (RowsFound){0};
}

// Empties the log when it is long. A reader is not waited for: the next commit tries again.
static void checkpoint(Store *store, Sql *sql)
{
    if (sql->log_pages < store->checkpoint_pages || pthread_mutex_trylock(&store->read_lock) != 0) {
        return;
    }
    int lock = -1;
    if (!backup_lock_enter(store->database->backup_lock, &lock)) {
        pthread_mutex_unlock(&store->read_lock);
        return; // the database is being copied
    }
    const bool is_empty = sql_empty_log(sql);
    backup_lock_leave(lock);
    pthread_mutex_unlock(&store->read_lock);
    if (is_empty) {
        sql->log_pages = 0;
        store->checkpoint_pages = STORE_WAL_PAGES_MAX;
    } else {
        // Everything is still in the log; not every commit has to find out again.
        store->disk_errors += 1;
        store->checkpoint_pages =
            sql->log_pages < INT_MAX ? sql->log_pages + STORE_WAL_PAGES_MAX : UINT32_MAX;
    }
}

static void run_batch(Store *store, JobList *batch)
{
    const double began = clock_ms();
    const bool wrote = store->run(store, batch);
    const double took = clock_ms() - began;
    pthread_mutex_lock(&store->lock);
    note_batch(store, took, wrote);
    const bool any = complete_batch(store, batch);
    pthread_mutex_unlock(&store->lock);
    if (any) { // without the lock, which the one who wakes up takes first
        signal_completion(store);
    }
    if (wrote && store->writer != NULL) {
        checkpoint(store, store->writer);
    }
}

// Where several write, a job can wait for what another host holds, and then the whole transaction
// fails. A renewal waits for nobody, so it goes first and alone: else this host would stop its
// worlds.
static JobList take_renewals(const Store *store, JobList *batch)
{
    JobList renewals = {NULL, NULL}, rest = {NULL, NULL};
    if (store->writer == NULL || !sql_raises_heads(store->writer)) {
        return renewals;
    }
    for (Job *job = list_take(batch); job != NULL; job = list_take(batch)) {
        list_add(batch_is_renewal(store, job) ? &renewals : &rest, job);
    }
    *batch = rest;
    return renewals;
}

static void run_batches(Store *store, JobList batch)
{
    JobList renewals = take_renewals(store, &batch);
    if (renewals.first != NULL) {
        run_batch(store, &renewals);
    }
    if (batch.first != NULL) {
        run_batch(store, &batch);
    }
}

static JobList take_waiting(Store *store)
{
    const JobList batch = store->waiting;
    store->waiting = (JobList){NULL, NULL};
    store->urgent = false;
    return batch;
}

void store_step(Store *store)
{
    ASSERT(store->config.manual);
    run_batches(store, take_waiting(store));
}

// --- the thread ---------------------------------------------------------------------------------

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
    while (!store->urgent && !store->closing && clock_ms() < due) {
        if (pthread_cond_timedwait(&store->work, &store->lock, &until) == ETIMEDOUT) {
            break;
        }
    }
    return store->waiting.first != NULL;
}

static void *run_thread(void *user)
{
    Store *store = user;
    double due = 0;
    pthread_mutex_lock(&store->lock);
    while (wait_for_batch(store, due)) {
        const JobList batch = take_waiting(store);
        pthread_mutex_unlock(&store->lock);
        due = clock_ms() + store->config.commit_ms;
        run_batches(store, batch);
        pthread_mutex_lock(&store->lock);
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

Status queue_start(Store *store)
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
    if (!store->config.manual && pthread_create(&store->thread, NULL, run_thread, store) != 0) {
        close(store->event);
        return STATUS_LIMIT;
    }
    return STATUS_OK;
}

bool queue_is_closing(Store *store)
{
    pthread_mutex_lock(&store->lock);
    const bool is_closing = store->closing;
    pthread_mutex_unlock(&store->lock);
    return is_closing;
}

void queue_finish(Store *store)
{
    if (store->config.manual) {
        store_step(store);
        return;
    }
    pthread_mutex_lock(&store->lock);
    store->closing = true;
    pthread_cond_signal(&store->work);
    pthread_mutex_unlock(&store->lock);
    pthread_join(store->thread, NULL);
}

void queue_free(Store *store)
{
    job_free(store->taken);
    list_free(&store->waiting);
    list_free(&store->completed);
    pthread_cond_destroy(&store->work);
    pthread_cond_destroy(&store->called);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->read_lock);
    close(store->event);
}

// --- reading ------------------------------------------------------------------------------------

void store_read_begin(Store *store)
{
    pthread_mutex_lock(&store->read_lock);
}

Status store_read_end(Store *store, Status status, uint64_t damaged)
{
    status = sql_status(store->reader) != STATUS_OK ? sql_status(store->reader) : status;
    sql_clear(store->reader);
    pthread_mutex_unlock(&store->read_lock);
    if (damaged > 0 || status == STATUS_MALFORMED) {
        pthread_mutex_lock(&store->lock);
        store->stats.damaged += damaged > 0 ? damaged : 1;
        pthread_mutex_unlock(&store->lock);
    }
    return status;
}

// --- going in -----------------------------------------------------------------------------------

Status store_call(Store *store, JobCall call, void *user)
{
    return store_call_world(store, "", call, user);
}

Status store_call_world(Store *store, const char *world_id, JobCall call, void *user)
{
    Job job = {.type = JOB_CALL, .call = call, .user = user};
    ASSERT(strlen(world_id) < sizeof job.answer.world_id);
    memcpy(job.answer.world_id, world_id, strlen(world_id) + 1);
    if (store->config.manual) { // alone: what waits goes on waiting
        JobList batch = {&job, &job};
        run_batch(store, &batch);
        return job.answer.status;
    }
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

static Job *job_make(JobType type, const char *world_id, uint64_t tag, size_t bytes)
{
    Job *job = malloc(sizeof *job + bytes);
    if (job != NULL) {
        memset(job, 0, sizeof *job);
        job->type = type;
        job->cost = sizeof *job + bytes;
        job->answer.type = (StoreCompletionType)type;
        job->answer.tag = tag;
        ASSERT(strlen(world_id) < sizeof job->answer.world_id);
        memcpy(job->answer.world_id, world_id, strlen(world_id) + 1);
    }
    return job;
}

static Status job_submit(Store *store, Job *job, bool urgent)
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
    // The writer waits for a first job, then for the time of the next commit, which only an urgent
    // job shortens.
    const bool is_awaited = store->waiting.first == NULL || (urgent && !store->urgent);
    list_add(&store->waiting, job);
    store->urgent = store->urgent || urgent;
    pthread_mutex_unlock(&store->lock);
    if (is_awaited) { // without the lock, which the writer takes when it wakes up
        pthread_cond_signal(&store->work);
    }
    return STATUS_OK;
}

static Status count_refused(Store *store, Status status)
{
    pthread_mutex_lock(&store->lock);
    store->stats.refused += 1;
    pthread_mutex_unlock(&store->lock);
    return status;
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

_Static_assert(_Alignof(StoreHost) <= _Alignof(uint64_t), "the bytes of a job are aligned so");

// The host that has to hold the world, behind what the job has already.
static void copy_holder(Job *job, size_t *at, const StoreHolder *holder)
{
    if (holder != NULL) {
        StoreHost host = {.draining = false};
        memcpy(host.host_id, holder->host_id, sizeof host.host_id);
        memcpy(host.boot, holder->boot, sizeof host.boot);
        *at = (*at + _Alignof(StoreHost) - 1) / _Alignof(StoreHost) * _Alignof(StoreHost);
        job->host = copy_piece(job, at, &host, sizeof host);
        job->is_again = holder->is_again;
    }
}

static size_t holder_bytes(const StoreHolder *holder)
{
    return holder != NULL ? sizeof(StoreHost) + _Alignof(StoreHost) - 1 : 0;
}

Status store_save(Store *store, const char *world_id, uint64_t epoch, uint64_t seq,
                  const uint8_t *rows, size_t bytes, uint64_t tag)
{
    return store_save_for(store, NULL, world_id, epoch, seq, rows, bytes, tag);
}

Status store_save_for(Store *store, const StoreHolder *holder, const char *world_id, uint64_t epoch,
                      uint64_t seq, const uint8_t *rows, size_t bytes, uint64_t tag)
{
    uint32_t count = 0;
    if (!store_id_is_valid(world_id) || rows_check(rows, bytes, &count) != STATUS_OK) {
        return count_refused(store, STATUS_MALFORMED);
    }
    Job *job = job_make(JOB_SAVE, world_id, tag, bytes + holder_bytes(holder));
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    size_t at = 0;
    job->epoch = epoch;
    job->seq = seq;
    job->rows = copy_piece(job, &at, rows, bytes);
    copy_holder(job, &at, holder);
    job->row_bytes = bytes;
    job->row_count = count;
    return job_submit(store, job, false);
}

bool store_request_is_read(const StoreRequest *request)
{
    return data_is_read(request);
}

Status store_request(Store *store, const char *world_id, uint64_t epoch,
                     const StoreRequest *request, uint64_t tag)
{
    return store_request_for(store, NULL, world_id, epoch, request, tag);
}

Status store_request_for(Store *store, const StoreHolder *holder, const char *world_id,
                         uint64_t epoch, const StoreRequest *request, uint64_t tag)
{
    if (!store_id_is_valid(world_id)) {
        return count_refused(store, STATUS_MALFORMED);
    }
    const size_t sizes[] = {request->store.bytes, request->key.bytes, request->value_bytes};
    size_t bytes = 0;
    for (size_t i = 0; i < 3; i++) {
        if (sizes[i] > REQUEST_BYTES_MAX) {
            return count_refused(store, STATUS_LIMIT);
        }
        bytes += sizes[i];
    }
    Job *job = job_make(JOB_REQUEST, world_id, tag, bytes + holder_bytes(holder));
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    size_t at = 0;
    job->epoch = epoch;
    job->request = *request;
    job->request.store.data = copy_piece(job, &at, request->store.data, sizes[0]);
    job->request.key.data = copy_piece(job, &at, request->key.data, sizes[1]);
    job->request.value = copy_piece(job, &at, request->value, sizes[2]);
    copy_holder(job, &at, holder);
    job->is_again = false; // what changes something is never done twice
    return job_submit(store, job, false);
}

static Job *job_with_host(JobType type, const char *world_id, const StoreHost *host, uint64_t now,
                          uint64_t tag)
{
    Job *job = job_make(type, world_id, tag, sizeof *host);
    if (job != NULL) {
        size_t at = 0;
        job->host = copy_piece(job, &at, host, sizeof *host);
        job->now = now;
    }
    return job;
}

static Status renew(Store *store, const StoreHost *host, HostMode mode, uint64_t now_unix_ms,
                    uint64_t duration_ms, uint64_t tag)
{
    if (!store_id_is_valid(host->host_id) ||
        strnlen(host->address, sizeof host->address) == sizeof host->address) {
        return count_refused(store, STATUS_MALFORMED);
    }
    Job *job = job_with_host(JOB_HOST, "", host, now_unix_ms, tag);
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    job->duration = duration_ms;
    job->host_mode = mode;
    return job_submit(store, job, true);
}

Status store_host_renew(Store *store, const StoreHost *host, uint64_t now_unix_ms,
                        uint64_t duration_ms, uint64_t tag)
{
    return renew(store, host, HOST_OWN, now_unix_ms, duration_ms, tag);
}

Status store_host_register(Store *store, const StoreHost *host, uint64_t now_unix_ms,
                           uint64_t duration_ms, uint64_t tag)
{
    return renew(store, host, HOST_REGISTER, now_unix_ms, duration_ms, tag);
}

Status store_host_keep(Store *store, const StoreHost *host, uint64_t now_unix_ms,
                       uint64_t duration_ms, uint64_t tag)
{
    return renew(store, host, HOST_KEEP, now_unix_ms, duration_ms, tag);
}

Status store_peers_find(Store *store, uint64_t now_unix_ms, uint64_t tag)
{
    Job *job = job_make(JOB_PEERS, "", tag, 0);
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    job->now = now_unix_ms;
    return job_submit(store, job, true);
}

Status store_host_end(Store *store, const char *host_id, const uint8_t boot[STORE_BOOT_BYTES],
                      uint64_t tag)
{
    if (!store_id_is_valid(host_id)) {
        return count_refused(store, STATUS_MALFORMED);
    }
    StoreHost host = {.draining = false};
    memcpy(host.host_id, host_id, strlen(host_id) + 1);
    memcpy(host.boot, boot, sizeof host.boot);
    Job *job = job_with_host(JOB_HOST_END, "", &host, 0, tag);
    return job != NULL ? job_submit(store, job, true) : STATUS_LIMIT;
}

Status store_world_take(Store *store, const char *world_id, const char *host_id,
                        const uint8_t boot[STORE_BOOT_BYTES], uint64_t now_unix_ms, uint64_t tag)
{
    if (!store_id_is_valid(world_id) || !store_id_is_valid(host_id)) {
        return count_refused(store, STATUS_MALFORMED);
    }
    StoreHost host = {.draining = false};
    memcpy(host.host_id, host_id, strlen(host_id) + 1);
    memcpy(host.boot, boot, sizeof host.boot);
    Job *job = job_with_host(JOB_TAKE, world_id, &host, now_unix_ms, tag);
    return job != NULL ? job_submit(store, job, true) : STATUS_LIMIT;
}

Status store_world_make(Store *store, const StoreWorld *world, uint64_t tag)
{
    if (!world_is_valid(world)) {
        return count_refused(store, STATUS_MALFORMED);
    }
    Job *job = job_make(JOB_MAKE, world->world_id, tag, sizeof *world);
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    memcpy(job->bytes, world, sizeof *world);
    job->user = job->bytes;
    return job_submit(store, job, true);
}

Status store_profiles_find(Store *store, uint64_t account, uint64_t tag)
{
    Job *job = job_make(JOB_PROFILES, "", tag, 0);
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    job->epoch = account;
    return job_submit(store, job, true);
}

Status store_world_release(Store *store, const char *world_id, uint64_t epoch, uint64_t tag)
{
    return store_world_release_for(store, NULL, world_id, epoch, tag);
}

Status store_world_release_for(Store *store, const StoreHolder *holder, const char *world_id,
                               uint64_t epoch, uint64_t tag)
{
    if (!store_id_is_valid(world_id)) {
        return count_refused(store, STATUS_MALFORMED);
    }
    Job *job = job_make(JOB_RELEASE, world_id, tag, holder_bytes(holder));
    if (job == NULL) {
        return STATUS_LIMIT;
    }
    size_t at = 0;
    copy_holder(job, &at, holder);
    job->epoch = epoch;
    return job_submit(store, job, true);
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
        job->answer.rows = NULL; // the caller's from here on
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
    case STORE_DISK_AWAY:
        return "the database server cannot be reached";
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
