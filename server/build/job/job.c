// See job.h: the table of jobs, and what is asked of it. A fixed table behind one lock; job_run.c
// has the threads that take from it. A slot is used again when all are taken: the one that ended
// first. Whoever waits for a job knows its id and looks it up again whenever something ended, so
// nothing points at a slot while the lock is free, but the thread that runs it.
//
//   JOB_WAITING ──▶ JOB_RUNNING ──▶ JOB_DONE
//        │               ├────────▶ JOB_FAILED
//        └───────────────┴────────▶ JOB_CANCELLED
//
// A reserved job waits too, but nobody takes it until it begins.
#define _GNU_SOURCE
#include "server/build/job/job_inside.h"

#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/place/place_stamp.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TURN_MS      5000 // then a build makes way for those of other accounts, see job_run.c
#define RESULTS_KEPT 4    // whole results; they are megabytes
#define LOG_BYTES    sizeof((JobStatus *)0)->log[0]

_Static_assert(JOBS_WAIT_MAX + JOB_THREADS_MAX < JOBS_KEPT_MAX, "a slot is always free or ended");

// --- the table ----------------------------------------------------------------------------------

bool job_is_used(const Job *job)
{
    return job->status.id[0] != '\0';
}

bool job_has_ended(const Job *job)
{
    return job->status.state != JOB_WAITING && job->status.state != JOB_RUNNING;
}

static Job *find_job(JobQueue *queue, const char *id)
{
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        if (job_is_used(&queue->jobs[i]) && strcmp(queue->jobs[i].status.id, id) == 0) {
            return &queue->jobs[i];
        }
    }
    return NULL;
}

static void forget_job(Job *job)
{
    if (job->has_result) {
        build_result_free(&job->result);
    }
    if (job->has_work) {
        job->work.release(job->work.user);
    }
    free(job->place);
    free(job->spells);
    *job = (Job){0};
}

static Job *free_slot(JobQueue *queue)
{
    Job *oldest = NULL;
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        Job *job = &queue->jobs[i];
        if (!job_is_used(job)) {
            return job;
        }
        if (job_has_ended(job) && (oldest == NULL || job->number < oldest->number)) {
            oldest = job;
        }
    }
    ASSERT(oldest != NULL);
    forget_job(oldest);
    return oldest;
}

// Only the latest results are kept; the status of a job is kept longer.
void job_drop_old_results(JobQueue *queue)
{
    for (;;) {
        uint32_t count = 0;
        Job *oldest = NULL;
        for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
            Job *job = &queue->jobs[i];
            if (job->has_result) {
                count += 1;
                oldest = oldest == NULL || job->number < oldest->number ? job : oldest;
            }
        }
        if (count <= RESULTS_KEPT) {
            return;
        }
        build_result_free(&oldest->result);
        oldest->has_result = false;
    }
}

void job_log(JobStatus *status, const char *format, ...)
{
    if (status->log_count == JOB_LOG_LINES) {
        memmove(status->log[0], status->log[1], (JOB_LOG_LINES - 1) * LOG_BYTES);
        status->log_count -= 1;
    }
    char *line = status->log[status->log_count++];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, LOG_BYTES, format, arguments);
    va_end(arguments);
    size_t bytes = strlen(line);
    while (length >= (int)LOG_BYTES && bytes > 0 && !utf8_is_valid(line, bytes)) {
        line[--bytes] = '\0'; // remove a cut character; at most three times for valid text
    }
}

void job_note(JobQueue *queue, const char *id, const char *text)
{
    pthread_mutex_lock(&queue->lock);
    Job *job = find_job(queue, id);
    if (job != NULL && !job_has_ended(job)) {
        if (job->status.log_count == 0 &&
            !job->status.hides_cache) { // the stage that it is in; on_progress tells changes
            job_log(&job->status, "%s", build_stage_name(job->status.stage));
        }
        job_log(&job->status, "%s", text);
    }
    pthread_mutex_unlock(&queue->lock);
}

void job_end(JobQueue *queue, Job *job, JobState state)
{
    job->status.state = state;
    job->status.ended_unix_ms = clock_unix_ms();
    pthread_cond_broadcast(&queue->ended);
    pthread_cond_broadcast(&queue->work);
}

// --- create and destroy -------------------------------------------------------------------------

static void init_timed(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); // waits have a timeout
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

Status job_queue_create(const BuildConfig *config, uint32_t at_a_time, JobQueue **out)
{
    ASSERT(at_a_time >= 1 && at_a_time <= JOB_THREADS_MAX);
    const uint32_t thread_count = 2 * at_a_time < JOB_THREADS_MAX ? 2 * at_a_time : JOB_THREADS_MAX;
    JobQueue *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        return STATUS_LIMIT;
    }
    queue->config = *config;
    queue->limit_ms = JOB_MS_MAX;
    queue->turn_ms = TURN_MS;
    queue->at_a_time = at_a_time;
    pthread_mutex_init(&queue->lock, NULL);
    init_timed(&queue->work);
    init_timed(&queue->ended);
    for (uint32_t i = 0; i < thread_count; i++) {
        JobThread *thread = &queue->threads[i];
        thread->queue = queue;
        if (pthread_create(&thread->thread, NULL, job_thread_main, thread) != 0) {
            job_queue_destroy(queue);
            return STATUS_LIMIT;
        }
        queue->thread_count += 1;
    }
    *out = queue;
    return STATUS_OK;
}

void job_queue_spells(JobQueue *queue, JobSpells spells, void *user)
{
    queue->find_spells = spells;
    queue->spells_user = user;
}

void job_queue_keep_priority(JobQueue *queue)
{
    queue->keeps_priority = true;
}

void job_queue_built(JobQueue *queue, JobBuilt built, void *user)
{
    queue->built = built;
    queue->built_user = user;
}

void job_set_reload(JobQueue *queue, const char *id, const JobReload *reload)
{
    pthread_mutex_lock(&queue->lock);
    Job *job = find_job(queue, id);
    if (job != NULL) {
        job->status.reload = *reload;
    }
    pthread_mutex_unlock(&queue->lock);
}

void job_queue_limit(JobQueue *queue, uint32_t ms)
{
    pthread_mutex_lock(&queue->lock);
    queue->limit_ms = ms;
    pthread_mutex_unlock(&queue->lock);
}

void job_queue_turn(JobQueue *queue, uint32_t ms)
{
    pthread_mutex_lock(&queue->lock);
    queue->turn_ms = ms;
    pthread_mutex_unlock(&queue->lock);
}

void job_queue_hide_cache(JobQueue *queue)
{
    queue->hides_cache = true;
}

void job_queue_listen(JobQueue *queue, JobTold told, void *user)
{
    queue->told = told;
    queue->told_user = user;
}

void job_queue_stop(JobQueue *queue)
{
    if (queue == NULL) {
        return;
    }
    pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        atomic_store(&queue->jobs[i].cancel, true);
    }
    pthread_cond_broadcast(&queue->work);
    pthread_cond_broadcast(&queue->ended);
    pthread_mutex_unlock(&queue->lock);
}

void job_queue_destroy(JobQueue *queue)
{
    if (queue == NULL) {
        return;
    }
    job_queue_stop(queue);
    for (uint32_t i = 0; i < queue->thread_count; i++) {
        pthread_join(queue->threads[i].thread, NULL);
    }
    for (uint32_t i = 0; i < JOB_THREADS_MAX; i++) {
        builder_destroy(queue->builders[i].builder);
        free(queue->builders[i].place);
    }
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        forget_job(&queue->jobs[i]);
    }
    pthread_cond_destroy(&queue->ended);
    pthread_cond_destroy(&queue->work);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

// --- asking -------------------------------------------------------------------------------------

static void make_id(char id[JOB_ID_BYTES])
{
    uint8_t bytes[(JOB_ID_BYTES - 1) / 2];
    entropy_fill(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(id + 2 * i, 3, "%02x", bytes[i]);
    }
}

// A waiting job will read the files when its turn comes. A running one has read them already: it is
// the same only if nothing was written since.
static Job *find_same(JobQueue *queue, const char *place, bool force, const uint8_t *stamp,
                      uint32_t *waiting)
{
    Job *same = NULL;
    *waiting = 0;
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        Job *job = &queue->jobs[i];
        if (!job_is_used(job) || job_has_ended(job)) {
            continue;
        }
        *waiting += job->status.state == JOB_WAITING;
        const bool is_current =
            job->status.state == JOB_WAITING ||
            (job->has_stamp && stamp != NULL && memcmp(job->stamp, stamp, SHA256_BYTES) == 0);
        if (is_current && job->force == force && job->place != NULL && !job->has_work &&
            strcmp(job->place, place) == 0 && !atomic_load(&job->cancel)) {
            same = job;
        }
    }
    return same;
}

Status job_start(JobQueue *queue, const char *place, bool force, char id[JOB_ID_BYTES],
                 bool *joined)
{
    return job_start_for(queue, &(JobWish){.place = place, .force = force}, id, joined);
}

Status job_start_for(JobQueue *queue, const JobWish *wish, char id[JOB_ID_BYTES], bool *joined)
{
    uint8_t stamp[SHA256_BYTES];
    const Status stamped = place_stamp(wish->place, stamp);
    char *real = stamped == STATUS_NOT_FOUND ? NULL : realpath(wish->place, NULL);
    if (real == NULL) {
        return STATUS_NOT_FOUND;
    }
    Status status = STATUS_OK;
    pthread_mutex_lock(&queue->lock);
    uint32_t waiting;
    Job *job = find_same(queue, real, wish->force, stamped == STATUS_OK ? stamp : NULL, &waiting);
    const bool is_there = job != NULL;
    if (!is_there && (waiting == JOBS_WAIT_MAX || queue->stop)) {
        status = STATUS_LIMIT;
    } else if (!is_there) {
        job = free_slot(queue);
        make_id(job->status.id);
        job->number = ++queue->number;
        job->place = real;
        job->force = wish->force;
        job->writes = wish->writes;
        job->warm = wish->warm;
        job->account = wish->account;
        job->status.hides_cache = queue->hides_cache;
        job->status.queued_unix_ms = clock_unix_ms();
        real = NULL; // the job owns it now
        pthread_cond_signal(&queue->work);
    }
    if (status == STATUS_OK) {
        memcpy(id, job->status.id, JOB_ID_BYTES);
        *joined = is_there;
    }
    pthread_mutex_unlock(&queue->lock);
    free(real);
    return status;
}

Status job_folder(JobQueue *queue, const char *id, char out[PATH_MAX])
{
    Status status = STATUS_NOT_FOUND;
    pthread_mutex_lock(&queue->lock);
    const Job *job = find_job(queue, id);
    if (job != NULL && job->place != NULL && snprintf(out, PATH_MAX, "%s", job->place) < PATH_MAX) {
        status = STATUS_OK;
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

// Of this account, and of all, that wait or run.
static Status count_jobs(const JobQueue *queue, uint64_t account, uint32_t account_max)
{
    uint32_t waiting = 0, own = 0;
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        const Job *job = &queue->jobs[i];
        if (job_is_used(job) && !job_has_ended(job)) {
            waiting += job->status.state == JOB_WAITING;
            own += job->account == account;
        }
    }
    return own >= account_max ? STATUS_DENIED : waiting >= JOBS_WAIT_MAX ? STATUS_LIMIT : STATUS_OK;
}

Status job_reserve(JobQueue *queue, uint64_t account, uint32_t account_max, char id[JOB_ID_BYTES])
{
    pthread_mutex_lock(&queue->lock);
    const bool is_old = id[0] != '\0';
    Status status = is_old ? STATUS_OK : count_jobs(queue, account, account_max);
    if (status == STATUS_OK && queue->stop) {
        status = STATUS_LIMIT;
    }
    if (status == STATUS_OK) {
        Job *job = free_slot(queue);
        if (is_old) {
            memcpy(job->status.id, id, JOB_ID_BYTES);
        } else {
            make_id(job->status.id);
            memcpy(id, job->status.id, JOB_ID_BYTES);
        }
        job->number = ++queue->number;
        job->account = account;
        job->is_held = true;
        job->status.hides_cache = queue->hides_cache;
        job->status.queued_unix_ms = clock_unix_ms();
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

void job_begin(JobQueue *queue, const char *id, const char *result_id, const JobWork *work)
{
    pthread_mutex_lock(&queue->lock);
    Job *job = find_job(queue, id);
    ASSERT(job != NULL && job->is_held);
    snprintf(job->status.result_id, sizeof job->status.result_id, "%s", result_id);
    job->work = *work;
    job->has_work = true;
    job->is_held = false;
    pthread_cond_signal(&queue->work);
    pthread_mutex_unlock(&queue->lock);
}

void job_drop(JobQueue *queue, const char *id)
{
    pthread_mutex_lock(&queue->lock);
    Job *job = find_job(queue, id);
    ASSERT(job != NULL && job->is_held);
    forget_job(job);
    pthread_mutex_unlock(&queue->lock);
}

Status job_status(JobQueue *queue, const char *id, JobStatus *out)
{
    pthread_mutex_lock(&queue->lock);
    const Job *job = find_job(queue, id);
    if (job != NULL) {
        *out = job->status;
    }
    pthread_mutex_unlock(&queue->lock);
    return job != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

static int newest_first(const void *a, const void *b)
{
    const JobBrief *first = a, *second = b;
    return first->number < second->number ? 1 : first->number > second->number ? -1 : 0;
}

uint32_t job_list(JobQueue *queue, JobBrief out[JOBS_KEPT_MAX])
{
    uint32_t count = 0;
    pthread_mutex_lock(&queue->lock);
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        const Job *job = &queue->jobs[i];
        if (job_is_used(job)) {
            JobBrief *brief = &out[count++];
            *brief = (JobBrief){.number = job->number,
                                .account = job->account,
                                .queued_unix_ms = job->status.queued_unix_ms,
                                .ended_unix_ms = job->status.ended_unix_ms};
            memcpy(brief->id, job->status.id, sizeof brief->id);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    qsort(out, count, sizeof *out, newest_first);
    return count;
}

Status job_cancel(JobQueue *queue, const char *id)
{
    pthread_mutex_lock(&queue->lock);
    Job *job = find_job(queue, id);
    if (job != NULL && !job_has_ended(job)) {
        atomic_store(&job->cancel, true);
        if (job->status.state == JOB_WAITING && !job->is_held) {
            job->is_held = true; // nobody takes it while its end is written down
            snprintf(job->status.reason, sizeof job->status.reason, "it was cancelled");
            job_log(&job->status, "cancelled");
            job_end(queue, job, job_write_end(queue, job, JOB_CANCELLED, NULL));
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return job != NULL ? STATUS_OK : STATUS_NOT_FOUND;
}

Status job_wait(JobQueue *queue, const char *id, uint32_t timeout_ms, JobStatus *out)
{
    const uint64_t until = clock_ns() + timeout_ms * NS_PER_MS;
    const struct timespec end = {.tv_sec = (time_t)(until / NS_PER_S),
                                 .tv_nsec = (long)(until % NS_PER_S)};
    Status status = STATUS_OK;
    bool is_late = false;
    pthread_mutex_lock(&queue->lock);
    for (;;) {
        const Job *job = find_job(queue, id);
        if (job == NULL) {
            status = STATUS_NOT_FOUND;
            break;
        }
        if (job_has_ended(job)) {
            *out = job->status;
            break;
        }
        if (is_late || queue->stop) {
            status = STATUS_TRUNCATED;
            break;
        }
        is_late = pthread_cond_timedwait(&queue->ended, &queue->lock, &end) == ETIMEDOUT;
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

Status job_take_result(JobQueue *queue, const char *id, BuildResult *out)
{
    pthread_mutex_lock(&queue->lock);
    Job *job = find_job(queue, id);
    const bool has = job != NULL && job->has_result;
    if (has) {
        *out = job->result;
        job->result = (BuildResult){0};
        job->has_result = false;
    }
    pthread_mutex_unlock(&queue->lock);
    return has ? STATUS_OK : STATUS_NOT_FOUND;
}
