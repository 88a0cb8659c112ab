// See access.h.
#include "server/serve/http/access.h"

#include "server/control/account.h"
#include "server/control/control.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/order/http_order.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BEARER "Bearer "

typedef struct Entered {
    Identity who; // nobody, if it is a host
    bool has_cookie;
    bool is_host;
    bool is_unknown; // it shows a token of an issuer that was not looked at yet
    StoreHostKey host_key;
} Entered;

const Identity *serve_who(const HttpRequest *request)
{
    const Entered *entered = http_note(request);
    return entered != NULL && !entered->is_host && !entered->is_unknown ? &entered->who : NULL;
}

const StoreHostKey *serve_host_key(const HttpRequest *request)
{
    const Entered *entered = http_note(request);
    return entered != NULL && entered->is_host ? &entered->host_key : NULL;
}

bool serve_has_cookie(const HttpRequest *request)
{
    const Entered *entered = http_note(request);
    return entered != NULL && entered->has_cookie;
}

// --- the cookie ---------------------------------------------------------------------------------

// The prefix makes browsers refuse a cookie of that name which a neighbouring site has set.
static const char *cookie_name(const Serve *serve)
{
    return serve->is_https ? "__Host-sandlot" : "sandlot";
}

bool serve_set_cookie(const void *user, const char *token, char *out, size_t bytes)
{
    const Serve *serve = user;
    const int length =
        snprintf(out, bytes, "%s=%s; Path=/; HttpOnly; SameSite=Lax%s%s", cookie_name(serve), token,
                 serve->is_https ? "; Secure" : "", token[0] == '\0' ? "; Max-Age=0" : "");
    return length > 0 && (size_t)length < bytes;
}

static const char *device_name(const Serve *serve)
{
    return serve->is_https ? "__Host-sandlot-device" : "sandlot-device";
}

bool serve_set_device_cookie(const void *user, const char *text, char *out, size_t bytes)
{
    const Serve *serve = user;
    const int length =
        snprintf(out, bytes, "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000%s",
                 device_name(serve), text, serve->is_https ? "; Secure" : "");
    return length > 0 && (size_t)length < bytes;
}

static const char *issuer_name_of(const Serve *serve)
{
    return serve->is_https ? "__Host-sandlot-issuer" : "sandlot-issuer";
}

bool serve_set_issuer_cookie(const void *user, const char *text, char *out, size_t bytes)
{
    const Serve *serve = user;
    const int length = snprintf(out, bytes, "%s=%s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d%s",
                                issuer_name_of(serve), text, text[0] != '\0' ? 600 : 0,
                                serve->is_https ? "; Secure" : "");
    return length > 0 && (size_t)length < bytes;
}

bool serve_issuer_cookie(const void *user, HttpRequest *request, char *out, size_t bytes)
{
    return http_cookie(request, issuer_name_of(user), out, bytes);
}

const char *serve_device(const void *user, HttpRequest *request)
{
    char *text = arena_alloc(http_arena(request), DEVICE_TEXT_BYTES);
    const bool has =
        text != NULL && http_cookie(request, device_name(user), text, DEVICE_TEXT_BYTES);
    return has ? text : NULL;
}

// --- who it is ----------------------------------------------------------------------------------

const char *serve_unknown_token(const HttpRequest *request)
{
    const Entered *entered = http_note(request);
    return entered != NULL && entered->is_unknown
               ? http_header(request, "Authorization") + sizeof BEARER - 1
               : NULL;
}

void serve_token_is_known(HttpRequest *request, const Identity *who)
{
    Entered *entered = arena_alloc(http_arena(request), sizeof *entered);
    if (entered != NULL) {
        *entered = (Entered){.who = *who};
        http_set_note(request, entered);
    }
}

// False: it shows a sign-in that is none (any more).
static bool find_who(const Serve *serve, const HttpRoute *route, HttpRequest *request,
                     Entered **out)
{
    char cookie[TOKEN_TEXT_BYTES];
    const char *header = http_header(request, "Authorization");
    const bool has_bearer = header != NULL && strncasecmp(header, BEARER, sizeof BEARER - 1) == 0;
    const bool has_cookie =
        header == NULL && http_cookie(request, cookie_name(serve), cookie, sizeof cookie);
    if (!has_bearer && !has_cookie) {
        return header == NULL;
    }
    Entered *entered = arena_alloc(http_arena(request), sizeof *entered);
    if (entered == NULL) {
        return false;
    }
    const char *token = has_bearer ? header + sizeof BEARER - 1 : cookie;
    *entered = (Entered){0};
    const Status status = identity_of_token(serve->control, token, &entered->who);
    entered->has_cookie = has_cookie;
    // Asking an issuer takes time, so only what is made for it does: the handler of /join.
    if (status != STATUS_OK && has_bearer && route->handler == serve_post_join &&
        control_may_admit(serve->control, token, strlen(token))) {
        entered->is_unknown = true;
        *out = entered;
        return true;
    }
    *out = status == STATUS_OK ? entered : NULL;
    return status == STATUS_OK || has_cookie; // an old cookie is as good as none
}

// A page of another site could send this with the cookie of whoever looks at it. Ours send a header
// that it cannot, or are forms, for which Origin must do.
static bool is_forged(const HttpRoute *route, const HttpRequest *request, const Entered *entered)
{
    if (entered == NULL || !entered->has_cookie || strcmp(route->method, "GET") == 0) {
        return false;
    }
    return http_header(request, "Origin") == NULL || !http_origin_is_allowed(request) ||
           (!route->is_form && http_header(request, ACCESS_HEADER) == NULL);
}

bool serve_is_development(const Serve *serve, const HttpRequest *request)
{
    return serve->development && http_is_loopback(request) && !http_is_forwarded(request);
}

// --- what it may --------------------------------------------------------------------------------

static bool has_role(const Identity *who, uint32_t role)
{
    return who != NULL && (who->roles & (role | ROLE_OPERATOR)) != 0;
}

// What is not said by who may ask; the first that fits counts.
typedef struct ScopeRule {
    const char *path; // as routes begin
    uint32_t scope;
} ScopeRule;

static uint32_t scope_find(const ScopeRule *rules, size_t count, const char *path, uint32_t other)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(path, rules[i].path, strlen(rules[i].path)) == 0) {
            return rules[i].scope;
        }
    }
    return other;
}

// Routes of guests and accounts, whose handlers look for rights. Whatever is new below places and
// spells is a creator's, until it is said here that players do it.
static uint32_t scope_of_account(const char *path)
{
    static const ScopeRule rules[] = {
        {"/api/places/*/vote", SCOPE_PLAY}, {"/api/places/*/favourite", SCOPE_PLAY},
        {"/api/places", SCOPE_CREATE},      {"/api/spells", SCOPE_CREATE},
        {"/api/drafts", SCOPE_CREATE},      {"/api/me/places", SCOPE_CREATE},
        {"/api/me/offers", SCOPE_CREATE},   {"/api/me/quota", SCOPE_CREATE},
        {"/api/classes", SCOPE_OPERATE}};
    return scope_find(rules, sizeof rules / sizeof rules[0], path, SCOPE_PLAY);
}

uint32_t serve_scope(const HttpRoute *route)
{
    static const ScopeRule anyone[] = {{"/api/script", SCOPE_CREATE}, {"/api/jobs", SCOPE_CREATE}};
    switch ((Access)route->access) {
    case ACCESS_ANYONE: // mostly what needs no sign-in
        return scope_find(anyone, sizeof anyone / sizeof anyone[0], route->path, 0);
    case ACCESS_SIGNED_IN:
    case ACCESS_ACCOUNT: // who one is, every tool may ask
        return strcmp(route->path, "/api/account") == 0 ? 0 : scope_of_account(route->path);
    case ACCESS_CREATOR:
        return SCOPE_CREATE;
    case ACCESS_TEACHER:
    case ACCESS_LOCAL:
    case ACCESS_OPERATOR:
    case ACCESS_MACHINE:
        return SCOPE_OPERATE;
    case ACCESS_SELF: // no token does
    case ACCESS_HOST:
    case ACCESS_COUNT:
        break;
    }
    return 0;
}

// Operators do with all places what their creators do, and teachers look into those of their class.
static bool operates_for_creators(const HttpRoute *route, const Identity *who)
{
    const bool is_reading = strcmp(route->method, "GET") == 0;
    return (who->scope & SCOPE_OPERATE) != 0 && serve_scope(route) == SCOPE_CREATE &&
           (who->roles & (ROLE_OPERATOR | (is_reading ? ROLE_TEACHER : 0))) != 0;
}

// What a tool does with a token stays within the token's scope.
static bool has_scope(const Identity *who, const HttpRoute *route)
{
    if (who == NULL || who->kind != SIGN_IN_TOKEN) {
        return true;
    }
    const uint32_t needs = serve_scope(route);
    return route->access != ACCESS_SELF &&
           ((who->scope & needs) == needs || operates_for_creators(route, who));
}

static bool is_allowed(const Serve *serve, Access access, const HttpRequest *request,
                       const Identity *who)
{
    const bool develops = serve_is_development(serve, request);
    switch (access) {
    case ACCESS_ANYONE:
        return true;
    case ACCESS_SIGNED_IN:
    case ACCESS_SELF:
        return who != NULL;
    case ACCESS_ACCOUNT:
        return who != NULL && !who->is_guest;
    case ACCESS_CREATOR:
        return has_role(who, ROLE_CREATOR) || (develops && who != NULL);
    case ACCESS_TEACHER:
        return has_role(who, ROLE_TEACHER);
    case ACCESS_LOCAL:
        return has_role(who, ROLE_OPERATOR) ||
               (http_is_loopback(request) && !http_is_forwarded(request));
    case ACCESS_OPERATOR:
        return has_role(who, ROLE_OPERATOR);
    case ACCESS_MACHINE:
        return has_role(who, ROLE_OPERATOR) || (develops && http_origin_is_allowed(request));
    case ACCESS_HOST: // decided before
    case ACCESS_COUNT:
        break;
    }
    return false;
}

// A host key is no sign-in, and a sign-in no host key.
static bool enter_host(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    const char *header = http_header(request, "Authorization");
    Entered *entered = arena_alloc(http_arena(request), sizeof *entered);
    if (entered == NULL || header == NULL || strncasecmp(header, BEARER, sizeof BEARER - 1) != 0) {
        http_fail(request, response, 401, "auth_required",
                  "this is for hosts: send `Authorization: Bearer <host key>`");
        return false;
    }
    *entered = (Entered){.is_host = true};
    if (host_key_of_token(serve->control, header + sizeof BEARER - 1, &entered->host_key) !=
        STATUS_OK) {
        http_fail(request, response, 401, "auth_failed",
                  "this host key is not valid (any more); ask an operator for a new one");
        return false;
    }
    http_set_note(request, entered);
    return true;
}

static void refuse_access(HttpRequest *request, HttpResponse *response, const HttpRoute *route,
                          const Identity *who)
{
    const Access access = (Access)route->access;
    static const char *const needs[ACCESS_COUNT] = {
        [ACCESS_ACCOUNT] = "this needs an account; register, and you keep what you have",
        [ACCESS_CREATOR] = "this needs an account that may create; ask an operator",
        [ACCESS_TEACHER] = "this is for teachers; ask an operator",
        [ACCESS_LOCAL] = "this is for operators, and for this machine",
        [ACCESS_OPERATOR] = "this is for operators",
        [ACCESS_MACHINE] = "this is for operators"};
    if (who == NULL) {
        http_fail(request, response, 401, "auth_required",
                  "sign in first: POST /login gives a guest's session_token, to be sent as "
                  "`Authorization: Bearer <session_token>`");
    } else if (!has_scope(who, route)) {
        http_fail(request, response, 403, "scope",
                  access == ACCESS_SELF
                      ? "a token of a tool cannot do this; sign in with the password"
                      : "this token has another scope; make one with the scope that is needed");
    } else {
        http_fail(request, response, 403, "denied", needs[access]);
    }
}

// Who is banned everywhere changes nothing here: publishes nothing, votes, reports and writes
// nothing. What is about nobody but themselves stays theirs, deleting their account too.
static bool refuse_banned(const Serve *serve, const HttpRoute *route, HttpRequest *request,
                          HttpResponse *response, const Identity *who)
{
    StoreBan ban;
    // Others read the shown name, and tokens are for programs that change something.
    const bool is_for_others =
        strcmp(route->method, "POST") == 0 && (strcmp(route->path, "/api/account") == 0 ||
                                               strcmp(route->path, "/api/account/tokens") == 0);
    // Signing in and out, and joining, which asks about bans itself, stand outside /api/.
    const bool is_own = (route->access == ACCESS_SELF && !is_for_others) ||
                        (route->access == ACCESS_ANYONE && strncmp(route->path, "/api/", 5) != 0);
    const bool is_checked = strcmp(route->method, "GET") != 0 && !is_own;
    if (who == NULL || !is_checked ||
        !control_find_ban(serve->control, who->account, "", BAN_ENTER, &ban)) {
        return false;
    }
    HostRules rules = {.banned_until_unix_ms = ban.until_unix_ms};
    char text[192];
    snprintf(rules.ban_reason, sizeof rules.ban_reason, "%s", ban.reason);
    host_ban_text(&rules, text, sizeof text);
    http_fail(request, response, 403, "banned", text);
    return true;
}

// A host apart from the control plane answers those who play in its worlds, other hosts, and
// operators.
static bool refuse_on_host(const Serve *serve, const HttpRoute *route, HttpRequest *request,
                           HttpResponse *response)
{
    static const char *const answered[] = {
        "/health",  "/api/health",     "/readyz",    "/metrics", "/blob/",
        "/packed/", "/api/rooms/*/ws", "/api/peers", "/admin/",  "/login"};
    for (size_t i = 0; i < sizeof answered / sizeof answered[0]; i++) {
        if (strncmp(route->path, answered[i], strlen(answered[i])) == 0) {
            return false;
        }
    }
    char message[256];
    const char *url = serve->config.public_url;
    snprintf(message, sizeof message,
             "this machine runs worlds and nothing else; ask the control plane%s%.128s",
             url != NULL ? " at " : "", url != NULL ? url : "");
    http_fail(request, response, 421, "misdirected", message);
    return true;
}

bool serve_enter(void *user, const HttpRoute *route, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    Entered *entered = NULL;
    if (serve->config.role == SERVE_HOST && refuse_on_host(serve, route, request, response)) {
        return false;
    }
    if (serve->control == NULL) { // without accounts handlers decide, but for operators' routes
        if (serve_refuse_address(serve, route, request, response, NULL)) {
            return false;
        }
        const bool is_open = route->access < ACCESS_OPERATOR ||
                             is_allowed(serve, (Access)route->access, request, NULL);
        if (!is_open) {
            http_fail(request, response, 403, "denied",
                      "this server has no accounts, so it answers this on its own machine alone, "
                      "in development");
        }
        return is_open;
    }
    if (route->access == ACCESS_HOST) {
        return enter_host(serve, request, response);
    }
    if (!find_who(serve, route, request, &entered)) {
        http_fail(request, response, 401, "auth_failed",
                  "this sign-in is not valid (any more); sign in again");
        return false;
    }
    if (is_forged(route, request, entered)) {
        http_fail(request, response, 403, "origin",
                  "a request with a cookie must come from our own page: Origin, and the "
                  "header " ACCESS_HEADER);
        return false;
    }
    http_set_note(request, entered);
    if (entered != NULL && entered->is_unknown) {
        return !serve_refuse_address(serve, route, request, response, NULL);
    }
    const Identity *who = entered != NULL ? &entered->who : NULL;
    if (serve_refuse_address(serve, route, request, response, who) ||
        refuse_banned(serve, route, request, response, who)) {
        return false;
    }
    if (!has_scope(who, route) || !is_allowed(serve, (Access)route->access, request, who)) {
        refuse_access(request, response, route, who);
        return false;
    }
    return true;
}
