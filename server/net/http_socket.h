// How many WebSockets each client address has, or each account. The server is done with a socket
// once somebody took it, and cannot see its end; so it gives each a number, and whoever has the
// socket says when that one is over. Called from any thread.
#pragma once

#include "core/base/status.h"
#include "server/net/http_client.h"

#include <stdint.h>

typedef struct HttpSockets HttpSockets;

MUST_USE Status http_sockets_create(uint32_t per_address_max, HttpSockets **out);
void http_sockets_destroy(HttpSockets *sockets); // NULL is fine
// For an account, unless that is 0: then for the address. LIMIT: it has as many as it may, or there
// are HTTP_SOCKETS_MAX. *number is never 0.
MUST_USE Status http_sockets_add(HttpSockets *sockets, uint64_t address, uint64_t account,
                                 uint64_t *number);
// Whoever has it now; 0, as at first: nobody else.
void http_sockets_own(HttpSockets *sockets, uint64_t number, uint64_t owner);
// One that is over already, never was or is another's is no error: the number may be a stranger's.
void http_sockets_remove(HttpSockets *sockets, uint64_t number, uint64_t owner);
void http_sockets_remove_all(HttpSockets *sockets, uint64_t owner);
uint32_t http_sockets_count(HttpSockets *sockets);
// Those with an owner that come from this range; by the key of their address (http_peer_key).
void http_sockets_each(HttpSockets *sockets, const HttpPeerRange *range,
                       void (*sink)(void *user, uint64_t number, uint64_t owner), void *user);
