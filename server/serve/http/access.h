// Who may ask what. Every route names its Access, and serve_enter decides before the handler runs:
// the sign-in (a cookie or `Authorization: Bearer`), requests that a stranger's page could make
// with somebody's cookie, and roles. Handlers ask serve_who and need not check again.
#pragma once

#include "server/control/host_key.h"
#include "server/control/identity.h"
#include "server/net/http.h"

typedef enum Access {
    ACCESS_ANYONE,
    ACCESS_SIGNED_IN, // a guest will do
    ACCESS_SELF,      // likewise, but not by the token of a tool
    ACCESS_ACCOUNT,   // no guest
    ACCESS_CREATOR,   // in development everybody on this machine is one
    ACCESS_TEACHER,
    ACCESS_LOCAL, // an operator, or a request of this machine that no proxy passed on
    ACCESS_OPERATOR,
    ACCESS_MACHINE, // an operator; in development everybody on this machine
    ACCESS_HOST,    // a host key, and nothing else
    ACCESS_COUNT
} Access;

// As sent with every request of our own pages that changes something: a form of another site cannot
// send it.
#define ACCESS_HEADER "X-Sandlot"

// HttpConfig.enter.
bool serve_enter(void *user, const HttpRoute *route, HttpRequest *request, HttpResponse *response);
// The scope that a tool's token needs for a route, as a Scope; 0: any. No token does what has
// ACCESS_SELF.
uint32_t serve_scope(const HttpRoute *route);
// Who asks; NULL: nobody. Known to every handler, also of routes that anyone may ask.
const Identity *serve_who(const HttpRequest *request);
// A token of an issuer that was not looked at yet; NULL: there is none. Only for /join, whose
// handler has it looked at and says who it is.
const char *serve_unknown_token(const HttpRequest *request);
void serve_token_is_known(HttpRequest *request, const Identity *who);
// The key of the host that asks, for routes with ACCESS_HOST.
const StoreHostKey *serve_host_key(const HttpRequest *request);
// Did the sign-in come as a cookie? Then no token goes into an answer, where a page could read it.
bool serve_has_cookie(const HttpRequest *request);
// The Set-Cookie that signs in, or out with token "". False: it does not fit.
bool serve_set_cookie(const void *serve, const char *token, char *out, size_t bytes);
// The cookie of a device on which somebody signed in (account.h): to set it, and what was shown.
bool serve_set_device_cookie(const void *serve, const char *text, char *out, size_t bytes);
const char *serve_device(const void *serve, HttpRequest *request); // NULL: none
// The cookie of a sign-in at an issuer that is under way (issuer_flow.h); "" removes it. False: it
// does not fit; there is none.
bool serve_set_issuer_cookie(const void *serve, const char *text, char *out, size_t bytes);
bool serve_issuer_cookie(const void *serve, HttpRequest *request, char *out, size_t bytes);
