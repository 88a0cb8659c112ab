// A store on another machine, in one thread: a remote store whose batches are given to a real store
// in memory, by an exchange that can lose batches and answers. And what a host may not do that lies
// about what it holds.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/world/save/row.h"
#include "server/store/people/store_host_key.h"
#include "server/store/world/store_remote.h"
#include "tests/support/test.h"
#include "tests/unit/store_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_MS 10000
#define WORLD    "w1"

// --- a control plane ----------------------------------------------------------------------------

typedef struct Plane {
    StoreDatabase *database;
    Store *store;
    uint64_t now;
    uint32_t batches;
    bool is_away;        // batches do not arrive
    bool is_silent;      // they arrive, and the answer is lost
    bool is_refused;     // the key was revoked
    StoreFixture server; // on PostgreSQL
} Plane;

static uint64_t plane_now(void *user)
{
    return ((Plane *)user)->now;
}

static void plane_open(Plane *plane)
{
    *plane = (Plane){.now = 1000};
    if (fixture_is_server()) {
        REQUIRE(fixture_server_begin(&plane->server));
    } else {
        REQUIRE(store_database_open(&plane->database) == STATUS_OK);
    }
    StoreConfig config = store_config_default();
    config.database = plane->database;
    config.path = plane->server.path;
    config.manual = true;
    config.unix_ms = plane_now;
    config.unix_ms_user = plane;
    REQUIRE(store_open(&config, &plane->store, NULL, 0) == STATUS_OK);
    const StoreWorld world = {.world_id = WORLD, .name = "One"}, other = {.world_id = "w2"};
    CHECK_OK(store_world_put(plane->store, &world));
    CHECK_OK(store_world_put(plane->store, &other));
}

static void plane_close(Plane *plane)
{
    store_close(plane->store);
    store_database_close(plane->database);
    fixture_server_end(&plane->server);
}

static StoreHolder holder_of(uint8_t boot, bool is_again)
{
    StoreHolder holder = {.is_again = is_again};
    snprintf(holder.host_id, sizeof holder.host_id, "host%u", boot);
    memset(holder.boot, boot, sizeof holder.boot);
    return holder;
}

static StoreHost host_of(uint8_t boot)
{
    const StoreHolder holder = holder_of(boot, false);
    StoreHost host = {.address = "ws://192.0.2.1:7777"};
    memcpy(host.host_id, holder.host_id, sizeof host.host_id);
    memcpy(host.boot, holder.boot, sizeof host.boot);
    return host;
}

static Status answer_of(Plane *plane, StoreCompletion *out)
{
    StoreCompletion done;
    store_step(plane->store);
    if (!store_poll(plane->store, &done)) {
        return STATUS_NOT_FOUND;
    }
    free(done.rows);
    done.rows = NULL;
    if (out != NULL) {
        *out = done;
    }
    return done.status;
}

static Status submit_job(Plane *plane, const RemoteBatch *batch, const RemoteJob *job, uint64_t tag)
{
    Store *store = plane->store;
    const StoreHolder holder = holder_of(batch->boot[0], batch->is_again);
    const StoreHost host = host_of(batch->boot[0]);
    switch (job->type) {
    case REMOTE_RENEW:
        return store_host_keep(store, &host, plane->now, job->duration_ms, tag);
    case REMOTE_TAKE:
        return store_world_take(store, batch->world_id, host.host_id, host.boot, plane->now, tag);
    case REMOTE_RELEASE:
        return store_world_release_for(store, &holder, batch->world_id, job->epoch, tag);
    case REMOTE_SAVE:
        return store_save_for(store, &holder, batch->world_id, job->epoch, job->seq, job->rows,
                              job->row_bytes, tag);
    default:
        return batch->is_again && !store_request_is_read(&job->request)
                   ? STATUS_BLOCKED
                   : store_request_for(store, &holder, batch->world_id, job->epoch, &job->request,
                                       tag);
    }
}

// Does the batch, and writes the reply.
static size_t plane_run(Plane *plane, const uint8_t *bytes, size_t count, uint8_t *out, size_t max)
{
    static RemoteJob jobs[REMOTE_JOBS_MAX];
    RemoteBatch batch;
    ASSERT(remote_batch_read(bytes, count, &batch, jobs) == STATUS_OK);
    plane->batches += 1;
    Status immediate[REMOTE_JOBS_MAX];
    for (uint32_t i = 0; i < batch.job_count; i++) {
        immediate[i] = submit_job(plane, &batch, &jobs[i], i);
    }
    store_step(plane->store);
    const RemoteReply reply = {.number = batch.number, .answer_count = batch.job_count};
    ByteWriter writer = byte_writer(out, max);
    remote_reply_write(&reply, &writer);
    for (uint32_t i = 0; i < batch.job_count; i++) {
        RemoteAnswer answer = {.type = jobs[i].type, .status = immediate[i]};
        StoreCompletion done = {0};
        if (immediate[i] == STATUS_OK) {
            ASSERT(store_poll(plane->store, &done) && done.tag == i); // in their order
            answer.status = done.status;
            answer.ok = done.ok;
            answer.epoch = done.epoch;
            answer.bytes = done.bytes;
            answer.byte_count = done.byte_count;
            answer.rows = done.rows;
            answer.row_bytes = done.row_bytes;
        }
        remote_answer_write(&answer, &writer);
        free(done.rows);
    }
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

static RemoteEnd exchange(void *user, const uint8_t *batch, size_t bytes, uint8_t **reply,
                          size_t *reply_bytes)
{
    Plane *plane = user;
    static uint8_t out[1 << 20];
    if (plane->is_away || plane->is_refused) {
        return plane->is_refused ? REMOTE_REFUSED : REMOTE_UNSENT;
    }
    const size_t count = plane_run(plane, batch, bytes, out, sizeof out);
    if (plane->is_silent) {
        return REMOTE_UNANSWERED;
    }
    *reply = malloc(count);
    memcpy(*reply, out, count);
    *reply_bytes = count;
    return REMOTE_ANSWERED;
}

// --- a host -------------------------------------------------------------------------------------

static Store *remote_open(Plane *plane, uint8_t boot, bool manual)
{
    Store *store = NULL;
    StoreRemoteConfig config = store_remote_config_default();
    snprintf(config.world_id, sizeof config.world_id, WORLD);
    memset(config.boot, boot, sizeof config.boot);
    config.exchange = exchange;
    config.user = plane;
    config.manual = manual;
    config.retry_ms = 1;
    ASSERT(store_remote_open(&config, &store) == STATUS_OK);
    return store;
}

// The answer to what was asked last.
static Status remote_answer(Store *store, StoreCompletion *out)
{
    StoreCompletion done;
    store_step(store);
    if (!store_poll(store, &done)) {
        return STATUS_NOT_FOUND;
    }
    free(done.rows);
    done.rows = NULL;
    if (out != NULL) {
        *out = done;
    }
    return done.status;
}

static ByteWriter meta_row(uint8_t *bytes, size_t max, uint64_t tick)
{
    ByteWriter writer = byte_writer(bytes, max);
    row_put_meta(&(RowMeta){.next_net_id = 70000, .next_player = 9, .tick = tick}, &writer);
    return writer;
}

static Status remote_save(Store *store, uint64_t epoch, uint64_t seq, uint64_t tick)
{
    uint8_t bytes[256];
    const ByteWriter rows = meta_row(bytes, sizeof bytes, tick);
    CHECK_OK(store_save(store, WORLD, epoch, seq, rows.data, rows.at, 7));
    return remote_answer(store, NULL);
}

static void find_tick(void *user, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    RowMeta meta;
    if (row_read(&reader, &row) == STATUS_OK && row_meta(&row, &meta) == STATUS_OK) {
        *(uint64_t *)user = meta.tick;
    }
}

static uint64_t stored_tick(Plane *plane)
{
    uint64_t tick = 0;
    CHECK_OK(store_rows(plane->store, WORLD, find_tick, &tick));
    return tick;
}

static Status plane_register(Plane *plane, uint8_t boot)
{
    const StoreHost host = host_of(boot);
    CHECK_OK(store_host_register(plane->store, &host, plane->now, LEASE_MS, 1));
    return answer_of(plane, NULL);
}

static uint64_t remote_take(Store *store, uint8_t boot)
{
    const StoreHost host = host_of(boot);
    StoreCompletion done = {0};
    CHECK_OK(store_world_take(store, WORLD, host.host_id, host.boot, 5, 2));
    CHECK_INT(remote_answer(store, &done), STATUS_OK);
    CHECK_INT(done.type, STORE_WORLD_TAKEN);
    return done.epoch;
}

// --- tests --------------------------------------------------------------------------------------

TEST(a_host_saves_at_the_control_plane)
{
    Plane plane;
    plane_open(&plane);
    Store *store = remote_open(&plane, 1, true);
    const StoreHost host = host_of(1);
    CHECK_OK(store_host_renew(store, &host, 1, LEASE_MS, 9));
    CHECK_INT(remote_answer(store, NULL), STATUS_DENIED); // it has not registered
    CHECK_INT(plane_register(&plane, 1), STATUS_OK);
    CHECK_OK(store_host_renew(store, &host, 1, LEASE_MS, 9));
    CHECK_INT(remote_answer(store, NULL), STATUS_OK);
    const uint64_t epoch = remote_take(store, 1);
    CHECK_INT(epoch, 1);
    CHECK_INT(remote_save(store, epoch, 1, 100), STATUS_OK);
    CHECK_INT(stored_tick(&plane), 100);
    CHECK_INT(remote_save(store, epoch, 3, 300), STATUS_DENIED); // out of order
    CHECK_INT(stored_tick(&plane), 100);
    CHECK_OK(store_world_release(store, WORLD, epoch, 3));
    CHECK_INT(remote_answer(store, NULL), STATUS_OK);
    CHECK_INT(remote_save(store, epoch, 2, 200), STATUS_DENIED); // given up
    store_close(store);
    plane_close(&plane);
}

TEST(several_jobs_are_one_batch_in_their_order)
{
    Plane plane;
    plane_open(&plane);
    Store *store = remote_open(&plane, 1, true);
    CHECK_INT(plane_register(&plane, 1), STATUS_OK);
    const uint64_t epoch = remote_take(store, 1);
    const uint32_t before = plane.batches;
    uint8_t bytes[256];
    for (uint64_t seq = 1; seq <= 300; seq++) { // more than one batch may have
        const ByteWriter rows = meta_row(bytes, sizeof bytes, seq);
        CHECK_OK(store_save(store, WORLD, epoch, seq, rows.data, rows.at, seq));
    }
    store_step(store);
    StoreCompletion done;
    for (uint64_t seq = 1; seq <= 300; seq++) {
        CHECK(store_poll(store, &done) && done.tag == seq && done.status == STATUS_OK);
    }
    CHECK_INT(plane.batches - before, 2);
    CHECK_INT(stored_tick(&plane), 300);
    store_close(store);
    plane_close(&plane);
}

TEST(a_save_whose_answer_was_lost_is_stored_once_and_acknowledged)
{
    Plane plane;
    plane_open(&plane);
    CHECK_INT(plane_register(&plane, 1), STATUS_OK);
    Store *store = remote_open(&plane, 1, true);
    const uint64_t epoch = remote_take(store, 1);
    plane.is_silent = true;
    CHECK_INT(remote_save(store, epoch, 1, 100), STATUS_BLOCKED);
    CHECK_INT(stored_tick(&plane), 100);
    // Asked again as such it is fine, also together with the next one; what is new is not repeated.
    uint8_t bytes[256];
    const ByteWriter rows = meta_row(bytes, sizeof bytes, 100);
    const StoreHolder again = holder_of(1, true);
    StoreCompletion done;
    CHECK_OK(store_save_for(plane.store, &again, WORLD, epoch, 1, rows.data, rows.at, 1));
    CHECK_OK(store_save_for(plane.store, &again, WORLD, epoch, 2, rows.data, rows.at, 2));
    CHECK_OK(store_save_for(plane.store, &again, WORLD, epoch, 4, rows.data, rows.at, 4));
    static const Status wanted[] = {STATUS_OK, STATUS_OK, STATUS_DENIED};
    store_step(plane.store);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(store_poll(plane.store, &done));
        CHECK_INT(done.status, wanted[i]);
    }
    // Without the word it is a save out of order, as ever.
    const StoreHolder first = holder_of(1, false);
    CHECK_OK(store_save_for(plane.store, &first, WORLD, epoch, 2, rows.data, rows.at, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_DENIED);
    // Of an epoch that is over nothing is acknowledged.
    const StoreHost other = host_of(1);
    CHECK_OK(store_world_take(plane.store, WORLD, other.host_id, other.boot, plane.now, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_OK);
    CHECK_OK(store_save_for(plane.store, &again, WORLD, epoch, 1, rows.data, rows.at, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_DENIED);
    store_close(store);
    plane_close(&plane);
}

static bool lose_some(Plane *plane, Rng *rng)
{
    const uint32_t dice = rng_below(rng, 4);
    plane->is_away = dice == 0;
    plane->is_silent = dice == 1;
    return dice < 2;
}

typedef struct Lossy {
    Plane plane;
    Rng rng;
    uint32_t lost;
} Lossy;

static RemoteEnd lossy_exchange(void *user, const uint8_t *batch, size_t bytes, uint8_t **reply,
                                size_t *reply_bytes)
{
    Lossy *lossy = user;
    lossy->lost += lose_some(&lossy->plane, &lossy->rng);
    return exchange(&lossy->plane, batch, bytes, reply, reply_bytes);
}

// With its thread: batches and answers get lost, and it tries until it knows.
TEST(nothing_is_lost_on_a_line_that_loses_much)
{
    static Lossy lossy;
    lossy = (Lossy){.rng = rng_make(7, 1)};
    plane_open(&lossy.plane);
    CHECK_INT(plane_register(&lossy.plane, 1), STATUS_OK);
    Store *store = NULL;
    StoreRemoteConfig config = store_remote_config_default();
    snprintf(config.world_id, sizeof config.world_id, WORLD);
    memset(config.boot, 1, sizeof config.boot);
    config.exchange = lossy_exchange;
    config.user = &lossy;
    config.retry_ms = 1;
    config.commit_ms = 1;
    REQUIRE(store_remote_open(&config, &store) == STATUS_OK);
    const StoreHost host = host_of(1);
    StoreCompletion done = {0};
    CHECK_OK(store_world_take(store, WORLD, host.host_id, host.boot, 5, 0));
    while (!store_poll(store, &done)) {
    }
    free(done.rows);
    const uint64_t epoch = done.epoch;
    uint64_t next = 1;
    for (uint64_t seq = 1; seq <= 200; seq++) {
        uint8_t bytes[256];
        const ByteWriter rows = meta_row(bytes, sizeof bytes, seq);
        CHECK_OK(store_save(store, WORLD, epoch, seq, rows.data, rows.at, seq));
        const uint64_t behind = seq == 200 ? 201
                                : seq > 3  ? seq - 3
                                           : 0; // so there are many batches
        while (next < behind) {
            if (store_poll(store, &done)) {
                CHECK_INT(done.status, STATUS_OK);
                CHECK_INT(done.tag, next++);
            }
        }
    }
    CHECK(lossy.lost > 10);
    store_close(store);
    CHECK_INT(stored_tick(&lossy.plane), 200);
    plane_close(&lossy.plane);
}

static StoreRequest increment(void)
{
    return (StoreRequest){
        .operation = STORE_INCREMENT, .store = {"coins", 5}, .key = {"bo", 2}, .number = 1};
}

TEST(a_request_without_an_answer_is_not_known_to_be_done)
{
    Plane plane;
    plane_open(&plane);
    CHECK_INT(plane_register(&plane, 1), STATUS_OK);
    Store *store = remote_open(&plane, 1, true);
    const uint64_t epoch = remote_take(store, 1);
    const StoreRequest request = increment();
    StoreCompletion done;
    CHECK_OK(store_request(store, WORLD, epoch, &request, 1));
    CHECK_INT(remote_answer(store, &done), STATUS_OK);
    CHECK(done.ok);
    plane.is_silent = true;
    CHECK_OK(store_request(store, WORLD, epoch, &request, 1));
    CHECK_INT(remote_answer(store, &done), STATUS_BLOCKED);
    plane.is_silent = false;
    const StoreRequest look = {.operation = STORE_GET, .store = {"coins", 5}, .key = {"bo", 2}};
    CHECK(store_request_is_read(&look) && !store_request_is_read(&request));
    store_close(store);
    plane_close(&plane);
}

TEST(a_revoked_host_is_fenced)
{
    Plane plane;
    plane_open(&plane);
    CHECK_INT(plane_register(&plane, 1), STATUS_OK);
    Store *store = remote_open(&plane, 1, true);
    const uint64_t epoch = remote_take(store, 1);
    plane.is_refused = true;
    CHECK_INT(remote_save(store, epoch, 1, 100), STATUS_DENIED);
    store_close(store);
    plane_close(&plane);
}

// --- hosts that lie -----------------------------------------------------------------------------

// Epochs and numbers are easily guessed: what counts is who holds the lease.
TEST(only_the_holder_writes_a_world)
{
    Plane plane;
    plane_open(&plane);
    CHECK_INT(plane_register(&plane, 1), STATUS_OK);
    CHECK_INT(plane_register(&plane, 2), STATUS_OK);
    Store *store = remote_open(&plane, 1, true);
    const uint64_t epoch = remote_take(store, 1);
    uint8_t bytes[256];
    const ByteWriter rows = meta_row(bytes, sizeof bytes, 666);
    const StoreHolder liar = holder_of(2, false), again = holder_of(2, true);
    StoreHolder old = holder_of(1, false);
    memset(old.boot, 9, sizeof old.boot); // the right host in another life
    const StoreHolder *const strangers[] = {&liar, &again, &old};
    const StoreRequest request = increment();
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_OK(store_save_for(plane.store, strangers[i], WORLD, epoch, 1, rows.data, rows.at, 1));
        CHECK_INT(answer_of(&plane, NULL), STATUS_DENIED);
        CHECK_OK(store_request_for(plane.store, strangers[i], WORLD, epoch, &request, 1));
        CHECK_INT(answer_of(&plane, NULL), STATUS_DENIED);
        CHECK_OK(store_world_release_for(plane.store, strangers[i], WORLD, epoch, 1));
        CHECK_INT(answer_of(&plane, NULL), STATUS_DENIED);
    }
    const StoreHost two = host_of(2);
    StoreCompletion done;
    StoreHeld held;
    CHECK_OK(store_world_take(plane.store, WORLD, two.host_id, two.boot, plane.now, 1));
    CHECK_INT(answer_of(&plane, &done), STATUS_EXISTS);
    CHECK(store_held_read(&done, &held));
    CHECK_INT(held.epoch, epoch);
    CHECK(strcmp(held.address, "ws://192.0.2.1:7777") == 0 && held.boot[0] == 1);
    CHECK_INT(stored_tick(&plane), 0);
    CHECK_INT(remote_save(store, epoch, 1, 100), STATUS_OK);
    store_close(store);
    plane_close(&plane);
}

// In one transaction with the holder's own saves: the stranger's does not move the fence either.
TEST(a_stranger_in_the_same_commit_changes_nothing)
{
    Plane plane;
    plane_open(&plane);
    CHECK_INT(plane_register(&plane, 1), STATUS_OK);
    CHECK_INT(plane_register(&plane, 2), STATUS_OK);
    Store *store = remote_open(&plane, 1, true);
    const uint64_t epoch = remote_take(store, 1);
    const StoreHolder liar = holder_of(2, false), holder = holder_of(1, false);
    const StoreHolder *const who[] = {&holder, &liar, &holder, &liar};
    static const uint64_t seqs[] = {1, 2, 2, 3};
    static const Status wanted[] = {STATUS_OK, STATUS_DENIED, STATUS_OK, STATUS_DENIED};
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t bytes[256];
        const ByteWriter rows = meta_row(bytes, sizeof bytes, 10 + i);
        CHECK_OK(store_save_for(plane.store, who[i], WORLD, epoch, seqs[i], rows.data, rows.at, i));
    }
    store_step(plane.store);
    for (uint32_t i = 0; i < 4; i++) {
        StoreCompletion done;
        CHECK(store_poll(plane.store, &done));
        CHECK_INT(done.status, wanted[i]);
    }
    CHECK_INT(stored_tick(&plane), 12);
    CHECK_INT(remote_save(store, epoch, 3, 100), STATUS_OK);
    store_close(store);
    plane_close(&plane);
}

TEST(a_host_that_was_cut_off_loses_its_world)
{
    Plane plane;
    plane_open(&plane);
    CHECK_INT(plane_register(&plane, 1), STATUS_OK);
    CHECK_INT(plane_register(&plane, 2), STATUS_OK);
    Store *store = remote_open(&plane, 1, true), *other = remote_open(&plane, 2, true);
    const uint64_t epoch = remote_take(store, 1);
    CHECK_INT(remote_save(store, epoch, 1, 100), STATUS_OK);
    plane.now += LEASE_MS + 1;
    CHECK_INT(remote_save(store, epoch, 2, 200), STATUS_BLOCKED); // nobody has it yet
    CHECK_INT(plane_register(&plane, 2), STATUS_OK);
    const uint64_t next = remote_take(other, 2);
    CHECK_INT(next, epoch + 1);
    CHECK_INT(remote_save(store, epoch, 2, 200), STATUS_DENIED);
    CHECK_INT(remote_save(store, next, 1, 200), STATUS_DENIED); // it guesses the epoch
    CHECK_INT(remote_save(other, next, 1, 300), STATUS_OK);
    CHECK_INT(stored_tick(&plane), 300);
    store_close(store);
    store_close(other);
    plane_close(&plane);
}

TEST(a_second_process_takes_the_row_over)
{
    Plane plane;
    plane_open(&plane);
    StoreHost first = host_of(1), second = host_of(1);
    memset(second.boot, 2, sizeof second.boot);
    CHECK_OK(store_host_register(plane.store, &first, plane.now, LEASE_MS, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_OK);
    CHECK_OK(store_host_register(plane.store, &second, plane.now, LEASE_MS, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_OK);
    CHECK_OK(store_host_keep(plane.store, &first, plane.now, LEASE_MS, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_DENIED);
    CHECK_OK(store_host_keep(plane.store, &second, plane.now, LEASE_MS, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_OK);
    plane_close(&plane);
}

// --- keys ---------------------------------------------------------------------------------------

static void count_keys(void *user, const StoreHostKey *key)
{
    *(uint32_t *)user += key->name[0] != '\0';
}

TEST(a_key_that_is_deleted_takes_its_hosts_along)
{
    Plane plane;
    plane_open(&plane);
    StoreHostKey key = {.name = "second machine", .created_unix_ms = 5};
    memset(key.key_hash, 0xab, sizeof key.key_hash);
    CHECK_OK(store_host_key_put(plane.store, &key));
    StoreHost own = host_of(1), other = host_of(2);
    snprintf(own.host_id, sizeof own.host_id, "abababababababab0123");
    CHECK_OK(store_host_register(plane.store, &own, plane.now, LEASE_MS, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_OK);
    CHECK_OK(store_host_register(plane.store, &other, plane.now, LEASE_MS, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_OK);
    CHECK_OK(store_host_key_delete(plane.store, key.key_hash));
    CHECK_INT(store_host_key_delete(plane.store, key.key_hash), STATUS_NOT_FOUND);
    CHECK_OK(store_host_keep(plane.store, &own, plane.now, LEASE_MS, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_DENIED);
    CHECK_OK(store_host_keep(plane.store, &other, plane.now, LEASE_MS, 1));
    CHECK_INT(answer_of(&plane, NULL), STATUS_OK);
    uint32_t count = 0;
    CHECK_OK(store_host_keys(plane.store, count_keys, &count));
    CHECK_INT(count, 0);
    plane_close(&plane);
}

// --- bytes --------------------------------------------------------------------------------------

static size_t write_every_job(uint8_t *out, size_t max)
{
    RemoteBatch batch = {.number = 7, .is_again = true, .world_id = WORLD, .job_count = 5};
    memset(batch.boot, 3, sizeof batch.boot);
    const uint8_t rows[] = {1, 2, 3};
    const RemoteJob jobs[] = {
        {.type = REMOTE_RENEW, .address = {"ws://a", 6}, .draining = true, .duration_ms = 30000},
        {.type = REMOTE_TAKE},
        {.type = REMOTE_RELEASE, .epoch = 9},
        {.type = REMOTE_SAVE, .epoch = 9, .seq = 4, .rows = rows, .row_bytes = sizeof rows},
        {.type = REMOTE_REQUEST, .epoch = 9, .request = increment()}};
    ByteWriter writer = byte_writer(out, max);
    remote_batch_write(&batch, &writer);
    for (uint32_t i = 0; i < 5; i++) {
        remote_job_write(&jobs[i], &writer);
    }
    ASSERT(writer.status == STATUS_OK);
    return writer.at;
}

TEST(batches_are_read_as_they_were_written)
{
    static RemoteJob jobs[REMOTE_JOBS_MAX];
    uint8_t bytes[512];
    RemoteBatch batch;
    const size_t count = write_every_job(bytes, sizeof bytes);
    CHECK_OK(remote_batch_read(bytes, count, &batch, jobs));
    CHECK(batch.number == 7 && batch.is_again && strcmp(batch.world_id, WORLD) == 0);
    CHECK_INT(batch.job_count, 5);
    CHECK(jobs[0].draining && jobs[0].duration_ms == 30000 && jobs[0].address.bytes == 6);
    CHECK(jobs[3].epoch == 9 && jobs[3].seq == 4 && jobs[3].row_bytes == 3);
    CHECK(jobs[4].request.operation == STORE_INCREMENT && jobs[4].request.number == 1);
    for (size_t i = 0; i < count; i++) { // whatever is cut off is no batch
        CHECK(remote_batch_read(bytes, i, &batch, jobs) != STATUS_OK);
    }
    bytes[count] = 0;
    CHECK(remote_batch_read(bytes, count + 1, &batch, jobs) != STATUS_OK);
    Rng rng = rng_make(5, 1);
    for (uint32_t i = 0; i < 20000; i++) { // any bytes; ASan looks on
        uint8_t changed[512];
        memcpy(changed, bytes, count);
        for (uint32_t k = 0; k < 3; k++) {
            changed[rng_below(&rng, (uint32_t)count)] = (uint8_t)rng_below(&rng, 256);
        }
        (void)!(remote_batch_read(changed, count, &batch, jobs) == STATUS_OK);
    }
}

TEST(replies_are_read_as_they_were_written)
{
    static RemoteAnswer answers[REMOTE_JOBS_MAX];
    uint8_t bytes[512];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    RemoteReply reply = {.number = 8, .unix_ms = 5, .disk = STORE_DISK_FULL, .answer_count = 2};
    const uint8_t rows[] = {1, 2, 3};
    remote_reply_write(&reply, &writer);
    remote_answer_write(&(RemoteAnswer){.type = REMOTE_TAKE,
                                        .status = STATUS_OK,
                                        .epoch = 5,
                                        .rows = rows,
                                        .row_bytes = sizeof rows},
                        &writer);
    remote_answer_write(&(RemoteAnswer){.type = REMOTE_SAVE, .status = STATUS_BLOCKED}, &writer);
    CHECK_OK(remote_reply_read(bytes, writer.at, &reply, answers));
    CHECK(reply.number == 8 && reply.unix_ms == 5 && reply.disk == STORE_DISK_FULL &&
          answers[0].row_bytes == 3);
    CHECK_INT(answers[1].status, STATUS_BLOCKED);
    for (size_t i = 0; i < writer.at; i++) {
        CHECK(remote_reply_read(bytes, i, &reply, answers) != STATUS_OK);
    }
    bytes[17] = 77; // no such state of a disk
    CHECK(remote_reply_read(bytes, writer.at, &reply, answers) != STATUS_OK);
}
