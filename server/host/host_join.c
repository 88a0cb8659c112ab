// Who wants to come in: which world they get, a new one where none has room, and a ticket once it
// runs. However many wait for one world, it is started once.
#include "server/host/host_inside.h"

#include <stdio.h>

#define WORLD_ID_LETTERS 12

void room_code_from(const uint8_t *random, uint32_t count, char out[17])
{
    // Without those that are taken for each other.
    static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    ASSERT(count < 17);
    for (uint32_t i = 0; i < count; i++) {
        out[i] = letters[random[i] % (sizeof letters - 1)];
    }
    out[count] = '\0';
}

void room_code_make(const Host *host, bool is_private, char out[17])
{
    uint8_t random[ROOM_CODE_PRIVATE];
    const uint32_t letters = is_private ? ROOM_CODE_PRIVATE : ROOM_CODE_RANDOM;
    host->config.outside.random(host->config.outside.user, random, letters);
    room_code_from(random, letters, out);
}

// --- answers ------------------------------------------------------------------------------------

void host_note_refused(Host *host, HostRefusal refusal)
{
    host->counts.joins_refused[refusal] += 1;
}

static void answer_peer(Host *host, uint64_t tag, HostPeerAnswer *answer)
{
    answer->result = PEER_ANSWERED;
    memcpy(answer->boot, host->config.boot, sizeof answer->boot);
    host->config.outside.peer_answered(host->config.outside.user, tag, answer);
}

static void refuse_join(Host *host, const HostJoin *join, HostRefusal refusal)
{
    if (join->for_peer) {
        answer_peer(host, join->tag, &(HostPeerAnswer){.refusal = refusal});
        return;
    }
    HostJoinAnswer answer = {.refusal = refusal, .disk = host_disk(host)};
    if (refusal == REFUSED_BANNED) {
        const HostOutside *outside = &host->config.outside;
        const HostWorld *world = host_world(host, join->world);
        outside->rules(outside->user, join->who.account, world != NULL ? world->row.world_id : "",
                       &answer.rules);
    }
    host_note_refused(host, refusal);
    host->config.outside.joined(host->config.outside.user, join->tag, &answer);
}

// --- slots that tickets keep --------------------------------------------------------------------

static void invite(HostWorld *world, uint64_t expires_unix_ms)
{
    const uint64_t second = expires_unix_ms / 1000;
    const uint32_t at = (uint32_t)(second % HOST_INVITED_SECONDS);
    if (world->invited[at].second != second) {
        world->invited[at].second = second;
        world->invited[at].count = 0;
    }
    world->invited[at].count += 1;
}

bool hosted_take_given(HostWorld *world, uint64_t account)
{
    HostGiven *given = &world->host->given[account % HOST_GIVEN_MAX];
    const bool is_given = given->account == account && given->world == world &&
                          given->until_unix_ms > host_unix_ms(world->host) &&
                          !hosted_has_ended(world, account, given->until_unix_ms - TICKET_MS);
    if (is_given) {
        *given = (HostGiven){0};
    }
    return is_given;
}

void hosted_invite_used(HostWorld *world, const Ticket *ticket)
{
    (void)hosted_take_given(world, ticket->account);
    const uint64_t second = ticket->expires_unix_ms / 1000;
    const uint32_t at = (uint32_t)(second % HOST_INVITED_SECONDS);
    if (world->invited[at].second == second && world->invited[at].count > 0) {
        world->invited[at].count -= 1;
    }
}

uint32_t hosted_invited(const HostWorld *world)
{
    const uint64_t now = host_unix_ms(world->host) / 1000;
    uint32_t count = 0;
    for (uint32_t i = 0; i < HOST_INVITED_SECONDS; i++) {
        count += world->invited[i].second >= now ? world->invited[i].count : 0;
    }
    return count;
}

// --- tickets ------------------------------------------------------------------------------------

// For this host, or for the one that holds the world.
static void give_ticket(HostWorld *world, const HostJoin *join, const StoreHeld *held)
{
    Host *host = world->host;
    const HostOutside *outside = &host->config.outside;
    if (join->for_peer) {
        HostPeerAnswer said = {.refusal = REFUSED_NOT};
        if (held != NULL) {
            said.held = *held;
        } else {
            said.held.epoch = world->epoch;
            said.players = hosted_player_count(world);
            memcpy(said.held.boot, host->config.boot, sizeof said.held.boot);
            snprintf(said.held.address, sizeof said.held.address, "%s", host->config.address);
        }
        answer_peer(host, join->tag, &said);
        return;
    }
    const HostPeer *peer = held != NULL ? host_peer_find(host, NULL, held->boot) : NULL;
    HostJoinAnswer answer = {.world = world,
                             .address = held != NULL ? held->address : NULL,
                             .signing_key = peer != NULL ? peer->row.public_key : NULL};
    if (hosted_has_ended(world, join->who.account, join->asked_unix_ms)) {
        refuse_join(host, join, REFUSED_FORBIDDEN);
        return;
    }
    Ticket ticket = join->who;
    ticket.flags &= ~(uint32_t)(held != NULL ? TICKET_DEBUG : 0); // of development, and here alone
    ticket.expires_unix_ms = host_unix_ms(host) + TICKET_MS;
    ticket.epoch = held != NULL ? held->epoch : world->epoch;
    memcpy(ticket.world_id, world->row.world_id, sizeof ticket.world_id);
    memcpy(ticket.boot, held != NULL ? held->boot : host->config.boot, sizeof ticket.boot);
    outside->random(outside->user, ticket.nonce, sizeof ticket.nonce);
    if (ticket_write(host->config.key, &ticket, answer.ticket, sizeof answer.ticket) != STATUS_OK) {
        refuse_join(host, join, REFUSED_UNAVAILABLE);
        return;
    }
    if (held == NULL) { // the other one counts who comes to it
        invite(world, ticket.expires_unix_ms);
        host->given[ticket.account % HOST_GIVEN_MAX] =
            (HostGiven){ticket.account, ticket.expires_unix_ms, world};
    } else if (outside->entered != NULL && peer == NULL) { // and might say that anybody did
        outside->entered(outside->user, world, &ticket);
    }
    host->counts.tickets_given += 1;
    outside->joined(outside->user, join->tag, &answer);
}

// Takes one of those that wait for this world; an answer may bring the next join.
static bool take_waiting(HostWorld *world, bool only_peers, WaitingJoin *out)
{
    Host *host = world->host;
    for (uint32_t i = 0; i < host->join_count; i++) {
        if (host->joins[i].world == world && (host->joins[i].join.for_peer || !only_peers)) {
            *out = host->joins[i];
            world->waiting -= 1;
            host->joins[i] = host->joins[--host->join_count];
            return true;
        }
    }
    return false;
}

void host_joins_answer(HostWorld *world)
{
    WaitingJoin waiting;
    while (take_waiting(world, false, &waiting)) {
        give_ticket(world, &waiting.join, NULL);
    }
}

static void join_until(Host *host, const HostJoin *join, uint64_t deadline_ns);

void host_joins_lead(HostWorld *world)
{
    WaitingJoin waiting;
    if (hosted_is_uncertain(world)) {
        while (take_waiting(world, true, &waiting)) { // they ask again themselves
            refuse_join(world->host, &waiting.join, REFUSED_UNCERTAIN);
        }
        if (world->waiting > 0) {
            host_place_again(world);
        }
        return;
    }
    while (take_waiting(world, false, &waiting)) {
        const HostJoin *join = &waiting.join;
        // Who wants any world of the place gets another one, if this one is full there.
        if (join->world[0] == '\0' && join->place[0] != '\0' && !join->for_peer &&
            hosted_is_full_elsewhere(world)) {
            join_until(world->host, join, waiting.deadline_ns);
        } else {
            give_ticket(world, join, &world->held);
        }
    }
}

void host_joins_refuse(HostWorld *world, HostRefusal refusal)
{
    WaitingJoin waiting;
    while (take_waiting(world, false, &waiting)) {
        refuse_join(world->host, &waiting.join,
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
        host->joins[i].world->waiting -= 1;
        host->joins[i] = host->joins[--host->join_count];
        refuse_join(host, &join, REFUSED_LATE);
    }
}

// The store, or a peer, has just said so. A peer is asked again soon: it may be going down, and
// whoever it has told so would be led back to it.
static bool is_elsewhere(const Host *host, const HostWorld *world)
{
    const uint64_t known_ns = host_has_peers(host) ? HOST_SECOND_NS / 20 : HOST_SECOND_NS;
    return world->state == WORLD_STOPPED && world->elsewhere_ns != 0 &&
           host_now(host) - world->elsewhere_ns < known_ns;
}

// REFUSED_NOT: it may wait for its world.
static HostRefusal refusal_of(Host *host, const HostWorld *world)
{
    if (is_elsewhere(host, world) && !host_has_peers(host)) {
        return REFUSED_ELSEWHERE;
    }
    if (host->draining && !hosted_has_process(world)) {
        return REFUSED_DRAINING;
    }
    return host_make_room(host, world) ? REFUSED_NOT : REFUSED_FULL;
}

static void join_until(Host *host, const HostJoin *join, uint64_t deadline_ns)
{
    HostRefusal refusal = REFUSED_NOT;
    if (host->stopping || host->join_count == HOST_JOINS_MAX) {
        refuse_join(host, join, host->stopping ? REFUSED_ENDING : REFUSED_CROWD);
        return;
    }
    HostWorld *world =
        join->for_peer ? host_world(host, join->world) : host_choose(host, join, &refusal);
    if (world == NULL || (join->for_peer && !hosted_has_place(world))) {
        refuse_join(host, join,
                    world == NULL && join->for_peer ? REFUSED_NO_WORLD
                    : world == NULL                 ? refusal
                                                    : REFUSED_NO_PLACE);
        return;
    }
    if (world->state == WORLD_RUNNING) {
        give_ticket(world, join, NULL);
        return;
    }
    if (is_elsewhere(host, world) && world->is_held && !hosted_is_uncertain(world)) {
        give_ticket(world, join, &world->held);
        return;
    }
    const bool is_placed = !join->for_peer && host_place_world(world);
    refusal = is_placed ? REFUSED_NOT : refusal_of(host, world);
    if (refusal != REFUSED_NOT) {
        refuse_join(host, join, refusal);
        return;
    }
    host->joins[host->join_count++] =
        (WaitingJoin){.join = *join, .world = world, .deadline_ns = deadline_ns};
    world->waiting += 1;
    if (!is_placed) {
        hosted_want(world);
    }
}

void host_join(Host *host, const HostJoin *asked)
{
    HostJoin join = *asked;
    if (join.asked_unix_ms == 0) {
        join.asked_unix_ms = host_unix_ms(host);
    }
    join_until(host, &join, host_now(host) + HOST_JOIN_MS * HOST_MS_NS);
}
