// The channel between host and world: each side receives what the other sends, long messages in
// pieces, descriptors included; and a side that violates the protocol is detected.
#define _GNU_SOURCE
#include "server/channel/channel.h"

#include "core/base/rng.h"
#include "server/net/socket_pass.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Pair {
    Channel a, b;
} Pair;

static bool pair_open(Pair *pair, size_t queue_bytes)
{
    int ends[2];
    return socket_pass_pair(ends) == STATUS_OK &&
           channel_open(&pair->a, ends[0], queue_bytes) == STATUS_OK &&
           channel_open(&pair->b, ends[1], queue_bytes) == STATUS_OK;
}

static void pair_close(Pair *pair)
{
    channel_close(&pair->a);
    channel_close(&pair->b);
}

TEST(messages_of_every_size_arrive_whole)
{
    Pair pair;
    REQUIRE(pair_open(&pair, 4 << 20));
    static uint8_t bytes[CHANNEL_MESSAGE_BYTES];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 7 + i / 251);
    }
    const size_t sizes[] = {0,
                            1,
                            CHANNEL_PACKET_BYTES - 1,
                            CHANNEL_PACKET_BYTES,
                            CHANNEL_PACKET_BYTES + 1,
                            3 * CHANNEL_PACKET_BYTES,
                            CHANNEL_MESSAGE_BYTES};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CHECK_OK(channel_put(&pair.a, CHANNEL_JOURNAL, bytes, sizes[i], -1));
        ChannelMessage message = {0};
        Status status = STATUS_NOT_FOUND;
        while (status == STATUS_NOT_FOUND && test_is_passing()) {
            const Status flushed = channel_flush(&pair.a);
            CHECK(flushed == STATUS_OK || flushed == STATUS_LIMIT);
            status = channel_take(&pair.b, &message);
        }
        CHECK_OK(status);
        CHECK_INT(message.type, CHANNEL_JOURNAL);
        CHECK_INT(message.count, sizes[i]);
        CHECK_INT(message.descriptor, -1);
        CHECK_BYTES(message.bytes, bytes, sizes[i]);
    }
    ChannelMessage none;
    CHECK_INT(channel_take(&pair.b, &none), STATUS_NOT_FOUND);
    pair_close(&pair);
}

TEST(a_queue_that_is_full_says_so_and_goes_on)
{
    Pair pair;
    REQUIRE(pair_open(&pair, 300000));
    static uint8_t bytes[100000];
    uint32_t sent = 0, heard = 0;
    Rng rng = rng_make(test_seed(), 1);
    for (uint32_t i = 0; i < 400; i++) {
        const size_t size = (size_t)rng_below(&rng, sizeof bytes - 1);
        bytes[0] = (uint8_t)sent;
        if (channel_put(&pair.a, CHANNEL_SAVE, bytes, size + 1, -1) == STATUS_OK) {
            sent += 1;
        } else {
            CHECK(size + 1 > channel_room(&pair.a));
        }
        status_ignore(channel_flush(&pair.a));
        ChannelMessage message;
        if (i % 3 == 0 && channel_take(&pair.b, &message) == STATUS_OK) {
            CHECK_INT(message.bytes[0], (uint8_t)heard);
            heard += 1;
        }
    }
    CHECK(sent < 400);
    ChannelMessage message;
    while (heard < sent && test_is_passing()) {
        status_ignore(channel_flush(&pair.a));
        if (channel_take(&pair.b, &message) == STATUS_OK) {
            CHECK_INT(message.bytes[0], (uint8_t)heard);
            heard += 1;
        }
    }
    CHECK_INT(channel_free(&pair.a), 300000);
    pair_close(&pair);
}

TEST(a_descriptor_comes_with_its_message)
{
    Pair pair;
    REQUIRE(pair_open(&pair, 1 << 20));
    int pipe_ends[2];
    REQUIRE(pipe(pipe_ends) == 0);
    static uint8_t bytes[CHANNEL_PACKET_BYTES * 2];
    CHECK_OK(channel_put(&pair.a, CHANNEL_CONNECT, bytes, sizeof bytes, pipe_ends[1]));
    CHECK_OK(channel_flush(&pair.a));
    ChannelMessage message;
    CHECK_OK(channel_take(&pair.b, &message));
    REQUIRE(message.descriptor >= 0);
    CHECK_INT(write(message.descriptor, "x", 1), 1);
    close(message.descriptor);
    char got = 0;
    CHECK_INT(read(pipe_ends[0], &got, 1), 1);
    CHECK_INT(got, 'x');
    CHECK_INT(read(pipe_ends[0], &got, 1), 0); // nobody has the other end any more
    close(pipe_ends[0]);
    // One that is never sent is closed with the channel.
    REQUIRE(pipe(pipe_ends) == 0);
    CHECK_OK(channel_put(&pair.a, CHANNEL_CONNECT, bytes, 1, pipe_ends[1]));
    pair_close(&pair);
    CHECK_INT(read(pipe_ends[0], &got, 1), 0);
    close(pipe_ends[0]);
}

TEST(the_end_of_the_other_side_is_seen)
{
    Pair pair;
    REQUIRE(pair_open(&pair, 1 << 20));
    CHECK_OK(channel_put(&pair.a, CHANNEL_BEAT, "\5", 1, -1));
    CHECK_OK(channel_flush(&pair.a));
    channel_close(&pair.a);
    ChannelMessage message;
    CHECK_OK(channel_take(&pair.b, &message)); // earlier messages are still received
    CHECK_INT(channel_take(&pair.b, &message), STATUS_TRUNCATED);
    CHECK_OK(channel_put(&pair.b, CHANNEL_GO, NULL, 0, -1));
    CHECK_INT(channel_flush(&pair.b), STATUS_TRUNCATED);
    pair_close(&pair);
}

// Packets that no channel sends.
TEST(bad_packets_are_refused)
{
    static uint8_t large[2 + CHANNEL_PACKET_BYTES];
    const struct {
        uint8_t bytes[4];
        size_t count;
    } cases[] = {{{CHANNEL_BEAT}, 1},
                 {{CHANNEL_NONE, 0}, 2},
                 {{CHANNEL_TYPE_COUNT, 0}, 2},
                 {{CHANNEL_BEAT, 2}, 2},
                 {{255, 255}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Pair pair;
        REQUIRE(pair_open(&pair, 1 << 20));
        CHECK_OK(socket_pass_send(pair.a.end, cases[i].bytes, cases[i].count, -1));
        ChannelMessage message;
        CHECK_INT(channel_take(&pair.b, &message), STATUS_MALFORMED);
        pair_close(&pair);
    }
    // Another message inside one that is not whole, and one that never ends.
    Pair pair;
    ChannelMessage message;
    REQUIRE(pair_open(&pair, 1 << 20));
    CHECK_OK(socket_pass_send(pair.a.end, (uint8_t[]){CHANNEL_SAVE, 1, 7}, 3, -1));
    CHECK_OK(socket_pass_send(pair.a.end, (uint8_t[]){CHANNEL_BEAT, 0, 7}, 3, -1));
    CHECK_INT(channel_take(&pair.b, &message), STATUS_MALFORMED);
    pair_close(&pair);
    REQUIRE(pair_open(&pair, 1 << 20));
    large[0] = CHANNEL_JOURNAL;
    large[1] = 1;
    Status status = STATUS_NOT_FOUND;
    for (uint32_t i = 0; i < 64 && status == STATUS_NOT_FOUND; i++) {
        CHECK_OK(socket_pass_send(pair.a.end, large, sizeof large, -1));
        status = channel_take(&pair.b, &message);
    }
    CHECK_INT(status, STATUS_LIMIT);
    pair_close(&pair);
    // A descriptor in the middle of a message.
    REQUIRE(pair_open(&pair, 1 << 20));
    CHECK_OK(socket_pass_send(pair.a.end, (uint8_t[]){CHANNEL_SAVE, 1, 7}, 3, 0));
    CHECK_INT(channel_take(&pair.b, &message), STATUS_MALFORMED);
    pair_close(&pair);
}

// --- reports ------------------------------------------------------------------------------------

static uint8_t buffer[CHANNEL_MESSAGE_BYTES];

static Status again(const ChannelReport *report, ChannelReport *out)
{
    ByteWriter writer = byte_writer(buffer, sizeof buffer);
    channel_write_report(report, &writer);
    CHECK_OK(writer.status);
    return channel_read_report(report->type, buffer, writer.at, out);
}

TEST(reports_come_back_as_they_were)
{
    static ChannelReport out;
    ChannelReport report = {.type = CHANNEL_STORE, .request = 77, .epoch = 5};
    report.store = (StoreRequest){.request_id = 38,
                                  .operation = STORE_COMPARE_AND_SET,
                                  .ordered = true,
                                  .store = {"coins", 5},
                                  .key = {"player_1", 8},
                                  .value = (const uint8_t *)"\1\2\3",
                                  .value_bytes = 3,
                                  .number = -2.5,
                                  .ascending = true,
                                  .version = 9};
    CHECK_OK(again(&report, &out));
    CHECK_INT(out.request, 77);
    CHECK_INT(out.epoch, 5);
    CHECK_INT(out.store.operation, STORE_COMPARE_AND_SET);
    CHECK(out.store.ordered && out.store.ascending);
    CHECK_INT(out.store.version, 9);
    CHECK_NEAR(out.store.number, -2.5, 0);
    CHECK_INT(out.store.store.bytes, 5);
    CHECK_BYTES(out.store.key.data, "player_1", 8);
    CHECK_BYTES(out.store.value, "\1\2\3", 3);

    report = (ChannelReport){.type = CHANNEL_STATS};
    report.stats.tick = 1234567890123;
    report.stats.heap_bytes = 7;
    report.stats.late[HOST_TIME_BUCKETS - 1] = 3;
    report.stats.excess[0] = 4;
    report.stats.work[5] = 5;
    CHECK_OK(again(&report, &out));
    CHECK_BYTES(&out.stats, &report.stats, sizeof out.stats);

    report = (ChannelReport){.type = CHANNEL_SAVE,
                             .request = 4,
                             .epoch = 2,
                             .seq = 2,
                             .bytes = (const uint8_t *)"rows",
                             .byte_count = 4};
    CHECK_OK(again(&report, &out));
    CHECK_INT(out.seq, 2);
    CHECK_BYTES(out.bytes, "rows", 4);

    report = (ChannelReport){
        .type = CHANNEL_LOG, .level = LOG_WARN, .tick = 8, .area = "script", .text = "hm \xc3\xa4"};
    CHECK_OK(again(&report, &out));
    CHECK_INT(out.level, LOG_WARN);
    CHECK_TEXT(out.area, "script");
    CHECK_TEXT(out.text, "hm \xc3\xa4");
}

TEST(texts_of_a_world_cannot_write_to_a_terminal)
{
    static ChannelReport out;
    ChannelReport report = {.type = CHANNEL_STOP, .text = "a\x1b[31m\nb\x7f\xc2\x9b"};
    CHECK_OK(again(&report, &out));
    CHECK_INT(strcspn(out.text, "\x1b\n\x7f"), strlen(out.text));
    CHECK(strstr(out.text, "\xc2\x9b") == NULL);
    const uint8_t broken[] = {3, 'a', 0xff, 'b'};
    CHECK_OK(channel_read_report(CHANNEL_FAILED, broken, sizeof broken, &out));
    CHECK_TEXT(out.text, "a?b");
}

TEST(bad_reports_are_refused)
{
    static ChannelReport out;
    ChannelReport report = {.type = CHANNEL_STORE, .store = {.store = {"s", 1}, .key = {"k", 1}}};
    ByteWriter writer = byte_writer(buffer, sizeof buffer);
    channel_write_report(&report, &writer);
    for (size_t cut = 0; cut < writer.at; cut++) {
        CHECK(channel_read_report(CHANNEL_STORE, buffer, cut, &out) != STATUS_OK);
    }
    CHECK_INT(channel_read_report(CHANNEL_STORE, buffer, writer.at + 1, &out), STATUS_MALFORMED);
    report.request = CHANNEL_REQUEST_MAX + 1;
    CHECK_INT(again(&report, &out), STATUS_RANGE);
    report.request = 1;
    report.store.operation = STORE_OPERATION_END;
    CHECK_INT(again(&report, &out), STATUS_RANGE);
    report.store.operation = STORE_GET;
    report.store.number = 1e308 * 10;
    CHECK_INT(again(&report, &out), STATUS_RANGE);
    // Messages that only a host sends.
    for (int type = CHANNEL_NONE; type <= CHANNEL_CONNECT; type++) {
        CHECK_INT(channel_read_report((ChannelType)type, buffer, 0, &out), STATUS_MALFORMED);
    }
    static uint8_t ticket[CHANNEL_TICKET_BYTES + 2];
    ticket[0] = 1;
    CHECK_OK(channel_read_report(CHANNEL_AUTH, ticket, CHANNEL_TICKET_BYTES + 1, &out));
    CHECK_INT(channel_read_report(CHANNEL_AUTH, ticket, CHANNEL_TICKET_BYTES + 2, &out),
              STATUS_LIMIT);
}

TEST(a_start_comes_back_as_it_was)
{
    const ChannelStart start = {.whole_bytes = 1 << 20,
                                .stripped_bytes = 999,
                                .memory_bytes_max = 6ull << 30,
                                .journal = true,
                                .header = (const uint8_t *)"header",
                                .header_bytes = 6};
    ByteWriter writer = byte_writer(buffer, sizeof buffer);
    channel_write_start(&start, &writer);
    ChannelStart out = {0};
    CHECK_OK(channel_read_start(buffer, writer.at, &out));
    CHECK_INT(out.whole_bytes, start.whole_bytes);
    CHECK_INT(out.stripped_bytes, 999);
    CHECK(out.journal && !out.allow_weak_jail);
    CHECK_BYTES(out.header, "header", 6);
    for (size_t cut = 0; cut < writer.at; cut++) {
        CHECK(channel_read_start(buffer, cut, &out) != STATUS_OK);
    }
}

// --- the table of scripts -----------------------------------------------------------------------

static ScriptTable table, read_back;
static uint8_t table_bytes[SCRIPT_TABLE_BYTES];

// The largest that there can be: every row, every number, every text of its full length.
static void fill_table(void)
{
    static ScriptStats stats;
    memset(&stats, 0, sizeof stats);
    stats.scripts_listed = SCRIPT_STATS_ROWS;
    stats.entities_listed = SCRIPT_STATS_ENTITIES;
    stats.script_count = 2000;
    for (uint32_t i = 0; i < SCRIPT_STATS_ROWS; i++) {
        ScriptAccount *account = &stats.scripts[i];
        *account = (ScriptAccount){.state = SCRIPT_THROTTLED,
                                   .call_count = 10,
                                   .step_count = UINT64_MAX,
                                   .fault_count = 3,
                                   .time_ms = 25,
                                   .time_p99_ms = 4.5,
                                   .compile_ms = 1.25,
                                   .memory_bytes = SIZE_MAX,
                                   .debt_steps = -5};
        memset(account->path, 'a' + (int)i, sizeof account->path - 1);
        if (i < SCRIPT_STATS_ENTITIES) {
            stats.entities[i] = *account;
            stats.entities[i].entity = i + 1;
        }
    }
    memset(&table, 0, sizeof table);
    script_table_fill(&table, &stats, 77);
    for (uint32_t i = 0; i < 2 * SCRIPT_TABLE_FAULTS; i++) {
        ScriptFault fault = {.kind = FAULT_BUDGET, .tick = i, .line = 4};
        memset(fault.path, 'p', sizeof fault.path - 1);
        memset(fault.message, '"', sizeof fault.message - 1);
        memset(fault.file, 'f', sizeof fault.file - 1);
        script_table_add_fault(&table, &fault);
    }
    for (uint32_t i = 0; i < 2 * SCRIPT_TABLE_LINES; i++) {
        LogEvent event = {.tick = i, .level = LOG_WARN, .area = "script"};
        memset(event.text, '"', sizeof event.text - 1);
        script_table_add_line(&table, &event);
    }
    table.remote_count = SCRIPT_TABLE_REMOTES;
    for (uint32_t i = 0; i < SCRIPT_TABLE_REMOTES; i++) {
        RemoteCost *remote = &table.remotes[i];
        *remote = (RemoteCost){.up_count = i, .up_bytes = UINT64_MAX, .down_bytes = UINT64_MAX};
        memset(remote->name, 'r', sizeof remote->name - 1);
    }
    ClientCosts *clients = &table.clients;
    clients->reports = UINT64_MAX;
    clients->row_count = CLIENT_COST_ROWS;
    clients->fault_count = CLIENT_FAULT_ROWS;
    for (uint32_t i = 0; i < CLIENT_COST_ROWS; i++) {
        clients->rows[i] = (ClientCost){.calls = UINT64_MAX, .steps = UINT64_MAX, .faults = i};
        memset(clients->rows[i].path, 'c', sizeof clients->rows[i].path - 1);
    }
    for (uint32_t i = 0; i < CLIENT_FAULT_ROWS; i++) {
        clients->faults[i] = (ClientFault){.line = UINT32_MAX, .count = UINT64_MAX};
        memset(clients->faults[i].path, 'c', sizeof clients->faults[i].path - 1);
        memset(clients->faults[i].message, 'm', sizeof clients->faults[i].message - 1);
    }
}

TEST(a_full_table_of_scripts_arrives)
{
    fill_table();
    ByteWriter writer = byte_writer(table_bytes, sizeof table_bytes);
    script_table_write(&table, &writer);
    CHECK_OK(writer.status);
    CHECK_OK(script_table_read(table_bytes, writer.at, &read_back));
    CHECK_INT(read_back.tick, 77);
    CHECK_INT(read_back.script_count, SCRIPT_STATS_ROWS);
    CHECK_INT(read_back.entity_count, SCRIPT_STATS_ENTITIES);
    CHECK_INT(read_back.all_count, 2000);
    const ScriptRow *row = &read_back.scripts[3];
    CHECK(strlen(row->path) == SCRIPT_PATH_BYTES - 1 && row->path[0] == 'd');
    CHECK_INT(row->state, SCRIPT_THROTTLED);
    CHECK_INT(row->calls, 10);
    CHECK_INT(row->time_us, 25000);
    CHECK_INT(row->time_p99_us, 4500);
    CHECK_INT(row->compile_us, 1250);
    CHECK_INT(row->faults, 3);
    CHECK_INT(row->debt_steps, 0);
    CHECK_INT(row->steps, SIM_NET_ID_MAX); // what JSON can say
    CHECK_INT(read_back.entities[4].entity, 5);
    CHECK_INT(read_back.fault_count, SCRIPT_TABLE_FAULTS);
    CHECK_INT(read_back.faults[0].tick, SCRIPT_TABLE_FAULTS); // the oldest went
    CHECK_INT(read_back.fault_total, 2 * SCRIPT_TABLE_FAULTS);
    CHECK_INT(strlen(read_back.faults[1].file), SCRIPT_FILE_BYTES - 1);
    CHECK_INT(read_back.line_count, SCRIPT_TABLE_LINES);
    CHECK_INT(read_back.lines[0].tick, SCRIPT_TABLE_LINES); // likewise
    CHECK_INT(read_back.lines[0].level, LOG_WARN);
    CHECK_INT(strlen(read_back.lines[3].text), LOG_TEXT_BYTES - 1);
    CHECK_INT(read_back.remote_count, SCRIPT_TABLE_REMOTES);
    CHECK_INT(read_back.remotes[7].up_count, 7);
    CHECK_INT(strlen(read_back.remotes[7].name), WORLD_NAME_BYTES_MAX);
    CHECK_INT(read_back.clients.row_count, CLIENT_COST_ROWS);
    CHECK_INT(read_back.clients.rows[9].faults, 9);
    CHECK_INT(read_back.clients.faults[CLIENT_FAULT_ROWS - 1].line, UINT32_MAX);
    static uint8_t text[256 << 10];
    ByteWriter out = byte_writer(text, sizeof text);
    JsonWriter json = json_writer(&out, 0);
    json_write_object_begin(&json);
    script_table_json(&read_back, &json);
    json_write_object_end(&json);
    CHECK_OK(json_writer_finish(&json));
    // The last fault has the number of all of them.
    text[out.at] = '\0';
    CHECK(strstr((const char *)text, "\"number\":32,") != NULL);
    // Likewise the last line.
    CHECK(strstr((const char *)text, "\"number\":64,\"level\":\"warn\",\"tick\":63,") != NULL);
}

TEST(a_broken_table_of_scripts_is_a_status)
{
    fill_table();
    ByteWriter writer = byte_writer(table_bytes, sizeof table_bytes);
    script_table_write(&table, &writer);
    memset(&read_back, 0, sizeof read_back);
    for (size_t cut = 0; cut < writer.at; cut += 1 + cut / 64) {
        CHECK(script_table_read(table_bytes, cut, &read_back) != STATUS_OK);
    }
    CHECK(script_table_read(table_bytes, writer.at + 1, &read_back) != STATUS_OK);
    const uint8_t too_many[] = {1, SCRIPT_STATS_ROWS + 1};
    CHECK(script_table_read(too_many, sizeof too_many, &read_back) != STATUS_OK);
    CHECK_INT(read_back.script_count, 0); // untouched
    // What could speak to a terminal or a page does not.
    const uint8_t text[] = {1, 0, 0,   1, 0,    0,    0,   0, 2, 27, 7,
                            0, 4, 'a', 0, 0xff, '\n', 0,   1, 0, // then remotes, a line, clients
                            1, 1, 3,   5, 2,    27,   'b', 0, 0, 0,  0};
    CHECK_OK(script_table_read(text, sizeof text, &read_back));
    CHECK_TEXT(read_back.faults[0].path, "??");
    CHECK_TEXT(read_back.faults[0].message, "a?? ");
    CHECK_TEXT(read_back.lines[0].text, "?b");
}

// --- clients ------------------------------------------------------------------------------------

static ClientTable clients, clients_back;
static uint8_t client_bytes[CLIENT_TABLE_BYTES + 1];

static size_t write_clients(uint32_t count)
{
    clients.count = count;
    for (uint32_t i = 0; i < count; i++) {
        clients.rows[i] = (ClientVerdicts){.account = UINT64_MAX - i,
                                           .version = UINT32_MAX,
                                           .wanted = MANIFEST_SCRIPTS_MAX,
                                           .verified = MANIFEST_SCRIPTS_MAX - 1,
                                           .failed = 1,
                                           .is_settled = i % 2 == 1};
    }
    ByteWriter writer = byte_writer(client_bytes, CLIENT_TABLE_BYTES);
    client_table_write(&clients, &writer);
    CHECK_OK(writer.status);
    return writer.at;
}

TEST(a_full_table_of_clients_arrives)
{
    const size_t bytes = write_clients(WORLD_PLAYERS_MAX);
    ChannelReport report = {.type = CHANNEL_NONE};
    CHECK_OK(channel_read_report(CHANNEL_CLIENTS, client_bytes, bytes, &report));
    CHECK_OK(client_table_read(report.bytes, report.byte_count, &clients_back));
    CHECK_INT(clients_back.count, WORLD_PLAYERS_MAX);
    const ClientVerdicts *row = client_table_find(&clients_back, UINT64_MAX - 3);
    CHECK(row == &clients_back.rows[3]);
    CHECK_INT(row->version, UINT32_MAX);
    CHECK_INT(row->wanted, MANIFEST_SCRIPTS_MAX);
    CHECK_INT(row->verified, MANIFEST_SCRIPTS_MAX - 1);
    CHECK_INT(row->failed, 1);
    CHECK(row->is_settled && !clients_back.rows[2].is_settled);
    CHECK(client_table_find(&clients_back, 7) == NULL);
    // One byte more than the largest is refused before it is read.
    CHECK(channel_read_report(CHANNEL_CLIENTS, client_bytes, CLIENT_TABLE_BYTES + 1, &report) ==
          STATUS_LIMIT);
}

TEST(a_broken_table_of_clients_is_a_status)
{
    const size_t bytes = write_clients(3);
    clients_back = (ClientTable){.count = 1, .rows[0] = {.account = 5}};
    for (size_t cut = 0; cut < bytes; cut++) {
        CHECK(client_table_read(client_bytes, cut, &clients_back) != STATUS_OK);
    }
    client_bytes[bytes] = 0;
    CHECK(client_table_read(client_bytes, bytes + 1, &clients_back) != STATUS_OK);
    const uint8_t hostile[][8] = {
        {0xa1, 0x1f, 1, 1, 1, 1, 0, 0}, // 4001 rows
        {1, 5, 1, 0xd1, 0x0f, 0, 0, 0}, // 2001 scripts wanted,
        {1, 5, 1, 0, 0xd1, 0x0f, 0, 0}, // verified,
        {1, 5, 1, 0, 0, 0xd1, 0x0f, 0}, // failed
        {1, 0xff, 5, 1, 1, 0, 0, 2},    // settled is neither yes nor no
    };
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        CHECK(client_table_read(hostile[i], 8, &clients_back) != STATUS_OK);
    }
    CHECK_INT(clients_back.count, 1); // untouched
    CHECK_INT(clients_back.rows[0].account, 5);
    CHECK_OK(client_table_read((const uint8_t[]){0}, 1, &clients_back));
    CHECK_INT(clients_back.count, 0);
}
