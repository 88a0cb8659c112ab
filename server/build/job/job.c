// See job.h. A fixed table of jobs behind one lock; N threads take the oldest that waits and whose
// place nobody is building. There are as many builders as threads, and a job gets the one that
// built its place last, because that one has its processes running: starting the TypeScript
// compiler takes a second or more. A slot is used again when all are taken: the one that ended
// first. Whoever waits for a job knows its id and looks it up again whenever something ended, so
// nothing points at a slot while the lock is free, but the thread that runs it.
//
//   JOB_WAITING ──▶ JOB_RUNNING ──▶ JOB_DONE
//        │               ├────────▶ JOB_FAILED
//        └───────────────┴────────▶ JOB_CANCELLED
//
// A reserved job waits too, but nobody takes it until it begins.
#define _GNU_SOURCE
#include "server/build/job/job.h"

#include "core/base/check.h"
#include "core/base/utf8.h"
#include "server/build/job/path_hide.h"
#include "server/build/place/place_stamp.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/work_pool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX  8
#define TURN_MS      5000 // then a build makes way for those of other accounts, see may_run
#define RETRY_MS     250  // how often a thread looks whether something may run now
#define RESULTS_KEPT 4    // whole results; they are megabytes
#define LOG_BYTES    sizeof((JobStatus *)0)->log[0]
#define LOG_PROBLEMS (JOB_LOG_LINES - 10) // the first ones count most
#define NS_PER_S     1000000000ull
#define NS_PER_MS    1000000ull

typedef struct Job {
    JobStatus status; // id "": the slot was never used
    uint64_t number;  // rises; the order in which they came
    uint64_t account; // 0: nobody's
    uint64_t turn;    // rises; the order in which they began to run; 0: not yet
    bool is_held;     // reserved, or somebody is cancelling it
    bool has_work;
    JobWork work;
    char *place;  // NULL: its work makes it
    char *spells; // folder; NULL: none
    bool force, writes, warm;
    bool has_stamp; // of the folder just before the build read it
    uint8_t stamp[SHA256_BYTES];
    atomic_bool cancel;
    uint64_t began_ns; // to run
    uint64_t until_ns; // it runs no longer
    bool is_late;      // it ran out of time
    bool has_result;
    BuildResult result;
} Job;

typedef struct JobThread {
    JobQueue *queue;
    pthread_t thread;
} JobThread;

typedef struct JobBuilder {
    Builder *builder; // NULL: not made yet
    char *place;      // that it built last; NULL: none
    uint64_t turn;    // when that was
    bool is_busy;
} JobBuilder;

struct JobQueue {
    BuildConfig config;
    JobTold told; // may be NULL
    void *told_user;
    bool hides_cache;
    JobSpells find_spells; // may be NULL
    void *spells_user;
    bool keeps_priority;
    JobBuilt built; // may be NULL
    void *built_user;
    pthread_mutex_t lock; // for everything below
    uint32_t limit_ms, turn_ms;
    uint32_t at_a_time;   // but for those that have had their turn
    pthread_cond_t work;  // something waits, or a place is free again
    pthread_cond_t ended; // some job ended
    bool stop;
    uint64_t number, turn;
    uint32_t thread_count;
    JobThread threads[THREADS_MAX];
    JobBuilder builders[THREADS_MAX];
    Job jobs[JOBS_KEPT_MAX];
};

_Static_assert(JOBS_WAIT_MAX + THREADS_MAX < JOBS_KEPT_MAX, "a slot is always free or ended");

// --- the table ----------------------------------------------------------------------------------

static bool is_used(const Job *job)
{
    return job->status.id[0] != '\0';
}

static bool has_ended(const Job *job)
{
    return job->status.state != JOB_WAITING && job->status.state != JOB_RUNNING;
}

static Job *find_job(JobQueue *queue, const char *id)
{
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        if (is_used(&queue->jobs[i]) && strcmp(queue->jobs[i].status.id, id) == 0) {
            return &queue->jobs[i];
        }
    }
    return NULL;
}

static void forget(Job *job)
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
        if (!is_used(job)) {
            return job;
        }
        if (has_ended(job) && (oldest == NULL || job->number < oldest->number)) {
            oldest = job;
        }
    }
    ASSERT(oldest != NULL);
    forget(oldest);
    return oldest;
}

// Only the latest results are kept; the status of a job is kept longer.
static void drop_old_results(JobQueue *queue)
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

__attribute__((format(printf, 2, 3))) static void log_line(JobStatus *status, const char *format,
                                                           ...)
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
    if (job != NULL && !has_ended(job)) {
        if (job->status.log_count == 0 &&
            !job->status.hides_cache) { // the stage that it is in; on_progress tells changes
            log_line(&job->status, "%s", build_stage_name(job->status.stage));
        }
        log_line(&job->status, "%s", text);
    }
    pthread_mutex_unlock(&queue->lock);
}

static void end_job(JobQueue *queue, Job *job, JobState state)
{
    job->status.state = state;
    job->status.ended_unix_ms = clock_unix_ms();
    pthread_cond_broadcast(&queue->ended);
    pthread_cond_broadcast(&queue->work);
}

// --- the threads --------------------------------------------------------------------------------

static bool place_is_busy(const JobQueue *queue, const char *place)
{
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        const Job *job = &queue->jobs[i];
        if (is_used(job) && job->status.state == JOB_RUNNING && job->place != NULL &&
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
        if (is_used(job) && job->account == account && job->turn > turn) {
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
        if (is_used(other) && other->status.state == JOB_RUNNING) {
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
        if (!is_used(job) || job->status.state != JOB_WAITING || job->is_held ||
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
        log_line(status, "%s", build_stage_name(progress->stage));
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
        log_line(status, "%s", text);
    }
    if (list->count > LOG_PROBLEMS) {
        log_line(status, "and %u more", list->count - LOG_PROBLEMS + list->dropped_count);
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
static JobState write_end(JobQueue *queue, Job *job, JobState state, const BuildResult *result)
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
        write_end(queue, job, conclude(queue, job, built, result, reason), result);
    const bool is_taken = tell_built(queue, job, state, result);
    const bool has_reason = state != JOB_CANCELLED && status->reason[0] != '\0';
    log_line(status, "%s%s%s",
             state == JOB_DONE     ? "done"
             : state == JOB_FAILED ? "failed"
                                   : "cancelled",
             has_reason ? ": " : "", has_reason ? status->reason : "");
    if (state == JOB_DONE && !job->has_work && !is_taken) {
        job->result = *result;
        job->has_result = true;
        *result = (BuildResult){0};
    }
    end_job(queue, job, state);
    drop_old_results(queue);
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
    for (uint32_t i = 0; i < THREADS_MAX; i++) {
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

static void *thread_main(void *user)
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
    ASSERT(at_a_time >= 1 && at_a_time <= THREADS_MAX);
    const uint32_t thread_count = 2 * at_a_time < THREADS_MAX ? 2 * at_a_time : THREADS_MAX;
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
        if (pthread_create(&thread->thread, NULL, thread_main, thread) != 0) {
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
    for (uint32_t i = 0; i < THREADS_MAX; i++) {
        builder_destroy(queue->builders[i].builder);
        free(queue->builders[i].place);
    }
    for (uint32_t i = 0; i < JOBS_KEPT_MAX; i++) {
        forget(&queue->jobs[i]);
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
        if (!is_used(job) || has_ended(job)) {
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
        if (is_used(job) && !has_ended(job)) {
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
    forget(job);
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
        if (is_used(job)) {
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
    if (job != NULL && !has_ended(job)) {
        atomic_store(&job->cancel, true);
        if (job->status.state == JOB_WAITING && !job->is_held) {
            job->is_held = true; // nobody takes it while its end is written down
            snprintf(job->status.reason, sizeof job->status.reason, "it was cancelled");
            log_line(&job->status, "cancelled");
            end_job(queue, job, write_end(queue, job, JOB_CANCELLED, NULL));
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
        if (has_ended(job)) {
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
