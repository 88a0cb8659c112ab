// Builds in threads of their own: a queue that runs N at a time. A job has an id, a stage,
// progress, the end of its log, and a result that is kept for a while. A request identical to a
// waiting or running one joins it. All functions may be called from any thread.
//
// Jobs of one account run in the order in which they came; between accounts it is the turn of the
// one whose last job began longest ago, so that nobody waits for all the jobs of somebody else.
#pragma once

#include "server/build/pipeline/build.h"

#include <limits.h>

#define JOB_ID_BYTES        33 // 32 hex digits, random so that nobody can guess one
#define JOB_LOG_LINES       50
#define JOBS_KEPT_MAX       256
#define JOBS_WAIT_MAX       64
#define JOBS_AT_A_TIME      2
#define JOB_RESULT_ID_BYTES 16
#define JOB_MADE_MAX        64
#define JOB_MS_MAX          (30u * 60 * 1000) // a whole build; each question of it has its own limit

typedef enum JobState { JOB_WAITING, JOB_RUNNING, JOB_DONE, JOB_FAILED, JOB_CANCELLED } JobState;

// What became of the worlds that run with what was built: they go on with the new scripts
// (RELOADED), began again (RESTARTED), or run as before, because it does not fit them (REFUSED) or
// because its scripts failed (ROLLED_BACK).
typedef enum JobReloadState {
    JOB_RELOAD_NONE, // no world runs with it
    JOB_RELOAD_WAITING,
    JOB_RELOADED,
    JOB_RESTARTED,
    JOB_RELOAD_REFUSED,
    JOB_ROLLED_BACK,
    JOB_RELOAD_STATE_COUNT
} JobReloadState;
const char *job_reload_name(JobReloadState state);

// What became of one world.
#define JOB_RELOAD_WORLDS       16
#define JOB_RELOAD_REASON_BYTES 256
typedef struct JobReloadWorld {
    char world_id[65];
    JobReloadState state;
    char reason[JOB_RELOAD_REASON_BYTES];
} JobReloadWorld;

typedef struct JobReload {
    JobReloadState state;
    bool is_settled;                        // nothing of this changes any more
    JobReloadWorld each[JOB_RELOAD_WORLDS]; // the first that answered
    uint32_t each_count;
    uint32_t worlds, manifest_version; // of those that reloaded or began again
    char reason[WORKER_REASON_BYTES];  // of REFUSED and ROLLED_BACK; "" else
} JobReload;

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
    bool hides_cache;                 // see job_queue_hide_cache
    struct {                          // scripts that were turned into Lua; at most so many
        char path[SCRIPT_PATH_BYTES]; // without its ending
        SoulLanguage language;
    } made[JOB_MADE_MAX];
    uint32_t made_count;
    char result_id[JOB_RESULT_ID_BYTES]; // "": the version
    JobReload reload;
    uint64_t queued_unix_ms, ended_unix_ms;
} JobStatus;

typedef struct JobQueue JobQueue;

// Keeps the pointers of the config. At most 8 at a time. With a cache elsewhere no artifacts are
// written: results are in memory only. The references in the scene are updated in any case.
MUST_USE Status job_queue_create(const BuildConfig *config, uint32_t at_a_time, JobQueue **out);
// For builds that begin from now on. A longer one is ended at its next sign of progress, and its
// reason names the stage it was in.
void job_queue_limit(JobQueue *queue, uint32_t ms);
// How long a build may run before those of other accounts begin beside it, if at_a_time run: up to
// twice as many then.
void job_queue_turn(JobQueue *queue, uint32_t ms);
// Receives the full reason of each failure that is not the place's fault: for the operator, with
// paths of this machine. Called by the build threads. Set it before the first job.
typedef void (*JobTold)(void *user, const char *reason);
void job_queue_listen(JobQueue *queue, JobTold told, void *user);
// Accounts share what is cached: nobody shall see by it what others have built before. So what is
// told of a job does not say what was compiled and what was there already. Set it before the first
// job.
void job_queue_hide_cache(JobQueue *queue);
// Asked by the build thread before it builds a folder that was there before, such as a draft, for
// the folder of the spells that it uses; "": none. What is not STATUS_OK is how the job fails. Set
// it before the first job.
typedef Status (*JobSpells)(void *user, const char *id, const char *place, uint64_t account,
                            char spells[PATH_MAX], char reason[WORKER_REASON_BYTES]);
void job_queue_spells(JobQueue *queue, JobSpells spells, void *user);
// Called by the build thread with the end of each build of a folder that was there before, before
// anybody who asks is told. It says what becomes of worlds that run with it; with
// JOB_RELOAD_WAITING it has taken the result (and left zeros), and job_set_reload says the rest.
// Runes are packed for players then. Set it before the first job.
typedef JobReload (*JobBuilt)(void *user, const char *place, const JobStatus *status,
                              BuildResult *result);
void job_queue_built(JobQueue *queue, JobBuilt built, void *user);
// What has become of the worlds since, of a job that is still kept.
void job_set_reload(JobQueue *queue, const char *id, const JobReload *reload);
// Builds run like everything else; without this, worlds go first. Set it before the first job.
void job_queue_keep_priority(JobQueue *queue);
// One more line in the log of a job that has not ended.
void job_note(JobQueue *queue, const char *id, const char *text);
// Cancels running builds and starts no more; whoever waits for one (job_wait) waits no longer. NULL
// is allowed.
void job_queue_stop(JobQueue *queue);
void job_queue_destroy(JobQueue *queue); // the same, and waits until they have ended
// STATUS_LIMIT: too many jobs wait; STATUS_NOT_FOUND: no such folder. *joined: it is an existing
// job that waits, or that runs and has read every file as it is now. Builds of one place never run
// at the same time.
MUST_USE Status job_start(JobQueue *queue, const char *place, bool force, char id[JOB_ID_BYTES],
                          bool *joined);
// The same for an account, whose jobs wait for each other; 0: nobody's. `writes`: artifacts are
// written into the folder also if the cache is elsewhere.
typedef struct JobWish {
    const char *place;
    bool force, writes;
    bool warm; // so that the next build of the place is quick (BuildRequest)
    uint64_t account;
} JobWish;
MUST_USE Status job_start_for(JobQueue *queue, const JobWish *wish, char id[JOB_ID_BYTES],
                              bool *joined);
// The folder that a job builds. STATUS_NOT_FOUND: no such job, or it has none.
MUST_USE Status job_folder(JobQueue *queue, const char *id, char out[PATH_MAX]);
MUST_USE Status job_status(JobQueue *queue, const char *id, JobStatus *out);
// All that are kept, the newest first; returns how many.
typedef struct JobBrief {
    char id[JOB_ID_BYTES];
    uint64_t number, account; // account 0: nobody's
    uint64_t queued_unix_ms, ended_unix_ms;
} JobBrief;
uint32_t job_list(JobQueue *queue, JobBrief out[JOBS_KEPT_MAX]);

// A job whose folder is made by its own thread, and whose end somebody writes down: a revision of a
// package. All three are called by that thread, or by who cancels it.
typedef struct JobWork {
    // STATUS_OK: the folder, which must not change, and that of its spells, if it uses any.
    // STATUS_DENIED: cancelled. Else `reason`.
    Status (*prepare)(void *user, const atomic_bool *cancel, char folder[PATH_MAX],
                      char spells[PATH_MAX], char reason[WORKER_REASON_BYTES]);
    // How it ended, before anybody who asks is told. `result` is NULL unless it is done. Not
    // STATUS_OK: it has failed, and `reason` says why; of one that is done, what was not done with
    // it. It is not called if the queue ends.
    Status (*ended)(void *user, const JobStatus *status, const BuildResult *result,
                    char reason[WORKER_REASON_BYTES]);
    void (*release)(void *user); // once, whatever happened
    void *user;
} JobWork;
// A place in the queue, before anything is written that must be built then. It waits for job_begin
// or job_drop. `id`: "", or that of a job of an earlier life, which is over no limit.
// STATUS_LIMIT: too many jobs wait. STATUS_DENIED: account_max jobs of this account wait or run.
MUST_USE Status job_reserve(JobQueue *queue, uint64_t account, uint32_t account_max,
                            char id[JOB_ID_BYTES]);
// `result_id`: what /api/jobs/<id> answers as result_revision_id. The work is the queue's.
void job_begin(JobQueue *queue, const char *id, const char *result_id, const JobWork *work);
void job_drop(JobQueue *queue, const char *id);
// Cancels it for everybody who joined it; a job that has ended is not changed.
MUST_USE Status job_cancel(JobQueue *queue, const char *id);
// Waits until it ends; STATUS_TRUNCATED: not within that time, or the queue has stopped.
MUST_USE Status job_wait(JobQueue *queue, const char *id, uint32_t timeout_ms, JobStatus *out);
// Takes the result of a finished job, once; the caller frees it. STATUS_NOT_FOUND: taken already,
// or dropped.
MUST_USE Status job_take_result(JobQueue *queue, const char *id, BuildResult *out);
// As /api/jobs/<id> answers.
void job_status_json(const JobStatus *status, Buffer *out);
