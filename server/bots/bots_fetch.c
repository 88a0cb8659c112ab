// See bots_fetch.h. The lock is held only to move a request or a reply, never during HTTP.
#define _GNU_SOURCE
#include "server/bots/bots_fetch.h"

#include "core/base/check.h"
#include "core/base/json_member.h"
#include "core/base/json_read.h"
#include "core/base/sha256.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TOKEN_BYTES         2049
#define ANSWER_BYTES        (64u << 10)
#define METRICS_BYTES       (256u << 10)
#define JSON_ARENA_BYTES    (64u << 10)
#define REQUESTS_BESIDE_MAX 3 // a scene, the rows of a manifest, the metrics
#define FETCHED_MAX         64
#define GUEST_BYTES         64

typedef struct FetchRequest {
    BotsFetchKind kind;
    uint32_t bot;
    uint8_t hash[SHA256_BYTES];
} FetchRequest;

struct BotsFetcher {
    BotsFetcherConfig config;
    BotsHttp http;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int ready; // eventfd
    bool stop;
    FetchRequest *requests; // a ring
    uint32_t request_max, request_first, request_count;
    BotsFetched *fetched; // a ring
    uint32_t fetched_first, fetched_count;
    char (*tokens)[TOKEN_BYTES]; // by bot; "": not signed in
    char (*guests)[GUEST_BYTES]; // by bot: who is a tester because of us; "": nobody
    // Of a server with accounts, where who names neither gets a world of their own: the place, and
    // the world that the first bot got. "": not known, or not needed.
    char place[65], world[65];
    bool has_asked_place;
    _Alignas(16) uint8_t json[JSON_ARENA_BYTES];
};

// --- asking -------------------------------------------------------------------------------------

static void fetch_failed(BotsFetched *fetched, Status status, const char *what)
{
    fetched->status = status;
    snprintf(fetched->reason, sizeof fetched->reason, "%s", what);
}

// Reads an error: {"error":{"code":…,"message":…}}.
static void fetch_refused(BotsFetcher *fetcher, BotsFetched *fetched, const char *what,
                          const BotsAnswer *answer)
{
    Arena arena;
    arena_init(&arena, fetcher->json, sizeof fetcher->json);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    const char *code = "", *message = "";
    if (json_parse(&config, (const char *)answer->body, answer->bytes, &root, NULL) == STATUS_OK) {
        const JsonNode *error = json_find(root, "error");
        const JsonNode *node = json_find(error, "code"), *text = json_find(error, "message");
        code = node != NULL && node->kind == JSON_STRING ? node->text : "";
        message = text != NULL && text->kind == JSON_STRING ? text->text : "";
    }
    fetched->status = answer->status == 404 ? STATUS_NOT_FOUND : STATUS_DENIED;
    snprintf(fetched->reason, sizeof fetched->reason, "%s: %u %.40s: %.80s", what, answer->status,
             code, message);
}

// Makes a bot a tester of the place, or takes that back. False: it was refused.
static bool change_team(BotsFetcher *fetcher, const char *guest, bool is_tester,
                        BotsFetched *fetched)
{
    char path[256];
    snprintf(path, sizeof path, "/api/places/%s/team/%s", fetcher->config.place, guest);
    const BotsQuestion question = {.method = is_tester ? "PUT" : "DELETE",
                                   .path = path,
                                   .bearer = fetcher->config.owner,
                                   .body = is_tester ? "{\"role\":\"tester\"}" : NULL,
                                   .answer_max = ANSWER_BYTES};
    BotsAnswer answer;
    const Status status = bots_http_ask(&fetcher->http, &question, &answer);
    if (status != STATUS_OK) {
        fetch_failed(fetched, status, "team: nobody answers");
        return false;
    }
    const bool is_done = answer.status / 100 == 2;
    if (!is_done) {
        fetch_refused(fetcher, fetched, "team", &answer);
    }
    free(answer.body);
    return is_done;
}

static bool guest_is_plain(const char *guest)
{
    return guest[0] != '\0' &&
           strspn(guest, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(guest);
}

static bool ask_login(BotsFetcher *fetcher, uint32_t bot, BotsFetched *fetched)
{
    char body[128];
    snprintf(body, sizeof body, "{\"username\":\"%s_%u\"}", fetcher->config.name, bot);
    const BotsQuestion question = {
        .method = "POST", .path = "/login", .body = body, .answer_max = ANSWER_BYTES};
    BotsAnswer answer;
    const Status status = bots_http_ask(&fetcher->http, &question, &answer);
    if (status != STATUS_OK) {
        fetch_failed(fetched, status, "login: nobody answers");
        return false;
    }
    Arena arena;
    arena_init(&arena, fetcher->json, sizeof fetcher->json);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    const bool good =
        answer.status / 100 == 2 &&
        json_parse(&config, (const char *)answer.body, answer.bytes, &root, NULL) == STATUS_OK &&
        json_member_copy(root, "session_token", fetcher->tokens[bot], TOKEN_BYTES);
    const bool is_led = good && fetcher->config.owner != NULL &&
                        json_member_copy(root, "client_id", fetcher->guests[bot], GUEST_BYTES) &&
                        guest_is_plain(fetcher->guests[bot]);
    if (!good) {
        fetch_refused(fetcher, fetched, "login", &answer);
    }
    free(answer.body);
    return good && (!is_led || change_team(fetcher, fetcher->guests[bot], true, fetched));
}

// 64 hex digits.
static void copy_key(const JsonNode *root, uint8_t out[32])
{
    char text[65];
    if (!json_member_copy(root, "signing_key", text, sizeof text) || strlen(text) != 64 ||
        strspn(text, "0123456789abcdef") != 64) {
        memset(out, 0, 32);
        return;
    }
    for (uint32_t i = 0; i < 32; i++) {
        const char pair[3] = {text[2 * i], text[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

static bool take_join(BotsFetcher *fetcher, const BotsAnswer *answer, BotsFetched *fetched)
{
    Arena arena;
    arena_init(&arena, fetcher->json, sizeof fetcher->json);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    if (answer->status / 100 != 2 ||
        json_parse(&config, (const char *)answer->body, answer->bytes, &root, NULL) != STATUS_OK) {
        return false;
    }
    if (fetcher->place[0] != '\0' && !json_member_copy(root, "world_id", fetcher->world, 65)) {
        return false;
    }
    copy_key(root, fetched->signing_key);
    return json_member_copy(root, "server_address", fetched->address, sizeof fetched->address) &&
           json_member_copy(root, "ticket", fetched->ticket, sizeof fetched->ticket);
}

// A server without accounts has one world, and a server that says nothing of places is asked for
// none.
static void ask_place(BotsFetcher *fetcher)
{
    const BotsQuestion question = {
        .method = "GET", .path = "/api/session", .answer_max = ANSWER_BYTES};
    BotsAnswer answer;
    if (bots_http_ask(&fetcher->http, &question, &answer) != STATUS_OK) {
        return; // it is asked again
    }
    Arena arena;
    arena_init(&arena, fetcher->json, sizeof fetcher->json);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    fetcher->has_asked_place = true;
    if (answer.status == 200 &&
        json_parse(&config, (const char *)answer.body, answer.bytes, &root, NULL) == STATUS_OK) {
        const JsonNode *accounts = json_find(root, "accounts");
        if (accounts != NULL && accounts->kind == JSON_BOOL && accounts->boolean) {
            (void)json_member_copy(root, "default_place", fetcher->place, sizeof fetcher->place);
        }
    }
    free(answer.body);
}

// What the body of a join names: the world, or the place, or nothing.
static void write_join(BotsFetcher *fetcher, bool debug, char *out, size_t bytes)
{
    if (fetcher->config.world == NULL && !fetcher->has_asked_place) {
        ask_place(fetcher);
    }
    const bool has_world = fetcher->config.world != NULL || fetcher->world[0] != '\0';
    const char *world = fetcher->config.world != NULL ? fetcher->config.world : fetcher->world;
    const char *value = has_world ? world : fetcher->place;
    const bool names = value[0] != '\0';
    const char *channel = has_world ? NULL : fetcher->config.channel;
    snprintf(out, bytes, "{%s%s%s%s%s%s\"debug\":%s}",
             !names      ? ""
             : has_world ? "\"world_id\":\""
                         : "\"place_id\":\"",
             value, names ? "\"," : "", channel != NULL ? "\"channel\":\"" : "",
             channel != NULL ? channel : "", channel != NULL ? "\"," : "",
             debug ? "true" : "false");
}

static void ask_ticket(BotsFetcher *fetcher, const FetchRequest *request, BotsFetched *fetched)
{
    // All of them before the first comes in: a team that changes is no matter for worlds that run.
    for (uint32_t i = 0; i < fetcher->config.bot_count && fetcher->config.owner != NULL; i++) {
        if (fetcher->tokens[i][0] == 0 && !ask_login(fetcher, i, fetched)) {
            return;
        }
    }
    const bool signed_in = fetcher->tokens[request->bot][0] != 0;
    if (!signed_in && !ask_login(fetcher, request->bot, fetched)) {
        return;
    }
    char body[256];
    write_join(fetcher, request->bot < fetcher->config.debug_count, body, sizeof body);
    const BotsQuestion question = {.method = "POST",
                                   .path = "/join",
                                   .bearer = fetcher->tokens[request->bot],
                                   .body = body,
                                   .answer_max = ANSWER_BYTES};
    BotsAnswer answer;
    const Status status = bots_http_ask(&fetcher->http, &question, &answer);
    if (status != STATUS_OK) {
        fetch_failed(fetched, status, "join: nobody answers");
        return;
    }
    if (!take_join(fetcher, &answer, fetched)) {
        fetch_refused(fetcher, fetched, "join", &answer);
        if (answer.status == 401 || answer.status == 403) {
            fetcher->tokens[request->bot][0] = 0; // sign in again next time
        }
    }
    free(answer.body);
}

// The scene of a private place is for those who play it, and all bots play the same.
static const char *any_token(const BotsFetcher *fetcher)
{
    for (uint32_t i = 0; i < fetcher->config.bot_count; i++) {
        if (fetcher->tokens[i][0] != '\0') {
            return fetcher->tokens[i];
        }
    }
    return NULL;
}

static void ask_blob(BotsFetcher *fetcher, const FetchRequest *request, BotsFetched *fetched)
{
    char path[80], hex[2 * SHA256_BYTES + 1];
    memcpy(fetched->hash, request->hash, sizeof fetched->hash);
    sha256_hex(request->hash, hex);
    snprintf(path, sizeof path, "/blob/%s", hex);
    const BotsQuestion question = {
        .method = "GET", .path = path, .bearer = any_token(fetcher), .answer_max = BOTS_SCENE_MAX};
    BotsAnswer answer;
    const Status status = bots_http_ask(&fetcher->http, &question, &answer);
    if (status != STATUS_OK) {
        fetch_failed(fetched, status, "blob: nobody answers");
        return;
    }
    uint8_t hash[SHA256_BYTES];
    sha256_of(answer.body, answer.bytes, hash);
    if (answer.status != 200 || memcmp(hash, request->hash, sizeof hash) != 0) {
        fetch_refused(fetcher, fetched, "blob", &answer);
        free(answer.body);
        return;
    }
    fetched->scene = answer.body;
    fetched->scene_bytes = answer.bytes;
}

// --- numbers ------------------------------------------------------------------------------------

// The value of a family: the first line with that name and a number.
static double metric(const char *text, const char *name)
{
    const size_t bytes = strlen(name);
    for (const char *line = text; line != NULL && *line != 0;) {
        const char *end = strchr(line, '\n');
        if (strncmp(line, name, bytes) == 0 && (line[bytes] == ' ' || line[bytes] == '{')) {
            const char *value = strchr(line + bytes, ' ');
            if (value != NULL && (end == NULL || value < end)) {
                return strtod(value + 1, NULL);
            }
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return 0;
}

BotsMetrics bots_metrics_read(const char *text)
{
    BotsMetrics out = {.known = strstr(text, "sandlot_world_cpu_seconds_total") != NULL};
    out.cpu_seconds = metric(text, "sandlot_world_cpu_seconds_total");
    out.ticks = metric(text, "sandlot_world_ticks_total");
    out.ticks_missed = metric(text, "sandlot_world_ticks_missed_total");
    out.players = metric(text, "sandlot_world_players");
    out.resident_bytes = metric(text, "sandlot_world_resident_bytes");
    out.bytes_down = metric(text, "sandlot_world_socket_bytes_down_total");
    out.bytes_up = metric(text, "sandlot_world_socket_bytes_up_total");
    out.corrections = metric(text, "sandlot_world_corrections_total");
    out.corrections_without_cause = metric(text, "sandlot_world_corrections_without_cause_total");
    out.malformed = metric(text, "sandlot_world_messages_malformed_total");
    out.broken = metric(text, "sandlot_world_socket_broken_total");
    out.starts = metric(text, "sandlot_world_starts_total");
    out.crashes = metric(text, "sandlot_world_crashes_total");
    return out;
}

static void ask_metrics(BotsFetcher *fetcher, BotsFetched *fetched)
{
    const BotsQuestion question = {
        .method = "GET", .path = "/metrics", .answer_max = METRICS_BYTES};
    BotsAnswer answer;
    const Status status = bots_http_ask(&fetcher->http, &question, &answer);
    if (status != STATUS_OK) {
        fetch_failed(fetched, status, "metrics: nobody answers");
        return;
    }
    if (answer.status == 200) {
        fetched->metrics = bots_metrics_read((const char *)answer.body);
    } else {
        fetch_refused(fetcher, fetched, "metrics", &answer);
    }
    free(answer.body);
}

// --- the thread ---------------------------------------------------------------------------------

static void ask(BotsFetcher *fetcher, const FetchRequest *request, BotsFetched *fetched)
{
    *fetched = (BotsFetched){.kind = request->kind, .bot = request->bot};
    switch (request->kind) {
    case BOTS_FETCH_TICKET:
        ask_ticket(fetcher, request, fetched);
        break;
    case BOTS_FETCH_SCENE:
    case BOTS_FETCH_ROWS:
        ask_blob(fetcher, request, fetched);
        break;
    case BOTS_FETCH_METRICS:
        ask_metrics(fetcher, fetched);
        break;
    }
}

// False when the fetcher is being closed.
static bool next_request(BotsFetcher *fetcher, FetchRequest *out)
{
    pthread_mutex_lock(&fetcher->lock);
    while (!fetcher->stop &&
           (fetcher->request_count == 0 || fetcher->fetched_count == FETCHED_MAX)) {
        pthread_cond_wait(&fetcher->wake, &fetcher->lock);
    }
    const bool goes_on = !fetcher->stop;
    if (goes_on) {
        *out = fetcher->requests[fetcher->request_first];
        fetcher->request_first = (fetcher->request_first + 1) % fetcher->request_max;
        fetcher->request_count -= 1;
    }
    pthread_mutex_unlock(&fetcher->lock);
    return goes_on;
}

static void *fetch_until_closed(void *user)
{
    BotsFetcher *fetcher = user;
    FetchRequest request;
    static const uint64_t one = 1;
    while (next_request(fetcher, &request)) {
        BotsFetched fetched;
        ask(fetcher, &request, &fetched);
        pthread_mutex_lock(&fetcher->lock);
        fetcher->fetched[(fetcher->fetched_first + fetcher->fetched_count) % FETCHED_MAX] = fetched;
        fetcher->fetched_count += 1;
        pthread_mutex_unlock(&fetcher->lock);
        const ssize_t told = write(fetcher->ready, &one, sizeof one);
        ASSERT(told == sizeof one);
    }
    return NULL;
}

// --- the loop's side ----------------------------------------------------------------------------

static void let_go(BotsFetcher *fetcher)
{
    while (fetcher->fetched_count > 0) {
        free(fetcher->fetched[fetcher->fetched_first].scene);
        fetcher->fetched_first = (fetcher->fetched_first + 1) % FETCHED_MAX;
        fetcher->fetched_count -= 1;
    }
    bots_http_close(&fetcher->http);
    if (fetcher->ready >= 0) {
        close(fetcher->ready);
    }
    free(fetcher->requests);
    free(fetcher->fetched);
    free(fetcher->tokens);
    free(fetcher->guests);
    free(fetcher);
}

Status bots_fetcher_open(const BotsFetcherConfig *config, BotsFetcher **out)
{
    BotsFetcher *fetcher = calloc(1, sizeof *fetcher);
    if (fetcher == NULL) {
        return STATUS_LIMIT;
    }
    fetcher->config = *config;
    if (config->place != NULL) {
        snprintf(fetcher->place, sizeof fetcher->place, "%s", config->place);
        fetcher->has_asked_place = true;
    }
    fetcher->request_max = config->bot_count + REQUESTS_BESIDE_MAX;
    fetcher->requests = calloc(fetcher->request_max, sizeof(FetchRequest));
    fetcher->fetched = calloc(FETCHED_MAX, sizeof(BotsFetched));
    fetcher->tokens = calloc(config->bot_count, TOKEN_BYTES);
    fetcher->guests = calloc(config->bot_count, GUEST_BYTES);
    fetcher->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    Status status = bots_http_init(&fetcher->http, config->server);
    for (uint32_t i = 0; status == STATUS_OK && i < BOTS_SERVERS_MAX && config->others[i] != NULL;
         i++) {
        status = bots_http_add(&fetcher->http, config->others[i]);
    }
    if (status == STATUS_OK &&
        (fetcher->requests == NULL || fetcher->fetched == NULL || fetcher->tokens == NULL ||
         fetcher->guests == NULL || fetcher->ready < 0)) {
        status = STATUS_LIMIT;
    }
    pthread_mutex_init(&fetcher->lock, NULL);
    pthread_cond_init(&fetcher->wake, NULL);
    if (status == STATUS_OK &&
        pthread_create(&fetcher->thread, NULL, fetch_until_closed, fetcher) != 0) {
        status = STATUS_LIMIT;
    }
    if (status != STATUS_OK) {
        let_go(fetcher);
        return status;
    }
    *out = fetcher;
    return STATUS_OK;
}

void bots_fetcher_close(BotsFetcher *fetcher)
{
    if (fetcher == NULL) {
        return;
    }
    pthread_mutex_lock(&fetcher->lock);
    fetcher->stop = true;
    pthread_cond_signal(&fetcher->wake);
    pthread_mutex_unlock(&fetcher->lock);
    pthread_join(fetcher->thread, NULL);
    for (uint32_t i = 0; i < fetcher->config.bot_count && fetcher->config.owner != NULL; i++) {
        BotsFetched unused = {0};
        if (guest_is_plain(fetcher->guests[i])) {
            (void)change_team(fetcher, fetcher->guests[i], false, &unused);
        }
    }
    pthread_mutex_destroy(&fetcher->lock);
    pthread_cond_destroy(&fetcher->wake);
    let_go(fetcher);
}

int bots_fetcher_descriptor(const BotsFetcher *fetcher)
{
    return fetcher->ready;
}

void bots_fetcher_ask(BotsFetcher *fetcher, BotsFetchKind kind, uint32_t bot, const uint8_t *hash)
{
    pthread_mutex_lock(&fetcher->lock);
    ASSERT(fetcher->request_count < fetcher->request_max); // one each
    FetchRequest *at =
        &fetcher
             ->requests[(fetcher->request_first + fetcher->request_count) % fetcher->request_max];
    *at = (FetchRequest){.kind = kind, .bot = bot};
    if (hash != NULL) {
        memcpy(at->hash, hash, sizeof at->hash);
    }
    fetcher->request_count += 1;
    pthread_cond_signal(&fetcher->wake);
    pthread_mutex_unlock(&fetcher->lock);
}

bool bots_fetcher_next(BotsFetcher *fetcher, BotsFetched *out)
{
    uint64_t count;
    (void)!read(fetcher->ready, &count, sizeof count);
    pthread_mutex_lock(&fetcher->lock);
    const bool there = fetcher->fetched_count > 0;
    if (there) {
        *out = fetcher->fetched[fetcher->fetched_first];
        fetcher->fetched_first = (fetcher->fetched_first + 1) % FETCHED_MAX;
        fetcher->fetched_count -= 1;
        pthread_cond_signal(&fetcher->wake);
    }
    pthread_mutex_unlock(&fetcher->lock);
    return there;
}
