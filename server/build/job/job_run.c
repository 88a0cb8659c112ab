// See job_inside.h: the threads that run jobs. Each takes the oldest job that waits and whose place
// nobody is building. There are as many builders as threads, and a job gets the one that built its
// place last, because that one has its processes running: starting the TypeScript compiler takes a
// second or more.
#define _GNU_SOURCE
#include "server/build/job/job_inside.h"

#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/job/path_hide.h"
#include "server/build/place/place_stamp.h"
#include "server/sys/clock.h"
#include "server/sys/work_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RETRY_MS     250                  // how often a thread looks whether something may run now
#define LOG_PROBLEMS (JOB_LOG_LINES - 10) // the first ones count most

static bool place_is_busy(const JobQueue *queue, const char *place)
{
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        const Job *job = &queue->jobs[i];
        if (job_is_used(job) && job->status.state == JOB_RUNNING && job->place != NULL &&
            strcmp(job->place, place) == 0) {
            return true;
        }
    }
    return false;
}

// When a job of this account began last; 0: never, or that is forgotten.
static uint64_t last_turn(const JobQueue *queue, uint64_t account)
{
    uint64_t turn = 0;
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        const Job *job = &queue->jobs[i];
        if (job_is_used(job) && job->account == account && job->turn > turn) {
            turn = job->turn;
        }
    }
    return turn;
}

// A build cannot be interrupted while the jailed process works for it, and large pictures take it
// minutes. So one that has run for longer than turn_ms counts no more: others begin beside it, but
// not of accounts that have one running, and only as many as there are threads. The kernel shares
// the processors out among them.
static bool may_run(const JobQueue *queue, const Job *job, uint64_t now_ns)
{
    uint32_t running = 0, quick = 0, own = 0;
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        const Job *other = &queue->jobs[i];
        if (job_is_used(other) && other->status.state == JOB_RUNNING) {
            running += 1;
            quick += now_ns - other->began_ns < queue->turn_ms * NS_PER_MS;
            own += other->account == job->account;
        }
    }
    return running < queue->at_a_time || (quick < queue->at_a_time && own == 0);
}

static Job *next_job(JobQueue *queue, bool *is_waiting)
{
    const uint64_t now_ns = clock_ns();
    *is_waiting = false;
    Job *next = NULL;
    uint64_t next_turn = 0;
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        Job *job = &queue->jobs[i];
        if (!job_is_used(job) || job->status.state != JOB_WAITING || job->is_held ||
            (job->place != NULL && place_is_busy(queue, job->place))) {
            continue;
        }
        *is_waiting = true;
        const uint64_t turn = last_turn(queue, job->account);
        if (!may_run(queue, job, now_ns)) {
            continue;
        }
        if (next == NULL || turn < next_turn || (turn == next_turn && job->number < next->number)) {
            next = job;
            next_turn = turn;
        }
    }
    return next;
}

typedef struct Watch {
    JobQueue *queue;
    Job *job; // does not move while it runs
} Watch;

static void on_progress(void *user, const BuildProgress *progress)
{
    const Watch *watch = user;
    pthread_mutex_lock(&watch->queue->lock);
    JobStatus *status = &watch->job->status;
    const bool is_new = status->stage != progress->stage || status->log_count == 0;
    if (is_new && progress->stage != BUILD_DONE && !status->hides_cache) { // finish_job does that
        job_log(status, "%s", build_stage_name(progress->stage));
    }
    status->stage = progress->stage;
    status->done = progress->done;
    status->total = progress->total;
    const char *item = progress->item != NULL ? progress->item : "";
    snprintf(status->item, sizeof status->item, "%s", item);
    if (clock_ns() >= watch->job->until_ns && !atomic_load(&watch->job->cancel)) {
        watch->job->is_late = true;
        atomic_store(&watch->job->cancel, true);
    }
    pthread_mutex_unlock(&watch->queue->lock);
}

static void log_result(JobStatus *status, const BuildResult *result)
{
    const DiagnosticList *list = &result->diagnostics;
    for (uint32_t i = 0; i < list->count && i < LOG_PROBLEMS; i++) {
        char text[DIAGNOSTIC_FILE_BYTES + DIAGNOSTIC_MESSAGE_BYTES + 128];
        diagnostic_text(&list->items[i], "", text, sizeof text);
        job_log(status, "%s", text);
    }
    if (list->count > LOG_PROBLEMS) {
        job_log(status, "and %u more", list->count - LOG_PROBLEMS + list->dropped_count);
    }
    status->error_count = list->error_count;
    status->warning_count = list->warning_count;
    status->compiled_count = result->compiled_count;
    status->cached_count = result->cached_count;
    status->version = result->version;
    for (uint32_t i = 0; i < result->rune_count && status->made_count < JOB_MADE_MAX; i++) {
        const BuildRune *rune = &result->runes[i];
        if (check_language_is_made(rune->language)) {
            memcpy(status->made[status->made_count].path, rune->path, SCRIPT_PATH_BYTES);
            status->made[status->made_count++].language = rune->language;
        }
    }
}

// Whether the creator's files are at fault; then diagnostics say why.
static bool is_of_place(Status built, const BuildResult *result)
{
    return built == STATUS_MALFORMED && result->diagnostics.error_count > 0;
}

// The reason of a failure, without paths of this machine.
static void take_reason(const JobQueue *queue, Job *job, const char *reason)
{
    char *text = job->status.reason;
    const char *cache = queue->config.cache, *key = queue->config.key;
    const char *slash = key != NULL ? strrchr(key, '/') : NULL;
    snprintf(text, sizeof job->status.reason, "%s", reason);
    path_hide_folder(text, job->place, job->place != NULL ? strlen(job->place) : 0);
    path_hide_folder(text, cache, cache != NULL ? strlen(cache) : 0);
    path_hide_folder(text, key, slash != NULL ? (size_t)(slash - key) : 0);
    path_hide_all(text);
    utf8_clean(text);
}

// What its end is to be, with the reason in its status; nobody is told yet.
static JobState conclude(const JobQueue *queue, Job *job, Status built, const BuildResult *result,
                         const char *reason)
{
    JobStatus *status = &job->status;
    log_result(status, result);
    if (built == STATUS_DENIED && job->is_late) {
        snprintf(status->reason, sizeof status->reason,
                 "the build took longer than %u minutes and was ended at: %s %s",
                 queue->limit_ms / 60000, build_stage_name(status->stage), status->item);
        return JOB_FAILED;
    }
    if (built == STATUS_DENIED && atomic_load(&job->cancel)) {
        snprintf(status->reason, sizeof status->reason, "it was cancelled");
        return JOB_CANCELLED;
    }
    if (built == STATUS_OK) {
        status->stage = BUILD_DONE;
        return JOB_DONE;
    }
    if (is_of_place(built, result)) {
        diagnostic_count_text(status->error_count, status->reason, sizeof status->reason);
    } else {
        take_reason(queue, job, reason);
    }
    return JOB_FAILED;
}

// Called with the lock held, which is free while whoever writes the end down does so. A build that
// was cancelled because the queue ends has not ended: its work is begun again some day.
JobState job_write_end(JobQueue *queue, Job *job, JobState state, const BuildResult *result)
{
    if (!job->has_work || (state == JOB_CANCELLED && queue->stop)) {
        return state;
    }
    JobStatus *told = malloc(sizeof *told);
    char reason[WORKER_REASON_BYTES] = "";
    if (told == NULL) {
        snprintf(job->status.reason, sizeof job->status.reason, "out of memory");
        return JOB_FAILED;
    }
    *told = job->status;
    told->state = state;
    pthread_mutex_unlock(&queue->lock);
    const Status status =
        job->work.ended(job->work.user, told, state == JOB_DONE ? result : NULL, reason);
    free(told);
    pthread_mutex_lock(&queue->lock);
    if (status != STATUS_OK && state == JOB_DONE) {
        take_reason(queue, job, reason[0] != '\0' ? reason : status_text(status));
        return JOB_FAILED;
    }
    if (state == JOB_DONE && reason[0] != '\0') {
        take_reason(queue, job, reason);
    }
    return state;
}

// The same for whoever brings what was built to worlds. True: the result is theirs.
static bool tell_built(JobQueue *queue, Job *job, JobState state, BuildResult *result)
{
    JobStatus *told = queue->built != NULL && !job->has_work ? malloc(sizeof *told) : NULL;
    if (told == NULL) {
        return false;
    }
    job->status.reload.state = JOB_RELOAD_WAITING; // job_set_reload may come before the answer
    *told = job->status;
    told->state = state;
    pthread_mutex_unlock(&queue->lock);
    const JobReload reload = queue->built(queue->built_user, job->place, told, result);
    free(told);
    pthread_mutex_lock(&queue->lock);
    if (reload.state != JOB_RELOAD_WAITING) {
        job->status.reload = reload;
    }
    return reload.state == JOB_RELOAD_WAITING;
}

static void finish_job(JobQueue *queue, Job *job, Status built, BuildResult *result,
                       const char *reason)
{
    JobStatus *status = &job->status;
    const JobState state =
        job_write_end(queue, job, conclude(queue, job, built, result, reason), result);
    const bool is_taken = tell_built(queue, job, state, result);
    const bool has_reason = state != JOB_CANCELLED && status->reason[0] != '\0';
    job_log(status, "%s%s%s",
            state == JOB_DONE     ? "done"
            : state == JOB_FAILED ? "failed"
                                  : "cancelled",
            has_reason ? ": " : "", has_reason ? status->reason : "");
    if (state == JOB_DONE && !job->has_work && !is_taken) {
        job->result = *result;
        job->has_result = true;
        *result = (BuildResult){0};
    }
    job_end(queue, job, state);
    job_drop_old_results(queue);
}

// The files that a job finds when its turn comes.
static void take_stamp(JobQueue *queue, Job *job)
{
    uint8_t stamp[SHA256_BYTES];
    const bool has_stamp = place_stamp(job->place, stamp) == STATUS_OK;
    pthread_mutex_lock(&queue->lock);
    job->has_stamp = has_stamp;
    if (has_stamp) {
        memcpy(job->stamp, stamp, sizeof stamp);
    }
    pthread_mutex_unlock(&queue->lock);
}

// The folder of a job that makes its own.
static Status prepare(JobQueue *queue, Job *job, char reason[WORKER_REASON_BYTES])
{
    char *folder = calloc(1, PATH_MAX), *spells = calloc(1, PATH_MAX);
    Status status = folder != NULL && spells != NULL ? STATUS_OK : STATUS_LIMIT;
    if (status == STATUS_OK) {
        status = job->work.prepare(job->work.user, &job->cancel, folder, spells, reason);
    }
    pthread_mutex_lock(&queue->lock);
    if (status == STATUS_OK) {
        job->place = folder;
        job->spells = spells;
    } else {
        free(folder);
        free(spells);
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

// Of a folder that was there before. What the spells are stands in it, so this comes before the
// files are looked at.
static Status prepare_spells(JobQueue *queue, Job *job, char reason[WORKER_REASON_BYTES])
{
    char *spells = queue->find_spells != NULL ? calloc(1, PATH_MAX) : NULL;
    if (spells == NULL) {
        return queue->find_spells != NULL ? STATUS_LIMIT : STATUS_OK;
    }
    const Status status = queue->find_spells(queue->spells_user, job->status.id, job->place,
                                             job->account, spells, reason);
    pthread_mutex_lock(&queue->lock);
    job->spells = spells;
    pthread_mutex_unlock(&queue->lock);
    return status;
}

// The builder whose processes know the place, or else one that was never used, or else the one that
// was used least recently. There is always a free one: each thread has one at a time.
static JobBuilder *choose_builder(JobQueue *queue, const char *place)
{
    JobBuilder *best = NULL;
    for (uint32_t i = 0; i < JOB_THREADS_MAX; i++) {
        JobBuilder *one = &queue->builders[i];
        if (one->is_busy) {
            continue;
        }
        if (one->place != NULL && strcmp(one->place, place) == 0) {
            return one;
        }
        best = best == NULL || one->turn < best->turn ? one : best;
    }
    ASSERT(best != NULL);
    return best;
}

// A place that cannot be noted is only not recognized the next time.
static JobBuilder *take_builder(JobQueue *queue, const Job *job)
{
    pthread_mutex_lock(&queue->lock);
    JobBuilder *one = choose_builder(queue, job->place);
    if (one->place == NULL || strcmp(one->place, job->place) != 0) {
        free(one->place);
        one->place = strdup(job->place);
    }
    one->turn = job->turn;
    one->is_busy = true;
    pthread_mutex_unlock(&queue->lock);
    return one;
}

static void give_builder(JobQueue *queue, JobBuilder *one)
{
    pthread_mutex_lock(&queue->lock);
    one->is_busy = false;
    pthread_mutex_unlock(&queue->lock);
}

static Status run_builder(JobQueue *queue, Job *job, BuildResult *result,
                          char reason[WORKER_REASON_BYTES])
{
    // A revision never changes, and its runes are packed for the players that follow.
    const bool has_spells = job->spells != NULL && job->spells[0] != '\0';
    const BuildRequest request = {.place = job->place,
                                  .spells = has_spells ? job->spells : NULL,
                                  .force = job->force,
                                  .write = queue->config.cache == NULL || job->writes,
                                  .update = !job->has_work,
                                  .pack = job->has_work || queue->built != NULL,
                                  .warm = job->warm,
                                  .progress = on_progress,
                                  .user = &(Watch){queue, job},
                                  .cancel = &job->cancel};
    JobBuilder *one = take_builder(queue, job);
    Status status = STATUS_OK;
    if (one->builder == NULL) {
        status = builder_create(&queue->config, &one->builder);
        snprintf(reason, WORKER_REASON_BYTES, "the builder could not be created: %s",
                 status_text(status));
    }
    if (status == STATUS_OK) {
        reason[0] = '\0';
        status = builder_build(one->builder, &request, result, reason);
    }
    give_builder(queue, one);
    return status;
}

static Status build_it(JobQueue *queue, Job *job, BuildResult *result,
                       char reason[WORKER_REASON_BYTES])
{
    Status status = STATUS_OK;
    if (job->has_work) {
        status = prepare(queue, job, reason);
    } else {
        status = prepare_spells(queue, job, reason);
        take_stamp(queue, job);
    }
    return status == STATUS_OK ? run_builder(queue, job, result, reason) : status;
}

// Called with the lock held; releases it while the build runs.
static void run_job(JobQueue *queue, Job *job)
{
    job->status.state = JOB_RUNNING;
    job->turn = ++queue->turn;
    job->began_ns = clock_ns();
    job->until_ns = job->began_ns + queue->limit_ms * NS_PER_MS;
    pthread_mutex_unlock(&queue->lock);
    char reason[WORKER_REASON_BYTES] = "";
    BuildResult result = {0};
    const Status status = build_it(queue, job, &result, reason);
    if (status != STATUS_OK && reason[0] == '\0') {
        snprintf(reason, sizeof reason, "%s", status_text(status));
    }
    // A package, by its rules, or its spells.
    const bool is_refused = status == STATUS_MALFORMED;
    if (status != STATUS_OK && !is_of_place(status, &result) && !is_refused &&
        !atomic_load(&job->cancel) && queue->told != NULL) {
        queue->told(queue->told_user, reason);
    }

    pthread_mutex_lock(&queue->lock);
    finish_job(queue, job, status, &result, reason);
    pthread_mutex_unlock(&queue->lock);
    build_result_free(&result);
    pthread_mutex_lock(&queue->lock);
}

static void wait_for_work(JobQueue *queue, bool is_waiting)
{
    if (!is_waiting) {
        pthread_cond_wait(&queue->work, &queue->lock);
        return;
    }
    const uint64_t until = clock_ns() + RETRY_MS * NS_PER_MS;
    const struct timespec end = {.tv_sec = (time_t)(until / NS_PER_S),
                                 .tv_nsec = (long)(until % NS_PER_S)};
    (void)pthread_cond_timedwait(&queue->work, &queue->lock, &end);
}

void *job_thread_main(void *user)
{
    JobQueue *queue = ((JobThread *)user)->queue;
    bool is_low = false;
    pthread_mutex_lock(&queue->lock);
    while (!queue->stop) {
        bool is_waiting;
        Job *job = next_job(queue, &is_waiting);
        if (job != NULL && !is_low && !queue->keeps_priority) {
            work_pool_lower_priority(); // and of the processes that builds start: worlds go first
            is_low = true;
        }
        if (job != NULL) {
            run_job(queue, job);
        } else {
            wait_for_work(queue, is_waiting);
        }
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}
