// Sets of scripts, and reloads. In a stub world a set is one script, whose rune is its number; some
// sets fail wherever they run, and some are refused by stubs, who lie about them now and then. Sets
// of real worlds are in real_sets.c.
//
// Always: versions rise; what happens to a reload follows its order (host_reload.h); a set that has
// failed in a world is never what that world begins with or comes back to; once a host has said
// that a set failed, the world soon gets another one; in the end each world runs the set that its
// host says, and not one that fails.
#include "tests/scenario/host/real_world.h"

#include "core/base/check.h"
#include "core/base/sha256.h"
#include "core/wire/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT_PATH "ServerScriptService/Set"
#define GOOD_US     5000000
#define LATE_US     12000000 // until the last good set must be back, once all is calm
#define RESTORE_US  1000000  // the same at any time, while its host is awake

bool set_fails(uint32_t set)
{
    return set % 4 == 3;
}

static bool set_is_refused(uint32_t set)
{
    return set % 7 == 5;
}

// --- places -------------------------------------------------------------------------------------

static void write_manifest(const BuildRune *rune, BuildResult *built)
{
    ManifestRow row = {.path = {SCRIPT_PATH ".lua", sizeof SCRIPT_PATH ".lua" - 1},
                       .size_bytes = (uint32_t)rune->count,
                       .run_context = {"Server", 6},
                       .service = {"ServerScriptService", 19}};
    memcpy(row.rune_hash, rune->hash, sizeof row.rune_hash);
    const ManifestList list = {.version = 1, .rows = &row, .row_count = 1};
    built->manifest = malloc(1024);
    ASSERT(built->manifest != NULL);
    ByteWriter writer = byte_writer(built->manifest, 1024);
    const Status status = manifest_write(&list, NULL, &writer);
    ASSERT(status == STATUS_OK);
    built->manifest_bytes = writer.at;
}

static HostPlace *stub_place(const Hosts *hosts)
{
    BuildResult built = {.rune_count = 1, .runes = calloc(1, sizeof *built.runes)};
    BuildRune *rune = built.runes;
    ASSERT(rune != NULL);
    snprintf(rune->path, sizeof rune->path, "%s", SCRIPT_PATH);
    rune->bytes = malloc(16);
    ASSERT(rune->bytes != NULL);
    rune->count = (size_t)snprintf((char *)rune->bytes, 16, "%u", hosts->set_number);
    rune->service = SERVICE_SERVER_SCRIPT;
    rune->context = CONTEXT_SERVER;
    sha256_of(rune->bytes, rune->count, rune->hash);
    write_manifest(rune, &built);
    built.whole = calloc(1, 16);
    built.stripped = calloc(1, 16);
    built.whole_bytes = built.stripped_bytes = 16;
    built.facts.player_max = STUB_PLAYERS;
    built.facts.entity_max = 64;
    snprintf(built.facts.name, sizeof built.facts.name, "Stub");
    const HostPlaceConfig config = {.place_id = "place_stub", .folder = "", .development = false};
    HostPlace *place = NULL;
    char reason[256];
    const Status status = host_place_create(&config, &built, &place, reason, sizeof reason);
    ASSERT(status == STATUS_OK);
    return place;
}

HostPlace *set_place(Hosts *hosts)
{
    hosts->set_number += 1;
    return hosts->real_place != NULL ? real_place_host(hosts->real_place, hosts->set_number)
                                     : stub_place(hosts);
}

static uint32_t read_set(const uint8_t *bytes, size_t count)
{
    char text[16] = "";
    memcpy(text, bytes, count < 15 ? count : 15);
    return (uint32_t)strtoul(text, NULL, 10);
}

static uint32_t set_of(const Hosts *hosts, const HostPlace *place)
{
    if (hosts->real_place != NULL) {
        return place != NULL ? real_set_of(hosts->real_place, place) : 0;
    }
    return place != NULL && place->built.rune_count == 1
               ? read_set(place->built.runes[0].bytes, place->built.runes[0].count)
               : 0;
}

// --- a world ------------------------------------------------------------------------------------

static bool has_failed_in(const StubProcess *process, uint32_t set)
{
    const SimWorld *world = &process->hosts->worlds[process->world];
    for (uint32_t i = 0; i < world->failed_count; i++) {
        const SimFailed *failed = &world->failed[i];
        if (failed->set == set && failed->host == process->host && failed->life == process->life) {
            return true;
        }
    }
    return false;
}

void set_new_version(StubProcess *process, uint64_t version)
{
    if (version <= process->set_version) {
        hosts_fail(process->hosts, "world %u: manifest %llu after %llu", process->world,
                   (unsigned long long)version, (unsigned long long)process->set_version);
    }
    process->set_version = version;
}

void set_begins_with(StubProcess *process, uint32_t set)
{
    process->set = process->first_set = set;
    if (has_failed_in(process, process->set)) {
        hosts_fail(process->hosts, "world %u begins with set %u, which has failed there",
                   process->world, process->set);
    }
    process->hosts->worlds[process->world].good_sets[process->host] = process->set;
}

// What it begins with.
void set_begin(StubProcess *process, const Entry *entry)
{
    if (entry->type == ENTRY_SCRIPT) {
        set_begins_with(process, read_set(entry->bytes, entry->byte_count));
    } else if (entry->type == ENTRY_RELOAD) {
        set_new_version(process, entry->number);
    }
}

static void say(StubProcess *process, ReloadResult result, uint64_t version)
{
    const ChannelReport report = {.type = CHANNEL_RELOADED,
                                  .reload = result,
                                  .version = (uint32_t)version,
                                  .tick = process->hosts->now_us / 16667,
                                  .text = "as the stub says"};
    (void)stub_report(process,
                      &report); // a queue that is full loses it, and the host ends the world
}

void set_manifest(StubProcess *process)
{
    process->staged_set = 0;
    process->takes_set = true;
}

void set_switched(StubProcess *process, uint32_t set, uint64_t version)
{
    process->set = set;
    if (has_failed_in(process, process->set)) {
        hosts_fail(process->hosts, "world %u gets set %u again, which has failed there",
                   process->world, process->set);
    }
    process->set_us = process->hosts->now_us;
    process->failed_us = 0;
    process->switched_version = version;
}

void set_entry(StubProcess *process, const Entry *entry)
{
    Hosts *hosts = process->hosts;
    if (!process->takes_set) {
        hosts_fail(hosts, "world %u: scripts without a manifest", process->world);
    }
    if (entry->type == ENTRY_SCRIPT) {
        process->staged_set = read_set(entry->bytes, entry->byte_count);
    }
    if (entry->type != ENTRY_RELOAD) {
        return;
    }
    process->takes_set = false;
    set_new_version(process, entry->number);
    if (set_is_refused(process->staged_set) && process->staged_set != process->first_set) {
        say(process, RELOAD_REFUSED, process->set_version);
        return;
    }
    set_switched(process, process->staged_set != 0 ? process->staged_set : process->set,
                 process->set_version);
    process->verdict_us =
        hosts->now_us + (set_fails(process->set) ? rng_below(&hosts->rng, GOOD_US) : GOOD_US);
    say(process, RELOAD_SWITCHED, process->set_version);
}

// A set that failed does not stay: the last good one comes back, or a newer one comes.
void set_watch(StubProcess *process)
{
    Hosts *hosts = process->hosts;
    const SimHost *host = &hosts->hosts[process->host];
    if (process->failed_us == 0) {
        return;
    }
    if (host->host == NULL || host->life != process->life || process->is_stopping) {
        process->failed_us = 0; // nobody is there who could, or there is no need
    } else if (hosts->now_us < host->stalled_until_us) {
        process->failed_us = hosts->now_us;
    } else if (hosts->now_us - process->failed_us > RESTORE_US) {
        hosts_fail(hosts, "world %u: set %u failed, and stays", process->world, process->set);
    }
}

void set_step(StubProcess *process)
{
    Hosts *hosts = process->hosts;
    set_watch(process);
    if (process->verdict_us != 0 && hosts->now_us >= process->verdict_us) {
        process->verdict_us = 0;
        say(process, set_fails(process->set) ? RELOAD_FAILED : RELOAD_GOOD,
            process->switched_version);
    }
    if (hosts->calm || rng_below(&hosts->rng, 3000) != 0) {
        return;
    }
    // A lie: about a version that is past, or a verdict of the one that runs.
    const bool is_past = rng_below(&hosts->rng, 2) == 0;
    const uint32_t count = 1 + rng_below(&hosts->rng, 8);
    for (uint32_t i = 0; i < count; i++) {
        say(process,
            is_past ? (ReloadResult)rng_below(&hosts->rng, RELOAD_RESULT_COUNT) : RELOAD_FAILED,
            is_past ? process->switched_version - 1 : process->switched_version);
    }
}

// --- reloads ------------------------------------------------------------------------------------

static SimReload *find_reload(Hosts *hosts, uint64_t tag)
{
    SimReload *reload = &hosts->reloads[tag % RELOADS_MAX];
    return reload->tag == tag ? reload : NULL;
}

// A creator may have asked for it once more before it failed.
static bool is_asked_again(const Hosts *hosts, const SimReload *reload)
{
    for (uint32_t i = 0; i < RELOADS_MAX; i++) {
        const SimReload *other = &hosts->reloads[i];
        if (other->tag > reload->tag && other->result == HOST_RELOAD_RESULT_COUNT &&
            other->set == reload->set && other->world == reload->world &&
            other->host == reload->host && other->life == reload->life) {
            return true;
        }
    }
    return false;
}

static void note_failed(Hosts *hosts, const SimReload *reload)
{
    if (is_asked_again(hosts, reload)) {
        return;
    }
    SimWorld *world = &hosts->worlds[reload->world];
    world->failed[world->failed_count % FAILED_MAX] =
        (SimFailed){.set = reload->set, .host = reload->host, .life = reload->life};
    world->failed_count += world->failed_count < FAILED_MAX;
}

// The process that the host speaks of, if it has not ended.
static void note_stays(Hosts *hosts, const HostWorld *world)
{
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        StubProcess *process = &hosts->processes[i];
        if (process->is_used && !process->is_dead && host_world_link(world) == &process->link) {
            process->failed_us = hosts->now_us;
        }
    }
}

void set_reloaded(void *user, uint64_t tag, const HostWorld *world, HostReloadResult result,
                  uint32_t version, const char *reason)
{
    static const bool follows[HOST_RELOAD_RESULT_COUNT + 1][HOST_RELOAD_RESULT_COUNT] = {
        [HOST_RELOAD_SWITCHED] =
            {[HOST_RELOAD_GOOD] = true, [HOST_RELOAD_FAILED] = true, [HOST_RELOAD_REPLACED] = true},
        [HOST_RELOAD_FAILED] = {[HOST_RELOAD_RESTORED] = true},
        [HOST_RELOAD_RESULT_COUNT] = {[HOST_RELOAD_SWITCHED] = true,
                                      [HOST_RELOAD_GOOD] = true,
                                      [HOST_RELOAD_REFUSED] = true,
                                      [HOST_RELOAD_REPLACED] = true},
    };
    const SimHost *host = user;
    Hosts *hosts = host->hosts;
    SimReload *reload = find_reload(hosts, tag);
    (void)version;
    if (reload == NULL) {
        return; // so long ago that it is forgotten
    }
    if (!follows[reload->result][result]) {
        hosts_fail(hosts, "reload %llu: %d follows %d", (unsigned long long)tag, (int)result,
                   (int)reload->result);
    }
    if ((result == HOST_RELOAD_FAILED || result == HOST_RELOAD_REFUSED) && reason[0] == '\0') {
        hosts_fail(hosts, "reload %llu: nobody says what is wrong", (unsigned long long)tag);
    }
    reload->result = result;
    hosts->reload_counts[result] += 1;
    uint32_t *good = &hosts->worlds[reload->world].good_sets[reload->host];
    if (result == HOST_RELOAD_FAILED && reload->set != *good) {
        note_failed(hosts, reload);
        note_stays(hosts, world);
    } else if (result == HOST_RELOAD_GOOD) {
        *good = reload->set;
    }
}

// It was asked for again.
static void forget_failed(SimWorld *world, uint32_t set)
{
    for (uint32_t i = 0; i < world->failed_count; i++) {
        world->failed[i].set = world->failed[i].set == set ? 0 : world->failed[i].set;
    }
}

static uint32_t world_number(const Hosts *hosts, const HostWorld *world)
{
    const char *id = host_world_view(world).row->world_id;
    uint32_t number = 0;
    while (number < hosts->world_count && strcmp(id, hosts->worlds[number].row.world_id) != 0) {
        number += 1;
    }
    return number;
}

static void ask(SimHost *host, HostWorld *world, uint32_t number, HostPlace *place)
{
    Hosts *hosts = host->hosts;
    const uint64_t tag = ++hosts->next_reload;
    hosts->reloads[tag % RELOADS_MAX] = (SimReload){.tag = tag,
                                                    .set = set_of(hosts, place),
                                                    .world = number,
                                                    .host = host->number,
                                                    .life = host->life,
                                                    .result = HOST_RELOAD_RESULT_COUNT};
    forget_failed(&hosts->worlds[number], set_of(hosts, place));
    host_world_reload(world, place, tag);
}

// A creator saves: one world of the host gets a new set, or the one that was published last.
void set_reload_something(SimHost *host)
{
    Hosts *hosts = host->hosts;
    const uint32_t count = host->host != NULL ? host_world_count(host->host) : 0;
    HostWorld *world = NULL;
    for (uint32_t i = 0; i < 8 && count > 0; i++) { // rather one that runs
        world = host_world_at(host->host, rng_below(&hosts->rng, count));
        if (host_world_is_ready(world)) {
            break;
        }
    }
    if (world == NULL || host_world_place(world) == NULL) {
        return;
    }
    const uint32_t number = world_number(hosts, world);
    HostPlace *published = host_place(host->host, "place_stub");
    const bool is_new = published == NULL || rng_below(&hosts->rng, 3) > 0;
    HostPlace *place = is_new ? set_place(hosts) : host_place_hold(published);
    if (number < hosts->world_count) {
        ask(host, world, number, place);
        // Who saves twice asks for the same once more, perhaps before the first has failed.
        if (hosts->real_place != NULL && rng_below(&hosts->rng, 3) == 0) {
            ask(host, world, number, place);
        }
    }
    host_place_release(place);
}

// --- the end ------------------------------------------------------------------------------------

static const HostWorld *world_of(Hosts *hosts, const StubProcess *process)
{
    const SimHost *host = &hosts->hosts[process->host];
    return host->host != NULL && host->life == process->life
               ? host_world(host->host, hosts->worlds[process->world].row.world_id)
               : NULL;
}

void set_check(Hosts *hosts)
{
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        const StubProcess *process = &hosts->processes[i];
        const bool runs = process->is_used && process->is_ready && !process->is_dead &&
                          !process->is_closed && !process->is_stopping;
        const HostWorld *world = runs ? world_of(hosts, process) : NULL;
        if (world == NULL || host_world_link(world) != &process->link) {
            continue;
        }
        const HostReloadView view = host_world_reload_view(world);
        if (view.is_busy) {
            hosts_fail(hosts, "world %u: a reload does not end", process->world);
        } else if (set_of(hosts, host_world_place(world)) != process->set) {
            hosts_fail(hosts, "world %u runs set %u, and its host says %u", process->world,
                       process->set, set_of(hosts, host_world_place(world)));
        } else if (process->set_us != 0 && set_fails(process->set) &&
                   process->set != hosts->worlds[process->world].good_sets[process->host] &&
                   process->set_us + LATE_US < hosts->now_us) {
            hosts_fail(hosts, "world %u still runs set %u, which fails", process->world,
                       process->set);
        }
    }
}
