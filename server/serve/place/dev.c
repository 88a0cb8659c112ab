// See dev.h. A thread waits for changes and has the queue build them, as a save over HTTP does. So
// there is one way from a file to a world, with one builder, whose worker and TypeScript process
// stay warm.
#define _GNU_SOURCE
#include "server/serve/place/dev.h"

#include "core/base/hash.h"
#include "server/build/base/diagnostic.h"
#include "server/build/pipeline/build_show.h"
#include "server/build/pipeline/build_watch.h"
#include "server/serve/operate/serve_log.h"
#include "server/serve/place/place_build.h"
#include "server/sys/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define COSTS_MS      5000u
#define COSTS_SHOWN   3
#define COST_LEAST_US 500.0  // a second; what costs less is not worth a line
#define COST_CHANGE   2.0    // how many times more or less is worth a line,
#define COST_STEP_US  1000.0 // if it is at least so much a second
#define REASON_BYTES  256
#define STALE_MAX     5 // who saves all the time gets what is built nevertheless

#define FAULTS_SAID        256
#define CLIENT_FAULT_LINES 10 // in a minute

typedef struct DevCost {
    char path[SCRIPT_PATH_BYTES];
    double us; // a second
} DevCost;

typedef struct Dev {
    pthread_t thread;
    bool has_thread;
    atomic_bool cancel;
    atomic_bool told;            // somebody of this process changed a file
    _Atomic uint64_t changed_ns; // when the change was seen that is being built; 0: none

    // The main thread's.
    uint64_t costs_ns, costs_tick; // of what `spent` was
    ScriptRow spent[SCRIPT_STATS_ROWS];
    uint32_t spent_count;
    DevCost shown[COSTS_SHOWN];
    uint32_t shown_count;
    uint32_t said_lines; // of clients, in this minute
    uint64_t said_ns;
} Dev;

// What was said since the last build, a ring of hashes. The log is the whole process's and asks on
// any thread, so this is too.
static struct {
    pthread_mutex_t lock;
    uint64_t hashes[FAULTS_SAID];
    uint32_t next;
} said = {.lock = PTHREAD_MUTEX_INITIALIZER};

// The watch of the folder while its build runs: what changes meanwhile may have been read half.
static struct {
    pthread_mutex_t lock;
    BuildWatch *watch; // NULL: none runs
    char id[JOB_ID_BYTES];
    uint32_t stale_count; // in a row
} building = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_uint built_count; // builds that were told, whoever asked for them

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

// --- what was said ------------------------------------------------------------------------------

// Whether this was said since the last build; from now on it was. `marks`: or only looks.
static bool was_said(uint64_t hash, bool marks)
{
    bool found = false;
    pthread_mutex_lock(&said.lock);
    for (uint32_t i = 0; i < FAULTS_SAID && !found; i++) {
        found = said.hashes[i] == hash;
    }
    if (!found && marks) {
        said.hashes[said.next++ % FAULTS_SAID] = hash;
    }
    pthread_mutex_unlock(&said.lock);
    return found;
}

static void forget_said(void)
{
    pthread_mutex_lock(&said.lock);
    memset(said.hashes, 0, sizeof said.hashes);
    pthread_mutex_unlock(&said.lock);
}

static uint64_t hash_text(const char *text)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, text, strlen(text));
    return hash.state | 1;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

// "tick 409: Game.lua:84: …" without its tick, which is another one each time.
static const char *without_tick(const char *text)
{
    const char *colon = begins(text, "tick ") ? strstr(text, ": ") : NULL;
    return colon != NULL ? colon + 2 : text;
}

// What a reload became is said by dev_reloaded, and a fault of a script once until the next build.
static bool is_quiet(LogLevel level, const char *area, const char *text)
{
    if (strcmp(area, "host") == 0) {
        return begins(text, "manifest ") && strstr(text, " is good") == NULL;
    }
    if (strcmp(area, "places") == 0) {
        return strstr(text, ": reloaded: ") != NULL || strstr(text, ": restarted: ") != NULL ||
               strstr(text, ": rolled_back: ") != NULL;
    }
    return strcmp(area, "script") == 0 && level >= LOG_WARN &&
           was_said(hash_text(without_tick(text)), true);
}

// --- watching -----------------------------------------------------------------------------------

// A save whose build gives nothing new (a comment, or a mistake that was taken back) has an answer
// too. `told` is how many builds were told when it was seen: a file that somebody saved over HTTP
// was built before this build, which finds nothing new then.
static void say_unchanged(Serve *serve, const JobStatus *status, unsigned told)
{
    Dev *dev = serve->dev;
    const uint64_t seen = atomic_exchange(&dev->changed_ns, 0);
    if (seen != 0 && status->state == JOB_DONE && atomic_load(&built_count) == told) {
        forget_said();
        say("built in %u ms: nothing that runs has changed",
            (unsigned)((clock_ns() - seen) / 1000000));
    }
}

static void set_building(BuildWatch *watch, const char *id)
{
    pthread_mutex_lock(&building.lock);
    building.watch = watch;
    snprintf(building.id, sizeof building.id, "%s", id);
    pthread_mutex_unlock(&building.lock);
}

bool dev_is_stale(const JobStatus *status)
{
    pthread_mutex_lock(&building.lock);
    const bool is_stale = building.watch != NULL && strcmp(building.id, status->id) == 0 &&
                          building.stale_count < STALE_MAX &&
                          build_watch_has_changed(building.watch);
    building.stale_count = is_stale ? building.stale_count + 1 : 0;
    pthread_mutex_unlock(&building.lock);
    return is_stale;
}

static void build(Serve *serve, BuildWatch *watch, unsigned told)
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
        set_building(watch, id);
        const bool is_over = job_wait(queue, id, JOB_MS_MAX, status) == STATUS_OK;
        set_building(NULL, "");
        if (is_over && status->reload.state == JOB_RELOAD_NONE &&
            !build_watch_has_changed(watch)) { // else it is built again
            say_unchanged(serve, status, told);
        }
    }
    free(status);
}

// A folder that was renamed or taken away may come back. False: cancelled.
static bool open_watch(Serve *serve, BuildWatch *watch)
{
    char reason[REASON_BYTES];
    const atomic_bool *cancel = &serve->dev->cancel;
    bool is_said = false;
    while (build_watch_open(watch, folder_of(serve), reason, sizeof reason) != STATUS_OK) {
        if (!is_said) {
            say("changes are not seen: %s; the world runs on, and the folder is looked for again "
                "every second",
                reason);
            is_said = true;
        }
        clock_sleep_until(clock_ns() + HOST_SECOND_NS);
        if (atomic_load(cancel)) {
            return false;
        }
    }
    if (is_said) {
        say("changes are seen again");
    }
    return true;
}

// The watch begins before the folder is read, so that no change in between is missed.
static void *run_thread(void *user)
{
    Serve *serve = user;
    Dev *dev = serve->dev;
    unsigned told = 0;
    BuildWatch watch;
    while (!atomic_load(&dev->cancel) && open_watch(serve, &watch)) {
        watch.told = &dev->told;
        build(serve, &watch, told); // also what was changed since the start
        told = atomic_load(&built_count);
        build_watch_wait(&watch, &dev->cancel);
        atomic_store(&dev->changed_ns, watch.changed_ns);
        build_watch_close(&watch);
    }
    return NULL;
}

void dev_changed(Serve *serve)
{
    if (serve->dev != NULL) {
        atomic_store(&serve->dev->told, true);
    }
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
    serve_log_set_quiet(is_quiet);
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
    serve_log_set_quiet(NULL);
    free(dev);
    serve->dev = NULL;
}

// --- what became of a change --------------------------------------------------------------------

void dev_built(Serve *serve, const JobStatus *status, const BuildResult *result)
{
    if (!serve->config.dev || status->state == JOB_CANCELLED) {
        return;
    }
    atomic_fetch_add(&built_count, 1);
    forget_said(); // a mistake that is still there is said again, once
    build_show_diagnostics(&result->diagnostics, folder_of(serve));
    if (status->state == JOB_FAILED) {
        say("not built: %s; the world runs on as it was", status->reason);
    }
}

// A change that was seen after this one was queued belongs to the next build.
static unsigned ms_since(const Serve *serve, const PlaceReload *reload)
{
    uint64_t seen = atomic_load(&serve->dev->changed_ns);
    const bool is_of_this = seen != 0 && seen <= reload->since_ns &&
                            atomic_compare_exchange_strong(&serve->dev->changed_ns, &seen, 0);
    const uint64_t since = is_of_this ? seen : reload->since_ns;
    return (unsigned)((clock_ns() - since) / 1000000);
}

void dev_reloaded(Serve *serve, const PlaceReload *reload)
{
    const JobReload *result = &reload->result;
    if (serve->dev == NULL) {
        return;
    }
    const bool is_known = was_said(hash_text(result->reason), false);
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
        say("rolled back: version %u failed%s%s, so the scripts of before run again",
            result->manifest_version, is_known ? " as said above" : ": ",
            is_known ? "" : result->reason);
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

static double cost_of(const DevCost *costs, uint32_t count, const char *path)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(costs[i].path, path) == 0) {
            return costs[i].us;
        }
    }
    return 0;
}

static bool is_news(double was, double is)
{
    const double more = was > is ? was : is, less = was > is ? is : was;
    return more - less >= COST_STEP_US && more >= less * COST_CHANGE;
}

// Against what was last said, so that a cost about a limit is not said again and again.
static bool has_changed(const Dev *dev, const DevCost *costs, uint32_t count)
{
    bool changed = false;
    for (uint32_t i = 0; i < count; i++) {
        changed =
            changed || is_news(cost_of(dev->shown, dev->shown_count, costs[i].path), costs[i].us);
    }
    for (uint32_t i = 0; i < dev->shown_count; i++) {
        changed = changed || is_news(dev->shown[i].us, cost_of(costs, count, dev->shown[i].path));
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

// --- faults of clients --------------------------------------------------------------------------

// Clients may lie: each fault is said once until the scripts change, a few lines in a minute, and
// as what a client said.
static void show_client_faults(Dev *dev, const ClientCosts *costs)
{
    if (clock_ns() - dev->said_ns >= 60 * HOST_SECOND_NS) {
        dev->said_ns = clock_ns();
        dev->said_lines = 0;
    }
    for (uint32_t i = 0; i < costs->fault_count && dev->said_lines < CLIENT_FAULT_LINES; i++) {
        const ClientFault *fault = &costs->faults[i];
        Hash64 hash = HASH64_INIT;
        hash_bytes(&hash, fault->path, strlen(fault->path) + 1);
        hash_bytes(&hash, fault->message, strlen(fault->message) + 1);
        hash_u64(&hash, fault->line);
        if (!was_said(hash.state | 1, true)) {
            dev->said_lines += 1;
            say("a client says that %s failed in line %u: %s%s", fault->path, fault->line,
                fault->message,
                dev->said_lines == CLIENT_FAULT_LINES ? " (no more of clients in this minute)"
                                                      : "");
        }
    }
}

// Faults of the server are in the log, which is printed as it comes.
void dev_step(Serve *serve)
{
    Dev *dev = serve->dev;
    const ScriptTable *table =
        dev != NULL && serve->one_world != NULL ? host_world_scripts(serve->one_world) : NULL;
    if (table != NULL) {
        show_costs(dev, table);
        show_client_faults(dev, &table->clients);
    }
}
