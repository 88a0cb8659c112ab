// See host_bounds.h.
#define _GNU_SOURCE
#include "server/host/host_bounds.h"

#include "core/base/limits.h"
#include "server/channel/channel.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

uint64_t world_memory_bytes(const WorldNeed *need)
{
    const uint64_t sockets = world_socket_max(need->player_max);
    return WORLD_MEMORY_BASE_BYTES + need->player_max * WORLD_MEMORY_PLAYER_BYTES +
           need->entity_max * WORLD_MEMORY_ENTITY_BYTES +
           need->json_session_max * WORLD_MEMORY_JSON_BYTES + sockets * WORLD_MEMORY_SOCKET_BYTES +
           need->place_bytes * WORLD_MEMORY_PLACE_TIMES +
           need->beginning_bytes * WORLD_MEMORY_BEGINNING_TIMES;
}

#define WORLD_SHARE_BYTES (64ull << 20)
#define WORLDS_PER_CORE   100
#define WORLDS_MIN        4

uint32_t world_max_of(uint64_t memory_bytes, uint32_t cores)
{
    const uint64_t by_memory = memory_bytes / WORLD_SHARE_BYTES;
    const uint64_t by_cores = (uint64_t)cores * WORLDS_PER_CORE;
    const uint64_t most = by_memory < by_cores ? by_memory : by_cores;
    return most < WORLDS_MIN ? WORLDS_MIN : most < 4096 ? (uint32_t)most : 4096;
}

uint32_t world_max_here(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return world_max_of(pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0,
                        cores > 0 ? (uint32_t)cores : 1);
}

void host_bounds_open(HostBounds *bounds)
{
    char own[CGROUP_PATH_BYTES];
    *bounds = (HostBounds){.missing = ""};
    Status status = cgroup_find(own, bounds->missing, sizeof bounds->missing);
    if (status == STATUS_OK) {
        status = cgroup_open(own, &bounds->cgroup, bounds->missing, sizeof bounds->missing);
    }
    if (status != STATUS_OK) {
        bounds->cgroup.own[0] = '\0';
    }
}

bool host_bounds_apply(const HostBounds *bounds, const char *name, uint64_t memory_bytes, pid_t pid)
{
    // A sanitizer keeps several bytes for each one of ours.
    const CgroupLimits limits = {.memory_bytes_max = SANITIZED ? 0 : memory_bytes,
                                 .cpu_percent_max = WORLD_CPU_PERCENT_MAX,
                                 .process_max = 1};
    return bounds->cgroup.own[0] == '\0' ||
           cgroup_bound(&bounds->cgroup, name, &limits, pid) == STATUS_OK;
}

void host_bounds_describe(const HostBounds *bounds, char *out, size_t bytes)
{
    const Cgroup *cgroup = &bounds->cgroup;
    if (cgroup->own[0] == '\0') {
        snprintf(out, bytes, "no cgroup (%s)", bounds->missing);
        return;
    }
    snprintf(out, bytes, "cgroup:%s%s%s", cgroup->has_cpu ? " cpu" : "",
             cgroup->has_memory ? " memory" : "", cgroup->has_processes ? " pids" : "");
}

void host_bounds_remove(const HostBounds *bounds, const char *name)
{
    if (bounds->cgroup.own[0] != '\0') {
        cgroup_remove(&bounds->cgroup, name);
    }
}

void host_bounds_close(HostBounds *bounds)
{
    if (bounds->cgroup.own[0] != '\0') {
        cgroup_close(&bounds->cgroup);
    }
}
