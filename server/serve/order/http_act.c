// What operators do about places and spells: unlist, remove, put back, approve, refuse. The reason
// is for the owner, who reads it on the page of the package. All of it is in the audit.
#define _GNU_SOURCE
#include "server/serve/http/body.h"
#include "server/serve/order/http_order.h"
#include "server/serve/place/places.h"
#include "server/store/people/store_moderate.h"
#include "server/sys/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define TRIES         5 // somebody else may change the package at the same moment
#define APPROVALS_MAX 100
#define LIST_BYTES    (1u << 20)

typedef struct ActName {
    const char *name;
    StoreActState state;
    uint32_t set, clear; // flags
    bool needs_reason;
} ActName;

static const ActName acts[] = {
    {"unlist", STORE_ACT_UNLISTED, STORE_PACKAGE_UNLISTED, 0, true},
    {"remove", STORE_ACT_REMOVED, STORE_PACKAGE_REMOVED, 0, true},
    {"restore", STORE_ACT_NONE, 0, STORE_PACKAGE_REMOVED | STORE_PACKAGE_UNLISTED, false},
    {"approve", STORE_ACT_APPROVED, STORE_PACKAGE_APPROVED, 0, false},
    {"refuse", STORE_ACT_REFUSED, 0, STORE_PACKAGE_APPROVED, true}};

static const char *state_name(StoreActState state)
{
    static const char *const names[] = {[STORE_ACT_NONE] = "none",
                                        [STORE_ACT_UNLISTED] = "unlisted",
                                        [STORE_ACT_REMOVED] = "removed",
                                        [STORE_ACT_APPROVED] = "approved",
                                        [STORE_ACT_REFUSED] = "refused"};
    return names[state];
}

void serve_write_moderation(Serve *serve, JsonWriter *json, const char *package_id)
{
    StorePackageAct act;
    const Status status = store_package_act_find(serve->store, package_id, &act);
    json_write_name(json, "moderation");
    if (status != STATUS_OK || act.state == STORE_ACT_NONE) {
        json_write_null(json);
        return;
    }
    json_write_object_begin(json);
    serve_write_member(json, "state", state_name(act.state));
    serve_write_member(json, "reason", act.reason);
    serve_write_time(json, "at", act.unix_ms);
    json_write_object_end(json);
}

// --- acts ---------------------------------------------------------------------------------------

static bool read_act(HttpRequest *request, HttpResponse *response, const ActName **act,
                     StorePackageAct *out)
{
    char name[16] = "";
    const JsonNode *root = serve_body_object(request, response);
    if (root == NULL || !serve_body_text(request, response, root, "act", name, sizeof name) ||
        !serve_body_text(request, response, root, "reason", out->reason, sizeof out->reason)) {
        return false;
    }
    *act = NULL;
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        *act = strcmp(name, acts[i].name) == 0 ? &acts[i] : *act;
    }
    const char *wrong = NULL;
    if (*act == NULL) {
        wrong = "act is unlist, remove, restore, approve or refuse";
    } else if ((*act)->needs_reason && out->reason[0] == '\0') {
        wrong = "the owner is told a reason; give one";
    } else if (!name_is_plain_line(out->reason)) {
        wrong = "reason is one line, without control or bidirectional characters";
    }
    if (wrong != NULL) {
        http_fail(request, response, 400, "malformed", wrong);
        return false;
    }
    out->state = (*act)->state;
    return true;
}

// The row changes even if its flags do not, so that whoever keeps a page asks again.
static Status change_flags(Serve *serve, const char *package_id, const ActName *act)
{
    Status status = STATUS_MISMATCH;
    for (uint32_t i = 0; i < TRIES && status == STATUS_MISMATCH; i++) {
        StorePackage *package = malloc(sizeof *package);
        if (package == NULL) {
            return STATUS_LIMIT;
        }
        status = store_package_find(serve->store, package_id, package);
        if (status == STATUS_OK) {
            package->flags = (package->flags | act->set) & ~act->clear;
            status = store_package_change(serve->store, package);
        }
        free(package);
    }
    return status;
}

void serve_admin_post_package(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const ActName *act;
    StorePackageAct row = {.unix_ms = clock_unix_ms()};
    const char *package_id = http_path_part(request, 0);
    const Identity *who = serve_who(request);
    StorePackage *package = malloc(sizeof *package);
    http_keep(request, package);
    if (package == NULL) {
        http_fail(request, response, 503, "busy", "out of memory; try again");
        return;
    }
    if (serve_refuse_without_accounts(serve, request, response) ||
        !read_act(request, response, &act, &row)) {
        return;
    }
    if (store_package_find(serve->store, package_id, package) != STATUS_OK) {
        http_fail(request, response, 404, "not_found", "there is no such place or spell");
        return;
    }
    if (!serve_record(serve, act->name, request, response)) {
        return;
    }
    memcpy(row.package_id, package->package_id, sizeof row.package_id);
    row.maker_id = who != NULL ? who->account : 0;
    Status status = change_flags(serve, package_id, act);
    status = status == STATUS_OK ? store_package_act_put(serve->store, &row) : status;
    if (status != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "it could not be stored; try again");
        return;
    }
    serve_place_changed(serve, package_id);
    ServeAnswer answer;
    serve_answer_begin(&answer, request);
    json_write_object_begin(&answer.json);
    serve_write_member(&answer.json, "package_id", package_id);
    serve_write_moderation(serve, &answer.json, package_id);
    json_write_object_end(&answer.json);
    serve_answer_end(&answer, response);
}

// --- approvals ----------------------------------------------------------------------------------

static void write_waiting(const Serve *serve, JsonWriter *json, const StorePackage *package)
{
    char id[32];
    serve_account_text(package->owner_id, false, id);
    json_write_object_begin(json);
    serve_write_member(json, "package_id", package->package_id);
    serve_write_member(json, "title", package->title);
    serve_write_member(json, "owner", id);
    serve_write_name(serve, json, "owner_name", package->owner_id);
    serve_write_time(json, "updated", package->updated_unix_ms);
    json_write_object_end(json);
}

void serve_admin_get_approvals(void *user, HttpRequest *request, HttpResponse *response)
{
    Serve *serve = user;
    const char *after = http_query(request, "after");
    uint64_t limit = 50;
    uint32_t count = 0;
    if (serve_refuse_without_accounts(serve, request, response)) {
        return;
    }
    if (!serve_query_number(request, "limit", APPROVALS_MAX, &limit) || limit == 0 ||
        (after != NULL && strlen(after) > 64)) {
        http_fail(request, response, 400, "malformed", "after is an id, limit 1 to 100");
        return;
    }
    StorePackage *rows = malloc(limit * sizeof *rows);
    http_keep(request, rows);
    if (rows == NULL || store_approvals(serve->store, after != NULL ? after : "", rows,
                                        (uint32_t)limit, &count) != STATUS_OK) {
        http_fail(request, response, 503, "unavailable", "places cannot be read; try again");
        return;
    }
    ServeAnswer answer;
    serve_answer_begin_large(&answer, request, LIST_BYTES);
    JsonWriter *json = &answer.json;
    json_write_object_begin(json);
    json_write_name(json, "approvals");
    json_write_array_begin(json);
    for (uint32_t i = 0; i < count; i++) {
        write_waiting(serve, json, &rows[i]);
    }
    json_write_array_end(json);
    serve_write_member(json, "next", count == limit ? rows[count - 1].package_id : NULL);
    json_write_object_end(json);
    serve_answer_end(&answer, response);
}
