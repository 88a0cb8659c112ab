// See dev.h. A thread waits for changes and has the queue build them, as a save over HTTP does. So
// there is one way from a file to a world, with one builder, whose worker and TypeScript process
// stay warm.
#define _GNU_SOURCE
#include "server/serve/place/dev.h"

#include "server/build/base/diagnostic.h"
#include "server/build/pipeline/build_show.h"
#include "server/build/pipeline/build_watch.h"
#include "server/serve/place/place_build.h"
#include "server/sys/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define COSTS_MS      5000u
#define COSTS_SHOWN   3
#define COST_LEAST_US 500.0 // a second; what costs less is not worth a line
#define COST_CHANGE   1.5   // how much more or less is worth a line
#define REASON_BYTES  256

typedef struct DevCost {
    char path[SCRIPT_PATH_BYTES];
    double us; // a second
} DevCost;

typedef struct Dev {
    pthread_t thread;
    bool has_thread;
    atomic_bool cancel;
    _Atomic uint64_t changed_ns; // when the change was seen that is being built; 0: none

    // The main thread's.
    uint64_t costs_ns, costs_tick; // of what `spent` was
    ScriptRow spent[SCRIPT_STATS_ROWS];
    uint32_t spent_count;
    DevCost shown[COSTS_SHOWN];
    uint32_t shown_count;
} Dev;

static const char *folder_of(const Serve *serve)
{
    return serve->config.places[0];
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    diagnostic_print(stdout, "dev   %s", text);
    fflush(stdout);
}

// --- watching -----------------------------------------------------------------------------------

static void build(Serve *serve)
{
    char id[JOB_ID_BYTES];
    bool joined;
    JobQueue *queue = serve_jobs(serve);
    JobStatus *status = malloc(sizeof *status);
    // With the data elsewhere nothing is written into the place.
    const Status started =
        queue != NULL && status != NULL
            ? job_start_for(queue, &(JobWish){.place = folder_of(serve), .warm = true}, id, &joined)
            : STATUS_LIMIT;
    if (started != STATUS_OK) {
        say("not built: %s", status_text(started));
    } else {
        status_ignore(job_wait(queue, id, JOB_MS_MAX, status));
    }
    free(status);
}

// The watch begins before the folder is read, so that no change in between is missed.
static void *run_thread(void *user)
{
    Serve *serve = user;
    Dev *dev = serve->dev;
    char reason[REASON_BYTES];
    while (!atomic_load(&dev->cancel)) {
        BuildWatch watch;
        if (build_watch_open(&watch, folder_of(serve), reason, sizeof reason) != STATUS_OK) {
            say("changes are not seen any more: %s", reason);
            break;
        }
        build(serve); // also what was changed since the start
        build_watch_wait(&watch, &dev->cancel);
        atomic_store(&dev->changed_ns, watch.changed_ns);
        build_watch_close(&watch);
    }
    return NULL;
}

bool dev_wait(const Serve *serve)
{
    BuildWatch watch;
    char reason[REASON_BYTES];
    if (build_watch_open(&watch, folder_of(serve), reason, sizeof reason) != STATUS_OK) {
        say("%s", reason);
        return false;
    }
    say("the world starts when this is mended; Ctrl-C stops it");
    build_watch_wait(&watch, serve->cancel);
    build_watch_close(&watch);
    return !atomic_load(serve->cancel);
}

Status dev_open(Serve *serve)
{
    if (!serve->config.dev) {
        return STATUS_OK;
    }
    Dev *dev = calloc(1, sizeof *dev);
    if (dev == NULL) {
        return STATUS_LIMIT;
    }
    serve->dev = dev;
    dev->has_thread = pthread_create(&dev->thread, NULL, run_thread, serve) == 0;
    return dev->has_thread ? STATUS_OK : STATUS_LIMIT;
}

void dev_close(Serve *serve)
{
    Dev *dev = serve->dev;
    if (dev == NULL) {
        return;
    }
    atomic_store(&dev->cancel, true);
    job_queue_stop(serve->jobs); // the thread may wait for one
    if (dev->has_thread) {
        pthread_join(dev->thread, NULL);
    }
    free(dev);
    serve->dev = NULL;
}

// --- what became of a change --------------------------------------------------------------------

void dev_built(Serve *serve, const JobStatus *status, const BuildResult *result)
{
    if (!serve->config.dev || status->state == JOB_CANCELLED) {
        return;
    }
    build_show_diagnostics(&result->diagnostics, folder_of(serve));
    if (status->state == JOB_FAILED) {
        say("not built: %s; the world runs on as it was", status->reason);
    }
}

static unsigned ms_since(const Serve *serve, const PlaceReload *reload)
{
    const uint64_t seen = atomic_exchange(&serve->dev->changed_ns, 0);
    const uint64_t since = seen != 0 ? seen : reload->since_ns;
    return (unsigned)((clock_ns() - since) / 1000000);
}

void dev_reloaded(Serve *serve, const PlaceReload *reload)
{
    const JobReload *result = &reload->result;
    if (serve->dev == NULL) {
        return;
    }
    switch (result->state) {
    case JOB_RELOADED:
        say("reloaded in %u ms: version %u, %u %s (built in %u ms)", ms_since(serve, reload),
            result->manifest_version, result->worlds, result->worlds == 1 ? "world" : "worlds",
            reload->build_ms);
        break;
    case JOB_RESTARTED:
        say("built in %u ms; more than scripts and parameters changed, so the world starts again "
            "and players come back by themselves",
            ms_since(serve, reload));
        break;
    case JOB_RELOAD_REFUSED:
        say("not reloaded: %s; the world runs on as it was", result->reason);
        break;
    case JOB_ROLLED_BACK:
        say("rolled back, the scripts of before run again (version %u): %s",
            result->manifest_version, result->reason);
        break;
    default: // nothing to say yet, or no world runs
        break;
    }
}

// --- costs --------------------------------------------------------------------------------------

static uint64_t spent_before(const Dev *dev, const char *path)
{
    for (uint32_t i = 0; i < dev->spent_count; i++) {
        if (strcmp(dev->spent[i].path, path) == 0) {
            return dev->spent[i].time_us;
        }
    }
    return 0;
}

// The dearest since the last look, the first one first.
static uint32_t find_dearest(const Dev *dev, const ScriptTable *table, double seconds,
                             DevCost out[COSTS_SHOWN])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < table->script_count; i++) {
        const ScriptRow *row = &table->scripts[i];
        const uint64_t before = spent_before(dev, row->path);
        // One that was loaded again begins at zero.
        const uint64_t spent = row->time_us >= before ? row->time_us - before : row->time_us;
        const double us = (double)spent / seconds;
        uint32_t at = count < COSTS_SHOWN ? count : COSTS_SHOWN;
        while (at > 0 && out[at - 1].us < us) {
            if (at < COSTS_SHOWN) {
                out[at] = out[at - 1];
            }
            at -= 1;
        }
        if (at < COSTS_SHOWN && us >= COST_LEAST_US) {
            out[at].us = us;
            memcpy(out[at].path, row->path, sizeof out[at].path);
            count += count < COSTS_SHOWN;
        }
    }
    return count;
}

static bool has_changed(const Dev *dev, const DevCost *costs, uint32_t count)
{
    bool changed = count != dev->shown_count;
    for (uint32_t i = 0; i < count && !changed; i++) {
        changed = true;
        for (uint32_t k = 0; k < dev->shown_count; k++) {
            const double was = dev->shown[k].us, is = costs[i].us;
            if (strcmp(dev->shown[k].path, costs[i].path) == 0 && is < was * COST_CHANGE &&
                was < is * COST_CHANGE) {
                changed = false;
            }
        }
    }
    return changed;
}

static void show_costs(Dev *dev, const ScriptTable *table)
{
    const uint64_t now = clock_ns();
    if (now - dev->costs_ns < COSTS_MS * HOST_MS_NS || table->tick == dev->costs_tick) {
        return;
    }
    const double seconds = (double)(now - dev->costs_ns) / 1e9;
    const bool is_first = dev->costs_ns == 0;
    DevCost costs[COSTS_SHOWN];
    const uint32_t count = is_first ? 0 : find_dearest(dev, table, seconds, costs);
    dev->costs_ns = now;
    dev->costs_tick = table->tick;
    dev->spent_count = table->script_count;
    memcpy(dev->spent, table->scripts, table->script_count * sizeof dev->spent[0]);
    if (is_first || !has_changed(dev, costs, count)) {
        return;
    }
    char text[COSTS_SHOWN * (SCRIPT_PATH_BYTES + 24)] = "";
    for (uint32_t i = 0, at = 0; i < count; i++) {
        at += (uint32_t)snprintf(text + at, sizeof text - at, "%s%s %.1f ms/s", i > 0 ? ", " : "",
                                 costs[i].path, costs[i].us / 1000);
    }
    say("costs %s", count > 0 ? text : "next to nothing");
    dev->shown_count = count;
    memcpy(dev->shown, costs, count * sizeof costs[0]);
}

// Faults are in the log, which is printed as it comes.
void dev_step(Serve *serve)
{
    Dev *dev = serve->dev;
    const ScriptTable *table =
        dev != NULL && serve->one_world != NULL ? host_world_scripts(serve->one_world) : NULL;
    if (table != NULL) {
        show_costs(dev, table);
    }
}
