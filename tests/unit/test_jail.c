// Every call that a jailed process must not make: for each there is a child process that enters the
// jail and then tries the call. Also that every layer that this kernel supports is active.
#define _GNU_SOURCE
#include "server/sys/jail.h"

#include "server/sys/process.h"
#include "tests/support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif

static JailConfig config(void)
{
    JailConfig jail = jail_config_default();
    jail.allow_weak = true; // which layers there are is another test
    if (SANITIZED) {
        jail.memory_bytes_max = 0; // shadow memory takes terabytes of addresses
    }
    return jail;
}

// The result of a child: the call was refused, it succeeded, or the child could not be locked in.
enum { REFUSED = 10, DONE = 11, NOT_LOCKED = 12 };

static int in_jail_of(const JailConfig *jail, int (*attempt)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        uint32_t layers;
        char reason[200];
        if (jail_enter(jail, &layers, reason, sizeof reason) != STATUS_OK) {
            _exit(NOT_LOCKED);
        }
        _exit(attempt() != 0 ? REFUSED : DONE);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int in_jail(int (*attempt)(void))
{
    const JailConfig jail = config();
    return in_jail_of(&jail, attempt);
}

// Each returns 0 when it could be done.
static int try_open(void)
{
    return open("/etc/passwd", O_RDONLY) < 0;
}
static int try_create(void)
{
    return open("/tmp/sandlot-jail-test", O_CREAT | O_WRONLY, 0600) < 0;
}
static int try_openat2(void)
{
    const uint64_t how[3] = {O_RDONLY, 0, 0};
    return syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", how, sizeof how) < 0;
}
static int try_stat(void)
{
    return access("/etc/passwd", R_OK) != 0;
}
static int try_know(void)
{
    struct stat about;
    return stat("/etc/passwd", &about) != 0 && stat("/proc/self/exe", &about) != 0;
}
static int try_unlink(void)
{
    return unlink("/tmp/sandlot-jail-test") != 0;
}
static int try_mkdir(void)
{
    return mkdir("/tmp/sandlot-jail-folder", 0700) != 0;
}
static int try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0) < 0;
}
static int try_unix_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0) < 0;
}
static int try_socketpair(void)
{
    int ends[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0;
}
static int try_connect(void)
{
    return syscall(SYS_connect, 0, NULL, 0) < 0 && errno == EPERM;
}
static int try_bind(void)
{
    return syscall(SYS_bind, 0, NULL, 0) < 0 && errno == EPERM;
}
static int try_accept(void)
{
    return syscall(SYS_accept4, 0, NULL, NULL, 0) < 0 && errno == EPERM;
}
static int try_fork(void)
{
    const pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    return child < 0;
}
static int try_clone3(void)
{
    return syscall(SYS_clone3, NULL, 0) < 0 && errno == EPERM;
}
static int try_exec(void)
{
    char *const arguments[] = {"true", NULL};
    char *const environment[] = {NULL};
    execve("/bin/true", arguments, environment);
    return 1;
}
static int try_execveat(void)
{
    return syscall(SYS_execveat, 0, "", NULL, NULL, AT_EMPTY_PATH) < 0 && errno == EPERM;
}
static int try_ptrace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0;
}
static int try_kill_parent(void)
{
    return kill(getppid(), 0) != 0;
}
static int try_kill_group(void)
{
    return kill(0, 0) != 0;
}
static int try_tgkill_other(void)
{
    return syscall(SYS_tgkill, 1, 1, 0) != 0;
}
static int try_map_exec(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
           MAP_FAILED;
}
static int try_protect_exec(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page == MAP_FAILED || mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0;
}
static int try_memfd(void)
{
    return syscall(SYS_memfd_create, "x", 0) < 0;
}
static int try_mount(void)
{
    return mount("none", "/tmp", "tmpfs", 0, NULL) != 0;
}
static int try_unshare(void)
{
    return syscall(SYS_unshare, 0x10000000) != 0; // CLONE_NEWUSER
}
static int try_setuid(void)
{
    return setuid(0) != 0;
}
static int try_raise_limit(void)
{
    const struct rlimit more = {100, 100};
    return setrlimit(RLIMIT_NPROC, &more) != 0;
}
static int try_prctl_dumpable(void)
{
    return syscall(SYS_prctl, 4, 1, 0, 0, 0) != 0; // PR_SET_DUMPABLE
}
static int try_bpf(void)
{
    return syscall(SYS_bpf, 0, NULL, 0) < 0 && errno == EPERM;
}
static int try_io_uring(void)
{
    return syscall(SYS_io_uring_setup, 1, NULL) < 0 && errno == EPERM;
}
static int try_perf(void)
{
    return syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0) < 0 && errno == EPERM;
}
static int try_process_vm(void)
{
    return syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0) < 0 && errno == EPERM;
}
static int try_ioctl(void)
{
    return syscall(SYS_ioctl, 0, 0x5412, "x") < 0 && errno == EPERM; // TIOCSTI
}
static int try_dup(void)
{
    return fcntl(2, F_DUPFD, 50) < 0;
}
static int try_chroot(void)
{
    return chroot("/tmp") != 0;
}
static int try_reboot(void)
{
    return syscall(SYS_reboot, 0, 0, 0, NULL) != 0 && errno == EPERM;
}

static const struct {
    const char *name;
    int (*attempt)(void);
} attempts[] = {
    {"open", try_open},
    {"create", try_create},
    {"openat2", try_openat2},
    {"access", try_stat},
    {"know of a file", try_know},
    {"unlink", try_unlink},
    {"mkdir", try_mkdir},
    {"socket", try_socket},
    {"unix socket", try_unix_socket},
    {"socketpair", try_socketpair},
    {"connect", try_connect},
    {"bind", try_bind},
    {"accept", try_accept},
    {"fork", try_fork},
    {"clone3", try_clone3},
    {"exec", try_exec},
    {"execveat", try_execveat},
    {"kill the parent", try_kill_parent},
    {"kill the group", try_kill_group},
    {"tgkill another", try_tgkill_other},
    {"mmap to execute", try_map_exec},
    {"mprotect to execute", try_protect_exec},
    {"memfd", try_memfd},
    {"mount", try_mount},
    {"unshare", try_unshare},
    {"setuid", try_setuid},
    {"raise a limit", try_raise_limit},
    {"be dumpable", try_prctl_dumpable},
    {"bpf", try_bpf},
    {"io_uring", try_io_uring},
    {"perf", try_perf},
    {"read another's memory", try_process_vm},
    {"ioctl", try_ioctl},
    {"dup", try_dup},
    {"chroot", try_chroot},
    {"reboot", try_reboot},
};

TEST(nothing_that_is_forbidden_can_be_done)
{
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        const int said = in_jail(attempts[i].attempt);
        if (said != REFUSED) {
            test_fail(__FILE__, __LINE__, "%s: the child says %d", attempts[i].name, said);
        }
    }
}

// --- the jail of a runtime ----------------------------------------------------------------------

static const char *const runtime_readable[] = {"/etc/ld.so.cache", "/nowhere", NULL};
static const char *const runtime_executable[] = {"/nowhere/node", NULL};

static int in_runtime_jail(int (*attempt)(void))
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        uint32_t layers;
        char reason[200];
        JailConfig jail = config();
        jail.kind = JAIL_RUNTIME;
        jail.readable = runtime_readable;
        jail.executable = runtime_executable;
        if (jail_enter(&jail, &layers, reason, sizeof reason) != STATUS_OK) {
            _exit(NOT_LOCKED);
        }
        _exit(attempt() != 0 ? REFUSED : DONE);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// What a program with code made at run time may do, and a world may not. (That a path exists can be
// seen: Landlock has no right for it.)
static bool is_for_runtimes(const char *name)
{
    static const char *const names[] = {"access", "know of a file", "clone3", "mmap to execute",
                                        "mprotect to execute"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static int try_read_named(void)
{
    return open("/etc/ld.so.cache", O_RDONLY) < 0;
}
static int try_write_named(void)
{
    return open("/etc/ld.so.cache", O_RDWR) < 0;
}
static int try_clone3_of_runtime(void)
{
    return syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS;
}
static int try_vfork(void)
{
    return syscall(SYS_vfork) < 0;
}
static int try_clone_process(void)
{
    const long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        _exit(0);
    }
    return child < 0;
}
static int try_truncate(void)
{
    return truncate("/tmp/sandlot-jail-test", 0) != 0 && errno == EPERM;
}
static int try_other_prctl(void)
{
    return syscall(SYS_prctl, 22, 0, 0, 0, 0) != 0; // PR_SET_SECCOMP
}
static int try_limit_by_prlimit(void)
{
    const struct rlimit more = {100, 100};
    return syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &more, NULL) != 0;
}

TEST(a_runtime_can_do_little_more)
{
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        const int said = in_runtime_jail(attempts[i].attempt);
        if (!is_for_runtimes(attempts[i].name) && said != REFUSED) {
            test_fail(__FILE__, __LINE__, "%s: the child says %d", attempts[i].name, said);
        }
    }
    CHECK_INT(in_runtime_jail(try_ptrace), 128 + SIGSYS);
    CHECK_INT(in_runtime_jail(try_read_named), DONE);
    CHECK_INT(in_runtime_jail(try_write_named), REFUSED);
    CHECK_INT(in_runtime_jail(try_clone3_of_runtime), REFUSED);
    CHECK_INT(in_runtime_jail(try_vfork), REFUSED);
    CHECK_INT(in_runtime_jail(try_clone_process), REFUSED);
    CHECK_INT(in_runtime_jail(try_truncate), REFUSED);
    CHECK_INT(in_runtime_jail(try_other_prctl), REFUSED);
    CHECK_INT(in_runtime_jail(try_limit_by_prlimit), REFUSED);
    CHECK_INT(in_runtime_jail(try_map_exec), DONE);
}

TEST(ptrace_is_deadly)
{
    CHECK_INT(in_jail(try_ptrace), 128 + SIGSYS);
}

static int try_work(void)
{
    struct timespec now;
    char *block = malloc(1 << 20);
    const bool good =
        block != NULL && clock_gettime(CLOCK_MONOTONIC, &now) == 0 && write(2, "", 0) == 0;
    free(block);
    return good ? 0 : 1;
}

TEST(what_a_world_needs_can_be_done)
{
    CHECK_INT(in_jail(try_work), DONE);
}

static int try_abort(void)
{
    abort();
}

TEST(a_process_can_still_abort)
{
    CHECK_INT(in_jail(try_abort), 128 + SIGABRT);
}

static int try_much_memory(void)
{
    return mmap(NULL, 8ull << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) ==
           MAP_FAILED;
}

TEST(memory_is_limited)
{
    if (!SANITIZED) {
        CHECK_INT(in_jail(try_much_memory), REFUSED);
    }
}

// --- clients ------------------------------------------------------------------------------------

static int listening = -1;

static int try_client(void)
{
    struct sockaddr_in address;
    socklen_t bytes = sizeof address;
    if (getsockname(listening, (struct sockaddr *)&address, &bytes) != 0) {
        return 1;
    }
    const int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return end < 0 ||
           (connect(end, (struct sockaddr *)&address, bytes) != 0 && errno != EINPROGRESS);
}

static void *say_yes(void *user)
{
    *(int *)user = 1;
    return NULL;
}

static int try_thread(void)
{
    pthread_t thread;
    int said = 0;
    return pthread_create(&thread, NULL, say_yes, &said) != 0 || pthread_join(thread, NULL) != 0 ||
           said != 1;
}

static int try_datagram(void)
{
    return socket(AF_INET, SOCK_DGRAM, 0) < 0;
}

static int try_netlink(void)
{
    return socket(AF_NETLINK, SOCK_RAW, 0) < 0;
}

static int try_vfork_like(void)
{
    // A new process that shares the memory would be one all the same.
    return syscall(SYS_clone, CLONE_VM | SIGCHLD, NULL, NULL, NULL, NULL) < 0 && errno == EPERM;
}

static int try_clone3_again(void)
{
    return syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS;
}

TEST(a_client_connects_and_has_threads)
{
    JailConfig jail = config();
    jail.clients = true;
    listening = socket(AF_INET, SOCK_STREAM, 0);
    const struct sockaddr_in loopback = {.sin_family = AF_INET,
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    REQUIRE(bind(listening, (const struct sockaddr *)&loopback, sizeof loopback) == 0);
    REQUIRE(listen(listening, 4) == 0);
    CHECK_INT(in_jail_of(&jail, try_client), DONE);
    CHECK_INT(in_jail(try_client), REFUSED);
    CHECK_INT(in_jail_of(&jail, try_thread), DONE);
    close(listening);
}

TEST(a_client_can_do_nothing_else)
{
    JailConfig jail = config();
    jail.clients = true;
    static int (*const others[])(void) = {try_datagram, try_netlink, try_vfork_like,
                                          try_clone3_again};
    static int (*const theirs[])(void) = {try_socket, try_connect, try_clone3};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CHECK_INT(in_jail_of(&jail, others[i]), REFUSED);
    }
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        bool allowed = false;
        for (size_t k = 0; k < sizeof theirs / sizeof theirs[0]; k++) {
            allowed |= attempts[i].attempt == theirs[k];
        }
        const int said = allowed ? REFUSED : in_jail_of(&jail, attempts[i].attempt);
        if (said != REFUSED) {
            test_fail(__FILE__, __LINE__, "%s: the child says %d", attempts[i].name, said);
        }
    }
}

// --- options of sockets -------------------------------------------------------------------------

static int given = -1; // a TCP socket that was open before

static int option_refused(int level, int name, const void *value, socklen_t bytes)
{
    return setsockopt(given, level, name, value, bytes) != 0 && errno == EPERM;
}
static int try_bind_to_device(void)
{
    return option_refused(SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
}
static int try_ip_options(void)
{
    return option_refused(IPPROTO_IP, IP_OPTIONS, "", 0);
}
static int try_mark(void)
{
    const int mark = 1;
    return option_refused(SOL_SOCKET, SO_MARK, &mark, sizeof mark);
}
static int try_attach_filter(void)
{
    return option_refused(SOL_SOCKET, SO_ATTACH_FILTER, "", 0);
}
static int try_send_buffer(void)
{
    const int bytes = 1 << 20;
    return option_refused(SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}
static int try_no_delay(void)
{
    const int one = 1;
    return option_refused(IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}
static int try_read_peer(void)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    return getsockopt(given, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 && errno == EPERM;
}
static int try_read_error(void)
{
    int error;
    socklen_t bytes = sizeof error;
    return getsockopt(given, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 && errno == EPERM;
}

TEST(options_of_sockets_are_few)
{
    static int (*const never[])(void) = {try_bind_to_device, try_ip_options,  try_mark,
                                         try_attach_filter,  try_send_buffer, try_read_peer};
    JailConfig client = config();
    client.clients = true;
    given = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(given >= 0);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
        CHECK_INT(in_jail(never[i]), REFUSED);
        CHECK_INT(in_jail_of(&client, never[i]), REFUSED);
        CHECK_INT(in_runtime_jail(never[i]), REFUSED);
    }
    CHECK_INT(in_jail(try_no_delay), REFUSED); // the host has done it
    CHECK_INT(in_jail(try_read_error), REFUSED);
    CHECK_INT(in_jail_of(&client, try_no_delay), DONE);
    CHECK_INT(in_jail_of(&client, try_read_error), DONE);
    close(given);
}

// --- seen from outside --------------------------------------------------------------------------

typedef struct Held {
    pid_t pid;
    int hold; // closed: it ends
} Held;

// A child that is locked in and waits.
static bool hold_in_jail(const JailConfig *jail, Held *out)
{
    int ready[2], hold[2];
    fflush(NULL);
    if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(hold, O_CLOEXEC) != 0) {
        return false;
    }
    const pid_t child = fork();
    if (child == 0) {
        uint32_t layers;
        char reason[200], byte = 1;
        close(hold[1]);
        if (jail_enter(jail, &layers, reason, sizeof reason) == STATUS_OK &&
            write(ready[1], &byte, 1) == 1) {
            (void)!read(hold[0], &byte, 1);
        }
        _exit(0);
    }
    close(ready[1]);
    close(hold[0]);
    char byte = 0;
    const bool is_held = child > 0 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    *out = (Held){child, hold[1]};
    return is_held;
}

static void let_go(const Held *held)
{
    int status;
    close(held->hold);
    waitpid(held->pid, &status, 0);
}

TEST(no_capability_is_left_to_get)
{
    static const char *const sets[] = {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"};
    const JailConfig jail = config();
    Held held;
    char path[64], line[256];
    uint32_t seen = 0;
    REQUIRE(hold_in_jail(&jail, &held));
    snprintf(path, sizeof path, "/proc/%d/status", (int)held.pid);
    FILE *file = fopen(path, "re");
    REQUIRE(file != NULL);
    const bool can_drop = geteuid() == 0 || (jail_layers_here() & JAIL_NAMESPACES) != 0;
    while (fgets(line, sizeof line, file) != NULL) {
        for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
            if (strncmp(line, sets[i], strlen(sets[i])) == 0) {
                const uint64_t bits = strtoull(line + strlen(sets[i]), NULL, 16);
                CHECK_INT(can_drop || i != 3 ? bits : 0, 0);
                seen += 1;
            }
        }
    }
    fclose(file);
    let_go(&held);
    CHECK_INT(seen, 5);
}

// Takes the empty file system away and looks again: 0 when nothing was hidden by it.
static int look_below(int mounts)
{
    struct stat about;
    struct statfs top;
    if (setns(mounts, CLONE_NEWNS) != 0 || stat("/etc", &about) == 0 || statfs("/", &top) != 0 ||
        top.f_type != TMPFS_MAGIC || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        return 1;
    }
    const bool is_uncovered = umount2("/", MNT_DETACH) == 0;
    return is_uncovered && setns(mounts, CLONE_NEWNS) == 0 && stat("/etc", &about) == 0 ? 2 : 0;
}

// A process that escapes from the empty root, by a kernel bug or as root by setns, finds nothing:
// the system's files are not mounted there.
TEST(the_old_root_is_not_below)
{
    const JailConfig jail = config();
    Held held;
    char path[64];
    const bool is_empty_here = (jail_layers_here() & JAIL_EMPTY_ROOT) != 0;
    if (geteuid() != 0 || !is_empty_here) {
        printf("skip  the_old_root_is_not_below: %s\n",
               is_empty_here
                   ? "only root may look into the mounts of a process that cannot be dumped"
                   : "no empty root can be had here");
        return;
    }
    REQUIRE(hold_in_jail(&jail, &held));
    snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)held.pid);
    const int mounts = open(path, O_RDONLY | O_CLOEXEC);
    REQUIRE(mounts >= 0);
    const pid_t child = fork();
    if (child == 0) {
        _exit(look_below(mounts));
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_INT(WEXITSTATUS(status), 0);
    close(mounts);
    let_go(&held);
}

// A container that allows namespaces and no mounts.
static void forbid_mounts(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    const bool forbids =
        filter != NULL &&
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(mount), 0) == 0 &&
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fsopen), 0) == 0 &&
        seccomp_load(filter) == 0;
    seccomp_release(filter);
    if (!forbids) {
        _exit(1);
    }
}

TEST(a_root_that_is_not_empty_is_no_layer)
{
    for (int i = 0; i < 2; i++) {
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            uint32_t layers = 0;
            char reason[200] = "", words[200];
            JailConfig jail = config();
            jail.allow_weak = i == 0;
            forbid_mounts();
            const Status status = jail_enter(&jail, &layers, reason, sizeof reason);
            jail_layers_describe(layers, words, sizeof words);
            const bool right = jail.allow_weak
                                   ? status == STATUS_OK && (layers & JAIL_EMPTY_ROOT) == 0 &&
                                         strstr(words, "empty root") != NULL
                                   : status == STATUS_DENIED && strstr(reason, "\"") != NULL;
            _exit(right ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK_INT(status, 0);
    }
}

TEST(every_layer_that_is_here_is_used)
{
    const uint32_t here = jail_layers_here();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        uint32_t layers = 0;
        char reason[200];
        const JailConfig jail = config();
        const Status status = jail_enter(&jail, &layers, reason, sizeof reason);
        _exit(status == STATUS_OK ? (int)layers : 255);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_INT(WEXITSTATUS(status) & (int)here, here);
    printf("layers here:");
    for (uint32_t layer = 1; layer < JAIL_LAYERS_ALL; layer <<= 1) {
        printf(" %s %s%s", jail_layer_name((JailLayer)layer), (here & layer) != 0 ? "yes" : "NO",
               layer == JAIL_SECCOMP ? "\n" : ",");
    }
}

TEST(a_missing_layer_is_an_error_unless_allowed)
{
    const uint32_t missing = JAIL_LAYERS_ALL & ~jail_layers_here();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        uint32_t layers = 0;
        char reason[200] = "";
        JailConfig jail = config();
        jail.allow_weak = false;
        const Status status = jail_enter(&jail, &layers, reason, sizeof reason);
        const bool right =
            missing == 0 ? status == STATUS_OK
                         : status == STATUS_DENIED && strstr(reason, "--allow-weak-jail") != NULL;
        _exit(right ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK_INT(status, 0);
}

// --- the terminal -------------------------------------------------------------------------------

static int terminal; // the side of the person

static int try_listen(void)
{
    char typed;
    for (int i = 0; i <= 2; i++) {
        if (read(i, &typed, 1) > 0) {
            return 0;
        }
    }
    return write(2, "said", 4) == 4 ? 1 : 0;
}

TEST(what_a_person_types_stays_with_us)
{
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    REQUIRE(other >= 0);
    CHECK_INT(write(terminal, "secret\n", 7), 7);
    int kept[3];
    for (int i = 0; i <= 2; i++) {
        kept[i] = dup(i);
        dup2(other, i);
    }
    const int said = in_jail(try_listen);
    for (int i = 0; i <= 2; i++) {
        dup2(kept[i], i);
        close(kept[i]);
    }
    CHECK_INT(said, REFUSED);
    char seen[64] = "";
    CHECK(read(terminal, seen, sizeof seen - 1) > 0); // its echo, and the output of the child
    CHECK(strstr(seen, "said") != NULL);
    close(other);
    close(terminal);
}

// --- processes ----------------------------------------------------------------------------------

TEST(a_process_gets_its_descriptors_and_nothing_else)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const char *const arguments[] = {"sh", "-c", "exec ls /proc/self/fd >&3", NULL};
    const ProcessConfig start = {.program = "/bin/sh",
                                 .arguments = arguments,
                                 .descriptors = {ends[1]},
                                 .descriptor_count = 1};
    Process process;
    REQUIRE(process_start(&start, &process) == STATUS_OK);
    close(ends[1]);
    int code = -1;
    process_wait(&process, &code);
    char text[100] = "";
    const ssize_t bytes = read(ends[0], text, sizeof text - 1);
    CHECK(bytes > 0);
    CHECK_INT(code, 0);
    CHECK_TEXT(text, "0\n1\n2\n3\n4\n"); // the last is the folder that ls looks into
    close(ends[0]);
}

TEST(a_process_has_an_empty_environment)
{
    int ends[2];
    REQUIRE(setenv("SANDLOT_MODEL_KEY", "a secret", 1) == 0 && pipe(ends) == 0);
    const char *const arguments[] = {"sh", "-c", "cat /proc/$$/environ >&3", NULL};
    const ProcessConfig start = {.program = "/bin/sh",
                                 .arguments = arguments,
                                 .descriptors = {ends[1]},
                                 .descriptor_count = 1};
    Process process;
    REQUIRE(process_start(&start, &process) == STATUS_OK);
    close(ends[1]);
    int code = -1;
    process_wait(&process, &code);
    char text[200] = "";
    CHECK(read(ends[0], text, sizeof text - 1) >= 0);
    CHECK_INT(code, 0);
    CHECK_TEXT(text, SANITIZED ? "ASAN_OPTIONS=detect_leaks=0" : "");
    CHECK(!SANITIZED || text[strlen(text) + 1] == '\0'); // and nothing after it
    close(ends[0]);
    unsetenv("SANDLOT_MODEL_KEY");
}

// What a child writes to its standard error, as it comes out of ours.
static void hear(const char *script, char *out, size_t bytes)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    fflush(NULL);
    const int kept = dup(2);
    dup2(ends[1], 2);
    close(ends[1]);
    const char *const arguments[] = {"sh", "-c", script, NULL};
    const ProcessConfig start = {.program = "/bin/sh", .arguments = arguments};
    Process process;
    const Status status = process_start(&start, &process);
    int code = -1;
    if (status == STATUS_OK) {
        process_wait(&process, &code);
    }
    dup2(kept, 2);
    close(kept);
    REQUIRE(status == STATUS_OK && code == 0);
    size_t used = 0;
    for (ssize_t got = 1; got > 0; used += (size_t)got) {
        got = read(ends[0], out + used, bytes - 1 - used);
        REQUIRE(got >= 0);
    }
    out[used] = '\0';
    close(ends[0]);
}

TEST(a_child_speaks_but_not_to_the_terminal)
{
    char text[200];
    hear("printf 'a\\033[31mb\\tc\\303\\274\\302\\233d\\177\\233e\\n' >&2", text, sizeof text);
    CHECK_TEXT(text, "a?[31mb\tc\xc3\xbc??d??e\n");
    hear("read -r line <&2 || echo deaf >&2", text, sizeof text);
    CHECK(strstr(text, "deaf") != NULL);
}

TEST(how_a_process_ended)
{
    const char *const arguments[] = {"sh", "-c", "exit 7", NULL};
    const char *const forever[] = {"sh", "-c", "exec sleep 100", NULL};
    ProcessConfig start = {.program = "/bin/sh", .arguments = arguments};
    Process process;
    int code = -1;
    REQUIRE(process_start(&start, &process) == STATUS_OK);
    process_wait(&process, &code);
    CHECK_INT(code, 7);
    start.arguments = forever;
    REQUIRE(process_start(&start, &process) == STATUS_OK);
    CHECK(!process_ended(&process, &code));
    process_kill(&process, SIGKILL);
    process_wait(&process, &code);
    CHECK_INT(code, 128 + SIGKILL);
    CHECK(process_ended(&process, &code));
}
