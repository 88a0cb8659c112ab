// See host_world.h: the states of a world. What happens in a state is in world_step and in the
// answers of the store; nothing here waits.
#include "server/host/host_inside.h"

#include <inttypes.h>
#include <stdio.h>

#define START_MS           30000u // until READY
#define END_MS             200u   // until a closed channel has ended the process
#define END_LOOK_MS        1000u  // how often a running one is looked after
#define PAUSED_LOOK_MS     100u   // how often a paused one is: nothing happens in it
#define DRAIN_MS           3000u
#define STOP_MS            4000u
#define BACKOFF_MS         5000u
#define AWAY_MS            500u   // how often a database that is away is asked for a world
#define OUTDATED_MS        10000u // how long an empty world of a replaced place is kept
#define CRASHES_PER_MINUTE 5
#define LIFE_MS            1000u // a world that ends sooner brought its end along
#define START_TRIES        3

// It is looked after in the next step.
void hosted_wake(HostWorld *world)
{
    world->host->look_ns[world->number] = 0;
}

// A deadline of 0 ms: none.
static void enter(HostWorld *world, HostWorldState state, uint32_t deadline_ms)
{
    const uint64_t now = host_now(world->host);
    world->state = state;
    hosted_changed(world);
    hosted_wake(world);
    world->state_ns = now;
    world->deadline_ns = deadline_ms > 0 ? now + deadline_ms * HOST_MS_NS : 0;
    // At its end a host waits for nobody longer than it said.
    if (world->host->stopping && world->deadline_ns > world->host->stop_ns) {
        world->deadline_ns = world->host->stop_ns;
    }
}

static bool is_due(const HostWorld *world)
{
    return world->deadline_ns != 0 && host_now(world->host) >= world->deadline_ns;
}

bool hosted_has_process(const HostWorld *world)
{
    return world->link != NULL;
}

bool host_world_is_ready(const HostWorld *world)
{
    return world->state == WORLD_RUNNING;
}

HostWorldView host_world_view(const HostWorld *world)
{
    return (HostWorldView){
        .row = &world->row,
        .place = world->place,
        .state = world->state,
        .epoch = world->epoch,
        .players = (uint32_t)world->stats.sessions,
        .player_max = world->place != NULL ? world->place->numbers.player_max : 0,
        .starts = world->starts,
        .crashes = world->crashes,
        .kills = world->kills,
        .up_ns = hosted_has_process(world) ? host_now(world->host) - world->started_ns : 0,
        .stats = &world->stats};
}

void host_world_set_other_place(HostWorld *world)
{
    world->other_place = true;
}

bool host_world_has_other_place(const HostWorld *world)
{
    return world->other_place;
}

const ScriptTable *host_world_scripts(const HostWorld *world)
{
    return world->scripts;
}

const ClientVerdicts *host_world_client(const HostWorld *world, uint64_t account)
{
    return world->clients != NULL ? client_table_find(world->clients, account) : NULL;
}

uint64_t host_world_scripts_version(const HostWorld *world)
{
    return world->scripts_version;
}

uint64_t host_world_life(const HostWorld *world)
{
    return (uint64_t)world->incarnation << 32 | (world->number + 1);
}

HostLink *host_world_link(const HostWorld *world)
{
    return world->link;
}

// --- sockets ------------------------------------------------------------------------------------

static bool pass_socket(HostWorld *world, const HostSocket *socket)
{
    // What HTTP keeps of a connection, and its query.
    uint8_t bytes[CHANNEL_CONNECT_BYTES + (40u << 10)];
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    byte_write_u8(&writer, socket->json);
    byte_write_u64(&writer, socket->address);
    byte_write_u64(&writer, socket->number);
    byte_write_bytes(&writer, socket->already, socket->bytes);
    return writer.status == STATUS_OK &&
           world->link->face->put(world->link, CHANNEL_CONNECT, bytes, writer.at,
                                  socket->descriptor) == STATUS_OK;
}

// A client whose world has just died may be back before we have seen that end: it waits.
void hosted_pass_sockets(HostWorld *world)
{
    Host *host = world->host;
    if (world->state != WORLD_RUNNING || world->socket_count == 0 ||
        !world->link->face->listens(world->link)) {
        return;
    }
    for (uint32_t i = 0; i < world->socket_count; i++) {
        HostSocket *socket = &world->sockets[i];
        if (pass_socket(world, socket)) {
            free(socket->already);
            host->counts.sockets_passed += 1;
            if (host->config.outside.socket_passed != NULL) {
                host->config.outside.socket_passed(host->config.outside.user, world,
                                                   socket->number);
            }
            world->empty_ns = 0;
        } else {
            host->config.outside.refuse_socket(host->config.outside.user, socket);
            host->counts.sockets_refused += 1;
        }
        // Descriptors on their way count against us: a few at a time.
        world->link->face->flush(world->link);
    }
    world->socket_count = 0;
    if (world->stats.paused != 0) { // this wakes it, so it has to speak as often as any other
        world->stats.paused = 0;
        world->silent_ns = 0;
    }
}

static void refuse_sockets(HostWorld *world)
{
    Host *host = world->host;
    for (uint32_t i = 0; i < world->socket_count; i++) {
        host->config.outside.refuse_socket(host->config.outside.user, &world->sockets[i]);
    }
    host->counts.sockets_refused += world->socket_count;
    world->socket_count = 0;
}

void hosted_send_entry(HostWorld *world, const Entry *entry)
{
    static uint8_t bytes[CHANNEL_MESSAGE_BYTES]; // a host has one thread
    if (!hosted_has_process(world)) {
        return;
    }
    hosted_wake(world); // the step flushes its channel
    ByteWriter writer = byte_writer(bytes, sizeof bytes);
    entry_write(entry, &writer);
    ASSERT(writer.status == STATUS_OK);
    const HostLinkFace *face = world->link->face;
    if (face->put(world->link, CHANNEL_ENTRY, bytes, writer.at, -1) != STATUS_OK &&
        world->state != WORLD_ENDING) {
        hosted_kill(world, "it does not read its channel");
    }
}

// --- the beginning ------------------------------------------------------------------------------

static void made(HostWorld *world, const StoreCompletion *done);

static void retry_later(HostWorld *world, HostRefusal refusal)
{
    enter(world, WORLD_WAITING, BACKOFF_MS);
    refuse_sockets(world);
    host_joins_refuse(world, refusal);
}

// With one world there is nothing left to do without it.
static void give_up(HostWorld *world)
{
    world->wanted = false;
    world->host->failed = true;
    host_stop(world->host, DRAIN_MS);
}

static void take_lease(HostWorld *world)
{
    Host *host = world->host;
    // Its own world, which begins again: nobody could take it while the row of this host was good.
    const bool is_own = world->has_lease && !world->fenced && host_lease_is_good(host);
    if (!is_own && !host_lease_may_take(host)) {
        return; // soon
    }
    world->incarnation += 1;
    world->arriving = 0;
    const Status status =
        store_world_take(host->config.store, world->row.world_id, host->config.host_id,
                         host->config.boot, host_unix_ms(host), host_tag(TAG_TAKE, world, 0));
    if (status != STATUS_OK) {
        retry_later(world, REFUSED_UNAVAILABLE);
        return;
    }
    enter(world, WORLD_TAKING, 0);
}

// Another host runs it. Whoever asks again in the next second gets the same answer without another
// look at the store.
static void runs_elsewhere(HostWorld *world, const StoreCompletion *done)
{
    const bool is_known = world->is_held;
    world->is_held = store_held_read(done, &world->held);
    if (!world->is_held || !is_known) {
        hosted_log(world, LOG_INFO, "another host runs this world%s%s", world->is_held ? ": " : "",
                   world->is_held ? world->held.address : "");
    }
    world->wanted = false;
    world->elsewhere_ns = host_now(world->host);
    enter(world, WORLD_STOPPED, 0);
    refuse_sockets(world);
    if (world->is_held) {
        if (!host_ask_holder(world)) {
            host_joins_lead(world);
        }
    } else {
        host_joins_refuse(world, REFUSED_ELSEWHERE);
    }
}

static void not_taken(HostWorld *world, const StoreCompletion *done)
{
    const StoreDisk disk = host_disk(world->host);
    if (done->status == STATUS_EXISTS && !world->host->config.one_world) {
        runs_elsewhere(world, done);
        return;
    }
    char why[256];
    if (done->status == STATUS_EXISTS) {
        snprintf(why, sizeof why, "another host runs it");
    } else if (done->status == STATUS_MALFORMED && done->byte_count > 0) {
        snprintf(why, sizeof why, "%.*s", (int)(done->byte_count < 200 ? done->byte_count : 200),
                 (const char *)done->bytes);
    } else {
        snprintf(why, sizeof why, "%s",
                 disk != STORE_DISK_FINE ? store_disk_text(disk) : status_text(done->status));
    }
    if (disk == STORE_DISK_AWAY && !world->host->config.one_world) {
        if (!world->found_away) {
            hosted_log(world, LOG_ERROR, "the world cannot be taken: %s; it is tried again", why);
        }
        world->found_away = true;
        retry_later(world, REFUSED_UNAVAILABLE);
        enter(world, WORLD_WAITING, AWAY_MS);
        return;
    }
    // The lease of a host that is gone runs out, and a world that nobody is in stops.
    const bool waits = done->status == STATUS_EXISTS && world->host->config.remote;
    hosted_log(world, waits ? LOG_INFO : LOG_ERROR, "the world cannot be taken%s: %s",
               waits ? " yet" : "", why);
    retry_later(world, REFUSED_UNAVAILABLE);
    if (world->host->config.one_world && !world->ever_ready && !waits) {
        give_up(world);
    }
}

// An older state of the database was put back under a running host. Each try raises the epoch by
// one, until it is later than all that tickets and saves of this host may name.
static void taken_too_early(HostWorld *world, uint64_t epoch)
{
    hosted_log(world, LOG_ERROR,
               "the database was set back: the world has epoch %llu there, and had %llu here; "
               "it is taken again until it is later. Restart this host",
               (unsigned long long)epoch, (unsigned long long)world->epoch);
    retry_later(world, REFUSED_UNAVAILABLE);
}

static void taken(HostWorld *world, const StoreCompletion *done)
{
    Host *host = world->host;
    ASSERT(done->epoch > world->epoch); // saves and tickets of the life before count no more
    world->epoch = done->epoch;
    world->has_lease = true;
    world->fenced = world->is_held = world->found_away = false;
    world->tries = 0;
    world->saves.seq = 0;
    world->told_stop = world->heard_stop = false;
    world->stop_reason[0] = '\0';
    world->is_shut = false;
    world->failed[0] = '\0';
    world->stats = (HostStats){0};
    world->started_ns = host_now(host);
    world->looked_ns = world->started_ns;
    world->silent_ns = 0;
    if (!world->wanted || !host_lease_is_good(host)) {
        world->fenced = !host_lease_is_good(host);
        enter(world, WORLD_DRAINING, DRAIN_MS);
        return;
    }
    world->starts += 1;
    host->counts.starts += 1;
    Status status = host->config.outside.start(host->config.outside.user, world, &world->link);
    if (status == STATUS_OK) {
        hosted_reload_started(world);
        status = hosted_begin(world, done);
    }
    if (status == STATUS_OK) {
        world->told_until_ns = 0;
        hosted_tell_until(world);
        world->link->face->flush(world->link);
        enter(world, WORLD_STARTING, START_MS);
        return;
    }
    hosted_log(world, LOG_ERROR, "the world process cannot be started: %s", status_text(status));
    if (hosted_has_process(world)) {
        hosted_kill(world, "it could not be told how to begin");
    } else {
        enter(world, WORLD_DRAINING, DRAIN_MS);
    }
}

void hosted_make(HostWorld *world)
{
    Host *host = world->host;
    world->make_tries += 1;
    room_code_make(host, world->row.is_private, world->row.room_code);
    enter(world, WORLD_MAKING, 0);
    const Status status =
        store_world_make(host->config.store, &world->row, host_tag(TAG_MAKE, world, 0));
    if (status != STATUS_OK) {
        made(world, &(StoreCompletion){.status = status});
    }
}

static void made(HostWorld *world, const StoreCompletion *done)
{
    Host *host = world->host;
    if (done->status == STATUS_OK) {
        enter(world, WORLD_STOPPED, 0);
        host_index_add(world);
        hosted_made(world, REFUSED_NOT);
        return;
    }
    if (done->status == STATUS_EXISTS && world->make_tries < 8) {
        hosted_make(world);
        return;
    }
    const StoreDisk disk = host_disk(host);
    host_log(host, LOG_ERROR, "host", "a world cannot be made: %s",
             disk != STORE_DISK_FINE ? store_disk_text(disk) : status_text(done->status));
    host_joins_refuse(world, REFUSED_UNAVAILABLE);
    hosted_made(world, disk != STORE_DISK_FINE ? REFUSED_DISK : REFUSED_UNAVAILABLE);
    refuse_sockets(world);
    world->wanted = false;
    world->row = (StoreWorld){0}; // its slot is used for the next one
    hosted_renew_place(world);
    enter(world, WORLD_STOPPED, 0);
}

void hosted_answer(HostWorld *world, HostTag kind, const StoreCompletion *done)
{
    if (kind == TAG_MAKE && world->state == WORLD_MAKING) {
        made(world, done);
    } else if (kind == TAG_TAKE && world->state == WORLD_TAKING) {
        if (done->status != STATUS_OK) {
            not_taken(world, done);
        } else if (done->epoch <= world->epoch) {
            taken_too_early(world, done->epoch);
        } else {
            taken(world, done);
        }
    } else if (kind == TAG_RELEASE && world->state == WORLD_RELEASING) {
        enter(world, WORLD_STOPPED, 0);
    }
}

// --- the end ------------------------------------------------------------------------------------

// How many short lives ended within the last minute, this one included. A world that has run for a
// while and is ended from outside comes back at once, however often that happens.
static uint32_t note_crash(HostWorld *world, uint64_t now)
{
    const bool was_short = now - world->started_ns < LIFE_MS * HOST_MS_NS;
    const uint32_t kept = sizeof world->crash_ns / sizeof world->crash_ns[0];
    world->crash_ns[world->crashes % kept] = was_short ? now : 0;
    world->crashes += 1;
    world->host->counts.crashes += 1;
    uint32_t recent = 0;
    for (uint32_t i = 0; i < kept && i < world->crashes; i++) {
        recent += world->crash_ns[i] != 0 && now - world->crash_ns[i] < 60 * HOST_SECOND_NS;
    }
    return recent;
}

static void log_end(const HostWorld *world, int code)
{
    if (world->failed[0] != '\0') {
        hosted_log(world, LOG_ERROR, "%s", world->failed);
    } else if (code > 128) {
        hosted_log(world, LOG_ERROR, "the world process ended by signal %d", code - 128);
    } else {
        hosted_log(world, LOG_ERROR, "the world process ended with code %d", code);
    }
}

static void drained(HostWorld *world);

static void ended(HostWorld *world, int code)
{
    const HostOutside *outside = &world->host->config.outside;
    const bool was_asked = world->state == WORLD_STOPPING || world->told_stop || world->fenced;
    hosted_hear_rest(world);
    world->link->face->free(world->link);
    world->link = NULL;
    hosted_reload_ended(world);
    hosted_renew_place(world);
    world->gives_way = false;
    if (outside->sockets_ended != NULL) {
        outside->sockets_ended(outside->user, world);
    }
    world->stats.sessions = world->stats.players = world->stats.sockets = 0;
    world->admitted[0] = world->admitted[1] = 0;      // who was let in went with the process
    memset(world->invited, 0, sizeof world->invited); // tickets name the life that is over
    free(world->scripts);
    world->scripts = NULL;
    free(world->clients);
    world->clients = NULL;
    if (!was_asked) {
        log_end(world, code);
        (void)note_crash(world, host_now(world->host));
    }
    enter(world, WORLD_DRAINING, DRAIN_MS);
    if (!hosted_saves_wait(world)) {
        drained(world);
    }
}

static void begin_again(HostWorld *world)
{
    const uint64_t now = host_now(world->host);
    uint32_t recent = 0;
    for (uint32_t i = 0; i < sizeof world->crash_ns / sizeof world->crash_ns[0]; i++) {
        recent += world->crash_ns[i] != 0 && now - world->crash_ns[i] < 60 * HOST_SECOND_NS;
    }
    const bool never_ran =
        !world->ever_ready && (world->failed[0] != '\0' || recent >= START_TRIES);
    if (never_ran && world->host->config.one_world) {
        give_up(world);
        return;
    }
    const bool slow = never_ran || recent > CRASHES_PER_MINUTE;
    hosted_log(world, recent > 0 || slow ? LOG_WARN : LOG_INFO, "the world starts again%s",
               slow ? " in 5 s: it ends too often" : "");
    if (slow) {
        retry_later(world, REFUSED_FAILING);
    } else {
        enter(world, WORLD_WAITING, 1);
        take_lease(world);
    }
}

static void drained(HostWorld *world)
{
    Host *host = world->host;
    hosted_saves_forget(world);
    if (world->fenced) {
        world->has_lease = false;
        enter(world, WORLD_WAITING, BACKOFF_MS);
        return;
    }
    if (world->wanted && !host->stopping) {
        begin_again(world);
        if (world->wanted) {
            return;
        }
    }
    world->has_lease = false;
    if (store_world_release(host->config.store, world->row.world_id, world->epoch,
                            host_tag(TAG_RELEASE, world, 0)) == STATUS_OK) {
        enter(world, WORLD_RELEASING, DRAIN_MS);
    } else {
        enter(world, WORLD_STOPPED, 0); // the row of the host expires
    }
}

void hosted_kill(HostWorld *world, const char *why)
{
    if (!hosted_has_process(world) || world->state == WORLD_ENDING) {
        return;
    }
    world->kills += 1;
    world->host->counts.kills += 1;
    hosted_log(world, LOG_ERROR, "the world process is ended: %s", why);
    world->link->face->kill(world->link);
    // Nothing more of it is heard.
    world->link->face->close(world->link);
    enter(world, WORLD_ENDING, 0);
}

void hosted_fence(HostWorld *world, const char *why)
{
    if (world->fenced) {
        return;
    }
    world->fenced = true;
    hosted_log(world, LOG_ERROR, "%s; it stops here", why);
    world->wanted = false;
    hosted_kill(world, "its lease is lost");
    if (world->host->config.one_world && !world->host->stopping) {
        give_up(world);
    }
}

// --- wanted or not ------------------------------------------------------------------------------

void hosted_want(HostWorld *world)
{
    if (world->host->stopping || !hosted_has_place(world)) {
        return;
    }
    world->wanted = true;
    world->gives_way = false;
    hosted_wake(world);
    if (world->state == WORLD_STOPPED) {
        enter(world, WORLD_WAITING, 1);
        take_lease(world);
    }
}

void host_world_run(HostWorld *world)
{
    hosted_want(world);
}

static void tell_stop(HostWorld *world)
{
    static const char down[] = "the host is going down", empty[] = "nobody is here";
    // Another host takes it over.
    const bool moves = world->host->stopping && world->host->peer_count > 0;
    const char *reason = world->host->stopping        ? down
                         : world->stop_reason[0] != 0 ? world->stop_reason
                                                      : empty;
    const Entry stop = {.type = ENTRY_ADMIN,
                        .name = moves                                      ? "move"
                                : world->is_shut && !world->host->stopping ? "shut"
                                                                           : "stop",
                        .name_bytes = 4,
                        .bytes = (const uint8_t *)reason,
                        .byte_count = strlen(reason)};
    world->told_stop = true;
    enter(world, WORLD_STOPPING, STOP_MS);
    hosted_send_entry(world, &stop);
    if (hosted_has_process(world)) {
        world->link->face->flush(world->link);
    }
}

void hosted_stop(HostWorld *world)
{
    world->wanted = false;
    refuse_sockets(world);
    switch (world->state) {
    case WORLD_RUNNING:
        tell_stop(world);
        break;
    case WORLD_STARTING: // has done nothing yet
        world->told_stop = true;
        world->link->face->close(world->link);
        enter(world, WORLD_ENDING, END_MS);
        break;
    case WORLD_WAITING:
    case WORLD_MAKING:
        enter(world, WORLD_STOPPED, 0);
        break;
    default: // it is on its way
        break;
    }
    if (world->host->stopping && world->deadline_ns > world->host->stop_ns) {
        world->deadline_ns = world->host->stop_ns;
    }
}

void host_world_stop(HostWorld *world, const char *reason)
{
    snprintf(world->stop_reason, sizeof world->stop_reason, "%s", reason);
    hosted_log(world, LOG_INFO, "the world stops: %s", reason);
    host_joins_refuse(world, REFUSED_UNAVAILABLE);
    hosted_stop(world);
}

void host_world_shut(HostWorld *world, const char *reason)
{
    world->is_shut = true;
    host_world_stop(world, reason);
}

void host_world_restart(HostWorld *world, const char *reason)
{
    const bool is_up = world->state == WORLD_STARTING || world->state == WORLD_RUNNING;
    if (!is_up || world->host->stopping) {
        return;
    }
    snprintf(world->stop_reason, sizeof world->stop_reason, "%s", reason);
    hosted_log(world, LOG_INFO, "the world starts again: %s", reason);
    hosted_stop(world);
    world->wanted = true; // who waits for it still does
}

// --- the step -----------------------------------------------------------------------------------

// Nobody could run it before the database is back, so nothing is gained by forgetting its saves. If
// that takes too long the host loses its lease, and they are fenced.
static bool waits_for_database(const HostWorld *world)
{
    return !world->host->stopping && host_disk(world->host) == STORE_DISK_AWAY;
}

void hosted_look_for_end(HostWorld *world)
{
    int code = 0;
    if (hosted_has_process(world) && world->link->face->has_ended(world->link, &code)) {
        ended(world, code);
    } else if (world->state == WORLD_ENDING && is_due(world)) {
        world->link->face->kill(world->link);
        enter(world, WORLD_ENDING, 0);
    }
}

// The world has said its last, and what it saved is on disk.
static void step_stopping(HostWorld *world)
{
    const bool quiet =
        world->heard_stop && host_now(world->host) >= world->quiet_ns && !hosted_saves_wait(world);
    if (quiet || is_due(world)) {
        world->link->face->close(world->link); // it ends by itself when it sees this
        enter(world, WORLD_ENDING, END_MS);
    }
}

void host_world_taken_elsewhere(HostWorld *world)
{
    world->elsewhere_ns = 0; // the next join asks the store for its host and epoch
}

void host_world_yield(HostWorld *world)
{
    if (world->state == WORLD_RUNNING && hosted_is_empty(world)) {
        hosted_log(world, LOG_INFO, "the world stops here: another host runs it from now on");
        hosted_stop(world);
    }
}

// Somebody whose connection broke, or who loads the page again, comes back into the same world.
static uint64_t idle_ns(const HostWorld *world)
{
    const uint32_t idle_ms = world->host->config.idle_stop_ms;
    const bool is_short = hosted_is_outdated(world) && idle_ms > OUTDATED_MS;
    return (is_short ? OUTDATED_MS : idle_ms) * HOST_MS_NS;
}

static void step_running(HostWorld *world)
{
    const Host *host = world->host;
    const uint64_t now = host_now(host);
    if (!hosted_is_empty(world)) {
        world->empty_ns = 0;
    } else if (world->empty_ns == 0) {
        world->empty_ns = now;
    } else if (host->config.one_world && hosted_is_outdated(world) &&
               now - world->empty_ns > idle_ns(world)) {
        host_world_restart(world, "its place was replaced, and nobody is in it");
        return;
    } else if (!host->config.one_world && now - world->empty_ns > idle_ns(world)) {
        hosted_log(world, LOG_INFO, "the world stops: %s",
                   hosted_is_outdated(world) ? "its place was replaced, and nobody is in it"
                                             : "nobody has been in it for a while");
        world->wanted = false;
        tell_stop(world);
        return;
    }
    hosted_pass_sockets(world);
    hosted_reload_step(world);
}

// The end of a process is heard on its link (host_world_receive). To look without being told costs
// a system call for each world, so it is done seldom.
static bool looks_for_end(HostWorld *world)
{
    const uint64_t now = host_now(world->host);
    if (world->state != WORLD_ENDING && now - world->end_looked_ns < END_LOOK_MS * HOST_MS_NS) {
        return false;
    }
    world->end_looked_ns = now;
    return true;
}

// A hundred paused worlds would cost the host more than they cost themselves if it looked after
// each of them in every step.
static bool is_asleep(const HostWorld *world)
{
    return world->state == WORLD_RUNNING && world->stats.paused != 0 && world->socket_count == 0 &&
           world->saves.again_ns == 0 && !hosted_reload_is_busy(world);
}

// Those who wait for it: who runs it now?
static void place_again(HostWorld *world)
{
    if (host_now(world->host) < world->again_ns) {
        return;
    }
    world->again_ns = 0;
    if (world->waiting > 0 && !host_place_world(world)) {
        hosted_want(world);
    }
}

void hosted_step(HostWorld *world)
{
    if (hosted_has_process(world)) {
        hosted_watch(world);
        hosted_save_retry(world);
        if (looks_for_end(world)) {
            hosted_look_for_end(world);
        }
    }
    switch (world->state) {
    case WORLD_WAITING:
        if (is_due(world) && !world->wanted) {
            enter(world, WORLD_STOPPED, 0);
        } else if (is_due(world)) {
            take_lease(world);
        }
        break;
    case WORLD_STARTING:
        if (is_due(world)) {
            hosted_kill(world, "it does not start");
        }
        break;
    case WORLD_RUNNING:
        step_running(world);
        break;
    case WORLD_STOPPING:
        step_stopping(world);
        break;
    case WORLD_DRAINING:
        hosted_save_retry(world);
        if (!hosted_saves_wait(world) || (is_due(world) && !waits_for_database(world))) {
            drained(world);
        }
        break;
    case WORLD_RELEASING:
        if (is_due(world)) {
            enter(world, WORLD_STOPPED, 0);
        }
        break;
    case WORLD_STOPPED:
        if (world->wanted) {
            enter(world, WORLD_WAITING, 1);
        } else if (world->again_ns != 0) {
            place_again(world);
        } else {
            world->host->look_ns[world->number] = LOOK_NEVER;
        }
        break;
    default:
        break;
    }
    if (hosted_has_process(world)) {
        world->link->face->flush(world->link);
    }
    if (is_asleep(world)) {
        world->host->look_ns[world->number] = host_now(world->host) + PAUSED_LOOK_MS * HOST_MS_NS;
    }
}

void hosted_free(HostWorld *world)
{
    if (hosted_has_process(world)) {
        world->link->face->kill(world->link);
        world->link->face->free(world->link);
        world->link = NULL;
    }
    refuse_sockets(world);
    hosted_reload_free(world);
    host_place_release(world->place);
    free(world->sockets);
    free(world->scripts);
    free(world->clients);
    free(world->guests);
    hosted_evidence_free(world);
    for (uint32_t i = 0; i < HOST_SAVES_MAX; i++) {
        free(world->saves.all[i].rows);
    }
    free(world);
}
