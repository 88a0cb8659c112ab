// What other processes on the same store have changed (store_event.h), read by a thread of its own:
// when the database hints that there is something, every 5 s in any case, and twice a second while
// hints cannot come. It brings the control plane up to date itself, and leaves what concerns worlds
// to the main thread.
#define _GNU_SOURCE
#include "server/serve/place/places.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/serve/remote/serve_peer.h"
#include "server/store/place/store_listing.h"
#include "server/store/sql/postgres_listen.h"
#include "server/store/world/store_event.h"
#include "server/sys/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define READ_MS  5000
#define OFTEN_MS 500
#define AT_ONCE  64

struct ServeEvents {
    Serve *serve;
    pthread_t thread;
    PgListener *listener;
    int wake; // eventfd: it ends
    atomic_bool ends;
    uint64_t last;
};

// --- on the main thread -------------------------------------------------------------------------

// "ACCOUNT WHERE REASON": a world, "@" and a place, or "-" for everywhere.
static void kick(void *user, void *what)
{
    Serve *serve = user;
    char *text = what, *rest = NULL;
    const uint64_t account = strtoull(text, &rest, 10);
    char *where = *rest == ' ' ? rest + 1 : rest;
    char *reason = strchr(where, ' ');
    if (account != 0 && reason != NULL) {
        *reason++ = '\0';
        const bool is_place = where[0] == '@';
        where += is_place || strcmp(where, "-") == 0; // "-": everywhere
        host_end_tickets(serve->host, account, where);
        if (is_place) {
            (void)host_kick_from_place(serve->host, account, where, reason);
        } else {
            (void)host_kick(serve->host, account, where, reason);
        }
    }
    free(text);
}

typedef struct ChangedWorld {
    char world_id[65];
    StoreWorld row;
    bool is_there;
} ChangedWorld;

static void change_world(void *user, void *what)
{
    Serve *serve = user;
    ChangedWorld *changed = what;
    HostWorld *world = host_world(serve->host, changed->world_id);
    if (world != NULL && !changed->is_there && host_world_is_stopped(world)) {
        host_world_forget(world);
    } else if (world != NULL && changed->is_there) {
        const StoreWorld *row = host_world_view(world).row;
        if (strcmp(row->room_code, changed->row.room_code) != 0) {
            host_world_set_code(world, changed->row.room_code);
        }
    } else if (world == NULL && changed->is_there && changed->row.place_id[0] != '\0') {
        status_ignore(host_add_world(serve->host, &changed->row, &world));
    }
    free(changed);
}

// --- the thread ---------------------------------------------------------------------------------

static void post(Serve *serve, MailRun run, void *what)
{
    if (what != NULL && mailbox_post(serve->mailbox, run, what) != STATUS_OK) {
        free(what);
    }
}

static void hear_world(Serve *serve, const StoreEvent *event)
{
    ChangedWorld *changed = calloc(1, sizeof *changed);
    if (changed == NULL || event->bytes >= sizeof changed->world_id) {
        free(changed);
        return;
    }
    memcpy(changed->world_id, event->subject, event->bytes);
    const Status status = store_world_find(serve->store, changed->world_id, &changed->row);
    changed->is_there = status == STATUS_OK;
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        free(changed);
        return;
    }
    post(serve, change_world, changed);
}

static char *copy_subject(const StoreEvent *event)
{
    char *text = malloc(event->bytes + 1);
    if (text != NULL) {
        memcpy(text, event->subject, event->bytes);
        text[event->bytes] = '\0';
    }
    return text;
}

static void hear_package(Serve *serve, const StoreEvent *event)
{
    char *package_id = copy_subject(event);
    if (package_id != NULL) {
        store_listing_touch(serve->store);
        serve_place_changed(serve, package_id);
    }
    free(package_id);
}

static void hear(Serve *serve, const StoreEvent *event)
{
    if (serve->control != NULL) {
        control_hear(serve->control, event);
    }
    switch (event->kind) {
    case EVENT_ALL:
        store_listing_touch(serve->store);
        break;
    case EVENT_PACKAGE:
        if (serve->control != NULL) {
            hear_package(serve, event);
        }
        break;
    case EVENT_WORLD:
        hear_world(serve, event);
        break;
    case EVENT_KICK:
        post(serve, kick, copy_subject(event));
        break;
    default: // the control plane's
        break;
    }
}

// What the database does not tell now is asked again: ids go on where they were.
static void read_events(struct ServeEvents *events)
{
    StoreEvent found[AT_ONCE];
    uint32_t count = 0;
    do {
        count = 0;
        if (store_events_since(events->serve->store, events->last, &events->last, found, AT_ONCE,
                               &count) != STATUS_OK) {
            return;
        }
        for (uint32_t i = 0; i < count; i++) {
            hear(events->serve, &found[i]);
        }
    } while (count == AT_ONCE);
}

#define CLOCK_WARN_MS 2000

// Leases, tickets and what hosts say to each other have times in them. The database's clock is
// everybody's, so a machine whose own clock is wrong takes no worlds away from others.
static void follow_clock(PgListener *listener, bool is_start)
{
    int64_t ahead = 0;
    if (!postgres_listen_clock(listener, &ahead)) {
        return;
    }
    const int64_t now = (int64_t)(clock_ns() / 1000000) + ahead;
    const int64_t wrong = (int64_t)clock_unix_ms() - now;
    if (wrong > CLOCK_WARN_MS || wrong < -CLOCK_WARN_MS) {
        serve_log(LOG_WARN, "clock",
                  is_start
                      ? "the clock of this machine is %lld ms ahead of the database's, which is "
                        "used instead; both should be set by NTP"
                      : "the clock of the database has jumped by %lld ms; it is followed",
                  (long long)(is_start ? wrong : -wrong));
    }
    clock_follow(ahead);
}

bool serve_clock_follow(const Serve *serve)
{
    PgListener *listener = postgres_listen(serve->config.store);
    bool is_refused = false;
    if (listener != NULL) {
        follow_clock(listener, true);
        is_refused = !serve->config.allow_patroni && postgres_listen_is_patroni(listener);
        postgres_listen_close(listener);
    }
    if (is_refused) {
        serve_log_failure(
            serve->command,
            "store: this database is managed by Patroni. When a frozen leader thawed, "
            "Debian's Patroni 3.0.2 lost commits that it had acknowledged: hosts would "
            "tell players that something is stored, and it is not. Use "
            "pg_auto_failover (docs/OPERATIONS.md), or --allow-patroni if you have "
            "tried that yours does better");
    }
    return !is_refused;
}

static void *run(void *user)
{
    struct ServeEvents *events = user;
    uint64_t clock_ns_next = 0;
    while (!atomic_load(&events->ends)) {
        postgres_listen_wait(events->listener, events->wake, READ_MS, OFTEN_MS);
        if (clock_ns() >= clock_ns_next) {
            follow_clock(events->listener, false);
            clock_ns_next = clock_ns() + READ_MS * UINT64_C(1000000);
        }
        if (!atomic_load(&events->ends)) {
            read_events(events);
        }
    }
    return NULL;
}

static void free_events(struct ServeEvents *events)
{
    postgres_listen_close(events->listener);
    if (events->wake >= 0) {
        close(events->wake);
    }
    free(events);
}

Status serve_events_start(Serve *serve, struct ServeEvents **out)
{
    struct ServeEvents *events = calloc(1, sizeof *events);
    if (events == NULL) {
        return STATUS_LIMIT;
    }
    events->serve = serve;
    events->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    events->listener = postgres_listen(serve->config.store);
    // What came between the reading of the lists at the start and now is read once more.
    Status status = events->wake >= 0 && events->listener != NULL
                        ? store_events_last(serve->store, &events->last)
                        : STATUS_LIMIT;
    if (status == STATUS_OK) {
        events->last = events->last > AT_ONCE ? events->last - AT_ONCE : 0;
    }
    if (status == STATUS_OK && pthread_create(&events->thread, NULL, run, events) != 0) {
        status = STATUS_LIMIT;
    }
    if (status != STATUS_OK) {
        free_events(events);
        return status;
    }
    *out = events;
    return STATUS_OK;
}

void serve_events_stop(struct ServeEvents *events)
{
    if (events != NULL) {
        atomic_store(&events->ends, true);
        (void)eventfd_write(events->wake, 1);
        pthread_join(events->thread, NULL);
        free_events(events);
    }
}
