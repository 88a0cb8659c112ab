// Who works on a place, who tests it, who is kept out.
#define _GNU_SOURCE
#include "server/serve/http/body.h"
#include "server/serve/people/pupil_name.h"
#include "server/serve/place/place_build.h"
#include "server/serve/place/places.h"
#include "server/serve/publish/http_place.h"
#include "server/store/people/store_person.h"
#include "server/store/place/store_publish.h"
#include "server/sys/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEAM_BYTES (128u << 10)

static const char *const role_names[] = {[STORE_NOBODY] = "nobody",
                                         [STORE_EDITOR] = "editor",
                                         [STORE_TESTER] = "tester",
                                         [STORE_BLOCKED] = "blocked"};

bool place_find_account(Serve *serve, HttpRequest *request, HttpResponse *response,
                        const char *text, StoreAccount *out)
{
    uint64_t number;
    Status status = store_account_by_name(serve->store, text, out);
    if (status == STATUS_OK && !pupil_name_is_known(serve, serve_who(request), out)) {
        status = STATUS_NOT_FOUND;
    }
    if (status == STATUS_NOT_FOUND && serve_account_read(text, &number)) {
        status = store_account_find(serve->store, number, out);
    }
    if (status != STATUS_OK || out->account_id == STORE_BUILT_IN_ACCOUNT) {
        http_fail(request, response, 404, "no_account", "there is no account of that name");
        return false;
    }
    return true;
}

static void write_person(Serve *serve, JsonWriter *json, const Identity *who, uint64_t account_id,
                         const char *role)
{
    StoreAccount account = {0};
    status_ignore(store_account_find(serve->store, account_id, &account)); // then without a name
    pupil_name_show(serve, who, &account);
    json_write_object_begin(json);
    serve_write_number(json, "account", account_id);
    serve_write_member(json, "username", account.name);
    serve_write_member(json, "role", role);
    json_write_object_end(json);
}

static void answer_person(Serve *serve, HttpRequest *request, HttpResponse *response,
                          uint64_t account, StorePackageRole role)
{
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    write_person(serve, &answer.json, serve_who(request), account, role_names[role]);
    serve_answer_end(&answer, response);
}

// To whom the owner offers it, or null.
static void write_offer(Serve *serve, JsonWriter *json, const Identity *who, const char *place_id)
{
    StoreOffer offer;
    json_write_name(json, "offered_to");
    if (store_offer_find(serve->store, place_id, &offer) == STATUS_OK &&
        offer.expires_unix_ms > clock_unix_ms()) {
        write_person(serve, json, who, offer.account_id, role_names[STORE_NOBODY]);
    } else {
        json_write_null(json);
    }
}

void serve_get_team(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    uint32_t count = 0;
    if (!place_enter(serve, request, response, RIGHT_EDIT, &ask)) {
        return;
    }
    StorePackagePerson *people = malloc(PACKAGE_PEOPLE_MAX * sizeof *people);
    http_keep(request, people);
    const Status status = people == NULL
                              ? STATUS_LIMIT
                              : store_package_people(serve->store, ask.package.package_id, people,
                                                     PACKAGE_PEOPLE_MAX, &count);
    if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, TEAM_BYTES);
    json_write_object_begin(&answer.json);
    json_write_name(&answer.json, "owner");
    write_person(serve, &answer.json, serve_who(request), ask.package.owner_id, "owner");
    json_write_name(&answer.json, "team");
    json_write_array_begin(&answer.json);
    for (uint32_t i = 0; i < count; i++) {
        write_person(serve, &answer.json, serve_who(request), people[i].account_id,
                     role_names[people[i].role]);
    }
    json_write_array_end(&answer.json);
    write_offer(serve, &answer.json, serve_who(request), ask.package.package_id);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- changing it --------------------------------------------------------------------------------

static bool put_role(Serve *serve, HttpRequest *request, HttpResponse *response,
                     const StorePackage *package, uint64_t account, StorePackageRole role)
{
    StorePackagePerson person = {
        .account_id = account, .role = role, .created_unix_ms = clock_unix_ms()};
    memcpy(person.package_id, package->package_id, sizeof person.package_id);
    Status status = role == STORE_NOBODY ? STATUS_OK : rights_team(serve->store, package, account);
    status = status == STATUS_OK
                 ? store_package_person_put(serve->store, &person, PACKAGE_PEOPLE_MAX)
                 : status;
    if (status == STATUS_NOT_FOUND) {
        http_fail(request, response, 404, "not_found", "this account is not of the team");
    } else if (status == STATUS_DENIED) {
        http_fail(request, response, 409, "class_closed",
                  "this place is a class's, and this account is no pupil of it");
    } else if (status == STATUS_LIMIT) {
        http_fail(request, response, 409, "too_many", "256 accounts are in the team already");
    } else if (status != STATUS_OK) {
        place_refuse_store(request, response, status);
    }
    return status == STATUS_OK;
}

void serve_put_team(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreAccount account;
    char name[16] = "";
    StorePackageRole role = STORE_NOBODY;
    const JsonNode *body = serve_body_object(request, response);
    if (body == NULL || !serve_body_text(request, response, body, "role", name, sizeof name) ||
        !place_enter(serve, request, response, RIGHT_OWN | RIGHT_EDIT, &ask)) {
        return;
    }
    for (StorePackageRole i = STORE_EDITOR; i <= STORE_BLOCKED; i++) {
        role = strcmp(name, role_names[i]) == 0 ? i : role;
    }
    if (role == STORE_NOBODY) {
        http_fail(request, response, 400, "malformed", "role is editor, tester or blocked");
        return;
    }
    if (!place_find_account(serve, request, response, http_path_part(request, 1), &account)) {
        return;
    }
    if (account.account_id == ask.package.owner_id) {
        http_fail(request, response, 409, "owner", "this account owns the place");
        return;
    }
    if (put_role(serve, request, response, &ask.package, account.account_id, role)) {
        serve_place_changed(serve, ask.package.package_id); // who is kept out leaves its worlds
        serve_place_left(serve, &ask.package, account.account_id, role);
        answer_person(serve, request, response, account.account_id, role);
    }
}

// The owner takes somebody off; everybody else only themselves. Somebody who is kept out cannot
// undo that.
void serve_delete_team(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    PlaceAsk ask;
    StoreAccount account;
    StorePackageRole role = STORE_NOBODY;
    if (!place_enter(serve, request, response, RIGHT_SEE, &ask)) {
        return;
    }
    const bool is_owner = (ask.rights & RIGHT_OWN) != 0;
    if (!place_find_account(serve, request, response, http_path_part(request, 1), &account)) {
        return;
    }
    const bool is_self = account.account_id == serve_who(request)->account;
    status_ignore(store_package_role(serve->store, ask.package.package_id, account.account_id,
                                     &role)); // put_role says what is wrong
    if (!is_owner && (!is_self || role == STORE_BLOCKED)) {
        http_fail(request, response, 403, "denied", "this is for the owner of the place");
        return;
    }
    if (put_role(serve, request, response, &ask.package, account.account_id, STORE_NOBODY)) {
        serve_place_changed(serve, ask.package.package_id);
        serve_place_left(serve, &ask.package, account.account_id, STORE_NOBODY);
        answer_person(serve, request, response, account.account_id, STORE_NOBODY);
    }
}
