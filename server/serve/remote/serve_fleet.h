// All worlds of an installation, for lists and operators. Their rows are in the store, and every
// host knows them; what a row does not say (who plays, ticks, memory) the hosts on the same store
// tell each other: each asks every other one in turn, at most ten a second, for the worlds that run
// there. Operators reach worlds of other hosts in the same way: they are stopped, their scripts'
// costs are shown, and whole hosts are drained.
//
// Questions and answers are signed by the keys in the rows of hosts (serve_peer.h), and bounded
// (peer_message.h). What a peer says is shown as its word; one that does not answer is named, and
// what it said before is forgotten after three rounds of questions.
//
// On the main thread. Without a shared store there is only what remote_worlds.h has.
#pragma once

#include "server/serve/remote/remote_worlds.h"
#include "server/serve/remote/serve_peer.h"

MUST_USE Status serve_fleet_open(Serve *serve); // with the peers; nothing without them
void serve_fleet_close(Serve *serve);
void serve_fleet_step(Serve *serve);
// A question that is not the host's to answer (PEER_WORLDS and after it).
PeerReply serve_fleet_hear(Serve *serve, const HostPeerAsk *ask);

// What another machine says of this world: one of `sandlot world --control-plane`
// (remote_world_report) or a peer. NULL: it runs here, or nobody says that it runs.
const RemoteReport *fleet_world_report(const Serve *serve, const HostWorld *world);
bool fleet_world_is_elsewhere(const Serve *serve, const char *world_id);
// As remote_world_scripts: asking makes its host say it.
const struct ScriptTable *fleet_world_scripts(Serve *serve, const char *world_id,
                                              uint64_t *version);
// Worlds of peers that somebody is in; `where` as in serve_kick.
uint32_t fleet_played(const Serve *serve, const char *where);
void fleet_each(const Serve *serve, RemoteEach each, void *user);

// --- hosts --------------------------------------------------------------------------------------
typedef struct FleetHost {
    const char *host_id, *address;
    uint32_t worlds, players, memory, tick; // as its row says; memory and tick in thousandths
    bool is_draining, is_self;
    bool is_heard; // it answered lately
} FleetHost;
// This one first. Returns how many there are, and writes at most max.
uint32_t fleet_hosts(Serve *serve, FleetHost *out, uint32_t max);
uint32_t fleet_silent_count(const Serve *serve); // hosts with a valid row that do not answer

// Orders to the host that runs a world, or to a host by its id.
// STATUS_NOT_FOUND: no peer says that it runs it. STATUS_LIMIT: too much waits.
MUST_USE Status fleet_stop_world(Serve *serve, const HostWorld *world, PeerThen then, void *what);
void fleet_note_stop(Serve *serve, const HostWorld *world); // it does: before its host says so
// "off", "on" or "stop": no worlds are started, are again, or everything ends as by SIGTERM.
MUST_USE Status fleet_drain(Serve *serve, const char *host_id, const char *how, PeerThen then,
                            void *what);
