// Somebody opened a page at an address of their own computer (http://localhost:8080/) and hands
// links or cards to others: under which addresses those reach this server.
#pragma once

#include "server/serve/serve_inside.h"
#include "server/sys/network.h"

#define SHARED_URL_BYTES 288

typedef struct SharedUrls {
    char text[NETWORK_ADDRESSES_MAX][SHARED_URL_BYTES]; // "http://192.0.2.7:8080"
    uint32_t count;                                     // 0: others cannot reach it
} SharedUrls;

// The public URL, or all addresses of this machine if the server listens on them; the address that
// it listens on is not told to other machines. False: the address of this request is one that
// others may have too, or it came through a proxy.
bool serve_shared_urls(const Serve *serve, const HttpRequest *request, SharedUrls *out);
// Does it listen on all addresses of this machine?
bool serve_is_everywhere(const Serve *serve);
