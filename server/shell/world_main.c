// The world process: what runs in it before its first tick. It is started with the channel as
// descriptor 3 and standard error, and nothing else. It maps the place, locks itself in, and only
// then looks at a byte that anybody else wrote: place, rows, scripts.
#define _GNU_SOURCE
#include "server/shell/world_main.h"

#include "core/base/check.h"
#include "core/world/journal.h"
#include "server/shell/rune_gate.h"
#include "server/shell/world_loop.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"
#include "server/sys/jail.h"

#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define CHANNEL_DESCRIPTOR 3
#define QUEUE_BYTES        (16u << 20) // address space; pages that are not used take no memory
#define START_MS           30000

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true // shadow memory takes terabytes of addresses; our heap is still limited
#else
#define SANITIZED false
#endif

typedef struct WorldProcess {
    Channel channel;
    WorldLoop loop;
    LogSink log;
    Heap heap;
    ChannelStart start;
    WorldConfig config;
    Place *place;
    const uint8_t *scene;
    RuneGate gate;
    bool gate_open;
    char reason[CHANNEL_REASON_BYTES]; // of an entry that was rejected before the first tick
    int epoll;
    uint8_t header[CHANNEL_PACKET_BYTES];
} WorldProcess;

static WorldProcess process;

// --- waiting for the host -----------------------------------------------------------------------

// Waits for the next message; before the first tick there is nothing else to do.
static Status wait_message(ChannelMessage *out)
{
    for (;;) {
        const Status status = channel_take(&process.channel, out);
        if (status != STATUS_NOT_FOUND) {
            return status;
        }
        struct pollfd end = {.fd = process.channel.end, .events = POLLIN};
        if (poll(&end, 1, START_MS) == 0) {
            return STATUS_TRUNCATED;
        }
    }
}

// Reports why it cannot start; the host reads this before it sees the end of the process.
static int report_failure(const char *what, const char *why)
{
    ChannelReport report = {.type = CHANNEL_FAILED};
    snprintf(report.text, sizeof report.text, "%.80s: %.140s", what, why);
    (void)world_loop_report(&process.loop, &report);
    status_ignore(channel_flush(&process.channel)); // nobody is left to report to
    return 1;
}

// --- the start ----------------------------------------------------------------------------------

static Status take_start(void)
{
    ChannelMessage message;
    Status status = wait_message(&message);
    if (status != STATUS_OK) {
        return status;
    }
    size_t bytes = 0;
    if (message.type != CHANNEL_START || message.descriptor < 0) {
        return STATUS_MALFORMED;
    }
    status = channel_read_start(message.bytes, message.count, &process.start);
    if (status == STATUS_OK && process.start.header_bytes <= sizeof process.header) {
        memcpy(process.header, process.start.header, process.start.header_bytes);
        process.start.header = process.header;
        status = file_map(message.descriptor, &process.scene, &bytes);
    }
    close(message.descriptor);
    if (status == STATUS_OK && process.start.whole_bytes + process.start.stripped_bytes != bytes) {
        status = STATUS_MALFORMED;
    }
    return status;
}

static Status lock_in(uint32_t *layers, char *reason, size_t bytes)
{
    JailConfig jail = jail_config_default();
    jail.allow_weak = process.start.allow_weak_jail;
    jail.memory_bytes_max = SANITIZED ? 0 : process.start.memory_bytes_max;
    return jail_enter(&jail, layers, reason, bytes);
}

// For people alone: what scripts cost by the clock.
static double script_clock_ms(void *user)
{
    (void)user;
    return (double)clock_ns() / 1e6;
}

static Status make_world(World **out)
{
    const uint8_t *scene = process.scene;
    Status status =
        place_load(&process.heap, scene, (size_t)process.start.whole_bytes, &process.place);
    if (status != STATUS_OK) {
        return status;
    }
    WorldConfig *config = &process.config;
    *config = world_config_default();
    config->place = process.place;
    config->stripped = scene + process.start.whole_bytes;
    config->stripped_bytes = (size_t)process.start.stripped_bytes;
    config->log = &process.log;
    config->script.clock_ms = script_clock_ms;
    ByteReader reader = byte_reader(process.start.header, process.start.header_bytes);
    status = journal_read_header(&reader, config);
    return status == STATUS_OK ? world_create(&process.heap, config, out) : status;
}

// --- what it begins with ------------------------------------------------------------------------

static Status start_refused(Status status, const char *why)
{
    snprintf(process.reason, sizeof process.reason, "%s", why);
    return status;
}

// Comes before everything it names. The key comes from the host, and no other key is accepted.
static Status take_manifest(const ChannelMessage *message)
{
    const uint8_t *bytes;
    size_t count;
    if (message->descriptor < 0 || message->count != SIGNING_PUBLIC_BYTES || process.gate_open) {
        return STATUS_MALFORMED;
    }
    Status status = file_map(message->descriptor, &bytes, &count);
    if (status == STATUS_OK) {
        status = rune_gate_open(&process.gate, message->bytes, bytes, count, process.reason,
                                sizeof process.reason);
    }
    process.gate_open = status == STATUS_OK;
    return status;
}

// A row that cannot be used is skipped; the world counts and logs it. A script that cannot be used
// is an error, because the place would not be the one that was built.
static Status enter_one(World *world, const Entry *entry)
{
    Status status = rune_gate_check(&process.gate, entry, process.reason, sizeof process.reason);
    if (status != STATUS_OK) {
        return status;
    }
    status = world_enter(world, entry);
    if (status == STATUS_OK || (entry->type != ENTRY_SCRIPT && entry->type != ENTRY_RELOAD)) {
        return STATUS_OK;
    }
    snprintf(process.reason, sizeof process.reason, "%.*s%s: %s", (int)entry->name_bytes,
             entry->name, entry->type == ENTRY_RELOAD ? "the clients' manifest" : "",
             status_text(status));
    return status;
}

// Stored rows, and scripts. The host has put the same bytes into the journal.
static Status enter_all(World *world, const ChannelMessage *message)
{
    const uint8_t *bytes;
    size_t count;
    if (message->descriptor < 0 || !process.gate_open) {
        return STATUS_MALFORMED;
    }
    Status status = file_map(message->descriptor, &bytes, &count);
    ByteReader reader = byte_reader(bytes, status == STATUS_OK ? count : 0);
    while (status == STATUS_OK && byte_reader_left(&reader) > 0) {
        Entry entry;
        status = entry_read(&reader, &entry);
        if (status == STATUS_OK) {
            status = enter_one(world, &entry);
        }
    }
    return status;
}

static Status take_one(World *world, const ChannelMessage *message)
{
    switch (message->type) {
    case CHANNEL_MANIFEST:
        return take_manifest(message);
    case CHANNEL_ENTRIES:
        return enter_all(world, message);
    default:
        return STATUS_MALFORMED;
    }
}

static Status take_beginning(World *world)
{
    for (;;) {
        ChannelMessage message;
        Status status = wait_message(&message);
        if (status != STATUS_OK) {
            return status;
        }
        if (message.type == CHANNEL_GO) {
            return process.gate_open
                       ? rune_gate_finish(&process.gate, process.reason, sizeof process.reason)
                       : start_refused(STATUS_DENIED, "there is no manifest");
        }
        status = take_one(world, &message);
        if (message.descriptor >= 0) {
            close(message.descriptor);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
}

static int run_world(void)
{
    Status status = take_start();
    if (status != STATUS_OK) {
        return report_failure("the host's first message is invalid", status_text(status));
    }
    process.heap = heap_make(process.start.memory_bytes_max);
    uint32_t layers = 0;
    char reason[CHANNEL_REASON_BYTES / 2];
    if (lock_in(&layers, reason, sizeof reason) != STATUS_OK) {
        return report_failure("not started", reason);
    }
    World *world = NULL;
    status = make_world(&world);
    if (status != STATUS_OK) {
        return report_failure("the world cannot be created", status_text(status));
    }
    process.loop.journal = process.start.journal;
    process.loop.heap = &process.heap;
    status = world_loop_open(&process.loop, world, process.place->tick_rate,
                             world_socket_max(process.config.player_max), process.epoll);
    if (status == STATUS_OK) {
        status = take_beginning(world);
    }
    if (status != STATUS_OK) {
        return report_failure("the world cannot start",
                              process.reason[0] != '\0' ? process.reason : status_text(status));
    }
    rune_gate_take(&process.gate);
    process.loop.gate = &process.gate;
    heap_freeze_live(&process.heap); // all it will ever need is there, for a reload too
    const ChannelReport ready = {.type = CHANNEL_READY, .layers = layers};
    (void)world_loop_report(&process.loop, &ready); // the queue contains only log lines
    world_loop_run(&process.loop);
    return 0;
}

int world_main(void)
{
    // Ctrl-C goes to every process of the terminal; the host decides when the world ends.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    process.epoll = epoll_create1(EPOLL_CLOEXEC); // the jail forbids creating one later
    process.log = (LogSink){.write = world_loop_log, .user = &process.loop, .level_min = LOG_INFO};
    if (process.epoll < 0 ||
        channel_open(&process.channel, CHANNEL_DESCRIPTOR, QUEUE_BYTES) != STATUS_OK ||
        world_loop_init(&process.loop, &process.channel) != STATUS_OK || sodium_init() < 0) {
        fprintf(stderr, "sandlot: a world process is started by a host, not by hand\n");
        return 1;
    }
    return run_world();
}
