// What operators ask and do over HTTP: /admin/… (docs/HTTP.md). In development everybody on this
// machine is one. Whatever changes something is in the audit before it is done.
#pragma once

#include "server/host/serve/http_routes.h"

void serve_admin_get_servers(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_delete_server(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_sessions(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_cleanup(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_drain(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_post_drain(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_delete_drain(void *user, HttpRequest *request, HttpResponse *response);
void serve_admin_get_audit(void *user, HttpRequest *request, HttpResponse *response);

// --- http_logs.c --------------------------------------------------------------------------------
void serve_admin_get_logs(void *user, HttpRequest *request, HttpResponse *response);
void serve_logs_step(Serve *serve); // on the main thread: answers those who wait
void serve_logs_stop(Serve *serve); // after the HTTP server has stopped

#define SERVE_ADMIN_DRAIN "draining:boolean"
#define SERVE_ADMIN_ROUTES                                                                    \
    {"GET",                                                                                   \
     "/admin/servers",                                                                        \
     .handler = serve_admin_get_servers,                                                      \
     .access = ACCESS_MACHINE,                                                                \
     .gives = "servers:array",                                                                \
     .summary = "The worlds that run: players, process, memory, ticks, address"},             \
        {"DELETE",                                                                            \
         "/admin/servers/*",                                                                  \
         .handler = serve_admin_delete_server,                                                \
         .access = ACCESS_MACHINE,                                                            \
         .gives = "world_id state",                                                           \
         .fails = "404 409",                                                                  \
         .summary = "Stops a world; who is in it is told, and it is saved"},                  \
        {"GET",                                                                               \
         "/admin/sessions",                                                                   \
         .handler = serve_admin_get_sessions,                                                 \
         .access = ACCESS_MACHINE,                                                            \
         .takes = "account?",                                                                 \
         .gives = "sessions:array total:integer sockets:integer",                             \
         .summary = "Sign-ins that are valid, without their tokens"},                         \
        {"POST",                                                                              \
         "/admin/cleanup",                                                                    \
         .handler = serve_admin_post_cleanup,                                                 \
         .access = ACCESS_MACHINE,                                                            \
         .blocks = true,                                                                      \
         .gives = "sign_ins:integer guests:integer links:integer",                            \
         .summary = "Forgets ended sign-ins, unused links, and guests who left nothing"},     \
        {"GET",                                                                               \
         "/admin/drain",                                                                      \
         .handler = serve_admin_get_drain,                                                    \
         .access = ACCESS_MACHINE,                                                            \
         .gives = SERVE_ADMIN_DRAIN,                                                          \
         .summary = "Whether this server starts no worlds any more"},                         \
        {"POST",                                                                              \
         "/admin/drain",                                                                      \
         .handler = serve_admin_post_drain,                                                   \
         .access = ACCESS_MACHINE,                                                            \
         .gives = SERVE_ADMIN_DRAIN,                                                          \
         .summary = "Starts no worlds any more, and is not ready; those that run go on"},     \
        {"DELETE",                                                                            \
         "/admin/drain",                                                                      \
         .handler = serve_admin_delete_drain,                                                 \
         .access = ACCESS_MACHINE,                                                            \
         .gives = SERVE_ADMIN_DRAIN,                                                          \
         .summary = "Starts worlds again"},                                                   \
        {"GET",                                                                               \
         "/admin/audit",                                                                      \
         .handler = serve_admin_get_audit,                                                    \
         .access = ACCESS_MACHINE,                                                            \
         .blocks = true,                                                                      \
         .takes = "before?:integer limit?:integer",                                           \
         .gives = "audit:array next:any",                                                     \
         .summary = "What operators did, the newest first; next goes on as before="},         \
    {                                                                                         \
        "GET", "/admin/logs",                                                                 \
            .handler = serve_admin_get_logs, .access = ACCESS_MACHINE,                        \
            .takes = "after?:integer world? limit?:integer wait?:integer",                    \
            .gives = "lines:array last:integer", .fails = "404 429",                          \
            .summary =                                                                        \
                "The last lines of the log; with wait= seconds it answers once there are new" \
                " ones"                                                                       \
    }
