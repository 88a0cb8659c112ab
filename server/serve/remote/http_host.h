// What hosts on other machines ask of a control plane: to be registered, a place, and the jobs of
// their store (remote_batch.h); and what operators do with their keys. A host may lie, so whatever
// it asks is bounded, and the store lets it touch only a world whose lease it holds.
//
// The main thread owns everything here: jobs go into the Host's store, their answers come out of it
// (HostOutside.stored), and the request is answered when all of a batch are there. One batch of a
// host runs at a time; its reply is kept until the next, so that a host that got no answer can ask
// again without anything being done twice.
#pragma once

#include "core/base/limits.h"
#include "server/channel/script_table.h"
#include "server/net/http.h"
#include "server/store/world/remote_batch.h"

typedef struct Serve Serve;
typedef struct ServePlace ServePlace;
typedef struct RemoteHosts RemoteHosts;

// After the places are there. Does nothing for a server without accounts.
MUST_USE Status serve_hosts_open(Serve *serve);
void serve_hosts_close(Serve *serve); // after http_stop, before the store is closed

void serve_hosts_stored(void *user, StoreCompletion *done); // HostOutside.stored

void serve_hosts_register(void *user, HttpRequest *request, HttpResponse *response);
void serve_hosts_batch(void *user, HttpRequest *request, HttpResponse *response);
void serve_hosts_report(void *user, HttpRequest *request,
                        HttpResponse *response);                                  // remote_worlds.c
void serve_hosts_lists(void *user, HttpRequest *request, HttpResponse *response); // http_evidence.c
void serve_hosts_evidence(void *user, HttpRequest *request, HttpResponse *response);
void serve_hosts_sign(void *user, HttpRequest *request, HttpResponse *response); // remote_reload.c
void serve_hosts_scripts(void *user, HttpRequest *request, HttpResponse *response);
void serve_hosts_place(void *user, HttpRequest *request, HttpResponse *response);
void serve_host_key_make(void *user, HttpRequest *request, HttpResponse *response);
void serve_host_key_list(void *user, HttpRequest *request, HttpResponse *response);
void serve_host_key_revoke(void *user, HttpRequest *request, HttpResponse *response);

// Fills in how hosts on other machines know the place.
void serve_hosts_name_place(const Serve *serve, ServePlace *place);

#define SERVE_HOST_BODY_BYTES   4096
#define SERVE_HOST_REPORT_BYTES (16u << 10)

// clang-format off
#define SERVE_HOST_ROUTES \
    {"POST", "/api/hosts/register", serve_hosts_register, .body_max = SERVE_HOST_BODY_BYTES, \
     .access = ACCESS_HOST, .takes = "world_id boot place_id?", \
     .gives = "host_id world_id room_code name place_id place_hash other_place:boolean " \
              "signing_key revision unix_ms:integer", \
     .fails = "404 409 502 503", .summary = "Registers a host that runs a world on another machine"}, \
    {"POST", "/api/hosts/batch", serve_hosts_batch, .body_max = REMOTE_BATCH_BYTES_MAX, \
     .access = ACCESS_HOST, .takes = "application/octet-stream", \
     .gives = "application/octet-stream", .fails = "404 409", \
     .summary = "Jobs of such a host's store; answered when they are on disk"}, \
    {"POST", "/api/hosts/report", serve_hosts_report, .body_max = SERVE_HOST_REPORT_BYTES, \
     .access = ACCESS_HOST, \
     .takes = "world_id boot done:integer state players:integer tick:integer " \
              "late_p99_us:integer work_max_us:integer memory_bytes:integer " \
              "uptime_seconds:integer crashes:integer accounts:array place_hash? reload?:any", \
     .gives = "draining:boolean again:boolean chat lists:integer orders:array more:boolean " \
              "wants_scripts:boolean", \
     .fails = "404 409", \
     .summary = "What such a host says of its world, and what it is told to do there"}, \
    {"POST", "/api/hosts/sign", serve_hosts_sign, .body_max = SERVE_HOST_BODY_BYTES, \
     .access = ACCESS_HOST, .takes = "world_id boot place_hash version:integer tick:integer", \
     .gives = "application/octet-stream", .fails = "404 409", \
     .summary = "Manifests of new scripts for the world of such a host, signed"}, \
    {"POST", "/api/hosts/scripts", serve_hosts_scripts, .body_max = SCRIPT_TABLE_BYTES, \
     .access = ACCESS_HOST, .takes = "application/octet-stream", .query = "world_id boot", \
     .gives = "version:integer", .fails = "404 409", \
     .summary = "What the scripts of such a host's world cost, while somebody looks"}, \
    {"GET", "/api/hosts/lists", .handler = serve_hosts_lists, .blocks = true, \
     .access = ACCESS_HOST, .gives = "version:integer words phrases addresses", .fails = "404", \
     .summary = "Words, phrases and banned ranges of addresses, for such a host"}, \
    {"POST", "/api/hosts/evidence", serve_hosts_evidence, \
     .body_max = REMOTE_EVIDENCE_BYTES_MAX, .blocks = true, .access = ACCESS_HOST, \
     .takes = "world_id boot report_id:integer number:integer reporter?:any account?:any " \
              "at:integer reason text lines:array", \
     .gives = "report_id:integer", .fails = "404 409 429", \
     .summary = "A report from a game on such a host, or the evidence of one it was asked for"}, \
    {"GET", "/api/hosts/place/*", .handler = serve_hosts_place, .blocks = true, \
     .access = ACCESS_HOST, .names = "place_id", .takes = "hash?", \
     .gives = "application/octet-stream", .fails = "404", \
     .summary = "A built place, for such a host, in the form it registered for"}, \
    {"POST", "/admin/host-keys", serve_host_key_make, .body_max = SERVE_HOST_BODY_BYTES, \
     .blocks = true, .access = ACCESS_MACHINE, .takes = "name", \
     .gives = "id name key created_at", .fails = "404 409", \
     .summary = "Makes a host key, which is shown once"}, \
    {"GET", "/admin/host-keys", .handler = serve_host_key_list, .access = ACCESS_MACHINE, \
     .gives = "host_keys:array", .fails = "404", \
     .summary = "All host keys, without their secrets"}, \
    {"DELETE", "/admin/host-keys/*", .handler = serve_host_key_revoke, .blocks = true, \
     .access = ACCESS_MACHINE, .gives = "id", .fails = "404", \
     .summary = "Revokes a host key; worlds that its hosts run end there"}
// clang-format on
