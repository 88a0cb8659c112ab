// See world_loop.h. The loop waits only for the clock.
#define _GNU_SOURCE
#include "server/shell/world_loop.h"

#include "core/base/check.h"
#include "core/base/limits.h"
#include "server/channel/journal_replay.h"
#include "server/shell/script_report.h"
#include "server/sys/clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOURNAL_BYTES      (CHANNEL_MESSAGE_BYTES - 64u)
#define COMMANDS_FREE      (4u << 20) // free bytes of the queue that all possible commands need
#define JOURNAL_FREE       (6u << 20) // the journal leaves the rest for more important messages
#define MESSAGES_PER_TICK  512        // from the host
#define LOGS_PER_SECOND    200
#define BEATS_PER_SECOND   5
#define PAUSED_BEAT_NS     (CHANNEL_PAUSED_BEAT_MS * 1000000ull)
#define PAUSED_STATS_NS    (NS_PER_S * 10) // nothing in them changes but processor time
#define CLOSE_NORMAL       1000
#define CLOSE_GOING_AWAY   1001
#define CLOSE_POLICY       1008
#define HASH_EVERY_SECONDS 1

// --- to the host --------------------------------------------------------------------------------

Status world_loop_init(WorldLoop *loop, Channel *channel)
{
    *loop = (WorldLoop){.channel = channel};
    loop->journal_bytes = malloc(JOURNAL_BYTES);
    loop->report_bytes = malloc(CHANNEL_MESSAGE_BYTES);
    if (loop->journal_bytes == NULL || loop->report_bytes == NULL) {
        return STATUS_LIMIT; // the process ends
    }
    loop->journal_writer = byte_writer(loop->journal_bytes, JOURNAL_BYTES);
    return STATUS_OK;
}

bool world_loop_report(WorldLoop *loop, const ChannelReport *report)
{
    ByteWriter writer = byte_writer(loop->report_bytes, CHANNEL_MESSAGE_BYTES);
    channel_write_report(report, &writer);
    ASSERT(writer.status == STATUS_OK); // no message of a world is that large
    return channel_put(loop->channel, report->type, loop->report_bytes, writer.at, -1) == STATUS_OK;
}

void world_loop_log(void *user, const LogEvent *event)
{
    WorldLoop *loop = user;
    if (strcmp(event->area, "script") == 0) { // for whoever looks at the scripts of this world
        script_table_add_line(&loop->script_table, event);
        loop->script_faults_wait = true;
    }
    if (loop->now_ms / 1000 != loop->log_second) {
        loop->log_second = loop->now_ms / 1000;
        loop->logs_this_second = 0;
    }
    loop->logs_this_second += 1;
    if (loop->logs_this_second > LOGS_PER_SECOND) {
        return; // the sink counts them
    }
    ChannelReport report = {.type = CHANNEL_LOG, .level = event->level, .tick = event->tick};
    memcpy(report.area, event->area, strnlen(event->area, sizeof report.area - 1));
    memcpy(report.text, event->text, strnlen(event->text, sizeof report.text - 1));
    (void)world_loop_report(loop, &report); // if the host is behind, it misses a line
}

static void send_journal(WorldLoop *loop)
{
    if (loop->journal_writer.at == 0) {
        return;
    }
    const ChannelReport report = {.type = CHANNEL_JOURNAL,
                                  .gap = loop->journal_gap,
                                  .bytes = loop->journal_bytes,
                                  .byte_count = loop->journal_writer.at};
    if (channel_free(loop->channel) >= JOURNAL_FREE && world_loop_report(loop, &report)) {
        loop->journal_gap = false;
    } else {
        loop->journal_dropped += loop->journal_writer.at;
        loop->journal_gap = true;
    }
    loop->journal_writer = byte_writer(loop->journal_bytes, JOURNAL_BYTES);
}

static void note_entry(WorldLoop *loop, const Entry *entry)
{
    ByteWriter trial = loop->journal_writer;
    entry_write(entry, &trial);
    if (trial.status != STATUS_OK) {
        send_journal(loop);
        trial = loop->journal_writer;
        entry_write(entry, &trial);
    }
    ASSERT(trial.status == STATUS_OK); // an entry that came over the channel fits
    loop->journal_writer = trial;
}

// Every entry into the world goes through here.
static Status enter(WorldLoop *loop, const Entry *entry)
{
    if (loop->journal) {
        note_entry(loop, entry);
    }
    return world_enter(loop->world, entry);
}

static void note_hash(WorldLoop *loop)
{
    const uint64_t tick = sim_tick(world_sim(loop->world));
    if (!loop->journal || tick % (HASH_EVERY_SECONDS * loop->tick_rate) != 0) {
        return;
    }
    if (loop->journal_writer.capacity - loop->journal_writer.at < JOURNAL_HASH_BYTES) {
        send_journal(loop);
    }
    journal_write_hash(tick, world_hash(loop->world), &loop->journal_writer);
}

// --- sockets ------------------------------------------------------------------------------------

static bool on_message(void *user, uint64_t connection, const SocketsOrigin *from, bool text,
                       const uint8_t *bytes, size_t count)
{
    (void)text; // as the origin says
    WorldLoop *loop = user;
    uint32_t session;
    if (!world_session(loop->world, connection, &session)) {
        // It gets a session in the world only now: a silent connection takes none.
        const Entry connect = {.type = ENTRY_CONNECT,
                               .flags = from->json ? ENTRY_JSON : 0,
                               .connection = connection,
                               .number = from->address};
        if (enter(loop, &connect) != STATUS_OK) {
            return false;
        }
    }
    const Entry message = {
        .type = ENTRY_MESSAGE, .connection = connection, .bytes = bytes, .byte_count = count};
    // The world counts what it rejects, and ends the session itself.
    status_ignore(enter(loop, &message));
    return true;
}

static void on_gone(void *user, uint64_t connection)
{
    WorldLoop *loop = user;
    const Entry gone = {.type = ENTRY_DISCONNECT, .connection = connection};
    status_ignore(enter(loop, &gone)); // the world may have ended it first
}

static void on_closed(void *user, const SocketsOrigin *from)
{
    const ChannelReport report = {.type = CHANNEL_CLOSED, .socket = from->number};
    // A host that is so far behind that its queue is full learns it when this process ends.
    if (from->number != 0) {
        (void)world_loop_report(user, &report);
    }
}

static bool on_output(void *user, uint64_t connection, const uint8_t **bytes, size_t *count,
                      bool *text)
{
    (void)text; // as the origin says
    const WorldLoop *loop = user;
    return world_output(loop->world, connection, bytes, count);
}

static void on_taken(void *user, uint64_t connection)
{
    WorldLoop *loop = user;
    world_output_take(loop->world, connection);
}

Status world_loop_open(WorldLoop *loop, World *world, uint32_t tick_rate, uint32_t socket_max,
                       int epoll)
{
    const SocketsCallbacks face = {.user = loop,
                                   .message = on_message,
                                   .gone = on_gone,
                                   .closed = on_closed,
                                   .output = on_output,
                                   .taken = on_taken};
    loop->world = world;
    loop->tick_rate = tick_rate;
    return sockets_create(epoll, socket_max, &face, &loop->sockets);
}

static void close_those_done(WorldLoop *loop)
{
    for (;;) {
        const uint64_t connection = world_closing(loop->world);
        if (connection == 0) {
            return;
        }
        sockets_close(loop->sockets, connection,
                      world_is_ending(loop->world) ? CLOSE_GOING_AWAY : CLOSE_NORMAL);
    }
}

// --- from the host ------------------------------------------------------------------------------

// Nothing of the set stays. What is still on its way of it is ignored until the next one begins.
static void refuse_reload(WorldLoop *loop, const char *reason)
{
    ChannelReport report = {
        .type = CHANNEL_RELOADED, .reload = RELOAD_REFUSED, .version = loop->reload_version};
    snprintf(report.text, sizeof report.text, "%s", reason);
    rune_gate_drop(loop->gate);
    loop->reload_comes = false;
    if (loop->reload_has_staged) {
        loop->reload_has_staged = false;
        status_ignore(enter(loop, &(Entry){.type = ENTRY_UNSTAGE})); // it always succeeds
    }
    (void)world_loop_report(loop, &report); // a host that is so far behind asks again, or ends us
}

static void take_reload(WorldLoop *loop, const ChannelMessage *message)
{
    char reason[CHANNEL_REASON_BYTES];
    ByteReader reader = byte_reader(message->bytes, message->count);
    RunePiece piece = {.version = byte_read_u32(&reader)};
    piece.whole_bytes = byte_read_u32(&reader);
    piece.at = byte_read_u32(&reader);
    if (reader.status != STATUS_OK || (piece.at > 0 && !loop->reload_comes)) {
        return; // of a set that was refused
    }
    piece.bytes = message->bytes + reader.at;
    piece.count = message->count - reader.at;
    if (loop->reload_has_staged) { // the host has begun again
        loop->reload_has_staged = false;
        status_ignore(enter(loop, &(Entry){.type = ENTRY_UNSTAGE}));
    }
    loop->reload_comes = true;
    loop->reload_version = piece.version;
    if (rune_gate_piece(loop->gate, &piece, reason, sizeof reason) != STATUS_OK) {
        refuse_reload(loop, reason);
    }
}

// A script, parameters, or the end of the set.
static void take_reload_entry(WorldLoop *loop, const Entry *entry)
{
    char reason[CHANNEL_REASON_BYTES] = "";
    if (!loop->reload_comes) {
        return; // of a set that was refused
    }
    const bool is_last = entry->type == ENTRY_RELOAD;
    Status status = rune_gate_check(loop->gate, entry, reason, sizeof reason);
    if (status == STATUS_OK && is_last) {
        status = rune_gate_finish(loop->gate, reason, sizeof reason);
    }
    if (status == STATUS_OK) {
        loop->reload_has_staged = true;
        status = enter(loop, entry);
    }
    if (status != STATUS_OK) {
        if (reason[0] == '\0') {
            snprintf(reason, sizeof reason, "%.*s%s: %s", (int)entry->name_bytes, entry->name,
                     is_last ? "the clients' manifest" : "", status_text(status));
        }
        refuse_reload(loop, reason);
    } else if (is_last) {
        rune_gate_take(loop->gate);
        loop->reload_comes = loop->reload_has_staged = false;
    }
}

static void take_entry(WorldLoop *loop, const ChannelMessage *message)
{
    ByteReader reader = byte_reader(message->bytes, message->count);
    Entry entry;
    if (entry_read(&reader, &entry) != STATUS_OK) {
        return;
    }
    switch (entry.type) {
    case ENTRY_SCRIPT:
    case ENTRY_PARAMETERS:
    case ENTRY_RELOAD:
        take_reload_entry(loop, &entry);
        break;
    case ENTRY_UNSTAGE: // ours alone
    case ENTRY_EDIT:    // only of a world without a host
        break;
    default:
        status_ignore(enter(loop, &entry)); // for example for a connection that is gone
    }
}

static void take_message(WorldLoop *loop, ChannelMessage *message)
{
    if (message->type == CHANNEL_ENTRY) {
        take_entry(loop, message);
    } else if (message->type == CHANNEL_CONNECT && message->descriptor >= 0 &&
               message->count >= CHANNEL_CONNECT_BYTES) {
        ByteReader reader = byte_reader(message->bytes, message->count);
        SocketsOrigin from = {.json = byte_read_u8(&reader) != 0};
        from.address = byte_read_u64(&reader);
        from.number = byte_read_u64(&reader);
        sockets_add(loop->sockets, message->descriptor, &from, message->bytes + reader.at,
                    message->count - reader.at, loop->now_ms);
        message->descriptor = -1;
    }
    if (message->type == CHANNEL_RELOAD) {
        take_reload(loop, message);
    }
    if (message->type == CHANNEL_CLOSE && message->count == sizeof(uint64_t)) {
        ByteReader reader = byte_reader(message->bytes, message->count);
        sockets_close_number(loop->sockets, byte_read_u64(&reader), CLOSE_POLICY);
    }
    if (message->type == CHANNEL_UNTIL && message->count == sizeof loop->until_ns) {
        ByteReader reader = byte_reader(message->bytes, message->count);
        loop->until_ns = byte_read_u64(&reader);
    }
    if (message->descriptor >= 0) {
        close(message->descriptor);
    }
}

// False when the host is gone, or stood still for so long that another one may run this world.
static bool hear_host(WorldLoop *loop)
{
    for (uint32_t i = 0; i < MESSAGES_PER_TICK; i++) {
        ChannelMessage message;
        const Status status = channel_take(loop->channel, &message);
        if (status == STATUS_NOT_FOUND) {
            break;
        }
        if (status != STATUS_OK) {
            return false;
        }
        take_message(loop, &message);
    }
    return loop->until_ns == 0 || clock_ns() < loop->until_ns;
}

// --- commands -----------------------------------------------------------------------------------

static void copy_text(ChannelReport *report, const Command *command)
{
    const size_t room = sizeof report->text - 1;
    memcpy(report->text, command->bytes, command->byte_count < room ? command->byte_count : room);
}

static void report_command(WorldLoop *loop, const Command *command)
{
    ChannelReport report = {.connection = command->connection,
                            .request = command->request,
                            .epoch = command->epoch,
                            .seq = command->seq,
                            .bytes = command->bytes,
                            .byte_count = command->byte_count,
                            .store = command->store};
    switch (command->type) {
    case COMMAND_AUTH:
        report.type = CHANNEL_AUTH;
        break;
    case COMMAND_SAVE:
        report.type = CHANNEL_SAVE;
        break;
    case COMMAND_STORE:
        report.type = CHANNEL_STORE;
        break;
    case COMMAND_LEFT:
    case COMMAND_CAME:
        report.type = command->type == COMMAND_LEFT ? CHANNEL_LEFT : CHANNEL_CAME;
        report.account = command->account;
        break;
    case COMMAND_HEARD:
        report.type = CHANNEL_HEARD;
        report.account = command->account;
        report.heard = command->heard;
        break;
    case COMMAND_REPORT:
        report.type = CHANNEL_REPORT;
        report.account = command->account;
        report.other = command->other;
        break;
    case COMMAND_RELOAD:
        report.type = CHANNEL_RELOADED;
        report.reload = command->reload;
        report.version = command->version;
        report.tick = command->tick;
        copy_text(&report, command);
        break;
    case COMMAND_STOP:
        report.type = CHANNEL_STOP;
        copy_text(&report, command);
        break;
    }
    const bool put = world_loop_report(loop, &report);
    ASSERT(put); // checked before
}

static void report_commands(WorldLoop *loop)
{
    uint32_t count;
    const Command *commands = world_commands(loop->world, &count);
    if (count == 0 || channel_free(loop->channel) < COMMANDS_FREE) {
        return; // the world merges waiting saves
    }
    for (uint32_t i = 0; i < count; i++) {
        report_command(loop, &commands[i]);
    }
    world_commands_clear(loop->world);
}

// --- numbers ------------------------------------------------------------------------------------

static void count_time(uint64_t us, uint64_t buckets[HOST_TIME_BUCKETS], uint64_t *sum_us)
{
    uint32_t bucket = 0;
    while (bucket < HOST_TIME_BUCKETS - 1 && us > host_time_bounds_us[bucket]) {
        bucket += 1;
    }
    buckets[bucket] += 1;
    *sum_us += us;
}

// A tick begins. Without one before it there is no interval.
static void count_begin(WorldLoop *loop, uint64_t now, uint64_t late_us)
{
    const uint64_t planned = loop->began_ns + NS_PER_S / loop->tick_rate;
    count_time(late_us, loop->stats.late, &loop->stats.late_us);
    if (loop->began_ns != 0) {
        count_time(now > planned ? (now - planned) / 1000 : 0, loop->stats.excess,
                   &loop->stats.excess_us);
    }
    loop->began_ns = now;
    loop->stats.ticks += 1;
    if (loop->late_count < sizeof loop->late_us / sizeof loop->late_us[0]) {
        loop->late_us[loop->late_count++] = late_us < UINT32_MAX ? (uint32_t)late_us : UINT32_MAX;
    }
}

// A second has so few ticks that the 99th percentile is the latest one.
static uint64_t latest(const WorldLoop *loop)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < loop->late_count; i++) {
        most = loop->late_us[i] > most ? loop->late_us[i] : most;
    }
    return most;
}

static void fill_world_stats(HostStats *out, const WorldStats *stats)
{
    out->tick = stats->tick;
    out->sessions = stats->sessions;
    out->players = stats->players;
    out->json_sessions = stats->json_sessions;
    out->messages = stats->messages;
    out->messages_refused = stats->messages_refused;
    out->messages_malformed = stats->messages_malformed;
    out->inputs = stats->inputs;
    out->inputs_late = stats->inputs_late;
    out->inputs_early = stats->inputs_early;
    out->inputs_duplicate = stats->inputs_duplicate;
    out->inputs_repeated = stats->inputs_repeated;
    out->corrections = stats->corrections;
    out->corrections_without_cause = stats->corrections_without_cause;
    out->snapshots = stats->snapshots;
    out->snapshots_skipped = stats->snapshots_skipped;
    out->sessions_behind = stats->sessions_behind;
    out->rate_limited = stats->rate_limited;
    out->resumes = stats->resumes;
    out->saves = stats->saves;
    out->bytes_down = stats->bytes_down;
    out->bytes_up = stats->bytes_up;
    out->commands_denied = stats->commands_denied;
    out->bodies_gave_way = stats->bodies_gave_way;
    out->replication_captures = stats->replication.captures;
    out->replication_versions = stats->replication.versions_made;
    out->replication_frames = stats->replication.frames;
    out->replication_frame_bytes = stats->replication.frame_bytes;
    out->replication_encoded = stats->replication.records_encoded;
    out->replication_appended = stats->replication.records_appended;
    out->replication_full = stats->replication.records_full;
    out->replication_postponed = stats->replication.records_postponed;
    out->replication_events_dropped = stats->replication.events_dropped;
}

static void fill_counters(HostStats *out, const WorldCounters *counters)
{
    out->sim_events_dropped = counters->sim.events_dropped;
    out->sim_colliders_dropped = counters->sim.colliders_dropped;
    out->sim_query_overflow = counters->sim.query_overflow;
    out->sim_moves_refused = counters->sim.moves_refused;
    out->sim_unstuck = counters->sim.unstuck;
    out->sim_inputs_sanitised = counters->sim.inputs_sanitised;
    out->sim_triggers_dropped = counters->sim.triggers_dropped;
    out->sim_paths_given_up = counters->sim.paths_given_up;
    out->authority_events_dropped = counters->authority.events_dropped;
    out->authority_binds_dropped = counters->authority.binds_dropped;
    out->authority_binds_failed = counters->authority.binds_failed;
    out->authority_effects_dropped = counters->authority.effects_dropped;
    out->authority_records_refused = counters->authority.records_refused;
    out->save_rows_refused = counters->saves.rows_refused;
    out->save_structures_unfit = counters->saves.structures_unfit;
    out->save_structures_waiting = counters->saves.structures_waiting;
    out->save_accounts_evicted = counters->saves.accounts_evicted;
    out->save_waiters_dropped = counters->saves.waiters_dropped;
    out->save_attributes_refused = counters->saves.attributes_refused;
    out->save_attributes_cut = counters->saves.attributes_cut;
    out->save_old_rows_dropped = counters->saves.old_rows_dropped;
}

// A world asks for its memory at the start. If it does so later, what it wanted was refused, and
// somebody should hear of it.
static void report_heap(WorldLoop *loop, HostStats *stats)
{
    if (loop->heap->frozen_count > stats->heap_late) {
        LogEvent event = {.tick = stats->tick, .level = LOG_ERROR, .area = "world"};
        snprintf(event.text, sizeof event.text,
                 "the world asked for memory after its start, %llu times, and was refused: this is "
                 "a bug",
                 (unsigned long long)(loop->heap->frozen_count - stats->heap_late));
        world_loop_log(loop, &event);
    }
    stats->heap_frozen = loop->heap->frozen;
    stats->heap_late = loop->heap->frozen_count;
    stats->heap_bytes = loop->heap->bytes_now;
}

static void report_stats(WorldLoop *loop)
{
    const WorldStats world = world_stats(loop->world);
    const WorldCounters counters = world_counters(loop->world);
    const SocketsStats sockets = sockets_stats(loop->sockets);
    HostStats *stats = &loop->stats;
    fill_world_stats(stats, &world);
    fill_counters(stats, &counters);
    script_report(loop, stats);
    stats->paused = loop->paused;
    stats->sockets = sockets.open;
    stats->socket_bytes_down = sockets.bytes_down;
    stats->socket_bytes_up = sockets.bytes_up;
    stats->socket_sends = sockets.sends;
    stats->socket_receives = sockets.receives;
    stats->socket_partial = sockets.partial;
    stats->socket_broken = sockets.broken;
    stats->socket_silent = sockets.silent;
    stats->socket_refused = sockets.refused;
    stats->journal_dropped = loop->journal_dropped;
    stats->late_p99_us = latest(loop);
    stats->work_max_us = loop->work_max_us;
    stats->cpu_us = clock_cpu_us();
    report_heap(loop, stats);
    const ChannelReport report = {.type = CHANNEL_STATS, .stats = *stats};
    (void)world_loop_report(loop, &report); // the next one contains all of it
    loop->late_count = 0;
    loop->work_max_us = 0;
}

static void report_life(WorldLoop *loop)
{
    if (loop->tick_count % (loop->tick_rate / BEATS_PER_SECOND) == 0) {
        const ChannelReport beat = {.type = CHANNEL_BEAT, .tick = loop->tick_count};
        (void)world_loop_report(loop, &beat); // a full channel drops it
    }
    script_report_faults(loop);
    if (loop->tick_count % loop->tick_rate == 0) {
        report_stats(loop);
    }
}

// --- the tick -----------------------------------------------------------------------------------

// False when the host is gone.
static bool tick(WorldLoop *loop)
{
    const uint64_t began = clock_ns();
    loop->now_ms = began / 1000000;
    if (!hear_host(loop)) {
        return false;
    }
    sockets_drain(loop->sockets, loop->now_ms);
    sockets_check(loop->sockets, (uint32_t)(loop->tick_count % loop->tick_rate), loop->tick_rate,
                  loop->now_ms);
    const Entry entry = {.type = ENTRY_TICK, .number = clock_unix_ms()};
    if (loop->journal) {
        note_entry(loop, &entry);
        send_journal(loop);
        // If this tick ends the process, the host has everything that led to it.
        status_ignore(channel_flush(loop->channel));
    }
    const Status ticked = world_enter(loop->world, &entry);
    ASSERT(ticked == STATUS_OK);
    note_hash(loop);
    report_commands(loop);
    sockets_flush(loop->sockets, loop->now_ms);
    close_those_done(loop);
    loop->tick_count += 1;
    report_life(loop);
    const uint64_t work_us = (clock_ns() - began) / 1000;
    count_time(work_us, loop->stats.work, &loop->stats.work_us);
    loop->work_max_us = work_us > loop->work_max_us ? work_us : loop->work_max_us;
    return channel_flush(loop->channel) != STATUS_TRUNCATED;
}

// --- the pause ----------------------------------------------------------------------------------

// A connection keeps ticks going even before it says a word: they are what times it out.
static bool may_pause(const WorldLoop *loop)
{
    return world_is_paused(loop->world) && sockets_stats(loop->sockets).open == 0;
}

// Sleeps until the host says something, or takes what waits for it, or a sign of life is due. True:
// the host did something.
static bool wait_for_host(const WorldLoop *loop, uint64_t until_ns)
{
    const bool waits = channel_free(loop->channel) < loop->channel->out_capacity;
    struct pollfd end = {.fd = loop->channel->end,
                         .events = (short)(waits ? POLLIN | POLLOUT : POLLIN)};
    const uint64_t now = clock_ns();
    const int wait_ms = until_ns > now ? (int)((until_ns - now) / 1000000u) + 1 : 0;
    return poll(&end, 1, wait_ms) > 0; // whatever it says, the channel is looked at
}

static void report_pause(WorldLoop *loop, bool paused)
{
    loop->paused = paused;
    report_stats(loop);
}

static void report_paused_life(WorldLoop *loop, uint64_t now, uint64_t *beat_due,
                               uint64_t *stats_due)
{
    if (now >= *beat_due) {
        const ChannelReport beat = {.type = CHANNEL_BEAT, .tick = loop->tick_count};
        (void)world_loop_report(loop, &beat);
        *beat_due = now + PAUSED_BEAT_NS;
    }
    if (now >= *stats_due) {
        report_stats(loop);
        *stats_due = now + PAUSED_STATS_NS;
    }
}

// While nobody is here: no tick, and no wake-up but for the host. What enters meanwhile is
// journaled, and what the world answers goes out. False when the host is gone.
static bool pause_ticks(WorldLoop *loop)
{
    uint64_t beat_due = clock_ns();
    uint64_t stats_due = beat_due + PAUSED_STATS_NS;
    report_pause(loop, true);
    while (may_pause(loop)) {
        const uint64_t now = clock_ns();
        loop->now_ms = now / 1000000;
        send_journal(loop);
        report_commands(loop);
        report_paused_life(loop, now, &beat_due, &stats_due);
        if (channel_flush(loop->channel) == STATUS_TRUNCATED) {
            return false;
        }
        if (wait_for_host(loop, beat_due)) {
            beat_due = 0; // whoever speaks to it hears that it lives
        }
        loop->now_ms = clock_ns() / 1000000;
        if (!hear_host(loop)) {
            return false;
        }
    }
    report_pause(loop, false);
    return true;
}

void world_loop_run(WorldLoop *loop)
{
    const uint64_t interval = NS_PER_S / loop->tick_rate;
    uint64_t due = clock_ns();
    for (;;) {
        if (may_pause(loop)) {
            if (!pause_ticks(loop)) {
                return;
            }
            due = clock_ns(); // no tick was missed
            loop->began_ns = 0;
        }
        clock_sleep_until(due);
        const uint64_t now = clock_ns();
        const uint64_t late = now > due ? now - due : 0;
        if (late > TICK_CATCH_UP_MAX * interval) {
            const uint64_t skipped = late / interval;
            loop->stats.ticks_missed += skipped;
            due += skipped * interval;
        }
        count_begin(loop, now, late / 1000);
        if (!tick(loop)) {
            return;
        }
        due += interval;
    }
}
