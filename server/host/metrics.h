// The text of /metrics, in the form that Prometheus reads.
#pragma once

#include "core/base/bytes.h"
#include "server/channel/stats.h"
#include "server/net/http.h"
#include "server/store/store.h"

typedef struct Metrics {
    const char *world_id; // [A-Za-z0-9_-]
    bool ready;
    uint64_t epoch;
    uint64_t starts; // of the world process
    uint64_t crashes, kills;
    uint64_t sockets_passed, sockets_refused;
    uint64_t tickets_given, tickets_admitted, tickets_refused;
    uint64_t resident_bytes; // of the world process; 0: not known
    uint64_t host_cpu_us;
    HostStats world;
    StoreStats store;
    HttpStats http;
    WorkPoolStats pool;
} Metrics;

void metrics_write(const Metrics *metrics, ByteWriter *writer);
