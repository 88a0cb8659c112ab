// A new process and exec with exactly the named descriptors. Until the exec the child uses the
// memory of its parent, whose thread waits: a fork would copy the page tables of a large host, and
// every page that the host writes afterwards. So the child makes nothing but system calls.
#define _GNU_SOURCE
#include "server/sys/process.h"

#include "core/base/check.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_DESCRIPTOR 3
#define STACK_BYTES      (32u << 10) // of the child until it is another program
#define LONG_TURN_NS     100000000u  // the longest that the kernel takes
#define SHORT_TURN_NS    1000000u    // longer than most ticks

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true // the sanitizers do not know a child that shares memory
#else
#define SANITIZED false
#endif

// A sanitizer's leak check traces the process, which a jail forbids. Nothing else is passed on.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZER_OPTIONS "ASAN_OPTIONS=detect_leaks=0",
#else
#define SANITIZER_OPTIONS
#endif

// --- what a child says ---------------------------------------------------------------------------

// Replaces what could control a terminal by '?': control characters except line ends, and invalid
// UTF-8. Returns how many bytes are clean; up to three at the end may be the beginning of a
// character.
static size_t clean(uint8_t *text, size_t bytes, bool is_all)
{
    size_t at = 0;
    while (at < bytes) {
        const size_t length = utf8_length(text + at, bytes - at);
        if (length == 0 && !is_all && text[at] >= 0xc2 && bytes - at < 4) {
            break;
        }
        const bool is_end = text[at] == '\n' || text[at] == '\t';
        const size_t step = length > 0 ? length : 1;
        if (length == 0 || (!is_end && utf8_has_control(text + at, length))) {
            memset(text + at, '?', step);
        }
        at += step;
    }
    return at;
}

static void *listen_to(void *argument)
{
    const int descriptor = (int)(intptr_t)argument;
    uint8_t text[4096];
    size_t kept = 0, said = 0;
    for (ssize_t count = 1; count != 0;) {
        count = read(descriptor, text + kept, sizeof text - kept);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        count = count < 0 ? 0 : count;
        const size_t bytes = kept + (size_t)count;
        const size_t done = clean(text, bytes, count == 0);
        const size_t left = PROCESS_WORDS_MAX - said;
        (void)!write(STDERR_FILENO, text, done < left ? done : left);
        said += done < left ? done : left;
        if (done > left && left > 0) {
            static const char cut[] = "\n… (it said more)\n";
            (void)!write(STDERR_FILENO, cut, sizeof cut - 1);
        }
        kept = bytes - done;
        memmove(text, text + done, kept);
    }
    close(descriptor);
    return NULL;
}

// Without a thread for it the child's output is lost, which is not an error.
static void hear(Process *process, int descriptor)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    process->is_heard =
        pthread_create(&process->listener, NULL, listen_to, (void *)(intptr_t)descriptor) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!process->is_heard) {
        close(descriptor);
    }
}

// --- starting ------------------------------------------------------------------------------------

// The descriptors become 3, 4, …; everything above is closed. First they are moved out of each
// other's way.
static void place_descriptors(const ProcessConfig *config, int words)
{
    int moved[PROCESS_DESCRIPTORS_MAX];
    if (dup2(words, STDERR_FILENO) < 0) {
        _exit(127);
    }
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

typedef struct Start {
    const ProcessConfig *config;
    pid_t parent;
    int words;
} Start;

// The child. All signals are blocked: no handler of the parent may run in its memory.
static int become(void *argument)
{
    const Start *start = argument;
    const ProcessConfig *config = start->config;
    // The parent may have ended between clone and here.
    const bool is_bound = !config->outlives_thread;
    if ((is_bound && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) || getppid() != start->parent) {
        _exit(127);
    }
    for (int number = 1; number < NSIG; number++) {
        signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    place_descriptors(config, start->words);
    char *const environment[] = {SANITIZER_OPTIONS NULL};
    const char *program = config->program != NULL ? config->program : "/proc/self/exe";
    execve(program, (char *const *)config->arguments, environment);
    _exit(127);
}

// Returns when the child has become the other program, or has ended.
static pid_t start_child(Start *start)
{
    _Alignas(16) uint8_t stack[STACK_BYTES];
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid =
        SANITIZED ? fork()
                  : clone(become, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, start);
    if (SANITIZED && pid == 0) {
        become(start);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pid;
}

Status process_start(const ProcessConfig *config, Process *out)
{
    ASSERT(config->descriptor_count <= PROCESS_DESCRIPTORS_MAX);
    int words[2];
    if (pipe2(words, O_CLOEXEC) != 0) {
        return STATUS_LIMIT;
    }
    Start start = {.config = config, .parent = getpid(), .words = words[1]};
    const pid_t pid = start_child(&start);
    close(words[1]);
    if (pid < 0) {
        close(words[0]);
        return STATUS_LIMIT;
    }
    const int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    if (descriptor >= 0) {
        fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    }
    *out = (Process){.pid = pid, .pid_descriptor = descriptor};
    hear(out, words[0]);
    return STATUS_OK;
}

// --- ending --------------------------------------------------------------------------------------

static int code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void forget_process(Process *process)
{
    if (process->pid_descriptor >= 0) {
        close(process->pid_descriptor);
    }
    if (process->is_heard) {
        pthread_join(process->listener, NULL); // its last output, before ours
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
    forget_process(process);
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
    forget_process(process);
}

// --- sharing the processors ----------------------------------------------------------------------

// As the kernel has it; not every libc declares it.
typedef struct SchedulerAttributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns; // the first is the length of a turn
} SchedulerAttributes;
_Static_assert(sizeof(SchedulerAttributes) == 48, "the first version of it");

void process_set_turns(pid_t pid, ProcessTurns turns)
{
    const bool is_long = turns == PROCESS_TURNS_LONG;
    errno = 0;
    const int nice = getpriority(PRIO_PROCESS, (id_t)pid);
    if (pid <= 0 || errno != 0) {
        return;
    }
    const SchedulerAttributes attributes = {.size = sizeof attributes,
                                            .policy = is_long ? SCHED_BATCH : SCHED_OTHER,
                                            .nice = nice,
                                            .runtime_ns = is_long ? LONG_TURN_NS : SHORT_TURN_NS};
    (void)syscall(SYS_sched_setattr, pid, &attributes, 0); // it runs without it too
}

uint64_t process_resident_bytes(pid_t pid)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = pid > 0 ? fopen(path, "re") : NULL;
    if (file == NULL) {
        return 0;
    }
    unsigned long long pages = 0;
    const bool found =
        fgets(text, sizeof text, file) != NULL && sscanf(text, "%*s %llu", &pages) == 1;
    fclose(file);
    return found ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void read_proc(pid_t pid, const char *name, char *out, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const int file = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const ssize_t bytes = file >= 0 ? read(file, out, capacity - 1) : -1;
    out[bytes > 0 ? bytes : 0] = '\0';
    if (file >= 0) {
        close(file);
    }
}

uint64_t process_starved_ns(ProcessWaits *waits, pid_t pid, uint64_t now_ns)
{
    char text[512];
    uint64_t ran = 0, counted = 0;
    read_proc(pid, "schedstat", text, sizeof text);
    if (sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &counted) != 2) {
        return 0;
    }
    const bool is_same = ran == waits->ran_ns && counted == waits->counted_ns;
    read_proc(pid, "stat", text, sizeof text);
    const char *name_end = strrchr(text, ')'); // then a space and the state
    const bool is_ready = name_end != NULL && strncmp(name_end, ") R", 3) == 0;
    if (!is_same || !is_ready || waits->ready_since_ns == 0) {
        waits->ready_since_ns = now_ns;
    }
    waits->ran_ns = ran;
    waits->counted_ns = counted;
    return counted + (now_ns - waits->ready_since_ns);
}
