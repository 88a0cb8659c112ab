// See host.h: creation, the step, and answers of the store on their way to those who asked.
#include "server/host/host_inside.h"

#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#define TAG_KIND_SHIFT  60
#define TAG_WORLD_SHIFT 40
#define TAG_LIFE_SHIFT  24
#define TAG_INDEX_MASK  0xffffffu

_Static_assert(HOST_WORLDS_MAX <= 1u << (TAG_KIND_SHIFT - TAG_WORLD_SHIFT), "a tag names a world");
_Static_assert(HOST_REQUESTS_MAX <= TAG_INDEX_MASK, "a tag names a request");

uint64_t host_now(const Host *host)
{
    return host->config.outside.now_ns(host->config.outside.user);
}

uint64_t host_unix_ms(const Host *host)
{
    return host->config.outside.unix_ms(host->config.outside.user);
}

static void log_text(const Host *host, LogLevel level, const char *area, const char *format,
                     va_list arguments)
{
    char text[LOG_TEXT_BYTES + 64];
    vsnprintf(text, sizeof text, format, arguments);
    utf8_clean(text);
    host->config.outside.log(host->config.outside.user, level, area, text);
}

void host_log(const Host *host, LogLevel level, const char *area, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_text(host, level, area, format, arguments);
    va_end(arguments);
}

void hosted_log(const HostWorld *world, LogLevel level, const char *format, ...)
{
    char area[96];
    snprintf(area, sizeof area, "%s", world->host->config.one_world ? "host" : world->row.world_id);
    va_list arguments;
    va_start(arguments, format);
    log_text(world->host, level, area, format, arguments);
    va_end(arguments);
}

uint64_t host_tag(HostTag kind, const HostWorld *world, uint32_t index)
{
    ASSERT(index <= TAG_INDEX_MASK);
    const uint64_t number = world != NULL ? world->number : 0;
    const uint64_t life = world != NULL ? world->incarnation : 0;
    return (uint64_t)kind << TAG_KIND_SHIFT | number << TAG_WORLD_SHIFT | life << TAG_LIFE_SHIFT |
           index;
}

uint64_t host_outside_tag(uint64_t number)
{
    ASSERT(number < 1ull << HOST_OUTSIDE_BITS);
    return (uint64_t)TAG_OUTSIDE << TAG_KIND_SHIFT | number;
}

// --- creation -----------------------------------------------------------------------------------

Status host_create(const HostConfig *config, Host **out)
{
    Host *host = calloc(1, sizeof *host);
    if (host == NULL) {
        return STATUS_LIMIT;
    }
    host->config = *config;
    if (config->world_max == 0 || config->world_max > HOST_WORLDS_MAX) {
        host->config.world_max = HOST_WORLDS_MAX;
    }
    if (config->lease_ms == 0) {
        host->config.lease_ms = HOST_LEASE_MS;
    }
    if (config->idle_stop_ms == 0) {
        host->config.idle_stop_ms = HOST_IDLE_STOP_MS;
    }
    host->worlds = calloc(HOST_WORLDS_MAX, sizeof *host->worlds);
    host->joins = calloc(HOST_JOINS_MAX, sizeof *host->joins);
    host->accounts = calloc(HOST_ACCOUNTS, sizeof *host->accounts);
    host->admissions = calloc(HOST_ADMISSIONS_MAX, sizeof *host->admissions);
    host->ended = calloc(HOST_ENDED_SLOTS, sizeof *host->ended);
    host->look_ns = calloc(HOST_WORLDS_MAX, sizeof *host->look_ns);
    host->is_changed = calloc(HOST_WORLDS_MAX, sizeof *host->is_changed);
    Status status = used_tickets_open(&host->used_tickets);
    if (status == STATUS_OK) {
        status = host_index_open(host);
    }
    if (host->ended == NULL || host->look_ns == NULL || host->is_changed == NULL ||
        host->admissions == NULL || host->worlds == NULL || host->joins == NULL ||
        host->accounts == NULL) {
        status = STATUS_LIMIT;
    }
    if (status != STATUS_OK) {
        host_destroy(host);
        return status;
    }
    *out = host;
    return STATUS_OK;
}

void host_destroy(Host *host)
{
    if (host == NULL) {
        return;
    }
    for (uint32_t i = 0; i < host->world_count; i++) {
        hosted_free(host->worlds[i]);
    }
    for (uint32_t i = 0; i < host->place_count; i++) {
        host_place_release(host->places[i]);
    }
    used_tickets_close(&host->used_tickets);
    host_index_close(host);
    free(host->ended);
    free(host->look_ns);
    free(host->is_changed);
    free(host->admissions);
    free(host->worlds);
    free(host->joins);
    free(host->accounts);
    free(host->peers);
    free(host);
}

void host_set_address(Host *host, const char *address)
{
    snprintf(host->config.address, sizeof host->config.address, "%s", address);
}

// With other hosts on the same store there may be more worlds than fit here. One that is not used
// here gives way: whoever names it later has it looked for in the store again.
static Status reuse_slot(Host *host, const StoreWorld *row, HostWorld **out)
{
    for (uint32_t i = 0; host_has_peers(host) && i < HOST_WORLDS_MAX; i++) {
        host->reuse_next = (host->reuse_next + 1) % HOST_WORLDS_MAX;
        HostWorld *world = host->worlds[host->reuse_next];
        if (!host_world_is_stopped(world) || world->waiting > 0 || world->has_lease ||
            hosted_has_process(world) || world->asked != 0 || world->arriving > 0) {
            continue;
        }
        if (world->row.world_id[0] != '\0') {
            host_world_forget(world);
        }
        world->row = *row;
        world->is_held = false;
        world->elsewhere_ns = 0;
        hosted_changed(world);
        hosted_renew_place(world);
        world->other_place = false;
        if (row->world_id[0] != '\0') {
            host_index_add(world);
        }
        *out = world;
        return STATUS_OK;
    }
    return STATUS_LIMIT;
}

Status host_add_world(Host *host, const StoreWorld *row, HostWorld **out)
{
    if (host->world_count == HOST_WORLDS_MAX) {
        return reuse_slot(host, row, out);
    }
    HostWorld *world = calloc(1, sizeof *world);
    if (world == NULL) {
        return STATUS_LIMIT;
    }
    world->host = host;
    world->number = host->world_count;
    world->row = *row;
    world->state = WORLD_STOPPED;
    world->state_ns = host_now(host);
    host->look_ns[world->number] = LOOK_NEVER;
    host->worlds[host->world_count++] = world;
    hosted_changed(world);
    hosted_renew_place(world);
    world->other_place = false; // whoever adds it says so
    if (row->world_id[0] != '\0') {
        host_index_add(world);
    }
    *out = world;
    return STATUS_OK;
}

void hosted_changed(HostWorld *world)
{
    Host *host = world->host;
    host->is_changed[world->number] = true;
    host->changed_from = world->number < host->changed_from ? world->number : host->changed_from;
}

HostWorld *host_take_changed(Host *host)
{
    while (host->changed_from < host->world_count) {
        const uint32_t at = host->changed_from++;
        if (host->is_changed[at]) {
            host->is_changed[at] = false;
            return host->worlds[at];
        }
    }
    return NULL;
}

uint32_t host_world_count(const Host *host)
{
    return host->world_count;
}

HostWorld *host_world_at(Host *host, uint32_t number)
{
    ASSERT(number < host->world_count);
    return host->worlds[number];
}

const HostCounts *host_counts(const Host *host)
{
    return &host->counts;
}

StoreDisk host_disk(const Host *host)
{
    return store_stats(host->config.store).disk;
}

// A world that is wanted will have a process, so it counts before it has one.
static bool is_counted(const HostWorld *world)
{
    return (world->wanted || hosted_has_process(world)) && !world->gives_way;
}

bool host_has_room(const Host *host, const HostWorld *world)
{
    uint32_t count = 0;
    if (host->config.no_worlds) {
        return false;
    }
    for (uint32_t i = 0; i < host->world_count; i++) {
        count += is_counted(host->worlds[i]);
    }
    return (world != NULL && is_counted(world)) || count < host->config.world_max;
}

// --- the step -----------------------------------------------------------------------------------

static void answer_one(Host *host, StoreCompletion *done)
{
    const HostTag kind = (HostTag)(done->tag >> TAG_KIND_SHIFT);
    if (kind == TAG_OUTSIDE && host->config.outside.stored != NULL) {
        host->config.outside.stored(host->config.outside.user, done);
        return;
    }
    if (kind == TAG_RENEW) {
        host_lease_answer(host, done);
        return;
    }
    if (kind == TAG_PEERS) {
        host_peers_answer(host, done);
        return;
    }
    if (kind == TAG_HOST_END) {
        host->peers_asked_ns = 0;
        host_peers_refresh(host);
        return;
    }
    const uint32_t number = (uint32_t)(done->tag >> TAG_WORLD_SHIFT) & (HOST_WORLDS_MAX - 1);
    if (kind == TAG_PROFILES) {
        host_profiles_answer(host, (uint32_t)(done->tag & TAG_INDEX_MASK), done);
        return;
    }
    const uint16_t life = (uint16_t)(done->tag >> TAG_LIFE_SHIFT);
    const uint32_t index = (uint32_t)(done->tag & TAG_INDEX_MASK);
    if (kind == TAG_NOTHING || number >= host->world_count) {
        return;
    }
    HostWorld *world = host->worlds[number];
    if (life != world->incarnation) {
        return; // of a life that is over
    }
    if (kind == TAG_SAVE) {
        hosted_save_answer(world, index, done);
    } else if (kind == TAG_REQUEST) {
        hosted_request_answer(world, index, done);
    } else {
        hosted_answer(world, kind, done);
    }
}

// A host that stood still first finds out whether its lease has run out: what the store answered
// before that may not be true any more.
void host_store_poll(Host *host)
{
    StoreCompletion done;
    host_lease_watch(host);
    while (store_poll(host->config.store, &done)) {
        answer_one(host, &done);
        free(done.rows);
    }
}

void host_step(Host *host)
{
    const uint64_t now = host_now(host);
    if (host->stepped_ns != 0 && now - host->stepped_ns < HOST_STEP_MS * HOST_MS_NS) {
        return;
    }
    host->stepped_ns = now;
    host_store_poll(host);
    host_lease_step(host);
    for (uint32_t i = 0; i < host->world_count; i++) {
        if (host->look_ns[i] <= now) {
            hosted_step(host->worlds[i]);
        }
    }
    host_peers_step(host);
    host_moves_step(host);
    host_joins_step(host);
    host_evidence_step(host);
}

Status host_socket(Host *host, const char *name, const HostSocket *socket)
{
    HostWorld *world = host_world(host, name);
    if (world == NULL || !hosted_has_place(world)) {
        return STATUS_NOT_FOUND;
    }
    if (world->sockets == NULL) {
        world->sockets = calloc(HOST_SOCKETS_MAX, sizeof *world->sockets);
    }
    // A stranger's socket starts no world: who has a ticket has had it started. In development
    // everybody may come in.
    const bool may_start =
        world->state != WORLD_STOPPED || (host->config.development && !host->draining);
    if (host->stopping || !may_start || world->sockets == NULL ||
        world->socket_count == HOST_SOCKETS_MAX || !host_make_room(host, world)) {
        host->counts.sockets_refused += 1;
        return STATUS_LIMIT;
    }
    world->sockets[world->socket_count++] = *socket;
    hosted_want(world);
    hosted_pass_sockets(world);
    return STATUS_OK;
}

// --- the end ------------------------------------------------------------------------------------

void host_stop(Host *host, uint32_t ms)
{
    if (host->stopping) {
        return;
    }
    host->stopping = true;
    host->stop_ns = host_now(host) + ms * HOST_MS_NS;
    for (uint32_t i = 0; i < host->world_count; i++) {
        host_joins_refuse(host->worlds[i], REFUSED_ENDING);
        hosted_stop(host->worlds[i]);
    }
}

void host_drain(Host *host, bool drains)
{
    if (host->draining != drains) {
        host_log(host, LOG_INFO, "host", "%s",
                 drains ? "drains: no worlds are started, those that run go on"
                        : "drains no more: worlds are started again");
    }
    host->draining = drains;
}

bool host_is_draining(const Host *host)
{
    return host->draining;
}

bool host_is_stopping(const Host *host)
{
    return host->stopping;
}

bool host_is_ready(const Host *host)
{
    return !host->stopping && !host->draining && host_lease_is_good(host);
}

bool host_is_over(const Host *host)
{
    if (!host->stopping) {
        return false;
    }
    bool all = true;
    for (uint32_t i = 0; i < host->world_count; i++) {
        all = all && host->worlds[i]->state == WORLD_STOPPED;
    }
    return all;
}

bool host_has_failed(const Host *host)
{
    return host->failed;
}
