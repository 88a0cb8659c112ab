// See link_process.h.
#define _GNU_SOURCE
#include "server/serve/link_process.h"

#include "core/base/check.h"
#include "core/world/journal.h"
#include "server/host/host_place.h"
#include "server/net/socket_pass.h"
#include "server/sys/clock.h"
#include "server/sys/file.h"
#include "server/sys/process.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define QUEUE_BYTES (16u << 20)

typedef struct ProcessLink {
    HostLink link; // first: a HostLink is one of these
    const LinkConfig *config;
    HostWorld *world;
    Process process;
    ProcessWaits waits;
    Channel channel;
    Journal *journal; // NULL: none
    char bounds[HOST_BOUNDS_NAME_BYTES];
    bool is_bound, is_ready, has_ended;
    int code;
} ProcessLink;

static ProcessLink *of(HostLink *link)
{
    return (ProcessLink *)link;
}

HostWorld *link_process_world(const HostLink *link)
{
    return ((const ProcessLink *)link)->world;
}

pid_t link_process_pid(const HostLink *link)
{
    return ((const ProcessLink *)link)->process.pid;
}

// --- how it begins ------------------------------------------------------------------------------

static Status put_memory(ProcessLink *link, ChannelType type, const void *message,
                         size_t message_bytes, const void *first, size_t first_bytes,
                         const void *second, size_t second_bytes)
{
    int memory = -1;
    Status status = file_memory("sandlot-world", first, first_bytes, second, second_bytes, &memory);
    if (status == STATUS_OK) {
        status = channel_put(&link->channel, type, message, message_bytes, memory);
        if (status != STATUS_OK) {
            close(memory);
        }
    }
    return status;
}

static void open_journal(ProcessLink *link, const HostBeginning *beginning)
{
    const LinkConfig *config = link->config;
    char path[4096];
    if (config->journals == NULL) {
        return;
    }
    const char *world = config->many ? host_world_view(link->world).row->world_id : "";
    const int bytes =
        snprintf(path, sizeof path, "%s%s%s", config->journal, config->many ? "/" : "", world);
    if (bytes > 0 && (size_t)bytes < sizeof path) {
        link->journal =
            journal_begin(config->journals, path, config->journal_bytes, beginning->header,
                          beginning->header_bytes, beginning->entries, beginning->entry_bytes);
    }
}

static bool bind_process(ProcessLink *link, uint64_t memory_bytes)
{
    const int host = (int)getpid();
    if (link->config->many) {
        snprintf(link->bounds, sizeof link->bounds, "world-%d-%d", host, (int)link->process.pid);
    } else {
        snprintf(link->bounds, sizeof link->bounds, "world-%d", host);
    }
    link->is_bound =
        host_bounds_apply(link->config->bounds, link->bounds, memory_bytes, link->process.pid);
    return link->is_bound;
}

static Status process_begin(HostLink *base, const HostBeginning *beginning)
{
    ProcessLink *link = of(base);
    const BuildResult *built = &beginning->place->built;
    if (!bind_process(link, beginning->memory_bytes_max)) {
        return STATUS_DENIED;
    }
    open_journal(link, beginning);
    const ChannelStart start = {.whole_bytes = built->whole_bytes,
                                .stripped_bytes = built->stripped_bytes,
                                .memory_bytes_max = beginning->memory_bytes_max,
                                .allow_weak_jail = link->config->allow_weak_jail,
                                .journal = link->journal != NULL,
                                .header = beginning->header,
                                .header_bytes = beginning->header_bytes};
    uint8_t message[JOURNAL_HEADER_BYTES + 64];
    ByteWriter writer = byte_writer(message, sizeof message);
    channel_write_start(&start, &writer);
    ASSERT(writer.status == STATUS_OK);
    Status status = put_memory(link, CHANNEL_START, message, writer.at, built->whole,
                               built->whole_bytes, built->stripped, built->stripped_bytes);
    if (status == STATUS_OK) {
        status = put_memory(link, CHANNEL_MANIFEST, beginning->public_key, 32, beginning->manifest,
                            beginning->manifest_bytes, NULL, 0);
    }
    if (status == STATUS_OK) {
        status = put_memory(link, CHANNEL_ENTRIES, NULL, 0, beginning->entries,
                            beginning->entry_bytes, NULL, 0);
    }
    return status == STATUS_OK ? channel_put(&link->channel, CHANNEL_GO, NULL, 0, -1) : status;
}

// --- the channel --------------------------------------------------------------------------------

static bool is_open(const ProcessLink *link)
{
    return link->channel.end >= 0;
}

static Status process_put(HostLink *base, ChannelType type, const void *bytes, size_t count,
                          int descriptor)
{
    ProcessLink *link = of(base);
    return is_open(link) ? channel_put(&link->channel, type, bytes, count, descriptor)
                         : STATUS_TRUNCATED;
}

static Status process_take(HostLink *base, ChannelMessage *out)
{
    ProcessLink *link = of(base);
    const Status status = is_open(link) ? channel_take(&link->channel, out) : STATUS_TRUNCATED;
    if (status == STATUS_OK && out->type == CHANNEL_READY && !link->is_ready) {
        link->is_ready = true;
        process_set_turns(link->process.pid, PROCESS_TURNS_SHORT); // its ticks begin in time
    }
    if (status == STATUS_TRUNCATED && is_open(link)) {
        (void)epoll_ctl(link->config->epoll, EPOLL_CTL_DEL, link->channel.end, NULL);
    }
    return status;
}

static void process_flush(HostLink *base)
{
    ProcessLink *link = of(base);
    if (is_open(link)) {
        status_ignore(channel_flush(&link->channel)); // the end of the process is seen elsewhere
    }
}

static bool process_listens(HostLink *base)
{
    ProcessLink *link = of(base);
    struct pollfd end = {.fd = link->channel.end, .events = POLLIN};
    return is_open(link) && poll(&end, 1, 0) >= 0 && (end.revents & (POLLHUP | POLLERR)) == 0;
}

static void process_describe(HostLink *base, char *out, size_t bytes)
{
    host_bounds_describe(of(base)->config->bounds, out, bytes);
}

static void process_journal(HostLink *base, const uint8_t *bytes, size_t count, bool gap)
{
    ProcessLink *link = of(base);
    if (link->journal != NULL) {
        journal_append(link->journal, bytes, count, gap);
    }
}

static void process_close(HostLink *base)
{
    ProcessLink *link = of(base);
    if (is_open(link)) {
        channel_close(&link->channel);
    }
}

// --- the process --------------------------------------------------------------------------------

static void process_kill_link(HostLink *base)
{
    ProcessLink *link = of(base);
    if (!link->has_ended) {
        process_kill(&link->process, SIGKILL);
    }
}

static uint64_t process_link_starved_ns(HostLink *base)
{
    ProcessLink *link = of(base);
    return process_starved_ns(&link->waits, link->process.pid, clock_ns());
}

static bool process_has_ended(HostLink *base, int *code)
{
    ProcessLink *link = of(base);
    if (!link->has_ended && process_ended(&link->process, &link->code)) {
        link->has_ended = true;
    }
    *code = link->code;
    return link->has_ended;
}

static void process_free(HostLink *base)
{
    ProcessLink *link = of(base);
    if (!link->has_ended) { // it was killed
        process_wait(&link->process, &link->code);
    }
    process_close(base);
    journal_close(link->journal);
    if (link->is_bound) {
        host_bounds_remove(link->config->bounds, link->bounds);
    }
    free(link);
}

static const HostLinkFace face = {.begin = process_begin,
                                  .put = process_put,
                                  .take = process_take,
                                  .flush = process_flush,
                                  .listens = process_listens,
                                  .describe = process_describe,
                                  .journal = process_journal,
                                  .close = process_close,
                                  .kill = process_kill_link,
                                  .starved_ns = process_link_starved_ns,
                                  .has_ended = process_has_ended,
                                  .free = process_free};

static void watch(ProcessLink *link, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &link->link};
    const int failed = epoll_ctl(link->config->epoll, EPOLL_CTL_ADD, descriptor, &event);
    ASSERT(failed == 0);
}

Status link_process_start(const LinkConfig *config, HostWorld *world, HostLink **out)
{
    int ends[2];
    ProcessLink *link = calloc(1, sizeof *link);
    Status status = link != NULL ? socket_pass_pair(ends) : STATUS_LIMIT;
    if (status != STATUS_OK) {
        free(link);
        return status;
    }
    *link = (ProcessLink){.link = {&face}, .config = config, .world = world};
    const char *const arguments[] = {"sandlot", "world-process", NULL};
    const ProcessConfig start = {
        .arguments = arguments, .descriptors = {ends[1]}, .descriptor_count = 1};
    status = process_start(&start, &link->process);
    close(ends[1]);
    if (status == STATUS_OK) {
        status = channel_open(&link->channel, ends[0], QUEUE_BYTES);
        if (status != STATUS_OK) {
            process_kill(&link->process, SIGKILL);
            process_wait(&link->process, &link->code);
        }
    }
    if (status != STATUS_OK) {
        close(ends[0]);
        free(link);
        return status;
    }
    // Until it is ready it computes for long, and nobody else's tick shall wait for that.
    process_set_turns(link->process.pid, PROCESS_TURNS_LONG);
    watch(link, link->channel.end);
    if (link->process.pid_descriptor >= 0) {
        watch(link, link->process.pid_descriptor);
    }
    *out = &link->link;
    return STATUS_OK;
}
