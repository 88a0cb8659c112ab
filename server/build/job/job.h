// Builds off the caller's thread: a queue with N at a time. A job has an id, a stage, progress, the
// tail of its log, and a result that stays for a while after it ended. A request identical to one
// that waits or runs joins it. All functions may be called from any thread.
#pragma once

#include "server/build/pipeline/build.h"

#define JOB_ID_BYTES   33 // 32 hex digits; nobody guesses one
#define JOB_LOG_LINES  50
#define JOBS_KEPT_MAX  256
#define JOBS_WAIT_MAX  64
#define JOBS_AT_A_TIME 2
#define JOB_MS_MAX     (30u * 60 * 1000) // a whole build; each question of it has its own limit

typedef enum JobState { JOB_WAITING, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED } JobState;

typedef struct JobStatus {
    char id[JOB_ID_BYTES];
    JobState state;
    BuildStage stage;
    uint32_t done, total;
    char item[SCRIPT_PATH_BYTES];
    char log[JOB_LOG_LINES][256]; // oldest first
    uint32_t log_count;
    char reason[WORKER_REASON_BYTES]; // failed: why; it tells nobody where things are on this
                                      // machine
    uint32_t error_count, warning_count, compiled_count, cached_count, version;
    uint64_t queued_unix_ms, ended_unix_ms;
} JobStatus;

typedef struct JobQueue JobQueue;

// What the config points to is kept. At most 8 at a time. With a cache elsewhere a place gets no
// artifacts: results are in memory alone. What its scene says of scripts is kept true in any case.
MUST_USE Status job_queue_create(const BuildConfig *config, uint32_t at_a_time, JobQueue **out);
// For builds that begin from now on. One that takes longer is ended at its next sign of progress,
// and fails with what it was at.
void job_queue_limit(JobQueue *queue, uint32_t ms);
// Where builds tell, in full, what failed for a reason that is none of the place's: for the
// operator, with paths of this machine. Called by their threads. Before the first job.
typedef void (*JobTold)(void *user, const char *reason);
void job_queue_listen(JobQueue *queue, JobTold told, void *user);
void job_queue_destroy(JobQueue *queue); // cancels what runs, and waits for it
// STATUS_LIMIT: too many wait; STATUS_NOT_FOUND: no such folder. *joined: it is one that was there
// already: one that waits, or one that runs and has seen every file as it is now. Builds of one
// place never run at once.
MUST_USE Status job_start(JobQueue *queue, const char *place, bool force, char id[JOB_ID_BYTES],
                          bool *joined);
MUST_USE Status job_status(JobQueue *queue, const char *id, JobStatus *out);
// For everybody who joined it; one that has ended stays as it is.
MUST_USE Status job_cancel(JobQueue *queue, const char *id);
// Waits until it ended; STATUS_TRUNCATED: not within that time.
MUST_USE Status job_wait(JobQueue *queue, const char *id, uint32_t timeout_ms, JobStatus *out);
// The result of one that is done, once: the caller frees it. STATUS_NOT_FOUND: taken or forgotten.
MUST_USE Status job_take_result(JobQueue *queue, const char *id, BuildResult *out);
// As /api/jobs/<id> answers.
void job_status_json(const JobStatus *status, Buffer *out);
