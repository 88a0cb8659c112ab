// See hosts.h: what hosts of one store say to each other, and how that gets lost.
#include "tests/scenario/host/hosts.h"

#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SimLetter *new_letter(Hosts *hosts)
{
    for (uint32_t i = 0; i < LETTERS_MAX; i++) {
        SimLetter *letter = &hosts->letters[hosts->letter_next++ % LETTERS_MAX];
        if (!letter->is_used) {
            *letter = (SimLetter){.is_used = true,
                                  .due_us = hosts->now_us + 1000 + rng_below(&hosts->rng, 20000)};
            if (hosts->letter_next - hosts->letter_first > LETTERS_MAX) {
                hosts->letter_first = hosts->letter_next - LETTERS_MAX;
            }
            return letter;
        }
    }
    hosts_fail(hosts, "too many letters between hosts");
    return NULL;
}

SimHost *peers_find(Hosts *hosts, const char *address)
{
    for (uint32_t i = 0; i < hosts->host_count; i++) {
        char own[16];
        snprintf(own, sizeof own, "host%u", i);
        if (strcmp(own, address) == 0) {
            return hosts->hosts[i].host != NULL ? &hosts->hosts[i] : NULL;
        }
    }
    hosts_fail(hosts, "somebody is led to %s, which is no host", address);
    return NULL;
}

static void peer_ask(void *user, const StoreHost *peer, const HostPeerAsk *ask)
{
    SimHost *host = user;
    Hosts *hosts = host->hosts;
    SimLetter *letter = new_letter(hosts);
    if (letter != NULL) {
        letter->from = host->number;
        letter->from_life = host->life;
        letter->to = (uint32_t)(peer->host_id[strlen("host")] - '0');
        letter->tag = ask->tag;
        letter->ask = *ask;
        ASSERT(letter->to < hosts->host_count);
    }
}

// The tag of a question that a host hears is the number of its letter.
static void peer_answered(void *user, uint64_t tag, const HostPeerAnswer *answer)
{
    SimHost *host = user;
    Hosts *hosts = host->hosts;
    const SimLetter *asked = &hosts->letters[tag % LETTERS_MAX];
    SimLetter *letter = asked->is_used ? new_letter(hosts) : NULL;
    if (letter != NULL) {
        letter->is_answer = true;
        letter->from = asked->from;
        letter->from_life = asked->from_life;
        letter->to = asked->to;
        letter->tag = asked->tag;
        letter->answer = *answer;
        hosts->letters[tag % LETTERS_MAX].is_used = false;
    }
}

static void load(void *user, StoreHost *out)
{
    SimHost *host = user;
    out->worlds = 0;
    for (uint32_t i = 0; i < host_world_count(host->host); i++) {
        out->worlds += host_world_link(host_world_at(host->host, i)) != NULL;
    }
    out->memory = out->worlds * 10;
}

void peers_outside(HostOutside *outside)
{
    outside->peer_ask = peer_ask;
    outside->peer_answered = peer_answered;
    outside->load = load;
}

static bool is_cut(const Hosts *hosts, uint32_t a, uint32_t b)
{
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return hosts->cut_until_us[low][high] > hosts->now_us;
}

// A host looks in the store for a world that it does not know: one of the first, or one that a host
// has made since, which asks others only once its row is stored.
static void look_in_store(Hosts *hosts, SimHost *host, const char *world_id)
{
    const StoreWorld *row = NULL;
    for (uint32_t i = 0; i < hosts->world_count && row == NULL; i++) {
        row = strcmp(hosts->worlds[i].row.world_id, world_id) == 0 ? &hosts->worlds[i].row : NULL;
    }
    for (uint32_t i = 0; i < hosts->host_count && row == NULL; i++) {
        Host *other = hosts->hosts[i].host;
        const HostWorld *known = other != NULL ? host_world(other, world_id) : NULL;
        row = known != NULL ? host_world_view(known).row : NULL;
    }
    HostWorld *made = NULL;
    if (row != NULL) {
        const StoreWorld copy = *row;
        status_ignore(host_add_world(host->host, &copy, &made));
    }
}

static void deliver(Hosts *hosts, SimLetter *letter)
{
    SimHost *from = &hosts->hosts[letter->from], *to = &hosts->hosts[letter->to];
    SimHost *reader = letter->is_answer ? from : to;
    if (is_cut(hosts, letter->from, letter->to)) {
        letter->is_used = false; // the one that asked hears nothing
        return;
    }
    if (letter->is_answer || to->host == NULL) {
        const HostPeerAnswer refused = {.result = PEER_REFUSED};
        const HostPeerAnswer answer = letter->is_answer ? letter->answer : refused;
        letter->is_used = false;
        if (from->host != NULL && from->life == letter->from_life) {
            if (from->stalled_until_us > hosts->now_us) {
                letter->is_used = true; // it reads it when it is awake
                return;
            }
            host_peer_answer(from->host, letter->tag, &answer);
        }
        return;
    }
    if (reader->stalled_until_us > hosts->now_us) {
        return; // it lies there
    }
    letter->due_us = UINT64_MAX; // until it is answered
    HostPeerAsk ask = letter->ask;
    if (ask.kind == PEER_RUN && host_world(to->host, ask.world_id) == NULL) {
        look_in_store(hosts, to, ask.world_id);
    }
    ask.tag = (uint64_t)(letter - hosts->letters);
    host_peer_hear(to->host, &ask);
}

#define RENEW_US 3000000ull
#define LATE_US  6000000ull // how much later than the one before it a renewal may be answered

// However many worlds a host runs, it writes one row every 3 s.
static void check_renewals(Hosts *hosts)
{
    for (uint32_t i = 0; hosts->has_postgres && i < hosts->host_count; i++) {
        SimHost *host = &hosts->hosts[i];
        const uint64_t count = host->host != NULL ? host_counts(host->host)->renewals : 0;
        if (count == 0 || count == host->renewals) {
            host->renewals = count;
            continue;
        }
        const uint64_t before_us = host->renewed_us[count % SIM_RENEWALS];
        if (count > SIM_RENEWALS && hosts->now_us - before_us < SIM_RENEWALS * RENEW_US - LATE_US) {
            hosts_fail(hosts, "host %u has renewed its row %u times in %llu ms", i,
                       (unsigned)SIM_RENEWALS,
                       (unsigned long long)((hosts->now_us - before_us) / 1000));
        }
        host->renewed_us[count % SIM_RENEWALS] = hosts->now_us;
        host->renewals = count;
    }
}

void peers_step(Hosts *hosts)
{
    uint64_t ended = 0;
    check_renewals(hosts);
    // The oldest that is used, and all after it.
    while (hosts->letter_first < hosts->letter_next &&
           !hosts->letters[hosts->letter_first % LETTERS_MAX].is_used) {
        hosts->letter_first += 1;
    }
    const uint64_t end = hosts->letter_next;
    for (uint64_t i = hosts->letter_first; i < end; i++) {
        SimLetter *letter = &hosts->letters[i % LETTERS_MAX];
        if (letter->is_used && letter->due_us <= hosts->now_us) {
            deliver(hosts, letter);
        } else if (letter->is_used && letter->due_us == UINT64_MAX &&
                   hosts->hosts[letter->to].host == NULL) {
            // It died before it answered: its side closes the connection.
            letter->is_answer = true;
            letter->answer = (HostPeerAnswer){.result = PEER_SILENT};
            letter->due_us = hosts->now_us;
        }
    }
    for (uint32_t i = 0; i < hosts->host_count; i++) {
        if (hosts->hosts[i].host != NULL) {
            ended += host_counts(hosts->hosts[i].host)->peers_ended;
        }
    }
    hosts->ended = ended > hosts->ended ? ended : hosts->ended;
}

void peers_trouble(Hosts *hosts)
{
    if (!hosts->has_peers) {
        return;
    }
    Rng *rng = &hosts->rng;
    const uint32_t a = rng_below(rng, hosts->host_count), b = rng_below(rng, hosts->host_count);
    if (rng_below(rng, 1200) == 0 && a != b) {
        hosts->cut_until_us[a < b ? a : b][a < b ? b : a] = hosts->now_us + rng_below(rng, 9000000);
    }
    if (rng_below(rng, 2500) == 0) { // a failover
        hosts->down_until_us = hosts->now_us + rng_below(rng, 12000000);
        hosts->outages += 1;
        if (hosts->has_postgres) { // some are a server that only stood still
            pg_sim_outage(hosts->down_until_us, rng_below(rng, 3) != 0);
        }
    }
    if (hosts->has_postgres && rng_below(rng, 2500) == 0) {
        pg_sim_cut(a, hosts->now_us + rng_below(rng, 12000000));
    }
}

// --- when nothing else goes wrong
// -----------------------------------------------------------------

#define OUTAGE_AT_US 6000000ull  // after the calm has begun
#define OUTAGE_US    6000000ull  // of a lease of 10 s
#define KILL_AT_US   16000000ull // when worlds are wanted, and checked after SOON_US
// With a lease of 30 s.
#define OUTAGE_AT_LONG_US 14000000ull
#define OUTAGE_LONG_US    20000000ull
#define KILL_AT_LONG_US   54000000ull
#define DEAD_US           9000000ull

static void sum_counts(const Hosts *hosts, uint64_t *lost, uint64_t *admitted, uint64_t *refused)
{
    *lost = *admitted = *refused = 0;
    for (uint32_t i = 0; i < hosts->host_count; i++) {
        if (hosts->hosts[i].host != NULL) {
            const HostCounts *counts = host_counts(hosts->hosts[i].host);
            *lost += counts->leases_lost;
            *admitted += counts->tickets_admitted;
            *refused += counts->tickets_refused;
        }
    }
}

// An outage of two thirds of a lease stops no world. Then a host dies, and two others are there:
// its worlds run again within SOON_US, because they end its row.
void peers_calm(Hosts *hosts)
{
    uint64_t lost, admitted, refused;
    if (!hosts->has_peers) {
        return;
    }
    const uint64_t calm_us = hosts->now_us - hosts->calm_us;
    sum_counts(hosts, &lost, &admitted, &refused);
    if (calm_us >= (hosts->has_postgres ? OUTAGE_AT_LONG_US : OUTAGE_AT_US) &&
        !hosts->has_calm_outage) {
        hosts->has_calm_outage = true;
        hosts->leases_lost = lost;
        hosts->down_until_us = hosts->now_us + (hosts->has_postgres ? OUTAGE_LONG_US : OUTAGE_US);
        if (hosts->has_postgres) {
            pg_sim_outage(hosts->down_until_us, hosts->seed % 3 != 0);
        }
    }
    if (calm_us < (hosts->has_postgres ? KILL_AT_LONG_US : KILL_AT_US) || hosts->has_calm_kill) {
        return;
    }
    hosts->has_calm_kill = true;
    hosts->admitted_before = admitted;
    hosts->refused_before = refused;
    if (lost > hosts->leases_lost) {
        hosts_fail(hosts, "a short outage of the database has ended %llu leases",
                   (unsigned long long)(lost - hosts->leases_lost));
    }
    if (hosts->host_count < 3) {
        return;
    }
    SimHost *dead = &hosts->hosts[rng_below(&hosts->rng, hosts->host_count)];
    hosts_kill(hosts, dead);
    hosts->admitted_before = hosts->refused_before = 0; // its counts are gone
    dead->dead_until_us = hosts->now_us + DEAD_US;
    for (uint32_t i = 0; i < hosts->world_count; i++) {
        hosts->worlds[i].want_us = hosts->now_us + 100000;
        hosts->worlds[i].check_us = 0;
    }
}

// Tickets of other hosts are good: few are refused, because their world has just stopped.
void peers_check(Hosts *hosts)
{
    uint64_t lost, admitted, refused;
    sum_counts(hosts, &lost, &admitted, &refused);
    if (hosts->has_peers && hosts->host_count < 3) {
        admitted -= hosts->admitted_before;
        refused -= hosts->refused_before;
        if (refused * 4 > admitted) {
            hosts_fail(hosts, "%llu tickets were refused and %llu accepted",
                       (unsigned long long)refused, (unsigned long long)admitted);
        }
    }
}
