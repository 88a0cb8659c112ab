// The world process as its host sees it: made from what is stored, listened to with suspicion, and
// ended when it does not respond or floods.
#define _GNU_SOURCE
#include "server/host/host_inside.h"

#include "core/base/check.h"
#include "core/world/save/row.h"
#include "server/net/socket_pass.h"
#include "server/net/websocket.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"
#include "server/sys/file.h"
#include "server/sys/jail.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define QUEUE_BYTES         (16u << 20)
#define SECOND_NS           1000000000ull
#define MESSAGES_PER_SECOND 20000
#define BYTES_PER_SECOND    (64u << 20)
#define LOGS_PER_SECOND     500
#define MESSAGES_PER_ROUND  4096 // then the others have a turn
#define CLOSE_TRY_LATER     1013
#define LOOK_MS_MAX         150 // how much of a pause counts: a stopped host blames nobody

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif
// A sanitizer is slow, and its first tick reads everything.
#define STUCK_MS       (SANITIZED ? 10000u : 1000u)
#define DRAIN_MS       3000u
#define STUCK_START_MS 30000u

// --- what a world begins with -------------------------------------------------------------------

typedef struct Beginning {
    uint8_t *bytes;
    size_t count, capacity;
    bool failed;
    RowMeta meta; // of the life before; all zero: there was none
} Beginning;

static void begin_with(Beginning *all, const Entry *entry)
{
    ByteWriter counter = byte_counter();
    entry_write(entry, &counter);
    if (counter.at > all->capacity - all->count) {
        const size_t more = 2 * all->capacity + counter.at + 65536;
        uint8_t *grown = realloc(all->bytes, more);
        if (grown == NULL) {
            all->failed = true;
            return;
        }
        all->bytes = grown;
        all->capacity = more;
    }
    ByteWriter writer = byte_writer(all->bytes + all->count, counter.at);
    entry_write(entry, &writer);
    ASSERT(writer.status == STATUS_OK);
    all->count += writer.at;
}

// How far the life before came. A row that cannot be read is refused by the world too; a version
// that it had given is then given again, which clients find out.
static void take_meta(Beginning *all, const uint8_t *bytes, size_t count)
{
    ByteReader reader = byte_reader(bytes, count);
    Row row;
    RowMeta meta;
    if (row_read(&reader, &row) == STATUS_OK && row.type == ROW_META &&
        row_meta(&row, &meta) == STATUS_OK && meta.tick <= SIM_NET_ID_MAX) {
        all->meta = meta;
    }
}

static void take_row(void *user, const uint8_t *row, size_t bytes)
{
    Beginning *all = user;
    take_meta(all, row, bytes);
    if (!all->failed && bytes <= ENTRY_BYTES_MAX) {
        const Entry entry = {.type = ENTRY_ROW, .bytes = row, .byte_count = bytes};
        begin_with(all, &entry);
    }
}

static void begin_with_runes(Beginning *all, const Host *host)
{
    for (uint32_t i = 0; i < host->built.rune_count && !all->failed; i++) {
        const BuildRune *rune = &host->built.runes[i];
        Entry entry = {.type = ENTRY_SCRIPT,
                       .flags = rune->replicate ? ENTRY_REPLICATE : 0u,
                       .number = entry_context(rune->context),
                       .name = rune->path,
                       .name_bytes = (uint32_t)strlen(rune->path),
                       .bytes = rune->bytes,
                       .byte_count = rune->count};
        begin_with(all, &entry);
        if (rune->packed != NULL && !all->failed) {
            entry.flags = ENTRY_PACKED;
            entry.number = host->built.packing;
            entry.bytes = rune->packed;
            entry.byte_count = rune->packed_count;
            begin_with(all, &entry);
        }
    }
}

static void begin_with_manifest(Beginning *all, const HostManifests *manifests)
{
    const Entry entry = {.type = ENTRY_RELOAD,
                         .number = manifests->version,
                         .bytes = manifests->client.data,
                         .byte_count = manifests->client.bytes};
    begin_with(all, &entry);
}

static Status make_beginning(Host *host, Beginning *all, HostManifests *manifests)
{
    *all = (Beginning){0};
    Status status = store_rows(host->store, host->row.world_id, take_row, all);
    if (status != STATUS_OK) {
        host_log(LOG_ERROR, "host", "what was stored cannot be read: %s", status_text(status));
        return status;
    }
    // A world that ended before its first save has stored no version, but players have seen one.
    const uint64_t stored = all->meta.manifest_version;
    const uint64_t before = stored > host->manifest_version ? stored : host->manifest_version;
    status = host_place_sign(host, before, all->meta.tick, manifests);
    if (status != STATUS_OK) {
        host_log(LOG_ERROR, "host", "the manifest cannot be signed: %s", status_text(status));
        return status;
    }
    ASSERT(manifests->version > host->manifest_version);
    begin_with_runes(all, host);
    begin_with_manifest(all, manifests);
    return all->failed ? STATUS_LIMIT : STATUS_OK;
}

// --- the start ----------------------------------------------------------------------------------

static void open_journal(Host *host, const uint8_t *header, size_t header_bytes,
                         const Beginning *all)
{
    host->journal = (JournalFile){.descriptor = -1};
    if (host->journal_path[0] == '\0') {
        return;
    }
    Status status = journal_file_open(&host->journal, host->journal_path,
                                      (uint64_t)host->config.journal_mb << 20);
    if (status == STATUS_OK) {
        status = journal_file_append(&host->journal, header, header_bytes);
    }
    if (status == STATUS_OK) {
        status = journal_file_append(&host->journal, all->bytes, all->count);
    }
    if (status != STATUS_OK) {
        host_log(LOG_WARN, "journal", "%s: %s", host->journal_path, status_text(status));
    }
}

static Status put_memory(Host *host, ChannelType type, const void *message, size_t message_bytes,
                         const void *first, size_t first_bytes, const void *second,
                         size_t second_bytes)
{
    int memory = -1;
    Status status = file_memory("sandlot-world", first, first_bytes, second, second_bytes, &memory);
    if (status == STATUS_OK) {
        status = channel_put(&host->channel, type, message, message_bytes, memory);
        if (status != STATUS_OK) {
            close(memory);
        }
    }
    return status;
}

static uint64_t memory_bytes(const Host *host, const Beginning *all, const HostManifests *manifests)
{
    const WorldNeed need = {.player_max = host->world.player_max,
                            .entity_max = host->world.entity_max,
                            .json_session_max = host->world.json_session_max,
                            .place_bytes = host->built.whole_bytes + host->built.stripped_bytes,
                            .beginning_bytes = all->count + manifests->server.bytes};
    return world_memory_bytes(&need);
}

static Status tell_beginning(Host *host, const Beginning *all, const HostManifests *manifests)
{
    const uint64_t memory = memory_bytes(host, all, manifests);
    if (!host_bounds_apply(&host->bounds, memory, host->process.pid)) {
        host_log(LOG_ERROR, "host", "the world's cgroup in %s cannot be set up",
                 host->bounds.cgroup.own);
        return STATUS_DENIED;
    }
    uint8_t header[JOURNAL_HEADER_BYTES], message[JOURNAL_HEADER_BYTES + 64];
    ByteWriter header_writer = byte_writer(header, sizeof header);
    journal_write_header(&host->world, &header_writer);
    ASSERT(header_writer.status == STATUS_OK);
    open_journal(host, header, header_writer.at, all);
    const ChannelStart start = {.whole_bytes = host->built.whole_bytes,
                                .stripped_bytes = host->built.stripped_bytes,
                                .memory_bytes_max = memory,
                                .allow_weak_jail = host->config.allow_weak_jail,
                                .journal = host->journal.descriptor >= 0,
                                .header = header,
                                .header_bytes = header_writer.at};
    ByteWriter writer = byte_writer(message, sizeof message);
    channel_write_start(&start, &writer);
    ASSERT(writer.status == STATUS_OK);
    const BuildResult *built = &host->built;
    Status status = put_memory(host, CHANNEL_START, message, writer.at, built->whole,
                               built->whole_bytes, built->stripped, built->stripped_bytes);
    if (status == STATUS_OK) {
        status =
            put_memory(host, CHANNEL_MANIFEST, host->key.public_half, sizeof host->key.public_half,
                       manifests->server.data, manifests->server.bytes, NULL, 0);
    }
    if (status == STATUS_OK) {
        status = put_memory(host, CHANNEL_ENTRIES, NULL, 0, all->bytes, all->count, NULL, 0);
    }
    return status == STATUS_OK ? channel_put(&host->channel, CHANNEL_GO, NULL, 0, -1) : status;
}

static void watch_descriptor(Host *host, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    const int failed = epoll_ctl(host->epoll, EPOLL_CTL_ADD, descriptor, &event);
    ASSERT(failed == 0);
}

static Status start_process(Host *host)
{
    int ends[2];
    Status status = socket_pass_pair(ends);
    if (status != STATUS_OK) {
        return status;
    }
    const char *const arguments[] = {"sandlot", "world-process", NULL};
    const ProcessConfig config = {
        .arguments = arguments, .descriptors = {ends[1]}, .descriptor_count = 1};
    status = process_start(&config, &host->process);
    close(ends[1]);
    if (status != STATUS_OK) {
        close(ends[0]);
        return status;
    }
    host->running = true;
    host->started_ns = clock_ns();
    status = channel_open(&host->channel, ends[0], QUEUE_BYTES);
    if (status != STATUS_OK) {
        close(ends[0]);
        return status;
    }
    watch_descriptor(host, host->channel.end);
    if (host->process.pid_descriptor >= 0) {
        watch_descriptor(host, host->process.pid_descriptor);
    }
    return STATUS_OK;
}

static Status take_lease(Host *host)
{
    uint64_t epoch = 0;
    const Status status = store_lease_take(host->store, host->row.world_id, host->host_id,
                                           clock_unix_ms(), HOST_LEASE_MS, &epoch);
    if (status != STATUS_OK) {
        const StoreDisk disk = store_stats(host->store).disk;
        const char *why = disk != STORE_DISK_FINE ? store_disk_text(disk) : status_text(status);
        host_log(LOG_ERROR, "host", "the world cannot be taken: %s",
                 status == STATUS_EXISTS ? "another host runs it" : why);
        return status;
    }
    ASSERT(epoch > host->epoch); // saves and tickets of the life before count no more
    host->world.epoch = epoch;
    host->save_seq = 0;
    pthread_mutex_lock(&host->lock);
    host->epoch = epoch;
    host->lease_held = true;
    host->metrics.epoch = epoch;
    host->metrics.starts += 1;
    pthread_mutex_unlock(&host->lock);
    return STATUS_OK;
}

Status host_world_spawn(Host *host)
{
    ASSERT(!host->running);
    host->spawned = true;
    return start_process(host);
}

Status host_world_start(Host *host)
{
    ASSERT(host->running == host->spawned);
    host->incarnation += 1;
    host->was_ready = false;
    host->silent_ms = 0;
    host->looked_ns = clock_ns();
    host->failed[0] = '\0';
    Status status = take_lease(host);
    if (status != STATUS_OK) {
        return status;
    }
    entropy_fill(host->world.secret, sizeof host->world.secret);
    host->world.seed = entropy_u64();
    Beginning all;
    HostManifests manifests = {0};
    status = make_beginning(host, &all, &manifests);
    if (status == STATUS_OK && !host->spawned) {
        status = start_process(host);
    }
    host->spawned = false;
    if (status == STATUS_OK) {
        status = tell_beginning(host, &all, &manifests);
        host_world_flush(host);
    }
    host->manifest_version = status == STATUS_OK ? manifests.version : host->manifest_version;
    host_manifests_free(&manifests);
    free(all.bytes);
    if (status != STATUS_OK) {
        host_log(LOG_ERROR, "host", "the world process cannot be started: %s", status_text(status));
    }
    pthread_mutex_lock(&host->lock);
    host->pid = host->running ? host->process.pid : 0;
    pthread_mutex_unlock(&host->lock);
    return status;
}

// --- to the world -------------------------------------------------------------------------------

void host_world_flush(Host *host)
{
    if (host->running && host->channel.end >= 0) {
        status_ignore(channel_flush(&host->channel)); // the end of the process is seen elsewhere
    }
}

void host_world_send_entry(Host *host, const Entry *entry)
{
    static uint8_t bytes[CHANNEL_MESSAGE_BYTES]; // the main thread's
    if (!host->running || host->channel.end < 0) {
        return;
    }
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    entry_write(entry, &writer);
    ASSERT(writer.status == STATUS_OK);
    if (channel_put(&host->channel, CHANNEL_ENTRY, bytes, writer.at, -1) != STATUS_OK) {
        host_world_kill(host, "it does not read its channel");
    }
}

static bool pass_socket(Host *host, HostSocket *socket)
{
    // What HTTP keeps of a connection, and its query.
    uint8_t bytes[CHANNEL_CONNECT_BYTES + (40u << 10)];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_u8(&writer, socket->json);
    byte_write_u64(&writer, socket->address);
    byte_write_u64(&writer, socket->number);
    byte_write_bytes(&writer, socket->already, socket->bytes);
    return writer.status == STATUS_OK && channel_put(&host->channel, CHANNEL_CONNECT, bytes,
                                                     writer.at, socket->descriptor) == STATUS_OK;
}

// A client whose world has just died may be back before we have seen that end.
static bool is_listening(const Host *host)
{
    struct pollfd end = {.fd = host->channel.end, .events = POLLIN};
    return host->running && host->was_ready && host->channel.end >= 0 && poll(&end, 1, 0) >= 0 &&
           (end.revents & (POLLHUP | POLLERR)) == 0;
}

void host_world_pass_sockets(Host *host)
{
    if (!is_listening(host)) {
        return; // they wait
    }
    for (;;) {
        pthread_mutex_lock(&host->lock);
        const bool any = host->waiting_count > 0;
        HostSocket socket = {.descriptor = -1};
        if (any) {
            socket = host->waiting[0];
            host->waiting_count -= 1;
            memmove(host->waiting, host->waiting + 1, host->waiting_count * sizeof socket);
        }
        pthread_mutex_unlock(&host->lock);
        if (!any) {
            return;
        }
        const bool passed = pass_socket(host, &socket);
        if (passed) {
            http_socket_pass(host->http, socket.number, host->incarnation);
        } else {
            close(socket.descriptor);
            http_socket_over(host->http, socket.number, 0);
        }
        free(socket.already);
        pthread_mutex_lock(&host->lock);
        host->metrics.sockets_passed += passed;
        host->metrics.sockets_refused += !passed;
        pthread_mutex_unlock(&host->lock);
        // Descriptors on their way count against us: a few at a time.
        host_world_flush(host);
    }
}

// Those who came while nobody knew yet that there will be no world for a while.
void host_world_refuse_sockets(Host *host)
{
    static const char reason[] = "the world cannot start";
    uint8_t frame[WEBSOCKET_HEADER_MAX + 2 + sizeof reason];
    const size_t head = websocket_header(frame, WEBSOCKET_CLOSE, 2 + sizeof reason - 1, NULL);
    frame[head] = CLOSE_TRY_LATER >> 8;
    frame[head + 1] = CLOSE_TRY_LATER & 0xff;
    memcpy(frame + head + 2, reason, sizeof reason - 1);
    pthread_mutex_lock(&host->lock);
    for (uint32_t i = 0; i < host->waiting_count; i++) {
        const HostSocket *socket = &host->waiting[i];
        (void)!send(socket->descriptor, frame, head + 2 + sizeof reason - 1,
                    MSG_NOSIGNAL | MSG_DONTWAIT);
        close(socket->descriptor);
        http_socket_over(host->http, socket->number, 0);
        free(socket->already);
    }
    host->metrics.sockets_refused += host->waiting_count;
    host->waiting_count = 0;
    pthread_mutex_unlock(&host->lock);
}

// --- from the world -----------------------------------------------------------------------------

static void heard_ready(Host *host, const ChannelReport *report)
{
    host->was_ready = true;
    host->ever_ready = true;
    char jail[160], bounds[160];
    host_bounds_describe(&host->bounds, bounds, sizeof bounds);
    jail_layers_describe(report->layers, jail, sizeof jail);
    const bool is_weak = (report->layers & JAIL_LAYERS_ALL) != JAIL_LAYERS_ALL;
    host_log(is_weak ? LOG_WARN : LOG_INFO, "host",
             "the world runs: epoch %" PRIu64 ", manifest %u, jail: %s, %s", host->world.epoch,
             host->manifest_version, jail, bounds);
    pthread_mutex_lock(&host->lock);
    host->ready = true;
    host->metrics.ready = true;
    pthread_mutex_unlock(&host->lock);
    host_world_pass_sockets(host);
}

static uint32_t entry_flags(const Ticket *ticket)
{
    return ENTRY_OK | ((ticket->flags & TICKET_GUEST) != 0 ? ENTRY_GUEST : 0u) |
           ((ticket->flags & TICKET_OPERATOR) != 0 ? ENTRY_OPERATOR : 0u) |
           ((ticket->flags & TICKET_DEBUG) != 0 ? ENTRY_DEBUG : 0u);
}

static void heard_auth(Host *host, const ChannelReport *report)
{
    const TicketExpected expected = {.key = &host->key,
                                     .world_id = host->row.world_id,
                                     .epoch = host->world.epoch,
                                     .boot = host->boot,
                                     .development = host->development};
    Ticket ticket;
    const Status status = ticket_admit(&host->used_tickets, &expected, (const char *)report->bytes,
                                       report->byte_count, clock_unix_ms(), &ticket);
    Entry entry = {.type = ENTRY_AUTH, .connection = report->connection};
    if (status == STATUS_OK) {
        entry.flags = entry_flags(&ticket);
        entry.number = ticket.account;
        entry.name = ticket.name;
        entry.name_bytes = (uint32_t)strlen(ticket.name);
    }
    pthread_mutex_lock(&host->lock);
    host->metrics.tickets_admitted += status == STATUS_OK;
    host->metrics.tickets_refused += status != STATUS_OK;
    pthread_mutex_unlock(&host->lock);
    host_world_send_entry(host, &entry);
}

static void heard_log(Host *host, const ChannelReport *report)
{
    host->second_logs += 1;
    if (host->second_logs <= LOGS_PER_SECOND) {
        host_log(report->level, report->area, "tick %" PRIu64 ": %s", report->tick, report->text);
    }
}

static void heard_stats(Host *host, const ChannelReport *report)
{
    pthread_mutex_lock(&host->lock);
    host->metrics.world = report->stats;
    pthread_mutex_unlock(&host->lock);
}

static void heard_journal(Host *host, const ChannelReport *report)
{
    if (host->journal.descriptor < 0 || host->journal.ended) {
        return;
    }
    Status status = STATUS_OK;
    if (report->gap) {
        journal_file_end(&host->journal);
        status = STATUS_TRUNCATED;
    } else {
        status = journal_file_append(&host->journal, report->bytes, report->byte_count);
    }
    if (status != STATUS_OK) {
        host_log(LOG_WARN, "journal", "ends here, after %" PRIu64 " bytes: %s", host->journal.bytes,
                 status_text(status));
    }
}

static void heard_stop(Host *host, const ChannelReport *report)
{
    host_log(LOG_INFO, "host", "the world ends: %s", report->text);
    host->stop_heard = true;
    host->stop_quiet_ns = clock_ns() + SECOND_NS / 5;
    if (!host->stop_wanted) { // it wants to; only a refused save makes it
        host->stop_wanted = true;
        host->stop_told = true;
        host->stop_ns = clock_ns() + SECOND_NS;
        host->exit_code = 1;
    }
}

static void heard(Host *host, const ChannelReport *report)
{
    host->silent_ms = 0;
    switch (report->type) {
    case CHANNEL_READY:
        heard_ready(host, report);
        break;
    case CHANNEL_FAILED:
        memcpy(host->failed, report->text, sizeof host->failed);
        break;
    case CHANNEL_AUTH:
        heard_auth(host, report);
        break;
    case CHANNEL_SAVE:
        host_save_receive(host, report);
        break;
    case CHANNEL_STORE:
        host_request_receive(host, report);
        break;
    case CHANNEL_STOP:
        heard_stop(host, report);
        break;
    case CHANNEL_LOG:
        heard_log(host, report);
        break;
    case CHANNEL_STATS:
        heard_stats(host, report);
        break;
    case CHANNEL_JOURNAL:
        heard_journal(host, report);
        break;
    case CHANNEL_CLOSED:
        http_socket_over(host->http, report->socket, host->incarnation);
        break;
    default: // CHANNEL_BEAT
        break;
    }
}

// False when there is nothing more, or the world has been ended for what it said.
static bool receive_one(Host *host)
{
    ChannelMessage message;
    Status status = channel_take(&host->channel, &message);
    if (status == STATUS_NOT_FOUND) {
        return false;
    }
    if (status == STATUS_TRUNCATED) {
        (void)epoll_ctl(host->epoll, EPOLL_CTL_DEL, host->channel.end, NULL);
        return false; // its end follows
    }
    if (status == STATUS_OK && message.descriptor >= 0) {
        close(message.descriptor); // nothing that a world sends has one
        status = STATUS_MALFORMED;
    }
    static ChannelReport report; // large, and the main thread's
    if (status == STATUS_OK) {
        status = channel_read_report(message.type, message.bytes, message.count, &report);
    }
    if (status != STATUS_OK) {
        host_world_kill(host, "it sent an invalid message");
        return false;
    }
    host->second_messages += 1;
    host->second_bytes += message.count;
    if (host->second_messages > MESSAGES_PER_SECOND || host->second_bytes > BYTES_PER_SECOND) {
        host_world_kill(host, "it sent too many messages");
        return false;
    }
    heard(host, &report);
    return host->running && host->channel.end >= 0;
}

void host_world_receive(Host *host)
{
    for (uint32_t i = 0; i < MESSAGES_PER_ROUND && host->running && host->channel.end >= 0; i++) {
        if (!receive_one(host)) {
            break;
        }
    }
    host_world_flush(host);
}

// --- watching -----------------------------------------------------------------------------------

void host_world_watch(Host *host)
{
    const uint64_t now = clock_ns();
    const uint64_t passed_ms = (now - host->looked_ns) / 1000000u;
    host->looked_ns = now;
    if (now - host->second_ns >= SECOND_NS) {
        host->second_ns = now;
        host->second_messages = 0;
        host->second_bytes = 0;
        host->second_logs = 0;
    }
    if (!host->running) {
        return;
    }
    host->silent_ms += passed_ms < LOOK_MS_MAX ? (uint32_t)passed_ms : LOOK_MS_MAX;
    if (host->silent_ms > (host->was_ready ? STUCK_MS : STUCK_START_MS)) {
        host_world_kill(host, "it does not respond");
    }
}

void host_world_kill(Host *host, const char *why)
{
    if (!host->running) {
        return;
    }
    pthread_mutex_lock(&host->lock);
    host->ready = false;
    host->metrics.ready = false;
    host->metrics.kills += 1;
    pthread_mutex_unlock(&host->lock);
    host_log(LOG_ERROR, "host", "the world process is ended: %s", why);
    process_kill(&host->process, SIGKILL);
    host->silent_ms = 0;
    // Nothing more of it is heard; its end comes by the process descriptor.
    channel_close(&host->channel);
}

// How long the store may still take what the world sent; nothing beyond the time to stop.
static uint32_t drain_ms(const Host *host)
{
    const uint64_t now = clock_ns();
    const uint64_t left_ms = host->stop_ns > now ? (host->stop_ns - now) / 1000000u : 0;
    return host->stop_wanted && left_ms < DRAIN_MS ? (uint32_t)left_ms : DRAIN_MS;
}

void host_world_ended(Host *host, int code)
{
    // What it said before it ended counts, saves above all.
    while (host->channel.end >= 0 && receive_one(host)) {
    }
    host->running = false;
    host->was_ready = false;
    channel_close(&host->channel);
    journal_file_close(&host->journal);
    http_socket_over_all(host->http, host->incarnation);
    pthread_mutex_lock(&host->lock);
    host->ready = false;
    host->pid = 0;
    host->metrics.ready = false;
    host->metrics.world.sessions = 0;
    host->metrics.world.sockets = 0;
    pthread_mutex_unlock(&host->lock);
    host_save_drain(host, drain_ms(host));
    if (host->stop_wanted) {
        return;
    }
    if (host->failed[0] != '\0') {
        host_log(LOG_ERROR, "host", "%s", host->failed);
    } else if (code > 128) {
        host_log(LOG_ERROR, "host", "the world process ended by signal %d", code - 128);
    } else {
        host_log(LOG_ERROR, "host", "the world process ended with code %d", code);
    }
}
