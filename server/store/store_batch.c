// A batch is one transaction. Saves and requests that stand together in it are fenced once for each
// world, and none of them is undone alone: that costs nothing when all goes well. If one of them
// fails for another reason than the disk (a damaged page), the transaction is rolled back and the
// batch runs again carefully: each job with its own fence, inside its own savepoint, so that a
// failing job hurts nobody but its own world.
//
// Where an answer takes a round trip to another machine (PostgreSQL), a batch of nothing but saves
// is tried optimistically first: it commits without waiting for its fence, which undoes everything
// if it does not hit. That is one round trip instead of two.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef enum RunMode { MODE_OPTIMISTIC, MODE_TOGETHER, MODE_CAREFUL } RunMode;
typedef enum RunResult { RUN_DONE, RUN_AGAIN, RUN_DISK, RUN_UNKNOWN } RunResult;

// How long a COMMIT without an answer is asked about before its jobs are told. Nothing else could
// be written meanwhile.
#define RESOLVE_MS      20000
#define RESOLVE_STEP_MS 100

// --- jobs ---------------------------------------------------------------------------------------

// Without an answer of its own: fenced, or refused by the disk.
void job_refuse(Job *job, Status status)
{
    free(job->answer.rows);
    job->answer.rows = NULL;
    job->answer.row_bytes = 0;
    job->answer.epoch = 0;
    job->answer.status = status;
    job->answer.ok = job->answer.damaged = job->answer.is_unknown = false;
    job->answer.bytes = NULL;
    job->answer.byte_count = 0;
}

// Whose DataStores a world uses. A world whose row is damaged uses none.
static Status find_place(Sql *sql, const char *world_id, char place_id[STORE_ID_BYTES + 1])
{
    StoreWorld world;
    const Status status = world_find(sql, world_id, &world);
    if (status == STATUS_OK) {
        memcpy(place_id, world.place_id, sizeof world.place_id);
    } else if (status == STATUS_MALFORMED) {
        sql_fail(sql, SQL_ERROR_DAMAGED);
    }
    return status == STATUS_NOT_FOUND ? STATUS_DENIED : STATUS_OK;
}

static void answer_request(Store *store, Sql *sql, Job *job, const char *place_id)
{
    ByteWriter writer = byte_writer(store->answer, sizeof store->answer);
    const uint64_t damaged_before = store->found.damaged;
    job->answer.ok = data_run(store, sql, place_id, &job->request, &writer);
    ASSERT(writer.status == STATUS_OK);
    uint8_t *bytes = malloc(writer.at + 1);
    if (bytes == NULL) {
        sql_fail(sql, SQL_ERROR_DISK);
        return;
    }
    memcpy(bytes, store->answer, writer.at);
    free(job->answer_bytes);
    job->answer_bytes = bytes;
    job->answer.damaged = store->found.damaged > damaged_before;
    job->answer.bytes = bytes;
    job->answer.byte_count = writer.at;
}

static Writer writer_of(const Job *job)
{
    return (Writer){.world_id = job->answer.world_id, .host = job->host, .epoch = job->epoch};
}

static Status save_alone(Store *store, Sql *sql, Job *job)
{
    const Writer writer = writer_of(job);
    if (job->is_again && fence_has_save(sql, &writer, job->seq)) {
        return STATUS_OK; // with its rows
    }
    const Status status = fence_saves(store, sql, &writer, job->seq, job->seq);
    if (status == STATUS_EXISTS) {
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        rows_apply(store, sql, &(Save){writer.world_id, job->epoch, job->rows, job->row_bytes});
    }
    return status;
}

static Status run_alone(Store *store, Sql *sql, Job *job)
{
    const Writer writer = writer_of(job);
    char place_id[STORE_ID_BYTES + 1];
    Status status = STATUS_UNSUPPORTED;
    switch (job->type) {
    case JOB_SAVE:
        return save_alone(store, sql, job);
    case JOB_REQUEST:
        status = fence_requests(store, sql, &writer, !data_is_read(&job->request));
        status = status == STATUS_OK ? find_place(sql, writer.world_id, place_id) : status;
        if (status == STATUS_OK && sql->error == SQL_NO_ERROR) {
            answer_request(store, sql, job, place_id);
        }
        return status;
    case JOB_HOST:
        return host_renew(store, sql, job);
    case JOB_TAKE:
        return world_take(store, sql, job);
    case JOB_RELEASE:
        return world_release(sql, job);
    case JOB_MAKE:
        return world_make(store, sql, job);
    case JOB_PROFILES:
        return profiles_answer(store, sql, job);
    case JOB_PEERS:
        return peers_answer(store, sql, job);
    case JOB_HOST_END:
        return host_end(sql, job);
    case JOB_CALL:
        return job->call(store, sql, job->user);
    }
    return status;
}

// The job can be undone alone. False: the disk refuses, and the transaction is lost.
static bool run_with_savepoint(Store *store, Sql *sql, Job *job)
{
    sql_savepoint(sql);
    Status status = run_alone(store, sql, job);
    sql_settle(sql);
    const Status error = sql_status(sql);
    if (error == STATUS_BLOCKED || !sql_in_transaction(sql)) {
        return false;
    }
    if (error != STATUS_OK) {
        // A damaged page, or a row that the tables do not take.
        store->found.damaged += error == STATUS_MALFORMED;
        status = error == STATUS_MALFORMED ? STATUS_BLOCKED : STATUS_MALFORMED;
        sql_clear(sql);
        if (job->type == JOB_SAVE && status == STATUS_BLOCKED) {
            fence_blocked(store, job->answer.world_id, job->epoch, job->seq);
        }
    }
    if (status != STATUS_OK) {
        sql_savepoint_undo(sql);
        players_forget(store);
        const StoreCompletion answer = job->answer;
        job_refuse(job, status);
        if (error == STATUS_OK && job->type == JOB_TAKE) { // the reason
            job->answer.bytes = answer.bytes;
            job->answer.byte_count = answer.byte_count;
        }
    } else {
        job->answer.status = STATUS_OK;
    }
    sql_savepoint_end(sql);
    return sql_status(sql) == STATUS_OK;
}

// One job, which changes something or nothing.
static void run_single(Store *store, Sql *sql, Job *job)
{
    const Status status = run_alone(store, sql, job);
    if (status != STATUS_OK) {
        job_refuse(job, status);
    } else {
        job->answer.status = STATUS_OK;
    }
}

// --- fences -------------------------------------------------------------------------------------

static bool is_fenced(const Job *job)
{
    return job->type == JOB_SAVE || job->type == JOB_REQUEST;
}

static bool fences_reserve(Store *store, const JobList *batch)
{
    uint32_t count = 0, slots = 16;
    for (const Job *job = batch->first; job != NULL; job = job->next) {
        count += is_fenced(job);
    }
    while (slots < count * 2) {
        slots *= 2;
    }
    if (count > store->fence_max) {
        free(store->fences);
        free(store->fence_slots);
        store->fences = calloc(count, sizeof *store->fences);
        store->fence_slots = calloc(slots, sizeof *store->fence_slots);
        store->fence_max = store->fences != NULL && store->fence_slots != NULL ? count : 0;
        store->fence_slot_count = slots;
    }
    return count <= store->fence_max;
}

void batch_free(Store *store)
{
    free(store->fences);
    free(store->fence_slots);
    free(store->raises);
    players_forget(store);
}

// Jobs of several hosts are never decided together: one of them may lie about what it holds.
static bool is_same_holder(const StoreHost *a, const StoreHost *b)
{
    return a == NULL || b == NULL ? a == b : host_is_same(a, b);
}

static uint32_t fence_at(Store *store, const Job *job)
{
    const char *world_id = job->answer.world_id;
    const uint32_t mask = store->fence_slot_count - 1;
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, world_id, strlen(world_id));
    hash_u64(&hash, job->epoch);
    for (uint32_t slot = (uint32_t)hash.state & mask;; slot = (slot + 1) & mask) {
        const uint32_t number = store->fence_slots[slot];
        if (number == 0) {
            ASSERT(store->fence_count < store->fence_max);
            store->fences[store->fence_count] = (Fence){.writer = writer_of(job)};
            store->fence_slots[slot] = ++store->fence_count;
            return store->fence_count - 1;
        }
        const Fence *fence = &store->fences[number - 1];
        if (fence->writer.epoch == job->epoch && strcmp(fence->writer.world_id, world_id) == 0 &&
            is_same_holder(fence->writer.host, job->host)) {
            return number - 1;
        }
    }
}

// Finds what the jobs from here to the next of another kind want from each world.
static void fences_gather(Store *store, Job *from)
{
    memset(store->fence_slots, 0, store->fence_slot_count * sizeof *store->fence_slots);
    store->fence_count = 0;
    for (Job *job = from; job != NULL && is_fenced(job); job = job->next) {
        job->fence = fence_at(store, job);
        Fence *fence = &store->fences[job->fence];
        if (job->type == JOB_REQUEST) {
            fence->writes = fence->writes || !data_is_read(&job->request);
            continue;
        }
        job->is_in_order = !fence->is_closed && !job->is_again &&
                           (fence->first == 0 || job->seq == fence->last + 1);
        if (job->is_in_order) {
            fence->first = fence->first == 0 ? job->seq : fence->first;
            fence->last = job->seq;
        } else {
            fence->is_closed = true;
        }
    }
}

static Status decide_save(Store *store, Sql *sql, const Job *job, Fence *fence)
{
    if (!job->is_in_order) {
        return fence_saves(store, sql, &fence->writer, job->seq, job->seq);
    }
    if (!fence->save_known) {
        fence->save = fence_saves(store, sql, &fence->writer, fence->first, fence->last);
        fence->save_known = true;
    }
    // Those before it may be stored already.
    return fence->save == STATUS_MISMATCH
               ? fence_saves(store, sql, &fence->writer, job->seq, job->seq)
               : fence->save;
}

static Status decide_request(Store *store, Sql *sql, Fence *fence)
{
    if (!fence->request_known) {
        const bool is_open = fence->save_known && fence->save == STATUS_OK;
        fence->request =
            is_open ? STATUS_OK : fence_requests(store, sql, &fence->writer, fence->writes);
        if (fence->request == STATUS_OK) {
            fence->request = find_place(sql, fence->writer.world_id, fence->place_id);
        }
        fence->request_known = true;
    }
    return fence->request;
}

static void run_fenced(Store *store, Sql *sql, Job *job)
{
    if (job->is_again) {
        run_single(store, sql, job);
        return;
    }
    Fence *fence = &store->fences[job->fence];
    const Status status = job->type == JOB_SAVE ? decide_save(store, sql, job, fence)
                                                : decide_request(store, sql, fence);
    if (status != STATUS_OK && !(job->type == JOB_SAVE && status == STATUS_EXISTS)) {
        job_refuse(job, status);
        return;
    }
    if (job->type == JOB_SAVE && status == STATUS_OK) {
        rows_apply(store, sql,
                   &(Save){fence->writer.world_id, job->epoch, job->rows, job->row_bytes});
    } else if (job->type == JOB_REQUEST && sql->error == SQL_NO_ERROR) {
        answer_request(store, sql, job, fence->place_id);
    }
    job->answer.status = STATUS_OK;
}

// --- transactions -------------------------------------------------------------------------------

// Whether a job writes more than it may have to take back.
static bool needs_savepoint(const Job *job)
{
    return job->type == JOB_TAKE || job->type == JOB_CALL;
}

static RunResult run_jobs(Store *store, Sql *sql, const JobList *batch, RunMode mode)
{
    bool gathered = false;
    for (Job *job = batch->first; job != NULL; job = job->next) {
        if (mode == MODE_CAREFUL || needs_savepoint(job)) {
            gathered = false;
            if (!run_with_savepoint(store, sql, job)) {
                return RUN_DISK;
            }
            continue;
        }
        if (!is_fenced(job)) {
            gathered = false;
            run_single(store, sql, job);
        } else {
            if (!gathered) {
                fences_gather(store, job);
                fence_all(store, sql, mode == MODE_OPTIMISTIC);
                gathered = true;
            }
            run_fenced(store, sql, job);
        }
        const Status error = sql_status(sql);
        if (error != STATUS_OK) {
            return error == STATUS_BLOCKED ? RUN_DISK : RUN_AGAIN;
        }
    }
    return RUN_DONE;
}

// What an error says of the disk.
static StoreDisk disk_of(const Sql *sql)
{
    if (sql->error == SQL_ERROR_FULL) {
        return STORE_DISK_FULL;
    }
    return sql_raises_heads(sql)               ? STORE_DISK_AWAY
           : sql->error == SQL_ERROR_READ_ONLY ? STORE_DISK_READ_ONLY
                                               : STORE_DISK_FAILED;
}

typedef bool (*JobFilter)(const Job *job);

static bool writes_data(const Job *job)
{
    return job->type == JOB_REQUEST && !data_is_read(&job->request);
}

static bool writes_world(const Job *job)
{
    return job->type == JOB_SAVE || writes_data(job) || job->type == JOB_TAKE ||
           job->type == JOB_RELEASE || (job->type == JOB_CALL && job->answer.world_id[0] != '\0');
}

static void lock_by_world(Sql *sql, const JobList *batch, uint32_t job_count, JobFilter filter,
                          void (*lock)(Sql *sql, const char *const *world_ids, uint32_t count))
{
    const char **worlds = calloc(job_count, sizeof *worlds);
    uint32_t count = 0;
    if (worlds == NULL) {
        sql_fail(sql, SQL_ERROR_DISK);
        return;
    }
    for (const Job *job = batch->first; job != NULL; job = job->next) {
        if (filter(job)) {
            worlds[count++] = job->answer.world_id;
        }
    }
    if (count > 0) {
        lock(sql, worlds, count);
    }
    free(worlds);
}

// What other hosts must not write meanwhile, in the same order everywhere and before any world is
// fenced. Only an engine with several writers has such locks.
static void lock_batch(Sql *sql, const JobList *batch)
{
    if (!sql_raises_heads(sql)) {
        return;
    }
    uint32_t count = 0;
    for (const Job *job = batch->first; job != NULL; job = job->next) {
        count += 1;
        if (job->type == JOB_CALL || job->type == JOB_MAKE) {
            sql_lock_all(sql);
        }
    }
    lock_by_world(sql, batch, count, writes_data, sql_lock_places);
    lock_by_world(sql, batch, count, writes_world, sql_lock_worlds);
}

// The COMMIT had no answer. Whoever tried the jobs again before knowing what became of it would do
// some of them twice.
static RunResult resolve(Sql *sql)
{
    const struct timespec pause = {0, RESOLVE_STEP_MS * 1000000l};
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    // By the clock: asking can take seconds itself.
    for (const time_t end = now.tv_sec + RESOLVE_MS / 1000; now.tv_sec <= end;
         clock_gettime(CLOCK_MONOTONIC, &now)) {
        const SqlOutcome outcome = sql_resolve(sql);
        sql_clear(sql);
        if (outcome != SQL_OUTCOME_UNKNOWN) {
            return outcome == SQL_OUTCOME_STORED ? RUN_DONE : RUN_DISK;
        }
        (void)nanosleep(&pause, NULL);
    }
    return RUN_UNKNOWN;
}

// Finding out takes a while; whoever asks meanwhile is told.
static void say_away(Store *store, const Sql *sql)
{
    pthread_mutex_lock(&store->lock);
    store->stats.disk = disk_of(sql);
    pthread_mutex_unlock(&store->lock);
}

static RunResult run_transaction(Store *store, Sql *sql, const JobList *batch, RunMode mode)
{
    sql_clear(sql);
    sql_begin(sql);
    store->own_host_known = false;
    sql->note_count = 0;
    sql->note_kinds = store->config.shared ? event_kinds() : NULL;
    lock_batch(sql, batch);
    RunResult result = sql->error == SQL_NO_ERROR ? run_jobs(store, sql, batch, mode) : RUN_DISK;
    if (result == RUN_DONE) {
        events_write(store, sql);
        if (store->config.fault != NULL && store->config.fault(store->config.fault_user)) {
            sql_fail(sql, SQL_ERROR_FULL);
        }
        sql_commit(sql);
        result = sql->error == SQL_NO_ERROR          ? RUN_DONE
                 : sql->error == SQL_ERROR_UNKNOWN   ? RUN_UNKNOWN
                 : sql_status(sql) == STATUS_BLOCKED ? RUN_DISK
                                                     : RUN_AGAIN;
    }
    if (result == RUN_UNKNOWN) {
        sql_roll_back(sql);
        say_away(store, sql);
        result = resolve(sql);
        sql_fail(sql, result == RUN_DONE ? SQL_NO_ERROR : SQL_ERROR_DISK);
    }
    if (result == RUN_DISK || result == RUN_UNKNOWN ||
        (mode == MODE_CAREFUL && result == RUN_AGAIN)) {
        store->disk_errors += 1;
        store->disk = disk_of(sql);
    }
    if (result != RUN_DONE) {
        sql_roll_back(sql);
        players_forget(store);
    }
    return result;
}

// Nothing of the batch is stored. What only reads gets its answer all the same.
static void refuse_batch(Store *store, Sql *sql, const JobList *batch, bool is_unknown)
{
    for (Job *job = batch->first; job != NULL; job = job->next) {
        job_refuse(job, STATUS_BLOCKED);
        job->answer.is_unknown = is_unknown;
        if (job->type == JOB_SAVE && is_unknown) {
            fence_unknown(store, job->answer.world_id, job->epoch, job->seq);
        } else if (job->type == JOB_SAVE) {
            fence_blocked(store, job->answer.world_id, job->epoch, job->seq);
        } else if (job->type == JOB_REQUEST && data_is_read(&job->request)) {
            const Status status = run_alone(store, sql, job);
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

static bool is_only_saves(const JobList *batch)
{
    const Job *job = batch->first;
    while (job != NULL && job->type == JOB_SAVE) {
        job = job->next;
    }
    return job == NULL;
}

bool batch_is_renewal(const Store *store, const Job *job)
{
    return job->type == JOB_HOST && job->host_mode == HOST_OWN && store->host_is_ours &&
           host_is_same(&store->host, job->host);
}

bool batch_run(Store *store, const JobList *batch)
{
    Sql *sql = store->writer;
    const uint64_t changes = sql_change_count(sql);
    store->disk = STORE_DISK_FINE;
    store->now = sql->unix_ms = store_unix_ms(store);
    RunResult result = RUN_AGAIN;
    const bool has_room = fences_reserve(store, batch);
    if (has_room && sql_raises_heads(sql) && is_only_saves(batch)) {
        result = run_transaction(store, sql, batch, MODE_OPTIMISTIC);
    }
    if (has_room && result == RUN_AGAIN) {
        result = run_transaction(store, sql, batch, MODE_TOGETHER);
    }
    if (result == RUN_AGAIN) {
        result = run_transaction(store, sql, batch, MODE_CAREFUL);
    }
    if (sql->touches_listing) { // after the commit: who asks now reads what it says
        sql->touches_listing = false;
        atomic_fetch_add(&store->listing_generation, 1);
    }
    if (result != RUN_DONE) {
        refuse_batch(store, sql, batch, result == RUN_UNKNOWN);
        return false;
    }
    for (const Job *job = batch->first; job != NULL; job = job->next) {
        if (job->type == JOB_HOST && job->answer.status == STATUS_OK) {
            host_renewed(store, job);
        }
    }
    return sql_change_count(sql) != changes;
}
