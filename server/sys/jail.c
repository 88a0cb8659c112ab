// The layers of the jail, outermost first; see jail.h. Each reports by itself whether this kernel
// supports it, so that one missing layer neither hides another nor goes unnoticed.
#define _GNU_SOURCE
#include "server/sys/jail.h"

#include "core/base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

#define NOBODY           65534
#define CAPABILITIES_MAX 64   // as many as fit into the sets of the kernel
#define CLIMB_MAX        4096 // folders above the root directory; a path has at most PATH_MAX bytes

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
    case JAIL_EMPTY_ROOT:
        return "empty root";
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

static bool enter_namespaces(const JailConfig *config)
{
    return unshare(namespace_flags(config->clients)) == 0;
}

// --- an empty root ------------------------------------------------------------------------------

// A new, empty file system. It is mounted nowhere, so this needs no folder to mount it on, and
// works whether or not the root directory is a mount point.
static int open_empty(void)
{
    const int made = fsopen("tmpfs", FSOPEN_CLOEXEC);
    int mounted = -1;
    if (made >= 0 && fsconfig(made, FSCONFIG_SET_STRING, "size", "4k", 0) == 0 &&
        fsconfig(made, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0) {
        mounted =
            fsmount(made, FSMOUNT_CLOEXEC,
                    MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    }
    if (made >= 0) {
        close(made);
    }
    return mounted;
}

// From the old root up to the top of the mount namespace. In a chroot these are two folders. The
// root of this process is elsewhere by now, so nothing stops ".." at the old one.
static bool climb_to_top(int old_root)
{
    if (fchdir(old_root) != 0) {
        return false;
    }
    for (uint32_t i = 0; i < CLIMB_MAX; i++) {
        struct statx here, above;
        if (statx(AT_FDCWD, ".", 0, STATX_INO | STATX_MNT_ID, &here) != 0 || chdir("..") != 0 ||
            statx(AT_FDCWD, ".", 0, STATX_INO | STATX_MNT_ID, &above) != 0) {
            return false;
        }
        if (here.stx_ino == above.stx_ino && here.stx_mnt_id == above.stx_mnt_id) {
            return true;
        }
    }
    return false;
}

// Replaces everything mounted by the empty file system. The mounts must be private first, or they
// would be unmounted for the rest of the system too.
static bool detach_old_root(int empty, int old_root)
{
    return climb_to_top(old_root) && chroot(".") == 0 &&
           mount(NULL, ".", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           move_mount(empty, "", AT_FDCWD, ".", MOVE_MOUNT_F_EMPTY_PATH) == 0 &&
           fchdir(empty) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
           umount2(".", MNT_DETACH) == 0 && chroot(".") == 0;
}

// Afterwards no path exists, and the system's files are not even mounted for this process. On
// failure the caller reports that this layer is missing.
static bool enter_empty_root(void)
{
    const int old_root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int empty = open_empty();
    const bool is_empty = old_root >= 0 && empty >= 0 && fchdir(empty) == 0 && chroot(".") == 0;
    const bool is_detached = is_empty && detach_old_root(empty, old_root);
    const int problem = errno;
    if (is_empty && !is_detached && fchdir(empty) == 0) {
        (void)!chroot("."); // at least no file can be named
    }
    for (int i = 0; i < 2; i++) {
        const int descriptor = i == 0 ? old_root : empty;
        if (descriptor >= 0) {
            close(descriptor);
        }
    }
    errno = problem;
    return is_detached;
}

// --- limits -------------------------------------------------------------------------------------

static bool limit(int resource, rlim_t value)
{
    const struct rlimit both = {value, value};
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)resource, &now) == 0 && now.rlim_max < value) {
        return true; // it is lower already
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

// No program that is started later can get a capability back: not from its file (bounding set), not
// from us (ambient set). A process that may not drop them has none to pass on.
static bool drop_bounding_set(void)
{
    for (unsigned long number = 0; number < CAPABILITIES_MAX; number++) {
        const int has = prctl(PR_CAPBSET_READ, number, 0, 0, 0);
        if (has < 0) {
            break; // the kernel has no more
        }
        if (has == 1 && prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0) {
            return false;
        }
    }
    return prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == 0;
}

static bool has_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    return syscall(SYS_capget, &header, sets) != 0 || sets[0].effective != 0 ||
           sets[1].effective != 0;
}

static bool drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    return syscall(SYS_capset, &header, none) == 0;
}

static bool become_nobody(const JailConfig *config)
{
    return setgroups(0, NULL) == 0 && setresgid(config->gid, config->gid, config->gid) == 0 &&
           setresuid(config->uid, config->uid, config->uid) == 0 && setuid(0) != 0;
}

// An ordinary user has every capability in a user namespace of its own, and none outside.
static bool enter_identity(const JailConfig *config)
{
    return (!has_capabilities() || drop_bounding_set()) &&
           (geteuid() == 0 ? become_nobody(config) : getuid() != 0) && drop_capabilities();
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

// Grants the rights to an existing path; a missing one needs none.
static bool allow_path(int ruleset, const char *path, uint64_t rights)
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
        if (!allow_path(ruleset, paths[i], rights)) {
            return false;
        }
    }
    return true;
}

// All file rights are restricted; only the paths that a runtime names get some.
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

// The system calls of a world: use the sockets it was given, wait, read the clock, take memory,
// exit. It sets no socket options: the host has set them before it passed the socket.
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
    SCMP_SYS(sched_yield),  SCMP_SYS(sched_getaffinity),
};

// The additional calls of a runtime: read files by name, and run a program with threads.
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

// Socket options by name: others could route packets elsewhere, or read the rights of a process.
typedef struct SocketOption {
    int level, name;
} SocketOption;

static bool allow_options(scmp_filter_ctx filter, int call, const SocketOption *options,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct scmp_arg_cmp both[] = {
            {1, SCMP_CMP_EQ, (scmp_datum_t)options[i].level, 0},
            {2, SCMP_CMP_EQ, (scmp_datum_t)options[i].name, 0},
        };
        if (seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 2, both) != 0) {
            return false;
        }
    }
    return true;
}
#define ALLOW_OPTIONS(filter, call, options) \
    allow_options(filter, call, options, sizeof(options) / sizeof((options)[0]))

// Node queries the type of its streams.
static const SocketOption runtime_reads[] = {{SOL_SOCKET, SO_TYPE}, {SOL_SOCKET, SO_ERROR}};

// execve is allowed for the one program that the process is about to become. A seccomp filter
// cannot count calls: Landlock, which restricts which files may be executed, makes sure that it
// stays the only one.
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
           ALLOW_OPTIONS(filter, SCMP_SYS(getsockopt), runtime_reads) &&
           allow_if(filter, SCMP_SYS(clone), is_thread) &&
           allow_if(filter, SCMP_SYS(prlimit64), no_new_limit) &&
           allow_if(filter, SCMP_SYS(prctl), set_name) &&
           allow_if(filter, SCMP_SYS(fcntl), get_close) &&
           allow_if(filter, SCMP_SYS(fcntl), set_close) &&
           allow_if(filter, SCMP_SYS(ioctl), close_on_exec) &&
           seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(execve), 0) == 0 &&
           // Without clone3, whose flags a filter cannot see, the C library creates threads with
           // clone.
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0;
}

static bool add_rules(scmp_filter_ctx filter, const JailConfig *config)
{
    // Memory, but never memory that can be executed.
    const struct scmp_arg_cmp no_exec = {2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
    // fcntl to read flags and make descriptors non-blocking, not to duplicate or lease.
    const struct scmp_arg_cmp get_flags = {1, SCMP_CMP_EQ, F_GETFL, 0};
    const struct scmp_arg_cmp set_flags = {1, SCMP_CMP_EQ, F_SETFL, 0};
    // The process may kill itself by abort().
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

// The additional calls of a client: connect, wait for many sockets, and one more thread.
static const int client_calls[] = {
    SCMP_SYS(connect),         SCMP_SYS(getsockname), SCMP_SYS(getpeername),
    SCMP_SYS(epoll_create1),   SCMP_SYS(eventfd2),    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime), SCMP_SYS(rseq),        SCMP_SYS(set_robust_list),
};

static const SocketOption client_reads[] = {{SOL_SOCKET, SO_ERROR}};
static const SocketOption client_sets[] = {
    {IPPROTO_TCP, TCP_NODELAY}, {SOL_SOCKET, SO_TIMESTAMPNS}, {SOL_SOCKET, SO_RCVBUF},
    {SOL_SOCKET, SO_RCVTIMEO},  {SOL_SOCKET, SO_SNDTIMEO},
};

static bool add_client_rules(scmp_filter_ctx filter)
{
    // Only TCP; threads but no processes. A filter cannot see the flags of clone3: libraries use
    // clone if they are told that clone3 does not exist.
    const struct scmp_arg_cmp four[] = {{0, SCMP_CMP_EQ, AF_INET, 0},
                                        {1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_STREAM}};
    const struct scmp_arg_cmp six[] = {{0, SCMP_CMP_EQ, AF_INET6, 0},
                                       {1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_STREAM}};
    const struct scmp_arg_cmp thread = {0, SCMP_CMP_MASKED_EQ, CLONE_VM | CLONE_THREAD,
                                        CLONE_VM | CLONE_THREAD};
    return ALLOW_ALL(filter, client_calls) &&
           ALLOW_OPTIONS(filter, SCMP_SYS(getsockopt), client_reads) &&
           ALLOW_OPTIONS(filter, SCMP_SYS(setsockopt), client_sets) &&
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

// A terminal is open in both directions: a process that may write errors to it could read what a
// person types.
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
    case JAIL_EMPTY_ROOT:
        return enter_empty_root();
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

uint32_t jail_layers_of(JailKind kind)
{
    return kind == JAIL_RUNTIME ? JAIL_LAYERS_ALL & ~(uint32_t)JAIL_EMPTY_ROOT : JAIL_LAYERS_ALL;
}

Status jail_enter(const JailConfig *config, uint32_t *layers, char *reason, size_t bytes)
{
    uint32_t held = 0;
    if (!close_ears()) {
        snprintf(reason, bytes, "the terminal cannot be made write-only (%s)", strerror(errno));
        return STATUS_DENIED;
    }
    for (uint32_t layer = 1; layer < JAIL_LAYERS_ALL; layer <<= 1) {
        errno = 0;
        if ((jail_layers_of(config->kind) & layer) == 0) {
            continue;
        }
        // Without a namespace of its own it would change the mounts of the whole system.
        const bool is_possible = layer != JAIL_EMPTY_ROOT || (held & JAIL_NAMESPACES) != 0;
        if (is_possible && enter_layer(config, (JailLayer)layer)) {
            held |= layer;
            continue;
        }
        // These two are mandatory: without them nothing is locked.
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

// Trying means doing it, so call this in a child process.
static uint32_t try_namespaces(void)
{
    if (unshare(namespace_flags(false)) != 0) {
        return 0;
    }
    return enter_empty_root() ? JAIL_NAMESPACES | JAIL_EMPTY_ROOT : JAIL_NAMESPACES;
}

uint32_t jail_layers_here(void)
{
    uint32_t layers = JAIL_LIMITS | JAIL_IDENTITY | JAIL_NO_PRIVILEGES;
    layers |= landlock_version() > 0 ? JAIL_LANDLOCK : 0;
    layers |= prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 ? JAIL_SECCOMP : 0;
    const pid_t child = fork();
    if (child == 0) {
        _exit((int)try_namespaces());
    }
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)) {
        layers |= (uint32_t)WEXITSTATUS(status);
    }
    return layers;
}

void jail_layers_describe(uint32_t held, char *out, size_t bytes)
{
    size_t at = 0;
    out[0] = '\0';
    for (uint32_t layer = 1; layer < JAIL_LAYERS_ALL; layer <<= 1) {
        if ((held & layer) == 0 && at < bytes) {
            at += (size_t)snprintf(out + at, bytes - at, "%s%s", at > 0 ? ", " : "without ",
                                   jail_layer_name((JailLayer)layer));
        }
    }
    if (at == 0) {
        snprintf(out, bytes, "all layers");
    }
}
