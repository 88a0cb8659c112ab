// See host_peer.h: the list of peers, who is asked what, and what follows from the answers.
#include "server/host/host_inside.h"
#include "server/host/placement.h"

#include <stdio.h>

#define PROBE_NS         (HOST_PROBE_MS * HOST_MS_NS) // how often each of the watched is looked for
#define WATCHED          2 // peers that each host watches: those after it in the order of ids
#define REFRESH_LEAST_NS (HOST_SECOND_NS / 5)
#define KNOWN_NS         (50 * HOST_MS_NS) // how soon it is looked whether the peers are known

_Static_assert(HOST_ASKS_MAX <= 1 << 16, "a tag has room for the number of an ask");

// --- the list -----------------------------------------------------------------------------------

bool host_has_peers(const Host *host)
{
    return host->config.outside.peer_ask != NULL;
}

void host_peers_refresh(Host *host)
{
    const uint64_t now = host_now(host);
    if (host->peers_asked || now - host->peers_asked_ns < REFRESH_LEAST_NS) {
        return;
    }
    host->peers_asked = store_peers_find(host->config.store, host_unix_ms(host),
                                         host_tag(TAG_PEERS, NULL, 0)) == STATUS_OK;
    host->peers_asked_ns = now;
}

static bool is_own(const Host *host, const StoreHost *row)
{
    return strcmp(row->host_id, host->config.host_id) == 0;
}

HostPeer *host_peer_find(Host *host, const char *host_id, const uint8_t *boot)
{
    for (uint32_t i = 0; i < host->peer_count; i++) {
        HostPeer *peer = &host->peers[i];
        if ((host_id == NULL || strcmp(peer->row.host_id, host_id) == 0) &&
            memcmp(peer->row.boot, boot, sizeof peer->row.boot) == 0) {
            return peer;
        }
    }
    return NULL;
}

// What is known of a boot stays.
void host_peers_answer(Host *host, const StoreCompletion *done)
{
    host->peers_asked = false;
    if (done->status != STATUS_OK) {
        return;
    }
    HostPeer *before = host->peers;
    const uint32_t before_count = host->peer_count;
    host->peers = calloc(STORE_PEERS_MAX, sizeof *host->peers);
    StoreHost *rows = calloc(STORE_PEERS_MAX, sizeof *rows);
    if (host->peers == NULL || rows == NULL) {
        free(host->peers);
        free(rows);
        host->peers = before;
        return;
    }
    const uint32_t count = store_peers_read(done, rows, STORE_PEERS_MAX);
    host->peer_count = 0;
    host->peers_known = true;
    host->own_row_is_there = false;
    for (uint32_t i = 0; i < count; i++) {
        if (is_own(host, &rows[i])) {
            host->own_row_is_there = true;
            continue;
        }
        HostPeer *peer = &host->peers[host->peer_count++];
        for (uint32_t k = 0; k < before_count; k++) {
            if (memcmp(before[k].row.boot, rows[i].boot, sizeof rows[i].boot) == 0) {
                *peer = before[k];
            }
        }
        if (memcmp(&peer->row, &rows[i], sizeof rows[i]) != 0) {
            peer->placed = 0; // its load knows of them
        }
        peer->row = rows[i];
    }
    free(rows);
    free(before);
}

uint32_t host_peer_count(const Host *host)
{
    return host->peer_count;
}

const StoreHost *host_peer_at(const Host *host, uint32_t number)
{
    ASSERT(number < host->peer_count);
    return &host->peers[number].row;
}

const StoreHost *host_peer_by_key(Host *host, const uint8_t public_key[32])
{
    const uint64_t now = host_unix_ms(host);
    for (uint32_t i = 0; i < host->peer_count; i++) {
        const StoreHost *row = &host->peers[i].row;
        if (memcmp(row->public_key, public_key, sizeof row->public_key) == 0 &&
            row->expires_unix_ms > now) {
            return row;
        }
    }
    if (host_has_peers(host)) {
        host_peers_refresh(host);
    }
    return NULL;
}

// --- questions ----------------------------------------------------------------------------------

// NULL: too many wait for an answer.
static HostAsk *new_ask(Host *host, HostPeerKind kind)
{
    for (uint32_t i = 0; i < HOST_ASKS_MAX; i++) {
        const uint32_t at = host->ask_next++ % HOST_ASKS_MAX;
        if (!host->asks[at].is_open) {
            const uint64_t wait_ms = kind == PEER_RUN ? HOST_RUN_MS : HOST_PEER_MS;
            const uint64_t until_ns = host_now(host) + wait_ms * HOST_MS_NS;
            host->ask_number += 1;
            host->asks[at] = (HostAsk){.is_open = true,
                                       .kind = kind,
                                       .tag = host->ask_number << 16 | at,
                                       .until_ns = until_ns};
            host->ask_due_ns = until_ns < host->ask_due_ns ? until_ns : host->ask_due_ns;
            return &host->asks[at];
        }
    }
    return NULL;
}

static void send_ask(Host *host, const HostPeer *peer, const HostAsk *ask, const StoreHost *about,
                     const char *world_id, const char *text)
{
    HostPeerAsk out = {.kind = ask->kind, .tag = ask->tag};
    if (about != NULL) {
        memcpy(out.host_id, about->host_id, sizeof out.host_id);
        memcpy(out.boot, about->boot, sizeof out.boot);
    }
    if (world_id != NULL) {
        snprintf(out.world_id, sizeof out.world_id, "%s", world_id);
    }
    if (text != NULL) {
        snprintf(out.text, sizeof out.text, "%s", text);
    }
    host->counts.peers_asked += 1;
    host->config.outside.peer_ask(host->config.outside.user, &peer->row, &out);
}

// relay 0: for ourselves.
static void probe(Host *host, HostPeer *peer, uint64_t relay)
{
    HostAsk *ask = new_ask(host, PEER_PROBE);
    if (ask != NULL) {
        memcpy(ask->boot, peer->row.boot, sizeof ask->boot);
        ask->relay = relay;
        peer->probed_ns = host_now(host);
        send_ask(host, peer, ask, NULL, NULL, NULL);
    }
}

void host_peers_say(Host *host, const char *world, const char *text)
{
    for (uint32_t i = 0; i < host->peer_count; i++) {
        HostAsk *ask = new_ask(host, PEER_SAY);
        if (ask != NULL) {
            memcpy(ask->boot, host->peers[i].row.boot, sizeof ask->boot);
            send_ask(host, &host->peers[i], ask, NULL, world, text);
        }
    }
}

// Any other peer that does not seem dead itself.
static HostPeer *find_witness(Host *host, const HostPeer *about)
{
    const uint32_t from = (uint32_t)(host->ask_number % (host->peer_count + 1));
    for (uint32_t i = 0; i < host->peer_count; i++) {
        HostPeer *peer = &host->peers[(from + i) % host->peer_count];
        if (peer != about && !peer->is_refused) {
            return peer;
        }
    }
    return NULL;
}

static void ask_witness(Host *host, HostPeer *about)
{
    HostPeer *witness = find_witness(host, about);
    HostAsk *ask = witness != NULL ? new_ask(host, PEER_CHECK) : NULL;
    if (ask != NULL) {
        memcpy(ask->boot, about->row.boot, sizeof ask->boot);
        send_ask(host, witness, ask, &about->row, NULL, NULL);
    }
}

// --- answers ------------------------------------------------------------------------------------

static void answered(Host *host, uint64_t tag, HostPeerAnswer *answer)
{
    memcpy(answer->boot, host->config.boot, sizeof answer->boot);
    host->config.outside.peer_answered(host->config.outside.user, tag, answer);
}

// How long ago it was known to write: what was asked then was done.
static uint32_t written_ms(const Host *host)
{
    const uint64_t ms = (host_now(host) - host->renewed_ns) / HOST_MS_NS;
    return host_lease_is_good(host) && ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

// While the database is away this is tried again with each probe.
static void end_row(Host *host, HostPeer *peer, const char *why)
{
    if (!peer->is_ended) {
        host_log(host, LOG_WARN, "host",
                 "host %s %s: its row is ended, and its worlds can be taken", peer->row.host_id,
                 why);
    }
    peer->is_ended = true;
    if (store_host_end(host->config.store, peer->row.host_id, peer->row.boot,
                       host_tag(TAG_HOST_END, NULL, 0)) == STATUS_OK) {
        host->counts.peers_ended += 1;
    }
}

// A world that a host runs on request may take long to begin. But who does not even answer a probe
// begins none: those who wait for it are told so.
static void end_runs(Host *host, const uint8_t boot[STORE_BOOT_BYTES])
{
    for (uint32_t i = 0; i < HOST_ASKS_MAX; i++) {
        const HostAsk *ask = &host->asks[i];
        if (ask->is_open && ask->kind == PEER_RUN &&
            memcmp(ask->boot, boot, STORE_BOOT_BYTES) == 0) {
            host_peer_answer(host, ask->tag, &(HostPeerAnswer){.result = PEER_SILENT});
        }
    }
}

static void probe_answered(Host *host, const HostAsk *ask, const HostPeerAnswer *answer)
{
    HostPeer *peer = host_peer_find(host, NULL, ask->boot);
    // Another process may have its address by now: then that life is over.
    const bool is_gone =
        answer->result == PEER_REFUSED ||
        (answer->result == PEER_ANSWERED && memcmp(answer->boot, ask->boot, sizeof ask->boot) != 0);
    if (ask->relay != 0) {
        answered(host, ask->relay,
                 &(HostPeerAnswer){.result = PEER_ANSWERED,
                                   .checked = is_gone ? PEER_REFUSED : answer->result});
    }
    if (peer == NULL) {
        return;
    }
    peer->is_refused = is_gone;
    peer->is_silent = answer->result == PEER_SILENT;
    if (peer->is_silent) {
        end_runs(host, ask->boot);
    }
    const uint64_t ago = answer->written_ms * HOST_MS_NS, now = host_now(host);
    if (answer->result == PEER_ANSWERED && !is_gone && ago < now) {
        host_lease_peer_wrote(host, now - ago);
    }
    peer->is_ended = peer->is_ended && (answer->result != PEER_ANSWERED || is_gone ||
                                        answer->refusal == REFUSED_ENDING);
    if (is_gone && ask->relay == 0) {
        ask_witness(host, peer);
    }
    if (answer->result == PEER_ANSWERED && !is_gone && answer->refusal == REFUSED_ENDING &&
        host_lease_is_good(host)) {
        end_row(host, peer, "is cut off from the database and has stopped its worlds");
    }
}

bool hosted_is_uncertain(HostWorld *world)
{
    Host *host = world->host;
    const HostPeer *peer = host_has_peers(host) && world->is_held
                               ? host_peer_find(host, NULL, world->held.boot)
                               : NULL;
    return peer != NULL && (peer->is_refused || peer->is_silent || peer->is_ending ||
                            peer->row.draining || peer->row.expires_unix_ms <= host_unix_ms(host));
}

#define AGAIN_NS  (75 * HOST_MS_NS)
#define TRIES_MAX 16

void host_place_again(HostWorld *world)
{
    world->tries += 1;
    if (world->tries > TRIES_MAX) {
        world->tries = 0;
        host_joins_refuse(world, REFUSED_UNCERTAIN);
        return;
    }
    world->again_ns = host_now(world->host) + AGAIN_NS;
    hosted_wake(world);
}

static void check_answered(Host *host, const HostAsk *ask, const HostPeerAnswer *answer)
{
    HostPeer *peer = host_peer_find(host, NULL, ask->boot);
    if (peer == NULL || !peer->is_refused || answer->result != PEER_ANSWERED ||
        answer->checked != PEER_REFUSED) {
        return;
    }
    end_row(host, peer, "refuses connections, here and from another host");
}

static void run_answered(Host *host, const HostAsk *ask, const HostPeerAnswer *answer)
{
    HostWorld *world = ask->world < host->world_count ? host->worlds[ask->world] : NULL;
    HostPeer *peer = host_peer_find(host, NULL, ask->boot);
    if (world == NULL || world->asked != ask->tag) {
        return;
    }
    world->asked = 0;
    hosted_wake(world);
    if (answer->result == PEER_ANSWERED && answer->refusal == REFUSED_NOT) {
        world->is_held = true;
        world->held = answer->held;
        world->away_players = answer->players;
        world->elsewhere_ns = host_now(host);
        world->tries = 0;
        const bool is_its_own = memcmp(answer->held.boot, ask->boot, sizeof ask->boot) == 0;
        if (is_its_own || !host_ask_holder(world)) {
            host_joins_lead(world);
        }
        return;
    }
    if (peer != NULL) {
        if (answer->result == PEER_REFUSED && !peer->is_refused) {
            peer->is_refused = true;
            ask_witness(host, peer);
        }
        peer->is_silent = peer->is_silent || answer->result == PEER_SILENT;
        if (answer->result == PEER_ANSWERED && answer->refusal == REFUSED_ENDING) {
            peer->is_ending = true; // nobody is led there any more
        }
        peer->shunned_ns = host_now(host) + HOST_SECOND_NS; // others first
    }
    const bool is_final =
        answer->result == PEER_ANSWERED && answer->refusal != REFUSED_ENDING &&
        answer->refusal != REFUSED_DRAINING && answer->refusal != REFUSED_FULL &&
        answer->refusal != REFUSED_UNCERTAIN && answer->refusal != REFUSED_NO_WORLD &&
        answer->refusal != REFUSED_NO_PLACE && answer->refusal != REFUSED_ELSEWHERE;
    if (is_final) {
        host_joins_refuse(world, answer->refusal);
        return;
    }
    host_place_again(world);
}

void host_peer_answer(Host *host, uint64_t tag, const HostPeerAnswer *answer)
{
    HostAsk *open = &host->asks[tag & 0xffff & (HOST_ASKS_MAX - 1)];
    if (!open->is_open || open->tag != tag) {
        return; // late
    }
    open->is_open = false;
    const HostAsk ask = *open;
    if (ask.kind == PEER_PROBE) {
        probe_answered(host, &ask, answer);
    } else if (ask.kind == PEER_CHECK) {
        check_answered(host, &ask, answer);
    } else if (ask.kind == PEER_RUN) {
        run_answered(host, &ask, answer);
    }
}

static const PlacementHost *list_hosts(Host *host);

// Whoever asks us to run a world knows how much we had to do some seconds ago; several may have
// chosen us since. And a host that may take no worlds for some seconds yet says so: players would
// wait for it, while others are there.
static bool is_over(Host *host, const char *world_id)
{
    const HostWorld *world = host_world(host, world_id);
    if (world != NULL && (world->has_lease || world->state != WORLD_STOPPED)) {
        return false; // it is here
    }
    if (!host_lease_may_take(host)) {
        return true;
    }
    StoreHost own = host->own_load;
    host->config.outside.load(host->config.outside.user, &own);
    const uint32_t load = placement_load(own.memory, own.tick, own.worlds, 0);
    const uint32_t worlds = own.worlds > 0 ? own.worlds : 1;
    const PlacementHost *all = list_hosts(host);
    return placement_is_over(all + 1, host->peer_count, load, load / worlds);
}

void host_peer_hear(Host *host, const HostPeerAsk *ask)
{
    HostPeerAnswer answer = {.result = PEER_ANSWERED};
    if (ask->kind == PEER_PROBE) {
        answer.written_ms = written_ms(host);
        answer.refusal = host_lease_has_stopped(host) ? REFUSED_ENDING : REFUSED_NOT;
        host->said_stopped = host->said_stopped || answer.refusal == REFUSED_ENDING;
        answered(host, ask->tag, &answer);
    } else if (ask->kind == PEER_CHECK) {
        HostPeer *peer = host_peer_find(host, ask->host_id, ask->boot);
        if (peer == NULL) {
            host_peers_refresh(host);
            answer.checked = PEER_SILENT;
            answered(host, ask->tag, &answer);
        } else {
            probe(host, peer, ask->tag);
        }
    } else if (ask->kind == PEER_SAY) {
        (void)host_announce(host, ask->world_id, ask->text);
        answered(host, ask->tag, &answer);
    } else if (is_over(host, ask->world_id)) {
        answer.refusal = REFUSED_FULL; // the next one
        answered(host, ask->tag, &answer);
    } else {
        HostJoin join = {.tag = ask->tag, .for_peer = true};
        snprintf(join.world, sizeof join.world, "%s", ask->world_id);
        host_join(host, &join);
    }
}

// --- placement ----------------------------------------------------------------------------------

static bool can_take(const Host *host, const HostPeer *peer)
{
    return !peer->row.draining && !peer->is_ending && !peer->is_refused && !peer->is_silent &&
           peer->shunned_ns <= host_now(host) && peer->row.expires_unix_ms > host_unix_ms(host);
}

bool host_peers_can_take(const Host *host)
{
    bool can = false;
    for (uint32_t i = 0; i < host->peer_count && !can; i++) {
        can = can_take(host, &host->peers[i]);
    }
    return can;
}

// Ourselves first, so that of equals it is ourselves; then the peers.
static const PlacementHost *list_hosts(Host *host)
{
    static PlacementHost all[STORE_PEERS_MAX + 1]; // a host has one thread
    const StoreHost *own = &host->own_load;
    all[0] = (PlacementHost){
        .load = placement_load(own->memory, own->tick, own->worlds, host->own_placed),
        .can_take = !host->draining && host_lease_may_take(host) && host_has_room(host, NULL)};
    for (uint32_t i = 0; i < host->peer_count; i++) {
        const HostPeer *peer = &host->peers[i];
        all[i + 1] = (PlacementHost){.load = placement_load(peer->row.memory, peer->row.tick,
                                                            peer->row.worlds, peer->placed),
                                     .can_take = can_take(host, peer)};
    }
    return all;
}

// NULL: ourselves, if that can be.
static HostPeer *least_loaded(Host *host, uint32_t tries, bool *can_be_here)
{
    const PlacementHost *all = list_hosts(host);
    uint32_t random = 0;
    host->config.outside.random(host->config.outside.user, &random, sizeof random);
    const uint32_t chosen = placement_choose(all, host->peer_count + 1, random, tries);
    *can_be_here = chosen != UINT32_MAX;
    return chosen == 0 || chosen == UINT32_MAX ? NULL : &host->peers[chosen - 1];
}

// Whoever had it last answers without the store, and proves that they are there.
static HostPeer *last_holder(Host *host, const HostWorld *world)
{
    HostPeer *peer = world->is_held ? host_peer_find(host, NULL, world->held.boot) : NULL;
    return peer != NULL && can_take(host, peer) ? peer : NULL;
}

static bool ask_to_run(HostWorld *world, HostPeer *peer)
{
    HostAsk *ask = new_ask(world->host, PEER_RUN);
    if (ask == NULL) {
        return false;
    }
    memcpy(ask->boot, peer->row.boot, sizeof ask->boot);
    ask->world = world->number;
    world->asked = ask->tag;
    peer->placed += 1;
    send_ask(world->host, peer, ask, NULL, world->row.world_id, NULL);
    return true;
}

bool host_place_world(HostWorld *world)
{
    Host *host = world->host;
    // A host that has just begun knows none yet, and may take no world for some seconds.
    if (host_has_peers(host) && (host->peer_count > 0 || !host->peers_known) &&
        world->state == WORLD_MAKING && !world->wanted) {
        world->again_ns = host_now(host); // once its row is stored
        return true;
    }
    if (!host_has_peers(host) || world->has_lease || hosted_has_process(world) ||
        world->state != WORLD_STOPPED) {
        return false;
    }
    if (world->asked != 0) {
        return true; // joins wait for the answer
    }
    if (!host->peers_known) { // it has just begun: another may run it
        world->again_ns = host_now(host) + KNOWN_NS;
        hosted_wake(world);
        return true;
    }
    HostPeer *peer = last_holder(host, world);
    bool can_be_here = true;
    peer = peer != NULL ? peer : least_loaded(host, world->tries, &can_be_here);
    if (peer == NULL && !can_be_here && host->peer_count > 0 &&
        (host->draining || !host_lease_may_take(host) || !host_make_room(host, world))) {
        host_place_again(world); // others are soon asked again, before we may take any
        return true;
    }
    if (peer == NULL || !ask_to_run(world, peer)) {
        host->own_placed += 1;
        return false; // here
    }
    return true;
}

bool host_ask_holder(HostWorld *world)
{
    HostPeer *holder =
        host_has_peers(world->host) && world->asked == 0 ? last_holder(world->host, world) : NULL;
    return holder != NULL && ask_to_run(world, holder);
}

// --- the step -----------------------------------------------------------------------------------

static void end_late_asks(Host *host)
{
    const uint64_t now = host_now(host);
    if (now < host->ask_due_ns) {
        return;
    }
    host->ask_due_ns = UINT64_MAX;
    for (uint32_t i = 0; i < HOST_ASKS_MAX; i++) {
        if (host->asks[i].is_open && now >= host->asks[i].until_ns) {
            host_peer_answer(host, host->asks[i].tag, &(HostPeerAnswer){.result = PEER_SILENT});
        }
    }
    for (uint32_t i = 0; i < HOST_ASKS_MAX; i++) { // also those that an answer has led to
        const HostAsk *ask = &host->asks[i];
        if (ask->is_open && ask->until_ns < host->ask_due_ns) {
            host->ask_due_ns = ask->until_ns;
        }
    }
}

// Those that follow in the order of ids, so that each host is watched by WATCHED others.
static void watch_peers(Host *host, bool all)
{
    const uint64_t now = host_now(host);
    uint32_t first = 0;
    while (first < host->peer_count &&
           strcmp(host->peers[first].row.host_id, host->config.host_id) < 0) {
        first += 1;
    }
    const uint32_t count = all || host->peer_count < WATCHED ? host->peer_count : (uint32_t)WATCHED;
    for (uint32_t i = 0; i < count; i++) {
        HostPeer *peer = &host->peers[(first + i) % host->peer_count];
        if (now - peer->probed_ns >= PROBE_NS) {
            probe(host, peer, 0);
        }
    }
}

void host_peers_step(Host *host)
{
    if (!host_has_peers(host)) {
        return;
    }
    end_late_asks(host);
    // Who cannot renew asks more of them: whether it is the database, or our way to it.
    watch_peers(host, host_lease_is_late(host) && host->peer_count <= 8);
}
