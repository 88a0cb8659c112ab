// See work_pool.h. One lock, one ring of waiting jobs, one condition for the threads.
#define _GNU_SOURCE
#include "server/sys/work_pool.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/sys/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct Job {
    WorkRun run;
    void *user;
    uint64_t submitted_ns;
} Job;

struct WorkPool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping;
    Job *ring; // queue_max long
    uint32_t queue_max, first, waiting;
    WorkPoolStats stats;
    pthread_t threads[WORK_POOL_THREADS_MAX];
    uint32_t thread_count;
};

// On Linux a priority belongs to a thread, whatever POSIX says: 0 names the calling one.
void work_pool_lower_priority(void)
{
    errno = 0;
    const int now = getpriority(PRIO_PROCESS, 0);
    if (errno == 0 && now < WORK_POOL_NICE) {
        (void)setpriority(PRIO_PROCESS, 0, WORK_POOL_NICE);
    }
}

// With the lock held, and given back with it held.
static void run_next(WorkPool *pool, bool is_cancelled)
{
    ASSERT(pool->waiting > 0);
    const Job job = pool->ring[pool->first];
    pool->first = (pool->first + 1) % pool->queue_max;
    pool->waiting -= 1;
    pool->stats.running += 1;
    pthread_mutex_unlock(&pool->lock);
    const uint64_t began_ns = clock_ns();
    job.run(job.user, is_cancelled);
    const uint64_t ended_ns = clock_ns();
    pthread_mutex_lock(&pool->lock);
    pool->stats.running -= 1;
    pool->stats.done += 1;
    pool->stats.wait_us += (began_ns - job.submitted_ns) / 1000;
    pool->stats.run_us += (ended_ns - began_ns) / 1000;
}

static void *thread_main(void *user)
{
    WorkPool *pool = user;
    work_pool_lower_priority();
    pthread_mutex_lock(&pool->lock);
    while (!pool->stopping) {
        if (pool->waiting > 0) {
            run_next(pool, false);
        } else {
            pthread_cond_wait(&pool->wake, &pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

// Signals are for the threads that wait for them.
static Status start_threads(WorkPool *pool, uint32_t count)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->thread_count < count &&
           pthread_create(&pool->threads[pool->thread_count], NULL, thread_main, pool) == 0) {
        pool->thread_count += 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool->thread_count == count ? STATUS_OK : STATUS_LIMIT;
}

Status work_pool_create(const WorkPoolConfig *config, WorkPool **out)
{
    const uint32_t threads =
        config->thread_count > 0 ? config->thread_count : WORK_POOL_THREADS_DEFAULT;
    const uint32_t queue_max = config->queue_max > 0 ? config->queue_max : WORK_POOL_QUEUE_DEFAULT;
    if (threads > WORK_POOL_THREADS_MAX || queue_max > WORK_POOL_QUEUE_MAX) {
        return STATUS_RANGE;
    }
    WorkPool *pool = calloc(1, sizeof *pool);
    Job *ring = calloc(queue_max, sizeof *ring);
    if (pool == NULL || ring == NULL) {
        free(pool);
        free(ring);
        return STATUS_LIMIT;
    }
    pool->ring = ring;
    pool->queue_max = queue_max;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    const Status status = start_threads(pool, threads);
    if (status != STATUS_OK) {
        work_pool_destroy(pool);
        return status;
    }
    pool->stats.threads = threads;
    *out = pool;
    return STATUS_OK;
}

Status work_pool_submit(WorkPool *pool, WorkRun run, void *user)
{
    ASSERT(run != NULL);
    Status status = STATUS_OK;
    pthread_mutex_lock(&pool->lock);
    if (pool->stopping || pool->waiting == pool->queue_max) {
        pool->stats.refused += 1;
        status = STATUS_LIMIT;
    } else {
        pool->ring[(pool->first + pool->waiting) % pool->queue_max] = (Job){run, user, clock_ns()};
        pool->waiting += 1;
        if (pool->waiting > pool->stats.waiting_peak) {
            pool->stats.waiting_peak = pool->waiting;
        }
        pthread_cond_signal(&pool->wake);
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

WorkPoolStats work_pool_stats(WorkPool *pool)
{
    pthread_mutex_lock(&pool->lock);
    WorkPoolStats stats = pool->stats;
    stats.waiting = pool->waiting;
    pthread_mutex_unlock(&pool->lock);
    return stats;
}

void work_pool_destroy(WorkPool *pool)
{
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pthread_mutex_lock(&pool->lock);
    while (pool->waiting > 0) {
        run_next(pool, true);
    }
    pthread_mutex_unlock(&pool->lock);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->ring);
    free(pool);
}
