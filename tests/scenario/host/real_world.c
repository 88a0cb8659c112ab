// What a world process does around core/world (server/shell), in simulated time and without a
// jail: it enters what the host says, steps when a tick is due, and gives its commands to the host.
// What players and scripts were told is stored is compared with what each life begins with.
#define _GNU_SOURCE
#include "tests/scenario/host/real_world.h"

#include "core/base/check.h"
#include "core/script/bridge/store_answer.h"
#include "core/world/journal.h"
#include "core/world/save/row.h"
#include "tests/support/test_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIX_BEGIN_MS 1700000000000ull
#define TICK_RATE     30
#define BEAT_US       200000
#define ROOM_LEFT     32 // messages to the host, for beats and the like

// --- the place ----------------------------------------------------------------------------------

static const char place_json[] =
    "{\"format\": 1, \"name\": \"Real\", \"tickRate\": 30, \"snapshotRate\": 10,\n"
    " \"limits\": {\"players\": 6, \"viewRadius\": 64, \"reach\": 10},\n"
    " \"permissions\": {\"build\": true}, \"voxelKinds\": [{\"name\": \"grass\"}],\n"
    " \"catalogue\": [{\"name\": \"block\", \"health\": 50}]}\n";

RealPlace *real_place_create(void)
{
    RealPlace *place = calloc(1, sizeof *place);
    ASSERT(place != NULL);
    place->heap = heap_make(1ull << 28);
    const VmConfig vm = vm_config_default();
    const TestPlaceBytes whole = test_place_whole(&place->heap, place_json, TEST_PLACE_FLAT_SCENE);
    const TestPlaceBytes stripped = test_place_strip(&place->heap, whole);
    place->whole_data = whole.data;
    place->whole_bytes = whole.bytes;
    place->stripped_data = stripped.data;
    place->stripped_bytes = stripped.bytes;
    Status status = place_load(&place->heap, whole.data, whole.bytes, &place->whole);
    ASSERT(status == STATUS_OK && place->whole->tick_rate == TICK_RATE);
    status = place_load(&place->heap, stripped.data, stripped.bytes, &place->stripped);
    ASSERT(status == STATUS_OK);
    status = vm_create(&place->heap, &vm, &place->vm);
    ASSERT(status == STATUS_OK);
    return place;
}

void real_place_destroy(RealPlace *place)
{
    if (place == NULL) {
        return;
    }
    vm_destroy(&place->heap, place->vm);
    place_unload(&place->heap, place->whole);
    place_unload(&place->heap, place->stripped);
    test_place_free(&place->heap, (TestPlaceBytes){place->whole_data, place->whole_bytes});
    test_place_free(&place->heap, (TestPlaceBytes){place->stripped_data, place->stripped_bytes});
    ASSERT(place->heap.bytes_now == 0);
    free(place);
}

static uint8_t *copy_bytes(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count);
    ASSERT(copy != NULL);
    memcpy(copy, bytes, count);
    return copy;
}

HostPlace *real_place_host(RealPlace *place, uint32_t set)
{
    BuildResult built = {.whole_bytes = place->whole_bytes,
                         .stripped_bytes = place->stripped_bytes,
                         .facts = {.name = "Real", .tick_rate = TICK_RATE, .player_max = 6}};
    real_set_fill(place, set, &built);
    built.whole = copy_bytes(place->whole_data, place->whole_bytes);
    built.stripped = copy_bytes(place->stripped_data, place->stripped_bytes);
    built.facts.entity_max = 256;
    const HostPlaceConfig config = {.place_id = "place_stub", .folder = ""};
    HostPlace *out = NULL;
    char reason[256];
    const Status status = host_place_create(&config, &built, &out, reason, sizeof reason);
    ASSERT(status == STATUS_OK);
    return out;
}

// --- how it begins ------------------------------------------------------------------------------

static bool has_number(const uint64_t *numbers, uint32_t count, uint64_t number)
{
    for (uint32_t i = 0; i < count; i++) {
        if (numbers[i] == number) {
            return true;
        }
    }
    return false;
}

// Every structure that was durable stands, and none that was durably taken down.
static void check_structures(StubProcess *process, bool (*stands)(StubProcess *, uint64_t net_id),
                             const char *where)
{
    const SimWorld *world = &process->hosts->worlds[process->world];
    for (uint32_t i = 0; i < world->structure_count; i++) {
        const SimStructure *structure = &world->structures[i];
        const bool is_there = stands(process, structure->net_id);
        if ((structure->state == STRUCTURE_STANDS && !is_there) ||
            (structure->state == STRUCTURE_IS_GONE && is_there)) {
            hosts_fail(process->hosts,
                       "world %u, life %llu: structure %llu was durably %s and is %s in %s",
                       process->world, (unsigned long long)process->epoch,
                       (unsigned long long)structure->net_id, is_there ? "taken down" : "built",
                       is_there ? "there" : "missing", where);
        }
    }
}

// Net ids of the structures among the rows of the life that begins now.
static uint64_t rows_now[STRUCTURES_MAX];
static uint32_t rows_now_count;

static bool stands_in_rows(StubProcess *process, uint64_t net_id)
{
    (void)process;
    return has_number(rows_now, rows_now_count, net_id);
}

static bool stands_in_world(StubProcess *process, uint64_t net_id)
{
    const Sim *sim = world_sim(process->real->world);
    const Entity *entity = sim_entity(sim, sim_find(sim, net_id));
    return entity != NULL && entity->type == ENTITY_STRUCTURE && !entity->removing;
}

static void note_row(SimWorld *world, const Entry *entry)
{
    ByteReader reader = byte_reader(entry->bytes, entry->byte_count);
    Row row;
    RowStructure structure;
    if (row_read(&reader, &row) != STATUS_OK || row_structure(&row, &structure) != STATUS_OK) {
        return;
    }
    const uint64_t net_id = structure.desc.net_id;
    ASSERT(rows_now_count < STRUCTURES_MAX && world->begun_with_count < STRUCTURES_MAX);
    rows_now[rows_now_count++] = net_id;
    if (!has_number(world->begun_with, world->begun_with_count, net_id)) {
        world->begun_with[world->begun_with_count++] = net_id;
    }
}

static void enter_beginning(StubProcess *process, const HostBeginning *beginning)
{
    Hosts *hosts = process->hosts;
    ByteReader reader = byte_reader(beginning->entries, beginning->entry_bytes);
    rows_now_count = 0;
    while (byte_reader_left(&reader) > 0) {
        Entry entry;
        Status status = entry_read(&reader, &entry);
        status = status == STATUS_OK ? real_set_check(process, &entry) : status;
        if (status == STATUS_OK) {
            status = world_enter(process->real->world, &entry);
        }
        if (status != STATUS_OK) {
            hosts_fail(hosts, "world %u: an entry of type %d is refused: %s", process->world,
                       (int)entry.type, status_name(status));
            return;
        }
        if (entry.type == ENTRY_ROW) {
            note_row(&hosts->worlds[process->world], &entry);
        }
    }
}

static void print_log(void *user, const LogEvent *event)
{
    StubProcess *process = user;
    real_set_server_log(process, event->text);
    if (process->hosts->verbose) {
        printf("%8.3f world %u, life %llu: %s: %s\n", (double)process->hosts->now_us / 1e6,
               process->world, (unsigned long long)process->epoch, event->area, event->text);
    }
}

void real_begin(StubProcess *process, const HostBeginning *beginning, const WorldConfig *numbers)
{
    RealWorld *real = calloc(1, sizeof *real);
    ASSERT(real != NULL);
    process->real = real;
    real->heap = heap_make(1ull << 30);
    real->client_heap = heap_make(1ull << 30);
    real->log = (LogSink){.write = print_log, .user = process, .level_min = LOG_INFO};
    WorldConfig config = *numbers;
    config.place = process->hosts->real_place->whole;
    config.stripped = process->hosts->real_place->stripped_data;
    config.stripped_bytes = process->hosts->real_place->stripped_bytes;
    config.log = &real->log;
    Status status = world_create(&real->heap, &config, &real->world);
    ASSERT(status == STATUS_OK);
    real_set_open(process, beginning);
    enter_beginning(process, beginning);
    real_set_begun(process);
    check_structures(process, stands_in_rows, "the store");
    heap_freeze(&real->heap);
}

void real_free(StubProcess *process)
{
    RealWorld *real = process->real;
    if (real == NULL) {
        return;
    }
    real_players_free(process);
    real_set_close(process);
    heap_thaw(&real->heap);
    world_destroy(&real->heap, real->world);
    ASSERT(real->heap.bytes_now == 0 && real->client_heap.bytes_now == 0);
    free(real);
    process->real = NULL;
}

// --- what it asks of the host -------------------------------------------------------------------

static void note_request(StubProcess *process, const Command *command)
{
    RealWorld *real = process->real;
    ASSERT(real->request_count < REAL_REQUESTS_MAX);
    real->requests[real->request_count++] =
        (RealRequest){.request = command->request,
                      .sent_us = process->hosts->now_us,
                      .is_save = command->type == COMMAND_SAVE,
                      .highest = process->hosts->number_highest};
}

static void report_command(StubProcess *process, const Command *command)
{
    ChannelReport report = {.connection = command->connection,
                            .account = command->account,
                            .other = command->other,
                            .heard = command->heard,
                            .request = command->request,
                            .epoch = command->epoch,
                            .seq = command->seq,
                            .bytes = command->bytes,
                            .byte_count = command->byte_count,
                            .store = command->store};
    static const ChannelType types[] = {
        [COMMAND_AUTH] = CHANNEL_AUTH,      [COMMAND_SAVE] = CHANNEL_SAVE,
        [COMMAND_STORE] = CHANNEL_STORE,    [COMMAND_STOP] = CHANNEL_STOP,
        [COMMAND_LEFT] = CHANNEL_LEFT,      [COMMAND_CAME] = CHANNEL_CAME,
        [COMMAND_HEARD] = CHANNEL_HEARD,    [COMMAND_REPORT] = CHANNEL_REPORT,
        [COMMAND_RELOAD] = CHANNEL_RELOADED};
    report.type = types[command->type];
    if (command->type == COMMAND_SAVE || command->type == COMMAND_STORE) {
        note_request(process, command);
    }
    if (command->type == COMMAND_RELOAD) {
        real_set_told(process, command);
        report.reload = command->reload;
        report.version = command->version;
        report.tick = command->tick;
    }
    if (command->type == COMMAND_STOP || command->type == COMMAND_RELOAD) {
        process->is_stopping |= command->type == COMMAND_STOP;
        snprintf(report.text, sizeof report.text, "%.*s", (int)command->byte_count,
                 (const char *)command->bytes);
    }
    const bool fits = stub_report(process, &report);
    ASSERT(fits || process->is_closed);
}

static void report_commands(StubProcess *process)
{
    const RealWorld *real = process->real;
    uint32_t count;
    const Command *commands = world_commands(real->world, &count);
    if (count + ROOM_LEFT > stub_report_room(process) ||
        count > REAL_REQUESTS_MAX - real->request_count) {
        return; // the host is behind; the world merges waiting saves
    }
    for (uint32_t i = 0; i < count; i++) {
        report_command(process, &commands[i]);
    }
    world_commands_clear(real->world);
}

static void report_life(StubProcess *process)
{
    const Hosts *hosts = process->hosts;
    RealWorld *real = process->real;
    if (hosts->now_us < real->beat_us || stub_report_room(process) < ROOM_LEFT / 2) {
        return;
    }
    const WorldStats stats = world_stats(real->world);
    real->beat_us = hosts->now_us + BEAT_US;
    (void)stub_report(process, &(ChannelReport){.type = CHANNEL_BEAT});
    (void)stub_report(process, &(ChannelReport){.type = CHANNEL_STATS,
                                                .stats = {.sessions = stats.sessions,
                                                          .players = stats.players,
                                                          .paused = world_is_paused(real->world)}});
}

// --- what the host answers ----------------------------------------------------------------------

// Each number that an increment gives is given once, and is above all that were given before it
// was asked for, whatever died in between.
static void check_number(Hosts *hosts, const RealRequest *request, const Entry *answer)
{
    int64_t number = 0;
    const bool is_list = answer->byte_count > 2 && answer->bytes[0] == STORE_TAG_LIST;
    if (!is_list ||
        !store_answer_read_integer(answer->bytes + 2, answer->byte_count - 2, &number) ||
        number <= 0 || number >= NUMBERS_MAX) {
        hosts_fail(hosts, "a DataStore answers an increment with nonsense");
        return;
    }
    if ((uint64_t)number <= request->highest || hosts->numbers[number] != 0) {
        hosts_fail(hosts, "a DataStore gives %lld; %llu was given before it was asked",
                   (long long)number, (unsigned long long)request->highest);
    }
    hosts->numbers[number] = 1;
    hosts->numbers_given += 1;
    if ((uint64_t)number > hosts->number_highest) {
        hosts->number_highest = (uint64_t)number;
    }
}

static void note_stored(StubProcess *process, const Entry *answer)
{
    Hosts *hosts = process->hosts;
    RealWorld *real = process->real;
    for (uint32_t i = 0; i < real->request_count; i++) {
        const RealRequest request = real->requests[i];
        if (request.request != answer->number) {
            continue;
        }
        real->requests[i] = real->requests[--real->request_count];
        const bool is_good = (answer->flags & ENTRY_OK) != 0;
        hosts->saves_acknowledged += is_good && request.is_save;
        if (is_good && !request.is_save) {
            check_number(hosts, &request, answer);
        }
        return;
    }
    hosts_fail(hosts, "world %u: request %llu is answered twice, or was never sent", process->world,
               (unsigned long long)answer->number);
}

uint64_t real_waits_us(const StubProcess *process)
{
    const RealWorld *real = process->real;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < real->request_count; i++) {
        const uint64_t waits_us = process->hosts->now_us - real->requests[i].sent_us;
        longest = real->requests[i].is_save && waits_us > longest ? waits_us : longest;
    }
    return longest;
}

static void hear_host(StubProcess *process)
{
    StubMessage message;
    while (stub_hear(process, &message)) {
        ByteReader reader = byte_reader(message.bytes, message.count);
        Entry entry;
        if (message.type == CHANNEL_CONNECT) {
            real_player_add(process, &message);
        } else if (message.type == CHANNEL_RELOAD) {
            real_set_piece(process, &message);
        } else if (message.type == CHANNEL_ENTRY) {
            if (entry_read(&reader, &entry) != STATUS_OK) {
                hosts_fail(process->hosts, "the host sent an entry that cannot be read");
            } else {
                if (entry.type == ENTRY_STORED) {
                    note_stored(process, &entry);
                } else if (entry.type == ENTRY_AUTH && (entry.flags & ENTRY_OK) != 0) {
                    people_admitted(process, &entry);
                }
                if (entry.type == ENTRY_SCRIPT || entry.type == ENTRY_RELOAD) {
                    real_set_entry(process, &entry);
                } else { // as in world_loop.c
                    status_ignore(world_enter(process->real->world, &entry));
                }
            }
        }
        free(message.bytes);
    }
}

// --- time ---------------------------------------------------------------------------------------

static void check_faults(StubProcess *process)
{
    static ScriptFault fault;
    while (script_faults(world_scripts(process->real->world), &fault, 1) > 0) {
        if (strstr(fault.message, REAL_BROKEN) != NULL) {
            continue; // as it is meant to
        }
        hosts_fail(process->hosts, "a script fails: %s:%u: %s", fault.path, fault.line,
                   fault.message);
        return;
    }
}

static void tick(StubProcess *process)
{
    Hosts *hosts = process->hosts;
    RealWorld *real = process->real;
    const bool is_paused = world_is_paused(real->world);
    hosts->pauses += is_paused && !real->was_paused;
    hosts->wakes += real->was_paused && !is_paused;
    real->was_paused = is_paused;
    if (hosts->now_us < real->tick_us || is_paused) {
        return;
    }
    const uint64_t late_us = hosts->now_us - real->tick_us;
    real->tick_us = (late_us < STEP_US ? real->tick_us : hosts->now_us) + 1000000 / TICK_RATE;
    const Entry entry = {.type = ENTRY_TICK, .number = UNIX_BEGIN_MS + hosts->now_us / 1000};
    const Status status = world_enter(real->world, &entry);
    ASSERT(status == STATUS_OK);
    check_faults(process);
    if (!real->was_checked) {
        real->was_checked = true;
        check_structures(process, stands_in_world, "the world");
    }
}

void real_step(StubProcess *process)
{
    hear_host(process);
    set_watch(process);
    tick(process);
    report_commands(process);
    real_players_step(process);
    report_life(process);
}
