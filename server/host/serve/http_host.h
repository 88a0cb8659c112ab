// What hosts on other machines ask of a control plane: to be registered, a place, and the jobs of
// their store (remote_batch.h); and what operators do with their keys. A host may lie, so whatever
// it asks is bounded, and the store lets it touch only a world whose lease it holds.
//
// The main thread owns everything here: jobs go into the Host's store, their answers come out of it
// (HostOutside.stored), and the request is answered when all of a batch are there. One batch of a
// host runs at a time; its reply is kept until the next, so that a host that got no answer can ask
// again without anything being done twice.
#pragma once

#include "server/net/http.h"
#include "server/store/remote_batch.h"

typedef struct Serve Serve;
typedef struct RemoteHosts RemoteHosts;

// After the places are there. Does nothing for a server without accounts.
MUST_USE Status serve_hosts_open(Serve *serve);
void serve_hosts_close(Serve *serve); // after http_stop, before the store is closed

void serve_hosts_stored(void *user, StoreCompletion *done); // HostOutside.stored

void serve_hosts_register(void *user, HttpRequest *request, HttpResponse *response);
void serve_hosts_batch(void *user, HttpRequest *request, HttpResponse *response);
void serve_hosts_place(void *user, HttpRequest *request, HttpResponse *response);
void serve_host_key_make(void *user, HttpRequest *request, HttpResponse *response);
void serve_host_key_list(void *user, HttpRequest *request, HttpResponse *response);
void serve_host_key_revoke(void *user, HttpRequest *request, HttpResponse *response);

#define SERVE_HOST_BODY_BYTES 4096

// clang-format off
#define SERVE_HOST_ROUTES                                                                          \
    {"POST", "/api/hosts/register", serve_hosts_register, .body_max = SERVE_HOST_BODY_BYTES,       \
     .access = ACCESS_HOST, .summary = "Registers a host that runs a world",                       \
     .takes = "world_id boot place_id?",                                                           \
     .gives = "host_id world_id room_code name place_id place_hash other_place:boolean "           \
              "signing_key revision unix_ms:integer",                                              \
     .fails = "400 401 404 409 503"},                                                              \
    {"POST", "/api/hosts/batch", serve_hosts_batch, .body_max = REMOTE_BATCH_BYTES_MAX,            \
     .access = ACCESS_HOST, .summary = "Jobs of a host's store, as bytes; answered when stored",   \
     .fails = "400 401 409 413 503"},                                                              \
    {"GET", "/api/hosts/place/*", .handler = serve_hosts_place, .blocks = true,                    \
     .access = ACCESS_HOST, .summary = "A built place, as bytes", .fails = "401 404"},             \
    {"POST", "/admin/host-keys", serve_host_key_make, .body_max = SERVE_HOST_BODY_BYTES,           \
     .blocks = true, .access = ACCESS_MACHINE, .summary = "Makes a host key, which is shown once", \
     .takes = "name", .gives = "id name key created_at", .fails = "400 401 403 409 503"},          \
    {"GET", "/admin/host-keys", .handler = serve_host_key_list, .access = ACCESS_MACHINE,          \
     .summary = "All host keys, without their secrets", .gives = "host_keys:array",                \
     .fails = "401 403"},                                                                          \
    {"DELETE", "/admin/host-keys/*", .handler = serve_host_key_revoke, .blocks = true,             \
     .access = ACCESS_MACHINE,                                                                     \
     .summary = "Revokes a host key; worlds that its hosts run end there",                         \
     .gives = "id", .fails = "401 403 404 503"}
// clang-format on
