// A world process of the harness, with its link to the host. As a stub it keeps a number for each
// of a few accounts, stores them now and then as rows, and knows what it was told is stored; real
// worlds (real_world.c) use the same link.
#define _GNU_SOURCE
#include "tests/scenario/host/hosts.h"

#include "core/base/check.h"
#include "core/script/bridge/store_answer.h"
#include "core/world/journal.h"
#include "core/world/save/row.h"

#include <stdlib.h>
#include <string.h>

// --- queues -------------------------------------------------------------------------------------

static bool queue_put(Hosts *hosts, StubQueue *queue, ChannelType type, const void *bytes,
                      size_t count, int descriptor)
{
    if (queue->count == QUEUE_MAX) {
        return false;
    }
    uint64_t due = hosts->now_us + rng_below(&hosts->rng, 20000);
    if (queue->count > 0) {
        const StubMessage *last = &queue->all[(queue->first + queue->count - 1) % QUEUE_MAX];
        due = due < last->due_us ? last->due_us : due;
    }
    StubMessage *message = &queue->all[(queue->first + queue->count++) % QUEUE_MAX];
    *message = (StubMessage){.due_us = due, .type = type, .count = count, .descriptor = descriptor};
    message->bytes = malloc(count + 1);
    ASSERT(message->bytes != NULL);
    if (count > 0) {
        memcpy(message->bytes, bytes, count);
    }
    return true;
}

static bool queue_take(const Hosts *hosts, StubQueue *queue, StubMessage *out)
{
    if (queue->count == 0 || queue->all[queue->first].due_us > hosts->now_us) {
        return false;
    }
    *out = queue->all[queue->first];
    queue->first = (queue->first + 1) % QUEUE_MAX;
    queue->count -= 1;
    return true;
}

static void queue_clear(StubQueue *queue)
{
    while (queue->count > 0) {
        free(queue->all[queue->first].bytes);
        queue->first = (queue->first + 1) % QUEUE_MAX;
        queue->count -= 1;
    }
}

bool stub_report(StubProcess *process, const ChannelReport *report)
{
    static uint8_t bytes[CHANNEL_MESSAGE_BYTES];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    channel_write_report(report, &writer);
    ASSERT(writer.status == STATUS_OK);
    return !process->is_closed &&
           queue_put(process->hosts, &process->out, report->type, bytes, writer.at, -1);
}

uint32_t stub_report_room(const StubProcess *process)
{
    return QUEUE_MAX - process->out.count;
}

bool stub_hear(StubProcess *process, StubMessage *out)
{
    while (queue_take(process->hosts, &process->in, out)) {
        if (out->type != CHANNEL_UNTIL) {
            return true;
        }
        ByteReader reader = byte_reader(out->bytes, out->count);
        process->until_ns = byte_read_u64(&reader);
        free(out->bytes);
    }
    return false;
}

// What does not fit is lost.
static void report(StubProcess *process, const ChannelReport *report)
{
    (void)stub_report(process, report);
}

// --- what it stores -----------------------------------------------------------------------------

static void save(StubProcess *process)
{
    if (process->save_count >= 8) {
        return;
    }
    const uint32_t account = rng_below(&process->hosts->rng, ACCOUNTS_MAX);
    const uint64_t value = ++process->next_value;
    process->values[account] = value;
    uint8_t rows[256];
    ByteWriter writer = byte_writer(rows, sizeof rows);
    // The value stands in the number of the player, the life in the net id of its body.
    const RowPlayer player = {.account = account + 1,
                              .player = value,
                              .entity = process->epoch,
                              .health = 100,
                              .name = {"stub", 4}};
    row_put_player(&player, &writer);
    ASSERT(writer.status == STATUS_OK);
    process->seq += 1;
    process->request += 1;
    process->saves[process->save_count++] =
        (StubSave){.request = process->request, .value = value, .account = account};
    report(process, &(ChannelReport){.type = CHANNEL_SAVE,
                                     .request = process->request,
                                     .epoch = process->epoch,
                                     .seq = process->seq,
                                     .bytes = rows,
                                     .byte_count = writer.at});
}

static void stored(StubProcess *process, uint64_t request, bool ok)
{
    Hosts *hosts = process->hosts;
    SimWorld *world = &hosts->worlds[process->world];
    for (uint32_t i = 0; i < process->save_count; i++) {
        const StubSave save = process->saves[i];
        if (save.request != request) {
            continue;
        }
        process->saves[i] = process->saves[--process->save_count];
        if (!ok) {
            return;
        }
        hosts->saves_acknowledged += 1;
        process->stored_us = hosts->now_us;
        if (world->epoch_begun > process->epoch) {
            // It may have been stored before the next life was made from it.
            if (world->acknowledged[save.account] < save.value &&
                process->values[save.account] == save.value) {
                hosts_fail(hosts,
                           "world %u: life %llu was told that %llu is stored, but life %llu "
                           "has begun without it",
                           process->world, (unsigned long long)process->epoch,
                           (unsigned long long)save.value, (unsigned long long)world->epoch_begun);
            }
            return;
        }
        if (world->acknowledged[save.account] < save.value) {
            world->acknowledged[save.account] = save.value;
        }
        return;
    }
}

// --- what it adds to a DataStore ----------------------------------------------------------------

static void add(StubProcess *process)
{
    SimWorld *world = &process->hosts->worlds[process->world];
    if (process->add_request != 0 || world->adds + 1 >= COUNTS_MAX) {
        return;
    }
    process->request += 1;
    const StoreRequest request = {.operation = STORE_INCREMENT,
                                  .store = {"stub", 4},
                                  .key = {world->row.world_id, strlen(world->row.world_id)},
                                  .number = 1};
    if (stub_report(process, &(ChannelReport){.type = CHANNEL_STORE,
                                              .request = process->request,
                                              .store = request})) {
        world->adds += 1;
        process->add_request = process->request;
        process->add_highest = world->count_highest;
    }
}

// Each number is given once and is above those that were given before; and none is above what was
// added, without what a life was told is not stored.
static void added(StubProcess *process, const Entry *answer)
{
    Hosts *hosts = process->hosts;
    SimWorld *world = &hosts->worlds[process->world];
    process->add_request = 0;
    if ((answer->flags & ENTRY_OK) == 0) {
        const bool is_unknown =
            memmem(answer->bytes, answer->byte_count, "not known", strlen("not known")) != NULL;
        world->adds_refused += !is_unknown;
        hosts->adds_refused += !is_unknown;
        hosts->adds_unknown += is_unknown;
        return;
    }
    int64_t number = 0;
    if (answer->byte_count < 3 || answer->bytes[0] != STORE_TAG_LIST ||
        !store_answer_read_integer(answer->bytes + 2, answer->byte_count - 2, &number) ||
        number <= 0 || number >= COUNTS_MAX) {
        hosts_fail(hosts, "world %u: a DataStore answers an increment with nonsense",
                   process->world);
        return;
    }
    const uint64_t most = world->adds - world->adds_refused, count = (uint64_t)number;
    if (count <= process->add_highest || world->counts_given[count] != 0 || count > most) {
        hosts_fail(hosts, "world %u: a DataStore gives %llu; %llu was given before, and %llu added",
                   process->world, (unsigned long long)count,
                   (unsigned long long)process->add_highest, (unsigned long long)most);
    }
    world->counts_given[count] = 1;
    world->count_highest = count > world->count_highest ? count : world->count_highest;
    hosts->adds += 1;
}

// --- how it begins ------------------------------------------------------------------------------

static void take_row(StubProcess *process, const Entry *entry)
{
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    Row row;
    RowPlayer player;
    if (row_read(&reader, &row) != STATUS_OK || row_player(&row, &player) != STATUS_OK) {
        return;
    }
    if (player.account == 0 || player.account > ACCOUNTS_MAX || player.entity >= process->epoch) {
        hosts_fail(process->hosts, "world %u begins life %llu with a row of life %llu",
                   process->world, (unsigned long long)process->epoch,
                   (unsigned long long)player.entity);
        return;
    }
    process->values[player.account - 1] = player.player;
}

// What a stub begins with, and whether that is all that it was told is stored.
static void take_rows(StubProcess *process, const HostBeginning *beginning)
{
    Hosts *hosts = process->hosts;
    SimWorld *world = &hosts->worlds[process->world];
    ByteReader reader = byte_reader(beginning->entries, beginning->entry_bytes);
    while (byte_reader_left(&reader) > 0) {
        Entry entry;
        if (entry_read(&reader, &entry) != STATUS_OK) {
            hosts_fail(hosts, "an entry cannot be read");
            break;
        }
        if (entry.type == ENTRY_ROW) {
            take_row(process, &entry);
        }
        set_begin(process, &entry);
    }
    for (uint32_t i = 0; i < ACCOUNTS_MAX; i++) {
        if (process->values[i] < world->acknowledged[i]) {
            hosts_fail(hosts, "world %u, life %llu: %llu was stored, and is %llu now",
                       process->world, (unsigned long long)process->epoch,
                       (unsigned long long)world->acknowledged[i],
                       (unsigned long long)process->values[i]);
        }
        if (process->values[i] > process->next_value) {
            process->next_value = process->values[i];
        }
        // What the next life is made from counts as stored, whoever was told.
        world->acknowledged[i] = process->values[i];
    }
}

static Status stub_begin(HostLink *link, const HostBeginning *beginning)
{
    StubProcess *process = (StubProcess *)link;
    Hosts *hosts = process->hosts;
    SimWorld *world = &hosts->worlds[process->world];
    WorldConfig config = world_config_default();
    config.stripped = beginning->place->built.stripped;
    config.stripped_bytes = beginning->place->built.stripped_bytes;
    ByteReader header = byte_reader(beginning->header, beginning->header_bytes);
    if (journal_read_header(&header, &config) != STATUS_OK) {
        hosts_fail(hosts, "the header cannot be read");
        return STATUS_OK;
    }
    process->epoch = config.epoch;
    if (config.epoch <= world->epoch_begun) {
        hosts_fail(hosts, "world %u: epoch %llu begins after %llu", process->world,
                   (unsigned long long)config.epoch, (unsigned long long)world->epoch_begun);
    }
    if (hosts->real_place != NULL) {
        real_begin(process, beginning, &config);
    } else {
        take_rows(process, beginning);
    }
    world->epoch_begun = config.epoch;
    hosts->begun += 1;
    process->has_begun = true;
    process->ready_us = hosts->now_us + 2000 + rng_below(&hosts->rng, 100000);
    if (!hosts->calm && rng_below(&hosts->rng, 20) == 0) {
        process->ready_us = UINT64_MAX; // never
    }
    return STATUS_OK;
}

// --- the link -----------------------------------------------------------------------------------

static Status stub_put(HostLink *link, ChannelType type, const void *bytes, size_t count,
                       int descriptor)
{
    StubProcess *process = (StubProcess *)link;
    if (process->is_closed || process->is_dead) {
        return STATUS_TRUNCATED;
    }
    return queue_put(process->hosts, &process->in, type, bytes, count, descriptor) ? STATUS_OK
                                                                                   : STATUS_LIMIT;
}

static uint8_t taken_bytes[CHANNEL_MESSAGE_BYTES];

static Status stub_take(HostLink *link, ChannelMessage *out)
{
    StubProcess *process = (StubProcess *)link;
    StubMessage message;
    if (process->is_closed || !queue_take(process->hosts, &process->out, &message)) {
        return process->is_dead || process->is_closed ? STATUS_TRUNCATED : STATUS_NOT_FOUND;
    }
    memcpy(taken_bytes, message.bytes, message.count);
    free(message.bytes);
    *out = (ChannelMessage){message.type, taken_bytes, message.count, -1};
    return STATUS_OK;
}

static void stub_flush(HostLink *link)
{
    (void)link;
}

static bool stub_listens(HostLink *link)
{
    const StubProcess *process = (const StubProcess *)link;
    return !process->is_dead && !process->is_closed;
}

static void stub_describe(HostLink *link, char *out, size_t bytes)
{
    (void)link;
    if (bytes > 0) {
        out[0] = '\0';
    }
}

static void stub_journal(HostLink *link, const uint8_t *bytes, size_t count, bool gap)
{
    (void)link, (void)bytes, (void)count, (void)gap;
}

static void stub_close(HostLink *link)
{
    ((StubProcess *)link)->is_closed = true;
}

static void stub_kill(HostLink *link)
{
    stub_die((StubProcess *)link, 137);
}

static bool stub_has_ended(HostLink *link, int *code)
{
    const StubProcess *process = (const StubProcess *)link;
    *code = process->code;
    return process->is_dead;
}

static void stub_free(HostLink *link)
{
    StubProcess *process = (StubProcess *)link;
    stub_die(process, 137);
    stub_free_queues(process);
    process->is_used = false;
}

static const HostLinkFace face = {.begin = stub_begin,
                                  .put = stub_put,
                                  .take = stub_take,
                                  .flush = stub_flush,
                                  .listens = stub_listens,
                                  .describe = stub_describe,
                                  .journal = stub_journal,
                                  .close = stub_close,
                                  .kill = stub_kill,
                                  .has_ended = stub_has_ended,
                                  .free = stub_free};

// --- its life -----------------------------------------------------------------------------------

void stub_free_queues(StubProcess *process)
{
    queue_clear(&process->in);
    queue_clear(&process->out);
}

void stub_die(StubProcess *process, int code)
{
    if (!process->is_dead) {
        process->is_dead = true;
        process->code = code;
        real_free(process);
    }
}

// Of a world that a join has made, too.
static uint32_t world_number(Hosts *hosts, const StoreWorld *row)
{
    uint32_t number = 0;
    while (number < hosts->world_count &&
           strcmp(row->world_id, hosts->worlds[number].row.world_id) != 0) {
        number += 1;
    }
    if (number == hosts->world_count) {
        ASSERT(hosts->world_count < WORLDS_MAX); // stub_start
        hosts->worlds[hosts->world_count++].row = *row;
    }
    return number;
}

StubProcess *stub_start(Hosts *hosts, uint32_t host, HostWorld *world)
{
    if (hosts->world_count == WORLDS_MAX) {
        return NULL;
    }
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        StubProcess *process = &hosts->processes[i];
        if (process->is_used) {
            continue;
        }
        *process = (StubProcess){.link = {&face}, .hosts = hosts, .host = host, .is_used = true};
        process->life = hosts->hosts[host].life;
        process->world = world_number(hosts, host_world_view(world).row);
        return process;
    }
    return NULL;
}

static void take_connect(StubProcess *process, const StubMessage *message)
{
    // What a client said is its ticket.
    if (message->count <= CHANNEL_CONNECT_BYTES) {
        return;
    }
    report(process, &(ChannelReport){.type = CHANNEL_AUTH,
                                     .connection = (uint64_t)message->descriptor,
                                     .bytes = message->bytes + CHANNEL_CONNECT_BYTES,
                                     .byte_count = message->count - CHANNEL_CONNECT_BYTES});
}

static bool is_order(const Entry *entry, const char *name)
{
    return entry->name_bytes == strlen(name) && memcmp(entry->name, name, entry->name_bytes) == 0;
}

static void take_entry(StubProcess *process, const StubMessage *message)
{
    ByteReader reader = byte_reader(message->bytes, message->count);
    Entry entry;
    if (entry_read(&reader, &entry) != STATUS_OK) {
        hosts_fail(process->hosts, "the host sent an entry that cannot be read");
        return;
    }
    if (entry.type == ENTRY_STORED && entry.number == process->add_request) {
        added(process, &entry);
    } else if (entry.type == ENTRY_STORED) {
        stored(process, entry.number, (entry.flags & ENTRY_OK) != 0);
    } else if (entry.type == ENTRY_AUTH && (entry.flags & ENTRY_OK) != 0) {
        people_admitted(process, &entry);
    } else if (entry.type == ENTRY_ADMIN &&
               (is_order(&entry, "stop") || is_order(&entry, "move"))) {
        save(process);
        process->is_stopping = true;
        report(process, &(ChannelReport){.type = CHANNEL_STOP, .text = "told to"});
    } else if (entry.type == ENTRY_ADMIN && is_order(&entry, "leave")) {
        char text[24] = "";
        memcpy(text, entry.bytes, entry.byte_count < 23 ? entry.byte_count : 23);
        people_ordered(process, &entry);
        save(process);
        report(process,
               &(ChannelReport){.type = CHANNEL_LEFT, .account = strtoull(text, NULL, 10)});
    } else if (entry.type == ENTRY_ADMIN) {
        people_ordered(process, &entry);
    } else if (entry.type == ENTRY_SCRIPT || entry.type == ENTRY_RELOAD) {
        set_entry(process, &entry);
    }
}

static void say_nonsense(StubProcess *process)
{
    uint8_t bytes[64];
    Rng *rng = &process->hosts->rng;
    const uint32_t count = rng_below(rng, sizeof bytes);
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = (uint8_t)rng_u32(rng);
    }
    (void)queue_put(
        process->hosts, &process->out,
        (ChannelType)(CHANNEL_READY + rng_below(rng, CHANNEL_TYPE_COUNT - CHANNEL_READY)), bytes,
        count, -1);
}

static void beat(StubProcess *process)
{
    Hosts *hosts = process->hosts;
    if (hosts->now_us >= process->beat_us) {
        process->beat_us = hosts->now_us + 200000;
        report(process, &(ChannelReport){.type = CHANNEL_BEAT});
        report(process, &(ChannelReport){
                            .type = CHANNEL_STATS,
                            .stats = {.sessions = process->session_count,
                                      .players = process->session_count,
                                      .paused = hosts->has_people && process->session_count == 0}});
        // Somebody leaves. With people worlds shall be full now and then.
        if (process->session_count > 0 && rng_below(&hosts->rng, hosts->has_people ? 60 : 4) == 0) {
            const uint32_t gone = rng_below(&hosts->rng, process->session_count);
            process->sessions[gone] = process->sessions[--process->session_count];
        }
    }
    if (hosts->now_us >= process->save_us && !process->is_stopping) {
        process->save_us = hosts->now_us + 20000 + rng_below(&hosts->rng, 400000);
        save(process);
    }
    if (hosts->has_postgres && hosts->now_us >= process->add_us && !process->is_stopping) {
        process->add_us = hosts->now_us + 100000 + rng_below(&hosts->rng, 2000000);
        add(process);
    }
}

// As in world_loop.c.
static bool is_over(const StubProcess *process)
{
    return process->until_ns != 0 && hosts_clock_ns(process->hosts) >= process->until_ns;
}

void stub_step(StubProcess *process)
{
    Hosts *hosts = process->hosts;
    if (!process->is_used || process->is_dead || !process->has_begun) {
        return;
    }
    if (process->is_closed) { // it ends by itself
        stub_die(process, 0);
        return;
    }
    if (!process->is_ready) {
        if (hosts->now_us >= process->ready_us) {
            process->is_ready = true;
            report(process, &(ChannelReport){.type = CHANNEL_READY, .layers = UINT32_MAX});
        }
        return;
    }
    if (process->mood == STUB_SILENT) {
        return;
    }
    if (process->mood == STUB_GOOD && is_over(process)) {
        stub_die(process, 0);
        return;
    }
    if (process->mood == STUB_LIAR) {
        say_nonsense(process);
        return;
    }
    if (process->real != NULL) {
        real_step(process);
        return;
    }
    StubMessage message;
    while (stub_hear(process, &message)) {
        if (message.type == CHANNEL_CONNECT) {
            take_connect(process, &message);
        } else if (message.type == CHANNEL_ENTRY) {
            take_entry(process, &message);
        } else if (message.type == CHANNEL_RELOAD) {
            set_manifest(process);
        }
        free(message.bytes);
    }
    set_step(process);
    beat(process);
}
