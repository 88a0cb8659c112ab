// How processes share the processors.
#define _GNU_SOURCE
#include "server/sys/process.h"

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
