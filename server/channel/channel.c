// See channel.h. The queue is one block: packets are appended at its end and sent from its
// beginning, and it moves down when it reaches the end; it is nearly always empty.
#define _GNU_SOURCE
#include "server/channel/channel.h"

#include "core/base/byte_values.h"
#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/channel/printable.h"
#include "server/net/socket_pass.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKET_HEADER 2
#define RECORD_HEADER (sizeof(uint32_t) + sizeof(int32_t))
#define FLAG_MORE     1
#define VALUE_MAX     (ENTRY_BYTES_MAX)

_Static_assert(CHANNEL_MESSAGE_BYTES >= ENTRY_BYTES_MAX + PACKET_HEADER, "an entry fits a message");
_Static_assert(CHANNEL_MESSAGE_BYTES >= CLIENT_TABLE_BYTES, "a table of clients fits a message");
_Static_assert(CHANNEL_CONNECT_BYTES == 1 + 2 * sizeof(uint64_t), "json, address, number");

const uint64_t host_time_bounds_us[HOST_TIME_BUCKETS - 1] = {
    25,   50,   100,  175,  250,  350,   500,   700,   1000,
    1400, 2000, 2800, 4000, 8000, 16000, 33000, 66000, 133000};

uint32_t world_socket_max(uint32_t player_max)
{
    const uint32_t wanted = 2 * player_max + WORLD_SOCKETS_SPARE;
    return wanted < WORLD_SOCKETS_MAX ? wanted : WORLD_SOCKETS_MAX;
}

// --- open and close -----------------------------------------------------------------------------

Status channel_open(Channel *channel, int end, size_t queue_bytes)
{
    *channel = (Channel){.end = end, .out_capacity = queue_bytes};
    channel->out = malloc(queue_bytes);
    channel->in = malloc(CHANNEL_MESSAGE_BYTES);
    channel->packet = malloc(PACKET_HEADER + CHANNEL_PACKET_BYTES);
    if (channel->out == NULL || channel->in == NULL || channel->packet == NULL) {
        channel->end = -1; // stays the caller's
        channel_close(channel);
        return STATUS_LIMIT;
    }
    return STATUS_OK;
}

static int32_t record_descriptor(const Channel *channel, uint32_t *bytes)
{
    int32_t descriptor;
    memcpy(bytes, channel->out + channel->out_begin, sizeof *bytes);
    memcpy(&descriptor, channel->out + channel->out_begin + sizeof *bytes, sizeof descriptor);
    return descriptor;
}

static void record_drop(Channel *channel)
{
    uint32_t bytes;
    const int32_t descriptor = record_descriptor(channel, &bytes);
    if (descriptor >= 0) {
        close(descriptor);
    }
    channel->out_begin += RECORD_HEADER + bytes;
    ASSERT(channel->out_begin <= channel->out_end);
}

void channel_close(Channel *channel)
{
    while (channel->out != NULL && channel->out_begin < channel->out_end) {
        record_drop(channel);
    }
    if (channel->end >= 0 && channel->packet != NULL) {
        close(channel->end);
    }
    free(channel->out);
    free(channel->in);
    free(channel->packet);
    *channel = (Channel){.end = -1};
}

// --- sending ------------------------------------------------------------------------------------

static size_t record_bytes(size_t count)
{
    const size_t packets = count / CHANNEL_PACKET_BYTES + 1;
    return count + packets * (RECORD_HEADER + PACKET_HEADER);
}

size_t channel_free(const Channel *channel)
{
    return channel->out_capacity - (channel->out_end - channel->out_begin);
}

size_t channel_room(const Channel *channel)
{
    const size_t left = channel_free(channel);
    const size_t framing = record_bytes(left) - left;
    const size_t room = left > framing ? left - framing : 0;
    return room < CHANNEL_MESSAGE_BYTES ? room : CHANNEL_MESSAGE_BYTES;
}

static void queue_packet(Channel *channel, ChannelType type, bool more, const uint8_t *bytes,
                         size_t count, int descriptor)
{
    ASSERT(count <= CHANNEL_PACKET_BYTES && (!more || descriptor < 0));
    uint8_t *at = channel->out + channel->out_end;
    const uint32_t packet = (uint32_t)(PACKET_HEADER + count);
    const int32_t with = descriptor;
    memcpy(at, &packet, sizeof packet);
    memcpy(at + sizeof packet, &with, sizeof with);
    at += RECORD_HEADER;
    at[0] = (uint8_t)type;
    at[1] = more ? FLAG_MORE : 0;
    if (count > 0) {
        memcpy(at + PACKET_HEADER, bytes, count);
    }
    channel->out_end += RECORD_HEADER + packet;
}

Status channel_put(Channel *channel, ChannelType type, const void *bytes, size_t count,
                   int descriptor)
{
    ASSERT(type > CHANNEL_NONE && type < CHANNEL_TYPE_COUNT);
    ASSERT(channel->out_begin <= channel->out_end && (bytes != NULL || count == 0));
    if (count > channel_room(channel)) {
        return STATUS_LIMIT;
    }
    if (record_bytes(count) > channel->out_capacity - channel->out_end) {
        memmove(channel->out, channel->out + channel->out_begin,
                channel->out_end - channel->out_begin);
        channel->out_end -= channel->out_begin;
        channel->out_begin = 0;
    }
    const uint8_t *at = bytes;
    while (count > CHANNEL_PACKET_BYTES) {
        queue_packet(channel, type, true, at, CHANNEL_PACKET_BYTES, -1);
        at += CHANNEL_PACKET_BYTES;
        count -= CHANNEL_PACKET_BYTES;
    }
    queue_packet(channel, type, false, at, count, descriptor);
    ASSERT(channel->out_end <= channel->out_capacity);
    return STATUS_OK;
}

Status channel_flush(Channel *channel)
{
    while (channel->out_begin < channel->out_end) {
        uint32_t bytes;
        const int32_t descriptor = record_descriptor(channel, &bytes);
        const Status status = socket_pass_send(
            channel->end, channel->out + channel->out_begin + RECORD_HEADER, bytes, descriptor);
        if (status != STATUS_OK) {
            return status;
        }
        record_drop(channel);
    }
    channel->out_begin = 0;
    channel->out_end = 0;
    return STATUS_OK;
}

// --- receiving ----------------------------------------------------------------------------------

static Status put_together(Channel *channel, size_t bytes, bool *whole)
{
    const uint8_t *packet = channel->packet;
    const bool known = bytes >= PACKET_HEADER && packet[0] > CHANNEL_NONE &&
                       packet[0] < CHANNEL_TYPE_COUNT && packet[1] <= FLAG_MORE;
    if (!known || (channel->in_more && packet[0] != channel->in_type)) {
        return STATUS_MALFORMED;
    }
    if (!channel->in_more) {
        channel->in_bytes = 0;
        channel->in_type = packet[0];
    }
    const size_t count = bytes - PACKET_HEADER;
    if (count > CHANNEL_MESSAGE_BYTES - channel->in_bytes) {
        return STATUS_LIMIT;
    }
    memcpy(channel->in + channel->in_bytes, packet + PACKET_HEADER, count);
    channel->in_bytes += count;
    channel->in_more = packet[1] == FLAG_MORE;
    channel->bytes_in += bytes;
    *whole = !channel->in_more;
    return STATUS_OK;
}

Status channel_take(Channel *channel, ChannelMessage *out)
{
    for (;;) {
        size_t bytes = 0;
        int descriptor = -1;
        Status status =
            socket_pass_receive(channel->end, channel->packet, PACKET_HEADER + CHANNEL_PACKET_BYTES,
                                &bytes, &descriptor);
        if (status != STATUS_OK) {
            return status;
        }
        bool whole = false;
        status = put_together(channel, bytes, &whole);
        if (status == STATUS_OK && !whole && descriptor >= 0) {
            status = STATUS_MALFORMED;
        }
        if (status != STATUS_OK) {
            if (descriptor >= 0) {
                close(descriptor);
            }
            return status;
        }
        if (whole) {
            channel->messages_in += 1;
            *out = (ChannelMessage){.type = (ChannelType)channel->in_type,
                                    .bytes = channel->in,
                                    .count = channel->in_bytes,
                                    .descriptor = descriptor};
            return STATUS_OK;
        }
    }
}

// --- texts --------------------------------------------------------------------------------------

// --- to the world -------------------------------------------------------------------------------

void channel_write_start(const ChannelStart *start, ByteWriter *writer)
{
    byte_write_varint(writer, start->whole_bytes);
    byte_write_varint(writer, start->stripped_bytes);
    byte_write_varint(writer, start->memory_bytes_max);
    byte_write_bool(writer, start->allow_weak_jail);
    byte_write_bool(writer, start->journal);
    byte_write_varint(writer, start->header_bytes);
    byte_write_bytes(writer, start->header, start->header_bytes);
}

Status channel_read_start(const uint8_t *bytes, size_t count, ChannelStart *out)
{
    ByteReader reader = byte_reader(bytes, count);
    ChannelStart start = {0};
    start.whole_bytes = byte_read_varint(&reader);
    start.stripped_bytes = byte_read_varint(&reader);
    start.memory_bytes_max = byte_read_varint(&reader);
    start.allow_weak_jail = byte_read_bool(&reader);
    start.journal = byte_read_bool(&reader);
    start.header_bytes = byte_read_count(&reader, CHANNEL_PACKET_BYTES);
    start.header = byte_read_bytes(&reader, start.header_bytes);
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = start;
    }
    return status;
}

// --- to the host --------------------------------------------------------------------------------

static void write_store(const ChannelReport *report, ByteWriter *writer)
{
    const StoreRequest *store = &report->store;
    byte_write_varint(writer, report->request);
    byte_write_varint(writer, report->epoch);
    byte_write_varint(writer, store->request_id);
    byte_write_u8(writer, (uint8_t)store->operation);
    byte_write_bool(writer, store->ordered);
    byte_write_bool(writer, store->ascending);
    byte_write_varint(writer, store->version);
    uint64_t number;
    memcpy(&number, &store->number, sizeof number);
    byte_write_u64(writer, number);
    byte_write_varint(writer, store->store.bytes);
    byte_write_bytes(writer, store->store.data, store->store.bytes);
    byte_write_varint(writer, store->key.bytes);
    byte_write_bytes(writer, store->key.data, store->key.bytes);
    byte_write_varint(writer, store->value_bytes);
    byte_write_bytes(writer, store->value, store->value_bytes);
}

static uint64_t read_request(ByteReader *reader)
{
    const uint64_t request = byte_read_varint(reader);
    if (request > CHANNEL_REQUEST_MAX) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    return request;
}

static void read_store(ByteReader *reader, ChannelReport *report)
{
    StoreRequest *store = &report->store;
    report->request = read_request(reader);
    report->epoch = byte_read_varint(reader);
    store->request_id = byte_read_varint(reader);
    const uint8_t operation = byte_read_u8(reader);
    if (operation >= STORE_OPERATION_END) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    store->operation = (StoreOperation)operation;
    store->ordered = byte_read_bool(reader);
    store->ascending = byte_read_bool(reader);
    store->version = byte_read_varint(reader);
    store->number = byte_read_finite(reader);
    store->store.bytes = byte_read_count(reader, 64);
    store->store.data = (const char *)byte_read_bytes(reader, store->store.bytes);
    store->key.bytes = byte_read_count(reader, 128);
    store->key.data = (const char *)byte_read_bytes(reader, store->key.bytes);
    store->value_bytes = byte_read_count(reader, VALUE_MAX);
    store->value = byte_read_bytes(reader, store->value_bytes);
}

static void write_stats(const HostStats *stats, ByteWriter *writer)
{
#define STATS_WRITE(field, kind, name, help) byte_write_varint(writer, stats->field);
    HOST_STATS(STATS_WRITE)
#undef STATS_WRITE
    for (uint32_t i = 0; i < HOST_TIME_BUCKETS; i++) {
#define TIME_WRITE(field, name, help) byte_write_varint(writer, stats->field[i]);
        HOST_TIMES(TIME_WRITE)
#undef TIME_WRITE
    }
}

static void read_stats(ByteReader *reader, HostStats *stats)
{
#define STATS_READ(field, kind, name, help) stats->field = byte_read_varint(reader);
    HOST_STATS(STATS_READ)
#undef STATS_READ
    for (uint32_t i = 0; i < HOST_TIME_BUCKETS; i++) {
#define TIME_READ(field, name, help) stats->field[i] = byte_read_varint(reader);
        HOST_TIMES(TIME_READ)
#undef TIME_READ
    }
}

void channel_write_report(const ChannelReport *report, ByteWriter *writer)
{
    switch (report->type) {
    case CHANNEL_READY:
        byte_write_varint(writer, report->layers);
        break;
    case CHANNEL_AUTH:
        byte_write_varint(writer, report->connection);
        byte_write_bytes(writer, report->bytes, report->byte_count);
        break;
    case CHANNEL_SAVE:
        byte_write_varint(writer, report->request);
        byte_write_varint(writer, report->epoch);
        byte_write_varint(writer, report->seq);
        byte_write_bytes(writer, report->bytes, report->byte_count);
        break;
    case CHANNEL_STORE:
        write_store(report, writer);
        break;
    case CHANNEL_FAILED:
    case CHANNEL_STOP:
        printable_write(writer, report->text, sizeof report->text - 1);
        break;
    case CHANNEL_LOG:
        byte_write_u8(writer, (uint8_t)report->level);
        byte_write_varint(writer, report->tick);
        printable_write(writer, report->area, sizeof report->area - 1);
        printable_write(writer, report->text, sizeof report->text - 1);
        break;
    case CHANNEL_STATS:
        write_stats(&report->stats, writer);
        break;
    case CHANNEL_LEFT:
    case CHANNEL_CAME:
        byte_write_varint(writer, report->account);
        break;
    case CHANNEL_BEAT:
        byte_write_varint(writer, report->tick);
        break;
    case CHANNEL_SCRIPTS:
    case CHANNEL_CLIENTS:
        byte_write_bytes(writer, report->bytes, report->byte_count);
        break;
    case CHANNEL_JOURNAL:
        byte_write_bool(writer, report->gap);
        byte_write_bytes(writer, report->bytes, report->byte_count);
        break;
    case CHANNEL_CLOSED:
        byte_write_u64(writer, report->socket);
        break;
    case CHANNEL_HEARD:
        byte_write_varint(writer, report->account);
        byte_write_u8(writer, (uint8_t)report->heard);
        byte_write_bytes(writer, report->bytes, report->byte_count);
        break;
    case CHANNEL_REPORT:
        byte_write_varint(writer, report->account);
        byte_write_varint(writer, report->other);
        byte_write_bytes(writer, report->bytes, report->byte_count);
        break;
    case CHANNEL_RELOADED:
        byte_write_u8(writer, (uint8_t)report->reload);
        byte_write_varint(writer, report->version);
        byte_write_varint(writer, report->tick);
        printable_write(writer, report->text, sizeof report->text - 1);
        break;
    default:
        ASSERT(false); // nothing else goes to the host
    }
}

static void read_rest(ByteReader *reader, ChannelReport *report, size_t bytes_max)
{
    report->byte_count = byte_reader_left(reader);
    if (report->byte_count > bytes_max) {
        byte_reader_fail(reader, STATUS_LIMIT);
    }
    report->bytes = byte_read_bytes(reader, report->byte_count);
}

static void read_log(ByteReader *reader, ChannelReport *report)
{
    const uint8_t level = byte_read_u8(reader);
    if (level >= LOG_LEVEL_COUNT) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    report->level = level < LOG_LEVEL_COUNT ? (LogLevel)level : LOG_ERROR;
    report->tick = byte_read_varint(reader);
    printable_read(reader, report->area, sizeof report->area);
    printable_read(reader, report->text, sizeof report->text);
}

static void read_heard(ByteReader *reader, ChannelReport *report)
{
    report->account = byte_read_varint(reader);
    const uint8_t heard = byte_read_u8(reader);
    if (heard < HEARD_SAID || heard > HEARD_LEFT) {
        byte_reader_fail(reader, STATUS_RANGE);
    }
    report->heard = (HeardKind)heard;
    read_rest(reader, report, CHAT_BYTES_MAX);
}

static void read_reloaded(ByteReader *reader, ChannelReport *report)
{
    const uint8_t result = byte_read_u8(reader);
    if (result >= RELOAD_RESULT_COUNT) {
        byte_reader_fail(reader, STATUS_RANGE);
        return;
    }
    report->reload = (ReloadResult)result;
    report->version = byte_read_count(reader, UINT32_MAX);
    report->tick = byte_read_varint(reader);
    printable_read(reader, report->text, sizeof report->text);
}

static void read_body(ByteReader *reader, ChannelReport *report)
{
    switch (report->type) {
    case CHANNEL_READY:
        report->layers = byte_read_count(reader, UINT32_MAX);
        break;
    case CHANNEL_AUTH:
        report->connection = byte_read_varint(reader);
        read_rest(reader, report, CHANNEL_TICKET_BYTES);
        break;
    case CHANNEL_SAVE:
        report->request = read_request(reader);
        report->epoch = byte_read_varint(reader);
        report->seq = byte_read_varint(reader);
        read_rest(reader, report, CHANNEL_MESSAGE_BYTES);
        break;
    case CHANNEL_STORE:
        read_store(reader, report);
        break;
    case CHANNEL_FAILED:
    case CHANNEL_STOP:
        printable_read(reader, report->text, sizeof report->text);
        break;
    case CHANNEL_LOG:
        read_log(reader, report);
        break;
    case CHANNEL_STATS:
        read_stats(reader, &report->stats);
        break;
    case CHANNEL_LEFT:
    case CHANNEL_CAME:
        report->account = byte_read_varint(reader);
        break;
    case CHANNEL_BEAT:
        report->tick = byte_read_varint(reader);
        break;
    case CHANNEL_SCRIPTS:
        read_rest(reader, report, SCRIPT_TABLE_BYTES);
        break;
    case CHANNEL_CLIENTS:
        read_rest(reader, report, CLIENT_TABLE_BYTES);
        break;
    case CHANNEL_JOURNAL:
        report->gap = byte_read_bool(reader);
        read_rest(reader, report, CHANNEL_MESSAGE_BYTES);
        break;
    case CHANNEL_CLOSED:
        report->socket = byte_read_u64(reader);
        break;
    case CHANNEL_HEARD:
        read_heard(reader, report);
        break;
    case CHANNEL_REPORT:
        report->account = byte_read_varint(reader);
        report->other = byte_read_varint(reader);
        read_rest(reader, report, REPORT_REASON_BYTES + REPORT_TEXT_BYTES_MAX);
        break;
    case CHANNEL_RELOADED:
        read_reloaded(reader, report);
        break;
    default: // something that only a host says
        byte_reader_fail(reader, STATUS_MALFORMED);
    }
}

Status channel_read_report(ChannelType type, const uint8_t *bytes, size_t count, ChannelReport *out)
{
    ByteReader reader = byte_reader(bytes, count);
    ChannelReport report = {.type = type};
    read_body(&reader, &report);
    const Status status = byte_reader_finish(&reader);
    if (status == STATUS_OK) {
        *out = report;
    }
    return status;
}
