// How processes share the processors.
#define _GNU_SOURCE
#include "server/sys/process.h"

#include "server/sys/clock.h"
#include "tests/support/test.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NICE 7

static pid_t start_sleeper(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        (void)setpriority(PRIO_PROCESS, 0, NICE);
        pause();
        _exit(0);
    }
    for (int i = 0; i < 2000 && getpriority(PRIO_PROCESS, (id_t)pid) != NICE; i++) {
        usleep(5000);
    }
    return pid;
}

// 0: this kernel does not say.
static uint64_t turn_ns(pid_t pid)
{
    uint64_t attributes[6] = {0}; // the fifth 32-bit number is the nice value, the last 3 are times
    return syscall(SYS_sched_getattr, pid, attributes, sizeof attributes, 0) == 0 ? attributes[3]
                                                                                  : 0;
}

TEST(turns_change_and_the_nice_value_stays)
{
    const pid_t pid = start_sleeper();
    REQUIRE(pid > 0);
    process_set_turns(pid, PROCESS_TURNS_LONG);
    CHECK_INT(sched_getscheduler(pid), SCHED_BATCH);
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)pid), NICE);
    CHECK(turn_ns(pid) == 0 || turn_ns(pid) == 100000000);
    process_set_turns(pid, PROCESS_TURNS_SHORT);
    CHECK_INT(sched_getscheduler(pid), SCHED_OTHER);
    CHECK_INT(getpriority(PRIO_PROCESS, (id_t)pid), NICE);
    CHECK(turn_ns(pid) == 0 || turn_ns(pid) == 1000000);
    kill(pid, SIGKILL);
    CHECK(waitpid(pid, NULL, 0) == pid);
    process_set_turns(pid, PROCESS_TURNS_LONG); // it is gone: nothing happens
    process_set_turns(0, PROCESS_TURNS_LONG);
    CHECK_INT(sched_getscheduler(0), SCHED_OTHER);
}

static pid_t start_spinner(int policy)
{
    const pid_t pid = fork();
    if (pid == 0) {
        (void)sched_setscheduler(0, policy, &(struct sched_param){0});
        for (;;) {
        }
    }
    return pid;
}

// The kernel tells of a wait when it is over. A world is ended as stuck after a second: it must be
// known before that.
TEST(a_wait_for_a_processor_counts_while_it_lasts)
{
    cpu_set_t before, one;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
        }
    }
    // Two on one processor, one of which runs when the other one lets it.
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    const pid_t rival = start_spinner(SCHED_OTHER), idle = start_spinner(SCHED_IDLE);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
    ProcessWaits waits = {0};
    const uint64_t first = process_starved_ns(&waits, idle, clock_ns()), began = clock_ns();
    CHECK(first < 1000000000); // also if it has not run at all yet
    uint64_t last = first, most = 0, looked = began;
    while (looked - began < 400000000) {
        usleep(10000);
        const uint64_t now = clock_ns(), waited = process_starved_ns(&waits, idle, now);
        CHECK(waited + 20000000 >= last); // nothing is taken back, but for the time of a look
        // How long the answer stood still.
        most = waited > last ? most : most + (now - looked);
        last = waited;
        looked = now;
    }
    CHECK(last - first > (looked - began) / 2);
    CHECK(most < (looked - began) / 4);
    kill(idle, SIGSTOP); // it waits for no processor
    kill(rival, SIGKILL);
    CHECK(waitpid(rival, NULL, 0) == rival);
    kill(idle, SIGKILL);
    CHECK(waitpid(idle, NULL, 0) == idle);
    CHECK(process_starved_ns(&waits, idle, clock_ns()) == 0);
}
