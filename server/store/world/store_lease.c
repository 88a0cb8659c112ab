// Hosts, which of them holds a world, and the fence. An epoch is never given twice, not even to a
// world that was deleted and made again: the row with it stays.
//
//   hosts         which process a host is, and until when its row is valid
//   world_leases  which host and boot holds a world, and as which epoch
//   world_head    the current epoch and the last save in it: the fence
//
// Who writes a world first raises its row of world_head with an UPDATE that names the epoch. On an
// engine with several writers that row is locked by it, so two never get through together. The
// host's own row is only looked at, once in a transaction: that makes a host stop in time. It does
// not keep two hosts apart: the epoch does. When a world is released its head is closed, so that no
// save of that epoch follows.
#define _GNU_SOURCE
#include "server/store/store_inside.h"

#include "core/base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- hosts --------------------------------------------------------------------------------------

static uint64_t row_end(const Job *job)
{
    const uint64_t most = INT64_MAX;
    return job->now < most && job->duration < most - job->now ? job->now + job->duration : most;
}

static void put_host(SqlRow *row, const Job *job)
{
    sql_put_string(row, job->host->host_id);
    sql_put_bytes(row, job->host->boot, sizeof job->host->boot);
    sql_put_string(row, job->host->address);
    sql_put_bytes(row, job->host->public_key, sizeof job->host->public_key);
    sql_put_u64(row, row_end(job));
    sql_put_u64(row, job->host->draining);
    sql_put_u64(row, job->host->is_peer);
    sql_put_u64(row, job->host->memory);
    sql_put_u64(row, job->host->tick);
    sql_put_u64(row, job->host->worlds);
    sql_put_u64(row, job->host->players);
    sql_put_checksum(row);
}

bool host_is_same(const StoreHost *a, const StoreHost *b)
{
    return strcmp(a->host_id, b->host_id) == 0 && memcmp(a->boot, b->boot, sizeof a->boot) == 0;
}

Status host_renew(Store *store, Sql *sql, Job *job)
{
    const bool is_first = job->host_mode == HOST_OWN
                              ? !store->host_is_ours || !host_is_same(&store->host, job->host)
                              : job->host_mode == HOST_REGISTER;
    store->own_host_known = false;
    SqlRow row = sql_open(sql, is_first ? SQL_HOST_PUT : SQL_HOST_RENEW, TABLE_HOSTS);
    put_host(&row, job);
    return sql_run(&row) || sql->error != SQL_NO_ERROR ? STATUS_OK : STATUS_DENIED;
}

void host_renewed(Store *store, const Job *job)
{
    if (job->host_mode != HOST_OWN) {
        return;
    }
    store->host_is_ours = true;
    store->host = *job->host;
}

// Why a host whose row does not let it write has to wait or to stop.
static Status host_status(Sql *sql, const char *host_id, const uint8_t *boot, uint64_t now)
{
    Status status = STATUS_BLOCKED; // no row: it was never renewed
    SqlRow row = sql_open(sql, SQL_HOST_FIND, TABLE_NONE);
    sql_put_string(&row, host_id);
    if (sql_next(&row)) {
        size_t bytes = 0;
        const uint8_t *stored = sql_take_bytes(&row, STORE_BOOT_BYTES, &bytes);
        const bool is_ours = bytes == STORE_BOOT_BYTES && memcmp(stored, boot, bytes) == 0;
        const bool is_valid = sql_take_u64(&row) > now;
        status = !is_ours ? STATUS_DENIED : is_valid ? STATUS_OK : STATUS_BLOCKED;
        sql_close(&row);
    }
    return status;
}

// --- the head of a world ------------------------------------------------------------------------

typedef struct Head {
    uint64_t epoch, seq;
} Head;

#define SEQ_CLOSED ((uint64_t)INT64_MAX) // of an epoch that was released

static Status find_head(Sql *sql, const char *world_id, Head *out)
{
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_HEAD_FIND, TABLE_NONE);
    sql_put_string(&row, world_id);
    if (sql_next(&row)) {
        char unused[STORE_ID_BYTES + 1];
        sql_take_table(&row, TABLE_HEAD);
        world_take_string(&row, unused, sizeof unused);
        out->epoch = sql_take_u64(&row);
        out->seq = sql_take_u64(&row);
        status = sql_take_checksum(&row) ? STATUS_OK : STATUS_MALFORMED;
        sql_close(&row);
    }
    return sql_status(sql) != STATUS_OK ? sql_status(sql) : status;
}

static Hash64 checksum_begin(const char *world_id)
{
    Hash64 hash = sql_checksum_begin(TABLE_HEAD);
    hash_bytes(&hash, world_id, strlen(world_id));
    return hash;
}

static uint64_t checksum_end(Hash64 hash, Head head)
{
    hash_u64(&hash, head.epoch);
    hash_u64(&hash, head.seq);
    return hash.state;
}

static uint64_t head_checksum(const char *world_id, Head head)
{
    return checksum_end(checksum_begin(world_id), head);
}

// The next epoch of a world that nobody holds any more; also its first one.
static Status next_epoch(Sql *sql, const char *world_id, Head *head)
{
    *head = (Head){0, 0};
    Status status = find_head(sql, world_id, head);
    if (status == STATUS_NOT_FOUND) {
        SqlRow row = sql_open(sql, SQL_HEAD_MAKE, TABLE_HEAD);
        sql_put_string(&row, world_id);
        sql_put_u64(&row, 0);
        sql_put_u64(&row, 0);
        sql_put_checksum(&row);
        (void)sql_run(&row);
        status = sql_status(sql);
    }
    // Only a database that somebody wrote by hand has such a number.
    return status == STATUS_OK && head->epoch >= STORE_EPOCH_MAX ? STATUS_LIMIT : status;
}

// --- taking and releasing -----------------------------------------------------------------------

// Compare and set on the old epoch: of two who try, one hits.
static bool raise_epoch(Sql *sql, const Job *job, Head old)
{
    ASSERT(old.epoch < STORE_EPOCH_MAX); // next_epoch has looked: an epoch never falls
    const char *world_id = job->answer.world_id;
    const Head next = {old.epoch + 1, 0};
    SqlRow row = sql_open(sql, SQL_HEAD_TAKE, TABLE_NONE);
    sql_put_u64(&row, next.epoch);
    sql_put_u64(&row, head_checksum(world_id, next));
    sql_put_string(&row, world_id);
    sql_put_u64(&row, old.epoch);
    sql_put_string(&row, job->host->host_id);
    sql_put_u64(&row, job->now);
    sql_put_bytes(&row, job->host->boot, sizeof job->host->boot);
    return sql_run(&row);
}

static void put_lease(Sql *sql, const Job *job, uint64_t epoch)
{
    SqlRow row = sql_open(sql, SQL_LEASE_PUT, TABLE_LEASES);
    sql_put_string(&row, job->answer.world_id);
    sql_put_string(&row, job->host->host_id);
    sql_put_bytes(&row, job->host->boot, sizeof job->host->boot);
    sql_put_u64(&row, epoch);
    sql_put_checksum(&row);
    (void)sql_run(&row);
}

typedef struct RowBuffer {
    uint8_t *bytes;
    size_t count, max;
    bool is_full;
} RowBuffer;

static void buffer_row(void *user, const uint8_t *row, size_t bytes)
{
    RowBuffer *buffer = user;
    if (!buffer->is_full && bytes > buffer->max - buffer->count) {
        const size_t max = (buffer->count + bytes) * 2;
        uint8_t *more = max <= STORE_WORLD_BYTES_MAX ? realloc(buffer->bytes, max) : NULL;
        buffer->is_full = more == NULL;
        if (more != NULL) {
            buffer->bytes = more;
            buffer->max = max;
        }
    }
    if (!buffer->is_full) {
        memcpy(buffer->bytes + buffer->count, row, bytes);
        buffer->count += bytes;
    }
}

static Status say_damaged(Job *job, const char *text)
{
    free(job->answer_bytes);
    job->answer_bytes = (uint8_t *)strdup(text);
    job->answer.bytes = job->answer_bytes;
    job->answer.byte_count = job->answer_bytes != NULL ? strlen(text) : 0;
    return STATUS_MALFORMED;
}

static Status give_rows(Store *store, Sql *sql, Job *job)
{
    RowBuffer buffer = {0};
    RowsFound found = {0};
    const Status status = rows_read(sql, job->answer.world_id, buffer_row, &buffer, &found);
    store->found.damaged += found.damaged;
    store->found.repaired += found.repaired;
    store->found.backfilled += found.backfilled;
    if (status != STATUS_OK || buffer.is_full) {
        free(buffer.bytes);
        if (status == STATUS_MALFORMED) {
            char text[STORE_REASON_BYTES];
            snprintf(text, sizeof text, "rows of the world are damaged: %llu",
                     (unsigned long long)found.damaged);
            return say_damaged(job, text);
        }
        return status != STATUS_OK ? status : STATUS_LIMIT;
    }
    free(job->answer.rows);
    job->answer.rows = buffer.bytes;
    job->answer.row_bytes = buffer.count;
    return STATUS_OK;
}

// Who holds it, as store_held_read reads it.
static void say_holder(Sql *sql, Job *job)
{
    uint8_t bytes[8 + STORE_BOOT_BYTES + STORE_ADDRESS_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    SqlRow row = sql_open(sql, SQL_LEASE_HOLDER, TABLE_NONE);
    sql_put_string(&row, job->answer.world_id);
    if (!sql_next(&row)) {
        return;
    }
    size_t boot_bytes = 0, address_bytes = 0;
    byte_write_u64(&writer, sql_take_u64(&row));
    const uint8_t *boot = sql_take_bytes(&row, STORE_BOOT_BYTES, &boot_bytes);
    byte_write_bytes(&writer, boot, boot_bytes);
    const uint8_t *address = sql_take_bytes(&row, STORE_ADDRESS_BYTES, &address_bytes);
    byte_write_bytes(&writer, address, address_bytes);
    sql_close(&row);
    free(job->answer_bytes);
    job->answer_bytes = boot_bytes == STORE_BOOT_BYTES ? malloc(sizeof bytes) : NULL;
    job->answer.bytes = job->answer_bytes;
    job->answer.byte_count = 0;
    if (job->answer_bytes != NULL) {
        memcpy(job->answer_bytes, bytes, writer.at);
        job->answer.byte_count = writer.at;
    }
}

bool store_held_read(const StoreCompletion *done, StoreHeld *out)
{
    StoreHeld held = {0};
    ByteReader reader = byte_reader(done->bytes, done->bytes != NULL ? done->byte_count : 0);
    held.epoch = byte_read_u64(&reader);
    const uint8_t *boot = byte_read_bytes(&reader, sizeof held.boot);
    const size_t left = byte_reader_left(&reader);
    const uint8_t *address = byte_read_bytes(&reader, left);
    if (done->status != STATUS_EXISTS || reader.status != STATUS_OK || left == 0 ||
        left > STORE_ADDRESS_BYTES || memchr(address, '\0', left) != NULL) {
        return false;
    }
    memcpy(held.boot, boot, sizeof held.boot);
    memcpy(held.address, address, left);
    *out = held;
    return true;
}

Status world_take(Store *store, Sql *sql, Job *job)
{
    const char *world_id = job->answer.world_id;
    StoreWorld world;
    Head head;
    Status status = world_find(sql, world_id, &world);
    if (status == STATUS_OK) {
        status = next_epoch(sql, world_id, &head);
    }
    if (status == STATUS_MALFORMED) {
        return say_damaged(job, "the row of the world is damaged");
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!raise_epoch(sql, job, head)) {
        status = host_status(sql, job->host->host_id, job->host->boot, job->now);
        if (status == STATUS_OK) {
            say_holder(sql, job);
        }
        return status != STATUS_OK ? status : STATUS_EXISTS;
    }
    put_lease(sql, job, head.epoch + 1);
    job->answer.epoch = head.epoch + 1;
    return give_rows(store, sql, job);
}

Status world_release(Sql *sql, const Job *job)
{
    if (job->host != NULL && !fence_is_holder(sql, job->answer.world_id, job->host)) {
        return STATUS_DENIED;
    }
    SqlRow row = sql_open(sql, SQL_LEASE_DELETE, TABLE_NONE);
    sql_put_string(&row, job->answer.world_id);
    sql_put_u64(&row, job->epoch);
    if (!sql_run(&row)) {
        return sql->error != SQL_NO_ERROR ? STATUS_OK : STATUS_DENIED;
    }
    const Head closed = {job->epoch, SEQ_CLOSED};
    SqlRow head = sql_open(sql, SQL_HEAD_CLOSE, TABLE_NONE);
    sql_put_u64(&head, closed.seq);
    sql_put_u64(&head, head_checksum(job->answer.world_id, closed));
    sql_put_string(&head, job->answer.world_id);
    sql_put_u64(&head, closed.epoch);
    (void)sql_run(&head);
    return STATUS_OK;
}

// The head that follows in the order of the ids; false: none. One that is damaged has epoch 0.
static bool head_after(Sql *sql, char world_id[STORE_ID_BYTES + 1], Head *out)
{
    SqlRow row = sql_open(sql, SQL_HEAD_AFTER, TABLE_NONE);
    sql_put_string(&row, world_id);
    const bool is_there = sql_next(&row);
    if (is_there) {
        sql_take_table(&row, TABLE_HEAD);
        world_take_string(&row, world_id, STORE_ID_BYTES + 1);
        out->epoch = sql_take_u64(&row);
        out->seq = sql_take_u64(&row);
        *out = sql_take_checksum(&row) ? *out : (Head){0, 0};
        sql_close(&row);
    }
    return is_there;
}

static void raise_head(Sql *sql, const char *world_id, Head next)
{
    SqlRow row = sql_open(sql, SQL_HEAD_RAISE, TABLE_NONE);
    sql_put_u64(&row, next.epoch);
    sql_put_u64(&row, head_checksum(world_id, next));
    sql_put_string(&row, world_id);
    (void)sql_run(&row);
}

// A page that stayed open since the other life ignores a manifest whose version does not rise.
static void raise_manifest(Sql *sql, const char *world_id)
{
    uint64_t values[4] = {0}; // next_net_id, next_player, tick, manifest_version
    char unused[STORE_ID_BYTES + 1];
    bool is_whole = false;
    SqlRow row = sql_open(sql, SQL_META_READ, TABLE_NONE);
    sql_put_string(&row, world_id);
    if (sql_next(&row)) {
        sql_take_table(&row, TABLE_META);
        world_take_string(&row, unused, sizeof unused);
        for (size_t i = 0; i < 4; i++) {
            values[i] = sql_take_u64(&row);
        }
        is_whole = sql_take_checksum(&row);
        sql_close(&row);
    }
    if (!is_whole || values[3] > UINT32_MAX - STORE_RESTORE_VERSIONS) {
        return;
    }
    values[3] += STORE_RESTORE_VERSIONS;
    SqlRow put = sql_open(sql, SQL_META_PUT, TABLE_META);
    sql_put_string(&put, world_id);
    for (size_t i = 0; i < 4; i++) {
        sql_put_u64(&put, values[i]);
    }
    sql_put_checksum(&put);
    (void)sql_run(&put);
}

static void run_plain(Sql *sql, SqlName name)
{
    SqlRow row = sql_open(sql, name, TABLE_NONE);
    (void)sql_run(&row);
}

// A world whose head is damaged cannot be taken anyway, and is left as it is.
static Status forget_life(Store *store, Sql *sql, void *user)
{
    (void)store;
    (void)user;
    char world_id[STORE_ID_BYTES + 1] = "";
    Head head;
    while (head_after(sql, world_id, &head)) {
        if (head.epoch > 0 && head.epoch < STORE_EPOCH_MAX - STORE_RESTORE_EPOCHS) {
            raise_head(sql, world_id, (Head){head.epoch + STORE_RESTORE_EPOCHS, 0});
            raise_manifest(sql, world_id);
        }
    }
    run_plain(sql, SQL_LEASE_FORGET);
    run_plain(sql, SQL_HOST_FORGET);
    run_plain(sql, SQL_RESUME_FORGET);
    run_plain(sql, SQL_SIGN_IN_FORGET); // some were ended since the backup, some links were used
    run_plain(sql, SQL_LINK_FORGET);
    return STATUS_OK;
}

Status store_restored(Store *store)
{
    return store_call(store, forget_life, NULL);
}

Status world_fence(Sql *sql, const char *world_id)
{
    Head head;
    const Status status = next_epoch(sql, world_id, &head);
    if (status != STATUS_OK) {
        return status;
    }
    const Head next = {head.epoch + 1, 0};
    SqlRow row = sql_open(sql, SQL_HEAD_RAISE, TABLE_NONE);
    sql_put_u64(&row, next.epoch);
    sql_put_u64(&row, head_checksum(world_id, next));
    sql_put_string(&row, world_id);
    (void)sql_run(&row);
    SqlRow lease = sql_open(sql, SQL_LEASE_DELETE, TABLE_NONE);
    sql_put_string(&lease, world_id);
    sql_put_u64(&lease, head.epoch);
    (void)sql_run(&lease);
    return STATUS_OK;
}

// --- the fence ----------------------------------------------------------------------------------

static BlockedWorld *find_blocked(Store *store, const char *world_id)
{
    for (uint32_t i = 0; i < store->blocked_count; i++) {
        if (strcmp(store->blocked[i].world_id, world_id) == 0) {
            return &store->blocked[i];
        }
    }
    return NULL;
}

void fence_blocked(Store *store, const char *world_id, uint64_t epoch, uint64_t seq)
{
    BlockedWorld *world = find_blocked(store, world_id);
    if (world == NULL) {
        // When there are too many, the one that was noted longest ago makes room.
        const uint32_t at = store->blocked_count < STORE_BLOCKED_MAX
                                ? store->blocked_count++
                                : store->blocked_next++ % STORE_BLOCKED_MAX;
        world = &store->blocked[at];
        *world = (BlockedWorld){.epoch = epoch, .last = seq};
        memcpy(world->world_id, world_id, strlen(world_id) + 1);
    }
    if (world->epoch != epoch || seq > world->last) {
        world->unknown = world->epoch == epoch ? world->unknown : 0;
        world->epoch = epoch;
        world->last = seq;
    }
}

void fence_unknown(Store *store, const char *world_id, uint64_t epoch, uint64_t seq)
{
    fence_blocked(store, world_id, epoch, seq);
    BlockedWorld *world = find_blocked(store, world_id);
    ASSERT(world != NULL && world->epoch == epoch);
    world->unknown = seq > world->unknown ? seq : world->unknown;
}

// Whose lease it is; false: nobody's, because it was released, or its row is damaged.
static bool find_lease(Sql *sql, const char *world_id, StoreHost *out)
{
    *out = (StoreHost){.draining = false};
    SqlRow row = sql_open(sql, SQL_LEASE_FIND, TABLE_NONE);
    sql_put_string(&row, world_id);
    if (!sql_next(&row)) {
        return false;
    }
    size_t bytes = 0;
    char unused[STORE_ID_BYTES + 1];
    sql_take_table(&row, TABLE_LEASES);
    world_take_string(&row, unused, sizeof unused);
    world_take_string(&row, out->host_id, sizeof out->host_id);
    const uint8_t *stored = sql_take_bytes(&row, sizeof out->boot, &bytes);
    memcpy(out->boot, stored, bytes);
    (void)sql_take_u64(&row);
    const bool is_whole = sql_take_checksum(&row);
    sql_close(&row);
    return is_whole;
}

// What the lease says when a fence did not hit though the epoch is the current one: STATUS_OK if it
// is valid.
static Status lease_status(Store *store, Sql *sql, const char *world_id)
{
    StoreHost host;
    return find_lease(sql, world_id, &host) ? host_status(sql, host.host_id, host.boot, store->now)
                                            : STATUS_DENIED;
}

bool fence_is_holder(Sql *sql, const char *world_id, const StoreHost *host)
{
    StoreHost holder;
    return find_lease(sql, world_id, &holder) && host_is_same(&holder, host);
}

bool fence_has_save(Sql *sql, const Writer *writer, uint64_t seq)
{
    Head head = {0, 0};
    return fence_is_holder(sql, writer->world_id, writer->host) &&
           find_head(sql, writer->world_id, &head) == STATUS_OK && head.epoch == writer->epoch &&
           head.seq < SEQ_CLOSED && seq > 0 && seq <= head.seq;
}

// Whether whoever writes that world is a host whose row is valid. A store has one host of its own,
// so one look is enough for all its worlds in a transaction. Another machine's has to hold the
// world: it may say any epoch.
static Status holder_status(Store *store, Sql *sql, const Writer *writer)
{
    if (writer->host != NULL) {
        return fence_is_holder(sql, writer->world_id, writer->host)
                   ? host_status(sql, writer->host->host_id, writer->host->boot, store->now)
                   : STATUS_DENIED;
    }
    if (!store->host_is_ours) {
        return lease_status(store, sql, writer->world_id);
    }
    if (!store->own_host_known) {
        store->own_host = host_status(sql, store->host.host_id, store->host.boot, store->now);
        store->own_host_known = sql->error == SQL_NO_ERROR;
    }
    return store->own_host;
}

typedef struct HeldAsk {
    const StoreHolder *holder;
    const char *world_id;
    uint64_t now;
} HeldAsk;

static Status look_holder(Store *store, Sql *sql, void *user)
{
    (void)store;
    const HeldAsk *ask = user;
    StoreHost host = {.draining = false};
    memcpy(host.host_id, ask->holder->host_id, sizeof host.host_id);
    memcpy(host.boot, ask->holder->boot, sizeof host.boot);
    return fence_is_holder(sql, ask->world_id, &host)
               ? host_status(sql, host.host_id, host.boot, ask->now)
               : STATUS_DENIED;
}

Status store_world_is_held_by(Store *store, const StoreHolder *holder, const char *world_id,
                              uint64_t now_unix_ms)
{
    HeldAsk ask = {holder, world_id, now_unix_ms};
    return store_call(store, look_holder, &ask);
}

// Compare and set on the number of the last save: false if it was not that one.
static bool raise_seq(Sql *sql, const char *world_id, Head before, Head after)
{
    SqlRow row = sql_open(sql, SQL_HEAD_NEXT, TABLE_NONE);
    sql_put_u64(&row, after.seq);
    sql_put_u64(&row, head_checksum(world_id, after));
    sql_put_string(&row, world_id);
    sql_put_u64(&row, before.epoch);
    sql_put_u64(&row, before.seq);
    sql_put_u64(&row, head_checksum(world_id, before));
    return sql_run(&row);
}

Status fence_saves(Store *store, Sql *sql, const Writer *writer, uint64_t first, uint64_t last)
{
    const char *world_id = writer->world_id;
    const uint64_t epoch = writer->epoch;
    if (first == 0 || last >= SEQ_CLOSED || epoch == 0) {
        return STATUS_DENIED;
    }
    const Status holder = holder_status(store, sql, writer);
    const bool is_next = holder == STATUS_OK &&
                         raise_seq(sql, world_id, (Head){epoch, first - 1}, (Head){epoch, last});
    if (is_next || sql->error != SQL_NO_ERROR) {
        return STATUS_OK;
    }
    Head head = {0, 0};
    if (find_head(sql, world_id, &head) != STATUS_OK || head.epoch != epoch) {
        return STATUS_DENIED;
    }
    if (holder == STATUS_BLOCKED && first > head.seq) { // it can be tried again
        fence_blocked(store, world_id, epoch, last);
        return STATUS_BLOCKED;
    }
    // One before it was refused and not tried again yet: this is no fence.
    const BlockedWorld *blocked = find_blocked(store, world_id);
    if (blocked != NULL && blocked->epoch == epoch && first <= blocked->unknown &&
        first <= head.seq && head.seq < SEQ_CLOSED) {
        // That COMMIT without an answer did arrive.
        return last <= head.seq ? STATUS_EXISTS : STATUS_MISMATCH;
    }
    if (holder == STATUS_OK && blocked != NULL && blocked->epoch == epoch && first > head.seq + 1 &&
        blocked->last > head.seq) {
        fence_blocked(store, world_id, epoch, last);
        return STATUS_BLOCKED;
    }
    return STATUS_DENIED;
}

// Only saves of our own host, whose number is the next one: what is not plain is decided one by
// one.
static bool is_plain(const Store *store, const Fence *fence)
{
    return fence->first > 0 && fence->last < SEQ_CLOSED && fence->writer.epoch > 0 &&
           fence->writer.host == NULL && store->host_is_ours && !fence->save_known;
}

static uint32_t list_raises(Store *store)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < store->fence_count; i++) {
        const Fence *fence = &store->fences[i];
        if (is_plain(store, fence)) {
            const char *world_id = fence->writer.world_id;
            const Head before = {fence->writer.epoch, fence->first - 1};
            const Head after = {fence->writer.epoch, fence->last};
            const Hash64 begun = checksum_begin(world_id);
            store->raises[count++] = (SqlHeadRaise){.world_id = world_id,
                                                    .epoch = before.epoch,
                                                    .old_seq = before.seq,
                                                    .old_checksum = checksum_end(begun, before),
                                                    .seq = after.seq,
                                                    .checksum = checksum_end(begun, after)};
        }
    }
    return count;
}

void fence_all(Store *store, Sql *sql, bool is_optimistic)
{
    if (!sql_raises_heads(sql)) {
        return;
    }
    if (store->raise_max < store->fence_count) {
        free(store->raises);
        store->raises = calloc(store->fence_max, sizeof *store->raises);
        store->raise_max = store->raises != NULL ? store->fence_max : 0;
    }
    const uint32_t count = store->raise_max >= store->fence_count ? list_raises(store) : 0;
    if (count == 0) {
        return;
    }
    const SqlHolder holder = {.host_id = store->host.host_id,
                              .boot = store->host.boot,
                              .boot_bytes = sizeof store->host.boot,
                              .now = store->now};
    sql_raise_heads(sql, &holder, store->raises, count,
                    is_optimistic && count == store->fence_count);
    if (sql->error != SQL_NO_ERROR) {
        return;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < store->fence_count; i++) {
        Fence *fence = &store->fences[i];
        if (is_plain(store, fence) && store->raises[at++].is_raised) {
            fence->save = STATUS_OK;
            fence->save_known = true;
            store->own_host = STATUS_OK;
            store->own_host_known = true;
        }
    }
}

Status fence_requests(Store *store, Sql *sql, const Writer *writer, bool writes)
{
    const Status holder = holder_status(store, sql, writer);
    if (holder == STATUS_DENIED) {
        return STATUS_DENIED;
    }
    SqlRow row = sql_open(sql, writes ? SQL_HEAD_TOUCH : SQL_HEAD_LOOK, TABLE_NONE);
    sql_put_string(&row, writer->world_id);
    sql_put_u64(&row, writer->epoch);
    sql_put_u64(&row, SEQ_CLOSED);
    bool is_current = false;
    if (writes) {
        is_current = sql_run(&row);
    } else {
        is_current = sql_next(&row);
        sql_close(&row);
    }
    if (sql->error != SQL_NO_ERROR) {
        return STATUS_OK;
    }
    return is_current ? holder : STATUS_DENIED;
}
