// See bots_door.h. The lock is held only to move a wish or a gift; questions are asked without it.
#define _GNU_SOURCE
#include "server/bots/bots_door.h"

#include "core/base/check.h"
#include "core/base/json_read.h"
#include "core/base/sha256.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TOKEN_BYTES       2049
#define ANSWER_BYTES      (64u << 10)
#define METRICS_BYTES     (256u << 10)
#define JSON_ARENA_BYTES  (64u << 10)
#define WISHES_BESIDE_MAX 2 // a scene, the metrics
#define GIFTS_MAX         64

typedef struct Wish {
    BotsWish wish;
    uint32_t bot;
    uint8_t hash[SHA256_BYTES];
} Wish;

struct BotsDoor {
    BotsDoorConfig config;
    BotsHttp http;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int ready; // eventfd
    bool stop;
    Wish *wishes; // a ring
    uint32_t wish_max, wish_first, wish_count;
    BotsGift *gifts; // a ring
    uint32_t gift_first, gift_count;
    char (*tokens)[TOKEN_BYTES]; // by bot; "": not signed in
    _Alignas(16) uint8_t json[JSON_ARENA_BYTES];
};

// --- asking -------------------------------------------------------------------------------------

static void fail(BotsGift *gift, Status status, const char *what)
{
    gift->status = status;
    snprintf(gift->reason, sizeof gift->reason, "%s", what);
}

// What an error said: {"error":{"code":…}}.
static void fail_by_answer(BotsDoor *door, BotsGift *gift, const char *what,
                           const BotsAnswer *answer)
{
    Arena arena;
    arena_init(&arena, door->json, sizeof door->json);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    const char *code = "";
    if (json_parse(&config, (const char *)answer->body, answer->bytes, &root, NULL) == STATUS_OK) {
        const JsonNode *node = json_find(json_find(root, "error"), "code");
        code = node != NULL && node->kind == JSON_STRING ? node->text : "";
    }
    gift->status = STATUS_DENIED;
    snprintf(gift->reason, sizeof gift->reason, "%s: %u %.80s", what, answer->status, code);
}

static bool copy_text(const JsonNode *root, const char *name, char *out, size_t capacity)
{
    const JsonNode *node = json_find(root, name);
    if (node == NULL || node->kind != JSON_STRING || node->count >= capacity ||
        strlen(node->text) != node->count) {
        return false;
    }
    memcpy(out, node->text, node->count + 1);
    return true;
}

static bool ask_login(BotsDoor *door, uint32_t bot, BotsGift *gift)
{
    char body[128];
    snprintf(body, sizeof body, "{\"username\":\"%s_%u\"}", door->config.name, bot);
    const BotsQuestion question = {
        .method = "POST", .path = "/login", .body = body, .answer_max = ANSWER_BYTES};
    BotsAnswer answer;
    const Status status = bots_http_ask(&door->http, &question, &answer);
    if (status != STATUS_OK) {
        fail(gift, status, "login: nobody answers");
        return false;
    }
    Arena arena;
    arena_init(&arena, door->json, sizeof door->json);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    const bool good =
        answer.status / 100 == 2 &&
        json_parse(&config, (const char *)answer.body, answer.bytes, &root, NULL) == STATUS_OK &&
        copy_text(root, "session_token", door->tokens[bot], TOKEN_BYTES);
    if (!good) {
        fail_by_answer(door, gift, "login", &answer);
    }
    free(answer.body);
    return good;
}

// 64 hex digits.
static void copy_key(const JsonNode *root, uint8_t out[32])
{
    char text[65];
    if (!copy_text(root, "signing_key", text, sizeof text) || strlen(text) != 64 ||
        strspn(text, "0123456789abcdef") != 64) {
        memset(out, 0, 32);
        return;
    }
    for (uint32_t i = 0; i < 32; i++) {
        const char pair[3] = {text[2 * i], text[2 * i + 1], 0};
        out[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
}

static bool take_join(BotsDoor *door, const BotsAnswer *answer, BotsGift *gift)
{
    Arena arena;
    arena_init(&arena, door->json, sizeof door->json);
    const JsonConfig config = json_config_default(&arena);
    const JsonNode *root = NULL;
    if (answer->status / 100 != 2 ||
        json_parse(&config, (const char *)answer->body, answer->bytes, &root, NULL) != STATUS_OK) {
        return false;
    }
    copy_key(root, gift->signing_key);
    return copy_text(root, "server_address", gift->address, sizeof gift->address) &&
           copy_text(root, "ticket", gift->ticket, sizeof gift->ticket);
}

static void ask_ticket(BotsDoor *door, const Wish *wish, BotsGift *gift)
{
    const bool signed_in = door->tokens[wish->bot][0] != 0;
    if (!signed_in && !ask_login(door, wish->bot, gift)) {
        return;
    }
    char body[160];
    const char *world = door->config.world;
    snprintf(body, sizeof body, "{%s%s%s%s}", world != NULL ? "\"world_id\":\"" : "",
             world != NULL ? world : "", world != NULL ? "\"," : "",
             wish->bot < door->config.debug_count ? "\"debug\":true" : "\"debug\":false");
    const BotsQuestion question = {.method = "POST",
                                   .path = "/join",
                                   .bearer = door->tokens[wish->bot],
                                   .body = body,
                                   .answer_max = ANSWER_BYTES};
    BotsAnswer answer;
    const Status status = bots_http_ask(&door->http, &question, &answer);
    if (status != STATUS_OK) {
        fail(gift, status, "join: nobody answers");
        return;
    }
    if (!take_join(door, &answer, gift)) {
        fail_by_answer(door, gift, "join", &answer);
        if (answer.status == 401 || answer.status == 403) {
            door->tokens[wish->bot][0] = 0; // another sign-in next time
        }
    }
    free(answer.body);
}

static void ask_scene(BotsDoor *door, const Wish *wish, BotsGift *gift)
{
    char path[80], hex[2 * SHA256_BYTES + 1];
    sha256_hex(wish->hash, hex);
    snprintf(path, sizeof path, "/blob/%s", hex);
    const BotsQuestion question = {.method = "GET", .path = path, .answer_max = BOTS_SCENE_MAX};
    BotsAnswer answer;
    const Status status = bots_http_ask(&door->http, &question, &answer);
    if (status != STATUS_OK) {
        fail(gift, status, "scene: nobody answers");
        return;
    }
    uint8_t hash[SHA256_BYTES];
    sha256_of(answer.body, answer.bytes, hash);
    if (answer.status != 200 || memcmp(hash, wish->hash, sizeof hash) != 0) {
        fail_by_answer(door, gift, "scene", &answer);
        free(answer.body);
        return;
    }
    gift->scene = answer.body;
    gift->scene_bytes = answer.bytes;
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

static void ask_metrics(BotsDoor *door, BotsGift *gift)
{
    const BotsQuestion question = {
        .method = "GET", .path = "/metrics", .answer_max = METRICS_BYTES};
    BotsAnswer answer;
    const Status status = bots_http_ask(&door->http, &question, &answer);
    if (status != STATUS_OK) {
        fail(gift, status, "metrics: nobody answers");
        return;
    }
    if (answer.status == 200) {
        gift->metrics = bots_metrics_read((const char *)answer.body);
    } else {
        fail_by_answer(door, gift, "metrics", &answer);
    }
    free(answer.body);
}

// --- the thread ---------------------------------------------------------------------------------

static void ask(BotsDoor *door, const Wish *wish, BotsGift *gift)
{
    *gift = (BotsGift){.wish = wish->wish, .bot = wish->bot};
    switch (wish->wish) {
    case BOTS_WISH_TICKET:
        ask_ticket(door, wish, gift);
        break;
    case BOTS_WISH_SCENE:
        ask_scene(door, wish, gift);
        break;
    case BOTS_WISH_METRICS:
        ask_metrics(door, gift);
        break;
    }
}

// False when it is over.
static bool next_wish(BotsDoor *door, Wish *out)
{
    pthread_mutex_lock(&door->lock);
    while (!door->stop && (door->wish_count == 0 || door->gift_count == GIFTS_MAX)) {
        pthread_cond_wait(&door->wake, &door->lock);
    }
    const bool goes_on = !door->stop;
    if (goes_on) {
        *out = door->wishes[door->wish_first];
        door->wish_first = (door->wish_first + 1) % door->wish_max;
        door->wish_count -= 1;
    }
    pthread_mutex_unlock(&door->lock);
    return goes_on;
}

static void *run(void *user)
{
    BotsDoor *door = user;
    Wish wish;
    static const uint64_t one = 1;
    while (next_wish(door, &wish)) {
        BotsGift gift;
        ask(door, &wish, &gift);
        pthread_mutex_lock(&door->lock);
        door->gifts[(door->gift_first + door->gift_count) % GIFTS_MAX] = gift;
        door->gift_count += 1;
        pthread_mutex_unlock(&door->lock);
        const ssize_t told = write(door->ready, &one, sizeof one);
        ASSERT(told == sizeof one);
    }
    return NULL;
}

// --- the loop's side ----------------------------------------------------------------------------

static void let_go(BotsDoor *door)
{
    while (door->gift_count > 0) {
        free(door->gifts[door->gift_first].scene);
        door->gift_first = (door->gift_first + 1) % GIFTS_MAX;
        door->gift_count -= 1;
    }
    bots_http_close(&door->http);
    if (door->ready >= 0) {
        close(door->ready);
    }
    free(door->wishes);
    free(door->gifts);
    free(door->tokens);
    free(door);
}

Status bots_door_open(const BotsDoorConfig *config, BotsDoor **out)
{
    BotsDoor *door = calloc(1, sizeof *door);
    if (door == NULL) {
        return STATUS_LIMIT;
    }
    door->config = *config;
    door->wish_max = config->bot_count + WISHES_BESIDE_MAX;
    door->wishes = calloc(door->wish_max, sizeof(Wish));
    door->gifts = calloc(GIFTS_MAX, sizeof(BotsGift));
    door->tokens = calloc(config->bot_count, TOKEN_BYTES);
    door->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    Status status = bots_http_init(&door->http, config->server);
    if (status == STATUS_OK &&
        (door->wishes == NULL || door->gifts == NULL || door->tokens == NULL || door->ready < 0)) {
        status = STATUS_LIMIT;
    }
    pthread_mutex_init(&door->lock, NULL);
    pthread_cond_init(&door->wake, NULL);
    if (status == STATUS_OK && pthread_create(&door->thread, NULL, run, door) != 0) {
        status = STATUS_LIMIT;
    }
    if (status != STATUS_OK) {
        let_go(door);
        return status;
    }
    *out = door;
    return STATUS_OK;
}

void bots_door_close(BotsDoor *door)
{
    if (door == NULL) {
        return;
    }
    pthread_mutex_lock(&door->lock);
    door->stop = true;
    pthread_cond_signal(&door->wake);
    pthread_mutex_unlock(&door->lock);
    pthread_join(door->thread, NULL);
    pthread_mutex_destroy(&door->lock);
    pthread_cond_destroy(&door->wake);
    let_go(door);
}

int bots_door_descriptor(const BotsDoor *door)
{
    return door->ready;
}

void bots_door_wish(BotsDoor *door, BotsWish wish, uint32_t bot, const uint8_t *hash)
{
    pthread_mutex_lock(&door->lock);
    ASSERT(door->wish_count < door->wish_max); // one each
    Wish *at = &door->wishes[(door->wish_first + door->wish_count) % door->wish_max];
    *at = (Wish){.wish = wish, .bot = bot};
    if (hash != NULL) {
        memcpy(at->hash, hash, sizeof at->hash);
    }
    door->wish_count += 1;
    pthread_cond_signal(&door->wake);
    pthread_mutex_unlock(&door->lock);
}

bool bots_door_take(BotsDoor *door, BotsGift *out)
{
    uint64_t count;
    (void)!read(door->ready, &count, sizeof count);
    pthread_mutex_lock(&door->lock);
    const bool there = door->gift_count > 0;
    if (there) {
        *out = door->gifts[door->gift_first];
        door->gift_first = (door->gift_first + 1) % GIFTS_MAX;
        door->gift_count -= 1;
        pthread_cond_signal(&door->wake);
    }
    pthread_mutex_unlock(&door->lock);
    return there;
}
