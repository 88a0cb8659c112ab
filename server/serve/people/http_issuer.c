// See http_issuer.h.
#define _GNU_SOURCE
#include "server/serve/people/http_issuer.h"

#include "server/control/issuer/issuer_flow.h"
#include "server/net/http_client.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/operate/serve_log.h"
#include "server/serve/people/account_page.h"
#include "server/serve/people/http_account.h"
#include "server/serve/people/http_account_body.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ISSUER_THREADS 4
#define CALLBACK       "/login/issuer/callback"
#define COOKIE_BYTES   (FLOW_COOKIE_BYTES + 160)

Status serve_issuer_open(Serve *serve)
{
    const WorkPoolConfig config = {.thread_count = ISSUER_THREADS};
    const bool is_one = serve->control != NULL && (serve->config.oidc.issuer[0] != '\0' ||
                                                   serve->config.clerk.issuer[0] != '\0');
    return is_one ? work_pool_create(&config, &serve->issuer_pool) : STATUS_OK;
}

// --- on threads of their own --------------------------------------------------------------------

typedef struct IssuerWork {
    Serve *serve;
    HttpDeferred *deferred;
    HttpHandler work;    // answers; or
    MailHandler handler; // goes on afterwards
} IssuerWork;

static void answer_busy(HttpRequest *request, HttpResponse *response)
{
    http_fail(request, response, 503, "busy", "too many sign in at once; try again");
}

static void run_work(void *user, bool is_cancelled)
{
    IssuerWork work = *(IssuerWork *)user;
    HttpRequest *request = http_deferred_request(work.deferred);
    HttpResponse response = http_response_default();
    free(user);
    http_thread_serves(request);
    if (is_cancelled) {
        answer_busy(request, &response);
    } else {
        work.work(work.serve, request, &response);
    }
    http_thread_serves(NULL);
    http_complete(work.deferred, &response);
}

static void begin_work(HttpRequest *request, HttpResponse *response, HttpHandler work,
                       MailHandler handler, WorkRun run)
{
    Serve *serve = http_user(request);
    IssuerWork *made = malloc(sizeof *made);
    HttpDeferred *deferred = made != NULL ? http_defer(request, response) : NULL;
    if (deferred == NULL) {
        free(made);
        answer_busy(request, response);
        return;
    }
    *made = (IssuerWork){serve, deferred, work, handler};
    if (work_pool_submit(serve->issuer_pool, run, made) != STATUS_OK) {
        HttpResponse busy = http_response_default();
        free(made);
        answer_busy(http_deferred_request(deferred), &busy);
        http_complete(deferred, &busy);
    }
}

// --- signing in ---------------------------------------------------------------------------------

static Issuer *issuer_of(HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = http_user(request);
    Issuer *issuer = serve->control != NULL ? control_oidc(serve->control) : NULL;
    if (issuer == NULL) {
        http_fail(request, response, 404, "not_found", "this server has no issuer of identities");
    }
    return issuer;
}

// Where browsers reach this server: the public URL, or the address by which this one came, which is
// in numbers or localhost.
static void own_url(const Serve *serve, const HttpRequest *request, const char *path,
                    char out[ISSUER_URL_BYTES])
{
    HttpSite site;
    const char *host = http_header(request, "Host");
    if (serve->config.public_url != NULL && http_site_parse(serve->config.public_url, &site)) {
        snprintf(out, ISSUER_URL_BYTES, "%s%s", site.origin, path);
    } else {
        snprintf(out, ISSUER_URL_BYTES, "http://%.256s%s", host != NULL ? host : "localhost", path);
    }
}

static void fail_on_page(HttpRequest *request, HttpResponse *response, uint32_t status,
                         const char *error, const char *next, uint32_t wait_s)
{
    AccountPage page = {.who = serve_who(request),
                        .is_answer = true,
                        .error = error,
                        .wait_s = wait_s,
                        .next = next,
                        .link = ""};
    serve_account_page(request, response, status, &page);
    response->retry_after_s = wait_s;
}

// What people see of an issuer's failure, and what the operator reads in the log.
static void fail_by_issuer(HttpRequest *request, HttpResponse *response, IssuerResult result,
                           const char *words, const char *next)
{
    const uint32_t status = result == ISSUER_UNREACHED ? 503 : result == ISSUER_INVALID ? 502 : 401;
    serve_log(LOG_WARN, "issuer", "%s", words);
    fail_on_page(request, response, status, words, next, 0);
}

static void set_flow_cookie(HttpRequest *request, HttpResponse *response, const char *text)
{
    char *cookie = arena_alloc(http_arena(request), COOKIE_BYTES);
    if (cookie != NULL && serve_set_issuer_cookie(http_user(request), text, cookie, COOKIE_BYTES)) {
        response->set_issuer_cookie = cookie;
    }
}

// Whose account is to be linked; 0: it is a sign-in. False: the response says why not. The link
// shows what only our own page knows, so that no other page can link somebody's account with an
// identity of its own.
static bool read_link(Serve *serve, HttpRequest *request, HttpResponse *response, uint64_t *out)
{
    char right[TOKEN_TEXT_BYTES];
    const Identity *who = serve_who(request);
    const char *link = http_query(request, "link");
    *out = 0;
    if (link == NULL) {
        return true;
    }
    if (who != NULL && !who->is_guest && who->kind == SIGN_IN_SESSION) {
        account_issuer_link_text(serve->control, who, right);
        if (strlen(link) == sizeof right - 1 && sodium_memcmp(link, right, sizeof right - 1) == 0) {
            *out = who->account;
            return true;
        }
    }
    fail_on_page(request, response, 403,
                 "this link is of another sign-in; link it from the page of your account", "", 0);
    return false;
}

static void begin_sign_in(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    Issuer *issuer = control_oidc(serve->control);
    IssuerFlow flow;
    IssuerFlowTexts texts;
    uint64_t link_account;
    char redirect[ISSUER_URL_BYTES], cookie[FLOW_COOKIE_BYTES], words[ISSUER_WORDS_BYTES] = "";
    char *to = arena_alloc(http_arena(request), ISSUER_URL_BYTES);
    if (to == NULL) {
        answer_busy(request, response);
        return;
    }
    if (!read_link(serve, request, response, &link_account)) {
        return;
    }
    const uint64_t now = control_unix_ms(serve->control);
    const char *next = account_next(http_query(request, "next"));
    issuer_flow_begin(next, link_account, now / 1000, &flow);
    issuer_flow_texts(control_secret(serve->control), &flow, &texts);
    issuer_flow_write(control_secret(serve->control), &flow, cookie);
    own_url(serve, request, CALLBACK, redirect);
    const IssuerSignIn sign_in = {.redirect_uri = redirect,
                                  .state = texts.state,
                                  .nonce = texts.nonce,
                                  .challenge = texts.challenge};
    const IssuerResult result = issuer_begin(issuer, &sign_in, now, to, words);
    if (result != ISSUER_OK) {
        fail_by_issuer(request, response, result, words, next);
        return;
    }
    set_flow_cookie(request, response, cookie);
    response->status = 303;
    response->location = to;
}

void serve_issuer_get_login(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    if (issuer_of(request, response) != NULL) {
        begin_work(request, response, begin_sign_in, NULL, run_work);
    }
}

// --- coming back --------------------------------------------------------------------------------

// The sign-in that this browser has begun. False: the response says what is wrong.
static bool read_flow(Serve *serve, HttpRequest *request, HttpResponse *response, IssuerFlow *flow,
                      IssuerFlowTexts *texts)
{
    char cookie[FLOW_COOKIE_BYTES];
    const uint8_t *secret = control_secret(serve->control);
    const char *state = http_query(request, "state"), *issuer = http_query(request, "iss");
    bool is_ours = state != NULL && serve_issuer_cookie(serve, request, cookie, sizeof cookie) &&
                   issuer_flow_read(secret, cookie, control_unix_ms(serve->control) / 1000, flow);
    if (is_ours) {
        issuer_flow_texts(secret, flow, texts);
        is_ours = strlen(state) == sizeof texts->state - 1 &&
                  sodium_memcmp(state, texts->state, sizeof texts->state - 1) == 0;
    }
    if (!is_ours) {
        fail_on_page(request, response, 400,
                     "this sign-in was not begun in this browser, or too long ago; begin again", "",
                     0);
        return false;
    }
    if (issuer != NULL && strcmp(issuer, serve->config.oidc.issuer) != 0) {
        fail_on_page(request, response, 400, "another issuer sent you here; begin again", "", 0);
        return false;
    }
    return true;
}

static void finish_link(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const IssuerFlow *flow, const JwtClaims *claims)
{
    const AccountAsk ask = serve_account_ask(serve, request);
    const char *message;
    if (ask.who == NULL || ask.who->account != flow->link_account) {
        fail_on_page(request, response, 403,
                     "you are signed in to another account than the one that you linked from", "",
                     0);
        return;
    }
    const AccountResult result = account_issuer_link(serve->control, claims, &ask);
    if (result != ACCOUNT_OK) {
        const uint32_t status = serve_account_failure(result, &message);
        fail_on_page(request, response, status, message, "", 0);
        return;
    }
    response->status = 303;
    response->location = "/account?done=linked";
}

static void finish_sign_in(Serve *serve, HttpRequest *request, HttpResponse *response,
                           const IssuerFlow *flow, const JwtClaims *claims)
{
    const AccountAsk ask = serve_account_ask(serve, request);
    const char *message;
    AccountGiven given = {0};
    const AccountResult result = account_issuer_sign_in(serve->control, claims, &ask, &given);
    char *next = arena_alloc(http_arena(request), FLOW_NEXT_BYTES);
    if (result != ACCOUNT_OK) {
        const uint32_t status = serve_account_failure(result, &message);
        fail_on_page(request, response, status, message, flow->next, given.wait_s);
        return;
    }
    if (next != NULL) {
        memcpy(next, flow->next, sizeof flow->next);
    }
    serve_account_welcome(request, response, &given, next != NULL ? next : "");
}

static void finish_flow(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    Issuer *issuer = control_oidc(serve->control);
    IssuerFlow flow;
    IssuerFlowTexts texts;
    JwtClaims claims;
    char redirect[ISSUER_URL_BYTES], words[ISSUER_WORDS_BYTES] = "";
    const char *code = http_query(request, "code");
    if (!read_flow(serve, request, response, &flow, &texts)) {
        return;
    }
    set_flow_cookie(request, response, ""); // it is good once
    if (code == NULL || code[0] == '\0' || strlen(code) >= ISSUER_CODE_BYTES) {
        snprintf(words, sizeof words, "%s did not sign you in", issuer_name(issuer));
        fail_on_page(request, response, 401, words, flow.next, 0);
        return;
    }
    own_url(serve, request, CALLBACK, redirect);
    const IssuerCode given = {
        .code = code, .verifier = texts.verifier, .nonce = texts.nonce, .redirect_uri = redirect};
    const IssuerResult result =
        issuer_finish(issuer, &given, control_unix_ms(serve->control), &claims, words);
    if (result != ISSUER_OK) {
        fail_by_issuer(request, response, result, words, flow.next);
    } else if (flow.link_account != 0) {
        finish_link(serve, request, response, &flow, &claims);
    } else {
        finish_sign_in(serve, request, response, &flow, &claims);
    }
}

void serve_issuer_get_callback(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    if (issuer_of(request, response) != NULL) {
        begin_work(request, response, finish_flow, NULL, run_work);
    }
}

static void end_there(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    char back[ISSUER_URL_BYTES], words[ISSUER_WORDS_BYTES] = "";
    char *to = arena_alloc(http_arena(request), ISSUER_URL_BYTES);
    if (to == NULL) {
        answer_busy(request, response);
        return;
    }
    own_url(serve, request, "/account", back);
    const IssuerResult result =
        issuer_end(control_oidc(serve->control), back, control_unix_ms(serve->control), to, words);
    if (result != ISSUER_OK) {
        fail_by_issuer(request, response, result, words, "");
        return;
    }
    response->status = 303;
    response->location = to[0] != '\0' ? to : "/account";
}

void serve_issuer_get_logout(void *user, HttpRequest *request, HttpResponse *response)
{
    (void)user;
    if (issuer_of(request, response) != NULL) {
        begin_work(request, response, end_there, NULL, run_work);
    }
}

// --- linked or not ------------------------------------------------------------------------------

// On the pool.
void serve_issuer_get(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const Issuer *issuer = issuer_of(request, response);
    const Identity *who = serve_who(request);
    StoreIdentity identity = {0};
    StoreAccount account;
    uint32_t count = 0;
    if (issuer == NULL) {
        return;
    }
    if (store_identities(serve->store, who->account, &identity, 1, &count) != STATUS_OK ||
        store_account_find(serve->store, who->account, &account) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "this could not be read; try again");
        return;
    }
    char link[TOKEN_TEXT_BYTES], address[TOKEN_TEXT_BYTES + 32];
    account_issuer_link_text(serve->control, who, link);
    snprintf(address, sizeof address, "/login/issuer?link=%s", link);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "name", issuer_name(issuer));
    serve_write_member(&answer.json, "issuer", issuer_config(issuer)->issuer);
    json_write_name(&answer.json, "linked");
    json_write_bool(&answer.json, count > 0);
    if (count > 0) {
        serve_write_time(&answer.json, "since", identity.created_unix_ms);
    } else {
        serve_write_member(&answer.json, "since", NULL);
    }
    json_write_name(&answer.json, "has_password");
    json_write_bool(&answer.json, account.password[0] != '\0');
    serve_write_member(&answer.json, "link", who->is_guest ? NULL : address);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// On the pool.
void serve_issuer_post_unlink(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    if (!serve_account_body(request, response, &body) || issuer_of(request, response) == NULL) {
        return;
    }
    const AccountAsk ask = serve_account_ask(serve, request);
    const AccountResult result = account_issuer_unlink(serve->control, &ask);
    if (result != ACCOUNT_OK) {
        serve_account_failed(request, response, &body, result, 0, "");
    } else if (body.is_form) {
        response->status = 303;
        response->location = "/account?done=unlinked";
    } else {
        serve_account_done(request, response);
    }
}

// --- tokens that are shown as they are ----------------------------------------------------------

static void run_ask(void *user, bool is_cancelled)
{
    IssuerWork work = *(IssuerWork *)user;
    HttpRequest *request = http_deferred_request(work.deferred);
    HttpResponse response = http_response_default();
    Identity who;
    const char *message;
    char words[ACCOUNT_WORDS_BYTES] = "";
    free(user);
    if (is_cancelled) {
        answer_busy(request, &response);
        http_complete(work.deferred, &response);
        return;
    }
    const AccountResult result =
        account_issuer_admit(work.serve->control, serve_unknown_token(request), &who, words);
    if (result == ACCOUNT_OK) {
        serve_token_is_known(request, &who);
        mailbox_pass(work.serve->mailbox, work.deferred, work.handler);
        return;
    }
    const uint32_t status = serve_account_failure(result, &message);
    if (words[0] != '\0') {
        serve_log(LOG_WARN, "issuer", "%s", words);
    }
    http_fail(request, &response, result == ACCOUNT_WRONG ? 401 : status,
              result == ACCOUNT_WRONG    ? "auth_failed"
              : result == ACCOUNT_ISSUER ? "issuer_unavailable"
                                         : "unavailable",
              words[0] != '\0' ? words : message);
    http_complete(work.deferred, &response);
}

void serve_issuer_ask(Serve *serve, HttpRequest *request, HttpResponse *response,
                      MailHandler handler)
{
    (void)serve;
    begin_work(request, response, NULL, handler, run_ask);
}

typedef struct IssuerSocket {
    Serve *serve;
    char world_id[65];
    uint64_t life, connection;
    size_t bytes;
    char token[HOST_TOKEN_BYTES];
} IssuerSocket;

static void look_again(void *user, void *what)
{
    Serve *serve = user;
    IssuerSocket *socket = what;
    host_auth_again(serve->host, socket->world_id, socket->life, socket->connection, socket->token,
                    socket->bytes);
    free(socket);
}

static void run_socket(void *user, bool is_cancelled)
{
    IssuerSocket *socket = user;
    Identity who;
    char words[ACCOUNT_WORDS_BYTES] = "";
    if (!is_cancelled &&
        account_issuer_admit(socket->serve->control, socket->token, &who, words) != ACCOUNT_OK) {
        serve_log(LOG_WARN, "issuer", "%s", words[0] != '\0' ? words : "a token was refused");
    }
    // Whoever is known now comes in, and the others are told so.
    if (mailbox_post(socket->serve->mailbox, look_again, socket) != STATUS_OK) {
        free(socket); // they try again
    }
}

void serve_issuer_identify(void *user, const HostWorld *world, uint64_t connection,
                           const char *token, size_t bytes)
{
    Serve *serve = user;
    IssuerSocket *socket = malloc(sizeof *socket);
    if (socket == NULL) {
        return; // the handshake's time runs out
    }
    *socket = (IssuerSocket){
        .serve = serve, .life = host_world_life(world), .connection = connection, .bytes = bytes};
    snprintf(socket->world_id, sizeof socket->world_id, "%s", host_world_view(world).row->world_id);
    memcpy(socket->token, token, bytes); // host_people_who saw to it that it fits
    socket->token[bytes] = '\0';
    if (serve->issuer_pool == NULL ||
        work_pool_submit(serve->issuer_pool, run_socket, socket) != STATUS_OK) {
        look_again(serve, socket); // refuses it
    }
}
