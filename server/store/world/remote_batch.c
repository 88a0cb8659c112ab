// See remote_batch.h. The bytes, all numbers little-endian, a block is a u32 of length and bytes:
//
//   batch   u8 format 1 · u8 again · u64 number · 16 boot · block world · 32 revision
//           varint jobs · each: u8 type, and
//     renew    u8 draining · u32 duration_ms · block address
//     take     nothing
//     release  u64 epoch
//     save     u64 epoch · u64 seq · block rows
//     request  u64 epoch · u8 operation · u8 ordered · u8 ascending · varint version
//              f64 number · block store · block key · block value
//   reply   u8 format 1 · u64 number · u64 unix_ms · u8 disk · varint answers · each: u8 type · u8
//   status
//           u8 ok · u8 damaged · varint epoch · block bytes · block rows
#include "server/store/world/remote_batch.h"

#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/limits.h"
#include "core/script/runtime/value.h"

#include <string.h>

#define STORE_NAME_MAX 64
#define KEY_NAME_MAX   128

// --- pieces -------------------------------------------------------------------------------------

static void write_block(ByteWriter *writer, const void *bytes, size_t count)
{
    ASSERT(count <= UINT32_MAX);
    byte_write_u32(writer, (uint32_t)count);
    byte_write_bytes(writer, bytes, count);
}

static const uint8_t *read_block(ByteReader *reader, size_t max, size_t *count)
{
    const uint8_t *bytes = byte_read_block(reader, count);
    if (*count > max) {
        byte_reader_fail(reader, STATUS_LIMIT);
        *count = 0;
    }
    return bytes;
}

static Text read_text_block(ByteReader *reader, size_t max)
{
    size_t count = 0;
    const uint8_t *bytes = read_block(reader, max, &count);
    if (bytes != NULL && memchr(bytes, '\0', count) != NULL) {
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
    return (Text){(const char *)bytes, (uint32_t)count};
}

static uint8_t read_below(ByteReader *reader, uint8_t first, uint8_t end)
{
    const uint8_t value = byte_read_u8(reader);
    if (value < first || value >= end) {
        byte_reader_fail(reader, STATUS_RANGE);
        return first;
    }
    return value;
}

// --- batches ------------------------------------------------------------------------------------

void remote_batch_write(const RemoteBatch *batch, ByteWriter *writer)
{
    byte_write_u8(writer, REMOTE_BATCH_FORMAT);
    byte_write_bool(writer, batch->is_again);
    byte_write_u64(writer, batch->number);
    byte_write_bytes(writer, batch->boot, sizeof batch->boot);
    write_block(writer, batch->world_id, strlen(batch->world_id));
    byte_write_bytes(writer, batch->revision, sizeof batch->revision);
    byte_write_varint(writer, batch->job_count);
}

static void write_request(const StoreRequest *request, ByteWriter *writer)
{
    uint64_t number;
    memcpy(&number, &request->number, sizeof number);
    byte_write_u8(writer, (uint8_t)request->operation);
    byte_write_bool(writer, request->ordered);
    byte_write_bool(writer, request->ascending);
    byte_write_varint(writer, request->version);
    byte_write_u64(writer, number);
    write_block(writer, request->store.data, request->store.bytes);
    write_block(writer, request->key.data, request->key.bytes);
    write_block(writer, request->value, request->value_bytes);
}

void remote_job_write(const RemoteJob *job, ByteWriter *writer)
{
    byte_write_u8(writer, (uint8_t)job->type);
    switch (job->type) {
    case REMOTE_RENEW:
        byte_write_bool(writer, job->draining);
        byte_write_u32(writer, job->duration_ms);
        write_block(writer, job->address.data, job->address.bytes);
        break;
    case REMOTE_SAVE:
        byte_write_u64(writer, job->epoch);
        byte_write_u64(writer, job->seq);
        write_block(writer, job->rows, job->row_bytes);
        break;
    case REMOTE_REQUEST:
        byte_write_u64(writer, job->epoch);
        write_request(&job->request, writer);
        break;
    case REMOTE_RELEASE:
        byte_write_u64(writer, job->epoch);
        break;
    default: // REMOTE_TAKE
        break;
    }
}

static void read_request(ByteReader *reader, StoreRequest *out)
{
    out->operation = (StoreOperation)read_below(reader, 0, STORE_OPERATION_END);
    out->ordered = byte_read_bool(reader);
    out->ascending = byte_read_bool(reader);
    out->version = byte_read_varint(reader);
    out->number = byte_read_finite(reader);
    size_t count = 0;
    const uint8_t *store = read_block(reader, STORE_NAME_MAX, &count);
    out->store = (Text){(const char *)store, (uint32_t)count};
    const uint8_t *key = read_block(reader, KEY_NAME_MAX, &count);
    out->key = (Text){(const char *)key, (uint32_t)count};
    out->value = read_block(reader, VALUE_BYTES_MAX, &out->value_bytes);
}

static void read_job(ByteReader *reader, RemoteJob *out)
{
    *out =
        (RemoteJob){.type = (RemoteJobType)read_below(reader, REMOTE_RENEW, REMOTE_JOB_TYPE_END)};
    switch (out->type) {
    case REMOTE_RENEW:
        out->draining = byte_read_bool(reader);
        out->duration_ms = byte_read_u32(reader);
        out->address = read_text_block(reader, STORE_ADDRESS_BYTES);
        if (out->duration_ms > REMOTE_LEASE_MS_MAX) {
            byte_reader_fail(reader, STATUS_RANGE);
        }
        break;
    case REMOTE_SAVE:
        out->epoch = byte_read_u64(reader);
        out->seq = byte_read_u64(reader);
        out->rows = read_block(reader, REMOTE_BATCH_BYTES_MAX, &out->row_bytes);
        break;
    case REMOTE_REQUEST:
        out->epoch = byte_read_u64(reader);
        read_request(reader, &out->request);
        break;
    case REMOTE_RELEASE:
        out->epoch = byte_read_u64(reader);
        break;
    default:
        break;
    }
}

static void check_format(ByteReader *reader)
{
    if (byte_read_u8(reader) != REMOTE_BATCH_FORMAT) {
        byte_reader_fail(reader, STATUS_UNSUPPORTED);
    }
}

Status remote_batch_read(const uint8_t *bytes, size_t count, RemoteBatch *out, RemoteJob *jobs)
{
    if (count > REMOTE_BATCH_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    ByteReader reader = byte_reader(bytes, count);
    RemoteBatch batch = {0};
    check_format(&reader);
    batch.is_again = byte_read_bool(&reader);
    batch.number = byte_read_u64(&reader);
    byte_read_exact(&reader, batch.boot, sizeof batch.boot);
    const Text world = read_text_block(&reader, sizeof batch.world_id - 1);
    if (reader.status == STATUS_OK && world.bytes > 0) {
        memcpy(batch.world_id, world.data, world.bytes);
    }
    byte_read_exact(&reader, batch.revision, sizeof batch.revision);
    batch.job_count = byte_read_count(&reader, REMOTE_JOBS_MAX);
    for (uint32_t i = 0; i < batch.job_count && reader.status == STATUS_OK; i++) {
        read_job(&reader, &jobs[i]);
    }
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = batch;
    }
    return status;
}

// --- replies ------------------------------------------------------------------------------------

void remote_reply_write(const RemoteReply *reply, ByteWriter *writer)
{
    byte_write_u8(writer, REMOTE_BATCH_FORMAT);
    byte_write_u64(writer, reply->number);
    byte_write_u64(writer, reply->unix_ms);
    byte_write_u8(writer, (uint8_t)reply->disk);
    byte_write_varint(writer, reply->answer_count);
}

void remote_answer_write(const RemoteAnswer *answer, ByteWriter *writer)
{
    byte_write_u8(writer, (uint8_t)answer->type);
    byte_write_u8(writer, (uint8_t)answer->status);
    byte_write_bool(writer, answer->ok);
    byte_write_bool(writer, answer->damaged);
    byte_write_varint(writer, answer->epoch);
    write_block(writer, answer->bytes, answer->byte_count);
    write_block(writer, answer->rows, answer->row_bytes);
}

static void read_answer(ByteReader *reader, RemoteAnswer *out)
{
    *out = (RemoteAnswer){.type =
                              (RemoteJobType)read_below(reader, REMOTE_RENEW, REMOTE_JOB_TYPE_END)};
    out->status = (Status)read_below(reader, STATUS_OK, STATUS_COUNT);
    out->ok = byte_read_bool(reader);
    out->damaged = byte_read_bool(reader);
    out->epoch = byte_read_varint(reader);
    out->bytes = read_block(reader, REMOTE_REPLY_BYTES_MAX, &out->byte_count);
    out->rows = read_block(reader, REMOTE_REPLY_BYTES_MAX, &out->row_bytes);
}

Status remote_reply_read(const uint8_t *bytes, size_t count, RemoteReply *out,
                         RemoteAnswer *answers)
{
    if (count > REMOTE_REPLY_BYTES_MAX) {
        return STATUS_LIMIT;
    }
    ByteReader reader = byte_reader(bytes, count);
    RemoteReply reply = {0};
    check_format(&reader);
    reply.number = byte_read_u64(&reader);
    reply.unix_ms = byte_read_u64(&reader);
    reply.disk = (StoreDisk)read_below(&reader, STORE_DISK_FINE, STORE_DISK_AWAY + 1);
    reply.answer_count = byte_read_count(&reader, REMOTE_JOBS_MAX);
    for (uint32_t i = 0; i < reply.answer_count && reader.status == STATUS_OK; i++) {
        read_answer(&reader, &answers[i]);
    }
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = reply;
    }
    return status;
}
