// The real link to a world process (host_link.h): its channel, its process, its cgroup and its
// journal.
#pragma once

#include "server/host/host_bounds.h"
#include "server/host/host_world.h"
#include "server/serve/journal_writer.h"

typedef struct LinkConfig {
    int epoll; // gets the link's descriptors, with the link as their pointer
    const HostBounds *bounds;
    JournalWriter *journals; // NULL: none
    const char *journal;     // a file; with `many` a folder
    uint64_t journal_bytes;
    bool many;
    bool allow_weak_jail;
} LinkConfig;

// The config is kept.
MUST_USE Status link_process_start(const LinkConfig *config, HostWorld *world, HostLink **out);
HostWorld *link_process_world(const HostLink *link);
pid_t link_process_pid(const HostLink *link);
