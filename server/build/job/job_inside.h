// The queue from inside: job.c has the table and answers who asks, job_run.c has the threads.
#pragma once

#include "server/build/job/job.h"
#include "server/sys/clock.h"

#include <pthread.h>

#define JOB_THREADS_MAX 8

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
    JobThread threads[JOB_THREADS_MAX];
    JobBuilder builders[JOB_THREADS_MAX];
    Job jobs[JOBS_KEPT_MAX];
};

// --- the table (job.c); the lock is held ---------------------------------------------------------

bool job_is_used(const Job *job);
bool job_has_ended(const Job *job);
__attribute__((format(printf, 2, 3))) void job_log(JobStatus *status, const char *format, ...);
void job_end(JobQueue *queue, Job *job, JobState state);
void job_drop_old_results(JobQueue *queue); // the status of a job is kept longer

// --- the threads (job_run.c) ---------------------------------------------------------------------

void *job_thread_main(void *thread); // a JobThread
// Called with the lock held, which is free while whoever writes the end down does so. Returns how
// it has ended.
JobState job_write_end(JobQueue *queue, Job *job, JobState state, const BuildResult *result);
