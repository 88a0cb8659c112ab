// The pool of threads for work that blocks: every accepted job is called once, the queue is
// bounded, and the threads and what they start have a lower priority.
#define _GNU_SOURCE
#include "server/sys/work_pool.h"

#include "core/base/limits.h"
#include "tests/support/test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static WorkPool *create(uint32_t threads, uint32_t queue_max)
{
    const WorkPoolConfig config = {.thread_count = threads, .queue_max = queue_max};
    WorkPool *pool = NULL;
    CHECK_OK(work_pool_create(&config, &pool));
    return pool;
}

// A job that says that it runs, and waits until it may go on.
typedef struct Gate {
    sem_t running, open;
    atomic_uint calls, cancelled;
} Gate;

static void gate_init(Gate *gate)
{
    memset(gate, 0, sizeof *gate);
    sem_init(&gate->running, 0, 0);
    sem_init(&gate->open, 0, 0);
}

static void gate_deinit(Gate *gate)
{
    sem_destroy(&gate->running);
    sem_destroy(&gate->open);
}

static void wait_at(void *user, bool is_cancelled)
{
    Gate *gate = user;
    atomic_fetch_add(&gate->calls, 1);
    if (is_cancelled) {
        atomic_fetch_add(&gate->cancelled, 1);
        return;
    }
    sem_post(&gate->running);
    sem_wait(&gate->open);
}

static void count(void *user, bool is_cancelled)
{
    (void)is_cancelled;
    atomic_fetch_add((atomic_uint *)user, 1);
}

TEST(jobs_run_and_are_counted)
{
    WorkPool *pool = create(0, 0);
    REQUIRE(pool != NULL);
    atomic_uint done = 0;
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_OK(work_pool_submit(pool, count, &done));
    }
    for (uint32_t i = 0; i < 500 && work_pool_stats(pool).done < 100; i++) {
        usleep(10000);
    }
    const WorkPoolStats stats = work_pool_stats(pool);
    CHECK_INT(stats.threads, WORK_POOL_THREADS_DEFAULT);
    CHECK_INT(stats.done, 100);
    CHECK_INT(stats.waiting, 0);
    CHECK_INT(stats.running, 0);
    CHECK_INT(stats.refused, 0);
    CHECK_INT(done, 100);
    work_pool_destroy(pool);
}

TEST(a_full_queue_refuses)
{
    WorkPool *pool = create(2, 3);
    REQUIRE(pool != NULL);
    Gate gate;
    gate_init(&gate);
    CHECK_OK(work_pool_submit(pool, wait_at, &gate));
    CHECK_OK(work_pool_submit(pool, wait_at, &gate));
    sem_wait(&gate.running);
    sem_wait(&gate.running); // both threads are taken
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(work_pool_submit(pool, wait_at, &gate));
    }
    CHECK_INT(work_pool_submit(pool, wait_at, &gate), STATUS_LIMIT);
    CHECK_INT(work_pool_stats(pool).running, 2);
    CHECK_INT(work_pool_stats(pool).waiting, 3);
    CHECK_INT(work_pool_stats(pool).waiting_peak, 3);
    CHECK_INT(work_pool_stats(pool).refused, 1);
    sem_post(&gate.open);
    sem_wait(&gate.running); // the next one took the thread, and left its place in the queue
    CHECK_OK(work_pool_submit(pool, wait_at, &gate));
    for (uint32_t i = 0; i < 6; i++) {
        sem_post(&gate.open);
    }
    work_pool_destroy(pool);
    CHECK_INT(gate.calls, 6);
    gate_deinit(&gate);
}

static void *open_later(void *user)
{
    usleep(50000);
    sem_post(user);
    return NULL;
}

TEST(destroy_calls_what_still_waits)
{
    WorkPool *pool = create(1, 8);
    REQUIRE(pool != NULL);
    Gate gate;
    gate_init(&gate);
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_OK(work_pool_submit(pool, wait_at, &gate));
    }
    sem_wait(&gate.running);
    pthread_t opener;
    REQUIRE(pthread_create(&opener, NULL, open_later, &gate.open) == 0);
    work_pool_destroy(pool); // waits for the one that runs
    pthread_join(opener, NULL);
    CHECK_INT(gate.calls, 6);
    CHECK_INT(gate.cancelled, 5);
    gate_deinit(&gate);
    work_pool_destroy(NULL);
}

typedef struct Again {
    WorkPool *pool;
    atomic_uint calls;
    atomic_uint refused;
} Again;

static void submit_again(void *user, bool is_cancelled)
{
    Again *again = user;
    (void)is_cancelled;
    if (atomic_fetch_add(&again->calls, 1) < 1000000 &&
        work_pool_submit(again->pool, submit_again, again) != STATUS_OK) {
        atomic_fetch_add(&again->refused, 1);
    }
}

TEST(a_job_that_submits_itself_does_not_keep_the_pool_alive)
{
    WorkPool *pool = create(2, 4);
    REQUIRE(pool != NULL);
    Again again = {.pool = pool};
    CHECK_OK(work_pool_submit(pool, submit_again, &again));
    usleep(20000);
    work_pool_destroy(pool);
    CHECK_INT(again.refused, 1);
}

typedef struct Priority {
    int thread, child;
    bool signals_blocked;
} Priority;

static void look_at_priority(void *user, bool is_cancelled)
{
    Priority *priority = user;
    (void)is_cancelled;
    priority->thread = getpriority(PRIO_PROCESS, 0);
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    priority->signals_blocked = sigismember(&blocked, SIGTERM) == 1;
    const pid_t child = fork();
    if (child == 0) {
        _exit(getpriority(PRIO_PROCESS, 0));
    }
    int state = 0;
    waitpid(child, &state, 0);
    priority->child = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST(jobs_and_what_they_start_are_nice)
{
    const int before = getpriority(PRIO_PROCESS, 0);
    WorkPool *pool = create(1, 1);
    REQUIRE(pool != NULL);
    Priority priority = {0};
    CHECK_OK(work_pool_submit(pool, look_at_priority, &priority));
    for (uint32_t i = 0; i < 500 && work_pool_stats(pool).done == 0; i++) {
        usleep(10000);
    }
    work_pool_destroy(pool);
    const int want = before > WORK_POOL_NICE ? before : WORK_POOL_NICE;
    CHECK_INT(priority.thread, want);
    CHECK_INT(priority.child, want);
    CHECK(priority.signals_blocked);
    CHECK_INT(getpriority(PRIO_PROCESS, 0), before); // this thread is as it was
}

static void *submit_many(void *user)
{
    Again *shared = user;
    for (uint32_t i = 0; i < 2000; i++) {
        if (work_pool_submit(shared->pool, count, &shared->calls) != STATUS_OK) {
            atomic_fetch_add(&shared->refused, 1);
        }
    }
    return NULL;
}

TEST(many_threads_submit_at_once)
{
    WorkPool *pool = create(3, 16);
    REQUIRE(pool != NULL);
    Again shared = {.pool = pool};
    pthread_t threads[4];
    for (uint32_t i = 0; i < 4; i++) {
        REQUIRE(pthread_create(&threads[i], NULL, submit_many, &shared) == 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    const WorkPoolStats stats = work_pool_stats(pool);
    work_pool_destroy(pool);
    CHECK_INT(shared.calls + shared.refused, 8000);
    CHECK_INT(stats.refused, shared.refused);
    CHECK(stats.waiting_peak <= 16);
}

TEST(invalid_sizes)
{
    WorkPool *pool = NULL;
    CHECK_INT(work_pool_create(&(WorkPoolConfig){.thread_count = WORK_POOL_THREADS_MAX + 1}, &pool),
              STATUS_RANGE);
    CHECK_INT(work_pool_create(&(WorkPoolConfig){.queue_max = WORK_POOL_QUEUE_MAX + 1}, &pool),
              STATUS_RANGE);
    CHECK(pool == NULL);
}
