// cgroup v2 by its files, see cgroup.h. Every setting is one short write, and the result of that
// write is the kernel's answer.
#define _GNU_SOURCE
#include "server/sys/cgroup.h"

#include "core/base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERIOD_US  100000 // the period for which the processor time is counted
#define TEXT_BYTES 4096
#define OWN_CHILD  "host"

// --- files --------------------------------------------------------------------------------------

static bool join(char out[CGROUP_PATH_BYTES], const char *folder, const char *child,
                 const char *file)
{
    const int bytes =
        snprintf(out, CGROUP_PATH_BYTES, "%s%s%s%s%s", folder, child != NULL ? "/sandlot-" : "",
                 child != NULL ? child : "", file != NULL ? "/" : "", file != NULL ? file : "");
    return bytes > 0 && bytes < CGROUP_PATH_BYTES;
}

// False with errno.
static bool write_setting(const char *folder, const char *child, const char *file,
                          const char *format, ...)
{
    char path[CGROUP_PATH_BYTES], text[64];
    va_list values;
    va_start(values, format);
    const int bytes = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    ASSERT(bytes > 0 && bytes < (int)sizeof text);
    const int opened = join(path, folder, child, file) ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (opened < 0) {
        return false;
    }
    const bool is_put = write(opened, text, (size_t)bytes) == bytes;
    const int problem = errno;
    close(opened);
    errno = problem;
    return is_put;
}

static bool read_small_file(const char *path, char text[TEXT_BYTES])
{
    const int opened = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t bytes = opened >= 0 ? read(opened, text, TEXT_BYTES - 1) : -1;
    text[bytes > 0 ? bytes : 0] = '\0';
    if (opened >= 0) {
        close(opened);
    }
    return bytes >= 0;
}

static bool read_file(const char *folder, const char *file, char text[TEXT_BYTES])
{
    char path[CGROUP_PATH_BYTES];
    return join(path, folder, NULL, file) && read_small_file(path, text);
}

static bool has_word(const char *text, const char *word)
{
    const size_t bytes = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        const bool is_begin = at == text || at[-1] == ' ' || at[-1] == '\n';
        if (is_begin && strchr(" \n", at[bytes]) != NULL) {
            return true;
        }
    }
    return false;
}

// --- where we are -------------------------------------------------------------------------------

// "0::/path" in /proc/self/cgroup is the v2 cgroup.
static bool find_path(char out[CGROUP_PATH_BYTES])
{
    char text[TEXT_BYTES];
    if (!read_small_file("/proc/self/cgroup", text)) {
        return false;
    }
    const char *line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
    if (line == NULL) {
        return false;
    }
    line = strchr(line, '/');
    return line != NULL && snprintf(out, CGROUP_PATH_BYTES, "%.*s", (int)strcspn(line, "\n"),
                                    line) < CGROUP_PATH_BYTES;
}

// The fifth field of a line of mountinfo is the mount point; the file system's type follows " - ".
static bool find_mount(char out[CGROUP_PATH_BYTES])
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[TEXT_BYTES];
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found =
            strstr(line, " - cgroup2 ") != NULL && sscanf(line, "%*s %*s %*s %*s %1023s", out) == 1;
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}
_Static_assert(CGROUP_PATH_BYTES == 1024, "the width in find_mount");

Status cgroup_find(char out[CGROUP_PATH_BYTES], char *reason, size_t bytes)
{
    char mount[CGROUP_PATH_BYTES], path[CGROUP_PATH_BYTES];
    if (!find_mount(mount) || !find_path(path) ||
        snprintf(out, CGROUP_PATH_BYTES, "%s%s", mount, strcmp(path, "/") == 0 ? "" : path) >=
            CGROUP_PATH_BYTES) {
        snprintf(reason, bytes, "there is no cgroup v2");
        return STATUS_NOT_FOUND;
    }
    return STATUS_OK;
}

// --- ours ---------------------------------------------------------------------------------------

static Status cgroup_unusable(char *reason, size_t bytes, const char *why)
{
    snprintf(reason, bytes, "%s", why);
    return STATUS_DENIED;
}

static Status check_own(const char *own, char *reason, size_t bytes)
{
    char path[CGROUP_PATH_BYTES], text[TEXT_BYTES], alone[32];
    if (!join(path, own, NULL, "cgroup.type") || access(path, F_OK) != 0) {
        return cgroup_unusable(reason, bytes, "this is the cgroup of the whole system");
    }
    if (access(own, W_OK) != 0 || !join(path, own, NULL, "cgroup.subtree_control") ||
        access(path, W_OK) != 0) {
        return cgroup_unusable(reason, bytes, "the cgroup is not writable; systemd: Delegate=yes");
    }
    snprintf(alone, sizeof alone, "%d\n", (int)getpid());
    if (!read_file(own, "cgroup.procs", text) || strcmp(text, alone) != 0) {
        return cgroup_unusable(reason, bytes, "other programs run in the same cgroup");
    }
    return STATUS_OK;
}

static bool turn_on(const char *own, const char *available, const char *controller)
{
    return has_word(available, controller) &&
           write_setting(own, NULL, "cgroup.subtree_control", "+%s", controller);
}

static void move_back(const char *own)
{
    (void)write_setting(own, NULL, "cgroup.procs", "%d", (int)getpid());
    char path[CGROUP_PATH_BYTES];
    if (join(path, own, OWN_CHILD, NULL)) {
        (void)rmdir(path);
    }
}

static bool make_child(const char *own, const char *name)
{
    char path[CGROUP_PATH_BYTES];
    return join(path, own, name, NULL) && (mkdir(path, 0755) == 0 || errno == EEXIST);
}

Status cgroup_open(const char *own, Cgroup *out, char *reason, size_t bytes)
{
    char available[TEXT_BYTES];
    const Status status = check_own(own, reason, bytes);
    if (status != STATUS_OK) {
        return status;
    }
    if (!make_child(own, OWN_CHILD) ||
        !write_setting(own, OWN_CHILD, "cgroup.procs", "%d", (int)getpid())) {
        move_back(own);
        return cgroup_unusable(reason, bytes, "this process may not be moved to another cgroup");
    }
    Cgroup cgroup = {.own = ""};
    (void)read_file(own, "cgroup.controllers", available);
    cgroup.has_cpu = turn_on(own, available, "cpu");
    cgroup.has_memory = turn_on(own, available, "memory");
    cgroup.has_processes = turn_on(own, available, "pids");
    if (!cgroup.has_cpu && !cgroup.has_memory && !cgroup.has_processes) {
        move_back(own);
        return cgroup_unusable(reason, bytes,
                               "the cgroup has none of the controllers cpu, memory and pids");
    }
    snprintf(cgroup.own, sizeof cgroup.own, "%s", own);
    *out = cgroup;
    return STATUS_OK;
}

Status cgroup_bound(const Cgroup *cgroup, const char *name, const CgroupLimits *limits, pid_t pid)
{
    const char *own = cgroup->own;
    ASSERT(own[0] != '\0' && pid > 0);
    const bool is_bound =
        make_child(own, name) &&
        (!cgroup->has_cpu ||
         write_setting(own, name, "cpu.max", "%" PRIu32 " %d",
                       limits->cpu_percent_max * (PERIOD_US / 100), PERIOD_US)) &&
        (!cgroup->has_memory || limits->memory_bytes_max == 0 ||
         write_setting(own, name, "memory.max", "%" PRIu64, limits->memory_bytes_max)) &&
        (!cgroup->has_processes ||
         write_setting(own, name, "pids.max", "%" PRIu32, limits->process_max)) &&
        write_setting(own, name, "cgroup.procs", "%d", (int)pid);
    return is_bound ? STATUS_OK : STATUS_DENIED;
}

void cgroup_remove(const Cgroup *cgroup, const char *name)
{
    char path[CGROUP_PATH_BYTES];
    if (cgroup->own[0] != '\0' && join(path, cgroup->own, name, NULL)) {
        (void)rmdir(path); // one that is still in use is removed by the next start
    }
}

void cgroup_close(Cgroup *cgroup)
{
    if (cgroup->own[0] != '\0') {
        static const char *const all[] = {"-cpu", "-memory", "-pids"};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            (void)write_setting(cgroup->own, NULL, "cgroup.subtree_control", "%s", all[i]);
        }
        move_back(cgroup->own);
        cgroup->own[0] = '\0';
    }
}
