// The connections of an HTTP server and their deadlines. libmicrohttpd ends a connection on which
// nothing moves; one that moves a byte now and then would live for ever, and enough of those take
// all places. So headers must be whole within their time, a body must keep up a rate after its
// first seconds, and an answer must be taken likewise; a thread of the watch shuts down the sockets
// of those that are not. It also counts connections by address (IPv6: by the 64 bits that belong to
// one customer).
#pragma once

#include "core/base/status.h"
#include "server/net/http_client.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct HttpWatch HttpWatch;
typedef struct HttpWatched HttpWatched; // one connection; NULL is one that is not watched

typedef struct HttpWatchConfig {
    uint32_t connection_max;
    uint32_t per_address_max; // 0: no limit
    bool loopback_unlimited;
    uint32_t request_ms, answer_ms;
    uint32_t rate_min;            // bytes a second, of a body and of an answer
    const HttpPeerRange *trusted; // proxies, whose connections are not counted; kept
    uint32_t trusted_count;
} HttpWatchConfig;

MUST_USE Status http_watch_create(const HttpWatchConfig *config, HttpWatch **out);
void http_watch_destroy(HttpWatch *watch);

bool http_watch_accepts(HttpWatch *watch, const struct sockaddr *from);
HttpWatched *http_watch_add(HttpWatch *watch, const struct sockaddr *from, int socket);
void http_watch_request(HttpWatch *watch, HttpWatched *watched); // waits for one from now on
// The headers are there, and so much of the body: it has request_ms, and as long as its bytes take
// at the least rate. `begins`: it is the first time for this body.
void http_watch_body(HttpWatch *watch, HttpWatched *watched, uint64_t bytes, bool begins);
// An open stream has nothing to send: the client waits for us, until http_watch_request.
void http_watch_pause(HttpWatch *watch, HttpWatched *watched);
// Gives an answer of so many bytes from now on.
void http_watch_answer(HttpWatch *watch, HttpWatched *watched, uint64_t bytes);
uint64_t http_watch_cut(HttpWatch *watch);                      // how many were too slow
void http_watch_let_go(HttpWatch *watch, HttpWatched *watched); // the socket is somebody else's
// Before the socket is closed: its number may be another's at once.
void http_watch_remove(HttpWatch *watch, HttpWatched *watched);

// False: it is no address of the internet.
bool http_watch_peer(const struct sockaddr *address, HttpPeer *out);
