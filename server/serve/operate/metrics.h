// The text of /metrics, in the form that Prometheus reads.
#pragma once

#include "core/base/bytes.h"
#include "server/channel/stats.h"
#include "server/control/control.h"
#include "server/host/host.h"
#include "server/net/http.h"
#include "server/serve/edit/edit_numbers.h"
#include "server/serve/listing/listing_feed.h"
#include "server/sys/disk.h"

#define METRICS_WORLDS_MAX 1000 // that are told one by one

typedef struct MetricsWorld {
    const char *world_id; // [A-Za-z0-9_-]
    bool ready;
    uint64_t epoch;
    uint64_t starts, crashes, kills; // of its process
    uint64_t resident_bytes;         // 0: not known
    const HostStats *stats;
} MetricsWorld;

typedef struct Metrics {
    MetricsWorld worlds[METRICS_WORLDS_MAX]; // that have a process
    uint32_t world_count;
    uint64_t worlds_known, worlds_running;
    HostCounts counts;
    uint64_t host_cpu_us;
    StoreStats store;
    DiskSpace disk; // of the data folder
    HttpStats http;
    WorkPoolStats pool;
    ControlStats control;
    ListingFeedStats listing;
    EditNumbers edit;
    bool draining;
    HttpServer *server; // for its counts by route; NULL: none
    const HttpRoute *routes;
    uint32_t route_count;
} Metrics;

void metrics_write(const Metrics *metrics, ByteWriter *writer);
