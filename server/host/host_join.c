// Who wants to come in: which world they get, a new one where none has room, and a ticket once it
// runs. However many wait for one world, it is started once.
#include "server/host/host_inside.h"

#include <stdio.h>

#define WORLD_ID_LETTERS 12

void room_code_from(const uint8_t random[ROOM_CODE_RANDOM], char out[17])
{
    // Without those that are taken for each other.
    static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    for (uint32_t i = 0; i < ROOM_CODE_RANDOM; i++) {
        out[i] = letters[random[i] % (sizeof letters - 1)];
    }
    out[ROOM_CODE_RANDOM] = '\0';
}

void room_code_make(const Host *host, char out[17])
{
    uint8_t random[ROOM_CODE_RANDOM];
    host->config.outside.random(host->config.outside.user, random, sizeof random);
    room_code_from(random, out);
}

static void make_world_id(const Host *host, char out[65])
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789";
    uint8_t random[WORLD_ID_LETTERS];
    host->config.outside.random(host->config.outside.user, random, sizeof random);
    const int at = snprintf(out, 65, "world_");
    for (uint32_t i = 0; i < WORLD_ID_LETTERS; i++) {
        out[at + (int)i] = letters[random[i] % (sizeof letters - 1)];
    }
    out[at + WORLD_ID_LETTERS] = '\0';
}

// --- answers ------------------------------------------------------------------------------------

static void refuse(Host *host, const HostJoin *join, HostRefusal refusal)
{
    const HostJoinAnswer answer = {.refusal = refusal, .disk = host_disk(host)};
    host->counts.joins_refused += 1;
    host->config.outside.joined(host->config.outside.user, join->tag, &answer);
}

// For this host, or for the one that holds the world.
static void give_ticket(HostWorld *world, const HostJoin *join, const StoreHeld *held)
{
    Host *host = world->host;
    const HostOutside *outside = &host->config.outside;
    HostJoinAnswer answer = {.world = world, .address = held != NULL ? held->address : NULL};
    Ticket ticket = join->who;
    ticket.purpose = TICKET_ENTER;
    ticket.flags &= ~(uint32_t)(held != NULL ? TICKET_DEBUG : 0); // of development, and here alone
    ticket.expires_unix_ms = host_unix_ms(host) + TICKET_MS;
    ticket.epoch = held != NULL ? held->epoch : world->epoch;
    memcpy(ticket.world_id, world->row.world_id, sizeof ticket.world_id);
    memcpy(ticket.boot, held != NULL ? held->boot : host->config.boot, sizeof ticket.boot);
    outside->random(outside->user, ticket.nonce, sizeof ticket.nonce);
    if (ticket_write(host->config.key, &ticket, answer.ticket, sizeof answer.ticket) != STATUS_OK) {
        refuse(host, join, REFUSED_UNAVAILABLE);
        return;
    }
    if (held == NULL) { // the other one counts who comes to it
        world->invited += 1;
        world->invited_ns = host_now(host);
    }
    host->counts.tickets_given += 1;
    outside->joined(outside->user, join->tag, &answer);
}

// Takes those that wait for this world; an answer may bring the next join.
static bool take_waiting(Host *host, const HostWorld *world, HostJoin *out)
{
    for (uint32_t i = 0; i < host->join_count; i++) {
        if (host->joins[i].world == world) {
            *out = host->joins[i].join;
            host->joins[i] = host->joins[--host->join_count];
            return true;
        }
    }
    return false;
}

void host_joins_answer(HostWorld *world)
{
    HostJoin join;
    while (take_waiting(world->host, world, &join)) {
        give_ticket(world, &join, NULL);
    }
}

void host_joins_lead(HostWorld *world)
{
    HostJoin join;
    while (take_waiting(world->host, world, &join)) {
        give_ticket(world, &join, &world->held);
    }
}

void host_joins_refuse(HostWorld *world, HostRefusal refusal)
{
    HostJoin join;
    while (take_waiting(world->host, world, &join)) {
        refuse(world->host, &join,
               host_disk(world->host) != STORE_DISK_FINE ? REFUSED_DISK : refusal);
    }
}

void host_joins_step(Host *host)
{
    const uint64_t now = host_now(host);
    for (uint32_t i = 0; i < host->join_count;) {
        if (now < host->joins[i].deadline_ns) {
            i += 1;
            continue;
        }
        const HostJoin join = host->joins[i].join;
        host->joins[i] = host->joins[--host->join_count];
        refuse(host, &join, REFUSED_LATE);
    }
}

// --- which world --------------------------------------------------------------------------------

uint32_t hosted_player_count(const HostWorld *world)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < world->host->join_count; i++) {
        waiting += world->host->joins[i].world == world;
    }
    return (uint32_t)world->stats.players + world->admitted[0] + world->admitted[1] +
           world->invited + waiting;
}

static bool has_room(const HostWorld *world)
{
    return hosted_player_count(world) < world->place->numbers.player_max;
}

// The fullest that has room: players want company. One that runs before one that does not.
static HostWorld *choose(Host *host, const HostPlace *place)
{
    HostWorld *best = NULL;
    uint32_t best_score = 0;
    for (uint32_t i = 0; i < host->world_count; i++) {
        HostWorld *world = host->worlds[i];
        if (world->place != place || world->row.world_id[0] == '\0' || !has_room(world)) {
            continue;
        }
        const uint32_t score =
            1 + 2 * hosted_player_count(world) + (world->state == WORLD_RUNNING ? 1 : 0);
        if (score > best_score) {
            best = world;
            best_score = score;
        }
    }
    return best;
}

static HostWorld *free_slot(Host *host)
{
    for (uint32_t i = 0; i < host->world_count; i++) {
        if (host->worlds[i]->row.world_id[0] == '\0' && host->worlds[i]->state == WORLD_STOPPED) {
            return host->worlds[i];
        }
    }
    HostWorld *world = NULL;
    return host_add_world(host, &(StoreWorld){0}, &world) == STATUS_OK ? world : NULL;
}

static HostWorld *make_world(Host *host, HostPlace *place)
{
    HostWorld *world = free_slot(host);
    if (world == NULL) {
        return NULL;
    }
    world->place = place;
    world->make_tries = 0;
    world->row = (StoreWorld){.created_unix_ms = host_unix_ms(host)};
    make_world_id(host, world->row.world_id);
    snprintf(world->row.name, sizeof world->row.name, "%s", place->built.facts.name);
    memcpy(world->row.place_id, place->place_id, sizeof world->row.place_id);
    memcpy(world->row.place_hash, place->scene_hash, sizeof world->row.place_hash);
    hosted_make(world);
    return world;
}

static HostWorld *find_for(Host *host, const HostJoin *join, HostRefusal *why)
{
    if (join->world[0] != '\0') {
        HostWorld *world = host_world(host, join->world);
        *why = REFUSED_NO_WORLD;
        return world != NULL && world->place != NULL ? world : NULL;
    }
    HostPlace *place = host_place(host, join->place);
    if (place == NULL) {
        *why = REFUSED_NO_PLACE;
        return NULL;
    }
    // With nothing named there is a new world, or the only one.
    const bool any = join->place[0] != '\0' || host->config.one_world;
    HostWorld *world = any ? choose(host, place) : NULL;
    if (world == NULL && host->config.one_world) {
        world = host->world_count > 0 ? host->worlds[0] : NULL; // it says itself that it is full
    }
    *why = REFUSED_FULL;
    // Nothing is made for who cannot come in.
    if (world == NULL && host_has_room(host, NULL)) {
        world = make_world(host, place);
    }
    return world;
}

// The store has just said so.
static bool is_elsewhere(const Host *host, const HostWorld *world)
{
    return world->state == WORLD_STOPPED && world->elsewhere_ns != 0 &&
           host_now(host) - world->elsewhere_ns < HOST_SECOND_NS;
}

// REFUSED_NOT: it may wait for its world.
static HostRefusal refusal_of(const Host *host, const HostWorld *world)
{
    if (is_elsewhere(host, world)) {
        return REFUSED_ELSEWHERE;
    }
    if (!host_has_room(host, world)) {
        return REFUSED_FULL;
    }
    return REFUSED_NOT;
}

void host_join(Host *host, const HostJoin *join)
{
    HostRefusal refusal = REFUSED_NOT;
    if (host->stopping || host->join_count == HOST_JOINS_MAX) {
        refuse(host, join, host->stopping ? REFUSED_ENDING : REFUSED_CROWD);
        return;
    }
    HostWorld *world = find_for(host, join, &refusal);
    if (world == NULL) {
        refuse(host, join, refusal);
        return;
    }
    if (world->state == WORLD_RUNNING) {
        give_ticket(world, join, NULL);
        return;
    }
    if (is_elsewhere(host, world) && world->is_held) {
        give_ticket(world, join, &world->held);
        return;
    }
    refusal = refusal_of(host, world);
    if (refusal != REFUSED_NOT) {
        refuse(host, join, refusal);
        return;
    }
    host->joins[host->join_count++] = (WaitingJoin){
        .join = *join, .world = world, .deadline_ns = host_now(host) + HOST_JOIN_MS * HOST_MS_NS};
    hosted_want(world);
}
