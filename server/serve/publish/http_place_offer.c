// Giving a place away: an offer to one account, which accepts or declines it, or lets it expire.
// Until then they stay what they are in its team. All of this waits for the disk.
#define _GNU_SOURCE
#include "server/serve/http/body.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/http_place.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_publish.h"
#include "server/sys/clock.h"

#include <stdlib.h>
#include <string.h>

#define OFFER_MS   (OFFER_DAYS * 86400000ull)
#define LIST_MAX   100
#define LIST_BYTES (128u << 10)

// --- giving -------------------------------------------------------------------------------------

static bool give_place(Serve *serve, HttpRequest *request, HttpResponse *response,
                       const char *place_id, uint64_t to, bool is_forced)
{
    const Status status =
        store_package_give(serve->store, place_id, to, is_forced, PACKAGES_PER_ACCOUNT_MAX,
                           serve_account_bytes_max(serve));
    if (status == STATUS_DENIED || status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "this place is not offered to you");
    } else if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "quota",
                  "the place does not fit: whoever gets it has too many places, or too many bytes");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

static bool offer(Serve *serve, HttpRequest *request, HttpResponse *response,
                  const StorePackage *package, uint64_t to)
{
    const uint64_t now = clock_unix_ms();
    StoreOffer made = {.account_id = to, .created_unix_ms = now, .expires_unix_ms = now + OFFER_MS};
    memcpy(made.package_id, package->package_id, sizeof made.package_id);
    Status status = rights_team(serve->store, package, to);
    status = status == STATUS_OK ? store_offer_put(serve->store, &made) : status;
    if (status == STATUS_DENIED) {
        http_fail(request, response, 409, "class_closed",
                  "this place is a class's, and this account is no pupil of it");
    } else if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "there is no such place");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

static void answer_given(HttpRequest *request, HttpResponse *response, const char *place_id,
                         uint64_t account, int is_given)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "place_id", place_id);
    serve_write_number(&answer.json, "account", account);
    if (is_given >= 0) {
        json_write_name(&answer.json, "given");
        json_write_bool(&answer.json, is_given == 1);
    }
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

void serve_post_give(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreAccount account;
    char name[STORE_NAME_BYTES] = "";
    const JsonNode *body = serve_body_object(request, response);
    const Identity *who = serve_who(request);
    if (body == NULL || !serve_body_text(request, response, body, "account", name, sizeof name) ||
        !place_enter(serve, request, response, RIGHT_OWN, &ask) ||
        !place_find_account(serve, request, response, name, &account)) {
        return;
    }
    if (account.account_id == ask.package.owner_id) {
        http_fail(request, response, 409, "owner", "this account owns the place already");
        return;
    }
    const bool is_operator = who->account != ask.package.owner_id;
    if (is_operator && !serve_record(serve, "give", request, response)) {
        return;
    }
    if (is_operator
            ? give_place(serve, request, response, ask.package.package_id, account.account_id, true)
            : offer(serve, request, response, &ask.package, account.account_id)) {
        answer_given(request, response, ask.package.package_id, account.account_id, is_operator);
    }
}

// The owner takes the offer back.
void serve_delete_give(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreOffer found = {0};
    if (!place_enter(serve, request, response, RIGHT_OWN, &ask)) {
        return;
    }
    Status status = store_offer_find(serve->store, ask.package.package_id, &found);
    status =
        status == STATUS_OK ? store_offer_end(serve->store, ask.package.package_id, 0) : status;
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "this place is not offered to anybody");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else {
        answer_given(request, response, ask.package.package_id, found.account_id, -1);
    }
}

// --- for whom it is -----------------------------------------------------------------------------

void serve_post_accept(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    const uint64_t account = serve_who(request)->account;
    if (place_enter(serve, request, response, RIGHT_SEE, &ask) &&
        give_place(serve, request, response, ask.package.package_id, account, false)) {
        serve_place_changed(serve, ask.package.package_id); // who was kept out owns it now
        answer_given(request, response, ask.package.package_id, account, -1);
    }
}

void serve_post_decline(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    const uint64_t account = serve_who(request)->account;
    if (!place_enter(serve, request, response, RIGHT_SEE, &ask)) {
        return;
    }
    const Status status = store_offer_end(serve->store, ask.package.package_id, account);
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "this place is not offered to you");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    } else {
        answer_given(request, response, ask.package.package_id, account, -1);
    }
}

static void write_offer(Serve *serve, JsonWriter *json, const Identity *who,
                        const StoreOffer *found)
{
    StorePackage package;
    uint64_t bytes = 0;
    if (store_package_find(serve->store, found->package_id, &package) != STATUS_OK ||
        package.trashed_unix_ms != 0) {
        return;
    }
    status_ignore(store_package_bytes(serve->store, found->package_id, &bytes)); // then it says 0
    json_write_object_begin(json);
    serve_write_member(json, "place_id", package.package_id);
    serve_write_member(json, "title", package.title);
    place_write_creator(serve, json, package.owner_id, who);
    serve_write_number(json, "bytes", bytes);
    serve_write_time(json, "offered_at", found->created_unix_ms);
    serve_write_time(json, "expires_at", found->expires_unix_ms);
    json_write_object_end(json);
}

void serve_get_offers(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *after = http_query(request, "after");
    uint64_t limit = LIST_MAX;
    uint32_t count = 0;
    if (!serve_query_number(request, "limit", LIST_MAX, &limit) || limit == 0) {
        http_fail(request, response, 400, "malformed", "limit is a number from 1 to 100");
        return;
    }
    StoreOffer *offers = malloc((limit + 1) * sizeof *offers);
    http_keep(request, offers);
    const Status status = offers == NULL ? STATUS_LIMIT
                                         : store_offers(serve->store, serve_who(request)->account,
                                                        clock_unix_ms(), after != NULL ? after : "",
                                                        offers, (uint32_t)limit + 1, &count);
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, LIST_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "offers");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count && i < limit; i++) {
        write_offer(serve, &answer.json, serve_who(request), &offers[i]);
    }
    json_write_array_end(&answer.json);
    serve_write_member(&answer.json, "next", count > limit ? offers[limit - 1].package_id : NULL);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}
