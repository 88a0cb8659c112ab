// Bounds on the processor time, memory and number of processes of a child, by cgroup v2. It works
// only where the system has given this process a cgroup of its own (systemd: Delegate=yes; most
// containers): one that is writable, and in which nobody else runs. Elsewhere there is a reason in
// words, nothing is changed, and the caller says so.
//
//   OWN/                the cgroup in which this process was started
//   OWN/sandlot-host    this process, once it is ready: a cgroup with processes in it can give its
//                       children no controllers
//   OWN/sandlot-NAME    each child with its bounds
#pragma once

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CGROUP_PATH_BYTES 1024

typedef struct CgroupLimits {
    uint64_t memory_bytes_max; // 0: no bound
    uint32_t cpu_percent_max;  // 100: one processor
    uint32_t process_max;
} CgroupLimits;

typedef struct Cgroup {
    char own[CGROUP_PATH_BYTES]; // empty: there is none
    bool has_cpu, has_memory, has_processes;
} Cgroup;

// Finds the folder of the cgroup v2 of this process.
MUST_USE Status cgroup_find(char out[CGROUP_PATH_BYTES], char *reason, size_t bytes);
// Moves this process into a child and enables the controllers. On failure everything is as before.
MUST_USE Status cgroup_open(const char *own, Cgroup *out, char *reason, size_t bytes);
// Puts a process into a child cgroup with these limits, creating it if needed.
MUST_USE Status cgroup_bound(const Cgroup *cgroup, const char *name, const CgroupLimits *limits,
                             pid_t pid);
void cgroup_remove(const Cgroup *cgroup, const char *name); // its processes must have ended
// Moves this process back.
void cgroup_close(Cgroup *cgroup);
