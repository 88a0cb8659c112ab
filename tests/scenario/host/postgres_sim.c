// See postgres_sim.h: the network between hosts and the server, the functions of libpq, and the
// fibers. CMakeLists.txt tells the linker to send clock_gettime, poll and nanosleep here.
#define _GNU_SOURCE
#include "tests/scenario/host/postgres_sim.h"

#include "core/base/check.h"
#include "tests/scenario/host/postgres_server.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define HAS_ASAN 1
#else
#define HAS_ASAN 0
#endif

#define CLIENTS_MAX     4
#define CONNECTIONS_MAX 16
#define LINKS_MAX       256
#define STACK_BYTES     (1u << 20)
#define DESCRIPTOR      1000000 // of the first connection
#define NAMES_MAX       8192    // of prepared statements on a connection

typedef struct Fiber {
    ucontext_t context, caller;
    uint8_t *stack;
    Store *store; // NULL: it has nothing to do
    bool is_dying;
    uint64_t dead_us;        // how long it has slept since: for it alone time goes on
    const PGconn *waits_for; // NULL: for the time alone
    short events;
    uint64_t wake_us;
} Fiber;

// A backend and the way to it. It goes on after its client has left.
typedef struct Link {
    bool is_used, is_gone; // is_gone: no client
    Backend *backend;
    PGconn *client;
    ServerFlight *flight; // on its way there
    uint64_t arrives_us, answers_us;
    bool loses_answer, cuts_after; // what becomes of the answer: nothing is heard, or a reset
} Link;

struct pg_conn {
    bool is_used, is_bad, is_silent;
    uint32_t client;
    Link *link;
    uint64_t ready_us; // when connecting is over
    bool is_connected;
    ServerFlight *open;   // being filled
    ServerFlight *answer; // that is being read
    uint64_t answer_us;
    uint32_t at;
    bool gave_result;
    const ServerText *names[NAMES_MAX];
};

struct pg_result {
    ExecStatusType status;
    ServerResult *of; // NULL: the end of a flight
};

static struct {
    bool is_on, is_calm, is_dense;
    Rng *rng;
    uint64_t now_us, down_until_us;
    bool is_frozen; // while it is down: its backends live on
    uint64_t cut_until_us[CLIENTS_MAX];
    Fiber fibers[CLIENTS_MAX];
    uint32_t current; // fiber; CLIENTS_MAX: none
    PGconn connections[CONNECTIONS_MAX];
    Link links[LINKS_MAX];
    PgSimCounts counts;
} sim = {.current = CLIENTS_MAX};

// --- fibers -------------------------------------------------------------------------------------

static void switch_to(ucontext_t *from, ucontext_t *to, const void *stack, size_t bytes)
{
#if HAS_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, stack, bytes);
    swapcontext(from, to);
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#else
    (void)stack;
    (void)bytes;
    swapcontext(from, to);
#endif
}

static const void *main_stack;
static size_t main_stack_bytes;

static void fiber_main(void)
{
#if HAS_ASAN
    __sanitizer_finish_switch_fiber(NULL, &main_stack, &main_stack_bytes);
#endif
    Fiber *fiber = &sim.fibers[sim.current];
    for (;;) {
        store_step(fiber->store);
        fiber->store = NULL;
        switch_to(&fiber->context, &fiber->caller, main_stack, main_stack_bytes);
    }
}

static void resume(uint32_t client)
{
    Fiber *fiber = &sim.fibers[client];
    sim.current = client;
    switch_to(&fiber->caller, &fiber->context, fiber->stack, STACK_BYTES);
    sim.current = CLIENTS_MAX;
}

static bool is_ready(const PGconn *conn, short events)
{
    if (conn->is_bad && !conn->is_silent) {
        return true;
    }
    if (!conn->is_connected) {
        return !conn->is_silent && sim.now_us >= conn->ready_us;
    }
    return (events & POLLOUT) != 0 || (conn->answer != NULL && sim.now_us >= conn->answer_us);
}

static bool may_go_on(const Fiber *fiber)
{
    return fiber->is_dying || sim.now_us >= fiber->wake_us ||
           (fiber->waits_for != NULL && is_ready(fiber->waits_for, fiber->events));
}

static void fiber_wait(const PGconn *conn, short events, uint64_t until_us)
{
    Fiber *fiber = &sim.fibers[sim.current];
    fiber->waits_for = conn;
    fiber->events = events;
    fiber->wake_us = until_us;
    if (!may_go_on(fiber)) {
        switch_to(&fiber->context, &fiber->caller, main_stack, main_stack_bytes);
    }
}

bool pg_sim_store(uint32_t client, Store *store, bool begins)
{
    Fiber *fiber = &sim.fibers[client];
    if (fiber->store == NULL && !begins) {
        return false;
    }
    if (fiber->store == NULL) {
        fiber->store = store;
        fiber->is_dying = false;
        fiber->dead_us = 0;
    } else if (!may_go_on(fiber)) {
        return true;
    }
    resume(client);
    return fiber->store != NULL;
}

void pg_sim_kill(uint32_t client)
{
    Fiber *fiber = &sim.fibers[client];
    fiber->is_dying = true;
    while (fiber->store != NULL) { // everything fails at once from here on
        resume(client);
    }
    fiber->is_dying = true; // until the next store begins
}

// --- what the program asks the system -----------------------------------------------------------

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __real_poll(struct pollfd *wait, nfds_t count, int timeout);
int __wrap_poll(struct pollfd *wait, nfds_t count, int timeout);
int __real_nanosleep(const struct timespec *pause, struct timespec *left);
int __wrap_nanosleep(const struct timespec *pause, struct timespec *left);

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!sim.is_on || clock != CLOCK_MONOTONIC) {
        return __real_clock_gettime(clock, out);
    }
    const uint64_t dead_us = sim.current < CLIENTS_MAX ? sim.fibers[sim.current].dead_us : 0;
    const uint64_t now_us = sim.now_us + dead_us + 1000000;
    *out = (struct timespec){(time_t)(now_us / 1000000), (long)(now_us % 1000000) * 1000};
    return 0;
}

int __wrap_nanosleep(const struct timespec *pause, struct timespec *left)
{
    if (sim.current == CLIENTS_MAX) {
        return sim.is_on ? 0 : __real_nanosleep(pause, left);
    }
    const uint64_t pause_us = (uint64_t)pause->tv_sec * 1000000 + (uint64_t)pause->tv_nsec / 1000;
    fiber_wait(NULL, 0, sim.now_us + pause_us);
    if (sim.fibers[sim.current].is_dying) {
        sim.fibers[sim.current].dead_us += pause_us;
    }
    return 0;
}

int __wrap_poll(struct pollfd *wait, nfds_t count, int timeout)
{
    if (!sim.is_on || count != 1 || wait->fd < DESCRIPTOR) {
        return __real_poll(wait, count, timeout);
    }
    const PGconn *conn = &sim.connections[wait->fd - DESCRIPTOR];
    if (sim.current < CLIENTS_MAX) {
        fiber_wait(conn, wait->events, sim.now_us + (uint64_t)timeout * 1000);
        if (sim.fibers[sim.current].is_dying) {
            return 0;
        }
    }
    wait->revents = is_ready(conn, wait->events) ? wait->events : 0;
    return wait->revents != 0;
}

// --- the network --------------------------------------------------------------------------------

static bool is_instant(void)
{
    return sim.current == CLIENTS_MAX;
}

static bool is_dying(void)
{
    return !is_instant() && sim.fibers[sim.current].is_dying;
}

static bool is_away(uint32_t client)
{
    return sim.now_us < sim.down_until_us || sim.now_us < sim.cut_until_us[client];
}

static bool chance(uint32_t one_in)
{
    return !sim.is_calm && rng_below(sim.rng, one_in) == 0;
}

static uint64_t latency_us(void)
{
    return chance(150) ? rng_below(sim.rng, 5000000) : rng_below(sim.rng, 8000);
}

static void link_end(Link *link, bool keeps_commit)
{
    backend_end(link->backend, keeps_commit);
    flight_free(link->flight);
    if (link->client != NULL) {
        link->client->link = NULL;
    }
    *link = (Link){.is_used = false};
}

static void cut_client(Link *link, bool is_silent)
{
    PGconn *client = link->client;
    link->client = NULL;
    link->is_gone = true;
    if (client != NULL) {
        client->link = NULL;
        client->is_bad = true;
        client->is_silent = is_silent;
    }
}

// What becomes of a flight that is sent now.
static void send_flight(PGconn *conn)
{
    Link *link = conn->link;
    ServerFlight *flight = conn->open;
    conn->open = NULL;
    sim.counts.flights += 1;
    if (link == NULL || link->flight != NULL) {
        flight_free(flight);
        conn->is_bad = true;
        return;
    }
    link->flight = flight;
    link->arrives_us = sim.now_us + (is_instant() ? 0 : latency_us());
    if (is_instant()) {
        return;
    }
    const uint32_t rarely = flight_commits(flight) ? (sim.is_dense ? 8 : 120)
                            : sim.is_dense         ? 80
                                                   : 500;
    if (sim.now_us < sim.cut_until_us[conn->client] || chance(rarely)) { // it is lost
        flight_free(link->flight);
        link->flight = NULL;
        cut_client(link, sim.now_us < sim.cut_until_us[conn->client] || chance(2));
    } else if (chance(rarely)) { // it arrives after the client was cut off: soon, or in seconds
        sim.counts.late += 1;
        link->arrives_us = sim.now_us + rng_below(sim.rng, chance(2) ? 200000 : 9000000);
        cut_client(link, false);
    } else if (chance(rarely)) {
        sim.counts.unknown += 1;
        link->cuts_after = true;
    } else if (chance(rarely * 2)) {
        sim.counts.unknown += 1;
        link->loses_answer = true;
    }
}

static uint64_t commit_us(void)
{
    return chance(100) ? rng_below(sim.rng, 6000000) : 500 + rng_below(sim.rng, 12000);
}

static void deliver_answer(Link *link)
{
    ServerFlight *answer = backend_answer(link->backend);
    if (answer == NULL) {
        return;
    }
    if (link->client == NULL || link->loses_answer || link->cuts_after) {
        flight_free(answer);
        if (link->cuts_after) {
            cut_client(link, false);
        }
        return;
    }
    link->client->answer = answer;
    link->client->answer_us = sim.now_us + (is_instant() ? 0 : latency_us());
}

static void link_step(Link *link, bool is_at_once)
{
    if (link->flight != NULL && sim.now_us >= link->arrives_us) {
        backend_take(link->backend, link->flight, sim.now_us);
        link->flight = NULL;
    }
    const BackendState state =
        backend_step(link->backend, sim.now_us, is_at_once ? 0 : commit_us());
    if (state == BACKEND_ENDED) {
        cut_client(link, false);
        link_end(link, false);
        return;
    }
    deliver_answer(link);
    // A backend whose client has left ends when it next reads; some find out much later.
    const bool reads = state == BACKEND_IDLE && link->flight == NULL;
    if (reads && link->is_gone && !link->loses_answer) {
        link_end(link, false);
    }
}

void pg_sim_step(uint64_t now_us, bool is_calm)
{
    sim.now_us = now_us;
    if (is_calm && !sim.is_calm) {
        memset(sim.cut_until_us, 0, sizeof sim.cut_until_us);
        sim.down_until_us = 0;
    }
    sim.is_calm = is_calm;
    if (sim.now_us < sim.down_until_us) {
        return;
    }
    for (uint32_t i = 0; i < LINKS_MAX; i++) {
        if (sim.links[i].is_used) {
            link_step(&sim.links[i], false);
        }
    }
}

void pg_sim_cut(uint32_t client, uint64_t until_us)
{
    sim.cut_until_us[client] = until_us;
}

void pg_sim_outage(uint64_t until_us, bool is_failover)
{
    sim.down_until_us = until_us;
    sim.counts.failovers += is_failover;
    sim.counts.freezes += !is_failover;
    for (uint32_t i = 0; i < LINKS_MAX && is_failover; i++) {
        Link *link = &sim.links[i];
        if (link->is_used) {
            cut_client(link, rng_below(sim.rng, 2) == 0);
            link_end(link, rng_below(sim.rng, 2) == 0);
        }
    }
}

bool pg_sim_is_down(void)
{
    return sim.now_us < sim.down_until_us;
}

const PgSimCounts *pg_sim_counts(void)
{
    sim.counts.commits = server_counts.commits;
    sim.counts.lock_waits = server_counts.lock_waits;
    sim.counts.lock_timeouts = server_counts.lock_timeouts;
    sim.counts.deadlocks = server_counts.deadlocks;
    sim.counts.idle_ended = server_counts.idle_ended;
    sim.counts.late_marks = server_counts.late_marks;
    sim.counts.missed_fences = server_counts.missed_fences;
    return &sim.counts;
}

// --- opening ------------------------------------------------------------------------------------

void pg_sim_open(Rng *rng, uint32_t clients, bool is_dense)
{
    ASSERT(clients <= CLIENTS_MAX);
    memset(&sim, 0, sizeof sim);
    sim.current = CLIENTS_MAX;
    sim.is_on = true;
    sim.is_dense = is_dense;
    sim.rng = rng;
    server_open();
    for (uint32_t i = 0; i < clients; i++) {
        Fiber *fiber = &sim.fibers[i];
        fiber->stack = malloc(STACK_BYTES);
        ASSERT(fiber->stack != NULL && getcontext(&fiber->context) == 0);
        fiber->context.uc_stack.ss_sp = fiber->stack;
        fiber->context.uc_stack.ss_size = STACK_BYTES;
        makecontext(&fiber->context, fiber_main, 0);
    }
}

void pg_sim_close(void)
{
    for (uint32_t i = 0; i < LINKS_MAX; i++) {
        if (sim.links[i].is_used) {
            link_end(&sim.links[i], false);
        }
    }
    for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
        ASSERT(sim.fibers[i].store == NULL);
        free(sim.fibers[i].stack);
    }
    for (uint32_t i = 0; i < CONNECTIONS_MAX; i++) {
        ASSERT(!sim.connections[i].is_used);
    }
    server_close();
    sim.is_on = false;
}

const char *pg_sim_url(uint32_t client)
{
    static char url[64];
    snprintf(url, sizeof url, "postgres://client%u@simulated/sandlot", client);
    return url;
}

// --- libpq: connections -------------------------------------------------------------------------

PGconn *PQconnectStartParams(const char *const *names, const char *const *values, int expand)
{
    (void)expand;
    uint32_t at = 0, client = 0;
    while (at < CONNECTIONS_MAX && sim.connections[at].is_used) {
        at += 1;
    }
    ASSERT(sim.is_on && at < CONNECTIONS_MAX);
    for (uint32_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], "user") == 0) {
            client = (uint32_t)(values[i][strlen("client")] - '0');
        }
    }
    PGconn *conn = &sim.connections[at];
    *conn = (PGconn){.is_used = true, .client = client};
    ASSERT(client < CLIENTS_MAX);
    if (is_dying()) {
        conn->is_bad = true;
        return conn;
    }
    if (!is_instant()) {
        conn->ready_us = sim.now_us + latency_us();
        if (is_away(client) || chance(100)) {
            conn->is_bad = conn->is_silent = rng_below(sim.rng, 2) == 0;
            conn->ready_us = sim.now_us;
        }
    }
    return conn;
}

PostgresPollingStatusType PQconnectPoll(PGconn *conn)
{
    if (conn->is_bad || is_dying() || (!is_instant() && is_away(conn->client))) {
        conn->is_bad = true;
        return PGRES_POLLING_FAILED;
    }
    uint32_t at = 0;
    while (at < LINKS_MAX && sim.links[at].is_used) {
        at += 1;
    }
    ASSERT(at < LINKS_MAX);
    sim.links[at] = (Link){.is_used = true, .client = conn, .backend = backend_make()};
    conn->link = &sim.links[at];
    conn->is_connected = true;
    return PGRES_POLLING_OK;
}

ConnStatusType PQstatus(const PGconn *conn)
{
    return conn->is_bad && !conn->is_silent ? CONNECTION_BAD : CONNECTION_OK;
}

int PQsocket(const PGconn *conn)
{
    return DESCRIPTOR + (int)(conn - sim.connections);
}

int PQsetnonblocking(PGconn *conn, int is_so)
{
    (void)conn;
    (void)is_so;
    return 0;
}

int PQenterPipelineMode(PGconn *conn)
{
    (void)conn;
    return 1;
}

int PQexitPipelineMode(PGconn *conn)
{
    (void)conn;
    return 0;
}

char *PQerrorMessage(const PGconn *conn)
{
    static char text[] = "simulated";
    (void)conn;
    return text;
}

void PQfinish(PGconn *conn)
{
    if (conn == NULL) {
        return;
    }
    Link *link = conn->link;
    if (link != NULL) {
        link->client = NULL;
        link->is_gone = true;
        // A kill -9 is heard of; a machine that is gone is not.
        link->loses_answer = link->loses_answer || (is_dying() && chance(3));
        if (is_dying() && link->flight != NULL && sim.is_dense && chance(2)) {
            sim.counts.late += 1; // what it said last arrives when others may have its worlds
            link->arrives_us = sim.now_us + rng_below(sim.rng, 9000000);
        }
    }
    flight_free(conn->open);
    flight_free(conn->answer);
    *conn = (PGconn){.is_used = false};
}

// --- libpq: statements --------------------------------------------------------------------------

static ServerFlight *open_flight(PGconn *conn)
{
    if (conn->open == NULL) {
        conn->open = flight_make();
    }
    return conn->open;
}

static bool can_send(const PGconn *conn)
{
    return !(conn->is_bad && !conn->is_silent);
}

int PQsendPrepare(PGconn *conn, const char *name, const char *text, int count, const Oid *types)
{
    const uint32_t number = (uint32_t)strtoul(name + 1, NULL, 10);
    ASSERT(number < NAMES_MAX);
    if (!can_send(conn)) {
        return 0;
    }
    conn->names[number] = server_text(text, count, types);
    (void)flight_add(open_flight(conn), NULL);
    return 1;
}

int PQsendQueryPrepared(PGconn *conn, const char *name, int count, const char *const *values,
                        const int *lengths, const int *formats, int format)
{
    (void)formats;
    (void)format;
    const ServerText *text = conn->names[strtoul(name + 1, NULL, 10)];
    if (!can_send(conn)) {
        return 0;
    }
    ASSERT(text != NULL && count <= SERVER_PARAMETERS_MAX);
    ServerStatement *statement = flight_add(open_flight(conn), text);
    for (int i = 0; i < count; i++) {
        if (values[i] == NULL) {
            continue;
        }
        statement->lengths[i] = lengths[i];
        statement->values[i] = malloc((size_t)lengths[i] + 1);
        ASSERT(statement->values[i] != NULL);
        memcpy(statement->values[i], values[i], (size_t)lengths[i]);
    }
    return 1;
}

int PQsendQuery(PGconn *conn, const char *text)
{
    (void)conn;
    (void)text;
    return 0;
}

int PQpipelineSync(PGconn *conn)
{
    return can_send(conn) ? 1 : 0;
}

int PQflush(PGconn *conn)
{
    if (!can_send(conn) || is_dying()) {
        return -1;
    }
    if (conn->open != NULL) {
        flight_free(conn->answer);
        conn->answer = NULL;
        if (conn->is_silent) {
            flight_free(conn->open);
            conn->open = NULL;
            return 0;
        }
        send_flight(conn);
        if (is_instant() && conn->link != NULL) {
            link_step(conn->link, true);
        }
    }
    return 0;
}

int PQconsumeInput(PGconn *conn)
{
    return can_send(conn) && !is_dying() ? 1 : 0;
}

int PQisBusy(PGconn *conn)
{
    return can_send(conn) && (conn->answer == NULL || sim.now_us < conn->answer_us);
}

static ExecStatusType status_of(const ServerResult *result)
{
    switch (result->status) {
    case SERVER_OK:
        return PGRES_COMMAND_OK;
    case SERVER_ROWS:
        return PGRES_TUPLES_OK;
    case SERVER_ERROR:
        return PGRES_FATAL_ERROR;
    case SERVER_SKIPPED:
        break;
    }
    return PGRES_PIPELINE_ABORTED;
}

PGresult *PQgetResult(PGconn *conn)
{
    ServerFlight *answer = conn->answer;
    if (answer == NULL || sim.now_us < conn->answer_us) {
        return NULL;
    }
    if (conn->gave_result) {
        conn->gave_result = false;
        return NULL;
    }
    PGresult *result = calloc(1, sizeof *result);
    ASSERT(result != NULL);
    if (conn->at == answer->count) {
        result->status = PGRES_PIPELINE_SYNC;
        flight_free(answer);
        conn->answer = NULL;
        conn->at = 0;
        return result;
    }
    result->of = answer->results[conn->at];
    answer->results[conn->at++] = NULL;
    result->status = status_of(result->of);
    conn->gave_result = true;
    return result;
}

// --- libpq: results -----------------------------------------------------------------------------

ExecStatusType PQresultStatus(const PGresult *result)
{
    return result->status;
}

void PQclear(PGresult *result)
{
    if (result != NULL) {
        server_result_free(result->of);
        free(result);
    }
}

char *PQresultErrorField(const PGresult *result, int field)
{
    return field == PG_DIAG_SQLSTATE && result->of != NULL ? result->of->state : NULL;
}

char *PQcmdTuples(PGresult *result)
{
    return result->of->changed;
}

int PQntuples(const PGresult *result)
{
    return result->of->row_count;
}

static const ServerCell *cell_at(const PGresult *result, int row, int column)
{
    ASSERT(row < result->of->row_count && column < result->of->column_count);
    return &result->of->cells[row * result->of->column_count + column];
}

char *PQgetvalue(const PGresult *result, int row, int column)
{
    return cell_at(result, row, column)->data;
}

int PQgetlength(const PGresult *result, int row, int column)
{
    return cell_at(result, row, column)->bytes;
}

int PQgetisnull(const PGresult *result, int row, int column)
{
    return cell_at(result, row, column)->is_null;
}

Oid PQftype(const PGresult *result, int column)
{
    return result->of->types[column];
}
