// See script_report.h.
#include "server/shell/script_report.h"

#include <string.h>

#define FAULT_REPORTS_PER_SECOND 4 // a script that fails in every tick fills no channel

static void fill_stats(HostStats *out, const ScriptStats *stats)
{
    out->script_count = stats->script_count;
    out->script_throttled = stats->throttled_count;
    out->script_off = stats->off_count;
    out->script_instances = stats->instance_count;
    out->script_coroutines = stats->coroutine_count;
    out->script_memory_bytes = stats->memory.used_bytes;
    out->script_calls = stats->call_count;
    out->script_steps = stats->step_count;
    out->script_time_us = script_microseconds(stats->time_ms);
    out->script_compile_us = script_microseconds(stats->compile_ms);
    out->script_faults = stats->fault_count;
    out->script_faults_dropped = stats->faults_dropped;
    out->script_throttles = stats->throttle_count;
    out->script_events_dropped = stats->events_dropped;
    out->script_messages_dropped = stats->messages_dropped;
    out->script_log_dropped = stats->log_dropped;
}

static void send_table(WorldLoop *loop)
{
    static uint8_t bytes[SCRIPT_TABLE_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    script_table_write(&loop->script_table, &writer);
    if (writer.status != STATUS_OK) {
        return; // it fits: script_table.c proves it
    }
    const ChannelReport report = {.type = CHANNEL_SCRIPTS, .bytes = bytes, .byte_count = writer.at};
    (void)world_loop_report(loop, &report); // a host that is behind gets the next one
}

// Only when it differs from what was sent last: most seconds change nothing.
static void send_clients(WorldLoop *loop)
{
    static ClientTable table;
    static uint8_t bytes[CLIENT_TABLE_BYTES], sent[CLIENT_TABLE_BYTES];
    static size_t sent_bytes;
    table.count = world_client_verdicts(loop->world, table.rows, WORLD_PLAYERS_MAX);
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    client_table_write(&table, &writer);
    if (writer.status != STATUS_OK ||
        (writer.at == sent_bytes && memcmp(bytes, sent, sent_bytes) == 0)) {
        return;
    }
    const ChannelReport report = {.type = CHANNEL_CLIENTS, .bytes = bytes, .byte_count = writer.at};
    if (world_loop_report(loop, &report)) { // a host that is behind gets the next one
        memcpy(sent, bytes, writer.at);
        sent_bytes = writer.at;
    }
}

// Faults are drained here and nowhere else. True: there were some.
static bool take_faults(WorldLoop *loop, ScriptSystem *scripts)
{
    bool has_faults = false;
    for (ScriptFault fault; script_faults(scripts, &fault, 1) > 0; has_faults = true) {
        script_table_add_fault(&loop->script_table, &fault);
    }
    return has_faults;
}

void script_report(WorldLoop *loop, HostStats *stats)
{
    ScriptTable *table = &loop->script_table;
    ScriptSystem *scripts = world_scripts(loop->world);
    const uint64_t calls_before = stats->script_calls;
    if (scripts == NULL) {
        return;
    }
    script_stats(scripts, &loop->script_stats);
    fill_stats(stats, &loop->script_stats);
    const ClientCosts *clients = world_client_costs(loop->world);
    const bool has_faults = take_faults(loop, scripts) || loop->script_faults_wait;
    const uint64_t messages = remote_costs_messages(script_remotes(scripts));
    const bool is_new = clients->reports != table->clients.reports ||
                        clients->refused != table->clients.refused ||
                        messages != loop->script_messages;
    loop->script_messages = messages;
    if (has_faults || is_new || stats->script_calls != calls_before) {
        script_table_fill(table, &loop->script_stats, stats->tick);
        table->remote_count =
            remote_costs_list(script_remotes(scripts), table->remotes, SCRIPT_TABLE_REMOTES);
        table->clients = *clients;
        send_table(loop);
    }
    loop->script_faults_wait = false;
    send_clients(loop);
}

void script_report_faults(WorldLoop *loop)
{
    ScriptSystem *scripts = world_scripts(loop->world);
    if (scripts == NULL) {
        return;
    }
    loop->script_faults_wait |= take_faults(loop, scripts);
    const uint64_t gap_ticks = loop->tick_rate / FAULT_REPORTS_PER_SECOND;
    if (!loop->script_faults_wait || loop->tick_count < loop->script_faults_tick + gap_ticks) {
        return;
    }
    loop->script_faults_wait = false;
    loop->script_faults_tick = loop->tick_count;
    loop->script_table.tick = loop->tick_count;
    send_table(loop); // with the rows of the last second
}
