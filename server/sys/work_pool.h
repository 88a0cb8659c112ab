// A few threads for work that blocks: files, password hashes, the database. They run at a lower
// priority than the rest of the process (nice 10), so that worlds keep their ticks; a process that
// a job starts inherits it. The queue has a cap: a caller that is refused says "later" to whoever
// asked, so that overload costs answers instead of memory and time.
//
// Every job that was accepted is called exactly once. work_pool_destroy waits for the jobs that run
// and calls those that still wait with is_cancelled, so that they can answer and free what they
// own.
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define WORK_POOL_NICE 10

typedef struct WorkPool WorkPool;

// Without the pool's lock held. It may submit further jobs.
typedef void (*WorkRun)(void *user, bool is_cancelled);

typedef struct WorkPoolConfig {
    uint32_t thread_count; // 0: WORK_POOL_THREADS_DEFAULT; at most WORK_POOL_THREADS_MAX
    uint32_t queue_max;    // jobs that wait; 0: WORK_POOL_QUEUE_DEFAULT
} WorkPoolConfig;

typedef struct WorkPoolStats {
    uint32_t threads, running, waiting, waiting_peak;
    uint64_t done, refused;
    uint64_t run_us, wait_us; // sums over all jobs
} WorkPoolStats;

MUST_USE Status work_pool_create(const WorkPoolConfig *config, WorkPool **out);
// From any thread. LIMIT: the queue is full, or the pool is being destroyed; the job was not taken.
MUST_USE Status work_pool_submit(WorkPool *pool, WorkRun run, void *user);
WorkPoolStats work_pool_stats(WorkPool *pool);
// NULL is fine. Nobody submits any more, except jobs, whose submissions are refused.
void work_pool_destroy(WorkPool *pool);

// Lowers the priority of the calling thread to WORK_POOL_NICE, for threads that are no pool's but
// do such work. Processes that it starts inherit it. It never raises a priority.
void work_pool_lower_priority(void);
