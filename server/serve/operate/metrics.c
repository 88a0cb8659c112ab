// See metrics.h. One family after the other, each with its help and type, as the format wants it.
#include "server/serve/operate/metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COUNTER "counter"
#define GAUGE   "gauge"

static void print(ByteWriter *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void print(ByteWriter *writer, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int bytes = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (bytes > 0 && (size_t)bytes < sizeof line) {
        byte_write_bytes(writer, line, (size_t)bytes);
    }
}

static void begin_metric(ByteWriter *writer, const char *name, const char *type, const char *help)
{
    print(writer, "# HELP sandlot_%s %s.\n# TYPE sandlot_%s %s\n", name, help, name, type);
}

static void number(ByteWriter *writer, const char *name, const char *type, const char *help,
                   uint64_t value)
{
    begin_metric(writer, name, type, help);
    print(writer, "sandlot_%s %" PRIu64 "\n", name, value);
}

static void seconds(ByteWriter *writer, const char *name, const char *type, const char *help,
                    uint64_t microseconds)
{
    begin_metric(writer, name, type, help);
    print(writer, "sandlot_%s %" PRIu64 ".%06" PRIu64 "\n", name, microseconds / 1000000,
          microseconds % 1000000);
}

// --- of each world ------------------------------------------------------------------------------

// One word for a label.
static const char *refusal_name(HostRefusal refusal)
{
    static const char *const names[REFUSED_COUNT] = {[REFUSED_NO_WORLD] = "no_world",
                                                     [REFUSED_NO_PLACE] = "no_place",
                                                     [REFUSED_ENDING] = "ending",
                                                     [REFUSED_CROWD] = "crowd",
                                                     [REFUSED_FULL] = "full",
                                                     [REFUSED_ELSEWHERE] = "elsewhere",
                                                     [REFUSED_DISK] = "disk",
                                                     [REFUSED_FAILING] = "failing",
                                                     [REFUSED_UNAVAILABLE] = "unavailable",
                                                     [REFUSED_LATE] = "late",
                                                     [REFUSED_DRAINING] = "draining",
                                                     [REFUSED_BANNED] = "banned",
                                                     [REFUSED_FORBIDDEN] = "forbidden",
                                                     [REFUSED_WORLD_FULL] = "world_full",
                                                     [REFUSED_QUOTA] = "quota",
                                                     [REFUSED_ADDRESS] = "address",
                                                     [REFUSED_PLACE_FULL] = "place_full",
                                                     [REFUSED_UNCERTAIN] = "uncertain"};
    return names[refusal] != NULL ? names[refusal] : "other";
}

typedef uint64_t (*WorldValue)(const MetricsWorld *world, size_t offset);

static uint64_t value_of_stats(const MetricsWorld *world, size_t offset)
{
    return *(const uint64_t *)((const char *)world->stats + offset);
}

static uint64_t value_of_world(const MetricsWorld *world, size_t offset)
{
    return *(const uint64_t *)((const char *)world + offset);
}

static uint64_t value_of_ready(const MetricsWorld *world, size_t offset)
{
    (void)offset;
    return world->ready;
}

static void world_family(const Metrics *metrics, ByteWriter *writer, const char *name,
                         const char *type, const char *help, WorldValue value, size_t offset)
{
    char full[96];
    if (strstr(name, "_seconds_sum") != NULL) {
        return; // of the histogram
    }
    snprintf(full, sizeof full, "world_%s", name);
    begin_metric(writer, full, type, help);
    const bool is_time = strstr(name, "seconds") != NULL;
    for (uint32_t i = 0; i < metrics->world_count; i++) {
        const uint64_t number = value(&metrics->worlds[i], offset);
        print(writer, "sandlot_%s{world=\"%s\"} %" PRIu64, full, metrics->worlds[i].world_id,
              is_time ? number / 1000000 : number);
        if (is_time) {
            print(writer, ".%06" PRIu64, number % 1000000);
        }
        print(writer, "\n");
    }
}

static void histogram_of(const MetricsWorld *world, const char *name, const uint64_t *buckets,
                         uint64_t sum_us, ByteWriter *writer)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < HOST_TIME_BUCKETS; i++) {
        count += buckets[i];
        print(writer, "sandlot_%s_bucket{world=\"%s\",le=\"", name, world->world_id);
        if (i < HOST_TIME_BUCKETS - 1) {
            print(writer, "%g", (double)host_time_bounds_us[i] / 1e6);
        } else {
            print(writer, "+Inf");
        }
        print(writer, "\"} %" PRIu64 "\n", count);
    }
    print(writer, "sandlot_%s_sum{world=\"%s\"} %.6f\n", name, world->world_id,
          (double)sum_us / 1e6);
    print(writer, "sandlot_%s_count{world=\"%s\"} %" PRIu64 "\n", name, world->world_id, count);
}

static void histograms(const Metrics *metrics, ByteWriter *writer)
{
#define TIME_PRINT(field, name, help)                                                              \
    begin_metric(writer, "world_" name, "histogram", help);                                        \
    for (uint32_t i = 0; i < metrics->world_count; i++) {                                          \
        const HostStats *stats = metrics->worlds[i].stats;                                         \
        histogram_of(&metrics->worlds[i], "world_" name, stats->field, stats->field##_us, writer); \
    }
    HOST_TIMES(TIME_PRINT)
#undef TIME_PRINT
}

static void world_numbers(const Metrics *metrics, ByteWriter *writer)
{
    world_family(metrics, writer, "ready", GAUGE, "Whether the world runs", value_of_ready, 0);
    world_family(metrics, writer, "epoch", GAUGE, "Epoch of the lease", value_of_world,
                 offsetof(MetricsWorld, epoch));
    world_family(metrics, writer, "starts_total", COUNTER, "Starts of the world process",
                 value_of_world, offsetof(MetricsWorld, starts));
    world_family(metrics, writer, "crashes_total", COUNTER,
                 "Ends of the world process that nobody asked for", value_of_world,
                 offsetof(MetricsWorld, crashes));
    world_family(metrics, writer, "kills_total", COUNTER, "Ends because it was stuck or flooded",
                 value_of_world, offsetof(MetricsWorld, kills));
    world_family(metrics, writer, "resident_bytes", GAUGE, "Memory of the world process",
                 value_of_world, offsetof(MetricsWorld, resident_bytes));
#define STATS_PRINT(field, kind, name, help) \
    world_family(metrics, writer, name, kind, help, value_of_stats, offsetof(HostStats, field));
    HOST_STATS(STATS_PRINT)
#undef STATS_PRINT
    histograms(metrics, writer);
}

// --- of the host --------------------------------------------------------------------------------

static void joins_refused(const HostCounts *counts, ByteWriter *writer)
{
    begin_metric(writer, "joins_refused_total", COUNTER, "Joins that got no ticket, by why");
    for (uint32_t i = REFUSED_NOT + 1; i < REFUSED_COUNT; i++) {
        print(writer, "sandlot_joins_refused_total{why=\"%s\"} %" PRIu64 "\n",
              refusal_name((HostRefusal)i), counts->joins_refused[i]);
    }
}

static void host_numbers(const Metrics *metrics, ByteWriter *writer)
{
    const HostCounts *counts = &metrics->counts;
    number(writer, "worlds", GAUGE, "Worlds that this host knows", metrics->worlds_known);
    number(writer, "worlds_running", GAUGE, "Worlds that run", metrics->worlds_running);
    number(writer, "processes_started_total", COUNTER, "World processes started", counts->starts);
    number(writer, "processes_crashed_total", COUNTER,
           "World processes that ended and nobody had asked for it", counts->crashes);
    number(writer, "processes_killed_total", COUNTER,
           "World processes ended because they were stuck or flooded", counts->kills);
    number(writer, "sockets_passed_total", COUNTER, "WebSockets handed to worlds",
           counts->sockets_passed);
    number(writer, "sockets_refused_total", COUNTER, "WebSockets for which there was no room",
           counts->sockets_refused);
    number(writer, "tickets_given_total", COUNTER, "Tickets given", counts->tickets_given);
    number(writer, "tickets_admitted_total", COUNTER, "Tickets admitted", counts->tickets_admitted);
    number(writer, "tickets_refused_total", COUNTER, "Tickets refused", counts->tickets_refused);
    joins_refused(counts, writer);
    number(writer, "saves_lost_total", COUNTER, "Saves that never reached the disk",
           counts->saves_lost + counts->requests_lost);
    number(writer, "lease_renewals_total", COUNTER, "Renewals of the host's lease",
           counts->renewals);
    number(writer, "lease_renewals_failed_total", COUNTER, "Renewals that failed",
           counts->renewals_failed);
    number(writer, "player_moves_total", COUNTER, "Players who came from another world of a place",
           counts->moves_waited);
    number(writer, "player_moves_late_total", COUNTER,
           "Those let in before everything of the other world was stored", counts->moves_late);
    seconds(writer, "host_cpu_seconds_total", COUNTER, "Processor time of the host",
            metrics->host_cpu_us);
}

static void store_numbers(const Metrics *metrics, ByteWriter *writer)
{
    const StoreStats *store = &metrics->store;
    number(writer, "store_commits_total", COUNTER, "Commits", store->commits);
    number(writer, "store_rows_total", COUNTER, "Rows written", store->rows);
    number(writer, "store_bytes_total", COUNTER, "Bytes of rows written", store->bytes);
    number(writer, "store_refused_total", COUNTER, "Batches refused", store->refused);
    number(writer, "store_disk_errors_total", COUNTER, "Times the disk refused",
           store->disk_errors);
    number(writer, "store_disk_refuses", GAUGE, "Whether the disk refuses now",
           store->disk_refuses);
    number(writer, "disk_free_bytes", GAUGE, "Room on the disk of the data folder",
           metrics->disk.free_bytes);
    number(writer, "disk_bytes", GAUGE, "Size of that disk", metrics->disk.total_bytes);
    number(writer, "store_repaired_total", COUNTER, "Sets of profiles repaired", store->repaired);
    number(writer, "store_damaged_total", COUNTER, "Rows that are not what was written",
           store->damaged);
    number(writer, "store_waiting_bytes", GAUGE, "Bytes not committed yet", store->bytes_waiting);
    seconds(writer, "store_commit_last_seconds", GAUGE, "Length of the last commit",
            (uint64_t)(store->commit_ms_last * 1000));
    seconds(writer, "store_commit_max_seconds", GAUGE, "Length of the longest commit",
            (uint64_t)(store->commit_ms_max * 1000));
}

static void http_numbers(const Metrics *metrics, ByteWriter *writer)
{
    const HttpStats *http = &metrics->http;
    const WorkPoolStats *pool = &metrics->pool;
    number(writer, "http_requests_total", COUNTER, "HTTP requests", http->requests);
    number(writer, "http_waiting", GAUGE, "Requests that wait for an answer", http->waiting);
    number(writer, "http_waiting_peak", GAUGE, "Most requests that waited at once",
           http->waiting_peak);
    number(writer, "http_deferred_total", COUNTER, "Requests that were answered later",
           http->deferred);
    number(writer, "http_busy_total", COUNTER, "Requests refused because too many waited",
           http->waiting_refused);
    number(writer, "http_too_large_total", COUNTER, "Bodies that were too large",
           http->bodies_too_large);
    number(writer, "http_too_slow_total", COUNTER, "Connections cut because they were too slow",
           http->too_slow);
    number(writer, "http_misdirected_total", COUNTER, "Requests for a Host that is not ours",
           http->misdirected);
    number(writer, "http_sockets", GAUGE, "WebSockets that are open and counted by address",
           http->sockets);
    number(writer, "http_sockets_refused_total", COUNTER,
           "WebSockets refused because their address had too many", http->sockets_refused);
    number(writer, "pool_threads", GAUGE, "Threads for work that blocks", pool->threads);
    number(writer, "pool_running", GAUGE, "Jobs that run", pool->running);
    number(writer, "pool_waiting", GAUGE, "Jobs that wait", pool->waiting);
    number(writer, "pool_waiting_peak", GAUGE, "Most jobs that waited at once", pool->waiting_peak);
    number(writer, "pool_done_total", COUNTER, "Jobs done", pool->done);
    number(writer, "pool_refused_total", COUNTER, "Jobs refused because the queue was full",
           pool->refused);
    seconds(writer, "pool_run_seconds_total", COUNTER, "Time that jobs took", pool->run_us);
    seconds(writer, "pool_wait_seconds_total", COUNTER, "Time that jobs waited", pool->wait_us);
}

// Of people.
static void account_numbers(const Metrics *metrics, ByteWriter *writer)
{
    const ControlStats *control = &metrics->control;
    number(writer, "sign_ins", GAUGE, "Sign-ins that are valid", control->sign_ins);
    number(writer, "sign_ins_made_total", COUNTER, "Sign-ins made", control->made);
    number(writer, "sign_ins_ended_total", COUNTER, "Sign-ins ended", control->ended);
    number(writer, "sign_ins_refused_total", COUNTER, "Requests with a token that is none",
           control->refused);
    number(writer, "visits_total", COUNTER, "Players let into worlds, for the listing",
           metrics->listing.visits);
    number(writer, "visits_lost_total", COUNTER, "Those that could not be stored",
           metrics->listing.visits_lost);
    number(writer, "draining", GAUGE, "Whether no worlds are started any more", metrics->draining);
}

// Of drafts that are edited.
static void edit_numbers(const Metrics *metrics, ByteWriter *writer)
{
    const EditNumbers *edit = &metrics->edit;
    number(writer, "edit_drafts", GAUGE, "Drafts that are open for editing", edit->drafts);
    number(writer, "edit_editors", GAUGE, "Pages that edit them", edit->editors);
    number(writer, "edit_process_starts_total", COUNTER, "Edit processes started", edit->starts);
    number(writer, "edit_process_deaths_total", COUNTER, "Those that ended before they should",
           edit->deaths);
    number(writer, "edit_commits_total", COUNTER, "Batches of transactions stored", edit->commits);
    seconds(writer, "edit_commit_seconds_total", COUNTER, "Time that storing them took",
            edit->commit_us);
#define EDIT_NUMBER(name, help) \
    number(writer, "edit_" #name "_total", COUNTER, help, edit->counts.name);
    EDIT_COUNTS(EDIT_NUMBER)
#undef EDIT_NUMBER
}

// The labels are bounded: routes are a table, and of statuses only the first digit is told.
static void route_numbers(const Metrics *metrics, ByteWriter *writer)
{
    begin_metric(writer, "http_responses_total", COUNTER, "Answers, by route and class of status");
    for (uint32_t i = 0; i <= metrics->route_count; i++) {
        const HttpRoute *route = i < metrics->route_count ? &metrics->routes[i] : NULL;
        for (uint32_t class = 0; class < HTTP_STATUS_CLASSES; class ++) {
            const uint64_t count = http_answer_count(metrics->server, i, class);
            if (count > 0) {
                print(writer,
                      "sandlot_http_responses_total{method=\"%s\",route=\"%s\",class=\"%uxx\"} "
                      "%" PRIu64 "\n",
                      route != NULL ? route->method : "", route != NULL ? route->path : "other",
                      class + 1, count);
            }
        }
    }
}

void metrics_write(const Metrics *metrics, ByteWriter *writer)
{
    host_numbers(metrics, writer);
    world_numbers(metrics, writer);
    store_numbers(metrics, writer);
    http_numbers(metrics, writer);
    account_numbers(metrics, writer);
    edit_numbers(metrics, writer);
    if (metrics->server != NULL) {
        route_numbers(metrics, writer);
    }
}
