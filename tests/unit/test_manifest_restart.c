// Which scripts start again: compared with the plain rule on random graphs, and how much work it
// is.
#include "core/base/rng.h"
#include "core/wire/manifest_restart.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

typedef struct Graph {
    uint32_t count;
    uint32_t numbers[MANIFEST_ROWS_MAX][MANIFEST_REQUIRES_MAX];
    uint32_t counts[MANIFEST_ROWS_MAX];
    uint64_t calls;
} Graph;

static Graph graph;

static uint32_t requires_of(const void *user, uint32_t number, const uint32_t **out)
{
    (void)user;
    graph.calls += 1;
    *out = graph.numbers[number];
    return graph.counts[number];
}

static void spread(bool *restarts)
{
    const RequireGraph all = {.user = NULL, .count = graph.count, .requires = requires_of};
    restart_spread(&all, restarts);
}

// Again and again, until nothing changes.
static void spread_plainly(bool *restarts)
{
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (uint32_t i = 0; i < graph.count; i++) {
            for (uint32_t k = 0; k < graph.counts[i] && !restarts[i]; k++) {
                restarts[i] = restarts[graph.numbers[i][k]];
                is_changed |= restarts[i];
            }
        }
    }
}

TEST(as_the_plain_rule_says)
{
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t round = 0; round < 300; round++) {
        static bool quick[64], plain[64];
        memset(&graph, 0, sizeof graph);
        graph.count = 1 + rng_below(&rng, 64);
        for (uint32_t i = 0; i < graph.count; i++) { // circles too
            graph.counts[i] = rng_below(&rng, 3);
            for (uint32_t k = 0; k < graph.counts[i]; k++) {
                graph.numbers[i][k] = rng_below(&rng, graph.count);
            }
            quick[i] = plain[i] = rng_below(&rng, 12) == 0;
        }
        spread(quick);
        spread_plainly(plain);
        CHECK(memcmp(quick, plain, graph.count * sizeof quick[0]) == 0);
    }
}

// As many modules as a place may have, each of which requires the next one and many others: a host
// does this for every save, on the thread that all worlds share.
static uint64_t calls_of_chain(bool is_ascending)
{
    static bool restarts[MANIFEST_ROWS_MAX];
    memset(&graph, 0, sizeof graph);
    memset(restarts, 0, sizeof restarts);
    graph.count = MANIFEST_ROWS_MAX;
    const uint32_t last = graph.count - 1;
    for (uint32_t i = 0; i < last; i++) {
        const uint32_t from = is_ascending ? i : last - i;
        for (uint32_t k = 0; k < MANIFEST_REQUIRES_MAX && i + k < last; k++) {
            graph.numbers[from][k] = is_ascending ? i + k + 1 : last - i - k - 1;
            graph.counts[from] = k + 1;
        }
    }
    restarts[is_ascending ? last : 0] = true;
    spread(restarts);
    for (uint32_t i = 0; i < graph.count; i++) {
        CHECK(restarts[i]);
    }
    return graph.calls;
}

TEST(a_long_chain_costs_a_few_looks_at_each)
{
    CHECK(calls_of_chain(true) <= 5ull * MANIFEST_ROWS_MAX);
    CHECK(calls_of_chain(false) <= 5ull * MANIFEST_ROWS_MAX);
}
