// Writes seeds for fuzz_channel into the folder that is named: a report of each kind, one in two
// packets, one with a descriptor.
#include "core/base/check.h"
#include "server/channel/channel.h"

#include <stdio.h>
#include <string.h>

static uint8_t bytes[4096];

static void write_packet(FILE *file, ChannelType type, bool more, bool with, const uint8_t *data,
                         size_t count)
{
    const size_t size = count + 2;
    fputc((int)(size & 0xff), file);
    fputc((int)(size >> 8 | (with ? 0x80 : 0)), file);
    fputc((int)type, file);
    fputc(more, file);
    fwrite(data, 1, count, file);
}

static void write_seed(const char *folder, const char *name, const ChannelReport *report, bool cut,
                       bool with)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    ASSERT(file != NULL);
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    channel_write_report(report, &writer);
    ASSERT(writer.status == STATUS_OK);
    const size_t half = cut ? writer.at / 2 : 0;
    if (cut) {
        write_packet(file, report->type, true, false, bytes, half);
    }
    write_packet(file, report->type, false, with, bytes + half, writer.at - half);
    fclose(file);
}

int main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: make_channel_seeds FOLDER\n");
        return 2;
    }
    const char *folder = arguments[1];
    ChannelReport report = {.type = CHANNEL_LOG, .tick = 9, .area = "script", .text = "hello"};
    write_seed(folder, "log", &report, false, false);
    report.type = CHANNEL_STOP;
    write_seed(folder, "stop", &report, false, true);
    report = (ChannelReport){.type = CHANNEL_CLOSED, .socket = 1ull << 32};
    write_seed(folder, "closed", &report, false, false);
    report.type = CHANNEL_STATS;
    write_seed(folder, "stats", &report, false, false);
    report = (ChannelReport){.type = CHANNEL_READY, .layers = 63};
    write_seed(folder, "ready", &report, false, false);
    report = (ChannelReport){.type = CHANNEL_SAVE,
                             .request = 4,
                             .epoch = 1,
                             .seq = 2,
                             .bytes = (const uint8_t *)"row",
                             .byte_count = 3};
    write_seed(folder, "save", &report, true, false);
    report.type = CHANNEL_JOURNAL;
    write_seed(folder, "journal", &report, false, false);
    report.type = CHANNEL_AUTH;
    write_seed(folder, "auth", &report, false, false);
    report.type = CHANNEL_STORE;
    report.store = (StoreRequest){.request_id = 1,
                                  .operation = STORE_SET,
                                  .store = {"coins", 5},
                                  .key = {"bo", 2},
                                  .value = (const uint8_t *)"\1\2",
                                  .value_bytes = 2,
                                  .number = 1};
    write_seed(folder, "store", &report, false, false);
    static ScriptTable table = {.tick = 60, .script_count = 2, .entity_count = 1, .fault_count = 1};
    table.scripts[0] = (ScriptRow){.path = "Workspace/Door", .calls = 60, .steps = 9000};
    table.scripts[1] = (ScriptRow){.path = "ServerScriptService/Game", .state = SCRIPT_OFF};
    table.entities[0] = (ScriptRow){.path = "Workspace/Door", .entity = 7, .calls = 60};
    table.faults[0] =
        (ScriptTableFault){.line = 4, .path = "Workspace/Door", .message = "attempt to index nil"};
    table.all_count = 2;
    table.fault_total = 1;
    table.remote_count = 1;
    table.remotes[0] = (RemoteCost){.name = "fire", .up_count = 3, .up_bytes = 40};
    table.clients = (ClientCosts){.reports = 1, .row_count = 1, .fault_count = 1};
    table.clients.rows[0] = (ClientCost){.path = "StarterGui/Hud", .reports = 1, .calls = 600};
    table.clients.faults[0] = (ClientFault){.path = "StarterGui/Hud", .line = 2, .count = 1};
    static uint8_t rows[SCRIPT_TABLE_BYTES];
    ByteWriter writer = byte_writer(rows, sizeof rows);
    script_table_write(&table, &writer);
    report = (ChannelReport){.type = CHANNEL_SCRIPTS, .bytes = rows, .byte_count = writer.at};
    write_seed(folder, "scripts", &report, false, false);
    static ClientTable clients = {.count = 2};
    clients.rows[0] = (ClientVerdicts){
        .account = 7, .version = 3, .wanted = 12, .verified = 12, .is_settled = true};
    clients.rows[1] = (ClientVerdicts){.account = 1 << 20, .version = 3, .wanted = 12, .failed = 1};
    writer = byte_writer(rows, sizeof rows);
    client_table_write(&clients, &writer);
    report = (ChannelReport){.type = CHANNEL_CLIENTS, .bytes = rows, .byte_count = writer.at};
    write_seed(folder, "clients", &report, false, false);
    return 0;
}
