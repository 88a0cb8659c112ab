// Saves and DataStore requests on their way from the world to the store, and the answers back. A
// save is kept until it is on disk: when the disk refuses it is tried again, in order, while play
// goes on. What a world sends is bounded here, because the store is shared.
#define _GNU_SOURCE
#include "server/host/host_inside.h"

#include "core/base/check.h"
#include "core/base/hash.h"
#include "server/sys/clock.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_NS      500000000ull
#define TAG_STORE     (1ull << 47)
#define TAG_INCARNATE 48
#define ROWS_MAX      (256u << 10)

// --- tags: which world process asked, what, and its number --------------------------------------

static uint64_t tag_of(const Host *host, bool is_store, uint64_t request)
{
    ASSERT(request <= CHANNEL_REQUEST_MAX);
    return (uint64_t)host->incarnation << TAG_INCARNATE | (is_store ? TAG_STORE : 0) | request;
}

static void send_stored(Host *host, uint64_t request, bool ok, const void *bytes, size_t count)
{
    const Entry entry = {.type = ENTRY_STORED,
                         .flags = ok ? ENTRY_OK : 0,
                         .number = request,
                         .bytes = bytes,
                         .byte_count = count};
    host_world_send_entry(host, &entry);
}

static void send_store_error(Host *host, uint64_t request, const char *text)
{
    send_stored(host, request, false, text, strlen(text));
}

// What a script is told of a request that the store did not take.
static void send_store_refusal(Host *host, uint64_t request, Status status)
{
    char text[128];
    const StoreDisk disk = store_stats(host->store).disk;
    if (status != STATUS_BLOCKED) {
        snprintf(text, sizeof text, "%s",
                 status == STATUS_LIMIT ? "the store is busy, try again" : status_text(status));
    } else if (disk == STORE_DISK_FINE) {
        snprintf(text, sizeof text, "the server's database did not take this; try again later");
    } else {
        snprintf(text, sizeof text, "nothing was stored on the server: %s", store_disk_text(disk));
    }
    send_store_error(host, request, text);
}

static void stop_fenced(Host *host)
{
    if (!host->fenced) {
        host->fenced = true;
        host_log(LOG_ERROR, "host", "another host has taken this world; it stops here");
    }
}

// --- saves --------------------------------------------------------------------------------------

static HostSave *save_at(Host *host, uint32_t number)
{
    ASSERT(number < HOST_SAVES_MAX);
    return &host->saves[(host->save_first + number) % HOST_SAVES_MAX];
}

static void drop_first(Host *host)
{
    ASSERT(host->save_count > 0);
    HostSave *save = save_at(host, 0);
    free(save->rows);
    *save = (HostSave){0};
    host->save_first = (host->save_first + 1) % HOST_SAVES_MAX;
    host->save_count -= 1;
}

static void forget_saves(Host *host)
{
    while (host->save_count > 0) {
        drop_first(host);
    }
    host->save_again_ns = 0;
}

static void retry_later(Host *host, HostSave *save)
{
    save->state = SAVE_AGAIN;
    if (host->save_again_ns == 0) {
        host->save_again_ns = clock_ns() + AGAIN_NS;
    }
}

static void note_disk(Host *host, bool refuses)
{
    if (refuses && !host->disk_refuses) {
        host_log(LOG_WARN, "store",
                 "the disk accepts no writes: %s. Play goes on, but nothing is stored; saving is "
                 "tried again twice a second",
                 store_disk_text(store_stats(host->store).disk));
    } else if (!refuses && host->disk_refuses) {
        host_log(LOG_INFO, "store", "the disk accepts writes again");
    }
    host->disk_refuses = refuses;
}

// Gives one to the store; false ends the world that sent it. Only the holder of the lease stores,
// and never a save that host_save_receive has not numbered.
static bool submit_save(Host *host, HostSave *save)
{
    ASSERT(host->lease_held && host->world.epoch > 0);
    ASSERT(save->seq > 0 && save->seq <= host->save_seq && save->state != SAVE_FREE);
    const Status status = store_save(host->store, host->row.world_id, host->world.epoch, save->seq,
                                     save->rows, save->bytes, tag_of(host, false, save->request));
    if (status == STATUS_OK) {
        save->state = SAVE_SENT;
    } else if (status == STATUS_LIMIT || status == STATUS_BLOCKED) {
        retry_later(host, save);
    } else if (status == STATUS_DENIED) {
        stop_fenced(host);
    } else {
        return false;
    }
    return true;
}

void host_save_receive(Host *host, const ChannelReport *report)
{
    // The store refuses a number out of order too, but as the save of a host that lost its lease.
    if (host->save_count == HOST_SAVES_MAX || report->byte_count > ROWS_MAX ||
        report->epoch != host->world.epoch || report->seq != host->save_seq + 1) {
        host_world_kill(host, "it sent a save that is too large, out of order or one too many");
        return;
    }
    uint8_t *rows = malloc(report->byte_count + 1);
    if (rows == NULL) {
        host_world_kill(host, "there is not enough memory for its save");
        return;
    }
    memcpy(rows, report->bytes, report->byte_count);
    const bool waits = host->save_again_ns != 0; // in order: those before it are not in yet
    host->save_seq += 1;
    HostSave *save = save_at(host, host->save_count++);
    *save = (HostSave){.state = SAVE_AGAIN,
                       .request = report->request,
                       .seq = report->seq,
                       .rows = rows,
                       .bytes = report->byte_count};
    if (!waits && !submit_save(host, save)) {
        host_world_kill(host, "it sent an invalid save");
    }
}

void host_save_retry(Host *host)
{
    if (host->save_again_ns == 0 || clock_ns() < host->save_again_ns) {
        return;
    }
    host->save_again_ns = 0;
    for (uint32_t i = 0; i < host->save_count && host->save_again_ns == 0; i++) {
        HostSave *save = save_at(host, i);
        if (save->state == SAVE_AGAIN && !submit_save(host, save)) {
            host_world_kill(host, "it sent an invalid save");
            return;
        }
    }
}

static void save_completed(Host *host, uint64_t request, Status status)
{
    uint32_t number = 0;
    while (number < host->save_count && (save_at(host, number)->request != request ||
                                         save_at(host, number)->state != SAVE_SENT)) {
        number += 1;
    }
    if (number == host->save_count) {
        return;
    }
    HostSave *save = save_at(host, number);
    note_disk(host, status == STATUS_BLOCKED);
    if (status == STATUS_BLOCKED) {
        retry_later(host, save);
        return;
    }
    if (status == STATUS_DENIED) {
        stop_fenced(host);
    }
    // Completions come in order, so this is the first; a later one only when that was refused.
    save->request = UINT64_MAX;
    while (host->save_count > 0 && save_at(host, 0)->request == UINT64_MAX) {
        drop_first(host);
    }
    send_stored(host, request, status == STATUS_OK, NULL, 0);
}

// --- requests -----------------------------------------------------------------------------------

void host_request_receive(Host *host, const ChannelReport *report)
{
    if (host->request_count == HOST_REQUESTS_MAX) {
        host_world_kill(host, "it has too many requests without an answer");
        return;
    }
    const Status status = store_request(host->store, host->row.world_id, host->world.epoch,
                                        &report->store, tag_of(host, true, report->request));
    if (status == STATUS_OK) {
        host->request_count += 1;
    } else if (status == STATUS_DENIED) {
        stop_fenced(host);
    } else {
        send_store_refusal(host, report->request, status);
    }
}

// Each place once, and only the first few: a script may read it in a loop.
static void note_damaged(Host *host, const StoreCompletion *done)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, done->bytes, done->byte_count);
    for (uint32_t i = 0; i < host->damaged_count; i++) {
        if (host->damaged[i] == hash.state) {
            return;
        }
    }
    if (host->damaged_count < HOST_DAMAGED_MAX) {
        host->damaged[host->damaged_count++] = hash.state;
        host_log(LOG_ERROR, "store", "%.*s", (int)done->byte_count, (const char *)done->bytes);
    }
}

static void request_completed(Host *host, uint64_t request, const StoreCompletion *done)
{
    if (done->damaged) {
        note_damaged(host, done);
    }
    host->request_count -= host->request_count > 0;
    if (done->status == STATUS_OK) {
        send_stored(host, request, done->ok, done->bytes, done->byte_count);
    } else {
        if (done->status == STATUS_DENIED) {
            stop_fenced(host);
        }
        send_store_refusal(host, request, done->status);
    }
}

// --- answers ------------------------------------------------------------------------------------

void host_store_poll(Host *host)
{
    StoreCompletion done;
    while (store_poll(host->store, &done)) {
        if (done.type != STORE_SAVED && done.type != STORE_REQUESTED) {
            host_lease_completed(host, &done);
            continue;
        }
        if (done.tag >> TAG_INCARNATE != host->incarnation) {
            continue; // of a process that is gone
        }
        const uint64_t request = done.tag & (TAG_STORE - 1);
        if ((done.tag & TAG_STORE) != 0) {
            request_completed(host, request, &done);
        } else {
            save_completed(host, request, done.status);
        }
    }
}

void host_save_drain(Host *host, uint32_t timeout_ms)
{
    const uint64_t until = clock_ns() + (uint64_t)timeout_ms * 1000000u;
    host_store_poll(host);
    while ((host->save_count > 0 || host->request_count > 0) && !host->fenced &&
           clock_ns() < until) {
        struct pollfd answers = {.fd = store_descriptor(host->store), .events = POLLIN};
        (void)poll(&answers, 1, 20);
        host_store_poll(host);
        host_save_retry(host);
    }
    if ((host->save_count > 0 || host->request_count > 0) && !host->fenced) {
        const StoreDisk disk = store_stats(host->store).disk;
        host_log(LOG_ERROR, "host",
                 "lost, because not on disk: saves %u, DataStore requests %u%s%s", host->save_count,
                 host->request_count, disk != STORE_DISK_FINE ? "; " : "",
                 disk != STORE_DISK_FINE ? store_disk_text(disk) : "");
        host->exit_code = host->stop_wanted ? 1 : host->exit_code;
    }
    forget_saves(host);
    host->request_count = 0;
}
