// Runs seeds of editors.h, or of draft.h where the edit process is built.
//
//   edit_scenarios --check            the first seed, whose hash is known
//   edit_scenarios --seeds N [--from SEED] [--stop]
//   draft_scenarios --seeds N [--from SEED] [--stop]
#ifdef WITH_DRAFT
#include "tests/scenario/edit/draft.h"
#else
#include "tests/scenario/edit/editors.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SEED 1
#define FIRST_HASH 0x5d51cdd221e9ff41ull

static bool run_seed(uint64_t seed, EditorsResult *sum)
{
#ifdef WITH_DRAFT
    const EditorsResult result = draft_run(seed);
#else
    const EditorsResult result = editors_run(seed);
#endif
    sum->told += result.told;
    sum->refused += result.refused;
    sum->renumbered += result.renumbered;
    sum->undone += result.undone;
    sum->deaths += result.deaths;
    sum->disk_edits += result.disk_edits;
    sum->hash = result.hash;
    if (result.has_failed) {
        (void)printf("seed %llu: %s\n", (unsigned long long)seed, result.why);
    }
    return !result.has_failed;
}

int main(int argc, char **argv)
{
    uint64_t from = FIRST_SEED;
    uint64_t seeds = 1;
    bool is_check = false;
    bool stops = false;
    for (int i = 1; i < argc; i++) {
        is_check |= strcmp(argv[i], "--check") == 0;
        stops |= strcmp(argv[i], "--stop") == 0;
        if (strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
            seeds = strtoull(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "--from") == 0 && i + 1 < argc) {
            from = strtoull(argv[++i], NULL, 10);
        }
    }
    EditorsResult sum = {0};
    uint64_t failed = 0;
    for (uint64_t seed = from; seed < from + seeds && (failed == 0 || !stops); seed++) {
        failed += !run_seed(seed, &sum);
    }
    (void)printf("%llu seeds, %llu failed: %llu told, %llu refused, %llu renumbered, %llu undone, "
                 "%llu deaths, %llu changes on disk\n",
                 (unsigned long long)seeds, (unsigned long long)failed,
                 (unsigned long long)sum.told, (unsigned long long)sum.refused,
                 (unsigned long long)sum.renumbered, (unsigned long long)sum.undone,
                 (unsigned long long)sum.deaths, (unsigned long long)sum.disk_edits);
    if (is_check && sum.hash != FIRST_HASH) {
        (void)printf("the first seed has the hash 0x%016llx, expected 0x%016llx\n",
                     (unsigned long long)sum.hash, (unsigned long long)FIRST_HASH);
        failed += 1;
    }
    return failed == 0 ? 0 : 1;
}
