// Several hosts on one database, in virtual time and one thread: rows of hosts, leases and fences
// as the real statements decide them, a full disk and a crash at chosen moments.
#define _GNU_SOURCE
#include "core/base/rng.h"
#include "core/world/save/row.h"
#include "server/store/people/store_ban.h"
#include "server/store/store.h"
#include "server/store/world/store_event.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS    3
#define LEASE_MS 10000

typedef struct Cluster {
    StoreFixture server; // on PostgreSQL
    StoreDatabase *database;
    Store *stores[HOSTS];
    uint64_t now;
    uint32_t faults; // commits that fail from now on
    uint32_t commits_tried;
} Cluster;

static uint64_t cluster_now(void *user)
{
    return ((Cluster *)user)->now;
}

static bool cluster_fault(void *user)
{
    Cluster *cluster = user;
    cluster->commits_tried += 1;
    if (cluster->faults == 0) {
        return false;
    }
    cluster->faults -= 1;
    return true;
}

static void host_open(Cluster *cluster, uint32_t host)
{
    StoreConfig config = store_config_default();
    config.database = cluster->database;
    config.path = cluster->server.path;
    config.manual = true;
    config.unix_ms = cluster_now;
    config.unix_ms_user = cluster;
    config.fault = cluster_fault;
    config.fault_user = cluster;
    REQUIRE(store_open(&config, &cluster->stores[host], NULL, 0) == STATUS_OK);
}

static void cluster_begin(Cluster *cluster)
{
    *cluster = (Cluster){.now = 1000};
    if (fixture_is_server()) { // a connection for each host
        REQUIRE(fixture_server_begin(&cluster->server));
    } else {
        REQUIRE(store_database_open(&cluster->database) == STATUS_OK);
    }
    for (uint32_t i = 0; i < HOSTS; i++) {
        host_open(cluster, i);
    }
    const StoreWorld world = {.world_id = "w1", .name = "One"};
    CHECK_OK(store_world_put(cluster->stores[0], &world));
}

static void cluster_end(Cluster *cluster)
{
    for (uint32_t i = 0; i < HOSTS; i++) {
        store_close(cluster->stores[i]);
    }
    store_database_close(cluster->database);
    fixture_server_end(&cluster->server);
}

static void host_crash(Cluster *cluster, uint32_t host)
{
    store_crash(cluster->stores[host]);
    cluster->stores[host] = NULL;
}

static StoreHost host_row(uint32_t host, uint8_t boot)
{
    StoreHost row = {.boot = {boot}};
    snprintf(row.host_id, sizeof row.host_id, "host%u", host);
    snprintf(row.address, sizeof row.address, "10.0.0.%u:7777", host);
    return row;
}

static void ask_renew(Cluster *cluster, uint32_t host, uint8_t boot)
{
    const StoreHost row = host_row(host, boot);
    CHECK_OK(store_host_renew(cluster->stores[host], &row, cluster->now, LEASE_MS, 1));
}

static void ask_take(Cluster *cluster, uint32_t host, uint8_t boot)
{
    const StoreHost row = host_row(host, boot);
    CHECK_OK(store_world_take(cluster->stores[host], "w1", row.host_id, row.boot, cluster->now, 2));
}

static void ask_save(Cluster *cluster, uint32_t host, uint64_t epoch, uint64_t seq, uint64_t tick)
{
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    const RowMeta meta = {.next_net_id = 1, .next_player = 1, .tick = tick};
    const RowStructure structure = {.desc = {.net_id = tick}, .health = 1};
    row_put_meta(&meta, &writer);
    row_put_structure(&structure, &writer);
    CHECK_OK(store_save(cluster->stores[host], "w1", epoch, seq, bytes, writer.at, seq));
}

static Status next_answer(Cluster *cluster, uint32_t host, StoreCompletionType type,
                          StoreCompletion *out)
{
    StoreCompletion done = {0};
    if (!store_poll(cluster->stores[host], &done)) {
        return STATUS_COUNT; // none
    }
    CHECK_INT(done.type, type);
    if (out != NULL) {
        *out = done;
    } else {
        free(done.rows);
    }
    return done.status;
}

static Status step_for(Cluster *cluster, uint32_t host, StoreCompletionType type)
{
    store_step(cluster->stores[host]);
    return next_answer(cluster, host, type, NULL);
}

static Status renew(Cluster *cluster, uint32_t host, uint8_t boot)
{
    ask_renew(cluster, host, boot);
    return step_for(cluster, host, STORE_HOST_RENEWED);
}

static Status take(Cluster *cluster, uint32_t host, uint8_t boot)
{
    ask_take(cluster, host, boot);
    return step_for(cluster, host, STORE_WORLD_TAKEN);
}

static Status save(Cluster *cluster, uint32_t host, uint64_t epoch, uint64_t seq, uint64_t tick)
{
    ask_save(cluster, host, epoch, seq, tick);
    return step_for(cluster, host, STORE_SAVED);
}

typedef struct Stored {
    uint64_t tick;
    uint32_t structures;
} Stored;

static void look_at_row(void *user, const uint8_t *bytes, size_t count)
{
    Stored *stored = user;
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    RowMeta meta;
    CHECK_OK(row_read(&reader, &row));
    if (row_meta(&row, &meta) == STATUS_OK) {
        stored->tick = meta.tick;
    }
    stored->structures += row.type == ROW_STRUCTURE;
}

static Stored stored_of(Cluster *cluster)
{
    Stored stored = {0};
    for (uint32_t i = 0; i < HOSTS; i++) {
        if (cluster->stores[i] != NULL) {
            CHECK_OK(store_rows(cluster->stores[i], "w1", look_at_row, &stored));
            return stored;
        }
    }
    return stored;
}

// A save with one player; x is where.
static Status save_player(Cluster *cluster, uint32_t host, uint64_t epoch, uint64_t seq,
                          uint64_t account, float x)
{
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    const RowPlayer player = {
        .account = account, .player = account, .position = {x, 0, 0}, .present = true};
    row_put_player(&player, &writer);
    CHECK_OK(store_save(cluster->stores[host], "w1", epoch, seq, bytes, writer.at, seq));
    return step_for(cluster, host, STORE_SAVED);
}

#define ACCOUNTS 4

static void look_at_player(void *user, const uint8_t *bytes, size_t count)
{
    float *places = user;
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    RowPlayer player;
    CHECK_OK(row_read(&reader, &row));
    if (row_player(&row, &player) == STATUS_OK && player.account < ACCOUNTS) {
        places[player.account] = player.position.x;
    }
}

static float place_of(Cluster *cluster, uint64_t account)
{
    float places[ACCOUNTS] = {0};
    CHECK_OK(store_rows(cluster->stores[0], "w1", look_at_player, places));
    return places[account];
}

// --- tests --------------------------------------------------------------------------------------

TEST(nothing_is_stored_or_answered_before_the_step)
{
    Cluster cluster;
    cluster_begin(&cluster);
    ask_renew(&cluster, 0, 1);
    ask_take(&cluster, 0, 1);
    ask_save(&cluster, 0, 1, 1, 5);
    ask_save(&cluster, 0, 1, 2, 6);
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_COUNT);
    CHECK_INT(stored_of(&cluster).tick, 0);
    const uint32_t before = cluster.commits_tried;
    store_step(cluster.stores[0]);
    CHECK_INT(cluster.commits_tried - before, 1); // one commit for all of them
    StoreCompletion taken;
    CHECK_INT(next_answer(&cluster, 0, STORE_HOST_RENEWED, NULL), STATUS_OK);
    CHECK_INT(next_answer(&cluster, 0, STORE_WORLD_TAKEN, &taken), STATUS_OK);
    CHECK_INT(taken.epoch, 1);
    CHECK_INT(taken.row_bytes, 0); // what was saved came after it
    free(taken.rows);
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_OK);
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_OK);
    CHECK_INT(stored_of(&cluster).tick, 6);
    cluster_end(&cluster);
}

TEST(whoever_takes_a_world_gets_all_its_rows)
{
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 1, 1, 5), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 1, 2, 6), STATUS_OK);
    StoreCompletion taken;
    ask_take(&cluster, 0, 1);
    store_step(cluster.stores[0]);
    CHECK_INT(next_answer(&cluster, 0, STORE_WORLD_TAKEN, &taken), STATUS_OK);
    ByteReader reader = byte_reader(taken.rows, taken.row_bytes);
    Stored stored = {0};
    while (byte_reader_left(&reader) > 0 && test_is_passing()) {
        const size_t start = reader.at;
        Row row;
        CHECK_OK(row_read(&reader, &row));
        look_at_row(&stored, taken.rows + start, reader.at - start);
    }
    CHECK_INT(stored.tick, 6);
    CHECK_INT(stored.structures, 2);
    free(taken.rows);
    cluster_end(&cluster);
}

// All of them in one step, with a gap, and with a taking between saves of two epochs.
TEST(saves_of_one_step_keep_their_order)
{
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    static const uint64_t seqs[] = {1, 2, 4, 3, 3};
    static const Status wanted[] = {STATUS_OK, STATUS_OK, STATUS_DENIED, STATUS_OK, STATUS_DENIED};
    for (size_t i = 0; i < 5; i++) {
        ask_save(&cluster, 0, 1, seqs[i], 10 + i);
    }
    store_step(cluster.stores[0]);
    for (size_t i = 0; i < 5; i++) {
        CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), wanted[i]);
    }
    CHECK_INT(stored_of(&cluster).tick, 13);
    CHECK_INT(stored_of(&cluster).structures, 3);
    ask_save(&cluster, 0, 1, 4, 20);
    ask_take(&cluster, 0, 1);
    ask_save(&cluster, 0, 1, 5, 21);
    ask_save(&cluster, 0, 2, 1, 22);
    store_step(cluster.stores[0]);
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_OK);
    CHECK_INT(next_answer(&cluster, 0, STORE_WORLD_TAKEN, NULL), STATUS_OK);
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_DENIED);
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_OK);
    CHECK_INT(stored_of(&cluster).tick, 22);
    CHECK_INT(stored_of(&cluster).structures, 5);
    cluster_end(&cluster);
}

TEST(of_two_hosts_that_race_for_a_world_one_gets_it)
{
    for (uint32_t first = 0; first < 2; first++) {
        Cluster cluster;
        cluster_begin(&cluster);
        const uint32_t second = 1 - first;
        CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
        CHECK_INT(renew(&cluster, 1, 1), STATUS_OK);
        ask_take(&cluster, 0, 1);
        ask_take(&cluster, 1, 1);
        CHECK_INT(step_for(&cluster, first, STORE_WORLD_TAKEN), STATUS_OK);
        CHECK_INT(step_for(&cluster, second, STORE_WORLD_TAKEN), STATUS_EXISTS);
        // Both believe that they hold it: one of them writes.
        ask_save(&cluster, 0, 1, 1, 10);
        ask_save(&cluster, 1, 1, 1, 20);
        CHECK_INT(step_for(&cluster, first, STORE_SAVED), STATUS_OK);
        CHECK_INT(step_for(&cluster, second, STORE_SAVED), STATUS_DENIED);
        CHECK_INT(stored_of(&cluster).tick, first == 0 ? 10 : 20);
        CHECK_INT(stored_of(&cluster).structures, 1);
        cluster_end(&cluster);
    }
}

TEST(the_late_save_of_a_stalled_host_writes_nothing)
{
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 1, 1, 5), STATUS_OK);
    ask_save(&cluster, 0, 1, 2, 6); // then it stalls, longer than its row is valid
    cluster.now += LEASE_MS - 1;
    CHECK_INT(renew(&cluster, 1, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 1, 1), STATUS_EXISTS);
    cluster.now += 1;
    // Nobody has taken the world: the save is refused, but it can be tried again.
    CHECK_INT(step_for(&cluster, 0, STORE_SAVED), STATUS_BLOCKED);
    CHECK_INT(stored_of(&cluster).tick, 5);
    CHECK_INT(save(&cluster, 0, 1, 3, 7), STATUS_BLOCKED);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 1, 3, 7), STATUS_BLOCKED); // in order
    CHECK_INT(save(&cluster, 0, 1, 2, 6), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 1, 3, 7), STATUS_OK);
    ask_save(&cluster, 0, 1, 4, 8); // it stalls again
    cluster.now += LEASE_MS;
    CHECK_INT(renew(&cluster, 1, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 1, 1), STATUS_OK);
    CHECK_INT(save(&cluster, 1, 2, 1, 100), STATUS_OK);
    // Now it is too late, also if the row is renewed first.
    ask_save(&cluster, 0, 1, 5, 9);
    ask_renew(&cluster, 0, 1);
    ask_save(&cluster, 0, 1, 6, 10);
    store_step(cluster.stores[0]);
    const bool goes_first = fixture_is_server(); // a renewal, where others write too
    if (goes_first) {
        CHECK_INT(next_answer(&cluster, 0, STORE_HOST_RENEWED, NULL), STATUS_OK);
    }
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_DENIED);
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_DENIED);
    if (!goes_first) {
        CHECK_INT(next_answer(&cluster, 0, STORE_HOST_RENEWED, NULL), STATUS_OK);
    }
    CHECK_INT(next_answer(&cluster, 0, STORE_SAVED, NULL), STATUS_DENIED);
    CHECK_INT(stored_of(&cluster).tick, 100);
    CHECK_INT(stored_of(&cluster).structures, 4); // 5, 6, 7 and 100
    cluster_end(&cluster);
}

TEST(a_request_of_a_host_that_lost_its_world_is_denied)
{
    static const uint8_t five[] = {6, 1, 3, 10};
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    const StoreRequest set = {.operation = STORE_SET,
                              .store = {"s", 1},
                              .key = {"k", 1},
                              .value = five,
                              .value_bytes = sizeof five};
    const StoreRequest get = {.operation = STORE_GET, .store = {"s", 1}, .key = {"k", 1}};
    CHECK_OK(store_request(cluster.stores[0], "w1", 1, &set, 9));
    CHECK_INT(step_for(&cluster, 0, STORE_REQUESTED), STATUS_OK);
    cluster.now += LEASE_MS;
    CHECK_OK(store_request(cluster.stores[0], "w1", 1, &get, 9));
    CHECK_INT(step_for(&cluster, 0, STORE_REQUESTED), STATUS_BLOCKED);
    CHECK_INT(renew(&cluster, 1, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 1, 1), STATUS_OK);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_OK(store_request(cluster.stores[0], "w1", 1, &set, 9));
    CHECK_INT(step_for(&cluster, 0, STORE_REQUESTED), STATUS_DENIED);
    CHECK_OK(store_request(cluster.stores[0], "w1", 1, &get, 9));
    CHECK_INT(step_for(&cluster, 0, STORE_REQUESTED), STATUS_DENIED);
    CHECK_OK(store_request(cluster.stores[1], "w1", 2, &get, 9));
    CHECK_INT(step_for(&cluster, 1, STORE_REQUESTED), STATUS_OK);
    cluster_end(&cluster);
}

TEST(a_restarted_host_takes_its_row_and_its_worlds_at_once)
{
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 1, 1, 5), STATUS_OK);
    // The new process of host 0 works on another store; the old one is still there.
    Store *old = cluster.stores[0];
    host_open(&cluster, 0);
    CHECK_INT(renew(&cluster, 0, 2), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 2), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 2, 1, 6), STATUS_OK);
    Store *new = cluster.stores[0];
    cluster.stores[0] = old;
    CHECK_INT(renew(&cluster, 0, 1), STATUS_DENIED);
    CHECK_INT(save(&cluster, 0, 1, 2, 7), STATUS_DENIED);
    CHECK_INT(take(&cluster, 0, 1), STATUS_DENIED);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_DENIED);
    host_crash(&cluster, 0);
    cluster.stores[0] = new;
    CHECK_INT(renew(&cluster, 0, 2), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 2, 2, 8), STATUS_OK);
    CHECK_INT(stored_of(&cluster).structures, 3);
    cluster_end(&cluster);
}

TEST(nothing_is_written_into_a_world_that_was_given_back)
{
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    for (uint64_t seq = 1; seq <= 3; seq++) {
        CHECK_INT(save(&cluster, 0, 1, seq, seq), STATUS_OK);
    }
    CHECK_OK(store_world_release(cluster.stores[0], "w1", 1, 3));
    CHECK_INT(step_for(&cluster, 0, STORE_WORLD_RELEASED), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 1, 4, 9), STATUS_DENIED);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 2, 1, 10), STATUS_OK);
    CHECK_INT(stored_of(&cluster).structures, 4);
    cluster_end(&cluster);
}

TEST(a_full_disk_stores_nothing_and_costs_nothing)
{
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    cluster.faults = 1;
    CHECK_INT(take(&cluster, 0, 1), STATUS_BLOCKED);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK); // still epoch 1
    CHECK_INT(save(&cluster, 0, 1, 1, 5), STATUS_OK);
    cluster.faults = 2;
    ask_save(&cluster, 0, 1, 2, 6);
    ask_renew(&cluster, 0, 1);
    store_step(cluster.stores[0]);
    const StoreCompletionType first = fixture_is_server() ? STORE_HOST_RENEWED : STORE_SAVED;
    const StoreCompletionType second = fixture_is_server() ? STORE_SAVED : STORE_HOST_RENEWED;
    CHECK_INT(next_answer(&cluster, 0, first, NULL), STATUS_BLOCKED);
    CHECK_INT(next_answer(&cluster, 0, second, NULL), STATUS_BLOCKED);
    CHECK(store_stats(cluster.stores[0]).disk_refuses);
    CHECK_INT(store_stats(cluster.stores[0]).disk, STORE_DISK_FULL);
    CHECK_INT(stored_of(&cluster).tick, 5);
    // Longer than the row is valid; it is the first thing that gets through again.
    cluster.now += LEASE_MS;
    CHECK_INT(save(&cluster, 0, 1, 2, 6), STATUS_BLOCKED);
    CHECK_INT(cluster.faults, 0);
    CHECK_INT(save(&cluster, 0, 1, 2, 6), STATUS_BLOCKED);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK(!store_stats(cluster.stores[0]).disk_refuses);
    CHECK_INT(save(&cluster, 0, 1, 2, 6), STATUS_OK);
    CHECK_INT(stored_of(&cluster).tick, 6);
    cluster_end(&cluster);
}

TEST(players_are_as_the_last_commit_had_them)
{
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save_player(&cluster, 0, 1, 1, 1, 5), STATUS_OK);
    CHECK_INT(save_player(&cluster, 0, 1, 2, 2, 6), STATUS_OK);
    // What the disk refused is not there when somebody else is stored.
    cluster.faults = 1;
    CHECK_INT(save_player(&cluster, 0, 1, 3, 1, 7), STATUS_BLOCKED);
    CHECK_INT(save_player(&cluster, 0, 1, 3, 2, 8), STATUS_OK);
    CHECK(place_of(&cluster, 1) == 5 && place_of(&cluster, 2) == 8);
    // Another host has the world for a while: host 0 goes on with what that one stored.
    cluster.now += LEASE_MS;
    CHECK_INT(renew(&cluster, 1, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 1, 1), STATUS_OK);
    CHECK_INT(save_player(&cluster, 1, 2, 1, 1, 9), STATUS_OK);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save_player(&cluster, 0, 1, 4, 2, 10), STATUS_DENIED);
    CHECK_OK(store_world_release(cluster.stores[1], "w1", 2, 3));
    CHECK_INT(step_for(&cluster, 1, STORE_WORLD_RELEASED), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save_player(&cluster, 0, 3, 1, 2, 11), STATUS_OK);
    CHECK(place_of(&cluster, 1) == 9 && place_of(&cluster, 2) == 11);
    cluster_end(&cluster);
}

TEST(a_crash_before_the_commit_leaves_what_was_acknowledged)
{
    Cluster cluster;
    cluster_begin(&cluster);
    CHECK_INT(renew(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(take(&cluster, 0, 1), STATUS_OK);
    CHECK_INT(save(&cluster, 0, 1, 1, 5), STATUS_OK);
    ask_save(&cluster, 0, 1, 2, 6);
    host_crash(&cluster, 0);
    CHECK_INT(stored_of(&cluster).tick, 5);
    host_open(&cluster, 0);
    ask_renew(&cluster, 0, 2);
    ask_take(&cluster, 0, 2);
    store_step(cluster.stores[0]);
    StoreCompletion taken;
    CHECK_INT(next_answer(&cluster, 0, STORE_HOST_RENEWED, NULL), STATUS_OK);
    CHECK_INT(next_answer(&cluster, 0, STORE_WORLD_TAKEN, &taken), STATUS_OK);
    CHECK_INT(taken.epoch, 2);
    CHECK(taken.row_bytes > 0);
    free(taken.rows);
    cluster_end(&cluster); // with a crashed process's database nothing else is left behind
}

// A long game of everybody against everybody, checked against a model of who holds the world.
TEST(random_hosts_never_write_over_each_other)
{
    Cluster cluster;
    Rng rng = rng_make(test_seed(), 21);
    cluster_begin(&cluster);
    struct {
        uint8_t boot;
        bool is_running;     // has renewed since it was opened
        uint64_t epoch, seq; // what it believes; epoch 0: it holds nothing
        uint64_t valid_until;
    } hosts[HOSTS] = {{0}};
    uint64_t epoch = 0, tick = 0, saved = 0, refused = 0;
    const uint32_t steps = fixture_is_server() ? 500 : 4000; // each is a few round trips there
    for (uint32_t i = 0; i < steps && test_is_passing(); i++) {
        const uint32_t h = rng_below(&rng, HOSTS);
        cluster.now += rng_below(&rng, 1500);
        cluster.faults = rng_below(&rng, 20) == 0;
        const bool fails = cluster.faults == 1;
        switch (rng_below(&rng, 8)) {
        case 0:
            host_crash(&cluster, h);
            host_open(&cluster, h);
            hosts[h].boot += 1;
            hosts[h].epoch = 0;
            hosts[h].is_running = false;
            break;
        case 1:
        case 2: {
            const Status status = renew(&cluster, h, hosts[h].boot);
            CHECK_INT(status, fails ? STATUS_BLOCKED : STATUS_OK);
            if (status == STATUS_OK) {
                hosts[h].valid_until = cluster.now + LEASE_MS;
                hosts[h].is_running = true;
            }
            break;
        }
        case 3: {
            StoreCompletion taken = {0};
            ask_take(&cluster, h, hosts[h].boot);
            store_step(cluster.stores[h]);
            const Status status = next_answer(&cluster, h, STORE_WORLD_TAKEN, &taken);
            if (status == STATUS_OK) {
                // Nobody else may hold it validly: it was this host's own or had run out.
                for (uint32_t k = 0; k < HOSTS; k++) {
                    CHECK(k == h || hosts[k].epoch != epoch || epoch == 0 ||
                          hosts[k].valid_until <= cluster.now);
                }
                CHECK_INT(taken.epoch, epoch + 1);
                epoch = taken.epoch;
                hosts[h].epoch = epoch;
                hosts[h].seq = 0;
            }
            free(taken.rows);
            break;
        }
        default:
            if (hosts[h].epoch != 0) {
                const bool may = hosts[h].epoch == epoch && hosts[h].is_running &&
                                 hosts[h].valid_until > cluster.now && !fails;
                const Status status = save(&cluster, h, hosts[h].epoch, hosts[h].seq + 1, tick + 1);
                CHECK_INT(status == STATUS_OK, may);
                saved += may;
                refused += !may;
                tick += status == STATUS_OK;
                hosts[h].seq += status == STATUS_OK;
                hosts[h].epoch = status == STATUS_DENIED ? 0 : hosts[h].epoch;
                CHECK_INT(stored_of(&cluster).tick, tick);
            }
            break;
        }
    }
    CHECK(saved * 20 > steps && refused * 80 > steps && epoch * 80 > steps);
    printf("  %llu epochs, %llu saves stored, %llu refused\n", (unsigned long long)epoch,
           (unsigned long long)saved, (unsigned long long)refused);
    cluster_end(&cluster);
}

// --- peers
// ----------------------------------------------------------------------------------------

static uint32_t find_peers(Cluster *cluster, uint32_t host, StoreHost *out, uint32_t max)
{
    StoreCompletion done = {0};
    CHECK_OK(store_peers_find(cluster->stores[host], cluster->now, 5));
    store_step(cluster->stores[host]);
    CHECK_OK(next_answer(cluster, host, STORE_PEERS_FOUND, &done));
    return store_peers_read(&done, out, max);
}

static void renew_peer(Cluster *cluster, uint32_t host, uint8_t boot, uint32_t memory)
{
    StoreHost row = host_row(host, boot);
    row.is_peer = true;
    row.memory = memory;
    row.tick = 7;
    row.worlds = 3;
    row.players = 40;
    memset(row.public_key, (int)host + 1, sizeof row.public_key);
    CHECK_OK(store_host_renew(cluster->stores[host], &row, cluster->now, LEASE_MS, 1));
    CHECK_OK(step_for(cluster, host, STORE_HOST_RENEWED));
}

TEST(peers_are_those_whose_rows_are_valid)
{
    Cluster cluster;
    StoreHost found[4];
    cluster_begin(&cluster);
    renew_peer(&cluster, 0, 1, 100);
    renew_peer(&cluster, 1, 2, 250);
    CHECK_OK(renew(&cluster, 2, 3)); // a host of a control plane: no peer
    REQUIRE(find_peers(&cluster, 0, found, 4) == 2);
    CHECK(strcmp(found[1].host_id, "host1") == 0 && found[1].boot[0] == 2);
    CHECK(strcmp(found[1].address, "10.0.0.1:7777") == 0);
    CHECK_INT(found[1].memory, 250);
    CHECK_INT(found[1].tick, 7);
    CHECK_INT(found[1].worlds, 3);
    CHECK_INT(found[1].players, 40);
    CHECK_INT(found[1].public_key[31], 2);
    CHECK_INT(found[1].expires_unix_ms, cluster.now + LEASE_MS);
    CHECK_INT(find_peers(&cluster, 0, found, 1), 1);
    cluster.now += LEASE_MS;
    renew_peer(&cluster, 0, 1, 300);
    REQUIRE(find_peers(&cluster, 1, found, 4) == 1);
    CHECK(strcmp(found[0].host_id, "host0") == 0);
    CHECK_INT(found[0].memory, 300);
    cluster_end(&cluster);
}

// The row of a dead host is ended by the others; if it lives after all, it is fenced.
TEST(a_host_that_is_ended_loses_its_worlds_at_once)
{
    Cluster cluster;
    StoreCompletion done = {0};
    cluster_begin(&cluster);
    renew_peer(&cluster, 0, 1, 0);
    renew_peer(&cluster, 1, 2, 0);
    ask_take(&cluster, 0, 1);
    CHECK_OK(step_for(&cluster, 0, STORE_WORLD_TAKEN));
    CHECK_OK(save(&cluster, 0, 1, 1, 1));
    ask_take(&cluster, 1, 2);
    store_step(cluster.stores[1]);
    CHECK_INT(next_answer(&cluster, 1, STORE_WORLD_TAKEN, &done), STATUS_EXISTS);
    const uint8_t other[STORE_BOOT_BYTES] = {9}, boot[STORE_BOOT_BYTES] = {1};
    CHECK_OK(store_host_end(cluster.stores[1], "host0", other, 6));
    CHECK_INT(step_for(&cluster, 1, STORE_HOST_ENDED), STATUS_DENIED); // a later life of it
    CHECK_OK(store_host_end(cluster.stores[1], "host0", boot, 6));
    CHECK_OK(step_for(&cluster, 1, STORE_HOST_ENDED));
    CHECK_INT(save(&cluster, 0, 1, 2, 2), STATUS_BLOCKED); // nobody has the world yet
    ask_take(&cluster, 1, 2);
    CHECK_OK(step_for(&cluster, 1, STORE_WORLD_TAKEN));
    CHECK_INT(save(&cluster, 0, 1, 2, 2), STATUS_DENIED);
    ask_renew(&cluster, 0, 1);
    CHECK_INT(step_for(&cluster, 0, STORE_HOST_RENEWED), STATUS_DENIED);
    CHECK_OK(save(&cluster, 1, 2, 1, 5));
    cluster_end(&cluster);
}

// --- events
// ---------------------------------------------------------------------------------------

static uint32_t events_of(Store *store, uint64_t *last, StoreEvent *out, uint32_t max)
{
    uint32_t count = 0;
    CHECK_OK(store_events_since(store, *last, last, out, max, &count));
    return count;
}

TEST(what_one_store_changes_the_others_hear_once)
{
    StoreDatabase *database = NULL;
    Store *stores[2] = {NULL, NULL};
    StoreEvent events[8];
    uint64_t last[2] = {0, 0};
    REQUIRE(store_database_open(&database) == STATUS_OK);
    for (uint32_t i = 0; i < 2; i++) {
        StoreConfig config = store_config_default();
        config.database = database;
        config.shared = true;
        REQUIRE(store_open(&config, &stores[i], NULL, 0) == STATUS_OK);
    }
    const StoreBan ban = {.account_id = 77, .kind = BAN_ENTER, .until_unix_ms = 5};
    const StoreWorld world = {.world_id = "w2", .name = "Two"};
    CHECK_OK(store_ban_put(stores[0], &ban));
    CHECK_OK(store_world_put(stores[0], &world));
    CHECK_OK(store_event_put(stores[0], EVENT_KICK, "7 - go", 6));
    CHECK_INT(events_of(stores[0], &last[0], events, 8), 0); // its own
    REQUIRE(events_of(stores[1], &last[1], events, 8) == 3);
    CHECK_INT(events[0].kind, EVENT_BAN);
    CHECK_INT(store_event_number(&events[0]), 77);
    CHECK(events[1].kind == EVENT_WORLD && events[1].bytes == 2 &&
          memcmp(events[1].subject, "w2", 2) == 0);
    CHECK(events[2].kind == EVENT_KICK && events[2].bytes == 6);
    CHECK_INT(last[0], last[1]);
    CHECK_INT(events_of(stores[1], &last[1], events, 8), 0);
    // What did not change anything is no event.
    CHECK_INT(store_ban_delete(stores[0], 78, "", BAN_ENTER), STATUS_NOT_FOUND);
    CHECK_INT(events_of(stores[1], &last[1], events, 8), 0);
    // A reader that was away for long reads everything again.
    for (uint32_t i = 0; i < STORE_EVENTS_KEPT + 100; i++) {
        CHECK_OK(store_event_put(stores[0], EVENT_SETTING, &i, sizeof i));
    }
    REQUIRE(events_of(stores[1], &last[1], events, 1) == 1);
    CHECK_INT(events[0].kind, EVENT_ALL);
    uint64_t newest = 0;
    CHECK_OK(store_events_last(stores[1], &newest));
    CHECK_INT(newest, STORE_EVENTS_KEPT + 103);
    for (uint32_t i = 0; i < 2; i++) {
        store_close(stores[i]);
    }
    store_database_close(database);
}
