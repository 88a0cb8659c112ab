// What operators do about people: kick, ban, mute, announce. Bans and mutes are the control plane's
// (control/bans.h), which tells the worlds that run; kicks and announcements are orders to those.
#define _GNU_SOURCE
#include "server/serve/operate/http_admin.h"

#include "core/base/json_member.h"
#include "server/serve/http/body.h"
#include "server/serve/order/http_order.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define ANNOUNCE_BYTES 257
#define BANS_SHOWN     4096
#define BANS_BYTES     (6u << 20)
#define MINUTES_MAX    (10ull * 366 * 24 * 60)
#define ACCOUNT_RULE   "account is a client_id as in GET /admin/sessions, or an account's name"

// --- bodies -------------------------------------------------------------------------------------

static bool answer_malformed(HttpRequest *request, HttpResponse *response, const char *what)
{
    http_fail(request, response, 400, "malformed", what);
    return false;
}

// --- who and where ------------------------------------------------------------------------------

typedef struct Order {
    char account_text[64];
    uint64_t account;
    char world[65]; // "": everywhere
    char reason[STORE_REASON_TEXT_BYTES];
    uint64_t until_unix_ms;
} Order;

static bool read_minutes(const JsonNode *root, uint64_t *until)
{
    const JsonNode *node = json_find(root, "minutes");
    *until = STORE_BAN_FOREVER;
    if (node == NULL || node->kind == JSON_NULL) {
        return true;
    }
    if (node->kind != JSON_NUMBER || !(node->number >= 1 && node->number <= (double)MINUTES_MAX)) {
        return false;
    }
    *until = clock_unix_ms() + (uint64_t)node->number * 60000;
    return true;
}

// The body of kick, ban and mute; false: the response says what is wrong.
static bool read_order(HttpRequest *request, HttpResponse *response, Order *out)
{
    const JsonNode *root = serve_body_object(request, response);
    Order order = {0};
    if (root == NULL) {
        return false;
    }
    if (!json_member_copy_optional(root, "account", order.account_text,
                                   sizeof order.account_text) ||
        order.account_text[0] == '\0') {
        return answer_malformed(request, response, ACCOUNT_RULE);
    }
    if (!json_member_copy_optional(root, "world_id", order.world, sizeof order.world)) {
        return answer_malformed(request, response, "world_id is the id of a world");
    }
    if (!json_member_copy_optional(root, "reason", order.reason, sizeof order.reason) ||
        !name_is_plain_line(order.reason)) {
        return answer_malformed(
            request, response,
            "reason is a text of at most 96 bytes in one line, without control or "
            "bidirectional characters");
    }
    if (!read_minutes(root, &order.until_unix_ms)) {
        return answer_malformed(request, response, "minutes is a number from 1 to ten years");
    }
    *out = order;
    return true;
}

// Who is meant: a number, or the name of an account. On the pool.
static bool find_account(Serve *serve, const char *text, HttpRequest *request,
                         HttpResponse *response, uint64_t *account)
{
    StoreAccount found;
    const bool is_found = serve_find_account(serve, text, request, response, &found);
    *account = is_found ? found.account_id : 0;
    return is_found;
}

static void answer_told(HttpRequest *request, HttpResponse *response, RemoteTold worlds)
{
    const uint32_t told = worlds.told;
    if (told == 0 && worlds.busy > 0) {
        http_fail(request, response, 503, "busy",
                  "too many orders wait for the machine that runs this world; try again");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_number(&answer.json, "worlds", told);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- bans and mutes; on the pool ----------------------------------------------------------------

static BanKind kind_of(const HttpRequest *request)
{
    return strcmp(http_route(request)->path, "/admin/mute") == 0 ? BAN_CHAT : BAN_ENTER;
}

static void write_ban(const Serve *serve, JsonWriter *json, const StoreBan *ban)
{
    char id[32];
    serve_account_text(ban->account_id, false, id);
    json_write_object_begin(json);
    serve_write_member(json, "account", id);
    serve_write_name(serve, json, "name", ban->account_id);
    serve_write_member(json, "world_id", ban->world_id[0] != '\0' ? ban->world_id : NULL);
    if (ban->until_unix_ms < STORE_BAN_FOREVER) {
        serve_write_time(json, "until", ban->until_unix_ms);
    } else {
        serve_write_member(json, "until", NULL);
    }
    serve_write_member(json, "reason", ban->reason);
    serve_account_text(ban->maker_id, false, id);
    serve_write_member(json, "by", ban->maker_id != 0 ? id : NULL);
    serve_write_name(serve, json, "by_name", ban->maker_id);
    serve_write_time(json, "since", ban->created_unix_ms);
    json_write_object_end(json);
}

void serve_admin_get_bans(void *user, HttpRequest *request, HttpResponse *response)
{
    const Serve *serve = user;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    StoreBan *bans = malloc(BANS_SHOWN * sizeof *bans);
    http_keep(request, bans);
    if (bans == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    const uint32_t found = control_bans(serve->control, bans, BANS_SHOWN);
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, BANS_BYTES);
    JsonWriter *json = &answer.json;
    uint32_t total = 0;
    json_write_object_begin(json);
    json_write_name(json, "bans");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < found && i < BANS_SHOWN; i++) {
        if (bans[i].kind == kind_of(request)) {
            write_ban(serve, json, &bans[i]);
            total += 1;
        }
    }
    json_write_array_end(json);
    serve_write_number(json, "total", total);
    json_write_object_end(json);
    serve_answer_end(&answer, response);
}

void serve_admin_post_ban(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    Order order;
    if (serve_refuse_without_accounts(serve, request, response) ||
        !read_order(request, response, &order) ||
        !find_account(serve, order.account_text, request, response, &order.account)) {
        return;
    }
    const Identity *who = serve_who(request);
    StoreBan ban = {.account_id = order.account,
                    .kind = kind_of(request),
                    .until_unix_ms = order.until_unix_ms,
                    .maker_id = who != NULL ? who->account : 0,
                    .created_unix_ms = clock_unix_ms()};
    memcpy(ban.world_id, order.world, sizeof ban.world_id);
    memcpy(ban.reason, order.reason, sizeof ban.reason);
    if (who != NULL && who->account == order.account) {
        http_fail(request, response, 409, "yourself", "you cannot do this to yourself");
        return;
    }
    if (!serve_record(serve, ban.kind == BAN_CHAT ? "mute" : "ban", request, response)) {
        return;
    }
    const Status status = control_ban(serve->control, &ban);
    if (status == STATUS_MALFORMED) {
        answer_malformed(request, response, "the world's id or the reason is invalid");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
    } else {
        ServeAnswer answer;
        serve_answer_begin(&answer, request);
        write_ban(serve, &answer.json, &ban);
        serve_answer_end(&answer, response);
    }
}

void serve_admin_delete_ban(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *text = http_query(request, "account"), *world = http_query(request, "world_id");
    uint64_t account = 0;
    world = world != NULL ? world : "";
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    if (text == NULL || strlen(text) >= sizeof((Order){0}.account_text) ||
        strlen(world) >= sizeof((Order){0}.world)) {
        answer_malformed(request, response, ACCOUNT_RULE);
        return;
    }
    const BanKind kind = kind_of(request);
    if (!find_account(serve, text, request, response, &account) ||
        !serve_record(serve, kind == BAN_CHAT ? "unmute" : "unban", request, response)) {
        return;
    }
    const Status status = control_unban(serve->control, account, world, kind);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is nothing to lift");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
    } else {
        answer_told(request, response, (RemoteTold){0, 0});
    }
}

// --- kicks and announcements --------------------------------------------------------------------

// In the request's arena. A name is looked for in the store: whoever has it may be signed in at
// another host.
typedef struct Kick {
    Serve *serve;
    HttpDeferred *deferred;
    Order order;
} Kick;

// On the main thread.
static void kick(void *user, void *what)
{
    Serve *serve = user;
    const Kick *asked = what;
    HttpDeferred *deferred = asked->deferred;
    HttpRequest *request = http_deferred_request(deferred);
    HttpResponse response = http_response_default();
    const Order *order = &asked->order;
    if (order->world[0] != '\0' && host_world(serve->host, order->world) == NULL) {
        http_fail(request, &response, 404, "not_found", "there is no such world here");
    } else {
        const char *reason = order->reason[0] != '\0' ? order->reason : "an operator removed you";
        answer_told(request, &response, serve_kick(serve, order->account, order->world, reason));
    }
    http_complete(deferred, &response);
}

static bool find_kicked(Serve *serve, HttpRequest *request, HttpResponse *response, Order *order)
{
    if (serve_account_read(order->account_text, &order->account)) {
        return true; // also a guest
    }
    if (serve->control == NULL) {
        http_fail(request, response, 404, "not_found", "nobody of that name is signed in");
        return false;
    }
    return find_account(serve, order->account_text, request, response, &order->account);
}

// On the pool.
static void prepare_kick(void *user, bool is_cancelled)
{
    Kick *asked = user;
    HttpRequest *request = http_deferred_request(asked->deferred);
    HttpResponse response = http_response_default();
    if (is_cancelled) {
        http_fail(request, &response, 503, "stopping", "this server is going down");
    } else if (find_kicked(asked->serve, request, &response, &asked->order) &&
               serve_record(asked->serve, "kick", request, &response)) {
        if (mailbox_post(asked->serve->mailbox, kick, asked) == STATUS_OK) {
            return;
        }
        http_fail(request, &response, 503, "busy", "too much work waits; try again");
    }
    http_complete(asked->deferred, &response);
}

void serve_admin_post_kick(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    Kick *asked = arena_alloc(http_arena(request), sizeof *asked);
    if (asked == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    *asked = (Kick){.serve = serve};
    if (!read_order(request, response, &asked->order)) {
        return;
    }
    asked->deferred = http_defer(request, response);
    if (asked->deferred != NULL &&
        work_pool_submit(serve->pool, prepare_kick, asked) != STATUS_OK) {
        HttpResponse busy = http_response_default();
        http_fail(request, &busy, 503, "busy", "too much work waits; try again");
        http_complete(asked->deferred, &busy);
    }
}

typedef struct Announcement {
    char text[ANNOUNCE_BYTES], world[65];
} Announcement;

static bool read_announcement(HttpRequest *request, HttpResponse *response, Announcement *out)
{
    const JsonNode *root = serve_body_object(request, response);
    *out = (Announcement){0};
    if (root == NULL) {
        return false;
    }
    if (!json_member_copy_optional(root, "text", out->text, sizeof out->text) ||
        out->text[0] == '\0' || !name_is_plain_line(out->text)) {
        return answer_malformed(
            request, response,
            "text is one line of 1 to 256 bytes, without control or bidirectional "
            "characters");
    }
    return json_member_copy_optional(root, "world_id", out->world, sizeof out->world) ||
           answer_malformed(request, response, "world_id is the id of a world");
}

static bool announce(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    Announcement announcement;
    if (!read_announcement(request, response, &announcement)) {
        return true;
    }
    if (announcement.world[0] != '\0' && host_world(serve->host, announcement.world) == NULL) {
        http_fail(request, response, 404, "not_found", "there is no such world here");
        return true;
    }
    answer_told(request, response, serve_announce(serve, announcement.world, announcement.text));
    return true;
}

void serve_admin_post_announce(void *user, HttpRequest *request, HttpResponse *response)
{
    Announcement announcement;
    if (read_announcement(request, response, &announcement)) {
        serve_act(user, "announce", announce, request, response);
    }
}
