// See http_world.h. Who may see a private world: its owner, who is invited, operators, and whoever
// knows its code.
#define _GNU_SOURCE
#include "server/serve/world/http_world.h"

#include "core/base/decimal.h"
#include "core/base/json_member.h"
#include "core/base/limits.h"
#include "core/base/name_text.h"
#include "core/base/text.h"
#include "server/control/order/class.h"
#include "server/control/order/rights.h"
#include "server/serve/http/body.h"
#include "server/serve/http/http_routes.h"
#include "server/serve/http/time_text.h"
#include "server/serve/order/http_order.h"
#include "server/serve/people/pupil_name.h"
#include "server/serve/place/places.h"
#include "server/serve/remote/serve_fleet.h"
#include "server/sys/clock.h"
#include "server/sys/entropy.h"

#include <stdio.h>
#include <strings.h>

#define WORLDS_PER_PAGE     100
#define WORLDS_PER_PAGE_MAX 500
#define CODE_TRIES          8

// --- rooms --------------------------------------------------------------------------------------

const char *serve_state_name(HostWorldState state)
{
    static const char *const names[WORLD_STATE_COUNT] = {
        [WORLD_MAKING] = "making",     [WORLD_STOPPED] = "stopped",   [WORLD_WAITING] = "waiting",
        [WORLD_TAKING] = "starting",   [WORLD_STARTING] = "starting", [WORLD_RUNNING] = "running",
        [WORLD_STOPPING] = "stopping", [WORLD_ENDING] = "stopping",   [WORLD_DRAINING] = "stopping",
        [WORLD_RELEASING] = "stopping"};
    return names[state];
}

// Of a world on another machine the state and the players are its host's word.
static void write_room(const Serve *serve, JsonWriter *json, const HostWorld *world)
{
    HostWorldView view = host_world_view(world);
    const RemoteReport *reported = fleet_world_report(serve, world);
    if (reported != NULL) {
        view.player_max = view.place != NULL ? view.player_max : reported->player_max;
        view.state = reported->state;
        view.players = reported->players < view.player_max ? reported->players : view.player_max;
    }
    char created[TIME_TEXT_BYTES];
    time_text(view.row->created_unix_ms, created);
    json_write_object_begin(json);
    serve_write_member(json, "roomCode", view.row->room_code);
    serve_write_member(json, "worldId", view.row->world_id);
    const HostPlace *place = view.place; // NULL: it is not open now, so the world does not run
    serve_write_member(json, "placeId", view.row->place_id);
    serve_write_member(json, "placeName", place != NULL ? place->built.facts.name : NULL);
    serve_write_member(json, "name", view.row->name);
    serve_write_member(json, "createdAt", created);
    serve_write_member(json, "state", serve_state_name(view.state));
    json_member_bool(json, "ready", view.state == WORLD_RUNNING);
    json_member_bool(json, "isReported", reported != NULL);
    json_member_bool(json, "isPrivate", view.row->is_private);
    serve_write_number(json, "players", view.players);
    serve_write_number(json, "playerMax", view.player_max);
    serve_write_number(json, "tickRate", place != NULL ? place->built.facts.tick_rate : 0);
    serve_write_member(json, "sceneHash", place != NULL ? place->scene_hex : NULL);
    serve_write_number(json, "sceneBytes", place != NULL ? place->built.stripped_bytes : 0);
    json_write_object_end(json);
}

static bool may_see(const Serve *serve, const HttpRequest *request, const HostWorld *world)
{
    const Identity *who = serve_who(request);
    const Ticket nobody = {0};
    const Ticket ticket = who != NULL ? host_people_ticket(who) : nobody;
    return serve->control == NULL || host_world_is_open_to(world, &ticket);
}

// A room of a place that they may not play is not there.
typedef struct RoomWish {
    PlaceWish wish; // first
    HttpDeferred *deferred;
} RoomWish;

static void room_is_allowed(PlaceWish *wish)
{
    HttpDeferred *deferred = ((RoomWish *)wish)->deferred;
    HttpRequest *request = http_deferred_request(deferred);
    HttpResponse response = http_response_default();
    const HostWorld *world = host_world(wish->serve->host, http_path_part(request, 0));
    if (wish->refusal == PLACE_BUSY || wish->refusal == PLACE_STOPPING) {
        places_refuse(request, &response, wish->refusal, true);
    } else if (wish->refusal != PLACE_FINE || world == NULL) {
        http_fail(request, &response, 404, "not_found", "there is no such room");
    } else {
        ServeAnswer answer;
        serve_answer_begin(&answer, request);
        write_room(wish->serve, &answer.json, world);
        serve_answer_end(&answer, &response);
    }
    http_complete(deferred, &response);
}

static bool ask_room(Serve *serve, HttpDeferred *deferred, HttpResponse *response,
                     const HostWorld *world)
{
    HttpRequest *request = http_deferred_request(deferred);
    RoomWish *room = arena_alloc(http_arena(request), sizeof *room);
    if (room == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    *room = (RoomWish){.deferred = deferred};
    room->wish.who = serve_who(request);
    room->wish.is_only_asking = true;
    room->wish.then = room_is_allowed;
    memcpy(room->wish.place_id, host_world_view(world).row->place_id, sizeof room->wish.place_id);
    places_wish(serve, &room->wish);
    return false;
}

static bool answer_room(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    const char *name = http_path_part(request, 0);
    const HostWorld *world = host_world(serve->host, name);
    bool is_secret = false;
    if (world != NULL && !may_see(serve, request, world)) {
        is_secret = strcasecmp(host_world_view(world).row->room_code, name) == 0;
        world = is_secret ? world : NULL;
    }
    if (serve_refuse_guess(serve, request, response, world != NULL, is_secret)) {
        return true;
    }
    if (world == NULL || (serve->control == NULL && host_world_view(world).place == NULL)) {
        http_fail(request, response, 404, "not_found", "there is no such room");
        return true;
    }
    if (serve->control != NULL) {
        return ask_room(serve, deferred, response, world);
    }
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    write_room(serve, &answer.json, world);
    serve_answer_end(&answer, response);
    return true;
}

void serve_get_room(void *user, HttpRequest *request, HttpResponse *response)
{
    mailbox_ask(((Serve *)user)->mailbox, request, response, answer_room);
}

// --- the list -----------------------------------------------------------------------------------

// False: it is there and no number up to the most.
static bool read_limit(const HttpRequest *request, uint32_t *limit)
{
    const char *text = http_query(request, "limit");
    if (text == NULL) {
        return true;
    }
    uint32_t value = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || value > WORLDS_PER_PAGE_MAX) {
            return false;
        }
        value = value * 10 + (uint32_t)(*at - '0');
    }
    *limit = value;
    return value >= 1 && value <= WORLDS_PER_PAGE_MAX;
}

// False: it is there and neither true nor false.
static bool read_mine(const HttpRequest *request, bool *mine)
{
    const char *text = http_query(request, "mine");
    *mine = text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0);
    return text == NULL || *mine || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
}

static bool is_listed(const Serve *serve, const HttpRequest *request, const HostWorld *world,
                      bool mine)
{
    const HostWorldView view = host_world_view(world);
    const Identity *who = serve_who(request);
    const bool is_own = who != NULL && view.row->owner_id == who->account;
    if (mine) {
        return is_own;
    }
    // Of a place that nobody has open, nobody is in a world. Places that not everybody finds keep
    // their worlds to themselves.
    const RemoteReport *reported = view.place == NULL ? fleet_world_report(serve, world) : NULL;
    const bool is_open = view.place != NULL || reported != NULL;
    const bool is_hidden =
        view.place != NULL ? view.place->is_hidden : is_open && reported->is_hidden;
    const bool is_operator = who != NULL && (who->roles & ROLE_OPERATOR) != 0;
    if (is_operator && !is_open) {
        return who->kind != SIGN_IN_TOKEN || (who->scope & SCOPE_OPERATE) != 0;
    }
    if (!is_open || (serve->control != NULL && is_hidden && !is_own && !is_operator)) {
        return is_own;
    }
    return is_own || may_see(serve, request, world);
}

static bool answer_worlds(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    uint32_t limit = serve->control != NULL ? WORLDS_PER_PAGE : HOST_WORLDS_MAX, count = 0;
    const char *after = http_query(request, "after"), *last = NULL;
    bool mine;
    if (!read_limit(request, &limit) || !read_mine(request, &mine)) {
        http_fail(request, response, 400, "malformed",
                  "limit is a number from 1 to 500, mine is true or false");
        return true;
    }
    ByteWriter writer = byte_writer(serve_text(serve), SERVE_TEXT_BYTES);
    JsonWriter json = json_writer(&writer, 0);
    json_write_object_begin(&json);
    json_write_name(&json, "worlds");
    json_write_array_begin(&json);
    uint32_t at = host_world_after(serve->host, after != NULL ? after : "");
    for (; at != UINT32_MAX && count < limit; at = host_world_next(serve->host, at)) {
        const HostWorld *world = host_world_in_order(serve->host, at);
        if (is_listed(serve, request, world, mine)) {
            write_room(serve, &json, world);
            last = host_world_view(world).row->world_id;
            count += 1;
        }
    }
    json_write_array_end(&json);
    serve_write_member(&json, "next", at != UINT32_MAX ? last : NULL);
    serve_write_number(&json, "hostsSilent", fleet_silent_count(serve));
    json_write_object_end(&json);
    serve_text_answer(serve, &json, &writer, request, response);
    return true;
}

void serve_get_worlds(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve->control != NULL || !serve_refuse_stranger(serve, request, response)) {
        mailbox_ask(serve->mailbox, request, response, answer_worlds);
    }
}

// --- new worlds ---------------------------------------------------------------------------------

typedef struct PendingMake {
    PlaceWish wish; // first
    HttpDeferred *deferred;
    HostMake make;
} PendingMake;

void serve_write_world(JsonWriter *json, const StoreWorld *row)
{
    char created[TIME_TEXT_BYTES];
    time_text(row->created_unix_ms, created);
    json_write_object_begin(json);
    serve_write_member(json, "world_id", row->world_id);
    serve_write_member(json, "room_code", row->room_code);
    serve_write_member(json, "place_id", row->place_id);
    serve_write_member(json, "name", row->name);
    json_member_bool(json, "private", row->is_private);
    serve_write_member(json, "created_at", created);
    json_write_object_end(json);
}

// On the main thread.
void serve_made(void *user, uint64_t tag, const HostWorld *world, HostRefusal refusal)
{
    const Serve *serve = user;
    const PendingMake *pending = (PendingMake *)(uintptr_t)tag; // NOLINT: it was one in ask_make
    HttpDeferred *deferred = pending->deferred;
    HttpRequest *request = http_deferred_request(deferred);
    HttpResponse response = http_response_default();
    if (refusal != REFUSED_NOT) {
        serve_refuse_join(request, &response, serve, refusal);
    } else {
        ServeAnswer answer;
        serve_answer_begin(&answer, request);
        serve_write_world(&answer.json, host_world_view(world).row);
        serve_answer_end(&answer, &response);
        response.status = 201;
    }
    http_complete(deferred, &response);
}

static bool read_make(HttpRequest *request, HttpResponse *response, HostMake *make)
{
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL ||
        !serve_body_text(request, response, body, "place_id", make->place, sizeof make->place) ||
        !serve_body_text(request, response, body, "name", make->name, sizeof make->name) ||
        !serve_body_bool(request, response, body, "private", &make->is_private)) {
        return false;
    }
    if (make->name[0] != '\0' && !name_text_is_valid(make->name, strlen(make->name))) {
        http_fail(request, response, 400, "invalid_name", NAME_TEXT_RULE);
        return false;
    }
    const Serve *serve = http_user(request);
    const Identity *who = serve_who(request);
    if (make->name[0] != '\0' && serve->control != NULL && who != NULL &&
        control_name_is_closed(serve->control, who->account, who->roles)) {
        http_fail(request, response, 403, "name_closed",
                  "pupils do not give names to worlds, unless their teacher allows it");
        return false;
    }
    return !serve_refuse_words(serve, request, response, "the name", make->name);
}

static void make_is_open(PlaceWish *wish)
{
    PendingMake *pending = (PendingMake *)wish;
    if (wish->refusal == PLACE_FINE) {
        host_make(wish->serve->host, &pending->make);
        return;
    }
    HttpResponse response = http_response_default();
    places_refuse(http_deferred_request(pending->deferred), &response, wish->refusal, false);
    http_complete(pending->deferred, &response);
}

static bool ask_make(void *user, HttpDeferred *deferred, HttpResponse *response)
{
    Serve *serve = user;
    HttpRequest *request = http_deferred_request(deferred);
    const Identity *who = serve_who(request);
    PendingMake *pending = arena_alloc(http_arena(request), sizeof *pending);
    if (pending == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return true;
    }
    *pending = (PendingMake){.deferred = deferred};
    if (!read_make(request, response, &pending->make)) {
        return true;
    }
    pending->make.tag = (uint64_t)(uintptr_t)pending;
    pending->make.account = who->account;
    pending->make.is_guest = who->is_guest;
    pending->make.address = serve_address_key(serve, request);
    pending->wish.who = who;
    pending->wish.then = make_is_open;
    snprintf(pending->wish.place_id, sizeof pending->wish.place_id, "%s",
             pending->make.place[0] != '\0' ? pending->make.place : serve->default_place);
    places_wish(serve, &pending->wish);
    return false;
}

void serve_post_worlds(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    if (serve->control == NULL) {
        http_fail(request, response, 404, "not_found", "there are no accounts here");
        return;
    }
    mailbox_ask(serve->mailbox, request, response, ask_make);
}

// --- who is invited; on the pool ----------------------------------------------------------------

bool serve_owns(const Identity *who, const StoreWorld *row)
{
    return who != NULL && ((row->owner_id != 0 && row->owner_id == who->account) ||
                           (who->roles & ROLE_OPERATOR) != 0);
}

// A private world is seen by those who are invited alone, and one of a place that they may not play
// by nobody.
bool serve_sees_world(const Serve *serve, const Identity *who, const StoreWorld *row)
{
    StorePackage package;
    uint32_t rights = 0;
    char package_id[PLACE_KEY_BYTES];
    place_id_package(row->place_id, package_id);
    const bool is_invited = row->is_private && who != NULL &&
                            store_guest_is_invited(serve->store, row->world_id, who->account);
    return (!row->is_private || is_invited) &&
           rights_find(serve->store, package_id, who, &package, &rights) == STATUS_OK &&
           (rights & RIGHT_PLAY) != 0;
}

// A world that may not be seen is not there.
bool serve_find_own(Serve *serve, HttpRequest *request, HttpResponse *response, StoreWorld *out)
{
    const Status status = serve->control == NULL
                              ? STATUS_NOT_FOUND
                              : store_world_find(serve->store, http_path_part(request, 0), out);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such world here");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "the world's row cannot be read");
    } else if (!serve_owns(serve_who(request), out) &&
               !serve_sees_world(serve, serve_who(request), out)) {
        http_fail(request, response, 404, "not_found", "there is no such world here");
        return false;
    } else if (!serve_owns(serve_who(request), out)) {
        http_fail(request, response, 403, "denied",
                  "this is for the owner of the world, and for operators");
        return false;
    }
    return status == STATUS_OK;
}

typedef struct GuestChange {
    char world_id[65];
    uint64_t account;
    bool is_invited;
    char room_code[17]; // that a private world has from now on
} GuestChange;

static void change_guest(void *user, void *what)
{
    Serve *serve = user;
    GuestChange *change = what;
    HostWorld *world = host_world(serve->host, change->world_id);
    if (world != NULL) {
        status_ignore(host_world_invite(world, change->account, change->is_invited));
        const StoreWorld *row = host_world_view(world).row;
        if (!change->is_invited && row->is_private) {
            host_world_set_code(world, change->room_code);
        }
        if (!change->is_invited && row->is_private && row->owner_id != change->account) {
            (void)serve_kick(serve, change->account, change->world_id,
                             "your invitation to this world was taken back");
        }
    }
    free(change);
}

// Whoever was invited knows the code, so a private world gets another one.
static Status take_back(Serve *serve, GuestChange *change)
{
    Status status = STATUS_EXISTS;
    for (uint32_t i = 0; i < CODE_TRIES && status == STATUS_EXISTS; i++) {
        uint8_t random[ROOM_CODE_PRIVATE];
        entropy_fill(random, sizeof random);
        room_code_from(random, sizeof random, change->room_code);
        status =
            store_guest_delete(serve->store, change->world_id, change->account, change->room_code);
    }
    return status;
}

static Status store_change(Serve *serve, GuestChange *change)
{
    Status status = change->is_invited ? store_guest_put(serve->store, change->world_id,
                                                         change->account, clock_unix_ms())
                                       : take_back(serve, change);
    GuestChange *told = status == STATUS_OK ? malloc(sizeof *told) : NULL;
    if (told != NULL) {
        *told = *change;
        status = mailbox_post(serve->mailbox, change_guest, told);
        if (status != STATUS_OK) {
            free(told);
        }
    }
    return status;
}

static void answer_guest(HttpRequest *request, HttpResponse *response, Status status,
                         const StoreWorld *row, const char *username)
{
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "this account is not invited");
    } else if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "too_many", "256 accounts are invited already");
    } else if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
    } else {
        ServeAnswer answer;
        serve_answer_begin(&answer, request);
        json_write_object_begin(&answer.json);
        serve_write_member(&answer.json, "world_id", row->world_id);
        serve_write_member(&answer.json, "username", username);
        serve_write_member(&answer.json, "room_code", row->room_code);
        json_write_object_end(&answer.json);
        serve_answer_end(&answer, response);
    }
}

static void invite(Serve *serve, HttpRequest *request, HttpResponse *response, const char *username,
                   bool is_invited)
{
    StoreWorld row;
    StoreAccount account;
    if (!serve_find_own(serve, request, response, &row)) {
        return;
    }
    if (store_account_by_name(serve->store, username, &account) != STATUS_OK ||
        !pupil_name_is_known(serve, serve_who(request), &account)) {
        http_fail(request, response, 404, "no_account", "there is no account of that name");
        return;
    }
    GuestChange change = {.account = account.account_id, .is_invited = is_invited};
    memcpy(change.world_id, row.world_id, sizeof change.world_id);
    const Status status = store_change(serve, &change);
    if (status == STATUS_OK && !is_invited && row.is_private) {
        memcpy(row.room_code, change.room_code, sizeof row.room_code);
    }
    answer_guest(request, response, status, &row, account.name);
}

void serve_post_guest(void *user, HttpRequest *request, HttpResponse *response)
{
    char username[STORE_NAME_BYTES] = "";
    const JsonNode *body = serve_body_object(request, response);
    if (body != NULL &&
        serve_body_text(request, response, body, "username", username, sizeof username)) {
        invite(user, request, response, username, true);
    }
}

void serve_delete_guest(void *user, HttpRequest *request, HttpResponse *response)
{
    invite(user, request, response, http_path_part(request, 1), false);
}
