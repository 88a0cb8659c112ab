// The edit process: it is started with the channel as descriptor 3 and standard error, and nothing
// else. It locks itself in, and only then looks at a byte that anybody else wrote.
#define _GNU_SOURCE
#include "server/shell/edit/edit_main.h"

#include "core/base/check.h"
#include "server/shell/edit/edit_process.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"
#include "server/sys/jail.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHANNEL_DESCRIPTOR 3
#define START_MS           30000
#define TURN_MS            100 // it looks around at least that often
#define CHECK_MS           1000
#define COUNTS_MS          2000
#define HEAP_PART          2 // of the address space: the rest is for queues and sockets
#define HEAP_BYTES         (1024ull << 20) // if there is no limit

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true // shadow memory takes terabytes of addresses; our heap is still limited
#else
#define SANITIZED false
#endif

static EditProcess process;

Status edit_put(EditProcess *self, EditLinkType type, const void *bytes, size_t count)
{
    return edit_link_put(&self->channel, type, bytes, count, -1);
}

void edit_end(EditProcess *self, const char *what)
{
    fprintf(stderr, "sandlot: an edit process ends: %s\n", what);
    status_ignore(channel_flush(&self->channel)); // nobody is left to tell
    _exit(1);
}

// --- from the host ------------------------------------------------------------------------------

static void take_written(const EditLinkMessage *message)
{
    ByteReader reader = byte_reader(message->bytes, message->count);
    const Status status = (Status)byte_read_u8(&reader);
    size_t path_bytes = 0, reason_bytes = 0;
    const uint8_t *path = edit_read_block(&reader, &path_bytes);
    const uint8_t *reason = edit_read_block(&reader, &reason_bytes);
    char text[CHANNEL_REASON_BYTES];
    snprintf(text, sizeof text, "%.*s", (int)reason_bytes,
             reason != NULL ? (const char *)reason : "");
    edit_file_written(&process, status, (Text){path != NULL ? (const char *)path : "", path_bytes},
                      text, &reader);
}

static void take_disk(int descriptor)
{
    const uint8_t *bytes = NULL;
    size_t count = 0;
    if (descriptor >= 0 && file_map(descriptor, &bytes, &count) == STATUS_OK) {
        edit_file_disk(&process, bytes, count);
        (void)munmap((void *)(uintptr_t)bytes, count);
    }
}

static void take_message(EditLinkMessage *message)
{
    ByteReader reader = byte_reader(message->bytes, message->count);
    EditAdmit admit;
    uint64_t connection;
    switch (message->type) {
    case EDIT_LINK_SOCKET:
        if (message->descriptor >= 0 && message->count >= sizeof(uint64_t)) {
            edit_people_add(&process, message->descriptor, message->bytes, message->count);
            message->descriptor = -1;
        }
        break;
    case EDIT_LINK_ADMIT:
        if (edit_admit_read(message->bytes, message->count, &admit) == STATUS_OK) {
            edit_people_admit(&process, &admit);
        }
        break;
    case EDIT_LINK_EXPEL:
        connection = byte_read_u64(&reader);
        edit_people_expel(&process, connection, (EditExpelReason)byte_read_u8(&reader));
        break;
    case EDIT_LINK_STORED:
        edit_order_stored(&process, (Status)byte_read_u8(&reader));
        break;
    case EDIT_LINK_WRITTEN:
        take_written(message);
        break;
    case EDIT_LINK_DISK:
        take_disk(message->descriptor);
        break;
    case EDIT_LINK_HOLD:
        edit_file_hold(&process, byte_read_u64(&reader));
        break;
    case EDIT_LINK_RELEASE:
        edit_file_release(&process, byte_read_u64(&reader));
        break;
    case EDIT_LINK_BLOB: {
        const uint8_t *hash = byte_read_bytes(&reader, SHA256_BYTES);
        if (hash != NULL) {
            edit_order_blob(&process, hash, byte_read_bool(&reader));
        }
        break;
    }
    case EDIT_LINK_CLIP: {
        const uint8_t *hash = byte_read_bytes(&reader, SHA256_BYTES);
        if (hash != NULL) {
            const bool is_there = byte_read_bool(&reader);
            const size_t bytes = byte_reader_left(&reader);
            edit_order_clip(&process, hash, is_there, byte_read_bytes(&reader, bytes), bytes);
        }
        break;
    }
    default:
        break;
    }
    if (message->descriptor >= 0) {
        close(message->descriptor);
    }
}

// False when the host is gone.
static bool hear_host(void)
{
    for (;;) {
        EditLinkMessage message;
        const Status status = edit_link_take(&process.channel, &process.reader, &message);
        if (status == STATUS_NOT_FOUND) {
            return true;
        }
        if (status != STATUS_OK) {
            return false;
        }
        take_message(&message);
    }
}

// --- the loop -----------------------------------------------------------------------------------

// Also the sign of life that the host waits for.
static void tell_counts(void)
{
    if (process.now_ms - process.counts_ms >= COUNTS_MS) {
        process.counts_ms = process.now_ms;
        edit_report(&process, &(EditReport){.type = EDIT_LINK_COUNTS, .counts = process.counts});
    }
}

static void run_loop(void)
{
    uint64_t checked_ms = 0;
    for (;;) {
        struct pollfd ends[2] = {{.fd = process.channel.end, .events = POLLIN},
                                 {.fd = process.epoll, .events = POLLIN}};
        if (channel_free(&process.channel) < process.channel.out_capacity) {
            ends[0].events |= POLLOUT;
        }
        (void)poll(ends, 2, TURN_MS);
        process.now_ms = clock_ns() / 1000000;
        if (!hear_host()) {
            return;
        }
        sockets_drain(process.sockets, process.now_ms);
        edit_turn(&process);
        tell_counts();
        edit_people_flush(&process);
        if (process.now_ms - checked_ms >= CHECK_MS) {
            checked_ms = process.now_ms;
            sockets_check(process.sockets, 0, 1, process.now_ms);
        }
        if (channel_flush(&process.channel) == STATUS_TRUNCATED) {
            return;
        }
    }
}

// --- the start ----------------------------------------------------------------------------------

static Status wait_message(EditLinkMessage *out)
{
    for (;;) {
        const Status status = edit_link_take(&process.channel, &process.reader, out);
        if (status != STATUS_NOT_FOUND) {
            return status;
        }
        struct pollfd end = {.fd = process.channel.end, .events = POLLIN};
        if (poll(&end, 1, START_MS) == 0) {
            return STATUS_TRUNCATED;
        }
    }
}

static int report_failure(const EditReport *report)
{
    edit_report(&process, report);
    for (uint32_t i = 0; i < 100 && channel_flush(&process.channel) == STATUS_LIMIT; i++) {
        struct pollfd end = {.fd = process.channel.end, .events = POLLOUT};
        (void)poll(&end, 1, TURN_MS);
    }
    return 1;
}

static int run_edit(void)
{
    EditLinkMessage message;
    EditStart start;
    const uint8_t *bytes = NULL;
    size_t count = 0;
    if (wait_message(&message) != STATUS_OK || message.type != EDIT_LINK_BEGIN ||
        message.descriptor < 0 ||
        edit_start_read(message.bytes, message.count, &start) != STATUS_OK ||
        file_map(message.descriptor, &bytes, &count) != STATUS_OK) {
        edit_end(&process, "the host's first message is invalid");
    }
    close(message.descriptor);
    const uint64_t memory = start.memory_bytes_max;
    process.heap = heap_make(memory > 0 ? memory / HEAP_PART : HEAP_BYTES);
    JailConfig jail = jail_config_default();
    jail.allow_weak = start.allow_weak_jail;
    jail.memory_bytes_max = SANITIZED ? 0 : memory;
    EditReport report = {.type = EDIT_LINK_FAILED};
    uint32_t layers = 0;
    if (jail_enter(&jail, &layers, report.text, sizeof report.text) != STATUS_OK) {
        return report_failure(&report);
    }
    process.now_ms = clock_ns() / 1000000;
    if (edit_people_open(&process) != STATUS_OK ||
        edit_open(&process, bytes, count, &report) != STATUS_OK) {
        return report_failure(&report);
    }
    (void)munmap((void *)(uintptr_t)bytes, count);
    edit_report(&process, &(EditReport){.type = EDIT_LINK_READY, .layers = layers});
    run_loop();
    return 0;
}

int edit_main(void)
{
    // Ctrl-C goes to every process of the terminal; the host decides when this one ends.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    process.epoll = epoll_create1(EPOLL_CLOEXEC); // the jail forbids creating one later
    if (process.epoll < 0 ||
        channel_open(&process.channel, CHANNEL_DESCRIPTOR, EDIT_LINK_QUEUE) != STATUS_OK) {
        fprintf(stderr, "sandlot: an edit process is started by a host, not by hand\n");
        return 1;
    }
    return run_edit();
}
