// See http_account.h. A request of our page (the header X-Sandlot) or a form gets the sign-in as a
// cookie and never as text; a tool gets it as text and never as a cookie.
#define _GNU_SOURCE
#include "server/serve/people/http_account.h"

#include "core/base/limits.h"
#include "core/base/name_text.h"
#include "server/control/issuer/issuer.h"
#include "server/control/order/class.h"
#include "server/control/password.h"
#include "server/net/http_client.h"
#include "server/serve/http/body.h"
#include "server/serve/http/page.h"
#include "server/serve/people/account_page.h"
#include "server/serve/people/browser_words.h"
#include "server/serve/people/http_account_body.h"
#include "server/serve/people/pupil_name.h"
#include "server/store/people/store_audit.h"
#include "server/sys/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

#define PASSWORD_CHANGED "the password of this account was changed; sign in and join again"
#define FORM_TYPE        "application/x-www-form-urlencoded"
#define ACCOUNT_LINK     "/account?link="
#define JSON_ARENA_BYTES (32u << 10)
#define COOKIE_BYTES     256
#define LINK_BYTES       400
#define INVITATION_H     (7 * 24)
#define INVITATION_H_MAX (365 * 24)

// --- what is asked ------------------------------------------------------------------------------

static bool read_json(HttpRequest *request, const uint8_t *bytes, size_t count, AccountBody *body)
{
    void *memory = arena_alloc(http_arena(request), JSON_ARENA_BYTES);
    if (memory == NULL) {
        return false;
    }
    Arena arena;
    arena_init(&arena, memory, JSON_ARENA_BYTES);
    const JsonConfig config = {.arena = &arena,
                               .bytes_max = SERVE_ACCOUNT_BODY_BYTES,
                               .node_count_max = 64,
                               .depth_max = 4};
    return json_parse(&config, (const char *)bytes, count, &body->root, NULL) == STATUS_OK &&
           body->root->kind == JSON_OBJECT;
}

static void unescape_form(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '+' ? ' ' : *at;
    }
    (void)http_rules_unescape(text);
}

static char *add_text(char *to, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    memcpy(to, text, bytes);
    return to + bytes;
}

// "a=1&b=2" becomes the texts "a", "1", "b", "2" and an empty one.
static bool read_form(HttpRequest *request, const uint8_t *bytes, size_t count, AccountBody *body)
{
    char *text = arena_alloc(http_arena(request), count + 1);
    char *form = arena_alloc(http_arena(request), 2 * count + 4);
    if (text == NULL || form == NULL || memchr(bytes, '\0', count) != NULL) {
        return false;
    }
    memcpy(text, bytes, count);
    text[count] = '\0';
    body->form = form;
    char *rest = text, *pair;
    while ((pair = strsep(&rest, "&")) != NULL) {
        char *name = strsep(&pair, "=");
        char *value = pair != NULL ? pair : "";
        unescape_form(name);
        if (name[0] == '\0') {
            continue;
        }
        if (value[0] != '\0') {
            unescape_form(value);
        }
        form = add_text(add_text(form, name), value); // at most two terminators for each & and =
    }
    form[0] = '\0';
    return true;
}

// True: this server has none, and the response says so.
bool serve_account_refuse(HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = http_user(request);
    if (serve->control == NULL) {
        http_fail(request, response, 404, "not_found", "this server has no accounts");
    }
    return serve->control == NULL;
}

// False: the response says what is wrong.
bool serve_account_body(HttpRequest *request, HttpResponse *response, AccountBody *body)
{
    const char *type = http_header(request, "Content-Type");
    size_t count;
    const uint8_t *bytes = http_body(request, &count);
    if (serve_account_refuse(request, response)) {
        return false;
    }
    // curl says that JSON is a form unless it is told otherwise; a browser writes %7B for a brace.
    const bool is_json = count > 0 && bytes[0] == '{';
    *body = (AccountBody){.is_form = type != NULL && !is_json &&
                                     strncasecmp(type, FORM_TYPE, sizeof FORM_TYPE - 1) == 0};
    body->is_browser = body->is_form || http_header(request, ACCESS_HEADER) != NULL;
    // A browser always says from which page it comes; another site must sign nobody in or out.
    if (!http_origin_is_allowed(request) ||
        (body->is_browser && http_header(request, "Origin") == NULL)) {
        http_fail(request, response, 403, "origin", "this page may not ask here");
        return false;
    }
    if (count > 0 && !(body->is_form ? read_form(request, bytes, count, body)
                                     : read_json(request, bytes, count, body))) {
        http_fail(request, response, 400, "malformed",
                  body->is_form ? "the body is no form" : "the body is no JSON object");
        return false;
    }
    return body->is_form || serve_body_fits(body->root, request, response);
}

// The text of that name, "" if there is none. A zero byte or too many bytes are bad.
const char *serve_account_member(AccountBody *body, const char *name, size_t bytes_max)
{
    const char *text = "";
    if (body->form != NULL) {
        for (const char *at = body->form; *at != '\0';) {
            const char *value = at + strlen(at) + 1;
            text = strcmp(at, name) == 0 ? value : text;
            at = value + strlen(value) + 1;
        }
    }
    const JsonNode *node = body->root != NULL ? json_find(body->root, name) : NULL;
    if (node != NULL && node->kind != JSON_NULL) {
        const bool is_text = node->kind == JSON_STRING && strlen(node->text) == node->count;
        body->is_bad = body->is_bad || !is_text;
        text = is_text ? node->text : "";
    }
    body->is_bad = body->is_bad || strlen(text) > bytes_max;
    return text;
}

AccountAsk serve_account_ask(const Serve *serve, HttpRequest *request)
{
    return (AccountAsk){.who = serve_who(request),
                        .device = serve_device(serve, request),
                        .browser = browser_words(http_header(request, "User-Agent")),
                        .address = http_address(request),
                        .is_local = serve_is_development(serve, request)};
}

// --- what is answered ---------------------------------------------------------------------------

static const struct {
    uint32_t status;
    const char *code, *message;
} failures[ACCOUNT_RESULT_COUNT] = {
    [ACCOUNT_WRONG] = {401, "wrong_credentials", "the name, the password or the code is wrong"},
    [ACCOUNT_LIMITED] = {429, "too_many_attempts", "too many attempts; try again later"},
    [ACCOUNT_BAD_NAME] = {400, "invalid_name", NAME_RULE},
    [ACCOUNT_BAD_SHOWN_NAME] = {400, "invalid_name", NAME_TEXT_RULE ", and no " GUEST_SIGN},
    [ACCOUNT_NAME_WORD] = {400, "word_not_allowed",
                           "this name has a word that is not allowed here"},
    [ACCOUNT_NAME_TAKEN] = {409, "name_taken",
                            "somebody has this name, or one that looks like it; choose another"},
    [ACCOUNT_BAD_PASSWORD] = {400, "invalid_password", PASSWORD_RULE},
    [ACCOUNT_COMMON_PASSWORD] = {400, "common_password",
                                 "this password is too easy to guess; choose another"},
    [ACCOUNT_CLOSED] = {403, "invitation_required",
                        "registering needs an invitation; ask an operator"},
    [ACCOUNT_LINK_GONE] = {410, "link_gone",
                           "this link was used already, is too old, or never was good; ask for a "
                           "new one"},
    [ACCOUNT_HAS_ONE] = {409, "has_account", "you have an account already; sign out first"},
    [ACCOUNT_NO_PASSWORD] = {403, "denied", "a guest has no password; register first"},
    [ACCOUNT_TOO_MANY] = {409, "too_many_tokens", "you have too many tokens; end some"},
    [ACCOUNT_LAST_OPERATOR] = {409, "last_operator",
                               "this is the only operator; make somebody else an operator first"},
    [ACCOUNT_PUPIL] = {403, "name_closed",
                       "your teacher chose your name; ask your teacher if it should be another"},
    [ACCOUNT_LINKED] = {409, "linked",
                        "somebody else here signs in with that; sign in with it to see whose "
                        "account it is"},
    [ACCOUNT_NO_OTHER_WAY] = {409, "no_password",
                              "this account has no password, so you could not sign in any more; "
                              "set one first"},
    [ACCOUNT_STALE] = {403, "sign_in_again",
                       "sign out, sign in again, and set the password within ten minutes"},
    [ACCOUNT_ISSUER] = {503, "issuer_unavailable",
                        "who you are could not be asked now; try again later"},
    [ACCOUNT_NOT_FOUND] = {404, "not_found", "there is no such account or sign-in"},
    [ACCOUNT_UNAVAILABLE] = {503, "unavailable", "this could not be stored; try again"}};

static void tell_issuer(Serve *serve, HttpRequest *request, AccountPage *page)
{
    Issuer *issuer = control_oidc(serve->control);
    StoreIdentity identity;
    uint32_t count = 0;
    page->issuer = issuer != NULL ? issuer_name(issuer) : NULL;
    page->issuer_link = "";
    char *link = arena_alloc(http_arena(request), TOKEN_TEXT_BYTES);
    if (issuer != NULL && page->who != NULL && !page->who->is_guest && link != NULL) {
        account_issuer_link_text(serve->control, page->who, link);
        page->issuer_link = link;
        page->is_linked =
            store_identities(serve->store, page->who->account, &identity, 1, &count) == STATUS_OK &&
            count > 0;
    }
}

void serve_account_page(HttpRequest *request, HttpResponse *response, uint32_t status,
                        AccountPage *page)
{
    Serve *serve = http_user(request);
    char own_name[STORE_SHOWN_BYTES] = "";
    tell_issuer(serve, request, page);
    if (page->who != NULL) {
        pupil_name_own(serve, page->who, own_name);
    }
    page->own_name = own_name;
    uint8_t *text = arena_alloc(http_arena(request), ACCOUNT_PAGE_BYTES);
    ByteWriter writer = byte_writer(text, text != NULL ? ACCOUNT_PAGE_BYTES : 0);
    page->is_open = control_registration_is_open(serve->control);
    account_page_write(page, &writer);
    if (writer.status != STATUS_OK) {
        http_fail(request, response, 500, "too_large", "the page does not fit");
        return;
    }
    serve_send_content(request, response, ACCOUNT_PAGE_TITLE, &writer);
    response->status = response->status == 0 || response->status == 200 ? status : response->status;
}

// Where a form wants to go when it is done.
static const char *read_next(const AccountBody *body)
{
    AccountBody copy = *body; // one that is bad only leads nowhere
    return account_next(serve_account_member(&copy, "next", ACCOUNT_NEXT_BYTES));
}

// On the page if it was a form; `link`: the token of the link that the form was for.
void serve_account_failed(HttpRequest *request, HttpResponse *response, const AccountBody *body,
                          AccountResult result, uint32_t wait_s, const char *link)
{
    Serve *serve = http_user(request);
    StoreLink row;
    if (body->is_form) {
        AccountBody typed = *body;
        AccountPage page = {.who = serve_who(request),
                            .is_answer = true,
                            .error = wait_s > 0 ? "too many attempts" : failures[result].message,
                            .wait_s = wait_s,
                            .next = read_next(body),
                            .link = link,
                            .typed_name = serve_account_member(&typed, "username", NAME_TEXT_BYTES),
                            .typed_shown_name =
                                serve_account_member(&typed, "shown_name", NAME_TEXT_BYTES)};
        if (link[0] != '\0' && account_link(serve->control, link, &row) == ACCOUNT_OK) {
            page.link_row = &row;
        }
        serve_account_page(request, response, failures[result].status, &page);
    } else {
        http_fail(request, response, failures[result].status, failures[result].code,
                  failures[result].message);
    }
    response->retry_after_s = wait_s;
}

bool serve_account_refuse_bad(HttpRequest *request, HttpResponse *response, const AccountBody *body)
{
    if (body->is_bad) {
        http_fail(request, response, 400, "malformed",
                  "a member of the body is no text, or too long");
    }
    return body->is_bad;
}

static void see_other(HttpResponse *response, const char *location)
{
    response->status = 303;
    response->location = location;
}

void serve_account_cookie(HttpRequest *request, HttpResponse *response, const char *token)
{
    char *cookie = arena_alloc(http_arena(request), COOKIE_BYTES);
    if (cookie != NULL && serve_set_cookie(http_user(request), token, cookie, COOKIE_BYTES)) {
        response->set_cookie = cookie;
    }
}

void serve_account_done(HttpRequest *request, HttpResponse *response)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "status", "ok");
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

static void write_codes(JsonWriter *json, const AccountGiven *given)
{
    if (given->codes[0][0] == '\0') {
        return;
    }
    json_write_name(json, "recovery_codes");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < STORE_RECOVERY_CODES; i++) {
        json_write_text(json, given->codes[i]);
    }
    json_write_array_end(json);
}

// So that guessing by others does not lock this device out (account.h).
static void set_device(HttpRequest *request, HttpResponse *response, const Identity *who)
{
    Serve *serve = http_user(request);
    char text[DEVICE_TEXT_BYTES];
    char *cookie = arena_alloc(http_arena(request), COOKIE_BYTES);
    if (!who->is_guest && cookie != NULL) {
        account_device_make(serve->control, who->account, text);
        if (serve_set_device_cookie(serve, text, cookie, COOKIE_BYTES)) {
            response->set_device_cookie = cookie;
        }
    }
}

static void answer_signed_in(HttpRequest *request, HttpResponse *response, const AccountBody *body,
                             const AccountGiven *given)
{
    const char *next = read_next(body);
    if (body->is_form && given->codes[0][0] != '\0') {
        AccountPage page = {
            .who = &given->who, .is_answer = true, .next = next, .link = "", .given = given};
        serve_account_page(request, response, 200, &page);
    } else if (body->is_form) {
        see_other(response, next[0] != '\0' ? next : "/");
    } else {
        char id[32];
        snprintf(id, sizeof id, "%s_%" PRIx64, given->who.is_guest ? "guest" : "user",
                 given->who.account);
        ServeAnswer answer;
        serve_answer_begin(&answer, request);
        json_write_object_begin(&answer.json);
        if (!body->is_browser) {
            serve_write_member(&answer.json, "session_token", given->token);
        }
        serve_write_member(&answer.json, "client_id", id);
        char own_name[STORE_SHOWN_BYTES];
        pupil_name_own(http_user(request), &given->who, own_name);
        serve_write_member(&answer.json, "username", own_name);
        serve_write_number(&answer.json, "user_id", given->who.account);
        write_codes(&answer.json, given);
        json_write_object_end(&answer.json);
        serve_answer_end(&answer, response);
    }
    if (body->is_browser) {
        serve_account_cookie(request, response, given->token);
        set_device(request, response, &given->who);
    }
}

uint32_t serve_account_failure(AccountResult result, const char **message)
{
    *message = failures[result].message;
    return failures[result].status;
}

void serve_account_welcome(HttpRequest *request, HttpResponse *response, const AccountGiven *given,
                           const char *next)
{
    see_other(response, next[0] != '\0' ? next : "/");
    serve_account_cookie(request, response, given->token);
    set_device(request, response, &given->who);
}

static void answer_given(HttpRequest *request, HttpResponse *response, const AccountBody *body,
                         AccountResult result, const AccountGiven *given, const char *link)
{
    if (result == ACCOUNT_OK) {
        answer_signed_in(request, response, body, given);
    } else {
        serve_account_failed(request, response, body, result, given->wait_s, link);
    }
}

// --- signing in and out -------------------------------------------------------------------------

static AccountResult sign_in_guest(Serve *serve, const HttpRequest *request, const char *name,
                                   const AccountAsk *ask, AccountGiven *given)
{
    if (name[0] != '\0' && !name_text_is_valid(name, strlen(name))) {
        return ACCOUNT_BAD_SHOWN_NAME;
    }
    const AccountResult result = account_guest(serve->control, name, ask, given);
    if (result == ACCOUNT_OK && serve_has_cookie(request)) {
        (void)account_sign_out(serve->control, ask->who); // the cookie is another's from now on
    }
    return result;
}

// A password or a code that is there and empty: a program that lost it must not become a guest.
static bool has_empty(const AccountBody *body, const char *member)
{
    for (const char *at = body->form; at != NULL && *at != '\0';) {
        const char *value = at + strlen(at) + 1;
        if (strcmp(at, member) == 0) {
            return value[0] == '\0';
        }
        at = value + strlen(value) + 1;
    }
    const JsonNode *node = body->root != NULL ? json_find(body->root, member) : NULL;
    return node != NULL && node->kind == JSON_STRING && node->count == 0;
}

// On the pool.
void serve_account_post_login(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const char *name = serve_account_member(&body, "username", NAME_TEXT_BYTES);
    const char *password = serve_account_member(&body, "password", PASSWORD_BYTES_MAX);
    const char *code = serve_account_member(&body, "code", NAME_TEXT_BYTES);
    if (name[0] == '\0') {
        name = serve_account_member(&body, "name", NAME_TEXT_BYTES);
    }
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    if ((name[0] != '\0' && has_empty(&body, "password")) || has_empty(&body, "code")) {
        http_fail(request, response, 400, "invalid_password",
                  "the password or the code is empty; a guest signs in without the member");
        return;
    }
    const AccountAsk ask = serve_account_ask(serve, request);
    AccountGiven given = {0};
    const AccountResult result =
        code[0] != '\0'       ? account_sign_in_code(serve->control, name, code, &ask, &given)
        : password[0] != '\0' ? account_sign_in(serve->control, name, password, &ask, &given)
                              : sign_in_guest(serve, request, name, &ask, &given);
    answer_given(request, response, &body, result, &given, "");
}

void serve_account_post_register(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const AccountNew made = {
        .name = serve_account_member(&body, "username", NAME_TEXT_BYTES),
        .password = serve_account_member(&body, "password", PASSWORD_BYTES_MAX),
        .shown_name = serve_account_member(&body, "shown_name", NAME_TEXT_BYTES),
        .link = serve_account_member(&body, "invitation", TOKEN_TEXT_BYTES)};
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    const AccountAsk ask = serve_account_ask(serve, request);
    AccountGiven given;
    const AccountResult result = account_register(serve->control, &made, &ask, &given);
    answer_given(request, response, &body, result, &given, made.link);
}

// Whoever was signed in as somebody else goes on with the link that they had opened.
static const char *after_logout(HttpRequest *request, const char *link)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t bytes = strlen(link);
    char *page = arena_alloc(http_arena(request), sizeof ACCOUNT_LINK + TOKEN_TEXT_BYTES);
    if (bytes == 0 || bytes >= TOKEN_TEXT_BYTES || strspn(link, letters) != bytes || page == NULL) {
        return "/account";
    }
    snprintf(page, sizeof ACCOUNT_LINK + TOKEN_TEXT_BYTES, ACCOUNT_LINK "%s", link);
    return page;
}

void serve_account_post_logout(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const Identity *who = serve_who(request);
    const AccountResult result = who != NULL ? account_sign_out(serve->control, who) : ACCOUNT_OK;
    if (result != ACCOUNT_OK) {
        serve_account_failed(request, response, &body, result, 0, "");
        return;
    }
    if (body.is_form) {
        see_other(response, after_logout(request, serve_account_member(&body, "link", 64)));
    } else {
        serve_account_done(request, response);
    }
    if (body.is_browser) {
        serve_account_cookie(request, response, "");
    }
}

// --- passwords ----------------------------------------------------------------------------------

void serve_account_post_password(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const char *old = serve_account_member(&body, "old", PASSWORD_BYTES_MAX);
    const char *password = serve_account_member(&body, "new", PASSWORD_BYTES_MAX);
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    const AccountAsk ask = serve_account_ask(serve, request);
    AccountGiven given;
    const AccountResult result =
        account_change_password(serve->control, old, password, &ask, &given);
    if (result == ACCOUNT_OK) { // whoever else is signed in may be in a world
        serve_kick_soon(serve, serve_who(request)->account, PASSWORD_CHANGED);
    }
    if (result != ACCOUNT_OK) {
        serve_account_failed(request, response, &body, result, given.wait_s, "");
    } else if (body.is_form) {
        see_other(response, "/account?done=password");
    } else {
        serve_account_done(request, response);
    }
}

void serve_account_post_recover(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const char *name = serve_account_member(&body, "username", NAME_TEXT_BYTES);
    const char *code = serve_account_member(&body, "code", NAME_TEXT_BYTES);
    const char *link = serve_account_member(&body, "link", TOKEN_TEXT_BYTES);
    const char *password = serve_account_member(&body, "new", PASSWORD_BYTES_MAX);
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    const AccountAsk ask = serve_account_ask(serve, request);
    AccountGiven given;
    const AccountResult result =
        link[0] != '\0' ? account_reset(serve->control, link, password, &ask, &given)
                        : account_recover(serve->control, name, code, password, &ask, &given);
    if (result == ACCOUNT_OK) {
        serve_kick_soon(serve, given.who.account, PASSWORD_CHANGED);
    }
    answer_given(request, response, &body, result, &given, link);
}

// --- who one is ---------------------------------------------------------------------------------

#define NAMES_MAX 4
static const char *const role_names[NAMES_MAX] = {"creator", "teacher", "operator", "trusted"};
static const char *const scope_names[NAMES_MAX] = {"play", "create", "operate"};

static void write_bits(JsonWriter *json, const char *name, uint32_t bits, const char *const *names)
{
    json_write_name(json, name);
    json_write_array_begin(json);
    for (uint32_t i = 0; i < NAMES_MAX && names[i] != NULL; i++) {
        if ((bits & 1u << i) != 0) {
            json_write_text(json, names[i]);
        }
    }
    json_write_array_end(json);
}

void serve_account_write_roles(JsonWriter *json, uint32_t roles)
{
    write_bits(json, "roles", roles, role_names);
}

// "play create". False: there is a word that is none of them.
static bool read_bits(const char *text, const char *const *names, const char *also, uint32_t *bits)
{
    *bits = 0;
    while (*(text += strspn(text, " ,")) != '\0') {
        const size_t bytes = strcspn(text, " ,");
        bool is_known = strlen(also) == bytes && strncmp(text, also, bytes) == 0;
        for (uint32_t i = 0; i < NAMES_MAX && names[i] != NULL; i++) {
            if (strlen(names[i]) == bytes && strncmp(text, names[i], bytes) == 0) {
                *bits |= 1u << i;
                is_known = true;
            }
        }
        if (!is_known) {
            return false;
        }
        text += bytes;
    }
    return true;
}

void serve_account_get(void *user, HttpRequest *request, HttpResponse *response)
{
    if (serve_account_refuse(request, response)) {
        return;
    }
    const Serve *serve = user;
    const Identity *who = serve_who(request);
    char shown_name[STORE_SHOWN_BYTES];
    pupil_name_own(serve, who, shown_name);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "user_id", who->account);
    serve_write_member(&answer.json, "username", who->name);
    serve_write_member(&answer.json, "shown_name", shown_name);
    json_write_name(&answer.json, "is_guest");
    json_write_bool(&answer.json, who->is_guest);
    serve_account_write_roles(&answer.json, who->roles);
    write_bits(&answer.json, "scopes", who->kind == SIGN_IN_TOKEN ? who->scope : SCOPES_ALL,
               scope_names);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_account_post(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const char *shown = serve_account_member(&body, "shown_name", NAME_TEXT_BYTES);
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    const AccountResult result = account_show(serve->control, serve_who(request)->account, shown);
    if (result == ACCOUNT_OK) {
        serve_account_done(request, response);
    } else {
        serve_account_failed(request, response, &body, result, 0, "");
    }
}

// --- sign-ins and tokens ------------------------------------------------------------------------

static void write_time(JsonWriter *json, const char *name, uint64_t unix_ms)
{
    const time_t seconds = (time_t)(unix_ms / 1000);
    struct tm parts;
    char text[32] = "";
    if (gmtime_r(&seconds, &parts) != NULL) {
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
    serve_write_member(json, name, text);
}

static void write_sign_in(JsonWriter *json, const SignInView *view, const Identity *who)
{
    json_write_object_begin(json);
    serve_write_member(json, "id", view->id);
    serve_write_member(json, "kind", view->row.kind == SIGN_IN_TOKEN ? "token" : "session");
    serve_write_member(json, "name", view->row.name);
    write_bits(json, "scopes", view->row.kind == SIGN_IN_TOKEN ? view->row.scope : SCOPES_ALL,
               scope_names);
    write_time(json, "created", view->row.created_unix_ms);
    write_time(json, "used", view->row.used_unix_ms);
    write_time(json, "expires", view->row.expires_unix_ms);
    json_write_name(json, "is_this");
    json_write_bool(json, token_hash_equal(view->row.token_hash, who->sign_in));
    json_write_object_end(json);
}

#define SIGN_INS_MAX   (SESSIONS_PER_ACCOUNT_MAX + TOKENS_PER_ACCOUNT_MAX)
#define SIGN_INS_BYTES (SIGN_INS_MAX * 768)

void serve_account_get_sign_ins(void *user, HttpRequest *request, HttpResponse *response)
{
    if (serve_account_refuse(request, response)) {
        return;
    }
    Serve *serve = user;
    const Identity *who = serve_who(request);
    SignInView *views = arena_array(http_arena(request), SIGN_INS_MAX, sizeof *views);
    uint8_t *text = arena_alloc(http_arena(request), SIGN_INS_BYTES);
    if (views == NULL || text == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    const uint32_t count = account_sign_ins(serve->control, who->account, views, SIGN_INS_MAX);
    ByteWriter writer = byte_writer(text, SIGN_INS_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "sign_ins");
    json_write_array_begin(&json);
    for (uint32_t i = 0; i < count; i++) {
        write_sign_in(&json, &views[i], who);
    }
    json_write_array_end(&json);
    json_write_object_end(&json);
    ServeAnswer answer = {.request = request, .text = text, .writer = writer, .json = json};
    answer.json.out = &answer.writer;
    serve_answer_end(&answer, response);
}

void serve_account_delete_sign_in(void *user, HttpRequest *request, HttpResponse *response)
{
    if (serve_account_refuse(request, response)) {
        return;
    }
    Serve *serve = user;
    const AccountBody body = {0};
    const AccountResult result = account_end_sign_in(serve->control, serve_who(request)->account,
                                                     http_path_part(request, 0));
    if (result == ACCOUNT_OK) {
        serve_account_done(request, response);
    } else {
        serve_account_failed(request, response, &body, result, 0, "");
    }
}

void serve_account_post_token(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    uint32_t scope = 0;
    const char *name = serve_account_member(&body, "name", NAME_TEXT_BYTES);
    const char *scopes = serve_account_member(&body, "scope", NAME_TEXT_BYTES);
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    if (!name_text_is_valid(name, strlen(name)) || !read_bits(scopes, scope_names, "", &scope) ||
        scope == 0) {
        http_fail(request, response, 400, "malformed",
                  "a token has a name, and a scope of the words play, create, operate");
        return;
    }
    char token[TOKEN_TEXT_BYTES], id[SIGN_IN_ID_BYTES];
    uint8_t hash[TOKEN_HASH_BYTES];
    const Identity *who = serve_who(request);
    const AccountResult result =
        who->is_guest ? ACCOUNT_NO_PASSWORD
                      : account_make_token(serve->control, who, name, scope, token, hash);
    if (result != ACCOUNT_OK) {
        serve_account_failed(request, response, &body, result, 0, "");
        return;
    }
    sign_in_id(hash, id);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "token", token);
    serve_write_member(&answer.json, "id", id);
    serve_write_member(&answer.json, "name", name);
    write_bits(&answer.json, "scopes", scope, scope_names);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- links --------------------------------------------------------------------------------------

// Where people reach us: the public URL, or as this request did.
static void answer_link(HttpRequest *request, HttpResponse *response, const char *token)
{
    const Serve *serve = http_user(request);
    HttpSite site;
    char link[LINK_BYTES];
    const char *host = http_header(request, "Host");
    if (serve->config.public_url != NULL && http_site_parse(serve->config.public_url, &site)) {
        snprintf(link, sizeof link, "%s/account?link=%s", site.origin, token);
    } else {
        snprintf(link, sizeof link, "http://%.255s/account?link=%s", host != NULL ? host : "",
                 token);
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "link", link);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

uint64_t serve_account_find(const Serve *serve, const char *name)
{
    StoreAccount account;
    if (name[0] != GUEST_SIGN[0]) {
        return store_account_by_name(serve->store, name, &account) == STATUS_OK ? account.account_id
                                                                                : 0;
    }
    char *end = NULL;
    const uint64_t number = strtoull(name + 1, &end, 10);
    const bool is_there =
        *end == '\0' && store_account_find(serve->store, number, &account) == STATUS_OK;
    return is_there ? number : 0;
}

bool serve_account_record(HttpRequest *request, HttpResponse *response, const char *action,
                          uint64_t account, const char *word)
{
    Serve *serve = http_user(request);
    StoreAudit row = {.unix_ms = clock_unix_ms(), .account_id = serve_who(request)->account};
    snprintf(row.action, sizeof row.action, "%s", action);
    if (account != 0) {
        snprintf(row.detail, sizeof row.detail, "user %" PRIu64 " %s", account, word);
    } else {
        snprintf(row.detail, sizeof row.detail, "%s", word);
    }
    if (store_audit_add(serve->store, &row) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable",
                  "this could not be written into the audit, so it was not done; try again");
        return false;
    }
    return true;
}

static bool read_hours(AccountBody *body, uint64_t *hours)
{
    const JsonNode *node = body->root != NULL ? json_find(body->root, "expires_h") : NULL;
    *hours = INVITATION_H;
    if (node == NULL || node->kind == JSON_NULL) {
        return true;
    }
    if (node->kind != JSON_NUMBER || !node->is_integer || node->integer < 1 ||
        node->integer > INVITATION_H_MAX) {
        return false;
    }
    *hours = (uint64_t)node->integer;
    return true;
}

void serve_account_post_invitation(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const Identity *who = serve_who(request);
    AccountBody body;
    uint32_t roles = 0;
    uint64_t hours;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const char *role = serve_account_member(&body, "role", NAME_TEXT_BYTES);
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    if (!read_bits(role, role_names, "player", &roles) || !read_hours(&body, &hours)) {
        http_fail(request, response, 400, "malformed",
                  "role is player, creator, teacher or operator; expires_h is 1 to 8760 hours");
        return;
    }
    if (roles != 0 && (who->roles & ROLE_OPERATOR) == 0) {
        http_fail(request, response, 403, "denied", "a teacher invites players; ask an operator");
        return;
    }
    char token[TOKEN_TEXT_BYTES];
    if (!serve_account_record(request, response, "account.invite", 0, role)) {
        return;
    }
    const Status status =
        control_invite(serve->control, roles, hours * 3600000, who->account, token);
    if (status != STATUS_OK) {
        serve_account_failed(request, response, &body, ACCOUNT_UNAVAILABLE, 0, "");
        return;
    }
    answer_link(request, response, token);
}

void serve_account_post_reset(void *user, HttpRequest *request, HttpResponse *response)
{
    if (serve_account_refuse(request, response)) {
        return;
    }
    Serve *serve = user;
    const AccountBody body = {0};
    char token[TOKEN_TEXT_BYTES];
    const uint64_t account = serve_account_find(serve, http_path_part(request, 0));
    if (account != 0 && !serve_account_record(request, response, "account.reset", account, "")) {
        return;
    }
    const Status status = control_reset_link(serve->control, http_path_part(request, 0),
                                             serve_who(request)->account, token);
    if (status != STATUS_OK) {
        serve_account_failed(request, response, &body,
                             status == STATUS_NOT_FOUND ? ACCOUNT_NOT_FOUND : ACCOUNT_UNAVAILABLE,
                             0, "");
        return;
    }
    answer_link(request, response, token);
}

void serve_account_post_roles(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    uint32_t roles = 0;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const char *text = serve_account_member(&body, "roles", NAME_TEXT_BYTES);
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    if (!read_bits(text, role_names, "player", &roles)) {
        http_fail(request, response, 400, "malformed",
                  "roles are words of player, creator, teacher, operator, trusted");
        return;
    }
    const uint64_t account = serve_account_find(serve, http_path_part(request, 0));
    if (account != 0 && !serve_account_record(request, response, "account.roles", account, text)) {
        return;
    }
    const AccountResult result =
        account_set_roles(serve->control, http_path_part(request, 0), roles);
    if (result == ACCOUNT_OK) {
        serve_account_done(request, response);
    } else {
        serve_account_failed(request, response, &body, result, 0, "");
    }
}

// What the page asks about a link before it shows a form. Not by GET: tokens do not belong into
// logs.
void serve_account_post_link(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    AccountBody body;
    StoreLink row;
    if (!serve_account_body(request, response, &body)) {
        return;
    }
    const char *link = serve_account_member(&body, "link", TOKEN_TEXT_BYTES);
    if (serve_account_refuse_bad(request, response, &body)) {
        return;
    }
    const AccountResult result = account_link(serve->control, link, &row);
    if (result != ACCOUNT_OK) {
        serve_account_failed(request, response, &body, result, 0, "");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "purpose",
                       row.purpose == LINK_PASSWORD ? "password" : "register");
    serve_account_write_roles(&answer.json, row.roles);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- the page -----------------------------------------------------------------------------------

void serve_account_get_page(void *user, HttpRequest *request, HttpResponse *response)
{
    if (serve_account_refuse(request, response)) {
        return;
    }
    Serve *serve = user;
    const char *link = http_query(request, "link"), *done = http_query(request, "done");
    StoreLink row;
    AccountPage page = {.who = serve_who(request),
                        .next = account_next(http_query(request, "next")),
                        .link = link != NULL ? link : ""};
    if (done != NULL && strcmp(done, "password") == 0) {
        page.done = "Your password is changed, and all your other sign-ins have ended.";
    } else if (done != NULL && strcmp(done, "linked") == 0) {
        page.done = "From now on you can sign in with it.";
    } else if (done != NULL && strcmp(done, "unlinked") == 0) {
        page.done = "It is unlinked; sign in with your password from now on.";
    }
    if (page.link[0] != '\0') {
        const AccountResult result = account_link(serve->control, page.link, &row);
        page.link_row = result == ACCOUNT_OK ? &row : NULL;
        page.error = result == ACCOUNT_OK ? NULL : failures[result].message;
    }
    serve_account_page(request, response, 200, &page);
}
