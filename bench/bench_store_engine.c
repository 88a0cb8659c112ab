// Group commits on one engine, for tools/bench_postgresql: every world saves a player and its own
// row, all worlds in one commit, round after round.
//   bench_store_engine PATH_OR_URL WORLDS ROUNDS
// Prints one JSON object: CPU of this process for a save, and how long a commit takes from the
// first save to the last completion.
#define _GNU_SOURCE
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/world/save/row.h"
#include "server/store/sql/sql_driver.h"
#include "server/store/store_inside.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_BYTES 512
#define WORLDS_MAX 4096
#define WARM_UP    20

static char world_ids[WORLDS_MAX][16];

static void wait_for(Store *store, uint32_t count)
{
    StoreCompletion done;
    while (count > 0) {
        if (!store_poll(store, &done)) {
            struct pollfd wait = {.fd = store_descriptor(store), .events = POLLIN};
            (void)poll(&wait, 1, 1000);
            continue;
        }
        ASSERT(done.status == STATUS_OK);
        free(done.rows);
        count -= 1;
    }
}

static Store *begin(const char *path, uint32_t worlds)
{
    StoreConfig config = store_config_default();
    config.path = path;
    config.commit_ms = 0;
    Store *store = NULL;
    char reason[256] = "";
    if (store_open(&config, &store, reason, sizeof reason) != STATUS_OK) {
        fprintf(stderr, "bench_store_engine: %s\n", reason);
        exit(1);
    }
    const StoreHost host = {.host_id = "host"};
    ASSERT(store_host_renew(store, &host, 1, INT64_MAX, 0) == STATUS_OK);
    for (uint32_t i = 0; i < worlds; i++) {
        StoreWorld world = {.created_unix_ms = 1, .place_id = "place"};
        snprintf(world_ids[i], sizeof world_ids[i], "world_%u", i);
        memcpy(world.world_id, world_ids[i], sizeof world_ids[i]);
        ASSERT(store_world_make(store, &world, 0) == STATUS_OK);
        ASSERT(store_world_take(store, world.world_id, "host", host.boot, 1, 0) == STATUS_OK);
    }
    wait_for(store, 1 + 2 * worlds);
    return store;
}

// What a save holds; made before the time is taken.
static size_t make_rows(uint32_t round, uint8_t bytes[ROWS_BYTES])
{
    ByteWriter writer = byte_writer(bytes, ROWS_BYTES);
    const RowMeta meta = {.next_net_id = 7, .next_player = 2, .tick = round};
    const RowPlayer player = {.account = 1,
                              .player = 1,
                              .position = {(float)round, 0, 1},
                              .name = {"somebody", 8},
                              .present = true};
    row_put_meta(&meta, &writer);
    row_put_player(&player, &writer);
    return writer.at;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: bench_store_engine PATH_OR_URL WORLDS ROUNDS\n");
        return 2;
    }
    const uint32_t worlds = (uint32_t)atoi(argv[2]), rounds = (uint32_t)atoi(argv[3]);
    ASSERT(worlds > 0 && worlds <= WORLDS_MAX && rounds > 0 && rounds < 1000000);
    Store *store = begin(argv[1], worlds);
    printf("begin\n"); // and it goes on when it is told to: the caller measures from here
    fflush(stdout);
    (void)!getchar();
    double *times = calloc(rounds, sizeof *times);
    ASSERT(times != NULL);
    double cpu = 0, began = 0;
    uint64_t flights = 0, commits = 0;
    for (uint32_t round = 0; round < rounds + WARM_UP; round++) {
        uint8_t rows[ROWS_BYTES];
        const size_t bytes = make_rows(round, rows);
        if (round == WARM_UP) {
            cpu = bench_processor_seconds();
            began = bench_seconds();
            commits = store_stats(store).commits;
            flights = sql_is_url(argv[1]) ? sql_postgres_traffic(store->writer).flights : 0;
        }
        const double start = bench_seconds();
        for (uint32_t i = 0; i < worlds; i++) {
            ASSERT(store_save(store, world_ids[i], 1, round + 1, rows, bytes, 0) == STATUS_OK);
        }
        wait_for(store, worlds);
        if (round >= WARM_UP) {
            times[round - WARM_UP] = bench_seconds() - start;
        }
    }
    cpu = bench_processor_seconds() - cpu;
    const double seconds = bench_seconds() - began;
    commits = store_stats(store).commits - commits;
    flights = sql_is_url(argv[1]) ? sql_postgres_traffic(store->writer).flights - flights : 0;
    qsort(times, rounds, sizeof *times, compare);
    printf("{\"worlds\":%u,\"cpu_us\":%.3f,\"p50_ms\":%.3f,\"p99_ms\":%.3f,\"seconds\":%.3f,"
           "\"commits\":%llu,\"flights\":%llu}\n",
           worlds, cpu * 1e6 / worlds / rounds, times[rounds / 2] * 1e3,
           times[rounds - 1 - rounds / 100] * 1e3, seconds, (unsigned long long)commits,
           (unsigned long long)flights);
    fflush(stdout);
    (void)!getchar();
    store_close(store);
    free(times);
    return 0;
}
