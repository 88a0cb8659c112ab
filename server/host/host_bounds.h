// How much of the machine a world process may use: memory by what its place asks for, processor
// time by a cgroup where the system has delegated one. The numbers are in core/base/limits.h.
#pragma once

#include "server/sys/cgroup.h"

#include <stdint.h>
#include <sys/types.h>

// What the size of a world depends on.
typedef struct WorldNeed {
    uint32_t player_max, entity_max, json_session_max;
    uint64_t place_bytes;     // of both forms of the place
    uint64_t beginning_bytes; // stored rows and scripts that it begins with
} WorldNeed;

// Address space. Everything is taken before the first tick, so a world that starts has enough.
uint64_t world_memory_bytes(const WorldNeed *need);

// How many worlds such a machine may run at once: an idle one takes 30 to 60 MiB and little time,
// and when many of them are played in, their players wait for the cores.
uint32_t world_max_of(uint64_t memory_bytes, uint32_t cores);
uint32_t world_max_here(void);

typedef struct HostBounds {
    Cgroup cgroup;    // own is empty: none
    char missing[96]; // why there is none
} HostBounds;
#define HOST_BOUNDS_NAME_BYTES 48 // of one world process's cgroup

// Before any other process is started: those would stand in the way.
void host_bounds_open(HostBounds *bounds);
// Before the process does anything. False: it is not bound, and must not go on.
bool host_bounds_apply(const HostBounds *bounds, const char *name, uint64_t memory_bytes,
                       pid_t pid);
void host_bounds_remove(const HostBounds *bounds, const char *name); // that process has ended
// "cgroup: cpu memory pids", or that there is none and why.
void host_bounds_describe(const HostBounds *bounds, char *out, size_t bytes);
void host_bounds_close(HostBounds *bounds); // all of them have
