// A world process that sends arbitrary bytes to its host: packets (u16 length, bytes; the highest
// bit of the length attaches a descriptor) go through a real channel, and every message that
// arrives is read as a report. A report that was read must give the same one when it is written and
// read again.
#define _GNU_SOURCE
#include "core/base/check.h"
#include "server/channel/channel.h"
#include "server/net/socket_pass.h"

#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static uint8_t first[CHANNEL_MESSAGE_BYTES + 1024], second[CHANNEL_MESSAGE_BYTES + 1024];
static ChannelReport report, again;

// The table that a host keeps of it: written and read again it is the same, and JSON can be made of
// it.
static void look_at_scripts(void)
{
    static ScriptTable table, table_again;
    static uint8_t bytes[SCRIPT_TABLE_BYTES], bytes_again[SCRIPT_TABLE_BYTES], json[256 << 10];
    if (script_table_read(report.bytes, report.byte_count, &table) != STATUS_OK) {
        return;
    }
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    script_table_write(&table, &writer);
    ASSERT(writer.status == STATUS_OK);
    const Status status = script_table_read(bytes, writer.at, &table_again);
    ASSERT(status == STATUS_OK);
    ByteWriter writer_again = byte_writer(bytes_again, sizeof bytes_again);
    script_table_write(&table_again, &writer_again);
    ASSERT(writer_again.at == writer.at && memcmp(bytes, bytes_again, writer.at) == 0);
    ByteWriter text = byte_writer(json, sizeof json);
    JsonWriter json_writer_out = json_writer(&text, 0);
    json_write_object_begin(&json_writer_out);
    script_table_json(&table, &json_writer_out);
    json_write_object_end(&json_writer_out);
    const Status printed = json_writer_finish(&json_writer_out);
    ASSERT(printed == STATUS_OK);
}

// Likewise.
static void look_at_clients(void)
{
    static ClientTable table, table_again;
    static uint8_t bytes[CLIENT_TABLE_BYTES];
    if (client_table_read(report.bytes, report.byte_count, &table) != STATUS_OK) {
        return;
    }
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    client_table_write(&table, &writer);
    ASSERT(writer.status == STATUS_OK);
    const Status status = client_table_read(bytes, writer.at, &table_again);
    ASSERT(status == STATUS_OK && table_again.count == table.count);
    for (uint32_t i = 0; i < table.count; i++) {
        ASSERT(table.rows[i].wanted <= MANIFEST_SCRIPTS_MAX);
        ASSERT(client_table_find(&table_again, table.rows[i].account) != NULL);
    }
}

static void look_at(const ChannelMessage *message)
{
    const Status status =
        channel_read_report(message->type, message->bytes, message->count, &report);
    ASSERT(status >= STATUS_OK && status < STATUS_COUNT);
    if (status != STATUS_OK) {
        return;
    }
    if (report.type == CHANNEL_SCRIPTS) {
        look_at_scripts();
    } else if (report.type == CHANNEL_CLIENTS) {
        look_at_clients();
    }
    ASSERT(strlen(report.text) < sizeof report.text && strlen(report.area) < sizeof report.area);
    ByteWriter writer = byte_writer(first, sizeof first);
    channel_write_report(&report, &writer);
    ASSERT(writer.status == STATUS_OK);
    const Status status_again = channel_read_report(report.type, first, writer.at, &again);
    ASSERT(status_again == STATUS_OK);
    ByteWriter writer_again = byte_writer(second, sizeof second);
    channel_write_report(&again, &writer_again);
    ASSERT(writer_again.at == writer.at && memcmp(first, second, writer.at) == 0);
}

// False when the channel is beyond repair.
static bool hear(Channel *host)
{
    for (;;) {
        ChannelMessage message;
        const Status status = channel_take(host, &message);
        if (status != STATUS_OK) {
            return status == STATUS_NOT_FOUND;
        }
        look_at(&message);
        if (message.descriptor >= 0) {
            close(message.descriptor);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    int ends[2];
    Channel host;
    if (socket_pass_pair(ends) != STATUS_OK) {
        return 0;
    }
    const Status opened = channel_open(&host, ends[0], 1 << 16);
    ASSERT(opened == STATUS_OK);
    ByteReader reader = byte_reader(bytes, count);
    bool goes_on = true;
    while (goes_on && byte_reader_left(&reader) >= 3) {
        const uint16_t word = byte_read_u16(&reader);
        const size_t left = byte_reader_left(&reader);
        const size_t wanted = word & 0x7fff;
        const size_t size = wanted < left ? wanted : left;
        const uint8_t *packet = byte_read_bytes(&reader, size);
        if (size > 0) {
            const int with = (word & 0x8000) != 0 ? ends[1] : -1;
            goes_on = socket_pass_send(ends[1], packet, size, with) == STATUS_OK && hear(&host);
        }
    }
    close(ends[1]);
    channel_close(&host);
    return 0;
}
