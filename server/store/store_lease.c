// Hosts, which of them holds a world, and the fence. An epoch is never given twice, not even to a
// world that was deleted and made again: the row with it stays.
//
//   hosts         which process a host is, and until when its row is valid
//   world_leases  which host and boot holds a world, and as which epoch
//   world_head    the current epoch and the last save in it: the fence
//
// Who writes a world first raises its row of world_head with an UPDATE that names the epoch. On an
// engine with several writers that row is locked by it, so two never get through together. Rows
// that are only looked at (hosts, world_leases) make a host stop in time; they do not keep two
// hosts apart: the epoch does.
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

static uint64_t head_checksum(const char *world_id, Head head)
{
    Hash64 hash = sql_checksum_begin(TABLE_HEAD);
    hash_bytes(&hash, world_id, strlen(world_id));
    hash_u64(&hash, head.epoch);
    hash_u64(&hash, head.seq);
    return hash.state;
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
    if (job->host != NULL && fence_holder(sql, job->answer.world_id, job->host) != STATUS_OK) {
        return STATUS_DENIED;
    }
    SqlRow row = sql_open(sql, SQL_LEASE_DELETE, TABLE_NONE);
    sql_put_string(&row, job->answer.world_id);
    sql_put_u64(&row, job->epoch);
    return sql_run(&row) || sql->error != SQL_NO_ERROR ? STATUS_OK : STATUS_DENIED;
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
        world->epoch = epoch;
        world->last = seq;
    }
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

Status fence_holder(Sql *sql, const char *world_id, const StoreHost *holder)
{
    StoreHost host;
    return find_lease(sql, world_id, &host) && host_is_same(&host, holder) ? STATUS_OK
                                                                           : STATUS_DENIED;
}

bool fence_has_save(Sql *sql, const char *world_id, uint64_t epoch, uint64_t seq)
{
    Head head = {0, 0};
    return find_head(sql, world_id, &head) == STATUS_OK && head.epoch == epoch && seq > 0 &&
           seq <= head.seq;
}

Status fence_saves(Store *store, Sql *sql, const char *world_id, uint64_t epoch, uint64_t first,
                   uint64_t last)
{
    if (first == 0 || last > INT64_MAX || epoch == 0) {
        return STATUS_DENIED;
    }
    SqlRow row = sql_open(sql, SQL_HEAD_NEXT, TABLE_NONE);
    sql_put_u64(&row, last);
    sql_put_u64(&row, head_checksum(world_id, (Head){epoch, last}));
    sql_put_string(&row, world_id);
    sql_put_u64(&row, epoch);
    sql_put_u64(&row, first - 1);
    sql_put_u64(&row, head_checksum(world_id, (Head){epoch, first - 1}));
    sql_put_u64(&row, store->now);
    if (sql_run(&row) || sql->error != SQL_NO_ERROR) {
        return STATUS_OK;
    }
    Head head = {0, 0};
    if (find_head(sql, world_id, &head) != STATUS_OK || head.epoch != epoch) {
        return STATUS_DENIED;
    }
    const Status lease = lease_status(store, sql, world_id);
    if (lease == STATUS_BLOCKED && first > head.seq) { // it can be tried again
        fence_blocked(store, world_id, epoch, last);
        return STATUS_BLOCKED;
    }
    // One before it was refused and not tried again yet: this is no fence.
    const BlockedWorld *blocked = find_blocked(store, world_id);
    if (lease == STATUS_OK && blocked != NULL && blocked->epoch == epoch && first > head.seq + 1 &&
        blocked->last > head.seq) {
        fence_blocked(store, world_id, epoch, last);
        return STATUS_BLOCKED;
    }
    return STATUS_DENIED;
}

Status fence_requests(Store *store, Sql *sql, const char *world_id, uint64_t epoch, bool writes)
{
    SqlRow row = sql_open(sql, writes ? SQL_HEAD_TOUCH : SQL_HEAD_LOOK, TABLE_NONE);
    sql_put_string(&row, world_id);
    sql_put_u64(&row, epoch);
    sql_put_u64(&row, store->now);
    bool hit = false;
    if (writes) {
        hit = sql_run(&row);
    } else {
        hit = sql_next(&row);
        sql_close(&row);
    }
    Head head = {0, 0};
    if (hit || sql->error != SQL_NO_ERROR) {
        return STATUS_OK;
    }
    if (find_head(sql, world_id, &head) != STATUS_OK || head.epoch != epoch) {
        return STATUS_DENIED;
    }
    const Status lease = lease_status(store, sql, world_id);
    return lease == STATUS_OK ? STATUS_DENIED : lease;
}
