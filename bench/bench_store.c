// How fast the store commits: many worlds save at the same time, as under a host, with group
// commit. For comparison, the same run measures a bare loop over SQLite on the same disk, which
// writes the same number of rows of the same size in transactions of the same size.
//
// DataStores likewise: scripts of many worlds of one place write keys that have values already. The
// first floor is SQLite that writes the same rows: the value, its version, the value before, and
// the two counts, and deletes what is too old. The second one writes the value and nothing else.
//   bench_store [--json]
#define _GNU_SOURCE
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/world/save/row.h"
#include "server/store/store.h"

#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLDS       50
#define ROUNDS       40
#define ROWS_EACH    20 // structures of one save
#define BATCH_ROWS   (WORLDS * ROWS_EACH)
#define FLOOR_COLUMN 100 // bytes: about what a structure with its key and checksum takes
#define PLAYERS      20  // of each world, all of them in one save
#define RENEWALS     200
#define DATA_EACH    20 // keys that one world writes in a round, as many at a time
#define DATA_KEYS    (WORLDS * DATA_EACH)
#define DATA_BYTES   100 // of a value

typedef struct Folder {
    char path[32];
    char database[64];
} Folder;

static Folder folder_make(void)
{
    Folder folder;
    snprintf(folder.path, sizeof folder.path, "bench_store_XXXXXX");
    ASSERT(mkdtemp(folder.path) != NULL);
    snprintf(folder.database, sizeof folder.database, "%s/bench.db", folder.path);
    return folder;
}

static void folder_remove(const Folder *folder)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s%s", folder->database, ends[i]);
        (void)unlink(path);
    }
    char lock[80];
    snprintf(lock, sizeof lock, "%s/backup.lock", folder->path);
    (void)unlink(lock);
    (void)rmdir(folder->path);
}

// --- the store ----------------------------------------------------------------------------------

typedef struct Result {
    double seconds;
    double p50_ms, p99_ms; // of one round: from the first save given to the last one stored
    double rows;
    double cpu_us; // of the whole process, for each row
} Result;

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void result_times(Result *result, double *times, uint32_t count)
{
    qsort(times, count, sizeof *times, compare_doubles);
    result->p50_ms = times[count / 2] * 1e3;
    result->p99_ms = times[count * 99 / 100] * 1e3;
}

static void wait_for(Store *store, uint32_t count)
{
    while (count > 0) {
        StoreCompletion completion;
        if (store_poll(store, &completion)) {
            ASSERT(completion.status == STATUS_OK);
            free(completion.rows);
            count -= 1;
            continue;
        }
        struct pollfd wait = {.fd = store_descriptor(store), .events = POLLIN};
        (void)poll(&wait, 1, 1000);
    }
}

// A save of one world: structures that are new, or players who moved.
static void save_world(Store *store, uint32_t world, uint32_t round, bool players, uint32_t rows)
{
    uint8_t bytes[ROWS_EACH * 128];
    char id[16];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    snprintf(id, sizeof id, "world_%u", world);
    for (uint32_t i = 0; i < rows; i++) {
        RowStructure structure = {.health = 50};
        structure.desc.net_id = 1 + round * ROWS_EACH + i;
        structure.desc.owner_id = world;
        structure.desc.cell.x = (int32_t)i;
        const RowPlayer player = {.account = 1 + i,
                                  .player = 1 + i,
                                  .position = {(float)round, 0, (float)i},
                                  .name = {"somebody", 8},
                                  .present = true};
        if (players) {
            row_put_player(&player, &writer);
        } else {
            row_put_structure(&structure, &writer);
        }
    }
    ASSERT(store_save(store, id, 1, round + 1, bytes, writer.at, 0) == STATUS_OK);
}

static Store *store_begin(const Folder *folder)
{
    StoreConfig config = store_config_default();
    config.path = folder->database;
    config.commit_ms = 0; // as fast as the disk goes
    Store *store = NULL;
    char reason[256];
    ASSERT(store_open(&config, &store, reason, sizeof reason) == STATUS_OK);
    const StoreHost host = {.host_id = "host"};
    ASSERT(store_host_renew(store, &host, 1, INT64_MAX, 0) == STATUS_OK);
    for (uint32_t i = 0; i < WORLDS; i++) {
        StoreWorld world = {.created_unix_ms = 1, .place_id = "place"};
        snprintf(world.world_id, sizeof world.world_id, "world_%u", i);
        ASSERT(store_world_put(store, &world) == STATUS_OK);
        ASSERT(store_world_take(store, world.world_id, "host", host.boot, 1, 0) == STATUS_OK);
    }
    wait_for(store, 1 + WORLDS);
    return store;
}

static Result run_store(bool players, uint32_t rows)
{
    const Folder folder = folder_make();
    Store *store = store_begin(&folder);
    const uint64_t commits = store_stats(store).commits;
    double times[ROUNDS];
    const double began = bench_seconds(), cpu = bench_processor_seconds();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const double start = bench_seconds();
        for (uint32_t i = 0; i < WORLDS; i++) {
            save_world(store, i, round, players, rows);
        }
        wait_for(store, WORLDS);
        times[round] = bench_seconds() - start;
    }
    Result result = {.seconds = bench_seconds() - began, .rows = ROUNDS * WORLDS * rows};
    result.cpu_us = (bench_processor_seconds() - cpu) * 1e6 / result.rows;
    result_times(&result, times, ROUNDS);
    bench_note("bench_store: %u rounds in %llu commits", ROUNDS,
               (unsigned long long)(store_stats(store).commits - commits));
    store_close(store);
    folder_remove(&folder);
    return result;
}

static void write_key(Store *store, uint32_t world, uint32_t number)
{
    char id[16], key[16];
    uint8_t value[2 + 2 + DATA_BYTES] = {6, 1, 5, DATA_BYTES}; // a list of one text
    memset(value + 4, 'x', DATA_BYTES);
    snprintf(id, sizeof id, "world_%u", world);
    const int bytes = snprintf(key, sizeof key, "%u", 100000 + world * DATA_EACH + number);
    const StoreRequest set = {.operation = STORE_SET,
                              .store = {"progress", 8},
                              .key = {key, (size_t)bytes},
                              .value = value,
                              .value_bytes = sizeof value};
    ASSERT(store_request(store, id, 1, &set, 0) == STATUS_OK);
}

static Result run_data(void)
{
    const Folder folder = folder_make();
    Store *store = store_begin(&folder);
    double times[ROUNDS];
    double began = 0, cpu = 0;
    for (uint32_t round = 0; round <= ROUNDS; round++) { // the first one makes the keys
        const double start = bench_seconds();
        began = round == 1 ? start : began;
        cpu = round == 1 ? bench_processor_seconds() : cpu;
        for (uint32_t i = 0; i < DATA_KEYS; i++) {
            write_key(store, i / DATA_EACH, i % DATA_EACH);
        }
        wait_for(store, DATA_KEYS);
        times[round > 0 ? round - 1 : 0] = bench_seconds() - start;
    }
    Result result = {.seconds = bench_seconds() - began, .rows = ROUNDS * DATA_KEYS};
    result.cpu_us = (bench_processor_seconds() - cpu) * 1e6 / result.rows;
    result_times(&result, times, ROUNDS);
    store_close(store);
    folder_remove(&folder);
    return result;
}

// CPU of one renewal, which is all that a host has to renew however many worlds it holds.
static double run_renewals(void)
{
    const Folder folder = folder_make();
    Store *store = store_begin(&folder);
    const StoreHost host = {.host_id = "host"};
    const double cpu = bench_processor_seconds();
    for (uint32_t i = 0; i < RENEWALS; i++) {
        ASSERT(store_host_renew(store, &host, 2 + i, INT64_MAX / 2, 0) == STATUS_OK);
        wait_for(store, 1);
    }
    const double took = bench_processor_seconds() - cpu;
    store_close(store);
    folder_remove(&folder);
    return took * 1e6 / RENEWALS;
}

// --- the floor ----------------------------------------------------------------------------------

static void exec(sqlite3 *db, const char *text)
{
    ASSERT(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
}

static Result run_floor(void)
{
    const Folder folder = folder_make();
    sqlite3 *db = NULL;
    sqlite3_stmt *put = NULL;
    char value[FLOOR_COLUMN];
    memset(value, 'x', sizeof value);
    ASSERT(sqlite3_open(folder.database, &db) == SQLITE_OK);
    exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
             "CREATE TABLE t(world INTEGER, id INTEGER, value BLOB, PRIMARY KEY(world, id)) "
             "WITHOUT ROWID");
    ASSERT(sqlite3_prepare_v2(db, "INSERT OR REPLACE INTO t VALUES(?,?,?)", -1, &put, NULL) ==
           SQLITE_OK);
    double times[ROUNDS];
    const double began = bench_seconds();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const double start = bench_seconds();
        exec(db, "BEGIN IMMEDIATE");
        for (uint32_t i = 0; i < BATCH_ROWS; i++) {
            sqlite3_bind_int64(put, 1, i / ROWS_EACH);
            sqlite3_bind_int64(put, 2, round * ROWS_EACH + i % ROWS_EACH);
            sqlite3_bind_blob(put, 3, value, sizeof value, SQLITE_STATIC);
            ASSERT(sqlite3_step(put) == SQLITE_DONE);
            sqlite3_reset(put);
        }
        exec(db, "COMMIT");
        times[round] = bench_seconds() - start;
    }
    Result result = {.seconds = bench_seconds() - began, .rows = ROUNDS * BATCH_ROWS};
    result_times(&result, times, ROUNDS);
    sqlite3_finalize(put);
    sqlite3_close(db);
    folder_remove(&folder);
    return result;
}

// Of one write of a key: $1 the key, $2 its version, $3 the value, $4 the oldest version to keep.
static const char *const data_texts[] = {
    "INSERT OR REPLACE INTO data VALUES($1, $2, $3)",
    "INSERT OR REPLACE INTO versions VALUES($1, $2, 1700000000)",
    "INSERT OR REPLACE INTO old VALUES($1, $2 - 1, 1700000000, $3)",
    "DELETE FROM versions WHERE key = $1 AND version < $4",
    "DELETE FROM old WHERE key = $1 AND version < $4",
    "INSERT OR REPLACE INTO used VALUES(1, $1, $2)",
    "INSERT OR REPLACE INTO used VALUES(2, $1, $2)",
};
#define DATA_TEXTS (sizeof data_texts / sizeof data_texts[0])

static Result run_data_floor(size_t text_count)
{
    const Folder folder = folder_make();
    sqlite3 *db = NULL;
    sqlite3_stmt *statements[DATA_TEXTS] = {NULL};
    char value[DATA_BYTES];
    memset(value, 'x', sizeof value);
    ASSERT(sqlite3_open(folder.database, &db) == SQLITE_OK);
    exec(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
             "CREATE TABLE data(key INTEGER PRIMARY KEY, version INTEGER, value BLOB);"
             "CREATE TABLE versions(key INTEGER, version INTEGER, seconds INTEGER, "
             "PRIMARY KEY(key, version)) WITHOUT ROWID;"
             "CREATE TABLE old(key INTEGER, version INTEGER, seconds INTEGER, value BLOB, "
             "PRIMARY KEY(key, version)) WITHOUT ROWID;"
             "CREATE TABLE used(number INTEGER PRIMARY KEY, keys INTEGER, bytes INTEGER)");
    for (size_t i = 0; i < text_count; i++) {
        ASSERT(sqlite3_prepare_v2(db, data_texts[i], -1, &statements[i], NULL) == SQLITE_OK);
    }
    double times[ROUNDS];
    const double began = bench_seconds(), cpu = bench_processor_seconds();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const double start = bench_seconds();
        exec(db, "BEGIN IMMEDIATE");
        for (uint32_t key = 0; key < DATA_KEYS; key++) {
            for (size_t i = 0; i < text_count; i++) {
                sqlite3_bind_int64(statements[i], 1, key);
                sqlite3_bind_int64(statements[i], 2, round + 2);
                sqlite3_bind_blob(statements[i], 3, value, sizeof value, SQLITE_STATIC);
                sqlite3_bind_int64(statements[i], 4, (sqlite3_int64)round - 14);
                ASSERT(sqlite3_step(statements[i]) == SQLITE_DONE);
                sqlite3_reset(statements[i]);
            }
        }
        exec(db, "COMMIT");
        times[round] = bench_seconds() - start;
    }
    Result result = {.seconds = bench_seconds() - began, .rows = ROUNDS * DATA_KEYS};
    result.cpu_us = (bench_processor_seconds() - cpu) * 1e6 / result.rows;
    result_times(&result, times, ROUNDS);
    for (size_t i = 0; i < text_count; i++) {
        sqlite3_finalize(statements[i]);
    }
    sqlite3_close(db);
    folder_remove(&folder);
    return result;
}

static void report_data(BenchReport *report)
{
    double ratios[3];
    Result data = {0}, same = {0}, plain = {0};
    for (int i = 0; i < 3; i++) {
        plain = run_data_floor(1);
        same = run_data_floor(DATA_TEXTS);
        data = run_data();
        ratios[i] = data.seconds / same.seconds;
    }
    bench_row(report, "datastore_writes_per_s", data.rows / data.seconds, "1/s", BENCH_NO_GOAL);
    bench_row(report, "datastore_cpu_per_write", data.cpu_us, "us", BENCH_NO_GOAL);
    bench_row(report, "datastore_commit_p99", data.p99_ms, "ms", BENCH_NO_GOAL);
    bench_row(report, "floor_datastore_writes_per_s", same.rows / same.seconds, "1/s",
              BENCH_NO_GOAL);
    bench_row(report, "floor_datastore_cpu_per_write", same.cpu_us, "us", BENCH_NO_GOAL);
    bench_row(report, "floor_datastore_plain_writes_per_s", plain.rows / plain.seconds, "1/s",
              BENCH_NO_GOAL);
    bench_row(report, "datastore_by_floor", bench_median(ratios, 3), "x", BENCH_NO_GOAL);
}

int main(int argc, char **argv)
{
    BenchReport report = {.json = argc > 1 && strcmp(argv[1], "--json") == 0};
    double ratios[3];
    Result store = {0}, players = {0}, small = {0}, floor_run = {0};
    for (int i = 0; i < 3; i++) {
        floor_run = run_floor();
        store = run_store(false, ROWS_EACH);
        players = run_store(true, PLAYERS);
        small = run_store(true, 1);
        ratios[i] = store.seconds / floor_run.seconds;
    }
    bench_row(&report, "store_rows_per_s", store.rows / store.seconds, "1/s", BENCH_NO_GOAL);
    bench_row(&report, "store_cpu_per_row", store.cpu_us, "us", BENCH_NO_GOAL);
    bench_row(&report, "store_cpu_per_checkpoint", players.cpu_us, "us", BENCH_NO_GOAL);
    bench_row(&report, "store_cpu_per_small_save", small.cpu_us, "us", BENCH_NO_GOAL);
    bench_row(&report, "store_cpu_per_renewal", run_renewals(), "us", BENCH_NO_GOAL);
    bench_row(&report, "store_commit_p50", store.p50_ms, "ms", BENCH_NO_GOAL);
    bench_row(&report, "store_commit_p99", store.p99_ms, "ms", BENCH_NO_GOAL);
    bench_row(&report, "floor_rows_per_s", floor_run.rows / floor_run.seconds, "1/s",
              BENCH_NO_GOAL);
    bench_row(&report, "floor_commit_p50", floor_run.p50_ms, "ms", BENCH_NO_GOAL);
    bench_row(&report, "floor_commit_p99", floor_run.p99_ms, "ms", BENCH_NO_GOAL);
    bench_row(&report, "store_by_floor", bench_median(ratios, 3), "x", BENCH_NO_GOAL);
    report_data(&report);
    return 0;
}
