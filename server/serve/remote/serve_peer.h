// Hosts on the same store (server/host/host_peer.h) over HTTP: `POST /api/peers`, signed by the
// keys in their rows, sent by a few threads of their own; and what those hosts change, as events of
// the store (serve_events.c).
#pragma once

#include "server/serve/serve_inside.h"

#include "server/host/peer_message.h"

#define SHARED_LEASE_MS  30000
#define SERVE_PEER_BYTES 1024

MUST_USE Status serve_peers_open(Serve *serve);  // nothing without a shared store
MUST_USE Status serve_peers_start(Serve *serve); // the thread that reads events
void serve_peers_stop(Serve *serve);             // threads end; before the mailbox does
void serve_peers_close(Serve *serve);
void serve_peers_outside(HostOutside *outside);
void serve_post_peers(void *user, HttpRequest *request, HttpResponse *response);

// Asks a peer something that the host does not hear of (PEER_WORLDS and after it). If it is
// STATUS_OK, `then` is called once, on the main thread; reply NULL: there is none, or none that
// could be read.
typedef void (*PeerThen)(Serve *serve, void *what, const PeerReply *reply);
MUST_USE Status serve_peer_ask(Serve *serve, const StoreHost *peer, const HostPeerAsk *ask,
                               PeerThen then, void *what);

// A world that this host does not know may be new in the store: it is looked for there, and then
// known. `then` is called on the main thread, later or at once.
typedef void (*ServeLooked)(Serve *serve, void *what);
void serve_look_world(Serve *serve, const char *name, ServeLooked then, void *what);
// Others have to hear it too: on the pool, and nobody waits. Nothing without a shared store.
void serve_tell_kick(Serve *serve, uint64_t account, const char *where, const char *reason);

// Has a host that shares the store, or this one, an address in that range? `out` is its URL. Looks
// names up, so it waits; not on the main thread. False without a shared store.
bool serve_peer_in_range(Serve *serve, const HttpPeerRange *range, char out[HTTP_SITE_BYTES]);

// --- serve_events.c -----------------------------------------------------------------------------
struct ServeEvents;
// HttpConfig.origin_is_known: pages of the other hosts are ours too.
bool serve_peer_origin(void *user, const char *origin);
// From now on the clock of that database is this process's (clock_follow), if it answers.
// False: the database must not be used; the log says why.
bool serve_clock_follow(const Serve *serve);
MUST_USE Status serve_events_start(Serve *serve, struct ServeEvents **out);
void serve_events_stop(struct ServeEvents *events); // NULL is allowed

// clang-format off
#define SERVE_PEER_ROUTES \
    {"POST", "/api/peers", serve_post_peers, .body_max = SERVE_PEER_BYTES, \
     .access = ACCESS_ANYONE, .takes = "application/octet-stream", \
     .gives = "application/octet-stream", .fails = "400 401 404 409", \
     .summary = "What hosts on the same database ask each other, signed by their keys"}
// clang-format on
