// Signing in at an issuer of identities, over HTTP: see docs/HTTP.md, "An issuer". The browser goes
// there and comes back with a code; between the two it has a cookie (control/issuer/issuer_flow.h).
// Issuers are asked on threads of their own: one that is slow delays nobody else.
#pragma once

#include "server/net/http.h"
#include "server/serve/mailbox.h"
#include "server/serve/serve_inside.h"

// The threads, if there is an issuer.
MUST_USE Status serve_issuer_open(Serve *serve);
// HostOutside.identify: a token of an issuer came with a socket.
void serve_issuer_identify(void *user, const HostWorld *world, uint64_t connection,
                           const char *token, size_t bytes);
// A token of an issuer came with a request (serve_unknown_token): once it was looked at, the
// request goes on to the main thread.
void serve_issuer_ask(Serve *serve, HttpRequest *request, HttpResponse *response,
                      MailHandler handler);

void serve_issuer_get_login(void *user, HttpRequest *request, HttpResponse *response);
void serve_issuer_get_callback(void *user, HttpRequest *request, HttpResponse *response);
void serve_issuer_get_logout(void *user, HttpRequest *request, HttpResponse *response);
void serve_issuer_get(void *user, HttpRequest *request, HttpResponse *response);
void serve_issuer_post_unlink(void *user, HttpRequest *request, HttpResponse *response);

// clang-format off
#define SERVE_ISSUER_ROUTES                                                                        \
    {"GET", "/login/issuer", .handler = serve_issuer_get_login, .access = ACCESS_ANYONE,           \
     .takes = "next? link?", .gives = "text/html",                                                 \
     .summary = "Sends a browser to the issuer to sign in, or to link it with one's account",      \
     .fails = "401 403 404 502 503"},                                                          \
    {"GET", "/login/issuer/callback", .handler = serve_issuer_get_callback,                        \
     .access = ACCESS_ANYONE, .takes = "code? state? iss? error? error_description? session_state?", .gives = "text/html",                             \
     .summary = "Where the issuer sends a browser back to",                                        \
     .fails = "400 401 403 404 409 429 502 503"},                                                  \
    {"GET", "/logout/issuer", .handler = serve_issuer_get_logout, .access = ACCESS_ANYONE,         \
     .gives = "text/html", .summary = "Sends a browser to the issuer to sign out there",           \
     .fails = "401 404 502 503"},                                                                  \
    {"GET", "/api/account/issuer", .handler = serve_issuer_get, .blocks = true,                    \
     .access = ACCESS_SELF, .gives = "name issuer linked:boolean since has_password:boolean link", \
     .summary = "Whether one's account is linked with the issuer, and the page that links it",     \
     .fails = "401 403 404 503"},                                                                  \
    {"POST", "/api/account/issuer/unlink", serve_issuer_post_unlink, .body_max = SERVE_BODY_BYTES, \
     .blocks = true, .access = ACCESS_SELF, .is_form = true, .gives = "status",                    \
     .summary = "The issuer signs in to one's account no more; it needs a password then",          \
     .fails = "400 401 403 404 409 503"}
// clang-format on
