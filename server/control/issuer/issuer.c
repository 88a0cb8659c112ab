// See issuer.h. One lock protects what is known of the issuer; it is held while its document and
// its keys are fetched, so that a hundred sign-ins at once fetch them once, and not while it is
// asked about one person. Nobody waits for it but threads that may.
#define _GNU_SOURCE
#include "server/control/issuer/issuer.h"

#include "core/base/arena.h"
#include "core/base/json_read.h"
#include "server/sys/fetch.h"

#include <pthread.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_MS         (3600 * 1000ull) // of what was fetched
#define AGAIN_MS        5000ull          // after a failure
#define KEYS_OLD_MS     (24 * KEPT_MS)   // keys of an issuer that is away: it may have ended one
#define ROTATION_MS     60000ull         // at most ROTATIONS fetches because of an unknown key
#define ROTATIONS       3
#define DOCUMENT_MAX    (64u << 10)
#define DOCUMENT_ARENA  (256u << 10)
#define SESSIONS        256 // Clerk's that were seen active lately
#define SESSION_KEPT_MS 60000ull

typedef struct Session {
    char id[JWT_SESSION_BYTES];
    uint64_t until_ms;
} Session;

// What the issuer's document says.
typedef struct Known {
    char authorize[ISSUER_URL_BYTES], token[ISSUER_URL_BYTES], jwks[ISSUER_URL_BYTES];
    char userinfo[ISSUER_URL_BYTES], end_session[ISSUER_URL_BYTES];
    bool posts_secret;
} Known;

struct Issuer {
    IssuerConfig config;
    char name[128];
    pthread_mutex_t lock;
    uint64_t known_ms, keys_ms;       // when it was fetched; 0: never
    uint64_t failed_ms;               // when the network last failed
    uint64_t rotated_ms[ROTATIONS];   // when an unknown key was looked for
    char failure[ISSUER_WORDS_BYTES]; // how
    Known known;
    JwtKeys *keys;
    Session sessions[SESSIONS];
    uint32_t session_next;
};

static void say(char words[ISSUER_WORDS_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(char words[ISSUER_WORDS_BYTES], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(words, ISSUER_WORDS_BYTES, format, list);
    va_end(list);
}

Issuer *issuer_create(const IssuerConfig *config)
{
    Issuer *issuer = calloc(1, sizeof *issuer);
    if (issuer == NULL) {
        return NULL;
    }
    issuer->config = *config;
    pthread_mutex_init(&issuer->lock, NULL);
    // Clerk's; by OpenID Connect the document names it.
    snprintf(issuer->known.jwks, sizeof issuer->known.jwks, "%.900s/.well-known/jwks.json",
             config->issuer);
    if (config->name != NULL && config->name[0] != '\0') {
        snprintf(issuer->name, sizeof issuer->name, "%s", config->name);
    } else {
        const char *host = strstr(config->issuer, "://");
        host = host != NULL ? host + 3 : config->issuer;
        snprintf(issuer->name, sizeof issuer->name, "%.*s", (int)strcspn(host, "/:"), host);
    }
    return issuer;
}

void issuer_destroy(Issuer *issuer)
{
    if (issuer != NULL) {
        jwt_keys_free(issuer->keys);
        pthread_mutex_destroy(&issuer->lock);
        free(issuer);
    }
}

const IssuerConfig *issuer_config(const Issuer *issuer)
{
    return &issuer->config;
}

const char *issuer_name(const Issuer *issuer)
{
    return issuer->name;
}

// --- texts --------------------------------------------------------------------------------------

// Adds "&name=value", percent-encoded. False: it does not fit.
static bool add_parameter(char *text, size_t capacity, const char *name, const char *value)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t at = strlen(text);
    const int bytes = snprintf(text + at, capacity - at,
                               "%s%s=", at == 0 || text[at - 1] == '?' ? "" : "&", name);
    if (bytes < 0 || (size_t)bytes >= capacity - at) {
        return false;
    }
    at += (size_t)bytes;
    for (; *value != '\0'; value++) {
        if (at + 4 > capacity) {
            return false;
        }
        at += (size_t)snprintf(text + at, capacity - at,
                               strchr(plain, *value) != NULL ? "%c" : "%%%02X",
                               (unsigned char)*value);
    }
    return true;
}

// --- the network --------------------------------------------------------------------------------

// A JSON document, or what is wrong.
static IssuerResult ask(Issuer *issuer, FetchAsk *what, const char *called, FetchReply *reply,
                        char words[ISSUER_WORDS_BYTES])
{
    what->timeout_ms = ISSUER_TIMEOUT_MS;
    what->reply_bytes_max = DOCUMENT_MAX;
    const Status status = fetch(what, reply);
    if (status != STATUS_OK || reply->body == NULL || reply->status / 100 == 5) {
        say(words, "%s of %s cannot be had now: %s", called, issuer->name,
            status != STATUS_OK ? reply->problem : "the issuer has a problem of its own");
        fetch_reply_free(reply);
        return status == STATUS_RANGE || status == STATUS_LIMIT ? ISSUER_INVALID : ISSUER_UNREACHED;
    }
    return ISSUER_OK;
}

// A member that is an address which may be asked; false: it must be there and is not.
static bool take_url(const JsonNode *root, const char *name, bool is_needed,
                     char out[ISSUER_URL_BYTES])
{
    const JsonNode *node = json_find(root, name);
    const bool is_good = node != NULL && node->kind == JSON_STRING &&
                         node->count < ISSUER_URL_BYTES && strlen(node->text) == node->count &&
                         strchr(node->text, '#') == NULL && fetch_url_is_allowed(node->text);
    snprintf(out, ISSUER_URL_BYTES, "%s", is_good ? node->text : "");
    return is_good || !is_needed;
}

static bool has_word(const JsonNode *list, const char *word)
{
    for (const JsonNode *item = list != NULL && list->kind == JSON_ARRAY ? list->first : NULL;
         item != NULL; item = item->next) {
        if (item->kind == JSON_STRING && json_text_equal(item, word)) {
            return true;
        }
    }
    return false;
}

static IssuerResult read_document(Issuer *issuer, const FetchReply *reply, void *memory,
                                  char words[ISSUER_WORDS_BYTES])
{
    Arena arena;
    const JsonNode *root = NULL;
    arena_init(&arena, memory, DOCUMENT_ARENA);
    const JsonConfig config = {
        .arena = &arena, .bytes_max = DOCUMENT_MAX, .node_count_max = 2048, .depth_max = 8};
    const Status status = json_parse(&config, reply->body, reply->bytes, &root, NULL);
    if (reply->status != 200 || status != STATUS_OK || root->kind != JSON_OBJECT) {
        say(words, "%s has no discovery document (status %ld); is the setting oidc_issuer right?",
            issuer->name, reply->status);
        return ISSUER_INVALID;
    }
    const JsonNode *name = json_find(root, "issuer");
    if (name == NULL || name->kind != JSON_STRING ||
        !json_text_equal(name, issuer->config.issuer)) {
        say(words, "%s calls itself otherwise than the setting oidc_issuer, letter by letter",
            issuer->name);
        return ISSUER_INVALID;
    }
    Known known = {0};
    if (!take_url(root, "authorization_endpoint", true, known.authorize) ||
        !take_url(root, "token_endpoint", true, known.token) ||
        !take_url(root, "jwks_uri", true, known.jwks)) {
        say(words, "the discovery document of %s lacks an address, or one is not https",
            issuer->name);
        return ISSUER_INVALID;
    }
    (void)take_url(root, "userinfo_endpoint", false, known.userinfo);
    (void)take_url(root, "end_session_endpoint", false, known.end_session);
    const JsonNode *methods = json_find(root, "token_endpoint_auth_methods_supported");
    known.posts_secret = methods != NULL && !has_word(methods, "client_secret_basic") &&
                         has_word(methods, "client_secret_post");
    issuer->known = known;
    return ISSUER_OK;
}

static IssuerResult fetch_document(Issuer *issuer, char words[ISSUER_WORDS_BYTES])
{
    char url[ISSUER_URL_BYTES];
    size_t bytes = strlen(issuer->config.issuer);
    bytes -= bytes > 0 && issuer->config.issuer[bytes - 1] == '/' ? 1 : 0;
    snprintf(url, sizeof url, "%.*s/.well-known/openid-configuration", (int)bytes,
             issuer->config.issuer);
    FetchAsk what = {.method = "GET", .url = url, .headers = {"Accept: application/json"}};
    FetchReply reply;
    IssuerResult result = ask(issuer, &what, "the discovery document", &reply, words);
    if (result == ISSUER_OK) {
        void *memory = malloc(DOCUMENT_ARENA);
        result = memory != NULL ? read_document(issuer, &reply, memory, words) : ISSUER_UNREACHED;
        free(memory);
        fetch_reply_free(&reply);
    }
    return result;
}

// What was fetched before counts if it cannot be fetched now. With the lock held.
static IssuerResult know_locked(Issuer *issuer, uint64_t now, char words[ISSUER_WORDS_BYTES])
{
    if (issuer->known_ms != 0 && now - issuer->known_ms < KEPT_MS) {
        return ISSUER_OK;
    }
    if (issuer->failed_ms != 0 && now - issuer->failed_ms < AGAIN_MS) {
        say(words, "%s", issuer->failure);
        return issuer->known_ms != 0 ? ISSUER_OK : ISSUER_UNREACHED;
    }
    const IssuerResult result = fetch_document(issuer, words);
    if (result == ISSUER_OK) {
        issuer->known_ms = now;
        issuer->failed_ms = 0;
        return ISSUER_OK;
    }
    issuer->failed_ms = now;
    memcpy(issuer->failure, words, sizeof issuer->failure);
    return issuer->known_ms != 0 && result == ISSUER_UNREACHED ? ISSUER_OK : result;
}

static IssuerResult know(Issuer *issuer, uint64_t now, Known *out, char words[ISSUER_WORDS_BYTES])
{
    pthread_mutex_lock(&issuer->lock);
    const IssuerResult result = know_locked(issuer, now, words);
    *out = issuer->known;
    pthread_mutex_unlock(&issuer->lock);
    return result;
}

static IssuerResult fetch_keys(Issuer *issuer, uint64_t now, char words[ISSUER_WORDS_BYTES])
{
    FetchAsk what = {.method = "GET",
                     .url = issuer->known.jwks,
                     .headers = {"Accept: application/json, application/jwk-set+json"}};
    FetchReply reply;
    JwtKeys *keys = NULL;
    IssuerResult result = ask(issuer, &what, "the keys", &reply, words);
    if (result != ISSUER_OK) {
        return result;
    }
    const Status status =
        reply.status == 200 ? jwt_keys_read(reply.body, reply.bytes, &keys) : STATUS_MALFORMED;
    fetch_reply_free(&reply);
    if (status != STATUS_OK) {
        say(words, "%s has no keys that can be used here", issuer->name);
        return ISSUER_INVALID;
    }
    jwt_keys_free(issuer->keys);
    issuer->keys = keys;
    issuer->keys_ms = now;
    return ISSUER_OK;
}

// May the keys be fetched because of a token that names another one? Notes it.
static bool may_rotate(Issuer *issuer, uint64_t now)
{
    for (uint32_t i = 0; i < ROTATIONS; i++) {
        if (issuer->rotated_ms[i] == 0 || now - issuer->rotated_ms[i] >= ROTATION_MS) {
            issuer->rotated_ms[i] = now;
            return true;
        }
    }
    return false;
}

// --- tokens -------------------------------------------------------------------------------------

static JwtRules rules_of(const Issuer *issuer, const char *nonce, uint64_t now_ms)
{
    const IssuerConfig *config = &issuer->config;
    return (JwtRules){.issuer = config->issuer,
                      .audience = config->client_id,
                      .parties = config->parties,
                      .nonce = nonce,
                      .role_claim = config->role_claim,
                      .roles = config->roles,
                      .role_count = config->role_count,
                      .now_s = now_ms / 1000};
}

// There are keys, old ones if the issuer cannot be reached. With the lock held.
static IssuerResult have_keys(Issuer *issuer, uint64_t now, char words[ISSUER_WORDS_BYTES])
{
    if (issuer->keys != NULL && now - issuer->keys_ms < KEPT_MS) {
        return ISSUER_OK;
    }
    IssuerResult result = ISSUER_UNREACHED;
    if (issuer->failed_ms != 0 && now - issuer->failed_ms < AGAIN_MS) {
        say(words, "%s", issuer->failure);
    } else {
        result = fetch_keys(issuer, now, words);
        issuer->failed_ms = result == ISSUER_OK ? 0 : now;
        memcpy(issuer->failure, words, sizeof issuer->failure);
    }
    const bool has_some = issuer->keys != NULL && now - issuer->keys_ms < KEYS_OLD_MS;
    return has_some ? ISSUER_OK : result;
}

static IssuerResult verify_locked(Issuer *issuer, const char *token, const char *nonce,
                                  uint64_t now, JwtClaims *out, char words[ISSUER_WORDS_BYTES])
{
    const JwtRules rules = rules_of(issuer, nonce, now);
    const size_t bytes = strlen(token);
    const IssuerResult result = have_keys(issuer, now, words);
    if (result != ISSUER_OK) {
        return result;
    }
    JwtFault fault = jwt_verify(issuer->keys, token, bytes, &rules, out);
    if (fault == JWT_UNKNOWN_KEY && may_rotate(issuer, now) &&
        fetch_keys(issuer, now, words) == ISSUER_OK) {
        fault = jwt_verify(issuer->keys, token, bytes, &rules, out);
    }
    if (fault != JWT_FINE) {
        say(words, "the token is refused: %s", jwt_fault_text(fault));
        return ISSUER_REFUSED;
    }
    return ISSUER_OK;
}

static IssuerResult verify(Issuer *issuer, const char *token, const char *nonce, uint64_t now,
                           JwtClaims *out, char words[ISSUER_WORDS_BYTES])
{
    pthread_mutex_lock(&issuer->lock);
    const IssuerResult result = verify_locked(issuer, token, nonce, now, out, words);
    pthread_mutex_unlock(&issuer->lock);
    return result;
}

// --- OpenID Connect -----------------------------------------------------------------------------

IssuerResult issuer_begin(Issuer *issuer, const IssuerSignIn *sign_in, uint64_t now_ms,
                          char out[ISSUER_URL_BYTES], char words[ISSUER_WORDS_BYTES])
{
    Known known;
    IssuerResult result = know(issuer, now_ms, &known, words);
    snprintf(out, ISSUER_URL_BYTES, "%.*s%s", ISSUER_URL_BYTES - 2, known.authorize,
             strchr(known.authorize, '?') != NULL ? "" : "?");
    const struct {
        const char *name, *value;
    } parameters[] = {{"response_type", "code"},
                      {"client_id", issuer->config.client_id},
                      {"redirect_uri", sign_in->redirect_uri},
                      {"scope", issuer->config.scopes},
                      {"state", sign_in->state},
                      {"nonce", sign_in->nonce},
                      {"code_challenge", sign_in->challenge},
                      {"code_challenge_method", "S256"}};
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0] && result == ISSUER_OK; i++) {
        if (!add_parameter(out, ISSUER_URL_BYTES, parameters[i].name, parameters[i].value)) {
            say(words, "the address of %s is too long", issuer->name);
            result = ISSUER_INVALID;
        }
    }
    return result;
}

IssuerResult issuer_end(Issuer *issuer, const char *back, uint64_t now_ms,
                        char out[ISSUER_URL_BYTES], char words[ISSUER_WORDS_BYTES])
{
    Known known;
    const IssuerResult result = know(issuer, now_ms, &known, words);
    const bool has_page = known.end_session[0] != '\0';
    snprintf(out, ISSUER_URL_BYTES, "%.*s%s", ISSUER_URL_BYTES - 2, known.end_session,
             !has_page || strchr(known.end_session, '?') != NULL ? "" : "?");
    if (result == ISSUER_OK && has_page &&
        (!add_parameter(out, ISSUER_URL_BYTES, "client_id", issuer->config.client_id) ||
         !add_parameter(out, ISSUER_URL_BYTES, "post_logout_redirect_uri", back))) {
        out[0] = '\0';
    }
    return result;
}

typedef struct TokenForm {
    char body[ISSUER_CODE_BYTES * 4], line[ISSUER_SECRET_BYTES * 8], plain[ISSUER_SECRET_BYTES * 6];
} TokenForm;

// The request to the token endpoint: the secret in a header, or in the form if the issuer knows
// only that. False: something does not fit.
static bool make_form(const Issuer *issuer, const Known *known, const IssuerCode *code,
                      TokenForm *form)
{
    const IssuerConfig *config = &issuer->config;
    const bool has_secret = config->client_secret != NULL && config->client_secret[0] != '\0';
    *form = (TokenForm){0};
    bool fits = add_parameter(form->body, sizeof form->body, "grant_type", "authorization_code") &&
                add_parameter(form->body, sizeof form->body, "code", code->code) &&
                add_parameter(form->body, sizeof form->body, "redirect_uri", code->redirect_uri) &&
                add_parameter(form->body, sizeof form->body, "code_verifier", code->verifier);
    if (!has_secret || known->posts_secret) {
        fits = fits && add_parameter(form->body, sizeof form->body, "client_id", config->client_id);
    }
    if (has_secret && known->posts_secret) {
        return fits &&
               add_parameter(form->body, sizeof form->body, "client_secret", config->client_secret);
    }
    if (has_secret) { // each of them is percent-encoded first (RFC 6749, 2.3.1)
        char id[ISSUER_SECRET_BYTES * 3] = "", secret[ISSUER_SECRET_BYTES * 3] = "";
        fits = fits && add_parameter(id, sizeof id, "", config->client_id) &&
               add_parameter(secret, sizeof secret, "", config->client_secret);
        snprintf(form->plain, sizeof form->plain, "%s:%s", fits ? id + 1 : "",
                 fits ? secret + 1 : "");
        static const char basic[] = "Authorization: Basic ";
        memcpy(form->line, basic, sizeof basic);
        (void)sodium_bin2base64(form->line + sizeof basic - 1, sizeof form->line - sizeof basic,
                                (const uint8_t *)form->plain, strlen(form->plain),
                                sodium_base64_VARIANT_ORIGINAL);
        sodium_memzero(secret, sizeof secret);
    }
    return fits;
}

static void copy_member(const JsonNode *root, const char *name, char *out, size_t capacity)
{
    const JsonNode *node = json_find(root, name);
    const bool is_good = node != NULL && node->kind == JSON_STRING && node->count < capacity &&
                         strlen(node->text) == node->count;
    snprintf(out, capacity, "%s", is_good ? node->text : "");
}

typedef struct Tokens {
    char id[JWT_BYTES_MAX + 1], access[JWT_BYTES_MAX + 1];
} Tokens;

static IssuerResult read_tokens(const Issuer *issuer, const FetchReply *reply, Tokens *out,
                                char words[ISSUER_WORDS_BYTES])
{
    void *memory = malloc(DOCUMENT_ARENA);
    const JsonNode *root = NULL;
    Arena arena;
    Status status = STATUS_LIMIT;
    if (memory != NULL) {
        arena_init(&arena, memory, DOCUMENT_ARENA);
        const JsonConfig config = {
            .arena = &arena, .bytes_max = DOCUMENT_MAX, .node_count_max = 256, .depth_max = 8};
        status = json_parse(&config, reply->body, reply->bytes, &root, NULL);
    }
    IssuerResult result = ISSUER_INVALID;
    char error[64] = "";
    if (status == STATUS_OK && root->kind == JSON_OBJECT) {
        copy_member(root, "id_token", out->id, sizeof out->id);
        copy_member(root, "access_token", out->access, sizeof out->access);
        copy_member(root, "error", error, sizeof error);
        error[strspn(error, "abcdefghijklmnopqrstuvwxyz_")] = '\0'; // a word of the standard
        result = reply->status == 200 && out->id[0] != '\0' ? ISSUER_OK : ISSUER_REFUSED;
    }
    if (result != ISSUER_OK) {
        say(words, "%s refused to say who it is (status %ld%s%s)", issuer->name, reply->status,
            error[0] != '\0' ? ", " : "", error);
    }
    free(memory);
    return result;
}

// Issuers give name and roles in the token, or say them when they are asked.
static IssuerResult ask_profile(Issuer *issuer, const char *userinfo, const char *access,
                                uint64_t now, JwtClaims *claims, char words[ISSUER_WORDS_BYTES])
{
    const bool wants_roles = issuer->config.role_count > 0 && !claims->has_roles;
    if (userinfo[0] == '\0' || access[0] == '\0' ||
        strspn(access, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=") !=
            strlen(access) ||
        (claims->name[0] != '\0' && !wants_roles)) {
        return ISSUER_OK;
    }
    char *line = malloc(JWT_BYTES_MAX + 64);
    FetchReply reply;
    JwtClaims more = {0};
    const JwtRules rules = rules_of(issuer, NULL, now);
    IssuerResult result = ISSUER_UNREACHED;
    if (line != NULL) {
        snprintf(line, JWT_BYTES_MAX + 64, "Authorization: Bearer %s", access);
        FetchAsk what = {
            .method = "GET", .url = userinfo, .headers = {line, "Accept: application/json"}};
        result = ask(issuer, &what, "the profile", &reply, words);
    }
    free(line);
    if (result != ISSUER_OK) {
        return result;
    }
    const bool is_theirs = reply.status == 200 &&
                           jwt_read_profile(reply.body, reply.bytes, &rules, &more) == STATUS_OK &&
                           strcmp(more.subject, claims->subject) == 0;
    fetch_reply_free(&reply);
    if (!is_theirs) {
        say(words, "%s gave the profile of somebody else, or none", issuer->name);
        return ISSUER_INVALID;
    }
    if (claims->name[0] == '\0') {
        memcpy(claims->name, more.name, sizeof claims->name);
    }
    if (!claims->has_roles) {
        claims->has_roles = more.has_roles;
        claims->roles = more.roles;
    }
    return ISSUER_OK;
}

static IssuerResult exchange(Issuer *issuer, const Known *known, const IssuerCode *code,
                             Tokens *tokens, char words[ISSUER_WORDS_BYTES])
{
    TokenForm *form = malloc(sizeof *form);
    FetchReply reply = {0};
    IssuerResult result = ISSUER_UNREACHED;
    say(words, "there is no memory now; try again");
    if (form != NULL && !make_form(issuer, known, code, form)) {
        say(words, "the code is too long");
        result = ISSUER_REFUSED;
    } else if (form != NULL) {
        FetchAsk what = {.method = "POST",
                         .url = known->token,
                         .headers = {"Accept: application/json",
                                     "Content-Type: application/x-www-form-urlencoded",
                                     form->line[0] != '\0' ? form->line : NULL},
                         .body = form->body,
                         .body_bytes = strlen(form->body)};
        result = ask(issuer, &what, "the answer", &reply, words);
        result = result == ISSUER_OK ? read_tokens(issuer, &reply, tokens, words) : result;
    }
    if (reply.body != NULL) {
        sodium_memzero(reply.body, reply.bytes);
    }
    fetch_reply_free(&reply);
    if (form != NULL) {
        sodium_memzero(form, sizeof *form);
    }
    free(form);
    return result;
}

IssuerResult issuer_finish(Issuer *issuer, const IssuerCode *code, uint64_t now_ms, JwtClaims *out,
                           char words[ISSUER_WORDS_BYTES])
{
    Tokens *tokens = calloc(1, sizeof *tokens);
    if (tokens == NULL) {
        say(words, "there is no memory now; try again");
        return ISSUER_UNREACHED;
    }
    JwtClaims claims = {0};
    Known known;
    IssuerResult result = know(issuer, now_ms, &known, words);
    result = result == ISSUER_OK ? exchange(issuer, &known, code, tokens, words) : result;
    result = result == ISSUER_OK ? verify(issuer, tokens->id, code->nonce, now_ms, &claims, words)
                                 : result;
    result = result == ISSUER_OK
                 ? ask_profile(issuer, known.userinfo, tokens->access, now_ms, &claims, words)
                 : result;
    sodium_memzero(tokens, sizeof *tokens);
    free(tokens);
    if (result == ISSUER_OK) {
        *out = claims;
    }
    return result;
}

// --- Clerk --------------------------------------------------------------------------------------

static bool session_is_known(Issuer *issuer, const char *id, uint64_t now)
{
    bool is_known = false;
    pthread_mutex_lock(&issuer->lock);
    for (uint32_t i = 0; i < SESSIONS && !is_known; i++) {
        is_known = issuer->sessions[i].until_ms > now && strcmp(issuer->sessions[i].id, id) == 0;
    }
    pthread_mutex_unlock(&issuer->lock);
    return is_known;
}

static void note_session(Issuer *issuer, const char id[JWT_SESSION_BYTES], uint64_t now)
{
    pthread_mutex_lock(&issuer->lock);
    Session *to = &issuer->sessions[issuer->session_next++ % SESSIONS];
    memcpy(to->id, id, sizeof to->id);
    to->until_ms = now + SESSION_KEPT_MS;
    pthread_mutex_unlock(&issuer->lock);
}

static IssuerResult read_session(const Issuer *issuer, const FetchReply *reply,
                                 const JwtClaims *claims, char words[ISSUER_WORDS_BYTES])
{
    void *memory = malloc(DOCUMENT_ARENA);
    const JsonNode *root = NULL;
    Arena arena;
    Status status = STATUS_LIMIT;
    char state[32] = "", user[JWT_SUBJECT_BYTES] = "";
    if (memory != NULL) {
        arena_init(&arena, memory, DOCUMENT_ARENA);
        const JsonConfig config = {
            .arena = &arena, .bytes_max = DOCUMENT_MAX, .node_count_max = 1024, .depth_max = 12};
        status = json_parse(&config, reply->body, reply->bytes, &root, NULL);
    }
    if (status == STATUS_OK && root->kind == JSON_OBJECT) {
        copy_member(root, "status", state, sizeof state);
        copy_member(root, "user_id", user, sizeof user);
    }
    free(memory);
    if (reply->status == 401 || reply->status == 403) {
        say(words, "%s refuses the secret key; is the setting clerk_secret_key right?",
            issuer->name);
        return ISSUER_INVALID;
    }
    if (reply->status != 200 || strcmp(state, "active") != 0 ||
        strcmp(user, claims->subject) != 0) {
        say(words, "the token is refused: %s", jwt_fault_text(JWT_SESSION));
        return ISSUER_REFUSED;
    }
    return ISSUER_OK;
}

// A token is good for a minute after its session has ended; so the issuer is asked about the
// session too.
static IssuerResult check_session(Issuer *issuer, const JwtClaims *claims, uint64_t now,
                                  char words[ISSUER_WORDS_BYTES])
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    char url[ISSUER_URL_BYTES], line[ISSUER_SECRET_BYTES + 64];
    const char *id = claims->session;
    if (id[0] == '\0' || strspn(id, letters) != strlen(id)) {
        say(words, "the token is refused: it names no session");
        return ISSUER_REFUSED;
    }
    if (session_is_known(issuer, id, now)) {
        return ISSUER_OK;
    }
    snprintf(url, sizeof url, "%.512s/v1/sessions/%s", issuer->config.api, id);
    snprintf(line, sizeof line, "Authorization: Bearer %.*s", ISSUER_SECRET_BYTES,
             issuer->config.secret_key);
    FetchAsk what = {.method = "GET", .url = url, .headers = {line, "Accept: application/json"}};
    FetchReply reply;
    IssuerResult result = ask(issuer, &what, "the session", &reply, words);
    sodium_memzero(line, sizeof line);
    if (result != ISSUER_OK) {
        return result;
    }
    result = read_session(issuer, &reply, claims, words);
    fetch_reply_free(&reply);
    if (result == ISSUER_OK) {
        note_session(issuer, claims->session, now);
    }
    return result;
}

IssuerResult issuer_check(Issuer *issuer, const char *token, uint64_t now_ms, JwtClaims *out,
                          char words[ISSUER_WORDS_BYTES])
{
    JwtClaims claims = {0};
    IssuerResult result = verify(issuer, token, NULL, now_ms, &claims, words);
    result = result == ISSUER_OK ? check_session(issuer, &claims, now_ms, words) : result;
    if (result == ISSUER_OK) {
        *out = claims;
    }
    return result;
}
