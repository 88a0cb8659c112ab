// What the store does when its PostgreSQL server, or the connection to it, fails at the worst
// moment. Between the store and the server stands a proxy that counts the flights of a connection
// (they end with a Sync message), and that cuts the connection before or after one of them, holds
// one back, or swallows its answer. Runs only with SANDLOT_TEST_STORE (tests/support/postgres.py).
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/store/place/blob.h"
#include "server/store/place/blob_postgres.h"
#include "server/store/sql/sql_driver.h"
#include "server/store/store_inside.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

// --- the proxy ----------------------------------------------------------------------------------

typedef enum Trouble {
    TROUBLE_NONE,
    TROUBLE_CUT_BEFORE, // the flight does not arrive
    TROUBLE_CUT_AFTER,  // it arrives, its answer does not
    TROUBLE_LATE,       // the client is cut off at once, the flight arrives a second later
    TROUBLE_SILENT,     // it arrives, and nothing comes back
    TROUBLE_AWAY        // nobody answers
} Trouble;

#define LATE_MS 1000

typedef struct Proxy {
    char folder[64];
    char target[108];
    int listener;
    pthread_t thread;
    atomic_int trouble;
    atomic_int flights; // until it happens
    atomic_bool ends;
    atomic_uint links, connections;
    atomic_int silent; // so many connections more are taken, and never answered
} Proxy;

typedef struct Link {
    Proxy *proxy;
    int client, server;
    // The message that is being read.
    uint8_t head[5];
    uint32_t head_bytes, body_left;
    bool has_started; // the first message has no type
} Link;

static void pause_ms(uint32_t ms)
{
    const struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000l};
    (void)nanosleep(&pause, NULL);
}

static bool send_whole(int to, const uint8_t *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t sent = send(to, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

// How many bytes to the end of the first Sync; 0: there is none.
static size_t find_sync(Link *link, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (link->body_left > 0) {
            link->body_left -= 1;
            continue;
        }
        link->head[link->head_bytes++] = bytes[i];
        const uint32_t wanted = link->has_started ? 5 : 4;
        if (link->head_bytes < wanted) {
            continue;
        }
        const uint8_t *size = link->head + wanted - 4;
        const uint32_t length =
            (uint32_t)size[0] << 24 | (uint32_t)size[1] << 16 | (uint32_t)size[2] << 8 | size[3];
        const bool is_sync = link->has_started && link->head[0] == 'S';
        link->body_left = length - 4;
        link->head_bytes = 0;
        link->has_started = true;
        if (is_sync) {
            return i + 1;
        }
    }
    return 0;
}

// What is to become of a flight that ends now.
static Trouble next_trouble(Proxy *proxy)
{
    const int trouble = atomic_load(&proxy->trouble);
    if (trouble == TROUBLE_NONE || trouble == TROUBLE_AWAY) {
        return TROUBLE_NONE;
    }
    if (atomic_fetch_sub(&proxy->flights, 1) != 1) {
        return TROUBLE_NONE;
    }
    atomic_store(&proxy->trouble, TROUBLE_NONE);
    return (Trouble)trouble;
}

// Nobody reads what the server answers, but it must not wait for that.
static void drain(int server, uint32_t ms)
{
    uint8_t bytes[4096];
    for (uint32_t waited = 0; waited < ms; waited += 20) {
        struct pollfd wait = {.fd = server, .events = POLLIN};
        if (poll(&wait, 1, 20) > 0 && recv(server, bytes, sizeof bytes, 0) <= 0) {
            return;
        }
    }
}

// False: the link has ended.
static bool forward(Link *link, const uint8_t *bytes, size_t count)
{
    size_t at = 0;
    while (at < count) {
        const size_t sync = find_sync(link, bytes + at, count - at);
        const size_t part = sync > 0 ? sync : count - at;
        const Trouble trouble = sync > 0 ? next_trouble(link->proxy) : TROUBLE_NONE;
        if (trouble == TROUBLE_CUT_BEFORE) {
            return false;
        }
        if (trouble == TROUBLE_LATE) {
            (void)shutdown(link->client, SHUT_RDWR);
            pause_ms(LATE_MS);
        }
        if (!send_whole(link->server, bytes + at, part)) {
            return false;
        }
        if (trouble == TROUBLE_CUT_AFTER || trouble == TROUBLE_LATE) {
            drain(link->server, 400);
            return false;
        }
        if (trouble == TROUBLE_SILENT) {
            drain(link->server, 6000);
            return false;
        }
        at += part;
    }
    return true;
}

static void *run_link(void *user)
{
    Link *link = user;
    uint8_t bytes[65536];
    bool is_open = true;
    while (is_open && !atomic_load(&link->proxy->ends)) {
        struct pollfd wait[2] = {{.fd = link->client, .events = POLLIN},
                                 {.fd = link->server, .events = POLLIN}};
        if (atomic_load(&link->proxy->trouble) == TROUBLE_AWAY) {
            break;
        }
        if (poll(wait, 2, 50) <= 0) {
            continue;
        }
        if (wait[0].revents != 0) {
            const ssize_t got = recv(link->client, bytes, sizeof bytes, 0);
            is_open = got > 0 && forward(link, bytes, (size_t)got);
        }
        if (is_open && wait[1].revents != 0) {
            const ssize_t got = recv(link->server, bytes, sizeof bytes, 0);
            is_open = got > 0 && send_whole(link->client, bytes, (size_t)got);
        }
    }
    close(link->client);
    close(link->server);
    atomic_fetch_sub(&link->proxy->links, 1);
    free(link);
    return NULL;
}

static int connect_target(const Proxy *proxy)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, proxy->target, sizeof proxy->target);
    const int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(server, (struct sockaddr *)&address, sizeof address) != 0) {
        close(server);
        return -1;
    }
    return server;
}

#define SILENT_MAX 2

static void *run_proxy(void *user)
{
    Proxy *proxy = user;
    int silent[SILENT_MAX], silent_count = 0;
    while (!atomic_load(&proxy->ends)) {
        struct pollfd wait = {.fd = proxy->listener, .events = POLLIN};
        if (poll(&wait, 1, 50) <= 0) {
            continue;
        }
        const int client = accept(proxy->listener, NULL, NULL);
        if (atomic_load(&proxy->silent) > 0 && silent_count < SILENT_MAX) {
            silent[silent_count++] = client;
            atomic_fetch_sub(&proxy->silent, 1);
            continue;
        }
        const int server =
            atomic_load(&proxy->trouble) == TROUBLE_AWAY ? -1 : connect_target(proxy);
        Link *link = server >= 0 ? calloc(1, sizeof *link) : NULL;
        if (link == NULL) {
            close(client);
            continue;
        }
        *link = (Link){.proxy = proxy, .client = client, .server = server};
        pthread_t thread;
        atomic_fetch_add(&proxy->links, 1);
        atomic_fetch_add(&proxy->connections, 1);
        ASSERT(pthread_create(&thread, NULL, run_link, link) == 0);
        pthread_detach(thread);
    }
    while (silent_count > 0) {
        close(silent[--silent_count]);
    }
    return NULL;
}

// "%2F" of a URL becomes "/".
static void socket_folder(const char *url, char *out, size_t out_bytes)
{
    const char *at = strchr(url, '@') + 1;
    size_t count = 0;
    for (; *at != '\0' && *at != '/' && count + 1 < out_bytes; at++) {
        const bool is_slash = strncmp(at, "%2F", 3) == 0;
        out[count++] = is_slash ? '/' : *at;
        at += is_slash ? 2 : 0;
    }
    out[count] = '\0';
}

static void proxy_begin(Proxy *proxy)
{
    char folder[80];
    memset(proxy, 0, sizeof *proxy);
    snprintf(proxy->folder, sizeof proxy->folder, "/tmp/sandlot_proxy_XXXXXX");
    ASSERT(mkdtemp(proxy->folder) != NULL);
    socket_folder(getenv("SANDLOT_TEST_STORE"), folder, sizeof folder);
    snprintf(proxy->target, sizeof proxy->target, "%s/.s.PGSQL.5432", folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.5432", proxy->folder);
    proxy->listener = socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT(bind(proxy->listener, (struct sockaddr *)&address, sizeof address) == 0);
    ASSERT(listen(proxy->listener, 16) == 0);
    ASSERT(pthread_create(&proxy->thread, NULL, run_proxy, proxy) == 0);
}

static void proxy_end(Proxy *proxy)
{
    char path[108];
    atomic_store(&proxy->ends, true);
    pthread_join(proxy->thread, NULL);
    while (atomic_load(&proxy->links) > 0) {
        pause_ms(10);
    }
    close(proxy->listener);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", proxy->folder);
    (void)unlink(path);
    (void)rmdir(proxy->folder);
}

static void trouble_at(Proxy *proxy, Trouble trouble, int flight)
{
    atomic_store(&proxy->flights, flight);
    atomic_store(&proxy->trouble, trouble);
}

// --- a store behind it --------------------------------------------------------------------------

typedef struct Behind {
    StoreFixture fixture;
    Proxy proxy;
    uint64_t epoch, seq;
} Behind;

// The hosts that the URL names; "": only the proxy.
static void behind_url(Behind *behind, const char *more)
{
    char url[512];
    snprintf(url, sizeof url, "postgres://sandlot@/postgres?host=%s%s&options=-csearch_path%%3D%s",
             more, behind->proxy.folder, behind->fixture.schema);
    memcpy(behind->fixture.path, url, sizeof url);
}

static bool behind_begin(Behind *behind)
{
    memset(behind, 0, sizeof *behind);
    if (!fixture_is_server()) {
        return false; // it needs a server
    }
    if (!fixture_server_begin(&behind->fixture)) {
        return false;
    }
    proxy_begin(&behind->proxy);
    behind_url(behind, "");
    behind->fixture.config = store_config_default();
    behind->fixture.config.path = behind->fixture.path;
    behind->fixture.config.commit_ms = 1;
    const Status status = fixture_open(&behind->fixture);
    CHECK_OK(status);
    if (status != STATUS_OK) {
        return false;
    }
    behind->epoch = fixture_world(&behind->fixture, "w1");
    return behind->epoch > 0;
}

static void behind_end(Behind *behind)
{
    fixture_close(&behind->fixture);
    proxy_end(&behind->proxy);
    fixture_server_end(&behind->fixture);
}

static Status save(Behind *behind, uint64_t seq, uint64_t tick)
{
    uint8_t bytes[256];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    const RowMeta meta = {.next_net_id = 1, .next_player = 1, .tick = tick};
    const RowStructure structure = {.desc = {.net_id = tick}, .health = 1};
    row_put_meta(&meta, &writer);
    row_put_structure(&structure, &writer);
    return fixture_save(&behind->fixture, "w1", behind->epoch, seq, &writer);
}

static int64_t number(Behind *behind, const char *text)
{
    return fixture_number(&behind->fixture, text);
}

static Status add_one(Behind *behind, bool *ok)
{
    StoreCompletion done;
    const StoreRequest request = {.operation = STORE_INCREMENT,
                                  .store = {"board", 5},
                                  .key = {"bo", 2},
                                  .ordered = true,
                                  .number = 1};
    CHECK_OK(store_request(behind->fixture.store, "w1", behind->epoch, &request, 5));
    if (!fixture_wait(&behind->fixture, &done)) {
        return STATUS_COUNT;
    }
    *ok = done.ok;
    return done.status;
}

static int64_t board(Behind *behind)
{
    return number(behind, "SELECT number FROM datastore WHERE length(key) = 2");
}

static int flights_of_adding(Behind *behind)
{
    bool ok = false;
    const Sql *writer = behind->fixture.store->writer;
    const uint64_t before = sql_postgres_traffic(writer).flights;
    CHECK_OK(add_one(behind, &ok));
    return (int)(sql_postgres_traffic(writer).flights - before);
}

// --- tests --------------------------------------------------------------------------------------

TEST(a_commit_of_saves_is_one_flight)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    CHECK_OK(save(&behind, 1, 1)); // prepares
    const Store *store = behind.fixture.store;
    for (uint64_t seq = 2; seq < 12; seq++) {
        const uint64_t before = sql_postgres_traffic(store->writer).flights;
        CHECK_OK(save(&behind, seq, seq));
        CHECK_INT(sql_postgres_traffic(store->writer).flights - before, 1);
    }
    CHECK_INT(number(&behind, "SELECT count(*) FROM structures"), 11);
    behind_end(&behind);
}

TEST(a_commit_whose_answer_is_lost_is_not_repeated)
{
    static const Trouble troubles[] = {TROUBLE_CUT_AFTER, TROUBLE_SILENT};
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    uint64_t seq = 0;
    CHECK_OK(save(&behind, ++seq, 1));
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
        trouble_at(&behind.proxy, troubles[i], 1); // the flight with the COMMIT
        seq += 1;
        CHECK_OK(save(&behind, seq, 10 + i)); // found out
        CHECK_INT(number(&behind, "SELECT seq FROM world_head WHERE world_id = 'w1'"),
                  (int64_t)seq);
        CHECK_INT(number(&behind, "SELECT tick FROM world_meta WHERE world_id = 'w1'"),
                  (int64_t)(10 + i));
        seq += 1;
        CHECK_OK(save(&behind, seq, 50 + i)); // and the world goes on
    }
    CHECK_INT(store_stats(behind.fixture.store).disk, STORE_DISK_FINE);
    behind_end(&behind);
}

TEST(a_commit_that_did_not_arrive_is_tried_again)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    CHECK_OK(save(&behind, 1, 1));
    trouble_at(&behind.proxy, TROUBLE_CUT_BEFORE, 1);
    CHECK_INT(save(&behind, 2, 7), STATUS_BLOCKED);
    CHECK_INT(store_stats(behind.fixture.store).disk, STORE_DISK_AWAY);
    CHECK_INT(number(&behind, "SELECT seq FROM world_head WHERE world_id = 'w1'"), 1);
    CHECK_INT(save(&behind, 3, 8), STATUS_BLOCKED); // not before the other
    CHECK_OK(save(&behind, 2, 7));
    CHECK_OK(save(&behind, 3, 9));
    behind_end(&behind);
}

TEST(a_commit_that_arrives_late_is_refused)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    CHECK_OK(save(&behind, 1, 1));
    trouble_at(&behind.proxy, TROUBLE_LATE, 1);
    CHECK_INT(save(&behind, 2, 7), STATUS_BLOCKED);
    pause_ms(2 * LATE_MS);
    CHECK_INT(number(&behind, "SELECT seq FROM world_head WHERE world_id = 'w1'"), 1);
    CHECK_OK(save(&behind, 2, 8)); // as it was told
    CHECK_INT(number(&behind, "SELECT tick FROM world_meta WHERE world_id = 'w1'"), 8);
    behind_end(&behind);
}

TEST(a_script_that_counts_is_counted_once)
{
    static const Trouble troubles[] = {TROUBLE_CUT_AFTER, TROUBLE_LATE};
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    bool ok = false;
    for (uint32_t i = 0; i < 20; i++) { // until old values are removed as new ones come
        CHECK_OK(add_one(&behind, &ok));
        CHECK(ok);
    }
    for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++) {
        trouble_at(&behind.proxy, troubles[i], flights_of_adding(&behind)); // the last one commits
        const int64_t before = board(&behind);
        CHECK_OK(add_one(&behind, &ok));
        CHECK_INT(board(&behind), before + 1);
    }
    trouble_at(&behind.proxy, TROUBLE_CUT_BEFORE, flights_of_adding(&behind));
    const int64_t before = board(&behind);
    CHECK_INT(add_one(&behind, &ok), STATUS_BLOCKED);
    CHECK_INT(board(&behind), before);
    behind_end(&behind);
}

TEST(a_server_that_does_not_answer_at_first_is_asked_again)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    fixture_close(&behind.fixture);
    atomic_store(&behind.proxy.silent, SILENT_MAX);
    CHECK_OK(fixture_open(&behind.fixture));
    CHECK_INT(atomic_load(&behind.proxy.silent), 0);
    behind_end(&behind);
}

TEST(an_outage_blocks_and_ends)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    StoreWorld world;
    CHECK_OK(save(&behind, 1, 1));
    atomic_store(&behind.proxy.trouble, TROUBLE_AWAY);
    pause_ms(120);
    CHECK_INT(save(&behind, 2, 2), STATUS_BLOCKED);
    CHECK_INT(store_world_find(behind.fixture.store, "w1", &world), STATUS_BLOCKED);
    CHECK_INT(store_world_put(behind.fixture.store, &(StoreWorld){.world_id = "w2"}),
              STATUS_BLOCKED);
    atomic_store(&behind.proxy.trouble, TROUBLE_NONE);
    pause_ms(400);
    CHECK_OK(save(&behind, 2, 2));
    CHECK_OK(store_world_find(behind.fixture.store, "w1", &world));
    CHECK_OK(store_world_put(behind.fixture.store, &(StoreWorld){.world_id = "w2"}));
    behind_end(&behind);
}

TEST(the_next_host_of_the_address_is_tried)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    fixture_close(&behind.fixture);
    behind_url(&behind, "/nobody/is/here,");
    CHECK_OK(fixture_open(&behind.fixture));
    CHECK_OK(fixture_renew(&behind.fixture, "host", 0, FIXTURE_FOREVER, FIXTURE_FOREVER));
    CHECK_OK(save(&behind, 1, 1));
    behind_end(&behind);
}

// Two stores on one server: who lost a world is told so, and writes nothing.
TEST(a_late_holder_is_fenced)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    StoreFixture other = behind.fixture;
    other.store = NULL;
    CHECK_OK(fixture_open(&other));
    CHECK_OK(save(&behind, 1, 1));
    uint64_t epoch = 0;
    // The row of the first host runs out, and another one takes the world.
    REQUIRE(fixture_sql(&behind.fixture,
                        "UPDATE hosts SET expires_unix_ms = 1 WHERE host_id = 'host'"));
    CHECK_OK(fixture_renew(&other, "second", 1, FIXTURE_FOREVER, FIXTURE_FOREVER));
    CHECK_OK(fixture_take(&other, "w1", "second", 1, FIXTURE_FOREVER, &epoch));
    CHECK_INT(epoch, behind.epoch + 1);
    CHECK_INT(save(&behind, 2, 99), STATUS_DENIED);
    CHECK_INT(number(&behind, "SELECT tick FROM world_meta WHERE world_id = 'w1'"), 1);
    store_close(other.store);
    behind_end(&behind);
}

// --- locks --------------------------------------------------------------------------------------

static Sql *direct(const Behind *behind)
{
    char reason[256] = "";
    Sql *sql = calloc(1, sizeof *sql);
    ASSERT(sql != NULL);
    CHECK_OK(sql_connect(sql, behind->fixture.path, reason, sizeof reason));
    return sql;
}

static void hold_head(Sql *sql, const char *world_id)
{
    char text[160];
    snprintf(text, sizeof text, "BEGIN; SELECT 1 FROM world_head WHERE world_id = '%s' FOR UPDATE",
             world_id);
    sql_exec(sql, text);
    CHECK_INT(sql->error, SQL_NO_ERROR);
}

static bool is_held(Sql *sql, const char *world_id)
{
    char text[160];
    snprintf(text, sizeof text, "SELECT 1 FROM world_head WHERE world_id = '%s' FOR UPDATE NOWAIT",
             world_id);
    sql_exec(sql, text);
    const bool is_held = sql->error != SQL_NO_ERROR;
    sql_clear(sql);
    return is_held;
}

static void save_soon(Behind *behind, const char *world_id, uint64_t epoch)
{
    uint8_t bytes[64];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    row_put_meta(&(RowMeta){.next_net_id = 1, .next_player = 1}, &writer);
    CHECK_OK(store_save(behind->fixture.store, world_id, epoch, 1, bytes, writer.at, 0));
}

static void wait_for_waiting(Behind *behind)
{
    const char *text = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    for (int tries = 0; tries < 600 && number(behind, text) == 0; tries++) {
        pause_ms(5);
    }
    CHECK_INT(number(behind, text), 1);
}

// Else two hosts could wait for each other: one that takes worlds, and one that still saves them.
TEST(heads_are_locked_in_the_order_of_their_ids)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    static const char *const ids[] = {"w3", "w1", "w2"}; // as they are saved
    uint64_t epochs[3];
    const uint64_t first = fixture_world(&behind.fixture, "w0");
    for (int i = 0; i < 3; i++) {
        epochs[i] = i == 1 ? behind.epoch : fixture_world(&behind.fixture, ids[i]);
    }
    Sql *one = direct(&behind), *two = direct(&behind);
    hold_head(one, "w0");
    hold_head(two, "w2");
    save_soon(&behind, "w0", first); // while it waits, the others come together
    wait_for_waiting(&behind);
    for (int i = 0; i < 3; i++) {
        save_soon(&behind, ids[i], epochs[i]);
    }
    sql_exec(one, "COMMIT");
    StoreCompletion done;
    CHECK(fixture_wait(&behind.fixture, &done)); // of w0
    wait_for_waiting(&behind);
    CHECK(is_held(one, "w1"));
    CHECK(!is_held(one, "w3")); // it comes after the one that is waited for
    sql_exec(two, "COMMIT");
    for (int i = 0; i < 3; i++) {
        CHECK(fixture_wait(&behind.fixture, &done));
        CHECK_OK(done.status);
    }
    sql_disconnect(one);
    sql_disconnect(two);
    free(one);
    free(two);
    behind_end(&behind);
}

static void *delete_world(void *user)
{
    Behind *behind = user;
    CHECK_OK(store_world_delete(behind->fixture.store, "w0"));
    return NULL;
}

// With the saves of others, before it is run.
TEST(the_head_of_a_deleted_world_is_locked_in_the_same_order)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    CHECK(fixture_world(&behind.fixture, "w0") > 0);
    const uint64_t last = fixture_world(&behind.fixture, "w3");
    StoreCompletion done;
    Sql *one = direct(&behind), *two = direct(&behind);
    hold_head(one, "w1");
    hold_head(two, "w0");
    save_soon(&behind, "w1", behind.epoch); // while it waits, the others come together
    wait_for_waiting(&behind);
    save_soon(&behind, "w3", last);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, delete_world, &behind), 0);
    pause_ms(50);
    sql_exec(one, "COMMIT");
    CHECK(fixture_wait(&behind.fixture, &done)); // of w1
    wait_for_waiting(&behind);
    CHECK(!is_held(one, "w3")); // it comes after the one that is waited for
    sql_exec(two, "COMMIT");
    CHECK(fixture_wait(&behind.fixture, &done));
    CHECK_OK(done.status);
    (void)pthread_join(thread, NULL);
    sql_disconnect(one);
    sql_disconnect(two);
    free(one);
    free(two);
    behind_end(&behind);
}

// Its worlds would stop: a host that cannot renew its row is taken for one that is cut off.
TEST(a_renewal_waits_for_no_lock)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    const uint64_t first = fixture_world(&behind.fixture, "w0");
    Sql *one = direct(&behind), *two = direct(&behind);
    hold_head(one, "w0");
    hold_head(two, "w1");
    save_soon(&behind, "w0", first); // while it waits, the others come together
    wait_for_waiting(&behind);
    const StoreHost host = {.host_id = "host"};
    save_soon(&behind, "w1", behind.epoch);
    CHECK_OK(store_host_renew(behind.fixture.store, &host, FIXTURE_FOREVER, FIXTURE_FOREVER, 77));
    sql_exec(one, "COMMIT");
    StoreCompletion done;
    CHECK(fixture_wait(&behind.fixture, &done)); // of w0
    CHECK(fixture_wait(&behind.fixture, &done));
    CHECK_INT(done.type, STORE_HOST_RENEWED);
    CHECK_OK(done.status);
    sql_exec(two, "COMMIT");
    CHECK(fixture_wait(&behind.fixture, &done));
    CHECK_INT(done.type, STORE_SAVED);
    CHECK_OK(done.status);
    sql_disconnect(one);
    sql_disconnect(two);
    free(one);
    free(two);
    behind_end(&behind);
}

// The same row twice in one statement is an error of PostgreSQL's; the one that came last counts.
// In one batch: what is fenced is refused, and the others are stored all the same.
TEST(a_fence_that_misses_hurts_no_other_world)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    Sql *one = direct(&behind);
    const uint64_t first = fixture_world(&behind.fixture, "w0");
    const uint64_t second = fixture_world(&behind.fixture, "w2");
    CHECK_OK(save(&behind, 1, 1));
    hold_head(one, "w0");
    save_soon(&behind, "w0", first);
    wait_for_waiting(&behind);
    save_soon(&behind, "w1", behind.epoch); // its first save was stored before
    save_soon(&behind, "w2", second);
    sql_exec(one, "COMMIT");
    uint32_t stored = 0, fenced = 0;
    StoreCompletion done;
    for (int i = 0; i < 3; i++) {
        REQUIRE(fixture_wait(&behind.fixture, &done));
        stored += done.status == STATUS_OK;
        fenced += done.status == STATUS_DENIED && strcmp(done.world_id, "w1") == 0;
    }
    CHECK_INT(stored, 2);
    CHECK_INT(fenced, 1);
    CHECK_INT(number(&behind, "SELECT seq FROM world_head WHERE world_id = 'w1'"), 1);
    CHECK_INT(number(&behind, "SELECT seq FROM world_head WHERE world_id = 'w2'"), 1);
    sql_disconnect(one);
    free(one);
    behind_end(&behind);
}

TEST(saves_of_one_world_in_one_commit)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    uint8_t bytes[256];
    Sql *one = direct(&behind);
    const uint64_t first = fixture_world(&behind.fixture, "w0");
    hold_head(one, "w0");
    save_soon(&behind, "w0", first);
    wait_for_waiting(&behind);
    for (uint64_t seq = 1; seq <= 5; seq++) { // 4 and 5 put what 3 removes
        ByteWriter writer = byte_writer(bytes, sizeof bytes);
        const RowMeta meta = {.next_net_id = 1, .next_player = 1, .tick = seq};
        const RowStructure structure = {.desc = {.net_id = 7}, .health = (float)seq};
        row_put_meta(&meta, &writer);
        if (seq == 3) {
            row_delete_structure(7, &writer);
        } else {
            row_put_structure(&structure, &writer);
        }
        CHECK_OK(store_save(behind.fixture.store, "w1", behind.epoch, seq, bytes, writer.at, 0));
    }
    sql_exec(one, "COMMIT");
    StoreCompletion done;
    for (int i = 0; i < 6; i++) {
        CHECK(fixture_wait(&behind.fixture, &done));
        CHECK_OK(done.status);
    }
    CHECK_INT(number(&behind, "SELECT tick FROM world_meta WHERE world_id = 'w1'"), 5);
    CHECK_INT(number(&behind, "SELECT health::bigint FROM structures WHERE world_id = 'w1'"), 5);
    sql_disconnect(one);
    free(one);
    behind_end(&behind);
}

// --- versions -----------------------------------------------------------------------------------

static void *open_store(void *user)
{
    CHECK_OK(fixture_open(user));
    return NULL;
}

static bool change_tables(Behind *behind, const char *text)
{
    return fixture_sql(&behind->fixture, text);
}

// An upgrade is one host after the other: those that are not upgraded yet go on.
TEST(what_a_version_adds_disturbs_no_host_of_another)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    uint64_t seq = 0;
    CHECK_OK(save(&behind, ++seq, 1));
    // As an older version made it.
    REQUIRE(change_tables(&behind, "ALTER TABLE hosts DROP COLUMN is_peer, DROP COLUMN memory, "
                                   "DROP COLUMN tick, DROP COLUMN worlds, DROP COLUMN players; "
                                   "DROP TABLE shared_settings; "
                                   "UPDATE sandlot_schema SET version = 9"));
    // Two begin at once.
    StoreFixture others[2] = {behind.fixture, behind.fixture};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        others[i].store = NULL;
        CHECK_INT(pthread_create(&threads[i], NULL, open_store, &others[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
        REQUIRE(others[i].store != NULL);
    }
    CHECK_INT(number(&behind, "SELECT version FROM sandlot_schema"), STORE_SCHEMA);
    CHECK_INT(number(&behind, "SELECT players FROM hosts WHERE host_id = 'host'"), 0);
    CHECK_INT(number(&behind, "SELECT count(*) FROM shared_settings"), 0);
    CHECK_OK(fixture_renew(&others[1], "second", 1, FIXTURE_FOREVER, FIXTURE_FOREVER));
    CHECK_OK(save(&behind, ++seq, 2));
    CHECK_OK(fixture_renew(&behind.fixture, "host", 0, FIXTURE_FOREVER, FIXTURE_FOREVER));
    fixture_close(&others[0]);
    fixture_close(&others[1]);
    // A later one comes.
    REQUIRE(change_tables(&behind, "ALTER TABLE hosts ADD COLUMN later BIGINT DEFAULT 0; "
                                   "ALTER TABLE structures ADD COLUMN later BYTEA DEFAULT ''; "
                                   "CREATE TABLE later(id BIGINT); "
                                   "UPDATE sandlot_schema SET version = 1000"));
    CHECK_OK(save(&behind, ++seq, 3));
    CHECK_OK(fixture_renew(&behind.fixture, "host", 0, FIXTURE_FOREVER, FIXTURE_FOREVER));
    CHECK_OK(fixture_open(&others[0])); // one that begins again before its turn
    fixture_close(&others[0]);
    CHECK_INT(number(&behind, "SELECT version FROM sandlot_schema"), 1000);
    REQUIRE(change_tables(&behind, "UPDATE sandlot_schema SET readable_from = 1000"));
    CHECK_INT(fixture_open(&others[0]), STATUS_UNSUPPORTED);
    CHECK(strstr(others[0].reason, "a later version of sandlot") != NULL);
    REQUIRE(change_tables(&behind, "UPDATE sandlot_schema SET readable_from = 9; "
                                   "ALTER TABLE hosts DROP COLUMN players"));
    CHECK_INT(fixture_open(&others[0]), STATUS_MALFORMED); // nobody makes what is lost
    behind_end(&behind);
}

// --- blobs --------------------------------------------------------------------------------------

TEST(blobs_are_pieces_of_the_server_and_files_of_a_cache)
{
    Behind behind;
    if (!behind_begin(&behind)) {
        return;
    }
    char reason[256] = "", first[] = "blobs_XXXXXX", second[] = "blobs_XXXXXX";
    REQUIRE(mkdtemp(first) != NULL && mkdtemp(second) != NULL);
    const size_t bytes = (512u << 10) * 2 + 77;
    uint8_t *data = malloc(bytes), *got = NULL, hash[SHA256_BYTES], small[SHA256_BYTES];
    REQUIRE(data != NULL);
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)(i * 7 + i / 1000);
    }
    BlobRemote remote;
    BlobStore *one = NULL, *other = NULL;
    REQUIRE(blob_postgres_open(behind.fixture.path, &remote, reason, sizeof reason) == STATUS_OK);
    REQUIRE(blob_open_remote(first, &remote, 64u << 20, &one) == STATUS_OK);
    REQUIRE(blob_postgres_open(behind.fixture.path, &remote, reason, sizeof reason) == STATUS_OK);
    REQUIRE(blob_open_remote(second, &remote, 64u << 20, &other) == STATUS_OK);
    CHECK_OK(blob_put(one, data, bytes, hash));
    CHECK_OK(blob_put(one, "", 0, small));
    CHECK_INT(number(&behind, "SELECT count(*) FROM blob_chunks"), 3);
    CHECK_INT(number(&behind, "SELECT max(length(data)) FROM blob_chunks"), 512 << 10);
    // Another host has it from the server, and then from its own disk.
    size_t count = 0;
    CHECK(blob_exists(other, hash) && blob_exists(other, small));
    CHECK_OK(blob_read(other, hash, bytes, &got, &count));
    CHECK(count == bytes && got != NULL && memcmp(got, data, bytes) == 0);
    free(got);
    atomic_store(&behind.proxy.trouble, TROUBLE_AWAY);
    pause_ms(120);
    got = NULL;
    CHECK_OK(blob_read(other, hash, bytes, &got, &count));
    free(got);
    uint8_t unknown[SHA256_BYTES] = {1};
    CHECK_INT(blob_read(other, unknown, bytes, &got, &count), STATUS_BLOCKED);
    CHECK_INT(blob_put(one, "more", 4, small), STATUS_BLOCKED);
    atomic_store(&behind.proxy.trouble, TROUBLE_NONE);
    pause_ms(400);
    CHECK_OK(blob_put(one, "more", 4, small));
    CHECK_INT(blob_read(other, unknown, bytes, &got, &count), STATUS_NOT_FOUND);
    blob_close(one);
    blob_close(other);
    free(data);
    fixture_remove(first);
    fixture_remove(second);
    behind_end(&behind);
}
