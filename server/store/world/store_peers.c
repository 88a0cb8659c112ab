// The hosts that share this database (store.h: StoreHost.is_peer): who they are, and the end of one
// that is known to be dead.
#include "server/store/store_inside.h"

#include "core/base/check.h"

#include <stdlib.h>
#include <string.h>

// id, boot, address, key, expiry, draining, load
#define PEER_BYTES_MAX \
    (1 + STORE_ID_BYTES + STORE_BOOT_BYTES + 1 + STORE_ADDRESS_BYTES + 32 + 8 + 1 + 16)

static bool take_host(SqlRow *row, StoreHost *out)
{
    StoreHost host = {.draining = false};
    size_t bytes = 0, key_bytes = 0;
    sql_take_table(row, TABLE_HOSTS);
    world_take_string(row, host.host_id, sizeof host.host_id);
    const uint8_t *boot = sql_take_bytes(row, sizeof host.boot, &bytes);
    memcpy(host.boot, boot, bytes);
    world_take_string(row, host.address, sizeof host.address);
    const uint8_t *key = sql_take_bytes(row, sizeof host.public_key, &key_bytes);
    memcpy(host.public_key, key, key_bytes);
    host.expires_unix_ms = sql_take_u64(row);
    host.draining = sql_take_u64(row) != 0;
    host.is_peer = sql_take_u64(row) != 0;
    host.memory = (uint32_t)sql_take_u64(row);
    host.tick = (uint32_t)sql_take_u64(row);
    host.worlds = (uint32_t)sql_take_u64(row);
    host.players = (uint32_t)sql_take_u64(row);
    if (!sql_take_checksum(row) || bytes != sizeof host.boot ||
        key_bytes != sizeof host.public_key) {
        return false;
    }
    *out = host;
    return true;
}

static void write_host(ByteWriter *writer, const StoreHost *host)
{
    const size_t id_bytes = strlen(host->host_id), address_bytes = strlen(host->address);
    byte_write_u8(writer, (uint8_t)id_bytes);
    byte_write_bytes(writer, host->host_id, id_bytes);
    byte_write_bytes(writer, host->boot, sizeof host->boot);
    byte_write_u8(writer, (uint8_t)address_bytes);
    byte_write_bytes(writer, host->address, address_bytes);
    byte_write_bytes(writer, host->public_key, sizeof host->public_key);
    byte_write_u64(writer, host->expires_unix_ms);
    byte_write_u8(writer, host->draining);
    byte_write_u32(writer, host->memory);
    byte_write_u32(writer, host->tick);
    byte_write_u32(writer, host->worlds);
    byte_write_u32(writer, host->players);
}

Status peers_answer(Store *store, Sql *sql, Job *job)
{
    uint8_t *bytes = malloc((size_t)STORE_PEERS_MAX * PEER_BYTES_MAX);
    if (bytes == NULL) {
        return STATUS_LIMIT;
    }
    ByteWriter writer = byte_writer(bytes, (size_t)STORE_PEERS_MAX * PEER_BYTES_MAX);
    uint32_t count = 0;
    SqlRow row = sql_open(sql, SQL_HOST_PEERS, TABLE_NONE);
    sql_put_u64(&row, job->now);
    while (sql_next(&row)) {
        StoreHost host;
        if (!take_host(&row, &host)) {
            store->found.damaged += 1;
        } else if (count < STORE_PEERS_MAX) {
            write_host(&writer, &host);
            count += 1;
        }
    }
    ASSERT(writer.status == STATUS_OK);
    uint8_t *fitting = realloc(bytes, writer.at + 1);
    free(job->answer_bytes);
    job->answer_bytes = fitting != NULL ? fitting : bytes;
    job->answer.bytes = job->answer_bytes;
    job->answer.byte_count = writer.at;
    return STATUS_OK;
}

uint32_t store_peers_read(const StoreCompletion *done, StoreHost *out, uint32_t max)
{
    ByteReader reader = byte_reader(done->bytes, done->bytes != NULL ? done->byte_count : 0);
    uint32_t count = 0;
    while (done->status == STATUS_OK && count < max && byte_reader_left(&reader) > 0) {
        StoreHost host = {.is_peer = true};
        const uint8_t id_bytes = byte_read_u8(&reader);
        const uint8_t *id = byte_read_bytes(&reader, id_bytes);
        const uint8_t *boot = byte_read_bytes(&reader, sizeof host.boot);
        const uint8_t address_bytes = byte_read_u8(&reader);
        const uint8_t *address = byte_read_bytes(&reader, address_bytes);
        const uint8_t *key = byte_read_bytes(&reader, sizeof host.public_key);
        host.expires_unix_ms = byte_read_u64(&reader);
        host.draining = byte_read_u8(&reader) != 0;
        host.memory = byte_read_u32(&reader);
        host.tick = byte_read_u32(&reader);
        host.worlds = byte_read_u32(&reader);
        host.players = byte_read_u32(&reader);
        if (reader.status != STATUS_OK || id_bytes >= sizeof host.host_id) {
            break;
        }
        memcpy(host.host_id, id, id_bytes);
        memcpy(host.boot, boot, sizeof host.boot);
        memcpy(host.address, address, address_bytes);
        memcpy(host.public_key, key, sizeof host.public_key);
        out[count++] = host;
    }
    return count;
}

Status host_end(Sql *sql, const Job *job)
{
    SqlRow row = sql_open(sql, SQL_HOST_END, TABLE_NONE);
    sql_put_string(&row, job->host->host_id);
    sql_put_bytes(&row, job->host->boot, sizeof job->host->boot);
    return sql_run(&row) || sql->error != SQL_NO_ERROR ? STATUS_OK : STATUS_DENIED;
}

static Status leave(Store *store, Sql *sql, void *user)
{
    (void)store;
    const StoreHost *host = user;
    SqlRow row = sql_open(sql, SQL_HOST_END, TABLE_NONE);
    sql_put_string(&row, host->host_id);
    sql_put_bytes(&row, host->boot, sizeof host->boot);
    (void)sql_run(&row);
    return STATUS_OK;
}

Status store_host_leave(Store *store, const char *host_id, const uint8_t boot[STORE_BOOT_BYTES])
{
    StoreHost host = {.draining = true};
    if (strlen(host_id) >= sizeof host.host_id) {
        return STATUS_LIMIT;
    }
    memcpy(host.host_id, host_id, strlen(host_id));
    memcpy(host.boot, boot, sizeof host.boot);
    return store_call(store, leave, &host);
}

typedef struct AtCall {
    const char *address, *but_host_id;
    uint64_t now;
    StoreHost *out;
} AtCall;

static Status find_at(Store *store, Sql *sql, void *user)
{
    (void)store;
    const AtCall *call = user;
    Status status = STATUS_NOT_FOUND;
    SqlRow row = sql_open(sql, SQL_HOST_PEERS, TABLE_NONE);
    sql_put_u64(&row, call->now);
    while (sql_next(&row)) {
        StoreHost host;
        if (take_host(&row, &host) && strcmp(host.address, call->address) == 0 &&
            strcmp(host.host_id, call->but_host_id) != 0) {
            *call->out = host;
            status = STATUS_OK;
        }
    }
    return status;
}

Status store_host_at(Store *store, const char *address, const char *but_host_id,
                     uint64_t now_unix_ms, StoreHost *out)
{
    AtCall call = {address, but_host_id, now_unix_ms, out};
    return store_call(store, find_at, &call);
}
