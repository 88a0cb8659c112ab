// The layers of the jail, outermost first; see jail.h. Each says by itself whether this kernel has
// it, so that one missing layer neither hides another nor goes unnoticed.
#define _GNU_SOURCE
#include "server/sys/jail.h"

#include "core/base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

JailConfig jail_config_default(void)
{
    return (JailConfig){
        .memory_bytes_max = 4ull << 30, .descriptor_max = 8192, .uid = NOBODY, .gid = NOBODY};
}

const char *jail_layer_name(JailLayer layer)
{
    switch (layer) {
    case JAIL_NAMESPACES:
        return "namespaces";
    case JAIL_LIMITS:
        return "limits";
    case JAIL_IDENTITY:
        return "identity";
    case JAIL_NO_PRIVILEGES:
        return "no new privileges";
    case JAIL_LANDLOCK:
        return "landlock";
    case JAIL_SECCOMP:
        return "seccomp";
    case JAIL_LAYERS_ALL:
        break;
    }
    return "?";
}

// --- namespaces ---------------------------------------------------------------------------------

static int namespace_flags(bool network)
{
    const int flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | (network ? 0 : CLONE_NEWNET);
    return geteuid() == 0 ? flags : flags | CLONE_NEWUSER;
}

// An empty folder for a root, so that there is no path to ask about. A file system that forbids
// mounts to a namespace of its own (some containers) leaves the old one, which Landlock guards.
static void leave_files(void)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("none", "/tmp", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k") ==
            0 &&
        chroot("/tmp") == 0) {
        (void)!chdir("/");
    }
}

static bool enter_namespaces(const JailConfig *config)
{
    if (unshare(namespace_flags(config->clients)) != 0) {
        return false;
    }
    if (config->kind == JAIL_SEALED) {
        leave_files();
    }
    return true;
}

// --- limits -------------------------------------------------------------------------------------

static bool limit(int resource, rlim_t value)
{
    const struct rlimit both = {value, value};
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_max < value) {
        return true; // lower already
    }
    return setrlimit((__rlimit_resource_t)resource, &both) == 0;
}

static bool enter_limits(const JailConfig *config)
{
    return (config->memory_bytes_max == 0 || limit(RLIMIT_AS, config->memory_bytes_max)) &&
           limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, config->descriptor_max) &&
           (config->clients || config->kind == JAIL_RUNTIME || // threads count as processes
            limit(RLIMIT_NPROC, 0));
}

// --- identity -----------------------------------------------------------------------------------

static bool enter_identity(const JailConfig *config)
{
    if (geteuid() != 0) {
        return getuid() != 0;
    }
    return setgroups(0, NULL) == 0 && setresgid(config->gid, config->gid, config->gid) == 0 &&
           setresuid(config->uid, config->uid, config->uid) == 0 && setuid(0) != 0;
}

static bool enter_no_privileges(void)
{
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// --- Landlock -----------------------------------------------------------------------------------

static int landlock_version(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

// What can be reached gets the rights; what cannot needs none.
static bool give(int ruleset, const char *path, uint64_t rights)
{
    const int opened = open(path, O_PATH | O_CLOEXEC);
    if (opened < 0) {
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    }
    struct stat about;
    const bool is_known = fstat(opened, &about) == 0;
    if (is_known && S_ISDIR(about.st_mode)) {
        rights |= LANDLOCK_ACCESS_FS_READ_DIR;
    }
    const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = opened};
    const bool given = is_known && syscall(SYS_landlock_add_rule, ruleset,
                                           LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(opened);
    return given;
}

static bool give_all(int ruleset, const char *const *paths, uint64_t rights)
{
    for (uint32_t i = 0; paths != NULL && paths[i] != NULL; i++) {
        if (!give(ruleset, paths[i], rights)) {
            return false;
        }
    }
    return true;
}

// Every right that files have is handled, and none is given but what a runtime names.
static bool enter_landlock(const JailConfig *config)
{
    const struct landlock_ruleset_attr rules = {
        .handled_access_fs = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                             LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR |
                             LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                             LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
                             LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                             LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                             LANDLOCK_ACCESS_FS_MAKE_SYM};
    const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (ruleset < 0) {
        return false;
    }
    const uint64_t read = LANDLOCK_ACCESS_FS_READ_FILE;
    const bool given = config->kind != JAIL_RUNTIME ||
                       (give_all(ruleset, config->readable, read) &&
                        give_all(ruleset, config->executable, read | LANDLOCK_ACCESS_FS_EXECUTE));
    const bool held = given && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
    close(ruleset);
    return held;
}

// --- seccomp ------------------------------------------------------------------------------------

// What a world does: talk on sockets it was given, wait, know the time, take memory, end.
static const int allowed[] = {
    SCMP_SYS(read),         SCMP_SYS(write),
    SCMP_SYS(readv),        SCMP_SYS(writev),
    SCMP_SYS(sendmsg),      SCMP_SYS(recvmsg),
    SCMP_SYS(sendto),       SCMP_SYS(recvfrom),
    SCMP_SYS(shutdown),     SCMP_SYS(close),
    SCMP_SYS(fstat),        SCMP_SYS(newfstatat),
    SCMP_SYS(lseek),        SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),  SCMP_SYS(epoll_pwait2),
    SCMP_SYS(epoll_ctl),    SCMP_SYS(poll),
    SCMP_SYS(ppoll),        SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),    SCMP_SYS(gettimeofday),
    SCMP_SYS(getrusage),    SCMP_SYS(brk),
    SCMP_SYS(munmap),       SCMP_SYS(mremap),
    SCMP_SYS(madvise),      SCMP_SYS(futex),
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(exit),         SCMP_SYS(exit_group),
    SCMP_SYS(getrandom),    SCMP_SYS(getpid),
    SCMP_SYS(gettid),       SCMP_SYS(restart_syscall),
    SCMP_SYS(sched_yield),  SCMP_SYS(setsockopt),
    SCMP_SYS(getsockopt),   SCMP_SYS(sched_getaffinity),
};

// What a runtime does besides: read files by name, and be a program with threads.
static const int allowed_runtime[] = {
    SCMP_SYS(statx),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(getcwd),
    SCMP_SYS(getdents64),
    SCMP_SYS(pread64),
    SCMP_SYS(mmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(capget),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getppid),
    SCMP_SYS(pipe2),
    SCMP_SYS(eventfd2),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(membarrier),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
};

static bool allow_all(scmp_filter_ctx filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0) != 0) {
            return false;
        }
    }
    return true;
}
#define ALLOW_ALL(filter, calls) allow_all(filter, calls, sizeof(calls) / sizeof((calls)[0]))

static bool allow_if(scmp_filter_ctx filter, int call, struct scmp_arg_cmp condition)
{
    return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &condition) == 0;
}

// execve is there for the one program that the process is about to become. A filter cannot count:
// that it stays the only one is Landlock's work, which knows what may be run.
static bool add_runtime_rules(scmp_filter_ctx filter)
{
    const scmp_datum_t writes =
        O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE ^ O_DIRECTORY);
    const struct scmp_arg_cmp reads_only = {2, SCMP_CMP_MASKED_EQ, writes, O_RDONLY};
    const struct scmp_arg_cmp is_thread = {0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD};
    const struct scmp_arg_cmp no_new_limit = {2, SCMP_CMP_EQ, 0, 0};
    const struct scmp_arg_cmp set_name = {0, SCMP_CMP_EQ, PR_SET_NAME, 0};
    const struct scmp_arg_cmp get_close = {1, SCMP_CMP_EQ, F_GETFD, 0};
    const struct scmp_arg_cmp set_close = {1, SCMP_CMP_EQ, F_SETFD, 0};
    const struct scmp_arg_cmp close_on_exec = {1, SCMP_CMP_EQ, FIOCLEX, 0};
    return ALLOW_ALL(filter, allowed_runtime) && allow_if(filter, SCMP_SYS(openat), reads_only) &&
           allow_if(filter, SCMP_SYS(clone), is_thread) &&
           allow_if(filter, SCMP_SYS(prlimit64), no_new_limit) &&
           allow_if(filter, SCMP_SYS(prctl), set_name) &&
           allow_if(filter, SCMP_SYS(fcntl), get_close) &&
           allow_if(filter, SCMP_SYS(fcntl), set_close) &&
           allow_if(filter, SCMP_SYS(ioctl), close_on_exec) &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(execve), 0) == 0 &&
           // The C library makes threads with clone where there is no clone3, whose flags a filter
           // cannot see.
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

static bool add_rules(scmp_filter_ctx filter, const JailConfig *config)
{
    // Memory, but never memory that can be executed.
    const struct scmp_arg_cmp no_exec = {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
    // fcntl to look at descriptors and make them not block, not to duplicate or to lease.
    const struct scmp_arg_cmp get_flags = {1, SCMP_CMP_EQ, F_GETFL, 0};
    const struct scmp_arg_cmp set_flags = {1, SCMP_CMP_EQ, F_SETFL, 0};
    // The death of the process itself by abort().
    const struct scmp_arg_cmp self = {0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0};
    const bool is_runtime = config->kind == JAIL_RUNTIME;
    return ALLOW_ALL(filter, allowed) &&
           (is_runtime ? add_runtime_rules(filter)
                       : allow_if(filter, SCMP_SYS(mmap), no_exec) &&
                             allow_if(filter, SCMP_SYS(mprotect), no_exec)) &&
           allow_if(filter, SCMP_SYS(fcntl), get_flags) &&
           allow_if(filter, SCMP_SYS(fcntl), set_flags) &&
           allow_if(filter, SCMP_SYS(tgkill), self) &&
           seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(ptrace), 0) == 0;
}

// Besides that what a client does: connect, wait for many sockets, and have a thread that asks.
static const int client_calls[] = {
    SCMP_SYS(connect),         SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    SCMP_SYS(epoll_create1),   SCMP_SYS(eventfd2),    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime), SCMP_SYS(rseq),        SCMP_SYS(set_robust_list),
};

static bool add_client_rules(scmp_filter_ctx filter)
{
    // TCP and nothing else; another thread and no other process. The newer call hides its flags
    // from us: libraries take the older one when they are told that there is no newer.
    const struct scmp_arg_cmp four[] = {{0, SCMP_CMP_EQ, AF_INET, 0},
                                        {1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_STREAM}};
    const struct scmp_arg_cmp six[] = {{0, SCMP_CMP_EQ, AF_INET6, 0},
                                       {1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_STREAM}};
    const struct scmp_arg_cmp thread = {0, SCMP_CMP_MASKED_EQ, CLONE_VM | CLONE_THREAD,
                                        CLONE_VM | CLONE_THREAD};
    return ALLOW_ALL(filter, client_calls) &&
           seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2, four) == 0 &&
           seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 2, six) == 0 &&
           seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, &thread) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

static bool enter_seccomp(const JailConfig *config)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (filter == NULL) {
        return false;
    }
    const bool held = add_rules(filter, config) && (!config->clients || add_client_rules(filter)) &&
                      seccomp_load(filter) == 0;
    seccomp_release(filter);
    return held;
}

// --- the terminal -------------------------------------------------------------------------------

// A terminal is open both ways: whoever may write an error to it could read what a person types.
static bool close_ears(void)
{
    bool closed = true;
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        char path[32];
        snprintf(path, sizeof path, "/proc/self/fd/%d", i);
        if (!isatty(i)) {
            continue;
        }
        const int mouth = i == STDIN_FILENO ? open("/dev/null", O_RDONLY | O_CLOEXEC)
                                            : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
        closed = closed && mouth >= 0 && dup2(mouth, i) == i;
        close(mouth);
    }
    return closed;
}

// --- all of it ----------------------------------------------------------------------------------

static bool enter_layer(const JailConfig *config, JailLayer layer)
{
    switch (layer) {
    case JAIL_NAMESPACES:
        return enter_namespaces(config);
    case JAIL_LIMITS:
        return enter_limits(config);
    case JAIL_IDENTITY:
        return enter_identity(config);
    case JAIL_NO_PRIVILEGES:
        return enter_no_privileges();
    case JAIL_LANDLOCK:
        return enter_landlock(config);
    case JAIL_SECCOMP:
        return enter_seccomp(config);
    case JAIL_LAYERS_ALL:
        break;
    }
    return false;
}

Status jail_enter(const JailConfig *config, uint32_t *layers, char *reason, size_t bytes)
{
    uint32_t held = 0;
    if (!close_ears()) {
        snprintf(reason, bytes, "the terminal cannot be made one to write to alone (%s)",
                 strerror(errno));
        return STATUS_DENIED;
    }
    for (uint32_t layer = 1; layer < JAIL_LAYERS_ALL; layer <<= 1) {
        errno = 0;
        if (enter_layer(config, (JailLayer)layer)) {
            held |= layer;
            continue;
        }
        // These two are the jail: without them nothing is locked.
        const bool mandatory = layer == JAIL_SECCOMP || layer == JAIL_NO_PRIVILEGES;
        if (!config->allow_weak || mandatory) {
            snprintf(reason, bytes, "the jail's layer \"%s\" cannot be had here (%s)%s",
                     jail_layer_name((JailLayer)layer), strerror(errno),
                     mandatory ? "" : "; --allow-weak-jail goes on without it");
            return STATUS_DENIED;
        }
    }
    *layers = held;
    return STATUS_OK;
}

uint32_t jail_layers_here(void)
{
    // Namespaces are tried in a child, because trying is doing.
    uint32_t layers = JAIL_LIMITS | JAIL_IDENTITY | JAIL_NO_PRIVILEGES;
    layers |= landlock_version() > 0 ? JAIL_LANDLOCK : 0;
    layers |= prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 ? JAIL_SECCOMP : 0;
    const pid_t child = fork();
    if (child == 0) {
        _exit(unshare(namespace_flags(false)) == 0 ? 0 : 1);
    }
    int status = 1;
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0) {
        layers |= JAIL_NAMESPACES;
    }
    return layers;
}
