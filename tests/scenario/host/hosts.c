// See hosts.h: time, what goes wrong, who joins, and what must always hold.
#define _GNU_SOURCE
#include "tests/scenario/host/hosts.h"

#include "core/base/check.h"
#include "tests/scenario/host/postgres_server.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIX_BEGIN_MS  1700000000000ull
#define TROUBLE_US     40000000ull
#define CALM_US        32000000ull
#define CALM_LONG_US   70000000ull // with a lease of 30 s
#define WANT_US        4800000u
#define SAVED_US       4000000ull
#define SETTLE_US      14000000ull
#define SETTLE_LONG_US 50000000ull
#define SOON_US        2000000ull
#define JOIN_US        (HOST_JOIN_MS * 1000ull + 2000000)

void hosts_fail(Hosts *hosts, const char *format, ...)
{
    if (hosts->failed) {
        return;
    }
    hosts->failed = true;
    const int at =
        snprintf(hosts->message, sizeof hosts->message, "at %.3f s: ", (double)hosts->now_us / 1e6);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(hosts->message + at, sizeof hosts->message - (size_t)at, format, arguments);
    va_end(arguments);
}

// --- what a host is given -----------------------------------------------------------------------

uint64_t hosts_clock_ns(const Hosts *hosts)
{
    return (hosts->now_us + 1000000) * 1000;
}

static uint64_t now_ns(void *user)
{
    const SimHost *host = user;
    return hosts_clock_ns(host->hosts);
}

static uint64_t unix_ms(void *user)
{
    const SimHost *host = user;
    return UNIX_BEGIN_MS + host->hosts->now_us / 1000;
}

static void random_bytes(void *user, void *out, size_t bytes)
{
    SimHost *host = user;
    for (size_t i = 0; i < bytes; i++) {
        ((uint8_t *)out)[i] = (uint8_t)rng_u32(&host->hosts->rng);
    }
}

// Whoever stops a world because another host has taken it is right: its head is of another life.
static void check_fence(const SimHost *host, const char *world_id)
{
    Hosts *hosts = host->hosts;
    uint64_t epoch = 0;
    const HostWorld *world = host_world(host->host, world_id);
    ASSERT(world != NULL);
    if (server_head(world_id, &epoch) && epoch == host_world_view(world).epoch) {
        hosts_fail(hosts, "%s: host %u stops life %llu, which nobody has followed", world_id,
                   host->number, (unsigned long long)epoch);
    }
    hosts->fences += 1;
}

static void log_line(void *user, LogLevel level, const char *area, const char *text)
{
    const SimHost *host = user;
    if (host->hosts->has_postgres && strstr(text, "another host has taken this world") != NULL) {
        check_fence(host, area);
    }
    if (host->hosts->verbose) {
        printf("%8.3f host %u %-5s %s: %s\n", (double)host->hosts->now_us / 1e6, host->number,
               log_level_name(level), area, text);
    }
}

static Status start_process(void *user, HostWorld *world, HostLink **out)
{
    SimHost *host = user;
    if (!host->hosts->calm && rng_below(&host->hosts->rng, 40) == 0) {
        return STATUS_LIMIT; // no process to be had
    }
    StubProcess *process = stub_start(host->hosts, host->number, world);
    if (process == NULL) {
        return STATUS_LIMIT;
    }
    *out = &process->link;
    return STATUS_OK;
}

static void socket_of(const HostJoinAnswer *answer, int number, HostSocket *out)
{
    const size_t bytes = strlen(answer->ticket);
    *out = (HostSocket){.descriptor = number, .bytes = bytes, .already = malloc(bytes + 1)};
    ASSERT(out->already != NULL);
    memcpy(out->already, answer->ticket, bytes);
}

static uint64_t settle_us(const Hosts *hosts)
{
    return hosts->has_postgres ? SETTLE_LONG_US : SETTLE_US;
}

// Once all is calm and the leases of the dead have run out, everybody is let in soon, unless the
// world is not there, full, or runs on another host.
static void check_answer(Hosts *hosts, const SimJoin *join, const HostJoinAnswer *answer)
{
    if (!hosts->calm || join->asked_us < hosts->calm_us + settle_us(hosts) ||
        host_is_stopping(hosts->hosts[join->host].host)) {
        return;
    }
    if (hosts->now_us - join->asked_us > SOON_US) {
        hosts_fail(hosts, "join %llu had to wait for %.3f s", (unsigned long long)join->tag,
                   (double)(hosts->now_us - join->asked_us) / 1e6);
    }
    // On PostgreSQL a host that died holds its worlds until the commit that ends its row: whoever
    // comes in between asks again.
    const bool is_expected =
        (answer->refusal == REFUSED_ELSEWHERE && (!hosts->has_peers || hosts->has_postgres)) ||
        answer->refusal == REFUSED_NO_WORLD || answer->refusal == REFUSED_FULL ||
        (hosts->has_people && answer->refusal == REFUSED_WORLD_FULL) || join->person < PEOPLE_MAX;
    if (answer->refusal != REFUSED_NOT && !is_expected) {
        hosts_fail(hosts, "join %llu was refused: %u", (unsigned long long)join->tag,
                   answer->refusal);
    }
}

static void joined(void *user, uint64_t tag, const HostJoinAnswer *answer)
{
    SimHost *host = user;
    Hosts *hosts = host->hosts;
    SimJoin *join = &hosts->joins[tag % (sizeof hosts->joins / sizeof hosts->joins[0])];
    if (join->tag != tag || !join->is_open) {
        hosts_fail(hosts, "join %llu was answered twice", (unsigned long long)tag);
        return;
    }
    join->is_open = false;
    hosts->joins_answered += 1;
    check_answer(hosts, join, answer);
    hosts->refused[answer->refusal] += 1;
    if (join->person < PEOPLE_MAX) {
        people_joined(hosts, join, answer);
        return;
    }
    if (answer->refusal != REFUSED_NOT) {
        return;
    }
    hosts->tickets += 1;
    if (answer->address == NULL && !host_world_is_ready(answer->world)) {
        hosts_fail(hosts, "a ticket for a world that does not run");
    }
    if (answer->address != NULL) {
        hosts->led += 1;
        host = peers_find(hosts, answer->address);
        if (host == NULL) { // dead since: their page asks again
            for (uint32_t i = 0; i < hosts->world_count; i++) {
                SimWorld *sim = &hosts->worlds[i];
                if (strcmp(sim->row.world_id, host_world_view(answer->world).row->world_id) == 0) {
                    sim->want_us = hosts->now_us + 300000;
                    sim->check_us = 0;
                }
            }
            return;
        }
    }
    HostSocket socket;
    socket_of(answer, (int)(tag % 1000000), &socket);
    if (host_socket(host->host, host_world_view(answer->world).row->room_code, &socket) !=
        STATUS_OK) {
        free(socket.already);
    }
}

static void refuse_socket(void *user, HostSocket *socket)
{
    (void)user;
    free(socket->already);
}

static bool disk_is_full(void *user)
{
    const SimHost *host = user;
    return host->disk_full_until_us > host->hosts->now_us ||
           (!host->hosts->has_postgres && host->hosts->down_until_us > host->hosts->now_us);
}

// --- hosts --------------------------------------------------------------------------------------

static void open_host(Hosts *hosts, uint32_t number)
{
    SimHost *host = &hosts->hosts[number];
    host->life += 1;
    StoreConfig store = store_config_default();
    store.database = hosts->database;
    store.path = hosts->has_postgres ? pg_sim_url(number) : NULL;
    store.manual = true;
    store.unix_ms = unix_ms;
    store.unix_ms_user = host;
    store.fault = disk_is_full;
    store.fault_user = host;
    Status status = store_open(&store, &host->store, NULL, 0);
    ASSERT(status == STATUS_OK);
    HostConfig config = {.outside = {.user = host,
                                     .now_ns = now_ns,
                                     .unix_ms = unix_ms,
                                     .random = random_bytes,
                                     .log = log_line,
                                     .start = start_process,
                                     .joined = joined,
                                     .refuse_socket = refuse_socket,
                                     .reloaded = set_reloaded},
                         .store = host->store,
                         .key = &hosts->key,
                         // In every third run empty worlds live long enough to pause and be woken.
                         .idle_stop_ms = hosts->seed % 3 == 0 ? WORLD_EMPTY_MS + 4000 : 4000,
                         .store_is_private = hosts->host_count == 1,
                         .lease_ms = hosts->has_postgres ? 30000 : 0};
    if (hosts->has_people) {
        people_begin(hosts);
        people_outside(&config.outside);
        config.account_profiles = true;
        config.world_max = PROCESSES_MAX / 2;
    }
    if (hosts->has_peers) {
        peers_outside(&config.outside);
        config.key = &hosts->keys[number];
        snprintf(config.address, sizeof config.address, "host%u", number);
    }
    snprintf(config.host_id, sizeof config.host_id, "host%u", number);
    random_bytes(host, config.boot, sizeof config.boot);
    status = host_create(&config, &host->host);
    ASSERT(status == STATUS_OK);
    host_add_place(host->host, set_place(hosts));
    for (uint32_t i = 0; i < hosts->world_count; i++) {
        HostWorld *world;
        status = host_add_world(host->host, &hosts->worlds[i].row, &world);
        ASSERT(status == STATUS_OK);
    }
}

// As kill -9: its processes end with it, and what the store had not committed is gone.
void hosts_kill(Hosts *hosts, SimHost *host)
{
    hosts->crashes += 1;
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        StubProcess *process = &hosts->processes[i];
        if (process->is_used && process->host == host->number) {
            stub_die(process, 137);
        }
    }
    host_destroy(host->host); // frees its links
    people_end(hosts);
    if (hosts->has_postgres) {
        pg_sim_kill(host->number);
    }
    store_crash(host->store);
    host->host = NULL;
    host->store = NULL;
    for (size_t i = 0; i < sizeof hosts->joins / sizeof hosts->joins[0]; i++) {
        if (hosts->joins[i].host == host->number) {
            hosts->joins[i].is_open = false; // nobody is there to answer
        }
    }
    host->dead_until_us = hosts->now_us + rng_below(&hosts->rng, 14000000);
}

static bool is_awake(const SimHost *host)
{
    return host->host != NULL && host->stalled_until_us <= host->hosts->now_us;
}

static void step_store(Hosts *hosts, SimHost *host)
{
    if (host->store == NULL || hosts->now_us < host->store_late_until_us) {
        return;
    }
    if (hosts->has_postgres) {
        const bool begins = hosts->now_us >= host->commit_us;
        if (!pg_sim_store(host->number, host->store, begins) && begins) {
            host->commit_us = hosts->now_us + 5000 + rng_below(&hosts->rng, 75000);
        }
        return;
    }
    if (hosts->now_us < host->commit_us) {
        return;
    }
    host->commit_us = hosts->now_us + 5000 + rng_below(&hosts->rng, 75000);
    store_step(host->store);
}

static void join_at(SimHost *host);

static void step_host(SimHost *host)
{
    Hosts *hosts = host->hosts;
    if (host->host == NULL && hosts->now_us >= host->dead_until_us) {
        open_host(hosts, host->number);
        // Many come at once, and it knows nobody yet.
        for (uint32_t i = 0; i < 8 && hosts->calm && hosts->has_peers; i++) {
            join_at(host);
        }
    }
    // Its own thread: it goes on while the host stands still. With PostgreSQL both stand still.
    if (!hosts->has_postgres || is_awake(host)) {
        step_store(hosts, host);
    }
    if (!is_awake(host)) {
        return;
    }
    for (uint32_t i = 0; i < host_world_count(host->host); i++) {
        HostWorld *world = host_world_at(host->host, i);
        if (host_world_link(world) != NULL) {
            host_world_receive(world);
        }
    }
    host_step(host->host);
    if (hosts->has_people) {
        people_step(hosts);
    }
}

// --- what goes wrong ----------------------------------------------------------------------------

static StubProcess *any_process(Hosts *hosts)
{
    StubProcess *process = &hosts->processes[rng_below(&hosts->rng, PROCESSES_MAX)];
    return process->is_used && !process->is_dead ? process : NULL;
}

// In every fourth run one that has a world stands still for longer than its lease of 30 s.
static void stand_still(Hosts *hosts)
{
    const StubProcess *process = any_process(hosts);
    if (!hosts->has_postgres || hosts->seed % 4 != 0 || hosts->has_stood_still || process == NULL ||
        !process->is_ready || process->mood != STUB_GOOD) {
        return;
    }
    SimHost *host = &hosts->hosts[process->host];
    if (is_awake(host)) {
        hosts->has_stood_still = true;
        host->stalled_until_us = hosts->now_us + 40000000;
    }
}

static void trouble(Hosts *hosts)
{
    Rng *rng = &hosts->rng;
    stand_still(hosts);
    SimHost *host = &hosts->hosts[rng_below(rng, hosts->host_count)];
    StubProcess *process = any_process(hosts);
    switch (rng_below(rng, 1600)) {
    case 0:
        if (is_awake(host)) {
            hosts_kill(hosts, host);
        }
        break;
    case 1:
        if (!is_awake(host)) {
            break;
        }
        host->stalled_until_us = hosts->now_us + rng_below(rng, 16000000);
        break;
    case 2:
        host->store_late_until_us = hosts->now_us + rng_below(rng, 20000000);
        break;
    case 3:
        host->disk_full_until_us = hosts->now_us + rng_below(rng, 8000000);
        break;
    case 4:
    case 5:
    case 6: // a new revision is published
        if (is_awake(host)) {
            host_add_place(host->host, set_place(hosts));
        }
        break;
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 15:
        if (is_awake(host)) {
            set_reload_something(host);
        }
        break;
    case 7: // the place is thrown away, and soon restored
        if (is_awake(host)) {
            host_remove_place(host->host, "place_stub", "the place was removed");
        }
        break;
    default:
        break;
    }
    // Real worlds are few, so their creators save more often.
    if (hosts->real_place != NULL && is_awake(host) && rng_below(rng, 250) == 0) {
        set_reload_something(host);
    }
    if (is_awake(host) && host_place_count(host->host) == 0 && rng_below(rng, 100) == 0) {
        host_add_place(host->host, set_place(hosts));
    }
    // Beside a host that stands still they go on: would they end in time?
    if (process == NULL || hosts->hosts[process->host].stalled_until_us > hosts->now_us) {
        return;
    }
    switch (rng_below(rng, 150)) {
    case 0:
        stub_die(process, 139);
        break;
    case 1:
        process->mood = STUB_SILENT;
        break;
    case 2:
        process->mood = STUB_LIAR;
        break;
    default:
        break;
    }
}

static void join_at(SimHost *host)
{
    Hosts *hosts = host->hosts;
    Rng *rng = &hosts->rng;
    const uint64_t tag = ++hosts->next_tag;
    SimJoin *join = &hosts->joins[tag % (sizeof hosts->joins / sizeof hosts->joins[0])];
    if (!is_awake(host) || join->is_open) {
        return;
    }
    *join = (SimJoin){.tag = tag,
                      .asked_us = hosts->now_us,
                      .host = host->number,
                      .life = host->life,
                      .is_open = true,
                      .person = PEOPLE_MAX};
    HostJoin wish = {.tag = tag, .who = {.account = 1 + rng_below(rng, ACCOUNTS_MAX)}};
    snprintf(wish.who.name, sizeof wish.who.name, "stub");
    const uint32_t kind = rng_below(rng, 10);
    if (kind < 6) {
        const SimWorld *world = &hosts->worlds[rng_below(rng, hosts->world_count)];
        snprintf(wish.world, sizeof wish.world, "%s",
                 kind < 3 ? world->row.world_id : world->row.room_code);
    } else if (kind == 9) {
        snprintf(wish.world, sizeof wish.world, "nowhere");
    } else {
        snprintf(wish.place, sizeof wish.place, "place_stub");
    }
    host_join(host->host, &wish);
}

static void join_somebody(Hosts *hosts)
{
    join_at(&hosts->hosts[rng_below(&hosts->rng, hosts->host_count)]);
}

// --- what must hold -----------------------------------------------------------------------------

static void check_joins(Hosts *hosts)
{
    for (size_t i = 0; i < sizeof hosts->joins / sizeof hosts->joins[0]; i++) {
        const SimJoin *join = &hosts->joins[i];
        const SimHost *host = &hosts->hosts[join->host];
        if (join->is_open && host->life == join->life && is_awake(host) &&
            host->stalled_until_us + JOIN_US < hosts->now_us &&
            join->asked_us + JOIN_US < hosts->now_us) {
            hosts_fail(hosts, "join %llu of host %u has no answer after %.1f s",
                       (unsigned long long)join->tag, join->host,
                       (double)(hosts->now_us - join->asked_us) / 1e6);
        }
    }
}

// Also beside a host that stands still: what it can no longer stop ends by itself.
static void check_processes(Hosts *hosts)
{
    const StubProcess *first[WORLDS_MAX] = {0};
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        const StubProcess *process = &hosts->processes[i];
        if (!process->is_used || !process->is_ready || process->is_dead || process->is_closed ||
            process->is_stopping || process->mood != STUB_GOOD) {
            continue;
        }
        const StubProcess *other = first[process->world];
        if (other != NULL && other->host != process->host) {
            hosts_fail(hosts, "world %u runs beside host %u and beside host %u", process->world,
                       other->host, process->host);
        }
        first[process->world] = process;
    }
}

// A host that stood still may believe that it has a world until it has looked once.
static void check_alone(Hosts *hosts)
{
    for (uint32_t w = 0; w < hosts->world_count; w++) {
        uint32_t running = 0;
        for (uint32_t i = 0; i < hosts->host_count; i++) {
            const SimHost *host = &hosts->hosts[i];
            const HostWorld *world = host->host != NULL && is_awake(host)
                                         ? host_world(host->host, hosts->worlds[w].row.world_id)
                                         : NULL;
            running += world != NULL && host_world_is_ready(world);
        }
        if (running > 1) {
            hosts_fail(hosts, "world %u runs on %u hosts", w, running);
        }
    }
}

static void check_saves(Hosts *hosts)
{
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        const StubProcess *process = &hosts->processes[i];
        if (!process->is_used || !process->is_ready || process->is_dead || process->is_stopping ||
            process->ready_us + SAVED_US >= hosts->now_us) {
            continue;
        }
        // A stub stores something all the time; a real world may have nothing to store.
        const uint64_t waits_us =
            process->real != NULL ? real_waits_us(process) : hosts->now_us - process->stored_us;
        if (waits_us > SAVED_US) {
            hosts_fail(hosts, "world %u: nothing has been stored for %.1f s", process->world,
                       (double)waits_us / 1e6);
        }
    }
    if (hosts->real_place != NULL && (hosts->structures == 0 || hosts->numbers_given == 0)) {
        hosts_fail(hosts, "%llu structures were durable and %llu numbers given: nobody plays",
                   (unsigned long long)hosts->structures, (unsigned long long)hosts->numbers_given);
    }
    if (hosts->real_place != NULL && hosts->settled_checks == 0) {
        hosts_fail(hosts, "nobody has looked at a settled client");
    }
}

// Soon after somebody wanted a world, one of the hosts runs it.
static void check_back(Hosts *hosts)
{
    for (uint32_t w = 0; w < hosts->world_count; w++) {
        SimWorld *sim = &hosts->worlds[w];
        if (sim->check_us == 0 || hosts->now_us < sim->check_us) {
            continue;
        }
        sim->check_us = 0;
        uint32_t running = 0;
        for (uint32_t i = 0; i < hosts->host_count; i++) {
            const HostWorld *world = hosts->hosts[i].host != NULL
                                         ? host_world(hosts->hosts[i].host, sim->row.world_id)
                                         : NULL;
            running += world != NULL && host_world_is_ready(world);
        }
        if (running != 1) {
            hosts_fail(hosts, "world %u runs on %u hosts after somebody wanted it", w, running);
        }
    }
}

// A world that nobody comes to stops after a few seconds: the next one comes about then.
static void want_worlds(Hosts *hosts)
{
    // People make more than can run at once.
    const bool are_many = hosts->has_people && hosts->world_count > WORLDS_FIRST;
    for (uint32_t w = 0; w < (are_many ? WORLDS_FIRST : hosts->world_count); w++) {
        SimWorld *sim = &hosts->worlds[w];
        if (hosts->now_us < sim->want_us) {
            continue;
        }
        sim->want_us = hosts->now_us + WANT_US + rng_below(&hosts->rng, WANT_US / 4);
        sim->check_us =
            hosts->now_us > hosts->calm_us + settle_us(hosts) ? hosts->now_us + SOON_US : 0;
        for (uint32_t i = 0; i < hosts->host_count; i++) {
            SimHost *host = &hosts->hosts[i];
            const uint64_t tag = ++hosts->next_tag;
            SimJoin *join = &hosts->joins[tag % (sizeof hosts->joins / sizeof hosts->joins[0])];
            if (host->host == NULL || join->is_open) {
                continue;
            }
            *join = (SimJoin){tag, hosts->now_us, i, host->life, true, PEOPLE_MAX, 1, false};
            HostJoin wish = {.tag = tag,
                             .who = {.account = 1, .flags = TICKET_OPERATOR, .name = "stub"}};
            memcpy(wish.world, hosts->worlds[w].row.world_id, sizeof wish.world);
            HostWorld *known = host_world(host->host, wish.world);
            if (hosts->has_peers && known == NULL) { // a host looks for it in the store
                status_ignore(host_add_world(host->host, &hosts->worlds[w].row, &known));
            }
            host_join(host->host, &wish);
        }
    }
}

static void become_calm(Hosts *hosts)
{
    hosts->calm = true;
    hosts->calm_us = hosts->now_us;
    hosts->down_until_us = 0;
    for (uint32_t i = 0; i < hosts->host_count; i++) {
        SimHost *host = &hosts->hosts[i];
        host->stalled_until_us = host->store_late_until_us = host->disk_full_until_us = 0;
        host->dead_until_us = 0;
        memset(hosts->cut_until_us[i], 0, sizeof hosts->cut_until_us[i]);
        if (host->host != NULL) {
            host_add_place(host->host, set_place(hosts));
        }
    }
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        if (hosts->processes[i].ready_us == UINT64_MAX) { // a host waits for long
            stub_die(&hosts->processes[i], 137);
        }
    }
}

// --- the run ------------------------------------------------------------------------------------

static void open_hosts(Hosts *hosts, uint64_t seed)
{
    hosts->rng = rng_make(seed, 1);
    hosts->seed = seed;
    hosts->host_count = 1 + rng_below(&hosts->rng, HOSTS_MAX);
    hosts->host_count = hosts->has_postgres ? 2 + (uint32_t)seed % 2 : hosts->host_count;
    hosts->has_people = seed % PEOPLE_EVERY == 0 && !hosts->has_postgres;
    if (hosts->has_people) {
        hosts->host_count = 1; // the control plane is in its process
    }
    hosts->world_count = 1 + rng_below(&hosts->rng, WORLDS_FIRST);
    hosts->processes = calloc(PROCESSES_MAX, sizeof *hosts->processes);
    ASSERT(hosts->processes != NULL);
    hosts->real_place = seed % REAL_EVERY == 0 && !hosts->has_postgres ? real_place_create() : NULL;
    uint8_t key_seed[crypto_sign_SEEDBYTES] = {1};
    (void)crypto_sign_seed_keypair(hosts->key.public_half, hosts->key.secret, key_seed);
    hosts->has_peers = hosts->host_count > 1 && (seed % PEERS_EVERY == 0 || hosts->has_postgres);
    hosts->letters = calloc(LETTERS_MAX, sizeof *hosts->letters);
    ASSERT(hosts->letters != NULL);
    for (uint8_t i = 0; i < HOSTS_MAX; i++) {
        key_seed[0] = (uint8_t)(2 + i);
        (void)crypto_sign_seed_keypair(hosts->keys[i].public_half, hosts->keys[i].secret, key_seed);
    }
    Status status = STATUS_OK;
    people_entropy(&hosts->rng);
    if (hosts->has_postgres) {
        pg_sim_open(&hosts->rng, hosts->host_count, seed % DENSE_EVERY == 1);
    } else {
        status = store_database_open(&hosts->database);
        ASSERT(status == STATUS_OK);
    }
    Store *store = NULL;
    StoreConfig config = store_config_default();
    config.database = hosts->database;
    config.path = hosts->has_postgres ? pg_sim_url(0) : NULL;
    config.manual = true;
    status = store_open(&config, &store, NULL, 0);
    ASSERT(status == STATUS_OK);
    for (uint32_t i = 0; i < hosts->world_count; i++) {
        StoreWorld *row = &hosts->worlds[i].row;
        *row = (StoreWorld){.created_unix_ms = UNIX_BEGIN_MS};
        snprintf(row->world_id, sizeof row->world_id, "world_%u", i);
        snprintf(row->place_id, sizeof row->place_id, "place_stub");
        snprintf(row->room_code, sizeof row->room_code, "ROOM%u", i);
        snprintf(row->name, sizeof row->name, "Stub");
        status = store_world_put(store, row);
        ASSERT(status == STATUS_OK);
    }
    store_close(store);
    for (uint32_t i = 0; i < hosts->host_count; i++) {
        hosts->hosts[i] = (SimHost){.hosts = hosts, .number = i};
        open_host(hosts, i);
    }
    people_open(hosts);
}

static void close_hosts(Hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->host_count; i++) {
        if (hosts->hosts[i].host != NULL) {
            host_destroy(hosts->hosts[i].host);
            if (hosts->has_postgres) {
                pg_sim_kill(i);
            }
            store_crash(hosts->hosts[i].store);
        }
    }
    people_close(hosts);
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        stub_free_queues(&hosts->processes[i]);
        real_free(&hosts->processes[i]);
    }
    real_place_destroy(hosts->real_place);
    store_database_close(hosts->database);
    if (hosts->has_postgres) {
        pg_sim_close();
    }
    free(hosts->processes);
    free(hosts->letters);
}

// At the end every host is told to stop, and does so in time with everything stored.
static void stop_all(Hosts *hosts)
{
    for (uint32_t i = 0; i < hosts->host_count; i++) {
        host_stop(hosts->hosts[i].host, 4500);
    }
    const uint64_t until = hosts->now_us + 5000000;
    bool over = false;
    while (!over && hosts->now_us < until && !hosts->failed) {
        over = true;
        if (hosts->has_postgres) {
            pg_sim_step(hosts->now_us, true);
        }
        for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
            stub_step(&hosts->processes[i]);
        }
        for (uint32_t i = 0; i < hosts->host_count; i++) {
            step_host(&hosts->hosts[i]);
            over = over && host_is_over(hosts->hosts[i].host);
        }
        hosts->now_us += STEP_US;
    }
    for (uint32_t i = 0; i < hosts->host_count; i++) {
        if (!host_is_over(hosts->hosts[i].host)) {
            hosts_fail(hosts, "host %u does not end", i);
        } else if (host_has_failed(hosts->hosts[i].host)) {
            hosts_fail(hosts, "host %u ends and has lost something", i);
        }
    }
}

HostsResult hosts_run(uint64_t seed, bool on_postgres, bool verbose)
{
    static Hosts hosts;
    memset(&hosts, 0, sizeof hosts);
    hosts.verbose = verbose;
    hosts.has_postgres = on_postgres;
    open_hosts(&hosts, seed);
    const uint64_t end_us = TROUBLE_US + (on_postgres ? CALM_LONG_US : CALM_US);
    while (hosts.now_us < end_us && !hosts.failed) {
        hosts.now_us += STEP_US;
        if (hosts.now_us >= TROUBLE_US && !hosts.calm) {
            become_calm(&hosts);
        }
        if (hosts.has_postgres) {
            pg_sim_step(hosts.now_us, hosts.calm);
        }
        if (!hosts.calm) {
            trouble(&hosts);
            peers_trouble(&hosts);
        } else {
            peers_calm(&hosts);
            want_worlds(&hosts);
            check_back(&hosts);
        }
        if (!hosts.has_people && rng_below(&hosts.rng, hosts.calm ? 200 : 20) == 0) {
            join_somebody(&hosts);
        }
        for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
            stub_step(&hosts.processes[i]);
        }
        for (uint32_t i = 0; i < hosts.host_count; i++) {
            step_host(&hosts.hosts[i]);
        }
        peers_step(&hosts);
        check_alone(&hosts);
        check_processes(&hosts);
        people_check(&hosts);
        if (hosts.now_us % 500000 == 0) {
            check_joins(&hosts);
        }
    }
    if (!hosts.failed) {
        check_saves(&hosts);
        peers_check(&hosts);
        set_check(&hosts);
    }
    if (!hosts.failed) {
        stop_all(&hosts);
    }
    close_hosts(&hosts);
    HostsResult result = {.failed = hosts.failed,
                          .joins = hosts.joins_answered,
                          .tickets = hosts.tickets,
                          .saves = hosts.saves_acknowledged,
                          .begun = hosts.begun,
                          .crashes = hosts.crashes,
                          .structures = hosts.structures,
                          .numbers = hosts.numbers_given,
                          .pauses = hosts.pauses,
                          .wakes = hosts.wakes,
                          .real_switches = hosts.real_switches,
                          .hud_starts = hosts.hud_starts,
                          .settled_checks = hosts.settled_checks,
                          .admitted = hosts.admitted,
                          .bans = hosts.bans,
                          .sign_outs = hosts.sign_outs,
                          .made = hosts.made,
                          .led = hosts.led,
                          .ended = hosts.ended,
                          .outages = hosts.outages,
                          .fences = hosts.fences,
                          .adds = hosts.adds,
                          .adds_refused = hosts.adds_refused,
                          .adds_unknown = hosts.adds_unknown};
    if (on_postgres) {
        result.postgres = *pg_sim_counts();
    }
    memcpy(result.refused, hosts.refused, sizeof result.refused);
    memcpy(result.reload_counts, hosts.reload_counts, sizeof result.reload_counts);
    memcpy(result.message, hosts.message, sizeof result.message);
    return result;
}
