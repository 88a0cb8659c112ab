// fork and exec with exactly the descriptors that were named. Between the two only calls that are
// safe after a fork in a program with threads.
#define _GNU_SOURCE
#include "server/sys/process.h"

#include "core/base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_DESCRIPTOR 3

// The descriptors become 3, 4, …; everything above is closed. First out of the way of each other.
static void place_descriptors(const ProcessConfig *config)
{
    int moved[PROCESS_DESCRIPTORS_MAX];
    const int clear = FIRST_DESCRIPTOR + PROCESS_DESCRIPTORS_MAX;
    for (uint32_t i = 0; i < config->descriptor_count; i++) {
        moved[i] = fcntl(config->descriptors[i], F_DUPFD, clear);
        if (moved[i] < 0) {
            _exit(127);
        }
    }
    for (uint32_t i = 0; i < config->descriptor_count; i++) {
        if (dup2(moved[i], FIRST_DESCRIPTOR + (int)i) < 0) { // dup2 clears close-on-exec
            _exit(127);
        }
    }
    close_range((unsigned)(FIRST_DESCRIPTOR + (int)config->descriptor_count), ~0u, 0);
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0) {
        dup2(nothing, 0);
        dup2(nothing, 1);
        close(nothing);
    }
}

_Noreturn static void become(const ProcessConfig *config, pid_t parent)
{
    // The parent may have gone between fork and here.
    const bool is_bound = !config->outlives_thread;
    if ((is_bound && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) || getppid() != parent) {
        _exit(127);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    place_descriptors(config);
    // A sanitizer's leak check traces the process, which a jail forbids.
    char *const environment[] = {"ASAN_OPTIONS=detect_leaks=0", "LC_ALL=C.UTF-8", NULL};
    const char *program = config->program != NULL ? config->program : "/proc/self/exe";
    execve(program, (char *const *)config->arguments, environment);
    _exit(127);
}

Status process_start(const ProcessConfig *config, Process *out)
{
    ASSERT(config->descriptor_count <= PROCESS_DESCRIPTORS_MAX);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
        return STATUS_LIMIT;
    }
    if (pid == 0) {
        become(config, parent);
    }
    const int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    if (descriptor >= 0) {
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
    *out = (Process){.pid = pid, .pid_descriptor = descriptor};
    return STATUS_OK;
}

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void forget(Process *process)
{
    if (process->pid_descriptor >= 0) {
        close(process->pid_descriptor);
    }
    *process = (Process){.pid = 0, .pid_descriptor = -1};
}

bool process_ended(Process *process, int *code)
{
    int status;
    if (process->pid <= 0) {
        return true;
    }
    if (waitpid(process->pid, &status, WNOHANG) != process->pid) {
        return false;
    }
    *code = code_of(status);
    forget(process);
    return true;
}

void process_kill(Process *process, int number)
{
    if (process->pid > 0) {
        kill(process->pid, number);
    }
}

void process_wait(Process *process, int *code)
{
    int status = 0;
    if (process->pid <= 0) {
        return;
    }
    while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {
    }
    *code = code_of(status);
    forget(process);
}
