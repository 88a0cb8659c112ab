// Saves and DataStore requests on their way from a world to the store, and the answers back. A save
// is kept until it is on disk: when the disk refuses it is tried again, in order, while play goes
// on. What a world sends is bounded here, because the store is shared.
#include "server/host/host_inside.h"

#include "core/base/hash.h"

#include <inttypes.h>
#include <stdio.h>

#define AGAIN_NS (HOST_SECOND_NS / 2)
#define ROWS_MAX (256u << 10)

static void send_stored(HostWorld *world, uint64_t request, bool ok, const void *bytes,
                        size_t count)
{
    const Entry entry = {.type = ENTRY_STORED,
                         .flags = ok ? ENTRY_OK : 0,
                         .number = request,
                         .bytes = bytes,
                         .byte_count = count};
    hosted_send_entry(world, &entry);
}

// What a script is told of a request that the store did not take.
static void send_refusal(HostWorld *world, uint64_t request, Status status)
{
    char text[128];
    const StoreDisk disk = host_disk(world->host);
    if (status != STATUS_BLOCKED) {
        snprintf(text, sizeof text, "%s",
                 status == STATUS_LIMIT ? "the store is busy, try again" : status_text(status));
    } else if (disk == STORE_DISK_FINE) {
        snprintf(text, sizeof text, "the server's database did not take this; try again later");
    } else {
        snprintf(text, sizeof text, "nothing was stored on the server: %s", store_disk_text(disk));
    }
    send_stored(world, request, false, text, strlen(text));
}

static void fence(HostWorld *world)
{
    hosted_fence(world, "another host has taken this world");
}

// --- saves --------------------------------------------------------------------------------------

static uint32_t index_of(const HostSaves *saves, uint32_t number)
{
    ASSERT(number < HOST_SAVES_MAX);
    return (saves->first + number) % HOST_SAVES_MAX;
}

static void drop_first(HostSaves *saves)
{
    ASSERT(saves->count > 0);
    HostSave *save = &saves->all[saves->first];
    free(save->rows);
    *save = (HostSave){0};
    saves->first = (saves->first + 1) % HOST_SAVES_MAX;
    saves->count -= 1;
}

static void retry_later(HostWorld *world, HostSave *save)
{
    save->state = SAVE_AGAIN;
    if (world->saves.again_ns == 0) {
        world->saves.again_ns = host_now(world->host) + AGAIN_NS;
    }
}

static void note_disk(Host *host, bool refuses)
{
    if (refuses && !host->disk_refuses) {
        host_log(host, LOG_WARN, "store",
                 "the disk accepts no writes: %s. Play goes on, but nothing is stored; saving is "
                 "tried again twice a second",
                 store_disk_text(host_disk(host)));
    } else if (!refuses && host->disk_refuses) {
        host_log(host, LOG_INFO, "store", "the disk accepts writes again");
    }
    host->disk_refuses = refuses;
}

// Gives one to the store; false ends the world that sent it. Only the holder of the lease stores,
// and never a save that world_save_receive has not numbered.
static bool submit(HostWorld *world, uint32_t index)
{
    HostSave *save = &world->saves.all[index];
    ASSERT(world->has_lease && world->epoch > 0);
    ASSERT(save->seq > 0 && save->seq <= world->saves.seq && save->state == SAVE_AGAIN);
    const Status status =
        store_save(world->host->config.store, world->row.world_id, world->epoch, save->seq,
                   save->rows, save->bytes, host_tag(TAG_SAVE, world, index));
    if (status == STATUS_OK) {
        save->state = SAVE_SENT;
    } else if (status == STATUS_LIMIT || status == STATUS_BLOCKED) {
        retry_later(world, save);
    } else if (status == STATUS_DENIED) {
        fence(world);
    } else {
        return false;
    }
    return true;
}

void hosted_save_receive(HostWorld *world, const ChannelReport *report)
{
    HostSaves *saves = &world->saves;
    // The store refuses a number out of order too, but as the save of a host that lost its lease.
    if (saves->count == HOST_SAVES_MAX || report->byte_count > ROWS_MAX ||
        report->epoch != world->epoch || report->seq != saves->seq + 1) {
        hosted_kill(world, "it sent a save that is too large, out of order or one too many");
        return;
    }
    uint8_t *rows = malloc(report->byte_count + 1);
    if (rows == NULL) {
        hosted_kill(world, "there is not enough memory for its save");
        return;
    }
    memcpy(rows, report->bytes, report->byte_count);
    const size_t bytes = hosted_filter_profiles(world, rows, report->byte_count);
    const bool waits = saves->again_ns != 0; // in order: those before it are not in yet
    const uint32_t index = index_of(saves, saves->count++);
    saves->seq += 1;
    saves->submitted += 1;
    saves->all[index] = (HostSave){.state = SAVE_AGAIN,
                                   .request = report->request,
                                   .seq = report->seq,
                                   .rows = rows,
                                   .bytes = bytes};
    if (!waits && !world->fenced && !submit(world, index)) {
        hosted_kill(world, "it sent an invalid save");
    }
}

void hosted_save_retry(HostWorld *world)
{
    HostSaves *saves = &world->saves;
    if (saves->again_ns == 0 || host_now(world->host) < saves->again_ns || world->fenced) {
        return;
    }
    saves->again_ns = 0;
    for (uint32_t i = 0; i < saves->count && saves->again_ns == 0; i++) {
        const uint32_t index = index_of(saves, i);
        if (saves->all[index].state == SAVE_AGAIN && !submit(world, index)) {
            hosted_kill(world, "it sent an invalid save");
            return;
        }
    }
}

void hosted_save_answer(HostWorld *world, uint32_t index, const StoreCompletion *done)
{
    HostSaves *saves = &world->saves;
    if (index >= HOST_SAVES_MAX || saves->all[index].state != SAVE_SENT) {
        return; // forgotten since
    }
    HostSave *save = &saves->all[index];
    note_disk(world->host,
              done->status == STATUS_BLOCKED && host_disk(world->host) != STORE_DISK_FINE);
    if (done->status == STATUS_BLOCKED) {
        retry_later(world, save);
        return;
    }
    if (done->status == STATUS_DENIED) {
        fence(world);
    }
    const uint64_t request = save->request;
    save->state = SAVE_DONE;
    saves->completed += 1;
    // Answers come in order, so this is the first; a later one only when that was refused.
    while (saves->count > 0 && saves->all[saves->first].state == SAVE_DONE) {
        drop_first(saves);
    }
    send_stored(world, request, done->status == STATUS_OK, NULL, 0);
}

// --- requests -----------------------------------------------------------------------------------

static uint32_t free_request(HostSaves *saves)
{
    ASSERT(saves->request_count < HOST_REQUESTS_MAX);
    while (saves->requests[saves->request_next] != 0) {
        saves->request_next = (saves->request_next + 1) % HOST_REQUESTS_MAX;
    }
    return saves->request_next;
}

void hosted_request_receive(HostWorld *world, const ChannelReport *report)
{
    HostSaves *saves = &world->saves;
    if (saves->request_count == HOST_REQUESTS_MAX) {
        hosted_kill(world, "it has too many requests without an answer");
        return;
    }
    const uint32_t index = free_request(saves);
    const Status status =
        store_request(world->host->config.store, world->row.world_id, world->epoch, &report->store,
                      host_tag(TAG_REQUEST, world, index));
    if (status == STATUS_OK) {
        saves->requests[index] = report->request + 1;
        saves->request_count += 1;
        saves->submitted += 1;
    } else if (status == STATUS_DENIED) {
        fence(world);
    } else {
        send_refusal(world, report->request, status);
    }
}

// Each place once, and only the first few: a script may read it in a loop.
static void note_damaged(HostWorld *world, const StoreCompletion *done)
{
    Hash64 hash = HASH64_INIT;
    hash_bytes(&hash, done->bytes, done->byte_count);
    for (uint32_t i = 0; i < world->damaged_count; i++) {
        if (world->damaged[i] == hash.state) {
            return;
        }
    }
    if (world->damaged_count < HOST_DAMAGED_MAX) {
        world->damaged[world->damaged_count++] = hash.state;
        host_log(world->host, LOG_ERROR, "store", "%.*s", (int)done->byte_count,
                 (const char *)done->bytes);
    }
}

void hosted_request_answer(HostWorld *world, uint32_t index, const StoreCompletion *done)
{
    HostSaves *saves = &world->saves;
    if (index >= HOST_REQUESTS_MAX || saves->requests[index] == 0) {
        return; // forgotten since
    }
    const uint64_t request = saves->requests[index] - 1;
    saves->requests[index] = 0;
    saves->request_count -= 1;
    saves->completed += 1;
    if (done->damaged) {
        note_damaged(world, done);
    }
    if (done->status == STATUS_OK) {
        send_stored(world, request, done->ok, done->bytes, done->byte_count);
        return;
    }
    if (done->status == STATUS_BLOCKED && done->is_unknown) { // who tries again may do it twice
        static const char text[] = "it is not known whether this was stored: the server's database "
                                   "did not answer";
        send_stored(world, request, false, text, strlen(text));
        return;
    }
    if (done->status == STATUS_DENIED) {
        fence(world);
    }
    send_refusal(world, request, done->status);
}

// --- the end ------------------------------------------------------------------------------------

bool hosted_saves_wait(const HostWorld *world)
{
    return !world->fenced && (world->saves.count > 0 || world->saves.request_count > 0);
}

void hosted_saves_forget(HostWorld *world)
{
    Host *host = world->host;
    HostSaves *saves = &world->saves;
    if (hosted_saves_wait(world)) {
        const StoreDisk disk = host_disk(host);
        hosted_log(world, LOG_ERROR,
                   "lost, because not on disk: saves %u, DataStore requests %u%s%s", saves->count,
                   saves->request_count, disk != STORE_DISK_FINE ? "; " : "",
                   disk != STORE_DISK_FINE ? store_disk_text(disk) : "");
        host->counts.saves_lost += saves->count;
        host->counts.requests_lost += saves->request_count;
        host->failed = host->failed || host->stopping;
    }
    while (saves->count > 0) {
        drop_first(saves);
    }
    *saves = (HostSaves){.submitted = saves->submitted, .completed = saves->submitted};
}
