// What operators ask and do over HTTP: /admin/… (docs/HTTP.md). In development everybody on this
// machine is one. Whatever changes something is in the audit before it is done.
#pragma once

#include "server/serve/http/http_routes.h"

#define SERVE_STOP_REASON "an operator stopped this world"

// "off": no worlds are started any more; "on": they are again; "stop": off, and everything ends as
// by SIGTERM. False: it is something else. On the main thread.
bool serve_drain(Serve *serve, const char *how);
// The member `hosts`: those of the installation, at most max. On the main thread.
void serve_write_hosts(Serve *serve, JsonWriter *json, uint32_t max);

void serve_admin_get_servers(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_delete_server(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_sessions(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_cleanup(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_drain(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_drain(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_delete_drain(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_audit(void *user, HttpRequest *request, HttpResponse *response);

// --- http_moderate.c ----------------------------------------------------------------------------
void serve_admin_post_kick(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_announce(void *user, HttpRequest *request, HttpResponse *response);
// Of bans and of mutes, by the route.
void serve_admin_get_bans(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_ban(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_delete_ban(void *user, HttpRequest *request, HttpResponse *response);

// --- http_users.c -------------------------------------------------------------------------------
void serve_admin_get_users(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_user(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_settings(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_put_settings(void *user, HttpRequest *request, HttpResponse *response);
// By its name or client_id; false: the response says what is wrong. On the pool.
bool serve_find_account(Serve *serve, const char *text, HttpRequest *request,
                        HttpResponse *response, StoreAccount *out);

// --- http_logs.c --------------------------------------------------------------------------------
void serve_admin_get_logs(void *user, HttpRequest *request, HttpResponse *response);
void serve_logs_step(Serve *serve); // on the main thread: answers those who wait
void serve_logs_stop(Serve *serve); // after the HTTP server has stopped

// clang-format off
#define SERVE_ADMIN_DRAIN "draining:boolean"
#define SERVE_ADMIN_BAN "account name:any world_id:any until:any reason by:any by_name:any since"
#define SERVE_ADMIN_USER \
    "account user_id:integer username:any shown_name guest:boolean roles:array created " \
    "last_sign_in sign_ins:integer banned:boolean muted:boolean"
#define SERVE_ADMIN_ROUTES \
    {"GET", "/admin/users", .handler = serve_admin_get_users, .access = ACCESS_MACHINE, \
     .blocks = true, .takes = "after? limit?:integer q?", .gives = "users:array next:any", \
     .fails = "409", \
     .summary = "Accounts by name, or those with q in a name; next goes on as after="}, \
    {"GET", "/admin/users/*", .handler = serve_admin_get_user, .access = ACCESS_MACHINE, \
     .blocks = true, .gives = SERVE_ADMIN_USER, .fails = "404 409", \
     .summary = "An account, by its name or client_id"}, \
    {"GET", "/admin/settings", .handler = serve_admin_get_settings, .access = ACCESS_MACHINE, \
     .gives = "registration chat guest_chat approve_listing about:array", .fails = "409", \
     .summary = "What an operator may change while the server runs"}, \
    {"PUT", "/admin/settings", serve_admin_put_settings, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .blocks = true, \
     .takes = "registration? chat? guest_chat? approve_listing?", \
     .gives = "registration chat guest_chat approve_listing about:array", .fails = "409", \
     .summary = "Changes it: registration open or invite, chat and guest_chat free, phrases " \
                "or off, approve_listing yes or no"}, \
    {"GET", "/admin/servers", .handler = serve_admin_get_servers, .access = ACCESS_MACHINE, \
     .gives = "servers:array hosts:array", \
     .summary = "The worlds that run: players, process, memory, ticks, address; and the hosts"}, \
    {"DELETE", "/admin/servers/*", .handler = serve_admin_delete_server, \
     .access = ACCESS_MACHINE, .gives = "world_id state", .fails = "404 409", \
     .summary = "Stops a world; its players are told, and it is saved"}, \
    {"GET", "/admin/sessions", .handler = serve_admin_get_sessions, .access = ACCESS_MACHINE, \
     .takes = "account?", .gives = "sessions:array total:integer sockets:integer", \
     .summary = "Sign-ins that are valid, without their tokens"}, \
    {"POST", "/admin/cleanup", .handler = serve_admin_post_cleanup, .access = ACCESS_MACHINE, \
     .blocks = true, .gives = "sign_ins:integer guests:integer links:integer places:integer blobs:integer blob_bytes:integer", \
     .summary = "Forgets ended sign-ins, unused links, and guests who left nothing"}, \
    {"POST", "/admin/kick", serve_admin_post_kick, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .takes = "account world_id? reason?", .gives = "worlds:integer", \
     .fails = "404", .summary = "Removes somebody from the worlds that run, or from one"}, \
    {"POST", "/admin/announce", serve_admin_post_announce, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .takes = "text world_id?", .gives = "worlds:integer", \
     .fails = "404", .summary = "Says something to everybody, or to everybody in a world"}, \
    {"GET", "/admin/ban", .handler = serve_admin_get_bans, .access = ACCESS_MACHINE, \
     .gives = "bans:array total:integer", .fails = "409", .summary = "Who may not come in"}, \
    {"POST", "/admin/ban", serve_admin_post_ban, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .blocks = true, .fails = "404 409", \
     .takes = "account world_id? reason? minutes?:integer", .gives = SERVE_ADMIN_BAN, \
     .summary = "Somebody may not come in, for so many minutes or for good"}, \
    {"DELETE", "/admin/ban", .handler = serve_admin_delete_ban, .access = ACCESS_MACHINE, \
     .blocks = true, .takes = "account world_id?", .gives = "worlds:integer", \
     .fails = "404 409", .summary = "Lifts a ban"}, \
    {"GET", "/admin/mute", .handler = serve_admin_get_bans, .access = ACCESS_MACHINE, \
     .gives = "bans:array total:integer", .fails = "409", .summary = "Who may not chat"}, \
    {"POST", "/admin/mute", serve_admin_post_ban, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .blocks = true, .fails = "404 409", \
     .takes = "account world_id? reason? minutes?:integer", .gives = SERVE_ADMIN_BAN, \
     .summary = "Somebody may not chat, for so many minutes or for good"}, \
    {"DELETE", "/admin/mute", .handler = serve_admin_delete_ban, .access = ACCESS_MACHINE, \
     .blocks = true, .takes = "account world_id?", .gives = "worlds:integer", \
     .fails = "404 409", .summary = "Lifts a mute"}, \
    {"GET", "/admin/drain", .handler = serve_admin_get_drain, .access = ACCESS_MACHINE, \
     .gives = SERVE_ADMIN_DRAIN, .summary = "Whether this server starts no worlds any more"}, \
    {"POST", "/admin/drain", serve_admin_post_drain, .body_max = SERVE_BODY_BYTES, \
     .access = ACCESS_MACHINE, .takes = "stop?:boolean host?", .fails = "404 503", .gives = SERVE_ADMIN_DRAIN, \
     .summary = "Starts no worlds any more, and is not ready; those that run go on, or with stop " \
                "are saved and released, and the server ends, as by SIGTERM; host= another one"}, \
    {"DELETE", "/admin/drain", .handler = serve_admin_delete_drain, .access = ACCESS_MACHINE, \
     .takes = "host?", .fails = "404 503", .gives = SERVE_ADMIN_DRAIN, .summary = "Starts worlds again"}, \
    {"GET", "/admin/audit", .handler = serve_admin_get_audit, .access = ACCESS_MACHINE, \
     .blocks = true, .takes = "before?:integer limit?:integer", .gives = "audit:array next:any", \
     .summary = "What operators did, newest first; pass next as before="}, \
    {"GET", "/admin/logs", .handler = serve_admin_get_logs, .access = ACCESS_MACHINE, \
     .takes = "after?:integer world? limit?:integer wait?:integer", .fails = "404 429", \
     .gives = "lines:array last:integer", \
     .summary = "The last lines of the log; with wait= seconds it answers once there are new ones"}
// clang-format on
