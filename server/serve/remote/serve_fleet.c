// See serve_fleet.h.
#define _GNU_SOURCE
#include "server/serve/remote/serve_fleet.h"

#include "core/base/hash.h"
#include "server/channel/script_table.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/place/places.h"
#include "server/sys/clock.h"
#include "server/sys/process.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUND_NS   HOST_SECOND_NS     // every peer is asked so often, but
#define ASK_NS     (100 * HOST_MS_NS) // at most one in this time
#define OWN_NS     HOST_SECOND_NS     // how old what we say of ourselves may be
#define SCRIPTS_NS HOST_SECOND_NS
#define WANTED_NS  (10 * HOST_SECOND_NS) // after somebody asked what scripts cost
#define LOOKS_MAX  32                    // worlds that one page brings and nobody here knew

// What a peer said of a world.
typedef struct FleetWorld {
    char world_id[65];
    uint8_t boot[STORE_BOOT_BYTES]; // of the peer
    uint64_t round, heard_ns;
    RemoteReport report;
    ScriptTable *scripts; // NULL: not asked for, or not said
    uint64_t scripts_version, scripts_hash, scripts_wanted_ns, scripts_asked_ns;
} FleetWorld;

typedef struct FleetPeer {
    uint8_t boot[STORE_BOOT_BYTES];
    uint64_t since_ns, heard_ns; // known; said everything
    uint64_t round;              // the number of the round that it is asked in
    bool is_asked;
} FleetPeer;

struct Fleet {
    FleetWorld *worlds[HOST_WORLDS_MAX]; // by number of the world here
    FleetPeer peers[STORE_PEERS_MAX];
    uint32_t peer_count, next;
    uint64_t round, asked_ns, scripts_ns;
    PeerWorld page[PEER_WORLDS_MAX];
    PeerWorld *own; // the worlds of this host, by id
    uint32_t own_count;
    uint64_t own_ns;
    uint8_t payload[PEER_PAYLOAD_BYTES];
};

Status serve_fleet_open(Serve *serve)
{
    if (serve->peers == NULL) {
        return STATUS_OK;
    }
    serve->fleet = calloc(1, sizeof *serve->fleet);
    return serve->fleet != NULL ? STATUS_OK : STATUS_LIMIT;
}

void serve_fleet_close(Serve *serve)
{
    for (uint32_t i = 0; serve->fleet != NULL && i < HOST_WORLDS_MAX; i++) {
        if (serve->fleet->worlds[i] != NULL) {
            free(serve->fleet->worlds[i]->scripts);
            free(serve->fleet->worlds[i]);
        }
    }
    free(serve->fleet != NULL ? serve->fleet->own : NULL);
    free(serve->fleet);
    serve->fleet = NULL;
}

// --- what is known ------------------------------------------------------------------------------

static uint64_t silent_ns(const Serve *serve)
{
    const uint64_t round_ns = host_peer_count(serve->host) * ASK_NS;
    return 3 * (round_ns > ROUND_NS ? round_ns : ROUND_NS) + 2 * HOST_SECOND_NS;
}

static FleetWorld *find_world(const Serve *serve, const HostWorld *world)
{
    FleetWorld *found = serve->fleet != NULL && world != NULL && host_world_link(world) == NULL
                            ? serve->fleet->worlds[world->number]
                            : NULL;
    const bool is_heard = found != NULL && found->heard_ns != 0 &&
                          strcmp(found->world_id, world->row.world_id) == 0 &&
                          clock_ns() - found->heard_ns < silent_ns(serve);
    return is_heard ? found : NULL;
}

const RemoteReport *fleet_world_report(const Serve *serve, const HostWorld *world)
{
    const RemoteReport *reported = remote_world_report(serve, world);
    const FleetWorld *found = reported == NULL ? find_world(serve, world) : NULL;
    return found != NULL ? &found->report : reported;
}

bool fleet_world_is_elsewhere(const Serve *serve, const char *world_id)
{
    return remote_world_is_elsewhere(serve, world_id) ||
           find_world(serve, host_world(serve->host, world_id)) != NULL;
}

const ScriptTable *fleet_world_scripts(Serve *serve, const char *world_id, uint64_t *version)
{
    if (remote_world_is_elsewhere(serve, world_id)) {
        return remote_world_scripts(serve, world_id, version);
    }
    FleetWorld *found = find_world(serve, host_world(serve->host, world_id));
    if (found == NULL) {
        return NULL;
    }
    found->scripts_wanted_ns = clock_ns();
    *version = found->scripts_version;
    return found->scripts;
}

void fleet_each(const Serve *serve, RemoteEach each, void *user)
{
    for (uint32_t i = 0; serve->fleet != NULL && i < host_world_count(serve->host); i++) {
        const FleetWorld *found = find_world(serve, host_world_at(serve->host, i));
        if (found != NULL) {
            each(user, found->world_id, &found->report);
        }
    }
}

static void count_one(void *user, const char *world_id, const RemoteReport *report)
{
    (void)world_id;
    *(uint32_t *)user += report->players > 0;
}

uint32_t fleet_played(const Serve *serve, const char *where)
{
    uint32_t count = 0;
    if (where[0] != '\0') {
        const FleetWorld *found = find_world(serve, host_world(serve->host, where));
        return found != NULL && found->report.players > 0;
    }
    fleet_each(serve, count_one, &count);
    return count;
}

// --- hosts --------------------------------------------------------------------------------------

static FleetPeer *find_peer(const Serve *serve, const uint8_t *boot)
{
    for (uint32_t i = 0; i < serve->fleet->peer_count; i++) {
        if (memcmp(serve->fleet->peers[i].boot, boot, STORE_BOOT_BYTES) == 0) {
            return &serve->fleet->peers[i];
        }
    }
    return NULL;
}

// One that was not asked yet counts as heard for as long as an answer may take.
static bool is_heard(const Serve *serve, const StoreHost *row)
{
    const FleetPeer *peer = find_peer(serve, row->boot);
    const uint64_t last = peer == NULL          ? clock_ns()
                          : peer->heard_ns != 0 ? peer->heard_ns
                                                : peer->since_ns;
    return clock_ns() - last < silent_ns(serve);
}

static FleetHost host_of(const StoreHost *row)
{
    return (FleetHost){.host_id = row->host_id,
                       .address = row->address,
                       .worlds = row->worlds,
                       .players = row->players,
                       .memory = row->memory,
                       .tick = row->tick,
                       .is_draining = row->draining};
}

uint32_t fleet_hosts(Serve *serve, FleetHost *out, uint32_t max)
{
    const uint32_t peers = serve->fleet != NULL ? host_peer_count(serve->host) : 0;
    if (serve->fleet == NULL || max == 0) {
        return 0;
    }
    const Host *host = serve->host;
    out[0] = host_of(&host->own_load);
    out[0].host_id = host->config.host_id;
    out[0].address = host->config.address;
    out[0].is_draining = host_is_draining(host);
    out[0].is_self = out[0].is_heard = true;
    for (uint32_t i = 0; i < peers && i + 1 < max; i++) {
        const StoreHost *row = host_peer_at(host, i);
        out[i + 1] = host_of(row);
        out[i + 1].is_heard = is_heard(serve, row);
    }
    return peers + 1;
}

uint32_t fleet_silent_count(const Serve *serve)
{
    uint32_t count = 0;
    for (uint32_t i = 0; serve->fleet != NULL && i < host_peer_count(serve->host); i++) {
        count += !is_heard(serve, host_peer_at(serve->host, i));
    }
    return count;
}

// --- being asked --------------------------------------------------------------------------------

// False: it does not run here, nor on a machine whose reports come here.
static bool say_world(const Serve *serve, const HostWorld *world, PeerWorld *out)
{
    const HostLink *link = host_world_link(world);
    const RemoteReport *reported = remote_world_report(serve, world);
    const HostWorldView view = host_world_view(world);
    if (link == NULL && reported == NULL) {
        return false;
    }
    *out = (PeerWorld){.player_max = view.player_max,
                       .is_hidden = view.place == NULL || view.place->is_hidden};
    memcpy(out->world_id, view.row->world_id, sizeof out->world_id);
    if (reported != NULL) {
        out->state = reported->state;
        out->players = reported->players;
        out->tick = reported->tick;
        out->late_p99_us = reported->late_p99_us;
        out->work_max_us = reported->work_max_us;
        out->memory_bytes = reported->memory_bytes;
        out->uptime_s = reported->uptime_s;
        out->crashes = reported->crashes;
        return true;
    }
    const pid_t pid = link_process_pid(link);
    out->state = view.state;
    out->players = view.players < WORLD_PLAYERS_MAX ? view.players : WORLD_PLAYERS_MAX;
    out->tick = view.stats->tick;
    out->late_p99_us = view.stats->late_p99_us;
    out->work_max_us = view.stats->work_max_us;
    out->memory_bytes = pid != 0 ? process_resident_bytes(pid) : 0;
    out->uptime_s = view.up_ns / HOST_SECOND_NS;
    out->crashes = view.crashes;
    out->bytes_down = view.stats->socket_bytes_down;
    out->bytes_up = view.stats->socket_bytes_up;
    return true;
}

// Numbers of a world are a stranger's: those that a reader would refuse are cut.
static void cut(PeerWorld *world)
{
    uint64_t *const numbers[] = {&world->tick,       &world->late_p99_us, &world->work_max_us,
                                 &world->bytes_down, &world->bytes_up,    &world->crashes};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] = *numbers[i] < PEER_NUMBER_MAX ? *numbers[i] : PEER_NUMBER_MAX - 1;
    }
    world->player_max =
        world->player_max < WORLD_PLAYERS_MAX ? world->player_max : WORLD_PLAYERS_MAX;
}

// All who ask within a second are told the same.
static void look_at_own(Serve *serve)
{
    struct Fleet *fleet = serve->fleet;
    const uint32_t most = host_world_count(serve->host) + 1;
    if (fleet->own_ns != 0 && clock_ns() - fleet->own_ns < OWN_NS) {
        return;
    }
    PeerWorld *own = realloc(fleet->own, most * sizeof *own);
    if (own == NULL) {
        return; // what was there a second ago stays
    }
    fleet->own = own;
    fleet->own_count = 0;
    fleet->own_ns = clock_ns();
    for (uint32_t at = host_world_after(serve->host, "");
         at != UINT32_MAX && fleet->own_count < most; at = host_world_next(serve->host, at)) {
        if (say_world(serve, host_world_in_order(serve->host, at), &own[fleet->own_count])) {
            cut(&own[fleet->own_count++]);
        }
    }
}

static PeerReply say_worlds(Serve *serve, const char *after)
{
    struct Fleet *fleet = serve->fleet;
    look_at_own(serve);
    uint32_t first = 0;
    while (first < fleet->own_count && strcmp(fleet->own[first].world_id, after) <= 0) {
        first += 1;
    }
    const uint32_t left = fleet->own_count - first;
    const uint32_t count = left < PEER_WORLDS_MAX ? left : PEER_WORLDS_MAX;
    const PeerWorld *rows = fleet->own_count > 0 ? fleet->own + first : fleet->page;
    return (PeerReply){.bytes = fleet->payload,
                       .count = peer_worlds_write(rows, count, count < left, fleet->payload)};
}

static PeerReply say_scripts(Serve *serve, const HostWorld *world)
{
    ByteWriter writer = byte_writer(serve->fleet->payload, PEER_PAYLOAD_BYTES);
    uint64_t version;
    const ScriptTable *table = host_world_link(world) != NULL
                                   ? host_world_scripts(world)
                                   : remote_world_scripts(serve, world->row.world_id, &version);
    if (table != NULL) {
        script_table_write(table, &writer);
    }
    return (PeerReply){.bytes = serve->fleet->payload,
                       .count = writer.status == STATUS_OK ? writer.at : 0};
}

static PeerOutcome stop_world(Serve *serve, HostWorld *world)
{
    if (host_world_link(world) != NULL) {
        host_world_shut(world, SERVE_STOP_REASON);
        return PEER_DONE;
    }
    return remote_world_stop(serve, world, SERVE_STOP_REASON) == STATUS_OK ? PEER_DONE
                                                                           : PEER_NOT_HERE;
}

PeerReply serve_fleet_hear(Serve *serve, const HostPeerAsk *ask)
{
    const PeerReply not_here = {.outcome = PEER_NOT_HERE};
    if (ask->kind == PEER_WORLDS) {
        return say_worlds(serve, ask->world_id);
    }
    if (ask->kind == PEER_DRAIN) {
        serve_log(LOG_WARN, "peers", "another host says for an operator: drain %s", ask->text);
        return (PeerReply){.outcome = serve_drain(serve, ask->text) ? PEER_DONE : PEER_NOT_HERE};
    }
    HostWorld *world = host_world(serve->host, ask->world_id);
    if (world == NULL ||
        (host_world_link(world) == NULL && remote_world_report(serve, world) == NULL)) {
        return not_here;
    }
    return ask->kind == PEER_SCRIPTS ? say_scripts(serve, world)
                                     : (PeerReply){.outcome = stop_world(serve, world)};
}

// --- asking for worlds --------------------------------------------------------------------------

// A question on its way.
typedef struct FleetAsk {
    uint8_t boot[STORE_BOOT_BYTES];
    char world_id[65]; // from behind which on, or whose scripts
} FleetAsk;

static bool send(Serve *serve, const StoreHost *row, const HostPeerAsk *ask, PeerThen then)
{
    FleetAsk *sent = calloc(1, sizeof *sent);
    if (sent == NULL) {
        return false;
    }
    memcpy(sent->boot, row->boot, sizeof sent->boot);
    memcpy(sent->world_id, ask->world_id, sizeof sent->world_id);
    if (serve_peer_ask(serve, row, ask, then, sent) != STATUS_OK) {
        free(sent);
        return false;
    }
    return true;
}

static void hear_worlds(Serve *serve, void *what, const PeerReply *reply);

static void ask_worlds(Serve *serve, const StoreHost *row, FleetPeer *peer, const char *after)
{
    HostPeerAsk ask = {.kind = PEER_WORLDS};
    snprintf(ask.world_id, sizeof ask.world_id, "%s", after);
    peer->is_asked = send(serve, row, &ask, hear_worlds);
}

// True: it was not known here, and is looked for in the store.
static bool take_world(Serve *serve, const StoreHost *row, const FleetPeer *peer,
                       const PeerWorld *said, bool may_look)
{
    const HostWorld *world = host_world(serve->host, said->world_id);
    if (world == NULL) {
        if (may_look) {
            serve_look_world(serve, said->world_id, NULL, NULL);
        }
        return true;
    }
    FleetWorld **slot = &serve->fleet->worlds[world->number];
    *slot = *slot != NULL ? *slot : calloc(1, sizeof **slot);
    if (*slot == NULL || strcmp(world->row.world_id, said->world_id) != 0) {
        return false; // it was named by a code
    }
    FleetWorld *found = *slot;
    if (strcmp(found->world_id, said->world_id) != 0 ||
        memcmp(found->boot, row->boot, sizeof found->boot) != 0) {
        free(found->scripts);
        *found = (FleetWorld){.scripts_version = found->scripts_version + 1};
    }
    memcpy(found->world_id, said->world_id, sizeof found->world_id);
    memcpy(found->boot, row->boot, sizeof found->boot);
    found->round = peer->round;
    found->heard_ns = clock_ns();
    found->report = (RemoteReport){.state = said->state,
                                   .players = said->players,
                                   .tick = said->tick,
                                   .late_p99_us = said->late_p99_us,
                                   .work_max_us = said->work_max_us,
                                   .memory_bytes = said->memory_bytes,
                                   .uptime_s = said->uptime_s,
                                   .crashes = said->crashes,
                                   .player_max = said->player_max,
                                   .is_hidden = said->is_hidden,
                                   .bytes_down = said->bytes_down,
                                   .bytes_up = said->bytes_up};
    memcpy(found->report.host_id, row->host_id, sizeof found->report.host_id);
    return false;
}

// It has said everything: what it said before and not now does not run there any more.
static void end_round(Serve *serve, FleetPeer *peer)
{
    peer->heard_ns = clock_ns();
    for (uint32_t i = 0; i < HOST_WORLDS_MAX; i++) {
        FleetWorld *world = serve->fleet->worlds[i];
        if (world != NULL && world->round != peer->round &&
            memcmp(world->boot, peer->boot, sizeof world->boot) == 0) {
            world->heard_ns = 0;
        }
    }
}

static void hear_worlds(Serve *serve, void *what, const PeerReply *reply)
{
    struct Fleet *fleet = serve->fleet;
    FleetAsk *ask = what;
    FleetPeer *peer = find_peer(serve, ask->boot);
    const HostPeer *known = host_peer_find(serve->host, NULL, ask->boot);
    uint32_t count = 0, looks = 0;
    bool has_more = false;
    if (peer != NULL) {
        peer->is_asked = false;
    }
    const bool is_good =
        peer != NULL && known != NULL && reply != NULL &&
        peer_worlds_read(reply->bytes, reply->count, fleet->page, &count, &has_more) == STATUS_OK &&
        (count == 0 || strcmp(ask->world_id, fleet->page[0].world_id) < 0);
    free(ask);
    if (!is_good) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        looks += take_world(serve, &known->row, peer, &fleet->page[i], looks < LOOKS_MAX);
    }
    if (has_more) {
        ask_worlds(serve, &known->row, peer, fleet->page[count - 1].world_id);
    } else {
        end_round(serve, peer);
    }
}

// Peers that have no row any more make room.
static FleetPeer *add_peer(Serve *serve, const uint8_t *boot)
{
    struct Fleet *fleet = serve->fleet;
    FleetPeer *peer = NULL;
    for (uint32_t i = 0; i < fleet->peer_count && peer == NULL; i++) {
        if (host_peer_find(serve->host, NULL, fleet->peers[i].boot) == NULL) {
            peer = &fleet->peers[i];
        }
    }
    if (peer == NULL && fleet->peer_count < STORE_PEERS_MAX) {
        peer = &fleet->peers[fleet->peer_count++];
    }
    if (peer != NULL) {
        *peer = (FleetPeer){.since_ns = clock_ns()};
        memcpy(peer->boot, boot, sizeof peer->boot);
    }
    return peer;
}

static void ask_next(Serve *serve)
{
    struct Fleet *fleet = serve->fleet;
    const uint32_t count = host_peer_count(serve->host);
    const uint64_t now = clock_ns();
    const uint64_t pause = count > ROUND_NS / ASK_NS ? ASK_NS : ROUND_NS / (count > 0 ? count : 1);
    if (count == 0 || now - fleet->asked_ns < pause) {
        return;
    }
    fleet->asked_ns = now;
    const StoreHost *row = host_peer_at(serve->host, fleet->next++ % count);
    FleetPeer *peer = find_peer(serve, row->boot);
    peer = peer != NULL ? peer : add_peer(serve, row->boot);
    if (peer != NULL && !peer->is_asked) {
        peer->round = ++fleet->round;
        ask_worlds(serve, row, peer, "");
    }
}

// --- what scripts cost --------------------------------------------------------------------------

static void hear_scripts(Serve *serve, void *what, const PeerReply *reply)
{
    FleetAsk *ask = what;
    FleetWorld *found = find_world(serve, host_world(serve->host, ask->world_id));
    if (found != NULL && reply != NULL && reply->outcome == PEER_DONE && reply->count > 0) {
        Hash64 hash = HASH64_INIT;
        hash_bytes(&hash, reply->bytes, reply->count);
        ScriptTable *table = found->scripts != NULL ? found->scripts : malloc(sizeof *table);
        const bool is_new = found->scripts == NULL || hash.state != found->scripts_hash;
        found->scripts = table;
        if (table != NULL && is_new) {
            if (script_table_read(reply->bytes, reply->count, table) == STATUS_OK) {
                found->scripts_hash = hash.state;
                found->scripts_version += 1;
            } else {
                free(table);
                found->scripts = NULL;
            }
        }
    }
    free(ask);
}

static void ask_scripts(Serve *serve)
{
    struct Fleet *fleet = serve->fleet;
    const uint64_t now = clock_ns();
    if (now - fleet->scripts_ns < ASK_NS) {
        return;
    }
    fleet->scripts_ns = now;
    for (uint32_t i = 0; i < host_world_count(serve->host); i++) {
        FleetWorld *world = fleet->worlds[i];
        if (world == NULL || world->scripts_wanted_ns == 0) {
            continue;
        }
        if (now - world->scripts_wanted_ns > WANTED_NS) {
            free(world->scripts);
            world->scripts = NULL;
            world->scripts_wanted_ns = 0;
            continue;
        }
        const HostPeer *peer = host_peer_find(serve->host, NULL, world->boot);
        if (peer != NULL && now - world->scripts_asked_ns >= SCRIPTS_NS) {
            HostPeerAsk ask = {.kind = PEER_SCRIPTS};
            memcpy(ask.world_id, world->world_id, sizeof ask.world_id);
            world->scripts_asked_ns = now;
            (void)send(serve, &peer->row, &ask, hear_scripts);
        }
    }
}

void serve_fleet_step(Serve *serve)
{
    if (serve->fleet != NULL && !host_is_stopping(serve->host)) {
        ask_next(serve);
        ask_scripts(serve);
    }
}

// --- orders -------------------------------------------------------------------------------------

Status fleet_stop_world(Serve *serve, const HostWorld *world, PeerThen then, void *what)
{
    const FleetWorld *found = find_world(serve, world);
    const HostPeer *peer = found != NULL ? host_peer_find(serve->host, NULL, found->boot) : NULL;
    HostPeerAsk ask = {.kind = PEER_STOP};
    if (peer == NULL) {
        return STATUS_NOT_FOUND;
    }
    memcpy(ask.world_id, found->world_id, sizeof ask.world_id);
    return serve_peer_ask(serve, &peer->row, &ask, then, what);
}

void fleet_note_stop(Serve *serve, const HostWorld *world)
{
    FleetWorld *found = find_world(serve, world);
    if (found != NULL) {
        found->report.state = WORLD_STOPPING;
    }
}

Status fleet_drain(Serve *serve, const char *host_id, const char *how, PeerThen then, void *what)
{
    HostPeerAsk ask = {.kind = PEER_DRAIN};
    snprintf(ask.text, sizeof ask.text, "%s", how);
    for (uint32_t i = 0; serve->fleet != NULL && i < host_peer_count(serve->host); i++) {
        const StoreHost *row = host_peer_at(serve->host, i);
        if (strcmp(row->host_id, host_id) == 0) {
            return serve_peer_ask(serve, row, &ask, then, what);
        }
    }
    return STATUS_NOT_FOUND;
}
