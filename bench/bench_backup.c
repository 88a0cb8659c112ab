// What a backup costs the players: how long a save takes from the world to the disk, with and
// without a backup of a large database beside it, and how fast the backup is.
//   bench_backup [--json] [--mb N]     (N: size of the database, 256 unless given)
#define _GNU_SOURCE
#include "bench/bench_report.h"
#include "core/base/check.h"
#include "core/world/save/row.h"
#include "server/backup/backup.h"
#include "server/store/store.h"

#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET_SAVES 300 // without a backup
#define SAVES_MAX   60000
#define ROWS_EACH   20
#define PAUSE_US    10000 // between two saves
#define NICE        10    // as `sandlot backup`

typedef struct Bench {
    char folder[32], database[64], backup[64];
    Store *store;
    uint64_t seq;
} Bench;

static void wait_for_one(Store *store)
{
    StoreCompletion completion;
    while (!store_poll(store, &completion)) {
        struct pollfd wait = {.fd = store_descriptor(store), .events = POLLIN};
        (void)poll(&wait, 1, 1000);
    }
    ASSERT(completion.status == STATUS_OK);
    free(completion.rows);
}

static void open_store(Bench *bench)
{
    StoreConfig config = store_config_default();
    config.path = bench->database;
    config.commit_ms = 0;
    char reason[256];
    ASSERT(store_open(&config, &bench->store, reason, sizeof reason) == STATUS_OK);
}

// A table that the store does not know, full of noise: it is copied like any other.
static void fill(const Bench *bench, uint32_t megabytes)
{
    char text[256];
    sqlite3 *db = NULL;
    snprintf(text, sizeof text,
             "CREATE TABLE filler(bytes BLOB); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
             "i + 1 FROM n WHERE i < %u) INSERT INTO filler SELECT randomblob(4000) FROM n",
             megabytes * 256);
    ASSERT(sqlite3_open(bench->database, &db) == SQLITE_OK);
    ASSERT(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
}

static void begin(Bench *bench, uint32_t megabytes)
{
    snprintf(bench->folder, sizeof bench->folder, "bench_backup_XXXXXX");
    ASSERT(mkdtemp(bench->folder) != NULL);
    snprintf(bench->database, sizeof bench->database, "%s/sandlot.db", bench->folder);
    snprintf(bench->backup, sizeof bench->backup, "%s.tar", bench->folder);
    open_store(bench);
    store_close(bench->store);
    fill(bench, megabytes);
    open_store(bench);
    const StoreHost host = {.host_id = "host"};
    StoreWorld world = {.world_id = "w", .created_unix_ms = 1};
    ASSERT(store_world_put(bench->store, &world) == STATUS_OK);
    ASSERT(store_host_renew(bench->store, &host, 1, INT64_MAX, 0) == STATUS_OK);
    wait_for_one(bench->store);
    ASSERT(store_world_take(bench->store, "w", "host", host.boot, 1, 0) == STATUS_OK);
    wait_for_one(bench->store);
}

static void end(Bench *bench)
{
    static const char *const names[] = {"", "-wal", "-shm"};
    char path[128];
    store_close(bench->store);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", bench->database, names[i]);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/backup.lock", bench->folder);
    (void)unlink(path);
    (void)unlink(bench->backup);
    (void)rmdir(bench->folder);
}

// One save: new structures. How long until it is on disk, in milliseconds.
static double save(Bench *bench)
{
    uint8_t bytes[ROWS_EACH * 128];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    for (uint32_t i = 0; i < ROWS_EACH; i++) {
        RowStructure structure = {.health = 50};
        structure.desc.net_id = 1 + bench->seq * ROWS_EACH + i;
        structure.desc.cell.x = (int32_t)i;
        row_put_structure(&structure, &writer);
    }
    const double began = bench_seconds();
    bench->seq += 1;
    ASSERT(store_save(bench->store, "w", 1, bench->seq, bytes, writer.at, 0) == STATUS_OK);
    wait_for_one(bench->store);
    return (bench_seconds() - began) * 1e3;
}

static pid_t start_backup(const Bench *bench)
{
    const pid_t child = fork();
    ASSERT(child >= 0);
    if (child == 0) {
        BackupFacts facts;
        char reason[BACKUP_REASON_BYTES] = "";
        (void)setpriority(PRIO_PROCESS, 0, NICE);
        const Status status =
            backup_write(bench->folder, bench->backup, "bench", NULL, &facts, reason);
        _exit(status == STATUS_OK ? 0 : 1);
    }
    return child;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void rows(BenchReport *report, const char *when, double *times, uint32_t count)
{
    static const struct {
        const char *name;
        double share;
    } parts[] = {{"p50", 0.5}, {"p99", 0.99}, {"max", 1}};
    qsort(times, count, sizeof *times, compare);
    for (size_t i = 0; i < 3; i++) {
        char name[64];
        const uint32_t at = (uint32_t)((double)(count - 1) * parts[i].share);
        snprintf(name, sizeof name, "backup.save_%s_%s", when, parts[i].name);
        bench_row(report, name, times[at], "ms", BENCH_NO_GOAL);
    }
}

int main(int argc, char **argv)
{
    BenchReport report = {0};
    uint32_t megabytes = 256;
    for (int i = 1; i < argc; i++) {
        report.json = report.json || strcmp(argv[i], "--json") == 0;
        megabytes =
            strcmp(argv[i], "--mb") == 0 && i + 1 < argc ? (uint32_t)atoi(argv[i + 1]) : megabytes;
    }
    static double times[SAVES_MAX];
    Bench bench = {.seq = 0};
    begin(&bench, megabytes);
    for (uint32_t i = 0; i < QUIET_SAVES; i++) {
        times[i] = save(&bench);
        usleep(PAUSE_US);
    }
    rows(&report, "alone", times, QUIET_SAVES);
    const double began = bench_seconds();
    const pid_t child = start_backup(&bench);
    uint32_t count = 0;
    int status = -1;
    while (waitpid(child, &status, WNOHANG) == 0 && count < SAVES_MAX) {
        times[count++] = save(&bench);
        usleep(PAUSE_US);
    }
    ASSERT(count > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    const double seconds = bench_seconds() - began;
    rows(&report, "beside", times, count);
    bench_row(&report, "backup.seconds", seconds, "s", BENCH_NO_GOAL);
    bench_row(&report, "backup.speed", megabytes / seconds, "MB/s", BENCH_NO_GOAL);
    end(&bench);
    return 0;
}
