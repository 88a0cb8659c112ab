// net_scenarios --list                    lists the scenarios
// net_scenarios --seeds N [--from S] [--stop]   N seeds, spread over all scenarios; --stop: until
//                                               one fails
// net_scenarios NAME [SEED]               one seed, second by second
// net_scenarios --check                   the first seed of each, against the hashes compiled in
// net_scenarios --write                   prints those hashes anew
//
// A seed that fails is printed with the command that runs it again, and the exit code is 1.
#include "tests/scenario/net/net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Expected {
    const char *name;
    uint64_t hash;
} Expected;
static const Expected expected[] = {
#include "tests/scenario/net/expected.inc"
    {NULL, 0},
};

static uint32_t scenario_count(void)
{
    uint32_t count = 0;
    while (net_scenarios[count].name != NULL) {
        count += 1;
    }
    return count;
}

static bool report(const NetScenario *scenario, uint64_t seed, const NetResult *result)
{
    if (result->failed) {
        printf("FAILED %s seed %llu: %s\n  again: net_scenarios %s %llu\n", scenario->name,
               (unsigned long long)seed, result->message, scenario->name, (unsigned long long)seed);
        fflush(stdout);
    }
    return !result->failed;
}

static int run_seeds(uint64_t count, uint64_t from, bool stop)
{
    const uint32_t scenarios = scenario_count();
    uint64_t failed = 0;
    uint64_t run = 0;
    for (uint64_t i = 0; i < count && !(stop && failed > 0); i++) {
        const NetScenario *scenario = &net_scenarios[i % scenarios];
        const uint64_t seed = from + i / scenarios;
        const NetResult result = net_run(scenario, seed, false);
        failed += report(scenario, seed, &result) ? 0 : 1;
        run += 1;
    }
    printf("%llu seeds of %u scenarios passed, %llu failed\n", (unsigned long long)(run - failed),
           scenarios, (unsigned long long)failed);
    return failed == 0 ? 0 : 1;
}

static int run_one(const char *name, uint64_t seed)
{
    for (const NetScenario *scenario = net_scenarios; scenario->name != NULL; scenario++) {
        if (strcmp(scenario->name, name) != 0) {
            continue;
        }
        const NetResult result = net_run(scenario, seed, true);
        printf("%s seed %llu: %llu ticks, %llu frames, %llu bytes down, %llu checks, p99 %.4f m, "
               "max %.4f m, hash %016llx\n",
               name, (unsigned long long)seed, (unsigned long long)result.ticks,
               (unsigned long long)result.frames, (unsigned long long)result.bytes_down,
               (unsigned long long)result.checks, (double)result.error_p99_m,
               (double)result.error_max_m, (unsigned long long)result.hash);
        static const char *const causes[] = {"late input", "push",  "script",   "damage",
                                             "geometry",   "spawn", "periodic", "refused"};
        printf("corrections %llu:", (unsigned long long)result.corrections);
        for (uint32_t bit = 0; bit < 8; bit++) {
            printf(" %s %llu", causes[bit], (unsigned long long)result.corrections_by_cause[bit]);
        }
        printf("\n");
        return report(scenario, seed, &result) ? 0 : 1;
    }
    printf("there is no scenario %s\n", name);
    return 2;
}

static int check(bool write)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < scenario_count(); i++) {
        const NetResult result = net_run(&net_scenarios[i], 1, false);
        if (!report(&net_scenarios[i], 1, &result)) {
            failed += 1;
        } else if (write) {
            printf("{\"%s\", 0x%016llxull},\n", net_scenarios[i].name,
                   (unsigned long long)result.hash);
        } else {
            const Expected *e = expected;
            while (e->name != NULL && strcmp(e->name, net_scenarios[i].name) != 0) {
                e++;
            }
            if (e->name == NULL || e->hash != result.hash) {
                printf("FAILED %s seed 1: hash %016llx, expected %016llx\n", net_scenarios[i].name,
                       (unsigned long long)result.hash, (unsigned long long)e->hash);
                failed += 1;
            }
        }
    }
    if (!write) {
        printf("%u scenarios passed, %u failed\n", scenario_count() - failed, failed);
    }
    return failed == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "--list") == 0) {
        for (const NetScenario *s = net_scenarios; s->name != NULL; s++) {
            printf("%-10s %s\n", s->name, s->purpose);
        }
        return 0;
    }
    if (argc >= 3 && strcmp(argv[1], "--seeds") == 0) {
        const bool stop = strcmp(argv[argc - 1], "--stop") == 0;
        const bool has_from = argc >= 5 && strcmp(argv[3], "--from") == 0;
        return run_seeds(strtoull(argv[2], NULL, 10), has_from ? strtoull(argv[4], NULL, 10) : 1,
                         stop);
    }
    if (argc == 2 && (strcmp(argv[1], "--check") == 0 || strcmp(argv[1], "--write") == 0)) {
        return check(strcmp(argv[1], "--write") == 0);
    }
    if (argc >= 2 && argv[1][0] != '-') {
        return run_one(argv[1], argc >= 3 ? strtoull(argv[2], NULL, 10) : 1);
    }
    printf("usage: net_scenarios --list | --seeds N [--from S] [--stop] | --check | --write | NAME "
           "[SEED]\n");
    return 2;
}
