// The store with a full disk, a disk that returns wrong data, and a process that dies: nothing that
// was confirmed as stored is lost, and nothing is read that was not written.
#define _GNU_SOURCE
#include "tests/unit/store_fixture.h"

#include "core/base/check.h"
#include "tests/support/failing_disk.h"
#include "tests/support/test.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint8_t buffer[1 << 20];

// --- a world of which every prefix can be told --------------------------------------------------
// Save n writes meta with tick n and a structure with net id n: after n saves there are exactly the
// structures 1..n.

static ByteWriter step_rows(uint64_t n)
{
    ByteWriter writer = byte_writer(buffer, sizeof buffer);
    const RowMeta meta = {.tick = n};
    const RowStructure structure = {.desc = {.net_id = n, .owner_id = n * 7}, .health = 1};
    row_put_meta(&meta, &writer);
    row_put_structure(&structure, &writer);
    return writer;
}

typedef struct Prefix {
    uint64_t tick, structures, sum;
} Prefix;

static void prefix_sink(void *user, const uint8_t *bytes, size_t count)
{
    Prefix *prefix = user;
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    RowMeta meta;
    RowStructure structure;
    if (row_read(&reader, &row) != STATUS_OK) {
        return;
    }
    if (row_meta(&row, &meta) == STATUS_OK) {
        prefix->tick = meta.tick;
    } else if (row_structure(&row, &structure) == STATUS_OK) {
        prefix->structures += 1;
        prefix->sum += structure.desc.net_id;
        CHECK_INT(structure.desc.owner_id, structure.desc.net_id * 7);
    }
}

// How many saves are there; fails the test when it is not a prefix.
static uint64_t prefix_of(Store *store)
{
    Prefix prefix = {0};
    CHECK_OK(store_rows(store, "w1", prefix_sink, &prefix));
    CHECK_INT(prefix.structures, prefix.tick);
    CHECK_INT(prefix.sum, prefix.tick * (prefix.tick + 1) / 2);
    return prefix.tick;
}

// --- a disk that refuses ------------------------------------------------------------------------

static void put_random_rows(Rng *rng, ByteWriter *writer, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fixture_row(rng, writer);
    }
}

static void model_put(RowList *model, const ByteWriter *writer)
{
    ByteReader reader = byte_reader(writer->data, writer->at);
    while (byte_reader_left(&reader) > 0) {
        const size_t start = reader.at;
        Row row;
        REQUIRE(row_read(&reader, &row) == STATUS_OK);
        row_list_put(model, writer->data + start, reader.at - start);
    }
}

TEST(every_single_write_may_fail)
{
    StoreFixture fixture;
    RowList model, got;
    REQUIRE(failing_disk_install());
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&model);
    row_list_init(&got);
    static const int codes[] = {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC};
    Rng rng = rng_make(test_seed(), 9);
    const uint64_t epoch = fixture_world(&fixture, "w1");
    uint64_t seq = 0;
    uint32_t blocked = 0;
    bool failed = true;
    for (uint32_t at = 0; at < 200 && test_is_passing() && (failed || at < 30); at++) {
        ByteWriter writer = byte_writer(buffer, sizeof buffer);
        put_random_rows(&rng, &writer, 30);
        failing_disk_arm(at, 1 + rng_below(&rng, 3), codes[at % 3]);
        Status status = fixture_save(&fixture, "w1", epoch, ++seq, &writer);
        failed = failing_disk_failed() > 0;
        CHECK_OK(row_list_read(&got, fixture.store, "w1"));
        row_list_drop_profiles(&got);
        if (status != STATUS_OK) {
            CHECK_INT(status, STATUS_BLOCKED);
            CHECK(row_list_equal(&model, &got));
            CHECK(store_stats(fixture.store).disk_refuses);
            failing_disk_arm(0, 0, 0);
            blocked += 1;
            // The next save comes before this one is tried again: it has to wait, and is not
            // fenced.
            const ByteWriter none = byte_writer(buffer, 0);
            CHECK_INT(fixture_save(&fixture, "w1", epoch, seq + 1, &none), STATUS_BLOCKED);
            CHECK_INT(fixture_save(&fixture, "w1", epoch, seq + 2, &none), STATUS_BLOCKED);
            CHECK_INT(fixture_save(&fixture, "w1", epoch, seq, &writer), STATUS_OK);
            CHECK(!store_stats(fixture.store).disk_refuses);
            CHECK_INT(fixture_save(&fixture, "w1", epoch, seq + 2, &none), STATUS_BLOCKED);
            CHECK_INT(fixture_save(&fixture, "w1", epoch, ++seq, &none), STATUS_OK);
            CHECK_INT(fixture_save(&fixture, "w1", epoch, ++seq, &none), STATUS_OK);
            // Now nothing is missing any more.
            CHECK_INT(fixture_save(&fixture, "w1", epoch, seq + 2, &none), STATUS_DENIED);
            CHECK_OK(row_list_read(&got, fixture.store, "w1"));
            row_list_drop_profiles(&got);
        }
        model_put(&model, &writer);
        row_list_drop_profiles(&model);
        CHECK(row_list_equal(&model, &got));
    }
    failing_disk_arm(0, 0, 0);
    CHECK(blocked > 5);
    CHECK(store_stats(fixture.store).disk_errors >= blocked);
    fixture_close(&fixture);
    CHECK_OK(fixture_open(&fixture));
    row_list_free(&model);
    row_list_free(&got);
    fixture_end(&fixture);
}

// The log is written back every few thousand pages; that may fail too, and costs nothing.
TEST(a_full_disk_while_the_log_is_written_back)
{
    StoreFixture fixture;
    REQUIRE(failing_disk_install());
    if (!fixture_begin(&fixture)) {
        return;
    }
    const uint64_t epoch = fixture_world(&fixture, "w1");
    static uint8_t chunk[60000];
    uint64_t seq = 0;
    for (uint32_t i = 0; i < 60 && test_is_passing(); i++) {
        ByteWriter writer = byte_writer(buffer, sizeof buffer);
        for (int32_t k = 0; k < 12; k++) {
            memset(chunk, (int)i + 1, sizeof chunk);
            row_put_chunk((ChunkCoord){k, 0, (int32_t)(i % 4)}, chunk, sizeof chunk, &writer);
        }
        // About 180 pages each; the last call of a commit is its sync.
        failing_disk_arm(i % 12 == 11 ? 400 : 1000000, 1000000, SQLITE_FULL);
        const Status status = fixture_save(&fixture, "w1", epoch, ++seq, &writer);
        failing_disk_arm(0, 0, 0);
        seq -= status == STATUS_OK ? 0 : 1;
    }
    CHECK(seq > 50);
    CHECK_INT(store_stats(fixture.store).damaged, 0);
    RowList got;
    row_list_init(&got);
    CHECK_OK(row_list_read(&got, fixture.store, "w1"));
    CHECK_INT(got.count, 48);
    fixture_close(&fixture);
    CHECK_OK(fixture_open(&fixture));
    CHECK_OK(row_list_read(&got, fixture.store, "w1"));
    CHECK_INT(got.count, 48);
    row_list_free(&got);
    fixture_end(&fixture);
}

TEST(a_full_disk_refuses_writes_and_goes_on_later)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    const uint64_t epoch = fixture_world(&fixture, "w1");
    ByteWriter writer = step_rows(1);
    CHECK_INT(fixture_save(&fixture, "w1", epoch, 1, &writer), STATUS_OK);
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    small = before;
    small.rlim_cur = 4096;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    uint64_t unused = 0;
    for (int i = 0; i < 3; i++) {
        writer = step_rows(2);
        CHECK_INT(fixture_save(&fixture, "w1", epoch, 2, &writer), STATUS_BLOCKED);
        CHECK_INT(fixture_take(&fixture, "w1", "host", 0, 1, &unused), STATUS_BLOCKED);
        // What only reads is answered.
        const StoreRequest get = {.operation = STORE_GET, .store = {"s", 1}, .key = {"k", 1}};
        StoreCompletion completion;
        CHECK_OK(store_request(fixture.store, "w1", epoch, &get, 9));
        REQUIRE(fixture_wait(&fixture, &completion));
        CHECK(completion.status == STATUS_OK && completion.ok);
        CHECK_INT(prefix_of(fixture.store), 1);
    }
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(store_stats(fixture.store).disk_refuses);
    CHECK(store_stats(fixture.store).disk_errors >= 6);
    writer = step_rows(2);
    CHECK_INT(fixture_save(&fixture, "w1", epoch, 2, &writer), STATUS_OK);
    CHECK(!store_stats(fixture.store).disk_refuses);
    CHECK_INT(prefix_of(fixture.store), 2);
    fixture_end(&fixture);
}

// --- damage -------------------------------------------------------------------------------------

typedef struct Bytes {
    uint8_t *data;
    size_t count;
} Bytes;

static Bytes read_whole(const char *path)
{
    Bytes bytes = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (file != NULL) {
        bytes.data = malloc(64u << 20);
        ASSERT(bytes.data != NULL);
        bytes.count = fread(bytes.data, 1, 64u << 20, file);
        fclose(file);
    }
    return bytes;
}

static void write_whole(const char *path, const uint8_t *data, size_t count)
{
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    CHECK_INT(fwrite(data, 1, count, file), count);
    fclose(file);
}

static void remove_log(const StoreFixture *fixture)
{
    char path[sizeof fixture->path + 8];
    snprintf(path, sizeof path, "%s-wal", fixture->path);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s-shm", fixture->path);
    (void)unlink(path);
}

static const uint8_t five[] = {6, 1, 3, 10};
static const uint8_t five_back[] = {6, 2, 3, 10, 3, 2};

static void fill_world(StoreFixture *fixture, const char *world_id, Rng *rng)
{
    const uint64_t epoch = fixture_world(fixture, world_id);
    for (uint64_t seq = 1; seq <= 8; seq++) {
        ByteWriter writer = byte_writer(buffer, sizeof buffer);
        put_random_rows(rng, &writer, 30);
        CHECK_INT(fixture_save(fixture, world_id, epoch, seq, &writer), STATUS_OK);
    }
    for (uint32_t i = 0; i < 40; i++) {
        char key[8];
        const int bytes = snprintf(key, sizeof key, "k%u", i);
        const StoreRequest set = {.operation = STORE_SET,
                                  .ordered = i % 2 == 0,
                                  .store = {"s", 1},
                                  .key = {key, (size_t)bytes},
                                  .value = five,
                                  .value_bytes = sizeof five};
        StoreCompletion completion;
        CHECK_OK(store_request(fixture->store, world_id, epoch, &set, i));
        CHECK(fixture_wait(fixture, &completion) && completion.ok);
    }
}

#define FIRST_STARTS 20

typedef struct Outcome {
    uint32_t refused, damaged, repaired, whole;
} Outcome;

static bool row_is_profiles(const RowList *list, uint32_t i)
{
    return list->bytes[list->starts[i]] == ROW_PROFILES;
}

static size_t row_size(const RowList *list, uint32_t i)
{
    const size_t end = i + 1 < list->count ? list->starts[i + 1] : list->byte_count;
    return end - list->starts[i];
}

// Every row but profiles is one that was written.
static bool rows_are_known(const RowList *got, const RowList *want)
{
    for (uint32_t i = 0; i < got->count; i++) {
        bool found = row_is_profiles(got, i);
        for (uint32_t k = 0; k < want->count && !found; k++) {
            found = row_size(got, i) == row_size(want, k) &&
                    memcmp(got->bytes + got->starts[i], want->bytes + want->starts[k],
                           row_size(got, i)) == 0;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static uint32_t count_others(const RowList *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        count += !row_is_profiles(list, i);
    }
    return count;
}

// A value that was written, an error, or fenced: never another value, never none.
static void check_values(StoreFixture *fixture, const char *world_id, bool *damaged)
{
    for (uint32_t i = 0; i < 40; i += 3) {
        char key[8];
        const int bytes = snprintf(key, sizeof key, "k%u", i);
        const StoreRequest get = {.operation = STORE_GET,
                                  .ordered = i % 2 == 0,
                                  .store = {"s", 1},
                                  .key = {key, (size_t)bytes}};
        CHECK_OK(store_request(fixture->store, world_id, 1, &get, i));
    }
    for (uint32_t i = 0; i < 40; i += 3) {
        StoreCompletion completion;
        if (!fixture_wait(fixture, &completion)) {
            return;
        }
        if (completion.status == STATUS_OK && completion.ok) {
            CHECK_INT(completion.byte_count, sizeof five_back);
            CHECK_BYTES(completion.bytes, five_back, sizeof five_back);
        } else {
            *damaged = true;
        }
    }
}

// Or backfilled: damage that takes all of a user's rows looks as if there had been none.
static bool was_repaired(StoreFixture *fixture)
{
    const StoreStats stats = store_stats(fixture->store);
    return stats.repaired + stats.backfilled > 0;
}

static void check_opened(StoreFixture *fixture, const RowList want[2], RowList *got,
                         Outcome *outcome)
{
    static const char *const ids[] = {"w1", "w2"};
    bool damaged = false;
    bool repaired = was_repaired(fixture);
    for (int i = 0; i < 2; i++) {
        StoreWorld world;
        const Status found = store_world_find(fixture->store, ids[i], &world);
        CHECK(found != STATUS_NOT_FOUND);
        damaged = damaged || found != STATUS_OK;
        const Status status = row_list_read(got, fixture->store, ids[i]);
        repaired = repaired || was_repaired(fixture);
        CHECK(rows_are_known(got, &want[i]));
        if (status != STATUS_OK) {
            damaged = true;
        } else {
            CHECK_INT(count_others(got), count_others(&want[i]));
            CHECK(repaired || row_list_equal(got, &want[i]));
        }
        check_values(fixture, ids[i], &damaged);
    }
    outcome->damaged += damaged;
    outcome->repaired += !damaged && repaired;
    outcome->whole += !damaged && !repaired;
}

static void damage(Rng *rng, uint8_t *data, size_t *count)
{
    const size_t at = rng_below(rng, (uint32_t)*count);
    switch (rng_below(rng, 8)) {
    case 0: // a sector of zeros
        memset(data + at / 512 * 512, 0, 512);
        return;
    case 1: // a page of another place
        memcpy(data + at / 4096 * 4096, data + rng_below(rng, (uint32_t)(*count / 4096)) * 4096ull,
               4096);
        return;
    case 2:
        *count = at;
        return;
    case 3: // one bit
        data[at] ^= (uint8_t)(1u << rng_below(rng, 8));
        return;
    default:
        data[at] = (uint8_t)(data[at] + 1 + rng_below(rng, 255));
        return;
    }
}

TEST(a_damaged_database_is_refused_or_says_so)
{
    StoreFixture fixture;
    RowList want[2], got;
    if (!fixture_begin(&fixture)) {
        return;
    }
    row_list_init(&want[0]);
    row_list_init(&want[1]);
    row_list_init(&got);
    Rng rng = rng_make(test_seed(), 11);
    fill_world(&fixture, "w1", &rng);
    fill_world(&fixture, "w2", &rng);
    fixture_close(&fixture);
    CHECK_OK(fixture_open(&fixture)); // profiles for everybody
    CHECK_OK(row_list_read(&want[0], fixture.store, "w1"));
    CHECK_OK(row_list_read(&want[1], fixture.store, "w2"));
    fixture_close(&fixture);
    const Bytes whole = read_whole(fixture.path);
    REQUIRE(whole.count > 50000);
    uint8_t *copy = malloc(whole.count);
    REQUIRE(copy != NULL);
    Outcome outcome = {0};
    for (uint32_t i = 0; i < 200 && test_is_passing(); i++) {
        size_t count = whole.count;
        memcpy(copy, whole.data, count);
        damage(&rng, copy, &count);
        remove_log(&fixture);
        write_whole(fixture.path, copy, count);
        if (fixture_open(&fixture) != STATUS_OK) {
            CHECK(fixture.reason[0] != '\0');
            outcome.refused += 1;
            continue;
        }
        // Everything is as it was, or the damage is reported.
        CHECK(count > 0);
        check_opened(&fixture, want, &got, &outcome);
        if (!test_is_passing()) {
            test_fail(__FILE__, __LINE__, "damage number %u", i);
        }
        fixture_close(&fixture);
    }
    CHECK(outcome.refused > 20 && outcome.whole > 5 && outcome.damaged > 5);
    printf("  damaged files: %u refused, %u told on reading, %u repaired, %u unharmed\n",
           outcome.refused, outcome.damaged, outcome.repaired, outcome.whole);
    free(copy);
    free(whole.data);
    row_list_free(&want[0]);
    row_list_free(&want[1]);
    row_list_free(&got);
    fixture_end(&fixture);
}

static void check_refused(StoreFixture *fixture, const char *why)
{
    CHECK_INT(fixture_open(fixture), STATUS_MALFORMED);
    if (strstr(fixture->reason, why) == NULL) {
        test_fail(__FILE__, __LINE__, "the reason is: %s", fixture->reason);
    }
}

TEST(an_empty_file_is_no_new_database)
{
    StoreFixture fixture;
    char log_path[sizeof fixture.path + 8];
    struct stat file;
    if (!fixture_begin(&fixture)) {
        return;
    }
    snprintf(log_path, sizeof log_path, "%s-wal", fixture.path);
    fixture_close(&fixture);
    write_whole(fixture.path, (const uint8_t *)"", 0);
    check_refused(&fixture, "the file is empty");
    CHECK(stat(fixture.path, &file) == 0 && file.st_size == 0); // left as it is
    // Nor is one of SQLite's without a table.
    sqlite3 *db = NULL;
    REQUIRE(unlink(fixture.path) == 0 && sqlite3_open(fixture.path, &db) == SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "CREATE TABLE t(x); DROP TABLE t", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    check_refused(&fixture, "no database of ours");
    // Nor is a log alone: it would be played into the new one.
    REQUIRE(unlink(fixture.path) == 0);
    write_whole(log_path, (const uint8_t *)"a log", 5);
    check_refused(&fixture, "the file is gone");
    CHECK(stat(log_path, &file) == 0 && file.st_size == 5);
    CHECK(stat(fixture.path, &file) != 0);
    // Nothing at all is.
    REQUIRE(unlink(log_path) == 0);
    CHECK_OK(fixture_open(&fixture));
    (void)fixture_world(&fixture, "w1");
    fixture_end(&fixture);
}

static uint32_t elapsed_us(const struct timespec *since)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)((now.tv_sec - since->tv_sec) * 1000000 +
                      (now.tv_nsec - since->tv_nsec) / 1000);
}

// How long a child takes for a first start.
static uint32_t first_start_us(StoreFixture *fixture)
{
    struct timespec begin;
    int state = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const pid_t pid = fork();
    if (pid == 0) {
        _exit(fixture_open(fixture) == STATUS_OK ? 0 : 1);
    }
    CHECK(waitpid(pid, &state, 0) == pid && state == 0);
    return elapsed_us(&begin);
}

static void remove_database(StoreFixture *fixture)
{
    fixture_close(fixture);
    remove_log(fixture);
    REQUIRE(unlink(fixture->path) == 0);
}

// Whatever ends the first start, the next one makes a database.
TEST(a_first_start_may_be_killed)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    Rng rng = rng_make(test_seed(), 14);
    uint32_t cut_off = 0;
    remove_database(&fixture);
    const uint32_t usual_us = first_start_us(&fixture);
    CHECK_OK(fixture_open(&fixture));
    for (uint32_t i = 0; i < FIRST_STARTS && test_is_passing(); i++) {
        struct stat file;
        remove_database(&fixture);
        const pid_t pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0) {
            _exit(fixture_open(&fixture) == STATUS_OK ? 0 : 1);
        }
        const uint32_t pause_us = rng_below(&rng, usual_us + usual_us / 4);
        const struct timespec pause = {pause_us / 1000000, pause_us % 1000000 * 1000};
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        int state = 0;
        CHECK_INT(waitpid(pid, &state, 0), pid);
        cut_off += stat(fixture.path, &file) != 0;
        if (fixture_open(&fixture) != STATUS_OK) {
            test_fail(__FILE__, __LINE__, "start %u: %s", i, fixture.reason);
            return;
        }
    }
    printf("  %u first starts, %u of them ended before there was a database\n", FIRST_STARTS,
           cut_off);
    CHECK(cut_off > 0 && cut_off < FIRST_STARTS);
    fixture_end(&fixture);
}

TEST(a_first_start_may_fail)
{
    StoreFixture fixture;
    REQUIRE(failing_disk_install());
    if (!fixture_begin(&fixture)) {
        return;
    }
    Status status = STATUS_BLOCKED;
    uint32_t after = 0;
    for (; status != STATUS_OK && after < 4000 && test_is_passing();
         after += after < 8 ? 1 : after / 8 + 1) {
        struct stat file;
        remove_database(&fixture);
        failing_disk_arm(after, UINT32_MAX, SQLITE_FULL);
        status = fixture_open(&fixture);
        failing_disk_arm(0, 0, 0);
        CHECK(status == STATUS_OK || status == STATUS_BLOCKED);
        // It is whole, or it is not there.
        CHECK(stat(fixture.path, &file) != 0 || file.st_size > 4096);
        if (status != STATUS_OK) {
            REQUIRE(fixture_open(&fixture) == STATUS_OK);
        }
    }
    CHECK(after > 5 && status == STATUS_OK);
    fixture_end(&fixture);
}

#define LOG_SAVES 40

// The bit may be one that marks a commit, which adds or removes one; and for the last commit alone
// this cannot be detected.
static bool is_told_right(const char *reason, uint64_t lost)
{
    static const char words[] = "commits lost: ";
    const char *at = strstr(reason, words);
    if (lost == 0 || at == NULL) {
        return at == NULL && lost <= 1;
    }
    const uint64_t said = strtoull(at + sizeof words - 1, NULL, 10);
    return said + 1 >= lost && said <= lost + 1;
}

TEST(a_torn_log_is_a_clean_prefix)
{
    StoreFixture fixture;
    size_t sizes[LOG_SAVES + 1];
    char log_path[sizeof fixture.path + 8];
    if (!fixture_begin(&fixture)) {
        return;
    }
    snprintf(log_path, sizeof log_path, "%s-wal", fixture.path);
    (void)fixture_world(&fixture, "w1");
    fixture_close(&fixture);
    CHECK_OK(fixture_open(&fixture));
    sizes[0] = 0;
    for (uint64_t n = 1; n <= LOG_SAVES; n++) {
        struct stat info;
        const ByteWriter writer = step_rows(n);
        CHECK_INT(fixture_save(&fixture, "w1", 1, n, &writer), STATUS_OK);
        REQUIRE(stat(log_path, &info) == 0);
        sizes[n] = (size_t)info.st_size;
    }
    const Bytes base = read_whole(fixture.path);
    const Bytes log = read_whole(log_path);
    fixture_close(&fixture);
    REQUIRE(log.count == sizes[LOG_SAVES] && sizes[1] > 0);
    uint8_t *copy = malloc(log.count);
    REQUIRE(copy != NULL);
    Rng rng = rng_make(test_seed(), 12);
    for (uint32_t i = 0; i < 80 && test_is_passing(); i++) {
        size_t count = log.count;
        const size_t at = rng_below(&rng, (uint32_t)count);
        uint64_t safe = 0; // saves that are whole before the damage
        while (safe < LOG_SAVES && sizes[safe + 1] <= at) {
            safe += 1;
        }
        memcpy(copy, log.data, count);
        if (i % 2 == 0) {
            count = at;
        } else {
            copy[at] ^= (uint8_t)(1u << rng_below(&rng, 8));
        }
        remove_log(&fixture);
        write_whole(fixture.path, base.data, base.count);
        write_whole(log_path, copy, count);
        const Status status = fixture_open(&fixture);
        if (status != STATUS_OK) {
            test_fail(__FILE__, __LINE__, "%s: %s", status_name(status), fixture.reason);
            break;
        }
        CHECK_INT(prefix_of(fixture.store), safe);
        // A log that was cut off looks like one that ended there. A wrong bit is reported.
        const uint64_t lost = LOG_SAVES - safe;
        if (!is_told_right(fixture.reason, i % 2 == 0 ? 0 : lost)) {
            test_fail(__FILE__, __LINE__, "byte %zu, %llu lost: %s", at, (unsigned long long)lost,
                      fixture.reason);
        }
        fixture_close(&fixture);
    }
    free(copy);
    free(base.data);
    free(log.data);
    fixture_end(&fixture);
}

// --- death --------------------------------------------------------------------------------------

#define KILLS 30

// Saves as fast as possible and reports what was completed. Never returns.
static _Noreturn void child_run(StoreFixture *fixture, int report)
{
    uint64_t epoch = 0;
    if (fixture_open(fixture) != STATUS_OK ||
        fixture_renew(fixture, "host", 1, FIXTURE_FOREVER, FIXTURE_FOREVER) != STATUS_OK ||
        fixture_take(fixture, "w1", "host", 1, FIXTURE_FOREVER, &epoch) != STATUS_OK) {
        _exit(1);
    }
    uint64_t done = prefix_of(fixture->store);
    const uint64_t start = done;
    uint64_t sent = done;
    for (;;) {
        while (sent < done + 8) {
            const ByteWriter writer = step_rows(++sent);
            if (store_save(fixture->store, "w1", epoch, sent - start, writer.data, writer.at,
                           sent) != STATUS_OK) {
                _exit(2);
            }
        }
        StoreCompletion completion;
        if (!fixture_wait(fixture, &completion) || completion.status != STATUS_OK) {
            _exit(3);
        }
        done = completion.tag;
        if (write(report, &done, sizeof done) != (ssize_t)sizeof done) {
            _exit(4);
        }
    }
}

TEST(what_was_completed_survives_a_kill)
{
    StoreFixture fixture;
    if (!fixture_begin(&fixture)) {
        return;
    }
    (void)fixture_world(&fixture, "w1");
    fixture_close(&fixture);
    Rng rng = rng_make(test_seed(), 13);
    uint64_t total = 0;
    for (uint32_t i = 0; i < KILLS && test_is_passing(); i++) {
        int ends[2];
        REQUIRE(pipe(ends) == 0);
        const pid_t pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0) {
            close(ends[0]);
            child_run(&fixture, ends[1]);
        }
        close(ends[1]);
        uint64_t last = 0, reported = 0;
        bool alive = read(ends[0], &reported, sizeof reported) == (ssize_t)sizeof reported;
        CHECK(alive);
        last = alive ? reported : 0;
        const struct timespec pause = {0, (long)rng_below(&rng, 30000000)};
        nanosleep(&pause, NULL);
        kill(pid, SIGKILL);
        while (alive) {
            alive = read(ends[0], &reported, sizeof reported) == (ssize_t)sizeof reported;
            last = alive ? reported : last;
        }
        close(ends[0]);
        int state = 0;
        CHECK_INT(waitpid(pid, &state, 0), pid);
        CHECK(WIFSIGNALED(state));
        REQUIRE(fixture_open(&fixture) == STATUS_OK);
        const uint64_t kept = prefix_of(fixture.store);
        CHECK(kept >= last);
        CHECK(kept > total); // every child got something done
        total = kept;
        fixture_close(&fixture);
    }
    printf("  %u kills, %llu saves\n", KILLS, (unsigned long long)total);
    fixture_end(&fixture);
}
