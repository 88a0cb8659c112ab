// host_scenarios [--postgres] --seeds N [--from S] [--stop]   N seeds; --stop: until one fails
// host_scenarios [--postgres] SEED    one seed, with everything that the hosts log
//
// A seed that fails is printed with the command that runs it again, and the exit code is 1.
#include "tests/scenario/host/hosts.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool on_postgres;

static void add_postgres(PgSimCounts *sum, const PgSimCounts *counts)
{
    sum->flights += counts->flights;
    sum->commits += counts->commits;
    sum->unknown += counts->unknown;
    sum->late += counts->late;
    sum->lock_waits += counts->lock_waits;
    sum->lock_timeouts += counts->lock_timeouts;
    sum->deadlocks += counts->deadlocks;
    sum->idle_ended += counts->idle_ended;
    sum->late_marks += counts->late_marks;
    sum->missed_fences += counts->missed_fences;
    sum->failovers += counts->failovers;
    sum->freezes += counts->freezes;
}

static void print_postgres(const PgSimCounts *sum)
{
    printf(
        "PostgreSQL: %llu flights, %llu commits, %llu answers lost, %llu late flights, %llu waits "
        "for a lock, %llu of them in vain, %llu deadlocks, %llu idle transactions ended, %llu "
        "failovers, %llu times frozen; undone: %llu late commits, %llu whose fence missed\n",
        (unsigned long long)sum->flights, (unsigned long long)sum->commits,
        (unsigned long long)sum->unknown, (unsigned long long)sum->late,
        (unsigned long long)sum->lock_waits, (unsigned long long)sum->lock_timeouts,
        (unsigned long long)sum->deadlocks, (unsigned long long)sum->idle_ended,
        (unsigned long long)sum->failovers, (unsigned long long)sum->freezes,
        (unsigned long long)sum->late_marks, (unsigned long long)sum->missed_fences);
}

static bool run(uint64_t seed, bool verbose, HostsResult *sum)
{
    const HostsResult result = hosts_run(seed, on_postgres, verbose);
    add_postgres(&sum->postgres, &result.postgres);
    sum->joins += result.joins;
    sum->tickets += result.tickets;
    sum->saves += result.saves;
    sum->begun += result.begun;
    sum->crashes += result.crashes;
    sum->structures += result.structures;
    sum->numbers += result.numbers;
    sum->pauses += result.pauses;
    sum->wakes += result.wakes;
    sum->real_switches += result.real_switches;
    sum->hud_starts += result.hud_starts;
    sum->settled_checks += result.settled_checks;
    sum->admitted += result.admitted;
    sum->bans += result.bans;
    sum->sign_outs += result.sign_outs;
    sum->made += result.made;
    sum->led += result.led;
    sum->ended += result.ended;
    sum->outages += result.outages;
    sum->fences += result.fences;
    sum->adds += result.adds;
    sum->adds_refused += result.adds_refused;
    sum->adds_unknown += result.adds_unknown;
    for (uint32_t i = 0; i < REFUSED_COUNT; i++) {
        sum->refused[i] += result.refused[i];
    }
    for (uint32_t i = 0; i < HOST_RELOAD_RESULT_COUNT; i++) {
        sum->reload_counts[i] += result.reload_counts[i];
    }
    if (result.failed) {
        printf("FAILED seed %llu: %s\n  again: host_scenarios %s%llu\n", (unsigned long long)seed,
               result.message, on_postgres ? "--postgres " : "", (unsigned long long)seed);
        fflush(stdout);
    }
    return !result.failed;
}

static void print_sum(const HostsResult *sum)
{
    printf("%llu joins answered, %llu tickets, %llu saves acknowledged, %llu lives of worlds, %llu "
           "hosts killed\n",
           (unsigned long long)sum->joins, (unsigned long long)sum->tickets,
           (unsigned long long)sum->saves, (unsigned long long)sum->begun,
           (unsigned long long)sum->crashes);
    printf("reloads: %llu switched, %llu good, %llu refused, %llu replaced, %llu failed, %llu "
           "restored\n",
           (unsigned long long)sum->reload_counts[HOST_RELOAD_SWITCHED],
           (unsigned long long)sum->reload_counts[HOST_RELOAD_GOOD],
           (unsigned long long)sum->reload_counts[HOST_RELOAD_REFUSED],
           (unsigned long long)sum->reload_counts[HOST_RELOAD_REPLACED],
           (unsigned long long)sum->reload_counts[HOST_RELOAD_FAILED],
           (unsigned long long)sum->reload_counts[HOST_RELOAD_RESTORED]);
    printf("peers: %llu led to another host, %llu rows of dead hosts ended, %llu outages of the "
           "database, %llu lives fenced; %llu times added to a DataStore, %llu refused, %llu "
           "unknown\n",
           (unsigned long long)sum->led, (unsigned long long)sum->ended,
           (unsigned long long)sum->outages, (unsigned long long)sum->fences,
           (unsigned long long)sum->adds, (unsigned long long)sum->adds_refused,
           (unsigned long long)sum->adds_unknown);
    printf("real worlds: %llu structures durable, %llu numbers of a DataStore given, %llu pauses, "
           "%llu woken, %llu switches of scripts, %llu starts at clients, %llu looks at settled "
           "clients\n",
           (unsigned long long)sum->structures, (unsigned long long)sum->numbers,
           (unsigned long long)sum->pauses, (unsigned long long)sum->wakes,
           (unsigned long long)sum->real_switches, (unsigned long long)sum->hud_starts,
           (unsigned long long)sum->settled_checks);
    printf(
        "people: %llu let in, %llu bans and mutes, %llu signed out, %llu worlds made; refused: "
        "%llu banned, %llu private, %llu world full, %llu own quota, %llu quota of the address\n",
        (unsigned long long)sum->admitted, (unsigned long long)sum->bans,
        (unsigned long long)sum->sign_outs, (unsigned long long)sum->made,
        (unsigned long long)sum->refused[REFUSED_BANNED],
        (unsigned long long)sum->refused[REFUSED_FORBIDDEN],
        (unsigned long long)sum->refused[REFUSED_WORLD_FULL],
        (unsigned long long)sum->refused[REFUSED_QUOTA],
        (unsigned long long)sum->refused[REFUSED_ADDRESS]);
}

int main(int argc, char **argv)
{
    uint64_t count = 0, from = 1, failed = 0, done = 0;
    bool stop = false;
    HostsResult sum = {0};
    if (sodium_init() < 0) {
        return 1;
    }
    if (argc >= 2 && strcmp(argv[1], "--postgres") == 0) {
        on_postgres = true;
        argc -= 1;
        argv += 1;
    }
    if (argc == 2 && argv[1][0] != '-') {
        const bool good = run(strtoull(argv[1], NULL, 10), true, &sum);
        print_sum(&sum);
        if (on_postgres) {
            print_postgres(&sum.postgres);
        }
        return good ? 0 : 1;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
            count = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--from") == 0 && i + 1 < argc) {
            from = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--stop") == 0) {
            stop = true;
        } else {
            printf("unknown: %s\n", argv[i]);
            return 2;
        }
    }
    for (; done < count && !(stop && failed > 0); done++) {
        failed += run(from + done, false, &sum) ? 0 : 1;
    }
    print_sum(&sum);
    if (on_postgres) {
        print_postgres(&sum.postgres);
    }
    if (failed == 0 && done >= 2 * REAL_EVERY && !on_postgres && sum.real_switches == 0) {
        printf("no real world has switched to other scripts\n");
        failed += 1;
    }
    printf("%llu seeds passed, %llu failed\n", (unsigned long long)(done - failed),
           (unsigned long long)failed);
    return failed == 0 ? 0 : 1;
}
