// A host with one world: `sandlot world`. It reads a place, opens the store, takes the world's
// lease, starts the world process, serves HTTP and hands WebSockets over. When the world process
// ends it starts another from what is stored; players come back with their tokens.
//
//   main thread    the world's channel, the store's answers, signals, restarts
//   http thread    requests; sockets for the world go through a queue
//   store thread   the database (store.h)
//   lease thread   renews the lease; a lease that is lost stops the world
//
// Lock order: there is one lock (Host.lock); nothing is called with it held.
#pragma once

#include "core/base/limits.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

#define HOST_ORIGINS_MAX 16

typedef struct HostConfig {
    const char *place;   // folder
    const char *data;    // folder; NULL: <place>/.sandlot/data
    const char *address; // to listen on; loopback means development
    uint16_t port;       // 0: any
    const char *name;    // of the world; NULL: the folder's
    const char *web;     // root of the page; NULL: none
    const char *journal; // "off", a file, or NULL: `journal` in the data folder
    uint32_t journal_mb; // at most; then it ends
    uint32_t player_max; // 0: the place's
    // Pages of other sites that may connect, "https://play.example"; ends with NULL.
    const char *origins[HOST_ORIGINS_MAX + 1];
    // Where players reach it, "https://play.example"; NULL: by address.
    const char *public_url;
    // Proxies whose X-Forwarded-For is believed, "10.0.0.0/8"; ends with NULL.
    const char *trusted_proxies[HTTP_TRUSTED_PROXIES_MAX + 1];
    bool allow_weak_jail;
} HostConfig;

HostConfig host_config_default(void);
// Until SIGTERM or SIGINT. The exit code: 0 after those, 1 when it could not start or go on; what
// went wrong is on standard error.
int host_run(const HostConfig *config);
