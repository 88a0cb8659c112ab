// What the owner of a place or of a world may do about players who are there: remove them. They can
// come in again, so it is no ban. Both handlers run on the pool and read the database.
#define _GNU_SOURCE
#include "core/base/limits.h"
#include "server/control/order/rights.h"
#include "server/serve/http/body.h"
#include "server/serve/operate/http_admin.h"
#include "server/serve/order/http_order.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/remote_worlds.h"
#include "server/serve/world/http_world.h"

#include <stdio.h>
#include <stdlib.h>

#define REASON_RULE \
    "reason is one line of at most 64 bytes, without control or bidirectional characters"

// --- who may ------------------------------------------------------------------------------------

typedef enum Kicker { KICKER_NOBODY, KICKER_OPERATOR, KICKER_WORLD, KICKER_PLACE } Kicker;

static Kicker kicker_of(const Serve *serve, const Identity *who, const StoreWorld *row)
{
    StorePackage package;
    uint32_t rights = 0;
    char package_id[PLACE_KEY_BYTES];
    if (serve_owns(who, row)) {
        return row->owner_id == who->account ? KICKER_WORLD : KICKER_OPERATOR;
    }
    place_id_package(row->place_id, package_id);
    const Status status = rights_find(serve->store, package_id, who, &package, &rights);
    return status == STATUS_OK && (rights & RIGHT_OWN) != 0 ? KICKER_PLACE : KICKER_NOBODY;
}

// The world that the path names; false: there is none that they may see, and the response says so.
static bool find_world(const Serve *serve, HttpRequest *request, HttpResponse *response,
                       StoreWorld *row, Kicker *kicker)
{
    const Status status = serve->control == NULL
                              ? STATUS_NOT_FOUND
                              : store_world_find(serve->store, http_path_part(request, 0), row);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        http_fail(request, response, 503, "unavailable", "the world's row cannot be read");
        return false;
    }
    *kicker = status == STATUS_OK ? kicker_of(serve, serve_who(request), row) : KICKER_NOBODY;
    if (status == STATUS_NOT_FOUND ||
        (*kicker == KICKER_NOBODY && !serve_sees_world(serve, serve_who(request), row))) {
        http_fail(request, response, 404, "not_found", "there is no such world here");
        return false;
    }
    return true;
}

void serve_get_world_rights(void *user, HttpRequest *request, HttpResponse *response)
{
    StoreWorld row;
    Kicker kicker;
    if (!find_world(user, request, response, &row, &kicker)) {
        return;
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "world_id", row.world_id);
    json_write_name(&answer.json, "kick");
    json_write_bool(&answer.json, kicker != KICKER_NOBODY);
    json_write_name(&answer.json, "scripts");
    json_write_bool(&answer.json, serve_owns_scripts(user, serve_who(request), &row));
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- the order ----------------------------------------------------------------------------------

typedef struct Kick {
    uint64_t account;
    char world_id[65];
    char reason[HOST_REASON_BYTES];
} Kick;

static void run_kick(void *user, void *what)
{
    Kick *kick = what;
    (void)serve_kick(user, kick->account, kick->world_id, kick->reason);
    free(kick);
}

static Status send_kick(const Serve *serve, const Kick *kick)
{
    Kick *sent = malloc(sizeof *sent);
    if (sent == NULL) {
        return STATUS_LIMIT;
    }
    *sent = *kick;
    const Status status = mailbox_post(serve->mailbox, run_kick, sent);
    if (status != STATUS_OK) {
        free(sent);
    }
    return status;
}

typedef struct KickBody {
    char player[STORE_NAME_BYTES];
    char reason[OWNER_REASON_BYTES_MAX + 1]; // "": none
} KickBody;

static bool read_kick(HttpRequest *request, HttpResponse *response, KickBody *out)
{
    const JsonNode *root = serve_body_object(request, response);
    KickBody body = {0};
    if (root == NULL ||
        !serve_body_text(request, response, root, "player", body.player, sizeof body.player)) {
        return false;
    }
    const JsonNode *reason = json_find(root, "reason");
    if (reason != NULL && reason->kind != JSON_NULL) {
        if (reason->kind != JSON_STRING || reason->count >= sizeof body.reason ||
            strlen(reason->text) != reason->count || !name_is_plain_line(reason->text)) {
            http_fail(request, response, 400, "malformed", REASON_RULE);
            return false;
        }
        memcpy(body.reason, reason->text, reason->count + 1);
    }
    *out = body;
    return !serve_refuse_words(http_user(request), request, response, "the reason", body.reason);
}

// May this player be removed by whoever asks?
static bool is_refused(HttpRequest *request, HttpResponse *response, const StoreAccount *player)
{
    if (player->account_id == serve_who(request)->account) {
        http_fail(request, response, 409, "yourself", "you cannot remove yourself; leave instead");
        return true;
    }
    if ((player->roles & ROLE_OPERATOR) != 0 && (serve_who(request)->roles & ROLE_OPERATOR) == 0) {
        http_fail(request, response, 403, "denied", "an operator cannot be removed by an owner");
        return true;
    }
    return false;
}

// What the player reads, after "you were removed from this world: ".
static void write_reason(Kicker kicker, const char *given, char out[HOST_REASON_BYTES])
{
    static const char *const who[] = {[KICKER_NOBODY] = "",
                                      [KICKER_OPERATOR] = "an operator",
                                      [KICKER_WORLD] = "its owner",
                                      [KICKER_PLACE] = "the place's owner"};
    snprintf(out, HOST_REASON_BYTES, given[0] != '\0' ? "%s wrote: %s" : "%s decided so%s",
             who[kicker], given);
}

static void answer_kick(HttpRequest *request, HttpResponse *response, const Kick *kick)
{
    char id[32];
    serve_account_text(kick->account, false, id);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "world_id", kick->world_id);
    serve_write_member(&answer.json, "player", id);
    serve_write_member(&answer.json, "reason", kick->reason);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

static bool has_kicked_enough(const Serve *serve, HttpRequest *request, HttpResponse *response)
{
    uint32_t wait_s = 0;
    if (control_may_kick(serve->control, serve_who(request)->account, &wait_s)) {
        return false;
    }
    http_fail(request, response, 429, "too_many", "you have removed a lot of people; try later");
    response->retry_after_s = wait_s;
    return true;
}

void serve_post_world_kick(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    StoreWorld row;
    StoreAccount player;
    KickBody body;
    Kicker kicker;
    if (!read_kick(request, response, &body) ||
        !find_world(serve, request, response, &row, &kicker)) {
        return;
    }
    if (kicker == KICKER_NOBODY) {
        http_fail(request, response, 403, "denied",
                  "this is for the owners of the world and of its place, and for operators");
        return;
    }
    if (!serve_find_account(serve, body.player, request, response, &player) ||
        is_refused(request, response, &player) || has_kicked_enough(serve, request, response) ||
        !serve_record(serve, "world.kick", request, response)) {
        return;
    }
    Kick kick = {.account = player.account_id};
    memcpy(kick.world_id, row.world_id, sizeof kick.world_id);
    write_reason(kicker, body.reason, kick.reason);
    if (send_kick(serve, &kick) != STATUS_OK) {
        http_fail(request, response, 503, "busy", "too much work waits; try again");
        return;
    }
    answer_kick(request, response, &kick);
}
