// scale_simulation [--hosts N] [--players N] [--seed S]
//
// A thousand hosts and a million players in simulated time: who joins, hosts that die and hosts
// that drain. Worlds are placed by the real placement (server/host/placement.h) with what each host
// knows: rows that are renewed every 3 s and read every 3 s, so that everybody decides by old
// numbers. How long a death takes to be noticed follows from the times of server/host/host_peer.h;
// docs/SCALE.md has the numbers that this prints, and the exit code is 1 if one of the promises
// does not hold.
#include "core/base/rng.h"
#include "server/host/host_peer.h"
#include "server/host/placement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORLD_PLAYERS 40
#define STEP_MS       100
#define RENEW_MS      3000
#define RAMP_MS       600000  // everybody comes within ten minutes
#define END_MS        1800000 // half an hour in all
#define DEATH_MS      10000   // a host dies so often, after the ramp
#define DRAIN_MS      15000   // and one drains
#define SILENT_PART   10 // of this many deaths one is silent: the machine is gone, not the process
#define LEASE_MS      30000
#define BACK_MS       120000 // a host that is gone comes back
// Measured, see docs/SCALE.md: thousandths of a host (one core, 4 GB) for a world with 40 players.
#define WORLD_TICK   16
#define WORLD_MEMORY 15
#define COMMIT_MS    60  // of the row that ends a host, and of taking a world
#define START_MS     300 // a world process, until it runs
#define RETRY_MS     300 // when a player's page asks again, and then every second
#define RELEASE_MS   250 // final save and release of a world that drains

typedef struct SimWorld {
    uint32_t host;     // UINT32_MAX: nobody runs it
    uint64_t lost_ms;  // since when
    uint64_t free_ms;  // from when on it can be taken
    uint64_t asked_ms; // when somebody asks for it next
    uint32_t players, cause;
} SimWorld;

typedef struct SimHost {
    bool is_up, is_draining;
    uint32_t worlds, told_worlds; // now, and as its row says
    bool told_up;
    uint64_t back_ms;
    uint32_t phase; // when it renews and reads, within RENEW_MS
    uint32_t *read; // what it read last: worlds of each; UINT32_MAX: not to be asked
} SimHost;

enum { CAUSE_REFUSED, CAUSE_SILENT, CAUSE_DRAIN, CAUSE_COUNT };

typedef struct Sim {
    Rng rng;
    uint64_t now_ms;
    SimHost *hosts;
    SimWorld *worlds;
    PlacementHost *list, *others;
    uint32_t host_count, world_count, world_max;
    uint64_t joined, placed, deaths, drains, gaps[CAUSE_COUNT];
    uint64_t gap_max_ms[CAUSE_COUNT], gap_sum_ms[CAUSE_COUNT];
    double worst, worst_p99;
} Sim;

static uint32_t any_host(Sim *sim)
{
    uint32_t at = rng_below(&sim->rng, sim->host_count);
    while (!sim->hosts[at].is_up || sim->hosts[at].is_draining) {
        at = (at + 1) % sim->host_count;
    }
    return at;
}

// As host_peer_hear: the one that is asked knows what it has now, and what it read of the others.
static bool is_over(Sim *sim, uint32_t asked)
{
    const SimHost *host = &sim->hosts[asked];
    for (uint32_t i = 0; i < sim->host_count; i++) {
        const uint32_t known = host->read[i];
        sim->others[i] =
            (PlacementHost){.load = placement_load(known * WORLD_MEMORY, known * WORLD_TICK, 0, 0),
                            .can_take = known != UINT32_MAX && i != asked};
    }
    const uint32_t own =
        placement_load(host->worlds * WORLD_MEMORY, host->worlds * WORLD_TICK, 0, 0);
    return placement_is_over(sim->others, sim->host_count, own, WORLD_TICK);
}

// As host_place_world: by what the host that answers the join has read.
static void place(Sim *sim, SimWorld *world)
{
    const uint32_t by = any_host(sim);
    SimHost *answering = &sim->hosts[by];
    for (uint32_t i = 0; i < sim->host_count; i++) {
        const uint32_t known = i == by ? sim->hosts[i].worlds : answering->read[i];
        sim->list[i] = (PlacementHost){
            .load = placement_load(known * WORLD_MEMORY, known * WORLD_TICK, 0, 0),
            .can_take = known != UINT32_MAX && (i != by || !answering->is_draining)};
    }
    for (uint32_t tries = 0; tries < 8; tries++) {
        const uint32_t chosen =
            placement_choose(sim->list, sim->host_count, rng_u32(&sim->rng), tries);
        if (chosen == UINT32_MAX) {
            break;
        }
        if (sim->hosts[chosen].is_up && !sim->hosts[chosen].is_draining &&
            (chosen == by || !is_over(sim, chosen))) {
            answering->read[chosen] += answering->read[chosen] != UINT32_MAX;
            sim->hosts[chosen].worlds += 1;
            sim->placed += 1;
            world->host = chosen;
            if (world->lost_ms != 0) {
                const uint64_t gap = sim->now_ms + COMMIT_MS + START_MS - world->lost_ms;
                sim->gaps[world->cause] += 1;
                sim->gap_sum_ms[world->cause] += gap;
                sim->gap_max_ms[world->cause] =
                    gap > sim->gap_max_ms[world->cause] ? gap : sim->gap_max_ms[world->cause];
                world->lost_ms = 0;
            }
            return;
        }
        sim->list[chosen].can_take = false; // it refuses: the next one
    }
    world->asked_ms = sim->now_ms + 150; // host_place_again
}

static void join_players(Sim *sim, uint64_t count)
{
    for (uint64_t i = 0; i < count && sim->world_count < sim->world_max; i++) {
        SimWorld *last = sim->world_count > 0 ? &sim->worlds[sim->world_count - 1] : NULL;
        if (last == NULL || last->players == WORLD_PLAYERS) {
            last = &sim->worlds[sim->world_count++];
            *last = (SimWorld){.host = UINT32_MAX};
            place(sim, last);
        }
        last->players += 1;
        sim->joined += 1;
    }
}

// From when on its worlds can be taken, and when the first of its players ask for them.
static void lose_worlds(Sim *sim, uint32_t host, uint32_t cause, uint64_t free_ms)
{
    for (uint32_t i = 0; i < sim->world_count; i++) {
        SimWorld *world = &sim->worlds[i];
        if (world->host == host) {
            *world = (SimWorld){.host = UINT32_MAX,
                                .lost_ms = sim->now_ms,
                                .free_ms = free_ms,
                                .asked_ms = sim->now_ms + rng_below(&sim->rng, RETRY_MS) +
                                            (cause == CAUSE_DRAIN ? 50 : 100),
                                .players = world->players,
                                .cause = cause};
        }
    }
    sim->hosts[host].worlds = 0;
    sim->hosts[host].back_ms = sim->now_ms + BACK_MS;
}

static void kill_one(Sim *sim)
{
    const uint32_t host = any_host(sim);
    const bool is_silent = sim->deaths++ % SILENT_PART == SILENT_PART - 1;
    // Two watch it, each every HOST_PROBE_MS; the first one asks another host, and ends the row.
    const uint64_t noticed = rng_below(&sim->rng, HOST_PROBE_MS) / 2 + 40 + COMMIT_MS;
    const uint64_t lease = LEASE_MS - rng_below(&sim->rng, RENEW_MS);
    sim->hosts[host].is_up = false;
    lose_worlds(sim, host, is_silent ? CAUSE_SILENT : CAUSE_REFUSED,
                sim->now_ms + (is_silent ? lease : noticed));
}

static void drain_one(Sim *sim)
{
    const uint32_t host = any_host(sim);
    sim->drains += 1;
    sim->hosts[host].is_draining = true;
    lose_worlds(sim, host, CAUSE_DRAIN, sim->now_ms + RELEASE_MS);
}

static void renew(Sim *sim)
{
    for (uint32_t i = 0; i < sim->host_count; i++) {
        SimHost *host = &sim->hosts[i];
        if (host->back_ms != 0 && sim->now_ms >= host->back_ms) {
            host->is_up = true;
            host->is_draining = false;
            host->back_ms = 0;
        }
        if ((sim->now_ms + host->phase) % RENEW_MS >= STEP_MS) {
            continue;
        }
        host->told_worlds = host->worlds;
        host->told_up = host->is_up && !host->is_draining;
        for (uint32_t k = 0; k < sim->host_count; k++) {
            host->read[k] = sim->hosts[k].told_up ? sim->hosts[k].told_worlds : UINT32_MAX;
        }
    }
}

static void ask_for_worlds(Sim *sim)
{
    for (uint32_t i = 0; i < sim->world_count; i++) {
        SimWorld *world = &sim->worlds[i];
        if (world->host != UINT32_MAX || sim->now_ms < world->asked_ms) {
            continue;
        }
        if (sim->now_ms < world->free_ms) { // a host waits a moment for it, then says 503
            world->asked_ms += sim->now_ms - world->lost_ms < 1500 ? 150 : 1000;
            continue;
        }
        place(sim, world);
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// How far hosts that have been up for a while are from the mean.
static void measure(Sim *sim)
{
    double *off = malloc(sim->host_count * sizeof *off);
    uint32_t count = 0;
    double sum = 0;
    for (uint32_t i = 0; i < sim->host_count; i++) {
        sum += sim->hosts[i].is_up ? sim->hosts[i].worlds : 0;
        count += sim->hosts[i].is_up;
    }
    const double mean = sum / count;
    count = 0;
    for (uint32_t i = 0; i < sim->host_count && off != NULL; i++) {
        if (sim->hosts[i].is_up) {
            off[count++] = fabs(sim->hosts[i].worlds - mean) / mean;
        }
    }
    if (off != NULL) {
        qsort(off, count, sizeof *off, compare);
        sim->worst = off[count - 1];
        sim->worst_p99 = off[count * 99 / 100];
        free(off);
    }
}

static bool promise(const char *what, double value, double most, const char *unit)
{
    printf("%-58s %8.2f %s, promised %.0f: %s\n", what, value, unit, most,
           value <= most ? "holds" : "FAILS");
    return value <= most;
}

int main(int argc, char **argv)
{
    Sim sim = {.host_count = 1000};
    uint64_t players = 1000000, seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const uint64_t value = strtoull(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--hosts") == 0) {
            sim.host_count = (uint32_t)value;
        } else if (strcmp(argv[i], "--players") == 0) {
            players = value;
        } else if (strcmp(argv[i], "--seed") == 0) {
            seed = value;
        }
    }
    sim.rng = rng_make(seed, 22);
    sim.world_max = (uint32_t)(players / WORLD_PLAYERS) + 1;
    sim.hosts = calloc(sim.host_count, sizeof *sim.hosts);
    sim.worlds = calloc(sim.world_max, sizeof *sim.worlds);
    sim.list = calloc(sim.host_count, sizeof *sim.list);
    sim.others = calloc(sim.host_count, sizeof *sim.others);
    for (uint32_t i = 0; i < sim.host_count; i++) {
        sim.hosts[i] = (SimHost){.is_up = true,
                                 .told_up = true,
                                 .phase = rng_below(&sim.rng, RENEW_MS),
                                 .read = calloc(sim.host_count, sizeof *sim.hosts[i].read)};
    }
    double ramp_worst = 0, ramp_p99 = 0;
    for (sim.now_ms = STEP_MS; sim.now_ms <= END_MS; sim.now_ms += STEP_MS) {
        renew(&sim);
        if (sim.now_ms <= RAMP_MS) {
            join_players(&sim, players * sim.now_ms / RAMP_MS - sim.joined);
        } else if (sim.now_ms % DEATH_MS == 0 && sim.now_ms < END_MS - BACK_MS) {
            kill_one(&sim);
        } else if (sim.now_ms % DRAIN_MS == 5000 && sim.now_ms < END_MS - BACK_MS) {
            drain_one(&sim);
        }
        if (sim.now_ms == RAMP_MS) {
            measure(&sim);
            ramp_worst = sim.worst;
            ramp_p99 = sim.worst_p99;
        }
        ask_for_worlds(&sim);
    }
    uint32_t without = 0;
    for (uint32_t i = 0; i < sim.world_count; i++) {
        without += sim.worlds[i].host == UINT32_MAX;
    }
    printf("%u hosts, %llu players in %u worlds, %llu placements, %llu deaths, %llu drains\n",
           sim.host_count, (unsigned long long)sim.joined, sim.world_count,
           (unsigned long long)sim.placed, (unsigned long long)sim.deaths,
           (unsigned long long)sim.drains);
    printf("99 of 100 hosts are within %.1f %% of the mean when all are in\n", ramp_p99 * 100);
    bool holds = promise("furthest from the mean, when all are in", ramp_worst * 100, 10, "%");
    static const struct {
        const char *name;
        double most;
    } causes[CAUSE_COUNT] = {{"a host died and refuses: a world without an owner", 2000},
                             {"a machine is gone: a world without an owner", LEASE_MS + 1000},
                             {"a host drains: a world without an owner", 1000}};
    for (uint32_t i = 0; i < CAUSE_COUNT; i++) {
        printf("  %llu worlds, %.0f ms in the mean\n", (unsigned long long)sim.gaps[i],
               sim.gaps[i] > 0 ? (double)sim.gap_sum_ms[i] / (double)sim.gaps[i] : 0.0);
        holds = promise(causes[i].name, (double)sim.gap_max_ms[i], causes[i].most, "ms") && holds;
    }
    holds = promise("worlds without an owner at the end", without, 0, "") && holds;
    return holds ? 0 : 1;
}
